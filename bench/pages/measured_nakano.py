"""The measured part of docs/algorithms/nakano-2013.md; report.py calls it."""

import plot
from figure_page import Records, absent, answers, count_text, number, ratio, spread, table

PAGE = "docs/algorithms/nakano-2013.md"
TABLES = {"umm-optimal": "10 + 8", "4r4w": "4 + 4", "2r1w": "2 + 1", "auto": "1 + 1"}  # reads and writes of an element
LINES = ("naive", "optimal", "sequential-parallel")


def column(row):
    return row["lane"], row["width"], row["height"]


def beside(records, rows, first, head):
    """One row for each algorithm: its time, and the ratio to the first one's. The last row is the floor."""
    columns = list(dict.fromkeys(map(column, records.rows)))

    def time(algorithm, key):
        return records.time(algorithm=algorithm, lane=key[0], width=key[1], height=key[2])

    lines = []
    for name, words in rows:
        cells = []
        for key in columns:
            own, part = time(name, key), ratio(time(name, key), time(first, key))
            cells.append(number(own) + (f", {part:.2f}" if part is not None and name != first else ""))
        lines.append([f"`{name}`{words}", *cells])
    lines.append(["the floor", *(number(records.floor(lane=key[0], width=key[1], height=key[2])) for key in columns)])
    return ["", *records.source(), "", *table(["us", *map(head, columns)], lines)]


def times(records, one, other, among=lambda key: True):
    """The range of the ratio of `one`'s time to `other`'s, over the columns."""
    found = []
    for key in filter(among, dict.fromkeys(map(column, records.rows))):
        like = dict(zip(("lane", "width", "height"), key))
        found.append(ratio(records.time(algorithm=one, **like), records.time(algorithm=other, **like)))
    return spread(found)


def tables(records):
    out = ["", "Tables, border none. `auto` is areal's default. Each row's name is followed by its reads and writes of an element. Each cell: "
               "microseconds of one execute, and the ratio to `umm-optimal`."]
    out += beside(records, [(name, f", {moved}") for name, moved in TABLES.items()], "umm-optimal", lambda key: f"{key[0]} {key[1]}x{key[2]}")
    return [*out, "", *answers([
        (f"The time of `umm-optimal` over that of `{name}`:", times(records, "umm-optimal", name)) for name in list(TABLES)[1:]])]


def sums(records):
    cub = next((row["algorithm"] for row in records.rows if row["algorithm"].startswith("cub ")), None)
    group = next((row["k"] for row in reversed(records.rows) if row["algorithm"] == "sequential-parallel" and row["k"] < row["width"]), None)
    words = f", k at most {count_text(group)}" if group else ""
    out = ["", "Sums of one line. Each cell: microseconds of one execute, and the ratio to `optimal`."]
    rows = [(name, words if name == "sequential-parallel" else "") for name in LINES] + ([(cub, "")] if cub else [])
    out += beside(records, rows, "optimal", lambda key: f"{key[0]} {count_text(key[1])}")
    return [*out, "", *answers([
        ("Do fewer accesses save time? The time of `naive`, with 3 log n - 2 accesses an element, over that of `optimal`, with 7:",
         times(records, "naive", "optimal")),
        ("The same for a line that fits the L2, up to 1 Mi elements:",
         times(records, "naive", "optimal", lambda key: key[1] <= 1 << 20)),
        ("Do groups with a carry save time, as their workspace stays in the L2? The time of `optimal` over that of "
         "`sequential-parallel`, its copy included, where the line has several groups:",
         times(records, "optimal", "sequential-parallel", lambda key: group is not None and key[1] > group)),
        ("The time of the fastest of these over that of CUB's scan, which reads and writes each element once:",
         against(records, cub)),
    ])]


def against(records, cub):
    found = []
    for key in dict.fromkeys(map(column, records.rows)):
        like = dict(zip(("lane", "width", "height"), key))
        mine = [records.time(algorithm=name, **like) for name in LINES]
        if cub and None not in mine:
            found.append(ratio(min(mine), records.time(algorithm=cub, **like)))
    return spread(found)


def model_picture(points):
    """The time units of `areal model nakano --json` over the one parameter that has several values; "" if none or several have."""
    dmm = [point for point in points if point["machine"] == "dmm"]
    # If p depends on another parameter, as in wl, that parameter is the one that varies.
    varying = [name for name in "npwl" if len(dmm) > 1 and all(a[name] < b[name] for a, b in zip(dmm, dmm[1:]))]
    if not varying:
        return ""
    over = varying[1] if len(varying) > 1 and varying[0] == "p" else varying[0]
    panels = []
    for machine in ("dmm", "umm"):
        rows = [point for point in points if point["machine"] == machine]
        curves = [("lower bound", {row[over]: row["lower_bound"] for row in rows})]
        for i, program in enumerate(rows[0]["programs"]):
            curves.append((program["program"], {row[over]: row["programs"][i]["time_units"] for row in rows}))
        panels.append(plot.Panel(machine.upper(), over, "time units", [row[over] for row in rows], curves, [row["limit"] for row in rows]))
    title = ", ".join(f"{name} = {'wl' if name in varying else dmm[0][name]}" for name in "npwl" if name != over)
    return plot.svg(title, panels)


def lines(newest):
    out = []
    for cases, part, names, what in (("sat-all", tables, TABLES, "Tables"), ("scan-all", sums, LINES, "Sums of a line")):
        records = Records(*newest(cases), "all")
        if not records:
            out += ["", f"{what}: not measured yet."]
            continue
        expected = [(f"`{name}` of {key[0]}, {key[1]}x{key[2]}", {"algorithm": name, "lane": key[0], "width": key[1], "height": key[2]})
                    for key in dict.fromkeys(map(column, records.rows)) for name in names]
        out += part(records) + absent(expected, records)
    return out[1:]
