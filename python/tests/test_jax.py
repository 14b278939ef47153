"""Tables of JAX arrays: values against NumPy; jit, vmap, grad; what raises."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import areal
from areal import _core  # noqa: F401

jax: Any = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
aj: Any = pytest.importorskip("areal.jax", reason="areal was built without its handlers for JAX", exc_type=ImportError)
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402
from tables import cut, table as truth  # noqa: E402

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
AXES = ("HW", "HWC", "CHW", "NHW", "NHWC", "NCHW", "DHW")
BORDERS = ("zero", "none", "exclusive")
BOXES = [[0, 0, 2, 2], [1, 0, 3, 4], [1, 2, 3, 1], [2, 2, 0, 0], [0, 1, 1, 3]]  # overlapping and empty ones
BOXES_ON_DEVICE = jnp.asarray(BOXES)


def image(axes: str, dtype: str, channels: int = 3) -> np.ndarray:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    shape = [{"N": 2, "C": channels, "D": 4, "H": 9, "W": 11}[letter] for letter in axes]
    if dtype.startswith("float"):
        return (rng.random(shape) - 0.25).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def test_the_oracle_sees_one_wrong_element() -> None:
    x = image("HW", "uint8")
    made = np.array(areal.sat(jnp.asarray(x)).array)
    assert np.array_equal(made, truth(x).astype(np.int32))
    made[3, 4] += 1
    assert not np.array_equal(made, truth(x).astype(np.int32))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("axes", AXES)
def test_values(axes: str, border: str) -> None:
    for dtype in ("bool", "uint8", "int16", "float16", "float32", "float64") if axes == "HW" else ("uint8", "float32"):
        for channels in (3, 6) if "C" in axes else (1,):
            x = image(axes, dtype, channels)
            made = areal.sat(jnp.asarray(x), axes, border=border)
            expected = truth(x, axes, border)
            wanted = {"bool": "int32", "uint8": "int32", "int16": "int64", "float16": "float64", "float32": "float64", "float64": "float64"}[dtype]
            assert made.array.dtype == wanted and isinstance(made.array, jax.Array)
            np.testing.assert_allclose(np.asarray(made.array), expected, rtol=1e-3 if dtype == "float16" else 1e-6, atol=1e-3 if dtype == "float16" else 1e-9)


def test_denormal_numbers_are_kept() -> None:
    """XLA's threads flush them to zero; neither its tables nor those of other threads that follow may lose them."""
    x = np.zeros((300, 310), np.float32)
    x[::7, ::5] = np.float32(1.4e-45)
    expected = float(np.sum(x, dtype=np.float64))
    made = jax.jit(lambda x: areal.sat(x, dtype="float32").array)(jnp.asarray(x))
    assert np.asarray(made)[-1, -1] == np.float32(expected)
    assert areal.sat(x, dtype="float32").array[-1, -1] == np.float32(expected)


@pytest.mark.parametrize("border", BORDERS)
def test_reverse(border: str) -> None:
    x = image("CHW", "int32")
    expected = np.flip(truth(np.flip(x, (1, 2)), "CHW", border), (1, 2))
    assert np.array_equal(np.asarray(aj.table(jnp.asarray(x), "CHW", border=border, reverse=True)), expected)


@pytest.mark.parametrize("axes", ["HW", "NHWC", "NCHW"])
def test_box_sums(axes: str) -> None:
    x = image(axes, "uint8")
    table = areal.sat(jnp.asarray(x), axes, squares=True)
    boxes = [[0, 0, 11, 9], [3, 2, 5, 4], [4, 4, 1, 1], [2, 2, 0, 3]]
    expected = np.stack([cut(x, axes, tuple(box)).sum(0) for box in boxes])
    for given in (boxes, np.array(boxes), jnp.asarray(boxes), jnp.asarray(boxes, jnp.int32)):
        assert np.array_equal(np.asarray(table.sum(given)), expected)
    assert np.array_equal(np.asarray(table.sum(boxes[1])), expected[1])
    corners = [[x, y, x + w, y + h] for x, y, w, h in boxes]
    assert np.array_equal(np.asarray(table.sum(corners, format="xyxy")), expected)
    np.testing.assert_allclose(np.asarray(table.std(boxes[:3])), np.stack([cut(x, axes, tuple(box)).astype(float).std(0) for box in boxes[:3]]))


def test_boxes_that_cannot_be_answered() -> None:
    whole, real = (areal.sat(jnp.asarray(image("HW", dtype))) for dtype in ("uint8", "float32"))
    with pytest.raises(areal.InvalidArgument, match="box 1"):
        whole.sum([[0, 0, 2, 2], [9, 9, 9, 9]])
    on_device = jnp.asarray([[0, 0, 2, 2], [9, 9, 9, 9]])
    assert whole.sum(on_device)[1] == 0 and np.isnan(real.sum(on_device)[1]) and not np.isnan(real.sum(on_device)[0])
    assert whole.sum([[7, 7, 99, 99]], outside="clip")[0] == image("HW", "uint8")[7:, 7:].sum()


@pytest.mark.parametrize("axes,shape,border", [("HW", (5, 6), "zero"), ("HW", (5, 6), "none"), ("HW", (5, 6), "exclusive"), ("HWC", (5, 6, 2), "zero"),
                                               ("NCHW", (2, 2, 5, 6), "none"), ("HWC", (5, 6, 5), "zero"), ("DHW", (2, 3, 4), "zero")])
def test_gradients(axes: str, shape: tuple[int, ...], border: str) -> None:
    print("seed", SEED)
    x = jnp.asarray(np.random.default_rng(SEED).random(shape))
    check_grads(jax.jit(lambda x: aj.table(x, axes, border=border)), (x,), order=2, modes=["rev"])
    check_grads(jax.jit(lambda x: aj.table(x, axes, border=border, reverse=True)), (x,), order=2, modes=["rev"])
    if "D" not in axes:
        check_grads(jax.jit(lambda x: aj.sat(x, axes, border=border).sum(BOXES)), (x,), order=2, modes=["rev"])
        check_grads(jax.jit(lambda x: aj.sat(x, axes, border=border, squares=True).var(BOXES[:3])), (x,), order=1, modes=["rev"])


def test_check_grads_would_see_a_wrong_gradient() -> None:
    @jax.custom_vjp
    def wrong(x: Any) -> Any:
        return aj.table(x, border="none")

    wrong.defvjp(lambda x: (wrong(x), None), lambda _, g: (aj.table(g, border="none"),))  # not reversed
    with pytest.raises(AssertionError):
        check_grads(wrong, (jnp.ones((4, 5)),), order=1, modes=["rev"])


def test_gradients_of_float32_are_float32() -> None:
    x = jnp.ones((5, 6), jnp.float32)
    for dtype in (None, jnp.float32):
        gradient = jax.grad(lambda x, dtype=dtype: aj.table(x, dtype=dtype).sum().astype(jnp.float32))(x)
        assert gradient.dtype == jnp.float32
        np.testing.assert_allclose(gradient, np.outer(np.arange(5, 0, -1), np.arange(6, 0, -1)))


def test_jit_and_pytrees() -> None:
    x = jnp.asarray(image("NHW", "float32"))
    boxes = jnp.asarray([[1, 1, 4, 4], [0, 0, 11, 9]])
    made = jax.jit(lambda x: areal.sat(x, "NHW", squares=True))(x)
    assert isinstance(made, aj.Sat) and made.axes == "NHW"
    inside = jax.jit(lambda x, boxes: areal.sat(x, "NHW").sum(boxes))(x, boxes)
    np.testing.assert_array_equal(np.asarray(inside), np.asarray(made.sum(boxes)))
    np.testing.assert_array_equal(np.asarray(made.array), np.asarray(areal.sat(x, "NHW").array))


@pytest.mark.parametrize("axes", ["HW", "NHWC", "CHW", "DHW"])
def test_vmap(axes: str) -> None:
    x = jnp.asarray(np.stack([image(axes, "float64") + k for k in range(3)]))
    expected = np.stack([np.asarray(aj.table(one, axes)) for one in x])
    np.testing.assert_array_equal(np.asarray(jax.vmap(lambda x: aj.table(x, axes))(x)), expected)
    twice = jax.vmap(jax.vmap(lambda x: aj.table(x, axes)))(jnp.stack([x, x + 1]))
    np.testing.assert_array_equal(np.asarray(twice[0]), expected)
    if "D" in axes:
        return
    boxes = jnp.asarray([[[0, 0, 2, 2], [1, 1, 3, 4]], [[1, 0, 2, 2], [2, 1, 3, 4]], [[0, 0, 4, 4], [3, 3, 2, 2]]])
    sums = np.stack([np.asarray(aj.sat(one, axes).sum(b)) for one, b in zip(x, boxes)])
    np.testing.assert_array_equal(np.asarray(jax.vmap(lambda x, b: aj.sat(x, axes).sum(b))(x, boxes)), sums)
    same = np.stack([np.asarray(aj.sat(x[0], axes).sum(b)) for b in boxes])
    np.testing.assert_array_equal(np.asarray(jax.vmap(lambda b: aj.sat(x[0], axes).sum(b))(boxes)), same)
    one_image = jax.jit(jax.grad(lambda x, b: (aj.sat(x, axes).sum(b) ** 2).sum()))
    per_image = jax.jit(jax.vmap(jax.grad(lambda x, b: (aj.sat(x, axes).sum(b) ** 2).sum())))(x, boxes)
    for k in range(3):
        alone = one_image(x[k], boxes[k])
        np.testing.assert_allclose(np.asarray(per_image[k]), np.asarray(alone), rtol=1e-12)


def test_forward_mode_raises() -> None:
    x = jnp.ones((4, 5))
    for function in (aj.table, lambda x: aj.sat(x).sum(BOXES_ON_DEVICE)):
        with pytest.raises(TypeError, match="forward-mode"):
            jax.jvp(function, (x,), (x,))


def test_histograms() -> None:
    rng = np.random.default_rng(SEED)
    x, w = rng.integers(0, 256, (2, 7, 9)).astype(np.uint8), rng.random((2, 7, 9))
    boxes = [[0, 0, 9, 7], [1, 2, 4, 3], [3, 3, 0, 0]]
    counts = areal.integral_histogram(jnp.asarray(x), 5, axes="NHW").counts(boxes)
    weighted = jax.jit(lambda x, w: areal.integral_histogram(x, 5, range=(10, 200), axes="NHW", weights=w).counts(jnp.asarray(boxes)))(x, w)
    for n in range(2):
        for k, (left, top, width, height) in enumerate(boxes):
            at = np.s_[n, top:top + height, left:left + width]
            assert np.array_equal(np.asarray(counts)[k, n], np.histogram(x[at], 5, (0, 256))[0])
            np.testing.assert_allclose(np.asarray(weighted)[k, n], np.histogram(x[at], 5, (10, 200), weights=w[at])[0])
    for border in ("zero", "none"):
        check_grads(lambda w, border=border: aj.integral_histogram(x[0, :4, :5], 3, weights=w, border=border).array, (jnp.asarray(w[0, :4, :5]),), order=1, modes=["rev"])
    many = jax.vmap(lambda x, w: aj.histograms(x, 5, boxes, weights=w))(jnp.asarray(x), jnp.asarray(w))
    np.testing.assert_allclose(np.asarray(many[1]), np.asarray(aj.histograms(jnp.asarray(x[1]), 5, boxes, weights=jnp.asarray(w[1]))))
    with pytest.raises(areal.InvalidArgument, match="gradient"):
        jax.grad(lambda x: aj.integral_histogram(x, 3, range=(0, 1), weights=x).array.sum())(jnp.ones((4, 5)))


BINNINGS = [dict(edges=[0, 3, 10, 30]), dict(labels=40, ignored=7), dict(lookup=[v % 5 - 1 for v in range(64)]), dict(bins=areal.Binning(6, range=(5, 30), clamp=True))]


@pytest.mark.parametrize("at_case", range(len(BINNINGS)))
def test_binnings(at_case: int) -> None:
    """The same counts as of NumPy's arrays; the gradient of weighted sums is 1 where a pixel counts."""
    how = BINNINGS[at_case]
    rng = np.random.default_rng(SEED)
    x, w = rng.integers(0, 50, (2, 7, 9)).astype(np.uint8), rng.random((2, 7, 9))
    made = jax.jit(lambda x: areal.integral_histogram(x, axes="NHW", **how).array)(x)
    truth = areal.integral_histogram(x, axes="NHW", **how).array
    assert np.array_equal(np.asarray(made), truth) and truth[..., -1, -1].sum() > 0
    each = jax.jit(jax.grad(lambda w: aj.integral_histogram(jnp.asarray(x), axes="NHW", weights=w, **how).array[..., -1, -1].sum()))(jnp.asarray(w))
    assert float(each.sum()) == truth[..., -1, -1].sum()
    if at_case > 0:
        return  # what follows is the same for all
    weighted = areal.integral_histogram(jnp.asarray(x), axes="NHW", weights=jnp.asarray(w), border="zero", **how).array
    np.testing.assert_allclose(np.asarray(weighted), areal.integral_histogram(x, axes="NHW", weights=w, border="zero", **how).array)
    many = jax.jit(jax.vmap(lambda x, w: aj.histograms(x, weights=w, **how)))(jnp.asarray(x), jnp.asarray(w))
    np.testing.assert_allclose(np.asarray(many[1]), np.asarray(aj.histograms(jnp.asarray(x[1]), weights=jnp.asarray(w[1]), **how)))


@pytest.mark.parametrize("axes", ["HWC", "NCHW"])
def test_joint_binnings(axes: str) -> None:
    x = image(axes, "uint8", 2)
    joint = [areal.Binning(4, range=(0, 100)), areal.Binning(3, range=(10, 80))]
    made, truth = areal.integral_histogram(jnp.asarray(x), axes=axes, joint=joint), areal.integral_histogram(x, axes=axes, joint=joint)
    assert np.array_equal(np.asarray(made.array), truth.array) and made.bins == 12
    assert np.array_equal(np.asarray(areal.histograms(jnp.asarray(x), axes=axes, joint=joint)), truth.counts([0, 0, 11, 9]))
    if axes != "HWC":
        return
    w = np.random.default_rng(SEED).random(x.shape[:2])
    each = jax.jit(jax.grad(lambda w: aj.integral_histogram(jnp.asarray(x), axes=axes, joint=joint, weights=w).array[..., -1, -1].sum()))(jnp.asarray(w))
    assert float(each.sum()) == truth.array[..., -1, -1].sum()


def test_boxes_of_the_host_are_checked_while_jit_traces() -> None:
    x = jnp.asarray(image("HW", "uint8"))
    inside = jax.jit(lambda x: areal.sat(x).sum([[0, 0, 2, 2], [1, 2, 3, 6]], format="xyxy"))
    assert np.array_equal(np.asarray(inside(x)), np.asarray(areal.sat(x).sum([[0, 0, 2, 2], [1, 2, 2, 4]])))
    with pytest.raises(areal.InvalidArgument, match="box 1"):
        jax.jit(lambda x: areal.sat(x).sum([[0, 0, 2, 2], [9, 9, 9, 9]]))(x)


@pytest.mark.parametrize("axes", ["HW", "NHWC"])
def test_windows(axes: str) -> None:
    x = image(axes, "uint8")
    made, truth = areal.sat(jnp.asarray(x), axes, squares=True), areal.sat(x, axes, squares=True)
    for stat in ("sum", "std") if axes == "HW" else ("mean",):
        for edge in ("valid", "shrink", "zero"):
            windows = jax.jit(lambda t, stat=stat, edge=edge: t.window((4, 3), stat=stat, edge=edge, anchor=(1, 2)))
            np.testing.assert_allclose(np.asarray(windows(made)), truth.window((4, 3), stat=stat, edge=edge, anchor=(1, 2)), atol=1e-9)
    for call, why in ((lambda: made.window(3, edge="wrap"), "wrap"), (lambda: made.window(3, dtype="uint8"), "uint8"), (lambda: made.window(0), "size"),
                      (lambda: areal.sat(jnp.asarray(x), axes, border="none", reverse=True).window(3), "reversed")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()
    if axes == "HW":
        check_grads(jax.jit(lambda x: aj.sat(x).window(3)), (jnp.asarray(x[:3, :4], jnp.float64),), order=1, modes=["rev"])


def test_pickles() -> None:
    table = areal.sat(jnp.asarray(image("HW", "float32")), squares=True)
    again = pickle.loads(pickle.dumps(table))
    assert np.array_equal(again.std([1, 1, 5, 5]), table.std([1, 1, 5, 5])) and repr(again) == repr(table)


def test_wrong_use_says_what_is_wrong() -> None:
    x = jnp.ones((4, 5))
    for call, why in ((lambda: aj.sat(x, "CHW"), "axes"), (lambda: aj.sat(x, border="wrap"), "border"), (lambda: aj.sat(x, tilted=True), "tilted"),
                      (lambda: aj.sat(x.astype(jnp.bfloat16)), "bfloat16"), (lambda: aj.sat(x, dtype="int8"), "dtype"), (lambda: aj.sat(x).sum([[0.5, 0, 1, 1]]), "whole"),
                      (lambda: aj.sat(x).var([0, 0, 1, 1]), "squares"), (lambda: aj.integral_histogram(x, 3), "range"),
                      (lambda: aj.integral_histogram(x, edges=[3, 2, 1]), "edges"), (lambda: aj.integral_histogram(x, 3, range=(0, 1), labels=4), "one of"),
                      (lambda: aj.integral_histogram(jnp.ones((4, 5, 3), jnp.uint8), 3, axes="HWC"), "channel"), (lambda: aj.integral_histogram(x, labels=4), "labels"),
                      (lambda: aj.sat(jnp.ones((2, 3, 4)), "DHW").sum([0, 0, 1, 1]), "volume")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()


def test_without_64_bits_we_raise_where_jax_would_truncate() -> None:
    program = """
import jax.numpy as jnp, areal, areal.jax, warnings
warnings.simplefilter("error")
x = jnp.ones((4, 5), jnp.float32)
for call in (lambda: areal.sat(x), lambda: areal.sat(jnp.ones((4, 5), jnp.int16)), lambda: areal.sat(x, dtype="float32").sum([0, 0, 1, 1]),
             lambda: areal.sat(x, squares=True, dtype="float32"), lambda: areal.integral_histogram(x, 2, range=(0, 1), weights=x)):
    try:
        call()
    except areal.InvalidArgument as error:
        assert "jax_enable_x64" in str(error), error
    else:
        raise SystemExit("no exception")
assert areal.sat(x, dtype="float32").array[-1, -1] == 20
assert areal.sat(jnp.ones((4, 5), jnp.uint8)).array.dtype == jnp.int32
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_import_error_says_what_is_missing() -> None:
    for missing, why in (("jax", "needs JAX"), ("areal._jax", "built without its handlers")):
        program = f"import sys; sys.modules[{missing!r}] = None\ntry:\n    import areal.jax\nexcept ImportError as error:\n    assert {why!r} in str(error), error\nelse:\n    sys.exit(1)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
