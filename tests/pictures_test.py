#!/usr/bin/env python3
"""The pictures in docs/pictures are those of their script on a fresh trace, and what they show is true of the trace: every
word comes from a smaller ticket, every tile is its block's own. It proves first that a trace with a fault is refused."""

import argparse
import copy
import importlib.util
import pathlib
import sys


def load(tree):
    spec = importlib.util.spec_from_file_location("draw", tree / "docs" / "pictures" / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refused(check, trace, what):
    try:
        check(trace)
    except AssertionError:
        return
    raise RuntimeError(f"not found: {what}")


def plant_faults(draw, traces):
    for name in draw.CASES[:4]:
        trace = copy.deepcopy(traces[name])
        start, to, *rest = trace.handovers[0]
        trace.handovers[0] = (to, start, *rest)
        refused(draw.check_tiles, trace, f"{name}: a word of a later ticket")
        trace = copy.deepcopy(traces[name])
        trace.handovers = [word for word in trace.handovers if word[:3] != trace.handovers[-1][:3]]
        refused(draw.check_tiles, trace, f"{name}: a tile that is not waited for")
        trace = copy.deepcopy(traces[name])
        start, to, array, edge, words, _, read = trace.handovers[-1]
        trace.handovers[-1] = (start, to, array, edge, words, read + 1, read)
        refused(draw.check_tiles, trace, f"{name}: a word read before it was there")
        trace = copy.deepcopy(traces[name])
        place = next(place for place in trace.places if place[3] == trace.array["table"])
        place[4] -= 4
        refused(draw.check_tiles, trace, f"{name}: a tile written by two")
    trace = copy.deepcopy(traces["anchored"])
    trace.runs.append([2, 0, 0, "load", trace.array["tensor"], 0, 0])
    refused(draw.check_anchored, trace, "a tensor that is read")
    trace = copy.deepcopy(traces["anchored"])
    trace.places.append([place for place in trace.places if place[3] == trace.array["tensor"]][-1])
    refused(draw.check_anchored, trace, "a tensor that is written twice")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    tracer = arguments.build / "tests" / "areal_trace"
    if not tracer.exists():
        print("no simulated machine")
        sys.exit(77)
    draw = load(arguments.tree)
    traces = draw.traces_of(str(tracer))
    plant_faults(draw, traces)
    for name, text in draw.pictures(traces).items():
        path = arguments.tree / "docs" / "pictures" / name
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{path} is not what the script draws of this trace: run docs/pictures/draw.py {tracer}")
    print("the pictures are those of this trace, and the facts hold")


if __name__ == "__main__":
    main()
