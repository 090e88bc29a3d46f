"""Metrics. Every one that the library lists is a function of this module: `cleave.metrics.ari(truth, labels)` and so on;
`names()` lists them with their meanings, `compare` gives all at once.

>>> import cleave
>>> cleave.metrics.purity([0, 0, 1, 1], [2, 2, 2, 0])
0.75
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from ._library import Context, ffi, lib, text_of
from ._matrix import as_view
from ._options import Options
from ._run import Affinity

__all__ = ["compare", "names", "ncut", "silhouette"]

_COUNTS = ("n", "compared", "classes", "clusters")  # of clv_scores, beside the metrics


def _listed() -> dict[str, tuple[int, str]]:
    """{name: (place in clv_scores, meaning)}."""
    count = ffi.new("size_t *")
    found = lib.clv_metrics(count)
    return {text_of(found[i].name) or "": (int(found[i].offset), text_of(found[i].meaning) or "")
            for i in range(count[0])}


_METRICS = _listed()


def names() -> dict[str, str]:
    """The metrics of the library and what they mean.

    >>> import cleave
    >>> cleave.metrics.names()["ari"]
    'adjusted Rand index'
    """
    return {name: meaning for name, (_, meaning) in _METRICS.items()}


def _missing(labels: NDArray[Any]) -> int | None:
    """The place of the first one that is none: NaN, an infinity, None, NA."""
    if labels.dtype.kind == "O":
        places = [i for i, label in enumerate(labels) if label is None or type(label).__name__ == "NAType" or label != label]
    else:
        places = list(np.flatnonzero(~np.isfinite(labels))) if labels.dtype.kind == "f" else []
    return int(places[0]) if places else None


def _numbered(labels: Any, what: str) -> NDArray[np.int32]:
    """Labels as the library takes them, which are whole numbers from -1 on; others are numbered in their order."""
    given = np.asarray(labels)
    if given.ndim != 1:
        raise ValueError(f"{what} must have one dimension; the shape is {given.shape}")
    missing = _missing(given)
    if missing is not None:
        raise ValueError(f"entry {missing} of {what} is {given[missing]}: labels are numbers or names, and -1 of what is left out")
    whole = given.dtype.kind in "iu" or given.dtype.kind == "f" and bool(np.all(given == np.floor(given)))
    if not whole or given.size and not -2**31 <= given.min() <= given.max() < 2**31:
        try:
            given = np.unique(given, return_inverse=True)[1]
        except TypeError:
            raise TypeError(f"{what} are of several kinds, which have no order: give all as numbers, or all as names") from None
    return np.ascontiguousarray(given, dtype=np.int32)


def _scores(truth: Any, labels: Any) -> Any:
    first, second = _numbered(truth, "truth"), _numbered(labels, "labels")
    if first.shape != second.shape:
        raise ValueError(f"truth has {len(first)} entries, labels have {len(second)}: both must be of one length")
    ctx, scores = Context(), ffi.new("clv_scores *")
    ctx.check(lib.clv_compare(ctx.pointer, ffi.from_buffer("int32_t[]", first), ffi.from_buffer("int32_t[]", second),
                              len(first), scores))
    return scores


def _value(scores: Any, name: str) -> float:
    return float(ffi.cast("double *", ffi.cast("char *", scores) + _METRICS[name][0])[0])


def compare(truth: Any, labels: Any) -> dict[str, float]:
    """How well labels agree with known ones, by every metric of the library, with the numbers of objects (`n`, those
    `compared`), `classes` and `clusters`. Objects with label -1 on either side do not count.

    >>> import cleave
    >>> cleave.compare([0, 0, 1, 1], [1, 1, 0, 0])["ari"]
    1.0
    """
    scores = _scores(truth, labels)
    found = {name: _value(scores, name) for name in _METRICS}
    return {**found, **{name: int(getattr(scores, name)) for name in _COUNTS}}


def _metric(name: str) -> Callable[[Any, Any], float]:
    def score(truth: Any, labels: Any) -> float:
        return _value(_scores(truth, labels), name)

    score.__name__ = score.__qualname__ = name  # so that it can be pickled, as scorers are
    score.__doc__ = f"{_METRICS[name][1][0].upper()}{_METRICS[name][1][1:]}; objects with label -1 do not count."
    return score


def __getattr__(name: str) -> Callable[[Any, Any], float]:
    """The metrics of the table, each made when it is first asked for."""
    if name not in _METRICS:
        raise AttributeError(f"module 'cleave.metrics' has no attribute {name!r}; the metrics are {', '.join(_METRICS)}")
    made = globals()[name] = _metric(name)
    return made


def __dir__() -> list[str]:
    return sorted([*__all__, *_METRICS])


def silhouette(X: Any, labels: Any, threads: int = 0) -> float:
    """The mean silhouette of points and their labels, with Euclidean distances.

    >>> import cleave
    >>> round(cleave.silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.889
    """
    ctx, value = Context(), ffi.new("double *")
    given, view = _numbered(labels, "labels"), as_view(X)
    for name, wrong in (("NaN", np.isnan), ("infinity", np.isinf)):
        if wrong(view.kept[0]).any():
            raise ValueError(f"Input X contains {name}: silhouettes are of finite points")
    if len(given) != view.shape[0]:
        raise ValueError(f"X has {view.shape[0]} rows, labels are {len(given)}")
    ctx.call(lib.clv_silhouette, view.pointer, ffi.from_buffer("int32_t[]", given), threads, value)
    return float(value[0])


def ncut(affinity: Any, labels: Any, threads: int = 0) -> float:
    """The normalized cut of labels on given similarities, with the factor 1/2; objects with label -1 are left out of
    the graph.

    >>> import cleave
    >>> cleave.metrics.ncut([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [0, 0, 1])
    0.6666666666666666
    """
    ctx, value = Context(), ffi.new("double *")
    options = Options(ctx, lib.clv_affinity_table())
    options.set("affinity", "precomputed")
    built, given = Affinity(ctx, as_view(affinity), options), _numbered(labels, "labels")
    if len(given) != built.info.n:
        raise ValueError(f"the affinity has {built.info.n} objects, labels are {len(given)}")
    ctx.call(lib.clv_ncut_value, built.pointer, ffi.from_buffer("int32_t[]", given), threads, value)
    return float(value[0])
