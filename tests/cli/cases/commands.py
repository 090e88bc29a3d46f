"""affinity, eval, verify, demo; and the published figure on real data."""
import html
import json
import math
import os
import random
import re
import shlex
import signal
import subprocess
import urllib.parse

import harness
from harness import (blobs, blobs_npy, case, check, cleave, csv, npy, read, read_npy_matrix, same_partition,
                     shared, two_blocks, write)
from cases.output import check_page


@case
def affinity_entries_by_definition():
    points, _ = blobs_npy(per=4)
    n = len(points)

    def distance(i, j):
        return math.dist(points[i], points[j])

    top = max(distance(i, j) for i in range(n) for j in range(n))
    kinds = {"gaussian": lambda i, j: math.exp(-0.3 * distance(i, j) ** 2),
             "exponential": lambda i, j: math.exp(-0.3 * distance(i, j)),
             "distance": lambda i, j: top - distance(i, j)}
    for kind, entry in kinds.items():
        cleave("affinity", "x.npy", "-o", "a.npy", "--affinity", kind, "--gamma", 0.3, out=kind)
        matrix = read_npy_matrix("a.npy", n)
        worst = max(abs(matrix[i][j] - entry(i, j)) for i in range(n) for j in range(n))
        check(worst < 1e-12, f"{kind}: off by {worst}")
    cleave("affinity", "x.npy", "-o", "a.npy", "--zero-diagonal", "-q")
    check(all(read_npy_matrix("a.npy", n)[i][i] == 0 for i in range(n)), "zero diagonal")


@case
def affinity_kept_and_used_again():
    blobs_npy()
    direct = cleave("ncut", "x.npy", "-k", 3, "--affinity", "knn", "--neighbors", 8, "--json", "-").json()
    cleave("affinity", "x.npy", "-o", "a.mtx", "--affinity", "knn", "--neighbors", 8, "-q")
    again = cleave("ncut", "a.mtx", "-k", 3, "--affinity", "precomputed", "--json", "-").json()
    check(again["labels"] == direct["labels"] and again["affinity"]["home"] == direct["affinity"]["home"] == "sparse",
          "the graph in a file is the graph")
    check(direct["affinity"]["nonzeros"] < 60 * 60, "sparse")
    info = cleave("affinity", "x.npy", "-o", "b.npy", "--json", "-").json()
    check(info["n"] == 60 and info["affinity"]["kind"] == "gaussian" and info["affinity"]["gamma"] > 0, f"{info}")


@case
def affinity_by_rows():
    """An affinity that lies nowhere is made as it is written: the same file, in a fraction of its size."""
    npy("x.npy", [[math.sin(i), math.cos(3 * i)] for i in range(1500)])
    for kind, home in (("gaussian", "computed"), ("distance", "computed"), ("minimax", "computed"), ("cosine", "low-rank")):
        same = ("affinity", "x.npy", "--affinity", kind, "-q")
        cleave(*same, "-o", "whole.npy", "--home", "dense-f64")
        for budget in ("1M", "100M"):
            cleave(*same, "-o", "rows.npy", "--home", home, "--memory", budget, "--threads", 2)
            check(read("rows.npy") == read("whole.npy"), f"{kind} within {budget}")
            os.remove("rows.npy")
        cleave(*same, "-o", "rows.npy", "--home", "dense-f64", "--memory", "1M", code=71)
    cleave(*same, "-o", "rows.npy", "--home", "low-rank", "--memory", "55K", code=71)
    check(not os.path.exists("rows.npy"), "nothing was written")


@case
def affinity_refusals():
    blobs_npy()
    cleave("affinity", "x.npy", code=64, err="needs -o FILE")
    cleave("affinity", "x.npy", "-o", "a.png", code=73, err="a.png")
    cleave("affinity", "x.npy", "-o", "a.npy", "--affinity", "knn", code=73, err="mtx")
    cleave("affinity", "x.npy", "-o", "x.npy", code=64, err="overwrite")
    cleave("affinity", "x.npy", "-o", "a.npy", "--memory", "1K", code=71)
    check(not os.path.exists("a.npy"), "nothing was written")


@case
def eval_by_hand():
    npy("t.npy", [0, 0, 1, 1], "<i4")
    npy("l.npy", [5, 5, 5, 2], "<i4")
    cleave("eval", "t.npy", "l.npy", out=r"accuracy +0\.75")
    result = cleave("eval", "t.npy", "l.npy", "--json", "-").json()
    # One of the six pairs is together in both, 2 in the truth, 3 in the labels: (1 - 1) / (2.5 - 1) = 0.
    check(abs(result["metrics"]["ari"]) < 1e-12 and result["metrics"]["purity"] == 0.75, f"{result}")
    check(result["classes"] == 2 and result["clusters"] == 2 and result["compared"] == 4, f"{result}")
    npy("o.npy", [0, 1, 1, -1], "<i4")
    result = cleave("eval", "t.npy", "o.npy", "--json", "e.json")
    check(json.loads(read("e.json"))["metrics"]["assignment_rate"] == 0.75, "one is left out")
    npy("short.npy", [0, 1], "<i4")
    cleave("eval", "t.npy", "short.npy", code=65, err="short.npy has 2 labels.* 4 objects")


@case
def eval_on_data():
    _, labels = blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "-o", "l.npy", "--json", "r.json", "--silhouette", "-q")
    result = cleave("eval", "y.npy", "l.npy", "--data", "x.npy", "--json", "-").json()
    claimed = json.loads(read("r.json"))
    check(abs(result["metrics"]["ncut"] - claimed["objective"]["value"]) < 1e-12, "the ncut of the result")
    check(abs(result["metrics"]["silhouette"] - claimed["metrics"]["silhouette"]) < 1e-12, "its silhouette")
    npy("a.npy", two_blocks())
    npy("six.npy", [0, 0, 0, 1, 1, 1], "<i4")
    result = cleave("eval", "six.npy", "six.npy", "--data", "a.npy", "--affinity", "precomputed", "--json", "-").json()
    check(abs(result["metrics"]["ncut"] - 0.9 / 9.9) < 1e-12 and "silhouette" not in result["metrics"], f"{result}")
    cleave("eval", "y.npy", "l.npy", "--data", "a.npy", code=65, err="a.npy has 6 rows.* 60 labels")


def changed(path, change):
    result = json.loads(read(path))
    change(result)
    return write("changed.json", json.dumps(result))


@case
def verify_accepts_and_rejects():
    points, _ = blobs_npy()
    for extra in ([], ["--affinity", "exponential", "--scale", "standard"], ["--affinity", "knn"],
                  ["--home", "computed"], ["--zero-diagonal"], ["--affinity", "cosine", "--scale", "minmax"]):
        cleave("ncut", "x.npy", "-k", 3, "--json", "r.json", "-q", *extra)
        cleave("verify", "r.json", "x.npy", out="^accepted: .")

    def move(result):
        result["labels"][0] = (result["labels"][0] + 1) % 3

    def move_and_count(result):
        old = result["labels"][0]
        move(result)
        result["sizes"][old] -= 1
        result["sizes"][result["labels"][0]] += 1

    def better(result):
        result["objective"]["value"] *= 0.999

    def certificate(result):
        result["certificate"]["value"] -= 1e-3

    def better_everywhere(result):
        better(result)
        for restart in result["restarts"]:
            restart["objective"] = max(restart["objective"], result["objective"]["value"])
        result["restarts"][0]["objective"] = result["objective"]["value"]

    def forged(result):  # of floats, it seems, and less exact for it
        result["affinity"]["home"] = "dense-f32"
        result["objective"]["value"] -= 5e-7
        result["restarts"][0]["objective"] = result["objective"]["value"]

    cleave("ncut", "x.npy", "-k", 3, "--json", "r.json", "-q")
    for change in (move, move_and_count, better, better_everywhere, forged, certificate):
        cleave("verify", changed("r.json", change), "x.npy", code=1, out="^rejected: .", err="^$")
    points[0][0] += 1
    npy("other.npy", points)
    cleave("verify", "r.json", "other.npy", code=1, out="^rejected")
    cleave("verify", "r.json", "x.npy", "x.npy", code=64, err="to verify a result of ncut, give one file of data")
    npy("short.npy", points[1:])
    cleave("verify", "r.json", "short.npy", code=1, out="^rejected")
    check(cleave("verify", "-q", changed("r.json", better), "x.npy", code=1, err="^$").out == "", "-q says nothing")


@case
def the_recall_of_neighbors_is_claimed():
    blobs_npy(per=300)
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "knn", "--search", "approximate", "--json", "r.json", "-q")
    recall = json.loads(read("r.json"))["affinity"]["recall"]
    check(0.9 < recall <= 1, f"recall {recall}")
    cleave("verify", "r.json", "x.npy", out="^accepted")

    def forget(result):
        del result["affinity"]["recall"]

    def exaggerate(result):
        result["affinity"]["recall"] += 1e-3

    for change in (forget, exaggerate):
        cleave("verify", changed("r.json", change), "x.npy", code=1, out="^rejected: affinity.recall")
    exact = cleave("ncut", "x.npy", "-k", 3, "--affinity", "knn", "--json", "-").json()
    check("recall" not in exact["affinity"], "an exact search has no recall")


@case
def affinity_tells_the_recall_of_neighbors():
    """The same number as a result of a method on these neighbors, and nothing after an exact search."""
    draw = random.Random(1)
    npy("x.npy", [[draw.gauss(0, 1) for _ in range(16)] for _ in range(2000)])
    for kind, file in (("knn", "a.mtx"), ("local", "a.npy")):
        how = ("x.npy", "--affinity", kind, "--search")
        of_a_result = cleave("ncut", *how, "approximate", "-k", 3, "--json", "-").json()["affinity"]["recall"]
        info = cleave("affinity", *how, "approximate", "-o", file, "--json", "-").json()
        check(info["affinity"].get("recall") == of_a_result < 1, f"{kind}: {info} and a recall of {of_a_result}")
        cleave("affinity", *how, "approximate", "-o", file, out=rf"\nneighbors  approximate with recall {of_a_result:.4f}\n")
        cleave("affinity", *how, "exact", "-o", file, "--json", "e.json", "-q")
        check("recall" not in json.loads(read("e.json"))["affinity"], "an exact search has no recall")
        check("neighbors" not in cleave("affinity", *how, "exact", "-o", file).out, "nor is one in the table")


@case
def the_error_of_landmarks_is_claimed():
    blobs_npy(per=200)
    for method in ("ncut", "symnmf"):
        run = cleave(method, "x.npy", "-k", 3, "--landmarks", 25, "--json", "r.json", "--report", "r.html")
        affinity = json.loads(read("r.json"))["affinity"]
        check(affinity["landmarks"] == 25 and affinity["home"] == "low-rank", str(affinity))
        check(0 < affinity["sampled_error"] < 0.2 and 0 < affinity["trace_error"] < 0.2, str(affinity))
        check(re.search("affinity +gaussian by 25 landmarks: error .* of the entries .sampled., .* of the trace", run.out),
              run.out)
        check(b"sampled error" in read("r.html"), "the page says it too")
        cleave("verify", "r.json", "x.npy", out="^accepted")

        def forget(result):
            del result["affinity"]["sampled_error"]

        def understate(result):
            result["affinity"]["sampled_error"] *= 0.99

        def explain(result):
            result["affinity"]["trace_error"] = 0

        def fewer(result):
            result["affinity"]["landmarks"] -= 1

        def exact(result):
            result["options"]["landmarks"] = None

        for change in (forget, understate, explain, fewer, exact):
            cleave("verify", changed("r.json", change), "x.npy", code=1, out="^rejected: .")
    cleave("predict", "r.json", "x.npy", "--data", "x.npy", "-o", "l.csv", "-q")


@case
def landmarks_where_there_can_be_none():
    blobs_npy(per=20)
    cleave("ncut", "x.npy", "-k", 3, "--landmarks", 61, code=64, err="landmarks = 61 exceeds the 60 objects")
    cleave("ncut", "x.npy", "-k", 3, "--landmarks", 9, "--affinity", "knn", code=64, err="gaussian and exponential")
    cleave("ncut", "x.npy", "-k", 3, "--landmarks", 9, "--home", "computed", code=64, err="home = computed")
    cleave("dominant", "x.npy", "-k", 3, "--landmarks", 9, code=64, err="dominant takes none")
    cleave("ncut", "x.npy", "-k", 3, "--landmarks", 50, "--memory", "25K", code=71, err="take fewer landmarks")
    made = cleave("affinity", "x.npy", "--landmarks", 9, "-o", "a.npy", "--json", "-").json()["affinity"]
    check(made["landmarks"] == 9 and made["sampled_error"] > 0, str(made))


@case
def another_affinity_is_suggested_where_passes_take_long():
    npy("long.npy", [[float(i % 1000)] for i in range(2000000)])
    late = cleave("ncut", "long.npy", "-k", 2, "--affinity", "gaussian", "--time-limit", 0.1, err="^warning: about .* would pass over all pairs of 2000000 objects "
                  "before the first iteration of ncut, and the time limit is 0.1 s: .* try --affinity knn .* or --landmarks 500").out
    check("2000000 in 2 clusters" in late, late)
    cleave("ncut", "long.npy", "-k", 2, "--time-limit", 0.1, "-q", err="^((?!warning).)*$")
    process = subprocess.Popen([harness.CLEAVE, "ncut", "long.npy", "-k", "2", "--affinity", "gaussian", "--json", "r.json"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    said = process.stderr.readline().decode()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=100)
    check(re.match("warning: a pass over the similarities of 2000000 objects takes about .* here, and ncut makes several: try "
                   "--affinity knn .* or --landmarks 500", said), said)
    check(process.returncode == 130 and any(w in said for w in json.loads(read("r.json"))["warnings"]), f"exit {process.returncode}")


@case
def verify_takes_no_table_of_several_k_that_no_run_has():
    blobs_npy()
    for method in ("ncut", "kpalm", "symnmf"):
        cleave(method, "x.npy", "-k", "2:4", "--json", "r.json", "-q")
        honest = json.loads(read("r.json"))
        cleave("verify", "r.json", "x.npy", out="^accepted")
        for value, said in ((7, "no row of"), ([], "no row of"), ("x", "no row of"), ([7], "row 1 of k_table"), ([{"k": 3}], "row 1 of k_table")):
            write("f.json", json.dumps({**honest, "k_table": value}))
            cleave("verify", "f.json", "x.npy", code=1, out=f"^rejected: .*{said}")
        at = next(i for i, row in enumerate(honest["k_table"]) if row["k"] == honest["k"])
        for name in honest["k_table"][at]:
            for value in (1e154, -1e154, "x", [], True):
                forged = json.loads(json.dumps(honest))
                forged["k_table"][at][name] = value
                write("f.json", json.dumps(forged))
                cleave("verify", "f.json", "x.npy", code=1, out=f"^rejected: .*{name}")
        forged = json.loads(json.dumps(honest))
        forged["k_table"][at]["objective"] *= 1.001
        write("f.json", json.dumps(forged))
        cleave("verify", "f.json", "x.npy", code=1, out="^rejected: k_table has another objective")
        forged = {name: value for name, value in honest.items() if name != "k_reason"}
        write("f.json", json.dumps(forged))
        cleave("verify", "f.json", "x.npy", code=1, out="^rejected: k_table is claimed without k_reason")


@case
def a_bound_that_labels_refute_is_none():
    """Nearly all similarity is that of objects to themselves: more eigenvalues crowd at 1 than a solver tells apart."""
    for seed in range(6):
        draw = random.Random(seed)
        for n, small in ((60, 1e-11), (200, 1e-10), (400, 1e-9)):
            rows = [[0.0] * n for _ in range(n)]
            for i in range(n):
                for j in range(i + 1):
                    rows[i][j] = rows[j][i] = 1 + draw.random() if i == j else small * draw.random() ** 8
            npy("a.npy", rows)
            cleave("ncut", "a.npy", "-k", 3, "--affinity", "precomputed", "--seed", seed + 1, "--json", "r.json", "-q")
            result = json.loads(read("r.json"))
            bound, cut = result["bound"]["value"], result["objective"]["value"]
            check(0 <= bound <= cut * (1 + 1e-9) + 3e-12, f"bound {bound}, cut {cut}")
            cleave("verify", "r.json", "a.npy", out="^accepted")


@case
def verify_within_a_budget():
    blobs_npy()
    for home in ("dense-f32", "computed", "auto"):
        cleave("ncut", "x.npy", "-k", 3, "--json", "r.json", "-q", "--home", home)
        cleave("verify", "r.json", "x.npy", "--memory", "1M", "--threads", 1, out="^accepted: .* as claimed")
        cleave("verify", "r.json", "x.npy", "--memory", "1K", code=71, err="1024")
    cleave("verify", "r.json", "x.npy", "--memory", "much", code=64, err="memory")


@case
def verify_reads_in_place():
    """Points stay in their file: a budget below its size will do, unless they are to be scaled."""
    npy("x.npy", [[math.sin(i * j) for j in range(1, 9)] for i in range(20000)])
    size = os.path.getsize("x.npy")
    cleave("kpalm", "x.npy", "-k", 3, "--solver", "lloyd", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", "--memory", size - 1, "--threads", 1, out="^accepted")
    cleave("kpalm", "x.npy", "-k", 3, "--solver", "lloyd", "--scale", "standard", "--json", "s.json", "-q")
    cleave("verify", "s.json", "x.npy", "--memory", size - 1, "--threads", 1, code=71, err="a copy of the data")
    cleave("verify", "s.json", "x.npy", "--threads", 1, out="^accepted")


@case
def verify_reads_a_given_affinity_in_place():
    """So does a matrix of similarities; the file exceeds the budget by more than the megabyte that a reader may have besides."""
    npy("a.npy", two_blocks(600))
    size = os.path.getsize("a.npy")
    for method, extra in (("ncut", ["-k", 2]), ("symnmf", ["-k", 2]), ("dominant", [])):
        cleave(method, "a.npy", *extra, "--affinity", "precomputed", "--json", "r.json", "-q")
        cleave("verify", "r.json", "a.npy", "--memory", size // 2, "--threads", 1, out="^accepted")


@case
def verify_sees_contradictions():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--restarts", 2, "--json", "r.json", "-q")
    changes = {"option k": ("options", "k", 4), "option affinity": ("options", "affinity", "cosine"),
               "different numbers": ("options", "gamma", 77), "option solver": ("options", "solver", "finc"),
               "claimed to be 'cut'": ("objective", "name", "cut"), "sense": ("objective", "sense", "maximum"),
               "'proof'": ("certificate", "name", "proof"), "no run stops": (None, "stop", "tired"),
               "-3 iterations": (None, "iterations", -3), "it must be auto, dense": ("affinity", "home", "cloud"),
               "cannot hold": ("affinity", "home", "sparse"), "components is claimed to be 9": (None, "components", 9),
               "a shift of -1 cannot come": (None, "shift", -1), "drift claimed lies outside 0..0.01": (None, "drift", -1),
               "more than rounding explains": (None, "drift", 1), "affinity.bytes is claimed": ("affinity", "home", "computed"),
               "0 restarts are claimed": (None, "restarts", []), "name the kind": (None, "affinity", {}),
               "'oracle'": ("bound", "name", "oracle"), "gap_percent is claimed": ("bound", "gap_percent", 0.125),
               "the objective and the bound claimed give": ("bound", "value", -1),
               "but the data give": (None, "eigenvalues", [1, 1, 1]),
               "eigenvalue 1 is 2": (None, "eigenvalues", [2, 1]), "eigenvalue 3 is 0.75": (None, "eigenvalues", [1, 0.5, 0.75]),
               "better objective": ("restarts", 1, None)}

    for reason, (outer, name, value) in changes.items():
        def change(result):
            if outer == "restarts":
                result["restarts"][name]["objective"] -= 0.01
            else:
                (result[outer] if outer else result)[name] = value

        cleave("verify", changed("r.json", change), "x.npy", code=1, out=f"^rejected: .*{reason}", err="^$")
    cleave("verify", changed("r.json", lambda result: result.update(method="magic")), "x.npy", code=65, err="magic")


@case
def verify_refuses_terms_that_no_run_finds():
    points, _ = blobs()
    csv("x.csv", points)
    cleave("ncut", "x.csv", "-k", 3, "--affinity", "gaussian", "--json", "r.json", "-q")
    sea, road, low = {"term": "sea", "score": 3.5}, {"term": "road", "score": 3}, {"term": "road", "score": -1}
    for reason, terms in (("for 1 clusters, but there are 3", [[{"term": "x", "score": 1}]]),
                          ("for 0 clusters", "sea"), ("for 0 clusters", {}), ("for 4 clusters", [[], [], [], []]),
                          ("terms claimed for cluster 1", [[sea], [road, sea], []]), ("terms claimed for cluster 2", [[sea], [], {}]),
                          ("terms claimed for cluster 0", [[low], [], []]), ("terms claimed for cluster 0", ["sea", [], []]),
                          ("terms claimed for cluster 1", [[], [{"term": "sea"}], []]), ("terms claimed for cluster 1", [[], [{**sea, "rank": 1}], []])):
        cleave("verify", changed("r.json", lambda result: result.update(terms=terms)), "x.csv", code=1, out=f"^rejected: .*{reason}")
    cleave("verify", changed("r.json", lambda result: result.update(terms=[[sea, road], [], [road]])), "x.csv", out="^accepted.*\nnot checked: .*, terms")
    cleave("consensus", "r.json", "r.json", "-k", 3, "--json", "c.json", "-q", err="")
    cleave("verify", changed("c.json", lambda result: result.update(terms=[[sea], [], []])), "r.json", "r.json", code=1,
           out="rejected: the field terms is claimed, but consensus gives no such field")


@case
def an_affinity_is_chosen_and_the_choice_can_be_verified():
    points, labels = blobs_npy()
    npy("y.npy", labels, "<i4")
    run = cleave("ncut", "x.npy", "-k", 3, "--json", "r.json", "--report", "r.html", "-v", "--truth", "y.npy",
                 out="affinity +local-knn, chosen on 60 objects: .* agree", err="affinity: local-knn, chosen on 60 objects")
    result = json.loads(read("r.json"))
    check(result["options"]["affinity"] == result["affinity"]["kind"] == "local-knn", "what was chosen is what was asked for")
    check_page("r.html")
    check("Why this affinity: " in read("r.html").decode() and result["affinity"]["reason"] in run.out, "the reason")
    check(all(0.8 < result["affinity"][f"agreement_{kind}"] <= 1 for kind in ("gaussian", "local", "local_knn")), "figures")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    named = cleave("ncut", "x.npy", "-k", 3, "--affinity", "local-knn", "--json", "-").json()
    check(named["labels"] == result["labels"] and "chosen_on" not in named["affinity"], "nothing else is different")
    for name, value in (("agreement_gaussian", 1.0), ("agreement_local", 7), ("chosen_on", 61), ("reason", "it is mine"), ("kind", "knn")):
        forged = changed("r.json", lambda r: r["affinity"].update({name: value}))
        cleave("verify", forged, "x.npy", code=1, out="^rejected")
    for given in (["--gamma", 0.5], ["--landmarks", 20], ["--home", "computed"], ["--neighbors", 30]):
        why = "too small for so many neighbors" if given[0] == "--neighbors" else "a gamma, landmarks or home that is given"
        said = cleave("ncut", "x.npy", "-k", 3, *given, "--json", "r.json", "-v", out=why, err=why)
        plain = json.loads(read("r.json"))["affinity"]
        check(plain["kind"] == "gaussian" and "chosen_on" not in plain and plain["reason"] in said.out, f"{given}: {plain}")
        cleave("verify", "r.json", "x.npy", out="^accepted")
        for name, value in (("reason", "it is mine"), ("chosen_on", 60)):
            cleave("verify", changed("r.json", lambda r: r["affinity"].update({name: value})), "x.npy", code=1, out="^rejected")
    for method in ("symnmf", "dominant"):
        check(cleave(method, "x.npy", "-k", 3, "--json", "-", err="").json()["affinity"]["kind"] == "gaussian", "the others have their own")


@case
def local_scales_of_copies_have_no_unit():
    """Where every object has more copies than --neighbors, too; and new objects agree."""
    places = [(0, 0), (1, 0), (0, 1), (9, 9), (10, 9), (9, 10)]
    found = []
    for unit in (1e-5, 1, 1e4):
        npy("x.npy", [[unit * x for x in places[i % 6]] for i in range(120)])
        cleave("ncut", "x.npy", "-k", 2, "--affinity", "local", "-q", "--json", "r.json", "--predict", "x.npy", "--predict-output", "p.txt")
        found.append(json.loads(read("r.json")))
        check([int(line) for line in read("p.txt").split()] == found[-1]["labels"], f"{unit}: new objects")
        check(same_partition(found[-1]["labels"], [i % 6 // 3 for i in range(120)]), f"{unit}: two groups of places")
    cuts = [result["objective"]["value"] for result in found]
    check(max(cuts) - min(cuts) <= 1e-9 and not any("similarities are" in w for result in found for w in result.get("warnings", [])), f"{cuts}")


@case
def many_clusters_are_chosen_for_on_fewer_objects():
    """Three candidates on all objects, or on most, would cost more than the run that they are for."""
    draw = random.Random(2)
    npy("x.npy", [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(1200)])
    for k, sample in ((3, 500), (10, 500), (20, 400), (30, 400)):
        chosen = cleave("ncut", "x.npy", "-k", k, "--patience", 0, "--json", "-", err="").json()["affinity"]["chosen_on"]
        check(chosen == sample, f"k = {k}: {chosen} objects")
    for columns, sample in ((64, 300), (65, 150)):  # distances in many columns cost as much
        npy("w.npy", [[draw.gauss(0, 1) for _ in range(columns)] for _ in range(300)])
        chosen = cleave("ncut", "w.npy", "-k", 3, "--patience", 0, "--json", "-", err="").json()["affinity"]["chosen_on"]
        check(chosen == sample, f"{columns} columns: {chosen} objects")
    cleave("ncut", "x.npy", "-k", 3, "--memory", "3M", "--json", "r.json", "-q")
    found = json.loads(read("r.json"))["affinity"]
    check("chosen_on" not in found and "do not fit the memory" in found["reason"], "nothing was compared")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def warnings_say_what_to_try():
    """One for each kind of data that gives a right answer of no use, and none for blobs."""
    draw = random.Random(3)
    blobs = [[draw.gauss(9 * (i % 3), 1), draw.gauss(9 * (i % 2), 1), draw.gauss(0, 1)] for i in range(120)]
    cases = {"1 of 3 columns has .* --scale standard": [[1e4 * x, y, z] for x, y, z in blobs],
             "2 of 5 columns have 100.0 % of the variance.* --scale standard": [[x, y, z, 1e5 * draw.gauss(0, 1), 1e5 * draw.gauss(0, 1)] for x, y, z in blobs],
             "3 of 5 columns have 100.0 % of the variance.* --scale standard": [[x, y, 1e5 * z, 3e4 * draw.gauss(0, 1), 1e4 * draw.gauss(0, 1)] for x, y, z in blobs],
             "2 of 3 columns are constant.* --drop": [[x, 1, 1] for x, _, _ in blobs],
             "80 of 120 objects are copies": [blobs[i % 40] for i in range(120)],
             "the data are 120 x 120 and symmetric.* --affinity precomputed": [[math.dist(a, b) for b in blobs] for a in blobs],
             "one cluster has 118 of the 120 objects.* try --scale standard, or --affinity local-knn": [[0.01 * z, 0, y] for _, y, z in blobs[:118]]
             + [[1e3, 0, 0], [0, 1e3, 0]]}
    smooth = [[1.3 ** -f * draw.gauss(9 * (i % 3), 1) for f in range(40)] for i in range(120)]
    for points in (blobs, smooth):
        npy("x.npy", points)
        for method in ("ncut", "symnmf", "kpalm"):
            check("warning" not in cleave(method, "x.npy", "-k", 3, "-o", "l.npy", err="^$").out, f"{method}: none in the table")
    for words, points in cases.items():
        npy("x.npy", points)
        few = ["--affinity", "gaussian", "--gamma", 1e-3] if "118" in words else []
        told = cleave("ncut", "x.npy", "-k", 3, *few, "--json", "r.json", "--report", "r.html", err=f"warning: {words}")
        check(any(re.match(words, said) for said in json.loads(read("r.json"))["warnings"]), words)
        check(re.search(f"(?m)^warning +{words}", told.out), f"{words} in the table: {told.out}")
        check(re.search(f"<li>{words}", read("r.html").decode()), words)
        cleave("verify", "r.json", "x.npy", out="^accepted")
    npy("x.npy", blobs[:119] + [[60, 60, 60]])
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--gamma", 0.05,
           err="1 of the 3 clusters has at most 1 of the 120 objects, lone outliers perhaps.*: leave them out, or try --affinity local-knn\n$")
    npy("x.npy", blobs)
    cleave("ncut", "x.npy", "-k", 3, "--gamma", 1e-6, err="almost all similarities are 1 .*10 %, 50 % and 90 %.* --gamma auto")
    cleave("ncut", "x.npy", "-k", 3, "--gamma", 1e6, err=r"^warning: at gamma 1e\+06 almost all similarities are 0 [^\n]*: try --gamma auto, or --affinity local\n$")
    cleave("ncut", "x.npy", "-k", 3, "--gamma", 1e3, "--affinity", "local", err=r"^warning: at gamma 1e\+03 almost all similarities are 0 [^\n]*: try --gamma auto\n$")
    apart = [[draw.gauss(40 * (i % 5), 1), draw.gauss(40 * (i // 5 % 4), 1)] for i in range(600)]
    npy("x.npy", apart)  # most pairs are in different clusters, and not similar
    for given in (["--affinity", "local"], ["--affinity", "local", "--scale", "standard"], ["--affinity", "gaussian", "--gamma", 1]):
        for method in ("ncut", "dominant"):
            cleave(method, "x.npy", "-k", 20, *given, "--restarts", 10 if method == "ncut" else 1, err="^$")
    npy("x.npy", blobs)
    for graph in ("knn", "local-knn"):
        cleave("ncut", "x.npy", "-k", 3, "--gamma", 1e6, "--affinity", graph, "--neighbors", 5,
               err=r"nothing joins the 1\d\d parts of the graph, and there are 3 clusters.* a smaller --gamma")
    cleave("ncut", "x.npy", "-k", 2, "--affinity", "knn", "--neighbors", 5,
           err=r"nothing joins the 6 parts of the graph, and there are 2 clusters.*as many clusters as parts, or more --neighbors")
    cleave("dominant", "x.npy", "-k", 3, "--shift", 0, err="objects are in no cluster: .*--shift.*--assign")
    cleave("dominant", "x.npy", "-k", 3, "--shift", 1000, err="^warning: one cluster has 120 of the 120 objects: try a smaller --shift, or --shift auto\n$")
    for given in (["-k", 1, "--shift", 1000], ["-k", 3]):
        cleave("dominant", "x.npy", *given, err="^$")
    npy("x.npy", [[i] for i in range(500)])
    line = ("ncut", "x.npy", "-k", 12, "--affinity", "knn", "--neighbors", 2)
    cleave(*line, err=r"^warning: the bound of 0\.00\d+ says nothing about how much lower than 0\.0\d+ the objective could be: try more --restarts")
    cleave(*line, "--restarts", 10, err="^$")  # which agree
    twice = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(4096)]
    for points in ([twice[i // 2] for i in range(8192)], twice + twice):
        npy("x.npy", points)
        cleave("kpalm", "x.npy", "-k", 3, "-q", "--json", "r.json")
        check(any("4096 of 8192 objects are copies" in said for said in json.loads(read("r.json"))["warnings"]), "all rows are looked at")


@case
def warnings_suggest_what_can_be_done():
    """Nothing that is done already, that the method has no use for, or that leads back."""
    def warned(*args):
        cleave(*args, "-q", "--json", "r.json")
        return json.loads(read("r.json"))["warnings"]

    npy("x.npy", [[1, 2]] * 60)
    for method in ("ncut", "kpalm", "symnmf"):
        said = warned(method, "x.npy", "-k", 3)
        check(len(said) == 1 and said[0].startswith("all 60 objects are equal"), f"{method}: {said}")
    npy("x.npy", [[1, 2], [3, 4]] * 40)
    for method in ("ncut", "kpalm", "symnmf"):
        said = warned(method, "x.npy", "-k", 3)
        check(said == ["78 of 80 objects are copies of others, and the 2 different ones cannot be 3 clusters: try -k 2"], f"{method}: {said}")
    draw = random.Random(5)
    far = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(118)] + [[1e3, 0], [0, 1e3]]
    npy("x.npy", far)
    for affinity in ("gaussian", "local-knn"):
        said = " ".join(warned("ncut", "x.npy", "-k", 3, "--affinity", affinity, *(["--gamma", 1] if affinity == "gaussian" else [])))
        check("one cluster has" in said and "looking at the few" in said and "--affinity gaussian" not in said, f"{affinity}: {said}")
    said = warned("symnmf", "x.npy", "-k", 3, "--gamma", 1e-5)
    check(len(said) == 1 and said[0].endswith("; try --gamma auto or a larger --gamma"), f"the cause, not what follows from it: {said}")
    npy("x.npy", far[:101] + [[1e3, 0], [0, 1e3], [-1e3, 0]])
    said = " ".join(warned("symnmf", "x.npy", "-k", 4, "--gamma", 1e-2))
    check("one cluster has" in said and "knn" not in said, f"symnmf: {said}")
    npy("x.npy", [[draw.gauss(0, 1)] for _ in range(100)])
    for given, words in ([], "--gamma auto, or --affinity local"), (["--affinity", "local"], "--gamma auto"):
        said = warned("ncut", "x.npy", "-k", 2, *given, "--gamma", 1e-9)
        check(any(w.endswith(f"): try {words}") for w in said), f"{given}: {said}")
    npy("x.npy", [[0, 0]] * 118 + [[1, 0], [0, 1]])
    for affinity in ("gaussian", "local"):
        said = warned("ncut", "x.npy", "-k", 2, "--affinity", affinity)
        check(any("similarities are 1" in w and w.endswith(": try one object of each group of equal or nearly equal ones") for w in said), f"{affinity}: {said}")


@case
def warnings_of_outliers_do_not_lead_in_a_circle():
    """From whatever is suggested nothing leads back to it, and what was given is not suggested."""
    draw = random.Random(7)
    blobs = [[draw.gauss(9 * (i % 3), 1), draw.gauss(9 * (i % 3 // 2), 1)] for i in range(300)]

    def warned(points, method, k, *args):
        npy("x.npy", points)
        cleave(method, "x.npy", "-k", k, "-q", "--json", "r.json", *args)
        return json.loads(read("r.json")).get("warnings", [])

    # A lone object that nothing is joined to, as one of three clusters or of four.
    lone = "1 of the 301 objects is joined to no other, an outlier perhaps, and its cluster is arbitrary: leave it out"
    found = warned(blobs + [[1e6, 1e6]], "ncut", 3, "--affinity", "local-knn")
    check(found == [lone], f"{found}")
    found = warned(blobs + [[1e6, 1e6]], "ncut", 4, "--affinity", "local-knn")
    check(len(found) == 1 and found[0].endswith("take the place of a cluster: leave them out"), f"{found}")
    found = warned(blobs + [[1e6, 1e6], [-1e6, 1e6]], "ncut", 3, "--affinity", "local-knn", "--neighbors", 10)
    check(len(found) == 1 and found[0].startswith("2 of the 302 objects are in 2 small parts of the graph") and
          found[0].endswith("arbitrary: leave them out"), f"{found}")
    check(warned(blobs, "ncut", 3, "--affinity", "local-knn") == [], "without them, none")
    # Most clusters are lone objects, though joined to the rest: more neighbors join them better.
    found = warned(blobs + [[60, 60], [-60, 60], [60, -60], [-60, -60]], "ncut", 6, "--affinity", "knn", "--gamma", 0.01)
    check(len(found) == 1 and found[0].endswith("leave them out, or try more --neighbors"), f"{found}")
    # Centers go to outliers; a column that is larger is worth a try, but not twice.
    few = [[1000, 1000], [-900, 800], [500, -2000]]
    for given, ways in (([], "--norm euclidean, or ncut"), (["--scale", "standard"], "--norm euclidean, or ncut"), (["--norm", "euclidean"], "ncut")):
        found = warned(blobs + few, "kpalm", 3, *given)
        check(len(found) == 1 and re.search(f"(or )?try {ways}(, or looking at the few for what they are: outliers)?$", found[0]), f"{given}: {found}")
    apart = [[x, 5 * y, draw.gauss(0, 1)] for x, y in blobs] + [[1000, 5000, 1000], [-900, 4000, 900], [500, -9000, -900]]
    found = warned(apart, "kpalm", 3)
    check("try --scale standard, or --norm" in found[-1], f"columns that differ: {found}")
    check("--scale" not in " ".join(warned(apart, "kpalm", 3, "--scale", "standard")), "that were scaled")
    # Two clusters, one of nearly all objects; no "0 of the 2 clusters", nor fewer clusters than two.
    found = warned([[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(192)] + [[draw.gauss(50, 1), 50] for _ in range(8)], "kpalm", 2)
    check(found == ["one cluster has 192 of the 200 objects: try --norm euclidean, or ncut, or looking at the few for what they are: outliers"], f"{found}")
    # Clusters that are empty are no outliers.
    npy("c.npy", [[0, 0], [9, 0], [1e6, 1e6], [9, 9]])
    found = warned(blobs, "kpalm", 4, "--solver", "lloyd", "--empty", "keep", "--start", "c.npy")
    check(found == ["1 of the 4 clusters is empty: try -k 3, or more --restarts"], f"{found}")


@case
def runs_that_were_ended_are_warned_of():
    """Scales are as bad, and objects as left out, as in a run that was not."""
    draw = random.Random(4)
    blobs = [[1e4 * draw.gauss(9 * (i % 3), 1), draw.gauss(9 * (i % 2), 1)] for i in range(300)]
    npy("x.npy", blobs)
    run = cleave("ncut", "x.npy", "-k", 3, "--patience", "none", "--restarts", 10 ** 6, "--time-limit", 1, "--json", "r.json",
                 "--report", "r.html", err="warning: 1 of 2 columns has")
    check(json.loads(read("r.json"))["stop"] == "time limit", str(run))
    page = read("r.html").decode()
    check("<li>1 of 2 columns has" in page and "Nothing was noticed" not in page, "on the page")


@case
def verify_reads_the_data_as_the_run_did():
    points, labels = blobs()
    csv("p.csv", points, labels, "x,y,group")
    cleave("ncut", "p.csv", "-k", 3, "--label-column", "group", "--json", "r.json", "-q")
    cleave("verify", "r.json", "p.csv", out="^accepted")
    cleave("verify", "r.json", "p.csv", "--label-column", "none", code=1, out="^rejected")


@case
def verify_refuses_what_is_no_result():
    blobs_npy()
    write("bad.json", "{\"cleave\": ")
    cleave("verify", "bad.json", "x.npy", code=65, err=r"bad\.json")
    write("empty.json", "{}")
    cleave("verify", "empty.json", "x.npy", code=65, err=r"empty\.json")


@case
def demo():
    shown = cleave("demo", out="iris").out
    check("very method" not in shown + cleave("help", "demo").out, "it has no run of pursuit and consensus")
    names = [line.split()[0] for line in cleave("demo", "--list").out.splitlines()]
    rows = {line.split()[0]: line.split() for line in shown[:shown.index("A certificate")].splitlines()[1:] if line}
    table = shown[:shown.index("An answer can be checked")].splitlines()
    check(all(len(line) <= 80 for line in table), f"no line wraps: {[line for line in table if len(line) > 80]}")
    check(len(shown.splitlines()) < 24 and shown.splitlines()[-1].strip() == "cleave-demo.html", f"it ends with the page: {shown}")
    check(list(rows) == names and len(names) == 10, f"{rows}")
    used = {row[1] for row in rows.values()}
    check(used == {"ncut", "dominant", "symnmf", "kpalm", "ksupport", "segment"}, f"all but pursuit and consensus, as docs/cli.md says: {used}")
    check(all("holds" in row for row in rows.values()), f"{rows}")
    check(rows["iris"][2:4] == ["150", "3"], f"{rows['iris']}")
    for name in ("rings", "moons"):
        check(rows[name][-2] == "1.000", f"the right similarities tell them apart: {rows[name]}")
    check(float(rows["outliers"][-2]) > 0.95, f"k-median does not follow the errors: {rows['outliers']}")
    check("accepted: " in shown and "rejected: " in shown, "an honest result and one that was tampered with")
    check("cleave-demo.html" in shown, shown)
    page = read("cleave-demo.html").decode()
    for link in re.findall('href="([^"]*)"', page):
        check(os.path.getsize(link), link)
    check(len(re.findall("href=", page)) == len(names), page)
    for name in names:
        if name != "picture":
            check_page(f"cleave-demo/{name}.html")
    for name in names:
        seconds = float(re.search(r"total</dt><dd>([0-9.]+) s", read(f"cleave-demo/{name}.html").decode()).group(1))
        check(seconds <= float(rows[name][-1]) + 0.01, f"{name}: its own time, not that of all: {seconds}, {rows[name]}")
    sections = dict(re.findall(r'<section><h2><a href="[^"]*">(.*?)</a>(.*?)</section>', page, re.S))
    check(all("<b>holds</b>" in text and "</b> s</ul>" in text for text in sections.values()), "certificate and time")
    check("bound <b>reached</b>" in sections["rings"] and "% below" in sections["iris"], "the bound")
    check("accepted: " in page and "rejected: the size" in page and "verify" in page, "an answer that was tampered with")
    # The commands that it shows work as they stand.
    commands = [shlex.split(html.unescape(re.sub("<[^>]*>", "", text)))[1:] for part in sections.values() for text in re.findall("<pre>(.*?)</pre>", part, re.S)]
    check(len(commands) == len(names) + 1, f"{commands}")
    for args in commands:
        cleave(*args)


@case
def demo_of_one():
    text = cleave("demo", "moons", out=r"ncut cleave-demo/moons\.csv").out
    check("Proved" in text, text)
    check(sorted(os.listdir(".")) == ["cleave-demo"] and sorted(os.listdir("cleave-demo")) == ["moons.csv", "moons.html"], "only its files")
    cleave("demo", "moonz", code=64, err="did you mean moons.*--list")


@case
def demo_in_a_folder_with_odd_names():
    os.mkdir("a b<c")
    shown = cleave("demo", "--report", "a b<c/it's & more.html").out
    page = read("a b<c/it's & more.html").decode()
    check("b<c" not in page and "& more" not in page, "escaped")
    link = re.findall('href="([^"]*)"', page)[0]
    check(os.path.getsize(os.path.join("a b<c", urllib.parse.unquote(link))), link)
    check("it's & more.html" in shown, shown)
    line = html.unescape(re.sub("<[^>]*>", "", next(line for line in page.splitlines() if "<pre>" in line and "moons" in line)))
    check(subprocess.run(line.strip(), shell=True, capture_output=True).returncode == 0, f"as a shell takes it: {line}")


@case
def demo_elsewhere():
    os.mkdir("there")
    cleave("demo", "--report", "there/d.html", out="there/d.html")
    check(sorted(os.listdir("there")) == ["d", "d.html"], os.listdir("there"))
    check(os.path.exists("there/d/iris.csv") and os.path.exists("there/d/picture.png"), os.listdir("there/d"))
    check(os.listdir(".") == ["there"], "nothing elsewhere")


@case
def bundled_iris_is_the_iris_data():
    cleave("demo")
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    check(read("cleave-demo/iris.csv") == read(os.path.join(here, "data", "iris.csv")), "the bytes of data/iris.csv")


@case
def thyroid_at_the_published_value():
    points = shared("thyroid.X.npy")
    result = cleave("ncut", points, "-k", 3, "--scale", "unit-columns", "--affinity", "exponential", "--gamma", 1,
                    "--restarts", 10, "--seed", 1, "--json", "-")
    write("r.json", result.out)
    value = result.json()["objective"]["value"]
    check(value <= 0.983115 + 5e-7, f"ncut {value}")
    cleave("verify", "r.json", points, out="^accepted")


@case
def eval_of_predicted_classes():
    write("t.csv", "species\ncat\ndog\ncat\nbird\n")
    write("p.csv", "row,label\n1,cat\n2,cat\n3,cat\n4,fish\n")
    result = cleave("eval", "t.csv", "p.csv", "--classes", "--json", "-").json()
    check(result["accuracy"] == 0.5 and [c["name"] for c in result["classes"]] == ["bird", "cat", "dog", "fish"], str(result))
    check(result["confusion"] == [[0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], str(result["confusion"]))
    cat, fish = result["classes"][1], result["classes"][3]
    check(abs(cat["precision"] - 2 / 3) < 1e-12 and cat["recall"] == 1 and cat["support"] == 2, str(cat))
    check(fish["precision"] == 0 and fish["recall"] is None and fish["support"] == 0, str(fish))
    cleave("eval", "t.csv", "p.csv", "--classes", out=r"(?m)^accuracy +0\.5.*\n(.*\n)*bird +- +0\.0")
    npy("a.npy", [3, 10, 3, -1], "<i4")
    npy("b.npy", [3, 3, 3, -1], "<i4")
    result = cleave("eval", "a.npy", "b.npy", "--classes", "--json", "-").json()
    check(result["accuracy"] == 0.75 and [c["name"] for c in result["classes"]] == ["-1", "3", "10"], str(result))
    cleave("eval", "a.npy", "p.csv", "--classes", "--data", "x.npy", code=64, err="--data cannot be used with --classes")


@case
def metrics_say_what_they_cover():
    points, labels = blobs()
    csv("p.csv", points + [[40.0, 40.0], [-40.0, 40.0]], labels + [0, 1], "a,b,y")
    run = cleave("dominant", "p.csv", "-k", 3, "--shift", 0, "--min-size", 5)
    left = 62 - sum(int(size) for size in re.search(r"(?m)^sizes +(.*)$", run.out).group(1).split())
    check(left > 0 and f"metrics          of the {62 - left} objects that have a label" in run.out, run.out)


@case
def options_that_no_run_has_are_rejected():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    write("r.json", read("r.json").decode().replace('"options": {', '"options": {"exactness": 1, '))
    cleave("verify", "r.json", "x.npy", code=1, out="^rejected: an option \"exactness\" is claimed, which ncut does not have")


@case
def labels_are_matched_by_id():
    points, labels = blobs()
    rows = [f"u{i},{x:.4f},{y:.4f}\n" for i, (x, y) in enumerate(points)]
    write("x.csv", "id,a,b\n" + "".join(rows))
    named = [f"u{i},{('ant', 'bee', 'cow')[c]}\n" for i, c in enumerate(labels)]
    turned = named[::-1]
    write("y.csv", "id,kind\n" + "".join(named))
    write("turned.csv", "id,kind\n" + "".join(turned))
    for extra, said in (([], "of which 60 are compared, matched by id"), (["--classes"], "60  matched by id")):
        cleave("eval", "y.csv", "turned.csv", *extra, out=said)
        found = cleave("eval", "turned.csv", "y.csv", *extra, "--json", "-").json()
        check(found["matched"] == "id" and (found if extra else found["metrics"])["accuracy"] == 1, str(found))
    of_data = cleave("eval", "y.csv", "y.csv", "--data", "x.csv", "--json", "-").json()["metrics"]
    check(cleave("eval", "turned.csv", "y.csv", "--data", "x.csv", "--json", "-").json()["metrics"] == of_data, "the order of the points")
    best = cleave("kpalm", "x.csv", "-k", 3, "--truth", "y.csv", "--report", "r.html", out=r"truth +y.csv, matched by id\n").out
    check(b"truth: y.csv, matched by id" in read("r.html"), "the page")
    same = cleave("kpalm", "x.csv", "-k", 3, "--truth", "turned.csv").out
    check([line for line in best.split("\n") if line.startswith("ari")] == [line for line in same.split("\n") if line.startswith("ari")],
          "the same truth")
    write("bare.csv", "".join(line.split(",")[1] for line in named))
    cleave("eval", "y.csv", "bare.csv", out="60 are compared, row by row")
    cleave("kpalm", "x.csv", "-k", 3, "--truth", "bare.csv", out="truth +bare.csv, row by row\n")
    npy("x.npy", points)
    cleave("kpalm", "x.npy", "-k", 3, "-o", "l.csv", "-q")  # beside the numbers of the rows
    lines = read("l.csv").decode().split()
    write("l2.csv", "\n".join(lines[:1] + lines[:0:-1]) + "\n")
    check(cleave("eval", "l.csv", "l2.csv", "--json", "-").json()["metrics"]["ari"] == 1, "by their numbers")
    cleave("kpalm", "x.npy", "-k", 3, "--truth", "l2.csv", out=r"truth +l2.csv, matched by id\n(.*\n)*ari +1\n")
    write("other.csv", "id,kind\n" + "".join(named[:-2]) + "v1,ant\nv2,ant\n")
    lacks = r"other.csv lacks 2 of the 60 rows of {}, 'u58' first: rows are matched by their ids; to compare them in their order, "
    cleave("eval", "y.csv", "other.csv", code=65, err=lacks.format("y.csv"))
    cleave("eval", "y.csv", "other.csv", "--classes", code=65, err=lacks.format("y.csv"))
    cleave("kpalm", "x.csv", "-k", 3, "--truth", "other.csv", code=65, err=lacks.format("x.csv"))
    write("twice.csv", "id,kind\n" + "".join(named[:-1]) + named[0])
    for pair in (("y.csv", "twice.csv"), ("twice.csv", "y.csv")):
        cleave("eval", *pair, code=65, err="twice.csv has two rows 'u0', and rows are matched by their ids")


@case
def weights_and_starts_are_matched_by_id():
    points, labels = blobs()
    write("x.csv", "id,a,b\n" + "".join(f"u{i},{x:.4f},{y:.4f}\n" for i, (x, y) in enumerate(points)))
    for name, order in (("w", range(60)), ("v", range(59, -1, -1))):
        write(f"{name}.csv", "id,w\n" + "".join(f"u{i},{1 + i % 7}\n" for i in order))
        write(f"{name}l.csv", "id,kind\n" + "".join(f"u{i},{('ant', 'bee', 'cow')[i * i % 7 % 3]}\n" for i in order))
        cleave("kpalm", "x.csv", "-k", 3, "--sample-weights", f"{name}.csv", "--json", f"{name}.json", "-qv", err=f"{name}.csv: matched by id\n")
        cleave("ncut", "x.csv", "-k", 3, "--start", f"{name}l.csv", "--max-iter", 0, "-o", f"{name}o.csv", "-qv", err=f"{name}l.csv: matched by id\n")
    first, second = (json.loads(read(f"{name}.json")) for name in "wv")
    check(first["objective"] == second["objective"] and first["centers"] == second["centers"], "weights")
    for name in "wv":
        cleave("verify", "w.json", "x.csv", f"{name}.csv", out="^accepted")
    check(read("wo.csv") == read("vo.csv"), "starts")


@case
def row_numbers_are_no_ids():
    """Of data without ids, labels stand beside numbers of rows: these are not the ids of another file."""
    points, labels = blobs()
    npy("x.npy", points)
    cleave("kpalm", "x.npy", "-k", 3, "-o", "l.csv", "-q")
    write("y.csv", "id,kind\n" + "".join(f"{1 + 7 * i % 60},{('ant', 'bee', 'cow')[c]}\n" for i, c in enumerate(labels)))
    for extra in ([], ["--data", "x.npy"]):
        found = cleave("eval", "y.csv", "l.csv", *extra, "--json", "-").json()
        check(found["matched"] == "row" and found["metrics"]["ari"] > 0.9, str(found))
    check(cleave("eval", "l.csv", "y.csv", "--json", "-").json()["matched"] == "row", "the other way")
    cleave("kpalm", "x.npy", "-k", 3, "--truth", "y.csv", out="truth +y.csv, row by row\n")
    head, *rows = read("l.csv").decode().splitlines()
    write("turned.csv", "\n".join([head] + rows[::-1]) + "\n")
    for pair in (("y.csv", "turned.csv"), ("turned.csv", "y.csv")):
        turned = cleave("eval", *pair, "--json", "-").json()
        check(turned["matched"] == "id" and turned["metrics"]["ari"] == found["metrics"]["ari"], "the numbers are places")


@case
def verify_says_what_it_has_not_checked():
    points, labels = blobs()
    csv("x.csv", points, labels, header="a,b,label")
    npy("x.npy", points)
    npy("y.npy", labels, "<i4")
    cleave("ncut", "x.csv", "-k", 3, "--affinity", "gaussian", "--silhouette", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.csv", out=r"\nnot checked: times, iterations, seed and options of the search, drift, silhouette\n")
    cleave("verify", "r.json", "x.csv", "--bound", "no", out="not checked: .*eigenvalues and bound")
    cleave("verify", "r.json", "x.csv", "-q", out="^$")
    text = read("r.json").decode()
    for forged in (text.replace('"seed": 1,', '"seed": 7,'), text.replace('"max-iter": ', '"max-iter": 9')):
        check(forged != text, "nothing was forged")
        write("other.json", forged)  # the answer is judged alike whatever found it
        cleave("verify", "other.json", "x.csv", out="^accepted.*\nnot checked: .*seed and options of the search")
    write("other.json", text.replace('\n "stop": "converged"', '\n "stop": "cancelled"'))
    check(read("other.json").decode() != text, "nothing was forged")
    cleave("verify", "other.json", "x.csv", out="^accepted.*\nnot checked: times, iterations, stop, ")  # it claims less
    write("better.json", text.replace('"ari": ', '"ari": -'))
    cleave("verify", "better.json", "x.csv", code=1, out="rejected: ari is claimed")
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--truth", "y.npy", "--json", "s.json", "-q")
    cleave("verify", "s.json", "x.npy", out="not checked: .*metrics")
    cleave("kpalm", "x.npy", "-k", "2:4", "--json", "t.json", "-q")
    cleave("verify", "t.json", "x.npy", out="not checked: .*, k_table, k_reason")
    said = json.loads(read("t.json"))
    said["k_reason"] = said["k_reason"].replace("k = ", "k = 1")
    write("other.json", json.dumps(said))
    cleave("verify", "other.json", "x.npy", code=1, out="rejected: k_reason is not about k = ")
    cleave("verify", "s.json", "x.npy", "--truth", "y.npy", out="not checked: times, iterations, seed and options of the search, drift\n")
    npy("z.npy", [0] + labels[1:][::-1], "<i4")
    cleave("verify", "s.json", "x.npy", "--truth", "z.npy", code=1, out="rejected: ari is claimed")
    # Larger eigenvalues prove less, smaller ones more; either are false.
    for factor in (0.9, 1.02):
        forged = json.loads(text)
        forged["eigenvalues"][1] *= factor
        write("forged.json", json.dumps(forged))
        cleave("verify", "forged.json", "x.csv", code=1, out="rejected: .*eigenvalue 2")


@case
def the_labels_that_cleave_wrote():
    points, labels = blobs()
    csv("p.csv", points, [("ant", "bee", "cow")[c] for c in labels], "a,b,species")
    cleave("kpalm", "p.csv", "-k", 3, "-o", "o.csv", "--output-data", "-q")
    npy("half.npy", [i % 3 for i in range(60)], "<i4")
    rows = read("o.csv").decode().splitlines()
    mixed = [rows[0]] + [f"{row.rsplit(',', 1)[0]},{i % 3}" for i, row in enumerate(rows[1:])]
    write("o.csv", "\n".join(mixed) + "\n")  # labels that are far from the truth
    expected = cleave("eval", "p.csv", "half.npy", "--json", "-").json()["metrics"]["ari"]
    check(abs(expected) < 0.1, f"{expected}")
    for truth in ("p.csv", "o.csv"):
        found = cleave("eval", truth, "o.csv", "--json", "-").json()
        check(found["metrics"]["ari"] == expected and (found["truth_column"], found["labels_column"]) == ("species", "label"), f"{found}")
    cleave("eval", "p.csv", "o.csv", out=r"classes +3  species of p.csv\nclusters +3  label of o.csv\n")
    cleave("eval", "p.csv", "o.csv", "--labels-column", "species", out=r"clusters +3  species of o.csv\nari +1.000000")
    cleave("eval", "o.csv", "o.csv", "--label-column", "label", out=r"classes +3  label of o.csv\n.*\nari +1.000000")
    for extra in ([], ["--classes"]):
        cleave("eval", "p.csv", "o.csv", "--label-column", "nonsense", *extra, code=64,
               err="p.csv has no column 'nonsense': its columns are a, b, species, or by their numbers 1 to 3")
    cleave("eval", "p.csv", "o.csv", "--labels-column", "species", "--classes", out=r"truth +species of p.csv\npredicted +species of o.csv\naccuracy +1.0")
    csv("x.csv", points, None, "a,b")
    cleave("eval", "p.csv", "o.csv", "--data", "x.csv", "--label-column", "species", out="silhouette")
    cleave("eval", "p.csv", "half.npy", "--labels-column", "x", code=64, err="--labels-column is for .csv, .tsv and .txt files, and half.npy is none")
    cleave("eval", "p.csv", "o.csv", "--label-column", "none", code=64, err="--label-column none: eval needs the labels of p.csv")
    both = cleave("consensus", "o.csv", "half.npy", "-k", 3, "--truth", "o.csv", "--json", "-").json()
    check([part["ari"] for part in both["inputs"]] == [1, 1], "consensus takes them too")
    check(both["metrics"]["ari"] == expected, "and the truth beside them")
    for start in ("o.csv", "half.npy"):
        cleave("ncut", "p.csv", "-k", 3, "--start", start, "--max-iter", 1, "-o", start + ".csv", "-q")
    check(read("o.csv.csv") == read("half.npy.csv"), "the same start")
    write("c.csv", "label,cluster\n" + "".join(f"{c},{i % 3}\n" for i, c in enumerate(labels)))
    cleave("eval", "c.csv", "c.csv", out=r"classes +3  label of c.csv\nclusters +3  cluster of c.csv\n")


@case
def numbers_that_no_run_can_have():
    """Cuts are sums of shares, of which there are k; and a run names the solver that auto stands for."""
    blobs_npy()

    def refused(name, change, words):
        result = json.loads(read(name))
        change(result)
        write("false.json", json.dumps(result))
        cleave("verify", "false.json", "x.npy", *extra, code=1, out=f"^rejected: {words}")

    extra = ()
    cleave("ncut", "x.npy", "-k", "2:4", "--affinity", "gaussian", "--json", "k.json", "-q")
    cleave("verify", "k.json", "x.npy", out="^accepted")
    for column, number in (("objective", 1e300), ("objective", 4.1), ("gap_percent", 2**53), ("gap_percent", 100.1)):
        refused("k.json", lambda result: result["k_table"][0].update({column: number}), f"row 1 of k_table is none that a run can have: {column}")
    cleave("ncut", "x.npy", "-k", 3, "--restarts", 3, "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    restarts = json.loads(read("r.json"))["restarts"]
    other = max(range(3), key=lambda r: restarts[r]["objective"])
    for number in (2**53, 3.1):
        refused("r.json", lambda result: result["restarts"][other].update(objective=number), f"the objective claimed of restart {other + 1} is none")
    cleave("symnmf", "x.npy", "-k", 3, "--json", "s.json", "-q")
    cleave("verify", "s.json", "x.npy", out="^accepted")
    refused("s.json", lambda result: result.update(solver="auto"), "the claimed solver is 'auto'")
    cleave("ksupport", "x.npy", "y.npy", "-k", 2, "--json", "p.json", "-q")
    extra = ("y.npy",)
    cleave("verify", "p.json", "x.npy", "y.npy", out="^accepted")
    refused("p.json", lambda result: result.update(solver="auto"), "the claimed solver is 'auto'")
