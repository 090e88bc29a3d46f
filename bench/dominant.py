"""dominant: one dominant set to the same gap against pairwise Frank-Wolfe and replicator dynamics in NumPy."""

import numpy as np

from harness import Row

SHIFT, GAP, GAMMA = 15, 1e-4, 0.05


def pairwise(column, start, n, gap):
    """Pairwise steps on A - shift I from a vertex, r and f kept up to date; column(i) of A, whose diagonal is 0."""
    x = np.zeros(n)
    x[start] = 1
    r = column(start).copy()
    r[start] -= SHIFT
    f = r[start]
    while True:
        i = r.argmax()
        members = x.nonzero()[0]
        j = members[r[members].argmin()]
        if r[i] - f <= gap * (f + SHIFT) or i == j:
            return x
        into, out = column(i), column(j)
        slope, curve = r[i] - r[j], -2 * SHIFT - 2 * into[j]
        gamma = min(x[j], -slope / curve) if curve < 0 else x[j]
        f += 2 * gamma * slope + gamma * gamma * curve
        x[i] += gamma
        x[j] = 0 if gamma == x[j] else x[j] - gamma
        r += gamma * (into - out)
        r[i] -= SHIFT * gamma
        r[j] += SHIFT * gamma


# --- a matrix in memory ---


def similarities(n):
    """Gaussian, of normal points."""
    x = np.random.default_rng(n).normal(size=(n, 10))
    squares = (x * x).sum(axis=1)
    d = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)
    a = np.exp(-(d + d.T) / 2 / d.mean())
    np.fill_diagonal(a, 0)
    np.save("a.npy", a)


def numpy_pairwise(data):
    a = data["a"]
    yield
    yield pairwise(lambda i: a[i], a.sum(axis=0).argmax(), len(a), GAP)


def numpy_replicator(data):
    """From the center."""
    a = data["a"]
    yield
    x = np.full(len(a), 1 / len(a))
    while True:
        r = a @ x + SHIFT * (1 - x)
        f = x @ r
        if r.max() - f <= GAP * (f - SHIFT * (1 - x @ x)):
            break
        x *= r / f
    yield x


def cohesiveness(data, answer):
    """x'Ax + shift (1 - x'x)."""
    x = answer.ravel()
    return x @ data["a"] @ x + SHIFT * (1 - x @ x)


# --- points, whose matrix does not fit ---


def blobs(n):
    """20 normal clouds in 10 dimensions."""
    rng = np.random.default_rng(7)
    centers = 4 * rng.normal(size=(20, 10))
    np.save("x.npy", centers[rng.integers(0, 20, size=n)] + rng.normal(size=(n, 10)))


def numpy_columns(data):
    """Columns from the points when a step needs them; the start is where those of 64 objects say."""
    x = data["x"]
    yield

    def column(i):
        c = np.exp(-GAMMA * ((x - x[i]) ** 2).sum(axis=1))
        c[i] = 0
        return c

    some = np.random.default_rng(0).choice(len(x), 64, replace=False)
    yield pairwise(column, sum(column(i) for i in some).argmax(), len(x), GAP)


def cohesiveness_of_points(data, answer):
    """The same, over the support."""
    support = answer.ravel().nonzero()[0]
    x, points = answer.ravel()[support], data["x"][support]
    squares = (points * points).sum(axis=1)
    a = np.exp(-GAMMA * np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
    np.fill_diagonal(a, 0)
    return x @ a @ x + SHIFT * (1 - x @ x)


COMMON = ["--shift", SHIFT, "-k", 1, "--tol", GAP, "--membership", "ours.npy", "--zero-diagonal"]
ROWS = [
    Row("dominant-matrix", f"one dominant set of a given matrix to a relative gap of {GAP:g}", (1000, 2000, 4000), similarities,
        lambda n: ["dominant", "a.npy", "--affinity", "precomputed", *COMMON], ("affinity", "solve"),
        {"NumPy pairwise": numpy_pairwise, "NumPy replicator": numpy_replicator}, cohesiveness, "max", 1e-4,
        limit="Of 3 (n = 1000) to 25 milliseconds (4000), about half is one look at every entry of the file, finite and symmetric, "
        "which the peers, given an array in memory, do not take."),
    Row("dominant-points", f"one dominant set of n x 10 points to a relative gap of {GAP:g}", (10000, 40000, 160000), blobs,
        lambda n: ["dominant", "x.npy", "--gamma", GAMMA, *COMMON], ("affinity", "solve"),
        {"NumPy, columns as needed": numpy_columns}, cohesiveness_of_points, "max", 1e-4, threads=4000000,
        shared="Objects away from the support are ruled out early: what is left are the first touch of memory, and many short passes over few objects."),
]
