"""``skimage.transform.integral_image`` and ``integrate``, ``skimage.filters.threshold_niblack``, ``threshold_sauvola`` and ``rank.mean``,
``minimum``, ``maximum``, ``median``, ``percentile``, ``equalize``, ``otsu``, ``entropy`` and ``modal``, and ``skimage.feature.match_template``, ``hog`` and ``multiblock_lbp`` at areal's speed, for arrays in host memory.

areal computes tables of 2-D images and volumes of the dtypes in ``ROUTES``, on the CPU; NumPy computes all others, as in scikit-image, which is not
imported. Filters refuse what areal does not compute with areal.InvalidArgument.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _core, filters
from ._errors import InvalidArgument
from ._hog import hog
from ._lbp import multiblock_lbp
from ._reaching import reaching

__all__ = ["ROUTES", "hog", "integral_image", "integrate", "match_template", "multiblock_lbp", "rank", "threshold_niblack", "threshold_sauvola"]

_NAMES = {"8u": ("uint8", "bool"), "8s": ("int8",), "16u": ("uint16",), "16s": ("int16",), "32u": ("uint32",), "32s": ("int32",), "64u": ("uint64",),
          "64s": ("int64",), "16f": ("float16",), "32f": ("float32",), "64f": ("float64",)}
_SAME_BITS = {"32u": ("uint32", "int32"), "32s": ("int32", "uint32"), "64u": ("uint64", "int64"), "64s": ("int64", "uint64")}
_CODES = {name: np.dtype(name).str for names in _NAMES.values() for name in names}
_WHOLE = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")


def _default(name: str) -> str:
    """The default dtype of a table: that of ``numpy.cumsum``, and at least float64 for floats."""
    return "float64" if name in _FLOATS else "uint64" if name.startswith("u") else "int64"


def _routes() -> dict[tuple[str, str], str]:
    all_routes = {(image, table): "numpy" for image in _WHOLE + _FLOATS for table in _WHOLE[1:] + _FLOATS}
    for pixels, sums in _core.type_pairs():
        for image in _NAMES[pixels]:
            for table in _SAME_BITS.get(sums) or _NAMES[sums]:
                if all_routes[image, table] == "numpy" or table == _NAMES[sums][0]:
                    all_routes[image, table] = pixels + sums
    return all_routes


ROUTES: Mapping[tuple[str, str], str] = MappingProxyType(_routes())
"""How ``integral_image`` computes 2-D and 3-D arrays: {(the image's dtype, the table's): a type pair of areal, or "numpy"}.

Integers wrap, so int64 and uint64 tables have the same bits and may share a type pair. NumPy computes dtypes that are not a key (longdouble, complex,
big-endian, object), other dimensions and classes derived from numpy.ndarray.
"""

_DEFAULTS = {_CODES[name]: np.dtype(_default(name)) for name in _WHOLE + _FLOATS}
_TAKEN = frozenset((_CODES[image], _CODES[table]) for (image, table), way in ROUTES.items() if way != "numpy")


def _by_cumsum(image: NDArray[Any], dtype: DTypeLike | None) -> NDArray[Any]:
    if dtype is None and image.dtype.kind in "fc":
        dtype = np.promote_types(image.dtype, np.float64)
    table = image
    for axis in range(image.ndim):
        table = table.cumsum(axis=axis, dtype=dtype)
    return table


def integral_image(image: NDArray[Any], *, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """The integral image of an array: T[y, x] is the sum of image[:y + 1, :x + 1], and likewise of a volume along its three axes.

    image: H x W or D x H x W of bool, integers or floats; see ROUTES. dtype: of the sums; None is int64 for bool and signed integers, uint64 for
    unsigned ones, float64 for floats. Returns a new array of the image's shape. Integers wrap as NumPy's do. Reads an image as it lies, but for
    negative, skipping and broadcast strides, which cost one copy. O(image.size). As skimage.transform.integral_image of scikit-image 0.26.
    """
    if type(image) is np.ndarray and image.ndim in (2, 3):
        code = image.dtype.str
        table = _DEFAULTS.get(code) if dtype is None else np.dtype(dtype)
        if table is not None and (code, table.str) in _TAKEN:
            if not image.flags.c_contiguous:
                order = sorted(range(image.ndim), key=lambda axis: -image.strides[axis])
                if order != list(range(image.ndim)):  # sums along all axes do not mind their order
                    sums: NDArray[Any] = integral_image(image.transpose(order), dtype=table).transpose(np.argsort(order))
                    return sums
            out: NDArray[Any] = np.empty(image.shape, table)
            if not _core.dropin_tables(image, out, None, None, True):
                _core.dropin_tables(np.ascontiguousarray(image), out, None, None, True)
            return out
    return _by_cumsum(image, dtype)


def _rows(coordinates: ArrayLike) -> NDArray[Any]:
    """Coordinates for the compiled code: int64 if that is lossless."""
    rows = np.array(coordinates)
    return rows.astype(np.int64) if rows.dtype.kind in "iu" and rows.dtype != np.uint64 else rows


def _by_indexing(ii: NDArray[Any], start: Any, end: Any) -> NDArray[np.float64]:
    start, end = np.atleast_2d(np.array(start)), np.atleast_2d(np.array(end))
    boxes = start.shape[0]
    extents = np.tile(ii.shape, [boxes, 1])
    start_counts_back, end_counts_back = start < 0, end < 0
    start = (start + extents) * start_counts_back + start * ~start_counts_back
    end = (end + extents) * end_counts_back + end * ~end_counts_back
    if np.any((end - start) < 0):
        raise IndexError("end coordinates must be greater or equal to start")
    sums = np.zeros(boxes)
    for corner in range(2**ii.ndim):
        before = np.array([corner >> (ii.ndim - 1 - axis) & 1 for axis in range(ii.ndim)], bool)
        at = end * ~before + (start - 1) * before
        sign = -1 if before.sum() % 2 else 1
        sums += [0 if np.any((start[box] - 1) * before < 0) else sign * float(ii[tuple(at[box])]) for box in range(boxes)]
    return sums


def integrate(ii: NDArray[Any], start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
    """Sums of boxes from an integral image of any number of dimensions.

    start, end: the first and the last element inside, a row of coordinates or a list of N rows; negative ones count from the end. Returns float64
    (N,). Sums of integers are exact modulo the table's 2^32 or 2^64 and rounded once, so that they are right where the table wrapped or has sums
    beyond 2^53. Raises IndexError as scikit-image does: for an end before its start, and for one outside of the table. O(1) a box.
    As skimage.transform.integrate of scikit-image 0.26.
    """
    if type(ii) is np.ndarray and ii.dtype.str in _DEFAULTS and ii.dtype.kind != "b":
        sums: NDArray[np.float64] | None = _core.dropin_integrate(ii, start, end)
        if sums is None:
            sums = _core.dropin_integrate(ii, _rows(start), _rows(end))
        if sums is not None:
            return sums
    return _by_indexing(ii, start, end)


def _threshold(image: Any, window_size: Any, method: str, **parameters: float) -> NDArray[Any]:
    if not isinstance(image, np.ndarray) or image.dtype.name not in _WHOLE + _FLOATS:
        kind = image.dtype if isinstance(image, np.ndarray) else type(image).__name__
        raise InvalidArgument(f"image of {kind}: it may be a NumPy array of {', '.join(_WHOLE + _FLOATS)}")
    sizes = list(window_size) if isinstance(window_size, Iterable) else [window_size] * image.ndim
    try:
        sizes = [operator.index(size) for size in sizes]
    except TypeError:
        raise InvalidArgument(f"window_size {window_size!r}: it must be a whole number, or one for each dimension") from None
    if any(size < 1 or size % 2 == 0 for size in sizes):
        raise InvalidArgument(f"window_size {window_size!r}: it must be odd and positive in every dimension")
    if len(sizes) != image.ndim:
        raise InvalidArgument(f"window_size {window_size!r}: it must have one number for each of {image.ndim} dimensions")
    if not (image.ndim == 2 or (image.ndim == 3 and sizes[0] == 1)):
        raise InvalidArgument(f"image of {image.ndim} dimensions with window_size {window_size!r}: it may have 2, or 3 with windows of 1 in the first")
    result = np.float32 if image.dtype.name in ("float16", "float32") else np.float64
    x = image.view(np.uint8) if image.dtype == bool else image.astype(result) if image.dtype.itemsize == 8 or image.dtype == np.float16 else image
    x = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("="), copy=False))
    if x.size == 0:
        return np.empty(x.shape, result)
    height, width = sizes[-2:]
    return reaching("threshold", x, (height, width), "reflect", (height // 2, width // 2), "HW" if x.ndim == 2 else "NHW", method=method, dtype=result,
                    **parameters)


def _finite(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
        raise InvalidArgument(f"{name} {value!r}: it must be a finite number")
    return float(value)


def threshold_niblack(image: NDArray[Any], window_size: int | Iterable[int] = 15, k: float = 0.2) -> NDArray[Any]:
    """Niblack's threshold of every pixel, m - k s, with the mean m and the standard deviation s of the window around it.

    image: H x W, or N x H x W with window_size (1, h, w), of bool, integers or floats. window_size: odd, one or one for each dimension. Pixels beyond
    the edge are those of numpy.pad's mode reflect. Returns float64, of float16 and float32 images float32. Sums of integers of up to 32 bits are exact,
    so that s is right where scikit-image's cancels, and a NaN spoils the windows that hold it, and no others. O(1) per pixel for any window.
    As skimage.filters.threshold_niblack of scikit-image 0.26.
    """
    return _threshold(image, window_size, "niblack", k=-_finite("k", k))


def threshold_sauvola(image: NDArray[Any], window_size: int | Iterable[int] = 15, k: float = 0.2, r: float | None = None) -> NDArray[Any]:
    """Sauvola's threshold of every pixel, m (1 + k (s / r - 1)); arguments and results as in ``threshold_niblack``.

    r: None is half the range of the dtype: 127.5 for uint8, 1 for floats.
    """
    if r is None and isinstance(image, np.ndarray) and image.dtype.kind in "bui":
        r = 0.5 if image.dtype.kind == "b" else (int(np.iinfo(image.dtype).max) - int(np.iinfo(image.dtype).min)) / 2
    span = 1.0 if r is None else _finite("r", r)
    if span <= 0:
        raise InvalidArgument(f"r {span}: it must be positive")
    return _threshold(image, window_size, "sauvola", k=_finite("k", k), r=span)


def _footprint(footprint: Any) -> tuple[int, int]:
    """The rows and columns of a rectangle of ones."""
    cells = np.asarray(footprint)
    if cells.ndim != 2 or cells.size == 0 or cells.dtype.kind not in "buif" or not (cells > 0).all():
        raise InvalidArgument("footprint: only rectangles of ones are supported")
    return cells.shape[0], cells.shape[1]


def _ranked(name: str, image: Any, footprint: Any, out: Any, mask: Any, shift_x: Any, shift_y: Any, shift_z: Any, **parameters: Any) -> NDArray[Any]:
    if not isinstance(image, np.ndarray) or image.dtype.name not in ("uint8", "uint16") or image.ndim != 2:
        raise InvalidArgument("image: it must be a NumPy array of uint8 or uint16 of 2 dimensions")
    height, width = _footprint(footprint)
    if shift_z != 0:
        raise InvalidArgument(f"shift_z {shift_z}: it is of images of 3 dimensions")
    try:
        anchor = height // 2 + operator.index(shift_y), width // 2 + operator.index(shift_x)
    except TypeError:
        raise InvalidArgument(f"shift_x {shift_x!r}, shift_y {shift_y!r}: they must be whole numbers") from None
    if not (0 <= anchor[0] < height and 0 <= anchor[1] < width):
        raise InvalidArgument(f"shift_x {shift_x}, shift_y {shift_y}: the centre must lie inside the footprint")
    result = np.dtype(np.float64) if name == "entropy" else image.dtype
    if out is not None and (not isinstance(out, np.ndarray) or out.shape != image.shape or out.dtype != result or np.may_share_memory(out, image)):
        raise InvalidArgument(f"out: it must be another NumPy array of the image's shape, of {result}")
    valid = None
    if mask is not None:
        valid = np.ascontiguousarray(np.asarray(mask) > 0)
        if valid.shape != image.shape:
            raise InvalidArgument(f"mask of shape {valid.shape}: it must have the image's, {image.shape}")
    x = np.ascontiguousarray(image)
    if name == "mean":
        # A mean that is no whole number is 1 / n below the next one, which 32 bits still tell apart of 8-bit pixels up to n = 2^16; masked windows give 0.
        parameters["dtype"] = np.float32 if x.dtype == np.uint8 and height * width < 65536 else np.float64
    common: dict[str, Any] = {"anchor": anchor, "edge": "shrink", "mask": valid, "backend": "cpu"}

    def computed(**more: Any) -> NDArray[Any]:
        made: NDArray[Any] = getattr(filters, name)(x, (height, width), fill=0, **common, **{**parameters, **more})
        return made

    made = computed()
    if name == "percentile":
        _at_their_ranks(made, parameters["q"] / 100, height * width, lambda: filters.count(x, (height, width), **common), computed)
    if out is None:
        return made.astype(result, copy=False)
    out[...] = made
    return out


def _at_their_ranks(made: NDArray[Any], p0: float, most: int, count: Callable[[], NDArray[Any]], computed: Callable[..., NDArray[Any]]) -> None:
    """Corrects percentiles of windows of n <= most pixels where floor(q n / 100) is not scikit-image's floor(p0 n), as their products round apart."""
    n = np.arange(1, most + 1)
    apart = np.minimum(n - 1, np.floor(100 * p0 * n / 100)) != np.minimum(n - 1, np.floor(p0 * n))
    if not apart.any():
        return
    counts = count()
    for wrong in n[apart]:
        if (at := counts == wrong).any():
            rank = min(wrong - 1, np.floor(p0 * wrong))
            made[at] = computed(q=100 * (rank + 0.5) / wrong)[at]


class rank:  # noqa: N801
    """Of ``skimage.filters.rank``: filters of rectangular footprints of ones.

    image: H x W of uint8 or uint16. footprint: ones; those with zeros are refused. out: another array of the image's shape and dtype. mask: pixels
    where it is 0 are left out; windows without a pixel give 0. shift_x, shift_y: move the centre within the footprint. Windows hold the pixels inside
    the image. The time hardly depends on the footprint, but for ``equalize``, ``otsu``, ``entropy`` and ``modal`` of uint16, which take O(its rows) a
    pixel. As scikit-image 0.26.
    """

    @staticmethod
    def mean(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0, shift_y: int = 0,
             shift_z: int = 0) -> NDArray[Any]:
        """Means, rounded down."""
        return _ranked("mean", image, footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def minimum(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0, shift_y: int = 0,
                shift_z: int = 0) -> NDArray[Any]:
        """Minima."""
        return _ranked("min", image, footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def maximum(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0, shift_y: int = 0,
                shift_z: int = 0) -> NDArray[Any]:
        """Maxima."""
        return _ranked("max", image, footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def median(image: NDArray[Any], footprint: ArrayLike | None = None, out: NDArray[Any] | None = None, mask: ArrayLike | None = None,
               shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> NDArray[Any]:
        """Medians, of an even number of pixels the upper one; footprint None is 3x3."""
        return _ranked("median", image, np.ones((3, 3)) if footprint is None else footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def percentile(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0,
                   shift_y: int = 0, p0: float = 0) -> NDArray[Any]:
        """The least pixel that more than a share p0 of the window, 0 to 1, does not exceed; 1 gives maxima."""
        share = _finite("p0", p0)
        if not 0 <= share <= 1:
            raise InvalidArgument(f"p0 {p0}: it may be 0 to 1")
        return _ranked("percentile", image, footprint, out, mask, shift_x, shift_y, 0, q=100 * share)

    @staticmethod
    def equalize(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0,
                 shift_y: int = 0, shift_z: int = 0) -> NDArray[Any]:
        """Ranks of pixels in their windows, stretched over all levels; see ``areal.filters.equalize``."""
        return _ranked("equalize", image, footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def otsu(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0,
             shift_y: int = 0, shift_z: int = 0) -> NDArray[Any]:
        """Otsu's thresholds; see ``areal.filters.otsu``, of which this is zeros_alone=False. Decided exactly; scikit-image rounds variances to float64."""
        return _ranked("otsu", image, footprint, out, mask, shift_x, shift_y, shift_z, zeros_alone=False)

    @staticmethod
    def entropy(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0,
                shift_y: int = 0, shift_z: int = 0) -> NDArray[Any]:
        """Entropies in bits, in float64, within 1e-12."""
        return _ranked("entropy", image, footprint, out, mask, shift_x, shift_y, shift_z)

    @staticmethod
    def modal(image: NDArray[Any], footprint: ArrayLike, out: NDArray[Any] | None = None, mask: ArrayLike | None = None, shift_x: int = 0,
              shift_y: int = 0, shift_z: int = 0) -> NDArray[Any]:
        """The most frequent pixels, the least one if there are several."""
        return _ranked("modal", image, footprint, out, mask, shift_x, shift_y, shift_z)


def match_template(image: NDArray[Any], template: NDArray[Any], pad_input: bool = False, mode: str = "constant", constant_values: Any = 0) -> NDArray[Any]:
    """The correlation coefficient, -1 to 1, of a template with the window at every position of an image.

    image, template: H x W of bool, integers or floats; of other dimensions they are refused. pad_input: the result has the image's shape, and its positions
    are the windows' centres; mode and constant_values are numpy.pad's, of the pixels beyond the edge, which are float64, or float32 in an image of float16
    or float32. Returns float64, of float16 and float32 images float32. Flat windows give 0. Images and templates of uint8 or uint16 have exact sums, and a
    NaN stays in the windows that hold it. As skimage.feature.match_template of scikit-image 0.26.
    """
    for name, array in (("image", image), ("template", template)):
        if not isinstance(array, np.ndarray) or array.dtype.name not in _WHOLE + _FLOATS:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise InvalidArgument(f"{name} of {kind}: it may be a NumPy array of {', '.join(_WHOLE + _FLOATS)}")
        if array.ndim != 2:
            raise InvalidArgument(f"{name} of {array.ndim} dimensions: it must have 2")
    if image.shape[0] < template.shape[0] or image.shape[1] < template.shape[1]:
        raise InvalidArgument("Image must be larger than template.")
    result = np.float32 if image.dtype.name in ("float16", "float32") else np.float64
    x, t = (array.view(np.uint8) if array.dtype == bool else array for array in (image, template))
    if pad_input:
        beyond = [(size // 2, size - 1 - size // 2) for size in template.shape]
        if mode != "constant":
            # Of the template's whole size, as some modes depend on it.
            wide = np.pad(x.astype(result, copy=False), [(size, size) for size in template.shape], mode=mode)  # type: ignore[call-overload]
            x = wide[tuple(slice(size - before, wide.shape[axis] - size + after) for axis, (size, (before, after)) in enumerate(zip(template.shape, beyond, strict=True)))]
        elif constant_values == 0:
            x = np.pad(x, beyond)
        else:
            x = np.pad(x.astype(result, copy=False), beyond, constant_values=constant_values)
    exact = x.dtype.newbyteorder("=") if x.dtype == t.dtype and x.dtype.name in ("uint8", "uint16") else np.dtype(np.float64)
    if x.dtype == np.uint8 and t.dtype == np.uint16 or x.dtype == np.uint16 and t.dtype == np.uint8:
        exact = np.dtype(np.uint16)
    return np.asarray(filters.match(np.ascontiguousarray(x.astype(exact, copy=False)), np.ascontiguousarray(t.astype(exact, copy=False)), dtype=result))
