"""Which store for how many boxes: the measured part of docs/choosing.md, from the records of areal bench region --table stores."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figure_page import table  # noqa: E402
from plot import Panel, svg  # noqa: E402

PAGE = "docs/choosing.md"
PLOT = "docs/pictures/choosing/stores.svg"
WIDTH, HEIGHT, BINS, SIDE = 1920, 1080, 32, 200


def compact_bytes(width, height, bins, block):
    """As src/formulas/compact.hpp, for less than 2^32 pixels and 255 bins."""
    def lines(extent):
        return (extent + block // 2) // block + 1

    padded = (bins + 15) // 16 * 16
    strips = (height + 1) * lines(width) + lines(height) * (width + 1)
    return padded * (4 * lines(height) * lines(width) + 2 * strips) + (height + 3) // 4 * ((width + 31) // 32) * 8 * 16


def rank_bytes(width, height, bits):
    """As src/formulas/rank.hpp, of one channel."""
    def lines(columns):
        return height * columns // 224 + 1

    in_lines = panels = 0
    columns = 1
    while True:
        whole, rest = divmod(width, columns)
        in_lines += whole * lines(columns) + (lines(rest) if rest else 0)
        panels += whole + (rest > 0)
        if columns >= width:
            return bits * (32 * in_lines + 4 * panels)
        columns *= 4


def cases(records, bins, lane):
    """Number of boxes -> store -> milliseconds."""
    return {row["batch"]: {one["algorithm"]: one["median"] / 1e3 for one in row["rows"]} for row in records
            if (row["width"], row["height"], row["bins"], row["lane"], row["part"]) == (WIDTH, HEIGHT, bins, lane, f"{SIDE}x{SIDE}")}


def of_tensors(bins):
    """The stores of histograms, with their bytes."""
    return {"none": 0, "compact": compact_bytes(WIDTH, HEIGHT, bins, 32), "tensor": 4 * bins * WIDTH * HEIGHT}


def questions(records):
    """What is asked, the stores that answer it with their bytes, and their times."""
    return [(f"histograms of {BINS} bins", of_tensors(BINS), cases(records, BINS, "8u-64u")),
            ("medians", {"none": 0, "rank": rank_bytes(WIDTH, HEIGHT, 8)}, cases(records, 0, "8u-64f"))]


def milliseconds(value):
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def lines(newest):
    path, records = newest("stores", "cpu")
    if path is None:
        return []
    made = [f"![Milliseconds of the stores by number of boxes]({PLOT.removeprefix('docs/')})", "",
            f"Milliseconds of {SIDE}x{SIDE} boxes of a {WIDTH}x{HEIGHT} image of 8u, the build of the store included: one thread of {records[0]['device']}, "
            f"medians of rounds in random order; `bench/results/{path.name}`, commit {records[0]['commit']}."]
    for what, stores, times in questions(records):
        counts = sorted(times)
        made += ["", *table([f"{what}, boxes", "memory", *(f"{count:,}" for count in counts)],
                            [[f"`{store}`", f"{size / 1e6:.0f} MB" if size else "0", *(milliseconds(times[count][store]) for count in counts)]
                             for store, size in stores.items()])]
    path, records = newest("boxes", "cpu-2")
    if path is not None:
        rows = {(row["batch"], row["algorithm"].split(" cv::")[-1]): row for row in records if row["bins"] == BINS}
        ways = {"boxes of pixels": "`none`", "boxes of a new compact store": "`compact`", "calcHist a box": "`cv::calcHist` of each box"}
        made += ["", f"The same with two threads, beside OpenCV; `bench/results/{path.name}`, commit {records[0]['commit']}.", "",
                 *table(["boxes", *ways.values()],
                        [[f"{count:,}", *(milliseconds(rows[count, way]["time_us"]["median"] / 1e3) for way in ways)] for count in sorted({count for count, _ in rows})])]
    path, records = newest("stores", "cuda")
    if path is not None:
        stores, times = of_tensors(BINS), cases(records, BINS, "8u-64u")
        counts = sorted(times)
        made += ["", f"Microseconds of the same histograms on one {records[0]['device']}, the image in its memory; `bench/results/{path.name}`, commit {records[0]['commit']}.", "",
                 *table(["boxes", "memory", *(f"{count:,}" for count in counts)],
                        [[f"`{store}`", f"{size / 1e6:.0f} MB" if size else "0", *(f"{1e3 * times[count][store]:,.0f}" for count in counts)] for store, size in stores.items()])]
    return made


def pictures(newest):
    path, records = newest("stores", "cpu")
    if path is None:
        return {}
    panels = []
    for what, stores, times in questions(records):
        counts = sorted(times)
        curves = [(f"{store}, {size / 1e6:.0f} MB", {count: times[count][store] for count in counts}) for store, size in stores.items()]
        panels.append(Panel(f"{what} of {SIDE}x{SIDE} boxes", "boxes", "ms", counts, curves, bound=False))
    return {PLOT: svg(f"Stores of a {WIDTH}x{HEIGHT} image of 8u: time with the build, one thread of {records[0]['device']}", panels)}


assert compact_bytes(1920, 1080, 32, 32) == 10_870_144 and rank_bytes(4096, 4096, 16) == 270_820_160
