"""Filters straight from the pixels: the mean, deviation, extreme, percentile, entropy or threshold of the window around every pixel, guided and bilateral filters,
Gaussians, and template matching.

Every filter takes an array of NumPy, PyTorch, CuPy or another array in CUDA memory, and returns one of the same framework on the same device, with the
same axes. The cost a pixel hardly depends on the window's size. No table is made, so memory is that of input and output.

Arguments that all filters share:

- ``size``: rows and columns of the window, or one number for both. ``anchor``: row and column of its pixel in the window, from 0 on, by default the middle, size // 2.
  An array gives each pixel a window of its own: uint16 or int32, of x's axes without C for rows and columns k, or with C for 2 channels, rows first. It is for sums,
  means, counts, variances, deviations and thresholds but wolf's, with edge ``shrink``, on the CPU; a size of 0 or less has no pixels.
- ``axes``: HW (2-D arrays), HWC, CHW, NHW, NHWC or NCHW; channels and images are filtered one by one.
- ``edge``: what lies beyond the image. ``shrink``: nothing, windows hold the pixels inside; ``valid``: the output has only windows that lie inside,
  (H-h+1) x (W-w+1); ``zero``; ``replicate``: aaa|abcd|ddd; ``reflect``: dcb|abcd|cba; ``symmetric``: cba|abcd|dcb; ``wrap``: bcd|abcd|abc;
  ``constant``: `value`.
- ``nan``: ``propagate``: windows that hold a NaN give NaN; ``omit``: NaN pixels are left out,
  of each channel by itself.
- ``mask``: pixels where it is 0 are left out; bool or uint8, without C.
- ``min_count``: windows with fewer valid pixels give ``fill``, by default NaN, or 0 in integers. With 0, a minimum of no pixels is infinity, or the dtype's
  largest value, and a maximum the opposite.
- ``dtype``: of the output: uint8, int8, uint16, int16, int32 (rounded half to even, saturated), float32 or float64. ``out``: an array to write to.
- ``backend``: auto, cpu, cuda or simt. ``threads``: of the CPU; 0 for all. Results do not depend on it.

Sums of integers are exact, however large the window is, and a sum or mean is rounded once, to the output's type. Raises InvalidArgument, OutOfMemory, Unavailable,
DeviceError.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _core
from ._arrays import as_array, dtype_name
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework, framework_of
from ._sat import Edge

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Hit", "Peak", "bilateral", "count", "entropy", "equalize", "gaussian", "guided", "match", "max", "mean", "median", "min", "modal", "otsu", "peaks", "percentile",
           "std", "sum", "threshold", "var"]

Missing = Literal["propagate", "omit"]
Method = Literal["mean", "bradley", "niblack", "sauvola", "wolf", "nick"]
MatchMethod = Literal["sqdiff", "sqdiff-normed", "ccorr", "ccorr-normed", "ccoeff", "ccoeff-normed"]

_settings = lru_cache(maxsize=256)(_core.filter_settings)
_guided_settings = lru_cache(maxsize=256)(_core.guided_settings)
_gaussian_settings = lru_cache(maxsize=256)(_core.gaussian_settings)


def _pair(name: str, value: Any) -> tuple[int, int]:
    least = 0 if name == "anchor" else 1
    try:
        pair = (value, value) if isinstance(value, (int, np.integer)) else tuple(value)
        rows, columns = (operator.index(one) for one in pair)
    except (TypeError, ValueError):
        rows = columns = least - 1
    if not (least <= rows < 2**63 and least <= columns < 2**63):
        raise InvalidArgument(f"{name} {value!r}: it may be a whole number from {least} on, or two for rows and columns")
    return rows, columns


def _sizes_of(size: Any) -> Any:
    """An array of sizes, if that is what it is; of NumPy as uint16 or int32."""
    if getattr(size, "ndim", 0) < 2:
        return None
    if isinstance(size, np.ndarray) and size.dtype.kind in "iu" and size.dtype not in (np.uint16, np.int32):
        return size.clip(0, 2**31 - 1).astype(np.int32)
    return size


def _filter(name: str, x: Any, size: Any, default: str, axes: str, edge: str, value: float, anchor: Any, mask: Any, nan: str, min_count: int, fill: float | None,
            dtype: Any, rounding: str, out: Any, algorithm: str, backend: str, device: int, threads: int, *, k: float | None = None, r: float | None = None,
            offset: float = 0, high: float = 255, inverted: bool = False, ddof: int = 0) -> Any:
    on, x = _framework_and_array(x, out)
    if out is not None:
        if dtype is not None and dtype_name(dtype) != dtype_name(out.dtype):
            raise InvalidArgument(f"dtype {dtype_name(dtype)}: out is of {dtype_name(out.dtype)}")
        dtype = out.dtype
    elif dtype is None:
        dtype = default or x.dtype
        if name == "mean":
            dtype = {"float16": "float32", "uint32": "float64"}.get(dtype_name(dtype), dtype)
    output = dtype_name(dtype)
    sizes = _sizes_of(size)
    window = _pair("size", size) if sizes is None else (1, 1)
    settings = _settings(name, k, r, offset, high, bool(inverted), ddof, window, (-1, -1) if anchor is None else _pair("anchor", anchor), edge, value, nan,
                         mask is not None, min_count, fill, rounding, "uint8" if output == "bool" else output, algorithm, backend, device, threads,
                         sizes is not None)
    return _core.filter(on, x, settings, axes, mask, out, None, sizes)


def sum(x: Any, size: int | tuple[int, int] | Any, *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
        nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
        backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Sums of windows, by default in float64."""
    return _filter("sum", x, size, "float64", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads)


def mean(x: Any, size: int | tuple[int, int] | Any, *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
         nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, rounding: str = "nearest", out: Any = None,
         algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Means of windows: a box blur, by default in the image's dtype; of float16 in float32, of uint32 in float64.

    rounding: ``nearest``: half to even; ``opencv``: as cv2.boxFilter, bit for bit.
    """
    return _filter("mean", x, size, "", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, rounding, out, algorithm, backend, device, threads)


def count(x: Any, size: int | tuple[int, int] | Any, *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
          nan: Missing = "propagate", dtype: Any = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """The number of valid pixels of each window, by default in int32."""
    return _filter("count", x, size, "int32", axes, edge, value, anchor, mask, nan, 0, None, dtype, "nearest", out, algorithm, backend, device, threads)


def var(x: Any, size: int | tuple[int, int] | Any, *, ddof: int = 0, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
        mask: Any = None, nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
        backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Variances of windows, by default in float64. ddof: the divisor is n - ddof; windows with n <= ddof give NaN."""
    return _filter("var", x, size, "float64", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads, ddof=ddof)


def std(x: Any, size: int | tuple[int, int] | Any, *, ddof: int = 0, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
        mask: Any = None, nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
        backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Standard deviations of windows, by default in float64. ddof as in `var`."""
    return _filter("std", x, size, "float64", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads, ddof=ddof)


def min(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
        nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
        backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Minima of windows (erosion), by default in the image's dtype."""
    return _filter("min", x, size, "", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads)


def max(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
        nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
        backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Maxima of windows (dilation), by default in the image's dtype."""
    return _filter("max", x, size, "", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads)


def percentile(x: Any, size: int | tuple[int, int], q: float = 50, *, axes: str = "", edge: Edge = "shrink", value: float = 0,
               anchor: int | tuple[int, int] | None = None, mask: Any = None, nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, out: Any = None,
               algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Percentiles of windows, in the image's dtype: pixel min(n - 1, floor(q n / 100)) of the n in order, from 0 on.

    The cost a pixel hardly depends on the window's size.
    """
    return _filter("percentile", x, size, "", axes, edge, value, anchor, mask, nan, min_count, fill, None, "nearest", out, algorithm, backend, device, threads, k=float(q))


def median(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
           nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0,
           threads: int = 0) -> Any:
    """Medians of windows: `percentile` with q = 50; of an even number of pixels the upper one."""
    return percentile(x, size, 50, axes=axes, edge=edge, value=value, anchor=anchor, mask=mask, nan=nan, min_count=min_count, fill=fill, out=out, algorithm=algorithm,
                      backend=backend, device=device, threads=threads)


def equalize(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
             mask: Any = None, min_count: int = 1, fill: float | None = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0,
             threads: int = 0) -> Any:
    """The rank of every pixel in its window, stretched over all levels: floor((bins - 1) k / n) with the k of n pixels that are at most it.

    uint8 or uint16, as the image. bins: 256 for uint8; for uint16 the largest pixel of the channel of an image, whether the mask leaves it out or not,
    plus 1, but at least 4. On the CPU: O(1) a pixel of uint8, O(h) of uint16 in windows of h rows. As skimage.filters.rank.equalize.
    """
    return _filter("equalize", x, size, "", axes, edge, value, anchor, mask, "propagate", min_count, fill, None, "nearest", out, algorithm, backend, device, threads)


def otsu(x: Any, size: int | tuple[int, int], *, zeros_alone: bool = True, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
         mask: Any = None, min_count: int = 1, fill: float | None = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0,
         threads: int = 0) -> Any:
    """Otsu's threshold of every window (1979): the least t that maximises the variance between the pixels up to t and those above; 0 where all are equal.

    uint8 or uint16, as the image. The decision is exact. zeros_alone: whether t may be such that the pixels up to it are all 0, which
    skimage.filters.rank.otsu never chooses. On the CPU: O(256) a pixel of uint8, O(h + min(n, 65536)) of uint16 in windows of n pixels and h rows.
    """
    return _filter("otsu", x, size, "", axes, edge, value, anchor, mask, "propagate", min_count, fill, None, "nearest", out, algorithm, backend, device, threads, k=float(bool(zeros_alone)))


def entropy(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
            mask: Any = None, min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0,
            threads: int = 0) -> Any:
    """Entropies of windows in bits, -sum of c / n log2(c / n) over the counts c of n pixels by level; by default in float64, or float32.

    Images of uint8 or uint16. The error is below 3e-13 in float64, and the bits are the same on every machine. On the CPU: O(256) a pixel of uint8, O(h)
    of uint16 in windows of h rows. As skimage.filters.rank.entropy.
    """
    return _filter("entropy", x, size, "float64", axes, edge, value, anchor, mask, "propagate", min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads)


def modal(x: Any, size: int | tuple[int, int], *, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None,
          mask: Any = None, min_count: int = 1, fill: float | None = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0,
          threads: int = 0) -> Any:
    """The most frequent pixel of every window, the least one if there are several.

    uint8 or uint16, as the image. On the CPU: O(256) a pixel of uint8, O(h) of uint16 in windows of h rows. As skimage.filters.rank.modal.
    """
    return _filter("modal", x, size, "", axes, edge, value, anchor, mask, "propagate", min_count, fill, None, "nearest", out, algorithm, backend, device, threads)


def bilateral(x: Any, size: int | tuple[int, int], sigma_range: float, *, axes: str = "", edge: Edge = "shrink", value: float = 0,
              anchor: int | tuple[int, int] | None = None, mask: Any = None, min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None,
              algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """The bilateral filter of a box window (Porikli 2008), which smooths and keeps edges: the mean of the window's pixels b, weighted by
    exp(-(b - p)^2 / (2 sigma_range^2)) around its own pixel p, and by 0 below 2^-60.

    Images of uint8; by default in uint8, or float32 or float64, whose error is below 1e-8. sigma_range: above 0, in levels. The position of a pixel in the window
    does not matter, other than in cv2.bilateralFilter. p counts also where the mask leaves it out; `fill` is also of windows without a weight.
    At most O(256) a pixel on the CPU. The bits are the same on every machine.
    """
    return _filter("bilateral", x, size, "", axes, edge, value, anchor, mask, "propagate", min_count, fill, dtype, "nearest", out, algorithm, backend, device, threads,
                   k=float(sigma_range))


def threshold(x: Any, size: int | tuple[int, int] | Any, *, method: Method = "sauvola", k: float | None = None, r: float | None = None, offset: float = 0, high: float = 255,
              inverted: bool = False, axes: str = "", edge: Edge = "shrink", value: float = 0, anchor: int | tuple[int, int] | None = None, mask: Any = None,
              nan: Missing = "propagate", min_count: int = 1, fill: float | None = None, dtype: Any = None, out: Any = None, algorithm: str = "auto",
              backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """Local thresholds: `high` where a pixel exceeds the threshold T of its window, else 0; in uint8.

    With the window's mean m, its standard deviation s, n pixels and their sum of squares S2, and `offset` subtracted from each:

    - ``mean``: T = m
    - ``bradley``: T = m (1 - k), k = 0.15 (Bradley and Roth 2007)
    - ``niblack``: T = m + k s, k = -0.2 (Niblack 1986; scikit-image has the opposite sign of k)
    - ``sauvola``: T = m (1 + k (s / r - 1)), k = 0.2, r half the range of the type (Sauvola and Pietikainen 2000); floats need an r
    - ``wolf``: T = m + k (s / smax - 1) (m - pmin), k = 0.5, smax and pmin of the whole image (Wolf and Jolion 2003)
    - ``nick``: T = m + k sqrt((S2 - m^2) / n), k = -0.2 (Khurshid et al. 2009)

    inverted: 0 where a pixel exceeds T, else `high`. dtype float32 or float64: T itself.
    """
    return _filter(f"threshold-{method}", x, size, "uint8", axes, edge, value, anchor, mask, nan, min_count, fill, dtype, "nearest", out, algorithm, backend, device,
                   threads, k=k, r=r, offset=offset, high=high, inverted=inverted)


def _numbers(name: str, value: Any) -> tuple[float, float]:
    try:
        if isinstance(value, (int, float, np.number)):
            return float(value), float(value)
        rows, columns = value
        return float(rows), float(columns)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} {value!r}: it may be a number, or two for rows and columns") from None


def _framework_and_array(x: Any, out: Any) -> tuple[Framework, Any]:
    """The framework of an image, and the image as an array of it."""
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if not hasattr(x, "dtype"):  # a list, a memoryview, or what only DLPack's protocol is known of
        on, x = NUMPY, as_array(x)
    if not on.is_plain(x):
        raise InvalidArgument("filters: they have no gradients, and cannot be traced; detach the array")
    if out is not None and not hasattr(out, "dtype"):
        raise InvalidArgument(f"out: it may be an array, not {type(out).__name__}")
    return on, x


def _apply(x: Any, axes: str, dtype: Any, out: Any, guide: Any, settings: Any) -> Any:
    """settings(dtype's name): those of the filter."""
    on, x = _framework_and_array(x, out)
    output = dtype_name(out.dtype if out is not None else x.dtype if dtype is None else dtype)
    return _core.filter(on, x, settings("uint8" if output == "bool" else output), axes, None, out, guide)


def guided(p: Any, radius: int | tuple[int, int] = 8, eps: float = 1e-3, guide: Any = None, *, axes: str = "", edge: Edge = "shrink", value: float = 0,
           dtype: Any = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """The guided filter (He, Sun and Tang 2010): smooths p, and keeps the edges of a guide I. uint8, uint16 and float32, by default in p's dtype.

    In each window of 2 radius + 1 rows and columns q = a I + b is the line nearest to p, with a = cov(I, p) / (var(I) + eps) and b = mean(p) - a mean(I).
    A pixel's q is the mean over all windows that hold it.

    guide: p's axes, without C, or with C for 1 or 3 channels; p of HW may have a guide of HWC. With 3 channels a is a vector. It may have another dtype
    than p. None: each channel of p guides itself.
    eps: above 0, in the square of the guide's units: 1e-3 for a guide of 0 to 1 is 65 for one of uint8.
    edge: all but ``valid``; a and b lie beyond an edge as pixels do. A NaN changes the pixels that share a window with it. O(1) a pixel. Guides of
    3 channels: on the CPU.
    """
    rows, columns = _pair("radius", radius)
    return _apply(p, axes, dtype, out, guide, lambda output: _guided_settings(float(eps), 1.0, (2 * rows + 1, 2 * columns + 1), (-1, -1), edge, value, output,
                                                                              algorithm, backend, device, threads))


def gaussian(x: Any, sigma: float | tuple[float, float], *, truncate: float = 4, passes: int = 0, axes: str = "", edge: Edge = "shrink", value: float = 0,
             dtype: Any = None, out: Any = None, algorithm: str = "auto", backend: str = "auto", device: int = 0, threads: int = 0) -> Any:
    """The Gaussian, by default in the image's dtype. sigma: a number, or two for rows and columns, 0 to 1000.

    algorithm: ``convolution``, by default up to sigma 8: weights as far as int(truncate sigma + 1/2), in float64, O(sigma) a pixel. ``extended-boxes``
    (Gwosdek et al. 2011), beyond: boxes of the same variance that repeat `passes` times, O(passes) a pixel. A number of passes chooses boxes for every
    sigma. From sigma 2 on, 5 of them, the default, differ from the Gaussian by at most 0.022 of the range of pixel values, 3 by 0.040.
    edge: ``shrink`` divides by the weights inside. On a GPU a sigma of up to 331.
    """
    return _apply(x, axes, dtype, out, None, lambda output: _gaussian_settings(_numbers("sigma", sigma), float(truncate), passes, edge, value, output, algorithm,
                                                                               backend, device, threads))


class Hit(NamedTuple):
    """Where a template was found: its first column and row, the size in which it was found, as a multiple of the template's, too, and the score."""

    x: int
    y: int
    width: int
    height: int
    scale: float
    score: float


class Peak(NamedTuple):
    """A column and a row, and the score there."""

    x: int
    y: int
    score: float


def _plain(x: Any) -> Any:
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if not on.is_plain(x):
        raise InvalidArgument("filters: they have no gradients, and cannot be traced; detach the array")
    return on


def _scales(scales: Any) -> list[float]:
    """The numbers of a list, or the powers of a factor, for a tuple of (least, most, factor)."""
    if scales is None:
        return [1.0]
    try:
        if not (isinstance(scales, tuple) and len(scales) == 3):
            return [float(one) for one in scales]
        least, most, factor = (float(one) for one in scales)
    except (TypeError, ValueError):
        raise InvalidArgument(f"scales {scales!r}: it may be (least, most, factor), or a list of numbers") from None
    if not (0 < least <= most < math.inf and 1 < factor < math.inf):
        raise InvalidArgument(f"scales {scales!r}: (least, most, factor) need 0 < least <= most and a factor above 1")
    first, last = math.ceil(math.log(least) / math.log(factor) - 1e-9), math.floor(math.log(most) / math.log(factor) + 1e-9)
    if not 0 <= last - first < 10000:
        raise InvalidArgument(f"scales {scales!r}: {builtins.max(0, last - first + 1)} powers of {factor:g} lie between, there may be 1 to 10000")
    return [factor**power for power in range(first, last + 1)]


def match(x: Any, template: Any, *, method: MatchMethod = "ccoeff-normed", scales: Iterable[float] | None = None, top: int | None = None,
          threshold: float | None = None, distance: int | None = None, axes: str = "", dtype: Any = None, out: Any = None, algorithm: str = "auto",
          threads: int = 0) -> Any:
    """Template matching: the score of a template at every position of an image, or the best positions. uint8, uint16, float32 and float64, on the CPU.

    Returns an array of (H - h + 1) x (W - w + 1) scores, without C, in `dtype`, float64 or float32. With scales, top, threshold or distance it returns a list
    of `Hit`, best first. With the window I, the template T, and I', T' less the means of their channels, summed over pixels and channels:

    - ``sqdiff``: sum (I - T)^2; the best is the least
    - ``sqdiff-normed``: sqdiff / sqrt(sum I^2 sum T^2), at most 1
    - ``ccorr``: sum I T; ``ccorr-normed``: ccorr / sqrt(sum I^2 sum T^2)
    - ``ccoeff``: sum I' T'; ``ccoeff-normed``: ccoeff / sqrt(sum I'^2 sum T'^2), -1 to 1

    Sums of integers are exact, denominators of 0 give 0 (sqdiff-normed: 1 if the window differs from the template), and a NaN or an infinity makes NaN of the
    windows that hold it, and of no others.

    scales: the template is resized by each of a list, or by the powers of a factor, 1 among them, in a tuple (least, most, factor). Only normed methods take
    others than 1. Sizes larger than the image are left out. top: so many hits, None for all. threshold: hits reach it. distance: a hit is the best within so many columns and rows of its centre, by
    default half the template's smaller side. algorithm: ``fft``, ``direct`` (small templates) or ``auto``.
    """
    on = _plain(x)
    if on is NUMPY:
        x, template = np.asarray(x), np.asarray(template)
    if scales is None and top is None and threshold is None and distance is None:
        output = dtype_name(out.dtype if out is not None else "float64" if dtype is None else dtype)
        if out is not None and dtype is not None and dtype_name(dtype) != output:
            raise InvalidArgument(f"dtype {dtype_name(dtype)}: out is of {output}")
        return _core.match(on, x, template, axes, out, method, output, algorithm, threads)
    if out is not None or dtype is not None:
        raise InvalidArgument("out and dtype: hits are a list; without scales, top, threshold and distance there is an array of scores")
    found = _core.match_hits(on, x, template, axes, _scales(scales), method, 0 if top is None else top, threshold, distance, algorithm, threads)
    return [Hit(*hit) for hit in found]


def peaks(scores: Any, *, top: int | None = None, threshold: float | None = None, distance: int = 1, minima: bool = False, threads: int = 0) -> list[Peak]:
    """The peaks of scores, best first: those that no other within `distance` columns and rows exceeds. float32 or float64, in host memory.

    Of equal scores within the distance only the first, row by row, can be a peak; NaN are left out. top: so many, None for all. threshold: peaks reach it.
    minima: the best are the least, as with ``sqdiff`` and ``sqdiff-normed``.
    """
    on = _plain(scores)
    if on is NUMPY:
        scores = np.asarray(scores)
    return [Peak(*peak) for peak in _core.peaks(on, scores, 0 if top is None else top, threshold, distance, minima, threads)]
