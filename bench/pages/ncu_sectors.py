#!/usr/bin/env python3
"""Sectors of 32 bytes of three kernels, counted by the simulated machine and by ncu on a GPU.

    Lookback             8u32u   reads by asynchronous copies, writes by vector stores
    Thin                 32f32f  reads by loads, writes by stores
    ReduceThenScanWrite  the histogram's last launch, which writes the tensor

usage: ncu_sectors.py [--areal BIN] [--ncu NCU] [--json F.json] [--keep FOLDER] [--again FOLDER]

Both run the same command on the same pixels. ncu counts in two ways: by the L1's counters for the whole kernel, and by
instruction (from the addresses that it saw), which separates a table's stores from the words that tiles exchange. --keep keeps
ncu's output in a folder; --again reads it there instead of running ncu. Needs only Python. Exits with 1 if numbers that must
agree differ by more than 2 %.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

L1 = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
L2 = "lts__t_sectors_srcunit_tex_op_"
NEEDED = [f"{L1}ld.sum", f"{L1}st.sum", f"{L2}read.sum", f"{L2}write.sum"]
# Asynchronous copies through the L1 and past it. Omitted if ncu or the GPU lacks the counter.
COPIES = [f"sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_{way}.sum" for way in ("access", "bypass")]
MOST = 0.02
WORD = 8  # bytes of a published word: a value of 32 bits and a tag

# kernel, arguments of the command, type and sizes of the pixels
CASES = [
    ("Lookback", ["sat", "--border", "none", "--types", "8u32u", "--algorithm", "lookback"], "8u", ["1024x1024", "2048x2048", "1920x1080"]),
    ("Thin", ["sat", "--border", "none", "--types", "32f32f", "--algorithm", "thin"], "32f", ["262144x4", "1000000x3"]),
    ("ReduceThenScanWrite", ["hist", "--border", "none", "--bins", "32", "--algorithm", "reduce-then-scan"], "8u", ["512x512", "1024x768"]),
]


def fail(words):
    sys.exit(f"ncu_sectors: {words}")


def find_ncu(named):
    for place in [named] if named else ["ncu", *sorted(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/ncu"))),
                                        *sorted(map(str, pathlib.Path("/opt/nvidia").glob("nsight-compute/*/ncu")))]:
        found = shutil.which(place)
        if found:
            return found
    fail(f"{named or 'ncu'} was not found: it comes with the CUDA toolkit (Nsight Compute)")


def pixels_of(folder, kind, size):
    """A raw file of that many pixels. Their values do not change the counts."""
    width, height = map(int, size.split("x"))
    bytes_each = {"8u": 1, "32f": 4}[kind]
    path = folder / f"{size}x{kind}.raw"
    if not path.exists():
        path.write_bytes(bytes(i % 64 if bytes_each == 1 else 0 for i in range(4096)) * (width * height * bytes_each // 4096 + 1))
        os.truncate(path, width * height * bytes_each)
    return path


def simt_counts(areal, command, kernel):
    said = subprocess.run([areal, *command, "--backend", "simt", "--count", "--json", "--quiet"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    launches = [launch for line in said.splitlines() for launch in json.loads(line).get("launches", [])]
    launch = next(launch for launch in launches if launch["kernel"] == kernel)
    return {"reads": launch["reads"]["sectors"], "writes": launch["writes"]["sectors"],
            "posted": -(-launch["published"] * WORD // 32), "polls": launch["polls"]}


def run_ncu(words):
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if "ERR_NVGPUCTRPERM" in done.stdout or "LibraryNotLoaded" in done.stdout:
        fail("ncu may not read this machine's counters: run as root, or set the driver's option "
             f"NVreg_RestrictProfilingToAdminUsers=0.\n{done.stdout}")
    return done.returncode, done.stdout


def profile(ncu, command, kernel, kept, dropped):
    """Runs the command under ncu, and writes two CSV files: the counters, and the sectors of each instruction."""
    report = kept.with_suffix(".ncu-rep")
    report.unlink(missing_ok=True)
    while True:
        wanted = NEEDED + [metric for metric in COPIES if metric not in dropped]
        code, said = run_ncu([ncu, "--clock-control", "none", "--target-processes", "application-only", "--kernel-name-base",
                              "demangled", "--kernel-name", f"regex:.*kernels::{kernel}<.*", "--launch-count", "1", "--section",
                              "SourceCounters", "--metrics", ",".join(wanted), "--force-overwrite", "--export", str(report), *command])
        if code == 0 and report.exists():
            break
        unknown = [metric for metric in wanted if metric in COPIES and metric.removesuffix(".sum") in said]
        if not unknown:
            fail(f"{' '.join(command)}: no profile of a kernel {kernel}:\n{said}")
        dropped.update(unknown)
    for page, suffix in (("raw", ".raw.csv"), ("source", ".source.csv")):
        code, said = run_ncu([ncu, "--import", str(report), "--page", page, "--csv", "--print-units", "base"])
        if code:
            fail(f"ncu --import --page {page}:\n{said}")
        kept.with_suffix(suffix).write_text(said)


def rows_of(text):
    """The rows of a CSV page, by the names in its header, without ncu's output before it."""
    lines = text.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if line.startswith('"') and line.count('","') > 1), None)
    return list(csv.DictReader(io.StringIO("".join(lines[first:])))) if first is not None else []


def number(text):
    return float((text or "").replace(",", ""))


def counters(text):
    rows = [row for row in rows_of(text) if row.get(NEEDED[0]) and re.match(r"[\d,.]+$", row[NEEDED[0]])]
    if len(rows) != 1:
        fail(f"the raw page holds {len(rows)} kernels with {NEEDED[0]}, not one:\n{text[:2000]}")
    return {metric: number(rows[0][metric]) for metric in NEEDED + COPIES if rows[0].get(metric)}


def by_instruction(text):
    """Sectors of global memory by kind of instruction: LDGSTS, LDG, STG and so on, with ` handed` appended for relaxed accesses."""
    rows, found = rows_of(text), {}
    column = next((name for name in (rows[0] if rows else {}) if name and re.sub(r"[\W_]+", "", name).lower() in
                   ("l2theoreticalsectorsglobal", "memoryl2theoreticalsectorsglobal")), None)
    source = next((name for name in (rows[0] if rows else {}) if name in ("Source", "SASS")), None)
    if not column or not source:
        return {}
    for row in rows:
        match = re.search(r"\b(LDGSTS|LDG|LD|STG|ST|ATOMG|ATOM|REDG|RED)((?:\.\w+)*)", row[source] or "")
        if match and re.match(r"[\d,.]+$", row[column] or ""):
            kind = match.group(1) + (" handed" if ".STRONG" in match.group(2) else "")
            found[kind] = found.get(kind, 0) + number(row[column])
    return found


def compared(kernel, simt, measured, instructions):
    """Rows: what, simt's sectors, ncu's, and whether the two should agree."""
    copies = sum(measured.get(metric, 0) for metric in COPIES)
    loads, stores = measured[f"{L1}ld.sum"], measured[f"{L1}st.sum"]
    rows = []
    if instructions:
        plain = sum(instructions.get(kind, 0) for kind in ("LDGSTS", "LDG", "LD"))
        rows.append(("read, by instruction", simt["reads"], plain, True))
        rows.append(("written, by instruction", simt["writes"], sum(instructions.get(kind, 0) for kind in ("STG", "ST")), True))
    # The L1 counts asynchronous copies among its loads. The number of polls depends on the schedule.
    polls = kernel != "ReduceThenScanWrite"
    if kernel == "Lookback" and copies:  # all its other loads are polls
        rows.append(("read, by the L1's counters", simt["reads"], copies, True))
        rows.append(("polled, by the L1's counters", None, loads - copies, False))
    else:
        rows.append(("read" + (" and polled" if polls else "") + ", by the L1's counters", simt["reads"], loads, not polls))
    rows.append(("written and handed over, by the L1's counters", simt["writes"] + simt["posted"], stores, True))
    # Not checked: the L1 merges reads of the same sector, and spilt registers are read and written, too.
    rows.append(("read" + (" and polled" if polls else "") + ", by the L2's counters", simt["reads"], measured[f"{L2}read.sum"], False))
    rows.append(("written and handed over, by the L2's counters", simt["writes"] + simt["posted"], measured[f"{L2}write.sum"], False))
    return [{"what": what, "simt": ours, "ncu": theirs, "difference": theirs / ours - 1 if ours else None, "should_agree": agree}
            for what, ours, theirs, agree in rows]


def table(records):
    lines = ["| kernel | size | sectors | simt | ncu | difference |", "| --- | --- | --- | --- | --- | --- |"]
    for record in records:
        for row in record["rows"]:
            ours = f"{row['simt']:.0f}" if row["simt"] is not None else ""
            off = "" if row["difference"] is None else f"{100 * row['difference']:+.2f} %" + ("" if row["should_agree"] else ", not checked")
            lines.append(f"| {record['algorithm']} | {record['width']}x{record['height']} | {row['what']} | {ours} | {row['ncu']:.0f} | {off} |")
    return "\n".join(lines)


def parser_of(words):
    """The arguments of every tool that runs ncu. The command is by default the one in the tool's bundle, or that of the Release build."""
    here = pathlib.Path(__file__).resolve().parent
    built = [here / "bin" / "areal", here.parents[1] / "build" / "release" / "apps" / "areal" / "areal"]
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--areal", default=next((str(path) for path in built if path.exists()), "areal"))
    parser.add_argument("--ncu")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--again", type=pathlib.Path)
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", help="one kernel's cases", choices=[case[0] for case in CASES])
    arguments = parser.parse_args()
    ncu = None if arguments.again else find_ncu(arguments.ncu)
    records, dropped = [], set()
    with tempfile.TemporaryDirectory() as scratch:
        keep = arguments.again or arguments.keep or pathlib.Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        for kernel, words, kind, sizes in CASES:
            for size in sizes if arguments.only in (None, kernel) else []:
                command = [words[0], str(pixels_of(pathlib.Path(scratch), kind, size)), "--raw", f"{size}x{kind}", *words[1:]]
                kept = keep / f"{kernel}-{size}"
                if ncu:
                    profile(ncu, [arguments.areal, *command, "--backend", "cuda", "--quiet"], kernel, kept, dropped)
                measured = counters(kept.with_suffix(".raw.csv").read_text())
                source = kept.with_suffix(".source.csv").read_text()
                instructions = by_instruction(source)
                simt = simt_counts(arguments.areal, command, kernel)
                width, height = map(int, size.split("x"))
                records.append({"what": "sectors", "algorithm": kernel, "width": width, "height": height, "type": kind,
                                "commit": os.environ.get("AREAL_COMMIT", "unknown"), "simt": simt, "ncu": measured,
                                "instructions": instructions, "source_page": "" if instructions else source[:2000], "rows": compared(kernel, simt, measured, instructions)})
    print(table(records))
    if dropped:
        print("this ncu has no " + ", ".join(sorted(dropped)))
    if not all(record["instructions"] for record in records):
        print("this ncu's source page names no sectors by instruction")
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1) + "\n")
    wrong = [(record, row) for record in records for row in record["rows"]
             if row["should_agree"] and abs(row["difference"]) > MOST]
    for record, row in wrong:
        print(f"more than 2 % off: {record['algorithm']} {record['width']}x{record['height']}: {row['what']}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
