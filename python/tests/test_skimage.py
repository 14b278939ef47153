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
                        ((0, 0), (-11, 3)), ((0, 0), (2**62, 3)), ((0, 0), (2**63, 3)), ((-(2**63), 0), (3, 3)), ((0, 0, 0), (1, 1, 1)), ((0,), (1,)),
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
