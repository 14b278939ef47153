"""Summed-area tables of arrays."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Literal, Sequence

import numpy as np

from . import _core
from ._arrays import TABLE_TYPES, Array, clips, converted, dtype_name, on_host, words
from ._display import as_html, means, size_words
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework, framework_of

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


class Sat:
    """The summed-area table of an array. Statistics of any box take constant time.

    ``array`` has the sums, ``squares`` the sums of squares, ``tilted`` the sums rotated by 45 degrees, ``count`` the numbers of valid pixels, without
    the axis C; the last three are None unless requested. They are arrays of the pixels' framework, on the pixels' device, with the pixels' axes.

    Boxes are 4 integers, or N x 4. ``format`` is their order:

    - ``xywh``: left, top, width, height
    - ``xyxy``: left, top, right, bottom, half-open
    - ``bbox``: top, left, bottom, right, half-open, as regionprops has them
    - ``skimage``: top, left, bottom, right, with the last row and column inside



    Boxes of a volume (axes DHW) have six numbers: x, y, z, width, height, depth; left, top, front, right, bottom, back; or plane, row, column
    twice. Results are N x images x channels, as far as the axes have these; for a single box without the first dimension, so that a box of an
    image gives one number. ``outside`` is for boxes that reach outside the image: ``error`` raises InvalidArgument, ``clip`` uses the part
    inside. With ``refused=True`` no box raises: the result is a pair with the index of the first invalid box, -1 for none; the values of
    invalid boxes are 0 or NaN. O(1) per box.

    For a table on a device, boxes in host memory are checked first and the call waits. Boxes on the device only queue the work and never raise.
    """

    __slots__ = ("_on", "_says", "array", "count", "squares", "tilted")
    _on: Framework
    _says: tuple[str, str, bool, str, str, str, str]
    array: Any
    squares: Any
    tilted: Any
    count: Any

    def __init__(self, on: Framework, tables: tuple[Any, Any, Any, Any], says: tuple[str, str, bool, str, str, str, str]) -> None:
        self._on, self._says = on, says
        self.array, self.squares, self.tilted, self.count = tables

    @property
    def axes(self) -> str:
        """The letters of the dimensions."""
        return self._says[0]

    @property
    def border(self) -> str:
        """zero, none or exclusive."""
        return self._says[1]

    @property
    def reverse(self) -> bool:
        """Does an entry sum the pixels right and below, instead of left and above?"""
        return self._says[2]

    @property
    def image_dtype(self) -> str:
        """The type of the pixels, as NumPy names it; bool counts as uint8."""
        return self._says[3]

    @property
    def algorithm(self) -> str:
        """The id of the algorithm; empty if a compiled graph or a gradient's operators computed the table."""
        return self._says[4]

    @property
    def reason(self) -> str:
        """Why the plan chose the algorithm and the backend."""
        return self._says[5]

    @property
    def backend(self) -> str:
        """cpu, cuda or simt."""
        return self._says[6]

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of the input array."""
        more = 1 if self.border == "zero" else 0
        return tuple(extent - (more if letter in "DHW" else 0) for extent, letter in zip(self.array.shape, self.axes))

    @property
    def nbytes(self) -> int:
        """Bytes of all its tables."""
        return sum(table.nbytes for _, table in self._tables())

    def _tables(self) -> list[tuple[str, Any]]:
        named = (("sums", self.array), ("squares", self.squares), ("tilted", self.tilted), ("count", self.count))
        return [(name, table) for name, table in named if table is not None]

    def _require_answers(self) -> None:
        if self.reverse and (self.border != "zero" or self.axes == "DHW"):
            raise InvalidArgument("table: a reversed one answers about boxes with border zero, and not of a volume")

    def _query(self, stat: str, boxes: Any, format: str, outside: str, refused: bool, threads: int) -> Any:
        on, clip, axes = self._on, clips(outside), self.axes
        self._require_answers()
        rows, format, alone = on.boxes_of_query(boxes, format, 6 if axes == "DHW" else 4)
        if axes == "DHW":
            answers = self._of_volume(stat, rows, format, clip, refused, threads)
        else:
            squares, count = self.squares if stat in ("var", "std") else None, self.count if stat != "sum" else None
            answers = _core.query(on, stat, self.array, squares, count, self.border, axes, rows, format, clip, refused, threads)
        if not alone:
            return answers
        return (answers[0][0], answers[1]) if refused else answers[0]

    def _of_volume(self, stat: str, rows: Any, format: str, clip: bool, refused: bool, threads: int) -> Any:
        if stat not in ("sum", "mean"):
            raise InvalidArgument(f"stat {stat}: boxes of a volume have sum and mean")
        on = self._on
        answers = _core.query(on, "sum", self.array, None, None, self.border, "DHW", rows, format, clip, refused, threads)
        if stat == "sum":
            return answers
        sums = answers[0] if refused else answers
        if self.count is not None:
            inside = _core.query(on, "sum", self.count, None, None, self.border, "DHW", rows, format, clip, True, threads)[0]
        else:
            depth, height, width = self.image_shape
            inside = on.voxels(on.xywh(rows, format), (width, height, depth), sums)
        means = on.quotients(sums, inside)
        return (means, answers[1]) if refused else means

    def sum(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:


        """Sums of boxes: uint64 or int64 from integer tables, exact if the box's own sum fits the table's type; otherwise float64.

        PyTorch and JAX have no full uint64, so their sums are int64. Volumes give float64.
        """
        return self._query("sum", boxes, format, outside, refused, threads)

    def mean(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Means of boxes in float64, NaN for an empty box; with a mask, over the valid pixels."""
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
        if self.tilted is None:
            raise InvalidArgument("tilted_sum: the table was made without tilted=True")
        on = self._on
        rows, alone = on.boxes(rectangles)
        answers = _core.tilted_query(on, self.tilted, self.axes, rows, "xywh", threads)
        last = len(answers.shape) - 1  # of the rectangles
        answers = on.permuted(answers, (last, *range(last)))
        return answers[0] if alone else answers

    def window(self, size: int | tuple[int, int], *, stat: Stat = "mean", edge: Edge = "shrink", value: float = 0, anchor: tuple[int, int] | None = None,
               dtype: Any = "float64", out: Any = None, threads: int = 0) -> Any:
        """The sum, mean, var or std of the window around every pixel. O(1) per pixel for any size. On a device, queues the work.

        size: rows and columns, or one number for both. anchor: row and column of the pixel in its window, by default the middle, size // 2.
        edge: the values beyond the image. ``valid``: only windows inside, (H-h+1) x (W-w+1); ``shrink``: only the part inside;
        ``zero``; ``replicate``: aaa|abcd|ddd; ``reflect``: dcb|abcd|cba; ``symmetric``: cba|abcd|dcb; ``wrap``: bcd|abcd|abc; ``constant``: `value`.
        dtype: float64, float32, or uint8 and uint16 with rounding (half to even) and saturation. var and std need ``squares=True``. With a mask, mean,
        var and std are over the valid pixels, in host memory only. The result has the table's axes.
        """
        self._require_answers()
        height, width = (size, size) if isinstance(size, int) else size
        squares, count = self.squares if stat in ("var", "std") else None, self.count if stat != "sum" else None
        return _core.window(self._on, self.array, squares, count, self.border, self.axes, (height, width), (-1, -1) if anchor is None else anchor, stat, edge, value,
                            dtype_name(out.dtype if out is not None else dtype), out, threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return converted(on_host(self.array), dtype, copy)

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._on, (self.array, self.squares, self.tilted, self.count), self._says)

    def __repr__(self) -> str:
        also = "".join(f", {name}" for name, _ in self._tables()[1:]) + (", reverse" if self.reverse else "")
        made = f", {self.algorithm} on {self.backend}" if self.algorithm else ""
        return (f"<areal.Sat {self.axes} {words(self.array.shape)} {dtype_name(self.array.dtype)} of {self.image_dtype}{also}, border {self.border}, "
                f"{self.nbytes:,} bytes{made}>")

    def _repr_html_(self) -> str:
        rows = [("image", f"{self.axes} {words(self.image_shape)} {self.image_dtype}")]
        rows += [(name, f"{words(table.shape)} {dtype_name(table.dtype)}, {size_words(table.nbytes)}") for name, table in self._tables()]
        rows += [("border", self.border), ("algorithm", f"{self.algorithm} on {self.backend}: {self.reason}")]
        return as_html("areal.Sat", rows, means(self, 128))


Framework.Sat = Sat


def _restored(of: type[Sat], on: Framework, tables: tuple[Any, Any, Any, Any], says: tuple[str, str, bool, str, str, str, str]) -> Sat:
    axes = says[0]
    if axes.endswith("C") and tables[0].shape[-1] > 4:  # channels beyond four lie apart
        planes = f"{axes[:-3]}CHW"
        total, squares, tilted = (None if table is None else on.copied(table, "table", axes, planes) for table in tables[:3])
        tables = total, squares, tilted, tables[3]
    return of(on, tables, says)


def carry(on: Framework, x: Any, shape: tuple[int, ...], axes: str, table: str, only_sums: bool, reverse: bool, transposed: bool, above: Any, left: Any, corner: Any) -> tuple[Any, Any]:
    """The row above a piece and the column to its left, on x's device, with the table's dtype and all axes. The corner belongs to the row; for a piece
    that the compiled module reads transposed, to the column, which then comes first."""
    if not only_sums:
        raise InvalidArgument("above, left, corner: they carry sums alone; the table has squares, tilted or count as well")
    if "D" in axes:
        raise InvalidArgument(f"above, left, corner: they are of images, and the axes are {axes}")
    h, w = axes.index("H"), axes.index("W")

    def at(dim: int, where: Any) -> tuple[Any, ...]:
        return (slice(None),) * dim + (where,)

    def part(values: Any, name: str, axis: int, other: int, extents: tuple[int, ...]) -> Any:
        array = on.asarray(values, x)
        kind = str(array.dtype).rpartition(".")[2]
        if not kind.startswith(("int", "uint", "float")) or (kind.startswith("float") and not table.startswith("float")):
            raise InvalidArgument(f"{name} of {array.dtype}: the table is of {table}")
        given = tuple(array.shape)
        if array.ndim == len(shape) - 1:
            array = array[at(axis, None)]
        for extent in extents:
            if tuple(array.shape) == tuple(1 if i == axis else extent if i == other else size for i, size in enumerate(shape)):
                return array
        raise InvalidArgument(f"{name}: an array of {words(given)}; along {axes[other]} it may have {' or '.join(map(str, extents))} elements, along the other "
                              f"axes but {axes[axis]} those of the image")

    row = None if above is None else part(above, "above", h, w, (shape[w], shape[w] + 1))
    column = None if left is None else part(left, "left", w, h, (shape[h],))
    last = slice(-1, None) if reverse else slice(0, 1)
    rest = slice(0, -1) if reverse else slice(1, None)
    first: Any = None
    if row is not None and row.shape[w] > shape[w]:
        if corner is not None:
            raise InvalidArgument("corner: `above` has one element more than the image is wide, which is the corner already")
        row, first = row[at(w, rest)], row[at(w, last)]
    elif corner is not None:
        first = on.asarray(corner, x)
        first = first[at(h, None)][at(w, None)] if first.ndim else first

    def longer(along: int, across: int, values: Any) -> Any:
        made = on.zeros(tuple(1 if i == across else size + 1 if i == along else size for i, size in enumerate(shape)), table, x)
        if values is not None:
            made[at(along, rest)] = values
        if first is not None:
            made[at(along, last)] = first
        return made

    def plain(along: int, across: int, values: Any) -> Any:
        made = on.zeros(tuple(1 if i == across else size for i, size in enumerate(shape)), table, x)
        if values is not None:
            made[...] = values
        return made

    return (longer(h, w, column), plain(w, h, row)) if transposed else (longer(w, h, row), plain(h, w, column))


class SatPlan(_core.Plan):
    """The types, algorithm, backend and workspaces for arrays of one shape and dtype, chosen in advance.

    ``plan(x, out=None, *, mask=None, copy=None, above=None, left=None, corner=None)`` returns the Sat of an array. Plans are thread-safe: they keep
    a workspace for each concurrent call. The arguments are those of `areal.sat`; ``mask`` is whether calls pass one.
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
        """Yields the table of every frame, in order, and reuses ``depth`` tables.

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
        return (f"<areal.SatPlan {self.axes} {words(self.shape)} {self.dtype} to {self.table_dtype}, border {self.border}, "
                f"{self.algorithm} on {self.backend}>")

    def _repr_html_(self) -> str:
        rows = [("arrays", f"{self.axes} {words(self.shape)} {self.dtype}"),
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
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if on.own is not None:
        return on.own.sat(x, axes, dtype=dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan, reverse=reverse,  # type: ignore[no-any-return]
                          algorithm=algorithm, backend=backend, threads=threads, out=out, copy=copy, above=above, left=left, corner=corner)
    made: Sat = _core.sat(on, x, _options(dtype, border, squares, tilted, mask is not None, ignore_nan, algorithm, backend, device, threads, reverse), axes, mask,
                          out, copy, above, left, corner)
    return made
