"""Template matching of areal.filters against sums in exact fractions, and the drop-ins against OpenCV and scikit-image."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import areal
from areal import cv2 as ours_cv2
from areal import filters
from areal import skimage as ours_skimage

cv2 = pytest.importorskip("cv2")
feature = pytest.importorskip("skimage.feature")

METHODS = ("sqdiff", "sqdiff-normed", "ccorr", "ccorr-normed", "ccoeff", "ccoeff-normed")


def expected(method: str, window: Any, template: Any) -> float:
    """A score from H x W x C arrays: exact up to the square root and the quotient."""
    i = [[Fraction(v.item()) for v in window[..., c].ravel()] for c in range(window.shape[2])]
    t = [[Fraction(v.item()) for v in template[..., c].ravel()] for c in range(window.shape[2])]
    if method.startswith("ccoeff"):
        i, t = ([[v - sum(plane) / len(plane) for v in plane] for plane in one] for one in (i, t))
    a, b = (sum(v * v for plane in one for v in plane) for one in (i, t))
    pairs = [(p, q) for x, y in zip(i, t, strict=True) for p, q in zip(x, y, strict=True)]
    top = sum((p - q) ** 2 if method.startswith("sqdiff") else p * q for p, q in pairs)
    if not method.endswith("normed"):
        return float(top)
    if a * b == 0:
        return float(method == "sqdiff-normed" and top != 0)
    return max(-1.0, min(1.0, float(top) / math.sqrt(a * b)))


def check(x: Any, t: Any, axes: str, tolerance: float, **more: Any) -> int:
    """The number of wrong scores, of all methods."""
    wrong = 0
    for method in METHODS:
        scores = filters.match(x, t, method=method, axes=axes, **more)
        wide, part = (np.moveaxis(one, 0, 2) if axes == "CHW" else one if axes == "HWC" else one[..., None] for one in (x, t))
        h, w = part.shape[:2]
        assert scores.shape == (wide.shape[0] - h + 1, wide.shape[1] - w + 1)
        for y in range(scores.shape[0]):
            for column in range(scores.shape[1]):
                want = expected(method, wide[y:y + h, column:column + w], part)
                wrong += not abs(scores[y, column] - want) <= tolerance * max(1.0, abs(want))
    return wrong


@pytest.mark.sanitize
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("algorithm", ["fft", "direct"])
def test_scores_against_fractions(dtype: str, algorithm: str) -> None:
    random = np.random.default_rng(1)
    if algorithm == "fft":
        try:
            filters.match(np.zeros((4, 4), np.uint8), np.zeros((2, 2), np.uint8), algorithm="fft")
        except areal.Unavailable:
            pytest.skip("built without kissfft")
    for axes, shape, size in (("HW", (9, 11), (4, 3)), ("HWC", (7, 8, 3), (3, 3, 3)), ("CHW", (2, 6, 9), (2, 2, 5)), ("HW", (5, 5), (5, 5)), ("HW", (3, 4), (1, 1))):
        most = 65536 if dtype == "uint16" else 256
        x, t = ((random.integers(0, most, one) if dtype.startswith("uint") else random.normal(0, 5, one)).astype(dtype) for one in (shape, size))
        tolerance = 1e-14 if dtype.startswith("uint") else 1e-9
        assert check(x, t, axes, tolerance, algorithm=algorithm) == 0
        assert check(np.asfortranarray(x), t[..., ::-1][..., ::-1], axes, tolerance, algorithm=algorithm) == 0
        if x.shape != t.shape and t.size > 1:  # the oracle sees a changed pixel
            changed = x.copy()
            changed.flat[0] += 1
            scores = filters.match(changed, t, method="sqdiff", axes=axes)
            assert scores[0, 0] != filters.match(x, t, method="sqdiff", axes=axes)[0, 0]


def test_batches_outputs_and_bits() -> None:
    random = np.random.default_rng(2)
    x, t = random.integers(0, 256, (3, 40, 50), np.uint8), random.integers(0, 256, (8, 6), np.uint8)
    scores = filters.match(x, t, axes="NHW")
    assert scores.dtype == np.float64 and all((scores[n] == filters.match(x[n], t)).all() for n in range(3))
    out = np.empty((3, 33, 45), np.float32)
    assert filters.match(x, t, axes="NHW", out=out) is out and (out == scores.astype(np.float32)).all()
    one, two = (filters.match(x[0].astype(np.float32), t.astype(np.float32), threads=n) for n in (1, 2))
    assert one.tobytes() == two.tobytes()
    deep = random.integers(0, 256, (20, 20, 7), np.uint8)
    assert check(deep[:8, :7], deep[2:5, 3:6], "HWC", 1e-14) == 0


def test_nan_stays_in_its_windows() -> None:
    x = np.random.default_rng(3).normal(0, 1, (60, 70))
    t = x[10:17, 20:25].copy()
    clean = filters.match(x, t)
    for odd in (np.nan, np.inf):
        x[30, 40] = odd
        scores = filters.match(x, t)
        assert np.isnan(scores).sum() == t.size and np.isnan(scores[24:31, 36:41]).all()
        assert np.nanmax(np.abs(scores - clean)) < 1e-9
    x[30, 40] = 1e20
    scores = filters.match(x, t)
    scores[24:31, 36:41] = clean[24:31, 36:41]
    assert np.abs(scores - clean).max() < 1e-9


def test_hits_and_peaks() -> None:
    random = np.random.default_rng(4)
    x = random.integers(0, 256, (150, 200), np.uint8)
    t = x[20:44, 30:60].copy()
    x[100:124, 150:180] = t
    assert filters.match(x, t, threshold=0.99) == [filters.Hit(30, 20, 30, 24, 1.0, 1.0), filters.Hit(150, 100, 30, 24, 1.0, 1.0)]
    assert filters.match(x, t, scales=(0.5, 2, 1.1), top=1)[0][:5] == (30, 20, 30, 24, 1.0)
    assert [hit[:5] for hit in filters.match(np.asfortranarray(x), t, method="sqdiff", top=2)] == [(30, 20, 30, 24, 1.0), (150, 100, 30, 24, 1.0)]
    scores = filters.match(x, t)
    assert filters.peaks(scores, top=2) == [filters.Peak(30, 20, 1.0), filters.Peak(150, 100, 1.0)]
    assert filters.peaks(np.array([[1.0, 3, 3, np.nan, 2]]), distance=1) == [filters.Peak(1, 0, 3.0), filters.Peak(4, 0, 2.0)]
    assert filters.peaks(np.array([[1.0, 3, 0]]), distance=0, minima=True, threshold=2) == [filters.Peak(2, 0, 0.0), filters.Peak(0, 0, 1.0)]


def test_refusals() -> None:
    x, t = np.zeros((9, 9), np.uint8), np.zeros((3, 2), np.uint8)
    for call, words in ((lambda: filters.match(t, x), "template of 9x9 is larger than the image of 2x3"), (lambda: filters.match(x, t, method="best"), "method best"),
                        (lambda: filters.match(x, t.astype(np.float32)), "template of float32: the image is of uint8"),
                        (lambda: filters.match(x, t[None]), "template: it must have the axes HW"), (lambda: filters.match(x.astype(int), t.astype(int)), "image type 64s"),
                        (lambda: filters.match(x, t, dtype="uint8"), "out type 8u"), (lambda: filters.match(x, t, top=3, dtype="float32"), "out and dtype"),
                        (lambda: filters.match(x, t, scales=(2, 1, 1.1)), "need 0 < least"), (lambda: filters.match(x, t, scales=(1.2, 1.3, 2)), "0 powers of 2"),
                        (lambda: filters.match(x, t, scales=2), "it may be"), (lambda: filters.match(x, t, scales=[0.0]), "scale 0"),
                        (lambda: filters.match(x, t, method="ccorr", scales=[0.5]), "normed"), (lambda: filters.match(x, t, algorithm="walk"), "auto, fft, direct"),
                        (lambda: filters.peaks(x), "scores type 8u"), (lambda: filters.peaks(np.zeros((2, 2)), distance=-1), "distance -1")):
        with pytest.raises(areal.InvalidArgument, match=words):
            call()


CASES = [((60, 70), (7, 9)), ((60, 70, 3), (12, 5, 3)), ((33, 20), (33, 4)), ((9, 9), (9, 9)), ((100, 120, 2), (40, 50, 2)), ((7, 9), (60, 70)), ((20, 20), (1, 1))]


@pytest.mark.parametrize("shape,size", CASES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_as_opencv(shape: tuple[int, ...], size: tuple[int, ...], dtype: Any) -> None:
    random = np.random.default_rng(5)
    x, t = (random.integers(0, 256, one).astype(dtype) for one in (shape, size))
    t.flat[0] += 1  # 1x1: not black
    for method in range(6):
        peer, mine = cv2.matchTemplate(x, t, method), ours_cv2.matchTemplate(x, t, method)
        assert peer.shape == mine.shape and peer.dtype == mine.dtype
        scale = 1.0 if method % 2 else float(np.sum(np.square(min(x, t, key=lambda one: one.size).astype(float))))
        if method == ours_cv2.TM_CCOEFF_NORMED and t.size == 1:
            assert (peer == 1).all()
        assert np.abs(peer - mine).max() <= 1e-5 * scale, (method, np.abs(peer - mine).max())
        into = np.empty_like(mine)
        assert ours_cv2.matchTemplate(x, t, method, into) is into and (into == mine).all()


def test_where_opencv_differs() -> None:
    random = np.random.default_rng(6)
    x, flat = random.integers(0, 256, (30, 40), np.uint8), np.full((5, 6), 7, np.uint8)
    black = np.zeros((5, 6), np.uint8)
    for image in (x, np.zeros_like(x)):
        assert (cv2.matchTemplate(image, flat, 5) == 1).all() and (ours_cv2.matchTemplate(image, flat, 5) == 1).all()
        assert (cv2.matchTemplate(image, black, 1) == 1).all() and (ours_cv2.matchTemplate(image, black, 1) == 1).all()
    # Little variance: float32 transforms lose it.
    page = (20000 + random.integers(0, 3, (200, 200))).astype(np.float32)
    t = page[50:60, 70:85].copy()
    exact = filters.match(page.astype(np.uint16), t.astype(np.uint16))
    assert np.abs(ours_cv2.matchTemplate(page, t, 5) - exact).max() < 1e-6
    assert np.abs(cv2.matchTemplate(page, t, 5) - exact).max() > 1e-3
    for call, words in ((lambda: ours_cv2.matchTemplate(x, flat, 6), "method 6"), (lambda: ours_cv2.matchTemplate(x, flat, 5, mask=flat), "mask"),
                        (lambda: ours_cv2.matchTemplate(x, flat.astype(np.float32), 5), "templ of float32"),
                        (lambda: ours_cv2.matchTemplate(x, np.zeros((50, 6), np.uint8), 5), "wider and lower"),
                        (lambda: ours_cv2.matchTemplate(x.astype(np.uint16), flat.astype(np.uint16), 5), "src of uint16"),
                        (lambda: ours_cv2.matchTemplate(x, flat[:0], 5), "empty")):
        with pytest.raises(ours_cv2.error, match=words):
            call()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "int16", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("size", [(5, 7), (4, 6), (1, 1), (30, 3)])
def test_as_skimage(dtype: str, size: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    x = random.integers(0, 2 if dtype == "bool" else 100, (30, 41)).astype(dtype)
    t = random.integers(0, 2 if dtype == "bool" else 100, size).astype(dtype)
    for more in ({}, {"pad_input": True}, {"pad_input": True, "mode": "constant", "constant_values": 3.5}, {"pad_input": True, "mode": "edge"},
                 {"pad_input": True, "mode": "reflect"}, {"pad_input": True, "mode": "mean"}, {"pad_input": True, "mode": "wrap"}):
        if size[0] == 30 and more.get("mode") == "reflect":
            continue
        wide = t.astype(np.float32) if dtype == "float16" else t  # scikit-image's mean of a float16 template has 11 bits
        peer, mine = feature.match_template(x, wide, **more), ours_skimage.match_template(x, t, **more)
        assert peer.shape == mine.shape and peer.dtype == mine.dtype
        # A flat window's deviations are 0 here, and perhaps not there.
        tolerance = 1e-3 if dtype in ("float16", "float32") else 1e-7
        assert np.abs(peer - mine)[mine != 0].max(initial=0) <= tolerance, more
    page = np.full((40, 40), 1e4)
    page += np.random.default_rng(8).uniform(-3e-4, 3e-4, page.shape)
    t = page[5:12, 6:15].copy()
    assert abs(ours_skimage.match_template(page, t)[5, 6] - 1) < 1e-9
    with pytest.raises(areal.InvalidArgument, match="3 dimensions"):
        ours_skimage.match_template(x[None], t)
    with pytest.raises(ValueError, match="Image must be larger"):
        ours_skimage.match_template(t, x)
