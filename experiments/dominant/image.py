"""Figure 2: segmentation of an image by dominant sets of its pixels, from HSV features in a file."""

import base64
import colorsys
import statistics
import struct
import tempfile
import zlib
from collections import namedtuple
from math import atan2, hypot, pi

from common import npy
from common.charts import document, text
from common.markdown import table
from methods import METHODS, labels_before_assignment, options, scores_before_assignment, title_of

K, SHIFTS = 3, (40, 120)
FW_STEPS, RD_STEPS = 10000, 250
COLORS = [(0, 114, 178), (230, 159, 0), (0, 158, 115)]
LEFT_OUT = (255, 255, 255)
LARGE = 3

Score = namedtuple("Score", "method shift seconds rate sizes before after labels assigned")

HEAD = f"""Johnell and Haghir Chehreghani, *Efficient Optimization of Dominant Set Clustering with Frank-Wolfe Algorithms*, section 6.3:
minimax (path-based) affinity of the pixels' colors, K = {K}; the FW variants take t = {FW_STEPS} steps, RD {RD_STEPS}.
Published: "the FW variants visually yield more meaningful and consistent results compared to RD, and separate better the
airplane from the background"; no numbers, and no shift is named. ARI is the mean over the segmentations by hand that were
given, of the pixels with a cluster and after assignment; the last column is that of the person who agrees most.
"""


def png(rows):
    """An RGB image, a list of rows of triples, as the bytes of a .png file."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def color(features):
    """The pixel whose features these are."""
    value, across, up = features
    chroma = hypot(across, up)
    rgb = colorsys.hsv_to_rgb(atan2(across, up) / (2 * pi) % 1, min(1, chroma / value) if value > 0 else 0, value)
    return tuple(min(255, max(0, round(255 * part))) for part in rgb)


def tile(place, title, pixels, width, height):
    """An image with a title, three to a row."""
    x, y = 20 + (LARGE * width + 20) * (place % 3), 40 + (LARGE * height + 40) * (place // 3)
    rows = [pixels[i * width:(i + 1) * width] for i in range(height)]
    data = base64.b64encode(png(rows)).decode()
    return [text(x, y - 8, title), f'<image x="{x}" y="{y}" width="{LARGE * width}" height="{LARGE * height}" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>']


def picture(tiles, width, height):
    """All images."""
    parts = [part for place, (title, pixels) in enumerate(tiles) for part in tile(place, title, pixels, width, height)]
    rows = (len(tiles) + 2) // 3
    return document(20 + 3 * (LARGE * width + 20), 40 + rows * (LARGE * height + 40), parts)


def study(cleave, features, method, shift, truth, folder):
    """One method at one shift."""
    steps = RD_STEPS if method.solver == "rd" else FW_STEPS
    result = cleave.result("dominant", features, "--affinity", "minimax", "-k", K, "--shift", shift, "--assign",
                           *options(method, steps))
    before = labels_before_assignment(result)
    after = f"{folder}/after.npy"
    npy.write_labels(after, result["labels"])
    ari_before = [scores_before_assignment(cleave, result, y, folder)["ari"] for y in truth]
    ari_after = [cleave.scores(y, after)["ari"] for y in truth]
    return Score(method.title, shift, result["seconds"]["solve"], 1 - before.count(-1) / len(before),
                 [cluster["size"] for cluster in result["clusters"]], ari_before, ari_after, before, result["labels"])


def mean_of(values):
    """Of the persons' segmentations, if there are any."""
    return f"{statistics.mean(values):.3f}" if values else "-"


def measure(cleave, features, width, height, truth, quick):
    """(rows of features, scores)."""
    rows = npy.rows(features)
    if len(rows) != width * height or len(rows[0]) != 3:
        raise SystemExit(f"{features} is {len(rows)} x {len(rows[0])}: {width * height} pixels of 3 features are needed")
    with tempfile.TemporaryDirectory() as folder:
        return rows, [study(cleave, features, method, shift, truth, folder) for shift in (SHIFTS[:1] if quick else SHIFTS) for method in METHODS]


def report(rows, found, width, height, quick):
    """{file name: text}."""
    tiles = [("image", [color(row) for row in rows])]
    for score in found:
        pixels = [COLORS[label] if label >= 0 else LEFT_OUT for label in score.labels]
        tiles.append((f"{score.method}, shift {score.shift}", pixels))
    lines = [[score.method, str(score.shift), f"{score.seconds:.2f}", f"{score.rate:.3f}", " ".join(map(str, score.sizes)),
              mean_of(score.before), mean_of(score.after), f"{max(score.after):.3f}" if score.after else "-"]
             for score in found]
    parts = [f"# {title_of('Dominant sets on an image: figure 2', quick)}\n", HEAD, "![Figure 2: clusters by color; white pixels have none](figure2.svg)\n",
             table(["method", "shift", "seconds", "AR", "sizes", "ARI, assigned", "ARI, post-assigned", "best person"], lines)]
    return {"image.md": "\n".join(parts), "figure2.svg": picture(tiles, width, height)}
