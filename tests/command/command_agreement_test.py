#!/usr/bin/env python3
"""The command's ways to one answer agree with sums of the pixels themselves, or refuse with one sentence.

Each test is a fault that was there once: answers by strips that wrapped, a batch of which only the first image was answered, squares of
another run, and the like. It first proves that its comparison finds a wrong digit."""

import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from fractions import Fraction

import numpy as np

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261124"))
warnings.simplefilter("ignore")  # NumPy's, of means of nothing


class Areal:
    def __init__(self, command):
        self.command = command

    def run(self, *arguments, stdin=None):
        return subprocess.run([self.command, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, check=False)

    def rows(self, *arguments, stdin=None):
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return list(csv.DictReader(io.StringIO(done.stdout.decode())))

    def refusal(self, *arguments, code=2):
        """The one sentence of a run that must be refused."""
        done = self.run(*arguments)
        text = done.stderr.decode().strip()
        assert done.returncode == code and not done.stdout and text.startswith("areal: ") and "\n" not in text, (arguments, done)
        return text


def exact(pixels):
    """Sum, mean and standard deviation of integers, without rounding before the last step."""
    values = [int(v) for v in np.asarray(pixels).ravel()]
    n, total = len(values), sum(values)
    variance = Fraction(sum(v * v for v in values), n) - Fraction(total, n) ** 2
    return {"sum": total, "mean": float(Fraction(total, n)), "std": float(variance) ** 0.5}


def close(got, want, bound=1e-9):
    if isinstance(want, int):
        return int(got) == want
    got = float(got)
    if np.isnan(want) or np.isinf(want):
        return (np.isnan(got) and np.isnan(want)) or got == want
    return abs(got - want) <= bound * max(1.0, abs(want))


def expect(rows, wants, bound=1e-9):
    assert len(rows) == len(wants), (len(rows), len(wants))
    for row, want in zip(rows, wants):
        for key, value in want.items():
            assert close(row[key], value, bound), f"{key} is {row[key]}, not {value}: {row}"


def doors(areal, name, *, squares=True):
    """Rows by each way that answers regions of an image of one channel."""
    yield "sat", lambda *a: areal.rows("sat", name, *a)
    yield "strips", lambda *a: areal.rows("sat", name, "--memory", "300M", *a)
    yield "query --picture", lambda *a: areal.rows("query", name, "--picture", *a)

    def saved(*a):
        areal.rows("sat", name, "-o", "door.npy", *(["--squares"] if squares else []))
        return areal.rows("query", "door.npy", *a)

    yield "saved", saved


def test_deviations_of_wide_integers(areal, random):
    """32- and 64-bit integers: squares in 64 bits wrap after a few pixels."""
    arrays = {"issue": (np.arange(12000).reshape(100, 120) * 100000).astype(np.int32)}
    for dtype in (np.uint32, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        arrays[np.dtype(dtype).name] = random.integers(info.min // 1024, info.max // 1024, (23, 31), dtype=dtype, endpoint=True)
    for name, image in arrays.items():
        np.save("wide.npy", image)
        want = exact(image[3:20, 1:30])
        for door, rows in doors(areal, "wide.npy"):
            got = rows("--region", "1,3,29,17", "--stat", "sum,mean,std")
            expect(got, [want], 1e-12 * max(1, (want["mean"] ** 2 + want["std"] ** 2) / want["std"] ** 2)), (name, door)


def test_batches(areal, random):
    """Every image of an .npy of several is answered, or the way refuses."""
    for shape in ((3, 20, 30, 1), (2, 7, 5, 3)):
        batch = random.integers(0, 256, shape).astype(np.uint8)
        np.save("batch.npy", batch)
        rows = areal.rows("sat", "batch.npy", "--all-channels", "--region", "1,2,4,5", "--stat", "sum,mean")
        wants = [{"frame": n, **{k: v for k, v in exact(batch[n, 2:7, 1:5, c]).items() if k != "std"}} for n in range(shape[0]) for c in range(shape[3])]
        expect(rows, wants)
        counts = areal.rows("hist", "batch.npy", "--all-channels", "--bins", 2)
        expect(counts, [{"bin0": int((batch[n, ..., c] < 128).sum())} for n in range(shape[0]) for c in range(shape[3])])
    stream = pathlib.Path("batch.npy").read_bytes()
    assert len(areal.rows("sat", "-", "--channel", 0, "--region", "0,0,1,1", stdin=stream + stream)) == 4
    for way in (["sat", "batch.npy", "-o", "t.npy"], ["sat", "batch.npy", "-o", "t.zarr"], ["window", "batch.npy", "--mean", "--size", "3x3", "-o", "w.npy"],
                ["query", "batch.npy"], ["sat", "batch.npy", "--region", "0,0,1,1", "--memory", "300M"], ["hist", "batch.npy", "--memory", "300M"],
                ["hist", "batch.npy", "--devices", "cpu:1"], ["hist", "batch.npy", "-o", "t.npy"], ["sat", "batch.npy", "--devices", "cpu:1", "-o", "t.npy"]):
        areal.refusal(*way)
        assert not pathlib.Path(way[way.index("-o") + 1] if "-o" in way else "none").exists(), way


def test_companions(areal, random):
    """query refuses companion tables of another run, and finds those of the same run."""
    a, b = (random.integers(0, 256, (30, 40)).astype(np.uint8) for _ in range(2))
    np.save("a.npy", a), np.save("b.npy", b)
    areal.rows("sat", "a.npy", "--squares", "-o", "t.npy")
    areal.rows("sat", "b.npy", "-o", "t.npy")
    assert "squares" in areal.refusal("query", "t.npy", "--stat", "std")
    assert "another run" in areal.refusal("query", "t.npy", "--stat", "std", "--squares", "t.squares.npy")
    areal.rows("sat", "b.npy", "--squares", "-o", "t.npy")
    expect(areal.rows("query", "t.npy", "--region", "1,2,20,10", "--stat", "std"), [{"std": exact(b[2:12, 1:21])["std"]}])
    pathlib.Path("t.squares.npy").unlink()
    areal.refusal("query", "t.npy", "--stat", "std", code=1)
    pathlib.Path("notes.json").write_text('{"mine": 1}')
    assert "notes.json" in areal.refusal("sat", "a.npy", "-o", "notes.npy")
    assert pathlib.Path("notes.json").read_text() == '{"mine": 1}' and not pathlib.Path("notes.npy").exists()


def test_tables_of_valid_pixels(areal, random):
    """A table made with a mask, or without NaN, still is one when it is queried."""
    image = random.random((40, 50)).astype(np.float32)
    image[3, 4] = np.nan
    mask = (random.random((40, 50)) > 0.3).astype(np.uint8)
    np.save("n.npy", image), np.save("mask.npy", mask)
    part = image[:20, :20].astype(float)
    for options, valid in ((["--ignore-nan"], ~np.isnan(part)), (["--mask", "mask.npy", "--ignore-nan"], ~np.isnan(part) & (mask[:20, :20] > 0))):
        want = {"mean": part[valid].mean(), "std": part[valid].std(), "count": int(valid.sum())}
        expect(areal.rows("sat", "n.npy", *options, "--region", "0,0,20,20", "--stat", "mean,std,count"), [want])
        areal.rows("sat", "n.npy", *options, "--squares", "-o", "v.npy")
        expect(areal.rows("query", "v.npy", "--region", "0,0,20,20", "--stat", "mean,std,count"), [want])


def test_nan_and_infinity_stay(areal, random):
    image = (random.random((20, 30)) * 10).astype(np.float32)
    image[5, 7], image[12, 20], image[13, 3] = np.nan, np.inf, -np.inf
    np.save("odd.npy", image)
    regions = [(int(x), int(y), int(random.integers(1, 31 - x)), int(random.integers(1, 21 - y))) for x, y in zip(random.integers(0, 30, 40), random.integers(0, 20, 40))]
    pathlib.Path("r.csv").write_text("\n".join(",".join(map(str, r)) for r in regions))
    wants = [{"sum": p.sum(), "mean": p.mean(), "std": p.std()} for p in (image[y:y + h, x:x + w].astype(float) for x, y, w, h in regions)]
    for way in (["sat", "odd.npy"], ["sat", "odd.npy", "--memory", "300M"], ["query", "odd.npy", "--picture"]):
        expect(areal.rows(*way, "--regions", "r.csv", "--stat", "sum,mean,std"), wants, 1e-5)  # of one pixel, the deviation is rounding
    pads = {"shrink": None, "valid": None, "zero": "constant", "constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}
    functions = {"--sum": np.sum, "--mean": np.mean, "--std": np.std}
    wide = image.astype(float)
    for edge, mode in pads.items():
        beyond = {"constant_values": 2 if edge == "constant" else 0} if mode == "constant" else {}
        padded = np.pad(wide, ((1, 1), (2, 2)), mode=mode, **beyond) if mode else None
        for option, function in functions.items():
            for ignored in ([], ["--ignore-nan"]):
                for memory in ([], ["--memory", "300M"]):
                    areal.rows("window", "odd.npy", option, "--size", "5x3", "--edge", edge, "-o", "w.npy", *(["--value", 2] if edge == "constant" else []), *ignored, *memory)
                    got = np.load("w.npy")
                    for (y, x), value in np.ndenumerate(got):
                        cells = padded[y:y + 3, x:x + 5] if mode else wide[y:y + 3, x:x + 5] if edge == "valid" else wide[max(0, y - 1):y + 2, max(0, x - 2):x + 3]
                        cells = cells[~np.isnan(cells)] if ignored else cells
                        assert close(value, function(cells) if cells.size or option == "--sum" else np.nan, 1e-5), (edge, option, ignored, memory, x, y, value)


def test_wrapped_answers_are_refused(areal, random):
    image = random.integers(60000, 65536, (300, 400)).astype(np.uint16)
    np.save("u16.npy", image), np.save("huge.npy", np.full((4, 5), 2**63, np.uint64))
    small = random.integers(-1000, 1000, (300, 400))
    np.save("small.npy", small)
    whole, part = ["--region", "0,0,400,300", "--stat", "mean"], ["--region", "5,6,100,100", "--stat", "mean"]
    areal.rows("sat", "u16.npy", "--types", "16u32u", "-o", "t.npy")
    for way in (["sat", "u16.npy", "--types", "16u32u"], ["query", "t.npy"]):
        assert "16u64u" in areal.refusal(*way, *whole)
        expect(areal.rows(*way, *part), [{"mean": float(image[6:106, 5:105].mean())}])
    expect(areal.rows("sat", "u16.npy", *whole), [{"mean": float(image.mean())}])
    areal.rows("sat", "huge.npy", "-o", "h.npy")
    for way in (["sat", "huge.npy"], ["sat", "huge.npy", "--memory", "300M"], ["query", "h.npy"]):
        expect(areal.rows(*way, "--region", "0,0,1,1"), [{"sum": 2**63}])
        assert "64f" in areal.refusal(*way, "--region", "0,0,2,1")
    areal.rows("sat", "huge.npy", "--tilted", "--squares=64u", "-o", "h.npy")
    expect(areal.rows("query", "h.tilted.npy", "--region", "2,0,0,0"), [{"tilted": 0}])
    assert "64f" in areal.refusal("query", "h.tilted.npy", "--region", "2,0,1,1")
    assert "64f" in areal.refusal("query", "h.squares.npy", "--region", "0,0,1,1")
    areal.refusal("window", "huge.npy", "--sum", "--size", "3x3", "-o", "w.npy")
    for _, rows in doors(areal, "small.npy"):
        expect(rows("--region", "0,0,400,300", "--stat", "sum,mean,std"), [exact(small)])
    np.save("line.npy", np.full(200000, 65535, np.uint16))
    for types, total in (([], 200000 * 65535), (["--types", "16u32u"], None)):
        assert json.loads(areal.run("scan", "line.npy", *types, "--json").stdout)["sum"] == total
        assert (", sum " in areal.run("scan", "line.npy", *types).stdout.decode()) == (total is not None)
    np.save("count.npy", np.zeros((300, 400), np.uint8))
    assert "32u" in areal.refusal("hist", "count.npy", "--bins", 2, "--counter", "16u", "--backend", "simt")


def test_volumes_of_wide_integers(areal, random):
    """Sums of more than 53 bits have all their digits."""
    for dtype in (np.uint64, np.int64):
        volume = random.integers(0, 2**56, (3, 5, 7)).astype(dtype)
        np.save("volume.npy", volume)
        want = {"sum": sum(int(v) for v in volume[:, 1:4, 2:6].ravel()), "depth": 3}
        for border in ("zero", "none"):
            expect(areal.rows("sat", "volume.npy", "--volume", "--border", border, "--region", "2,1,4,3"), [want])
            areal.rows("sat", "volume.npy", "--volume", "--border", border, "-o", "vt.npy")
            expect(areal.rows("query", "vt.npy", "--region", "2,1,4,3"), [want])


def test_an_output_is_no_input(areal, random):
    image = random.integers(0, 256, (20, 30)).astype(np.uint8)
    np.save("self.npy", image)
    os.symlink("self.npy", "link.npy"), os.link("self.npy", "hard.npy")
    for output in ("self.npy", "link.npy", "hard.npy", "./self.npy"):
        for way in (["sat", "self.npy"], ["hist", "self.npy"], ["window", "self.npy", "--mean", "--size", "3x3"], ["window", "self.npy", "--mean", "--size", "3x3", "--memory", "300M"],
                    ["sat", "other.npy", "--mask", "self.npy"]):
            np.save("other.npy", image)
            assert "input" in areal.refusal(*way, "-o", output), way
    for way in (["sat", "-"], ["hist", "-"], ["window", "-", "--mean", "--size", "3x3"], ["filter", "mean", "-", "--size", "3"]):
        with open("self.npy", "rb") as file:
            done = subprocess.run([areal.command, *way, "-o", "self.npy"], stdin=file, capture_output=True, check=False)
        assert done.returncode == 2 and b"input on standard input" in done.stderr, done
    assert np.array_equal(np.load("self.npy"), image)
    pathlib.Path("in").mkdir()
    for frame in range(3):
        pathlib.Path(f"in/{frame}.pgm").write_bytes(b"P5\n30 20\n255\n" + image.tobytes())
    os.symlink("in/1.pgm", "frame.pgm")
    for output in ("in/2.pgm", "./in/../in/0.pgm", "frame.pgm"):
        assert "is a file of the input in" in areal.refusal("track", "in", "--box", "1,1,9,9", "-o", output)
        assert "is a file of the input in" in areal.refusal("hist", "in", "--region", "1,1,9,9", "--draw", output)
    areal.run("track", "in", "--box", "1,1,9,9", "-o", "in/track.csv"), areal.run("track", "in", "--box", "1,1,9,9", "-o", "in/track.csv")  # no frame
    assert all(pathlib.Path(f"in/{frame}.pgm").read_bytes().endswith(image.tobytes()) for frame in range(3))


def test_clipped_regions_show_what_was_counted(areal, random):
    image = random.integers(0, 256, (30, 40)).astype(np.uint8)
    np.save("c.npy", image)
    want = {"x": 35, "y": 25, "width": 5, "height": 5}
    areal.rows("sat", "c.npy", "-o", "ct.npy")
    for way in (["sat", "c.npy"], ["sat", "c.npy", "--memory", "300M"], ["query", "ct.npy"], ["hist", "c.npy", "--bins", 1], ["hist", "c.npy", "--bins", 1, "--memory", "300M"]):
        areal.refusal(*way, "--region", "35,25,10,10")
        counted = {"bin0": 25} if way[0] == "hist" else {"sum": int(image[25:, 35:].sum())}
        expect(areal.rows(*way, "--region", "35,25,10,10", "--outside", "clip"), [{**want, **counted}])
    pathlib.Path("frames").mkdir()
    for frame in range(2):
        header = b"P5\n40 30\n255\n"
        pathlib.Path(f"frames/{frame}.pgm").write_bytes(header + image.tobytes())
    pathlib.Path("boxes.csv").write_text("frame,id,x,y,width,height\n1,7,35,25,10,10\n")
    areal.refusal("hist", "frames", "--bins", 1, "--boxes", "boxes.csv")
    expect(areal.rows("hist", "frames", "--bins", 1, "--boxes", "boxes.csv", "--outside", "clip"), [{**want, "region": 7, "bin0": 25}])


def test_values_in_no_bin_are_told(areal, random):
    some, none = (random.random((100, 150)) * 3).astype(np.float32), (random.random((100, 150)) + 5).astype(np.float32)
    np.save("some.npy", some), np.save("none.npy", none)
    outside = int((some > 1).sum())
    for way in ([], ["--memory", "300M"], ["-o", "t.npy"], ["-o", "t.npy", "--memory", "300M"], ["--devices", "cpu:1"]):
        assert f"{outside} of 15000 values" in areal.run("hist", "some.npy", "--bins", 2, *way).stderr.decode(), way
        assert not areal.run("hist", "some.npy", "--bins", 2, "-q", *way).stderr, way
        assert b"none of the 15000 values" in areal.run("hist", "none.npy", "--bins", 2, "-q", *way).stderr, way


def test_channels_of_arrays(areal, random):
    four = random.integers(0, 256, (20, 30, 4)).astype(np.uint8)
    np.save("four.npy", four)
    wants = [{"channel": c, "sum": int(four[2:7, 1:5, c].sum())} for c in range(4)]
    for way in (["sat"], ["sat", "--memory", "300M"]):
        expect(areal.rows(way[0], "four.npy", "--all-channels", "--region", "1,2,4,5", *way[1:]), wants)
    assert len(areal.rows("hist", "four.npy", "--all-channels", "--bins", 2)) == 4
    areal.rows("window", "four.npy", "--all-channels", "--mean", "--size", "3x3", "-o", "w.npy")
    assert np.load("w.npy").shape == (20, 30, 4)
    wide = np.full((2, 3, 5), 2**60 + 1, np.int64)
    np.save("wide5.npy", wide)
    expect(areal.rows("sat", "wide5.npy", "--channel", 3, "--region", "0,0,1,1"), [{"sum": 2**60 + 1}])


def test_half_floats_sum_in_double(areal, random):
    image = random.random((300, 400)).astype(np.float16)
    np.save("half.npy", image)
    want = {"sum": image[100:, 100:].astype(float).sum()}
    for door, rows in doors(areal, "half.npy", squares=False):
        expect(rows("--region", "100,100,300,200"), [want], 1e-12), door


def self_test():
    expect([{"sum": "7", "mean": "1.5"}], [{"sum": 7, "mean": 1.5}])
    for row in ({"sum": "8", "mean": "1.5"}, {"sum": "7", "mean": "1.6"}, {"sum": "7", "mean": "nan"}):
        try:
            expect([row], [{"sum": 7, "mean": 1.5}])
        except AssertionError:
            continue
        sys.exit(f"the comparison does not find {row}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    self_test()
    areal = Areal(arguments.build.resolve() / "apps" / "areal" / "areal")
    for name, test in list(globals().items()):
        if not name.startswith("test_") or arguments.only not in name:
            continue
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            try:
                os.chdir(folder)
                test(areal, np.random.default_rng(SEED))
            except AssertionError as error:
                sys.exit(f"{name}, seed {SEED}: {error}")
            finally:
                os.chdir(here)
        print(f"{name}: agrees")


if __name__ == "__main__":
    main()
