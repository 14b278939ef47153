"""The measured part of docs/algorithms/lee-choe-2014.md; report.py calls it."""

import plot
from figure_page import Records, absent, answers, number, ratio, size_text, spread, table

PAGE = "docs/algorithms/lee-choe-2014.md"
FIGURES = {"lee-choe-multiple": "3", "lee-choe-shared": "4", "lee-choe": "5"}
PAPERS = ("harris", *FIGURES)
# Per cent, from the paper's text, on a GeForce GTX 670.
PRINTED = {("lee-choe-multiple", (4096, 2160)): 94.7, ("lee-choe-shared", (1920, 1080)): 100.8,
           ("lee-choe-shared", (2560, 1440)): 99.6, ("lee-choe", (4096, 2160)): 95.5}


def pictures(newest):
    """Per cent of Harris' time over the pixels, for each number of bins."""
    path, rows = newest("histogram-lee-choe")
    records, panels = Records(path, rows, "lee-choe"), []
    sizes = sorted(records.sizes(), key=lambda size: size[0] * size[1])
    for bins in records.bins():
        def curve(time):
            points = {}
            for width, height in sizes:
                case = {"width": width, "height": height, "bins": bins}
                part = ratio(time(case), records.time(algorithm="harris", **case))
                points[1e-6 * (width * height)] = None if part is None else 100 * part
            return points

        names = [*PAPERS, records.default(PAPERS) or "auto"]
        curves = [("memset", curve(lambda case: records.floor(**case)))]  # the bound
        curves += [(name, curve(lambda case, name=name: records.time(algorithm=name, **case))) for name in names]
        panels.append(plot.Panel(f"{bins} bins", "megapixels", "per cent of the time of harris", list(curves[0][1]), curves))
    return {f"bench/results/{path.stem}.svg": plot.svg("Lee, Choe 2014, Figures 3 to 5", panels, linear=True)} if panels else {}


def lines(newest):
    records = Records(*newest("histogram-lee-choe"), "lee-choe")
    if not records:
        return ["Not measured yet."]
    default, sizes = records.default(PAPERS), records.sizes()

    def time(algorithm, size, bins):
        return records.time(what="histogram", algorithm=algorithm, width=size[0], height=size[1], bins=bins)

    def per_cent(value, size, bins):
        part = ratio(value, time("harris", size, bins))
        return None if part is None else 100 * part

    def relative(algorithm, bins, among=None):
        return [per_cent(time(algorithm, size, bins), size, bins) for size in (sizes if among is None else among)]

    out = [*records.source(), "",
           "Times relative to Harris' algorithm, in per cent, as in Figures 3 to 5. In brackets: the paper's text, for a GeForce GTX 670 and "
           "an unstated number of bins."]
    for bins in records.bins():
        rows = [["", "`harris`, us", *(number(time("harris", size, bins)) for size in sizes)]]
        for algorithm in [*FIGURES, *([default] if default else [])]:
            cells = []
            for size, value in zip(sizes, relative(algorithm, bins)):
                printed = PRINTED.get((algorithm, size)) if bins == 256 else None
                cells.append(("-" if value is None else f"{value:.1f}") + (f" ({printed})" if printed else ""))
            rows.append([FIGURES.get(algorithm, ""), f"`{algorithm}`", *cells])
        floors = [per_cent(records.floor(width=size[0], height=size[1], bins=bins), size, bins) for size in sizes]
        rows.append(["", "memset of the tensor", *("-" if value is None else f"{value:.1f}" for value in floors)])
        out += ["", f"{bins} bins:", "", *table(["figure", "algorithm", *map(size_text, sizes)], rows)]
    long = [size for size in sizes if max(size) > 2048]
    short = [size for size in sizes if max(size) <= 2048]

    def over_bins(text, *values):
        """One clause for each number of bins; None if nothing was measured."""
        clauses = [(bins, [value(bins) for value in values]) for bins in records.bins()]
        return "; ".join(f"{bins} bins: " + text.format(*found) for bins, found in clauses if None not in found) or None

    def beaten(bins):
        found = []
        for size in sizes:
            own = time(default, size, bins) if default else None
            papers = [time(algorithm, size, bins) for algorithm in PAPERS]
            if own is not None and None not in papers:
                found.append(min(papers) / own)
        return spread(found)

    out += ["", *answers([
        ("Do more pixels a thread save time if a line is longer than a block's 2048 elements (3.1)? Per cent of Harris' time, for "
         f"{', '.join(map(size_text, long)) or 'no such size'}:", over_bins("{0}", lambda b: spread(relative("lee-choe-multiple", b, long)))),
        ("The same for shorter lines, where both algorithms are equal:", over_bins("{0}", lambda b: spread(relative("lee-choe-multiple", b, short)))),
        ("The mapping of equation 3 (3.2), per cent of Harris' time; the paper measured 99.6 to 100.8:",
         over_bins("{0}", lambda b: spread(relative("lee-choe-shared", b)))),
        ("Both together; the paper measured 95.6 to 101.9:", over_bins("{0}", lambda b: spread(relative("lee-choe", b)))),
        (f"The time of the fastest of these four over that of areal's own `{default}`:" if default else "areal's own algorithm:",
         over_bins("{0}", beaten)),
    ])]
    expected = [(f"`{algorithm}` of {size_text(size)}, {bins} bins",
                 {"what": "histogram", "algorithm": algorithm, "width": size[0], "height": size[1], "bins": bins})
                for bins in records.bins() for size in sizes for algorithm in [*PAPERS, *([default] if default else [])]]
    return out + absent(expected, records)
