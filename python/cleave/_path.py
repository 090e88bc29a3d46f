"""Sparse linear models for many k and lambda at once."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._functions import class_targets
from ._matrix import as_view
from ._result import Result
from ._run import Run

__all__ = ["ksupport_path"]


def _listed(values: Any) -> str:
    """Numbers as the option takes them."""
    given = np.atleast_1d(list(values) if isinstance(values, Iterator) else values)
    if not given.size:
        raise ValueError("a path needs at least one k and one alpha")
    if given.ndim > 1 or given.dtype.kind not in "biuf":
        raise TypeError(f"a path takes a number or a list of numbers for k and alpha, not {values!r:.100}")
    return ",".join(repr(value.item()) for value in given)


def _without_nan(y: Any, whose: str) -> NDArray[Any]:
    given = np.asarray(y)
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise ValueError(f"{whose} contain NaN: every sample needs its target")
    return given


def _codes(y: Any, classes: NDArray[Any] | None) -> NDArray[np.float64]:
    """Validation targets as numbers: classes by those that the library has for them."""
    given = _without_nan(y, "the validation targets")
    if classes is None:
        return np.asarray(given, dtype=np.float64)
    places = np.minimum(np.searchsorted(classes, given), len(classes) - 1)
    if not np.array_equal(classes[places], given):
        raise ValueError(f"the validation targets have {given[classes[places] != given][:1].tolist()[0]!r}, "
                         "which is not among the classes of y")
    return class_targets(classes)[1][places]


def ksupport_path(X: Any, y: Any, k: int | Iterable[int], alpha: float | Iterable[float], *,
                  validation: tuple[Any, Any] | None = None, loss: str = "logistic", intercept: bool = True,
                  **options: Any) -> Result:
    """Sparse linear models by the k-support norm for every k and, from large to small, every alpha (lambda), each started
    from the one before. The result is the model that scores best on the validation samples (without these, the last);
    its fields `path.k`, `path.lambda`, `path.nonzeros`, `path.score`, ... have a row for each; `cleave.plot.path` draws
    them.

    Parameters
    ----------
    X, y : samples and their targets: classes, or with `loss='squares'` numbers
    k, alpha : numbers, or lists of them
    validation : (X, y) of other samples, to choose by
    **options
        As of `cleave ksupport`: `solver`, `tol`, `ridge`, `threads`, ...

    Examples
    --------
    >>> import cleave
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> result = cleave.ksupport_path(X, y == 0, k=[2, 5], alpha=[10, 1])
    >>> result.fields["path.k"]
    array([2, 2, 5, 5])
    """
    y = _without_nan(y, "the targets y")
    classes, targets = class_targets(y) if loss == "logistic" else (None, np.asarray(y, dtype=np.float64))
    how = {"max_iter": 10000, **options, "loss": loss, "intercept": intercept, "path": f"{_listed(k)}:{_listed(alpha)}"}
    run = Run("ksupport", X, how, targets=targets, renamed={"lambda": "alpha"})
    if validation is not None:
        run.views["validation"] = as_view(validation[0])
        run.views["validation_targets"] = as_view(_codes(validation[1], classes))
    return run.solve()
