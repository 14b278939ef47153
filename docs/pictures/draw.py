#!/usr/bin/env python3
"""Draws the pictures of the pages in docs from what the simulated machine traced, and checks what they show.

usage: draw.py TRACER [--out FOLDER] [--check]

TRACER is the program areal_trace of the build. --check draws nothing: it says whether the pictures in the folder are these.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import draw_chen
import draw_default
import draw_kasagi
import draw_lee_choe
import draw_nakano
import draw_nakano_table
import draw_poostchi

# Each has CASES, what areal_trace is asked for; read(data), which checks one; pictures(trace), of all it read.
PAPERS = (draw_kasagi, draw_chen, draw_nakano, draw_nakano_table, draw_lee_choe, draw_poostchi)


def traces_of(tracer):
    """By case; each is what its subject reads of it."""
    found = {}
    for subject in (draw_default, *PAPERS):
        for name in subject.CASES:
            said = subprocess.run([tracer, name], text=True, stdout=subprocess.PIPE, check=True).stdout
            found[name] = subject.read(json.loads(said))
    return found


def pictures(traces):
    """Text by file name."""
    drawn = draw_default.pictures(traces)
    for subject in PAPERS:
        drawn.update(subject.pictures(traces[subject.CASES[0]]))
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tracer")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for name, text in pictures(traces_of(arguments.tracer)).items():
        path = arguments.out / name
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path} is not what draw.py draws: run docs/pictures/draw.py {arguments.tracer}")
        else:
            path.write_text(text)


if __name__ == "__main__":
    main()
