"""What the command does for any method, seen on methods made by hand (tests/extend)."""
import os
import re
import struct

from harness import case, check, cleave, csv, extend, npy, read, read_npy_labels, read_rows, write

POINTS = [[0.0, 5.0], [4.0, 1.0], [2.0, 3.0], [8.0, 7.0], [6.0, 9.0]]
TABLE = [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]


def numbers(path):
    return [v for row in read_rows(path) for v in row]


def doubles(path):
    data = read(path)
    return list(struct.unpack(f"<{(len(data) - 128) // 8}d", data[128:]))


@case
def points_alone_need_no_affinity():
    npy("x.npy", POINTS)
    result = extend("soft", "x.npy", "--json", "-").json()
    check("affinity" not in result and "affinity" not in result["seconds"], "an affinity is told of")
    check("gamma" not in result["options"] and result["options"]["memory"] == "auto", str(result["options"]))
    check(result["membership"]["start"] == [0, 1, 3, 5, 7, 9], str(result["membership"]))
    check(result["membership"]["index"] == [0] + [0, 1] * 4, str(result["membership"]))
    check(result["centers"] == [[0, 0.125], [0.25, 0.375]], str(result["centers"]))
    check("affinity" not in extend("soft", "x.npy", "--report", "r.html").out, "an affinity is told of")
    check("<dt>affinity</dt>" not in read("r.html").decode(), "an affinity is told of")
    extend("soft", "x.npy", "--gamma", 1, code=64, err="no option --gamma")
    check("--gamma" not in extend("soft", "--help").out, "help offers an affinity")


@case
def dry_run_of_points_alone():
    npy("x.npy", POINTS)
    out = extend("soft", "x.npy", "--dry-run").out
    check("affinity" not in out and re.search(r"^points +80 bytes", out), out)
    check(re.search(r"^soft +160 bytes", out, re.M), out)
    result = extend("soft", "x.npy", "--dry-run", "--json", "-").json()
    check("affinity" not in result and "affinity" not in result["bytes"], str(result))
    check(result["bytes"]["method"] == 160 and result["n"] == 5, str(result))


@case
def a_budget_of_points_alone():
    npy("x.npy", POINTS)
    for extra in [], ["--dry-run"]:
        extend("soft", "x.npy", "--memory", 200, *extra, code=71, err="and soft needs 160 more; --memory 1M would be enough")
        extend("soft", "x.npy", "--memory", "1M", "-q", *extra)


@case
def the_budget_that_is_named_is_the_least_that_will_do():
    npy("x.npy", [[float(i), float(i * i % 977)] for i in range(100000)])
    told = cleave("kpalm", "x.npy", "-k", 3, "--memory", "2M", code=71).err
    found = re.search(r"the data take (\d+) bytes, and kpalm needs (\d+) more; --memory (\d+)M would be enough", told)
    check(found and int(found[1]) + int(found[2]) > 2 << 20, told)
    enough = int(found[3])
    cleave("kpalm", "x.npy", "-k", 3, "--memory", f"{enough}M", "-q", "--max-iter", 2)
    cleave("kpalm", "x.npy", "-k", 3, "--memory", f"{enough - 1}M", code=71, err=f"--memory {enough}M would be enough")


@case
def memberships_and_centers_are_written():
    npy("x.npy", POINTS)
    extend("soft", "x.npy", "-q", "--membership", "u.npy", "--centers", "z.npy", "-o", "l.npy")
    check(doubles("u.npy") == [v for row in TABLE for v in row], str(doubles("u.npy")))
    check(b"'shape': (5, 2)" in read("u.npy"), "shape of the memberships")
    check(doubles("z.npy") == [0, 0.125, 0.25, 0.375], str(doubles("z.npy")))
    check(read_npy_labels("l.npy") == [0, 1, 0, 1, 0], "labels")
    extend("soft", "x.npy", "-q", "--membership", "u.csv", "--centers", "z.csv")
    check(numbers("u.csv") == [v for row in TABLE for v in row], read("u.csv"))
    check(read("z.csv") == b"0,0.125\n0.25,0.375\n", read("z.csv"))
    extend("soft", "x.npy", "-q", "--membership", "u.mtx")
    check(read("u.mtx").startswith(b"%%MatrixMarket matrix coordinate real general\n5 2 9\n1 1 1\n2 1 0.5\n"),
          read("u.mtx"))


@case
def labels_are_memberships_too():
    npy("x.npy", POINTS)
    extend("hard", "x.npy", "-q", "--membership", "u.csv")
    check(numbers("u.csv") == [1, 0, 0, 0, 1, 0, 0, 1, 1, 0], read("u.csv"))
    extend("hard", "x.npy", "-q", "--membership", "u.npy", "--weights", "w.csv", code=65, err="--weights w.csv: this run has")
    check(os.path.exists("u.npy") and not os.path.exists("w.csv"), "what there is was not written")
    check("affinity" in extend("hard", "x.npy", "--json", "-").json(), "no affinity")


@case
def only_what_a_method_has_is_offered():
    npy("x.npy", POINTS)
    npy("y.npy", POINTS)
    has = {"soft": {"output", "membership", "centers", "silhouette", "predict", "predict-membership", "truth"},
           "hard": {"output", "membership", "weights", "silhouette", "predict", "truth"}, "fit": {"weights"}}
    every = set().union(*has.values())
    for method, options in has.items():
        text = extend(method, "--help").out
        for option in sorted(every):
            check((f"--{option} " in text or f"--{option}\n" in text) == (option in options), f"{method} --{option}")
        for option in sorted(every - options):
            extend(method, "x.npy", "--" + option, "f.npy", code=64, err=f"no option --{option}")


@case
def targets_are_looked_at_before_work():
    npy("x.npy", POINTS)
    extend("soft", "x.npy", "--membership", "u.txt", code=73, err=r"--membership 'u.txt'.*npy, .csv, .tsv or .mtx")
    extend("soft", "x.npy", "--centers", "z.mtx", code=73, err=r"--centers 'z.mtx'.*npy, .csv or .tsv$")
    extend("soft", "x.npy", "--centers", "none/z.npy", code=73, err="folder none")
    extend("soft", "x.npy", "--membership", "x.npy", code=64, err="--membership x.npy would overwrite the input")
    extend("soft", "x.npy", "--membership", "u.npy", "--centers", "u.npy", code=64,
          err="--membership and --centers both name u.npy")
    extend("soft", "x.npy", "--predict", "x.npy", "--predict-membership", "x.npy", code=64, err="would overwrite the input")
    check(sorted(os.listdir(".")) == ["x.npy"], str(os.listdir(".")))


@case
def two_operands():
    npy("x.npy", POINTS)
    csv("y.csv", [[1.0], [0.0], [-2.5], [0.0], [0.0]])
    result = extend("fit", "x.npy", "y.csv", "--json", "-", "--weights", "w.csv").json()
    check(result["weights"] == {"rows": 1, "cols": 5, "start": [0, 2], "index": [0, 2], "value": [1, -2.5]},
          str(result["weights"]))
    check("labels" not in result and "sizes" not in result, "labels of a method without")
    check(read("w.csv") == b"1,0,-2.5,0,0\n", read("w.csv"))
    extend("fit", "x.npy", "y.csv")
    extend("fit", "x.npy", code=64, err="x.npy has no column of targets")
    extend("fit", "x.npy", "none.csv", code=66, err="none.csv")
    extend("fit", "-", "-", code=64, err="X and Y cannot both be standard input")
    extend("fit", "x.npy", "y.csv", "--weights", "y.csv", code=64, err="--weights y.csv would overwrite the input")


@case
def new_objects_of_points_alone():
    npy("x.npy", POINTS)
    npy("new.npy", [[16.0, 0.0], [-8.0, 0.0], [8.0, 0.0]])
    extend("soft", "x.npy", "-q", "--scale", "minmax", "--predict", "new.npy", "--predict-output", "l.csv",
          "--predict-membership", "u.csv")
    check(read("l.csv") == b"row,label\n1,2\n2,-1\n3,1\n", read("l.csv"))
    check(numbers("u.csv") == [0, 1, 2, 3, 4, 5], read("u.csv"))
    os.remove("l.csv")
    extend("soft", "x.npy", "-q", "--predict", "new.npy", "--predict-membership", "u.npy")
    check(doubles("u.npy") == [0, 1, 2, 3, 4, 5] and not os.path.exists("l.csv"), "memberships alone")
    extend("soft", "x.npy", "--predict-membership", "u.npy", code=64, err="--predict-membership needs --predict FILE")
    extend("soft", "x.npy", "--predict", "new.npy", code=64, err="--predict needs --predict-output")
    extend("soft", "-", "--predict", "-", "--predict-output", "l.csv", code=64, err="DATA and --predict cannot both")
    write("wide.csv", "1,2,3\n")
    extend("soft", "x.npy", "--predict", "wide.csv", "--predict-output", "l.csv", code=65, err="columns")
