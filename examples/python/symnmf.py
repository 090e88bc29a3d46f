# %% [markdown]
# # Simplicial symmetric NMF: soft clusters
#
# Every object gets memberships that add up to 1 and explain its similarities to all others. They say which objects lie
# between clusters, which labels alone do not.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import cleave
from cleave import plot

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)

# %%
model = cleave.SimplicialNMF(3, affinity="knn", neighbors=60).fit(X)
print(model.certificate_.sentence)
print(f"ARI {cleave.metrics.ari(wine.target, model.labels_):.3f}")

# %% [markdown]
# The largest membership says how sure a label is: labels that are sure agree with the growers of the wines more often.

# %%
sure = model.membership_.max(axis=1)
order = np.argsort(-sure)
for part, name in ((order[:89], "the surer half"), (order[89:], "the other half")):
    print(f"{name}: accuracy {cleave.metrics.accuracy(wine.target[part], model.labels_[part]):.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.scatter(X, model.labels_, ax=left)
plot.memberships(model, ax=right)
left.set_title("labels")
right.set_title("memberships")
plt.show()
