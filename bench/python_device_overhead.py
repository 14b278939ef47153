"""The overhead of a call with a tensor in device memory over the same plan's execute in C++, and of a reversed table over a forward one, as a list of JSON
records.

usage: python_device_overhead.py [--device 0] [--rounds 20] [--calls 200] [--json FILE]

Host: each round times so many executes in a loop of C++ on PyTorch's stream, with views and a workspace that are made once, and then as many calls of
each form in a loop of Python; the GPU is waited for between them. Device: times are between two events around one call, behind a kernel that spins, so
that the GPU never waits for the host. Tables are compared with NumPy's sums. A record of a form has the difference of the medians (`above_us`), one of
a reversed table the quotient (`ratio`), and both what it should be at most (`at_most`). Results are kept as
bench/results/DATE-cuda-python-overhead.json.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from python_records import ROUNDS, commit, median, summary, write

import areal
from areal import _core

import python_gpu_peers as peers  # of bench/peers, as python_records

SIDES = (64, 1024)
HOST_AT_MOST, DEVICE_AT_MOST, REVERSE_AT_MOST = 10, 1, 1.05
REVERSED = [(dtype, side) for dtype in ("uint8", "float32", "float64") for side in (1024, 4096, 8192)]


def sums_of(image: np.ndarray, reverse: bool = False) -> np.ndarray:
    exact = image[::-1, ::-1] if reverse else image
    table = exact.astype(np.int64 if image.dtype.kind == "u" else np.float64).cumsum(0).cumsum(1)
    return table[::-1, ::-1] if reverse else table


def image_of(dtype: str, side: int) -> np.ndarray:
    small = np.random.default_rng(side).integers(0, 16, (side, side), np.uint8)
    return (small if dtype == "uint8" else small == 0).astype(dtype)  # every sum is exact


def record(library: Any, device: str, call: str, algorithm: str, dtype: str, side: int, times: list[float], **more: Any) -> dict[str, Any]:
    return {"what": "python", "call": call, "algorithm": algorithm, "backend": "cuda", "device": device, "lane": dtype, "width": side, "height": side,
            "bins": 0, "batch": 1, "threads": 0, "time_us": summary(times), **more, "peer": f"torch {library.version}", "commit": commit()}


def calls_of(library: Any, device: str, side: int, rounds: int, calls: int) -> list[dict[str, Any]]:
    from areal._torch_ops import TORCH

    torch = library.torch
    image = image_of("uint8", side)
    x = torch.from_numpy(image).cuda()
    plan = areal.SatPlan(x.shape, "uint8", border="none", table_dtype="int32", backend="cuda", device=library.torch.cuda.current_device())
    out = torch.empty(x.shape, dtype=torch.int32, device="cuda")

    def in_cpp(count: int) -> float:
        return _core.time_execute(plan, TORCH, x, out, count)

    def loop(call: Callable[[], Any]) -> Callable[[int], float]:
        def seconds(count: int) -> float:
            start = time.perf_counter()
            for _ in range(count):
                call()
            return time.perf_counter() - start

        return seconds

    one: dict[str, Callable[[], Any]] = {"SatPlan::execute in C++": lambda: (in_cpp(1), out)[1], "plan(tensor, out=y)": lambda: plan(x, out=out).array,
                                         "areal.sat(tensor)": lambda: areal.sat(x, border="none").array}
    host: dict[str, Callable[[int], float]] = {name: loop(call) for name, call in one.items()} | {"SatPlan::execute in C++": in_cpp}
    expected = sums_of(image)
    for name, call in one.items():
        out.zero_()
        if not np.array_equal(call().cpu().numpy(), expected):
            raise SystemExit(f"{name}, {side}x{side}: the table is wrong")
        host[name](calls)
    times: dict[str, list[float]] = {name: [] for name in one}
    gc.disable()
    for _ in range(rounds):
        for name, seconds in host.items():
            torch.cuda.synchronize()
            times[name].append(seconds(calls) / calls * 1e6)
    gc.enable()
    on_device = dict(zip(one, peers.timed([(library, call) for call in one.values()], 50)))
    records = []
    for clock, of, at_most in (("host", times, HOST_AT_MOST), ("device", on_device, DEVICE_AT_MOST)):
        floor = median(of["SatPlan::execute in C++"])
        for name in one:
            above = median(of[name]) - floor
            more = {} if name == "SatPlan::execute in C++" else {"above_us": round(above, 3), "at_most": at_most}
            records.append(record(library, device, f"{name}, {clock}", plan.algorithm, "8u32s", side, of[name], **more))
            print(f"{name:24} {side:5} {clock:6} {median(of[name]):8.3f} us, {above:.3f} us above{' LATE' if more and above > at_most else ''}",
                  file=sys.stderr)
    return records


def reversed_of(library: Any, device: str, dtype: str, side: int) -> list[dict[str, Any]]:
    torch = library.torch
    image = image_of(dtype, side)
    x = torch.from_numpy(image).cuda()
    table = {"uint8": "int32", "float32": "float32", "float64": "float64"}[dtype]
    out = torch.empty(x.shape, dtype=getattr(torch, table), device="cuda")
    plans, runs = [], []
    for reverse in (False, True):
        plan = areal.SatPlan(tuple(x.shape), dtype, table_dtype=table, border="none", backend="cuda", reverse=reverse)
        plan(x, out=out)
        if not np.array_equal(out.cpu().numpy(), sums_of(image, reverse)):
            raise SystemExit(f"{dtype}, {side}x{side}, reverse={reverse}: the table is wrong")
        runs.append((library, lambda plan=plan: plan(x, out=out)))
        plans.append(plan)
    times = peers.timed(runs, ROUNDS)
    ratio = median(times[1]) / median(times[0])
    print(f"reverse {dtype:8} {side:5} {median(times[0]):8.1f} us, reversed {median(times[1]):8.1f} us: {ratio:.3f}"
          f"{' LATE' if ratio > REVERSE_AT_MOST else ''}", file=sys.stderr)
    return [record(library, device, "plan(tensor, out=y), forward, device", plans[0].algorithm, f"{dtype} {table}", side, times[0]),
            record(library, device, "plan(tensor, out=y), reverse, device", plans[1].algorithm, f"{dtype} {table}", side, times[1],
                   ratio=round(ratio, 3), at_most=REVERSE_AT_MOST)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=200, help="of each form in a round")
    parser.add_argument("--json", type=pathlib.Path, help="the file of the records; without it they go to stdout")
    options = parser.parse_args()
    names = {row[0]: row[1] for row in areal.devices()}
    if options.device not in names:
        raise SystemExit(f"device {options.device}: there are {len(names)}")
    library = peers.Torch(options.device)
    records = []
    for side in SIDES:
        records += calls_of(library, names[options.device], side, options.rounds, options.calls)
    for dtype, side in REVERSED:
        records += reversed_of(library, names[options.device], dtype, side)
    write(records, options.json)


if __name__ == "__main__":
    main()
