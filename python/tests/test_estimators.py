"""scikit-learn's own checks of estimators, and what they do not look at."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import cleave

TEXTS = ["red apples", "green apples", "red cars", "fast red cars"]
ESTIMATORS = [cleave.DominantSets, cleave.KPalm, cleave.KSupportClassifier, cleave.KSupportRegressor,
              cleave.MatrixPursuit, cleave.NormalizedCut, cleave.SimplicialNMF]
# The checks that do not pass, by estimator, with the reason; docs/python.md has the same table. Those of 1.6 and later, and
# the one that they were before.
STREAM = "starts are drawn by weight from a random stream, which repeating an object, or leaving out one of weight 0, shifts; as for KMeans"
EXPECTED = {"KPalm": {"check_sample_weight_equivalence_on_dense_data": STREAM,
                      "check_sample_weight_equivalence_on_sparse_data": STREAM,
                      "check_sample_weights_invariance": STREAM}}
CLUSTERERS = [cleave.DominantSets, cleave.KPalm, cleave.NormalizedCut, cleave.SimplicialNMF]


def all_checks(estimator):
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)  # before 1.6


def test_features_of_texts_are_checked_by_texts():
    """The checks of scikit-learn are of numbers, and leave out what takes strings; here are those that there would be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator, check in all_checks(cleave.TextFeatures()):
            check(estimator)
    features = cleave.TextFeatures(2)
    with pytest.raises(NotFittedError):
        features.transform(TEXTS)
    assert features.fit(TEXTS) is features and features.get_params() == cleave.TextFeatures(2).get_params()
    before, points = dict(vars(features)), features.transform(TEXTS)
    assert vars(features).keys() == before.keys()
    np.testing.assert_array_equal(features.fit(np.array(TEXTS)).transform(tuple(TEXTS)), points)  # again, of other containers
    np.testing.assert_array_equal(features.transform(TEXTS[::-1]), points[::-1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(TEXTS), points)
    frame = pytest.importorskip("pandas").Series(TEXTS)
    shown = clone(features).set_output(transform="pandas").fit_transform(frame)
    assert list(shown.columns) == ["textfeatures0", "textfeatures1"] and len(shown) == 4
    for seed in (0, None, np.int64(3), np.random.RandomState(0)):
        np.testing.assert_allclose(abs(cleave.TextFeatures(2, random_state=seed).fit_transform(TEXTS)), abs(points), atol=1e-6)
    for wrong in (2, "1-2", (1, 2, 3), (1.0, 2), (2, 1), (0, 1), (1, 10), None):
        with pytest.raises(ValueError, match="ngram_range = .* is not allowed"):
            cleave.TextFeatures(2, ngram_range=wrong).fit(TEXTS)
    assert "red cars" in cleave.TextFeatures(2, ngram_range=[1, 2]).fit(TEXTS).texts_.terms
    search = GridSearchCV(make_pipeline(cleave.TextFeatures(2), cleave.KPalm(2)), {"textfeatures__ngram_range": [(1, 1), (1, 2)]}, cv=2)
    assert search.fit(TEXTS * 5).best_params_


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_a_consensus_is_checked_by_labels():
    """The checks of scikit-learn are of numbers that are no labels; here are those that there would be."""
    for estimator, check in all_checks(cleave.Consensus()):
        check(estimator)
    table = np.random.default_rng(0).integers(-1, 3, size=(40, 4))
    before, model = table.copy(), cleave.Consensus(3)
    assert model.fit(table) is model and model.get_params() == cleave.Consensus(3).get_params() == clone(model).get_params()
    np.testing.assert_array_equal(table, before)
    assert model.n_features_in_ == 4 and not hasattr(model.fit(table.tolist()), "feature_names_in_")
    model.fit(table)
    for other in (clone(model).fit(table), clone(model).fit(np.asfortranarray(table)), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(clone(model).fit_predict(table), model.labels_)
    for wrong in (table[0], table[:, :0], table[:1], table[np.newaxis]):
        with pytest.raises(ValueError):
            clone(model).fit(wrong)
    if hasattr(estimator_checks, "estimator_checks_generator"):  # from 1.6 on there are tags of this kind
        assert not model.__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_checks_of_scikit_learn(kind):
    failed, names = {}, set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator, check in all_checks(kind()):
            name = getattr(check, "func", check).__name__
            names.add(name)
            try:
                check(estimator)
            except Exception as failure:  # noqa: BLE001
                if type(failure).__name__ != "SkipTest":
                    failed[name] = failure
    assert len(names) > 20
    assert set(failed) == set(EXPECTED.get(kind.__name__, {})) & names, failed


@pytest.mark.parametrize("kind", CLUSTERERS, ids=lambda kind: kind.__name__)
def test_a_pickled_model_predicts_the_same(kind):
    points = load_iris().data
    model = kind().fit(points[::2])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(points), again.predict(points))
    assert again.result_.to_json() == model.result_.to_json()
    assert clone(model).get_params() == model.get_params()


@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_what_is_pickled_is_what_predict_needs():
    points = np.random.default_rng(0).normal(size=(500, 8))
    starts = np.random.default_rng(1).dirichlet(np.ones(4), 500)
    for model, needs in ((cleave.KPalm(4), False), (cleave.KPalm(4, start_membership=starts), False),
                         (cleave.KSupportRegressor(k=2), False), (cleave.MatrixPursuit(max_iter=1), False),
                         (cleave.NormalizedCut(3), True), (cleave.DominantSets(3), True), (cleave.SimplicialNMF(3), True)):
        model.fit(points, points[:, 0])
        if isinstance(model, cleave.KPalm):
            model.set_params(start_membership=None)
        pickled = pickle.dumps(model)
        assert (points.tobytes() in pickled) == needs and starts.tobytes() not in pickled, model


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_distances_far_from_zero_keep_their_digits(kind):
    """Points around centers that are far from 0 and from each other."""
    random = np.random.default_rng(0)
    points = random.normal(size=(300, 5)) + 1e7 * np.repeat(np.eye(3, 5), 100, axis=0) + 1e7
    model = cleave.KPalm(3).fit(kind(points))
    expected = np.sqrt(((points[:, np.newaxis] - model.cluster_centers_) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(kind(points)), expected, rtol=1e-9)
    np.testing.assert_allclose(model.transform(kind(model.cluster_centers_)).diagonal(), 0, atol=1e-8)


@pytest.mark.parametrize("kind", [cleave.NormalizedCut, cleave.DominantSets, cleave.SimplicialNMF], ids=lambda kind: kind.__name__)
def test_points_whose_squares_are_zero_are_refused(kind):
    points = load_iris().data
    np.testing.assert_array_equal(kind(3).fit(points * 2.0**-490).labels_, kind(3).fit(points).labels_)
    with pytest.raises(ValueError, match="the largest number, 7.9e-163, is too small to be squared: scale them"):
        kind(3).fit(points * 1e-163)


@pytest.mark.parametrize("how", [{}, dict(norm="euclidean"), dict(solver="lloyd"), dict(solver="weiszfeld")], ids=str)
def test_the_score_is_minus_the_objective(how):
    points, weights = load_iris().data, 1.0 + np.arange(150) % 3
    model = cleave.KPalm(3, **how).fit(points, sample_weight=weights)
    for given in (points, scipy.sparse.csr_matrix(points), points.astype(np.float32), points.tolist()):
        assert model.score(given, sample_weight=weights) == pytest.approx(-model.objective_, rel=1e-6)
    expected = model.transform(points[::2]).min(axis=1)
    expected = -(expected ** 2).sum() if how.get("norm", how.get("solver")) in (None, "lloyd") else -np.sqrt(
        expected ** 2 + model.epsilon_ ** 2).sum()
    assert model.score(points[::2]) == pytest.approx(expected)
    grid = GridSearchCV(cleave.KPalm(**how), {"n_clusters": [2, 4]}, cv=3, n_jobs=2).fit(points)
    assert grid.best_params_ == {"n_clusters": 4}


def test_two_lines_are_enough():
    points, truth = load_iris(return_X_y=True)
    assert adjusted_rand_score(truth, cleave.NormalizedCut(3).fit_predict(points)) > 0.7


@pytest.mark.filterwarnings("ignore:KPalm stopped")
def test_arrays_take_the_place_of_files():
    X = load_iris().data
    factors, memberships = 1.0 + np.arange(150) % 3, np.tile([0.5, 0.25, 0.25], (150, 1))
    how = dict(alpha=50, alpha_unit="one", polish=False, max_iter=2, init=X[::50])
    plain, given = cleave.KPalm(3, **how).fit(X), cleave.KPalm(3, object_alpha=factors, start_membership=memberships, **how).fit(X)
    assert given.objective_ != plain.objective_
    assert (given.result_.fields["alpha_least"], given.result_.fields["alpha_most"]) == (50, 150)
    assert clone(given).fit(X).objective_ == given.objective_
    said = given.result_.to_dict()["options"]
    assert said["start"] == said["object-alpha"] == said["start-membership"] == "array"
    assert all(cleave.verify(model, X).accepted for model in (plain, given))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(given)).predict(X), given.predict(X))
    for wrong, why in ((dict(object_alpha=0 * factors), "the factor 0 of object 1"), (dict(object_alpha="far"), "must be same or distance, or an array"),
                       (dict(start_membership=memberships[:5]), "5 x 3 numbers"), (dict(start_membership="w.npy"), "give the memberships")):
        with pytest.raises(ValueError, match=why):
            cleave.KPalm(3, **wrong, **how).fit(X)


def test_precomputed_similarities_give_what_points_give():
    points = load_iris().data
    similar = cleave.affinity(points, gamma=0.3)
    by_points = cleave.NormalizedCut(3, gamma=0.3).fit(points)
    given = cleave.NormalizedCut(3, affinity="precomputed").fit(similar)
    np.testing.assert_array_equal(by_points.labels_, given.labels_)
    assert given.objective_ == pytest.approx(by_points.objective_, rel=1e-12)
    np.testing.assert_array_equal(given.predict(similar[:10]), by_points.predict(points[:10]))


def test_the_affinity_of_new_objects_is_that_of_the_fit():
    points = load_iris().data
    similar = cleave.affinity(points, gamma=0.3)
    model = cleave.NormalizedCut(3, affinity="precomputed").fit(similar)
    expected = model.predict(similar[:10])
    np.testing.assert_array_equal(model.set_params(affinity="gaussian").predict(similar[:10]), expected)


@pytest.mark.parametrize("kind", CLUSTERERS, ids=lambda kind: kind.__name__)
def test_models_predict_by_their_results_and_not_by_copies_of_these(kind):
    points = load_iris().data
    model = kind().fit(points[::2])
    json, expected = model.result_.to_json(), model.predict(points)
    for name in ("labels_", "membership_", "cluster_centers_", "medoids_"):
        if hasattr(model, name):
            held = getattr(model, name)
            (held.data if scipy.sparse.issparse(held) else held)[:] = 0
    for used in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(used.predict(points), expected)
    assert model.result_.to_json() == json and model.result_.labels.any()


def test_centers_are_those_of_the_fit():
    points = load_iris().data
    model = cleave.KPalm(3).fit(points)
    expected = model.predict(points), model.transform(points), model.score(points)
    model.cluster_centers_ = model.cluster_centers_[::-1] + 1
    np.testing.assert_array_equal(model.predict(points), expected[0])
    np.testing.assert_array_equal(model.transform(points), expected[1])
    assert model.score(points) == expected[2]


def test_distances_far_from_the_origin():
    points = load_iris().data
    near = cleave.KPalm(3).fit(points)
    far = cleave.KPalm(3, init=near.cluster_centers_ + 1e8).fit(points + 1e8)
    np.testing.assert_allclose(far.transform(points + 1e8), near.transform(points), atol=1e-6)


def test_what_was_not_reached_is_a_warning():
    points = np.random.default_rng(0).normal(size=(3000, 20))
    with pytest.warns(ConvergenceWarning, match="KPalm stopped at its time limit: .* Increase time_limit"):
        cleave.KPalm(50, time_limit=1e-9).fit(points)
    with pytest.warns(ConvergenceWarning, match="distinct clusters .2. found smaller than n_clusters .4."):
        cleave.KPalm(4).fit(np.repeat([[0.0], [1.0]], 5, axis=0))


@pytest.mark.filterwarnings("ignore:MatrixPursuit stopped")
@pytest.mark.parametrize("n", [2, 5, 9, 10])
def test_few_rows_are_enough_to_pursue(n):
    assert cleave.MatrixPursuit().fit(np.random.default_rng(0).normal(size=(n, 3))).weights_.shape == (n, n)


@pytest.mark.parametrize("names", [np.array([-1, 1]), np.array([3.5, 9]), np.array(["no", "yes"]), np.array([False, True])], ids=str)
def test_a_path_has_the_classes_that_it_was_given(names):
    points, places = load_breast_cancer(return_X_y=True)
    y = names[places]
    result = cleave.ksupport_path(points[::2], y[::2], k=3, alpha=[10, 1], validation=(points[1::2], y[1::2]))
    assert cleave.verify(result, points[::2], y[::2]).accepted
    assert max(result.fields["path.score"]) > 0.8
    with pytest.raises(ValueError, match="the targets y contain NaN"):
        cleave.ksupport_path(points, np.where(places, np.nan, 1.0), k=3, alpha=1)
    with pytest.raises(ValueError, match="the validation targets contain NaN"):
        cleave.ksupport_path(points, y, k=3, alpha=1, validation=(points, np.where(places, np.nan, 1.0)))


def test_pipelines_and_grids():
    x, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), cleave.KSupportClassifier(tol=1e-3))
    grid = GridSearchCV(model, {"ksupportclassifier__k": [2, 10]}, cv=3).fit(x, y)
    assert grid.best_score_ > 0.93


def test_a_consensus_takes_all_that_has_labels():
    truth = np.repeat([0, 1, 2], 20)
    x = np.random.default_rng(0).normal(size=(60, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[truth]
    cut, means = cleave.NormalizedCut(3, random_state=0).fit(x), cleave.KPalm(3, random_state=0).fit(x)
    soft = cleave.SimplicialNMF(3, random_state=0).fit(x)
    names = np.array(["a", "b", "c"])[truth]
    inputs = [cut, means.result_, soft.membership_, names, list(truth)]
    model = cleave.Consensus(3).fit(inputs)
    assert cleave.compare(truth, model.labels_)["ari"] == 1 and len(model.agreement_) == 5
    assert cleave.verify(model, inputs).accepted and not cleave.verify(model, inputs[::-1][:4]).accepted
    table = np.column_stack([cut.labels_, means.labels_, truth])
    hard = cleave.Consensus(3).fit(table)
    np.testing.assert_array_equal(hard.labels_, cleave.Consensus(3).fit([cut, means, truth]).labels_)
    assert cleave.verify(hard, [cut, means, truth]).accepted
    left_out = np.where(np.arange(len(truth)) < 2, -1, truth)
    assert (cleave.Consensus(3).fit([left_out, left_out]).labels_[:2] == -1).all()
    assert cleave.Consensus(medoid=True).fit([cut, means, truth]).result_.k == 3
    with pytest.raises(ValueError, match="input 2 has 2 objects, but input 1 has"):
        cleave.Consensus(3).fit([truth, [0, 1]])
    with pytest.raises(ValueError, match="must add up to 1"):
        cleave.Consensus(3).fit([truth, np.full((len(truth), 2), 0.4)])


def test_a_consensus_of_models_of_other_objects_is_refused():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0)
    shuffled, wide = x[rng.permutation(60)], np.hstack([x] * 1200)  # of more than is copied
    cut, other = cleave.NormalizedCut(3).fit(x), cleave.KPalm(3).fit(shuffled)
    for models in ([cut, other], [cut.result_, other], [cut, cleave.KPalm(3).fit(x), other], [pickle.loads(pickle.dumps(cut)), other],
                   [cleave.KPalm(3).fit(wide), cleave.KPalm(3).fit(wide[::-1].copy())],
                   [cleave.KPalm(3).fit(scipy.sparse.csr_matrix(rows)) for rows in (x, shuffled)]):
        with pytest.raises(ValueError, match=f"inputs 1 and {len(models)} are models of other objects, or of these in another order"):
            cleave.Consensus(3).fit(models)
    same = [cut, cleave.KPalm(3).fit(x.astype(np.float32)), cleave.KPalm(3).fit(wide), cleave.KPalm(3).fit(x[:, :1]),
            cleave.Consensus(3).fit([cut]), cleave.KPalm(3).fit(scipy.sparse.csr_matrix(x)),
            cleave.NormalizedCut(3, affinity="precomputed").fit(cleave.affinity(x, "gaussian"))]
    assert len(cleave.Consensus(3).fit(same).agreement_) == 7
    assert len(cleave.Consensus(3).fit([cut.labels_, other.labels_]).agreement_) == 2


@pytest.mark.parametrize("asked, limit", [("auto", 1e-4), ((2, 5), 1e-4), (range(2, 6), 1e-3)], ids=repr)
def test_a_range_has_labels_when_time_is_over(asked, limit):
    x = np.random.default_rng(2).normal(size=(900, 20)) + 9 * np.eye(20)[np.arange(900) % 3]
    with pytest.warns(UserWarning, match="no time to compare n_clusters from 2 to .*: n_clusters = 2 is the smallest of the range"):
        model = cleave.NormalizedCut(asked, time_limit=limit).fit(x)
    assert len(model.labels_) == 900 and model.n_clusters_ == 2 and np.isnan(model.objective_)
    assert not hasattr(model, "affinity_") and not hasattr(model, "k_table_")


def test_what_was_taken_is_an_attribute():
    x = np.random.default_rng(3).normal(size=(90, 2)) + 20 * np.repeat(np.eye(3)[:, :2], 30, axis=0)
    model = cleave.NormalizedCut("auto").fit(x)
    assert model.n_clusters_ == 3 == cleave.KPalm((2, 5)).fit(x).n_clusters_ == cleave.Consensus("auto").fit([model, model]).n_clusters_
    assert model.affinity_ == "local-knn" and pickle.loads(pickle.dumps(model)).affinity_ == "local-knn"
    assert cleave.NormalizedCut(3, affinity="knn").fit(x).affinity_ == "knn" and cleave.DominantSets(3).fit(x).affinity_ == "gaussian"
    assert not hasattr(cleave.KPalm(3).fit(x), "affinity_")
    for edited, value in (("n_clusters_", 4), ("affinity_", "knn")):
        other = pickle.loads(pickle.dumps(model))
        assert cleave.verify(other, x).accepted
        setattr(other, edited, value)
        assert not cleave.verify(other, x).accepted


def test_what_is_no_number_of_clusters_hears_of_auto():
    x = np.arange(20.0).reshape(10, 2)
    for kind in (cleave.KPalm, cleave.NormalizedCut, cleave.SimplicialNMF):
        with pytest.raises(ValueError, match="n_clusters = 'automatic' is not allowed: .* or 'auto'"):
            kind("automatic").fit(x)


def test_a_consensus_says_what_it_takes():
    labels = np.repeat([0, 1], 5)
    with pytest.raises(TypeError, match=r"not a dict: give list\(X.values\(\)\)"):
        cleave.Consensus(2).fit({"a": labels, "b": labels})
    with pytest.raises(TypeError, match=r"not a generator: give list\(X\)"):
        cleave.Consensus(2).fit(labels for _ in range(2))


def test_a_range_of_clusters_takes_one_and_lists_all():
    truth = np.repeat([0, 1, 2], 25)
    x = np.random.default_rng(1).normal(size=(75, 2)) + np.array([[0, 0], [14, 0], [0, 14]])[truth]
    for asked, kind in (("auto", cleave.NormalizedCut), ((2, 5), cleave.KPalm), (range(2, 6), cleave.SimplicialNMF)):
        model = kind(asked, random_state=0).fit(x)
        assert model.result_.k == 3 and cleave.compare(truth, model.labels_)["ari"] == 1
        assert list(model.k_table_.k) == list(range(2, 13 if asked == "auto" else 6))
        assert model.k_table_.objective[1] == model.objective_ and "k = 3" in model.result_.k_reason
        assert cleave.verify(model, x).accepted and model.result_.to_dict()["options"]["k"] == 3
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(x[:4]), model.predict(x[:4]))
        assert not hasattr(clone(model).set_params(n_clusters=3).fit(x), "k_table_")
    parts = [cleave.KPalm(k, random_state=0).fit(x) for k in (3, 3, 4)]
    assert cleave.Consensus((2, 4)).fit(parts).result_.k == 3
    with pytest.raises(ValueError, match="n_clusters = .5, 2. is not allowed"):
        cleave.KPalm((5, 2)).fit(x)
