"""Queries of the histograms of boxes, of a tensor or of a store."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _core
from ._arrays import Array, on_host, words
from ._binning import Binning
from ._errors import InvalidArgument
from ._frameworks import Framework
from ._sat import Format, Outside

Measure = Literal["l1", "l2", "chi-square", "hellinger", "intersection", "emd", "kolmogorov-smirnov"]


def target_of(target: Any, bins: int) -> Array:
    """One number for each bin."""
    values = np.ascontiguousarray(on_host(target), dtype=np.float64)
    if values.shape != (bins,):
        raise InvalidArgument(f"target: {words(values.shape) or 'one number'}; it has one number for each of {bins} bins")
    return values


class BoxHistograms:
    """What `areal.IntegralHistogram` and `areal.HistogramStore` answer alike, from the counts of boxes."""

    __slots__ = ("_on",)
    _on: Framework

    @property
    def binning(self) -> Binning:
        """The binning."""
        raise NotImplementedError

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self.binning.bins

    @property
    def axes(self) -> str:
        """The letters of the dimensions of the pixels."""
        raise NotImplementedError

    def _counts(self, boxes: Any, format: str, outside: str, refused: bool, as_double: bool, threads: int) -> tuple[Any, bool]:
        """Images x boxes x bins, without axes N boxes x bins; and whether there is one box alone."""
        raise NotImplementedError

    def _boxes_first(self, answers: Any) -> Any:
        """Permutes images x boxes x .. to boxes x images x .."""
        return self._on.permuted(answers, (1, 0, *range(2, len(answers.shape)))) if "N" in self.axes else answers

    def counts(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", refused: bool = False, threads: int = 0) -> Any:
        """Histograms of boxes: uint64, of other frameworks than NumPy int64, with weights float64. With ``refused=True`` a pair, as `areal.Sat.sum`
        has it."""
        answers, alone = self._counts(boxes, format, outside, refused, False, threads)
        first: Any = None
        if refused:
            answers, first = answers
        answers = self._boxes_first(answers)
        if alone:
            answers = answers[0]
        return (answers, first) if refused else answers

    def _measure(self, name: str, boxes: Any, format: str, outside: str, threads: int, values: Any = None, percent: float = 0,
                 distance: str = "") -> Any:
        counts, alone = self._counts(boxes, format, outside, False, True, threads)
        said = self._boxes_first(_core.measure(self._on, name, counts, np.zeros(0) if values is None else values, percent, distance, threads))
        return said[0] if alone else said

    def normalised(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Histograms divided by their sums; zeros for an empty histogram."""
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
        """The fullest bins, the first if there are several; -1 for an empty histogram."""
        return self._measure("mode", boxes, format, outside, threads)

    def mean(self, boxes: Any, *, format: Format = "xywh", outside: Outside = "error", threads: int = 0) -> Any:
        """Means of the bins' centres, weighted by their counts; NaN for an empty histogram."""
        return self._measure("mean", boxes, format, outside, threads, self.binning.edges)

    def distance(self, target: Any, boxes: Any, *, measure: Measure = "hellinger", format: Format = "xywh", outside: Outside = "error",
                 threads: int = 0) -> Any:
        """Distances between a target, one number per bin, and the histograms of boxes, all normalised."""
        return self._measure("distance", boxes, format, outside, threads, target_of(target, self.bins), distance=measure)
