#!/usr/bin/env python3
"""docs/performance.md from planted records: each table holds the right rows, parts without records are left out, and peers of another file are not
compared."""

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
    import performance  # pylint: disable=import-outside-toplevel
    import rules  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def page(**files):
            for name, records in files.items():
                (folder / f"2030-01-01-{name.replace('_', '-')}.json").write_text(json.dumps(records))
            return performance.page(folder)

        text = page()
        assert "## What to expect" in text and "## Measure your machine" in text and "Not measured yet." in text and "## Tables" not in text, text
        text = page(cuda_sat_sweep=[sweep_case("8u32s", 1024, 512, 1, "zero", {"lookback": 100, "thin": 90}, "lookback"), sweep_case("16u32u", 1024, 512, 1, "zero", {"lookback": 50}, "lookback")])
        assert "| size | 8u32s, border zero |\n" in text and "| 1024x512 | 100 us, 0.80 |" in text and "16u32u" not in text, text
        query = {"what": "region", "width": 64, "height": 32}
        box = {**query, "bins": 32, "batch": 100, "floor": "read boxes"}
        text = page(cuda_boxes=[{**record("box_sums", "32u-64u", 8, 10, 11), **query, "batch": 1000, "floor": "gather"}, {**record("boxes of pixels", "8u-64u", 8, 20, 8), **box},
                                {**record("boxes of a tensor", "8u-64u", 8, 85, 8), **box}, {**record("compact store", "8u-64u", 8, 1, 1), **box}])
        assert "| 64x32 | 100 | 32 | 20.0 us |  | 85.0 us |  |" in text and "| `box_sums` | 64x32 | 1,000 | 10.0 us | 1.10 (a) |" in text and "\n- (a) The floor's kernel" in text, text
        assert "compact store` |" not in text
        cpu = [record("tiles", "8u32s", 64, time, 500, backend="cpu", threads=threads, border="zero") for threads, time in ((1, 1000), (16, 400))]
        text = page(cpu_16_sat=[*cpu, record("opencv 4.6 cv::integral", "8u32s", 64, 900, 500, backend="cpu", threads=1, border="zero")])
        assert "| table, 8u32s, border zero | 64x64 | 1.00 ms |  |  |  | 400 us | 1.25 (a) |" in text and "(notes/cpu-sat.md#" in text, text
        call = {"what": "python", "call": "integral_image", "backend": "cpu", "device": "a CPU", "lane": "8u64u", "width": 8, "height": 4, "threads": 2, "commit": "c0ffee"}
        times = lambda median: {"min": median, "median": median, "max": median, "rounds": 30}  # noqa: E731
        text = page(cpu_2_python_peers=[{**call, "algorithm": "areal", "peer": "skimage 1", "time_us": times(10), "ratio": 1.5, "at_least": 1.8}, {**call, "algorithm": "skimage 1", "time_us": times(15)},
                                        {**call, "call": "rare", "algorithm": "areal", "peer": "skimage 1", "time_us": times(10), "ratio": 1.5, "at_least": 1.8}])
        assert "| integral_image | 8u64u | 8x4 | 10.0 us | skimage 1 | 15.0 us | 1.5 |" in text and "rare" not in text and "Not measured yet." not in text, text
        assert not list(rules.better_than_bounds(text)), text
    print("the performance page holds what was planted")


if __name__ == "__main__":
    main()
