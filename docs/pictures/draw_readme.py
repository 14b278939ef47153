#!/usr/bin/env python3
"""The README's diagram: a region's four corners in the tables of the three borders, of a small image with its numbers.

usage: draw_readme.py    writes docs/pictures/readme/corners.svg
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from svg import BLUE, GREY, PALE, Svg  # noqa: E402

IMAGE = ((3, 1, 4, 1, 5, 9), (2, 6, 5, 3, 5, 8), (9, 7, 9, 3, 2, 3), (8, 4, 6, 2, 6, 4))
REGION = (2, 1, 3, 2)  # x, y, width, height
CELL = 28
PLUS, MINUS = "#cdeec6", "#f9d2cd"
BORDERS = (("zero", "OpenCV, NPP"), ("none", "scikit-image, cumsum"), ("exclusive", "Chen et al. 2018"))


def before(x, y):
    """The sum of what lies left of column x and above row y."""
    return sum(sum(row[:x]) for row in IMAGE[:y])


def table(border):
    height, width = len(IMAGE), len(IMAGE[0])
    more, first = int(border == "zero"), int(border == "none")
    return [[before(x + first, y + first) for x in range(width + more)] for y in range(height + more)]


def corners(border):
    """The cells of the four entries: far, right, below, first."""
    x, y, width, height = REGION
    back = int(border == "none")
    left, top = x - back, y - back
    return (left + width, top + height), (left + width, top), (left, top + height), (left, top)


def grid(svg, at, rows, colours):
    left, top = at
    height, width = len(rows), len(rows[0])
    svg.rect(left, top, CELL * width, CELL * height, PALE)
    for (x, y), colour in colours.items():
        svg.rect(left + CELL * x, top + CELL * y, CELL, CELL, colour)
    svg.lines([(left, top + CELL * y, left + CELL * width, top + CELL * y) for y in range(height + 1)]
              + [(left + CELL * x, top, left + CELL * x, top + CELL * height) for x in range(width + 1)], GREY)
    svg.texts([(left + CELL * (x + 0.5), top + CELL * (y + 0.5) + 4, rows[y][x]) for y in range(height) for x in range(width)])


def frame(svg, at, x, y, width, height):
    svg.rects([(at[0] + CELL * x, at[1] + CELL * y, CELL * width, CELL * height)], "none", BLUE, 2)


def draw():
    svg = Svg(852, 250)
    top, left, gap = 50, 16, 40
    x, y, width, height = REGION
    inside = sum(sum(row[x:x + width]) for row in IMAGE[y:y + height])

    def title(at, words, below):
        svg.text(at, 20, words, size=13)
        svg.text(at, 37, below, fill="#5a616b")

    title(left, "image and region", f"x = {x}, y = {y}, {width} wide, {height} high")
    grid(svg, (left, top), IMAGE, {})
    frame(svg, (left, top), *REGION)
    svg.text(left, top + CELL * 5 + 26, f"sum = {inside}", size=13)
    left += CELL * len(IMAGE[0]) + gap
    for border, whose in BORDERS:
        rows, (far, right, below, first) = table(border), corners(border)
        at = [rows[cy][cx] for cx, cy in (far, right, below, first)]
        assert at[0] - at[1] - at[2] + at[3] == inside, border
        title(left, f"border {border}", whose)
        grid(svg, (left, top), rows, {far: PLUS, first: PLUS, right: MINUS, below: MINUS})
        frame(svg, (left, top), *REGION)
        svg.text(left, top + CELL * 5 + 26, f"{at[0]} − {at[1]} − {at[2]} + {at[3]} = {inside}", size=13)
        left += CELL * len(rows[0]) + gap
    svg.legend(16, top + CELL * 5 + 38, [(PLUS, "added")])
    svg.legend(86, top + CELL * 5 + 38, [(MINUS, "subtracted")])
    svg.rects([(186, top + CELL * 5 + 38, 10, 10)], "none", BLUE, 2)
    svg.text(202, top + CELL * 5 + 47, "where the region lies")
    return svg.done()


if __name__ == "__main__":
    (HERE / "readme" / "corners.svg").write_text(draw())
