"""Makes the README's table and plot, docs/performance.md, docs/notes/scoreboard.md and the measured parts of the papers' pages from the newest
records in bench/results/.

usage: report.py [--check]   (--check only tests whether all of them match the newest records)

measured_NAME.py in this folder makes a paper's part: PAGE is the page, and lines(newest) the lines between the
marks; pictures(newest), where there is one, gives its plots by path, which show.py draws, too. newest(cases) gives the path and the records of the newest DATE-cuda-CASES.json, or (None, []) if there is none.
Neither writes nor accepts pages that break a rule of rules.py.
"""

import functools
import importlib
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import performance  # noqa: E402
import readme_speed  # noqa: E402
import rules  # noqa: E402
import scoreboard  # noqa: E402
from records import load  # noqa: E402

root = Path(__file__).resolve().parents[2]
results = root / "bench" / "results"
begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
measured_begin, measured_end = "<!-- measured:begin -->", "<!-- measured:end -->"


def newest(cases, machine="cuda"):
    files = sorted(results.glob(f"*-{machine}-{cases}.json"))
    return (files[-1], load(files[-1])) if files else (None, [])


def between(text, first, last, lines):
    """The text, with the given lines between the two marks."""
    return re.sub(re.escape(first) + ".*?" + re.escape(last), lambda _: f"{first}\n{lines}\n{last}", text, flags=re.S)


def parts():
    """The modules measured_NAME."""
    return [importlib.import_module(part.stem) for part in sorted(Path(__file__).resolve().parent.glob("measured_*.py"))]


def pictures():
    """Path -> picture, of the papers' pages."""
    return {root / name: picture for part in parts() if hasattr(part, "pictures") for name, picture in part.pictures(newest).items()}


def pages():
    """Path -> text. A page has a picture if that is there."""
    made = {root / "README.md": between((root / "README.md").read_text(), begin, end, "\n".join(readme_speed.lines(newest))),
            root / readme_speed.PLOT: readme_speed.plot(newest),
            root / performance.PAGE: performance.page(results), root / scoreboard.PAGE: scoreboard.page(results)}
    for measured in parts():
        page = root / measured.PAGE
        text = made.get(page) or page.read_text()
        if measured_begin not in text:
            sys.exit(f"{measured.PAGE} has no {measured_begin}")
        made[page] = between(text, measured_begin, measured_end, "\n".join(measured.lines(newest)))
    return made


def write(made):
    for path, text in made.items():
        path.write_text(text)


@functools.cache
def records_of(name):
    """The records of a file in bench/results; none of another JSON file."""
    path = results / name
    found = json.loads(path.read_text()) if path.exists() else []
    return found if isinstance(found, list) else [found]


def refuse(made):
    """Ends the program if a page breaks a rule."""
    faults = [f"{path.relative_to(root)}: {fault}" for path, text in made.items() if path.suffix == ".md" for fault in rules.broken(text, records_of)]
    if faults:
        sys.exit("\n".join(["A page breaks a rule of bench/pages/rules.py:", *faults]))


def main():
    refuse(pages())
    if sys.argv[1:] == ["--check"]:
        for path, text in {**pictures(), **pages()}.items():
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.relative_to(root)} does not match the newest records: run bench/pages/report.py")
        return
    write(pictures())
    write(pages())


if __name__ == "__main__":
    main()
