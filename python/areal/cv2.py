"""``cv2.integral``, ``integral2``, ``integral3``, ``boxFilter``, ``blur``, ``sqrBoxFilter``, ``GaussianBlur``, ``erode``, ``dilate``,
``medianBlur``, ``adaptiveThreshold``, ``matchTemplate``, ``CascadeClassifier``, ``ximgproc.niBlackThreshold`` and ``ximgproc.guidedFilter`` at areal's speed, for arrays in host memory.

Supports the depths, borders and arguments on which OpenCV 4.14 and 5.0 agree; others raise ``areal.cv2.error``. Runs on the CPU, without importing
OpenCV.

``areal.cv2.error`` is ``cv2.error`` once any code has imported cv2; before, it is a class of that name derived from areal.InvalidArgument. Exceptions
derive from both classes, so that ``except cv2.error`` and ``except areal.cv2.error`` catch them in any order of imports.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, filters
from ._errors import Error, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["ADAPTIVE_THRESH_GAUSSIAN_C", "ADAPTIVE_THRESH_MEAN_C", "BORDER_CONSTANT", "BORDER_DEFAULT", "BORDER_ISOLATED", "BORDER_REFLECT",
           "BORDER_REFLECT101", "BORDER_REFLECT_101", "BORDER_REPLICATE", "CV_16S", "CV_16U", "CV_32F", "CV_32S", "CV_64F", "CV_8U", "CascadeClassifier", "GaussianBlur",
           "THRESH_BINARY", "THRESH_BINARY_INV", "TM_CCOEFF", "TM_CCOEFF_NORMED", "TM_CCORR", "TM_CCORR_NORMED", "TM_SQDIFF", "TM_SQDIFF_NORMED", "adaptiveThreshold",
           "blur", "boxFilter", "dilate", "erode", "integral", "integral2", "integral3", "matchTemplate", "medianBlur", "sqrBoxFilter", "ximgproc"]

CV_8U, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F = 0, 2, 3, 4, 5, 6
BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_REFLECT_101, BORDER_ISOLATED = 0, 1, 2, 4, 16
BORDER_REFLECT101 = BORDER_DEFAULT = BORDER_REFLECT_101
ADAPTIVE_THRESH_MEAN_C, ADAPTIVE_THRESH_GAUSSIAN_C = 0, 1
THRESH_BINARY, THRESH_BINARY_INV = 0, 1
TM_SQDIFF, TM_SQDIFF_NORMED, TM_CCORR, TM_CCORR_NORMED, TM_CCOEFF, TM_CCOEFF_NORMED = range(6)

_BAD_ARGUMENT, _ASSERTION, _UNSUPPORTED = -5, -215, -210  # OpenCV's codes


class _EarlyError(InvalidArgument):
    """``areal.cv2.error`` where cv2 has not been imported. ``code``, ``func`` and ``err`` are as cv2.error has them."""

    code: int = _BAD_ARGUMENT
    func: str = ""
    err: str = ""
    msg: str = ""

    def __reduce__(self) -> tuple[Callable[..., BaseException], tuple[str, str, int]]:
        return _error, (self.func, self.err, self.code)


_EarlyError.__name__ = _EarlyError.__qualname__ = "error"
_joined: dict[Any, type[_EarlyError]] = {}


def _peer_error() -> Any:
    peer = sys.modules.get("cv2")
    return None if peer is sys.modules.get(__name__) else getattr(peer, "error", None)  # a program may name this module cv2


def _error(function: str, words: str, code: int = _BAD_ARGUMENT) -> BaseException:
    peer = _peer_error()
    made: type[_EarlyError] = _EarlyError
    if peer is not None:
        if peer not in _joined:
            _joined[peer] = type("error", (_EarlyError, peer), {"__module__": __name__, "__doc__": _EarlyError.__doc__})
        made = _joined[peer]
    e = made(f"{function}: {words}")
    e.code, e.func, e.err, e.msg = code, function, words, str(e)
    return e


def __getattr__(name: str) -> Any:
    if name == "error":
        return _peer_error() or _EarlyError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_DEPTHS = {"uint8": CV_8U, "uint16": CV_16U, "int16": CV_16S, "int32": CV_32S, "float32": CV_32F, "float64": CV_64F}
_DTYPES = {depth: np.dtype(name) for name, depth in _DEPTHS.items()}
_NAMES = {np.dtype(name).str: name for name in _DEPTHS}

# {source: {sum: squares}}; the first are the defaults.
_TABLES: dict[str, dict[int, tuple[int, ...]]] = {
    "uint8": {CV_32S: (CV_64F, CV_32S, CV_32F), CV_32F: (CV_64F, CV_32F), CV_64F: (CV_64F,)},
    "uint16": {CV_64F: (CV_64F,)}, "int16": {CV_64F: (CV_64F,)}, "float64": {CV_64F: (CV_64F,)},
    "float32": {CV_64F: (CV_64F,), CV_32F: (CV_64F, CV_32F)}}
_ALL = (CV_8U, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F)
_NO_32S = (CV_8U, CV_16U, CV_16S, CV_32F, CV_64F)
# {source: outputs}; the first is the default.
_BOXES = {"uint8": (CV_8U, *_ALL), "uint16": (CV_16U, *_ALL), "int16": (CV_16S, *_ALL), "int32": (CV_32S, *_ALL), "float32": (CV_32F, *_NO_32S),
          "float64": (CV_64F, *_NO_32S)}
_SQUARE_BOXES = {"uint8": (CV_32F, *_ALL), "uint16": (CV_32F, *_NO_32S), "int16": (CV_32F, *_NO_32S), "float32": (CV_64F, *_NO_32S),
                 "float64": (CV_64F, *_NO_32S)}
_GUIDED = ("uint8", "float32")
_EXTREMES = ("uint8", "uint16", "int16", "float32", "float64")
_EDGES = {BORDER_CONSTANT: "zero", BORDER_REPLICATE: "replicate", BORDER_REFLECT: "symmetric", BORDER_REFLECT_101: "reflect"}
_MOST_CHANNELS = 128  # of OpenCV 5.0
_MOST_AT_ONCE = 256 << 20  # bytes of a filter's table; larger ones go by strips


def _whole(function: str, name: str, value: Any) -> int:
    if not isinstance(value, (bool, np.bool_)):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if -(2**31) <= number < 2**31:  # OpenCV's int
                return number
            raise _error(function, f"{name} {number}: it must fit 32 bits")
    raise _error(function, f"{name} {value!r}: it must be a whole number")


def _pair(function: str, name: str, value: Any) -> tuple[int, int]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise _error(function, f"{name} {value!r}: it must be two whole numbers") from None
    return _whole(function, name, first), _whole(function, name, second)


def _image(function: str, src: Any, known: Collection[str]) -> tuple[NDArray[Any], str]:
    """The source as H x W, or H x W x C with at least 2 channels, and the name of its dtype."""
    if not isinstance(src, np.ndarray):
        raise _error(function, f"src is a {type(src).__name__}: it must be a NumPy array")
    name = _NAMES.get(src.dtype.str, "")
    if name not in known:
        raise _error(function, f"src of {src.dtype.name}: it may be {', '.join(known)}", _UNSUPPORTED)
    if src.ndim == 3:
        if src.shape[2] == 1:
            return src[:, :, 0], name
        if not 1 < src.shape[2] <= _MOST_CHANNELS:
            raise _error(function, f"src has {src.shape[2]} channels: it may have 1 to {_MOST_CHANNELS}")
    elif src.ndim != 2:
        raise _error(function, f"src has {src.ndim} dimension{'' if src.ndim == 1 else 's'}: it may have 2, or 3 with channels last")
    return src, name


def _output(function: str, name: str, given: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The array to return, and its view for the compiled code: the caller's array if it fits, else a new one."""
    if given is None:
        made = np.empty(shape, dtype)
        return made, made
    if not isinstance(given, np.ndarray):
        raise _error(function, f"{name} is a {type(given).__name__}: it must be a NumPy array or None")
    if not given.flags.writeable:
        raise _error(function, f"{name} is read-only")
    if not given.flags.c_contiguous:
        step = given.itemsize
        for axis in range(given.ndim - 1, -1, -1):
            pitch = given.strides[axis]
            if pitch < step or (pitch > step and axis > 0):
                raise _error(function, f"{name}: its elements do not lie in rows of neighbours")
            step = pitch * given.shape[axis]
    view = given[:, :, 0] if len(shape) == 2 and given.ndim == 3 and given.shape[2] == 1 else given
    if view.shape != shape or given.dtype.str != dtype.str:
        made = np.empty(shape, dtype)
        return made, made
    return given, view


def _compute_tables(function: str, image: NDArray[Any], sums: NDArray[Any], squares: NDArray[Any] | None, tilted: NDArray[Any] | None) -> None:
    try:
        if image.ndim == 3 and image.shape[2] > 4:
            for channel in range(image.shape[2]):
                parts: list[Any] = [None if table is None else np.empty(table.shape[:2], table.dtype) for table in (sums, squares, tilted)]
                _core.dropin_tables(np.ascontiguousarray(image[:, :, channel]), parts[0], parts[1], parts[2], False)
                for table, part in zip((sums, squares, tilted), parts):
                    if table is not None:
                        table[:, :, channel] = part
        elif not _core.dropin_tables(image, sums, squares, tilted, False):
            _core.dropin_tables(np.ascontiguousarray(image), sums, squares, tilted, False)
    except Error as e:
        raise _error(function, str(e)) from e


def _tables(function: str, src: Any, sdepth: Any, sqdepth: Any, outputs: tuple[tuple[str, Any], ...]) -> Any:
    image, name = _image(function, src, _TABLES)
    known = _TABLES[name]
    sum_depth = -1 if sdepth is None else _whole(function, "sdepth", sdepth)
    if sum_depth <= 0:
        sum_depth = next(iter(known))
    square_depth = -1 if sqdepth is None else _whole(function, "sqdepth", sqdepth)
    if square_depth <= 0:
        square_depth = CV_64F
    if sum_depth not in known or square_depth not in known[sum_depth]:
        choices = ", ".join(f"{s}:{q}" for s, squares in known.items() for q in squares)
        raise _error(function, f"sdepth:sqdepth {sum_depth}:{square_depth} with src of {name}: they may be {choices}", _UNSUPPORTED)
    shape = (image.shape[0] + 1, image.shape[1] + 1, *image.shape[2:])
    made = [_output(function, word, given, shape, _DTYPES[square_depth if word == "sqsum" else sum_depth]) for word, given in outputs]
    views = [view for _, view in made]
    _compute_tables(function, image, views[0], views[1] if len(views) > 1 else None, views[2] if len(views) > 2 else None)
    return made[0][0] if len(made) == 1 else tuple(table for table, _ in made)


def integral(src: NDArray[Any], sum: NDArray[Any] | None = None, sdepth: int | None = -1) -> NDArray[Any]:
    """The sums of all pixels above and left: (H+1) x (W+1) [x C], with a zero first row and column.

    src: H x W or H x W x C. sdepth: the depth of the sums, by default CV_32S for 8-bit sources and CV_64F for others; for uint8 also CV_32F and
    CV_64F, for float32 also CV_32F. sum: filled and returned if its shape and dtype fit; otherwise a new array is. int32 wraps as in OpenCV. O(H W C).
    Raises areal.cv2.error. As cv2.integral of OpenCV 4.14 and 5.0.
    """
    table: NDArray[Any] = _tables("integral", src, sdepth, -1, (("sum", sum),))
    return table


def integral2(src: NDArray[Any], sum: NDArray[Any] | None = None, sqsum: NDArray[Any] | None = None, sdepth: int | None = -1,
              sqdepth: int | None = -1) -> tuple[NDArray[Any], NDArray[Any]]:
    """``integral`` and the sums of squares, in one pass.

    sqdepth: CV_64F; with CV_32S sums of uint8 also CV_32S and CV_32F, with CV_32F sums also CV_32F.
    """
    tables: tuple[NDArray[Any], NDArray[Any]] = _tables("integral2", src, sdepth, sqdepth, (("sum", sum), ("sqsum", sqsum)))
    return tables


def integral3(src: NDArray[Any], sum: NDArray[Any] | None = None, sqsum: NDArray[Any] | None = None, tilted: NDArray[Any] | None = None,
              sdepth: int | None = -1, sqdepth: int | None = -1) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """``integral2`` and the sums of triangles whose sides run at 45 degrees, of the sums' dtype."""
    outputs = (("sum", sum), ("sqsum", sqsum), ("tilted", tilted))
    tables: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] = _tables("integral3", src, sdepth, sqdepth, outputs)
    return tables


def _for_filters(image: NDArray[Any]) -> NDArray[Any]:
    """The image, or a copy if its rows are not of neighbours."""
    plain = np.asarray(image)
    step = plain.itemsize
    for axis in range(plain.ndim - 1, 0, -1):
        if plain.strides[axis] != step:
            return np.ascontiguousarray(plain)
        step *= plain.shape[axis]
    return plain if plain.strides[0] >= step else np.ascontiguousarray(plain)


def _apply(function: str, name: str, image: NDArray[Any], out: NDArray[Any], size: tuple[int, int], anchor: tuple[int, int], edge: str, **more: Any) -> None:
    """``areal.filters.NAME`` into out, which may be the image. size, anchor: width and height, x and y; a negative anchor is the middle."""
    x = _for_filters(image)
    fits = not np.may_share_memory(x, out) and _for_filters(out) is out and (x.ndim == 2 or x.shape[2] <= 4)
    at = tuple(cells // 2 if place < 0 else place for cells, place in zip(size, anchor))
    try:
        made = getattr(filters, name)(x, size[::-1], axes="HWC" if x.ndim == 3 else "HW", edge=edge, anchor=at[::-1], dtype=out.dtype,
                                      out=out if fits else None, backend="cpu", **more)
    except Error as e:
        raise _error(function, str(e)) from e
    if made is not out:
        out[...] = made


def _is_direct(name: str, depth: int, width: int, height: int, scaled: bool) -> bool:
    """Are OpenCV's means the nearest numbers, as areal.filters' are, or sums that neither of them rounds?

    Of an odd number n of 8-bit pixels, the mean is no tie. Up to 255 pixels OpenCV divides in fixed point, which gives the nearest number for every
    sum; then in 32f, off by at most 3e-5, when the mean is 1 / 2n from a tie, or more. Sums in 32 bits wrap there.
    """
    cells = width * height
    if name == "uint8" and depth == CV_8U:
        return scaled and cells % 2 == 1 and cells <= 16384
    most = {"uint8": 255, "uint16": 65535, "int16": 32768}.get(name)
    return depth == CV_32F and most is not None and most * cells < 2**31


def _filter(function: str, src: Any, ddepth: Any, ksize: Any, dst: Any, anchor: Any, normalize: Any, border_type: Any, squares: bool) -> NDArray[Any]:
    known = _SQUARE_BOXES if squares else _BOXES
    image, name = _image(function, src, known)
    if image.size == 0:
        raise _error(function, "src is empty", _ASSERTION)
    depth = -1 if ddepth is None else _whole(function, "ddepth", ddepth)
    if depth < 0:
        depth = known[name][0]
    if depth not in known[name]:
        raise _error(function, f"ddepth {depth} with src of {name}: it may be -1, {', '.join(map(str, sorted(set(known[name]))))}", _ASSERTION)
    width, height = _pair(function, "ksize", ksize)
    if width < 1 or height < 1:
        raise _error(function, f"ksize {width}x{height}: both must be positive", _ASSERTION)
    border = BORDER_DEFAULT if border_type is None else _whole(function, "borderType", border_type)
    isolated = not squares and border & BORDER_ISOLATED != 0
    edge = _EDGES.get(border & ~BORDER_ISOLATED if isolated else border)
    if edge is None:
        raise _error(function, f"borderType {border}: it may be CONSTANT, REPLICATE, REFLECT, REFLECT_101" + ("" if squares else ", | ISOLATED"))
    if not isinstance(normalize, (bool, int, np.bool_, type(None))):
        raise _error(function, f"normalize {normalize!r}: it must be True or False")
    scaled = normalize is None or bool(normalize)
    x, y = (-1, -1) if anchor is None else _pair(function, "anchor", anchor)
    if scaled and border != BORDER_CONSTANT and (isolated or squares):  # as OpenCV has it: the copies of a line alone are not counted
        height = 1 if image.shape[0] == 1 else height
        width = 1 if image.shape[1] == 1 else width
    if name == "int32" and scaled and width * height > 1 << 16:
        raise _error(function, f"ksize {width}x{height} with src of int32: means of more than 65536 pixels are refused", _UNSUPPORTED)
    if x >= width or y >= height:
        raise _error(function, f"anchor {x},{y}: it must lie inside the kernel of {width}x{height}", _ASSERTION)
    result, out = _output(function, "dst", dst, image.shape, _DTYPES[depth])
    if not squares and _is_direct(name, depth, width, height, scaled):
        _apply(function, "mean" if scaled else "sum", image, out, (width, height), (x, y), edge)
        return result
    arguments = (width, height, max(x, -1), max(y, -1), edge, scaled, squares, _MOST_AT_ONCE)
    try:
        if not _core.dropin_filter(image, out, *arguments):
            _core.dropin_filter(np.ascontiguousarray(image), out, *arguments)
    except Error as e:
        raise _error(function, str(e)) from e
    return result


def boxFilter(src: NDArray[Any], ddepth: int | None, ksize: Sequence[int], dst: NDArray[Any] | None = None,  # noqa: N802
              anchor: Sequence[int] | None = (-1, -1), normalize: bool | int | None = True,
              borderType: int | None = BORDER_DEFAULT) -> NDArray[Any]:  # noqa: N803
    """Means, or sums if ``normalize`` is False, of the window of ksize = (width, height) around every pixel: an array of src's shape.

    ddepth: the result's depth, -1 for src's. anchor: the cell of the window that is the pixel; -1 is the middle. borderType: BORDER_CONSTANT (zeros),
    BORDER_REPLICATE, BORDER_REFLECT or BORDER_REFLECT_101, also | BORDER_ISOLATED. O(1) per pixel for any window. Raises areal.cv2.error.
    Integers give the bits of OpenCV 4.14 and 5.0 on x86: rounded in fixed point for uint8 and windows of 2 to 256 pixels, else half to even; sums of
    int32 wrap; negative values become the largest of an unsigned ddepth, not 0, but in the last elements of a row beyond whole vectors of 8. Where
    OpenCV's fixed point makes 256 of two white pixels, this gives 255 everywhere, OpenCV 0 in those last elements.
    """
    return _filter("boxFilter", src, ddepth, ksize, dst, anchor, normalize, borderType, False)


def sqrBoxFilter(src: NDArray[Any], ddepth: int | None, ksize: Sequence[int], dst: NDArray[Any] | None = None,  # noqa: N802
                 anchor: Sequence[int] | None = (-1, -1), normalize: bool | int | None = True,
                 borderType: int | None = BORDER_DEFAULT) -> NDArray[Any]:  # noqa: N803
    """Means or sums of squares, as ``boxFilter``; ddepth -1 is CV_32F for integers and CV_64F for floats. BORDER_ISOLATED and int32 are refused."""
    return _filter("sqrBoxFilter", src, ddepth, ksize, dst, anchor, normalize, borderType, True)


def blur(src: NDArray[Any], ksize: Sequence[int], dst: NDArray[Any] | None = None, anchor: Sequence[int] | None = (-1, -1),
         borderType: int | None = BORDER_DEFAULT) -> NDArray[Any]:  # noqa: N803
    """``boxFilter`` with means of src's depth."""
    return _filter("blur", src, -1, ksize, dst, anchor, True, borderType, False)


def _number(function: str, name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
        raise _error(function, f"{name} {value!r}: it must be a finite number")
    return float(value)


def _saturated(value: float, dtype: np.dtype[Any]) -> float:
    """OpenCV's saturate_cast."""
    if dtype.kind == "f":
        return float(dtype.type(value))
    limits = np.iinfo(dtype)
    return float(min(max(round(value), int(limits.min)), int(limits.max)))


def _ones(function: str, kernel: Any) -> tuple[int, int]:
    """The width and height of a kernel of ones."""
    if kernel is None:
        return 3, 3
    if not isinstance(kernel, np.ndarray) or kernel.dtype.kind not in "uif" or kernel.ndim != 2 or kernel.size == 0:
        raise _error(function, "kernel: it must be a NumPy array of numbers, height x width, or None for 3x3", _ASSERTION)
    if kernel.size >= 2**31:
        raise _error(function, f"kernel of {kernel.shape[1]}x{kernel.shape[0]}: OpenCV's have less than 2^31 elements", _ASSERTION)
    if not kernel.all():
        raise _error(function, f"kernel of {kernel.shape[1]}x{kernel.shape[0]} with zeros: only rectangles of ones are supported", _UNSUPPORTED)
    return kernel.shape[1], kernel.shape[0]


def _border_value(function: str, value: Any, channels: int, dtype: np.dtype[Any]) -> float | None:
    """The value beyond a constant border; None for OpenCV's default, which no pixel exceeds."""
    most = sys.float_info.max
    if value is None:
        return None
    numbers = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value]
    if not 1 <= len(numbers) <= 4:
        raise _error(function, f"borderValue {value!r}: it must be a number, or up to 4")
    scalar = [_number(function, "borderValue", number) for number in numbers] + [0.0] * (4 - len(numbers))
    if scalar == [most] * 4:
        return None
    if len({*scalar[:channels]}) > 1 or (channels > 4 and len({*scalar}) > 1):
        raise _error(function, f"borderValue {value!r}: only equal values of all channels are supported", _UNSUPPORTED)
    return _saturated(scalar[0], dtype)


def _extreme(function: str, src: Any, kernel: Any, dst: Any, anchor: Any, iterations: Any, border_type: Any, border_value: Any, name: str) -> NDArray[Any]:
    image, _ = _image(function, src, _EXTREMES)
    if image.size == 0:
        raise _error(function, "src is empty", _ASSERTION)
    width, height = _ones(function, kernel)
    x, y = (-1, -1) if anchor is None else _pair(function, "anchor", anchor)
    x, y = width // 2 if x == -1 else x, height // 2 if y == -1 else y
    if not (0 <= x < width and 0 <= y < height):
        raise _error(function, f"anchor {x},{y}: it must lie inside the kernel of {width}x{height}", _ASSERTION)
    times = _whole(function, "iterations", iterations)
    if times < 0:
        raise _error(function, f"iterations {times}: they must not be negative")
    border = BORDER_CONSTANT if border_type is None else _whole(function, "borderType", border_type)
    edge = _EDGES.get(border & ~BORDER_ISOLATED)
    if edge is None:
        raise _error(function, f"borderType {border}: it may be CONSTANT, REPLICATE, REFLECT, REFLECT_101, | ISOLATED")
    more: dict[str, Any] = {}
    if edge == "zero":
        value = _border_value(function, border_value, 1 if image.ndim == 2 else image.shape[2], image.dtype)
        edge = "shrink" if value is None else "constant"
        more = {} if value is None else {"value": value}
    result, out = _output(function, "dst", dst, image.shape, image.dtype)
    size = width + (times - 1) * (width - 1), height + (times - 1) * (height - 1)
    if times == 0 or size == (1, 1):
        out[...] = image
    else:
        _apply(function, name, image, out, size, (x * times, y * times), edge, **more)
    return result


def erode(src: NDArray[Any], kernel: NDArray[Any] | None, dst: NDArray[Any] | None = None, anchor: Sequence[int] | None = (-1, -1), iterations: int = 1,
          borderType: int | None = BORDER_CONSTANT,  # noqa: N803
          borderValue: float | Sequence[float] | None = None) -> NDArray[Any]:  # noqa: N803
    """Minima of the rectangle around every pixel: an array of src's shape and dtype.

    src: uint8, uint16, int16, float32 or float64. kernel: ones, height x width, or None for 3x3; those with zeros are refused. anchor: as in
    ``boxFilter``. iterations: erosions one after another, in the time of one. borderType: BORDER_CONSTANT, REPLICATE, REFLECT or REFLECT_101, also
    | BORDER_ISOLATED. borderValue: beyond a constant border; None and OpenCV's default leave those cells out. O(1) per pixel for any kernel. A NaN
    gives NaN. Raises areal.cv2.error. As cv2.erode of OpenCV 4.14 and 5.0.
    """
    return _extreme("erode", src, kernel, dst, anchor, iterations, borderType, borderValue, "min")


def dilate(src: NDArray[Any], kernel: NDArray[Any] | None, dst: NDArray[Any] | None = None, anchor: Sequence[int] | None = (-1, -1), iterations: int = 1,
           borderType: int | None = BORDER_CONSTANT,  # noqa: N803
           borderValue: float | Sequence[float] | None = None) -> NDArray[Any]:  # noqa: N803
    """Maxima, as ``erode``."""
    return _extreme("dilate", src, kernel, dst, anchor, iterations, borderType, borderValue, "max")


def _blur_axis(function: str, size: int, sigma: float, name: str) -> tuple[int, float]:
    """The kernel's size and sigma as OpenCV has them."""
    if size <= 0 and sigma > 0:
        size = round(sigma * (3 if name == "uint8" else 4) * 2 + 1) | 1
    if size <= 0 or size % 2 == 0:
        raise _error(function, f"ksize {size}: it must be odd, or 0 with a sigma above 0", _ASSERTION)
    if size == 1:
        return 1, 0.0
    if sigma > 0:
        return size, sigma
    if size in (5, 7, 9):
        raise _error(function, f"ksize {size} with sigma 0: OpenCV has weights for it that are no Gaussian's; give a sigma", _UNSUPPORTED)
    return size, math.sqrt(0.5 / math.log(2)) if size == 3 else ((size - 1) * 0.5 - 1) * 0.3 + 0.8


def GaussianBlur(src: NDArray[Any], ksize: Sequence[int], sigmaX: float, dst: NDArray[Any] | None = None,  # noqa: N802, N803
                 sigmaY: float | None = 0, borderType: int | None = BORDER_DEFAULT, hint: int | None = 0) -> NDArray[Any]:  # noqa: N803
    """The Gaussian of ksize = (width, height), both odd, or 0 for 3 sigmas (uint8) or 4 (others) to each side: an array of src's shape and depth.

    src: uint8, uint16, int16, float32 or float64. sigmaY 0 is sigmaX; sigmaX 0 follows from ksize, except for a ksize of 5, 7 and 9, whose weights
    OpenCV has in a table. borderType as in ``boxFilter``. hint changes nothing. float32 is within 1e-5 of OpenCV's relative to the magnitude of pixels,
    float64 within 1e-12, int16 within 1; OpenCV rounds the weights of uint8 to 2^-8 and of uint16 to 2^-16, results are within 2 and 3. O(sigma) a
    pixel. Raises areal.cv2.error. As cv2.GaussianBlur of OpenCV 4.14 and 5.0.
    """
    function = "GaussianBlur"
    image, name = _image(function, src, _EXTREMES)
    if image.size == 0:
        raise _error(function, "src is empty", _ASSERTION)
    width, height = _pair(function, "ksize", ksize)
    across, down = _number(function, "sigmaX", sigmaX), _number(function, "sigmaY", 0 if sigmaY is None else sigmaY)
    border = BORDER_DEFAULT if borderType is None else _whole(function, "borderType", borderType)
    edge = _EDGES.get(border & ~BORDER_ISOLATED)
    if edge is None:
        raise _error(function, f"borderType {border}: it may be CONSTANT, REPLICATE, REFLECT, REFLECT_101, | ISOLATED")
    if hint is not None and _whole(function, "hint", hint) not in (0, 1, 2):
        raise _error(function, f"hint {hint}: it may be 0, 1 or 2")
    down = down if down > 0 else across
    width, across = _blur_axis(function, width, across, name)
    height, down = _blur_axis(function, height, down, name)
    result, out = _output(function, "dst", dst, image.shape, image.dtype)
    x = _for_filters(image)
    more: dict[str, Any] = {"axes": "HWC" if x.ndim == 3 else "HW", "edge": edge, "algorithm": "convolution", "backend": "cpu"}
    reach_x, reach_y = width // 2, height // 2
    try:
        if reach_x == 0 or reach_y == 0 or abs(reach_x / across - reach_y / down) < 1e-9:
            passes = [((down, across), reach_x / across if reach_x > 0 else reach_y / down if reach_y > 0 else 1.0)]
        else:
            passes = [((down, 0.0), reach_y / down), ((0.0, across), reach_x / across)]
        for sigma, truncate in passes[:-1]:
            x = filters.gaussian(x, sigma, truncate=truncate, dtype=np.float64, **more)
        fits = not np.may_share_memory(x, out) and _for_filters(out) is out and (x.ndim == 2 or x.shape[2] <= 4)
        sigma, truncate = passes[-1]
        made = filters.gaussian(x, sigma, truncate=truncate, dtype=out.dtype, out=out if fits else None, **more)
    except Error as e:
        raise _error(function, str(e)) from e
    if made is not out:
        out[...] = made
    return result


def _block(function: str, value: Any) -> int:
    size = _whole(function, "blockSize", value)
    if size < 3 or size % 2 == 0:
        raise _error(function, f"blockSize {size}: it must be odd, and 3 or more", _ASSERTION)
    return size


def _inverts(function: str, name: str, value: Any) -> bool:
    kind = _whole(function, name, value)
    if kind not in (THRESH_BINARY, THRESH_BINARY_INV):
        raise _error(function, f"{name} {kind}: it may be THRESH_BINARY or THRESH_BINARY_INV", _UNSUPPORTED)
    return kind == THRESH_BINARY_INV


def _plane(function: str, src: Any, known: Collection[str]) -> NDArray[Any]:
    image, _ = _image(function, src, known)
    if image.ndim == 3:
        raise _error(function, f"src has {image.shape[2]} channels: it must have one", _ASSERTION)
    return image


def adaptiveThreshold(src: NDArray[Any], maxValue: float, adaptiveMethod: int, thresholdType: int,  # noqa: N802, N803
                      blockSize: int, C: float, dst: NDArray[Any] | None = None) -> NDArray[Any]:  # noqa: N803
    """maxValue where a pixel exceeds the rounded mean of the window around it less C, else 0; THRESH_BINARY_INV exchanges them.

    src: uint8, of one channel. adaptiveMethod: ADAPTIVE_THRESH_MEAN_C; GAUSSIAN_C is refused. blockSize: odd. C is rounded up, with THRESH_BINARY_INV
    down. The image's edge is replicated. O(1) per pixel for any window, and one pass up to a blockSize of 127. Raises areal.cv2.error.
    As cv2.adaptiveThreshold of OpenCV 4.14 and 5.0.
    """
    function = "adaptiveThreshold"
    image = _plane(function, src, ("uint8",))
    if _whole(function, "adaptiveMethod", adaptiveMethod) != ADAPTIVE_THRESH_MEAN_C:
        raise _error(function, f"adaptiveMethod {adaptiveMethod}: only ADAPTIVE_THRESH_MEAN_C is supported", _UNSUPPORTED)
    inverted = _inverts(function, "thresholdType", thresholdType)
    size = _block(function, blockSize)
    most, less = _number(function, "maxValue", maxValue), _number(function, "C", C)
    delta = math.floor(less) if inverted else math.ceil(less)
    result, out = _output(function, "dst", dst, image.shape, image.dtype)
    if image.size == 0:
        return result
    if most < 0:
        out[...] = 0
    elif size <= 127:
        # The mean m of an odd number of pixels is no tie, so p > round(m) - delta where p > m - delta + 1/2.
        high = _saturated(most, image.dtype)
        _apply(function, "threshold", image, out, (size, size), (-1, -1), "replicate", method="mean", offset=delta - 0.5, high=high, inverted=inverted)
    else:
        means = _filter(function, image, -1, (size, size), None, None, True, BORDER_REPLICATE | BORDER_ISOLATED, False)
        over = np.subtract(image, means, dtype=np.int16) > max(-256, min(-delta, 256))
        np.multiply(~over if inverted else over, np.uint8(_saturated(most, image.dtype)), out=out)
    return result


_MATCH_METHODS: tuple[filters.MatchMethod, ...] = ("sqdiff", "sqdiff-normed", "ccorr", "ccorr-normed", "ccoeff", "ccoeff-normed")


def matchTemplate(image: NDArray[Any], templ: NDArray[Any], method: int, result: NDArray[Any] | None = None, mask: None = None) -> NDArray[Any]:  # noqa: N802
    """The score of a template at every position of an image: float32, (H - h + 1) x (W - w + 1).

    image, templ: uint8 or float32, both of the same dtype and channels. The smaller of the two is the template. method: TM_SQDIFF to TM_CCOEFF_NORMED.
    mask: None; masks are refused. Sums of integers are exact and rounded once, where OpenCV's come from float32 transforms, and a NaN stays in the windows
    that hold it. As in OpenCV, TM_CCOEFF_NORMED of a flat template and TM_SQDIFF_NORMED of a black one are 1. Raises areal.cv2.error.
    As cv2.matchTemplate of OpenCV 4.14 and 5.0.
    """
    function = "matchTemplate"
    scene, name = _image(function, image, ("uint8", "float32"))
    part, of_part = _image(function, templ, ("uint8", "float32"))
    chosen = _whole(function, "method", method)
    if chosen not in range(len(_MATCH_METHODS)):
        raise _error(function, f"method {chosen}: it may be TM_SQDIFF to TM_CCOEFF_NORMED, 0 to 5", _ASSERTION)
    if mask is not None:
        raise _error(function, "mask: templates with masks are not supported", _UNSUPPORTED)
    if of_part != name or part.shape[2:] != scene.shape[2:]:
        raise _error(function, f"templ of {of_part} and {(*part.shape, 1)[2]} channels: image is of {name} and {(*scene.shape, 1)[2]}", _ASSERTION)
    if scene.size == 0 or part.size == 0:
        raise _error(function, "image or templ is empty", _ASSERTION)
    if scene.shape[0] < part.shape[0] or scene.shape[1] < part.shape[1]:
        scene, part = part, scene
    if scene.shape[0] < part.shape[0] or scene.shape[1] < part.shape[1]:
        raise _error(function, f"templ of {templ.shape[1]}x{templ.shape[0]}: it may not be wider and lower than image, or narrower and higher", _ASSERTION)
    shape = scene.shape[0] - part.shape[0] + 1, scene.shape[1] - part.shape[1] + 1
    scores, out = _output(function, "result", result, shape, np.dtype(np.float32))
    flat = chosen == TM_CCOEFF_NORMED and float(np.sum(np.var(part, axis=(0, 1), dtype=np.float64))) < np.finfo(np.float64).eps
    if flat or (chosen == TM_SQDIFF_NORMED and not part.any()):
        out[...] = 1
        return scores
    x, t = np.ascontiguousarray(scene), np.ascontiguousarray(part)
    try:
        made = filters.match(x, t, method=_MATCH_METHODS[chosen], axes="HWC" if x.ndim == 3 else "HW", dtype=np.float32)
    except Error as e:
        raise _error(function, str(e)) from e
    out[...] = made
    return scores


class ximgproc:  # noqa: N801
    """``cv2.ximgproc`` of opencv-contrib."""

    BINARIZATION_NIBLACK, BINARIZATION_SAUVOLA, BINARIZATION_WOLF, BINARIZATION_NICK = 0, 1, 2, 3

    @staticmethod
    def niBlackThreshold(_src: NDArray[Any], maxValue: float, type: int, blockSize: int, k: float,  # noqa: N802, N803
                         _dst: NDArray[Any] | None = None, binarizationMethod: int | None = 0,  # noqa: N803
                         r: float | None = 128.0) -> NDArray[Any]:
        """maxValue where a pixel exceeds the local threshold T, else 0; THRESH_BINARY_INV exchanges them, other types are refused.

        _src: uint8, uint16, int16 or float32, of one channel. With the mean m and the deviation s of the window of blockSize, which is odd:
        BINARIZATION_NIBLACK has T = m + k s; SAUVOLA, for uint8, m (1 + k (s / r - 1)); WOLF m + k (s / smax - 1) (m - pmin), smax and pmin of the
        image; NICK m + k sqrt(s^2 + the mean of squares). T is rounded to the source's type. The image's edge is replicated. Up to T this computes in
        float64 and OpenCV in float32: pixels differ where T is nearly a tie, at most 1e-4 of them. O(1) per pixel for any window. Raises
        areal.cv2.error. As cv2.ximgproc.niBlackThreshold of OpenCV 4.14.
        """
        return _local_threshold(_src, maxValue, type, blockSize, k, _dst, binarizationMethod, r)

    @staticmethod
    def guidedFilter(guide: NDArray[Any], src: NDArray[Any], radius: int, eps: float, dst: NDArray[Any] | None = None,  # noqa: N802
                     dDepth: int | None = -1, scale: float | None = 1.0) -> NDArray[Any]:  # noqa: N803
        """The guided filter of windows of 2 radius + 1 pixels: an array of src's shape.

        guide: of 1 or 3 channels; guide, src: uint8 or float32. eps: above 0. dDepth: -1 for src's, or CV_32F. scale: 1. This computes in float64 and
        OpenCV in float32: with pixels of 0 to 255 and eps of 65 or more, floats are within 1e-2 and bytes within 1. A NaN changes the pixels that share
        a window with it. O(1) a pixel. Raises areal.cv2.error. As cv2.ximgproc.guidedFilter of OpenCV 4.14 and 5.0.
        """
        return _guided(guide, src, radius, eps, dst, dDepth, scale)


def _local_threshold(src: Any, max_value: Any, kind: Any, block_size: Any, k: Any, dst: Any, method: Any, r: Any) -> NDArray[Any]:
    function = "niBlackThreshold"
    image = _plane(function, src, ("uint8", "uint16", "int16", "float32"))
    if image.size == 0:
        raise _error(function, "src is empty", _ASSERTION)
    chosen = 0 if method is None else _whole(function, "binarizationMethod", method)
    if chosen not in range(4):
        raise _error(function, f"binarizationMethod {chosen}: it may be BINARIZATION_NIBLACK, SAUVOLA, WOLF or NICK")
    if chosen == ximgproc.BINARIZATION_SAUVOLA and image.dtype != np.uint8:
        raise _error(function, f"BINARIZATION_SAUVOLA with src of {image.dtype}: it must be uint8", _ASSERTION)
    inverted = _inverts(function, "type", kind)
    size = _block(function, block_size)
    factor, most = _number(function, "k", k), _saturated(_number(function, "maxValue", max_value), image.dtype)
    span = _number(function, "r", 128.0 if r is None else r)
    if chosen == ximgproc.BINARIZATION_SAUVOLA and span <= 0:
        raise _error(function, f"r {span}: it must be positive")
    result, out = _output(function, "_dst", dst, image.shape, image.dtype)
    window: dict[str, Any] = {"edge": "replicate", "size": (size, size), "anchor": (-1, -1)}
    level = np.empty(image.shape, np.float32)
    if chosen == ximgproc.BINARIZATION_NICK:
        variance = np.empty_like(level)
        _apply(function, "mean", image, level, **window)
        _apply(function, "var", image, variance, **window)
        level += factor * np.sqrt(2 * variance + level * level)
    else:
        named = ("niblack", "sauvola", "wolf")[chosen]
        own: dict[str, Any] = {"r": span} if named == "sauvola" else {}
        _apply(function, "threshold", image, level, **window, method=named, k=factor, **own)
    if image.dtype.kind != "f":
        limits = np.iinfo(image.dtype)
        np.clip(np.rint(level, out=level), limits.min, limits.max, out=level)
    chosen_pixels = image <= level if inverted else image > level
    np.multiply(chosen_pixels, image.dtype.type(most), out=out)
    return result


def _guided(guide: Any, src: Any, radius: Any, eps: Any, dst: Any, ddepth: Any, scale: Any) -> NDArray[Any]:
    function = "guidedFilter"
    image, name = _image(function, src, _GUIDED)
    by, _ = _image(function, guide, _GUIDED)
    if image.size == 0:
        raise _error(function, "src is empty", _ASSERTION)
    if by.shape[:2] != image.shape[:2]:
        raise _error(function, f"guide of {by.shape[1]}x{by.shape[0]}: it must have src's size, {image.shape[1]}x{image.shape[0]}", _ASSERTION)
    if by.ndim == 3 and by.shape[2] != 3:
        raise _error(function, f"guide has {by.shape[2]} channels: it may have 1 or 3", _UNSUPPORTED)
    depth = -1 if ddepth is None else _whole(function, "dDepth", ddepth)
    depth = _DEPTHS[name] if depth < 0 else depth
    if depth not in (_DEPTHS[name], CV_32F):
        raise _error(function, f"dDepth {depth} with src of {name}: it may be -1, {_DEPTHS[name]} or {CV_32F}", _UNSUPPORTED)
    cells = _whole(function, "radius", radius)
    if cells < 0:
        raise _error(function, f"radius {cells}: it must not be negative", _ASSERTION)
    noise = _number(function, "eps", eps)
    if noise <= 0:
        raise _error(function, f"eps {noise}: it must be above 0", _ASSERTION)
    if scale is not None and _number(function, "scale", scale) != 1:
        raise _error(function, f"scale {scale}: only 1 is supported", _UNSUPPORTED)
    result, out = _output(function, "dst", dst, image.shape, _DTYPES[depth])
    x, by = _for_filters(image), _for_filters(by)
    fits = not np.may_share_memory(x, out) and not np.may_share_memory(by, out) and _for_filters(out) is out and (x.ndim == 2 or x.shape[2] <= 4)
    try:
        made = filters.guided(x, cells, noise, by, axes="HWC" if x.ndim == 3 else "HW", edge="symmetric", dtype=out.dtype, out=out if fits else None, backend="cpu")
    except Error as e:
        raise _error(function, str(e)) from e
    if made is not out:
        out[...] = made
    return result


from ._cv2_cascade import CascadeClassifier  # noqa: E402: it uses the checks above
from ._cv2_median import medianBlur  # noqa: E402: it uses the checks above
