"""cleave consensus: inputs of all kinds, what is said of them, verification, refusals."""
import json
import random

from harness import blobs_npy, case, check, cleave, read, same_partition, write


FAR = ((0, 0), (9, 0), (0, 9))


def inputs():
    """Results of three methods on the same points, and a file of labels with ids."""
    points, truth = blobs_npy(centers=FAR)
    cleave("ncut", "x.npy", "-k", 3, "--json", "a.json", "-q")
    cleave("kpalm", "x.npy", "-k", 2, "--json", "b.json", "-q")
    cleave("symnmf", "x.npy", "-k", 3, "--json", "c.json", "-q")
    write("d.csv", "row,label\n" + "".join(f"{i + 1},{'xyz'[t]}\n" for i, t in reversed(list(enumerate(truth)))))
    return points, truth


@case
def one_from_several():
    _, truth = inputs()
    files = ["a.json", "b.json", "c.json", "d.csv"]
    result = cleave("consensus", *files, "-k", 3, "--json", "-", "-o", "l.csv", "--report", "r.html",
                    "--confidence", "f.csv").json()
    check(result["method"] == "consensus" and result["solver"] == "ncut", "what it is")
    check(same_partition(result["labels"], truth), "the three clouds, with the file in another order")
    check([row["name"] for row in result["inputs"]] == files, "the names of the inputs")
    check([row["clusters"] for row in result["inputs"]] == [3, 2, 3, 3], "their clusters")
    check(result["inputs"][0]["ari"] == result["inputs"][3]["ari"] == 1, "their agreement: rows are where they say")
    check(result["inputs"][1]["ari"] < 1, "and what does not agree")
    check(result["certificate"]["holds"] and result["bound"]["value"] <= result["objective"]["value"], "the claims")
    check(all(0 < c <= 1 for c in result["confidence"]), "confidences")
    check("Inputs" in read("r.html").decode() and "a.json" in read("r.html").decode(), "the page")
    check(abs(float(read("f.csv").decode().split("\n")[1].split(",")[1]) - result["confidence"][0]) < 1e-9, "their file")


@case
def verified_by_its_inputs():
    inputs()
    for more in (["-k", 3], ["-k", 3, "--soft"], ["-k", 2, "--method", "symnmf"], ["-k", 3, "--method", "dominant"],
                 ["--medoid"]):
        cleave("consensus", "a.json", "b.json", "c.json", "d.csv", *more, "--json", "r.json", "-q")
        cleave("verify", "r.json", "a.json", "b.json", "c.json", "d.csv", out="^accepted")
        cleave("verify", "r.json", "a.json", "b.json", "c.json", out="^rejected", code=1)
        write("s.json", json.dumps({**json.loads(read("r.json")), "start_taken": "other"}))
        cleave("verify", "s.json", "a.json", "b.json", "c.json", "d.csv", out="^rejected: start_taken is claimed", code=1)
    result = json.loads(read("r.json"))
    result["labels"][0] = 1 - min(result["labels"][0], 1)
    write("r.json", json.dumps(result))
    cleave("verify", "r.json", "a.json", "b.json", "c.json", "d.csv", out="^rejected", code=1)
    cleave("verify", "a.json", "x.npy", "b.json", "c.json", "d.csv", code=64, err="one file too many")


def noisy(count, n=180, share=0.15, draw=random.Random(4)):
    """So many files of labels, each of them wrong in a share of the objects."""
    truth = [i % 3 for i in range(n)]
    for name in range(count):
        labels = [draw.randrange(3) if draw.random() < share else t for t in truth]
        write(f"l{name}.txt", "".join(f"{label}\n" for label in labels))
    return truth, [f"l{name}.txt" for name in range(count)]


@case
def a_range_ends_where_no_more_clusters_are_found():
    """Three inputs with two clusters each; what is said of k is said of as many as there are."""
    for name, labels in (("a", [1, 1, 1, 1, 0, 1, 0, 0]), ("b", [1, -1, -1, 1, 1, 0, 0, 0]), ("c", [1, 1, 1, 1, 1, 1, 0, 0])):
        write(f"{name}.csv", "".join(f"{label}\n" for label in labels))
    for span in ("2:4", "3:5", "auto"):
        cleave("consensus", "a.csv", "b.csv", "c.csv", "-k", span, "--method", "dominant", "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check(result["k"] == 2 and [row["k"] for row in result["k_table"]] == [2] and result["k_reason"].startswith("k = 2 "), span)
        check("ends at k = 2: no more clusters were found" in result["warnings"][0], f"{span}: {result['warnings']}")
        cleave("verify", "r.json", "a.csv", "b.csv", "c.csv", out="^accepted")


@case
def dominant_labels_all():
    """With a shift that suits k, as the method has on its own; without it the clusters are those who agree in everything."""
    truth, files = noisy(6)
    cleave("consensus", *files, "-k", 3, "--method", "dominant", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check(result.get("shift", 0) > 0 and result["left_out"] == 0, f"shift {result.get('shift')}, {result['left_out']} left out")
    check(same_partition(result["labels"], truth), f"the three clusters: {result['sizes']}")
    cleave("verify", "r.json", *files, out="^accepted")
    result["shift"] *= 2
    write("bad.json", json.dumps(result))
    cleave("verify", "bad.json", *files, code=1, out="^rejected")


@case
def what_has_no_time_is_rough():
    """A method that time ends before its first start is evaluated, or while the co-association is written out."""
    truth, files = noisy(6)
    write("long.txt", "".join(f"{i % 400}\n" for i in range(100_000)))
    for command in ([*files, "-k", 3, "--method", "dominant", "--time-limit", 1e-6],
                    *(["long.txt", "long.txt", "long.txt", "-k", 3, "--method", method, "--time-limit", 0.1] for method in ("symnmf", "dominant"))):
        cleave("consensus", *command, "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check("had no time to evaluate a start: the labels are those of a cut" in result["warnings"][0], f"{result['warnings']}")
        check(result["objective"]["value"] is None and result["stop"] == "time limit" and max(result["labels"]) == 2, "a rough result")
        cleave("verify", "r.json", *command[:-6], code=65, err="there is nothing to verify")
    cleave("consensus", *files, "-k", 3, "--method", "dominant", "--time-limit", 1e-6, "--json", "r.json", "-q")
    check(same_partition(json.loads(read("r.json"))["labels"], truth), "the three clusters")
    write("truth.txt", "".join(f"{label}\n" for label in truth))
    for k, many in ((2, 2), (3, 3), (100, 3)):  # of dominant k are the most, and there are three groups
        cleave("consensus", "truth.txt", "truth.txt", "-k", k, "--method", "dominant", "--time-limit", 1e-6, "--json", "r.json", "-q")
        result = json.loads(read("r.json"))
        check(result["k"] == many and result["stop"] == "time limit" and max(result["labels"]) == many - 1, f"{k}: {result['k']}")
    cleave("consensus", "long.txt", "long.txt", "-k", 500, "--method", "symnmf", "--time-limit", 0.1, "--json", "r.json", "-q")
    result = json.loads(read("r.json"))  # of symnmf clusters may be empty
    check(result["k"] == 500 and result["stop"] == "time limit" and max(result["labels"]) == 399, f"{result['k']}")


@case
def the_page_tells_of_confidences():
    _, files = noisy(10)
    cleave("consensus", *files, "-k", 3, "--report", "r.html", "--json", "r.json", "-q")
    page, result = read("r.html").decode(), json.loads(read("r.json"))
    check("<p class=\"note\">l0.txt, l1.txt, l2.txt, l3.txt, l4.txt, l5.txt, l6.txt, l7.txt and 2 more</p>" in page, "its inputs")
    check("<h2>Confidences</h2>" in page and 'id="confidences"' in page, "a picture of the confidences")
    least = min(range(180), key=lambda i: result["confidence"][i])
    rows = page.split("agree on least</h3>")[1].split("</table>")[0].split("<tr")[2:]
    check(len(rows) == 10 and f"<td>{least + 1}</td><td>{result['confidence'][least]:.4g}</td>" in rows[0], "the least of them")


@case
def the_medoid_is_an_input():
    inputs()
    result = cleave("consensus", "a.json", "b.json", "c.json", "--medoid", "--json", "-").json()
    chosen = json.loads(read(["a.json", "b.json", "c.json"][result["medoid"]]))
    check(result["labels"] == chosen["labels"] and result["medoid"] == 0, "its labels")
    cleave("consensus", "a.json", "b.json", "--medoid", "-k", 3, code=64, err="--medoid cannot be used with -k")


@case
def rows_are_matched_by_their_names():
    write("a.csv", "id,label\nann,0\nbob,0\ncid,1\ndan,1\n")
    write("b.csv", "id,label\ndan,5\ncid,5\nbob,6\nann,6\n")
    result = cleave("consensus", "a.csv", "b.csv", "-k", 2, "--json", "-", "-o", "l.csv").json()
    check([row["ari"] for row in result["inputs"]] == [1, 1], "both say the same")
    check(read("l.csv").decode().split()[1].startswith("ann,"), "names beside the labels")
    write("c.csv", "label\n1\n1\n2\n2\n")
    cleave("consensus", "c.csv", "b.csv", "a.csv", "-k", 2, err="warning: c.csv without ids: the rows are taken to be in the order of b.csv")


@case
def objects_may_be_left_out():
    write("a.csv", "label\n0\n0\n1\n1\n-1\n")
    write("b.csv", "label\n-1\n4\n7\n7\n-1\n")
    result = cleave("consensus", "a.csv", "b.csv", "-k", 2, "--json", "-").json()
    check(same_partition(result["labels"][:4], [0, 0, 1, 1]) and result["labels"][4] == -1, "labels")
    check(result["left_out"] == 1 and [row["left_out"] for row in result["inputs"]] == [1, 2], "who leaves out whom")
    result = cleave("consensus", "a.csv", "b.csv", "-k", 2, "--method", "symnmf", "--json", "r.json", "-q")
    result = json.loads(read("r.json"))
    check(same_partition(result["labels"][:4], [0, 0, 1, 1]) and result["labels"][4] == -1, "also with memberships")
    cleave("verify", "r.json", "a.csv", "b.csv", out="^accepted")


@case
def all_of_one_mind():
    _, truth = inputs()
    result = cleave("consensus", "a.json", "d.csv", "c.json", "-k", 3, "--json", "-", "--confidence", "f.csv").json()
    check(result["objective"]["value"] == 0 and result["bound"]["gap_percent"] == 0, "nothing is cut, and nothing open")
    check(max(result["confidence"]) == 1 and all(float(r.split(",")[1]) <= 1 for r in read("f.csv").decode().split()[1:]), "0 to 1")
    ran = cleave("consensus", "a.json", "d.csv", "c.json", "-k", "auto", "--json", "r.json")
    result = json.loads(read("r.json"))
    check("no more than 3 groups of objects" in result["k_reason"], result["k_reason"])
    check("warning" not in ran.err and result["k"] == 3 and same_partition(result["labels"], truth), result["k_reason"])
    check([row["gap_percent"] for row in result["k_table"]] == [0, 0], "the bound is reached")
    cleave("verify", "r.json", "a.json", "d.csv", "c.json", out="^accepted")


@case
def parts_that_no_input_joins_are_warned_of():
    inputs()
    cleave("consensus", "a.json", "c.json", "-k", 2, "--json", "r.json",
           err="no input joins the 3 parts of the objects, and there are 2 clusters: which parts share one is arbitrary; try -k 3")
    check(any("no input joins" in said for said in json.loads(read("r.json"))["warnings"]), "also in the result")
    cleave("consensus", "a.json", "c.json", "-k", 3, "--json", "r.json")  # nothing to warn of


@case
def inputs_that_do_not_agree_are_warned_of():
    inputs()
    draw = random.Random(9)
    for name in "xyz":
        write(f"{name}.txt", "".join(f"{draw.randrange(3)}\n" for _ in range(300)))
    labels = json.loads(read("a.json"))["labels"]
    draw.shuffle(labels)
    write("mixed.txt", "".join(f"{label}\n" for label in labels))
    for more in (["-k", 3], ["--medoid"]):
        cleave("consensus", "x.txt", "y.txt", "z.txt", *more, err="the inputs agree no better than chance, .*in the same order of rows")
        cleave("consensus", "a.json", "c.json", "mixed.txt", *more,
               err="input 3 agrees with the others no better than chance: .*in the same order of rows")
    cleave("consensus", "a.json", "b.json", "c.json", "-k", 3)  # 2 clusters are not 3, and agree


@case
def full_agreement_is_1():
    for count in range(2, 13):
        for name in range(count):
            write(f"l{name}.txt", "".join(f"{(i * 3 + name) % 7}\n" for i in range(200)))
        cleave("consensus", *(f"l{name}.txt" for name in range(count)), "-k", 7, "--confidence", "f.csv", "-q")
        said = {row.split(",")[-1] for row in read("f.csv").decode().split()[1:]}
        check(said == {"1"}, f"{count} inputs: {said}")


@case
def other_objects_are_refused():
    inputs()
    write("short.csv", "label\n0\n1\n")
    write("n.csv", "id,label\nann,0\nbob,0\ncid,1\n")
    write("e.csv", "id,label\nann,0\nbob,0\neve,1\n")
    cleave("consensus", "a.json", "short.csv", "-k", 2, code=65, err="short.csv has 2 objects, but a.json has")
    cleave("consensus", "n.csv", "e.csv", "-k", 2, code=65, err="e.csv lacks")
    blobs_npy(centers=((5, 5), (9, 0), (0, 9)))
    cleave("ncut", "x.npy", "-k", 3, "--json", "y.json", "-q")
    cleave("kpalm", "x.npy", "-k", 2, "--json", "z.json", "-q")
    cleave("consensus", "a.json", "y.json", "-k", 3, code=65, err="a.json and y.json are results of other objects")
    cleave("consensus", "b.json", "z.json", "-k", 2, code=65, err="b.json and z.json are results of other objects")
    cleave("consensus", "a.json", "-k", 3, code=64, err="R2.json is missing")
    cleave("consensus", "a.json", "b.json", code=64, err="consensus needs -k N")
    cleave("consensus", "a.json", "b.json", "-k", 9, code=65, err="groups of objects that the inputs tell apart")
    cleave("consensus", "a.json", "b.json", "c.json", "d.csv", "-k", 2, "--json", "d.csv", code=64, err="d.csv")
    cleave("consensus", "a.json", "nowhere.json", "-k", 2, code=66, err="nowhere.json")
