"""Whatever a caller hands over: a result, or an exception with a sentence; never the end of the process.

    python test_hostile.py SEED COUNT

tries COUNT calls, drawn by the seed; pytest runs some hundreds, in processes of their own, which it outlives.
"""
import gzip
import pathlib
import pickle
import random
import re
import struct
import subprocess
import sys
import tempfile
import traceback
import warnings
import zlib

import numpy as np
import pytest
import scipy.sparse

import cleave
from cleave import _library, _parameters

ESTIMATORS = [getattr(cleave, name) for name in _parameters.ESTIMATORS]
SENTENCES = (ValueError, TypeError, MemoryError, OSError, OverflowError, AttributeError)
JUNK = [None, True, False, 0, 1, 2, 3, -1, 7, 10**6, 2**31, 2**63, -(2**70), 0.5, -0.0, 1e-300, 1e308, float("nan"), float("inf"), -float("inf"),
        "", "auto", "all", "none", "gaussian", "precomputed", "no such thing", "\0", "\ud800", "x" * 5000, b"bytes", (2, 4), (4, 2), (), [], [1, "a"],
        {}, {"a": 1}, range(3), object(), print, np.float32(2), np.int64(-5), np.array(3), np.zeros((2, 2)), np.array([None]), 1 + 2j, ...,
        NotImplemented, pathlib.Path("nowhere")]
TEXTS = cleave.tfidf(["red apples", "green cars"])


def numbers(draw, n, p):
    """Of all scales, some of them equal, now and then one that is none."""
    x = np.random.default_rng(draw.randrange(1 << 30)).normal(size=(n, p)).round(draw.choice([0, 1, 8]))
    if draw.random() < 0.2:
        x *= draw.choice([0.0, 1e-300, 1e-8, 1e8, 1e150, 1e308])
    if draw.random() < 0.1 and x.size:
        x.flat[draw.randrange(x.size)] = draw.choice([np.nan, np.inf, -np.inf])
    return x


def array(draw, n, p):
    """An array in some type, order and form; or no array at all."""
    if draw.random() < 0.05:
        return draw.choice(JUNK)
    x = numbers(draw, n, p)
    with np.errstate(all="ignore"):
        kind = draw.choice(["f8", "f8", "f8", "f8", "f4", ">f8", "f2", "g", "i1", "i8", "u2", "?", "c16", "O", "S8", "U8", "M8[s]", "V8"])
        x = np.zeros(x.shape, dtype=kind) if kind in ("M8[s]", "V8") else x.astype(kind)
    form = draw.choice(["as is"] * 6 + ["fortran", "strided", "reversed", "broadcast", "readonly", "unaligned", "flat", "cube", "scalar", "list",
                                        "ragged", "masked", "matrix", "csr", "csc", "coo", "damaged", "frame", "dict", "iterator"])
    if form in ("csr", "csc", "coo", "damaged") and kind not in ("f8", "f4", "i8", "?"):
        form = "as is"
    if form == "fortran":
        return np.asfortranarray(x)
    if form == "strided":
        return np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3]
    if form == "reversed":
        return x[::-1, ::-1]
    if form == "broadcast":
        return np.broadcast_to(x[:1], x.shape)
    if form == "readonly":
        x.flags.writeable = False
    if form == "unaligned" and kind == "f8":
        odd = np.zeros(x.nbytes + 1, dtype=np.uint8)[1:].view("f8").reshape(x.shape)
        odd[...] = x
        return odd
    if form == "ragged":
        return [list(row[:draw.randrange(1 + len(row))]) for row in x]
    if form == "damaged":
        return damage(draw, scipy.sparse.csr_matrix(x.astype("f8")))
    forms = {"flat": lambda: x.ravel(), "cube": lambda: x[np.newaxis], "scalar": lambda: x.sum() if kind == "f8" else 3.0, "list": x.tolist,
             "masked": lambda: np.ma.masked_array(x), "matrix": lambda: np.matrix(x), "csr": lambda: scipy.sparse.csr_matrix(x),
             "csc": lambda: scipy.sparse.csc_array(x), "coo": lambda: scipy.sparse.coo_matrix(x), "dict": lambda: {"x": x}, "iterator": lambda: iter(x)}
    if form == "frame":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame(x) if x.dtype.isnative and kind not in ("V8", "f2", "g") else x
    return forms.get(form, lambda: x)()


def damage(draw, x):
    """A sparse matrix whose arrays do not fit together."""
    name = draw.choice(["indptr", "indices", "data"])
    old = getattr(x, name)
    at = draw.randrange(max(len(old), 1))
    new = draw.choice([lambda: old[:at], lambda: np.append(old, old), lambda: np.full_like(old, 2**30), lambda: -old - 1])()
    setattr(x, name, new)
    return x


def parameters(draw, kind):
    """Small work, and some parameters that are junk, or of another parameter."""
    names = list(kind().get_params())
    found = {"max_iter": 5, "time_limit": 2, **({"n_clusters": 2} if "n_clusters" in names else {})}
    found.update({name: draw.choice(JUNK) for name in draw.sample(names, draw.choice([0, 0, 1, 1, 2, 3])) if name != "progress"})
    return {name: value for name, value in found.items() if name in names}


def targets(draw, n):
    return draw.choice([lambda: np.arange(n) % 2, lambda: np.arange(n) % 3, lambda: array(draw, n, 1), lambda: numbers(draw, n + 1, 1).tolist(),
                        lambda: ["a", "b"] * n, lambda: None, lambda: draw.choice(JUNK)])()


def ask(draw, model, x):
    """Something of a model, fitted or not."""
    name = draw.choice([name for name in dir(model) if not name.startswith(("_", "get_", "set_")) and name != "result_"])
    found = getattr(model, name)
    return found(*[x, targets(draw, 5)][:draw.choice([1, 1, 2])]) if callable(found) else found


def tamper(draw, state, depth=0):
    """One entry of what a pickle holds becomes another."""
    if not isinstance(state, dict) or not state:
        return draw.choice(JUNK)
    name = draw.choice(sorted(state, key=str))
    old = state[name]
    if isinstance(old, dict) and old and depth < 3:
        return {**state, name: tamper(draw, old, depth + 1)}
    if isinstance(old, cleave.Result):
        new = cleave.Result.__new__(cleave.Result)
        new.__dict__.update(tamper(draw, dict(old.__getstate__()), depth + 1))
        return {**state, name: new}
    if isinstance(old, np.ndarray) and draw.random() < 0.8:
        new = draw.choice([lambda: old[:len(old) // 2], lambda: old.astype("f8"), lambda: old.astype("i8"), lambda: old + 10**6, lambda: -old - 5,
                           lambda: old[np.newaxis], lambda: np.append(old, old), lambda: old * np.nan, lambda: old[..., :0], lambda: old[::-1]])()
        return {**state, name: new}
    return {**state, name: draw.choice(JUNK)}


def pickled(draw, model, x):
    """A pickle that was cut off, or one whose content is not what it was; then asked to predict. Pickles are as trusted as
    programs are: whatever exception comes of one is fine. (Single bytes are not changed: NumPy crashes by some.)"""
    data = pickle.dumps(model)
    try:
        if draw.random() < 0.1:
            model = pickle.loads(data[:draw.randrange(len(data))])
        else:
            state = tamper(draw, model.__getstate__())
            model = type(model)()
            model.__setstate__(state)
    except Exception:
        return
    for name in ("predict", "transform", "score", "labels_", "cluster_centers_", "coef_", "__str__"):
        try:
            found = getattr(model, name)
            found = found(x) if callable(found) else found
        except Exception:
            pass


def functions(draw, n, p):
    """What is no estimator."""
    x, y = array(draw, n, p), targets(draw, n)
    calls = [lambda: cleave.affinity(x, draw.choice(["gaussian", "knn", "cosine", "distance", "minimax", *JUNK]), gamma=draw.choice(JUNK)),
             lambda: cleave.affinity(x, **{draw.choice(["neighbors", "landmarks", "home", "memory", "threads", "junk"]): draw.choice(JUNK)}),
             lambda: cleave.silhouette(x, y), lambda: cleave.compare(y, targets(draw, n)), lambda: cleave.verify(draw.choice(JUNK), x, y),
             lambda: cleave.segment(x, draw.choice(JUNK)), lambda: cleave.tfidf(draw.choice([["a b", "b c"], x, y, draw.choice(JUNK)])),
             lambda: cleave.reduce(x, draw.choice(JUNK)), lambda: cleave.ksupport_path(x, y, draw.choice([[2], draw.choice(JUNK)]), draw.choice([[1.0], draw.choice(JUNK)])),
             lambda: cleave.cluster_terms(draw.choice([TEXTS, TEXTS, x]), draw.choice([[0, 1], [1, -1], y]), draw.choice(JUNK)),
             lambda: cleave.pictures.Picture(x)]
    return draw.choice(calls)()


def attempt(draw):
    """One call, or a few on one model."""
    n, p = draw.choice([0, 1, 2, 3, 12, 30, 30, 30]), draw.choice([0, 1, 2, 3, 5])
    if draw.random() < 0.2:
        return functions(draw, n, p)
    kind = draw.choice(ESTIMATORS)
    wild = draw.random() < 0.7
    model = kind(**(parameters(draw, kind) if wild else {"max_iter": 5}))
    if draw.random() < 0.1:
        model.set_params(**{draw.choice(["no_such", "tol", "result_", "max_iter__x", ""]): draw.choice(JUNK)})
    if not wild:
        n, p = 30, 3
    x = array(draw, n, p) if wild else numbers(random.Random(3), n, p)
    if kind is cleave.Consensus and not wild:
        x = np.abs(x).astype(int) % 3
    model.fit(x, targets(draw, n) if wild else np.arange(n) % 2)
    if draw.random() < 0.6:
        return pickled(draw, model, x)
    return ask(draw, model, array(draw, draw.choice([0, 1, 5]), draw.choice([p, p, p + 1])))


def is_meant(failure):
    """Whether it is no accident of our own code: raised there by a statement, or by what that calls."""
    last = traceback.extract_tb(failure.__traceback__)[-1]
    return pathlib.Path(last.filename).parent.name != "cleave" or re.search(r"^raise|\bnp\.|\bopen\(|\bfsencode\(", last.line)


def run(seed, count):
    """Every call that ends in another way than it may."""
    wrong = []
    for number in range(seed, seed + count):
        print(number, file=sys.stderr, flush=True)  # the last one, if it is the end
        try:
            attempt(random.Random(number))
        except Exception as failure:
            if not isinstance(failure, SENTENCES) or not is_meant(failure):
                wrong.append(f"{number}: {''.join(traceback.format_exception(failure)[-3:])}")
            elif not str(failure).strip() and not isinstance(failure, MemoryError):
                wrong.append(f"{number}: {type(failure).__name__} without a sentence")
    return wrong


@pytest.mark.parametrize("seed", [0, 1000, 2000])
def test_no_call_ends_the_process(seed):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-X", "faulthandler", __file__, str(seed), "150"], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_labels_of_a_pickle_may_be_of_any_type():
    x = numbers(random.Random(1), 50, 2)
    model = pickle.loads(pickle.dumps(cleave.KPalm(2).fit(x)))
    expected = model.predict(x)
    for labels in (np.zeros(10**6, dtype=np.longdouble), np.zeros((3, 3), dtype=np.int64), np.zeros(0)):
        again = pickle.loads(pickle.dumps(model))
        again.result_.labels = labels
        np.testing.assert_array_equal(again.predict(x), expected)


def write_black(path, side):
    """A gray picture of one color, as a PNG of a thousandth of its size."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(side * (side + 1)))) + chunk(b"IEND", b""))


def test_a_file_that_unpacks_to_more_than_the_machine_has_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_library, "_MACHINE", 32 << 20)  # what would be too much for a real one would take minutes
    packed = {"bomb.jsonl.gz": b'{"text": "%s"}\n' % (b"red " * (16 << 20)), "bomb.json.gz": b" " * (64 << 20) + b"{}\n"}
    for name, content in packed.items():
        (tmp_path / name).write_bytes(gzip.compress(content, 1))
    write_black(tmp_path / "bomb.png", 8000)
    for read in (lambda: cleave.pictures.read(tmp_path / "bomb.png"), lambda: cleave.segment(tmp_path / "bomb.png"),
                 lambda: cleave.tfidf(tmp_path / "bomb.jsonl.gz"), lambda: cleave.verify(tmp_path / "bomb.json.gz", np.eye(3))):
        with pytest.raises(MemoryError, match="budget|memory"):
            read()
    write_black(tmp_path / "small.png", 300)
    assert cleave.pictures.read(tmp_path / "small.png").shape == (300, 300)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    faults = run(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
