"""Every algorithm against areal's default, and sums of a line against CUB's: the tables of docs/algorithms/README.md. A record's
`source`, from the catalogue, is the algorithm's paper, "areal" for ours, or none for a peer."""

from figure_page import Records, count_text, number

PAGE = "docs/algorithms/README.md"


def us(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def table(path, records, column_of, titles, baseline, whose):
    """One row per algorithm: time, and its ratio to the time of `baseline`, which the text calls `whose`. Ratios below 1 are bold."""
    columns = list(dict.fromkeys(column_of(row) for row in records))
    times = {(row["algorithm"], column_of(row)): row["time_us"]["median"] for row in records}
    floors = {column: min(row["floor_us"] for row in records if column_of(row) == column) for column in columns}  # a column may have several races
    base = {column: times.get((baseline, column)) for column in columns}
    first = records[0]
    lines = ["", f"{titles}, on one {first['device']}; `bench/results/{path.name}`, commit {first['commit']}. Each cell: microseconds of one "
             f"execute, and the ratio to {whose}, **bold** where it is below 1.", "",
             "| algorithm | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(row["algorithm"] for row in records):
        cells = []
        for column in columns:
            time, other = times.get((name, column)), base[column]
            if time is None:
                cells.append("")
            elif name == baseline or other is None:
                cells.append(us(time))
            else:
                ratio = f"{time / other:.2f}"
                cells.append(f"{us(time)}, {'**' + ratio + '**' if time < other else ratio}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    shares = [f"{us(floors[c])}" + (f", {floors[c] / base[c]:.2f}" if base[c] else "") for c in columns]
    return [*lines, "| the floor | " + " | ".join(shares) + " |", "", verdict(records, columns, times, base, baseline, whose)]


def verdict(records, columns, times, base, baseline, whose):
    """The ratio of the papers' fastest to `baseline` in each column, and the columns where `baseline` is not faster."""
    papers = [name for name in dict.fromkeys(row["algorithm"] for row in records if row.get("source", "areal") != "areal") if name != baseline]
    words, lost, without = [], [], []
    for column in columns:
        rivals = [(times[name, column], name) for name in papers if (name, column) in times]
        if not rivals or not base[column]:
            without.append(column)
            continue
        time, name = min(rivals)
        words.append(f"{time / base[column]:.2f} ({column}, `{name}`)")
        if time <= base[column]:
            lost.append(column)
    text = f"The time of the fastest of the papers over that of {whose}: " + ", ".join(words) + "." if words else ""
    if lost:
        text += f" **{whose[0].upper()}{whose[1:]} is not faster at {', '.join(lost)}.**"
    elif words:
        text += f" {whose[0].upper()}{whose[1:]} is faster in every case."
    if without:
        text += f" Not compared: {', '.join(without)}."
    return text.strip()


def other_tiles(newest, records):
    """What the paper's best tile takes where these rows have another."""
    best, like = Records(*newest("histogram-poostchi"), "poostchi"), {"what": "histogram", "backend": "cuda", "algorithm": "wf-tis", "tile": 64, "tile_threads": 512}
    cells, tile = [], None
    for row in records:
        if row["algorithm"] == "wf-tis" and row.get("tile") not in (None, 64):
            time, tile = best.time(width=row["width"], height=row["height"], bins=row["bins"], **like), row["tile"]
            if time:
                cells.append(f"{number(time)} us at {row['width']}x{row['height']}x{row['bins']}")
    return ["", f"`cw-tis` and `wf-tis` have tiles of {tile} here, areal's default. The paper's best are tiles of 64; with these, another run measured `wf-tis` with {' and '.join(cells)} "
            f"([the paper's page](poostchi-2017.md#on-an-h200), `bench/results/{best.path.name}`)."] if cells else []


def lines(newest):
    made = []
    path, records = newest("sat-all")
    if records:
        made += table(path, records, lambda row: f"{row['lane']} {row['width']}²", "Tables, border none", "auto", "the default")
    path, records = newest("histogram-all")
    if records:
        made += table(path, records, lambda row: f"{row['width']}x{row['height']}x{row['bins']}", "Tensors of 32u, without a border",
                      "auto", "the default") + other_tiles(newest, records)
    path, records = newest("scan-all")
    if records:
        cub = next((row["algorithm"] for row in records if row["algorithm"].startswith("cub ")), None)
        made += table(path, records, lambda row: f"{row['lane']} {count_text(row['width'])}", "Sums of a line", cub, "CUB")
    return made or ["Not measured yet."]
