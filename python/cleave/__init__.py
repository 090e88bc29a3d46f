"""Clustering by optimization, with certificates."""
from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from . import metrics, pictures
from ._functions import Verdict, affinity, verify
from ._library import lib as _lib, text_of as _text_of, warn_of_isa as _warn_of_isa
from ._parameters import ESTIMATORS as _ESTIMATORS
from ._path import ksupport_path
from ._result import Bound, Certificate, Result
from ._run import methods
from ._segment import Segmentation, segment
from ._text import Texts, cluster_terms, reduce, tfidf
from .metrics import compare, silhouette

if TYPE_CHECKING:
    from ._estimators import (Consensus, DominantSets, KPalm, KSupportClassifier, KSupportRegressor, MatrixPursuit,
                              NormalizedCut, SimplicialNMF)
    from ._text_features import TextFeatures

_warn_of_isa()
__version__: str = _text_of(_lib.clv_version()) or ""
__all__ = ["Bound", "Certificate", "Result", "Segmentation", "Texts", "Verdict", "affinity", "cluster_terms", "compare",
           "ksupport_path", "methods", "metrics", "pictures", "plot", "reduce", "segment", "silhouette", "tfidf", "verify"]
if importlib.util.find_spec("sklearn") is not None:
    __all__ += ["Consensus", "DominantSets", "KPalm", "KSupportClassifier", "KSupportRegressor", "MatrixPursuit",
                "NormalizedCut", "SimplicialNMF", "TextFeatures"]


def __getattr__(name: str) -> Any:
    """The estimators need scikit-learn; all else does not. `plot` needs matplotlib, and is read when it is asked for."""
    if name == "plot":
        return importlib.import_module("cleave.plot")
    if name == "TextFeatures":
        from ._text_features import TextFeatures
        return TextFeatures
    if name in _ESTIMATORS:
        from . import _estimators
        return getattr(_estimators, name)
    raise AttributeError(f"module 'cleave' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
