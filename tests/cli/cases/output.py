"""Output: files whole or not at all, targets checked first, standard output, limits and interruption."""
import html.parser
import json
import os
import pty
import random
import re
import select
import signal
import stat
import subprocess
import time

import harness
from harness import (blobs, blobs_npy, case, check, cleave, csv, npy, read, read_npy_labels, same_partition, two_blocks, without, write)

LONG = ("--restarts", "100000000")  # never ends by itself


@case
def labels_as_npy_csv_and_txt():
    blobs_npy()
    expected = cleave("ncut", "x.npy", "-k", 3, "-o", "l.npy", "--json", "-").json()["labels"]
    check(read_npy_labels("l.npy") == expected, ".npy")
    for path in ("l.csv", "l.txt"):
        cleave("ncut", "x.npy", "-k", 3, "-o", path, "-q")
        written = [line.split(",")[-1] for line in read(path).decode().split()]
        check([int(v) for v in written if v != "label"] == expected, path)
        cleave("eval", "l.npy", path, out=r"ari +1\.0")


@case
def a_protected_file_is_found_before_the_work():
    plain = None
    if os.geteuid() == 0:  # who may write everything, but for this
        plain = os.path.abspath(write("plain", f'#!/bin/sh\nexec setpriv --bounding-set=-dac_override "{harness.CLEAVE}" "$@"\n'))
        os.chmod(plain, 0o755)
    for option, path in (("-o", "l.csv"), ("--json", "r.json")):
        write(path, "kept")
        os.chmod(path, 0o444)
        cleave("kpalm", "none.npy", "-k", 3, option, path, code=73, err=f"{path} cannot be written: Permission denied", program=plain)
        check(read(path) == b"kept", path)


@case
def the_table():
    blobs_npy()
    text = cleave("ncut", "x.npy", "-k", 3, out="ncut").out
    check("\033" not in text and len(text.splitlines()) < 40, "short and plain")
    check(cleave("ncut", "x.npy", "-k", 3, "-q").out == "", "-q says nothing")


@case
def the_json_result():
    blobs_npy()
    result = cleave("ncut", "x.npy", "-k", 3, "--restarts", 4, "--seed", 5, "--json", "-").json()
    check((result["method"], result["solver"], result["n"], result["k"], result["seed"]) == ("ncut", "fpc", 60, 3, 5),
          "what was run")
    check(result["objective"]["sense"] == "min" and result["certificate"]["name"] == "one-move-gain", "what is claimed")
    check(sum(result["sizes"]) == 60 and len(result["labels"]) == 60 and result["left_out"] == 0, "labels and sizes")
    check(len(result["restarts"]) == 4 and set(result["seconds"]) >= {"total", "load", "affinity", "solve"}, "times")
    check(min(r["objective"] for r in result["restarts"]) == result["objective"]["value"], "the best is returned")
    cleave("ncut", "x.npy", "-k", 3, "--restarts", 4, "--seed", 5, "--json", "r.json", out="ncut")
    check(without(json.loads(read("r.json")), "seconds") == without(result, "seconds"), "file and stdout agree")


@case
def threads_do_not_change_the_result():
    blobs_npy(per=100)
    for extra in ([], ["--affinity", "knn"], ["--home", "computed"], ["--affinity", "minimax"]):
        common = ("ncut", "x.npy", "-k", 3, "--restarts", 5, "--json", "-", *extra)
        results = [without(cleave(*common, "--threads", t).json(), "seconds") for t in (1, 2)]
        check(results[0] == results[1], f"1 and 2 threads differ: {extra}")


@case
def trace():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--restarts", 2, "--trace", "t.csv", "-q")
    lines = read("t.csv").decode().splitlines()
    check(lines[0].split(",")[:4] == ["iteration", "seconds", "objective", "certificate"], lines[0])
    check(len(lines) > 2 and all(len(l.split(",")) == len(lines[0].split(",")) for l in lines), "one row per iteration")


class WellFormed(html.parser.HTMLParser):
    """Every element that is opened is closed, in order; nothing is fetched."""
    VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr", "area", "base", "source"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        for name, value in attrs:
            check(name not in ("src", "href") or not (value or "").startswith(("http", "//")), f"fetches {value}")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}")
        self.open.pop()


def check_page(path):
    page = WellFormed()
    page.feed(read(path).decode())
    page.close()
    check(not page.open and {"html", "head", "body", "svg"} <= page.seen, f"{path}: {page.open} {page.seen}")


@case
def report_of_named_classes():
    with open("x.csv", "w", encoding="utf-8") as file:
        file.write("a,b,class\n" + "".join(f"{i % 2},{i % 3 / 10},{['r<d', 'green'][i % 2]}\n" for i in range(20)))
    cleave("kpalm", "x.csv", "-k", 2, "--report", "r.html", "-q")
    page = read("r.html").decode()
    check('title="green">green</th>' in page and 'title="r&lt;d">r&lt;d</th>' in page, "classes have their names")
    check('"r\\u003cd"' in page and "r<d" not in page, "also in the list of objects")


@case
def report():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--report", "r.html", "--truth", "y.npy", "-q")
    check_page("r.html")
    check(b"<h2>The objects" in read("r.html"), "with a picture of the points")
    npy("a.npy", two_blocks())
    cleave("ncut", "a.npy", "-k", 2, "--affinity", "precomputed", "--report", "r.html", "-q")
    check_page("r.html")
    page = read("r.html")
    check(b"<h2>The objects" in page and b"spectral coordinate" in page, "a similarity has no points, but eigenvectors")
    check(b"<h2>Similarities" in page and b"data:image/png" in page, "the heat map")


@case
def all_outputs_at_once():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "-o", "l.npy", "--json", "r.json", "--trace", "t.csv", "--report", "r.html", "-q")
    check(all(os.path.getsize(p) for p in ("l.npy", "r.json", "t.csv", "r.html")), "four files")
    check(sorted(os.listdir(".")) == ["l.npy", "r.html", "r.json", "t.csv", "x.npy", "y.npy"], "and nothing else")


@case
def targets_are_checked_before_the_work():
    # The input is not even looked for.
    cleave("ncut", "none.npy", "-k", 3, "-o", "no/such/l.npy", code=73, err="no/such")
    cleave("ncut", "none.npy", "-k", 3, "-o", "l.jpeg", code=73, err="l.jpeg.*npy")
    cleave("ncut", "none.npy", "-k", 3, "--trace", "t.txt", code=73, err="t.txt.*csv")
    cleave("ncut", "none.npy", "-k", 3, "--report", "r.pdf", code=73, err="r.pdf.*html")
    cleave("ncut", "none.npy", "-k", 3, "--json", "", code=73, err="not the name of a file")
    os.mkdir("folder.npy")
    cleave("ncut", "none.npy", "-k", 3, "-o", "folder.npy", code=73, err="folder.npy")
    cleave("affinity", "none.npy", "-o", "no/such/a.npy", code=73, err="no/such")
    cleave("demo", "--report", "no/such/demo.html", code=73, err="no/such")
    cleave("ncut", "none.npy", "-k", 3, "--json", "a.csv", "--trace", "a.csv", code=64, err="both name a.csv")


@case
def one_file_is_not_written_twice():
    """However its name is spelled, whether it is there or not."""
    os.mkdir("sub")
    os.symlink("sub", "link")
    for one, other in (("a.csv", "./a.csv"), ("sub/a.csv", "link/a.csv"), ("sub/../a.csv", "a.csv"), (os.path.abspath("a.csv"), "a.csv")):
        for there in (False, True):
            if there:
                write(one, "precious\n")
            cleave("ncut", "none.npy", "-k", 3, "-o", one, "--trace", other, code=64, err="--output and --trace both name")
            cleave("affinity", "none.npy", "-o", one[:-3] + "mtx", "--json", other[:-3] + "mtx", code=64, err="both name")
            cleave("text", "none.jsonl", "-o", one, "--vocab", other, code=64, err="--output and --vocab both name")
            cleave("segment", "none.png", "-o", one[:-3] + "png", "--overlay", other[:-3] + "png", code=64,
                   err="both name")
    cleave("ncut", "none.npy", "-k", 3, "-o", "sub/b.csv", "--trace", "b.csv", code=66, err="none.npy")
    cleave("ncut", "none.npy", "-k", 3, "--json", "/dev/null", "-o", "c.csv", code=66, err="none.npy")


@case
def the_input_is_not_overwritten():
    blobs_npy()
    before = read("x.npy")
    cleave("ncut", "x.npy", "-k", 3, "-o", "./x.npy", code=64, err="overwrite the input")
    check(read("x.npy") == before, "the input is as it was")


def refuse_overwriting(*args, err="would overwrite the input .*: give it another name", stdin=None):
    """With status 64, and all files as they were."""
    def content():
        return {name: read(name) for name in os.listdir(".") if os.path.isfile(name)}
    before = content()
    cleave(*args, code=64, err=err, stdin=stdin)
    check(content() == before, f"files are as they were: {args}")


@case
def no_input_of_any_command_is_overwritten():
    blobs_npy()
    npy("l.npy", [0, 1] * 30, "<i4")
    os.link("x.npy", "hard.npy")
    os.symlink("x.npy", "soft.npy")
    write("m.mat", "precious\n")
    for path in ("y.npy", "./y.npy", os.path.abspath("y.npy")):
        refuse_overwriting("eval", "y.npy", "l.npy", "--json", path)
    refuse_overwriting("eval", "y.npy", "l.npy", "--json", "l.npy")
    refuse_overwriting("eval", "y.npy", "l.npy", "--data", "x.npy", "--json", "x.npy")
    for path in ("hard.npy", "soft.npy", os.path.abspath("x.npy")):
        refuse_overwriting("eval", "y.npy", "l.npy", "--data", "x.npy", "--json", path)
        refuse_overwriting("kpalm", "x.npy", "-k", 3, "-o", path)
        refuse_overwriting("affinity", "x.npy", "-o", path)
    refuse_overwriting("kpalm", "m.mat:X", "-k", 3, "--json", "m.mat", err="--json m.mat would overwrite the input m.mat:X")
    refuse_overwriting("kpalm", "x.npy", "-k", 3, "--predict", "m.mat:X", "--predict-output", "p.csv", "--json", "./m.mat")
    refuse_overwriting("affinity", "m.mat:X", "-o", "a.npy", "--json", "m.mat")
    refuse_overwriting("eval", "y.npy", "l.npy", "--data", "m.mat:X", "--json", "m.mat")


@case
def standard_input_from_a_file_is_not_overwritten():
    csv("x.csv", blobs()[0])
    before = read("x.csv")
    with open("x.csv", "rb") as data:
        process = subprocess.run([harness.CLEAVE, "kpalm", "-", "-k", "3", "--json", "x.csv"], stdin=data, capture_output=True)
    check(process.returncode == 64 and b"would overwrite the input" in process.stderr, process.stderr)
    check(read("x.csv") == before, "the input is as it was")


@case
def outputs_do_not_meet_through_links():
    """Links to a file that is not there yet, one after the other, from another folder."""
    os.mkdir("sub")
    os.symlink("b.csv", "a.csv")
    os.symlink("../c.csv", "sub/d.csv")
    os.symlink("sub/d.csv", "e.csv")
    os.symlink("loop.csv", "loop.csv")
    for one, other in (("a.csv", "b.csv"), ("b.csv", "a.csv"), ("sub/d.csv", "c.csv"), ("e.csv", "c.csv"), ("e.csv", "sub/d.csv"),
                       ("a.csv", os.path.abspath("b.csv"))):
        cleave("ncut", "none.npy", "-k", 3, "-o", one, "--trace", other, code=64, err="--output and --trace both name .*: give")
    cleave("ncut", "none.npy", "-k", 3, "-o", "a.csv", "--trace", "e.csv", code=66)
    cleave("ncut", "none.npy", "-k", 3, "-o", "loop.csv", "--trace", "e.csv", code=66)
    os.symlink("demo/iris.csv", "demo.html")
    cleave("demo", "--report", "demo.html", code=64, err="both name")


@case
def a_failed_run_leaves_outputs_untouched():
    write("l.csv", "precious\n")
    write("r.json", "precious\n")
    write("bad.csv", "1,2\n3,nan\n")
    blobs_npy(per=2)
    cleave("ncut", "bad.csv", "-k", 2, "-o", "l.csv", "--json", "r.json", code=65)
    cleave("ncut", "x.npy", "-k", 99, "-o", "l.csv", "--json", "r.json", code=65)
    check(read("l.csv") == b"precious\n" and read("r.json") == b"precious\n", "untouched")
    check(sorted(os.listdir(".")) == ["bad.csv", "l.csv", "r.json", "x.npy", "y.npy"], "no temporary file stays")


@case
def one_failed_output_does_not_stop_the_others():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--json", "/dev/full", "-o", "l.npy", "--report", "r.html", code=73,
           err="/dev/full")
    check(len(read_npy_labels("l.npy")) == 60 and os.path.getsize("r.html"), "the others are there")


@case
def the_first_of_several_failed_outputs_is_told():
    blobs_npy()
    for ending in ("npy", "html", "json", "csv"):
        os.symlink("/dev/full", f"full.{ending}")
    cleave("ncut", "x.npy", "-k", 3, "--json", "full.json", "-o", "full.npy", "--report", "full.html", "--trace", "t.csv", code=73,
           err="writing full.npy failed")
    check(os.path.getsize("t.csv"), "the others are there")
    cleave("symnmf", "x.npy", "-k", 3, "--json", "r.json", "--save-model", "-q")
    cleave("predict", "r.json", "x.npy", "-o", "full.npy", "--membership", "full.csv", code=73, err="full.npy")


@case
def every_command_goes_on_after_a_failed_output():
    blobs_npy()
    for ending in ("npy", "csv", "html"):
        os.symlink("/dev/full", f"full.{ending}")
    cleave("affinity", "x.npy", "-o", "full.npy", "--json", "a.json", code=73, err="full.npy")
    check(json.loads(read("a.json"))["n"] == 60, "the other one is there")
    cleave("affinity", "x.npy", "-o", "a.npy", "--json", "/dev/full", code=73, out="written +a.npy", err="/dev/full")
    cleave("eval", "y.npy", "y.npy", "--json", "/dev/full", code=73, out="ari", err="/dev/full")
    cleave("kpalm", "x.npy", "-k", 3, "--predict", "x.npy", "--predict-output", "full.npy", "--centers", "c.npy", code=73, err="full.npy")
    check(os.path.getsize("c.npy"), "the centers are there")
    cleave("ncut", "x.npy", "-k", 3, "--dry-run", "--json", "/dev/full", code=73, out="resident", err="/dev/full")
    cleave("demo", "--report", "full.html", code=73, out="rings", err="full.html")
    check(os.path.getsize("full/rings.html") and os.path.getsize("full/iris.csv"), "the other pages are there")
    os.mkdir("d")
    os.symlink("/dev/full", "d/moons.csv")
    cleave("demo", "--report", "d.html", code=73, out="rings", err="d/moons.csv")
    check(os.path.getsize("d/rings.html") and os.path.getsize("d/roads.html"), "the other sets are there")
    write("file", "")
    cleave("demo", "--report", "file.html", code=73, err="file: no folder")


@case
def standard_output_on_a_full_disk():
    blobs_npy()
    with open("/dev/full", "w") as full:
        for args in (["--help"], ["--version"], ["help", "ncut"], ["ncut", "x.npy", "-k", "3"],
                     ["ncut", "x.npy", "-k", "3", "--json", "-"], ["ncut", "x.npy", "-k", "3", "--dry-run"],
                     ["eval", "y.npy", "y.npy"], ["demo"]):
            cleave(*args, code=74, stdout=full, err="standard output")


@case
def a_closed_pipe_is_silent():
    """Also where the pipe was found closed by an earlier write than the last, as by help of several pages."""
    blobs_npy()
    for args in (["ncut", "x.npy", "-k", 3], ["--help"], ["help", "kpalm"], ["kpalm", "--help"], ["ncut", "x.npy", "-k", 3, "--json", "-"],
                 ["completion", "bash"], ["man", "kpalm"]):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            result = cleave(*args, code=74, stdout=pipe)
        check(result.err == "", f"{args}: nothing to say: {result.err}")


@case
def memory_budget():
    blobs_npy(per=100)
    cleave("ncut", "x.npy", "-k", 3, "--memory", "1K", "--home", "dense-f64", code=71, err="--memory|budget")
    cleave("ncut", "x.npy", "-k", 3, "--memory", "500K", "--home", "dense-f64", code=71, err="budget")
    result = cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--memory", "500K", "--json", "-").json()
    check(result["affinity"]["home"] in ("dense-f32", "computed"), f"a smaller home: {result['affinity']}")
    check(result["options"]["memory"] == 500 * 1024, "the budget is listed as it was given")


@case
def dry_run():
    points, _ = blobs_npy(per=100)
    cleave("ncut", "x.npy", "-k", 3, "--dry-run", out="local-knn, home sparse")
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--dry-run", "-o", "l.npy", out="home dense-f64")
    check(not os.path.exists("l.npy"), "nothing is written")
    plan = cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--dry-run", "--json", "-").json()
    check(plan["dry_run"] and plan["n"] == 300 and plan["affinity"]["home"] == "dense-f64", f"{plan}")
    check(plan["bytes"]["points"] == 300 * 2 * 8 and plan["bytes"]["affinity"] >= 300 * 300 * 8, f"{plan}")
    check(plan["bytes"]["resident_peak"] > plan["bytes"]["affinity"] + plan["bytes"]["method"], f"{plan}")
    cleave("ncut", "x.npy", "-k", 400, "--dry-run", code=65)


@case
def dry_run_counts_what_the_method_needs():
    blobs_npy(per=1000)
    few, many = (cleave("ncut", "x.npy", "-k", k, "--home", "computed", "--dry-run", "--json", "-").json()["bytes"]
                 for k in (2, 300))
    more = many["method"] - few["method"]
    check(more >= 298 * 3000 * 8, f"sums of 300 clusters over 3000 objects: {more}")
    check(abs(many["resident_peak"] - few["resident_peak"] - more) < 0.2 * more, f"{few} {many}")


@case
def verbose_says_what_was_made():
    blobs_npy()
    text = cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "-v", err="60 x 2").err
    check("gamma" in text and "home dense-f64" in text, text)


@case
def time_limit():
    blobs_npy(per=100)
    began = time.monotonic()
    result = cleave("ncut", "x.npy", "-k", 3, *LONG, "--time-limit", 0.5, "--json", "-").json()
    seconds = time.monotonic() - began
    check(seconds < 20 and len(result["labels"]) == 300, f"{seconds} s")
    check(result["options"]["time-limit"] == 0.5, "listed as given")
    write("r.json", json.dumps(result))
    cleave("verify", "r.json", "x.npy", out="^accepted")
    write("truth.csv", "label\n" + "".join(f"{i // 100}\n" for i in range(300)))
    result = cleave("ncut", "x.npy", "-k", 3, *LONG, "--time-limit", 0.5, "--truth", "truth.csv", "--json", "-").json()
    check(result["metrics"]["accuracy"] > 0, "what is measured in a moment is measured after the limit, too")


@case
def the_time_limit_counts_while_input_is_awaited():
    process = start("ncut", "-", "-k", 3, "--time-limit", 0.2, "--json", "-", stdin=subprocess.PIPE)
    code = process.wait(timeout=60)  # nothing ever comes
    err = process.stderr.read().decode()
    process.stdin.close()
    check(code == 75 and err == "cleave ncut: the time limit passed while reading standard input, before there was a "
          "result\n", f"exit {code}: {err}")


@case
def a_time_limit_always_leaves_labels():
    draw = random.Random(5)
    npy("x.npy", [[draw.gauss(0, 1) for _ in range(200)] for _ in range(3000)])
    for method, extra in (("ncut", []), ("symnmf", []), ("ncut", ["--affinity", "knn"]), ("ncut", ["--landmarks", 500]),
                          ("symnmf", ["--landmarks", 500]),
                          ("dominant", ["--affinity", "minimax"]), ("dominant", ["--affinity", "distance"]),
                          ("ncut", ["--affinity", "cosine", "--home", "dense-f64"]), ("dominant", ["--home", "computed"])):
        k = [] if method == "dominant" else ["-k", 3]
        cleave(method, "x.npy", *k, *extra, "--time-limit", 1e-6, "--json", "r.json",
               err=f"{method} had no time to evaluate a start: the labels are those of k-means on the points")
        result = json.loads(read("r.json"))
        check(len(result["labels"]) == 3000 and result["stop"] == "time limit", f"{method} {extra}: {result['stop']}")
        check(result["objective"]["value"] is None and result["certificate"]["value"] is None, "nothing is claimed")
        check(not result["certificate"]["holds"], "nothing is proved")
        cleave("verify", "r.json", "x.npy", code=65, err="there is nothing to verify: the run ended .'time limit'.")
        os.remove("r.json")
    write("long.csv", "0.25,0.5,0.75,1.0\n" * 600000)
    cleave("kpalm", "long.csv", "-k", 3, "--time-limit", 1e-6, code=75, err="passed while reading long.csv, before")


@case
def clusters_that_come_one_by_one_do_not_wait_for_all_similarities():
    draw = random.Random(8)
    npy("x.npy", [[draw.gauss(i % 3 * 9, 1) for _ in range(4)] for i in range(9000)])
    late = cleave("dominant", "x.npy", "--time-limit", 1e-3, "--json", "-", "-q").json()
    check(late.get("affinity", {"home": "computed"})["home"] == "computed", "on a slow machine there is none at all")
    one = cleave("dominant", "x.npy", "-k", 1, "--json", "-", "-q").json()
    check(one["affinity"]["home"] == "computed", one["affinity"]["home"])
    cleave("dominant", "x.npy", "-k", 1, "--dry-run", out="home computed")
    cleave("dominant", "x.npy", "--dry-run", out="home dense-f64")


@case
def too_many_pairs_for_the_limit_are_not_begun():
    draw = random.Random(6)
    npy("x.npy", [[draw.gauss(i % 3 * 9, 1) for _ in range(6)] for i in range(60000)])
    run = cleave("ncut", "x.npy", "-k", 3, "--home", "computed", "--threads", 1, "--time-limit", 3, "--json", "r.json",
                 err="^warning: about [0-9.]+ (s|min) would pass over all pairs of 60000 objects before the first iteration of "
                     "ncut, and the time limit is 3 s: .*--affinity knn")
    labels = json.loads(read("r.json"))["labels"]
    check(all(labels[i] == labels[i % 3] for i in range(60000)) and len(set(labels)) == 3, "k-means has had its time")
    check("objective" in run.out, run.out)


@case
def too_little_time_for_neighbors_and_landmarks():
    """What is asked for stays, in whatever time there is; and each has an estimate of its own."""
    draw = random.Random(7)
    npy("x.npy", [[draw.gauss(i % 3 * 9, 1) for _ in range(3)] for i in range(100000)])
    one = ("--threads", 1, "--json", "r.json", "-o", "l.npy")
    for extra, what, limit in ((["--affinity", "gaussian"], "pass over all pairs of", 1), (["--affinity", "knn"], "go into the nearest neighbors of", 0.1),
                               (["--landmarks", 3000], "go into the landmarks of", 0.1)):
        cleave("ncut", "x.npy", "-k", 3, "--time-limit", limit, *extra, *one, err=f"^warning: about .* would {what} 100000 objects before the "
               f"first iteration of ncut, and the time limit is {limit} s: the labels will be those of k-means")
        check(len(json.loads(read("r.json"))["labels"]) == 100000, "labels")
    cleave("dominant", "x.npy", "-k", 2, "--shift", 2, "--multistart", 2, "--time-limit", 20, *one, err="^((?!would pass over).)*$")
    check(json.loads(read("r.json"))["iterations"] > 0, "nor do several searches begin with one")
    first = cleave("dominant", "x.npy", "--time-limit", 2, *one, err="")  # one cluster after the other: without a pass over all pairs
    check("pairs" not in first.err and json.loads(read("r.json"))["objective"]["value"] > 0, first.err)


@case
def many_objects_are_compared_with_near_ones():
    draw = random.Random(7)
    npy("x.npy", [[draw.gauss(i % 3 * 9, 1) for _ in range(3)] for i in range(100000)])
    cleave("ncut", "x.npy", "-k", 3, "--memory", "1G", "--patience", 0, "--json", "r.json", "-o", "l.npy", "-q")
    result = json.loads(read("r.json"))
    check(result["options"]["affinity"] == result["affinity"]["kind"] == "local-knn", "as it was done")
    check("all pairs of objects do not fit" in result["affinity"]["reason"], result["affinity"]["reason"])
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def a_silhouette_has_no_more_time_than_the_rest():
    blobs_npy(per=20000)
    cleave("kpalm", "x.npy", "-k", 3, "--time-limit", 0.5, "--silhouette", "--threads", 1, "--json", "r.json",
           err="there was no time for the silhouette, a pass over all pairs of 60000 objects")
    check(b'"silhouette"' not in read("r.json"), "absent")
    blobs_npy()
    result = cleave("kpalm", "x.npy", "-k", 3, "--time-limit", 1e-9, "--silhouette", "--json", "-").json()
    check("silhouette" in json.dumps(result), "of few objects it is there")


@case
def a_time_limit_makes_nothing_longer():
    blobs_npy(per=100)
    began = time.monotonic()
    result = cleave("ncut", "x.npy", "-k", 3, "--time-limit", 100, "--json", "-").json()
    check(result["stop"] == "converged" and time.monotonic() - began < 50, result["stop"])
    cleave("ncut", "x.npy", "-k", 3, "--patience", "none", "--time-limit", 1, "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check(result["stop"] == "time limit" and result["options"]["patience"] == "none", f"{result['stop']}")
    cleave("verify", "r.json", "x.npy", out="^accepted")


def start(*args, **options):
    command = [harness.CLEAVE, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@case
def interrupted_with_the_best_result_written():
    blobs_npy(per=100)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start("ncut", "x.npy", "-k", 3, *LONG, "--progress", "--json", "r.json", "-o", "l.npy")
        line = process.stderr.readline().decode()
        check("objective" in line and "restart" in line, f"no progress: {line}")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        check(process.returncode == 130, f"exit {process.returncode}: {err}")
        result = json.loads(read("r.json"))
        check(result["labels"] == read_npy_labels("l.npy") and b"ncut" in out, "everything is written")
        cleave("verify", "r.json", "x.npy", out="^accepted")
        os.remove("r.json")


@case
def progress_for_programs():
    blobs_npy(per=100)
    run = cleave("ncut", "x.npy", "-k", 3, *LONG, "--time-limit", 1.5, "--threads", 1, "--progress=json", "-o", "l.npy", err="phase")
    lines = [json.loads(line) for line in run.err.splitlines()]
    done = lines.pop()
    check(done["phase"] == "done" and done["status"] == 0 and done["elapsed"] > 1.4, f"the last line: {done}")
    times = [line["elapsed"] for line in lines]
    check(all(b - a > 0.095 for a, b in zip(times, times[1:])), f"more than ten a second: {times}")
    check(5 <= len(lines) <= 18 and {line["phase"] for line in lines} <= {"reading", "affinity", "start", "solve"}, f"{lines}")
    last = lines[-1]
    check(last["phase"] == "solve" and last["restart"] >= 1 and last["iteration"] >= 0 and last["objective"] > 0, f"{last}")
    check(0 <= last["at_most"] < 1.5 and (last["estimate"] is None or 0 <= last["estimate"] <= last["at_most"]), f"{last}")
    cleave("ncut", "x.npy", "-k", 3, "--progress=xml", code=64, err="use --progress, or --progress=json")
    cleave("ncut", "x.npy", "-k", 3, "--quiet=yes", code=64, err="takes no value")
    cleave("ncut", "x.npy", "-k", 3, "--progress=json", "-q", "-o", "l.npy", err='"phase": "done", "elapsed": .*, "status": 0')
    cleave("ncut", "--help", out=r"--progress\[=json\]")


@case
def progress_says_what_it_is_certain_of():
    blobs_npy(per=100)
    run = cleave("ncut", "x.npy", "-k", 3, "--restarts", 300, "--progress=json", "-o", "l.npy", err="phase")
    lines = [json.loads(line) for line in run.err.splitlines()]
    end, solve = lines[-1]["elapsed"], [line for line in lines if line["phase"] == "solve"]
    shown = [(line["elapsed"], line["estimate"]) for line in solve if line["estimate"] is not None]
    check(all(b < a for (_, a), (_, b) in zip(shown, shown[1:])), f"it grows: {shown}")
    check(all(left <= 3 + 3 * (end - at) for at, left in shown), f"far off {end}: {shown}")
    check(end < 5 or shown, f"nothing is said in {end} s")
    check(all(line["at_most"] is None for line in solve), "a limit that nobody comes near")
    check("gap" in solve[0], "what the certificate is worth by then")


@case
def three_restarts_tell_little():
    draw = random.Random(1)
    npy("x.npy", [[draw.random(), draw.random()] for _ in range(60000)])
    run = cleave("kpalm", "x.npy", "-k", 150, "--restarts", 3, "--max-iter", 10, "--progress=json", "-o", "l.npy", err="phase")
    lines = [json.loads(line) for line in run.err.splitlines()]
    check(all(line.get("estimate") is None for line in lines), f"{lines}")
    start = [line for line in lines if line["phase"] == "start"]
    check(all((line["restart"], line["restarts"], line["iteration"]) == (1, 3, 0) for line in start), f"{start}")


@case
def all_that_is_said_to_a_program_is_json():
    draw = random.Random(1)
    csv("x.csv", [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(300)])
    run = cleave("dominant", "x.csv", "-k", 1, "--progress=json", "-v", "-o", "l.npy", err="phase")
    said = [json.loads(line) for line in run.err.splitlines()]
    check(any("no cluster" in line.get("warning", "") for line in said) and any("message" in line for line in said), f"{said}")
    check(not any("warning: " in str(line) for line in said), f"{said}")
    run = cleave("ncut", "none.csv", "-k", 3, "--progress=json", code=66, err='^{"error": ".*none.csv.*"}\n{"phase": "done", .*"status": 66}')
    for line in run.err.splitlines():
        json.loads(line)


@case
def interrupted_before_the_first_iteration():
    draw = random.Random(1)
    npy("x.npy", [[draw.random(), draw.random()] for _ in range(20000)])
    process = start("ncut", "x.npy", "-k", 3, "--home", "computed", "--threads", 1, "--progress", "-o", "l.npy")
    process.stderr.readline()  # what it is doing: there is progress before any iteration
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    check(process.returncode == 130 and b"the best result so far" in err, f"exit {process.returncode}: {err}")
    check(len(read_npy_labels("l.npy")) == 20000, "labels")


@case
def interrupted_while_reading():
    process = start("ncut", "-", "-k", 3, "-o", "l.npy", stdin=subprocess.PIPE)
    for _ in range(2):  # the first asks, a second one ends it
        harness.wait_until_caught(process, signal.SIGINT)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    process.communicate()
    check(process.returncode in (130, -signal.SIGINT), f"exit {process.returncode}")
    check(not os.path.exists("l.npy"), "no result, no file")


@case
def nobody_writes_the_pipe():
    os.mkfifo("p.csv")
    cleave("kpalm", "p.csv", "-k", 3, "--time-limit", 0.3, "-o", "l.csv", code=75, err="time limit")
    process = start("kpalm", "p.csv", "-k", 3, "-o", "l.csv", "-q")
    subprocess.run("sleep 0.3; (sleep 0.3; printf '1,2\\n3,4\\n'; sleep 0.3; printf '5,6\\n') >p.csv", shell=True, check=True)
    process.communicate(timeout=60)
    check(process.returncode == 0 and len(read("l.csv").splitlines()) == 4, "three objects, slowly written")


@case
def labels_from_a_pipe():
    """Which is read once: it has no ids."""
    write("t.csv", "id,label\n7,0\n8,1\n9,0\n")
    os.mkfifo("p.csv")
    process = start("eval", "t.csv", "p.csv", "--json", "-")
    subprocess.run("printf '0\\n1\\n0\\n' >p.csv", shell=True, check=True)
    out, err = process.communicate(timeout=60)
    check(process.returncode == 0 and json.loads(out)["matched"] == "row", f"exit {process.returncode}: {out} {err}")


@case
def nobody_reads_the_pipe():
    """The run is over, and one Ctrl-C ends the wait for a reader."""
    blobs_npy()
    os.mkfifo("l.csv")
    process = start("kpalm", "x.npy", "-k", 3, "--json", "r.json", "-o", "l.csv")
    harness.wait_until_caught(process, signal.SIGINT)
    time.sleep(1)
    check(process.poll() is None, "it waits for a reader")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    check(process.returncode in (73, 130) and b"nobody reads that pipe" in err, f"exit {process.returncode}: {err}")
    check(json.loads(read("r.json"))["k"] == 3, "other outputs are written")


def written_without_a_name(pid):
    """Bytes in the largest file without a name that a process has open."""
    sizes = [0]
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            file = os.stat(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if stat.S_ISREG(file.st_mode) and file.st_nlink == 0:
            sizes.append(file.st_size)
    return max(sizes)


@case
def killed_while_writing():
    """Where files can do without a name until they are complete, nothing is left of one that is not."""
    try:
        os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        raise harness.Skip(f"no files without a name here: {error}") from error
    draw = random.Random(1)
    npy("x.npy", [[draw.random(), draw.random()] for _ in range(3000)])
    before = sorted(os.listdir("."))
    for written in (1, 1 << 20, 1 << 24):
        process = start("affinity", "x.npy", "-o", "a.mtx", "--threads", 1)
        deadline = time.monotonic() + 60
        while written_without_a_name(process.pid) < written and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        check(process.returncode == -signal.SIGKILL and sorted(os.listdir(".")) == before, f"{os.listdir('.')}")


@case
def a_mapped_file_becomes_shorter():
    draw = random.Random(1)
    npy("x.npy", [[draw.random() for _ in range(100)] for _ in range(10000)])
    process = start("kpalm", "x.npy", "-k", 3, "--memory", "6M", *LONG, "--progress", "-o", "l.npy")
    process.stderr.readline()
    os.truncate("x.npy", 200)
    _, err = process.communicate(timeout=60)
    check(process.returncode == 74 and b"became shorter" in err and not os.path.exists("l.npy"), f"exit {process.returncode}: {err}")


def on_terminal(*args, **environment):
    """Run with standard output and error on a terminal; what it shows."""
    try:
        master, slave = pty.openpty()
    except OSError as error:
        raise harness.Skip(f"no terminal to be had: {error}") from error
    env = {**os.environ, "TERM": "xterm", **environment}
    if "NO_COLOR" not in environment:
        env.pop("NO_COLOR", None)
    process = subprocess.Popen([harness.CLEAVE, *map(str, args)], stdout=slave, stderr=slave, env=env)
    os.close(slave)
    shown = b""
    try:
        while select.select([master], [], [], 60)[0]:
            piece = os.read(master, 65536)
            if not piece:
                break
            shown += piece
    except OSError:
        pass  # the other end is closed
    os.close(master)
    check(process.wait(timeout=60) == 0, f"exit {process.returncode}: {shown}")
    return shown.decode()


@case
def on_a_terminal():
    blobs_npy()
    check("\033[1m" in on_terminal("--help"), "bold titles")
    check("\033" not in on_terminal("--help", NO_COLOR="1"), "NO_COLOR is honored")
    shown = on_terminal("ncut", "x.npy", "-k", 3)
    line_then_table = r"\r\033\[Ksolve  restart .* iteration .* s.*\r\033\[K(?!solve)[^\r\033]*ncut"
    check(re.search(line_then_table, shown), f"the progress line comes and goes: {shown!r}")
    check("objective" not in on_terminal("ncut", "x.npy", "-k", 3, "-o", "l.npy", "-q"), "-q has none")
