"""The pictures of docs/algorithms/chen-2018.md: the transpose of a warp's registers, and what blocks and warps touch."""

from svg import BLUE, DARK, GREY, ORANGE, PALE, SHADES, Svg
from warp_log import read as read_logs

CASES = ("chen",)
LANES = 32
ROW, COLUMN = 5, 12  # of the warp's matrix, marked


# ---------------------------------------------------------------- what must be true of the traces


class Transpose:
    """The first warp's 32 x 32 elements of the image: before, in shared memory, after."""

    def __init__(self, log):
        width = log.size["image"][0]

        def first(array, what, count=LANES):
            return [r for r in log.requests(array, what, 0) if (r.block, r.warp) == (0, 0)][:count]

        self.name = log.name
        self.put, self.get = first("shared", "put"), first("shared", "get")
        self.before, self.cell, self.after = {}, {}, {}  # by (register, lane); by element; by (register, lane)
        for j, (load, put) in enumerate(zip(first("image", "load"), self.put)):
            for lane, element, cell in zip(load.lanes, load.elements, put.elements):
                self.before[j, lane] = divmod(element, width)
                self.cell[divmod(element, width)] = cell
        held = {cell: element for element, cell in self.cell.items()}
        for j, get in enumerate(self.get):
            assert set(get.elements) <= set(held), f"{self.name}: a cell is read that holds no element"
            for lane, cell in zip(get.lanes, get.elements):
                self.after[j, lane] = held[cell]
        self.stored = [r.elements for r in first("transposed", "store")]
        self.stored_width = log.size["transposed"][0]

    def check(self):
        everywhere = [(j, lane) for j in range(LANES) for lane in range(LANES)]
        assert all(self.before[at] == at for at in everywhere), f"{self.name}: a lane does not load its column"
        assert all(self.after[j, lane] == (lane, j) for j, lane in everywhere), f"{self.name}: not transposed"
        for request in (*self.put, *self.get):
            assert len({cell % LANES for cell in request.elements}) == LANES, f"{self.name}: a bank is met twice"
        for j, elements in enumerate(self.stored):  # register j goes to row j of what is written
            assert elements == [j * self.stored_width + lane for lane in range(LANES)], f"{self.name}: not written in rows"


def check(logs):
    for name in ("scanrow-brlt", "brlt-scanrow"):
        Transpose(logs[name]).check()
        for launch, (source, target) in enumerate((("image", "transposed"), ("transposed", "table"))):
            logs[name].once(source, "load", launch), logs[name].once(target, "store", launch)
            read, written = places(logs[name], source, "load", launch), places(logs[name], target, "store", launch)
            assert {who: (y, x, h, w) for who, (x, y, w, h) in read.items()} == written, f"{name}: a warp does not transpose its own"
            assert all(read[block, warp] == (32 * warp, 32 * block, 32, 32) for block, warp in read), f"{name}: not a block 32 rows"
    assert all(launch.shuffles == 160 * 6 for launch in logs["scanrow-brlt"].launches), "scanrow-brlt: not 160 shuffles a matrix"
    assert not any(launch.shuffles for launch in logs["brlt-scanrow"].launches), "brlt-scanrow: shuffles"
    log = logs["scanrow-column"]
    for launch, source in enumerate(("image", "table")):
        log.once(source, "load", launch), log.once("table", "store", launch)
        read = places(log, source, "load", launch)
        assert read == places(log, "table", "store", launch), "scanrow-column: a warp writes what it did not read"
        for (block, warp), box in read.items():
            wanted = (32 * block, 32 * warp, 32, 32) if launch else (0, 32 * block + warp, log.size["image"][0], 1)
            assert box == wanted, f"scanrow-column: {box} is warp {warp}'s of block {block}"
    assert not any(request.array == "shared" for request in log.asked if request.launch == 0), "scanrow: shared memory"


def places(log, array, what, launch):
    """By block and warp."""
    boxes = log.rectangles(array, what, launch, part=lambda touch: (touch.block, touch.thread // LANES))
    return {who: box for (_, who, _), box in boxes.items()}


# ---------------------------------------------------------------- pictures


def transpose_picture(log):
    t = Transpose(log)
    cell = 7
    side, left, top = LANES * cell, 40, 92
    svg = Svg(3 * side + 4 * left + 20, top + side + 92)
    svg.text(10, 18, "BRLT: the 32 x 32 elements of a warp, in its registers and in shared memory", size=13)
    rows, columns = [(ROW, x) for x in range(LANES)], [(y, COLUMN) for y in range(LANES)]

    def panel(i, words, axes):
        at = left + i * (side + left + 10)
        for n, line in enumerate(words):
            svg.text(at, top - 50 + 13 * n, line)
        svg.text(at + side / 2, top - 8, axes[0], anchor="middle", size=9)
        svg.parts.append(f'<text transform="translate({at - 6:g} {top + side / 2:g}) rotate(-90)" text-anchor="middle" font-size="9" fill="{DARK}">{axes[1]}</text>')
        return at

    def mark(at, blue, orange, high):
        """Places as (x, y)."""
        svg.rects([(at + x * cell, top + y * cell, cell, cell) for x, y in blue], BLUE, "#fff", 0.6)
        svg.rects([(at + x * cell, top + y * cell, cell, cell) for x, y in orange], ORANGE, "#fff", 0.6)
        svg.rects([(at, top, side, high * cell)], "none", "#888")

    def within(held, elements):
        where = {element: (lane, j) for (j, lane), element in held.items()}
        return [where[element] for element in elements]

    def in_memory(elements):
        return [(t.cell[e] % LANES, t.cell[e] // LANES) for e in elements]

    at = panel(0, ("before: lane l has column l,", "register j the element (j, l)"), ("lane", "register"))
    svg.rect(at, top, side, side, PALE)
    mark(at, within(t.before, rows), within(t.before, columns), LANES)
    at = panel(1, ("shared memory: 32 rows of 33", "cells, as they lie in the banks"), ("bank", "cell / 32"))
    svg.rect(at, top, side, side + cell, PALE)
    used = set(t.cell.values())
    high = LANES + 1
    svg.rects([(at + c % LANES * cell, top + c // LANES * cell, cell, cell) for c in range(LANES * high) if c not in used], GREY)
    mark(at, in_memory(rows), in_memory(columns), high)
    at = panel(2, ("after: lane l has row l,", "register j the element (l, j)"), ("lane", "register"))
    svg.rect(at, top, side, side, PALE)
    mark(at, within(t.after, rows), within(t.after, columns), LANES)
    banks = [len({c % LANES for c in request.elements}) for request in (t.put[ROW], t.get[COLUMN])]
    svg.legend(left, top + side + 28, [
        (BLUE, f"row {ROW} of the matrix: written by one request of the warp, from register {ROW} of all lanes, to {banks[0]} banks; after, all in lane {ROW}"),
        (ORANGE, f"column {COLUMN}: read by one request, into register {COLUMN} of all lanes, from {banks[1]} banks; before, all in lane {COLUMN}"),
        (GREY, "the cell after each row that nobody uses: without it the orange cells would stand in one bank")])
    return svg.done()


def launches_picture(logs):
    scale, gap, top = 1.4, 50, 58
    svg = Svg(4 * int(96 * scale) + 3 * gap + 40, top + 330)
    svg.text(10, 18, "Chen 2018, an image of 96 x 64: what each block (colour) and each warp (field) reads and writes", size=13)

    def panel(left, top, log, array, what, launch, words):
        svg.text(left, top - 6, words)
        boxes = places(log, array, what, launch)
        drawn = [((left + x * scale, top + y * scale, w * scale, h * scale), SHADES[block % 4][(warp + block) % 2]) for (block, warp), (x, y, w, h) in sorted(boxes.items())]
        svg.coloured(drawn, "#888" if boxes[0, 0][3] > 1 else "none", 0.4)
        svg.texts([(left + (x + w / 2) * scale, top + (y + h / 2) * scale + 3, f"warp {warp}") for (_, warp), (x, y, w, h) in sorted(boxes.items()) if h >= 32], size=8)

    def row(top, name, title, columns):
        svg.text(10, top - 24, title, size=13)
        log = logs[name]
        for i, (array, what, launch, words) in enumerate(columns):
            panel(10 + i * (96 * scale + gap), top, log, array, what, launch, words)

    row(top + 20, "brlt-scanrow", "scanrow-brlt (160 shuffles for each 32 x 32) and brlt-scanrow (none): the same places", [
        ("image", "load", 0, "launch 1 reads"), ("transposed", "store", 0, "launch 1 writes, transposed"),
        ("transposed", "load", 1, "launch 2 reads"), ("table", "store", 1, "launch 2 writes back")])
    row(top + 230, "scanrow-column", "scanrow-column: a warp a row, then a block of 32 columns", [
        ("image", "load", 0, "launch 1 reads"), ("table", "store", 0, "launch 1 writes"),
        ("table", "load", 1, "launch 2 reads"), ("table", "store", 1, "launch 2 writes, in place")])
    return svg.done()


def pictures(logs):
    for what in ("load", "store"):  # or one row would not do for both
        for launch, array in enumerate(("image", "transposed") if what == "load" else ("transposed", "table")):
            assert places(logs["scanrow-brlt"], array, what, launch) == places(logs["brlt-scanrow"], array, what, launch)
    return {"chen-transpose.svg": transpose_picture(logs["brlt-scanrow"]), "chen-launches.svg": launches_picture(logs)}


def read(data):
    logs = read_logs(data)
    check(logs)
    return logs
