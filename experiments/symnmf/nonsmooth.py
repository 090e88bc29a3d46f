"""Figure 1: the two nonsmooth problems of section 4 and the ways of Frank-Wolfe and subgradients on them (examples/nonsmooth.c)."""

import csv
import io
import os
import subprocess
import tempfile

from common import launch
from common.charts import Panel, document, dot, line, round_steps, text
from common.markdown import table

SLOPES = {"13": 5.0, "14": 0.5}
COLORS = {"open loop": "#56b4e9", "line search": "#0072b2", "fully corrective": "#009e73", "subgradient": "#d55e00"}
LEVELS = 12


def measure():
    """{(problem, rule): [(x, y, f), ...]} of the start and every step."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "nonsmooth")
        source = os.path.join(launch.ROOT, "examples/nonsmooth.c")
        subprocess.run([os.environ.get("CC", "cc"), source, "-lm", "-o", program], check=True)
        printed = subprocess.run([program, "paths"], check=True, capture_output=True, text=True).stdout
    paths = {}
    for row in csv.DictReader(io.StringIO(printed)):
        paths.setdefault((row["problem"], row["rule"]), []).append(tuple(float(row[name]) for name in "xyf"))
    return paths


def level_lines(panel, slope):
    """Where slope |x| + y is a number: two straight pieces, inside of the triangle |x| <= y / 3, y <= 3."""
    parts = []
    for step in range(1, LEVELS):
        value = step * (slope + 3) / LEVELS
        top, side = min(value, 3), value / (slope + 3)  # at x = 0, and where it meets the side y = 3 |x|
        inner = max(value - 3, 0) / slope
        for sign in (-1, 1):
            (x1, y1), (x2, y2) = panel.place(sign * inner, top), panel.place(sign * side, 3 * side)
            parts.append(line(x1, y1, x2, y2, "#ccc"))
    return parts


def picture(paths):
    """A panel a problem."""
    parts = []
    for at, (problem, slope) in enumerate(SLOPES.items()):
        panel = Panel((60 + 400 * at, 40, 320, 320), (-1, 1), (0, 3))
        parts += panel.frame(f"({problem}): max({slope:g} x + y, -{slope:g} x + y)", round_steps(-1, 1), round_steps(0, 3))
        parts += level_lines(panel, slope)
        for sign in (-1, 1):
            parts.append(line(*panel.place(0, 0), *panel.place(sign, 3), "#222"))
        for rule, color in COLORS.items():
            spots = [panel.place(x, y) for x, y, _ in paths[problem, rule][:60]]
            joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
            parts.append(f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-opacity="0.5"/>')
            parts += [dot(x, y, color, 1.8) for x, y in spots]
    for at, (rule, color) in enumerate(COLORS.items()):
        parts.append(text(60 + 160 * at, 410, rule, color=color, extra='font-weight="bold"'))
    return document(800, 430, parts)


def lowest(path):
    """The least f so far is what a subgradient method returns; Frank-Wolfe returns its last point."""
    return min(f for _, _, f in path)


def report(paths):
    """{file name: text}."""
    rows = [[f"({problem}), {rule}", f"{path[-1][2]:.4f}", f"{lowest(path):.4f}", str(len(path) - 1)] for (problem, rule), path in paths.items()]
    words = ("# Nonsmooth problems (13) and (14): figure 1\n\nFrom (0.1, 1); both have the minimum 0 at (0, 0). The picture shows the first 60 "
             "steps of each.\n\n![figure 1](figure1.svg)\n\n" + table(["problem, steps", "last f", "lowest f", "steps"], rows))
    return {"nonsmooth.md": words, "figure1.svg": picture(paths)}
