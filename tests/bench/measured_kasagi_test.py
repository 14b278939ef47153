#!/usr/bin/env python3
"""The measured part of docs/algorithms/kasagi-2014.md from planted records: the table, and answers that claim no more than was
measured. The page states missing, refused and lost rows."""

import argparse
import pathlib
import sys
import tempfile


def record(algorithm, side, ms, backend="cuda", **more):
    row = {"what": "sat", "algorithm": algorithm, "backend": backend, "device": "a device" if backend == "cuda" else "a CPU", "lane": "64f64f",
           "width": side * 1024, "height": side * 1024, "time_us": {"median": 1000 * ms, "rounds": 30}, "shown": "kasagi", "commit": "c0ffee"}
    if backend == "cuda":
        row |= {"floor": "copy", "floor_us": 500.0 * side}
    return row | more


def of_size(side, one=4.0, two=3.0, best=2.0, ours=1.0, cpu=400.0):
    """All rows of a size; the best r is 0.1."""
    rows = [record("2r2w", side, 9), record("4r4w", side, 8), record("4r1w", side, 50), record("2r1w", side, two), record("1r1w", side, one),
            record("hybrid-1r1w", side, best + 0.5, r=0.26), record("hybrid-1r1w", side, best, r=0.1), record("lookback", side, ours)]
    rows += [record("hybrid-1r1w", side, best * times, shown="kasagi-r", r=r) for r, times in ((0.05, 1), (0.1, 0.99), (0.5, 2))]
    if side <= 18:
        rows += [record("2r2w-cpu", side, 2 * cpu, "cpu"), record("4r1w-cpu", side, cpu, "cpu")]
    return rows


def without(rows, *algorithms, side=None):
    return [row for row in rows if row["algorithm"] not in algorithms or (side and row["width"] != side * 1024)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    tree = parser.parse_args().tree
    sys.path.insert(0, str(tree / "bench" / "pages"))
    import measured_kasagi  # pylint: disable=import-outside-toplevel

    assert "<!-- measured:begin -->" in (tree / measured_kasagi.PAGE).read_text()

    def page(records, path=pathlib.Path("2030-01-01-cuda-sat-kasagi.json")):
        return "\n".join(measured_kasagi.lines(lambda name: (path, records) if name == "sat-kasagi" else (None, [])))

    def holds(text, *parts):
        for part in parts:
            assert part in text, f"{part!r} is not in\n{text}"

    assert page([]) == "Not measured yet."
    assert page([record("4r1w-cpu", 1, 5, "cpu")]) == "Not measured yet."

    # The rows are in the paper's order, for any order of the records.
    small, large = of_size(2, two=1.5), of_size(32, one=1.5)
    text = page(large + small)
    holds(text, "64f64f on one a device; `bench/results/2030-01-01-cuda-sat-kasagi.json`, commit c0ffee.", "one thread of a CPU.", "| | 2K | 32K |",
          "| 2R2W | 9.00 | 9.00 |", "| 4R1W | 50.0 | 50.0 |", "| 2R1W | **1.50** | 3.00 |", "| 1R1W | 4.00 | **1.50** |", "| 1.25R1W | 2.50 | 2.50 |",
          "| fastest (1+r)R1W | 2.00 | 2.00 |", "| r | 0.100 | 0.100 |", "| r within 2 % | 0.0500 to 0.100 | 0.0500 to 0.100 |",
          "| 4R1W(CPU) | 400 | - |", "| areal's `auto` at that commit | 1.00 | 1.00 |", "| copy | 1.00 | 16.0 |")
    assert text.index("| 4R4W |") < text.index("| 4R1W |") < text.index("| 2R1W |") < text.index("| 2R2W(CPU) |")
    holds(text, "**The fastest row at each size.** 2K 2R1W, 32K 1R1W.", "Yes, at 32K, the only size.", "32K 0.750 (fastest (1+r)R1W)",
          "over the faster CPU row.** 2K 200.", "2K 1.50, 32K 1.50; 2K to 32K by `lookback`. It is faster at every size.",
          "it falls in 0 of the 1 steps")
    assert "Not compared" not in text and "Within 2 %" not in text and "from 5K on, where" not in text.lower(), text
    assert "![" not in text

    # The conjecture: false, half true, and undecided.
    text = page(of_size(18, one=1.0) + of_size(24) + of_size(64))
    holds(text, "No, at none of the measured sizes.", "24K 2.000 (fastest (1+r)R1W), 64K 2.000", "18K 1R1W, 24K to 64K fastest (1+r)R1W",
          "From 5K on, where the paper has more than 100 (over 4R1W(CPU)), the smallest is 200, at 18K.")
    text = page(of_size(24) + of_size(64, one=1.99))
    holds(text, "At 1 of 2 sizes: 64K.", "Within 2 %, so not decided: 64K.")
    holds(page(of_size(18, one=1.0)), "as the paper conjectures?** Not measured.\n")
    # If a rival was refused, 1R1W does not count as the fastest.
    text = page(without(of_size(64, one=1.0), "hybrid-1r1w"))
    holds(text, "as the paper conjectures?** Not measured. Not compared, as rows are missing: 64K.", "**The best r.** Not measured.",
          "| fastest (1+r)R1W | - |", "| r within 2 % | - |", "**The fastest row at each size.** Not compared, as rows are missing: 64K.")
    assert "Yes" not in text, text
    text = page(of_size(24, one=1.0) + without(of_size(64, one=1.0), "4r4w"))
    holds(text, "Yes, at 24K, the only size.", "Not compared, as rows are missing: 64K.", "Some of the paper's rows are missing at 64K.")

    # The CPU: with one row missing there is no faster of the two.
    text = page(without(of_size(8), "4r1w-cpu") + of_size(16, cpu=20))
    holds(text, "16K 10.0. From 5K on, where the paper has more than 100 (over 4R1W(CPU)), the smallest is 10.0, at 16K.",
          "Not compared, as rows are missing: 8K.")
    holds(page(without(of_size(8), "4r1w-cpu", "2r2w-cpu")), "over the faster CPU row.** Not measured.")

    # The default.
    text = page(of_size(4) + of_size(8, ours=2.5))
    holds(text, "4K 2.00, 8K 0.80;", "**It is not faster at 8K.**")
    assert "faster at every" not in text, text
    holds(page(without(of_size(4), "lookback")), "over the fastest of the paper's rows.** Not measured. Not compared, as rows are missing: 4K.")

    # Type pairs in separate tables, and the picture if there is one.
    text = page(of_size(4) + [row | {"lane": "32f32f"} for row in of_size(4, one=0.5)])
    assert text.count("| | 4K |") == 2, text
    holds(text, "4K fastest (1+r)R1W. In the paper", "4K 1R1W. In the paper")
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "2030-01-01-cuda-sat-kasagi.json"
        path.with_suffix(".svg").write_text("<svg/>")
        holds(page(small, path), "](../../bench/results/2030-01-01-cuda-sat-kasagi.svg)")
    print("the page holds what was planted")


if __name__ == "__main__":
    main()
