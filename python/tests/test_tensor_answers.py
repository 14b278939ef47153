"""What tables and histograms of tensors answer beside sums of boxes: windows, volumes, pieces, measures, pickles. Against NumPy's arrays and the definition."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import areal  # noqa: E402
import areal.torch as at  # noqa: E402

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
STATS, EDGES = ("sum", "mean", "var", "std"), ("valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant")
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def seeded() -> None:
    print("seed", SEED)
    torch.manual_seed(SEED)


def whole_numbers(*shape: int, device: str, high: int = 256) -> Any:
    return torch.randint(0, high, shape, dtype=torch.uint8).to(device)


def window_by_hand(x: np.ndarray, h: int, w: int, stat: str) -> np.ndarray:
    """With edge shrink, by slices."""
    answers = np.empty(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            part = x[max(0, i - h // 2):max(0, i - h // 2 + h), max(0, j - w // 2):max(0, j - w // 2 + w)]
            answers[i, j] = {"sum": part.sum, "mean": part.mean, "var": part.var, "std": part.std}[stat]()
    return answers


def test_windows(device: str) -> None:
    x = whole_numbers(9, 11, device=device)
    host = x.cpu().numpy().astype(np.int64)
    table = areal.sat(x, squares=True)
    for stat in STATS:
        made = table.window((3, 4), stat=stat)
        assert made.device == x.device and made.dtype == torch.float64
        np.testing.assert_allclose(made.cpu().numpy(), window_by_hand(host, 3, 4, stat), rtol=1e-12)
        assert not np.allclose(made.cpu().numpy(), window_by_hand(host, 3, 5, stat))  # the comparison sees another window
    of_numpy = areal.sat(x.cpu().numpy(), squares=True)
    for edge in EDGES:
        for stat in STATS:
            np.testing.assert_array_equal(table.window((4, 3), stat=stat, edge=edge, value=7, anchor=(1, 2)).cpu().numpy(),
                                          of_numpy.window((4, 3), stat=stat, edge=edge, value=7, anchor=(1, 2)), err_msg=f"{edge} {stat}")
    rounded = table.window(3, dtype=torch.uint8)
    assert rounded.dtype == torch.uint8 and np.array_equal(rounded.cpu().numpy(), of_numpy.window(3, dtype="uint8"))
    out = torch.empty(9, 11, dtype=torch.float32, device=device)
    assert table.window(3, out=out) is out and np.array_equal(out.cpu().numpy(), of_numpy.window(3, dtype="float32"))


@pytest.mark.parametrize("axes, shape", [("HWC", (7, 9, 3)), ("HWC", (7, 9, 6)), ("NCHW", (2, 3, 7, 9)), ("NCHW", (2, 6, 7, 9))])
def test_windows_of_planes(axes: str, shape: tuple[int, ...], device: str) -> None:
    x = whole_numbers(*shape, device=device)
    expected = areal.sat(x.cpu().numpy(), axes, squares=True).window((3, 2), stat="var")
    assert np.array_equal(areal.sat(x, axes, squares=True).window((3, 2), stat="var").cpu().numpy(), expected)


def test_windows_of_a_transposed_tensor(device: str) -> None:
    x = whole_numbers(9, 11, device=device).t()
    assert np.array_equal(areal.sat(x).window((4, 3), anchor=(0, 2)).cpu().numpy(), areal.sat(x.cpu().numpy().copy()).window((4, 3), anchor=(0, 2)))


def test_windows_that_cannot_be(device: str) -> None:
    x = whole_numbers(5, 6, device=device)
    table = areal.sat(x)
    for call, why in ((lambda: table.window(0), "window"), (lambda: table.window(3, stat="median"), "stat"), (lambda: table.window(3, edge="none"), "edge"),
                      (lambda: table.window(3, stat="var"), "squares"), (lambda: areal.sat(x, border="exclusive").window(3), "exclusive"),
                      (lambda: areal.sat(whole_numbers(2, 3, 4, device=device), "DHW").window(3), "volume"),
                      (lambda: table.window(3, out=torch.empty(5, 6, dtype=torch.float64, device=device).t()), "out"),
                      (lambda: areal.sat(x, border="none", reverse=True).window(3), "reversed")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()


def test_windows_over_valid_pixels(device: str) -> None:
    x = whole_numbers(7, 9, device=device)
    table = areal.sat(x, mask=x > 99, squares=True)
    if device == "cuda":
        with pytest.raises(areal.InvalidArgument, match="count"):
            table.window(3)
        return
    known = areal.sat(x.numpy(), mask=x.numpy() > 99, squares=True)
    for stat in STATS:
        np.testing.assert_array_equal(table.window(3, stat=stat).numpy(), known.window(3, stat=stat))
    inside = x[0:3, 2:5][x[0:3, 2:5] > 99].double()
    assert table.window(3)[1, 3].item() == pytest.approx(inside.mean().item())


def test_reversed_tables_say_what_they_answer(device: str) -> None:
    x = whole_numbers(5, 6, device=device)
    assert areal.sat(x, reverse=True).sum([1, 1, 3, 2]).item() == x[1:3, 1:4].sum().item()
    for border in ("none", "exclusive"):
        with pytest.raises(areal.InvalidArgument, match="reversed"):
            areal.sat(x, border=border, reverse=True).sum([1, 1, 3, 2])
    plan = areal.SatPlan((5, 6), "uint8", border="none", reverse=True)
    assert torch.equal(plan(x).array, areal.sat(x, border="none", reverse=True).array) and plan(x).reverse


@pytest.mark.parametrize("border", ["zero", "none"])
def test_boxes_of_volumes(border: str, device: str) -> None:
    x = whole_numbers(4, 9, 11, device=device)
    host, table = x.cpu().numpy().astype(np.float64), areal.sat(x, "DHW", border=border)
    boxes = [[1, 2, 1, 5, 4, 2], [0, 0, 0, 11, 9, 4], [3, 3, 3, 0, 0, 0], [10, 8, 3, 1, 1, 1]]
    parts = [host[z:z + d, b:b + h, a:a + w] for a, b, z, w, h, d in boxes]
    for given in [boxes, torch.tensor(boxes), torch.tensor(boxes).to(device)]:
        assert table.sum(given).tolist() == [part.sum() for part in parts] and table.sum(given).device == x.device
        np.testing.assert_allclose(table.mean(given).cpu().numpy(), [part.mean() if part.size else np.nan for part in parts])
    assert table.sum(boxes[0]).item() == parts[0].sum()
    spelled = {"xyxy": [1, 2, 1, 6, 6, 3], "bbox": [1, 2, 1, 3, 6, 6], "skimage": [1, 2, 1, 2, 5, 5]}
    for format, box in spelled.items():
        for on in ("cpu", device):
            assert table.mean(torch.tensor([box]).to(on), format=format).item() == pytest.approx(parts[0].mean())
    over = [[9, 8, 3, 5, 5, 5], [-2, -1, -1, 4, 3, 3]]
    np.testing.assert_allclose(table.mean(over, outside="clip").cpu().numpy(), [host[3:, 8:, 9:].mean(), host[:2, :2, :2].mean()])
    with pytest.raises(areal.InvalidArgument, match="outside"):
        table.sum(over)
    assert table.sum([boxes[0], over[0]], refused=True)[1].item() == 1
    valid = x > 100
    masked = areal.sat(x, "DHW", mask=valid)
    assert masked.mean(boxes[1]).item() == pytest.approx(host[valid.cpu().numpy()].mean())
    for wrong, why in ((lambda: table.var(boxes), "sum and mean"), (lambda: table.sum([1, 2, 3, 4]), "N x 6")):
        with pytest.raises(areal.InvalidArgument, match=why):
            wrong()


@pytest.mark.parametrize("border", ["zero", "none", "exclusive"])
@pytest.mark.parametrize("axes, shape", [("HW", (9, 11)), ("HWC", (9, 11, 3)), ("HWC", (9, 11, 6)), ("NCHW", (2, 3, 9, 11))])
def test_pieces_make_the_larger_table(axes: str, shape: tuple[int, ...], border: str, device: str) -> None:
    """Four pieces of an image, each with the sums of the inclusive table beside it."""
    x = whole_numbers(*shape, device=device)
    h, w = axes.index("H"), axes.index("W")
    whole = areal.sat(x, axes, border="none", dtype="int32").array
    more = 1 if border == "zero" else 0
    expected = areal.sat(x, axes, border=border, dtype="int32").array

    def cut(t: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
        return t.narrow(h, rows[0], rows[1] - rows[0]).narrow(w, columns[0], columns[1] - columns[0])

    for rows in ((0, 4), (4, 9)):
        for columns in ((0, 5), (5, 11)):
            beside: dict[str, Any] = {}
            if rows[0]:
                beside["above"] = cut(whole, (3, 4), columns).squeeze(h)
            if columns[0]:
                beside["left"] = cut(whole, rows, (4, 5))
            if rows[0] and columns[0]:
                beside["corner"] = cut(whole, (3, 4), (4, 5)).squeeze(w).squeeze(h)
            piece = areal.sat(cut(x, rows, columns), axes, border=border, dtype="int32", **beside).array
            assert torch.equal(piece, cut(expected, (rows[0], rows[1] + more), (columns[0], columns[1] + more))), (rows, columns)
    longer = cut(whole, (3, 4), (4, 11))  # the corner first
    piece = areal.sat(cut(x, (4, 9), (5, 11)), axes, border="none", dtype="int32", above=longer, left=cut(whole, (4, 9), (4, 5))).array
    assert torch.equal(piece, cut(whole, (4, 9), (5, 11)))


def test_pieces_of_tensors_that_lie_otherwise(device: str) -> None:
    x = whole_numbers(9, 11, device=device)
    whole = areal.sat(x, border="none", dtype="int32").array
    below = areal.sat(x.t().contiguous().t()[4:], border="none", dtype="int32", above=whole[3].tolist()).array
    assert torch.equal(below, whole[4:])
    backward = areal.sat(x, border="none", dtype="int32", reverse=True).array
    assert torch.equal(areal.sat(x[:4], border="none", dtype="int32", reverse=True, above=backward[4]).array, backward[:4])
    for wrong, why in ((dict(above=whole[3][:5]), "above"), (dict(left=whole[:, 3][:5]), "left"), (dict(above=torch.ones(11, device=device)), "float32"),
                       (dict(above=whole[3], squares=True), "sums alone"), (dict(above=[0] * 12, corner=3), "corner")):
        with pytest.raises(areal.InvalidArgument, match=why):
            areal.sat(x, border="none", dtype="int32", **wrong)
    with pytest.raises(areal.InvalidArgument, match="detach"):
        areal.sat(x.double().requires_grad_(), border="none", above=torch.zeros(11, dtype=torch.float64, device=device))
    with pytest.raises(areal.InvalidArgument, match="DHW"):
        areal.sat(whole_numbers(2, 3, 4, device=device), "DHW", above=[0] * 4)


def test_what_histograms_say(device: str) -> None:
    x, weights = whole_numbers(2, 9, 11, device=device), torch.rand(2, 9, 11, dtype=torch.float64).to(device)
    boxes = [[1, 2, 5, 4], [0, 0, 11, 9], [3, 3, 0, 0]]
    for more, host_more in (({}, {}), ({"weights": weights}, {"weights": weights.cpu().numpy()})):
        made, truth = areal.integral_histogram(x, 8, axes="NHW", **more), areal.integral_histogram(x.cpu().numpy(), 8, axes="NHW", **host_more)
        target = truth.counts(boxes[0])[0]
        for name in ("normalised", "entropy", "median", "mode", "mean"):
            for given in (boxes, boxes[0], torch.tensor(boxes).to(device)):
                answer = getattr(made, name)(given)
                assert answer.device == x.device
                np.testing.assert_allclose(answer.cpu().numpy(), getattr(truth, name)(np.asarray(given.cpu() if isinstance(given, torch.Tensor) else given)), atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(made.percentile(20, boxes).cpu().numpy(), truth.percentile(20, boxes))
        for measure in ("hellinger", "emd"):
            for given in (target, torch.from_numpy(target.astype(np.float64)).to(device)):
                np.testing.assert_allclose(made.distance(given, boxes, measure=measure).cpu().numpy(), truth.distance(target, boxes, measure=measure), atol=1e-12)
                np.testing.assert_allclose(made.distance_map(given, (3, 4), measure=measure).cpu().numpy(), truth.distance_map(target, (3, 4), measure=measure), atol=1e-12)
    with_border = areal.integral_histogram(x, 8, axes="NHW", border="zero")
    unweighted = areal.integral_histogram(x.cpu().numpy(), 8, axes="NHW")
    np.testing.assert_allclose(with_border.distance_map(target, 3).cpu().numpy(), unweighted.distance_map(target, 3), atol=1e-12)
    for wrong, why in ((lambda: made.distance(target[:3], boxes), "target"), (lambda: made.distance(target, boxes, measure="cosine"), "measure"),
                       (lambda: areal.integral_histogram(x[0], 8, weights=weights[0].clone().requires_grad_()).entropy([0, 0, 2, 2]), "gradient"),
                       (lambda: made.entropy([0, 0, 99, 9]), "outside"), (lambda: made.percentile(101, boxes), "percent")):
        with pytest.raises(areal.InvalidArgument, match=why):
            wrong()


def test_pickles(device: str) -> None:
    x = whole_numbers(2, 9, 11, device=device)
    table = areal.sat(x, "NHW", squares=True, mask=x > 3)
    again = pickle.loads(pickle.dumps(table))
    for name in ("array", "squares", "count"):
        assert torch.equal(getattr(again, name), getattr(table, name)) and getattr(again, name).device == x.device
    assert torch.equal(again.std([1, 1, 5, 5]), table.std([1, 1, 5, 5])) and repr(again) == repr(table)
    histogram = areal.integral_histogram(x, 8, axes="NHW")
    assert torch.equal(pickle.loads(pickle.dumps(histogram)).median([1, 1, 5, 5]), histogram.median([1, 1, 5, 5]))


@pytest.mark.parametrize("axes, shape", [("HW", (9, 11)), ("CHW", (3, 9, 11)), ("NCHW", (2, 6, 9, 11))])
def test_tilted_sums(axes: str, shape: tuple[int, ...], device: str) -> None:
    """A rectangle of 2 w h pixels on two diagonals, by Lienhart's definition."""
    x = whole_numbers(*shape, device=device)
    table, planes = areal.sat(x, axes, tilted=True), x.cpu().numpy().astype(np.int64)
    rectangles = [[4, 1, 3, 2], [6, 0, 1, 4], [5, 2, 0, 2]]

    def by_hand(x: int, y: int, w: int, h: int) -> Any:
        cells = [(y + i + j + more, x - 1 + i - j) for i in range(w) for j in range(h) for more in (0, 1)]
        return sum((planes[..., row, column] for row, column in cells), np.zeros(shape[:-2], np.int64))

    truth = np.stack([by_hand(*one) for one in rectangles])
    assert truth[0].any() and not np.array_equal(truth[0], by_hand(4, 2, 3, 2))  # another rectangle is seen
    for given in (rectangles, torch.tensor(rectangles), torch.tensor(rectangles).to(device)):
        made = table.tilted_sum(given)
        assert made.dtype == torch.float64 and made.device == x.device and np.array_equal(made.cpu().numpy(), truth)
    assert np.array_equal(table.tilted_sum(rectangles[0]).cpu().numpy(), truth[0])
    assert np.array_equal(areal.sat(x.cpu().numpy(), axes, tilted=True).tilted_sum(rectangles), truth)
    for wrong, why in ((lambda: areal.sat(x, axes).tilted_sum(rectangles), "tilted=True"), (lambda: table.tilted_sum([0, 0, 3, 2]), "rectangle|region")):
        with pytest.raises(areal.InvalidArgument, match=why):
            wrong()


def test_tables_say_what_they_are(device: str) -> None:
    """What NumPy's tables and histograms say, those of tensors say."""
    x = whole_numbers(2, 9, 11, device=device)
    table, known = areal.sat(x, "NHW", squares=True, tilted=True, mask=x > 3), areal.sat(x.cpu().numpy(), "NHW", squares=True, tilted=True, mask=x.cpu().numpy() > 3)
    assert isinstance(table, areal.Sat) and type(table) is at.Sat and table.image_shape == (2, 9, 11) and table.image_dtype == "uint8"
    assert table.nbytes == sum(t.numel() * t.element_size() for t in (table.array, table.squares, table.tilted, table.count))
    assert table.backend == ("cuda" if device == "cuda" else "cpu") and table.reason and table.algorithm in repr(table)
    assert np.array_equal(np.asarray(table), known.array) and "areal.Sat" in table._repr_html_() and "img" in table._repr_html_()
    histogram, counted = areal.integral_histogram(x, 8, axes="NHW"), areal.integral_histogram(x.cpu().numpy(), 8, axes="NHW")
    assert isinstance(histogram, areal.IntegralHistogram) and type(histogram) is at.IntegralHistogram
    for name in ("binning", "bins", "edges", "axes", "image_shape", "image_dtype", "border", "nbytes"):
        assert getattr(histogram, name) == getattr(counted, name), name
    assert histogram.backend == table.backend and np.array_equal(np.asarray(histogram), counted.array) and "areal.Binning(8" in repr(histogram)


def test_plans_of_histograms_take_tensors(device: str) -> None:
    x = whole_numbers(9, 11, device=device)
    plan = areal.HistogramPlan((9, 11), "uint8", areal.Binning(4, (0, 256)), counter="int32")
    made, out = plan(x), torch.empty(4, 9, 11, dtype=torch.int32, device=device)
    assert type(made) is at.IntegralHistogram and plan(x, out).array is out and torch.equal(out, made.array)
    assert np.array_equal(made.array.cpu().numpy(), plan(x.cpu().numpy()).array)
    with pytest.raises(areal.InvalidArgument, match="this plan is for 9x11, uint8"):
        plan(x[:5])


def test_numpys_answers_are_of_numpys_types(device: str) -> None:
    """uint64 and int64 themselves, not C's long long, which PyTorch does not take."""
    x = whole_numbers(9, 11, device="cpu").numpy()
    for made in (areal.sat(x).sum([[0, 0, 2, 2]]), areal.sat(x, dtype="uint64").array, areal.sat(x.astype(np.int64)).array, areal.integral_histogram(x, 3).counts([[0, 0, 2, 2]])):
        assert np.array_equal(torch.from_numpy(made).to(device).cpu().numpy(), made)
