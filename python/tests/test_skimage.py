"""areal.skimage beside scikit-image and exact integers: every row of ROUTES, every dimension, the same errors."""

from __future__ import annotations

import subprocess
import sys
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import areal
from areal import _core
from areal import skimage as ours

transform = pytest.importorskip("skimage.transform", reason="scikit-image is not installed")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
PAIRED = [row for row, way in ours.ROUTES.items() if way != "numpy"]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    seed = zlib.crc32(request.node.name.encode())
    print(f"seed {seed}")  # noqa: T201: pytest shows it where a test fails
    return np.random.default_rng(seed)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each table that areal computed."""
    calls: list[int] = []
    compute = _core.dropin_tables

    def counted(*arguments: Any) -> Any:
        done = compute(*arguments)
        if done:
            calls.append(1)
        return done

    monkeypatch.setattr(_core, "dropin_tables", counted)
    return calls


def image(rng: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels of the dtype's whole range, or some of both signs."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)
    return (rng.standard_normal(shape) * 10).astype(dtype)


def same(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    """Bits for whole numbers, as long as doubles hold them; else within 1e-5 (float32) or 1e-12 (float64) of the sum of magnitudes."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    if a.dtype.kind == "f" and x.dtype.kind == "f":
        bound = (1e-5 if a.dtype == np.float32 else 1e-12) * np.abs(x.astype(float)).sum()
        assert np.all(np.abs(a.astype(float) - b.astype(float)) <= bound)
    elif a.dtype == np.float32:
        assert np.allclose(a, b, rtol=0, atol=1e-5 * np.abs(x.astype(float)).sum())
    else:
        assert np.array_equal(a, b)


def test_the_comparison_can_fail() -> None:
    for dtype, flip in (("uint64", 1), ("int64", 1), ("float32", 3e-5), ("float64", 3e-12)):
        t = np.arange(12, dtype=dtype).reshape(3, 4)
        same(t, t.copy(), t)
        u = t.copy()
        u[1, 2] += u.dtype.type(flip * (t.sum() if t.dtype.kind == "f" else 1))
        with pytest.raises(AssertionError):
            same(t, u, t)
    with pytest.raises(AssertionError):
        same(t, t.astype("float32"), t)


def test_the_default_table() -> None:
    for dtype in DTYPES:
        x = np.ones((3, 4), dtype)
        expected = "float64" if x.dtype.kind == "f" else "uint64" if x.dtype.kind == "u" else "int64"
        assert ours.integral_image(x).dtype == transform.integral_image(x).dtype == expected


def test_the_routes_are_of_areals_type_pairs() -> None:
    """Every default is computed by areal, and what a table's bits can be made of is a route."""
    pairs = {taken + made for taken, made in _core.type_pairs()}
    assert {way for way in ours.ROUTES.values()} - {"numpy"} <= pairs
    for dtype in DTYPES:
        default = str(ours.integral_image(np.ones((1, 1), dtype)).dtype)
        assert ours.ROUTES[dtype, default] in pairs, (dtype, default)
    with pytest.raises(TypeError):
        ours.ROUTES["uint8", "uint64"] = "numpy"  # type: ignore[index]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's float16
@pytest.mark.parametrize(("source", "table"), list(ours.ROUTES))
def test_every_route(rng: np.random.Generator, computed: list[int], source: str, table: str) -> None:
    for shape in ((5, 7), (1, 1), (3, 4, 5), (0, 5), (5, 0), (2, 0, 3), (33, 65)):
        x = image(rng, source, shape)
        computed.clear()
        t = ours.integral_image(x, dtype=table)
        assert len(computed) == (ours.ROUTES[source, table] != "numpy")
        if x.dtype.kind == "f" and np.dtype(table).kind != "f":
            assert t.dtype == table  # what NumPy makes of floats beyond the integers is its own affair, and varies
        elif table != "float16":
            same(t, transform.integral_image(x, dtype=table), x)


def test_what_numpy_does(rng: np.random.Generator, computed: list[int]) -> None:
    for dtype in ("longdouble", "complex64", "complex128", ">u2", ">i8", ">f4", ">f8"):
        x = image(rng, dtype, (4, 5))
        t, u = ours.integral_image(x), transform.integral_image(x)
        assert t.dtype == u.dtype and np.array_equal(t, u)
    for shape in ((), (0,), (6,), (2, 3, 4, 2), (2, 1, 3, 1, 2)):
        for dtype in ("uint8", "int32", "float32"):
            x = image(rng, dtype, shape) if shape else np.array(3, dtype)
            t, u = ours.integral_image(x), transform.integral_image(x)
            assert t.dtype == u.dtype and np.array_equal(t, u)
    masked = np.ma.array(np.arange(6).reshape(2, 3), mask=[[0, 1, 0], [0, 0, 1]])
    t, u = ours.integral_image(masked), transform.integral_image(masked)
    assert type(t) is type(u) and np.ma.allequal(t, u) and np.array_equal(t.mask, u.mask)
    assert computed == []
    for wrong in ([[1, 2]], None, "image"):
        with pytest.raises(AttributeError):
            transform.integral_image(wrong)
        with pytest.raises(AttributeError):
            ours.integral_image(wrong)
    for module in (ours, transform):
        with pytest.raises(TypeError):
            module.integral_image(np.ones((2, 2)), dtype="no dtype")


@pytest.mark.sanitize
def test_sources_of_any_lie(rng: np.random.Generator, computed: list[int]) -> None:
    for dtype in ("uint8", "int16", "float32"):
        x, v = image(rng, dtype, (12, 14)), image(rng, dtype, (4, 6, 8))
        locked = x.copy()
        locked.flags.writeable = False
        for y in (x[::2], x[:, ::2], x[::-1], x[:, ::-1], x.T, x[1:, 3:9], x[1:, 3:9].T, locked, np.broadcast_to(x[:1], (5, 14)), x.T[2:, 1:9],
                  v.transpose(2, 0, 1)[1:, :2], v[::2], v[:, ::2], v[:, :, ::2], v[:, 1:4, 2:], v.T, v.transpose(1, 0, 2), v[::-1],
                  np.asfortranarray(v)):
            before = y.copy()
            computed.clear()
            t = ours.integral_image(y)
            assert len(computed) == 1
            same(t, transform.integral_image(y), y)
            assert t.flags.writeable and np.array_equal(y, before)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_tables_of_any_shape(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([d for d in DTYPES if d[0] != "f"]))
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=2, max_size=3)))
    x = image(np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))), dtype, shape)
    exact = x.astype(object)
    for axis in range(x.ndim):
        exact = np.cumsum(exact, axis=axis)
    t = ours.integral_image(x)
    assert t.shape == shape
    assert all((int(a) - int(b)) % 2**64 == 0 for a, b in zip(t.ravel(), exact.ravel(), strict=True))


def boxes_in(rng: np.random.Generator, shape: tuple[int, ...], n: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = (rng.integers(0, shape, (n, len(shape))) for _ in range(2))
    return np.minimum(a, b), np.maximum(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_integrate(rng: np.random.Generator, dtype: str) -> None:
    for shape in ((7, 9), (1, 1), (3, 4, 5), (9,), (2, 3, 2, 3)):
        x = rng.integers(0, 2 if dtype == "bool" else 3, shape).astype(dtype)
        if np.dtype(dtype).kind == "f":
            x = image(rng, dtype, shape)
        t = transform.integral_image(x, dtype=dtype if dtype in ("int32", "uint32", "float32", "float16") else None)
        start, end = boxes_in(rng, shape, 40)
        for s, e in ((start, end), (start - np.array(shape), end), (start, end - np.array(shape)), (start[:1], end[:1]), (start[0], end[0]),
                     (start.tolist(), end.tolist()), ([tuple(r) for r in start.tolist()], [tuple(r) for r in end.tolist()]), (start[:0], end[:0]),
                     (start.astype(np.int32), end.astype(np.uint8)), (tuple(start[0].tolist()), tuple(end[0].tolist())), (list(start), list(end)),
                     (start.T.copy().T, end[::-1][::-1])):
            a, b = ours.integrate(t, s, e), transform.integrate(t, s, e)
            assert a.dtype == b.dtype == np.float64 and np.array_equal(a, b)
    t = np.ones((4, 5), bool)
    assert np.array_equal(ours.integrate(t, (1, 1), (2, 2)), transform.integrate(t, (1, 1), (2, 2)))


@pytest.mark.sanitize
def test_integrate_reads_tables_of_any_lie(rng: np.random.Generator) -> None:
    t = rng.integers(0, 100, (20, 30))
    start, end = boxes_in(rng, (10, 15), 20)
    for u in (t[::2, ::2], t[::-1][:10, :15], t.T, np.asfortranarray(t), t.astype(">i8")):
        assert np.array_equal(ours.integrate(u, start, end), transform.integrate(u, start, end))


def outcome(integrate: Any, *arguments: Any) -> tuple[str, Any]:
    try:
        return "sums", integrate(*arguments).tolist()
    except Exception as e:
        return type(e).__name__, str(e)


@pytest.mark.sanitize
def test_integrate_refuses_what_scikit_image_refuses(rng: np.random.Generator) -> None:
    t = np.arange(35.0).reshape(5, 7).cumsum(0).cumsum(1)
    cases: list[Any] = [((2, 2), (1, 3)), ((0, 0), (5, 3)), ((0, 0), (3, 7)), ((0, 0), (9, 9)), ([(0, 0), (1, 1)], [(1, 1), (2, 7)]),
                        ([(0, 0), (1, 1)], [(1, 9), (0, 0)]), ((-1, 0), (2, 2)), ((-6, 0), (-6, 2)), ((-9, -9), (-6, -8)), ((-20, 0), (-11, 3)),
                        ((0, 0), (-11, 3)), ((0, 0), (2**62, 3)), ((0, 0), (2**63, 3)), ([0, 2**63 - 1], [5, -12]), ((-(2**63), 0), (3, 3)), ((0, 0, 0), (1, 1, 1)), ((0,), (1,)),
                        (0, 1), ((0.0, 0.0), (1.0, 1.0)), (("a", "b"), (1, 1)), ([(0, 0)], [(1, 1), (2, 2)]), ([(0, 0), (1, 1)], (2, 2)), ([], []),
                        ((True, False), (True, True)), ((np.int64(0), 0), (np.uint8(3), 3)), (None, None), ([(0, 0), (1,)], [(1, 1), (2, 2)])]
    for start, end in cases:
        a, b = outcome(ours.integrate, t, start, end), outcome(transform.integrate, t, start, end)
        assert a == b, (start, end)
    refused = 0
    for _ in range(300):
        start, end = rng.integers(-9, 9, (2, 3, 2))
        a, b = outcome(ours.integrate, t, start, end), outcome(transform.integrate, t, start, end)
        assert a == b, (start, end)
        refused += a[0] == "IndexError"
    assert 50 < refused < 300


def test_integrate_is_exact_where_doubles_are_not() -> None:
    """Where a table wrapped or passed 2^53, integrate gives what Python's integers give, and scikit-image does not."""
    x = np.full((3, 4), 2**62 + 1, np.int64)
    x[1:, 1:] = 5
    t = ours.integral_image(x)
    assert ours.integrate(t, (1, 1), (2, 3)).tolist() == [30.0]
    assert transform.integrate(t, (1, 1), (2, 3)).tolist() != [30.0]
    y = np.full((300, 300), 255, np.uint8)
    for dtype in ("uint32", "int32"):
        wrapped = (ours.integral_image(y).astype(object) * 1000 % 2**32).astype(np.uint32).view(dtype)
        start, end = [(10, 20), (100, 100), (200, 280), (220, 10)], [(19, 29), (179, 179), (209, 299), (299, 109)]
        exact = [255000.0 * n for n in (100, 6400, 200, 8000)]
        assert ours.integrate(wrapped, start, end).tolist() == exact
        assert transform.integrate(wrapped, start, end).tolist() != exact
    z = np.array([[2**63, 2**63 - 1]], np.uint64)
    assert ours.integrate(ours.integral_image(z), [(0, 0), (0, 1)], [(0, 1), (0, 1)]).tolist() == [2.0**64, 2.0**63]


def test_scikit_image_is_not_imported() -> None:
    script = "import sys, areal.skimage; print(any(name.split('.')[0] in ('skimage', 'cv2', 'scipy') for name in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "False\n", ran.stderr


skimage_filters = pytest.importorskip("skimage.filters", reason="scikit-image is not installed")
THRESHOLDS = ("threshold_niblack", "threshold_sauvola")


def threshold_of(image: np.ndarray, size: tuple[int, int], name: str, k: float, r: float) -> np.ndarray:
    """In longdouble, from windows of a padded image."""
    padded = np.pad(image.astype(np.longdouble), [(extent // 2, extent // 2) for extent in size], "reflect")
    cells = np.lib.stride_tricks.sliding_window_view(padded, size)
    mean = cells.mean((2, 3))
    deviation = np.sqrt(((cells - mean[:, :, None, None]) ** 2).mean((2, 3)))
    return mean - k * deviation if name == "threshold_niblack" else mean * (1 + k * (deviation / r - 1))


@pytest.mark.parametrize("name", THRESHOLDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_thresholds(rng: np.random.Generator, name: str, dtype: str) -> None:
    half = {"b": 0.5, "f": 1.0}.get(np.dtype(dtype).kind) or (float(np.iinfo(dtype).max) - float(np.iinfo(dtype).min)) / 2
    for shape in ((1, 1), (1, 9), (9, 1), (20, 31), (33, 26)):
        x = image(rng, dtype, shape)
        for size in (3, 15, (5, 9), 41):
            for k in (0.2, -0.5):
                with np.errstate(invalid="ignore", over="ignore"):
                    a, b = getattr(ours, name)(x, size, k), getattr(skimage_filters, name)(x, size, k)
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                most = float(np.abs(x.astype(float)).max()) or 1
                exact = threshold_of(x, size if isinstance(size, tuple) else (size, size), name, k, half)
                # scikit-image's variance errs by some ulp of the squares, and its deviation by the root of that
                single = a.dtype == np.float32
                assert np.abs(a - exact).max() <= (1e-6 if single else 1e-12 if x.dtype.kind != "f" and x.dtype.itemsize < 8 else 1e-7) * most * max(1, most / half)
                assert np.abs(a.astype(float) - b).max() <= (2e-3 if single else 1e-7) * most * max(1, most / half)


@pytest.mark.parametrize("name", THRESHOLDS)
def test_thresholds_where_scikit_image_does_not_cancel(rng: np.random.Generator, name: str) -> None:
    """To 1e-12 of the range."""
    for dtype in ("uint8", "int8"):
        x = image(rng, dtype, (60, 70))
        for size in (3, 15, (5, 9), (1, 31)):
            for more in ({}, {"k": 0.5}, {"k": -0.1}, *([{"r": 100}] if name == "threshold_sauvola" else [])):
                a, b = getattr(ours, name)(x, size, **more), getattr(skimage_filters, name)(x, size, **more)
                assert np.abs(a - b).max() <= 255e-12
    stack = image(rng, "uint8", (3, 20, 30))
    assert np.allclose(getattr(ours, name)(stack, (1, 5, 7)), getattr(skimage_filters, name)(stack, (1, 5, 7)), rtol=0, atol=255e-12)
    for y in (x[::2], x[:, ::-1], x.T, x[1:, 3:9], x.astype(">i2")):
        assert np.allclose(getattr(ours, name)(y, 5), getattr(skimage_filters, name)(y, 5), rtol=0, atol=1e-8)


def test_thresholds_of_nearly_flat_images_and_beside_a_nan(rng: np.random.Generator) -> None:
    flat = np.full((30, 40), 1e4) + rng.normal(0, 3e-4, (30, 40))
    assert np.abs(ours.threshold_niblack(flat, 15) - threshold_of(flat, (15, 15), "threshold_niblack", 0.2, 1)).max() < 1e-8
    assert np.abs(skimage_filters.threshold_niblack(flat, 15) - threshold_of(flat, (15, 15), "threshold_niblack", 0.2, 1)).max() > 1e-5
    spoilt = rng.random((40, 60))
    spoilt[20, 30] = np.nan
    assert np.isnan(ours.threshold_sauvola(spoilt, 15)).sum() == 225
    assert np.isnan(skimage_filters.threshold_sauvola(spoilt, 15)).sum() > 225


@pytest.mark.filterwarnings("ignore:Bad rank filter performance")
@pytest.mark.parametrize("name", ["mean", "minimum", "maximum"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_rank_filters(rng: np.random.Generator, name: str, dtype: str) -> None:
    theirs, mine = getattr(skimage_filters.rank, name), getattr(ours.rank, name)
    for shape in ((1, 1), (1, 9), (9, 1), (13, 17), (30, 41)):
        x = image(rng, dtype, shape) if dtype == "uint8" else rng.integers(0, 1000, shape).astype(dtype)
        for extents in ((1, 1), (3, 3), (2, 2), (5, 8), (15, 15), (1, 9), (31, 30)):
            ones = np.ones(extents, np.uint8)
            shift_y, shift_x = (int(rng.integers(-(extent // 2), extent - extent // 2)) for extent in extents)
            for mask in (None, (rng.random(shape) < 0.3).astype(np.uint8)):
                for more in ({}, {"shift_x": shift_x, "shift_y": shift_y}):
                    a, b = mine(x, ones, mask=mask, **more), theirs(x, ones, mask=mask, **more)
                    assert a.dtype == b.dtype and np.array_equal(a, b), (shape, extents, mask is None, more)
    out = np.zeros_like(x)
    assert mine(x, np.ones((3, 3)), out) is out and np.array_equal(out, theirs(x, np.ones((3, 3))))


def test_what_the_filters_refuse() -> None:
    x, ones = np.ones((6, 7), np.uint8), np.ones((3, 3))
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    for call, words in ((lambda: ours.threshold_niblack(x, 4), "window_size 4: it must be odd"), (lambda: ours.threshold_sauvola(x, (3, 2)), "must be odd"),
                        (lambda: ours.threshold_niblack(x, (3, 3, 3)), "one number for each of 2 dimensions"), (lambda: ours.threshold_niblack(x, 3.5), "whole number"),
                        (lambda: ours.threshold_niblack(np.ones((3, 4, 5)), 3), "image of 3 dimensions"), (lambda: ours.threshold_niblack([[1]], 3), "image of list"),
                        (lambda: ours.threshold_niblack(x.astype(complex), 3), "image of complex128"), (lambda: ours.threshold_sauvola(x, 3, r=0), "r 0.0"),
                        (lambda: ours.threshold_sauvola(x, 3, k="0.2"), "k '0.2'"), (lambda: ours.rank.mean(x, cross), "rectangles of ones"),
                        (lambda: ours.rank.minimum(x.astype(float), ones), "image: "), (lambda: ours.rank.maximum(x, ones, shift_x=2), "shift_x 2"),
                        (lambda: ours.rank.mean(x, ones, shift_z=1), "shift_z 1"), (lambda: ours.rank.mean(x, ones, x), "out: "),
                        (lambda: ours.rank.mean(x, ones, mask=np.ones((7, 6))), "mask of shape")):
        with pytest.raises(areal.InvalidArgument, match=words):
            call()
    for wrong in (4, (3, 2)):
        with pytest.raises(ValueError):
            skimage_filters.threshold_niblack(x, wrong)
