"""The report of bench/run: what is refused, and that no row of the record is lost. Nothing is timed."""
import argparse
import contextlib
import dataclasses
import io
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(ROOT, "bench"))
import harness  # noqa: E402

RECORD, DRAFT = "bench/RESULTS.md", "build/bench/RESULTS.md"


def chosen(**given):
    """Options as bench/run has them."""
    usual = {"quick": False, "rows": re.compile(""), "isa": None, "threads": harness.THREADS, "rounds": 5, "output": None}
    return argparse.Namespace(**{**usual, **given})


def row(name, **given):
    return harness.Row(name, "", (10, 20), *[None] * 2, (), {"peer": None}, None, **given)


def times(baseline, avx2, peer=1.0, sizes=(10, 20)):
    """Of a row, as they are kept."""
    sides = [harness.Side("cleave", "baseline", [baseline], 0, 1.0), harness.Side("cleave", "avx2", [avx2], 0, 1.0),
             harness.Side("peer", "", [peer], 0, 1.0)]
    return {size: [dataclasses.asdict(side) for side in sides] for size in sizes}


def line(name, speed="1.70x"):
    return [name, "20", "1", "1", speed, "1", "1", "1.00"]


def words_of(path):
    """Of a file of the project that harness works on."""
    with open(os.path.join(harness.ROOT, path), encoding="utf-8") as file:
        return file.read()


def refused(function, *arguments):
    """What it says as it ends with status 2."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            function(*arguments)
        except SystemExit as end:
            assert end.code == 2, f"status {end.code}"
            return said.getvalue()
    raise AssertionError("nothing was refused")


def section(report, name):
    return report.split(f"## {name}")[1].split("\n## ")[0]


def checks(cleave):
    def parts():
        """Of a project made for it, with a record."""
        harness.ROOT, harness.CLEAVE, harness.busy_cores = tempfile.mkdtemp(dir=os.getcwd()), cleave, lambda: 0.0
        harness.write(os.path.join(harness.ROOT, RECORD), "the record\n")
        return harness.Parts(chosen(), ["baseline", "avx2"])

    def bench_refuses():
        parts()
        said = refused(harness.bench, chosen(rows=re.compile("no-such-row")))
        assert "no row matches 'no-such-row'" in said and "ncut-graph" in said, said
        said = refused(harness.sets_of, ["avx2", "avx3"])
        assert "'avx3'" in said and "baseline" in said, said
        for option, value in (("--rows", "("), ("--rounds", "0"), ("--threads", "two")):
            done = subprocess.run([sys.executable, os.path.join(ROOT, "bench/run"), option, value], capture_output=True, text=True)
            assert done.returncode == 2 and f"'{value}'" in done.stderr, done
        return "patterns, sets and numbers that cannot be meant"

    def bench_loses_no_row():
        rows, kept = [row("one", threads=True), row("two")], parts()
        kept.keep("one", times(1, 1))
        kept.keep("threads-one", line("one"))
        said = harness.report(rows, kept, chosen(), ["baseline", "avx2"])
        assert "was left alone" in said and "two, aims-" in said, said
        assert words_of(RECORD) == "the record\n" and "## one" in words_of(DRAFT)
        kept.keep("roofline", "")
        kept.keep("two", times(1, 1))
        said = harness.report(rows, kept, chosen(), ["baseline", "avx2"])
        assert "was left alone" in said and harness.aim_names()[0] in said, said
        for name in harness.aim_names():
            kept.keep(name, {"baseline": (0, ""), "avx2": (1e9, "slow")})
        other = harness.Parts(chosen(isa=["avx2"]), ["avx2"])
        other.keep("two", times(1, 1))
        harness.report(rows, other, chosen(isa=["avx2"]), ["avx2"])
        assert words_of(RECORD) == "the record\n"
        said = harness.report(rows, kept, chosen(), ["baseline", "avx2"])
        assert "left alone" not in said and "## one" in words_of(RECORD) and "## two" in words_of(RECORD), said
        aims = section(words_of(RECORD), "aims")
        assert "**1e+09 s** (slow)" in aims and "- a sweep of symnmf" in aims and "1e+09 (slow)" in aims, aims
        return "the record is written when all rows are there, and by its own sets and threads"

    def bench_says_what_is_behind():
        rows = [row("fast"), row("slow", threads=True), row("held", limit="Because."), row("aims", targets={"peer": 2, "fast": 0.7}),
                dataclasses.replace(row("guest", threads=True, shared="Because."), sizes=())]
        kept = parts()
        harness.busy_cores = lambda: 1.5
        kept.keep("threads-slow", line("slow", "1.20x"))
        kept.load, harness.busy_cores = 0.0, lambda: 0.0
        kept.keep("threads-guest", line("guest", "1.30x"))
        kept.keep("fast", times(0.5, 0.5))
        kept.keep("slow", times(1.5, 2, sizes=(10,)))
        kept.keep("held", times(2, 0.5))
        kept.keep("aims", times(0.4, 0.8))
        harness.report(rows, kept, chosen(), ["baseline", "avx2"])
        report = words_of(DRAFT)
        behind = section(report, "behind").splitlines()
        found = {said.split(": ")[0][2:]: said for said in behind if said.startswith("- ")}
        assert sorted(found) == ["aims", "held", "slow", "threads, guest", "threads, slow"], found
        assert "0.50 (baseline) of its time" in found["held"] and "avx2" not in found["held"] and "Because." in found["held"], found
        assert "0.67 (baseline), 0.50 (avx2) of its time" in found["slow"], found
        assert "at 10 peer takes 1.25 (avx2) of its time, with an aim of 2" in found["aims"] and "baseline" not in found["aims"], found
        assert "at 20 fast takes 0.62 (avx2) of its time, with an aim of 0.7" in found["aims"], found
        assert all((harness.NO_REASON in said) == (name not in ("held", "threads, guest")) for name, said in found.items()), found
        assert "kept 1.5 cores busy" in section(report, "threads") and "slow: " in section(report, "threads"), report
        assert "Not measured yet: 20." in section(report, "slow") and "Not measured" not in section(report, "fast"), report
        assert "1.30x on 2 threads, idle. Because." in found["threads, guest"] and "## guest" not in report, report
        assert harness.NO_REASON not in words_of(os.path.join(ROOT, RECORD)), "a row of bench/RESULTS.md is behind without a reason"
        return "every set, the reasons, aims of our own, and work beside the threads"

    return bench_refuses, bench_loses_no_row, bench_says_what_is_behind
