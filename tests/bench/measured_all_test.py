#!/usr/bin/env python3
"""The tables of docs/algorithms/README.md from planted records: ratios, the fastest, and notes on lost or missing cases."""

import argparse
import pathlib
import sys


OURS = ("auto", "lookback", "new")


def record(algorithm, median, lane="8u32u", side=1024, floor=5, **more):
    row = {"what": "sat", "algorithm": algorithm, "device": "a device", "lane": lane, "width": side, "height": side, "bins": 32,
           "time_us": {"median": median, "rounds": 30}, "floor_us": floor, "commit": "c0ffee"}
    if not algorithm.startswith("cub"):
        row["source"] = "areal" if algorithm in OURS else "a paper"
    return row | more


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_all  # pylint: disable=import-outside-toplevel

    def page(records, cases="sat-all"):
        path = pathlib.Path(f"2030-01-01-cuda-{cases}.json")
        return "\n".join(measured_all.lines(lambda name: (path, records) if name == cases else (None, [])))

    assert page([]) == "Not measured yet."
    won = [record("auto", 10), record("lookback", 9), record("1r1w", 20), record("2r1w", 15)]
    text = page(won)
    assert "| `1r1w` | 20.0, 2.00 |" in text and "| `lookback` | 9.0, **0.90** |" in text, text
    assert "| the floor | 5.0, 0.50 |" in text, text
    assert text.endswith("1.50 (8u32u 1024², `2r1w`). The default is faster in every case."), text
    # An unknown algorithm of ours is not a paper's, however fast it is.
    text = page(won + [record("new", 1)])
    assert "| `new` | 1.0, **0.10** |" in text and "1.50 (8u32u 1024², `2r1w`). The default is faster in every case." in text, text
    lost = won + [record("auto", 30, side=4096), record("1r1w", 25, side=4096)]
    text = page(lost)
    assert "**The default is not faster at 8u32u 4096².**" in text and "faster in every" not in text, text
    assert "| `2r1w` | 15.0, 1.50 |  |" in text, text  # it was refused there
    text = page([record("1r1w", 20)])
    assert "Not compared: 8u32u 1024²." in text and "faster in every" not in text, text
    text = page([record("auto", 10), record("wf-tis", 40)], "histogram-all")
    assert "| algorithm | 1024x1024x32 |" in text and "4.00 (1024x1024x32, `wf-tis`)" in text, text
    line = [record("naive", 40, side=1 << 20), record("harris", 15, side=1 << 20), record("cub 2.8.0 one-dimensional scan", 10, side=1 << 20),
            record("naive", 4, side=2048), record("harris", 8, side=2048), record("cub 2.8.0 one-dimensional scan", 5, side=2048)]
    text = page(line, "scan-all")
    assert "| algorithm | 8u32u 1 Mi | 8u32u 2 Ki |" in text and "the ratio to CUB, **bold** where it is below 1." in text, text
    assert "| `naive` | 40.0, 4.00 | 4.0, **0.80** |" in text and "| `cub 2.8.0 one-dimensional scan` | 10.0 | 5.0 |" in text, text
    assert "The time of the fastest of the papers over that of CUB: 1.50 (8u32u 1 Mi, `harris`), 0.80 (8u32u 2 Ki, `naive`). **CUB is not faster at 8u32u 2 Ki.**" in text
    text = page(line[:2], "scan-all")
    assert "| `naive` | 40.0 |" in text and "| the floor | 5.0 |" in text and text.endswith("Not compared: 8u32u 1 Mi."), text
    print("the tables hold what was planted")


if __name__ == "__main__":
    main()
