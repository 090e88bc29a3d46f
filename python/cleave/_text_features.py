"""Documents to points, in the way of scikit-learn."""
from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted
except ImportError as missing:
    raise ImportError("TextFeatures needs scikit-learn: pip install scikit-learn") from missing

from ._options import threads_of
from ._text import Texts, cluster_terms, find_axes, listed, points_like, texts_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TextFeatures"]

_RENAMED = {"ngrams": "ngram_range", "seed": "random_state"}


class TextFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Documents to points: tf-idf, then truncated SVD or principal components, as `cleave text` makes them. New documents
    go through the same terms, idf and axes.

    Parameters
    ----------
    dims : int, default=20
        Columns of the result; fewer where there are not as many documents or terms.
    ngram_range : (int, int), default=(1, 1)
        How many words in a row make a term, at least and at most, once stop words are left out.
    stop_words : str or list of words, default='none'
        'none', a language ('english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch'), or the words.
    min_df, max_df : number, default=1
        Keep the terms of so many documents or more, and or fewer; a share of the documents below 1, and up to 1.
    max_features : int, default=None
        Keep only the terms that occur most often.
    encoding : {'auto', 'utf-8', 'latin-1'}, default='auto'
        Of files, and of documents that are bytes.
    center : bool, default=False
        Principal components: subtract the means of the columns first.
    tol : float, default=1e-7
        Residual of a singular vector, relative to the square of its singular value.
    random_state : int, RandomState or None, default=1
        Seed of the random start; the result depends on it only within the tolerance.
    n_jobs : int, default=None
        Threads; None: one per core.

    Attributes
    ----------
    texts_ : Texts
        The documents as a sparse matrix, with terms, idf, ids and labels.
    axes_ : NDArray of shape (dims, terms)
        The directions that points are coordinates on.
    offset_ : NDArray of shape (dims,)
        What centering takes off.

    Examples
    --------
    >>> import cleave
    >>> texts = ["red apples", "green apples", "red cars", "fast red cars"]
    >>> features = cleave.TextFeatures(2)
    >>> model = cleave.KPalm(2).fit(features.fit_transform(texts))
    >>> [listed[0][0] for listed in sorted(features.cluster_terms(model.labels_, top=1))]
    ['apples', 'cars']
    >>> features.transform(["old cars"]).shape
    (1, 2)
    """

    def __init__(self, dims: int = 20, *, ngram_range: tuple[int, int] = (1, 1), stop_words: str | Iterable[str] = "none",
                 min_df: float = 1, max_df: float = 1, max_features: int | None = None, encoding: str = "auto",
                 center: bool = False, tol: float = 1e-7, random_state: Any = 1, n_jobs: int | None = None) -> None:
        self.dims = dims
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.encoding = encoding
        self.center = center
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """The documents X as points: strings (a list, or a column of a frame), or the path of a folder or of a `.jsonl` or
        `.jsonl.gz` file."""
        threads, seed = threads_of(self.n_jobs), self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        texts = texts_of(X, self.stop_words, self._ngrams(), None, threads, 0, {
            "min_df": self.min_df, "max_df": self.max_df, "max_features": self.max_features, "encoding": self.encoding}, _RENAMED)
        points, axes, offset = find_axes(texts, min(self.dims, *texts.matrix.shape), threads, 0, {
            "center": self.center, "tol": self.tol, "seed": seed}, _RENAMED)
        self.texts_, self.axes_, self.offset_ = texts, axes, offset
        return points

    def _ngrams(self) -> tuple[int, int]:
        try:
            low, high = map(operator.index, self.ngram_range)
        except (TypeError, ValueError):
            raise ValueError(f"ngram_range = {self.ngram_range!r} is not allowed: it must be two whole numbers of words, such as "
                             "(1, 2)") from None
        if not 1 <= low <= high <= 9:
            raise ValueError(f"ngram_range = {self.ngram_range!r} is not allowed: the first number must be from 1 to the second, and "
                             "that at most 9")
        return low, high

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find terms, idf and axes of the documents X."""
        self.fit_transform(X)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """New documents as points, by the terms, idf and axes that were found; one without a known term is a row of zeros
        before centering."""
        check_is_fitted(self)
        threads = threads_of(self.n_jobs)
        known, of_file = self.texts_, isinstance(X, (str, os.PathLike))
        documents = X if of_file else list(listed(X))
        if documents and not of_file:
            documents.append(known.terms[0])  # documents without any known term are refused, but a row must not depend on others
        texts = texts_of(documents, "none", 1, known, threads, 0, {"encoding": self.encoding}, _RENAMED)
        return points_like(texts, self.axes_, self.offset_, threads)[:None if of_file else -1]

    def cluster_terms(self, labels: Any, top: int = 10) -> list[list[tuple[str, float]]]:
        """What clusters of the documents that were fitted are about (`cleave.cluster_terms`)."""
        check_is_fitted(self)
        texts: Texts = self.texts_
        return cluster_terms(texts, labels, top)

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"X_types": ["string"], "_skip_test": True}

    def __sklearn_tags__(self) -> Any:
        """Strings, as TfidfVectorizer has it: what scikit-learn checks by numbers does not apply."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags._skip_test = True, False, True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.axes_)
