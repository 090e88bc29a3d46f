"""Input: formats, labels, and bad data, which are refused with their place."""
import os
import signal
import subprocess

import harness
from harness import blobs, blobs_npy, case, check, cleave, csv, npy, read, same_partition, two_blocks, write


@case
def csv_with_text_labels_is_measured_against_them():
    points, labels = blobs()
    names = [("red", "green", "blue")[c] for c in labels]
    csv("p.csv", points, names, "x,y,color")
    result = cleave("ncut", "p.csv", "-k", 3, "--restarts", 5, "--json", "-").json()
    check(result["n"] == 60 and result["metrics"]["ari"] > 0.9, "the label column is the truth")
    none = cleave("ncut", "p.csv", "-k", 3, "--label-column", "none", code=65, err=r"p\.csv")
    check("red" in none.err, "the text is named")


@case
def label_column_and_header_can_be_named():
    points, labels = blobs()
    csv("p.csv", points, labels, "x,y,group")
    named = cleave("ncut", "p.csv", "-k", 3, "--label-column", "group", "--json", "-").json()
    check("metrics" in named, "named by name")
    numbered = cleave("ncut", "p.csv", "-k", 3, "--label-column", 3, "--header", "yes", "--json", "-").json()
    check(numbered["labels"] == named["labels"], "named by number")
    plain = cleave("ncut", "p.csv", "-k", 3, "--json", "-").json()
    check("metrics" not in plain, "a column of numbers called group is not taken for labels")
    cleave("ncut", "p.csv", "-k", 3, "--label-column", "grup", code=64, err="grup")


@case
def standard_input():
    points, labels = blobs()
    text = read(csv("p.csv", points)).decode()
    from_file = cleave("ncut", "p.csv", "-k", 3, "--json", "-").json()
    from_stdin = cleave("ncut", "-", "-k", 3, "--json", "-", stdin=text.encode()).json()
    check(from_stdin["labels"] == from_file["labels"], "the same points, the same labels")


@case
def one_signal_ends_the_wait_for_data():
    os.mkfifo("p.csv")
    for number in (signal.SIGINT, signal.SIGTERM):
        for path in ("-", "p.csv"):  # a pipe that stays open, a FIFO that nobody writes to
            process = subprocess.Popen([harness.CLEAVE, "ncut", path, "-k", "3"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdin.write(b"1,2\n")
            process.stdin.flush()
            harness.wait_until_caught(process, number)
            process.send_signal(number)
            check(process.wait(timeout=20) == 130, f"{path}: exit {process.returncode}")
            check(b"interrupted" in process.communicate()[1], "it says why")


def plain_labels(points):
    csv("plain.csv", points)
    return cleave("ncut", "plain.csv", "-k", 3, "--json", "-").json()["labels"]


@case
def no_row_is_lost_as_a_header():
    points, _ = blobs()
    plain_labels(points)
    rows = read("plain.csv").decode()
    for line, place in (("NA,2", "column 1: 'NA'"), ("1.2.3,2", "column 1: '1.2.3'"), ('2,"1,000"', "column 2: '1,000'"),
                        ("0x10,2", "column 1: '0x10'")):
        write("p.csv", line + "\n" + rows)
        refused = cleave("ncut", "p.csv", "-k", 3, code=65, err=r"p\.csv line 1 ")
        check(place in refused.err and "(if the first line names the columns, use --header yes)" in refused.err,
              refused.err)
        result = cleave("ncut", "p.csv", "-k", 3, "--header", "yes", "--json", "-").json()
        check(result["n"] == 60, "with --header yes the line names the columns")


@case
def row_numbers_and_row_names_are_not_clustered():
    points, _ = blobs()
    expected = plain_labels(points)
    rows = read("plain.csv").decode().split()
    files = {
        "pandas": [",a,b"] + [f"{i},{row}" for i, row in enumerate(rows)],
        "R write.csv": ['"","a","b"'] + [f'"{i + 1}",{row}' for i, row in enumerate(rows)],
        "R write.table": ['"a" "b"'] + [f'"{i + 1}" ' + row.replace(",", " ") for i, row in enumerate(rows)],
        "row names": ["a,b"] + [f"object {i},{row}" for i, row in enumerate(rows)],
        "a column called Id": ["a,b,Id"] + [f"{row},{i + 1}" for i, row in enumerate(rows)],
    }
    for name, lines in files.items():
        write("p.csv", "\n".join(lines) + "\n")
        result = cleave("ncut", "p.csv", "-k", 3, "--json", "-").json()
        check(result["labels"] == expected and "metrics" not in result, f"{name}: the same points, the same labels")
    names = "\n".join(["a,b,name"] + [f"{row},object {i}" for i, row in enumerate(rows)]) + "\n"
    write("p.csv", names)
    cleave("ncut", "p.csv", "-k", 3, code=65, err=r"p\.csv column 3 'name'.*--label-column 3")
    cleave("ncut", "p.csv", "-k", 3, "--label-column", "name", out="ncut")


@case
def verbose_says_how_the_columns_were_understood():
    points, labels = blobs()
    plain_labels(points)
    cleave("ncut", "plain.csv", "-k", 3, "-v", err=r"(?m)^plain\.csv: no header$")
    lines = [",a,b,Variety"] + [f"{i},{x},{y},{labels[i]}" for i, (x, y) in enumerate(points)]
    write("p.csv", "# points\n" + "\n".join(lines) + "\n")
    cleave("ncut", "p.csv", "-k", 3, "-v",
           err=r"(?m)^p\.csv: header in line 2; labels in column 4 'Variety'; column 1 dropped as row numbers$")


@case
def truth_file():
    _, labels = blobs_npy()
    result = cleave("ncut", "x.npy", "-k", 3, "--restarts", 5, "--truth", "y.npy", "--json", "-").json()
    check(set(result["metrics"]) >= {"ari", "nmi", "v_measure", "accuracy", "vi", "purity", "assignment_rate"}, "names")
    check(result["metrics"]["assignment_rate"] == 1, "all objects have a label")
    cleave("ncut", "x.npy", "-k", 3, "--truth", "y.npy", out="(?i)ari")
    npy("short.npy", labels[1:], "<i4")
    cleave("ncut", "x.npy", "-k", 3, "--truth", "short.npy", code=65, err="short.npy has 59 labels.* 60 objects")
    cleave("ncut", "x.npy", "-k", 3, "--truth", "none.npy", code=66, err="none.npy")


@case
def precomputed_npy_and_mtx():
    matrix = two_blocks()
    npy("a.npy", matrix)
    entries = [(i + 1, j + 1, v) for i, row in enumerate(matrix) for j, v in enumerate(row) if j <= i]
    write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n6 6 " + str(len(entries)) + "\n"
          + "".join(f"{i} {j} {v}\n" for i, j, v in entries))
    objectives = []
    for path, home in (("a.npy", "dense-f64"), ("a.mtx", "sparse")):
        result = cleave("ncut", path, "-k", 2, "--affinity", "precomputed", "--restarts", 10, "--json", "-").json()
        check(same_partition(result["labels"], [0, 0, 0, 1, 1, 1]), f"{path}: the two blocks")
        check(result["affinity"]["home"] == home, f"{path}: home {result['affinity']['home']}")
        objectives.append(result["objective"]["value"])
    # By hand: cut 0.9, volume 9.9 for each block.
    check(all(abs(v - 0.9 / 9.9) < 1e-12 for v in objectives), f"ncut of two blocks: {objectives}")
    cleave("ncut", "a.npy", "-k", 2, "--affinity", "precomputed", "--scale", "standard", code=64, err="--scale")
    cleave("ncut", "a.npy", "-k", 2, "--affinity", "precomputed", "--silhouette", code=64, err="--silhouette")


@case
def bad_similarities():
    for change, place in (((1, 2, -0.5), "-0.5"), ((1, 2, 0.75), "0.75")):
        matrix = two_blocks()
        i, j, value = change
        matrix[i][j] = value
        if value < 0:
            matrix[j][i] = value
        npy("bad.npy", matrix)
        cleave("ncut", "bad.npy", "-k", 2, "--affinity", "precomputed", code=65, err=r"bad\.npy: .*" + place)
    npy("wide.npy", [[1.0, 0.5, 0.2], [0.5, 1.0, 0.1]])
    cleave("ncut", "wide.npy", "-k", 2, "--affinity", "precomputed", code=65, err=r"wide\.npy: .*2 rows")


@case
def not_a_number_is_refused_with_its_place():
    write("p.csv", "1,2\n3,nan\n5,6\n")
    cleave("ncut", "p.csv", "-k", 2, code=65, err=r"p\.csv.*2.*2")
    npy("p.npy", [[1.0, 2.0], [3.0, float("inf")]])
    cleave("ncut", "p.npy", "-k", 2, code=65, err=r"p\.npy.*2.*2")


@case
def bad_files():
    write("ragged.csv", "1,2\n3,4,5\n6,7\n")
    cleave("ncut", "ragged.csv", "-k", 2, code=65, err=r"ragged\.csv.*2")
    write("empty.csv", "")
    cleave("ncut", "empty.csv", "-k", 2, code=65, err=r"empty\.csv")
    blobs_npy()
    whole = read("x.npy")
    with open("cut.npy", "wb") as file:
        file.write(whole[:-100])
    cleave("ncut", "cut.npy", "-k", 2, code=65, err=r"cut\.npy")
    with open("text.npy", "w") as file:
        file.write("no numpy here")
    cleave("ncut", "text.npy", "-k", 2, code=65, err=r"text\.npy")


@case
def no_such_input():
    cleave("ncut", "none.npy", "-k", 2, code=66, err=r"none\.npy")
    os.mkdir("folder.npy")
    cleave("ncut", "folder.npy", "-k", 2, code=66, err=r"folder\.npy")
    cleave("ncut", "notes.doc", "-k", 2, code=64, err=r"notes\.doc.*npy")
    cleave("eval", "none.npy", "none.npy", code=66, err=r"none\.npy")
    cleave("verify", "none.json", "none.npy", code=66, err=r"none\.json")


@case
def more_clusters_than_objects():
    blobs_npy(per=2)
    cleave("ncut", "x.npy", "-k", 7, code=65, err="k = 7 exceeds the 6 rows of x.npy")


@case
def start_from_labels():
    _, labels = blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--start", "y.npy", "--json", "r.json", "-q")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    npy("short.npy", labels[1:], "<i4")
    cleave("ncut", "x.npy", "-k", 3, "--start", "short.npy", code=65, err="short.npy has 59 labels")
    cleave("ncut", "x.npy", "-k", 3, "--start", "randm", code=64, err="randm.*, or a file of labels")
    cleave("ncut", "x.npy", "-k", 3, "--start", "none.npy", code=66, err="none.npy")


@case
def scalings():
    blobs_npy()
    values = {}
    for scale in ("none", "standard", "minmax", "unit-columns", "unit-rows"):
        result = cleave("ncut", "x.npy", "-k", 3, "--scale", scale, "--gamma", 1, "--json", "-").json()
        check(result["options"]["scale"] == scale, "the result says how the points were scaled")
        values[scale] = result["objective"]["value"]
    check(len(set(values.values())) == 5, f"each scaling is another problem: {values}")
