"""Tables over MPI ranks, and a thousand of them on paper: the measured part of docs/scale-mpi.md, from the records of areal-mpi bench."""

import math
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "pictures"))
from figure_page import table  # noqa: E402
from measured_dask import bytes_text, time_text  # noqa: E402
from svg import BLUE, DARK, GREY, ORANGE, Svg  # noqa: E402

PAGE = "docs/scale-mpi.md"
PLOT = "docs/pictures/scale/strong.svg"
MACHINES = ("cpu-16", "cpu-2")
SIDE = 1 << 20  # of the image on paper
RANKS = (1, 10, 100, 1000, 10000, 100000)
PIECE = 1 << 20  # bytes of a message
GOOD = 0.9


def median(row):
    return row["time_us"]["median"] / 1e6


def seconds_text(seconds):
    return time_text(seconds) if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"


def times(records, scaling):
    """The last record for each number of ranks, in ascending order."""
    found = {row["ranks"]: row for row in records if row["what"] == "mpi-sat" and row["scaling"] == scaling}
    return [found[ranks] for ranks in sorted(found)]


def scaling_lines(rows, scaling):
    first = rows[0]
    made = []
    for row in rows:
        share = median(first) / median(row)
        if scaling == "strong":
            share *= first["ranks"] / row["ranks"]
        made.append([str(row["ranks"]), f"{row['width']}x{row['height']}", *(seconds_text(row[f"{phase}_us"] / 1e6) for phase in ("sums", "exchange", "table")),
                     seconds_text(median(row)), f"{share:.2f}", seconds_text(row["plain_us"] / 1e6), seconds_text(row["floor_us"] / 1e6),
                     str(row["messages"]), bytes_text(row["sent_bytes"])])
    threads = "" if first.get("backend") == "cuda" else f", {first['threads']} thread{'s' * (first['threads'] != 1)} a rank"
    return ["", f"**{scaling.capitalize()} scaling**, {first['lane']}{threads}; medians. Efficiency is relative to the first line.", "",
            *table(["ranks", "image", "sums", "exchange", "table", "all", "efficiency", "alone", "copy", "calls", "bytes handed to MPI"], made)]


class Constants:
    """The cost of a pixel to a rank, with the most ranks per machine that were measured, and of a message."""

    def __init__(self, records):
        row = times(records, "weak")[-1]
        pixels = row["width"] * row["height"] / row["ranks"]
        self.ranks, self.lane = row["ranks"], row["lane"]
        self.sums, self.table = (row[f"{phase}_us"] / 1e6 / pixels for phase in ("sums", "table"))
        self.entry = int(re.fullmatch(r"\d+[usf](\d+)[usf]", self.lane)[1]) // 8
        messages = {row["bytes"]: median(row) for row in records if row["what"] == "mpi-message"}
        self.latency, long = messages[min(messages)], max(messages)
        self.rate = long / (messages[long] - self.latency)

    def exchange(self, ranks, width):
        """MPI_Exscan by doubling: rounds of messages with a whole piece, piece by piece."""
        rounds, count = math.ceil(math.log2(ranks)), width * self.entry
        return rounds * (math.ceil(count / PIECE) * self.latency + count / self.rate)

    def work(self, ranks, width, height):
        rows = math.ceil(height / ranks)
        return rows * width * self.sums, rows * width * self.table


def constants_lines(c):
    return ["", "Constants from these records:", "",
            *table(["what", "measured"],
                   [[f"sums, a pixel, {c.ranks} ranks at once", f"{1e9 * c.sums:.3f} ns"], [f"table, a pixel, {c.ranks} ranks at once", f"{1e9 * c.table:.3f} ns"],
                    ["the shortest message, one way, within the machine", f"{1e6 * c.latency:.2f} us"], ["a long message", f"{bytes_text(int(c.rate))} a second"]])]


def paper(c):
    made, last_good = [], None
    for ranks in RANKS:
        sums, computed = c.work(ranks, SIDE, SIDE)
        exchange = c.exchange(ranks, SIDE)
        share = (sums + computed) / (sums + computed + exchange)
        rounds = math.ceil(math.log2(ranks))
        made.append([f"{ranks:,}", str(math.ceil(SIDE / ranks)), seconds_text(sums), seconds_text(exchange), seconds_text(computed), seconds_text(sums + exchange + computed),
                     str(rounds * math.ceil(SIDE * c.entry / PIECE)), bytes_text(rounds * SIDE * c.entry), f"{share:.3f}"])
    ranks = 1
    while ranks <= SIDE:
        sums, computed = c.work(ranks, SIDE, SIDE)
        if (sums + computed) / (sums + computed + c.exchange(ranks, SIDE)) >= GOOD:
            last_good = ranks
        ranks *= 2
    return ["", f"**An image of {SIDE}² pixels, {c.lane}, projected.** A rank costs the same as beside {c.ranks - 1} others. Messages are as fast as within the machine; "
            "for a network, replace latency and rate.", "",
            *table(["ranks", "rows of a rank", "sums", "exchange", "table", "all", "messages a rank", "bytes a rank", "share of computing"], made), "",
            f"Computing is {GOOD:.0%} of the time or more up to {last_good:,} ranks (powers of two), with {SIDE // last_good} rows each." if last_good else
            f"Computing is never {GOOD:.0%} of the time."]


def measured(newest):
    for machine in MACHINES:
        path, records = newest("mpi", machine)
        if records:
            return path, records
    return None, []


def device_lines(newest):
    """Ranks with a GPU each: the file with the most GPUs, by gpu-bench's names of files."""
    made = []
    for kind in ("", "-floats"):
        for gpus in (8, 4, 2):
            path, records = newest(f"mpi-{gpus}{kind}", "cuda")
            if not records:
                continue
            first = records[0]
            made += ["", f"A GPU for each rank, strips and tables in its memory: `bench/results/{path.name}`, commit {first['commit']}, {first['mpi']}, {gpus} of {first['device']}."]
            for scaling in ("weak", "strong"):
                if rows := times(records, scaling):
                    made += scaling_lines(rows, scaling)
            break
    return made


def strong_plot(rows):
    """A plot of the speedup over one rank, with logarithmic axes."""
    svg = Svg(460, 330)
    left, right, top, bottom = 60, 430, 44, 280
    last = math.log2(rows[-1]["ranks"])
    across = lambda ranks: left + math.log2(ranks) / last * (right - left)  # noqa: E731
    up = lambda times: bottom - math.log2(times) / last * (bottom - top)  # noqa: E731
    svg.text(left, 22, f"Strong scaling: {rows[0]['width']}x{rows[0]['height']}, {rows[0]['lane']}, one thread a rank", size=13)
    ticks = [row["ranks"] for row in rows]
    svg.lines([(left, up(n), right, up(n)) for n in ticks] + [(across(n), top, across(n), bottom) for n in ticks], "#e3e5e8")
    svg.texts([(left - 8, up(n) + 4, f"{n} x") for n in ticks], anchor="end")
    svg.texts([(across(n), bottom + 18, n) for n in ticks])
    svg.text((left + right) / 2, bottom + 38, "ranks", anchor="middle", size=12)
    curves = [("as many times as ranks", GREY, [(n, n) for n in ticks], "5 3"),
              ("a copy of the bytes that a table moves", ORANGE, [(row["ranks"], rows[0]["floor_us"] / row["floor_us"]) for row in rows], ""),
              ("the table", BLUE, [(row["ranks"], median(rows[0]) / median(row)) for row in rows], "")]
    for k, (name, colour, points, dashes) in enumerate(curves):
        path = "M" + "L".join(f"{across(n):.1f} {up(times):.1f}" for n, times in points)
        svg.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")
        svg.parts.extend(f'<circle cx="{across(n):.1f}" cy="{up(times):.1f}" r="3" fill="{colour}"/>' for n, times in points if not dashes)
        svg.lines([(left + 14, top + 14 + 18 * k, left + 38, top + 14 + 18 * k)], colour, 2)
        svg.text(left + 44, top + 18 + 18 * k, name, fill=DARK)
    return svg.done()


def pictures(newest):
    _, records = measured(newest)
    rows = times(records, "strong")
    return {PLOT: strong_plot(rows)} if len(rows) > 1 else {}


def lines(newest):
    path, records = measured(newest)
    if not records:
        return ["Not measured yet."]
    first = records[0]
    made = ["", f"`bench/results/{path.name}`, commit {', '.join(dict.fromkeys(row['commit'] for row in records))}, {first['mpi']}, on one {first['device']}."]
    for scaling in ("weak", "strong"):
        if rows := times(records, scaling):
            made += scaling_lines(rows, scaling)
            if scaling == "strong" and len(rows) > 1:
                made += ["", f"![How many times as fast as one rank: the table, and a copy, over the ranks]({PLOT.removeprefix('docs/')})"]
    if any(row["what"] == "mpi-message" for row in records) and times(records, "weak"):
        c = Constants(records)
        made += [*constants_lines(c), *paper(c)]
    return [*made, *device_lines(newest), ""]
