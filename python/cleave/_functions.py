"""Functions beside the estimators: affinities, verification."""
from __future__ import annotations

import functools
import itertools
import os
import tempfile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._library import Context, ffi, lib, path_of, text_of
from ._matrix import View, array_of, as_view
from ._options import Options, threads_of
from ._partitions import stack
from ._result import Result
from ._run import Affinity

__all__ = ["Verdict", "affinity", "verify"]


class Verdict(NamedTuple):
    """What a verification found."""

    accepted: bool
    reason: str


def options_of(ctx: Context, table: Any, given: dict[str, Any], renamed: dict[str, str] | None = None) -> Options:
    """The options of a table, with the values given; None leaves a default."""
    options = Options(ctx, table)
    ctx.renamed = renamed or {}
    for name, value in given.items():
        options.set(name, value)
    return options


def affinity(X: Any, kind: str = "gaussian", **options: Any) -> Any:
    """The similarities of the rows of X as an array (knn: a sparse one). Options as of the command: gamma, neighbors,
    zero_diagonal, symmetrize, memory.

    >>> import numpy as np, cleave
    >>> cleave.affinity(np.array([[0.0], [1.0]]), gamma=1).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    ctx = Context()
    how = options_of(ctx, lib.clv_affinity_table(), {"affinity": kind, **options})
    built = Affinity(ctx, as_view(X), how)
    data = ctx.made(lambda _, a, out: lib.clv_affinity_materialize(a, out), "clv_data", lib.clv_data_free, built.pointer)
    return array_of(lib.clv_data_matrix(data), sparse=True)


def class_targets(y: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The classes of y, and what the library is given for them: numbers that a double tells apart as they are, all else as
    0, 1, ... in the order of the classes."""
    classes, codes = np.unique(y, return_inverse=True)
    numeric = classes.dtype.kind in "iuf" and bool((np.diff(classes.astype(float)) > 0).all())
    return classes, np.asarray(y if numeric else codes, dtype=np.float64)


# What the library, which speaks of the files of the command, says of data that are missing or too many.
_FILES = {"give them as the last file": "give them as sample_weight", "only its data are needed": "leave sample_weight out",
          "give two files of data": "give X and y, and no sample_weight", "give one file of data": "give X, and no y or sample_weight"}


def _weights(given: Any, n: int, weighted: bool) -> NDArray[np.float64] | None:
    """Sample weights as fit takes them: one number is that of all n objects, and where all are 1 there are none."""
    found = np.asarray(given, dtype=np.float64)
    found = np.full(n, found) if found.ndim == 0 else found
    return found if weighted or found.shape != (n,) or (found != 1).any() else None


def verify(result: Any, X: Any, y: Any = None, *, sample_weight: Any = None, memory: int = 0,
           n_jobs: int | None = None, home: str = "auto") -> Verdict:
    """Recompute what a result claims from the raw data. Of an estimator, its attributes must be those of its result, and
    `classes_` those of y; only `warnings_` and what it knows of the columns of X are not looked at.

    Parameters
    ----------
    result : fitted estimator, Result or path
        A path is that of a JSON file, of the command or of Result.save.
    X : the points or similarities that were given; of a consensus its list, or columns, of clusterings
    y : the targets, of ksupport
    sample_weight : the weights of the objects, or one number, of kpalm
    home : where an affinity is rebuilt, as in the estimators; "cuda" is a graphics card

    Examples
    --------
    >>> import numpy as np, cleave
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = cleave.KPalm(2).fit(X)
    >>> cleave.verify(model, X).accepted
    True
    """
    ctx = Context()
    if hasattr(result, "get_params") and not hasattr(result, "result_"):
        raise ValueError(f"this {type(result).__name__} has no result to verify: give an estimator of cleave that was fitted")
    edited, classes = result._edited() if hasattr(result, "_edited") else None, getattr(result, "classes_", None)
    result = getattr(result, "result_", result)
    if not isinstance(result, (Result, str, os.PathLike)):
        raise TypeError(f"verify takes a fitted estimator, a Result or the path of a JSON file, not a {type(result).__name__}")
    if edited is not None:
        return Verdict(False, f"{edited} was changed after fit, and is not what the result has")
    found = None
    if y is not None:
        found, y = class_targets(y)  # numbers, as they are in regression, stay what they are
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json") if isinstance(result, Result) else os.fspath(result)
        if isinstance(result, Result):
            try:
                result.save(path)
            except ValueError as changed:  # X, which the result is told of with
                return Verdict(False, str(changed))
        with ctx.reading(memory):
            claim = ctx.made(lib.clv_claim_read, "clv_claim", lib.clv_claim_free, path_of(path))
    data, kept = ffi.new("clv_input *"), []
    method, widths = lib.clv_claim_method(claim), None
    if method != ffi.NULL and method.takes == lib.CLV_TAKES_PARTITIONS:
        X, widths = stack(X)
    points = as_view(X)
    if sample_weight is not None:
        weighted = lib.clv_result_integer(lib.clv_claim_result(claim), b"weighted", 0)
        sample_weight = _weights(sample_weight, points.shape[0], bool(weighted))
    for role, given in (("points", points), ("targets", y), ("weights", sample_weight), ("widths", widths)):
        if given is not None:
            kept.append(given if isinstance(given, View) else as_view(given))
            setattr(data, role, kept[-1].pointer)
    verdict = ffi.new("clv_verdict *")
    homes = list(itertools.takewhile(lambda name: name != "?", (text_of(lib.clv_home_name(h)) or "?" for h in itertools.count())))
    if home not in homes:
        raise ValueError(f"home must be one of {', '.join(homes)}, not {home!r}")
    lib.clv_claim_set_home(claim, homes.index(home))
    try:
        ctx.call(lib.clv_claim_verify, claim, data, memory, threads_of(n_jobs), verdict)
    except ValueError as wrong:
        raise ValueError(functools.reduce(lambda said, words: said.replace(*words), _FILES.items(), str(wrong))) from None
    if verdict.accepted and classes is not None and found is not None and not np.array_equal(classes, found):
        return Verdict(False, "classes_ was changed after fit, and is not what y has")
    return Verdict(bool(verdict.accepted), text_of(ffi.cast("char *", verdict.reason)) or "")
