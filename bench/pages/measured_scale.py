"""Large images: the measured part of docs/scale.md, from the records of bench/large_image.py and bench/large_peers.py."""

import rules
from figure_page import table
from measured_dask import bytes_text, time_text

PAGE = "docs/scale.md"
MACHINE = "cpu-2"
TITLES = {"boxes": "boxes of any size", "patches": "patches of 256²"}


def median(row):
    return row["time_us"]["median"] / 1e6


def source(path, records):
    commits = ", ".join(dict.fromkeys(row["commit"] for row in records))
    return f"`bench/results/{path.name}`, commit {commits}, on one {records[0]['device']} with {records[0]['cores']} cores; {rules.statistic([row for row in records if 'time_us' in row])}."


def pixels_text(row):
    return f"{row['bytes'] / 1e9:,.0f}" if row["bytes"] >= 1e9 else f"{row['bytes'] / 1e9:.3f}"


def beyond(row, records, key):
    """Nanoseconds per pixel, less the time of as many regions of the smallest image; None if that is most of the time."""
    least = min((other for other in records if other["regions"] == row["regions"]), key=lambda other: other["bytes"])
    more = row[key]["median"] - least[key]["median"]
    return 1e3 * more / (row["bytes"] - least["bytes"]) if more > least[key]["median"] else None


def cell(value):
    return "-" if value is None else f"{value:.3f} ns"


def sizes(path, records):
    ordered = sorted(records, key=lambda row: (row["regions"], row["bytes"]))
    rows = [[f"{row['width']}²", pixels_text(row), f"{row['regions']:,}", time_text(median(row)) + rules.dagger(row), cell(beyond(row, records, "time_us")), cell(beyond(row, records, "cpu_us")), bytes_text(row["peak_bytes"])]
            for row in ordered]
    few = [row for row in ordered if row["regions"] == ordered[0]["regions"]][1:]
    spread = {key: [beyond(row, records, key) for row in few] for key in ("time_us", "cpu_us")}
    noise = max(row["time_us"]["max"] / row["time_us"]["min"] for row in few) - 1
    off = {key: max(values) / min(values) - 1 for key, values in spread.items()}
    verdict = " and ".join(f"{words} differs by {off[key]:.0%} ({min(spread[key]):.3f} to {max(spread[key]):.3f} ns)" for key, words in (("time_us", "the time of a pixel"), ("cpu_us", "its CPU time")))
    return ["", f"**Up to {pixels_text(max(records, key=lambda row: row['bytes']))} gigapixels.** `areal sat synthetic:WxH:1 --regions R.csv --memory {records[0]['memory']}`, from start to end of the process. "
            "areal generates the pixels as it reads them, and every sum was checked against the formula. The smallest image shows the cost of a process and its regions. *A pixel* is the remaining time divided by the pixels; it is omitted if the process and its regions take most of the time. "
            + source(path, records), "", *table(["image", "gigapixels", "regions", "time", "a pixel", "CPU time, a pixel", "peak memory"], rows), "",
            f"Over these sizes, with {few[0]['regions']:,} regions, {verdict}; the target is 5 %. Runs of one case differ by up to {noise:.0%}."]


def beside(path, records):
    made = ["", "**Compared with Dask, NumPy and libvips.** All read one .npy of bytes from the system's cache. Each step is a separate process, timed from start to end, and all sums were checked. "
            "*Table* is the time to make the table, if there is one; the next columns are the sums of 10,000 boxes of any size and of 10,000 patches of 256². libvips has no summed-area table: its users crop and average, which reads the "
            "pixels of each box; it computed only the first 100 boxes of any size. *Private* is the peak of memory without mapped files (sampled every 5 ms); *peak* also counts pages of mapped files, which the system reclaims when needed. " + source(path, records), ""]
    rows = []
    for width in dict.fromkeys(row["width"] for row in records):
        for name in dict.fromkeys(row["algorithm"] for row in records):
            mine = {row["part"]: row for row in records if row["width"] == width and row["algorithm"] == name}
            if not mine:
                continue
            def text(part):
                row = mine.get(part)
                if row is None:
                    return "-"
                if row["outcome"] == "left out":
                    return f"left out: needs {row['needed_bytes'] / 1e9:.0f} GB of disk"
                if row["outcome"] != "complete":
                    return row["outcome"]
                many = f" ({row['answers']})" if row.get("answers", 10_000) != 10_000 else ""
                return time_text(median(row)) + rules.dagger(row) + many
            ran = [row for row in mine.values() if "peak_bytes" in row]
            rows.append([f"{width}²", name.replace("areal sat -o T.zarr, areal query", "`areal sat -o T.zarr`, `areal query`").replace("areal sat --regions", "`areal sat --regions`"),
                         text("table"), bytes_text(mine["table"]["table_bytes"]) if "table_bytes" in mine.get("table", {}) else "-", text("boxes"), text("patches"),
                         bytes_text(max(row["private_bytes"] for row in ran)) if ran else "-", bytes_text(max(row["peak_bytes"] for row in ran)) if ran else "-"])
    return [*made, *table(["image", "by", "table", "on disk", TITLES["boxes"], TITLES["patches"], "private", "peak"], rows)]


def over_gpus(tables, tensors):
    """One table, and one tensor's bins, over two GPUs against one."""
    made = ["", "**One table over two GPUs**, resident, half of the rows on each. One GPU takes its fastest algorithm. Pieces of a spread table have carries, which `bands` does not support, so they use the kernels of tiles. *Of one* is the time of one GPU divided by that of two; the floor is a copy "
            "by both GPUs at once. " + f"`bench/results/{tables[0].name}`, commit {tables[1][0]['commit']}, two {tables[1][0]['device']}.", ""]
    rows = []
    for lane in dict.fromkeys(row["lane"] for row in tables[1]):
        alone, *both = [row for row in tables[1] if row["lane"] == lane]
        for row in (alone, *sorted(both, key=lambda row: row["time_us"]["median"])[:2]):
            rows.append([f"{row['width']}²", lane, row["devices"].replace("cuda:", "").replace(",", " and "), row.get("part", f"`{alone['algorithm']}`").replace("bands of", "column bands of"), f"{row['time_us']['median'] / 1e3:.2f} ms", f"{row['fraction']:.2f}",
                         "" if row is alone else f"{alone['time_us']['median'] / row['time_us']['median']:.2f}"])
    made += table(["image", "types", "GPUs", "cut", "time", "of the floor", "of one"], rows)
    if tensors[1]:
        alone, both = tensors[1][:2]
        made += ["", f"An integral histogram of {alone['width']}² with {alone['bins']} bins: {alone['time_us']['median'] / 1e3:.2f} ms on one, {both['time_us']['median'] / 1e3:.2f} ms on two, {alone['time_us']['median'] / both['time_us']['median']:.2f} times as fast. "
                 f"`bench/results/{tensors[0].name}`, commit {alone['commit']}."]
    return made


def lines(newest):
    made = []
    for cases, part in (("large", sizes), ("large-peers", beside)):
        path, records = newest(cases, MACHINE)
        if records:
            made += part(path, records)
    tables, tensors = newest("spread-2", "cuda"), newest("spread-2-bins", "cuda")
    if tables[1]:
        made += over_gpus(tables, tensors)
    return [*made, ""] if made else ["Not measured yet."]
