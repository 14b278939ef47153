"""Histograms of oriented gradients (Dalal and Triggs 2005), as skimage.feature.hog."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import InvalidArgument

NORMS = ("L1", "L1-sqrt", "L2", "L2-Hys")
_EPS = 1e-5


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        rows, columns = (int(one) for one in value)
    except (TypeError, ValueError):
        rows = columns = 0
    if rows < 1 or columns < 1:
        raise InvalidArgument(f"{name} {value!r}: it may be two whole numbers from 1 on, for rows and columns")
    return rows, columns


def _gradient(image: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Differences of both neighbours, along rows and along columns; 0 at the edge. Of several channels that of the largest."""
    down, across = np.zeros_like(image), np.zeros_like(image)
    down[1:-1] = image[2:] - image[:-2]
    across[:, 1:-1] = image[:, 2:] - image[:, :-2]
    if image.ndim == 2:
        return down, across
    best = np.hypot(down, across).argmax(axis=2)[..., None]
    return np.take_along_axis(down, best, 2)[..., 0], np.take_along_axis(across, best, 2)[..., 0]


def _cells(down: NDArray[Any], across: NDArray[Any], orientations: int, rows: int, columns: int) -> NDArray[np.float64]:
    """For each cell the mean over its pixels of the magnitudes in each range of angles."""
    high, wide = down.shape[0] // rows, down.shape[1] // columns
    down, across = (one[: high * rows, : wide * columns].astype(np.float64, copy=False) for one in (down, across))
    # An angle just below 0 may round to 180, which no range holds.
    angle = np.floor(np.rad2deg(np.arctan2(down, across)) % 180 / (180 / orientations)).astype(np.int64)
    cell = np.arange(high).repeat(rows)[:, None] * wide + np.arange(wide).repeat(columns)
    bins = np.where(angle < orientations, cell * orientations + angle, high * wide * orientations)
    sums = np.bincount(bins.ravel(), np.hypot(down, across).ravel(), high * wide * orientations + 1)[:-1]
    return sums.reshape(high, wide, orientations) / (rows * columns)


def _normalized(blocks: NDArray[np.float64], norm: str) -> NDArray[np.float64]:
    """Of the blocks along the first two axes."""

    def of_unit_length(values: NDArray[np.float64]) -> NDArray[np.float64]:
        unit: NDArray[np.float64] = values / np.sqrt((values**2).sum((2, 3, 4), keepdims=True) + _EPS**2)
        return unit

    if norm in ("L1", "L1-sqrt"):
        shares: NDArray[np.float64] = blocks / (blocks.sum((2, 3, 4), keepdims=True) + _EPS)
        return shares if norm == "L1" else np.sqrt(shares)
    unit = of_unit_length(blocks)
    return unit if norm == "L2" else of_unit_length(np.minimum(unit, 0.2))


def hog(image: ArrayLike, orientations: int = 9, pixels_per_cell: tuple[int, int] = (8, 8), cells_per_block: tuple[int, int] = (3, 3), block_norm: str = "L2-Hys",
        visualize: bool = False, transform_sqrt: bool = False, feature_vector: bool = True, *, channel_axis: int | None = None) -> NDArray[Any]:
    """The histogram of oriented gradients of an image: a vector, or blocks x cells of a block x orientations.

    Each cell holds the mean magnitude of its gradients in each of `orientations` equal ranges of angles from 0 to 180 degrees. Blocks of cells overlap. In
    float32 for images of float16 and float32, else in float64; within 1e-6 of skimage.feature.hog of scikit-image 0.26. O(1) a pixel.

    block_norm: how each block is normalised, ``L1``, ``L1-sqrt``, ``L2`` or ``L2-Hys`` (L2, at most 0.2, L2 again).
    channel_axis: at each pixel the channel with the largest gradient counts.
    transform_sqrt: gradients are those of the square roots. visualize: is refused.
    """
    if visualize:
        raise InvalidArgument("visualize: areal makes no picture of the histograms; it may be False")
    if block_norm not in NORMS:
        raise InvalidArgument(f"block_norm {block_norm!r}: it may be {', '.join(NORMS)}")
    if orientations != int(orientations) or orientations < 1:
        raise InvalidArgument(f"orientations {orientations!r}: it may be a whole number from 1 on")
    (rows, columns), (down, across) = _pair("pixels_per_cell", pixels_per_cell), _pair("cells_per_block", cells_per_block)
    pixels = np.atleast_2d(np.asarray(image))
    if pixels.dtype.kind not in "biuf":
        raise InvalidArgument(f"image of {pixels.dtype}: it may be of bool, integers or floats")
    pixels = pixels.astype(np.float32 if pixels.dtype in (np.float16, np.float32) else np.float64, copy=False)
    if channel_axis is not None:
        pixels = np.moveaxis(pixels, channel_axis, -1)
    if pixels.ndim != (2 if channel_axis is None else 3):
        raise InvalidArgument(f"image of {pixels.ndim} dimensions: it must have 2, and 3 with channel_axis")
    if pixels.shape[0] // rows < down or pixels.shape[1] // columns < across:
        raise InvalidArgument(f"image of {pixels.shape[0]}x{pixels.shape[1]}: a block needs {rows * down} rows and {columns * across} columns")
    histograms = _cells(*_gradient(np.sqrt(pixels) if transform_sqrt else pixels), int(orientations), rows, columns)
    blocks = np.lib.stride_tricks.sliding_window_view(histograms, (down, across), (0, 1)).transpose(0, 1, 3, 4, 2)
    found = _normalized(blocks, block_norm).astype(pixels.dtype)
    return found.ravel() if feature_vector else found
