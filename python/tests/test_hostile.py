"""Objects that lie about themselves: arrays with impossible types and strides, restored states that do not fit, plans without __init__. Each gets an
exception. The process of its own in a test shows that nothing ended it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import areal
from areal import _core

pytestmark = pytest.mark.sanitize


class Interface:
    """An array of which only `__cuda_array_interface__` is known."""

    def __init__(self, **changes: Any) -> None:
        self.__cuda_array_interface__ = {"shape": (4, 6), "typestr": "<f4", "data": (0x20000, False), "strides": (24, 4), "version": 3, "stream": None, **changes}


@pytest.mark.parametrize("typestr", ["<f0", "<u32", "<i99999999999", "<f-4", "<f4x", "<f", "<f16", "", "<"])
def test_element_types_that_do_not_exist(typestr: str) -> None:
    with pytest.raises(areal.InvalidArgument, match="none that areal has"):
        _core.describe_array(Interface(typestr=typestr), 1)


def outcome(x: Any) -> str:
    """The class of the exception; without a driver a good array is Unavailable."""
    try:
        _core.describe_array(x, 1)
    except areal.Error as error:
        return type(error).__name__
    return "read"


@pytest.mark.parametrize("strides", [(), (24,), (24, 4, 4), (0,) * 9])
def test_other_numbers_of_strides_than_dimensions(strides: tuple[int, ...]) -> None:
    assert outcome(Interface()) != "InvalidArgument"
    with pytest.raises(areal.InvalidArgument, match=f"{len(strides)} strides and 2 dimensions"):
        _core.describe_array(Interface(strides=strides), 1)


def test_a_table_restored_as_a_volume_has_no_tilted_sums() -> None:
    table = areal.sat(np.ones((4, 4), np.uint8), tilted=True)
    restore, (of, on, _, says) = table.__reduce__()
    volume = np.zeros((300, 5, 5), np.uint32)
    restored = restore(of, on, (volume, None, volume, None), ("DHW", *says[1:]))
    with pytest.raises(areal.InvalidArgument, match="tilted"):
        restored.tilted_sum([[2, 0, 1, 1]] * 5)


@pytest.mark.parametrize("made", ["type('P', (areal.SatPlan,), {'__init__': lambda self: None})()", "areal.SatPlan.__new__(areal.SatPlan)"])
def test_plans_without_init_are_refused(made: str) -> None:
    code = f"import areal, numpy as np\nplan = {made}\ntry: plan(np.ones((3, 3), np.uint8))\nexcept TypeError as error: print(error)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 and "not initialised" in ended.stdout, (ended.returncode, ended.stderr)


@pytest.mark.parametrize("of", [areal.IntegralHistogram, areal.Sat, areal.HistogramPlan])
def test_objects_without_init_raise(of: Any) -> None:
    made = of.__new__(of)
    for call in (lambda: made.counts([0, 0, 1, 1]), lambda: made.sum([0, 0, 1, 1]), lambda: made(np.ones((3, 3), np.uint8)), lambda: repr(made), lambda: made.nbytes):
        with pytest.raises((AttributeError, TypeError)):
            call()
