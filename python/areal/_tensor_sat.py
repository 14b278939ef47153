"""What tables in arrays of other frameworks have in common: options, boxes, queries."""

from __future__ import annotations

from typing import Any, Protocol

from . import _core
from ._arrays import dtype_name
from ._errors import InvalidArgument

SUM, MEAN, VARIANCE, DEVIATION = range(4)


class Framework(Protocol):
    """What areal asks of a framework besides its arrays."""

    signed: bool  #: tables of integers are signed, and a step wider where a corner may exceed that

    def empty(self) -> Any:
        """What makes an array of extents and a dtype's name; None where the arrays have `__dlpack_c_exchange_api__`."""

    def stream(self) -> int | None:
        """The number of the current stream, never 0; None where the arrays' exchange API or areal knows it."""

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        """The same memory, its dimensions in another order."""

    def contiguous(self, x: Any, axes: str) -> Any:
        """A copy that areal reads in place: in the dimensions' order, more than four channels in planes of their own."""

    def zeros(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        """An array beside another, which `above` and `left` are written into."""
        raise NotImplementedError

    def beside(self, values: Any, like: Any) -> Any:
        """Numbers as an array beside another."""
        raise NotImplementedError

    def voxels(self, boxes: Any, extents: tuple[int, int, int], like: Any) -> Any:
        """How many voxels of a volume of that width, height and depth lie in each box x, y, z, width, height, depth."""
        raise NotImplementedError

    def boxes(self, boxes: Any, like: Any, numbers: int = 4) -> tuple[Any, bool]:
        """N x 4, of a volume N x 6, of int64, and whether it was one box alone. On the device only if they were."""
        raise NotImplementedError

    def is_on_device(self, boxes: Any) -> bool:
        """Do the boxes lie in device memory?"""
        raise NotImplementedError

    def xywh(self, boxes: Any, format: str) -> Any:
        """Boxes as x, y, width, height."""
        raise NotImplementedError


def has_planes_apart(x: Any, axes: str) -> bool:
    """Has it more channels than areal reads side by side?"""
    return axes.endswith("C") and x.shape[-1] > 4


def carry(on: Framework, x: Any, axes: str, dtype: str, only_sums: bool, reverse: bool, above: Any, left: Any, corner: Any) -> tuple[Any, Any]:
    """The row above a piece with its corner, and the column to its left, beside x, in the table's dtype, with all its axes. None, None without one."""
    if above is None and left is None and corner is None:
        return None, None
    if not only_sums:
        raise InvalidArgument("above, left, corner: they carry sums alone; the table has squares, tilted or count as well")
    axes, shape = axes or "HW", tuple(x.shape)
    if len(axes) != len(shape) or "D" in axes:
        raise InvalidArgument(f"above, left, corner: they are of images, and the axes {axes} of an array of {len(shape)} dimensions are given")
    h, w = axes.index("H"), axes.index("W")

    def along(dim: int, at: Any) -> tuple[Any, ...]:
        return (slice(None),) * dim + (at,)

    def part(values: Any, name: str, axis: int, other: int, extents: tuple[int, ...]) -> Any:
        array = on.beside(values, x)
        if "bool" in str(array.dtype) or "complex" in str(array.dtype) or ("float" in str(array.dtype) and "float" not in dtype):
            raise InvalidArgument(f"{name} of {array.dtype}: the table is of {dtype}")
        if array.ndim == len(shape) - 1:
            array = array[along(axis, None)]
        for extent in extents:
            if tuple(array.shape) == tuple(1 if i == axis else extent if i == other else size for i, size in enumerate(shape)):
                return array
        raise InvalidArgument(f"{name}: an array of {'x'.join(map(str, array.shape))}; along {axes[other]} it may have {' or '.join(map(str, extents))} "
                              f"elements, along the other axes but {axes[axis]} those of the image")

    row = on.zeros(tuple(1 if i == h else size + 1 if i == w else size for i, size in enumerate(shape)), dtype, x)
    column = on.zeros(tuple(1 if i == w else size for i, size in enumerate(shape)), dtype, x)
    if left is not None:
        column[...] = part(left, "left", w, h, (shape[h],))
    if above is not None:
        given = part(above, "above", h, w, (shape[w], shape[w] + 1))
        if given.shape[w] > shape[w]:
            if corner is not None:
                raise InvalidArgument("corner: `above` has one element more than the image is wide, which is the corner already")
            row[...] = given
        else:
            row[along(w, slice(0, -1) if reverse else slice(1, None))] = given
    if corner is not None:
        value = on.beside(corner, x)
        row[along(w, slice(-1, None) if reverse else slice(0, 1))] = value[along(h, None)][along(w, None)] if value.ndim else value
    return row, column


def execute(on: Framework, x: Any, of: Any, axes: str, mask: Any, out: Any, copy: bool | None, reverse: bool = False, above: Any = None,
            left: Any = None) -> tuple[Any, ...]:
    """Sum, squares, tilted, count, origin; each table with its dimensions in the order of x's."""
    made = _core.tensor_sat(x, of, on.signed, axes, mask, out, on.empty(), on.stream(), reverse, above, left)
    if made is None:
        if copy is False:
            raise InvalidArgument("copy=False: the array cannot be read as it lies")
        if above is not None:
            above, left = on.contiguous(above, axes), on.contiguous(left, axes)
        made = _core.tensor_sat(on.contiguous(x, axes), of, on.signed, axes, None if mask is None else on.contiguous(mask, ""), out, on.empty(), on.stream(),
                                reverse, above, left)
        if made is None:
            raise InvalidArgument("array: it cannot be read")
    total, squares, tilted, count, order, count_order, origin = made
    if order is not None:
        total = on.permuted(total, order)
        squares = None if squares is None else on.permuted(squares, order)
        tilted = None if tilted is None else on.permuted(tilted, order)
    if count_order is not None and count is not None:
        count = on.permuted(count, count_order)
    return total, squares, tilted, count, origin


class TensorSat:
    """The summed-area table of an array, which answers about any box in constant time."""

    __slots__ = ("_on", "_origin", "array", "axes", "border", "count", "reverse", "squares", "tilted")

    def __init__(self, on: Framework, array: Any, squares: Any, tilted: Any, count: Any, axes: str, border: str, origin: tuple[str, str, str] | None,
                 reverse: bool = False) -> None:
        self._on, self._origin = on, origin
        self.array, self.squares, self.tilted, self.count = array, squares, tilted, count
        self.axes, self.border, self.reverse = axes, border, reverse

    @property
    def algorithm(self) -> str:
        """The id of the algorithm that made it, empty where a compiled graph did."""
        return "" if self._origin is None else self._origin[0]

    @property
    def reason(self) -> str:
        """Why this algorithm."""
        return "" if self._origin is None else self._origin[1]

    def _answers(self, asked: int, boxes: Any, format: str, outside: str, threads: int, refused: bool) -> Any:
        if outside not in ("error", "clip"):
            raise InvalidArgument(f"outside {outside}: may be error or clip")
        self._require_boxes()
        on = self._on
        rows, alone = on.boxes(boxes, self.array, 6 if self.axes == "DHW" else 4)
        if on.is_on_device(rows):
            rows, format = on.xywh(rows, format), "xywh"
        if self.axes == "DHW":
            answers, first = self._of_volume(asked, rows, format, outside, threads, refused)
        else:
            squares = self.squares if asked in (VARIANCE, DEVIATION) else None
            count = self.count if asked != SUM else None
            answers, first = self._queried(asked, self.array, squares, count, rows, format, outside, threads, refused)
        if alone:
            answers = answers[0]
        return (answers, first[0]) if refused else answers

    def _require_boxes(self) -> None:
        if self.reverse and (self.border != "zero" or self.axes == "DHW"):
            raise InvalidArgument("table: a reversed one answers about boxes with border zero, and not of a volume")

    def _queried(self, asked: int, array: Any, squares: Any, count: Any, rows: Any, format: str, outside: str, threads: int, refused: bool,
                 as_double: bool = False) -> tuple[Any, Any]:
        on = self._on
        for table, second, valid in self._as_they_lie(array, squares, count):
            made: tuple[Any, Any] | None = _core.tensor_query(asked, table, second, valid, self.border, self.axes, rows, format, outside == "clip", threads, refused,
                                                              on.empty(), on.stream(), as_double)
            if made is not None:
                return made
        raise InvalidArgument("table: it cannot be read")

    def _of_volume(self, asked: int, rows: Any, format: str, outside: str, threads: int, refused: bool) -> tuple[Any, Any]:
        if asked not in (SUM, MEAN):
            raise InvalidArgument("boxes: those of a volume have sum and mean")
        sums, first = self._queried(SUM, self.array, None, None, rows, format, outside, threads, refused)
        if asked == SUM:
            return sums, first
        if self.count is not None:
            return sums / self._queried(SUM, self.count, None, None, rows, format, outside, threads, refused)[0], first
        depth, height, width = (extent - (1 if self.border == "zero" else 0) for extent in self.array.shape)
        return sums / self._on.voxels(self._on.xywh(rows, format), (width, height, depth), self.array), first

    def _as_they_lie(self, array: Any, squares: Any, count: Any) -> Any:
        yield array, squares, count
        copied = [None if table is None else self._on.contiguous(table, self.axes if table is not count else "") for table in (array, squares, count)]
        yield copied[0], copied[1], copied[2]

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Sums of boxes: boxes x N x C, int64 or float64; of one box without the first dimension. O(1) a box.

        Boxes in host memory are checked first, and what cannot be answered raises InvalidArgument. Boxes on the table's
        device only queue the work: the answers of those that reach outside are 0 or NaN, and with ``refused=True`` the
        smallest index of such a box, -1 without one, is returned with the answers, on the device.
        """
        return self._answers(SUM, boxes, format, outside, threads, refused)

    def mean(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Means of boxes, NaN for an empty one; of valid pixels where there is a count. See sum."""
        return self._answers(MEAN, boxes, format, outside, threads, refused)

    def var(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Population variances of boxes, never negative; the table needs squares. See sum."""
        return self._answers(VARIANCE, boxes, format, outside, threads, refused)

    def std(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Population standard deviations of boxes; the table needs squares. See sum."""
        return self._answers(DEVIATION, boxes, format, outside, threads, refused)

    def window(self, size: int | tuple[int, int], *, stat: str = "mean", edge: str = "shrink", value: float = 0, anchor: tuple[int, int] | None = None,
               dtype: Any = "float64", out: Any = None, threads: int = 0) -> Any:
        """The sum, mean, var or std of the window around every pixel, where the table lies; on a device the work is queued.

        See areal.Sat.window for the arguments. O(1) a pixel, whatever the size.
        """
        if self.count is not None and stat != "sum":
            raise InvalidArgument("count: means and variances of windows are over all pixels; this table counts the valid ones")
        if stat in ("var", "std") and self.squares is None:
            raise InvalidArgument("squares: the table has none; ask areal.sat for squares=True")
        self._require_boxes()
        height, width = (size, size) if isinstance(size, int) else size
        on, name = self._on, dtype_name(out.dtype if out is not None else dtype)
        for table, squares, _ in self._as_they_lie(self.array, self.squares, None):
            made = _core.tensor_window(table, squares, self.border, self.axes, (height, width), (-1, -1) if anchor is None else anchor, stat, edge, value, name, out,
                                       threads, on.empty(), on.stream())
            if made is not None:
                answer, order = made
                return answer if order is None else on.permuted(answer, order)
        raise InvalidArgument("table: it cannot be read")

    def __repr__(self) -> str:
        x = self.array
        return f"<areal.Sat {self.axes} {'x'.join(map(str, x.shape))} {str(x.dtype).removeprefix('torch.')} on {x.device}, border {self.border}>"
