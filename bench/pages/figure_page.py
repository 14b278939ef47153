"""Shared by the measured_NAME.py pages that show a figure's records: finding a record, and tables. See report.py."""

import rules


class Records:
    """The records of one figure from one file. Of several records of one case, the last counts."""

    def __init__(self, path, rows, shown):
        self.path = path
        self.rows = [row for row in rows if row.get("shown") == shown]

    def __bool__(self):
        return bool(self.rows)

    def find(self, **like):
        """The record, or None if the case was not measured."""
        found = [row for row in self.rows if all(row.get(key) == value for key, value in like.items())]
        return found[-1] if found else None

    def time(self, **like):
        row = self.find(**like)
        return row["time_us"]["median"] if row else None

    def floor(self, **like):
        """The least: a case may have several races, each with its floor."""
        return min((row["floor_us"] for row in self.rows if "floor_us" in row and all(row.get(k) == v for k, v in like.items())), default=None)

    def default(self, papers, backend="cuda"):
        """The name of areal's own algorithm in the record: the histogram algorithm that is not one of the paper's."""
        names = [row["algorithm"] for row in self.rows
                 if row["what"] == "histogram" and row["backend"] == backend and row["algorithm"] not in papers]
        return names[-1] if names else None

    def sizes(self):
        return list(dict.fromkeys((row["width"], row["height"]) for row in self.rows))

    def bins(self):
        return list(dict.fromkeys(row["bins"] for row in self.rows))

    def source(self):
        """The file, and the picture if there is one."""
        devices = dict.fromkeys(row["device"] for row in self.rows if row["backend"] == "cuda")
        commits = dict.fromkeys(row["commit"] for row in self.rows)
        timed = [row for row in self.rows if "time_us" in row]
        lines = [f"`bench/results/{self.path.name}`, commit {', '.join(commits)}, on one {', '.join(devices)}; {rules.statistic(timed)}."]
        if self.path.with_suffix(".svg").exists():
            lines += ["", f"![the figures](../../bench/results/{self.path.stem}.svg)"]
        return lines


def size_text(size):
    return f"{size[0]}x{size[1]}"


def count_text(count):
    """1048576 as 1 Mi."""
    for unit, bits in (("Mi", 20), ("Ki", 10)):
        if count and count % (1 << bits) == 0:
            return f"{count >> bits} {unit}"
    return str(count)


def number(value):
    """Three digits or one decimal, two below 1, and never 0.00 for a value that is not 0; "-" if it was not measured."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def ratio(a, b):
    return None if a is None or not b else a / b


def spread(values, unit=""):
    """"2.1 to 3.0", over the measured values; None if there are none."""
    there = sorted(value for value in values if value is not None)
    if not there:
        return None
    least, most = number(there[0]), number(there[-1])
    return least + unit if least == most else f"{least} to {most}{unit}"


def table(head, rows):
    return ["| " + " | ".join(line) + " |" for line in ([head, ["---"] * len(head)] + rows)]


def answers(pairs):
    """A list of questions with their answers. A question without an answer was not measured."""
    return [f"- {question} {answer if answer else 'Not measured.'}" for question, answer in pairs]


def absent(expected, records):
    """A sentence that names the expected cases that did not run. `expected`: pairs of a name and the fields of its record."""
    names = [name for name, like in expected if records.find(**like) is None]
    return ["", f"These cases did not run, and are in no answer: {'; '.join(names)}."] if names else []
