"""The methods of the paper as options of the command, and how its figures draw them."""

import os
from collections import namedtuple

from common import npy
from common.charts import cross, dot, square

Method = namedtuple("Method", "title solver start color mark")

FRANK_WOLFE = [
    Method("FW", "fw", "vertex", "#0072b2", dot),
    Method("PFW-B", "pfw", "center", "#8b4513", square),
    Method("PFW-V", "pfw", "vertex", "#8b4513", cross),
    Method("AFW-B", "afw", "center", "#222222", square),
    Method("AFW-V", "afw", "vertex", "#222222", cross),
]
METHODS = [*FRANK_WOLFE, Method("RD", "rd", "center", "#d02020", dot)]

CUTOFF, EPSILON = 2e-12, 2.220446049250313e-16


def options(method, steps, cutoff=CUTOFF):
    """The algorithm as printed: no face solve, and no end before a step of at most epsilon."""
    return ["--solver", method.solver, "--start", method.start, "--max-iter", steps, "--tol", 0, "--change", EPSILON, "--cutoff", cutoff,
            "--no-face-solve"]


def shown(method, steps, cutoff=CUTOFF):
    """The same in one line."""
    return " ".join(map(str, options(method, steps, cutoff)))


def named(title):
    """The method of this title."""
    return next(method for method in METHODS if method.title == title)


def title_of(words, quick):
    """Of a report."""
    return words + (" (quick: smaller sizes)" if quick else "")


def labels_before_assignment(result, cutoff=CUTOFF):
    """The labels that the weights alone give: a cluster to its members, -1 to the rest."""
    membership = result["membership"]
    starts, columns, weights = membership["start"], membership["index"], membership["value"]
    labels = [-1] * result["n"]
    for i in range(result["n"]):
        for e in range(starts[i], starts[i + 1]):
            if weights[e] > cutoff and labels[i] < 0:
                labels[i] = columns[e]
    return labels


def scores_before_assignment(cleave, result, truth, folder, cutoff=CUTOFF):
    """Metrics of those labels, over the objects that have one."""
    path = os.path.join(folder, "before.npy")
    npy.write_labels(path, labels_before_assignment(result, cutoff))
    return cleave.scores(truth, path)
