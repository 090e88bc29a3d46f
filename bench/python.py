#!/usr/bin/env python3
"""The Python package against scikit-learn: estimators that do the same work, as one would write them without tuning.

    build/python-env/newest/bin/python bench/python.py             # all rows: the table to build/bench/python.md
    build/python-env/newest/bin/python bench/python.py --readme    # and into README.md
    build/python-env/newest/bin/python bench/python.py --quick     # one round, small synthetic data: does it all work?
    build/python-env/newest/bin/python bench/python.py --overhead  # only what fits take beside the calls of the library

The Python is one that has cleave and scikit-learn; `make python` makes the one above. Every fit is a process of its own, in
turn, on the same cores and number of threads; what is timed is `fit` alone, after a small fit that loads what is needed. Times
are medians. Both sides get the same data and are scored by the same functions.
"""
import argparse
import json
import os
import statistics
import sys
import time
import warnings
from importlib import metadata

import numpy as np

import harness

ROOT = harness.ROOT
BEGIN, END = "<!-- bench/python.py -->", "<!-- end of bench/python.py -->"
LIMIT = 60  # seconds of a fit; who takes longer has no time
COVTYPE = (581_012, 54)  # the shape of the forest cover data
GRAPH = 5_000  # objects of these for spectral clustering, or twice as many, and again, while it keeps to LIMIT
SMALL = (1000, 10)  # points of a fit that is to show what Python takes
SEED = 0


# --- data: what both sides are given, and the truth ---


def shipped(name):
    """Data that come with scikit-learn."""
    import sklearn.datasets
    return getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)


def synthetic(task, n):
    """Groups that overlap, or two classes that a linear model tells apart in part."""
    from sklearn.datasets import make_blobs, make_classification
    if task == "classes":
        return make_classification(n, COVTYPE[1], n_informative=20, n_redundant=10, random_state=SEED)
    return make_blobs(n, COVTYPE[1], centers=7, center_box=(-1, 1), cluster_std=1.5, random_state=SEED)


DATA = ("digits", "wine", "breast_cancer", "synthetic")


# --- the pairs ---


def classifier(data, ours):
    """Of the two; for far more samples than features the solver that the manual of scikit-learn names for that."""
    from cleave import KSupportClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    if ours:
        return KSupportClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(penalty="l1", solver="saga" if data == "synthetic" else "liblinear", random_state=SEED)
    return OneVsRestClassifier(model) if data in ("digits", "wine") else model


def clusterer(pair, k, ours):
    """Of the two, for k clusters."""
    import cleave
    from sklearn.cluster import KMeans, SpectralClustering
    if pair == "ncut":
        return (cleave.NormalizedCut(k, affinity="knn") if ours
                else SpectralClustering(k, affinity="nearest_neighbors", random_state=SEED))
    return cleave.KPalm(k) if ours else KMeans(k, random_state=SEED)


# name: what is compared, what the score is, what else is counted
PAIRS = {"ncut": ("`NormalizedCut`, `SpectralClustering`", "ARI", "normalized cut"),
         "kpalm": ("`KPalm`, `KMeans`", "ARI", "sum of squares"),
         "ksupport": ("`KSupportClassifier`, `LogisticRegression('l1')`", "accuracy", "nonzero weights")}


def sum_of_squares(x, labels):
    """Of distances to the means of the clusters."""
    return sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in (x[labels == c] for c in np.unique(labels)))


def nonzeros(model):
    """Of all models of a classifier."""
    return int(sum(np.count_nonzero(one.coef_) for one in getattr(model, "estimators_", [model])))


def fit(pair, data, ours):
    """One fit on the arrays of the folder: seconds, score, and what else is counted."""
    import cleave
    x, y = np.load("x.npy"), np.load("y.npy")
    warnings.simplefilter("ignore")
    few = slice(0, max(60, len(x) // 1000))
    if pair == "ksupport":
        from sklearn.model_selection import train_test_split
        x, x_test, y, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=SEED)
        model, given = classifier(data, ours), (x, y)
        classifier(data, ours).fit(x[few], y[few])
    else:
        model, given = clusterer(pair, len(set(y)), ours), (x,)
        clusterer(pair, 2, ours).fit(x[few])
    began = time.perf_counter()
    model.fit(*given)
    seconds = time.perf_counter() - began
    if pair == "ksupport":
        return {"seconds": seconds, "score": float(model.score(x_test, y_test)), "other": nonzeros(model)}
    other = sum_of_squares(x, model.labels_) if pair == "kpalm" else cleave.metrics.ncut(cleave.affinity(x, "knn"), model.labels_)
    return {"seconds": seconds, "score": cleave.metrics.ari(y, model.labels_), "other": other}


# --- what a fit takes beside the calls of the library ---


class Clock:
    """The library, and how long its functions take."""

    def __init__(self, library):
        self.library, self.seconds = library, 0.0

    def __getattr__(self, name):
        found = getattr(self.library, name)
        if not callable(found):
            return found

        def timed(*arguments):
            began = time.perf_counter()
            try:
                return found(*arguments)
            finally:
                self.seconds += time.perf_counter() - began

        setattr(self, name, timed)  # the next one is found without this
        return timed


def beside(name, fits):
    """Seconds of fits of an estimator, less those of all calls of the library in it: the median."""
    import cleave
    clock = Clock(cleave._library.lib)
    for module in [module for called, module in sys.modules.items() if called.startswith("cleave.") and hasattr(module, "lib")]:
        module.lib = clock
    warnings.simplefilter("ignore")
    x = np.random.default_rng(SEED).normal(size=SMALL)
    kind, found = getattr(cleave, name), []
    for _ in range(fits + 1):  # the first loads what is needed
        model = kind(3) if "n_clusters" in kind._option_of else kind()
        if name == "Consensus":
            given = ([np.digitize(x[:, c], [-0.4, 0.4]) for c in range(x.shape[1])],)
        else:
            given = (x, x[:, 0] > 0) if name == "KSupportClassifier" else (x, x[:, 0]) if name == "KSupportRegressor" else (x,)
        clock.seconds, began = 0.0, time.perf_counter()
        model.fit(*given)
        found.append(time.perf_counter() - began - clock.seconds)
    return statistics.median(found[1:])


def overhead(chosen):
    """A sentence, of all estimators."""
    from cleave import _parameters
    fits, found = 3 if chosen.quick else 41, {}
    for name in _parameters.ESTIMATORS:
        command = [sys.executable, os.path.abspath(__file__), "--beside", name, str(fits)]
        code, output, _ = harness.run(command, chosen.threads, limit=10 * LIMIT)
        if code != 0:
            sys.exit(f"bench: {name} failed")
        found[name] = f"`{name}` {1000 * float(output.splitlines()[-1]):.2f}"
    words = (f"Beside the calls of the library a fit of {SMALL[0]:,} x {SMALL[1]} points takes, in milliseconds (medians of {fits} fits): "
             f"{', '.join(found.values())}.")
    harness.say(words)
    return words


# --- rounds ---


def make(pair, data, n):
    """Write the arrays of a row, standardized; its title. Synthetic ones have n rows."""
    from sklearn.preprocessing import StandardScaler
    if data != "synthetic":
        x, y = shipped(data)
    else:
        x, y = synthetic("classes" if pair == "ksupport" else "groups", n)
    np.save("x.npy", StandardScaler().fit_transform(x))
    np.save("y.npy", y)
    return f"{data.replace('_', ' ')}, {len(x):,} x {x.shape[1]}"


def one_fit(pair, data, ours, threads):
    """What `fit` says in a process of its own; None: it took longer than LIMIT."""
    command = [sys.executable, os.path.abspath(__file__), "--fit", pair, data, "cleave" if ours else "scikit-learn"]
    code, output, _ = harness.run(command, threads, limit=LIMIT + 30)  # data are read and made ready besides
    answer = json.loads(output.splitlines()[-1]) if code == 0 else None
    return answer if answer and answer["seconds"] <= LIMIT else None


def graph_size(threads):
    """As many objects as SpectralClustering can do."""
    n = GRAPH
    while 2 * n <= COVTYPE[0]:
        with harness.Folder():
            make("ncut", "synthetic", 2 * n)
            if one_fit("ncut", "synthetic", False, threads) is None:
                break
        n *= 2
    return n


def measure(pair, data, rounds, threads):
    """Both sides in turn, the other one first in every second round: {ours: what fit says, with the median of the seconds}."""
    found = {True: [], False: []}
    missing = set()
    for turn in range(rounds):
        for ours in (True, False) if turn % 2 == 0 else (False, True):
            if ours in missing:
                continue
            answer = one_fit(pair, data, ours, threads)
            if answer is None:
                missing.add(ours)
            else:
                found[ours].append(answer)
    return {ours: None if ours in missing else {**answers[0], "seconds": statistics.median(one["seconds"] for one in answers)}
            for ours, answers in found.items()}


def cell(found, key, form):
    """cleave, scikit-learn."""
    return ", ".join(form(answer[key]) if answer else f"more than {LIMIT} s" if key == "seconds" else "-"
                     for answer in (found[True], found[False]))


def line(pair, title, found):
    """A row of the table."""
    other = "{:,.0f}".format if pair != "ncut" else "{:.4g}".format
    who, score, counted = PAIRS[pair]
    return [who, title, cell(found, "seconds", "{:.3g}".format), f"{score} {cell(found, 'score', '{:.3f}'.format)}",
            f"{counted} {cell(found, 'other', other)}"]


def table(chosen):
    """Lines of Markdown."""
    lines = [["cleave, scikit-learn", "data", "seconds", "score", "and"], ["---"] * 5]
    for pair in PAIRS:
        for data in DATA:
            rounds = 1 if chosen.quick else min(chosen.rounds, 3) if data == "synthetic" else chosen.rounds
            if chosen.quick or data != "synthetic":
                n = 2_000
            else:
                n = graph_size(chosen.threads) if pair == "ncut" else COVTYPE[0]
            with harness.Folder():
                title = make(pair, data, n)
                lines.append(line(pair, title, measure(pair, data, rounds, chosen.threads)))
            harness.say(" | ".join(lines[-1]))
    return harness.markdown(lines)


def report(chosen):
    """The table and what has to be known about it."""
    how = "one round, little data: no figures to believe" if chosen.quick else f"medians of {chosen.rounds} fits (synthetic: 3)"
    day = time.strftime("%Y-%m-%d", time.gmtime())
    names = ", ".join(f"{name} {metadata.version(name)}" for name in ("cleave", "scikit-learn", "numpy", "scipy"))
    return "\n\n".join([
        f"In each cell cleave comes first, then scikit-learn: {how}, {chosen.threads} threads each, in turn; {day}, "
        f"{harness.machine()}; {names}.",
        table(chosen),
        overhead(chosen),
        "Parameters are defaults, but for the number of clusters, graphs of 10 nearest neighbors for the cuts, the solver that an L1 "
        "penalty needs (`liblinear`), and on the synthetic samples the one that the manual names for many samples (`saga`). "
        "Data are standardized; classifiers learn from three quarters, and accuracy is on the rest. The synthetic data have the "
        f"shape of the forest cover data; the cuts are of fewer, as `SpectralClustering` takes more than {LIMIT} s for twice as many. "
        "Where cleave is behind, these are fits of some milliseconds that end with a proof: `KPalm` goes on until no move of a single object "
        "is better, `KSupportClassifier` until the duality gap is small. `bench/python.py` makes this table."])


def into_readme(words):
    """Between the two marks."""
    path = os.path.join(ROOT, "README.md")
    with open(path) as file:
        before, rest = file.read().split(BEGIN)
    _, after = rest.split(END)
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n{words}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, little synthetic data")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="fits of everybody [5]")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="of both sides [2]")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    parser.add_argument("--overhead", action="store_true", help="print only what fits take beside the calls of the library")
    parser.add_argument("--output", metavar="FILE", default=os.path.join(ROOT, "build/bench/python.md"), help="[build/bench/python.md]")
    parser.add_argument("--fit", nargs=3, metavar=("PAIR", "DATA", "WHO"), help=argparse.SUPPRESS)
    parser.add_argument("--beside", nargs=2, metavar=("ESTIMATOR", "FITS"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.fit:
        print(json.dumps(fit(*chosen.fit[:2], chosen.fit[2] == "cleave")))
        return
    if chosen.beside:
        print(beside(chosen.beside[0], int(chosen.beside[1])))
        return
    if chosen.quick and chosen.readme:
        sys.exit("bench: --quick makes no figures for README.md")
    try:
        metadata.version("cleave")
    except metadata.PackageNotFoundError:
        sys.exit("bench: this Python has no cleave; first: make python, then build/python-env/newest/bin/python bench/python.py")
    if chosen.overhead:
        overhead(chosen)
        return
    words = report(chosen)
    harness.write(os.path.abspath(chosen.output), words + "\n")
    if chosen.readme:
        into_readme(words)
    harness.say(f"bench: {chosen.output}{' and README.md' if chosen.readme else ''}")


main()
