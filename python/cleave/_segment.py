"""A picture into segments, as `cleave segment` does it (docs/segment.md).

The library has the steps; how they are put together for each method stands in cli/segmenters.c and here, and a test holds
the labels of the two against each other."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import pictures
from ._functions import affinity
from ._library import ffi, lib
from ._options import describe
from ._result import Result
from ._run import Run, methods

__all__ = ["Segmentation", "segment"]

SEGMENTS = {"symnmf": 3, "kpalm": 3}  # unless k is given; 4 for other methods
SHARE = 0.08  # of the mean degree: the shift that makes dominant sets as large as segments are
ROUNDING = 1e-6  # objects that differ by less are alike
KPALM_ROWS = 4096  # k-means of rows of similarities for so many objects; of the points for more


class Segmentation(NamedTuple):
    """The segments of a picture."""

    labels: NDArray[np.int32]  # height x width, numbered in the order of their first pixels
    result: Result | None  # of the method, on the objects; None where there was nothing to tell apart
    objects: NDArray[np.int32]  # height x width: the superpixel of every pixel, or the pixel of the smaller picture
    points: NDArray[np.float64]  # what was clustered, one row per object


def _mean_degree(run: Run) -> float:
    degrees = np.empty(run.affinity.info.n)  # type: ignore[union-attr]
    run.ctx.call(lambda _, *given: lib.clv_affinity_degrees(*given), run.affinity.pointer,  # type: ignore[union-attr]
                 ffi.cast("double *", degrees.ctypes.data), 0)
    return float(np.cumsum(degrees)[-1] / len(degrees))  # one after the other, so that the command has the same bits


def _dominant(points: Any, options: dict[str, Any]) -> Run:
    run = Run("dominant", points, {"affinity": "minimax", "zero_diagonal": True, "assign": True, **options})
    if "shift" not in options:
        run.build()
        run._set("shift", SHARE * _mean_degree(run))
    return run


def _symnmf(points: Any, options: dict[str, Any]) -> Run:
    """Points times a factor have minimax similarities times that factor: the one with which their mean, 1.25 / k, suits k."""
    run = Run("symnmf", points, {"affinity": "minimax", **options})
    run.build()
    degree = _mean_degree(run)
    factor = 1.25 / options["k"] * len(points) / degree if degree > 0 else 1.0
    return Run("symnmf", factor * points, {"affinity": "minimax", **options})


def _prepared(method: str, points: Any, objects: Any, graph: dict[str, Any], options: dict[str, Any]) -> Run:
    """The method with what it works on, as cli/segmenters.c has it."""
    if method == "dominant":
        return _dominant(points, options)
    if method == "symnmf":
        return _symnmf(points, options)
    if method == "ncut":
        similar = pictures.similarity(objects, points, **graph)
        return Run("ncut", similar, {"affinity": "precomputed", "bound": "no", **options})
    if method == "kpalm":
        return Run("kpalm", affinity(points, "minimax") if len(points) <= KPALM_ROWS else points, options)
    if lib.clv_method_find(method.encode()).takes == lib.CLV_TAKES_AFFINITY:
        return Run(method, points, {"affinity": "minimax", **options})
    return Run(method, points, options)


def _can_segment(name: str) -> bool:
    """Whether a method gives labels without being taught."""
    method = lib.clv_method_find(name.encode())
    of_pixels = method.takes in (lib.CLV_TAKES_AFFINITY, lib.CLV_TAKES_POINTS)
    return bool(of_pixels and lib.clv_method_gives(method, b"labels") != ffi.NULL)


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Options of superpixels, of features, and of the method."""
    superpixels, features = describe(lib.clv_superpixel_table()), describe(lib.clv_region_table())
    parts: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
    for name, value in options.items():
        parts[0 if name in superpixels else 1 if name in features else 2][name] = value
    return parts


def _alike(points: NDArray[np.float64], places: bool) -> bool:
    """Whether nothing tells the objects apart; their place, in the last two columns, only if nothing else counts."""
    looks = points[:, :-2] if places else points
    return bool(np.all(np.abs(looks - looks[0]) <= ROUNDING))


def _first_come(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Labels 0, 1, ... in the order of their first pixels; -1 stays."""
    known, first = np.unique(labels, return_index=True)
    first, known = first[known >= 0], known[known >= 0]
    table = np.full(known.max(initial=-1) + 2, -1, np.int32)
    table[known[np.argsort(first)]] = np.arange(len(known))
    return table[labels]  # -1 finds the last entry


def segment(image: Any, k: int | None = None, method: str = "dominant", *, pixels: tuple[int, int] | None = None,
            reach: int | None = None, sigma: float | None = None, min_piece: int | None = None, threads: int = 0,
            **options: Any) -> Segmentation:
    """Split a picture into segments.

    Parameters
    ----------
    image : array, height x width or height x width x 1, 3 or 4, of uint8 or of numbers in [0, 1]; or the name of a file
    k : int
        The number of segments (dominant: at most); unless given 4, with symnmf and kpalm 3.
    method : str
        'dominant', 'ncut', 'symnmf' or 'kpalm'.
    pixels : (width, height)
        Shrink the picture to this size and cluster its pixels, not superpixels.
    reach, sigma
        Of ncut: objects more than `reach` (8) steps apart are not similar; `sigma` (0.3) is the width of the
        similarity, as a share of the median distance of objects.
    min_piece : int
        Connected pieces of fewer pixels join a neighbor; unless given, a thousandth of the picture.
    **options
        `superpixels`, `compactness`, `rounds`, the weights `color`, `histogram`, `texture` and `place`, and the options
        of the method and of runs (`seed`, `restarts`, `time_limit`, ...), as the command has them.

    Returns
    -------
    Segmentation
        `labels` (height x width), the `result` with its certificate, the `objects` that were clustered, their `points`.

    Examples
    --------
    >>> import numpy as np, cleave
    >>> picture = np.zeros((60, 90, 3), np.uint8)
    >>> picture[:, 45:] = 255, 128, 0
    >>> found = cleave.segment(picture)
    >>> np.unique(found.labels[:, :40]), np.unique(found.labels[:, 50:])
    (array([0], dtype=int32), array([1], dtype=int32))
    """
    allowed = [name for name in methods() if _can_segment(name)]
    if method not in allowed:
        raise ValueError(f"method = {method!r} is not allowed: it must be one of {', '.join(allowed)}")
    if k is not None and not (isinstance(k, (int, np.integer)) and k >= 1):
        raise ValueError(f"k = {k!r} is not allowed: there must be one segment or more")
    graph = {name: value for name, value in (("reach", reach), ("sigma", sigma)) if value is not None}
    if graph and method != "ncut":
        raise TypeError(f"{' and '.join(graph)} cannot be used with method {method!r}: for ncut only")
    pieces, weights, options = _split(options)
    picture = pictures.Picture(image).samples
    objects, points = _objects(picture, pixels, pieces, weights, threads)
    table = describe(lib.clv_region_table())
    looks = any(float(weights.get(name, table[name].default)) > 0 for name in table if name != "place")
    result = None
    if not _alike(points, places=pixels is None and looks):
        chosen = min(SEGMENTS.get(method, 4), len(points)) if k is None else int(k)
        if chosen > len(points):
            raise ValueError(f"k = {k} exceeds the {len(points)} {'superpixels' if pixels is None else 'pixels'}")
        result = _prepared(method, points, objects, graph, {"threads": threads, **options, "k": chosen}).solve()
    height, width = picture.shape[:2]
    spread = objects[np.arange(height)[:, None] * objects.shape[0] // height,
                     np.arange(width)[None, :] * objects.shape[1] // width]
    labels = np.zeros((height, width), np.int32) if result is None else result.labels[spread]
    least = height * width // 1000 if min_piece is None else int(min_piece)
    return Segmentation(_first_come(pictures.tidy(labels, least)), result, spread, points)


def _objects(picture: NDArray[np.uint8], pixels: tuple[int, int] | None, pieces: dict[str, Any],
             weights: dict[str, Any], threads: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The objects, as an array of their numbers, and their points."""
    if pixels is None:
        regions = pictures.superpixels(picture, threads=threads, **pieces)
        return regions, pictures.region_points(picture, regions, threads=threads, **weights)
    if pieces or weights:
        raise TypeError(f"pixels and {next(iter({**pieces, **weights}))} cannot be used together: "
                        "there are no superpixels")
    small = pictures.resize(picture, *pixels)
    return np.arange(small.shape[0] * small.shape[1], dtype=np.int32).reshape(small.shape[:2]), pictures.pixel_points(small)
