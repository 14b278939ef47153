"""Integral histograms of arrays, and histograms of boxes."""

from __future__ import annotations

import atexit
from functools import lru_cache
from typing import Any, Literal, Sequence

import numpy as np

from . import _core
from ._arrays import Array, as_array, clips, converted, dtype_name, on_host, words
from ._binning import Binning, binning_of
from ._box_histograms import BoxHistograms, Measure, target_of
from ._display import as_html, means, size_words
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework, framework_of
from ._sat import Border, Format, Outside
from ._spelled import Spelled, unspelled

Store = Literal["auto", "none", "compact", "tensor"]
_COUNTERS = ("uint16", "uint32", "uint64", "int32", "int64", "float32", "float64")


class IntegralHistogram(BoxHistograms):
    """The integral histogram of an array, which answers about the histogram of any box in O(bins).

    ``array`` is the tensor, bins x H x W (of a batch N x bins x H x W), of the framework of the pixels, where these lie. Boxes, ``format`` and
    ``outside`` are those of `areal.Sat`; answers are boxes x images x bins, or boxes x images, as far as there are several; of one box without the
    first dimension.
    """

    __slots__ = ("_binning", "_says", "array")

    def __init__(self, on: Framework, array: Any, binning: Binning | Spelled, says: tuple[str, str, str, str, str, str]) -> None:
        self._on, self.array, self._binning, self._says = on, array, binning, says

    @property
    def binning(self) -> Binning:
        """The binning."""
        return self._binning if isinstance(self._binning, Binning) else unspelled(*self._binning)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return int(self.array.shape[-3])

    @property
    def edges(self) -> tuple[float, ...]:
        """bins + 1 rising edges; 0, 1, 2, .. for labels, lookup and joint."""
        return tuple(self.binning.edges.tolist())

    @property
    def axes(self) -> str:
        """The letters of the dimensions of the pixels."""
        return self._says[0]

    @property
    def border(self) -> str:
        """none, zero or exclusive."""
        return self._says[1]

    @property
    def image_dtype(self) -> str:
        """The type of the pixels."""
        return self._says[2]

    @property
    def algorithm(self) -> str:
        """The id of the algorithm; empty if a compiled graph or a gradient's operators computed the tensor."""
        return self._says[3]

    @property
    def reason(self) -> str:
        """Why the plan chose the algorithm and the backend."""
        return self._says[4]

    @property
    def backend(self) -> str:
        """cpu, cuda or simt."""
        return self._says[5]

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of the input array."""
        more = 1 if self.border == "zero" else 0
        extent = {"N": self.array.shape[0], "H": self.array.shape[-2] - more, "W": self.array.shape[-1] - more, "C": self.binning.channels}
        return tuple(int(extent[letter]) for letter in self.axes)

    def _counts(self, boxes: Any, format: str, outside: str, refused: bool, as_double: bool, threads: int) -> tuple[Any, bool]:
        on, clip = self._on, clips(outside)
        rows, format, alone = on.boxes_of_query(boxes, format)
        return _core.counts(on, self.array, self.border, rows, format, clip, refused, as_double, threads), alone

    def distance_map(self, target: Any, size: int | tuple[int, int], *, measure: Measure = "hellinger", dtype: Any = "float64",
                     threads: int = 0) -> Any:
        """The distance between a target and the histogram of every window of ``size`` (rows, columns) inside the image: (H-h+1) x (W-w+1), of a
        batch for each image. O(bins) a window. On a device these, as means, percentiles and distances, wait."""
        height, width = (size, size) if isinstance(size, int) else size
        return _core.distance_map(self._on, self.array, self.border, target_of(target, self.bins), (height, width), measure, dtype_name(dtype), threads)

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor."""
        return int(self.array.nbytes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return converted(on_host(self.array), dtype, copy)

    def __reduce__(self) -> Any:
        return type(self), (self._on, self.array, self._binning, self._says)

    def __repr__(self) -> str:
        made = f", {self.algorithm} on {self.backend}" if self.algorithm else ""
        return (f"<areal.IntegralHistogram {self.axes} {words(self.array.shape)} {dtype_name(self.array.dtype)} of {self.image_dtype}, {self.binning}, "
                f"border {self.border}, {self.nbytes:,} bytes{made}>")

    def _repr_html_(self) -> str:
        a = self.array
        rows = [("image", f"{self.axes} {words(self.image_shape)} {self.image_dtype}"), ("bins", repr(self.binning)),
                ("tensor", f"{words(a.shape)} {dtype_name(a.dtype)}, {size_words(a.nbytes)}"), ("border", self.border),
                ("algorithm", f"{self.algorithm} on {self.backend}: {self.reason}")]
        return as_html("areal.IntegralHistogram", rows, means(self, 64))


Framework.IntegralHistogram = IntegralHistogram


class HistogramPlan(_core.HistogramPlan):
    """The types, algorithm and backend for integral histograms of arrays of one shape and dtype, chosen in advance.

    ``plan(x, out=None, *, weights=None, copy=None)`` gives the IntegralHistogram of an array. Thread-safe, as `areal.SatPlan` is. ``dtype``
    is that of the pixels, ``counter`` that of the tensor: uint32, uint64, int32, int64, with ``weighted=True`` float64 or float32. ``border`` none, the
    default: H x W, inclusive. ``memory_limit``: bytes that a tensor may have; 0 for what the machine has free.
    """

    __slots__ = ("_given", "binning")

    def __init__(self, shape: Sequence[int], dtype: Any, bins: Binning, axes: str = "", *, counter: Any = None, border: Border = "none",
                 weighted: bool = False, algorithm: str = "auto", memory_limit: int = 0, backend: str = "auto", device: int = 0,
                 threads: int = 0) -> None:
        if not isinstance(bins, Binning):
            raise InvalidArgument(f"bins: it may be an areal.Binning, not {type(bins).__name__}")
        self.binning = bins
        self._given = (tuple(shape), dtype_name(dtype), bins, axes, counter, border, weighted, algorithm, memory_limit, backend, device, threads)
        name = dtype_name(counter) if counter is not None else "float64" if weighted else "uint32"
        if name not in _COUNTERS:
            raise InvalidArgument(f"dtype {name}: tensors are of {', '.join(_COUNTERS)}")
        super().__init__(bins._rule, list(shape), dtype_name(dtype), axes, name, border, weighted, algorithm, memory_limit, backend, device, threads)

    def __call__(self, x: Any, out: Any = None, *, weights: Any = None, copy: bool | None = None) -> IntegralHistogram:
        on = NUMPY if type(x) is np.ndarray else framework_of(x)
        if not on.is_plain(x) or not (weights is None or on.is_plain(weights)):
            raise InvalidArgument("array: a plan takes none that is differentiated, traced or batched; use areal.integral_histogram")
        return on.IntegralHistogram(*self._made(on, x, out, weights, copy))  # type: ignore[no-any-return]

    def _made(self, on: Framework, x: Any, out: Any, weights: Any, copy: bool | None) -> tuple[Any, ...]:
        """Computes the arguments of an IntegralHistogram."""
        array, *origin = self.execute(on, x, out, weights, copy)
        return on, array, self.binning, (self.axes, self._given[5], self._given[1], *origin)

    def __reduce__(self) -> Any:
        return planned, self._given

    def __repr__(self) -> str:
        shape, dtype = self._given[:2]
        return f"<areal.HistogramPlan {self.axes} {'x'.join(map(str, shape))} {dtype}, {self.binning}, {self.algorithm} on {self.backend}>"


@lru_cache(maxsize=64)
def planned(shape: tuple[int, ...], dtype: str, binning: Binning, axes: str, counter: Any, border: Border, weighted: bool, algorithm: str,
             memory_limit: int, backend: str, device: int, threads: int) -> HistogramPlan:
    return HistogramPlan(shape, dtype, binning, axes, counter=counter, border=border, weighted=weighted, algorithm=algorithm,
                         memory_limit=memory_limit, backend=backend, device=device, threads=threads)


atexit.register(planned.cache_clear)  # PyTorch and JAX keep this module to the end; nanobind would count what the cache holds as leaked


def integral_histogram(x: Any, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
                       ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False,
                       weights: Any = None, axes: str = "", dtype: Any = None, border: Border = "none", algorithm: str = "auto",
                       memory_limit: int = 0, backend: str = "auto", device: int = 0, threads: int = 0, out: Array | None = None,
                       copy: bool | None = None) -> IntegralHistogram:
    """The integral histogram of an array: bins x H x W counts of the pixels above and to the left. O(bins H W) an image.

    x: an array in host memory, as `areal.sat` takes it; axes HW, NHW, or with the two or three channels of joint bins HWC, CHW, NHWC, NCHW.
    bins, range, edges, labels, ignored, lookup, joint, clamp: as `areal.Binning`, or a Binning as ``bins``. Without a range bins cover all values of
    an integer dtype; floats demand one.
    weights: one number for each pixel, uint8, uint16, float32 or float64, without C; the tensor is then of float64 or float32.
    dtype: of the tensor: uint32 (None), uint64, int32, int64. border: ``none``: H x W, inclusive; ``zero``: (H+1) x (W+1), the first row and column zero.
    memory_limit: bytes that the tensor may have; 0 for what the machine has free. Larger ones raise OutOfMemory with their bytes; `areal.histograms`
    needs no tensor.
    """
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if on.own is not None:
        return on.own.integral_histogram(x, bins, range=range, edges=edges, labels=labels, ignored=ignored, lookup=lookup, joint=joint, clamp=clamp,  # type: ignore[no-any-return]
                                         weights=weights, axes=axes, dtype=dtype, border=border, algorithm=algorithm, threads=threads)
    array = as_array(x) if on is NUMPY and not isinstance(x, np.ndarray) else x
    name = dtype_name(array.dtype)
    binning = binning_of(name, bins, range, edges, labels, ignored, lookup, joint, clamp)
    counter = None if dtype is None else dtype_name(dtype)
    plan = planned(tuple(array.shape), name, binning, axes, counter, border, weights is not None, algorithm, memory_limit, backend, device, threads)
    return IntegralHistogram(*plan._made(on, array, out, weights, copy))


def histograms(x: Any, bins: Any = None, boxes: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
               ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Any = None,
               axes: str = "", format: Format = "xywh", outside: Outside = "error", store: Store = "auto", threads: int = 0,
               copy: bool | None = None) -> Any:
    """Histograms of boxes of an array, without keeping a tensor, so also for images whose tensor would not fit.

    Arguments as `areal.integral_histogram`; ``boxes`` None is the whole image. Boxes x images x bins, uint64, with weights float64; of one box
    without the first dimension. ``store``: what answers them, with the same bits: none (the pixels are counted), compact (5 to 10 bytes a pixel
    in memory, O(bins) and some hundred pixels a box; no weights), tensor, or auto, the one expected to finish first. Arrays in a GPU's memory are
    answered there. JAX's arrays, and PyTorch's that are differentiated, traced or batched, have ``auto`` alone.
    """
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if on.own is not None and store != "auto" and not (on.is_plain(x) and (weights is None or on.is_plain(weights))):
        raise InvalidArgument(f"store {store}: JAX's arrays, and those that are differentiated, traced or batched, have no choice; leave it out")
    if on.own is not None and store == "auto":
        return on.own.histograms(x, bins, boxes, range=range, edges=edges, labels=labels, ignored=ignored, lookup=lookup, joint=joint, clamp=clamp,
                                 weights=weights, axes=axes, format=format, outside=outside, threads=threads)
    array = as_array(x) if on is NUMPY and not isinstance(x, np.ndarray) else x
    binning = binning_of(dtype_name(array.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp)
    if boxes is None:
        letters = axes or "HW"
        if len(letters) == len(array.shape) and "H" in letters and "W" in letters:
            boxes = [0, 0, array.shape[letters.index("W")], array.shape[letters.index("H")]]
            format = "xywh"
        else:
            boxes = []
    rows, spelled, alone = on.boxes_of_query(boxes, format)
    counts = _core.histograms(on, array, binning._rule, rows, axes, spelled, clips(outside), weights, copy, threads, store)
    if "N" in axes:
        counts = on.permuted(counts, (1, 0, 2))
    return counts[0] if alone else counts


def distance_map(x: Any, target: Any, size: int | tuple[int, int], bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None,
                 labels: int | None = None, ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False,
                 measure: Measure = "hellinger", dtype: Any = "float64", axes: str = "", threads: int = 0, copy: bool | None = None) -> Any:
    """The distance between a target and the histogram of every window of an array: `areal.IntegralHistogram.distance_map`, with its bits.

    Bins as `areal.integral_histogram`; ``target`` one number for each, ``size`` rows and columns of the windows, which lie inside the image: (H-h+1) x (W-w+1),
    of a batch for each image. O(bins) a window. Of an array in host memory it needs no tensor; on a device it makes one.
    """
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    array = as_array(x) if on is NUMPY and not isinstance(x, np.ndarray) else x
    if not on.is_plain(array):
        raise InvalidArgument("array: a map of distances has no gradients, and cannot be traced; detach the array")
    binning = binning_of(dtype_name(array.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp)
    if on.is_on_device(array):
        return integral_histogram(array, binning, axes=axes, threads=threads, copy=copy).distance_map(target, size, measure=measure, dtype=dtype, threads=threads)
    height, width = (size, size) if isinstance(size, int) else size
    return _core.distance_map_of_pixels(on, array, binning._rule, axes, target_of(target, binning.bins), (height, width), measure, dtype_name(dtype), copy, threads)
