"""Integral histograms of PyTorch tensors, and histograms of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ._binning import Binning, binning_of
from ._box_histograms import Measure
from ._errors import InvalidArgument
from ._histogram import IntegralHistogram as AnyHistogram
from ._histogram import planned
from ._sat import Format, Outside
from ._spelled import spelled
from ._torch_histogram_ops import histogram
from ._torch_histogram_ops import histograms as histograms_of
from ._torch_ops import TORCH, Torch, is_plain, name_of, prepared


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


class IntegralHistogram(AnyHistogram):
    """An integral histogram of tensors: bins x rows x columns, for a batch N x bins x rows x columns.

    Gradients with respect to weights flow through `counts`; entropies, distances and the like have none.
    """

    __slots__ = ()

    def _is_plain(self, boxes: Any = None) -> bool:
        return is_plain(self.array) and (not isinstance(boxes, Tensor) or is_plain(boxes))

    def _require_plain(self, boxes: Any = None) -> None:
        if not self._is_plain(boxes):
            raise InvalidArgument("histogram: what it says has no gradient, and is not traced or batched; ask the counts, or pass weights.detach()")

    def counts(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Histograms of boxes: boxes x N x bins, int64, with weights float64, through which gradients flow. See areal.IntegralHistogram."""
        if self._is_plain(boxes):
            return super().counts(boxes, format=format, outside=outside, refused=refused, threads=threads)
        from .torch import Sat

        axes = "NCHW" if self.array.ndim == 4 else "CHW"
        sums = Sat(TORCH, (self.array, None, None, None), (axes, self.border, False, self.image_dtype, "", "", ""))
        return sums.sum(boxes, format=format, outside=outside, refused=refused, threads=threads)

    def _measure(self, name: str, boxes: Any, format: str, outside: str, threads: int, values: Any = None, percent: float = 0, distance: str = "") -> Any:
        self._require_plain(boxes)
        return super()._measure(name, boxes, format, outside, threads, values, percent, distance)

    def distance_map(self, target: Any, size: int | tuple[int, int], *, measure: Measure = "hellinger", dtype: Any = "float64", threads: int = 0) -> Any:
        """The distance between a target and the histogram of every window inside the image. See areal.IntegralHistogram."""
        self._require_plain()
        return super().distance_map(target, size, measure=measure, dtype=dtype, threads=threads)


Torch.IntegralHistogram = IntegralHistogram


def integral_histogram(x: Tensor, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None, ignored: int | None = None,
                       lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
                       dtype: Any = None, border: str = "none", algorithm: str = "auto", threads: int = 0) -> IntegralHistogram:
    """The integral histogram of a tensor, on its device. O(bins H W) per image.

    Takes the binnings of areal.integral_histogram; joint bins must have ranges. weights: H x W; they have a gradient, the
    image has none. dtype: int32 or int64; with weights float64 or float32.
    """
    x, of_weights, axes = prepared(x), _weights(weights), _axes(x, axes)
    if x.requires_grad and torch.is_grad_enabled():
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; pass x.detach()")
    of, dtype_of_pixels = _dtype(x, of_weights, axes, dtype), str(x.dtype).removeprefix("torch.")
    if is_plain(x) and (of_weights is None or is_plain(of_weights)):
        rule = binning_of(dtype_of_pixels, bins, range, edges, labels, ignored, lookup, joint, clamp)
        plan = planned(tuple(x.shape), dtype_of_pixels, rule, axes, name_of(of), border, of_weights is not None, algorithm, 0, "auto", 0, threads)
        return IntegralHistogram(*plan._made(TORCH, x, None, of_weights, None))
    binning = spelled(dtype_of_pixels, bins, range, edges, labels, ignored, lookup, joint, clamp)
    kind, count, numbers, table, clamped, left_out = binning
    made = histogram(x, of_weights, kind, count, list(numbers), list(table), clamped, left_out, axes, of, border, algorithm, threads)
    return IntegralHistogram(TORCH, made, binning, (axes, border, dtype_of_pixels, "", "", ""))


def histograms(x: Tensor, bins: Any = None, boxes: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None, ignored: int | None = None,
               lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Tensor | None = None, axes: str = "",
               format: str = "xywh", outside: str = "error", threads: int = 0) -> Tensor:


    """Histograms of boxes of one image: boxes x bins, int64, with weights float64. See integral_histogram.

    The CPU streams the rows without a tensor, in O(H W + distinct rows x bins x W); CUDA computes the integral histogram.
    """
    x, of_weights, axes = prepared(x), _weights(weights), _axes(x, axes)
    if "N" in axes:
        raise InvalidArgument(f"axes {axes}: histograms of boxes are of one image")
    if x.requires_grad and torch.is_grad_enabled():
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; pass x.detach()")
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    kind, count, numbers, table, clamped, left_out = spelled(name_of(x.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp)
    if boxes is None:
        boxes, format = [0, 0, x.shape[axes.index("W")], x.shape[axes.index("H")]], "xywh"
    rows, alone = TORCH.boxes(boxes)
    rows = TORCH.xywh(rows, format)
    answers = histograms_of(x, of_weights, rows, kind, count, list(numbers), list(table), clamped, left_out, axes, outside, threads)
    return answers[0] if alone else answers
