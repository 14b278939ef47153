"""``skimage.transform.integral_image`` and ``integrate`` at areal's speed, for arrays in host memory.

areal computes 2-D images and volumes of the dtypes in ``ROUTES``, on the CPU; NumPy computes all others, as in scikit-image, which is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _core

__all__ = ["ROUTES", "integral_image", "integrate"]

_NAMES = {"8u": ("uint8", "bool"), "8s": ("int8",), "16u": ("uint16",), "16s": ("int16",), "32u": ("uint32",), "32s": ("int32",), "64u": ("uint64",),
          "64s": ("int64",), "16f": ("float16",), "32f": ("float32",), "64f": ("float64",)}
_SAME_BITS = {"32u": ("uint32", "int32"), "32s": ("int32", "uint32"), "64u": ("uint64", "int64"), "64s": ("int64", "uint64")}
_CODES = {name: np.dtype(name).str for names in _NAMES.values() for name in names}
_WHOLE = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")


def _default(name: str) -> str:
    """The default dtype of a table: that of ``numpy.cumsum``, and at least float64 for floats."""
    return "float64" if name in _FLOATS else "uint64" if name.startswith("u") else "int64"


def _routes() -> dict[tuple[str, str], str]:
    all_routes = {(image, table): "numpy" for image in _WHOLE + _FLOATS for table in _WHOLE[1:] + _FLOATS}
    for pixels, sums in _core.type_pairs():
        for image in _NAMES[pixels]:
            for table in _SAME_BITS.get(sums) or _NAMES[sums]:
                if all_routes[image, table] == "numpy" or table == _NAMES[sums][0]:
                    all_routes[image, table] = pixels + sums
    return all_routes


ROUTES: Mapping[tuple[str, str], str] = MappingProxyType(_routes())
"""How ``integral_image`` computes 2-D and 3-D arrays: {(the image's dtype, the table's): a type pair of areal, or "numpy"}.

Integers wrap, so int64 and uint64 tables have the same bits and may share a type pair. NumPy computes dtypes that are not a key (longdouble, complex,
big-endian, object), other dimensions and classes derived from numpy.ndarray.
"""

_DEFAULTS = {_CODES[name]: np.dtype(_default(name)) for name in _WHOLE + _FLOATS}
_TAKEN = frozenset((_CODES[image], _CODES[table]) for (image, table), way in ROUTES.items() if way != "numpy")


def _by_cumsum(image: NDArray[Any], dtype: DTypeLike | None) -> NDArray[Any]:
    if dtype is None and image.dtype.kind in "fc":
        dtype = np.promote_types(image.dtype, np.float64)
    table = image
    for axis in range(image.ndim):
        table = table.cumsum(axis=axis, dtype=dtype)
    return table


def integral_image(image: NDArray[Any], *, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """The integral image of an array: T[y, x] is the sum of image[:y + 1, :x + 1], and likewise of a volume along its three axes.

    image: H x W or D x H x W of bool, integers or floats; see ROUTES. dtype: of the sums; None is int64 for bool and signed integers, uint64 for
    unsigned ones, float64 for floats. Returns a new array of the image's shape. Integers wrap as NumPy's do. Reads an image as it lies, but for
    negative, skipping and broadcast strides, which cost one copy. O(image.size). As skimage.transform.integral_image of scikit-image 0.26.
    """
    if type(image) is np.ndarray and image.ndim in (2, 3):
        code = image.dtype.str
        table = _DEFAULTS.get(code) if dtype is None else np.dtype(dtype)
        if table is not None and (code, table.str) in _TAKEN:
            if not image.flags.c_contiguous:
                order = sorted(range(image.ndim), key=lambda axis: -image.strides[axis])
                if order != list(range(image.ndim)):  # sums along all axes do not mind their order
                    sums: NDArray[Any] = integral_image(image.transpose(order), dtype=table).transpose(np.argsort(order))
                    return sums
            out: NDArray[Any] = np.empty(image.shape, table)
            if not _core.dropin_tables(image, out, None, None, True):
                _core.dropin_tables(np.ascontiguousarray(image), out, None, None, True)
            return out
    return _by_cumsum(image, dtype)


def _rows(coordinates: ArrayLike) -> NDArray[Any]:
    """Coordinates for the compiled code: int64 if that is lossless."""
    rows = np.array(coordinates)
    return rows.astype(np.int64) if rows.dtype.kind in "iu" and rows.dtype != np.uint64 else rows


def _by_indexing(ii: NDArray[Any], start: Any, end: Any) -> NDArray[np.float64]:
    start, end = np.atleast_2d(np.array(start)), np.atleast_2d(np.array(end))
    boxes = start.shape[0]
    extents = np.tile(ii.shape, [boxes, 1])
    start_counts_back, end_counts_back = start < 0, end < 0
    start = (start + extents) * start_counts_back + start * ~start_counts_back
    end = (end + extents) * end_counts_back + end * ~end_counts_back
    if np.any((end - start) < 0):
        raise IndexError("end coordinates must be greater or equal to start")
    sums = np.zeros(boxes)
    for corner in range(2**ii.ndim):
        before = np.array([corner >> (ii.ndim - 1 - axis) & 1 for axis in range(ii.ndim)], bool)
        at = end * ~before + (start - 1) * before
        sign = -1 if before.sum() % 2 else 1
        sums += [0 if np.any((start[box] - 1) * before < 0) else sign * float(ii[tuple(at[box])]) for box in range(boxes)]
    return sums


def integrate(ii: NDArray[Any], start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
    """Sums of boxes from an integral image of any number of dimensions.

    start, end: the first and the last element inside, a row of coordinates or a list of N rows; negative ones count from the end. Returns float64
    (N,). Sums of integers are exact modulo the table's 2^32 or 2^64 and rounded once, so that they are right where the table wrapped or has sums
    beyond 2^53. Raises IndexError as scikit-image does: for an end before its start, and for one outside of the table. O(1) a box.
    As skimage.transform.integrate of scikit-image 0.26.
    """
    if type(ii) is np.ndarray and ii.dtype.str in _DEFAULTS and ii.dtype.kind != "b":
        sums: NDArray[np.float64] | None = _core.dropin_integrate(ii, start, end)
        if sums is None:
            sums = _core.dropin_integrate(ii, _rows(start), _rows(end))
        if sums is not None:
            return sums
    return _by_indexing(ii, start, end)
