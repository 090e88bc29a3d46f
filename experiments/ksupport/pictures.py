"""Running times by k, and convergence by iteration and time, as SVG."""

from math import ceil, floor, log10

from common.charts import Panel, document, dot, line, text

WIDTH, HEIGHT = 760, 360


def log_ticks(low, high):
    """Powers of ten."""
    return [(e, f"1e{e}" if abs(e) > 3 else f"{10 ** e:g}") for e in range(floor(low), ceil(high) + 1)]


def legend(names, colors, x, y):
    """A line of color and a name each."""
    parts = []
    for i, name in enumerate(names):
        color = colors[name]
        parts += [line(x, y + 18 * i - 4, x + 18, y + 18 * i - 4, color, 'stroke-width="2"'), text(x + 24, y + 18 * i, name)]
    return parts


def curves(title, series, colors, across_ticks, across):
    """Lines of (x, positive y), y on a logarithmic scale. `series`: {name: points}; `colors`: by name."""
    values = [log10(y) for points in series.values() for _, y in points if y > 0]
    up = (floor(min(values)), ceil(max(values) + 1e-9))
    up = (up[0], up[0] + 1) if up[0] == up[1] else up
    panel = Panel((70, 40, WIDTH - 300, HEIGHT - 90), across, up)
    parts = panel.frame(title, across_ticks, log_ticks(*up))
    for name, points in series.items():
        shown = [(x, log10(y)) for x, y in points if y > 0]
        if shown:
            parts += panel.curve(shown, colors[name], dot)
    return document(WIDTH, HEIGHT, parts + legend(series, colors, WIDTH - 215, 50))


def by_k(title, series, colors, ks):
    """Seconds by k."""
    across = (min(ks) - 0.05 * max(ks), max(ks) * 1.05)
    return curves(title, series, colors, [(k, str(k)) for k in ks], across)


def by_time(title, series, colors):
    """Distance to the optimum by seconds, both logarithmic, of (iteration, seconds, distance)."""
    return logarithmic(title, {name: [(seconds, y) for _, seconds, y in points] for name, points in series.items()}, colors)


def by_iteration(title, series, colors):
    """The same by iteration."""
    return logarithmic(title, {name: [(t, y) for t, _, y in points] for name, points in series.items()}, colors)


def logarithmic(title, series, colors):
    """Curves on two logarithmic axes."""
    moved = {name: [(log10(max(x, 1e-4)), y) for x, y in points] for name, points in series.items()}
    xs = [x for points in moved.values() for x, _ in points]
    across = (floor(min(xs)), max(ceil(max(xs)), floor(min(xs)) + 1))
    return curves(title, moved, colors, log_ticks(*across), across)
