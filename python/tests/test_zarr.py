"""Chunked tables in Zarr stores against NumPy: what is written, how it is gone on with, and what an answer reads."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import subprocess
import tracemalloc
import warnings
from typing import Any

import areal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

zarr = pytest.importorskip("zarr", minversion="3", reason="Zarr 3 is not installed")
import areal.zarr  # noqa: E402
from zarr.core.buffer import default_buffer_prototype  # noqa: E402
from zarr.storage import MemoryStore  # noqa: E402
from zarr_tables import ARRAYS, Counting, Failing, check_sentence, check_table, expected_sums, files_of, objects_of, random_boxes, random_pixels  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


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


FAULTS = {"zeros": lambda b: bytes(len(b)), "one byte": lambda b: b[:1], "cut": lambda b: b[:-1], "longer": lambda b: b + b"x",
          "a bit": lambda b: b[: len(b) // 2] + bytes([b[len(b) // 2] ^ 4]) + b[len(b) // 2 + 1 :], "gone": None}


@pytest.mark.parametrize("fault", FAULTS)
def test_resuming_writes_damaged_objects_again(fault):
    pixels = random_pixels(32, (2 * 4096 + 100, 40), "uint8")
    whole = MemoryStore()
    areal.zarr.write(pixels, whole, 1024)
    begun = json.loads(objects_of(whole)["zarr.json"])
    del begun["attributes"]["complete"]
    for name in ("local/c/0/0", "local/c/1/0", "top/c/0/0", "top/c/3/0", "top/c/8/0", "left/c/0/0", "left/c/0/7", "corner/c/0/0", "corner/c/7/0"):
        if fault == "gone" and name.startswith("top"):
            continue  # an interrupted table that is shorter
        objects = {**objects_of(whole), "zarr.json": json.dumps(begun).encode()}
        damaged = None if FAULTS[fault] is None else FAULTS[fault](objects[name])
        objects = {key: damaged if key == name else data for key, data in objects.items() if key != name or damaged is not None}
        store = MemoryStore({key: default_buffer_prototype().buffer.from_bytes(data) for key, data in objects.items()})
        source = Rows(pixels)
        with pytest.warns(UserWarning, match=f"{name}.* written again"):
            areal.zarr.write(source, store, 1024, resume=True).verify()
        assert objects_of(store) == objects_of(whole), name
        first = 2 * 4096 if name == "top/c/0/0" else 4096 if name in ("local/c/1/0", "top/c/8/0", "left/c/0/7", "corner/c/7/0") else 0
        assert min(source.rows) == first, name


class Marking(MemoryStore):
    """Keeps what the group said of the table when each other object was written."""

    def __init__(self, objects):
        super().__init__(objects)
        self.written = {}

    async def set(self, key, value, byte_range=None):
        await super().set(key, value, byte_range)
        if not key.endswith("zarr.json"):
            self.written[key] = json.loads(objects_of(self)["zarr.json"])["attributes"]


@pytest.mark.parametrize("fault", FAULTS)
def test_repairing_finds_every_fault_of_a_complete_table(fault):
    pixels = random_pixels(33, (2 * 4096 + 1100, 40), "uint8")
    whole = MemoryStore()
    areal.zarr.write(pixels, whole, 1024)
    for name, first in {"local/c/0/0": 0, "local/c/2/0": 8192, "top/c/0/0": None, "top/c/3/0": 0, "top/c/8/0": 4096, "top/c/9/0": 8192, "left/c/0/9": 8192,
                        "corner/c/8/0": 8192, "corner/c/9/0": 8192}.items():  # fmt: skip
        objects = objects_of(whole)
        damaged = None if FAULTS[fault] is None else FAULTS[fault](objects[name])
        objects = {key: damaged if key == name else data for key, data in objects.items() if key != name or damaged is not None}
        store = Marking({key: default_buffer_prototype().buffer.from_bytes(data) for key, data in objects.items()})
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # resume does not look
            areal.zarr.write(pixels, store, 1024, resume=True)
        source = Rows(pixels)
        with pytest.warns(UserWarning, match=f"{name}.* written again"):
            areal.zarr.write(source, store, 1024, repair=True).verify()
        assert objects_of(store) == objects_of(whole), name
        assert min(source.rows, default=None) == first, name
        assert store.written and not any("complete" in said for said in store.written.values())


def test_repairing_reads_a_sound_table_and_writes_nothing():
    pixels = random_pixels(34, (4096 + 100, 40), "uint16")
    store = MemoryStore()
    areal.zarr.write(pixels, store, 256, repair=True)  # there is none yet
    kept = Marking({key: default_buffer_prototype().buffer.from_bytes(data) for key, data in objects_of(store).items()})
    source = Rows(pixels)
    assert areal.zarr.write(source, kept, 256, repair=True).shape == pixels.shape
    assert not source.rows and not kept.written
    with pytest.raises(areal.InvalidArgument, match="repair and overwrite: only one of the two"):
        areal.zarr.write(pixels, store, 256, repair=True, overwrite=True)


def test_repairing_a_table_without_pixels():
    for shape in ((0, 5), (5, 0)):
        store = MemoryStore()
        areal.zarr.write(np.zeros(shape, np.uint8), store, 64)
        before = objects_of(store)
        assert areal.zarr.write(np.zeros(shape, np.uint8), store, 64, repair=True).shape == shape
        assert objects_of(store) == before


@pytest.mark.parametrize("sync", [True, False])
def test_complete_appears_after_everything_is_on_the_disk(tmp_path, monkeypatch, sync):
    table, flushed = tmp_path / "t.zarr", []

    def fsync(descriptor):
        said = json.loads((table / "zarr.json").read_text())["attributes"] if (table / "zarr.json").exists() else {}
        objects = (table / "local/c").exists()
        flushed.append((os.readlink(f"/proc/self/fd/{descriptor}"), "complete" in said, "replacing" in said, objects))

    monkeypatch.setattr(os, "fsync", fsync)
    pixels = random_pixels(35, (300, 200), "uint8")
    areal.zarr.write(pixels, str(table), 64, sync=sync)
    if not sync:
        assert not flushed
        return
    everything = {str(path) for path in [table, tmp_path, *table.rglob("*")]}
    before = {path for path, complete, _, _ in flushed if not complete}
    assert before == everything
    assert flushed[-2:] == [(str(table / "zarr.json"), True, False, True), (str(table), True, False, True)]
    flushed.clear()
    areal.zarr.write(pixels, str(table), 64, overwrite=True)
    # That it is being replaced is on the disk before an object goes; that they are gone, before the group is another's.
    assert flushed[:2] == [(str(table / "zarr.json"), False, True, True), (str(table), False, True, True)]
    assert flushed[2] == (str(table), False, True, False)


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


@pytest.mark.parametrize("as_store", [str, pathlib.Path, zarr.storage.LocalStore])
def test_one_writer_at_a_time(tmp_path, as_store):
    pixels, folder = random_pixels(33, (300, 200), "uint8"), tmp_path / "t.zarr"
    folder.mkdir()
    before = sorted(folder.rglob("*"))
    holder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for more in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(areal.IoError, match="t.zarr: another process is writing this table"):
            areal.zarr.write(pixels, as_store(folder), 64, **more)
    assert sorted(folder.rglob("*")) == before
    os.close(holder)
    areal.zarr.write(pixels, as_store(folder), 64)

    class Seen(Rows):  # the lock is held while pixels are read, and not afterwards
        def __getitem__(self, where):
            other = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(other)
            return super().__getitem__(where)

    areal.zarr.write(Seen(pixels), as_store(folder), 64, overwrite=True).verify()
    last = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(last, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(last)


# The command, which is C++

COMMAND = pathlib.Path(areal._core.__file__).resolve().parents[2] / "apps" / "areal" / "areal"  # in a build tree


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
