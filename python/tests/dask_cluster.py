"""A cluster of two small workers whose memory is watched, and an image of any size of which every box's sum is known. Of tests and benchmarks."""

from __future__ import annotations

import areal.dask
import dask.array as da
import distributed
import numpy as np


def peak_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


class Cluster:
    """Two worker processes of one thread each, and of 1 GiB if not said otherwise, which have imported areal and are idle."""

    def __init__(self, folder, limit: int = 1 << 30):
        self._cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=":0", local_directory=str(folder)
        )
        self.client = distributed.Client(self._cluster)
        self.client.run(lambda: __import__("areal.dask") and None)
        # a first small table: what is imported on first use belongs to an idle worker
        areal.dask.integral_image(da.ones((64, 64), chunks=16, dtype=np.uint8)).sum().compute(scheduler=self.client)
        self.workers = set(self.client.scheduler_info()["workers"])
        self.client.run(forget_peak)
        self.idle = max(self.client.run(peak_bytes).values())

    def peak(self) -> int:
        return max(self.client.run(peak_bytes).values())

    def disturbances(self) -> list[str]:
        """What was spilled, and which workers were paused or restarted, in words."""
        found = [f"{worker} is not there from the start" for worker in set(self.client.scheduler_info()["workers"]) ^ self.workers]
        for worker, metrics in self.client.run(lambda dask_worker: dask_worker.data.cumulative_metrics).items():
            if any(value for label, value in metrics.items() if "disk-write" in label):
                found.append(f"{worker} spilled")
        for worker in self.workers:
            if any(event.get("status") == "paused" for _, event in self.client.get_events(worker)):
                found.append(f"{worker} was paused")
        return found

    def close(self) -> None:
        self.client.close()
        self._cluster.close()


def memory_bound(chunk: int, pixel: int, table: int) -> int:
    return (pixel + 2 * table) * chunk**2 + (64 << 20)


def modular_image(seed: int, n: int, chunk: int):
    """Pixels r[y] + c[x] modulo 256, and the sums of boxes from how often each value is among their rows and columns."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    r, c = (rng.integers(0, 256, n, dtype=np.uint8) for _ in range(2))
    x = da.from_array(r, chunks=chunk)[:, None] + da.from_array(c, chunks=chunk)[None, :]
    values = np.arange(256)
    sum_of = ((values[:, None] + values[None]) % 256).astype(np.int64)

    def counts(of: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        counted = np.empty((len(start), 256), np.int64)
        for value in values:
            at = np.flatnonzero(of == value)
            counted[:, value] = np.searchsorted(at, end) - np.searchsorted(at, start)
        return counted

    def sums(boxes: np.ndarray) -> np.ndarray:
        left, top, width, height = boxes.T
        return ((counts(r, top, top + height) @ sum_of) * counts(c, left, left + width)).sum(1).astype(np.uint64)

    return x, sums


def sums_by_corners(table: da.Array, boxes: np.ndarray) -> da.Array:
    """Four entries of the table for each box, of which each chunk gives its own and is forgotten."""
    left, top, width, height = boxes.T
    rows = np.concatenate([top, top + height, top, top + height]) - 1
    columns = np.concatenate([left, left, left + width, left + width]) - 1
    corners = table.vindex[np.maximum(rows, 0), np.maximum(columns, 0)] * ((rows >= 0) & (columns >= 0))
    a, b, c, d = (corners[k * len(boxes) : (k + 1) * len(boxes)] for k in range(4))
    return d - c - b + a


def random_boxes(seed: int, count: int, height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.integers(0, width + 1, (count, 2)), 1), np.sort(rng.integers(0, height + 1, (count, 2)), 1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], 1)
