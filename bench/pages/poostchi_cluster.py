"""Figures 16 and 17 of Poostchi 2017 and larger cases, from the records of `areal bench cluster --figure poostchi`, of one GPU
(DATE-cuda-cluster-NAME.json) and of several (DATE-cuda-cluster-2-NAME.json); measured_poostchi.py shows them."""

import targets
from figure_page import number, ratio, size_text, table

NAMES = ("figure-16", "figure-17", "figure-17-large", "down", "answers", "frames", "tiles", "table")
ORDERS = {"bins": "groups of bins", "ring": "whole frames", "pieces": "`TiledHistogram::pieces`", "rows": "`pieces`, rows of tiles",
          "tiles": "`pieces`, rows and columns of tiles", "table": "`TiledSat`, 8u64u"}


class Cluster:
    def __init__(self, newest):
        self.paths, self.one, self.several = [], [], []
        for devices, into in (("", self.one), ("2-", self.several)):
            for name in NAMES:
                path, rows = newest(f"cluster-{devices}{name}")
                found = [row for row in rows if row["what"] == "cluster" and row.get("shown") == "poostchi"]
                if found:
                    self.paths.append(path)
                    into += found

    def __bool__(self):
        return bool(self.paths)

    def rows(self, *parts):
        return [row for row in [*self.one, *self.several] if row["part"] in parts]

    def over_one(self, row):
        """The rate on several GPUs over that on one GPU, from the other file; None for records of one GPU."""
        if row["backend"] != "cuda" or not all(name.startswith("cuda:") for name in row["devices"].split(",")) or "," not in row["devices"]:
            return None
        same = ("part", "algorithm", "order", "width", "height", "bins")
        found = [one for one in self.one if one["backend"] == "cuda" and "," not in one["devices"] and all(one[key] == row[key] for key in same)]
        return found[-1]["time_us"]["median"] / row["time_us"]["median"] if found else None


def case(row):
    return size_text((row["width"], row["height"])), str(row["bins"])


def by(row):
    return ORDERS[row["order"]] if row["algorithm"] == "auto" else f"`{row['algorithm']}`, {ORDERS[row['order']]}"


def second(row):
    return number(ratio(1e6, row["time_us"]["median"]))


def two(value):
    return "" if value is None else f"{value:.2f}"


def fraction(row):
    return f"{row['floor_us'] / row['time_us']['median']:.2f}" if row.get("floor_us") else "-"


def down(c):
    """Tensors to the host: Figure 16, and tensors beyond memory."""
    rows = [[row["devices"], *case(row), by(row), second(row), number(ratio(1e6, row["floor_us"])), fraction(row),
             two(targets.cluster(row)), two(c.over_one(row))]
            for row in c.rows("figure-16", "down", "tiles", "table") if row["algorithm"] != "answers"]
    return ["", "Figure 16 and larger tensors: frames a second, tensors copied to reused page-locked memory, compared with copies alone over all links at once.",
            "", *table(["devices", "size", "bins", "by", "frames/s", "link", "of the link", "target", "over one GPU"], rows)] if rows else []


def speed_ups(c):
    rows, all_rows = [], c.rows("figure-17")
    names = list(dict.fromkeys((row["algorithm"], row["devices"].removeprefix("cpu:")) for row in all_rows if row["backend"] == "cpu"))
    for row in all_rows:
        if row["backend"] == "cpu":
            continue
        cells = []
        for algorithm, threads in names:
            same = [other for other in all_rows if other["backend"] == "cpu" and other["algorithm"] == algorithm and case(other) == case(row)
                    and other["devices"] == f"cpu:{threads}"]
            cells.append(number(ratio(same[-1]["time_us"]["median"], row["time_us"]["median"])) if same else "-")
        rows.append([row["devices"], *case(row), f"`{row['algorithm']}`", *cells])
    return ["", "Figure 17: speed-up over the CPU, both by groups of bins; the tensors are copied to the host. The number after each CPU version "
            "is its threads.", "", *table(["devices", "size", "bins", "algorithm", *(f"`{a}`, {t}" for a, t in names)], rows)] if rows else []


def answers(c):
    rows = [[row["devices"], *case(row), row["part"], number(row["time_us"]["median"] / 1e3),
             number(row["floor_us"] / 1e3), fraction(row), two(targets.cluster(row)), two(c.over_one(row))] for row in c.rows("answers", "tiles") if row["algorithm"] == "answers"]
    return ["", "Histograms of 100 regions from tensors that stay on the devices (`TiledHistogram`; `tiles`: in 2 GiB), in milliseconds, compared with zeroing the same number of bytes.", "",
            *table(["devices", "size", "bins", "", "ms", "memset", "of the memset", "target", "over one GPU"], rows)] if rows else []


def frames(c):
    rows = []
    for name in ("frames", "unequal"):
        found = [row for row in c.rows("frames") if row["algorithm"] == name]
        for row in found:
            alone = [other for other in found if case(other) == case(row) and other["devices"] in row["devices"].split(",")]
            total = sum(1e6 / other["time_us"]["median"] for other in {other["devices"]: other for other in alone}.values())
            several = "," in row["devices"] and len({other["devices"] for other in alone}) == len(row["devices"].split(","))
            rows.append([row["devices"], *case(row), second(row), f"{1e6 / row['time_us']['median'] / total:.2f}" if several else "",
                         two(targets.cluster(row)) if several else "", two(c.over_one(row))])
    return ["", "Frames with 100 boxes each, only answers (`HistogramSequence`): several workers compared with the sum of each alone.", "",
            *table(["workers", "size", "bins", "frames/s", "of the sum", "target", "over one GPU"], rows)] if rows else []


def lines(c):
    if not c:
        return ["Figures 16 and 17: not measured yet."]
    rows = [*c.one, *c.several]
    names = ", ".join(f"`bench/results/{path.name}`" for path in c.paths)
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    devices = ", ".join(dict.fromkeys(row["device"] for row in rows if row["backend"] == "cuda"))
    return [f"Figures 16 and 17: {names}, commit {commits}, {devices}.", *down(c), *speed_ups(c), *answers(c), *frames(c)]
