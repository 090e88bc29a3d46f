"""Figures 3 and 4: several clusters per pass, from sampled starts, on Gaussians in uniform noise."""

import os
import random
import statistics
import tempfile
from collections import namedtuple

from common import npy
from common.charts import Panel, document, dot, round_steps, text
from common.markdown import table
from methods import FRANK_WOLFE, METHODS, labels_before_assignment, options, scores_before_assignment, title_of

N, K, STARTS, STEPS, SHIFT = 1000, 4, 4, 1000, 15
REPETITIONS = 10
SHARES = (0.1, 0.2, 0.3, 0.4)
MEANS = ((-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0))
HALF_WIDTH = 7.5
NOISE = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
SHOWN = (0.0, 0.4)
SAMPLINGS = [("UNI", "uniform"), ("DPP", "dpp")]
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
LEFT_OUT = "#bbbbbb"

Score = namedtuple("Score", "passes assigned ari v ari_after v_after")

HEAD = f"""Johnell and Haghir Chehreghani, *Efficient Optimization of Dominant Set Clustering with Frank-Wolfe Algorithms*, section 6.5:
{N} objects in the plane, a share p of them uniform noise, the others in {K} Gaussians of 10, 20, 30 and 40 %, A = max(D) - D,
shift {SHIFT}, {STARTS} sampled starts per pass, t = {STEPS}, K = {K}, overlap at most 10 %. Means of {REPETITIONS} seeds on
one data set for each p. The paper does not print the means of the Gaussians; here they are the corners of a square with
side 8, and the noise fills the square of side {2 * HALF_WIDTH:g} around it. Noise has no true cluster and is not scored. V starts put all
weight on the sampled object, B starts half of it.
"""


def points_of(noise):
    """Points and classes (-1: noise)."""
    draw = random.Random(f"multistart {noise}")
    scattered = round(noise * N)
    rows = [[draw.uniform(-HALF_WIDTH, HALF_WIDTH) for _ in range(2)] for _ in range(scattered)]
    classes = [-1] * scattered
    for c, share in enumerate(SHARES):
        size = round(share * (N - scattered))
        size = N - len(rows) if c == K - 1 else size
        rows += [[draw.gauss(mean, 1) for mean in MEANS[c]] for _ in range(size)]
        classes += [c] * size
    return rows, classes


def run(cleave, paths, method, *more):
    """One result, all objects assigned in the end."""
    return cleave.result("dominant", paths[0], "--affinity", "distance", "-k", K, "--shift", SHIFT, "--assign", "--truth",
                         paths[1], *options(method, STEPS), *more)


def score(cleave, result, paths, folder):
    """Passes and quality, before and after assignment."""
    before, after = scores_before_assignment(cleave, result, paths[1], folder), result["metrics"]
    return Score(result.get("passes") or len(result["clusters"]), before["assignment_rate"], before["ari"],
                 before["v_measure"], after["ari"], after["v_measure"])


def mean_score(scores):
    """Of each field."""
    return Score(*(statistics.mean(field) for field in zip(*scores)))


def study_noise(cleave, noise, repetitions, folder):
    """{(sampling, method): mean score} on one data set, with plain peeling for comparison, and what figure 3 shows."""
    rows, classes = points_of(noise)
    paths = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
    npy.write_rows(paths[0], rows)
    npy.write_labels(paths[1], classes)
    found, shown = {}, None
    for name, sampling in SAMPLINGS:
        for method in FRANK_WOLFE:
            starts = ["--multistart", STARTS, "--sampling", sampling]
            runs = [run(cleave, paths, method, *starts, "--seed", seed) for seed in range(1, repetitions + 1)]
            found[name, method.title] = mean_score([score(cleave, result, paths, folder) for result in runs])
            shown = shown or (rows, classes, labels_before_assignment(runs[0]))
    plain = next(method for method in METHODS if method.title == "PFW-V")
    found["plain", "PFW-V"] = score(cleave, run(cleave, paths, plain), paths, folder)
    return found, shown


def scatter(panels):
    """Figure 3: (title, points, labels) side by side."""
    parts = []
    for number, (title, rows, labels) in enumerate(panels):
        panel = Panel((50 + 290 * number, 40, 240, 240), (-8, 8), (-8, 8))
        parts += panel.frame(title, round_steps(-8, 8, 4), round_steps(-8, 8, 4))
        for (x, y), label in sorted(zip(rows, labels), key=lambda pair: pair[1]):
            if abs(x) < 8 and abs(y) < 8:
                parts.append(dot(*panel.place(x, y), COLORS[label] if label >= 0 else LEFT_OUT, 1.6))
    return document(290 * len(panels) + 30, 310, parts)


def curves(found):
    """Figure 4: a row a sampling; passes, ARI before and after assignment."""
    parts = []
    fields = [("passes", "passes", (0.9, 4.1)), ("ari", "ARI, assigned", (-0.05, 1.05)),
              ("ari_after", "ARI, post-assigned", (-0.05, 1.05))]
    for row, (name, _) in enumerate(SAMPLINGS):
        for column, (field, title, up) in enumerate(fields):
            panel = Panel((50 + 330 * column, 40 + 270 * row, 270, 190), (0, NOISE[-1]), up)
            parts += panel.frame(f"{name}: {title}", round_steps(*panel.across), round_steps(*up))
            for method in FRANK_WOLFE:
                values = [(noise, getattr(found[noise][name, method.title], field)) for noise in found]
                parts += panel.curve(values, method.color, method.mark)
            parts.append(text(panel.x + panel.width / 2, panel.y + panel.height + 34, "noise p", "middle"))
    for place, method in enumerate(FRANK_WOLFE):
        parts += [method.mark(60 + 90 * place, 580, method.color), text(70 + 90 * place, 584, method.title)]
    return document(1010, 600, parts)


def summary(found):
    """A row a method: means over the noise ratios."""
    rows = []
    for name, title in found[NOISE[0]]:
        mean = mean_score([found[noise][name, title] for noise in found])
        published = "-" if name == "plain" else "about 2"
        rows.append([f"{name}, {title}", published, f"{mean.passes:.2f}", *(f"{value:.2f}" for value in mean[1:])])
    return table(["method", "passes, published", "passes, ours", "AR", "ARI, assigned", "V, assigned",
                  "ARI, post-assigned", "V, post-assigned"], rows)


def by_noise(found, field):
    """A row a noise ratio."""
    columns = list(found[NOISE[0]])
    rows = [[f"{noise:g}", *(f"{getattr(found[noise][key], field):.2f}" for key in columns)] for noise in found]
    return table(["p", *(" ".join(key) for key in columns)], rows)


def measure(cleave, quick):
    """({noise: {(sampling, method): score}}, what figure 3 shows)."""
    found, panels = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for noise in SHOWN if quick else NOISE:
            found[noise], (rows, classes, labels) = study_noise(cleave, noise, 2 if quick else REPETITIONS, folder)
            if noise in SHOWN:
                panels += [(f"p = {noise:g}: data", rows, classes), (f"p = {noise:g}: FW, UNI", rows, labels)]
    return found, panels


def report(found, panels, quick):
    """{file name: text}."""
    parts = [f"# {title_of('Multi-start dominant sets: figures 3 and 4', quick)}\n", HEAD,
             "![Figure 3: two of the data sets, and the clusters that FW finds from the first seed](figure3.svg)\n",
             "## Means over the noise ratios\n", summary(found),
             "*plain* is peeling one cluster at a time, a pass each.\n",
             "![Figure 4: passes and ARI by noise](figure4.svg)\n"]
    for field, title in (("passes", "Passes"), ("ari", "ARI, assigned"), ("ari_after", "ARI, post-assigned")):
        parts += [f"## {title}, by noise\n", by_noise(found, field)]
    return {"multistart.md": "\n".join(parts), "figure3.svg": scatter(panels), "figure4.svg": curves(found)}
