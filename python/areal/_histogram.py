"""Integral histograms of arrays, and what they say of boxes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, Sequence

import numpy as np

from . import _core
from ._arrays import Array, as_array, boxes_of, clips, converted, dtype_name
from ._binning import Binning, binning_of
from ._display import as_html, means, size_words
from ._errors import InvalidArgument
from ._foreign import framework_of
from ._sat import Border, Format, Outside

Measure = Literal["l1", "l2", "chi-square", "hellinger", "intersection", "emd", "kolmogorov-smirnov"]
_COUNTERS = ("uint16", "uint32", "uint64", "float32", "float64")


class IntegralHistogram(_core.Tensor):
    """The integral histogram of an array, which answers about the histogram of any box in O(bins).

    ``array`` is the tensor, bins x H x W (of a batch N x bins x H x W). Boxes, ``format`` and ``outside`` are those of `areal.Sat`; answers are
    boxes x images x bins, or boxes x images, as far as there are several; of one box without the first dimension.
    """

    __slots__ = ()

    def _counts(self, boxes: Any, format: str, outside: str, refused: bool, as_double: bool, threads: int) -> tuple[Any, bool]:
        array, alone = boxes_of(boxes, 4)
        return _core.counts(self, array, format, clips(outside), refused, as_double, threads), alone

    def counts(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Histograms of boxes: uint64, with weights float64. With ``refused=True`` a pair, as `areal.Sat.sum` has it."""
        answers, alone = self._counts(boxes, format, outside, refused, False, threads)
        if not alone:
            return answers
        return (answers[0][0], answers[1]) if refused else answers[0]

    def _measure(self, name: str, boxes: Any, format: str, outside: str, threads: int, values: Any = None, percent: float = 0,
                 distance: str = "") -> Any:
        counts, alone = self._counts(boxes, format, outside, False, True, threads)
        flat = counts.reshape(-1, counts.shape[-1])
        said = _core.measure(name, flat, np.zeros(0) if values is None else values, percent, distance, threads)
        said = said.reshape(*counts.shape[:-1], *said.shape[1:])
        return said[0] if alone else said

    def normalised(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Histograms divided by their sums, all zeros where that is 0."""
        return self._measure("normalise", boxes, format, outside, threads)

    def entropy(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Shannon entropies in bits, 0 for an empty histogram."""
        return self._measure("entropy", boxes, format, outside, threads)

    def percentile(self, percent: float, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Values below which ``percent`` of the mass lies, interpolated inside the bin; NaN for an empty histogram."""
        return self._measure("percentile", boxes, format, outside, threads, self.binning.edges, percent)

    def median(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Percentiles of 50."""
        return self.percentile(50, boxes, format=format, outside=outside, threads=threads)

    def mode(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """The fullest bins, the first of equals; -1 for an empty histogram."""
        return self._measure("mode", boxes, format, outside, threads)

    def mean(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Means of the bins' centres, weighted by their counts; NaN for an empty histogram."""
        return self._measure("mean", boxes, format, outside, threads, self.binning.edges)

    def distance(self, target: Any, boxes: Any, *, measure: Measure = "hellinger", format: Format = "xywh", outside: Outside = "error",
                 threads: int = 0) -> Any:
        """Distances between a target, one number a bin, and the histograms of boxes, all normalised."""
        return self._measure("distance", boxes, format, outside, threads, self._target(target), distance=measure)

    def distance_map(self, target: Any, size: int | tuple[int, int], *, measure: Measure = "hellinger", dtype: Any = "float64",
                     threads: int = 0) -> Array:
        """The distance between a target and the histogram of every window of ``size`` (rows, columns) inside the image: (H-h+1) x (W-w+1), of a
        batch for each image. O(bins) a window."""
        height, width = (size, size) if isinstance(size, int) else size
        answer: Array = _core.distance_map(self, self._target(target), (height, width), measure, dtype_name(dtype), threads)
        return answer

    def _target(self, target: Any) -> Array:
        values = np.ascontiguousarray(target, dtype=np.float64)
        if values.shape != (self.binning.bins,):
            raise InvalidArgument(f"target: {'x'.join(map(str, values.shape)) or 'one number'}; it has one number for each of {self.binning.bins} bins")
        return values

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor."""
        return self.array.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return converted(self.array, dtype, copy)

    def __reduce__(self) -> Any:
        return _loaded, (np.ascontiguousarray(self.array), self.binning, self.axes, self.image_shape, self.border, self.image_dtype,
                         (self.algorithm, self.reason, self.backend))

    def __repr__(self) -> str:
        a = self.array
        return (f"<areal.IntegralHistogram {self.axes} {'x'.join(map(str, a.shape))} {a.dtype.name} of {self.image_dtype}, {self.binning}, "
                f"border {self.border}, {self.nbytes:,} bytes, {self.algorithm} on {self.backend}>")

    def _repr_html_(self) -> str:
        a = self.array
        rows = [("image", f"{self.axes} {'x'.join(map(str, self.image_shape))} {self.image_dtype}"), ("bins", repr(self.binning)),
                ("tensor", f"{'x'.join(map(str, a.shape))} {a.dtype.name}, {size_words(a.nbytes)}"), ("border", self.border),
                ("algorithm", f"{self.algorithm} on {self.backend}: {self.reason}")]
        return as_html("areal.IntegralHistogram", rows, means(self, 64))


def _loaded(array: Array, binning: Binning, axes: str, image_shape: tuple[int, ...], border: str, image_dtype: str,
            origin: tuple[str, str, str]) -> IntegralHistogram:
    tensor = IntegralHistogram.__new__(IntegralHistogram)
    tensor._load(array, binning, axes, list(image_shape) + [1] * (4 - len(image_shape)), border, image_dtype, origin)
    return tensor


class HistogramPlan(_core.HistogramPlan):
    """All that is decided before the data is there, for integral histograms of arrays of one shape and dtype.

    ``plan(x, out=None, *, weights=None, copy=None)`` gives the IntegralHistogram of an array. Thread-safe, as `areal.SatPlan` is. ``dtype``
    is that of the pixels, ``counter`` that of the tensor: uint32, uint64, with ``weighted=True`` float64 or float32. ``border`` none, the
    default: H x W, inclusive. ``memory_limit``: bytes that a tensor may have; 0 for what the machine has free.
    """

    __slots__ = ("_given", "binning")

    def __init__(self, shape: Sequence[int], dtype: Any, bins: Binning, axes: str = "", *, counter: Any = None, border: Border = "none",
                 weighted: bool = False, algorithm: str = "auto", memory_limit: int = 0, backend: str = "auto", device: int = 0,
                 threads: int = 0) -> None:
        self.binning = bins
        self._given = (tuple(shape), dtype_name(dtype), bins, axes, counter, border, weighted, algorithm, memory_limit, backend, device, threads)
        name = dtype_name(counter) if counter is not None else "float64" if weighted else "uint32"
        if name not in _COUNTERS:
            raise InvalidArgument(f"dtype {name}: tensors are of {', '.join(_COUNTERS)}")
        super().__init__(bins._rule, list(shape), dtype_name(dtype), axes, name, border, weighted, algorithm, memory_limit, backend, device, threads)

    def __call__(self, x: Any, out: Array | None = None, *, weights: Any = None, copy: bool | None = None) -> IntegralHistogram:
        answer: IntegralHistogram = self.execute(self.binning, x, out, weights, copy)
        return answer

    def __reduce__(self) -> Any:
        return _planned, self._given

    def __repr__(self) -> str:
        shape, dtype = self._given[:2]
        return f"<areal.HistogramPlan {self.axes} {'x'.join(map(str, shape))} {dtype}, {self.binning}, {self.algorithm} on {self.backend}>"


@lru_cache(maxsize=64)
def _planned(shape: tuple[int, ...], dtype: str, binning: Binning, axes: str, counter: Any, border: Border, weighted: bool, algorithm: str,
             memory_limit: int, backend: str, device: int, threads: int) -> HistogramPlan:
    return HistogramPlan(shape, dtype, binning, axes, counter=counter, border=border, weighted=weighted, algorithm=algorithm,
                         memory_limit=memory_limit, backend=backend, device=device, threads=threads)


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
    dtype: of the tensor: uint32 (None), uint64. border: ``none``: H x W, inclusive; ``zero``: (H+1) x (W+1), the first row and column zero.
    memory_limit: bytes that the tensor may have; 0 for what the machine has free. Larger ones raise OutOfMemory with their bytes; `areal.histograms`
    needs no tensor.
    """
    if type(x) is not np.ndarray and (other := framework_of(x)) is not None:
        return other.integral_histogram(x, bins, range=range, edges=edges, labels=labels, ignored=ignored, lookup=lookup, joint=joint, clamp=clamp,  # type: ignore[no-any-return]
                                        weights=weights, axes=axes, dtype=dtype, border=border, algorithm=algorithm, threads=threads)
    array = x if isinstance(x, np.ndarray) else as_array(x)
    name = dtype_name(array.dtype)
    binning = binning_of(name, bins, range, edges, labels, ignored, lookup, joint, clamp)
    counter = None if dtype is None else dtype_name(dtype)
    plan = _planned(tuple(array.shape), name, binning, axes, counter, border, weights is not None, algorithm, memory_limit, backend, device, threads)
    return plan(array, out, weights=weights, copy=copy)


def histograms(x: Any, bins: Any = None, boxes: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
               ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, weights: Any = None,
               axes: str = "", format: Format = "xywh", outside: Outside = "error", threads: int = 0, copy: bool | None = None) -> Any:
    """Histograms of boxes straight from an array, whose rows are streamed once: no tensor, so images are taken whose tensor would not fit.

    Arguments as `areal.integral_histogram`; ``boxes`` None is the whole image. Boxes x images x bins, uint64, with weights float64; of one box
    without the first dimension. O(H W + distinct rows * bins * W) an image.
    """
    if type(x) is not np.ndarray and (other := framework_of(x)) is not None:
        return other.histograms(x, bins, boxes, range=range, edges=edges, labels=labels, ignored=ignored, lookup=lookup, joint=joint, clamp=clamp,
                                weights=weights, axes=axes, format=format, outside=outside, threads=threads)
    array = x if isinstance(x, np.ndarray) else as_array(x)
    binning = binning_of(dtype_name(array.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp)
    if boxes is None:
        letters = axes or "HW"
        if len(letters) == array.ndim and "H" in letters and "W" in letters:
            boxes = [0, 0, array.shape[letters.index("W")], array.shape[letters.index("H")]]
            format = "xywh"
        else:
            boxes = []
    wanted, alone = boxes_of(boxes, 4)
    counts = _core.histograms(array, binning._rule, wanted, axes, format, clips(outside), weights, copy, threads)
    return counts[0] if alone else counts
