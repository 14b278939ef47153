"""The timing loop of bench/protocol/rounds.hpp, and what is kept of times (bench/harness/measure.cpp), for benchmarks in Python."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

ROUNDS = 30  # at least, of what is recorded


def time_rounds(contestants: int, rounds: int, warm: int, time: Callable[[int], float]) -> list[list[float]]:
    """Microseconds of each contestant over that many rounds, after `warm` rounds that do not count. Each round runs all once, in random order, so that
    none always finds the same predecessor's data in a cache. The orders are the same in every run. `time(i)` runs contestant i and returns microseconds."""
    times: list[list[float]] = [[] for _ in range(contestants)]
    order, shuffled = list(range(contestants)), random.Random(7)
    for round in range(-warm, rounds):
        shuffled.shuffle(order)
        for i in order:
            microseconds = time(i)
            if round >= 0:
                times[i].append(microseconds)
    return times


def median(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def summary(times: list[float]) -> dict[str, object]:
    """As in the records of `areal bench`. The median of all such times lies in `between` with a probability of about 95 %."""
    ordered, n = sorted(times), len(times)
    rank = max(math.floor((n + 1) / 2 - 0.98 * math.sqrt(n)), 1) - 1
    return {"min": round(ordered[0], 3), "median": round(median(times), 3), "max": round(ordered[-1], 3),
            "between": [round(ordered[rank], 3), round(ordered[n - 1 - rank], 3)], "rounds": n}
