#!/usr/bin/env python3
"""docs/scale.md from planted records: the time of a pixel beyond the smallest image, and of other libraries, also missing or stopped ones."""

import argparse
import pathlib
import sys

COMMON = {"what": "large", "device": "a device", "cores": 2, "commit": "c0ffee"}


def synthetic(side, regions, time, cpu):
    return {"part": "synthetic", "width": side, "bytes": side * side, "regions": regions, "memory": "4G", "time_us": {"min": time, "median": time, "max": 1.25 * time}, "cpu_us": {"median": cpu}, "peak_bytes": 30 << 20, **COMMON}


def step(name, part, time, **more):
    return {"algorithm": name, "part": part, "width": 8000, "bytes": 64 * 10**6, "outcome": "complete", "time_us": {"median": time, "rounds": 30}, "peak_bytes": 3 << 30, "private_bytes": 2 << 30, **COMMON, **more}


LARGE = [synthetic(1000, 1000, 10000.0, 10000.0), synthetic(100000, 1000, 1010000.0, 2010000.0), synthetic(200000, 1000, 4010000.0, 8810000.0),
         synthetic(1000, 7000, 50000.0, 50000.0), synthetic(2000, 7000, 90000.0, 90000.0), synthetic(100000, 7000, 1050000.0, 1050000.0)]
PEERS = [step("peer 1", "table", 2e6, table_bytes=1 << 30), step("peer 1", "boxes", 3e6, answers=10000), step("peer 1", "patches", 4e6, answers=10000),
         step("peer 2", "boxes", 5e6, answers=100), step("peer 2", "patches", 6e6, outcome="stopped after 6 s"),
         {**COMMON, "algorithm": "areal sat --regions, no table", "part": "table", "width": 8000, "outcome": "left out", "needed_bytes": 34 * 10**9}]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_scale  # pylint: disable=import-outside-toplevel

    def page(**records):
        return "\n".join(measured_scale.lines(lambda cases, machine: (pathlib.Path(f"2030-01-01-{machine}-{cases}.json"), records[cases]) if cases in records else (None, [])))

    assert page() == "Not measured yet."
    assert "**Beside" not in page(large=LARGE)
    text = page(**{"large": LARGE, "large-peers": PEERS})
    for part in ("**Up to 40 gigapixels.**", "`bench/results/2030-01-01-cpu-2-large.json`, commit c0ffee, on one a device with 2 cores; medians.",
                 "| 1000² | 0.001 | 1,000 | 10 ms | - | - | 30 MiB |", "| 100000² | 10 | 1,000 | 1.0 s | 0.100 ns | 0.200 ns | 30 MiB |",
                 "| 2000² | 0.004 | 7,000 | 90 ms | - | - |", "| 100000² | 10 | 7,000 | 1.1 s | 0.100 ns | 0.100 ns | 30 MiB |",
                 "the time of a pixel differs by 0% (0.100 to 0.100 ns) and its CPU time differs by 10% (0.200 to 0.220 ns)", "differ by up to 25%.",
                 "| 8000² | peer 1 | 2.0 s | 1.0 GiB | 3.0 s | 4.0 s | 2.0 GiB | 3.0 GiB |",
                 "| 8000² | peer 2 | - | - | 5.0 s (100) | stopped after 6 s | 2.0 GiB | 3.0 GiB |",
                 "| 8000² | `areal sat --regions`, no table | left out: needs 34 GB of disk | - | - | - | - | - |"):
        assert part in text, (part, text)


if __name__ == "__main__":
    main()
