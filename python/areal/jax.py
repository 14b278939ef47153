"""Summed-area tables of JAX arrays: under jit, vmap and grad, on the CPU and on CUDA, by XLA's foreign function interface.

Importing this module needs JAX, and handlers that the build makes if it finds JAX; the ImportError names what is missing.
Supports reverse mode (grad, vjp); forward mode (jvp) raises. A table of a 64-bit type raises if JAX's 64-bit types are
off; JAX itself would truncate.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("areal.jax needs JAX: pip install jax") from error

try:
    from . import _jax  # type: ignore[attr-defined]
except ImportError as error:
    raise ImportError("areal was built without its handlers for JAX: build it where JAX is installed, as jax.ffi.include_dir() has the headers") from error

import numpy as np

from . import _core
from ._arrays import TABLE_TYPES
from ._composed_window import composed_window
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework
from ._sat import _options
from ._spelled import Spelled, number_of_bins, spelled, unspelled

__all__ = ["IntegralHistogram", "Sat", "box_sums", "histograms", "integral_histogram", "sat", "scatter_corners", "table"]

Array = Any  # jax.Array, or a tracer of one


class _Jax(Framework):
    """JAX's arrays. This module computes with them: XLA calls its handlers."""

    signed = True
    own = sys.modules[__name__]

    def is_plain(self, x: Any) -> bool:
        return False


JAX = _Jax()
atexit.register(_options.cache_clear)  # JAX keeps this module to the end; nanobind would count what the cache holds as leaked

for _name, _cpu, _cuda in _jax.handlers():
    jax.ffi.register_ffi_target(_name, _cpu, platform="cpu")
    jax.ffi.register_ffi_target(_name, _cuda, platform="CUDA")

_BORDERS = ("zero", "none", "exclusive")
_CHOICES = {2: ("HW",), 3: ("HWC", "CHW", "NHW", "DHW"), 4: ("NHWC", "NCHW")}
_READABLE = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")


def _call(name: str, shape: Sequence[int], dtype: Any, *arrays: Array, **attributes: Any) -> Array:
    """Calls the handler. Leading dimensions are a batch, as vmap adds them."""
    out = jax.ShapeDtypeStruct(tuple(shape), dtype)
    return jax.ffi.ffi_call(name, out, vmap_method="broadcast_all")(*arrays, **attributes)


def _wide(name: str, why: str) -> Any:
    """The dtype. Raises InvalidArgument if JAX would truncate it."""
    if name in ("int64", "uint64", "float64") and not jax.config.jax_enable_x64:
        raise InvalidArgument(f"{why}: {name} needs JAX's 64-bit types, without which JAX would truncate it: jax.config.update(\"jax_enable_x64\", True), "
                              "or ask for a dtype of 32 bits")
    return jnp.dtype(name)


def _axes_of(x: Array, axes: str) -> str:
    axes = axes or "HW"
    choices = _CHOICES.get(x.ndim, ())
    if axes not in choices:
        raise InvalidArgument(f"axes {axes}: an array of {x.ndim} dimensions may have {', '.join(choices) or 'none'}")
    return axes


def _summed(axes: str) -> tuple[int, ...]:
    return tuple(i for i, letter in enumerate(axes) if letter in "DHW")


def _readable(x: Any, name: str = "array") -> Array:
    x = jnp.asarray(x)
    if x.dtype.name not in _READABLE:
        raise InvalidArgument(f"{name}: elements of {x.dtype.name} are none that areal has")
    return x


# ---------------------------------------------------------------- tables


@partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3, 4))
def _table(x: Array, axes: str, dtype: str, border: str, reverse: bool) -> Array:
    more = 1 if border == "zero" else 0
    along = _summed(axes)
    shape = [extent + more if i in along else extent for i, extent in enumerate(x.shape)]
    if axes.endswith("C") and x.shape[-1] > 4:  # the library's interleaved pixels have four at most
        return jnp.moveaxis(_table(jnp.moveaxis(x, -1, -3), axes[:-3] + "CHW", dtype, border, reverse), -3, -1)
    if 0 in shape or 0 in x.shape:
        return jnp.zeros(shape, dtype)
    return _call("areal_sat", shape, jnp.dtype(dtype), x, axes=axes, border=border, reverse=reverse)


def _table_forward(x: Array, axes: str, dtype: str, border: str, reverse: bool) -> tuple[Array, Array]:
    return _table(x, axes, dtype, border, reverse), jnp.zeros((0,), x.dtype)


def _table_backward(axes: str, dtype: str, border: str, reverse: bool, like: Array, gradient: Array) -> tuple[Array]:
    if border == "zero":  # T[y][x] sums rows < y: without the row of zeros it is `none`
        for dim in _summed(axes):
            gradient = jax.lax.slice_in_dim(gradient, 0 if reverse else 1, gradient.shape[dim] - (1 if reverse else 0), axis=dim)
        border = "none"
    return (_table(gradient, axes, gradient.dtype.name, border, not reverse).astype(like.dtype),)


_table.defvjp(_table_forward, _table_backward)


def table(x: Array, axes: str = "", *, dtype: Any = None, border: str = "zero", reverse: bool = False) -> Array:
    """The table of sums, as an array that jit, vmap and grad transform. See areal.sat.

    dtype None: as in `areal.sat`, but signed, and of the next wider type if a corner may exceed it; float64 for float32.
    """
    x = _readable(x)
    axes = _axes_of(x, axes)
    if border not in _BORDERS:
        raise InvalidArgument(f"border {border}: may be {', '.join(_BORDERS)}")
    of = _options(None, "zero", False, False, False, False, "auto", "auto", 0, 0)
    name = _core.table_dtype(JAX, list(x.shape), x.dtype.name, of, axes) if dtype is None else np.dtype(dtype).name
    if name not in TABLE_TYPES:
        raise InvalidArgument(f"dtype {name}: tables are of {', '.join(TABLE_TYPES)}")
    _wide(name, "dtype")
    return _table(x, axes, name, border, bool(reverse))


# ---------------------------------------------------------------- box sums and their transpose


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def _box_sums(sums: Array, boxes: Array, axes: str, border: str, outside: str) -> Array:
    dtype = jnp.float64 if jnp.issubdtype(sums.dtype, jnp.floating) else jnp.int64
    shape = [boxes.shape[0]] + [sums.shape[axes.index(letter)] for letter in "NC" if letter in axes]
    if axes.endswith("C") and sums.shape[-1] > 4:
        return _box_sums(jnp.moveaxis(sums, -1, -3), boxes, axes[:-3] + "CHW", border, outside)
    if 0 in shape or 0 in sums.shape:
        return jnp.zeros(shape, dtype)
    return _call("areal_box_sums", shape, dtype, sums, boxes, axes=axes, border=border, outside=outside)


def _box_sums_forward(sums: Array, boxes: Array, axes: str, border: str, outside: str) -> tuple[Array, Any]:
    return _box_sums(sums, boxes, axes, border, outside), (boxes, sums.shape, jnp.zeros((0,), sums.dtype))


def _box_sums_backward(axes: str, border: str, outside: str, kept: Any, gradient: Array) -> tuple[Array, None]:
    boxes, shape, like = kept
    return _scatter(gradient, boxes, tuple(shape), axes, border, outside).astype(like.dtype), None


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def _scatter(values: Array, boxes: Array, shape: tuple[int, ...], axes: str, border: str, outside: str) -> Array:
    if axes.endswith("C") and shape[-1] > 4:
        planar = (*shape[:-3], shape[-1], *shape[-3:-1])
        return jnp.moveaxis(_scatter(values, boxes, planar, axes[:-3] + "CHW", border, outside), -3, -1)
    if 0 in shape or 0 in values.shape:
        return jnp.zeros(shape, values.dtype)
    return _call("areal_scatter_corners", shape, jnp.float64, values, boxes, axes=axes, border=border, outside=outside)


def _scatter_forward(values: Array, boxes: Array, shape: tuple[int, ...], axes: str, border: str, outside: str) -> tuple[Array, Array]:
    return _scatter(values, boxes, shape, axes, border, outside), boxes


def _scatter_backward(shape: tuple[int, ...], axes: str, border: str, outside: str, boxes: Array, gradient: Array) -> tuple[Array, None]:
    return _box_sums(gradient, boxes, axes, border, outside), None


_box_sums.defvjp(_box_sums_forward, _box_sums_backward)
_scatter.defvjp(_scatter_forward, _scatter_backward)


def _rows(boxes: Any, format: str) -> tuple[Array, bool]:
    """Boxes as N x 4 of x, y, width, height, and whether the input was a single box. Host boxes stay NumPy's, so that they can be checked while jit traces."""
    _wide("int64", "boxes")
    xp: Any = np
    if isinstance(boxes, jax.Array):
        xp = jnp
        if not jnp.issubdtype(boxes.dtype, jnp.integer) or boxes.dtype == jnp.uint64:
            raise InvalidArgument(f"boxes of {boxes.dtype}: they must be whole numbers of at most 63 bits, as areal rounds none")
        rows, alone = boxes.astype(jnp.int64), boxes.shape == (4,)
        rows = rows[None] if alone else rows
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise InvalidArgument(f"boxes: an array of shape {tuple(rows.shape)}; it is 4 numbers, or N x 4")
    else:
        rows, alone = NUMPY.boxes(boxes)
    if format == "xywh":
        return rows, alone
    if format not in ("xyxy", "bbox", "skimage"):
        raise InvalidArgument(f"format {format}: may be xywh, xyxy, bbox or skimage")
    a, b, c, d = (rows[:, i] for i in range(4))
    if format != "xyxy":
        a, b, c, d = b, a, d, c
    more = 1 if format == "skimage" else 0
    return xp.stack((a, b, c - a + more, d - b + more), 1), alone


def _refused(rows: Any, height: int, width: int, border: str, outside: str) -> Any:
    """A mask of the host's boxes that are invalid for the table."""
    x, y, w, h = (rows[:, i] for i in range(4))
    bad = (w < 0) | (h < 0)
    if outside == "clip":
        return bad
    last_x, last_y = (width - 1, height - 1) if border == "exclusive" else (width, height)
    return bad | (x < 0) | (y < 0) | (x + w > last_x) | (y + h > last_y)


def box_sums(sums: Array, boxes: Any, axes: str = "", *, border: str = "zero", format: str = "xywh", outside: str = "error") -> Array:


    """Sums of boxes from a result of `table`: boxes x N x C, int64 or float64; for a single box without the first dimension.

    Invalid boxes raise InvalidArgument. Invalid boxes in a JAX array, traced or not, give 0 or NaN instead, as checking
    them would wait for the device. Needs JAX's 64-bit types.
    """
    axes = _axes_of(sums, axes)
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    if "D" in axes:
        raise InvalidArgument("boxes: a volume's have six numbers; they are answered for NumPy's arrays alone")
    rows, alone = _rows(boxes, format)
    if not isinstance(boxes, jax.Array):
        height, width = (sums.shape[axes.index(letter)] - (1 if border == "zero" else 0) for letter in "HW")
        bad = np.flatnonzero(_refused(rows, height, width, border, outside))
        if bad.size:
            raise InvalidArgument(f"box {bad[0]}: it reaches outside the image of {width}x{height}, or its extent is negative")
    answers = _box_sums(sums, jnp.asarray(rows), axes, border, outside)
    return answers[0] if alone else answers


def scatter_corners(values: Array, boxes: Any, shape: Sequence[int], axes: str = "", *, border: str = "zero", format: str = "xywh", outside: str = "error") -> Array:
    """The transpose of `box_sums`: a table of the shape with +values and -values at the corners of the boxes, float64."""
    rows, _ = _rows(boxes, format)
    return _scatter(jnp.asarray(values, jnp.float64), jnp.asarray(rows), tuple(shape), axes or "HW", border, outside)


class _Slices:
    """JAX's operations for _composed_window."""

    def cat(self, parts: list[Array], dim: int) -> Array:
        return jnp.concatenate(parts, dim)

    def spread(self, part: Array, dim: int, n: int) -> Array:
        return jnp.broadcast_to(part, (*part.shape[:dim], n, *part.shape[dim + 1:]))

    def zeros_like(self, x: Array) -> Array:
        return jnp.zeros_like(x)

    def clipped(self, begin: int, n: int, low: int, high: int, like: Array) -> Array:
        return jnp.clip(jnp.arange(n) + begin, low, high)

    def at_least_0(self, x: Array) -> Array:
        return jnp.maximum(x, 0)

    def wide(self, x: Array) -> Array:
        return x.astype(jnp.float64)

    def is_float(self, x: Array) -> bool:
        return bool(jnp.issubdtype(x.dtype, jnp.floating))


class Sat:
    """The summed-area table of a JAX array. Statistics of any box take constant time. A pytree, so that jit takes and returns it."""

    __slots__ = ("array", "axes", "border", "reverse", "squares")

    def __init__(self, array: Array, squares: Array | None, axes: str, border: str, reverse: bool = False) -> None:
        self.array, self.squares, self.axes, self.border, self.reverse = array, squares, axes, border, reverse

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Sums of boxes. See box_sums."""
        if self.reverse and self.border != "zero":
            raise InvalidArgument("table: a reversed one answers about boxes with border zero, and not of a volume")
        return box_sums(self.array, boxes, self.axes, border=self.border, format=format, outside=outside)

    def _pixels(self, boxes: Any, format: str, outside: str) -> Array:
        height, width = (self.array.shape[self.axes.index(letter)] for letter in "HW")
        first = 1 if self.border == "none" else 0
        counts = jnp.arange(first, height + first)[:, None] * jnp.arange(first, width + first)[None]
        pixels = box_sums(counts.astype(jnp.int64), boxes, "HW", border=self.border, format=format, outside=outside)
        return pixels.reshape(pixels.shape + (1,) * sum(letter in "NC" for letter in self.axes)).astype(jnp.float64)

    def mean(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Means of boxes, NaN for an empty box."""
        return self.sum(boxes, format=format, outside=outside) / self._pixels(boxes, format, outside)

    def var(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Population variances of boxes, never negative; the table needs squares."""
        if self.squares is None:
            raise InvalidArgument("squares: the table has none; ask areal.sat for squares=True")
        squares = box_sums(self.squares, boxes, self.axes, border=self.border, format=format, outside=outside) / self._pixels(boxes, format, outside)
        return jnp.maximum(squares - self.mean(boxes, format=format, outside=outside) ** 2, 0)

    def std(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Population standard deviations of boxes; the table needs squares."""
        return jnp.sqrt(self.var(boxes, format=format, outside=outside))

    def window(self, size: int | tuple[int, int], *, stat: str = "mean", edge: str = "shrink", anchor: tuple[int, int] | None = None, dtype: Any = "float64") -> Array:
        """The sum, mean, var or std of the window around every pixel, with edge valid, shrink or zero, in float64 or float32. See areal.Sat.window."""
        name = np.dtype(dtype).name
        if name not in ("float32", "float64"):
            raise InvalidArgument(f"dtype {name}: windows of JAX's arrays are float32 or float64")
        if self.reverse and self.border != "zero":
            raise InvalidArgument("table: a reversed one answers about boxes with border zero, and not of a volume")
        _wide("float64", "window")
        return composed_window(_Slices(), self.array, self.squares, self.axes, self.border, size, stat, edge, anchor).astype(name)

    def __repr__(self) -> str:
        return f"<areal.jax.Sat {self.axes} {'x'.join(map(str, self.array.shape))} {self.array.dtype}, border {self.border}>"


jax.tree_util.register_pytree_node(Sat, lambda t: ((t.array, t.squares), (t.axes, t.border, t.reverse)), lambda kept, arrays: Sat(arrays[0], arrays[1], *kept))


def sat(x: Array, axes: str = "", *, dtype: Any = None, border: str = "zero", squares: Any = False, reverse: bool = False, **others: Any) -> Sat:
    """The summed-area table of a JAX array. See areal.sat; tilted, mask, ignore_nan, out and carries are for other arrays."""
    defaults = {"tilted": False, "mask": None, "ignore_nan": False, "algorithm": "auto", "backend": "auto", "threads": 0, "device": 0, "out": None, "copy": None,
                "above": None, "left": None, "corner": None}
    for name, value in others.items():
        if name not in defaults:
            raise TypeError(f"sat() got an unexpected keyword argument '{name}'")
        if value is not defaults[name] and value != defaults[name]:
            raise InvalidArgument(f"{name}: it is not taken for JAX's arrays")
    x = _readable(x)
    axes = _axes_of(x, axes)
    second = None
    if squares not in (False, "no"):
        narrow = not jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize <= 2
        wide = _wide("int64" if narrow else "float64", "squares")  # few squares of 32-bit integers fit 64 bits
        second = table(x.astype(wide) ** 2, axes, dtype=wide, border=border, reverse=reverse)
    return Sat(table(x, axes, dtype=dtype, border=border, reverse=reverse), second, axes, border, reverse)


# ---------------------------------------------------------------- histograms


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def _histogram(x: Array, weights: Array | None, axes: str, binning: Spelled, border: str, dtype: str) -> Array:
    """The integral histogram of x, whose last axes are HW or HWC."""
    kind, bins, numbers, table, clamp, ignored = binning
    more = 1 if border == "zero" else 0
    pixels = x.shape[:-1] if axes.endswith("C") else x.shape
    shape = (*pixels[:-2], number_of_bins(kind, bins, numbers, table), pixels[-2] + more, pixels[-1] + more)
    if 0 in x.shape:
        return jnp.zeros(shape, dtype)
    how = {"axes": axes, "border": border, "kind": kind, "bins": np.int64(bins), "numbers": np.asarray(numbers or (0,), np.float64),
           "table": np.asarray(table or (0,), np.int64), "clamp": clamp, "ignored": np.int64(ignored or 0), "ignores": ignored is not None}
    if weights is None:
        return _call("areal_histogram", shape, jnp.dtype(dtype), x, **how)
    return _call("areal_weighted_histogram", shape, jnp.dtype(dtype), x, weights, **how)


def _bins_of_pixels(x: Array, axes: str, binning: Spelled) -> Array:
    """The bin of each pixel, -1 for none; removes the axis C. Defined as Binning::bin_of."""
    kind, bins, numbers, table, clamp, ignored = binning

    def over(values: Array, rule: Any) -> Array:
        edges = jnp.asarray(rule.bin_edges())
        wide, last = values.astype(edges.dtype), len(edges) - 2
        number = jnp.where(wide == edges[-1], last, jnp.searchsorted(edges, wide, side="right") - 1)
        number = jnp.clip(number, 0, last) if clamp else jnp.where((wide < edges[0]) | (wide > edges[-1]), -1, number)
        return jnp.where(jnp.isnan(wide), -1, number)

    if kind == "joint":
        joint, valid = 0, True
        for channel, count in enumerate(table):
            one = over(x[..., channel], _core.binning_uniform(count, numbers[2 * channel], numbers[2 * channel + 1]))
            joint, valid = joint * count + one, valid & (one >= 0)
        return jnp.where(valid, joint, -1)
    if axes.endswith("C"):
        x = x[..., 0]
    if kind == "uniform":
        return over(x, _core.binning_uniform(bins, *numbers))
    if kind == "edges":
        return over(x, _core.binning_edges(list(numbers)))
    value = x.astype(jnp.int64)
    if kind == "labels":
        inside = (value >= 0) & (value < bins)
        return jnp.where(inside if ignored is None else inside & (value != ignored), value, -1)
    inside = (value >= 0) & (value < len(table))
    return jnp.where(inside, jnp.asarray(table)[jnp.where(inside, value, 0)], -1)


def _histogram_forward(x: Any, weights: Any, axes: str, binning: Spelled, border: str, dtype: str) -> tuple[Array, Any]:
    if x.perturbed:
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; use jax.lax.stop_gradient")
    of_weights = None if weights is None else weights.value
    return _histogram(x.value, of_weights, axes, binning, border, dtype), (x.value, of_weights)


def _histogram_backward(axes: str, binning: Spelled, border: str, dtype: str, kept: Any, gradient: Array) -> tuple[None, Array | None]:
    x, weights = kept
    if weights is None or type(gradient) is jax.custom_derivatives.SymbolicZero:
        return None, None
    if border == "zero":
        gradient, border = gradient[..., 1:, 1:], "none"
    below = _table(gradient, "NCHW" if gradient.ndim == 4 else "CHW", gradient.dtype.name, border, True)
    number = _bins_of_pixels(x, axes, binning)
    picked = jnp.take_along_axis(below, jnp.where(number >= 0, number, 0)[..., None, :, :], axis=-3)[..., 0, :, :]
    return None, jnp.where(number >= 0, picked, 0).astype(weights.dtype)


_histogram.defvjp(_histogram_forward, _histogram_backward, symbolic_zeros=True)


class IntegralHistogram:
    """An integral histogram, N x bins x rows x columns. The histogram of any box takes O(bins). A pytree."""

    __slots__ = ("array", "border")

    def __init__(self, array: Array, border: str) -> None:
        self.array, self.border = array, border

    @property
    def bins(self) -> int:
        """The number of bins."""
        return int(self.array.shape[-3])

    def counts(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Histograms of boxes: boxes x N x bins. See box_sums."""
        return box_sums(self.array, boxes, "NCHW" if self.array.ndim == 4 else "CHW", border=self.border, format=format, outside=outside)


jax.tree_util.register_pytree_node(IntegralHistogram, lambda t: ((t.array,), t.border), lambda border, arrays: IntegralHistogram(arrays[0], border))


def integral_histogram(x: Array, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
                       ignored: int | None = None, lookup: Any = None, joint: Any = None, clamp: bool = False, weights: Array | None = None, axes: str = "",
                       dtype: Any = None, border: str = "none", **others: Any) -> IntegralHistogram:
    """The integral histogram of a JAX array; axes HW or NHW, with the channels of joint bins HWC, CHW, NHWC or NCHW. The weights have a gradient, the image has none.

    Takes the binnings of areal.integral_histogram, as numbers, not traced arrays; joint bins must have ranges.
    """
    for name, value in others.items():
        if value not in (None, False, "auto", 0):
            raise InvalidArgument(f"{name}: it is not taken for JAX's arrays")
    x = _readable(x)
    axes = _axes_of(x, axes)
    if "D" in axes:
        raise InvalidArgument("axes DHW: histograms are of images; use NHW")
    binning = spelled(x.dtype.name, bins, range, edges, labels, ignored, lookup, joint, bool(clamp))
    rule = unspelled(*binning)  # throws for what is none
    if binning[0] in ("labels", "lookup") and jnp.issubdtype(x.dtype, jnp.floating):
        raise InvalidArgument(f"binning by {binning[0]} reads integer images, not {x.dtype}")
    if binning[0] == "lookup" and x.dtype.itemsize > 2:
        raise InvalidArgument(f"binning by lookup reads images of 8 and 16 bits, not {x.dtype}")
    of_plane = "HWC" if "C" in axes else "HW"
    if "C" in axes:
        x = jnp.moveaxis(x, axes.index("C"), -1)
    channels, wanted = x.shape[-1] if "C" in axes else 1, len(binning[3]) if binning[0] == "joint" else 1
    if channels != wanted:
        raise InvalidArgument(f"binning: it reads {wanted} channel{'s' if wanted > 1 else ''}, the array has {channels}")
    pixels = x.shape[:-1] if "C" in axes else x.shape
    if weights is not None:
        weights = _readable(weights, "weights")
        if weights.shape != pixels:
            raise InvalidArgument(f"weights: an array of shape {tuple(weights.shape)}, the image's is {tuple(pixels)}")
    default = "float64" if weights is not None else "int32" if pixels[-1] * pixels[-2] <= 2**31 - 1 else "int64"
    name = default if dtype is None else np.dtype(dtype).name
    _wide(name, "dtype")
    assert rule.bins == number_of_bins(*binning[:4])
    return IntegralHistogram(_histogram(x, weights, of_plane, binning, border, name), border)


def histograms(x: Array, bins: Any = None, boxes: Any = None, *, axes: str = "", format: str = "xywh", outside: str = "error", **how: Any) -> Array:
    """Histograms of boxes from an integral histogram: boxes x N x bins. See integral_histogram."""
    if boxes is None:
        letters = _axes_of(x, axes)
        boxes, format = [0, 0, x.shape[letters.index("W")], x.shape[letters.index("H")]], "xywh"
    return integral_histogram(x, bins, axes=axes, **how).counts(boxes, format=format, outside=outside)
