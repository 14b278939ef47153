"""A tour of the Python package over the pictures that ./run demo shows. Files go to out/demo, or to the folder AREAL_OUT."""

from __future__ import annotations

import os
import pathlib
import statistics
import time
from collections.abc import Callable

import areal
import numpy as np
from numpy.typing import NDArray
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("AREAL_OUT", ROOT / "out/demo"))


def title(text: str) -> None:
    print(f"\n== {text}")


def picture(name: str, mode: str) -> NDArray[np.uint8]:
    return np.asarray(Image.open(ROOT / "data" / name).convert(mode))


def save(name: str, pixels: NDArray[np.generic]) -> None:
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(OUT / name)
    print(f"{OUT / name}")


def milliseconds(work: Callable[[], object]) -> float:
    """The median of 20 runs after one."""
    work()
    took = []
    for _ in range(20):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1e3


def sums() -> None:
    title("Python: sums of boxes of data/rubberwhale1.png, channel by channel")
    photograph = picture("rubberwhale1.png", "RGB")
    table = areal.sat(photograph, axes="HWC", squares=True)
    print(repr(table))
    boxes = np.array([[215, 85, 105, 100], [360, 10, 130, 120], [150, 225, 150, 95]])
    for name, (x, y, w, h), total, deviation in zip(("whale", "wool", "ring"), boxes, table.sum(boxes), table.std(boxes), strict=True):
        direct = photograph[y : y + h, x : x + w]
        assert np.array_equal(total, direct.sum((0, 1))) and np.allclose(deviation, direct.std((0, 1)))
        print(f"{name:6} sums {total}  deviations {deviation.round(1)}")
    print("NumPy's sums over the pixels are the same")


def windows() -> None:
    title("Python: a page made black and white by local means and deviations")
    page = picture("sudoku.png", "L")
    table = areal.sat(page, squares=True)
    mean, deviation = table.window(41, stat="mean"), table.window(41, stat="std")
    save("python-page.png", np.where(page < mean * (1 + 0.2 * (deviation / 128 - 1)), 0, 255))


def histograms() -> None:
    title("Python: where in the picture the greys are like the whale's")
    grey = picture("rubberwhale1.png", "L")
    tensor = areal.integral_histogram(grey, bins=16, range=(0, 256))
    counts = tensor.counts([225, 95, 80, 80])
    assert np.array_equal(counts, np.histogram(grey[95:175, 225:305], bins=16, range=(0, 256))[0])
    distance = tensor.distance_map(counts, size=(80, 80), measure="hellinger")
    save("python-distance.png", 255 * distance / distance.max())


def frames() -> None:
    title("Python: a plan for frames of one shape, beside NumPy")
    frame = np.random.default_rng(12).integers(0, 256, (1080, 1920), np.uint8)
    plan = areal.SatPlan(frame.shape, frame.dtype)
    print(repr(plan))
    out = plan(frame)
    expected = frame.cumsum(0, np.uint32).cumsum(1, np.uint32)
    assert np.array_equal(out.array[1:, 1:], expected)
    ours = milliseconds(lambda: plan(frame, out=out))
    numpy = milliseconds(lambda: frame.cumsum(0, np.uint32).cumsum(1, np.uint32))
    print(f"1920x1080 of 8 bits: areal {ours:.2f} ms, NumPy's cumsum twice {numpy:.2f} ms")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, available, why_not in areal.backends():
        print(f"{name:5} {'available' if available else why_not}")
    for part in (sums, windows, histograms, frames):
        part()


if __name__ == "__main__":
    main()
