"""The measured part of docs/algorithms/chen-2018.md: Figures 6 to 8 of Chen 2018, from `areal bench sat --figure chen`, and
the model's predictions, from `areal model chen --measured`. report.py calls it."""

import math

import plot
import rules
from figure_page import ratio

PAGE = "docs/algorithms/chen-2018.md"
THREE = ("scanrow-brlt", "brlt-scanrow", "scanrow-column")
CLAIMS = (("T(ScanColumn) < T(BrltScanRow)", lambda t: (t["ScanColumn"], t["BrltScanRow"])),
          ("2 T(BrltScanRow) < T(ScanRow) + T(ScanColumn)", lambda t: (2 * t["BrltScanRow"], t["ScanRow"] + t["ScanColumn"])),
          ("T(BrltScanRow) < T(ScanRowBrlt)", lambda t: (t["BrltScanRow"], t["ScanRowBrlt"])))


def column_of(record):
    """The column of a record: an algorithm of the paper, scan-scan, npp, or areal (any of its own algorithms)."""
    algorithm = record["algorithm"]
    if algorithm in (*THREE, "scan-scan"):
        return None if record.get("scan") == "ladner-fischer" else algorithm
    return "npp" if algorithm.startswith("npp") else "areal"


def microseconds(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def size_of(record):
    return f"{record['width']}x{record['height']}"


def figure(records):
    """Types -> size -> column -> record, in the order of the file."""
    made = {}
    for record in records:
        column = column_of(record)
        if column:
            made.setdefault(record["lane"], {}).setdefault(size_of(record), {})[column] = record
    return made


def time(row, column):
    return row[column]["time_us"]["median"] if column in row else None


def over(row, slow, fast):
    """How many times as fast, or None if one of the two was not measured."""
    return rules.over(row[slow], row[fast]) if slow in row and fast in row else None


def best(row):
    """The fastest of the paper's three, or None if one of them did not run, as that one might be the fastest."""
    return min(THREE, key=lambda name: time(row, name)) if all(name in row for name in THREE) else None


def cell(value, words="{:.2f}"):
    return "" if value is None else words.format(value)


def table_of_lane(lane, sizes):
    floors = [record["floor"] for row in sizes.values() for record in row.values() if "floor" in record]
    floor = floors[0] if floors else "floor"
    npp = any("npp" in row for row in sizes.values())
    peers = ["scan-scan"] + ["npp"] * npp
    lines = ["", f"{lane}:", "",
             f"| size | {floor} | " + " | ".join(("scan-scan", *["NPP"] * npp, *(f"`{name}`" for name in THREE), "areal"))
             + " | best of the three over scan-scan |" + " that best over NPP |" * npp + " areal over scan-scan |" + " areal over NPP |" * npp + " areal over the best |",
             "| --- |" + " --- |" * (1 + len(peers) + 4 + 2 * len(peers) + 1)]
    for size, row in sizes.items():
        fastest = best(row)
        floor_us = next((record["floor_us"] for record in row.values() if "floor_us" in record), None)
        cells = [size, cell(floor_us and microseconds(floor_us), "{}")]
        cells += [cell(time(row, name) and microseconds(time(row, name)), "{}") for name in (*peers, *THREE, "areal")]
        cells += [cell(over(row, peer, fastest)) for peer in peers]
        cells += [cell(over(row, peer, "areal")) for peer in peers] + [cell(over(row, fastest, "areal"))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def most(ratios):
    """The largest of [ratio, types, size], as text."""
    ratio, lane, size = max(ratios)
    return f"{ratio:.1f} times ({lane}, {size})"


def span(ratios):
    return f"{min(ratios)[0]:.2f} to {max(ratios)[0]:.2f}"


def all_over(made, slow, fast):
    """[ratio, types, size] wherever both were measured; `slow` and `fast` are columns or functions of the row."""
    found = []
    for lane, sizes in made.items():
        for size, row in sizes.items():
            column = fast(row) if callable(fast) else fast
            ratio = over(row, slow(row) if callable(slow) else slow, column) if column else None
            if ratio is not None:
                found.append((ratio, lane, size))
    return found


def answer(words, ratios, say):
    return f"- {words} " + (say(ratios) if ratios else "Not measured.")


def answers(made, records):
    lines = ["", "The paper's claims and the measurements:", ""]
    lines.append(answer("The best of the three is up to 2.3 times as fast as the baseline. Here, over scan-scan:",
                        all_over(made, "scan-scan", best), lambda r: f"up to {most(r)}, {span(r)} over all."))
    lines.append(answer("The best of the three is up to 3.2 times as fast as NPP. Here:", all_over(made, "npp", best), lambda r: f"up to {most(r)}, {span(r)} over all."))
    wins = [best(row) for sizes in made.values() for row in sizes.values() if best(row)]
    lines.append("- `brlt-scanrow` is the fastest of the three. Here, of " + f"{len(wins)} cases: "
                 + ", ".join(f"`{name}` in {wins.count(name)}" for name in THREE) + "." if wins else
                 "- `brlt-scanrow` is the fastest of the three. Not measured.")
    doubles = {size: over(row, "scan-scan", best(row)) for size, row in made.get("64f64f", {}).items() if best(row)}
    slower = [size for size, ratio in doubles.items() if ratio is not None and ratio <= 1]
    lines.append("- With 64f64f the best of the three is faster than the baseline up to 6k. " + (
        "Not measured." if all(ratio is None for ratio in doubles.values()) else
        "Here it is faster at every size." if not slower else "Here it is not faster at " + ", ".join(slower) + "."))
    scans = []
    for record in records:
        if record.get("scan") == "ladner-fischer":
            row = made.get(record["lane"], {}).get(size_of(record), {})
            other = time(row, record["algorithm"])
            if other:
                scans.append((record["time_us"]["median"] / other, record["lane"], size_of(record)))
    lines.append(answer("Kogge-Stone and Ladner-Fischer take the same time. Here the ratio of the latter's time to the former's is", scans,
                        lambda r: f"{span(r)} ({', '.join(dict.fromkeys(ratio[1] for ratio in r))})."))
    default = all_over(made, best, "areal")
    lines.append(answer("areal's default against the best of the three:", default, lambda r: f"{span(r)} times as fast"
                        + (", slower at " + ", ".join(f"{lane} {size}" for ratio, lane, size in r if ratio < 1) if min(r)[0] < 1 else "") + "."))
    missing = [f"{lane} {size}" for lane, sizes in made.items() for size, row in sizes.items() if not best(row)]
    if missing:
        lines.append("- Not all of the three ran, so there is no best, at " + ", ".join(missing) + ".")
    return lines


def passes(records):
    """Size -> kernel -> mean time of its launches, for 32f32f with Kogge-Stone."""
    found = {}
    for record in records:
        if record["algorithm"] in THREE and record.get("scan") != "ladner-fischer" and record["lane"] == "32f32f":
            for launch in record.get("launches", []):
                found.setdefault(size_of(record), {}).setdefault(launch["kernel"], []).append(launch["time_us"]["median"])
    return {size: {kernel: sum(times) / len(times) for kernel, times in kernels.items()} for size, kernels in found.items()}


def breakdown(records):
    rows = [record for record in records if record["algorithm"] in THREE and len(record.get("launches", [])) == 2]
    if not rows:
        return ["", "Figure 8 and VI-D: not measured yet."]
    lines = ["", "Figure 8: times of the launches of 32f32f, in microseconds.", "",
             "| size | algorithm | warp scan | 1st | 2nd |", "| --- | --- | --- | --- | --- |"]
    for record in rows:
        times = " | ".join(microseconds(launch["time_us"]["median"]) for launch in record["launches"])
        lines.append(f"| {size_of(record)} | `{record['algorithm']}` | {record.get('scan', '')} | {times} |")
    held = {words: [] for words, _ in CLAIMS}
    lines += ["", "The inequalities of VI-D with these times. T is the time of a launch, or the mean of both if a kernel has two.", "",
              "| size | inequality | left, us | right, us | holds |", "| --- | --- | --- | --- | --- |"]
    for size, times in passes(records).items():
        if not all(kernel in times for kernel in ("ScanRow", "ScanColumn", "BrltScanRow", "ScanRowBrlt")):
            lines.append(f"| {size} | not all launches were measured | | | |")
            continue
        for words, both in CLAIMS:
            left, right = both(times)
            held[words].append(left / right)
            lines.append(f"| {size} | {words} | {microseconds(left)} | {microseconds(right)} | {'yes' if left < right else 'no'} |")
    for number, (words, ratios) in enumerate(held.items(), 1):
        if ratios and max(ratios) >= 1:
            lines += ["", f"VI-D({number}), {words}, does not hold at {'any size' if min(ratios) >= 1 else f'{sum(ratio >= 1 for ratio in ratios)} of {len(ratios)} sizes'}: its left side takes {min(ratios):.2f} to {max(ratios):.2f} "
                      "times as long as its right. All these launches move the same bytes to and from global memory, which the model does not count."]
    return lines


def model(objects):
    """The model with the figures of areal_latencies against the measured times: one object of `areal model chen --json`."""
    found = [one for one in objects if "measured" in one]
    if not found:
        return ["", "The model beside measured times: not measured yet."]
    one = found[-1]
    lines = ["", f"Times by the model (throughput, without global memory), with the figures that `areal_latencies` measured on one {one['device']}, "
             f"beside the measured times, for {one['width']}x{one['height']}:", "",
             "| types | warp scan | algorithm | model, us | measured, us | measured / model |", "| --- | --- | --- | --- | --- | --- |"]
    verdicts = []
    for lane in one["measured"]["lanes"]:
        predicted = next((p for p in one["predictions"] if p["bytes"] == lane["bytes"] and p["by"] == f"throughput, {lane['scan']}"), None)
        if not predicted:
            continue
        for name in THREE:
            measured = lane["algorithms_us"].get(name)
            if measured is None:
                continue
            modelled = predicted["algorithms"][name]["us"]
            lines.append(f"| {lane['lane']} | {lane['scan']} | `{name}` | {microseconds(modelled)} | {microseconds(measured)} | {measured / modelled:.1f} |")
        for words, holds in lane.get("claims", {}).items():
            said, was = ("holds" if value else "does not hold" for value in (predicted["claims"][words], holds))
            verdicts.append(f"- {lane['lane']}, {lane['scan']}, {words}: it {said} by the model, and {was} by the measured times.")
    return lines + [""] + verdicts if verdicts else lines


def pictures(newest):
    """Two panels of each type pair: times, and speed-ups over scan-scan."""
    path, records = newest("sat-chen")
    made, panels = figure([record for record in records if record.get("shown") == "chen"]), []
    for lane, sizes in made.items():
        rows = sorted((math.sqrt(int(size.split("x")[0]) * int(size.split("x")[1])), row) for size, row in sizes.items())
        npp = any("npp" in row for found in made.values() for row in found.values())
        floor = {x: next((record["floor_us"] for record in row.values() if "floor_us" in record), None) for x, row in rows}
        curves = {"copy or widen": floor} | {name: {x: time(row, name) for x, row in rows} for name in ("areal", *THREE, "scan-scan", *["npp"] * npp)}
        over_scan_scan = {name: {x: ratio(curves["scan-scan"][x], value) for x, value in points.items()} for name, points in curves.items()}
        for words, shown in (("microseconds", curves), ("speed-up over scan-scan", over_scan_scan)):
            panels.append(plot.Panel(lane, "side of the image, pixels", words, [x for x, _ in rows], list(shown.items())))
    return {f"bench/results/{path.stem}.svg": plot.svg(f"Chen 2018, Figures 6 and 7, on one {records[0]['device']}", panels, in_row=2)} if panels else {}


def lines(newest):
    path, records = newest("sat-chen")
    records = [record for record in records if record.get("shown") == "chen"]
    if not records:
        return ["Not measured yet."]
    made = figure(records)
    npp = next((record["algorithm"] for record in records if column_of(record) == "npp"), None)
    commits = ", ".join(dict.fromkeys(record["commit"] for record in records))
    text = [f"`areal bench sat --figure chen` on one {records[0]['device']}: {rules.statistic(records)} in microseconds, border none"
            + (f"; {npp} with border zero" if npp else "") + f". `bench/results/{path.name}`, commit {commits}. scan-scan is our implementation "
            "of the paper's baseline from its description (`bench/device/scan_scan.hpp`), not the library itself. Empty cells were not measured."]
    picture = path.with_suffix(".svg")
    if picture.exists():
        text += ["", f"![Times and speed-ups of each type pair](../../bench/results/{picture.name})"]
    text += answers(made, records)
    for lane, sizes in made.items():
        text += table_of_lane(lane, sizes)
    text += breakdown(records)
    text += model(newest("model-chen")[1])
    return text
