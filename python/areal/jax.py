"""Summed-area tables of JAX arrays: under jit, vmap and grad, on the CPU and on CUDA, by XLA's foreign function interface.

Importing this module needs JAX and the handlers that are built where JAX is found; the ImportError says which is missing.
Gradients go backward (grad, vjp); forward mode (jvp) raises. Without JAX's 64-bit types a table that needs one raises,
where JAX itself would truncate.
"""

from __future__ import annotations

import atexit
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
from ._arrays import TABLE_TYPES, boxes_of
from ._errors import InvalidArgument
from ._sat import _options

__all__ = ["IntegralHistogram", "Sat", "box_sums", "histograms", "integral_histogram", "sat", "scatter_corners", "table"]

Array = Any  # jax.Array, or a tracer of one

atexit.register(_options.cache_clear)  # JAX keeps this module to the end; nanobind would count what the cache holds as leaked

for _name, _cpu, _cuda in _jax.handlers():
    jax.ffi.register_ffi_target(_name, _cpu, platform="cpu")
    jax.ffi.register_ffi_target(_name, _cuda, platform="CUDA")

_BORDERS = ("zero", "none", "exclusive")
_CHOICES = {2: ("HW",), 3: ("HWC", "CHW", "NHW", "DHW"), 4: ("NHWC", "NCHW")}
_READABLE = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")


def _call(name: str, shape: Sequence[int], dtype: Any, *arrays: Array, **attributes: Any) -> Array:
    """The handler. Its leading dimensions are a batch, which is what vmap makes."""
    out = jax.ShapeDtypeStruct(tuple(shape), dtype)
    return jax.ffi.ffi_call(name, out, vmap_method="broadcast_all")(*arrays, **attributes)


def _wide(name: str, why: str) -> Any:
    """The dtype. Throws InvalidArgument where JAX would truncate it."""
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
    """The table of sums, as an array: what jit, vmap and grad transform. See areal.sat.

    dtype None is that of `areal.sat`, signed, a step wider where a corner may exceed it; float32 has float64.
    """
    x = _readable(x)
    axes = _axes_of(x, axes)
    if border not in _BORDERS:
        raise InvalidArgument(f"border {border}: may be {', '.join(_BORDERS)}")
    of = _options(None, "zero", False, False, False, False, "auto", "auto", 0, 0)
    name = _core.table_dtype(list(x.shape), x.dtype.name, of, True, axes) if dtype is None else np.dtype(dtype).name
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
    """N x 4 of x, y, width, height, and whether it was one box alone."""
    _wide("int64", "boxes")
    if isinstance(boxes, jax.Array):
        if not jnp.issubdtype(boxes.dtype, jnp.integer) or boxes.dtype == jnp.uint64:
            raise InvalidArgument(f"boxes of {boxes.dtype}: they must be whole numbers of at most 63 bits, as areal rounds none")
        rows, alone = boxes.astype(jnp.int64), boxes.shape == (4,)
        rows = rows[None] if alone else rows
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise InvalidArgument(f"boxes: an array of shape {tuple(rows.shape)}; it is 4 numbers, or N x 4")
    else:
        host, alone = boxes_of(boxes, 4)
        rows = jnp.asarray(host)
    if format == "xywh":
        return rows, alone
    if format not in ("xyxy", "bbox", "skimage"):
        raise InvalidArgument(f"format {format}: may be xywh, xyxy, bbox or skimage")
    a, b, c, d = (rows[:, i] for i in range(4))
    if format != "xyxy":
        a, b, c, d = b, a, d, c
    more = 1 if format == "skimage" else 0
    return jnp.stack((a, b, c - a + more, d - b + more), 1), alone


def _refused(rows: Array, height: int, width: int, border: str, outside: str) -> Array:
    """Which boxes a table cannot answer."""
    x, y, w, h = (rows[:, i] for i in range(4))
    bad = (w < 0) | (h < 0)
    if outside == "clip":
        return bad
    last_x, last_y = (width - 1, height - 1) if border == "exclusive" else (width, height)
    return bad | (x < 0) | (y < 0) | (x + w > last_x) | (y + h > last_y)


def box_sums(sums: Array, boxes: Any, axes: str = "", *, border: str = "zero", format: str = "xywh", outside: str = "error") -> Array:
    """Sums of boxes from a table that `table` made: boxes x N x C, int64 or float64; of one box without the first dimension.

    Boxes that are no JAX array are checked first, and what cannot be answered raises InvalidArgument. Those of a JAX
    array, traced or not, get 0 or NaN, as it would take a wait to look at them. Needs JAX's 64-bit types.
    """
    axes = _axes_of(sums, axes)
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    if "D" in axes:
        raise InvalidArgument("boxes: a volume's have six numbers; they are answered for NumPy's arrays alone")
    rows, alone = _rows(boxes, format)
    if not isinstance(boxes, jax.Array):
        height, width = (sums.shape[axes.index(letter)] - (1 if border == "zero" else 0) for letter in "HW")
        bad = np.flatnonzero(np.asarray(_refused(rows, height, width, border, outside)))
        if bad.size:
            raise InvalidArgument(f"box {bad[0]}: it reaches outside the image of {width}x{height}, or its extent is negative")
    answers = _box_sums(sums, rows, axes, border, outside)
    return answers[0] if alone else answers


def scatter_corners(values: Array, boxes: Any, shape: Sequence[int], axes: str = "", *, border: str = "zero", format: str = "xywh", outside: str = "error") -> Array:
    """The transpose of `box_sums`: a table of the shape with +values and -values at the corners of the boxes, float64."""
    rows, _ = _rows(boxes, format)
    return _scatter(jnp.asarray(values, jnp.float64), rows, tuple(shape), axes or "HW", border, outside)


class Sat:
    """The summed-area table of a JAX array, which answers about any box in constant time. A pytree: jit takes and returns it."""

    __slots__ = ("array", "axes", "border", "squares")

    def __init__(self, array: Array, squares: Array | None, axes: str, border: str) -> None:
        self.array, self.squares, self.axes, self.border = array, squares, axes, border

    def sum(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Sums of boxes. See box_sums."""
        return box_sums(self.array, boxes, self.axes, border=self.border, format=format, outside=outside)

    def _pixels(self, boxes: Any, format: str, outside: str) -> Array:
        height, width = (self.array.shape[self.axes.index(letter)] for letter in "HW")
        first = 1 if self.border == "none" else 0
        counts = jnp.arange(first, height + first)[:, None] * jnp.arange(first, width + first)[None]
        pixels = box_sums(counts.astype(jnp.int64), boxes, "HW", border=self.border, format=format, outside=outside)
        return pixels.reshape(pixels.shape + (1,) * sum(letter in "NC" for letter in self.axes)).astype(jnp.float64)

    def mean(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Means of boxes, NaN for an empty one."""
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

    def __repr__(self) -> str:
        return f"<areal.jax.Sat {self.axes} {'x'.join(map(str, self.array.shape))} {self.array.dtype}, border {self.border}>"


jax.tree_util.register_pytree_node(Sat, lambda t: ((t.array, t.squares), (t.axes, t.border)), lambda kept, arrays: Sat(arrays[0], arrays[1], kept[0], kept[1]))


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
        wide = _wide("float64" if jnp.issubdtype(x.dtype, jnp.floating) else "int64", "squares")
        second = table(x.astype(wide) ** 2, axes, dtype=wide, border=border, reverse=reverse)
    return Sat(table(x, axes, dtype=dtype, border=border, reverse=reverse), second, axes, border)


# ---------------------------------------------------------------- histograms


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5, 6))
def _histogram(x: Array, weights: Array | None, bins: int, low: float, high: float, border: str, dtype: str) -> Array:
    more = 1 if border == "zero" else 0
    shape = (*x.shape[:-2], bins, x.shape[-2] + more, x.shape[-1] + more)
    if 0 in x.shape:
        return jnp.zeros(shape, dtype)
    how = {"border": border, "bins": np.int64(bins), "low": np.float64(low), "high": np.float64(high)}
    if weights is None:
        return _call("areal_histogram", shape, jnp.dtype(dtype), x, **how)
    return _call("areal_weighted_histogram", shape, jnp.dtype(dtype), x, weights, **how)


def _histogram_forward(x: Any, weights: Any, bins: int, low: float, high: float, border: str, dtype: str) -> tuple[Array, Any]:
    if x.perturbed:
        raise InvalidArgument("array: histograms have no gradient with respect to it, as a pixel's bin is a step; use jax.lax.stop_gradient")
    of_weights = None if weights is None else weights.value
    return _histogram(x.value, of_weights, bins, low, high, border, dtype), (x.value, of_weights)


def _histogram_backward(bins: int, low: float, high: float, border: str, dtype: str, kept: Any, gradient: Array) -> tuple[None, Array | None]:
    x, weights = kept
    if weights is None or type(gradient) is jax.custom_derivatives.SymbolicZero:
        return None, None
    if border == "zero":
        gradient, border = gradient[..., 1:, 1:], "none"
    below = _table(gradient, "NCHW" if x.ndim == 3 else "CHW", gradient.dtype.name, border, True)
    edges = jnp.asarray(_core.binning_uniform(bins, low, high).bin_edges())
    wide = x.astype(edges.dtype)
    number = jnp.searchsorted(edges, wide, side="right") - 1
    number = jnp.where(wide == edges[-1], bins - 1, number)
    inside = (wide >= edges[0]) & (wide <= edges[-1])
    picked = jnp.take_along_axis(below, jnp.where(inside, number, 0)[..., None, :, :], axis=-3)[..., 0, :, :]
    return None, jnp.where(inside, picked, 0).astype(weights.dtype)


_histogram.defvjp(_histogram_forward, _histogram_backward, symbolic_zeros=True)


class IntegralHistogram:
    """An integral histogram, which answers with the histogram of any box in O(bins). N x bins x rows x columns. A pytree."""

    __slots__ = ("array", "border")

    def __init__(self, array: Array, border: str) -> None:
        self.array, self.border = array, border

    @property
    def bins(self) -> int:
        """How many bins."""
        return int(self.array.shape[-3])

    def counts(self, boxes: Any, *, format: str = "xywh", outside: str = "error") -> Array:
        """Histograms of boxes: boxes x N x bins. See box_sums."""
        return box_sums(self.array, boxes, "NCHW" if self.array.ndim == 4 else "CHW", border=self.border, format=format, outside=outside)


jax.tree_util.register_pytree_node(IntegralHistogram, lambda t: ((t.array,), t.border), lambda border, arrays: IntegralHistogram(arrays[0], border))


def integral_histogram(x: Array, bins: int | None = None, *, range: tuple[float, float] | None = None, weights: Array | None = None, axes: str = "",
                       dtype: Any = None, border: str = "none", **others: Any) -> IntegralHistogram:
    """The integral histogram of a JAX array, in bins over a range; axes HW or NHW. The weights have a gradient, the image has none.

    See areal.integral_histogram; its other binnings are for other arrays.
    """
    for name, value in others.items():
        if value not in (None, False, "auto", 0):
            raise InvalidArgument(f"{name}: it is not taken for JAX's arrays")
    x = _readable(x)
    axes = _axes_of(x, axes)
    if axes not in ("HW", "NHW"):
        raise InvalidArgument(f"axes {axes}: histograms of JAX's arrays have HW or NHW")
    if not isinstance(bins, (int, np.integer)):
        raise InvalidArgument("bins: of a JAX array they are a number, over a range")
    if range is None:
        if jnp.issubdtype(x.dtype, jnp.floating):
            raise InvalidArgument(f"range: pixels of {x.dtype} need one")
        info = np.iinfo(np.uint8 if x.dtype == bool else x.dtype)
        range = (int(info.min), int(info.max) + 1)
    low, high = float(range[0]), float(range[1])
    if not low < high or bins < 1:
        raise InvalidArgument(f"range: {low:g} to {high:g} in {bins} bins")
    if weights is not None:
        weights = _readable(weights, "weights")
        if weights.shape != x.shape:
            raise InvalidArgument(f"weights: an array of shape {tuple(weights.shape)}, the image's is {tuple(x.shape)}")
    default = "float64" if weights is not None else "int32" if x.shape[-1] * x.shape[-2] <= 2**31 - 1 else "int64"
    name = default if dtype is None else np.dtype(dtype).name
    _wide(name, "dtype")
    return IntegralHistogram(_histogram(x, weights, int(bins), low, high, border, name), border)


def histograms(x: Array, bins: int | None = None, boxes: Any = None, *, format: str = "xywh", outside: str = "error", **how: Any) -> Array:
    """Histograms of boxes: boxes x bins. The integral histogram is made and asked. See integral_histogram."""
    if boxes is None:
        boxes, format = [0, 0, x.shape[-1], x.shape[-2]], "xywh"
    return integral_histogram(x, bins, **how).counts(boxes, format=format, outside=outside)
