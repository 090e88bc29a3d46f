"""Dense and sparse Gaussians, outliers and heavy tails: which norm finds the clusters that were put there."""

import os
import random
import statistics
import tempfile

from common import npy
from common.charts import Panel, document, dot, round_steps, text
from common.markdown import table

N, K, SETS, QUICK_SETS, RESTARTS = 300, 3, 40, 4, 10
METRICS = [("vi", "VI"), ("ari", "ARI"), ("nmi", "NMI"), ("accuracy", "accuracy"), ("purity", "purity")]
# Every algorithm from every start: with the same seed, they begin at the same centers.
STARTS = ["random", "kmeans++", "d1++"]
ALGORITHMS = {
    "k-means": ["--solver", "lloyd"],
    "KPALM": ["--norm", "squared"],
    "k-median": ["--solver", "weiszfeld"],
    "eps-KPALM": ["--norm", "euclidean"],
}
COLORS = ["#888", "#4477aa", "#ddaa33", "#bb5566"]
# Distance between the centers, and how an object lies around its own.
DESIGNS = {
    "dense": (6.0, lambda draw: 1.0),
    "sparse": (3.0, lambda draw: 1.0),
    "outliers, 10 %": (6.5, lambda draw: 12.0 if draw.random() < 0.1 else 1.0),
    "heavy tails": (4.0, lambda draw: 1 / max(draw.random(), 1e-3) ** 0.5),
}


def head(sets, quick):
    """Of the report."""
    return f"""# Gaussians: the squared norm against the norm{' (quick)' if quick else ''}

Slides, "Squared norm algorithms vs. eps-KPALM": {N} points in {K} clusters. Centers at the corners of an equilateral triangle, plane normal clouds;
*outliers*: one object in ten is drawn with twelve times the standard deviation; *heavy tails*: the deviation is u^(-1/2), u uniform. Means of {sets}
data sets, best of {RESTARTS} starts each; VI in nats, smaller is better. Every algorithm is run from every kind of start, with the same seeds, so
that KPALM and eps-KPALM begin at the same centers (k-median moves to the means of the nearest objects first).

"""


def sample(design, number):
    """Points of a data set, and the cluster of each."""
    side, deviation = DESIGNS[design]
    draw = random.Random(1000 + number)
    corners = [(0.0, 0.0), (side, 0.0), (side / 2, side * 3 ** 0.5 / 2)]
    points, truth = [], []
    for i in range(N):
        sd = deviation(draw)
        points.append([x + sd * draw.gauss(0, 1) for x in corners[i % K]])
        truth.append(i % K)
    return points, truth


def stem_of(design):
    """The name of its files."""
    return design.split(",")[0].replace(" ", "-")


def write_data(folder):
    """All data sets as files."""
    os.makedirs(folder, exist_ok=True)
    for design in DESIGNS:
        for number in range(SETS):
            points, truth = sample(design, number)
            stem = os.path.join(folder, f"{stem_of(design)}-{number}")
            npy.write_rows(f"{stem}.npy", points)
            npy.write_labels(f"{stem}.y.npy", truth)


def measure_design(cleave, design, sets, folder):
    """{(start, algorithm): {metric: values}} over the data sets."""
    found = {(start, name): {key: [] for key in ("iterations", *dict(METRICS))} for start in STARTS for name in ALGORITHMS}
    data, labels = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
    for number in range(sets):
        points, truth = sample(design, number)
        npy.write_rows(data, points)
        npy.write_labels(labels, truth)
        for (start, name), lists in found.items():
            result = cleave.result("kpalm", data, "-k", K, "--truth", labels, "--restarts", RESTARTS, "--seed", number,
                                   "--start", start, *ALGORITHMS[name])
            lists["iterations"].append(result["iterations"])
            for metric, _ in METRICS:
                lists[metric].append(result["metrics"][metric])
    return found


def measure(cleave, quick):
    """{design: what was found}."""
    with tempfile.TemporaryDirectory() as folder:
        return {design: measure_design(cleave, design, QUICK_SETS if quick else SETS, folder) for design in DESIGNS}


def bars(results):
    """Picture: VI by design, a bar an algorithm, from random starts."""
    top = max(statistics.mean(lists["vi"]) for found in results.values() for lists in found.values()) * 1.1
    panel = Panel((60, 40, 640, 240), (0, len(results)), (0, top))
    parts = panel.frame("Variation of information, random starts", [(i + 0.5, name) for i, name in enumerate(results)],
                        round_steps(0, top))
    for i, found in enumerate(results.values()):
        for j, (name, color) in enumerate(zip(ALGORITHMS, COLORS)):
            x, y = panel.place(i + 0.14 + 0.18 * j, statistics.mean(found["random", name]["vi"]))
            _, bottom = panel.place(i, 0)
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="24" height="{bottom - y:.1f}" fill="{color}"/>')
    for j, (name, color) in enumerate(zip(ALGORITHMS, COLORS)):
        parts.append(text(80 + 120 * j, 320, name, color=color, extra='font-weight="bold"'))
    return document(740, 340, parts)


def data_picture():
    """The first data set of each design, in the colors of its clusters; what lies outside of the picture is at its edge."""
    parts = []
    for at, design in enumerate(DESIGNS):
        points, truth = sample(design, 0)
        side = DESIGNS[design][0]
        low, high = -side, 2 * side
        panel = Panel((40 + 250 * at, 40, 200, 200), (low, high), (low, high))
        parts += panel.frame(design, round_steps(low, high, 3), round_steps(low, high, 3))
        for (x, y), cluster in zip(points, truth):
            spot = panel.place(min(max(x, low), high), min(max(y, low), high))
            parts.append(dot(*spot, COLORS[1:][cluster], 1.6))
    return document(1020, 280, parts)


def report(results, quick):
    """{file name: text}."""
    sets = len(next(iter(next(iter(results.values())).values()))["vi"])
    words = [head(sets, quick), "![the data](gaussians-data.svg)\n\n![VI](gaussians.svg)\n\n"]
    for design, found in results.items():
        rows = [[f"{name}, {start}", *(f"{statistics.mean(lists[metric]):.3f}" for metric, _ in METRICS),
                 f"{statistics.mean(lists['iterations']):.1f}"] for (start, name), lists in found.items()]
        words.append(f"## {design}\n\n" + table(["algorithm, start", *(label for _, label in METRICS), "iterations"], rows) + "\n")
    return {"gaussians.md": "".join(words), "gaussians.svg": bars(results), "gaussians-data.svg": data_picture()}
