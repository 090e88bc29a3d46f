"""ncut --predict: labels of new objects."""
import json
import math
import os
import random
import re

from harness import blobs, blobs_npy, case, check, cleave, csv, npy, read, read_npy_labels, read_rows, two_blocks, write


def predict(*args, k=3, data="x.npy", new="new.npy", out="p.npy", **options):
    return cleave("ncut", data, "-k", k, "-o", "l.npy", "--predict", new, "--predict-output", out, "-q", *args, **options)


def scores(weights, row, labels, k):
    """Formula (28) for an object with these similarities."""
    degrees = [sum(w) for w in weights]
    result = []
    for c in range(k):
        members = [i for i, label in enumerate(labels) if label == c]
        volume = sum(degrees[i] for i in members)
        within = sum(weights[i][j] for i in members for j in members)
        similar = sum(row[i] for i in members)
        result.append(2 * similar / volume - sum(row) * within / volume ** 2)
    return result


@case
def data_are_found_by_name():
    """--data has the columns of the result in any order, and is blamed where it does not."""
    points, _ = blobs()
    write("old.csv", "a,b\n" + "".join(f"{x},{y}\n" for x, y in points))
    write("turned.csv", "b,more,a\n" + "".join(f"{y},7,{x}\n" for x, y in points))
    write("few.csv", "a\n" + "".join(f"{x}\n" for x, y in points))
    for scale in ("none", "standard"):
        cleave("ncut", "old.csv", "-k", 3, "--scale", scale, "--json", "r.json", "-o", "l.csv", "-q")
        cleave("predict", "r.json", "old.csv", "-o", "n.csv", "--data", "old.csv", "-q")
        cleave("predict", "r.json", "old.csv", "-o", "t.csv", "--data", "turned.csv", "-q")
        cleave("predict", "r.json", "turned.csv", "-o", "t.csv", "--data", "old.csv", err="turned.csv: 2 columns used; not in the model: more\n")
        write("many.csv", ",".join(f"c{i}" for i in range(8)) + ",a,b\n" + "1," * 8 + "2,3\n")
        cleave("predict", "r.json", "many.csv", "-o", "m.csv", "--data", "old.csv", err="not in the model: c0, c1, c2, c3, c4 and 3 more\n")
        check(read("n.csv") == read("t.csv"), "columns in another order")
        cleave("predict", "r.json", "old.csv", "-o", "t.csv", "--data", "few.csv", code=65, err="few.csv has no column 'b', which the model was made of")


@case
def a_result_does_not_wait_for_new_objects():
    """There is no time to read them: the result is written, and the predictions are not."""
    points, _ = blobs()
    csv("p.csv", points)
    os.mkfifo("new.csv")
    pipe = os.open("new.csv", os.O_RDWR)  # nothing comes from it
    run = ("--predict", "new.csv", "--time-limit", 0.5, "--json", "r.json")
    cleave("kpalm", "p.csv", "-k", 3, *run, "--predict-output", "n.csv", "-o", "l.csv", err="^warning: there was no time to read the new objects of new.csv, so")
    check(len(read("l.csv").split()) == 61 and not os.path.exists("n.csv"), "labels alone")
    check("no time to read the new objects" in json.loads(read("r.json"))["warnings"][0], "the result says it")
    cleave("ncut", "p.csv", "-k", 3, *run, "--predict-output", "n.csv", "-o", "l.csv", "-q")
    npy("y.npy", [x for x, _ in points])
    cleave("ksupport", "p.csv", "y.npy", "-k", 1, "--loss", "squares", *run, "--scores", "s.csv", "-q")
    check(not os.path.exists("s.csv"), "no scores of other samples instead")
    os.close(pipe)


@case
def by_the_formula():
    points, _ = blobs_npy()
    new, _ = blobs(per=15, seed=2)
    npy("new.npy", new)
    top = max(math.dist(a, b) for a in points for b in points)
    kernels = {"gaussian": lambda d: math.exp(-0.3 * d * d), "exponential": lambda d: math.exp(-0.3 * d),
               "distance": lambda d: max(top - d, 0)}
    for kind, kernel in kernels.items():
        predict("--affinity", kind, "--gamma", 0.3)
        labels, found = read_npy_labels("l.npy"), read_npy_labels("p.npy")
        weights = [[kernel(math.dist(a, b)) for b in points] for a in points]
        check(len(found) == len(new), "a label each")
        for x, label in zip(new, found):
            values = scores(weights, [kernel(math.dist(x, y)) for y in points], labels, 3)
            check(values[label] >= max(values) - 1e-12, f"{kind}: {label} of {values}")


@case
def nearest_neighbors_by_the_formula():
    points, _ = blobs_npy()
    new, _ = blobs(per=15, seed=3)
    npy("new.npy", new)
    n = len(points)

    def nearest(x, own=None):
        return sorted((j for j in range(n) if j != own), key=lambda j: (math.dist(x, points[j]), j))[:8]

    lists = [nearest(points[i], i) for i in range(n)]
    for extra, weight in (([], lambda d: 1), (["--gamma", 0.5], lambda d: math.exp(-0.5 * d * d))):
        predict("--affinity", "knn", "--neighbors", 8, *extra)
        labels, found = read_npy_labels("l.npy"), read_npy_labels("p.npy")
        weights = [[weight(math.dist(points[i], points[j])) if i == j or i in lists[j] or j in lists[i] else 0
                    for j in range(n)] for i in range(n)]
        for x, label in zip(new, found):
            near = nearest(x)
            row = [weight(math.dist(x, points[j])) if j in near else 0 for j in range(n)]
            values = scores(weights, row, labels, 3)
            check(values[label] >= max(values) - 1e-12, f"{extra}: {label} of {values}")


@case
def near_an_old_cluster():
    points, truth = blobs_npy()
    new, new_truth = blobs(per=15, seed=3)
    npy("new.npy", new)
    for extra in ([], ["--home", "computed"], ["--home", "dense-f32"], ["--zero-diagonal"], ["--scale", "standard"],
                  ["--affinity", "knn"], ["--affinity", "cosine"]):
        predict("--start", "y.npy", *extra)
        labels, found = read_npy_labels("l.npy"), read_npy_labels("p.npy")
        check(set(found) <= set(labels), "labels of clusters")
        hits = sum(t == label for t, label in zip(new_truth, found))
        check("cosine" in extra or hits >= 42, f"{extra}: {hits} of 45")


@case
def scaled_by_the_columns_of_the_data():
    points, _ = blobs_npy()
    points = [[1000 * x, y / 1000] for x, y in points]
    npy("x.npy", points)
    # Alone, one point would be scaled to nothing: it is the columns of DATA that count.
    for scale in ("standard", "minmax", "unit-columns"):
        for i in (3, 25, 50):
            npy("new.npy", [points[i]])
            predict("--scale", scale)
            check(read_npy_labels("p.npy") == [read_npy_labels("l.npy")[i]], f"{scale}: point {i} is as it was")


@case
def given_similarities():
    npy("a.npy", two_blocks())
    npy("s.npy", [0, 0, 0, 1, 1, 1], "<i4")
    npy("new.npy", [[0, 0, 0, 0.1, 0.1, 0.1], [1.0, 1.0, 1.0, 0.1, 0.1, 0.1], [0.0] * 6])
    predict("--affinity", "precomputed", "--start", "s.npy", k=2, data="a.npy")
    labels, found = read_npy_labels("l.npy"), read_npy_labels("p.npy")
    check(found == [labels[5], labels[0], -1], f"{labels} {found}")
    write("new.mtx", "%%MatrixMarket matrix coordinate real general\n3 6 2\n1 6 0.5\n2 1 0.5\n")
    predict("--affinity", "precomputed", "--start", "s.npy", k=2, data="a.npy", new="new.mtx", out="p.csv")
    found = [int(v) for (v,) in read_rows("p.csv")]
    check(found == [labels[5], labels[0], -1], f"{labels} {found}")
    npy("narrow.npy", [[1.0, 0.0]])
    predict("--affinity", "precomputed", "--start", "s.npy", k=2, data="a.npy", new="narrow.npy", code=65,
            err="narrow.npy has 2 columns, but a.npy has 6 objects")
    npy("bad.npy", [[1.0, 0.0, 0.0, -0.5, 0.0, 0.0]])
    os.remove("l.npy")
    predict("--affinity", "precomputed", "--start", "s.npy", k=2, data="a.npy", new="bad.npy", out="q.npy", code=65,
            err="new object 1 to object 4 is -0.5")
    check(read_npy_labels("l.npy") == labels and not os.path.exists("q.npy"), "the clustering itself is written")


@case
def tables_with_and_without_labels():
    points, labels = blobs()
    csv("p.csv", points, labels, "x,y,group")
    csv("with.csv", points[:5], labels[:5], "x,y,group")
    csv("without.csv", points[:5], None, "x,y")
    for column in ("group", "3"):
        for new in ("with.csv", "without.csv"):
            predict("--label-column", column, data="p.csv", new=new)
            check(read_npy_labels("p.npy") == read_npy_labels("l.npy")[:5], f"{column} {new}")
    predict("--label-column", "none", data="p.csv", new="without.csv", code=65, err="without.csv has no column .group., which")
    predict("--label-column", "group", data="p.csv", new="-", stdin=read("with.csv"))
    check(read_npy_labels("p.npy") == read_npy_labels("l.npy")[:5], "standard input")


@case
def threads_do_not_change_the_labels():
    blobs_npy(per=50)
    npy("new.npy", blobs(per=100, seed=4)[0])
    for extra in ([], ["--affinity", "knn"], ["--affinity", "cosine"]):
        found = []
        for threads in (1, 2):
            predict("--threads", threads, *extra)
            found.append(read("p.npy"))
        check(found[0] == found[1], f"1 and 2 threads differ: {extra}")


@case
def refusals():
    blobs_npy()
    npy("new.npy", [[1.0, 2.0]])
    npy("wide.npy", [[1.0, 2.0, 3.0]])
    predict("--affinity", "minimax", code=64, err="--predict cannot be used with --affinity minimax")
    predict(new="wide.npy", code=65, err="wide.npy has 3 columns, but x.npy has 2")
    predict(new="none.npy", code=66, err="none.npy")
    predict(out="p.jpeg", code=73, err="p.jpeg.*npy")
    predict(out="no/such/p.npy", code=73, err="no/such")
    predict(out="new.npy", code=64, err="predict-output new.npy would overwrite the input")
    predict(out="x.npy", code=64, err="overwrite the input")
    predict(out="l.npy", code=64, err="--output and --predict-output both name l.npy")
    predict(data="-", new="-", code=64, err="standard input")
    cleave("ncut", "x.npy", "-k", 3, "-o", "new.npy", "--predict", "new.npy", "--predict-output", "p.npy", code=64,
           err="--output new.npy would overwrite the input")
    cleave("ncut", "x.npy", "-k", 3, "--predict", "new.npy", code=64, err="needs --predict-output FILE")
    cleave("ncut", "x.npy", "-k", 3, "--predict-output", "p.npy", code=64, err="needs --predict FILE")
    check(sorted(os.listdir(".")) == ["new.npy", "wide.npy", "x.npy", "y.npy"], "nothing was written")


def labels_in(path):
    return [line.split(",")[1] for line in read(path).decode().split()[1:]]


@case
def a_result_that_is_kept_labels_as_the_run_does():
    points, labels = blobs()
    names = [("ant", "bee", "cow")[c] for c in labels]
    rows = [f"{x},{7 * y + 30},{name}" for (x, y), name in zip(points, names)]
    write("old.csv", "a,b,y\n" + "".join(row + "\n" for row in rows[::2]))
    write("new.csv", "a,b\n" + "".join(row.rsplit(",", 1)[0] + "\n" for row in rows[1::2]))
    other = [f"{i},{7 * points[i][1] + 30},note {i},{points[i][0]}" for i in range(1, 60, 2)]  # another order, more columns
    write("other.csv", "id,b,note,a\n" + "".join(row + "\n" for row in other))
    for method in ("kpalm", "ncut", "symnmf", "dominant"):
        keep = [] if method == "kpalm" else ["--save-model"]
        cleave(method, "old.csv", "-k", 3, "--scale", "standard", "--predict", "new.csv", "--predict-output", "l.csv", "--json",
               "r.json", "-q", *keep)
        cleave("predict", "r.json", "other.csv", "-o", "p.csv", err="other.csv: 2 columns used; dropped: id .row names.")
        check(labels_in("p.csv") == labels_in("l.csv"), f"{method}: the same labels")
        check(read("p.csv").decode().split()[1].startswith("1,"), "ids of the new objects")
        cleave("predict", "r.json", "new.csv", "-o", "p.npy", "-q", err="^$")
        check(read_npy_labels("p.npy") == [int(v) for v in labels_in("l.csv")], f"{method}: by position of names")
        if keep:
            os.remove("r.clv")
            cleave("predict", "r.json", "new.csv", "-o", "q.csv", code=66, err="there is no r.clv: give them with --data.*--save-model")
            cleave("predict", "r.json", "new.csv", "-o", "q.csv", "--data", "old.csv", "-q")
            check(labels_in("q.csv") == labels_in("l.csv"), f"{method}: by the data")
    write("lack.csv", "b,c\n1,2\n")
    cleave("predict", "r.json", "lack.csv", "-o", "q2.csv", "--data", "old.csv", code=65,
           err="lack.csv has no column 'a', which the model was made of")
    check(not os.path.exists("q2.csv"), "nothing half-written")
    cleave("predict", "r.json", "new.csv", code=64, err="predict needs -o FILE")
    cleave("predict", "r.json", "new.csv", "-o", "r.json", code=73, err="must end in")
    cleave("ncut", "old.csv", "-k", 3, "--save-model", code=64, err="--save-model needs --json FILE")


@case
def kept_classes_and_probabilities():
    points, labels = blobs()
    write("x.csv", "a,b\n" + "".join(f"{x},{y}\n" for x, y in points))
    write("y.csv", "".join(("ant", "bee", "cow")[c] + "\n" for c in labels))
    cleave("ksupport", "x.csv", "y.csv", "-k", 2, "--lambda", 0.01, "--intercept", "--scale", "standard", "--json", "r.json", "-q",
           "--predict", "x.csv", "--predict-output", "l.csv", "--scores", "s.csv")
    cleave("predict", "r.json", "x.csv", "-o", "p.csv", "--probabilities", "q.csv", "--scores", "t.csv", "-q")
    check(labels_in("p.csv") == labels_in("l.csv") and set(labels_in("p.csv")) == {"ant", "bee", "cow"}, "names of classes")
    check(read("s.csv") == read("t.csv"), "the same scores")
    head, *rows = read("q.csv").decode().splitlines()
    check(head == "row,ant,bee,cow", head)
    for row, label in zip(rows, labels_in("p.csv")):
        shares = dict(zip(("ant", "bee", "cow"), map(float, row.split(",")[1:])))
        check(abs(sum(shares.values()) - 1) < 1e-12 and max(shares, key=shares.get) == label, f"{row}: {label}")
    write("r.json", read("r.json").decode().replace('"factor": [', '"factor": [1, '))
    cleave("verify", "r.json", "x.csv", "y.csv", code=1, out="^rejected: 2 columns are claimed to be shifted, but 3 to be scaled")


@case
def missing_cells_in_new_data():
    points, _ = blobs()
    write("old.csv", "a,b\n,0\n" + "".join(f"{x},{y}\n" for x, y in points))
    mean = sum(x for x, _ in points) / len(points)
    cleave("kpalm", "old.csv", "-k", 3, "--missing", "mean", "--json", "r.json", "-q", "-o", "l.csv")
    write("new.csv", "id,b,a\nu,1e6,\nv,0,\n")  # no a at all: its mean is that of the old objects
    write("full.csv", f"a,b\n{mean!r},1e6\n{mean!r},0\n")
    cleave("predict", "r.json", "new.csv", "-o", "p.csv", "-q")
    cleave("predict", "r.json", "full.csv", "-o", "q.csv", "-q")
    check(labels_in("p.csv") == labels_in("q.csv"), "the mean of the old objects")
    cleave("kpalm", "old.csv", "-k", 3, "--missing", "mean", "-q", "--predict", "new.csv", "--predict-output", "s.csv")
    check(labels_in("s.csv") == labels_in("q.csv"), "and in the run itself, by names")
    cleave("predict", "r.json", "new.csv", "-o", "p.csv", "-q", "--missing", "drop", code=65, err="would leave no row")
    write("new.csv", "b,a\n1e6,\n0,1\n")
    cleave("predict", "r.json", "new.csv", "-o", "p.csv", "-q", "--missing", "drop")
    check(labels_in("p.csv")[0] == "-1" != labels_in("p.csv")[1], "dropped")
    cleave("verify", "r.json", "old.csv")
    write("f.json", read("r.json").decode().replace('"fill": [', '"fill": [1'))
    cleave("verify", "f.json", "old.csv", code=1, out="not replaced by what is claimed")
    cleave("kpalm", "full.csv", "-k", 1, "--json", "r.json", "-q")
    cleave("predict", "r.json", "new.csv", "-o", "p.csv", code=65, err=r"'a' has 1 missing cell \(line 2\): --missing drop leaves out their rows$")


@case
def classes_of_columns_in_new_data():
    points, labels = blobs()
    write("old.csv", "a,b,city\n" + "".join(f"{x},{y},{('Rome', 'Oslo', 'Bonn')[i % 3]}\n" for i, (x, y) in enumerate(points)))
    cleave("kpalm", "old.csv", "-k", 3, "--categories", "onehot", "--label-column", "none", "--json", "r.json", "-q", "-o", "l.csv")
    lines = read("old.csv").decode().split()
    write("one.csv", "city,b,a\n" + "".join(",".join(lines[i].split(",")[::-1]) + "\n" for i in (1, 4, 7)))  # Rome alone
    cleave("predict", "r.json", "one.csv", "-o", "p.csv", "-q")
    check(labels_in("p.csv") == [labels_in("l.csv")[i] for i in (0, 3, 6)], "a class that is not there is a column of zeros")
    write("one.csv", "city,b,a\nRome,1,2\nKiel,3,4\nKiel,5,6\n")
    said = r"one.csv: 3 columns used; city became 3 columns\none.csv: warning: the model has no city=Kiel .2 rows.: "
    cleave("predict", "r.json", "one.csv", "-o", "p.csv", err=said)
    cleave("kpalm", "old.csv", "-k", 3, "--categories", "onehot", "--label-column", "none", "--predict", "one.csv", "--predict-output",
           "p.csv", err="one.csv: warning: the model has no city=Kiel .2 rows.")


@case
def new_data_without_names():
    """Columns are taken by their place, and that is said; what only names can tell is refused."""
    points, _ = blobs()
    write("old.csv", "a,b\n" + "".join(f"{x},{y}\n" for x, y in points))
    csv("bare.csv", points)
    csv("more.csv", [[x, y, x] for x, y in points])
    said = "bare.csv: warning: its columns have no names and are taken by their place: 'a' first\n"
    for method, *keep in (("kpalm",), ("ncut", "--save-model")):
        run = (method, "old.csv", "-k", 3, "--json", "r.json", *keep, "--predict")
        cleave(*run, "bare.csv", "--predict-output", "l.csv", err=said)
        cleave("predict", "r.json", "bare.csv", "-o", "p.csv", err=said)
        check(labels_in("p.csv") == labels_in("l.csv"), "the same labels")
        cleave("predict", "r.json", "bare.csv", "-o", "p.csv", "-q", err="^$")
        more = "more.csv has 3 columns without names, but the model was made of 2, 'a' first"
        cleave("predict", "r.json", "more.csv", "-o", "p.csv", code=65, err=more)
        cleave(*run, "more.csv", "--predict-output", "l.csv", code=65, err=more)
    cities = [f"{x},{('Rome', 'Oslo')[i % 2]}\n" for i, (x, _) in enumerate(points)]
    write("old.csv", "a,city\n" + "".join(cities))
    write("bare.csv", "".join(cities).replace("Rome", "Turin"))
    run = ("kpalm", "old.csv", "-k", 3, "--categories", "onehot", "--label-column", "none", "--json", "r.json", "-q")
    refused = "bare.csv has no names of columns, and the model has 'city=Oslo', which is found by its name alone: give it a header"
    cleave(*run)
    cleave("predict", "r.json", "bare.csv", "-o", "p.csv", code=65, err=refused)
    cleave(*run, "--predict", "bare.csv", "--predict-output", "l.csv", code=65, err=refused)


def edited(name, old, new):
    text = read(name).decode()
    check(old in text, f"{old} is not in {name}")
    return write("e.json", text.replace(old, new, 1))


@case
def other_points_than_those_that_were_clustered():
    points, _ = blobs()
    csv("a.csv", points)
    csv("b.csv", [[-y, x] for x, y in points])
    cleave("ncut", "a.csv", "-k", 3, "--json", "r.json", "--save-model", "-q")
    cleave("ncut", "b.csv", "-k", 3, "--json", "r.json", "-q")  # the model of a.csv stays
    cleave("predict", "r.json", "b.csv", "-o", "l.csv", code=65, err="r.clv.*are not those that were clustered")
    cleave("predict", "r.json", "b.csv", "-o", "l.csv", "--data", "a.csv", code=65, err="a.csv.*are not those that were clustered")
    cleave("predict", "r.json", "b.csv", "-o", "l.csv", "--data", "b.csv", "-q")
    cleave("verify", "r.json", "b.csv", out="^accepted")
    cleave("verify", "r.json", "a.csv", code=1, out="not those that were clustered")
    print_of = json.loads(read("r.json"))["data"]["fingerprint"]
    cleave("verify", edited("r.json", print_of, "0" * 16), "b.csv", code=1, out="fingerprint")


@case
def names_that_are_not_those_of_the_data():
    points, labels = blobs()
    write("x.csv", "a,b\n" + "".join(f"{x},{y}\n" for x, y in points))
    write("y.csv", "".join(("ant", "bee", "cow")[c] + "\n" for c in labels))
    cleave("ksupport", "x.csv", "y.csv", "-k", 2, "--json", "r.json", "-q")
    swapped = edited("r.json", '["ant", "bee", "cow"]', '["bee", "ant", "cow"]')
    cleave("verify", swapped, "x.csv", "y.csv", code=1, out="do not have the names that are claimed")
    cleave("verify", edited("r.json", '"columns": ["a", "b"]', '"columns": ["b", "a"]'), "x.csv", "y.csv", code=1,
           out="do not have the names that are claimed")
    cleave("predict", edited("r.json", '["ant", "bee", "cow"]', '["ant"]'), "x.csv", "-o", "l.csv", code=65, err="one name in class_names")
    cleave("predict", edited("r.json", '"classes": [0, 1, 2]', '"classes": [0, 1, 7]'), "x.csv", "-o", "l.csv", code=65,
           err="one name in class_names")
    write("twice.csv", "a,a\n" + "".join(f"{x},{y}\n" for x, y in points))
    cleave("kpalm", "twice.csv", "-k", 3, "--json", "t.json", "-q")
    cleave("predict", "t.json", "twice.csv", "-o", "l.csv", code=65, err="more than one column is named 'a'")
    cleave("predict", "t.json", "x.csv", "-o", "n.csv", "--scores", "s.csv", code=64, err="a prediction of kpalm has none")
    check(not os.path.exists("n.csv"), "refused before anything is written")


@case
def dropped_rows_are_dropped_from_the_second_file_too():
    points, labels = blobs()
    rows = [f"{x},{y}\n" for x, y in points]
    write("x.csv", "a,b\n" + "".join("NA,1\n" if i == 5 else row for i, row in enumerate(rows)))
    write("y.csv", "".join(("ant", "bee", "cow")[c] + "\n" for c in labels))
    cleave("ksupport", "x.csv", "y.csv", "-k", 2, "--missing", "drop", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.csv", "y.csv", out="^accepted")
    csv("w.csv", [[1.0 + i % 2] for i in range(len(points))])
    cleave("kpalm", "x.csv", "-k", 3, "--missing", "drop", "--sample-weights", "w.csv", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.csv", "w.csv", out="^accepted")


@case
def results_that_cannot_predict_say_so_before_anything_else():
    points, _ = blobs_npy()
    for extra in (["--json", "m.json"], []):
        cleave("ncut", "x.npy", "-k", 3, "--affinity", "minimax", "--save-model", *extra, code=64,
               err="--save-model cannot be used with --affinity minimax: ")
    check(not os.path.exists("m.json"), "refused before the run")
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "minimax", "--json", "m.json", "-q")
    cleave("predict", "m.json", "x.npy", "-o", "l.csv", code=65, err="m.json: a result with a minimax affinity cannot label new")
    cleave("kpalm", "x.npy", "-k", 3, "--save-model", code=64, err="no option --save-model, nor a need for one: --json FILE holds all")
    cleave("pursuit", "x.npy", "-k", 3, "--json", "m.json", "-q")
    cleave("predict", "m.json", "x.npy", "-o", "l.csv", code=65, err="m.json: results of 'pursuit' cannot label new objects")


@case
def a_rough_result_keeps_no_model():
    draw = random.Random(5)
    npy("x.npy", [[draw.gauss(0, 1) for _ in range(200)] for _ in range(3000)])
    for method in ("ncut", "symnmf"):
        cleave(method, "x.npy", "-k", 3, "--time-limit", 1e-6, "--json", "r.json", "--save-model", "-o", "l.csv",
               err="had no time to evaluate a start: .*\nwarning: no model is kept, as there is no affinity")
        check("no model is kept" in json.loads(read("r.json"))["warnings"][-1] and not os.path.exists("r.clv"), "and none is")
        for data in ([], ["--data", "x.npy"]):
            cleave("predict", "r.json", "x.npy", "-o", "p.csv", *data, code=65,
                   err=f"r.json: this rough result cannot label new objects: {method} was ended before it had the affinity")
        cleave(method, "x.npy", "-k", 3, "--time-limit", 1e-6, "-o", "l.csv", "--predict", "x.npy", "--predict-output", "n.csv", "--json", "r.json",
               err="had no time to evaluate a start: .*\nwarning: there are no predictions, as there is no affinity")
        check(len(labels_in("l.csv")) == 3000 and not os.path.exists("n.csv"), "labels alone")
    npy("a.npy", two_blocks())
    cleave("ncut", "a.npy", "-k", 2, "--affinity", "precomputed", "--json", "r.json", "--save-model", "-q")
    claim = json.loads(read("r.json"))
    claim["objective"]["value"] = claim["certificate"]["value"] = None  # ended between its affinity and its first start
    write("r.json", json.dumps(claim))
    cleave("predict", "r.json", "a.npy", "-o", "p.csv", err="r.json: warning: a rough result, of whose labels nothing is claimed")


@case
def messages_name_what_predict_has():
    """How a file is read is settled by the result: no option of another command is advised."""
    points, _ = blobs()
    write("old.csv", "a,b\n" + "".join(f"{x},{y}\n" for x, y in points))
    npy("old.npy", points)
    bad = {"text": "a,b\nu,1\nv,2\n", "dates": "a,b\n2024-01-05,1\n2024-01-06,2\n", "mixed": "a,b\n1,1\n2,2\n3,x\n", "odd": "a,b\n12%,1\n13%,2\n",
           "missing": "a,b\n,1\n2,2\n", "all": "a,b\n,1\n,2\n", "infinite": "a,b\ninf,1\n1,2\n", "digits": "a,b\n5 kg,1\n6 kg,2\n",
           "head": "1,u\n2,3\n4,5\n"}
    for data in ("old.csv", "old.npy"):
        cleave("kpalm", data, "-k", 3, "--json", "r.json", "-q")
        for name, text in bad.items():
            write("new.csv", text)
            said = cleave("predict", "r.json", "new.csv", "-o", "p.csv", code=65).err
            named = set(re.findall(r"--[a-z-]+", said))
            check(named <= {"--missing"}, f"{data}, {name}: {said}")
    write("new.csv", "a,b\n" + "".join(f"{i},{i}\n" for i in range(20)))
    check("--" not in cleave("predict", "r.json", "new.csv", "-o", "p.csv", err="new.csv").err, "no option for the columns of a model without names")


@case
def the_points_of_a_model_are_not_written_over():
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--save-model", "--json", "m.json", "-q")
    kept = open("m.clv", "rb").read()
    os.symlink("m.clv", "l.csv")
    cleave("predict", "m.json", "x.npy", "-o", "l.csv", "-q", code=64, err="would overwrite the input m.clv")
    check(open("m.clv", "rb").read() == kept, "nothing lost")


@case
def more_clusters_than_a_result_can_have():
    """No room is made for clusters that have no size, no label and no membership."""
    points, _ = blobs()
    csv("x.csv", points)
    cleave("ncut", "x.csv", "-k", 3, "--json", "r.json", "--save-model", "-q")
    cleave("dominant", "x.csv", "-k", 3, "--json", "d.json", "--save-model", "-q")
    for name in ("r", "d"):
        honest = json.loads(read(f"{name}.json"))
        write("e.clv", "")
        os.replace(f"{name}.clv", "e.clv")
        for k in (4, 61, 2_000_000_000):
            changed = dict(honest, k=k, options=dict(honest["options"], k=k))
            write("e.json", json.dumps(changed))
            cleave("predict", "e.json", "x.csv", "-o", "n.csv", code=65, err=f"e.json: 3 sizes are claimed for {k} clusters")
        write("e.json", json.dumps(dict(changed, k=61, sizes=honest["sizes"] + [0] * 58)))
        cleave("predict", "e.json", "x.csv", "-o", "n.csv", code=65, err="e.json: 61 clusters of 60 objects are claimed")
        write("e.json", json.dumps(dict(honest, labels=[3] + honest["labels"][1:])))
        cleave("predict", "e.json", "x.csv", "-o", "n.csv", code=65, err="label 3 of object 1 is not in -1..2")
    write("e.json", json.dumps(dict(honest, k=4, sizes=honest["sizes"] + [0])))
    cleave("predict", "e.json", "x.csv", "-o", "n.csv", code=65, err="with 3 rows or columns, but there must be 4|3 entries, but there must be 4")
