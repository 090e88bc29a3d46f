"""kpalm: options, starts, outputs, memberships, sample weights, new points, mapped files, limits."""
import json
import os
import random
import signal
import struct
import subprocess
import time

import harness
from harness import blobs_npy, case, check, cleave, npy, read, read_npy_labels, without, write


def points(n=300, groups=3, seed=1, columns=2):
    draw = random.Random(seed)
    return [[6 * ((i % groups) == f % groups) + draw.gauss(0, 1) for f in range(columns)] for i in range(n)]


def matrix(path):
    data = read(path)
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + size])
    rows, cols = header["shape"]
    flat = struct.unpack(f"<{rows * cols}d", data[10 + size:])
    return [list(flat[i * cols:(i + 1) * cols]) for i in range(rows)]


def square(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


@case
def what_one_instruction_set_rounds_another_accepts():
    """More clusters than different points: all that is left of the numbers is rounding."""
    for seed in range(6):
        draw = random.Random(seed)
        different = [[draw.gauss(0, 1) for _ in range(33)] for _ in range(4)]
        npy("x.npy", [different[draw.randrange(4)] for _ in range(17)])
        cleave("kpalm", "x.npy", "-k", 17, "--start", "x.npy", "--max-iter", 3, "--no-polish", "--empty", "keep", "--json", "r.json", "-q",
               env=dict(os.environ, CLEAVE_ISA="baseline"), err="")
        cleave("verify", "r.json", "x.npy")


@case
def solvers_and_norms():
    npy("x.npy", points())
    for extra in ([], ["--solver", "lloyd"], ["--solver", "weiszfeld"], ["--norm", "euclidean"],
                  ["--alpha-schedule", "constant"], ["--alpha-schedule", "harmonic"], ["--alpha-unit", "diameter"],
                  ["--initial-membership", "nearest"], ["--initial-weights", "dirichlet"], ["--start", "random"],
                  ["--start", "kmeans++"], ["--start", "d1++"], ["--start", "kmeans-parallel"], ["--no-polish"], ["--empty", "reseed"],
                  ["--scale", "standard"], ["--object-alpha", "distance"], ["--gamma-w", "2"], ["--gamma-x", "1.5"]):
        result = cleave("kpalm", "x.npy", "-k", 3, "--json", "r.json", "-q", *extra)
        result = json.loads(read("r.json"))
        check(result["stop"] == "converged" and result["certificate"]["holds"], f"{extra}: {result['certificate']}")
        check("affinity" not in result and sum(result["sizes"]) == 300, f"{extra}")
        cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def outputs_belong_together():
    data = points()
    npy("x.npy", data)
    cleave("kpalm", "x.npy", "-k", 3, "-o", "y.npy", "--centers", "c.npy", "--membership", "w.npy", "--json", "r.json",
           "--trace", "t.csv", "--report", "r.html", "-q")
    labels, centers, weights, result = read_npy_labels("y.npy"), matrix("c.npy"), matrix("w.npy"), json.loads(read("r.json"))
    value = sum(min(square(row, c) for c in centers) for row in data)
    check(abs(value - result["objective"]["value"]) < 1e-9 * value, f"{value} {result['objective']}")
    for row, label, weight in zip(data, labels, weights):
        check(square(row, centers[label]) <= min(square(row, c) for c in centers) + 1e-12, "the nearest")
        check(weight[label] == 1 and sum(weight) == 1, f"{weight}")
    head, *rows = read("t.csv").decode().split()
    check(head == "iteration,seconds,objective,certificate,restart,F,decrease,alpha,soft", head)
    values = [float(row.split(",")[2]) for row in rows]
    check(all(a >= b for a, b in zip(values, values[1:])), "sigma falls")
    ratios = [float(row.split(",")[6]) for row in rows if row.split(",")[6]]
    check(ratios and all(ratio >= 1 for ratio in ratios), f"{ratios}")


@case
def early_answers_are_soft():
    npy("x.npy", points())
    result = cleave("kpalm", "x.npy", "-k", 4, "--max-iter", 2, "--membership", "w.npy", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    weights = matrix("w.npy")
    check(result["stop"] == "iteration limit" and any(0 < w < 1 for row in weights for w in row), "soft")
    check(all(abs(sum(row) - 1) < 1e-9 for row in weights), "on the simplex")
    cleave("verify", "r.json", "x.npy", out="^accepted")


@case
def a_false_claim_is_rejected():
    npy("x.npy", points())
    cleave("kpalm", "x.npy", "-k", 3, "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    for change in (lambda r: r["objective"].update(value=r["objective"]["value"] * 0.99),
                   lambda r: r["centers"][0].__setitem__(0, r["centers"][0][0] + 0.01),
                   lambda r: r["labels"].__setitem__(0, (r["labels"][0] + 1) % 3),
                   lambda r: r["certificate"].update(tolerance=1.0),
                   lambda r: r.pop("centers")):
        false = json.loads(json.dumps(result))
        change(false)
        write("f.json", json.dumps(false))
        cleave("verify", "f.json", "x.npy", code=1, out="^rejected")


@case
def starts_from_a_file():
    data = points()
    npy("x.npy", data)
    npy("c.npy", data[:3])
    first = cleave("kpalm", "x.npy", "-k", 3, "--start", "c.npy", "--solver", "lloyd", "--json", "-").json()
    check(len(first["restarts"]) == 1, "one is enough")
    cleave("kpalm", "x.npy", "-k", 4, "--start", "c.npy", code=65, err="c.npy: 3 x 2 starting centers were given, where .* 4 x 2")
    cleave("kpalm", "x.npy", "-k", 3, "--start", "nowhere", code=64, err="or a file of centers")
    cleave("kpalm", "x.npy", "-k", 3, "--start", "./nowhere.npy", code=66, err="nowhere")


@case
def alpha_of_objects_and_memberships_from_files():
    npy("x.npy", points(60))
    npy("c.npy", [[1.0 + i % 3] for i in range(60)])
    npy("w.npy", [[0.5, 0.25, 0.25] if i % 2 else [0.0, 1.0, 0.0] for i in range(60)])
    same = ["kpalm", "x.npy", "-k", 3, "--alpha-unit", "one", "--alpha", 200, "--no-polish", "--max-iter", 2]
    cleave(*same, "--object-alpha", "c.npy", "--start-membership", "w.npy", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check((result["alpha"], result["alpha_least"], result["alpha_most"]) == (200, 200, 600), "the bounds of alpha")
    check(result["options"]["object-alpha"] == "c.npy" and result["options"]["start-membership"] == "w.npy", "the files")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    plain = cleave(*same, "--json", "-").json()
    check(plain["objective"]["value"] != result["objective"]["value"] and "alpha_least" not in plain, "it matters")
    damped = cleave(*same, "--gamma-w", 3, "--gamma-x", 1.5, "--json", "-").json()
    check(damped["alpha"] == 600 and damped["objective"]["value"] != plain["objective"]["value"], "gamma")
    npy("zero.npy", [[0.0]] * 60)
    cleave(*same, "--object-alpha", "zero.npy", code=65, err="the factor 0 of object 1 is not a number from")
    cleave(*same, "--object-alpha", "far", code=64, err="object-alpha 'far' is not allowed: it must be same or distance")
    cleave(*same, "--object-alpha", "w.npy", code=65, err="w.npy is 60 x 3, but there must be one for each of the 60 objects")
    cleave(*same, "--start-membership", "c.npy", code=65, err="c.npy is 60 x 1, but there must be 3 numbers for each")
    npy("half.npy", [[0.5, 0.25, 0.0]] * 60)
    cleave(*same, "--start-membership", "half.npy", code=65, err="row 1 has the sum 0.75")
    cleave(*same, "--start-membership", "w.npy", "-o", "w.npy", code=64, err="would overwrite the input")
    cleave(*same, "--start-membership", "w.npy", "--initial-membership", "nearest", code=64, err="takes its place")
    cleave(*same, "--object-alpha", "distance", "--solver", "lloyd", code=64, err="--object-alpha is for --solver kpalm")


@case
def sample_weights():
    npy("x.npy", points(60))
    npy("s.npy", [[1.0 + i % 3] for i in range(60)])
    cleave("kpalm", "x.npy", "-k", 3, "--sample-weights", "s.npy", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", "s.npy", out="^accepted")
    cleave("verify", "r.json", "x.npy", code=64, err="sample weights")
    npy("short.npy", [[1.0]] * 59)
    cleave("kpalm", "x.npy", "-k", 3, "--sample-weights", "short.npy", code=65, err="59 x 1")
    npy("negative.npy", [[-1.0]] * 60)
    cleave("kpalm", "x.npy", "-k", 3, "--sample-weights", "negative.npy", code=65, err="negative.npy: the sample weight -1 of object 1")
    npy("none.npy", [[0.0]] * 60)
    cleave("kpalm", "x.npy", "-k", 3, "--sample-weights", "none.npy", code=65, err="none.npy: the largest sample weight is 0")


@case
def new_points():
    npy("x.npy", points())
    npy("new.npy", [[6.0, 0.0], [0.0, 6.0], [0.0, 0.0]])
    cleave("kpalm", "x.npy", "-k", 3, "--centers", "c.npy", "--predict", "new.npy", "--predict-output", "p.npy", "-q")
    centers = matrix("c.npy")
    for row, label in zip([[6.0, 0.0], [0.0, 6.0], [0.0, 0.0]], read_npy_labels("p.npy")):
        check(square(row, centers[label]) == min(square(row, c) for c in centers), f"{label}")


@case
def refusals():
    npy("x.npy", points(5))
    cleave("kpalm", "x.npy", code=64, err="needs -k")
    cleave("kpalm", "x.npy", "-k", 0, code=64, err="k")
    cleave("kpalm", "x.npy", "-k", 6, code=65, err="k = 6 exceeds the 5 rows of x.npy")
    cleave("kpalm", "x.npy", "-k", 2, "--solver", "lloyd", "--norm", "euclidean", code=64, err="lloyd")
    cleave("kpalm", "x.npy", "-k", 2, "--affinity", "gaussian", code=64, err="affinity")
    cleave("kpalm", "x.npy", "-k", 2, "-o", "/nowhere/y.npy", code=73)
    for option, path in (("--start", "c.npy"), ("--sample-weights", "s.npy"), ("--truth", "y.npy")):
        npy(path, points(2) if option == "--start" else [[1.0]] * 5)
        before = open(path, "rb").read()
        cleave("kpalm", "x.npy", "-k", 2, option, path, "-o", "./" + path, code=64, err="would overwrite the input")
        check(open(path, "rb").read() == before, "nothing lost")
    write("bad.csv", "1,2\n3,nan\n5,6\n")
    cleave("kpalm", "bad.csv", "-k", 2, code=65, err="bad.csv")
    npy("one.npy", [[1.0, 2.0]])
    check(cleave("kpalm", "one.npy", "-k", 1, "--json", "-").json()["objective"]["value"] == 0, "one object")


@case
def larger_than_memory():
    npy("x.npy", points(20000, columns=8))
    size = os.path.getsize("x.npy")
    told = cleave("kpalm", "x.npy", "-k", 3, "--solver", "lloyd", "--memory", size - 1, "-v", "--json", "m.json", err="mapped")
    plain = cleave("kpalm", "x.npy", "-k", 3, "--solver", "lloyd", "--json", "-").json()
    mapped = json.loads(read("m.json"))
    check(mapped["labels"] == plain["labels"] and mapped["objective"] == plain["objective"], "the same")
    cleave("kpalm", "x.npy", "-k", 3, "--memory", "1K", code=71, err="memory")
    npy("f.npy", points(6000, columns=64), kind="<f4")
    for solver in ("kpalm", "lloyd"):
        same = ["kpalm", "f.npy", "-k", 3, "--solver", solver, "--threads", 1]
        cleave(*same, "--memory", os.path.getsize("f.npy") - 1, "-v", "--json", "m.json", err="mapped")
        mapped, plain = json.loads(read("m.json")), cleave(*same, "--json", "-").json()
        check(mapped["labels"] == plain["labels"] and mapped["objective"] == plain["objective"], "floats, the same")


@case
def threads_do_not_matter():
    npy("x.npy", points(5000))
    results = []
    for threads in (1, 2, 3):
        result = cleave("kpalm", "x.npy", "-k", 5, "--restarts", 2, "--threads", threads, "--json", "-").json()
        results.append(without(result, "seconds"))
    check(all(result == results[0] for result in results), "the same but for seconds")


@case
def limits_and_interruption():
    npy("x.npy", points(20000, groups=7, columns=8))
    cleave("kpalm", "x.npy", "-k", 50, "--time-limit", 1e-6, "--json", "r.json", "-q")
    check(json.loads(read("r.json"))["stop"] == "time limit", "time limit")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    process = subprocess.Popen([harness.CLEAVE, "kpalm", "x.npy", "-k", "50", "--restarts", "1000000", "--progress", "--json",
                                "i.json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.stderr.readline()  # there is an iterate
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    check(process.returncode == 130 and json.loads(read("i.json"))["stop"] == "cancelled", f"{process.returncode}: {err}")
    cleave("verify", "i.json", "x.npy", out="^accepted")


@case
def a_limit_may_leave_no_certificate():
    """Where there was no time to compute it, nothing is claimed, and what is claimed holds."""
    blobs_npy()
    cleave("kpalm", "x.npy", "-k", 3, "--time-limit", 100, "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    result["stop"] = result["restarts"][0]["stop"] = "time limit"
    result["certificate"].update(value=None, holds=False)
    write("cut.json", json.dumps(result))
    cleave("verify", "cut.json", "x.npy", out="^accepted")
    result["stop"] = result["restarts"][0]["stop"] = "converged"
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", code=1, out="^rejected")


@case
def a_start_at_the_nearest_centers():
    """Without an iteration it is what was asked for, and not the uniform memberships."""
    blobs_npy()
    for norm in ("euclidean", "squared"):
        how = ["kpalm", "x.npy", "-k", 3, "--norm", norm, "--max-iter", 0, "-q", "--json", "r.json", "--initial-membership"]
        cleave(*how, "nearest")
        result = json.loads(read("r.json"))
        labels, centers = result["labels"], result["centers"]
        for row, label in zip(matrix("x.npy"), labels):
            check(square(row, centers[label]) == min(square(row, c) for c in centers), norm)
        cleave("verify", "r.json", "x.npy", out="^accepted")
        cleave(*how, "uniform")
        check(json.loads(read("r.json"))["objective"]["value"] > result["objective"]["value"], norm)


@case
def one_tiny_point_is_accepted():
    """Its center is rounded; that is no spread, which would be too small for the numbers that there are."""
    draw = random.Random(8)
    for _ in range(12):
        write("c.csv", ",".join(f"{draw.uniform(1, 10)}e-60" for _ in range(3)) + "\n")
        cleave("kpalm", "c.csv", "-k", 1, "--solver", "weiszfeld", "--header", "no", "--json", "r.json", "-q")
        cleave("verify", "r.json", "c.csv", "--header", "no", out="^accepted")
