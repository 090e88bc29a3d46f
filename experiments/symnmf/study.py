"""The runs of one data set with one kernel: all solvers from one random start."""

import csv
import os
import tempfile
from collections import namedtuple

# As in table 1 of the paper.
Set = namedtuple("Set", "name n k")
SETS = [Set("blood", 748, 10), Set("yeast", 1484, 10), Set("satimage", 4435, 6), Set("pendigits", 10992, 100)]

# The claims are judged with the kernel of the paper.
KERNELS = {
    "paper": ["--scale", "none", "--gamma", "1"],
    "calibrated": ["--scale", "standard", "--gamma", "auto"],
}

# Names in the report, with the options: the three of the paper first, then Frank-Wolfe with an exact step, and ours.
SOLVERS = {
    "algorithm 1": ["--solver", "fw", "--step", "curvature"],
    "pgd": ["--solver", "pgd"],
    "penalty": ["--solver", "penalty"],
    "fw, exact step": ["--solver", "fw", "--step", "exact"],
    "spg": ["--solver", "spg"],
    "rows": ["--solver", "rows"],
}
COLORS = {"algorithm 1": "#56b4e9", "pgd": "#d55e00", "penalty": "#cc79a7", "fw, exact step": "#0072b2", "spg": "#e69f00",
           "rows": "#009e73"}

# The paper's rule: a change of f below this, or 50 (outer) iterations.
PAPER_CHANGE, PAPER_ITERATIONS = 1e-3, 50

# Iterations at most: many more than the paper's, but where one takes a second of the processor.
MOST, LARGE = 5000, 10000

Run = namedtuple("Run", "solver result course stopped")
Study = namedtuple("Study", "set kernel gamma result runs")


def paper_stop(objectives):
    """Where the rule of the paper would have stopped."""
    for at in range(1, len(objectives)):
        if abs(objectives[at] - objectives[at - 1]) < PAPER_CHANGE or at == PAPER_ITERATIONS:
            return at
    return None


def course_of(path, share):
    """Lists of seconds, objectives and gaps from a trace; `share` of the seconds is processor time."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    course = {name: [float(row[name] or "nan") for row in rows] for name in ("seconds", "objective", "certificate")}
    return {**course, "seconds": [share * seconds for seconds in course["seconds"]]}


class TooSlow(Exception):
    """A run was over before its first iterate."""


def limit(kernel, seconds):
    """Processor seconds for a solver: with the kernel that only pictures are made with, a tenth."""
    return seconds if kernel == "paper" else seconds / 10


def most(the_set):
    """Iterations at most on a set."""
    return MOST if the_set.n < LARGE else PAPER_ITERATIONS


def kernels(the_set):
    """Of the large set there is no picture with the calibrated kernel."""
    return [kernel for kernel in KERNELS if kernel == "paper" or the_set.n < LARGE]


def study(cleave, data, the_set, kernel, seconds):
    """All solvers from the same memberships, drawn uniformly from the simplices."""
    points = os.path.join(data, f"{the_set.name}.X.npy")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        start, trace = os.path.join(folder, "start.npy"), os.path.join(folder, "trace.csv")
        first, idle, _ = cleave.timed("symnmf", points, "-k", the_set.k, *KERNELS[kernel], "--start", "random", "--seed", 1, "--max-iter", 0,
                                      "--membership", start)
        gamma = first["affinity"]["gamma"]
        fixed = ["-k", the_set.k, *KERNELS[kernel][:2], "--gamma", repr(gamma), "--start", start, "--max-iter", most(the_set),
                 "--trace", trace]
        for solver, options in SOLVERS.items():
            result, _, share = cleave.timed("symnmf", points, *fixed, *options, limit=limit(kernel, seconds) + idle)
            course = course_of(trace, share)
            if not course["objective"]:
                raise TooSlow
            runs.append(Run(solver, result, course, paper_stop(course["objective"])))
    return Study(the_set, kernel, gamma, first, runs)
