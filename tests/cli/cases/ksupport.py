"""ksupport and pursuit: layouts, targets, outputs, paths, verification, limits, bad input."""
import json
import random

from harness import case, check, cleave, csv, npy, read, read_rows, without, write


def regression(samples=40, features=60, seed=1):
    """Samples of which the first five features decide; targets."""
    r = random.Random(seed)
    x = [[r.gauss(0, 1) for _ in range(features)] for _ in range(samples)]
    return x, [sum(row[:5]) + 0.3 * r.gauss(0, 1) for row in x]


def classes():
    x, y = regression()
    npy("x.npy", x)
    npy("y.npy", [[1.0 if v > 0 else -1.0] for v in y])
    return x, y


def fit(*args, **options):
    return cleave("ksupport", "x.npy", "y.npy", *args, **options)


@case
def a_model_and_its_verification():
    classes()
    result = fit("-k", 5, "--json", "r.json", "--weights", "w.npy", "--trace", "t.csv", "--report", "r.html", "-q")
    result = json.loads(read("r.json"))
    check(result["method"] == "ksupport" and result["solver"] == "fcfw" and result["k"] == 5, f"{result}")
    check(result["certificate"]["name"] == "relative-duality-gap" and result["certificate"]["holds"], "certificate")
    check("labels" not in result and result["weights"]["rows"] == 1 and result["weights"]["cols"] == 60, "weights")
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
    cleave("verify", "r.json", "x.npy", code=64, err="x.npy has no column of targets: give a file of them")
    write("false.json", json.dumps({**result, "data_passes": 0}))
    cleave("verify", "false.json", "x.npy", "y.npy", code=1, out="^rejected: data_passes is claimed to be 0")
    result["objective"]["value"] *= 1.001
    result["restarts"][0]["objective"] *= 1.001
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", "y.npy", code=1, out="^rejected")
    check(b"<html" in read("r.html") and read("t.csv").startswith(b"iteration,"), "report and trace")


@case
def solvers_and_layouts_agree():
    x, y = classes()
    npy("xt.npy", [list(column) for column in zip(*x)])
    csv("x.csv", x)
    write("y.csv", "".join("yes\n" if v > 0 else "no\n" for v in y))
    write("x.svm", "".join(f"{1 if v > 0 else -1} " + " ".join(f"{j + 1}:{e!r}" for j, e in enumerate(row)) + "\n"
                           for row, v in zip(x, y)))
    tight = ["-k", 5, "--tol", 1e-6, "--json", "-"]
    value = fit(*tight).json()["objective"]["value"]
    for solver in ("fista", "admm", "newton"):
        other = fit(*tight, "--solver", solver).json()
        check(abs(other["objective"]["value"] - value) < 3e-6 * value and other["solver"] == solver, f"{other}")
    for files in (["xt.npy", "y.npy", "--transposed"], ["x.csv", "y.csv"], ["x.svm", "x.svm"]):
        other = cleave("ksupport", *files, *tight).json()
        check(abs(other["objective"]["value"] - value) < 3e-6 * value, f"{files}")


@case
def an_intercept_told_far_from_the_origin_verifies():
    """It has the rounding of the means of columns; a loss that is higher by more is not taken for it."""
    npy("y.npy", [float(i % 3) for i in range(300)])
    for seed, loss in enumerate(["squares"] * 8 + ["logistic"] * 2):
        draw = random.Random(seed)
        npy("x.npy", [[draw.gauss(3 * (i % 3), 1) + 1e13 for _ in range(20)] for i in range(300)])
        cleave("ksupport", "x.npy", "y.npy", "-k", 3, "--intercept", "--loss", loss, "--json", "r.json", "-q")
        cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
        result = json.loads(read("r.json"))
        for share in (1e-3, -1e-3):
            better = json.loads(json.dumps(result))
            better["objective"]["value"] *= 1 + share
            for restart in better["restarts"]:
                restart["objective"] *= 1 + share
            write("b.json", json.dumps(better))
            cleave("verify", "b.json", "x.npy", "y.npy", code=1, out="^rejected: regularized-loss is claimed")


@case
def the_solver_by_the_shape_and_k():
    """newton where k is small for the features, and not over a ball."""
    x, y = regression(30, 300)
    npy("x.npy", x)
    npy("y.npy", [1.0 if v > 0 else 0.0 for v in y])
    for k, more, solver in ((1, [], "newton"), (3, [], "newton"), (4, [], "fcfw"), (3, ["--radius", 1], "fcfw")):
        fit("-k", k, *more, "--tol", 1e-5, "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check(result["solver"] == solver and result["certificate"]["holds"], f"k = {k} {more}: {result['solver']}")
        cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
        other = fit("-k", k, *more, "--tol", 1e-5, "--solver", "fcfw", "--json", "-").json()
        check(abs(result["objective"]["value"] / other["objective"]["value"] - 1) <= 1e-5, f"k = {k} {more}")
    fit("--path", "1,5:0.1,1", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")


@case
def columns_far_from_the_origin():
    """With an intercept a constant added to a column changes nothing: multiples of 2^-30 and a shift by 2^20 are exact."""
    x, y = regression(80, 12)
    x = [[round(v * 2**30) / 2**30 for v in row] for row in x]
    far = [[v + 2.0**20 if j % 3 else v for j, v in enumerate(row)] for row in x]
    npy("x.npy", x)
    npy("far.npy", far)
    npy("far32.npy", far, "<f4")
    npy("y.npy", [1.0 if v > 0 else 0.0 for v in y])
    npy("fart.npy", [list(column) for column in zip(*far)])
    for loss in ("logistic", "squares"):
        for solver in ("auto", "fcfw", "fista", "admm"):
            how = ["-k", 3, "--loss", loss, "--intercept", "--solver", solver, "-q"]
            near = fit(*how, "--json", "-").json()
            for files in (["far.npy", "y.npy"], ["fart.npy", "y.npy", "--transposed"], ["far32.npy", "y.npy"]):
                cleave("ksupport", *files, *how, "--json", "r.json")
                result = json.loads(read("r.json"))
                close = 0.2 if "far32.npy" in files else 2e-4  # floats keep an eighth at 2^20
                check(abs(result["objective"]["value"] / near["objective"]["value"] - 1) < close, f"{loss} {solver} {files}")
                check(result["certificate"]["holds"], f"{loss} {solver} {files}: {result['certificate']}")
                cleave("verify", "r.json", *files[:2], out="^accepted")
    said = "warning: columns of X have means of more than 100 times their spread.*: use --intercept, or --scale standard"
    cleave("ksupport", "far.npy", "y.npy", "-k", 3, "--solver", "fcfw", err=said, out="does not hold")
    cleave("ksupport", "far.npy", "y.npy", "-k", 3, "--solver", "fcfw", "--scale", "standard")
    fit("-k", 3, "--intercept", "--predict", "x.npy", "--scores", "near.csv", "-q")
    cleave("ksupport", "far.npy", "y.npy", "-k", 3, "--intercept", "--predict", "far.npy", "--scores", "far.csv", "-q")
    for a, b in zip(read_rows("near.csv"), read_rows("far.csv")):
        check(abs(a[0] - b[0]) < 1e-3, f"scores {a} and {b}")


@case
def columns_of_one_value_say_nothing():
    """Beside an intercept their weights are 0, however large they are: nothing that rounding makes of them counts."""
    npy("y.npy", [1.0, 1, 0, 0, 0, 1, 2, 0, 0])
    for value in (3.0, 4.75e30):
        npy("x.npy", [[value, -value]] * 9)
        for solver in ("newton", "fcfw", "fista", "admm"):
            how = ["-k", 2, "--loss", "squares", "--intercept", "--solver", solver, "-q", "--json", "r.json"]
            cleave("ksupport", "x.npy", "y.npy", *how)
            result = json.loads(read("r.json"))
            check(result["certificate"]["holds"] and not result["weights"]["value"], f"{value} {solver}")
            check(abs(result["objective"]["value"] - 19 / 9) < 1e-12, f"{value} {solver}: half of the squares about their mean")
            cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
    npy("ones.npy", [1.0] * 9)  # an objective of 0
    cleave("ksupport", "x.npy", "ones.npy", "-k", 2, "--loss", "squares", "--intercept", "-q", "--json", "r.json")
    cleave("verify", "r.json", "x.npy", "ones.npy", out="^accepted")


@case
def an_intercept_forgets_where_the_run_has_been():
    """The third step of admm is at 1e46; the best intercept of the weights that are kept is the mean of y all the same."""
    npy("x.npy", [[-2.5, -2.5], [-2.5, 4.5e30], [-2.25, 3.5e30], [-2.5, -2.5], [-2.5, -2.5], [4, -3], [-3, -3], [1, -2.75], [2, -1]])
    npy("y.npy", [1.0, 0, 2, 0, 1, 2, 0, 0, 0])
    for steps in (1, 3, 40):
        cleave("ksupport", "x.npy", "y.npy", "-k", 2, "--loss", "squares", "--intercept", "--solver", "admm", "--rho", 1,
               "--max-iter", steps, "-q", "--json", "r.json")
        value = json.loads(read("r.json"))["objective"]["value"]
        check(value < 3 + 1e-9, f"{steps} steps: {value}, where half of the squares about their mean are 3")
        cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")


@case
def a_model_without_its_intercepts_is_none():
    classes()
    fit("-k", 5, "--intercept", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    del result["intercepts"]
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", "y.npy", code=1, out="^rejected: .*lacks its intercepts")
    cleave("predict", "false.json", "x.npy", "-o", "l.csv", code=64, err="intercept")


@case
def gaps_of_huge_numbers_are_compared_by_their_digits():
    for size in (1e50, 1e69):
        r = random.Random(4)
        npy("x.npy", [[r.gauss(0, size) for _ in range(20)] for _ in range(40)])
        cleave("pursuit", "x.npy", "-k", 3, "--solver", "fista", "--max-iter", 50, "--json", "r.json", "-q")
        cleave("verify", "r.json", "x.npy", out="^accepted")
        result = json.loads(read("r.json"))
        result["certificate"]["value"] *= 1 + 1e-6
        write("false.json", json.dumps(result))
        cleave("verify", "false.json", "x.npy", code=1, out="^rejected: relative-duality-gap")


@case
def same_json_on_any_threads():
    classes()
    for solver in ("fcfw", "fista", "admm", "newton"):
        one, two = (fit("-k", 5, "--solver", solver, "--threads", t, "--json", "-").json() for t in (1, 2))
        for result in (one, two):
            del result["seconds"]
            del result["restarts"][0]["seconds"]
        check(one == two, solver)


@case
def classes_scores_and_new_samples():
    x, y = regression()
    npy("x.npy", x)
    npy("y.npy", [[3.0 if v > 1 else 1.0 if v > -1 else 2.0] for v in y])
    fit("-k", 5, "--lambda", 0.01, "--intercept", "--predict", "x.npy", "--predict-output", "l.csv", "--scores", "s.csv",
        "--json", "r.json", "-q")
    labels = [int(v) for (v,) in read_rows("l.csv")]
    check(set(labels) <= {1, 2, 3} and len(labels) == 40, f"{labels}")
    head, *lines = read("s.csv").decode().splitlines()
    check(head == "row,1,2,3", head)
    rows = [[float(v) for v in line.split(",")[1:]] for line in lines]
    check(len(rows) == 40 and len(rows[0]) == 3, "one column per model")
    check(all([1, 2, 3][row.index(max(row))] == label for row, label in zip(rows, labels)), "the largest score wins")
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
    npy("y.npy", [[v] for v in y])
    fit("-k", 5, "--loss", "squares", "--lambda", 1, "--scores", "s.npy", "-q")
    fit("-k", 5, "--loss", "squares", "--predict", "x.npy", "--predict-output", "l.csv", code=64, err="use --predict with --scores")


@case
def the_result_is_a_whole_model():
    x, y = regression()
    npy("x.npy", x)
    words = ["ant" if v > 1 else "bee" if v > -1 else "cow" for v in y]
    write("y.csv", "".join(w + "\n" for w in words))
    run = ["ksupport", "x.npy", "y.csv", "-k", 5, "--intercept", "--solver", "newton"]
    cleave(*run, "--json", "r.json", "--scores", "s.csv", out="class names +ant bee cow\n")
    result = json.loads(read("r.json"))
    check(result["classes"] == [0, 1, 2] and result["class_names"] == ["ant", "bee", "cow"], "which row is which class")
    w, b = result["weights"], result["intercepts"]
    for row, line in zip(x, read("s.csv").decode().splitlines()[1:]):
        for c, score in enumerate(line.split(",")[1:]):
            entries = range(w["start"][c], w["start"][c + 1])
            mine = b[c] + sum(w["value"][e] * row[w["index"][e]] for e in entries)
            check(abs(mine - float(score)) < 1e-9 * (1 + abs(mine)), "weights and intercepts give the scores")
    cleave("verify", "r.json", "x.npy", "y.csv", out="^accepted")
    for name, value in (("intercepts", [b[0] + 0.01, b[1], b[2]]), ("intercepts", b[:2]), ("classes", [0, 1, 3]),
                        ("classes", [0, 1])):
        write("false.json", json.dumps({**result, name: value}))
        cleave("verify", "false.json", "x.npy", "y.csv", code=1, out="^rejected")
    del result["classes"]
    write("less.json", json.dumps(result))
    cleave("verify", "less.json", "x.npy", "y.csv", code=1, out="^rejected: classes is not claimed, but the data give it")
    npy("y.npy", [[7.0 if v > 0 else -3.0] for v in y])
    result = fit("-k", 5, "--json", "r.json", out="classes +-3 7\n") and json.loads(read("r.json"))
    check(result["classes"] == [-3, 7] and result["intercepts"] == [0] and "class_names" not in result, "two numbers")
    result["intercepts"] = [0.5]
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", "y.npy", code=1, out="the model has none")


@case
def regression_of_new_samples():
    x, y = regression()
    csv("X.csv", x)
    csv("new.csv", x[:7])
    write("y.csv", "".join(f"{v!r}\n" for v in y))
    run = ["ksupport", "X.csv", "y.csv", "-k", 10, "--loss", "squares", "--intercept", "-q"]
    cleave(*run, "--predict", "new.csv", "--scores", "s.csv")
    cleave(*run, "--scores", "all.csv")
    new, old = read_rows("s.csv"), read_rows("all.csv")
    check(len(new) == 7 and new == old[:7], "the values of the new samples")
    cleave(*run, "--predict", "new.csv", code=64, err="or --scores FILE")


@case
def no_file_is_written_over_another():
    x, _ = classes()
    npy("v.npy", x)
    npy("vy.npy", [[1.0]] * 20 + [[-1.0]] * 20)
    npy("w.npy", [[0.0] * 60])
    write("vy.csv", "1\n-1\n" * 20)
    path = ["--path", "5:1", "--validation-x", "v.npy", "--validation-y", "vy.csv"]
    before = {name: read(name) for name in ("x.npy", "y.npy", "v.npy", "vy.csv", "w.npy")}
    for args, words in ((["-k", 5, "--scores", "y.npy"], "scores y.npy would overwrite"),
                        (["-k", 5, "--scores", "./x.npy"], "scores ./x.npy would overwrite"),
                        ([*path, "--scores", "v.npy"], "scores v.npy would overwrite"),
                        ([*path, "--path-output", "vy.csv"], "path-output vy.csv would overwrite"),
                        (["-k", 5, "--start", "w.npy", "--weights", "w.npy"], "weights w.npy would overwrite"),
                        ([*path, "--path-output", "a.csv", "--scores", "./a.csv"], "both name"),
                        (["-k", 5, "--weights", "n.npy", "--scores", "n.npy"], "both name")):
        fit(*args, code=64, err=words)
    check(all(read(name) == content for name, content in before.items()), "all inputs are as they were")
    npy("p.npy", planes())
    cleave("pursuit", "p.npy", "-k", 9, "--graph", "a.mtx", "--weights", "a.mtx", code=64, err="both name")


@case
def weights_outside_the_ball_are_rejected():
    classes()
    fit("-k", 5, "--radius", 0.5, "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
    result = json.loads(read("r.json"))
    result["weights"]["value"] = [2 * v for v in result["weights"]["value"]]
    write("false.json", json.dumps(result))
    cleave("verify", "false.json", "x.npy", "y.npy", code=1, out="beyond the radius")


def svm(path, rows, labels):
    write(path, "".join(f"{label} " + " ".join(f"{j + 1}:{e!r}" for j, e in enumerate(row)) + "\n"
                        for row, label in zip(rows, labels)))


@case
def targets_are_matched_by_id():
    """The same answer, whatever the order of Y; ids that do not match are refused."""
    x, y = regression(features=6)
    names = [f"u{i}" for i in range(len(x))]
    turned = list(range(len(x)))[::-1]
    write("x.csv", "id," + ",".join("abcdef") + "\n" + "".join(",".join([n] + [repr(v) for v in row]) + "\n" for n, row in zip(names, x)))
    for kind, of in (("numbers", lambda v: repr(v)), ("texts", lambda v: "up" if v > 0 else "down")):
        for name, order in (("y", range(len(x))), ("turned", turned)):
            write(f"{name}.csv", "id,out\n" + "".join(f"{names[i]},{of(y[i])}\n" for i in order))
        loss = ("--loss", "squares") if kind == "numbers" else ()
        found = []
        for name in ("y", "turned"):
            cleave("ksupport", "x.csv", f"{name}.csv", "-k", 3, *loss, "--json", "r.json", "-qv", err=f"{name}.csv: matched by id\n")
            cleave("verify", "r.json", "x.csv", f"{name}.csv", out="^accepted")
            found.append(json.loads(read("r.json"))["weights"])
        check(found[0] == found[1], f"{kind}: the same model")
        cleave("verify", "r.json", "x.csv", "y.csv", out="^accepted")
        scores = [json.loads(cleave("ksupport", "x.csv", "y.csv", "--path", "2,3:0.1", *loss, "--validation-x", "x.csv", "--validation-y",
                                    f"{name}.csv", "--json", "-").out)["path"] for name in ("y", "turned")]
        check([row["score"] for row in scores[0]] == [row["score"] for row in scores[1]], f"{kind}: validation")
    write("bare.csv", "out\n" + "".join(f"{v}\n" for v in y))
    cleave("ksupport", "x.csv", "bare.csv", "-k", 3, "--loss", "squares", "-qv", err="bare.csv: row by row\n")
    write("other.csv", "id,out\n" + "".join(f"v{i},{v}\n" for i, v in enumerate(y)))
    cleave("ksupport", "x.csv", "other.csv", "-k", 3, "--loss", "squares", code=65, err="other.csv lacks 40 of the 40 rows of x.csv, 'u0' first")
    cleave("verify", "r.json", "x.csv", "other.csv", code=65, err="other.csv lacks 40 of the 40 rows of x.csv")


@case
def targets_mean_what_they_say():
    x, y = regression()
    svm("r.svm", [[1.0], [3.0], [20.0], [-8.0]], [0.5, 1.5, 10.0, -4.0])
    cleave("ksupport", "r.svm", "r.svm", "-k", 1, "--loss", "squares", "--lambda", 1e-9, "--ridge", 0, "--scores", "s.csv", "-q")
    scores = [float(line.split(b",")[1]) for line in read("s.csv").split()[1:]]
    check(all(abs(s - t) < 1e-3 for s, t in zip(scores, (0.5, 1.5, 10.0, -4.0))), f"the numbers of the file: {scores}")
    names = [7 if v > 1 else -1 if v > -1 else 3 for v in y]
    svm("x.svm", x, names)
    npy("x.npy", x)
    cleave("ksupport", "x.svm", "x.svm", "-k", 5, "--lambda", 1e-3, "--predict", "x.npy", "--predict-output", "l.csv", "-q")
    labels = [int(v) for (v,) in read_rows("l.csv")]
    check(sum(a == b for a, b in zip(labels, names)) > 36, f"labels as in the file: {labels}")
    # Validation targets lack a class, which shifts nothing.
    some = [i for i, n in enumerate(names) if n != -1]
    svm("v.svm", [x[i] for i in some], [names[i] for i in some])
    words = {-1: "ant", 3: "bee", 7: "cow"}
    write("y.csv", "".join(words[n] + "\n" for n in names))
    cleave("ksupport", "x.npy", "y.csv", "-k", 5, "--lambda", 1e-3, "--predict", "x.npy", "--predict-output", "l.csv", "-q")
    named = [line.split(",")[1] for line in read("l.csv").decode().split()[1:]]
    check(named == [words[label] for label in labels], f"classes by their names: {named}")
    write("vy.csv", "".join(words[names[i]] + "\n" for i in some))
    for files, fresh in ((["x.svm", "x.svm"], "v.svm"), (["x.npy", "y.csv"], "vy.csv")):
        run = ["ksupport", *files, "--path", "5:0.001", "--validation-x", "v.svm", "--validation-y"]
        text = cleave(*run, fresh, "--json", "r.json", out=r"path +k .*score").out
        path = json.loads(read("r.json"))["path"]
        check(len(path) == 1 and path[0]["score"] > 0.9, f"{fresh}: {path}")
        row = next(line for line in text.splitlines() if line.split()[:2] == ["0", "5"])
        check(any(cell == f"{path[0]['score']:.6g}" for cell in row.split()), f"{path}: {text}")
    write("vy.csv", "cow\nbee\ndog\n" + "bee\n" * (len(some) - 3))
    cleave(*run, "vy.csv", code=65, err="vy.csv row 3: 'dog' is not one of the 3 classes of y.csv")
    cleave(*run, "v.svm", code=65, err="numbers for targets, but y.csv has texts")
    svm("u.svm", [x[i] for i in some], [names[i] if i != some[4] else 8 for i in some])
    cleave("ksupport", "x.svm", "x.svm", "--path", "5:1", "--validation-x", "v.svm", "--validation-y", "u.svm", code=65,
           err="validation sample 5 is 8")


@case
def paths():
    x, y = classes()
    npy("v.npy", x[:20])
    npy("vy.npy", [[1.0 if v > 0 else -1.0] for v in y[:20]])
    result = fit("--path", "3,6:1,0.1", "--validation-x", "v.npy", "--validation-y", "vy.npy", "--path-output", "p.csv",
                 "--json", "-").json()
    rows = read("p.csv").decode().splitlines()
    check(len(rows) == 5 and rows[0].startswith("k,lambda,objective"), f"{rows}")
    best = max(rows[1:], key=lambda row: float(row.split(",")[7]))
    check(result["k"] == int(best.split(",")[0]), "the best by score, the first of equals")
    check(rows[0].endswith(",stop") and all(row.endswith(",converged") for row in rows[1:]), f"{rows}")
    fit("--path", "3,3:1,1", "--validation-x", "v.npy", "--validation-y", "vy.npy", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")  # rows that are asked for twice
    result = fit("--path", "3,6:1,0.1", "--time-limit", 1e-9, "--path-output", "p.csv", "--json", "-",
                 err="ended by 'time limit': 0 of its 4 rows were solved").json()
    rows = read("p.csv").decode().splitlines()
    check(len(rows) == 2 and rows[1].endswith(",time limit") and result["stop"] == "time limit", f"{rows}")
    fit("--path", "3,6:1,0.1", "--memory", "30k", code=71, err="and ksupport needs")
    fit("-k", 3, "--solver", "newton", "--memory", "200k", code=71, err="and ksupport needs")
    chosen = fit("-k", "auto", "--path", "3,6:1,0.3", "--report", "r.html", "--json", "-").json()
    check(chosen["options"]["k"] == "auto", "what was asked for is listed")
    page = read("r.html").decode()
    check(f"<td>k</td><td>auto: {chosen['k']}</td>" in page and f"<td>lambda</td><td>{chosen['lambda']}</td>" in page,
          "the page says what was chosen")
    check("By iteration.</p>" in page, "one line, of which there is nothing to say")
    npy("y3.npy", [[float(i % 3)] for i in range(40)])
    cleave("ksupport", "x.npy", "y3.npy", "-k", 3, "--report", "r.html", "-q")
    page = read("r.html").decode()
    check("one line per model.</p>" in page and "<title>model 2: " in page and 'class="best"' not in page,
          "a line is a model")
    fit("-k", 3, "--loss", "squares", "--radius", 1, "--rule", "change", "--no-working-set")
    fit("--path", "3,6", code=64, err="K,K")
    fit("--path", "3,:1", code=64, err="K,K")
    fit("--path", "3:1,", code=64, err="K,K")
    fit("--path", "3:1:2", code=64, err="K,K")
    fit("--path", "3,61:1", code=65, err="k = 61 exceeds the 60 features")
    fit("-k", 3, "--validation-x", "v.npy", code=64, err="needs --validation-y")


@case
def starts_and_limits():
    classes()
    fit("-k", 5, "--weights", "w.npy", "-q")
    result = fit("-k", 5, "--start", "w.npy", "--json", "-").json()
    check(result["iterations"] == 0 and result["stop"] == "converged", f"{result['iterations']}")
    check(fit("-k", 5, "--max-iter", 2, "--json", "-").json()["stop"] == "iteration limit", "max-iter")
    check(fit("-k", 5, "--time-limit", 1e-9, "--json", "-").json()["stop"] == "time limit", "time limit")
    fit("-k", 5, "--start", "nothing", code=64, err="must be zero, or a file")
    fit("-k", 5, "--start", "y.npy", code=65, err="rows of 60 numbers")
    fit("-k", 5, "--weights", "w.mtx", "-q")
    check(fit("-k", 5, "--start", "w.mtx", "--json", "-").json()["iterations"] == 0, "what --weights wrote")
    npy("y3.npy", [[float(i % 3)] for i in range(40)])
    cleave("ksupport", "x.npy", "y3.npy", "-k", 5, "--start", "w.npy", code=65, err="1 rows, but there are 3 models")
    fit("-k", 5, "--dry-run", out="ksupport")


@case
def bad_input():
    classes()
    fit(code=64, err="needs -k")
    fit("-k", 61, code=65, err="k = 61 exceeds the 60 features of x.npy")
    fit("-k", "many", code=64, err="or auto")
    fit("-k", "auto", code=64, err="or --path with a list of k")
    fit("-k", 5, "--lambda", 0, code=64, err="lambda")
    fit("-k", 5, "--radius", 1, "--solver", "newton", code=64, err="radius")
    fit("--path", "3:1", "-k", 5, code=64, err="--k cannot be used with --path")
    fit("--path", "3:1", "--lambda", 5, code=64, err="--lambda cannot be used with --path")
    fit("--path", "3:1", "--radius", 5, code=64, err="--radius cannot be used with --path")
    fit("-k", 3, "--radius", 1, "--lambda", 5, code=64, err="--lambda cannot be used with --radius")
    fit("-k", 3, "--path-output", "p.csv", code=64, err="--path-output needs --path")
    npy("y.npy", [[1.0]] * 40)
    fit("-k", 5, code=65, err="one class only, 1")
    npy("y.npy", [[1.0]] * 39)
    fit("-k", 5, code=65, err="39 targets, but x.npy has 40 samples")
    write("nan.csv", "1\nnan\n" + "0\n" * 38)
    cleave("ksupport", "x.npy", "nan.csv", "-k", 5, code=65, err=r"nan\.csv: column 1 has 1 missing cell \(line 2\)$")
    cleave("ksupport", "x.npy", "absent.npy", "-k", 5, code=66)
    write("w.npy", "kept")
    fit("-k", 5, "--weights", "w.npy", code=65)
    check(read("w.npy") == b"kept", "a failed run leaves an output untouched")


# --- pursuit ---

def planes(seed=3):
    """Points on two lines through the origin."""
    r = random.Random(seed)
    return [[r.choice((-1, 1)) * r.uniform(0.5, 1) * v + 0.01 * r.gauss(0, 1) for v in d]
            for d in ((1, 0, 0, 0), (0, 0.6, 0.8, 0)) for _ in range(15)]


@case
def pursuit_feeds_ncut_and_dominant():
    npy("p.npy", planes())
    write("truth.csv", "0\n" * 15 + "1\n" * 15)
    cleave("pursuit", "p.npy", "-k", 120, "--lambda", 0.1, "--zero-diagonal", "--weights", "w.mtx", "--graph", "a.mtx",
           "--json", "r.json", "-q")
    cleave("verify", "r.json", "p.npy", out="^accepted")
    check(read("w.mtx").startswith(b"%%MatrixMarket matrix coordinate"), "W is sparse")
    cut = cleave("ncut", "a.mtx", "--affinity", "precomputed", "-k", 2, "--truth", "truth.csv", "--json", "-").json()
    check(cut["metrics"]["ari"] > 0.9, f"{cut['metrics']}")
    found = cleave("dominant", "a.mtx", "--affinity", "precomputed", "-k", 2, "--assign", "--truth", "truth.csv", "--json", "-")
    check(found.json()["metrics"]["purity"] > 0.9, "dominant sets stay on their lines")


@case
def pursuit_solvers_agree():
    npy("p.npy", planes())
    run = ["pursuit", "p.npy", "-k", 60, "--lambda", 0.5, "--tol", 1e-5, "--json", "-"]
    value = cleave(*run).json()["objective"]["value"]
    for solver in ("fista", "admm"):
        other = cleave(*run, "--solver", solver).json()["objective"]["value"]
        check(abs(other - value) < 3e-5 * value, f"{solver}: {other}")
    one, two = (cleave(*run, "--threads", t).json() for t in (1, 2))
    check(without(one, "seconds", "restarts") == without(two, "seconds", "restarts"), "threads")
    cleave(*run[:2], code=64, err="needs -k")
    cleave("pursuit", "p.npy", "-k", 901, code=65, err="exceeds the 30 x 30 entries")
    cleave(*run, "--graph", "a.npy", code=73, err="mtx")


@case
def pursuit_of_too_many_pairs_says_what_works_without():
    npy("x.npy", [[float(i % 7), float(i % 11)] for i in range(200000)])
    cleave("pursuit", "x.npy", "-k", 200000, "--solver", "fista", "--dry-run", out=r"pursuit +\d{13} bytes")
    for more, told in (([], "the default --memory of "), (["--memory", "2G"], "--memory 2147483648")):
        for solver in ("fista", "admm"):
            cleave("pursuit", "x.npy", "-k", 200000, "--solver", solver, *more, code=71,
                   err=f"{told}.* is too small: the data take .* bytes, and pursuit needs .*M would be enough; only --solver fcfw needs no n x n numbers")


@case
def names_of_classes_are_checked_and_not_told_as_unchecked():
    x, y = regression()
    write("x.csv", "".join(",".join(f"{v!r}" for v in row) + f",{'up' if target > 0 else 'down'}\n" for row, target in zip(x, y)))
    cleave("ksupport", "x.csv", "-k", 5, "--lambda", 0.01, "--json", "r.json", "-q")
    told = cleave("verify", "r.json", "x.csv", out=r"^accepted.*\nnot checked: times, .*, data_passes\n$").out
    check("class_names" not in told, told)
    result = json.loads(read("r.json"))
    check(result["class_names"] == ["down", "up"], f"{result['class_names']}")
    write("f.json", json.dumps({**result, "class_names": ["up", "down"]}))
    cleave("verify", "f.json", "x.csv", code=1, out="^rejected: the classes of x.csv do not have the names that are claimed")


@case
def targets_in_a_column_of_the_samples():
    """As with a file of them: numbers, classes, missing ones, validation, verification, prediction."""
    x, y = regression(features=6)
    csv("x.csv", x)
    write("y.csv", "".join(f"{v!r}\n" for v in y))
    tight = ["-k", 3, "--loss", "squares", "--intercept", "--json", "-"]
    want = cleave("ksupport", "x.csv", "y.csv", *tight).json()["objective"]["value"]
    names = ",".join("uvwxyz")
    rows = [",".join(map(repr, row)) for row in x]
    write("one.csv", f"id,{names},price\n" + "".join(f"{i + 7},{row},{v!r}\n" for i, (row, v) in enumerate(zip(rows, y))))
    for how in (["--label-column", "price"], ["--label-column", "8"]):
        found = cleave("ksupport", "one.csv", *tight, *how)
        write("r.json", found.out)
        check(abs(found.json()["objective"]["value"] / want - 1) < 1e-6, f"{found}")
        check(found.json()["data"]["used"] == "6 columns used; target: price; dropped: id (row names)", f"{found}")
        cleave("verify", "r.json", "one.csv", out="^accepted")
    write("false.csv", read("one.csv").decode().replace(repr(y[3]), "99"))
    cleave("verify", "r.json", "false.csv", code=1, out="^rejected")
    write("new.csv", f"{names}\n{rows[0]}\n")
    cleave("predict", "r.json", "new.csv", "--scores", "s.csv", "-q")
    cleave("ksupport", "one.csv", "-k", 3, "--label-column", "price", err="warning: each of the 40 values of y is taken for a class, .*use --loss squares")
    write("bare.csv", "".join(f"{row},{v!r}\n" for row, v in zip(rows, y)))  # without names, new samples may lack the column
    cleave("ksupport", "bare.csv", *tight[:-2], "--label-column", 7, "--json", "b.json", "-q")
    csv("samples.csv", x[:3])
    cleave("predict", "b.json", "samples.csv", "--scores", "s.csv", "-q")
    check(len(read_rows("s.csv")) == 3, "scores of new samples")
    cleave("ksupport", "one.csv", "-k", 3, "--loss", "squares", code=64, err="one.csv has no column of targets: .*--label-column$")
    write("lost.csv", f"{names},price\n" + "".join(f"{row},{'.' if i == 2 else repr(v)}\n" for i, (row, v) in enumerate(zip(rows, y))))
    cleave("ksupport", "lost.csv", *tight, "--label-column", "price", code=65, err=r"'price' has 1 missing cell \(line 4\) and is the target: --missing drop$")
    for how in ("mean", "median"):
        cleave("ksupport", "lost.csv", *tight, "--label-column", "price", "--missing", how, code=65, err="is the target: --missing drop$")
    write("r.json", cleave("ksupport", "lost.csv", *tight, "--label-column", "price", "--missing", "drop").out)
    check(json.loads(read("r.json"))["n"] == 39, "without the row")
    cleave("verify", "r.json", "lost.csv", out="^accepted")
    write("kinds.csv", f"{names},species\n" + "".join(f"{row},{'ant' if v > 0 else 'bee'}\n" for row, v in zip(rows, y)))
    write("few.csv", f"species,{names}\n" + "".join(f"ant,{row}\n" for row, v in zip(rows, y) if v > 0))
    best = cleave("ksupport", "kinds.csv", "--path", "2,3:1,0.1", "--validation-x", "few.csv", "--json", "r.json") and json.loads(read("r.json"))
    check(best["class_names"] == ["ant", "bee"] and max(row["score"] for row in best["path"]) > 0.7, f"{best['path']}")
    write("few.csv", f"species,{names}\ncow,{rows[0]}\n")
    cleave("ksupport", "kinds.csv", "--path", "2,3:1,0.1", "--validation-x", "few.csv", code=65, err="'cow' is not one of the 2 classes of kinds.csv")
    cleave("ksupport", "kinds.csv", "-k", 2, "--transposed", code=64, err="--transposed needs Y")
    svm("x.svm", x, [1 if v > 0 else -1 for v in y])
    own = cleave("ksupport", "x.svm", "-k", 2, "--json", "-").json()
    check(own["objective"]["value"] == cleave("ksupport", "x.svm", "x.svm", "-k", 2, "--json", "-").json()["objective"]["value"], "labels of .svm")


@case
def weights_in_the_units_of_the_data():
    r = random.Random(4)
    kinds, lines = ("cat", "dog", "owl"), ["a,b,c,kind"]
    rows = [([r.gauss(100 + 30 * (i % 3), 9), r.gauss(5 - i % 3, 0.5), r.gauss(0, 1e-3)], kinds[i % 3]) for i in range(60)]
    lines += [",".join(map(str, x)) + "," + kind for x, kind in rows]
    write("x.csv", "\n".join(lines) + "\n")
    cleave("ksupport", "x.csv", "-k", 2, "--scale", "standard", "--intercept", "--weights", "w.csv", "--units", "data",
           "--predict", "x.csv", "--scores", "s.csv", "-q")
    head, *models = [line.split(",") for line in read("w.csv").decode().split()]
    scores = [line.split(",") for line in read("s.csv").decode().split()]
    check(head == ["class", "a", "b", "c", "intercept"] and [m[0] for m in models] == list(kinds), f"{head} {models}")
    for i, (x, _) in enumerate(rows):
        for c, model in enumerate(models):
            w = [float(v) for v in model[1:]]
            score = sum(a * b for a, b in zip(w, x)) + w[3]
            check(abs(score - float(scores[i + 1][c + 1])) <= 1e-9 * (1 + abs(score)), f"{i} {c}: {score} {scores[i + 1]}")
    cleave("ksupport", "x.csv", "-k", 2, "--scale", "unit-rows", "--weights", "w.csv", "--units", "data", code=64,
           err="--units data cannot be used with --scale unit-rows")


@case
def first_order_methods_end_where_they_get_nowhere():
    """Columns of 1e10, as many as there are samples and more: neither objective nor gap falls any more."""
    draw = random.Random(2)
    npy("x.npy", [[1e10 * draw.gauss(0, 1) for _ in range(30)] for _ in range(20)])
    npy("y.npy", [float(i % 2) for i in range(20)])
    for solver in ("fista", "admm"):
        cleave("ksupport", "x.npy", "y.npy", "-k", 3, "--loss", "squares", "--solver", solver, "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check(result["stop"] == "stalled" and 1000 <= result["iterations"] < 20000, f"{solver}: {result['stop']}, {result['iterations']}")
        cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")


@case
def first_order_methods_end_where_they_crawl():
    """Numbers of 1e30: the objective falls for ever, and the gap does not."""
    npy("x.npy", [[-1e30, 1e30, -1e30], [0.0, 0.0, 4.5e29], [0.0, 1e30, -4.5e29]])
    npy("y.npy", [1.0, 0.0, 0.0])
    cleave("ksupport", "x.npy", "y.npy", "-k", 1, "--solver", "fista", "--loss", "logistic", "--intercept", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check(result["stop"] == "stalled" and result["iterations"] < 100000, f"{result['stop']}, {result['iterations']}")
    check(any("fista ended before its tolerance was reached" in words for words in result["warnings"]), str(result["warnings"]))
    cleave("verify", "r.json", "x.npy", "y.npy", out="^accepted")
