"""Estimators in the way of scikit-learn. Parameters and their defaults are the options of the library."""
from __future__ import annotations

import inspect
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin,
                              RegressorMixin, TransformerMixin)
    from sklearn.exceptions import ConvergenceWarning
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

from ._library import lib
from ._run import Run, method_options

__all__ = ["DominantSets", "KPalm", "KSupportClassifier", "KSupportRegressor", "MatrixPursuit", "NormalizedCut",
           "SimplicialNMF"]

# Options that have another name in scikit-learn, or one that Python does not allow.
RENAMED = {"k": "n_clusters", "seed": "random_state", "threads": "n_jobs", "restarts": "n_init", "lambda": "alpha"}
ATTRIBUTES = {"centers": "cluster_centers_"}  # fields of results that have; the others take an underscore


def _parameters(method: str, renamed: dict[str, str], without: set[str]) -> dict[str, tuple[str, Any]]:
    """{parameter: (option, default)} of a method."""
    found = {}
    for name, option in method_options(method).items():
        if name not in without:
            default = None if name == "threads" else option.default
            found[renamed.get(name, name)] = (name, default)
    return found


class _Estimator(BaseEstimator):
    """What all estimators share: parameters from the tables of the library, a run, attributes from its result."""

    _method: ClassVar[str]
    _renamed: ClassVar[dict[str, str]] = RENAMED
    _without: ClassVar[set[str]] = {"start"}
    _parameters: ClassVar[dict[str, tuple[str, Any]]]
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_method" not in cls.__dict__:
            return
        cls._parameters = _parameters(cls._method, cls._renamed, cls._without)
        defaults = {name: cls._defaults.get(name, default) for name, (_, default) in cls._parameters.items()}
        defaults["init"] = None
        defaults["callback"] = None

        def __init__(self: Any, *args: Any, **values: Any) -> None:
            given = signature.bind(self, *args, **values)
            for name in defaults:
                setattr(self, name, given.arguments.get(name, defaults[name]))

        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter("self", plain)] + [
            inspect.Parameter(name, plain if i == 0 else inspect.Parameter.KEYWORD_ONLY, default=default)
            for i, (name, default) in enumerate(defaults.items())])
        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]

    def _options(self) -> dict[str, Any]:
        found = {option: getattr(self, name) for name, (option, _) in self._parameters.items()}
        if "seed" in found and not isinstance(found["seed"], (int, np.integer)):
            found["seed"] = int(check_random_state(found["seed"]).randint(np.iinfo(np.int32).max))
        jobs = found.get("threads")
        if jobs is not None and jobs < 0:
            found["threads"] = max(1, int(lib.clv_default_threads()) + 1 + jobs)
        return found

    def _run(self, x: Any, **inputs: Any) -> Run:
        return Run(self._method, x, self._options(), start=self.init, callback=self.callback, **inputs)

    def _solve(self, x: Any, **inputs: Any) -> None:
        run = self._run(x, **inputs)
        try:
            result = run.solve()
        except KeyboardInterrupt:
            if run.pointer is not None:  # the best so far
                self._take(run, run.result())
            raise
        self._take(run, result)
        if result.stop == "iteration limit":
            warnings.warn(f"{type(self).__name__} stopped after {result.n_iter} iterations: {result.certificate.sentence} "
                          f"Increase max_iter ({self.max_iter}) or tol.", ConvergenceWarning, stacklevel=3)

    def _take(self, run: Run, result: Any) -> None:
        self.result_, self._last_run = result, run
        self.objective_, self.certificate_, self.bound_ = result.objective, result.certificate, result.bound
        self.converged_, self.n_iter_, self.trace_ = result.converged, result.n_iter, result.trace
        if result.labels is not None:
            self.labels_ = result.labels
        for name, value in result.fields.items():
            if "." not in name:
                setattr(self, ATTRIBUTES.get(name, name + "_"), value)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_last_run", None)
        return state

    def _fitted_run(self) -> Run:
        """The run, or one like it made of what was pickled."""
        if getattr(self, "_last_run", None) is None:
            run = self._run(self._training(), **self._training_inputs())
            run.restore(self.result_)
            self._last_run = run
        return self._last_run

    def _training(self) -> Any:
        return self._fit_X

    def _training_inputs(self) -> dict[str, Any]:
        return {}

    def _repr_html_inner(self) -> str:
        return self.result_._repr_html_() if hasattr(self, "result_") else super()._repr_html_inner()

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"pairwise": getattr(self, "affinity", None) == "precomputed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self, "affinity", None) == "precomputed"
        return tags


class _Clusterer(ClusterMixin, _Estimator):
    """Methods that give labels."""

    def _checked(self, x: Any, reset: bool) -> Any:
        return validate_data(self, x, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                             ensure_min_samples=2 if reset else 1)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the clusters of X: one object per row, or similarities with affinity='precomputed'."""
        X = self._checked(X, reset=True)
        self._fit_X = X
        self._solve(X)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The clusters of new objects: points, or similarities to the objects that were clustered."""
        return self._of_new(X)[0]

    def _of_new(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        given = getattr(self, "affinity", None) == "precomputed"
        return self._fitted_run().predict(**{"similarities" if given else "points": X})


class NormalizedCut(_Clusterer):
    """Normalized cut by fractional programming, with a one-move certificate and an eigenvalue bound."""

    _method = "ncut"
    _defaults = {"n_clusters": 8}


class SimplicialNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer):
    """Symmetric nonnegative matrix factorization with memberships on the simplex."""

    _method = "symnmf"
    _defaults = {"n_clusters": 8}

    def transform(self, X: Any) -> Any:
        """Memberships of new objects."""
        return self._of_new(X)[1]

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and the memberships of the objects that were clustered."""
        self.fit(X, y, **params)
        dense = self.membership_  # type: ignore[attr-defined]
        return dense.toarray() if hasattr(dense, "toarray") else dense

    @property
    def _n_features_out(self) -> int:
        return int(self.result_.k)


class DominantSets(_Clusterer):
    """Dominant sets by Frank-Wolfe: clusters one after the other; objects in none have label -1."""

    _method = "dominant"


class KPalm(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer):
    """Globally convergent k-means (norm='squared') and k-median (norm='euclidean')."""

    _method = "kpalm"
    _defaults = {"n_clusters": 8}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the clusters of X, one object per row; objects count by their weights."""
        X = self._checked(X, reset=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._fit_X = X
        self._solve(X, weights=sample_weight)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Distances to the centers."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        centers = self.cluster_centers_  # type: ignore[attr-defined]
        from sklearn.metrics.pairwise import euclidean_distances
        return np.asarray(euclidean_distances(X, centers))

    @property
    def _n_features_out(self) -> int:
        return int(self.result_.k)


class _KSupport(_Estimator):
    """Linear models whose weights are few: the squared k-support norm. `k`: about how many weights are not 0 (None: a tenth
    of the features); `alpha`: the weight of the norm."""

    _renamed = {**RENAMED, "k": "k", "intercept": "fit_intercept"}
    _without = {"start", "loss", "transposed", "path"}
    _defaults = {"k": None, "fit_intercept": True, "max_iter": 10000}
    _loss: ClassVar[str]

    def _options(self) -> dict[str, Any]:
        found = super()._options()
        found["loss"] = self._loss
        if found["k"] is None:
            found["k"] = max(1, self.n_features_in_ // 10)
        return found

    def _checked(self, *data: Any) -> Any:
        """Samples alone, or with what they are fitted to."""
        more = {"y_numeric": self._loss == "squares"} if len(data) > 1 else {}
        return validate_data(self, *data, reset=len(data) > 1, accept_sparse="csr", dtype=[np.float64, np.float32],
                             order="C", **more)

    def _model(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = self.result_.weights
        weights = weights.toarray() if hasattr(weights, "toarray") else weights
        intercepts = self.result_.fields.get("intercepts", np.zeros(len(weights)))
        return weights, np.atleast_1d(intercepts)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._checked(X)
        return np.asarray(X @ np.atleast_2d(self.coef_).T) + self.intercept_


class KSupportClassifier(ClassifierMixin, _KSupport):
    """Sparse logistic regression with the k-support norm, with a duality gap; one model per class against the rest."""

    _method = "ksupport"
    _loss = "logistic"

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to samples X, one per row, and their classes y."""
        X, y = self._checked(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"KSupportClassifier needs at least 2 classes; y has one class only, {self.classes_[0]!r}")
        classes = self.classes_
        self._solve(X, targets=codes.astype(np.float64))
        self.classes_ = classes
        self.coef_, self.intercept_ = self._model()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of two classes one per sample, above 0 for the second; else one per class."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes of samples."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the classes; of more than two, those of the models divided by their sum."""
        scores = self.decision_function(X)
        chance = 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        if scores.ndim == 1:
            return np.column_stack([1 - chance, chance])
        return chance / chance.sum(axis=1, keepdims=True)


class KSupportRegressor(RegressorMixin, _KSupport):
    """Sparse least squares with the k-support norm, with a duality gap."""

    _method = "ksupport"
    _loss = "squares"

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to samples X, one per row, and their targets y."""
        X, y = self._checked(X, y)
        self._solve(X, targets=np.asarray(y, dtype=np.float64))
        weights, intercepts = self._model()
        self.coef_, self.intercept_ = weights[0], float(intercepts[0])
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The targets of samples."""
        return self._scores(X).ravel()


class MatrixPursuit(_Estimator):
    """Every object as a combination of few others (k-support-norm matrix pursuit). `affinity_matrix_` = |W| + |W'| is an
    affinity of objects in the same subspace, for NormalizedCut(affinity='precomputed'). `k`: about how many entries of W
    are not 0 (None: ten per object)."""

    _method = "pursuit"
    _renamed = {**RENAMED, "k": "k"}
    _defaults = {"k": None, "max_iter": 1000}

    def _options(self) -> dict[str, Any]:
        found = super()._options()
        if found["k"] is None:
            found["k"] = 10 * self._objects
        return found

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit to objects X, one per row."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        self._objects = X.shape[0]
        self._solve(X)
        weights = self.result_.weights
        self.affinity_matrix_ = abs(weights) + abs(weights).T
        return self
