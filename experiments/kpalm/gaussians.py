"""Dense and sparse Gaussians, outliers and heavy tails: which norm finds the clusters that were put there."""

import os
import random
import statistics
import tempfile

from common import npy
from common.charts import Panel, document, round_steps, text
from common.markdown import table

N, K, SETS = 300, 3, 40
METRICS = [("vi", "VI"), ("ari", "ARI"), ("nmi", "NMI"), ("accuracy", "accuracy"), ("purity", "purity")]
ALGORITHMS = {
    "k-means": ["--solver", "lloyd", "--start", "kmeans++"],
    "KPALM": ["--solver", "kpalm", "--start", "kmeans++"],
    "k-median": ["--solver", "weiszfeld", "--start", "d1++"],
    "eps-KPALM": ["--solver", "kpalm", "--norm", "euclidean", "--start", "d1++"],
}
# Distance between the centers, and how an object lies around its own.
DESIGNS = {
    "dense": (6.0, lambda draw: 1.0),
    "sparse": (3.0, lambda draw: 1.0),
    "outliers, 10 %": (6.5, lambda draw: 12.0 if draw.random() < 0.1 else 1.0),
    "heavy tails": (4.0, lambda draw: 1 / max(draw.random(), 1e-3) ** 0.5),
}

HEAD = f"""# Gaussians: the squared norm against the norm

Slides, "Squared norm algorithms vs. eps-KPALM": {N} points in {K} clusters; dense (apart) and sparse (overlapping). The slides show
plots; their claims are that the squared norm is preferable where the hulls of the clusters are disjoint, and that eps-KPALM is nearer to
the clusters that were put there where there are outliers. Here: centers at the corners of an equilateral triangle, plane normal
clouds; *outliers*: one object in ten is drawn with twelve times the standard deviation; *heavy tails*: the deviation is
u^(-1/2), u uniform. Means of {SETS} data sets, best of 10 starts each; VI in nats, smaller is better.

"""


def sample(design, draw):
    """Points and the cluster of each."""
    side, deviation = DESIGNS[design]
    corners = [(0.0, 0.0), (side, 0.0), (side / 2, side * 3 ** 0.5 / 2)]
    points, truth = [], []
    for i in range(N):
        sd = deviation(draw)
        points.append([x + sd * draw.gauss(0, 1) for x in corners[i % K]])
        truth.append(i % K)
    return points, truth


def measure(cleave, design, folder):
    """{algorithm: {metric: values}} over the data sets."""
    found = {name: {"iterations": []} | {metric: [] for metric, _ in METRICS} for name in ALGORITHMS}
    for number in range(SETS):
        points, truth = sample(design, random.Random(1000 + number))
        data, labels = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        npy.write_rows(data, points)
        npy.write_labels(labels, truth)
        for name, options in ALGORITHMS.items():
            result = cleave.result("kpalm", data, "-k", K, "--truth", labels, "--restarts", 10, "--seed", number, *options)
            found[name]["iterations"].append(result["iterations"])
            for metric, _ in METRICS:
                found[name][metric].append(result["metrics"][metric])
    return found


def chart(results):
    """VI by design, a bar an algorithm."""
    colors = ["#888", "#4477aa", "#ddaa33", "#bb5566"]
    top = max(statistics.mean(found[name]["vi"]) for found in results.values() for name in found) * 1.1
    panel = Panel((60, 40, 640, 240), (0, len(results)), (0, top))
    parts = panel.frame("Variation of information", [(i + 0.5, name) for i, name in enumerate(results)],
                        round_steps(0, top))
    for i, found in enumerate(results.values()):
        for j, (name, color) in enumerate(zip(found, colors)):
            value = statistics.mean(found[name]["vi"])
            x, y = panel.place(i + 0.14 + 0.18 * j, value)
            _, bottom = panel.place(i, 0)
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="24" height="{bottom - y:.1f}" fill="{color}"/>')
    for j, (name, color) in enumerate(zip(ALGORITHMS, colors)):
        parts.append(text(80 + 120 * j, 320, name, color=color, extra='font-weight="bold"'))
    return document(740, 340, parts)


def report(cleave):
    """{file name: text}."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for design in DESIGNS:
            results[design] = measure(cleave, design, folder)
    words = [HEAD, "![VI](gaussians.svg)\n\n"]
    for design, found in results.items():
        words.append(f"## {design}\n\n")
        rows = [[name, *(f"{statistics.mean(found[name][metric]):.3f}" for metric, _ in METRICS),
                 f"{statistics.mean(found[name]['iterations']):.1f}"] for name in ALGORITHMS]
        words.append(table(["algorithm", *(label for _, label in METRICS), "iterations"], rows) + "\n")
    return {"gaussians.md": "".join(words), "gaussians.svg": chart(results)}
