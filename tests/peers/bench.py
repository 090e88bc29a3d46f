"""The report of bench/run: what is refused, and that no row of the record is lost. Nothing is timed."""
import argparse
import contextlib
import dataclasses
import io
import os
import re
import subprocess
import sys

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
    with open(path, encoding="utf-8") as file:
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


def checks(cleave):
    def parts():
        """Of a project in the folder of the test, with a record."""
        harness.ROOT, harness.CLEAVE, harness.busy_cores = os.getcwd(), cleave, lambda: 0.0
        harness.write(os.path.abspath(RECORD), "the record\n")
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
        assert "was left alone" in said and "two, roofline" in said, said
        assert words_of(RECORD) == "the record\n" and "## one" in words_of(DRAFT)
        kept.keep("roofline", "")
        kept.keep("two", times(1, 1))
        other = harness.Parts(chosen(isa=["avx2"]), ["avx2"])
        other.keep("two", times(1, 1))
        harness.report(rows, other, chosen(isa=["avx2"]), ["avx2"])
        assert words_of(RECORD) == "the record\n"
        said = harness.report(rows, kept, chosen(), ["baseline", "avx2"])
        assert "left alone" not in said and "## one" in words_of(RECORD) and "## two" in words_of(RECORD), said
        return "the record is written when all rows are there, and by its own sets and threads"

    return bench_refuses, bench_loses_no_row
