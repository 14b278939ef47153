#!/usr/bin/env python3
"""`areal view` of pictures that are larger than --memory: answers equal NumPy's, those of a drag are rounded where edges need decoding,
tiles hold the pixels, and the process keeps to its memory. It first proves that a wrong digit is found."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import numpy as np
from view_protocol_test import SEED, ask, connect
from view_server import Server, command_of, differences, expected, scale_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from watched_process import memory_of

MIB = 1 << 20


class Watched:
    """The most bytes of its own that a process holds, without those of mapped files."""

    def __init__(self, pid):
        self.pid, self.most, self.ends = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ends.wait(0.005):
            self.most = max(self.most, memory_of(self.pid)[1])

    def end(self):
        self.ends.set()
        self.thread.join()
        return self.most


def surveyed(link):
    """Waits for the end of the survey; returns the messages about it."""
    seen = []
    while not seen or (seen[-1]["rows"] < seen[-1]["of"] and not seen[-1]["problem"]):
        found = json.loads(link.recv())
        if "survey" in found:
            seen.append(found["survey"])
    return seen


def regions(random, width, height, count):
    found = [[0, 0, width, height], [0, 0, width // 2, height - 1], [width - 1, height - 1, 1, 1]]
    for _ in range(count):
        x, y = int(random.integers(0, width)), int(random.integers(0, height))
        found.append([x, y, int(random.integers(1, width - x + 1)), int(random.integers(1, height - y + 1))])
    return found


def compared(found, pixels, box, picture):
    wanted = expected(pixels, box, picture["bins"], picture["range"])
    wanted["scale"] = scale_of(pixels, box)
    return differences(found, wanted, pixels.dtype.kind == "f"), wanted


def check(command, path, planes, *arguments, decodes, memory):
    """`planes`: the pixels of each channel, in the order of the page."""
    random = np.random.default_rng(SEED)
    with Server(command, path, "--memory", f"{memory // MIB}M", *arguments) as server:
        watched = Watched(server.process.pid)
        picture = server.picture()
        height, width = planes[0].shape
        assert (picture["width"], picture["height"]) == (width, height) and len(picture["channels"]) == len(planes), picture
        is_mapped = str(path) in pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
        assert is_mapped == (pathlib.Path(str(path)).suffix in (".npy", ".raw")), path
        link = connect(server)
        seen = surveyed(link)
        assert seen[-1]["rows"] == seen[-1]["of"] == height and [one["rows"] for one in seen] == sorted(one["rows"] for one in seen), seen
        rounded = planted = 0
        for n, box in enumerate(regions(random, width, height, 8), 1):
            channel = n % len(planes)
            pixels = planes[channel]
            quick = ask(link, {"do": "ask", "n": 2 * n, "channel": channel, "regions": [[7, *box]], "final": False})["regions"][0]
            if "about" in quick:
                rounded += 1
                wrong, _ = compared(quick, pixels, quick["about"], picture)
                assert not wrong, (SEED, path, quick["about"], wrong)
            final = ask(link, {"do": "ask", "n": 2 * n + 1, "channel": channel, "regions": [[7, *box]], "final": True})["regions"][0]
            assert final["id"] == 7 and "about" not in final, final
            wrong, wanted = compared(final, pixels, box, picture)
            assert not wrong, (SEED, path, box, wrong, {key: (final[key], wanted[key]) for key in wrong})
            if final["sum"] is not None and pixels.dtype.kind != "f":  # a planted wrong digit is found
                planted += differences(final | {"sum": str(int(final["sum"]) + 1)}, wanted, False) == ["sum"]
        assert (rounded > 2) == decodes, (path, rounded)
        assert planted == (0 if planes[0].dtype.kind == "f" else 11), planted

        # Tiles of full size hold the pixels; the smallest one is the whole picture.
        if planes[0].dtype == np.uint8:
            tile = np.frombuffer(server.get(f"tile/1/{len(planes) - 1}/0/2/1"), np.uint8, offset=20).reshape(256, 256)
            assert (tile == planes[-1][256:512, 512:768]).all()
        last = server.get(f"tile/1/0/{len(picture['levels']) - 1}/0/0")
        entries = np.frombuffer(last, np.uint8 if last[5] == 0 else np.uint16, offset=20).astype(np.float64)
        scale, offset = np.frombuffer(last, np.float32, 2, offset=12).astype(np.float64)
        mean = float(np.nanmean(planes[0].astype(np.float64)))
        assert abs(entries.mean() * scale + offset - mean) < 0.02 * (float(np.nanmax(planes[0])) - float(np.nanmin(planes[0]))), (entries.mean() * scale + offset, mean)
        assert ask(link, {"do": "set", "n": 900, "name": "fin", "box": [10, 20, 300, 400]})["id"] == 1
        rows = server.get("export/statistics.csv").decode().splitlines()
        assert len(rows) == 1 + len(planes)
        assert server.get("export/picture.png").startswith(b"\x89PNG")
        link.close()
        own = watched.end()
    assert own < memory + 160 * MIB, f"{path}: {own // MIB} MiB, of --memory {memory // MIB} MiB"
    print(f"{pathlib.Path(str(path)).name}: {width}x{height} {picture['type']}, {rounded} of 11 answers rounded, {own // MIB} MiB of its own at --memory {memory // MIB}M")


def stays_on_disk(server):
    """A page hears first of the survey of a picture on disk."""
    link = connect(server)
    link.send(json.dumps({"do": "ask", "n": 1, "regions": []}))
    first = json.loads(link.recv())
    link.close()
    return "survey" in first


def check_place(command, scratch, bytes_, deep):
    """A picture stays on disk if its histograms do not fit beside it, unless it is of bytes and has up to 16 million pixels, has no parts that can be read alone, or needs even more
    memory there."""
    from PIL import Image
    np.save(scratch / "16.npy", np.resize(bytes_, (4096, 4096)))
    np.save(scratch / "17.npy", np.resize(bytes_, (4097, 4096)))
    np.save(scratch / "deep.npy", deep)
    write_zarr(scratch / "deep.zarr", [deep], 1024)
    Image.new("RGB", (4200, 4000)).save(scratch / "17.png")
    for name, memory, on_disk in (("16.npy", "190M", False), ("17.npy", "190M", True), ("17.npy", "400M", False), ("deep.npy", "188M", True), ("deep.npy", "216M", False), ("deep.zarr", "188M", False), ("17.png", "700M", False)):
        with Server(command, scratch / name, "--memory", memory) as server:
            assert stays_on_disk(server) is on_disk, (name, memory)
    check(command, scratch / "deep.npy", [deep], decodes=False, memory=188 * MIB)


def luma(planes):
    red, green, blue = (plane.astype(np.int64) for plane in planes)
    return ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(planes[0].dtype)


def write_zarr(folder, levels, chunk):
    """An OME-Zarr of zlib chunks, one array a level."""
    folder.mkdir()
    (folder / ".zgroup").write_text('{"zarr_format":2}')
    datasets = [{"path": str(i), "coordinateTransformations": [{"type": "scale", "scale": [2 ** i, 2 ** i]}]} for i in range(len(levels))]
    (folder / ".zattrs").write_text(json.dumps({"multiscales": [{"version": "0.4", "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}], "datasets": datasets}]}))
    for i, pixels in enumerate(levels):
        (folder / str(i)).mkdir()
        (folder / str(i) / ".zarray").write_text(json.dumps({"zarr_format": 2, "shape": pixels.shape, "chunks": [chunk, chunk], "dtype": pixels.dtype.str, "compressor": {"id": "zlib", "level": 1},
                                                             "fill_value": 0, "filters": None, "order": "C", "dimension_separator": "."}))
        for y in range(0, pixels.shape[0], chunk):
            for x in range(0, pixels.shape[1], chunk):
                padded = np.zeros((chunk, chunk), pixels.dtype)
                part = pixels[y:y + chunk, x:x + chunk]
                padded[:part.shape[0], :part.shape[1]] = part
                (folder / str(i) / f"{y // chunk}.{x // chunk}").write_bytes(zlib.compress(padded.tobytes(), 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    command = command_of(arguments.build)
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:3300, 0:4100]
    waves = (np.sin(x / 400) * np.cos(y / 550) * 90 + 128 + random.integers(-20, 20, x.shape)).astype(np.uint8)
    deep = waves.astype(np.uint16) * 211 + (x % 7).astype(np.uint16)
    small = 196 * MIB
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        np.save(scratch / "bytes.npy", waves)
        check(command, scratch / "bytes.npy", [waves], decodes=False, memory=176 * MIB)
        check_place(command, scratch, waves, np.ascontiguousarray(deep[:1500, :1500]))
        deep.tofile(scratch / "deep.raw")
        check(command, scratch / "deep.raw", [deep], "--raw", "4100x3300x16u", decodes=False, memory=small)
        (scratch / "deep.raw").unlink()
        real = deep[:3000].astype(np.float32) / 7
        real[100, 200] = np.nan
        np.save(scratch / "real.npy", real)
        check(command, scratch / "real.npy", [real], decodes=False, memory=small)
        levels = [deep, deep[::2, ::2], deep[::4, ::4], deep[::8, ::8]]
        write_zarr(scratch / "cells.zarr", levels, 512)
        check(command, scratch / "cells.zarr", [deep], decodes=True, memory=small)
        try:
            import tifffile
        except ImportError:
            tifffile = None
        if tifffile:
            colours = np.stack([waves, np.roll(waves, 900, 1), 255 - waves], 2)[:3000, :4000]
            tifffile.imwrite(scratch / "slide.tif", colours, tile=(256, 256), compression="zlib", photometric="rgb")
            planes = [np.ascontiguousarray(colours[:, :, c]) for c in range(3)]
            check(command, scratch / "slide.tif", [luma(planes), *planes], decodes=True, memory=small)
        done = subprocess.run([command, "view", scratch / "bytes.npy", "--memory", "161M"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "MiB" in done.stderr and done.stderr.count("\n") == 1, done


if __name__ == "__main__":
    start = time.monotonic()
    main()
    print(f"{time.monotonic() - start:.1f} s")
