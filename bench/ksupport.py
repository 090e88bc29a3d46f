#!/usr/bin/env python3
"""The k-support norm in three tables: the oracle and the proximity operators at a million features; k-FCFW and Newton beside
FISTA on the synthetic data of the paper, and the time that reading X takes; and beside scikit-learn, skglm and celer where
they are installed.

    bench/ksupport.py [THREADS [FEATURES]]      default 2 and 50000 (of the last table)

The last table: the seconds of cleave are those of its solver; those of the peers are of fit(). Each method gets the penalty of
a short grid that has the best AUC on a validation set, and shows its AUC on another one; the time shown is of that one fit.
Precision: the share of relevant features among the nonzero weights, of ridge among as many of its largest as k."""
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

THREADS = sys.argv[1] if len(sys.argv) > 1 else "2"
FEATURES = int(sys.argv[2]) if len(sys.argv) > 2 else 50000
SAMPLES, RELEVANT, GROUPS, K = 500, FEATURES * 3 // 100, 20, FEATURES * 6 // 1000
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build")
CLEAVE = os.path.join(BUILD, "cleave")
WIDE, WIDE_SAMPLES, WIDE_RELEVANT = 1000000, 500, 10000


def draw(count, rng):
    """Samples of length 1, a row each, and labels."""
    x = rng.standard_normal((count, FEATURES), dtype=np.float32)
    for g in range(GROUPS):
        x[:, g * RELEVANT // GROUPS:(g + 1) * RELEVANT // GROUPS] += rng.standard_normal((count, 1), dtype=np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    chance = 1 / (1 + np.exp(-x[:, :RELEVANT].sum(axis=1)))
    return x, np.where(rng.random(count) < chance, 1, -1)


def precision(w):
    """Of the nonzero weights, or of the K largest where all are."""
    chosen = np.flatnonzero(w) if np.count_nonzero(w) < len(w) // 2 else np.argsort(-np.abs(w))[:K]
    return np.mean(chosen < RELEVANT) if len(chosen) else float("nan"), np.count_nonzero(w)


def fit_cleave(folder, solver, weight, tol):
    """(weights, seconds, relative gap)."""
    out = subprocess.run([CLEAVE, "ksupport", f"{folder}/x.npy", f"{folder}/y.npy", "--transposed", "-k", str(K), "--lambda",
                          str(weight), "--solver", solver, "--tol", str(tol), "--weights", f"{folder}/w.npy", "--threads", THREADS,
                          "--json", "-"], check=True, capture_output=True, text=True).stdout
    result = json.loads(out)
    return np.load(f"{folder}/w.npy").ravel(), result["seconds"]["solve"], result["certificate"]["value"]


def fit_peer(model, x, y):
    """(weights, seconds)."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
    return model.coef_.ravel(), time.perf_counter() - began


def peers():
    """{name: {penalty: model}}; saga is stopped after 20 passes, as it would take minutes."""
    found = {
        "scikit-learn l1 (liblinear)": {c: LogisticRegression(penalty="l1", solver="liblinear", C=c) for c in (3, 10, 30)},
        "scikit-learn elastic net (saga, 20 passes)": {
            c: LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=0.5, C=c, max_iter=20) for c in (3, 10)},
        "scikit-learn l2 (lbfgs)": {c: LogisticRegression(C=c, max_iter=1000) for c in (1, 10, 100)},
    }
    try:
        from skglm import SparseLogisticRegression
        found["skglm l1"] = {a: SparseLogisticRegression(alpha=a, fit_intercept=False) for a in (1e-4, 2e-4, 5e-4)}
    except ImportError:
        print("bench: skglm is not installed: left out", file=sys.stderr)
    try:
        from celer import LogisticRegression as Celer
        found["celer l1"] = {c: Celer(C=c) for c in (3, 10, 30)}
    except ImportError:
        print("bench: celer is not installed: left out", file=sys.stderr)
    return found


def row(name, fits, choice, test):
    """The best by AUC on the samples to choose by: name, penalty, seconds, AUC on those to test, precision, nonzeros."""
    scored = [(roc_auc_score(choice[1], choice[0] @ w), penalty, seconds, w) for penalty, (w, seconds) in fits.items()]
    _, penalty, seconds, w = max(scored, key=lambda s: s[0])
    share, count = precision(w)
    area = roc_auc_score(test[1], test[0] @ w)
    print(f"| {name} | {penalty:g} | {seconds:.3f} | {area:.3f} | {share:.3f} | {count} |", flush=True)


def operators():
    """The oracle and the proximity operators, by the program that times them."""
    done = subprocess.run([f"{BUILD}/bench/ksupport_set_bench", str(WIDE), "10000", THREADS], check=True, capture_output=True,
                          text=True)
    times = dict(line.split() for line in done.stdout.splitlines())
    print(f"operators, {WIDE} features, k = 10000, {THREADS} threads: milliseconds\n")
    print("| what | ms | target |\n| --- | ---: | ---: |")
    for name, target in (("copy", ""), ("vertex", "<= 8"), ("select", "<= 25"), ("bisect", ""), ("active", ""), ("box", "")):
        kind = {"copy": "a copy of the vector, for comparison", "vertex": "vertex oracle"}.get(name, f"prox, {name}")
        print(f"| {kind} | {times[name]} | {target} |")


def solvers():
    """FCFW to the rule of the paper and Newton to 1e-8, beside FISTA-AS with fixed steps, in one process on one X."""
    common = "lambda 0.1 ridge 1e-3"
    asked = ["bandwidth"]
    for k in (2000, 6000, 10000):
        asked += [f"k {k} {common} solver fcfw rule change tol 1e-4 repeat 3",
                  f"k {k} {common} solver newton tol 1e-8 repeat 3",
                  f"k {k} {common} solver fista step fixed prox active rule change tol 1e-4"]
    command = [f"{BUILD}/bench/ksupport_bench", str(WIDE), str(WIDE_SAMPLES), str(WIDE_RELEVANT), "20", "1", THREADS,
               "features", "200"]
    done = subprocess.run(command, input="\n".join(asked + ["bandwidth", ""]), check=True, capture_output=True, text=True)
    answers = [line.split("|", 1)[1].split() for line in done.stdout.splitlines()]
    speed = max(float(answers[0][0]), float(answers[-1][0]))
    one_pass = WIDE * WIDE_SAMPLES * 4 / speed / 1e9
    print(f"\nlogistic, {WIDE} features, {WIDE_SAMPLES} samples, floats: X is read in {one_pass:.3f} s ({speed:.1f} GB/s)\n")
    print("| k | solver | seconds | passes | seconds / reading X so often | relative gap | FISTA-AS / this |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for i, k in enumerate((2000, 6000, 10000)):
        three = answers[1 + 3 * i:4 + 3 * i]
        slow = float(three[2][0])
        for name, found in zip(("fcfw, the paper's rule", "newton, gap 1e-8", "FISTA-AS, the paper's rule"), three):
            seconds, passes = float(found[0]), float(found[2])
            print(f"| {k} | {name} | {seconds:.3f} | {passes:g} | {seconds / passes / one_pass:.2f} | {found[4]} | "
                  f"{slow / seconds:.1f} |")


def peer_table():
    """The last one."""
    rng = np.random.default_rng(1)
    (x, y), choice, test = draw(SAMPLES, rng), draw(500, rng), draw(500, rng)
    print(f"\nsynthetic logistic data: {SAMPLES} samples, {FEATURES} features, {RELEVANT} relevant; k = {K}, {THREADS} threads\n")
    print("| method | penalty | seconds | AUC | precision | nonzeros |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ascontiguousarray(x.T))
        np.save(f"{folder}/y.npy", y.astype(np.float64))
        for solver, tol in (("fcfw", 1e-4), ("newton", 1e-6)):
            fits = {weight: fit_cleave(folder, solver, weight, tol)[:2] for weight in (1, 0.3, 0.1, 0.03)}
            row(f"cleave ksupport ({solver}, gap {tol:g})", fits, choice, test)
    wide = x.astype(np.float64)
    for name, models in peers().items():
        row(name, {c: fit_peer(model, wide, y) for c, model in models.items()}, choice, test)


operators()
solvers()
peer_table()
