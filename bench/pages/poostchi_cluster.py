"""Figures 16 and 17 of Poostchi 2017 and larger cases, from the records of `areal bench cluster --figure poostchi`, of one GPU
(DATE-cuda-cluster-NAME.json) and of several (DATE-cuda-cluster-2-NAME.json); measured_poostchi.py shows them."""

import rules
import targets
from figure_page import number, ratio, size_text, table
from records import load

NAMES = ("figure-16", "figure-17", "figure-17-large", "down", "answers", "frames", "tiles", "table")
ORDERS = {"bins": "groups of bins", "ring": "whole frames", "pieces": "`TiledHistogram::pieces`", "rows": "`pieces`, rows of tiles",
          "tiles": "`pieces`, rows and columns of tiles", "table": "`TiledSat`, 8u64u"}
LINK = "The floor of these records is one copy alone, with the start of its threads; a pipeline's copies follow each other. So the floor is not the least time of these copies."


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

    def earlier(self, part):
        """The path and the records of the file of several devices before the one that counts; (None, []) without one."""
        path = next((path for path in self.paths if path.stem.endswith(f"cluster-2-{part}")), None)
        before = [other for other in sorted(path.parent.glob(f"*-cuda-cluster-2-{part}.json")) if other.name < path.name] if path else []
        return (before[-1], load(before[-1])) if before else (None, [])


def case(row):
    return size_text((row["width"], row["height"])), str(row["bins"])


def by(row):
    return ORDERS[row["order"]] if row["algorithm"] == "auto" else f"`{row['algorithm']}`, {ORDERS[row['order']]}"


def second(row):
    return number(ratio(1e6, row["time_us"]["median"])) + rules.dagger(row)


def two(value):
    return "" if value is None else f"{value:.2f}"


def fraction(row):
    return f"{row['floor_us'] / row['time_us']['median']:.2f}" if row.get("floor_us") else "-"


def beyond_link(row, rows):
    """Why the frames are faster than copies alone; None if that is not known."""
    if "rounds" in row["time_us"]:
        return None  # whose floor is of copies that follow each other
    if row["order"] != "ring":
        return LINK
    timed = min(other["frames"] - min(2 * other["slots"], other["frames"] // 2) for other in rows if other["order"] == "ring")
    return (f"As above. The clock of whole frames also starts at a frame's answer, when those in the other {row['slots'] - 1} slots may be done. This makes runs of few frames "
            f"(the shortest times {timed} frames) too fast.")


def down(c):
    """Tensors to the host: Figure 16, and tensors beyond memory."""
    shown, notes, rows = [row for row in c.rows("figure-16", "down", "tiles", "table") if row["algorithm"] != "answers"], rules.Notes(), []
    for row in shown:
        above = beyond_link(row, shown) if row["floor_us"] > row["time_us"]["median"] else None
        if above:
            notes.mark(LINK)  # the first letter
        rows.append([row["devices"], *case(row), by(row), second(row), number(ratio(1e6, row["floor_us"])), fraction(row) + (notes.mark(above) if above else ""),
                     two(targets.cluster(row))])
    return ["", "Figure 16 and larger tensors: frames a second, tensors copied to reused page-locked memory, compared with copies alone over all links at once. Separate runs measured one GPU and two, "
            "so the page has no ratio of these.", "", *table(["devices", "size", "bins", "by", "frames/s", "link", "of the link", "target"], rows), *notes.lines()] if rows else []


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
            cells.append(number(rules.over(same[-1], row)) if same else "-")
        rows.append([row["devices"], *case(row), f"`{row['algorithm']}`", *cells])
    fused = "" if any(algorithm == "fused" for algorithm, _ in names) else " areal's own `fused` was not measured in groups of bins; Figure 19 has it for whole tensors."
    return ["", "Figure 17: speed-up over the CPU, both by groups of bins; the tensors are copied to the host. The number after each CPU version "
            f"is its threads; each speed-up divides two {rules.statistic(all_rows)}.{fused}", "", *table(["devices", "size", "bins", "algorithm", *(f"`{a}`, {t}" for a, t in names)], rows)] if rows else []


def answers(c):
    rows = [[row["devices"], *case(row), row["part"], number(row["time_us"]["median"] / 1e3) + rules.dagger(row),
             number(row["floor_us"] / 1e3), fraction(row), two(targets.cluster(row))] for row in c.rows("answers", "tiles") if row["algorithm"] == "answers"]
    return ["", "Histograms of 100 regions from tensors that stay on the devices (`TiledHistogram`; `tiles`: in 2 GiB), in milliseconds, compared with zeroing the same number of bytes.", "",
            *table(["devices", "size", "bins", "", "ms", "memset", "of the memset", "target"], rows)] if rows else []


def together(row, alone):
    """(rate of several workers over the sum of each alone, that sum)."""
    total = sum(1e6 / other["time_us"]["median"] for other in alone)
    return 1e6 / row["time_us"]["median"] / total, total


def alone_of(row, found):
    """The records of each of the row's workers alone; empty unless all are there."""
    alone = {other["devices"]: other for other in found if other["algorithm"] == row["algorithm"] and case(other) == case(row) and other["devices"] in row["devices"].split(",")}
    return list(alone.values()) if "," in row["devices"] and len(alone) == len(row["devices"].split(",")) else []


def slots_of(row, alone):
    """What the slots of these runs make of the comparison, or None if all had as many."""
    one = max(other["slots"] for other in alone)
    return f"Alone each worker had {one} slots, together they share {row['slots']}, so one of them may have more than alone." if row["slots"] != one else None


def frames_before(c, row):
    """What an earlier run measured of the same."""
    path, records = c.earlier("frames")
    alone = alone_of(row, records)
    if not alone:
        return ""
    words = f" In an earlier run (`bench/results/{path.name}`, single runs), each alone had {' and '.join(second(other).split()[0] for other in alone)} frames/s: this is {together(row, alone)[0]:.2f} of their sum."
    same = next((other for other in records if other["devices"] == row["devices"] and other["algorithm"] == row["algorithm"]), None)
    if same:
        words += f" There both together, in {same['slots']} slots, reached {together(same, alone)[0]:.2f} of it."
    return words


def frames(c):
    rows, notes = [], rules.Notes()
    for name in ("frames", "unequal"):
        found = [row for row in c.rows("frames") if row["algorithm"] == name]
        for row in found:
            alone = alone_of(row, found)
            of_sum = ""
            if alone:
                share, _ = together(row, alone)
                why = f"{slots_of(row, alone) or ''}{frames_before(c, row)}".strip()
                of_sum = f"{share:.2f}" + (notes.mark(why) if why else "")
            rows.append([row["devices"], *case(row), str(row.get("slots", "")), second(row), of_sum, two(targets.cluster(row)) if alone else ""])
    return ["", "Frames with 100 boxes each, only answers (`HistogramSequence`): several workers compared with the sum of each alone.", "",
            *table(["workers", "size", "bins", "slots", "frames/s", "of the sum", "target"], rows), *notes.lines()] if rows else []


def lines(c):
    if not c:
        return ["Figures 16 and 17: not measured yet."]
    rows = [*c.one, *c.several]
    names = ", ".join(f"`bench/results/{path.name}`" for path in c.paths)
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    devices = ", ".join(dict.fromkeys(row["device"] for row in rows if row["backend"] == "cuda"))
    alone = "" if any(row["part"] in ("figure-16", "figure-17") for row in c.several) else " Figures 16 and 17 were measured on one GPU; the paper's have four GeForce GTX 480."
    return [f"Figures 16 and 17: {names}, commit {commits}, {devices}; {rules.statistic(rows)}.{alone}", *down(c), *speed_ups(c), *answers(c), *frames(c)]
