"""What summed-area tables are, in NumPy and 64 bits: shares no code with areal."""

from __future__ import annotations

import numpy as np

SPATIAL = {"HW": (0, 1), "HWC": (0, 1), "CHW": (1, 2), "NHW": (1, 2), "NHWC": (1, 2), "NCHW": (2, 3), "DHW": (0, 1, 2)}


def wide(x: np.ndarray) -> np.ndarray:
    """The pixels in 64 bits."""
    return x.astype({"b": np.uint64, "u": np.uint64, "i": np.int64, "f": np.float64}[x.dtype.kind])


def table(x: np.ndarray, axes: str = "HW", border: str = "zero") -> np.ndarray:
    """Cumulative sums along the spatial axes, integers modulo 2^64."""
    sums = wide(x)
    for axis in SPATIAL[axes]:
        sums = sums.cumsum(axis)
    if border == "none":
        return sums
    sums = np.pad(sums, [(1, 0) if axis in SPATIAL[axes] else (0, 0) for axis in range(x.ndim)])
    if border == "zero":
        return sums
    return sums[tuple(slice(0, -1) if axis in SPATIAL[axes] else slice(None) for axis in range(x.ndim))]


def cut(x: np.ndarray, axes: str, box: tuple[int, int, int, int]) -> np.ndarray:
    """The pixels of a box (x, y, width, height), the spatial axes first and made one."""
    left, top, width, height = box
    h, w = axes.index("H"), axes.index("W")
    moved = np.moveaxis(wide(x), (h, w), (0, 1))[top:top + height, left:left + width]
    return moved.reshape(moved.shape[0] * moved.shape[1], *moved.shape[2:])


def same(answer: np.ndarray, truth: np.ndarray, terms: float = 1, rounded_to: np.dtype | None = None) -> bool:
    """Equal modulo the answer's width for integers; within rounding of a sum of magnitude `terms` for floats."""
    if answer.shape != truth.shape:
        return False
    if answer.dtype.kind in "iu":
        return bool((answer == truth.astype(answer.dtype)).all())
    eps = np.finfo(answer.dtype if rounded_to is None else rounded_to).eps
    return bool((np.abs(answer.astype(np.float64) - truth.astype(np.float64)) <= 64 * eps * max(terms, 1e-300)).all())
