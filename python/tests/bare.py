"""What works with NumPy alone, and what the estimators say then. Not for pytest: scripts/check-python runs it where nothing
else is installed."""
import importlib.util
import pathlib

import numpy as np

import cleave

assert importlib.util.find_spec("sklearn") is None and importlib.util.find_spec("scipy") is None
x = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]])
assert cleave.affinity(x, gamma=1.0).shape == (4, 4)
assert cleave.affinity(x, "knn", neighbors=1)[0, 1] == 1
assert cleave.silhouette(x, [0, 0, 1, 1]) > 0.8
assert cleave.compare([0, 0, 1, 1], [1, 1, 0, 0])["ari"] == 1
try:
    from cleave import KPalm
except ImportError as missing:
    assert str(missing) == "the estimators of cleave need scikit-learn: pip install scikit-learn", missing
else:
    raise AssertionError(f"{KPalm} without scikit-learn")

names: dict = {}
exec("from cleave import *", names)
assert "verify" in names and "KPalm" not in names

maps = pathlib.Path("/proc/self/maps")
if maps.exists():
    loaded = {line.split()[-1] for line in maps.read_text().splitlines() if ".so" in line}
    for name in ("libopenblas", "libgomp", "libarpack", "libjansson"):
        found = {path for path in loaded if pathlib.Path(path).name.startswith(name)}
        assert found and all("cleave.libs" in path for path in found), (name, found)
print("with NumPy alone: functions work, the estimators say what is missing, all libraries are the wheel's own")
