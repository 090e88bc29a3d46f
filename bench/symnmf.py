"""Benchmarks of symnmf: the default against projected gradients in NumPy from the same start, many clusters, and the cost
of an iteration as the number of objects doubles.

    symnmf.py THREADS [PEER-SECONDS]      the peer is given PEER-SECONDS a set, default 120
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

DATA = os.environ.get("CLEAVE_DATA", "../shared/data")
HEADER = ("what", "cleave", "peer", "its figure", "peer / cleave", "target", "notes")
rows = []


def add(*row):
    """A row of the table, shown at once on standard error too."""
    rows.append(tuple(map(str, row)))
    print(rows[-1], file=sys.stderr, flush=True)


# The kernel counts the parent's memory as the child's until it runs another program, hence a small one in between.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def symnmf(*arguments):
    """The JSON result of the command, and its peak resident set in MiB."""
    command = [sys.executable, "-S", "-c", PEAK, "build/cleave", "symnmf", *map(str, arguments), "--json", "-", "-q"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), int(done.stderr.split()[-1]) // 1024


def points_of(name):
    """Path of a data set, or None."""
    path = os.path.join(DATA, name + ".X.npy")
    if not os.path.exists(path):
        print(f"skipped: {path} is not there", file=sys.stderr)
        return None
    return path


# --- projected gradients in NumPy ---


def project(w):
    """Every row to the nearest point of the simplex, by sorting."""
    ordered = -np.sort(-w, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, w.shape[1] + 1)
    last = (ordered - excess / counts > 0).sum(axis=1) - 1
    shift = excess[np.arange(len(w)), last] / (last + 1)
    return np.maximum(w - shift[:, None], 0)


def projected_gradient(p, w, tol, limit):
    """Backtracking to gap <= tol f, or until `limit` seconds are over: f, gap, iterations, seconds."""
    began, squares, step, iterations = time.perf_counter(), float((p * p).sum()), 1 / len(w), 0
    image = p @ w
    while True:
        gram = w.T @ w
        f = (squares - 2 * float((w * image).sum()) + float((gram * gram).sum())) / 4
        gradient = w @ gram - image
        gap = float((gradient * w).sum() - gradient.min(axis=1).sum())
        if gap <= tol * f or time.perf_counter() - began > limit:
            return f, gap, iterations, time.perf_counter() - began
        step *= 2
        while True:
            trial = project(w - step * gradient)
            image = p @ trial
            gram = trial.T @ trial
            value = (squares - 2 * float((trial * image).sum()) + float((gram * gram).sum())) / 4
            if value <= f + 1e-4 * float((gradient * (trial - w)).sum()):
                break
            step /= 2
        w = trial
        iterations += 1


def gaussian(path, gamma):
    """The affinity of standardized points."""
    x = np.load(path).astype(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    norms = (x * x).sum(axis=1)
    p = np.maximum(norms[:, None] + norms - 2 * x @ x.T, 0)
    return np.exp(-gamma * p, out=p)


def bench_set(name, k, threads, limit, folder):
    """Default against NumPy: all of ours (eigenpairs, start, sweeps), of the peer's the iterations from our start."""
    path = points_of(name)
    if not path:
        return
    fixed = [path, "-k", k, "--scale", "standard", "--threads", threads]
    runs = [symnmf(*fixed, "--truth", path.replace(".X.", ".y."))[0] for _ in range(3)]
    ours = min(run["seconds"]["solve"] for run in runs)
    start = os.path.join(folder, "start.npy")
    symnmf(*fixed, "--max-iter", 0, "--membership", start)
    gamma = runs[0]["affinity"]["gamma"]
    f, gap, iterations, seconds = projected_gradient(gaussian(path, gamma), np.load(start), 1e-4, limit)
    reached = "" if gap <= 1e-4 * f else ", not there yet"
    add(f"{name}, n = {runs[0]['n']}, k = {k}, spectral start to gap 1e-4 f", f"{ours:.3f} s", "NumPy projected gradient",
        f"{seconds:.3f} s{reached}", f"{seconds / ours:.1f}x", ">= 5",
        f"gamma {gamma:.10g}, f = {runs[0]['objective']['value']:.2f} in {runs[0]['iterations']} sweeps, ARI "
        f"{runs[0]['metrics']['ari']:.3f}, affinity {runs[0]['seconds']['affinity']:.2f} s; peer f = {f:.2f} in {iterations}")


def bench_many_clusters(k, threads):
    """pendigits with many clusters."""
    path = points_of("pendigits")
    if path:
        run, peak = symnmf(path, "-k", k, "--scale", "standard", "--tol", 1e-3, "--threads", threads)
        add(f"pendigits, n = {run['n']}, k = {k}, to gap 1e-3 f", f"{run['seconds']['solve']:.2f} s", "", "", "", "",
            f"f = {run['objective']['value']:.2f} in {run['iterations']} sweeps, affinity "
            f"{run['seconds']['affinity']:.2f} s, peak {peak} MiB")


# --- the cost of an iteration ---


def seconds_a_sweep(path, threads, folder, *options):
    """From the trace of a few sweeps, and the peak in MiB."""
    trace = os.path.join(folder, "trace.csv")
    _, peak = symnmf(path, "-k", 10, "--gamma", 0.1, "--start", "random", "--max-iter", 2, "--threads", threads, "--trace",
                     trace, *options)
    with open(trace, newline="") as file:
        times = [float(row["seconds"]) for row in csv.DictReader(file)]
    return (times[-1] - times[0]) / (len(times) - 1), peak


def bench_doubling(threads, folder):
    """16 columns, 10 clusters."""
    before = None
    for n in (4000, 8000, 16000, 32000):
        path = os.path.join(folder, "points.npy")
        np.save(path, np.random.default_rng(1).normal(size=(n, 16)))
        sweep, peak = seconds_a_sweep(path, threads, folder, "--home", "computed")
        growth = f"{sweep / before:.2f}x the one before" if before else ""
        add(f"a sweep, n = {n}, k = 10, 16 columns, computed home", f"{sweep:.3f} s", "", "", "", "about 4x",
            f"{growth}; peak {peak} MiB".lstrip("; "))
        before = sweep


def main():
    threads = int(sys.argv[1])
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 120
    with tempfile.TemporaryDirectory() as folder:
        for name, k in (("yeast", 10), ("satimage", 6), ("pendigits", 10)):
            bench_set(name, k, threads, limit, folder)
        bench_many_clusters(100, threads)
        bench_doubling(threads, folder)
    print(f"\nsymnmf, {threads} threads\n")
    for row in (HEADER, ["---"] * len(HEADER), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
