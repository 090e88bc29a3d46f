"""The table of benchmarks: every figure is a ratio against a peer that ran just before or after on the same data."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.spatial.distance import cdist

THREADS = int(sys.argv[1])
DATA = os.environ.get("CLEAVE_DATA", "../shared/data")
rows = []


def best(work, runs=3):
    """Least of several times, in seconds, and the last result."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - began)
    return min(times), result


def foundation(*arguments):
    """The figures that build/bench/foundation prints, by name."""
    command = ["build/bench/foundation", *map(str, arguments), str(THREADS)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def add(what, ours, peer, seconds, required):
    ratio = seconds / ours
    rows.append((what, f"{ours:.3f} s", peer, f"{seconds:.3f} s", f"{ratio:.2f}x", required))
    print(rows[-1], file=sys.stderr, flush=True)


def points(name, n, p, folder):
    """A data set of the shared folder, or random points of its shape; unscaled, and its path."""
    path = os.path.join(DATA, name + ".X.npy")
    if not os.path.exists(path):
        path = os.path.join(folder, name + ".npy")
        np.save(path, np.random.default_rng(1).normal(size=(n, p)))
    return path


def exponential_affinity(x):
    return np.exp(-cdist(x, x))


def bench_affinity(name, n, p, folder):
    path = points(name, n, p, folder)
    x = np.load(path).astype(float)
    norms = np.linalg.norm(x, axis=0)
    seconds, _ = best(lambda: exponential_affinity(x / np.where(norms > 0, norms, 1)))
    ours = foundation("affinity", path)
    shape = f"exponential affinity, {name} {x.shape[0]} x {x.shape[1]}"
    add(shape, ours["exponential"], "cdist + exp", seconds, ">= 1, expect 3")
    limit = ours["dgemm"] + ours["pass"]
    add(shape, ours["exponential"], "dgemm + 1 pass", limit, ">= 0.5")


def bench_sums(n, k):
    ours = foundation("sums", n, k)
    add(f"group_sums, n = {n}, k = {k}", ours["group_sums"], "plain sum", ours["plain_sum"], ">= 0.7")
    rate = ours["bytes"] / ours["group_sums"] / 1e9
    print(f"group_sums reads {rate:.1f} GB/s, the plain sum {ours['bytes'] / ours['plain_sum'] / 1e9:.1f} GB/s",
          file=sys.stderr)


def minimax_by_scipy(x):
    """Minimum spanning tree of the dense matrix, then paths row by row in breadth-first order."""
    distances = cdist(x, x)
    tree = minimum_spanning_tree(distances)
    tree = tree + tree.T
    order, parent = breadth_first_order(tree, 0, directed=False)
    paths = np.zeros_like(distances)
    for t, i in enumerate(order[1:], 1):
        before = order[:t]
        row = np.maximum(paths[parent[i], before], tree[i, parent[i]])
        paths[i, before] = row
        paths[before, i] = row
    return paths.max() - paths


def bench_minimax(n, folder):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 2)) + 8 * rng.integers(0, 3, size=(n, 2))
    path = os.path.join(folder, "minimax.npy")
    np.save(path, x)
    seconds, _ = best(lambda: minimax_by_scipy(x), runs=1)
    ours = foundation("minimax", path)
    add(f"minimax affinity, n = {n}", ours["minimax"], "scipy tree + NumPy paths", seconds, ">= 2, < 4 s")


def measured_peak(command):
    """Peak resident bytes of a command, by the kernel's account."""
    before = subprocess.run(["/usr/bin/env", "python3", "-c", PEAK, *command], check=True, capture_output=True, text=True)
    return int(before.stdout.split()[-1]) * 1024


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def bench_memory(n, p, folder):
    """The computed home within its budget, and how well --dry-run foretells the peak."""
    path = os.path.join(folder, "large.npy")
    rng = np.random.default_rng(4)
    np.save(path, rng.normal(size=(n, p)) + 6 * rng.integers(0, 2, size=(n, 1)))
    command = ["build/cleave", "ncut", path, "-k", "2", "--memory", "2G", "--max-iter", "3", "--seed", "1",
               "--threads", str(THREADS)]
    plan = json.loads(subprocess.run([*command, "--dry-run", "--json", "-"], check=True, capture_output=True).stdout)
    predicted = plan["bytes"]["resident_peak"]
    seconds, peak = best(lambda: measured_peak([*command, "-q"]), runs=1)
    rows.append((f"peak memory, n = {n} x {p}, {plan['affinity']['home']}", f"{peak / 2**20:.0f} MiB", "--dry-run",
                 f"{predicted / 2**20:.0f} MiB", f"{predicted / peak:.2f}x", "0.8 to 1.2, < 2 GiB"))
    print(rows[-1], f"{seconds:.1f} s", file=sys.stderr, flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        bench_affinity("landsat", 6435, 36, folder)
        bench_affinity("usps", 9298, 256, folder)
        bench_sums(9298, 10)
        bench_minimax(9600, folder)
        bench_memory(60000, 16, folder)
    print(f"\n{THREADS} threads\n")
    print("| what | cleave | peer | its figure | peer / cleave | target |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


main()
