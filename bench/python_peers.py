"""areal's drop-ins, the functions that they replace, and a copy of the answer, from Python: rounds of random order on two threads, as a list of JSON records.

usage: python_peers.py [--rounds 30] [--case WORDS] [--json FILE]

Every case is checked before it is timed: the answers of both sides must agree. The process is held to two CPUs, and each library to two threads. In a round a
side calls for 50 ms, at least once, and the median of these calls counts: libraries that are called again and again keep their threads awake.
Peers that are not installed are left out, and named on stderr. A record of areal has the peer's median over its own (`ratio`), what the ratio
should be (`at_least`) and, for answers that are arrays, the floor: NumPy's copy of the answer on as many threads; results are kept as bench/results/DATE-cpu-THREADS-python-peers.json.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from python_records import ROUNDS, commit, median, processor, summary, time_rounds, write

THREADS = 2
WARM_S = 0.3  # threads wake up, spread over the CPUs, and memory is used again
BLOCK_S = 0.05  # of each side in a round
FULL_HD, SQUARE = (1080, 1920), (4096, 4096)


class Case(NamedTuple):
    """One call with arguments that are ready: ours, the peer's, and whether their answers agree."""

    call: str
    types: str
    shape: tuple[int, int]
    at_least: float
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], bool]


def hold_to_two_cpus() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def opencv_cases(cv2: Any) -> Iterator[Case]:
    import numpy as np

    from areal import cv2 as ours

    cv2.setNumThreads(THREADS)
    peer = f"opencv {cv2.__version__}"
    same = np.array_equal

    def near(a: Any, b: Any) -> bool:
        """Within what is promised of the largest result."""
        return bool(np.abs(a - b).max() <= (1e-12 if b.dtype == np.float64 else 1e-5) * b.max())

    for shape, whole, real in ((FULL_HD, 1.8, 2.5), (SQUARE, 1.0, 1.5)):
        x = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
        f = np.random.default_rng(2).random(shape, np.float32)
        table = shape[0] + 1, shape[1] + 1
        for image, types, dtype, at_least in ((x, "8u32s", np.int32, whole), (f, "32f64f", np.float64, real)):
            a, b = np.empty(table, dtype), np.empty(table, dtype)
            yield Case("cv2.integral, out given", types, shape, at_least, peer, lambda i=image, o=a: ours.integral(i, o),
                       lambda i=image, o=b: cv2.integral(i, o), same if dtype is np.int32 else near)
    x = np.random.default_rng(3).integers(0, 256, FULL_HD, np.uint8)
    yield Case("cv2.boxFilter 31x31", "8u8u", FULL_HD, 0.5, peer, lambda: ours.boxFilter(x, -1, (31, 31)), lambda: cv2.boxFilter(x, -1, (31, 31)),
               same)
    yield Case("cv2.sqrBoxFilter 31x31", "8u32f", FULL_HD, 1.0, peer, lambda: ours.sqrBoxFilter(x, -1, (31, 31)),
               lambda: cv2.sqrBoxFilter(x, -1, (31, 31)), near)


def skimage_cases(transform: Any) -> Iterator[Case]:
    import numpy as np

    from areal import skimage as ours

    peer = f"scikit-image {importlib.import_module('skimage').__version__}"
    for shape, at_least in ((FULL_HD, 30), (SQUARE, 15)):
        x = np.random.default_rng(4).integers(0, 256, shape, np.uint8)
        yield Case("integral_image", "8u64u", shape, at_least, peer, lambda i=x: ours.integral_image(i), lambda i=x: transform.integral_image(i),
                   np.array_equal)
    random = np.random.default_rng(5)
    table = transform.integral_image(random.integers(0, 256, FULL_HD, np.uint8))
    start = random.integers(0, 900, (1000, 2))
    end = start + random.integers(0, 100, (1000, 2))
    yield Case("integrate, 1,000 boxes in arrays", "64u64f", FULL_HD, 200, peer, lambda: ours.integrate(table, start, end),
               lambda: transform.integrate(table, start, end), np.array_equal)
    starts, ends = ([tuple(row) for row in rows.tolist()] for rows in (start, end))
    yield Case("integrate, 1,000 boxes in lists", "64u64f", FULL_HD, 200, peer, lambda: ours.integrate(table, starts, ends),
               lambda: transform.integrate(table, starts, ends), np.array_equal)


def filters_beside_opencv(cv2: Any) -> Iterator[Case]:
    import numpy as np

    from areal import cv2 as ours
    from areal import filters

    cv2.setNumThreads(THREADS)
    peer = f"opencv {cv2.__version__}"
    x = np.random.default_rng(7).integers(0, 256, SQUARE, np.uint8)
    f = np.random.default_rng(8).random(SQUARE, np.float32)

    def within_one(a: Any, b: Any) -> bool:
        """Halves are rounded in another direction."""
        return bool(np.abs(a.astype(np.int16) - b).max() <= 1)

    def near(a: Any, b: Any) -> bool:
        return bool(np.abs(a - b).max() <= 1e-5)

    for side in (3, 15, 31, 63):
        a, b = np.empty_like(x), np.empty_like(x)
        yield Case(f"filters.mean {side}x{side}", "8u8u", SQUARE, 5, peer, lambda k=side, o=a: filters.mean(x, k, edge="reflect", out=o),
                   lambda k=side, o=b: cv2.blur(x, (k, k), dst=o), within_one)
        c, d = np.empty_like(f), np.empty_like(f)
        yield Case(f"filters.mean {side}x{side}", "32f32f", SQUARE, 1.5, peer, lambda k=side, o=c: filters.mean(f, k, edge="reflect", out=o),
                   lambda k=side, o=d: cv2.blur(f, (k, k), dst=o), near)
    yield Case("filters.threshold mean 31x31", "8u8u", SQUARE, 1, peer, lambda: filters.threshold(x, 31, method="mean", edge="replicate"),
               lambda: cv2.adaptiveThreshold(x, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 31, 0),
               lambda a, b: bool(np.count_nonzero(a != b) <= a.size // 50))  # OpenCV rounds the mean first
    for side in (3, 15, 63):
        kernel = np.ones((side, side), np.uint8)
        yield Case(f"filters.min {side}x{side}", "8u8u", SQUARE, 1, peer, lambda k=side: filters.min(x, k), lambda k=kernel: cv2.erode(x, k), np.array_equal)
        yield Case(f"filters.min {side}x{side}", "32f32f", SQUARE, 1, peer, lambda k=side: filters.min(f, k), lambda k=kernel: cv2.erode(f, k), np.array_equal)
    for side in (3, 5, 15, 63):
        yield Case(f"filters.median {side}x{side}", "8u8u", SQUARE, 2, peer, lambda k=side: filters.median(x, k, edge="replicate"),
                   lambda k=side: cv2.medianBlur(x, k), np.array_equal)
    for sigma in (2, 8, 20):
        # Beyond sigma 8 boxes differ from the Gaussian, and OpenCV cuts it at another distance.
        yield Case(f"filters.gaussian, sigma {sigma}", "32f32f", SQUARE, 1, peer, lambda s=sigma: filters.gaussian(f, s, edge="reflect"),
                   lambda s=sigma: cv2.GaussianBlur(f, (0, 0), s), lambda a, b: bool(np.abs(a - b).max() <= 0.03))
    colour = np.random.default_rng(12).integers(0, 256, (2048, 2048, 3), np.uint8)
    size = colour.shape[:2]
    yield Case("filters.mean 15x15, colour", "8u8u", size, 1, peer, lambda: filters.mean(colour, 15, axes="HWC", edge="reflect"),
               lambda: cv2.blur(colour, (15, 15)), within_one)
    yield Case("filters.min 15x15, colour", "8u8u", size, 1, peer, lambda: filters.min(colour, 15, axes="HWC"),
               lambda: cv2.erode(colour, np.ones((15, 15), np.uint8)), np.array_equal)
    for side in (3, 5):
        yield Case(f"filters.median {side}x{side}, colour", "8u8u", size, 1, peer,
                   lambda k=side: filters.median(colour, k, axes="HWC", edge="replicate"), lambda k=side: cv2.medianBlur(colour, k), np.array_equal)
    yield Case("filters.gaussian, sigma 2, colour", "8u8u", size, 1, peer, lambda: filters.gaussian(colour, 2, axes="HWC", edge="reflect"),
               lambda: cv2.GaussianBlur(colour, (17, 17), 2), within_one)
    frame, template = x[:FULL_HD[0], :FULL_HD[1]].copy(), x[300:364, 500:564].copy()
    yield Case("cv2.matchTemplate 64x64, CCOEFF_NORMED", "8u32f", FULL_HD, 1, peer,
               lambda: ours.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED), lambda: cv2.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED), near)
    if hasattr(cv2, "CascadeClassifier") and hasattr(cv2, "data"):  # OpenCV 4
        photograph = cv2.resize(cv2.imread(str(pathlib.Path(__file__).parents[1] / "data" / "home.jpg"), cv2.IMREAD_GRAYSCALE), FULL_HD[::-1])
        for name in ("haarcascade_frontalface_default", "haarcascade_frontalface_alt2", "haarcascade_upperbody", "lbpcascade_frontalface"):
            file = pathlib.Path(cv2.data.haarcascades) / f"{name}.xml"
            if file.exists():
                a, b = ours.CascadeClassifier(str(file)), cv2.CascadeClassifier(str(file))
                yield Case(f"cv2.CascadeClassifier {name.partition('cascade_')[2]}", "8u", FULL_HD, 1, peer, lambda d=a: d.detectMultiScale(photograph),
                           lambda d=b: d.detectMultiScale(photograph),
                           lambda a, b: sorted(map(tuple, a)) == sorted(map(tuple, b)))
    if hasattr(cv2, "ximgproc"):
        grey = x[:, ::-1].copy()
        yield Case("filters.guided, radius 8", "8u8u", SQUARE, 4, peer, lambda: filters.guided(x, 8, 400, grey, edge="reflect"),
                   lambda: cv2.ximgproc.guidedFilter(grey, x, 8, 400), within_one)


def filters_beside_scipy(ndimage: Any) -> Iterator[Case]:
    import numpy as np

    from areal import filters

    peer = f"scipy {importlib.import_module('scipy').__version__}"
    x = np.random.default_rng(9).integers(0, 256, SQUARE, np.uint8)
    f = np.random.default_rng(10).random(SQUARE, np.float32)
    yield Case("filters.mean 15x15", "8u8u", SQUARE, 100, peer, lambda: filters.mean(x, 15, edge="symmetric"), lambda: ndimage.uniform_filter(x, 15),
               lambda a, b: bool(np.abs(a.astype(np.int16) - b).max() <= 2))  # SciPy truncates after each axis
    yield Case("filters.mean 15x15", "32f32f", SQUARE, 15, peer, lambda: filters.mean(f, 15, edge="symmetric"), lambda: ndimage.uniform_filter(f, 15),
               lambda a, b: bool(np.abs(a - b).max() <= 1e-4))


def filters_beside_skimage(skimage: Any) -> Iterator[Case]:
    import numpy as np

    from areal import filters

    peer = f"scikit-image {importlib.import_module('skimage').__version__}"
    x = np.random.default_rng(11).integers(0, 256, SQUARE, np.uint8)
    for method, k in (("sauvola", 0.2), ("niblack", -0.2)):
        def theirs(method: str = method, k: float = k) -> Any:
            return skimage.threshold_sauvola(x, 31, k, 128) if method == "sauvola" else skimage.threshold_niblack(x, 31, -k)

        yield Case(f"filters.threshold {method} 31x31", "8u64f", SQUARE, 5, peer,
                   lambda m=method, k=k: filters.threshold(x, 31, method=m, k=k, edge="reflect", dtype="float64"), theirs,
                   lambda a, b: bool(np.abs(a - b).max() <= 1e-6))
    small, ones = x[:FULL_HD[0], :FULL_HD[1]].copy(), np.ones((15, 15), np.uint8)
    for name in ("equalize", "entropy", "modal", "otsu"):
        yield Case(f"filters.{name} 15x15", "8u64f" if name == "entropy" else "8u8u", FULL_HD, 5, peer, lambda n=name: getattr(filters, n)(small, 15),
                   lambda n=name: getattr(skimage.rank, n)(small, ones),
                   lambda a, b: bool(np.abs(a - b).max() <= 1e-12) if a.dtype.kind == "f" else bool(np.count_nonzero(a != b) <= a.size // 1000))


def torch_cases(torch: Any) -> Iterator[Case]:
    import numpy as np

    import areal

    torch.set_num_threads(THREADS)
    x = np.random.default_rng(6).integers(0, 256, FULL_HD, np.uint8)
    tensor = torch.from_numpy(x)
    yield Case("cumsum twice", "8u64s", FULL_HD, 10, f"torch {torch.__version__}", lambda: areal.sat(x, border="none", dtype="uint64").array,
               lambda: tensor.cumsum(0).cumsum(1), lambda a, b: np.array_equal(a, b.numpy()))


def cases() -> Iterator[Case]:
    for name, of in (("cv2", opencv_cases), ("skimage.transform", skimage_cases), ("torch", torch_cases), ("cv2", filters_beside_opencv),
                     ("scipy.ndimage", filters_beside_scipy), ("skimage.filters", filters_beside_skimage)):
        try:
            peer = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed: its cases are left out", file=sys.stderr)
            continue
        yield from of(peer)


def once(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def block(call: Callable[[], Any]) -> float:
    """The median of the calls of a round."""
    times: list[float] = []
    while sum(times) < BLOCK_S * 1e6:
        times.append(once(call))
    return median(times)


def copy_of(answer: Any, pool: ThreadPoolExecutor) -> list[Callable[[], Any]]:
    """A copy of the answer's bytes by as many threads, if it is an array."""
    import numpy as np

    if not isinstance(answer, np.ndarray) or answer.ndim == 0:
        return []
    parts = [(np.empty_like(part), part) for part in np.array_split(answer, THREADS)]
    return [lambda: list(pool.map(lambda part: np.copyto(*part), parts))]


def measure(case: Case, rounds: int) -> list[dict[str, Any]]:
    answer = case.ours()
    if not case.agree(answer, case.theirs()):
        raise SystemExit(f"{case.call} {case.types} {case.shape}: the answers differ")
    pool = ThreadPoolExecutor(THREADS)
    calls = [case.ours, case.theirs, *copy_of(answer, pool)]
    for call in calls:
        start = time.perf_counter()
        while time.perf_counter() - start < WARM_S:
            call()
    gc.disable()
    ours, theirs, *floors = time_rounds(len(calls), rounds, 0, lambda i: block(calls[i]))
    gc.enable()
    pool.shutdown()
    base = {"what": "python", "call": case.call, "backend": "cpu", "device": processor(), "lane": case.types, "width": case.shape[1],
            "height": case.shape[0], "bins": 0, "batch": 1, "threads": THREADS}
    ratio = median(theirs) / median(ours)
    floor = {"floor": "copy of the answer", "floor_us": round(median(floors[0]), 3)} if floors else {}
    return [{**base, "algorithm": "areal", "time_us": summary(ours), **floor, "ratio": round(ratio, 3), "at_least": case.at_least, "peer": case.peer,
             "commit": commit()},
            {**base, "algorithm": case.peer, "time_us": summary(theirs), "commit": commit()}]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of random order")
    parser.add_argument("--case", default="", help="only cases whose call has these words")
    parser.add_argument("--json", type=pathlib.Path, help="the file of the records; without it they go to stdout")
    options = parser.parse_args()
    hold_to_two_cpus()
    records = []
    for case in cases():
        if options.case not in case.call:
            continue
        pair = measure(case, options.rounds)
        a, b = pair
        print(f"{case.call:34} {case.types:7} {case.shape[1]:4}x{case.shape[0]:4} areal {a['time_us']['median'] / 1e3:8.3f} ms, {case.peer:22} "
              f"{b['time_us']['median'] / 1e3:8.3f} ms: {a['ratio']:7.2f}x, at least {case.at_least}x"
              f"{'' if a['ratio'] >= case.at_least else ', SHORT'}",
              file=sys.stderr)
        records += pair
    write(records, options.json)


if __name__ == "__main__":
    main()
