#!/usr/bin/env python3
"""Several processes: what the layer costs, the bytes it exchanges, and what that means for many of them.

    bench/mpi.py [--cleave build/cleave] [--rounds 3]      # on an idle machine

Prints the tables of docs/mpi.md: one process on two threads against two processes on one thread each, and one thread against
2 and 4 processes; bytes per iteration, counted by the command itself (-v), against the formulas of the page; and what a model of
latency and bandwidth makes of that for 16, 64 and 256 processes. Needs numpy and mpirun.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ENVIRONMENT = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
NOTE = 48     # bytes that a process brings to a meeting
CHUNKS = 32   # parts of the work of kpalm, at most: more processes than that have nothing to do
TALLY = 56    # bytes of what kpalm says of a part besides its sums
GROWN = 10    # the model is for so many times the objects, where one process is slow


def sweep(n, p, k):
    """Rows and W'W of the blocks, each from the process that has it, and all of the product at the end."""
    blocks = n // (128 if n < 8192 else 256)
    return 2 * 8 * k * n + 8 * (k * k + 1) * blocks, blocks + 1 + 1


# name: (arguments, n, p, k), and what an iteration exchanges: (bytes that are gathered, meetings). Shares of n are equal.
CASES = {
    "kpalm, lloyd": (["kpalm", "points.npy", "-k", "100", "--solver", "lloyd", "--start", "random", "--tol", "0"],
                     200_000, 32, 100, lambda n, p, k: (CHUNKS * (8 * k * (p + 1) + TALLY), 2 + 1)),
    "symnmf, dense-f64": (["symnmf", "points.npy", "-k", "10", "--home", "dense-f64", "--tol", "0"],
                          3_072, 16, 10, sweep),
    "symnmf, computed": (["symnmf", "points.npy", "-k", "10", "--home", "computed", "--tol", "0"],
                         3_072, 16, 10, sweep),
}


def run(cleave, folder, words, ranks, threads, iterations):
    """Seconds of an iteration's part of the solve are found by differences; so are bytes and meetings."""
    command = [cleave] + words + ["--threads", str(threads), "--max-iter", str(iterations), "-v", "--json", "r.json"]
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    environment = dict(ENVIRONMENT, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(launch + command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    result = json.loads((folder / "r.json").read_text())
    told = [line for line in done.stderr.splitlines() if line.startswith("processes: ")]
    meetings, received = (int(part.split()[0]) for part in told[0].split(", ")[1:]) if told else (0, 0)
    return result["seconds"]["solve"] if isinstance(result["seconds"], dict) else result["seconds"], meetings, received, \
        result["iterations"]


def measure(cleave, folder, words, ranks, threads, rounds, few=2, many=6):
    """Of an iteration: the least seconds of some rounds, meetings, bytes."""
    best = None
    for _ in range(max(rounds, 1)):
        a, b = (run(cleave, folder, words, ranks, threads, count) for count in (few, many))
        steps = b[3] - a[3]
        found = ((b[0] - a[0]) / steps, (b[1] - a[1]) / steps, (b[2] - a[2]) / steps)
        best = found if best is None or found[0] < best[0] else best
    return best


def predicted(exchange, ranks):
    gathered, meetings = exchange
    return gathered * (ranks - 1) / ranks + meetings * NOTE * (ranks - 1)


def model(seconds, exchange, ranks, latency, bandwidth, name):
    """T(R) = work + meetings x 2 (notes, then results) x latency x log2 R + bytes / bandwidth."""
    share = min(ranks, CHUNKS) if name.startswith("kpalm") else ranks
    double = 2 - 1 / ranks if "computed" in name else 1  # tiles between two processes are computed by both
    gathered, meetings = exchange
    return (seconds * double / share + 2 * meetings * latency * np.log2(ranks)
            + predicted(exchange, ranks) / bandwidth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cleave", default="build/cleave")
    parser.add_argument("--rounds", type=int, default=3, help="0: bytes alone, on a machine that is too busy for times")
    asked = parser.parse_args()
    cleave = os.path.abspath(asked.cleave)
    print("| iteration of | 1 thread | 2 threads | 2 processes | layer | 4 processes | bytes at 2 | predicted | at 4 | predicted |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, (words, n, p, k, exchange) in CASES.items():
            random = np.random.default_rng(1)
            np.save(folder / "points.npy", 2 * random.normal(size=(k, p))[random.integers(0, k, n)]
                    + random.normal(size=(n, p)))
            hows = ((1, 1), (1, 2), (2, 1), (4, 1))
            one, two, ranks2, ranks4 = (measure(cleave, folder, words, *how, asked.rounds)
                                        if asked.rounds or how[0] > 1 else (float("nan"), 0, 0) for how in hows)
            work = GROWN if words[0] == "kpalm" else GROWN**2
            rows[title] = (one[0] * work, exchange(GROWN * n, p, k))
            print("| %s | %.4f s | %.4f s | %.4f s | %+.0f %% | %.4f s | %.0f | %.0f | %.0f | %.0f |"
                  % (title, one[0], two[0], ranks2[0], 100 * (ranks2[0] / two[0] - 1), ranks4[0], ranks2[2],
                     predicted(exchange(n, p, k), 2), ranks4[2], predicted(exchange(n, p, k), 4)), flush=True)
    print("\n| speed-up of an iteration | network | 4 | 16 | 64 | 256 |\n| --- | --- | --- | --- | --- | --- |")
    for title, (seconds, exchange) in rows.items():
        for network, latency, bandwidth in (("2 us, 10 GB/s", 2e-6, 1e10), ("25 us, 1 GB/s", 25e-6, 1e9)):
            speed = ["%.1f" % (seconds / model(seconds, exchange, ranks, latency, bandwidth, title))
                     for ranks in (4, 16, 64, 256)]
            print("| %s | %s | %s |" % (title, network, " | ".join(speed)))


if __name__ == "__main__":
    main()
