"""Curves on two logarithmic axes, as SVG text."""

from math import ceil, floor, log10

from common.charts import document, line, text

WIDTH, HEIGHT = 460, 330


def number(value):
    """10^value, short."""
    return f"{10.0 ** value:g}" if -3 <= value <= 5 else f"1e{value:g}"


def ticks(low, high):
    """Whole powers of ten in the range; halves where these are few."""
    step = max(1, ceil((high - low) / 7))
    whole = [e for e in range(ceil(low), floor(high) + 1) if e % step == 0]
    return whole if len(whole) > 1 else [low, (low + high) / 2, high]


def label(value):
    """At a tick that is no power of ten, three digits."""
    return number(value) if value == int(value) else f"{10.0 ** value:.3g}"


def panel(left, title, curves, colors):
    """One picture of {name: [(x, y), ...]} of positive numbers."""
    spots = [spot for curve in curves.values() for spot in curve]
    xs, ys = [log10(x) for x, _ in spots], [log10(y) for _, y in spots]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    x1, room = max(x1, x0 + 0.1), max(y1 - y0, 0.02) * 0.05
    y0, y1 = y0 - room, y1 + room
    box = (left + 70, 40, WIDTH - 90, HEIGHT - 120)

    def place(x, y):
        return box[0] + (x - x0) / (x1 - x0) * box[2], box[1] + box[3] - (y - y0) / (y1 - y0) * box[3]

    parts = [text(box[0], 26, title, extra='font-weight="bold"')]
    for e in ticks(y0, y1):
        _, y = place(x0, e)
        parts += [line(box[0], y, box[0] + box[2], y, "#ddd"), text(box[0] - 6, y + 4, label(e), "end")]
    for e in ticks(x0, x1):
        x, bottom = place(e, y0)
        parts += [line(x, bottom, x, bottom + 4), text(x, bottom + 18, label(e), "middle")]
    bottom = box[1] + box[3]
    parts += [line(box[0], bottom, box[0] + box[2], bottom), line(box[0], box[1], box[0], bottom)]
    parts.append(text(box[0] + box[2] / 2, bottom + 36, "processor seconds", "middle"))
    for name, curve in curves.items():
        path = " ".join("{:.1f},{:.1f}".format(*place(log10(x), log10(y))) for x, y in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colors[name]}" stroke-width="1.8"/>')
    return parts


def picture(panels, colors):
    """Panels (title, curves) side by side, with one legend."""
    parts = []
    for at, (title, curves) in enumerate(panels):
        parts += panel(WIDTH * at, title, curves, colors)
    for at, (name, color) in enumerate(colors.items()):
        x = 70 + 120 * at
        parts += [f'<rect x="{x}" y="{HEIGHT - 22}" width="14" height="4" fill="{color}"/>',
                  text(x + 20, HEIGHT - 16, name)]
    return document(WIDTH * len(panels), HEIGHT, parts)
