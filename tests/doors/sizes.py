"""What is right about windows of a size per pixel: the pixels of every window added up in whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from answers import Answer, Fault
from oracle import Oracle
from questions import sizes_of

# What rounding a result to a double changes it by, relative, and of denormal numbers.
LAST, LEAST = Fraction(1, 2**52), Fraction(1, 2**1074)


def _span(at: int, size: int, length: int) -> tuple[int, int]:
    """Cells of a window of that size whose cell size / 2 is at a pixel, as far as they are in the image."""
    first = at - size // 2
    return max(first, 0), max(min(first + size, length), 0)


class SizedWindows:
    """The cells of every window."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.wanted: dict[str, list[tuple[Any, ...]]] = {}
        sizes = sizes_of(oracle.question).astype(np.int64)
        self.rows, self.columns = sizes[..., 0], sizes[..., -1]
        finite = np.where(np.isfinite(oracle.kept), oracle.kept, 0) if oracle.question.is_float else oracle.kept
        # Whole numbers of a unit that all pixels are multiples of.
        ratios = [float(v).as_integer_ratio() if oracle.question.is_float else (int(v), 1) for v in finite.ravel().tolist()]
        self.unit = max((below for _, below in ratios), default=1)
        whole = np.empty(len(ratios), dtype=object)
        whole[:] = [above * (self.unit // below) for above, below in ratios]
        self.whole = whole.reshape(finite.shape)
        self.squares = self.whole * self.whole
        self.most = Fraction(max((abs(v) for v in whole), default=0), self.unit)

    def right(self, stat: str, n: int, s1: int, s2: int) -> tuple[Any, Fraction]:
        """Of finite pixels; the square of a standard deviation. And what an answer may be off by."""
        oracle = self.oracle
        if stat == "count":
            return n, Fraction(0)
        exact = not oracle.question.is_float
        slack = 0 if exact else Fraction(oracle.width + oracle.height) * oracle.width * oracle.height
        s1_error = Fraction(abs(s1), self.unit) * LAST * (not exact) + slack * self.most / 2**100
        if stat == "sum":
            right = Fraction(s1, self.unit)
            return right, s1_error + abs(right) * LAST + LEAST
        if n == 0:
            return math.nan, Fraction(0)
        if stat == "mean":
            right = Fraction(s1, self.unit * n)
            return right, s1_error / n + 2 * abs(right) * LAST + LEAST
        right = Fraction(n * s2 - s1 * s1, n * n * self.unit * self.unit)
        return right, 4 * right * LAST + slack * self.most**2 / 2**98 + 4 * right * LAST * (stat == "std") + LEAST

    def judge(self, stat: str, got: np.ndarray) -> Fault | None:
        """The first window that is wrong."""
        oracle = self.oracle
        if got.shape != oracle.values.shape:
            return Fault(stat, "windows' shape (images, height, width, channels)", str(got.shape), str(oracle.values.shape))
        largest = Fraction(float(np.finfo(np.float64).max))
        area = oracle.width * oracle.height
        if self.most * area > largest / 4 or (stat in ("variance", "std") and self.most**2 * area**2 > largest / 4):
            return None  # what takes more than a double
        for (at, special, right, bound, nearest), mine in zip(self._wanted(stat), got.ravel().tolist(), strict=True):
            if mine == nearest:
                continue
            if special is not None:
                good, right = mine == special or (math.isnan(mine) and math.isnan(special)), special
            elif math.isnan(right) or not math.isfinite(mine):
                good = math.isnan(right) and math.isnan(mine)
            else:
                answer = Fraction(mine)
                good = abs((answer**2 if stat == "std" else answer) - right) <= bound and (answer >= 0 or stat not in ("std", "variance"))
            if not good:
                top, bottom, left, right_ = self._cells(at)
                return Fault(stat, f"of the window of {bottom - top}x{right_ - left} at (image, y, x, channel) {at}", str(mine), f"{float(right)} within {float(bound):.3g}")
        return None

    def _cells(self, at: tuple[int, ...]) -> tuple[int, int, int, int]:
        """First and last rows and columns of the window of a pixel."""
        b, y, x, _ = at
        return *_span(y, int(self.rows[b, y, x]), self.oracle.height), *_span(x, int(self.columns[b, y, x]), self.oracle.width)

    def _wanted(self, stat: str) -> list[tuple[Any, ...]]:
        """Of each pixel: NaN or an infinity if the window's answer is one, else what is right, its bound, and the double nearest to it, which
        is within the bound. Made once for all doors."""
        if stat not in self.wanted:
            oracle, self.wanted[stat] = self.oracle, []
            for at in np.ndindex(oracle.values.shape):
                top, bottom, left, right_ = self._cells(at)
                cells = (at[0], slice(top, bottom), slice(left, right_))
                special = self._special(stat, oracle.kept[(*cells, at[3])])
                if special is not None:
                    self.wanted[stat].append((at, special, math.nan, Fraction(0), None))
                    continue
                n = int(oracle.keep[cells].sum())
                s1, s2 = (int(values[(*cells, at[3])].sum()) for values in (self.whole, self.squares))
                right, bound = self.right(stat, n, s1, s2)
                self.wanted[stat].append((at, None, right, bound, None if stat == "std" or math.isnan(right) else float(right)))
        return self.wanted[stat]

    def _special(self, stat: str, cells: np.ndarray) -> float | None:
        """NaN or an infinity, where a window's answer is one for the sake of its pixels."""
        if self.oracle.strange is None or stat == "count":
            return None
        nan, high, low = np.isnan(cells).any(), np.isposinf(cells).any(), np.isneginf(cells).any()
        if not (nan or high or low):
            return None
        if nan or (high and low) or stat in ("variance", "std"):
            return math.nan
        return math.inf if high else -math.inf


def judge_sizes(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first wrong window of each statistic."""
    windows = oracle.kept_with(SizedWindows)
    faults = (windows.judge(stat, np.asarray(got)) for stat, got in answer.values.items())
    return [fault for fault in faults if fault]
