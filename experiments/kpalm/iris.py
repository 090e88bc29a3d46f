"""Iris: the objective from random and k-means++ starts, and by schedule of alpha."""

import os
import statistics

from common import launch
from common.charts import Panel, document, round_steps, text
from common.markdown import table

STARTS, BEST = 1000, 78.8514
PLAIN = ["--no-polish"]
ALGORITHMS = {
    "k-means": ["--solver", "lloyd"],
    "KPALM, diam / 2^t (slides)": ["--alpha-unit", "diameter", *PLAIN],
    "KPALM, default alpha": PLAIN,
    "KPALM, default (with polish)": [],
}
SCHEDULES = {
    "constant, diam": ["--alpha-unit", "diameter", "--alpha-schedule", "constant"],
    "diam / (t + 1)": ["--alpha-unit", "diameter", "--alpha-schedule", "harmonic"],
    "diam / 2^t": ["--alpha-unit", "diameter", "--alpha-schedule", "geometric"],
    "constant, default unit": ["--alpha-schedule", "constant"],
    "default unit / (t + 1)": ["--alpha-schedule", "harmonic"],
    "default unit / 2^t": ["--alpha-schedule", "geometric"],
}

HEAD = f"""# Iris

Slides, "Numerical results: the squared norm": KPALM reaches lower objectives than k-means from random starts, similar ones from
k-means++ starts, and needs more iterations; a falling alpha is faster. The slides show plots without numbers. Here: {STARTS} starts each,
the same seeds for all (restart r of every row begins at the same centers). *At the best*: the share of starts that end at
{BEST}, the lowest value known; *near it*: within 0.01, which includes the fixed point of Lloyd's algorithm at 78.8557 that is one
object away.

"""


def figures(cleave, data, options):
    """Objectives and iterations of all starts."""
    result = cleave.result("kpalm", data, "-k", 3, "--restarts", STARTS, *options)
    return [r["objective"] for r in result["restarts"]], [r["iterations"] for r in result["restarts"]]


def row(name, values, iterations):
    """Of a table."""
    return [name, f"{statistics.mean(values):.3f}", f"{100 * statistics.mean(v < BEST + 1e-3 for v in values):.1f} %",
            f"{100 * statistics.mean(v < BEST + 1e-2 for v in values):.1f} %", f"{statistics.mean(iterations):.1f}"]


def chart(found):
    """The share of starts at or below a value."""
    panel = Panel((60, 40, 560, 260), (78, 150), (0, 1))
    parts = panel.frame("Share of starts at or below an objective", round_steps(78, 150), round_steps(0, 1))
    for j, ((name, values), color) in enumerate(zip(found.items(), ["#888", "#ddaa33", "#4477aa", "#bb5566"])):
        ordered = sorted(values)
        steps = [(v, (i + 1) / len(ordered)) for i, v in enumerate(ordered) if i % 10 == 9]
        path = " ".join("%.1f,%.1f" % panel.place(min(x, 150), y) for x, y in steps)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>')
        parts.append(text(340, 150 + 18 * j, name, color=color, extra='font-weight="bold"'))
    return document(660, 350, parts)


def report(cleave):
    """{file name: text}; a word where the data are missing."""
    data = os.path.join(launch.DATA, "iris.X.npy")
    if not os.path.exists(data):
        return {"iris.md": HEAD + f"Skipped: {data} is not there.\n"}
    words, found = [HEAD], {}
    header = ["algorithm", "mean objective", "at the best", "near it", "iterations"]
    for start in ("random", "kmeans++", "greedy++"):
        rows = []
        for name, options in ALGORITHMS.items():
            values, iterations = figures(cleave, data, ["--start", start, *options])
            rows.append(row(name, values, iterations))
            if start == "random":
                found[name] = values
        words.append(f"## Starts {start}\n\n" + table(header, rows) + "\n")
    rows = [row(name, *figures(cleave, data, ["--start", "random", *PLAIN, *options])) for name, options in SCHEDULES.items()]
    words += ["## Schedules of alpha, random starts\n\n", table(header, rows), "\n![](iris.svg)\n"]
    return {"iris.md": "".join(words), "iris.svg": chart(found)}
