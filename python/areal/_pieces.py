"""Tables of pieces of an image: chunks of Dask arrays and tiles of stores."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, clips
from ._errors import InvalidArgument
from ._frameworks import NUMPY
from ._sat import sat


def default_dtype(pixels: np.dtype[Any]) -> np.dtype[Any]:
    """scikit-image's dtype of a table: the 64-bit type of the pixels' kind; int64 for bool. Raises InvalidArgument for other kinds."""
    if pixels.kind not in "buif":
        raise InvalidArgument(f"dtype {pixels.name}: pixels are bool, integers or floats")
    return np.dtype({"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64}[pixels.kind])


def table_piece(pixels: Array, out: Array, above: Array | None = None, left: Array | None = None, threads: int = 1) -> None:
    """Writes the inclusive table of a piece of H x W pixels into ``out``. O(H W). Allocates only to copy pixels that are not stored row by row.

    above: the W + 1 entries of the larger table above the piece, with the corner first; left: the H entries to its left. None: zeros.
    Signed and unsigned tables have the same bits, so the pixels' kind decides which is computed.
    """
    if not pixels.dtype.isnative or pixels.strides[1] != pixels.itemsize or pixels.strides[0] < pixels.shape[1] * pixels.itemsize:
        pixels = np.ascontiguousarray(pixels, dtype=pixels.dtype.newbyteorder("="))
    if out.dtype.kind in "iu" and pixels.dtype.kind in "bui":
        as_pixels = np.dtype(f"{'i' if pixels.dtype.kind == 'i' else 'u'}{out.itemsize}")
        out = out.view(as_pixels)
        above, left = (None if line is None else line.view(as_pixels) for line in (above, left))
    sat(pixels, dtype=out.dtype, border="none", backend="cpu", threads=threads, out=out, above=above, left=left)


def box_edges(boxes: Any, format: str, outside: str, height: int, width: int) -> tuple[Array, bool]:
    """Boxes inside an image of height x width as N x 4 int64 (top, left, bottom, right; half-open), and whether the input was a single box."""
    array, alone = NUMPY.boxes(boxes)
    x, y, w, h = _core.checked_regions(NUMPY, array, format, height, width, clips(outside)).T
    return np.stack([y, x, y + h, x + w], axis=1), alone
