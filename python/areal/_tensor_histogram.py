"""Integral histograms in arrays of other frameworks: what they say of boxes, where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import dtype_name
from ._errors import InvalidArgument
from ._tensor_sat import SUM, Framework, TensorSat


class TensorHistogram:
    """An integral histogram, which answers with the histogram of any box in O(bins). N x bins x rows x columns."""

    __slots__ = ("_on", "array", "border", "edges")

    def __init__(self, on: Framework, array: Any, border: str, edges: Sequence[float]) -> None:
        self._on, self.array, self.border = on, array, border
        self.edges = tuple(edges)

    @property
    def bins(self) -> int:
        """How many bins."""
        return int(self.array.shape[-3])

    def _sums(self) -> TensorSat:
        return TensorSat(self._on, self.array, None, None, None, "NCHW" if self.array.ndim == 4 else "CHW", self.border, None)

    def counts(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0, refused: bool = False) -> Any:
        """Histograms of boxes: boxes x N x bins, int64, with weights float64; of one box without the first dimension.

        See areal.Sat.sum for boxes, formats and ``refused``. O(bins) each.
        """
        return self._sums().sum(boxes, format=format, outside=outside, threads=threads, refused=refused)

    def _doubles(self, boxes: Any, format: str, outside: str, threads: int) -> tuple[Any, bool]:
        """Histograms of float64, boxes first, and whether it was one box alone."""
        if outside not in ("error", "clip"):
            raise InvalidArgument(f"outside {outside}: may be error or clip")
        on = self._on
        rows, alone = on.boxes(boxes, self.array)
        if on.is_on_device(rows):
            rows, format = on.xywh(rows, format), "xywh"
        return self._sums()._queried(SUM, self.array, None, None, rows, format, outside, threads, False, True)[0], alone

    def _measure(self, name: str, boxes: Any, format: str, outside: str, threads: int, values: Sequence[float] = (), percent: float = 0, distance: str = "") -> Any:
        histograms, alone = self._doubles(boxes, format, outside, threads)
        said = _core.tensor_measure(name, histograms, list(values), percent, distance, threads, self._on.empty(), self._on.stream())
        return said[0] if alone else said

    def normalised(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Histograms divided by their sums, all zeros where that is 0."""
        return self._measure("normalise", boxes, format, outside, threads)

    def entropy(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Shannon entropies in bits, 0 for an empty histogram."""
        return self._measure("entropy", boxes, format, outside, threads)

    def percentile(self, percent: float, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Values below which ``percent`` of the mass lies, interpolated inside the bin; NaN for an empty histogram. A device's call waits."""
        return self._measure("percentile", boxes, format, outside, threads, self.edges, percent)

    def median(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Percentiles of 50."""
        return self.percentile(50, boxes, format=format, outside=outside, threads=threads)

    def mode(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """The fullest bins, the first of equals; -1 for an empty histogram."""
        return self._measure("mode", boxes, format, outside, threads)

    def mean(self, boxes: Any, *, format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Means of the bins' centres, weighted by their counts; NaN for an empty histogram. A device's call waits."""
        return self._measure("mean", boxes, format, outside, threads, self.edges)

    def distance(self, target: Any, boxes: Any, *, measure: str = "hellinger", format: str = "xywh", outside: str = "error", threads: int = 0) -> Any:
        """Distances between a target, one number a bin, and the histograms of boxes, all normalised. A device's call waits."""
        return self._measure("distance", boxes, format, outside, threads, self._target(target), distance=measure)

    def distance_map(self, target: Any, size: int | tuple[int, int], *, measure: str = "hellinger", dtype: Any = "float64", threads: int = 0) -> Any:
        """The distance between a target and the histogram of every window of ``size`` (rows, columns) inside the image: (H-h+1) x (W-w+1), of a
        batch for each image. O(bins) a window. A device's call waits."""
        height, width = (size, size) if isinstance(size, int) else size
        on = self._on
        for copied in (False, True):
            tensor = on.contiguous(self.array, "") if copied else self.array
            made = _core.tensor_distance_map(tensor, self.border, self._target(target), (height, width), measure, dtype_name(dtype), threads, on.empty(), on.stream())
            if made is not None:
                return made
        raise InvalidArgument("tensor: it cannot be read")

    def _target(self, target: Any) -> list[float]:
        for to_host in ("cpu", "get", "numpy"):  # PyTorch's, CuPy's, areal.DeviceArray's way
            if not isinstance(target, np.ndarray) and hasattr(target, to_host):
                target = getattr(target, to_host)()
        values = np.asarray(target, dtype=np.float64)
        if values.shape != (self.bins,):
            raise InvalidArgument(f"target: {'x'.join(map(str, values.shape)) or 'one number'}; it has one number for each of {self.bins} bins")
        made: list[float] = values.tolist()
        return made

    def __repr__(self) -> str:
        x = self.array
        return f"<areal.IntegralHistogram {'x'.join(map(str, x.shape))} {str(x.dtype).removeprefix('torch.')} on {x.device}, border {self.border}>"
