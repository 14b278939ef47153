#!/usr/bin/env python3
"""`areal sat` beside numpy's cumsum and scikit-image's integral_image: on the shipped pictures, and on arrays of every type
that .npy holds.

Exits 77 (skipped) with the reason if numpy or the command is missing; without scikit-image, only numpy is compared.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(SKIP)
try:
    from skimage.io import imread
    from skimage.transform import integral_image
except ImportError:
    imread = integral_image = None

TYPES = {"8u": np.uint8, "8s": np.int8, "16u": np.uint16, "16s": np.int16, "32u": np.uint32, "32s": np.int32,
         "64u": np.uint64, "64s": np.int64, "16f": np.float16, "32f": np.float32, "64f": np.float64}
LANES = ["8u32u", "8u32s", "8u64u", "8u64f", "8s32s", "16u32u", "16u64u", "16u64f", "16s32s", "16s64s", "16s64f",
         "32u32u", "32u64u", "32s32s", "32s64s", "16f32f", "32f32f", "32f64f", "64f64f"]


def types_of(lane):
    table = next(name for name in TYPES if lane.endswith(name) and lane[:-len(name)] in TYPES)
    return TYPES[lane[:-len(table)]], TYPES[table]


def cumsum_table(image, dtype, border):
    """The definition, in numpy and in the table's type, so that integers wrap modulo 2^k."""
    table = image.astype(dtype).cumsum(0, dtype=dtype).cumsum(1, dtype=dtype)
    if border == "none":
        return table
    table = np.pad(table, ((1, 0), (1, 0)))
    return table if border == "zero" else table[:-1, :-1]


def difference(ours, theirs, relative):
    """None, or the difference of two tables. `relative` is a fraction of the largest sum of magnitudes; 0 requires equal bits."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{list(ours.shape)} is not {theirs.dtype}{list(theirs.shape)}"
    if relative == 0:
        wrong = ours != theirs
    else:
        wrong = ~(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)) <= relative)
    if not wrong.any():
        return None
    y, x = np.argwhere(wrong)[0]
    return f"{wrong.sum()} elements differ, the first at x {x}, y {y}: {ours[y, x]} is not {theirs[y, x]}"


class Command:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.failures, self.checks = binary, pathlib.Path(folder), [], 0

    def table(self, source, *options):
        out = self.folder / "table.npy"
        out.unlink(missing_ok=True)
        done = subprocess.run([self.binary, "sat", source, "-o", out, "--quiet", *options], capture_output=True,
                              text=True)
        if done.returncode != 0:
            self.failures.append(f"areal sat {source} {' '.join(options)}: exit {done.returncode}: {done.stderr}")
            return None
        return np.load(out)

    def compare(self, what, ours, theirs, relative=0.0):
        self.checks += 1
        if ours is not None and (wrong := difference(ours, theirs, relative)):
            self.failures.append(f"{what}: {wrong}")


def check_arrays(command):
    random = np.random.default_rng(20180423)
    for lane in LANES:
        pixel, dtype = types_of(lane)
        for shape in ((61, 83), (1, 1), (1, 700), (700, 1)):
            if np.issubdtype(pixel, np.floating):
                image = random.standard_normal(shape).astype(pixel)
            else:
                image = random.integers(np.iinfo(pixel).min, np.iinfo(pixel).max, shape, pixel, endpoint=True)
            source = command.folder / "image.npy"
            np.save(source, image)
            bound = 0.0
            if np.issubdtype(pixel, np.floating):  # n eps A, once for each side
                bound = 2 * image.size * float(np.finfo(dtype).eps) * float(np.abs(image.astype(np.float64)).sum())
            for border in ("zero", "none", "exclusive"):
                command.compare(f"{lane} {shape} {border}", command.table(source, "--types", lane, "--border", border),
                                cumsum_table(image, dtype, border), bound)


def check_pictures(command, tree):
    if imread is None:
        print("scikit-image is not installed: the pictures were left out")
        return
    listed = subprocess.run(["git", "-C", tree, "ls-files", "*.png", "*.pgm", "*.tif"], capture_output=True, text=True)
    pictures = [tree / name for name in listed.stdout.split()] or [
        path for folder in ("data", "examples") for path in (tree / folder).rglob("*.png")]
    grey = 0
    for path in pictures:
        image = imread(path)
        if image.ndim != 2 or image.dtype != np.uint8:
            continue  # colour becomes luma by the command's own rounding
        grey += 1
        ours = command.table(path, "--types", "8u64u", "--border", "none")
        command.compare(f"{path.name} and numpy", ours, cumsum_table(image, np.uint64, "none"))
        # scikit-image sums 8-bit images in the platform's unsigned integer or, from 0.20 on, in double.
        command.compare(f"{path.name} and scikit-image", ours, integral_image(image).astype(np.uint64))
    print(f"{grey} grey pictures of {len(pictures)}")


def prove_that_it_can_fail():
    image = np.arange(30, dtype=np.uint8).reshape(5, 6)
    table = cumsum_table(image, np.uint32, "zero")
    assert table[1:, 1:].tolist() == [[int(image[:y, :x].sum()) for x in range(1, 7)] for y in range(1, 6)]
    assert difference(table, table.copy(), 0) is None
    flipped = table.copy()
    flipped[3, 4] ^= 1
    assert difference(table, flipped, 0) and difference(table, flipped, 0.5) and difference(table, table[1:], 0)
    assert difference(np.full((1, 1), np.nan), np.zeros((1, 1)), 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--areal", type=pathlib.Path, help="the command; apps/areal/areal of the build by default")
    args = parser.parse_args()
    prove_that_it_can_fail()
    binary = args.areal or args.build / "apps/areal/areal"
    if not binary.is_file():
        print(f"skipped: {binary} has not been built")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        command = Command(binary, folder)
        check_arrays(command)
        check_pictures(command, args.tree)
    print(f"{command.checks} tables compared")
    for failure in command.failures[:20]:
        print("FAILED:", failure)
    return 1 if command.failures or command.checks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
