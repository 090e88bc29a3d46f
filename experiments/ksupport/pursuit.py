"""Figures 2 and 3: matrix pursuit on digits, by all methods; and what the learned affinity is worth."""

import os
import tempfile

from common import launch, npy
from common.markdown import table
from methods import COLORS, METHODS, RULES, flags
from pictures import by_k, by_time

KS = [4000, 6000, 8000, 10000, 12000]
LAMBDA = 20
SOLVERS = [(name, options, color) for (name, options), color in zip(METHODS, COLORS)
           if options["solver"] != "newton" and "working-set" not in options]

HEAD = """# Matrix pursuit: figures 2 and 3{quick}

Liu, Yuan, Zhang, Liu and Metaxas 2016, section 4.2: MNIST-1000 (100 images per digit, the first ones of the set, averaged to 14 x 14) and USPS-2000 (200 per
digit), each image of length 1, lambda = {weight}, k = 4000 to 12000. Seconds are those of the solver. Runs are ended after {limit} s. F* for the pictures is the least value
that any run here has reached.

What the paper reports: k-FCFW is the fastest on both, the more so the larger k.
"""


def first_of_each(labels, count):
    """The places of the first `count` objects of each class, class by class."""
    classes = sorted(set(labels))
    return [i for c in classes for i in [j for j, label in enumerate(labels) if label == c][:count]]


def average(image):
    """28 x 28 to 14 x 14, in [0, 1]."""
    return [sum(image[(2 * r + a) * 28 + 2 * c + b] for a in (0, 1) for b in (0, 1)) / (4 * 255)
            for r in range(14) for c in range(14)]


def prepare(name, count, shrink, folder):
    """(points, labels) files, or None where the data are missing."""
    source = os.path.join(launch.DATA, name)
    if not os.path.exists(source + ".X.npy"):
        return None
    values, (_, width) = npy.read(source + ".X.npy")
    labels = list(npy.read(source + ".y.npy")[0])
    chosen = first_of_each(labels, count)
    rows = [list(values[i * width:(i + 1) * width]) for i in chosen]
    paths = os.path.join(folder, name + ".npy"), os.path.join(folder, name + ".y.npy")
    npy.write_rows(paths[0], [average(row) for row in rows] if shrink else rows)
    npy.write_labels(paths[1], [labels[i] for i in chosen])
    return paths


def solve(cleave, points, k, seconds, *more):
    """The JSON result."""
    return cleave.result("pursuit", points, "-k", k, "--lambda", LAMBDA, "--scale", "unit-rows", "--time-limit", seconds,
                         *more)


def row_of(name, result):
    """Of the table."""
    ended = "" if result["stop"] == "converged" else f" ({result['stop']})"
    return [name, f"{result['seconds']['solve']:.3f}{ended}", str(result["iterations"]), f"{result['objective']['value']:.6f}",
            f"{result['certificate']['value']:.2e}", str(result["weights"]["start"][-1])]


def study(cleave, title, points, ks, seconds_each):
    """Tables by rule and k, and seconds for the picture."""
    parts, seconds = [], {name: [] for name, _, _ in SOLVERS}
    header = ["method", "seconds", "iterations", "F", "relative gap", "nonzeros"]
    for words, rule in RULES:
        for k in ks if rule["rule"] == "change" else (ks[0], ks[-1]):
            rows = []
            for name, options, _ in SOLVERS:
                result = solve(cleave, points, k, seconds_each, *flags(options), *flags(rule))
                rows.append(row_of(name, result))
                if rule["rule"] == "change":
                    seconds[name].append((k, result["seconds"]["solve"]))
            parts.append(f"### {title} until {words}, k = {k}\n\n{table(header, rows)}")
    return parts, seconds


def read_trace(path):
    """[(seconds, objective)]."""
    with open(path, encoding="utf-8") as file:
        return [tuple(float(v) for v in row.split(",")[1:3]) for row in file.read().splitlines()[1:]]


def convergence(cleave, points, k, seconds, folder):
    """(F - F*) / F* by seconds."""
    trace, runs = os.path.join(folder, "trace.csv"), {}
    for name, options, _ in SOLVERS:
        solve(cleave, points, k, seconds, *flags(options), "--tol", "1e-6", "--trace", trace)
        runs[name] = read_trace(trace)
    least = min(value for points_ in runs.values() for _, value in points_)
    return {name: [(s, max((v - least) / least, 1e-9)) for s, v in rows[1:]] for name, rows in runs.items()}


def clusters(cleave, paths, k, folder):
    """ARI of ncut and dominant on the learned affinity, with and without the diagonal, beside ncut on plain similarities."""
    rows = []
    graph = os.path.join(folder, "graph.mtx")
    for words, more in (("as published", []), ("zero diagonal", ["--zero-diagonal"])):
        for lam in (LAMBDA, 1):
            cleave.run("pursuit", paths[0], "-k", k, "--lambda", lam, "--scale", "unit-rows", "--graph", graph, "-q", *more)
            cut = cleave.result("ncut", graph, "--affinity", "precomputed", "-k", 10, "--restarts", 4, "--truth", paths[1])
            sets = cleave.result("dominant", graph, "--affinity", "precomputed", "-k", 10, "--assign", "--truth", paths[1])
            rows.append([f"pursuit, {words}, k = {k}, lambda {lam}", f"{cut['metrics']['ari']:.3f}",
                         f"{cut['metrics']['assignment_rate']:.3f}", f"{sets['metrics']['ari']:.3f}"])
    plain = cleave.result("ncut", paths[0], "--scale", "unit-rows", "--affinity", "gaussian", "-k", 10, "--restarts", 4,
                          "--truth", paths[1])
    rows.append(["gaussian similarities", f"{plain['metrics']['ari']:.3f}", f"{plain['metrics']['assignment_rate']:.3f}", ""])
    return table(["affinity", "ARI of ncut", "share with a label", "ARI of dominant"], rows)


def report(cleave, quick, seconds_each):
    """{file name: text}."""
    files, parts = {}, [HEAD.format(weight=LAMBDA, limit=seconds_each, quick=' (quick: 20 images per digit)' if quick else '')]
    ks = [1000, 2000] if quick else KS
    colors = [color for _, _, color in SOLVERS]
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, count, shrink in (("mnist10k", "MNIST", 100, True), ("usps", "USPS", 200, False)):
            count = 20 if quick else count
            title = f"{kind}-{10 * count}"
            paths = prepare(name, count, shrink, folder)
            if not paths:
                parts.append(f"## {title}\n\n{name}.X.npy is not in {launch.DATA}: skipped.\n")
                continue
            tables, seconds = study(cleave, title, paths[0], ks, seconds_each)
            files[f"pursuit-{name}.svg"] = by_k(f"{title}: seconds to the paper's rule, by k", seconds, colors, ks)
            parts.append(f"## {title}\n\n![seconds](pursuit-{name}.svg)\n")
            for k in (ks[0], ks[-1]):
                series = convergence(cleave, paths[0], k, seconds_each / 3, folder)
                files[f"pursuit-{name}-{k}.svg"] = by_time(f"{title}: (F - F*) / F* by seconds, k = {k}", series, colors)
                parts.append(f"![convergence](pursuit-{name}-{k}.svg)\n")
            parts += tables
            parts.append(f"### {title}: clusters\n\n{clusters(cleave, paths, ks[-1], folder)}")
    files["pursuit.md"] = "\n".join(parts)
    return files
