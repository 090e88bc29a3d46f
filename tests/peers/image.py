"""HSV and local binary patterns against scikit-image, on noise, on smooth pictures and on flat ones."""
import numpy as np
from skimage.color import rgb2hsv
from skimage.feature import local_binary_pattern


def pictures():
    random = np.random.default_rng(1)
    x, y = np.meshgrid(np.arange(70), np.arange(50))
    smooth = np.stack([(x * 3 + y) % 256, (x * y) % 256, 255 - 2 * y], axis=-1).astype(np.uint8)
    yield "noise", random.integers(0, 256, (50, 70, 3), dtype=np.uint8)
    yield "smooth", smooth
    yield "flat", np.full((20, 30, 3), 77, np.uint8)
    yield "few colors", (random.integers(0, 3, (50, 70, 3)) * 127).astype(np.uint8)


def gray(picture):
    return (picture @ np.array([0.2125, 0.7154, 0.0721]) + 0.5).astype(np.uint8)


def near_tie(values):
    """Pixels with a neighbor between pixels that is as light as they are but for rounding: either answer is right."""
    tie = np.zeros(values.shape, bool)
    padded = np.pad(values.astype(float), 1)
    for dy in (-1, 1):
        for dx in (-1, 1):
            d = 0.70711
            part = [padded[1 + a * dy:1 + a * dy + values.shape[0], 1 + b * dx:1 + b * dx + values.shape[1]]
                    for a in (0, 1) for b in (0, 1)]
            value = (1 - d) * ((1 - d) * part[0] + d * part[1]) + d * ((1 - d) * part[2] + d * part[3])
            tie |= abs(value - values) < 1e-9
    return tie


def checks(cleave):
    def hsv_as_scikit_image():
        worst = max(abs(cleave.hsv(picture) - rgb2hsv(picture)).max() for _, picture in pictures())
        assert worst < 1e-14, f"off by {worst}"
        return f"largest difference {worst:.1e}"

    def points_as_defined():
        for name, picture in pictures():
            h, s, v = np.moveaxis(rgb2hsv(picture), -1, 0)
            expected = np.stack([v, v * s * np.sin(2 * np.pi * h), v * s * np.cos(2 * np.pi * h)], axis=-1)
            assert abs(cleave.points(picture) - expected).max() < 1e-14, name
        return "v, v s sin h, v s cos h"

    def patterns_as_scikit_image():
        ties = 0
        for name, picture in pictures():
            values = gray(picture)
            differs = cleave.patterns(picture) != local_binary_pattern(values, 8, 1, "uniform")
            assert not (differs & ~near_tie(values)).any(), f"{name}: {differs.sum()} pixels differ"
            ties += int(differs.sum())
        return f"all equal but for {ties} ties"

    return hsv_as_scikit_image, points_as_defined, patterns_as_scikit_image
