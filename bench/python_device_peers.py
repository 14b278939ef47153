"""areal.sat of PyTorch's and CuPy's arrays in device memory against two cumsums there, as a list of JSON records.

usage: python_device_peers.py [--device 0] [--rounds 50] [--json FILE]

Times are between two events on the current stream around one call with outputs that are given, behind a kernel that spins, so that the GPU never
waits for Python. Every table is compared with NumPy's sums. A record of areal has the peer's median over its own (`ratio`) and what the ratio should
be (`at_least`); results are kept as bench/results/DATE-cuda-python-peers.json. Frameworks that cannot be used are left out, and named on stderr.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
from typing import Any

import numpy as np
from python_records import commit, summary, write

import areal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import python_gpu_peers as peers  # noqa: E402

CASES = {1024: 8, 4096: 22}  # a side: how many times as fast


def prepare(library: Any, image: np.ndarray) -> tuple[Any, Any]:
    """A call that fills a table on the device, and the table."""
    if isinstance(library, peers.Torch):
        source = library.torch.from_numpy(image).cuda()
        table = library.torch.empty(image.shape, dtype=library.torch.float32, device="cuda")
        return lambda: areal.sat(source, border="none", dtype="float32", out=table), lambda *at: table[at].contiguous().cpu().numpy()
    source, table = library.cupy.asarray(image), library.cupy.empty(image.shape, np.float32)
    return lambda: areal.sat(source, border="none", dtype="float32", out=table), lambda *at: library.cupy.asnumpy(table[at])


def measure(library: Any, device: str, side: int, at_least: float, rounds: int) -> list[dict[str, Any]]:
    image = peers.random_image(np, side, side, np.dtype(np.float32))
    expected = peers.Expected(np, image, np.dtype(np.float32))
    times = []
    for run, at in (prepare(library, image), library.prepare(image, np.dtype(np.float32))):
        times.append(peers.timed(library, run, rounds))
        wrong = expected.difference(at)
        if wrong:
            raise SystemExit(f"{library.name}, {side}x{side}: {wrong}")
    base = {"what": "python", "call": library.name, "backend": "cuda", "device": device, "lane": "32f32f", "width": side, "height": side, "bins": 0,
            "batch": 1, "threads": 0}
    ratio = statistics.median(times[1]) / statistics.median(times[0])
    peer = f"{library.name} {library.version}"
    return [{**base, "algorithm": "areal", "time_us": summary(times[0]), "ratio": round(ratio, 3), "at_least": at_least, "peer": peer,
             "commit": commit()},
            {**base, "algorithm": peer, "time_us": summary(times[1]), "commit": commit()}]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=50, help="timed calls of each side")
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
