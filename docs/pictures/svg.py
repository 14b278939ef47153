"""Just enough of SVG. All lies on white, so that it can be read on a dark page, too."""

BLUE, NAVY, GREEN, LIME, PURPLE, ORANGE, RED, YELLOW, GREY, DARK = (
    "#4c8dd6", "#1f3f77", "#2b8a3e", "#9bd770", "#8e5bc0", "#f08c2e", "#d6403a", "#f2cf3b", "#b8bcc2", "#30343a")
PALE = "#f4f5f7"
# Light and dark, so that neighbours differ.
SHADES = (("#cfe0f7", "#8fb8ea"), ("#fde3c8", "#f6b77a"), ("#d5efc2", "#9bd770"), ("#e5d8f2", "#bd9ade"))


class Svg:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def rect(self, x, y, w, h, fill, stroke="none"):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="{stroke}"/>')

    def text(self, x, y, words, fill=DARK, anchor="start", size=11):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{words}</text>')

    def texts(self, entries, fill=DARK, anchor="middle", size=11):
        """Many of one kind: x, y, words."""
        self.parts.append(f'<g fill="{fill}" text-anchor="{anchor}" font-size="{size}">'
                          + "".join(f'<text x="{x:g}" y="{y:g}">{words}</text>' for x, y, words in entries) + "</g>")

    def bars(self, segments, height, colour):
        """Many bars of one height: x, y, width."""
        path = "".join(f"M{x:g} {y:g}h{w:g}" for x, y, w in segments)
        self.parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="{height}" fill="none"/>')

    def rects(self, boxes, fill, stroke="none", thick=1):
        """Many of one colour: x, y, width, height."""
        path = "".join(f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z" for x, y, w, h in boxes)
        if path:
            self.parts.append(f'<path d="{path}" fill="{fill}" stroke="{stroke}" stroke-width="{thick:g}"/>')

    def coloured(self, boxes, stroke="none", thick=1):
        """Boxes with their colours, those of one colour together: (x, y, width, height), colour."""
        for fill in sorted({colour for _, colour in boxes}):
            mine = [box for box, colour in boxes if colour == fill]
            self.rects(mine if stroke != "none" else joined(mine), fill, stroke, thick)

    def lines(self, segments, colour, thick=1):
        """x, y, to x, to y."""
        path = "".join(f"M{x:g} {y:g}L{to_x:g} {to_y:g}" for x, y, to_x, to_y in segments)
        self.parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="{thick:g}" fill="none"/>')

    def legend(self, x, y, entries):
        for i, (colour, words) in enumerate(entries):
            self.rect(x, y + 16 * i, 10, 10, colour, DARK)
            self.text(x + 16, y + 16 * i + 9, words)

    def done(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


def joined(boxes):
    """The same area in fewer boxes: neighbours in a row become one."""
    rows = []
    for x, y, w, h in sorted(boxes, key=lambda box: (box[1], box[3], box[0])):
        if rows and rows[-1][1::2] == [y, h] and abs(rows[-1][0] + rows[-1][2] - x) < 1e-6:
            rows[-1][2] += w
        else:
            rows.append([x, y, w, h])
    return rows


def ramp(i, count):
    """The i-th of so many colours, in an order that is seen."""
    stops = ((0xE8, 0xF0, 0xFB), (0x8F, 0xB8, 0xEA), (0x9B, 0xD7, 0x70), (0xF2, 0xCF, 0x3B), (0xF0, 0x8C, 0x2E))
    at = i / max(count - 1, 1) * (len(stops) - 1)
    stop = min(int(at), len(stops) - 2)
    return "#" + "".join(f"{round(a + (b - a) * (at - stop)):02x}" for a, b in zip(stops[stop], stops[stop + 1]))


def parity(shade, number):
    return SHADES[shade % len(SHADES)][number % 2]
