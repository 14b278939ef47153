#!/usr/bin/env python3
"""The README's table and plot of planted records: the right record in each row, other libraries next to it, rows and curves that
have no record left out, at most eight rows. That the README holds those of the real records is `report.py --check`."""

import argparse
import pathlib
import re
import sys

from planted import sat_record, sweep_case

sys.dont_write_bytecode = True


def cpu(algorithm, threads, time, **more):
    return sat_record(algorithm, "8u32s", 4096, time, 8, backend="cpu", device="a CPU", threads=threads, **more)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import readme_speed  # pylint: disable=import-outside-toplevel

    def made(**files):
        """machine_cases = records"""
        def newest(cases, machine):
            records = files.get(f"{machine}-{cases}".replace("-", "_"))
            return (pathlib.Path(f"2030-01-01-{machine}-{cases}.json"), records) if records else (None, [])

        return "\n".join(readme_speed.table(newest)), readme_speed.plot(newest)

    text, picture = made()
    assert text == "Not measured yet." and "<path" not in picture

    gpu = [sat_record("npp 13.0 nppiIntegral", "8u32s", 4096, 55, 8, border="zero"),
           sat_record("lookback", "8u32s", 4096, 10, 8, border="zero"), sat_record("lookback", "8u32s", 8192, 40, 32, border="zero"),
           sat_record("cub 3.0 scan", "8u32s", 4096, 12, 8), sat_record("torch 2.11 cumsum twice", "8u32s", 8192, 900, 8)]
    text, picture = made(cuda_sat_border_zero=gpu)
    assert "| table, 8u32s, border zero | a device | 4096x4096 | 10.0 µs | 0.80 | 5.5 | 1.2 |" in text, text
    assert "OpenCV |" not in text and "CuPy |" not in text, "a column of nothing"
    names = re.findall(r'font-size="12">([^<]+)<', picture)
    assert names == ["size of the image, pixels", "areal, GPU", "floor, GPU", "NPP", "CUB scan", "PyTorch"], names

    # Records without rounds timed areal right after its floor: the sweep's times of random order are in a sentence.
    sweep = [sweep_case("8u32s", 4096, 4096, 1, "zero", {"lookback": 16, "relay": 17}, "lookback")]
    assert "random order" not in made(cuda_sat_border_zero=gpu, cuda_sat_sweep=sweep)[0]
    old = {**gpu[1], "time_us": {"min": 9, "median": 10, "max": 11}}
    text, _ = made(cuda_sat_border_zero=[gpu[0], old, *gpu[2:]], cuda_sat_sweep=sweep)
    assert "in rounds of random order, as in a program of several steps, tables of 4096x4096 take 8u32s, border zero, 16.0 µs (5.00) (`2030-01-01-cuda-sat-sweep.json`)." in text, text

    two = [cpu("opencv 4.6 cv::integral", 1, 5000), cpu("tiles", 1, 4000), cpu("tiles", 2, 2500), cpu("opencv 4.6 cv::integral", 2, 6000)]
    text, picture = made(cpu_2_sat=two)
    assert "| table, 8u32s, border zero | CPU, 2 threads | 4096x4096 | 2.50 ms | 0.00 | 2.4 |" in text, text
    assert "areal, CPU, 2 threads" in picture and "OpenCV, CPU" in picture and "16 threads" not in picture + text
    sixteen = [cpu("tiles", 1, 4000), cpu("tiles", 16, 500)]
    text, picture = made(cpu_2_sat=two, cpu_16_sat=sixteen)
    assert "| CPU, 16 threads | 4096x4096 | 500.0 µs |" in text and "areal, CPU, 16 threads" in picture, text
    assert text.count("| table, 8u32s, border zero | CPU") == 2, text
    region = sat_record("region_sums", "32u-64u", 8192, 100, 99, what="region", batch=1000000)
    text, _ = made(cuda_boxes=[region])
    assert "| sums of 1,000,000 regions | a device | 8192x8192 | 100.0 µs | 0.99 |" in text, text
    region["time_us"]["between"] = [98.5, 1001]
    text, _ = made(cuda_boxes=[region])
    assert "| 8192x8192 | 100.0 µs (98.5 µs to 1.00 ms) | 0.99 |" in text, text
    assert len(readme_speed.ROWS) <= 8
    places = readme_speed.apart([10, 11, 12, 300], 16)
    assert all(b - a > 15.5 for a, b in zip(places, places[1:])) and abs(sum(places[:3]) - 33) < 1, places
    print("the README's table and plot hold what was planted")


if __name__ == "__main__":
    main()
