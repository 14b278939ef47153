"""What is right about quantiles, percentiles and counts below of regions: the pixels of each region, sorted."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from answers import Answer, Fault
from oracle import Oracle
from questions import number


class Quantiles:
    """The sorted pixels of each region, image and channel, as doubles without NaN."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.targets = [float(number(v)) for v in oracle.question.params["targets"]]
        self.method = oracle.question.params.get("method", "linear")

    def sorted_of(self, region: tuple[int, ...], image: int, channel: int) -> np.ndarray:
        x, y, w, h = self.oracle.clipped(region)
        cells = self.oracle.values[image, y : y + h, x : x + w, channel].astype(np.float64).ravel()
        return np.sort(cells[~np.isnan(cells)])

    def right(self, stat: str, cells: np.ndarray, target: float) -> tuple[float, float]:
        """The least and the largest answer that is right: one number but for quantiles beside infinities."""
        n = len(cells)
        if stat == "below":
            below = float((cells < target).sum())
            return below, below
        if n == 0:
            return math.nan, math.nan
        if stat == "percentile":
            value = float(cells[min(n - 1, math.floor(Fraction(target) * n / 100))])
            return value, value
        if np.isfinite(cells).all():
            value = float(np.quantile(cells, target, method=self.method))
            return value, value
        # Every method's answer lies between pixels at most one place from q n.
        near = math.floor(Fraction(target) * n)
        return float(cells[min(max(near - 2, 0), n - 1)]), float(cells[min(near + 1, n - 1)])

    def judge(self, stat: str, got: np.ndarray) -> Fault | None:
        """The first wrong answer."""
        oracle = self.oracle
        shape = (len(oracle.question.regions), oracle.batch, oracle.channels, len(self.targets))
        if got.shape != shape:
            return Fault(stat, "(regions, images, channels, numbers)", str(got.shape), str(shape))
        for at in np.ndindex(shape[:3]):
            r, i, c = at
            region = oracle.question.regions[r]
            cells = self.sorted_of(region, i, c)
            for k, target in enumerate(self.targets):
                low, high = self.right(stat, cells, target)
                mine: Any = float(got[(*at, k)])
                if not (low <= mine <= high or (math.isnan(low) and math.isnan(mine))):
                    place = f"{target} of region {r} ({','.join(map(str, region))}), image {i}, channel {c}"
                    return Fault(stat, place, repr(mine), repr(low) if low == high else f"{low!r} to {high!r}")
        return None


def judge_quantiles(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first fault of each statistic."""
    right = oracle.kept_with(Quantiles)
    faults = (right.judge(stat, np.asarray(got)) for stat, got in answer.values.items())
    return [fault for fault in faults if fault]
