"""Windows of tables from PyTorch's own operations, for tensors that ask for a gradient, are traced or batched."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._errors import InvalidArgument
from ._tensor_sat import TensorSat


def _ends(extent: int, size: int, anchor: int, edge: str) -> tuple[int, int]:
    """The first window's begin, and how many windows there are."""
    if size < 1 or not -1 <= anchor < size:
        raise InvalidArgument(f"window: a size of {size} with the anchor {anchor}; the size is 1 or more, the anchor -1 or a cell of the window")
    if edge == "valid":
        return 0, max(0, extent - size + 1)
    return -(size // 2 if anchor < 0 else anchor), extent


def _between(table: Tensor, dim: int, extent: int, size: int, begin: int, windows: int) -> Tensor:
    """T[end] - T[begin] along a dimension of extent + 1 entries: slices alone, so that the gradient has the same bits every run."""
    before, behind = max(0, -begin), max(0, begin + windows - 1 + size - extent)
    first, last = table.narrow(dim, 0, 1), table.narrow(dim, extent, 1)
    parts = [part.expand(*(n if i == dim else -1 for i in range(table.ndim))) for part, n in ((first, before), (last, behind))]
    longer = torch.cat((parts[0], table, parts[1]), dim)
    return longer.narrow(dim, begin + before + size, windows) - longer.narrow(dim, begin + before, windows)


def _inside(extent: int, size: int, begin: int, windows: int, like: Tensor) -> Tensor:
    """How many of each window's cells lie in the image."""
    starts = torch.arange(windows, device=like.device) + begin
    return (starts + size).clamp(max=extent) - starts.clamp(min=0)


def composed_window(t: TensorSat, size: int | tuple[int, int], stat: str, edge: str, anchor: tuple[int, int] | None, dtype: Any, out: Any) -> Tensor:
    """What TensorSat.window gives, in whatever the table takes part."""
    if stat not in ("sum", "mean", "var", "std"):
        raise InvalidArgument(f"stat {stat}: may be sum, mean, var or std")
    if edge not in ("valid", "shrink", "zero"):
        raise InvalidArgument(f"edge {edge}: under gradients, traces and batches it is valid, shrink or zero; pass the table's detach()")
    if t.border == "exclusive" or "D" in t.axes or t.reverse:
        raise InvalidArgument("window: the table has the border zero or none, is of images, and not reversed")
    if out is not None:
        raise InvalidArgument("out: it takes part in no gradient, trace or batch; pass x.detach()")
    if t.count is not None and stat != "sum":
        raise InvalidArgument("count: means and variances of windows are over all pixels; this table counts the valid ones")
    to = getattr(torch, dtype) if isinstance(dtype, str) else dtype
    if to not in (torch.float32, torch.float64):
        raise InvalidArgument(f"dtype {to}: under gradients, traces and batches it is float32 or float64")
    sizes = (size, size) if isinstance(size, int) else tuple(size)
    h, w = t.axes.index("H"), t.axes.index("W")
    more = 1 if t.border == "zero" else 0
    extents = t.array.shape[h] - more, t.array.shape[w] - more
    rows, columns = (_ends(extents[i], sizes[i], -1 if anchor is None else anchor[i], edge) for i in (0, 1))

    def sums(table: Tensor) -> Tensor:
        if table.is_floating_point():
            table = table.to(torch.float64)
        for dim, i, (begin, windows) in ((h, 0, rows), (w, 1, columns)):
            if not more:
                table = torch.cat((torch.zeros_like(table.narrow(dim, 0, 1)), table), dim)
            table = _between(table, dim, extents[i], sizes[i], begin, windows)
        return table.to(torch.float64)

    total = sums(t.array)
    if stat == "sum":
        return total.to(to)
    pixels: Any = sizes[0] * sizes[1]
    if edge == "shrink":
        pixels = _inside(extents[0], sizes[0], *rows, total)[:, None] * _inside(extents[1], sizes[1], *columns, total)[None, :]
        if t.axes.endswith("C"):
            pixels = pixels[..., None]
    mean = total / pixels
    if stat == "mean":
        return mean.to(to)
    if t.squares is None:
        raise InvalidArgument("squares: the table has none; ask areal.sat for squares=True")
    variance = (sums(t.squares) / pixels - mean * mean).clamp(min=0)
    return (variance if stat == "var" else variance.sqrt()).to(to)
