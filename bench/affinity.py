"""Building affinities: kernels against SciPy and scikit-learn, minimax paths, nearest neighbors."""

import numpy as np
import scipy.io

from harness import Row

GAMMA, NEIGHBORS = 0.05, 15


def normal(columns):
    """So many points of N(0, 1)."""
    return lambda n: np.save("x.npy", np.random.default_rng(1).normal(size=(n, columns)))


def three_clouds(n):
    rng = np.random.default_rng(3)
    np.save("x.npy", rng.normal(size=(n, 2)) + 8 * rng.integers(0, 3, size=(n, 2)))


# --- peers ---


def scipy_exponential(data):
    from scipy.spatial.distance import cdist
    yield
    d = cdist(data["x"], data["x"])
    yield np.exp(-GAMMA * d)


def scipy_gaussian(data):
    from scipy.spatial.distance import cdist
    yield
    d = cdist(data["x"], data["x"], "sqeuclidean")
    d *= -GAMMA
    yield np.exp(d, out=d)


def sklearn_gaussian(data):
    from sklearn.metrics.pairwise import rbf_kernel
    yield
    yield rbf_kernel(data["x"], gamma=GAMMA)


def scipy_minimax(data):
    """Minimum spanning tree of the dense matrix, then paths row by row in breadth-first order."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
    from scipy.spatial.distance import cdist
    yield
    distances = cdist(data["x"], data["x"])
    tree = minimum_spanning_tree(distances)
    tree = tree + tree.T
    order, parent = breadth_first_order(tree, 0, directed=False)
    paths = np.zeros_like(distances)
    for t, i in enumerate(order[1:], 1):
        before = order[:t]
        row = np.maximum(paths[parent[i], before], tree[i, parent[i]])
        paths[i, before] = row
        paths[before, i] = row
    yield paths.max() - paths


def sklearn_neighbors(data):
    from sklearn.neighbors import NearestNeighbors
    yield
    yield NearestNeighbors(n_neighbors=NEIGHBORS + 1).fit(data["x"]).kneighbors(return_distance=True)[1][:, :NEIGHBORS]


def faiss_neighbors(data):
    import faiss
    x = data["x"].astype(np.float32)
    yield
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    yield index.search(x, NEIGHBORS + 1)[1][:, 1:]


# --- scores ---


def error_of(entries):
    """The largest error of 20 rows; below 1e-9 nobody asks."""
    def score(data, answer):
        x = data["x"]
        some = np.arange(0, len(x), len(x) // 20)
        d2 = ((x[some, None, :] - x[None, :, :]) ** 2).sum(axis=2)
        return max(1e-9, np.abs(answer[some] - entries(d2)).max())
    return score


def mean_entry(data, answer):
    return answer.mean()


def mean_edge(data, answer):
    """Mean squared length of the edges of the graph."""
    x = data["x"]
    if answer.ndim == 0:
        graph = scipy.io.mmread("ours.mtx").tocoo()
        i, j = graph.row, graph.col
    else:
        i, j = np.repeat(np.arange(len(x)), NEIGHBORS), answer.ravel()
    i, j = np.minimum(i, j), np.maximum(i, j)
    i, j = np.divmod(np.unique(i[i != j].astype(np.int64) * len(x) + j[i != j]), len(x))
    return ((x[i] - x[j]) ** 2).sum() / len(i)


def build(kind, *options, output="ours.npy"):
    return lambda n: ["affinity", "x.npy", "-o", output, "--affinity", kind, *options]


def neighbor_points(n):
    normal(16)(n)
    np.save("ours.npy", 0)  # our answer is a sparse file


SHORT = "A run of 50 to 200 milliseconds: idle, a part of it is waking a thread, and the first touch of 128 MB, which the system clears; busy, it is over soon after it is noticed that others want the cores, and one of its threads waits."
ROWS = [
    Row("affinity-exponential", "exponential affinity of n x 16 points", (1000, 2000, 4000), normal(16),
        build("exponential", "--gamma", GAMMA), ("affinity",), {"SciPy cdist": scipy_exponential},
        error_of(lambda d2: np.exp(-GAMMA * np.sqrt(d2))), scored="largest error, from 1e-9"),
    Row("affinity-gaussian", "gaussian affinity of n x 64 points", (1000, 2000, 4000), normal(64),
        build("gaussian", "--gamma", GAMMA), ("affinity",),
        {"SciPy cdist": scipy_gaussian, "scikit-learn rbf_kernel": sklearn_gaussian},
        error_of(lambda d2: np.exp(-GAMMA * d2)), scored="largest error, from 1e-9", threads=8000,
        shared=SHORT),
    Row("affinity-minimax", "minimax affinity of n x 2 points", (1000, 2000, 4000), three_clouds,
        build("minimax", "--home", "dense-f64"), ("affinity",), {"SciPy tree, NumPy paths": scipy_minimax}, mean_entry,
        scored="mean entry"),
    Row("affinity-knn", f"graph of {NEIGHBORS} nearest neighbors of n x 16 points", (4000, 8000, 16000), neighbor_points,
        build("knn", "--neighbors", NEIGHBORS, output="ours.mtx"), ("affinity",),
        {"scikit-learn": sklearn_neighbors, "faiss, floats": faiss_neighbors}, mean_edge, scored="mean squared edge", threads=16000,
        limit="Held to baseline, its distances come at a third of the rate of avx2.", shared=SHORT),
]
