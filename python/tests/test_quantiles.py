"""Quantiles of boxes, compared with numpy.nanquantile."""

import importlib.util
import typing
import warnings

import numpy as np
import pytest

import areal
from areal._quantiles import Method

SEED = 20261126
METHODS = typing.get_args(Method)
Q = [0, 1, 0.5, 0.1, 0.25, 1 / 3, 0.999, 0.7, 0.123456]


def boxes_of(rng: np.random.Generator, width: int, height: int, count: int) -> np.ndarray:
    left, top = rng.integers(0, width, count), rng.integers(0, height, count)
    return np.stack([left, top, rng.integers(1, width - left + 1), rng.integers(1, height - top + 1)], 1)


def truth(x: np.ndarray, box: np.ndarray, q: typing.Any, method: str = "linear") -> np.ndarray:
    bx, by, w, h = box
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NaN alone
        return np.asarray(np.nanquantile(x[by:by + h, bx:bx + w].astype(np.float64), q, method=method))


def test_the_check_can_fail() -> None:
    x = np.arange(20, dtype=np.uint8).reshape(4, 5)
    other = x.copy()
    other[1, 2] ^= 1
    box = np.array([2, 1, 1, 1])
    assert areal.quantiles(x, box) == truth(x, box, 0.5) != truth(other, box, 0.5)


@pytest.mark.sanitize
@pytest.mark.parametrize("store", ["auto", "none", "rank"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32", "float64"])
def test_every_dtype(dtype: str, store: typing.Any) -> None:
    rng = np.random.default_rng(SEED)
    x = (rng.normal(0, 40, (71, 93)) if dtype[0] == "f" else rng.integers(0, 2 if dtype == "bool" else 127, (71, 93))).astype(dtype)
    if dtype[0] == "f":
        x[rng.random(x.shape) < 0.2] = np.nan
        x[5:9, 5:9] = np.nan
    boxes = np.concatenate([boxes_of(rng, 93, 71, 30), [[5, 5, 3, 3], [0, 0, 93, 71]]])
    answers = areal.quantiles(x, boxes, Q, store=store)
    assert answers.shape == (32, len(Q)) and answers.dtype == np.float64
    for box, got in zip(boxes, answers):
        assert np.array_equal(got, truth(x, box, Q), equal_nan=True), (SEED, box)


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: typing.Any) -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(-30000, 30000, (40, 50)).astype(np.int16)
    boxes = np.concatenate([boxes_of(rng, 50, 40, 20), [[1, 1, n, 1] for n in range(1, 12)]])
    q = np.concatenate([np.arange(17) / 16, rng.random(20)])
    for store in ("none", "rank"):
        for box, got in zip(boxes, areal.quantiles(x, boxes, q, method, store=store)):
            assert np.array_equal(got, truth(x, box, q, method)), (SEED, store, box)


def test_shapes_and_axes() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 4096, (2, 30, 40, 3)).astype(np.uint16)
    boxes = boxes_of(rng, 40, 30, 7)
    for store in ("none", "rank"):
        answers = areal.quantiles(x, boxes, [0.5, 0.9], axes="NHWC", store=store, bits=12)
        assert answers.shape == (7, 2, 3, 2)
        for i, box in enumerate(boxes):
            for n in range(2):
                for c in range(3):
                    assert np.array_equal(answers[i, n, c], truth(x[n, ..., c], box, [0.5, 0.9]))
        assert np.array_equal(areal.quantiles(x.transpose(0, 3, 1, 2), boxes, [0.5, 0.9], axes="NCHW", store=store), answers)
    plane = x[0, ..., 0]
    assert areal.quantiles(plane, boxes).shape == (7,) and areal.quantiles(plane, boxes[0], [0.5]).shape == (1,)
    assert areal.quantiles(plane) == np.median(plane)
    assert np.array_equal(areal.quantiles(plane.T, boxes[:, [1, 0, 3, 2]]), areal.quantiles(plane, boxes))
    narrow = boxes_of(rng, 20, 30, 7)
    assert np.array_equal(areal.quantiles(plane[::-1, ::2], narrow), areal.quantiles(plane[::-1, ::2].copy(), narrow))
    assert np.isnan(areal.quantiles(plane, [3, 3, 0, 5])) and areal.quantiles(plane, np.empty((0, 4), int)).shape == (0,)
    assert areal.quantiles(plane, [35, 25, 99, 99], outside="clip") == np.median(plane[25:, 35:])


def test_refusals() -> None:
    x = np.zeros((5, 6), np.uint8)
    for call, why in ((lambda: areal.quantiles(x, store="compact"), "it counts bins"),  # type: ignore[arg-type]
                      (lambda: areal.quantiles(x, store="dense"), "it may be auto, none or rank"),  # type: ignore[arg-type]
                      (lambda: areal.quantiles(x, method="median"), "it may be linear, lower"),  # type: ignore[arg-type]
                      (lambda: areal.quantiles(x, q=1.5), "quantile 1.5: it may be 0 to 1"),
                      (lambda: areal.quantiles(x, q=np.nan), "it may be 0 to 1"),
                      (lambda: areal.quantiles(x, q=[[0.5]]), "q: 2 dimensions"),
                      (lambda: areal.quantiles(x.astype(np.uint64)), "do not hold all integers of 64 bits"),
                      (lambda: areal.quantiles(x + 9, store="rank", bits=3), "bits 3: the image has a pixel of 9"),
                      (lambda: areal.quantiles(x, bits=9), "bits 9: of 8u they may be 1 to 8"),
                      (lambda: areal.quantiles(x, [4, 4, 9, 9]), "region 0")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(SEED).integers(0, 250, (2, 20, 30)).astype(np.uint8)
    boxes = np.array([[3, 4, 10, 9], [0, 0, 30, 20]])
    wanted = areal.quantiles(x, boxes, [0.5, 0.9], axes="NHW")
    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        tensor = torch.from_numpy(x).to(device)
        for there in (boxes, torch.from_numpy(boxes).to(device)):
            answers = areal.quantiles(tensor, there, [0.5, 0.9], axes="NHW")
            assert answers.device == tensor.device and np.array_equal(answers.cpu().numpy(), wanted)
    with pytest.raises(areal.InvalidArgument, match="have no gradients"):
        areal.quantiles(torch.zeros((4, 4), requires_grad=True))


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None or not any(name == "cuda" and there for name, there, _ in areal.backends()), reason="no CuPy, or no CUDA device")
def test_arrays_of_cupy() -> None:
    import cupy

    x = np.random.default_rng(SEED).normal(0, 9, (40, 50)).astype(np.float32)
    x[3, 3:9] = np.nan
    boxes = np.array([[3, 3, 3, 1], [0, 0, 50, 40], [7, 9, 20, 11]])
    answers = areal.quantiles(cupy.asarray(x), boxes, [0.1, 0.5])
    assert np.array_equal(cupy.asnumpy(answers), areal.quantiles(x, boxes, [0.1, 0.5]), equal_nan=True)
