# %% [markdown]
# # Dominant sets: the dense cores of data, one after the other
#
# Nobody says how many clusters there are. Each is a group whose objects are more similar to each other than anything outside
# is to them; peeling goes on until groups become small. What is in no group has the label -1.

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import cleave
from cleave import plot

X, truth = load_digits(return_X_y=True)

# %%
model = cleave.DominantSets(min_size=15).fit(X)
print(model.result_)

# %% [markdown]
# The cores are nearly pure. Every cluster has a prototype, the object with the largest weight in it.

# %%
scores = cleave.compare(truth, model.labels_)
print(f"{model.result_.k} clusters with {scores['assignment_rate']:.0%} of the digits, {scores['purity']:.1%} pure")

# %%
prototypes, sizes = model.result_.fields["clusters.prototype"], model.result_.sizes
figure = plt.figure(figsize=(8, 6), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[1, 3])
for ax, cluster, color in zip(above.subplots(1, len(sizes)), range(len(sizes)), plot.colors(len(sizes))):
    ax.imshow(X[prototypes[cluster]].reshape(8, 8), cmap="Greys")
    ax.set(xticks=[], yticks=[], title=f"{sizes[cluster]}")
    plt.setp(ax.spines.values(), color=color, linewidth=3)
above.suptitle("prototypes of the clusters, and how many objects are in each")
plot.scatter(X, model.labels_, ax=below.subplots())
plt.show()
