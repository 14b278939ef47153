"""What is right about filters of ranks and of counts by level: the valid pixels of every window, one window after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from answers import Answer, Fault
from oracle import Oracle
from windows import Windows

PERCENT = {"median": 50, "percentile": 25}
LEVELS = ("equalize", "otsu", "entropy", "modal", "bilateral")  # of 8 and 16 bits, the last of 8
SIGMA_RANGE = 25


def _split(cells: np.ndarray) -> int:
    """Otsu's threshold, in whole numbers."""
    values, counts = np.unique(cells, return_counts=True)
    n, total = len(cells), int(cells.sum(dtype=np.int64))
    best, top, bottom, k, s = 0, 0, 1, 0, 0
    for value, count in zip(values[:-1].tolist(), counts[:-1].tolist(), strict=True):
        k, s = k + count, s + value * count
        apart, pairs = (n * s - k * total) ** 2, k * (n - k)
        if apart * bottom > top * pairs:
            best, top, bottom = value, apart, pairs
    return int(best)


def _of_window(stat: str, cells: np.ndarray, centre: Any, most: int) -> Any:
    n = len(cells)
    if stat in PERCENT:
        if cells.dtype.kind == "f" and np.isnan(cells).any():
            return math.nan
        return np.sort(cells)[min(n - 1, math.floor(PERCENT[stat] * n / 100))]
    if stat == "equalize":
        return most * int((cells <= centre).sum()) // n
    if stat == "otsu":
        return _split(cells)
    if stat == "bilateral":
        weights = np.exp(-((cells.astype(np.float64) - float(centre)) ** 2) / (2 * SIGMA_RANGE**2))
        mean = math.fsum(weights * cells) / math.fsum(weights) if weights.max() >= 2.0**-60 else None
        return None if mean is None else round(mean)
    values, counts = np.unique(cells, return_counts=True)
    if stat == "modal":
        return values[counts.argmax()]
    return math.fsum(-c / n * math.log2(c / n) for c in counts.tolist())


def right_ranks(oracle: Oracle) -> np.ndarray:
    """(batch, height, width, channels) of windows, as objects; None for those of no pixel."""
    question, windows = oracle.question, Windows(oracle)
    stat, (width, height) = question.stats[0], question.window["size"]
    across, down = question.window.get("anchor") or (width // 2, height // 2)
    if windows.edge != "valid":
        across = down = 0  # the centre of output (x, y) is pixel (x, y)
    values = windows.spread(oracle.values, question.window.get("value", 0))
    keep = np.where(windows.inside, windows.spread(oracle.keep[..., None]), windows.edge in ("zero", "constant"))
    shape = (oracle.batch, values.shape[1] - height + 1, values.shape[2] - width + 1, oracle.channels)
    right = np.empty(tuple(max(0, extent) for extent in shape), dtype=object)
    for b, c in np.ndindex(shape[0], shape[3]):
        plane = oracle.values[b, :, :, c]
        most = 255 if plane.dtype == np.uint8 else max(3, int(plane.max())) if stat == "equalize" else 0
        for y, x in np.ndindex(right.shape[1:3]):
            cells = values[b, y : y + height, x : x + width, c][keep[b, y : y + height, x : x + width, 0]]
            if len(cells):
                right[b, y, x, c] = _of_window(stat, cells, plane[y + down, x + across], most)
    return right


def judge_ranks(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first window that is wrong; windows without a pixel are 0, of floats NaN."""
    right = right_ranks(oracle)
    faults = []
    for stat, got in answer.values.items():
        if got.shape != right.shape:
            faults.append(Fault(stat, "windows' shape (images, height, width, channels)", str(got.shape), str(right.shape)))
            continue
        empty = math.nan if got.dtype.kind == "f" else 0
        for at in np.ndindex(right.shape):
            wanted = empty if right[at] is None else right[at]
            mine = got[at]
            good = mine == wanted or (mine != mine and wanted != wanted) or (stat == "entropy" and abs(mine - wanted) < 1e-12)
            if not good:
                faults.append(Fault(stat, f"of the window at (image, y, x, channel) {at}", str(mine), str(wanted)))
                break
    return faults
