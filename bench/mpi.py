#!/usr/bin/env python3
"""Several processes: what the layer costs, the bytes it exchanges, and what that means for many of them.

    bench/mpi.py [--cleave build/cleave] [--rounds 3]      # on an idle machine
    bench/mpi.py --layer [WORD ...] [--rounds 3]           # the cost of the layer alone, of cases that have these words;
                                                           # the least of some rounds
    bench/mpi.py --memory                                  # peaks of each process; takes 4 GB of disk
    bench/mpi.py --starts                                  # bytes and meetings of the starts of kpalm alone; a busy machine will do

Prints the tables of docs/mpi.md: one process on two threads against two processes on one thread each, and one thread against
2 and 4 processes; bytes per iteration, counted by the command itself (-v), against the formulas of the page; and what a model of
latency and bandwidth makes of that for 16, 64 and 256 processes. Needs numpy and mpirun.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
NOTE = 112    # bytes that a process brings to a meeting
CHUNKS = 32   # parts of the work of kpalm, at most: more processes than that have nothing to do
TALLY = 56    # bytes of what kpalm says of a part besides its sums
GROWN = 10    # the model is for so many times the objects, where one process is slow


def sweep(n, p, k):
    """Rows and W'W of the blocks, each from the process that has it, and all of the product at the end."""
    blocks = n // (128 if n < 8192 else 256)
    return 2 * 8 * k * n + 8 * (k * k + 1) * blocks, blocks + 1


# name: (arguments, n, p, k), and what an iteration exchanges: (bytes that are gathered, meetings). Shares of n are equal.
CASES = {
    "kpalm, lloyd": (["kpalm", "points.npy", "-k", "100", "--solver", "lloyd", "--start", "random", "--tol", "0"],
                     200_000, 32, 100, lambda n, p, k: (CHUNKS * (8 * k * (p + 1) + TALLY), 2)),
    "symnmf, dense-f64": (["symnmf", "points.npy", "-k", "10", "--home", "dense-f64", "--tol", "0"],
                          3_072, 16, 10, sweep),
    "symnmf, computed": (["symnmf", "points.npy", "-k", "10", "--home", "computed", "--tol", "0"],
                         3_072, 16, 10, sweep),
}


def environment(ranks, threads):
    """Processes that have no core of their own let others work while they wait."""
    waits = "1" if ranks * threads > os.cpu_count() else "0"
    return dict(ENVIRONMENT, OMP_NUM_THREADS=str(threads), OMPI_MCA_mpi_yield_when_idle=waits)


TOLD = re.compile(r"processes: .*, (\d+) meetings, (\d+) bytes .* waited ([\d.]+) s and received for ([\d.]+) s$", re.M)


def run(cleave, folder, words, ranks, threads, iterations):
    """Seconds of an iteration's part of the solve are found by differences; so are bytes and meetings. Then iterations, and the
    seconds for which the first process waited and received, from its beginning on."""
    command = [cleave] + words + ["--threads", str(threads), "--max-iter", str(iterations), "-v", "--json", "r.json"]
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launch + command, cwd=folder, env=environment(ranks, threads), capture_output=True, text=True, check=True)
    result = json.loads((folder / "r.json").read_text())
    meetings, received, waited, receiving = map(float, TOLD.search(done.stderr).groups()) if ranks > 1 else (0, 0, 0, 0)
    return result["seconds"]["solve"] if isinstance(result["seconds"], dict) else result["seconds"], meetings, received, \
        result["iterations"], waited, receiving


def measure(cleave, folder, words, ranks, threads, rounds, few=2, many=42):
    """Of an iteration: the least seconds of some rounds, meetings, bytes."""
    best = None
    for _ in range(max(rounds, 1)):
        a, b = (run(cleave, folder, words, ranks, threads, count) for count in (few, many))
        steps = b[3] - a[3]
        found = ((b[0] - a[0]) / steps, (b[1] - a[1]) / steps, (b[2] - a[2]) / steps)
        best = found if best is None or found[0] < best[0] else best
    return best


# Whole runs: title, file, rows, columns, clusters, type; arguments.
LAYER = [
    ("`lloyd`, 1,000,000 x 32 floats, k = 100, 15 iterations", 1_000_000, 32, 100, "<f4",
     "kpalm points.npy -k 100 --solver lloyd --start random --tol 0 --max-iter 15"),
    ("`kpalm`, 300,000 x 16 floats, k = 20", 300_000, 16, 20, "<f4", "kpalm points.npy -k 20"),
    ("`kpalm`, 3,000,000 x 16 floats, k = 20", 3_000_000, 16, 20, "<f4", "kpalm points.npy -k 20 --max-iter 60"),
    ("`symnmf` by rows, `dense-f64`, n = 10,992, k = 10", 10_992, 16, 10, "<f8", "symnmf points.npy -k 10 --home dense-f64"),
    ("`ksupport`, 1,000 x 40,000 floats, k = 10", 1_000, 40_000, 0, "<f4", "ksupport points.npy y.npy -k 10"),
    ("`ncut`, 15 neighbors, n = 60,000, k = 30", 60_000, 16, 30, "<f8", "ncut points.npy -k 30 --affinity knn --neighbors 15"),
    ("`dominant -k 4 --shift 20`, `dense-f64`, n = 10,000", 10_000, 16, 10, "<f8",
     "dominant points.npy -k 4 --shift 20 --home dense-f64"),
    ("`dominant -k 8 --shift 60`, `dense-f64`, n = 20,000", 20_000, 16, 10, "<f8",
     "dominant points.npy -k 8 --shift 60 --home dense-f64"),
    ("`ncut`, `dense-f64`, n = 10,000, k = 10", 10_000, 16, 10, "<f8", "ncut points.npy -k 10 --home dense-f64"),
    ("`ncut`, `computed`, n = 10,000, k = 10", 10_000, 16, 10, "<f8", "ncut points.npy -k 10 --home computed --patience 10"),
]


def write_points(folder, n, p, k, kind):
    """Clusters of unit variance; without clusters, noise and the signs of a sum of ten columns of it."""
    random = np.random.default_rng(1)
    points = random.normal(size=(n, p)).astype(kind)
    if k:
        points += (2 * random.normal(size=(k, p))[random.integers(0, k, n)]).astype(kind)
    else:
        np.save(folder / "y.npy", np.sign(points[:, :10].sum(1) + 0.5 * random.normal(size=n)))
    np.save(folder / "points.npy", points)


def print_layer(cleave, folder, words, rounds):
    print("| | 2 processes | 2 threads | ratio | meetings | received by the first | waited, received for |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for title, n, p, k, kind, arguments in LAYER:
        if not all(word in arguments + title for word in words):
            continue
        write_points(folder, n, p, k, kind)
        limit = int(arguments.split("--max-iter ")[1]) if "--max-iter" in arguments else 10_000_000
        runs = [(run(cleave, folder, arguments.split(), 2, 1, limit), run(cleave, folder, arguments.split(), 1, 2, limit))
                for _ in range(rounds)]
        ranks, threads = (min(pair[side][0] for pair in runs) for side in (0, 1))  # the least disturbed
        _, meetings, received, _, waited, receiving = min(pair[0] for pair in runs)
        print("| %s | %.2f | %.2f | %.2f | %d | %.1f MB | %.2f, %.2f |"
              % (title, ranks, threads, ranks / threads, meetings, received / 1e6, waited, receiving), flush=True)


# Arguments; rows, columns and clusters of the file.
MEMORY = [("`ncut`, `dense-f64`, n = 20,000", 20_000, 16, 10, "ncut points.npy -k 10 --home dense-f64 --patience 2"),
          ("`lloyd`, a file of 4 GB (10,000,000 x 100 floats), k = 8", 10_000_000, 100, 8,
           "kpalm points.npy -k 8 --solver lloyd --max-iter 5"),
          ("`kpalm`, the same file", 0, 0, 0, "kpalm points.npy -k 8 --max-iter 5")]


def write_large(path, n, p, k):
    """As write_points, in parts, so that it does not take the memory."""
    random = np.random.default_rng(1)
    centers = 2 * random.normal(size=(k, p)).astype("<f4")
    out = np.lib.format.open_memmap(path, "w+", "<f4", (n, p))
    for first in range(0, n, 100_000):
        rows = min(100_000, n - first)
        out[first:first + rows] = random.standard_normal((rows, p), dtype="f4") + centers[random.integers(0, k, rows)]
    out.flush()


def print_memory(cleave, folder):
    print("| | 1 process | 2 | 4 |\n| --- | --- | --- | --- |")
    for title, n, p, k, arguments in MEMORY:
        if n:
            write_large(folder / "points.npy", n, p, k)
        peaks = []
        for ranks in (1, 2, 4):
            launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
            done = subprocess.run(launch + ["/usr/bin/time", "-f", "peak %M", cleave] + arguments.split() + ["--threads", "1", "-q"],
                                  cwd=folder, env=environment(ranks, 1), capture_output=True, text=True, check=True)
            peaks.append(max(int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("peak ")))
        print("| %s | %s |" % (title, " | ".join("%.2f GB" % (peak * 1024 / 1e9) for peak in peaks)), flush=True)


def predicted(exchange, ranks):
    gathered, meetings = exchange
    return gathered * (ranks - 1) / ranks + meetings * NOTE * (ranks - 1)


# --- starts of kpalm ---

START = 65_536, 32, 100  # objects, columns and clusters: 32 parts of 2,048 objects
ROOM = 64                # bytes that a note has room for


def splitmix(state):
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


class Streams:
    """src/base/rng.c, many streams at a time."""

    def __init__(self, seed, streams):
        state = np.uint64(seed) ^ splitmix(np.atleast_1d(np.asarray(streams, np.uint64)))[1]
        self.s = []
        for _ in range(4):
            state, word = splitmix(state)
            self.s.append(word)

    def next(self):
        def rotate(x, by):
            return (x << np.uint64(by)) | (x >> np.uint64(64 - by))
        a, b, c, d = self.s
        result = rotate(a + d, 23) + a
        c, d, shifted = c ^ a, d ^ b, b << np.uint64(17)
        self.s = [a ^ d, b ^ c, c ^ shifted, rotate(d, 45)]
        return result

    def uniform(self):
        return (self.next() >> np.uint64(11)) * 2.0**-53


def squares(points, objects):
    """Distances of all points to these, in floats, as the starts keep them."""
    norms = (points**2).sum(1)
    found = norms[:, None] - 2 * points @ points[objects].T + norms[objects]
    return np.where(found > 1e-9 * norms.max(), found, 0).astype("f4")


def seed_plusplus(points, k, greedy):
    """kmeans++ and greedy++ once more. What is sent of objects that are drawn, by the processes that have them: bytes of each, and which;
    and other meetings: bytes of each part, and how many."""
    stream, asked, near, row = Streams(1, 0), [], np.float32(np.inf), 8 * points.shape[1]
    draws = int(2 + np.log(k)) if greedy else 1
    taken = int(stream.next()[0] % np.uint64(len(points)))
    for _ in range(k - 1):
        asked += [(row, [taken])] * 2  # as a center, and to be compared with all objects
        near = np.minimum(near, squares(points, [taken])[:, 0])
        sums = np.cumsum(near, dtype="f8")
        objects = [int(np.searchsorted(sums, stream.uniform()[0] * sums[-1], "right")) for _ in range(draws)]
        asked += [(row, objects)] if draws > 1 else []
        left = np.minimum(near[:, None], squares(points, objects)).sum(0, dtype="f8")
        taken = objects[int(left.argmin())]
    return asked + [(row, [taken])], [(8 * draws, (k - 1) * (1 + (draws > 1))), (0, (k - 1) * draws + 1)]


def seed_parallel(points, k):
    """k-means|| likewise. Candidates are sent as numbers, then as rows, and compared with all objects k at a time."""
    stream, (n, p) = Streams(1, 0), points.shape
    drawn = [int(stream.next()[0] % np.uint64(n))]
    asked, near, compared, count = [(8 * p, drawn)], np.float32(np.inf), 1, 1
    for _ in range(5):
        near = np.minimum(near, squares(points, drawn).min(1))
        chance = Streams(stream.next()[0], np.arange(n)).uniform() * near.sum(dtype="f8")
        drawn = np.flatnonzero((near > 0) & (chance < 2 * k * near.astype("f8")))
        asked += [(8, drawn), (8 * p, drawn)]
        compared += -(-len(drawn) // k)
        count += len(drawn)
    return asked, [(8, compared + 5), (8 * count, 1), (0, 2)]


def start_exchange(asked, meetings, ranks):
    """Meetings, and bytes that the first process receives."""
    shares = [(size * np.bincount(np.asarray(objects) * ranks // START[0], minlength=ranks), 1) for size, objects in asked]
    shares += [(np.full(ranks, CHUNKS // ranks * size), times) for size, times in meetings]
    met = sum(times for _, times in shares)
    return met, met * NOTE * (ranks - 1) + sum(times * share[1:].sum() for share, times in shares if share.max() > ROOM)


def print_starts(cleave, folder):
    """Of a run without iterations, less one that is given the centers which the first found. That one meets once where its start has
    not met."""
    n, p, k = START
    write_clusters(folder, n, p, k)
    points = np.load(folder / "points.npy")
    print("| start | R | meetings | predicted | bytes | predicted |\n| --- | --- | --- | --- | --- | --- |")
    for name in ("kmeans-parallel", "kmeans++", "greedy++"):
        asked, meetings = seed_parallel(points, k) if name == "kmeans-parallel" else seed_plusplus(points, k, name == "greedy++")
        for ranks in (2, 4):
            words = ["kpalm", "points.npy", "-k", str(k), "--solver", "lloyd", "--start"]
            found = run(cleave, folder, words + [name], ranks, 1, 0)
            np.save(folder / "centers.npy", json.loads((folder / "r.json").read_text())["centers"])
            given = run(cleave, folder, words + ["centers.npy"], ranks, 1, 0)
            met, received = start_exchange(asked, meetings, ranks)
            print("| `%s` | %d | %d | %d | %d | %d |"
                  % (name, ranks, found[1] - given[1] + 1, met, found[2] - given[2] + NOTE * (ranks - 1), received), flush=True)


def write_clusters(folder, n, p, k):
    random = np.random.default_rng(1)
    np.save(folder / "points.npy", 2 * random.normal(size=(k, p))[random.integers(0, k, n)] + random.normal(size=(n, p)))


def grown(cleave, folder, words, n, p, k, seconds, rounds):
    """Seconds of an iteration on GROWN times the objects, those that processes share and those of one of them: passes of kpalm are
    shared and grow by n; in a sweep of symnmf what grows by n^2 is shared, what grows by n is not. Twice the objects tell these apart."""
    if words[0] == "kpalm":
        return GROWN * seconds, 0
    write_clusters(folder, 2 * n, p, k)
    twice = measure(cleave, folder, words, 1, 1, rounds)[0]
    shared = min(max((twice - 2 * seconds) / 2, 0), seconds)
    return GROWN**2 * shared, GROWN * (seconds - shared)


def twice_the_work(n, words):
    """Objects for which two processes have as much to do each as one has with n: passes of kpalm grow by n, sweeps by n^2."""
    return 2 * n if words[0] == "kpalm" else round(2**0.5 * n / 256) * 256


def model(work, exchange, ranks, latency, bandwidth, name):
    """T(R) = work of one + shared work / R + meetings x 2 (notes, then results) x latency x log2 R + bytes / bandwidth."""
    share = min(ranks, CHUNKS if name.startswith("kpalm") else GROWN * CASES[name][1] // 256)  # processes that have a block
    double = 2 - 1 / ranks if "computed" in name else 1  # tiles between two processes are computed by both
    gathered, meetings = exchange
    return (work[1] + work[0] * double / share + 2 * meetings * latency * np.log2(ranks)
            + predicted(exchange, ranks) / bandwidth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cleave", default="build/cleave")
    parser.add_argument("--rounds", type=int, default=3, help="0: bytes alone, on a machine that is too busy for times")
    parser.add_argument("--layer", nargs="*", metavar="WORD", help="the cost of the layer for whole runs, of cases that have these words")
    parser.add_argument("--memory", action="store_true", help="peaks of resident memory of each process")
    parser.add_argument("--starts", action="store_true", help="meetings and bytes of the starts of kpalm")
    parser.add_argument("--folder", help="for files (a temporary one)")
    asked = parser.parse_args()
    cleave = os.path.abspath(asked.cleave)
    if asked.layer is not None or asked.memory or asked.starts:
        with tempfile.TemporaryDirectory(dir=asked.folder) as name:
            if asked.memory:
                print_memory(cleave, pathlib.Path(name))
            elif asked.starts:
                print_starts(cleave, pathlib.Path(name))
            else:
                print_layer(cleave, pathlib.Path(name), asked.layer, max(asked.rounds, 1))
        return
    print("| iteration of | 1 thread | 2 threads | 2 processes | layer | 4 processes | 2 processes, twice the work "
          "| bytes at 2 | predicted | at 4 | predicted |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, (words, n, p, k, exchange) in CASES.items():
            write_clusters(folder, n, p, k)
            hows = ((1, 1), (1, 2), (2, 1), (4, 1))
            one, two, ranks2, ranks4 = (measure(cleave, folder, words, *how, asked.rounds)
                                        if asked.rounds or how[0] > 1 else (float("nan"), 0, 0) for how in hows)
            write_clusters(folder, twice_the_work(n, words), p, k)
            weak = measure(cleave, folder, words, 2, 1, asked.rounds)
            print("| %s | %.4f s | %.4f s | %.4f s | %+.0f %% | %.4f s | %.4f s | %.0f | %.0f | %.0f | %.0f |"
                  % (title, one[0], two[0], ranks2[0], 100 * (ranks2[0] / two[0] - 1), ranks4[0], weak[0], ranks2[2],
                     predicted(exchange(n, p, k), 2), ranks4[2], predicted(exchange(n, p, k), 4)), flush=True)
            if asked.rounds:
                rows[title] = (grown(cleave, folder, words, n, p, k, one[0], asked.rounds), exchange(GROWN * n, p, k))
    print("\n| speed-up of an iteration; T(1), of one | network | 4 | 16 | 64 | 256 |\n| --- | --- | --- | --- | --- | --- |")
    for title, (work, exchange) in rows.items():
        for network, latency, bandwidth in (("2 us, 10 GB/s", 2e-6, 1e10), ("25 us, 1 GB/s", 25e-6, 1e9)):
            speed = ["%.1f" % (sum(work) / model(work, exchange, ranks, latency, bandwidth, title)) for ranks in (4, 16, 64, 256)]
            print("| %s; %.2f s, %.2f s | %s | %s |" % (title, sum(work), work[1], network, " | ".join(speed)))


if __name__ == "__main__":
    main()
