#!/usr/bin/env python3
"""bench/pages/rules.py refuses what a page must not say, each from a planted table or record, and accepts the same with its sentence; and report.py
refuses to write or to accept pages with such a row."""

import argparse
import contextlib
import io
import pathlib
import sys

from planted import sat_record

sys.dont_write_bytecode = True


def table(*lines):
    head, *rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["", head, "| --- |" + " --- |" * (len(lines[0]) - 1), *rows, ""])


def check_bounds(rules):
    faults = lambda text: list(rules.better_than_bounds(text))  # noqa: E731

    def refused(words, *lines):
        text = table(*lines)
        assert any(words in fault for fault in faults(text)), (words, text, faults(text))

    def accepted(*lines, after=""):
        text = table(*lines) + after
        assert not faults(text), (text, faults(text))

    times = ("size", "us", "floor, us", "fraction")
    refused("us 9.0 is below floor, us 10.0", times, ("8x8", "9.0", "10.0", "0.90"))  # whatever the fraction says
    refused("fraction 1.11 is above 1", times, ("8x8", "10.0", "9.0", "1.11"))
    refused("fraction **1.11** is above 1", times, ("8x8", "9.0", "10.0", "**1.11**"))
    refused("fraction 1.11 (a) is above 1", times, ("8x8", "9.0", "10.0", "1.11 (a)"))  # a letter without a sentence
    accepted(times, ("8x8", "10.0", "9.0", "0.90"), ("4x4", "10.0", "10.0", "1.00"))
    explained = (times, ("8x8", "9.0", "10.0", "1.11 (a)"))
    accepted(*explained, after="\n- (a) Because.\n")
    assert faults(table(*explained) + "\n- (b) Because.\n") and faults(table(*explained) + "\n## Next\n\n- (a) Because.\n")
    for name in ("floor / time", "of the link", "of the memset", "of the sum", "of the floor"):
        refused(f"{name} 1.22 is above 1", ("workers", name), ("two", "1.22"))
    refused("frames/s 465 is above link 415", ("size", "frames/s", "link"), ("8x8", "465", "415"))
    refused("two slots 410 is above bound 405", ("size", "two slots", "bound"), ("8x8", "410", "405"))
    refused("ms 3.0 is below memset 4.0", ("size", "ms", "memset"), ("8x8", "3.0", "4.0"))
    refused("the gain of 1.60 is above the possible 1.43", ("algorithm", "one slot", "2 slots", "possible gain"), ("`a`", "1753", "1095 (1.60)", "1.43"))
    accepted(("algorithm", "one slot", "2 slots", "possible gain"), ("`a`", "1753", "1095 (1.60)", "1.60"))
    refused("`a`: 20.6 is below the floor 26.9", ("algorithm", "16", "32"), ("`a`", "20.6", "30.0"), ("memset of the tensor", "26.9", "25.1"))
    accepted(("algorithm", "16", "32"), ("`a`", "27", "30.0, 0.83"), ("the floor", "26.9", "25.1, 0.84"))
    refused("areal 7.9 is below widen 8.3", ("size", "widen", "areal", "areal over NPP"), ("8x8", "8.3", "7.9", "0.5"))
    refused("thin 1.01 is above 1", ("size", "8u32u"), ("8x8", "thin 1.01"))
    assert rules.quantity("**1,234.5** ms") == 1234500 and rules.quantity("2.0 min") == 120e6 and rules.quantity("`a`") is None


def check_records(rules):
    def record(median, file="a.json", **time):
        return {**sat_record("lookback", "32f32f", 8, median, 1), "file": file, "time_us": {"min": median, "median": median, "max": median, **time}}

    assert rules.over(record(30), record(10)) == 3
    try:
        rules.over(record(30, "b.json"), record(10))
        raise AssertionError("a ratio of times from two files")
    except rules.Broken as broken:
        assert "b.json" in str(broken) and "a.json" in str(broken)
    assert rules.over({**record(30, "b.json"), "areal_us": {"median": 15}}, record(10)) == 2  # of the same rounds
    single, two, several, old = record(1), record(1, rounds=2), record(1, rounds=30), record(1, max=2)
    assert [rules.runs(row) for row in (single, two, several, old)] == [1, 2, 30, 3]
    assert [rules.dagger(row) for row in (single, two, several, old)] == [" †", " †", "", ""]
    assert rules.statistic([several, old]) == "medians" and rules.statistic([single, two]) == "single runs" and "†" in rules.statistic([single, old])
    files = {"a.json": [single, several, {"what": "twin", "time_us": {"machine": 1}}], "b.json": [old]}
    said = lambda text: list(rules.single_medians(text, files.__getitem__))  # noqa: E731
    assert said("`bench/results/a.json`, on one device; medians.") == ["a.json has 1 times of fewer than 3 runs, and the page does not say so"]
    assert said("`a.json`.") and not said("`bench/results/a.json`; medians, but † marks single runs.") and not said("`bench/results/b.json`; medians.")
    notes = rules.Notes()
    assert (notes.mark("One."), notes.mark("Two."), notes.mark("One.")) == (" (a)", " (b)", " (a)") and notes.lines() == ["", "- (a) One.", "- (b) Two."]
    assert not rules.Notes().lines()


def check_report(tree):
    """A page with a planted row ends both uses of report.py, and neither writes anything."""
    import report  # pylint: disable=import-outside-toplevel

    report.refuse(report.pages())  # those of the records in the tree
    row = table(("size", "us", "floor, us", "fraction"), ("8x8", "9.0", "10.0", "1.11"))
    made, wrote = {report.root / "docs/PLANTED.md": row}, []
    pages, report.pages, report.write, arguments = report.pages, lambda: made, wrote.append, sys.argv
    try:
        for sys.argv in (["report.py"], ["report.py", "--check"]):
            with contextlib.redirect_stderr(io.StringIO()):
                try:
                    report.main()
                    raise AssertionError("the planted page was accepted")
                except SystemExit as end:
                    assert "docs/PLANTED.md: 8x8 | 9.0 | 10.0: fraction 1.11 is above 1" in str(end), end
        assert not wrote
    finally:
        report.pages, sys.argv = pages, arguments
    assert not (tree / "docs" / "PLANTED.md").exists()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    tree = parser.parse_args().tree.resolve()
    sys.path.insert(0, str(tree / "bench" / "pages"))
    import rules  # pylint: disable=import-outside-toplevel

    check_bounds(rules)
    check_records(rules)
    check_report(tree)
    print("pages that break a rule are refused")


if __name__ == "__main__":
    main()
