"""Features of texts: tf-idf, and its reduction to a few columns, as `cleave text` makes them."""
from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._functions import options_of
from ._library import Context, ffi, lib, path_of, text_of
from ._matrix import array_of, as_view, is_sparse, numbers

__all__ = ["Texts", "cluster_terms", "reduce", "tfidf"]


class Texts(NamedTuple):
    """Documents as a matrix."""

    matrix: Any  # documents x terms, a scipy.sparse.csr_array
    terms: list[str]  # one per column, in ascending order
    labels: NDArray[np.int32] | None  # of the documents of a file or folder that has them; -1: none
    classes: list[str]  # what the labels stand for
    empty: int  # documents without a term that was kept: rows of zeros
    latin1: int  # documents that are not UTF-8 and were taken for Latin-1
    ids: list[str] | None  # of the documents of a file or folder: paths in it, the "id" of lines or their numbers
    idf: NDArray[np.float64]  # of the terms
    ngrams: str  # how many words in a row a term is
    stop_words: str  # those left out


def listed(documents: Any) -> Iterable[str | bytes]:
    """Documents that are in memory; what is no list of them is refused."""
    if hasattr(documents, "columns") or isinstance(documents, Mapping):
        raise TypeError(f"documents must be a list or a column of strings, not a {type(documents).__name__}: give its column of "
                        "texts, as frame['text']")
    if not isinstance(documents, Iterable) or getattr(documents, "shape", None) == ():
        raise TypeError(f"documents must be strings, or a path, not a {type(documents).__name__}")
    return documents


def _add_all(ctx: Context, tfidf: Any, documents: Any) -> None:
    """Documents that are in memory. Some at a time are added apart; they are asked for here, since what gives them may serve
    this thread only."""
    given = enumerate(listed(documents))
    while some := list(itertools.islice(given, 100)):
        ctx.apart(functools.partial(_add_some, ctx, tfidf, some))


def _add_some(ctx: Context, tfidf: Any, documents: list[tuple[int, Any]]) -> None:
    document = ffi.new("clv_document *")
    for number, text in documents:
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"documents must be strings; document {number} is a {type(text).__name__}")
        place = ffi.new("char[]", f"document {number}".encode())
        data = text.encode() if isinstance(text, str) else text
        kept = ffi.from_buffer("char[]", data)
        document.text, document.size, document.place = kept, len(data), place
        document.decoded = int(isinstance(text, str))
        ctx.check(lib.clv_tfidf_add(tfidf, document))


def _read_all(ctx: Context, tfidf: Any, path: Any, memory: int) -> Any:
    """Documents of a folder or of a file of JSON lines."""

    @ffi.callback("clv_document_hook")  # type: ignore[untyped-decorator, unused-ignore]
    def take(document: Any, user: Any) -> int:
        return int(lib.clv_tfidf_add(tfidf, document))

    with ctx.reading(memory):
        return ctx.made(lib.clv_read_corpus, "clv_corpus", lib.clv_corpus_free, path_of(path), take, ffi.NULL)


def _stop_list(stop_words: str | Iterable[str] | None) -> str | None:
    """The words of a language, or those given; None: there is no such language."""
    if stop_words is None:
        return None
    if not isinstance(stop_words, str):
        return " ".join(stop_words)
    return text_of(lib.clv_stop_words(stop_words.encode()))


def tfidf(documents: Any, *, stop_words: str | Iterable[str] = "none", ngrams: str | int | tuple[int, int] = 1,
          like: Texts | None = None, threads: int = 0, memory: int = 0, **options: Any) -> Texts:
    """The tf-idf matrix of documents: a list of strings, or the path of a folder, a `.jsonl` or a `.jsonl.gz` file as
    `cleave text` reads them (docs/text.md).

    Parameters
    ----------
    documents : iterable of str, or path
        A list, an array or a column of a frame (not a frame); a single string is a path.
    stop_words : str or list of words
        Words that are no terms: 'none', a language ('english', 'german', 'french', 'spanish', 'italian', 'portuguese',
        'dutch'), or the words themselves.
    ngrams : int, (int, int) or str
        How many words in a row make a term, once stop words are left out: 2, or (1, 2) for words and pairs of words.
    like : Texts
        Earlier documents: their terms and idf are taken, so that new documents are rows of the same columns.
    **options
        As of the command: `min_df`, `max_df`, `max_features`, `encoding`.

    Examples
    --------
    >>> import cleave
    >>> found = cleave.tfidf(["red apples", "green apples", "red cars"])
    >>> found.terms
    ['apples', 'cars', 'green', 'red']
    >>> found.matrix.shape
    (3, 4)
    >>> cleave.tfidf(["blue cars"], like=found).matrix.toarray()
    array([[0., 1., 0., 0.]])
    """
    return texts_of(documents, stop_words, ngrams, like, threads, memory, options)


def texts_of(documents: Any, stop_words: Any, ngrams: Any, like: Texts | None, threads: int, memory: int,
             options: dict[str, Any], renamed: dict[str, str] | None = None) -> Texts:
    """The same, where options may have other names in what is said of them."""
    ctx = Context()
    how = "-".join(map(str, ngrams)) if isinstance(ngrams, tuple) else str(ngrams)
    stopped = _stop_list(stop_words)
    if like is not None:
        how, stopped = like.ngrams, like.stop_words
    made_of = {**options, "ngrams": how, "stop_words": (stop_words or "none") if stopped is None else "list"}
    given = options_of(ctx, lib.clv_tfidf_table(), made_of, renamed)
    struct = ffi.cast("clv_tfidf_options *", given.pointer)
    struct.memory, struct.threads = memory, threads
    kept = [ffi.new("char[]", (stopped or "").encode())]
    struct.stop_list = kept[0]
    if like is not None:
        kept += [ffi.new("char[]", term.encode()) for term in like.terms]
        terms, idf = ffi.new("char *[]", kept[1:]), np.ascontiguousarray(like.idf)
        struct.like, struct.like_count = terms, len(like.terms)
        struct.like_idf = ffi.cast("double *", idf.ctypes.data)
    made = ctx.made(lib.clv_tfidf_new, "clv_tfidf", lib.clv_tfidf_free, struct)
    corpus = None
    if isinstance(documents, (str, os.PathLike)):
        corpus = _read_all(ctx, made, documents, memory)
    else:
        _add_all(ctx, made, documents)
    data = ctx.made(lambda _, *given: lib.clv_tfidf_finish(*given), "clv_data", lib.clv_data_free, made)
    return _texts(made, data, corpus)._replace(ngrams=how, stop_words=stopped or "")


def _texts(made: Any, data: Any, corpus: Any) -> Texts:
    info, count = ffi.new("clv_tfidf_info *"), ffi.new("int64_t *")
    lib.clv_tfidf_describe(made, info)
    terms = lib.clv_tfidf_terms(made, count)
    labels, classes, ids = None, [], None
    if corpus is not None and corpus.labels != ffi.NULL:
        labels = numbers(corpus.labels, corpus.documents, np.int32)
        classes = [text_of(corpus.names[c]) or "" for c in range(corpus.classes)]
    if corpus is not None and corpus.ids != ffi.NULL:
        ids = [text_of(corpus.ids[d]) or "" for d in range(corpus.documents)]
    return Texts(array_of(lib.clv_data_matrix(data), sparse=True), [text_of(terms[i]) or "" for i in range(count[0])],
                 labels, classes, int(info.empty), int(info.latin1), ids,
                 numbers(lib.clv_tfidf_idf(made), count[0], np.float64), "", "")


def cluster_terms(texts: Texts, labels: Any, top: int = 10) -> list[list[tuple[str, float]]]:
    """What clusters of documents are about: for each cluster its terms with their scores, the largest first, by the log
    odds ratio of the shares of documents that have a term in the cluster and outside, over its standard error
    (docs/text.md). Labels of -1 belong to no cluster.

    >>> import cleave
    >>> texts = cleave.tfidf(["red apples", "green apples", "red cars", "blue cars"])
    >>> [[term for term, score in listed] for listed in cleave.cluster_terms(texts, [0, 0, 1, 1], top=1)]
    [['apples'], ['cars']]
    """
    if not isinstance(texts, Texts):
        raise TypeError(f"cluster_terms takes what tfidf returned, not {type(texts).__name__}")
    if not (isinstance(top, (int, np.integer)) and top >= 1):
        raise ValueError(f"top = {top!r} is not allowed: it must be a whole number, 1 or more")
    ctx, view = Context(), as_view(texts.matrix)
    given = np.asarray(labels)
    if given.shape != (view.shape[0],):
        raise ValueError(f"there are {view.shape[0]} documents, but labels of shape {given.shape}")
    with np.errstate(invalid="ignore"):
        own = np.ascontiguousarray(given.astype(np.int32))
    if not np.array_equal(own, given) or own.min() < -1:
        raise ValueError("labels must be whole numbers: 0, 1, ..., or -1 for no cluster")
    k = int(own.max(initial=-1)) + 1
    if k > len(own):
        raise ValueError(f"label {k - 1} is not among 0 to {len(own) - 1}: there are {len(own)} documents, and no more clusters")
    found, scores = np.empty((k, top), dtype=np.int32), np.empty((k, top))
    ctx.call(lib.clv_cluster_terms, view.pointer, ffi.cast("int32_t *", own.ctypes.data), k, top,
             ffi.cast("int32_t *", found.ctypes.data), ffi.cast("double *", scores.ctypes.data))
    return [[(texts.terms[t], float(s)) for t, s in zip(*row) if t >= 0] for row in zip(found, scores)]


def reduce(X: Any, dims: int | None = None, *, threads: int = 0, memory: int = 0, **options: Any) -> NDArray[np.float64]:
    """Rows of a sparse matrix as points with few coordinates: those on its leading right singular vectors or, with
    `center=True`, its principal components. The matrix is never filled.

    Parameters
    ----------
    X : sparse matrix, Texts, or array
        What `tfidf` returned, for example.
    dims : int
        Columns of the result; unless given, 20, or as many as there can be.
    **options
        As of `cleave text`: `center`, `tol`, `seed`.

    Examples
    --------
    >>> import cleave
    >>> texts = cleave.tfidf(["red apples", "green apples", "red cars", "green cars"])
    >>> cleave.reduce(texts, 2).shape
    (4, 2)
    """
    return find_axes(X, dims, threads, memory, options)[0]


def find_axes(X: Any, dims: int | None, threads: int, memory: int, options: dict[str, Any],
              renamed: dict[str, str] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Points, the axes that they are on, and what centering takes off."""
    ctx = Context()
    matrix = X.matrix if isinstance(X, Texts) else X
    if not is_sparse(matrix):
        from scipy.sparse import csr_array
        matrix = csr_array(np.asarray(matrix))
    how = options_of(ctx, lib.clv_reduce_table(), {**options, "dims": dims}, renamed)
    struct = ffi.cast("clv_reduce_options *", how.pointer)
    struct.memory, struct.threads = memory, threads
    if dims is None:
        struct.dims = min(struct.dims, *matrix.shape)
    view, place = as_view(matrix), ffi.new("clv_data **")
    points = ctx.made(lambda *given: lib.clv_reduce(*given[:3], given[3], place, ffi.NULL), "clv_data",
                      lib.clv_data_free, view.pointer, struct)
    axes, offset = array_of(lib.clv_data_matrix(place[0])), np.zeros(struct.dims)
    try:
        if struct.center:
            ctx.call(lib.clv_reduce_offset, view.pointer, lib.clv_data_matrix(place[0]),
                     ffi.cast("double *", offset.ctypes.data))
    finally:
        lib.clv_data_free(place[0])
    return array_of(lib.clv_data_matrix(points)), axes, offset


def points_like(texts: Texts, axes: NDArray[np.float64], offset: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
    """Rows of other documents on axes that were found."""
    ctx, view, on = Context(), as_view(texts.matrix), as_view(axes)
    points = ctx.made(lib.clv_reduce_like, "clv_data", lib.clv_data_free, view.pointer, on.pointer,
                      ffi.cast("double *", offset.ctypes.data), threads)
    found: NDArray[np.float64] = array_of(lib.clv_data_matrix(points))
    return found
