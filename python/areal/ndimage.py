"""``scipy.ndimage.uniform_filter``, ``gaussian_filter``, ``minimum_filter``, ``maximum_filter``, ``median_filter`` and ``percentile_filter`` at areal's
speed, for arrays in host memory.

Arrays have any number of dimensions, and bool, integers of 8 to 64 bits, float32 or float64. Arguments are SciPy's; others than those listed raise
areal.InvalidArgument. Runs on the CPU, without importing SciPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import filters
from ._errors import InvalidArgument
from ._reaching import reaching

__all__ = ["gaussian_filter", "maximum_filter", "median_filter", "minimum_filter", "percentile_filter", "uniform_filter"]

_EDGES = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "replicate", "wrap": "wrap", "grid-wrap": "wrap",
          "constant": "constant", "grid-constant": "constant"}
_TAKEN = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64")


class _Pass(NamedTuple):
    """The filter along one axis."""

    axis: int
    size: int
    before: int  # cells of the window before its pixel
    edge: str


def _whole(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{name} {value!r}: it must be a whole number, or one for each axis") from None


def _each(name: str, value: Any, axes: int) -> list[Any]:
    """One for each axis."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return [value] * axes
    if len(value) != axes:
        raise InvalidArgument(f"{name} {value!r}: it must have one for each of {axes} axes")
    return list(value)


def _axes(axes: Any, dimensions: int) -> list[int]:
    if axes is None:
        return list(range(dimensions))
    chosen = [_whole("axes", axis) for axis in _each("axes", axes, len(axes) if isinstance(axes, (Sequence, np.ndarray)) else 1)]
    if any(not -dimensions <= axis < dimensions for axis in chosen) or len({axis % dimensions for axis in chosen}) < len(chosen):
        raise InvalidArgument(f"axes {axes!r}: they must be different axes of an array of {dimensions} dimensions")
    return [axis % dimensions for axis in chosen]


def _passes(dimensions: int, size: Any, mode: Any, origin: Any, axes: Any) -> list[_Pass]:
    """Those whose windows have more than one pixel, in SciPy's order."""
    chosen = _axes(axes, dimensions)
    made = []
    for axis, extent, named, shift in zip(chosen, _each("size", size, len(chosen)), _each("mode", mode, len(chosen)), _each("origin", origin, len(chosen)),
                                          strict=True):
        if named not in _EDGES:
            raise InvalidArgument(f"mode {named!r}: it may be {', '.join(_EDGES)}")
        cells = _whole("size", extent)
        if cells < 1:
            raise InvalidArgument(f"size {cells}: it must be positive")
        before = cells // 2 + _whole("origin", shift)
        if not 0 <= before < cells:
            raise InvalidArgument(f"origin {shift}: the window of {cells} must hold its pixel")
        if cells > 1:
            made.append(_Pass(axis, cells, before, _EDGES[named]))
    return made


def _input(input: Any) -> NDArray[Any]:
    x = np.asarray(input)
    if x.dtype.name not in _TAKEN:
        raise InvalidArgument(f"input of {x.dtype}: it may be {', '.join(_TAKEN)}")
    return x.astype(x.dtype.newbyteorder("="), copy=False)


def _output(x: NDArray[Any], output: Any) -> tuple[NDArray[Any] | None, np.dtype[Any]]:
    """The caller's array, if it is one, and the dtype of the result."""
    given = output if isinstance(output, np.ndarray) else None
    if given is not None and given.shape != x.shape:
        raise InvalidArgument(f"output of shape {given.shape}: it must have the input's, {x.shape}")
    try:
        dtype = x.dtype if output is None else given.dtype.newbyteorder("=") if given is not None else np.dtype(output)
    except TypeError:
        raise InvalidArgument(f"output {output!r}: it must be an array or a dtype") from None
    if dtype.name not in _TAKEN or not (np.can_cast(x.dtype, dtype) or dtype.kind == "f"):
        raise InvalidArgument(f"output of {dtype} with input of {x.dtype}: it may be the input's dtype, one that holds all its values, or a float")
    return given, dtype


def _value(cval: Any, dtype: np.dtype[Any]) -> float:
    if not isinstance(cval, (int, float, np.bool_, np.integer, np.floating)):
        raise InvalidArgument(f"cval {cval!r}: it must be a number")
    value = float(cval)
    if dtype.kind != "f":
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not (value.is_integer() and least <= value <= most and (dtype.itemsize < 8 or abs(value) <= 2.0**53)):
            raise InvalidArgument(f"cval {cval!r} with input of {dtype}: it must be a whole number that this dtype holds, up to 2^53")
    return value


def _planes(x: NDArray[Any], first: int, last: int) -> tuple[tuple[int, ...], str]:
    """The shape of the array as images whose rows and columns are two axes, or one, and the letters of its axes."""
    outer, inner = (int(np.prod(extents, dtype=np.int64)) for extents in (x.shape[:first], x.shape[last + 1:]))
    if first != last:
        return (outer, x.shape[first], x.shape[last], inner), "NHWC"
    return ((outer, x.shape[first]), "HW") if inner == 1 else ((outer, x.shape[first], inner), "NHW")


def _filtered(name: str, x: NDArray[Any], passes: list[_Pass], value: float, **more: Any) -> NDArray[Any]:
    """A filter of one axis, or of two that follow each other."""
    low, high = (min(passes), max(passes)) if len(passes) > 1 else (passes[0], passes[0])
    shape, letters = _planes(x, low.axis, high.axis)
    size, anchor = (low.size, high.size), (low.before, high.before)
    if low is high:
        size, anchor = ((1, low.size), (0, low.before)) if letters == "HW" else ((low.size, 1), (low.before, 0))
    if letters == "NHWC" and shape[3] == 1:
        shape, letters = shape[:3], "NHW"
    images = np.ascontiguousarray(x).reshape(shape)
    return reaching(name, images, size, low.edge, anchor, letters, value if low.edge == "constant" else 0, **more).reshape(x.shape)


def _together(passes: list[_Pass]) -> list[list[_Pass]]:
    """The passes by ones, and by twos where one filter of rows and columns does both."""
    groups: list[list[_Pass]] = []
    for one in passes:
        if groups and len(groups[-1]) == 1 and abs(groups[-1][0].axis - one.axis) == 1 and groups[-1][0].edge == one.edge:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _delivered(result: NDArray[Any], x: NDArray[Any], given: NDArray[Any] | None) -> NDArray[Any]:
    if given is None:
        return result.copy() if np.may_share_memory(result, x) else result
    given[...] = result
    return given


def _truncated_means(x: NDArray[Any], one: _Pass, value: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Means along one axis, rounded towards zero, as SciPy's cast of a double does.

    A mean that is no whole number is at least 1 / size below the next one. So it may pass through a float of 32 bits if neighbours near the largest
    value are closer than that, which takes half the memory of one of 64.
    """
    pixels = x.view(np.uint8) if x.dtype.kind == "b" else x.astype(np.float64) if x.dtype.itemsize == 8 else x
    small = x.dtype.itemsize <= 2 and one.size < 2 ** (24 - 8 * x.dtype.itemsize)
    means = _filtered("mean", pixels, [one], value, dtype=np.float32 if small else np.float64)
    return means.astype(np.uint8).view(np.bool_) if dtype.kind == "b" else means.astype(dtype)


def uniform_filter(input: ArrayLike, size: int | Sequence[int] = 3, output: NDArray[Any] | DTypeLike | None = None, mode: str | Sequence[str] = "reflect",
                   cval: float = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """Means of the window around every element: an array of input's shape.

    size, mode, origin: one, or one for each axis. mode: reflect, mirror, nearest, wrap, constant (`cval`), grid-mirror, grid-wrap or grid-constant.
    output: an array, or a dtype: the input's, one that holds all its values, or a float. axes: those that are filtered, by default all.
    Integers have SciPy's values: each axis rounds towards zero, the first one first, if sums are below 2^53. Floats are within 1e-6 of SciPy's, but a
    NaN or an infinity spoils the windows that hold it, and no others. Of float outputs two neighbouring axes take one pass; of integers each axis takes
    one, through floats of 32 bits (8- and 16-bit input) or 64. O(input.size) for any size. As scipy.ndimage.uniform_filter of SciPy 1.17.
    """
    x = _input(input)
    given, dtype = _output(x, output)
    value = _value(cval, x.dtype)
    passes = _passes(x.ndim, size, mode, origin, axes)
    if x.size == 0 or not passes:
        return _delivered(x.astype(dtype), x, given)
    result = x
    if dtype.kind != "f":
        for one in passes:
            result = _truncated_means(result, one, value, dtype)
        return _delivered(result, x, given)
    if x.dtype.kind == "b":
        result = x.view(np.uint8)
    elif x.dtype.itemsize == 8:
        result = x.astype(np.float64, copy=False)
    for group in _together(passes):
        result = _filtered("mean", result, group, value, dtype=dtype)
    return _delivered(result, x, given)


class _Smooth(NamedTuple):
    """The Gaussian along one axis."""

    axis: int
    sigma: float
    reach: int
    edge: str

    @property
    def truncate(self) -> float:
        return self.reach / self.sigma


def _smooths(dimensions: int, sigma: Any, mode: Any, truncate: Any, radius: Any, axes: Any) -> list[_Smooth]:
    chosen = _axes(axes, dimensions)
    made = []
    for axis, width, named, cells in zip(chosen, _each("sigma", sigma, len(chosen)), _each("mode", mode, len(chosen)), _each("radius", radius, len(chosen)),
                                         strict=True):
        if named not in _EDGES:
            raise InvalidArgument(f"mode {named!r}: it may be {', '.join(_EDGES)}")
        if not isinstance(width, (int, float, np.integer, np.floating)) or not 0 <= width <= 1000:
            raise InvalidArgument(f"sigma {width!r}: it may be 0 to 1000")
        reach = int(float(truncate) * float(width) + 0.5) if cells is None else _whole("radius", cells)
        if not 0 <= reach <= 4096:
            raise InvalidArgument(f"radius {reach}: it may be 0 to 4096")
        if width > 1e-15 and reach > 0:
            made.append(_Smooth(axis, float(width), reach, _EDGES[named]))
    return made


def _smoothed(x: NDArray[Any], passes: list[_Smooth], value: float, dtype: Any) -> NDArray[Any]:
    """The Gaussian along one axis, or two that follow each other."""
    low, high = min(passes), max(passes)
    shape, letters = _planes(x, low.axis, high.axis)
    sigma = (low.sigma, high.sigma)
    if low is high:
        sigma = (0.0, low.sigma) if letters == "HW" else (low.sigma, 0.0)
    if letters == "NHWC" and shape[3] == 1:
        shape, letters = shape[:3], "NHW"
    images = np.ascontiguousarray(x).reshape(shape)
    more: dict[str, Any] = {"edge": low.edge, "value": value if low.edge == "constant" else 0, "algorithm": "convolution", "backend": "cpu"}
    made: NDArray[Any] = filters.gaussian(images, sigma, truncate=low.truncate, axes=letters, dtype=dtype, **more)
    return made.reshape(x.shape)


def gaussian_filter(input: ArrayLike, sigma: float | Sequence[float], order: int | Sequence[int] = 0, output: NDArray[Any] | DTypeLike | None = None,
                    mode: str | Sequence[str] = "reflect", cval: float = 0.0, truncate: float = 4.0, *, radius: int | Sequence[int] | None = None,
                    axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """The Gaussian with these standard deviations: an array of input's shape.

    sigma, mode, radius: one, or one for each axis. order: 0. Other arguments as in ``uniform_filter``. Floats are within 1e-6 of SciPy's. Of integers each
    axis rounds towards zero, as SciPy does; where its sum in float64 is nearly a whole number, the last bits of weights decide, and results may differ by
    1 for each axis. O(sigma) an element for each axis. As scipy.ndimage.gaussian_filter of SciPy 1.17.
    """
    x = _input(input)
    if any(_whole("order", one) != 0 for one in _each("order", order, len(order) if isinstance(order, (Sequence, np.ndarray)) else 1)):
        raise InvalidArgument(f"order {order!r}: only 0 is supported, the Gaussian itself")
    given, dtype = _output(x, output)
    value = _value(cval, x.dtype)
    passes = _smooths(x.ndim, sigma, mode, truncate, radius, axes)
    if x.size == 0 or not passes:
        return _delivered(x.astype(dtype), x, given)
    result = x.view(np.uint8) if x.dtype.kind == "b" else x.astype(np.float64) if x.dtype.itemsize == 8 else x
    if dtype.kind == "f":
        groups: list[list[_Smooth]] = []  # by ones, and by twos where one filter of rows and columns does both
        for one in passes:
            before = groups[-1] if groups else []
            fits = len(before) == 1 and abs(before[0].axis - one.axis) == 1 and (before[0].edge, before[0].truncate) == (one.edge, one.truncate)
            if fits:
                before.append(one)
            else:
                groups.append([one])
        for group in groups:
            result = _smoothed(result, group, value, dtype)
        return _delivered(result, x, given)
    for one in passes:
        smooth = _smoothed(result, [one], value, np.float64)
        result = smooth.astype(np.uint8) if dtype.kind == "b" else smooth.astype(dtype)
        if result.dtype.itemsize == 8:
            result = result.astype(np.float64)
    return _delivered(result.view(np.bool_) if dtype.kind == "b" else result.astype(dtype, copy=False), x, given)


def _size(size: Any, footprint: Any) -> Any:
    if (size is None) == (footprint is None):
        raise InvalidArgument("size and footprint: give one of them")
    if footprint is None:
        return size
    cells = np.asarray(footprint)
    if not cells.all() or cells.size == 0:
        raise InvalidArgument("footprint: only those of ones are supported, which are windows of a size")
    return cells.shape


def _extreme(name: str, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> NDArray[Any]:
    x = _input(input)
    size = _size(size, footprint)
    given, dtype = _output(x, output)
    value = _value(cval, x.dtype)
    result = x.view(np.uint8) if x.dtype.kind == "b" else x
    passes = _passes(x.ndim, size, mode, origin, axes)
    if x.size > 0:
        for group in _together(passes):
            result = _filtered(name, result, group, value)
    return _delivered(result.view(x.dtype).astype(dtype, copy=False), x, given)


def minimum_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None,
                   output: NDArray[Any] | DTypeLike | None = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0,
                   origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """Minima of the window around every element, in SciPy's values.

    footprint: an array of ones, whose shape is the size. Other arguments as in ``uniform_filter``. A window that holds a NaN gives NaN; SciPy's
    result then depends on its place. O(input.size) for any size. As scipy.ndimage.minimum_filter of SciPy 1.17.
    """
    return _extreme("min", input, size, footprint, output, mode, cval, origin, axes)


def maximum_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None,
                   output: NDArray[Any] | DTypeLike | None = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0,
                   origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """Maxima, as ``minimum_filter``."""
    return _extreme("max", input, size, footprint, output, mode, cval, origin, axes)


def _percentile(q: float, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> NDArray[Any]:
    x = _input(input)
    size = _size(size, footprint)
    chosen = _axes(axes, x.ndim)
    if len(chosen) == x.ndim:  # SciPy's rank filters then have sizes and origins in the order of the array's axes
        axes = None
    else:  # and else origins alone in that of `axes`
        sizes = dict(zip(sorted(chosen), _each("size", size, len(chosen)), strict=True))
        size = [sizes[axis] for axis in chosen]
    passes = _passes(x.ndim, size, mode, origin, axes)
    cells = math.prod(one.size for one in passes)
    rank = min(cells - 1, int(float(cells) * q / 100))  # as SciPy and areal round it
    if rank == 0 or rank == cells - 1:
        return _extreme("min" if rank == 0 else "max", x, size, None, output, mode, cval, origin, axes)
    if not isinstance(mode, str):
        raise InvalidArgument(f"mode {mode!r}: it must be one for all axes, but for minima and maxima")
    if len(passes) > 2:
        raise InvalidArgument(f"size {size!r}: windows of medians and percentiles may have more than one element along 2 axes")
    given, dtype = _output(x, output)
    value = _value(cval, x.dtype)
    if x.size == 0:
        return _delivered(x.astype(dtype), x, given)
    low, high = min(passes), max(passes)
    result = x.view(np.uint8) if x.dtype.kind == "b" else x
    if low.axis < high.axis - 1:  # rows and columns are neighbours
        near = _filtered("percentile", np.moveaxis(result, high.axis, low.axis + 1), [low, high._replace(axis=low.axis + 1)], value, q=q)
        result = np.moveaxis(near, low.axis + 1, high.axis)
    else:
        result = _filtered("percentile", result, passes, value, q=q)
    return _delivered(result.view(x.dtype).astype(dtype, copy=False), x, given)


def median_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None,
                  output: NDArray[Any] | DTypeLike | None = None, mode: str = "reflect", cval: float = 0.0, origin: int | Sequence[int] = 0, *,
                  axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """Medians of the window around every element; of an even number of them the upper one.

    Windows may have more than one element along any 2 axes. footprint: an array of ones, whose shape is the size. mode: one. Other arguments as in
    ``uniform_filter``. A window that holds a NaN gives NaN, where SciPy's result is undefined. In mode reflect, SciPy is wrong for windows of 8 times the
    array's extent and more. The time hardly depends on the size. As scipy.ndimage.median_filter of SciPy 1.17.
    """
    return _percentile(50.0, input, size, footprint, output, mode, cval, origin, axes)


def percentile_filter(input: ArrayLike, percentile: float, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None,
                      output: NDArray[Any] | DTypeLike | None = None, mode: str = "reflect", cval: float = 0.0, origin: int | Sequence[int] = 0, *,
                      axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """Percentiles, as ``median_filter``: of n elements in order number int(n percentile / 100), from 0 on. percentile: 0 to 100, or less 100."""
    if not isinstance(percentile, (int, float, np.integer, np.floating)) or not -100 <= percentile <= 100:
        raise InvalidArgument(f"percentile {percentile!r}: it may be -100 to 100")
    q = float(percentile) + 100 if percentile < 0 else float(percentile)
    return _percentile(q, input, size, footprint, output, mode, cval, origin, axes)
