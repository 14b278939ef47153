"""SVG pictures: curves over one parameter, with logarithmic axes by default, and timelines of stages."""

import math
from dataclasses import dataclass, field

WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND, STRIP = 440, 340, 70, 60, 70, 170, 22
# Okabe and Ito's colours, which most eyes tell apart, then three more; the bound is black.
COLOURS = ("#000000", "#0072b2", "#e69f00", "#999999", "#d55e00", "#009e73", "#56b4e9", "#cc79a7", "#8c6d1f", "#882255", "#44aa99")
STAGE_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2")
STEPS = (1, 1.2, 1.5, 2, 3, 5, 10)  # of an axis that is shorter than a decade


@dataclass
class Panel:
    title: str
    x_name: str
    y_name: str  # panels with the same name share the axis
    x: list  # ascending, above 0
    curves: list  # (name, points); points: x -> value. What is missing, or not above 0, leaves a gap. Adjacent panels with the same names share a legend
    zones: list = field(default_factory=list)  # a word per x; equal neighbours are written once
    bound: bool = True  # the first curve is a bound: dash it


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def text(x, y, anchor, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escaped(words)}</text>\n'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>\n'


class Axis:
    def __init__(self, least, most, length, linear=False):
        self.least, self.most, self.length, self.linear = least, most, length, linear

    def at(self, value):
        if self.linear:
            return self.length * (value - self.least) / (self.most - self.least)
        return self.length * math.log(value / self.least) / math.log(self.most / self.least) if self.most > self.least else self.length / 2


def step_of(most):
    """1, 2 or 5 times a power of 10, so that some five of them make the axis."""
    power = 10 ** math.floor(math.log10(most / 5))
    return power * (1 if most / 5 < 2 * power else 2 if most / 5 < 5 * power else 5)


def y_axis(panels, panel, linear):
    """Of all panels with that name of it. The first panel's has whole decades, or begins at 0 if it is linear."""
    values = [value for one in panels if one.y_name == panel.y_name for _, points in one.curves for value in points.values() if value and value > 0]
    least, most, first = min(values, default=1), max(values, default=1), panel.y_name == panels[0].y_name
    if linear and first:
        return Axis(0, (math.floor(most / step_of(most)) + 1) * step_of(most), HEIGHT, True)
    decade = 10.0 ** math.floor(math.log10(least))
    for step in () if first else STEPS:
        if most < decade * step:
            return Axis(decade, decade * step, HEIGHT)
    return Axis(decade, 10.0 ** (math.floor(math.log10(most)) + 1), HEIGHT)


def y_ticks(y):
    if not y.linear and y.most < y.least * 9.9:
        return [step * y.least for step in STEPS if step * y.least <= y.most * 1.001]
    ticks, step = [y.least], step_of(y.most) if y.linear else 0
    while (tick := ticks[-1] + step if y.linear else ticks[-1] * 10) <= y.most * 1.001:
        ticks.append(tick)
    return ticks


def number_of(value):
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.3g}"


def grid(panel, x, y):
    """The grid and its numbers; x values that would overlap are left out."""
    out = ""
    for tick in y_ticks(y):
        out += line(0, HEIGHT - y.at(tick), WIDTH, HEIGHT - y.at(tick), "#dddddd") + text(-8, HEIGHT - y.at(tick) + 4, "end", number_of(tick))
    free = -LEFT  # the first label may start left of the axis
    for value in panel.x:
        half = 4 * len(number_of(value))
        if x.at(value) - half >= free:
            free = x.at(value) + half + 4
            out += line(x.at(value), 0, x.at(value), HEIGHT, "#eeeeee") + text(x.at(value), HEIGHT + 16, "middle", number_of(value))
    return out + text(WIDTH / 2, HEIGHT + 38 + STRIP, "middle", panel.x_name)


def zones(panel, x):
    """Below the axis: which word holds where. A zone ends half way to the next x."""
    out, begin, shaded = "", 0, False
    ends = [0, *((x.at(a) + x.at(b)) / 2 for a, b in zip(panel.x, panel.x[1:])), WIDTH]
    for i in range(1, len(panel.zones) + 1):
        if i < len(panel.zones) and panel.zones[i] == panel.zones[begin]:
            continue
        out += (f'<rect x="{ends[begin]:.1f}" y="{HEIGHT + STRIP:.1f}" width="{ends[i] - ends[begin]:.1f}" height="{STRIP - 4:.1f}" '
                f'fill="{"#f4ece0" if shaded else "#e8eef4"}" stroke="#ffffff"/>\n')
        out += text((ends[begin] + ends[i]) / 2, HEIGHT + STRIP + 13, "middle", panel.zones[begin])
        begin, shaded = i, not shaded
    return out


def stroke(panel, number):
    """The look of a curve and of its line in the legend."""
    return f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="1.6"' + (' stroke-dasharray="5 4"' if is_bound(panel, number) else "")


def dot(panel, number, x, y):
    """A measured point; bounds have none."""
    return "" if is_bound(panel, number) else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[number % len(COLOURS)]}"/>\n'


def is_bound(panel, number):
    return number == 0 and panel.bound


def curves(panel, x, y):
    out = ""
    for number, (_, values) in enumerate(panel.curves):
        places = [(x.at(at), HEIGHT - y.at(values[at])) if values[at] and values[at] > 0 else None for at in sorted(values)]
        runs = [[]]
        for place in places:
            runs.append([]) if place is None else runs[-1].append(place)
        for run in filter(None, runs):
            points = "".join(f"{a:.1f},{b:.1f} " for a, b in run)
            out += f'<polyline points="{points}" fill="none" {stroke(panel, number)}/>\n'
        out += "".join(dot(panel, number, *place) for place in places if place)
    return out


def names(panel):
    return [name for name, _ in panel.curves]


def legend(panel, at, down):
    out = ""
    for number, name in enumerate(names(panel)):
        y = down + 6 + 20 * number
        out += f'<line x1="{at - 30:.1f}" y1="{y:.1f}" x2="{at - 8:.1f}" y2="{y:.1f}" {stroke(panel, number)}/>\n' + dot(panel, number, at - 19, y) + text(at, y + 4, "start", name)
    return out


def svg(title, panels, in_row=None, linear=False):
    in_row = in_row or len(panels)
    body, across, down, labelled = "", 0, TOP, None  # the names of the last legend
    for first in range(0, len(panels), in_row):
        row, at = panels[first:first + in_row], LEFT
        for panel, following in zip(row, [*row[1:], None]):
            x, y = Axis(panel.x[0], panel.x[-1], WIDTH), y_axis(panels, panel, linear)
            body += f'<g transform="translate({at:.0f} {down:.0f})">\n' + text(0, -10, "start", f"{panel.title}: {panel.y_name}")
            body += grid(panel, x, y) + zones(panel, x) + curves(panel, x, y) + "</g>\n"
            at += WIDTH + GAP
            if following and names(panel) == names(following):
                continue
            if labelled != names(panel):
                body += legend(panel, at, down)
            labelled = names(panel)
            at += LEGEND + (GAP if following else 0)  # room for the next axis's numbers
        across = max(across, at)
        down += TOP + HEIGHT + 60 + STRIP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down - TOP:.0f}" width="{across:.0f}" height="{down - TOP:.0f}" '
            f'font-family="sans-serif" font-size="12">\n<title>{escaped(title)}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
            + text(LEFT, 22, "start", title, ' font-size="15"') + body + "</svg>\n")


@dataclass
class Timeline:
    heading: str
    rows: list  # their names
    stages: tuple  # their names
    bars: list  # (row, stage, title, begin, end), in microseconds
    length: float  # of the axis, in microseconds


def timeline(of, top):
    """The picture below that height, and its own lower end."""
    left, row_height, first = 110, 26, top + 50
    bottom, scale = first + len(of.rows) * row_height, 870 / max(of.length, 1e-3)
    out, at = f'<text x="{left}" y="{top + 18}" font-size="14">{escaped(of.heading)}</text>\n', left
    for stage, name in enumerate(of.stages):
        if any(bar[1] == stage for bar in of.bars):
            out += f'<rect x="{at}" y="{top + 27}" width="11" height="11" fill="{STAGE_COLOURS[stage]}"/><text x="{at + 15}" y="{top + 37}">{name}</text>\n'
            at += 40 + 8 * len(name)
    for row, name in enumerate(of.rows):
        out += f'<text x="{left - 8}" y="{first + row * row_height + 17}" text-anchor="end">{escaped(name)}</text>\n'
    step = next(step for step in (mantissa * 10 ** power for power in range(9) for mantissa in (1, 2, 5)) if of.length <= 10 * step)
    for tick in range(0, math.floor(of.length) + 1, step):
        x = left + tick * scale
        out += f'<line x1="{x:.1f}" y1="{first}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/><text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick / 1000:.4g}</text>\n'
    out += f'<text x="{left + 445}" y="{bottom + 34}" text-anchor="middle">milliseconds</text>\n'
    for row, stage, title, begin, end in of.bars:
        out += (f'<rect x="{left + begin * scale:.2f}" y="{first + row * row_height + 4}" width="{max(0.4, (end - begin) * scale):.2f}" height="{row_height - 8}" '
                f'fill="{STAGE_COLOURS[stage]}"><title>{escaped(title)}: {(end - begin) / 1000:.3f} ms</title></rect>\n')
    return out, bottom + 40


def timelines(parts):
    body, height = "", 0
    for part in parts:
        drawn, height = timeline(part, height)
        body += drawn
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {height}" font-family="DejaVu Sans, sans-serif" font-size="12">\n'
            f'<rect width="1000" height="{height}" fill="white"/>\n{body}</svg>\n')
