"""Features of pictures. A picture is an array, height x width (gray) or height x width x 1, 3 or 4 channels, of uint8 or
of numbers in [0, 1]; or the name of a .png, .jpg or .npy file. What is transparent shows white. Regions are an array,
height x width, of numbers from 0 on. `cleave.segment` puts these steps together.

>>> import numpy as np, cleave
>>> picture = np.zeros((40, 60, 3), np.uint8)
>>> picture[:, 30:] = 255, 128, 0
>>> regions = cleave.pictures.superpixels(picture, 6)
>>> cleave.pictures.region_points(picture, regions).shape == (regions.max() + 1, 39)
True
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._functions import options_of
from ._library import Context, ffi, lib, path_of
from ._matrix import array_of, as_view, numbers

__all__ = ["adjacency", "histograms", "hsv", "lbp", "overlay", "pixel_points", "read", "region_points", "resize",
           "similarity", "superpixels", "textures", "tidy"]


class Picture:
    """A clv_image over an array, which it keeps alive."""

    def __init__(self, image: Any) -> None:
        self.samples = read(image) if isinstance(image, (str, os.PathLike)) else _as_samples(image)
        height, width = self.samples.shape[:2]
        self.pointer = ffi.new("clv_image *")
        self.pointer.width, self.pointer.height = width, height
        self.pointer.channels = self.samples.shape[2] if self.samples.ndim == 3 else 1
        self.pointer.samples = ffi.cast("uint8_t *", self.samples.ctypes.data)


class Regions:
    """A clv_regions over an array, which it keeps alive."""

    def __init__(self, regions: Any) -> None:
        self.labels = _as_labels(regions)
        if self.labels.size and self.labels.min() < 0:
            raise ValueError(f"regions are numbered from 0; {self.labels.min()} is among them")
        if self.labels.max(initial=-1) >= self.labels.size:
            raise ValueError(f"region {self.labels.max()} is not among 0 to {self.labels.size - 1}: there are "
                             f"{self.labels.size} pixels, and no more regions")
        self.pointer = ffi.new("clv_regions *")
        self.pointer.height, self.pointer.width = self.labels.shape
        self.pointer.count = int(self.labels.max(initial=-1)) + 1
        self.pointer.labels = ffi.cast("int32_t *", self.labels.ctypes.data)


def _as_samples(image: Any) -> NDArray[np.uint8]:
    given = np.asarray(image)
    if given.ndim not in (2, 3):
        raise ValueError(f"a picture has two or three dimensions (height, width, channels); the shape is {given.shape}")
    if given.dtype == np.uint8:
        return np.ascontiguousarray(given)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"a picture is made of numbers, not of {given.dtype}")
    most = 1 if given.dtype.kind in "bf" else 255
    if given.size and not 0 <= given.min() <= given.max() <= most:  # NaN is refused as well
        raise ValueError(f"samples of a picture of {given.dtype} are from 0 to {most}; "
                         f"these are from {given.min()} to {given.max()}")
    return np.ascontiguousarray(np.rint(given * (255 / most)), dtype=np.uint8)


def _as_labels(labels: Any) -> NDArray[np.int32]:
    given = np.asarray(labels)
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise ValueError("labels of pixels are whole numbers, height x width; "
                         f"these have the shape {given.shape} and are of {given.dtype}")
    if given.size and not -2**31 <= given.min() <= given.max() < 2**31:
        raise ValueError(f"labels of pixels are from {-2**31} to {2**31 - 1}; these are from {given.min()} to {given.max()}")
    return np.ascontiguousarray(given, dtype=np.int32)


def _pointers(arguments: Any) -> list[Any]:
    """What the library is given: the structs of views. Whoever calls it keeps the views, and so their arrays, alive."""
    return [getattr(given, "pointer", given) for given in arguments]


def _data(function: Any, *arguments: Any) -> Any:
    """The matrix that a function of the library makes."""
    ctx = Context()
    made = ctx.made(function, "clv_data", lib.clv_data_free, *_pointers(arguments))
    return array_of(lib.clv_data_matrix(made), sparse=True)


def _image(function: Any, *arguments: Any) -> NDArray[np.uint8]:
    """The picture that a function of the library makes."""
    ctx, made = Context(), ffi.new("clv_image *")
    with ctx.reading():
        ctx.call(function, *_pointers(arguments), made)
    found: NDArray[np.uint8] = numbers(made.samples, made.height * made.width * made.channels, np.uint8)
    lib.clv_release(ctx.pointer, made.samples)
    shape = (made.height, made.width) if made.channels == 1 else (made.height, made.width, made.channels)
    return found.reshape(shape)


def read(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """A picture from a file: .png, .jpg, or .npy of uint8."""
    return _image(lib.clv_read_image, path_of(path))


def resize(image: Any, width: int, height: int) -> NDArray[np.uint8]:
    """A picture of another size: shrunk by means over areas, enlarged by linear interpolation."""
    return _image(lib.clv_image_resize, Picture(image), width, height)


def hsv(image: Any) -> NDArray[np.float64]:
    """Hue, saturation and value of every pixel, in [0, 1]: height x width x 3."""
    picture = Picture(image)
    found: NDArray[np.float64] = _data(lib.clv_image_hsv, picture)
    return found.reshape(*picture.samples.shape[:2], 3)


def pixel_points(image: Any) -> NDArray[np.float64]:
    """Pixels as points to be clustered: v, v s sin h, v s cos h, with the hue as an angle. Pixels x 3."""
    found: NDArray[np.float64] = _data(lib.clv_image_points, Picture(image))
    return found


def lbp(image: Any, threads: int = 0) -> NDArray[np.uint8]:
    """Local binary patterns of the brightness, rotation invariant and uniform: codes 0 to 9, height x width."""
    ctx, picture = Context(), Picture(image)
    found = np.empty(picture.samples.shape[:2], np.uint8)
    ctx.call(lib.clv_image_lbp, picture.pointer, threads, ffi.cast("uint8_t *", found.ctypes.data))
    return found


def superpixels(image: Any, superpixels: int | None = None, *, threads: int = 0, **options: Any) -> NDArray[np.int32]:
    """A picture cut into about so many compact pieces of one color (500 unless given), each connected: height x width
    numbers. Options: `compactness`, `rounds`."""
    ctx, picture = Context(), Picture(image)
    how = options_of(ctx, lib.clv_superpixel_table(), {"superpixels": superpixels, **options})
    struct = ffi.cast("clv_superpixel_options *", how.pointer)
    struct.threads = threads
    made = ctx.made(lib.clv_superpixels, "clv_regions", lib.clv_regions_free, picture.pointer, struct)
    found: NDArray[np.int32] = numbers(made.labels, made.height * made.width, np.int32)
    return found.reshape(made.height, made.width)


def region_points(image: Any, regions: Any, *, threads: int = 0, **weights: Any) -> NDArray[np.float64]:
    """Regions as points to be clustered: mean color, color histogram, texture and place side by side, each times its
    weight (`color`, `histogram`, `texture`, `place`). Regions x 39."""
    how = options_of(Context(), lib.clv_region_table(), weights)
    found: NDArray[np.float64] = _data(lib.clv_region_points, Picture(image), Regions(regions),
                                       ffi.cast("clv_region_weights *", how.pointer), threads)
    return found


def histograms(image: Any, regions: Any, bins: int = 8, threads: int = 0) -> NDArray[np.float64]:
    """Histograms of L, a and b (CIE Lab) of every region, each with sum 1. Regions x 3 bins."""
    found: NDArray[np.float64] = _data(lib.clv_region_histograms, Picture(image), Regions(regions),
                                       bins, threads)
    return found


def textures(image: Any, regions: Any, threads: int = 0) -> NDArray[np.float64]:
    """Shares of the codes of `lbp` in every region. Regions x 10."""
    found: NDArray[np.float64] = _data(lib.clv_region_textures, Picture(image), Regions(regions), threads)
    return found


def adjacency(regions: Any) -> Any:
    """How long the common borders of regions are: regions x regions, sparse, symmetric.

    >>> import cleave
    >>> cleave.pictures.adjacency([[0, 0], [0, 1]]).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    return _data(lib.clv_region_adjacency, Regions(regions))


def similarity(regions: Any, points: Any, reach: int = 8, sigma: float = 0.3) -> Any:
    """Similarities of regions at most `reach` steps apart, by the distances of their points: sparse, for
    `affinity='precomputed'`."""
    view = as_view(points)
    if not np.isfinite(view.kept[0]).all():
        raise ValueError("the points contain NaN or infinity: similarities are of finite points")
    return _data(lib.clv_region_similarity, Regions(regions), view, reach, sigma)


def tidy(labels: Any, least: int, fill: bool = True) -> NDArray[np.int32]:
    """Labels of pixels without connected pieces of fewer than `least` pixels: they go to the neighbor with the longest
    common border; so do pieces with label -1, of any size, where `fill` is set.

    >>> import cleave
    >>> cleave.pictures.tidy([[0, 0, 0], [0, 1, 0]], 2).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    found = _as_labels(labels).copy()
    height, width = found.shape
    ctx = Context()
    ctx.call(lib.clv_labels_tidy, width, height, least, int(fill), ffi.cast("int32_t *", found.ctypes.data))
    return found


def overlay(image: Any, labels: Any) -> NDArray[np.uint8]:
    """The picture with the borders between different labels drawn on it: height x width x 3."""
    picture, given = Picture(image), _as_labels(labels)
    if given.shape != picture.samples.shape[:2]:
        raise ValueError(f"labels of {given.shape} pixels do not fit a picture of {picture.samples.shape[:2]}")
    return _image(lib.clv_image_overlay, picture, ffi.cast("int32_t *", given.ctypes.data))
