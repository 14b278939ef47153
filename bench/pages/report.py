"""Makes the README's table and plot, docs/performance.md and what the papers' pages show as measured from the newest
records in bench/results/.

usage: report.py [--check]   (--check only says whether all are those of the newest records)

A paper's part is measured_NAME.py beside this: PAGE is its page, and lines(newest) makes what stands there between the
marks, from newest(cases), the path and the records of the newest DATE-cuda-CASES.json, (None, []) where there is none.
"""

import importlib
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import performance  # noqa: E402
import readme_speed  # noqa: E402
from records import present  # noqa: E402

root = Path(__file__).resolve().parents[2]
results = root / "bench" / "results"
begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
measured_begin, measured_end = "<!-- measured:begin -->", "<!-- measured:end -->"


def newest(cases, machine="cuda"):
    files = sorted(results.glob(f"*-{machine}-{cases}.json"))
    return (files[-1], present(json.loads(files[-1].read_text()))) if files else (None, [])


def between(text, first, last, lines):
    """The text, with those lines between the two marks."""
    return re.sub(re.escape(first) + ".*?" + re.escape(last), lambda _: f"{first}\n{lines}\n{last}", text, flags=re.S)


def pages():
    """Path -> what stands there."""
    made = {root / "README.md": between((root / "README.md").read_text(), begin, end, "\n".join(readme_speed.lines(newest))),
            root / readme_speed.PLOT: readme_speed.plot(newest),
            root / "docs/performance.md": performance.page(results)}
    for part in sorted(Path(__file__).resolve().parent.glob("measured_*.py")):
        measured = importlib.import_module(part.stem)
        page = root / measured.PAGE
        text = made.get(page) or page.read_text()
        if measured_begin not in text:
            sys.exit(f"{measured.PAGE} has no {measured_begin}")
        made[page] = between(text, measured_begin, measured_end, "\n".join(measured.lines(newest)))
    return made


def main():
    made = pages()
    if sys.argv[1:] == ["--check"]:
        for path, text in made.items():
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.relative_to(root)} does not hold what the newest records say: run bench/pages/report.py")
        return
    for path, text in made.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
