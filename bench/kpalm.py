"""Benchmarks of kpalm: 20 iterations from the same centers against scikit-learn, and faiss and scikit-learn-intelex where
they are installed; the peak of memory.

    kpalm.py THREADS [KIND [SIZES...]]      KIND blobs (default) or uniform; SIZES as 100000x16
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.cluster import KMeans

K, ITERATIONS, ROUNDS = 100, 20, 3
SIZES = ["100000x16", "100000x64", "1000000x16", "1000000x64"]
HEADER = ("size", "what", "seconds", "value", "scikit-learn / this", "target", "peak memory / data")
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
rows = []


def points(kind, n, p):
    """Float points: normal clouds around 100 centers, or uniform in a cube."""
    rng = np.random.default_rng(0)
    if kind == "uniform":
        return rng.random((n, p), dtype=np.float32)
    centers = (2 * rng.normal(size=(K, p))).astype(np.float32)
    return centers[rng.integers(0, K, n)] + rng.standard_normal((n, p), dtype=np.float32)


def cleave(path, start, solver, threads):
    """Seconds of the solver, value, and peak resident bytes."""
    command = [sys.executable, "-S", "-c", PEAK, "build/cleave", "kpalm", path, "-k", str(K), "--solver", solver,
               "--start", start, "--max-iter", str(ITERATIONS), "--threads", str(threads), "--json", "-"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    return result["seconds"]["solve"], result["objective"]["value"], int(done.stderr.split()[-1]) * 1024


def scikit_learn(x, start, kind=KMeans):
    """Seconds and inertia of scikit-learn's lloyd."""
    began = time.perf_counter()
    fit = kind(K, init=start, n_init=1, max_iter=ITERATIONS, tol=0, algorithm="lloyd").fit(x)
    return time.perf_counter() - began, fit.inertia_


def faiss_means(x, start, threads):
    """The same by faiss."""
    import faiss
    faiss.omp_set_num_threads(threads)
    means = faiss.Kmeans(x.shape[1], K, niter=ITERATIONS, max_points_per_centroid=len(x), min_points_per_centroid=1)
    began = time.perf_counter()
    means.train(x, init_centroids=start)
    return time.perf_counter() - began, float(means.obj[-1])


def contestants(x, start, data, centers, threads):
    """{name: a function that gives seconds and value}; peers that are installed."""
    found = {"cleave lloyd": lambda: cleave(data, centers, "lloyd", threads),
             "cleave kpalm": lambda: cleave(data, centers, "kpalm", threads),
             "scikit-learn lloyd": lambda: scikit_learn(x, start)}
    try:
        import faiss  # noqa: F401
        found["faiss"] = lambda: faiss_means(x, start, threads)
    except ImportError:
        pass
    try:
        from sklearnex.cluster import KMeans as Accelerated
        found["scikit-learn-intelex"] = lambda: scikit_learn(x, start, Accelerated)
    except ImportError:
        pass
    return found


def bench(kind, size, threads, folder):
    """All of one size."""
    n, p = map(int, size.split("x"))
    x = points(kind, n, p)
    start = x[np.random.default_rng(1).choice(n, K, replace=False)]
    data, centers = os.path.join(folder, "x.npy"), os.path.join(folder, "c.npy")
    np.save(data, x)
    np.save(centers, start)
    figures = {}
    runs = contestants(x, start, data, centers, threads)
    for _ in range(ROUNDS):  # in turn, so that a busy moment of the machine meets all alike; the fastest counts
        for name, run in runs.items():
            figures[name] = min(figures.get(name, (np.inf,)), run(), key=lambda found: found[0])
    reference, lloyd = figures["scikit-learn lloyd"][0], figures["cleave lloyd"][0]
    for name, (seconds, value, *peak) in figures.items():
        target = {"cleave lloyd": ">= 1.8", "cleave kpalm": f">= 1; {seconds / lloyd:.2f} of lloyd, <= 2"}.get(name, "")
        rows.append((f"{n} x {p}", name, f"{seconds:.3f}", f"{value:.6g}", f"{reference / seconds:.2f}", target,
                     f"{peak[0] / x.nbytes:.2f}" if peak else ""))


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    kind = sys.argv[2] if len(sys.argv) > 2 else "blobs"
    with tempfile.TemporaryDirectory() as folder:
        for size in sys.argv[3:] or SIZES:
            bench(kind, size, threads, folder)
    print(f"\n## kpalm: {ITERATIONS} iterations, k = {K}, float, {kind}, {threads} threads\n")
    for row in [HEADER, ("---",) * len(HEADER), *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
