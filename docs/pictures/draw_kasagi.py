"""The pictures of docs/algorithms/kasagi-2014.md: who touches what in which launch, and the diagonal arrangement."""

from svg import BLUE, DARK, GREEN, ORANGE, PALE, PURPLE, RED, Svg, parity, ramp
from warp_log import read as read_logs

CASES = ("kasagi",)
SIDE, TILE = 16, 4
TILES = SIDE // TILE


# ---------------------------------------------------------------- what must be true of the traces


def tile_of(element):
    return element // SIDE // TILE, element % SIDE // TILE


def check(logs):
    check_lines(logs["2r2w"], 0, "table", lambda y, x: x)
    check_lines(logs["2r2w"], 1, "table", lambda y, x: y)
    check_lines(logs["4r4w"], 0, "table", lambda y, x: x)
    check_transpose(logs["4r4w"], 1, "table", "transposed")
    check_lines(logs["4r4w"], 2, "transposed", lambda y, x: x)
    check_transpose(logs["4r4w"], 3, "transposed", "table")
    for name in ("4r1w", "2r1w", "1r1w", "hybrid-1r1w"):
        launches, written = len(logs[name].launches), logs[name].once("table", "store")
        for element, touch in written.items():
            y, x = divmod(element, SIDE)
            tile = sum(tile_of(element))
            wanted = {"4r1w": y + x, "2r1w": 2, "1r1w": tile,
                      "hybrid-1r1w": 2 if tile < 2 else launches - 1 if tile > 4 else 3 + tile - 2}[name]
            assert touch.launch == wanted, f"{name}: element {y}, {x} is written in launch {touch.launch + 1}"
        for element, times in logs[name].times("image", "load").items():
            twice = name == "2r1w" or name == "hybrid-1r1w" and not 2 <= sum(tile_of(element)) <= 4
            assert times == 1 + twice, f"{name}: element {element} is read {times} times"
    assert not logs["2r1w"].touches("image", "load", 1), "2r1w: step 2 reads the image"
    for what in ("columns", "rows", "corners"):
        written = logs["2r1w"].once(what, "store", 0)
        assert set(written) == {touch.element for touch in logs["2r1w"].touches(what, "load", 2)}, what
        lines = {}
        for touch in logs["2r1w"].touches(what, "store", 1):
            lines.setdefault(touch.element % SIDE, set()).add((touch.block, touch.thread))
        assert what == "corners" or len(lines) == SIDE and all(len(of) == 1 for of in lines.values()), f"2r1w: {what} are scanned by several"
    saved_by, read_by = (logs["1r1w"].once("right", what) for what in ("store", "load"))
    for element, touch in saved_by.items():
        tile_x, y = divmod(element, SIDE)
        assert touch.launch == tile_x + y // TILE == read_by[element].launch - 1, "1r1w: a column is not saved for the next launch"
    check_banks(logs["diagonal"])


def check_lines(log, launch, array, line_of):
    """A thread a line: every element of a line is touched by one thread, and another line's by another."""
    threads = {}
    for touch in log.touches(array, "store", launch):
        threads.setdefault(line_of(*divmod(touch.element, SIDE)), set()).add((touch.block, touch.thread))
    assert len(threads) == SIDE and all(len(of) == 1 for of in threads.values()), f"{log.name}: a line has several threads"
    assert len(set().union(*threads.values())) == SIDE, f"{log.name}: a thread has several lines"


def check_transpose(log, launch, source, target):
    """A block writes the tile that it read to its place across the diagonal."""
    read, written = log.rectangles(source, "load", launch), log.rectangles(target, "store", launch)
    assert {key: (y, x, h, w) for key, (x, y, w, h) in read.items()} == written, f"{log.name}: not a transpose"
    log.once(source, "load", launch), log.once(target, "store", launch)


def cells_of(log):
    """Of the transpose's tile: the cell of shared memory in which each element is put."""
    cells = {}
    for load, put in zip(log.requests("table", "load", 1), log.requests("shared", "put", 1)):
        assert (load.warp, load.lanes) == (put.warp, put.lanes)
        cells.update(zip(load.elements, put.elements))
    return cells


def check_banks(log):
    width = log.size["table"][0]
    assert len(set(cells_of(log).values())) == width * width, "diagonal: two elements in one cell"
    for what in ("put", "get"):
        for request in log.requests("shared", what, 1):
            for first in range(0, len(request.lanes), width):
                banks = {cell % width for cell in request.elements[first : first + width]}
                assert len(banks) == width, f"diagonal: a {what} meets a bank twice"


# ---------------------------------------------------------------- pictures


CELL = 8
WIDE = SIDE * CELL


def box(element, left, top):
    y, x = divmod(element, SIDE)
    return left + x * CELL, top + y * CELL, CELL, CELL


def tile_lines(svg, left, top, colour="#888"):
    svg.rects([(left + i * TILE * CELL, top + j * TILE * CELL, TILE * CELL, TILE * CELL) for i in range(TILES) for j in range(TILES)],
              "none", colour)


def tile_words(svg, left, top, words, size=11):
    """`words` by tile y, x."""
    svg.texts([(left + (x + 0.5) * TILE * CELL, top + (y + 0.5) * TILE * CELL + 4, text) for (y, x), text in sorted(words.items())], size=size)


def by_thread(svg, left, top, log, launch, array):
    svg.coloured([(box(t.element, left, top), parity(launch, t.thread)) for t in log.touches(array, "store", launch)])
    svg.rect(left, top, WIDE, WIDE, "none", "#888")


def by_block(svg, left, top, log, launch, array, what="store", shade=None):
    """Tiles with the numbers of their blocks."""
    words = {}
    for (_, block, _), (x, y, w, h) in sorted(log.rectangles(array, what, launch).items()):
        words[y // TILE, x // TILE] = block
        svg.rects([(left + x * CELL, top + y * CELL, w * CELL, h * CELL)],
                  parity(launch if shade is None else shade, x // TILE + y // TILE))
    tile_lines(svg, left, top)
    return words


def by_launch(svg, left, top, log):
    count = len(log.launches)
    svg.coloured([(box(t.element, left, top), ramp(t.launch, count)) for t in log.touches("table", "store")])


def carries(svg, left, top, log, launch, what, colours):
    """Where what comes into a tile lies: its columns' sums above it, its rows' left of it, the corner between."""
    bars = {"columns": [], "rows": [], "corners": []}
    for name, boxes in bars.items():
        width = log.size[name][0]
        for touch in log.touches(name, what, launch):
            i, at = divmod(touch.element, width)
            if name == "columns":
                boxes.append(((left + at * CELL, top + (i + 1) * TILE * CELL - 2, CELL, 4), touch))
            elif name == "rows":
                boxes.append(((left + (i + 1) * TILE * CELL - 2, top + at * CELL, 4, CELL), touch))
            else:
                boxes.append(((left + (at + 1) * TILE * CELL - 4, top + (i + 1) * TILE * CELL - 4, 8, 8), touch))
        svg.coloured([(place, colours[name][touch.thread % 2]) for place, touch in boxes])


def saved(svg, left, top, log):
    """The columns that tiles save for their right neighbours."""
    boxes = []
    for touch in log.touches("right", "store"):
        tile_x, y = divmod(touch.element, SIDE)
        boxes.append((left + (tile_x + 1) * TILE * CELL - 3, top + y * CELL, 3, CELL))
    svg.rects(boxes, DARK)


CARRIES = {"columns": (ORANGE, "#b35c10"), "rows": (PURPLE, "#5d3590"), "corners": (RED, RED)}


def launches_picture(logs):
    step, high = WIDE + 22, WIDE + 62
    svg = Svg(6 * step + 4, 30 + 2 * high + 70)
    svg.text(10, 18, f"Kasagi 2014, {SIDE} x {SIDE} elements in tiles of {TILE} x {TILE}: who writes what in which launch", size=13)

    def panel(column, row, words, algorithm=None):
        left, top = 10 + column * step, 56 + row * high
        if algorithm:
            svg.text(left, top - 10, algorithm, size=13)
        for i, line in enumerate(words):
            svg.text(left, top + WIDE + 14 + 13 * i, line)
        return left, top

    two, four = logs["2r2w"], logs["4r4w"]
    by_thread(svg, *panel(0, 0, ("1: a thread down", "each column"), "2r2w"), two, 0, "table")
    by_thread(svg, *panel(1, 0, ("2: a thread along each", "row past its first element")), two, 1, "table")
    by_thread(svg, *panel(2, 0, ("1: columns",), "4r4w"), four, 0, "table")
    by_thread_at = panel(4, 0, ("3: columns of the trans-", "posed, but the first row"))
    by_thread(svg, *by_thread_at, four, 2, "transposed")
    for column, launch, array, words in ((3, 1, "transposed", ("2: transpose: the tiles", "by their blocks")), (5, 3, "table", ("4: transpose back",))):
        place = panel(column, 0, words)
        tile_words(svg, *place, by_block(svg, *place, four, launch, array))

    log = logs["2r1w"]
    place = panel(0, 1, ("1: tiles are read", "and summed"), "2r1w")
    by_block(svg, *place, log, 0, "image", "load")
    carries(svg, *place, log, 0, "store", {name: (pair[0], pair[0]) for name, pair in CARRIES.items()})
    place = panel(1, 1, ("2: their sums are", "scanned"))
    svg.rect(*place, WIDE, WIDE, PALE, "#888")
    carries(svg, *place, log, 1, "store", CARRIES)
    place = panel(2, 1, ("3: tiles are read", "again, and written"))
    by_block(svg, *place, log, 2, "table")
    carries(svg, *place, log, 2, "load", {name: (DARK, DARK) for name in CARRIES})

    log = logs["4r1w"]
    place = panel(3, 1, (f"1 to {len(log.launches)}: an anti-", "diagonal of elements each"), "4r1w")
    by_launch(svg, *place, log)
    svg.rect(*place, WIDE, WIDE, "none", "#888")
    svg.texts([(place[0] + (x + 0.5) * CELL, place[1] + (y + 0.5) * CELL + 3, 1 + log.once("table", "store")[y * SIDE + x].launch)
               for y, x in ((0, 0), (0, 5), (0, 10), (0, 15), (15, 5), (15, 10), (15, 15), (10, 10), (5, 5))], size=8)

    for column, name, words in ((4, "1r1w", ("1 to 7: an anti-", "diagonal of tiles each")), (5, "hybrid-1r1w", ("1 to 3, 7 to 9: a triangle;", "4 to 6: diagonals between"))):
        log = logs[name]
        place = panel(column, 1, words, name)
        by_launch(svg, *place, log)
        tile_lines(svg, *place)
        tile_words(svg, *place, {tile_of(element): touch.launch + 1 for element, touch in log.once("table", "store").items()})
        saved(svg, *place, log)
        twice = {tile_of(element) for element, times in log.times("image", "load").items() if times == 2}
        svg.rects([(place[0] + x * TILE * CELL + 3, place[1] + y * TILE * CELL + 3, TILE * CELL - 8, TILE * CELL - 6) for y, x in sorted(twice)], "none", DARK)
    svg.text(10, 46 + 2 * high, "Shades tell neighbouring threads or tiles apart. The number on a tile of the last two is the launch that wrote it; "
             "tiles with a frame were read twice.")
    svg.legend(10, 56 + 2 * high, [(ORANGE, "columns' sums, into the tile below")])
    svg.legend(220, 56 + 2 * high, [(PURPLE, "rows' sums, into the tile to the right")])
    svg.legend(440, 56 + 2 * high, [(RED, "wholes, to below and right")])
    svg.legend(10, 72 + 2 * high, [(DARK, "2r1w: all of these, read; 1r1w and hybrid-1r1w: the last column, saved beside for the tile to the right")])
    return svg.done()


def diagonal_picture(log):
    width, cell, row, column = log.size["table"][0], 26, 2, 5
    cells = cells_of(log)
    colours = [ramp(bank, width) for bank in range(width)]
    side = width * cell
    svg = Svg(2 * side + 220, side + 110)
    svg.text(10, 18, f"The diagonal arrangement of {width} x {width} elements in {width} banks, as 4r4w transposes them", size=13)
    left, top = 10, 62
    svg.text(left, top - 22, "the matrix:")
    svg.text(left, top - 8, "the bank of each element")
    svg.coloured([((left + e % width * cell, top + e // width * cell, cell, cell), colours[at % width]) for e, at in sorted(cells.items())], "#fff")
    svg.texts([(left + (e % width + 0.5) * cell, top + (e // width + 0.5) * cell + 4, at % width) for e, at in sorted(cells.items())])
    at = left + side + 40
    svg.text(at, top - 22, "shared memory, a column a bank:")
    svg.text(at, top - 8, "the element (row, column) of each cell")
    svg.coloured([((at + c % width * cell, top + c // width * cell, cell, cell), colours[c % width]) for c in sorted(cells.values())], "#fff")
    svg.texts([(at + (c % width + 0.5) * cell, top + (c // width + 0.5) * cell + 4, f"{e // width},{e % width}") for e, c in sorted(cells.items())], size=9)
    for origin, place in ((left, lambda e: e), (at, lambda e: cells[e])):
        for line, colour in (([row * width + i for i in range(width)], BLUE), ([i * width + column for i in range(width)], RED)):
            svg.rects([(origin + place(e) % width * cell + 2, top + place(e) // width * cell + 2, cell - 4, cell - 4) for e in line], "none", colour, 2)
    svg.legend(left, top + side + 14, [(BLUE, f"row {row}, as {width} lanes put it: each in a bank of its own"),
                                       (RED, f"column {column}, as {width} lanes get it: each in a bank of its own")])
    at += side + 30
    svg.text(at, top - 8, "bank of lane")
    walks = []
    for what, colour in (("put", BLUE), ("get", RED)):
        request = next(r for r in log.requests("shared", what, 1)
                       if {cells[row * width + i] if what == "put" else cells[i * width + column] for i in range(width)} <= set(r.elements))
        first = next(i for i in range(0, len(request.lanes), width)
                     if request.elements[i] in {cells[row * width + n] if what == "put" else cells[n * width + column] for n in range(width)})
        walks.append((what, colour, [c % width for c in request.elements[first : first + width]]))
    for i, (what, colour, banks) in enumerate(walks):
        svg.text(at + 30 + 60 * i, top + 10, what, fill=colour)
        svg.texts([(at + 40 + 60 * i, top + 28 + 22 * lane, bank) for lane, bank in enumerate(banks)], fill=colour)
    svg.texts([(at + 8, top + 28 + 22 * lane, lane) for lane in range(width)], fill=GREEN)
    return svg.done()


def pictures(logs):
    return {"kasagi-launches.svg": launches_picture(logs), "kasagi-diagonal.svg": diagonal_picture(logs["diagonal"])}


def read(data):
    logs = read_logs(data)
    check(logs)
    return logs
