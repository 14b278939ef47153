#!/usr/bin/env python3
"""Registers, spills and occupancy of every kernel, as a page.

    bench/pages/kernel_resources.py [--build build/release] [--arch 90] [--record FOLDER] > docs/kernel-resources.md
    bench/pages/kernel_resources.py --recorded FOLDER > docs/kernel-resources.md

Compiles each CUDA unit of the library once more, with the flags of that build but for one architecture, and reads what
ptxas says of each entry (registers, spilled bytes) and what the PTX asks for (threads of a block). No GPU is needed. The
build must be an optimised one: ./run build or ./run gpu-bundle, not CI's. --record keeps what was read, for --recorded.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# A multiprocessor of sm_90: CUDA C++ Programming Guide, "Compute Capabilities".
REGISTERS, WARPS, BLOCKS, GRANULE = 65536, 64, 32, 256  # registers are given to a warp in units of 256


@dataclasses.dataclass
class Entry:
    symbol: str
    registers: int = 0
    stack: int = 0
    stores: int = 0
    loads: int = 0
    threads: int = 0
    asked: int = 0  # blocks of a multiprocessor that __launch_bounds__ asks for


def from_log(log):
    """Entries by symbol, from what `ptxas -v` prints. A function that an entry calls adds its spills to it."""
    entries, entry = {}, None
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\S+)'", line):
            entry = entries.setdefault(m[1], Entry(m[1]))
        elif entry and (m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            entry.stack += int(m[1])
            entry.stores += int(m[2])
            entry.loads += int(m[3])
        elif entry and (m := re.search(r"Used (\d+) registers", line)):
            entry.registers = int(m[1])
    return entries


def add_bounds(entries, ptx):
    """Threads and blocks of __launch_bounds__, which stand between an entry's parameters and its body."""
    for m in re.finditer(r"\.entry (\S+?)\(.*?\)(.*?)\{", ptx, re.S):
        if m[1] not in entries:
            continue
        for name, word in (("threads", "maxntid"), ("asked", "minnctapersm")):
            if found := re.search(rf"\.{word} (\d+)", m[2]):
                setattr(entries[m[1]], name, int(found[1]))


def blocks_by_registers(entry):
    warps = -(-entry.threads // 32)
    granules = -(-entry.registers * 32 // GRANULE) * warps
    return min(REGISTERS // (granules * GRANULE), WARPS // warps, BLOCKS)


def kernel_of(demangled):
    """"Lookback" of areal::cuda::run<areal::kernels::Held<areal::cuda::Machine, ..> >(..)."""
    m = re.search(r"run(?:_clusters)?<\s*(?:\w+::)*(\w+)<", demangled)
    return m[1] if m else re.sub(r"[<(].*", "", demangled).split("::")[-1]


def span(values):
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"


def page(entries, names, arch):
    groups = {}
    for entry in entries:
        if not entry.registers or not entry.threads:
            sys.exit(f"{names[entry.symbol]}: no registers or no __launch_bounds__ in what the compiler said")
        groups.setdefault((kernel_of(names[entry.symbol]), entry.threads), []).append(entry)
    groups.pop(("", 1), None)  # the probe, which does nothing
    yield "# Registers, spills and occupancy of every kernel\n"
    yield (f"`bench/pages/kernel_resources.py` makes this page for sm_{arch}: {sum(map(len, groups.values()))} kernels, one row for those that differ only in types. Occupancy is the\n"
           "share of a multiprocessor's warps that are resident if registers and threads are the limit; kernels with much shared memory have\n"
           "less. *Bounds* are the blocks that `__launch_bounds__` demands.\n")
    yield "| kernel | instances | threads | registers | blocks, bounds | blocks by registers | occupancy, % | with spills | largest spill, bytes |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for (kernel, threads), of in sorted(groups.items()):
        blocks = [blocks_by_registers(entry) for entry in of]
        share = [round(100 * b * -(-threads // 32) / WARPS) for b in blocks]
        spilled = [entry for entry in of if entry.stores or entry.loads]
        yield (f"| `{kernel}` | {len(of)} | {threads} | {span([e.registers for e in of])} | {span([e.asked for e in of])} | {span(blocks)} | "
               f"{span(share)} | {len(spilled) or '-'} | {max((max(e.stores, e.loads) for e in spilled), default='-')} |")
    spilled = [entry for entry in entries if entry.stores or entry.loads]
    yield f"\n## Kernels that spill: {len(spilled)}\n"
    if spilled:
        yield "| kernel | registers | bytes stored | bytes loaded |"
        yield "| --- | --- | --- | --- |"
    for entry in sorted(spilled, key=lambda e: (-max(e.stores, e.loads), names[e.symbol])):
        name = re.sub(r"\(.*", "", re.sub(r"(areal|kernels|cuda)::", "", names[entry.symbol])).replace("Machine, ", "")
        name = re.sub(r"^void run(?:_clusters)?<(.*)>$", r"\1", name.strip()).strip()
        yield f"| `{name}` | {entry.registers} | {entry.stores} | {entry.loads} |"


def compile_unit(command, directory, arch, folder):
    """What ptxas says of one unit, and its PTX."""
    words = shlex.split(command)
    if any(word.startswith("--Ofast-compile") for word in words):
        sys.exit("that build optimises little (CI's preset): ./run build first")
    while words and not words[0].endswith("nvcc"):
        words.pop(0)  # ccache
    kept, skip = [], False
    arch = f"{arch}a" if "compute_90a" in command else arch  # instructions of sm_90a alone
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-gencode") or word.startswith(("--generate-code", "-gencode=")):
            skip = "=" not in word
        elif word not in ("-c", "-MD", "--fatbin", "--compress-mode=size"):
            kept.append(word)
    folder.mkdir(parents=True)
    run = subprocess.run([*kept, f"-gencode=arch=compute_{arch},code=sm_{arch}", "-Xptxas=-v", "-cubin", "--keep", "--keep-dir", str(folder),
                          "-o", str(folder / "out.cubin")], cwd=directory, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stderr + run.stdout, "\n".join(path.read_text() for path in folder.glob("*.ptx"))


def compiled(build, arch):
    units = [unit for unit in json.loads((build / "compile_commands.json").read_text())
             if unit["file"].endswith(".cu") and re.search(r"/areal(_sm_90a)?\.dir/", unit["command"])]
    if not units:
        sys.exit(f"{build} has no CUDA units: is nvcc here?")
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda numbered: compile_unit(numbered[1]["command"], numbered[1]["directory"], arch, pathlib.Path(scratch) / str(numbered[0])),
                            enumerate(units))


def recorded(folder):
    for log in sorted(folder.glob("*.log")):
        yield log.read_text(), log.with_suffix(".ptx").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--arch", default="90")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--recorded", type=pathlib.Path)
    options = parser.parse_args()
    if options.record:
        options.record.mkdir(parents=True)
    entries = {}
    for number, (log, ptx) in enumerate(recorded(options.recorded) if options.recorded else compiled(options.build, options.arch)):
        of = from_log(log)
        add_bounds(of, ptx)
        entries.update(of)
        if options.record:
            (options.record / f"{number}.log").write_text(log)
            heads = (m[0] + "}\n" for m in re.finditer(r"(?:\.visible )?\.entry [^{]*\{", ptx))
            (options.record / f"{number}.ptx").write_text("".join(heads))
    if not entries:
        sys.exit("no kernel was found")
    symbols = list(entries)
    names = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout.splitlines()
    print("\n".join(page(list(entries.values()), dict(zip(symbols, names)), options.arch)))


if __name__ == "__main__":
    main()
