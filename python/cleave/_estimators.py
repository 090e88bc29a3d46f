"""Estimators in the way of scikit-learn. Parameters and their defaults are the options of the library."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin,
                              RegressorMixin, TransformerMixin)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted
except ImportError as missing:
    raise ImportError("the estimators of cleave need scikit-learn: pip install scikit-learn") from missing
try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return estimator._validate_data(*args, **kwargs)

from . import _parameters, _progress
from ._library import lib
from ._result import Result
from ._run import Run

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = list(_parameters.ESTIMATORS)

_REAL = (np.dtype(np.float64), np.dtype(np.float32))


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


_ARRAYS = {"object_alpha", "start_membership"}  # options that name files, and parameters that are what these hold


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: a run, with the parameters that a class of _parameters has, and attributes from its
    result."""

    _method: ClassVar[str]
    _option_of: ClassVar[dict[str, str]]
    _initial: ClassVar[dict[str, Any]]
    _gives: ClassVar[tuple[str, ...]]
    result_: Result

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """An estimator is documented where its parameters are."""
        super().__init_subclass__(**kwargs)
        parameters = getattr(_parameters, cls.__name__, None)
        if parameters is not None and cls.__doc__ is None:
            cls.__doc__ = parameters.__doc__

    def _options(self) -> dict[str, Any]:
        """What the library is to be told: the parameters that are not what it does anyway."""
        found = {option: value for name, option in self._option_of.items()
                 if (value := getattr(self, name)) is not None and not _same(value, self._initial[name])
                 and option not in self._arrays()}
        if not isinstance(found.get("seed", 1), (int, np.integer)):
            del found["seed"]  # fit draws one
        if isinstance(found.get("threads"), (int, np.integer)) and found["threads"] < 0:
            found["threads"] = max(1, int(lib.clv_default_threads()) + 1 + found["threads"])
        if isinstance(getattr(self, "init", None), str):
            found["start"] = self.init
        return found

    def _arrays(self) -> dict[str, Any]:
        """Parameters that the command reads from files, given as arrays: by option."""
        return {option: value for name, option in self._option_of.items() if option.replace("-", "_") in _ARRAYS
                and not isinstance(value := getattr(self, name), (str, int, float, type(None))) and np.ndim(value)}

    def _run(self, x: Any, callback: Any = None, drawn: dict[str, int] | None = None, **inputs: Any) -> Run:
        start = getattr(self, "init", None)
        arrays = {option.replace("-", "_"): value for option, value in self._arrays().items()}
        self._run_with = {**self._options(), **(drawn or {})}, None if isinstance(start, str) else start, arrays
        return self._run_again(x, callback=callback, **inputs)

    def _run_again(self, x: Any, **inputs: Any) -> Run:
        """With the parameters of the last run, whatever they are by now."""
        options, start, arrays = self._run_with
        return Run(self._method, x, options, start=start, columns=getattr(self, "feature_names_in_", ()), **arrays,
                   **inputs)

    def _solve(self, x: Any, **inputs: Any) -> None:
        callback, close = self.callback, None
        if self.progress:
            callback, close = _progress.bar(type(self).__name__, callback)
        drawn = None
        if not isinstance(self.random_state, (int, np.integer)):
            drawn = {"seed": int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))}
        run = self._run(x, callback, drawn, **inputs)
        try:
            result = run.solve()
        except KeyboardInterrupt as pressed:
            if run.pointer is not None:  # the best so far
                self._take(run, run.result())
                pressed.result = self.result_  # type: ignore[attr-defined]
            raise
        finally:
            if close is not None:
                close()
        self._take(run, result)
        if result.stop == "iteration limit":
            warnings.warn(f"{type(self).__name__} stopped after {result.n_iter} iterations: {result.certificate.sentence} "
                          f"Increase max_iter ({self.max_iter}) or tol.", ConvergenceWarning, stacklevel=3)

    def _take(self, run: Run, result: Result) -> None:
        self.result_, self._last_run = result, run
        self.objective_, self.certificate_, self.bound_ = result.objective, result.certificate, result.bound
        self.converged_, self.n_iter_, self.trace_ = result.converged, result.n_iter, result.trace
        if result.labels is not None:
            self.labels_ = result.labels
        for attribute in self._gives:  # of an earlier fit
            self.__dict__.pop(attribute, None)
        for name, value in result.fields.items():
            attribute = _parameters.ATTRIBUTES.get(name, name + "_")
            if attribute in self._gives:
                setattr(self, attribute, value)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_last_run", None)
        return state

    def _fitted_run(self) -> Run:
        """The run, or one like it made of what was pickled."""
        if getattr(self, "_last_run", None) is None:
            run = self._run_again(self._fit_X)
            run.restore(self.result_)
            self._last_run = run
        return self._last_run

    def _repr_html_inner(self) -> Any:
        return self.result_._repr_html_() if hasattr(self, "result_") else super()._repr_html_inner()

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"pairwise": getattr(self, "affinity", None) == "precomputed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self, "affinity", None) == "precomputed"
        return tags

    def _is_plain(self, x: Any, reset: bool) -> bool:
        """Whether x is an array that scikit-learn's validation would hand back as it is: it takes half a millisecond to say
        so. Everything else goes there, and so do its sentences."""
        if (type(x) is not np.ndarray or x.dtype not in _REAL or x.ndim != 2 or not x.flags.c_contiguous or len(x) < 2
                or x.shape[1] == 0 or hasattr(self, "feature_names_in_")):
            return False
        with np.errstate(all="ignore"):
            finite = bool(np.isfinite(x.sum()))
        return finite and (reset or x.shape[1] == self.n_features_in_)

    def _checked(self, x: Any, reset: bool = True) -> Any:
        if self._is_plain(x, reset):
            self.n_features_in_ = x.shape[1]
            return x
        return validate_data(self, x, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                             ensure_min_samples=2 if reset else 1)


class _OfObjects(_Estimator):
    """Methods that take objects, and nothing else of them."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to X: one object per row, or similarities with affinity='precomputed'."""
        X = self._checked(X)
        self._fit_X = X
        self._solve(X)
        return self


class _Clusterer(ClusterMixin, _OfObjects):  # type: ignore[misc]
    """Methods that give labels."""

    labels_: NDArray[np.int32]

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Fit to X, and the clusters of its objects."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The clusters of new objects: points, or similarities to the objects that were clustered."""
        return self._of_new(X)[0]

    def _of_new(self, X: Any) -> tuple[NDArray[np.int32], Any]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        given = getattr(self, "affinity", None) == "precomputed"
        return self._fitted_run().predict(**{"similarities" if given else "points": X})

    @property
    def _n_features_out(self) -> int:
        return self.result_.k


class NormalizedCut(_Clusterer, _parameters.NormalizedCut):
    pass


class DominantSets(_Clusterer, _parameters.DominantSets):
    pass


class SimplicialNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer,  # type: ignore[misc]
                    _parameters.SimplicialNMF):
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new objects."""
        memberships: NDArray[np.float64] = self._of_new(X)[1]
        return memberships

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Fit, and the memberships of the objects that were clustered."""
        memberships: NDArray[np.float64] = self.fit(X).membership_
        return memberships


class KPalm(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer, _parameters.KPalm):  # type: ignore[misc]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to X, one object per row; objects count by their weights."""
        X = self._checked(X)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._fit_X = X
        self._solve(X, weights=sample_weight)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Fit to X, and the clusters of its objects."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Distances to the centers."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray(euclidean_distances(X, self.cluster_centers_))


class _KSupport(_Estimator):
    """Linear models whose weights are few."""

    _loss: ClassVar[str]

    def _options(self) -> dict[str, Any]:
        found = super()._options()
        found["loss"] = self._loss
        if self.k is None:
            found["k"] = max(1, self.n_features_in_ // 10)
        return found

    def _samples(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Samples with what they are fitted to."""
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub" and len(y) and self._is_plain(x, True) and len(
                x) == len(y):
            self.n_features_in_ = x.shape[1]
            return x, y
        x, y = validate_data(self, x, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                             y_numeric=self._loss == "squares")
        if self._loss == "logistic":
            check_classification_targets(y)
        return x, y

    def _model(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = self.result_.weights
        weights = weights.toarray() if hasattr(weights, "toarray") else weights
        intercepts = self.result_.fields.get("intercepts", np.zeros(len(weights)))
        return weights, np.atleast_1d(intercepts)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        scores: NDArray[np.float64] = np.asarray(X @ np.atleast_2d(self.coef_).T) + self.intercept_
        return scores


class KSupportClassifier(ClassifierMixin, _KSupport, _parameters.KSupportClassifier):  # type: ignore[misc]
    _loss = "logistic"

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to samples X, one per row, and their classes y."""
        X, y = self._samples(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"KSupportClassifier needs at least 2 classes; y has one class only, {self.classes_[0]!r}")
        # Numbers that a double tells apart are what the result speaks of, else 0, 1, ...
        numeric = self.classes_.dtype.kind in "iuf" and len(np.unique(self.classes_.astype(float))) == len(self.classes_)
        self._solve(X, targets=np.asarray(y if numeric else codes, dtype=np.float64))
        return self

    def _take(self, run: Run, result: Result) -> None:
        super()._take(run, result)
        self.coef_, self.intercept_ = self._model()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of two classes one per sample, above 0 for the second; else one per class."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes of samples."""
        scores = self.decision_function(X)
        found: NDArray[Any] = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the classes; of more than two, those of the models divided by their sum."""
        scores = self.decision_function(X)
        chance = 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        if scores.ndim == 1:
            return np.column_stack([1 - chance, chance])
        shares: NDArray[np.float64] = chance / chance.sum(axis=1, keepdims=True)
        return shares

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities of the classes."""
        logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms


class KSupportRegressor(RegressorMixin, _KSupport, _parameters.KSupportRegressor):  # type: ignore[misc]
    _loss = "squares"

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to samples X, one per row, and their targets y."""
        X, y = self._samples(X, y)
        self._solve(X, targets=np.asarray(y, dtype=np.float64))
        return self

    def _take(self, run: Run, result: Result) -> None:
        super()._take(run, result)
        weights, intercepts = self._model()
        self.coef_, self.intercept_ = weights[0], float(intercepts[0])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The targets of samples."""
        return self._scores(X).ravel()


class MatrixPursuit(_OfObjects, _parameters.MatrixPursuit):
    def _options(self) -> dict[str, Any]:
        found = super()._options()
        if self.k is None:
            found["k"] = 10 * self._fit_X.shape[0]
        return found

    def _take(self, run: Run, result: Result) -> None:
        super()._take(run, result)
        self.affinity_matrix_ = abs(self.weights_) + abs(self.weights_).T


def _other(name: str) -> Any:
    """The estimator of a method that none was written for."""
    parameters = getattr(_parameters, name)
    base = _Clusterer if "labels_" in parameters.__annotations__ else _OfObjects
    return type(name, (base, parameters), {"__module__": __name__})


for _name in _parameters.ESTIMATORS:
    if _name not in globals():
        globals()[_name] = _other(_name)
