"""Integral histograms of PyTorch tensors, and histograms of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._binning import Binning
from ._errors import InvalidArgument
from ._tensor_histogram import TensorHistogram
from ._torch_histogram_ops import Spelled, compiled, histogram
from ._torch_histogram_ops import histograms as histograms_of
from ._torch_ops import TORCH, is_plain, name_of, prepared


def spelled(x: Tensor, bins: Any, range: Any, edges: Any, labels: int | None, ignored: int | None, lookup: Any, joint: Any, clamp: bool) -> Spelled:
    """The binning in numbers. Throws InvalidArgument where none or several are named, and for floats without a range."""
    if isinstance(bins, Binning):
        if clamp or any(value is not None for value in (range, edges, labels, ignored, lookup, joint)):
            raise InvalidArgument("bins: a Binning says everything, and more was given")
        return _says(bins)
    if bins is not None and not isinstance(bins, int) and not hasattr(bins, "__index__"):
        bins, edges = None, bins
    named = [name for name, value in (("bins", bins), ("edges", edges), ("labels", labels), ("lookup", lookup), ("joint", joint)) if value is not None]
    if len(named) != 1:
        raise InvalidArgument(f"binning: one of bins, edges, labels, lookup and joint, and {' and '.join(named) or 'none'} given")
    if range is not None and bins is None:
        raise InvalidArgument(f"range: it goes with bins, and {named[0]} are given")
    if edges is not None:
        numbers = tuple(float(e) for e in edges)
        return "edges", max(len(numbers) - 1, 0), numbers, (), clamp, None
    if labels is not None:
        return "labels", int(labels), (), (), clamp, ignored
    if lookup is not None:
        table = tuple(int(v) for v in lookup)
        return "lookup", max(table, default=-1) + 1, (), table, clamp, None
    if joint is not None:
        return _joint([_says(part) for part in joint])
    if range is None:
        if x.is_floating_point():
            raise InvalidArgument(f"range: pixels of {name_of(x.dtype)} need one")
        info = torch.iinfo(torch.uint8 if x.dtype == torch.bool else x.dtype)
        range = (info.min, info.max + 1)
    low, high = range
    return "uniform", int(bins), (float(low), float(high)), (), clamp, None


def _says(binning: Any) -> Spelled:
    if not isinstance(binning, Binning):
        raise InvalidArgument("joint: its parts must be areal.Binning, one a channel")
    kind, *says, clamp = binning._says
    if kind == "uniform":
        return "uniform", says[0], (says[1], says[2]), (), clamp, None
    if kind == "edges":
        return "edges", len(says[0]) - 1, says[0], (), clamp, None
    if kind == "labels":
        return "labels", says[0], (), (), clamp, says[1]
    if kind == "lookup":
        return "lookup", max(says[0], default=-1) + 1, (), says[0], clamp, None
    return _joint([_says(part) for part in says[0]])


def _joint(parts: list[Spelled]) -> Spelled:
    if not parts or any(part[0] != "uniform" or part[4] != parts[0][4] for part in parts):
        raise InvalidArgument("joint: the parts for a tensor are bins over a range, all clamped or none")
    return "joint", 0, tuple(v for part in parts for v in part[2]), tuple(part[1] for part in parts), parts[0][4], None


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


class IntegralHistogram(TensorHistogram):
    """An integral histogram, which answers with the histogram of any box in O(bins). N x bins x rows x columns.

    Gradients with respect to weights flow through `counts`; what histograms say (entropies, distances, ..) has none.
    """

    __slots__ = ()

    def _sums(self) -> Any:
        from .torch import Sat

        return Sat(TORCH, self.array, None, None, None, "NCHW" if self.array.ndim == 4 else "CHW", self.border, None)

    def _doubles(self, boxes: Any, format: str, outside: str, threads: int) -> tuple[Any, bool]:
        if not is_plain(self.array) or (isinstance(boxes, Tensor) and not is_plain(boxes)):
            raise InvalidArgument("histogram: what it says has no gradient, and is not traced or batched; ask the counts, or pass weights.detach()")
        return super()._doubles(boxes, format, outside, threads)

    def distance_map(self, target: Any, size: int | tuple[int, int], *, measure: str = "hellinger", dtype: Any = "float64", threads: int = 0) -> Any:
        if not is_plain(self.array):
            raise InvalidArgument("histogram: what it says has no gradient, and is not traced or batched; ask the counts, or pass weights.detach()")
        return super().distance_map(target, size, measure=measure, dtype=dtype, threads=threads)

    distance_map.__doc__ = TensorHistogram.distance_map.__doc__


def integral_histogram(x: Tensor, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None, ignored: int | None = None,
                       lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
                       dtype: Any = None, border: str = "none", algorithm: str = "auto", threads: int = 0) -> IntegralHistogram:
    """The integral histogram of a tensor, on its device. O(bins H W) an image.

    The binning is said as to areal.integral_histogram; joint bins are of ranges. weights: H x W, and the gradient's way; the
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
            return IntegralHistogram(TORCH, made, border, compiled(*binning).edges)
    kind, count, numbers, table, clamped, left_out = binning
    made = histogram(x, of_weights, kind, count, list(numbers), list(table), clamped, left_out, axes, of, border, algorithm, threads)
    return IntegralHistogram(TORCH, made, border, ())


def histograms(x: Tensor, bins: Any = None, boxes: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None, ignored: int | None = None,
               lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
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
    if boxes is None:
        boxes, format = [0, 0, x.shape[axes.index("W")], x.shape[axes.index("H")]], "xywh"
    rows, alone = TORCH.boxes(boxes, x)
    rows = TORCH.xywh(rows, format)
    answers = histograms_of(x, of_weights, rows, kind, count, list(numbers), list(table), clamped, left_out, axes, outside, threads)
    return answers[0] if alone else answers
