"""cleave symnmf: memberships, the calibrated gamma, warnings, starts from files, verification, new objects."""
import json
import math
import os
import random

from harness import blobs, blobs_npy, case, check, cleave, csv, npy, read, read_npy_labels, read_rows, same_partition, two_blocks, without, write


FAR = ((0, 0), (9, 0), (0, 9))


def mean_similarity(points, gamma):
    return sum(math.exp(-gamma * math.dist(a, b) ** 2) for a in points for b in points) / len(points) ** 2


@case
def memberships_labels_and_what_follows():
    points, truth = blobs_npy(centers=FAR)
    result = cleave("symnmf", "x.npy", "-k", 3, "--membership", "w.csv", "-o", "l.npy", "--json", "-").json()
    w, labels = read_rows("w.csv"), read_npy_labels("l.npy")
    n = len(points)
    check(same_partition(labels, truth), "three clouds")
    check(all(abs(sum(row) - 1) < 1e-9 and min(row) >= 0 for row in w), "rows on the simplex")
    check(labels == result["labels"] == [row.index(max(row)) for row in w], "labels are the largest memberships")
    soft = result
    for c in range(3):
        check(abs(soft["expected_sizes"][c] - sum(row[c] for row in w)) < 1e-9, "expected sizes")
    for row, entropy in zip(w, soft["entropy"]):
        check(abs(entropy + sum(v * math.log(v) for v in row if v > 0)) < 1e-9, "entropies")
    gamma = result["affinity"]["gamma"]
    p = [[math.exp(-gamma * math.dist(a, b) ** 2) for b in points] for a in points]
    rest = [[p[i][j] - sum(w[i][c] * w[j][c] for c in range(3)) for j in range(n)] for i in range(n)]
    value = sum(v * v for row in rest for v in row) / 4
    check(abs(result["objective"]["value"] / value - 1) < 1e-9, "the objective is that of the memberships")
    total = sum(v * v for row in p for v in row)
    check(abs(soft["residual"] - 2 * math.sqrt(value / total)) < 1e-9, "the residual")
    check(result["certificate"]["holds"] and result["certificate"]["value"] <= 1e-4 * value, "the certificate")


@case
def gamma_auto_makes_the_mean_suit_k():
    points, _ = blobs_npy()
    for k in (2, 3, 10):
        gamma = cleave("symnmf", "x.npy", "-k", k, "--json", "-").json()["affinity"]["gamma"]
        check(abs(mean_similarity(points, gamma) * k / 0.8 - 1) < 1e-9, f"mean at k = {k}")
        again = cleave("symnmf", "x.npy", "-k", k, "--gamma", "auto", "--json", "-").json()["affinity"]["gamma"]
        check(gamma == again, "auto is the default")
    given = cleave("symnmf", "x.npy", "-k", 3, "--gamma", 0.7, "--json", "-", err="").json()
    check(given["affinity"]["gamma"] == 0.7, "a gamma that is given stays")


@case
def the_stop_and_the_penalties_of_the_paper():
    blobs_npy()
    same = ["symnmf", "x.npy", "-k", 3, "--start", "random", "--max-iter", 500]
    cleave(*same, "--solver", "fw", "--change", 1e-2, "--json", "r.json", "-q")
    early, late = json.loads(read("r.json")), cleave(*same, "--solver", "fw", "--json", "-").json()
    check(early["stop"] == "stalled" and early["iterations"] < late["iterations"], "it ends where f hardly changes")
    check(early["objective"]["value"] > late["objective"]["value"] and not early["certificate"]["holds"], "and too early")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    values = {cleave(*same, "--solver", "penalty", option, 10, "--json", "-").json()["objective"]["value"] for option in
              ("--sum-weight", "--sign-weight", "--tol")}
    check(len(values) == 3, "both weights matter")


@case
def degenerate_affinities_are_warned_of():
    blobs_npy()
    for gamma, words in (1e6, r"mean similarity is 0\.0\d+.*identity.*; try --gamma auto or a smaller --gamma"), (1e-6, "too equal.*; try --gamma auto or a larger --gamma"):
        told = cleave("symnmf", "x.npy", "-k", 3, "--gamma", gamma, err=f"^warning: .*{words}$")
        check(told.err.count("warning: ") == 1, f"one diagnosis: {told.err}")
    cleave("symnmf", "x.npy", "-k", 3, "--gamma", 1e6, "-q")
    cleave("symnmf", "x.npy", "-k", 3)
    told = cleave("symnmf", "x.npy", "-k", 3, "--affinity", "distance", err=r"^warning: the mean similarity is [0-9.e+]+, but .* is 1 at most.*try --affinity gaussian, or ncut")
    check(told.err.count("warning: ") == 1, f"one diagnosis: {told.err}")
    # Objects that are all as far from each other: no gamma helps, and none is suggested but the one that was not taken.
    draw = random.Random(1)
    npy("x.npy", [[draw.choice((0, 1)) for _ in range(300)] for _ in range(300)])
    for given, words in ([], "too equal to tell clusters apart; try ncut, or other columns"), (["--affinity", "local"], "too equal to tell clusters apart; try ncut, or other columns"):
        cleave("symnmf", "x.npy", "-k", 3, *given, err=f"^warning: the similarities vary by [^\n]*{words}\n$")
    npy("x.npy", [[draw.gauss(0, 1) for _ in range(30)] for _ in range(300)])
    for given, words in ([], "--affinity local, or ncut"), (["--affinity", "local"], "ncut, or other columns"), (["-k", 2], "--affinity local, or ncut"):
        cleave("symnmf", "x.npy", *(given if "-k" in given else ["-k", 3, *given]), err=f"^warning: memberships are nearly uniform[^\n]*; try {words}\n$")


@case
def every_solver_is_verified():
    blobs_npy()
    for solver in ("rows", "fw", "pairwise", "pgd", "spg", "penalty"):
        for extra in ([], ["--scale", "standard", "--start", "random", "--tol", 1e-6]):
            cleave("symnmf", "x.npy", "-k", 3, "--solver", solver, "--max-iter", 40, "--json", "r.json", "-q", *extra)
            cleave("verify", "r.json", "x.npy", out="^accepted")
    cleave("symnmf", "x.npy", "-k", 3, "--solver", "fw", "--step", "curvature", "--max-iter", 40, "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def tampering_is_rejected():
    blobs_npy()
    cleave("symnmf", "x.npy", "-k", 3, "--json", "r.json", "-q")
    honest = json.loads(read("r.json"))

    def rejected(change, pattern):
        claim = json.loads(json.dumps(honest))
        change(claim)
        write("bad.json", json.dumps(claim))
        cleave("verify", "bad.json", "x.npy", code=1, out="^rejected: .*" + pattern)

    def shift(claim):
        claim["membership"]["value"][0] *= 0.9

    def swap(claim):
        claim["labels"] = claim["labels"][::-1]

    def lower(claim):
        for place, name in ((claim["objective"], "value"), (claim["restarts"][0], "objective")):
            place[name] *= 0.99

    rejected(lower, "symnmf")
    rejected(lambda c: c["certificate"].update(value=0), "frank-wolfe-gap")
    rejected(shift, "object 1 add up to")
    rejected(swap, "largest membership")
    rejected(lambda c: c["affinity"].update(gamma=0.5), "gamma")
    rejected(lambda c: c.pop("membership"), "lacks its membership")
    for name, pattern in (("residual", "residual"), ("mean_similarity", "mean_similarity"), ("variation", "variation")):
        rejected(lambda c: c.update({name: 1.001 * c[name] + 1e-6}), pattern)
    for name, pattern in (("entropy", "entry 1 of entropy"), ("expected_sizes", "entry 1 of expected_sizes")):
        rejected(lambda c: c[name].__setitem__(0, c[name][0] + 1e-6), pattern)
        rejected(lambda c: c[name].pop(), "claimed with")


@case
def a_start_out_of_time_says_so():
    blobs_npy()
    run = cleave("symnmf", "x.npy", "-k", 3, "--time-limit", 1e-9, "--json", "r.json", err="the start is kmeans[+][+]")
    assert json.loads(read("r.json"))["start_taken"] == "kmeans++", run
    cleave("symnmf", "x.npy", "-k", 3, "--json", "r.json")
    assert json.loads(read("r.json"))["start_taken"] == "spectral"


@case
def starts_from_files():
    _, truth = blobs_npy(centers=FAR)
    n = len(truth)
    hard = [[0.9 if c == t else 0.05 for c in range(3)] for t in truth]
    npy("w.npy", hard)
    csv("w.csv", hard)
    npy("f.npy", hard, "<f4")
    for start in ("y.npy", "w.npy", "w.csv", "f.npy"):
        result = cleave("symnmf", "x.npy", "-k", 3, "--start", start, "--restarts", 5, "--json", "-").json()
        check(same_partition(result["labels"], truth) and len(result["restarts"]) == 1, f"from {start}")
    cleave("symnmf", "x.npy", "-k", 4, "--start", "w.npy", code=65, err=f"w.npy: .*{n} x 3; memberships are {n} x 4")
    npy("short.npy", hard[1:])
    cleave("symnmf", "x.npy", "-k", 3, "--start", "short.npy", code=65, err=f"short.npy: .*{n - 1} x 3; memberships are {n} x 3")
    npy("uniform.npy", [[1 / 3] * 3] * n)
    cleave("symnmf", "x.npy", "-k", 3, "--start", "uniform.npy", code=65, err="all 1/3")
    npy("off.npy", [[0.5, 0.5, 0.5]] * n)
    cleave("symnmf", "x.npy", "-k", 3, "--start", "off.npy", code=65, err="object 1 add up to 1.5")
    npy("high.npy", [7] * n, "<i4")
    cleave("symnmf", "x.npy", "-k", 3, "--start", "high.npy", code=65, err="high.npy: .*label 7 of object 1 is not a whole number from -1 to 2")
    cleave("symnmf", "x.npy", "-k", 3, "--start", "nowhere.npy", code=66)
    cleave("symnmf", "x.npy", "-k", 3, "--start", "spectra", code=64, err="it must be spectral")


@case
def threads_change_nothing_but_the_seconds():
    blobs_npy(per=400)
    for solver in ("rows", "fw", "pairwise", "pgd", "spg", "penalty"):
        runs = []
        for threads in (1, 2):
            run = cleave("symnmf", "x.npy", "-k", 3, "--solver", solver, "--max-iter", 5, "--restarts", 2, "--json", "-",
                         "--threads", threads).json()
            runs.append(without(run, "seconds"))
        check(runs[0] == runs[1], f"{solver} on 1 and on 2 threads")


@case
def new_objects():
    points, truth = blobs_npy(centers=FAR)
    new, expected = blobs(per=10, centers=FAR, seed=5)
    npy("new.npy", new)
    cleave("symnmf", "x.npy", "-k", 3, "--membership", "w.csv", "-o", "l.npy", "--predict", "new.npy", "--predict-output",
           "p.npy", "--predict-membership", "pw.csv", "--json", "r.json", "-q")
    w, labels, found = read_rows("pw.csv"), read_npy_labels("l.npy"), read_npy_labels("p.npy")
    names = {t: label for t, label in zip(truth, labels)}
    check(found == [row.index(max(row)) for row in w], "labels are the largest memberships")
    check(found == [names[t] for t in expected], "new objects go to their clouds")
    old, gamma = read_rows("w.csv"), json.loads(read("r.json"))["affinity"]["gamma"]
    for x, row in zip(new, w):
        s = [math.exp(-gamma * math.dist(x, y) ** 2) for y in points]
        slope = [sum((sum(row[b] * v[b] for b in range(3)) - t) * v[c] for v, t in zip(old, s)) for c in range(3)]
        gap = sum(g * v for g, v in zip(slope, row)) - min(slope)
        check(abs(sum(row) - 1) < 1e-9 and gap < 1e-7, f"optimal: {row}, gap {gap}")


@case
def given_similarities():
    npy("s.npy", two_blocks(8))
    npy("new.npy", [[0.9] * 4 + [0.1] * 4, [0.1] * 4 + [0.8] * 4])
    result = cleave("symnmf", "s.npy", "--affinity", "precomputed", "-k", 2, "--predict", "new.npy", "--predict-output", "p.npy",
                    "--json", "-").json()
    check(same_partition(result["labels"], [0] * 4 + [1] * 4), "two blocks")
    check(read_npy_labels("p.npy") == [result["labels"][0], result["labels"][4]], "new objects")
    check("gamma" not in result["affinity"], "nothing is calibrated")


@case
def refusals():
    blobs_npy()
    cleave("symnmf", "x.npy", code=64, err="needs -k N")
    cleave("symnmf", "x.npy", "-k", 0, code=64)
    cleave("symnmf", "x.npy", "-k", 100, code=65, err="k = 100 exceeds the 60 rows of x.npy")
    cleave("symnmf", "x.npy", "-k", 3, "--solver", "newton", code=64)
    cleave("symnmf", "x.npy", "-k", 3, "--moves", -1, code=64)
    cleave("symnmf", "x.npy", "-k", 3, "--membership", "w.png", code=73)
    cleave("symnmf", "x.npy", "-k", 3, "--membership", "no/such/folder/w.npy", code=73)
    npy("nan.npy", [[1.0, float("nan")], [0.0, 1.0]])
    cleave("symnmf", "nan.npy", "-k", 2, code=65, err="row 1 column 2")
    check(not os.path.exists("w.npy"), "nothing is written")


@case
def small_and_degenerate_data():
    npy("one.npy", [[1.0, 2.0]])
    cleave("symnmf", "one.npy", "-k", 1, out="converged")
    for start in ("ones.npy", "zeros.npy"):
        npy(start, [[float(start == "ones.npy")]])
        cleave("symnmf", "one.npy", "-k", 1, "--start", start, out="converged")
    npy("same.npy", [[1.0, 2.0]] * 7)
    for k in (1, 2, 7):
        result = cleave("symnmf", "same.npy", "-k", k, "--json", "-", "-q").json()
        check(result["objective"]["value"] < 1e-6, "all in one cluster")
    cleave("symnmf", "same.npy", "-k", 3, "--time-limit", 1e-9, "-q")


@case
def a_start_that_was_not_asked_for():
    blobs_npy()
    for asked, possible in (("spectral", {"spectral"}), ("random", {"random"}), ("kmeans++", {"kmeans++"})):
        cleave("symnmf", "x.npy", "-k", 3, "--start", asked, "--json", "r.json", "-q")
        for taken in ("spectral", "random", "kmeans++", "magic"):
            write("f.json", json.dumps({**json.loads(read("r.json")), "start_taken": taken}))
            right = taken in possible
            cleave("verify", "f.json", "x.npy", code=0 if right else 1, out="^accepted" if right else "^rejected: .*, but the start")
    cleave("symnmf", "x.npy", "-k", 3, "--json", "r.json", "-q")
    warned = {"start_taken": "kmeans++", "warnings": ["the eigenvectors for the start spectral were not found: the start is kmeans++"]}
    write("f.json", json.dumps({**json.loads(read("r.json")), **warned}))
    cleave("verify", "f.json", "x.npy", out="^accepted")
    cleave("symnmf", "x.npy", "-k", 3, "-o", "l.csv", "-q")
    cleave("symnmf", "x.npy", "-k", 3, "--start", "l.csv", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def a_table_of_large_objectives_is_accepted():
    npy("a.npy", [[1e62 * (1 if i // 3 == j // 3 else 0.1) for j in range(9)] for i in range(9)])
    cleave("symnmf", "a.npy", "--affinity", "precomputed", "-k", "2:4", "--json", "r.json", "-q")
    check(json.loads(read("r.json"))["k_table"][0]["objective"] > 1e100, "large ones")
    cleave("verify", "r.json", "a.npy", out="^accepted")
