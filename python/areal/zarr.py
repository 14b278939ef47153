"""Chunked tables: summed-area tables beyond memory, as groups of Zarr format 3. docs/chunked-tables.md specifies the format.

Each tile has its own table (``local``, 32 bits) and the neighbouring entries of the whole table, 64 bits: the row above (``top``), the column to the
left (``left``) and the entry above and to the left of both (``corner``).

    T[y][x] = local[y][x] + top[y // tile][x] + left[x // tile][y] - corner[y // tile][x // tile]    modulo 2^64
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import operator
import os
import pathlib
import warnings
from collections.abc import Coroutine, Iterator
from typing import Any

import numpy as np

try:
    import google_crc32c
    import zarr
    from zarr.abc.store import ByteRequest, RangeByteRequest, SuffixByteRequest
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync
    from zarr.storage import LocalStore, StorePath
except ImportError as error:
    raise ImportError("areal.zarr needs Zarr 3.1.5 or later: pip install 'zarr>=3.1.5'") from error

from ._arrays import Array
from ._chunked_format import SHARD, Format, check_arrays, check_group, group_json, parse
from ._errors import InvalidArgument, IoError
from ._pieces import box_edges, table_piece

__all__ = ["ChunkedTable", "open", "write"]

_SHARDS_AT_ONCE = 8  # that a query reads
_CRC = 4


def _checksum(data: Array) -> Array:
    return np.array([google_crc32c.value(data.view(np.uint8).reshape(-1))], "<u4").view(np.uint8)


def _set(place: StorePath, data: Any) -> None:
    try:
        sync(place.set(default_buffer_prototype().buffer.from_array_like(data)))
    except Exception as error:  # each store has its own exceptions
        raise IoError(f"{place}: it cannot be written: {str(error) or type(error).__name__}") from error


async def _get(place: StorePath, what: str, bytes: int | None = None, range: ByteRequest | None = None) -> Array:
    """Reads a key. Raises IoError, with `what`, if it is missing or too short."""
    try:
        buffer = await place.get(default_buffer_prototype(), range)
    except Exception as error:  # each store has its own exceptions
        raise IoError(f"{place}: {what} cannot be read: {str(error) or type(error).__name__}") from error
    if buffer is None:
        raise IoError(f"{place}: {what} is missing")
    data: Array = buffer.as_numpy_array().view(np.uint8)
    if bytes is not None and data.size != bytes:
        raise IoError(f"{place}: {what} has {data.size} bytes instead of {bytes}")
    return data


def _checked(place: StorePath, what: str, data: Array) -> Array:
    """The data without its checksum. Raises IoError if the checksum is wrong."""
    if not np.array_equal(_checksum(data[:-_CRC]), data[-_CRC:]):
        raise IoError(f"{place}: {what} is damaged, as its checksum tells")
    return data[:-_CRC]


class ChunkedTable:
    """An open chunked table. A sum of a box needs a few reads. ``format`` has height, width, tile and the pixels' dtype."""

    def __init__(self, path: StorePath, format: Format) -> None:
        self._path = path
        self.format = format

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the image."""
        return self.format.height, self.format.width

    def __repr__(self) -> str:
        f = self.format
        return f"<areal.zarr.ChunkedTable {f.height}x{f.width} of {f.dtype}, tiles of {f.tile}, {self._path}>"

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Any:
        """Sums of boxes, uint64: N of them; of one box a scalar. Formats as areal.sat's. Exact where a box's own sum fits 64 bits.

        A corner reads one tile and three numbers, and each shard that is touched its index once; corners in one tile share them.
        Memory: 8 tiles. Raises InvalidArgument for boxes, IoError for what is missing or damaged; numbers of ``top``, ``left`` and ``corner`` are
        read without their checksums, which only verify() reads.
        """
        edges, alone = box_edges(boxes, format, outside, *self.shape)
        top, left, bottom, right = edges.T
        rows = np.concatenate([bottom, bottom, top, top]) - 1
        columns = np.concatenate([right, left, right, left]) - 1
        needed = np.tile((top < bottom) & (left < right), 4) & (rows >= 0) & (columns >= 0)
        entries = np.zeros(len(rows), np.uint64)
        entries[needed] = sync(self._entries(rows[needed], columns[needed]))
        a, b, c, d = entries.reshape(4, -1)
        sums = a - b - c + d
        return sums[0] if alone else sums

    async def _entries(self, rows: Array, columns: Array) -> Array:
        """Entries of the whole table, a shard at a time."""
        f = self.format
        out = np.empty(len(rows), np.uint64)
        shards = rows // SHARD * -(-f.width // SHARD) + columns // SHARD
        order = np.lexsort((columns // f.tile, rows // f.tile, shards))
        groups = np.split(order, np.flatnonzero(np.diff(shards[order])) + 1) if len(order) else []

        async def answer(members: Array) -> None:
            index = await self._index(int(rows[members[0]]) // SHARD, int(columns[members[0]]) // SHARD)
            tiles = rows[members] // f.tile * f.tile_columns + columns[members] // f.tile
            for of_tile in np.split(members, np.flatnonzero(np.diff(tiles)) + 1):
                out[of_tile] = await self._entries_of_tile(index, rows[of_tile], columns[of_tile])

        for k in range(0, len(groups), _SHARDS_AT_ONCE):
            await asyncio.gather(*map(answer, groups[k : k + _SHARDS_AT_ONCE]))
        return out

    async def _index(self, i: int, j: int) -> Array:
        """The index of a shard's tiles: tiles x tiles x (offset, bytes)."""
        n = self.format.tiles_per_shard
        bytes = 16 * n * n + _CRC
        place, what = self._path / f"local/c/{i}/{j}", f"the index of shard ({i}, {j}) of local"
        data = await _get(place, what, bytes, SuffixByteRequest(bytes))
        return _checked(place, what, data).view("<u8").reshape(n, n, 2)

    async def _tile(self, index: Array, i: int, j: int) -> Array:
        n, tile = self.format.tiles_per_shard, self.format.tile
        place, what = self._path / f"local/c/{i // n}/{j // n}", f"tile ({i}, {j}) of local"
        offset, bytes = (int(number) for number in index[i % n, j % n])
        if bytes != 4 * tile * tile + _CRC or offset >= 2**62:
            raise IoError(f"{place}: {what} is not in its shard's index")
        data = await _get(place, what, bytes, RangeByteRequest(offset, offset + bytes))
        return _checked(place, what, data).view("<u4").reshape(tile, tile)

    async def _entries_of_tile(self, index: Array, rows: Array, columns: Array) -> Array:
        tile = self.format.tile
        i, j = int(rows[0]) // tile, int(columns[0]) // tile

        def numbers(array: str, object: str, at: Array) -> Coroutine[Any, Any, Array]:
            first, last = int(at.min()), int(at.max())
            what = f"{array} of tile ({i}, {j})"
            return _get(self._path / f"{array}/c/{object}", what, 8 * (last + 1 - first), RangeByteRequest(8 * first, 8 * (last + 1)))

        in_left = j * tile + rows % tile
        local, top, left, corner = await asyncio.gather(
            self._tile(index, i, j),
            numbers("top", f"{i}/0", columns),
            numbers("left", f"0/{i}", in_left),
            numbers("corner", f"{i}/0", np.array([j])),
        )
        sums: Array = local[rows % tile, columns % tile] + top.view("<u8")[columns - columns.min()]
        sums += left.view("<u8")[in_left - in_left.min()]
        sums -= corner.view("<u8")
        return sums

    def verify(self) -> None:
        """Reads the whole table once. Raises IoError with the first tile or carry whose checksum is wrong. O(H W)."""
        f, n = self.format, self.format.tiles_per_shard
        index: Any = None
        for i in range(f.tile_rows):
            for first in range(0, f.tile_columns, n):
                index = sync(self._index(i // n, first // n))
                for j in range(first, min(first + n, f.tile_columns)):
                    sync(self._tile(index, i, j))
            carries = {"top": (f"{i}/0", f.width), "left": (f"0/{i}", f.tile * f.tile_columns), "corner": (f"{i}/0", f.tile_columns)}
            for name, (chunk, entries) in carries.items():
                if f.width:
                    place, what = self._path / f"{name}/c/{chunk}", f"{name} of tile row {i}"
                    _checked(place, what, sync(_get(place, what, 8 * entries + _CRC)))


def open(store: Any) -> ChunkedTable:
    """Opens a complete chunked table. store: an argument of zarr.open_group (a path, a URL, a Store). Raises IoError for anything else."""
    # Mode r would replace a writable store by a read-only copy, which some stores do not support.
    mode: Any = "r" if getattr(store, "read_only", True) else "r+"
    try:
        path = zarr.open_group(store, mode=mode, use_consolidated=False, zarr_format=3).store_path
    except Exception as error:  # each store, and each fault of the metadata, has exceptions of its own
        words = " ".join((str(error) or type(error).__name__).split())
        raise IoError(f"{store}: it is not a Zarr group of format 3: {words}") from error

    def metadata(name: str) -> dict[str, Any]:
        return parse(f"{path / name}", sync(_get(path / name, "the metadata")).tobytes())

    dtype = check_group(f"{path}", metadata("zarr.json"))
    arrays = {name: metadata(f"{name}/zarr.json") for name in ("local", "top", "left", "corner")}
    return ChunkedTable(path, check_arrays(f"{path}", dtype, arrays))


def write(
    source: Any,
    store: Any,
    tile: int = 1024,
    *,
    overwrite: bool = False,
    resume: bool = False,
    repair: bool = False,
    threads: int = 0,
    sync: bool = True,
) -> ChunkedTable:
    """Writes the chunked table of a 2-D image in one pass, reading each pixel once, in blocks of 4096 x 4096. O(H W).

    source: bool, uint8 or uint16 pixels; any object with shape, dtype and ``source[rows, columns]``: arrays of NumPy, Zarr, HDF5 and Dask, memmaps.
    store: an argument of zarr.create_group. tile: a power of two from 64 to 4096, for uint16 to 256.
    Writes about 4 bytes per pixel. Memory: 80 MiB, and 16 bytes + 64 KiB / tile per column.

    The attribute ``complete`` is written last. open() refuses a table without it; write() replaces it, and replaces other nodes only if ``overwrite``.
    resume: continue an interrupted table, also one of the C++ library, after its last complete row of shards; keep a complete one. Shape, dtype and
    tile must be the same; that the pixels are is not checked. What is there is read once: rows from the first one on whose objects differ in length,
    index or checksum are written again, with a warning.
    repair: as resume, and read a complete table, too: rows from the first faulty one on are written again, and the table is incomplete meanwhile.
    sync: of a table in a folder, everything is on the disk before the attribute ``complete`` is, which is on return. False: the operating system writes
    it later, so that a loss of power may leave a damaged table with the attribute.
    Raises InvalidArgument for other sources and tiles, IoError if the store has a node or fails, or if another process is writing to its folder.
    """
    if (resume or repair) and overwrite:
        raise InvalidArgument(f"{'resume' if resume else 'repair'} and overwrite: only one of the two")
    if not (hasattr(source, "shape") and hasattr(source, "dtype")):
        source = np.asarray(source)
    if len(source.shape) != 2:
        raise InvalidArgument(f"source: an image of {len(source.shape)} dimensions; it must have 2")
    try:
        tile = operator.index(tile)
    except TypeError:
        raise InvalidArgument(f"tile {tile!r}: it must be a whole number") from None
    format = Format(int(source.shape[0]), int(source.shape[1]), tile, np.dtype(source.dtype).name)
    with _locked(store):
        folder = _folder_of(store) if sync else None
        if folder is not None and not folder.is_dir():  # one file
            folder = None
        begun = _begun(store, format, repair, folder) if resume or repair else None
        if begun is not None and begun[2] is None:
            return ChunkedTable(begun[0], format)  # complete
        path, first, top = begun or (_created(store, format, overwrite, folder), 0, None)
        _write_tiles(source, path, format, threads, first, top)
        if folder is not None:
            _flush_all(folder)
        _set_group(path, {**format.attributes(), "complete": True}, folder)
        return ChunkedTable(path, format)


def _folder_of(store: Any) -> pathlib.Path | None:
    """The folder of a table in a file system; None for other stores."""
    if isinstance(store, str):
        return None if "://" in store else pathlib.Path(store)
    if isinstance(store, os.PathLike):
        return pathlib.Path(store)
    if isinstance(store, StorePath) and isinstance(store.store, LocalStore):
        return pathlib.Path(store.store.root, str(store.path))
    return pathlib.Path(store.root) if isinstance(store, LocalStore) else None


@contextlib.contextmanager
def _locked(store: Any) -> Iterator[None]:
    """Holds the lock of a table's folder that the C++ library takes, too. Raises IoError if another process writes there."""
    folder = _folder_of(store)
    if folder is None or folder.suffix == ".zip" or (folder.exists() and not folder.is_dir()):
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise IoError(f"{folder}: it cannot be created: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IoError(f"{folder}: another process is writing this table") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)


def _flush(path: str | os.PathLike[str]) -> None:
    """Writes a file, or the names in a folder, to the disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno == errno.EACCES:  # a folder that may not be listed
            os.sync()
        elif error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # a file system that cannot
            raise IoError(f"{path}: it cannot be written to the disk: {error.strerror}") from error


def _flush_all(folder: pathlib.Path) -> None:
    """The same for everything in a folder, and for its own name."""
    for place, _, files in os.walk(folder):
        for name in files:
            _flush(os.path.join(place, name))
        _flush(place)
    _flush(folder.absolute().parent)


def _set_group(path: StorePath, attributes: dict[str, Any], folder: pathlib.Path | None) -> None:
    """What the group says of the table; of one in a folder that is to be flushed, on the disk on return."""
    _set(path / "zarr.json", np.frombuffer(group_json(attributes), np.uint8))
    if folder is not None:
        _flush(folder / "zarr.json")
        _flush(folder)


def _created(store: Any, format: Format, overwrite: bool, folder: pathlib.Path | None) -> StorePath:
    """Creates an incomplete group with four empty arrays.

    The group has the attribute ``replacing`` until all old members are deleted, so that no call resumes from them.
    """
    marked = {**format.attributes(), "replacing": True}
    group: Any = None
    try:
        group = zarr.open_group(store, mode="r+", use_consolidated=False, zarr_format=3)
    except Exception:  # nothing there, or nothing that is known
        group = None
    try:
        if group is not None and (overwrite or {**marked, **group.attrs, "dtype": format.dtype} == marked):  # or an incomplete table
            path = group.store_path
            _set_group(path, marked, folder)
        else:
            path = zarr.create_group(store, overwrite=overwrite, zarr_format=3, attributes=marked).store_path
        if path.store.supports_listing:
            sync(_remove_members(path))
        if folder is not None:  # what is removed is gone before the group says so
            _flush(folder)
    except IoError:
        raise
    except Exception as error:  # each store has its own exceptions
        raise IoError(f"{store}: it cannot be created: {' '.join(str(error).split())}") from error
    _set(path / "zarr.json", np.frombuffer(group_json(format.attributes()), np.uint8))
    for name, metadata in format.arrays().items():
        _set(path / f"{name}/zarr.json", np.frombuffer(json.dumps(metadata, indent=1).encode(), np.uint8))
    return path


async def _remove_members(path: StorePath) -> None:
    """Deletes the members of a group."""
    for name in [name async for name in path.store.list_dir(path.path)]:
        if name.rstrip("/") != "zarr.json":
            member = path / name.rstrip("/")
            await member.delete()  # a key; a store of folders removes a folder so, too
            await path.store.delete_dir(member.path)


def _begun(store: Any, format: Format, repair: bool, folder: pathlib.Path | None) -> tuple[StorePath, int, Array | None] | None:
    """A table to continue: its path, the first row of tiles to write and the row of the whole table above it. None if there is no table. Of a
    complete one that row is None; with ``repair`` it is read, and if it has a fault, it is marked as incomplete and continued."""
    try:
        path = zarr.open_group(store, mode="r+", use_consolidated=False, zarr_format=3).store_path
    except Exception:  # nothing there, or nothing that is known
        return None
    group = parse(f"{path / 'zarr.json'}", sync(_get(path / "zarr.json", "the metadata")).tobytes())
    attributes = group.get("attributes") or {}
    if attributes.get("replacing") is True:
        return None
    complete = attributes.get("complete") is True
    dtype = check_group(f"{path}", {**group, "attributes": {**attributes, "complete": True}})
    if not all(sync((path / f"{name}/zarr.json").exists()) for name in ("local", "top", "left", "corner")):
        return None
    arrays = {name: parse(f"{path / name}", sync(_get(path / f"{name}/zarr.json", "the metadata")).tobytes()) for name in format.arrays()}
    found = check_arrays(f"{path}", dtype, arrays)
    if found != format:
        was, wanted = (f"{f.width}x{f.height} pixels of {f.dtype} in tiles of {f.tile}" for f in (found, format))
        raise IoError(f"{path}: is the table of {was}, not of {wanted}")
    if complete and not repair:
        return path, format.tile_rows, None
    n = format.tiles_per_shard
    if not format.tile_rows or not format.width:
        return (path, format.tile_rows, None) if complete else None
    if not complete and not sync((path / "top/c/0/0").exists()):
        return None

    sound = complete  # every row is there, and no fault has been found
    try:
        top = _carry(path, format, "top", 0)
    except IoError as fault:
        warnings.warn(f"{fault}; it is written again", stacklevel=3)
        sound = _unmarked(path, format, sound, folder)
        top = np.zeros(format.width, "<u8").view(np.uint8)
        _write_carry(path / "top/c/0/0", top)
    first = 0
    while first < format.tile_rows and (complete or (first + n < format.tile_rows and sync((path / f"top/c/{first + n}/0").exists()))):
        try:
            top = _check_row(path, format, first, top)
        except IoError as fault:
            warnings.warn(f"{fault}; the table is written again from pixel row {first * format.tile} on", stacklevel=3)
            sound = _unmarked(path, format, sound, folder)
            break
        first += n
    return path, first, None if sound else top.view("<u8").copy()


def _unmarked(path: StorePath, format: Format, marked: bool, folder: pathlib.Path | None) -> bool:
    """Takes the attribute ``complete`` from a table that has it; returns False."""
    if marked:
        _set_group(path, format.attributes(), folder)
    return False


def _carry(path: StorePath, format: Format, array: str, i: int) -> Array:
    """A whole object of a row of tiles. Raises IoError if it is missing, or differs in length or checksum."""
    entries = {"top": format.width, "left": format.tile * format.tile_columns, "corner": format.tile_columns}[array]
    place, what = path / f"{array}/c/{f'0/{i}' if array == 'left' else f'{i}/0'}", f"{array} of tile row {i}"
    return _checked(place, what, sync(_get(place, what, 8 * entries + _CRC)))


def _check_row(path: StorePath, format: Format, first: int, top: Array) -> Array:
    """Verifies all that a writer makes for the row of shards that begins with that row of tiles, of `top`. Raises IoError for the first fault. Returns
    `top` of the row below; below the last one there is none."""
    n, stored = format.tiles_per_shard, 4 * format.tile * format.tile + _CRC
    rows = min(n, format.tile_rows - first)
    for j in range(-(-format.width // SHARD)):
        columns = min(n, format.tile_columns - j * n)
        place, words = path / f"local/c/{first // n}/{j}", f"shard ({first // n}, {j}) of local"
        data = sync(_get(place, words, rows * columns * stored + 16 * n * n + _CRC))
        index = _checked(place, f"the index of {words}", data[rows * columns * stored :]).view("<u8").reshape(n, n, 2)
        written = np.full((n, n, 2), -1, "<i8").view("<u8")
        written[:rows, :columns, 0] = np.arange(rows * columns, dtype="<u8").reshape(rows, columns) * np.uint64(stored)
        written[:rows, :columns, 1] = stored
        if not np.array_equal(index, written):
            raise IoError(f"{place}: the index of {words} is not as areal writes it")
        for k in range(rows * columns):
            tile = data[k * stored : (k + 1) * stored]
            _checked(place, f"tile ({first + k // columns}, {j * n + k % columns}) of local", tile)
        del data  # before the next shard comes
    for i in range(first, first + rows):
        _carry(path, format, "left", i)
        _carry(path, format, "corner", i)
        if i + 1 < format.tile_rows:
            top = _carry(path, format, "top", i + 1)
    return top


class _ShardRow:
    """The carries of the tile rows in a row of shards, from left to right."""

    def __init__(self, format: Format, first: int, top: Array) -> None:
        self.format = format
        self.tile_rows = range(first, min(first + format.tiles_per_shard, format.tile_rows))
        rows, columns, tile = len(self.tile_rows), format.tile_columns, format.tile
        self.top = np.zeros((rows + 1, format.width), "<u8")  # the last row is for the next row of shards
        self.top[0] = top
        self.left = np.zeros((rows, columns, tile), "<u8")
        self.corner = np.zeros((rows, columns), "<u8")
        self._row_sums = np.zeros((rows, tile), "<u8")  # sums of the pixels left of the current tiles, from the tiles' first row on

    def shard(self, pixels: Array, first: int, threads: int) -> Array:
        """The bytes of the next shard, whose tile columns begin at ``first``."""
        tile, n = self.format.tile, self.format.tiles_per_shard
        tile_columns = range(first, min(first + n, self.format.tile_columns))
        tile_bytes = 4 * tile * tile
        all_tiles = len(self.tile_rows) * len(tile_columns) * (tile_bytes + _CRC)
        shard = np.zeros(all_tiles + 16 * n * n + _CRC, np.uint8)
        index = shard[all_tiles:-_CRC].view("<u8").reshape(n, n, 2)
        index[:] = 2**64 - 1
        offset = 0
        for i in range(len(self.tile_rows)):
            for j in range(len(tile_columns)):
                data = shard[offset : offset + tile_bytes]
                of_tile = pixels[i * tile : (i + 1) * tile, j * tile : (j + 1) * tile]
                local = data.view("<u4").reshape(tile, tile)[: of_tile.shape[0], : of_tile.shape[1]]
                table_piece(of_tile, local, threads=threads)
                self._take(i, first + j, local)
                shard[offset + tile_bytes :][:_CRC] = _checksum(data)
                index[i, j] = offset, tile_bytes + _CRC
                offset += tile_bytes + _CRC
        shard[-_CRC:] = _checksum(shard[all_tiles:-_CRC])
        return shard

    def _take(self, i: int, j: int, local: Array) -> None:
        height, width = local.shape
        x = j * self.format.tile
        self.corner[i, j] = self.top[i, x - 1] if x else 0
        self.left[i, j, :height] = self._row_sums[i, :height] + self.corner[i, j]
        self.top[i + 1, x : x + width] = self.top[i, x : x + width] + self._row_sums[i, height - 1] + local[-1]
        self._row_sums[i, :height] += local[:, -1]


def _write_tiles(source: Any, path: StorePath, format: Format, threads: int, begin: int, top: Array | None) -> None:
    """Writes tiles from row ``begin`` on. top: the row of the whole table above it; None: zeros, which are still to be written."""
    n = format.tiles_per_shard
    if format.width == 0:
        return
    above: Array = np.zeros(format.width, "<u8") if top is None else top
    if top is None and format.height:
        _write_carry(path / "top/c/0/0", above)
    for first in range(begin, format.tile_rows, n):
        row = _ShardRow(format, first, above)
        y = first * format.tile
        for j, x in enumerate(range(0, format.width, SHARD)):
            pixels = _block(source, y, min(y + SHARD, format.height), x, min(x + SHARD, format.width))
            _set(path / f"local/c/{first // n}/{j}", row.shard(pixels, j * n, threads))
            del pixels  # before the next ones come
        for k, i in enumerate(row.tile_rows):
            _write_carry(path / f"left/c/0/{i}", row.left[k])
            _write_carry(path / f"corner/c/{i}/0", row.corner[k])
            if i + 1 < format.tile_rows:
                _write_carry(path / f"top/c/{i + 1}/0", row.top[k + 1])
        above = row.top[-1]


def _write_carry(place: StorePath, numbers: Array) -> None:
    data = numbers.view(np.uint8).reshape(-1)
    _set(place, np.concatenate([data, _checksum(data)]))


def _block(source: Any, top: int, bottom: int, left: int, right: int) -> Array:
    pixels = np.asarray(source[top:bottom, left:right])
    if pixels.shape != (bottom - top, right - left) or pixels.dtype != source.dtype:
        found, wanted = ("x".join(map(str, shape)) for shape in (pixels.shape, (bottom - top, right - left)))
        of = np.dtype(source.dtype).name
        raise InvalidArgument(f"source: it gave {found} pixels of {pixels.dtype.name}, where {wanted} of {of} were asked for")
    return pixels
