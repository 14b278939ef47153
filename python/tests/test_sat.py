"""areal.sat and Sat against NumPy in 64 bits: dtypes, shapes from 0, strides, borders, axes, out, carries."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import areal
import tables

pytestmark = pytest.mark.sanitize

INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64"]
DTYPES = INTEGERS + FLOATS
AXES = list(tables.SPATIAL)
BORDERS = ["zero", "none", "exclusive"]
SEED = 20261122


def examples(few: int) -> int:
    """So many, and as many as the profile says where all are asked for."""
    return max(few, settings().max_examples) if os.environ.get("AREAL_TEST_FULL") == "1" else few


def pixels(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    return rng.standard_normal(shape).astype(kind)


def laid(x: np.ndarray, how: str) -> np.ndarray:
    """The same elements in memory of another order."""
    if how == "C":
        return x
    if how == "F":
        return np.asfortranarray(x)
    if how == "pitched":
        room = np.zeros([n + 3 for n in x.shape], x.dtype)
        view = room[tuple(slice(1, 1 + n) for n in x.shape)]
    elif how == "reversed":
        view = np.zeros(x.shape, x.dtype)[::-1]
    elif how == "skipping":
        view = np.zeros([*x.shape[:-1], 2 * x.shape[-1]], x.dtype)[..., ::2]
    elif how == "big-endian":
        return x.astype(x.dtype.newbyteorder(">"))
    elif how == "read-only":
        view = x.copy()
        view.flags.writeable = False
        return view
    elif how == "permuted":
        return np.ascontiguousarray(x.transpose(np.roll(range(x.ndim), 1))).transpose(np.roll(range(x.ndim), -1))
    else:
        raise ValueError(how)
    view[...] = x
    return view


LAYOUTS = ["C", "F", "pitched", "reversed", "skipping", "big-endian", "read-only", "permuted"]


def test_the_check_can_fail() -> None:
    x = pixels(np.random.default_rng(SEED), (5, 7), "uint8")
    t = areal.sat(x)
    wrong = t.array.copy()
    wrong[3, 4] += 1
    assert tables.same(t.array, tables.table(x)) and not tables.same(wrong, tables.table(x))
    f = x.astype(np.float32)
    wrong = areal.sat(f, dtype="float32").array.copy()
    wrong[-1, -1] *= 1 + 1e-3
    assert not tables.same(wrong, tables.table(f), f.sum())


@settings(max_examples=examples(250))
@given(seed=st.integers(0, 2**32 - 1), axes=st.sampled_from(AXES), dtype=st.sampled_from(DTYPES), border=st.sampled_from(BORDERS),
       layout=st.sampled_from(LAYOUTS), extents=st.lists(st.integers(0, 9), min_size=4, max_size=4), large=st.booleans())
def test_tables_equal_numpy(seed: int, axes: str, dtype: str, border: str, layout: str, extents: list[int], large: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = extents[:len(axes)]
    if large:
        shape[axes.index("W")] *= 37
    x = laid(pixels(rng, tuple(shape), dtype), layout)
    t = areal.sat(x, axes, border=border)
    assert t.array.dtype.kind == ("f" if dtype in FLOATS else "i" if dtype.startswith("int") else "u")
    assert tables.same(t.array, tables.table(x, axes, border), np.abs(tables.wide(x).astype(float)).sum())
    assert (t.axes, t.border, t.image_shape, t.backend) == (axes, border, tuple(shape), "cpu")
    assert t.squares is None and t.tilted is None and t.count is None


@settings(max_examples=examples(150))
@given(seed=st.integers(0, 2**32 - 1), axes=st.sampled_from(AXES[:-1]), dtype=st.sampled_from(DTYPES), border=st.sampled_from(BORDERS[:2]),
       layout=st.sampled_from(LAYOUTS), extents=st.lists(st.integers(1, 4), min_size=4, max_size=4), height=st.integers(1, 12), width=st.integers(1, 40))
def test_boxes_equal_numpy(seed: int, axes: str, dtype: str, border: str, layout: str, extents: list[int], height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    shape = extents[:len(axes)]
    shape[axes.index("H")], shape[axes.index("W")] = height, width
    x = laid(pixels(rng, tuple(shape), dtype), layout)
    t = areal.sat(x, axes, border=border, squares=True)
    left, top = rng.integers(0, width + 1, 6), rng.integers(0, height + 1, 6)
    boxes = np.stack([left, top, rng.integers(0, width - left + 1), rng.integers(0, height - top + 1)], 1)
    sums, means, deviations, variances = t.sum(boxes), t.mean(boxes), t.std(boxes), t.var(boxes)
    planes = tuple(n for letter, n in zip(axes, shape) if letter in "NC")
    order = [letter for letter in axes if letter in "NC"]
    assert sums.shape == means.shape == (6, *planes)
    total = np.abs(tables.wide(x).astype(float)).sum()
    for i, box in enumerate(boxes):
        inside = tables.cut(x, axes, tuple(box))
        assert tables.same(np.asarray(sums[i]), inside.sum(0), total, t.array.dtype)
        if not len(inside):
            assert np.isnan(means[i]).all() and np.isnan(variances[i]).all()
            continue
        if dtype.endswith("64") and dtype not in FLOATS:  # nor does a box's sum
            continue
        if dtype.endswith("32"):  # the squares of a box may not fit 64 bits
            assert dtype in FLOATS or np.allclose(means[i], inside.mean(0), rtol=1e-12, atol=0)
            continue
        if dtype in FLOATS:
            eps = np.finfo(t.array.dtype).eps
            assert np.allclose(means[i], inside.mean(0), rtol=1e-3, atol=100 * eps * total)
            assert (variances[i] >= 0).all()
            continue
        assert np.allclose(means[i], inside.mean(0), rtol=1e-12, atol=0)
        assert np.allclose(variances[i], inside.astype(float).var(0), rtol=1e-6, atol=1e-9 * (1 + float(np.abs(inside.astype(float)).max()) ** 2))
        assert np.allclose(deviations[i], np.sqrt(variances[i]), rtol=1e-12)
    assert order == [letter for letter in t.axes if letter in "NC"]
    if not planes:
        assert np.ndim(t.sum(boxes[0])) == 0 and t.sum(boxes[0]) == sums[0]


@pytest.mark.parametrize("squares", ["uint32", "uint64", "float64", "float32", np.float32, True])
def test_squares_of_every_type(squares: object) -> None:
    x = pixels(np.random.default_rng(SEED), (30, 40), "uint8")
    t = areal.sat(x, squares=squares)
    truth = tables.table(x.astype(np.uint64) ** 2)
    assert t.squares.dtype == np.dtype("uint64" if squares is True else squares) and tables.same(t.squares, truth, float(truth[-1, -1]))
    assert np.allclose(t.var([3, 4, 20, 20]), x[4:24, 3:23].var(), rtol=1e-3)


@pytest.mark.parametrize("axes", AXES)
def test_every_axes_has_squares_of_64_bits(axes: str) -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (3, 4, 2, 3)[:len(axes)], "uint16")
    t = areal.sat(x, axes, squares=True)
    assert t.squares.dtype == np.uint64 and tables.same(t.squares, tables.table(x.astype(np.uint64) ** 2, axes))


def test_four_formats_name_the_same_pixels() -> None:
    x = pixels(np.random.default_rng(SEED), (11, 17), "uint8")
    t = areal.sat(x)
    truth = int(x[2:7, 3:13].sum())
    assert t.sum([3, 2, 10, 5]) == truth
    assert t.sum([3, 2, 13, 7], format="xyxy") == truth
    assert t.sum((2, 3, 7, 13), format="bbox") == truth
    assert t.sum(np.array([2, 3, 6, 12], np.int32), format="skimage") == truth
    with pytest.raises(areal.InvalidArgument, match="xywh, xyxy, bbox or skimage"):
        t.sum([0, 0, 1, 1], format="coco")


def test_volume_boxes_have_six_numbers() -> None:
    x = pixels(np.random.default_rng(SEED), (4, 6, 9), "uint16")
    for layout in ("C", "F", "pitched"):
        t = areal.sat(laid(x, layout), "DHW")
        part = x[1:4, 2:5, 3:8]
        truth = int(part.sum())
        assert t.sum([3, 2, 1, 5, 3, 3]) == truth
        assert t.sum([3, 2, 1, 8, 5, 4], format="xyxy") == truth
        assert t.sum([1, 2, 3, 4, 5, 8], format="bbox") == truth
        assert t.sum([1, 2, 3, 3, 4, 7], format="skimage") == truth
        assert t.mean([3, 2, 1, 5, 3, 3]) == pytest.approx(part.mean(), rel=1e-14)
        assert t.mean([-3, -3, -3, 5, 5, 5], outside="clip") == pytest.approx(x[:2, :2, :2].mean(), rel=1e-14)
        assert np.isnan(t.mean([0, 0, 0, 0, 1, 1]))
        with pytest.raises(areal.InvalidArgument, match="6 numbers"):
            t.sum([0, 0, 1, 1])


def test_outside() -> None:
    x = pixels(np.random.default_rng(SEED), (5, 8), "uint8")
    t = areal.sat(x)
    with pytest.raises(areal.InvalidArgument, match="region 1 .*outside the image of 8x5"):
        t.sum([[0, 0, 1, 1], [4, 4, 5, 5]])
    assert t.sum([4, 4, 5, 5], outside="clip") == x[4:, 4:].sum()
    assert t.mean([-2, -2, 4, 4], outside="clip") == x[:2, :2].mean()
    answers, first = t.sum([[0, 0, 1, 1], [4, 4, 5, 5]], refused=True)
    assert first == 1 and answers.tolist() == [x[0, 0], 0]
    assert t.mean([0, 0, 2, 2], refused=True) == (x[:2, :2].mean(), -1)


@pytest.mark.parametrize("boxes", [[0.0, 0, 1, 1], [[0.5, 0, 1, 1]], [True, False, True, True], ["a"], [0, 0, 1], [[0, 0, 1]], np.zeros((1, 1, 4), int), 3,
                                   np.array([[2**63, 0, 1, 1]], np.uint64), [[2**62, 0, 2**63 - 1, 1]]])
def test_boxes_that_are_none_are_refused(boxes: object) -> None:
    t = areal.sat(np.ones((3, 3), np.uint8))
    with pytest.raises(areal.InvalidArgument):
        t.sum(boxes)


def test_no_boxes_have_no_answers() -> None:
    t = areal.sat(np.ones((3, 3, 2), np.uint8), "HWC")
    assert t.sum([]).shape == t.sum(np.zeros((0, 4), int)).shape == (0, 2)


@pytest.mark.parametrize("layout", ["C", "F", "pitched", "read-only", "transposed", "channels last", "channels first"])
@pytest.mark.parametrize("axes", AXES)
def test_what_lies_well_is_read_in_place(axes: str, layout: str) -> None:
    x = pixels(np.random.default_rng(SEED), {"HWC": (5, 4, 3), "NHWC": (2, 5, 4, 3)}.get(axes, (3, 4, 5, 6)[:len(axes)]), "uint8")
    if layout == "transposed":
        h, w = axes.index("H"), axes.index("W")
        x = np.ascontiguousarray(x.swapaxes(h, w)).swapaxes(h, w)
    elif layout == "channels last":
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, axes.index("C"), -1)), -1, axes.index("C")) if "C" in axes else x
    elif layout == "channels first":
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, axes.index("C"), 0)), 0, axes.index("C")) if "C" in axes else x
    else:
        x = laid(x, layout)
    # Pixels with gaps between them, where another image's lie.
    if layout == "F" and axes[0] in "ND" or layout == "pitched" and axes[-1] == "C" or layout == "channels last" and axes == "NCHW" and x.shape[1] > 4:
        with pytest.raises(areal.InvalidArgument, match="copy=False"):
            areal.sat(x, axes, copy=False)
    else:
        assert tables.same(areal.sat(x, axes, copy=False).array, tables.table(x, axes))
    assert tables.same(areal.sat(x, axes).array, tables.table(x, axes))


@pytest.mark.parametrize("layout", ["reversed", "skipping", "big-endian"])
def test_what_lies_otherwise_is_copied_once_or_refused(layout: str) -> None:
    x = laid(pixels(np.random.default_rng(SEED), (6, 8), "uint16"), layout)
    with pytest.raises(areal.InvalidArgument, match="copy=False: array cannot be read in place"):
        areal.sat(x, copy=False)
    assert tables.same(areal.sat(x).array, tables.table(x))
    broadcast = np.broadcast_to(np.arange(8, dtype=np.uint16), (6, 8))
    with pytest.raises(areal.InvalidArgument):
        areal.sat(broadcast, copy=False)
    assert tables.same(areal.sat(broadcast).array, tables.table(broadcast))


def test_channels_beyond_four() -> None:
    rng = np.random.default_rng(SEED)
    for axes, shape in (("CHW", (7, 4, 5)), ("NCHW", (2, 9, 4, 5)), ("HWC", (4, 5, 6)), ("NHWC", (2, 4, 5, 6))):
        x = pixels(rng, shape, "uint8")
        t = areal.sat(x, axes, squares=True)
        assert tables.same(t.array, tables.table(x, axes))
        assert tables.same(t.sum([1, 1, 3, 2]), tables.cut(x, axes, (1, 1, 3, 2)).sum(0))
        assert t.window(3, stat="sum").shape == x.shape
    with pytest.raises(areal.InvalidArgument, match="1 to 4"):
        areal.sat(pixels(rng, (5, 4, 5), "float32"), "CHW", ignore_nan=True)


def test_masks_and_counts() -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (2, 5, 7, 3), "uint8")
    mask = rng.integers(0, 2, (2, 5, 7)).astype(bool)
    for image, valid in ((x, mask), (x, np.asfortranarray(mask)), (np.asfortranarray(x), mask), (x, mask[:, ::-1][:, ::-1]), (x, mask.view(np.uint8))):
        t = areal.sat(image, "NHWC", mask=valid)
        assert tables.same(t.array, tables.table(x * mask[..., None], "NHWC"))
        assert tables.same(t.count, tables.table(mask, "NHW"))
        inside = mask[:, 1:4, 2:6]
        truth = (x[:, 1:4, 2:6] * inside[..., None]).sum((1, 2)) / inside.sum((1, 2))[:, None]
        assert np.allclose(t.mean([2, 1, 4, 3]), truth, rtol=1e-14)
    with pytest.raises(areal.InvalidArgument, match="copy=False: mask"):
        areal.sat(x, "NHWC", mask=mask[:, ::-1], copy=False)
    with pytest.raises(areal.InvalidArgument, match="mask"):
        areal.sat(x, "NHWC", mask=mask[:, :4])
    with pytest.raises(areal.InvalidArgument, match="mask"):
        areal.sat(x, "NHWC", mask=mask.astype(np.uint16))
    y = pixels(rng, (6, 8), "float32")
    y[2, 3] = y[5, 7] = np.nan
    t = areal.sat(y, ignore_nan=True)
    assert tables.same(t.count, tables.table(~np.isnan(y))) and tables.same(t.array, tables.table(np.nan_to_num(y)), np.nansum(np.abs(y)))
    assert t.mean([2, 1, 4, 3]) == pytest.approx(np.nanmean(y[1:4, 2:6]), rel=1e-6)


def test_tilted() -> None:
    x = pixels(np.random.default_rng(SEED), (9, 12), "uint8")
    for layout in LAYOUTS:
        t = areal.sat(laid(x, layout), tilted=True)
        truth = np.zeros((10, 13), np.uint64)
        for Y in range(10):
            for X in range(13):
                truth[Y, X] = sum(int(x[y, c]) for y in range(Y) for c in range(12) if abs(c - X + 1) <= Y - y - 1)
        assert tables.same(t.tilted, truth) and tables.same(t.array, tables.table(x))
    rectangle = (6, 1, 3, 2)
    covered = [(6 - 1 + i - j, 1 + i + j) for i in range(3) for j in range(2)]
    assert t.tilted_sum(rectangle) == sum(int(x[y, c]) + int(x[y + 1, c]) for c, y in covered)
    many = areal.sat(np.stack([x, x[::-1]]), "CHW", tilted=True)
    assert many.tilted_sum([rectangle] * 3).shape == (3, 2)
    assert many.tilted_sum(rectangle)[0] == t.tilted_sum(rectangle)
    assert many.tilted_sum(rectangle)[1] == areal.sat(x[::-1], tilted=True).tilted_sum(rectangle)
    with pytest.raises(areal.InvalidArgument, match="tilted=True"):
        areal.sat(x).tilted_sum(rectangle)
    with pytest.raises(areal.InvalidArgument, match="rotated"):
        t.tilted_sum((0, 0, 3, 2))


@pytest.mark.parametrize("edge, pad", [("reflect", "reflect"), ("symmetric", "symmetric"), ("replicate", "edge"), ("wrap", "wrap"), ("zero", "constant")])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_windows_equal_padding(edge: str, pad: str, layout: str) -> None:
    x = pixels(np.random.default_rng(SEED), (9, 14), "uint8")
    t = areal.sat(laid(x, layout), squares=True)
    padded = np.pad(x.astype(float), ((1, 1), (2, 2)), mode=pad)
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 5))
    assert np.array_equal(t.window((3, 5), stat="sum", edge=edge), views.sum((2, 3)))
    assert np.allclose(t.window((3, 5), edge=edge), views.mean((2, 3)), rtol=1e-14)
    assert np.allclose(t.window((3, 5), stat="var", edge=edge), views.var((2, 3)), rtol=1e-9)
    assert np.allclose(t.window((3, 5), stat="std", edge=edge, dtype="float32"), views.std((2, 3)), rtol=1e-5)


def test_windows_say_what_they_take() -> None:
    x = pixels(np.random.default_rng(SEED), (9, 14), "uint8")
    t = areal.sat(x)
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 5)).astype(float)
    assert np.array_equal(t.window((3, 5), stat="sum", edge="valid"), views.sum((2, 3)))
    out = np.zeros((9, 14), np.float32)
    assert t.window(3, out=out) is out and np.allclose(out, t.window(3), rtol=1e-6)
    assert np.array_equal(t.window(1, stat="sum"), x) and np.array_equal(t.window(2, stat="sum", anchor=(0, 0), edge="zero")[:-1, :-1],
                                                                         np.lib.stride_tricks.sliding_window_view(x, (2, 2)).sum((2, 3)))
    colour = pixels(np.random.default_rng(SEED), (9, 14, 3), "uint8")
    assert np.array_equal(areal.sat(colour, "HWC").window(3)[..., 1], areal.sat(colour[..., 1]).window(3))
    for bad in ({"edge": "mirror"}, {"stat": "median"}, {"out": np.zeros((9, 13), np.float32)}, {"dtype": "int64"}, {"stat": "std"}, {"anchor": (3, 0)}):
        with pytest.raises(areal.InvalidArgument):
            t.window(3, **bad)
    with pytest.raises(areal.InvalidArgument):
        t.window(0)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("layout", ["C", "F", "pitched", "permuted"])
@pytest.mark.parametrize("room", ["C", "F", "pitched", "permuted"])
def test_out_is_written_wherever_it_lies(axes: str, layout: str, room: str) -> None:
    x = laid(pixels(np.random.default_rng(SEED), (3, 4, 2, 3)[:len(axes)], "uint8"), layout)
    truth = tables.table(x, axes)
    out = laid(np.full(truth.shape, 99, np.uint32), room)
    # Elements of one row lie apart where another image's, or nothing, lies between them.
    if room == "pitched" and axes[-1] == "C" or room == "F" and axes[0] in "ND":
        with pytest.raises(areal.InvalidArgument, match="out: it cannot be written in place"):
            areal.sat(x, axes, out=out)
    else:
        assert areal.sat(x, axes, out=out).array is out and tables.same(out, truth)


def test_out_of_several_tables() -> None:
    x = pixels(np.random.default_rng(SEED), (5, 6), "uint8")
    mask = x > 99
    made = areal.sat(x, squares=True, tilted=True, mask=mask)
    outs = tuple(np.zeros_like(a) for a in (made.array, made.squares, made.tilted, made.count))
    t = areal.sat(x, squares=True, tilted=True, mask=mask, out=outs)
    for name, out in zip(("array", "squares", "tilted", "count"), outs):
        assert getattr(t, name) is out and np.array_equal(out, getattr(made, name))
    again = areal.sat(255 - x, squares=True, tilted=True, mask=mask, out=t)
    assert again.array is outs[0] and np.array_equal(again.array, areal.sat(255 - x, mask=mask).array)
    first = areal.sat(x)
    second = areal.sat(x[::-1], out=first)
    assert np.shares_memory(first.array, second.array) and tables.same(first.array, tables.table(x[::-1]))


@pytest.mark.parametrize("out", [np.zeros((5, 6), np.uint32), np.zeros((6, 7), np.uint64), np.zeros((6, 14), np.uint32)[:, ::2], [], None, "a"])
def test_out_that_does_not_fit(out: object) -> None:
    x = np.ones((5, 6), np.uint8)
    if out is None:
        out = np.zeros((6, 7), np.uint32)
        out.flags.writeable = False
    with pytest.raises(areal.InvalidArgument, match="out"):
        areal.sat(x, out=out)
    with pytest.raises(areal.InvalidArgument, match="out: 1 arrays"):
        areal.sat(x, out=np.zeros((6, 7), np.uint32), squares=True)


def test_in_place() -> None:
    x = pixels(np.random.default_rng(SEED), (20, 30), "uint32")
    truth = tables.table(x, "HW", "none")
    assert areal.sat(x, dtype="uint32", border="none", out=x).array is x and tables.same(x, truth)
    y = np.zeros((21, 31), np.uint32)
    with pytest.raises(areal.InvalidArgument, match="share memory"):
        areal.sat(y[:-1, :-1], dtype="uint32", out=y)


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), axes=st.sampled_from(["HW", "HWC", "CHW", "NHW", "NCHW"]), layout=st.sampled_from(["C", "F", "pitched", "skipping"]),
       dtype=st.sampled_from(["uint8", "int16", "float64"]), y=st.integers(0, 6), x=st.integers(0, 9), with_corner=st.booleans(), border=st.sampled_from(BORDERS))
def test_pieces_with_carries_make_the_larger_table(seed: int, axes: str, layout: str, dtype: str, y: int, x: int, with_corner: bool, border: str) -> None:
    rng = np.random.default_rng(seed)
    shape = [2, 3, 2, 2][:len(axes)]
    h, w = axes.index("H"), axes.index("W")
    shape[h], shape[w] = 11, 17
    image = pixels(rng, tuple(shape), dtype)
    if dtype == "float64":
        image = np.round(image * 64)  # sums without rounding

    def part(array: np.ndarray, rows: slice | int, columns: slice | int) -> np.ndarray:
        place: list[slice | int] = [slice(None)] * array.ndim
        place[h], place[w] = rows, columns
        return array[tuple(place)]

    wanted = {"uint8": "uint64", "int16": "int64", "float64": "float64"}[dtype]
    whole = tables.table(image, axes)  # border zero
    above, left, corner = part(whole, y, slice(x + 1, 18)), part(whole, slice(y + 1, 12), x), part(whole, y, x)
    piece = laid(part(image, slice(y, 11), slice(x, 17)), layout)
    if with_corner:
        t = areal.sat(piece, axes, dtype=wanted, border=border, above=part(whole, y, slice(x, 18)), left=left)
    else:
        t = areal.sat(piece, axes, dtype=wanted, border=border, above=above, left=left, corner=corner)
    rows, columns = {"zero": (slice(y, 12), slice(x, 18)), "none": (slice(y + 1, 12), slice(x + 1, 18)), "exclusive": (slice(y, 11), slice(x, 17))}[border]
    assert np.array_equal(t.array, part(whole, rows, columns).astype(wanted))


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 2**32 - 1), axes=st.sampled_from(AXES), dtype=st.sampled_from(DTYPES), border=st.sampled_from(BORDERS), layout=st.sampled_from(LAYOUTS),
       extents=st.lists(st.integers(0, 7), min_size=4, max_size=4))
def test_reversed_tables_are_of_the_image_turned_by_half_a_turn(seed: int, axes: str, dtype: str, border: str, layout: str, extents: list[int]) -> None:
    rng = np.random.default_rng(seed)
    x = laid(pixels(rng, tuple(extents[:len(axes)]), dtype), layout)

    def turned(array: np.ndarray) -> np.ndarray:
        return np.flip(array, tables.SPATIAL[axes])

    t = areal.sat(x, axes, border=border, reverse=True, squares=True)
    plan = areal.SatPlan(x.shape, x.dtype, axes, border=border, reverse=True)
    total = np.abs(tables.wide(x).astype(float)).sum()
    assert t.reverse and tables.same(t.array, turned(tables.table(turned(x), axes, border)), total)
    assert np.array_equal(plan(x).array, areal.sat(x, axes, border=border, reverse=True).array, equal_nan=True)
    back = pickle.loads(pickle.dumps(t))
    assert back.reverse and np.array_equal(back.array, t.array) and ", reverse" in repr(t) and "areal.Sat" in t._repr_html_()
    box = [0, 0, min(2, x.shape[axes.index("W")]), min(3, x.shape[axes.index("H")])]
    if axes == "DHW" or border != "zero":
        with pytest.raises(areal.InvalidArgument, match="reversed"):
            t.sum(box if axes != "DHW" else [0, 0, 0, 0, 0, 0])
        return
    assert tables.same(np.asarray(t.sum(box)), tables.cut(x, axes, tuple(box)).sum(0), total, t.array.dtype)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("layout", ["C", "F", "pitched"])
def test_reversed_pieces_with_carries_make_the_larger_table(layout: str, border: str) -> None:
    x = pixels(np.random.default_rng(SEED), (11, 17), "uint8")
    whole = np.flip(tables.table(np.flip(x)))  # border zero: what lies right and below
    piece = laid(x[:6, :9], layout)
    for carry in ({"above": whole[6, :10]}, {"above": whole[6, :9], "corner": whole[6, 9]}):
        t = areal.sat(piece, border=border, dtype="uint64", reverse=True, left=whole[:6, 9], **carry)
        truth = {"zero": whole[:7, :10], "none": whole[:6, :9], "exclusive": whole[1:7, 1:10]}[border]
        assert np.array_equal(t.array, truth)
    with pytest.raises(areal.InvalidArgument, match="tilted"):
        areal.sat(x, tilted=True, reverse=True)


def test_carries_that_do_not_fit() -> None:
    x = np.ones((4, 5), np.uint8)
    for bad in ({"above": np.zeros(4)}, {"above": np.zeros(4, int)}, {"left": np.zeros(5, int)}, {"left": np.zeros(4)}, {"above": np.zeros(6, int), "corner": 1},
                {"above": np.zeros(5, int), "squares": True}, {"left": np.zeros(4, int), "tilted": True}, {"above": "a"}):
        with pytest.raises(areal.InvalidArgument):
            areal.sat(x, **bad)
    assert areal.sat(x, corner=7).array[0, 0] == 7
    assert areal.sat(x, left=np.full(4, 3)).array[-1, 0] == 3


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("layout", ["C", "F"])
def test_tables_pickle(axes: str, layout: str) -> None:
    x = laid(pixels(np.random.default_rng(SEED), (3, 4, 3, 2)[:len(axes)], "uint8"), layout)
    t = areal.sat(x, axes, squares=True, tilted=axes != "DHW", mask=np.ones([n for n, a in zip(x.shape, axes) if a != "C"], bool))
    back = pickle.loads(pickle.dumps(t))
    assert type(back) is areal.Sat and repr(back) == repr(t) and back.reason == t.reason
    for name in ("array", "squares", "tilted", "count"):
        assert np.array_equal(getattr(back, name), getattr(t, name)) if getattr(t, name) is not None else getattr(back, name) is None
    box = [0, 1, 2, 1] if axes != "DHW" else [1, 1, 1, 2, 2, 2]
    assert np.array_equal(back.sum(box), t.sum(box)) and np.array_equal(back.mean(box), t.mean(box))


def test_tables_of_many_channels_pickle() -> None:
    for axes, shape in (("HWC", (4, 5, 6)), ("NHWC", (2, 4, 5, 6)), ("CHW", (6, 4, 5))):
        t = areal.sat(pixels(np.random.default_rng(SEED), shape, "uint8"), axes, squares=True)
        back = pickle.loads(pickle.dumps(t))
        assert np.array_equal(back.array, t.array) and np.array_equal(back.var([1, 1, 3, 2]), t.var([1, 1, 3, 2])) and back.image_shape == shape


def test_words() -> None:
    x = np.zeros((480, 640), np.uint8)
    assert repr(areal.sat(x, squares=True)) == ("<areal.Sat HW 481x641 uint32 of uint8, squares, border zero, 3,699,852 bytes, tiles on cpu>")
    assert areal.sat(x).nbytes == 481 * 641 * 4
    assert "cpu" in areal.sat(x).reason
    array = np.asarray(areal.sat(x))
    assert array.shape == (481, 641) and np.asarray(areal.sat(x), np.float64).dtype == np.float64


def test_wrong_arguments_are_one_sentence() -> None:
    x = np.ones((4, 5), np.uint8)
    for call, words in ((lambda: areal.sat(x[0]), "axes: an array of 1 dimensions needs one of HW, HWC"),
                        (lambda: areal.sat(np.ones((2, 2, 2))), "axes: an array of 3 dimensions"),
                        (lambda: areal.sat(x, "HWX"), "axes HWX: may be"), (lambda: areal.sat(x, "HWC"), "axes HWC: the array has 2 dimensions"),
                        (lambda: areal.sat(x, dtype="int8"), "dtype int8: tables are of"), (lambda: areal.sat(x, dtype="nonsense"), "is no dtype"),
                        (lambda: areal.sat(x, border="both"), "border both"), (lambda: areal.sat(x, squares="int8"), "squares int8"),
                        (lambda: areal.sat(x, algorithm="fast"), "fast"), (lambda: areal.sat(x, backend="tpu"), "backend tpu"),
                        (lambda: areal.sat(x, threads=-1), "threads -1"), (lambda: areal.sat(x.astype(complex)), "complex128|no type"),
                        (lambda: areal.sat(x.astype(np.longdouble)), "longdouble|float128|no type"), (lambda: areal.sat(np.array(["a"])), "no type"),
                        (lambda: areal.sat(object()), "no type"), (lambda: areal.sat(x, ignore_nan=True), "never NaN"),
                        (lambda: areal.sat(np.ones((3, 3), np.uint8), dtype="int64"), "8u64s|types")):
        with pytest.raises(areal.InvalidArgument, match=words) as caught:
            call()
        assert isinstance(caught.value, ValueError) and "\n" not in str(caught.value)


def test_lists_are_arrays() -> None:
    assert areal.sat([[1.5, 2], [3, 4]]).array[-1, -1] == 10.5


def test_a_piece_without_pixels_of_several_images_and_five_channels() -> None:
    wide = np.ones((2, 1, 1, 13), np.uint8)[..., 1:6]
    left = np.full((2, 1, 5), 3, np.uint32)
    assert areal.sat(wide[:, :, 1:], "NHWC", border="none", dtype="uint32", left=left).array.shape == (2, 1, 0, 5)
    assert areal.sat(wide, "NHWC", border="none", dtype="uint32", left=left).array.ravel().tolist() == [4] * 10
