"""Chunked tables in Zarr stores against NumPy: what is written, what an answer reads, and what is refused."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import areal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

zarr = pytest.importorskip("zarr", minversion="3", reason="Zarr 3 is not installed")
import areal.zarr  # noqa: E402
from zarr.storage import LocalStore, MemoryStore, WrapperStore  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
ARRAYS = ("local", "top", "left", "corner")


def random_pixels(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, shape).astype(bool) if dtype == "bool" else rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def random_boxes(seed: int, count: int, height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.integers(0, width + 1, (count, 2)), 1), np.sort(rng.integers(0, height + 1, (count, 2)), 1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], 1)


def expected_sums(pixels: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    return np.array([pixels[y : y + h, x : x + w].sum(dtype=np.uint64) for x, y, w, h in boxes], dtype=np.uint64)


def whole_table(store: Any, tile: int) -> np.ndarray:
    """The table as Zarr reads the four arrays: the specification's formula, and none of areal's code."""
    group = zarr.open_group(store, mode="r")
    local, top, left, corner = (group[name][:] for name in ARRAYS)
    assert [a.dtype for a in (local, top, left, corner)] == [np.uint32, np.uint64, np.uint64, np.uint64]
    y, x = np.mgrid[: local.shape[0], : local.shape[1]]
    return local + top[y // tile, x] + left[x // tile, y] - corner[y // tile, x // tile]


def check_table(store: Any, tile: int, pixels: np.ndarray) -> None:
    np.testing.assert_array_equal(whole_table(store, tile), pixels.astype(np.uint64).cumsum(0).cumsum(1))


class Counting(WrapperStore):
    """Writes down what is read: key and bytes."""

    def __init__(self, store):
        super().__init__(store)
        self.reads = []

    async def get(self, key, prototype, byte_range=None):
        got = await super().get(key, prototype, byte_range)
        self.reads.append((key, -1 if got is None else len(got)))
        return got


class Failing(WrapperStore):
    """Fails at the n-th object that is written, and after it."""

    def __init__(self, store, left):
        super().__init__(store)
        self.left = left

    async def set(self, key, value):
        self.left[0] -= 1
        if self.left[0] < 0:
            raise OSError("no space left")
        await super().set(key, value)


def test_the_check_finds_one_wrong_number():
    pixels = random_pixels(1, (300, 200), "uint8")
    for name in ARRAYS:
        store = MemoryStore()
        areal.zarr.write(pixels, store, 64)
        check_table(store, 64, pixels)
        array = zarr.open_group(store, mode="r+")[name]
        array[1, 2] += 1
        with pytest.raises(AssertionError):
            check_table(store, 64, pixels)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(0, 300),
    width=st.integers(0, 300),
    dtype=st.sampled_from(["bool", "uint8", "uint16"]),
    tile=st.sampled_from([64, 128, 256]),
)
def test_tables_of_any_shape(seed, height, width, dtype, tile):
    pixels = random_pixels(seed, (height, width), dtype)
    store = MemoryStore()
    table = areal.zarr.write(pixels, store, tile)
    if pixels.size:
        check_table(store, tile, pixels)
    boxes = random_boxes(seed, 20, height, width)
    for opened in (table, areal.open(store)):
        assert opened.shape == pixels.shape
        sums = opened.sum(boxes)
        assert sums.dtype == np.uint64
        np.testing.assert_array_equal(sums, expected_sums(pixels, boxes))
    table.verify()


@pytest.mark.parametrize("shape, tile", [((4100, 4200), 1024), ((8200, 130), 64), ((130, 8200), 64), ((4097, 70), 4096)])
def test_tables_of_several_shards(tmp_path, shape, tile):
    pixels = random_pixels(2, shape, "uint8")
    areal.zarr.write(pixels, tmp_path / "table", tile)
    check_table(tmp_path / "table", tile, pixels)
    boxes = random_boxes(3, 300, *shape)
    table = areal.open(str(tmp_path / "table"))
    np.testing.assert_array_equal(table.sum(boxes), expected_sums(pixels, boxes))
    table.verify()
    assert sum(f.stat().st_size for f in tmp_path.rglob("*")) < 5.2 * np.prod([-(-n // tile) * tile for n in shape])


@pytest.mark.parametrize("dtype, tile, most", [("uint8", 4096, 255 * 4096**2), ("uint16", 256, 65535 * 256**2)])
def test_local_tables_at_their_limit(dtype, tile, most):
    pixels = np.full((4096, 4096 if tile == 4096 else 512), np.iinfo(dtype).max, dtype)
    store = MemoryStore()
    table = areal.zarr.write(pixels, store, tile)
    assert most < 2**32 and int(zarr.open_group(store, mode="r")["local"][tile - 1, tile - 1]) == most
    assert int(table.sum([0, 0, pixels.shape[1], 4096])) == int(np.iinfo(dtype).max) * pixels.size
    assert int(table.sum([1, 1, 300, 4000])) == int(np.iinfo(dtype).max) * 300 * 4000


def test_formats_and_single_boxes():
    pixels = random_pixels(4, (150, 170), "uint8")
    table = areal.zarr.write(pixels, MemoryStore(), 64)
    expected = int(pixels[5:115, 20:50].sum())
    for format, box in (("xywh", [20, 5, 30, 110]), ("xyxy", [20, 5, 50, 115]), ("bbox", [5, 20, 115, 50]), ("skimage", [5, 20, 114, 49])):
        assert table.sum(box, format=format) == expected and np.ndim(table.sum(box, format=format)) == 0
    assert table.sum([-9, -9, 2**62, 2**62], outside="clip") == pixels.sum()
    assert table.sum([]).shape == (0,)


def test_every_pixel_is_read_once():
    pixels = random_pixels(5, (4200, 4500), "uint8")
    reads = np.zeros(pixels.shape, np.uint8)

    class Source:
        shape, dtype = pixels.shape, pixels.dtype

        def __getitem__(self, where):
            reads[where] += 1
            return pixels[where]

    areal.zarr.write(Source(), MemoryStore())
    assert (reads == 1).all()


def test_other_sources(tmp_path):
    pixels = random_pixels(6, (200, 300), "uint16")
    np.save(tmp_path / "pixels.npy", pixels)
    stored = zarr.create_array(MemoryStore(), data=pixels, chunks=(64, 64))
    for source in (np.load(tmp_path / "pixels.npy", mmap_mode="r"), stored, pixels.astype(">u2"), np.asfortranarray(pixels)):
        store = MemoryStore()
        areal.zarr.write(source, store, 64)
        check_table(store, 64, pixels)
    with pytest.raises(areal.InvalidArgument, match="dtype int64: chunked tables are of bool, uint8, uint16"):
        areal.zarr.write(pixels.tolist(), MemoryStore(), 64)


def test_dask_sources():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    pixels = random_pixels(7, (200, 300), "uint8")
    store = MemoryStore()
    areal.zarr.write(da.from_array(pixels, chunks=64), store, 64)
    check_table(store, 64, pixels)


def test_memory_of_writing():
    shape = (4096, 40_960)

    class Zeros:
        dtype = np.dtype(np.uint8)

        def __init__(self):
            self.shape = shape

        def __getitem__(self, where):
            return np.zeros([s.stop - s.start for s in where], np.uint8)

    class Nowhere(MemoryStore):
        async def set(self, key, value, byte_range=None):
            if key.endswith("zarr.json"):
                await super().set(key, value)

    def peak(source: Any) -> int:
        tracemalloc.start()
        areal.zarr.write(source, Nowhere(), 1024)
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    bound = (80 << 20) + shape[1] * (16 + 65536 // 1024) + (1 << 20)
    assert peak(Zeros()) <= bound
    assert peak(np.zeros((4096, 8192), np.uint8)) > 64 << 20  # what is measured is NumPy's memory, too


# Going on with a table


def objects_of(store: MemoryStore) -> dict[str, bytes]:
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


class Rows:
    """A source that writes down the first row of each block that is read."""

    def __init__(self, pixels):
        self.pixels, self.rows = pixels, []
        self.shape, self.dtype = pixels.shape, pixels.dtype

    def __getitem__(self, where):
        self.rows.append(where[0].start)
        return self.pixels[where]


def test_resuming_gives_the_same_bytes():
    pixels = random_pixels(30, (4096 + 100, 40), "uint8")
    whole = MemoryStore()
    areal.zarr.write(pixels, whole, 512)
    objects = 0
    resumed = set()
    while True:
        inner = MemoryStore()
        try:
            areal.zarr.write(pixels, Failing(inner, [objects]), 512)
        except areal.IoError:
            pass
        else:
            break
        source, first_row = Rows(pixels), 4096 * ("top/c/8/0" in inner._store_dict)
        areal.zarr.write(source, inner, 512, resume=True).verify()
        assert objects_of(inner) == objects_of(whole)
        assert min(source.rows) == first_row
        resumed.add(min(source.rows))
        objects += 1
    assert resumed == {0, 4096}
    source = Rows(pixels)
    assert areal.zarr.write(source, whole, 512, resume=True).shape == pixels.shape and not source.rows  # it is complete


def test_resuming_only_the_same_table():
    pixels = random_pixels(31, (300, 200), "uint8")
    store = MemoryStore()
    with pytest.raises(areal.IoError):
        areal.zarr.write(pixels, Failing(store, [8]), 64)
    for other, tile, words in [(pixels[:, :199], 64, "199x300 pixels of uint8 in tiles of 64"), (pixels, 128, "of uint8 in tiles of 128"), (pixels.astype(np.uint16), 64, "of uint16")]:
        with pytest.raises(areal.IoError, match=f"is the table of 200x300 pixels of uint8 in tiles of 64, not of .*{words}") as raised:
            areal.zarr.write(other, store, tile, resume=True)
        check_sentence(raised.value)
    with pytest.raises(areal.InvalidArgument, match="resume and overwrite: only one of the two"):
        areal.zarr.write(pixels, store, 64, resume=True, overwrite=True)
    areal.zarr.write(pixels, store, 64, resume=True)
    check_table(store, 64, pixels)
    areal.zarr.write(pixels, fresh := MemoryStore(), 64, resume=True)  # where there is none, it begins
    assert objects_of(fresh) == objects_of(store)


# The command, which is C++

COMMAND = pathlib.Path(areal._core.__file__).resolve().parents[2] / "apps" / "areal" / "areal"  # in a build tree


def files_of(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize("shape, tile, dtype", [((300, 200), 64, "uint8"), ((130, 4200), 128, "uint16"), ((4097, 70), 4096, "uint8"), ((0, 5), 64, "uint8")])
def test_the_command_writes_the_same_bytes(tmp_path, shape, tile, dtype):
    if not COMMAND.exists():
        pytest.skip("the command is not beside the package")
    pixels = random_pixels(32, shape, dtype)
    np.save(tmp_path / "pixels.npy", pixels)
    subprocess.run([COMMAND, "sat", tmp_path / "pixels.npy", "-o", tmp_path / "command.zarr", "--tile", str(tile)], check=True)
    areal.zarr.write(pixels, tmp_path / "python.zarr", tile)
    assert files_of(tmp_path / "command.zarr") == files_of(tmp_path / "python.zarr")
    if pixels.size:
        check_table(tmp_path / "command.zarr", tile, pixels)
    boxes = random_boxes(33, 40, *shape)
    areal.open(tmp_path / "command.zarr").verify()
    np.testing.assert_array_equal(areal.open(tmp_path / "command.zarr").sum(boxes), expected_sums(pixels, boxes))
    np.savetxt(tmp_path / "boxes.csv", boxes, "%d", ",")
    rows = subprocess.run([COMMAND, "query", tmp_path / "python.zarr", "--regions", tmp_path / "boxes.csv"], check=True, capture_output=True, text=True).stdout
    assert [int(row.split(",")[-1]) for row in rows.splitlines()[1:]] == expected_sums(pixels, boxes).tolist()


def test_the_command_goes_on_where_python_stopped(tmp_path):
    if not COMMAND.exists():
        pytest.skip("the command is not beside the package")
    pixels = random_pixels(34, (4096 + 50, 120), "uint8")
    np.save(tmp_path / "pixels.npy", pixels)
    areal.zarr.write(pixels, tmp_path / "whole.zarr", 1024)

    class Stops(Rows):
        def __getitem__(self, where):
            if where[0].start:
                raise KeyboardInterrupt
            return super().__getitem__(where)

    with pytest.raises(KeyboardInterrupt):
        areal.zarr.write(Stops(pixels), tmp_path / "table.zarr", 1024)
    subprocess.run([COMMAND, "sat", tmp_path / "pixels.npy", "-o", tmp_path / "table.zarr", "--resume"], check=True)
    assert files_of(tmp_path / "table.zarr") == files_of(tmp_path / "whole.zarr")


# What an answer reads


def test_a_corner_reads_one_tile_and_three_numbers():
    pixels = random_pixels(8, (4200, 4200), "uint8")
    store = Counting(MemoryStore())
    areal.zarr.write(pixels, store, 256)
    table = areal.open(store)
    index, tile = 16 * 16 * 16 + 4, 4 * 256 * 256 + 4
    store.reads.clear()
    assert table.sum([0, 0, 700, 1000]) == pixels[:1000, :700].sum()  # one corner that is not zero
    expected = [("local/c/0/0", index), ("local/c/0/0", tile), ("top/c/3/0", 8), ("left/c/0/3", 8), ("corner/c/3/0", 8)]
    assert sorted(store.reads) == sorted(expected)
    store.reads.clear()
    assert table.sum([300, 400, 2000, 3000]) == pixels[400:3400, 300:2300].sum()  # four tiles of one shard
    assert sorted(size for _, size in store.reads) == sorted([index] + 4 * [tile, 8, 8, 8])
    store.reads.clear()
    assert table.sum([300, 300, 7, 9]) == pixels[300:309, 300:307].sum()  # four corners in one tile
    assert sorted(store.reads) == sorted([("local/c/0/0", index), ("local/c/0/0", tile), ("top/c/1/0", 64), ("left/c/0/1", 80), ("corner/c/1/0", 8)])
    store.reads.clear()
    assert table.sum([4000, 4000, 190, 190]) == pixels[4000:4190, 4000:4190].sum()  # four shards
    assert sorted(size for _, size in store.reads) == sorted(4 * [index, tile, 8, 8, 8])
    store.reads.clear()
    assert table.sum([[5, 5, 0, 7], [0, 0, 0, 0]]).tolist() == [0, 0] and not store.reads


# What is refused


def written(height: int = 300, width: int = 200, tile: int = 64, seed: int = 9) -> tuple[MemoryStore, np.ndarray]:
    pixels = random_pixels(seed, (height, width), "uint8")
    store = MemoryStore()
    areal.zarr.write(pixels, store, tile)
    return store, pixels


def put(store: MemoryStore, key: str, data: bytes) -> None:
    store._store_dict[key] = zarr.core.buffer.default_buffer_prototype().buffer.from_bytes(data)


def check_sentence(error: BaseException) -> None:
    sentence = str(error)
    assert sentence and "\n" not in sentence and len(sentence) < 400, sentence


def test_writing_that_fails_leaves_a_store_that_is_refused():
    pixels = random_pixels(10, (4100, 200), "uint8")
    complete = MemoryStore()
    areal.zarr.write(pixels, complete, 1024)
    objects = 0
    while True:
        inner = MemoryStore()
        try:
            areal.zarr.write(pixels, Failing(inner, [objects]), 1024)
        except areal.IoError as error:
            check_sentence(error)
        else:
            break
        with pytest.raises(areal.IoError) as refused:
            areal.open(inner)
        check_sentence(refused.value)
        if objects >= 2:
            assert "is not complete" in str(refused.value)
        objects += 1
        if objects % 5 == 0:  # and can be written again
            areal.zarr.write(pixels, inner, 1024)
            check_table(inner, 1024, pixels)
    assert objects >= len(complete._store_dict) and inner._store_dict.keys() == complete._store_dict.keys()


KILLED = """
import sys, numpy as np, areal.zarr
pixels = np.load(sys.argv[1], mmap_mode="r")
print("begin", flush=True)
while True:
    areal.zarr.write(pixels, sys.argv[2], 64, overwrite=True)
    print("written", flush=True)
"""


def test_a_killed_write_is_refused_or_complete(tmp_path):
    pixels = random_pixels(11, (1500, 9000), "uint8")
    np.save(tmp_path / "pixels.npy", pixels)
    boxes = random_boxes(12, 50, *pixels.shape)
    rng = np.random.default_rng(13)
    refused = 0
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "pixels.npy", tmp_path / "table"], stdout=subprocess.PIPE)
        assert process.stdout and process.stdout.readline()
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        try:
            table = areal.open(tmp_path / "table")
        except areal.IoError as error:
            check_sentence(error)
            refused += 1
        else:
            table.verify()
            np.testing.assert_array_equal(table.sum(boxes), expected_sums(pixels, boxes))
    print(f"{refused} of 6 refused")
    areal.zarr.write(pixels, tmp_path / "table", overwrite=True).verify()
    assert not [f for f in os.listdir(tmp_path / "table") if f.endswith(".partial")]


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    store, pixels = written()
    with pytest.raises(areal.IoError, match="it cannot be created"):
        areal.zarr.write(pixels, store, 64)
    assert areal.open(store).sum([0, 0, 200, 300]) == pixels.sum()
    areal.zarr.write(pixels[:100], store, 64, overwrite=True)
    assert areal.open(store).shape == (100, 200)
    other = zarr.create_group(tmp_path / "other", attributes={"version": 3})
    other.create_array("pixels", data=pixels)
    with pytest.raises(areal.IoError, match="it cannot be created"):
        areal.zarr.write(pixels, tmp_path / "other", 64)
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "other", mode="r")["pixels"][:], pixels)


def test_one_flipped_byte_is_found():
    rng = np.random.default_rng(14)
    store, pixels = written()
    original = dict(store._store_dict)
    boxes = random_boxes(15, 200, *pixels.shape)
    for key, value in original.items():
        if key.endswith("zarr.json"):
            continue
        data = bytearray(value.to_bytes())
        at = int(rng.integers(len(data)))
        data[at] ^= 1 << int(rng.integers(8))
        put(store, key, bytes(data))
        table = areal.open(store)
        with pytest.raises(areal.IoError, match="is damaged, as its checksum tells") as found:
            table.verify()
        check_sentence(found.value)
        if key.startswith("local"):
            i, j = divmod(at // (4 * 64 * 64 + 4), 4)
            assert ("index" if at >= len(data) - (16 * 64 * 64 + 4) else f"tile ({i}, {j})") in str(found.value)
            with pytest.raises(areal.IoError, match="is damaged"):
                table.sum(boxes)
        store._store_dict[key] = value
    areal.open(store).verify()


@pytest.mark.parametrize("change", ["missing", "short", "empty"])
def test_lost_and_cut_objects_are_errors(change):
    store, pixels = written()
    original = dict(store._store_dict)
    boxes = random_boxes(16, 300, *pixels.shape)
    for key, value in original.items():
        data = value.to_bytes()
        if change == "missing":
            del store._store_dict[key]
        else:
            put(store, key, data[: len(data) // 3] if change == "short" else b"")
        with pytest.raises(areal.IoError) as raised:
            table = areal.open(store)
            table.sum(boxes)
            table.verify()
        check_sentence(raised.value)
        store._store_dict[key] = value


def changed(path: list[Any], value: Any):
    def change(metadata: dict[str, Any]) -> None:
        inner: Any = metadata
        for key in path[:-1]:
            inner = inner[key]
        if value is KeyError:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value

    return change


HOSTILE = [
    ("zarr.json", changed(["attributes", "complete"], KeyError), "the table is not complete"),
    ("zarr.json", changed(["attributes", "complete"], "true"), "the table is not complete"),
    ("zarr.json", changed(["attributes", "version"], 2), "attribute version is 2: this areal reads version 1"),
    ("zarr.json", changed(["attributes", "version"], True), "attribute version is true: this areal reads version 1"),
    ("zarr.json", changed(["attributes", "version"], KeyError), "it is not a chunked table: the group has no attribute version"),
    ("zarr.json", changed(["attributes", "border"], "zero"), 'attribute border is "zero": chunked tables have "none"'),
    ("zarr.json", changed(["attributes", "dtype"], "float32"), 'attribute dtype is "float32": it may be bool, uint8, uint16'),
    ("zarr.json", changed(["attributes", "dtype"], ["uint8"]), 'attribute dtype is ["uint8"]: it may be bool, uint8, uint16'),
    ("zarr.json", changed(["node_type"], "array"), "it is not a Zarr group of format 3"),
    ("zarr.json", changed(["zarr_format"], 2), "it is not a Zarr group of format 3"),
    ("local/zarr.json", changed(["shape"], [300]), "local has no shape of two numbers"),
    ("local/zarr.json", changed(["shape"], [300, -200]), "local has no shape of two numbers"),
    ("local/zarr.json", changed(["shape"], [300, 200.0]), "local has no shape of two numbers"),
    ("local/zarr.json", changed(["shape"], [300, 2**63]), "a side may have 2^40 pixels"),
    ("local/zarr.json", changed(["shape"], [300, 199]), "top: shape is [5, 200], where the format has [5, 199]"),
    ("local/zarr.json", changed(["shape"], [2**40, 2**40]), "top: shape is [5, 200]"),
    ("local/zarr.json", changed(["codecs"], []), "no sharding codec of square tiles"),
    ("local/zarr.json", changed(["codecs", 0, "configuration", "chunk_shape"], [0, 0]), "tile 0: of uint8 pixels it may be 64, 128"),
    ("local/zarr.json", changed(["codecs", 0, "configuration", "chunk_shape"], [8192, 8192]), "tile 8192: of uint8 pixels it may be 64, 128"),
    ("local/zarr.json", changed(["codecs", 0, "configuration", "chunk_shape"], [64, 128]), "local: codecs is"),
    ("local/zarr.json", changed(["codecs", 0, "configuration", "index_location"], "start"), "local: codecs is"),
    ("local/zarr.json", changed(["codecs", 0, "configuration", "codecs", 0, "configuration", "endian"], "big"), "local: codecs is"),
    ("local/zarr.json", changed(["data_type"], "uint64"), 'local: data_type is "uint64", where the format has "uint32"'),
    ("top/zarr.json", changed(["data_type"], "int64"), 'top: data_type is "int64", where the format has "uint64"'),
    ("top/zarr.json", changed(["chunk_grid", "configuration", "chunk_shape"], [5, 200]), "top: chunk_grid is"),
    ("left/zarr.json", changed(["chunk_key_encoding", "configuration", "separator"], "."), "left: chunk_key_encoding is"),
    ("corner/zarr.json", changed(["codecs"], [{"name": "bytes", "configuration": {"endian": "little"}}]), "corner: codecs is"),
    ("corner/zarr.json", changed(["must_understand"], {"x": 1}), "corner: must_understand is"),
]


@pytest.mark.parametrize("key, change, sentence", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_metadata(key, change, sentence):
    store, _ = written()
    metadata = json.loads(store._store_dict[key].to_bytes())
    change(metadata)
    put(store, key, json.dumps(metadata).encode())
    with pytest.raises(areal.IoError) as raised:
        areal.open(store)
    check_sentence(raised.value)
    assert sentence in str(raised.value)


def test_metadata_of_other_writers():
    store, pixels = written()
    for name in ARRAYS:
        metadata = json.loads(store._store_dict[f"{name}/zarr.json"].to_bytes())
        for codec in (metadata["codecs"][0]["configuration"]["codecs"] if name == "local" else metadata["codecs"])[1:]:
            codec["configuration"] = {}
        metadata.update(storage_transformers=[], dimension_names=["y", "x"], attributes={"unit": "count"})
        put(store, f"{name}/zarr.json", json.dumps(metadata).encode())
    assert areal.open(store).sum([0, 0, 200, 300]) == pixels.sum()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_metadata_is_refused_or_harmless(data):
    store, pixels = written()
    key = data.draw(st.sampled_from(["zarr.json", *(f"{name}/zarr.json" for name in ARRAYS)]))
    text = bytearray(store._store_dict[key].to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        inserted = data.draw(st.sampled_from([b"", b"0", b"9", b"-", b"}", b"]", b'"', b"\xff", b"[[[[", b"1e999", b"null", b"NaN"]))
        text[at : at + data.draw(st.integers(0, 3))] = inserted
    put(store, key, bytes(text))
    boxes = random_boxes(17, 30, *pixels.shape)
    try:
        sums = areal.open(store).sum(boxes)
    except areal.Error as error:
        check_sentence(error)
    else:
        np.testing.assert_array_equal(sums, expected_sums(pixels, boxes))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_hostile_indexes_are_refused(data):
    """Indexes with right checksums and wrong contents."""
    import google_crc32c

    store, pixels = written()
    shard = bytearray(store._store_dict["local/c/0/0"].to_bytes())
    start = len(shard) - (16 * 64 * 64 + 4)
    index = np.frombuffer(shard, "<u8", 64 * 64 * 2, start).reshape(64, 64, 2).copy()
    i, j, k = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    index[i, j, k] = wrong = data.draw(st.sampled_from([0, 1, 2**31, 2**62, 2**63, 2**64 - 1]).filter(lambda n: n != index[i, j, k]))
    shard[start:-4] = index.tobytes()
    shard[-4:] = google_crc32c.value(index.tobytes()).to_bytes(4, "little")
    put(store, "local/c/0/0", bytes(shard))
    with pytest.raises(areal.IoError) as raised:
        table = areal.open(store)
        table.verify()
        x, y = 64 * j, 64 * i  # another tile of the same bytes in place of it
        assert k == 0 and wrong == 0 and table.sum([x, y, 1, 1]) != pixels[y, x]
        raise areal.IoError("a tile may be in two places")
    check_sentence(raised.value)


def test_bad_arguments(tmp_path):
    pixels = np.zeros((10, 10), np.uint8)
    for call, sentence in [
        (lambda: areal.zarr.write(pixels[0], tmp_path / "a"), "source: an image of 1 dimensions; it must have 2"),
        (lambda: areal.zarr.write(pixels.astype(float), tmp_path / "a"), "dtype float64: chunked tables are of bool, uint8, uint16"),
        (lambda: areal.zarr.write(pixels, tmp_path / "a", 100), "tile 100: of uint8 pixels it may be 64, 128, 256, 512, 1024, 2048, 4096"),
        (lambda: areal.zarr.write(pixels.astype(np.uint16), tmp_path / "a"), "tile 1024: of uint16 pixels it may be 64, 128, 256"),
        (lambda: areal.zarr.write(pixels, tmp_path / "a", 64.5), "tile 64.5: it must be a whole number"),
    ]:
        with pytest.raises(areal.InvalidArgument) as raised:
            call()
        assert str(raised.value) == sentence and not (tmp_path / "a").exists()

    class Liar:
        shape, dtype = (10, 10), np.dtype(np.uint8)

        def __getitem__(self, where):
            return pixels[:4].astype(np.uint16)

    with pytest.raises(areal.InvalidArgument, match="source: it gave 4x10 pixels of uint16, where 10x10 of uint8 were asked for"):
        areal.zarr.write(Liar(), tmp_path / "b")
    for store in (tmp_path / "none", tmp_path / "none" / "deeper", MemoryStore(), LocalStore(tmp_path / "empty")):
        with pytest.raises(areal.IoError) as refused:
            areal.open(store)
        check_sentence(refused.value)
    table = areal.zarr.write(pixels, tmp_path / "c", 64)
    with pytest.raises(areal.InvalidArgument, match="reaches outside the image of 10x10"):
        table.sum([5, 5, 6, 1])
    read_only = LocalStore(tmp_path / "c", read_only=True)
    with pytest.raises(areal.IoError):
        areal.zarr.write(pixels, read_only, 64)
    assert areal.open(read_only).sum([0, 0, 10, 10]) == 0


def test_overwriting_that_fails_leaves_the_old_table_or_none():
    pixels = random_pixels(18, (300, 200), "uint8")
    for objects in range(12):
        inner, _ = written(seed=19)
        with pytest.raises(areal.IoError):
            areal.zarr.write(pixels, Failing(inner, [objects]), 64, overwrite=True)
        try:
            table = areal.open(inner)
        except areal.IoError as error:
            check_sentence(error)
            assert objects > 0
        else:
            table.verify()
            assert objects == 0


# The specification, docs/chunked-tables.md


def specification() -> str:
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "chunked-tables.md"
    if not page.exists():
        pytest.skip("the documents are not here")
    return page.read_text()


def test_metadata_is_the_specification_s():
    (block,) = re.findall(r"```json\n(.*?)```", specification(), flags=re.S)
    store = MemoryStore()

    class Tall:
        shape, dtype = (200_000, 100_000), np.dtype(np.uint8)

        def __getitem__(self, where):
            raise KeyboardInterrupt  # the metadata are there before the first pixels are read

    with pytest.raises(KeyboardInterrupt):
        areal.zarr.write(Tall(), store)
    assert json.loads(store._store_dict["local/zarr.json"].to_bytes()) == json.loads(block)
    assert json.loads(store._store_dict["zarr.json"].to_bytes())["attributes"] == {"version": 1, "border": "none", "dtype": "uint8"}


def test_objects_are_written_in_the_specified_order():
    class Ordered(MemoryStore):
        async def set(self, key, value, byte_range=None):
            order.append(key)
            await super().set(key, value)

    order: list[str] = []
    areal.zarr.write(np.ones((4100, 4100), np.uint8), Ordered(), 2048)
    data = [key for key in order if not key.endswith("zarr.json")]
    rows = ["top/c/0/0", "local/c/0/0", "local/c/0/1", "left/c/0/0", "corner/c/0/0", "top/c/1/0", "left/c/0/1", "corner/c/1/0", "top/c/2/0"]
    assert data == [*rows, "local/c/1/0", "local/c/1/1", "left/c/0/2", "corner/c/2/0"]
    assert order.index("top/c/0/0") > order.index("corner/zarr.json") > order.index("zarr.json") and order[-1] == "zarr.json"


def test_bytes_of_objects_are_as_specified():
    """A reader of the specification's bytes, of numpy.frombuffer alone."""
    tile, (height, width) = 64, (300, 5000)
    pixels = random_pixels(20, (height, width), "uint16")
    store = MemoryStore()
    areal.zarr.write(pixels, store, tile)
    table = pixels.astype(np.uint64).cumsum(0).cumsum(1)
    n, columns = 4096 // tile, -(-width // tile)
    rng = np.random.default_rng(21)
    for y, x in rng.integers(0, (height, width), (200, 2)):
        i, j = y // tile, x // tile
        shard = store._store_dict[f"local/c/{y // 4096}/{x // 4096}"].to_bytes()
        index = np.frombuffer(shard, "<u8", 2 * n * n, len(shard) - 16 * n * n - 4).reshape(n, n, 2)
        offset, length = (int(number) for number in index[i % n, j % n])
        assert length == 4 * tile * tile + 4
        entry = int(np.frombuffer(shard, "<u4", tile * tile, offset)[y % tile * tile + x % tile])
        for key, at in ((f"top/c/{i}/0", x), (f"left/c/0/{i}", j * tile + y - i * tile)):
            entry += int(np.frombuffer(store._store_dict[key].to_bytes(), "<u8", 1, 8 * at)[0])
        corners = store._store_dict[f"corner/c/{i}/0"].to_bytes()
        assert len(corners) == 8 * columns + 4
        assert entry - int(np.frombuffer(corners, "<u8", 1, 8 * j)[0]) == table[y, x]
        assert (index[5:] == 2**64 - 1).all()  # 300 rows have 5 rows of tiles
