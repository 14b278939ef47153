#!/usr/bin/env python3
"""docs/performance.md from planted records: peers stand beside our records wherever they are, numbers below their target are bold, the
newest file counts, and records of unknown kinds do no harm. `report.py --check` tests that the page matches the records."""

import argparse
import json
import pathlib
import sys
import tempfile

from planted import sat_record as record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import performance  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def page(**files):
            for name, records in files.items():
                (folder / f"2030-01-{name[-2:]}-{name[:-2].replace('_', '-')}.json").write_text(json.dumps(records))
            return performance.page(folder)

        assert page().count("Not measured yet.") == 3
        ours = [record("lookback", "32f32f", 1024, 10, 8), record("lookback", "32f32f", 4096, 100, 80)]
        text = page(cuda_sat01=ours)
        assert "| `lookback` | 32f32f | 1024x1024 | 10.0 | copy | 8.0 | 0.80 | 0.75 |" in text, text
        assert "| **0.80** | 0.90 |" in text, text  # the same fraction misses a higher target
        peers = [record("npp 13.0 nppiIntegral", "32f32f", 1024, 55, 8), record("torch 2.11 cumsum twice", "32f", 1024, 70, 8, border=None),
                 record("cupy 14 cumsum", "32f32f", 512, 5, 4), record("cub DeviceScan", "32f32f", 1024, 20, 8, border="zero")]
        text = page(cuda_peers02=peers)  # in a file of their own
        assert "| npp nppiIntegral | torch cumsum twice |\n" in text, text
        assert "| `lookback` | 32f32f | 1024x1024 | 10.0 | copy | 8.0 | 0.80 | 0.75 | 5.50 | 7.00 |" in text, text
        assert "| cupy 14 cumsum | sat | 32f32f | 512x512 | none | 1 | 5.0 |" in text and "| cub DeviceScan | sat | 32f32f | 1024x1024 | zero |" in text, text
        text = page(cuda_sat03=[record("lookback", "32f32f", 1024, 9, 8)])
        assert "2030-01-03-cuda-sat.json" in text and "2030-01-01" not in text, text
        row = {"what": "written", "simt": 100, "ncu": 103, "difference": 0.03, "should_agree": True}
        text = page(cuda_sectors01=[{"what": "sectors", "algorithm": "Lookback", "width": 8, "height": 8, "rows": [row]}],
                    cuda_twin01=[{"what": "twin", "algorithm": "Scan", "elements": 7, "time_us": {"machine": 1, "object": 1, "function": 1}}],
                    cuda_unheard01=[{"what": "something", "algorithm": "else"}])
        assert "| `Lookback` | 8x8 | written | 100 | 103 | **+3.00 %** |" in text and "| `Scan` | 7 | 1.00 | 1.00 | 1.00 |" in text, text
        cpu = record("tiles", "8u32s", 1920, 10, 8, backend="cpu", threads=1)
        cv = record("opencv 4.6 cv::integral", "8u32s", 1920, 12, 8, backend="cpu", threads=1)
        text = page(cpu_2_sat01=[cpu, cv])
        assert "## A CPU of 2 cores" in text and "| **1.20** (target 1.3) |" in text, text
        track = {"what": "track", "backend": "cpu", "lost": 0, "iou": 0.5}
        text = page(cpu_2_track01=[{**track, "algorithm": "fragments", "family": "plain", "must_reach": 0.9},
                                   {**track, "algorithm": "window", "family": "all", "lost": 2}])
        assert "| `fragments` | **0.50** |  |" in text and "| `window` |  | 0.50 (2) |" in text and "| target | 0.90 |  |" in text, text
        assert "### Track" not in text, text  # of a GPU
        assert "## From Python" not in text, text
        call = {"what": "python", "call": "integral", "backend": "cpu", "device": "a CPU", "lane": "8u32s", "width": 8, "height": 4, "threads": 2, "commit": "c0ffee"}
        text = page(cpu_2_python_peers01=[{**call, "algorithm": "areal", "peer": "cv2 5", "time_us": {"median": 10}, "ratio": 1.5, "at_least": 1.8},
                                          {**call, "algorithm": "cv2 5", "time_us": {"median": 15}},
                                          {**call, "call": "integrate", "algorithm": "areal", "peer": "cv2 5", "time_us": {"median": 1}, "ratio": 400.4, "at_least": 200},
                                          {**call, "call": "integrate", "algorithm": "cv2 5", "time_us": {"median": 400.4}}])
        assert "commit c0ffee; a CPU, 2 threads:" in text and "| integral | 8u32s | 8x4 | 10.0 | cv2 5 | 15.0 | **1.50** | 1.8 |" in text, text
        assert "| integrate | 8u32s | 8x4 | 1.0 | cv2 5 | 400.4 | 400 | 200 |" in text, text
    print("the performance page holds what was planted")


if __name__ == "__main__":
    main()
