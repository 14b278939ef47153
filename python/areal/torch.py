"""Summed-area tables of PyTorch tensors: no copies, the same device and allocator, gradients.

`areal.sat` and the other functions call this module for tensors. Plain tensors go to the library directly; tensors with
gradients, traced, compiled or batched by vmap, go through the operators `torch.ops.areal`, which importing this module
registers.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._arrays import clips
from ._composed_window import composed_window
from ._errors import InvalidArgument
from ._sat import Edge, Stat
from ._sat import Sat as AnySat
from ._sat import _options as options
from ._torch_histogram import IntegralHistogram, histograms, integral_histogram
from ._torch_ops import TORCH, Torch, box_sums, is_plain, name_of, prepared, summed_dims
from ._torch_ops import sat as sat_values

__all__ = ["IntegralHistogram", "Sat", "histograms", "integral_histogram", "sat", "table_dtype"]

_CHOICES = {2: ("HW",), 3: ("HWC", "CHW", "NHW", "DHW"), 4: ("NHWC", "NCHW")}
_WIDE = {torch.float16: torch.float64, torch.float32: torch.float64, torch.float64: torch.float64}
_LARGEST = {torch.bool: 255, torch.uint8: 255, torch.int8: 128}


def axes_of(x: Tensor, axes: str) -> str:
    """The letters of the dimensions. Raises InvalidArgument with the choices."""
    choices = _CHOICES.get(x.ndim, ())
    if not axes and x.ndim == 2:
        return "HW"
    if axes not in choices:
        raise InvalidArgument(f"axes {axes or '(none)'}: an array of {x.ndim} dimensions may have {' '.join(choices) or 'none'}")
    return axes


def table_dtype(x: Tensor, axes: str = "") -> torch.dtype:
    """The default dtype of a table of x: that of `default_types`, but signed, and of the next wider type if a corner may exceed it."""
    if x.dtype in _WIDE:
        return _WIDE[x.dtype]
    if x.dtype not in _LARGEST:
        return torch.int64
    most = _LARGEST[x.dtype]
    for dim in summed_dims(axes_of(x, axes)):
        most = most * x.shape[dim]
    return torch.int32 if most <= 2**31 - 1 else torch.int64


class _Slices:
    """PyTorch's operations for _composed_window."""

    def cat(self, parts: list[Tensor], dim: int) -> Tensor:
        return torch.cat(parts, dim)

    def spread(self, part: Tensor, dim: int, n: int) -> Tensor:
        return part.expand(*(n if i == dim else -1 for i in range(part.ndim)))

    def zeros_like(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)

    def clipped(self, begin: int, n: int, low: int, high: int, like: Tensor) -> Tensor:
        return (torch.arange(n, device=like.device) + begin).clamp(low, high)

    def at_least_0(self, x: Tensor) -> Tensor:
        return x.clamp(min=0)

    def wide(self, x: Tensor) -> Tensor:
        return x.to(torch.float64)

    def is_float(self, x: Tensor) -> bool:
        return bool(x.is_floating_point())


class Sat(AnySat):
    """The summed-area table of a tensor. Its arrays and results are tensors, and gradients flow through them."""

    __slots__ = ()

    def _query(self, stat: str, boxes: Any, format: str, outside: str, refused: bool, threads: int) -> Any:
        table: Tensor = self.array
        if is_plain(table) and (not isinstance(boxes, Tensor) or is_plain(boxes)):
            return super()._query(stat, boxes, format, outside, refused, threads)
        clips(outside)
        self._require_answers()
        if self.axes == "DHW":
            raise InvalidArgument("boxes: those of a volume have no gradient, and are not traced or batched; pass the table's detach()")
        rows, alone = TORCH.boxes(boxes)
        rows = TORCH.xywh(rows, format)
        answers = self._composed(stat, rows, outside, threads, refused)
        if alone:
            answers = answers[0]
        return (answers, self._first_refused(rows, outside)) if refused else answers

    def window(self, size: int | tuple[int, int], *, stat: Stat = "mean", edge: Edge = "shrink", value: float = 0, anchor: tuple[int, int] | None = None,
               dtype: Any = "float64", out: Any = None, threads: int = 0) -> Any:


        """The sum, mean, var or std of the window around every pixel, on the table's device; on CUDA, queues the work.

        See areal.Sat.window for the arguments. Under gradients, traces and batches edge is valid, shrink or zero. O(1) per pixel for any size.
        """
        if all(table is None or is_plain(table) for table in (self.array, self.squares)):
            return super().window(size, stat=stat, edge=edge, value=value, anchor=anchor, dtype=dtype, out=out, threads=threads)
        self._require_answers()
        if out is not None:
            raise InvalidArgument("out: it takes part in no gradient, trace or batch; pass x.detach()")
        if self.count is not None and stat != "sum":
            raise InvalidArgument("count: means and variances of windows are over all pixels; this table counts the valid ones")
        to = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        if to not in (torch.float32, torch.float64):
            raise InvalidArgument(f"dtype {to}: under gradients, traces and batches it is float32 or float64")
        return composed_window(_Slices(), self.array, self.squares, self.axes, self.border, size, stat, edge, anchor).to(to)

    def _composed(self, stat: str, rows: Tensor, outside: str, threads: int, refused: bool) -> Tensor:
        """The same results from the operators."""

        def sums(table: Tensor, axes: str) -> Tensor:
            return box_sums(table, rows, axes, self.border, outside, threads, refused)

        total = sums(self.array, self.axes)
        if stat == "sum":
            return total
        if self.count is not None:
            pixels = sums(self.count, self.axes.replace("C", ""))
        else:
            pixels = sums(self._ones(), "HW")
        pixels = pixels.to(total.device, torch.float64)
        while pixels.ndim < total.ndim:
            pixels = pixels.unsqueeze(-1 if "C" in self.axes and pixels.ndim == total.ndim - 1 else 1)
        mean = total.to(torch.float64) / pixels
        if stat == "mean":
            return mean
        if self.squares is None:
            raise InvalidArgument("squares: the table has none; ask areal.sat for squares=True")
        variance = (sums(self.squares, self.axes).to(torch.float64) / pixels - mean * mean).clamp(min=0)
        return variance if stat == "var" else variance.sqrt()

    def _ones(self) -> Tensor:
        """A table of counts: rows times columns."""
        h, w = (self.array.shape[self.axes.index(letter)] for letter in "HW")
        first = 1 if self.border == "none" else 0
        rows = torch.arange(first, h + first, device=self.array.device)
        columns = torch.arange(first, w + first, device=self.array.device)
        return rows[:, None] * columns[None, :]

    def _first_refused(self, rows: Tensor, outside: str) -> Tensor:
        h, w = (self.array.shape[self.axes.index(letter)] - (1 if self.border == "zero" else 0) for letter in "HW")
        x, y, width, height = rows.unbind(1)
        bad = (width < 0) | (height < 0)
        if outside == "error":
            bad = bad | (x < 0) | (y < 0) | (x + width > w) | (y + height > h)
        index = torch.arange(rows.shape[0], device=rows.device)
        none = torch.full((), rows.shape[0], device=rows.device, dtype=torch.int64)
        first = torch.cat((torch.where(bad, index, none), none[None])).min()
        return torch.where(first == rows.shape[0], -1, first)


Torch.Sat = Sat
Torch.own = sys.modules[__name__]


def sat(x: Tensor, axes: str = "", *, dtype: torch.dtype | str | None = None, border: str = "zero", squares: Any = False, tilted: bool = False,
        mask: Tensor | None = None, ignore_nan: bool = False, reverse: bool = False, algorithm: str = "auto", backend: str = "auto", threads: int = 0,
        out: Tensor | None = None, copy: bool | None = None, above: Tensor | None = None, left: Tensor | None = None, corner: Tensor | None = None) -> Sat:
    """The summed-area table of a tensor, with its device, allocator and current stream. O(H W) per plane.

    axes: HW (2-D tensors), HWC, CHW, NHW, NHWC, NCHW, or DHW, which also sums along D.
    dtype: of the sums; None: `table_dtype(x)`, which holds every corner.
    above, left, corner: as in areal.sat, on x's device.
    Gradients flow through the sums and, with squares=True, the sums of squares (float64 for floats) of the valid pixels;
    not through tilted or out. Raises InvalidArgument for wrong arguments.
    """
    x = prepared(x)
    if is_plain(x) and (mask is None or is_plain(mask)):
        name = None if dtype is None else dtype if isinstance(dtype, str) else name_of(dtype)
        of = options(name, border, squares, tilted, mask is not None, ignore_nan, algorithm, backend, 0, threads, reverse)
        made: Sat = _core.sat(TORCH, x, of, axes, mask, out, copy, above, left, corner)
        return made
    if above is not None or left is not None or corner is not None:
        raise InvalidArgument("above, left, corner: they take part in no gradient, trace or batch; pass x.detach()")
    return _composed(x, axes, dtype, border, squares, tilted, mask, ignore_nan, reverse, algorithm, backend, threads, out)


def _composed(x: Tensor, axes: str, dtype: Any, border: str, squares: Any, tilted: bool, mask: Tensor | None, ignore_nan: bool, reverse: bool,
              algorithm: str, backend: str, threads: int, out: Tensor | None) -> Sat:
    """The same tables from the operator."""
    axes = axes_of(x, axes)
    if tilted:
        raise InvalidArgument("tilted: it has no gradient, and is not traced or batched; pass x.detach()")
    if out is not None:
        raise InvalidArgument("out: it takes part in no gradient, trace or batch; pass x.detach()")
    if border not in ("zero", "none", "exclusive"):
        raise InvalidArgument(f"border {border}: may be zero, none or exclusive")
    of = table_dtype(x, axes) if dtype is None else getattr(torch, dtype) if isinstance(dtype, str) else dtype
    valid = None if mask is None else mask != 0
    if valid is not None and "C" in axes:
        valid = valid.unsqueeze(axes.index("C"))
    if ignore_nan:
        if "C" in axes:
            raise InvalidArgument("ignore_nan: of several channels it has no gradient, and is not traced or batched")
        number = ~torch.isnan(x)
        valid = number if valid is None else valid & number
    count = None
    if valid is not None:
        x = torch.where(valid, x, torch.zeros((), dtype=x.dtype, device=x.device))
        counted = valid.squeeze(axes.index("C")) if "C" in axes else valid
        count = sat_values(counted.to(torch.uint8).contiguous(), axes.replace("C", ""), torch.int32, border, reverse, "auto", backend, threads)
    total = sat_values(x, axes, of, border, reverse, algorithm, backend, threads)
    second = None
    if squares not in (False, "no"):
        wide = torch.float64 if x.is_floating_point() or squares == "float64" else torch.int64
        powers = x.to(wide)
        second = sat_values(powers * powers, axes, wide, border, reverse, "auto", backend, threads)
    return Sat(TORCH, (total, second, None, count), (axes, border, reverse, str(x.dtype).removeprefix("torch."), "", "", ""))

