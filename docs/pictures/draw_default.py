"""The pictures of docs/device-tables.md: the default kernels, tile by tile and warp by warp."""

from svg import BLUE, DARK, GREEN, GREY, LIME, NAVY, ORANGE, PURPLE, RED, YELLOW, Svg

CASES = ("lookback", "lookback-diagonal", "all-partials", "thin", "reduce-then-scan", "bands", "relay")


class Trace:
    """One run: tiles (blocks) by their turns, and the words that they used of each other."""

    def __init__(self, data):
        self.name, self.launches, self.arrays = data["case"], data["launches"], data["arrays"]
        self.array = {array["name"]: i for i, array in enumerate(self.arrays)}
        # all-partials has no tickets: all blocks run at once, each with the tile of its number
        self.turn = {block: turn for turn, (_, block) in enumerate(data["tickets"])} or {block: block for block in range(self.launches[0]["blocks"])}
        self.places, self.runs, self.cells = data["places"], data["runs"], data["cells"]
        self.handovers = [(start, to, self.arrays[array]["name"], bool(edge), words, posted, read)
                          for _, start, to, array, edge, words, posted, read in data["handovers"]]
        image = self.arrays[self.array["image"]]
        self.width, self.height = image["width"], image["height"]

    def rectangles(self, array):
        """What each block wrote or read of it: x0, x1, y0, y1."""
        found = {}
        for _, block, _, which, x0, x1, y0, y1, _, _ in self.places:
            if which == self.array[array]:
                old = found.get(block, (x0, x1, y0, y1))
                found[block] = (min(old[0], x0), max(old[1], x1), min(old[2], y0), max(old[3], y1))
        return found

    def grid(self):
        """Where each block's tile is: column and row of tiles."""
        tiles = self.rectangles("table")
        wide, high = max(x1 - x0 for x0, x1, _, _ in tiles.values()), max(y1 - y0 for _, _, y0, y1 in tiles.values())
        return {block: (x0 // wide, y0 // high) for block, (x0, _, y0, _) in tiles.items()}


# ---------------------------------------------------------------- what must be true of the traces


def check_tiles(trace):
    """Each tile is read and written once, by one block, and waits for smaller tickets, or numbers, alone."""
    tiles, loaded, grid = trace.rectangles("table"), trace.rectangles("image"), trace.grid()
    blocks = trace.launches[0]["blocks"]
    assert len(trace.launches) == 1 and len(tiles) == blocks and len(trace.turn) == blocks, trace.name
    assert tiles == loaded and len(set(grid.values())) == blocks, f"{trace.name}: a tile is not its block's own"
    assert sum((x1 - x0) * (y1 - y0) for x0, x1, y0, y1 in tiles.values()) == trace.width * trace.height, trace.name
    assert trace.handovers, trace.name
    sources = {}
    for start, to, array, edge, words, posted, read in trace.handovers:
        assert trace.turn[start] < trace.turn[to], f"{trace.name}: {array} of a later ticket"
        assert posted <= read and words > 0, f"{trace.name}: {array} read before it was there"
        sources.setdefault((to, array), {})[grid[start]] = edge
    at = {place: block for block, place in grid.items()}
    group = 1 + max(len({*sources.get((block, "rows"), ()), *sources.get((block, "sums"), ())}) for block in grid)
    for (x, y), block in at.items():
        used = {array: sources.get((block, array), {}) for array in ("rows", "sums", "group_sums", "columns", "totals")}
        left = {(i, y) for i in range(x)}
        above = {(x, j) for j in range(y)}
        if trace.name == "all-partials":
            wanted = {"rows": left, "columns": above, "totals": {(i, j) for i in range(x) for j in range(y)}}
            assert all(set(used[array]) == places for array, places in wanted.items()), (trace.name, x, y, used)
            continue
        if trace.name in ("lookback", "lookback-diagonal"):
            assert set(used["totals"]) == ({(i, y - 1) for i in range(x)} if y > 0 else set()), (trace.name, x, y)
            check_look_back(trace, used["columns"], [(x, j) for j in reversed(range(y))])
        if trace.name == "lookback-diagonal":
            check_look_back(trace, used["rows"], [(i, y) for i in reversed(range(x))])
        else:  # in groups: the neighbours before it in its own, and the last of each group before that
            near, first = set(used["rows"]) | set(used["sums"]), x // group * group
            assert near == {(i, y) for i in range(first, x)}, (trace.name, x, y, near)
            assert set(used["group_sums"]) == {(last - 1, y) for last in range(group, first + 1, group)}, (trace.name, x, y)


def check_look_back(trace, used, nearest_first):
    """Up to one that counts from the edge, and no further; each thread may have found another one."""
    if not nearest_first:
        assert not used, trace.name
        return
    reached = nearest_first[: len(used)]
    assert set(used) == set(reached) and used[reached[-1]], (trace.name, used, nearest_first)


def check_anchored(trace):
    """Three launches: what each reads was written before it, and the tensor is written once and never read."""
    kernels = [launch["kernel"] for launch in trace.launches]
    assert kernels == ["ReduceThenScanCount", "ReduceThenScanWalk", "ReduceThenScanWrite"], kernels
    touched = {}
    for launch, _, _, what, array, *_ in trace.runs:
        if array >= 0:
            touched.setdefault((launch, what), set()).add(trace.arrays[array]["name"])
    assert touched[0, "store"] == {"numbers", "rows", "columns"} and touched[0, "load"] == {"image", "rule"}, touched
    assert touched[1, "load"] == {"rows", "columns"} and touched[1, "store"] == {"left", "above", "corners"}, touched
    assert touched[2, "load"] == {"numbers", "left", "above", "corners"} and touched[2, "store"] == {"tensor"}, touched
    cells = [place[4:] for place in trace.places if place[3] == trace.array["tensor"]]
    volume = sum((x1 - x0) * (y1 - y0) * (z1 - z0) for x0, x1, y0, y1, z0, z1 in cells)
    assert len({(x0, y0, z0) for x0, _, y0, _, z0, _ in cells}) == len(cells), "a tile of a bin is written twice"
    assert volume * 4 == trace.arrays[trace.array["tensor"]]["bytes"], "the tensor is not written whole"


def check_bands(trace):
    """Each block reads and writes the rows of its band, nobody else does, and words go down, from one cluster to the next."""
    blocks, each = trace.launches[0]["blocks"], 4
    band = trace.height // blocks
    for array in ("image", "table"):
        found = trace.rectangles(array)
        assert found == {block: (0, trace.width, block * band, (block + 1) * band) for block in range(blocks)}, (array, found)
    assert trace.handovers and all(array == "sums" and to // each == start // each + 1 for start, to, array, *_ in trace.handovers), trace.handovers


def check_relay(trace):
    """Each block reads and writes a strip. Sums of rows go from block to block, those of columns stay in the strip's block; pixels are read before anything is written."""
    blocks = trace.launches[0]["blocks"]
    wide = trace.width // blocks
    for array in ("image", "table"):
        found = trace.rectangles(array)
        assert found == {block: (block * wide, (block + 1) * wide, 0, trace.height) for block in range(blocks)}, (array, found)
    of = {array: {(start, to) for start, to, name, *_ in trace.handovers if name == array} for array in ("rows", "left", "columns", "above", "corners")}
    assert of["rows"] and of["left"], trace.handovers  # from strip to strip; those of a strip stay in its block
    assert not any(start != to for array in ("columns", "above", "corners") for start, to in of[array]), of
    first = {what: min(start for _, _, warp, kind, _, start, *_ in trace.runs if kind == what) for what in ("load", "store")}
    assert first["load"] < first["store"], first


def steps_of(trace, kinds, y_of):
    """At the height of each warp, the steps at which it does anything, and for each of the kinds those at which it does that."""
    alive, done = {}, {what: {} for what, _, _ in kinds}
    for _, block, warp, kind, _, start, stop, *_ in trace.runs:
        y = y_of(block, warp)
        alive.setdefault(y, []).append((start, stop))
        for what in done:
            if kind in what:
                done[what].setdefault(y, []).append((start, stop))
    return alive, done


# What the warps of a block are, in these traces: first, how many, words.
ROLES = {"bands": ((0, 1, "fetch"), (1, 2, "exchange"), (3, 2, "sum"), (5, 4, "write")),
         "relay": ((0, 1, "fetch"), (1, 1, "sum"), (2, 2, "write"), (4, 1, "carry rows"), (5, 2, "carry columns"))}
SEEN = ((("load",), BLUE, "reads pixels of the image, into the ring"), (("shared",), PURPLE, "reads and writes the block's shared memory"))
KINDS = {"bands": (*SEEN, (("load_relaxed", "vain"), LIME, "asks for words of the cluster above"), (("store_relaxed",), ORANGE, "publishes the cluster's sums"),
                   (("send",), RED, "sends into the shared memory of its cluster's blocks"), (("store",), DARK, "writes the table")),
         "relay": (*SEEN, (("load_relaxed", "vain"), LIME, "asks for sums"), (("store_relaxed",), ORANGE, "publishes sums"), (("store",), DARK, "writes the table"))}


def roles_picture(trace, title):
    """The warps of each block, in the scheduler's steps."""
    kinds = KINDS[trace.name]
    warps, blocks = trace.launches[0]["threads"] // 32, trace.launches[0]["blocks"]
    end = max(run[6] for run in trace.runs) + 1
    left, top, wide, high, gap = 110, 34, 860, 7, 8
    pitch = warps * high + gap
    svg = Svg(left + wide + 10, top + blocks * pitch + 24 + 16 * len(kinds))
    svg.text(10, 18, title, size=13)
    _, done = steps_of(trace, kinds, lambda block, warp: top + block * pitch + warp * high + high / 2)
    for block in range(blocks):
        svg.text(8, top + block * pitch + warps * high / 2 + 4, f"block {block}")
        for first, count, words in ROLES[trace.name]:
            svg.rect(left, top + block * pitch + first * high, wide, count * high, "#f4f5f7" if first % 2 else "#e9ecf0", "none")
            svg.text(left - 4, top + block * pitch + (first + count / 2) * high + 3, words, size=8, anchor="end")
    for what, colour, _ in sorted(kinds, key=lambda kind: kind[0] != ("shared",)):  # the others over it
        svg.bars([(left + first, y, last - first) for y, steps in sorted(done[what].items()) for first, last in spans(steps, end, wide, 4)], high - 1.5, colour)
    svg.legend(10, top + blocks * pitch + 8, [(colour, words) for _, colour, words in kinds])
    return svg.done()


# array, counts from the edge -> colour, words
WORDS = {
    ("rows", False): (BLUE, "its rows' sums"),
    ("rows", True): (NAVY, "its rows' sums from the image's left edge"),
    ("sums", False): (BLUE, "its lines' sums"),
    ("group_sums", False): (NAVY, "its group's row sums, by the group's last"),
    ("columns", False): (LIME, "its columns' sums"),
    ("columns", True): (GREEN, "its columns' sums from the image's top"),
    ("totals", False): (PURPLE, "a total: of its columns from the top down to here"),
}


def tiles_picture(trace, focus, title):
    """All tiles with their tickets or numbers, and what one of them used of which others."""
    grid = trace.grid()
    at = {place: block for block, place in grid.items()}
    columns, rows = 1 + max(x for x, _ in at), 1 + max(y for _, y in at)
    wide, high, top = max(40, min(60, 900 // columns)), 40, 30
    used, counted = {}, {}
    for start, to, array, edge, words, *_ in trace.handovers:
        if to == at[focus]:
            used.setdefault(grid[start], []).append((array, edge))
            counted[array, edge] = counted.get((array, edge), 0) + words
    kinds = [key for key in WORDS if key in counted]
    svg = Svg(max(columns * wide + 20, 560), top + rows * high + 34 + 16 * len(kinds) + 20)
    svg.text(10, 18, title, size=13)
    for (x, y), block in at.items():
        here = (x, y) == focus
        svg.rect(10 + x * wide, top + y * high, wide, high, ORANGE if here else "#f4f5f7", "#888")
        svg.text(10 + x * wide + wide / 2, top + y * high + 15, trace.turn[block], anchor="middle")
        for i, key in enumerate(sorted(used.get((x, y), []), key=list(WORDS).index)):
            svg.rect(10 + x * wide + 5 + 12 * i, top + y * high + 23, 10, 10, WORDS[key][0], DARK)
    total = {"totals": "its total, in parts"} if trace.name == "all-partials" else {}
    number = "its block's number" if trace.name == "all-partials" else "its ticket"
    entries = [(ORANGE, f"tile {trace.turn[at[focus]]}; each tile's number is {number}. It used, of the tiles marked:")]
    for key in kinds:
        words = total.get(key[0], WORDS[key][1])
        entries.append((WORDS[key][0], f"{words} ({counted[key]} words of 8 bytes)"))
    svg.legend(10, top + rows * high + 12, entries)
    return svg.done()


def spans(steps, end, wide, pause):
    """Pixels [begin, end) where something goes on, three at least, pauses of less than so many left out."""
    found = []
    for first, last in sorted((start * wide // end, max(stop * wide // end, start * wide // end + 2) + 1) for start, stop in steps):
        if found and first <= found[-1][1] + pause:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


def time_picture(trace, title):
    """Each warp of each block in the scheduler's steps, and where in the tile a warp's pixels are."""
    kinds = [(("load",), BLUE, "reads its rows of the image"), (("load_relaxed", "vain"), LIME, "gathers: asks for words, reads those that are there"),
             (("vain",), YELLOW, "of these, words that were not there yet"), (("store_relaxed",), RED, "hands its tile's sums over"), (("store",), DARK, "writes the table")]
    warps = trace.launches[0]["threads"] // 32
    order = sorted(trace.turn, key=trace.turn.get)
    end = max(run[6] for run in trace.runs) + 1
    left, top, wide, high, gap = 40, 34, 860, 4, 5
    tall = len(order) * (warps * high + gap)
    first = order[0]
    shares = [(warp, x0, x1, y0, y1) for _, block, warp, array, x0, x1, y0, y1, *_ in trace.places
              if block == first and array == trace.array["image"]]
    taller = max(1, 12 / min(y1 - y0 for *_, y0, y1 in shares))  # so that a line of text fits each
    svg = Svg(left + wide + 10, top + tall + 46 + max(16 * len(kinds), taller * max(y1 for *_, y1 in shares)))
    svg.text(10, 18, title, size=13)
    base = {block: top + i * (warps * high + gap) for i, block in enumerate(order)}
    alive, done = steps_of(trace, kinds, lambda block, warp: base[block] + warp * high + high / 2)
    for block, y in base.items():
        svg.text(left - 6, y + warps * high / 2 + 4, trace.turn[block], anchor="end")
    svg.bars([(left + first, y, last - first) for y, steps in alive.items() for first, last in spans(steps, end, wide, wide)], high - 1.8, GREY)
    for what, colour, _ in kinds:
        pause = 0 if what == ("vain",) else 14
        svg.bars([(left + first, y, last - first) for y, steps in sorted(done[what].items()) for first, last in spans(steps, end, wide, pause)],
                 high - 0.6, colour)
    svg.legend(10, top + tall + 8, [(GREY, "begun, and not yet ended")] + [(colour, words) for _, colour, words in kinds])
    # The first tile, by what each of its warps read and wrote.
    at, side = (left + wide - 330, top + tall + 26), 128
    svg.text(at[0], at[1] - 6, "the pixels of each warp in a tile")
    for warp, x0, x1, y0, y1 in shares:
        svg.rect(at[0] + x0, at[1] + taller * y0, x1 - x0, taller * (y1 - y0), "#e8f0fb" if warp % 2 else "#cfe0f7", "#888")
        svg.text(at[0] + side + 6, at[1] + taller * (y0 + y1) / 2 + 4, f"warp {warp}: {x1 - x0}x{y1 - y0}", size=9)
    return svg.done()


def anchored_picture(trace, focus, bin_of_focus):
    """The three launches: what the blocks or warps that make one tile of one bin read and wrote."""
    wide, high, arrays = 128, 64, trace.arrays
    tiles_x, tiles_y = trace.width // wide, trace.height // high
    tiles = tiles_x * tiles_y

    def tiles_of(array, cells):
        """The tiles whose cells these are, of the bin's plane."""
        mine = (cell % tiles for cell in cells if array == "numbers" or cell // tiles == bin_of_focus)
        # Down the columns first where the corners lie so.
        return {(tile // tiles_y, tile % tiles_y) if array == "corners" else (tile % tiles_x, tile // tiles_x) for tile in mine}

    def touched(launch, block, warp, what, array):
        return set().union(*(tiles_of(array, cells) for which, of, by, kind, at, cells in trace.cells
                             if (which, of, kind, at) == (launch, block, what, trace.array[array]) and warp in (by, None)))

    def who(launch, what, array, wanted):
        """The block and warp that touch a tile's part of an array in that launch."""
        return next((block, warp) for which, block, warp, kind, at, cells in trace.cells
                    if (which, kind, at) == (launch, what, trace.array[array]) and wanted in tiles_of(array, cells))

    counting = who(0, "store", "numbers", focus)[0]
    across, down = who(1, "store", "left", focus), who(1, "store", "above", focus)
    writing = next((block, warp) for launch, block, warp, at, x0, _, y0, _, z0, _ in trace.places
                   if launch == 2 and arrays[at]["name"] == "tensor" and (x0 // wide, y0 // high, z0) == (*focus, bin_of_focus))
    panels = [
        ("1, tile: a block counts all bins", [
            (BLUE, "bin numbers of the pixels, written", touched(0, counting, None, "store", "numbers")),
            (LIME, "each row's and column's counts, written", touched(0, counting, None, "store", "rows") & touched(0, counting, None, "store", "columns"))]),
        ("2, walk: a warp a row, a warp a column", [
            (NAVY, "rows' counts read, `left` written", touched(1, *across, "load", "rows") & touched(1, *across, "store", "left")),
            (GREEN, "columns' counts read, `above` written", touched(1, *down, "load", "columns") & touched(1, *down, "store", "above")),
            (PURPLE, "and `corners` written", touched(1, *across, "store", "corners") | touched(1, *down, "store", "corners"))]),
        ("3, write: a warp, this tile of this bin", [
            (BLUE, "bin numbers read", touched(2, writing[0], None, "load", "numbers")),
            (NAVY, "`left` read", touched(2, *writing, "load", "left")),
            (GREEN, "`above` read", touched(2, *writing, "load", "above")),
            (PURPLE, "`corners` read, the tensor's corner", touched(2, *writing, "load", "corners")),
            (DARK, "the tensor written", {focus})])]
    for _, rows in panels:
        for _, words, places in rows:
            assert places, f"reduce-then-scan: nobody has {words}"
    box, top = 58, 52
    across_panel = tiles_x * box + 40
    svg = Svg(len(panels) * across_panel + 20, top + tiles_y * box + 16 * 5 + 24)
    svg.text(10, 18, f"reduce-then-scan: how tile {focus[0]},{focus[1]} of bin {bin_of_focus} comes about ({trace.width}x{trace.height}, tiles of {wide}x{high})", size=13)
    for i, (title, rows) in enumerate(panels):
        left = 10 + i * across_panel
        svg.text(left, top - 8, title)
        for x in range(tiles_x):
            for y in range(tiles_y):
                svg.rect(left + x * box, top + y * box, box, box, "#fde3c8" if (x, y) == focus else "#f4f5f7", "#888")
                chips = [colour for colour, _, places in rows if (x, y) in places]
                for k, colour in enumerate(chips):
                    svg.rect(left + x * box + 6 + 16 * (k % 3), top + y * box + 8 + 22 * (k // 3), 12, 12, colour, DARK)
        svg.legend(left, top + tiles_y * box + 12, [(colour, words) for colour, words, _ in rows])
    return svg.done()


def pictures(traces):
    held, diagonal, direct, thin = (traces[name] for name in CASES[:4])
    return {
        "lookback.svg": tiles_picture(held, (13, 2), "lookback: tickets row by row, sums across in groups, down by looking back"),
        "lookback-diagonal.svg": tiles_picture(diagonal, (4, 3), "lookback-diagonal: tickets along anti-diagonals, looking back both ways"),
        "all-partials.svg": tiles_picture(direct, (3, 2), "all-partials: one hop from all that lie left, above, and left of those above"),
        "thin.svg": tiles_picture(thin, (17, 0), "thin: pieces of three long rows, in groups"),
        "all-partials-warps.svg": time_picture(
            direct, f"all-partials: the warps of each block, by number, in steps of the scheduler ({direct.launches[0]['threads'] // 32} warps a block, all blocks at once)"),
        "bands-warps.svg": roles_picture(traces["bands"], "bands: the warps of two clusters of four blocks, in steps of the scheduler; each kind works on another step of the image"),
        "relay-warps.svg": roles_picture(traces["relay"], "relay: the warps of three blocks, in steps of the scheduler; each kind works on another unit"),
        "reduce-then-scan.svg": anchored_picture(traces["reduce-then-scan"], (2, 2), 3),
    }


def read(data):
    """The trace of one case, of which all is true that the pictures claim."""
    trace = Trace(data)
    {"reduce-then-scan": check_anchored, "bands": check_bands, "relay": check_relay}.get(trace.name, check_tiles)(trace)
    return trace
