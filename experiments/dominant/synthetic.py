"""Figure 1: block matrices with noise; the quality of the methods by noise ratio, number of steps and cutoff."""

import os
import random
import statistics
import tempfile

from common import npy
from common.charts import Panel, document, round_steps, text
from common.markdown import table
from methods import METHODS, options, title_of

N, K, REPETITIONS = 200, 5, 5
SHIFT = 5
NOISE = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
# Panels of the figure, steps, cutoff.
CONFIGURATIONS = [("a, b", 400, 2e-12), ("c, d", 400, 2e-3), ("e, f", 4000, 2e-12)]
METRICS = [("ari", "ARI"), ("v_measure", "V"), ("assignment_rate", "AR")]

HEAD = f"""Johnell and Haghir Chehreghani, *Efficient Optimization of Dominant Set Clustering with Frank-Wolfe Algorithms*, section 6.2:
n = {N} objects in {K} random blocks, a_ij uniform in (0, 1) inside a block and 0 outside; each pair inside a block
becomes 0 with probability p, the noise ratio. K = {K}, means of {REPETITIONS} matrices (the paper clusters one matrix five
times; the methods are deterministic, so that would be one value). ARI and V over the objects that have a cluster; AR is
their share. The shift is {SHIFT}: the paper names none, and without one a cluster is a handful of objects. At p = 1 the
matrix is zero, and there is nothing to cluster.

The paper prints no numbers. What it says about the figure, and what comes out here:
"""


def block_matrix(noise, draw):
    """Similarities and the block of every object."""
    truth = [draw.randrange(K) for _ in range(N)]
    a = [[0.0] * N for _ in range(N)]
    for i in range(N):
        for j in range(i):
            if truth[i] == truth[j] and draw.random() >= noise:
                a[i][j] = a[j][i] = draw.random()
    return a, truth


def study_noise(cleave, noise, repetitions, folder):
    """{(panels, method): mean of each metric}."""
    matrix, truth = os.path.join(folder, "a.npy"), os.path.join(folder, "y.npy")
    found = {}
    for repetition in range(repetitions):
        a, blocks = block_matrix(noise, random.Random(f"{noise} {repetition}"))
        npy.write_rows(matrix, a)
        npy.write_labels(truth, blocks)
        for panels, steps, cutoff in CONFIGURATIONS:
            for method in METHODS:
                result = cleave.result("dominant", matrix, "--affinity", "precomputed", "-k", K, "--shift", SHIFT,
                                       "--truth", truth, *options(method, steps, cutoff))
                found.setdefault((panels, method.title), []).append(result["metrics"])
    return {key: {name: statistics.mean(run[name] for run in runs) for name, _ in METRICS}
            for key, runs in found.items()}


def measure(cleave, quick):
    """{noise: {(panels, method): metrics}}."""
    with tempfile.TemporaryDirectory() as folder:
        return {noise: study_noise(cleave, noise, 1 if quick else REPETITIONS, folder) for noise in (NOISE[::3] if quick else NOISE)}


def series(found, panels, title, metric="ari"):
    """A metric by noise."""
    return [(noise, found[noise][panels, title][metric]) for noise in found]


def trends(found):
    """(the largest noise up to which all FW variants keep ARI >= 0.95, the largest difference of theirs between configurations, mean ARI of RD by
    configuration)."""
    variants = [method.title for method in METHODS if method.solver != "rd"]
    configurations = [panels for panels, _, _ in CONFIGURATIONS]
    robust = max((noise for noise in found if all(
        value >= 0.95 for panels in configurations for title in variants
        for at, value in series(found, panels, title) if at <= noise)), default=None)
    spread = max(abs(x - y) for title in variants for one in configurations for other in configurations
                 for (at, x), (_, y) in zip(series(found, one, title), series(found, other, title)) if at <= 0.6)
    of_rd = {panels: statistics.mean(value for _, value in series(found, panels, "RD")) for panels in configurations}
    return robust, spread, of_rd


def trend_table(found):
    """The words of the paper beside what is found."""
    robust, spread, of_rd = trends(found)
    by_panels = ", ".join(f"{value:.2f} ({panels})" for panels, value in of_rd.items())
    kept = "no p" if robust is None else f"p = {robust:g}"
    rows = [["FW variants are robust to noise, with higher scores than RD",
             f"all of them keep ARI >= 0.95 up to {kept}; RD: mean ARI {of_rd['a, b']:.2f} at t = 400"],
            ["FW variants: consistent between the configurations",
             f"largest difference in ARI between two configurations, p <= 0.6: {spread:.2f}"],
            ["RD depends on t and the cutoff", f"mean ARI of RD over p: {by_panels}"]]
    return table(["published", "ours"], rows).replace("---:", "---")


def cell(metrics):
    """ARI / V / AR"""
    return " / ".join(f"{metrics[name]:.2f}" for name, _ in METRICS)


def picture(found):
    """Six panels, ARI beside AR, one row per configuration."""
    parts = []
    for row, (panels, steps, cutoff) in enumerate(CONFIGURATIONS):
        for column, (metric, name) in enumerate((METRICS[0], METRICS[2])):
            panel = Panel((60 + 400 * column, 40 + 270 * row, 330, 190), (0, 1), (-0.05, 1.05))
            letter = panels.split(", ")[column]
            parts += panel.frame(f"({letter}) {name}, t = {steps}, cutoff {cutoff:g}", round_steps(0, 1),
                                 round_steps(0, 1))
            for method in METHODS:
                parts += panel.curve(series(found, panels, method.title, metric), method.color, method.mark)
            parts.append(text(panel.x + panel.width / 2, panel.y + panel.height + 34, "noise p", "middle"))
    for place, method in enumerate(METHODS):
        parts += [method.mark(70 + 90 * place, 850, method.color), text(80 + 90 * place, 854, method.title)]
    return document(820, 870, parts)


def report(found, quick):
    """{file name: text}."""
    parts = [f"# {title_of('Dominant sets on synthetic data: figure 1', quick)}\n", HEAD, trend_table(found), "![Figure 1](figure1.svg)\n"]
    for panels, steps, cutoff in CONFIGURATIONS:
        rows = [[f"{noise:g}", *(cell(found[noise][panels, method.title]) for method in METHODS)] for noise in found]
        parts += [f"## Panels {panels}: t = {steps}, cutoff {cutoff:g}\n", "ARI / V / AR.\n",
                  table(["p", *(method.title for method in METHODS)], rows)]
    return {"synthetic.md": "\n".join(parts), "figure1.svg": picture(found)}
