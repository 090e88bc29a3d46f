"""The conventions of scikit-learn that its own checks do not look at, and what cleave adds to them."""
import copy
import inspect
import json
import os
import pathlib
import pickle
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import cleave
from cleave import _estimators, _parameters
from cleave._options import METHODS, method_options

ESTIMATORS = [getattr(cleave, name) for name in _parameters.ESTIMATORS]
CLUSTERERS = [cleave.DominantSets, cleave.KPalm, cleave.NormalizedCut, cleave.SimplicialNMF]
each = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)


def fitted(kind, **parameters):
    """A model of small data, its points and its targets."""
    x, y = load_wine(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    if "n_clusters" in kind().get_params() and kind is not cleave.DominantSets:
        parameters.setdefault("n_clusters", 3)
    if kind is cleave.Consensus:  # columns of labels
        x = np.apply_along_axis(lambda column: np.unique(column, return_inverse=True)[1], 0, x)
    y = x[:, 0] if kind is cleave.KSupportRegressor else y
    x = x[:, 1:] if kind is cleave.KSupportRegressor else x
    return kind(**parameters).fit(x, y), x, y


def attributes(model):
    """All that a model found, by name: some of it is made when it is asked for."""
    declared = {name for base in type(model).__mro__ for name in getattr(base, "__annotations__", {}) if name.endswith("_")}
    return {name: getattr(model, name) for name in sorted(declared) if name != "result_" and hasattr(model, name)}


@each
def test_a_fitted_model_says_what_it_found_and_proves(kind, tmp_path):
    model, x, y = fitted(kind)
    proof = model.certificate_
    assert proof.holds and proof.value <= proof.tolerance and proof.sentence.startswith("Proved") and proof.name
    assert isinstance(model.converged_, bool) and isinstance(model.objective_, float)
    assert model.n_iter_ >= 1 and model.n_features_in_ == x.shape[1]
    assert {"restart", "iteration", "seconds", "objective", "certificate"} <= set(model.trace_.dtype.names)
    assert len(model.trace_) > 0
    assert (model.bound_ is not None) == (kind in (cleave.NormalizedCut, cleave.Consensus))
    declared = {name for base in kind.__mro__ for name in getattr(base, "__annotations__", {})}
    assert {name for name in vars(model) if name.endswith("_")} <= declared
    targets = y if kind._method == "ksupport" else None
    path = tmp_path / "result.json"
    model.result_.save(path)
    assert json.loads(path.read_text()) == model.result_.to_dict()
    assert cleave.verify(path, x, targets).accepted and cleave.verify(model.result_, x, targets).accepted
    false = model.result_.to_dict()
    false["objective"]["value"] *= 1.01
    path.write_text(json.dumps(false))
    verdict = cleave.verify(path, x, targets)
    assert not verdict.accepted and "objective" in verdict.reason


COMMAND = pathlib.Path(__file__).parents[2] / "build" / "cleave"


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
@each
def test_the_command_verifies_what_python_saved_and_writes_the_same(kind, tmp_path):
    model, x, y = fitted(kind, random_state=5)
    model.result_.save(tmp_path / "python.json")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.asarray(y, dtype=float))
    data = [str(tmp_path / "x.npy")] + ([str(tmp_path / "y.npy")] if kind._method == "ksupport" else [])
    if kind is cleave.Consensus:  # a file of labels for each column
        data = [str(tmp_path / f"{j}.npy") for j in range(x.shape[1])]
        for path, column in zip(data, np.transpose(x)):
            np.save(path, np.unique(column, return_inverse=True)[1].astype(np.int32))
    run = subprocess.run([COMMAND, "verify", tmp_path / "python.json", *data], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    said = model.result_.to_dict()
    options = []
    for name, value in said["options"].items():
        if name in {"k", "seed", "loss", "max-iter"}:
            options += [f"--{name}" if name != "k" else "-k", str(value)]
    if said["options"].get("intercept"):
        options.append("--intercept")
    subprocess.run([COMMAND, kind._method, *data, *options, "--json", tmp_path / "command.json"], check=True,
                   capture_output=True)
    written = json.loads((tmp_path / "command.json").read_text())
    assert set(written) == set(said) and set(written["options"]) >= set(said["options"])
    assert written.get("data") == said.get("data")
    assert 0 < said["seconds"]["solve"] <= said["seconds"]["total"]
    assert written["objective"] == said["objective"] and written["certificate"] == said["certificate"]


def test_names_of_classes_verify_too():
    x, y = load_breast_cancer(return_X_y=True)
    x, y = x / x.max(axis=0), np.array(["bad", "good"])[y]
    model = cleave.KSupportClassifier().fit(x, y)
    assert list(model.classes_) == ["bad", "good"] and set(model.predict(x)) == {"bad", "good"}
    assert cleave.verify(model.result_, x, y).accepted
    np.testing.assert_allclose(np.exp(model.predict_log_proba(x)), model.predict_proba(x))
    far = 1e6 * np.sign(model.coef_)
    assert np.isfinite(model.predict_log_proba(np.vstack([far, -far]))).all()


def test_a_bound_is_a_bound_and_memberships_add_up():
    cut, _, _ = fitted(cleave.NormalizedCut)
    assert 0 < cut.bound_.value <= cut.objective_ and cut.bound_.name == "eigenvalue"
    soft, x, _ = fitted(cleave.SimplicialNMF)
    assert soft.membership_.shape == (len(x), 3)
    np.testing.assert_allclose(soft.membership_.sum(axis=1), 1)
    np.testing.assert_array_equal(soft.membership_.argmax(axis=1), soft.labels_)
    sets, x, _ = fitted(cleave.DominantSets)
    assert sets.membership_.shape == (len(x), sets.labels_.max() + 1)


@each
def test_results_own_their_memory(kind):
    model, x, _ = fitted(kind)
    for name, value in attributes(model).items():
        if isinstance(value, np.ndarray):
            base = value if value.base is None else value.base
            assert base.flags.owndata and value.flags.writeable and not np.shares_memory(value, x), name
            assert value is getattr(model, name), name


@each
def test_arrays_that_are_asked_for_late_are_those_of_their_fit(kind):
    model, x, y = fitted(kind)
    expected = {**attributes(model), "trace_": model.trace_["objective"]}  # the seconds are others
    later, result = fitted(kind)[0], fitted(kind)[0].result_  # whose model is gone
    assert not {"trace_", "labels_", "membership_"} & vars(later).keys()
    copies = [pickle.loads(pickle.dumps(later)), copy.deepcopy(later)]
    with pytest.raises(ValueError):
        later.set_params(max_iter=-1).fit(x[::2, 2:], y[::2])
    for one in (later, *copies):
        found = {**attributes(one), "trace_": one.trace_["objective"]}
        assert found.keys() == expected.keys()
        assert all(_estimators._equal(found[name], expected[name]) for name in found), kind
    np.testing.assert_array_equal(result.trace["objective"], expected["trace_"])
    np.testing.assert_array_equal(result.labels, expected.get("labels_"))
    assert not attributes(kind())
    model.fit(x[::2], y[::2])
    assert all(value.shape[0] == len(x[::2]) for name, value in attributes(model).items() if name in ("labels_", "membership_"))


@each
def test_the_parameters_are_the_options_of_the_library(kind):
    listed = inspect.signature(kind).parameters
    options = method_options(kind._method)
    assert set(kind().get_params()) == set(listed)
    for name, option in kind._option_of.items():
        assert kind._initial[name] == options[option].default
        assert listed[name].default in (options[option].default, None, 8, True, 1000, 10000)
        assert f"\n    {name} : " in kind.__doc__
    missing = set(options) - set(kind._option_of.values())
    assert missing <= {"start", "loss", "transposed", "path"}
    assert {_kind._method for _kind in ESTIMATORS} == set(METHODS) == set(cleave.methods())
    for title in ("Parameters", "Attributes", "Notes", "References", "Examples"):
        assert f"\n    {title}\n    {'-' * len(title)}\n" in kind.__doc__, title


@each
def test_methods_say_what_they_take_and_return(kind):
    own = [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name in _estimators._RETURNS]
    for name in (name for name in own if getattr(kind, name).__module__ == _estimators.__name__):
        text = inspect.getdoc(getattr(kind, name))
        for title in ("Parameters", "Returns"):
            assert text.count(f"\n{title}\n{'-' * len(title)}\n") == 1, (name, text)
        assert all(f"\n{given} : " in text for given in inspect.signature(getattr(kind(), name)).parameters), (name, text)
    assert "fit" in own


def test_without_docstrings_all_works():
    subprocess.run([sys.executable, "-OO", "-c", "import cleave; cleave.KPalm(2).fit([[0], [1], [2]])"], check=True)


OTHER = """
import sys
sys.path.insert(0, sys.argv[1])
import make_parameters
del make_parameters.ESTIMATORS["NormalizedCut"]
sys.argv = sys.argv[1:]
make_parameters.main()
"""


def test_a_method_without_an_estimator_gets_one(tmp_path, monkeypatch):
    here = pathlib.Path(cleave.__file__).parent
    tool = pathlib.Path(__file__).parent.parent
    library = os.environ.get("CLEAVE_LIBRARY") or next(here.glob("libcleave.*"))
    subprocess.run([sys.executable, "-c", OTHER, tool, library, here, tmp_path / "parameters.py"], check=True)
    written = runpy.run_path(str(tmp_path / "parameters.py"), {"__package__": "cleave"}, "cleave.other")
    assert "Ncut" in written["ESTIMATORS"] and "NormalizedCut" not in written["ESTIMATORS"]
    monkeypatch.setattr(_parameters, "Ncut", written["Ncut"], raising=False)
    x = load_iris().data
    model = _estimators._other("Ncut")(3).fit(x)
    np.testing.assert_array_equal(model.labels_, cleave.NormalizedCut(3).fit(x).labels_)
    assert model.predict(x).shape == (len(x),) and "normalized cut" in type(model).__doc__.lower()


@pytest.mark.parametrize("kind", CLUSTERERS, ids=lambda kind: kind.__name__)
def test_seeds(kind):
    same = [fitted(kind, random_state=seed)[0].labels_ for seed in (7, 7, np.int64(7))]
    np.testing.assert_array_equal(same[0], same[1])
    np.testing.assert_array_equal(same[0], same[2])
    generators = [np.random.RandomState(3), np.random.RandomState(3)]
    first, second = (fitted(kind, random_state=generator)[0].labels_ for generator in generators)
    np.testing.assert_array_equal(first, second)
    assert generators[0].randint(10 ** 6) != np.random.RandomState(3).randint(10 ** 6)  # it was drawn from
    model, x, _ = fitted(kind, random_state=None)
    state = np.random.get_state()[2]
    pickle.loads(pickle.dumps(model)).predict(x)
    assert np.random.get_state()[2] == state  # only fit draws


def test_starts_by_name_and_by_array():
    x = load_iris().data
    plain = cleave.KPalm(3).fit(x)
    again = cleave.KPalm(3, init=plain.cluster_centers_, solver="lloyd").fit(x)
    assert again.n_iter_ <= 3 and again.objective_ == pytest.approx(plain.objective_)
    assert cleave.NormalizedCut(3, init="spectral").fit(x).certificate_.holds
    with pytest.raises(ValueError, match="^init = 'nonsense' is not allowed"):
        cleave.NormalizedCut(3, init="nonsense").fit(x)


def test_sample_weights_count():
    x = load_iris().data
    weights = np.ones(len(x))
    weights[:50] = 0
    model = cleave.KPalm(2)
    labels = model.fit_predict(x, sample_weight=weights)
    alone = cleave.KPalm(2).fit(x[50:])
    assert model.objective_ == pytest.approx(alone.objective_) and len(labels) == len(x)
    assert cleave.verify(model.result_, x, sample_weight=weights).accepted


def test_weights_of_one_are_no_weights(tmp_path):
    x = load_iris().data
    plain = cleave.KPalm(8).fit(x)
    for ones in (1, 1.0, np.ones(len(x)), [1] * len(x)):
        model = cleave.KPalm(8).fit(x, sample_weight=ones)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        model.result_.save(tmp_path / "r.json")
        for result in (model, plain, tmp_path / "r.json"):
            assert cleave.verify(result, x).accepted and cleave.verify(result, x, sample_weight=ones).accepted
    weights = np.ones(len(x))
    weights[0] = 2
    weighted = cleave.KPalm(8).fit(x, sample_weight=weights)
    assert not cleave.verify(weighted, x, sample_weight=np.ones(len(x))).accepted


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
def test_the_command_predicts_by_the_columns_of_a_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(load_iris().data, columns=["a", "b", "c", 'd "'])
    model = cleave.KPalm(3).fit(x)
    model.result_.save(tmp_path / "r.json")
    assert model.result_.to_dict()["data"]["columns"] == list(x)
    x[list(x)[::-1]].to_csv(tmp_path / "other.csv", index=False)  # in another order
    subprocess.run([COMMAND, "predict", tmp_path / "r.json", tmp_path / "other.csv", "-o", tmp_path / "l.npy", "-q"], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), model.labels_)


@pytest.mark.parametrize("kind", [cleave.KPalm, cleave.SimplicialNMF], ids=lambda kind: kind.__name__)
def test_transformers_give_named_columns(kind):
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(load_iris().data, columns=list("abcd"), index=range(1, 151))
    model = kind(3).set_output(transform="pandas")
    columns = model.fit_transform(x)
    assert isinstance(columns, pandas.DataFrame) and list(columns.index) == list(x.index)
    assert list(columns) == list(model.get_feature_names_out()) == [kind.__name__.lower() + str(i) for i in range(3)]
    np.testing.assert_allclose(model.transform(x), columns, atol=0.05)
    assert list(model.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x.rename(columns={"a": "other"}))


def test_limits_warn_and_time_limits_end():
    x = load_iris().data
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        cleave.SimplicialNMF(3, max_iter=1).fit(x)
    model = cleave.NormalizedCut(3, patience="none", time_limit=0.1).fit(x)
    assert not model.converged_ and model.result_.stop == "time limit"
    model.predict(x)  # the limit was of the fit


@pytest.mark.parametrize("kind, parameters, words", [
    (cleave.KPalm, dict(n_clusters=0), "n_clusters = 0 is not allowed: it must be a whole number from 1"),
    (cleave.KPalm, dict(n_clusters=True), r"n_clusters = True \(a bool\) is not allowed: it must be a number"),
    (cleave.KPalm, dict(n_clusters="3"), r"n_clusters = '3' \(a str\) is not allowed: it must be a number"),
    (cleave.KPalm, dict(alpha=np.True_), "alpha = .*True.* is not allowed: it must be a number"),
    (cleave.KPalm, dict(n_jobs=0), "n_jobs = 0 is not allowed: it must be a number of threads, -1 for all"),
    (cleave.KPalm, dict(n_clusters=999), "n_clusters = 999 exceeds the 178 objects"),
    (cleave.KPalm, dict(init=np.zeros((2, 13))), "where n_clusters x columns = 3 x 13"),
    (cleave.KPalm, dict(random_state=-1), "random_state = -1 is not"),
    (cleave.KPalm, dict(n_jobs="few"), "n_jobs = 'few' is not"),
    (cleave.KPalm, dict(n_init=0), "n_init = 0 is not"),
    (cleave.KPalm, dict(max_iter=2.5), "max_iter = 2.5 is not"),
    (cleave.KPalm, dict(alpha=[1]), r"alpha = \[1\] is not allowed: it must be a number or a text, not a list"),
    (cleave.KPalm, dict(polish="no"), "polish = 'no' is not allowed: it must be True or False"),
    (cleave.KPalm, dict(callback=5), "callback = 5 cannot be called"),
    (cleave.DominantSets, dict(n_clusters=999), "n_clusters = 999 exceeds"),
    (cleave.DominantSets, dict(start_object=999), "start_object = 999 is not one of"),
    (cleave.NormalizedCut, dict(init="zero"), "init = 'zero' is not"),
    (cleave.NormalizedCut, dict(init=[1, 2]), "init: 2 x 1 numbers"),
    (cleave.NormalizedCut, dict(affinity="knn", neighbors=999), "give neighbors a smaller number"),
    (cleave.KSupportClassifier, dict(alpha=0), "alpha = 0 is not"),
    (cleave.KSupportRegressor, dict(k=999), "k = 999 exceeds the 12 features"),
    (cleave.MatrixPursuit, dict(alpha=1e300), "alpha = 1e.300 is too small or too large"),
], ids=str)
def test_what_is_refused_has_its_name_in_python(kind, parameters, words):
    with pytest.raises((TypeError, ValueError), match="^(.*[,;] )?" + words):
        fitted(kind, **parameters)


@pytest.mark.filterwarnings("error")
def test_warnings_are_warnings_of_python():
    with pytest.raises(UserWarning, match="try gamma='auto' or a larger gamma$"):
        cleave.SimplicialNMF(3, gamma=1e-9).fit(load_iris().data)


def state(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


@each
@pytest.mark.parametrize("wrong", [dict(max_iter=-1), dict(tol="nonsense"), dict(callback=lambda progress: 1 / 0)], ids=str)
def test_a_fit_that_fails_changes_nothing(kind, wrong):
    model, x, y = fitted(kind)
    before = state(model)
    model.set_params(**wrong)
    with pytest.raises((ValueError, ZeroDivisionError)):
        model.fit(x[:, 2:], np.arange(len(x)) % 4)
    after = state(model)
    assert set(before) == set(after) and all(before[name] is after[name] for name in before)
    if hasattr(model, "predict"):
        assert len(model.predict(x)) == len(x)
    fresh = kind(**wrong)
    with pytest.raises((ValueError, ZeroDivisionError)):
        fresh.fit(x, y)
    assert not state(fresh)


def test_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(load_iris().data, columns=list("abcd"))
    for model in (cleave.KPalm(3).fit(x), cleave.NormalizedCut(3).fit(x), cleave.KSupportClassifier().fit(x, load_iris().target)):
        with pytest.raises(ValueError, match="in the same order"):
            model.predict(x[list("abdc")])
        with pytest.raises(ValueError, match="unseen at fit time"):
            model.predict(x.rename(columns={"a": "other"}))


@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_auto_is_what_the_documentation_says():
    x, y = load_breast_cancer(return_X_y=True)
    auto, none, three = (cleave.KSupportClassifier(k=k).fit(x, y).coef_ for k in ("auto", None, 3))
    np.testing.assert_array_equal(auto, three)
    np.testing.assert_array_equal(none, three)
    for how, solver in (dict(), "newton"), (dict(radius=1.0), "fcfw"):
        assert cleave.KSupportClassifier(max_iter=1, **how).fit(x[:200], y[:200]).result_.solver == solver


def test_an_estimator_is_verified_like_its_result():
    model, x, _ = fitted(cleave.KPalm)
    assert cleave.verify(model, x).accepted and not cleave.verify(model, x[::-1] + 1).accepted
    large = 2 ** 60 + np.arange(len(x)) % 2  # which a double cannot tell apart
    assert cleave.verify(cleave.KSupportClassifier().fit(x, large), x, large).accepted
    with pytest.raises(ValueError, match="this KPalm has no result to verify: give an estimator of cleave that was fitted"):
        cleave.verify(cleave.KPalm(), x)
    with pytest.raises(TypeError, match="a fitted estimator, a Result or the path of a JSON file, not a int"):
        cleave.verify(5, x)


@each
def test_notebooks_show_table_and_curve(kind):
    model, x, _ = fitted(kind)
    shown = model._repr_html_()
    assert model.certificate_.name in shown
    assert shown.count("<svg") == shown.count("</svg>") <= 1 and "<iframe" not in shown
    assert kind is not cleave.KPalm or "<path" in shown  # others may end where they start
    unfitted = kind()._repr_html_()
    assert kind.__name__ in unfitted and "cleave-result" not in unfitted
    assert pickle.loads(pickle.dumps(model))._repr_html_() == shown


@pytest.mark.parametrize("kind", CLUSTERERS, ids=lambda kind: kind.__name__)
def test_advice_names_no_flag_of_the_command(kind):
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(size=(60, 3)), [[90, 90, 90], [-90, 90, -90]]])
    x[:, 0] *= 1000  # a column that has all the variance, and lone outliers: both are said
    with pytest.warns(UserWarning) as said:
        kind(3).fit(x)
    assert not any("--" in str(one.message) for one in said), [str(one.message) for one in said]


def test_a_model_that_was_edited_is_rejected():
    x, y = load_iris(return_X_y=True)
    for attribute, model in (("coef_", cleave.KSupportClassifier().fit(x, y)), ("labels_", cleave.KPalm(3).fit(x)),
                             ("cluster_centers_", cleave.KPalm(3).fit(x)), ("coef_", cleave.KSupportRegressor().fit(x[:, 1:], x[:, 0]))):
        given = (x[:, 1:], x[:, 0]) if isinstance(model, cleave.KSupportRegressor) else (x, y) if attribute == "coef_" else (x,)
        assert cleave.verify(model, *given).accepted
        getattr(model, attribute).flat[0] += 1
        verdict = cleave.verify(model, *given)
        assert not verdict.accepted and attribute in verdict.reason
    result = pickle.loads(pickle.dumps(cleave.KPalm(3).fit(x).result_))
    for array in (result.labels, result.centers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@each
def test_every_attribute_is_that_of_the_result(kind):
    model, x, y = fitted(kind)
    targets = y if kind._method == "ksupport" else None
    if kind is cleave.MatrixPursuit:
        assert model.affinity_matrix_ is not None
    assert cleave.verify(model, x, targets).accepted and cleave.verify(pickle.loads(pickle.dumps(model)), x, targets).accepted
    for name in attributes(model).keys() - {"n_features_in_", "warnings_"}:
        kept = getattr(model, name)
        setattr(model, name, forged(kept))
        verdict = cleave.verify(model, x, targets)
        assert not verdict.accepted and verdict.reason.startswith(name + " was changed after fit"), name
        setattr(model, name, kept)
    assert cleave.verify(model, x, targets).accepted


def forged(value):
    """Something near to a value."""
    if isinstance(value, tuple):  # a certificate or a bound
        return value._replace(value=value.value + 1)
    if value is None or isinstance(value, bool):
        return not value
    if getattr(getattr(value, "dtype", None), "names", None):
        other = value.copy()
        other["objective"][0] += 1
        return other
    return value * 2 + 1 if isinstance(value, (int, float, np.ndarray)) else value * 2


def test_a_changed_x_is_told_and_what_was_found_is_still_printed():
    x = np.random.default_rng(0).normal(size=(30000, 6))
    model = cleave.NormalizedCut(2, affinity="knn", time_limit=20).fit(x)
    x[0] += 1
    assert "ncut" in str(model.result_) and "<pre>" in model.result_._repr_html_()
    assert not cleave.verify(model, x).accepted


@pytest.mark.parametrize("wrong", [[2, 3], (2, 3, 4), range(2, 8, 2), range(2, 2), (5, 2), (0, 2), 0, -1, None, (2.0, 3)], ids=repr)
def test_a_wrong_number_of_clusters_is_named_as_it_was_given(wrong):
    with pytest.raises(ValueError, match="n_clusters = .* is not allowed: it must be a whole number from 1 on, .least, most."):
        cleave.KPalm(wrong).fit(load_iris().data)


@pytest.mark.parametrize("wrong", [(2, 400), range(2, 401)], ids=repr)
def test_more_clusters_than_objects_are_refused_as_they_were_given(wrong):
    for kind in (cleave.KPalm, cleave.NormalizedCut):
        with pytest.raises(ValueError, match=re.escape(f"n_clusters = {wrong!r} is not allowed: there are 150 objects")):
            kind(wrong).fit(load_iris().data)


def test_names_that_the_library_would_cut_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="has a null character in its name"):
        cleave.KPalm(3).fit(pandas.DataFrame(load_iris().data, columns=["a\0", "b", "c", "d"]))


def test_two_objects_may_be_given_a_range():
    assert cleave.NormalizedCut((1, 2)).fit(np.array([[0.0], [1.0]])).k_table_.k.tolist() == [1, 2]


def test_where_a_checkpoint_cannot_be_kept_nothing_is_begun(tmp_path):
    x = load_iris().data
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        cleave.KPalm(3, checkpoint=tmp_path / "nowhere" / "x.ckpt").fit(x)
    with pytest.raises(PermissionError, match="it is a folder"):
        cleave.KPalm(3, checkpoint=tmp_path).fit(x)
    for every in (-1, float("nan"), "x"):
        with pytest.raises(ValueError, match="checkpoint_every = .* must be a number from 0"):
            cleave.KPalm(3, checkpoint=tmp_path / "x.ckpt", checkpoint_every=every).fit(x)
        with pytest.raises(ValueError, match="checkpoint_every = .* must be a number from 0"):
            cleave.KPalm(3, checkpoint_every=every).fit(x)


@pytest.mark.parametrize("wrong", [True, False, 1, 1.5, "", b"", ["x.ckpt"]], ids=repr)
def test_what_is_no_path_is_not_opened(wrong):
    for name in ("checkpoint", "resume"):  # numbers would be those of open files, which are closed then
        with pytest.raises(TypeError, match=f"{name} = .* is not allowed: it must be the path of a file, or None"):
            cleave.KPalm(3, **{name: wrong}).fit(load_iris().data)


def test_inputs_of_a_consensus_are_labels():
    good = np.array([0, 0, 1])
    for wrong in ([0, 1, -2], [0, 1, 1.5], [0, 1, np.inf], [0, 1, -3]):
        for given in ([good, wrong], np.column_stack([good, wrong])):
            with pytest.raises(ValueError, match="input 2: the label .* of object 2 is not allowed|Input X contains infinity"):
                cleave.Consensus(2).fit(given)
    for wrong in ([0, 1, None], ["a", "b", None], np.array([1j, 2, 3])):
        with pytest.raises(ValueError, match="input 2: labels must be numbers or texts, all of one kind|input 2: the label"):
            cleave.Consensus(2).fit([good, wrong])
    with pytest.raises(TypeError, match="[Ss]parse"):
        cleave.Consensus(2).fit(scipy.sparse.csr_matrix(np.eye(3)))
    with pytest.raises(ValueError, match="input 2 must be one label per object"):
        cleave.Consensus(2).fit([good, [["a", "b"], ["a", "b"], ["b", "a"]]])


def test_a_consensus_takes_labels_that_are_texts():
    names = np.array([["red", "1"], ["red", "1"], ["blue", "-1"], ["blue", "2"], ["-1", "2"], ["-1", "-1"]])
    numbers = np.array([[1, 0], [1, 0], [0, -1], [0, 1], [-1, 1], [-1, -1]])
    expected = cleave.Consensus(2).fit(numbers)
    assert expected.labels_.tolist().count(-1) == 1
    given = [names, names.astype(object), list(names.T), list(numbers.T), numbers.astype(float)]
    pandas = pytest.importorskip("pandas")
    given += [pandas.DataFrame(names, columns=["a", "b"]), pandas.DataFrame({"a": names[:, 0], "b": numbers[:, 1]})]
    for x in given:
        model = cleave.Consensus(2).fit(x)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert cleave.verify(model, x).accepted and cleave.verify(model, numbers).accepted
        assert hasattr(model, "feature_names_in_") == isinstance(x, pandas.DataFrame)
