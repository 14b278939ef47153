"""areal.skimage.multiblock_lbp against scikit-image, and against sums written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import areal
from areal.skimage import integral_image, multiblock_lbp

pytestmark = pytest.mark.sanitize


def written_out(image: np.ndarray, r: int, c: int, width: int, height: int) -> int:
    block = [[int(image[r + i * height : r + (i + 1) * height, c + j * width : c + (j + 1) * width].astype(object).sum()) for j in range(3)] for i in range(3)]
    around = (block[0][0], block[0][1], block[0][2], block[1][2], block[2][2], block[2][1], block[2][0], block[1][0])
    return sum((one >= block[1][1]) << (7 - bit) for bit, one in enumerate(around))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64"])
def test_every_place_is_that_of_sums_written_out(dtype: str) -> None:
    random = np.random.default_rng(28)
    info = np.iinfo(dtype)
    image = random.integers(info.min // 8, info.max // 8, (15, 19), dtype=dtype)
    image[3:9, 4:9] = 5  # ties
    table = integral_image(image)
    for width, height in ((1, 1), (2, 3), (5, 4), (6, 1)):
        rows, columns = np.mgrid[: 15 - 3 * height + 1, : 19 - 3 * width + 1]
        codes = multiblock_lbp(table, rows, columns, width, height)
        assert codes.dtype == np.uint8
        right = [[written_out(image, r, c, width, height) for c in columns[0]] for r in rows[:, 0]]
        assert codes.tolist() == right


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_scikit_image_gives_the_same_codes(dtype: str) -> None:
    feature = pytest.importorskip("skimage.feature")
    random = np.random.default_rng(29)
    image = random.integers(0, 256, (40, 33)).astype(dtype)
    table = integral_image(image)
    places = [(0, 0), (0, 5), (7, 0), (4, 9), (40 - 12, 33 - 9)]
    theirs = [feature.multiblock_lbp(table, r, c, 3, 4) for r, c in places]
    assert [multiblock_lbp(table, r, c, 3, 4) for r, c in places] == theirs
    image[5:8, 3:6] = 0
    other = integral_image(image)
    assert [multiblock_lbp(other, r, c, 3, 4) for r, c in places] != theirs


def test_one_place_is_an_int_and_none_an_empty_array() -> None:
    table = integral_image(np.arange(30, dtype=np.uint8).reshape(5, 6))
    assert type(multiblock_lbp(table, np.int64(1), 2, 1, 1)) is int
    assert multiblock_lbp(table, np.zeros((0, 3), int), 0, 1, 1).shape == (0, 3)


@pytest.mark.parametrize("r, c, width, height", [(0, 0, 3, 1), (3, 0, 1, 1), (0, -1, 1, 1), ([0, 9], 0, 1, 1), (0, 4, 1, 1)])
def test_blocks_beyond_the_table(r: Any, c: Any, width: int, height: int) -> None:
    table = integral_image(np.ones((5, 6), np.uint8))
    with pytest.raises(IndexError, match="leave the table of 6x5"):
        multiblock_lbp(table, r, c, width, height)


@pytest.mark.parametrize("table, place, size, said", [
    (np.ones((4, 4, 4)), (0, 0), (1, 1), "it may be a table"), (np.ones((5, 5), complex), (0, 0), (1, 1), "it may be a table"),
    (np.ones((5, 5)), (0.5, 0), (1, 1), "whole numbers"), (np.ones((5, 5)), (0, 0), (0, 1), "width 0"), (np.ones((5, 5)), (0, 0), (1, 1.5), "height 1.5"),
])  # fmt: skip
def test_what_is_refused(table: Any, place: Any, size: Any, said: str) -> None:
    with pytest.raises(areal.InvalidArgument, match=said):
        multiblock_lbp(table, *place, *size)
