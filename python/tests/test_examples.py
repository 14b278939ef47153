"""Every example runs on the pictures that come with areal, and draws what it says."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
NOTEBOOKS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.read_text().startswith("# %%"))
PICTURES = EXAMPLES.parents[1] / "data"


def run(name: str, out: pathlib.Path) -> None:
    environment = os.environ | {"AREAL_OUT": str(out), "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], cwd=out, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def assert_drawn(path: pathlib.Path) -> None:
    image = pytest.importorskip("PIL.Image")
    assert np.asarray(image.open(path).convert("L")).std() > 5, f"{path.name} is blank"


pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir() or not PICTURES.is_dir(), reason="the examples and pictures are not here")


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook(name: str, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    text = (EXAMPLES / f"{name}.py").read_text()
    assert text.startswith("# %% [markdown]\n# # ") and "\n# %%\n" in text
    run(name, tmp_path)
    assert_drawn(tmp_path / f"{name}.png")


def test_the_tour(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("PIL")
    run("tour", tmp_path)
    drawn = list(tmp_path.glob("*.png"))
    assert len(drawn) >= 2
    for path in drawn:
        assert_drawn(path)
