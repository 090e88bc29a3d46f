"""text and segment: documents and pictures in, points and labels out."""
import gzip
import json
import math
import os
import re
import struct
import subprocess
import time
import zlib

import harness
from harness import case, check, cleave, npy, read, read_npy_labels, shared, without, write


# --- files ---

def jsonl(path, documents):
    """(text, label) pairs as JSON lines, compressed if the name says so."""
    lines = "".join(json.dumps({"text": text} if label is None else {"text": text, "label": label}) + "\n"
                    for text, label in documents)
    with (gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")) as file:
        file.write(lines)
    return path


def two_topics(per=15):
    """Documents about two things that share no words."""
    words = [["whale", "ocean", "harpoon", "ship", "sea"], ["engine", "wheel", "brake", "road", "gear"]]
    return [(" ".join(words[t][(i * j + j) % 5] for j in range(1, 9)), f"topic {t}") for i in range(per) for t in (0, 1)]


def read_matrix(path):
    data = read(path)
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + size].decode()
    rows, cols = (int(v) for v in header.split("(")[1].split(")")[0].split(",")[:2])
    kind = "d" if "<f8" in header else "i"
    values = struct.unpack(f"<{rows * cols}{kind}", data[10 + size:])
    return [list(values[i * cols:(i + 1) * cols]) for i in range(rows)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(path, rows, channels=3, size=None):
    """Rows of pixels (tuples of 8-bit samples); `size` is what the header says instead."""
    width, height = size or (len(rows[0]), len(rows))
    color = {1: 0, 3: 2, 4: 6}[channels]
    raw = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in rows)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
    return path


def read_png_labels(path):
    """Rows of a PNG of labels, with any filter: 16-bit gray, or indices of a palette. And whether it has one."""
    data, at, body = read(path), 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
            check((depth, color) in ((16, 0), (8, 3)), f"depth {depth}, color {color}")
        if name == b"IDAT":
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    wide = depth // 8
    raw, stride, before, rows = zlib.decompress(body), wide * width, bytes(wide * width), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = line[i - wide] if i >= wide else 0, before[i], before[i - wide] if i >= wide else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append(list(struct.unpack(f">{width}{'H' if wide == 2 else 'B'}", before)))
    return rows, color == 3


def two_colors(width=60, height=40):
    """A blue disc on orange, with a little noise."""
    def pixel(x, y):
        inside = (x - width / 3) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2
        noise = (x * 7 + y * 13) % 9
        return (20 + noise, 40, 200 - noise) if inside else (240 - noise, 150 + noise, 40)
    return [[pixel(x, y) for x in range(width)] for y in range(height)]


# --- text ---

@case
def text_of_two_topics():
    documents = two_topics()
    jsonl("d.jsonl", documents)
    result = cleave("text", "d.jsonl", "-o", "x.npy", "--labels-out", "y.npy", "--vocab", "v.txt", "--dims", 2, "--json", "-").json()
    check(result["documents"] == 30 and result["terms"] == 10 and result["classes"] == ["topic 0", "topic 1"], f"{result}")
    check(read("v.txt").decode().split() == sorted(read("v.txt").decode().split()), "terms ascend")
    labels = read_npy_labels("y.npy")
    check(labels == [0, 1] * 15, f"{labels}")
    points = read_matrix("x.npy")
    cosines = [sum(a * b for a, b in zip(points[0], q)) / math.hypot(*points[0]) / math.hypot(*q) for q in points]
    check(all((c > 0.99) == (label == 0) for c, label in zip(cosines, labels)), f"{cosines}")
    found = cleave("ncut", "x.npy", "-k", 2, "--affinity", "cosine", "--truth", "y.npy", "--json", "-").json()
    check(found["metrics"]["ari"] == 1, "the topics are found")
    cleave("text", "d.jsonl", "-o", "p.npy", "--dims", 2, "--center", out="principal components")
    means = [sum(column) / 30 for column in zip(*read_matrix("p.npy"))]
    check(all(abs(m) < 1e-12 for m in means), f"centered: {means}")


@case
def text_in_any_container():
    documents = two_topics()
    jsonl("d.jsonl", documents)
    jsonl("d.jsonl.gz", documents)
    for topic in (0, 1):
        os.makedirs(f"d/topic {topic}")
    for i, (text, label) in enumerate(sorted(documents, key=lambda d: d[1])):
        write(f"d/{label}/{i:03d}", text)
    cleave("text", "d.jsonl", "-o", "a.npy", "-q", "--threads", 1)
    cleave("text", "d.jsonl.gz", "-o", "b.npy", "-q", "--threads", 2)
    cleave("text", "-", "-o", "c.npy", "-q", stdin=read("d.jsonl.gz"))
    check(read("a.npy") == read("b.npy") == read("c.npy"), "the same points")
    cleave("text", "d/", "-o", "f.npy", "--labels-out", "f.labels.txt", "--vocab", "f.txt", "-q")
    check(read("f.labels.txt").decode().split() == ["0"] * 15 + ["1"] * 15, "labels of folders")
    cleave("text", "d.jsonl", "-o", "a.npy", "--vocab", "a.txt", "-q")
    check(read("a.txt") == read("f.txt"), "the same terms")


@case
def text_options():
    write("stop.txt", "whale\nOCEAN")
    documents = two_topics() + [("whale rare", None)]
    jsonl("d.jsonl", documents)
    def terms(*options):
        cleave("text", "d.jsonl", "--tfidf", "t.mtx", "--vocab", "v.txt", "-q", *options)
        return read("v.txt").decode().split()
    check("rare" in terms() and len(terms()) == 11, "all")
    check("rare" not in terms("--min-df", 2), "min-df")
    check(len(terms("--max-features", 3)) == 3, "max-features")
    check(terms("--stop-words", "stop.txt") == [t for t in terms() if t not in ("whale", "ocean")], "stop words of a file")
    check(len(terms("--max-df", 1)) == 11 and "whale" not in terms("--max-df", 2), "a share of 1 is all, 2 are documents")
    check(len(terms()) == 11 and read("t.mtx").startswith(b"%%MatrixMarket matrix coordinate real general\n31 11 "), "tf-idf itself")
    result = cleave("text", "d.jsonl", "-o", "x.npy", "--labels-out", "y.npy", "--json", "-").json()
    check(result["dims"] == 11, "20 dimensions that nobody asked for")
    check(read_npy_labels("y.npy")[-1] == -1, "a document without a label")


@case
def text_ngrams_and_stop_words():
    jsonl("d.jsonl", [("the state of the art", None), ("state art museum", None), ("Der Zustand der Kunst", None)])
    def terms(*options):
        cleave("text", "d.jsonl", "--tfidf", "t.mtx", "--vocab", "v.txt", "-q", *options)
        return read("v.txt").decode().split("\n")[:-1]
    check(terms("--ngrams", 2, "--stop-words", "english") ==
          ["art museum", "der kunst", "der zustand", "state art", "zustand der"], "pairs, stop words left out before")
    check(terms("--ngrams", "1-2", "--stop-words", "german", "--max-df", 1) ==
          ["art", "art museum", "kunst", "museum", "of", "of the", "state", "state art", "state of", "the", "the art",
           "the state", "zustand", "zustand kunst"], "words and pairs")
    check(terms("--ngrams", "1-2", "--stop-words", "english", "--min-df", 2) == ["art", "state", "state art"], "min-df counts for both")
    check(len(terms("--ngrams", "1-3", "--max-features", 4)) == 4, "and so does max-features")
    for wrong in ("0", "2-1", "1-", "10", "x"):
        cleave("text", "d.jsonl", "-o", "x.npy", "--ngrams", wrong, code=64, err=f"ngrams = '{wrong}' is not allowed.*from 1 to 9")
    cleave("text", "d.jsonl", "-o", "x.npy", "--stop-words", "germam", code=64,
           err="'germam' is not allowed: it must be none, english, german, .*dutch, or a file of words; did you mean german")
    check(not os.path.exists("x.npy"), "nothing was written")


def read_csv(path):
    return [line.split(",") for line in read(path).decode().split("\n")[:-1]]


@case
def text_terms_of_clusters():
    """From documents to what clusters are about, by every method that gives labels."""
    documents = [{"text": text, "id": f"{label[-1]}/{i}"} for i, (text, label) in enumerate(two_topics())]
    write("d.jsonl", "".join(json.dumps(d) + "\n" for d in documents))
    cleave("text", "d.jsonl", "-o", "x.npy", "--model", "d.clv", "--dims", 3, "-q")
    words = [{"whale", "ocean", "harpoon", "ship", "sea"}, {"engine", "wheel", "brake", "road", "gear"}]
    for method in ("ncut", "kpalm", "symnmf", "dominant"):
        k = [] if method == "dominant" else ["-k", 2]
        how = [] if method in ("kpalm", "symnmf") else ["--affinity", "cosine"]  # whose similarities are no probabilities
        table = cleave(method, "x.npy", *k, *how, "--terms", "d.clv", "-o", "l.csv", "--json", "r.json", "--report", "r.html").out
        result = json.loads(read("r.json"))
        check(len(result["terms"]) == result["k"], f"{result['terms']}")
        rows = read_csv("l.csv")
        check(rows[0] == ["id", "label"] and [row[0] for row in rows[1:]] == [d["id"] for d in documents], "ids beside the labels")
        for c, listed in enumerate(result["terms"]):
            topics = {int(row[0][0]) for row in rows[1:] if row[1] == str(c)}
            check(all(t["score"] > 0 and any(t["term"] in words[topic] for topic in topics) for t in listed), f"{listed}")
            check(method != "ncut" or (len(topics) == 1 and {t["term"] for t in listed} == words[min(topics)]), f"{listed}")
            check([t["score"] for t in listed] == sorted((t["score"] for t in listed), reverse=True), "the best first")
            line = ", ".join(t["term"] for t in listed) or "none"
            check(f"{c}: {line}\n" in table and f"<td>{line}</td>" in read("r.html").decode(), "in the table and the page")
        cleave("verify", "r.json", "x.npy", out="accepted")
    cleave("kpalm", "x.npy", "-k", 1, "--terms", "d.clv", out="terms +0: none")
    cleave("text", "d.jsonl", "-o", "x.csv", "--dims", 3, "-q")
    head, first, second, *rest = read("x.csv").decode().splitlines(keepends=True)
    write("turned.csv", "".join([head, second, first, *rest]))
    cleave("kpalm", "x.csv", "-k", 1, "--terms", "d.clv", "-q", "-o", "l.csv")
    cleave("kpalm", "turned.csv", "-k", 1, "--terms", "d.clv", code=65, err="row 1 of turned.csv is .*the rows must be the documents")
    cleave("text", "d.jsonl", "-o", "z.npy", "--tfidf", "t.mtx", "--dims", 3, "-q")
    cleave("ncut", "t.mtx", "-k", 2, "--affinity", "cosine", "--terms", "d.clv")  # of the same documents: nothing is said
    write("e.jsonl", "".join(json.dumps({"text": text + " sea road"[:4 + i % 5]}) + "\n" for i, (text, _) in enumerate(two_topics())))
    cleave("text", "e.jsonl", "-o", "z.npy", "--dims", 3, "-q")
    cleave("kpalm", "z.npy", "-k", 2, "--terms", "d.clv", err="^z.npy: warning: its rows are not the points that cleave text made with d.clv")
    cleave("kpalm", "x.npy", "-k", 2, "--scale", "unit-rows", "--terms", "d.clv")
    npy("y.npy", [[1.0, 2.0], [3.0, 4.0]])
    cleave("kpalm", "y.npy", "-k", 1, "--terms", "d.clv", code=65, err="d.clv is of 30 documents, but y.npy has 2 rows")
    cleave("kpalm", "x.npy", "-k", 1, "--terms", "x.npy", code=65, err="x.npy is no model of documents: those are made by cleave text --model")
    cleave("kpalm", "x.npy", "-k", 1, "--terms", "none.clv", code=66, err="none.clv")
    cleave("kpalm", "x.npy", "-k", 1, "--terms", "d.clv", "-o", "d.clv", code=73, err="d.clv")
    with open("cut.clv", "wb") as file:
        file.write(read("d.clv")[:-100])
    cleave("kpalm", "x.npy", "-k", 1, "--terms", "cut.clv", code=65, err="cut.clv is damaged.*make it again by cleave text --model")


@case
def text_ids():
    os.makedirs("d/ham")
    for i, (text, _) in enumerate(two_topics(3)):
        write(f"d/ham/{i}.txt" if i % 2 else f"d/{i}.txt", text)
    cleave("text", "d", "-o", "x.csv", "--labels-out", "y.csv", "--dims", 2, "-q")
    rows = read_csv("x.csv")
    names = ["0.txt", "2.txt", "4.txt", "ham/1.txt", "ham/3.txt", "ham/5.txt"]
    check(rows[0] == ["id", "axis 1", "axis 2"] and [row[0] for row in rows[1:]] == names, f"{rows}")
    check([row[0] for row in read_csv("y.csv")[1:]] == names, "beside the labels too")
    cleave("kpalm", "x.csv", "-k", 2, "-o", "l.csv", out="2 columns used.*dropped: id")
    check([row[0] for row in read_csv("l.csv")[1:]] == names, "and in the labels found")
    lines = [json.dumps({"text": text, **({"id": i // 2 * 2} if i else {})}) for i, (text, _) in enumerate(two_topics(2))]
    write("d.jsonl", "\n".join(lines))
    cleave("text", "d.jsonl", "-o", "x.csv", "--dims", 2, "--model", "d.clv",
           err="d.jsonl: warning: more than one document has the id 2: in x.csv rows are numbered instead")
    check([row[0] for row in read_csv("x.csv")] == ["row", "1", "2", "3", "4"], "numbered")
    cleave("kpalm", "x.csv", "-k", 2, "--terms", "d.clv", "-q", "-o", "l.csv")
    cleave("text", "d.jsonl", "-o", "x.npy", "--dims", 2, "-q")
    cleave("kpalm", "x.npy", "-k", 2, "--terms", "d.clv", "-o", "l.csv", "-q")
    check([row[0] for row in read_csv("l.csv")] == ["row", "1", "2", "3", "4"], "beside labels too")
    write("d.jsonl", "\n".join(lines).replace('"text"', '"label": "u", "text"'))
    cleave("text", "d.jsonl", "-o", "x.npy", "--dims", 2, "--labels-out", "y.csv", err="in y.csv rows are numbered instead")
    check([row[0] for row in read_csv("y.csv")] == ["row", "1", "2", "3", "4"], "and beside given ones")


@case
def text_of_new_documents():
    """The same points for the same documents, labels for new ones."""
    documents = two_topics()
    jsonl("d.jsonl", documents)
    jsonl("two.jsonl", documents[4:6])
    write("new.jsonl", "".join(json.dumps({"text": t, "id": i}) + "\n" for t, i in (
        ("The whale dived below the SHIP", "sea"), ("brake at the road", "car"), ("nothing known", "17"))))
    for options in ((), ("--center",), ("--ngrams", "1-2", "--stop-words", "english"), ("--dims", 9)):
        cleave("text", "d.jsonl", "-o", "x.npy", "--model", "d.clv", "--dims", 3, "-q", *options)
        cleave("text", "--like", "d.clv", "d.jsonl", "-o", "y.npy", out="on the axes of d.clv")
        check(read("x.npy") == read("y.npy"), f"{options}: the same bits")
        cleave("text", "two.jsonl", "--like", "d.clv", "-o", "z.npy", "-q")
        check(read_matrix("z.npy") == read_matrix("x.npy")[4:6], f"{options}: also of some of them")
    cleave("text", "d.jsonl", "-o", "x.npy", "--model", "d.clv", "--dims", 2, "-q")
    cleave("ncut", "x.npy", "-k", 2, "--affinity", "cosine", "--json", "r.json", "--save-model", "-o", "l.npy", "-q")
    cleave("kpalm", "x.npy", "-k", 2, "--json", "s.json", "-q")
    result = cleave("text", "--like", "d.clv", "new.jsonl", "-o", "y.csv", "--json", "-").json()
    check(result["empty"] == 1 and result["dims"] == 2 and result["like"] == "d.clv", f"{result}")
    labels = read_npy_labels("l.npy")
    cleave("predict", "r.json", "y.csv", "-o", "p.csv", "-q")
    rows = read_csv("p.csv")
    check(rows[:3] == [["id", "label"], ["sea", str(labels[0])], ["car", str(labels[1])]], f"{rows}")
    cleave("predict", "s.json", "y.csv", "-o", "p.csv", "-q")
    check([row[0] for row in read_csv("p.csv")] == ["id", "sea", "car", "17"], "of kpalm too")
    write("numbers.jsonl", "".join(json.dumps({"text": "whale ship", "id": i}) + "\n" for i in (3, 4, 5, "last")))
    cleave("text", "--like", "d.clv", "numbers.jsonl", "-o", "y.csv", "-q")
    cleave("predict", "s.json", "y.csv", "-o", "p.csv", "-q")
    check([row[0] for row in read_csv("p.csv")] == ["id", "3", "4", "5", "last"], "names, of which most are numbers")
    cleave("text", "--like", "d.clv", "new.jsonl", "-o", "y.npy", out="documents +3, 1 of them without a term")
    check(read_matrix("y.npy")[2] == [0, 0], "a row of zeros")


@case
def text_model_refusals():
    jsonl("d.jsonl", two_topics())
    jsonl("other.jsonl", [("no such words", None)])
    write("e.jsonl", "")
    cleave("text", "d.jsonl", "-o", "x.npy", "--model", "d.clv", "-q")
    for option in ("--dims", "--min-df", "--max-df", "--max-features", "--ngrams", "--tol", "--seed"):
        cleave("text", "d.jsonl", "-o", "y.npy", "--like", "d.clv", option, 0.1 if option == "--tol" else 1, code=64, err=f"{option} cannot be used with --like: .*those of d.clv")
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "d.clv", "--center", code=64, err="--center cannot be used with --like")
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "d.clv", "--stop-words", "english", code=64, err="--stop-words cannot be used with --like")
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "d.clv", "--model", "e.clv", code=64, err="--model cannot be used with --like")
    cleave("text", "other.jsonl", "-o", "y.npy", "--like", "d.clv", code=65, err="other.jsonl: none of the 1 documents has one of the 10 terms that are known")
    cleave("text", "e.jsonl", "-o", "y.npy", "--like", "d.clv", code=65, err="e.jsonl: there are no documents")
    cleave("text", "d.jsonl", "--tfidf", "t.mtx", "--model", "e.clv", code=64, err="--model needs -o FILE")
    cleave("text", "d.jsonl", "-o", "y.npy", "--model", "e.npy", code=73, err="must end in .clv")
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "none.clv", code=66, err="none.clv")
    data = bytearray(read("d.clv"))
    data[7] = ord("9")
    with open("later.clv", "wb") as file:
        file.write(data)
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "later.clv", code=65, err="later.clv was kept by another version of cleave")
    data[7], data[200] = ord("1"), data[200] ^ 1
    with open("bad.clv", "wb") as file:
        file.write(data)
    cleave("text", "d.jsonl", "-o", "y.npy", "--like", "bad.clv", code=65, err="bad.clv is damaged: its check sum is wrong")
    check(not os.path.exists("y.npy") and not os.path.exists("e.clv"), "nothing was written")
    cleave("text", "d.jsonl", "--dry-run", "--like", "d.clv", out="to 10 columns")


@case
def text_overwrites_no_input():
    jsonl("d.jsonl", two_topics())
    write("sw.txt", "whale\n")
    os.makedirs("corpus/sea/deep")
    for i, (text, _) in enumerate(two_topics(3)):
        write(f"corpus/sea/{i}.txt", text)
    write("corpus/sea/deep/x.txt", "whale ocean ship")
    write("elsewhere.txt", "brake road gear")
    os.symlink("../elsewhere.txt", "corpus/linked.txt")
    os.link("corpus/sea/1.txt", "hard.txt")
    cleave("text", "d.jsonl", "-o", "x.npy", "--stop-words", "sw.txt", "--vocab", "sw.txt", code=64,
           err="--vocab sw.txt would overwrite the input sw.txt: give it another name")
    cleave("text", "d.jsonl", "-o", "x.npy", "--json", "./d.jsonl", code=64, err="would overwrite the input")
    for corpus in ("corpus", "corpus/", "./corpus", os.path.abspath("corpus")):
        for path in ("corpus/sea/0.txt", "corpus/sea/deep/x.txt", "corpus/linked.txt", "elsewhere.txt", "hard.txt",
                     os.path.abspath("corpus/sea/2.txt")):
            cleave("text", corpus, "-o", "x.npy", "--vocab", path, code=64, err=f"--vocab {path} would overwrite the input")
    check(read("sw.txt") == b"whale\n" and read("corpus/sea/deep/x.txt") == b"whale ocean ship", "as they were")
    write("corpus/.hidden", "no document")
    cleave("text", "corpus", "-o", "x.npy", "--vocab", "corpus/.hidden", "-q")
    write("english", "no stop words")
    cleave("text", "corpus", "-o", "x.npy", "--stop-words", "english", "--vocab", "english", "-q")


@case
def text_and_segment_go_on_after_a_failed_output():
    jsonl("d.jsonl", two_topics())
    png("p.png", two_colors())
    for ending in ("npy", "mtx", "png"):
        os.symlink("/dev/full", f"full.{ending}")
    cleave("text", "d.jsonl", "-o", "full.npy", "--tfidf", "t.mtx", "--vocab", "v.txt", "--labels-out", "y.npy", "--json", "t.json", code=73,
           err="full.npy", out="documents")
    check(all(os.path.getsize(p) for p in ("t.mtx", "v.txt", "y.npy", "t.json")), "the others are there")
    cleave("text", "d.jsonl", "-o", "x.npy", "--vocab", "/dev/full", "--json", "t.json", code=73, err="/dev/full")
    cleave("segment", "p.png", "-o", "full.png", "--overlay", "o.png", "--labels-out", "l.npy", "--points-out", "x.csv", "--json", "s.json",
           code=73, err="full.png", out="segments")
    check(all(os.path.getsize(p) for p in ("o.png", "l.npy", "x.csv", "s.json")), "the others are there")
    cleave("segment", "p.png", "-o", "l.png", "--overlay", "full.png", "--json", "s2.json", code=73, err="full.png")
    check(os.path.getsize("l.png") and os.path.getsize("s2.json"), "the others are there")


@case
def segment_needs_no_k():
    text = " ".join(cleave("segment", "--help").out.split())
    check("with symnmf and kpalm 3 [auto]" in text and "(required)" not in text, text)


@case
def text_refusals():
    jsonl("d.jsonl", two_topics())
    cleave("text", "d.jsonl", code=64, err="needs -o FILE")
    cleave("text", "d.jsonl", "-o", "x.npy", "--dims", 40, code=64, err="--dims 40 exceeds the smaller of 30 documents and 10 terms")
    cleave("text", "d.jsonl", "-o", "x.npy", "--dims", 0, code=64, err="dims")
    cleave("text", "d.jsonl", "-o", "x.png", code=73, err="x.png")
    cleave("text", "d.jsonl", "-o", "x.npy", "--vocab", "x.npy", code=64, err="both name")
    cleave("text", "d.jsonl", "-o", "x.npy", "--stop-words", "klingon", code=64, err="klingon")
    cleave("text", "d.jsonl", "-o", "x.npy", "--stop-words", "none.txt", code=66, err="none.txt")
    cleave("text", "d.jsonl", "-o", "x.npy", "--min-df", 1000, code=65, err="d.jsonl.*vocabulary is empty.*min-df 1000")
    cleave("text", "d.jsonl", "-o", "x.npy", "--min-df", 9, "--max-df", 5, code=64, err="min-df 9 exceeds --max-df 5")
    cleave("text", "none.jsonl", "-o", "x.npy", code=66, err="none.jsonl")
    write("e.jsonl", "")
    cleave("text", "e.jsonl", "-o", "x.npy", code=65, err="no documents")
    jsonl("b.jsonl", [("a ! b", None), ("", None)])
    cleave("text", "b.jsonl", "-o", "x.npy", code=65, err="vocabulary is empty")
    cleave("text", "d.jsonl", "-o", "x.npy", "--stop-words", "english", "-q")
    cleave("text", "b.jsonl", "-o", "x.npy", "--labels-out", "y.npy", code=65, err="no document.*label")
    write("c.jsonl", '{"text": "good"}\n{"text": 3}\n')
    cleave("text", "c.jsonl", "-o", "y.npy", code=65, err="c.jsonl, line 2")
    with open("cut.jsonl.gz", "wb") as file:
        file.write(gzip.compress(read("d.jsonl"))[:-9])
    cleave("text", "cut.jsonl.gz", "-o", "y.npy", code=65, err="cut.jsonl.gz is cut off")
    os.makedirs("folder/sub")
    cleave("text", "folder", "-o", "y.npy", code=65, err="no documents")
    with open("folder/sub/latin", "wb") as file:
        file.write(b"caf\xe9 cr\xe8me")
    cleave("text", "folder", "-o", "y.npy", "--encoding", "utf-8", code=65, err="folder/sub/latin: byte 4 is not UTF-8")
    cleave("text", "folder", "-o", "z.npy", out="1 read as Latin-1")
    check(not os.path.exists("y.npy"), "nothing was written")


@case
def text_encodings():
    """The same rule for files and for lines of JSON."""
    word, folders = "caf\u00e9", {}
    for name, body in (("utf8", word.encode()), ("latin1", word.encode("latin-1"))):
        os.makedirs(name)
        with open(f"{name}/doc", "wb") as file:
            file.write(b"\xef\xbb\xbf" * (name == "utf8") + body + b" other")
        with open(f"{name}.jsonl", "wb") as file:
            file.write(b"\xef\xbb\xbf" * (name == "utf8") + b'{"text": "' + body + b' other"}\n')
    write("escaped.jsonl", '{"text": "caf\\u00e9 other"}\n')
    def terms(corpus, encoding):
        cleave("text", corpus, "--tfidf", "t.mtx", "--vocab", "v.txt", "-q", "--encoding", encoding)
        return read("v.txt").decode().split()
    for corpus in ("utf8", "latin1", "utf8.jsonl", "latin1.jsonl", "escaped.jsonl"):
        check(terms(corpus, "auto") == [word, "other"], f"{corpus}: {terms(corpus, 'auto')}")
    for corpus in ("latin1", "latin1.jsonl", "utf8.jsonl", "escaped.jsonl"):
        check(terms(corpus, "latin-1") == [word, "other"], f"{corpus}: {terms(corpus, 'latin-1')}")
    for corpus in ("utf8", "utf8.jsonl", "escaped.jsonl"):
        check(terms(corpus, "utf-8") == [word, "other"], f"{corpus}: {terms(corpus, 'utf-8')}")
    cleave("text", "latin1", "--tfidf", "x.mtx", "--encoding", "utf-8", code=65, err="latin1/doc: byte 4 is not UTF-8")
    cleave("text", "latin1.jsonl", "--tfidf", "x.mtx", "--encoding", "utf-8", code=65, err="latin1.jsonl, line 1: byte 14 is not UTF-8")
    for corpus in ("latin1", "latin1.jsonl"):
        cleave("text", corpus, "--tfidf", "t.mtx", out="1 read as Latin-1")
    jsonl("nul.jsonl", [("one word", "a"), ("two words", "a\0b")])
    cleave("text", "nul.jsonl", "-o", "x.npy", code=65, err="nul.jsonl, line 2.*NUL")
    os.makedirs(b"names/\xe9")
    write(b"names/\xe9/1", "some words")
    result = cleave("text", "names", "-o", "n.npy", "--json", "-").json()
    check(result["classes"] == ["\u00e9"], f"{result}")
    check(not os.path.exists("x.mtx") and not os.path.exists("x.npy"), "nothing was written")


@case
def text_memory():
    """The budget holds from the first document to the last column."""
    documents = [(" ".join(f"w{(d * 7919 + j * j * 31) % 30011}" for j in range(60)), None) for d in range(3000)]
    jsonl("d.jsonl", documents)
    accepted = 0
    for budget in (1000, 10 ** 6, 4 * 10 ** 6, 8 * 10 ** 6, 12 * 10 ** 6, 20 * 10 ** 6, 40 * 10 ** 6, 80 * 10 ** 6):
        process = subprocess.run([harness.CLEAVE, "text", "d.jsonl", "-o", "x.npy", "--memory", str(budget), "--json", "-"],
                                 capture_output=True)
        check(process.returncode in (0, 71), f"{process}")
        if process.returncode == 0:
            accepted += 1
            peak = json.loads(process.stdout)["bytes"]["peak"]
            check(peak <= budget, f"{budget}: {peak} bytes")
        else:
            check(not accepted and process.stderr.count(b"\n") == 1 and b"budget" in process.stderr, f"{process}")
    check(0 < accepted < 8, f"{accepted} budgets were enough")
    cleave("text", "d.jsonl", "-o", "y.npy", "--dims", 2500, "--memory", "100M", code=71, err="3000 x .* to 2500 columns takes .* budget")
    plan = cleave("text", "d.jsonl", "-o", "y.npy", "--dims", 2500, "--dry-run", "--json", "-").json()
    check(plan["dry_run"] and plan["dims"] == 2500 and plan["bytes"]["reduction"] > 3 * 8 * 3000 ** 2, f"{plan}")
    cleave("text", "d.jsonl", "--dry-run", out="3000 x .*\n.*to 20 columns")
    check(not os.path.exists("y.npy"), "nothing was written")


@case
def commands_with_a_result_at_the_end():
    """A limit that passes leaves a sentence and no file; one that is long enough, or none, changes nothing."""
    jsonl("d.jsonl", [(" ".join(f"w{(d * 7919 + j * j * 31) % 300007}" for j in range(100)), None) for d in range(10000)])
    npy("x.npy", [[i % 97 / 10, i % 89 / 10, i % 83 / 10] for i in range(20000)])
    for limited, reason in ((("text", "d.jsonl", "-o", "a.npy", "--tfidf", "t.mtx", "--model", "m.clv"), "reading d.jsonl|counting terms"),
                            (("affinity", "x.npy", "-o", "a.npy", "--affinity", "gaussian"), "building the affinity|making the affinity"),
                            (("affinity", "x.npy", "-o", "t.mtx", "--affinity", "knn"), "")):
        run = cleave(*limited, "--time-limit", 1e-6, code=75, err=f"^cleave {limited[0]}: .*the time limit passed while ({reason or '.*'})")
        check(run.err.count("\n") == 1 and not run.out, f"one sentence: {run}")
        check(sorted(os.listdir(".")) == ["d.jsonl", "x.npy"], f"nothing is left: {os.listdir('.')}")
        cleave(*limited, "--time-limit", -1, code=64, err="--time-limit '-1' is not allowed: it must be a number of 0 or more, or none")
    jsonl("few.jsonl", two_topics())
    npy("few.npy", [[0.0], [1.0], [5.0]])
    for limit in (0, 100, 1e-6):  # there is a moment for what is small
        cleave("text", "few.jsonl", "-o", "a.npy", "--time-limit", limit, "-q")
        cleave("affinity", "few.npy", "-o", "b.npy", "--affinity", "gaussian", "--time-limit", limit, "-q")


@case
def text_messages():
    jsonl("d.jsonl", two_topics())
    cleave("text", "d.jsonl", "-o", "x.npy", "-v", err="d.jsonl: 30 documents, 10 of 10 terms.*\nreduced to 10 columns")
    cleave("text", "d.jsonl", "-o", "x.npy", "--progress", err="documents 1 ")
    for option in (("--dims", 3), ("--center",), ("--tol", 1e-3), ("--seed", 4)):
        cleave("text", "d.jsonl", "--tfidf", "t.mtx", *option, code=64, err=f"{option[0]} needs -o FILE")
    check(not os.path.exists("t.mtx"), "nothing was written")


@case
def text_of_newsgroups():
    path = shared("newsgroups-test.jsonl.gz")
    result = cleave("text", path, "-o", "x.npy", "--labels-out", "y.npy", "--json", "-").json()
    check(result["documents"] == 7532 and len(result["classes"]) == 20, f"{result['documents']}")
    check(read_npy_labels("y.npy").count(0) == 319, "alt.atheism comes first")
    values = result["singular_values"]
    check(values == sorted(values, reverse=True) and values[-1] > 0, f"{values}")
    points = read_matrix("x.npy")
    for c in (0, 7, 19):
        norm = math.sqrt(sum(row[c] ** 2 for row in points))
        check(abs(norm - values[c]) < 1e-6, f"column {c} has norm {norm}, singular value {values[c]}")


# --- segment ---

def segment_methods():
    """Those that the help offers."""
    return re.split(r",\s*", re.search(r"--method NAME.*?\(([^)]*)\)", cleave("segment", "--help").out, re.S).group(1))


@case
def segment_two_colors():
    rows = two_colors()
    png("p.png", rows)
    check("dominant" in segment_methods() and "ncut" in segment_methods(), f"{segment_methods()}")
    for method in segment_methods():
        result = cleave("segment", "p.png", "-o", "l.png", "-k", 2, "--overlay", "o.png", "--labels-out", "l.npy",
                        "--method", method, "--json", "-").json()
        check(result["segments"] == 2 and result["width"] == 60 and result["height"] == 40, f"{result}")
        check(result["certificate"]["holds"] is True and result["method"] == method, f"{result}")
        labels, colored = read_png_labels("l.png")
        check(colored, "a color per segment")
        check(labels == read_matrix("l.npy"), "the same labels in both files")
        wrong = sum(labels[y][x] != (rows[y][x][2] > 100) for y in range(40) for x in range(60))
        check(wrong < 40, f"{method}: {wrong} pixels on the wrong side")
        check(read("o.png")[:8] == b"\x89PNG\r\n\x1a\n", "an overlay")
        cleave("segment", "p.png", "-o", "s.npy", "--pixels", "30x20", "-k", 2, "--method", method, out="600 pixels")
        small = read_matrix("s.npy")
        wrong = sum(small[y][x] != (rows[y][x][2] > 100) for y in range(40) for x in range(60))
        check(wrong < 150, f"{method}: {wrong} pixels on the wrong side")
        one = cleave("segment", "p.png", "-o", "1.npy", "--method", method, "--threads", 1, "--json", "-").json()
        two = cleave("segment", "p.png", "-o", "2.npy", "--method", method, "--threads", 2, "--json", "-").json()
        check(without(one, "seconds", "bytes") == without(two, "seconds", "bytes") and read("1.npy") == read("2.npy"),
              f"{method}: threads do not matter")
    cleave("segment", "p.png", "--points-out", "x.npy", "--pixels", "6x4", "-q")
    points = read_matrix("x.npy")
    check(len(points) == 24 and len(points[0]) == 3 and all(0 <= p[0] <= 1 for p in points), f"{points[0]}")


@case
def segment_solvers():
    rows = two_colors()
    png("p.png", rows)
    for solver in ("fpc", "spectral", "finc", "fcd", "dinkelbach"):
        result = cleave("segment", "p.png", "-o", "l.npy", "-k", 2, "--method", "ncut", "--solver", solver, "--no-polish", "--json", "-").json()
        labels = read_matrix("l.npy")
        wrong = sum(labels[y][x] != (rows[y][x][2] > 100) for y in range(40) for x in range(60))
        check(result["solver"] == solver and wrong < 40, f"{solver}: {wrong} pixels on the wrong side")
    cleave("segment", "p.png", "-o", "l.npy", "--solver", "afw", "-q")
    cleave("segment", "p.png", "-o", "l.npy", "--solver", "fpc", code=64, err="solver.*fpc.*fw, pfw, afw")
    cleave("segment", "p.png", "-o", "l.npy", "--no-polish", code=64, err="polish cannot be used with --method dominant")
    cleave("segment", "p.png", "-o", "l.npy", "--method", "ncut", "-k", 3, "--solver", "dinkelbach", code=64, err="k = 2")


@case
def segment_has_a_page():
    png("p.png", [[(200, 40, 40) if x < 20 else (30, 60, 220) for x in range(60)] for _ in range(40)])
    cleave("segment", "p.png", "-k", 2, "--report", "r.html", "-q")
    page = read("r.html").decode()
    for words in ("60 x 40 pixels in 2 segments", "segment 1", "p.png", "data:image/png;base64,", "<td>superpixels</td>",
                  "cleave segment p.png -k 2 --report r.html -q", "Convergence"):
        check(words in page, f"no {words} in the page")
    png("one.png", [[(10, 20, 30)]])
    cleave("segment", "one.png", "-o", "l.png", "--report", "none.html", "-q", code=65, err="looks alike.*nothing to report")
    check(os.path.exists("l.png") and not os.path.exists("none.html"), "the others are written")
    cleave("segment", "p.png", "--report", "r.pdf", code=73, err="html")


@case
def segment_odd_pictures():
    png("one.png", [[(10, 20, 30)]])
    cleave("segment", "one.png", "-o", "l.png", "--overlay", "o.png", out="segments +1")
    check(read_png_labels("l.png") == ([[0]], True), "one pixel, one segment")
    cleave("segment", "one.png", "-o", "l.png", "--label-image", "numbers", "--fill", "f.png", "-q")
    check(read_png_labels("l.png") == ([[0]], False) and os.path.getsize("f.png"), "16-bit gray")
    cleave("segment", "one.png", "-o", "l.png", "-k", 2, code=65, err="k = 2 exceeds the 1 superpixels of one.png")
    png("flat.png", [[(9, 9, 9)] * 40] * 30)
    cleave("segment", "flat.png", "-o", "l.png", "-k", 1, out="segments +1")
    png("gray.png", [[((x * 8 + y) % 256,) for x in range(40)] for y in range(30)], channels=1)
    cleave("segment", "gray.png", "-o", "l.png", "-k", 3, "-q")
    png("alpha.png", [[(200, 0, 0, 255 if x < 20 else 0) for x in range(40)] for y in range(30)], channels=4)
    cleave("segment", "alpha.png", "-o", "l.npy", "-k", 2, "-q")
    check(all(row == [0] * 20 + [1] * 20 for row in read_matrix("l.npy")), "what is transparent is a segment")
    png("thin.png", [[(x, 0, 255 - x) for x in range(200)]])
    cleave("segment", "thin.png", "-o", "l.npy", "-q")


@case
def segment_fading_sky():
    """A dark disc before a sky that fades: methods on minimax distances cut out the disc and leave most of the sky whole."""
    def pixel(x, y):
        noise = (x * 7 + y * 13) % 5
        return (30 + noise, 25, 20) if (x - 60) ** 2 + (y - 40) ** 2 < 80 else (10 + 2 * x - noise, 60 + 3 * x // 2, 150 + 3 * x // 4)
    rows = [[pixel(x, y) for x in range(120)] for y in range(80)]
    png("p.png", rows)
    inside = [rows[y][x][2] < 100 for y in range(80) for x in range(120)]
    for method in ("dominant", "symnmf", "kpalm"):
        cleave("segment", "p.png", "-o", "l.npy", "--method", method, "-q")
        labels = [label for row in read_matrix("l.npy") for label in row]
        disc, sky = ([label for label, within in zip(labels, inside) if within == part] for part in (True, False))
        of_disc, of_sky = (max(set(part), key=part.count) for part in (disc, sky))
        check(of_disc != of_sky and disc.count(of_disc) > 0.8 * len(disc) and sky.count(of_sky) > 0.6 * len(sky),
              f"{method}: {disc.count(of_disc)} of {len(disc)} pixels of the disc, {sky.count(of_sky)} of {len(sky)} of the sky")


@case
def segment_memory():
    """The budget holds for every method; what cannot fit is refused before it is allocated."""
    png("p.png", two_colors(120, 80))
    for method in segment_methods():
        for objects in ((), ("--pixels", "40x30")):
            accepted = 0
            for budget in (1000, 100000, 400000, 700000, 1000000, 2000000, 5000000, 30000000):
                args = ("segment", "p.png", "-o", "l.npy", "--method", method, "--memory", budget, "--max-iter", 20, *objects)
                process = subprocess.run([harness.CLEAVE, *map(str, args), "--json", "-"], capture_output=True)
                check(process.returncode in (0, 71), f"{args}: {process}")
                if process.returncode == 0:
                    accepted += 1
                    peak = json.loads(process.stdout)["bytes"]["peak"]
                    check(peak <= budget, f"{args}: {peak} bytes")
                else:
                    check(not accepted and process.stderr.count(b"\n") == 1 and b"budget" in process.stderr, f"{args}: {process}")
            check(0 < accepted < 8, f"{method} {objects}: {accepted} budgets were enough")
    began = time.monotonic()
    cleave("segment", "p.png", "-o", "x.npy", "--pixels", "65535x30000", code=71, err="p.png .120 x 80.*--pixels would take.*--memory")
    cleave("segment", "p.png", "-o", "x.npy", "--pixels", "2000x2000", "--method", "ncut", "--memory", "1G", code=71, err="ncut would take")
    check(time.monotonic() - began < 20 and not os.path.exists("x.npy"), "refused at once")


@case
def segment_dry_run():
    png("p.png", two_colors())
    for method in segment_methods():
        plan = cleave("segment", "p.png", "--dry-run", "-o", "l.npy", "--method", method, "--json", "-").json()
        check(plan["dry_run"] and plan["method"] == method and plan["width"] == 60, f"{plan}")
        check(plan["bytes"]["method"] > 0 and plan["bytes"]["resident_peak"] > plan["bytes"]["objects"], f"{plan}")
    cleave("segment", "p.png", "--dry-run", "--pixels", "30x20", out="600 pixels.*\n.*home dense-f64")
    check(not os.path.exists("l.npy"), "nothing is written")
    cleave("segment", "p.png", "-o", "l.npy", "-k", 2, "--json", "s.json", "-q")
    cleave("predict", "s.json", "x.npy", "-o", "y.csv", code=65, err="s.json is a result of segment")
    cleave("verify", "s.json", "p.png", code=65, err="s.json is a result of segment")



@case
def segment_messages():
    png("p.png", two_colors())
    cleave("segment", "p.png", "-o", "l.npy", "-v", err="p.png: 60 x 40 pixels with 3 channels; [0-9]+ superpixels.*\ndominant: ")
    cleave("segment", "p.png", "-o", "l.npy", "--method", "ncut", "--progress", err="restart 1 of")


@case
def segment_options_of_another_kind():
    """What would have no effect is refused."""
    png("p.png", two_colors())
    for option in ("superpixels", "compactness", "rounds", "color", "histogram", "texture", "place"):
        cleave("segment", "p.png", "-o", "l.npy", "--pixels", "9x9", f"--{option}", 1, code=64, err=f"--pixels and --{option} cannot be used together")
    for method in set(segment_methods()) - {"ncut"}:
        for option in ("reach", "sigma"):
            cleave("segment", "p.png", "-o", "l.npy", "--method", method, f"--{option}", 1, code=64,
                   err=f"--{option} cannot be used with --method {method}")
    cleave("segment", "p.png", "-o", "l.npy", "--restarts", 3, code=64, err="--restarts cannot be used with --method dominant")
    nothing = ("--color", 0, "--histogram", 0, "--texture", 0)
    cleave("segment", "p.png", "-o", "l.npy", *nothing, "--place", 0, code=64, err="all 0")
    for method in ("ncut", "kpalm"):
        result = cleave("segment", "p.png", "-o", "l.npy", *nothing, "--place", 1, "-k", 4, "--method", method, "--json", "-").json()
        check(result["segments"] == 4, f"{method}: the place alone tells superpixels apart")
    check(not os.path.exists("x.npy"), "nothing was written")


@case
def segment_refusals():
    png("p.png", two_colors())
    cleave("segment", "p.png", code=64, err="needs -o FILE")
    cleave("segment", "p.png", "-o", "l.jpg", code=73, err="l.jpg")
    cleave("segment", "p.png", "-o", "p.png", code=64, err="overwrite")
    cleave("segment", "p.png", "-o", "l.png", "--overlay", "l.png", code=64, err="both name")
    for size in ("12", "0x3", "3x", "ax3", "3x4x5", "70000x2", "65535x65535"):
        cleave("segment", "p.png", "-o", "l.png", "--pixels", size, code=64, err="WIDTHxHEIGHT")
    cleave("segment", "p.png", "-o", "l.png", "--pixels", "9x9", "--superpixels", 3, code=64, err="cannot be used together")
    cleave("segment", "none.png", "-o", "l.png", code=66, err="none.png")
    data = read("p.png")
    for size in (0, 7, 20, len(data) // 2, len(data) - 20):
        with open("cut.png", "wb") as file:
            file.write(data[:size])
        cleave("segment", "cut.png", "-o", "l.png", code=65, err="cut.png")
    png("bomb.png", [[(0, 0, 0)]], size=(30000, 30000))
    cleave("segment", "bomb.png", "-o", "l.png", code=65, err="bomb.png.*30000 x 30000")
    npy("d.npy", [[1.0, 2.0]])
    cleave("segment", "d.npy", "-o", "l.png", code=65, err="d.npy is not a picture")
    check(not os.path.exists("l.png"), "nothing was written")
