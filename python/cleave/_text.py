"""Features of texts: tf-idf, and its reduction to a few columns, as `cleave text` makes them."""
from __future__ import annotations

import os
from typing import Any, Iterable, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._functions import options_of
from ._library import Context, ffi, lib, text_of
from ._matrix import array_of, as_view, is_sparse, numbers

__all__ = ["Texts", "reduce", "tfidf"]


class Texts(NamedTuple):
    """Documents as a matrix."""

    matrix: Any  # documents x terms, a scipy.sparse.csr_array
    terms: list[str]  # one per column, in ascending order
    labels: NDArray[np.int32] | None  # of the documents of a file or folder that has them; -1: none
    classes: list[str]  # what the labels stand for
    empty: int  # documents without a term that was kept: rows of zeros
    latin1: int  # documents that are not UTF-8 and were taken for Latin-1


def _add_all(ctx: Context, tfidf: Any, documents: Iterable[str | bytes]) -> None:
    """Documents that are in memory."""
    document = ffi.new("clv_document *")
    for number, text in enumerate(documents):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"documents must be strings; document {number} is a {type(text).__name__}")
        place = ffi.new("char[]", f"document {number}".encode())
        data = text.encode() if isinstance(text, str) else text
        kept = ffi.from_buffer("char[]", data)
        document.text, document.size, document.place = kept, len(data), place
        document.decoded = int(isinstance(text, str))
        ctx.check(lib.clv_tfidf_add(tfidf, document))


def _read_all(ctx: Context, tfidf: Any, path: Any) -> Any:
    """Documents of a folder or of a file of JSON lines."""

    @ffi.callback("clv_document_hook")  # type: ignore[untyped-decorator, unused-ignore]
    def take(document: Any, user: Any) -> int:
        return int(lib.clv_tfidf_add(tfidf, document))

    return ctx.made(lib.clv_read_corpus, "clv_corpus", lib.clv_corpus_free, os.fsencode(path), take, ffi.NULL)


def tfidf(documents: Any, *, stop_words: str | Iterable[str] = "none", threads: int = 0, memory: int = 0,
          **options: Any) -> Texts:
    """The tf-idf matrix of documents: a list of strings, or the path of a folder, a `.jsonl` or a `.jsonl.gz` file as
    `cleave text` reads them (docs/text.md).

    Parameters
    ----------
    documents : iterable of str, or path
        A single string is a path.
    stop_words : 'none', 'english' or a list of words
        Words that are no terms.
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
    """
    ctx = Context()
    listed = not isinstance(stop_words, str)
    how = options_of(ctx, lib.clv_tfidf_table(), {**options, "stop_words": "list" if listed else stop_words})
    struct = ffi.cast("clv_tfidf_options *", how.pointer)
    struct.memory, struct.threads = memory, threads
    words = ffi.new("char[]", " ".join(stop_words).encode())
    if listed:
        struct.stop_list = words
    made = ctx.made(lib.clv_tfidf_new, "clv_tfidf", lib.clv_tfidf_free, struct)
    corpus = None
    if isinstance(documents, (str, os.PathLike)):
        corpus = _read_all(ctx, made, documents)
    else:
        _add_all(ctx, made, documents)
    data = ctx.made(lambda _, *given: lib.clv_tfidf_finish(*given), "clv_data", lib.clv_data_free, made)
    return _texts(made, data, corpus)


def _texts(made: Any, data: Any, corpus: Any) -> Texts:
    info, count = ffi.new("clv_tfidf_info *"), ffi.new("int64_t *")
    lib.clv_tfidf_describe(made, info)
    terms = lib.clv_tfidf_terms(made, count)
    labels, classes = None, []
    if corpus is not None and corpus.labels != ffi.NULL:
        labels = numbers(corpus.labels, corpus.documents, np.int32)
        classes = [text_of(corpus.names[c]) or "" for c in range(corpus.classes)]
    return Texts(array_of(lib.clv_data_matrix(data), sparse=True), [text_of(terms[i]) or "" for i in range(count[0])],
                 labels, classes, int(info.empty), int(info.latin1))


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
    ctx = Context()
    matrix = X.matrix if isinstance(X, Texts) else X
    if not is_sparse(matrix):
        from scipy.sparse import csr_array
        matrix = csr_array(np.asarray(matrix))
    how = options_of(ctx, lib.clv_reduce_table(), {**options, "dims": dims})
    struct = ffi.cast("clv_reduce_options *", how.pointer)
    struct.memory, struct.threads = memory, threads
    if dims is None:
        struct.dims = min(struct.dims, *matrix.shape)
    view = as_view(matrix)
    points = ctx.made(lambda *given: lib.clv_reduce(*given[:3], given[3], ffi.NULL, ffi.NULL), "clv_data",
                      lib.clv_data_free, view.pointer, struct)
    found: NDArray[np.float64] = array_of(lib.clv_data_matrix(points))
    return found
