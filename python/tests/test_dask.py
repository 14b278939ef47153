"""Tables of Dask arrays against NumPy, what is computed for an answer, and what a worker needs for it."""

from __future__ import annotations

import os
import time

import areal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("dask.array", reason="Dask is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")
import areal.dask  # noqa: E402
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
from dask_cluster import Cluster, forget_peak, memory_bound, modular_image, random_boxes, sums_by_corners  # noqa: E402

PIXELS = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
TABLES = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64}
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def random_pixels(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def expected_table(pixels: np.ndarray) -> np.ndarray:
    return pixels.astype(TABLES[pixels.dtype.kind]).cumsum(0).cumsum(1)


def check_table(table: np.ndarray, pixels: np.ndarray) -> None:
    expected = expected_table(pixels)
    assert table.dtype == expected.dtype and table.shape == expected.shape
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(table, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(pixels.astype(np.float64)).sum()))
    else:
        np.testing.assert_array_equal(table, expected)


def expected_sums(pixels: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    wide = pixels.astype(TABLES[pixels.dtype.kind])
    return np.array([wide[y : y + h, x : x + w].sum() for x, y, w, h in boxes], dtype=wide.dtype)


@st.composite
def chunked(draw, dtypes=PIXELS):
    chunks = tuple(tuple(draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))) for _ in range(2))
    seed = draw(st.integers(0, 2**32 - 1))
    pixels = random_pixels(seed, tuple(map(sum, chunks)), draw(st.sampled_from(dtypes)))
    return da.from_array(pixels, chunks=chunks), pixels, seed


def test_the_check_finds_one_wrong_entry():
    x = da.from_array(random_pixels(1, (50, 60), "uint8"), chunks=20)
    table = areal.dask.integral_image(x).compute()
    check_table(table, x.compute())
    table[31, 17] ^= 1
    with pytest.raises(AssertionError):
        check_table(table, x.compute())


@settings(max_examples=60, deadline=None)
@given(chunked())
def test_tables_of_any_chunks(case):
    x, pixels, _ = case
    table = areal.dask.integral_image(x)
    assert table.chunks == x.chunks
    check_table(table.compute(), pixels)


@pytest.mark.parametrize("order", ["C", "F", "reversed", "big-endian"])
def test_chunks_as_they_lie(order):
    pixels = random_pixels(2, (45, 33), "int32")
    lies = {"C": pixels, "F": np.asfortranarray(pixels), "reversed": pixels[::-1, ::-1], "big-endian": pixels.astype(">i4")}[order]
    check_table(areal.dask.integral_image(da.from_array(lies, chunks=(20, 9))).compute(), pixels[::-1, ::-1] if order == "reversed" else pixels)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64"])
def test_integers_wrap_and_stay_exact(dtype):
    pixels = np.full((300, 400), 2**32 - 1, np.uint32)
    table = areal.dask.integral_image(da.from_array(pixels, chunks=(70, 130)), dtype=dtype).compute()
    exact = np.arange(1, 301, dtype=object)[:, None] * np.arange(1, 401, dtype=object)[None] * (2**32 - 1)
    bits = 8 * np.dtype(dtype).itemsize
    wrapped = (exact % 2**bits).astype(f"uint{bits}").view(dtype)
    assert table.dtype == dtype
    np.testing.assert_array_equal(table, wrapped)


def test_floats_are_the_same_bits_on_every_scheduler():
    x = da.from_array(random_pixels(3, (200, 210), "float32"), chunks=(64, 50))
    table = areal.dask.integral_image(x)
    first = table.compute(scheduler="synchronous")
    for scheduler in ("threads", "synchronous"):
        assert table.compute(scheduler=scheduler).tobytes() == first.tobytes()


def test_a_part_of_a_table_needs_what_is_above_and_left_of_it():
    read: list[tuple[int, ...]] = []
    x, pixels = recorded(read, (60, 80), 20)
    part = areal.dask.integral_image(x)[20:40, 40:60].compute()
    np.testing.assert_array_equal(part, expected_table(pixels)[20:40, 40:60])
    assert set(read) == {(i, j) for i in range(2) for j in range(3)}


def recorded(read: list, shape: tuple[int, int], chunk: int) -> tuple[da.Array, np.ndarray]:
    """An array that writes down which of its chunks are computed."""
    pixels = random_pixels(4, shape, "uint8")

    def load(block_id):
        read.append(tuple(int(i) for i in block_id))
        y, x = (chunk * i for i in block_id)
        return pixels[y : y + chunk, x : x + chunk]

    return da.map_blocks(load, chunks=da.core.normalize_chunks(chunk, shape), dtype=np.uint8, meta=np.empty((0, 0), np.uint8)), pixels


def test_every_chunk_is_read_twice_under_keys_of_its_own():
    read: list[tuple[int, ...]] = []
    x, pixels = recorded(read, (60, 80), 20)
    table = areal.dask.integral_image(x)
    check_table(table.compute(), pixels)
    assert sorted(read) == sorted(2 * [(i, j) for i in range(3) for j in range(4)])
    (optimized,) = dask.optimize(table)
    assert len(optimized.dask) == 3 * 12  # the readings are parts of the tasks that sum and that make tables


@pytest.mark.parametrize("kind", ["tasks", "rechunked", "persisted"])
def test_sources_of_several_kinds(kind):
    source = da.random.default_rng(5).integers(0, 256, size=(70, 90), chunks=30, dtype=np.uint8)  # a layer of tasks, which Dask's own clone mixes up
    pixels = source.compute()
    x = {"tasks": lambda: source, "rechunked": lambda: source.rechunk((25, 40)), "persisted": source.persist}[kind]()
    table = areal.dask.integral_image(x)
    check_table(table.compute(), pixels)
    graph = dict(table.dask)
    sums = [node for key, node in graph.items() if key[0].startswith("areal-sums")]
    tables = [node for key, node in graph.items() if key[0].startswith("areal-table")]
    sources = [set().union(*(node.dependencies for node in nodes)) for nodes in (sums, tables)]
    assert sources[0] and not sources[0] & sources[1]


@pytest.mark.parametrize("at", [(0, 0), (25, 41), (59, 79)])
def test_a_source_that_changes_is_an_error(at):
    pixels = random_pixels(6, (60, 80), "uint8")
    reads: dict[tuple[int, ...], int] = {}

    def load(block_id):
        block_id = tuple(int(i) for i in block_id)
        reads[block_id] = reads.get(block_id, 0) + 1
        y, x = (20 * i for i in block_id)
        chunk = pixels[y : y + 20, x : x + 20].copy()
        if reads[block_id] == 2 and block_id == (at[0] // 20, at[1] // 20):
            chunk[at[0] % 20, at[1] % 20] ^= 1
        return chunk

    x = da.map_blocks(load, chunks=da.core.normalize_chunks(20, pixels.shape), dtype=np.uint8, meta=np.empty((0, 0), np.uint8))
    with pytest.raises(areal.Error, match=rf"chunk \({at[0] // 20}, {at[1] // 20}\) changed between its two readings"):
        areal.dask.integral_image(x).compute()


@settings(max_examples=40, deadline=None)
@given(chunked(), st.integers(0, 12))
def test_sums_of_boxes(case, count):
    x, pixels, seed = case
    boxes = random_boxes(seed, count, *pixels.shape)
    sums = areal.dask.sat(x).sum(boxes)
    assert sums.shape == (count,)
    expected = expected_sums(pixels, boxes)
    got = sums.compute()
    assert got.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(pixels.astype(np.float64)).sum()))
    else:
        np.testing.assert_array_equal(got, expected)


def test_sums_compute_the_chunks_that_boxes_overlap_and_no_others():
    read: list[tuple[int, ...]] = []
    x, pixels = recorded(read, (100, 120), 20)
    boxes = np.array([[19, 19, 2, 2], [60, 61, 20, 18], [45, 3, 0, 90], [119, 99, 1, 1]])
    np.testing.assert_array_equal(areal.dask.sat(x).sum(boxes).compute(), expected_sums(pixels, boxes))
    assert sorted(read) == [(0, 0), (0, 1), (1, 0), (1, 1), (3, 3), (4, 5)]


def test_many_boxes_over_many_chunks():
    pixels = random_pixels(7, (400, 300), "uint8")
    x = da.from_array(pixels, chunks=(10, 30))  # 400 chunks: a tree of two levels
    boxes = random_boxes(8, 500, *pixels.shape)
    np.testing.assert_array_equal(areal.dask.sat(x).sum(boxes).compute(), expected_sums(pixels, boxes))


def test_formats_and_single_boxes():
    pixels = random_pixels(9, (50, 70), "uint8")
    t = areal.dask.sat(da.from_array(pixels, chunks=16))
    expected = int(pixels[5:15, 20:50].sum())
    for format, box in (("xywh", [20, 5, 30, 10]), ("xyxy", [20, 5, 50, 15]), ("bbox", [5, 20, 15, 50]), ("skimage", [5, 20, 14, 49])):
        one = t.sum(box, format=format)
        assert one.shape == () and int(one.compute()) == expected
    far = np.iinfo(np.int64).max
    for box in ([-5, -6, far, far], [-far, -far, far, far], [far, 0, far, far]):
        clipped = pixels if box[0] == -5 else pixels[:0]
        assert int(t.sum(box, outside="clip").compute()) == int(clipped.sum())
    np.testing.assert_array_equal(t.array.compute(), expected_table(pixels))
    assert areal.dask.sat(pixels).sum([[0, 0, 70, 50]]).compute()[0] == pixels.sum()  # a NumPy array is one of Dask's


BAD = [
    (lambda x: areal.dask.integral_image(x[0]), "x: an array of 1 dimensions; it must have 2"),
    (lambda x: areal.dask.integral_image(x[x > 3]), "x: an array of 1 dimensions; it must have 2"),
    (lambda x: areal.dask.integral_image(x[x[:, 0] > 3]), "x: its chunks have unknown sizes; compute_chunk_sizes() finds them"),
    (lambda x: areal.dask.integral_image(x.astype(complex)), "dtype complex128: pixels are bool, integers or floats"),
    (lambda x: areal.dask.integral_image(x, dtype=np.uint16), "dtype uint16: tables are of uint32, int32, uint64, int64, float32, float64"),
    (lambda x: areal.dask.sat(x).sum([0, 0, 71, 1]), "region 0 (x 0, y 0, width 71, height 1) reaches outside the image of 70x50"),
    (lambda x: areal.dask.sat(x).sum([[0, 0, 1, 1], [3, 9, 1, -1]]), "region 1 (x 3, y 9, width 1, height -1): an extent may not be negative"),
    (lambda x: areal.dask.sat(x).sum([3, 9, -1, 1], outside="clip"), "region 0 (x 3, y 9, width -1, height 1): an extent may not be negative"),
    (lambda x: areal.dask.sat(x).sum([0.5, 0, 1, 1]), "boxes of float64: they must be whole numbers, as areal rounds none"),
    (lambda x: areal.dask.sat(x).sum([0, 0, 1, 1], format="yx"), "format yx: may be xywh, xyxy, bbox or skimage"),
    (lambda x: areal.dask.sat(x).sum([0, 0, 1, 1], outside="wrap"), "outside wrap: may be error or clip"),
]


@pytest.mark.parametrize("call, sentence", BAD, ids=range(len(BAD)))
def test_bad_input_is_refused_before_anything_is_computed(call, sentence):
    read: list[tuple[int, ...]] = []
    x, _ = recorded(read, (50, 70), 16)
    with pytest.raises(areal.InvalidArgument) as raised:
        call(x)
    assert str(raised.value) == sentence and not read


# What a worker needs.


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("peaks of memory are read from /proc")
    made = Cluster(tmp_path_factory.mktemp("workers"))
    yield made
    made.close()


def test_closed_form_of_the_modular_image():
    x, sums = modular_image(10, 200, 64)
    boxes = random_boxes(11, 300, 200, 200)
    pixels = x.compute()
    np.testing.assert_array_equal(sums(boxes), expected_sums(pixels, boxes))
    np.testing.assert_array_equal(sums_by_corners(areal.dask.integral_image(x), boxes).compute(), sums(boxes))
    pixels[100, 100] += 1
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(sums(boxes), expected_sums(pixels, boxes))


def test_the_peak_of_a_task_is_seen(cluster):
    chunk = 1024
    more = memory_bound(chunk, 1, 8) + (32 << 20)
    cluster.client.submit(lambda: int(np.ones(more, np.uint8)[-1]), pure=False).result()
    assert cluster.peak() - cluster.idle > memory_bound(chunk, 1, 8)


def test_spilling_and_pausing_are_seen(tmp_path):
    def hold(bytes: int) -> None:
        held = np.ones(bytes, np.uint8)
        time.sleep(1)
        del held

    limit = 600 << 20
    cluster = Cluster(tmp_path, limit)
    try:
        assert cluster.disturbances() == []
        cluster.client.submit(hold, int(0.87 * limit) - cluster.idle).result()  # a worker pauses at 0.8 of its limit
        assert any("paused" in words for words in cluster.disturbances())
        assert not any("spilled" in words for words in cluster.disturbances())
        kept = [cluster.client.submit(np.ones, 50 << 20, np.uint8, workers=sorted(cluster.workers)[:1], pure=False) for _ in range(8)]
        distributed.wait(kept)  # it spills at 0.6
        assert any("spilled" in words for words in cluster.disturbances())
    finally:
        cluster.close()


def test_a_worker_needs_two_chunks_of_the_table(cluster):
    cluster.client.run(forget_peak)
    n, chunk = 16384, 2048
    x, sums = modular_image(12, n, chunk)
    boxes = random_boxes(13, 1000, n, n)
    got = sums_by_corners(areal.dask.integral_image(x), boxes).compute(scheduler=cluster.client)
    np.testing.assert_array_equal(got, sums(boxes))
    assert cluster.peak() - cluster.idle <= memory_bound(chunk, 1, 8)
    assert cluster.disturbances() == []


def test_cumsum_twice_needs_more(cluster):
    """Dask's own cumsum twice of a smaller image does not keep it."""
    cluster.client.run(forget_peak)
    n, chunk = 8192, 2048
    x, sums = modular_image(18, n, chunk)
    boxes = random_boxes(19, 1000, n, n)
    got = sums_by_corners(x.cumsum(0, dtype=np.uint64).cumsum(1), boxes).compute(scheduler=cluster.client)
    np.testing.assert_array_equal(got, sums(boxes))
    assert cluster.peak() - cluster.idle > memory_bound(chunk, 1, 8)


def test_a_source_that_changes_is_an_error_on_a_cluster(cluster):
    def noise(block_id):
        return np.random.default_rng().integers(0, 256, (20, 20), dtype=np.uint8)

    x = da.map_blocks(noise, chunks=((20, 20), (20, 20)), dtype=np.uint8, meta=np.empty((0, 0), np.uint8))
    with pytest.raises(areal.Error, match=r"source: the sums of chunk \(\d, \d\) changed between its two readings"):
        areal.dask.integral_image(x).compute(scheduler=cluster.client)


def test_persisted_sources_on_a_cluster(cluster):
    x, sums = modular_image(14, 1000, 300)
    boxes = random_boxes(15, 50, 1000, 1000)
    persisted = cluster.client.persist(x)
    np.testing.assert_array_equal(sums_by_corners(areal.dask.integral_image(persisted), boxes).compute(scheduler=cluster.client), sums(boxes))
    np.testing.assert_array_equal(areal.dask.sat(persisted).sum(boxes).compute(scheduler=cluster.client), sums(boxes))


@pytest.mark.skipif(os.environ.get("AREAL_TEST_DASK_LARGE") != "1", reason="40 GB take minutes: AREAL_TEST_DASK_LARGE=1 asks for them")
def test_forty_gigabytes(tmp_path):
    n, chunk = 200_000, 4096
    cluster = Cluster(tmp_path)
    try:
        x, sums = modular_image(16, n, chunk)
        boxes = random_boxes(17, 10_000, n, n)
        table = areal.dask.integral_image(x)
        assert table.dtype == np.uint64
        begin = time.perf_counter()
        got = sums_by_corners(table, boxes).compute(scheduler=cluster.client)
        seconds, peak = time.perf_counter() - begin, cluster.peak()
        print(f"{seconds:.0f} s, peak {peak / 2**20:.0f} MiB, {(peak - cluster.idle) / 2**20:.0f} above an idle worker")
        np.testing.assert_array_equal(got, sums(boxes))
        assert cluster.disturbances() == []
        assert peak <= 800 << 20 and peak - cluster.idle <= memory_bound(chunk, 1, 8)
    finally:
        cluster.close()


WHOLE = ("uint8", "int8", "uint16", "int16", "int32")
EDGES = ("shrink", "valid", "zero", "constant", "replicate", "reflect", "symmetric", "wrap")


def check_filter(name: str, pixels: np.ndarray, x: da.Array, size, **more) -> None:
    found = areal.dask.filter(name, x, size, **more)
    expected = getattr(areal.filters, name)(pixels, size, **{key: np.asarray(value) if key == "mask" else value for key, value in more.items()})
    computed = found.compute()
    assert found.dtype == computed.dtype == expected.dtype and found.shape == computed.shape == expected.shape
    if pixels.dtype.kind == "f" and name not in ("min", "max", "count", "threshold"):
        rows, columns = (size, size) if isinstance(size, int) else size
        bound = (18 + (rows + columns) / 8 + 2) * 2.0**-53 * np.nansum(np.abs(pixels).astype(float)) * 2
        np.testing.assert_allclose(computed, expected, rtol=0, atol=bound if name in ("sum", "mean") else 1e-6 * np.nanmax(np.abs(pixels)) ** 2)
    else:
        np.testing.assert_array_equal(computed, expected)


def test_the_check_of_filters_finds_one_wrong_pixel():
    pixels = random_pixels(11, (50, 60), "uint8")
    wrong = pixels.copy()
    wrong[31, 17] ^= 1
    check_filter("sum", pixels, da.from_array(pixels, chunks=20), 5)
    with pytest.raises(AssertionError):
        check_filter("sum", pixels, da.from_array(wrong, chunks=20), 5)


@given(chunked(dtypes=(*WHOLE, "float32", "float64")), st.data())
@settings(max_examples=150)
def test_filters_of_any_chunks(case, data):
    x, pixels, seed = case
    rng = np.random.default_rng(seed)
    size = tuple(data.draw(st.integers(1, 12)) for _ in range(2))
    more = {"edge": data.draw(st.sampled_from(EDGES)), "anchor": tuple(int(rng.integers(cells)) for cells in size) if rng.random() < 0.5 else None}
    if more["edge"] == "constant":
        more["value"] = 7
    if more["edge"] in ("reflect", "symmetric", "wrap") and any(extent <= 2 * cells for extent, cells in zip(pixels.shape, size)):
        more["edge"] = "replicate"
    if rng.random() < 0.3:
        more["mask"] = da.from_array(rng.random(pixels.shape) < 0.7, chunks=7)
    name = data.draw(st.sampled_from(("mean", "sum", "count", "var", "min", "max")))
    check_filter(name, pixels, x, size, **more)


def test_filters_with_arguments_of_their_own():
    pixels = random_pixels(12, (70, 90), "uint8")
    x = da.from_array(pixels, chunks=(16, 25))
    for more in ({}, {"method": "niblack", "k": -0.3}, {"method": "mean", "offset": 3, "inverted": True}, {"method": "nick", "dtype": "float64"}):
        check_filter("threshold", pixels, x, 9, **more)
    check_filter("std", pixels, x, (3, 21), ddof=1)
    check_filter("mean", pixels, x, 5, dtype="float64")
    check_filter("mean", pixels, x, 5, mask=da.from_array(pixels > 100, chunks=10), min_count=9, fill=3)
    floats = pixels.astype(np.float32)
    floats[30, 40] = np.nan
    for nan in ("propagate", "omit"):
        found = areal.dask.filter("mean", da.from_array(floats, chunks=16), 5, nan=nan).compute()
        assert np.isnan(found).sum() == (25 if nan == "propagate" else 0)


def test_filters_of_windows_larger_than_chunks_and_images():
    pixels = random_pixels(13, (30, 40), "uint16")
    for chunks in ((5, 7), (30, 3), (1, 40), (30, 40)):
        x = da.from_array(pixels, chunks=chunks)
        for size in (31, 70, (1, 90), (90, 1)):
            for edge in ("shrink", "zero", "replicate", "valid"):
                check_filter("mean", pixels, x, size, edge=edge)
    check_filter("mean", pixels, da.from_array(pixels, chunks=(5, 7)), 31, edge="wrap")


def test_a_part_of_a_filter_needs_a_rim():
    read: list[tuple[int, ...]] = []
    x, pixels = recorded(read, (60, 80), 20)
    part = areal.dask.filter("mean", x, 5)[22:38, 42:58].compute()
    np.testing.assert_array_equal(part, areal.filters.mean(pixels, 5)[22:38, 42:58])
    assert set(read) == {(i, j) for i in range(3) for j in range(1, 4)}


def test_medians_of_blocks():
    x = np.random.default_rng(3).integers(0, 256, (50, 61), np.uint8)
    blocks = da.from_array(x, chunks=(13, 20))
    for edge in ("shrink", "reflect", "zero", "wrap"):
        assert np.array_equal(areal.dask.filter("median", blocks, (5, 7), edge=edge).compute(), areal.filters.median(x, (5, 7), edge=edge))
    assert np.array_equal(areal.dask.filter("percentile", blocks, 9, q=25).compute(), areal.filters.percentile(x, 9, q=25))
    for name in ("equalize", "otsu", "entropy", "modal"):
        assert np.array_equal(areal.dask.filter(name, blocks, (5, 7)).compute(), getattr(areal.filters, name)(x, (5, 7)))
    assert np.array_equal(areal.dask.filter("bilateral", blocks, (5, 7), sigma_range=25).compute(), areal.filters.bilateral(x, (5, 7), 25))
    with pytest.raises(areal.InvalidArgument, match="equalize of uint16"):
        areal.dask.filter("equalize", blocks.astype(np.uint16), 3)


def test_guided_filters_and_gaussians_of_blocks():
    pixels = random_pixels(14, (67, 80), "uint8")
    floats, guide = pixels / np.float32(255), random_pixels(15, (67, 80), "uint8") / np.float32(255)
    x, blocks = da.from_array(floats, chunks=(16, 25)), da.from_array(guide, chunks=30)
    for edge in EDGES:
        close = {"rtol": 0, "atol": 1e-6}  # 32f
        for sigma, more in ((2.5, {}), ((1, 3), {"passes": 3}), (0, {}), ((0.5, 12), {})):
            expected = areal.filters.gaussian(floats, sigma, edge=edge, **more)
            found = areal.dask.filter("gaussian", x, sigma, edge=edge, **more).compute()
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, **close)
        if edge == "valid":
            continue
        for radius in (3, (1, 6), 20):
            np.testing.assert_allclose(areal.dask.filter("guided", x, radius, eps=1e-2, edge=edge).compute(), areal.filters.guided(floats, radius, 1e-2, edge=edge), **close)
        np.testing.assert_allclose(areal.dask.filter("guided", x, 4, eps=1e-2, guide=blocks, edge=edge).compute(),
                                   areal.filters.guided(floats, 4, 1e-2, guide, edge=edge), **close)
    whole = areal.filters.guided(pixels, 4, 40.0)
    assert np.abs(areal.dask.filter("guided", da.from_array(pixels, chunks=(16, 25)), 4, eps=40.0).compute().astype(int) - whole).max() <= 1
    assert np.abs(areal.dask.filter("guided", x[2:], 4, eps=1e-2).compute() - areal.filters.guided(floats, 4, 1e-2)[2:]).max() > 1e-4  # the check can fail


def test_what_filters_of_blocks_refuse():
    x = da.ones((20, 30), chunks=10, dtype=np.uint8)
    for name, size, more, words in (("blur", 3, {}, "name 'blur'"), ("mean", "3", {}, "size '3'"), ("mean", 0, {}, "size"), ("mean", 3, {"edge": "mirror"}, "edge 'mirror'"),
                                    ("mean", 3, {"out": np.zeros(3)}, "out: "), ("mean", 3, {"axes": "HW"}, "axes: "), ("threshold", 3, {"method": "wolf"}, "method wolf"),
                                    ("mean", 3, {"edge": "constant", "value": 0.5}, "value 0.5"), ("mean", 3, {"mask": np.ones((3, 4), bool)}, "mask: of shape"),
                                    ("mean", 61, {"edge": "wrap"}, "edge wrap"), ("mean", 3, {"anchor": 3}, "anchor"), ("guided", 3, {"edge": "valid"}, "edge 'valid'"),
                                    ("guided", 3, {"mask": x > 0}, "mask: guided"), ("gaussian", 3, {"anchor": 1}, "anchor: gaussian"), ("mean", 3, {"guide": x}, "guide: only"),
                                    ("guided", 3, {"guide": x[1:]}, "guide: of shape"), ("guided", 3, {"eps": 0}, "eps 0"), ("gaussian", -1, {}, "sigma -1"),
                                    ("gaussian", "a", {}, "sigma 'a'")):
        with pytest.raises(areal.InvalidArgument, match=words):
            areal.dask.filter(name, x, size, **more)
    with pytest.raises(areal.InvalidArgument, match="3 dimensions"):
        areal.dask.filter("mean", da.ones((2, 3, 4)), 3)
    with pytest.raises(areal.InvalidArgument, match="r: thresholds of sauvola"):
        areal.dask.filter("threshold", x.astype(float), 3)
    with pytest.raises(areal.InvalidArgument, match="unknown sizes"):
        areal.dask.filter("mean", x[x[:, 0] > 0], 3)
