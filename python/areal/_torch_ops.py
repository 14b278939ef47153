"""The operators `areal::sat`, `box_sums`, `scatter_corners`, `histogram` and `histograms`: shapes, gradients, batches.

Each is differentiable any number of times, through the operators themselves. The gradients: prefix sums are linear, and
the transpose of a sum over the pixels above and left is a sum over the pixels below and right.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch._C import _len_torch_dispatch_stack, _len_torch_function_stack
from torch._C._functorch import TransformType, get_interpreter_stack, peek_interpreter_stack
from torch.autograd import forward_ad

from . import _core
from ._errors import InvalidArgument
from ._arrays import TABLE_TYPES
from ._frameworks import Framework
from ._sat import _options as options


_PLAIN = (Tensor, torch.nn.Parameter)


def is_plain(x: Tensor) -> bool:
    """May the call bypass the dispatcher: no gradient, mode, transform, trace or subclass needs to see it?"""
    if torch.compiler.is_compiling():
        return False
    return (type(x) in _PLAIN and not (x.requires_grad and torch.is_grad_enabled()) and not _len_torch_dispatch_stack() and not _len_torch_function_stack()
            and peek_interpreter_stack() is None and forward_ad._current_level < 0)


def prepared(x: Tensor, name: str = "array") -> Tensor:
    """bfloat16 becomes float32 under autocast, and is refused elsewhere."""
    if x.dtype != torch.bfloat16:
        return x
    if not torch.is_autocast_enabled(x.device.type):
        raise InvalidArgument(f"{name}: elements of bfloat16 are none that areal has; autocast makes them float32")
    return x.float()


class Torch(Framework):
    """PyTorch's tensors, with their allocator and stream."""

    signed = True
    xp: Any = torch

    def __reduce__(self) -> str:
        return "TORCH"

    def is_plain(self, x: Any) -> bool:
        return is_plain(x)

    def permuted(self, x: Tensor, order: tuple[int, ...]) -> Tensor:
        return x.permute(order)

    def contiguous(self, x: Tensor) -> Tensor:
        return x.contiguous()

    def is_on_device(self, x: Any) -> bool:
        return isinstance(x, Tensor) and x.is_cuda

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Tensor) -> Tensor:
        return torch.zeros(shape, dtype=getattr(torch, dtype), device=like.device)

    def asarray(self, values: Any, like: Tensor) -> Tensor:
        return torch.as_tensor(values, device=like.device)

    def boxes(self, boxes: Any, numbers: int = 4) -> tuple[Tensor, bool]:
        rows = boxes if isinstance(boxes, Tensor) else torch.as_tensor(boxes)
        if rows.dtype != torch.int64:
            if rows.numel() == 0:
                rows = rows.to(torch.int64)
            elif rows.is_floating_point() or rows.is_complex() or rows.dtype in (torch.bool, torch.uint64):
                raise InvalidArgument(f"boxes of {name_of(rows.dtype)}: they must be whole numbers of at most 63 bits, as areal rounds none")
            else:
                rows = rows.to(torch.int64)
        alone = rows.ndim == 1 and rows.shape[0] == numbers
        if alone:
            rows = rows[None]
        elif rows.ndim == 1 and rows.shape[0] == 0:
            rows = rows.reshape(0, numbers)
        if rows.ndim != 2 or rows.shape[1] != numbers:
            raise InvalidArgument(f"boxes: an array of shape {tuple(rows.shape)}; it is {numbers} numbers, or N x {numbers}")
        return rows.contiguous(), alone


TORCH = Torch()
atexit.register(options.cache_clear)  # PyTorch keeps this module to the end; nanobind would count what the cache holds as leaked


@lru_cache(maxsize=64)
def name_of(dtype: torch.dtype) -> str:
    """NumPy's name of the dtype."""
    return str(dtype).removeprefix("torch.")


def summed_dims(axes: str) -> tuple[int, ...]:
    """The indices of the summed dimensions."""
    return tuple(i for i, letter in enumerate(axes) if letter in "DHW")


def table_shape(shape: Sequence[Any], axes: str, border: str) -> list[Any]:
    """The shape of a table, in the order of the axes."""
    more = 1 if border == "zero" else 0
    return [extent + more if letter in "DHW" else extent for extent, letter in zip(shape, axes)]


def _is_differentiated() -> bool:
    """Is a differentiating transform of torch.func active?"""
    if torch.compiler.is_compiling() or peek_interpreter_stack() is None:
        return False
    return any(level.key() in (TransformType.Grad, TransformType.Jvp) for level in get_interpreter_stack() or ())


def differentiable(operator: Any, context: Callable[..., None], backward: Callable[..., tuple[Any, ...]]) -> Callable[..., Tensor]:
    """The operator with its gradient, also under torch.func's transforms, which ignore an operator's registered gradient and need an autograd function."""
    operator.register_autograd(backward, setup_context=context)
    members = {"forward": staticmethod(lambda *inputs: operator(*inputs)), "setup_context": staticmethod(context), "backward": staticmethod(backward),
               "generate_vmap_rule": True}
    function: Any = type(operator._name, (torch.autograd.Function,), members)

    def call(*inputs: Any) -> Tensor:
        made: Tensor = function.apply(*inputs) if _is_differentiated() else operator(*inputs)
        return made

    return call


def _flat_first(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])


# ---------------------------------------------------------------- sat


@torch.library.custom_op("areal::sat", mutates_args=())
def sat_op(image: Tensor, axes: str, dtype: torch.dtype, border: str, reverse: bool, algorithm: str, backend: str, threads: int) -> Tensor:
    """The table of sums of an image, contiguous."""
    of = options(name_of(dtype), border, False, False, False, False, algorithm, backend, 0, threads, reverse)
    made: Tensor = _core.sat(TORCH, image, of, axes, None, None, None, None, None, None).array
    return made.contiguous()


@sat_op.register_fake
def _(image: Tensor, axes: str, dtype: torch.dtype, border: str, reverse: bool, algorithm: str, backend: str, threads: int) -> Tensor:
    return image.new_empty(table_shape(image.shape, axes, border), dtype=dtype)


def _sat_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    image, ctx.axes, _, ctx.border, ctx.reverse, *ctx.how = inputs
    ctx.dtype = image.dtype


def _sat_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    border = ctx.border
    if border == "zero":  # T[y][x] sums rows < y: without the row of zeros it is `none`
        for dim in summed_dims(ctx.axes):
            gradient = gradient.narrow(dim, 0 if ctx.reverse else 1, gradient.shape[dim] - 1)
        border = "none"
    into_image = sat(gradient, ctx.axes, gradient.dtype, border, not ctx.reverse, "auto", *ctx.how[1:])
    return (into_image.to(ctx.dtype),) + (None,) * 7


sat = differentiable(sat_op, _sat_context, _sat_backward)


@sat_op.register_vmap
def _(info: Any, in_dims: Any, image: Tensor, axes: str, *rest: Any) -> tuple[Tensor, int]:
    image = image.movedim(in_dims[0], 0)
    if "D" in axes:  # a batch of volumes is no image's
        return torch.stack([sat_op(one, axes, *rest) for one in image.unbind(0)]), 0
    if "N" not in axes:
        return sat_op(image, "N" + axes, *rest), 0
    made = sat_op(_flat_first(image), axes, *rest)
    return made.reshape(*image.shape[:2], *made.shape[1:]), 0


# ---------------------------------------------------------------- box sums and their transpose


def _answer_dims(shape: Sequence[Any], axes: str) -> list[Any]:
    return [shape[axes.index(letter)] for letter in "NC" if letter in axes]


@torch.library.custom_op("areal::box_sums", mutates_args=())
def box_sums_op(table: Tensor, boxes: Tensor, axes: str, border: str, outside: str, threads: int, refused: bool = False) -> Tensor:
    """Sums of boxes x, y, width, height: boxes x N x C, int64 or float64, on the table's device. With `refused` no box raises."""
    made = _core.query(TORCH, "sum", table, None, None, border, axes, boxes.contiguous(), "xywh", outside == "clip", refused, threads)
    answers: Tensor = made[0] if refused else made
    return answers


def _sum_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype.is_floating_point else torch.int64


@box_sums_op.register_fake
def _(table: Tensor, boxes: Tensor, axes: str, border: str, outside: str, threads: int, refused: bool = False) -> Tensor:
    return table.new_empty([boxes.shape[0], *_answer_dims(table.shape, axes)], dtype=_sum_dtype(table.dtype))


def _box_sums_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    table, boxes, ctx.axes, ctx.border, ctx.outside, *_ = inputs
    ctx.shape, ctx.dtype = table.shape, table.dtype
    ctx.save_for_backward(boxes)


def _box_sums_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    (boxes,) = ctx.saved_tensors
    into_table = scatter(gradient, boxes, list(ctx.shape), ctx.axes, ctx.border, ctx.outside)
    return (into_table.to(ctx.dtype),) + (None,) * 6


box_sums = differentiable(box_sums_op, _box_sums_context, _box_sums_backward)


@box_sums_op.register_vmap
def _(info: Any, in_dims: Any, table: Tensor, boxes: Tensor, axes: str, *rest: Any) -> tuple[Tensor, int]:
    of_table, of_boxes = in_dims[:2]
    if of_table is None:
        boxes = boxes.movedim(of_boxes, 0)
        made = box_sums_op(table, _flat_first(boxes), axes, *rest)
        return made.reshape(*boxes.shape[:2], *made.shape[1:]), 0
    table = table.movedim(of_table, 0)
    if of_boxes is not None:
        boxes = boxes.movedim(of_boxes, 0)
        return torch.stack([box_sums_op(t, b, axes, *rest) for t, b in zip(table.unbind(0), boxes.unbind(0))]), 0
    if "N" not in axes:
        return box_sums_op(table, boxes, "N" + axes, *rest), 1
    if axes[0] != "N":
        raise InvalidArgument(f"axes {axes}: under vmap N is the first")
    made = box_sums_op(_flat_first(table), boxes, axes, *rest)
    return made.reshape(made.shape[0], *table.shape[:2], *made.shape[2:]), 1


@torch.library.custom_op("areal::scatter_corners", mutates_args=())
def scatter_op(values: Tensor, boxes: Tensor, shape: Sequence[int], axes: str, border: str, outside: str) -> Tensor:
    """The transpose of box sums: a table of the shape with +values and -values at the corners of the boxes."""
    wide = values.to(_sum_dtype(values.dtype)).contiguous()
    made = wide.new_empty(shape)
    if axes.endswith("C") and shape[-1] > 4:
        made = wide.new_empty([*shape[:-3], shape[-1], *shape[-3:-1]]).movedim(-3, -1)
    _core.scatter(TORCH, wide, boxes.contiguous(), made, border, axes, outside == "clip")
    return made.to(values.dtype).contiguous()


@scatter_op.register_fake
def _(values: Tensor, boxes: Tensor, shape: Sequence[int], axes: str, border: str, outside: str) -> Tensor:
    return values.new_empty(shape)


def _scatter_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    values, boxes, _, ctx.axes, ctx.border, ctx.outside = inputs
    ctx.dtype = values.dtype
    ctx.save_for_backward(boxes)


def _scatter_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    (boxes,) = ctx.saved_tensors
    into_values = box_sums(gradient, boxes, ctx.axes, ctx.border, ctx.outside, 0, True)
    return into_values.to(ctx.dtype), None, None, None, None, None


scatter = differentiable(scatter_op, _scatter_context, _scatter_backward)


@scatter_op.register_vmap
def _(info: Any, in_dims: Any, values: Tensor, boxes: Tensor, shape: Sequence[int], *rest: Any) -> tuple[Tensor, int]:
    size = info.batch_size
    many = [x.movedim(dim, 0).unbind(0) if dim is not None else [x] * size for x, dim in zip((values, boxes), in_dims)]
    return torch.stack([scatter_op(v, b, shape, *rest) for v, b in zip(*many)]), 0


for _op in (sat_op, box_sums_op):
    for _device in ("cpu", "cuda"):
        _op.register_autocast(_device, torch.float32)

assert set(TABLE_TYPES) == {name_of(getattr(torch, name)) for name in TABLE_TYPES}
