"""Makes docs/notes/scoreboard.md from the newest records in bench/results/; report.py calls it.

A file is DATE-MACHINE-CASES.json (a letter after the date tells runs of one day apart). Of tables, histograms, regions and filters the newest record of each
case on each MACHINE counts, of other subjects the newest file of each MACHINE and CASES. A record with an algorithm named after
another library is a peer. It stands beside areal's record of the same case in the same file: times of two runs are not compared.
"""

import re

import scoreboard_choices
import scoreboard_python
import rules
import targets
from records import load

PAGE = "docs/notes/scoreboard.md"
PEERS = ("npp", "cub", "torch", "pytorch", "cupy", "opencv", "numpy", "skimage")
NAME = re.compile(r"(\d{4}-\d\d-\d\d[a-z]?)-(cpu-\d+|cuda)-(.+)\.json$")
WORDS = {
    "sat": "The floor only reads the pixels and writes entries of the table's type.",
    "histogram": "The floor is a memset of the tensor.",
    "region": "Queries of tables in place. The floor makes the same random loads without any checks. The floor of boxes' histograms reads their "
    "pixels once, from which stores and tensors save their queries, so these may be above 1; of a store's build it fills as many bytes.",
    "window": "Box filters of 8-bit images, with and without the time of the table. Means of pixels are 8u, means of squares 32f. The floor is the table's.",
    "video": "Histograms of three regions (on a GPU, of 100 boxes) of every frame of a video. The floor is decoding alone: on a CPU with the same number "
             "of threads, on a GPU by NVDEC with all streams at once.",
    "sequence": "Frames in the slots' memory; `answers` queries 100 boxes a frame, `tensors` delivers the whole tensor. Times are microseconds from one frame's output to the next. The "
                "floor is the longest stage: the kernels and the query, or the link. For several workers it follows from the sum of their rates when each works alone (`alone`).",
    "filter": "Windows and filters straight from the pixels: the kernel, the statistic and the window's size. The floor copies as many bytes as the filter reads and writes.",
    "track": "A tensor and a step of the trackers of all boxes. The floor is the tensor and the step's loads.",
}
BOUNDS = {
    ("cpu", "sat"): "[The bounds](cpu-sat.md) are the number of cache lines that a core has in flight and, for data in the cache, the shuffles of the scan.",
    ("cpu", "histogram"): "[The bound](cpu-sat.md#results-against-the-targets) is the memset.",
    ("cuda", "sat"): "[The bounds](cuda-sat.md) are the link between the halves of the L2 for large tables, and latency for small ones.",
    ("cuda", "histogram"): "[The bounds](cuda-histogram.md) are the order of the stores, and concurrent DRAM reads.",
}
HEAD = """# Scoreboard: all records against the targets

`bench/pages/report.py` makes this page from the records in `bench/results/`; the test `report.py --check` compares them. Times are
medians of one execute on a prepared plan, in microseconds. The same run timed floors and peers and checked the results.

- **Fraction**: floor / areal. The floor is a plain kernel or pass on the same machine. Below its table, a sentence explains each fraction above 1.
- **Target**: the least fraction that a case should reach and, after a slash, the goal ([bench/pages/targets.py](../../bench/pages/targets.py)). Fractions below the
  target are **bold**.
- **95 %**: where the median of all such times lies with a probability of about 95 %, for records of rounds of random order. Older records have none;
  of those, the ones of tables on a GPU timed areal right after its floor.
- **Peers**: a peer's number is its time divided by areal's. It is bold if areal misses its target for that peer (for CUB's scan and filters: to be no slower). Times of
  PyTorch and CuPy exclude launches; all other times include them. Python's peers run in a process of their own: their records of random order have areal's
  time of the same rounds, and the ratio is that.

See also [how the GPU kernels work](../device-tables.md) and [numbers and their errors](../numerics.md)."""


def is_peer(row):
    return row.get("algorithm", "").lower().startswith(PEERS)


def newest(results):
    """(machine, cases) -> path, records."""
    found = {}
    for path in sorted(results.glob("*.json")):
        match = NAME.match(path.name)
        if match:
            found[match.group(2), match.group(3)] = (path, load(path))
    return found


def files_of(results, machines):
    """path -> its records for this page, of the files of these machines."""
    return {path: timed(load(path)) for path in sorted(results.glob("*.json")) if (match := NAME.match(path.name)) and match.group(2) in machines}


def newest_cases(files):
    """path -> those of its records whose case no newer file has."""
    last = {full_case(row): path for path, rows in files.items() for row in rows}
    return {path: kept for path, rows in files.items() if (kept := [row for row in rows if last[full_case(row)] == path])}


def full_case(row):
    """What is measured, by whichever algorithm `auto` chose; of a peer with its name."""
    algorithm = short_name(row["algorithm"])
    if not is_peer(row):
        algorithm = filter_of(row) if row["what"] == "filter" else "" if row["what"] in ("sat", "histogram") else algorithm
    return (*case(row), row["lane"], row.get("border") or "none", row["threads"] if row["backend"] == "cpu" else 0, algorithm)


def filter_of(row):
    """The statistic and the size of a filter's window: a name is `walk mean 15x15`, a peer's `npp 13.0 nppiFilterBox mean 15x15`."""
    return " ".join(row["algorithm"].split()[-2:]) if row["what"] == "filter" else ""


def case(row):
    return tuple(row.get(key) for key in ("what", "width", "height", "batch", "bins"))


def lane_beside(lane):
    """Peers that choose the table's type themselves name only the pixel type; each is compared with one type pair of ours."""
    if lane and re.fullmatch(r"\d+[usf]", lane):
        return lane + (lane if lane.endswith("f") else "32u")
    return lane


def same_case(row, peer):
    """A peer has one thread, or its own choice (0). Python's peers have no border."""
    if row.get("file") != peer.get("file"):
        return False
    if case(row) != case(peer) or row.get("lane") not in (peer.get("lane"), lane_beside(peer.get("lane"))):
        return False
    if filter_of(row) != filter_of(peer):
        return False
    borders = row.get("border"), peer.get("border")
    return peer["threads"] in (0, 1, row["threads"]) and (None in borders or borders[0] == borders[1])


def short_name(algorithm):
    """The library and its function, without the version."""
    return " ".join(word for word in algorithm.split() if not re.match(r"[\d.]+$", word))


def column_name(peer):
    """The head of a peer's column: of a filter the library alone, as its function differs by row."""
    return short_name(peer["algorithm"]).split()[0] if peer["what"] == "filter" else short_name(peer["algorithm"])


def microseconds(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def bold(text, falls_short):
    return f"**{text}**" if falls_short else text


def beside(row, peers, name):
    """The peer's time over ours; if there are several, of the peer with as many threads."""
    found = sorted((peer for peer in peers if column_name(peer) == name and same_case(row, peer)),
                   key=lambda peer: peer["threads"] != row["threads"])
    if not found:
        return ""
    ratio, asked = rules.over(found[0], row), targets.beside(row, found[0]["algorithm"].lower())
    return bold(f"{ratio:.2f}", asked and ratio < asked) + (f" (target {asked:g})" if asked and asked != 1 else "")


def columns_of(rows):
    """The columns in which these records differ."""
    columns = [("algorithm", lambda row: f"`{row['algorithm']}`"), ("types", lambda row: row["lane"] or ""),
               ("size", lambda row: f"{row['width']}x{row['height']}")]
    many = {"region": "regions", "video": "frames", "track": "boxes"}.get(rows[0]["what"], "images")
    for key, title in (("border", "border"), ("batch", many), ("bins", "bins"), ("threads", "threads")):
        if key == "border" and rows[0]["what"] in ("video", "sequence", "track", "filter"):
            continue  # of tables
        if any(row.get(key) not in (None, 0, 1, "none") for row in rows):
            columns.append((title, lambda row, key=key: str(row.get(key) or "")))
    return columns


def above_one(row, beside=()):
    """Why areal takes less time than its floor in this record; None if that is not known."""
    what, cpu, algorithm = row["what"], row["backend"] == "cpu", row["algorithm"]
    if what in ("sat", "histogram") and cpu:
        return ("The floor's ordinary stores fetch each line before they overwrite it; areal prefetches these lines, or stores large tensors around the cache. So the floor is not the least time of these bytes: "
                "in [a trial](cpu-sat.md#sixteen-threads), non-temporal stores wrote 8192x8192 of 8u32s on 16 threads in 2,358 us.")
    if what == "region" and cpu:
        return "The floor is a plain loop of the same loads, and not their least time."
    if algorithm in ("box_sums", "region_variances"):
        return "The floor's kernel makes the same loads but takes slightly longer, so it is not their least time."
    if row["floor"] == "read boxes":
        return "The floor reads the boxes' pixels once. Queries of a tensor or a compact store do not read them."
    if algorithm == "medians of a rank store":
        return ("The floor reads two sectors for each of 11 panels of a box and each plane. A query reads no more of a panel whose keys have run out, and both ends of a "
                "short range lie in one sector.")
    if row["floor"] == "link" and what == "sequence":
        return "The floor is the median of single copies with waits between them; copies that follow one another can take a little less time."
    if row["floor"] == "alone":
        return (f"The floor adds the rates of single runs of each worker alone, in 8 slots, and these runs vary: runs of one row differ by up to {max(other['time_us']['max'] / other['time_us']['min'] for other in (row, *beside)):.1f} times. "
                "It is not the most that both can reach.")
    return None


def fraction_cell(row, rows, asked, notes):
    """Floor / areal; above 1 with the letter of the sentence that explains it."""
    why = above_one(row, [other for other in rows if other["floor"] == row["floor"]]) if float(microseconds(row["floor_us"])) > float(microseconds(row["time_us"]["median"])) else None
    return bold(f"{row['fraction']:.2f}", asked and row["fraction"] < asked) + (notes.mark(why) if why else "")


def table(rows, peers):
    """With the sentences that explain fractions above 1."""
    columns, notes = columns_of(rows), rules.Notes()
    names = list(dict.fromkeys(column_name(peer) for peer in peers if any(same_case(row, peer) for row in rows)))
    between = ["95 %"] if any("between" in row["time_us"] for row in rows) else []
    titles = [title for title, _ in columns] + ["us", *between, "floor", "floor, us", "fraction", "target", *names]
    lines = ["| " + " | ".join(titles) + " |", "| --- |" + " --- |" * (len(titles) - 1)]
    for row in rows:
        asked, goal = targets.fractions(row)
        cells = [text(row) for _, text in columns] + [microseconds(row["time_us"]["median"]), *[rules.interval(row["time_us"], microseconds) for _ in between]]
        cells += [row["floor"], microseconds(row["floor_us"]), fraction_cell(row, rows, asked, notes),
                  " / ".join(f"{number:.2f}" for number in (asked, goal) if number)]
        cells += [beside(row, peers, name) for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return lines + notes.lines()


def peers_alone(rows, peers):
    """Peers in cases without a record of areal."""
    return [peer for peer in peers if not any(same_case(row, peer) for row in rows)]


def timed(records):
    """The records for this page. Records with `shown` are for the papers' pages, those of tracks without a floor for trackers_page."""
    return [row for row in records if row.get("what") in WORDS and "shown" not in row and (row["what"] != "track" or "fraction" in row)]


def backend_page(results, machines, title):
    files = files_of(results, machines)
    found = newest_cases(files)
    if not found:
        return ["", f"## {title}", "", "Not measured yet."] if "cuda" in machines else []  # its records belong to other pages
    ours = {path: [row for row in records if not is_peer(row)] for path, records in found.items()}
    peers = {path: [row for row in files[path] if is_peer(row)] for path in found}
    devices = dict.fromkeys(row["device"] for rows in ours.values() for row in rows)
    lines = ["", f"## {title}", "", "; ".join(devices) + "."]
    for what, words in WORDS.items():
        groups = [(path, chosen) for path, rows in ours.items() if (chosen := [row for row in rows if row["what"] == what])]
        if not groups:
            continue
        lines += ["", f"### {what.capitalize()}", "", words]
        if bound := BOUNDS.get(("cuda" if "cuda" in machines else "cpu", what)):
            lines.append(bound)
        for path, rows in groups:
            commits = ", ".join(filter(None, dict.fromkeys(row["commit"] for row in rows)))
            lines += ["", f"`bench/results/{path.name}`, {f'commit {commits}' if commits else 'without its commit'}:", "", *table(rows, peers[path])]
    newest_peers = [row for records in found.values() for row in records if is_peer(row)]
    if alone := peers_alone([row for path in found for row in files[path] if not is_peer(row)], newest_peers):
        lines += ["", "### Peers without a measurement of areal in the same case", "", "| peer | what | types | size | border | images | us |",
                  "| --- | --- | --- | --- | --- | --- | --- |"]
        lines += [f"| {row['algorithm']} | {row['what']} | {row['lane'] or ''} | {row['width']}x{row['height']} | {row.get('border') or ''} | "
                  f"{row['batch']} | {microseconds(row['time_us']['median'])} |" for row in alone]
    return lines


def sectors_page(found):
    """Sectors by ncu and by the simulated machine: bench/pages/ncu_sectors.py."""
    lines = ["", "## Sectors by the simulated machine and by ncu", "",
             "The simulated machine and ncu count the sectors of 32 bytes that three kernels touch "
             "([bench/pages/ncu_sectors.py](../../bench/pages/ncu_sectors.py)). Both charge an instruction of a warp for each sector that its lanes touch. The "
             "simulated machine separates pixels and entries from the words that tiles exchange; a GPU's counters separate them only by "
             "instruction. So counts of whole kernels include the published words, whose number is constant. Polls depend on the "
             "schedule; they have their own row, or their row says so. Counts by instruction, and the L1's counters of kernels that do not "
             "poll, must agree within 2 %. The L2's counters are not checked: if several warps poll a word at once, the L1 sends the L2 "
             "one request, and spilt registers also go to the L2. `Thin` spilt registers until it [read its pixels "
             "again](cuda-sat.md#the-registers-of-thin)."]
    records = [record for (_, cases), (_, records) in found.items() if cases == "sectors" for record in records]
    if not records:
        return [*lines, "", "Not measured yet."]
    lines += ["", "| kernel | size | sectors | simt | ncu | difference |", "| --- | --- | --- | --- | --- | --- |"]
    for record in records:
        for row in record["rows"]:
            off = "" if row["difference"] is None else bold(f"{100 * row['difference']:+.2f} %", row["should_agree"] and abs(row["difference"]) > 0.02)
            off += "" if row["should_agree"] or not off else ", not checked"
            ours = "" if row["simt"] is None else f"{row['simt']:.0f}"
            lines.append(f"| `{record['algorithm']}` | {record['width']}x{record['height']} | {row['what']} | {ours} | {row['ncu']:.0f} | {off} |")
    return lines


def twins_page(found):
    """Kernels over the machine against hand-written CUDA: tests/cuda/cuda_twin_test.cu."""
    records = [record for (_, cases), (_, records) in found.items() if cases == "twin" for record in records]
    lines = ["", "## Kernels beside hand-written twins", "", "Registers and instructions are in [notes/cuda-twin.md](cuda-twin.md)."]
    if not records:
        return [*lines, "Times: not measured yet."]
    lines += ["", "| kernel | elements | over the machine, us | object by hand, us | function by hand, us |", "| --- | --- | --- | --- | --- |"]
    return lines + [f"| `{r['algorithm']}` | {r['elements']} | " + " | ".join(f"{r['time_us'][form]:.2f}" for form in ("machine", "object", "function")) + " |"
                    for r in records]


def trackers_page(found):
    """The accuracy of trackers: areal bench track."""
    records = [row for (machine, cases), (_, rows) in found.items() if cases == "track" and machine != "cuda" for row in rows if "iou" in row]
    lines = ["", "## Trackers", "",
             "Mean overlap (intersection over union) with the true box in `areal bench track`. In seeded sequences a patch moves over a picture: it pans (plain), "
             "grows and shrinks (scale), is half hidden (occluded), passes a similar patch (twin), or does all of these. The target applies to `fragments`; brackets count lost sequences."]
    if not records:
        return [*lines, "", "Not measured yet."]
    families = list(dict.fromkeys(row["family"] for row in records))
    by = {(row["algorithm"], row["family"]): row for row in records}
    lines += ["", "| tracker | " + " | ".join(families) + " |", "| --- |" + " --- |" * len(families)]
    for algorithm in dict.fromkeys(row["algorithm"] for row in records):
        cells = []
        for family in families:
            row = by.get((algorithm, family))
            lost = f" ({row['lost']})" if row and row["lost"] else ""
            cells.append(bold(f"{row['iou']:.2f}", row["iou"] < row.get("must_reach", 0)) + lost if row else "")
        lines.append(f"| `{algorithm}` | " + " | ".join(cells) + " |")
    asked = [next((f"{row['must_reach']:.2f}" for row in records if row["family"] == family and "must_reach" in row), "") for family in families]
    return [*lines, "| target | " + " | ".join(asked) + " |"]


def page(results):
    found = newest(results)
    machines = sorted({machine for machine, _ in found if machine != "cuda"})
    lines = [HEAD]
    lines += backend_page(results, {"cuda"}, "One GPU")
    lines += scoreboard_choices.choices(found) + scoreboard_choices.bounds(found)
    for machine in machines:
        cores = machine.removeprefix("cpu-")
        lines += backend_page(results, {machine}, f"A CPU of {cores} cores")
    lines += scoreboard_python.lines(found)
    lines += trackers_page(found) + sectors_page(found) + twins_page(found)
    return "\n".join(lines) + "\n"
