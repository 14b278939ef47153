"""The overhead of a Python call over the same plan's execute in C++: times in turns, as a list of JSON records.

usage: python_overhead.py [--rounds 20] [--calls 10000] [--size 64] [--json FILE]

Each round times so many executes in a loop of C++, with views and a workspace that are made once, and then as many calls of each form of Python, in a
loop of Python. What they give is compared before it is timed. A record of a form has the difference of the medians (`above_us`), and what it should
be at most (`at_most`). PyTorch's forms are left out where it is not installed. Results are kept as bench/results/DATE-python-overhead.json.
"""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from python_records import commit, median, processor, summary, write

import areal
from areal import _core
from areal._frameworks import NUMPY


class Form(NamedTuple):
    """A way to call: a loop from repetitions to seconds, its table, and the microseconds above C++ that it may take."""

    name: str
    seconds: Callable[[int], float]
    table: Callable[[], Any]
    at_most: float | None


def loop(call: Callable[[], Any]) -> Callable[[int], float]:
    def seconds(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start

    return seconds


def numpy_forms(x: Any) -> list[Form]:
    plan = areal.SatPlan(x.shape, x.dtype)
    out, room = (np.empty((x.shape[0] + 1, x.shape[1] + 1), plan.table_dtype) for _ in range(2))

    def into_out(calls: int) -> float:  # without the call of a lambda
        start = time.perf_counter()
        for _ in range(calls):
            plan(x, out=out)
        return time.perf_counter() - start

    def one_line(calls: int) -> float:
        sat = areal.sat
        start = time.perf_counter()
        for _ in range(calls):
            sat(x)
        return time.perf_counter() - start

    def in_cpp() -> Any:
        _core.time_execute(plan, NUMPY, x, room, 1)
        return room

    return [Form("SatPlan::execute in C++", lambda calls: _core.time_execute(plan, NUMPY, x, room, calls), in_cpp, None),
            Form("plan(x, out=y)", into_out, lambda: plan(x, out=out).array, 1), Form("plan(x)", loop(lambda: plan(x)), lambda: plan(x).array, None),
            Form("areal.sat(x)", one_line, lambda: areal.sat(x).array, 5)]


def torch_forms(x: Any) -> list[Form]:
    try:
        import torch
    except ImportError:
        print("torch is not installed: its forms are left out", file=sys.stderr)
        return []
    tensor = torch.from_numpy(x)
    plan = areal.SatPlan(x.shape, x.dtype)
    out = torch.empty(x.shape[0] + 1, x.shape[1] + 1, dtype=torch.int32)

    def into_out(calls: int) -> float:  # without the call of a lambda
        start = time.perf_counter()
        for _ in range(calls):
            plan(tensor, out=out)
        return time.perf_counter() - start

    return [Form("plan(tensor, out=y)", into_out, lambda: np.asarray(plan(tensor, out=out).array), 3),
            Form("areal.sat(tensor)", loop(lambda: areal.sat(tensor)), lambda: np.asarray(areal.sat(tensor).array), 8)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=10_000, help="of each form in a round")
    parser.add_argument("--size", type=int, default=64, help="rows and columns of the image, of uint8")
    parser.add_argument("--json", type=pathlib.Path, help="the file of the records; without it they go to stdout")
    options = parser.parse_args()
    x = np.random.default_rng(1).integers(0, 256, (options.size, options.size)).astype(np.uint8)
    truth = np.pad(x.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    forms = numpy_forms(x) + torch_forms(x)
    for form in forms:
        if not np.array_equal(form.table(), truth):
            raise SystemExit(f"{form.name}: the table is wrong")
        form.seconds(options.calls)
    times: dict[str, list[float]] = {form.name: [] for form in forms}
    gc.disable()
    for _ in range(options.rounds):
        for form in forms:
            times[form.name].append(form.seconds(options.calls) / options.calls * 1e6)
    gc.enable()
    plan = areal.SatPlan(x.shape, x.dtype)
    floor = median(times[forms[0].name])
    records = []
    for form in forms:
        above = median(times[form.name]) - floor
        record = {"what": "python", "call": form.name, "algorithm": plan.algorithm, "backend": plan.backend, "device": processor(), "lane": "8u32u",
                  "width": options.size, "height": options.size, "bins": 0, "batch": 1, "threads": 0, "time_us": summary(times[form.name])}
        if form is not forms[0]:
            record["above_us"] = round(above, 3)
        if form.at_most is not None:
            record["at_most"] = form.at_most
        records.append({**record, "rounds": options.rounds, "calls": options.calls, "commit": commit()})
        words = "" if form is forms[0] else f", {above:.3f} us above" + ("" if form.at_most is None else
                                                                       f", at most {form.at_most}{'' if above <= form.at_most else ', LATE'}")
        print(f"{form.name:24} {median(times[form.name]):8.3f} us{words}", file=sys.stderr)
    write(records, options.json)


if __name__ == "__main__":
    main()
