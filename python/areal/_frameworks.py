"""The array frameworks that areal supports, the functions that it needs of each, and the framework of an array.

PyTorch's is in `_torch_ops`. areal reads any other array in CUDA memory with `__dlpack__` or `__cuda_array_interface__`. If it does not know the
framework's allocator, it returns areal.DeviceArray, which has both protocols.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, native
from ._errors import InvalidArgument

FORMATS = ("xywh", "xyxy", "bbox", "skimage")


class Framework:
    """The functions that areal needs of a framework. The compiled module calls `copied`, `permuted`, `empty` and `stream`."""

    signed = False  #: integer tables are signed, of the next wider type if a corner may exceed it
    own: ModuleType | None = None  #: areal's module for these arrays when they are differentiated or traced
    stream: Any = None  #: returns the number of the current stream, never 0; None if the arrays or areal know it
    xp: Any = np  #: the namespace of its functions
    Sat: Any  #: the class of its tables, areal.Sat or one derived from it
    IntegralHistogram: Any  #: and of its histograms

    def is_plain(self, x: Any) -> bool:
        """May areal compute with the array directly? If not, the module `own` computes."""
        return True

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, stream: int) -> Any:
        """An uninitialised array. Not called if the arrays have `__dlpack_c_exchange_api__`."""
        raise NotImplementedError

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        """A view with permuted dimensions."""
        return x.transpose(order)

    def contiguous(self, x: Any) -> Any:
        """The array, or a copy in C order."""
        return self.xp.ascontiguousarray(x)

    def copied(self, x: Any, name: str, axes: str, memory: str) -> Any:
        """A copy with the axes in the memory order of `memory`, or in C order if that is empty."""
        if memory in ("", axes):
            return self.contiguous(x)
        order = tuple(axes.index(letter) for letter in memory)
        return self.permuted(self.contiguous(self.permuted(x, order)), tuple(memory.index(letter) for letter in axes))

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        """Zeros on the device of `like`."""
        return self.xp.zeros(shape, dtype)

    def asarray(self, values: Any, like: Any) -> Any:
        """Numbers as an array on the device of `like`."""
        return self.xp.asarray(values)

    def is_on_device(self, x: Any) -> bool:
        """Is the array in device memory?"""
        return hasattr(x, "__cuda_array_interface__") or _is_on_cuda(x)

    def boxes(self, boxes: Any, numbers: int = 4) -> tuple[Any, bool]:
        """Boxes as int64, N x 4 or for a volume N x 6, and whether the input was a single box. Stays on the input's device. Raises InvalidArgument for fractions."""
        xp = self.xp if self.is_on_device(boxes) else np
        array = xp.asarray(boxes)
        if array.dtype != xp.int64:
            if array.size and array.dtype.kind not in "iu":
                raise InvalidArgument(f"boxes of {array.dtype.name}: they must be whole numbers, as areal rounds none")
            if array.size and array.dtype == xp.uint64 and int(array.max()) > np.iinfo(np.int64).max:
                raise InvalidArgument("boxes: a number beyond 64-bit signed integers")
            array = array.astype(xp.int64)
        if array.ndim == 1 and array.shape[0] == numbers:
            return array[None], True
        if array.ndim < 2 and array.size == 0:
            return array.reshape(0, numbers), False
        if array.ndim != 2 or array.shape[1] != numbers:
            shape = "x".join(map(str, array.shape)) or "one number"
            raise InvalidArgument(f"boxes: {shape}; one box is {numbers} numbers, several are N x {numbers}")
        return array, False

    def boxes_of_query(self, boxes: Any, format: str, numbers: int = 4) -> tuple[Any, str, bool]:
        """What `boxes` returns, with the format: on a device the boxes become xywh."""
        rows, alone = self.boxes(boxes, numbers)
        return (self.xywh(rows, format), "xywh", alone) if self.is_on_device(rows) else (rows, format, alone)

    def xywh(self, boxes: Any, format: str) -> Any:
        """Boxes as x, y, width, height; for a volume x, y, z, width, height, depth."""
        if format not in FORMATS:
            raise InvalidArgument(f"format {format}: may be xywh, xyxy, bbox or skimage")
        if format == "xywh":
            return boxes
        half = boxes.shape[1] // 2
        begin, end = boxes[:, :half], boxes[:, half:]
        if format != "xyxy":
            backward = list(range(half))[::-1]
            begin, end = begin[:, backward], end[:, backward]
        return self.xp.concatenate((begin, end - begin + (1 if format == "skimage" else 0)), 1)

    def voxels(self, boxes: Any, extents: tuple[int, int, int], like: Any) -> Any:
        """The number of voxels of a width x height x depth volume in each box x, y, z, width, height, depth."""
        boxes, limit = self.asarray(boxes, like), self.asarray(extents, like)
        begin, extent = boxes[:, :3], boxes[:, 3:]
        first = begin.clip(0)
        return self.xp.minimum(limit - first, extent - (first - begin)).clip(0).prod(1)

    def quotients(self, sums: Any, counts: Any) -> Any:
        """Sums over counts; NaN where both are 0."""
        return sums / counts


class NumPy(Framework):
    """NumPy's arrays, and every object that NumPy converts."""

    def __reduce__(self) -> str:
        return "NUMPY"

    def copied(self, x: Any, name: str, axes: str, memory: str) -> Array:
        return native(x, name, axes, memory)

    def is_on_device(self, x: Any) -> bool:
        return False

    def quotients(self, sums: Any, counts: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums / counts


class Others(Framework):
    """Arrays in CUDA memory of an unknown framework."""

    def __reduce__(self) -> str:
        return "OTHERS"

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, stream: int) -> Any:
        return _core.DeviceArray(shape, dtype, device, stream)

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        return x.permuted(list(order))

    def copied(self, x: Any, name: str, axes: str, memory: str) -> Any:
        raise InvalidArgument(f"{name}: it cannot be read as it lies, and areal does not know how to copy it; rows need a positive pitch and pixels lie side by side")

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        raise InvalidArgument("above, left, corner: areal knows no allocator of these arrays; carries are those of NumPy's, CuPy's and PyTorch's")

    def boxes(self, boxes: Any, numbers: int = 4) -> tuple[Any, bool]:
        if not self.is_on_device(boxes):
            return super().boxes(boxes, numbers)
        shape = tuple(boxes.shape)
        if str(boxes.dtype).rpartition(".")[2] != "int64" or len(shape) != 2 or shape[1] != numbers:
            raise InvalidArgument(f"boxes of {boxes.dtype}, {'x'.join(map(str, shape))}: on a device they are N x {numbers} of int64")
        return boxes, False

    def xywh(self, boxes: Any, format: str) -> Any:
        if format != "xywh":
            raise InvalidArgument(f"format {format}: boxes on a device are xywh")
        return boxes

    def voxels(self, boxes: Any, extents: tuple[int, int, int], like: Any) -> Any:
        raise InvalidArgument("mean: areal knows no arithmetic of these arrays; boxes of a volume have their sum")


class CuPy(Framework):
    """CuPy's arrays: its memory pool, its current stream."""

    def __init__(self) -> None:
        import cupy

        self.xp = cupy

    def __reduce__(self) -> Any:
        return _cupy, ()

    def stream(self) -> int:
        return int(self.xp.cuda.get_current_stream().ptr) or 1

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, stream: int) -> Any:
        return self.xp.empty(shape, dtype)


NUMPY, OTHERS = NumPy(), Others()
_known: dict[type, Framework] = {np.ndarray: NUMPY}


def _cupy() -> CuPy:
    import cupy

    known = _known.get(cupy.ndarray)
    if not isinstance(known, CuPy):
        known = _known[cupy.ndarray] = CuPy()
    return known


def framework_of(x: Any) -> Framework:
    """The framework of an array, by its type, without importing any. NumPy for other host arrays."""
    known = _known.get(type(x))
    return _found(x) if known is None else known


def _found(x: Any) -> Framework:
    name = type(x).__module__
    if name == "numpy":
        return NUMPY
    if name.startswith("torch") or ("torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)):
        from . import torch  # noqa: F401: the tables and histograms of tensors
        from ._torch_ops import TORCH

        if name == "torch":  # not a class of the user's, which may be gone tomorrow
            _known[type(x)] = TORCH
        return TORCH
    if name.startswith(("jax", "jaxlib")):
        from .jax import JAX

        return JAX
    if name.startswith("cupy"):
        return _cupy()
    return OTHERS if hasattr(x, "__cuda_array_interface__") or _is_on_cuda(x) else NUMPY


def _is_on_cuda(x: Any) -> bool:
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (2, 13)


def on_device(array: Array, device: int) -> _core.DeviceArray:
    """Unpickles a DeviceArray."""
    return _core.device_array_of(array, device)


def of_plan(plan: Any, x: Any, out: Any, mask: Any, copy: bool | None, above: Any, left: Any, corner: Any) -> Any:
    """The framework of a plan's argument; or the table, if the framework's own module must compute it."""
    on = framework_of(x)
    if on.own is None or (on.is_plain(x) and (mask is None or on.is_plain(mask))):
        return on
    shape, dtype, axes, table_dtype, border, squares, tilted, masked, ignore_nan, algorithm, backend, _, threads, reverse = plan._given
    if tuple(x.shape) != shape or str(x.dtype).rpartition(".")[2] != dtype:
        words = "x".join(map(str, x.shape))
        raise InvalidArgument(f"array: one of {words}, {x.dtype}; this plan is for {'x'.join(map(str, shape))}, {dtype}")
    if masked != (mask is not None):
        raise InvalidArgument("mask: a plan is made with mask=True where its calls pass one")
    return on.own.sat(x, axes, dtype=table_dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan, reverse=reverse,
                      algorithm=algorithm, backend=backend, threads=threads, out=out, copy=copy, above=above, left=left, corner=corner)
