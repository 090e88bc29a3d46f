"""symnmf: from the spectral start to the same gap, against projected gradients in NumPy."""

import json
import os

import numpy as np

from harness import CLEAVE, DATA, Row, subprocess

K, GAP = 10, 1e-4
COMMON = ["symnmf", "x.npy", "-k", K]


def pendigits(n):
    """So many digits, standardized; the gamma that suits k, and the spectral start."""
    path = os.path.join(DATA, "pendigits.X.npy")
    rng = np.random.default_rng(1)
    made_up = rng.normal(size=(n, 16)) + 2 * rng.integers(0, 3, (n, 16))
    x = np.load(path)[rng.permutation(10992)[:n]] if os.path.exists(path) else made_up
    np.save("x.npy", (x - x.mean(axis=0)) / x.std(axis=0))
    command = [CLEAVE, *COMMON, "--max-iter", 0, "--membership", "start.npy", "--json", "-"]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    np.save("gamma.npy", json.loads(done.stdout)["affinity"]["gamma"])


def gaussian(data):
    x = data["x"]
    norms = (x * x).sum(axis=1)
    p = np.maximum(norms[:, None] + norms - 2 * x @ x.T, 0)
    return np.exp(-data["gamma"] * p, out=p)


def project(w):
    """Every row to the nearest point of the simplex, by sorting."""
    ordered = -np.sort(-w, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    last = (ordered - excess / np.arange(1, w.shape[1] + 1) > 0).sum(axis=1) - 1
    return np.maximum(w - (excess[np.arange(len(w)), last] / (last + 1))[:, None], 0)


def value_of(squares, w, image):
    """f, of P W."""
    gram = w.T @ w
    return (squares - 2 * float((w * image).sum()) + float((gram * gram).sum())) / 4


def numpy_gradients(data):
    """Backtracking, from the spectral start, which it is given."""
    p, w = gaussian(data), data["start"]
    yield
    squares, step, image = float((p * p).sum()), 1 / len(w), p @ w
    while True:
        f, gradient = value_of(squares, w, image), w @ (w.T @ w) - image
        if float((gradient * w).sum() - gradient.min(axis=1).sum()) <= GAP * f:
            break
        step *= 2
        while True:
            trial = project(w - step * gradient)
            image = p @ trial
            if value_of(squares, trial, image) <= f + 1e-4 * float((gradient * (trial - w)).sum()):
                break
            step /= 2
        w = trial
    yield w


def objective(data, w):
    p = gaussian(data)
    return value_of(float((p * p).sum()), w, p @ w)


ROWS = [
    Row("symnmf", f"pendigits, k = {K}, spectral start (cleave: with the time of it) to a gap of {GAP:g} f", (1000, 3000, 9000),
        pendigits, lambda n: [*COMMON, "--tol", GAP, "--membership", "ours.npy"], ("solve",),
        {"NumPy projected gradients": numpy_gradients}, objective, tolerance=1e-3, threads=9000,
        limit="Its time has the spectral start in it, eight candidates of which one is taken; the peer is given its start. Rows are "
        "moved one after the other, each seeing the moves before it.",
        shared="Rows are moved one after the other, each seeing the moves before it; threads share the products after a block of them."),
]
