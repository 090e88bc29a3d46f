"""The tables and the contact sheet."""

import struct
import zlib

import numpy as np

from agreement import borders
from common.markdown import table

LINE, GAP, SMALLER = (255, 40, 0), 4, 2

HEAD = """# Segmentation: agreement with people

Pictures of the Berkeley segmentation data set, each segmented by five or six people. A segmentation is compared with each
person's; the figures are means over people. ARI: adjusted Rand index. VI: variation of information in nats, less is better.
Covering: every segment of a person by the best of ours, intersection over union. Border: F-measure of borders that agree
to 3 pixels. "people": each person against the others, which is what can be reached. All methods run with their defaults,
the same for every picture; seconds are of the whole command (start, reading and writing included) or of the peer's function.

"""


def titles(records):
    """In the order of the runs."""
    return list(dict.fromkeys(record.method for record in records))


def summary(records):
    """Means over the pictures."""
    rows = []
    for title in titles(records):
        own = [record for record in records if record.method == title]
        score = np.mean([record.score for record in own], axis=0)
        segments = np.mean([len(np.unique(record.labels)) for record in own])
        seconds = np.mean([record.seconds for record in own])
        rows.append([title, *(f"{value:.3f}" for value in score), f"{segments:.1f}",
                     "-" if np.isnan(seconds) else f"{seconds:.2f}"])
    return table(["method", "ARI", "VI", "covering", "border", "segments", "seconds"], rows)


def by_picture(records, field):
    """One figure, a row a picture."""
    names = list(dict.fromkeys(record.picture for record in records))
    score = {(record.picture, record.method): getattr(record.score, field) for record in records}
    return table(["picture", *titles(records)],
                 [[name, *(f"{score[name, title]:.3f}" for title in titles(records))] for name in names])


def page(records):
    """The report."""
    parts = [HEAD, "## Means over the pictures\n\n", summary(records)]
    for field, title in (("ari", "ARI"), ("vi", "VI"), ("covering", "Covering"), ("border", "Border")):
        parts += [f"\n## {title}, by picture\n\n", by_picture(records, field)]
    columns = ", ".join(["the picture", *titles(records)])
    parts += [f"\n## Contact sheet\n\nFrom left to right: {columns}.\n\n![contact sheet](sheet.png)\n"]
    return "".join(parts)


# --- the sheet ---

def drawn(record):
    """The picture with the borders on it, made smaller."""
    shown = record.image.copy()
    edge = borders(record.labels)
    edge[1:] |= edge[:-1]
    edge[:, 1:] |= edge[:, :-1]
    shown[edge] = LINE
    return shown[::SMALLER, ::SMALLER]


def write_sheet(path, records):
    """One row per picture: itself, then one tile per method."""
    rows = []
    for name in dict.fromkeys(record.picture for record in records):
        own = [record for record in records if record.picture == name]
        tiles = [own[0].image[::SMALLER, ::SMALLER], *map(drawn, own)]
        rows.append(np.hstack([np.pad(tile, ((0, GAP), (0, GAP), (0, 0)), constant_values=255) for tile in tiles]))
    width = max(row.shape[1] for row in rows)
    sheet = np.vstack([np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0)), constant_values=255) for row in rows])
    write_png(path, sheet)


def write_png(path, picture):
    """8-bit RGB."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    height, width, _ = picture.shape
    raw = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
