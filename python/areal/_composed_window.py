"""Windows of tables composed of a framework's own operations, for gradients, traces and batches: PyTorch's and JAX's."""

from __future__ import annotations

from typing import Any, Protocol

from ._errors import InvalidArgument


class Operations(Protocol):
    """The operations of a framework that windows need, besides arithmetic and slices."""

    def cat(self, parts: list[Any], dim: int) -> Any:
        """Concatenates arrays."""

    def spread(self, part: Any, dim: int, n: int) -> Any:
        """Repeats an array of extent 1 n times along the dimension."""

    def zeros_like(self, x: Any) -> Any:
        """Zeros of the same shape and dtype."""

    def clipped(self, begin: int, n: int, low: int, high: int, like: Any) -> Any:
        """begin, begin + 1, .. begin + n - 1, clamped to the range."""

    def at_least_0(self, x: Any) -> Any:
        """Replaces negative values by 0."""

    def wide(self, x: Any) -> Any:
        """Converts to float64."""

    def is_float(self, x: Any) -> bool:
        """Are its elements floating-point?"""
        raise NotImplementedError


def _ends(extent: int, size: int, anchor: int, edge: str) -> tuple[int, int]:
    """The begin of the first window, and the number of windows."""
    if size < 1 or not -1 <= anchor < size:
        raise InvalidArgument(f"window: a size of {size} with the anchor {anchor}; the size is 1 or more, the anchor -1 or a cell of the window")
    if edge == "valid":
        return 0, max(0, extent - size + 1)
    return -(size // 2 if anchor < 0 else anchor), extent


def _part(x: Any, dim: int, begin: int, n: int) -> Any:
    return x[(slice(None),) * dim + (slice(begin, begin + n),)]


def _between(on: Operations, table: Any, dim: int, extent: int, size: int, begin: int, windows: int) -> Any:
    """T[end] - T[begin] along a dimension of extent + 1 entries. Uses only slices, so that the gradient has the same bits in every run."""
    before, behind = max(0, -begin), max(0, begin + windows - 1 + size - extent)
    longer = on.cat([on.spread(_part(table, dim, 0, 1), dim, before), table, on.spread(_part(table, dim, extent, 1), dim, behind)], dim)
    return _part(longer, dim, begin + before + size, windows) - _part(longer, dim, begin + before, windows)


def _inside(on: Operations, extent: int, size: int, begin: int, windows: int, like: Any) -> Any:
    """The number of cells of each window inside the image."""
    return on.clipped(begin + size, windows, 0, extent, like) - on.clipped(begin, windows, 0, extent, like)


def composed_window(on: Operations, array: Any, squares: Any, axes: str, border: str, size: int | tuple[int, int], stat: str, edge: str,
                    anchor: tuple[int, int] | None) -> Any:
    """Sat.window in float64."""
    if stat not in ("sum", "mean", "var", "std"):
        raise InvalidArgument(f"stat {stat}: may be sum, mean, var or std")
    if edge not in ("valid", "shrink", "zero"):
        raise InvalidArgument(f"edge {edge}: where gradients, traces and batches may be it is valid, shrink or zero")
    if border == "exclusive" or "D" in axes:
        raise InvalidArgument("window: the table's border is zero or none, and it is of images")
    sizes = (size, size) if isinstance(size, int) else tuple(size)
    h, w = axes.index("H"), axes.index("W")
    more = 1 if border == "zero" else 0
    extents = array.shape[h] - more, array.shape[w] - more
    rows, columns = (_ends(extents[i], sizes[i], -1 if anchor is None else anchor[i], edge) for i in (0, 1))

    def sums(table: Any) -> Any:
        if on.is_float(table):
            table = on.wide(table)
        for dim, i, (begin, windows) in ((h, 0, rows), (w, 1, columns)):
            if not more:
                table = on.cat([on.zeros_like(_part(table, dim, 0, 1)), table], dim)
            table = _between(on, table, dim, extents[i], sizes[i], begin, windows)
        return on.wide(table)

    total = sums(array)
    if stat == "sum":
        return total
    pixels: Any = sizes[0] * sizes[1]
    if edge == "shrink":
        pixels = _inside(on, extents[0], sizes[0], *rows, total)[:, None] * _inside(on, extents[1], sizes[1], *columns, total)[None, :]
        if axes.endswith("C"):
            pixels = pixels[..., None]
    mean = total / pixels
    if stat == "mean":
        return mean
    if squares is None:
        raise InvalidArgument("squares: the table has none; ask areal.sat for squares=True")
    variance = on.at_least_0(sums(squares) / pixels - mean * mean)
    return variance if stat == "var" else variance**0.5
