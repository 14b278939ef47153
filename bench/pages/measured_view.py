"""Drags over the page of `areal view`: the measured part of docs/view.md, from the records of bench/view_load.py."""

import rules
from figure_page import table
from measured_dask import bytes_text

PAGE = "docs/view.md"
MACHINE = "cpu-2"
FIRST_PAINT, P99 = 1.0, 16.0  # seconds for a photograph, ms at a gigapixel
SPARE = 160 << 20  # bytes beside --memory
UNITS = {"K": 10, "M": 20, "G": 30}


def milliseconds(us):
    return f"{us / 1e3:.1f} ms"


def bytes_of(text):
    return int(text[:-1]) << UNITS[text[-1]]


def drags(parts):
    return [parts[part] for part in ("first drag", "second drag")]


def row(name, parts):
    first, second = drags(parts)
    paint = parts.get("first paint")
    return [f"`{name}`", f"{first['width']}x{first['height']} {first['lane']}, {first['channels']} channel{'s' * (first['channels'] > 1)}",
            f"{paint['time_us']['median'] / 1e6:.2f} s{rules.dagger(paint)}" if paint else "-", milliseconds(first["p99_us"]), milliseconds(second["p50_us"]), milliseconds(second["p99_us"]),
            f"{second['updates_per_second']:.0f}", f"{second['drawn_per_second']:.0f}" if "drawn_per_second" in second else "-", bytes_text(max(one["private_bytes"] for one in (first, second))), f"{first['load']:.1f}"]


def verdicts(inputs):
    """Whether each target is met."""
    large = {name: parts for name, parts in inputs.items() if parts["second drag"]["width"] * parts["second drag"]["height"] >= 1e9}
    missed = [f"`{name}`: {part['part']} {milliseconds(part['p99_us'])}" for name, parts in large.items() for part in drags(parts) if part["p99_us"] >= 1e3 * P99]
    paints = [f"`{name}`: {parts['first paint']['time_us']['median'] / 1e6:.2f} s" for name, parts in inputs.items()
              if name not in large and "first paint" in parts and parts["first paint"]["time_us"]["median"] >= 1e6 * FIRST_PAINT]
    above = [f"`{name}`: {bytes_text(part['private_bytes'])}" for name, parts in inputs.items() for part in drags(parts) if part["private_bytes"] > bytes_of(part["memory"]) + SPARE]
    said = {f"a p99 below {P99:.0f} ms at a gigapixel": missed, f"a first paint of the photograph within {FIRST_PAINT:.0f} s": paints, "memory below `--memory` and 160 MiB": above}
    return "Targets: " + "; ".join(f"{words} ({'met' if not bad else 'missed by ' + ', '.join(bad)})" for words, bad in said.items()) + "."


def lines(newest):
    path, records = newest("view", MACHINE)
    if not records:
        return ["Not measured yet."]
    inputs = {}
    for record in records:
        inputs.setdefault(record["input"], {})[record["part"]] = record
    first = records[0]
    beside = "; ".join(dict.fromkeys(record["beside"] for record in records if record["beside"]))
    return ["", f"`bench/results/{path.name}`, commit {', '.join(dict.fromkeys(record['commit'] for record in records))}, on one {first['device']} with {first['cores']} cores, `--memory {first['memory']}`; "
            f"{rules.statistic(records)}. A rectangle is dragged over the whole picture for 10 s, 60 times a second, once while the picture is surveyed and once after it; a time is from the question to its answer. "
            "First paint is from the start of the command to the last visible tile in headless Chromium, where *drawn* counts the updates of a third drag. *Memory* is without mapped files. "
            "20 sums of each drag were checked. " + (f"Beside it ran {beside}; the load is the machine's at the start." if beside else "The load is the machine's at the start."), "",
            *table(["input", "size", "first paint", "p99, surveyed meanwhile", "p50", "p99", "answers a second", "drawn a second", "memory", "load"], [row(name, parts) for name, parts in inputs.items()]), "",
            verdicts(inputs), ""]
