"""Input: formats, labels, and bad data, which are refused with their place."""
import gzip
import json
import os
import random
import re
import signal
import struct
import subprocess

import harness
from harness import blobs, blobs_npy, case, check, cleave, csv, npy, read, read_rows, same_partition, two_blocks, write


@case
def csv_with_text_labels_is_measured_against_them():
    points, labels = blobs()
    names = [("red", "green", "blue")[c] for c in labels]
    csv("p.csv", points, names, "x,y,color")
    result = cleave("ncut", "p.csv", "-k", 3, "--restarts", 5, "--json", "-").json()
    check(result["n"] == 60 and result["metrics"]["ari"] > 0.9, "the label column is the truth")
    none = cleave("ncut", "p.csv", "-k", 3, "--label-column", "none", code=65, err=r"p\.csv: column 3 'color' holds text")
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
def standard_input_has_its_name_in_messages():
    few, large, short = b"1,2\n1,2\n", b"1e200,2\n1,2\n1,2\n", b"1,2\n2,1\n3,1\n"
    csv("y.csv", [[1], [2]])
    for command, text, said in ((("ncut", "-", "-k", 2), large, "standard input: points row 1 column 1: 1e.200 is too large"),
                                (("kpalm", "-", "-k", 2), large, "standard input row 1 column 1: 1e.200 is too large"),
                                (("affinity", "-", "-o", "a.npy", "--affinity", "cosine"), large, "standard input: points row 1 column 1"),
                                (("ncut", "-", "-k", 3), few, "k = 3 exceeds the 2 rows of standard input$"),
                                (("ncut", "-", "-k", "auto"), b"1,2\n", "needs at least 2 objects, and standard input has 1$"),
                                (("ksupport", "-", "y.csv", "-k", 1), short, "y.csv has 2 targets, but standard input has 3 samples"),
                                (("ksupport", "y.csv", "-", "-k", 1), b"1\n2\n3\n", "standard input has 3 targets, but y.csv has 2 samples"),
                                (("ksupport", "-", "y.csv", "-k", 3), few, "k = 3 exceeds the 2 features of standard input$"),
                                (("text", "-", "-o", "t.npy"), b'{"text": "a"}\n', "standard input: the vocabulary is empty")):
        cleave(*command, stdin=text, code=65, err=f"^cleave {command[0]}: (.* )?{said}")


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
    for line, place in (("1.2.3,2", "column 1: '1.2.3'"), ('2,"1,000"', "column 2: '1,000'"),
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
    names = "\n".join(["a,b,pet"] + [f"{row},object {i}" for i, row in enumerate(rows)]) + "\n"
    write("p.csv", names)
    cleave("ncut", "p.csv", "-k", 3, code=65, err=r"p\.csv: column 3 'pet'.*--label-column 'pet'")
    cleave("ncut", "p.csv", "-k", 3, "--label-column", "pet", out="ncut")


@case
def numbers_that_name_columns():
    points, _ = blobs()
    expected = plain_labels(points)
    rows = read("plain.csv").decode().split()
    files = {
        "to_csv()": [",0,1"] + [f"{i},{row}" for i, row in enumerate(rows)],
        "to_csv(index=False)": ["0,1"] + rows,
        "with labels": ["0,1,label"] + [f"{row},a" for row in rows],
        "R, years": ['"","2019","2020"'] + [f'"{i + 1}",{row}' for i, row in enumerate(rows)],
        "ids and numbers": ["id,0,1"] + [f"{7 * i % 61},{row}" for i, row in enumerate(rows)],
        "colors": ["color,a,b"] + [f"#ff{i:04x},{row}" for i, row in enumerate(rows)],
    }
    for name, lines in files.items():
        write("p.csv", "\n".join(lines) + "\n")
        result = cleave("ncut", "p.csv", "-k", 3, "--json", "-").json()
        check(result["labels"] == expected, f"{name}: the same points, the same labels")
    write("p.csv", "\n".join(files["to_csv(index=False)"]) + "\n")
    cleave("ncut", "p.csv", "-k", 3, "--header", "no", out="no header; 2 columns used")
    cleave("ncut", "p.csv", "-k", 3, "-o", "o.csv", "--output-data", "-q")
    check(read("o.csv").decode().startswith("0,1,label\n"), "the header stays one")
    cleave("ncut", "o.csv", "-k", 3, out="2 columns used; truth: label")


def ranged_ids_are_no_features(lines):
    """In --columns, a range leaves out the ids in it; a column named by itself is taken, with a warning."""
    for name, first, alone in (("", "1", "1"), ("id", "id", "id")):
        write("p.csv", "\n".join([name + lines[0]] + lines[1:]) + "\n")
        shown = re.escape(name or "column 1")
        for columns in ("1-3", f"{first}-b", f"{first}-2,b"):
            run = cleave("kpalm", "p.csv", "-k", 3, "--columns", columns, "-o", "l.csv", "--json", "r.json", "-v", err="2 columns used")
            check(re.search(rf"2 columns used; truth: Variety; dropped: {shown} .row names.", run.out), f"{columns}: {run}")
            check(read("l.csv").decode().split()[1].split(",")[0] == lines[1].split(",")[0], "the labels keep the id")
            cleave("verify", "r.json", "p.csv", out="^accepted")
            cleave("predict", "r.json", "p.csv", "-o", "n.csv", "-q")
            check(read("n.csv") == read("l.csv"), "the same labels")
        cleave("kpalm", "p.csv", "-k", 3, "--columns", f"{alone},b", "--json", "r.json", out="2 columns used",
               err="column 1.* has a different whole number in every row and is used as a feature")
        cleave("predict", "r.json", "p.csv", "-o", "n.csv", "-q")
    cleave("kpalm", "p.csv", "-k", 3, "--columns", "1-1,b", out="2 columns used", err="different whole number")


@case
def what_was_used_of_a_file_is_always_said():
    points, labels = blobs()
    plain_labels(points)
    cleave("ncut", "plain.csv", "-k", 3, out=r"(?m)^data +no header; 2 columns used$")
    order = list(range(60))
    random.Random(1).shuffle(order)
    lines = [",a,b,Variety"] + [f"{i},{points[i][0]},{points[i][1]},{labels[i]}" for i in order]
    write("p.csv", "\n".join(lines) + "\n")
    used = "2 columns used; truth: Variety; dropped: column 1 (row names)"
    run = cleave("ncut", "p.csv", "-k", 3, "-o", "l.csv", "--report", "r.html", out=f"(?m)^data +{re.escape(used)}$")
    check("warning" not in run.err, run.err)
    check(used in read("r.html").decode(), "the page")
    check([line.split(",")[0] for line in read("l.csv").decode().split()] == ["id"] + [str(i) for i in order], "ids")
    result = cleave("ncut", "p.csv", "-k", 3, "--json", "r.json", "-q") and json.loads(read("r.json"))
    check(len(result["data"].pop("fingerprint")) == 16 and result["data"] == {"used": used, "columns": ["a", "b"]}, str(result["data"]))
    cleave("verify", "r.json", "p.csv", out="^accepted")
    write("r.json", read("r.json").decode().replace("2 columns used", "3 columns used"))
    cleave("verify", "r.json", "p.csv", code=1, out='^rejected: the result used "3 columns used')
    cleave("ncut", "p.csv", "-k", 3, "--id-column", "none", "--columns", "1-3", err="^$", out="3 columns used; truth: Variety")
    ranged_ids_are_no_features(lines)
    lines[0] = "code,a,b,Variety"
    write("p.csv", "\n".join(lines) + "\n")
    cleave("ncut", "p.csv", "-k", 3, err="p.csv: warning: column 1 'code' has a different whole number in every row.*use --id-column 1")
    cleave("ncut", "p.csv", "-k", 3, "-q", err="^$")
    for method in (("ncut", "-k", 3), ("kpalm", "-k", 3), ("symnmf", "-k", 3), ("dominant", "-k", 3), ("pursuit", "-k", 99), ("ksupport", "-k", 2)):
        result = cleave(method[0], "p.csv", *method[1:], "--json", "r.json", "-q") and json.loads(read("r.json"))
        check([w for w in result["warnings"] if w.startswith("column 1 'code' has a different")] != [], f"{method}: {result['warnings']}")
    cleave("verify", "r.json", "p.csv", out="^accepted")


@case
def missing_cells_and_text():
    points, labels = blobs()
    rows = [[f"{x:.4f}", f"{y:.4f}", ("red", "blue")[i % 2], str(labels[i])] for i, (x, y) in enumerate(points)]
    rows[3][0], rows[7][1], rows[7][0] = "", "NA", "?"
    write("p.csv", "\n".join(",".join(row) for row in [["a", "b", "color", "y"]] + rows) + "\n")
    cleave("kpalm", "p.csv", "-k", 3, code=65, err=r"p\.csv: columns 1 'a' \(2 cells, lines 5 and 9\) and 2 'b' \(1 cell, line 9\) have 3 missing cells: --missing drop, "
           r"mean or median; column 3 'color' holds text.*--categories onehot$")
    how = ("--categories", "onehot", "--missing", "drop")
    cleave("kpalm", "p.csv", "-k", 3, *how, "-o", "l.csv", "--json", "r.json", "--centers", "c.csv", "--truth", "p.csv",
           out="3 columns used; dropped: y .labels.; color became 2 columns; 2 rows with missing cells dropped .-1 in files of labels.")
    written = [line.split(",") for line in read("l.csv").decode().split()]
    check(written[0] == ["row", "label"] and len(written) == 61, "a label for each row of the file")
    check([row for row, label in written if label == "-1"] == ["4", "8"], "rows that were dropped have -1")
    result = json.loads(read("r.json"))
    check(result["n"] == 58 and result["data"]["dropped"] == [3, 7], "58 objects, and which rows are not among them")
    kept = [row for row in range(60) if row not in result["data"]["dropped"]]
    check({str(row + 1): str(label) for row, label in zip(kept, result["labels"])} == {row: label for row, label in written[1:] if label != "-1"}, "labels")
    for name in ("m.npy", "m.csv"):
        cleave("symnmf", "p.csv", "-k", 3, *how, "--membership", name, "-q")
    soft = read_rows("m.csv")
    check([i for i, row in enumerate(soft) if row == [0, 0, 0]] == [3, 7] and len(soft) == 60, "rows that were dropped belong to no cluster")
    check(read("m.npy").endswith(struct.pack("<180d", *sum(soft, []))), "and so they do without names")
    check(read("c.csv").decode().startswith("a,b,color=blue,color=red\n"), read("c.csv"))
    cleave("verify", "r.json", "p.csv", out="^accepted")
    write("f.json", read("r.json").decode().replace('"dropped": [3, 7]', '"dropped": [3, 8]'))
    cleave("verify", "f.json", "p.csv", code=1, out="^rejected: other rows of p.csv are dropped than is claimed")
    write("w.csv", "a,city,kind\n" + "".join(f"{i / 7},t{i % 3900},k{i % 2}\n" for i in range(4000)))
    cleave("kpalm", "w.csv", "-k", 3, "--categories", "onehot", "--memory", "50M", code=71,
           err=r"w\.csv takes too much memory to read: column 2 'city' has 3900 classes, a column each: --drop 2 \(.*budget of .*--memory")
    cleave("kpalm", "p.csv", "-k", 3, "--drop", "color", "--missing", "median", "--json", "r.json",
           out="2 columns used; truth: y; dropped: color .as asked.; 3 missing cells replaced by the median")
    cleave("verify", "r.json", "p.csv", out="^accepted")
    rows = [[*row[:2], f"n{i}", row[3]] for i, row in enumerate(rows)]
    write("q.csv", "\n".join(",".join(row) for row in [["a", "b", "nick", "y"]] + rows) + "\n")
    cleave("kpalm", "q.csv", "-k", 3, *how, err="q.csv: warning: column 3 'nick' became 60 columns, as its text is another one "
           "in most of the 60 rows: if it only names them, use --drop 3\n")
    cleave("kpalm", "p.csv", "-k", 3, "--drop", "colour", code=64, err=r"p.csv has no column 'colour' .--drop.: its columns are a, b, color, y")


@case
def a_hundred_columns_of_text():
    """No fewer than of numbers."""
    write("x.csv", ",".join(f"c{j}" for j in range(100)) + "\n" + "".join(",".join("ab"[(i >> j % 3) & 1] for j in range(100)) + "\n" for i in range(8)))
    cleave("kpalm", "x.csv", "-k", 2, "--categories", "onehot", out="centers +2 x 200")


@case
def decimal_commas_and_gzip():
    points, _ = blobs()
    expected = plain_labels(points)
    write("p.csv", "a;b\n" + "".join(f"{x:.6f};{y:.6f}\n".replace(".", ",") for x, y in points))
    result = cleave("ncut", "p.csv", "-k", 3, "--json", "-").json()
    check(result["labels"] == expected and "decimal commas" in result["data"]["used"], result["data"]["used"])
    with gzip.open("q.csv.gz", "wb") as file:
        file.write(read("p.csv"))
    cleave("ncut", "q.csv.gz", "-k", 3, "-q", "-o", "l.csv.gz")
    with gzip.open("l.csv.gz", "rt") as file:
        check([int(line.split(",")[1]) for line in file.readlines()[1:]] == expected, "the same points, the same labels")
    cleave("eval", "l.csv.gz", "l.csv.gz", out="ari +1")


@case
def an_index_that_was_shuffled():
    """As pandas and R write a series or a frame after a split."""
    write("t.csv", ",species\n7,a\n3,b\n5,a\n1,b\n")
    write("l.csv", ",species\n3,b\n7,a\n1,a\n5,a\n")
    found = cleave("eval", "t.csv", "l.csv", "--classes", "--json", "-").json()
    check(found["matched"] == "id" and found["accuracy"] == 0.75, f"{found}")
    write("l.csv", "id,label\n3,b\n7,-1\n1,a\n5,a\n")
    found = cleave("eval", "t.csv", "l.csv", "--classes", "--json", "-").json()
    check(found["compared"] == 3 and abs(found["accuracy"] - 2 / 3) < 1e-12 and len(found["classes"]) == 2, f"{found}")
    found = cleave("eval", "t.csv", "l.csv", "--json", "-").json()
    check(found["compared"] == 3 and found["clusters"] == 2, f"{found}")
    cleave("eval", "t.csv", "l.csv", "--header", "yes", code=64, err="--data")
    write("x.csv", ",city,color\n7,Rome,red\n3,Paris,blue\n5,Rome,red\n1,Oslo,blue\n9,Rome,blue\n")
    cleave("kpalm", "x.csv", "-k", 2, "--categories", "onehot", out="--header no.*city became 3 columns")
    write("r.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n8,9\n")
    cleave("kpalm", "r.csv", "-k", 2, code=65, err="lines 3 and 4 have other numbers of fields")


@case
def labels_on_standard_output():
    points, _ = blobs()
    expected = plain_labels(points)
    run = cleave("ncut", "plain.csv", "-k", 3, "-o", "-", err="^plain.csv: no header; 2 columns used$")
    lines = run.out.split()
    check(lines[0] == "row,label" and [int(line.split(",")[1]) for line in lines[1:]] == expected, "labels and nothing else")
    cleave("ncut", "plain.csv", "-k", 3, "-o", "-", "--json", "-", code=64, err="both be standard output")


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


@case
def centers_in_either_unit():
    points, _ = blobs()
    write("p.csv", "a,b\n" + "".join(f"{x},{100 * y + 1000}\n" for x, y in points))
    run = ("kpalm", "p.csv", "-k", 3, "--scale", "standard", "-q", "--solver", "lloyd")
    cleave(*run, "--centers", "s.csv", "-o", "l.csv")
    cleave(*run, "--centers", "d.csv", "--units", "data")
    head, *rows = read("d.csv").decode().split()
    check(head == "a,b" and read("s.csv").decode().startswith("a,b\n"), head)
    labels = [int(line.split(",")[1]) for line in read("l.csv").decode().split()[1:]]
    for c, row in enumerate(rows):
        mine = [(x, 100 * y + 1000) for (x, y), label in zip(points, labels) if label == c]
        mean = [sum(values) / len(mine) for values in zip(*mine)]
        check(all(abs(float(v) - m) < 1e-6 * abs(m) + 1e-6 for v, m in zip(row.split(","), mean)), f"{row}: {mean}")
    check(abs(float(read("s.csv").decode().split()[1].split(",")[1])) < 5, "scaled ones are small")


@case
def small_files_and_other_formats():
    write("f.csv", "a,b\n1,2\n3,\n4,5\n,6\n7,9\n")
    cleave("kpalm", "f.csv", "-k", 4, "--missing", "drop", code=65, err="k = 4 exceeds the 3 rows of f.csv that have no missing cells$")
    for name in ("x.parquet", "x.xlsx"):
        cleave("kpalm", write(name, "PAR1"), "-k", 2, code=64, err=f"{name}: such files are not read: save it as .csv, or give what pandas reads of it to the Python package")
    cleave("kpalm", write("e.clv", ""), "-k", 2, code=65, err="e.clv is empty")


@case
def labels_beside_all_columns():
    points, _ = blobs()
    lines = ["id;a;b;note"] + [f'{i};{x:.4f};{y:.4f};"n; {i}"'.replace(".", ",") for i, (x, y) in enumerate(points)]
    lines[5] = '4;;7,5;"n; 4"'
    write("p.csv", "# made by hand\n" + "\r\n".join(lines) + "\r\n")
    run = ("kpalm", "p.csv", "-k", 3, "--drop", "note", "--missing", "drop")
    cleave(*run, "-o", "o.csv", "--output-data", "-q")
    cleave(*run, "-o", "l.csv", "-q")
    labels = [line.split(",")[1] for line in read("l.csv").decode().split()[1:]]
    check(labels[4] == "-1" and "-1" not in labels[:4] + labels[5:], "the row that was dropped")
    expected = [lines[0] + ";label"] + [f"{line};{label}" for line, label in zip(lines[1:], labels)]
    check(read("o.csv").decode().split("\r\n")[:-1] == expected, read("o.csv").decode()[:200])
    for end in ("\n", "\r\n", "\r"):
        write("m.csv", "\ufeff" + end.join(lines) + end)
        cleave("kpalm", "m.csv", *run[2:], "-o", "o.csv", "--output-data", "-q")
        check(read("o.csv").decode() == "\ufeff" + end.join(expected) + end, f"mark and ends {end!r}: {read('o.csv')[:99]}")
    check(cleave(*run, "-o", "-", "--output-data", "-q").out.splitlines()[0] == lines[0] + ";label", "standard output")
    write("p.csv", "a,b,label\n" + "".join(f"{x},{y},u\n" for x, y in points))
    cleave("kpalm", "p.csv", "-k", 3, "-o", "o.csv", "--output-data", "-q")
    check(read("o.csv").decode().startswith("a,b,label,cluster\n"), "a name of its own")
    npy("x.npy", points)
    cleave("kpalm", "x.npy", "-k", 3, "-o", "o.csv", "--output-data", code=64, err="x.npy is no .csv, .tsv or .txt file")
    cleave("kpalm", "p.csv", "-k", 3, "-o", "o.npy", "--output-data", code=64, err="--output-data needs -o FILE.csv or FILE.tsv")


@case
def a_name_of_two_columns_is_that_of_none():
    write("t.csv", "a,b,a\n" + "".join(f"{i},{i * i % 7},{-i % 5}\n" for i in range(20)))
    for option in ("--columns", "--drop", "--id-column", "--label-column"):
        cleave("kpalm", "t.csv", "-k", 2, option, "a", code=64,
               err=f"{option}: t.csv has more than one column 'a', as columns 1 and 3: say which by its number$")
    cleave("kpalm", "t.csv", "-k", 2, "--columns", "1,3", out="2 columns used", err="columns 1 and 3 are both named .a.: new objects cannot be labeled")


@case
def points_too_large_to_be_squared():
    write("large.csv", "x,y\n1,2\n3,1.1e151\n2,2\n4,5\n")
    for method in ("ncut", "kpalm"):
        cleave(method, "large.csv", "-k", 2, code=65, err="1.1e.151 is too large to be squared: at most 1e.* is allowed; take another unit, or --scale")


@case
def counts_too_large_to_be_counted_are_told_as_they_stand():
    many = "99999999999999999999"
    for size, entry in ((f"{many} 3 1", "1 1 1"), (f"3 {many} 1", "1 1 1"), (f"3 3 {many}", "1 1 1"), ("3 3 1", f"1 {many} 1")):
        write("m.mtx", f"%%MatrixMarket matrix coordinate real general\n{size}\n{entry}\n")
        cleave("kpalm", "m.mtx", "-k", 2, code=65, err=f"m.mtx line [23]: '{many}' is too large")


@case
def columns_that_take_too_much_memory_to_scale():
    write("wide.svm", "1 2147483647:1\n0 1:1\n")
    cleave("ksupport", "wide.svm", "-k", 1, "--scale", "unit-columns", "--memory", "200M", code=71,
           err="wide.svm has 2147483647 columns, which take too much memory to scale: .*--memory.*; allow more, or leave out --scale")


@case
def what_a_method_cannot_use_is_told_with_its_file():
    write("near.csv", "1e-76,0\n0,1e-76\n0,2e-76\n")
    cleave("kpalm", "near.csv", "-k", 2, code=65, err="near.csv: the points and centers spread over 1.*e-76.*scale them")


@case
def points_too_small_to_be_squared():
    points, _ = blobs()
    write("small.csv", "".join(f"{x * 1e-160!r},{y * 1e-160!r}\n" for x, y in points))
    for method in ("ncut", "symnmf", "dominant"):
        cleave(method, "small.csv", "-k", 3, code=65, err="small.csv: points: the largest number, .*e-1.*, is too small to be squared: scale them")
    cleave("ncut", "small.csv", "-k", 3, "--scale", "standard")
    npy("zero.npy", [[0.0, 0.0]] * 5)
    cleave("ncut", "zero.npy", "-k", 2)


@case
def every_kind_of_problem_is_said_once():
    head = [f"m{i}" for i in range(12)] + ["city", "joined", "left", "big"]
    row = ["1"] * 12 + ["Rome", "2024-01-31", "2024-02-01", "1"]
    rows = [row, [""] * 12 + row[12:15] + ["inf"], row, ["2"] * 12 + ["Oslo", "2024-01-30", "2024-02-02", "3"]]
    write("p.csv", "\n".join(map(",".join, [head] + rows)) + "\n")
    refused = cleave("kpalm", "p.csv", "-k", 2, code=65, err=r"p\.csv: columns 1 'm0' \(1 cell, line 3\), 2 'm1' ")
    for said in (" and 4 more have 12 missing cells: --missing drop, mean or median; ",
                 "; column 13 'city' holds text, not numbers ('Rome' in line 2): --drop 'city', ",
                 "; columns 14 'joined' ('2024-01-31' in line 2) and 15 'left' ('2024-02-01' in line 2) hold dates, not numbers: "
                 "replace them by numbers, such as days since the first one, or --drop 14-15; ",
                 "; column 16 'big' has 1 infinite cell (line 3): 'inf' in line 3 is not a finite number: correct or empty it, or --drop 'big'"):
        check(said in refused.err, f"{said!r} in {refused.err}")
    check(refused.err.count("missing cells") == 1, refused.err)
    write("t.csv", "Report of sales\n\na,b\n1,2\n3,4\n5,6\n")
    cleave("kpalm", "t.csv", "-k", 2, code=65, err="t.csv: line 1 has 1 field, but lines 3, 4, 5, ... have 2: if it is a title above the table, "
           "take it out or put # before it$")
    write("t.csv", "Sales of 2023\n\na;b;c\n1;2;3\n3;4;5\n5;6;7\n")
    cleave("kpalm", "t.csv", "-k", 2, code=65, err="t.csv: line 1 has 1 field, but lines 3, 4, 5, ... have 3: if it is a title")
    write("c.csv", "a;b\n1,5;2\n3;2.5\n5;6\n")
    cleave("kpalm", "c.csv", "-k", 2, code=65, err=r"c.csv: column 1 'a' has numbers with a decimal comma \('1,5' in line 2\) and column 2 'b' "
           r"with a decimal point \('2.5' in line 3\): write all of them in one way$")


@case
def tables_are_written_with_the_separator_of_their_name():
    points, _ = blobs()
    rows = [f"{x:.4f}\t{y:.4f}\tn, {i}" for i, (x, y) in enumerate(points)]
    write("p.tsv", "a\tb\tnote\n" + "\n".join(rows) + "\n")
    run = ("kpalm", "p.tsv", "-k", 3, "--drop", "note", "-q", "--output-data", "-o")
    cleave(*run, "o.csv")
    cleave(*run, "o.tsv")
    lines = read("o.csv").decode().splitlines()
    check(lines[0] == "a,b,note,label" and lines[1].startswith(rows[0].replace("\t", ",").replace("n, 0", '"n, 0"') + ","), lines[1])
    check(read("o.tsv").decode().splitlines()[1].startswith(rows[0] + "\t"), "tabs as they were")
    write("p.tsv", "a\tb\n" + "\n".join(row.rsplit("\t", 1)[0].replace(".", ",") for row in rows) + "\n")
    cleave("kpalm", "p.tsv", "-k", 3, "-q", "--output-data", "-o", "o.csv")
    check(read("o.csv").decode().startswith("a;b;label\n" + rows[0].rsplit("\t", 1)[0].replace(".", ",").replace("\t", ";") + ";"), "decimal commas")
    write("r.txt", '"a" "b"\n' + "".join(f'"{i}" {x:.4f} {y:.4f}\n' for i, (x, y) in enumerate(points)))
    cleave("kpalm", "r.txt", "-k", 3, "-q", "--output-data", "-o", "o.csv")
    check(read("o.csv").decode().startswith(f",a,b,label\n0,{points[0][0]:.4f},"), read("o.csv").decode()[:60])
    cleave("kpalm", "p.tsv", "-k", 3, "-q", "-o", "l.tsv", "--centers", "c.tsv", "--membership", "m.tsv")
    check(read("l.tsv").decode().startswith("row\tlabel\n1\t") and read("c.tsv").decode().startswith("a\tb\n"), "tabs")
    check(read("m.tsv").decode().startswith("row\tcluster 0\t"), "tabs")


@case
def windows_1252_is_decoded():
    points, labels = blobs()
    town = ("n\u00eemes", "z\u00fcrich")
    text = "gr\u00f6\u00dfe,b,\u20acart\n" + "".join(f"{x},{y},{town[label > 0]}\n" for (x, y), label in zip(points, labels))
    for name, encoding in (("w.csv", "cp1252"), ("u.csv", "utf-8")):
        with open(name, "wb") as file:
            file.write(text.encode(encoding))
    cleave("kpalm", "w.csv", "-k", 3, "--label-column", "\u20acart", "--json", "w.json", "--centers", "c.csv", "-o", "o.csv", "--output-data",
           out="2 columns used; truth: \u20acart; not UTF-8, read as Windows-1252\n")
    check(read("c.csv").decode().startswith("gr\u00f6\u00dfe,b\n"), "names in UTF-8")
    check(read("o.csv").startswith(text.encode("cp1252").split(b"\n")[0]), "a copy in the encoding of the file")
    cleave("verify", "w.json", "w.csv", out="^accepted")
    for name in ("w.csv", "u.csv"):
        cleave("predict", "w.json", name, "-o", name + ".csv", "-q")
    check(read("w.csv.csv") == read("u.csv.csv"), "columns are found by their names in either encoding")
    cleave("eval", "u.csv", "w.csv", "--label-column", "\u20acart", "--labels-column", "\u20acart", out="ari +1.000000")


@case
def the_ids_that_are_asked_for():
    write("p.csv", "idx,cust,a,b\n1,c7,1,2\n2,c8,3,4\n3,c9,8,9\n")
    check(cleave("kpalm", "p.csv", "-k", 2, "--drop", "cust", "-o", "-", "-q").out.startswith("idx,label\n1,"), "by its name")
    check(cleave("kpalm", "p.csv", "-k", 2, "--id-column", "cust", "-o", "-", "-q").out.startswith("cust,label\nc7,"), "the one that is named")
    write("t.csv", "cust,y\nc9,u\nc8,u\nc7,v\n")
    cleave("kpalm", "p.csv", "-k", 2, "--id-column", "cust", "--truth", "t.csv", "--json", "r.json", out="t.csv, matched by id")
    cleave("verify", "r.json", "p.csv", out="^accepted")
    cleave("kpalm", "p.csv", "-k", 2, "--id-column", "cust", "-q", "--json", "r.json")
    write("n.csv", "b,a\n2,1\n9,8\n")
    check(cleave("predict", "r.json", "n.csv", "-o", "-", "-q").out.startswith("row,label\n1,"), "new objects may have no ids")
    check(cleave("predict", "r.json", "n.csv", "-o", "-", "--output-data", "-q").out.startswith("b,a,label\n2,1,"), "beside their columns")
    write("n.csv", ",patient_id,a,b\n0,p3,1,2\n1,p1,8,9\n")
    write("o.csv", "patient_id,a,b\np3,1,2\np1,8,9\np2,1,3\n")
    cleave("kpalm", "o.csv", "-k", 2, "-q", "--json", "r.json")
    check(cleave("predict", "r.json", "n.csv", "-o", "-", "-q").out.startswith("patient_id,label\np3,"), "a name rather than row numbers")


@case
def truth_is_not_found_where_it_is_given():
    rows = "".join(f"{i % 11},{7 * i % 13},{('yes', 'no')[i // 3 % 2]}\n" for i in range(24))
    write("x.csv", "a,b,smoker\n" + rows)
    write("y.csv", "y\n" + "".join(f"{i % 2}\n" for i in range(24)))
    cleave("ksupport", "x.csv", "y.csv", "-k", 2, code=65, err="column 3 'smoker' holds text")
    cleave("ksupport", "x.csv", "y.csv", "-k", 2, "--categories", "onehot", "--json", "r.json", out="3 columns used; smoker became 2 columns")
    cleave("verify", "r.json", "x.csv", "y.csv", out="^accepted")
    cleave("kpalm", "x.csv", "-k", 2, out="2 columns used; truth: smoker")
    cleave("kpalm", "x.csv", "-k", 2, "--categories", "onehot", out="3 columns used; smoker became 2 columns")
    cleave("kpalm", "x.csv", "-k", 2, "--truth", "y.csv", "--json", "r.json", out="2 columns used; dropped: smoker .labels.\ntruth +y.csv")
    cleave("verify", "r.json", "x.csv", out="^accepted")
