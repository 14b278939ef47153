"""Tables of Dask arrays on two workers of 1 GiB, against Dask's own cumsum twice, and the constants of docs/scaling.md.

usage: python_dask.py [--json FILE] [--side N]... [--no-cumsum] [--no-constants] [--no-tables] [--limit SECONDS]

Each table is consumed as it comes: 10,000 boxes, which are checked against the closed form of the image's sums. One run of each.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

root = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(root / "python" / "tests"))
import areal.dask  # noqa: E402
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
from areal import dask as subject  # noqa: E402
from dask_cluster import Cluster, memory_bound, modular_image, random_boxes, sums_by_corners  # noqa: E402

CHUNK = 4096


def cumsum_twice(x: da.Array) -> da.Array:
    return x.cumsum(0, dtype=np.uint64).cumsum(1)


def device() -> str:
    with open("/proc/cpuinfo") as info:
        return next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")


def common(**more: Any) -> dict[str, Any]:
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, capture_output=True, text=True).stdout.strip()
    return {"what": "dask", "backend": "cpu", "device": device(), "cores": os.cpu_count(), "load": os.getloadavg()[0], **more, "commit": commit}


def spread(seconds: list[float]) -> dict[str, float]:
    return {"min": 1e6 * min(seconds), "median": 1e6 * statistics.median(seconds), "max": 1e6 * max(seconds)}


def times(call: Callable[[], Any], rounds: int = 9) -> dict[str, float]:
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return spread(taken)


def cpu_seconds(cluster: Cluster) -> float:
    """The memory of this process, which has the scheduler, and of the workers."""
    return time.process_time() + sum(cluster.client.run(time.process_time).values())


def table_record(side: int, name: str, make: Callable[[da.Array], da.Array], limit: float) -> dict[str, Any]:
    x, sums = modular_image(20, side, CHUNK)
    boxes = random_boxes(21, 10_000, side, side)
    answers = sums_by_corners(make(x), boxes)
    (optimized,) = dask.optimize(answers)
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder)
        try:
            load, begin, busy = os.getloadavg()[0], time.perf_counter(), cpu_seconds(cluster)
            future = cluster.client.compute(answers)
            outcome = "complete"
            try:
                exact = bool(np.array_equal(future.result(timeout=limit), sums(boxes)))
            except (TimeoutError, distributed.TimeoutError):
                exact, outcome = False, f"stopped after {limit:.0f} s"
            except Exception as error:  # a worker that was killed: its exception is the outcome
                exact, outcome = False, type(error).__name__
            seconds = time.perf_counter() - begin
            busy = cpu_seconds(cluster) - busy
            disturbances = cluster.disturbances()
            record = common(part="table", algorithm=name, lane="8u64u", width=side, height=side, bins=0, batch=1, chunk=CHUNK, workers=2, threads=2,
                            tasks=len(optimized.dask), boxes=len(boxes), exact=exact, outcome=outcome, time_us=spread([seconds]), cpu_us=1e6 * busy, bytes=side * side,
                            idle_bytes=cluster.idle, peak_bytes=cluster.peak(), bound_bytes=memory_bound(CHUNK, 1, 8),
                            spilled=any("spilled" in words for words in disturbances), paused=any("paused" in words for words in disturbances),
                            restarted=any("start" in words for words in disturbances))
            return {**record, "load": load}
        finally:
            cluster.close()


def constants() -> list[dict[str, Any]]:
    rng = np.random.default_rng(22)
    pixels = rng.integers(0, 256, (CHUNK, CHUNK), dtype=np.uint8)
    dtype = np.dtype(np.uint64)
    half = subject._sums_dtype(pixels.dtype, dtype, CHUNK)
    sums = subject._sums(pixels, half)
    corner = subject._carry((0, 0), dtype, sums, None, None)
    edge = subject._carry((0, 1), dtype, sums, None, (sums, corner))
    inner = subject._carry((1, 1), dtype, sums, (sums, edge), (sums, edge))
    inner = subject._carry((2, 2), dtype, sums, (sums, inner), (sums, inner))
    made = []
    for part, call in (("sums", lambda: subject._sums(pixels, half)), ("carry", lambda: subject._carry((2, 2), dtype, sums, (sums, inner), (sums, inner))),
                       ("table", lambda: subject._table(pixels, inner._replace(digest=sums.digest()), half))):
        made.append(common(part=part, algorithm="areal.dask", lane="8u64u", chunk=CHUNK, threads=1, time_us=times(call)))
    made[0]["bytes"], made[1]["bytes"] = len(pickle.dumps(sums)), len(pickle.dumps(inner))
    x, _ = modular_image(23, 64 * CHUNK, CHUNK)
    begin = time.perf_counter()
    dask.optimize(areal.dask.integral_image(x))
    made.append(common(part="graph", algorithm="areal.dask", chunks=64 * 64, time_us=spread([time.perf_counter() - begin])))
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder)
        try:
            tasks = 5000
            rounds = []
            for k in range(3):
                begin = time.perf_counter()
                distributed.wait(cluster.client.map(lambda n: n, range(k * tasks, (k + 1) * tasks), pure=False))
                rounds.append(time.perf_counter() - begin)
            made.append(common(part="scheduler", algorithm="distributed " + distributed.__version__, workers=2, tasks=tasks, time_us=spread(rounds)))
            length, rounds = 500, []
            for k in range(3):
                chain = cluster.client.submit(lambda n: n + 1, k, pure=False)
                begin = time.perf_counter()
                for _ in range(length):
                    chain = cluster.client.submit(lambda n: n + 1, chain, pure=False)
                distributed.wait(chain)
                rounds.append(time.perf_counter() - begin)
            made.append(common(part="hop", algorithm="distributed " + distributed.__version__, workers=2, tasks=length, time_us=spread(rounds)))
        finally:
            cluster.close()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--side", type=int, action="append")
    parser.add_argument("--no-cumsum", action="store_true")
    parser.add_argument("--no-constants", action="store_true")
    parser.add_argument("--no-tables", action="store_true")
    parser.add_argument("--limit", type=float, default=600)
    given = parser.parse_args()
    records = [] if given.no_constants else constants()
    for side in [] if given.no_tables else given.side or [63_488]:  # 4.03 GB
        records.append(table_record(side, "areal.dask.integral_image", areal.dask.integral_image, given.limit))
        print(json.dumps(records[-1]), file=sys.stderr)
        if not given.no_cumsum:
            records.append(table_record(side, f"dask {dask.__version__} cumsum twice", cumsum_twice, given.limit))
            print(json.dumps(records[-1]), file=sys.stderr)
    text = json.dumps(records, indent=1) + "\n"
    if given.json:
        given.json.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
