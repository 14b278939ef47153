"""Sums of boxes of an image file beyond memory: areal, Dask, NumPy and libvips, each with its usual method.

usage: large_peers.py AREAL [--json FILE] [--side N]... [--folder DIR] [--disk BYTES] [--limit SECONDS] [--memory BYTES]

AREAL is the command. Each step of each way is a process of its own, which is timed from its start to its end: the table, where the way makes
one; then the sums of 10,000 boxes of any size, and of 10,000 patches of 256x256. All read the same .npy, which the system has in its cache, and
all sums are checked against the closed form of the image. A way is left out where image and table take more than --disk, and stopped after
--limit or where it holds more than --memory. libvips has no summed-area table: it reads the pixels of every box, of the first 100 boxes.
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import json
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from python_records import commit, processor, summary, write
from watched_process import watched

BOXES, FEW = 10_000, 100
PATCH = 256
CHUNK, ROWS = 4096, 256  # of Dask's chunks; of NumPy's blocks
AREAL_MEMORY = "1G"
SEED = 14
LEAST_SECONDS = 10  # short steps are repeated for so long, at most 3 times


# The image and its sums.


def summands(side: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    return rng.integers(0, 256, side, dtype=np.uint8), rng.integers(0, 256, side, dtype=np.uint8)


def write_image(path: pathlib.Path, side: int) -> None:
    """Pixel (x, y) is (rows[y] + columns[x]) mod 256."""
    rows, columns = summands(side)
    image = np.lib.format.open_memmap(path, "w+", np.uint8, (side, side))
    for y in range(0, side, ROWS):
        image[y : y + ROWS] = rows[y : y + ROWS, None] + columns
    image.flush()


def counts(values: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The histogram of 256 values in each range."""
    places = [np.flatnonzero(values == value) for value in range(256)]
    return np.stack([np.searchsorted(at, end) - np.searchsorted(at, begin) for at in places], 1)


def true_sums(side: int, boxes: np.ndarray) -> np.ndarray:
    rows, columns = summands(side)
    pixel = np.add.outer(np.arange(256), np.arange(256)) % 256
    x, y, width, height = boxes.T
    return ((counts(rows, y, y + height) @ pixel) * counts(columns, x, x + width)).sum(1).astype(np.uint64)


def random_boxes(side: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED + 1)
    x, y = (np.sort(rng.choice(side + 1, (BOXES, 2)), 1) for _ in range(2))
    some = np.stack([x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], 1)
    some[:, 2:] = np.maximum(some[:, 2:], 1)
    some[:, :2] = np.minimum(some[:, :2], side - some[:, 2:])
    corner = rng.integers(0, side - PATCH + 1, (BOXES, 2))
    return {"boxes": some, "patches": np.concatenate([corner, np.full((BOXES, 2), PATCH)], 1)}


# The peers, each in its own process: (image, table) or (image, table, boxes) -> sums.


def numpy_table(image: str, table: str) -> None:
    pixels = np.load(image, mmap_mode="r")
    out = np.lib.format.open_memmap(table, "w+", np.uint64, pixels.shape)
    above = np.zeros(pixels.shape[1], np.uint64)
    for y in range(0, len(pixels), ROWS):
        block = out[y : y + ROWS]
        np.cumsum(pixels[y : y + ROWS], 0, np.uint64, block)
        np.cumsum(block, 1, out=block)
        block += above
        above = block[-1].copy()
    out.flush()


def corners(entries: Callable[[np.ndarray, np.ndarray], np.ndarray], boxes: np.ndarray) -> np.ndarray:
    x, y, width, height = boxes.T

    def at(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return np.where((row > 0) & (column > 0), entries(np.maximum(row, 1) - 1, np.maximum(column, 1) - 1), 0)

    return at(y + height, x + width) - at(y, x + width) - at(y + height, x) + at(y, x)


def numpy_answers(image: str, table: str, boxes: np.ndarray) -> np.ndarray:
    entries = np.load(table, mmap_mode="r")
    return corners(lambda row, column: entries[row, column], boxes)


def dask_table(image: str, table: str) -> None:
    import dask.array as da

    pixels = da.from_array(np.load(image, mmap_mode="r"), chunks=CHUNK)
    sums = pixels.cumsum(0, dtype=np.uint64).cumsum(1)
    sums.to_zarr(table, compressors=None)


def dask_answers(image: str, table: str, boxes: np.ndarray) -> np.ndarray:
    import dask.array as da

    entries = da.from_zarr(table)
    return corners(lambda row, column: entries.vindex[row, column].compute(), boxes)


def vips_answers(image: str, table: str, boxes: np.ndarray) -> np.ndarray:
    import pyvips

    pixels = np.load(image, mmap_mode="r")
    height, width = pixels.shape
    picture = pyvips.Image.rawload(image, width, height, 1, offset=pixels.offset)
    return np.array([round(picture.crop(*map(int, box)).avg() * int(box[2]) * int(box[3])) for box in boxes], np.uint64)


PEERS = {"numpy": (numpy_table, numpy_answers), "dask": (dask_table, dask_answers), "vips": (None, vips_answers)}
ENTRY = {"numpy": 8, "dask": 8, "vips": 0, "areal table": 4, "areal": 0}  # bytes of the table a pixel
NAMES = {"numpy": "NumPy {numpy}, two cumsums into a memmap", "dask": "Dask {dask}, two cumsums into a Zarr store", "vips": "libvips {vips}, crop and average",
         "areal table": "areal sat -o T.zarr, areal query", "areal": "areal sat --regions, no table"}


def peer_step(way: str, step: str, image: str, table: str, boxes: str, answers: str) -> None:
    make, answer = PEERS[way]
    if step == "table":
        make(image, table)
    else:
        np.save(answers, answer(image, table, np.load(boxes)))


def bytes_on_disk(path: pathlib.Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def removed(path: pathlib.Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# One size.


class Size:
    def __init__(self, given: argparse.Namespace, folder: pathlib.Path, side: int) -> None:
        self.given, self.folder, self.side = given, folder, side
        self.image = folder / "image.npy"
        write_image(self.image, side)
        self.boxes = random_boxes(side)
        self.truth = {step: true_sums(side, boxes) for step, boxes in self.boxes.items()}
        for step, boxes in self.boxes.items():
            np.savetxt(folder / f"{step}.csv", boxes, "%d", ",")
        self.warm()

    def warm(self) -> None:
        with self.image.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass

    def command(self, way: str, step: str, table: pathlib.Path, boxes: pathlib.Path) -> list[str]:
        areal, image = self.given.areal, str(self.image)
        regions = ["--regions", str(self.folder / f"{step}.csv")]
        if way == "areal":
            return [areal, "sat", image, *regions, "--memory", AREAL_MEMORY]
        if way == "areal table":
            return [areal, "sat", image, "-o", str(table), "--memory", AREAL_MEMORY, "--quiet"] if step == "table" else [areal, "query", str(table), *regions]
        return [sys.executable, __file__, "", "--step", way, step, image, str(table), str(boxes), str(self.folder / "answers.npy")]

    def run(self, way: str, names: dict[str, str]) -> list[dict[str, Any]]:
        def record(step: str, **more: Any) -> dict[str, Any]:
            return {"what": "large", "algorithm": names[way], "part": step, "backend": "cpu", "device": processor(), "cores": os.cpu_count(), "lane": "8u64u",
                    "width": self.side, "height": self.side, "bins": 0, "batch": 1, **more, "load": os.getloadavg()[0], "commit": commit()}

        table = self.folder / {"numpy": "table.npy"}.get(way, "table.zarr")
        size, needed = self.side**2, self.side**2 * (1 + ENTRY[way])
        if needed > self.given.disk:
            return [record("table", outcome="left out", needed_bytes=needed, disk_bytes=self.given.disk)]
        made = []
        for step in (["table"] if ENTRY[way] else []) + ["boxes", "patches"]:
            boxes = self.boxes.get(step, np.empty((0, 4), int))[: FEW if way == "vips" and step == "boxes" else None]
            np.save(self.folder / "boxes.npy", boxes)
            runs: list[dict[str, Any]] = []
            while len(runs) < 3 and sum(run["seconds"] for run in runs) < LEAST_SECONDS:
                if step == "table":
                    removed(table)
                runs.append(watched(self.command(way, step, table, self.folder / "boxes.npy"), self.folder / "out.csv", self.given.limit, self.given.memory))
                if runs[-1]["outcome"] != "complete":
                    break
            more: dict[str, Any] = {"outcome": runs[-1]["outcome"], "time_us": summary([1e6 * run["seconds"] for run in runs]), "bytes": size,
                                    "peak_bytes": max(run["peak"] for run in runs), "private_bytes": max(run["own"] for run in runs)}
            if step == "table":
                more["table_bytes"] = bytes_on_disk(table)
            elif runs[-1]["outcome"] == "complete":
                more |= {"answers": len(boxes), "exact": bool(np.array_equal(self.answers(way), self.truth[step][: len(boxes)]))}
                if not more["exact"]:
                    sys.exit(f"{names[way]}: sums of {step} of {self.side}² are wrong")
            made.append(record(step, **more))
            print(json.dumps(made[-1]), file=sys.stderr)
            if runs[-1]["outcome"] != "complete" and step == "table":
                break
        removed(table)
        self.warm()
        return made

    def answers(self, way: str) -> np.ndarray:
        if way in PEERS:
            return np.load(self.folder / "answers.npy")
        with (self.folder / "out.csv").open() as rows:
            return np.array([int(row["sum"]) for row in csv.DictReader(rows)], np.uint64)


def prove_that_checks_fail() -> None:
    """Tests the closed form against the pixels, and that the check finds a sum that is one too large."""
    side = 300
    rows, columns = summands(side)
    image = (rows[:, None] + columns).astype(np.uint64)
    for boxes in random_boxes(side).values():
        plain = np.array([image[y : y + h, x : x + w].sum() for x, y, w, h in boxes[:200]])
        assert np.array_equal(plain, true_sums(side, boxes[:200]))
        plain[77] += 1
        assert not np.array_equal(plain, true_sums(side, boxes[:200]))


def versions() -> dict[str, str]:
    import pyvips

    return {**{name: importlib.metadata.version(name) for name in ("numpy", "dask")}, "vips": ".".join(str(pyvips.version(i)) for i in range(3))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areal")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--side", type=int, action="append")
    parser.add_argument("--folder", type=pathlib.Path, help="for the image and the tables; a temporary one in it")
    parser.add_argument("--way", choices=list(NAMES), action="append")
    parser.add_argument("--disk", type=int, default=20 * 10**9)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--memory", type=int, default=12 << 30)
    parser.add_argument("--step", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        peer_step(*given.step)
        return
    prove_that_checks_fail()
    given.areal = str(pathlib.Path(given.areal).resolve())
    names = {way: name.format(**versions()) for way, name in NAMES.items()}
    records = []
    for side in given.side or [8192, 32768, 61440]:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            size = Size(given, pathlib.Path(folder), side)
            for way in given.way or NAMES:
                records += size.run(way, names)
    write(records, given.json)


if __name__ == "__main__":
    main()
