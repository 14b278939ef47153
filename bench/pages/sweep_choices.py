#!/usr/bin/env python3
"""The best choices for src/policy/sat_choice.hpp, from a record of `areal bench sat --table sweep`.

usage: sweep_choices.py [RECORD] [--all]   (the newest *-cuda-sat-sweep.json of bench/results without RECORD)

First each case in which `auto` is not the best row (--all: every case): what it chose, its time over the best row's, and which rows are
within 3 % of the best or cannot be told from it. Then, for each size of pixel and entry, thresholds of the rules of best_sat that
keep every case within 3 %, or come nearest to that: for both borders together and for each alone. Of a threshold it prints the range
in which it may lie, as far as this record tells. Exits with 1 if a case stays beyond 3 % with these thresholds.
"""

import argparse
import itertools
import json
import math
import sys
from pathlib import Path

MOST = 1.03
LONGEST = 3072  # longer sides have no all-partials
INFINITE = math.inf
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def rows_of(case):
    """Algorithm -> row; for the choice of `auto` its own row, if it has one."""
    rows = {}
    for row in case["rows"]:
        if row["algorithm"] != "auto":
            rows[row["algorithm"]] = row
    for row in case["rows"]:
        if row["algorithm"] == "auto":
            rows.setdefault(row["chose"], row)
    return rows


def best_of(case):
    """The best row's algorithm, and the row. `auto` counts as its choice."""
    row = min(case["rows"], key=lambda row: row["median"])
    return (row["chose"] if row["algorithm"] == "auto" else row["algorithm"]), row


def chosen(case):
    return next(row["chose"] for row in case["rows"] if row["algorithm"] == "auto")


def ratio(case, algorithm):
    """The algorithm's time over the best row's; infinite if it was not measured."""
    row = rows_of(case).get(algorithm)
    return row["median"] / best_of(case)[1]["median"] if row else INFINITE


def is_enough(case, algorithm):
    """Is the row within 3 % of the best, or not significantly slower? The rule of tests/policy/sat_sweep_test.cpp."""
    row, best = rows_of(case).get(algorithm), best_of(case)[1]
    return row is not None and (row["median"] <= MOST * best["median"] or row["between"][0] <= best["between"][1])


def enough(case):
    return sorted((name for name in rows_of(case) if is_enough(case, name)), key=lambda name: ratio(case, name))


def size_of(case):
    return f"{case['width']}x{case['height']}" + (f"x{case['batch']}" if case["batch"] > 1 else "")


def pixels(case):
    return case["width"] * case["height"] * case["batch"]


def shorter(case):
    return min(case["width"], case["height"])


def bytes_of(lane):
    """The bytes of a pixel and of an entry: 1 and 4 for 8u32f."""
    digits = "".join(letter if letter.isdigit() else " " for letter in lane).split()
    return BYTES[digits[0]], BYTES[digits[1]]


def choice(case, few, bands, diagonal):
    """Simpler rules than best_sat's: no range of sizes by border, no count of tiles, batches as large images."""
    if max(case["width"], case["height"]) <= LONGEST and pixels(case) <= few:
        return "all-partials"
    if case["batch"] == 1 and "bands" in rows_of(case) and bands[case["border"]][0] <= shorter(case) < bands[case["border"]][1]:
        return "bands"
    return "lookback-diagonal" if shorter(case) >= diagonal else "lookback"


def fit(cases):
    """The cost, and the thresholds `few`, `bands` of each border (from a side on, below another) and `diagonal`."""
    known = {}

    def cost(case, name):
        """Is the choice beyond 3 %, and by how much; does it differ from that of `auto`, and its ratio."""
        key = id(case), name
        if key not in known:
            far = not is_enough(case, name)
            known[key] = (far, ratio(case, name) - 1 if far else 0, name != chosen(case), math.log(ratio(case, name)) if name in rows_of(case) else INFINITE)
        return known[key]

    def cost_of(few, bands, diagonal):
        return tuple(map(sum, zip(*(cost(case, choice(case, few, bands, diagonal)) for case in cases))))

    borders = sorted({case["border"] for case in cases})
    areas = [0] + sorted({pixels(case) for case in cases if max(case["width"], case["height"]) <= LONGEST})
    sides = sorted({shorter(case) for case in cases if case["batch"] == 1})
    sides_of_bands = []
    for border in borders:
        taken = {shorter(case) for case in cases if case["border"] == border and case["batch"] == 1 and "bands" in rows_of(case)}
        sides_of_bands.append([(INFINITE, INFINITE)] + [(low, high) for low in sorted(taken) for high in [*sides, INFINITE] if low < high])
    sides_of_all = sorted({shorter(case) for case in cases}) + [INFINITE]
    return min(((cost_of(few, dict(zip(borders, bands)), diagonal), few, dict(zip(borders, bands)), diagonal)
                 for few in areas for bands in itertools.product(*sides_of_bands) for diagonal in sides_of_all), key=lambda one: one[0])


def ranges(cases, few, bands, diagonal):
    """The range of each threshold in which the choices for this record do not change."""
    def between(values, holds):
        """The largest value for which the condition fails and the least for which it holds."""
        return max((value for value in values if not holds(value)), default=0), min((value for value in values if holds(value)), default=INFINITE)

    areas = {pixels(case) for case in cases if max(case["width"], case["height"]) <= LONGEST}
    found = {"few": (max((area for area in areas if area <= few), default=0), min((area for area in areas if area > few), default=INFINITE))}
    for border, (side, end) in bands.items():
        here = {shorter(case) for case in cases if case["border"] == border and case["batch"] == 1 and "bands" in rows_of(case)
                and choice(case, few, bands, diagonal) != "all-partials"}
        found["bands", border] = between(here, lambda value, side=side: value >= side)
        found["end", border] = between(here, lambda value, end=end: value >= end)
    left = {shorter(case) for case in cases if choice(case, few, bands, diagonal).startswith("lookback")}
    found["diagonal"] = between(left, lambda value: value >= diagonal)
    return found


def from_to(low, high):
    """The text of a least side: any value above `low` up to `high`."""
    if high == INFINITE:
        return f"never (longest here {low})" if low else "never"
    return f"from {high}" + (f" (any from {low + 1} on)" if low else " or less")


def below(low, high):
    """The text of a first side that is too long: any value above `low` up to `high`."""
    return "" if high == INFINITE else f", below {high} (any from {low + 1} on)"


def proposal(cases):
    """The lines, and the cases that remain beyond 3 %."""
    (beyond, _, changed, _), few, bands, diagonal = fit(cases)
    found = ranges(cases, few, bands, diagonal)
    low, high = found["few"]
    most = "all" if high == INFINITE else f"below {math.sqrt(high):.0f}^2"
    lines = [f"all-partials up to {math.sqrt(low):.0f}^2 pixels in all images ({most}), longer side up to {LONGEST}"]
    lines += [f"bands, border {border}: shorter side {from_to(*found['bands', border])}{below(*found['end', border])}" for border in bands if any("bands" in rows_of(case) and case["border"] == border for case in cases)]
    lines.append(f"lookback-diagonal for what is left: shorter side {from_to(*found['diagonal'])}")
    far = [(case, choice(case, few, bands, diagonal)) for case in cases if not is_enough(case, choice(case, few, bands, diagonal))]
    lines.append(f"{len(cases)} cases, of which {changed} change; {beyond} beyond 3 %, {sum(not is_enough(case, chosen(case)) for case in cases)} with auto's choices")
    lines += [f"  beyond: {case['lane']} {size_of(case)} {case['border']}: {name} {ratio(case, name):.3f}, enough are {' '.join(enough(case))}" for case, name in far]
    return lines, far


def plain(record):
    """The cases with a choice: those with squares only have the default."""
    return [case for case in record if "+" not in case["lane"]]


def report(record, every):
    """The text, and the number of cases that remain beyond 3 %."""
    lines = []
    for case in record:
        name, stays = chosen(case), is_enough(case, chosen(case))
        if every or not stays or best_of(case)[0] != name:
            lines.append(f"{'   ' if stays else '!! '}{case['lane']} {size_of(case)} {case['border']}: auto {name} {ratio(case, name):.3f} of {best_of(case)[0]}; "
                         f"enough are {', '.join(f'{one} {ratio(case, one):.3f}' for one in enough(case))}; fraction {case['fraction']:.2f}")
    groups, beyond = {}, 0
    for case in plain(record):
        groups.setdefault(bytes_of(case["lane"]), []).append(case)
    for (small, large), cases in sorted(groups.items()):
        lines += ["", f"pixels of {small} byte{'s' * (small > 1)}, entries of {large} ({', '.join(dict.fromkeys(case['lane'] for case in cases))})"]
        borders = list(dict.fromkeys(case["border"] for case in cases))
        for some in [borders] + ([[border] for border in borders] if len(borders) > 1 else []):
            words, far = proposal([case for case in cases if case["border"] in some])
            lines += [f"  border {' and '.join(some)}:", *(f"    {word}" for word in words)]
            if some == borders:
                beyond += len(far)
    lines += ["", f"{len(plain(record))} cases; {beyond} stay beyond 3 % where both borders share the thresholds of all-partials and lookback-diagonal"]
    return "\n".join(lines), beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, nargs="?")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    results = Path(__file__).resolve().parents[1] / "results"
    record = arguments.record or max(results.glob("*-cuda-sat-sweep.json"), default=None)
    if record is None:
        sys.exit("sweep_choices: bench/results has no *-cuda-sat-sweep.json")
    text, beyond = report(json.loads(record.read_text()), arguments.all)
    print(text)
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
