"""Benchmarks of kpalm: 20 iterations from the same centres against scikit-learn, and faiss and scikit-learn-intelex where
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

K, ITERATIONS, REPEATS = 100, 20, 3
SIZES = ["100000x16", "100000x64", "1000000x16", "1000000x64"]
HEADER = ("size", "what", "seconds", "value", "scikit-learn / this", "target")
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
rows = []


def points(kind, n, p):
    """Float points: normal clouds around 100 centres, or uniform in a cube."""
    rng = np.random.default_rng(0)
    if kind == "uniform":
        return rng.random((n, p), dtype=np.float32)
    centres = (2 * rng.normal(size=(K, p))).astype(np.float32)
    return centres[rng.integers(0, K, n)] + rng.standard_normal((n, p), dtype=np.float32)


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


def best(run, *arguments):
    """The fastest of some runs."""
    return min((run(*arguments) for _ in range(REPEATS)), key=lambda figures: figures[0])


def peers(x, start, threads):
    """{name: figures} of what is installed."""
    figures = {"scikit-learn lloyd": best(scikit_learn, x, start)}
    try:
        figures["faiss"] = best(faiss_means, x, start, threads)
    except ImportError:
        pass
    try:
        from sklearnex.cluster import KMeans as Accelerated
        figures["scikit-learn-intelex"] = best(scikit_learn, x, start, Accelerated)
    except ImportError:
        pass
    return figures


def bench(kind, size, threads, folder):
    """All of one size."""
    n, p = map(int, size.split("x"))
    x = points(kind, n, p)
    start = x[np.random.default_rng(1).choice(n, K, replace=False)]
    data, centres = os.path.join(folder, "x.npy"), os.path.join(folder, "c.npy")
    np.save(data, x)
    np.save(centres, start)
    ours = {solver: best(cleave, data, centres, solver, threads) for solver in ("lloyd", "kpalm")}
    others = peers(x, start, threads)
    reference = others["scikit-learn lloyd"][0]
    for solver, (seconds, value, peak) in ours.items():
        target = ">= 1.8" if solver == "lloyd" else f">= 1; {seconds / ours['lloyd'][0]:.2f} of lloyd, <= 2"
        rows.append((f"{n} x {p}", f"cleave {solver}", f"{seconds:.3f}", f"{value:.6g}", f"{reference / seconds:.2f}",
                     target))
        rows.append((f"{n} x {p}", f"  peak memory / data", f"{peak / x.nbytes:.2f}", "", "",
                     "<= 1.4" if size == "1000000x64" else ""))
    for name, (seconds, value) in others.items():
        rows.append((f"{n} x {p}", name, f"{seconds:.3f}", f"{value:.6g}", f"{reference / seconds:.2f}", ""))


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
