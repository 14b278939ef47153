#!/usr/bin/env python3
"""`areal view` of a chunked table: sums and means equal NumPy's, all other numbers are null, and tiles hold the pixels, which are recovered
as differences. It first proves that a wrong digit is found."""

import argparse
import pathlib
import subprocess
import tempfile

import numpy as np
from view_large_test import regions
from view_protocol_test import SEED, ask, connect
from view_server import Server, command_of


def sums_differ(found, pixels, box):
    x, y, width, height = box
    part = pixels[y:y + height, x:x + width].astype(np.int64)
    total = int(part.sum())
    return found["pixels"] != part.size or int(found["sum"]) != total or abs(found["mean"] - total / part.size) > 1e-12 * max(1, total / part.size)


def check(command, scratch, pixels):
    random = np.random.default_rng(SEED)
    name = f"table-{pixels.dtype}.zarr"
    np.save(scratch / "pixels.npy", pixels)
    subprocess.run([command, "sat", scratch / "pixels.npy", "-o", scratch / name, "-q"], check=True, timeout=120)
    height, width = pixels.shape
    with Server(command, scratch / name) as server:
        picture = server.picture()
        assert picture["kind"] == "table" and (picture["width"], picture["height"]) == (width, height) and picture["notes"], picture
        link = connect(server)
        for n, box in enumerate(regions(random, width, height, 12), 1):
            found = ask(link, {"do": "ask", "n": n, "regions": [[5, *box]]})["regions"][0]
            assert not sums_differ(found, pixels, box), (SEED, box, found)
            assert sums_differ(found | {"sum": str(int(found["sum"]) + 1)}, pixels, box), "a planted wrong digit was not found"
            assert found["std"] is found["min"] is found["max"] is None and found["histogram"] == [] and all(value is None for _, value in found["percentiles"]), found
        empty = ask(link, {"do": "ask", "n": 99, "regions": [[5, 0, 0, 0, 0]]})["regions"][0]
        assert empty["sum"] == "0" and empty["mean"] is None, empty
        assert "error" in ask(link, {"do": "ask", "n": 100, "regions": [[5, 0, 0, width + 1, 1]]})
        assert "no histogram" in ask(link, {"do": "range", "n": 101, "range": [0, 9]})["error"]
        def tile(level, column, row):
            bytes_ = server.get(f"tile/1/0/{level}/{column}/{row}")
            wide, high = np.frombuffer(bytes_, np.uint16, 2, offset=8)
            scale, offset = np.frombuffer(bytes_, np.float32, 2, offset=12).astype(np.float64)
            return np.frombuffer(bytes_, np.uint8 if bytes_[5] == 0 else np.uint16, offset=20).reshape(high, wide) * scale + offset
        half = 0.5 if pixels.dtype == np.uint8 else (picture["drawn"][1] - picture["drawn"][0]) / 65534
        black, white = picture["drawn"]
        assert np.abs(tile(0, 1, 2) - np.clip(pixels[512:768, 256:512], black, white)).max() <= half
        means = pixels[:height // 8 * 8, :width // 8 * 8].astype(np.float64).reshape(height // 8, 8, width // 8, 8).mean((1, 3))
        assert np.abs(tile(3, 0, 0)[:height // 8, :width // 8] - np.clip(means, black, white)).max() <= half + 1e-2
        assert ask(link, {"do": "set", "n": 200, "name": "fin", "box": [10, 20, 300, 400]})["id"] == 1
        row = server.get("export/statistics.csv").decode().splitlines()[1].split(",")
        assert str(int(pixels[20:420, 10:310].astype(np.int64).sum())) in row, row
        link.close()
    print(f"{name}: sums and means of {width}x{height} equal NumPy's")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    command = command_of(arguments.build)
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:1300, 0:1700]
    bytes_ = (np.sin(x / 40) * np.cos(y / 55) * 90 + 128 + random.integers(-20, 20, x.shape)).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check(command, scratch, bytes_)
        check(command, scratch, bytes_.astype(np.uint16) * 211)
        table = scratch / "table-uint8.zarr"
        for option, value in (("--channel", "0"), ("--level", "1"), ("--range", "0,9")):
            done = subprocess.run([command, "view", table, option, value], capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 2 and option in done.stderr and done.stderr.count("\n") == 1, done
        (table / "zarr.json").unlink()
        done = subprocess.run([command, "view", table], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done


if __name__ == "__main__":
    main()
