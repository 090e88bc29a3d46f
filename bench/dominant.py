"""Benchmarks of dominant: steps against NumPy and the memory, real sets end to end, large sets of points, RD.

    dominant.py THREADS [PART ...]      parts: steps bandwidth newsgroups gap blobs million peels image; default all
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

DATA = os.environ.get("CLEAVE_DATA", "../shared/data")
BUILD = os.environ.get("CLEAVE_BUILD", "build")
HEADER = ("what", "cleave", "peer", "its figure", "peer / cleave", "target", "notes")
NONE = ("-", "-", "-")
SHIFT = 15
NEWSGROUPS = [
    ["soc.religion.christian", "comp.os.ms-windows.misc", "talk.politics.guns", "alt.atheism", "talk.politics.misc"],
    ["comp.windows.x", "sci.med", "rec.autos", "sci.crypt", "talk.religion.misc"],
    ["misc.forsale", "comp.sys.mac.hardware", "talk.politics.mideast", "sci.electronics", "rec.motorcycles"],
    ["comp.graphics", "rec.sport.hockey", "sci.space", "rec.sport.baseball", "comp.sys.ibm.pc.hardware"]]
rows = []


def add(*row):
    """A row of the table, shown at once on standard error too."""
    rows.append(row)
    print(row, file=sys.stderr, flush=True)


# The kernel counts the parent's memory as the child's until it runs another program, hence a small one in between.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def cleave(threads, path, *options):
    """The JSON result of the command, and its peak resident set in bytes."""
    command = [f"{BUILD}/cleave", "dominant", path, "--threads", str(threads), "--json", "-", *map(str, options)]
    done = subprocess.run([sys.executable, "-S", "-c", PEAK, *command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout), int(done.stderr.split()[-1]) * 1024


def saved(folder, name, values):
    """Path of an array written to the folder."""
    path = os.path.join(folder, name)
    np.save(path, values)
    return path


# --- NumPy ---


def numpy_pfw(a, shift, steps, tolerance=0.0):
    """Pairwise steps from the best vertex, on A - shift I, r and f kept up to date: x, steps made, seconds in steps."""
    n = len(a)
    x = np.zeros(n)
    start = a.sum(axis=0).argmax()
    x[start] = 1
    r = a[start].copy()
    r[start] -= shift
    f = r[start]
    began = time.perf_counter()
    for step in range(steps):
        i = r.argmax()
        members = x.nonzero()[0]
        j = members[r[members].argmin()]
        if r[i] - f <= tolerance * (f + shift) or i == j:
            return x, step, time.perf_counter() - began
        slope, curve = r[i] - r[j], a[i, i] + a[j, j] - 2 * shift - 2 * a[i, j]
        gamma = min(x[j], -slope / curve) if curve < 0 else x[j]
        f += 2 * gamma * slope + gamma * gamma * curve
        x[i] += gamma
        x[j] = 0 if gamma == x[j] else x[j] - gamma
        r += gamma * a[i]
        r -= gamma * a[j]
        r[i] -= shift * gamma
        r[j] += shift * gamma
    return x, steps, time.perf_counter() - began


def numpy_peel(a, shift, k, tolerance):
    """Seconds of k clusters, one after the other."""
    began = time.perf_counter()
    for _ in range(k):
        x, _, _ = numpy_pfw(a, shift, 10**6, tolerance)
        a = a[np.ix_(x == 0, x == 0)]
    return time.perf_counter() - began


def numpy_rd(a, shift, tolerance, limit):
    """Replicator dynamics from the center: seconds, steps, whether the gap was reached."""
    x = np.full(len(a), 1 / len(a))
    began = time.perf_counter()
    for step in range(10**9):
        r = a @ x + shift * (1 - x)
        f = x @ r
        reached = r.max() - f <= tolerance * (f - shift * (1 - x @ x))
        if reached or time.perf_counter() - began > limit:
            return time.perf_counter() - began, step, reached
        x *= r / f


def gaussian_affinity(x):
    """exp(-g d^2) without the diagonal, g by the size of the points: a matrix of the right kind to take steps on."""
    squares = (x * x).sum(axis=1)
    d = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)
    a = np.exp(-d / d.mean())
    np.fill_diagonal(a, 0)
    return a


# --- one step ---


def steps_of(folder, n, steps, solver="pfw", shift=SHIFT):
    """The figures that build/bench/dominant prints, on one thread."""
    points = saved(folder, f"steps{n}.npy", np.random.default_rng(n).normal(size=(n, 10)))
    command = [f"{BUILD}/bench/dominant", solver, points, str(shift), str(steps), "1"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def bench_steps(folder):
    """A step on one thread; pfw also with a large support, the least entry of which it looks for."""
    for n, most, ratio in ((1785, 1.3, ", >= 10x"), (9600, 8.0, "")):
        for solver, shift in (("pfw", SHIFT), ("pfw", n / 20), ("fw", SHIFT), ("afw", SHIFT)):
            ours = steps_of(folder, n, 2000, solver, shift)
            target, peer = "-", NONE
            if solver == "pfw":
                a = gaussian_affinity(np.load(os.path.join(folder, f"steps{n}.npy")))
                # As often as ours, and as short: the best of many on a machine that does other things too.
                each = min(seconds / made for _, made, seconds in (numpy_pfw(a, shift, 300) for _ in range(40)))
                target = f"<= {most:g} us{ratio}"
                peer = ("NumPy", f"{each * 1e6:.1f} us", f"{each / ours['step']:.1f}x")
            add(f"step of {solver}, n = {n}, shift {shift:g}, 1 thread", f"{ours['step'] * 1e6:.2f} us", *peer, target,
                f"support {ours['support']:.0f} after {ours['steps']:.0f} steps")


def bench_bandwidth(folder):
    """Bytes of the two columns of a step, by time, against reading the matrix."""
    n = 16000
    ours = steps_of(folder, n, 2000)
    moved, rate = 16 * n / ours["step"], ours["bytes"] / ours["read"]
    add(f"columns read by pfw, n = {n}, 1 thread", f"{moved / 1e9:.1f} GB/s", "sum over the matrix", f"{rate / 1e9:.1f} GB/s",
        f"{moved / rate:.2f} of it", "-", f"{ours['step'] * 1e6:.1f} us per step; r (8 n bytes) is read and written in cache")


# --- newsgroups ---


def documents():
    """(features, classes) of the four sets of the paper, or None without the data."""
    path = os.path.join(DATA, "newsgroups-test.jsonl.gz")
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        everything = [json.loads(line) for line in file]
    sets = []
    for groups in NEWSGROUPS:
        chosen = [document for document in everything if document["label"] in groups]
        words = TfidfVectorizer(stop_words="english", max_df=0.5, min_df=2, max_features=10000)
        terms = words.fit_transform([document["text"] for document in chosen])
        sets.append((TruncatedSVD(20, random_state=0).fit_transform(terms),
                     np.array([groups.index(document["label"]) for document in chosen], dtype=np.int32)))
    return sets


def cosine_affinity(x):
    """1 + cos, without the diagonal."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    a = 1 + x @ x.T
    np.fill_diagonal(a, 0)
    return a


def bench_newsgroups(sets, threads, folder):
    """Four sets, two solvers, from features to labels."""
    kernel = ["--affinity", "cosine", "--shift", 30, "-k", 5]
    paths = [(saved(folder, f"set{s}.npy", x), saved(folder, f"set{s}.y.npy", y)) for s, (x, y) in enumerate(sets)]
    theirs = sum(numpy_peel(cosine_affinity(x), 30, 5, 1e-6) for x, _ in sets)
    for home in ("auto", "dense-f64"):
        together = 0
        for solver in ("pfw", "afw"):
            total, scores = 0, []
            for x, y in paths:
                options = [*kernel, "--solver", solver, "--start", "vertex", "--home", home, "--truth", y]
                runs = [cleave(threads, x, *options)[0] for _ in range(3)]
                total += min(run["seconds"]["total"] for run in runs)
                metrics = runs[0]["metrics"]
                scores.append("/".join(f"{metrics[name]:.2f}" for name in ("assignment_rate", "ari", "v_measure")))
            together += total
            peer = ("NumPy, affinity given", f"{theirs:.2f} s", f"{theirs / total:.1f}x") if solver == "pfw" else NONE
            add(f"newsgroups, 4 sets, {solver} from the vertex, home {home}", f"{total:.3f} s", *peer, "-",
                "AR/ARI/V " + ", ".join(scores))
        add(f"newsgroups, pfw and afw together, home {home}", f"{together:.3f} s", *NONE, "< 0.1 s", "")


def bench_gap(sets, folder):
    """The first dominant set of newsgroups1 to the same relative gap."""
    x = sets[0][0]
    path = saved(folder, "gap.npy", cosine_affinity(x))
    for tolerance in (1e-3, 1e-4):
        ours = [cleave(1, path, "--affinity", "precomputed", "--shift", 30, "-k", 1, "--tol", tolerance)[0]
                for _ in range(3)]
        seconds = min(run["seconds"]["solve"] for run in ours)
        theirs, steps, reached = numpy_rd(np.load(path), 30, tolerance, 20)
        add(f"one dominant set, n = {len(x)}, gap {tolerance:g}, 1 thread", f"{seconds:.4f} s", "NumPy RD",
            f"{theirs:.2f} s" if reached else f"> {theirs:.0f} s", f"{theirs / seconds:.0f}x" + ("" if reached else " or more"),
            "-", f"{ours[0]['iterations']} steps against {steps}")


# --- large sets of points ---


def blobs(folder, n):
    """20 normal clouds in 10 dimensions: paths of points and classes."""
    rng = np.random.default_rng(7)
    centers = 4 * rng.normal(size=(20, 10))
    classes = rng.integers(0, 20, size=n)
    points = saved(folder, f"blobs{n}.npy", centers[classes] + rng.normal(size=(n, 10)))
    return points, saved(folder, f"blobs{n}.y.npy", classes.astype(np.int32))


def bench_blobs(folder, n, threads, limit):
    """The first dominant set."""
    points, _ = blobs(folder, n)
    for gamma in ("auto", 0.05):
        ours, peak = cleave(threads, points, "-k", 1, "--shift", 15, "--gamma", gamma)
        cluster = ours["clusters"][0]
        add(f"first dominant set, {n} x 10 blobs, gamma {gamma}", f"{ours['seconds']['total']:.2f} s", *NONE, limit,
            f"peak {peak / 2**20:.0f} MiB (the matrix: {8 * n * n / 2**30:.0f} GiB), {cluster['size']} members, "
            f"{cluster['iterations']} steps, home {ours['affinity']['home']}")


def bench_peels(folder, n, threads):
    """20 clusters, then everybody assigned."""
    points, classes = blobs(folder, n)
    truth = np.load(classes)
    for gamma in ("auto", 0.05):
        for absorb in ([], ["--absorb", 0.3]):
            ours, peak = cleave(threads, points, "-k", 20, "--shift", 15, "--gamma", gamma, "--assign", *absorb)
            ari = adjusted_rand_score(truth, ours["labels"])
            add(f"20 clusters and assignment, {n} x 10 blobs, gamma {gamma} {' '.join(map(str, absorb))}",
                f"{ours['seconds']['total']:.2f} s", *NONE, "-", f"ARI {ari:.2f}, peak {peak / 2**20:.0f} MiB")


# --- an image ---


def pixels():
    """(v, v s sin h, v s cos h) of 80 x 120 pixels; of a made-up picture without the data."""
    path = os.path.join(DATA, "images/bsds-3063.X.npy")
    if os.path.exists(path):
        image = np.load(path)
        across, down = (np.linspace(0, size - 1, count).astype(int) for size, count in
                        zip(image.shape[1::-1], (120, 80)))
        rgb = image[np.ix_(down, across)].reshape(-1, 3) / 255
    else:
        noise = np.random.default_rng(8).normal(scale=0.02, size=(9600, 3))
        rgb = np.clip(noise + np.where(np.arange(9600) % 120 < 40, 0.8, 0.2)[:, None] * [1, 0.7, 0.4], 0, 1)
    value, low = rgb.max(axis=1), rgb.min(axis=1)
    red, green, blue = rgb.T
    # Chroma v s and the hue's angle, by the projection of the color cube.
    angle = np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue)
    return np.stack([value, (value - low) * np.sin(angle), (value - low) * np.cos(angle)], axis=1)


def bench_image(folder, threads):
    """From features to labels, against RD of the same program."""
    path = saved(folder, "pixels.npy", pixels())
    common = ["--affinity", "minimax", "--shift", 40, "-k", 3, "--assign"]
    theirs, _ = cleave(threads, path, *common, "--solver", "rd", "--max-iter", 250)
    for home in ("auto", "computed"):
        ours, peak = cleave(threads, path, *common, "--home", home)
        add(f"9600 pixels, minimax, K = 3, home {home}", f"{ours['seconds']['total']:.2f} s", "rd, 250 steps",
            f"{theirs['seconds']['total']:.2f} s", f"{theirs['seconds']['total'] / ours['seconds']['total']:.1f}x", "< 1 s",
            f"affinity {ours['seconds']['affinity']:.2f} s, solve {ours['seconds']['solve']:.2f} s, "
            f"{ours['iterations']} steps, peak {peak / 2**20:.0f} MiB")


def main():
    threads, asked = int(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        sets = documents() if not asked or "newsgroups" in asked or "gap" in asked else None
        parts = {"steps": lambda: bench_steps(folder), "bandwidth": lambda: bench_bandwidth(folder),
                 "newsgroups": lambda: sets and bench_newsgroups(sets, threads, folder),
                 "gap": lambda: sets and bench_gap(sets, folder),
                 "blobs": lambda: bench_blobs(folder, 100000, threads, "< 1.5 s, < 1.5 GB"),
                 "million": lambda: bench_blobs(folder, 1000000, threads, "< 15 s, < 8 GB"),
                 "peels": lambda: bench_peels(folder, 100000, threads), "image": lambda: bench_image(folder, threads)}
        for name, work in parts.items():
            if not asked or name in asked:
                work()
    print(f"\ndominant, {threads} threads\n")
    for row in (HEADER, ["---"] * len(HEADER), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
