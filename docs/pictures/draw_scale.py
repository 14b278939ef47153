#!/usr/bin/env python3
"""The pictures of docs/scale.md: a table over three ranks with its numbers, and the parts of a chunked table with theirs.

usage: draw_scale.py    writes docs/pictures/scale/*.svg
"""

import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from svg import BLUE, DARK, GREY, NAVY, PALE, SHADES, Svg  # noqa: E402

CELL = 28
FAINT = "#5a616b"
ORANGE, PURPLE, GREEN, BLUES = SHADES[1][0], SHADES[3][0], SHADES[2][0], SHADES[0][0]


def random_image(width, height, seed):
    rng = random.Random(seed)
    return [[rng.randrange(10) for _ in range(width)] for _ in range(height)]


def table_of(image):
    return [[sum(sum(row[: x + 1]) for row in image[: y + 1]) for x in range(len(image[0]))] for y in range(len(image))]


def grid(svg, left, top, rows, fill=PALE, cell=CELL):
    height, width = len(rows), len(rows[0])
    svg.rect(left, top, cell * width, cell * height, fill)
    svg.lines([(left, top + cell * y, left + cell * width, top + cell * y) for y in range(height + 1)]
              + [(left + cell * x, top, left + cell * x, top + cell * height) for x in range(width + 1)], GREY)
    svg.texts([(left + cell * (x + 0.5), top + cell * (y + 0.5) + 4, rows[y][x]) for y in range(height) for x in range(width) if rows[y][x] is not None])


def arrow(svg, x, y, to_x, to_y):
    svg.lines([(x, y, to_x, to_y)], NAVY, 1.5)
    if x == to_x:
        svg.lines([(to_x - 4, to_y - 6, to_x, to_y), (to_x + 4, to_y - 6, to_x, to_y)], NAVY, 1.5)
    else:
        svg.lines([(to_x - 6, to_y - 4, to_x, to_y), (to_x - 6, to_y + 4, to_x, to_y)], NAVY, 1.5)


def phases():
    """Three ranks of two rows each."""
    width, rows, ranks = 6, 2, 3
    image = random_image(width, rows * ranks, 3)
    table = table_of(image)
    svg = Svg(852, 452)
    lefts, top, step = (86, 346, 606), 66, 112
    wide = CELL * width
    for left, title, below in zip(lefts, ("1. sums", "2. exchange", "3. table"),
                                  ("a strip is read: its columns' sums", "the sums of all ranks above: the carry", "the strip is read again, the carry added")):
        svg.text(left, 22, title, size=13)
        svg.text(left, 39, below, fill=FAINT)
    carry = [0] * width
    for rank in range(ranks):
        strip, at = image[rows * rank : rows * (rank + 1)], top + step * rank
        sums = [sum(column) for column in zip(*strip)]
        svg.text(16, at + CELL + 4, f"rank {rank}", size=13)
        grid(svg, lefts[0], at, strip)
        grid(svg, lefts[0], at + CELL * rows + 6, [sums], ORANGE)
        grid(svg, lefts[1], at, [carry], PURPLE)
        made, above = [], carry
        for y in range(rows):
            above = [a + p for a, p in zip(above, strip[y])]
            made.append([sum(above[: x + 1]) for x in range(width)])
        assert made == table[rows * rank : rows * (rank + 1)], "the strips' tables are not the image's"
        grid(svg, lefts[2], at, made, GREEN)
        arrow(svg, lefts[1] + wide + 14, at + CELL / 2, lefts[2] - 14, at + CELL / 2)
        if rank + 1 < ranks:
            low = at + CELL * (rows + 0.5) + 6
            arrow(svg, lefts[0] + wide + 14, low, lefts[1] - 14, low + 20)
            arrow(svg, lefts[1] + wide / 2, at + CELL + 8, lefts[1] + wide / 2, at + step - 8)
        carry = [c + s for c, s in zip(carry, sums)]
    svg.text(16, 418, "All ranks work at the same time in 1 and in 3. MPI_Exscan, 2, gives each of them one row of sums.")
    svg.text(16, 436, "One machine does without 1: strips go from the top down, and a strip's carry is the last row of the table above it, which is there.")
    return svg.done()


def chunked():
    """3 x 2 tiles of 4 x 4 pixels; one of them with its numbers, and its objects."""
    tile, columns, rows, cell = 4, 3, 2, 30
    width, height = tile * columns, tile * rows
    image = random_image(width, height, 5)
    table = table_of(image)
    i, j = 1, 1
    local = table_of([row[j * tile : (j + 1) * tile] for row in image[i * tile : (i + 1) * tile]])
    top = table[i * tile - 1][j * tile : (j + 1) * tile]
    left = [table[y][j * tile - 1] for y in range(i * tile, (i + 1) * tile)]
    corner = table[i * tile - 1][j * tile - 1]
    for y in range(tile):
        for x in range(tile):
            assert local[y][x] + top[x] + left[y] - corner == table[i * tile + y][j * tile + x], "the parts are not the table"
    svg = Svg(872, 408)
    at_x, at_y = 16, 52
    svg.text(at_x, 22, "the table of an image of 3 x 2 tiles", size=13)
    svg.text(at_x, 39, "shown: the numbers that tile (1, 1) needs", fill=FAINT)
    shown = [[None] * width for _ in range(height)]
    for y in range(tile):
        for x in range(tile):
            shown[i * tile + y][j * tile + x] = local[y][x]
    shown[i * tile - 1][j * tile - 1 : (j + 1) * tile] = [corner, *top]
    for y in range(tile):
        shown[i * tile + y][j * tile - 1] = left[y]
    svg.rect(at_x, at_y, cell * width, cell * height, PALE)
    svg.rect(at_x + cell * j * tile, at_y + cell * i * tile, cell * tile, cell * tile, BLUES)
    svg.rect(at_x + cell * j * tile, at_y + cell * (i * tile - 1), cell * tile, cell, ORANGE)
    svg.rect(at_x + cell * (j * tile - 1), at_y + cell * i * tile, cell, cell * tile, GREEN)
    svg.rect(at_x + cell * (j * tile - 1), at_y + cell * (i * tile - 1), cell, cell, PURPLE)
    svg.lines([(at_x, at_y + cell * y, at_x + cell * width, at_y + cell * y) for y in range(height + 1)]
              + [(at_x + cell * x, at_y, at_x + cell * x, at_y + cell * height) for x in range(width + 1)], "#e3e5e8")
    svg.lines([(at_x, at_y + cell * y, at_x + cell * width, at_y + cell * y) for y in range(0, height + 1, tile)]
              + [(at_x + cell * x, at_y, at_x + cell * x, at_y + cell * height) for x in range(0, width + 1, tile)], DARK, 1.5)
    svg.texts([(at_x + cell * (x + 0.5), at_y + cell * (y + 0.5) + 4, shown[y][x]) for y in range(height) for x in range(width) if shown[y][x] is not None])
    x, y = 2, 1
    entry = table[i * tile + y][j * tile + x]
    under = at_y + cell * height
    svg.rects([(at_x + cell * (j * tile + x), at_y + cell * (i * tile + y), cell, cell)], "none", BLUE, 2)
    svg.text(at_x, under + 26, f"T[{i * tile + y}][{j * tile + x}] = local + top + left - corner = {local[y][x]} + {top[x]} + {left[y]} - {corner} = {entry}", size=13)
    svg.legend(at_x, under + 42, [(BLUES, "local: the tile's own table, 32 bits"), (ORANGE, "top: the row above the tile, 64 bits")])
    svg.legend(at_x + 230, under + 42, [(GREEN, "left: the column left of it"), (PURPLE, "corner: the entry above both")])

    right, line = 452, 22
    svg.text(right, 22, "its files", size=13)
    svg.text(right, 39, "written from the top down; each appears whole", fill=FAINT)
    files = [("slide.zarr/zarr.json", "pixels, tiles; complete when all is there"), ("local/zarr.json, top/.., left/.., corner/..", "what Zarr needs")]
    for k, (name, what) in enumerate(files):
        svg.text(right, 66 + 2 * line * k, name, fill=NAVY, size=12)
        svg.text(right + 12, 66 + 2 * line * k + 16, what, fill=FAINT)

    def parts(y, name, what, boxes):
        svg.text(right, y, name, fill=NAVY, size=12)
        svg.text(right + 12, y + 16, what, fill=FAINT)
        x = right + 12
        for size, colour, words in boxes:
            svg.rect(x, y + 24, size, 24, colour, GREY)
            svg.text(x + size / 2, y + 40, words, anchor="middle", size=10)
            x += size

    crc = (30, PALE, "crc")
    parts(158, "local/c/I/J", "a shard: all tiles of 4096 x 4096 pixels", [(70, BLUES, "tile"), crc, (70, BLUES, "tile"), crc, (34, "#fff", ".."), (120, PALE, "where tiles are"), crc])
    parts(222, "left/c/0/I", "for each column of tiles, the entries of this row of tiles", [(110, GREEN, "column 0"), (110, GREEN, "column 1"), (34, "#fff", ".."), crc])
    parts(286, "corner/c/I/0", "one entry a tile", [(170, PURPLE, "64 bits a tile"), crc])
    parts(350, "top/c/I+1/0", "the last row of the table, for the tiles below", [(300, ORANGE, "64 bits a column"), crc])
    return svg.done()


def pictures():
    return {"phases.svg": phases(), "chunked.svg": chunked()}


if __name__ == "__main__":
    (HERE / "scale").mkdir(exist_ok=True)
    for name, text in pictures().items():
        (HERE / "scale" / name).write_text(text)
