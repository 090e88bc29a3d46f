"""What goes in: arrays of all kinds, without copies where that can be; frames, files, what is refused."""
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import cleave
from cleave._library import ffi, lib
from cleave._matrix import as_view


def cloud(n=400, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_views_share_memory(dtype):
    x = cloud().astype(dtype)
    assert np.shares_memory(as_view(x).kept[0], x)
    csr = scipy.sparse.random(50, 20, 0.2, format="csr", random_state=0)
    assert np.shares_memory(as_view(csr).kept[0], csr.data) and np.shares_memory(as_view(csr).kept[2], csr.indices)


def held(model):
    """The most that the library held in the run of a model, in bytes."""
    now, peak = ffi.new("size_t *"), ffi.new("size_t *")
    lib.clv_context_memory(model._last_run.ctx.pointer, now, peak)
    return peak[0]


@pytest.mark.parametrize("make", [np.ascontiguousarray, lambda x: x.astype(np.float32), scipy.sparse.csr_matrix],
                         ids=["float64", "float32", "csr"])
@pytest.mark.parametrize("model", [cleave.KPalm(2, max_iter=2), cleave.KSupportRegressor(k=5, max_iter=2)],
                         ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_a_fit_does_not_copy_its_data(make, model):
    x = make(cloud(1000, 1000))
    size = x.data.nbytes
    tracemalloc.start()  # NumPy reports its arrays there
    try:
        model.fit(x, np.arange(1000.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 4, f"Python allocated {peak} bytes for {size}"
    if isinstance(model, cleave.KPalm):  # the linear models copy the features that they work on
        assert held(model) < size / 2, f"the library allocated {held(model)} bytes for {size}"


RESIDENT = """
import resource, sys
import numpy as np, cleave
x = np.empty((12500, 1000))
np.random.default_rng(0).random(out=x)
cleave.KPalm(2, max_iter=1, polish=False).fit(x[:100])  # what is loaded at the first call
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cleave.KPalm(2, max_iter=1, polish=False).fit(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / x.nbytes)
"""


def test_a_process_does_not_grow_by_its_data():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", RESIDENT], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.3


def test_other_layouts_are_accepted():
    x = cloud(60)
    labels = cleave.KPalm(3).fit(x).labels_
    for other in (np.asfortranarray(x), x[:, ::-1][:, ::-1], x.tolist(), scipy.sparse.csr_matrix(x),
                  scipy.sparse.csc_matrix(x), x.astype(">f8")):
        np.testing.assert_array_equal(cleave.KPalm(3).fit(other).labels_, labels)
    whole = (10 * x).astype(int)
    for kind in (np.int64, np.int32, np.int8, np.float32):
        np.testing.assert_array_equal(cleave.KPalm(2).fit(whole.astype(kind)).labels_, cleave.KPalm(2).fit(whole).labels_)
    single = cleave.KPalm(3).fit(x.astype(np.float32))
    np.testing.assert_array_equal(single.labels_, labels)


@pytest.mark.parametrize("wrong, words", [(np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")])
@pytest.mark.parametrize("kind", [cleave.KPalm, cleave.NormalizedCut, cleave.MatrixPursuit])
def test_what_is_not_finite_is_refused_as_scikit_learn_does(kind, wrong, words):
    x = cloud(20)
    x[3, 1] = wrong
    with pytest.raises(ValueError, match=words):
        kind().fit(x)
    with pytest.raises(ValueError, match=words):
        kind().fit(scipy.sparse.csr_matrix(x))


def test_frames_have_names():
    pandas = pytest.importorskip("pandas")
    x = cloud(60, 3)
    plain = cleave.KPalm(3).fit(x)
    model = cleave.KPalm(3).fit(pandas.DataFrame(x, columns=["a", "b", "c"]))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(x)
    assert not hasattr(model.fit(x), "feature_names_in_")


def test_sparse_frames_are_sparse_matrices():
    pandas = pytest.importorskip("pandas")
    matrix = scipy.sparse.random(60, 6, 0.4, format="csr", random_state=0)
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix)
    model = cleave.KPalm(3).fit(frame)
    assert all(cleave.verify(model, given).accepted for given in (frame, matrix))
    assert not cleave.verify(model, frame * 2).accepted
    np.testing.assert_array_equal(cleave.affinity(frame), cleave.affinity(matrix))


def test_one_weight_is_that_of_all_objects():
    x = cloud(60)
    model = cleave.KPalm(3).fit(x, sample_weight=2)
    assert all(cleave.verify(model, x, sample_weight=given).accepted for given in (2, 2.0, np.full(60, 2)))
    assert not cleave.verify(model, x, sample_weight=3).accepted
    with pytest.raises(ValueError, match="weights"):
        cleave.verify(cleave.KPalm(3).fit(x), x, sample_weight=np.ones(5))


def test_polars_frames_have_names():
    polars = pytest.importorskip("polars")
    x = cloud(60, 3)
    model = cleave.KPalm(3).fit(polars.DataFrame(x, schema=["a", "b", "c"]))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.labels_, cleave.KPalm(3).fit(x).labels_)


def test_a_large_mapped_file_goes_through_mapped(tmp_path):
    x = cloud(40000)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = cleave.KPalm(3).fit(mapped)
    assert np.shares_memory(model._last_run.views["points"].kept[0], mapped)
    np.testing.assert_array_equal(model.labels_, cleave.KPalm(3).fit(x).labels_)


def change(x):
    (x.data if scipy.sparse.issparse(x) else x)[:1] += 5


@pytest.mark.parametrize("make", [np.ascontiguousarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", [cleave.NormalizedCut, cleave.DominantSets, cleave.SimplicialNMF])
def test_who_changes_x_after_the_fit_does_not_change_the_model(kind, make, monkeypatch):
    given = make(np.abs(cloud(60)))
    model = kind(2, max_iter=200).fit(given)
    expected = model.predict(make(np.abs(cloud(60))))
    change(given)
    np.testing.assert_array_equal(model.predict(make(np.abs(cloud(60)))), expected)  # it was small, and copied
    monkeypatch.setattr(cleave._estimators, "_SMALL", 0)
    given = make(np.abs(cloud(60)))
    model = kind(2, max_iter=200).fit(given)
    assert np.shares_memory(model._last_run.views["points"].kept[0], given.data if make is scipy.sparse.csr_matrix else given)
    np.testing.assert_array_equal(model.predict(make(np.abs(cloud(60)))), expected)
    change(given)
    for use in (lambda: model.predict(make(np.abs(cloud(60)))), lambda: pickle.dumps(model), model.result_.to_json):
        with pytest.raises(ValueError, match="X was changed after fit, and this needs it as it was"):
            use()


def read_only(x):
    view = x.view()
    view.flags.writeable = False
    return view


def mapped(x, folder):
    np.save(folder / "x.npy", x)
    return np.load(folder / "x.npy", mmap_mode="r+"), np.load(folder / "x.npy", mmap_mode="r")


def sparse_views(x):
    csr = scipy.sparse.csr_matrix(x)
    return csr.data, scipy.sparse.csr_matrix((read_only(csr.data), read_only(csr.indices), csr.indptr), shape=csr.shape)


def frame(x, **how):
    return pytest.importorskip("pandas").DataFrame(x, **how)


# What is written to, and what fit is given of it, which may not be written to.
SHARED = {"view": lambda x, folder: (x, read_only(x)), "file": mapped, "sparse": lambda x, folder: sparse_views(x),
          "column": lambda x, folder: ((column := frame(x[:, :1], copy=True)).iloc, column),
          "frame": lambda x, folder: (x, frame(x, copy=False)), "own frame": lambda x, folder: ((own := frame(x, copy=True)).iloc, own)}


@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
@pytest.mark.parametrize("share", SHARED)
def test_memory_that_others_write_to_does_not_change_the_model(share, small, tmp_path, monkeypatch):
    if not small:
        monkeypatch.setattr(cleave._estimators, "_SMALL", 0)
    points = np.vstack([cloud(60), cloud(60) + 6])
    written, given = SHARED[share](points.copy(), tmp_path)
    model = cleave.NormalizedCut(2, affinity="gaussian").fit(given)
    points = given.copy()
    model.result_.to_json(), model.result_._repr_html_()
    written[:] = np.asarray(written[:])[::-1]
    try:
        pickled = pickle.dumps(model)
    except ValueError as refused:
        assert not small and "X was changed after fit, and this needs it as it was" in str(refused)
        with pytest.raises(ValueError, match="X was changed after fit"):
            model.predict(points)
    else:
        np.testing.assert_array_equal(model.predict(points), model.labels_)
        np.testing.assert_array_equal(pickle.loads(pickled).predict(points), model.labels_)


def test_a_large_sparse_matrix_may_be_of_floats_or_moved(monkeypatch):
    monkeypatch.setattr(cleave._estimators, "_SMALL", 0)
    for change in (lambda x: x.data.__imul__(3), lambda x: x.indptr.__setitem__(1, 0)):
        for kind in (np.float32, np.float64):
            given = scipy.sparse.csr_matrix(np.vstack([cloud(60), cloud(60) + 6]).astype(kind))
            points = given.copy()
            model = cleave.NormalizedCut(2, affinity="gaussian").fit(given)
            change(given)
            try:
                pickled = pickle.dumps(model)
            except ValueError as refused:
                assert "X was changed after fit" in str(refused)
            else:
                np.testing.assert_array_equal(pickle.loads(pickled).predict(points), model.labels_)


def test_a_linear_model_saves_the_data_of_its_fit(monkeypatch, tmp_path):
    x = cloud(60)
    model = cleave.KSupportRegressor(2).fit(given := x.copy(), x[:, 0])
    given += 1
    model.result_.save(tmp_path / "r.json")
    assert cleave.verify(tmp_path / "r.json", x, x[:, 0]).accepted
    monkeypatch.setattr(cleave._estimators, "_SMALL", 0)
    model = cleave.KSupportRegressor(2).fit(given := x.copy(), x[:, 0])
    given += 1
    with pytest.raises(ValueError, match="X was changed after fit"):
        model.result_.save(tmp_path / "r.json")


def test_a_result_of_kpalm_is_of_the_points_that_were_there(monkeypatch, tmp_path):
    given = cloud(60)
    model = cleave.KPalm(2).fit(given)
    change(given)
    model.result_.save(tmp_path / "r.json")
    assert cleave.verify(tmp_path / "r.json", cloud(60)).accepted
    monkeypatch.setattr(cleave._estimators, "_SMALL", 0)
    model = cleave.KPalm(2).fit(given := cloud(60))
    expected = model.predict(cloud(60))
    change(given)
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):  # new objects are compared with centers
        np.testing.assert_array_equal(one.predict(cloud(60)), expected)
        with pytest.raises(ValueError, match="X was changed after fit"):
            one.result_.save(tmp_path / "r.json")


def test_functions():
    x = cloud(50)
    dense = cleave.affinity(x, gamma=0.5)
    d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.testing.assert_allclose(dense, np.exp(-0.5 * d2), rtol=1e-13)
    graph = cleave.affinity(x, "knn", neighbors=5)
    assert scipy.sparse.issparse(graph) and abs(graph - graph.T).nnz == 0
    assert cleave.compare([0, 0, 1, 1], [1, 1, 0, 0])["ari"] == 1
    assert -1 <= cleave.silhouette(x, np.arange(50) % 3) <= 1


def damaged(make):
    """A matrix with one array that does not fit the others, in every way."""
    whole = make(cloud(6))
    for name, edit in (("indices", lambda a: a + 5), ("indices", lambda a: a - 9), ("indptr", lambda a: a[::-1]),
                       ("indptr", lambda a: a + (np.arange(len(a)) == 2) * 99), ("indptr", lambda a: a * 2),
                       ("data", lambda a: a[:7]), ("indices", lambda a: a[:7]), ("indptr", lambda a: a[:-1])):
        other = whole.copy()
        setattr(other, name, edit(getattr(other, name)))
        yield other


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_damaged_sparse_matrices_are_refused(make):
    y = np.arange(6) % 2
    model = cleave.KPalm(2).fit(make(cloud(6)))
    for x in damaged(make):
        for use in (model.predict, cleave.KPalm(2).fit, cleave.affinity, lambda x: cleave.KSupportClassifier().fit(x, y),
                    lambda x: cleave.KSupportRegressor().fit(x, y + 0.5), lambda x: cleave.silhouette(x, y), cleave.reduce):
            with pytest.raises(ValueError, match="the sparse matrix is damaged: its ind"):
                use(x)
