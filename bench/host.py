"""Methods inside of a program that has OpenMP threads of its own (host.c): do the two teams fight?"""

import os

from harness import ROOT, Row
from kpalm import blobs

HOST = os.path.join(ROOT, "build/bench/host")


def inside(name, method, n, *options):
    return Row(f"host-{name}", f"{method} between parallel loops of its caller", (), blobs(16),
               lambda _: [method, "x.npy", "k", 10, *options], ("solve",), {}, None, threads=n, program=HOST,
               shared="The threads of its caller wait for work by looking for it, for some milliseconds after each of their loops.")


ROWS = [
    inside("lloyd", "kpalm", 400000, "solver", "lloyd", "start", "random", "max-iter", 50),
    inside("ncut", "ncut", 6000, "restarts", 5, "polish", "false", "bound", "no"),
]
