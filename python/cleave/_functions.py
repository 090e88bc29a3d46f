"""Functions beside the estimators: affinities, verification."""
from __future__ import annotations

import os
import tempfile
from typing import Any, NamedTuple

import numpy as np

from ._library import Context, ffi, lib, text_of
from ._matrix import array_of, as_view
from ._options import Options
from ._result import Result
from ._run import Affinity

__all__ = ["Verdict", "affinity", "verify"]


class Verdict(NamedTuple):
    """What a verification found."""

    accepted: bool
    reason: str


def options_of(ctx: Context, table: Any, given: dict[str, Any]) -> Options:
    """The options of a table, with the values given; None leaves a default."""
    options = Options(ctx, table)
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


def verify(result: Result | str | os.PathLike[str], X: Any, y: Any = None, *, weights: Any = None, memory: int = 0,
           threads: int = 0) -> Verdict:
    """Recompute what a result claims from the raw data: a Result, or the path of a JSON file of the command or of
    Result.save. X: the points or similarities that were given; y: the targets, of ksupport.

    >>> import numpy as np, cleave
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> cleave.verify(cleave.KPalm(2).fit(X).result_, X).accepted
    True
    """
    ctx = Context()
    if y is not None and np.asarray(y).dtype.kind not in "iuf":
        y = np.unique(y, return_inverse=True)[1]  # classes by name are 0, 1, ... in their order
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json") if isinstance(result, Result) else os.fspath(result)
        if isinstance(result, Result):
            result.save(path)
        claim = ctx.made(lib.clv_claim_read, "clv_claim", lib.clv_claim_free, os.fsencode(path))
    data, kept = ffi.new("clv_input *"), []
    for role, given in (("points", X), ("targets", y), ("weights", weights)):
        if given is not None:
            kept.append(as_view(given))
            setattr(data, role, kept[-1].pointer)
    verdict = ffi.new("clv_verdict *")
    ctx.call(lib.clv_claim_verify, claim, data, memory, threads, verdict)
    return Verdict(bool(verdict.accepted), text_of(ffi.cast("char *", verdict.reason)) or "")
