"""Line and bar charts as SVG text."""

from html import escape
from math import ceil, floor, log10

FONT = 'font-family="sans-serif" font-size="12"'


def text(x, y, words, anchor="start", colour="#222", extra=""):
    """One line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour="#222", extra=""):
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {extra}/>'


def document(width, height, parts):
    """A whole picture on white."""
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} {FONT}>'
    return "\n".join([head, f'<rect {size} fill="#fff"/>', *parts, "</svg>", ""])


def round_steps(low, high, count=5):
    """Round numbers within [low, high], about `count` of them."""
    raw = (high - low) / count
    size = 10.0 ** floor(log10(raw))
    step = size * next(m for m in (1, 2, 5, 10) if m * size >= raw * 0.999)
    decimals = max(0, -floor(log10(step)))
    ticks = [i * step for i in range(ceil(low / step), floor(high / step) + 1)]
    return [(tick, f"{tick:.{decimals}f}") for tick in ticks]


class Panel:
    """Axes in the box (x, y, width, height), with the data ranges given."""

    def __init__(self, box, across, up):
        self.x, self.y, self.width, self.height = box
        self.across, self.up = across, up

    def place(self, x, y):
        """Data to picture coordinates."""
        (left, right), (low, high) = self.across, self.up
        return (self.x + (x - left) / (right - left) * self.width,
                self.y + self.height - (y - low) / (high - low) * self.height)

    def frame(self, title, across_ticks, up_ticks):
        """Axes, grid and title."""
        parts = [text(self.x, self.y - 10, title, extra='font-weight="bold"')]
        for value, label in up_ticks:
            _, y = self.place(self.across[0], value)
            parts += [line(self.x, y, self.x + self.width, y, "#ddd"), text(self.x - 6, y + 4, label, "end")]
        for value, label in across_ticks:
            x, bottom = self.place(value, self.up[0])
            parts += [line(x, bottom, x, bottom + 4), text(x, bottom + 18, label, "middle")]
        bottom = self.y + self.height
        return parts + [line(self.x, bottom, self.x + self.width, bottom), line(self.x, self.y, self.x, bottom)]

    def curve(self, values, colour):
        """Values at 0, 1, 2, ... with dots."""
        spots = [self.place(i, value) for i, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour}"/>' for x, y in spots]
        return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-opacity="0.6"/>', *dots]

    def rule(self, value, label, colour):
        """A labelled level across the panel."""
        left, y = self.place(self.across[0], value)
        return [line(left, y, left + self.width, y, colour, 'stroke-dasharray="6 4" stroke-width="1.5"'),
                text(left + self.width - 4, y + 15, label, "end", colour)]


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
            parts += panel.curve(curve, "#0072b2")
        parts += panel.rule(level, name, "#d55e00")
        parts.append(text(panel.x + panel.width / 2, 308, "iteration", "middle"))
    return document(each * len(panels), 320, parts)


def bars(title, groups, names, colours, values):
    """Bars on a logarithmic axis: values[g][s] seconds, a group a set, a colour a name."""
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
                         f'fill="{colours[s]}"><title>{escape(names[s])}: {value:.3g} s</title></rect>')
    for s, name in enumerate(names):
        parts += [f'<rect x="{80 + 130 * s}" y="352" width="12" height="12" fill="{colours[s]}"/>',
                  text(97 + 130 * s, 362, name)]
    return document(max(width, 100 + 130 * len(names)), 380, parts)
