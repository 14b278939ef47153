"""Tables over MPI ranks, and a thousand of them on paper: the measured part of docs/scale-mpi.md, from the records of areal-mpi bench."""

import math
import re

from figure_page import table
from measured_dask import bytes_text, time_text

PAGE = "docs/scale-mpi.md"
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
    """Of each number of ranks the last record, from few to many."""
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
    return ["", f"**{scaling.capitalize()} scaling**, {first['lane']}, {first['threads']} thread{'s' * (first['threads'] != 1)} a rank; medians. Efficiency is that of the time beside the first line's.", "",
            *table(["ranks", "image", "sums", "exchange", "table", "all", "efficiency", "alone", "copy", "calls", "bytes handed to MPI"], made)]


class Constants:
    """What a pixel costs a rank, with as many ranks on its machine as were measured; and a message."""

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
        """MPI_Exscan by doubling: rounds of messages with all of a piece, a piece after the other."""
        rounds, count = math.ceil(math.log2(ranks)), width * self.entry
        return rounds * (math.ceil(count / PIECE) * self.latency + count / self.rate)

    def work(self, ranks, width, height):
        rows = math.ceil(height / ranks)
        return rows * width * self.sums, rows * width * self.table


def constants_lines(c):
    return ["", "What the page takes from these records:", "",
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
    return ["", f"**An image of {SIDE}² pixels, {c.lane}, on paper.** A rank costs what it did beside {c.ranks - 1} others; messages are as fast as within the machine, "
            "which a network is not: latency and rate are the two numbers to replace.", "",
            *table(["ranks", "rows of a rank", "sums", "exchange", "table", "all", "messages a rank", "bytes a rank", "share of computing"], made), "",
            f"Computing is {GOOD:.0%} of the time or more up to {last_good:,} ranks (powers of two), with {SIDE // last_good} rows each." if last_good else
            f"Computing is never {GOOD:.0%} of the time."]


def lines(newest):
    for machine in MACHINES:
        path, records = newest("mpi", machine)
        if records:
            break
    else:
        return ["Not measured yet."]
    first = records[0]
    made = ["", f"`bench/results/{path.name}`, commit {', '.join(dict.fromkeys(row['commit'] for row in records))}, {first['mpi']}, on one {first['device']}."]
    for scaling in ("weak", "strong"):
        if rows := times(records, scaling):
            made += scaling_lines(rows, scaling)
    if any(row["what"] == "mpi-message" for row in records) and times(records, "weak"):
        c = Constants(records)
        made += [*constants_lines(c), *paper(c)]
    return [*made, ""]
