"""Chunked tables in Zarr stores: what is refused, what is damaged, and writing that fails or is killed."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import areal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

zarr = pytest.importorskip("zarr", minversion="3", reason="Zarr 3 is not installed")
import areal.zarr  # noqa: E402
from zarr.storage import LocalStore, MemoryStore  # noqa: E402
from zarr_tables import ARRAYS, Failing, Interrupted, check_sentence, check_table, expected_sums, files_of, objects_of, put, random_boxes, random_pixels, written  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
COMMAND = pathlib.Path(areal._core.__file__).resolve().parents[2] / "apps" / "areal" / "areal"  # in a build tree


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


@pytest.mark.parametrize("levels, begin, end", [(33, '{"a":', "}"), (33, '{"a":' + "[" * 32, "]" * 32 + "}"), (100_000, '{"a":', "}"),
                                                (100_000, '{"a":' + "[" * 99_999, "]" * 99_999 + "}"), (0, " " * 2**20 + "{", "}")])
def test_metadata_that_are_too_deep_or_too_long(levels, begin, end):
    store, _ = written()
    times = levels if begin == '{"a":' else 1
    put(store, "local/zarr.json", (begin * times + ("1" if levels else "") + end * times).encode())
    with pytest.raises(areal.IoError) as raised:
        areal.open(store)
    check_sentence(raised.value)
    assert ("it nests more than 32 levels" if levels else "more than any need") in str(raised.value)


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


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("old_dtype", ["uint8", "uint16"])
def test_a_replacement_that_is_interrupted_anywhere_keeps_nothing_of_the_old_table(tmp_path, backward, old_dtype):
    """Of an image of the same shape and type whose rows would go on from the old ones with all checksums right, and of another type."""
    old, new = random_pixels(40, (4096 + 70, 90), old_dtype), random_pixels(41, (4096 + 70, 90), "uint8")
    whole, before = MemoryStore(), MemoryStore()
    areal.zarr.write(new, whole, 256)
    areal.zarr.write(old, before, 256)
    files = tmp_path / "files.zarr"
    steps, marked = 0, 0
    while True:
        inner = MemoryStore({key: value for key, value in before._store_dict.items()})
        try:
            areal.zarr.write(new, Interrupted(inner, [steps], backward), 256, overwrite=True)
        except areal.IoError as error:
            check_sentence(error)
        else:
            break
        state = objects_of(inner)
        if steps == 0:
            assert state == objects_of(before)
        else:
            with pytest.raises(areal.IoError, match="is not complete"):
                areal.open(inner)
            is_marked = b'"replacing": true' in state["zarr.json"]
            marked += is_marked
            assert is_marked or all(state[key] == objects_of(whole)[key] for key in state if key != "zarr.json")
            if COMMAND.exists() and steps % 7 == 1:
                shutil.rmtree(files, ignore_errors=True)
                for key, data in state.items():
                    (files / key).parent.mkdir(parents=True, exist_ok=True)
                    (files / key).write_bytes(data)
                np.save(tmp_path / "new.npy", new)
                subprocess.run([COMMAND, "sat", tmp_path / "new.npy", "-o", files, "--tile", "256", "--resume"], check=True)
                assert files_of(files) == objects_of(whole)
            areal.zarr.write(new, inner, 256, resume=True).verify()
            assert objects_of(inner) == objects_of(whole)
        steps += 1
    assert objects_of(inner) == objects_of(whole)
    assert marked >= len(before._store_dict) - 1 and steps > 2 * len(whole._store_dict)


def test_replacing_removes_what_is_no_table(tmp_path):
    other = zarr.create_group(tmp_path / "t", attributes={"version": 3})
    other.create_array("pixels", data=np.ones((5, 5)))
    (tmp_path / "t" / "note.txt").write_text("mine")
    pixels = random_pixels(42, (30, 20), "uint8")
    areal.zarr.write(pixels, tmp_path / "t", 64, overwrite=True)
    areal.zarr.write(pixels, tmp_path / "fresh", 64)
    assert files_of(tmp_path / "t") == files_of(tmp_path / "fresh") and not (tmp_path / "t" / "pixels").exists()
    zarr.create_array(tmp_path / "array", shape=(4, 4), dtype="u1")
    areal.zarr.write(pixels, tmp_path / "array", 64, overwrite=True)
    assert files_of(tmp_path / "array") == files_of(tmp_path / "fresh")
