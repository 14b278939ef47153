#!/usr/bin/env python3
"""bench/pages/ncu_bounds.py with a stand-in for ncu, which runs the command on the stand-in for the GPU plug-in and then reports planted counters."""

import json
import os
import pathlib
import tempfile

import ncu_stand_in

STAND_IN = r"""#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys
words, says = sys.argv[1:], json.loads(os.environ["STAND_IN"])
log = pathlib.Path(words[words.index("--log-file") + 1])
asked = words[words.index("--metrics") + 1].split(",")
unknown = [metric for metric in asked if metric in says["unknown"]]
if unknown:
    log.write_text("==ERROR== Failed to find metric " + unknown[0] + "\n")
    sys.exit(1)
command = words[words.index("bench") - 1:]
if code := subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
    sys.exit(code)
rows, lines = json.loads(pathlib.Path(command[command.index("--json") + 1]).read_text()), ["==PROF== Connected to process 1"]
lines.append(",".join(f'"{name}"' for name in ["ID", "Kernel Name", *asked]))
lines.append(",".join(f'"{name}"' for name in ["", ""] + ["unit"] * len(asked)))
number = 0
for row in rows * says.get("times", 1):
    for kernel in ["void areal::bench::profiled_execute<void>()", "void areal::cuda::run<areal::kernels::Lookback<areal::cuda::Machine, int>>(T1)"]:
        values = [f"{says['metrics'].get(metric, 0):,}" for metric in asked]
        lines.append(",".join('"' + value + '"' for value in [str(number), kernel, *values]))
        number += 1
log.write_text("\n".join(lines) + "\n==PROF== Disconnected\n")
"""


def run(module, folder, areal, says, *more):
    return ncu_stand_in.run(module, STAND_IN, folder, areal, says, *more)


def small(words):
    """The same run of one small image."""
    words, made = iter(words), []
    for word in words:
        if word == "--size":
            next(words)
        elif word in ("--batch", "--bins"):
            next(words)
            made += [word, "2"]
        else:
            made.append(word)
    return [*made, "--size", "64x40"]


def main():
    module, areal, arguments = ncu_stand_in.begin("ncu_bounds")
    os.environ["AREAL_BENCH_DIR"] = str(arguments.build / "tests" / "stand_in")
    stall = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio".format
    metrics = {"gpu__time_duration.sum": 12345, "dram__bytes_read.sum": 4096, "dram__bytes_write.sum": 8192, module.METRICS[3][1]: 75.5,
               "launch__registers_per_thread": 64, stall("long_scoreboard"): 6, stall("barrier"): 3, stall("wait"): 1, stall("selected"): 5}
    names = [name for name, _ in module.RUNS if name != "regions"]  # the stand-in plug-in has none
    module.RUNS = [(name, small(words)) for name, words in module.RUNS]
    only = [word for name in names for word in ("--only", name)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        says = {"unknown": [], "metrics": metrics}
        text, cases, code = run(module, folder, areal, says, *only, "--keep", str(folder / "kept"))
        assert code == 0, text
        assert [case["lane"] for case in cases[:7]] == ["32f32f", "8u32u", "64f64f", "16u32u", "32f32f", "8u32u", "8u32u+64u"], text
        assert {case["of"] for case in cases} == {"sat", "histogram"} and cases[6]["algorithm"] == "lookback", text
        assert cases[4]["border"] == "zero" and cases[7]["batch"] == 2, text
        for case in cases:
            kernel, = case["kernels"]
            assert kernel["kernel"] == "Lookback" and kernel["time_us"] == 12.345 and kernel["dram_percent"] == 75.5, kernel
            assert list(kernel["stalls"].items()) == [("long_scoreboard", 0.6), ("barrier", 0.3), ("wait", 0.1)], kernel
        # From kept output, without ncu.
        again, same, code = run(module, folder, areal, {}, *only, "--again", str(folder / "kept"))
        assert (same, code) == (cases, 0), again
        # An ncu without some counters; without one that is needed.
        text, cases, code = run(module, folder, areal, {**says, "unknown": [module.METRICS[3][1]], "metrics": {**metrics, module.METRICS[4][1]: 61}}, "--only", "hd")
        assert code == 0 and cases[0]["kernels"][0]["dram_percent"] == 61 and "this ncu has no dram__throughput" in text, text
        text, cases, code = run(module, folder, areal, {**says, "unknown": ["dram__bytes_read.sum"]}, "--only", "hd")
        assert code == "ncu_bounds: failed: hd" and cases == [], text
        # Executes that are no records are found, and cost no other run.
        (folder / "kept" / "hd.json").write_text(json.dumps([]))
        text, cases, code = run(module, folder, areal, {}, *only, "--again", str(folder / "kept"))
        assert code == "ncu_bounds: failed: hd" and len(cases) == 11 and ": 0 records, but 1 executes" in text, text
    print("ncu_bounds.py: kernels, shares, refusals and re-reading are as they should be")


if __name__ == "__main__":
    main()
