#!/usr/bin/env python3
"""bench/pages/kernel_resources.py on the output of nvcc 13.0 for five kernels (tests/files/kernel-resources)."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile


def page_of(tree, folder):
    run = subprocess.run([sys.executable, tree / "bench" / "pages" / "kernel_resources.py", "--recorded", folder], capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else run.stderr


def rows(page, heading):
    """The cells of the first table after the heading."""
    lines = page[page.index(heading):].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| ---")) + 1
    table = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip(" `") for cell in line.strip("|").split("|")])
    return table


def words_of(log):
    """Per kernel, as the lines say it one after another: registers, and the sum of the bytes stored."""
    kernels = []
    for line in log.splitlines():
        words = line.replace(",", "").split()
        if "Compiling" in words:
            kernels.append([0, 0])
        elif "spill" in words:
            kernels[-1][1] += int(words[words.index("stores") - 3])
        elif "Used" in words:
            kernels[-1][0] = int(words[words.index("registers") - 1])
    return kernels


def complaint(page, folder):
    if "# Registers" not in page:
        return page
    kernels = words_of((folder / "0.log").read_text())
    summary = rows(page, "# Registers")
    if sum(int(row[1]) for row in summary) != len(kernels):
        return "not every kernel is in a row"
    printed = sorted((int(row[1]), int(row[2])) for row in rows(page, "## Kernels that spill"))
    if printed != sorted((registers, stored) for registers, stored in kernels if stored):
        return f"registers and spills are {kernels}, printed is {printed}"
    for row in summary:  # one block more would not fit, or not be allowed
        threads, blocks = int(row[2]), int(row[5])
        registers = -(-int(row[3]) // 8) * 8
        if blocks * threads * registers > 65536 or (blocks + 1) * threads * registers <= 65536 and (blocks + 1) * threads <= 2048:
            return f"{blocks} blocks of {threads} threads with {registers} registers"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    tree = parser.parse_args().tree
    record = tree / "tests" / "files" / "kernel-resources"
    if said := complaint(page_of(tree, record), record):
        sys.exit(said)
    with tempfile.TemporaryDirectory() as scratch:
        # A kernel without registers, or without threads, is refused.
        for number, (name, old, new) in enumerate((("0.log", "Used ", "Has "), ("0.ptx", ".maxntid", ".reqntid"))):
            broken = pathlib.Path(scratch) / str(number)
            shutil.copytree(record, broken)
            file = broken / name
            file.write_text(file.read_text().replace(old, new, 1))
            if "no registers or no __launch_bounds__" not in page_of(tree, broken):
                sys.exit(f"a record without {old.strip()} passes")
        # The check can fail: a page of other numbers is not that of this record.
        other = pathlib.Path(scratch) / "other"
        shutil.copytree(record, other)
        log = other / "0.log"
        log.write_text(log.read_text().replace("96 bytes spill stores", "97 bytes spill stores"))
        if "registers and spills are" not in complaint(page_of(tree, record), other):
            sys.exit("one byte more goes unseen")
    print("the page tells what ptxas said")


if __name__ == "__main__":
    main()
