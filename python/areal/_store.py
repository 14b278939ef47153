"""Stores: what an array keeps to answer the histograms or the quantiles of any box, without the tensor."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._arrays import as_array, clips, dtype_name, words
from ._binning import Binning, binning_of
from ._box_histograms import BoxHistograms
from ._display import as_html, means, size_words
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework, framework_of
from ._quantiles import Method, quantile_numbers, quantiles_shaped
from ._sat import Format, Outside


class HistogramStore(BoxHistograms):
    """An array's store, made by `areal.histogram_store`: with bins compact, for the histograms of boxes; without bins rank, for their quantiles.

    It lies where the array does. Its answers have the bits of `areal.histograms` and `areal.quantiles`, and the shapes of `areal.IntegralHistogram`. A
    pickle holds the store's bytes; it comes back in host memory, as NumPy's.
    """

    __slots__ = ("_binning", "_held")

    def __init__(self, on: Framework, held: _core.StoreOf, binning: Binning | None) -> None:
        self._on, self._held, self._binning = on, held, binning

    @property
    def kind(self) -> str:
        """compact or rank."""
        return self._held.kind

    @property
    def binning(self) -> Binning:
        """The binning. A rank store has none."""
        if self._binning is None:
            raise InvalidArgument("store: it was made without bins, and answers quantiles; give areal.histogram_store bins for histograms")
        return self._binning

    @property
    def axes(self) -> str:
        """The letters of the dimensions of the pixels."""
        return self._held.axes

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of the input array."""
        return tuple(self._held.shape)

    @property
    def image_dtype(self) -> str:
        """The type of the pixels."""
        return self._held.dtype

    @property
    def backend(self) -> str:
        """cpu or cuda."""
        return self._held.backend

    @property
    def nbytes(self) -> int:
        """Bytes of the store."""
        return self._held.bytes

    def _counts(self, boxes: Any, format: str, outside: str, refused: bool, as_double: bool, threads: int) -> tuple[Any, bool]:
        _ = self.binning  # a rank store raises
        rows, format, alone = self._on.boxes_of_query(boxes, format)
        return self._held.counts(self._on, rows, format, clips(outside), refused, as_double, threads), alone

    def quantiles(self, boxes: Any, q: Any = 0.5, method: Method = "linear", *, format: Format = "xywh", outside: Outside = "error",
                  threads: int = 0) -> Any:
        """Quantiles of boxes, as `areal.quantiles`, from a rank store. O(bits) a box, whatever its size."""
        if self._binning is not None:
            raise InvalidArgument("store: it has bins, whose `percentile` interpolates; make it without bins for exact quantiles")
        wanted = quantile_numbers(q)
        rows, spelled, alone = self._on.boxes_of_query(boxes, format)
        answers = self._held.quantiles(self._on, rows, wanted.reshape(-1).tolist(), method, spelled, clips(outside), threads)
        return quantiles_shaped(self._on, answers, "N" in self.axes, wanted.ndim == 0, alone)

    def __reduce__(self) -> Any:
        return _restored, (self._held.state(), self.axes, self._binning)

    def __repr__(self) -> str:
        bins = f", {self._binning}" if self._binning is not None else ""
        return (f"<areal.HistogramStore {self.kind} of {self.axes} {words(self.image_shape)} {self.image_dtype}{bins}, {self.nbytes:,} bytes on "
                f"{self.backend}>")

    def _repr_html_(self) -> str:
        rows = [("image", f"{self.axes} {words(self.image_shape)} {self.image_dtype}"), ("store", f"{self.kind}, {size_words(self.nbytes)} on {self.backend}")]
        if self._binning is None:
            return as_html("areal.HistogramStore", rows, None)
        return as_html("areal.HistogramStore", [*rows, ("bins", repr(self._binning))], means(self, 64))


def _restored(state: dict[str, Any], axes: str, binning: Binning | None) -> HistogramStore:
    return HistogramStore(NUMPY, _core.store_restored(**state, binning=None if binning is None else binning._rule, axes=axes), binning)


def histogram_store(x: Any, bins: Any = None, *, range: tuple[float, float] | None = None, edges: Any = None, labels: int | None = None,
                    ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None, clamp: bool = False, mask: Any = None,
                    axes: str = "", block: int = 0, bits: int = 0, memory_limit: int = 0, threads: int = 0, copy: bool | None = None) -> HistogramStore:
    """The store of an array, for many questions about boxes that come later. O(bits log(W) H W) without bins, else O(H W (1 + bins / 32)).

    With bins, given as to `areal.integral_histogram`, it is compact: 5 bytes a pixel for 32 bins, 10 for 256, and histograms of boxes in O(bins) and some
    hundred pixels, whatever their size. Without bins it is rank: exact quantiles of any box, of every dtype but uint64 and int64, from 16 bytes a
    pixel of uint16.

    x: an array in host or device memory, as `areal.histograms` takes it; it may change afterwards. mask: uint8 or bool, without C: pixels where it is 0 are
    in no bin; with bins alone. block: 32, 64 or 128 pixels between the lines of a compact store; 0: by the number of bins. bits: of the greatest unsigned
    pixel, such as 12 of a camera; they make a rank store smaller. memory_limit: bytes that the store may have; 0 for what is free. Larger ones raise
    OutOfMemory with their bytes.
    """
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if not (on.is_plain(x) and (mask is None or on.is_plain(mask))):
        raise InvalidArgument("array: a store has no gradients, and cannot be traced; detach the array")
    array = as_array(x) if on is NUMPY and not isinstance(x, np.ndarray) else x
    has_bins = clamp or any(given is not None for given in (bins, range, edges, labels, ignored, lookup, joint))
    binning = binning_of(dtype_name(array.dtype), bins, range, edges, labels, ignored, lookup, joint, clamp) if has_bins else None
    if mask is not None and binning is None:
        raise InvalidArgument("mask: a rank store has none; give bins")
    held = _core.store_of(on, array, None if binning is None else binning._rule, axes, mask, copy, threads, block, bits, memory_limit)
    return HistogramStore(on, held, binning)
