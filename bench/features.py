"""Benchmarks of text and segment: documents to points against scikit-learn, pictures to segments against scikit-image.

    features.py THREADS [PART]      PART: text or segment; default: both
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from skimage import graph
from skimage.segmentation import slic
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

DATA = os.environ.get("CLEAVE_DATA", "../shared/data")
THREADS = sys.argv[1]
PART = sys.argv[2] if len(sys.argv) > 2 else "all"
DOCUMENTS = 18000
HEADER = ("what", "cleave", "peer", "its figure", "peer / cleave", "target")
rows = []


def best(work, runs=3):
    """Least of several times, in seconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def add(what, ours, peer, seconds, target):
    rows.append((what, f"{ours:.3f} s", peer, f"{seconds:.3f} s", f"{seconds / ours:.2f}x", target))
    print(rows[-1], file=sys.stderr, flush=True)


def cleave(*arguments):
    subprocess.run(["build/cleave", *map(str, arguments), "-q", "--threads", THREADS], check=True)


# --- text ---

def made_up(rng, count):
    """Documents of words drawn by Zipf's law, where the newsgroups are not there."""
    ranks = np.minimum(rng.zipf(1.3, size=count * 200), 120000)
    words = [f"w{rank}" for rank in ranks]
    return [" ".join(words[i * 200:(i + 1) * 200]) for i in range(count)]


def posts():
    path = os.path.join(DATA, "newsgroups-test.jsonl.gz")
    if not os.path.exists(path):
        return made_up(np.random.default_rng(1), 7532)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def many(texts, count):
    """So many documents: copies have other long words, so that the vocabulary grows as well."""
    out = list(texts[:count])
    for copy in range(1, 1 + count // len(texts)):
        out += [re.sub(r"\b([A-Za-z]{7,})\b", rf"\1{'abcdefgh'[copy % 8]}", text) for text in texts]
    return out[:count]


def by_scikit_learn(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    TruncatedSVD(20, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts))


def bench_text(folder):
    texts = posts()
    for count, target in ((len(texts), ">= 1"), (DOCUMENTS, ">= 1, < 10 s")):
        path = os.path.join(folder, f"{count}.jsonl.gz")
        with gzip.open(path, "wt", compresslevel=6, encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in many(texts, count))
        ours = best(lambda: cleave("text", path, "-o", os.path.join(folder, "x.npy")))
        peer = best(lambda: by_scikit_learn(path), runs=1)
        add(f"text, {count} documents to 20 columns", ours, "TfidfVectorizer + TruncatedSVD", peer, target)


# --- segment ---

def picture():
    path = os.path.join(DATA, "images/bsds-3063.X.npy")
    if os.path.exists(path):
        return np.load(path)
    y, x = np.mgrid[:321, :481]
    discs = sum(((x - 100 * i) ** 2 + (y - 60 * i) ** 2 < 50 ** 2) * i * 40 for i in range(1, 5))
    return (np.stack([discs, x // 2, y // 2], axis=-1) + np.random.default_rng(1).integers(0, 20, (321, 481, 3))).astype(np.uint8)


def by_scikit_image(image):
    pieces = slic(image, compactness=30, n_segments=400, start_label=1)
    graph.cut_normalized(pieces, graph.rag_mean_color(image, pieces, mode="similarity"))


def methods():
    """The methods that the program has."""
    help_text = subprocess.run(["build/cleave", "segment", "--help"], check=True, capture_output=True, text=True).stdout
    return re.split(r",\s*", re.search(r"--method NAME.*?\(([^)]*)\)", help_text, re.S).group(1))


def bench_segment(folder):
    image, path = picture(), os.path.join(folder, "picture.npy")
    np.save(path, image)
    peer = best(lambda: by_scikit_image(image), runs=2)
    for method in methods():
        ours = best(lambda: cleave("segment", path, "-o", os.path.join(folder, "l.png"), "--overlay",
                                   os.path.join(folder, "o.png"), "--method", method))
        add(f"segment, {method}, 481 x 321", ours, "slic + cut_normalized", peer, ">= 1, < 1 s")


def main():
    with tempfile.TemporaryDirectory() as folder:
        if PART in ("all", "text"):
            bench_text(folder)
        if PART in ("all", "segment"):
            bench_segment(folder)
    print(f"\n{THREADS} threads\n")
    for row in (HEADER, ["---"] * len(HEADER), *rows):
        print("| " + " | ".join(row) + " |")


main()
