"""Summed-area tables of arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import _core
from ._errors import InvalidArgument
from ._foreign import framework_of

_TYPES = {"uint32": "32u", "int32": "32s", "uint64": "64u", "int64": "64s", "float32": "32f", "float64": "64f"}
_SUM, _MEAN, _VARIANCE, _DEVIATION = range(4)


@lru_cache(maxsize=256)
def _options(dtype: Any, border: str, squares: Any, tilted: bool, mask: bool, ignore_nan: bool, algorithm: str, backend: str, device: int, threads: int) -> Any:
    name = ""
    if dtype is not None:
        name = _TYPES.get(np.dtype(dtype).name, "")
        if not name:
            raise InvalidArgument(f"dtype {np.dtype(dtype).name}: tables are of {', '.join(_TYPES)}")
    if squares is True or squares is False:
        squares = "auto" if squares else "no"
    return _core.options(name, border, str(squares), tilted, mask, ignore_nan, algorithm, backend, device, threads)


def _boxes(boxes: Any) -> tuple[np.ndarray, bool]:
    """N x 4 of int64, and whether it was one box alone."""
    array = np.asarray(boxes)
    if array.dtype != np.int64:
        if array.size == 0:
            array = array.astype(np.int64)
        elif array.dtype.kind in "iu":
            if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
                raise InvalidArgument("boxes: numbers beyond 64-bit signed integers")
            array = array.astype(np.int64)
        else:
            raise InvalidArgument(f"boxes of {array.dtype.name}: they must be whole numbers, as areal rounds none")
    if array.ndim == 1 and (array.size or boxes is not None) and array.shape[0] == 4:
        return array[None], True
    if array.size == 0 and array.ndim < 2:
        return array.reshape(0, 4), False
    if array.ndim != 2:
        raise InvalidArgument(f"boxes: an array of {array.ndim} dimensions; it is 4 numbers, or N x 4")
    return array, False


class SatTable:
    """The summed-area table of an array, which answers about any box in constant time."""

    __slots__ = ("_table",)

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def array(self) -> np.ndarray:
        """The sums, in the order of the array's axes; no copy."""
        return self._table.sum

    @property
    def squares(self) -> np.ndarray | None:
        """The sums of squares, where they were asked for; no copy."""
        return self._table.squares

    @property
    def algorithm(self) -> str:
        return self._table.algorithm

    def _query(self, asked: int, boxes: Any, format: str, outside: str, threads: int) -> Any:
        if outside not in ("error", "clip"):
            raise InvalidArgument(f"outside {outside}: may be error or clip")
        array, alone = _boxes(boxes)
        answers = self._table.query(array, format, outside == "clip", asked, threads)
        return answers[0] if alone else answers

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Sums of boxes: boxes x N x C; of one box without the first dimension. Integers are exact. O(1) a box."""
        return self._query(_SUM, boxes, format, outside, threads)

    def mean(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Means of boxes, NaN for an empty one."""
        return self._query(_MEAN, boxes, format, outside, threads)

    def var(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Population variances of boxes; the table needs squares."""
        return self._query(_VARIANCE, boxes, format, outside, threads)

    def std(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Population standard deviations of boxes; the table needs squares."""
        return self._query(_DEVIATION, boxes, format, outside, threads)

    def __repr__(self) -> str:
        a = self.array
        return f"<areal.SatTable {self._table.axes} {'x'.join(map(str, a.shape))} {a.dtype.name}, border {self._table.border}, {a.nbytes} bytes, {self.algorithm} on {self._table.backend}>"


def _native(x: Any) -> np.ndarray:
    array = np.asarray(x)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def sat(x: Any, axes: str = "", *, dtype: Any = None, border: str = "zero", squares: Any = False, tilted: bool = False, mask: Any = None,
        ignore_nan: bool = False, algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0, copy: bool | None = None) -> SatTable:
    """The summed-area table of an array. O(H W) a plane.

    axes: HW (2-D arrays), HWC, CHW, NHW, NHWC, NCHW, or DHW, which is summed along D, too.
    dtype: of the sums; None takes the smallest that is surely exact.
    """
    if (other := framework_of(x)) is not None:
        return other.sat(x, axes, dtype=dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan, algorithm=algorithm,
                         backend=backend, threads=threads, copy=copy)
    options = _options(dtype, border, squares, tilted, mask is not None, ignore_nan, algorithm, backend, device, threads)
    try:
        table = _core.sat(x, options, axes, mask)
    except TypeError:  # no array, or one that is not of this machine's byte order
        table = None
    if table is None:
        if copy is False:
            raise InvalidArgument("copy=False: the array cannot be read as it lies")
        table = _core.sat(_native(x), options, axes, None if mask is None else _native(mask))
        if table is None:
            raise InvalidArgument("array: it cannot be read")
    return SatTable(table)
