"""What the records of the Python package's benchmarks have in common. Times are of rounds of random order: bench/peers/rounds.py."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from rounds import ROUNDS as ROUNDS  # noqa: E402
from rounds import median as median  # noqa: E402
from rounds import summary as summary  # noqa: E402
from rounds import time_rounds as time_rounds  # noqa: E402


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def commit() -> str:
    """AREAL_COMMIT, where a copy of the sources has no repository; else the checkout's."""
    if given := os.environ.get("AREAL_COMMIT"):
        return given
    folder = pathlib.Path(__file__).resolve().parent
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def write(records: list[dict[str, Any]], to: pathlib.Path | None) -> None:
    """A record a line, into the file or, without one, to standard output."""
    text = "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n"
    if to:
        to.write_text(text)
    else:
        print(text, end="")
