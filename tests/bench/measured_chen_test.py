#!/usr/bin/env python3
"""The page of Chen 2018 from planted records: numbers of the right rows, and no claims about missing rows."""

import argparse
import pathlib
import sys
import tempfile

from planted import sat_record

KERNELS = {"scanrow-brlt": ("ScanRowBrlt", "ScanRowBrlt"), "brlt-scanrow": ("BrltScanRow", "BrltScanRow"), "scanrow-column": ("ScanRow", "ScanColumn")}


def record(algorithm, lane, side, median, launches=(), **more):
    one = sat_record(algorithm, lane, side, median, 8.0, **{"shown": "chen", **more})
    if algorithm in ("scanrow-brlt", "scanrow-column"):
        one.setdefault("scan", "kogge-stone")
    if launches:
        one["launches"] = [{"kernel": kernel, "time_us": {"min": t, "median": t, "max": t}} for kernel, t in zip(KERNELS[algorithm], launches)]
    return one


def case(lane, side, scan_scan=60, row_brlt=40, brlt_row=20, column=30, ours=10, **times):
    made = [record("scan-scan", lane, side, scan_scan), record("scanrow-brlt", lane, side, row_brlt, times.get("row_brlt_launches", ())),
            record("brlt-scanrow", lane, side, brlt_row, times.get("brlt_row_launches", ())),
            record("scanrow-column", lane, side, column, times.get("column_launches", ())), record("all-partials", lane, side, ours)]
    if "npp" in times:
        peer = record("npp 13.0.0 nppiIntegral_8u32s_C1R", lane, side, times["npp"], border="zero")
        del peer["floor"], peer["floor_us"]
        made.append(peer)
    return made


def without(records, algorithm, lane, side):
    return [r for r in records if (r["algorithm"], r["lane"], r["width"]) != (algorithm, lane, side)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_chen  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "2030-01-01-cuda-sat-chen.json"

        def page(records, models=()):
            return "\n".join(measured_chen.lines(lambda cases: (path, records) if cases == "sat-chen" and records else
                                                 (path, list(models)) if cases == "model-chen" and models else (None, [])))

        assert page([]) == "Not measured yet."
        assert page([record("brlt-scanrow", "8u32u", 1024, 5, shown="kasagi")]) == "Not measured yet."

        full = case("8u32s", 1024, npp=100) + case("8u32s", 2048, scan_scan=300, brlt_row=50, column=40, ours=50, npp=90)
        text = page(full)
        assert "| 1024x1024 | 8.0 | 60.0 | 100.0 | 40.0 | 20.0 | 30.0 | 10.0 | 3.00 | 5.00 | 6.00 | 10.00 | 2.00 |" in text, text
        assert "over scan-scan: up to 7.5 times (8u32s, 2048x2048), 3.00 to 7.50 over all." in text, text
        assert "Here: up to 5.0 times (8u32s, 1024x1024), 2.25 to 5.00 over all." in text, text
        assert "of 2 cases: `scanrow-brlt` in 1, `brlt-scanrow` in 1, `scanrow-column` in 0." in text, text
        assert "0.80 to 2.00 times as fast, slower at 8u32s 2048x2048." in text, text
        assert "up to 6k. Not measured." in text and "the former's is Not measured." in text, text
        assert "Figure 8 and VI-D: not measured yet." in text and "The model beside measured times: not measured yet." in text, text
        assert ".svg" not in text
        path.with_suffix(".svg").write_text("<svg/>")
        assert "(../../bench/results/2030-01-01-cuda-sat-chen.svg)" in page(full)
        for line in text.splitlines():  # every row has as many cells as its head
            if line.startswith("| size |"):
                cells = line.count("|")
            assert not line.startswith("|") or line.count("|") == cells, line

        # If one of the three was refused, there is no best, and no ratio comes from another size.
        text = page(without(full, "scanrow-column", "8u32s", 2048))
        assert "of 1 cases: " in text and "up to 3.0 times (8u32s, 1024x1024), 3.00 to 3.00 over all" in text, text
        assert "| 2048x2048 | 8.0 | 300.0 | 90.0 | 40.0 | 50.0 |  | 50.0 |  |  | 6.00 | 1.80 |  |" in text, text
        assert "so there is no best, at 8u32s 2048x2048." in text, text
        # No baseline, no NPP, no default.
        text = page(without(full, "scan-scan", "8u32s", 1024))
        assert "| 1024x1024 | 8.0 |  | 100.0 | 40.0 | 20.0 | 30.0 | 10.0 |  | 5.00 |  | 10.00 | 2.00 |" in text, text
        text = page(case("32f32f", 1024))
        assert "NPP |" not in text and "as fast as NPP. Here: Not measured." in text, text
        text = page(without(case("32f32f", 1024), "all-partials", "32f32f", 1024))
        assert "against the best of the three: Not measured." in text, text

        # 64f64f, for which the baseline is faster at the larger size.
        text = page(case("64f64f", 1024) + case("64f64f", 8192, scan_scan=19))
        assert "up to 6k. Here it is not faster at 8192x8192." in text, text
        assert "up to 6k. Here it is faster at every size." in page(case("64f64f", 1024)), text

        # The launches, with Ladner-Fischer's in their own rows.
        launched = case("32f32f", 1024, row_brlt_launches=(20, 22), brlt_row_launches=(9, 11), column_launches=(12, 7))
        slow = record("scanrow-brlt", "32f32f", 1024, 44, (500, 500), scan="ladner-fischer")
        text = page(launched + [slow])
        assert "| 1024x1024 | T(ScanColumn) < T(BrltScanRow) | 7.0 | 10.0 | yes |" in text, text
        assert "| 1024x1024 | 2 T(BrltScanRow) < T(ScanRow) + T(ScanColumn) | 20.0 | 19.0 | no |" in text, text
        assert "| 1024x1024 | T(BrltScanRow) < T(ScanRowBrlt) | 10.0 | 21.0 | yes |" in text, text
        assert "| 1024x1024 | `scanrow-brlt` | ladner-fischer | 500.0 | 500.0 |" in text, text
        assert "to the former's is 1.10 to 1.10 (32f32f)." in text, text
        assert "| 1024x1024 | 8.0 | 60.0 | 40.0 |" in text, text  # the figures are for Kogge-Stone
        text = page(without(launched, "brlt-scanrow", "32f32f", 1024))
        assert "not all launches were measured" in text and "T(BrltScanRow)" not in text, text

        # The model.
        claims = {"ScanColumn < BrltScanRow": True}
        model = {"device": "a device", "width": 4096, "height": 4096,
                 "predictions": [{"by": "throughput, kogge-stone", "bytes": 4, "claims": claims,
                                  "algorithms": {name: {"us": 10.0} for name in KERNELS}}],
                 "measured": {"lanes": [{"lane": "32f32f", "bytes": 4, "scan": "kogge-stone", "algorithms_us": {"brlt-scanrow": 25.0},
                                         "claims": {"ScanColumn < BrltScanRow": False}}]}}
        text = page(launched, [model])
        assert "| 32f32f | kogge-stone | `brlt-scanrow` | 10.0 | 25.0 | 2.5 |" in text and "`scanrow-brlt` | 10.0" not in text, text
        assert "it holds by the model, and does not hold by the measured times." in text, text
        assert "not measured yet" in page(launched, [{"device": "a device", "predictions": []}])
    print("the page of Chen 2018 says what was planted")


if __name__ == "__main__":
    main()
