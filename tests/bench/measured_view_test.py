#!/usr/bin/env python3
"""The measured part of docs/view.md from planted records: the table, and targets that are met and missed."""

import argparse
import pathlib
import sys


def records(name, side, paint, p99, own):
    base = {"what": "view", "input": name, "device": "a device", "cores": 2, "load": 0.5, "beside": "", "commit": "c0ffee", "lane": "8u", "width": side, "height": side, "channels": 1, "memory": "2G"}
    time = {"min": paint, "median": paint, "max": 2 * paint, "rounds": 5}
    drags = [base | {"part": part, "time_us": time, "p50_us": p99 / 2, "p99_us": p99 + more, "updates_per_second": 59.9, "drawn_per_second": 58.4, "private_bytes": own} for part, more in (("first drag", 1000), ("second drag", 0))]
    return [base | {"part": "first paint", "time_us": time}, *drags]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_view  # pylint: disable=import-outside-toplevel

    def page(found):
        return "\n".join(measured_view.lines(lambda cases, machine: (pathlib.Path(f"2030-01-01-{machine}-{cases}.json"), found)))

    assert measured_view.lines(lambda cases, machine: (None, [])) == ["Not measured yet."]
    small, large = records("p.png", 2000, 0.5e6, 3e3, 300 << 20), records("g.npy", 32768, 2e6, 5e3, 400 << 20)
    text = page(small + large)
    for part in ("`bench/results/2030-01-01-cpu-2-view.json`, commit c0ffee, on one a device with 2 cores, `--memory 2G`; medians.", "The load is the machine's at the start.",
                 "| `p.png` | 2000x2000 8u, 1 channel | 0.50 s | 4.0 ms | 1.5 ms | 3.0 ms | 60 | 58 | 300 MiB | 0.5 |",
                 "a p99 below 16 ms at a gigapixel (met); a first paint of the photograph within 1 s (met); memory below `--memory` and 160 MiB (met)."):
        assert part in text, (part, text)
    for found, part in ((small + records("g.npy", 32768, 2e6, 15.5e3, 400 << 20), "(missed by `g.npy`: first drag 16.5 ms)"),
                        (records("p.png", 2000, 1.2e6, 3e3, 1) + large, "(missed by `p.png`: 1.20 s)"),
                        (small + records("g.npy", 32768, 2e6, 5e3, 2300 << 20), "(missed by `g.npy`: 2.2 GiB, `g.npy`: 2.2 GiB)"),
                        ([one | {"beside": "a build"} for one in small], "Beside it ran a build; the load")):
        assert part in page(found), (part, page(found))


if __name__ == "__main__":
    main()
