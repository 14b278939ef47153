#!/usr/bin/env python3
"""Compiles the kernels of cuda_twins.cuh, which exist over a machine and by hand, and compares the compiled code.

Each has three forms: over the machine; the same object with a body in plain CUDA (the difference is the cost of the calls on
the machine); a __global__ function in plain CUDA (the difference is the cost of launching an object). The test requires equal
registers and nearly equal instructions of the first two. docs/notes/cuda-twin.md holds the table that `--write` makes.

usage: cuda_twin_sass_test.py [--tree DIR] [--nvcc NVCC] [--write]
It needs no disassembler: it reads instructions from the compiled file, where each has 16 bytes and its kind in 12 bits.
"""

import argparse
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

FORMS = ("machine", "object", "function")
KERNELS = {"Scans": "Scan", "Depths": "Depth", "Sums": "Sums"}
SOURCE = """#include "cuda_twins.cuh"
namespace t = areal::twins;
const void* every[] = {%s};
"""
FLAGS = ["-arch=sm_90", "-std=c++20", "-O3", "-fmad=false", "--expt-relaxed-constexpr"]  # the tree's, see cmake/cuda.cmake
NOP, BRANCH = 0x918, 0x947
MOST_MORE = 0.05  # of instructions, over the machine, beside the object by hand
begin, end = "<!-- twins:begin -->", "<!-- twins:end -->"


def find_nvcc(build):
    cache = build / "CMakeCache.txt" if build else None
    if cache and cache.is_file():
        match = re.search(r"^CMAKE_CUDA_COMPILER:[A-Z]+=(.+)$", cache.read_text(), re.M)
        if match and pathlib.Path(match.group(1)).is_file():
            return match.group(1)
    return shutil.which("nvcc") or next(iter(sorted(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/nvcc")))), None)


def compiled(nvcc, tree):
    """The compiled file, and what ptxas said: registers, shared and spilt bytes of each function by its mangled name."""
    every = ", ".join(f"(const void*)t::{name}::{form}()" for name in KERNELS for form in FORMS)
    with tempfile.TemporaryDirectory() as scratch:
        source, cubin = pathlib.Path(scratch) / "twins.cu", pathlib.Path(scratch) / "twins.cubin"
        source.write_text(SOURCE % every)
        includes = [f"-I{tree / folder}" for folder in ("include", "src", "tests/cuda")]
        done = subprocess.run([nvcc, "-cubin", *FLAGS, "-Xptxas", "-v", *includes, "-o", cubin, source], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(f"{nvcc} failed:\n{done.stdout}")
        registers = {}
        for name, spill, used in re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers",
                                            done.stdout, re.S):
            registers[name] = (int(used), int(spill))
        return cubin.read_bytes(), registers


def sections(elf):
    """Name and bytes of each section of a 64-bit ELF file."""
    assert elf[:5] == b"\x7fELF\x02", "not a 64-bit ELF file"
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        first = strings + name
        yield elf[first:elf.index(b"\0", first)].decode(), elf[offset:offset + length]


def instructions(code):
    """The kinds of a function's instructions, without the padding after its last one, a branch to itself."""
    kinds = [struct.unpack_from("<Q", code, at)[0] & 0xFFF for at in range(0, len(code), 16)]
    while kinds and kinds[-1] == NOP:
        kinds.pop()
    if kinds and kinds[-1] == BRANCH:
        kinds.pop()
    return kinds


def form_of(symbol):
    """The kernel and the form of a mangled name."""
    form = "function" if "5plain" in symbol else "object" if "6ByHand" in symbol else "machine"
    kernel = next(name for name in ("Depth", "Sums", "Scan") if re.search(rf"\d{name}I", symbol))
    return kernel, form


def figures(cubin, registers):
    found = {}
    for name, code in sections(cubin):
        if name.startswith(".text."):
            symbol = name[len(".text."):]
            found[form_of(symbol)] = (*registers[symbol], instructions(code))
    wanted = {(kernel, form) for kernel in KERNELS.values() for form in FORMS}
    assert found.keys() == wanted, f"functions {sorted(found)}"
    return found


def different(a, b):
    """The number of instructions of one without a partner of their kind in the other."""
    a, b = collections.Counter(a), collections.Counter(b)
    return max(sum((a - b).values()), sum((b - a).values()))


def faults(found):
    for kernel in KERNELS.values():
        (ours, spilt, code), (hand, _, by_hand) = found[kernel, "machine"], found[kernel, "object"]
        if ours != hand:
            yield f"{kernel}: {ours} registers over the machine, {hand} by hand"
        if spilt:
            yield f"{kernel}: {spilt} bytes spilt"
        if len(code) > len(by_hand) * (1 + MOST_MORE):
            yield f"{kernel}: {len(code)} instructions over the machine, {len(by_hand)} by hand"


def self_test():
    one = {(kernel, form): (32, 0, [1] * 100) for kernel in KERNELS.values() for form in FORMS}
    assert not list(faults(one))
    for worse in ((33, 0, [1] * 100), (32, 8, [1] * 100), (32, 0, [1] * 106)):
        assert len(list(faults({**one, ("Depth", "machine"): worse}))) == 1, worse
    assert different([1, 1, 2], [1, 3, 3]) == 2
    assert instructions(struct.pack("<6Q", 0x7945, 0, 0xFC947, 0, 0x7918, 0)) == [0x945]


def table(found, version):
    lines = [f"nvcc {version}, `{' '.join(FLAGS)}`.", "",
             "| kernel | registers: machine | object | function | instructions: machine | object | function | of another kind, machine and object |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for kernel in KERNELS.values():
        forms = [found[kernel, form] for form in FORMS]
        lines.append(f"| `{kernel}` | " + " | ".join(str(r) for r, _, _ in forms) + " | "
                     + " | ".join(str(len(code)) for _, _, code in forms) + f" | {different(forms[0][2], forms[1][2])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--nvcc")
    parser.add_argument("--write", action="store_true", help="put the table into docs/notes/cuda-twin.md")
    arguments = parser.parse_args()
    self_test()
    nvcc = arguments.nvcc or find_nvcc(arguments.build)
    if not nvcc:
        print("SKIPPED: no nvcc")
        return
    said = subprocess.run([nvcc, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
    version = re.search(r"V([\d.]+)", said).group(1)
    found = figures(*compiled(nvcc, arguments.tree))
    made = table(found, version)
    print(made)
    page = arguments.tree / "docs" / "notes" / "cuda-twin.md"
    text = page.read_text()
    current = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{made}\n{end}", text, flags=re.S)
    wrong = list(faults(found))
    if arguments.write:
        page.write_text(current)
    elif f"nvcc {version}," in text and current != text:
        wrong.append(f"{page} does not hold this table: run cuda_twin_sass_test.py --write")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
