#!/usr/bin/env python3
"""docs/notes/scoreboard.md from planted records: peers stand beside our records of the same file, numbers below their target are bold, the
newest record of a case counts, and records of unknown kinds do no harm. `report.py --check` tests that the page matches the records."""

import argparse
import json
import pathlib
import sys
import tempfile

from planted import sat_record as record, sweep_case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import scoreboard  # pylint: disable=import-outside-toplevel
    import scoreboard_choices  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def page(**files):
            for name, records in files.items():
                (folder / f"2030-01-{name[-2:]}-{name[:-2].replace('_', '-')}.json").write_text(json.dumps(records))
            return scoreboard.page(folder)

        assert page().count("Not measured yet.") == 3
        ours = [record("lookback", "32f32f", 1024, 10, 8), record("lookback", "32f32f", 4096, 100, 80), record("lookback", "32f32f", 8192, 100, 80)]
        text = page(cuda_sat01=ours)
        assert "| `lookback` | 32f32f | 1024x1024 | 10.0 | copy | 8.0 | 0.80 | 0.58 / 0.75 |" in text, text
        assert "| 0.80 | 0.80 / 0.90 |" in text and "| **0.80** | 0.90 / 0.95 |" in text, text  # the same fraction misses a higher target
        peers = [record("npp 13.0 nppiIntegral", "32f32f", 1024, 55, 8), record("torch 2.11 cumsum twice", "32f", 1024, 70, 8, border=None),
                 record("cupy 14 cumsum", "32f32f", 512, 5, 4), record("cub DeviceScan", "32f32f", 1024, 20, 8, border="zero")]
        text = page(cuda_peers02=peers)  # in a file of their own: the times of two runs are not compared
        assert "| npp" not in text.partition("### Peers without")[0] and "| npp 13.0 nppiIntegral | sat | 32f32f | 1024x1024 | none | 1 | 55.0 |" in text, text
        text = page(cuda_peers02=[], cuda_sat01=[*ours, *peers])
        assert "| npp nppiIntegral | torch cumsum twice |\n" in text, text
        assert "| `lookback` | 32f32f | 1024x1024 | 10.0 | copy | 8.0 | 0.80 | 0.58 / 0.75 | 5.50 | 7.00 |" in text, text
        assert "| cupy 14 cumsum | sat | 32f32f | 512x512 | none | 1 | 5.0 |" in text and "| cub DeviceScan | sat | 32f32f | 1024x1024 | zero |" in text, text
        own = {**record("torch 2.11 cumsum twice", "32f", 1024, 70, 8, border=None), "areal_us": {"median": 14}}
        assert " | torch cumsum twice |\n" in page(cuda_sat01=[*ours, own]) and "| 0.58 / 0.75 | 5.00 |" in page(), "the ratio to areal's time in the peer's own rounds"
        timed = record("lookback", "32f32f", 1024, 10, 8)
        timed["time_us"]["between"] = [9.5, 10.5]
        text = page(cuda_sat01=[timed, ours[1]])
        assert "| size | us | 95 % | floor |" in text and "| 10.0 | 9.5 to 10.5 | copy |" in text and "| 4096x4096 | 100.0 |  | copy |" in text, text
        text = page(cuda_sat01=[*ours, *peers])
        text = page(cuda_sat02=[*ours[:2], record("cub one-dimensional scan", "32f32f", 1024, 9, 8), record("cub one-dimensional scan", "32f32f", 4096, 101, 80)])
        assert " 0.58 / 0.75 | **0.90** |" in text and " 0.80 / 0.90 | 1.01 |" in text, text
        for row, asked in ((record("lookback", "64f64f", 20000, 1, 1), "0.92"), (record("lookback", "8u32f", 2048, 1, 1, border="zero"), "0.65"), (record("lookback", "8u32u+64u", 1024, 1, 1), "0.45"),
                           (record("lookback", "8u32s", 16384, 1, 1), "0.92 / 0.96"), (record("lookback", "8u32u", 1920, 1, 1, height=1080, batch=8), "0.85"), (record("lookback", "8u32u", 3000, 1, 1), ""),
                           (record("fused", "8u32u", 3840, 1, 1, what="histogram", height=2160, bins=32), "0.92 / 0.96"), (record("fused", "8u16u", 640, 1, 1, what="histogram", height=480, bins=32), "0.85"),
                           (record("region_histograms", "32u-64u", 1920, 1, 1, what="region", height=1080, bins=32, batch=10000), "0.95"),
                           (record("tiles", "8u32s", 4096, 1, 1, backend="cpu", threads=16), "0.90"), (record("sequence", "8u-64u", 768, 1, 1, what="video", backend="cpu", threads=1), "0.90")):
            assert " / ".join(f"{number:.2f}" for number in scoreboard.targets.fractions(row) if number) == asked, (row, asked)
        text = page(cuda_sat03=[record("lookback", "32f32f", 1024, 9, 8)])
        assert "2030-01-03-cuda-sat.json" in text and "| 1024x1024 | 9.0 |" in text and "| 1024x1024 | 10.0 |" not in text, text
        assert "2030-01-01-cuda-sat.json" in text and "| 8192x8192 | 100.0 |" in text, "a case that newer files lack stays"
        text = page(cuda_other04=[record("bands", "32f32f", 1024, 7, 8, border="zero"), record("bands", "32f32f", 8192, 90, 80)])
        assert "| 1024x1024 | 9.0 |" in text and "| `bands` | 32f32f | 1024x1024 | zero | 7.0 |" in text and "| 8192x8192 | 100.0 |" not in text, text  # another border is another case
        named = {"what": "filter", "height": 4096}
        text = page(cuda_filter01=[record("walk mean 3x3", "8u", 4096, 30, 15, **named), record("network median 5x5", "8u", 4096, 85, 18, **named),
                                   record("npp 13 nppiFilterBox mean 3x3", "8u", 4096, 15, 15, **named), record("npp 13 nppiFilterMedian median 5x5", "8u", 4096, 340, 15, **named)])
        assert "| `walk mean 3x3` | 8u | 4096x4096 | 30.0 | copy | 15.0 | **0.50** | 0.60 / 0.75 | **0.50** |" in text, text
        assert "| `network median 5x5` | 8u | 4096x4096 | 85.0 | copy | 18.0 | 0.21 | 0.21 / 0.28 | 4.00 |" in text, text
        text = page(cuda_filter02=[record("direct mean 3x3", "8u", 4096, 20, 15, **named)])
        assert "| `direct mean 3x3` |" in text and "walk mean" not in text and "network median" in text, text  # the kernel may change
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
                                          {**call, "call": "integrate", "algorithm": "cv2 5", "time_us": {"median": 400.4, "between": [399, 402.5]}}])
        assert "commit c0ffee; a CPU, 2 threads:" in text and "| integral | 8u32s | 8x4 | 10.0 | cv2 5 | 15.0 | **1.50** | 1.8 |" in text, text
        assert "| integrate | 8u32s | 8x4 | 1.0 | cv2 5 | 400.4 (399.0 to 402.5) | 400 | 200 |" in text, text
        assert "## What `auto` chooses" not in text and "## What bounds" not in text, text
        kernel = {"kernel": "Lookback", "time_us": 12.34, "dram_read": 1500, "dram_written": 600, "dram_percent": 85.2, "l2_percent": 40, "stalls": {"long_scoreboard": 0.61, "barrier": 0.2}}
        bound = {"what": "bounds", "of": "sat", "algorithm": "lookback", "lane": "8u32u", "width": 1024, "height": 512, "bins": 0, "batch": 1, "border": "zero",
                 "device": "a GPU", "commit": "badc0de", "bytes": 1000}
        text = page(cuda_sat_sweep01=[sweep_case("8u32u", 1024, 512, 1, "zero", {"lookback": 100, "thin": 99}, "lookback"), sweep_case("16u32u", 640, 480, 64, "zero", {"lookback": 100, "bands": 80}, "lookback"),
                                      sweep_case("8u32u", 640, 480, 64, "zero", {"lookback": 105, "thin": 100}, "lookback", spread=4)],
                    cuda_bounds01=[{**bound, "kernels": [kernel, {**kernel, "kernel": "Second", "dram_percent": 59, "stalls": {"news": 1}}]},
                                   {**bound, "of": "histogram", "algorithm": "auto", "bins": 32, "kernels": [{**kernel, "dram_percent": 70}]},
                                   {**bound, "algorithm": "thin", "border": None, "kernels": [{"kernel": "Thin", "time_us": 1, "stalls": {}}]}],
                    cuda_histogram01=[record("reduce-then-scan", "8u32u", 1024, 100, 81, what="histogram", height=512, bins=32, border="zero")])
        assert "Of 3 cases, `auto` is within 3 % of the fastest in 1, indistinguishable from it in 1 more, and slower in 1; it takes at most 1.25 times" in text, text
        assert "| 1024x512 | lookback 0.80 |  |\n| 640x480x64 | lookback 0.76 | **lookback 0.80** (bands, 1.25) |" in text and "Border `zero`:" in text and "Border `none`:" not in text, text
        assert "| sat 8u32u 1024x512 border zero | `lookback` | 0.80 | `Lookback` | 12.3 | 85 | 2.10 | 40 |  |  |  | global memory 61 %, a barrier 20 % | DRAM |" in text, text
        assert "|  |  |  | `Second` | 12.3 | 59 | 2.10 | 40 |  |  |  | news 100 % | waiting for news |" in text, text
        assert "| histogram 8u32u 1024x512 32 bins border zero | `auto` | 0.81 |" in text and "| DRAM, and waiting for global memory |" in text, text
        assert "| sat 8u32u 1024x512 | `thin` |  | `Thin` | 1.0 |  |  |  |  |  |  |  | latency |" in text and "commit badc0de:" in text, text
        # The present choice, if the file of choices is for this record.
        choices = {"8u32u zero 1024x512x1": "thin", "16u32u zero 640x480x64": "bands", "8u32u zero 640x480x64": "lookback"}
        for name, cell in (("2030-01-01-cuda-sat-sweep.json", "bands 1.00"), ("2030-01-02-cuda-sat-sweep.json", "**lookback 0.80** (bands, 1.25)")):
            scoreboard_choices.PRESENT = folder / "choices"
            scoreboard_choices.PRESENT.write_text(json.dumps({"record": name, "choices": choices}))
            text = page()
            assert f"| 1024x512 | {'thin 0.81' if name[9] == '1' else 'lookback 0.80'} |  |\n| 640x480x64 | lookback 0.76 | {cell} |" in text, text
        assert "| sat 8u32u 1024x512 border zero | `lookback` | 0.80 |" in text, text
    print("the scoreboard holds what was planted")


if __name__ == "__main__":
    main()
