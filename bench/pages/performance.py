"""Makes docs/performance.md, which tells users what to expect and how to measure, from the newest records in bench/results/; report.py calls it.
scoreboard.py has all records and the targets. `found` is that of scoreboard.newest."""

import rules
import scoreboard_choices
import sweep_choices
from figure_page import size_text, table
from scoreboard import above_one, is_peer, newest

PAGE = "docs/performance.md"
TABLES = (("8u32s", "none"), ("8u32s", "zero"), ("32f32f", "none"), ("64f64f", "none"), ("8u32u+64u", "none"))
MEDIANS = {"rank store": "build", "medians of a new rank store": "build and medians", "medians of a rank store": "medians alone"}
WAYS = {"boxes of pixels": "from pixels", "boxes of a new compact store": "from a new compact store", "boxes of a tensor": "from a new tensor", "boxes of a compact store": "from a store that is there"}
CPU = "cpu-16"
THREADS = (1, 2, 4, 8, 16)
CALLS = ("cv2.integral, out given", "integral_image", "integrate, 1,000 boxes in arrays", "cumsum twice", "filters.mean 15x15", "filters.min 15x15", "filters.median 5x5", "filters.median 15x15",
         "filters.gaussian, sigma 8", "filters.threshold sauvola 31x31")
HEAD = """# Performance

`bench/pages/report.py` makes this page from the records in `bench/results/`, and a test compares them. The records come from the machines named below. All results
were checked. [The scoreboard](notes/scoreboard.md) has all records, peers and the project's targets.

## What to expect on your machine

A table or tensor reads each pixel once and writes each entry once, and nearly all of its time is this traffic. An estimate:

- **Bytes** = pixels x (bytes of a pixel + bytes of an entry), for a tensor pixels x (bytes of a pixel + bins x bytes of a counter). A table of 4096x4096 bytes with 32-bit
  entries moves 84 MB.
- **Floor** = bytes / the memory's bandwidth. An H200 moves some 4 TB/s, so 84 MB take at least 21 us; in practice a kernel that only moves them takes 25 us.
- **Time** = floor / the fraction in these tables. It falls with the size: below some 2 million pixels a table on a GPU takes 10 to 20 us whatever its size, because threads wait
  for each other. Many small images in one call (`batch`) use the GPU better than many calls.

64-bit entries take about twice the time of 32-bit entries. A copy to or from a GPU's host runs at the link's rate, about 55 GB/s on the machine with the H200, and takes longer
than the table. So keep images, tables and queries on the GPU ([Python](python.md), [C++](device-tables.md))."""
MEASURE = """## Measure your machine

`areal bench` times areal in rounds: each round runs the floor, areal and each library that it finds once, in random order. Python's libraries have rounds of their own, with areal's Python
package. It checks every result. It needs `areal-lab` (`-DAREAL_BENCH=ON`; `./run build` includes it).

```sh
areal bench sat --size 4096x4096 --types 8u32s --border zero --backend cuda     # tables; --backend cpu --threads 8
areal bench histogram --size 1920x1080 --bins 32 --backend cuda                 # tensors
areal bench region --backend cuda                                               # queries of tables, histograms of boxes
areal bench region --table medians                                              # medians of boxes
areal bench filter --size 4096x4096 --backend cuda                              # filters
python3 bench/python_peers.py                                                   # calls of the Python package beside OpenCV, scikit-image and SciPy
```

A row has the least time, the median, the largest, the floor and their ratio; `--json FILE` keeps it with the median's 95 % interval. A time of a program may differ: the first call
also loads kernels and allocates memory, and what ran before decides what the caches hold. Keep a plan and its workspace, and time a call of your own program if it matters.
For a machine with a GPU but without a compiler, `./run gpu-bundle` makes a folder whose `gpu-bench FOLDER readme` repeats the README's numbers in four minutes."""


def duration(microseconds):
    return f"{microseconds:.1f} us" if microseconds < 100 else f"{microseconds:.0f} us" if microseconds < 1000 else f"{microseconds / 1e3:.2f} ms" if microseconds < 1e5 else f"{microseconds / 1e3:.0f} ms"


def source(path, records):
    """What was measured where."""
    devices, commits = (", ".join(dict.fromkeys(row[key] for row in records)) for key in ("device", "commit"))
    return f"{devices}; `bench/results/{path.name}`, commit {commits}; {rules.statistic([row for row in records if 'time_us' in row])}."


def of(found, machine, cases):
    return found.get((machine, cases), (None, []))


def median(row):
    return row["time_us"]["median"]


def tables(found):
    path, cases = of(found, "cuda", "sat-sweep")
    if not cases:
        return []
    cells, wide = {}, 0
    for case, name in zip(cases, scoreboard_choices.present_choices(path, cases)):
        row = sweep_choices.rows_of(case)[name]
        key = case["lane"], case["border"]
        if key in TABLES:
            wide = max(wide, *(abs(end / row["median"] - 1) for end in row["between"]))
            cells[sweep_choices.size_of(case), key] = f"{duration(row['median'])}, {scoreboard_choices.fraction_of(case, name):.2f}"
    sizes = list(dict.fromkeys(size for size, _ in cells))
    shown = [key for key in TABLES if any((size, key) in cells for size in sizes)]
    return ["## Tables on a GPU", "", "Time of one table by `auto`, and the floor's time divided by it, in rounds of random order. `NxMxB` are B images in one call; 8u32u+64u also has the table of squares. "
            f"The 95 % interval of a median is within {100 * wide:.0f} % of it. " + source(path, cases), "",
            *table(["size", *(f"{lane}, border {border}" for lane, border in shown)], [[size, *(cells.get((size, key), "") for key in shown)] for size in sizes]), ""]


def boxes(found):
    path, records = of(found, "cuda", "boxes")
    rows = [row for row in records if row["algorithm"] in WAYS]
    if not rows:
        return []
    cases = list(dict.fromkeys((row["width"], row["height"], row["batch"], row["bins"]) for row in rows))
    lines = []
    for case in cases:
        times = {row["algorithm"]: median(row) for row in rows if (row["width"], row["height"], row["batch"], row["bins"]) == case}
        lines.append([size_text(case[:2]), f"{case[2]:,}", str(case[3]), *(duration(times[way]) if way in times else "" for way in WAYS)])
    return ["## Histograms of boxes on a GPU", "", "Time of all boxes of one image. The first three ways begin with the pixels; the last asks a compact store again. Few boxes are fastest from the pixels, many, or large ones, from a "
            "store. " + source(path, rows), "", *table(["size", "boxes", "bins", *WAYS.values()], lines), ""]


def medians(found):
    path, records = of(found, "cuda", "medians")
    if not records:
        return []
    cases = list(dict.fromkeys((row["width"], row["height"], row["lane"]) for row in records))
    lines = []
    for case in cases:
        times = {row["algorithm"]: duration(median(row)) for row in records if (row["width"], row["height"], row["lane"]) == case}
        lines.append([size_text(case[:2]), case[2].partition("-")[0], *(times.get(way, "") for way in MEDIANS)])
    return ["## Medians of boxes on a GPU", "", f"Exact medians of {records[0]['batch']:,} boxes of any size and place, from a rank store: its build, build and medians, and medians from a store that is there. "
            + source(path, records), "", *table(["size", "pixels", *MEDIANS.values()], lines), ""]


def queries(found):
    path, records = of(found, "cuda", "boxes")
    rows = [row for row in records if row["algorithm"] not in (*WAYS, *MEDIANS, "compact store")]
    if not rows:
        path, records = of(found, "cuda", "region")
        rows = records
    if not rows:
        return []
    notes = rules.Notes()
    lines = []
    for row in rows:
        above = f"{row['fraction']:.2f}" > "1.00" and above_one(row)
        lines.append([f"`{row['algorithm']}`", size_text((row["width"], row["height"])), f"{row['batch']:,}" if row["batch"] > 1 else "every pixel", duration(median(row)),
                      f"{row['fraction']:.2f}" + (notes.mark(above) if above else "")])
    return ["## Queries on a GPU", "", "Time of all queries of one table or tensor in the GPU's memory, and that of a kernel that only makes the same loads divided by it. " + source(path, rows), "",
            *table(["query", "size", "regions", "time", "floor / time"], lines), *notes.lines(), ""]


def on_cpu(found):
    lines, said, notes = [], [], rules.Notes()
    for cases, words, like in (("sat", "table, 8u32s, border zero", {"lane": "8u32s", "border": "zero"}), ("histogram", "tensor of 32 bins", {"algorithm": "fused", "bins": 32})):
        path, records = of(found, CPU, cases)
        rows = [row for row in records if not is_peer(row) and all(row[key] == value for key, value in like.items())]
        if not rows:
            continue
        for size in dict.fromkeys((row["width"], row["height"]) for row in rows):
            by = {row["threads"]: row for row in rows if (row["width"], row["height"]) == size}
            last = by[max(by)]
            above = f"{last['fraction']:.2f}" > "1.00" and above_one(last)
            lines.append([words, size_text(size), *(duration(median(by[threads])) if threads in by else "" for threads in THREADS), f"{last['fraction']:.2f}" + (notes.mark(above.replace("](", "](notes/")) if above else "")])
        said.append(source(path, rows))
    return ["## On a CPU", "", "Time with as many threads, and the floor's time divided by areal's with the most. " + " ".join(said), "",
            *table(["what", "size", *(f"{threads} thread{'s' * (threads > 1)}" for threads in THREADS), "floor / time"], lines), *notes.lines(), ""] if lines else []


def from_python(found):
    path, records = max((value for (machine, cases), value in found.items() if cases == "python-peers" and machine != "cuda"), key=lambda one: one[0].name, default=(None, []))
    peers = {(row["call"], row["lane"], row["width"], row["height"], row["algorithm"]): row for row in records}
    lines = []
    for row in records:
        if row["algorithm"] == "areal" and row["call"] in CALLS:
            peer = peers[row["call"], row["lane"], row["width"], row["height"], row["peer"]]
            lines.append([row["call"], row["lane"], size_text((row["width"], row["height"])), duration(median(row)), row["peer"], duration(median(peer)), f"{rules.over(peer, row):.1f}"])
    return ["## From Python", "", f"Time of a whole call on {records[0]['threads']} threads, and of the call that it replaces. [The scoreboard](notes/scoreboard.md#from-python) has more calls. " + source(path, records), "",
            *table(["call", "types", "size", "areal", "instead of", "time", "times as fast"], lines), ""] if lines else []


def page(results):
    found = newest(results)
    parts = [line for part in (tables, boxes, medians, queries, on_cpu, from_python) for line in part(found)]
    return "\n".join([HEAD, "", *(parts or ["Not measured yet.", ""]), MEASURE]) + "\n"
