"""Arrays as views of the library, and back."""
from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import ffi, lib

__all__ = ["View", "array_of", "as_view", "check_sparse", "is_sparse"]


def is_sparse(x: Any) -> bool:
    """Whether x is a SciPy sparse matrix or array."""
    return hasattr(type(x), "tocsr") and hasattr(type(x), "nnz")  # of one whose arrays are damaged, nnz itself may fail


class View:
    """A clv_matrix over memory that NumPy or SciPy owns, and what keeps that alive."""

    def __init__(self, rows: int, cols: int, scalar: int, values: Any, start: Any = None, index: Any = None) -> None:
        self.pointer = ffi.new("clv_matrix *")
        self.kept = (values, start, index)
        self.shape = (rows, cols)
        self.pointer.rows, self.pointer.cols, self.pointer.scalar = rows, cols, scalar
        self.pointer.values = ffi.cast("void *", values.ctypes.data)
        if start is not None:
            self.pointer.start = ffi.cast("int64_t *", start.ctypes.data)
            self.pointer.index = ffi.cast("int32_t *", index.ctypes.data)

    def fingerprint(self) -> int:
        """A number that tells these values from others, and where rows begin from other places."""
        start = self.kept[1]
        return int(lib.clv_matrix_fingerprint(self.pointer)) ^ (0 if start is None else zlib.crc32(start))


def check_sparse(x: Any) -> None:
    """Refuse a matrix whose arrays do not fit together: SciPy takes them for granted, and reads beyond their ends."""
    form = x.format if is_sparse(x) else None
    if form not in ("csr", "csc"):
        return
    lines, most = x.shape if form == "csr" else x.shape[::-1]
    start, index = np.asarray(x.indptr), np.asarray(x.indices)
    if len(start) != lines + 1 or start[0] != 0 or (start[1:] < start[:-1]).any():
        raise ValueError(f"the sparse matrix is damaged: its indptr must be {lines + 1} numbers that rise from 0")
    used = int(start[-1])
    if used > min(len(index), len(x.data)):
        raise ValueError(f"the sparse matrix is damaged: its indptr ends at {used}, but there are {len(index)} indices and "
                         f"{len(x.data)} values")
    if used and not 0 <= index[:used].min() <= index[:used].max() < most:
        raise ValueError(f"the sparse matrix is damaged: its indices are from {index[:used].min()} to {index[:used].max()}, "
                         f"and must be from 0 to {most - 1}")


def _sparse_view(x: Any) -> View:
    check_sparse(x)
    csr = x.tocsr()
    if not csr.has_sorted_indices or not getattr(csr, "has_canonical_format", True):
        csr = csr.copy()
        csr.sum_duplicates()
    values = np.ascontiguousarray(csr.data, dtype=np.float64)
    start = np.ascontiguousarray(csr.indptr, dtype=np.int64)
    index = np.ascontiguousarray(csr.indices, dtype=np.int32)
    return View(csr.shape[0], csr.shape[1], lib.CLV_F64, values, start, index)


def as_view(x: Any) -> View:
    """Of a two-dimensional array or a sparse matrix; without a copy where type and order allow. One-dimensional arrays are
    taken as one column, frames of pandas whose columns are all sparse as sparse matrices."""
    to_sparse = getattr(getattr(x, "sparse", None), "to_coo", None)
    if to_sparse is not None and np.ndim(x) == 2:
        x = to_sparse()
    if is_sparse(x):
        return _sparse_view(x)
    array = np.asarray(x)
    if array.ndim not in (1, 2):
        raise ValueError(f"expected 2 dimensions, found {array.ndim}")
    if array.dtype.kind == "c":
        raise ValueError("complex numbers are not supported")
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    array = np.ascontiguousarray(array if array.ndim == 2 else array[:, np.newaxis])
    return View(array.shape[0], array.shape[1], lib.CLV_F32 if array.dtype == np.float32 else lib.CLV_F64, array)


def numbers(pointer: Any, count: int, dtype: Any) -> NDArray[Any]:
    """A copy of a C array, owned by NumPy."""
    if count == 0 or pointer == ffi.NULL:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(ffi.buffer(pointer, count * np.dtype(dtype).itemsize), dtype=dtype).copy()


def array_of(matrix: Any, sparse: bool = False) -> Any:
    """A copy of a clv_matrix: an array, or a scipy.sparse.csr_array (dense where SciPy is missing)."""
    rows, cols = matrix.rows, matrix.cols
    if matrix.start == ffi.NULL:
        dtype = np.float32 if matrix.scalar == lib.CLV_F32 else np.float64
        dense = numbers(ffi.cast("char *", matrix.values), rows * cols, dtype).reshape(rows, cols)
        return dense
    start = numbers(ffi.cast("char *", matrix.start), rows + 1, np.int64)
    count = int(start[-1])
    index = numbers(ffi.cast("char *", matrix.index), count, np.int32)
    values = numbers(ffi.cast("char *", matrix.values), count, np.float64)
    if sparse:
        try:
            from scipy.sparse import csr_array
        except ImportError:
            pass
        else:
            if count < 2**31:
                start = start.astype(np.int32)  # scikit-learn takes no other
            return csr_array((values, index, start), shape=(rows, cols))
    dense = np.zeros((rows, cols))
    dense[np.repeat(np.arange(rows), np.diff(start)), index] = values
    return dense
