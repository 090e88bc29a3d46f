"""Normalized mutual information as the paper has it: divided by the larger of the two entropies."""

from collections import Counter
from math import log


def entropy(counts, n):
    """In nats."""
    return -sum(c / n * log(c / n) for c in counts)


def nmi_by_larger_entropy(truth, labels):
    """I(truth, labels) / max(H(truth), H(labels)); 1 where both are constant."""
    n = len(truth)
    of_truth, of_labels, of_both = (entropy(Counter(x).values(), n) for x in (truth, labels, zip(truth, labels)))
    larger = max(of_truth, of_labels)
    return (of_truth + of_labels - of_both) / larger if larger > 0 else 1.0
