#!/usr/bin/env python3
"""The pictures in docs/pictures match their scripts on a fresh trace, and their claims hold in the trace: every word of a
default kernel comes from a smaller ticket and every tile is its block's own; a paper's launches, threads and banks match its
page. It first proves that a trace with a fault is refused."""

import argparse
import copy
import importlib
import pathlib
import sys

sys.dont_write_bytecode = True  # the tree stays as it is


def load(tree):
    sys.path.insert(0, str(tree / "docs" / "pictures"))
    return importlib.import_module("draw")


def refused(check, trace, what):
    try:
        check(trace)
    except AssertionError:
        return
    raise RuntimeError(f"not found: {what}")


def plant_faults(subject, traces):
    """Faults in the traces of the default kernels."""
    for name in subject.CASES[:4]:
        trace = copy.deepcopy(traces[name])
        start, to, *rest = trace.handovers[0]
        trace.handovers[0] = (to, start, *rest)
        refused(subject.check_tiles, trace, f"{name}: a word of a later ticket")
        trace = copy.deepcopy(traces[name])
        trace.handovers = [word for word in trace.handovers if word[:3] != trace.handovers[-1][:3]]
        refused(subject.check_tiles, trace, f"{name}: a tile that is not waited for")
        trace = copy.deepcopy(traces[name])
        start, to, array, edge, words, _, read = trace.handovers[-1]
        trace.handovers[-1] = (start, to, array, edge, words, read + 1, read)
        refused(subject.check_tiles, trace, f"{name}: a word read before it was there")
        trace = copy.deepcopy(traces[name])
        place = next(place for place in trace.places if place[3] == trace.array["table"])
        place[4] -= 4
        refused(subject.check_tiles, trace, f"{name}: a tile written by two")
    trace = copy.deepcopy(traces["reduce-then-scan"])
    trace.runs.append([2, 0, 0, "load", trace.array["tensor"], 0, 0])
    refused(subject.check_anchored, trace, "a tensor that is read")
    trace = copy.deepcopy(traces["reduce-then-scan"])
    trace.places.append([place for place in trace.places if place[3] == trace.array["tensor"]][-1])
    refused(subject.check_anchored, trace, "a tensor that is written twice")


def change(logs, run, array, what, launch, edit, met=None):
    """The traces of a paper, with the middle one of such requests changed. met: how often its block had synchronised, if that
    counts."""
    changed = dict(logs)
    log = changed[run] = copy.copy(logs[run])
    these = [i for i, r in enumerate(log.asked) if (r.array, r.what, r.launch) == (array, what, launch) and met in (r.met, None)]
    at = these[len(these) // 2]
    log.asked = [*log.asked[:at], edit(log.asked[at]), *log.asked[at + 1 :]]
    return changed


def by_next_launch(request):
    return request._replace(launch=request.launch + 1)


def by_another_block(request):
    return request._replace(block=request.block + 1)


def by_another_lane(request):
    """Each lane does its neighbour's work."""
    return request._replace(elements=[*request.elements[1:], request.elements[0]])


def in_one_bank(request):
    """Two lanes access one bank."""
    return request._replace(elements=[request.elements[0], request.elements[0] + 32, *request.elements[2:]])


def one_element_twice(request):
    return request._replace(elements=[request.elements[-1], *request.elements[1:]])


PAPER_FAULTS = {  # run, array, what, launch, fault, met
    "kasagi": (("2r2w", "table", "store", 0, by_another_lane), ("2r2w", "table", "store", 1, by_another_block),
               ("4r4w", "transposed", "store", 1, by_another_block), ("4r4w", "transposed", "store", 2, by_another_lane),
               ("4r1w", "table", "store", 12, by_next_launch), ("2r1w", "columns", "store", 0, one_element_twice),
               ("2r1w", "image", "load", 0, by_next_launch), ("2r1w", "rows", "store", 1, by_another_lane),
               ("1r1w", "table", "store", 3, by_next_launch), ("1r1w", "right", "store", 2, by_next_launch),
               ("hybrid-1r1w", "table", "store", 4, by_next_launch), ("hybrid-1r1w", "image", "load", 0, one_element_twice),
               ("diagonal", "shared", "get", 1, one_element_twice)),
    "chen": (("brlt-scanrow", "image", "load", 0, by_another_lane), ("brlt-scanrow", "transposed", "store", 0, by_another_block),
             ("scanrow-brlt", "table", "store", 1, one_element_twice), ("scanrow-column", "table", "store", 0, by_another_block),
             ("scanrow-column", "table", "load", 1, by_another_block)),
    "nakano-table": (("umm-optimal", "table", "load", 3, by_another_lane), ("umm-optimal", "transposed", "store", 3, by_another_lane),
                     ("umm-optimal", "transposed", "store", 6, one_element_twice), ("umm-optimal", "level", "store", 1, by_next_launch),
                     ("umm-optimal", "image", "load", 0, by_next_launch)),
    "lee-choe": (("padded", "shared", "put", 0, in_one_bank, 2), ("rotated", "shared", "get", 0, in_one_bank, 5),
                 ("rotated, 8 banks", "shared", "put", 0, by_another_lane, 0), ("padded, 8 banks", "shared", "put", 0, one_element_twice, 0),
                 ("two a thread", "shared", "put", 0, by_another_lane, 1), ("several a thread", "shared", "put", 0, by_another_lane, 3)),
    "poostchi": (("cw-b", "tensor", "store", 9, by_next_launch), ("cw-b", "transposed", "store", 97, by_next_launch),
                 ("cw-sts", "tensor", "store", 1, by_another_block), ("cw-tis", "tensor", "store", 3, by_next_launch),
                 ("wf-tis", "tensor", "store", 3, by_next_launch), ("wf-tis", "saved", "store", 2, one_element_twice)),
}


def plant_paper_faults(subjects, traces):
    for subject in subjects:
        case = subject.CASES[0]
        subject.check(traces[case])
        for run, array, what, launch, fault, *met in PAPER_FAULTS.get(case, ()):
            wrong = change(traces[case], run, array, what, launch, fault, *met)
            refused(subject.check, wrong, f"{case}, {run}: {array}, {what} in launch {launch + 1}, {fault.__name__}")


def plant_register_faults(subject, logs):
    """Faults in the transpose of the first warp's registers; the pictures show two of its requests."""
    for what, fault in (("put", in_one_bank), ("get", by_another_lane)):
        log = copy.copy(logs["brlt-scanrow"])
        at = next(i for i, r in enumerate(log.asked) if (r.array, r.what, r.block, r.warp) == ("shared", what, 0, 0))
        log.asked = [*log.asked[:at], fault(log.asked[at]), *log.asked[at + 1 :]]
        refused(subject.check, {**logs, "brlt-scanrow": log}, f"chen: {what}, {fault.__name__}")


def plant_program_faults(subject, runs):
    """Faults in the programs on the memory machine."""
    for name, run in runs.items():
        for at, edit, what in (
                (-1, lambda r: r._replace(first=1), "a sum that begins elsewhere"),
                (0, lambda r: r._replace(cell=r.cell + 1), "a read of another cell"),
                (2 * len(run.requests) // 3, lambda r: r._replace(step=r.step + 1), "a request in the next step")):
            wrong = copy.copy(run)
            wrong.requests = list(run.requests)
            wrong.requests[at] = edit(run.requests[at])
            refused(subject.check, {**runs, name: wrong}, f"nakano, {name}: {what}")
        wrong = copy.copy(run)
        wrong.requests = run.requests[:-1]
        refused(subject.check, {**runs, name: wrong}, f"nakano, {name}: a request left out")


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
    plant_faults(draw.draw_default, traces)
    plant_paper_faults(draw.PAPERS, traces)
    plant_register_faults(draw.draw_chen, traces["chen"])
    plant_program_faults(draw.draw_nakano, traces["nakano"])
    drawn = draw.pictures(traces)
    for name, text in drawn.items():
        path = arguments.tree / "docs" / "pictures" / name
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{path} is not what the script draws of this trace: run docs/pictures/draw.py {tracer}")
    unknown = {path.name for path in (arguments.tree / "docs" / "pictures").glob("*.svg")} - set(drawn)
    if unknown:
        sys.exit(f"nobody draws {', '.join(sorted(unknown))}")
    print("the pictures are those of this trace, and the facts hold")


if __name__ == "__main__":
    main()
