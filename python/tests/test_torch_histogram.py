"""Integral histograms of PyTorch tensors: counts against numpy.histogram, gradients in the weights."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import areal  # noqa: E402
import areal.torch as at  # noqa: E402
from areal import _torch_histogram_ops as ops  # noqa: E402
from areal._spelled import spelled  # noqa: E402

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
BOXES = torch.tensor([[0, 0, 9, 7], [1, 2, 4, 3], [3, 3, 0, 0], [2, 0, 5, 5]])


@pytest.fixture(autouse=True)
def seeded() -> None:
    print("seed", SEED)
    torch.manual_seed(SEED)


def truth(x: np.ndarray, boxes: Any, bins: Any, range: Any = None, weights: np.ndarray | None = None) -> np.ndarray:
    """numpy.histogram of each box."""
    rows = []
    for left, top, width, height in np.asarray(boxes).tolist():
        cut = np.s_[top:top + height, left:left + width]
        rows.append(np.histogram(x[cut], bins, range, weights=None if weights is None else weights[cut])[0])
    return np.stack(rows)


def test_the_oracle_sees_one_wrong_pixel() -> None:
    x = torch.randint(0, 256, (7, 9), dtype=torch.uint8)
    counts = at.integral_histogram(x, 5).counts(BOXES).numpy()
    assert np.array_equal(counts, truth(x.numpy(), BOXES, 5, (0, 256)))
    x[1, 1] = (int(x[1, 1]) + 128) % 256
    assert not np.array_equal(counts, truth(x.numpy(), BOXES, 5, (0, 256)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("border", ["zero", "none"])
def test_counts(border: str, device: str) -> None:
    eight, floats = torch.randint(0, 256, (7, 9), dtype=torch.uint8, device=device), torch.rand(7, 9, device=device) * 3 - 1
    floats[2, 2], floats[0, 0], floats[1, 1] = 1.0, float("nan"), -1.0
    edges = [-1.0, -0.5, 0.1, 0.25, 1.0]
    for x, how, bins, limits in ((eight, {"bins": 16}, 16, (0, 256)), (eight, {"bins": 3, "range": (10, 99.5)}, 3, (10, 99.5)),
                                 (floats, {"bins": 7, "range": (-1, 1)}, 7, (-1, 1)), (floats, {"edges": edges}, edges, None)):
        h = at.integral_histogram(x, border=border, **how)
        assert h.array.dtype == torch.int32 and h.array.device == x.device
        valid = np.nan_to_num(x.cpu().numpy(), nan=1e9)
        expected = truth(valid, BOXES, bins, limits)
        for boxes in (BOXES, BOXES.to(device), BOXES.numpy(), BOXES.tolist()):
            assert np.array_equal(h.counts(boxes).cpu().numpy(), expected)
        given = dict(how)
        assert np.array_equal(at.histograms(x, given.pop("bins", None), BOXES.to(device), **given).cpu().numpy(), expected)
        number = ops.bins_of_pixels(x, "HW", spelled(ops.name_of(x.dtype), how.get("bins"), how.get("range"), how.get("edges"), None, None, None, None, False)).cpu()
        whole = torch.bincount(number[number >= 0], minlength=expected.shape[1])
        assert np.array_equal(whole.numpy(), expected[0])  # where the gradient looks for a pixel is where it counts


def test_the_other_binnings() -> None:
    x = torch.randint(0, 6, (2, 7, 9), dtype=torch.uint8)
    for how, of in (({"labels": 5}, lambda v: v if v < 5 else -1), ({"labels": 5, "ignored": 2}, lambda v: v if v < 5 and v != 2 else -1),
                    ({"lookup": [2, 0, -1, 1]}, lambda v: [2, 0, -1, 1][v] if v < 4 else -1), ({"bins": 2, "range": (1, 5), "clamp": True}, lambda v: int(v >= 3))):
        counts = at.integral_histogram(x, axes="NHW", **how).counts(BOXES)
        named = spelled(ops.name_of(x.dtype), how.get("bins"), how.get("range"), None, how.get("labels"), how.get("ignored"), how.get("lookup"), None,
                                              how.get("clamp", False))
        for n in range(2):
            number = np.vectorize(of, otypes=[np.int64])(x[n].numpy())
            assert np.array_equal(ops.bins_of_pixels(x[n], "HW", named).numpy(), number)
            expected = truth(number, BOXES, np.arange(counts.shape[-1] + 1) - 0.5)
            assert np.array_equal(counts[:, n].numpy(), expected)
            given = dict(how)
            assert np.array_equal(at.histograms(x[n], given.pop("bins", None), BOXES, **given).numpy(), expected)
    pair = torch.randint(0, 256, (7, 9, 2), dtype=torch.uint8)
    joint = [areal.Binning(3, (0, 256)), areal.Binning(2, (50, 200))]
    number = ops.bins_of_pixels(pair, "HWC", spelled(pair, None, None, None, None, None, None, joint, False)).numpy()
    counts = at.integral_histogram(pair, joint=joint, axes="HWC").counts(BOXES)
    assert np.array_equal(counts.numpy(), truth(number, BOXES, np.arange(7) - 0.5))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("border", ["zero", "none", "exclusive"])
def test_gradients_in_the_weights(border: str, device: str) -> None:
    x = torch.randint(0, 256, (4, 5), dtype=torch.uint8, device=device)
    w = torch.rand(4, 5, dtype=torch.float64, device=device, requires_grad=True)
    boxes = torch.tensor([[0, 0, 3, 3], [1, 1, 3, 2], [2, 2, 0, 0]], device=device)
    for function in (lambda w: at.integral_histogram(x, 3, range=(20, 200), weights=w, border=border).array,
                     lambda w: at.integral_histogram(x, 3, weights=w, border=border).counts(boxes), lambda w: at.histograms(x, 3, boxes, weights=w)):
        assert torch.autograd.gradcheck(function, (w,))
        assert torch.autograd.gradgradcheck(function, (w,))
    counts = at.histograms(x, 3, boxes, weights=w)
    np.testing.assert_allclose(counts.detach().cpu().numpy(), truth(x.cpu().numpy(), boxes.cpu(), 3, (0, 256), w.detach().cpu().numpy()))


def test_an_image_that_requires_grad_is_refused() -> None:
    x = torch.rand(4, 5, requires_grad=True)
    w = torch.rand(4, 5, dtype=torch.float64, requires_grad=True)
    for call in (lambda: at.integral_histogram(x, 3, range=(0, 1)), lambda: at.integral_histogram(x, 3, range=(0, 1), weights=w), lambda: at.histograms(x, 3, BOXES[1:2], range=(0, 1)),
                 lambda: ops.histogram_op(x, w, "uniform", 3, [0.0, 1.0], [], False, None, "HW", torch.float64, "none", "auto", 0)):
        with pytest.raises(areal.InvalidArgument, match="gradient"):
            call()
    with torch.no_grad():
        assert at.integral_histogram(x, 3, range=(0, 1)).array.shape == (3, 4, 5)


def test_wrong_use_says_what_is_wrong() -> None:
    x = torch.rand(4, 5)
    for call, why in ((lambda: at.integral_histogram(x, 3), "range"), (lambda: at.integral_histogram(x), "binning"),
                      (lambda: at.integral_histogram(x, 3, range=(0, 1), edges=[0, 1]), "one of"), (lambda: at.integral_histogram(x.bfloat16(), 3, range=(0, 1)), "bfloat16"),
                      (lambda: at.integral_histogram(x, 3, range=(1, 0)), ""), (lambda: at.histograms(x, 3, [[0, 0, 9, 9]], range=(0, 1)), "region|box")):
        with pytest.raises(areal.InvalidArgument, match=why or "."):
            call()


def cases() -> list[Any]:
    out = []
    for device in DEVICES:
        x = torch.randint(0, 256, (4, 5), dtype=torch.uint8, device=device)
        w = torch.rand(4, 5, dtype=torch.float64, device=device, requires_grad=True)
        boxes = torch.tensor([[0, 0, 3, 3], [1, 1, 3, 2]], device=device)
        uniform = ("uniform", 3, [0.0, 256.0], [], False, None)
        out.append((ops.histogram_op, (x, w, *uniform, "HW", torch.float64, "zero", "auto", 0)))
        out.append((ops.histogram_op, (x, None, *uniform, "HW", torch.int32, "none", "auto", 0)))
        out.append((ops.histograms_op, (x, w, boxes, *uniform, "HW", "error", 0)))
        out.append((ops.histograms_op, (x, None, boxes, *uniform, "HW", "clip", 0)))
    return out


@pytest.mark.parametrize("at_case", range(len(cases())))
def test_opcheck(at_case: int) -> None:
    operator, arguments = cases()[at_case]
    assert set(torch.library.opcheck(operator, arguments).values()) == {"SUCCESS"}


def test_compile_and_vmap() -> None:
    torch._dynamo.reset()

    def function(x: Any, w: Any) -> Any:
        return at.integral_histogram(x, 4, weights=w).counts(BOXES)

    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend="aot_eager")
    for height in (7, 10):
        x, w = torch.randint(0, 256, (height, 9), dtype=torch.uint8), torch.rand(height, 9, dtype=torch.float64, requires_grad=True)
        torch.testing.assert_close(compiled(x, w), function(x, w))
        torch.testing.assert_close(torch.autograd.grad(compiled(x, w).sum(), w), torch.autograd.grad(function(x, w).sum(), w))
    x, w = torch.randint(0, 256, (3, 7, 9), dtype=torch.uint8), torch.rand(3, 7, 9, dtype=torch.float64)
    expected = torch.stack([function(*pair) for pair in zip(x, w)])
    torch.testing.assert_close(torch.vmap(function)(x, w), expected)
    torch.testing.assert_close(torch.vmap(lambda x, w: at.histograms(x, 4, BOXES, weights=w))(x, w), expected)
    torch.testing.assert_close(torch.vmap(function, in_dims=(None, 0))(x[0], w), torch.stack([function(x[0], one) for one in w]))


@pytest.mark.parametrize("device", DEVICES)
def test_stores_have_the_same_counts(device: str) -> None:
    x = torch.randint(0, 256, (2, 40, 33), dtype=torch.uint8, device=device)
    boxes = torch.tensor([[0, 0, 33, 40], [3, 4, 20, 11], [5, 5, 0, 0], [32, 39, 1, 1]], device=device)
    expected = areal.histograms(x.cpu().numpy(), 8, boxes.cpu().numpy(), axes="NHW")
    for store in ("none", "compact", "tensor"):
        answers = areal.histograms(x, 8, boxes, axes="NHW", store=store)
        assert isinstance(answers, torch.Tensor) and answers.device.type == device and answers.dtype == torch.int64
        assert np.array_equal(answers.cpu().numpy(), expected.astype(np.int64)), store
    weights = torch.randint(0, 9, (40, 33), dtype=torch.uint8, device=device)
    answers = areal.histograms(x[0], 8, boxes[1], weights=weights, store="none")
    assert np.array_equal(answers.cpu().numpy(), areal.histograms(x[0].cpu().numpy(), 8, boxes[1].cpu().numpy(), weights=weights.cpu().numpy()))
    with pytest.raises(areal.InvalidArgument, match="it may be auto, none, compact or tensor"):
        areal.histograms(x[0], 8, boxes, store="dense")
    with pytest.raises(areal.InvalidArgument, match="store compact: JAX's arrays, and those that are differentiated, traced or batched, have no choice"):
        areal.histograms(x[0].float().requires_grad_(), 8, boxes, range=(0, 256), store="compact")
