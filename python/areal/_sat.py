"""Summed-area tables of arrays."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Literal, Sequence

import numpy as np

from . import _core
from ._arrays import TABLE_TYPES, Array, boxes_of, clips, converted, dtype_name, native
from ._display import as_html, means, size_words
from ._errors import InvalidArgument
from ._foreign import framework_of

Border = Literal["zero", "none", "exclusive"]
Format = Literal["xywh", "xyxy", "bbox", "skimage"]
Outside = Literal["error", "clip"]
Stat = Literal["sum", "mean", "var", "std"]
Edge = Literal["valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant"]


@lru_cache(maxsize=256)
def _options(dtype: Any, border: str, squares: Any, tilted: bool, mask: bool, ignore_nan: bool, algorithm: str, backend: str, device: int,
             threads: int, reverse: bool = False) -> _core.Options:
    table = None
    if dtype is not None:
        name = dtype_name(dtype)
        table = TABLE_TYPES.get(name)
        if table is None:
            raise InvalidArgument(f"dtype {name}: tables are of {', '.join(TABLE_TYPES)}")
    if squares is True or squares is False:
        squares = "auto" if squares else "no"
    elif not isinstance(squares, str):
        squares = dtype_name(squares, "squares")
    return _core.options(table, border, squares, bool(tilted), mask, bool(ignore_nan), algorithm, backend, device, threads, bool(reverse))


class Sat(_core.Table):
    """The summed-area table of an array, which answers about any box in constant time.

    Boxes are one box, or N of them, as whole numbers. ``format`` says what they are:

    - ``xywh``: left, top, width, height
    - ``xyxy``: left, top, right, bottom, half-open
    - ``bbox``: top, left, bottom, right, half-open, as regionprops has them
    - ``skimage``: top, left, bottom, right, with the last row and column inside

    Of a volume (axes DHW) boxes have six numbers: x, y, z, width, height, depth; left, top, front, right, bottom, back; or plane, row,
    column twice. Answers are N x images x channels, as far as the axes have these; of one box without the first dimension, so that a box of
    an image is one number. ``outside`` says what becomes of a box that reaches outside the image: ``error`` raises InvalidArgument,
    ``clip`` answers for the part inside. With ``refused=True`` no box raises: the answer is a pair with the index of the first box that
    cannot be answered, -1 for none; its answers are 0 or NaN. O(1) a box.
    """

    __slots__ = ()

    def _query(self, stat: str, boxes: Any, format: str, outside: str, refused: bool, threads: int) -> Any:
        array, alone = boxes_of(boxes, 6 if self.axes == "DHW" else 4)
        answers = _core.query(self, array, stat, format, clips(outside), refused, threads)
        if not alone:
            return answers
        return (answers[0][0], answers[1]) if refused else answers[0]

    def sum(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Sums of boxes: uint64 or int64 of a table of integers, exact where the box's own sum fits the table's type, else float64.

        Of a volume float64.
        """
        return self._query("sum", boxes, format, outside, refused, threads)

    def mean(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Means of boxes in float64, NaN for an empty one; over the pixels that count, where a mask left some out."""
        return self._query("mean", boxes, format, outside, refused, threads)

    def var(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Population variances of boxes in float64, never negative. The table needs ``squares=True``."""
        return self._query("var", boxes, format, outside, refused, threads)

    def std(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Population standard deviations of boxes in float64. The table needs ``squares=True``."""
        return self._query("std", boxes, format, outside, refused, threads)

    def tilted_sum(self, rectangles: Any, *, threads: int = 0) -> Any:
        """Sums of rectangles rotated by 45 degrees, in float64: x and y of the top, ``width`` steps down-right, ``height`` steps down-left
        (Lienhart 2002). The table needs ``tilted=True``; a rectangle that reaches outside raises InvalidArgument."""
        array, alone = boxes_of(rectangles, 4)
        answers = _core.tilted_query(self, array, threads)
        return answers[0] if alone else answers

    def window(self, size: int | tuple[int, int], *, stat: Stat = "mean", edge: Edge = "shrink", value: float = 0, anchor: tuple[int, int] | None = None,
               dtype: Any = "float64", out: Array | None = None, threads: int = 0) -> Array:
        """The sum, mean, var or std of the window around every pixel. O(1) a pixel, whatever the size.

        size: rows and columns, or one number for both. anchor: row and column of the pixel in its window, by default the middle, size // 2.
        edge: what the window sees beyond the image. ``valid``: only windows inside, (H-h+1) x (W-w+1); ``shrink``: the part inside;
        ``zero``; ``replicate``: aaa|abcd|ddd; ``reflect``: dcb|abcd|cba; ``symmetric``: cba|abcd|dcb; ``wrap``: bcd|abcd|abc; ``constant``: `value`.
        dtype: float64, float32, or uint8 and uint16, to which values are rounded (half to even) and saturated. var and std need
        ``squares=True``. The result has the table's axes.
        """
        height, width = (size, size) if isinstance(size, int) else size
        answer: Array = _core.window(self, (height, width), (-1, -1) if anchor is None else anchor, stat, edge, value,
                                     dtype_name(out.dtype if out is not None else dtype), out, threads)
        return answer

    @property
    def nbytes(self) -> int:
        """Bytes of all its tables."""
        return sum(a.nbytes for a in (self.array, self.squares, self.tilted, self.count) if a is not None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return converted(self.array, dtype, copy)

    def __reduce__(self) -> Any:
        arrays = tuple(None if a is None else np.ascontiguousarray(a) for a in (self.array, self.squares, self.tilted, self.count))
        return _loaded, (arrays, self.axes, self.image_shape, self.border, self.image_dtype, (self.algorithm, self.reason, self.backend), self.reverse)

    def __repr__(self) -> str:
        a = self.array
        also = "".join(f", {name}" for name in ("squares", "tilted", "count") if getattr(self, name) is not None) + (", reverse" if self.reverse else "")
        return (f"<areal.Sat {self.axes} {'x'.join(map(str, a.shape))} {a.dtype.name} of {self.image_dtype}{also}, border {self.border}, "
                f"{self.nbytes:,} bytes, {self.algorithm} on {self.backend}>")

    def _repr_html_(self) -> str:
        tables = [(name, a) for name, a in (("sums", self.array), ("squares", self.squares), ("tilted", self.tilted), ("count", self.count)) if a is not None]
        rows = [("image", f"{self.axes} {'x'.join(map(str, self.image_shape))} {self.image_dtype}")]
        rows += [(name, f"{'x'.join(map(str, a.shape))} {a.dtype.name}, {size_words(a.nbytes)}") for name, a in tables]
        rows += [("border", self.border), ("algorithm", f"{self.algorithm} on {self.backend}: {self.reason}")]
        return as_html("areal.Sat", rows, means(self, 128))


def _loaded(arrays: tuple[Any, ...], axes: str, image_shape: tuple[int, ...], border: str, image_dtype: str, origin: tuple[str, str, str],
            reverse: bool = False) -> Sat:
    if axes.endswith("C") and image_shape[-1] > 4:  # channels beyond four lie apart
        arrays = tuple(None if a is None else native(a, "table", axes, f"{axes[:-3]}CHW") for a in arrays)
    table = Sat.__new__(Sat)
    table._load(arrays, axes, list(image_shape) + [1] * (4 - len(image_shape)), border, image_dtype, origin, reverse)
    return table


def carry(above: Any, left: Any, corner: Any, axes: str, shape: tuple[int, ...], table: str, only_sums: bool, reverse: bool) -> tuple[Array, Array]:
    """The row above a piece with its corner, and the column to its left, in the table's type and with all its axes: the compiled module's."""
    if not only_sums:
        raise InvalidArgument("above, left, corner: they carry sums alone; the table has squares, tilted or count as well")
    dtype = np.dtype(table)
    h, w = axes.index("H"), axes.index("W")

    def part(values: Any, name: str, axis: int, other: int, extents: tuple[int, ...]) -> Array:
        wanted = list(shape)
        wanted[axis], wanted[other] = 1, extents[0]
        if values is None:
            return np.zeros(wanted, dtype)
        array = np.asarray(values)
        if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and dtype.kind != "f"):
            raise InvalidArgument(f"{name} of {array.dtype}: the table is of {dtype}")
        if array.ndim == len(shape) - 1:
            array = np.expand_dims(array, axis)
        for extent in extents:
            wanted[other] = extent
            if list(array.shape) == wanted:
                return array.astype(dtype)
        raise InvalidArgument(f"{name}: an array of {'x'.join(map(str, np.shape(values)))}; along {axes[other]} it may have "
                              f"{' or '.join(map(str, extents))} elements, along the other axes but {axes[axis]} those of the image")

    row = part(above, "above", h, w, (shape[w], shape[w] + 1))
    column = part(left, "left", w, h, (shape[h],))
    if row.shape[w] == shape[w] + 1:
        if corner is not None:
            raise InvalidArgument("corner: `above` has one element more than the image is wide, which is the corner already")
        return row, column
    start = list(row.shape)
    start[w] = 1
    first = np.zeros(start, dtype)
    if corner is not None:
        value = np.asarray(corner).astype(dtype)
        first += np.expand_dims(value, (h, w)) if value.ndim else value
    return np.concatenate([row, first] if reverse else [first, row], axis=w), column


class SatPlan(_core.Plan):
    """All that is decided before the data is there, for arrays of one shape and dtype: types, algorithm, backend, workspaces.

    ``plan(x, out=None, *, mask=None, copy=None, above=None, left=None, corner=None)`` gives the Sat of an array. Plans are thread-safe: each
    thread that executes at once has a workspace of its own, which the plan keeps. The arguments are those of `areal.sat`, where ``mask`` says
    whether calls pass one.
    """

    __slots__ = ("_given",)

    def __init__(self, shape: Sequence[int], dtype: Any, axes: str = "", *, table_dtype: Any = None, border: Border = "zero", squares: Any = False,
                 tilted: bool = False, mask: bool = False, ignore_nan: bool = False, reverse: bool = False, algorithm: str = "auto",
                 backend: str = "auto", device: int = 0, threads: int = 0) -> None:
        given = (table_dtype, border, squares, tilted, mask, ignore_nan, algorithm, backend, device, threads, reverse)
        super().__init__(_options(*given), list(shape), dtype_name(dtype), axes)
        self._given = (tuple(shape), dtype_name(dtype), axes, *given)

    if TYPE_CHECKING:  # a slot of the compiled module, as a function of Python would take as long as a small table
        def __call__(self, x: Any, out: Any = None, *, mask: Any = None, copy: bool | None = None, above: Any = None, left: Any = None,
                     corner: Any = None) -> Sat:
            raise NotImplementedError

    def stream(self, frames: Iterable[Any], depth: int = 2) -> Iterator[Sat]:
        """Yields the table of every frame, in order, in ``depth`` tables that are used again and again.

        A table is valid until the next is asked for. While it is worked on, up to depth - 1 following frames are computed on threads of their own;
        frames are taken from the iterable on the caller's thread, so many ahead. With depth 1 a frame is computed only when its table is asked for,
        which is what a source needs that overwrites its frame.
        """
        if depth < 1:
            raise InvalidArgument(f"depth {depth}: it may be 1 or more")
        return self._stream(iter(frames), depth)

    def _stream(self, frames: Iterator[Any], depth: int) -> Iterator[Sat]:
        tables: list[Sat | None] = [None] * depth

        def compute(frame: Any, place: int) -> Sat:
            table: Sat = self(frame, out=tables[place])
            tables[place] = table
            return table

        if depth == 1:
            for frame in frames:
                yield compute(frame, 0)
            return
        with ThreadPoolExecutor(depth - 1, "areal-stream") as pool:
            ahead: deque[Future[Sat]] = deque()
            number = 0
            for frame in frames:
                ahead.append(pool.submit(compute, frame, number % depth))
                number += 1
                if len(ahead) == depth:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def __reduce__(self) -> Any:
        return _planned, self._given

    def __repr__(self) -> str:
        return (f"<areal.SatPlan {self.axes} {'x'.join(map(str, self.shape))} {self.dtype} to {self.table_dtype}, border {self.border}, "
                f"{self.algorithm} on {self.backend}>")

    def _repr_html_(self) -> str:
        rows = [("arrays", f"{self.axes} {'x'.join(map(str, self.shape))} {self.dtype}"),
                ("tables", f"{self.table_dtype} sums, border {self.border}, {size_words(self.table_bytes)} in all"),
                ("workspace", f"{size_words(self.workspace_bytes)} for each thread that executes"),
                ("algorithm", f"{self.algorithm} on {self.backend}: {self.reason}")]
        return as_html("areal.SatPlan", rows, None)


def _planned(shape: tuple[int, ...], dtype: str, axes: str, table_dtype: Any, border: Border, squares: Any, tilted: bool, mask: bool, ignore_nan: bool,
             algorithm: str, backend: str, device: int, threads: int, reverse: bool = False) -> SatPlan:
    return SatPlan(shape, dtype, axes, table_dtype=table_dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan,
                   reverse=reverse, algorithm=algorithm, backend=backend, device=device, threads=threads)


def sat(x: Any, axes: str = "", *, dtype: Any = None, border: Border = "zero", squares: Any = False, tilted: bool = False, mask: Any = None,
        ignore_nan: bool = False, reverse: bool = False, algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0, out: Any = None,
        copy: bool | None = None, above: Any = None, left: Any = None, corner: Any = None) -> Sat:
    """The summed-area table of an array. O(H W) a channel and image.

    Every argument below is one of `areal.SatPlan` too, except x, out, copy and the carries, which its calls take.

    x: an array in host memory, of bool, integers of 8 to 64 bits or floats of 16, 32 or 64. It is read in place where rows have a positive
    pitch and pixels are adjacent, in any order of the axes, read-only too; else it is copied once, which ``copy=False`` refuses.
    axes: HW (2-D arrays), HWC, CHW, NHW, NHWC, NCHW, or DHW, a volume, which is summed along D, too.
    dtype: of the sums: uint32, int32, uint64, int64, float32, float64. None takes the smallest that is exact for the shape.
    border: ``zero``: (H+1) x (W+1), the first row and column zero; ``none``: H x W, T[y, x] sums up to y and x; ``exclusive``: H x W, before both.
    squares: also the table of squares; True, or its dtype: uint32, uint64, float64, float32. tilted: also the table rotated by 45 degrees.
    mask: pixels where it is 0 are left out; bool or uint8, without C. ignore_nan: so are NaNs. Both give the table of counts.
    reverse: an entry sums what lies right and below, in a volume also behind; the border is mirrored: with ``zero`` the last row and column are zero.
    Not with tilted. Boxes are answered with ``zero``, but not of volumes.
    algorithm, backend, device: auto, or what `areal.backends` lists. threads: of the CPU; 0 for all. Sums never depend on it.
    out: an array, of the table's shape and dtype, or a tuple of such where there are several tables (sum, squares, tilted, count), or a Sat
    whose memory is used again.
    above, left, corner: of a piece of a larger image, the sums of the larger table beside it: the row above (W, or W + 1 with the corner first),
    the column to the left (H), and the corner; with reverse the row below (W, or W + 1 with the corner last) and the column to the right. So pieces make the larger table, bit for bit where it is of integers.

    Raises InvalidArgument, OutOfMemory, Unavailable, DeviceError. Ctrl-C stops it within 0.2 s.
    """
    if type(x) is not np.ndarray and (other := framework_of(x)) is not None:
        answer: Sat = other.sat(x, axes, dtype=dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan, algorithm=algorithm,
                                reverse=reverse, backend=backend, threads=threads, out=out, copy=copy, above=above, left=left, corner=corner)
        return answer
    answer = _core.sat(x, _options(dtype, border, squares, tilted, mask is not None, ignore_nan, algorithm, backend, device, threads, reverse), axes, mask,
                       out, copy, above, left, corner)
    return answer

