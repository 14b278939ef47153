"""The picture of docs/algorithms/poostchi-2017.md: which launch writes what of the tensor."""

from svg import DARK, GREY, Svg, parity, ramp
from warp_log import read as read_logs

CASES = ("poostchi",)
BINS, WIDTH, HEIGHT, TILE = 2, 64, 48, 16
ACROSS, DOWN = WIDTH // TILE, HEIGHT // TILE

# By algorithm, pass by pass: how many launches, what they write, words.
PASSES = {
    "cw-b": ((1, "tensor", "zeros and ones"), (BINS * HEIGHT, "tensor", "a row of a bin each"), (BINS, "transposed", "a bin each, transposed"),
             (BINS * WIDTH, "transposed", "a column of a bin each"), (1, "tensor", "transposed back")),
    "cw-sts": ((1, "tensor", "zeros and ones"), (1, "tensor", "all rows, a block each"), (1, "transposed", "all tiles, transposed"),
               (1, "transposed", "all columns, a block each"), (1, "tensor", "transposed back")),
    "cw-tis": ((1, "tensor", "zeros and ones"), (ACROSS, "tensor", "a vertical strip each"), (DOWN, "tensor", "a horizontal strip each")),
    "wf-tis": ((1, "tensor", "zeros and ones"), (ACROSS + DOWN - 1, "tensor", "an anti-diagonal each")),
}


def passes(log):
    """Of each: its launches, what they write, words."""
    first = 0
    for count, array, words in PASSES[log.name]:
        yield range(first, first + count), array, words
        first += count


def plane_rows(array):
    return HEIGHT if array == "tensor" else WIDTH


def written(log, launches, array):
    """What each block of these launches writes of each bin: by launch, block and bin."""
    return log.rectangles(array, "store", launches, rows=plane_rows(array))


# ---------------------------------------------------------------- what must be true of the traces


def check(logs):
    for name, log in logs.items():
        assert len(log.launches) == sum(count for count, _, _ in PASSES[name]), f"{name}: {len(log.launches)} launches"
        for launches, array, words in passes(log):
            stores = [touch.element for touch in log.touches(array, "store", launches)]
            assert sorted(stores) == list(range(BINS * WIDTH * HEIGHT)), f"{name}, {words}: not each element once"
            others = {a.array for a in log.asked if a.launch in launches and a.what == "store"} - {array}
            assert others <= ({"saved"} if name == "wf-tis" and len(launches) > 1 else set()), f"{name}, {words}: writes {others}"
            for (launch, block, plane), (x, y, w, h) in written(log, launches, array).items():
                at = launch - launches[0]
                if "row of a bin" in words or "column of a bin" in words:
                    assert (plane, y) == divmod(at, plane_rows(array)) and h == 1, f"{name}: launch {launch + 1} writes another line"
                elif words.startswith(("all rows", "all columns")):
                    assert (plane, y) == divmod(block, plane_rows(array)) and h == 1, f"{name}: block {block} writes another line"
                elif "a bin each" in words:
                    assert plane == at, f"{name}: launch {launch + 1} transposes another bin"
                elif "strip" in words or "diagonal" in words:
                    tile = {"v": x // TILE, "h": y // TILE, "a": x // TILE + y // TILE}[words[words.index(" ") + 1] if "strip" in words else "a"]
                    assert (w, h) == (TILE, TILE) and tile == at, f"{name}: launch {launch + 1} writes another tile"
    check_saved(logs["wf-tis"])


def check_saved(log):
    """A tile saves its rows' sums for the one to the right, which reads them in the next launch."""
    tiles = written(log, range(1, len(log.launches)), "tensor")
    for what, reach in (("store", 0), ("load", -1)):
        seen = set()
        for touch in log.touches("saved", what):
            plane, y = divmod(touch.element, HEIGHT)
            x, top, _, _ = tiles[touch.launch, touch.block, plane]
            assert top <= y < top + TILE, "wf-tis: a row of another tile is saved"
            seen.add((x // TILE + reach, y, plane))
        assert seen == {(x, y, plane) for x in range(ACROSS - 1) for y in range(HEIGHT) for plane in range(BINS)}, f"wf-tis: {what} of the saved column"


# ---------------------------------------------------------------- the picture


SCALE, SHIFT = 1.5, 10


def draw_pass(svg, left, top, log, number, launches, array, words):
    """The bins one behind the other, the first in front."""
    width, high = (HEIGHT if array == "transposed" else WIDTH) * SCALE, plane_rows(array) * SCALE
    boxes = sorted(written(log, launches, array).items())
    saving = {(touch.launch, touch.block) for touch in log.touches("saved", "store", launches)} if "saved" in log.size else ()
    for plane in reversed(range(BINS)):
        dx, dy = left + plane * SHIFT, top + (1 - plane) * SHIFT
        mine = [(launch, block, box) for (launch, block, of), box in boxes if of == plane]
        svg.rect(dx, dy, width, high, "#fff")
        svg.coloured([((dx + x * SCALE, dy + y * SCALE, w * SCALE, h * SCALE),
                       ramp(launch - launches[0], len(launches)) if len(launches) > 1 else parity(number, x // w + y // h))
                      for launch, _, (x, y, w, h) in mine], GREY if len(mine) < 20 else "none", 0.5)
        svg.rects([(dx + (x + w) * SCALE - 3, dy + y * SCALE, 3, h * SCALE) for launch, block, (x, y, w, h) in mine if (launch, block) in saving], DARK)
        svg.rect(dx, dy, width, high, "none", "#888")
        if plane == 0 and 1 < len(launches) <= ACROSS + DOWN and array == "tensor":
            svg.texts([(dx + (x + w / 2) * SCALE, dy + (y + h / 2) * SCALE + 4, launch + 1) for launch, _, (x, y, w, h) in mine])
    first, last = launches[0] + 1, launches[-1] + 1
    svg.text(left, top + SHIFT + high + 15, f"launch {first}:" if first == last else f"launches {first} to {last}:")
    svg.text(left, top + SHIFT + high + 28, words)


def launches_picture(logs):
    step, top = 146, 58
    tall = {name: SHIFT + 42 + max(plane_rows(array) for _, array, _ in PASSES[name]) * SCALE for name in logs}
    svg = Svg(5 * step + 10, int(top + sum(tall.values()) + 26 * len(logs) - 10))
    svg.text(10, 18, f"A tensor of {BINS} bins x {HEIGHT} x {WIDTH}, the second bin behind the first: which launch writes what", size=13)
    for name, log in logs.items():
        svg.text(10, top - 8, name, size=13)
        for i, (launches, array, words) in enumerate(passes(log)):
            draw_pass(svg, 10 + i * step, top, log, i, launches, array, words)
        top += tall[name] + 26
    at = top - tall["wf-tis"]
    svg.legend(10 + 2 * step, at, [(DARK, "the rows' sums that a tile saves for the one to the right")])
    svg.text(10 + 2 * step, at + 30, "Several launches: the colours are theirs, in their order.")
    svg.text(10 + 2 * step, at + 46, "One launch: the shades are its blocks.")
    return svg.done()


def pictures(logs):
    return {"poostchi-launches.svg": launches_picture(logs)}


def read(data):
    logs = read_logs(data)
    check(logs)
    return logs
