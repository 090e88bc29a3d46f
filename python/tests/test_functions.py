"""Functions: metrics, features of texts and pictures, segments. The command, where it was built, must say the same."""
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets
import sklearn.metrics
import sklearn.utils
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import cleave

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = ROOT / "build" / "cleave"
PICTURE = pathlib.Path(sklearn.datasets.__file__).parent / "images" / "china.jpg"
needs_command = pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built")


def labelings():
    random = np.random.default_rng(1)
    return random.integers(0, 4, 300), random.integers(0, 6, 300)


STAR = """
import sys
sys.modules[sys.argv[1]] = None  # as if it was not installed
from cleave import *
print("verify" in dir(), "KPalm" in dir(), "plot" in dir())
"""


def test_a_star_import_gives_what_there_is():
    for missing, expected in (("sklearn", "True False True"), ("matplotlib", "True True True")):
        run = subprocess.run([sys.executable, "-c", STAR, missing], capture_output=True, text=True, check=True)
        assert run.stdout.split("\n")[0] == expected


# --- metrics ---


def test_every_metric_of_the_library_is_a_function():
    truth, labels = labelings()
    found = cleave.compare(truth, labels)
    assert list(found)[:-4] == list(cleave.metrics.names())
    for name, meaning in cleave.metrics.names().items():
        function = getattr(cleave.metrics, name)
        assert function(truth, labels) == found[name] and meaning[1:] in function.__doc__ and name in dir(cleave.metrics)
        assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(AttributeError, match="the metrics are ari, nmi"):
        cleave.metrics.nonsense


def test_metrics_are_those_of_scikit_learn():
    truth, labels = labelings()
    found = cleave.compare(truth, labels)
    assert found["ari"] == pytest.approx(sklearn.metrics.adjusted_rand_score(truth, labels), abs=1e-12)
    assert found["nmi"] == pytest.approx(sklearn.metrics.normalized_mutual_info_score(truth, labels), abs=1e-12)
    for name in ("homogeneity", "completeness"):
        assert found[name] == pytest.approx(getattr(sklearn.metrics, name + "_score")(truth, labels), abs=1e-12)
    assert found["n"] == found["compared"] == 300 and found["classes"] == 4 and found["clusters"] == 6
    names = np.array(["red", "green", "blue", "gray"])[truth]
    assert cleave.compare(names, labels)["ari"] == found["ari"] == cleave.compare(truth.astype(float), labels)["ari"]
    labels[:30] = -1
    assert cleave.metrics.assignment_rate(truth, labels) == 0.9
    with pytest.raises(ValueError, match="truth has 300 entries, labels have 299"):
        cleave.compare(truth, labels[1:])


def test_metrics_refuse_what_is_no_number():
    for wrong in (np.nan, np.inf):
        for x, labels, words in (([[0], [1], [wrong]], [0, 0, 1], "Input X contains (NaN|infinity)"),
                                 ([[0], [1], [2]], [0, wrong, 1], "entry 1 of labels is (nan|inf)")):
            with pytest.raises(ValueError, match=words):
                cleave.silhouette(x, labels)
        with pytest.raises(ValueError, match="entry 2 of truth is (nan|inf)"):
            cleave.compare([0, 0, wrong], [0, 1, 1])
        with pytest.raises(ValueError, match="entry 0 of labels is (nan|inf)"):
            cleave.metrics.ari([0, 0, 1], np.array([wrong, 1, 1], dtype=np.float32))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        cleave.silhouette(scipy.sparse.csr_matrix([[1.0], [np.nan]]), [0, 1])
    with pytest.raises(ValueError, match="entry 1 of truth is None"):
        cleave.compare(["a", None, "b"], [0, 1, 1])
    with pytest.raises(TypeError, match="truth are of several kinds"):
        cleave.compare(np.array(["a", 1, 2.5], dtype=object), [0, 1, 1])
    for wrong, words in ((np.ones((3, 1)) * 1j, "complex numbers are not supported"), (3.0, "expected 2 dimensions, found 0")):
        with pytest.raises(ValueError, match=words):
            cleave.affinity(wrong)


def test_the_cut_of_labels_is_the_objective_of_the_method():
    x = np.random.default_rng(0).normal(size=(80, 3))
    similar = cleave.affinity(x, gamma=0.5)
    model = cleave.NormalizedCut(3, affinity="precomputed").fit(similar)
    assert cleave.metrics.ncut(similar, model.labels_) == pytest.approx(model.objective_, rel=1e-12)
    with pytest.raises(ValueError, match="the affinity has 80 objects, labels are 79"):
        cleave.metrics.ncut(similar, model.labels_[1:])
    expected = sklearn.metrics.silhouette_score(x, model.labels_)
    assert cleave.silhouette(x, model.labels_) == pytest.approx(expected, abs=1e-12)


def test_graphs_are_what_scikit_learn_takes():
    graph = cleave.affinity(np.random.default_rng(0).normal(size=(60, 2)), "knn", neighbors=5)
    assert graph.indices.dtype == graph.indptr.dtype == np.int32
    sklearn.utils.check_array(graph, accept_sparse="csr", accept_large_sparse=False)


# --- texts ---

TEXTS = ["The red apple and the green apple", "A red car", "Green cars, green leaves: naïve", "", "apple cars car"]


def test_tfidf_is_that_of_scikit_learn():
    found, peer = cleave.tfidf(TEXTS), TfidfVectorizer()
    expected = peer.fit_transform(TEXTS)
    assert found.terms == list(peer.get_feature_names_out()) and found.empty == 1
    np.testing.assert_allclose(found.matrix.toarray(), expected.toarray(), atol=1e-13)
    fewer = cleave.tfidf(iter(TEXTS), stop_words=["the", "and"], min_df=2)
    assert fewer.terms == ["apple", "car", "cars", "green", "red"]
    assert "the" not in cleave.tfidf(TEXTS, stop_words="english").terms
    assert cleave.tfidf([text.encode("latin-1") for text in TEXTS]).latin1 == 1
    with pytest.raises(TypeError, match="document 1 is a float"):
        cleave.tfidf(["red", float("nan")])
    with pytest.raises(ValueError, match="stop_words = 'other' is not allowed"):
        cleave.tfidf(TEXTS, stop_words="other")
    with pytest.raises(TypeError, match="has no option 'analyzer'"):
        cleave.tfidf(TEXTS, analyzer="word")
    for low, high in ((1, 2), (2, 2), (2, 3)):
        pairs, words = cleave.tfidf(TEXTS, ngrams=(low, high), stop_words=["the", "and"]), ["the", "and"]
        peer = TfidfVectorizer(ngram_range=(low, high), stop_words=words)
        np.testing.assert_allclose(pairs.matrix.toarray(), peer.fit_transform(TEXTS).toarray(), atol=1e-13)
        assert pairs.terms == list(peer.get_feature_names_out())
    assert cleave.tfidf(TEXTS, ngrams=2).terms == cleave.tfidf(TEXTS, ngrams="2-2").terms
    for wrong in ("2-1", "0", "1-", "10", (1, 2, 3)):
        with pytest.raises(ValueError, match="ngrams = .* is not allowed"):
            cleave.tfidf(TEXTS, ngrams=wrong)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_documents_are_a_column_not_a_frame(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"text": TEXTS})
    assert cleave.tfidf(frame["text"]).terms == cleave.tfidf(TEXTS).terms
    assert cleave.TextFeatures(2).fit(frame["text"]).transform(frame["text"]).shape == (5, 2)
    for wrong in (frame, {"text": TEXTS}):
        with pytest.raises(TypeError, match=r"not a (DataFrame|dict): give its column of texts, as frame\['text'\]"):
            cleave.tfidf(wrong)
    with pytest.raises(TypeError, match="documents must be strings, or a path, not a NoneType"):
        cleave.TextFeatures().fit(None)


def test_features_of_texts_speak_of_their_parameters():
    for name, wrong in (("ngram_range", (2, 1)), ("random_state", -1), ("dims", 0), ("max_df", -1)):
        features = cleave.TextFeatures(2).fit(TEXTS)
        known = features.texts_
        with pytest.raises(ValueError, match=f"^{name} = .* is not allowed"):
            features.set_params(**{name: wrong}).fit(TEXTS[:2])
        assert features.texts_ is known  # a fit that fails changes nothing


def test_new_documents_are_rows_of_the_same_columns():
    peer = TfidfVectorizer()
    found, expected = cleave.tfidf(TEXTS), peer.fit_transform(TEXTS)
    np.testing.assert_allclose(found.idf, peer.idf_, rtol=1e-14)
    new = ["Green, unseen apple", "nothing of that"]
    other = cleave.tfidf(new, like=found)
    np.testing.assert_allclose(other.matrix.toarray(), peer.transform(new).toarray(), atol=1e-14)
    assert other.terms == found.terms and other.empty == 1
    np.testing.assert_array_equal(cleave.tfidf(TEXTS, like=found).matrix.toarray(), found.matrix.toarray())
    with pytest.raises(ValueError, match="none of the 1 documents has one of the"):
        cleave.tfidf(["unseen"], like=found)


def test_text_features(tmp_path):
    for how in ({}, {"center": True}, {"ngram_range": (1, 2), "stop_words": "english"}):
        features = cleave.TextFeatures(3, **how)
        points = features.fit_transform(TEXTS)
        np.testing.assert_array_equal(features.transform(TEXTS), points)  # the same bits
        again = pickle.loads(pickle.dumps(features))
        np.testing.assert_array_equal(again.transform(TEXTS[2:3]), points[2:3])
        assert list(features.get_feature_names_out()) == ["textfeatures0", "textfeatures1", "textfeatures2"]
        assert clone(features).get_params() == features.get_params()
    whole, new = cleave.TextFeatures(3).fit(TEXTS), ["green apple", "unseen"]
    np.testing.assert_array_equal(np.vstack([whole.transform([text]) for text in new]), whole.transform(new))
    assert not whole.transform(["unseen"]).any()
    with pytest.raises(ValueError, match="there are no documents"):
        whole.transform([])
    pipeline = make_pipeline(cleave.TextFeatures(2), cleave.KPalm(2)).fit(TEXTS)
    assert len(pipeline.predict(["green apple"])) == 1
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text, "id": f"no {i}"}) + "\n" for i, text in enumerate(TEXTS)))
    assert cleave.TextFeatures(2).fit(path).texts_.ids == [f"no {i}" for i in range(5)]


def test_terms_of_clusters():
    texts = cleave.tfidf(["red apples", "ripe apples", "red cars", "fast cars", "cars"])
    found = cleave.cluster_terms(texts, [0, 0, 1, 1, -1])
    assert [[term for term, score in listed] for listed in found] == [["apples", "ripe", "red"], ["cars", "fast", "red"]]
    assert all(score > 0 for listed in found for term, score in listed)
    with pytest.raises(ValueError, match="5 documents, but labels of shape"):
        cleave.cluster_terms(texts, [0, 1])
    for wrong in (np.nan, 0.5, -2):
        with pytest.raises(ValueError, match="labels must be whole numbers: 0, 1, ..., or -1"):
            cleave.cluster_terms(texts, [0, 0, 1, 1, wrong])
    with pytest.raises(ValueError, match="label 1000000000 is not among 0 to 4"):
        cleave.cluster_terms(texts, [0, 0, 1, 1, 10**9])


def test_texts_of_files_have_labels(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text, "label": "ab"[i % 2]}) + "\n" for i, text in enumerate(TEXTS)))
    found = cleave.tfidf(path)
    assert (found.matrix != cleave.tfidf(TEXTS).matrix).nnz == 0
    assert found.labels.tolist() == [0, 1, 0, 1, 0] and found.classes == ["a", "b"]
    assert cleave.tfidf(TEXTS).labels is None
    with pytest.raises(FileNotFoundError):
        cleave.tfidf(str(tmp_path / "missing.jsonl"))


def test_reduction_is_a_truncated_svd():
    x = scipy.sparse.random(60, 40, 0.2, format="csr", random_state=0)
    points = cleave.reduce(x, 5, tol=1e-10)
    _, values, axes = np.linalg.svd(x.toarray(), full_matrices=False)
    np.testing.assert_allclose(np.abs(points), np.abs(x.toarray() @ axes[:5].T), atol=1e-8)
    centered = cleave.reduce(x.toarray(), 3, center=True)
    assert np.abs(centered.mean(axis=0)).max() < 1e-8
    assert cleave.reduce(cleave.tfidf(TEXTS)).shape == (5, 5)
    with pytest.raises(ValueError):
        cleave.reduce(x, 41)


@needs_command
def test_the_command_makes_the_same_points(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    subprocess.run([COMMAND, "text", path, "-o", tmp_path / "x.npy", "--dims", "3", "-q"], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), cleave.reduce(cleave.tfidf(path), 3))


# --- pictures ---


def test_pictures_are_arrays_of_any_kind():
    gray = np.arange(200, dtype=np.uint8).reshape(10, 20)
    color = np.stack([gray] * 3, axis=-1)
    expected = cleave.pictures.pixel_points(color)
    for other in (gray, gray[:, :, None], gray / 255, (gray / 255).astype(np.float32), gray.astype(int),
                  np.asfortranarray(color), np.dstack([color, np.full_like(gray, 255)]), gray.tolist()):
        np.testing.assert_allclose(cleave.pictures.pixel_points(other), expected, atol=1e-15)
    for wrong, why in ((gray * 2.0, "from 0 to 1"), (gray.ravel(), "two or three dimensions"), (gray - 100.0, "from 0 to 1"),
                       (np.zeros((3, 3, 2)), "2 channels"), (np.full((3, 3), np.nan), "from 0 to 1")):
        with pytest.raises(ValueError, match=why):
            cleave.pictures.pixel_points(wrong)


def test_features_of_pictures():
    picture = cleave.pictures.read(PICTURE)[::4, ::4]
    height, width = picture.shape[:2]
    regions = cleave.pictures.superpixels(picture, 50)
    count = regions.max() + 1
    assert regions.shape == (height, width) and set(np.unique(regions)) == set(range(count))
    assert cleave.pictures.region_points(picture, regions).shape == (count, 39)
    np.testing.assert_allclose(cleave.pictures.histograms(picture, regions, bins=4).sum(axis=1), 3, atol=1e-12)
    np.testing.assert_allclose(cleave.pictures.textures(picture, regions).sum(axis=1), 1, atol=1e-12)
    borders = cleave.pictures.adjacency(regions)
    across = (regions[:, 1:] != regions[:, :-1]).sum() + (regions[1:] != regions[:-1]).sum()
    assert abs(borders - borders.T).nnz == 0 and borders.sum() == 2 * across
    hsv, lbp = cleave.pictures.hsv(picture), cleave.pictures.lbp(picture)
    assert hsv.shape == picture.shape and 0 <= hsv.min() <= hsv.max() <= 1 and lbp.max() <= 9
    np.testing.assert_allclose(hsv[:, :, 2], picture.max(axis=2) / 255, atol=1e-15)
    assert cleave.pictures.resize(picture, 20, 10).shape == (10, 20, 3)
    drawn = cleave.pictures.overlay(picture, np.zeros((height, width), int))
    np.testing.assert_array_equal(drawn, picture)
    assert (cleave.pictures.overlay(picture, regions) != picture).any()
    with pytest.raises(ValueError, match="do not fit"):
        cleave.pictures.overlay(picture, regions[1:])
    with pytest.raises(ValueError, match="numbered from 0; -1"):
        cleave.pictures.adjacency(regions - 1)
    far = regions.astype(np.int64)
    far[0, 0] = 10**9
    with pytest.raises(ValueError, match=f"region 1000000000 is not among 0 to {far.size - 1}"):
        cleave.pictures.region_points(picture, far)
    far[0, 0] = 2**32  # 0, if only 32 bits were looked at
    for use in (cleave.pictures.adjacency, lambda far: cleave.pictures.tidy(far, 2), lambda far: cleave.pictures.overlay(picture, far)):
        with pytest.raises(ValueError, match="labels of pixels are from -2147483648 to 2147483647; these are from 0 to 4294967296"):
            use(far)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="the points contain NaN or infinity"):
            cleave.pictures.similarity(regions, np.where(np.arange(count) == 3, wrong, 0.0)[:, None])


def test_segments():
    found = cleave.segment(PICTURE)
    assert found.labels.shape == found.objects.shape == (427, 640) and found.result.certificate.holds
    assert len(found.points) == found.result.n and found.labels.max() + 1 <= 4
    flat = cleave.segment(np.full((90, 120), 7, np.uint8))
    assert flat.result is None and not flat.labels.any()
    small = cleave.pictures.read(PICTURE)[::8, ::8]
    assert cleave.segment(small, 2, "kpalm", superpixels=100).labels.max() == 1
    for wrong, error, why in ((dict(method="ksupport"), ValueError, "must be one of dominant, symnmf, ncut, kpalm"),
                              (dict(reach=3), TypeError, "for ncut only"), (dict(k=9999), ValueError, "exceeds the"),
                              (dict(pixels=(9, 9), color=2), TypeError, "no superpixels"),
                              (dict(nonsense=1), TypeError, "has no option 'nonsense'")):
        with pytest.raises(error, match=why):
            cleave.segment(small, **wrong)


@needs_command
@pytest.mark.parametrize("method", ["dominant", "ncut", "symnmf", "kpalm"])
@pytest.mark.parametrize("given", [{}, {"pixels": (24, 16), "k": 3}, {"superpixels": 100, "texture": 0.5, "k": 4}],
                         ids=["superpixels", "pixels", "options"])
def test_the_command_makes_the_same_segments(method, given, tmp_path):
    flags = [text for name, value in given.items()
             for text in ("--" + name, "x".join(map(str, value)) if name == "pixels" else str(value))]
    picture, labels = tmp_path / "picture.npy", tmp_path / "labels.npy"
    np.save(picture, cleave.pictures.read(PICTURE)[::3, ::3])
    subprocess.run([COMMAND, "segment", picture, "-o", labels, "--method", method, "-q", *flags], check=True)
    for given_picture in (picture, np.load(picture)):
        np.testing.assert_array_equal(cleave.segment(given_picture, method=method, **given).labels, np.load(labels))


INTERRUPTED = """
import signal
import numpy as np, cleave
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have been told to ignore it
x = np.random.default_rng(0).normal(size=(100000, 40))
try:
    print("ready", flush=True)
    cleave.silhouette(x, np.arange(100000) % 3)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_function():
    run = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert out == "stopped\n"
