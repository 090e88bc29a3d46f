"""Benchmarks of ncut: one start against NumPy, large graphs against scikit-learn, restarts on one thread and on two.

    ncut.py THREADS [OBJECTS]      OBJECTS of the large graphs, default 50000
"""

import itertools
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse
from sklearn.cluster import SpectralClustering

DATA = os.environ.get("CLEAVE_DATA", "../shared/data")
KERNEL = ["--scale", "unit-columns", "--affinity", "exponential", "--gamma", "1"]
PLAIN = ["--solver", "fpc", "--no-polish", "--bound", "no"]
PEER_LIMIT = 240
HEADER = ("what", "cleave", "peer", "its figure", "peer / cleave", "target", "notes")
rows = []


def add(*row):
    """A row of the table, shown at once on standard error too."""
    rows.append(row)
    print(row, file=sys.stderr, flush=True)


def cleave(*arguments):
    """Run the command; the JSON result where there is one."""
    output = subprocess.run(["build/cleave", *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output) if output else None


# The kernel counts the parent's memory as the child's until it runs another program, hence a small one in between.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def cleave_with_peak(*arguments):
    """The JSON result of the command, and its peak resident set in bytes."""
    command = [sys.executable, "-S", "-c", PEAK, "build/cleave", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), int(done.stderr.split()[-1]) * 1024


def landsat(folder):
    """Path of the points, or of random ones of their shape."""
    path = os.path.join(DATA, "landsat.X.npy")
    if not os.path.exists(path):
        path = os.path.join(folder, "points.npy")
        np.save(path, np.random.default_rng(1).uniform(27, 157, size=(6435, 36)))
    return path


# --- one start of FPC ---


def numpy_fpc(w, labels, k):
    """Formula (28) until no label changes: labels and iterations, or None when a cluster becomes empty."""
    degrees = w.sum(axis=1)
    for iteration in itertools.count(1):
        x = np.eye(k)[labels]
        sums = w @ x
        volumes = degrees @ x
        if not volumes.all():
            return None
        within = (x * sums).sum(axis=0)
        chosen = (2 * sums / volumes - np.outer(degrees, within / volumes**2)).argmax(axis=1)
        if np.array_equal(chosen, labels):
            return labels, iteration
        labels = chosen


def first_start(w, k):
    """Random labels from which FPC empties no cluster, and the NumPy result and time from there."""
    for seed in itertools.count(1):
        start = np.random.default_rng(seed).integers(0, k, size=len(w))
        began = time.perf_counter()
        result = numpy_fpc(w, start, k)
        if result:
            return start, result, time.perf_counter() - began


def bench_start(affinity, k, threads, folder):
    """The same start to the same labels."""
    start, (labels, iterations), seconds = first_start(np.load(affinity), k)
    path = os.path.join(folder, "start.npy")
    np.save(path, start.astype(np.int32))
    options = ["--affinity", "precomputed", "-k", k, "--start", path, *PLAIN, "--threads", threads, "--json", "-"]
    runs = [cleave("ncut", affinity, *options) for _ in range(3)]
    ours = min(run["seconds"]["solve"] for run in runs)
    differing = int((np.array(runs[0]["labels"]) != labels).sum())
    add(f"one start of FPC, n = {len(labels)}, k = {k}", f"{ours:.4f} s", "NumPy, formula (28)", f"{seconds:.4f} s",
        f"{seconds / ours:.1f}x", ">= 20", f"{iterations} iterations, {differing} labels differ")


# --- large graphs ---


def gaussians(n):
    """Ten normal clouds in 16 dimensions; two pairs of them overlap."""
    rng = np.random.default_rng(5)
    centers = 1.2 * rng.normal(size=(10, 16))
    centers[1] = centers[0] + 0.3 * rng.normal(size=16)
    centers[3] = centers[2] + 0.3 * rng.normal(size=16)
    return centers[rng.integers(0, 10, size=n)] + rng.normal(size=(n, 16))


def pendigits(n):
    """The pendigits repeated with noise; None without the data."""
    path = os.path.join(DATA, "pendigits.X.npy")
    if not os.path.exists(path):
        return None
    x = np.load(path)
    return np.resize(x, (n, x.shape[1])) + np.random.default_rng(6).normal(scale=3, size=(n, x.shape[1]))


def cut_of(graph, labels, k):
    """1/2 sum over clusters of cut / volume."""
    members = scipy.sparse.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), labels)), (len(labels), k))
    within = (members.T @ graph @ members).diagonal()
    return float((k - (within / (members.T @ graph.sum(axis=1)).ravel()).sum()) / 2)


def own_peak():
    """Peak resident set of this process, in bytes."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024


def fit_peer(path, k, solver, answer):
    """In a process of its own, within 3/4 of the memory: scikit-learn; labels, seconds and peak into a file."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    graph = scipy.sparse.load_npz(path)
    model = SpectralClustering(n_clusters=k, affinity="precomputed", assign_labels="kmeans", eigen_solver=solver,
                               random_state=0)
    began = time.perf_counter()
    labels = model.fit(graph).labels_
    np.savez(answer, labels=labels, seconds=time.perf_counter() - began, peak=own_peak())


def run_peer(graph, k, solver, folder):
    """Labels, seconds and peak; seconds alone are known when it fails or takes too long."""
    path, answer = os.path.join(folder, "graph.npz"), os.path.join(folder, "peer.npz")
    scipy.sparse.save_npz(path, graph, compressed=False)
    process = multiprocessing.get_context("spawn").Process(target=fit_peer, args=(path, k, solver, answer))
    began = time.perf_counter()
    process.start()
    process.join(PEER_LIMIT)
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode != 0:
        return None, time.perf_counter() - began, None
    with np.load(answer) as found:
        return found["labels"], float(found["seconds"]), int(found["peak"])


def megabytes(size):
    """123 MiB"""
    return f"{size / 2**20:.0f} MiB"


def bench_graph(name, points, k, threads, folder):
    """A nearest neighbor graph, ours by default against scikit-learn."""
    points_path, path = os.path.join(folder, "points.npy"), os.path.join(folder, "graph.mtx")
    np.save(points_path, points)
    cleave("affinity", points_path, "--affinity", "knn", "--neighbors", 15, "-o", path, "-q")
    graph = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    ours, peak = cleave_with_peak("ncut", path, "--affinity", "precomputed", "-k", k, "--threads", threads, "--json", "-")
    seconds = ours["seconds"]["affinity"] + ours["seconds"]["solve"]
    what = f"{name}, n = {graph.shape[0]}, {graph.nnz} entries, k = {k}"
    notes = f"cut {cut_of(graph, np.array(ours['labels']), k):.6f}, peak {megabytes(peak)}; peer: "
    for solver in ("arpack", "lobpcg"):
        labels, theirs, their_peak = run_peer(graph, k, solver, folder)
        ended = labels is not None
        outcome = f"cut {cut_of(graph, labels, k):.6f}, peak {megabytes(their_peak)}" if ended else f"no result in {PEER_LIMIT} s"
        add(what, f"{seconds:.2f} s", f"SpectralClustering, {solver}", f"{theirs:.2f} s", f"{theirs / seconds:.2f}x",
            ">= 1", notes + outcome)


# --- restarts ---


def bench_restarts(affinity, k, options, title):
    """The same restarts on one thread and on two."""
    runs = [cleave("ncut", affinity, "--affinity", "precomputed", "-k", k, "--restarts", 16, "--bound", "no", *options,
                   "--threads", threads, "--json", "-") for threads in (1, 2)]
    one, two = (run["seconds"]["solve"] for run in runs)
    same = "identical" if runs[0]["labels"] == runs[1]["labels"] else "different"
    add(f"16 restarts, n = {runs[0]['n']}, {title}", f"{two:.2f} s (2 threads)", "1 thread", f"{one:.2f} s",
        f"{one / two:.2f}x", ">= 1.7", f"{same} labels")


def main():
    threads = int(sys.argv[1])
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 50000
    with tempfile.TemporaryDirectory() as folder:
        affinity = os.path.join(folder, "affinity.npy")
        cleave("affinity", landsat(folder), *KERNEL, "-o", affinity, "-q")
        bench_start(affinity, 7, threads, folder)
        bench_restarts(affinity, 7, PLAIN, "FPC alone")
        bench_restarts(affinity, 7, [], "with polish and search")
        for name, points in (("Gaussians", gaussians(objects)), ("pendigits with noise", pendigits(objects))):
            if points is not None:
                bench_graph(f"kNN graph of {name}", points, 10, threads, folder)
    print(f"\nncut, {threads} threads\n")
    for row in (HEADER, ["---"] * len(HEADER), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
