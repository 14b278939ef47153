"""What `import areal` gives, and arrays of every way to lie in memory: the part that also runs under AddressSanitizer."""

from __future__ import annotations

import pathlib

import areal
import numpy as np
import pytest
from numpy.typing import NDArray

SEED = 12


def direct(x: NDArray[np.generic]) -> NDArray[np.generic]:
    """The table of a 2-D array with a zero first row and column."""
    return np.pad(np.cumsum(np.cumsum(x, 0, np.int64), 1), ((1, 0), (1, 0)))


def test_every_public_name_is_there() -> None:
    assert len(areal.__all__) > 5
    assert [name for name in areal.__all__ if not hasattr(areal, name)] == []


def test_the_version_is_the_librarys() -> None:
    assert [len(part) > 0 for part in areal.__version__.split(".")] == [True] * 3


def test_the_package_says_that_it_is_typed() -> None:
    assert (pathlib.Path(areal.__file__).parent / "py.typed").is_file()


def test_every_exception_is_an_error_and_one_of_pythons() -> None:
    bases = {"InvalidArgument": ValueError, "OutOfMemory": MemoryError, "IoError": OSError, "DeviceError": RuntimeError}
    for name, base in bases.items():
        assert issubclass(getattr(areal, name), (areal.Error,)) and issubclass(getattr(areal, name), base), name


@pytest.mark.sanitize
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 7), (33, 65), (130, 257)])
@pytest.mark.parametrize("lie", ["C", "F", "pitch", "reversed", "skipping", "broadcast", "read-only"])
def test_a_table_of_an_array_however_it_lies(shape: tuple[int, int], lie: str) -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 256, shape, np.uint8)
    if lie == "F":
        x = np.asfortranarray(x)
    elif lie == "pitch":
        room = np.zeros((shape[0], shape[1] + 3), np.uint8)
        room[:, : shape[1]] = x
        x = room[:, : shape[1]]
    elif lie == "reversed":
        x = x[::-1, ::-1]
    elif lie == "skipping":
        x = np.repeat(x, 2, axis=1)[:, ::2]
    elif lie == "broadcast":
        x = np.broadcast_to(x[:1], shape)
    elif lie == "read-only":
        x.flags.writeable = False
    expected = direct(x)
    table = areal.sat(x)
    np.testing.assert_array_equal(table.array, expected, err_msg=f"seed {SEED}")
    kept = table.array
    del table, x
    np.testing.assert_array_equal(kept, expected, err_msg=f"after its table and array went, seed {SEED}")


@pytest.mark.sanitize
def test_boxes_at_and_beyond_the_edges() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 256, (40, 50), np.uint8)
    table = areal.sat(x, squares=True)
    boxes = np.array([[0, 0, 50, 40], [49, 39, 1, 1], [10, 10, 0, 5], [3, 4, 20, 30]])
    expected = [int(x[y : y + h, left : left + w].sum(dtype=np.int64)) for left, y, w, h in boxes.tolist()]
    np.testing.assert_array_equal(table.sum(boxes), expected)
    np.testing.assert_array_equal(table.sum(np.zeros((0, 4), np.int64)), [])
    assert table.sum([0, 0, 50, 40]) == expected[0]
    np.testing.assert_allclose(table.var(boxes[[0, 3]]), [x.var(), x[4:34, 3:23].var()], rtol=1e-12)
    for outside in ([0, 0, 51, 40], [-1, 0, 5, 5], [2**62, 0, 2**62, 1]):
        with pytest.raises(areal.InvalidArgument):
            table.sum(outside)


@pytest.mark.sanitize
def test_what_cannot_be_is_refused() -> None:
    for wrong in (np.zeros((2, 2), np.complex64), np.zeros(3, np.uint8), np.zeros((2, 2, 2), np.uint8)):
        with pytest.raises(areal.InvalidArgument):
            areal.sat(wrong)
