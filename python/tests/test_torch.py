"""Tables of PyTorch tensors: values against NumPy, gradients against finite differences, compile, vmap, workers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import areal  # noqa: E402
import areal.torch as at  # noqa: E402
from areal import _torch_ops as ops  # noqa: E402

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
BORDERS = ("zero", "none", "exclusive")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.fixture(autouse=True)
def seeded() -> None:
    print("seed", SEED)
    torch.manual_seed(SEED)


def oracle(x: np.ndarray, axes: str, border: str = "zero", reverse: bool = False) -> np.ndarray:
    """The definition, by NumPy's cumsum in 64 bits."""
    x = x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
    along = [i for i, letter in enumerate(axes) if letter in "DHW"]
    if reverse:
        return np.flip(oracle(np.flip(x, along), axes, border), along)
    for dim in along:
        x = np.cumsum(x, axis=dim)
    if border == "none":
        return x
    x = np.pad(x, [(1, 0) if i in along else (0, 0) for i in range(x.ndim)])
    if border == "exclusive":
        x = x[tuple(slice(0, -1) if i in along else slice(None) for i in range(x.ndim))]
    return x


def image(axes: str, dtype: Any, device: str = "cpu") -> Any:
    shape = [{"N": 2, "C": 3, "D": 4, "H": 9, "W": 11}[letter] for letter in axes]
    if dtype.is_floating_point:
        return (torch.rand(shape, device=device, dtype=torch.float64) - 0.25).to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, device=device) < 0.5
    info = torch.iinfo(dtype)
    return torch.randint(max(info.min, -1000), min(info.max, 1000), shape, device=device).to(dtype)


def test_the_oracle_sees_one_wrong_element() -> None:
    x = image("HW", torch.uint8)
    table = at.sat(x).array.clone()
    assert np.array_equal(table.numpy(), oracle(x.numpy(), "HW"))
    table[3, 4] += 1
    assert not np.array_equal(table.numpy(), oracle(x.numpy(), "HW"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("axes", ["HW", "HWC", "CHW", "NHW", "NHWC", "NCHW", "DHW"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "float16", "float32", "float64"])
def test_values(axes: str, border: str, dtype: str, device: str) -> None:
    x = image(axes, getattr(torch, dtype), device)
    table = at.sat(x, axes, border=border)
    assert table.array.dtype == at.table_dtype(x, axes) and table.array.device == x.device
    expected = oracle(x.cpu().numpy(), axes, border)
    assert tuple(table.array.shape) == expected.shape
    exact = not x.is_floating_point()
    np.testing.assert_allclose(table.array.cpu().numpy(), expected, rtol=0 if exact else 1e-3 if dtype == "float16" else 1e-6, atol=0 if exact else 1e-3)


def test_integers_of_64_bits() -> None:
    x = torch.randint(-(2**40), 2**40, (9, 11))
    table = at.sat(x, squares=False)
    assert table.array.dtype == torch.int64 and np.array_equal(table.array.numpy(), oracle(x.numpy(), "HW"))


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_unsigned_images_have_signed_tables(dtype: str) -> None:
    x = torch.arange(12, dtype=torch.int64).reshape(3, 4).to(getattr(torch, dtype))
    table = areal.sat(x).array
    assert table.dtype == torch.int64 and np.array_equal(table.numpy(), oracle(np.arange(12).reshape(3, 4), "HW"))


def test_a_corner_decides_how_wide_the_table_is() -> None:
    fits, exceeds = torch.empty(1, 2**31 // 255, dtype=torch.uint8), torch.empty(1, 2**31 // 255 + 1, dtype=torch.uint8)
    assert at.table_dtype(fits) == torch.int32 and at.table_dtype(exceeds) == torch.int64
    options = at.options(None, "zero", False, False, False, False, "auto", "auto", 0, 0)
    core = areal._core
    int8 = [torch.empty(1, 2**31 // 128 - more, dtype=torch.int8) for more in (1, 0)]
    assert [at.table_dtype(x) for x in int8] == [torch.int32, torch.int64]
    for x in (fits, exceeds, *int8):  # the compiled rule is the same
        assert core.table_dtype(ops.TORCH, list(x.shape), ops.name_of(x.dtype), options, "HW") == ops.name_of(at.table_dtype(x))
    for dtype in ("bool", "int8", "int16", "int32", "uint16", "uint32", "float16", "float32", "float64"):
        x = torch.empty(3, 4, dtype=getattr(torch, dtype))
        assert core.table_dtype(ops.TORCH, [3, 4], dtype, options, "HW") == ops.name_of(at.table_dtype(x)), dtype


def test_nothing_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("a copy was made")

    monkeypatch.setattr(ops.Torch, "contiguous", refuse)
    whole = image("HW", torch.float32)
    rows = torch.rand(9, 20)[:, 3:14]
    last = torch.rand(2, 3, 9, 11).contiguous(memory_format=torch.channels_last)
    for x, axes in ((whole, "HW"), (rows, "HW"), (whole.t(), "HW"), (last, "NCHW"), (torch.rand(4, 9, 11)[1::2], "NHW")):
        made = at.sat(x, axes, copy=False)
        np.testing.assert_allclose(made.array.numpy(), oracle(x.numpy(), axes), rtol=1e-6)
    assert at.sat(last, "NCHW").array.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(areal.InvalidArgument, match="copy=False"):
        at.sat(torch.rand(9, 22)[:, ::2], copy=False)
    with pytest.raises(AssertionError, match="a copy"):
        at.sat(torch.rand(9, 22)[:, ::2])


def test_strided_tensors_are_copied() -> None:
    for x in (torch.rand(9, 22)[:, ::2], torch.rand(1, 11).expand(9, 11), torch.rand(9, 11).flip(0)):
        np.testing.assert_allclose(at.sat(x).array.numpy(), oracle(x.numpy(), "HW"), rtol=1e-6)


def test_out_is_written_and_checked() -> None:
    x = image("HW", torch.uint8)
    out = torch.full((10, 12), -1, dtype=torch.int32)
    assert at.sat(x, out=out).array is out and np.array_equal(out.numpy(), oracle(x.numpy(), "HW"))
    for wrong, why in ((out[:9], "9x12"), (out.to(torch.int64), "int64"), (torch.empty(10, 24, dtype=torch.int32)[:, ::2], "in place"), ((out, out), "2 arrays")):
        with pytest.raises(areal.InvalidArgument, match=why):
            at.sat(x, out=wrong)
    turned = torch.empty(12, 10, dtype=torch.int32).t()
    assert at.sat(x, out=turned).array is turned and np.array_equal(turned.numpy(), oracle(x.numpy(), "HW"))
    with pytest.raises(areal.InvalidArgument, match="copy=False"):  # the image is copied into that order
        at.sat(x, out=turned, copy=False)


def test_out_of_several_tables() -> None:
    x, valid = image("HW", torch.uint8), torch.rand(9, 11) < 0.7
    first = at.sat(x, squares=True, mask=valid)
    outs = tuple(torch.empty_like(table) for table in (first.array, first.squares, first.count))
    for out in (outs, first):
        again = at.sat(x, squares=True, mask=valid, out=out)
        kept = np.where(valid.numpy(), x.numpy().astype(np.int64), 0)
        for table, given, truth in zip((again.array, again.squares, again.count), outs if out is outs else (first.array, first.squares, first.count), (kept, kept**2, valid.numpy())):
            assert table is given and np.array_equal(table.numpy(), oracle(truth, "HW"))
    with pytest.raises(areal.InvalidArgument, match="1 arrays, but 3 tables"):
        at.sat(x, squares=True, mask=valid, out=outs[0])


def test_plans_take_tensors() -> None:
    plan = areal.SatPlan((9, 11), "uint8", squares=True)
    x = image("HW", torch.uint8)
    table = plan(x)
    assert isinstance(table, at.Sat) and np.array_equal(table.array.numpy(), oracle(x.numpy(), "HW")) and table.squares is not None
    single = areal.SatPlan((9, 11), "uint8")
    out = torch.empty(10, 12, dtype=torch.int32)
    assert single(x, out=out).array is out and np.array_equal(out.numpy(), oracle(x.numpy(), "HW"))
    again = single(x, out=single(x + 1))
    assert np.array_equal(again.array.numpy(), oracle(x.numpy(), "HW"))
    assert isinstance(plan(x.numpy()), areal.Sat)
    assert [int(t.array[-1, -1]) for t in single.stream([x, x + 1])] == [int(x.sum()), int((x + 1).sum())]
    for wrong in (x[:5], x.float()):
        with pytest.raises(areal.InvalidArgument, match="this plan is for"):
            single(wrong)
    with pytest.raises(areal.InvalidArgument, match="mask"):
        single(x, mask=x > 3)


def test_more_than_four_channels() -> None:
    for axes, shape in (("CHW", (7, 9, 11)), ("NCHW", (2, 5, 9, 11)), ("HWC", (9, 11, 6))):
        x = torch.randint(0, 99, shape, dtype=torch.int16)
        table = at.sat(x, axes)
        assert np.array_equal(table.array.numpy(), oracle(x.numpy(), axes))
        whole = x.sum([axes.index("H"), axes.index("W")])
        assert torch.equal(table.sum([0, 0, 11, 9]), whole)
        leaf = torch.rand(*(min(extent, 5) if letter in "HW" else extent for extent, letter in zip(shape, axes)), dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x, axes=axes: at.sat(x, axes).sum(BOXES[:3]), (leaf,))


def test_squares_mask_tilted_and_counts() -> None:
    x, valid = image("NHW", torch.float32), torch.rand(2, 9, 11) < 0.7
    table = at.sat(x, "NHW", squares=True, mask=valid)
    kept = np.where(valid.numpy(), x.numpy().astype(np.float64), 0)
    np.testing.assert_allclose(table.array.numpy(), oracle(kept, "NHW"), rtol=1e-6)
    np.testing.assert_allclose(table.squares.numpy(), oracle(kept**2, "NHW"), rtol=1e-6)
    assert table.count.dtype == torch.int32 and np.array_equal(table.count.numpy(), oracle(valid.numpy(), "NHW"))
    box = [2, 1, 6, 5]
    for n in range(2):
        inside = x[n, 1:6, 2:8][valid[n, 1:6, 2:8]].double()
        torch.testing.assert_close(table.mean(box)[n], inside.mean())
        torch.testing.assert_close(table.std(box)[n], inside.std(correction=0))
    assert at.sat(x[0], tilted=True).tilted.shape == (10, 12)


@pytest.mark.parametrize("axes", ["HW", "CHW", "NHWC", "DHW"])
@pytest.mark.parametrize("border", BORDERS)
def test_reverse_sums_right_and_below(axes: str, border: str) -> None:
    x = image(axes, torch.int32)
    assert np.array_equal(at.sat(x, axes, border=border, reverse=True).array.numpy(), oracle(x.numpy(), axes, border, reverse=True))


@pytest.mark.parametrize("format", ["xywh", "xyxy", "bbox", "skimage"])
@pytest.mark.parametrize("axes", ["HW", "NHWC", "NCHW"])
def test_box_sums(axes: str, format: str) -> None:
    x = image(axes, torch.uint8)
    planes = np.moveaxis(x.numpy(), [axes.index("H"), axes.index("W")], [-2, -1]).astype(np.int64)
    h, w = planes.shape[-2:]
    rng = np.random.default_rng(SEED)
    boxes = []
    for _ in range(20):
        x0, x1 = sorted(rng.integers(0, w + 1, 2).tolist())
        y0, y1 = sorted(rng.integers(0, h + 1, 2).tolist())
        boxes.append((x0, y0, x1, y1))
    expected = np.stack([planes[..., y0:y1, x0:x1].sum((-2, -1)) for x0, y0, x1, y1 in boxes])
    spelled = {"xywh": [(a, b, c - a, d - b) for a, b, c, d in boxes], "xyxy": boxes, "bbox": [(b, a, d, c) for a, b, c, d in boxes],
               "skimage": [(b, a, d - 1, c - 1) for a, b, c, d in boxes]}[format]
    table = at.sat(x, axes)
    for given in (spelled, np.array(spelled), torch.tensor(spelled), torch.tensor(spelled, dtype=torch.int32)):
        answers = table.sum(given, format=format)
        assert answers.dtype == torch.int64 and np.array_equal(answers.numpy(), expected)
    assert np.array_equal(table.sum(spelled[0], format=format).numpy(), expected[0])
    composed = ops.box_sums_op(table.array, ops.TORCH.xywh(torch.tensor(spelled), format), axes, "zero", "error", 0)
    assert np.array_equal(composed.numpy(), expected)


def test_boxes_that_cannot_be_answered() -> None:
    table = at.sat(image("HW", torch.uint8))
    good, bad = [1, 1, 2, 2], [5, 5, 7, 7]
    with pytest.raises(areal.InvalidArgument, match="1"):
        table.sum([good, bad])
    answers, first = table.sum([good, bad, good], refused=True)
    assert first.item() == 1 and answers[1].item() == 0 and answers[0] == answers[2]
    assert table.sum([good, good], refused=True)[1].item() == -1
    with pytest.raises(areal.InvalidArgument, match="whole numbers"):
        table.sum(torch.tensor([[0.5, 0, 1, 1]]))
    with pytest.raises(areal.InvalidArgument, match="N x 4"):
        table.sum([[1, 2, 3]])


def test_wrong_use_says_what_is_wrong() -> None:
    for call, why in ((lambda: at.sat(torch.rand(2, 3, 4)), "axes"), (lambda: at.sat(torch.rand(3, 4), border="wrap"), "border"),
                      (lambda: at.sat(torch.rand(3, 4), dtype="int8"), "dtype"), (lambda: at.sat(torch.rand(3, 4, dtype=torch.complex64)), "type"),
                      (lambda: at.sat(torch.rand(3, 4, requires_grad=True), tilted=True), "tilted"),
                      (lambda: at.sat(torch.rand(3, 4, requires_grad=True), "CHW"), "axes"),
                      (lambda: at.sat(torch.empty(3, 4, device="meta")), "meta")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()


# ---------------------------------------------------------------- gradients


BOXES = torch.tensor([[0, 0, 2, 2], [1, 0, 3, 4], [1, 2, 3, 1], [2, 2, 0, 0], [0, 1, 1, 3]])  # overlapping and empty ones


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("axes,shape", [("HW", (5, 6)), ("HWC", (5, 6, 2)), ("CHW", (2, 5, 6)), ("NCHW", (2, 2, 5, 6))])
def test_gradients(axes: str, shape: tuple[int, ...], border: str, device: str) -> None:
    x = torch.rand(shape, dtype=torch.float64, device=device, requires_grad=True)
    boxes = BOXES.to(device)
    for function in (lambda x: at.sat(x, axes, border=border).array, lambda x: at.sat(x, axes, border=border).sum(boxes),
                     lambda x: at.sat(x, axes, border=border, reverse=True).array):
        assert torch.autograd.gradcheck(function, (x,))
        assert torch.autograd.gradgradcheck(function, (x,))


def test_gradients_of_the_other_answers() -> None:
    x = torch.rand(5, 6, dtype=torch.float64, requires_grad=True)
    boxes, valid = BOXES[:3], torch.rand(5, 6) < 0.8
    valid[:2, :2] = True
    for function in (lambda x: at.sat(x).mean(boxes), lambda x: at.sat(x, squares=True).var(boxes), lambda x: at.sat(x, squares=True, mask=valid).std(boxes[:2]),
                     lambda x: at.sat(x).sum(torch.tensor([[-2, -1, 5, 5], [3, 3, 9, 9]]), outside="clip"), lambda x: at.sat(x.t()).array,
                     lambda x: at.sat(x, mask=valid).array):
        assert torch.autograd.gradcheck(function, (x,))
        assert torch.autograd.gradgradcheck(function, (x,))
    volume = torch.rand(2, 3, 4, dtype=torch.float64, requires_grad=True)
    for border in BORDERS:
        assert torch.autograd.gradcheck(lambda v, border=border: at.sat(v, "DHW", border=border).array, (volume,))
    table = torch.rand(6, 7, dtype=torch.float64, requires_grad=True)  # the row of zeros is an input like others
    assert torch.autograd.gradcheck(lambda t: ops.box_sums_op(t, boxes, "HW", "zero", "error", 0), (table,))


def test_gradcheck_would_see_a_wrong_gradient() -> None:
    x = torch.rand(4, 5, dtype=torch.float64, requires_grad=True)

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return at.sat(x.detach(), border="none").array

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return at.sat(g, border="none").array  # not reversed

    with pytest.raises(RuntimeError, match="Jacobian"):
        torch.autograd.gradcheck(Forward.apply, (x,))


def test_composed_and_direct_answers_agree() -> None:
    valid = torch.rand(2, 9, 11) < 0.7
    x = image("NHW", torch.float32)
    direct = at.sat(x, "NHW", squares=True, mask=valid)
    composed = at.sat(x.clone().requires_grad_(), "NHW", squares=True, mask=valid)
    assert direct.algorithm and not composed.algorithm  # they are the two ways
    torch.testing.assert_close(direct.array, composed.array.detach())
    torch.testing.assert_close(direct.count, composed.count)
    boxes = torch.tensor([[0, 0, 5, 5], [3, 2, 4, 7], [10, 8, 5, 5]])
    for name in ("sum", "mean", "var", "std"):
        a, b = (getattr(t, name)(boxes, outside="clip") for t in (direct, composed))
        torch.testing.assert_close(a, b.detach(), equal_nan=True)
    _, first = composed.sum(boxes, refused=True)
    assert first.item() == direct.sum(boxes, refused=True)[1].item() == 2


def test_two_runs_have_the_same_bits() -> None:
    x = torch.rand(37, 53, requires_grad=True)
    weights = torch.rand(500, dtype=torch.float64)
    a, b = torch.randint(0, 30, (500, 2)), torch.randint(1, 8, (500, 2))
    boxes = torch.cat((a, b), 1)
    gradients = []
    for _ in range(3):
        x.grad = None
        (at.sat(x).sum(boxes, outside="clip") * weights).sum().backward()
        gradients.append(x.grad.clone())
    assert torch.equal(gradients[0], gradients[1]) and torch.equal(gradients[0], gradients[2])
    assert gradients[0].abs().sum() > 0


def test_bfloat16() -> None:
    x = torch.rand(6, 7).bfloat16()
    with pytest.raises(areal.InvalidArgument, match="bfloat16"):
        at.sat(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(at.sat(x).array, at.sat(x.float()).array)
        leaf = x.clone().requires_grad_()
        at.sat(leaf).sum([0, 0, 3, 2]).backward()
    assert leaf.grad.dtype == torch.bfloat16 and leaf.grad.sum().item() == 6
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ops.sat_op(x, "HW", torch.float32, "zero", False, "auto", "auto", 0).dtype == torch.float32


# ---------------------------------------------------------------- operators, compile, vmap


def cases() -> list[Any]:
    x = torch.rand(5, 6, dtype=torch.float64, requires_grad=True)
    many = torch.rand(2, 3, 5, 6, dtype=torch.float32, requires_grad=True)
    how = (False, "auto", "auto", 0)
    out = []
    for device in DEVICES:
        boxes = BOXES.to(device)
        for border in BORDERS:
            out.append((ops.sat_op, (x.detach().to(device).requires_grad_(), "HW", torch.float64, border, *how)))
            out.append((ops.box_sums_op, (x.detach().to(device).requires_grad_(), boxes[:1], "HW", border, "error", 0)))
        out.append((ops.sat_op, (many.detach().to(device).requires_grad_(), "NCHW", torch.float32, "zero", *how)))
        out.append((ops.sat_op, (torch.ones(4, 5, dtype=torch.uint8, device=device), "HW", torch.int32, "zero", *how)))
        out.append((ops.box_sums_op, (many.detach().to(device).requires_grad_(), boxes[:3], "NCHW", "none", "clip", 0)))
        out.append((ops.scatter_op, (torch.rand(5, dtype=torch.float64, device=device, requires_grad=True), boxes, [6, 7], "HW", "zero", "error")))
    return out


@pytest.mark.parametrize("at_case", range(len(cases())))
def test_opcheck(at_case: int) -> None:
    operator, arguments = cases()[at_case]
    assert set(torch.library.opcheck(operator, arguments).values()) == {"SUCCESS"}


@pytest.mark.parametrize("device", DEVICES)
def test_compile_in_one_graph(device: str) -> None:
    torch._dynamo.reset()

    def function(x: Any, boxes: Any) -> Any:
        return areal.sat(x, "NCHW", squares=True).var(boxes, format="xyxy").sum(-1)

    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend="aot_eager")
    for height in (7, 12):
        x = torch.rand(2, 3, height, 9, device=device, requires_grad=True)
        boxes = torch.tensor([[0, 0, 4, 4], [2, 1, 9, 7]], device=device)
        expected, got = function(x, boxes), compiled(x, boxes)
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(torch.autograd.grad(got.sum(), x)[0], torch.autograd.grad(expected.sum(), x)[0])
    plain = torch.compile(lambda x: areal.sat(x).array + 1, fullgraph=True, dynamic=True, backend="aot_eager")
    for x in (torch.ones(5, 6, dtype=torch.uint8, device=device), torch.ones(8, 3, dtype=torch.uint8, device=device)):
        assert torch.equal(plain(x), at.sat(x).array + 1)


def test_vmap() -> None:
    x = torch.rand(3, 5, 6, dtype=torch.float64)
    for border in BORDERS:
        one_by_one = torch.stack([at.sat(i, border=border).array for i in x])
        assert torch.equal(torch.vmap(lambda i, border=border: at.sat(i, border=border).array)(x), one_by_one)
        assert torch.equal(torch.vmap(lambda i, border=border: at.sat(i, border=border).array, in_dims=2)(x.movedim(0, 2)), one_by_one)
    boxes = BOXES[:4].expand(3, 4, 4)
    expected = torch.stack([at.sat(i).sum(BOXES[:4]) for i in x])
    assert torch.equal(torch.vmap(lambda i: at.sat(i).sum(BOXES[:4]))(x), expected)
    assert torch.equal(torch.vmap(lambda i, b: at.sat(i).sum(b))(x, boxes), expected)
    table = at.sat(x[0]).array
    assert torch.equal(torch.vmap(lambda b: ops.box_sums_op(table, b, "HW", "zero", "error", 0))(boxes), expected[:1].expand(3, 4))
    for axes, shape in (("CHW", (3, 2, 5, 6)), ("HWC", (3, 5, 6, 2)), ("NHW", (3, 2, 5, 6)), ("NCHW", (3, 2, 2, 5, 6)), ("DHW", (3, 2, 5, 6))):
        y = torch.rand(shape, dtype=torch.float64)
        many = torch.stack([at.sat(i, axes).array for i in y])
        torch.testing.assert_close(torch.vmap(lambda i, axes=axes: at.sat(i, axes).array)(y), many)
        if "D" not in axes:
            sums = torch.stack([at.sat(i, axes).sum(BOXES[:4]) for i in y])
            torch.testing.assert_close(torch.vmap(lambda i, axes=axes: at.sat(i, axes).sum(BOXES[:4]))(y), sums)
    # Gradients for each image: vmap over the backward pass.
    leaf = x[0].clone().requires_grad_()
    sums = at.sat(leaf).sum(BOXES[:4])
    every = torch.autograd.grad(sums, leaf, torch.eye(4, dtype=torch.float64), is_grads_batched=True, retain_graph=True)[0]
    for k in range(4):
        torch.testing.assert_close(every[k], torch.autograd.grad(sums[k], leaf, retain_graph=True)[0])


def test_plain_tensors_skip_the_dispatcher() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    x = torch.rand(4, 5)
    assert at.is_plain(x) and at.is_plain(torch.nn.Parameter(x, requires_grad=False))
    assert not at.is_plain(x.clone().requires_grad_())
    with torch.no_grad():
        assert at.is_plain(x.clone().requires_grad_())
    with Watch():
        assert not at.is_plain(x)
        at.sat(x)
    assert any("areal.sat" in name for name in seen)
    with torch.autograd.forward_ad.dual_level():
        assert not at.is_plain(x)


class Tables(torch.utils.data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        return at.sat(torch.full((64, 200), i, dtype=torch.uint8)).array


def test_workers_of_a_data_loader() -> None:
    """Forked after areal and its threads were used; the same bits."""
    here = [Tables()[i] for i in range(12)]
    at.sat(torch.rand(2000, 2000))
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(Tables(), batch_size=3, num_workers=workers, multiprocessing_context="fork" if workers else None, timeout=60 if workers else 0)
        made = [table for batch in loader for table in batch]
        assert len(made) == 12 and all(torch.equal(a, b) for a, b in zip(made, here))


def test_memory_and_references_stay() -> None:
    import resource
    import sys

    x = torch.zeros(16, 16, dtype=torch.uint8)
    boxes = torch.tensor([[0, 0, 4, 4]])

    def calls(count: int) -> None:
        for i in range(count):
            at.sat(x).sum(boxes)
            if i % 4 == 0:
                with pytest.raises(areal.InvalidArgument):
                    at.sat(x).sum([9, 9, 99, 99])

    calls(2000)
    before, counts = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, (sys.getrefcount(x), sys.getrefcount(boxes))
    calls(20000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 1024
    assert (sys.getrefcount(x), sys.getrefcount(boxes)) == counts
