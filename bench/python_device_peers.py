"""areal.sat of PyTorch's and CuPy's arrays in device memory, two cumsums there and a copy, in rounds of random order, as a list of JSON records.

usage: python_device_peers.py [--device 0] [--rounds 50] [--json FILE]

Times are between two events on the current stream around one call with outputs that are given, behind a kernel that spins, so that the GPU never
waits for Python. Every table is compared with NumPy's sums. A record of areal has its floor (a copy), the peer's median over its own (`ratio`) and what the
ratio should be (`at_least`); results are kept as bench/results/DATE-cuda-python-peers.json. Frameworks that cannot be used are left out, and named on stderr.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

import numpy as np
from python_records import ROUNDS, commit, median, summary, write

import areal

import python_gpu_peers as peers  # of bench/peers, as python_records

CASES = {1024: 8, 4096: 22}  # a side: how many times as fast


def measure(library: Any, device: str, side: int, at_least: float, rounds: int) -> list[dict[str, Any]]:
    image = peers.random_image(np, side, side, np.dtype(np.float32))
    dtype = np.dtype(np.float32)
    expected = peers.Expected(np, image, dtype)
    (source, table, ours_at), copied = library.own(image, dtype), library.own(image, dtype)[1]
    theirs, theirs_at = library.prepare(image, dtype)
    runs = [lambda: areal.sat(source, border="none", dtype="float32", out=table), theirs, lambda: library.copy(source, copied)]
    times = peers.timed([(library, run) for run in runs], rounds)
    for at in (ours_at, theirs_at):
        wrong = expected.difference(at)
        if wrong:
            raise SystemExit(f"{library.name}, {side}x{side}: {wrong}")
    base = {"what": "python", "call": library.name, "backend": "cuda", "device": device, "lane": "32f32f", "width": side, "height": side, "bins": 0,
            "batch": 1, "threads": 0}
    ratio, floor = median(times[1]) / median(times[0]), median(times[2])
    peer = f"{library.name} {library.version}"
    return [{**base, "algorithm": "areal", "time_us": summary(times[0]), "floor": "copy", "floor_us": round(floor, 3), "fraction": round(floor / median(times[0]), 3), "ratio": round(ratio, 3), "at_least": at_least, "peer": peer,
             "commit": commit()},
            {**base, "algorithm": peer, "time_us": summary(times[1]), "commit": commit()}]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=50, help=f"of random order; records have at least {ROUNDS}")
    parser.add_argument("--json", type=pathlib.Path, help="the file of the records; without it they go to stdout")
    options = parser.parse_args()
    names = {row[0]: row[1] for row in areal.devices()}
    if options.device not in names:
        raise SystemExit(f"device {options.device}: there are {len(names)}")
    records = []
    for kind in (peers.Torch, peers.CuPy):
        try:
            library = kind(options.device)
        except Exception as error:
            print(f"{kind.__name__} is left out: {error}", file=sys.stderr)
            continue
        for side, at_least in CASES.items():
            pair = measure(library, names[options.device], side, at_least, options.rounds)
            a, b = pair
            print(f"{library.name:20} 32f32f {side}x{side} areal {a['time_us']['median']:8.1f} us, {b['time_us']['median']:8.1f} us: "
                  f"{a['ratio']:6.2f}x, at least {at_least}x{'' if a['ratio'] >= at_least else ', SHORT'}", file=sys.stderr)
            records += pair
    write(records, options.json)


if __name__ == "__main__":
    main()
