#!/usr/bin/env python3
"""The bounds of each case's kernels, by ncu's counters of one execute.

usage: ncu_bounds.py [--areal BIN] [--ncu NCU] [--json F.json] [--keep FOLDER] [--again FOLDER] [--only NAME]

`areal bench` runs the cases and checks each result; ncu profiles the execute that is checked, with the caches and clocks as it
finds them. --keep keeps ncu's output and the command's records in a folder; --again reads them there instead of running anything.
A run that fails is told, the others go on. Needs only Python. Exits with 1 if a run failed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ncu_sectors import find_ncu, number, parser_of, rows_of, run_ncu  # noqa: E402

MARK = "profiled_execute"  # bench/device/profiled.cuh: the kernel before each execute
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
REASONS = ("barrier", "branch_resolve", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar",
           "mio_throttle", "misc", "no_instruction", "not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait")
# Name in the record, metric of ncu, factor
METRICS = [("time_us", "gpu__time_duration.sum", 1e-3), ("dram_read", "dram__bytes_read.sum", 1), ("dram_written", "dram__bytes_write.sum", 1),
           ("dram_percent", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 1), ("dram_percent", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 1),  # where an ncu lacks the first
           ("l2_percent", "lts__throughput.avg.pct_of_peak_sustained_elapsed", 1),
           ("l1_percent", "l1tex__throughput.avg.pct_of_peak_sustained_active", 1), ("issue_percent", "sm__inst_issued.avg.pct_of_peak_sustained_elapsed", 1),
           ("eligible", "smsp__warps_eligible.avg.per_cycle_active", 1), ("occupancy_percent", "sm__warps_active.avg.pct_of_peak_sustained_active", 1),
           ("registers", "launch__registers_per_thread", 1), ("blocks", "launch__grid_size", 1), ("threads", "launch__block_size", 1)]
NEEDED = ("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")

SIZES = ["--size", "1024x1024", "--size", "4096x4096", "--size", "16384x16384"]
TABLES = ["sat", "--table", "sweep", "--algorithm", "auto"]
TENSORS = ["histogram", "--table", "all", "--algorithm", "auto"]


def types(*names):
    return [word for name in names for word in ("--types", name)]


# Name of the run, words of `areal bench`
RUNS = [("tables", [*TABLES, *SIZES, "--border", "none", *types("32f32f", "8u32u", "64f64f", "16u32u")]),
        ("bordered", [*TABLES, *SIZES, "--border", "zero", *types("32f32f", "8u32u")]),
        ("squares", [*TABLES, *SIZES, "--border", "none", "--squares=64u", *types("8u32u")]),
        ("frames", [*TABLES, "--size", "640x480", "--batch", "64", "--border", "none", *types("8u32u")]),
        ("hd", [*TABLES, "--size", "1920x1080", "--border", "none", *types("8u32u")]),
        ("tensors", [*TENSORS, "--size", "640x480", "--size", "1920x1080", "--size", "3840x2160", "--bins", "32"]),
        ("tensors-batch", [*TENSORS, "--size", "640x480", "--batch", "32", "--bins", "32"]),
        ("tensors-128", [*TENSORS, "--size", "8192x8192", "--bins", "128"]),
        ("regions", ["region", "--backend", "cuda"])]
KEPT = ("what", "algorithm", "lane", "width", "height", "bins", "batch", "border", "device", "commit", "bytes")


def profile(ncu, areal, words, kept, dropped):
    """Runs the case under ncu, and writes the raw page and the records to files."""
    records = kept.with_suffix(".json")
    laboratory = str(pathlib.Path(areal).with_name("areal-lab"))  # which `areal bench` runs; ncu follows no exec
    while True:
        records.unlink(missing_ok=True)
        log = kept.with_suffix(".csv")
        wanted = [metric for _, metric, _ in METRICS] + [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in REASONS]
        wanted = [metric for metric in wanted if metric not in dropped]
        code, said = run_ncu([ncu, "--clock-control", "none", "--cache-control", "none", "--profile-from-start", "off", "--target-processes", "application-only",
                              "--metrics", ",".join(wanted), "--page", "raw", "--csv", "--print-units", "base", "--print-kernel-base", "demangled", "--log-file", str(log),
                              laboratory, "bench", *words, "--no-peers", "--repetitions", "1", "--json", str(records)])
        told = said + (log.read_text() if log.exists() else "")
        if code == 0 and records.exists():
            return
        refused = "\n".join(line for line in told.splitlines() if re.search("error|warning|failed|not available", line, re.IGNORECASE))
        unknown = [metric for metric in wanted if metric.partition(".")[0] in refused and metric not in NEEDED]
        if not unknown:
            raise RuntimeError(f"areal bench {' '.join(words)}: status {code}\n{told[-2000:]}")
        dropped.update(unknown)


def kernel_name(demangled):
    """The name of a kernel of ours, such as `Lookback`, by the object that it runs."""
    match = re.search(r"kernels::(\w+)\s*<", demangled) or re.search(r"(\w+)\s*[<(]", demangled)
    return match.group(1) if match else demangled


def kernel_of(row):
    """Parses a line of ncu's raw page."""
    found = {"kernel": kernel_name(row["Kernel Name"])}
    for name, metric, factor in METRICS:
        if name not in found and re.match(r"[\d,.]+$", row.get(metric) or ""):
            value = round(number(row[metric]) * factor, 3)
            found[name] = int(value) if value.is_integer() else value
    stalls = {match.group(1): number(value) for metric, value in row.items()
              if (match := STALL.match(metric or "")) and re.match(r"[\d,.]+$", value or "")}
    stalls.pop("selected", None)  # it is the one that issues
    total = sum(stalls.values())
    found["stalls"] = {reason: round(value / total, 3) for reason, value in sorted(stalls.items(), key=lambda one: -one[1])[:3]} if total > 0 else {}
    return found


def executes_of(text):
    """The kernels of each execute, by the marks before them."""
    executes = []
    for row in rows_of(text):
        if not re.match(r"\d+$", row.get("ID") or ""):
            continue  # the line of units
        if MARK in row["Kernel Name"]:
            executes.append([])
        elif not executes:
            raise RuntimeError(f"a kernel before the first mark: {row['Kernel Name']}")
        else:
            executes[-1].append(kernel_of(row))
    return executes


def cases_of(kept):
    records, executes = json.loads(kept.with_suffix(".json").read_text()), executes_of(kept.with_suffix(".csv").read_text())
    if len(records) != len(executes) or not all(executes):
        raise RuntimeError(f"{len(records)} records, but {len(executes)} executes, of {[len(kernels) for kernels in executes]} kernels")
    cases = []
    for record, kernels in zip(records, executes):
        chose = next((row["chose"] for row in record.get("rows", ()) if "chose" in row), None)
        case = {"what": "bounds", "of": record["what"]} | {key: record[key] for key in KEPT[1:] if key in record}
        cases.append(case | ({"algorithm": chose} if chose else {}) | {"kernels": kernels})
    return cases


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", action="append", choices=[name for name, _ in RUNS])
    arguments = parser.parse_args()
    ncu = None if arguments.again else find_ncu(arguments.ncu)
    cases, dropped, failed = [], set(), []
    with tempfile.TemporaryDirectory() as scratch:
        keep = arguments.again or arguments.keep or pathlib.Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        for name, words in RUNS:
            if arguments.only and name not in arguments.only:
                continue
            try:
                if ncu:
                    profile(ncu, arguments.areal, words, keep / name, dropped)
                cases += cases_of(keep / name)
            except (RuntimeError, OSError, ValueError, KeyError) as error:
                failed.append(name)
                print(f"ncu_bounds: {name}: {error}", file=sys.stderr)
            if arguments.json:  # what ends the run early does not take what is there
                arguments.json.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    for case in cases:
        print(case["algorithm"], case["lane"], f"{case['width']}x{case['height']}", case["border"], json.dumps(case["kernels"]))
    if dropped:
        print("this ncu has no " + ", ".join(sorted(dropped)))
    sys.exit(f"ncu_bounds: failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
