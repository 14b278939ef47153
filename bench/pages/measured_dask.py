"""Tables of Dask arrays, and a thousand workers on paper: the measured part of docs/scaling.md, from the records of bench/python_dask.py."""

import rules
from figure_page import table

PAGE = "docs/scaling.md"
WORKERS = 1000
SIDE = 1 << 21  # of the image on paper
CHUNKS = (4096, 8192, 16384, 32768)
PIXEL, TABLE, SPARE = 1, 8, 64 << 20
RATE = 1000  # tasks a second of a scheduler on a core of its own: Dask's documentation gives about a millisecond a task


def of_part(records, part):
    """The records of single chunks; those of whole images have boxes."""
    return [row for row in records if row["part"] == part and "boxes" not in row]


def median(row):
    return row["time_us"]["median"] / 1e6


def time_text(seconds):
    for unit, size, least in (("h", 3600, 2), ("min", 60, 2), ("s", 1, 1), ("ms", 1e-3, 0)):
        if seconds >= least * size:
            value = seconds / size
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"


def bytes_text(count):
    for unit, bits in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << bits:
            value = count / (1 << bits)
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{count} bytes"


def runs(records):
    rows = [[row["algorithm"], f"{row['width']}²", bytes_text(row["bytes"]), str(row["tasks"]), row["outcome"], time_text(median(row)) + rules.dagger(row),
             time_text(row["cpu_us"] / 1e6) if "cpu_us" in row and not row["restarted"] else "-", bytes_text(row["peak_bytes"]), bytes_text(row["peak_bytes"] - row["idle_bytes"]), bytes_text(row["bound_bytes"]),
             ", ".join(word for word in ("spilled", "paused", "restarted") if row[word]) or "no", f"{row['load']:.1f}"]
            for row in records if "boxes" in row]
    return ["", "One run of each, on two workers of one thread and 1 GiB; the sums of 10,000 boxes were exact in every completed run. "
            "The load is the machine's at the start of the run: other work slows a run down, but does not change its memory. "
            "CPU time is the sum of the workers' and the scheduler's.", "",
            *table(["by", "image", "pixels", "tasks", "outcome", "time", "CPU time", "peak RSS", "above idle", "bound above idle", "spilled, paused, restarted",
                    "load"], rows)] if rows else []


class Constants:
    """The cost of one chunk; times of other chunks scale with their pixels or their sides."""

    def __init__(self, records):
        sums, carry, tables, graph, scheduler, hop = (of_part(records, part)[-1] for part in ("sums", "carry", "table", "graph", "scheduler", "hop"))
        self.chunk = sums["chunk"]
        self.sums, self.table, self.carry = (median(row) for row in (sums, tables, carry))
        self.sums_bytes, self.carry_bytes = sums["bytes"], carry["bytes"]
        self.graph, self.graph_runs = median(graph) / graph["chunks"], rules.dagger(graph)
        self.rate = scheduler["tasks"] / (scheduler["time_us"]["min"] / 1e6)
        self.load = scheduler["load"]
        self.hop = median(hop) / hop["tasks"]

    def long(self, chunk):
        """Mean seconds of a chunk's two long tasks."""
        return (self.sums + self.table) / 2 * (chunk / self.chunk) ** 2

    def fetched(self, chunk):
        """The most bytes that a chunk's tasks receive from other workers: three sums, three carries."""
        return 3 * (self.sums_bytes + self.carry_bytes) * chunk / self.chunk


def list_of(c):
    return ["", f"For a chunk of {c.chunk}² bytes, on one thread:", "",
            *table(["what", "measured"],
                   [["row and column sums", time_text(c.sums)], ["the table with its carry, and its sums again", time_text(c.table)],
                    ["a carry", f"{1e6 * c.carry:.0f} us"], ["bytes of sums, of a carry", f"{bytes_text(c.sums_bytes)}, {bytes_text(c.carry_bytes)}"],
                    ["graph: built and optimized by the client, a chunk", f"{1e6 * c.graph:.0f} us{c.graph_runs}"],
                    [f"scheduler: empty tasks a second, all on these cores, at a load of {c.load:.1f}", f"{c.rate:.0f}"],
                    ["a task that waits for its predecessor", time_text(c.hop)]])]


def paper(c):
    rows = []
    for chunk in CHUNKS:
        along = SIDE // chunk
        chunks, tasks = along**2, 3 * along**2
        compute, scheduled = chunks * 2 * c.long(chunk) / WORKERS, tasks / RATE
        path = 2 * along * (c.carry * chunk / c.chunk + c.hop)
        rows.append([f"{chunk}²", time_text(c.long(chunk)), f"{tasks:,}", time_text(compute), time_text(scheduled), time_text(path), time_text(chunks * c.graph),
                     bytes_text(chunks * c.fetched(chunk)), bytes_text((PIXEL + 2 * TABLE) * chunk**2 + SPARE),
                     "scheduler" if scheduled > compute else "workers"])
    wanted = 1.5 * WORKERS / RATE  # a long task brings half a carry along
    panel = wanted / c.long(c.chunk)
    panels = (SIDE // c.chunk) ** 2 / panel
    return ["", f"**{WORKERS} workers of one thread, an image of {SIDE}² = {bytes_text(SIDE**2 * PIXEL)}, tables of uint64 consumed as they are produced.**", "",
            *table(["chunk", "a long task", "tasks", "workers: time", "scheduler: time", "the carries' path", "graph", "bytes moved", "memory a thread",
                    "the limit"], rows), "",
            f"At {RATE} tasks a second, about what Dask's documentation gives, the scheduler keeps up with {WORKERS} workers if a long task takes {time_text(wanted)} or more, since two long tasks come with "
            f"one carry. That is a panel of {panel:.0f} chunks of {c.chunk}², and {3 * panels:,.0f} tasks instead of "
            f"{3 * (SIDE // c.chunk) ** 2:,}. With one chunk of {c.chunk}² a task, {RATE / 1.5 * c.long(c.chunk):.0f} workers are busy."]


def lines(newest):
    """The last file's record counts: newer runs replace the constants."""
    paths, records = [], []
    for cases in ("dask", "dask-40-GB", "dask-constants"):
        path, found = newest(cases, "cpu-2")
        if found:
            paths.append(f"`bench/results/{path.name}`")
            records += found
    if not records:
        return ["Not measured yet."]
    commits = ", ".join(dict.fromkeys(row["commit"] for row in records))
    made = ["", f"{', '.join(paths)}, commit {commits}, on one {records[0]['device']} with {records[0]['cores']} cores; {rules.statistic([row for row in records if 'time_us' in row])}.", *runs(records)]
    if of_part(records, "sums"):
        c = Constants(records)
        made += [*list_of(c), *paper(c)]
    return [*made, ""]
