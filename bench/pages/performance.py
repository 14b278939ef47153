"""Makes docs/performance.md from the newest records in bench/results/; report.py calls it.

A file is DATE-MACHINE-CASES.json, the newest of each MACHINE and CASES counts. A record whose algorithm is named after
another library is a peer: it stands beside ours of the same case, whichever file it is in.
"""

import json
import re

import targets
from records import present

PEERS = ("npp", "cub", "torch", "pytorch", "cupy", "opencv", "numpy", "skimage")
NAME = re.compile(r"(\d{4}-\d\d-\d\d)-(cpu-\d+|cuda)-(.+)\.json$")
WORDS = {
    "sat": "Tables: the floor reads the pixels and writes the table's type, and does nothing else.",
    "histogram": "Integral histograms: the floor is a memset of the tensor.",
    "region": "Regions of tables that stay where they are: the floor makes the same random loads, with nothing checked.",
    "video": "A video, frame by frame: the floor is decoding alone.",
}
BOUNDS = {
    ("cpu", "sat"): "[What bounds it](notes/cpu-sat.md): how many lines a core has on their way, and in the cache the scan's shuffles.",
    ("cpu", "histogram"): "[What bounds it](notes/cpu-sat.md#where-it-stands-against-what-was-asked-of-it): the memset.",
    ("cuda", "sat"): "[What bounds it](notes/cuda-sat.md): large tables the link between the halves of the L2, small ones the way through the chip.",
    ("cuda", "histogram"): "[What bounds it](notes/cuda-histogram.md): the stores in their order, and what is read again from DRAM beside them.",
}
HEAD = """# Performance

Made by `bench/pages/report.py` from the records in `bench/results/`, and by nobody else: `report.py --check` is a test. Times are
medians of one execute on a prepared plan, in microseconds; floors and peers were timed in the same run, and results checked in it. A
fraction is floor / areal. The floor is a plain kernel or pass of that machine; a pass of the CPU can be beaten, as stores ask for
their lines late in it. `asked` is what the project set itself ([bench/pages/targets.py](../bench/pages/targets.py)); what falls short of it is
**bold**. A peer's number is its time over ours; PyTorch and CuPy are timed without their launches, all others with them.
[How the kernels of the GPU work](device-tables.md); [numbers and their errors](numerics.md)."""


def is_peer(row):
    return row.get("algorithm", "").lower().startswith(PEERS)


def newest(results):
    """(machine, cases) -> path, records."""
    found = {}
    for path in sorted(results.glob("*.json")):
        match = NAME.match(path.name)
        if match:
            found[match.group(2), match.group(3)] = (path, present(json.loads(path.read_text())))
    return found


def case(row):
    return tuple(row.get(key) for key in ("what", "width", "height", "batch", "bins"))


def lane_beside(lane):
    """Peers that choose their table's type themselves name the pixels alone: they stand beside one lane of ours."""
    if lane and re.fullmatch(r"\d+[usf]", lane):
        return lane + (lane if lane.endswith("f") else "32u")
    return lane


def same_case(row, peer):
    """A peer has one thread, or as many as it likes (0); Python's have no border."""
    if case(row) != case(peer) or row.get("lane") not in (peer.get("lane"), lane_beside(peer.get("lane"))):
        return False
    borders = row.get("border"), peer.get("border")
    return peer["threads"] in (0, 1, row["threads"]) and (None in borders or borders[0] == borders[1])


def short_name(algorithm):
    """The library, and what of it: two words."""
    return " ".join(word for word in algorithm.split() if not re.match(r"[\d.]+$", word))


def microseconds(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def bold(text, falls_short):
    return f"**{text}**" if falls_short else text


def beside(row, peers, name):
    """The peer's time over ours, of the peer with as many threads where there are several."""
    found = sorted((peer for peer in peers if short_name(peer["algorithm"]) == name and same_case(row, peer)),
                   key=lambda peer: peer["threads"] != row["threads"])
    if not found:
        return ""
    ratio, asked = found[0]["time_us"]["median"] / row["time_us"]["median"], targets.beside(row, found[0]["algorithm"].lower())
    return bold(f"{ratio:.2f}", asked and ratio < asked) + (f" (asked {asked:g})" if asked else "")


def columns_of(rows):
    """The columns that tell these records apart."""
    columns = [("algorithm", lambda row: f"`{row['algorithm']}`"), ("types", lambda row: row["lane"] or ""),
               ("size", lambda row: f"{row['width']}x{row['height']}")]
    many = {"region": "regions", "video": "frames"}.get(rows[0]["what"], "images")
    for key, title in (("border", "border"), ("batch", many), ("bins", "bins"), ("threads", "threads")):
        if any(row.get(key) not in (None, 0, 1, "none") for row in rows):
            columns.append((title, lambda row, key=key: str(row.get(key) or "")))
    return columns


def table(rows, peers):
    columns = columns_of(rows)
    names = list(dict.fromkeys(short_name(peer["algorithm"]) for peer in peers if any(same_case(row, peer) for row in rows)))
    titles = [title for title, _ in columns] + ["us", "floor", "floor, us", "fraction", "asked", *names]
    lines = ["| " + " | ".join(titles) + " |", "| --- |" + " --- |" * (len(titles) - 1)]
    for row in rows:
        asked = targets.fraction(row)
        cells = [text(row) for _, text in columns] + [microseconds(row["time_us"]["median"])]
        cells += [row["floor"], microseconds(row["floor_us"]), bold(f"{row['fraction']:.2f}", asked and row["fraction"] < asked),
                  f"{asked:.2f}" if asked else ""]
        cells += [beside(row, peers, name) for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def peers_alone(rows, peers):
    """Peers of cases that we have no record of."""
    return [peer for peer in peers if not any(same_case(row, peer) for row in rows)]


def timed(records):
    """Those of the papers' tables and figures (`shown`) stand in the papers' pages."""
    return [row for row in records if row.get("what") in WORDS and "shown" not in row]


def backend_page(found, machines, title):
    mine = {key: value for key, value in found.items() if key[0] in machines}
    if not mine:
        return ["", f"## {title}", "", "Not measured yet."]
    everything = [row for _, records in mine.values() for row in timed(records)]
    peers = [row for row in everything if is_peer(row)]
    devices = dict.fromkeys(row["device"] for row in everything if not is_peer(row))
    lines = ["", f"## {title}", "", "; ".join(devices) + "."]
    for what, words in WORDS.items():
        groups = [(path, [row for row in timed(records) if row["what"] == what and not is_peer(row)]) for path, records in mine.values()]
        groups = [(path, rows) for path, rows in groups if rows]
        if not groups:
            continue
        lines += ["", f"### {what.capitalize()}", "", words]
        if bound := BOUNDS.get(("cuda" if "cuda" in machines else "cpu", what)):
            lines.append(bound)
        for path, rows in groups:
            commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
            lines += ["", f"`bench/results/{path.name}`, of {commits}:", "", *table(rows, peers)]
    ours = [row for row in everything if not is_peer(row)]
    if alone := peers_alone(ours, peers):
        lines += ["", "### Peers of cases that areal was not measured in", "", "| peer | what | types | size | border | images | us |",
                  "| --- | --- | --- | --- | --- | --- | --- |"]
        lines += [f"| {row['algorithm']} | {row['what']} | {row['lane'] or ''} | {row['width']}x{row['height']} | {row.get('border') or ''} | "
                  f"{row['batch']} | {microseconds(row['time_us']['median'])} |" for row in alone]
    return lines


def sectors_page(found):
    """What ncu and the simulated machine counted: bench/pages/ncu_sectors.py."""
    lines = ["", "## Sectors, counted twice", "",
             "Sectors of 32 bytes that three kernels touch, as the simulated machine counts them and as ncu does, from "
             "[bench/pages/ncu_sectors.py](../bench/pages/ncu_sectors.py). Both charge a warp's instruction for each sector that its lanes touch; the "
             "simulated machine tells pixels and entries from the words that tiles hand each other, a GPU's counters do so by "
             "instruction alone. For a whole kernel, then, what is handed over (the same each time) is on both sides, and what is polled "
             "(as often as the schedule has it) is a row of its own, or part of a row that says so. By instruction, and by the L1's counters where "
             "nothing is polled, the two must agree within 2 %. The L2's counters are shown and not held to that: of what several warps poll at "
             "once, the L1 asks the L2 but once, and registers that a kernel spills are written to the L2, too: `Ribbon` did so until it [read its "
             "pixels again](notes/cuda-sat.md#ribbons-registers)."]
    records = [record for (_, cases), (_, records) in found.items() if cases == "sectors" for record in records]
    if not records:
        return [*lines, "", "Not measured yet."]
    lines += ["", "| kernel | size | sectors | simt | ncu | difference |", "| --- | --- | --- | --- | --- | --- |"]
    for record in records:
        for row in record["rows"]:
            off = "" if row["difference"] is None else bold(f"{100 * row['difference']:+.2f} %", row["should_agree"] and abs(row["difference"]) > 0.02)
            off += "" if row["should_agree"] or not off else ", not held"
            ours = "" if row["simt"] is None else f"{row['simt']:.0f}"
            lines.append(f"| `{record['algorithm']}` | {record['width']}x{record['height']} | {row['what']} | {ours} | {row['ncu']:.0f} | {off} |")
    return lines


def twins_page(found):
    """A kernel over the machine beside the same by hand: tests/cuda/cuda_twin_test.cu."""
    records = [record for (_, cases), (_, records) in found.items() if cases == "twin" for record in records]
    lines = ["", "## Kernels beside their twins by hand", "", "Registers and instructions are in [notes/cuda-twin.md](notes/cuda-twin.md)."]
    if not records:
        return [*lines, "Their times: not measured yet."]
    lines += ["", "| kernel | elements | over the machine, us | object by hand, us | function by hand, us |", "| --- | --- | --- | --- | --- |"]
    return lines + [f"| `{r['algorithm']}` | {r['elements']} | " + " | ".join(f"{r['time_us'][form]:.2f}" for form in ("machine", "object", "function")) + " |"
                    for r in records]


def page(results):
    found = newest(results)
    machines = sorted({machine for machine, _ in found if machine != "cuda"})
    lines = [HEAD]
    lines += backend_page(found, {"cuda"}, "One GPU")
    for machine in machines:
        cores = machine.removeprefix("cpu-")
        lines += backend_page(found, {machine}, f"A CPU of {cores} cores")
    lines += sectors_page(found) + twins_page(found)
    return "\n".join(lines) + "\n"
