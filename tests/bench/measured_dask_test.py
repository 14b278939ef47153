#!/usr/bin/env python3
"""docs/scaling.md from planted records: the constants, the time of a thousand workers, and the least size of a panel."""

import argparse
import pathlib
import sys


def record(part, median, **more):
    return {"what": "dask", "part": part, "device": "a device", "cores": 2, "chunk": 4096, "load": 0.5, "commit": "c0ffee",
            "time_us": {"min": median, "median": median, "max": 2 * median}, **more}


CONSTANTS = [record("sums", 10e3, bytes=32 << 10), record("carry", 100, bytes=64 << 10), record("table", 30e3), record("graph", 1e6, chunks=1000),
             record("scheduler", 2e6, tasks=2000), record("hop", 1e6, tasks=200)]
TABLE = record("table", 90e6) | {"boxes": 10000, "algorithm": "areal.dask", "width": 1000, "bytes": 10**6, "tasks": 7, "outcome": "complete", "exact": True, "cpu_us": 45e6,
                                 "idle_bytes": 100 << 20, "peak_bytes": 300 << 20, "bound_bytes": 400 << 20, "spilled": False, "paused": True, "restarted": False}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_dask  # pylint: disable=import-outside-toplevel

    def page(records):
        def newest(cases, machine):
            return (pathlib.Path(f"2030-01-01-{machine}-{cases}.json"), records[cases]) if cases in records else (None, [])
        return "\n".join(measured_dask.lines(newest))

    assert measured_dask.lines(lambda cases, machine: (None, [])) == ["Not measured yet."]
    text = page({"dask": [*CONSTANTS, TABLE]})
    for part in ("`bench/results/2030-01-01-cpu-2-dask.json`, commit c0ffee, on one a device with 2 cores; medians.",
                 "| areal.dask | 1000² | 977 KiB | 7 | complete | 90 s | 45 s | 300 MiB | 200 MiB | 400 MiB | paused | 0.5 |",
                 "| row and column sums | 10 ms |", "| a carry | 100 us |", "| scheduler: empty tasks a second, all on these cores, at a load of 0.5 | 1000 |",
                 # 512² chunks: 2 · 20 ms of long tasks each, 3 tasks each, 1,024 steps of 5.1 ms, 1 ms of graph, 3 · 96 KiB
                 "| 4096² | 20 ms | 786,432 | 10 s | 13 min | 5.2 s | 4.4 min | 72 GiB | 336 MiB | scheduler |",
                 "| 32768² | 1.3 s | 12,288 | 10 s | 12 s | 742 ms | 4.1 s | 9.0 GiB | 17 GiB | scheduler |",
                 "if a long task takes 1.5 s or more", "a panel of 75 chunks of 4096², and 10,486 tasks instead of 786,432", "With one chunk of 4096² a task, 13 workers are busy."):
        assert part in text, (part, text)
    again = page({"dask": [*CONSTANTS, TABLE], "dask-constants": [record("scheduler", 1e6, tasks=2000)]})
    assert "at a load of 0.5 | 2000 |" in again and "`bench/results/2030-01-01-cpu-2-dask-constants.json`" in again, again


if __name__ == "__main__":
    main()
