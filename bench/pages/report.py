"""Makes the README's table, docs/performance.md, the measured parts of the papers' pages, and the plot from the newest
records in bench/results/.

usage: report.py [--check]   (--check only tests whether all of them match the newest records)

measured_NAME.py in this folder makes a paper's part: PAGE is the page, and lines(newest) the lines between the
marks. newest(cases) gives the path and the records of the newest DATE-cuda-CASES.json, or (None, []) if there is none.
"""

import importlib
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import performance  # noqa: E402
from records import present  # noqa: E402

root = Path(__file__).resolve().parents[2]
results = root / "bench" / "results"
begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
measured_begin, measured_end = "<!-- measured:begin -->", "<!-- measured:end -->"


def newest(what, backend="cpu-*"):
    files = sorted(results.glob(f"*-{backend}-{what}.json"))
    return (files[-1], present(json.loads(files[-1].read_text()))) if files else (None, [])


def milliseconds(microseconds):
    return f"{microseconds / 1000:.2f}" if microseconds < 100_000 else f"{microseconds / 1000:.0f}"


def opencv_beside(records, row):
    """The OpenCV record of the same case and number of threads."""
    for other in records:
        same = all(other[key] == row[key] for key in ("lane", "width", "height"))
        if same and other["threads"] == row["threads"] and other["algorithm"].startswith("opencv"):
            return other
    return None


def python_beside(records, row, name):
    for other in records:
        if other["algorithm"].startswith(name) and (other["width"], other["height"]) == (row["width"], row["height"]):
            return other
    return None


def table():
    lines = []
    path, records = newest("sat")
    if records:
        lines += [
            f"Tables, border zero; `{path.relative_to(root)}`, {records[0]['device']}. The floor is a plain vector pass "
            "that reads the pixels and writes the table's type, on as many threads. Medians, in milliseconds.",
            "",
            "| types | size | threads | areal | floor | floor / areal | cv::integral | cv / areal | two NumPy cumsums | scikit-image |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for row in records:
            if row["algorithm"] != "tiles":
                continue
            time = row["time_us"]["median"]
            cells = [row["lane"], f"{row['width']}x{row['height']}", str(row["threads"]), milliseconds(time)]
            cells += [milliseconds(row["floor_us"]), f"{row['fraction']:.2f}"]
            cv = opencv_beside(records, row)
            cells += [milliseconds(cv["time_us"]["median"]), f"{cv['time_us']['median'] / time:.2f}"] if cv else ["", ""]
            for name in ("numpy", "skimage"):
                peer = python_beside(records, row, name) if row["lane"] == "8u32u" else None
                cells.append(milliseconds(peer["time_us"]["median"]) if peer else "")
            lines.append("| " + " | ".join(cells) + " |")
    path, records = newest("histogram")
    if records:
        lines += [
            "",
            f"Integral histograms, 32u, beside a memset of the tensor; `{path.relative_to(root)}`.",
            "",
            "| algorithm | size | bins | threads | ms | memset, ms | memset / areal |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for row in records:
            lines.append(
                f"| `{row['algorithm']}` | {row['width']}x{row['height']} | {row['bins']} | {row['threads']} | "
                f"{milliseconds(row['time_us']['median'])} | {milliseconds(row['floor_us'])} | {row['fraction']:.2f} |"
            )
    for what, words in (("region", "random regions beside a plain loop of four random loads each"),
                        ("video", "frames, histograms of three regions each, beside decoding alone")):
        path, records = newest(what)
        for i, row in enumerate(records):
            if i == 0:
                lines += ["", f"{row['batch']} {words}; `{path.relative_to(root)}`.", "",
                          "| size | threads | ms | floor, ms | floor / areal |", "| --- | --- | --- | --- | --- |"]
            lines.append(
                f"| {row['width']}x{row['height']} | {row['threads']} | {milliseconds(row['time_us']['median'])} | "
                f"{milliseconds(row['floor_us'])} | {row['fraction']:.2f} |"
            )
    lines += gpu_tables()
    return "\n".join(lines) if lines else "Not measured yet."


def microseconds(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


# The first word of a peer's record, and its name in a table's header.
GPU_PEERS = {"npp": "NPP", "cub": "CUB's 1-D scan", "torch": "PyTorch", "cupy": "CuPy", "opencv": "cv::integral (CPU)"}
# The types for which the README shows peers.
README_LANES = ("32f32f", "8u32u")


def peer_of(row):
    name = row["algorithm"].split(" ")[0]
    return name if name in GPU_PEERS else None


def peers_table(ours, peers):
    """Rows are types and sizes, columns are peers: time, and its ratio to ours. Empty if there are no peers."""
    there = [name for name in GPU_PEERS if any(peer_of(row) == name for row in peers)]
    if not there:
        return []
    same = lambda row, other: all(other[key] == row[key] for key in ("lane", "width", "height", "batch"))
    names = list(dict.fromkeys(peer["algorithm"] for peer in peers if any(same(row, peer) for row in ours)))
    lines = [
        "",
        "Others there in the same run: microseconds, and how many times areal's (NPP and OpenCV with border zero; the scan "
        f"takes the image as one line; PyTorch and CuPy without the time that a launch takes, which is in all others'). {', '.join(names)}. "
        "Other types: [docs/performance.md](docs/performance.md).",
        "",
        "| types | size | areal | " + " | ".join(GPU_PEERS[name] for name in there) + " |",
        "| --- | --- | --- |" + " --- |" * len(there),
    ]
    for row in ours:
        found = [next((p for p in peers if peer_of(p) == name and same(row, p)), None) for name in there]
        if not any(found):
            continue
        own = row["time_us"]["median"]
        cells = [row["lane"], f"{row['width']}x{row['height']}", microseconds(own)]
        cells += [f"{microseconds(p['time_us']['median'])}, {p['time_us']['median'] / own:.1f}" if p else "" for p in found]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def gpu_tables():
    """Rows are types, columns are sizes: time, and floor / time. Then the peers."""
    lines = []
    for what, words in (("sat", "border none"), ("sat-border-zero", "border zero"), ("sat-squares", "with the table of squares"),
                        ("sat-squares-border-zero", "with the table of squares, border zero"),
                        ("sat-batch", "64 images at once"), ("sat-shapes", "other shapes")):
        path, records = newest(what, "cuda")
        peers = [row for row in records if peer_of(row)]
        records = [row for row in records if not peer_of(row)]
        sizes = list(dict.fromkeys(f"{row['width']}x{row['height']}" for row in records))
        lanes = list(dict.fromkeys(row["lane"] for row in records))
        for i, lane in enumerate(lanes):
            if i == 0:
                lines += [
                    "",
                    f"Tables on one {records[0]['device']}, {words}: microseconds of one execute, and floor / areal; "
                    f"`{path.relative_to(root)}`. The floor is the fastest of a copy, or of kernels that only widen.",
                    "",
                    "| types | " + " | ".join(sizes) + " |",
                    "| --- |" + " --- |" * len(sizes),
                ]
            cells = []
            for size in sizes:
                row = next((r for r in records if r["lane"] == lane and f"{r['width']}x{r['height']}" == size), None)
                cells.append(f"{microseconds(row['time_us']['median'])}, {row['fraction']:.2f}" if row else "")
            lines.append(f"| {lane} | " + " | ".join(cells) + " |")
        if what == "sat":  # the performance page has the other types
            lines += peers_table([row for row in records if row["lane"] in README_LANES], peers)
    header = False
    for what in ("histogram", "histogram-32-GiB", "histogram-batch"):
        path, records = newest(what, "cuda")
        for row in records:
            if not header:
                header = True
                lines += ["", f"Integral histograms there, 32u, beside a memset of the tensor; `{path.relative_to(root)}` and its neighbours.",
                          "", "| size | images | bins | us | memset, us | memset / areal |",
                          "| --- | --- | --- | --- | --- | --- |"]
            lines.append(f"| {row['width']}x{row['height']} | {row['batch']} | {row['bins']} | "
                         f"{microseconds(row['time_us']['median'])} | {microseconds(row['floor_us'])} | {row['fraction']:.2f} |")
    path, records = newest("region", "cuda")
    for i, row in enumerate(records):
        if i == 0:
            lines += ["", f"Random regions there, beside plain kernels of the same random loads; `{path.relative_to(root)}`.",
                      "", "| query | size | regions | bins | us | loads, us | loads / areal |",
                      "| --- | --- | --- | --- | --- | --- | --- |"]
        lines.append(f"| `{row['algorithm']}` | {row['width']}x{row['height']} | {row['batch']} | {row['bins'] or ''} | "
                     f"{microseconds(row['time_us']['median'])} | {microseconds(row['floor_us'])} | {row['fraction']:.2f} |")
    return lines


def plot(path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as pyplot
    except ImportError:
        print("report: matplotlib is not installed, no plot", file=sys.stderr)
        return
    _, records = newest("sat")
    rows = [row for row in records if row["algorithm"] == "tiles"]
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(rows) + 1))
    labels = [f"{row['lane']} {row['width']}x{row['height']}, {row['threads']} thr" for row in rows]
    pixels = [row["width"] * row["height"] / 1e9 for row in rows]
    places = range(len(rows))
    axes.barh([p + 0.2 for p in places], [n / row["time_us"]["median"] * 1e6 for n, row in zip(pixels, rows)], 0.35, label="areal")
    axes.barh([p - 0.15 for p in places], [n / row["floor_us"] * 1e6 for n, row in zip(pixels, rows)], 0.25, label="plain pass", color="0.7")
    beside = [(p, n, opencv_beside(records, row)) for p, n, row in zip(places, pixels, rows)]
    axes.plot([n / cv["time_us"]["median"] * 1e6 for p, n, cv in beside if cv], [p + 0.2 for p, n, cv in beside if cv], "k|",
              markersize=12, label="cv::integral")
    axes.set_yticks(list(places), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("gigapixels a second")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def between(text, first, last, lines):
    """The text, with the given lines between the two marks."""
    return re.sub(re.escape(first) + ".*?" + re.escape(last), lambda _: f"{first}\n{lines}\n{last}", text, flags=re.S)


def pages():
    """Path -> text."""
    made = {root / "README.md": between((root / "README.md").read_text(), begin, end, table()),
            root / "docs/performance.md": performance.page(results)}
    for part in sorted(Path(__file__).resolve().parent.glob("measured_*.py")):
        measured = importlib.import_module(part.stem)
        page = root / measured.PAGE
        text = made.get(page) or page.read_text()
        if measured_begin not in text:
            sys.exit(f"{measured.PAGE} has no {measured_begin}")
        made[page] = between(text, measured_begin, measured_end, "\n".join(measured.lines(lambda cases: newest(cases, "cuda"))))
    return made


def main():
    made = pages()
    if sys.argv[1:] == ["--check"]:
        for path, text in made.items():
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.relative_to(root)} does not match the newest records: run bench/pages/report.py")
        return
    for path, text in made.items():
        path.write_text(text)
    plot(results / "sat.svg")


if __name__ == "__main__":
    main()
