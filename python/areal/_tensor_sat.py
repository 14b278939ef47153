"""What tables in arrays of other frameworks have in common: options, boxes, queries."""

from __future__ import annotations

from typing import Any, Protocol

from . import _core
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

    def boxes(self, boxes: Any, like: Any) -> tuple[Any, bool]:
        """N x 4 of int64, and whether it was one box alone. On the device only if they were."""
        raise NotImplementedError

    def is_on_device(self, boxes: Any) -> bool:
        """Do the boxes lie in device memory?"""
        raise NotImplementedError

    def xywh(self, boxes: Any, format: str) -> Any:
        """Boxes on the device as x, y, width, height."""


def has_planes_apart(x: Any, axes: str) -> bool:
    """Has it more channels than areal reads side by side?"""
    return axes.endswith("C") and x.shape[-1] > 4


def execute(on: Framework, x: Any, of: Any, axes: str, mask: Any, out: Any, copy: bool | None, reverse: bool = False) -> tuple[Any, ...]:
    """Sum, squares, tilted, count, origin; each table with its dimensions in the order of x's."""
    made = _core.tensor_sat(x, of, on.signed, axes, mask, out, on.empty(), on.stream(), reverse)
    if made is None:
        if copy is False:
            raise InvalidArgument("copy=False: the array cannot be read as it lies")
        made = _core.tensor_sat(on.contiguous(x, axes), of, on.signed, axes, None if mask is None else on.contiguous(mask, ""), out, on.empty(), on.stream(),
                                reverse)
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

    __slots__ = ("_on", "_origin", "array", "axes", "border", "count", "squares", "tilted")

    def __init__(self, on: Framework, array: Any, squares: Any, tilted: Any, count: Any, axes: str, border: str, origin: tuple[str, str, str] | None) -> None:
        self._on, self._origin = on, origin
        self.array, self.squares, self.tilted, self.count = array, squares, tilted, count
        self.axes, self.border = axes, border

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
        on = self._on
        rows, alone = on.boxes(boxes, self.array)
        if on.is_on_device(rows):
            rows, format = on.xywh(rows, format), "xywh"
        squares = self.squares if asked in (VARIANCE, DEVIATION) else None
        count = self.count if asked != SUM else None
        made = None
        for table, second, valid in self._as_they_lie(squares, count):
            made = _core.tensor_query(asked, table, second, valid, self.border, self.axes, rows, format, outside == "clip", threads, refused, on.empty(),
                                      on.stream())
            if made is not None:
                break
        if made is None:
            raise InvalidArgument("table: it cannot be read")
        answers, first = made
        if alone:
            answers = answers[0]
        return (answers, first[0]) if refused else answers

    def _as_they_lie(self, squares: Any, count: Any) -> Any:
        yield self.array, squares, count
        copied = [None if table is None else self._on.contiguous(table, self.axes if table is not count else "") for table in (self.array, squares, count)]
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

    def __repr__(self) -> str:
        x = self.array
        return f"<areal.Sat {self.axes} {'x'.join(map(str, x.shape))} {str(x.dtype).removeprefix('torch.')} on {x.device}, border {self.border}>"
