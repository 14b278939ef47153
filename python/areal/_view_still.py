"""What a saved notebook shows of areal.view without its kernel: a picture with the regions, and their statistics as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arrays import Array

LONGEST_SIDE = 1024
COLOURS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167))  # of web/colours.js


def drawing(planes: Array, drawn: tuple[float, float], regions: Iterable[tuple[int, Iterable[int]]]) -> Array:
    """Three planes as colours, else the first as grays between the two values; larger arrays by every n-th pixel."""
    step = -(-max(planes.shape[1:]) // LONGEST_SIDE)
    shown = planes[:3, ::step, ::step] if len(planes) == 3 else planes[:1, ::step, ::step].repeat(3, 0)
    black, white = drawn
    with np.errstate(invalid="ignore"):
        levels = (shown.astype(np.float64) - black) * (255 / (white - black) if white > black else 0)
        pixels = np.nan_to_num(np.clip(np.rint(levels), 0, 255)).astype(np.uint8)
    pixels = np.ascontiguousarray(np.moveaxis(pixels, 0, 2))
    for number, box in regions:
        x, y, width, height = box
        left, top, right, bottom = x // step, y // step, max(x // step, (x + width - 1) // step), max(y // step, (y + height - 1) // step)
        colour = COLOURS[(number - 1) % len(COLOURS)]
        pixels[[top, bottom], left : right + 1] = colour
        pixels[top : bottom + 1, [left, right]] = colour
    return pixels


def table(names: Iterable[str], answers: Iterable[dict[str, Any]]) -> str:
    """A line for each region."""
    lines: list[tuple[str, ...]] = [("region", "pixels", "mean", "std", "min", "max")]
    for name, answer in zip(names, answers, strict=True):
        numbers = [answer[key] for key in ("pixels", "mean", "std", "min", "max")]
        lines.append((name, *("nan" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in numbers)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(text.ljust(wide) if i == 0 else text.rjust(wide) for i, (text, wide) in enumerate(zip(line, widths, strict=True))) for line in lines)
