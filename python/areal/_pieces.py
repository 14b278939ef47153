"""Tables of pieces of an image: chunks of Dask arrays and tiles of stores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array
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
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    if format not in ("xywh", "xyxy", "bbox", "skimage"):
        raise InvalidArgument(f"format {format}: may be xywh, xyxy, bbox or skimage")
    array, alone = NUMPY.boxes(boxes)
    if format in ("bbox", "skimage"):
        array = array[:, [1, 0, 3, 2]]
    most = np.iinfo(np.int64).max
    start, end, limit = np.maximum(array[:, :2], -most), array[:, 2:], np.array([width, height])
    if format == "xywh":
        end = start + np.clip(end, -1, most - np.maximum(start, 0))  # an end beyond 64 bits is their largest number
    elif format == "skimage":
        end = np.minimum(end, most - 1) + 1
    else:
        end = np.maximum(end, -most)  # as the start
    negative: Array = np.logical_or.reduce(end < start, axis=1)
    invalid: Array = negative | np.logical_or.reduce((start < 0) | (end > limit), axis=1) if outside == "error" else negative
    if invalid.any():
        i = int(np.argmax(invalid))
        x, y, w, h = (int(number) for number in array[i])
        if format != "xywh":
            w, h = w - x + (format == "skimage"), h - y + (format == "skimage")
        what = ": an extent may not be negative" if negative[i] else f" reaches outside the image of {width}x{height}"
        raise InvalidArgument(f"region {i} (x {x}, y {y}, width {w}, height {h}){what}")
    start, end = np.clip(start, 0, limit), np.clip(end, 0, limit)
    return np.concatenate([start[:, ::-1], end[:, ::-1]], axis=1), alone
