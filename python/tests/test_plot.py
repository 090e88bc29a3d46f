"""Pictures: what they show, by what is on the axes."""
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale

matplotlib.use("Agg")
from matplotlib import colors as mcolors  # noqa: E402
from matplotlib import pyplot  # noqa: E402

import cleave  # noqa: E402
from cleave import plot  # noqa: E402


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    pyplot.close("all")


def texts(ax):
    legend = ax.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


def drawn(ax):
    """Whether it can be drawn, and is not empty."""
    ax.figure.canvas.draw()
    return np.ptp(np.asarray(ax.figure.canvas.buffer_rgba())[:, :, :3]) > 100


def test_convergence_has_a_line_per_restart_and_the_bound():
    model = cleave.NormalizedCut(3, n_init=4).fit(load_iris().data)
    for given in (model, model.result_):
        ax = plot.convergence(given)
        assert len(ax.get_lines()) == 5 and texts(ax) == ["other restarts", "the best restart", "bound"] and drawn(ax)
    best = ax.get_lines()[3]
    assert best.get_ydata()[-1] == pytest.approx(model.objective_, rel=1e-9)
    assert ax.get_xlabel() == "iteration" and ax.get_ylabel() == "objective (ncut)"
    ax = plot.convergence(cleave.SimplicialNMF(3).fit(load_iris().data), "certificate")
    assert ax.get_yscale() == "log" and texts(ax) == ["certificate", "tolerance"]
    with pytest.raises(ValueError, match="has no column 'nonsense'; it has seconds, objective, certificate"):
        plot.convergence(model, "nonsense")


def test_convergence_has_a_line_per_cluster_or_model():
    model = cleave.DominantSets(4).fit(load_iris().data)
    ax = plot.convergence(model)
    assert texts(ax) == [f"cluster {c}" for c in range(model.result_.k)] and drawn(ax)
    wine = load_wine()
    model = cleave.KSupportClassifier(3).fit(scale(wine.data), wine.target)
    assert texts(plot.convergence(model)) == ["model 0", "model 1", "model 2"]
    model = cleave.KSupportClassifier(3).fit(scale(wine.data), wine.target == 0)
    ax = plot.convergence(model, "certificate")  # the trace has the gap, the certificate is relative
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), model.trace_["certificate"] / model.trace_["objective"])
    assert ax.get_ylabel() == "certificate (relative-duality-gap)" and texts(ax) == ["certificate", "tolerance"]


def test_scatter_shows_what_is_left_out_in_gray():
    points = load_iris().data[:, :2]
    labels = np.repeat([0, 1, -1], 50)
    ax = plot.scatter(points, labels, centers=points[:2])
    assert texts(ax) == ["cluster 0", "cluster 1", "left out", "centers"] and drawn(ax)
    shades = {mcolors.to_hex(dots.get_facecolor()[0]): dots.get_offsets().data for dots in ax.collections[:3]}
    np.testing.assert_array_equal(shades[plot.LEFT_OUT], points[100:])
    np.testing.assert_array_equal(shades[plot.PALETTE[0]], points[:50])
    assert ax.get_xlabel() == "coordinate 1"


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_scatter_of_more_coordinates_is_on_principal_components(kind):
    points = load_wine().data - load_wine().data.mean(axis=0)
    for some in (points, points[:5]):  # more objects than coordinates, and fewer
        some = some - some.mean(axis=0)
        ax = plot.scatter(kind(some))
        expected = np.linalg.svd(some, full_matrices=False)
        found = ax.collections[0].get_offsets().data
        np.testing.assert_allclose(np.abs(found), np.abs(expected[0] * expected[1])[:, :2], rtol=1e-6, atol=1e-6)
        assert ax.get_ylabel() == "principal component 2" and texts(ax) == []
    with pytest.raises(ValueError, match="there are 178 objects, labels have the shape"):
        plot.scatter(points, [1, 2])


def test_scatter_names_the_columns_of_a_frame():
    iris = load_iris(as_frame=True)
    ax = plot.scatter(iris.data[iris.feature_names[:2]], iris.target)
    assert ax.get_xlabel() == "sepal length (cm)" and drawn(ax)
    assert drawn(plot.scatter([[1.0], [2.0], [4.0]], [0, 0, 1]))


def test_heatmap_sorts_objects_by_cluster():
    labels = np.array([1, 0, -1, 1, 0])
    similar = np.arange(25.0).reshape(5, 5) + np.arange(25.0).reshape(5, 5).T
    order = [1, 4, 0, 3, 2]
    for given in (similar, scipy.sparse.csr_matrix(similar)):
        ax = plot.heatmap(given, labels)
        np.testing.assert_array_equal(ax.images[0].get_array(), similar[np.ix_(order, order)])
        assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "left out"] and drawn(ax)
        assert [frame.get_width() for frame in ax.patches] == [2, 2]
    assert plot.heatmap(similar).get_ylabel() == "object"
    with pytest.raises(ValueError, match="an affinity is square"):
        plot.heatmap(similar[1:], labels)


def test_heatmap_of_many_objects_has_means_over_blocks(monkeypatch):
    monkeypatch.setattr(plot, "CELLS", 4)
    random = np.random.default_rng(0)
    similar, labels = random.random((10, 10)), random.integers(-1, 2, 10)
    order = np.argsort(np.where(labels < 0, 9, labels), kind="stable")
    edges = np.linspace(0, 10, 5).round().astype(int)
    sorted_ = similar[np.ix_(order, order)]
    expected = [[sorted_[a:b, c:d].mean() for c, d in zip(edges, edges[1:])] for a, b in zip(edges, edges[1:])]
    for given in (similar, scipy.sparse.coo_array(similar)):
        np.testing.assert_allclose(plot.heatmap(given, labels).images[0].get_array(), expected)


def test_memberships_are_stacked():
    model = cleave.SimplicialNMF(3).fit(load_iris().data)
    for given in (model, model.result_, model.membership_, scipy.sparse.csr_array(model.membership_)):
        ax = plot.memberships(given)
        assert texts(ax) == ["cluster 0", "cluster 1", "cluster 2"] and drawn(ax)
        assert ax.get_ylim()[1] == pytest.approx(1) and ax.get_xlim() == (0, 150)
    assert drawn(plot.memberships(cleave.DominantSets().fit(load_iris().data)))
    with pytest.raises(ValueError, match="a result of kpalm has no memberships, only labels"):
        plot.memberships(cleave.KPalm(2).fit(load_iris().data))


def test_path_marks_the_result():
    wine = load_wine()
    x, y = scale(wine.data), np.array(["no", "yes"])[(wine.target == 1).astype(int)]
    result = cleave.ksupport_path(x[::2], y[::2], [2, 5], [10, 1, 0.1], validation=(x[1::2], y[1::2]))
    ax = plot.path(result)
    assert texts(ax) == ["k = 2", "k = 5", "the result"] and ax.get_ylabel() == "score on the validation samples" and drawn(ax)
    ring = ax.get_lines()[-1]
    assert ring.get_ydata()[0] == result.fields["path.score"].max()
    assert plot.path(cleave.ksupport_path(x, y, 3, [10, 1])).get_ylabel() == "nonzero weights"
    with pytest.raises(ValueError, match="'maybe', which is not among the classes of y"):
        cleave.ksupport_path(x, y, 3, 1, validation=(x[:2], ["yes", "maybe"]))
    with pytest.raises(ValueError, match="has no path; cleave.ksupport_path makes one"):
        plot.path(cleave.KPalm(2).fit(x))
    with pytest.raises(ValueError, match="no column of numbers 'stop'"):
        plot.path(result, "stop")


def test_axes_that_are_given_are_drawn_on():
    x = load_iris().data
    model = cleave.SimplicialNMF(3).fit(x)
    path = cleave.ksupport_path(x, load_iris().target > 1, [1, 2], [1])
    for draw in (lambda ax: plot.convergence(model, ax=ax), lambda ax: plot.scatter(x, ax=ax), lambda ax: plot.path(path, ax=ax),
                 lambda ax: plot.heatmap(cleave.affinity(x), ax=ax), lambda ax: plot.memberships(model, ax=ax)):
        ax = pyplot.figure().add_subplot()
        assert draw(ax) is ax


def test_colors_differ():
    assert len(set(plot.colors(30))) == 30 and plot.LEFT_OUT not in plot.colors(30)


MISSING = """
import sys
sys.modules["matplotlib"] = None
import cleave
try:
    cleave.plot.scatter([[0.0, 1.0]])
except ImportError as reason:
    print(reason)
"""


def test_without_matplotlib_a_sentence_says_so():
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=True)
    assert done.stdout == "the plots of cleave need matplotlib: pip install matplotlib\n"


@pytest.mark.parametrize("draw", [plot.convergence, plot.path, plot.memberships], ids=lambda draw: draw.__name__)
def test_what_is_not_fitted_has_nothing_to_draw(draw):
    with pytest.raises(NotFittedError, match="this KPalm is not fitted yet: call 'fit' before its result is drawn"):
        draw(cleave.KPalm(3))


def test_what_cannot_be_drawn_is_said():
    points = np.zeros((3, 2))
    with pytest.raises(ValueError, match="there are no objects to draw"):
        cleave.plot.scatter(points[:0], [])
    for wrong in (np.nan, 0.5):
        with pytest.raises(ValueError, match=f"the label {wrong} of object 1 is not a whole number"):
            cleave.plot.scatter(points, [0, wrong, 1])
