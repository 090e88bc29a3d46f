"""Methods inside of a program that has OpenMP threads of its own (host.c): do the two teams fight?"""

import os

from harness import ROOT, Row
from kpalm import blobs

HOST = os.path.join(ROOT, "build/bench/host")


WAITS = "The threads of its caller wait for work by looking for it, for some milliseconds after each of their loops."
START = "Two thirds of it are the spectral start, of ten clusters where there are a hundred, which two threads make 1.3 times as fast, also without a host."
FEW = "35,000 steps, each after the one before and of 11 microseconds, on some hundreds of objects: a part of one is less than it takes to wake a thread."


def inside(name, method, n, *options, shared=WAITS):
    return Row(f"host-{name}", f"{method} between parallel loops of its caller", (), blobs(16),
               lambda _: [method, "x.npy", "k", 10, *options], ("solve",), {}, None, threads=n, program=HOST,
               shared=shared)


ROWS = [
    inside("lloyd", "kpalm", 400000, "solver", "lloyd", "start", "random", "max-iter", 50),
    inside("ncut", "ncut", 6000, "restarts", 5, "polish", "false", "bound", "no"),
    inside("symnmf", "symnmf", 6000, "max-iter", 20, "tol", 0, shared=START),
    inside("dominant", "dominant", 12000, "shift", 20, shared=FEW),
]
