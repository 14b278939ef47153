"""Random calls of all functions of the package, in a process of their own: each returns or raises an exception, under AddressSanitizer too."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import call_fuzz
import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).with_name("call_fuzz.py")


@pytest.mark.sanitize
def test_every_call_returns_or_raises() -> None:
    calls = 20_000 if os.environ.get("AREAL_TEST_FULL") == "1" else 500 if os.environ.get("AREAL_TEST_SHORT") else 3000
    run = subprocess.run([sys.executable, SCRIPT, "--calls", str(calls), "--seed", "32"], capture_output=True, text=True, check=False)
    last = run.stderr.splitlines()[-30:]
    assert run.returncode == 0, f"{run.stdout}\nended with {run.returncode} in the call of the last number: {last}"
    assert f"{calls} calls of " in run.stdout
    assert "returned" in run.stdout and "InvalidArgument" in run.stdout


def changes(x: Any) -> None:
    if isinstance(x, np.ndarray) and x.size and x.flags.writeable and x.dtype.kind in "iuf":
        x.reshape(-1)[:1] = x.reshape(-1)[:1] + 1


def ends(x: Any) -> None:
    raise SystemExit(3)


def fails_inside(x: Any) -> None:
    raise SystemError("error return without exception set")


@pytest.mark.parametrize("planted, said", [(changes, "changed its argument 0"), (ends, "SystemExit"), (fails_inside, "SystemError")])
def test_what_no_function_may_do_is_found(monkeypatch: pytest.MonkeyPatch, planted: Callable[[Any], None], said: str) -> None:
    monkeypatch.setattr(call_fuzz, "FUNCTIONS", [("planted", lambda make: planted)])
    assert any(said in call_fuzz.call(5, at)[2] for at in range(40))


def test_calls_are_the_same_for_a_seed() -> None:
    assert [call_fuzz.call(7, at)[:2] for at in range(30)] == [call_fuzz.call(7, at)[:2] for at in range(30)]
