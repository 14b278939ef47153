"""What the README shows of speed, from the newest records in bench/results/: a table of at most eight rows, and a plot of
one pair of types over the size of the image. More is in docs/performance.md and docs/notes/scoreboard.md.

newest(cases, machine) gives the path and the records of the newest DATE-MACHINE-CASES.json, (None, []) where there is none.
A row without a record is left out.
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "pictures"))
import scoreboard_choices  # noqa: E402
import rules  # noqa: E402
import sweep_choices  # noqa: E402
from scoreboard import above_one, is_peer  # noqa: E402
from svg import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, RED, Svg  # noqa: E402

PLOT = "docs/pictures/readme/speed.svg"
CPUS = ("cpu-2", "cpu-16")  # threads: as many as the name says
LIBRARIES = {"npp": "NPP", "cub": "CUB scan", "torch": "PyTorch", "cupy": "CuPy", "opencv": "OpenCV"}
# name, machine, cases, and the record's fields
ROWS = (
    ("table, 8u32s, border zero", "cuda", "sat-border-zero", {"lane": "8u32s", "width": 4096, "height": 4096}),
    ("table, 32f32f, border none", "cuda", "sat", {"lane": "32f32f", "width": 4096, "height": 4096}),
    ("tables of sums and squares, 8u", "cuda", "sat-squares-border-zero", {"lane": "8u32u+64u", "width": 4096, "height": 4096}),
    ("tensor of 32 bins", "cuda", "histogram", {"width": 1920, "height": 1080, "bins": 32}),
    ("sums of {batch:,} regions", "cuda", "boxes", {"algorithm": "region_sums"}),
    *(("table, 8u32s, border zero", cpu, "sat", {"lane": "8u32s", "width": 4096, "height": 4096}) for cpu in CPUS),
    ("tensor of 32 bins", CPUS[0], "histogram", {"algorithm": "fused", "width": 1920, "height": 1080, "bins": 32}),
)


def threads_of(machine):
    return int(machine.removeprefix("cpu-")) if machine != "cuda" else 0


def library(row):
    name = row["algorithm"].split(" ")[0].lower()
    return LIBRARIES.get(name)


def duration(microseconds):
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def median(row):
    return row["time_us"]["median"]


def find(records, machine, fields):
    """The record of areal, or None."""
    for row in records:
        if not is_peer(row) and row["threads"] == threads_of(machine) and all(row[key] == value for key, value in fields.items()):
            return row
    return None


def beside(records, own):
    """The times of other libraries for the same case over ours; if a library has several records, of the one with as many threads."""
    found = {}
    for row in sorted(records, key=lambda row: row["threads"] != own["threads"]):
        same = all(row[key] == own[key] for key in ("lane", "width", "height", "batch"))
        if same and library(row) and row["threads"] in (0, 1, own["threads"]):
            found.setdefault(library(row), f"{rules.over(row, own):.1f}")
    return found


def timed(own):
    """The median and, if the record has it, its 95 % interval."""
    words = rules.interval(own["time_us"], duration)
    return duration(median(own)) + (f" ({words})" if words else "")


def explained(own, notes):
    """The letter of the sentence that explains a fraction above 1."""
    if f"{own['fraction']:.2f}" <= "1.00":
        return ""
    return notes.mark(above_one(own).replace("](", "](docs/notes/"))


def random_order(newest, rows):
    """A sentence for records that timed areal right after its floor: its times in rounds of random order, of the newest sweep."""
    path, cases = newest("sat-sweep", "cuda")
    found = []
    for own in rows if path else ():
        case = next((case for case in cases if own["what"] == "sat" and "rounds" not in own["time_us"] and sweep_choices.chosen(case)
                     and all(case[key] == own[key] for key in ("lane", "width", "height", "batch", "border"))), None)
        if case:
            name = dict(zip(map(id, cases), scoreboard_choices.present_choices(path, cases)))[id(case)]
            found.append(f"{own['lane']}, border {own['border']}, {sweep_choices.rows_of(case)[name]['median']:.1f} µs ({scoreboard_choices.fraction_of(case, name):.2f})")
    return ("These GPU records timed areal right after its floor; in rounds of random order, as in a program of several steps, tables of 4096x4096 take "
            f"{'; '.join(found)} (`{path.name}`). ") if found else ""


def table(newest):
    rows, files, notes = [], [], rules.Notes()
    for words, machine, cases, fields in ROWS:
        path, records = newest(cases, machine)
        own = find(records, machine, fields)
        if own:
            rows.append((words, machine, own, beside(records, own)))
            files.append((path.name, own["device"]))
    if not rows:
        return ["Not measured yet."]
    there = [name for name in LIBRARIES.values() if any(name in others for *_, others in rows)]
    lines = ["| | on | size | time | floor / time | " + " | ".join(there) + " |", "| --- | --- | --- | --- | --- |" + " --- |" * len(there)]
    for words, machine, own, others in rows:
        on = own["device"].removeprefix("NVIDIA ") if machine == "cuda" else f"CPU, {own['threads']} threads"
        lines.append(f"| {words.format(**own)} | {on} | {own['width']}x{own['height']} | {timed(own)} | {own['fraction']:.2f}{explained(own, notes)} | "
                     + " | ".join(others.get(name, "") for name in there) + " |")
    devices = ", ".join(dict.fromkeys(device for _, device in files))
    return [*lines, *notes.lines(), "", "Times are medians of one execute of a prepared plan. The *floor* is a kernel (on a CPU a loop) that only moves the same bytes. "
            + random_order(newest, [own for _, machine, own, _ in rows if machine == "cuda"]) + "The other libraries' columns divide their time by areal's. CUB scans the image as one line; "
            + ("PyTorch and CuPy sum twice, border none, in a process of their own, and their times exclude launches; " if {"PyTorch", "CuPy"} & {*there} else "")
            + "OpenCV is `cv::integral` on the same CPU. "
            f"{devices}; `" + "`, `".join(dict.fromkeys(name for name, _ in files)) + "`."]


def curves(newest):
    """Name, colour, dashes, and points of pixels and microseconds."""
    def points(records, wanted, value=median):
        return sorted((row["width"] * row["height"], value(row)) for row in records if row["lane"] == "8u32s" and wanted(row))

    _, gpu = newest("sat-border-zero", "cuda")
    ours = [row for row in gpu if not is_peer(row)]
    found = [("areal, GPU", BLUE, "", points(ours, lambda row: True)),
             ("floor, GPU", GREY, "5 3", points(ours, lambda row: True, lambda row: row["floor_us"]))]
    for name, colour in (("NPP", GREEN), ("CUB scan", ORANGE), ("PyTorch", RED)):
        found.append((name, colour, "", points(gpu, lambda row, name=name: library(row) == name)))
    for cpu in CPUS:
        _, records = newest("sat", cpu)
        mine = lambda row, cpu=cpu: row["threads"] == threads_of(cpu)  # noqa: E731
        found.append((f"areal, CPU, {threads_of(cpu)} threads", BLUE, "", points(records, lambda row: mine(row) and not is_peer(row))))
        if cpu == CPUS[0]:
            found.append(("OpenCV, CPU", PURPLE, "", points(records, lambda row: mine(row) and library(row) == "OpenCV")))
    return [curve for curve in found if curve[3]]


def apart(places, least):
    """Moves heights apart to at least `least`, in the same order from top to bottom."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = list(places)
    for _ in range(200):
        for i, j in zip(order, order[1:]):
            if (near := least - (moved[j] - moved[i])) > 0.01:
                moved[i] -= near / 2
                moved[j] += near / 2
    return moved


def plot(newest):
    svg, drawn = Svg(860, 420), curves(newest)
    left, right, top, bottom = 70, 660, 40, 370
    if not drawn:
        return svg.done()
    pixels = [x for *_, points in drawn for x, _ in points]
    times = [y for *_, points in drawn for _, y in points]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    first, last = math.log2(min(pixels)), math.log2(max(pixels))
    across = lambda x: left + (math.log2(x) - first) / (last - first or 1) * (right - left)  # noqa: E731
    up = lambda y: bottom - (math.log10(y) - low) / (high - low or 1) * (bottom - top)  # noqa: E731
    svg.text(left, 20, "Time of one table, 8-bit pixels, 32-bit sums (8u32s)", size=14)
    svg.lines([(left, up(10.0 ** e), right, up(10.0 ** e)) for e in range(low, high + 1)], "#e3e5e8")
    names = {0: "1 µs", 1: "10 µs", 2: "100 µs", 3: "1 ms", 4: "10 ms", 5: "100 ms", 6: "1 s"}
    svg.texts([(left - 8, up(10.0 ** e) + 4, names.get(e, f"10^{e} µs")) for e in range(low, high + 1)], anchor="end")
    sides = [side for side in (1024, 2048, 4096, 8192, 16384) if first <= 2 * math.log2(side) <= last]
    svg.lines([(across(side * side), top, across(side * side), bottom) for side in sides], "#e3e5e8")
    svg.texts([(across(side * side), bottom + 18, f"{side}²") for side in sides])
    svg.text((left + right) / 2, bottom + 38, "size of the image, pixels", anchor="middle", size=12)
    for (name, colour, dashes, points), at in zip(drawn, apart([up(points[-1][1]) for *_, points in drawn], 16)):
        thick = 3 if name.startswith("areal") else 1.8
        path = "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
        svg.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"' + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")
        svg.parts.extend(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in points if not dashes)
        end_x, end_y = across(points[-1][0]), up(points[-1][1])
        svg.lines([(end_x + 5, end_y, right + 12, at)], "#c6cad0", 0.8)
        svg.text(right + 16, at + 4, name, fill=DARK if colour == GREY else colour, size=12)
    return svg.done()


def lines(newest):
    drawn = {name for name, *_ in curves(newest)}
    libraries = [short for name, short in (("NPP", "NPP"), ("CUB scan", "CUB"), ("PyTorch", "PyTorch"), ("OpenCV, CPU", "OpenCV")) if name in drawn]
    alt = f"Microseconds over the size of the image: {', '.join(['areal, the floor', *libraries])}, both axes logarithmic"
    return [f"![{alt}]({PLOT})", "", *table(newest)]
