"""What a page made from records must not say. report.py refuses a page that breaks a rule:

- a time below its floor, a fraction of the floor above 1 or a gain above the possible gain, without a sentence that explains it
- a ratio of times from two files (`over` raises)
- a median of fewer than three runs

A cell refers to its sentence by a letter: "1.25 (a)" and, below the table, "- (a) Why." See Notes.
"""

import re

LEAST_RUNS = 3  # of a median
SINGLE = "†"
FRACTIONS = ("fraction", "floor / time", "of the link", "of the memset", "of the sum", "of the floor")
BELOW = {"us": "floor, us", "ms": "memset"}  # a column of times and that of their floors
RATES = {"frames/s": ("link",), "one slot": ("bound",), "two slots": ("bound",), "`HistogramSequence`": ("bound",)}  # and of rates and their bounds
FLOOR_COLUMNS = ("copy", "widen", "memset")  # the second column of a table of times
FLOOR_ROWS = ("memset of the tensor", "the floor", "widen", "copy")
UNITS = {"us": 1, "µs": 1, "ms": 1e3, "s": 1e6, "min": 60e6, "h": 3600e6}
MARK = re.compile(r" \(([a-z])\)")
FILE = re.compile(r"`(?:bench/results/)?([\w.-]+\.json)`")


class Broken(Exception):
    """A page breaks a rule."""


# ---------------------------------------------------------------- for the pages


def runs(row):
    """Runs behind the record's median. Old records do not count them: a single run has equal extremes."""
    time = row["time_us"]
    return time["rounds"] if "rounds" in time else 1 if time["min"] == time["max"] else LEAST_RUNS


def dagger(row):
    """The mark of a time that is no median."""
    return f" {SINGLE}" if runs(row) < LEAST_RUNS else ""


def statistic(rows):
    """What these times are."""
    few = [row for row in rows if runs(row) < LEAST_RUNS]
    return "medians" if not few else "single runs" if len(few) == len(rows) else f"medians, but {SINGLE} marks single runs"


def over(slow, fast):
    """The ratio of two records' times; both are of one file. A peer with rounds of its own has areal's time in these (`areal_us`)."""
    if "areal_us" in slow:
        return slow["time_us"]["median"] / slow["areal_us"]["median"]
    if slow.get("file") != fast.get("file"):
        raise Broken(f"{slow['algorithm']} of {slow['file']} is not comparable with {fast['algorithm']} of {fast['file']}: another run")
    return slow["time_us"]["median"] / fast["time_us"]["median"]


def interval(time, number):
    """The 95 % interval of a median, as text; "" for records without one."""
    return f"{number(time['between'][0])} to {number(time['between'][1])}" if "between" in time else ""


class Notes:
    """The sentences below a table, and the letters by which cells refer to them."""

    def __init__(self):
        self.letters = {}

    def mark(self, sentence):
        return f" ({self.letters.setdefault(sentence, chr(ord('a') + len(self.letters)))})"

    def lines(self):
        return ["", *(f"- ({letter}) {sentence}" for sentence, letter in self.letters.items())] if self.letters else []


# ---------------------------------------------------------------- of the text of a page


def quantity(cell):
    """The first number of a cell, times in microseconds; None without one."""
    found = re.match(r"\**(\d[\d,]*(?:\.\d+)?)\**(?: (us|µs|ms|s|min|h)\b)?", cell)
    return float(found[1].replace(",", "")) * UNITS.get(found[2], 1) if found else None


def tables(text):
    """The head and the rows of each table, and the text between it and the next heading."""
    lines = text.splitlines()
    cells = lambda line: [cell.strip() for cell in line.strip().strip("|").split("|")]  # noqa: E731
    for i, line in enumerate(lines):
        if line.startswith("| ---") and i > 0:
            end = next((j for j in range(i, len(lines)) if not lines[j].startswith("|")), len(lines))
            heading = next((j for j in range(end, len(lines)) if lines[j].startswith("#")), len(lines))
            yield cells(lines[i - 1]), [cells(row) for row in lines[i + 1:end]], lines[end:heading]


def faults_of_row(head, row):
    """(words, cell): the cells of a row that are better than their bound."""
    by = dict(zip(head, row))
    value = {name: quantity(cell) for name, cell in by.items()}

    def below(name, floor):
        return None not in (value.get(name), value.get(floor)) and value[name] < value[floor]

    for name in FRACTIONS:
        if (value.get(name) or 0) > 1:
            yield f"{name} {by[name]} is above 1", by[name]
    for name, floor in BELOW.items():
        if below(name, floor) and not any(MARK.search(by.get(fraction, "")) for fraction in FRACTIONS):
            yield f"{name} {by[name]} is below {floor} {by[floor]}", by[name]
    for name, bounds in RATES.items():
        for bound in bounds:
            if below(bound, name) and not any(MARK.search(by.get(fraction, "")) for fraction in FRACTIONS):
                yield f"{name} {by[name]} is above {bound} {by[bound]}", by[name]
    if len(head) > 1 and head[1] in FLOOR_COLUMNS:
        for name in head[2:]:
            if (name in ("areal", "NPP", "scan-scan") or name.startswith("`")) and below(name, head[1]):
                yield f"{name} {by[name]} is below {head[1]} {by[head[1]]}", by[name]
    if value.get("possible gain"):
        for name in head:
            gain = re.search(r"\((\d+\.\d+)\)", by.get(name, ""))
            if gain and float(gain[1]) > value["possible gain"]:
                yield f"{name}: the gain of {gain[1]} is above the possible {by['possible gain']}", by[name]
    if head[0] == "size":
        for cell in row[1:]:
            chosen = re.match(r"\**[a-z][a-z-]* (\d\.\d\d)", cell)
            if chosen and float(chosen[1]) > 1:
                yield f"{cell} is above 1", cell


def faults_of_columns(rows):
    """(words, cell): the times of a table that are below the table's row of floors."""
    floors = next((row for row in rows if FLOOR_ROWS.count(row[0]) or len(row) > 1 and row[1] in FLOOR_ROWS), None)
    for row in rows if floors else ():
        if row is floors or re.match(r"r\b", row[0]):  # (1+r)R1W's r is no time
            continue
        for cell, floor in zip(row[1:], floors[1:]):
            time, least = quantity(cell), quantity(floor)
            if time is not None and least is not None and time < least:
                yield f"{row[0]}: {cell} is below the floor {floor}", cell


def better_than_bounds(text):
    """A sentence for each cell that is better than its bound and does not say why."""
    for head, rows, after in tables(text):
        said = {found[1] for line in after if (found := re.match(r"- \(([a-z])\) \S", line))}
        faults = [(" | ".join(row[:3]), *fault) for row in rows for fault in faults_of_row(head, row)]
        faults += [("", *fault) for fault in faults_of_columns(rows)]
        for where, words, cell in faults:
            mark = MARK.search(cell)
            if not mark or mark[1] not in said:
                yield f"{where}: {words}, and no sentence explains it".removeprefix(": ")


def single_medians(text, records_of):
    """A sentence for each line that names a file with single runs and does not say so. `records_of(name)`: its records."""
    for line in text.splitlines():
        for name in FILE.findall(line):
            few = sum(runs(row) < LEAST_RUNS for row in records_of(name) if isinstance(row.get("time_us"), dict) and "median" in row["time_us"])
            if few and "single run" not in line:
                yield f"{name} has {few} times of fewer than {LEAST_RUNS} runs, and the page does not say so"


def broken(text, records_of):
    return [*better_than_bounds(text), *single_medians(text, records_of)]
