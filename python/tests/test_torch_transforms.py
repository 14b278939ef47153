"""torch.func's transforms of tables and histograms, gradients of windows, and torch.compile with its own backend."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import areal  # noqa: E402
import areal.torch as at  # noqa: E402

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
BOXES = [[0, 0, 2, 2], [1, 1, 2, 3], [2, 0, 3, 4]]


def real(*shape: int, device: str = "cpu") -> Any:
    print("seed", SEED)
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(SEED)).to(device)


def of_tables(x: Any, boxes: Any) -> Any:
    return (at.sat(x, squares=True).var(boxes) ** 2).sum() + (at.sat(x, border="none", reverse=True).array ** 2).mean()


def of_windows(x: Any, boxes: Any) -> Any:
    return (at.sat(x).window(3) ** 2).sum()


def of_weights(w: Any, boxes: Any) -> Any:
    image = (torch.arange(20, device=w.device) % 5).to(torch.uint8).reshape(4, 5)
    return (at.integral_histogram(image, 3, range=(0, 5), weights=w).counts(boxes) ** 2).sum() + (at.histograms(image, 3, boxes, range=(0, 5), weights=w) ** 2).sum()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", [of_tables, of_windows, of_weights])
def test_torch_func(function: Any, device: str) -> None:
    """grad, vmap of grad, the gradient's jacobian: the same as autograd gives one by one."""
    many, boxes = real(3, 4, 5, device=device), torch.tensor(BOXES, device=device)
    leaves = [x.clone().requires_grad_() for x in many]
    expected = [torch.autograd.grad(function(x, boxes), x)[0] for x in leaves]
    assert all(one.abs().sum() > 0 for one in expected)
    torch.testing.assert_close(torch.func.grad(function)(many[0], boxes), expected[0])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(function), in_dims=(0, None))(many, boxes), torch.stack(expected))
    twice = torch.func.jacrev(torch.func.grad(function))(many[1], boxes)
    torch.testing.assert_close(twice, torch.autograd.functional.hessian(lambda x: function(x, boxes), many[1]))


def test_torch_func_of_boxes_that_differ() -> None:
    many, boxes = real(3, 4, 5), torch.tensor([BOXES, BOXES[::-1], [[0, 0, 1, 1], [0, 0, 5, 4], [2, 2, 0, 0]]])

    def function(x: Any, b: Any) -> Any:
        return (at.sat(x).sum(b) ** 2).sum()

    each = torch.stack([torch.func.grad(function)(x, b) for x, b in zip(many, boxes)])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(function))(many, boxes), each)
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(lambda x: at.sat(x).array, (many[0],), (many[0],))
    with pytest.raises(areal.InvalidArgument, match="gradient"):
        torch.func.grad(lambda x: at.integral_histogram(x, 3, range=(0, 1), weights=x).array.sum())(many[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("edge", ["valid", "shrink", "zero"])
@pytest.mark.parametrize("border", ["zero", "none"])
def test_gradients_of_windows(border: str, edge: str, device: str) -> None:
    x = real(4, 5, device=device).requires_grad_()
    for stat in ("sum", "mean", "var", "std"):
        for size, anchor in (((3, 2), None), ((2, 4), (1, 0)), ((1, 1), None), ((9, 7), None)):
            if stat == "std" and size == (1, 1):
                continue  # no gradient where the deviation is 0

            def windows(x: Any, stat: str = stat, size: Any = size, anchor: Any = anchor) -> Any:
                return at.sat(x, border=border, squares=True).window(size, stat=stat, edge=edge, anchor=anchor)

            direct = windows(x.detach())
            torch.testing.assert_close(windows(x).detach(), direct)
            if anchor is None and size[0] == 3 and (stat != "std" or edge == "valid"):
                assert torch.autograd.gradcheck(windows, (x,))
    planes = real(2, 4, 5, 3, device=device)
    torch.testing.assert_close(at.sat(planes.clone().requires_grad_(), "NHWC", border=border).window(3, edge=edge).detach(), at.sat(planes, "NHWC", border=border).window(3, edge=edge))
    torch.testing.assert_close(torch.vmap(lambda i: at.sat(i, "HWC", border=border).window(3, edge=edge))(planes), at.sat(planes, "NHWC", border=border).window(3, edge=edge))


def test_windows_that_have_no_gradient() -> None:
    t = at.sat(real(4, 5).requires_grad_())
    for call, why in ((lambda: t.window(3, edge="reflect"), "reflect"), (lambda: t.window(3, dtype="uint8"), "uint8"), (lambda: t.window(3, stat="var"), "squares"),
                      (lambda: t.window(3, out=torch.empty(4, 5)), "out"), (lambda: t.window(0), "size"), (lambda: t.window(3, stat="median"), "stat"),
                      (lambda: at.sat(real(2, 4, 5).requires_grad_(), "DHW").sum([0, 0, 0, 1, 1, 1]), "volume")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()


@pytest.mark.skipif("AREAL_TEST_LARGE" not in os.environ, reason="inductor compiles C++ for half a minute; set AREAL_TEST_LARGE=1")
@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
@pytest.mark.parametrize("device", DEVICES)
def test_inductor(device: str) -> None:
    torch._dynamo.reset()
    boxes = torch.tensor(BOXES, device=device)
    compiled = torch.compile(lambda x: of_tables(x, boxes) + of_windows(x, boxes), fullgraph=True, dynamic=True)
    for height in (4, 7):
        x = real(height, 5, device=device).requires_grad_()
        expected = of_tables(x, boxes) + of_windows(x, boxes)
        torch.testing.assert_close(compiled(x), expected)
        torch.testing.assert_close(torch.autograd.grad(compiled(x), x), torch.autograd.grad(expected, x))
