"""The pictures of docs/algorithms/lee-choe-2014.md: the banks that the tree of sums meets, and who sums what."""

from svg import BLUE, DARK, GREY, ORANGE, PALE, RED, YELLOW, Svg, parity
from warp_log import read as read_logs

CASES = ("lee-choe",)
BANKS, FEW = 32, 8
MARKED = 2  # the level whose sums are marked: a step of 4 elements

TITLES = {"in order": "in order", "padded": "Harris' padding, equation 1", "rotated": "the new mapping, equation 3"}


# ---------------------------------------------------------------- what the traces say


def cells_of(log, block=0):
    """The cell of shared memory in which a block puts each element of its line, at first."""
    loads = [r for r in log.requests("line", "load", 0) if r.block == block]
    puts = [r for r in log.requests("shared", "put", 0) if r.block == block and r.met == 0]
    cells, waiting = {}, list(puts)
    for load in loads:
        put = next(p for p in waiting if (p.warp, p.lanes) == (load.warp, load.lanes))
        waiting.remove(put)
        cells.update(zip(load.elements, put.elements))
    assert not waiting and len(set(cells.values())) == len(cells), f"{log.name}: two elements in one cell"
    return cells


def levels_of(log):
    return (len(cells_of(log)) - 1).bit_length()


def banks_met(log, level, banks):
    """How often the request of a warp that meets most meets each bank, in one level of the way up."""
    worst = [0] * banks
    for r in log.asked:
        if r.array == "shared" and r.launch == 0 and r.met == level + 1:
            counts = [0] * banks
            for cell in set(r.elements):
                counts[cell % banks] += 1
            worst = max(worst, counts, key=lambda c: (max(c), sum(c)))
    return worst


def nodes(log, block, level):
    """Of that level's sums, by the last element of each: who makes it."""
    ends = {cell: element for element, cell in cells_of(log, block).items()}
    found = {}
    for r in log.requests("shared", "put", 0):
        if r.block == block and r.met == level + 1:
            for lane, cell in zip(r.lanes, r.elements):
                if cell in ends:  # or it is the whole sum, kept beside
                    found.setdefault(ends[cell], 32 * r.warp + lane)
    return found


# ---------------------------------------------------------------- what must be true of them


def check(logs):
    in_order, padded, rotated = (logs[name] for name in TITLES)
    count = len(cells_of(in_order))
    for level in range(levels_of(in_order)):
        met = [banks_met(log, level, BANKS) for log in (in_order, padded, rotated)]
        lanes = min(BANKS, count >> (level + 1))  # of a request
        assert max(met[0]) == min(2 << level, lanes), f"in order, level {level}: {max(met[0])} lanes in a bank"
        assert met[1] == met[2], f"level {level}: the new mapping meets other banks than Harris' padding"
        assert max(met[1]) <= count // BANKS**2, f"padded, level {level}: {max(met[1])} lanes in a bank"
    few = [cells_of(logs[f"{name}, {FEW} banks"]) for name in TITLES]
    assert sorted(few[0].values()) == sorted(few[2].values()) == list(range(len(few[0]))), "the new mapping leaves holes"
    assert max(few[1].values()) == len(few[1]) + len(few[1]) // FEW - 2, "padding skips other cells"
    assert all(few[1][i] % FEW == few[2][i] % FEW for i in few[1]), "the two have other banks"
    two, several = logs["two a thread"], logs["several a thread"]
    length = two.size["line"][0]
    assert [launch.kernel for launch in two.launches] == ["Prescan", "Prescan", "AddSums"] and len(several.launches) == 1
    assert several.launches[0].blocks == 1 and two.launches[0].threads == several.launches[0].threads
    threads = several.launches[0].threads
    assert two.launches[0].blocks * 2 * threads == length
    for log in (two, several):
        for block in range(log.launches[0].blocks):
            for level in range(levels_of(log)):
                made = nodes(log, block, level)
                elements = sorted(cells_of(log, block))
                assert sorted(made) == elements[(2 << level) - 1 :: 2 << level], f"{log.name}: other sums in level {level}"
                own = max(1, len(made) // threads)
                assert all(made[last] == i // own for i, last in enumerate(sorted(made))), f"{log.name}: another thread's sum, level {level}"


# ---------------------------------------------------------------- pictures


HOTTER = {1: BLUE, 2: YELLOW, 4: ORANGE}


def banks_picture(logs):
    cell, left, top = 7, 84, 66
    levels = levels_of(logs["in order"])
    high = 15
    svg = Svg(left + 3 * (BANKS * cell + 34) + 6, top + levels * high + 284)
    count = len(cells_of(logs["in order"]))
    svg.text(10, 18, f"The way up the tree of sums of a line of {count}: how many lanes of a request meet in each of {BANKS} banks, at worst", size=13)
    svg.texts([(10, top + level * high + 11, f"sums of {2 << level}") for level in range(levels)], anchor="start", size=10)
    for i, (name, title) in enumerate(TITLES.items()):
        at = left + i * (BANKS * cell + 34)
        svg.text(at, top - 22, title)
        svg.text(at, top - 8, "banks 0 to 31", size=9)
        svg.rects([(at + bank * cell, top + level * high, cell, high - 3) for level in range(levels) for bank in range(BANKS)], PALE)
        boxes, words = [], []
        for level in range(levels):
            met = banks_met(logs[name], level, BANKS)
            boxes += [((at + bank * cell, top + level * high, cell, high - 3), HOTTER.get(n, RED)) for bank, n in enumerate(met) if n]
            words.append((at + BANKS * cell + 4, top + level * high + 11, max(met)))
        svg.coloured(boxes, "#fff", 0.6)
        svg.texts(words, anchor="start", size=10)
    y = top + levels * high + 14
    for i, (colour, words) in enumerate(((BLUE, "one lane: no conflict"), (YELLOW, "two"), (ORANGE, "four"), (RED, "more; at the right of each line the most of any bank"))):
        svg.legend(left + (0, 150, 210, 270)[i], y, [(colour, words)])

    side, y = 22, y + 62
    svg.text(10, y - 26, f"Where 64 elements lie in {FEW} banks; orange: the sums that one request makes, each of {2 << MARKED} elements", size=13)
    for i, name in enumerate(TITLES):
        log, at = logs[f"{name}, {FEW} banks"], left + i * (BANKS * cell + 34)
        cells = cells_of(log)
        made = set(nodes(log, 0, MARKED))
        last = max(cells.values())
        svg.text(at, y - 6, "a column a bank", size=9)
        place = {element: (at + c % FEW * side, y + c // FEW * side, side, side) for element, c in cells.items()}
        svg.rects([place[e] for e in sorted(cells) if e not in made], PALE, GREY, 0.6)
        svg.rects([place[e] for e in sorted(made)], ORANGE, GREY, 0.6)
        svg.rects([(at + c % FEW * side, y + c // FEW * side, side, side) for c in range(last) if c not in cells.values()], GREY)
        svg.texts([(x + w / 2, line + h / 2 + 4, element) for element, (x, line, w, h) in sorted(place.items())], size=9)
    return svg.done()


def threads_picture(logs):
    wide, high, left, top = 6.4, 15, 110, 52
    two, several = logs["two a thread"], logs["several a thread"]
    length = two.size["line"][0]
    svg = Svg(left + int(length * wide) + 12, top + (levels_of(two) + levels_of(several) + 5) * high + 28)
    svg.text(10, 18, f"A line of {length} by blocks of {two.launches[0].threads} threads: which thread makes which sum, on the way up", size=13)

    def tree(log, y):
        for level in range(levels_of(log)):
            boxes, words = [], []
            for block in range(log.launches[0].blocks):
                for last, thread in sorted(nodes(log, block, level).items()):
                    first = last + 1 - (2 << level)
                    boxes.append(((left + first * wide + 0.5, y, (2 << level) * wide - 1, high - 3), parity(block, thread)))
                    words.append((left + (first + last + 1) / 2 * wide, y + 9, thread))
            svg.coloured(boxes)
            svg.texts(words, size=8)
            svg.text(10, y + 10, f"sums of {2 << level}", size=10)
            y += high
        return y

    def bars(log, array, launch, y, words):
        boxes = log.rectangles("line" if array == "line" else "sums", "store", launch)
        scale = wide if array == "line" else wide * length / log.size["sums"][0]
        for (_, block, _), (x, _, w, _) in sorted(boxes.items()):
            svg.rect(left + x * scale + 0.5, y, w * scale - 1, high - 3, parity(block, 1) if array == "line" else YELLOW)
            svg.texts([(left + (x + w / 2) * scale, y + 9, f"block {block}")], size=8)
        svg.text(10, y + 10, words, size=10)
        return y + high

    svg.text(10, top - 6, "two elements a thread (harris, lee-choe-shared): several blocks, whose sums take two launches more")
    y = tree(two, top + 4)
    y = bars(two, "sums", 1, y + 4, "2: their sums")
    y = bars(two, "line", 2, y, "3: added to all")
    y += 26
    svg.text(10, y - 6, "2^(Q+1) elements a thread (lee-choe-multiple, lee-choe), here 8: one block, first each thread within its own elements")
    y = tree(several, y + 4)
    svg.text(10, y + 16, "The number is the thread. The way down goes through the same sums, from the last to the first.", fill=DARK)
    return svg.done()


def pictures(logs):
    return {"lee-choe-banks.svg": banks_picture(logs), "lee-choe-threads.svg": threads_picture(logs)}


def read(data):
    logs = read_logs(data)
    check(logs)
    return logs
