"""Clustering by optimization, with certificates."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._functions import Verdict, affinity, compare, silhouette, verify
from ._library import lib as _lib, text_of as _text_of
from ._parameters import ESTIMATORS as _ESTIMATORS
from ._result import Bound, Certificate, Result
from ._run import methods

if TYPE_CHECKING:
    from ._estimators import (DominantSets, KPalm, KSupportClassifier, KSupportRegressor, MatrixPursuit, NormalizedCut,
                              SimplicialNMF)

__version__: str = _text_of(_lib.clv_version()) or ""
__all__ = ["Bound", "Certificate", "Result", "Verdict", "affinity", "compare", "methods", "silhouette", "verify"]
__all__ += ["DominantSets", "KPalm", "KSupportClassifier", "KSupportRegressor", "MatrixPursuit", "NormalizedCut",
            "SimplicialNMF"]


def __getattr__(name: str) -> Any:
    """The estimators need scikit-learn; all else does not."""
    if name in _ESTIMATORS:
        from . import _estimators
        return getattr(_estimators, name)
    raise AttributeError(f"module 'cleave' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
