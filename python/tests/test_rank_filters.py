"""Medians, percentiles and statistics of levels of areal.skimage.rank, areal.cv2 and areal.ndimage beside the originals."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import areal
from areal import cv2 as our_cv2
from areal import ndimage, skimage


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    seed = zlib.crc32(request.node.name.encode())
    print(f"seed {seed}")  # noqa: T201: pytest shows it where a test fails
    return np.random.default_rng(seed)


def image(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels of the dtype's whole range, those of 64 bits within 2^53, which SciPy's doubles hold."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.4
    if kind == "f":
        return (rng.standard_normal(shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -(2**52)), min(limits.max, 2**52), shape, dtype, endpoint=True)


def of_levels(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> np.ndarray:
    """Of few levels or of many, with 0 or without."""
    most = int(rng.choice([1, 4, 40, 255] if dtype == "uint8" else [2, 40, 900]))
    return rng.integers(int(rng.choice([0, most // 2])), most + 1, shape).astype(dtype)


RANKS: tuple[tuple[str, dict[str, Any]], ...] = (("median", {}), ("percentile", {"p0": 0.3}), ("percentile", {"p0": 1}), ("percentile", {"p0": 0}), ("percentile", {"p0": 0.29}),
                                                 ("equalize", {}), ("otsu", {}), ("entropy", {}), ("modal", {}))


@pytest.mark.sanitize
@pytest.mark.filterwarnings("ignore:Bad rank filter performance")
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("which", range(len(RANKS)))
def test_ranks_of_skimage(rng: np.random.Generator, which: int, dtype: str) -> None:
    peer = pytest.importorskip("skimage.filters", reason="scikit-image is not installed").rank
    name, own = RANKS[which]
    theirs, mine = getattr(peer, name), getattr(skimage.rank, name)
    for shape in ((1, 1), (1, 9), (9, 1), (13, 17), (30, 41)):
        for extents in ((1, 1), (3, 3), (2, 2), (5, 8), (15, 15), (1, 9), (31, 30)):
            x = of_levels(rng, dtype, shape)
            ones = np.ones(extents, np.uint8)
            shift_y, shift_x = (int(rng.integers(-(extent // 2), extent - extent // 2)) for extent in extents)
            for mask in (None, (rng.random(shape) < 0.3).astype(np.uint8)):
                for more in ({}, {"shift_x": shift_x, "shift_y": shift_y}):
                    a, b = mine(x, ones, mask=mask, **more, **own), theirs(x, ones, mask=mask, **more, **own)
                    assert a.dtype == b.dtype and a.shape == b.shape
                    assert np.abs(a - b).max(initial=0) < 1e-12 if name == "entropy" else np.array_equal(a, b), (shape, extents, mask is None, more)
    out = np.zeros(x.shape, a.dtype)
    assert mine(x, np.ones((3, 3)), out, **own) is out and np.array_equal(out, mine(x, np.ones((3, 3)), **own))


@pytest.mark.filterwarnings("ignore:Bad rank filter performance")
def test_every_share_of_percentiles_of_skimage(rng: np.random.Generator) -> None:
    """Shares whose products with n are nearly whole, which two multiplications round apart."""
    peer = pytest.importorskip("skimage.filters", reason="scikit-image is not installed").rank
    x = rng.integers(0, 256, (24, 27), np.uint8)
    for share in (*(k / 100 for k in range(101)), *(k / 7 for k in range(8)), *rng.random(20)):
        ones = np.ones(rng.integers(1, 21, 2), np.uint8)
        assert np.array_equal(skimage.rank.percentile(x, ones, p0=share), peer.percentile(x, ones, p0=share)), (share, ones.shape)
    made, most = np.zeros(3, np.uint8), 10
    skimage._at_their_ranks(made, 0.5, most, lambda: np.array([4, 5, 6]), lambda q: made + 1)
    assert not made.any()  # none of these products rounds


def test_footprints_and_what_skimage_ranks_refuse() -> None:
    x, ones = np.arange(42, dtype=np.uint8).reshape(6, 7), np.ones((3, 3))
    assert np.array_equal(skimage.rank.median(x), skimage.rank.median(x, ones))
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    for name in ("median", "percentile", "equalize", "otsu", "entropy", "modal"):
        call = getattr(skimage.rank, name)
        for arguments, more, words in (((x, cross), {}, "rectangles of ones"), ((x.astype(float), ones), {}, "image: "), ((x, ones), {"shift_x": 2}, "shift_x 2"),
                                       ((x, ones, x), {}, "out: "), ((x, ones), {"mask": np.ones((7, 6))}, "mask of shape")):
            with pytest.raises(areal.InvalidArgument, match=words) as caught:
                call(*arguments, **more)
            assert str(caught.value).count("\n") == 0
    for wrong in (-0.1, 1.1, np.nan, "0.5"):
        with pytest.raises(areal.InvalidArgument, match="p0"):
            skimage.rank.percentile(x, ones, p0=wrong)
    with pytest.raises(areal.InvalidArgument, match="of float64"):
        skimage.rank.entropy(x, ones, np.zeros_like(x))


@pytest.mark.sanitize
@pytest.mark.parametrize("src", ["uint8", "uint16", "int16", "float32"])
def test_medians_of_opencv(rng: np.random.Generator, src: str) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    for shape in ((1, 1), (1, 7), (7, 1), (13, 9), (40, 67), (13, 9, 1), (8, 16, 3), (13, 9, 4), (13, 9, 5)):
        x = image(rng, src, shape)
        for size in (1, 3, 5, *((7, 9, 15, 31, 101) if src == "uint8" and len(shape) < 3 or shape[2:] in ((1,), (3,), (4,)) and src == "uint8" else ())):
            a, b = our_cv2.medianBlur(x, size), cv2.medianBlur(x, size)
            assert (a.shape, a.dtype) == (b.shape, b.dtype) and np.array_equal(a, b), (shape, size)
        for size in (7, 31):
            peer = np.stack([areal.filters.median(np.pad(plane, size // 2, "edge"), size, edge="valid") for plane in np.moveaxis(x.reshape(*x.shape[:2], -1), 2, 0)], 2)
            assert np.array_equal(our_cv2.medianBlur(x, size).reshape(peer.shape), peer)


def test_outputs_and_sources_of_opencv_medians(rng: np.random.Generator) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    x, y = image(rng, "uint8", (19, 12)), image(rng, "uint8", (9, 12, 3))
    for z in (x[:, ::2], x[::-1], x.T, x[1:7, 2:9], np.broadcast_to(x[:1], (5, 12)), y[:, :, 1], y[:, :, ::-1]):
        for size in (3, 7):
            assert np.array_equal(our_cv2.medianBlur(z, size), cv2.medianBlur(np.ascontiguousarray(z), size))
    expected, dst = cv2.medianBlur(x, 5), np.zeros_like(x)
    assert our_cv2.medianBlur(x, 5, dst) is dst and np.array_equal(dst, expected)
    assert our_cv2.medianBlur(x, 5, dst[:3]) is not dst
    z = x.copy()
    assert our_cv2.medianBlur(z, 5, z) is z and np.array_equal(z, expected)
    assert np.array_equal(our_cv2.medianBlur(x[:2, :2], 4001), cv2.medianBlur(x[:2, :2], 31))
    spoilt = np.ones((9, 9), np.float32)
    spoilt[4, 4] = np.nan
    assert np.isnan(our_cv2.medianBlur(spoilt, 3)).sum() == 9
    for call in (lambda m: m.medianBlur(x, 4), lambda m: m.medianBlur(x, 0), lambda m: m.medianBlur(x, -1), lambda m: m.medianBlur(x[:0], 3), lambda m: m.medianBlur(x.astype(np.float64), 3),
                 lambda m: m.medianBlur(x, 3.0), lambda m: m.medianBlur([[1, 2]], 3)):
        for module in (cv2, our_cv2):
            with pytest.raises(cv2.error):
                call(module)


def beside_scipy(name: str, x: np.ndarray, *arguments: Any, **more: Any) -> None:
    scipy = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")
    a, b = getattr(ndimage, name)(x, *arguments, **more), getattr(scipy, name)(x, *arguments, **more)
    assert (a.shape, a.dtype) == (b.shape, b.dtype) and np.array_equal(a, b), (name, x.dtype, x.shape, arguments, more)


@pytest.mark.sanitize
@pytest.mark.parametrize("dtype", ndimage._TAKEN)
def test_medians_and_percentiles_of_scipy(rng: np.random.Generator, dtype: str) -> None:
    for shape in ((1, 1), (7,), (1, 9), (9, 1), (13, 17), (3, 11, 12)):
        x = image(rng, dtype, shape)
        for size in (1, 2, 3, 5, 8):
            for mode in ndimage._EDGES:
                whole = size if len(shape) < 3 else (1, size, size)
                more = {"size": whole, "mode": mode, "cval": 1 if dtype == "bool" else 3}
                if len(shape) == 1 and size > shape[0]:
                    continue  # SciPy's rank filter of one dimension differs from its own of two there
                beside_scipy("median_filter", x, **more)
                for q in (0, 10, 37.5, 90, 100, -25):
                    beside_scipy("percentile_filter", x, q, **more)


@given(st.data())
@settings(max_examples=150)
def test_origins_and_axes_of_scipy(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=2, max_size=4)))
    x = image(rng, data.draw(st.sampled_from(ndimage._TAKEN)), shape)
    axes = data.draw(st.permutations(range(len(shape))))[:2]
    axes = tuple(axis - len(shape) * int(rng.integers(2)) for axis in axes)
    sizes = rng.integers(1, 7, 2).tolist()  # in the order of axes, as SciPy has it
    own = dict(zip(sorted(axis % len(shape) for axis in axes), sizes, strict=True))
    paired = sizes if len(shape) == 2 else [own[axis % len(shape)] for axis in axes]  # of all axes it has origins in that order, too
    origins = [int(rng.integers(-(size // 2), size - size // 2)) for size in paired]
    more = {"origin": origins, "mode": str(rng.choice(list(ndimage._EDGES))), "axes": axes, "cval": 1}
    q = float(rng.choice([0, 100, 50, -10, rng.random() * 100]))
    beside_scipy("median_filter", x, size=sizes, **more)
    beside_scipy("percentile_filter", x, q, size=sizes, **more)
    beside_scipy("percentile_filter", x, q, footprint=np.ones(sizes), **more)


def test_every_rank_of_scipy(rng: np.random.Generator) -> None:
    """Percentiles whose product with the size is nearly whole."""
    x = rng.integers(0, 2**16, (9, 11), np.uint16)
    for q in (*range(101), 28.999999999999996, 100 / 3, 99.99999999999999, *(rng.random(30) * 100)):
        size = tuple(rng.integers(1, 12, 2).tolist())
        beside_scipy("percentile_filter", x, q, size=size)
        beside_scipy("percentile_filter", x, q, size=(10, 10))


def test_outputs_and_far_windows_of_scipy(rng: np.random.Generator) -> None:
    x = image(rng, "uint8", (13, 17))
    beside_scipy("median_filter", x, 5, output=np.float64)
    beside_scipy("median_filter", x, (3, 6), origin=(1, -2))
    out, same = np.zeros_like(x), x.copy()
    assert ndimage.median_filter(x, 3, output=out) is out and np.array_equal(out, ndimage.median_filter(x, 3))
    assert np.array_equal(ndimage.median_filter(same, 3, output=same), out)
    small = x[:3, :4]
    for mode, padding in (("reflect", "symmetric"), ("mirror", "reflect"), ("nearest", "edge"), ("wrap", "wrap"), ("constant", "constant")):  # SciPy's differ there
        padded = np.pad(small, ((0, 0), (1250, 1250)), padding)
        expected = np.stack([np.sort(padded[:, at : at + 2501])[:, 1250] for at in range(4)], 1)
        assert np.array_equal(ndimage.median_filter(small, (1, 2501), mode=mode), expected), mode
    spoilt = np.ones((9, 9))
    spoilt[4, 4] = np.nan
    assert np.isnan(ndimage.median_filter(spoilt, 3)).sum() == 9
    assert ndimage.median_filter(np.zeros((0, 4)), 3).shape == (0, 4)


def test_what_ranks_of_scipy_refuse() -> None:
    x = np.ones((4, 5, 6), np.uint8)
    for more, words in (({"size": 3}, "along 2 axes"), ({"size": 0}, "size 0"), ({}, "size and footprint"), ({"footprint": np.zeros((3, 3, 3))}, "footprint: only those of ones"),
                        ({"size": (1, 3, 3), "mode": ["reflect", "wrap", "wrap"]}, "it must be one for all axes"), ({"size": (1, 3, 3), "origin": 2}, "origin 2"),
                        ({"size": (1, 3, 3), "cval": 0.5}, "cval 0.5")):
        with pytest.raises(areal.InvalidArgument, match=words) as caught:
            ndimage.median_filter(x, **more)
        assert str(caught.value).count("\n") == 0
    for q in (101, -101, np.nan, "50"):
        with pytest.raises(areal.InvalidArgument, match="percentile "):
            ndimage.percentile_filter(x[0], q, 3)
