"""Pictures of data, runs and results, by matplotlib. Every function draws on `ax`, or on new axes, and returns the axes.

Where a result is expected, a fitted estimator will do. Clusters have the same colors in every picture, which people who
do not tell red from green can tell apart; objects that are left out (label -1) are gray.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from ._library import lib
from ._matrix import is_sparse

__all__ = ["colors", "convergence", "heatmap", "memberships", "path", "scatter"]

# The colors of Okabe and Ito, with two of Tol's; the most distinct first, yellow last, which is faint on white.
PALETTE = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#882255", "#999933", "#f0e442"]
LEFT_OUT = "#b3b3b3"
MARKERS = "osD^vP*X"  # the next one after each round of colors
LISTED = 12  # a legend of more lines hides the picture
CELLS = 1000  # heat maps of more objects show means over blocks


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("the plots of cleave need matplotlib: pip install matplotlib") from missing
    return pyplot


def _axes(ax: Any, **size: Any) -> Any:
    return _pyplot().subplots(layout="constrained", **size)[1] if ax is None else ax


def _result(given: Any) -> Any:
    """The result itself, or that of an estimator, which must have one."""
    found = getattr(given, "result_", given)
    if hasattr(found, "fit"):
        from sklearn.exceptions import NotFittedError
        raise NotFittedError(f"this {type(found).__name__} is not fitted yet: call 'fit' before its result is drawn")
    return found


def _run_of(given: Any) -> Any:
    found = _result(given)
    if not hasattr(found, "fields"):
        raise TypeError(f"a fitted estimator or a Result is drawn, not a {type(found).__name__}")
    return found


def _labels(given: Any, count: int) -> NDArray[Any]:
    """One label per object, also of an estimator or a result; texts in the order of their names."""
    for name in ("labels_", "labels"):
        given = getattr(given, name, given)
    found = np.zeros(count, int) if given is None else np.asarray(given)
    if found.shape != (count,):
        raise ValueError(f"there are {count} objects, labels have the shape {found.shape}")
    if not count:
        raise ValueError("there are no objects to draw")
    if found.dtype.kind == "f" and (wrong := np.flatnonzero(found != np.floor(found))).size:
        raise ValueError(f"the label {found[wrong[0]]} of object {wrong[0]} is not a whole number")
    return np.unique(found, return_inverse=True)[1] if found.dtype.kind in "OUS" else found


def _bare(ax: Any) -> None:
    """Only the lines that carry a scale."""
    ax.spines[["top", "right"]].set_visible(False)


def _legend(ax: Any, lines: int, **how: Any) -> None:
    if 0 < lines <= LISTED:
        ax.legend(frameon=False, **how)


def colors(k: int) -> list[str]:
    """Colors of the clusters 0..k-1. After ten they come again, lighter.

    >>> from cleave import plot
    >>> plot.colors(2)
    ['#0072b2', '#e69f00']
    """
    found = []
    for c in range(k):
        color, turn = PALETTE[c % len(PALETTE)], c // len(PALETTE)
        parts = [int(color[i:i + 2], 16) for i in (1, 3, 5)]
        found.append("#" + "".join(f"{round(255 - (255 - part) * 0.55 ** turn):02x}" for part in parts))
    return found


def _clusters(labels: NDArray[Any]) -> list[int]:
    """The labels that there are, those left out last."""
    found = [int(label) for label in np.unique(labels)]
    return [label for label in found if label >= 0] + [label for label in found if label < 0][:1]


def _color_of(label: int, palette: list[str]) -> str:
    return LEFT_OUT if label < 0 else palette[label]


def _name_of(label: int) -> str:
    return "left out" if label < 0 else f"cluster {label}"


# --- runs ---


def _best_restart(result: Any) -> int:
    values = [restart["objective"] for restart in result.restarts]
    if not values:
        return 0
    return int(np.argmax(values) if lib.clv_method_find(result.method.encode()).maximize else np.argmin(values))


def _log_scaled(ax: Any, values: NDArray[Any]) -> None:
    """A logarithmic axis where numbers are positive and far apart."""
    values = values[np.isfinite(values)]
    if len(values) and values.min() > 0 and values.max() > 30 * values.min():
        ax.set_yscale("log")


def _draw_parts(ax: Any, trace: Any, part: str, column: str) -> int:
    """A line per cluster or model; the number of lines that a legend can name."""
    numbers = np.unique(trace[part])
    palette = colors(len(numbers))
    for i, number in enumerate(numbers):
        rows = trace[trace[part] == number]
        ax.plot(rows["iteration"], rows[column], color=palette[i], linewidth=1.2, label=f"{part} {number}")
    return len(numbers)


def _draw_restarts(ax: Any, trace: Any, best: int, column: str) -> int:
    """A line per restart, that of the result on top."""
    restarts = [number for number in np.unique(trace["restart"]) if number != best]
    for i, number in enumerate(restarts):
        rows = trace[trace["restart"] == number]
        ax.plot(rows["iteration"], rows[column], color=LEFT_OUT, linewidth=1, label=None if i else "other restarts")
    rows = trace[trace["restart"] == best]
    ax.plot(rows["iteration"], rows[column], color=PALETTE[0], linewidth=2, label="the best restart" if restarts else column)
    return 2 if restarts else 0


def convergence(result: Any, column: str = "objective", ax: Any = None) -> Any:
    """A run, iteration by iteration: the objective with its bound, the certificate with its tolerance, or another column
    of `result.trace`. Restarts other than the best are gray; where a method finds clusters or models one after the other,
    each has a line."""
    result = _run_of(result)
    trace = result.trace
    if column not in (trace.dtype.names or ()) or column in ("restart", "iteration"):
        known = [name for name in trace.dtype.names or () if name not in ("restart", "iteration")]
        raise ValueError(f"the trace of {result.method} has no column {column!r}; it has {', '.join(known)}")
    if len(trace) == 0:
        raise ValueError("this result has no trace")
    ax = _axes(ax)
    if column == "certificate" and result.certificate.name.startswith("relative-"):
        trace = trace.copy()
        trace[column] /= np.abs(trace["objective"])
    best = _best_restart(result)
    part = next((name for name in ("cluster", "model") if name in trace.dtype.names), None)
    if part is None:
        lines = _draw_restarts(ax, trace, best, column)
    else:
        lines = _draw_parts(ax, trace[trace["restart"] == best], part, column)
    _log_scaled(ax, trace[column])
    level = {"objective": result.bound and (result.bound.value, "bound"),
             "certificate": None if part else (result.certificate.tolerance, "tolerance")}.get(column)
    if level and (level[0] > 0 or ax.get_yscale() == "linear"):
        ax.axhline(level[0], color=PALETTE[3], linestyle="--", linewidth=1.2, label=level[1])
        lines = max(lines + 1, 2)
    name = {"objective": f"objective ({result.objective_name})",
            "certificate": f"certificate ({result.certificate.name})"}.get(column, column)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="iteration", ylabel=name, title=f"{result.method}: {result.stop}")
    _legend(ax, lines if lines > 1 else 0)
    _bare(ax)
    return ax


def path(result: Any, column: str | None = None, ax: Any = None) -> Any:
    """The models of a path (`cleave.ksupport_path`): a column of its table against alpha, a line per k. Unless given, the
    column is the score on the validation samples or, without these, the number of nonzero weights. A ring is around the
    model that the result has."""
    result = _run_of(result)
    table = {name[5:]: values for name, values in result.fields.items() if name.startswith("path.")}
    if not table:
        raise ValueError("this result has no path; cleave.ksupport_path makes one")
    if column is None:
        column = "score" if "score" in table and np.isfinite(table["score"]).any() else "nonzeros"
    if column not in table or column == "stop":
        raise ValueError(f"the path has no column of numbers {column!r}; it has {', '.join(table)}")
    ax = _axes(ax)
    sizes = np.unique(table["k"])
    palette = colors(len(sizes))
    for i, k in enumerate(sizes):
        rows = table["k"] == k
        ax.plot(table["lambda"][rows], table[column][rows], "o-", color=palette[i], markersize=5, linewidth=1.5,
                label=f"k = {k}")
    chosen = (table["k"] == result.k) & np.isclose(table["lambda"], result.fields.get("lambda", np.nan), rtol=1e-12)
    if chosen.any():
        at = int(np.argmax(chosen))
        ax.plot(table["lambda"][at], table[column][at], "o", markersize=13, markerfacecolor="none", markeredgecolor="#000000",
                markeredgewidth=1.5, label="the result")
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()  # as they were solved
    names = {"score": "score on the validation samples", "nonzeros": "nonzero weights", "relative_gap": "relative duality gap",
             "data_passes": "passes over X"}
    if np.asarray(table[column]).dtype.kind == "i":
        ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="alpha, from large to small", ylabel=names.get(column, column))
    _legend(ax, len(sizes) + 1)
    _bare(ax)
    return ax


# --- data ---


def _dense(points: Any) -> NDArray[Any]:
    found = np.asarray(points.toarray() if is_sparse(points) else points)
    if found.ndim != 2 or found.shape[1] < 1:
        raise ValueError(f"points have two dimensions, objects x coordinates; the shape is {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError("points that are NaN or infinite cannot be drawn: leave them out")
    return found


def _principal(points: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """What maps points to the plane of the first two principal components of these, the longer part of an axis upward."""
    mean = points.mean(axis=0)
    centered = np.asarray(points - mean, dtype=np.float64)
    if points.shape[1] <= len(points):
        axes = np.linalg.eigh(centered.T @ centered)[1][:, :-3:-1]
    else:
        axes = np.linalg.svd(centered, full_matrices=False)[2][:2].T
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return lambda some: (some - mean) @ axes


def _plane(points: Any) -> tuple[Callable[[NDArray[Any]], NDArray[Any]], list[str]]:
    """What maps points to the plane, and what their coordinates are called there."""
    names, width = [str(name) for name in getattr(points, "columns", ())], points.shape[1]
    if width > 2:
        return _principal(_dense(points)), ["principal component 1", "principal component 2"]
    names = names or [f"coordinate {i + 1}" for i in range(width)]
    return lambda some: np.hstack([some, np.zeros((len(some), 2 - width))]), [*names, ""][:2]


def scatter(points: Any, labels: Any = None, centers: Any = None, ax: Any = None) -> Any:
    """Points in the colors of their clusters; with more than two coordinates, on the first two principal components.
    `centers`, in the same coordinates, are drawn as crosses."""
    if not hasattr(points, "shape"):
        points = np.asarray(points)
    count, dense = points.shape[0], _dense(points)
    place, names = _plane(points)
    plane = place(dense)
    given = _labels(labels, count)
    ax = _axes(ax)
    clusters = _clusters(given)
    palette = colors(max(clusters) + 1)
    size = float(np.clip(8000 / max(count, 1), 3, 28))
    for label in reversed(clusters):  # what is left out lies below
        rows = plane[given < 0 if label < 0 else given == label]
        ax.scatter(rows[:, 0], rows[:, 1], s=size * (0.6 if label < 0 else 1), linewidths=0, alpha=0.85,
                   color=_color_of(label, palette), marker=_marker_of(label))
    if centers is not None:
        middle = place(_dense(centers))
        ax.scatter(middle[:, 0], middle[:, 1], s=90, marker="X", color="#000000", edgecolors="#ffffff")
    ax.set(xlabel=names[0], ylabel=names[1])
    if labels is not None:
        _point_legend(ax, clusters, palette, centers is not None)
    _bare(ax)
    return ax


def _marker_of(label: int) -> str:
    return "o" if label < 0 else MARKERS[label // len(PALETTE) % len(MARKERS)]


def _point_legend(ax: Any, clusters: list[int], palette: list[str], centers: bool) -> None:
    """Beside the picture, with marks of one size however small the points are; of many clusters only what is not one."""
    from matplotlib.lines import Line2D
    marks = [(_marker_of(label), _color_of(label, palette), _name_of(label)) for label in clusters]
    marks = marks if len(marks) < LISTED else marks[sum(label >= 0 for label in clusters):]
    marks += [("X", "#000000", "centers")] if centers else []
    handles = [Line2D([], [], linestyle="", marker=marker, color=color, markersize=6, label=name)
               for marker, color, name in marks]
    _legend(ax, len(handles), handles=handles, loc="center left", bbox_to_anchor=(1, 0.5))


def _shrunk(similar: Any, order: NDArray[Any]) -> NDArray[Any]:
    """Objects in this order; of many, the means over blocks of them."""
    n = len(order)
    if n <= CELLS:
        dense: NDArray[Any] = similar.toarray() if is_sparse(similar) else np.asarray(similar)
        return np.asarray(dense[np.ix_(order, order)])
    edges = np.linspace(0, n, CELLS + 1).round().astype(int)
    cell = np.empty(n, int)
    cell[order] = np.repeat(np.arange(CELLS), np.diff(edges))
    sums: NDArray[Any] = np.zeros(CELLS * CELLS)
    if is_sparse(similar):
        entries = similar.tocoo()
        sums = np.bincount(cell[entries.row] * CELLS + cell[entries.col], weights=entries.data, minlength=CELLS**2)
    else:
        dense = np.asarray(similar)
        for i in range(n):
            sums[cell[i] * CELLS:(cell[i] + 1) * CELLS] += np.bincount(cell, weights=dense[i], minlength=CELLS)
    return np.asarray(sums.reshape(CELLS, CELLS) / np.outer(np.diff(edges), np.diff(edges)))


def heatmap(affinity: Any, labels: Any = None, ax: Any = None) -> Any:
    """Similarities of objects, sorted by their clusters, with a frame around each cluster: good clusters are dark blocks.
    The affinity may be dense or sparse (`cleave.affinity` makes both)."""
    if not is_sparse(affinity):
        affinity = np.asarray(affinity)
    n = affinity.shape[0]
    if affinity.ndim != 2 or affinity.shape[1] != n:
        raise ValueError(f"an affinity is square; the shape is {affinity.shape}")
    given = _labels(labels, n)
    ax = _axes(ax, figsize=(6, 5))
    order = np.argsort(np.where(given < 0, np.iinfo(np.int64).max, given), kind="stable")
    shown = _shrunk(affinity, order)
    apart = shown[~np.eye(len(shown), dtype=bool)]  # the diagonal says nothing about clusters
    top = np.quantile(apart, 0.995) if len(apart) else 1.0
    image = ax.imshow(shown, cmap="Greys", vmin=min(apart.min(initial=0.0), 0.0), vmax=top or apart.max(initial=0.0) or 1.0,
                      extent=(0, n, n, 0), interpolation="nearest")
    if labels is not None:
        _frames(ax, given)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="similarity" if n <= CELLS else "similarity, mean over blocks")
    ax.set(xlabel="object, by cluster" if labels is not None else "object", ylabel="cluster" if labels is not None else "object")
    return ax


def _frames(ax: Any, labels: NDArray[Any]) -> None:
    """A frame around each cluster on the diagonal, with its number at the side where there is room."""
    from matplotlib.patches import Rectangle
    clusters = _clusters(labels)
    palette, first, last, ticks, names = colors(max(clusters) + 1), 0, -np.inf, [], []
    for label in clusters:
        size = int(np.sum(labels < 0 if label < 0 else labels == label))
        if label >= 0:
            ax.add_patch(Rectangle((first, first), size, size, fill=False, edgecolor=palette[label], linewidth=2,
                                   clip_on=False))
        if first + size / 2 - last > 0.035 * len(labels):
            last = first + size / 2
            ticks.append(last)
            names.append("left out" if label < 0 else str(label))
        first += size
    ax.set_yticks(ticks, names)


def memberships(W: Any, ax: Any = None) -> Any:
    """How much every object belongs to each cluster: one bar per object, stacked. Objects are sorted by their largest
    membership: where bars have one color, objects are in one cluster. W: n x k, dense or sparse, or a result that has
    them."""
    W = _result(W)
    if hasattr(W, "fields") and "membership" not in W.fields:
        raise ValueError(f"a result of {W.method} has no memberships" + (", only labels" if W.labels is not None else ""))
    found = W.membership if hasattr(W, "fields") else W
    dense = np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)
    if dense.ndim != 2:
        raise ValueError(f"memberships are objects x clusters; the shape is {dense.shape}")
    ax = _axes(ax, figsize=(8, 3))
    n, k = dense.shape
    nowhere = dense.max(axis=1, initial=0) <= 0
    main = np.where(nowhere, k, dense.argmax(axis=1))
    order = np.lexsort((-dense.max(axis=1, initial=0), main))
    below = np.zeros(n)
    for c, color in enumerate(colors(k)):
        above = below + dense[order, c]
        ax.fill_between(np.arange(n + 1), np.append(below, below[-1:]), np.append(above, above[-1:]), step="post", color=color,
                        linewidth=0, label=f"cluster {c}")
        below = above
    ax.set(xlim=(0, n), ylim=(0, max(float(below.max(initial=0)), 1e-300)), xlabel="object, by largest membership",
           ylabel="membership")
    _legend(ax, k, loc="center left", bbox_to_anchor=(1, 0.5))
    _bare(ax)
    return ax
