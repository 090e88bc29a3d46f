"""ncut: one start of FPC against NumPy, sparse graphs against scikit-learn."""

import itertools
import os

import numpy as np
import scipy.io
import scipy.sparse
import scipy.spatial

from harness import CLEAVE, DATA, Row, subprocess

K, GRAPH_K = 7, 10


# --- one start ---


def fpc(w, labels, k):
    """Formula (28) until no label changes; None when a cluster becomes empty."""
    degrees = w.sum(axis=1)
    while True:
        x = np.eye(k)[labels]
        sums = w @ x
        volumes = degrees @ x
        if not volumes.all():
            return None
        within = (x * sums).sum(axis=0)
        chosen = (2 * sums / volumes - np.outer(degrees, within / volumes**2)).argmax(axis=1)
        if np.array_equal(chosen, labels):
            return labels
        labels = chosen


def landsat_points(n):
    """So many pixels, more than there are by adding noise."""
    path = os.path.join(DATA, "landsat.X.npy")
    rng = np.random.default_rng(1)
    x = np.load(path)[rng.permutation(6435)[np.arange(n) % 6435]] if os.path.exists(path) else rng.uniform(27, 157, size=(n, 36))
    x = x + rng.normal(size=x.shape) * (np.arange(n) >= 6435)[:, None]
    x = x / np.linalg.norm(x, axis=0)
    np.save("x.npy", x)
    return x


def landsat(n):
    """Their affinity, and labels from which FPC empties no cluster."""
    x = landsat_points(n)
    w = scipy.spatial.distance.squareform(np.exp(-scipy.spatial.distance.pdist(x)))
    np.fill_diagonal(w, 1)
    for seed in itertools.count(1):
        start = np.random.default_rng(seed).integers(0, K, size=n)
        if fpc(w, start, K) is not None:
            break
    np.save("w.npy", w)
    np.save("start.npy", start.astype(np.int32))


def numpy_fpc(data):
    yield
    yield fpc(data["w"], data["start"], K)


def cut_of(w, labels, k):
    """1/2 sum over clusters of cut / volume."""
    members = scipy.sparse.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), labels)), (len(labels), k))
    within = (members.T @ (w @ members)).diagonal()
    return (k - (within / (members.T @ np.asarray(w.sum(axis=1)).ravel())).sum()) / 2


# --- graphs ---


def neighbor_graph(n):
    """Of ten normal clouds in 16 dimensions; two pairs of them overlap."""
    rng = np.random.default_rng(5)
    centers = 1.2 * rng.normal(size=(10, 16))
    centers[1] = centers[0] + 0.3 * rng.normal(size=16)
    centers[3] = centers[2] + 0.3 * rng.normal(size=16)
    np.save("points.npy", centers[rng.integers(0, 10, size=n)] + rng.normal(size=(n, 16)))
    subprocess.run([CLEAVE, "affinity", "points.npy", "--affinity", "knn", "-o", "graph.mtx", "-q"], check=True)
    scipy.sparse.save_npz("graph.npz", scipy.sparse.csr_matrix(scipy.io.mmread("graph.mtx")), compressed=False)


def spectral(solver):
    def peer(data):
        from sklearn.cluster import SpectralClustering
        model = SpectralClustering(n_clusters=GRAPH_K, affinity="precomputed", eigen_solver=solver, random_state=0)
        yield
        yield model.fit(data["graph"]).labels_
    return peer


ROWS = [
    Row("ncut-start", f"one start of FPC on a dense affinity, k = {K}, to its end", (1500, 3000, 6000), landsat,
        lambda n: ["ncut", "w.npy", "--affinity", "precomputed", "-k", K, "--start", "start.npy", "--no-polish", "--bound", "no",
                   "-o", "ours.npy"],
        ("affinity", "solve"), {"NumPy FPC": numpy_fpc}, lambda data, labels: cut_of(data["w"], labels, K),
        scored="cut", threads=16000,
        shared="A pass over the matrix goes at the rate of memory, of which one core alone takes more than half."),
    Row("ncut-small", "8000 kicks on 1,440 points, each a few short parallel loops", (), landsat_points,
        lambda n: ["ncut", "x.npy", "-k", K, "--affinity", "exponential", "--patience", "none", "--max-iter", 8000, "--bound", "no"],
        ("solve",), {}, None, threads=1440,
        shared="So few objects are one core's work: the row shows that a second thread does no harm."),
    Row("ncut-graph", f"graph of 15 neighbors, k = {GRAPH_K}, all defaults", (6000, 18000, 50000), neighbor_graph,
        lambda n: ["ncut", "graph.mtx", "--affinity", "precomputed", "-k", GRAPH_K, "-o", "ours.npy"],
        ("affinity", "solve"), {"SpectralClustering, arpack": spectral("arpack"), "SpectralClustering, lobpcg": spectral("lobpcg")},
        lambda data, labels: cut_of(data["graph"], labels, GRAPH_K), scored="cut", threads=50000,
        limit="At 6,000 the eigenvectors and their rounding, all that the peers do, take a third of the time, the search for a lower cut the rest: "
        "with --no-polish it is ahead.",
        shared="Threads share the kicks of the search and the eigenvectors; the checks of the file, the moves after a "
        "round of kicks, and the kick of whole clusters that a bout waits for are one thread's."),
]
