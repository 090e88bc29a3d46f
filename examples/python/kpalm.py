# %% [markdown]
# # KPalm: k-means and k-median, with a proof that the answer is a critical point
#
# The colors of a photograph, 273,280 pixels, are reduced to eight, by k-means (`norm="squared"`) and by k-median
# (`norm="euclidean"`), whose centers lie among the bulk of their cluster, not at its mean. Most pixels have the color of
# another one: each color is a point once, and counts by its pixels (`sample_weight`).

# %%
import pathlib

import matplotlib.pyplot as plt
import numpy as np
import sklearn.datasets

import cleave
from cleave import plot

photo = pathlib.Path(sklearn.datasets.__file__).parent / "images" / "flower.jpg"
picture = cleave.pictures.read(photo)
points, color, pixels = np.unique(picture.reshape(-1, 3) / 255, axis=0, return_inverse=True, return_counts=True)

# %%
models = {name: cleave.KPalm(8, norm=name).fit(points, sample_weight=pixels) for name in ("squared", "euclidean")}
for name, model in models.items():
    print(f"{name}: {model.n_iter_} iterations. {model.certificate_.sentence}")

# %% [markdown]
# New points go to the nearest center: `predict` and `transform` are those of scikit-learn's `KMeans`.

# %%
print(models["squared"].predict([[1.0, 0.0, 0.0]]), models["squared"].transform([[1.0, 0.0, 0.0]]).round(2))

# %%
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
axes[0, 0].imshow(picture)
axes[0, 0].set_title("the photograph")
for ax, (name, model) in zip((axes[0, 1], axes[1, 0]), models.items()):
    ax.imshow(np.clip(model.cluster_centers_, 0, 1)[model.labels_[color.ravel()]].reshape(picture.shape))
    ax.set_title(f"eight colors, {name} norm")
for ax in axes.flat[:3]:
    ax.set_axis_off()
plot.convergence(models["squared"], ax=axes[1, 1])
plt.show()
