"""bench/python_overhead.py runs and writes its records. Its times are for a machine that does nothing else."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "python_overhead.py"


def test_the_records_of_the_overhead(tmp_path: pathlib.Path) -> None:
    ended = subprocess.run([sys.executable, BENCH, "--rounds", "2", "--calls", "20", "--json", tmp_path / "records.json"], capture_output=True, text=True,
                           timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    records = json.loads((tmp_path / "records.json").read_text())
    assert [r["call"] for r in records[:4]] == ["SatPlan::execute in C++", "plan(x, out=y)", "plan(x)", "areal.sat(x)"]
    floor = records[0]["time_us"]["median"]
    for r in records:
        assert (r["what"], r["backend"], r["lane"], r["width"], r["rounds"], r["calls"]) == ("python", "cpu", "8u32u", 64, 2, 20)
        assert 0 < r["time_us"]["min"] <= r["time_us"]["median"] <= r["time_us"]["max"] and r["commit"]
        assert "above_us" not in r or abs(r["time_us"]["median"] - floor - r["above_us"]) < 0.01
    assert [r.get("at_most") for r in records[:4]] == [None, 1, None, 5]
