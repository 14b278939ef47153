"""Two sections of docs/notes/scoreboard.md, each from the newest record of its kind, if there is one: the choices of `auto`
(DATE-cuda-sat-sweep.json) and the bound of each case (DATE-cuda-bounds.json)."""

import json
from pathlib import Path

import rules
import sweep_choices

PRESENT = Path(__file__).with_name("sat_choices.json")  # what src/policy/sat_choice.hpp chooses now in the cases of a record; sat_sweep_test holds and writes it

# ncu's reasons of stalled warps, in words
STALLS = {"long_scoreboard": "global memory", "barrier": "a barrier", "short_scoreboard": "shared memory and shuffles", "lg_throttle": "the queue of global accesses",
          "mio_throttle": "the queue of shared accesses and shuffles", "wait": "fixed latencies", "sleeping": "polls that pause", "membar": "fences",
          "not_selected": "other warps' turns", "math_pipe_throttle": "arithmetic", "no_instruction": "instructions", "branch_resolve": "branches",
          "drain": "stores at the end", "tex_throttle": "the L1's queue", "dispatch_stall": "dispatch", "imc_miss": "constants"}
UNITS = {"dram_percent": "DRAM", "l2_percent": "L2", "l1_percent": "L1", "issue_percent": "issue"}
BUSY, IDLE = 80, 60  # percent of a unit's peak: where Nsight Compute's own rules draw the lines between throughput, both, and latency


def of_kind(found, cases):
    return found.get(("cuda", cases), (None, []))


def source(path, records):
    return f"`bench/results/{path.name}`, commit {', '.join(dict.fromkeys(record['commit'] for record in records))}:"


# ---------------------------------------------------------------- what `auto` chooses


def present_choices(path, cases):
    """Case -> the present choice of `auto`, for the record that PRESENT was written for; for other records the choice when they were measured."""
    present = json.loads(PRESENT.read_text())
    known = present["choices"] if path is not None and present["record"] == path.name else {}
    return [known[f"{case['lane']} {case['border']} {case['width']}x{case['height']}x{case['batch']}"] if known else sweep_choices.chosen(case) for case in cases]


def fraction_of(case, name):
    return case["floor_us"] / sweep_choices.rows_of(case)[name]["median"]


def choice_cell(case, name):
    best = sweep_choices.best_of(case)[0]
    text = f"{name} {fraction_of(case, name):.2f}"
    return text if sweep_choices.is_enough(case, name) else f"**{text}** ({best}, {sweep_choices.ratio(case, name):.2f})"


def choices(found):
    path, cases = of_kind(found, "sat-sweep")
    if not cases:
        return []
    names = present_choices(path, cases)
    ratios = [sweep_choices.ratio(case, name) for case, name in zip(cases, names)]
    far = [case for case, name in zip(cases, names) if not sweep_choices.is_enough(case, name)]
    near = sum(ratio <= sweep_choices.MOST for ratio in ratios)
    lines = ["", "## What `auto` chooses on a GPU", "",
             "`areal bench sat --table sweep` times `auto` and every algorithm that it may choose, in rounds of random order, and checks each table. A cell names the choice of `auto` and "
             "gives floor / its time. It is **bold** if another algorithm is faster by more than 3 % and the medians' 95 % intervals do not overlap; the cell then also names that "
             "algorithm, with `auto`'s time divided by its time. "
             f"Of {len(cases)} cases, `auto` is within 3 % of the fastest in {near}, indistinguishable from it in {len(cases) - near - len(far)} more, and slower in {len(far)}; "
             f"it takes at most {max(ratios):.2f} times the fastest time. `sat_sweep_test` checks this.",
             "", "; ".join(dict.fromkeys(case["device"] for case in cases)) + ". " + source(path, cases)]
    for border in dict.fromkeys(case["border"] for case in cases):
        here = [case for case in cases if case["border"] == border]
        lanes = list(dict.fromkeys(case["lane"] for case in here))
        lines += ["", f"Border `{border}`:", "", f"| size | {' | '.join(lanes)} |", "| --- |" + " --- |" * len(lanes)]
        cells = {(sweep_choices.size_of(case), case["lane"]): choice_cell(case, name) for case, name in zip(cases, names) if case["border"] == border}
        for size in dict.fromkeys(sweep_choices.size_of(case) for case in here):
            lines.append(f"| {size} | " + " | ".join(cells.get((size, lane), "") for lane in lanes) + " |")
    return lines


# ---------------------------------------------------------------- what bounds each case


def bound(kernel):
    """The bound, by the busiest unit and the waits of warps."""
    busy, unit = max(((kernel[key], name) for key, name in UNITS.items() if key in kernel), default=(0, ""))
    reason = next(iter(kernel["stalls"]), None)
    waits = f"waiting for {STALLS.get(reason, reason)}" if reason else "latency"
    return unit if busy >= BUSY else waits if busy < IDLE else f"{unit}, and {waits}"


def percent(kernel, key):
    return f"{kernel[key]:.0f}" if key in kernel else ""


def moved(case, kernel):
    """The bytes that DRAM read and wrote, over the least that the case must read and write."""
    return f"{(kernel['dram_read'] + kernel['dram_written']) / case['bytes']:.2f}" if case.get("bytes") and "dram_read" in kernel and "dram_written" in kernel else ""


def key_of(kind, row, algorithm):
    """The key of a measurement. The records of tensors have only `auto`."""
    return kind, row.get("lane"), row["width"], row["height"], row["batch"], row.get("border") or "none", row["bins"], None if kind == "histogram" else algorithm


def fractions_of(found):
    """Floor / areal of the cases that ncu profiles, as measured without it; the newest counts."""
    path, cases = of_kind(found, "sat-sweep")
    fractions = {key_of("sat", case, name): fraction_of(case, name) for case, name in zip(cases, present_choices(path, cases))}
    for (machine, _), (_, records) in sorted(found.items(), key=lambda one: one[1][0].name):
        for row in records if machine == "cuda" else ():
            if row.get("what") in ("histogram", "region") and "fraction" in row and "shown" not in row:
                fractions[key_of(row["what"], row, row["algorithm"])] = row["fraction"]
    return fractions


def case_name(case):
    words = [case["of"], case.get("lane") or "", f"{case['width']}x{case['height']}"]
    if case["batch"] > 1:
        words.append(f"{case['batch']} {'regions' if case['of'] == 'region' else 'images'}")
    words += [f"{case['bins']} bins"] if case["bins"] else []
    words += [f"border {case['border']}"] if case.get("border") not in (None, "none") else []
    return " ".join(word for word in words if word)


def fraction_text(fraction, notes):
    if not fraction:
        return ""
    return f"{fraction:.2f}" + (notes.mark("Explained [above](#region).") if f"{fraction:.2f}" > "1.00" else "")


def bounds(found):
    path, cases = of_kind(found, "bounds")
    if not cases:
        return []
    fractions, notes = fractions_of(found), rules.Notes()
    lines = ["", "## What bounds each case on a GPU", "",
             "`bench/pages/ncu_bounds.py` profiles an execute whose result it checks, without resetting caches or clocks. Kernels of one case run one after another. DRAM, L2, L1 and issue "
             "are percentages of the unit's peak; moved is the bytes that DRAM read and wrote for each byte of image and table (below 1 if the L2 still holds some). Waits are shares of all samples "
             f"in which a warp did not issue. The bound is the busiest unit from {BUSY} % on, the most frequent wait below {IDLE} %, and both in between, as in Nsight Compute's own rules. The fraction comes from the newest "
             "measurement without a profiler. [The notes](cuda-sat.md) record the attempts on cases below their target.",
             "", "; ".join(dict.fromkeys(case["device"] for case in cases)) + ". " + source(path, cases), "",
             "| case | algorithm | fraction | kernel | us | DRAM | moved | L2 | L1 | issue | occupancy | warps wait for | bound |", "| --- |" + " --- |" * 12]
    for case in cases:
        fraction = fractions.get(key_of(case["of"], case, case["algorithm"]))
        head = [case_name(case), f"`{case['algorithm']}`", fraction_text(fraction, notes)]
        for kernel in case["kernels"]:
            waits = ", ".join(f"{STALLS.get(reason, reason)} {100 * share:.0f} %" for reason, share in kernel["stalls"].items())
            cells = [f"`{kernel['kernel']}`", f"{kernel['time_us']:.1f}", percent(kernel, "dram_percent"), moved(case, kernel), percent(kernel, "l2_percent"),
                     percent(kernel, "l1_percent"), percent(kernel, "issue_percent"), percent(kernel, "occupancy_percent"), waits, bound(kernel)]
            lines.append("| " + " | ".join([*head, *cells]) + " |")
            head = ["", "", ""]
    return lines + notes.lines()
