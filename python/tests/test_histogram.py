"""Integral histograms, histograms of boxes and binnings against numpy.histogram and scipy-free definitions of the measures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import areal

pytestmark = pytest.mark.sanitize

SEED = 20261122
INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32"]
FLOATS = ["float16", "float32", "float64"]


def pixels(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        x = rng.uniform(-3, 3, shape).astype(kind)
        x[rng.random(shape) < 0.05] = np.nan
        return x
    return rng.integers(0, 2 if kind.kind == "b" else 120, shape).astype(kind)


def counted(x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    return np.histogram(x.astype(np.float64)[~np.isnan(x.astype(float))], edges,
                        weights=None if weights is None else weights[~np.isnan(x.astype(float))].astype(float))[0]


def tensor(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """bins x H x W, inclusive, by definition: a cumulative sum for each bin."""
    bins = len(edges) - 1
    values = x.astype(np.float64)
    which = np.searchsorted(edges, values, side="right") - 1
    which[values == edges[-1]] = bins - 1
    which[np.isnan(values)] = -1
    return np.stack([(which == b).astype(np.int64).cumsum(0).cumsum(1) for b in range(bins)]) if x.size else np.zeros((bins, *x.shape), np.int64)


def test_the_check_can_fail() -> None:
    x = pixels(np.random.default_rng(SEED), (5, 7), "uint8")
    edges = np.linspace(0, 128, 9)
    h = areal.integral_histogram(x, edges)
    wrong = h.array.copy()
    wrong[3, 2, 2] += 1
    assert np.array_equal(h.array, tensor(x, edges)) and not np.array_equal(wrong, tensor(x, edges))


@settings(max_examples=120)
@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(INTEGERS + FLOATS), height=st.integers(0, 9), width=st.integers(0, 30), bins=st.integers(1, 9),
       layout=st.sampled_from("CFRS"), batch=st.integers(0, 3), rising=st.booleans(), border=st.sampled_from(["none", "zero"]))
def test_tensors_and_boxes_equal_numpy(seed: int, dtype: str, height: int, width: int, bins: int, layout: str, batch: int, rising: bool, border: str) -> None:
    rng = np.random.default_rng(seed)
    shape = (batch, height, width) if batch else (height, width)
    x = pixels(rng, shape, dtype)
    x = {"C": x, "F": x.swapaxes(-1, -2).copy().swapaxes(-1, -2), "R": x[..., ::-1], "S": np.repeat(x, 2, -1)[..., ::2]}[layout]
    edges = np.sort(rng.choice(200, bins + 1, replace=False)).astype(float) - 50 if rising else np.linspace(-2, 100, bins + 1)
    arguments = {"edges": edges} if rising else {"bins": bins, "range": (-2, 100)}
    axes = "NHW" if batch else ""
    h = areal.integral_histogram(x, axes=axes, border=border, **arguments)
    truth = np.stack([tensor(one, edges) for one in x]) if batch else tensor(x, edges)
    assert np.array_equal(h.array[..., 1:, 1:] if border == "zero" else h.array, truth) and h.array.dtype == np.uint32
    assert np.allclose(h.binning.edges, edges, rtol=1e-15) and h.binning.bins == bins
    left, top = rng.integers(0, width + 1, 5), rng.integers(0, height + 1, 5)
    boxes = np.stack([left, top, rng.integers(0, width - left + 1), rng.integers(0, height - top + 1)], 1)
    answers, straight = h.counts(boxes), areal.histograms(x, boxes=boxes, axes=axes, **arguments)
    assert answers.dtype == straight.dtype == np.uint64 and answers.shape == (5, *([batch] if batch else []), bins)
    assert np.array_equal(answers, straight)
    for i, (bx, by, w, hh) in enumerate(boxes):
        for n, one in enumerate(x if batch else [x]):
            wanted = counted(one[by:by + hh, bx:bx + w], edges)
            assert np.array_equal(answers[i, n] if batch else answers[i], wanted)
    whole = areal.histograms(x, axes=axes, **arguments)
    assert whole.shape == ((batch, bins) if batch else (bins,))
    if not batch:
        assert np.array_equal(whole, counted(x, edges)) and np.array_equal(h.counts([0, 0, width, height]), whole)


@pytest.mark.parametrize("store", ["auto", "none", "compact", "tensor"])
def test_stores_have_the_same_counts(store: str) -> None:
    rng = np.random.default_rng(SEED)
    for dtype, axes, shape in (("uint8", "HW", (70, 90)), ("uint16", "NHW", (2, 40, 33)), ("float32", "HW", (1, 50))):
        x = pixels(rng, shape, dtype)
        height, width = shape[-2:]
        left, top = rng.integers(0, width, 30), rng.integers(0, height, 30)
        boxes = np.stack([left, top, rng.integers(0, width - left + 1), rng.integers(0, height - top + 1)], 1)
        answers = areal.histograms(x, 8, boxes, range=(0, 100), axes=axes, store=store)
        for i, (bx, by, w, h) in enumerate(boxes):
            for n, one in enumerate(x if "N" in axes else [x]):
                truth = counted(one[by:by + h, bx:bx + w], np.linspace(0, 100, 9))
                assert np.array_equal(answers[i, n] if "N" in axes else answers[i], truth), (SEED, dtype, i)
        assert np.array_equal(areal.histograms(x.T if axes == "HW" else x.swapaxes(1, 2), 8, boxes[:, [1, 0, 3, 2]], range=(0, 100), axes=axes, store=store), answers)
    weights = rng.integers(0, 9, (70, 90)).astype("uint8")
    x = pixels(rng, (70, 90), "uint8")
    if store == "compact":
        with pytest.raises(areal.InvalidArgument, match="it counts pixels"):
            areal.histograms(x, 4, [1, 2, 30, 40], weights=weights, store=store)
    else:
        truth = np.histogram(x[2:42, 1:31], 4, (0, 256), weights=weights[2:42, 1:31].astype(float))[0]
        assert np.array_equal(areal.histograms(x, 4, [1, 2, 30, 40], weights=weights, store=store), truth)


def test_stores_that_cannot_be() -> None:
    x = np.zeros((5, 6), np.uint8)
    for store, why in (("dense", "it may be auto, none, compact or tensor"), ("rank", "it orders values and takes no bins")):
        with pytest.raises(areal.InvalidArgument, match=why):
            areal.histograms(x, 4, store=store)


@pytest.mark.parametrize("weight", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("counter", [None, "float32", "float64"])
def test_weights(weight: str, counter: str | None) -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (2, 9, 13), "uint8")
    w = rng.integers(0, 200, x.shape).astype(weight)
    edges = np.linspace(0, 128, 9)
    h = areal.integral_histogram(x, edges, weights=w, axes="NHW", dtype=counter)
    assert h.array.dtype == np.dtype(counter or "float64")
    box = [2, 1, 7, 6]
    truth = np.stack([counted(one[1:7, 2:9], edges, v[1:7, 2:9]) for one, v in zip(x, w)])
    assert np.array_equal(h.counts(box), truth) and h.counts(box).dtype == np.float64
    assert np.array_equal(areal.histograms(x, edges, box, weights=w, axes="NHW"), truth)
    for other in (w[..., ::-1][..., ::-1], np.asfortranarray(w)):
        assert np.array_equal(areal.integral_histogram(np.asfortranarray(x), edges, weights=other, axes="NHW").counts(box), truth)
    with pytest.raises(areal.InvalidArgument):
        areal.integral_histogram(x, edges, weights=w[:, :5], axes="NHW")
    with pytest.raises(areal.InvalidArgument):
        areal.integral_histogram(x, edges, weights=w, axes="NHW", dtype="uint32")


def test_kinds_of_bins() -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (9, 13), "uint8")
    assert np.array_equal(areal.histograms(x, 16), np.histogram(x, 16, (0, 256))[0])
    assert np.array_equal(areal.histograms(x.astype(np.int8), 8), np.histogram(x.astype(np.int8), 8, (-128, 128))[0])
    assert np.array_equal(areal.histograms(x, 4, range=(10, 50), clamp=True), np.histogram(np.clip(x, 10, 50), 4, (10, 50))[0])
    labels = (x % 7).astype(np.uint16)
    assert np.array_equal(areal.histograms(labels, labels=7), np.bincount(labels.ravel(), minlength=7))
    assert np.array_equal(areal.histograms(labels, labels=7, ignored=3), np.where(np.arange(7) == 3, 0, np.bincount(labels.ravel(), minlength=7)))
    table = np.where(np.arange(256) % 3 == 0, -1, np.arange(256) % 5)
    known = table[x][table[x] >= 0]
    assert np.array_equal(areal.histograms(x, lookup=table), np.bincount(known, minlength=5))
    colour = pixels(rng, (9, 13, 2), "uint8")
    joint = [areal.Binning(4, (0, 128)), areal.Binning(edges=[0, 10, 100])]
    truth = np.histogram2d(colour[..., 0].ravel(), colour[..., 1].ravel(), [np.linspace(0, 128, 5), [0, 10, 100]])[0].ravel()
    for axes, image in (("HWC", colour), ("CHW", np.moveaxis(colour, 2, 0).copy()), ("HWC", np.asfortranarray(colour)), ("HWC", colour[:, ::-1])):
        assert np.array_equal(areal.histograms(image, joint=joint, axes=axes), truth)
        assert np.array_equal(areal.integral_histogram(image, joint=joint, axes=axes).array[:, -1, -1], truth)
    rule = areal.Binning(16, (0, 256))
    assert np.array_equal(areal.histograms(x, rule), areal.histograms(x, 16)) and [rule.bin_of(v) for v in (-1, 0, 16, 256, 257)] == [-1, 0, 1, 15, -1]


@pytest.mark.parametrize("arguments", [{}, {"bins": 0}, {"bins": 4, "range": (1, 1)}, {"bins": 4, "range": (0, np.inf)}, {"edges": [1]}, {"edges": [1, 1]},
                                       {"edges": [0, np.nan]}, {"bins": [0, 1], "edges": [0, 1]}, {"bins": 4, "labels": 4}, {"labels": 0}, {"ignored": 1, "bins": 3},
                                       {"lookup": [[1]]}, {"lookup": [0.5]}, {"lookup": [2**40]}, {"joint": [4, 4]}, {"joint": []}, {"labels": 3, "clamp": True},
                                       {"labels": 3, "range": (0, 1)}, {"bins": 70000}])
def test_bins_that_cannot_be(arguments: dict[str, object]) -> None:
    with pytest.raises(areal.InvalidArgument) as caught:
        areal.integral_histogram(np.ones((3, 3), np.uint8), **arguments)
    assert "\n" not in str(caught.value)


def test_a_binning_says_everything() -> None:
    with pytest.raises(areal.InvalidArgument, match="says everything"):
        areal.integral_histogram(np.ones((3, 3), np.uint8), areal.Binning(3, (0, 1)), clamp=True)


def test_floats_demand_a_range() -> None:
    for dtype in FLOATS:
        for call in (areal.integral_histogram, areal.histograms):
            with pytest.raises(areal.InvalidArgument, match=f"range: pixels of {dtype} need one"):
                call(np.ones((3, 3), dtype), 4)
    with pytest.raises(areal.InvalidArgument):
        areal.integral_histogram(np.ones((3, 3), np.float32), labels=4)


def test_binnings_compare_hash_and_pickle() -> None:
    rules = [areal.Binning(16, (0, 256)), areal.Binning(16, (0, 256), clamp=True), areal.Binning(edges=[0, 1, 5]), areal.Binning([0, 1, 5.5]),
             areal.Binning(labels=4), areal.Binning(labels=4, ignored=2), areal.Binning(lookup=[0, -1, 1]),
             areal.Binning(joint=[areal.Binning(2, (0, 1)), areal.Binning(labels=3)])]
    assert len(set(rules)) == len(rules)
    for rule in rules:
        back = pickle.loads(pickle.dumps(rule))
        assert back == rule and hash(back) == hash(rule) and repr(back) == repr(rule) and back.bins == rule.bins
    assert repr(rules[1]) == "areal.Binning(16, range=(0, 256), clamp=True)" and rules[-1].channels == 2


def test_measures() -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (20, 30), "uint8")
    edges = np.linspace(0, 128, 17)
    h = areal.integral_histogram(x, edges)
    boxes = [[0, 0, 30, 20], [3, 4, 10, 7], [1, 1, 1, 1], [5, 5, 0, 3]]
    counts = h.counts(boxes).astype(float)
    target = h.counts([2, 2, 9, 9]).astype(float)
    centres = (edges[:-1] + edges[1:]) / 2
    q = target / target.sum()
    for i, box in enumerate(boxes):
        c = counts[i]
        if not c.sum():
            assert h.entropy(box) == 0 and h.mode(box) == -1 and np.isnan(h.mean(box)) and np.isnan(h.median(box)) and not h.normalised(box).any()
            continue
        p = c / c.sum()
        assert np.allclose(h.normalised(box), p, rtol=1e-15)
        assert h.entropy(box) == pytest.approx(-(p[p > 0] * np.log2(p[p > 0])).sum(), abs=1e-12)
        assert h.mode(box) == c.argmax() and h.mean(box) == pytest.approx((p * centres).sum(), rel=1e-12)
        for percent in (0.5, 25, 50, 99):
            value = h.percentile(percent, box)
            assert np.interp(value, edges, np.concatenate([[0], p.cumsum()])) * 100 == pytest.approx(percent, abs=1e-9)
        for measure, truth in (("l1", np.abs(p - q).sum()), ("l2", np.sqrt(((p - q) ** 2).sum())), ("intersection", 1 - np.minimum(p, q).sum()),
                               ("hellinger", np.sqrt(max(0, 1 - np.sqrt(p * q).sum()))), ("emd", np.abs((p - q).cumsum()).sum()),
                               ("kolmogorov-smirnov", np.abs((p - q).cumsum()).max()),
                               ("chi-square", ((p - q)[p + q > 0] ** 2 / (p + q)[p + q > 0]).sum())):
            assert h.distance(target, box, measure=measure) == pytest.approx(truth, abs=1e-7)
    assert np.array_equal(h.median(boxes), h.percentile(50, boxes), equal_nan=True) and h.entropy(boxes).shape == (4,)
    for bad in (lambda: h.percentile(101, boxes), lambda: h.distance(target[:-1], boxes), lambda: h.distance(target, boxes, measure="cosine"),
                lambda: h.counts([0, 0, 31, 1]), lambda: h.counts([0, 0, 1, 1], format="coco"), lambda: h.counts([0, 0, 1, 1], outside="wrap")):
        with pytest.raises(areal.InvalidArgument):
            bad()
    assert h.counts([[0, 0, 1, 1], [0, 0, 31, 1]], refused=True)[1] == 1 and h.counts([0, 0, 99, 99], outside="clip").sum() == 600


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("batch", [0, 2])
def test_maps_of_distances(layout: str, batch: int) -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (batch, 12, 17) if batch else (12, 17), "uint8")
    x = x.swapaxes(-1, -2).copy().swapaxes(-1, -2) if layout == "F" else x
    h = areal.integral_histogram(x, 8, range=(0, 128), axes="NHW" if batch else "")
    target = np.arange(8)
    got = h.distance_map(target, size=(3, 5), measure="l1")
    assert got.shape == ((batch, 10, 13) if batch else (10, 13))
    for y, c in ((0, 0), (9, 12), (4, 7)):
        assert np.allclose(got[..., y, c], h.distance(target, [c, y, 5, 3], measure="l1"), rtol=1e-12)
    assert np.allclose(h.distance_map(target, 3, dtype="float32"), h.distance_map(target, (3, 3)), rtol=1e-5, atol=1e-6)
    assert h.distance_map(target, (13, 3)).size == 0
    with pytest.raises(areal.InvalidArgument):
        h.distance_map(target, (0, 3))
    with pytest.raises(areal.InvalidArgument, match="8 bins"):
        h.distance_map(target[1:], 3)


def test_out_plans_pickles_and_limits() -> None:
    rng = np.random.default_rng(SEED)
    x = pixels(rng, (9, 13), "uint8")
    out = np.zeros((4, 9, 13), np.uint32)
    h = areal.integral_histogram(x, 4, out=out)
    assert h.array is out and np.array_equal(out, areal.integral_histogram(x, 4).array)
    room = np.zeros((4, 13, 9), np.uint32).swapaxes(1, 2)
    assert areal.integral_histogram(x, 4, out=room).array is room and np.array_equal(room, out)
    for bad in (np.zeros((4, 9, 12), np.uint32), np.zeros((4, 9, 13), np.uint64), np.zeros((4, 9, 26), np.uint32)[..., ::2], [], "a"):
        with pytest.raises(areal.InvalidArgument, match="out"):
            areal.integral_histogram(x, 4, out=bad)
    plan = areal.HistogramPlan((9, 13), "uint8", areal.Binning(4, (0, 256)))
    assert np.array_equal(plan(x).array, out) and np.array_equal(pickle.loads(pickle.dumps(plan))(x).array, out) and plan(x, out=out).array is out
    with pytest.raises(areal.InvalidArgument, match="this plan is for 9x13, uint8"):
        plan(x[:5])
    back = pickle.loads(pickle.dumps(areal.integral_histogram(np.asfortranarray(x), 4)))
    assert repr(back) == repr(h) == ("<areal.IntegralHistogram HW 4x9x13 uint32 of uint8, areal.Binning(4, range=(0, 256)), border none, "
                                     "1,872 bytes, fused on cpu>")
    assert np.array_equal(back.counts([1, 2, 3, 4]), h.counts([1, 2, 3, 4])) and back.image_shape == (9, 13)
    with pytest.raises(areal.OutOfMemory) as caught:
        areal.integral_histogram(x, 4, memory_limit=1000)
    assert caught.value.bytes == 1872 and isinstance(caught.value, MemoryError)
    with pytest.raises(areal.OutOfMemory) as caught:
        areal.integral_histogram(np.zeros((60000, 60000), np.uint8), 1000)
    assert caught.value.bytes == 60000 * 60000 * 1000 * 4
    with pytest.raises(areal.InvalidArgument, match="NHW"):
        areal.integral_histogram(np.zeros((2, 3, 4), np.uint8), 4, axes="DHW")
    with pytest.raises(areal.InvalidArgument, match="copy=False"):
        areal.integral_histogram(x[:, ::2], 4, copy=False)
