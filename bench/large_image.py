"""Sums of a million regions of an image of up to 100 gigapixels, by areal's command, in bounded memory; every sum is checked.

usage: large_image.py AREAL [--json FILE] [--side N]... [--regions N]... [--memory BYTES] [--rounds N]

The image is synthetic:SIDExSIDE:1, which is made as it is read: rows of 251 and columns of 241 pixels repeat. Here its sums are computed
from one period by NumPy. The smallest image tells what a process and its regions take without pixels. Sizes and numbers of regions are measured in turns.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from typing import Any

import numpy as np

from python_records import commit, processor, summary, write
from watched_process import watched

WIDTH, HEIGHT = 251, 241  # of a period
SEED = 1
LARGEST = 4096  # a region's extents


def period() -> np.ndarray:
    """The highest byte of SplitMix64 of the pixel's number."""
    state = np.arange(WIDTH * HEIGHT, dtype=np.uint64) + np.uint64(SEED)
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(56)).reshape(HEIGHT, WIDTH)


def true_sums(boxes: np.ndarray) -> np.ndarray:
    table = np.zeros((HEIGHT + 1, WIDTH + 1), np.uint64)
    table[1:, 1:] = period().cumsum(0).cumsum(1)

    def to(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        columns, rows, u, v = (x // WIDTH).astype(np.uint64), (y // HEIGHT).astype(np.uint64), x % WIDTH, y % HEIGHT
        return columns * rows * table[-1, -1] + rows * table[-1, u] + columns * table[v, -1] + table[v, u]

    x, y, width, height = boxes.T
    return to(x + width, y + height) - to(x, y + height) - to(x + width, y) + to(x, y)


def random_regions(side: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(SEED)
    extents = rng.integers(1, min(side, LARGEST) + 1, (count, 2))
    return np.concatenate([rng.integers(0, side - extents + 1), extents], 1)


def prove_that_checks_fail() -> None:
    side = 600
    image = np.tile(period(), (3, 3))[:side, :side]
    boxes = random_regions(side, 100)
    plain = np.array([image[y : y + h, x : x + w].sum() for x, y, w, h in boxes])
    assert np.array_equal(plain, true_sums(boxes))
    plain[33] += 1
    assert not np.array_equal(plain, true_sums(boxes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areal")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--side", type=int, action="append")
    parser.add_argument("--regions", type=int, action="append")
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    prove_that_checks_fail()
    cases = [(side, count) for count in given.regions or [1000, 1_000_000] for side in given.side or [1024, 31623, 63246, 126491, 316228]]
    runs: dict[tuple[int, int], list[dict[str, Any]]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in cases * given.rounds:
            side, count = case
            boxes = random_regions(side, count)
            np.savetxt(folder / "regions.csv", boxes, "%d", ",")
            command = [given.areal, "sat", f"synthetic:{side}x{side}:{SEED}", "--regions", str(folder / "regions.csv"), "--memory", given.memory]
            runs[case].append(watched(command, folder / "out.csv", 3600, 1 << 40))
            sums = np.loadtxt(folder / "out.csv", np.uint64, delimiter=",", skiprows=1, usecols=5)
            if not np.array_equal(sums, true_sums(boxes)):
                sys.exit(f"{side}²: sums of {count} regions are wrong")
            print(side, count, runs[case][-1], file=sys.stderr)
    records = [{"what": "large", "algorithm": "areal sat --regions, no table", "part": "synthetic", "backend": "cpu", "device": processor(), "cores": os.cpu_count(),
                "lane": "8u64u", "width": side, "height": side, "bins": 0, "batch": 1, "regions": count, "exact": True, "memory": given.memory,
                "time_us": summary([1e6 * run["seconds"] for run in of]), "cpu_us": summary([1e6 * run["cpu"] for run in of]), "bytes": side * side, "peak_bytes": max(run["peak"] for run in of),
                "private_bytes": max(run["own"] for run in of), "load": os.getloadavg()[0], "commit": commit()} for (side, count), of in runs.items()]
    write(records, given.json)


if __name__ == "__main__":
    main()
