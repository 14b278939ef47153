"""The measured part of docs/algorithms/kasagi-2014.md: Table II of Kasagi 2014 against the paper's claims."""

import math
import plot
import rules

PAGE = "docs/algorithms/kasagi-2014.md"
GPU = {"2R2W": "2r2w", "4R4W": "4r4w", "4R1W": "4r1w", "2R1W": "2r1w", "1R1W": "1r1w"}
CPU = {"2R2W(CPU)": "2r2w-cpu", "4R1W(CPU)": "4r1w-cpu"}
QUARTER, BEST, OURS = "1.25R1W", "fastest (1+r)R1W", "areal's `auto` at that commit"
RIVALS = [*GPU, BEST]  # BEST includes 1.25R1W, which is one of the shares
LEAST_SHARE = 1e-3  # that is drawn
FLAT = 1.02  # times within 2 % count as equal


def digits(value):
    """Three digits, as in the paper."""
    places = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(0, min(5, places))}f}"


def size_of(row):
    width, height = row["width"], row["height"]
    return f"{width // 1024}K" if width == height and width % 1024 == 0 else f"{width}x{height}"


class Sheet:
    """The cells of one type pair: (row, size) -> milliseconds."""

    def __init__(self, records):
        cells = [row for row in records if row["shown"] == "kasagi"]
        self.first = next((row for row in cells if row["backend"] == "cuda"), None)
        self.cpu = next((row["device"] for row in cells if row["backend"] == "cpu"), "")
        self.lane = records[0]["lane"]
        self.pixels = {size_of(row): row["width"] * row["height"] for row in records}
        self.sizes = sorted(self.pixels, key=self.pixels.get)
        self.times, self.r, self.near, self.default, self.daggers = {}, {}, {}, {}, {}
        self.cells = cells
        names = {id: name for name, id in {**GPU, **CPU}.items()}
        for row in cells:
            size, name = size_of(row), names.get(row["algorithm"], OURS)
            if row["algorithm"] == "hybrid-1r1w":
                self.take_hybrid(size, row["r"], row["time_us"]["median"] / 1000)
                continue
            self.times[name, size] = row["time_us"]["median"] / 1000
            self.daggers[name, size] = rules.dagger(row)
            if name == OURS:
                self.default[size] = row["algorithm"]
            if "floor_us" in row:
                self.times[row["floor"], size] = row["floor_us"] / 1000
        self.floor = next((row["floor"] for row in cells if "floor" in row), None)
        self.curves = {size: {row["r"]: row["time_us"]["median"] / 1000 for row in records
                              if row["shown"] == "kasagi-r" and size_of(row) == size} for size in self.sizes}

    def take_hybrid(self, size, r, time):
        """The share nearest to 1/4, which stands for 1.25R1W."""
        if size not in self.near or abs(r - 0.25) < abs(self.near[size] - 0.25):
            self.near[size], self.times[QUARTER, size] = r, time
        if time < self.times.get((BEST, size), float("inf")):
            self.r[size], self.times[BEST, size] = r, time

    def fastest(self, size, names):
        """(time, name), or None if none of them was measured at that size."""
        return min(((self.times[name, size], name) for name in names if (name, size) in self.times), default=None)

    def complete(self, size, names):
        return all((name, size) in self.times for name in names)


def table(path, sheet):
    first = sheet.first
    lines = ["", f"{sheet.lane} on one {first['device']}; `bench/results/{path.name}`, commit {first['commit']}. Milliseconds of one execute, {rules.statistic(sheet.cells)}. The fastest "
             "of the paper's GPU rows is **bold**." + (f" The two CPU rows run on one thread of {sheet.cpu}." if sheet.cpu else ""), "",
             "| | " + " | ".join(sheet.sizes) + " |", "| --- |" + " --- |" * len(sheet.sizes)]
    winners = {size: won[1] for size in sheet.sizes if (won := sheet.fastest(size, RIVALS))}
    for name in [*GPU, QUARTER, BEST, "r", "r within 2 %", *CPU, OURS, *([sheet.floor] if sheet.floor else [])]:
        cells = []
        for size in sheet.sizes:
            time = sheet.times.get((name, size))
            if name == "r":
                cells.append(digits(sheet.r[size]) if size in sheet.r else "-")
            elif name == "r within 2 %":
                cells.append(flat(sheet.curves[size]))
            else:
                text = "-" if time is None else digits(time) + sheet.daggers.get((name, size), "")
                cells.append(f"**{text}**" if winners.get(size) == name else text)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def flat(curve):
    """The smallest and the largest share with a time within 2 % of the best of the curve."""
    if not curve:
        return "-"
    near = [r for r, time in curve.items() if time <= FLAT * min(curve.values())]
    return " to ".join(digits(r) for r in dict.fromkeys((min(near), max(near))))


def together(sizes, word_of):
    """Joins neighbouring sizes with the same word: "1K to 4K 2R1W, 5K 1R1W"."""
    runs = []
    for size in sizes:
        word = word_of(size)
        if runs and runs[-1][0] == word:
            runs[-1][2] = size
        else:
            runs.append([word, size, size])
    return ", ".join(f"{first if first == last else f'{first} to {last}'} {word}" for word, first, last in runs)


def not_compared(sizes):
    return f" Not compared, as rows are missing: {', '.join(sizes)}." if sizes else ""


def who_wins(sheet):
    sizes = [size for size in sheet.sizes if sheet.complete(size, RIVALS)]
    rest = not_compared([size for size in sheet.sizes if size not in sizes])
    if not sizes:
        return f"- **The fastest row at each size.**{rest}"
    words = together(sizes, lambda size: sheet.fastest(size, RIVALS)[1])
    return f"- **The fastest row at each size.** {words}. In the paper: 2R1W to 4K, and from 5K on the fastest (1+r)R1W.{rest}"


def conjecture(sheet):
    """1R1W against all other rows of the paper beyond 18K."""
    said = "- **Is 1R1W the fastest beyond 18K, as the paper conjectures?**"
    beyond = [size for size in sheet.sizes if sheet.pixels[size] > (18 * 1024) ** 2]
    sizes = [size for size in beyond if sheet.complete(size, RIVALS)]
    rest = not_compared([size for size in beyond if size not in sizes])
    if not sizes:
        return f"{said} Not measured.{rest}"
    ratios = {}
    for size in sizes:
        time, name = sheet.fastest(size, [name for name in RIVALS if name != "1R1W"])
        ratios[size] = (sheet.times["1R1W", size] / time, name)
    won = [size for size in sizes if ratios[size][0] < 1]
    answer = f"At {len(won)} of {len(sizes)} sizes" + (f": {', '.join(won)}." if won else ".")
    if not won:
        answer = "No, at none of the measured sizes."
    elif len(won) == len(sizes):
        answer = f"Yes, at all {len(sizes)} sizes." if len(sizes) > 1 else f"Yes, at {sizes[0]}, the only size."
    words = ", ".join(f"{size} {ratio:.3f} ({name})" for size, (ratio, name) in ratios.items())
    close = [size for size in sizes if 1 / FLAT < ratios[size][0] < FLAT]
    answer += f" Its time over that of the fastest other row: {words}."
    if close:
        answer += f" Within 2 %, so not decided: {', '.join(close)}."
    return f"{said} {answer}{rest}"


def best_share(sheet):
    sizes = [size for size in sheet.sizes if size in sheet.r]
    if len(sizes) < 2:
        return "- **The best r.** Not measured."
    shares = [sheet.r[size] for size in sizes]
    falls = sum(b < a for a, b in zip(shares, shares[1:]))
    return (f"- **The best r.** {digits(shares[0])} at {sizes[0]}, {digits(shares[-1])} at {sizes[-1]}; it falls in {falls} of the {len(shares) - 1} "
            "steps from one size to the next. In the paper: 0.168 at 1K, 0.0725 at 18K. The table's row below r has the shares with times within 2 %.")


def speed_up(sheet):
    said = "- **The speed-up of the fastest (1+r)R1W over the faster CPU row.**"
    sizes = [size for size in sheet.sizes if sheet.complete(size, [BEST, *CPU])]
    if not sizes:
        return f"{said} Not measured."
    found = {size: sheet.fastest(size, CPU)[0] / sheet.times[BEST, size] for size in sizes}
    paper = [size for size in sizes if 5 * 1024 <= sheet.pixels[size] ** 0.5 <= 18 * 1024]
    words = ", ".join(f"{size} {digits(value)}" for size, value in found.items())
    if paper:
        least = min(paper, key=found.get)
        words += f". From 5K on, where the paper has more than 100 (over 4R1W(CPU)), the smallest is {digits(found[least])}, at {least}"
    missing = [size for size in sheet.sizes if size not in sizes and sheet.pixels[size] <= (18 * 1024) ** 2]
    return f"{said} {words}.{not_compared(missing)}"


def default(sheet):
    said = "- **The speed-up of what `auto` chose at that commit over the fastest of the paper's rows.**"
    sizes = [size for size in sheet.sizes if sheet.complete(size, [OURS]) and sheet.fastest(size, RIVALS)]
    rest = not_compared([size for size in sheet.sizes if size not in sizes])
    if not sizes:
        return f"{said} Not measured.{rest}"
    ratios = {size: sheet.fastest(size, RIVALS)[0] / sheet.times[OURS, size] for size in sizes}
    words = ", ".join(f"{size} {ratio:.2f}" for size, ratio in ratios.items())
    lost = [size for size in sizes if ratios[size] <= 1]
    answer = f"{words}; {together(sizes, lambda size: f'by `{sheet.default[size]}`')}."
    answer += f" **It is not faster at {', '.join(lost)}.**" if lost else " It is faster at every size."
    partial = [size for size in sizes if not sheet.complete(size, RIVALS)]
    if partial:
        answer += f" Some of the paper's rows are missing at {', '.join(partial)}."
    return f"{said} {answer}{rest}"


def times_panel(sheet):
    """The rows over the side of the matrix, the floor first: a bound."""
    sides = {size: math.sqrt(pixels) for size, pixels in sheet.pixels.items()}
    names = [sheet.floor, *GPU, QUARTER, BEST, *CPU, OURS]
    return plot.Panel(f"{sheet.lane} on {sheet.first['device']}", "side of the matrix", "milliseconds", [sides[size] for size in sheet.sizes],
                      [("areal's default" if name == OURS else name, {sides[size]: sheet.times.get((name, size)) for size in sheet.sizes}) for name in names if name])


def shares_panel(sheet):
    """Times over r, as multiples of the fastest, of up to five sizes. The smallest shares, next to nothing, are left out."""
    sizes = [size for size in sheet.sizes if len(sheet.curves[size]) > 1]
    few = sizes if len(sizes) <= 5 else [sizes[i * (len(sizes) - 1) // 4] for i in range(5)]
    curves = [(size, {r: time / min(sheet.curves[size].values()) for r, time in sheet.curves[size].items() if r >= LEAST_SHARE}) for size in few]
    x = sorted({r for _, points in curves for r in points})
    return [plot.Panel(f"(1+r)R1W, {sheet.lane}", "r", "time / that of the best r", x, [curve for curve in curves if curve[1]], bound=False)] if x else []


def sheets(records):
    """One for each type pair, without those of CPU rows alone."""
    made = [Sheet([row for row in records if row["lane"] == lane]) for lane in dict.fromkeys(row["lane"] for row in records)]
    return [sheet for sheet in made if sheet.first]


def pictures(newest):
    path, records = newest("sat-kasagi")
    panels = [panel for sheet in sheets(records) for panel in (times_panel(sheet), *shares_panel(sheet))]
    return {f"bench/results/{path.stem}.svg": plot.svg("Kasagi 2014, Table II again", panels)} if panels else {}


def lines(newest):
    path, records = newest("sat-kasagi")
    made = []
    for sheet in sheets(records):
        made += [*table(path, sheet), "", who_wins(sheet), conjecture(sheet), best_share(sheet), speed_up(sheet), default(sheet)]
    if not made:
        return ["Not measured yet."]
    picture = path.with_suffix(".svg")
    if picture.exists():
        made += ["", f"![The rows over the side of the matrix, and (1+r)R1W over r](../../bench/results/{picture.name})"]
    return made
