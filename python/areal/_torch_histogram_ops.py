"""The operators `areal::histogram` and `areal::histograms`. Only the weights have gradients: a bin is a step function.

Graphs hold the binning as numbers (_spelled.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._arrays import Array
from ._errors import InvalidArgument
from ._histogram import planned
from ._spelled import Spelled, number_of_bins, unspelled
from ._torch_ops import TORCH, box_sums_op, differentiable, name_of, sat, scatter, table_shape


def bins_of_pixels(image: Tensor, axes: str, spelled: Spelled) -> Tensor:
    """The bin of each pixel, -1 for none; removes the axis C. Defined as Binning::bin_of."""
    kind, bins, numbers, table, clamp, ignored = spelled

    def uniform(values: Tensor, edges: Array) -> Tensor:
        at = torch.as_tensor(edges, dtype=torch.float64, device=values.device)
        wide = values.to(torch.float64)
        number = torch.bucketize(wide, at, right=True) - 1
        last = len(edges) - 2
        number = torch.where(wide == at[-1], last, number)
        if clamp:
            number = number.clamp(0, last)
        else:
            number = torch.where((wide < at[0]) | (wide > at[-1]), -1, number)
        return torch.where(torch.isnan(wide), -1, number)

    if kind == "joint":
        dim = axes.index("C")
        joint, valid = None, None
        for channel, count in enumerate(table):
            edges = unspelled("uniform", count, tuple(numbers[2 * channel:2 * channel + 2]), (), clamp, None).edges
            one = uniform(image.select(dim, channel), edges)
            joint = one if joint is None else joint * count + one
            valid = one >= 0 if valid is None else valid & (one >= 0)
        assert joint is not None and valid is not None
        return torch.where(valid, joint, -1)
    if "C" in axes:
        image = image.squeeze(axes.index("C"))
    if kind in ("uniform", "edges"):
        return uniform(image, unspelled(kind, bins, tuple(numbers), tuple(table), clamp, None).edges)
    value = image.to(torch.int64)
    if kind == "labels":
        inside = (value >= 0) & (value < bins)
        if ignored is not None:
            inside &= value != ignored
        return torch.where(inside, value, -1)
    of = torch.tensor(table, dtype=torch.int64, device=image.device)
    inside = (value >= 0) & (value < len(table))
    return torch.where(inside, of[torch.where(inside, value, 0)], -1)


def _planes(axes: str) -> str:
    return "NCHW" if "N" in axes else "CHW"


def _refuse_image(ctx: Any) -> None:
    if ctx.needs_input_grad[0]:
        raise InvalidArgument("image: histograms have no gradient with respect to it, as a pixel's bin is a step; pass image.detach()")


# ---------------------------------------------------------------- the tensor


@torch.library.custom_op("areal::histogram", mutates_args=())
def histogram_op(image: Tensor, weights: Tensor | None, kind: str, bins: int, numbers: Sequence[float], table: Sequence[int], clamp: bool,
                 ignored: int | None, axes: str, dtype: torch.dtype, border: str, algorithm: str, threads: int) -> Tensor:
    """The integral histogram: N x bins x rows x columns."""
    plan = planned(tuple(image.shape), name_of(image.dtype), unspelled(kind, bins, tuple(numbers), tuple(table), clamp, ignored), axes, name_of(dtype), border,
                   weights is not None, algorithm, 0, "auto", 0, threads)
    tensor: Tensor = plan.execute(TORCH, image, None, weights, None)[0]
    return tensor.contiguous()


@histogram_op.register_fake
def _(image: Tensor, weights: Tensor | None, kind: str, bins: int, numbers: Sequence[float], table: Sequence[int], clamp: bool, ignored: int | None,
      axes: str, dtype: torch.dtype, border: str, algorithm: str, threads: int) -> Tensor:
    extents = [image.shape[axes.index("N")]] if "N" in axes else []
    rows = table_shape([image.shape[axes.index(letter)] for letter in "HW"], "HW", border)
    return image.new_empty([*extents, number_of_bins(kind, bins, numbers, table), *rows], dtype=dtype)


def _histogram_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _refuse_image(ctx)
    image, weights, *ctx.spelled, ctx.axes, _, ctx.border, _, ctx.threads = inputs
    ctx.dtype = None if weights is None else weights.dtype
    ctx.save_for_backward(image)


def _histogram_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    (image,) = ctx.saved_tensors
    planes, border = _planes(ctx.axes), ctx.border
    if border == "zero":
        gradient, border = gradient[..., 1:, 1:], "none"
    below = sat(gradient, planes, gradient.dtype, border, True, "auto", "auto", ctx.threads)
    number = bins_of_pixels(image, ctx.axes, tuple(ctx.spelled)).unsqueeze(-3)
    picked = torch.gather(below, -3, number.clamp(min=0))
    into_weights = torch.where(number >= 0, picked, 0).squeeze(-3)
    return (None, into_weights.to(ctx.dtype)) + (None,) * 11


histogram = differentiable(histogram_op, _histogram_context, _histogram_backward)


def _batched(info: Any, in_dims: Any, image: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Moves the batch of both to the front."""
    image = image.movedim(in_dims[0], 0) if in_dims[0] is not None else image.expand(info.batch_size, *image.shape)
    if weights is not None:
        weights = weights.movedim(in_dims[1], 0) if in_dims[1] is not None else weights.expand(info.batch_size, *weights.shape)
    return image, weights


@histogram_op.register_vmap
def _(info: Any, in_dims: Any, image: Tensor, weights: Tensor | None, kind: str, bins: int, numbers: Sequence[float], table: Sequence[int], clamp: bool,
      ignored: int | None, axes: str, *rest: Any) -> tuple[Tensor, int]:
    image, weights = _batched(info, in_dims, image, weights)
    if "N" not in axes:
        return histogram_op(image, weights, kind, bins, numbers, table, clamp, ignored, "N" + axes, *rest), 0
    size = image.shape[:2]
    made = histogram_op(image.reshape(-1, *image.shape[2:]), None if weights is None else weights.reshape(-1, *weights.shape[2:]), kind, bins, numbers, table,
                        clamp, ignored, axes, *rest)
    return made.reshape(*size, *made.shape[1:]), 0


# ---------------------------------------------------------------- histograms of boxes, without the tensor on the CPU


@torch.library.custom_op("areal::histograms", mutates_args=())
def histograms_op(image: Tensor, weights: Tensor | None, boxes: Tensor, kind: str, bins: int, numbers: Sequence[float], table: Sequence[int], clamp: bool,
                  ignored: int | None, axes: str, outside: str, threads: int) -> Tensor:
    """Histograms of boxes x, y, width, height of one image: boxes x bins, int64, with weights float64."""
    if image.is_cuda:
        dtype = torch.int64 if weights is None else torch.float64
        tensor = histogram_op(image, weights, kind, bins, numbers, table, clamp, ignored, axes, dtype, "none", "auto", threads)
        return box_sums_op(tensor, boxes, "CHW", "none", outside, threads)
    binning = unspelled(kind, bins, tuple(numbers), tuple(table), clamp, ignored)
    answers: Tensor = _core.histograms(TORCH, image, binning._rule, boxes.contiguous(), axes, "xywh", outside == "clip", weights, None, threads)
    return answers


@histograms_op.register_fake
def _(image: Tensor, weights: Tensor | None, boxes: Tensor, kind: str, bins: int, numbers: Sequence[float], table: Sequence[int], clamp: bool,
      ignored: int | None, axes: str, outside: str, threads: int) -> Tensor:
    return image.new_empty([boxes.shape[0], number_of_bins(kind, bins, numbers, table)], dtype=torch.int64 if weights is None else torch.float64)


def _histograms_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _refuse_image(ctx)
    image, weights, boxes, *ctx.spelled, ctx.axes, ctx.outside, ctx.threads = inputs
    ctx.dtype = None if weights is None else weights.dtype
    ctx.save_for_backward(image, boxes)


def _histograms_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    image, boxes = ctx.saved_tensors
    number = bins_of_pixels(image, ctx.axes, tuple(ctx.spelled)).unsqueeze(0)
    shape = [gradient.shape[1], number.shape[1] + 1, number.shape[2] + 1]
    corners = scatter(gradient, boxes, shape, "CHW", "zero", ctx.outside)
    # A table of +-g at the corners of boxes, summed, is g inside them. Corner (y, x) begins pixel (y, x).
    inside = sat(corners[:, :-1, :-1], "CHW", corners.dtype, "none", False, "auto", "auto", ctx.threads)
    picked = torch.gather(inside, 0, number.clamp(min=0))
    into_weights = torch.where(number >= 0, picked, 0).squeeze(0)
    return (None, into_weights.to(ctx.dtype)) + (None,) * 10


histograms = differentiable(histograms_op, _histograms_context, _histograms_backward)


@histograms_op.register_vmap
def _(info: Any, in_dims: Any, image: Tensor, weights: Tensor | None, boxes: Tensor, *rest: Any) -> tuple[Tensor, int]:
    image, weights = _batched(info, in_dims, image, weights)
    boxes = boxes.movedim(in_dims[2], 0) if in_dims[2] is not None else boxes.expand(info.batch_size, *boxes.shape)
    return torch.stack([histograms_op(image[i], None if weights is None else weights[i], boxes[i], *rest) for i in range(info.batch_size)]), 0


for _op in (histogram_op, histograms_op):
    for _device in ("cpu", "cuda"):
        _op.register_autocast(_device, torch.float32)
