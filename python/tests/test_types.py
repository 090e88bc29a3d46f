"""Programs that use cleave can be checked by mypy, and the package itself passes."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

SAMPLE = """
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cleave
from cleave import KPalm, KSupportClassifier, NormalizedCut, SimplicialNMF

x: NDArray[np.float64] = np.zeros((4, 2))
model: NormalizedCut = NormalizedCut(2, solver="spectral", random_state=np.random.RandomState(0), n_jobs=2).fit(x)
labels: NDArray[np.int32] = model.labels_
proof: cleave.Certificate = model.certificate_
holds: bool = proof.holds
bound: float = model.bound_.value if model.bound_ is not None else 0.0
centers: NDArray[np.float64] = KPalm(3, norm="euclidean").fit(x, sample_weight=[1, 1, 2, 2]).cluster_centers_
memberships: NDArray[np.float64] = SimplicialNMF("none" if holds else 2).fit_transform(x)  # error: arg-type
classes: NDArray[Any] = KSupportClassifier(k=None, alpha=0.5).fit(x, labels).predict(x)
verdict: bool = cleave.verify(model.result_, x).accepted
score: float = cleave.compare(labels, labels)["ari"]
NormalizedCut(2, solver="nonsense")  # error: arg-type
NormalizedCut(2, nonsense=1)  # error: call-arg
wrong: str = model.objective_  # error: assignment
"""


def test_mypy_accepts_what_is_right_and_nothing_else(tmp_path):
    (tmp_path / "sample.py").write_text(SAMPLE)
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--disable-error-code",
                          "import-untyped", "-m", "sample", "-p", "cleave"],
                         cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    expected = [f"sample.py:{number}: error [{line.split('# error: ')[1]}]"
                for number, line in enumerate(SAMPLE.splitlines(), 1) if "# error: " in line]
    found = [line.split(": error: ")[0] + ": error [" + line.rsplit("[", 1)[1] for line in run.stdout.splitlines()
             if ": error: " in line]
    assert found == expected, run.stdout + run.stderr
