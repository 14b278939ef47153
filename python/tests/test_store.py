"""Kept stores: the answers are those of NumPy over the pixels of each box."""

import pickle
import typing

import numpy as np
import pytest

import areal

SEED = 20261127


def boxes_of(rng: np.random.Generator, width: int, height: int, count: int) -> np.ndarray:
    left, top = rng.integers(0, width, count), rng.integers(0, height, count)
    random = np.stack([left, top, rng.integers(1, width - left + 1), rng.integers(1, height - top + 1)], 1)
    return np.concatenate([random, [[0, 0, width, height], [width - 1, height - 1, 1, 1], [3, 2, 0, 0]]])


def counted(x: np.ndarray, box: typing.Any, bins: int, lo: float, hi: float, mask: typing.Any = None) -> np.ndarray:
    bx, by, w, h = box
    pixels = x[by:by + h, bx:bx + w]
    if mask is not None:
        pixels = pixels[mask[by:by + h, bx:bx + w] != 0]
    return np.histogram(pixels.astype(np.float64), bins, (lo, hi))[0]


@pytest.mark.sanitize
def test_histograms_of_boxes() -> None:
    rng = np.random.default_rng(SEED)
    for dtype, bins, lo, hi in (("uint8", 32, 0, 256), ("uint16", 17, 0, 3000), ("int16", 256, -1000, 1000), ("float32", 5, -1, 1)):
        x = (rng.normal(0, 1, (131, 77)) if dtype == "float32" else rng.integers(lo, hi, (131, 77))).astype(dtype)
        boxes = boxes_of(rng, 77, 131, 40)
        truth = np.stack([counted(x, box, bins, lo, hi) for box in boxes])
        for given, of in ((x, boxes), (np.asfortranarray(x), boxes), (x.T, boxes[:, [1, 0, 3, 2]]), (x[::-1][::-1], boxes)):
            store = areal.histogram_store(given, bins, range=(lo, hi))
            assert np.array_equal(store.counts(of), truth), (SEED, dtype)
        assert store.kind == "compact" and store.image_shape == (131, 77) and store.image_dtype == dtype
        assert np.array_equal(store.counts(boxes[0]), truth[0]) and store.counts(boxes[:0]).shape == (0, bins)
        tensor = areal.integral_histogram(x, bins, range=(lo, hi))
        for name in ("normalised", "entropy", "median", "mode", "mean"):
            assert np.array_equal(getattr(store, name)(boxes), getattr(tensor, name)(boxes), equal_nan=True), name
        target = np.arange(bins) + 1.0
        assert np.array_equal(store.distance(target, boxes, measure="emd"), tensor.distance(target, boxes, measure="emd"))


def test_one_changed_pixel_is_found() -> None:
    x = np.random.default_rng(SEED).integers(0, 256, (64, 64)).astype(np.uint8)
    store, box = areal.histogram_store(x, 256), [7, 9, 33, 20]
    x[15, 15] ^= 1  # after the build: the store keeps what it read
    assert not np.array_equal(store.counts(box), counted(x, box, 256, 0, 256))
    x[15, 15] ^= 1
    assert np.array_equal(store.counts(box), counted(x, box, 256, 0, 256))


def test_batches_channels_and_masks() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 256, (3, 40, 50)).astype(np.uint8)
    boxes = boxes_of(rng, 50, 40, 9)
    counts = areal.histogram_store(x, 16, axes="NHW").counts(boxes)
    assert counts.shape == (12, 3, 16)
    for n in range(3):
        assert np.array_equal(counts[:, n], np.stack([counted(x[n], box, 16, 0, 256) for box in boxes]))
    mask = (rng.random((40, 50)) < 0.3).astype(np.uint8)
    for transposed in (False, True):
        given = (x[0].T.copy().T, mask) if transposed else (x[0], mask)
        store = areal.histogram_store(given[0], 16, mask=given[1])
        assert np.array_equal(store.counts(boxes), np.stack([counted(x[0], box, 16, 0, 256, mask) for box in boxes]))
    hue = areal.Binning(4, (0, 256))
    colours = np.moveaxis(x, 0, -1)
    joint = areal.histogram_store(colours[..., :2], joint=[hue, hue], axes="HWC")
    assert np.array_equal(joint.counts(boxes), areal.histograms(colours[..., :2], boxes=boxes, joint=[hue, hue], axes="HWC"))


@pytest.mark.sanitize
def test_quantiles_of_boxes() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 4096, (2, 45, 60, 3)).astype(np.uint16)
    boxes, q = boxes_of(rng, 60, 45, 12)[:-1], [0.5, 0.9]
    store = areal.histogram_store(x, axes="NHWC", bits=12)
    answers = store.quantiles(boxes, q)
    assert store.kind == "rank" and answers.shape == (14, 2, 3, 2)
    for i, (bx, by, w, h) in enumerate(boxes):
        assert np.array_equal(answers[i], np.moveaxis(np.quantile(x[:, by:by + h, bx:bx + w].astype(float), q, axis=(1, 2)), 0, -1)), (SEED, i)
    plane = x[0, ..., 0]
    one = areal.histogram_store(plane.T)
    assert one.quantiles([5, 9, 30, 20]) == np.median(plane.T[9:29, 5:35])
    assert store.nbytes < areal.histogram_store(x, axes="NHWC").nbytes


def test_pickles_come_back() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 256, (2, 70, 90)).astype(np.uint8)
    boxes = boxes_of(rng, 90, 70, 20)
    compact = areal.histogram_store(x, 32, axes="NHW", mask=None, block=64)
    again = pickle.loads(pickle.dumps(compact))
    assert np.array_equal(again.counts(boxes), compact.counts(boxes)) and again.binning == compact.binning
    assert (again.nbytes, again.axes, again.image_shape, again.image_dtype) == (compact.nbytes, "NHW", (2, 70, 90), "uint8")
    rank = areal.histogram_store(np.asfortranarray(x[0]))
    assert np.array_equal(pickle.loads(pickle.dumps(rank)).quantiles(boxes, 0.3), areal.quantiles(x[0], boxes, 0.3), equal_nan=True)
    restored, (state, axes, binning) = compact.__reduce__()
    restored({**state, "bytes": np.zeros_like(state["bytes"])}, axes, binning).counts(boxes)  # wrong answers at most
    with pytest.raises(areal.InvalidArgument, match="bytes"):
        restored({**state, "bytes": state["bytes"][:-1]}, axes, binning)


def test_refusals() -> None:
    x = np.arange(600, dtype=np.uint8).reshape(20, 30)
    compact, rank = areal.histogram_store(x, 8), areal.histogram_store(x)
    for call, why in ((lambda: compact.quantiles([0, 0, 3, 3]), "make it without bins"),
                      (lambda: rank.counts([0, 0, 3, 3]), "made without bins"),
                      (lambda: rank.median([0, 0, 3, 3]), "made without bins"),
                      (lambda: compact.counts([0, 0, 31, 3]), "region"),
                      (lambda: rank.quantiles([0, 0, 3, 3], 1.5), "quantile"),
                      (lambda: areal.histogram_store(x, mask=x), "a rank store has none"),
                      (lambda: areal.histogram_store(x.astype(float), 8), "range"),
                      (lambda: areal.histogram_store(x, 8, block=33), "block"),
                      (lambda: areal.histogram_store(x.astype(np.int64)), "64"),
                      (lambda: areal.histogram_store(x, clamp=True), "binning"),
                      (lambda: areal.histogram_store(x, axes="DHW"), "axes")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()
    with pytest.raises(areal.OutOfMemory, match="bytes"):
        areal.histogram_store(x, 8, memory_limit=100)
    assert "compact" in repr(compact) and "rank" in repr(rank)
    assert "<img" in compact._repr_html_() and "rank" in rank._repr_html_()
    assert np.array_equal(compact.counts([25, 0, 10, 3], outside="clip"), compact.counts([25, 0, 5, 3]))


@pytest.mark.sanitize
def test_maps_of_distances_have_the_bits_of_the_tensors() -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 256, (2, 40, 70)).astype(np.uint8)
    target = np.arange(16) + 0.5
    for measure in ("hellinger", "emd", "l1"):
        for dtype in ("float32", "float64"):
            for given in (x[0], np.asfortranarray(x[0]), x[0].T):
                tensor = areal.integral_histogram(given, 16)
                got = areal.distance_map(given, target, (9, 20), 16, measure=measure, dtype=dtype)  # type: ignore[arg-type]
                assert np.array_equal(got, tensor.distance_map(target, (9, 20), measure=measure, dtype=dtype))  # type: ignore[arg-type]
    batch = areal.distance_map(x, target, 5, 16, axes="NHW")
    assert batch.shape == (2, 36, 66) and np.array_equal(batch[1], areal.distance_map(x[1], target, 5, 16))
    planted = areal.histograms(x[0], 16, [30, 20, 8, 6])
    assert np.unravel_index(areal.distance_map(x[0], planted, (6, 8), 16).argmin(), (35, 63)) == (20, 30)
    for call, why in ((lambda: areal.distance_map(x[0], target[1:], 5, 16), "target"), (lambda: areal.distance_map(x[0], target, 0, 16), "window"),
                      (lambda: areal.distance_map(x[0], target, 5, 16, dtype="int32"), "dtype")):
        with pytest.raises(areal.InvalidArgument, match=why):
            call()
    assert areal.distance_map(x[0], target, (41, 5), 16).shape == (0, 66)


@pytest.mark.parametrize("where", ["torch", "cupy"])
def test_on_a_gpu(where: str) -> None:
    torch: typing.Any = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    cupy: typing.Any = pytest.importorskip("cupy") if where == "cupy" else None
    rng = np.random.default_rng(SEED)
    x = rng.integers(0, 4096, (2, 130, 170)).astype(np.uint16)
    mask = (rng.random((130, 170)) < 0.5).astype(np.uint8)
    boxes = np.array([[0, 0, 170, 130], [3, 5, 60, 70], [169, 129, 1, 1], [10, 10, 0, 5]])
    to = (lambda a: torch.from_numpy(a).cuda()) if where == "torch" else (lambda a: cupy.asarray(a))
    host = lambda a: a.cpu().numpy() if where == "torch" else cupy.asnumpy(a)  # noqa: E731
    compact, truth = areal.histogram_store(to(x), 32, range=(0, 4096), axes="NHW"), areal.histogram_store(x, 32, range=(0, 4096), axes="NHW")
    assert compact.backend == "cuda" and np.array_equal(compact.__reduce__()[1][0]["bytes"], truth.__reduce__()[1][0]["bytes"])
    for given in (boxes, to(boxes)):
        assert np.array_equal(host(compact.counts(given)), truth.counts(boxes))
        assert np.array_equal(host(compact.median(given)), truth.median(boxes), equal_nan=True)
    masked = areal.histogram_store(to(x[0]), 32, range=(0, 4096), mask=to(mask))
    assert np.array_equal(host(masked.counts(boxes)), areal.histogram_store(x[0], 32, range=(0, 4096), mask=mask).counts(boxes))
    target = np.arange(32.0)
    assert np.array_equal(host(areal.distance_map(to(x[0]), target, 9, 32, range=(0, 4096))), areal.distance_map(x[0], target, 9, 32, range=(0, 4096)))
    rank = areal.histogram_store(to(x[0]), bits=12)
    assert np.array_equal(host(rank.quantiles(boxes, [0.1, 0.5])), areal.quantiles(x[0], boxes, [0.1, 0.5]), equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(rank)).quantiles(boxes), areal.quantiles(x[0], boxes), equal_nan=True)
