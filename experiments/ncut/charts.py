"""The pictures of the report as SVG text: convergence, and bars."""

from html import escape
from math import ceil, floor, log10

from common.charts import Panel, document, round_steps, text


def convergence(panels):
    """Objective by iteration: a panel for each (title, curves, level, name of the level), side by side."""
    parts, each = [], 460
    for number, (title, curves, level, name) in enumerate(panels):
        longest = max(2, max(len(curve) for curve in curves) - 1)
        low, high = level, max(max(curve) for curve in curves)
        room = max(high - low, 1e-9) * 0.05
        panel = Panel((each * number + 76, 40, each - 100, 230), (0, longest), (low - 2 * room, high + room))
        ticks = [(value, label) for value, label in round_steps(0, longest, 6) if value == int(value)]
        parts += panel.frame(title, ticks, round_steps(*panel.up))
        for curve in curves:
            parts += panel.curve(enumerate(curve), "#0072b2")
        parts += panel.rule(level, name, "#d55e00")
        parts.append(text(panel.x + panel.width / 2, 308, "iteration", "middle"))
    return document(each * len(panels), 320, parts)


def bars(title, groups, names, colors, values):
    """Bars on a logarithmic axis: values[g][s] seconds, a group a set, a color a name."""
    width, box = 160 + 110 * len(groups), (80, 56, 60 + 110 * len(groups), 260)
    everything = [value for group in values for value in group]
    low, high = floor(log10(min(everything))), ceil(log10(max(everything)))
    panel = Panel(box, (0, len(groups)), (low, max(high, low + 1)))
    decades = [(e, f"{10.0 ** e:g} s") for e in range(low, panel.up[1] + 1)]
    parts = panel.frame(title, [(g + 0.5, group) for g, group in enumerate(groups)], decades)
    share = 0.84 / len(names)
    for g, group in enumerate(values):
        for s, value in enumerate(group):
            x, y = panel.place(g + 0.08 + share * s, log10(value))
            right, bottom = panel.place(g + 0.08 + share * (s + 0.9), low)
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}" '
                         f'fill="{colors[s]}"><title>{escape(names[s])}: {value:.3g} s</title></rect>')
    for s, name in enumerate(names):
        parts += [f'<rect x="{80 + 130 * s}" y="352" width="12" height="12" fill="{colors[s]}"/>',
                  text(97 + 130 * s, 362, name)]
    return document(max(width, 100 + 130 * len(names)), 380, parts)
