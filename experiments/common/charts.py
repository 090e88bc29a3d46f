"""Parts of SVG pictures: text, lines, panels with axes and curves."""

from html import escape
from math import ceil, floor, log10

FONT = 'font-family="sans-serif" font-size="12"'


def text(x, y, words, anchor="start", color="#222", extra=""):
    """One line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" {extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, color="#222", extra=""):
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" {extra}/>'


def dot(x, y, color, radius=2.2):
    """A disc."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>'


def square(x, y, color):
    """A small square."""
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{color}"/>'


def cross(x, y, color):
    """A small diagonal cross."""
    path = f"M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"
    return f'<path d="{path}" stroke="{color}" stroke-width="1.5"/>'


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
    ticks = [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
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

    def curve(self, points, color, mark=dot):
        """A line through the points (x, y), with a mark at each."""
        spots = [self.place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        marks = [mark(x, y, color) for x, y in spots]
        return [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-opacity="0.6"/>', *marks]

    def rule(self, value, label, color):
        """A labeled level across the panel."""
        left, y = self.place(self.across[0], value)
        return [line(left, y, left + self.width, y, color, 'stroke-dasharray="6 4" stroke-width="1.5"'),
                text(left + self.width - 4, y + 15, label, "end", color)]
