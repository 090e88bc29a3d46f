"""Estimators in the way of scikit-learn. Parameters and their defaults are the options of the library."""
from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any, Callable, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin,
                              RegressorMixin, TransformerMixin)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.utils import check_random_state, gen_batches
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
from ._functions import class_targets
from ._library import lib
from ._matrix import as_view, check_sparse, is_sparse
from ._options import METHODS, threads_of
from ._partitions import stack
from ._result import Result
from ._run import Run

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = list(_parameters.ESTIMATORS)

_REAL = (np.dtype(np.float64), np.dtype(np.float32))


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _range_of(value: Any, n: int) -> tuple[int, int] | None:
    """The numbers of clusters that are asked for at once: (least, most), a range, or "auto"; None: it is one number."""
    ends = value if isinstance(value, tuple) and len(value) == 2 else (value.start, value.stop - 1) if isinstance(value, range) else ()
    if (value is None or isinstance(value, (list, tuple, range)) and not (
            ends and all(isinstance(end, (int, np.integer)) for end in ends) and 1 <= ends[0] <= ends[1] and getattr(value, "step", 1) == 1)
            or isinstance(value, (int, np.integer)) and value < 1 or isinstance(value, str) and value != "auto" and not value.isdigit()):
        raise ValueError(f"n_clusters = {value!r} is not allowed: it must be a whole number from 1 on, (least, most) with least <= most, "
                         "a range of step 1, or 'auto'")
    if isinstance(value, str) and value == "auto":
        return min(2, max(n - 1, 1)), max(min(12, n - 1), 1)
    if ends and ends[1] > n:
        raise ValueError(f"n_clusters = {value!r} is not allowed: there are {n} objects, and no more clusters than that")
    return (int(ends[0]), int(ends[1])) if ends else None


def _equal(value: Any, other: Any) -> bool:
    """Numbers or arrays, of which some may be NaN; tuples and records of them."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names is not None:
        return getattr(getattr(other, "dtype", None), "names", None) == names and all(_equal(value[name], other[name]) for name in names)
    if isinstance(value, tuple):
        return isinstance(other, tuple) and len(value) == len(other) and all(map(_equal, value, other))
    if is_sparse(value) and is_sparse(other):
        return value.shape == other.shape and bool((value != other).nnz == 0)
    try:
        return bool(np.array_equal(value, other, equal_nan=True))
    except TypeError:  # of texts
        return bool(np.array_equal(value, other))


def _own(value: Any) -> Any:
    """What an attribute is: a copy, so that who edits it in place edits no result, by which models predict."""
    return value.copy() if hasattr(value, "copy") else value


class _given(functools.cached_property):  # type: ignore[type-arg]
    """An attribute of a fitted estimator that its result determines, made when it is first asked for: most are not."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None and "result_" not in vars(instance):
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self.attrname!r}")
        return super().__get__(instance, owner)

    @classmethod
    def copy_of(cls, field: str, attribute: str) -> _given:
        """Of what the result has by that name, if it has it."""
        found = cls(lambda self: _own(getattr(self.result_, field)))
        found.attrname = attribute
        return found


# Attributes that have another name than the field.
_FIELDS = {"agreement_": "inputs.ari", **{attribute: name for name, attribute in _parameters.ATTRIBUTES.items()}}
_ARRAYS = {"object_alpha", "start", "start_membership"}  # options that name files; parameters may be what these hold
_SMALL = 1 << 20  # bytes of X that are copied, so that who changes it afterwards changes no model

Fit = TypeVar("Fit", bound=Callable[..., Any])


def _whole(fit: Fit) -> Fit:
    """A fit that fails leaves the estimator as it was; one that is interrupted, with the result that the exception has."""
    @functools.wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException as failure:
            best = getattr(failure, "result", None)
            if best is None or best is not vars(self).get("result_"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    return cast(Fit, fitted)


_RETURNS = {"fit": "self", "predict": "array: a label, class or number for each row",
            "fit_predict": "array: a label for each object; -1: it is left out", "transform": "array: a row for each of X, a column per cluster",
            "fit_transform": "array: a row for each of X, a column per cluster", "score": "float",
            "decision_function": "array: a number for each row, or one per class", "predict_proba": "array: a row for each of X, a column per class",
            "predict_log_proba": "array: a row for each of X, a column per class"}


def _describe(method: Any, x: str) -> None:
    """Add to the text of a method what it takes and returns, in the form of numpydoc."""
    takes = {"X": x, "sample_weight": "array of a weight for each object, a number, or None",
             "y": "array: the class or target of each sample"}
    listed = [f"{name} : " + ("ignored" if name == "y" and given.default is None else takes[name])
              for name, given in inspect.signature(method).parameters.items() if name != "self"]
    method.__doc__ = "\n".join([inspect.cleandoc(method.__doc__), "", "Parameters", "----------", *listed, "", "Returns", "-------",
                                _RETURNS[method.__name__], ""])


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: a run, with the parameters that a class of _parameters has, and attributes from its
    result."""

    _method: ClassVar[str]
    _option_of: ClassVar[dict[str, str]]
    _initial: ClassVar[dict[str, Any]]
    _gives: ClassVar[tuple[str, ...]]
    _later: ClassVar[tuple[str, ...]]  # attributes that are made when they are asked for
    _ranges: ClassVar[bool] = False  # whether n_clusters may be a range
    _takes: ClassVar[str] = "array, sparse matrix or frame: objects, one per row"
    _fit_X: Any = None  # kept where objects are what new ones are compared with
    _fingerprint: int | None = None  # of X that was not copied
    result_: Result

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """An estimator is documented where its parameters are, and its methods here."""
        super().__init_subclass__(**kwargs)
        for name in _RETURNS.keys() & vars(cls).keys():
            if vars(cls)[name].__doc__:  # not with python -OO
                _describe(vars(cls)[name], cls._takes)
        parameters = getattr(_parameters, cls.__name__, None)
        if parameters is not None and cls.__doc__ is None:
            cls.__doc__ = parameters.__doc__
        copied = {"trace_", "labels_", "agreement_", *getattr(cls, "_gives", ())} - {"warnings_"}
        for attribute in getattr(parameters, "__annotations__", {}):
            if attribute in copied and not hasattr(cls, attribute):
                setattr(cls, attribute, _given.copy_of(_FIELDS.get(attribute, attribute[:-1]), attribute))
        cls._later = tuple(name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, _given))

    def _options(self, n: int) -> dict[str, Any]:
        """What the library is to be told for n objects: the parameters that are not what it does anyway."""
        arrays = self._arrays()
        found = {option: value for name, option in self._option_of.items()
                 if (value := getattr(self, name)) is not None and not _same(value, self._initial[name])
                 and option not in arrays}
        if "threads" in found:
            found["threads"] = threads_of(found["threads"])
        if not isinstance(self.random_state, (int, np.integer)):
            found["seed"] = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return found

    def _arrays(self) -> dict[str, Any]:
        """Parameters that the command reads from files, given as arrays: by option."""
        return {option: value for name, option in self._option_of.items() if option in _ARRAYS
                and not isinstance(value := getattr(self, name), (str, int, float, type(None))) and np.ndim(value)}

    def _k_range(self, n: int) -> tuple[int, int] | None:
        return _range_of(self.n_clusters, n) if self._ranges else None

    def _run(self, x: Any, **inputs: Any) -> Run:
        """With the options of the fit, whatever the parameters are by now."""
        return Run(self._method, x, self._fit_options, columns=getattr(self, "feature_names_in_", ()),
                   renamed={option: name for name, option in self._option_of.items()},
                   fingerprint=self._fingerprint, **inputs)

    def _solve(self, x: Any, **inputs: Any) -> None:
        callback, close = self.callback, None
        if not (callback is None or callable(callback)):
            raise TypeError(f"callback = {callback!r} cannot be called: it must be a function of one argument, or None")
        self._fit_options = self._options(x.shape[0])
        k_range = self._k_range(x.shape[0])
        if k_range is not None:
            self._fit_options["k"] = max(k_range[1], 1)  # until the one that is taken is known
        run = self._run(x, callback=callback, **self._arrays(), **inputs)
        run.k_range = k_range
        if self.progress:
            run.callback, close = _progress.bar(type(self).__name__, callback)
        result = None
        try:
            result = run.solve(self.checkpoint, self.checkpoint_every, self.resume)
        except KeyboardInterrupt as pressed:
            if run.pointer is not None:  # the best so far
                result = run.result()
                self._take(run, result)
                pressed.result = result  # type: ignore[attr-defined]
            raise
        finally:
            if close is not None:
                close(result)
        self._take(run, result)
        if result.stop == "time limit" and not result.certificate.holds:
            warnings.warn(f"{type(self).__name__} stopped at its time limit: {result.certificate.sentence} Increase time_limit "
                          f"({self.time_limit}) or tol.", ConvergenceWarning, stacklevel=4)
        if result.stop == "iteration limit":
            warnings.warn(f"{type(self).__name__} stopped after {result.n_iter} iterations: {result.certificate.sentence} "
                          f"Increase max_iter ({self.max_iter}) or tol.", ConvergenceWarning, stacklevel=4)
        for sentence in getattr(self, "warnings_", ()):
            warnings.warn(sentence, UserWarning, stacklevel=4)

    def _take(self, run: Run, result: Result) -> None:
        self.result_, self._last_run = result, run
        for attribute in (*self._later, "warnings_", "affinity_"):  # of an earlier fit
            self.__dict__.pop(attribute, None)
        for attribute, value in self._of_result().items():
            setattr(self, attribute, value)
        if run.k_range is not None:
            self._fit_options["k"] = result.k
        said = result._alone("warnings")
        if said is not None:
            self.warnings_ = [run.ctx.in_python(sentence) for sentence in said]

    def _of_result(self) -> dict[str, Any]:
        """The attributes that the result determines, by name; of those that are made later, the ones that were."""
        result, made = self.result_, [name for name in self._later if name in vars(self)]
        return {"objective_": result.objective, "certificate_": result.certificate, "bound_": result.bound,
                "converged_": result.converged, "n_iter_": result.n_iter, **({"n_clusters_": result.k} if self._ranges else {}),
                **({"affinity_": result._affinity} if result._affinity is not None else {}),
                **{name: getattr(type(self), name).func(self) for name in made}}

    @_given
    def k_table_(self) -> Any:
        """Of a range of n_clusters: a record array, a row for each."""
        columns = {name.split(".")[1]: value for name, value in self.result_.fields.items() if name.startswith("k_table.")}
        if not columns:
            raise AttributeError("there is a table of k only where n_clusters is a range")
        return np.rec.fromarrays(list(columns.values()), dtype=[(name, value.dtype) for name, value in columns.items()])

    def _edited(self) -> str | None:
        """An attribute that is no longer what the result has, by its name."""
        mine = vars(self)
        return next((name for name, value in self._of_result().items() if name not in mine or not _equal(mine[name], value)), None)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        run = state.pop("_last_run", None)
        if run is not None and run.predicts_by_points:  # and X is pickled for that
            run.check_points()
        return state

    def _fitted_run(self) -> Run:
        """The run, or one like it made of what was pickled."""
        if getattr(self, "_last_run", None) is None:
            run = self._run(np.empty((0, self.n_features_in_)) if self._fit_X is None else self._fit_X)
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
        check_sparse(x)
        return validate_data(self, x, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                             ensure_min_samples=2 if reset else 1)

    def _kept(self, x: Any) -> Any:
        """X, to work on. Reports tell of it, and methods on similarities predict by it: they must notice when it is not what
        it was. That an array may not be written to says nothing: others may write to its memory, or to the file of it."""
        self._fingerprint = None
        if (x.data if is_sparse(x) else x).nbytes <= _SMALL:
            x = x.copy()
        else:
            view = as_view(x)
            self._fingerprint = view.fingerprint()
            if is_sparse(x):  # what the view has: its numbers or places may be copies
                values, start, index = view.kept
                x = type(x)((values, index, start), shape=x.shape)
        self._fit_X = x if METHODS[self._method].takes == lib.CLV_TAKES_AFFINITY else None
        return x


class _OfObjects(_Estimator):
    """Methods that take objects, and nothing else of them."""

    @_whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to X: one object per row, or similarities with affinity='precomputed'."""
        X = self._kept(self._checked(X))
        self._solve(X)
        return self


class _Clusterer(ClusterMixin, _OfObjects):  # type: ignore[misc]
    """Methods that give labels."""

    labels_: NDArray[np.int32]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._ranges = hasattr(cls, "_method") and METHODS[cls._method].k_meaning == lib.CLV_K_CLUSTERS

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Fit to X, and the clusters of its objects."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The clusters of new objects: points, or similarities to the objects that were clustered."""
        return self._of_new(X)[0]

    def _of_new(self, X: Any) -> tuple[NDArray[np.int32], Any]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        given = self._fit_options.get("affinity") == "precomputed"
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


def _distances(x: Any, centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances by norms and products; those that are small against the norms, and so have few digits left, by differences,
    of some rows at a time, which are filled where they are sparse."""
    sparse = is_sparse(x)
    if not sparse:
        x, centers = x - centers.mean(axis=0), centers - centers.mean(axis=0)
    squares = np.asarray((x.multiply(x) if sparse else x * x).sum(axis=1)).reshape(-1, 1)
    found = np.asarray(euclidean_distances(x, centers))
    near = found < 1e-3 * (np.sqrt(squares) + np.sqrt((centers**2).sum(axis=1)))
    rows = np.flatnonzero(near.any(axis=1))
    step = max(1, (1 << 22) // x.shape[1])
    for some in (rows[first:first + step] for first in range(0, len(rows), step)):
        filled = x[some].toarray() if sparse else x[some]
        for c, center in enumerate(centers):
            at = near[some, c]
            found[some[at], c] = np.sqrt(((filled[at] - center) ** 2).sum(axis=1))
    return found


class KPalm(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer, _parameters.KPalm):  # type: ignore[misc]
    @_whole
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to X, one object per row; objects count by their weights."""
        X = self._kept(self._checked(X))
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if (sample_weight == 1).all():  # starts that are drawn by weight are other ones
                sample_weight = None
        self._solve(X, weights=sample_weight)
        sizes = self.result_.sizes
        found = self.result_.k if sizes is None else int(np.count_nonzero(sizes))
        if found < self.result_.k:
            warnings.warn(f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.result_.k}). Possibly due "
                          "to duplicate points in X.", ConvergenceWarning, stacklevel=3)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Fit to X, and the clusters of its objects."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Distances to the centers."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return _distances(X, self.result_.centers)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective of X at the centers, each object in the cluster of its nearest one."""
        nearest = self.predict(X)
        X = self._checked(X, reset=False)
        squares = np.empty(len(nearest))
        for rows in gen_batches(len(nearest), 4096):  # sparse rows are filled here: not all at once
            some = X[rows].toarray() if is_sparse(X) else X[rows]
            squares[rows] = ((some - self.result_.centers[nearest[rows]]) ** 2).sum(axis=1)
        epsilon = self.result_.fields.get("epsilon")
        values = squares if epsilon is None else np.sqrt(squares + epsilon ** 2)
        if sample_weight is not None:
            values *= _check_sample_weight(sample_weight, X, dtype=np.float64)
        return -float(values.sum())


class _KSupport(_Estimator):
    """Linear models whose weights are few."""

    _loss: ClassVar[str]

    def _options(self, n: int) -> dict[str, Any]:
        found = super()._options(n)
        found["loss"] = self._loss
        if self.k is None or _same(self.k, "auto"):
            found["k"] = max(1, self.n_features_in_ // 10)
        return found

    def _is_plain_target(self, y: Any) -> bool:
        """As `_is_plain` for targets: whole numbers, or for a regression finite ones."""
        if type(y) is not np.ndarray or y.ndim != 1 or not len(y):
            return False
        return y.dtype.kind in "iub" or (self._loss == "squares" and y.dtype in _REAL and bool(np.isfinite(y).all()))

    def _samples(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Samples with what they are fitted to."""
        if self._is_plain_target(y) and self._is_plain(x, True) and len(x) == len(y):
            self.n_features_in_ = x.shape[1]
            return x, y
        check_sparse(x)
        x, y = validate_data(self, x, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                             y_numeric=self._loss == "squares")
        if self._loss == "logistic":
            check_classification_targets(y)
        return x, y

    def _model(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights, intercepts = self.result_._alone("weights", dense=True), self.result_._alone("intercepts")
        return weights, np.zeros(len(weights)) if intercepts is None else np.atleast_1d(intercepts)

    def _of_result(self) -> dict[str, Any]:
        weights, intercepts = self._model()
        one = self._loss == "squares"
        return {**super()._of_result(), "coef_": weights[0] if one else weights,
                "intercept_": float(intercepts[0]) if one else intercepts}

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        scores: NDArray[np.float64] = np.asarray(X @ np.atleast_2d(self.coef_).T) + self.intercept_
        return scores


class KSupportClassifier(ClassifierMixin, _KSupport, _parameters.KSupportClassifier):  # type: ignore[misc]
    _loss = "logistic"

    @_whole
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to samples X, one per row, and their classes y."""
        X, y = self._samples(X, y)
        X = self._kept(X)
        self.classes_, targets = class_targets(y)
        if len(self.classes_) < 2:
            raise ValueError(f"KSupportClassifier needs at least 2 classes; y has one class only, {self.classes_.tolist()[0]!r}")
        self._solve(X, targets=targets)
        return self

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
        scores = np.clip(self.decision_function(X), -700, 700)
        chance = 1 / (1 + np.exp(-scores))
        if scores.ndim == 1:
            return np.column_stack([1 / (1 + np.exp(scores)), chance])  # which keeps its digits where 1 - chance has none
        shares: NDArray[np.float64] = chance / chance.sum(axis=1, keepdims=True)
        return shares

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities of the classes."""
        logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms


class KSupportRegressor(RegressorMixin, _KSupport, _parameters.KSupportRegressor):  # type: ignore[misc]
    _loss = "squares"

    @_whole
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to samples X, one per row, and their targets y."""
        X, y = self._samples(X, y)
        X = self._kept(X)
        self._solve(X, targets=np.asarray(y, dtype=np.float64))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The targets of samples."""
        return self._scores(X).ravel()


class MatrixPursuit(_OfObjects, _parameters.MatrixPursuit):
    def _options(self, n: int) -> dict[str, Any]:
        found = super()._options(n)
        if self.k is None:
            found["k"] = min(10 * n, n * n)
        return found

    @_given
    def affinity_matrix_(self) -> Any:
        """|W| + |W'|, sparse."""
        strength = abs(self.result_.weights)
        return strength + strength.T


class Consensus(ClusterMixin, _OfObjects, _parameters.Consensus):  # type: ignore[misc]
    labels_: NDArray[np.int32]
    _ranges = True
    _takes = "list, array or frame: clusterings of the same objects"

    @_whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to X: a list of clusterings of the same objects, each a fitted estimator, a result, labels (-1: left out) or
        memberships (n x k); or an array or frame with a column of labels for each."""
        if isinstance(X, dict) or hasattr(X, "__next__"):
            raise TypeError(f"X must be a list of clusterings, or an array or frame with a column for each, not a {type(X).__name__}: give "
                            + ("list(X.values())" if isinstance(X, dict) else "list(X)"))
        if isinstance(X, (list, tuple)):
            self.__dict__.pop("feature_names_in_", None)
        else:
            X = validate_data(self, X, dtype=None, ensure_min_samples=2)
        X, widths = stack(X)
        self.n_features_in_ = X.shape[1]
        self._solve(X, widths=widths)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Fit to X, and the clusters of its objects."""
        return self.fit(X).labels_

    def _options(self, n: int) -> dict[str, Any]:
        found = super()._options(n)
        if self.medoid:
            found["k"] = None  # as it is left
        return found

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"X_types": ["categorical"]}

    def __sklearn_tags__(self) -> Any:
        """Labels: what scikit-learn checks by numbers that are none does not apply."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical, tags.input_tags.two_d_array, tags.input_tags.sparse = True, False, False
        return tags

    def _k_range(self, n: int) -> tuple[int, int] | None:
        return None if self.medoid else super()._k_range(n)


def _other(name: str) -> Any:
    """The estimator of a method that none was written for."""
    parameters = getattr(_parameters, name)
    base = _Clusterer if "labels_" in parameters.__annotations__ else _OfObjects
    return type(name, (base, parameters), {"__module__": __name__})


for _name in _parameters.ESTIMATORS:
    if _name not in globals():
        globals()[_name] = _other(_name)
