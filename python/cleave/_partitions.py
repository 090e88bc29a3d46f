"""The inputs of a consensus: labels, memberships, fitted estimators and results, side by side."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._matrix import is_sparse

__all__ = ["stack"]


def _labels(given: Any, number: int) -> NDArray[np.float64]:
    """Labels as numbers; those of text in the order of their names."""
    labels = np.asarray(given)
    if labels.dtype.kind in "OUS":
        labels = np.unique(labels.astype(str), return_inverse=True)[1]
    if labels.dtype.kind not in "iufb":
        raise ValueError(f"input {number}: labels must be numbers or texts, not {labels.dtype}")
    wrong = np.flatnonzero((labels != np.floor(labels)) | (labels < -1))
    if len(wrong):
        raise ValueError(f"input {number}: the label {labels[wrong[0]]} of object {wrong[0]} is not allowed: labels are whole numbers "
                         "from 0 on, or -1 for an object that is left out")
    return labels.astype(np.float64)


def _part(given: Any, number: int) -> NDArray[np.float64]:
    """One column of labels, or memberships."""
    for attribute in ("labels_", "labels"):  # of an estimator, of a result
        if getattr(given, attribute, None) is not None:
            return _labels(getattr(given, attribute), number)
    if is_sparse(given):
        return np.asarray(given.toarray(), dtype=np.float64)
    found = np.asarray(given)
    if found.ndim == 2 and found.shape[1] > 1:
        return found.astype(np.float64)
    if found.ndim not in (1, 2):
        raise ValueError(f"input {number} must be one label per object, memberships of n x k, or what has labels_")
    return _labels(found.reshape(len(found)), number)


def _memberships(part: NDArray[np.float64]) -> NDArray[np.float64]:
    if part.ndim == 2:
        return part
    names, codes = np.unique(part, return_inverse=True)
    found = (codes[:, np.newaxis] == np.arange(len(names))).astype(np.float64)
    kept = found[:, names != -1]
    return kept if kept.shape[1] else np.zeros((len(part), 1))


def stack(inputs: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """A column of labels per input; or, where one has memberships, those of all, and how many columns each has."""
    parts = [_part(given, number + 1) for number, given in enumerate(inputs)]
    if not parts:
        raise ValueError("a consensus needs at least one input")
    for number, part in enumerate(parts):
        if len(part) != len(parts[0]):
            raise ValueError(f"input {number + 1} has {len(part)} objects, but input 1 has {len(parts[0])}")
    if all(part.ndim == 1 for part in parts):
        return np.ascontiguousarray(np.stack(parts, axis=1)), None
    soft = [_memberships(part) for part in parts]
    return np.ascontiguousarray(np.hstack(soft)), np.array([[float(part.shape[1]) for part in soft]])
