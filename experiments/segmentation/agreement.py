"""How well a segmentation agrees with one drawn by a person."""

from collections import namedtuple

import numpy as np
from scipy.ndimage import binary_dilation

# Pixels that a border may be off, as usual for pictures of this size.
TOLERANCE = 3

Agreement = namedtuple("Agreement", "ari vi covering border")


def contingency(a, b):
    """Pixels in segment i of a and segment j of b."""
    rows, cols = a.max() + 1, b.max() + 1
    return np.bincount(a.ravel() * cols + b.ravel(), minlength=rows * cols).reshape(rows, cols).astype(float)


def numbered(labels):
    """Labels as 0, 1, ..."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def adjusted_rand(table):
    pairs = lambda counts: (counts * (counts - 1) / 2).sum()
    rows, cols, all_pairs = pairs(table.sum(1)), pairs(table.sum(0)), pairs(table.sum())
    expected, most = rows * cols / all_pairs, (rows + cols) / 2
    return (pairs(table) - expected) / (most - expected) if most != expected else 1.0


def variation(table):
    """Variation of information, nats."""
    entropy = lambda p: -(p[p > 0] * np.log(p[p > 0])).sum()
    p = table / table.sum()
    return 2 * entropy(p) - entropy(p.sum(0)) - entropy(p.sum(1))


def covering(table):
    """Of the rows by the columns: intersection over union with the best column, weighted by size."""
    sizes = table.sum(1)
    union = sizes[:, None] + table.sum(0) - table
    return ((table / union).max(1) * sizes).sum() / table.sum()


def borders(labels):
    """Pixels with another label on the right or below."""
    edge = np.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    edge[:-1] |= labels[:-1] != labels[1:]
    return edge


def near(edge):
    """Pixels within the tolerance of an edge."""
    y, x = np.mgrid[-TOLERANCE:TOLERANCE + 1, -TOLERANCE:TOLERANCE + 1]
    return binary_dilation(edge, x * x + y * y <= TOLERANCE * TOLERANCE)


def border_score(ours, theirs):
    """F-measure: the harmonic mean of the shares of each border that lie near the other."""
    a, b = borders(ours), borders(theirs)
    if not a.any() or not b.any():
        return float(a.any() == b.any())
    precision, recall = (a & near(b)).sum() / a.sum(), (b & near(a)).sum() / b.sum()
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def agreement(labels, people):
    """Means over the people."""
    ours = numbered(labels)
    scores = []
    for drawn in people:
        theirs = numbered(drawn)
        table = contingency(theirs, ours)
        scores.append((adjusted_rand(table), variation(table), covering(table), border_score(ours, theirs)))
    return Agreement(*np.mean(scores, axis=0))
