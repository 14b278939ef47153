"""What the parts of pages share that are made of a figure's records: finding a record, and tables. See report.py."""


class Records:
    """Those of one figure, of one file; a later one of the same thing counts."""

    def __init__(self, path, rows, shown):
        self.path = path
        self.rows = [row for row in rows if row.get("shown") == shown]

    def __bool__(self):
        return bool(self.rows)

    def find(self, **like):
        """The record, None where it was not measured."""
        found = [row for row in self.rows if all(row.get(key) == value for key, value in like.items())]
        return found[-1] if found else None

    def time(self, **like):
        row = self.find(**like)
        return row["time_us"]["median"] if row else None

    def floor(self, **like):
        row = next((row for row in self.rows if "floor_us" in row and all(row.get(k) == v for k, v in like.items())), None)
        return row["floor_us"] if row else None

    def default(self, papers, backend="cuda"):
        """The name of areal's default: that of the histograms that is none of the paper's."""
        names = [row["algorithm"] for row in self.rows
                 if row["what"] == "histogram" and row["backend"] == backend and row["algorithm"] not in papers]
        return names[-1] if names else None

    def sizes(self):
        return list(dict.fromkeys((row["width"], row["height"]) for row in self.rows))

    def bins(self):
        return list(dict.fromkeys(row["bins"] for row in self.rows))

    def source(self):
        """Where it is from, and the picture where there is one."""
        devices = dict.fromkeys(row["device"] for row in self.rows if row["backend"] == "cuda")
        commits = dict.fromkeys(row["commit"] for row in self.rows)
        lines = [f"`bench/results/{self.path.name}`, of {', '.join(commits)}, on one {', '.join(devices)}; medians."]
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
    """Three digits or one decimal, below 1 two, and never 0.00 for what is not 0; "-" for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def ratio(a, b):
    return None if a is None or not b else a / b


def spread(values, unit=""):
    """"2.1 to 3.0", of those that were measured; None where none was."""
    there = sorted(value for value in values if value is not None)
    if not there:
        return None
    least, most = number(there[0]), number(there[-1])
    return least + unit if least == most else f"{least} to {most}{unit}"


def table(head, rows):
    return ["| " + " | ".join(line) + " |" for line in ([head, ["---"] * len(head)] + rows)]


def answers(pairs):
    """A list of questions with their answers; one without an answer was not measured."""
    return [f"- {question} {answer if answer else 'Not measured.'}" for question, answer in pairs]


def absent(expected, records):
    """A sentence on what of the expected did not run: pairs of a name and what its record is like."""
    names = [name for name, like in expected if records.find(**like) is None]
    return ["", f"Did not run, and is in no answer: {'; '.join(names)}."] if names else []
