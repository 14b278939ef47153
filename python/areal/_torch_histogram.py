"""Integral histograms of PyTorch tensors, and histograms of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._errors import InvalidArgument
from ._torch_histogram_ops import Spelled, compiled, histogram_op, histograms_op
from ._torch_ops import TORCH, is_plain, name_of, prepared


def spelled(x: Tensor, bins: int | None, range: Any, edges: Any, labels: int | None, ignored: int | None, lookup: Any, joint: Any, clamp: bool) -> Spelled:
    """The binning in numbers. Throws InvalidArgument where none or several are named, and for floats without a range."""
    named = [name for name, value in (("edges", edges), ("labels", labels), ("lookup", lookup), ("joint", joint)) if value is not None]
    if len(named) > 1 or (named and named != ["joint"] and (bins is not None or range is not None)):
        raise InvalidArgument(f"bins: name one binning; here are {', '.join(named + ['bins'] * (bins is not None))}")
    if edges is not None:
        numbers = tuple(float(e) for e in edges)
        return "edges", max(len(numbers) - 1, 0), numbers, (), clamp, None
    if labels is not None:
        return "labels", int(labels), (), (), clamp, ignored
    if lookup is not None:
        table = tuple(int(v) for v in lookup)
        return "lookup", max(table, default=-1) + 1, (), table, clamp, None
    if joint is not None:
        counts = tuple(int(one[0]) for one in joint)
        return "joint", 0, tuple(float(v) for one in joint for v in one[1]), counts, clamp, None
    if bins is None:
        raise InvalidArgument("bins: how many? Or pass edges, labels, lookup or joint")
    if range is None:
        if x.dtype == torch.bool:
            range = (0, 2)
        elif x.is_floating_point():
            raise InvalidArgument("range: floats need one, as (lowest, highest)")
        else:
            info = torch.iinfo(x.dtype)
            range = (info.min, info.max + 1)
    low, high = range
    return "uniform", int(bins), (float(low), float(high)), (), clamp, None


def _dtype(x: Tensor, weights: Tensor | None, axes: str, dtype: Any) -> torch.dtype:
    if dtype is not None:
        found = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        assert isinstance(found, torch.dtype)
        return found
    if weights is not None:
        return torch.float64
    h, w = (x.shape[axes.index(letter)] for letter in "HW")
    return torch.int32 if h * w <= 2**31 - 1 else torch.int64


def _weights(weights: Any) -> Tensor | None:
    if weights is None:
        return None
    if not isinstance(weights, Tensor):
        raise InvalidArgument("weights: they must be a tensor, as the array is")
    return prepared(weights, "weights")


def _axes(x: Tensor, axes: str) -> str:
    axes = axes or "HW"
    if axes not in ("HW", "HWC", "CHW", "NHW", "NHWC", "NCHW") or len(axes) != x.ndim:
        raise InvalidArgument(f"axes {axes}: an array of {x.ndim} dimensions; they may be HW HWC CHW NHW NHWC NCHW")
    return axes


class IntegralHistogram:
    """An integral histogram, which answers with the histogram of any box in O(bins). N x bins x rows x columns."""

    __slots__ = ("array", "border")

    def __init__(self, array: Tensor, border: str) -> None:
        self.array, self.border = array, border

    @property
    def bins(self) -> int:
        """How many bins."""
        return int(self.array.shape[-3])

    def counts(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Histograms of boxes: boxes x N x bins, int64, with weights float64; of one box without the first dimension.

        See areal.Sat.sum for boxes, formats and ``refused``. O(bins) each.
        """
        from .torch import Sat

        axes = "NCHW" if self.array.ndim == 4 else "CHW"
        return Sat(TORCH, self.array, None, None, None, axes, self.border, None).sum(boxes, format=format, outside=outside, threads=threads, refused=refused)

    def __repr__(self) -> str:
        x = self.array
        return f"<areal.IntegralHistogram {'x'.join(map(str, x.shape))} {name_of(x.dtype)} on {x.device}, border {self.border}>"


def integral_histogram(x: Tensor, bins: int | None = None, range: Any = None, *, edges: Any = None, labels: int | None = None, ignored: int | None = None,
                       lookup: Any = None, joint: Sequence[Any] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
                       border: str = "none", dtype: Any = None, algorithm: str = "auto", threads: int = 0) -> IntegralHistogram:
    """The integral histogram of a tensor, on its device. O(bins H W) an image.

    bins, range: equal bins as numpy.histogram has them; edges; labels, how many, of which one may be ignored; lookup, a
    bin for each value; joint, (bins, (lowest, highest)) of each channel. weights: H x W, and the gradient's way; the
    image has none. dtype: int32 or int64, with weights float64 or float32.
    """
    x, of_weights, axes = prepared(x), _weights(weights), _axes(x, axes)
    if x.requires_grad and torch.is_grad_enabled():
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; pass x.detach()")
    binning = spelled(x, bins, range, edges, labels, ignored, lookup, joint, clamp)
    of = _dtype(x, of_weights, axes, dtype)
    if is_plain(x) and (of_weights is None or is_plain(of_weights)):
        made = _core.tensor_histogram(x, compiled(*binning), of_weights, axes, border, name_of(of), algorithm, threads)
        if made is not None:
            return IntegralHistogram(made, border)
    kind, count, numbers, table, clamped, left_out = binning
    return IntegralHistogram(histogram_op(x, of_weights, kind, count, list(numbers), list(table), clamped, left_out, axes, of, border, algorithm, threads),
                             border)


def histograms(x: Tensor, bins: int | None, boxes: Any, range: Any = None, *, edges: Any = None, labels: int | None = None, ignored: int | None = None,
               lookup: Any = None, joint: Sequence[Any] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
               format: str = "xywh", outside: str = "error", threads: int = 0) -> Tensor:
    """Histograms of boxes of one image: boxes x bins, int64, with weights float64. On the CPU rows are streamed and no tensor is made.

    O(H W + distinct rows x bins x W) on the CPU; on CUDA the integral histogram is made and asked. See integral_histogram.
    """
    x, of_weights, axes = prepared(x), _weights(weights), _axes(x, axes)
    if "N" in axes:
        raise InvalidArgument(f"axes {axes}: histograms of boxes are of one image")
    if x.requires_grad and torch.is_grad_enabled():
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; pass x.detach()")
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    kind, count, numbers, table, clamped, left_out = spelled(x, bins, range, edges, labels, ignored, lookup, joint, clamp)
    rows, alone = TORCH.boxes(boxes, x)
    rows = TORCH.xywh(rows, format)
    answers = histograms_op(x, of_weights, rows, kind, count, list(numbers), list(table), clamped, left_out, axes, outside, threads)
    return answers[0] if alone else answers
