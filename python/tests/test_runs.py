"""Runs: memory, threads, interruption, callbacks."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse

import cleave
from cleave._matrix import as_view


def cloud(n=400, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype):
    x = cloud().astype(dtype)
    assert np.shares_memory(as_view(x).kept[0], x)
    csr = scipy.sparse.random(50, 20, 0.2, format="csr", random_state=0)
    assert np.shares_memory(as_view(csr).kept[0], csr.data)


def test_other_layouts_are_accepted():
    x = cloud(60)
    labels = cleave.KPalm(3).fit(x).labels_
    for other in (np.asfortranarray(x), x.tolist(), scipy.sparse.csr_matrix(x), scipy.sparse.coo_array(x)):
        np.testing.assert_array_equal(cleave.KPalm(3).fit(other).labels_, labels)
    assert len(cleave.KPalm(2).fit((10 * x).astype(int)).labels_) == 60


def test_a_mapped_file_goes_through(tmp_path):
    x = cloud()
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(cleave.KPalm(3).fit(mapped).labels_, cleave.KPalm(3).fit(x).labels_)


def test_results_do_not_depend_on_threads():
    x = cloud(2000)
    one, two = (cleave.NormalizedCut(4, n_jobs=jobs).fit(x) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.objective_ == two.objective_


def test_a_callback_sees_progress_and_may_stop():
    seen = []
    model = cleave.SimplicialNMF(4, tol=1e-12, callback=lambda p: seen.append(p["objective"]) or len(seen) >= 3)
    model.fit(cloud())
    assert len(seen) == 3 and not model.converged_ and model.result_.stop == "cancelled"

    def fail(progress):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        cleave.SimplicialNMF(4, callback=fail).fit(cloud())


def test_two_threads_of_python():
    x, labels = cloud(1000), {}

    def work(name):
        labels[name] = cleave.NormalizedCut(3).fit(x).labels_

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name in range(1, 4):
        np.testing.assert_array_equal(labels[name], labels[0])


def _labels(x):
    return cleave.NormalizedCut(3, n_jobs=2).fit(x).labels_


def test_fork_after_a_run():
    x = cloud(1500)
    here = _labels(x)  # the threads of OpenMP are there now
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for there in pool.map_async(_labels, [x, x]).get(timeout=60):
            np.testing.assert_array_equal(here, there)


INTERRUPTED = """
import signal
import numpy as np, cleave
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have been told to ignore it
model = cleave.NormalizedCut(5, patience="none")
x = np.random.default_rng(0).normal(size=(800, 5))
print("ready", flush=True)
try:
    model.fit(x)
except KeyboardInterrupt:
    print("stopped", len(model.labels_), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_leaves_the_best_so_far():
    run = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(1.0)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=30)
    assert out == "stopped 800\n"


def test_failures_are_exceptions():
    with pytest.raises(ValueError, match="solver = 'nonsense' is not allowed: it must be fpc"):
        cleave.NormalizedCut(3, solver="nonsense").fit(cloud())
    with pytest.raises(ValueError, match="NaN"):
        cleave.KPalm(2).fit(np.array([[0.0], [np.nan], [1.0]]))
    with pytest.raises(FileNotFoundError):
        cleave.verify("no-such-file.json", cloud())
    with pytest.raises(MemoryError):
        cleave.NormalizedCut(3, memory=1000).fit(cloud(3000))


def test_functions():
    x = cloud(50)
    dense = cleave.affinity(x, gamma=0.5)
    d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.testing.assert_allclose(dense, np.exp(-0.5 * d2), rtol=1e-13)
    graph = cleave.affinity(x, "knn", neighbors=5)
    assert scipy.sparse.issparse(graph) and abs(graph - graph.T).nnz == 0
    assert cleave.compare([0, 0, 1, 1], [1, 1, 0, 0])["ari"] == 1
    assert -1 <= cleave.silhouette(x, np.arange(50) % 3) <= 1
