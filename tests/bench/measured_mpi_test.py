#!/usr/bin/env python3
"""docs/scale-mpi.md from planted records: scaling, the constants, and the time of a thousand ranks."""

import argparse
import pathlib
import sys

COMMON = {"device": "a device", "mpi": "An MPI", "commit": "c0ffee"}


def sat(scaling, ranks, height, total, **more):
    return {"what": "mpi-sat", "scaling": scaling, "ranks": ranks, "threads": 1, "lane": "8u32u", "width": 1000, "height": height, "time_us": {"median": total},
            "sums_us": 100.0, "exchange_us": 50.0, "table_us": 400.0, "plain_us": 390.0, "floor_us": 200.0, "messages": ranks, "sent_bytes": 4004 * ranks, **COMMON, **more}


def message(size, median):
    return {"what": "mpi-message", "ranks": 2, "bytes": size, "time_us": {"median": median}, **COMMON}


RECORDS = [sat("weak", 1, 1000, 500.0), sat("strong", 1, 1000, 500.0), sat("weak", 4, 4000, 1.0), sat("weak", 4, 4000, 625.0), sat("strong", 4, 1000, 250.0),
           message(8, 1.0), message(1 << 20, 101.0)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_mpi  # pylint: disable=import-outside-toplevel

    def page(machine, records):
        return "\n".join(measured_mpi.lines(lambda cases, asked: (pathlib.Path(f"2030-01-01-{asked}-{cases}.json"), records) if asked == machine else (None, [])))

    assert page("another", RECORDS) == "Not measured yet."
    assert page("cpu-2", RECORDS) == page("cpu-16", RECORDS).replace("cpu-16", "cpu-2")
    text = page("cpu-16", RECORDS)
    for part in ("`bench/results/2030-01-01-cpu-16-mpi.json`, commit c0ffee, An MPI, on one a device.",
                 "| 4 | 1000x4000 | 100 us | 50 us | 400 us | 625 us | 0.80 | 390 us | 200 us | 4 | 16 KiB |",  # of the last record
                 "| 4 | 1000x1000 | 100 us | 50 us | 400 us | 250 us | 0.50 |",
                 "| sums, a pixel, 4 ranks at once | 0.100 ns |", "| table, a pixel, 4 ranks at once | 0.400 ns |",
                 "| the shortest message, one way, within the machine | 1.00 us |",
                 # 1049 rows of 2^20 pixels at 0.1 and 0.4 ns; 10 rounds of 4 MiB: 4 messages of 1 us, and 100 us a MiB
                 "| 1,000 | 1049 | 110 ms | 4.0 ms | 440 ms | 554 ms | 40 | 40 MiB | 0.993 |",
                 "| 1 | 1048576 | 110 s | 0 us | 7.3 min | 9.2 min | 0 | 0 bytes | 1.000 |",
                 "Computing is 90% of the time or more up to 8,192 ranks (powers of two), with 128 rows each."):
        assert part in text, (part, text)

    # A GPU for each rank, of the most that were measured.
    on_gpus = [dict(row, backend="cuda", device="a GPU") for row in (sat("weak", 1, 1000, 10.0), sat("weak", 2, 2000, 12.5))]
    files = {("mpi", "cpu-16"): RECORDS, ("mpi-2", "cuda"): on_gpus[:1], ("mpi-4", "cuda"): on_gpus, ("mpi-2-floats", "cuda"): on_gpus}
    found = "\n".join(measured_mpi.lines(lambda cases, asked: (pathlib.Path(f"D-{asked}-{cases}.json"), files.get((cases, asked), []))))
    assert found.startswith(text.rstrip().replace("2030-01-01", "D")), found
    for part in ("in its memory: `bench/results/D-cuda-mpi-4.json`, commit c0ffee, An MPI, 4 of a GPU.", "`bench/results/D-cuda-mpi-2-floats.json`",
                 "**Weak scaling**, 8u32u; medians.", "| 2 | 1000x2000 | 100 us | 50 us | 400 us | 12 us | 0.80 |"):
        assert part in found, (part, found)
    assert "D-cuda-mpi-2.json" not in found


if __name__ == "__main__":
    main()
