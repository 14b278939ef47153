"""Summed-area tables and filters of Dask arrays, chunk by chunk, on any of Dask's schedulers.

A table reads the source twice: first for each chunk's row and column sums, then for the table, when a chunk's carry, the sums of the chunks above and to the
left, is known. So a chunk is in memory only while a task works on it. See docs/scaling.md. A filter reads each chunk and a rim of its neighbours.
"""

# Dask's annotations lack some of its arrays' features.
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

try:
    import dask.array as da
    from dask._task_spec import GraphNode
    from dask.base import clone_key, tokenize
    from dask.graph_manipulation import clone
    from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
except ImportError as error:
    raise ImportError("areal.dask needs Dask 2025.1 or later: pip install 'dask[array]>=2025.1'") from error

from . import filters
from ._arrays import Array
from ._errors import Error, InvalidArgument
from ._pieces import box_edges, default_dtype, table_piece
from ._sat import sat as table_of

__all__ = ["Sat", "filter", "integral_image", "sat"]

_FAN_IN = 32  # partial answers that one task adds up


class Sums(NamedTuple):
    """The sums of a chunk's columns and of its rows."""

    columns: Array
    rows: Array

    def digest(self) -> bytes:
        return hashlib.blake2b(self.columns.tobytes() + self.rows.tobytes(), digest_size=16).digest()


class Carry(NamedTuple):
    """The sums that a chunk adds to its table: of the columns above it, of the rows to its left, and of the pixels above and left of both."""

    chunk: tuple[int, int]
    columns: Array | None  # None: there are no chunks above
    rows: Array | None
    corner: Array
    dtype: np.dtype[Any]
    digest: bytes  # of the chunk's own sums, when it was first read


def _sums_dtype(pixels: np.dtype[Any], table: np.dtype[Any], longest: int) -> np.dtype[Any]:
    """The dtype of a chunk's sums: of half the table's width if they are certain to fit."""
    if table.kind in "iu" and table.itemsize == 8 and pixels.kind in "bui":
        half = np.dtype(f"{table.kind}4")
        most = 1 if pixels.kind == "b" else max(abs(int(np.iinfo(pixels).min)), int(np.iinfo(pixels).max))
        if most * longest <= np.iinfo(half).max:
            return half
    return table


def _sums(chunk: Any, dtype: np.dtype[Any]) -> Sums:
    pixels = np.asarray(chunk)
    return Sums(np.add.reduce(pixels, 0, dtype=dtype), np.add.reduce(pixels, 1, dtype=dtype))


def _carry(chunk: tuple[int, int], dtype: np.dtype[Any], own: Sums, above: tuple[Sums, Carry] | None, left: tuple[Sums, Carry] | None) -> Carry:
    columns = rows = None
    corner = np.zeros(1, dtype)  # an array, as they wrap without a warning
    if above is not None:
        sums, carry = above
        columns = sums.columns.astype(dtype) if carry.columns is None else carry.columns + sums.columns
    if left is not None:
        sums, carry = left
        rows = sums.rows.astype(dtype) if carry.rows is None else carry.rows + sums.rows
        if carry.columns is not None:
            corner = carry.corner + np.add.reduce(carry.columns, dtype=dtype)
    return Carry(chunk, columns, rows, corner, dtype, own.digest())


def _table(chunk: Any, carry: Carry, sums_dtype: np.dtype[Any]) -> Array:
    pixels = np.asarray(chunk)
    if _sums(pixels, sums_dtype).digest() != carry.digest:
        raise Error(f"source: the sums of chunk {carry.chunk} changed between its two readings; it must give the same pixels every time")
    above = left = None
    if carry.columns is not None:
        above = np.empty(pixels.shape[1] + 1, carry.dtype)
        above[0] = carry.corner[0]
        np.cumsum(carry.columns, out=above[1:])
        above[1:] += carry.corner
    if carry.rows is not None:
        left = np.cumsum(carry.rows, dtype=carry.dtype)
        left += carry.corner
    out = np.empty(pixels.shape, carry.dtype)
    table_piece(pixels, out, above, left)
    return out


def _source(x: Any, dtype: npt.DTypeLike | None) -> tuple[da.Array, np.dtype[Any]]:
    x = da.asarray(x)
    if x.ndim != 2:
        raise InvalidArgument(f"x: an array of {x.ndim} dimensions; it must have 2")
    if np.isnan(np.array(x.shape, dtype=float)).any():
        raise InvalidArgument("x: its chunks have unknown sizes; compute_chunk_sizes() finds them")
    table = default_dtype(x.dtype) if dtype is None else np.dtype(dtype)
    table_piece(np.zeros((1, 1), x.dtype), np.zeros((1, 1), table))  # refused here, not by a worker
    return x, table


def _cloned(x: da.Array, seed: str) -> da.Array:
    """The same array under other keys. dask's clone leaves the old keys inside tasks (dask issue 12455), so this replaces them."""
    renamed = {key: clone_key(key, seed) for key in x.dask.get_all_external_keys()}
    other = clone(x, seed=seed)
    layers = dict(other.dask.layers)
    for name, layer in layers.items():
        if isinstance(layer, MaterializedLayer):
            tasks = {key: task.substitute(renamed, key=key) if isinstance(task, GraphNode) else task for key, task in layer.items()}
            layers[name] = MaterializedLayer(tasks, annotations=layer.annotations)
    return da.Array(HighLevelGraph(layers, other.dask.dependencies), other.name, x.chunks, meta=x)


def integral_image(x: Any, dtype: npt.DTypeLike | None = None) -> da.Array:
    """The inclusive table of a 2-D array, lazily: entry (y, x) is the sum of x[:y + 1, :x + 1]. Has x's shape and chunks.


    dtype: the table's. None: int64 for bool and signed integers, uint64 for unsigned integers, float64 for floats, as in scikit-image. Integers are
    exact modulo 2^k. A float table's rounding depends on the chunks; equal chunks give equal bits.


    Reads the source twice, the first time under keys of its own, so that no chunk waits in memory for its carry. Raises areal.Error if a chunk's row
    or column sums change in between. Each chunk has three tasks, and sums and carries of 12 to 16 bytes per row and column; a task needs memory for a
    chunk of pixels and a chunk of the table. Raises InvalidArgument for other than 2 dimensions, unknown chunks, and dtypes without tables.
    """
    x, table = _source(x, dtype)
    token = tokenize("areal.dask.integral_image", x, table)
    sums_dtype = _sums_dtype(x.dtype, table, max((size for sizes in x.chunks for size in sizes), default=0))
    keep = {"dtype": object, "meta": np.empty((0, 0), dtype=object)}
    sums = _cloned(x, token).map_blocks(_sums, sums_dtype, name=f"areal-sums-{token}", **keep)
    name = f"areal-carry-{token}"
    layer = {}
    rows, columns = x.numblocks
    for i in range(rows):
        for j in range(columns):
            above = [(sums.name, i - 1, j), (name, i - 1, j)] if i > 0 else None
            left = [(sums.name, i, j - 1), (name, i, j - 1)] if j > 0 else None
            layer[(name, i, j)] = (_carry, (i, j), table, (sums.name, i, j), above, left)
    carries = da.Array(HighLevelGraph.from_collections(name, layer, dependencies=[sums]), name, x.chunks, meta=keep["meta"])
    return da.map_blocks(_table, x, carries, sums_dtype, name=f"areal-table-{token}", dtype=table, meta=np.empty((0, 0), dtype=table))


class Sat:
    """Lazy sums of boxes of a Dask array."""

    def __init__(self, x: da.Array, dtype: np.dtype[Any]) -> None:
        self._x = x
        self._dtype = dtype

    @property
    def array(self) -> da.Array:
        """The inclusive table: see integral_image."""
        return integral_image(self._x, self._dtype)

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> da.Array:


        """Sums of boxes, lazily: a Dask array of N sums, or of a 0-d one for a single box. Formats as in areal.Sat.

        Computes only chunks that a box overlaps, each once, with its own table and without carries: O(h w + N) per chunk.
        """
        edges, alone = box_edges(boxes, format, outside, *self._x.shape)
        token = tokenize("areal.dask.sum", self._x, self._dtype, edges)
        shared, partial, merged = (f"areal-{what}-{token}" for what in ("boxes", "partial", "sums"))
        starts = [np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64) for sizes in self._x.chunks]
        layer: dict[Any, Any] = {shared: edges}
        keys: list[Any] = []
        for i, j in _overlapped(edges, starts):
            key = (partial, i, j)
            layer[key] = (_partial, (self._x.name, i, j), int(starts[0][i]), int(starts[1][j]), shared, self._dtype)
            keys.append(key)
        level = 0
        while True:  # a tree
            groups = [keys[k : k + _FAN_IN] for k in range(0, max(len(keys), 1), _FAN_IN)]
            keys = [(merged if len(groups) == 1 else f"{merged}-{level}", k) for k in range(len(groups))]
            layer.update((key, (_merged, group, len(edges), self._dtype)) for key, group in zip(keys, groups, strict=True))
            if len(groups) == 1:
                break
            level += 1
        graph = HighLevelGraph.from_collections(merged, layer, dependencies=[self._x])
        sums = da.Array(graph, merged, ((len(edges),),), dtype=self._dtype)
        return sums[0] if alone else sums


def sat(x: Any, dtype: npt.DTypeLike | None = None) -> Sat:
    """Sums of boxes of a 2-D array: ``sat(x).sum(boxes)``. dtype as in integral_image."""
    return Sat(*_source(x, dtype))


_FILTERS = ("bilateral", "count", "entropy", "equalize", "gaussian", "guided", "max", "mean", "median", "min", "modal", "otsu", "percentile", "std", "sum", "threshold", "var")
_MOST_REACH = 8192  # rows of a Gaussian's window above its pixel
_OF_BLOCKS = ("shrink", "zero", "constant", "replicate", "reflect", "symmetric", "wrap", "valid")


def _pair_of(name: str, value: Any) -> tuple[int, int]:
    try:
        first, second = (value, value) if isinstance(value, (int, np.integer)) else value
        return int(first), int(second)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} {value!r}: it may be a whole number, or two for rows and columns") from None


def _reach(sigma: float, arguments: dict[str, Any]) -> int:
    """How far a Gaussian sees along an axis, by the outputs whose windows lie inside."""
    known = {key: arguments[key] for key in ("truncate", "passes", "algorithm") if key in arguments}
    rows: int = filters.gaussian(np.zeros((2 * _MOST_REACH + 1, 1), np.float32), (sigma, 0), edge="valid", threads=1, **known).shape[0]
    return _MOST_REACH - rows // 2


def _filtered(pixels: Any, *others: Any, filter_name: str, size: Any, second: str, arguments: dict[str, Any]) -> Array:
    seconds = {second: np.asarray(one) for one in others}
    result: Array = getattr(filters, filter_name)(np.asarray(pixels), size, **seconds, **arguments)
    return result


def filter(name: str, x: Any, size: Any, *, edge: str = "shrink", anchor: int | tuple[int, int] | None = None, mask: Any = None, guide: Any = None,
           **arguments: Any) -> da.Array:
    """A filter of ``areal.filters`` of a 2-D Dask array, lazily, block by block: ``filter("mean", x, 31, edge="reflect")``.

    name: mean, sum, count, var, std, min, max, median, percentile, equalize, otsu, entropy, modal, bilateral, threshold, guided or gaussian. size: of guided its
    radius, of gaussian its sigma. mask, guide: arrays of x's shape. arguments: others of that filter, but for axes and out; threads is 1, as Dask has
    threads of its own. Every edge of the filter is supported; wolf's thresholds and equalize of uint16 are refused, as they depend on the whole image.

    Integers are the same as of the whole array. Sums of floats, and of guided filters and Gaussians of every dtype, are within the same bound, and their last
    bits may depend on the chunks. Each task reads a block and its neighbours' pixels as far as the window reaches, guided filters twice as far. Chunks
    that are smaller than that are joined first. Raises InvalidArgument.
    """
    x = da.asarray(x)
    if x.ndim != 2:
        raise InvalidArgument(f"x: an array of {x.ndim} dimensions; it must have 2")
    if np.isnan(np.array(x.shape, dtype=float)).any():
        raise InvalidArgument("x: its chunks have unknown sizes; compute_chunk_sizes() finds them")
    if name not in _FILTERS:
        raise InvalidArgument(f"name {name!r}: it may be {', '.join(_FILTERS)}")
    if edge not in _OF_BLOCKS:
        raise InvalidArgument(f"edge {edge!r}: it may be {', '.join(_OF_BLOCKS)}")
    if refused := sorted({"axes", "out"} & set(arguments)):
        raise InvalidArgument(f"{refused[0]}: it is not of filters of blocks")
    if arguments.get("method") == "wolf":
        raise InvalidArgument("method wolf: it depends on the whole image")
    if name == "equalize" and x.dtype == np.uint16:
        raise InvalidArgument("equalize of uint16: it depends on the largest pixel of the whole image")
    is_guided, is_gaussian = name == "guided", name == "gaussian"
    if is_guided and edge == "valid":
        raise InvalidArgument("edge 'valid': guided filters take every other edge")
    if guide is not None and not is_guided:
        raise InvalidArgument("guide: only guided filters have one")
    if (anchor is not None or mask is not None) and (is_guided or is_gaussian):
        raise InvalidArgument(f"{'anchor' if mask is None else 'mask'}: {name} filters have none")
    if is_gaussian:
        reach = [_reach(sigma, arguments) for sigma in filters._numbers("sigma", size)]
        window, at = (2 * reach[0] + 1, 2 * reach[1] + 1), (reach[0], reach[1])
    else:
        size = _pair_of("radius" if is_guided else "size", size)
        window = (4 * size[0] + 1, 4 * size[1] + 1) if is_guided else size  # the windows that hold a pixel, and theirs
        at = _pair_of("anchor", anchor) if anchor is not None else (window[0] // 2, window[1] // 2)
    depth = [max(before, cells - 1 - before) for before, cells in zip(at, window, strict=True)]
    # A block at the image's edge ends there, so that most edges are the blocks' own. The outputs of valid are the inner ones of shrink.
    within = "shrink" if edge == "valid" else edge
    if edge == "wrap" and max(x.numblocks) > 1:
        if any(reach > extent > 0 for reach, extent in zip(depth, x.shape, strict=True)):
            raise InvalidArgument(f"size {size!r} with edge wrap: windows of an array of several chunks may reach over one image of {x.shape}")
        within = "shrink"
    arguments = {"threads": 1, **arguments, "edge": within, **({} if is_guided or is_gaussian else {"anchor": at})}
    checked = {**arguments, "edge": "shrink" if x.dtype.kind == "f" or is_guided else within}  # refused here, not by a worker
    arrays, second = [x], "mask" if guide is None else "guide"
    if mask is not None or guide is not None:
        arrays.append(da.asarray(mask if guide is None else guide))
        if arrays[1].shape != x.shape:
            raise InvalidArgument(f"{second}: of shape {arrays[1].shape}; it must have x's, {x.shape}")
    probe = _filtered(*(np.ones((1, 1), one.dtype) for one in arrays), filter_name=name, size=size, second=second, arguments=checked)
    boundary = "periodic" if within != edge == "wrap" else "none"
    if boundary == "none":  # a window that reaches over the whole array needs it in one block, which needs no neighbours
        whole = {axis: -1 for axis in range(2) if x.shape[axis] <= depth[axis] or x.numblocks[axis] == 1}
        arrays = [one.rechunk(whole) for one in arrays] if whole else arrays
        depth = [0 if axis in whole else reach for axis, reach in enumerate(depth)]
    result: da.Array = da.map_overlap(_filtered, *arrays, depth=dict(enumerate(depth)), boundary=boundary, dtype=probe.dtype,
                                      meta=np.empty((0, 0), probe.dtype), filter_name=name, size=size, second=second,
                                      arguments=arguments)
    if edge == "valid":
        result = result[tuple(slice(before, max(before, before + extent - cells + 1)) for before, cells, extent in zip(at, window, x.shape, strict=True))]
    return result


def _overlapped(edges: Array, starts: list[Array]) -> list[tuple[int, int]]:
    """The chunks that at least one box overlaps, by a table of differences. O(N log chunks + chunks)."""
    edges = edges[(edges[:, :2] < edges[:, 2:]).all(1)]
    steps = np.zeros((len(starts[0]), len(starts[1])), dtype=np.int64)
    (top, bottom), (left, right) = (
        (np.searchsorted(at, edges[:, k], side="right") - 1, np.searchsorted(at, edges[:, k + 2] - 1, side="right")) for k, at in enumerate(starts)
    )
    for sign, i, j in ((1, top, left), (-1, top, right), (-1, bottom, left), (1, bottom, right)):
        np.add.at(steps, (i, j), sign)
    return [(int(i), int(j)) for i, j in np.argwhere(steps.cumsum(0).cumsum(1) > 0)]


def _partial(chunk: Any, top: int, left: int, edges: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The boxes that overlap the chunk, and their sums within it."""
    pixels = np.asarray(chunk)
    start, end = (np.clip(edges[:, k : k + 2] - (top, left), 0, pixels.shape) for k in (0, 2))
    overlapping = np.flatnonzero((start < end).all(1))
    boxes = np.concatenate([start[overlapping, ::-1], end[overlapping, ::-1]], axis=1)
    kind = pixels.dtype.kind if dtype.kind in "iu" else "f"
    table = table_of(pixels, dtype={"i": f"int{8 * dtype.itemsize}", "f": dtype}.get(kind, f"uint{8 * dtype.itemsize}"), threads=1)
    return overlapping, table.sum(boxes, format="xyxy").astype(dtype)


def _merged(parts: list[Any], boxes: int, dtype: np.dtype[Any]) -> Array:
    sums = np.zeros(boxes, dtype)
    for part in parts:
        if isinstance(part, tuple):
            sums[part[0]] += part[1]  # a box is in a part once
        else:
            sums += part
    return sums
