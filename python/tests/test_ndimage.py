"""areal.ndimage beside scipy.ndimage: every dtype, mode, origin, axis and output; what is refused."""

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
from areal import ndimage as ours

theirs = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")

NAMES = ("uniform_filter", "minimum_filter", "maximum_filter")
SHAPES = [(1, 1), (7,), (1, 9), (9, 1), (13, 17), (4, 5, 6), (3, 40, 37), (2, 3, 4, 5)]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    seed = zlib.crc32(request.node.name.encode())
    print(f"seed {seed}")  # noqa: T201: pytest shows it where a test fails
    return np.random.default_rng(seed)


def image(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels of the dtype's whole range; those of 64 bits so that their sums are below 2^53."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.8
    if kind == "f":
        return (rng.standard_normal(shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -(2**45)), min(limits.max, 2**45), shape, dtype, endpoint=True)


def same(name: str, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    """Equal; means that are floats within 1e-6 of the largest magnitude (32 bits) or 1e-12 (64 bits)."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    if name == "uniform_filter" and a.dtype.kind == "f":
        bound = (1e-6 if a.dtype == np.float32 else 1e-12) * max(3, np.abs(x.astype(float)).max(initial=0))
        assert np.all(np.abs(a.astype(float) - b.astype(float)) <= bound)
    else:
        assert np.array_equal(a, b)


def check(name: str, x: np.ndarray, **more: Any) -> None:
    same(name, getattr(ours, name)(x, **more), getattr(theirs, name)(x, **more), x)


def test_the_comparison_can_fail(rng: np.random.Generator) -> None:
    for dtype in ("uint8", "int64", "float32", "float64"):
        x = image(rng, dtype, (6, 7))
        y = x.copy()
        y[3, 4] += y.dtype.type(1 if y.dtype.kind in "iu" else 2e-6 * np.abs(x).max())
        same("uniform_filter", x, x.copy(), x)
        for name in NAMES:
            with pytest.raises(AssertionError):
                same(name, x, y, x)
    with pytest.raises(AssertionError):
        same("uniform_filter", x, x.astype("float32"), x)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ours._TAKEN)
def test_every_dtype_and_mode(rng: np.random.Generator, name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = image(rng, dtype, shape)
        for size in (1, 2, 3, 4, 7, 30, tuple(rng.integers(1, 9, len(shape)).tolist())):
            for mode in ours._EDGES:
                check(name, x, size=size, mode=mode, cval=1 if dtype == "bool" else 3)


@given(st.data())
@settings(max_examples=150)
def test_origins_axes_and_modes_of_each_axis(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))
    x = image(rng, data.draw(st.sampled_from(ours._TAKEN)), shape)
    axes = data.draw(st.one_of(st.none(), st.permutations(range(len(shape)))))
    if axes is not None:
        axes = tuple(axis - len(shape) * int(rng.integers(2)) for axis in axes[: data.draw(st.integers(1, len(axes)))])
    count = len(shape) if axes is None else len(axes)
    sizes = rng.integers(1, 7, count).tolist()
    origins = [int(rng.integers(-(size // 2), size - size // 2)) for size in sizes]
    modes = rng.choice(list(ours._EDGES), count).tolist()
    for name in NAMES:
        check(name, x, size=sizes, origin=origins, mode=modes, axes=axes, cval=1)


@pytest.mark.sanitize
def test_sizes_where_means_are_nearly_whole(rng: np.random.Generator) -> None:
    """Of the largest values, but for one that is a little less: the mean is 1 / size below them."""
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32"):
        limits = np.iinfo(dtype)
        for size in (2, 3, 7, 127, 128, 255, 256, 257, 511, 512, 1000, 65535, 65536, 70000):
            for most, less in ((limits.max, -1), (limits.min, 1)):
                x = np.full((1, 3), most, dtype)
                x[0, 1] = int(most) + less
                check("uniform_filter", x, size=(1, size), mode="constant", cval=float(most))
                check("uniform_filter", x, size=(1, size), mode="nearest")


@pytest.mark.parametrize("name", NAMES)
def test_outputs(rng: np.random.Generator, name: str) -> None:
    x = image(rng, "uint8", (13, 17))
    for output in (None, "uint8", np.uint16, np.dtype("int32"), "int64", "float32", float):
        check(name, x, size=(3, 4), output=output)
    check(name, image(rng, "float64", (13, 17)), size=3, output=np.float32)
    check(name, image(rng, "int16", (13, 17)), size=3, output=np.int32)
    expected = getattr(theirs, name)(x, size=5)
    for out in (np.zeros_like(x), np.zeros((13, 34), np.uint8)[:, ::2], np.zeros((17, 13), np.uint8).T):
        assert getattr(ours, name)(x, size=5, output=out) is out and np.array_equal(out, expected)
    y = x.copy()
    assert getattr(ours, name)(y, size=5, output=y) is y and np.array_equal(y, expected)
    z = getattr(ours, name)(x, size=1)
    assert z is not x and not np.may_share_memory(z, x) and np.array_equal(z, x)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_of_any_lie(rng: np.random.Generator, name: str) -> None:
    x = image(rng, "int16", (12, 14))
    for y in (x[::2], x[:, ::2], x[::-1], x.T, x[1:, 3:9], np.broadcast_to(x[:1], (5, 14)), np.asfortranarray(x), x.astype(">i2"), x.tolist()):
        a, b = getattr(ours, name)(y, size=(3, 5)), getattr(theirs, name)(y, size=(3, 5))
        assert a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    for shape in ((0,), (0, 5), (5, 0, 2)):
        assert getattr(ours, name)(np.zeros(shape, np.uint8), size=3).shape == shape


def near(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    """Floats as those of uniform_filter; integers equal, but for sums that are nearly whole, which may differ by 1 for each axis."""
    if a.dtype.kind in "fb":
        same("uniform_filter", a, b, x)
        return
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    apart = np.abs(a.astype(float) - b.astype(float))
    assert apart.max(initial=0) <= x.ndim
    flat = np.ptp(x) == 0 or min(x.shape) == 1
    assert flat or np.abs(x.astype(float)).max() > 2**40 or (apart > 0).mean() <= 0.01


@pytest.mark.sanitize
@pytest.mark.parametrize("dtype", ours._TAKEN)
def test_gaussians_of_every_dtype_and_mode(rng: np.random.Generator, dtype: str) -> None:
    for shape in SHAPES:
        for x in (image(rng, dtype, shape), np.full(shape, 1 if dtype == "bool" else 100, dtype)):
            for sigma in (0, 0.4, 1, 3, tuple((rng.random(len(shape)) * 4).tolist())):
                for mode in ours._EDGES:
                    more: dict[str, Any] = {"sigma": sigma, "mode": mode, "cval": 1 if dtype == "bool" else 3}
                    near(ours.gaussian_filter(x, **more), theirs.gaussian_filter(x, **more), x)
                    if x.dtype.kind != "f":
                        near(ours.gaussian_filter(x, output=np.float64, **more), theirs.gaussian_filter(x, output=np.float64, **more), x)


@given(st.data())
@settings(max_examples=60)
def test_gaussians_of_axes_and_radii(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from(SHAPES))
    x = image(rng, data.draw(st.sampled_from(("uint8", "int16", "float32", "float64"))), shape)
    axes = tuple(data.draw(st.permutations(range(len(shape))))[: data.draw(st.integers(1, len(shape)))])
    more: dict[str, Any] = {"sigma": tuple(float(v) for v in rng.random(len(axes)) * 3), "mode": [data.draw(st.sampled_from(tuple(ours._EDGES))) for _ in axes],
                            "axes": axes}
    if data.draw(st.booleans()):
        more["radius"] = tuple(int(v) for v in rng.integers(0, 12, len(axes)))
    else:
        more["truncate"] = data.draw(st.sampled_from((1.0, 2.5, 4.0)))
    near(ours.gaussian_filter(x, **more), theirs.gaussian_filter(x, **more), x)


def test_gaussians_that_can_fail_and_wide_ones(rng: np.random.Generator) -> None:
    x = image(rng, "float32", (60, 70))
    near(ours.gaussian_filter(x, 20), theirs.gaussian_filter(x, 20), x)
    with pytest.raises(AssertionError):
        near(ours.gaussian_filter(x, 2.0), theirs.gaussian_filter(x, 2.001), x)
    out = np.empty((60, 70), np.float64)
    assert ours.gaussian_filter(x, 2, output=out) is out
    near(ours.gaussian_filter(x.T, 2), theirs.gaussian_filter(x.T, 2), x)
    for call, words in [(lambda: ours.gaussian_filter(x, 1, order=1), "order 1: only 0 is supported"),
                        (lambda: ours.gaussian_filter(x, -1), "sigma -1: it may be 0 to 1000"),
                        (lambda: ours.gaussian_filter(x, 1, mode="mirrored"), "mode 'mirrored'"),
                        (lambda: ours.gaussian_filter(x, 1, radius=5000), "radius 5000: it may be 0 to 4096")]:
        with pytest.raises(areal.InvalidArgument, match=words):
            call()


@pytest.mark.parametrize("name", NAMES[1:])
def test_footprints_of_ones(rng: np.random.Generator, name: str) -> None:
    x = image(rng, "uint8", (13, 17))
    check(name, x, footprint=np.ones((3, 6)), origin=(1, -2))
    check(name, x, footprint=[[True] * 4] * 5, mode="nearest")


def test_windows_far_beyond_the_edge(rng: np.random.Generator) -> None:
    """Of floats NumPy makes the pixels there; SciPy's modes of reflection agree."""
    x = image(rng, "float64", (3, 4))
    for mode in ours._EDGES:
        check("uniform_filter", x, size=2501, mode=mode, cval=2)


def test_a_nan_stays_local(rng: np.random.Generator) -> None:
    x = rng.random((40, 60))
    x[20, 30] = np.nan
    assert np.isnan(ours.uniform_filter(x, 3)).sum() == 9 < np.isnan(theirs.uniform_filter(x, 3)).sum()
    assert np.isnan(ours.minimum_filter(x, 3)).sum() == np.isnan(ours.maximum_filter(x, 3)).sum() == 9
    x[20, 30] = 1e20
    clean = np.ones(x.shape, bool)
    clean[19:22, 29:32] = False
    assert np.abs(ours.uniform_filter(x, 3) - theirs.uniform_filter(np.where(x > 1, 0, x), 3))[clean].max() < 1e-12


def test_what_is_refused() -> None:
    x = np.ones((4, 5), np.uint8)
    for more, words in (({"size": 0}, "size 0: it must be positive"), ({"size": 2.5}, "size 2.5: it must be a whole number"), ({"size": (3, 3, 3)}, "one for each of 2 axes"),
                        ({"size": "3"}, "size '3'"), ({"mode": "edge"}, "mode 'edge': it may be reflect"), ({"origin": 2}, "origin 2: the window of 3"),
                        ({"cval": 0.5}, "cval 0.5 with input of uint8"), ({"cval": "0"}, "cval '0'"), ({"axes": (0, 0)}, r"axes \(0, 0\)"), ({"axes": 2}, "axes 2"),
                        ({"output": np.zeros((5, 4), np.uint8)}, "output of shape"), ({"output": "int8"}, "output of int8 with input of uint8"),
                        ({"output": "no dtype"}, "output 'no dtype'"), ({"output": "complex64"}, "output of complex64")):
        for name in NAMES:
            with pytest.raises(areal.InvalidArgument, match=words) as caught:
                getattr(ours, name)(x, **{"size": 3, **more})
            assert str(caught.value).count("\n") == 0
    for wrong in (x.astype(np.float16), x.astype(complex), x.astype(np.longdouble), x.astype(object)):
        with pytest.raises(areal.InvalidArgument, match="input of "):
            ours.uniform_filter(wrong)
    for more, words in (({}, "size and footprint"), ({"size": 3, "footprint": np.ones((3, 3))}, "size and footprint"), ({"footprint": np.eye(3)}, "footprint: only those of ones")):
        with pytest.raises(areal.InvalidArgument, match=words):
            ours.minimum_filter(x, **more)
    with pytest.raises(areal.InvalidArgument, match="output of uint8 with input of float64"):
        ours.uniform_filter(np.ones((3, 4)), output=np.uint8)


def test_scipy_is_not_imported() -> None:
    script = "import sys, areal.ndimage; print(any(name.split('.')[0] in ('skimage', 'cv2', 'scipy') for name in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "False\n", ran.stderr
