#!/usr/bin/env python3
"""Each kind of input that `areal sat` takes has its sums on the page of `areal view`: of each channel, and of the last frame if there are several.
Large pictures, slides, Zarr and chunked tables are in view_large_test and view_table_test."""

import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import numpy as np
from PIL import Image
from view_protocol_test import SEED, ask, connect
from view_server import Server, command_of


def write_series(folder, images):
    """An OME-Zarr with an axis t."""
    array = folder / "0"
    array.mkdir(parents=True)
    (folder / ".zgroup").write_text('{"zarr_format":2}')
    axes = [{"name": name} for name in "tyx"]
    (folder / ".zattrs").write_text(json.dumps({"multiscales": [{"version": "0.4", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 1]}]}]}]}))
    shape = [len(images), *images[0].shape]
    (array / ".zarray").write_text(json.dumps({"zarr_format": 2, "shape": shape, "chunks": [1, *shape[1:]], "dtype": "|u1", "compressor": None, "fill_value": 0, "filters": None, "order": "C", "dimension_separator": "."}))
    for i, image in enumerate(images):
        (array / f"{i}.0.0").write_bytes(image.tobytes())


def check_inputs(command, folder):
    random = np.random.default_rng(SEED)
    gray, colours = random.integers(0, 256, (90, 110), dtype=np.uint8), random.integers(0, 256, (90, 110, 3), dtype=np.uint8)
    for name in ("gray.png", "gray.jpg", "gray.pgm", "strip.tif"):
        Image.fromarray(gray).save(folder / name)
    for name in ("colours.png", "colours.jpg", "colours.ppm", "colours.tif"):
        Image.fromarray(colours).save(folder / name)
    Image.fromarray(gray.astype(np.uint16) * 250).save(folder / "deep.png")
    for name, pixels in {"one": gray, "channels": np.dstack([gray, colours]), "images": random.integers(0, 60000, (4, 90, 110, 2)).astype(np.uint16), "colours": np.stack([colours, 255 - colours]),
                         "floats": np.stack([gray, gray // 2, gray // 3])[..., None].astype(np.float32)}.items():
        np.save(folder / f"{name}.npy", pixels)
    (folder / "raw").write_bytes(gray.tobytes() * 2)
    os.mkfifo(folder / "stream")
    write_series(folder / "series.zarr", [gray, gray // 2, gray // 5])
    box, n = [7, 5, 80, 60], 0
    cases = [(path.name, ()) for path in sorted(folder.iterdir()) if path.name not in ("raw", "stream", "series.zarr")]
    cases += [("raw", ("--raw", "110x180x8u")), ("images.npy", ("--channel", "1")), ("series.zarr", ("--t", "2")), ("synthetic:200x300:5", ()), ("stream", ())]
    for name, options in cases:
        path = name if ":" in name else folder / name

        def feed():
            if name == "stream":  # noqa: B023
                threading.Thread(target=(folder / "stream").write_bytes, args=((folder / "one.npy").read_bytes(),), daemon=True).start()

        def sums(*more):
            feed()
            done = subprocess.run([command, "sat", path, *options, *more, "--region", ",".join(map(str, box))], capture_output=True, text=True, timeout=60, check=True)  # noqa: B023
            return [(row.get("frame", "0"), row["sum"]) for row in csv.DictReader(io.StringIO(done.stdout))]
        wanted = sums(*([] if ":" in name or options[:1] == ("--channel",) else ["--all-channels"]))
        last = wanted[-1][0]
        wanted = [total for frame, total in wanted if frame == last]
        if len(wanted) == 3:  # luma comes first
            wanted.insert(0, next(total for frame, total in sums() if frame == last))
        feed()
        with Server(command, path, *options) as server:
            picture, link = server.picture(), connect(server)
            assert len(picture["channels"]) == len(wanted) and (picture["kind"] == "video") == (last != "0"), (name, picture, wanted)
            if last != "0":
                n += 1
                ask(link, {"do": "seek", "n": n, "frame": int(last)})
            for channel, total in enumerate(wanted):
                while True:
                    n += 1
                    found = ask(link, {"do": "ask", "n": n, "channel": channel, "regions": [[1, *box]], "final": True})
                    if str(found.get("frame", 0)) == last:
                        break
                assert float(found["regions"][0]["sum"]) == float(total), (name, options, channel, found["regions"][0]["sum"], total)
            link.close()
    done = subprocess.run([command, "view", folder / "images.npy", "--channel", "2"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "has 2 channels" in done.stderr and done.stderr.count("\n") == 1, done
    print(f"{len(cases)} inputs have the sums of `areal sat`")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    command = command_of(parser.parse_args().build)
    with tempfile.TemporaryDirectory() as folder:
        check_inputs(command, pathlib.Path(folder))


if __name__ == "__main__":
    main()
