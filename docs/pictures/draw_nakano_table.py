"""The picture of the table in docs/algorithms/nakano-2013.md: its launches, and the transpose in registers."""

from svg import BLUE, GREY, PALE, SHADES, Svg, parity
from warp_log import read as read_logs

CASES = ("nakano-table",)
SIDE, TILE = 16, 4

# By launch: what is read of the matrices, what is written, words.
LAUNCHES = (
    ("image", None, "sums of neighbours"), (None, None, "the sums' prefix-sums,", "a block a line"), ("image", "table", "spread to the elements"),
    ("table", "transposed", "transpose"), ("transposed", None, "sums of neighbours"), (None, None, "the sums' prefix-sums,", "a block a line"),
    ("transposed", "transposed", "spread to the elements"), ("transposed", "table", "transpose back"))


# ---------------------------------------------------------------- what must be true of the trace


def check(logs):
    log = logs["umm-optimal"]
    kernels = ["SumPairs", "ScanInBlock", "SpreadSums", "DiagonalTranspose"]
    assert [launch.kernel for launch in log.launches] == 2 * kernels, "umm-optimal: other launches"
    for launch, (read, written, *_) in enumerate(LAUNCHES):
        touched = {(r.what, r.array) for r in log.asked if r.launch == launch} - {("load", "level"), ("store", "level")}
        assert touched == {("load", read), ("store", written)} - {("load", None), ("store", None)}, f"umm-optimal: launch {launch + 1} touches {touched}"
        level = {touch.element for touch in log.touches("level", "store", launch)}
        if launch % 4 == 0:
            log.once(read, "load", launch), log.once("level", "store", launch)
        elif launch % 4 == 1:  # one block, whose first sum is there already
            assert level == {y * SIDE // 2 + x for y in range(SIDE) for x in range(1, SIDE // 2)}, "umm-optimal: other sums are scanned"
            assert all(len({t.block for t in log.touches("level", "store", launch) if t.element * 2 // SIDE == y}) == 1 for y in range(SIDE))
        else:
            assert not level, f"umm-optimal: launch {launch + 1} writes a level"
        if launch % 4 == 3:
            check_transpose(log, launch, read, written)
    log.once("table", "store", 2), log.once("table", "store", 7), log.once("transposed", "store", 3)
    first_column = {y * SIDE for y in range(SIDE)}
    assert {t.element for t in log.touches("transposed", "store", 6)} == set(range(SIDE * SIDE)) - first_column, "umm-optimal: not in place"


def requests_of_tile(log, launch, array, what):
    """Of the first tile, by its place: in which request of the warp, and by which lane."""
    return {divmod(element, SIDE): (r, lane) for r, request in enumerate(q for q in log.requests(array, what, launch) if (q.block, q.warp) == (0, 0))
            for lane, element in zip(request.lanes, request.elements) if lane < TILE}


def check_transpose(log, launch, source, target):
    log.once(source, "load", launch), log.once(target, "store", launch)
    read = {(t.element // SIDE, t.element % SIDE): t.thread for t in log.touches(source, "load", launch)}
    for touch in log.touches(target, "store", launch):
        y, x = divmod(touch.element, SIDE)
        assert read[x, y] == touch.thread, "umm-optimal: a lane writes what another one read"
    for what, array in (("load", source), ("store", target)):
        places = requests_of_tile(log, launch, array, what)
        assert len(places) == TILE * TILE and all(r == y for (y, _), (r, _) in places.items()), f"umm-optimal: a {what} is not of one row"
    assert all(x == (lane + r) % TILE for (_, x), (r, lane) in requests_of_tile(log, launch, source, "load").items()), "umm-optimal: not diagonal"


# ---------------------------------------------------------------- the picture


def launches_picture(log):
    cell, top = 7, 54
    wide, half, high = SIDE * cell, SIDE // 2 * cell, SIDE * cell
    step, row = wide + half + 36, SIDE * cell + 52
    svg = Svg(4 * step, top + 2 * row + 166)
    svg.text(10, 18, f"umm-optimal, {SIDE} x {SIDE} elements by blocks of {log.launches[0].threads} threads: the matrix, and beside it the level of sums of two", size=13)
    for launch, (read, written, *words) in enumerate(LAUNCHES):
        left, y = 10 + launch % 4 * step, top + launch // 4 * row
        svg.text(left, y - 6, f"{launch + 1}: {log.launches[launch].kernel}")
        for i, line in enumerate(words):
            svg.text(left, y + high + 14 + 12 * i, line, size=10)
        for array, source, target, at, width in (("matrix", read, written, left, SIDE), ("level", "level", "level", left + wide + 8, SIDE // 2)):
            if array == "level" and launch % 4 == 3:
                continue
            svg.rect(at, y, width * cell, high, PALE)
            if target:
                svg.coloured([((at + t.element % width * cell, y + t.element // width * cell, cell, cell),
                               parity(1, tile_or_line(t.element, width, launch))) for t in log.touches(target, "store", launch)])
            if source:
                read_here = sorted({t.element for t in log.touches(source, "load", launch)})
                svg.bars([(at + e % width * cell + 2.5, y + (e // width + 0.5) * cell, 2) for e in read_here], 2, BLUE)
            svg.rect(at, y, width * cell, high, "none", "#888")
    y, big = top + 2 * row + 22, 28
    svg.text(10, y - 12, f"A tile of {TILE} x {TILE} in launch 4, in {TILE} registers of {TILE} lanes: the number is the request, the colour the lane", size=13)
    for left, what, array, words in ((10, "load", "table", ("read: in request r lane j takes", "column (j + r) mod 4")),
                                     (10 + 2 * step, "store", "transposed", ("written: each request is a row", "of the transposed"))):
        places = requests_of_tile(log, 3, array, what)
        svg.coloured([((left + x * big, y + j * big, big, big), SHADES[lane % 4][1]) for (j, x), (_, lane) in sorted(places.items())], "#fff")
        svg.texts([(left + (x + 0.5) * big, y + (j + 0.5) * big + 4, r) for (j, x), (r, _) in sorted(places.items())])
        for i, line in enumerate(words):
            svg.text(left + TILE * big + 12, y + 16 + 14 * i, line)
    svg.rect(10, y + TILE * big + 14, 10, 10, SHADES[1][1], GREY)
    svg.text(26, y + TILE * big + 23, "written; shades tell lines or tiles apart")
    svg.rect(10 + 2 * step, y + TILE * big + 16, 6, 6, BLUE)
    svg.text(26 + 2 * step, y + TILE * big + 23, "read")
    return svg.done()


def tile_or_line(element, width, launch):
    y, x = divmod(element, width)
    return y // TILE + x // TILE if launch % 4 == 3 else y


def pictures(logs):
    return {"nakano-table.svg": launches_picture(logs["umm-optimal"])}


def read(data):
    logs = read_logs(data)
    check(logs)
    return logs
