"""areal.filters against windows that are gathered pixel by pixel, in exact fractions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import areal
from areal import filters

EDGES = ("valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant")
WHOLE = ("uint8", "int8", "uint16", "int16", "uint32", "int32")
NAN = float("nan")


def source(at: int, extent: int, edge: str) -> int | None:
    """The pixel of the image that a cell holds; None where it is beyond the edge and holds none."""
    if 0 <= at < extent:
        return at
    if edge == "replicate":
        return min(max(at, 0), extent - 1)
    if edge == "wrap":
        return at % extent
    if edge == "symmetric":
        at %= 2 * extent
        return at if at < extent else 2 * extent - 1 - at
    if edge == "reflect":
        if extent == 1:
            return 0
        at %= 2 * extent - 2
        return at if at < extent else 2 * extent - 2 - at
    return None


def windows(image: np.ndarray, mask: np.ndarray | None, size: tuple[int, int], anchor: tuple[int, int] | None, edge: str, value: float) -> Any:
    """For each window the values of its valid cells, and the pixel at its anchor."""
    height, width = image.shape
    ay, ax = anchor if anchor is not None else (size[0] // 2, size[1] // 2)
    down, across = (max(0, height - size[0] + 1), max(0, width - size[1] + 1)) if edge == "valid" else (height, width)
    ay_from, ax_from = (0, 0) if edge == "valid" else (ay, ax)
    rows = [source(at - ay_from, height, edge) for at in range(down + size[0] - 1)]
    columns = [source(at - ax_from, width, edge) for at in range(across + size[1] - 1)]
    places = np.ix_([row or 0 for row in rows], [column or 0 for column in columns])
    inside = np.array([[row is not None and column is not None for column in columns] for row in rows])
    beyond = np.array(value if edge == "constant" else 0, object)
    held = np.where(inside, image.astype(object)[places], beyond)  # Python's numbers
    valid = np.where(inside, np.ones(image.shape, bool)[places] if mask is None else mask[places], edge != "shrink")
    for y in range(down):
        for x in range(across):
            cells = np.s_[y : y + size[0], x : x + size[1]]
            yield (y, x), held[cells][valid[cells]].tolist(), image[y - ay_from + ay, x - ax_from + ax].item()


def rounded(value: Fraction, dtype: np.dtype[Any]) -> Any:
    """To the type: half to even and saturated, or the nearest float."""
    if dtype.kind == "f":
        return dtype.type(value.numerator / value.denominator if dtype.itemsize == 8 else float(np.float32(float(value))))
    info = np.iinfo(dtype)
    return min(max(round(value), info.min), info.max)


def same(mine: Any, value: Any) -> bool:
    return bool(mine == value) or bool(np.isnan(mine) and np.isnan(value))


@st.composite
def questions(draw: Any, dtypes: tuple[str, ...]) -> Any:
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 21))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        image = rng.normal(3, 100, (height, width)).astype(dtype)
    else:
        info = np.iinfo(dtype)
        image = rng.integers(info.min, info.max, (height, width), dtype, endpoint=True)
        image[rng.random(image.shape) < 0.1] = info.max
    size = draw(st.integers(1, 9)), draw(st.integers(1, 30))
    anchor = draw(st.one_of(st.none(), st.tuples(st.integers(0, size[0] - 1), st.integers(0, size[1] - 1))))
    edge = draw(st.sampled_from(EDGES))
    mask = rng.random(image.shape) < 0.7 if draw(st.booleans()) else None
    return image, size, anchor, edge, 17.0 if edge == "constant" else 0.0, mask


def options(question: Any) -> dict[str, Any]:
    _, _, anchor, edge, value, mask = question
    return {"anchor": anchor, "edge": edge, "value": value, "mask": mask}


@given(questions(WHOLE), st.sampled_from(("uint8", "int16", "int32", "float32", "float64")))
@settings(max_examples=150)
def test_means_and_sums_of_integers_are_exact(question: Any, output: str) -> None:
    image, size, anchor, edge, value, mask = question
    dtype = np.dtype(output)
    means = filters.mean(image, size, dtype=dtype, **options(question))
    sums = filters.sum(image, size, dtype=dtype, **options(question))
    counts = filters.count(image, size, **options(question))
    empty = NAN if dtype.kind == "f" else 0
    for at, cells, _ in windows(image, mask, size, anchor, edge, int(value)):
        n = len(cells)
        assert counts[at] == n
        assert same(sums[at], rounded(Fraction(sum(cells)), dtype) if n else empty)
        if n and dtype == np.float32:  # a mean is a double before it is a float
            assert means[at] == np.float32(Fraction(sum(cells), n).__float__())
        else:
            assert same(means[at], rounded(Fraction(sum(cells), n), dtype) if n else empty)


@given(questions(WHOLE[:4]), st.integers(0, 1))
@settings(max_examples=100)
def test_deviations_of_integers_are_within_an_ulp(question: Any, ddof: int) -> None:
    image, size, anchor, edge, value, mask = question
    variances = filters.var(image, size, ddof=ddof, **options(question))
    deviations = filters.std(image, size, ddof=ddof, **options(question))
    for at, cells, _ in windows(image, mask, size, anchor, edge, int(value)):
        n = len(cells)
        if n <= ddof or n == 0:
            assert np.isnan(variances[at]) and np.isnan(deviations[at])
            continue
        exact = Fraction(n * sum(c * c for c in cells) - sum(cells) ** 2, n * (n - ddof))
        assert abs(variances[at] - float(exact)) <= np.spacing(float(exact))
        assert abs(deviations[at] - math.sqrt(exact)) <= 2 * np.spacing(math.sqrt(exact))


@given(questions((*WHOLE, "float32", "float64")))
@settings(max_examples=100)
def test_extremes(question: Any) -> None:
    image, size, anchor, edge, value, mask = question
    least, most = filters.min(image, size, **options(question)), filters.max(image, size, **options(question))
    assert least.dtype == most.dtype == image.dtype
    for at, cells, _ in windows(image, mask, size, anchor, edge, value):
        if cells:
            assert least[at] == image.dtype.type(min(cells)) and most[at] == image.dtype.type(max(cells))
        else:
            assert same(least[at], NAN if image.dtype.kind == "f" else 0)


@given(questions((*WHOLE, "uint64", "int64", "float16", "float32", "float64")), st.one_of(st.just(50.0), st.floats(0, 100)), st.booleans())
@settings(max_examples=200)
def test_percentiles(question: Any, q: float, is_median: bool) -> None:
    image, size, anchor, edge, value, mask = question
    found = filters.median(image, size, **options(question)) if is_median else filters.percentile(image, size, q, **options(question))
    assert found.dtype == image.dtype
    for at, cells, _ in windows(image, mask, size, anchor, edge, value):
        if cells:
            rank = math.floor((50 if is_median else q) * len(cells) / 100)
            assert found[at] == image.dtype.type(sorted(cells)[min(len(cells) - 1, rank)])
        else:
            assert same(found[at], NAN if image.dtype.kind == "f" else 0)


def best_split(cells: list[int], zeros_alone: bool) -> int:
    """The least t of the greatest variance between the pixels up to it and the others, a fraction of whole numbers."""
    best, most, of, k, low = 0, 0, 1, 0, 0
    n, total, counts = len(cells), sum(cells), Counter(cells)
    for t in sorted(counts)[:-1]:
        k, low = k + counts[t], low + t * counts[t]
        between, pairs = (low * (n - k) - (total - low) * k) ** 2, k * (n - k)
        if between * of > most * pairs and (t > 0 or zeros_alone):
            best, most, of = t, between, pairs
    return best


@given(questions(("uint8", "uint16")), st.sampled_from((1, 5, 60, 2**16)), st.booleans())
@settings(max_examples=150)
def test_statistics_of_levels(question: Any, levels: int, zeros_alone: bool) -> None:
    image, size, anchor, edge, value, mask = question
    if levels <= np.iinfo(image.dtype).max:
        image %= image.dtype.type(levels)
    found = {name: getattr(filters, name)(image, size, **options(question)) for name in ("equalize", "modal", "entropy")}
    splits = filters.otsu(image, size, zeros_alone=zeros_alone, **options(question))
    single = filters.entropy(image, size, dtype="float32", **options(question))
    assert splits.dtype == found["equalize"].dtype == found["modal"].dtype == image.dtype and found["entropy"].dtype == np.float64
    most = 255 if image.dtype == np.uint8 else max(3, int(image.max()))
    for at, cells, centre in windows(image, mask, size, anchor, edge, int(value)):
        n = len(cells)
        if n == 0:
            assert found["equalize"][at] == splits[at] == found["modal"][at] == 0 and np.isnan(found["entropy"][at])
            continue
        counts = Counter(cells)
        assert found["equalize"][at] == most * sum(cell <= centre for cell in cells) // n
        highest = max(counts.values())
        assert found["modal"][at] == min(cell for cell in counts if counts[cell] == highest)
        assert splits[at] == best_split(cells, zeros_alone)
        assert abs(found["entropy"][at] - math.fsum(-c / n * math.log2(c / n) for c in counts.values())) < 1e-12
        assert single[at] == np.float32(found["entropy"][at])


@given(questions(("uint8",)), st.sampled_from((1, 5, 60, 256)), st.sampled_from((0.5, 3.0, 25.0, 100.0)))
@settings(max_examples=150)
def test_bilateral(question: Any, levels: int, sigma: float) -> None:
    image, size, anchor, edge, value, mask = question
    image %= np.uint8(min(levels, 255))
    found = filters.bilateral(image, size, sigma, dtype="float64", **options(question))
    whole, single = filters.bilateral(image, size, sigma, **options(question)), filters.bilateral(image, size, sigma, dtype="float32", **options(question))
    assert whole.dtype == np.uint8 and single.dtype == np.float32
    for at, cells, centre in windows(image, mask, size, anchor, edge, int(value)):
        weights = [math.exp(-((b - centre) ** 2) / (2 * sigma**2)) for b in cells]
        pairs = [(weight, b) for weight, b in zip(weights, cells, strict=True) if weight >= 2**-60]
        if not pairs:
            assert whole[at] == 0 and np.isnan(found[at]) and np.isnan(single[at])
            continue
        assert abs(found[at] - math.fsum(weight * b for weight, b in pairs) / math.fsum(weight for weight, _ in pairs)) < 1e-8
        assert whole[at] == round(float(found[at])) and single[at] == np.float32(found[at])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "float32", "float64"])
@pytest.mark.parametrize("whole", ["uint16", "int32", "int64"])
def test_sizes_of_every_pixel(dtype: str, whole: str) -> None:
    rng = np.random.default_rng(5)
    image = (rng.integers(0, 256, (17, 23)) if dtype[0] != "f" else rng.normal(0, 9, (17, 23))).astype(dtype)
    both, mask = rng.integers(0 if whole == "uint16" else -2, 40, (17, 23, 2)).astype(whole), rng.random(image.shape) < 0.8
    for sizes in (both, np.ascontiguousarray(both[..., 0])):
        for of in (image, np.asfortranarray(image)):
            sums, counts = filters.sum(of, sizes, mask=mask), filters.count(of, sizes, mask=mask)
            means, deviations = filters.mean(of, sizes, dtype="float64", mask=mask), filters.std(of, sizes, mask=mask)
            for y, x in np.ndindex(image.shape):
                h, w = (int(one) for one in (sizes[y, x] if sizes.ndim == 3 else (sizes[y, x],) * 2))
                rows, columns = slice(max(0, y - h // 2), max(0, y - h // 2 + h)), slice(max(0, x - w // 2), max(0, x - w // 2 + w))
                cells = image[rows, columns][mask[rows, columns]].astype(np.longdouble) if h > 0 and w > 0 else np.zeros(0)
                assert counts[y, x] == len(cells)
                if len(cells) == 0:
                    assert np.isnan(sums[y, x]) and np.isnan(means[y, x]) and np.isnan(deviations[y, x])
                    continue
                assert abs(sums[y, x] - cells.sum()) <= 1e-12 * abs(cells).sum() and abs(means[y, x] - cells.mean()) <= 1e-12 * abs(cells).max()
                assert abs(deviations[y, x] - cells.std()) <= 1e-12 * max(1, cells.std())


def test_sizes_of_channels_and_batches() -> None:
    rng = np.random.default_rng(6)
    image, sizes = rng.integers(0, 256, (2, 9, 11, 3), np.uint8), rng.integers(1, 9, (2, 9, 11), np.uint16)
    found = filters.mean(image, sizes, axes="NHWC")
    for n in range(2):
        for c in range(3):
            assert np.array_equal(found[n, :, :, c], filters.mean(np.ascontiguousarray(image[n, :, :, c]), sizes[n]))
    assert np.array_equal(filters.mean(image, np.full((2, 9, 11), 5, np.uint16), axes="NHWC"), filters.mean(image, 5, axes="NHWC"))
    first = np.ascontiguousarray(image[..., 0])
    assert np.array_equal(filters.threshold(first, np.full((2, 9, 11, 2), (3, 5), np.int32), axes="NHW"), filters.threshold(first, (3, 5), axes="NHW"))


def test_what_sizes_refuse() -> None:
    image, sizes = np.zeros((9, 11), np.uint8), np.ones((9, 11), np.int32)
    for call, words in ((lambda: filters.median(image, sizes), "windows of a size per pixel are for sums"), (lambda: filters.mean(image, sizes, edge="reflect"), "edge shrink"),
                        (lambda: filters.mean(image, sizes[1:]), "size"), (lambda: filters.mean(image, sizes.astype(np.float32)), "sizes type 32f"),
                        (lambda: filters.mean(image, sizes, anchor=1), "leave it at 1x1"), (lambda: filters.mean(image, sizes, backend="simt"), "size per pixel run on the CPU"),
                        (lambda: filters.mean(image, np.ones((9, 11, 3), np.int32)), "sizes of 3 channels")):
        with pytest.raises(areal.InvalidArgument, match=words):
            call()


def test_percentiles_with_nan() -> None:
    rng = np.random.default_rng(11)
    image = rng.normal(0, 9, (30, 40)).astype(np.float32)
    image[rng.random(image.shape) < 0.01] = NAN
    for size in (3, 5, 8):
        propagated, omitted = filters.median(image, size), filters.median(image, size, nan="omit")
        for at, cells, _ in windows(image, None, (size, size), None, "shrink", 0):
            known = sorted(cell for cell in cells if not math.isnan(cell))
            assert omitted[at] == np.float32(known[len(known) // 2])
            assert same(propagated[at], NAN if len(known) < len(cells) else np.float32(known[len(known) // 2]))


@given(questions(("float32", "float64")), st.booleans(), st.sampled_from(("propagate", "omit")))
@settings(max_examples=100)
def test_floats_have_no_drift_and_nan_stays_local(question: Any, spoil: bool, nan: Any) -> None:
    image, size, anchor, edge, value, mask = question
    if spoil:
        image.flat[len(image.flat) // 2] = NAN
        image.flat[0] = 1e20
    means = filters.mean(image, size, dtype="float64", nan=nan, **options(question))
    deviations = filters.std(image, size, nan=nan, **options(question))
    additions = sum(9 + -(-extent // 8) for extent in size)
    for at, cells, _ in windows(image, mask, size, anchor, edge, value):
        if nan == "omit":
            cells = [c for c in cells if not math.isnan(c)]
        if not cells or any(math.isnan(c) for c in cells):
            assert np.isnan(means[at]) and np.isnan(deviations[at])
            continue
        n, ratios = len(cells), [float(c).as_integer_ratio() for c in cells]
        unit = max(below for _, below in ratios)  # a power of two: the cells are whole numbers of 1 / unit
        whole = [above * (unit // below) for above, below in ratios]
        s1, s2 = sum(whole), sum(c * c for c in whole)
        mean = Fraction(s1, n * unit)
        bound = additions * 2.0**-53 * float(Fraction(sum(map(abs, whole)), n * unit))
        assert abs(Fraction(float(means[at])) - mean) <= bound + np.spacing(abs(float(mean)))
        root_mean_square = math.sqrt(Fraction(s2, n * unit * unit))
        deviation = math.sqrt(Fraction(n * s2 - s1 * s1, (n * unit) ** 2))
        assert abs(deviations[at] - deviation) <= math.sqrt(3 * additions * 2.0**-53) * root_mean_square


@given(questions(("uint8", "uint16")), st.sampled_from(("mean", "bradley", "niblack", "sauvola", "wolf", "nick")))
@settings(max_examples=120)
def test_thresholds(question: Any, method: Any) -> None:
    image, size, anchor, edge, value, mask = question
    thresholds = filters.threshold(image, size, method=method, dtype="float64", **options(question))
    black_white = filters.threshold(image, size, method=method, **options(question))
    inverted = filters.threshold(image, size, method=method, inverted=True, high=1, **options(question))
    half = 128 if image.dtype == np.uint8 else 32768
    found: dict[Any, tuple[float, float, float, int, float]] = {}
    for at, cells, pixel in windows(image, mask, size, anchor, edge, int(value)):
        n = len(cells)
        if n:
            s1, s2 = sum(cells), sum(c * c for c in cells)
            found[at] = s1 / n, math.sqrt(Fraction(n * s2 - s1 * s1, n * n)), s2, n, pixel
    smax = max((deviation for _, deviation, _, _, _ in found.values()), default=0)
    valid = image if mask is None else image[mask]
    pmin = float(valid.min()) if valid.size else 0
    for at, (m, s, s2, n, pixel) in found.items():
        expected = {"mean": m, "bradley": m * 0.85, "niblack": m - 0.2 * s, "sauvola": m * (1 + 0.2 * (s / half - 1)),
                    "wolf": m + 0.5 * ((s / smax if smax else 0) - 1) * (m - pmin), "nick": m - 0.2 * math.sqrt((s2 - m * m) / n)}[method]
        assert thresholds[at] == pytest.approx(expected, rel=1e-12, abs=1e-9)
        if abs(pixel - expected) > 1e-6:
            assert black_white[at] == (255 if pixel > expected else 0)
        assert inverted[at] == (0 if black_white[at] else 1)


def test_the_comparison_can_fail() -> None:
    """One pixel more or less is found in every window that holds it, and in no other."""
    image = np.random.default_rng(3).integers(1, 255, (9, 11), np.uint8)
    changed = image.copy()
    changed[4, 5] += 1
    for name in ("sum", "var", "max"):
        differ = getattr(filters, name)(image, 3) != getattr(filters, name)(np.where(changed != image, 255, image).astype(np.uint8), 3)
        assert differ[3:6, 4:7].all() and differ.sum() == 9
    truth = {at: sum(cells) for at, cells, _ in windows(changed, None, (3, 3), None, "shrink", 0)}
    found = filters.sum(image, 3)
    assert {at for at in truth if found[at] != truth[at]} == {(y, x) for y in range(3, 6) for x in range(4, 7)}


def test_a_window_of_one_pixel_that_is_not_finite() -> None:
    for dtype in ("float32", "float64"):
        for value in (NAN, float("inf")):
            image = np.array([[1, value, 2]], dtype)
            for size, edge in ((1, "shrink"), (1, "zero"), ((1, 2), "shrink")):
                assert np.isnan(filters.var(image, size, edge=edge)[0, 1]), (dtype, value, size, edge)
                assert np.isnan(filters.std(image, size, edge=edge)[0, 1]), (dtype, value, size, edge)


def test_windows_that_see_a_reflection_twice() -> None:
    rng = np.random.default_rng(7)
    for extent in (2, 5, 11, 16, 37):
        for edge, padding in (("symmetric", "symmetric"), ("reflect", "reflect"), ("wrap", "wrap"), ("replicate", "edge")):
            for size in (extent, 2 * extent, 2 * extent + 1, 3 * extent + 9):
                for anchor in (0, 1, size - 1):
                    line = rng.permutation(extent).astype(np.uint8)
                    cells = np.lib.stride_tricks.sliding_window_view(np.pad(line, (anchor, size - 1 - anchor), padding), size)
                    for name in ("min", "max"):
                        expected = getattr(cells, name)(1)
                        assert np.array_equal(getattr(filters, name)(line[None], (1, size), edge=edge, anchor=(0, anchor))[0], expected)
                        assert np.array_equal(getattr(filters, name)(line[:, None].copy(), (size, 1), edge=edge, anchor=(anchor, 0))[:, 0], expected)


def test_the_axes_and_the_memory_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    image = rng.integers(0, 256, (2, 3, 40, 50), np.uint8)
    each = np.stack([[filters.mean(plane, (5, 9)) for plane in planes] for planes in image])
    assert np.array_equal(filters.mean(image, (5, 9), axes="NCHW"), each)
    last = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    assert np.array_equal(filters.mean(last, (5, 9), axes="NHWC").transpose(0, 3, 1, 2), each)
    plane = image[0, 0]
    assert np.array_equal(filters.mean(np.asfortranarray(plane), (5, 9)), each[0, 0])
    assert np.array_equal(filters.mean(np.pad(plane, 7)[7:-7, 7:-7], (5, 9)), each[0, 0])
    assert np.array_equal(filters.mean(plane, (5, 9), threads=1), each[0, 0])
    out = np.empty_like(plane)
    assert filters.mean(plane, (5, 9), out=out) is out and np.array_equal(out, each[0, 0])


def test_min_count_and_fill() -> None:
    image = np.full((5, 5), 7, np.uint8)
    mask = np.zeros((5, 5), bool)
    mask[0, 0] = True
    assert filters.mean(image, 3, mask=mask).tolist()[0] == [7, 7, 0, 0, 0]
    assert filters.mean(image, 3, mask=mask, min_count=2, fill=9).tolist()[0] == [9, 9, 9, 9, 9]


def test_what_is_refused() -> None:
    image = np.zeros((4, 5), np.uint8)
    for wrong, words in (({"size": 0}, "size 0"), ({"size": (3, -1)}, "size"), ({"size": 3, "anchor": 3}, "anchor"), ({"size": 3, "edge": "mirror"}, "edge mirror"),
                         ({"size": 3, "nan": "skip"}, "nan skip"), ({"size": 3, "rounding": "up"}, "rounding up"), ({"size": "3x3"}, "size '3x3'"),
                         ({"size": 3, "dtype": "complex64"}, "complex64"), ({"size": 3, "mask": np.ones((5, 4), bool)}, "mask"),
                         ({"size": 3, "out": image}, "out")):
        with pytest.raises(areal.InvalidArgument, match=words):
            filters.mean(image, **wrong)
    with pytest.raises(areal.InvalidArgument, match="method otsu"):
        filters.threshold(image, 3, method="otsu")  # type: ignore[arg-type]
    for wrong, words in (({"q": 101}, "percent 101"), ({"q": NAN}, "percent"), ({"q": 9, "algorithm": "walk"}, "algorithm walk"), ({"backend": "simt", "mask": image == 0, "algorithm": "network"}, "neither masks")):
        with pytest.raises(areal.InvalidArgument, match=words):
            filters.percentile(image, 3, **wrong)
    for name in ("equalize", "otsu", "entropy", "modal"):
        for x, wrong, words in ((image.astype("int16"), {}, "take 8u and 16u"), (image.astype("uint16"), {"backend": "simt"}, "it takes 8u and 8s"), (image, {"algorithm": "classes"}, "it takes percentiles")):
            with pytest.raises(areal.InvalidArgument, match=words):
                getattr(filters, name)(x, 3, **wrong)
    for x, wrong, words in ((image.astype("uint16"), {}, "bilateral filters take 8u"), (image, {"sigma_range": 0}, "sigma_range 0"), (image, {"dtype": "int32"}, "bilateral filters give"),
                            (image, {"backend": "simt", "algorithm": "walk"}, "algorithm walk"), (image, {"algorithm": "sliding-counts"}, "it takes equalize")):
        with pytest.raises(areal.InvalidArgument, match=words):
            filters.bilateral(x, 3, **{"sigma_range": 25, **wrong})
    with pytest.raises(areal.InvalidArgument, match="entropies are 32f or 64f"):
        filters.entropy(image, 3, dtype="uint8")
    with pytest.raises(areal.InvalidArgument, match="r"):
        filters.threshold(image.astype(np.float32), 3)
    assert filters.mean(np.zeros((0, 5), np.uint8), 3).shape == (0, 5)
    assert filters.mean(image, 9, edge="valid").size == 0


def test_windows_of_one_pixel() -> None:
    for dtype in ("uint8", "uint16", "int16", "int32", "float32"):
        image = np.array([[10, 20, 30], [40, 50, 60]], dtype)
        assert np.array_equal(filters.mean(image, 1), image)
        assert np.array_equal(filters.mean(image, (2, 1), anchor=(1, 0))[0], image[0])  # whose first row holds one pixel
        assert np.array_equal(filters.mean(image[:, ::2], 1), image[:, ::2])


def test_min_count_of_extremes_counts_what_lies_far_beyond_the_edge() -> None:
    image = np.arange(25, dtype=np.uint8).reshape(5, 5)
    mask = np.ones((5, 5), bool)
    mask[0, 0] = False
    assert int(filters.count(image, 41, edge="replicate", mask=mask).min()) >= 840
    assert np.array_equal(filters.max(image, 41, edge="replicate", mask=mask, min_count=840, fill=99), np.full((5, 5), 24))


def test_windows_larger_than_the_image_have_no_valid_output() -> None:
    for dtype in ("uint8", "float32"):
        for name in ("mean", "min"):
            assert getattr(filters, name)(np.zeros((4, 4), dtype), (2**40, 1), edge="valid").shape == (0, 4)
            assert getattr(filters, name)(np.zeros((4, 4), dtype), (1, 2**40), edge="valid").shape == (4, 0)


def test_values_beyond_the_edge_are_those_of_the_type() -> None:
    assert filters.max(np.zeros((4, 4), np.uint64), 3, edge="constant", value=2.0**63)[0, 0] == 2**63
    with pytest.raises(areal.InvalidArgument, match="value"):
        filters.max(np.zeros((4, 4), np.uint64), 3, edge="constant", value=2.0**64)


def test_sizes_and_outputs_that_are_none() -> None:
    image = np.zeros((4, 4), np.uint8)
    for size in ((3.9, 3.9), "35", 2**63, 3.0, 0, -1, (1, 2, 3), None):
        with pytest.raises(areal.InvalidArgument, match="size"):
            filters.sum(image, size)
    with pytest.raises(areal.InvalidArgument, match="anchor"):
        filters.sum(image, 3, anchor=-1)
    with pytest.raises(areal.InvalidArgument, match="dtype float64"):
        filters.mean(image, 3, dtype="float64", out=np.zeros((4, 4), np.uint8))
    assert filters.mean([[1.0, 2.0]], 1).tolist() == [[1, 2]]
    assert filters.mean(np.ones((3, 3), np.float16), 3).dtype == np.float32
    assert filters.mean(np.ones((3, 3), np.uint32), 3).dtype == np.float64
    assert filters.count(image, 3, mask=np.zeros((4, 4), bool), dtype="float32").max() == 0


def test_guided_filters_of_every_lie() -> None:
    rng = np.random.default_rng(5)
    p, guide = rng.integers(0, 256, (3, 20, 31), np.uint8), rng.random((20, 31, 3)).astype(np.float32)
    alone = [filters.guided(p[c], 3, 0.01, guide) for c in range(3)]
    assert alone[0].dtype == np.uint8
    together = filters.guided(p, 3, 0.01, np.ascontiguousarray(guide.transpose(2, 0, 1)), axes="CHW")
    assert np.array_equal(together, np.stack(alone))
    last = np.ascontiguousarray(p.transpose(1, 2, 0))
    assert np.array_equal(filters.guided(last, 3, 0.01, guide, axes="HWC"), np.stack(alone, 2))
    assert np.array_equal(filters.guided(last, 3, 0.01, guide[:, :, 0], axes="HWC")[:, :, 1], filters.guided(p[1], 3, 0.01, guide[:, :, 0]))
    assert np.array_equal(filters.guided(p, 3, 0.01, np.stack([guide] * 3), axes="NHW"), np.stack(alone))
    turned = filters.guided(np.asfortranarray(p[0]), (2, 4), 0.01, np.asfortranarray(guide))
    assert np.array_equal(turned, filters.guided(p[0], (2, 4), 0.01, guide))
    assert np.array_equal(filters.guided(p[0], 2, 50), filters.guided(p[0], 2, 50, p[0]))
    five = rng.random((5, 12, 13)).astype(np.float32)
    assert np.array_equal(filters.guided(five, 2, 0.1, five[0], axes="CHW")[4], filters.guided(five[4], 2, 0.1, five[0]))
    out = np.empty((20, 31), np.float32)
    assert filters.guided(p[0], 3, 0.01, guide, out=out) is out
    assert np.abs(out - alone[0]).max() <= 0.5


def test_the_order_of_memory_changes_no_bit_of_floats() -> None:
    rng = np.random.default_rng(29)
    x = np.exp(rng.uniform(0, 30, (61, 83)))
    calls = {
        "sum": lambda a: filters.sum(a, (5, 9)), "mean": lambda a: filters.mean(a, (5, 9)), "var": lambda a: filters.var(a, (5, 9)),
        "std": lambda a: filters.std(a, (5, 9)), "min": lambda a: filters.min(a, (5, 9)), "median": lambda a: filters.median(a, (5, 9)),
        "sauvola": lambda a: filters.threshold(a, (5, 9), method="sauvola", r=1e12), "gaussian": lambda a: filters.gaussian(a, (6, 9)),
        "guided": lambda a: filters.guided(a.astype(np.float32, order="K"), (5, 9), 1e9),
    }
    for name, call in calls.items():
        of_rows, of_columns = call(x), call(np.asfortranarray(x))
        assert np.array_equal(of_rows, of_columns), name
    out = np.empty_like(x)
    assert filters.std(np.asfortranarray(x), (5, 9), out=out) is out and np.array_equal(out, calls["std"](x))
    with pytest.raises(areal.InvalidArgument, match="its rows must be contiguous"):
        filters.std(np.asfortranarray(x), (5, 9), out=np.asfortranarray(out))
    turned = np.asfortranarray(out)
    assert filters.median(np.asfortranarray(x), (5, 9), out=turned) is turned and np.array_equal(turned, calls["median"](x))


def test_gaussians_of_every_lie() -> None:
    rng = np.random.default_rng(6)
    x = rng.random((40, 50)).astype(np.float32)
    for sigma in ((1.5, 3), (10, 2), 9):
        blurred = filters.gaussian(x, sigma)
        assert np.array_equal(filters.gaussian(np.asfortranarray(x), sigma), blurred)
        assert np.array_equal(filters.gaussian(np.stack([x, x], 2), sigma, axes="HWC")[:, :, 1], blurred)
        assert filters.gaussian(x, sigma, dtype="float64").dtype == np.float64
    flat = np.full((40, 50), 77, np.uint8)
    assert np.array_equal(filters.gaussian(flat, 30), flat)
    assert filters.gaussian(x, 2, edge="valid").shape == (40 - 16, 50 - 16)
    boxes, weights = filters.gaussian(x, 5, passes=5), filters.gaussian(x, 5)
    assert 0 < np.abs(boxes - weights).max() <= 0.022


def test_what_guided_filters_and_gaussians_refuse() -> None:
    x = np.ones((8, 9), np.uint8)
    for call, words in [(lambda: filters.guided(x, 1, 0), "eps 0: it may be any finite number above 0"),
                        (lambda: filters.guided(x, 1, 1, np.ones((8, 9, 2), np.uint8)), "guide of 2 channels: it may have 1 or 3"),
                        (lambda: filters.guided(x, 1, 1, np.ones((8, 8), np.uint8)), "guide shape 8x8: this plan takes 9x8"),
                        (lambda: filters.guided(x, "3"), "radius '3'"),
                        (lambda: filters.gaussian(x, -1), "sigma -1: it may be 0 to 1000"),
                        (lambda: filters.gaussian(x, (1, 2, 3)), r"sigma \(1, 2, 3\)"),
                        (lambda: filters.gaussian(x, 2, passes=20), "passes 20: they may be 0 to 10")]:
        with pytest.raises(areal.InvalidArgument, match=words):
            call()
