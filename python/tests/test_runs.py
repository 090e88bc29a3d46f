"""Runs: threads, processes, interruption, callbacks."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import cleave


def cloud(n=400, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_results_do_not_depend_on_threads():
    x = cloud(2000)
    one, two = (cleave.NormalizedCut(4, n_jobs=jobs).fit(x) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.objective_ == two.objective_


def test_an_instruction_set_that_the_machine_does_not_have_is_warned_of():
    def says(isa):
        run = subprocess.run([sys.executable, "-c", "import cleave"], env={**os.environ, "CLEAVE_ISA": isa},
                             capture_output=True, text=True, check=True)
        return run.stderr

    assert says("baseline") == says("") == ""
    warning = says("Baseline")
    assert warning.startswith("<string>:1: UserWarning: CLEAVE_ISA=Baseline: this machine has baseline")
    assert warning.split(" is used")[0].split()[-1] in ("baseline", "avx2", "avx512")


def test_a_callback_sees_progress_and_may_stop():
    seen = []
    model = cleave.SimplicialNMF(4, tol=1e-12, callback=lambda p: seen.append(p["objective"]) or len(seen) >= 3)
    model.fit(cloud())
    assert len(seen) == 3 and not model.converged_ and model.result_.stop == "cancelled"

    def fail(progress):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        cleave.SimplicialNMF(4, callback=fail).fit(cloud())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, LookupError])
@pytest.mark.parametrize("how", [dict(), dict(n_init=4, n_jobs=2)], ids=str)
def test_what_a_callback_raises_is_raised_by_fit(kind, how):
    seen = []

    def fail(progress):
        seen.append(threading.get_ident())
        if len(seen) == 3:
            raise kind("from the callback")

    model = cleave.SimplicialNMF(4, tol=1e-12, callback=fail, **how)
    with pytest.raises(kind, match="from the callback") as raised:
        model.fit(cloud())
    assert len(seen) == 3  # it is not called again
    if kind is KeyboardInterrupt:  # as Ctrl-C
        assert raised.value.result is model.result_ and len(model.predict(cloud())) == 400
    else:
        assert not hasattr(model, "labels_") and not hasattr(model, "n_features_in_")
    assert model.set_params(callback=None, tol=1e-2).fit(cloud()).converged_


@pytest.mark.parametrize("with_tqdm", [True, False], ids=["tqdm", "plain"])
def test_a_bar_shows_progress(with_tqdm, capsys, monkeypatch):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    seen = []
    cleave.SimplicialNMF(4, progress=True, callback=lambda p: seen.append(p) or len(seen) == 5).fit(cloud())
    shown = capsys.readouterr().err
    assert "SimplicialNMF" in shown and "objective" in shown and len(seen) == 5


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
@pytest.mark.parametrize("with_tqdm", [True, False], ids=["tqdm", "plain"])
def test_the_last_line_of_a_bar_is_the_result(with_tqdm, terminal, capsys, monkeypatch):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    seen = []
    model = cleave.KPalm(5, n_init=3, progress=True, callback=lambda p: seen.append(p) and None).fit(cloud())
    last = capsys.readouterr().err.rstrip("\n").split("\n")[-1].split("\r")[-1]
    assert f"objective {model.objective_:.6g}, certificate {model.certificate_.value:.2g}" in last, last
    assert f"{len(seen)} iterations" in last
    with pytest.raises(ValueError, match="n_clusters"):
        cleave.KPalm(999, progress=True).fit(cloud())
    assert "objective" not in capsys.readouterr().err


def test_the_global_lock_is_free_during_a_fit():
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(None)

    ticking = threading.Thread(target=tick)
    ticking.start()
    before = len(ticks)
    cleave.NormalizedCut(5, patience="none", time_limit=0.5).fit(cloud(800))
    during = len(ticks) - before
    over.set()
    ticking.join()
    assert during > 20


def test_threadpoolctl_limits_are_honored():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    x = cloud(100)
    with threadpoolctl.threadpool_limits(limits=1):
        assert cleave.KPalm(2).fit(x)._last_run.threads == 1
        assert cleave.KPalm(2, n_jobs=-1).fit(x)._last_run.threads == 1
    assert cleave.KPalm(2, n_jobs=3).fit(x)._last_run.threads == 3
    assert cleave.KPalm(2).fit(x)._last_run.threads == cleave._library.lib.clv_default_threads()


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


def test_one_model_predicts_in_many_threads():
    x = cloud(300)
    model = cleave.NormalizedCut(3).fit(x)
    expected, found = model.predict(x), []
    workers = [threading.Thread(target=lambda: found.extend(model.predict(x) for _ in range(5))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 20 and all((labels == expected).all() for labels in found)


def _labels(x):
    return cleave.NormalizedCut(3, n_jobs=2).fit(x).labels_


def test_threads_that_work_are_kept_and_their_data_are_not():
    workers = set()
    for _ in range(3):
        x = cloud(50)
        cleave.KPalm(2, callback=lambda progress: None).fit(x)
        workers.add(tuple(cleave._library._Worker.idle))
        held = weakref.ref(x)
        del x
        gc.collect()
        assert held() is None
    assert len(workers) == 1 and len(workers.pop()) == 1


@pytest.mark.parametrize("how", [dict(), dict(n_init=4, n_jobs=2)], ids=str)
def test_a_callback_is_called_where_fit_is(how):
    threads = set()
    model = cleave.SimplicialNMF(4, callback=lambda progress: threads.add(threading.current_thread()), **how)
    model.fit(cloud())
    assert threads == {threading.main_thread()}
    threads.clear()
    other = threading.Thread(target=model.fit, args=(cloud(),))
    other.start()
    other.join()
    assert threads and threading.main_thread() not in threads


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_handler_may_fit():
    found = []
    former = signal.signal(signal.SIGALRM, lambda *_: found.append(cleave.KPalm(2).fit(cloud(50)).labels_))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        cleave.NormalizedCut(5, patience="none", time_limit=0.5).fit(cloud(800))
    finally:
        signal.signal(signal.SIGALRM, former)
    assert len(found) == 1 and len(found[0]) == 50


def test_fork_after_a_run():
    x = cloud(1500)
    here = _labels(x)  # the threads of OpenMP are there now
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for there in pool.map_async(_labels, [x, x]).get(timeout=60):
            np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    joblib = pytest.importorskip("joblib")
    x = cloud(500)
    here = _labels(x)
    for there in joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_labels)(x) for _ in range(3)):
        np.testing.assert_array_equal(here, there)


INTERRUPTED = """
import signal
import numpy as np, cleave
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have been told to ignore it
x = np.random.default_rng(0).normal(size=(800, 5))
first = []
def callback(progress):
    if not first:
        first.append(True)
        print("ready", flush=True)
model = cleave.NormalizedCut(5, patience="none", callback=callback)
try:
    model.fit(x)
except KeyboardInterrupt as pressed:
    assert pressed.result is model.result_ and model.certificate_.name and not model.converged_
    print("stopped", len(model.labels_), model.result_.stop, len(model.predict(x)), flush=True)
"""

BUILDING = """
import signal, threading
import numpy as np, cleave
from cleave import _library
signal.signal(signal.SIGINT, signal.default_int_handler)
model = cleave.DominantSets(affinity="minimax")
x = np.random.default_rng(0).normal(size=(60000, 50))
print("ready", flush=True)
try:
    model.fit(x)
    print("finished")
except KeyboardInterrupt as pressed:
    print("stopped", hasattr(pressed, "result"), flush=True)
"""


# Signals that do not end a wait, as other packages ask for.
RESTARTING = INTERRUPTED.replace("x = np", "import ctypes; ctypes.CDLL(None).siginterrupt(signal.SIGINT, 0)\nx = np", 1)


def interrupted(program, after):
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "ready\n"
            time.sleep(after)
            run.send_signal(signal.SIGINT)
            run.wait(timeout=60)
            return run.stdout.read()
        finally:
            run.kill()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("program", [INTERRUPTED, RESTARTING], ids=["plain", "restarting"])
def test_ctrl_c_leaves_the_best_so_far(program):
    assert interrupted(program, 0.2) == "stopped 800 cancelled 800\n"


# A callback that never returns by itself.
BUSY = INTERRUPTED.replace("    if not first:", "    if first:\n        WAIT\n    else:").replace("signal\n", "queue, signal, threading, time\n", 1)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("wait", ["time.sleep(1000)", "threading.Event().wait()", "queue.Queue().get()", "input()",
                                  "while True: pass"])
def test_ctrl_c_ends_a_callback_that_is_busy(wait):
    assert interrupted(BUSY.replace("WAIT", wait), 0.3) == "stopped 800 cancelled 800\n"


LOCKED = """
import time
import numpy as np, cleave, tqdm
tqdm.tqdm.get_lock().acquire()  # as an interrupt may leave it
slow = lambda progress: time.sleep(0.2)  # so that the bar is drawn more than once
cleave.KPalm(4, max_iter=3, progress=True, callback=slow).fit(np.random.default_rng(0).normal(size=(100, 2)))
"""


def test_a_bar_does_not_wait_for_a_lock_that_an_interrupt_left():
    pytest.importorskip("tqdm")
    subprocess.run([sys.executable, "-c", LOCKED], check=True, timeout=60, capture_output=True)


READING = """
import signal, threading
import numpy as np, cleave
signal.signal(signal.SIGINT, signal.default_int_handler)
words = [f"word{i}" for i in range(100000)]
draws = np.random.default_rng(0).integers(100000, size=(8, 400000))
documents = [" ".join(words[i] for i in row) for row in draws]
own, features = [], cleave.TextFeatures(2, ngram_range=(1, 3), n_jobs=1)
def given():
    for number in range(1000):
        own.append(threading.get_ident())
        yield documents[number % 8]
print("ready", flush=True)
try:
    features.fit(given())
    print("finished")
except KeyboardInterrupt as pressed:
    print("stopped", set(own) == {threading.get_ident()}, len(own) < 1000, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_while_documents_are_counted():
    assert interrupted(READING, 1.0) == "stopped True True\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_before_there_is_anything():
    assert interrupted(BUILDING, 0.5) == "stopped False\n"


def test_failures_are_exceptions():
    with pytest.raises(ValueError, match="solver = 'nonsense' is not allowed: it must be fpc"):
        cleave.NormalizedCut(3, solver="nonsense").fit(cloud())
    with pytest.raises(ValueError, match="NaN"):
        cleave.KPalm(2).fit(np.array([[0.0], [np.nan], [1.0]]))
    with pytest.raises(FileNotFoundError):
        cleave.verify("no-such-file.json", cloud())
    with pytest.raises(MemoryError):
        cleave.NormalizedCut(3, memory=1000).fit(cloud(3000))
    for use in (lambda path: cleave.verify(path, cloud()), cleave.pictures.read, cleave.tfidf, cleave.KPalm(2).fit(cloud()).result_.save,
                lambda path: cleave.KPalm(2, init=path).fit(cloud())):
        with pytest.raises(ValueError, match="embedded null"):
            use("a\0b")


def test_verify_speaks_of_its_arguments():
    x, y = cloud(40), np.arange(40) % 2
    plain, weighted = cleave.KPalm(2).fit(x), cleave.KPalm(2).fit(x, sample_weight=y + 1.0)
    linear = cleave.KSupportClassifier(1).fit(x, y)
    for result, given, why in ((plain, dict(sample_weight=y + 1.0), "without sample weights: leave sample_weight out"),
                               (weighted, {}, "with sample weights: give them as sample_weight"), (linear, {}, "ksupport, give X and y, and no sample_weight"),
                               (plain, dict(y=y), "kpalm, give X, and no y or sample_weight")):
        with pytest.raises(ValueError, match=why):
            cleave.verify(result, x, **given)


MODELS = [(cleave.NormalizedCut, dict(n_clusters=4)), (cleave.KPalm, dict(n_clusters=5, n_init=3)),
          (cleave.SimplicialNMF, dict(n_clusters=4)), (cleave.DominantSets, {})]


@pytest.mark.parametrize("kind, given", MODELS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_fit_that_was_ended_goes_on(kind, given, tmp_path):
    kept, x, seen = tmp_path / "fit.ckpt", cloud(), []
    whole = kind(random_state=1, **given).fit(x)
    kind(random_state=1, checkpoint=kept, checkpoint_every=0, callback=lambda p: seen.append(p) or len(seen) >= 3, **given).fit(x)
    again = kind(random_state=1, resume=kept, **given).fit(x)
    assert np.array_equal(whole.labels_, again.labels_)
    assert (whole.objective_, whole.n_iter_, whole.certificate_.value) == (again.objective_, again.n_iter_, again.certificate_.value)
    assert len(whole.trace_) == len(again.trace_)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    kept, x = tmp_path / "fit.ckpt", cloud()
    cleave.KPalm(3, random_state=1, checkpoint=kept).fit(x)
    with pytest.raises(ValueError, match="made with n_clusters=3, and this run has n_clusters=4"):
        cleave.KPalm(4, random_state=1, resume=kept).fit(x)
    with pytest.raises(ValueError, match="other data"):
        cleave.KPalm(3, random_state=1, resume=kept).fit(x + 1)
    with pytest.raises(FileNotFoundError):
        cleave.KPalm(3, resume=tmp_path / "nowhere").fit(x)
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(ValueError, match="fit.ckpt: the checkpoint is damaged"):
        cleave.KPalm(3, random_state=1, resume=kept).fit(x)
