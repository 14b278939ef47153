"""areal.skimage.hog beside its definition, pixel by pixel, and beside scikit-image."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import areal
from areal import skimage

NORMS = ("L1", "L1-sqrt", "L2", "L2-Hys")


def defined(image: np.ndarray, orientations: int, pixels: tuple[int, int], cells: tuple[int, int], norm: str) -> np.ndarray:
    """Blocks by loops over the pixels of every cell."""
    high, wide = image.shape[0] // pixels[0], image.shape[1] // pixels[1]
    sums = np.zeros((high, wide, orientations))
    channels = image.reshape(*image.shape[:2], -1).astype(np.float64)
    for y, x in np.ndindex(high * pixels[0], wide * pixels[1]):
        best = (0.0, 0.0, 0.0)
        for c in range(channels.shape[2]):
            down = channels[y + 1, x, c] - channels[y - 1, x, c] if 0 < y < image.shape[0] - 1 else 0.0
            across = channels[y, x + 1, c] - channels[y, x - 1, c] if 0 < x < image.shape[1] - 1 else 0.0
            if math.hypot(down, across) > best[0]:
                best = (math.hypot(down, across), down, across)
        angle = math.degrees(math.atan2(best[1], best[2])) % 180
        if angle < 180:
            sums[y // pixels[0], x // pixels[1], int(angle // (180 / orientations))] += best[0]
    sums /= pixels[0] * pixels[1]
    out = np.zeros((high - cells[0] + 1, wide - cells[1] + 1, *cells, orientations))
    for r, c in np.ndindex(*out.shape[:2]):
        block = sums[r : r + cells[0], c : c + cells[1]]
        if norm.startswith("L1"):
            block = block / (block.sum() + 1e-5)
            out[r, c] = np.sqrt(block) if norm == "L1-sqrt" else block
            continue
        block = block / math.sqrt((block**2).sum() + 1e-10)
        if norm == "L2-Hys":
            block = block.clip(0, 0.2)
            block = block / math.sqrt((block**2).sum() + 1e-10)
        out[r, c] = block
    return out


def images() -> Any:
    rng = np.random.default_rng(21)
    for shape, axis in (((33, 41), None), ((24, 24), None), ((26, 31, 3), 2), ((3, 25, 30), 0)):
        for dtype in ("uint8", "int32", "float16", "float32", "float64", "bool"):
            yield (rng.random(shape) * (1.9 if dtype == "bool" else 200)).astype(dtype), axis


def test_is_its_definition() -> None:
    for (image, axis), norm in itertools.product(images(), NORMS):
        last = image if axis is None else np.moveaxis(image, axis, -1)
        found = skimage.hog(image, 7, (5, 6), (2, 3), norm, feature_vector=False, channel_axis=axis)
        right = defined(last, 7, (5, 6), (2, 3), norm)
        assert found.shape == right.shape and found.dtype == ("float32" if image.dtype in (np.float16, np.float32) else "float64")
        assert abs(found - right).max() < 1e-6, (image.dtype, axis, norm)
    changed = image.copy()
    changed[tuple(extent // 2 for extent in image.shape)] ^= True
    assert abs(skimage.hog(changed, channel_axis=axis) - skimage.hog(image, channel_axis=axis)).max() > 1e-3  # the check can fail


def test_beside_scikit_image() -> None:
    feature = pytest.importorskip("skimage.feature")
    for image, axis in images():
        for orientations, pixels, cells, norm, root in itertools.product((9, 8, 1), ((8, 8), (5, 6)), ((3, 3), (2, 1)), NORMS, (False, True)):
            said: dict[str, Any] = {"transform_sqrt": root, "channel_axis": axis}
            theirs = feature.hog(image, orientations, pixels, cells, norm, **said)
            ours = skimage.hog(image, orientations, pixels, cells, norm, **said)
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            assert abs(ours - theirs).max() < 1e-6


def test_what_is_refused() -> None:
    image = np.zeros((32, 32), np.uint8)
    for wrong, words in (({"visualize": True}, "visualize"), ({"block_norm": "L3"}, "block_norm 'L3'"), ({"orientations": 0}, "orientations 0"), ({"pixels_per_cell": 8}, "pixels_per_cell 8"),
                         ({"pixels_per_cell": (16, 8)}, "a block needs 48 rows and 24 columns"), ({"channel_axis": 0}, "2 dimensions"), ({"cells_per_block": (0, 3)}, "cells_per_block")):
        with pytest.raises(areal.InvalidArgument, match=words):
            skimage.hog(image, **wrong)
    with pytest.raises(areal.InvalidArgument, match="3 dimensions"):
        skimage.hog(np.zeros((32, 32, 3)))
    with pytest.raises(areal.InvalidArgument, match="complex128"):
        skimage.hog(np.zeros((32, 32), complex))
