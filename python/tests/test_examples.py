"""The examples run, and end in a picture."""
import pathlib
import runpy
import warnings

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_ends_in_a_picture(name, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.extend(pyplot.get_fignums()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", ".*are in no cluster")  # dominant sets: that is what the example shows
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert len(shown) == 1 and capsys.readouterr().out
    figure = pyplot.figure(shown[0])
    figure.canvas.draw()
    assert len(figure.axes) >= 2 and np.ptp(np.asarray(figure.canvas.buffer_rgba())[:, :, :3]) > 100
    pyplot.close("all")


def test_every_example_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert len(EXAMPLES) == 6 and all(f"[{name}.py]({name}.py)" in listed for name in EXAMPLES)
