"""Whether the colors of clusters are told apart by people with any color vision, and seen on both grounds."""
import re

# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB: no red, no green, no blue.
VISIONS = {
    "all colors": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
GROUNDS = {"light": (0xf6, 0xf8, 0xfa), "dark": (0x1c, 0x21, 0x28)}
APART = 15  # CIE Lab: a difference of 2 can be seen side by side
CONTRAST = 2  # of small marks that are told by their place and a tip as well


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(color):
    return [v / 255 / 12.92 if v <= 0.04045 * 255 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in color]


def lab(color, vision):
    seen = [min(max(v, 0), 1) for v in times(vision, linear(color))]
    x, y, z = (v / white for v, white in zip(times(XYZ, seen), (0.95047, 1, 1.08883)))
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(a, b):
    light, dark = sorted((times(XYZ, linear(c))[1] for c in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def measure(colors):
    """The least distance of two colors over all visions, and the least contrast with a ground."""
    least = min((sum((p - q) ** 2 for p, q in zip(lab(a, vision), lab(b, vision))) ** 0.5, name)
                for name, vision in VISIONS.items() for i, a in enumerate(colors) for b in colors[:i])
    return least, min(contrast(color, ground) for color in colors for ground in GROUNDS.values())


def read(path):
    text = open(path, encoding="utf-8").read()
    text = text[text.index("clv_palette[CLV_COLORS][3] ="):]
    return [tuple(int(v, 16) for v in found) for found in
            re.findall(r"\{0x(\w\w), 0x(\w\w), 0x(\w\w)\}", text[:text.index(";")])]


def check(path):
    colors = read(path)
    assert len(colors) == 8, colors
    (distance, vision), least = measure(colors)
    assert distance >= APART, f"two colors are {distance:.1f} apart for who sees {vision}"
    assert least >= CONTRAST, f"a color has a contrast of {least:.2f}"
    red_and_green = measure([(200, 60, 60), (110, 110, 40)])[0]  # which this must find too near
    assert red_and_green[0] < APART, f"the measure lets {red_and_green} pass"
