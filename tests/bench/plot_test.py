#!/usr/bin/env python3
"""bench/pages/plot.py: where values lie on the axes, gaps, legends, zones and timelines, computed here by hand; legends that look as their curves do; and
the pictures in bench/results are those of the records."""

import argparse
import pathlib
import re
import sys


def polylines(picture):
    return [[tuple(map(float, point.split(","))) for point in points.split()] for points in re.findall(r'<polyline points="([^"]*)"', picture)]


def expect(value, wanted):
    assert value == wanted, f"{value!r} is not {wanted!r}"


def check_curves(plot):
    panel = plot.Panel("a < b & c", "side", "us", [1, 10, 100], [("floor", {1: 1, 10: 10, 100: 100}), ("ours", {1: 10, 10: None, 100: 1000}), ("zero", {1: 0, 10: 5, 100: 50})])
    picture = plot.svg("title", [panel])
    # Decades from 1 to 10000, 440 wide and 340 high. A missing value or a zero is a gap: a curve of one point has no line to it.
    expect(polylines(picture), [[(0, 340), (220, 255), (440, 170)], [(0, 255)], [(440, 85)], [(220, 280.6), (440, 195.6)]])
    expect(picture.count("stroke-dasharray"), 2)  # the bound, and its line in the legend
    expect(picture.count("<circle"), 6)  # not of the bound, nor of gaps; two in the legend
    # A line of the legend looks as its curve does.
    looks = lambda element: re.findall(rf'<{element} [^>]*(stroke="[^"]*" stroke-width="[^"]*"(?: stroke-dasharray="[^"]*")?)/>', picture)  # noqa: E731
    expect(looks("line"), list(dict.fromkeys(looks("polyline"))))
    expect([float(y) for y in re.findall(r'x="-8.0" y="([\d.]+)" text-anchor="end">10+<', picture)], [259, 174, 89, 4])
    assert "a &lt; b &amp; c: us" in picture and picture.count(">floor<") == 1
    expect(plot.svg("title", [plot.Panel("a", "x", "us", [1, 2], [("c", {1: 1, 2: 2})], bound=False)]).count("stroke-dasharray"), 0)
    # A linear axis begins at 0 and ends at the next step: 0 to 60.
    linear = plot.svg("t", [plot.Panel("a", "x", "%", [1, 100], [("c", {1: 30, 100: 55})])], linear=True)
    expect(polylines(linear), [[(0, 170), (440, 28.3)]])
    # Panels share an axis by its name; one with another name has its own, in steps below a decade. Equal names share a legend.
    shared = [plot.Panel("a", "x", "us", [1, 2], [("c", {1: 1, 2: 9})]), plot.Panel("b", "x", "us", [1, 2], [("c", {1: 900, 2: 90})]),
              plot.Panel("r", "x", "times", [1, 2], [("c", {1: 1, 2: 1.4})])]
    picture = plot.svg("t", shared)
    expect(polylines(picture)[1], [(0, 5.2), (440, 118.5)])  # of 1 to 1000
    expect(polylines(picture)[2], [(0, 340), (440, 57.9)])  # of 1 to 1.5
    expect(picture.count(">c<"), 1)
    expect(plot.svg("t", shared, in_row=1).count("<g "), 3)
    # Zones end half way between two places.
    zones = plot.svg("t", [plot.Panel("z", "x", "us", [1, 10, 100], [("c", {1: 1})], ["low", "low", "high"])])
    expect(re.findall(r'<rect x="([\d.]+)" y="362.0" width="([\d.]+)"', zones), [("0.0", "330.0"), ("330.0", "110.0")])


def check_timeline(plot):
    bars = [(0, 0, "read, frame 1", 0, 500), (1, 1, "up <1>", 500, 2000)]
    picture = plot.timelines([plot.Timeline("one slot", ["disk", "slot 0"], ("read", "up", "down"), bars, 2000)])
    # 870 for 2 ms from 110 on; ticks each 0.2 ms.
    assert '<rect x="110.00" y="54" width="217.50"' in picture and '<rect x="327.50" y="80" width="652.50"' in picture, picture
    assert "up &lt;1>: 1.500 ms" in picture, picture
    expect(picture.count('stroke="#ddd"'), 11)
    assert ">read<" in picture and ">down<" not in picture  # only stages that have bars
    expect(plot.timelines([plot.Timeline("a", ["r"], ("s",), [], 1), plot.Timeline("b", ["r"], ("s",), [], 1)]).count("font-size=\"14\""), 2)


def check_records(tree):
    import measured_chen  # pylint: disable=import-outside-toplevel
    import measured_kasagi  # pylint: disable=import-outside-toplevel
    import report  # pylint: disable=import-outside-toplevel

    for part, name in ((measured_chen, "2026-11-22-cuda-sat-chen"), (measured_kasagi, "2026-11-22-cuda-sat-kasagi")):
        def this(cases, name=name):
            path = tree / "bench" / "results" / f"{name}.json"
            return (path, report.load(path)) if name.endswith(cases) else (None, [])

        drawn, = part.pictures(this).items()
        kept = (tree / drawn[0]).read_text()
        assert drawn[1] == kept, f"{drawn[0]} is drawn otherwise"
        path, rows = this(name.partition("cuda-")[2])
        row = next(row for row in rows if row["algorithm"] in ("2r1w", "brlt-scanrow"))
        row["time_us"]["median"] *= 2
        assert part.pictures(lambda cases, path=path, rows=rows: (path, rows))[drawn[0]] != kept, "another time is drawn in the same place"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    tree = parser.parse_args().tree.resolve()
    sys.path.insert(0, str(tree / "bench" / "pages"))
    import plot  # pylint: disable=import-outside-toplevel

    check_curves(plot)
    check_timeline(plot)
    check_records(tree)
    print("curves, zones and timelines lie where they should, and pictures of records are as they were")


if __name__ == "__main__":
    main()
