"""Iris: the objective from random and k-means++ starts, by schedule of alpha, and iteration by iteration."""

import csv
import os
import statistics
import tempfile
from collections import namedtuple
from math import log10

from common import launch
from common.charts import Panel, document, line, round_steps, text
from common.markdown import table

FILE = "iris.X.npy"
STARTS, QUICK_STARTS, BEST = 1000, 50, 78.8514
PLAIN = ["--no-polish"]
SLIDES = ["--alpha-unit", "diameter", *PLAIN]
ALGORITHMS = {
    "k-means": ["--solver", "lloyd"],
    "KPALM, diam / 2^t (slides)": SLIDES,
    "KPALM, default alpha": PLAIN,
    "KPALM, default (with polish)": [],
}
SCHEDULES = {"constant": "constant", "1 / t": "harmonic", "1 / 2^t": "geometric"}
UNITS = {"diameter": "diam", "effective": "k V'"}
OBJECTS = {"same": "", "distance": ", per object"}
NORMS = {"squared": "KPALM", "euclidean": "eps-KPALM"}
CLASSICAL = {"squared": ["--solver", "lloyd"], "euclidean": ["--solver", "weiszfeld"]}
LEAST = 1e-3  # of F - F*, in the picture
COLORS = {"constant": "#bb5566", "1 / t": "#ddaa33", "1 / 2^t": "#4477aa"}

Runs = namedtuple("Runs", "values iterations converged options")
Study = namedtuple("Study", "starts by_start by_schedule curves decreases")


def options_of(norm, unit, schedule, objects):
    """One choice of alpha."""
    return ["--norm", norm, "--alpha-unit", unit, "--alpha-schedule", SCHEDULES[schedule], "--object-alpha", objects, *PLAIN]


def runs(cleave, data, starts, options):
    """All starts; those of the same name begin at the same centers, whatever else the options say."""
    result = cleave.result("kpalm", data, "-k", 3, "--restarts", starts, *options)
    listed = result["restarts"]
    return Runs([r["objective"] for r in listed], [r["iterations"] for r in listed],
                [r["stop"] == "converged" for r in listed], options)


def trace(cleave, data, options, folder):
    """F and the decrease by iteration, of the first random start."""
    path = os.path.join(folder, "trace.csv")
    cleave.run("kpalm", data, "-k", 3, "--start", "random", "--trace", path, "-q", *options)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [float(row["F"]) for row in rows], [float(row["decrease"]) for row in rows if row["decrease"]]


def measure(cleave, quick):
    """Everything; None where the data are missing."""
    data = os.path.join(launch.DATA, FILE)
    if not os.path.exists(data):
        return None
    starts = QUICK_STARTS if quick else STARTS
    by_start = {start: {name: runs(cleave, data, starts, ["--start", start, *options]) for name, options in ALGORITHMS.items()}
                for start in ("random", "kmeans++", "greedy++")}
    choices = [(norm, unit, schedule, objects) for norm in NORMS for unit in UNITS for objects in OBJECTS for schedule in SCHEDULES]
    by_schedule = {choice: runs(cleave, data, starts, ["--start", "random", *options_of(*choice)]) for choice in choices}
    curves, decreases = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for choice in choices:
            curves[choice], decreases[choice] = trace(cleave, data, options_of(*choice), folder)
        epsilon = cleave.result("kpalm", data, "-k", 3, "--norm", "euclidean", "--max-iter", 0)["epsilon"]
        for norm, options in CLASSICAL.items():
            same = ["--epsilon", repr(epsilon)] if norm == "euclidean" else []
            curves[norm], _ = trace(cleave, data, options + same, folder)
    return Study(starts, by_start, by_schedule, curves, decreases)


def row(name, found, best):
    """Of a table."""
    share = [f"{100 * statistics.mean(v < best + margin for v in found.values):.1f} %" for margin in (1e-3, 1e-2)]
    return [name, f"{statistics.mean(found.values):.3f}", *share, f"{statistics.mean(found.iterations):.1f}"]


def shares(found):
    """Picture: the share of starts at or below a value."""
    panel = Panel((60, 40, 560, 260), (78, 150), (0, 1))
    parts = panel.frame("Share of starts at or below an objective", round_steps(78, 150), round_steps(0, 1))
    for j, ((name, one), color) in enumerate(zip(found.items(), ["#888", "#ddaa33", "#4477aa", "#bb5566"])):
        ordered = sorted(one.values)
        steps = [(v, (i + 1) / len(ordered)) for i, v in enumerate(ordered)][::max(1, len(ordered) // 100)]
        path = " ".join("%.1f,%.1f" % panel.place(min(x, 150), y) for x, y in steps)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>')
        parts.append(text(340, 150 + 18 * j, name, color=color, extra='font-weight="bold"'))
    return document(660, 350, parts)


def curve_panel(box, title, curves):
    """F less the lowest F of the panel, by iteration, on logarithmic axes: (F, color, extra) each."""
    most = log10(max(len(values) for values, _, _ in curves))
    low, high = min(min(v) for v, _, _ in curves), max(max(v) for v, _, _ in curves)
    panel = Panel(box, (0, most), (log10(LEAST), log10(high - low)))
    parts = panel.frame(title, [(log10(t), str(t)) for t in (1, 10, 100, 1000) if log10(t) <= most],
                        [(log10(v), f"{v:g}") for v in (0.001, 0.01, 0.1, 1, 10)])
    for values, color, extra in curves:
        path = " ".join("%.1f,%.1f" % panel.place(log10(t + 1), log10(max(v - low, LEAST))) for t, v in enumerate(values))
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="1.6" {extra} points="{path}"/>')
    return parts


def curves_picture(curves):
    """A panel a norm and unit; a line a schedule, dashed with an alpha per object."""
    parts = []
    for y, norm in enumerate(NORMS):
        for x, unit in enumerate(UNITS):
            lines = [(curves[norm], "#888", "")]
            lines += [(curves[norm, unit, schedule, objects], color, 'stroke-dasharray="5 3"' if objects != "same" else "")
                      for schedule, color in COLORS.items() for objects in OBJECTS]
            parts += curve_panel((60 + 420 * x, 40 + 270 * y, 340, 200), f"F - F* by iteration: {NORMS[norm]}, alpha(0) by {UNITS[unit]}",
                                 lines)
    for j, (name, color) in enumerate([*COLORS.items(), ("k-means, k-median", "#888")]):
        parts += [line(60 + 150 * j, 566, 84 + 150 * j, 566, color, 'stroke-width="2"'), text(90 + 150 * j, 570, name)]
    parts += [line(660, 566, 684, 566, "#222", 'stroke-dasharray="5 3"'), text(690, 570, "alpha per object")]
    return document(900, 590, parts)


def head(starts, quick):
    """Of the report."""
    return f"""# Iris{' (quick)' if quick else ''}

Slides, "Numerical results: the squared norm". {starts} starts each, the same seeds for all (restart r of every row begins at the same
centers). *At the best*: the share of starts within 0.001 of the lowest value, which for squared distances is {BEST}, the lowest known; *near
it*: within 0.01.

"""


def report(study, quick):
    """{file name: text}; a word where the data are missing."""
    if study is None:
        return {"iris.md": head(0, quick) + f"Skipped: {FILE} is not in {launch.DATA}.\n"}
    header = ["algorithm", "mean objective", "at the best", "near it", "iterations"]
    words = [head(study.starts, quick)]
    for start, found in study.by_start.items():
        words.append(f"## Starts {start}\n\n" + table(header, [row(name, one, BEST) for name, one in found.items()]) + "\n")
    for norm, name in NORMS.items():
        found = {choice: one for choice, one in study.by_schedule.items() if choice[0] == norm}
        best = BEST if norm == "squared" else min(min(one.values) for one in found.values())
        rows = [row(f"{UNITS[unit]}, {schedule}{OBJECTS[objects]}", one, best) for (_, unit, schedule, objects), one in found.items()]
        words.append(f"## {name}: schedules of alpha, random starts\n\n" + table(["alpha(0), schedule", *header[1:]], rows) + "\n")
    words.append("![shares](iris.svg)\n\n![curves](iris-curves.svg)\n")
    return {"iris.md": "".join(words), "iris.svg": shares(study.by_start["random"]), "iris-curves.svg": curves_picture(study.curves)}
