"""Every algorithm beside areal's default: the tables of docs/algorithms/README.md."""

PAGE = "docs/algorithms/README.md"


def us(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def table(path, records, column_of, titles):
    """Algorithms down; time, and how many times the default's. A bold number is one that beats the default."""
    columns = list(dict.fromkeys(column_of(row) for row in records))
    times = {(row["algorithm"], column_of(row)): row["time_us"]["median"] for row in records}
    floors = {column_of(row): row["floor_us"] for row in records}
    ours = {column: times.get(("auto", column)) for column in columns}
    first = records[0]
    lines = ["", f"{titles}, on one {first['device']}; `bench/results/{path.name}`, of {first['commit']}. Microseconds of one execute, "
             "and how many times the default's; the floor's, and its share of the default's.", "",
             "| algorithm | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(row["algorithm"] for row in records):
        cells = []
        for column in columns:
            time, default = times.get((name, column)), ours[column]
            if time is None:
                cells.append("")
            elif name == "auto" or default is None:
                cells.append(us(time))
            else:
                ratio = f"{time / default:.2f}"
                cells.append(f"{us(time)}, {'**' + ratio + '**' if time < default else ratio}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    shares = [f"{us(floors[c])}" + (f", {floors[c] / ours[c]:.2f}" if ours[c] else "") for c in columns]
    return [*lines, "| the floor | " + " | ".join(shares) + " |", "", verdict(records, column_of, columns, times, ours)]


def verdict(records, column_of, columns, times, ours):
    """By how much the default wins over the papers' best, and where it does not."""
    own = {"auto", "held", "held-diagonal", "held-direct", "ribbon", "anchored"}
    papers = [name for name in dict.fromkeys(row["algorithm"] for row in records) if name not in own]
    words, lost, without = [], [], []
    for column in columns:
        rivals = [(times[name, column], name) for name in papers if (name, column) in times]
        if not rivals or not ours[column]:
            without.append(column)
            continue
        time, name = min(rivals)
        words.append(f"{time / ours[column]:.2f} ({column}, `{name}`)")
        if time <= ours[column]:
            lost.append(column)
    text = "The default against the fastest of the papers: " + ", ".join(words) + "." if words else ""
    if lost:
        text += f" **It does not win {', '.join(lost)}.**"
    elif words:
        text += " It wins every one of these."
    if without:
        text += f" Not compared: {', '.join(without)}."
    return text.strip()


def lines(newest):
    made = []
    path, records = newest("sat-all")
    if records:
        made += table(path, records, lambda row: f"{row['lane']} {row['width']}²", "Tables, border none")
    path, records = newest("histogram-all")
    if records:
        made += table(path, records, lambda row: f"{row['width']}x{row['height']}x{row['bins']}", "Tensors of 32u, without a border")
    return made or ["Not measured yet."]
