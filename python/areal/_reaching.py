"""Filters of windows that may reach far beyond an image, for the modules in the place of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import filters
from ._arrays import Array

_PADDING = {"zero": "constant", "constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}


def reaching(name: str, x: Array, size: tuple[int, int], edge: str, anchor: tuple[int, int], axes: str = "HW", value: float = 0, **more: Any) -> Array:
    """``areal.filters.NAME`` on the CPU. Where a window reaches so far beyond the image that areal refuses it, NumPy makes the pixels there."""
    reach = [(before, extent - 1 - before) for before, extent in zip(anchor, size, strict=True)]
    if (x.dtype.kind == "f" or name == "percentile") and max(map(max, reach)) >= min(x.shape[axes.index("H")], x.shape[axes.index("W")]):
        widths = [(0, 0)] * x.ndim
        widths[axes.index("H")], widths[axes.index("W")] = reach
        constant: Any = {"constant_values": value} if _PADDING[edge] == "constant" else {}
        x = np.pad(x, widths, _PADDING[edge], **constant)  # type: ignore[call-overload]
        edge, value = "valid", 0
    result: Array = getattr(filters, name)(x, size, axes=axes, edge=edge, value=value, anchor=anchor, backend="cpu", **more)
    return result
