"""Multi-block local binary patterns (Zhang et al. 2007), as skimage.feature.multiblock_lbp, of many places at once."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import InvalidArgument

# The blocks around the central one in rows and columns of blocks, clockwise; the first is the highest bit.
_AROUND = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))


def _extent(name: str, value: Any) -> int:
    try:
        extent = operator.index(value)
    except TypeError:
        extent = 0
    if extent < 1:
        raise InvalidArgument(f"{name} {value!r}: it may be a whole number from 1 on")
    return extent


def multiblock_lbp(int_image: NDArray[Any], r: ArrayLike, c: ArrayLike, width: int, height: int) -> Any:
    """Codes of 3x3 blocks of ``width`` x ``height`` pixels, whose first pixel is at row ``r`` and column ``c``: 0 to 255.

    A bit is set if the sum of its block is not below the sum of the central one: clockwise from the upper left one, the highest bit first.
    ``int_image``: what `integral_image` returns, H x W. ``r`` and ``c``: whole numbers, or arrays of them, which are broadcast; the codes are an int or
    an array of uint8 of that shape. Sums of integers are exact modulo the table's 2^32 or 2^64. Raises IndexError for blocks beyond the table. O(1) a
    place. As skimage.feature.multiblock_lbp of scikit-image 0.26, which takes one place and rounds the table to float32.
    """
    table = np.asarray(int_image)
    if table.ndim != 2 or table.dtype.kind not in "iuf":
        raise InvalidArgument(f"int_image of {table.ndim} dimensions and {table.dtype}: it may be a table of numbers, H x W")
    wide, high = _extent("width", width), _extent("height", height)
    rows, columns = np.asarray(r), np.asarray(c)
    if rows.dtype.kind not in "iu" or columns.dtype.kind not in "iu":
        raise InvalidArgument(f"r and c of {rows.dtype} and {columns.dtype}: they may be whole numbers")
    if rows.size and columns.size:
        rooms = (table.shape[0] - 3 * high, table.shape[1] - 3 * wide)
        for name, at, room in (("r", rows, rooms[0]), ("c", columns, rooms[1])):
            if int(at.min()) < 0 or int(at.max()) > room:
                wrong = int(at.min()) if int(at.min()) < 0 else int(at.max())
                raise IndexError(f"{name} {wrong}: 3x3 blocks of {wide}x{high} pixels leave the table of {table.shape[1]}x{table.shape[0]}")
    rows, columns = np.broadcast_arrays(rows.astype(np.intp), columns.astype(np.intp))
    # Sums above and left of the blocks' corners, which are 0 before the first row and column.
    corners = np.empty((4, 4, *rows.shape), table.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(4):
            for j in range(4):
                y, x = rows + (i * high - 1), columns + (j * wide - 1)
                corners[i, j] = np.where((y < 0) | (x < 0), table.dtype.type(0), table[np.maximum(y, 0), np.maximum(x, 0)] if rows.size else table.dtype.type(0))
        sums = corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1]
    codes = np.zeros(rows.shape, np.uint8)
    for bit, (i, j) in enumerate(_AROUND):
        codes |= (sums[i, j] >= sums[1, 1]).astype(np.uint8) << np.uint8(7 - bit)
    return codes if codes.ndim else int(codes)
