"""The inputs of a consensus: labels, memberships, fitted estimators and results, side by side."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._library import lib
from ._matrix import as_view, is_sparse

__all__ = ["stack"]


def _labels(given: Any, number: int) -> NDArray[np.float64]:
    """Labels as numbers; those of text in the order of their names, -1 where that is the text."""
    labels = np.asarray(given)
    if labels.dtype.kind in "US" or (labels.dtype.kind == "O" and all(isinstance(label, (str, bytes)) for label in labels)):
        names, codes = np.unique(labels.astype(str), return_inverse=True)
        return np.where(names == "-1", -1.0, np.arange(len(names)))[codes]
    try:
        if labels.dtype.kind not in "iufbO":
            raise TypeError
        found = labels.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"input {number}: labels must be numbers or texts, all of one kind, not {labels.dtype}") from None
    wrong = np.flatnonzero((found != np.floor(found)) | (found < -1) | ~np.isfinite(found))
    if len(wrong):
        raise ValueError(f"input {number}: the label {labels[wrong[0]]} of object {wrong[0]} is not allowed: labels are whole numbers "
                         "from 0 on, or -1 for an object that is left out")
    return found


def _part(given: Any, number: int) -> NDArray[np.float64]:
    """One column of labels, or memberships."""
    for attribute in ("labels_", "labels"):  # of an estimator, of a result
        if getattr(given, attribute, None) is not None:
            return _labels(getattr(given, attribute), number)
    if is_sparse(given):
        return np.asarray(given.toarray(), dtype=np.float64)
    found = np.asarray(given)
    if found.ndim == 2 and found.shape[1] > 1 and found.dtype.kind in "iufb":
        return found.astype(np.float64)
    if found.ndim not in (1, 2) or found.size != len(found):
        raise ValueError(f"input {number} must be one label per object, memberships of n x k, or what has labels_")
    return _labels(found.reshape(len(found)), number)


class _Origin(NamedTuple):
    """What a model was fitted to. X of the same form that have another fingerprint are of other objects, or in another order."""

    form: tuple[Any, ...]
    fingerprint: int


def _origin(given: Any) -> _Origin | None:
    """Of an estimator or a result whose X is still known."""
    result, x, fingerprint = getattr(given, "result_", given), getattr(given, "_fit_X", None), getattr(given, "_fingerprint", None)
    run = getattr(result, "_run", None)
    if run is not None and run.method.takes != lib.CLV_TAKES_PARTITIONS:
        view, fingerprint = run.views["points"], run.fingerprint
    elif run is None and x is not None:  # after pickling
        view = as_view(x)
    else:
        return None
    names = tuple(getattr(given, "feature_names_in_", () if run is None else run.columns))
    form = (view.shape, view.kept[1] is None, getattr(given, "affinity", None) == "precomputed", names)
    return _Origin(form, view.fingerprint() if fingerprint is None else fingerprint)


def _check_objects(inputs: Any) -> None:
    """Refuse models of other objects, as the command refuses their results."""
    known = [(number, origin) for number, given in enumerate(inputs, 1) if (origin := _origin(given)) is not None]
    first: dict[Any, tuple[int, int]] = {}
    for number, origin in known:
        before, fingerprint = first.setdefault(origin.form, (number, origin.fingerprint))
        if fingerprint != origin.fingerprint:
            raise ValueError(f"inputs {before} and {number} are models of other objects, or of these in another order: the X they were "
                             "fitted to have different fingerprints; if they are the same objects in the same order, and only their "
                             "columns were made differently, give their labels_")


def _memberships(part: NDArray[np.float64]) -> NDArray[np.float64]:
    if part.ndim == 2:
        return part
    names, codes = np.unique(part, return_inverse=True)
    found = (codes[:, np.newaxis] == np.arange(len(names))).astype(np.float64)
    kept = found[:, names != -1]
    return kept if kept.shape[1] else np.zeros((len(part), 1))


def stack(inputs: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """A column of labels per input, which are a list, or the columns of an array or frame; or, where one has memberships, those
    of all, and how many columns each has."""
    inputs = inputs if isinstance(inputs, (list, tuple)) else list(np.asarray(inputs).T)
    parts = [_part(given, number + 1) for number, given in enumerate(inputs)]
    if not parts:
        raise ValueError("a consensus needs at least one input")
    for number, part in enumerate(parts):
        if len(part) != len(parts[0]):
            raise ValueError(f"input {number + 1} has {len(part)} objects, but input 1 has {len(parts[0])}")
    _check_objects(inputs)
    if all(part.ndim == 1 for part in parts):
        return np.ascontiguousarray(np.stack(parts, axis=1)), None
    soft = [_memberships(part) for part in parts]
    return np.ascontiguousarray(np.hstack(soft)), np.array([[float(part.shape[1]) for part in soft]])
