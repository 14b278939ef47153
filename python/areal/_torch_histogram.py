"""Integral histograms of PyTorch tensors, and histograms of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._binning import Binning
from ._errors import InvalidArgument
from ._spelled import spelled
from ._tensor_histogram import TensorHistogram
from ._torch_histogram_ops import compiled, histogram
from ._torch_histogram_ops import histograms as histograms_of
from ._torch_ops import TORCH, is_plain, name_of, prepared


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
        """The distance between a target and the histogram of every window of ``size`` (rows, columns) inside the image: (H-h+1) x (W-w+1), of a
        batch for each image. O(bins) a window. A device's call waits."""
        if not is_plain(self.array):
            raise InvalidArgument("histogram: what it says has no gradient, and is not traced or batched; ask the counts, or pass weights.detach()")
        return super().distance_map(target, size, measure=measure, dtype=dtype, threads=threads)


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
    binning = spelled(str(x.dtype).removeprefix("torch."), bins, range, edges, labels, ignored, lookup, joint, clamp)
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
    kind, count, numbers, table, clamped, left_out = spelled(str(x.dtype).removeprefix("torch."), bins, range, edges, labels, ignored, lookup, joint, clamp)
    if boxes is None:
        boxes, format = [0, 0, x.shape[axes.index("W")], x.shape[axes.index("H")]], "xywh"
    rows, alone = TORCH.boxes(boxes, x)
    rows = TORCH.xywh(rows, format)
    answers = histograms_of(x, of_weights, rows, kind, count, list(numbers), list(table), clamped, left_out, axes, outside, threads)
    return answers[0] if alone else answers
