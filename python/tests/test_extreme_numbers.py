"""Numbers near the ends of 64 bits, wherever Python hands coordinates, regions, sizes and counts to compiled code: exact answers or exceptions.

The oracle is Python's integers, and scikit-image and OpenCV where areal stands in for them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import areal
import areal.cv2
from areal import skimage as ours

pytestmark = pytest.mark.sanitize
fuzzed = settings(max_examples=60 if os.environ.get("AREAL_TEST_SHORT") else 300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

MOST, LEAST = 2**63 - 1, -(2**63)
CORNERS = [0, 1, 2**31, -(2**31), 2**32, 2**62, -(2**62), MOST, LEAST, MOST - 10, LEAST + 10]


def near(*points: int) -> st.SearchStrategy[int]:
    """int64 within a few steps of some points, most of all of small ones."""
    small = st.integers(-14, 14)
    large = st.builds(lambda point, step: max(LEAST, min(MOST, point + step)), st.sampled_from([*points, *CORNERS]), small)
    return st.one_of(small, small, large, st.integers(LEAST, MOST))


def plain(name: str) -> Any:
    """A package that is not run under AddressSanitizer."""
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip(f"{name} is not looked at by AddressSanitizer")
    return pytest.importorskip(name, reason=f"{name} is not installed")


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    try:
        answer = call()
    except Exception as e:
        return type(e).__name__, str(e)
    return "answer", np.asarray(answer).tolist()


# ---------------------------------------------------------------- scikit-image

SHAPES = [(10, 10), (1, 1), (7,), (3, 4, 5), (2, 3, 2, 3), (0, 4), (4, 0), (1, 9)]


@st.composite
def boxes_for_integrate(draw: st.DrawFn) -> tuple[np.ndarray, Any, Any]:
    shape = draw(st.sampled_from(SHAPES))
    dtype = draw(st.sampled_from(["uint8", "int32", "int64", "float64"]))
    table = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    if draw(st.booleans()):
        table = table[tuple(slice(None, None, draw(st.sampled_from([1, 2, -1]))) for _ in shape)]
    coordinates = st.tuples(*(near(n, -n) for n in table.shape))
    n = draw(st.integers(1, 4))
    start, end = (draw(st.lists(coordinates, min_size=n, max_size=n)) for _ in range(2))
    if draw(st.booleans()):
        return table, start, end
    return table, np.array(start, np.int64), np.array(end, np.int64)


@fuzzed
@given(boxes_for_integrate())
@example((np.zeros((10, 10), np.uint8), [0, MOST], [5, -12]))  # their difference wraps
@example((np.zeros((10, 10), np.int64), [0, MOST], [5, -12]))
@example((np.zeros((10, 10), np.int64), [[0, MOST], [MOST, 0]], [[5, -12], [-12, 5]]))
@example((np.zeros((10, 10), np.int64), [[MOST, MOST], [1, MOST]], [[-12, -12], [1, -12]]))
@example((np.zeros((10, 10), np.int64), [0, MOST], [5, -11]))
def test_integrate_is_scikit_images(case: tuple[np.ndarray, Any, Any]) -> None:
    transform = pytest.importorskip("skimage.transform", reason="scikit-image is not installed")
    with np.errstate(all="ignore"):
        a, b = (outcome(lambda call=call: call(*case)) for call in (ours.integrate, transform.integrate))
    assert a == b


def test_integrate_of_a_table_larger_than_memory() -> None:
    """Starts that are inside only because the table is that large."""
    transform = pytest.importorskip("skimage.transform", reason="scikit-image is not installed")
    table = np.broadcast_to(np.array([[5], [9]], np.uint8), (2, MOST // 4))
    for start, end in [((0, 0), (1, MOST // 4 - 1)), ((1, MOST // 4 - 1), (1, -1)), ((1, MOST // 4), (1, -1)), ((0, MOST), (1, -MOST))]:
        a, b = (outcome(lambda call=call: call(table, start, end)) for call in (ours.integrate, transform.integrate))
        assert a == b


# ---------------------------------------------------------------- boxes

HEIGHT, WIDTH = 10, 12
PIXELS = np.arange(HEIGHT * WIDTH, dtype=np.uint8).reshape(HEIGHT, WIDTH)
FORMATS = ["xywh", "xyxy", "bbox", "skimage"]


def edges_of(box: tuple[int, ...], format: str) -> tuple[tuple[int, int], ...]:
    """Begin and end along y and x, or z, y and x, in Python's integers."""
    n = len(box) // 2
    begin, end = list(box[:n]), list(box[n:])
    if format == "xywh":
        end = [a + b for a, b in zip(begin, end)]
    if format == "skimage":
        end = [b + 1 for b in end]
    pairs = list(zip(begin, end))
    return tuple(pairs if format in ("bbox", "skimage") else pairs[::-1])


def part_of(pixels: np.ndarray, box: tuple[int, ...], format: str, clip: bool) -> np.ndarray | None:
    """What lies inside a box; None for a box that is refused."""
    edges = edges_of(box, format)
    if any(b < a for a, b in edges) or (not clip and any(a < 0 or b > n for (a, b), n in zip(edges, pixels.shape))):
        return None
    return pixels[tuple(slice(min(max(a, 0), n), min(max(b, 0), n)) for (a, b), n in zip(edges, pixels.shape))]


box_of_image = st.tuples(near(WIDTH), near(HEIGHT), near(WIDTH), near(HEIGHT))


def check_boxes(sums: Callable[..., Any], pixels: np.ndarray, boxes: list[tuple[int, ...]], format: str, outside: str) -> None:
    """Each box's sum is that of the pixels inside it, or areal refuses, whatever comes before it and after it."""
    for some in (*([box] for box in boxes), boxes):
        parts = [part_of(pixels, box, format, outside == "clip") for box in some]
        extents = [b - a for box in some for a, b in edges_of(box, format)]
        try:
            answers = np.asarray(sums(np.array(some, np.int64), format=format, outside=outside))
        except areal.InvalidArgument as e:
            assert any(part is None for part in parts) or ("64 bits" in str(e) and max(extents) > MOST), e
        else:
            assert all(part is not None for part in parts), some
            assert answers.tolist() == [part.sum(dtype=np.int64) for part in parts if part is not None]


def doors() -> dict[str, Callable[..., Any]]:
    """Whatever answers sums of boxes of PIXELS."""
    table, turned = areal.sat(PIXELS, squares=True), areal.sat(np.asfortranarray(PIXELS))
    tensor = areal.integral_histogram(PIXELS, 256, range=(0, 256))
    values = np.arange(256)

    def counted(boxes: np.ndarray, **options: Any) -> Any:
        return areal.histograms(PIXELS, 256, boxes, range=(0, 256), **options).astype(np.int64) @ values

    made = {"sat": table.sum, "none": areal.sat(PIXELS, border="none").sum, "transposed": turned.sum, "streamed": counted,
            "counts": lambda boxes, **options: tensor.counts(boxes, **options).astype(np.int64) @ values}
    return made


DOORS = doors()


@fuzzed
@given(st.sampled_from(sorted(DOORS)), st.lists(box_of_image, min_size=1, max_size=3), st.sampled_from(FORMATS), st.sampled_from(["error", "clip"]))
@example("sat", [(1, 0, MOST, 1)], "xywh", "clip")
@example("sat", [(LEAST, LEAST, MOST, MOST)], "xywh", "clip")
@example("sat", [(LEAST, 0, MOST, 1)], "xyxy", "clip")
@example("counts", [(0, 0, MOST, MOST)], "skimage", "clip")
def test_boxes(door: str, boxes: list[tuple[int, ...]], format: str, outside: str) -> None:
    check_boxes(DOORS[door], PIXELS, boxes, format, outside)


@fuzzed
@given(st.lists(st.tuples(near(5), near(4), near(3), near(5), near(4), near(3)), min_size=1, max_size=2), st.sampled_from(FORMATS),
       st.sampled_from(["error", "clip"]))
def test_boxes_of_a_volume(boxes: list[tuple[int, ...]], format: str, outside: str) -> None:
    volume = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    check_boxes(areal.sat(volume, axes="DHW").sum, volume, boxes, format, outside)


@fuzzed
@given(st.lists(box_of_image, min_size=1, max_size=2), st.sampled_from(FORMATS), st.sampled_from(["error", "clip"]))
def test_boxes_of_tensors(boxes: list[tuple[int, ...]], format: str, outside: str) -> None:
    torch = plain("torch")
    table = areal.sat(torch.from_numpy(PIXELS))
    check_boxes(lambda rows, **options: table.sum(torch.from_numpy(rows), **options).numpy(), PIXELS, boxes, format, outside)


@fuzzed
@given(st.lists(box_of_image, min_size=1, max_size=2), st.sampled_from(FORMATS), st.sampled_from(["error", "clip"]))
@example([(LEAST, 0, LEAST, 0)], "xyxy", "clip")
def test_boxes_of_chunked_tables(boxes: list[tuple[int, ...]], format: str, outside: str) -> None:
    plain("zarr")
    import areal.zarr
    import zarr.storage

    global CHUNKED
    if CHUNKED is None:
        CHUNKED = areal.zarr.write(PIXELS, zarr.storage.MemoryStore(), 64)
    check_boxes(CHUNKED.sum, PIXELS, boxes, format, outside)


CHUNKED: Any = None


@fuzzed
@given(st.lists(box_of_image, min_size=1, max_size=2))
def test_gradients_of_boxes(boxes: list[tuple[int, ...]]) -> None:
    """What is scattered to the corners of boxes, some of which are refused."""
    torch = plain("torch")
    x = torch.zeros(HEIGHT, WIDTH, dtype=torch.float64, requires_grad=True)
    try:
        areal.sat(x).sum(torch.tensor(boxes), outside="clip").sum().backward()
    except areal.InvalidArgument:
        return
    wanted = np.zeros((HEIGHT, WIDTH))
    for box in boxes:
        part = part_of(wanted, box, "xywh", True)
        assert part is not None
        part += 1
    assert np.array_equal(x.grad.numpy(), wanted)


@fuzzed
@given(box_of_image)
def test_statistics_and_tilted_rectangles(box: tuple[int, ...]) -> None:
    table = areal.sat(PIXELS, squares=True, tilted=True)
    part = part_of(PIXELS, box, "xywh", False)
    for name in ("mean", "var", "std"):
        got = outcome(lambda name=name: getattr(table, name)(box))
        assert (got[0] == "InvalidArgument") == (part is None)
        if part is not None and part.size:
            assert got[1] == pytest.approx(getattr(part.astype(float), name)())
    x, y, width, height = box
    is_inside = min(width, height, y) >= 0 and x - height >= 0 and x + width <= WIDTH and y + width + height <= HEIGHT
    assert (outcome(lambda: table.tilted_sum(box))[0] == "answer") == is_inside


# ---------------------------------------------------------------- windows and filters

STATS = ["sum", "mean"]


def window_reference(size: tuple[int, int], anchor: tuple[int, int], edge: str, stat: str) -> list[list[float]]:
    """Windows that see zeros, or nothing, beyond the image, by their ends in Python's integers."""
    rows = []
    for y in range(HEIGHT):
        row = []
        for x in range(WIDTH):
            part = part_of(PIXELS, (x - anchor[1], y - anchor[0], size[1], size[0]), "xywh", True)
            assert part is not None
            total = int(part.sum(dtype=np.int64))
            row.append(total if stat == "sum" else total / (part.size if edge == "shrink" else size[0] * size[1]))
        rows.append(row)
    return rows


@fuzzed
@given(near(HEIGHT), near(WIDTH), st.data())
def test_windows(height: int, width: int, data: st.DataObject) -> None:
    edge, stat = data.draw(st.sampled_from(["shrink", "zero"])), data.draw(st.sampled_from(STATS))
    anchor = data.draw(st.one_of(st.none(), st.tuples(near(height), near(width))))
    table = areal.sat(PIXELS)
    at = (height // 2, width // 2) if anchor is None else tuple(n // 2 if a == -1 else a for a, n in zip(anchor, (height, width)))
    try:
        got = table.window((height, width), anchor=anchor, edge=edge, stat=stat)
    except areal.InvalidArgument:
        possible = all(0 < n <= 2**62 and 0 <= a < n for n, a in zip((height, width), at))
        assert not possible or (height * width > MOST and edge != "shrink")
        return
    assert np.allclose(got, window_reference((height, width), at, edge, stat), rtol=1e-12)


@fuzzed
@given(st.tuples(near(), near()), st.sampled_from(["valid", "replicate", "reflect", "symmetric", "wrap", "constant"]), st.sampled_from(["float64", "uint8"]))
def test_windows_of_other_edges_answer_or_refuse(size: tuple[int, int], edge: str, dtype: str) -> None:
    try:
        got = areal.sat(PIXELS).window(size, edge=edge, dtype=dtype, value=3)
    except areal.InvalidArgument:
        return
    if edge == "valid":
        assert got.shape == tuple(max(0, n - s + 1) for n, s in zip(PIXELS.shape, size))
    else:
        assert got.shape == PIXELS.shape and got.min() >= 0 and got.max() <= PIXELS.max()


C_INT = st.one_of(near(2**31), st.integers(-(2**70), 2**70))


@fuzzed
@given(st.tuples(C_INT, C_INT), st.one_of(st.none(), st.tuples(C_INT, C_INT)), st.sampled_from([0, 1, 2, 4]), st.booleans())
@example((2**63, 1), None, 0, True)
@example((1, MOST), None, 4, True)
@example((3, 3), (LEAST, LEAST), 4, True)
def test_filters_of_opencv(ksize: tuple[int, int], anchor: tuple[int, int] | None, border: int, squares: bool) -> None:
    """What is no int of C is refused, as by OpenCV; zeros beyond the image make the rest easy to check."""
    filter = areal.cv2.sqrBoxFilter if squares else areal.cv2.boxFilter
    numbers = ksize if anchor is None else ksize + anchor
    try:
        got = filter(PIXELS, 6, ksize, anchor=anchor, normalize=False, borderType=border)
    except areal.cv2.error:
        return
    assert all(-(2**31) <= n < 2**31 for n in numbers) and min(ksize) > 0
    assert got.shape == PIXELS.shape
    if border == 0:
        at = tuple(n // 2 if a < 0 else a for a, n in zip(anchor or (-1, -1), ksize))
        pixels = PIXELS.astype(np.int64) ** (2 if squares else 1)
        assert got[0, 0] == pixels[: max(0, ksize[1] - at[1]), : max(0, ksize[0] - at[0])].sum()


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, MOST, LEAST, 2**63, -(2**70), 2**70])
def test_depths_and_borders_that_are_no_int(number: int) -> None:
    cv2 = areal.cv2
    calls = [lambda: cv2.boxFilter(PIXELS, number, (3, 3)), lambda: cv2.boxFilter(PIXELS, -1, (3, 3), borderType=number),
             lambda: cv2.sqrBoxFilter(PIXELS, number, (3, 3)), lambda: cv2.integral(PIXELS, sdepth=number),
             lambda: cv2.integral2(PIXELS, sqdepth=number), lambda: cv2.integral3(PIXELS, sdepth=number)]
    for call in calls:
        with pytest.raises(cv2.error, match="must fit 32 bits"):
            call()


# ---------------------------------------------------------------- shapes, bins, sizes

@fuzzed
@given(st.sampled_from(["HW", "HWC", "CHW", "NHW", "NHWC", "NCHW", "DHW"]), st.tuples(near(), near(), near(), near()))
@example("NCHW", (2**32, 2**32, 5, 5))  # so many planes that their number wraps to none
@example("NCHW", (2**62, 5, 1, 1))
def test_shapes_of_plans(axes: str, extents: tuple[int, ...]) -> None:
    shape = extents[: len(axes)]
    try:
        plan = areal.SatPlan(shape, "uint8", axes)
    except (areal.InvalidArgument, areal.OutOfMemory):
        return
    assert plan.shape == shape and min(shape) >= 0
    assert plan.table_bytes == math.prod(n + (letter in "HWD") for n, letter in zip(shape, axes)) * np.dtype(plan.table_dtype).itemsize


@fuzzed
@given(near(8, 65535), near(8), near(8))
def test_bins(bins: int, first: int, count: int) -> None:
    from areal import _core

    for make in (lambda: areal.Binning(bins, (0, 1)), lambda: areal.Binning(labels=bins), lambda: areal.Binning.of_dtype("int64", bins)):
        try:
            made = make()
        except areal.InvalidArgument:
            assert not 1 <= bins <= 65535
        else:
            assert made.bins == bins
    try:
        rule = _core.binning_uniform(8, 0.0, 8.0).slice(first, count)
    except areal.InvalidArgument:
        assert not (0 <= first and 1 <= count <= 8 - first)
    else:
        assert rule.bins == count
    assert areal.Binning(labels=8, ignored=first).bin_of(count) == (count if 0 <= count < 8 and count != first else -1)


@fuzzed
@given(st.tuples(near(HEIGHT), near(WIDTH)))
def test_distance_maps(size: tuple[int, int]) -> None:
    tensor = areal.integral_histogram(PIXELS, 4)
    try:
        got = tensor.distance_map(np.ones(4), size)
    except areal.InvalidArgument:
        assert min(size) < 1
    else:
        assert got.shape == tuple(max(0, n - s + 1) for n, s in zip(PIXELS.shape, size))
