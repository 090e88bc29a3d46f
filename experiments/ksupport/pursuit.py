"""Figures 2 and 3: matrix pursuit on digits; and what the learned affinity is worth."""

import os
import tempfile
from collections import namedtuple

from common import launch, npy
from common.markdown import table
from methods import FEW, LINES, METHODS, RULE, Run, flags, setup_of, table_of
from pictures import by_iteration, by_k, by_time

KS = [4000, 6000, 8000, 10000, 12000]
LAMBDA = 20
Data = namedtuple("Data", "file kind size shrink")  # `size`: objects in the paper, ten classes
SETS = [Data("mnist10k", "MNIST", 1000, True), Data("usps", "USPS", 2000, False)]
# `count`: images per class, or None for as many as in the paper; `methods`: names, or None for all
Size = namedtuple("Size", "title count ks replications methods limit")
PROTOCOL = Size("small", 30, KS, 10, None, 20)
FULL = Size("published size", None, [KS[0], KS[-1]], 1, FEW, 120)
QUICK = Size("quick", 10, [KS[0], KS[-1]], 2, None, 3)

# `runs`: {k: {method: [Run, ...]}}, k as it was run; `curves` as in logistic.py; `clusters`: a table, or None
Study = namedtuple("Study", "size name n runs curves clusters")


def places(labels, count, replication):
    """Of each class, class by class, `count` objects: the first ones, the next ones in the next replication."""
    found = {}
    for at, label in enumerate(labels):
        found.setdefault(label, []).append(at)
    return [at for label in sorted(found) for at in found[label][replication * count:(replication + 1) * count]]


def average(image):
    """28 x 28 to 14 x 14, in [0, 1]."""
    return [sum(image[(2 * r + a) * 28 + 2 * c + b] for a in (0, 1) for b in (0, 1)) / (4 * 255)
            for r in range(14) for c in range(14)]


def prepare(data, count, folder, replication):
    """(points, labels) files, or None where the data are missing."""
    source = os.path.join(launch.DATA, data.file)
    if not os.path.exists(source + ".X.npy"):
        return None
    values, (_, width) = npy.read(source + ".X.npy")
    labels = list(npy.read(source + ".y.npy")[0])
    chosen = places(labels, count, replication)
    rows = [list(values[i * width:(i + 1) * width]) for i in chosen]
    stem = os.path.join(folder, f"{data.kind}-{10 * count}-{replication}")
    paths = f"{stem}.npy", f"{stem}.y.npy"
    npy.write_rows(paths[0], [average(row) for row in rows] if data.shrink else rows)
    npy.write_labels(paths[1], [labels[i] for i in chosen])
    return paths


def solve(cleave, points, k, limit, *more):
    """(the JSON result, processor seconds of the solver, their share)."""
    result, _, share = cleave.timed("pursuit", points, "-k", k, "--lambda", LAMBDA, "--scale", "unit-rows", "--time-limit", limit, *more)
    return result, share * result["seconds"]["solve"], share


def seconds_of(path):
    """Of the first and the last row of a trace."""
    with open(path, encoding="utf-8") as file:
        rows = file.read().splitlines()[1:]
    return [float(row.split(",")[1]) for row in (rows[0], rows[-1])]


def solve_timed(cleave, points, k, limit, options, folder):
    """(the JSON result, processor seconds of the solver without the finding of L, those of that)."""
    path = os.path.join(folder, "trace.csv")
    result, seconds, share = solve(cleave, points, k, limit, *flags(options), *flags(RULE), "--trace", path)
    first, last = seconds_of(path)
    setup = setup_of(options, seconds - share * (last - first))
    return result, seconds - setup, setup


def trace_of(cleave, points, k, limit, options, folder):
    """[(iteration, processor seconds, objective)]."""
    path = os.path.join(folder, "trace.csv")
    _, _, share = solve(cleave, points, k, limit, *flags(options), "--tol", "1e-6", "--max-iter", 500, "--trace", path)
    with open(path, encoding="utf-8") as file:
        rows = [row.split(",") for row in file.read().splitlines()[1:]]
    return [(int(row[0]), share * float(row[1]), float(row[2])) for row in rows]


def curves_of(cleave, points, k, size, methods, folder):
    """F / F* - 1, F* the least that any of them came to."""
    traces = {one.name: trace_of(cleave, points, k, size.limit, one.options, folder) for one in methods}
    least = min(value for rows in traces.values() for _, _, value in rows)
    return {name: [(t, s, max(value / least - 1, 1e-9)) for t, s, value in rows[1:]] for name, rows in traces.items()}


def measure_set(cleave, data, size, folder):
    """All replications on one data set, or None where it is missing."""
    count = size.count or data.size // 10
    methods = [one for one in METHODS if size.methods is None or one.name in size.methods]
    ks = [max(k * (10 * count) ** 2 // data.size ** 2, 1) for k in size.ks]
    study = Study(size, f"{data.kind}-{10 * count}", 10 * count, {k: {one.name: [] for one in methods} for k in ks}, {}, [])
    for replication in range(size.replications):
        paths = prepare(data, count, folder, replication)
        if not paths:
            return None
        for k in ks:
            least = solve(cleave, paths[0], k, size.limit, "--tol", "1e-6")[0]["objective"]["value"]
            for one in methods:
                result, seconds, setup = solve_timed(cleave, paths[0], k, size.limit, one.options, folder)
                study.runs[k][one.name].append(Run(seconds, setup, result["iterations"], result["objective"]["value"], result["certificate"]["value"],
                                                   result["stop"] == "converged", least))
            if replication == 0 and size.methods is None and k in (ks[0], ks[-1]):
                study.curves[k] = curves_of(cleave, paths[0], k, size, methods, folder)
        if size is FULL:
            study.clusters.append(clusters(cleave, paths, ks[-1], folder))
    return study


def write_digits(folder):
    """The files of all studies: KIND-OBJECTS-REPLICATION.npy and .y.npy."""
    os.makedirs(folder, exist_ok=True)
    for size in (PROTOCOL, FULL):
        for data in SETS:
            for replication in range(size.replications):
                print(prepare(data, size.count or data.size // 10, folder, replication) or f"{data.file} is not there")


def measure(cleave, size):
    """A study for each data set that is there."""
    with tempfile.TemporaryDirectory() as folder:
        found = [measure_set(cleave, data, size, folder) for data in SETS]
    return [study for study in found if study]


def clusters(cleave, paths, k, folder):
    """ARI of ncut and dominant on the learned affinity, with and without the diagonal, beside ncut on plain similarities."""
    rows = []
    graph = os.path.join(folder, "graph.mtx")
    for words, more in (("as published", []), ("zero diagonal", ["--zero-diagonal"])):
        for lam in (LAMBDA, 1):
            cleave.run("pursuit", paths[0], "-k", k, "--lambda", lam, "--scale", "unit-rows", "--graph", graph, "-q", *more)
            cut = cleave.result("ncut", graph, "--affinity", "precomputed", "-k", 10, "--restarts", 4, "--truth", paths[1])
            sets = cleave.result("dominant", graph, "--affinity", "precomputed", "-k", 10, "--shift", 0, "--assign", "--truth", paths[1])
            rows.append([f"pursuit, {words}, k = {k}, lambda {lam}", f"{cut['metrics']['ari']:.3f}",
                         f"{cut['metrics']['assignment_rate']:.3f}", f"{sets['metrics']['ari']:.3f}"])
    plain = cleave.result("ncut", paths[0], "--scale", "unit-rows", "--affinity", "gaussian", "-k", 10, "--restarts", 4,
                          "--truth", paths[1])
    rows.append(["gaussian similarities", f"{plain['metrics']['ari']:.3f}", f"{plain['metrics']['assignment_rate']:.3f}", ""])
    return table(["affinity", "ARI of ncut", "share with a label", "ARI of dominant"], rows)


def section(study):
    """(text, {file name: picture})."""
    colors, files, ks = {one.name: one.color for one in METHODS}, {}, list(study.runs)
    seconds = {name: [(k, sum(run.seconds for run in study.runs[k][name]) / len(study.runs[k][name])) for k in ks] for name in study.runs[ks[0]]}
    name = f"pursuit-{study.name}"
    files[f"{name}.svg"] = by_k(f"{study.name}: mean seconds by k", seconds, colors, ks)
    several = study.size.replications > 1
    parts = [f"## {study.name}: {study.n} images, {study.size.replications} replication{'s' if several else ''}\n", f"![seconds]({name}.svg)\n"]
    for k, curves in study.curves.items():
        files[f"{name}-{k}-iterations.svg"] = by_iteration(f"{study.name}, k = {k}: F / F* - 1 by iteration", curves, colors)
        files[f"{name}-{k}-seconds.svg"] = by_time(f"{study.name}, k = {k}: F / F* - 1 by processor seconds", curves, colors)
        parts.append(f"![by iteration]({name}-{k}-iterations.svg) ![by seconds]({name}-{k}-seconds.svg)\n")
    parts += [f"### {study.name}, k = {k}\n\n{table_of(study.runs[k])}" for k in ks]
    parts += [f"### {study.name}: clusters\n\n{found}" for found in study.clusters]
    return "\n".join(parts), files


def report(studies):
    """{file name: text}."""
    sections = [section(study) for study in studies]
    quick = any(study.size is QUICK for study in studies)
    head = f"""# Matrix pursuit: figures 2 and 3{' (quick: smaller sizes)' if quick else ''}

Section 4.2: images of length 1 (MNIST averaged to 14 x 14), lambda = {LAMBDA}. The first replication has the first images of each digit in the set, the next one those that follow. With
fewer images than in the paper, k is in the same proportion to n^2. F* is what k-FCFW, ours, to a gap of 1e-6, comes to. Seconds are those of the solver.

{LINES}
"""
    return {"pursuit.md": head + "\n".join(text for text, _ in sections),
            **{name: picture for _, files in sections for name, picture in files.items()}}
