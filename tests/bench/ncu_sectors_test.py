#!/usr/bin/env python3
"""bench/pages/ncu_sectors.py with a stand-in for ncu, which reports the simulated machine's counts or different ones."""

import json
import pathlib
import tempfile

import ncu_stand_in

STAND_IN = r"""#!/usr/bin/env python3
import json, os, pathlib, sys
words, says = sys.argv[1:], json.loads(os.environ["STAND_IN"])
if "--import" in words:
    kernel = pathlib.Path(words[words.index("--import") + 1]).read_text()
    said = says[kernel]
    print("==PROF== something else first")
    if words[words.index("--page") + 1] == "raw":
        names = [*said["metrics"]]
        print(",".join(f'"{name}"' for name in ["ID", "Kernel Name", *names]))
        print(",".join('"' + name + '"' for name in ["", ""] + ["sector"] * len(names)))
        print(",".join(f'"{value}"' for value in ["0", kernel, *(f"{v:,}" for v in said["metrics"].values())]))
    else:
        print('"#","Source","L2 Theoretical Sectors Global","Samples"')
        for i, (source, sectors) in enumerate(said["sass"]):
            print(f'"{i}","{source}","{sectors}","7"')
else:
    if "permission" in says:
        sys.exit("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
    asked = words[words.index("--metrics") + 1].split(",")
    unknown = [metric for metric in asked if metric in says["unknown"]]
    if unknown:
        sys.exit("==ERROR== Failed to find metric " + unknown[0])
    name = words[words.index("--kernel-name") + 1]
    pathlib.Path(words[words.index("--export") + 1]).write_text(name.removeprefix("regex:.*kernels::").removesuffix("<.*"))
"""


def said_of(module, simt):
    """ncu's output for a GPU that does the same as the simulated machine and polls 100 sectors."""
    polls = 100
    handed = simt["posted"]
    metrics = {f"{module.L1}ld.sum": simt["reads"] + polls, f"{module.L1}st.sum": simt["writes"] + handed,
               f"{module.L2}read.sum": simt["reads"] + polls, f"{module.L2}write.sum": simt["writes"] + handed,
               module.COPIES[0]: 0, module.COPIES[1]: simt["reads"]}
    sass = [["LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64]", simt["reads"]], ["LDG.E.64.STRONG.GPU R2, [R4]", polls],
            ["@!P0 STG.E.EF.128 desc[UR4][R2.64], R4", simt["writes"]], ["STG.E.64.STRONG.GPU [R2], R4", handed],
            ["IADD3 R1, R2, R3, RZ", 0]]
    return {"metrics": metrics, "sass": sass}


def run(module, folder, areal, says, *more):
    return ncu_stand_in.run(module, STAND_IN, folder, areal, says, *more)


def main():
    module, areal, _ = ncu_stand_in.begin("ncu_sectors")
    module.CASES = [(kernel, words, kind, [size]) for (kernel, words, kind, _), size in
                    zip(module.CASES, ("256x256", "9000x3", "128x128"))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        says = {"unknown": []}
        for kernel, words, kind, (size,) in module.CASES:
            command = [words[0], str(module.pixels_of(folder, kind, size)), "--raw", f"{size}x{kind}", *words[1:]]
            simt = module.simt_counts(areal, command, kernel)
            assert simt["reads"] > 0 and simt["writes"] > 0, (kernel, simt)
            assert (simt["posted"] > 0) == (kernel != "ReduceThenScanWrite"), (kernel, simt)
            says[kernel] = said_of(module, simt)
        says["ReduceThenScanWrite"]["metrics"][f"{module.L1}ld.sum"] -= 100  # no polls there
        text, records, code = run(module, folder, areal, says, "--keep", str(folder / "kept"))
        assert code == 0, text
        assert [record["algorithm"] for record in records] == ["Lookback", "Thin", "ReduceThenScanWrite"]
        assert all(row["difference"] == 0 for record in records for row in record["rows"] if row["should_agree"]), text
        assert records[0]["instructions"]["LDG handed"] == 100, records[0]
        # From kept output, without ncu.
        again, _, code = run(module, folder, areal, {"unknown": []}, "--again", str(folder / "kept"))
        assert (again, code) == (text, 0), again
        # An older ncu without the copies' counters, or without sectors by instruction.
        text, records, code = run(module, folder, areal, {**says, "unknown": module.COPIES})
        assert code == 0 and "this ncu has no" in text, text
        bare = {**says, "Lookback": {**says["Lookback"], "sass": []}}
        text, _, code = run(module, folder, areal, bare, "--only", "Lookback")
        assert code == 0 and "names no sectors by instruction" in text, text
        # The check finds a difference of 3 % in any of the counters that must agree.
        for kernel, metric in (("Lookback", module.COPIES[1]), ("Lookback", f"{module.L1}st.sum"), ("ReduceThenScanWrite", f"{module.L1}ld.sum")):
            off = json.loads(json.dumps(says))
            off[kernel]["metrics"][metric] = round(off[kernel]["metrics"][metric] * 1.03)
            text, _, code = run(module, folder, areal, off, "--only", kernel)
            assert code == 1 and f"more than 2 % off: {kernel}" in text, (metric, text)
        _, _, code = run(module, folder, areal, {"permission": 0})
        assert "may not read this machine's counters" in str(code), code
    print("ncu_sectors.py: agreement, differences, refusals and re-reading are as they should be")


if __name__ == "__main__":
    main()
