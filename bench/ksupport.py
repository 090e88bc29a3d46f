#!/usr/bin/env python3
"""k-support logistic regression beside scikit-learn, and skglm and celer where they are installed, on the synthetic data of
the k-support-norm paper: seconds, AUC on new samples, precision of the features, in one table.

    bench/ksupport.py [THREADS [FEATURES]]      default 2 and 100000

The seconds of cleave are those of its solver; those of the peers are of fit(). Each method gets the penalty of a short grid
that has the best AUC on a validation set; the time shown is of that one fit. Precision: the share of relevant features among
the nonzero weights, of ridge among as many of its largest as k."""
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
FEATURES = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
SAMPLES, RELEVANT, GROUPS, K = 500, FEATURES * 3 // 100, 20, FEATURES * 6 // 1000
CLEAVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/cleave")


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
    """{name: {penalty: model}}; saga is stopped after 50 passes, as it would take minutes."""
    found = {
        "scikit-learn l1 (liblinear)": {c: LogisticRegression(penalty="l1", solver="liblinear", C=c) for c in (3, 10, 30)},
        "scikit-learn elastic net (saga, 50 passes)": {
            c: LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=0.5, C=c, max_iter=50) for c in (3, 10)},
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


def row(name, fits, fresh, y_fresh):
    """The best by AUC: name, penalty, seconds, AUC, precision, nonzeros."""
    scored = [(roc_auc_score(y_fresh, fresh @ w), penalty, seconds, w) for penalty, (w, seconds) in fits.items()]
    area, penalty, seconds, w = max(scored, key=lambda s: s[0])
    share, count = precision(w)
    print(f"| {name} | {penalty:g} | {seconds:.3f} | {area:.3f} | {share:.3f} | {count} |", flush=True)


def main():
    """The table."""
    rng = np.random.default_rng(1)
    (x, y), (fresh, y_fresh) = draw(SAMPLES, rng), draw(500, rng)
    print(f"synthetic logistic data: {SAMPLES} samples, {FEATURES} features, {RELEVANT} relevant; k = {K}, {THREADS} threads\n")
    print("| method | penalty | seconds | AUC | precision | nonzeros |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ascontiguousarray(x.T))
        np.save(f"{folder}/y.npy", y.astype(np.float64))
        for solver, tol in (("fcfw", 1e-4), ("newton", 1e-6)):
            fits = {weight: fit_cleave(folder, solver, weight, tol)[:2] for weight in (1, 0.3, 0.1, 0.03)}
            row(f"cleave ksupport ({solver}, gap {tol:g})", fits, fresh, y_fresh)
    wide = x.astype(np.float64)
    for name, models in peers().items():
        row(name, {c: fit_peer(model, wide, y) for c, model in models.items()}, fresh, y_fresh)


main()
