"""Summed-area tables of arrays in CUDA memory: CuPy's by its allocator and stream, others as areal.DeviceArray.

PyTorch's tensors are areal.torch's. Any other array with `__dlpack__` or `__cuda_array_interface__` is read here. Where
areal knows no allocator the tables are areal.DeviceArray, which frameworks read as they read each other's arrays.
"""

from __future__ import annotations

import atexit
import sys
from functools import lru_cache
from typing import Any

from . import _core
from ._arrays import boxes_of, dtype_name
from ._binning import Binning, binning_of
from ._errors import InvalidArgument
from ._sat import _options
from ._tensor_histogram import TensorHistogram
from ._tensor_sat import TensorSat, carry, execute, has_planes_apart

DeviceArray = _core.DeviceArray


def _on_device(array: Any, device: int) -> DeviceArray:
    """What a pickled DeviceArray is made of."""
    return _core.device_array_of(array, device)


class Others:
    """Arrays of which only the interface is known."""

    signed = False

    def empty(self) -> Any:
        return DeviceArray

    def stream(self) -> int | None:
        return None

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        return x.permuted(list(order))

    def contiguous(self, x: Any, axes: str) -> Any:
        raise InvalidArgument("array: it cannot be read as it lies, and areal does not know how to copy it; rows need a positive pitch and pixels lie side by side")

    def is_on_device(self, boxes: Any) -> bool:
        return hasattr(boxes, "__cuda_array_interface__") or (hasattr(boxes, "__dlpack_device__") and int(boxes.__dlpack_device__()[0]) in (2, 13))

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        raise InvalidArgument("above, left, corner: areal knows no allocator of these arrays; carries are those of NumPy's, CuPy's and PyTorch's")

    def beside(self, values: Any, like: Any) -> Any:
        return self.zeros((), "", like)

    def voxels(self, boxes: Any, extents: tuple[int, int, int], like: Any) -> Any:
        raise InvalidArgument("mean: areal knows no arithmetic of these arrays; boxes of a volume have their sum")

    def boxes(self, boxes: Any, like: Any, numbers: int = 4) -> tuple[Any, bool]:
        if not self.is_on_device(boxes):
            return boxes_of(boxes, numbers)
        shape = tuple(boxes.shape)
        if str(boxes.dtype).rpartition(".")[2] != "int64" or len(shape) != 2 or shape[1] != numbers:
            raise InvalidArgument(f"boxes of {boxes.dtype}, {'x'.join(map(str, shape))}: on a device they are N x {numbers} of int64")
        return boxes, False

    def xywh(self, boxes: Any, format: str) -> Any:
        if format != "xywh":
            raise InvalidArgument(f"format {format}: boxes on a device are xywh")
        return boxes


class CuPy(Others):
    """CuPy's arrays: its memory pool, its current stream."""

    def __init__(self) -> None:
        self.cupy: Any = sys.modules["cupy"]

    def __reduce__(self) -> Any:
        return _cupy_framework, ()

    def empty(self) -> Any:
        return lambda shape, dtype, device, stream: self.cupy.empty(shape, dtype)

    def stream(self) -> int | None:
        return int(self.cupy.cuda.get_current_stream().ptr) or 1

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        return x.transpose(order)

    def contiguous(self, x: Any, axes: str) -> Any:
        if has_planes_apart(x, axes):
            return self.cupy.moveaxis(self.cupy.ascontiguousarray(self.cupy.moveaxis(x, -1, -3)), -3, -1)
        return self.cupy.ascontiguousarray(x)

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return self.cupy.zeros(shape, dtype)

    def beside(self, values: Any, like: Any) -> Any:
        return self.cupy.asarray(values)

    def voxels(self, boxes: Any, extents: tuple[int, int, int], like: Any) -> Any:
        boxes = self.cupy.asarray(boxes)
        begin, extent, limit = boxes[:, :3], boxes[:, 3:], self.cupy.asarray(extents)
        first = begin.clip(0)
        return self.cupy.minimum(limit - first, extent - (first - begin)).clip(0).astype("float64").prod(1)

    def boxes(self, boxes: Any, like: Any, numbers: int = 4) -> tuple[Any, bool]:
        if not self.is_on_device(boxes):
            return boxes_of(boxes, numbers)
        rows = self.cupy.asarray(boxes)
        if rows.dtype.kind not in "iu" and rows.size:
            raise InvalidArgument(f"boxes of {rows.dtype}: they must be whole numbers, as areal rounds none")
        alone = rows.shape == (numbers,)
        rows = self.cupy.ascontiguousarray(rows.reshape(1, numbers) if alone else rows, dtype=self.cupy.int64)
        if rows.ndim != 2 or rows.shape[1] != numbers:
            raise InvalidArgument(f"boxes: {'x'.join(map(str, rows.shape))}; one box is {numbers} numbers, several are N x {numbers}")
        return rows, alone

    def xywh(self, boxes: Any, format: str) -> Any:
        if format == "xywh":
            return boxes
        if format not in ("xyxy", "bbox", "skimage"):
            raise InvalidArgument(f"format {format}: may be xywh, xyxy, bbox or skimage")
        boxes = self.cupy.asarray(boxes)
        half = boxes.shape[1] // 2
        begin, end = boxes[:, :half], boxes[:, half:]
        if format != "xyxy":
            begin, end = begin[:, ::-1], end[:, ::-1]
        return self.cupy.concatenate((begin, end - begin + (1 if format == "skimage" else 0)), 1)


_others = Others()
_cupy: list[CuPy] = []


def framework(x: Any) -> Others:
    """What allocates and copies for arrays like x."""
    if not type(x).__module__.startswith("cupy"):
        return _others
    return _cupy_framework()


def _cupy_framework() -> CuPy:
    if not _cupy:
        import cupy  # noqa: F401

        _cupy.append(CuPy())
    return _cupy[0]


def sat(x: Any, axes: str = "", *, dtype: Any = None, border: Any = "zero", squares: Any = False, tilted: bool = False, mask: Any = None,
        ignore_nan: bool = False, reverse: bool = False, algorithm: str = "auto", backend: str = "auto", threads: int = 0, out: Any = None,
        copy: bool | None = None, above: Any = None, left: Any = None, corner: Any = None) -> TensorSat:
    """The summed-area table of an array in CUDA memory, queued on its framework's current stream. See areal.sat."""
    on = framework(x)
    of = _options(dtype, border, squares, tilted, mask is not None, ignore_nan, algorithm, backend, 0, threads)
    if above is not None or left is not None or corner is not None:
        only_sums = squares in (False, "no") and not tilted and mask is None and not ignore_nan
        table = _core.table_dtype(list(x.shape), dtype_name(x.dtype), of, on.signed, axes)
        above, left = carry(on, x, axes, table, only_sums, reverse, above, left, corner)
    made = execute(on, x, of, axes, mask, out, copy, reverse, above, left)
    return TensorSat(on, made[0], made[1], made[2], made[3], axes or "HW", border, made[4], reverse)


class IntegralHistogram(TensorHistogram):
    """An integral histogram in CUDA memory: N x bins x rows x columns."""

    __slots__ = ()


def integral_histogram(x: Any, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
                       ignored: int | None = None, lookup: Any = None, joint: Any = None, clamp: bool = False, weights: Any = None, axes: str = "",
                       dtype: Any = None, border: str = "none", algorithm: str = "auto", threads: int = 0) -> IntegralHistogram:
    """The integral histogram of an array in CUDA memory, queued on its framework's current stream. See areal.integral_histogram."""
    on = framework(x)
    binning = binning_of(str(x.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp)
    name = ("uint32" if weights is None else "float64") if dtype is None else dtype_name(dtype)
    made = _core.tensor_histogram(x, _rule(binning), weights, axes, border, name, algorithm, threads, on.empty(), on.stream())
    if made is None:
        plain = None if weights is None else on.contiguous(weights, "")
        made = _core.tensor_histogram(on.contiguous(x, ""), _rule(binning), plain, axes, border, name, algorithm, threads, on.empty(), on.stream())
    return IntegralHistogram(on, made, border, binning.edges.tolist())


@lru_cache(maxsize=64)
def _rule(binning: Binning) -> Any:
    return _core.tensor_binning_of(binning._rule)


atexit.register(_rule.cache_clear)  # nanobind would count what the cache holds as leaked


def histograms(x: Any, bins: Any = None, boxes: Any = None, *, format: str = "xywh", outside: str = "error", axes: str = "", **how: Any) -> Any:
    """Histograms of boxes of an array in CUDA memory: the integral histogram is made and asked. See areal.histograms."""
    if boxes is None:
        letters = axes or "HW"
        boxes, format = [0, 0, x.shape[letters.index("W")], x.shape[letters.index("H")]], "xywh"
    return integral_histogram(x, bins, axes=axes, **how).counts(boxes, format=format, outside=outside)
