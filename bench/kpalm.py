"""kpalm: 20 iterations from the same centers against scikit-learn, scikit-learn-intelex and faiss."""

import numpy as np

from harness import Row, os

K, ITERATIONS = 100, 20


def blobs(columns):
    """Float points around 100 centers, to start from two of every other cloud. A cluster that loses all objects on the way is filled
    again by everybody, each by its own rule."""
    def make(n):
        rng = np.random.default_rng(0)
        centers = (2 * rng.normal(size=(K, columns))).astype(np.float32)
        x = centers[np.arange(n) % K] + rng.standard_normal((n, columns), dtype=np.float32)
        np.save("x.npy", x)
        np.save("start.npy", x[:2 * K].reshape(2, K, columns)[:, ::2].reshape(K, columns))
    return make


def lloyd(kind, data):
    model = kind(K, init=data["start"], n_init=1, max_iter=ITERATIONS, tol=0, algorithm="lloyd")
    yield
    yield model.fit(data["x"]).cluster_centers_


def sklearn_means(data):
    from sklearn.cluster import KMeans
    yield from lloyd(KMeans, data)


def intelex_means(data):
    from sklearnex.cluster import KMeans
    yield from lloyd(KMeans, data)


def faiss_means(data):
    import faiss
    faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    n, p = data["x"].shape
    means = faiss.Kmeans(p, K, niter=ITERATIONS, max_points_per_centroid=n, min_points_per_centroid=1)
    yield
    means.train(data["x"], init_centroids=data["start"])
    yield means.centroids


def inertia(data, centers):
    """Sum of squared distances to the nearest center, in double."""
    centers, total = np.asarray(centers, dtype=float), 0.0
    squares = (centers * centers).sum(axis=1)
    for some in np.array_split(data["x"], 1 + len(data["x"]) // 10000):
        some = some.astype(float)
        total += ((some * some).sum(axis=1) + (squares - 2 * some @ centers.T).min(axis=1)).sum()
    return total


def iterate(solver):
    return lambda n: ["kpalm", "x.npy", "-k", K, "--solver", solver, "--start", "start.npy", "--max-iter", ITERATIONS, "--centers",
                      "ours.npy"]


LLOYD = f"{ITERATIONS} iterations of Lloyd, k = {K}, each refilling empty clusters in its own way, n x "
BUSY = "Passes over the points are shared evenly; with more processes than cores they wait for the thread whose turn is last."
HELD = ("Its answer: another minimum than that of the peers. At 300,000 x 64 one cluster loses its last object in the third iteration, and everybody "
        "refills it by a rule of their own: left empty (--empty keep), cleave ends where plain NumPy does, at 2.9090e+07. "
        "Held to baseline, its products of rows and centers come at a third of the rate of avx2.")
PEERS = {"scikit-learn lloyd": sklearn_means, "scikit-learn-intelex": intelex_means, "faiss": faiss_means}
ROWS = [
    Row("kpalm-lloyd", LLOYD + "16 floats", (100000, 300000, 1000000), blobs(16),
        iterate("lloyd"), ("solve",), PEERS, inertia, tolerance=1e-3, scored="inertia", threads=1000000,
        targets={"scikit-learn lloyd": 2}, limit=HELD, shared=BUSY),
    Row("kpalm-lloyd-wide", LLOYD + "64 floats", (100000, 300000, 1000000), blobs(64),
        iterate("lloyd"), ("solve",), PEERS, inertia, tolerance=1e-3, scored="inertia", targets={"scikit-learn lloyd": 2},
        limit=HELD),
    *(Row(name, f"{ITERATIONS} iterations of proximal minimization, k = {K}, n x {columns} floats", sizes, blobs(columns),
          iterate("kpalm"), ("solve",), {"scikit-learn lloyd": sklearn_means}, inertia, tolerance=1e-3, scored="inertia",
          threads=threads, targets={lloyd: 0.5},
          limit="Its answer: from the same start it takes another way than Lloyd, and after so many iterations may be at a higher inertia. Its time: "
          "while an object is in several clusters, no bound rules out its distances, and memberships are projected besides.", shared=BUSY)
      for name, columns, sizes, threads, lloyd in (("kpalm-palm", 16, (100000, 300000, 1000000), 1000000, "kpalm-lloyd"),
                                                   ("kpalm-palm-wide", 64, (100000, 300000, 1000000), 0, "kpalm-lloyd-wide"))),
]
