"""The runs: every method of the command and two of scikit-image on every picture, and people against each other."""

import json
import os
import re
import sys
import tempfile
import time
from collections import namedtuple

import numpy as np
from skimage import graph
from skimage.segmentation import felzenszwalb, slic

from agreement import Agreement, agreement

Record = namedtuple("Record", "picture method seconds labels score image")

OURS = ["dominant", "ncut", "symnmf", "kpalm"]


def cut_normalized(image):
    """As in the gallery of scikit-image."""
    pieces = slic(image, compactness=30, n_segments=400, start_label=1)
    return graph.cut_normalized(pieces, graph.rag_mean_color(image, pieces, mode="similarity"))


PEERS = {
    "skimage cut_normalized": cut_normalized,
    "skimage felzenszwalb, gallery": lambda image: felzenszwalb(image, scale=100, sigma=0.5, min_size=50),
    "skimage felzenszwalb, coarse": lambda image: felzenszwalb(image, scale=1000, sigma=0.8, min_size=1000),
}


def methods_of(cleave):
    """The methods that the program has."""
    offered = re.search(r"--method NAME.*?\(([^)]*)\)", cleave.run("segment", "--help"), re.S).group(1)
    return [name for name in OURS if name in re.split(r"[,\s]+", offered)]


def by_cleave(cleave, method, path):
    """(seconds, labels) of one picture."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "labels.npy")
        began = time.perf_counter()
        json.loads(cleave.run("segment", path, "--method", method, "--labels-out", out, "--json", "-"))
        return time.perf_counter() - began, np.load(out)


def by_peer(work, image):
    began = time.perf_counter()
    labels = work(image)
    return time.perf_counter() - began, labels


def among_people(people):
    """Each person against the others: what can be reached."""
    scores = [agreement(people[i], np.delete(people, i, axis=0)) for i in range(len(people))]
    return Agreement(*np.mean(scores, axis=0))


def study_picture(cleave, methods, folder, name):
    """The records of one picture; people come first."""
    path = os.path.join(folder, name + ".X.npy")
    image, people = np.load(path), np.load(os.path.join(folder, name + ".seg.npy")).astype(np.int64)
    # Shown is the person who is nearest to the others.
    scores = [agreement(person, people).covering for person in people]
    records = [Record(name, "people", float("nan"), people[int(np.argmax(scores))], among_people(people), image)]
    runs = {f"cleave {method}": (lambda method=method: by_cleave(cleave, method, path)) for method in methods}
    runs.update({title: (lambda work=work: by_peer(work, image)) for title, work in PEERS.items()})
    for title, run in runs.items():
        seconds, labels = run()
        records.append(Record(name, title, seconds, labels, agreement(labels, people), image))
    return records


def study(cleave, folder, names):
    """All records."""
    methods, records = methods_of(cleave), []
    by_peer(PEERS["skimage cut_normalized"], np.zeros((20, 20, 3), np.uint8) + np.arange(20, dtype=np.uint8)[:, None, None])
    for name in names:
        records += study_picture(cleave, methods, folder, name)
        print(name, file=sys.stderr, flush=True)
    return records
