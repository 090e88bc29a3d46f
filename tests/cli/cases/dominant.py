"""dominant: options, starts, outputs, new objects, limits and interruption."""
import json
import math
import os
import random
import signal
import struct
import subprocess
import time

import harness
from harness import blobs, blobs_npy, case, check, cleave, csv, npy, read, read_npy_labels, without, write


def cliques(sizes=(4, 3), alone=1, within=1.0, between=0.1):
    """A similarity of groups, and objects that are similar to nothing."""
    n = sum(sizes) + alone
    group = [c for c, size in enumerate(sizes) for _ in range(size)] + [-1] * alone
    return [[0.0 if i == j or -1 in (group[i], group[j]) else within if group[i] == group[j] else between
             for j in range(n)] for i in range(n)]


def given(*args, data="a.npy", **options):
    return cleave("dominant", data, "--affinity", "precomputed", *args, **options)


def dense_npy(path):
    """Rows of a matrix of doubles."""
    data = read(path)
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + size])
    rows, cols = header["shape"]
    check(header["descr"] == "<f8" and not header["fortran_order"], f"{path}: {header}")
    flat = struct.unpack(f"<{rows * cols}d", data[10 + size:])
    return [list(flat[i * cols:(i + 1) * cols]) for i in range(rows)]


def dense_mtx(path):
    lines = read(path).decode().splitlines()
    rows, cols, count = map(int, next(l for l in lines if not l.startswith("%")).split())
    matrix = [[0.0] * cols for _ in range(rows)]
    body = [l for l in lines if not l.startswith("%")][1:]
    check(len(body) == count, f"{path}: {count} entries")
    for line in body:
        i, j, value = line.split()
        matrix[int(i) - 1][int(j) - 1] = float(value)
    return matrix


def weights_of(result):
    """The membership of a JSON result as rows."""
    m = result["membership"]
    matrix = [[0.0] * result["k"] for _ in range(result["n"])]
    start, index, values = m["start"], m["index"], m["value"]
    for i in range(result["n"]):
        for e in range(start[i], start[i + 1]):
            matrix[i][index[e]] = values[e]
    return matrix


@case
def cliques_one_by_one():
    npy("a.npy", cliques())
    result = given("--json", "-", "-o", "l.npy").json()
    check(result["method"] == "dominant" and result["solver"] == "pfw" and result["k"] == 2, f"{result}")
    check(result["labels"] == [0] * 4 + [1] * 3 + [-1] == read_npy_labels("l.npy"), f"{result['labels']}")
    check(result["left_out"] == 1 and result["sizes"] == [4, 3], "who is similar to nothing is left out")
    check(result["objective"]["name"] == "cohesiveness" and result["objective"]["sense"] == "max", "what is claimed")
    check(abs(result["objective"]["value"] - (3 / 4 + 2 / 3)) < 1e-9, f"{result['objective']}")
    check(result["certificate"]["name"] == "frank-wolfe-gap" and result["certificate"]["holds"], "certificate")
    check(given("-k", 1, "--json", "-").json()["labels"] == [0] * 4 + [-1] * 4, "at most one")
    check(given("-k", "all", "--json", "-").json()["labels"] == result["labels"], "all is the default")
    check(given("--assign", "-k", 1, "--json", "-").json()["labels"] == [0] * 7 + [-1], "the others are assigned")
    text = given().out
    check("cohesiveness" in text and len(text.splitlines()) < 40, text)


@case
def clusters_in_the_json_result():
    npy("a.npy", cliques())
    result = given("--json", "-").json()
    check(len(result["clusters"]) == 2 and "passes" not in result, f"{result['clusters']}")
    for c, (cluster, size) in enumerate(zip(result["clusters"], (4, 3))):
        check({"size", "cohesiveness", "certificate", "iterations", "stop"} <= set(cluster), f"{cluster}")
        check(cluster["size"] == size and cluster["stop"] == "converged" and cluster["iterations"] > 0, f"{cluster}")
        check(abs(cluster["cohesiveness"] - (size - 1) / size) < 1e-9 and cluster["certificate"] < 1e-6, f"{cluster}")
        check(result["labels"][cluster["prototype"]] == c, "the prototype is a member")
    check(abs(sum(c["cohesiveness"] for c in result["clusters"]) - result["objective"]["value"]) < 1e-12, "the sum")


@case
def memberships():
    blobs_npy()
    for extra in (["-k", 3], ["--shift", 2, "--solver", "afw"], ["--multistart", 5]):
        result = cleave("dominant", "x.npy", *extra, "--json", "-", "--membership", "m.npy").json()
        cleave("dominant", "x.npy", *extra, "--membership", "m.mtx", "-q")
        dense, sparse, told = dense_npy("m.npy"), dense_mtx("m.mtx"), weights_of(result)
        check(len(dense) == 60 and len(dense[0]) == result["k"], "n x k")
        check(dense == told, "the .npy is that of the JSON")
        check(all(abs(a - b) <= 1e-15 for r, s in zip(dense, sparse) for a, b in zip(r, s)), "and so is the .mtx")
        for c in range(result["k"]):
            column = [row[c] for row in dense]
            check(abs(sum(column) - 1) < 1e-9 and min(column) >= 0, f"column {c} adds up to {sum(column)}")
            check(sum(v > 2e-12 for v in column) == result["clusters"][c]["size"], "members have weight")
            check(max(range(60), key=lambda i: column[i]) == result["clusters"][c]["prototype"], "the heaviest")
        if "--multistart" not in extra:
            check(all((row[c] > 2e-12) == (label == c) for row, label in zip(dense, result["labels"])
                      for c in range(result["k"])), "labels are the members")


@case
def option_errors():
    npy("a.npy", cliques())
    for args, code, words in (
            (["-k", 9], 65, "k = 9 exceeds the 8 rows of a.npy"), (["-k", 0], 64, "k"), (["-k", "two"], 64, "two"),
            (["--solver", "newton"], 64, r"newton.*fw\|pfw\|afw\|rd|newton.*fw, pfw"), (["--shift", -1], 64, "shift"),
            (["--cutoff", 2], 64, "cutoff"), (["--min-size", 0], 64, "min-size"), (["--overlap", 101], 64, "overlap"),
            (["--sampling", "best"], 64, "best"), (["--absorb", -1], 64, "absorb"),
            (["--start", "nowhere"], 64, "nowhere.*, or a file of weights"),
            (["--start", "none.npy"], 66, "none.npy"),
            (["--start-object", 8], 65, "start-object = 8 is not one of the 8 objects"),
            (["--start-object", -2], 64, "start-object"),
            (["--solver", "rd", "--start-object", 1], 64, "rd cannot start at a single object"),
            (["--solver", "rd", "--start", "vertex"], 64, "rd cannot start at a single object"),
            (["--multistart", 2, "--start-object", 1], 64, "multistart"),
            (["--keep-diagonal"], 64, "--keep-diagonal cannot be used with dominant"),
            (["--min-size", 5], 65, "there is no cluster: the first is smaller"),
            (["--weights", "w.npy"], 64, "weights"), (["--centers", "c.npy"], 64, "centers")):
        given(*args, "-o", "l.npy", code=code, err=words)
    check(os.listdir(".") == ["a.npy"], "nothing was written")
    given("--no-face-solve", "--zero-diagonal", "-q")
    cleave("help", "dominant", out="--multistart N")
    cleave("dominant", "--help", out="--start-object I")


@case
def the_diagonal_does_not_matter():
    npy("a.npy", cliques())
    plain = without(given("--json", "-").json(), "seconds")
    npy("a.npy", [[7.0 if i == j else v for j, v in enumerate(row)] for i, row in enumerate(cliques())])
    check(without(given("--json", "-").json(), "seconds") == plain, "self-similarities count as 0")


@case
def nothing_is_similar():
    npy("a.npy", [[0.0] * 5 for _ in range(5)])
    for extra in ([], ["--shift", 1], ["--solver", "rd"], ["--multistart", 2]):
        given(*extra, "-o", "l.npy", code=65, err="a.npy: there is no cluster: no two objects are similar")
    check(os.listdir(".") == ["a.npy"], "nothing was written")


@case
def signed_similarities():
    rows = cliques(between=-0.5)
    npy("a.npy", rows)
    given(code=65, err="row 1, column 5 is -0.5")
    given("--shift", 0.25, code=65, err="with --shift 0.25 it must be at least -0.25")
    for shift in (0.5, 1):
        given("--shift", shift, "--json", "r.json", "-q")
        labels = json.loads(read("r.json"))["labels"]
        check(labels[:7] == [0] * 4 + [1] * 3, f"{labels}")
        cleave("verify", "r.json", "a.npy", out="^accepted")


@case
def asymmetric_similarities():
    rows = cliques()
    rows[0][1] = 0.8
    npy("a.npy", rows)
    given(code=65, err="symmetrize")
    given("--symmetrize", "--json", "r.json", "-q")
    check(json.loads(read("r.json"))["labels"] == [0] * 4 + [1] * 3 + [-1], "as if it were symmetric")
    cleave("verify", "r.json", "a.npy", out="^accepted")


@case
def start_from_weights():
    npy("a.npy", cliques())
    weights = [0.0] * 4 + [2.0, 1.0, 1.0, 0.0]
    npy("w.npy", weights)
    npy("w4.npy", weights, "<f4")
    npy("column.npy", [[w] for w in weights])
    write("w.csv", "\n".join(map(str, weights)) + "\n")
    write("row.csv", ",".join(map(str, weights)) + "\n")
    for path in ("w.npy", "w4.npy", "column.npy", "w.csv", "row.csv"):
        result = given("--start", path, "--json", "r.json", "-q") and json.loads(read("r.json"))
        check(result["labels"] == [1] * 4 + [0] * 3 + [-1], f"{path}: the second group comes first: {result['labels']}")
        cleave("verify", "r.json", "a.npy", out="^accepted")
    check(given("--start-object", 5, "--json", "-").json()["labels"] == [1] * 4 + [0] * 3 + [-1], "an object")
    npy("short.npy", weights[1:])
    given("--start", "short.npy", code=65, err=r"short.npy.*8 objects")
    npy("square.npy", cliques())
    given("--start", "square.npy", code=65, err=r"square.npy: .*8 x 8 numbers")
    npy("tall.npy", [[float(i + j) for j in range(3)] for i in range(20000)])
    cleave("dominant", "tall.npy", "-k", 2, "--affinity", "precomputed", code=65, err="must be square; this one has 20000 rows and 3 columns")
    npy("negative.npy", [1.0, -0.5] + [0.0] * 6)
    given("--start", "negative.npy", code=65, err="object 2 to start from is -0.5")
    npy("nan.npy", [1.0, math.nan] + [0.0] * 6)
    given("--start", "nan.npy", code=65, err="nan.npy")
    npy("zeros.npy", [0.0] * 8)
    given("--start", "zeros.npy", code=65, err="add up to 0")
    given("--start", "w.npy", "--start-object", 1, code=64, err="start-object")


@case
def trace():
    blobs_npy()
    result = cleave("dominant", "x.npy", "-k", 3, "--trace", "t.csv", "--no-face-solve", "--json", "-").json()
    lines = [line.split(",") for line in read("t.csv").decode().splitlines()]
    names = lines[0]
    check(names[:4] == ["iteration", "seconds", "objective", "certificate"], f"{names}")
    check({"support", "drops", "swaps", "cluster", "restart"} <= set(names), f"{names}")
    rows = [dict(zip(names, map(float, line))) for line in lines[1:]]
    for c, cluster in enumerate(result["clusters"]):
        own = [row for row in rows if row["cluster"] == c]
        check(len(own) == cluster["iterations"] + 1, f"cluster {c}: one row per iteration")
        check(own[0]["support"] == 1 and own[-1]["drops"] == cluster["drops"] and
              own[-1]["swaps"] == cluster["swaps"], f"cluster {c}: counts")
        check(own[-1]["support"] == cluster["size"], "the support is the cluster")
        check(all(a["objective"] <= b["objective"] + 1e-14 for a, b in zip(own, own[1:])), "f rises")


@case
def homes_and_kinds():
    blobs_npy()
    groups = {}
    for extra in (["--home", "dense-f64"], ["--home", "dense-f32"], ["--home", "computed"], ["--affinity", "knn"],
                  ["--affinity", "minimax"], ["--affinity", "minimax", "--home", "dense-f64"],
                  ["--affinity", "cosine"], ["--affinity", "distance"], ["--affinity", "exponential"]):
        for solver in ("pfw", "rd"):
            cleave("dominant", "x.npy", "-k", 3, "--shift", 2, "--assign", "--solver", solver, "--max-iter", 300,
                   *extra, "--json", "r.json", "-q")
            cleave("verify", "r.json", "x.npy", out="^accepted")
            groups[solver, *extra] = json.loads(read("r.json"))["labels"]
    check(groups["pfw", "--home", "dense-f64"] == groups["pfw", "--home", "computed"], "the home does not matter")


@case
def several_clusters_a_pass():
    blobs_npy(per=40)
    for sampling in ("uniform", "dpp"):
        common = ("dominant", "x.npy", "-k", 3, "--shift", 2, "--multistart", 8, "--sampling", sampling)
        results = [without(cleave(*common, "--threads", t, "--json", "-").json(), "seconds") for t in (1, 2)]
        check(results[0] == results[1], f"{sampling}: 1 and 2 threads differ")
        result = results[0]
        check(1 <= result["passes"] <= result["k"], f"{result['passes']} passes")
        check(max(c["pass"] for c in result["clusters"]) < result["passes"], "of these passes")
        cleave(*common, "--assign", "--json", "r.json", "-q")
        cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def verify_notices():
    blobs_npy()
    cleave("dominant", "x.npy", "-k", 3, "--shift", 1, "--assign", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))

    def weight(r):
        r["membership"]["value"][0] *= 1.001

    def label(r):
        r["labels"][0] = (r["labels"][0] + 1) % 3
        r["sizes"] = [r["labels"].count(c) for c in range(3)]

    def cluster(r):
        r["clusters"][1]["cohesiveness"] += 1e-6

    def shift(r):
        r["options"]["shift"] = 1.5

    def unassigned(r):
        r["options"]["assign"] = not r["options"]["assign"]

    for change in (weight, label, cluster, shift, unassigned):
        claim = json.loads(json.dumps(result))
        change(claim)
        write("bad.json", json.dumps(claim))
        cleave("verify", "bad.json", "x.npy", code=1, out="^rejected")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def a_shift_for_k_clusters():
    """Of a cloud that overlaps, where the sets without a shift are a few objects each."""
    draw = random.Random(5)
    points = [[draw.gauss(3 * (i % 3), 1), draw.gauss(2 * (i % 2), 1)] for i in range(300)]
    npy("x.npy", points)
    plain = cleave("dominant", "x.npy", "-k", 3, "--shift", 0, "--json", "-", err="202 of 300 objects are in no cluster").json()
    check("shift" not in plain and plain["options"]["shift"] == 0, "given ones are options")
    for more in ([], ["--home", "computed"], ["--solver", "rd", "--max-iter", 2000], ["--multistart", 4], ["--assign"]):
        cleave("dominant", "x.npy", "-k", 3, *more, "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check(result["options"]["shift"] == "auto" and result["shift"] > 0, f"{more}: {result['shift']}")
        check(result["left_out"] < plain["left_out"] / 2, f"{more}: {result['left_out']} of {plain['left_out']} left out")
        cleave("verify", "r.json", "x.npy", out="^accepted")
    cleave("dominant", "x.npy", "-k", 3, "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check(67 <= result["clusters"][0]["size"] <= 150, f"about a third of all: {result['clusters'][0]['size']}")
    given = cleave("dominant", "x.npy", "-k", 3, "--shift", repr(result["shift"]), "--json", "-").json()
    check(given["labels"] == result["labels"] and given["objective"] == result["objective"], "the number is all there is to it")
    one, two = (cleave("dominant", "x.npy", "-k", 3, "--threads", t, "--json", "-").json()["shift"] for t in (1, 2))
    check(one == two == result["shift"], "whatever the threads")
    for forged, why in ((lambda r: r.update(shift=1.01 * r["shift"]), "rejected"), (lambda r: r.pop("shift"), "lacks the shift"),
                        (lambda r: r.update(shift=-1.0), "0 or more"), (lambda r: r["options"].update(shift=1.0), "none was looked for")):
        claim = json.loads(json.dumps(result))
        forged(claim)
        write("bad.json", json.dumps(claim))
        cleave("verify", "bad.json", "x.npy", code=1, out=f"^rejected.*{why}" if why != "rejected" else "^rejected")
    every = cleave("dominant", "x.npy", "--json", "-").json()
    check("shift" not in every and every["k"] > 3, "without -k there is none")


@case
def cores_of_large_clusters():
    """More members than --shift auto looks for: what it gave is said to be their cores."""
    draw = random.Random(6)
    npy("x.npy", [[draw.gauss(5 * (i % 2), 1), draw.gauss(0, 1)] for i in range(4000)])
    said = "clusters of at most 1200 members, and n / k is 2000: .* of 4000 objects are in none; try --assign, or a --shift above"
    plain = cleave("dominant", "x.npy", "-k", 2, "--json", "-", err=said).json()
    check(plain["left_out"] > 400, f"{plain['left_out']} are left out")
    more = cleave("dominant", "x.npy", "-k", 2, "--shift", 4 * plain["shift"] + 200, "--json", "-").json()
    check(more["left_out"] < plain["left_out"] and "warnings" not in more, "what to try helps")
    check("warnings" not in cleave("dominant", "x.npy", "-k", 2, "--assign", "--json", "-").json(), "none is left out")
    check("warnings" not in cleave("dominant", "x.npy", "-k", 4, "--assign", "--json", "-").json(), "small enough")


@case
def new_points():
    points, _ = blobs_npy()
    new, _ = blobs(per=15, seed=2)
    new.append([100.0, 100.0])
    npy("new.npy", new)
    for extra, nearest in (([], False), (["--assign"], True)):
        for more in ([], ["--home", "computed"], ["--shift", 1.5]):
            result = cleave("dominant", "x.npy", "-k", 3, "--gamma", 0.3, "--predict", "new.npy", "--predict-output",
                            "p.npy", *extra, *more, "--json", "-", err="").json()
            weights, shift = weights_of(result), 1.5 if "--shift" in more else result["shift"]
            for x, label in zip(new, read_npy_labels("p.npy")):
                row = [math.exp(-0.3 * math.dist(x, y) ** 2) for y in points]
                similar = [sum(row[i] * weights[i][c] for i in range(60)) for c in range(3)]
                surplus = [s + shift - cluster["cohesiveness"] for s, cluster in zip(similar, result["clusters"])]
                best = max(range(3), key=lambda c: surplus[c])
                if surplus[best] >= 1e-9:
                    check(surplus[label] >= surplus[best] - 1e-12, f"{label}: {surplus}")
                elif surplus[best] < -1e-9 and not nearest:
                    check(label == -1, f"{label}: nobody accepts it: {surplus}")
                elif surplus[best] < -1e-9 and max(similar) > 0:
                    check(similar[label] >= max(similar) - 1e-15, f"{label}: the nearest of {similar}")


@case
def new_similarities():
    npy("a.npy", cliques())
    npy("new.npy", [[0.1] * 4 + [1.0] * 3 + [0.0], [1.0] * 4 + [0.1] * 3 + [0.0], [0.3] * 7 + [0.0], [0.0] * 7 + [1.0]])
    options = ("--predict", "new.npy", "--predict-output", "p.npy", "-q")
    given(*options)
    check(read_npy_labels("p.npy") == [1, 0, -1, -1], f"{read_npy_labels('p.npy')}")
    given(*options, "--assign")
    check(read_npy_labels("p.npy") in ([1, 0, 0, -1], [1, 0, 1, -1]), f"{read_npy_labels('p.npy')}")
    npy("new.npy", [[0.1] * 3])
    given(*options, code=65, err="new.npy has 3 columns, but a.npy has 8 objects")
    npy("a.npy", cliques(between=-0.5))
    npy("new.npy", [[-0.5] * 4 + [1.0] * 3 + [0.0], [1.0] * 4 + [-0.5] * 3 + [0.0]])
    given(*options, "--shift", 0.5)
    check(read_npy_labels("p.npy") == [1, 0], "signed ones, as far as the shift goes")
    npy("new.npy", [[-0.6] * 8])
    given(*options, "--shift", 0.5, code=65, err="new object 1 to object 1 is -0.6")


@case
def time_limit():
    draw = random.Random(3)
    npy("x.npy", [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(2000)])
    for extra in ([], ["--solver", "rd"], ["--multistart", 4], ["--home", "computed", "--shift", 3], ["--assign"],
                  ["--absorb", 0.5, "--home", "computed"], ["--multistart", 4, "--assign", "--home", "computed"]):
        for limit in (1e-3, 0.05):
            cleave("dominant", "x.npy", "--tol", 0, "--max-iter", 10 ** 9, "--time-limit", limit, *extra, "--json",
                   "r.json", "-q")
            result = json.loads(read("r.json"))
            check(result["k"] >= 1 and result["stop"] in ("time limit", "stalled"), f"{extra}: {result['stop']}")
            cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def interrupted_with_the_result_so_far():
    draw = random.Random(4)
    npy("x.npy", [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(3000)])
    for extra in (["--solver", "rd"], ["--solver", "rd", "--assign"], ["--solver", "rd", "--home", "computed"],
                  ["--solver", "fw", "--no-face-solve", "--absorb", 0.3, "--home", "computed"],
                  *(["--solver", "fw", "--no-face-solve", "--multistart", 3, "--seed", seed] for seed in (1, 2, 3)),
                  ["--solver", "fw", "--no-face-solve", "--multistart", 3, "--assign", "--absorb", 0.5]):
        process = subprocess.Popen([harness.CLEAVE, "dominant", "x.npy", "--tol", "1e-15", "--max-iter", "1000000000",
                                    "--progress", "--json", "r.json", *map(str, extra)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        process.stderr.readline()  # there is an iterate
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        check(process.returncode == 130 and os.path.exists("r.json"), f"{extra}: exit {process.returncode}: {err}")
        check(json.loads(read("r.json"))["stop"] == "cancelled", f"{extra}")
        cleave("verify", "r.json", "x.npy", out="^accepted")
        os.remove("r.json")


@case
def what_it_will_take():
    blobs_npy(per=100)
    plan = cleave("dominant", "x.npy", "--dry-run", "--json", "-").json()
    check(plan["dry_run"] and plan["n"] == 300 and plan["bytes"]["method"] > 300 * 8, f"{plan}")
    cleave("dominant", "x.npy", "--memory", "20K", code=71, err="memory|budget")
    result = cleave("dominant", "x.npy", "--memory", "450K", "-k", 3, "--json", "-").json()
    check(result["affinity"]["home"] in ("dense-f32", "computed"), f"a smaller home: {result['affinity']}")


@case
def few_sets_of_many_points_are_found_without_all_similarities():
    points, _ = blobs(per=1500)
    npy("x.npy", points)
    few = cleave("dominant", "x.npy", "-k", 2, "--shift", 0, "--json", "-", err="are in no cluster: try").json()
    check(few["affinity"]["home"] == "computed", few["affinity"]["home"])
    held = cleave("dominant", "x.npy", "-k", 2, "--shift", 0, "--home", "dense-f64", "--json", "-", err="").json()
    check(held["affinity"]["home"] == "dense-f64" and few["labels"] == held["labels"], "the same sets")
    many = cleave("dominant", "x.npy", "-k", 9, "--shift", 0, "--json", "-", err="").json()
    check(many["affinity"]["home"] == "dense-f64", "many sets")


@case
def a_heavy_diagonal_counts_as_zero():
    """Whatever is stored there, and however large: the same but for rounding."""
    points, _ = blobs(per=15)
    for diagonal in (0.0, 1e12, 1e300):
        a = [[diagonal if i == j else math.exp(-math.dist(p, q) ** 2) for j, q in enumerate(points)] for i, p in enumerate(points)]
        npy("a.npy", a)
        for solver in ("fw", "pfw", "afw", "rd"):
            cleave("dominant", "a.npy", "--affinity", "precomputed", "--solver", solver, "-k", 3, "--json", "r.json", "-q")
            cleave("verify", "r.json", "a.npy", out="^accepted")
            result = json.loads(read("r.json"))
            if diagonal == 0:
                write(f"{solver}.json", json.dumps(result))
            other = json.loads(read(f"{solver}.json"))
            far = abs(result["objective"]["value"] - other["objective"]["value"])
            check(result["labels"] == other["labels"] and far < 1e-5, f"{solver} {diagonal}: {far}")


@case
def iterations_that_cannot_be():
    blobs_npy()
    cleave("dominant", "x.npy", "-k", 3, "--json", "r.json", "-q")

    def forge(change):
        result = json.loads(read("r.json"))
        change(result)
        write("false.json", json.dumps(result))
        return cleave("verify", "false.json", "x.npy", code=1, out="^rejected").out

    def set_all(result, count):
        result["iterations"] = result["restarts"][0]["iterations"] = count

    check("max-iter" in forge(lambda result: set_all(result, 10**15)), "more than any run can have")
    check("the clusters took" in forge(lambda result: set_all(result, 1)), "fewer than its clusters")
    check("iterations, where" in forge(lambda result: result["clusters"][0].update(iterations=10**9)), "more than the limit")
    cleave("dominant", "x.npy", "-k", 3, "--max-iter", 0, "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def a_limit_too_short_for_neighbors():
    """Only similarities of all pairs may be computed one by one instead: nobody asked for that home of a graph."""
    draw = random.Random(1)
    npy("x.npy", [[draw.gauss(4 * (i % 2), 1), draw.gauss(0, 1)] for i in range(9000)])
    for kind in ("knn", "local-knn", "cosine", "gaussian"):
        cleave("dominant", "x.npy", "--affinity", kind, "--time-limit", 0.001, "-o", "l.npy", "-q")


@case
def a_set_of_one_object_is_accepted():
    """Its cohesiveness is 0, or what rounding leaves of a similarity to itself that is taken off; the gap is many times that."""
    draw = random.Random(3)
    points = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(60)]
    npy("x.npy", points)
    for home in ("dense-f64", "low-rank"):
        for seed in range(1, 6):
            cleave("dominant", "x.npy", "--affinity", "cosine", "--home", home, "--start", "random", "--seed", seed, "--scale", "standard",
                   "--max-iter", 0, "--json", "r.json", "-q")
            cleave("verify", "r.json", "x.npy", out="^accepted")
    result = json.loads(read("r.json"))
    result["objective"]["value"] += 1e-12
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", code=1, out="^rejected")


@case
def the_shift_that_is_found_is_that_of_the_data():
    """However few iterations were asked for at first: a run that goes on ends as one that was never cut short."""
    blobs_npy()
    for solver, k in (("rd", 3), ("fw", 2), ("pfw", 2)):
        how = ["dominant", "x.npy", "-k", k, "--solver", solver, "--start", "center", "-q", "--json"]
        cleave(*how, "whole.json", "--max-iter", 300)
        cleave(*how, "part.json", "--max-iter", 2, "--checkpoint", "c.ck")
        whole, part = (json.loads(read(f"{name}.json")) for name in ("whole", "part"))
        check(whole["shift"] == part["shift"], f"{solver}: {whole['shift']}, {part['shift']}")


@case
def an_end_that_is_not_checked_is_told():
    """That nothing similar is left is not looked at where much is left, or where sets may be too small to be kept."""
    draw = random.Random(5)
    npy("x.npy", [[draw.gauss(0, 100)] for _ in range(4300)])
    npy("few.npy", [[draw.gauss(0, 1)] for _ in range(40)])
    for data, options, told in (("x.npy", (), True), ("few.npy", ("--min-size", 2), True), ("few.npy", (), False)):
        cleave("dominant", data, "-k", 1, "--affinity", "gaussian", "--gamma", 1, "--shift", 0, *options, "--json", "r.json", "-q")
        cleave("verify", "r.json", data, out=r"^accepted((?!anything similar)[^\0])*$")
        result = json.loads(read("r.json"))
        result["options"]["k"] = "all"
        write("all.json", json.dumps(result))
        out = "^accepted.*\nnot checked: .*, whether any similar objects remain" if told else "^rejected: .*are similar and in no cluster"
        cleave("verify", "all.json", data, code=0 if told else 1, out=out)
