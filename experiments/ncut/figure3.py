"""Figure 3: pictures of the Berkeley segmentation data set by the four algorithms, scored against what people drew."""

import os
import statistics
import tempfile
from collections import namedtuple

from common import npy
from common.markdown import table
from published import ALGORITHMS

PICTURES = ["bsds-100007", "bsds-113016", "bsds-135069", "bsds-196027", "bsds-24063", "bsds-3063", "bsds-41006", "bsds-8068"]
TOLERANCE = 3  # pixels that a border may be off
DISC = [(x, y) for x in range(-TOLERANCE, TOLERANCE + 1) for y in range(-TOLERANCE, TOLERANCE + 1) if x * x + y * y <= TOLERANCE ** 2]
RESTARTS = 10

Score = namedtuple("Score", "ari vi border")


def borders(labels, height, width):
    """Pixels with another label on the right or below."""
    return {(x, y) for y in range(height) for x in range(width)
            if (x + 1 < width and labels[y * width + x] != labels[y * width + x + 1])
            or (y + 1 < height and labels[y * width + x] != labels[(y + 1) * width + x])}


def near(border):
    """Pixels within the tolerance of a border."""
    return {(x + a, y + b) for x, y in border for a, b in DISC}


def border_score(ours, near_ours, theirs, near_theirs):
    """F-measure: the harmonic mean of the shares of each border that lie near the other."""
    if not ours or not theirs:
        return float(bool(ours) == bool(theirs))
    precision, recall = len(ours & near_theirs) / len(ours), len(theirs & near_ours) / len(theirs)
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def people_of(path, folder):
    """(height, width, [(file of labels, border, what is near it), ...]) of a picture."""
    values, (people, height, width) = npy.read(path)
    found = []
    for person in range(people):
        labels = list(values[person * height * width:(person + 1) * height * width])
        file = os.path.join(folder, f"person{person}.npy")
        npy.write_labels(file, labels)
        edge = borders(labels, height, width)
        found.append((file, edge, near(edge)))
    return height, width, found


def options_of(algorithm):
    """The command's, as in the row of the verdict."""
    return ["--method", "ncut", *ALGORITHMS[algorithm], "--no-polish", "--restarts", RESTARTS]


def score(cleave, picture, algorithm, people, folder, overlay):
    """Means over the people."""
    height, width, drawn = people
    labels = os.path.join(folder, "labels.npy")
    cleave.run("segment", picture, *options_of(algorithm), "--labels-out", labels, "--overlay", overlay, "-q")
    found = list(npy.read(labels)[0])
    flat = os.path.join(folder, "flat.npy")
    npy.write_labels(flat, found)
    edge = borders(found, height, width)
    close = near(edge)
    by_person = []
    for truth, their_edge, their_close in drawn:
        metrics = cleave.scores(truth, flat)
        by_person.append((metrics["ari"], metrics["vi"], border_score(edge, close, their_edge, their_close)))
    return Score(*(statistics.mean(values) for values in zip(*by_person)))


def measure(cleave, data, outdir, quick):
    """{picture: {algorithm: score}} of the pictures that are there; overlays go to OUTDIR/figure3."""
    found = {}
    os.makedirs(os.path.join(outdir, "figure3"), exist_ok=True)
    for name in PICTURES[:2] if quick else PICTURES:
        picture, truth = (os.path.join(data, "images", f"{name}.{part}.npy") for part in ("X", "seg"))
        if os.path.exists(picture) and os.path.exists(truth):
            with tempfile.TemporaryDirectory() as folder:
                people = people_of(truth, folder)
                found[name] = {algorithm: score(cleave, picture, algorithm, people, folder,
                                                os.path.join(outdir, "figure3", f"{name}-{algorithm}.png")) for algorithm in ALGORITHMS}
    return found


def report(found):
    """Markdown: the scores, and the pictures side by side."""
    rows = [[f"{name}: {metric}", *(f"{getattr(by[algorithm], metric):.3f}" for algorithm in ALGORITHMS)]
            for name, by in found.items() for metric in Score._fields]
    pictures = [[name, *(f"![{algorithm}](figure3/{name}-{algorithm}.png)" for algorithm in ALGORITHMS)] for name in found]
    words = (f"\nAbout 500 superpixels a picture, their colors and local binary patterns, four segments, each algorithm without polish from the "
             f"spectral start ({RESTARTS} roundings). Against people, means: ARI, variation of information (less is better), F-measure of the "
             f"borders (to {TOLERANCE} pixels).\n\n")
    return words + table(["picture", *ALGORITHMS], rows) + "\n" + table(["picture", *ALGORITHMS], pictures)
