# %% [markdown]
# # Which method for my data?
#
# - Round groups of points, many of them, a center for each: `KPalm`. The fastest; `norm="euclidean"` where points are far off.
# - Groups of any shape, of points that have near neighbors: `NormalizedCut` with `affinity="knn"`. The number is known.
# - Objects between groups, how sure a label is: `SimplicialNMF`.
# - The number is not known: `DominantSets`. What is in no group has the label -1; `affinity="minimax"` follows shapes, and
#   `shift` says how large groups are to be.
# - Samples with targets and many features: `KSupportClassifier`, `KSupportRegressor`.
#
# All say how good their answer is. Here the four that cluster meet five kinds of data.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.preprocessing import StandardScaler

import cleave
from cleave import plot

blobs, blob_truth = make_blobs(300, centers=3, cluster_std=0.6, random_state=7)
noise = np.random.default_rng(0).uniform(blobs.min(axis=0) - 2, blobs.max(axis=0) + 2, (100, 2))
data = {
    "blobs": (blobs, blob_truth),
    "blobs in noise": (np.vstack([blobs, noise]), np.append(blob_truth, [-1] * 100)),
    "moons": make_moons(300, noise=0.06, random_state=0),
    "circles": make_circles(300, noise=0.05, factor=0.4, random_state=0),
    "iris": load_iris(return_X_y=True),
}


def methods(k):
    """One of each; only the last does not ask for k."""
    return [cleave.KPalm(k), cleave.NormalizedCut(k, affinity="knn"), cleave.SimplicialNMF(k),
            cleave.DominantSets(affinity="minimax", shift=20, min_size=6)]


# %%
fitted = {}
for name, (points, truth) in data.items():
    points = StandardScaler().fit_transform(points)
    for model in methods(len(set(truth) - {-1})):
        fitted[name, type(model).__name__] = model.fit(points), points

# %%
print(f"{'':16s}" + "".join(f"{type(model).__name__:>16s}" for model in methods(2)))
for name, (_, truth) in data.items():
    scores = [cleave.metrics.ari(truth, fitted[name, type(model).__name__][0].labels_) for model in methods(2)]
    print(f"{name:16s}" + "".join(f"{score:16.3f}" for score in scores))

# %%
figure, axes = plt.subplots(len(data), 4, figsize=(11, 12), layout="constrained")
for ax, ((name, method), (model, points)) in zip(axes.flat, fitted.items()):
    plot.scatter(points, model.labels_, ax=ax)
    ax.get_legend() and ax.get_legend().remove()
    ax.set(xticks=[], yticks=[], xlabel="", ylabel=name if method == "KPalm" else "",
           title=method if name == "blobs" else "")
plt.show()
