"""areal.cv2 beside cv2: every row of its tables, every border, what is refused. Runs alike with OpenCV 4.14 and 5.0."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pickle
import select
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import areal
from areal import cv2 as ours

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")

SHAPES = [(1, 1), (1, 7), (7, 1), (13, 9), (40, 67), (13, 9, 1), (13, 9, 2), (8, 16, 3), (13, 9, 4), (13, 9, 5)]
TABLE_ROWS = [(src, s, q) for src, row in ours._TABLES.items() for s, squares in row.items() for q in squares]
BOX_ROWS = [("boxFilter", src, d) for src, row in ours._BOXES.items() for d in dict.fromkeys((-1, *row))]
SQUARE_ROWS = [("sqrBoxFilter", src, d) for src, row in ours._SQUARE_BOXES.items() for d in dict.fromkeys((-1, *row))]
BORDERS = [cv2.BORDER_CONSTANT, cv2.BORDER_REPLICATE, cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    seed = zlib.crc32(request.node.name.encode())
    print(f"seed {seed}")  # noqa: T201: pytest shows it where a test fails
    return np.random.default_rng(seed)


def image(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels of the dtype's whole range, and its ends."""
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x.flat[:: max(x.size // 5, 2)] = limits.max
    return x


def same(a: np.ndarray, b: np.ndarray, whole: bool, corner: float = 1.0, ties: int = 0) -> None:
    """Bits where pixels or results are whole numbers; else within 1e-5 (32F) or 1e-12 (64F) of the corner, the largest sum of magnitudes."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    if a.dtype.kind == "f" and not (whole and a.dtype == np.float64):
        bound = (1e-5 if a.dtype == np.float32 else 1e-12) * corner
        assert np.all(np.abs(a.astype(float) - b.astype(float)) <= bound)
    else:
        assert np.all(np.abs(a.astype(float) - b.astype(float)) <= ties)


def test_the_comparison_can_fail(rng: np.random.Generator) -> None:
    for dtype, flip in [("uint8", 1), ("int32", 1), ("float32", 2e-5), ("float64", 2e-12)]:
        x = image(rng, dtype, (6, 7)) if dtype != "int32" else cv2.integral(image(rng, "uint8", (6, 7)))
        same(x, x.copy(), dtype.endswith("t8"), np.abs(x).max())
        y = x.copy()
        y[3, 4] -= y.dtype.type(flip * (np.abs(x).max() if x.dtype.kind == "f" else 1))
        with pytest.raises(AssertionError):
            same(x, y, False, np.abs(x).max())
    with pytest.raises(AssertionError):
        same(x, x.astype("float32"), False)
    with pytest.raises(AssertionError):
        same(x, x[:-1], False)


def test_the_rows_are_those_promised() -> None:
    """By OpenCV's depths: 0 8U, 2 16U, 3 16S, 4 32S, 5 32F, 6 64F."""
    tables = {"uint8": "46 44 45 56 55 66", "uint16": "66", "int16": "66", "float32": "66 56 55", "float64": "66"}
    assert {(src, int(p[0]), int(p[1])) for src, pairs in tables.items() for p in pairs.split()} == set(TABLE_ROWS)
    boxes = {"uint8": "0 2 3 4 5 6", "uint16": "2 0 3 4 5 6", "int16": "3 0 2 4 5 6", "int32": "4 0 2 3 5 6", "float32": "5 0 2 3 6",
             "float64": "6 0 2 3 5"}
    squares = {"uint8": "5 0 2 3 4 6", "uint16": "5 0 2 3 6", "int16": "5 0 2 3 6", "float32": "6 0 2 3 5", "float64": "6 0 2 3 5"}
    for promised, known in ((boxes, ours._BOXES), (squares, ours._SQUARE_BOXES)):
        assert {src: set(map(int, depths.split())) for src, depths in promised.items()} == {src: set(row) for src, row in known.items()}
        assert all(int(depths[0]) == known[src][0] for src, depths in promised.items())


def check_tables(x: np.ndarray, s: int, q: int) -> None:
    whole = x.dtype.kind in "iu"
    corner = np.abs(x.astype(float)).sum()
    squared = (x.astype(float) ** 2).sum()
    same(ours.integral(x, sdepth=s), cv2.integral(x, sdepth=s), whole, corner)
    for a, b, c in zip(ours.integral2(x, sdepth=s, sqdepth=q), cv2.integral2(x, sdepth=s, sqdepth=q), (corner, squared), strict=True):
        same(a, b, whole, c)
    for a, b, c in zip(ours.integral3(x, sdepth=s, sqdepth=q), cv2.integral3(x, sdepth=s, sqdepth=q), (corner, squared, corner), strict=True):
        same(a, b, whole, c)


@pytest.mark.parametrize(("src", "s", "q"), TABLE_ROWS)
def test_tables_of_every_row(rng: np.random.Generator, src: str, s: int, q: int) -> None:
    for shape in SHAPES:
        check_tables(image(rng, src, shape), s, q)


def test_the_default_depths(rng: np.random.Generator) -> None:
    for src, row in ours._TABLES.items():
        x = image(rng, src, (5, 6))
        for depth in (-1, -2, 0, None):
            t = ours.integral(x, sdepth=depth)
            assert t.dtype == ours._DTYPES[next(iter(row))]
            assert t.dtype == cv2.integral(x, sdepth=depth).dtype
            assert ours.integral2(x, sqdepth=depth)[1].dtype == cv2.integral2(x, sqdepth=depth)[1].dtype == np.float64


def test_what_is_in_no_table_raises(rng: np.random.Generator) -> None:
    for src in ("bool", "int8", "uint8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "complex64",
                ">u2"):
        x = np.ones((3, 4), src)
        for s in range(1, 9):
            for q in range(1, 9):
                if (src, s, q) in TABLE_ROWS:
                    assert ours.integral3(x, sdepth=s, sqdepth=q)[1].dtype == ours._DTYPES[q]
                else:
                    with pytest.raises(cv2.error):
                        ours.integral2(x, sdepth=s, sqdepth=q)
        for name, rows in (("boxFilter", BOX_ROWS), ("sqrBoxFilter", SQUARE_ROWS)):
            for d in range(-1, 13):
                if (name, src, d) not in rows:
                    with pytest.raises(cv2.error):
                        getattr(ours, name)(x, d, (3, 3))


@pytest.mark.sanitize
def test_tables_without_pixels() -> None:
    for shape in ((0, 5), (5, 0), (0, 0), (0, 5, 3), (5, 0, 2), (0, 5, 6)):
        x = np.zeros(shape, np.uint8)
        same(ours.integral(x), cv2.integral(x), True)
        for a, b in zip(ours.integral2(x), cv2.integral2(x), strict=True):
            same(a, b, True)
        for t in ours.integral3(x):  # cv2's of 4.14 writes past its memory here
            assert t.shape == (shape[0] + 1, shape[1] + 1, *shape[2:]) and not t.any()


def test_int32_wraps_as_there() -> None:
    x = np.full((2900, 3000), 255, np.uint8)
    t = ours.integral(x)
    assert t[-1, -1] == x.size * 255 - 2**32  # it did wrap
    same(t, cv2.integral(x), True)
    same(ours.integral2(x, sqdepth=cv2.CV_32S)[1], cv2.integral2(x, sqdepth=cv2.CV_32S)[1], True)


@pytest.mark.sanitize
def test_outputs_are_used_where_they_fit(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (6, 7))
    t = cv2.integral(x)
    fitting = [np.zeros((7, 8), np.int32), np.zeros((7, 16), np.int32)[:, :8], np.zeros((9, 8), np.int32)[2:], np.zeros((7, 8, 1), np.int32)]
    for out in fitting:
        assert ours.integral(x, out) is out and np.array_equal(out.reshape(7, 8), t)
        assert cv2.integral(x, out) is out
    sums, squares, tilted = np.zeros((7, 8), np.int32), np.zeros((7, 8)), np.zeros((7, 8), np.int32)
    got = ours.integral3(x, sums, squares, tilted)
    assert got[0] is sums and got[1] is squares and got[2] is tilted
    for a, b in zip(got, cv2.integral3(x), strict=True):
        same(a, b, True)
    for out in (np.zeros((7, 8)), np.zeros((7, 9), np.int32), np.zeros((8, 8), np.int32), np.zeros((7, 8, 2), np.int32), np.zeros((7, 8), ">i4")):
        before = out.copy()
        made = ours.integral(x, out)
        assert made is not out and np.array_equal(made, t) and np.array_equal(out, before)
    locked = np.zeros((7, 8), np.int32)
    locked.flags.writeable = False
    for out in (locked, np.zeros((7, 16), np.int32)[:, ::2], np.zeros((8, 7), np.int32).T, np.zeros((7, 8), np.int32)[::-1], [1], "sum"):
        with pytest.raises(cv2.error):
            ours.integral(x, out)
        with pytest.raises(cv2.error):
            cv2.integral(x, out)
    dst = np.zeros((6, 7), np.uint8)
    assert ours.boxFilter(x, -1, (3, 3), dst) is dst and np.array_equal(dst, cv2.boxFilter(x, -1, (3, 3)))
    y = x.copy()
    assert ours.boxFilter(y, -1, (3, 3), y) is y and np.array_equal(y, dst)


@pytest.mark.sanitize
def test_sources_of_any_lie(rng: np.random.Generator) -> None:
    wide = image(rng, "uint8", (6, 14, 4))
    plane = wide[:, :, 0].copy()
    locked = plane.copy()
    locked.flags.writeable = False
    for x in (plane[:, ::2], plane[::-1], plane[:, ::-1], plane[::2], plane[1:, 3:9], plane.T, wide[:, :, 1], wide[:, :, :2], wide[:, :, ::-1],
              np.moveaxis(wide, 2, 0).copy().transpose(1, 2, 0), np.broadcast_to(np.uint8(3), (6, 7)), locked, np.ma.array(plane)):
        same(ours.integral(x), cv2.integral(x), True)
        same(ours.boxFilter(x, -1, (5, 3)), cv2.boxFilter(x, -1, (5, 3)), True)


def check_filter(name: str, x: np.ndarray, depth: int, size: tuple[int, int], **more: Any) -> None:
    a, b = getattr(ours, name)(x, depth, size, **more), getattr(cv2, name)(x, depth, size, **more)
    whole = x.dtype.kind in "iu"
    unscaled = {**more, "normalize": False}
    magnitude = np.abs(x.astype(float))
    windows = getattr(cv2, name)(magnitude, cv2.CV_64F, size, **unscaled).max()
    corner = max(windows, (magnitude**2 if name == "sqrBoxFilter" else magnitude).sum())
    if more.get("normalize", True):
        corner /= size[0] * size[1]
    # 8 bits in fixed point, sums and everything of 32-bit sums have OpenCV's bits; rounded floats may fall to the other side of a tie
    same(a, b, whole, corner, 0 if whole else 1)
    if a.dtype.kind in "iu" and not whole:
        assert np.mean(a != b) <= 0.02


@pytest.mark.sanitize
@pytest.mark.parametrize(("name", "src", "depth"), BOX_ROWS + SQUARE_ROWS)
def test_filters_of_every_row(rng: np.random.Generator, name: str, src: str, depth: int) -> None:
    for shape in ((1, 1), (1, 7), (7, 1), (13, 9), (23, 37), (13, 9, 1), (8, 16, 3), (13, 9, 5)):
        x = image(rng, src, shape)
        for size in ((1, 1), (2, 2), (3, 3), (5, 2), (16, 16), (17, 16), (31, 31), (100, 90)):
            border = BORDERS[int(rng.integers(4))]
            normalize = bool(rng.integers(2))
            check_filter(name, x, depth, size, normalize=normalize, borderType=border)


@pytest.mark.parametrize("border", BORDERS + [b | cv2.BORDER_ISOLATED for b in BORDERS])
def test_borders_and_anchors(rng: np.random.Generator, border: int) -> None:
    for shape in ((5, 4), (24, 17), (1, 9), (9, 1), (1, 1)):
        for src in ("uint8", "int16", "float32"):
            x = image(rng, src, shape)
            for width, height in ((3, 3), (4, 7), (9, 30), (1, 3)):
                # of a single line OpenCV takes an anchor outside of the kernel that it has made smaller, and reads what is not there
                anchor = (-1, -1) if 1 in shape else (int(rng.integers(-1, width)), int(rng.integers(-1, height)))
                check_filter("boxFilter", x, -1, (width, height), anchor=anchor, borderType=border)
                if not border & cv2.BORDER_ISOLATED:
                    check_filter("sqrBoxFilter", x, -1, (width, height), anchor=anchor, borderType=border)


def test_every_kernel_in_fixed_point(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (19, 33))
    x[:6] = 254
    kernels = [(w, h) for w in range(1, 257) for h in range(1, 257) if 2 <= w * h <= 256]
    assert len(kernels) == 1465
    for kernel in kernels:
        assert np.array_equal(ours.boxFilter(x, -1, kernel), cv2.boxFilter(x, -1, kernel)), kernel
    white = np.full((3, 19), 255, np.uint8)
    for w, h in kernels:
        assert (ours.boxFilter(white, -1, (w, h)) == 255).all()
        if w * h > 2:  # of two white pixels OpenCV makes 256, and of that 0 where it works on single elements
            assert (cv2.boxFilter(white, -1, (w, h)) == 255).all()


def test_kernels_around_the_ways_of_rounding(rng: np.random.Generator) -> None:
    for size in ((17, 17), (257, 1), (1, 257), (255, 3), (127, 129), (129, 127), (16383, 1), (128, 128), (129, 129), (16385, 1), (18, 15),
                 (300, 300)):
        for x in (image(rng, "uint8", (21, 67)), rng.integers(0, 2, (21, 67), np.uint8), np.full((21, 67), 255, np.uint8)):
            for normalize in (True, False):
                check_filter("boxFilter", x, -1, size, normalize=normalize)


@pytest.mark.sanitize
def test_large_kernels_beyond_32_bits(rng: np.random.Generator) -> None:
    for src, size in (("uint8", (4000, 2200)), ("uint16", (300, 301)), ("uint16", (181, 181)), ("int16", (300, 301)), ("int32", (257, 257))):
        x = image(rng, src, (9, 21))
        for normalize in (True, False):
            if normalize and src == "int32":
                for module in (ours, cv2):
                    with pytest.raises(cv2.error):
                        module.boxFilter(x, -1, size)
                continue
            for depth in (-1, cv2.CV_64F):
                check_filter("boxFilter", x, depth, size, normalize=normalize)
    check_filter("sqrBoxFilter", image(rng, "uint8", (9, 21)), -1, (200, 200))  # squares that wrap
    check_filter("boxFilter", image(rng, "int32", (9, 21)), -1, (2048, 2047), normalize=False)
    with pytest.raises(cv2.error, match="exceed 2\\^53"):
        ours.boxFilter(image(rng, "int32", (9, 21)), -1, (2048, 2049), normalize=False)


def test_values_beyond_the_output(rng: np.random.Generator) -> None:
    values = [-300, -40000, -1e9, -3e9, 300, 70000, 3e9, 40, -1, -0.5, 0.5, 1.5, 254.5, 255.5, 65535.5, 2147483647.5, -2147483648.5, 1e15]
    for src in ("int16", "int32", "float32", "float64"):
        limits = np.iinfo(src) if src.startswith("int") else np.finfo(src)
        x = np.clip(np.array([values * 2 + [7]]), limits.min, limits.max).astype(src)
        for depth in (d for d in ours._BOXES[src] if d < cv2.CV_32F):
            assert np.array_equal(ours.boxFilter(x, depth, (1, 1)), cv2.boxFilter(x, depth, (1, 1))), (src, depth)


def test_whole_images(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (480, 641))
    check_tables(x, cv2.CV_32S, cv2.CV_64F)
    for size in ((31, 31), (15, 15), (3, 3)):
        check_filter("boxFilter", x, -1, size)
        check_filter("sqrBoxFilter", x, -1, size)


def test_large_images_in_strips(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_MOST_AT_ONCE", 30_000)
    for src, shape in (("uint8", (701, 60)), ("int16", (701, 31, 3)), ("float32", (500, 41)), ("uint8", (701, 29, 5))):
        x = image(rng, src, shape)
        for border in BORDERS:
            for width, height in ((1, 1), (3, 3), (9, 12), (17, 16), (5, 40)):
                for anchor in ((-1, -1), (0, 0), (width - 1, height - 1)):
                    check_filter("boxFilter", x, -1, (width, height), anchor=anchor, borderType=border)
                    check_filter("sqrBoxFilter", x, cv2.CV_32F, (width, height), anchor=anchor, borderType=border)
        y, z, corner = x.copy(), x.copy(), np.abs(x.astype(float)).sum() / 25
        same(ours.boxFilter(y, -1, (5, 5), y), ours.boxFilter(x, -1, (5, 5)), "int" in src, corner)
        same(ours.boxFilter(z[:-3], -1, (5, 5), z[3:]), ours.boxFilter(x[:-3], -1, (5, 5)), "int" in src, corner)


def test_blur_is_a_box_filter(rng: np.random.Generator) -> None:
    for src in ("uint8", "uint16", "int16", "float32", "float64"):
        for shape in ((1, 1), (13, 9), (8, 16, 3), (13, 9, 5)):
            x = image(rng, src, shape)
            for size, anchor, border in (((3, 3), (-1, -1), 4), ((7, 2), (0, 1), 0), ((15, 15), (-1, -1), 1), ((4, 5), (3, 0), 2)):
                if shape != (1, 1) or anchor == (-1, -1):
                    same(ours.blur(x, size, anchor=anchor, borderType=border), cv2.blur(x, size, anchor=anchor, borderType=border), "int" in src,
                         np.abs(x.astype(float)).sum())
    x = image(rng, "uint8", (40, 50))
    assert np.array_equal(ours.blur(x, (5, 5)), cv2.blur(x, (5, 5)))


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["erode", "dilate"])
@pytest.mark.parametrize("src", ours._EXTREMES)
def test_erode_and_dilate(rng: np.random.Generator, name: str, src: str) -> None:
    for shape in ((1, 1), (1, 7), (7, 1), (13, 9), (23, 37), (13, 9, 1), (8, 16, 3), (13, 9, 5)):
        x = image(rng, src, shape)
        for width, height in ((1, 1), (2, 2), (3, 3), (5, 2), (1, 9), (9, 1), (16, 17), (31, 31)):
            kernel = np.ones((height, width), np.uint8)
            anchor = int(rng.integers(-1, width)), int(rng.integers(-1, height))
            for border in BORDERS + [cv2.BORDER_REPLICATE | cv2.BORDER_ISOLATED]:
                for iterations in (1, 2):
                    far = iterations * max(width, height) > min(shape[:2])  # see test_windows_that_see_a_reflection_twice of test_filters.py
                    if far and border in (cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101):
                        continue
                    more = {"anchor": anchor, "iterations": iterations, "borderType": border}
                    a, b = getattr(ours, name)(x, kernel, **more), getattr(cv2, name)(x, kernel, **more)
                    assert (a.shape, a.dtype) == (b.shape, b.dtype) and np.array_equal(a, b), (shape, width, height, more)


@pytest.mark.parametrize("name", ["erode", "dilate"])
def test_borders_and_outputs_of_erode_and_dilate(rng: np.random.Generator, name: str) -> None:
    x, y, kernel = image(rng, "uint8", (9, 12)), image(rng, "uint8", (9, 12, 3)), np.ones((3, 5), np.uint8)
    ours_, theirs = getattr(ours, name), getattr(cv2, name)
    for value in (0, 100, 255, 300, -5, 2.5, (7,), (7, 9), (7, 9, 1, 3), [sys.float_info.max] * 4):
        assert np.array_equal(ours_(x, kernel, borderValue=value), theirs(x, kernel, borderValue=value)), value
    for value in ((7, 7, 7), (7, 7, 7, 9), [sys.float_info.max] * 4):
        assert np.array_equal(ours_(y, kernel, borderValue=value), theirs(y, kernel, borderValue=value)), value
    assert np.array_equal(ours_(x, None, None, None, 3), theirs(x, None, None, None, 3))
    assert np.array_equal(ours_(x, kernel, iterations=0), x) and np.array_equal(ours_(x, kernel * 255), theirs(x, kernel))
    for z in (x[:, ::2], x[::-1], x.T, x[1:7, 2:9], np.broadcast_to(x[:1], (5, 12)), y[:, :, 1], y[:, :, ::-1]):
        assert np.array_equal(ours_(z, kernel), theirs(z, kernel))
    expected, dst = theirs(x, kernel), np.zeros_like(x)
    assert ours_(x, kernel, dst) is dst and np.array_equal(dst, expected)
    z = x.copy()
    assert ours_(z, kernel, z) is z and np.array_equal(z, expected)
    strided = np.zeros((9, 30), np.uint8)
    assert np.array_equal(ours_(x, kernel, strided[:, 3:15]), expected) and np.array_equal(strided[:, 3:15], expected) and not strided[:, 15:].any()


@pytest.mark.sanitize
@pytest.mark.parametrize("inverted", [False, True])
def test_adaptive_thresholds(rng: np.random.Generator, inverted: bool) -> None:
    kind = cv2.THRESH_BINARY_INV if inverted else cv2.THRESH_BINARY
    for shape in ((1, 1), (1, 9), (9, 1), (13, 17), (60, 83), (20, 15, 1)):
        dark = (image(rng, "uint8", shape) % 4).astype(np.uint8)
        for x in (image(rng, "uint8", shape), dark, dark + 252, np.full(shape, 255, np.uint8)):
            for size in (3, 5, 15, 17, 31, 127, 129, 255):
                for c in (0, 2, -3, 0.5, -0.5, 7.25, 300, -300):
                    a, b = (module.adaptiveThreshold(x, 255, 0, kind, size, c) for module in (ours, cv2))
                    assert a.shape == b.shape and np.array_equal(a, b), (shape, size, c)
    x = image(rng, "uint8", (20, 30))
    for most in (1, 254.5, 255.5, 1000, 0, -1, -0.25):
        assert np.array_equal(ours.adaptiveThreshold(x, most, 0, kind, 5, 1), cv2.adaptiveThreshold(x, most, 0, kind, 5, 1)), most
    expected, y = cv2.adaptiveThreshold(x, 255, 0, kind, 5, 1), x.copy()
    assert ours.adaptiveThreshold(y, 255, 0, kind, 5, 1, y) is y and np.array_equal(y, expected)


def test_adaptive_thresholds_at_every_size(rng: np.random.Generator) -> None:
    """The rounded mean decides: pixels beside it are the hard ones."""
    for size in range(3, 145, 2):
        x = (127 + rng.integers(0, 3, (40, 50))).astype(np.uint8)
        assert np.array_equal(ours.adaptiveThreshold(x, 255, 0, 0, size, 0), cv2.adaptiveThreshold(x, 255, 0, 0, size, 0)), size


def level_of_niblack(x: np.ndarray, size: int, k: float, method: int, r: float) -> np.ndarray:
    """OpenCV's formulas in longdouble, from windows of a padded image."""
    cells = np.lib.stride_tricks.sliding_window_view(np.pad(x, size // 2, "edge").astype(np.longdouble), (size, size))
    mean, squares = cells.mean((2, 3)), (cells**2).mean((2, 3))
    deviation = np.sqrt(((cells - mean[:, :, None, None]) ** 2).mean((2, 3)))
    if method == ours.ximgproc.BINARIZATION_NIBLACK:
        return mean + k * deviation
    if method == ours.ximgproc.BINARIZATION_SAUVOLA:
        return mean * (1 + k * (deviation / r - 1))
    if method == ours.ximgproc.BINARIZATION_WOLF:
        return mean - k * (mean - x.min()) * (1 - deviation / deviation.max())
    return mean + k * np.sqrt(deviation**2 + squares)


@pytest.mark.parametrize("method", range(4))
@pytest.mark.parametrize("src", ["uint8", "uint16", "int16", "float32"])
def test_niblack_thresholds(rng: np.random.Generator, method: int, src: str) -> None:
    """Against a model of NumPy; and against opencv-contrib, where it is installed."""
    if method == ours.ximgproc.BINARIZATION_SAUVOLA and src != "uint8":
        for module in (ours, cv2):
            if hasattr(module, "ximgproc"):
                with pytest.raises(cv2.error):
                    module.ximgproc.niBlackThreshold(np.ones((3, 4), src), 255, 0, 3, 0.2, None, method)
        return
    differ = pixels = 0
    for shape in ((13, 9), (40, 67)):
        x = image(rng, src, shape)
        for size in (3, 15, 31):
            for k in (-0.2, 0.5, -2.0):
                level = level_of_niblack(x, size, k, method, 100)
                if x.dtype.kind != "f":
                    level = np.clip(np.rint(level), np.iinfo(src).min, np.iinfo(src).max)
                for kind, high in ((0, 255), (1, 200.4)):
                    a = ours.ximgproc.niBlackThreshold(x, high, kind, size, k, None, method, 100)
                    assert a.dtype == x.dtype and a.shape == x.shape
                    most = np.float32(high) if x.dtype.kind == "f" else round(high)
                    expected = np.where((x > level) != (kind == 1), most, 0)
                    assert np.mean(a != expected) <= 1e-4 or src == "float32" and np.mean(a != expected) <= 2e-3
                    if hasattr(cv2, "ximgproc"):
                        b = cv2.ximgproc.niBlackThreshold(x, high, kind, size, k, None, method, 100)
                        assert b.dtype == a.dtype
                        differ, pixels = differ + int((a != b).sum()), pixels + a.size
    assert differ <= 1e-4 * pixels, (differ, pixels)
    dst = np.zeros_like(x)
    assert ours.ximgproc.niBlackThreshold(x, 255, 0, 5, 0.1, dst) is dst


BLURS = [((3, 3), 0.8), ((5, 5), 1.2), ((0, 0), 1.5), ((9, 3), 2), ((3, 3), 0), ((13, 11), 0), ((1, 5), 1), ((7, 1), 3), ((31, 31), 5), ((1, 1), 4)]


def near_blur(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    """OpenCV rounds the weights of uint8 to 2^-8, of uint16 to 2^-16."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    most = {"uint8": 2, "uint16": 3, "int16": 1, "float32": 1e-5, "float64": 1e-12}[x.dtype.name]
    assert np.all(np.abs(a.astype(float) - b.astype(float)) <= most * (np.abs(x).max() if x.dtype.kind == "f" else 1))


@pytest.mark.sanitize
@pytest.mark.parametrize("src", ours._EXTREMES)
def test_gaussian_blurs(rng: np.random.Generator, src: str) -> None:
    for shape in SHAPES:
        x = image(rng, src, shape)
        for border in BORDERS:
            for size, sigma in BLURS:
                near_blur(ours.GaussianBlur(x, size, sigma, borderType=border), cv2.GaussianBlur(x, size, sigma, borderType=border), x)
        near_blur(ours.GaussianBlur(x, (0, 0), 2, None, 0.7), cv2.GaussianBlur(x, (0, 0), 2, None, 0.7), x)
        near_blur(ours.GaussianBlur(x, (9, 7), 2, sigmaY=1.1), cv2.GaussianBlur(x, (9, 7), 2, sigmaY=1.1), x)
        if x.size > 40:  # the comparison can fail
            y = x.copy()
            y.flat[17] = y.flat[17] // 2 if x.dtype.kind != "f" else y.flat[17] + 1
            with pytest.raises(AssertionError):
                near_blur(ours.GaussianBlur(y, (3, 3), 0.3), cv2.GaussianBlur(x, (3, 3), 0.3) + x.dtype.type(4 if x.dtype.kind != "f" else 0), x)
    dst = np.zeros_like(x)
    assert ours.GaussianBlur(x, (3, 3), 1, dst) is dst
    assert ours.GaussianBlur(x, (3, 3), 1, x) is x


def guided_by_model(guide: np.ndarray, p: np.ndarray, radius: int, eps: float) -> np.ndarray:
    """He's equations in longdouble, of windows of padded images; p has one channel."""
    def mean(x: np.ndarray) -> np.ndarray:
        size = 2 * radius + 1
        return np.lib.stride_tricks.sliding_window_view(np.pad(x, radius, "symmetric"), (size, size)).mean((2, 3))

    p = p.astype(np.longdouble)
    channels = [c.astype(np.longdouble) for c in np.moveaxis(np.atleast_3d(guide), 2, 0)]
    means, n = [mean(c) for c in channels], len(channels)
    matrix = np.empty((*p.shape, n, n))
    right = np.empty((*p.shape, n, 1))
    for i in range(n):
        right[..., i, 0] = mean(channels[i] * p) - means[i] * mean(p)
        for j in range(n):
            matrix[..., i, j] = mean(channels[i] * channels[j]) - means[i] * means[j] + (eps if i == j else 0)
    a = np.linalg.solve(matrix, right)[..., 0]
    b = mean(p) - sum(a[..., i] * means[i] for i in range(n))
    return sum(mean(a[..., i]) * channels[i] for i in range(n)) + mean(b)


@pytest.mark.parametrize("src", ours._GUIDED)
@pytest.mark.parametrize("by", ours._GUIDED)
def test_guided_filters(rng: np.random.Generator, src: str, by: str) -> None:
    """Against a model of NumPy; and against opencv-contrib, where it is installed."""
    def pixels(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        x = image(rng, dtype, shape)
        return x if x.dtype.kind != "f" else np.abs(x)

    for shape in ((13, 9), (40, 67), (21, 30, 3)):
        for guide_shape in (shape[:2], (*shape[:2], 3)):
            x, guide = pixels(src, shape), pixels(by, guide_shape)
            span, of_guide = float(x.max()), float(guide.max())
            for radius, noise in ((1, 1e-2), (4, 1e-3), (13, 1e-1)):
                eps = noise * of_guide**2
                for depth in (-1, cv2.CV_32F):
                    a = ours.ximgproc.guidedFilter(guide, x, radius, eps, dDepth=depth)
                    assert a.shape == x.shape and a.dtype == (np.float32 if depth == cv2.CV_32F else x.dtype)
                    whole = 0.501 if a.dtype.kind != "f" else 0
                    for channel in range(x.shape[2] if x.ndim == 3 else 1):
                        model = guided_by_model(guide, np.atleast_3d(x)[..., channel], radius, eps)
                        if whole:
                            model = np.clip(model, 0, np.iinfo(src).max)
                        assert np.abs(np.atleast_3d(a)[..., channel] - model).max() <= 1e-6 * span + whole
                        wrong = model + 2 * whole + 1e-5 * span
                        assert np.abs(np.atleast_3d(a)[..., channel] - wrong).max() > 1e-6 * span + whole  # it can fail
                    if hasattr(cv2, "ximgproc"):
                        b = cv2.ximgproc.guidedFilter(guide, x, radius, eps, dDepth=depth)
                        assert b.dtype == a.dtype
                        assert np.abs(a.astype(float) - b).max() <= 1e-2 * span / 255 + (1 if whole else 0)
    dst = np.zeros_like(x)
    assert ours.ximgproc.guidedFilter(guide, x, 2, 1.0, dst) is dst


BLURRED = [
    lambda m, x: m.GaussianBlur(x, (4, 3), 1),
    lambda m, x: m.GaussianBlur(x, (0, 0), 0),
    lambda m, x: m.GaussianBlur(x.astype(np.int32), (3, 3), 1),
    lambda m, x: m.GaussianBlur(x[:0], (3, 3), 1),
    lambda m, x: m.GaussianBlur(x, 3, 1),
    lambda m, x: m.GaussianBlur(x, (3, 3), "1"),
]


@pytest.mark.parametrize("number", range(len(BLURRED)))
def test_what_both_refuse_of_gaussians(number: int) -> None:
    for module in (cv2, ours):
        with pytest.raises(cv2.error):
            BLURRED[number](module, np.ones((4, 5), np.uint8))


def test_what_opencv_takes_of_gaussians_and_guided_filters_and_we_refuse() -> None:
    x = np.ones((4, 5), np.uint8)
    for call, words in [(lambda: ours.GaussianBlur(x, (5, 5), 0), "ksize 5 with sigma 0: OpenCV has weights for it that are no Gaussian's; give a sigma"),
                        (lambda: ours.GaussianBlur(x, (3, 3), 1, borderType=cv2.BORDER_WRAP), "borderType 3: it may be CONSTANT"),
                        (lambda: ours.ximgproc.guidedFilter(x, x, 1, 1.0, scale=0.5), "scale 0.5: only 1 is supported"),
                        (lambda: ours.ximgproc.guidedFilter(np.ones((4, 5, 2), np.uint8), x, 1, 1.0), "guide has 2 channels: it may have 1 or 3"),
                        (lambda: ours.ximgproc.guidedFilter(x[:2], x, 1, 1.0), "guide of 5x2: it must have src's size, 5x4"),
                        (lambda: ours.ximgproc.guidedFilter(x, x, 1, 0.0), "eps 0.0: it must be above 0"),
                        (lambda: ours.ximgproc.guidedFilter(x, x, 1, 1.0, dDepth=2), "dDepth 2 with src of uint8: it may be -1, 0 or 5"),
                        (lambda: ours.ximgproc.guidedFilter(x, x.astype(np.int16), 1, 1.0), "src of int16: it may be uint8, float32")]:
        with pytest.raises(cv2.error) as caught:
            call()
        assert words in str(caught.value)


THRESHOLDED = [
    lambda m, x: m.adaptiveThreshold(x.astype(np.uint16), 255, 0, 0, 3, 0),
    lambda m, x: m.adaptiveThreshold(np.ones((4, 5, 3), np.uint8), 255, 0, 0, 3, 0),
    lambda m, x: m.adaptiveThreshold(x, 255, 0, 0, 4, 0),
    lambda m, x: m.adaptiveThreshold(x, 255, 0, 0, 1, 0),
    lambda m, x: m.adaptiveThreshold(x, 255, 2, 0, 3, 0),
    lambda m, x: m.adaptiveThreshold(x, 255, 0, 2, 3, 0),
    lambda m, x: m.adaptiveThreshold(x, "255", 0, 0, 3, 0),
    lambda m, x: m.erode(x.astype(np.int32), np.ones((3, 3), np.uint8)),
    lambda m, x: m.erode(x, [[1, 1], [1, 1]]),
    lambda m, x: m.erode(x, np.ones((3, 3), np.uint8), anchor=(3, 0)),
    lambda m, x: m.erode(x, np.ones((3, 3), np.uint8), anchor=(-2, 0)),
    lambda m, x: m.erode(x, np.ones((3, 3), np.uint8), iterations=1.5),
    lambda m, x: m.dilate(x, np.ones((3, 3), np.uint8), borderType=m_border_wrap),
    lambda m, x: m.dilate(x[:0], np.ones((3, 3), np.uint8)),
    lambda m, x: m.dilate(x, np.ones((3, 3), np.uint8), borderValue="0"),
    lambda m, x: m.blur(x, (0, 3)),
]


@pytest.mark.parametrize("number", range(len(THRESHOLDED)))
def test_what_both_refuse_of_thresholds_and_extremes(number: int) -> None:
    x = np.ones((4, 5), np.uint8)
    for module in (cv2, ours):
        with pytest.raises(cv2.error):
            THRESHOLDED[number](module, x)


def test_what_opencv_takes_of_thresholds_and_extremes_and_we_refuse() -> None:
    x, ones = np.ones((4, 5), np.uint8), np.ones((3, 3), np.uint8)
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    for call, words in ((lambda: ours.adaptiveThreshold(x, 255, 1, 0, 3, 0), "only ADAPTIVE_THRESH_MEAN_C"), (lambda: ours.erode(x, cross), "rectangles of ones"),
                        (lambda: ours.dilate(x, cross), "rectangles of ones"), (lambda: ours.erode(np.ones((4, 5, 3), np.uint8), ones, borderValue=7), "equal values"),
                        (lambda: ours.ximgproc.niBlackThreshold(x, 255, 2, 3, 0.2), "type 2: it may be THRESH_BINARY"),
                        (lambda: ours.ximgproc.niBlackThreshold(x, 255, 0, 4, 0.2), "blockSize 4"),
                        (lambda: ours.ximgproc.niBlackThreshold(x, 255, 0, 3, 0.2, None, 4), "binarizationMethod 4"),
                        (lambda: ours.ximgproc.niBlackThreshold(x, 255, 0, 3, 0.2, None, 1, 0), "r 0.0")):
        with pytest.raises(cv2.error, match=words) as caught:
            call()
        assert str(caught.value).count("\n") == 0


REFUSED = [
    lambda m, x: m.integral([[1, 2], [3, 4]]),
    lambda m, x: m.integral(np.uint8(3)),
    lambda m, x: m.integral(x, sdepth=6.0),
    lambda m, x: m.integral(x, sdepth=True),
    lambda m, x: m.integral(x, sdepth="6"),
    lambda m, x: m.integral(np.zeros((3, 4, 0), np.uint8)),
    lambda m, x: m.boxFilter(x, -1, (0, 3)),
    lambda m, x: m.boxFilter(x, -1, (3, -1)),
    lambda m, x: m.boxFilter(x, -1, 3),
    lambda m, x: m.boxFilter(x, -1, (3, 3, 3)),
    lambda m, x: m.boxFilter(x, -1, (3.0, 3)),
    lambda m, x: m.boxFilter(x, 1.5, (3, 3)),
    lambda m, x: m.boxFilter(x, True, (3, 3)),
    lambda m, x: m.boxFilter(x, -1, (3, 3), anchor=(3, 0)),
    lambda m, x: m.boxFilter(x, -1, (3, 3), anchor=(0.5, 0)),
    lambda m, x: m.boxFilter(x, -1, (3, 3), normalize="yes"),
    lambda m, x: m.boxFilter(x, -1, (3, 3), normalize=2.5),
    lambda m, x: m.boxFilter(x, -1, (3, 3), borderType=4.0),
    lambda m, x: m.boxFilter(x, -1, (3, 3), borderType=m_border_wrap),
    lambda m, x: m.boxFilter(x, -1, (3, 3), borderType=5),
    lambda m, x: m.boxFilter(x[:0], -1, (3, 3)),
    lambda m, x: m.sqrBoxFilter(x, -1, (3, 3), borderType=4 | 16),
    lambda m, x: m.sqrBoxFilter(x.astype(np.int32), -1, (3, 3)),
]
m_border_wrap = 3


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_both_refuse(number: int) -> None:
    x = np.ones((4, 5), np.uint8)
    for module in (cv2, ours):
        with pytest.raises(cv2.error):
            REFUSED[number](module, x)


def test_what_opencv_takes_and_we_refuse() -> None:
    for src in (np.zeros(5, np.uint8), np.zeros((2, 3, 4, 2), np.uint8), np.uint8(3), None, np.zeros((2, 3, 129), np.uint8)):
        for call in (lambda s: ours.integral(s), lambda s: ours.integral3(s), lambda s: ours.boxFilter(s, -1, (3, 3))):
            with pytest.raises(cv2.error) as caught:
                call(src)
            assert caught.type is not cv2.error and isinstance(caught.value, areal.InvalidArgument)
            assert str(caught.value).count("\n") == 0


def test_the_error_is_cv2s() -> None:
    assert ours.error is cv2.error
    with pytest.raises(ours.error, match="integral: src has 1 dimension: ") as caught:
        ours.integral(np.zeros(5, np.uint8))
    e = caught.value
    assert isinstance(e, ValueError) and (e.code, e.func) == (-5, "integral") and e.msg == str(e)
    again = pickle.loads(pickle.dumps(e))
    assert isinstance(again, cv2.error) and str(again) == str(e)
    with pytest.raises(AttributeError):
        ours.imread


def test_the_error_before_and_after_the_import_of_cv2() -> None:
    script = """
import sys
import numpy as np
import areal.cv2
from areal.cv2 import error as early
assert "cv2" not in sys.modules
try:
    areal.cv2.integral(None)
except early as e:
    assert type(e) is early is areal.cv2.error and isinstance(e, areal.InvalidArgument)
else:
    raise SystemExit("nothing was raised")
import cv2
assert areal.cv2.error is cv2.error is not early
for known in (early, cv2.error, areal.cv2.error, areal.Error):
    try:
        areal.cv2.boxFilter(np.zeros((3, 4), bool), -1, (3, 3))
    except known:
        continue
    raise SystemExit("nothing was raised")
print("done")
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "done\n", ran.stderr


def test_in_the_place_of_cv2() -> None:
    script = """
import sys
import areal.cv2
sys.modules["cv2"] = areal.cv2
import cv2
try:
    cv2.integral(None)
except cv2.error as e:
    print(e)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "integral: src is a NoneType: it must be a NumPy array\n", ran.stderr


def test_constants_are_opencvs() -> None:
    names = [name for name in ours.__all__ if name.isupper() or name.startswith("CV_")]
    assert len(names) == 23
    for name in names:
        assert getattr(ours, name) == getattr(cv2, name), name


def test_positions_and_names_of_arguments(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (6, 7))
    calls = [lambda m: m.integral(x, None, cv2.CV_64F), lambda m: m.integral(src=x, sum=None, sdepth=cv2.CV_32F),
             lambda m: m.integral2(x, None, None, cv2.CV_32F, cv2.CV_64F)[0], lambda m: m.integral3(x, None, None, None, cv2.CV_64F, cv2.CV_64F)[2],
             lambda m: m.boxFilter(x, cv2.CV_32S, (3, 2), None, (0, 1), False, cv2.BORDER_REPLICATE),
             lambda m: m.boxFilter(src=x, ddepth=-1, ksize=[3, 3], dst=None, anchor=[1, 1], normalize=0, borderType=2),
             lambda m: m.sqrBoxFilter(x, -1, (np.int64(3), 3), None, (-1, 0), 1, cv2.BORDER_CONSTANT)]
    for call in calls:
        same(call(ours), call(cv2), True, 255.0**2)


def test_threads_share_plans_and_scratch_memory(rng: np.random.Generator) -> None:
    images = [image(rng, "uint8", (200 + 40 * i, 333)) for i in range(4)]
    expected = [(ours.integral(x), ours.boxFilter(x, -1, (31, 31)), ours.sqrBoxFilter(x, -1, (5, 5))) for x in images]

    def work(number: int) -> bool:
        x, truth = images[number % 4], expected[number % 4]
        got = ours.integral(x), ours.boxFilter(x, -1, (31, 31)), ours.sqrBoxFilter(x, -1, (5, 5))
        return all(np.array_equal(a, b) for a, b in zip(got, truth, strict=True))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_filters(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (1080, 1920))
    truth = zlib.crc32(ours.boxFilter(x, -1, (31, 31)).tobytes() + ours.integral(x).tobytes())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = zlib.crc32(ours.boxFilter(x, -1, (31, 31)).tobytes() + ours.integral(x).tobytes())
        os.write(writing, answer.to_bytes(4, "little"))
        os._exit(0)
    os.close(writing)
    assert select.select([reading], [], [], 60)[0], "the child hangs"
    assert int.from_bytes(os.read(reading, 4), "little") == truth
    assert os.waitpid(child, 0)[1] == 0
    os.close(reading)


def test_calls_leave_nothing_behind(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (60, 50))
    wrong = np.zeros((3, 4, 2), np.float16)

    def calls(n: int) -> None:
        for _ in range(n):
            ours.integral3(x)
            ours.boxFilter(x, -1, (5, 5))
            with contextlib.suppress(cv2.error):
                ours.integral(wrong)
            with contextlib.suppress(cv2.error):
                ours.boxFilter(x, -1, (5, 5), anchor=(9, 9))

    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    calls(500)
    before, counts = resident(), (sys.getrefcount(x), sys.getrefcount(wrong))
    calls(5000)
    assert resident() - before <= 1 << 20
    assert (sys.getrefcount(x), sys.getrefcount(wrong)) == counts


def test_scratch_memory_is_bounded() -> None:
    """Of all the images that were filtered, at most 64 MiB stay."""
    script = """
import pathlib, os
import numpy as np
from areal import cv2

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = np.full((4500, 4096), 7, np.uint8)
dst = np.full_like(x, 1)
cv2.boxFilter(x[:8], -1, (31, 31), dst[:8])
before = resident()
for rows in range(4500, 500, -250):
    cv2.boxFilter(x[:rows], -1, (31, 31), dst[:rows])
print(resident() - before)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) <= 72 << 20
