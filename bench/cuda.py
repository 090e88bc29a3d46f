#!/usr/bin/env python3
"""The home cuda on the card of this machine: passes of the plugin, and whole runs of the command, against PyTorch.

Usage: bench/cuda.py [--plugin libcleave_cuda.so] [--cleave build/cleave] [--quick] [--parts passes,torch,runs,kmeans] [--output FILE.md]

Needs PyTorch with CUDA. Points are 10 normal clusters, gamma = 1 / (2 m^2) with m the median distance. Passes are the
best of three after one to warm up (of the longest, the second of two), with the transfer of labels and sums; errors are
the largest of 512 rows, against sums in double by PyTorch. "limit" is the time that the counted work takes at the rates below, and the share of it.
"""
import argparse
import ctypes as C
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

# Of an H200, per second: exponentials of floats (16 per cycle and multiprocessor), products of 16-bit floats and of
# doubles on tensor cores.
EXPONENTIALS, HALVES, DOUBLES = 132 * 16 * 1.98e9, 7.9e14, 6.7e13


class Call(C.Structure):
    _fields_ = [("stop", C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_double)), ("user", C.c_void_p), ("threads", C.c_int),
                ("why", C.c_char * 512)]


class Card(C.Structure):
    _fields_ = [("name", C.c_char * 128), ("bytes", C.c_size_t), ("free", C.c_size_t)]


class Source(C.Structure):
    _fields_ = [("kind", C.c_int), ("gamma", C.c_double), ("top", C.c_double), ("zero_diagonal", C.c_int),
                ("n", C.c_int64), ("features", C.c_int64), ("panels", C.c_void_p), ("given", C.c_void_p),
                ("single", C.c_int), ("memory", C.c_size_t)]


class Moves(C.Structure):
    _fields_ = [("objects", C.c_void_p), ("from_", C.c_void_p), ("to", C.c_void_p), ("count", C.c_int64),
                ("rough", C.c_int)]


def function(*types):
    return C.CFUNCTYPE(C.c_int, C.POINTER(Call), *types)


class Table(C.Structure):
    _fields_ = [("interface", C.c_int32), ("version", C.c_char_p), ("look", function(C.POINTER(Card))),
                ("open", function(C.POINTER(Source), C.POINTER(C.c_void_p))),
                ("close", C.CFUNCTYPE(None, C.c_void_p)),
                ("select", function(C.c_void_p, C.c_void_p, C.c_int64, C.POINTER(C.c_void_p))),
                ("entries", function(C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_void_p)),
                ("cross", function(C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_void_p)),
                ("product", function(C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_void_p, C.c_int)),
                ("sums", function(C.c_void_p, C.POINTER(Moves), C.c_int64, C.c_void_p, C.c_int)),
                ("moments", function(C.c_void_p, C.POINTER(C.c_double), C.POINTER(C.c_double)))]  # and more


class Operator:
    """The affinity of points on the card, by the plugin alone."""

    def __init__(self, plugin, x, gamma, kind=0):
        library = C.CDLL(str(plugin))
        library.clv_plugin_cuda.restype = C.POINTER(Table)
        self.table = library.clv_plugin_cuda().contents
        self.call = Call(stop=type(Call().stop)(lambda user, entries: 0), threads=len(os.sched_getaffinity(0)))
        self.n, features = x.shape
        padded = np.zeros(((self.n + 63) // 64 * 64, features))
        padded[:self.n] = x
        panels = np.ascontiguousarray(padded.reshape(-1, 64, features).transpose(0, 2, 1))
        source = Source(kind=kind, gamma=gamma, top=float("nan"), n=self.n, features=features,
                        panels=panels.ctypes.data)
        self.there = C.c_void_p()
        self.check(self.table.open(self.call, source, C.byref(self.there)))

    def check(self, status):
        if status:
            raise RuntimeError(self.call.why.decode())

    def sums(self, labels, k, rough, y=None):
        y = np.empty((k, self.n)) if y is None else y
        moves = Moves(to=labels.ctypes.data, count=self.n, rough=rough)
        self.check(self.table.sums(self.call, self.there, moves, k, y.ctypes.data, 0))
        return y

    def moves(self, objects, before, after, y, rough):
        moves = Moves(objects.ctypes.data, before.ctypes.data, after.ctypes.data, len(objects), rough)
        self.check(self.table.sums(self.call, self.there, moves, len(y), y.ctypes.data, 1))

    def product(self, x, rough, y=None):
        y = np.empty_like(x) if y is None else y
        self.check(self.table.product(self.call, self.there, None, self.n, x.ctypes.data, len(x), y.ctypes.data, 2 * rough))
        return y

    def column(self, i):
        y, objects = np.empty(self.n), np.array([i], dtype=np.int32)
        self.check(self.table.entries(self.call, self.there, objects.ctypes.data, 1, None, self.n, y.ctypes.data))
        return y

    def close(self):
        self.table.close(self.there)


def blobs(n, d, seed=0):
    draw = np.random.default_rng(seed)
    centers = draw.normal(size=(10, d)) * 2
    labels = draw.integers(0, 10, n).astype(np.int32)
    return centers[labels] + draw.normal(size=(n, d)), labels


def gamma_of(x):
    draw = np.random.default_rng(1)
    i, j = draw.integers(0, len(x), (2, 20000))
    return 0.5 / np.median(((x[i] - x[j]) ** 2).sum(1))


def timed(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def best(f, times=3):
    f()
    return min(timed(f) for _ in range(times))


def reference(torch, x, gamma, rows, weights):
    """weights (k x n) times A, of some rows, in double."""
    points = torch.tensor(x, device="cuda")
    w = torch.tensor(weights, device="cuda")
    out = []
    for i in rows:
        out.append(w @ torch.exp(-gamma * ((points - points[i]) ** 2).sum(1)))
    return torch.stack(out, 1).cpu().numpy()


def one_hot(labels, k):
    return (labels[None, :] == np.arange(k)[:, None]).astype(np.float64)


def passes(torch, plugin, sizes, say):
    say("| n | d | pass | seconds | largest error | limit, s | share |\n| ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for n, d in sizes:
        x, labels = blobs(n, d)
        gamma, draw = gamma_of(x), np.random.default_rng(2)
        rows = draw.integers(0, n, 512)
        a = Operator(plugin, x, gamma)
        weights = one_hot(labels, 10)
        expected = reference(torch, x, gamma, rows, weights)
        pairs = n * n / 2
        rough_limit = max(pairs / EXPONENTIALS, 6 * pairs * max(d, 16) / HALVES)
        exact_limit = 2 * pairs * max(d, 16) / DOUBLES
        times = 1 if n * n * d > 1e14 else 3
        for name, rough, limit in (("group_sums, rough", 1, rough_limit), ("group_sums, exact", 0, exact_limit)):
            y, again = a.sums(labels, 10, rough), np.empty((10, n))
            error = np.max(np.abs(y[:, rows] - expected) / expected)
            seconds = min(timed(lambda: a.sums(labels, 10, rough, again)) for _ in range(times))
            same = np.array_equal(y, again)
            say(f"| {n} | {d} | {name} | {seconds:.4f} | {error:.1e} | {limit:.4f} | {limit / seconds:.2f} |"
                + ("" if same else " NOT THE SAME BITS"))
        moved = np.sort(draw.choice(n, min(n // 4, 32768), replace=False)).astype(np.int32)
        before, after = labels[moved], ((labels[moved] + 1) % 10).astype(np.int32)
        seconds = best(lambda: a.moves(moved, before, after, y, 1), 2)
        say(f"| {n} | {d} | {len(moved)} moves, rough | {seconds:.4f} | | | |")
        ways = [("rough", 1)] * (n * n * d < 1e14) + [("exact", 0)] * (n * n * d <= 2e13)
        if ways:
            v = draw.random((10, n))
            exact = reference(torch, x, gamma, rows, v)
            for name, rough in ways:
                y = a.product(v, rough)
                error = np.max(np.abs(y[:, rows] - exact) / exact)
                say(f"| {n} | {d} | apply, 10 vectors, {name} | {best(lambda: a.product(v, rough, y), 1):.4f} | {error:.1e} | | |")
        say(f"| {n} | {d} | one column | {best(lambda: a.column(5)):.4f} | | | |")
        a.close()


def torch_passes(torch, sizes, say):
    """A blockwise exact pass as a user of PyTorch writes it, in floats."""
    say("| n | d | PyTorch, W times one-hot by blocks, seconds |\n| ---: | ---: | ---: |")
    for n, d in sizes:
        x, labels = blobs(n, d)
        gamma = gamma_of(x)
        points = torch.tensor(x, device="cuda", dtype=torch.float32)
        hot = torch.tensor(one_hot(labels, 10).T.copy(), device="cuda", dtype=torch.float32)

        def run():
            block = max(1, (1 << 30) // n)
            out = [torch.exp(-gamma * torch.cdist(points[i:i + block], points) ** 2) @ hot for i in range(0, n, block)]
            torch.cat(out).sum().item()
        say(f"| {n} | {d} | {best(run, 1):.3f} |")


def runs(cleave, sizes, commands, say):
    say("| n | d | command | solve, s | total, s | verify, s | certificate | objective |")
    say("| ---: | ---: | --- | ---: | ---: | ---: | --- | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n, d in sizes:
            data, result = folder / "x.npy", folder / "r.json"
            np.save(data, blobs(n, d)[0])
            for words in commands:
                begin = time.perf_counter()
                done = subprocess.run([cleave, words[0], data, *words[1:], "--home", "cuda", "--json", result, "-q",
                                       "--time-limit", "120"], stderr=subprocess.PIPE, text=True)
                total = time.perf_counter() - begin
                if done.returncode:
                    say(f"| {n} | {d} | {' '.join(words)} | {done.stderr.strip()[:200]} | {total:.2f} | | | |")
                    continue
                r = json.loads(result.read_text())
                begin = time.perf_counter()
                verified = subprocess.run([cleave, "verify", result, data, "--home", "cuda", "-q"],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode
                checked = time.perf_counter() - begin
                say(f"| {n} | {d} | {' '.join(words)} | {r['seconds']['solve']:.2f} | {total:.2f} | {checked:.2f}"
                    f"{'' if verified == 0 else ' REJECTED'} | {r['certificate']['value'] or float('nan'):.2g}"
                    f" ({'holds' if r['certificate']['holds'] else r['stop']}) | {r['objective']['value'] or float('nan'):.8g} |")


def torch_lloyd(torch, points, centers, iterations):
    """Lloyd's algorithm as a user of PyTorch writes it, in floats; seconds with the way of the points to the card."""
    begin = time.perf_counter()
    a = torch.tensor(points, device="cuda")
    x = torch.tensor(centers, device="cuda", dtype=torch.float32)
    torch.cuda.synchronize()
    sent = time.perf_counter() - begin
    block = max(1, (1 << 28) // len(x))
    begin = time.perf_counter()
    for _ in range(iterations):
        sums, counts = torch.zeros_like(x), torch.zeros(len(x), device="cuda")
        for part in a.split(block):
            nearest = torch.cdist(part, x).argmin(1)
            sums.index_add_(0, nearest, part)
            counts += torch.bincount(nearest, minlength=len(x))
        x = torch.where(counts[:, None] > 0, sums / counts[:, None].clamp(min=1), x)
    torch.cuda.synchronize()
    steps = time.perf_counter() - begin
    value = sum(float(torch.cdist(part, x).min(1).values.double().square().sum()) for part in a.split(block))
    return sent, steps, value


def kmeans(torch, cleave, sizes, say, iterations=20):
    """20 iterations from the same centers, and from a start of the command's own."""
    say("| n | d | k | who | points there, s | iterations, s | solve, s | total, s | objective |")
    say("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n, d, k in sizes:
            torch.manual_seed(0)
            means = torch.randn(k, d, device="cuda") * 2
            x = (means[torch.randint(k, (n,), device="cuda")] + torch.randn(n, d, device="cuda")).cpu().numpy()
            data, start, result = folder / "x.npy", folder / "centers.npy", folder / "r.json"
            centers = x[np.random.default_rng(0).choice(n, k, replace=False)].astype(np.float64)
            np.save(data, x)
            np.save(start, centers)
            torch_lloyd(torch, x[:100000], centers, 1)
            sent, steps, value = torch_lloyd(torch, x, centers, iterations)
            say(f"| {n} | {d} | {k} | PyTorch, floats | {sent:.2f} | {steps:.3f} | | | {value:.8g} |")
            torch.cuda.empty_cache()
            for begin_at, home, solver in itertools.product((start, "greedy++"), ("cuda", "host"), ("lloyd", "kpalm")):
                begin = time.perf_counter()
                done = subprocess.run([cleave, "kpalm", data, "-k", str(k), "--solver", solver, "--start", begin_at,
                                       "--max-iter", str(iterations), "--home", home, "--json", result, "-q"],
                                      stderr=subprocess.PIPE, text=True)
                total = time.perf_counter() - begin
                r = json.loads(result.read_text()) if done.returncode in (0, 1) else None
                say(f"| {n} | {d} | {k} | {solver}{', start greedy++' * (begin_at != start)}, home {home} | | | " + (
                    f"{r['seconds']['solve']:.2f} | {total:.2f} | {r['objective']['value']:.8g} |" if r else
                    f"{done.stderr.strip()[:200]} | | |"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", default="build/lib/libcleave_cuda.so")
    parser.add_argument("--cleave", default="build/cleave")
    parser.add_argument("--parts", default="passes,torch,runs,kmeans")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args()
    import torch
    file = open(options.output, "w") if options.output else None

    def say(line):
        print(line, flush=True)
        if file:
            print(line, file=file, flush=True)

    small = [(65536, 16), (65536, 64)]
    large = [*itertools.product((65536, 262144, 1 << 20), (16, 64, 256)), (1 << 22, 16)]
    say(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    if "passes" in options.parts:
        passes(torch, pathlib.Path(options.plugin).resolve(), small if options.quick else large, say)
    if "torch" in options.parts:
        say("")
        torch_passes(torch, small if options.quick else [(262144, 16), (1 << 20, 16), (262144, 256)], say)
    if "runs" in options.parts:
        say("")
        commands = [["ncut", "-k", "10", "--patience", "0"], ["dominant", "-k", "3", "--shift", "0"],
                    ["dominant", "-k", "3"], ["symnmf", "-k", "10"]]
        sizes = [(65536, 16), (262144, 16), (1 << 20, 16)]
        runs(options.cleave, sizes[:1] if options.quick else sizes, commands, say)
    if "kmeans" in options.parts:
        say("")
        kmeans(torch, options.cleave, [(200000, 16, 20)] if options.quick else [(10 ** 7, 64, 100)], say)


if __name__ == "__main__":
    main()
