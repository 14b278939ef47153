#!/usr/bin/env python3
"""Prints a paper's table or figure from the records of one run, as its page would show them, and draws it.

usage: show.py FILE [--plot F.svg]   (FILE: of `areal bench .. --table|--figure NAME --json FILE`, or the output of `areal model nakano .. --json`)
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from records import present  # noqa: E402

# What the records are of, and the paper: the name of their file in bench/results/, and the page
PAGES = {("sat", "kasagi"): ("sat-kasagi", "measured_kasagi"), ("sat", "chen"): ("sat-chen", "measured_chen"),
         ("histogram", "lee-choe"): ("histogram-lee-choe", "measured_lee_choe"), ("histogram", "poostchi"): ("histogram-poostchi", "measured_poostchi"),
         ("sequence", "poostchi"): ("sequence-poostchi", "measured_poostchi"), ("cluster", "poostchi"): ("cluster", "measured_poostchi")}


def read(path):
    """The records: an array, or an object a line."""
    text = path.read_text()
    return json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]


def shown(path):
    """The lines of the page, and the pictures."""
    records = read(path)
    if records and "machine" in records[0]:
        picture = importlib.import_module("measured_nakano").model_picture(records)
        return [], [picture] if picture else []
    records = present(records)
    name, page = next((PAGES[key] for row in records if (key := (row["what"], row.get("shown"))) in PAGES), (None, None))
    if not page:
        sys.exit(f"show.py: {path}: no records of a paper's table or figure")

    def newest(cases):
        rows = [row for row in records if row.get("part") == cases.removeprefix("cluster-")] if name == "cluster" else records if cases == name else []
        return (path, rows) if rows else (None, [])

    page = importlib.import_module(page)
    lines = [line.replace(f"bench/results/{path.name}", str(path)) for line in page.lines(newest)]
    return lines, list(page.pictures(newest).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--plot", type=Path, metavar="F.svg")
    arguments = parser.parse_args()
    lines, pictures = shown(arguments.file)
    print("\n".join(lines))
    if arguments.plot and not pictures:
        sys.exit("show.py: these records have no picture: a model's need several values of one parameter, and one of each other")
    if arguments.plot:
        arguments.plot.write_text(pictures[0])


if __name__ == "__main__":
    main()
