"""bench/python_peers.py and bench/python_device_peers.py time both sides and a copy in rounds of random order, and write their records. Their times are for a
machine that does nothing else."""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def has_rounds(time: dict[str, Any], rounds: int) -> bool:
    low, high = time["between"]
    return time["rounds"] == rounds and 0 < time["min"] <= low <= time["median"] <= high <= time["max"]


def test_the_records_of_calls_and_their_peers(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("skimage")
    ended = subprocess.run([sys.executable, BENCH / "python_peers.py", "--rounds", "7", "--case", "integrate, 1,000 boxes in arrays", "--json", tmp_path / "records.json"],
                           capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    ours, theirs = json.loads((tmp_path / "records.json").read_text())
    assert (ours["algorithm"], theirs["algorithm"]) == ("areal", ours["peer"]) and ours["call"] == theirs["call"] == "integrate, 1,000 boxes in arrays"
    assert has_rounds(ours["time_us"], 7) and has_rounds(theirs["time_us"], 7)
    assert ours["floor"] == "copy of the answer" and ours["floor_us"] > 0 and "floor" not in theirs
    assert abs(ours["ratio"] - theirs["time_us"]["median"] / ours["time_us"]["median"]) < 0.002


class OnNumPy:
    """Stands in for PyTorch and CuPy: NumPy's arrays, and a clock that says how many calls there were."""

    name, version, calls, spoil = "numpy cumsum twice", "0", 0, 0

    def own(self, image: np.ndarray, dtype: np.dtype) -> tuple[Any, Any, Any]:
        table = np.zeros(image.shape, dtype)
        return image, table, lambda *at: table[at]

    def copy(self, source: np.ndarray, table: np.ndarray) -> None:
        np.copyto(table, source)

    def prepare(self, image: np.ndarray, dtype: np.dtype) -> tuple[Any, Any]:
        table = np.zeros(image.shape, dtype)

        def cumsums() -> None:
            np.cumsum(np.cumsum(image, 1, dtype=dtype), 0, dtype=dtype, out=table)
            table[0, 0] += self.spoil

        return cumsums, lambda *at: table[at]

    def event(self) -> OnNumPy:
        return self

    def spin(self) -> None:
        pass

    def record(self) -> None:
        pass

    def milliseconds(self, begin: OnNumPy, end: OnNumPy) -> float:
        self.calls += 1
        return self.calls / 1000


def test_the_records_of_arrays_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    peers = importlib.import_module("python_device_peers")
    library = OnNumPy()
    ours, theirs = peers.measure(library, "a device", 48, 8, 30)
    assert library.calls == 3 * (30 + 2)  # areal, its peer and a copy, with two rounds that do not count
    assert has_rounds(ours["time_us"], 30) and has_rounds(theirs["time_us"], 30)
    assert abs(ours["time_us"]["median"] - theirs["time_us"]["median"]) <= 4 and abs(ours["floor_us"] - ours["time_us"]["median"]) <= 4  # side by side: one after another they would be 30 apart
    assert (ours["peer"], theirs["algorithm"], ours["floor"]) == ("numpy cumsum twice 0", "numpy cumsum twice 0", "copy")
    library.spoil = 1
    with pytest.raises(SystemExit, match="row 0 of its table"):
        peers.measure(library, "a device", 48, 8, 1)
