#!/usr/bin/env python3
"""The measured part of docs/algorithms/nakano-2013.md from planted records: times beside `umm-optimal`'s and `optimal`'s, and
the page names missing cases instead of making claims about them."""

import argparse
import pathlib
import sys


def record(what, algorithm, width, height, median, **more):
    return {"what": what, "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": "32f32f", "width": width, "height": height,
            "bins": 0, "time_us": {"median": median, "rounds": 30}, "floor": "copy", "floor_us": 4.0, "shown": "all", "commit": "c0ffee", **more}


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_nakano as part  # pylint: disable=import-outside-toplevel

    def page(tables=(), lines=()):
        found = {"sat-all": list(tables), "scan-all": list(lines)}
        return "\n".join(part.lines(lambda cases: (pathlib.Path(f"bench/results/2030-01-01-cuda-{cases}.json"), found[cases])))

    assert page() == "Tables: not measured yet.\n\nSums of a line: not measured yet."
    tables = [record("sat", name, side, side, time) for side, times in ((1024, (60, 30, 20, 12)), (4096, (900, 400, 200, 100)))
              for name, time in zip(("umm-optimal", "4r4w", "2r1w", "auto"), times)] + [record("sat", "1r1w", 1024, 1024, 1)]
    text = page(tables)
    expect(text, "`bench/results/2030-01-01-cuda-sat-all.json`, commit c0ffee, on one a device", "| us | 32f32f 1024x1024 | 32f32f 4096x4096 |",
           "| `umm-optimal`, 10 + 8 | 60.0 | 900 |", "| `4r4w`, 4 + 4 | 30.0, 0.50 | 400, 0.44 |", "| the floor | 4.0 | 4.0 |",
           "over that of `4r4w`: 2.0 to 2.2", "over that of `auto`: 5.0 to 9.0", "Sums of a line: not measured yet.")
    assert "1r1w" not in text and "did not run" not in text, text
    text = page(row for row in tables if (row["algorithm"], row["width"]) != ("4r4w", 4096))
    expect(text, "| `4r4w`, 4 + 4 | 30.0, 0.50 | - |", "over that of `4r4w`: 2.0\n", "no answer: `4r4w` of 32f32f, 4096x4096.")
    big = 1 << 24
    lines = [record("scan", name, n, 1, time, **({"k": min(n, 1 << 20)} if name.startswith("seq") else {})) for n, times in
             ((2048, (5, 6, 8, 3)), (big, (900, 300, 200, 100))) for name, time in zip((*part.LINES, "cub 2.8.0 one-dimensional scan"), times)]
    text = page(lines=lines)
    expect(text, "| us | 32f32f 2 Ki | 32f32f 16 Mi |", "| `naive` | 5.0, 0.83 | 900, 3.00 |", "| `optimal` | 6.0 | 300 |",
           "| `sequential-parallel`, k at most 1 Mi | 8.0, 1.33 | 200, 0.67 |", "| `cub 2.8.0 one-dimensional scan` | 3.0, 0.50 | 100, 0.33 |",
           "over that of `optimal`, with 7: 0.83 to 3.0", "up to 1 Mi elements: 0.83\n", "where the line has several groups: 1.5\n",
           "writes each element once: 1.7 to 2.0")
    text = page(lines=lines[:3])  # one group, no CUB
    expect(text, "| `sequential-parallel` | 8.0, 1.33 |", "several groups: Not measured.", "writes each element once: Not measured.")
    print("the page holds what was planted")


if __name__ == "__main__":
    main()
