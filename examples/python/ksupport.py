# %% [markdown]
# # The k-support norm: linear models with few weights
#
# Like logistic regression with an L1 penalty, but features that go together enter together, and a duality gap says how far
# the answer is from the optimum. `k` is about how many weights are not 0, `alpha` is the weight of the norm.

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cleave
from cleave import plot

data = load_breast_cancer()
X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=0, stratify=data.target)

# %%
model = make_pipeline(StandardScaler(), cleave.KSupportClassifier(5, alpha=3)).fit(X, y)
classifier = model[-1]
print(f"accuracy {model.score(X_test, y_test):.3f} with {(classifier.coef_ != 0).sum()} of {X.shape[1]} features")
print(classifier.certificate_.sentence)

# %% [markdown]
# A path has every k with every alpha, each started from the one before; samples that are held back choose among them.

# %%
scaler = StandardScaler().fit(X)
part, held, y_part, y_held = train_test_split(scaler.transform(X), y, random_state=0, stratify=y)
path = cleave.ksupport_path(part, y_part, k=[2, 5, 10], alpha=[100, 30, 10, 3, 1, 0.3, 0.1], validation=(held, y_held))
right = (scaler.transform(X_test) @ path.weights.T + path.intercepts > 0).ravel() == y_test
print(f"k = {path.k}, alpha = {path.fields['lambda']:g}: accuracy {right.mean():.3f} on the test samples")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.path(path, ax=left)
plot.path(path, "nonzeros", ax=right)
plt.show()
