"""The doors of C++, through the program areal_doors: a line of JSON in, a line of JSON out. Rows are made from its own list."""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from answers import Answer, Broken, Refused
from door import Door
from questions import Question
from room import LIMIT, Room

FIELDS = ("types", "border", "squares", "tilted", "ignore_nan", "volume", "reverse", "algorithm", "backend", "threads", "layout", "regions", "outside", "stats", "clamp", "window", "params")


def find(build: Path) -> Path | None:
    """The built program."""
    return next((path for path in (build / "tests/areal_doors", build / "tests/doors/areal_doors") if path.exists()), None)


class Program:
    """The program, kept open as a child."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process: subprocess.Popen[bytes] | None = None
        self.rest = b""

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one line; a crash or a hang is the question's, and the next one has a new child."""
        if self.process is None:
            self.process = subprocess.Popen([str(self.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.rest = b""
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line()
        except BrokenPipeError:
            line = b""
        if not line:
            code = self.close()
            raise Broken("crash", f"areal_doors ended with {code}")
        try:
            return dict(json.loads(line))
        except ValueError:
            raise Broken("output that cannot be read", repr(line[:300])) from None

    def _line(self) -> bytes:
        assert self.process and self.process.stdout
        end = time.monotonic() + LIMIT
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.close()
                raise Broken("hangs", f"no answer in {LIMIT} s")
            got = os.read(self.process.stdout.fileno(), 1 << 20)
            if not got:
                return b""
            self.rest += got
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def close(self) -> int:
        """Ends the child."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.kill()
        process.communicate()
        return process.returncode


@functools.cache
def program(path: Path) -> Program:
    return Program(path)


def ask(name: str, path: Path, room: Room, question: Question) -> Answer:
    """Asks one door of the program."""
    said: dict[str, Any] = {"id": 1, "door": name, "family": question.family, "out": str(room.scratch / "program")}
    said["image"] = str(room.array("planes", room.oracle.values))
    mask, weights = room.mask(), room.weights()
    said["mask"], said["weights"] = str(mask) if mask else None, str(weights) if weights else None
    for field in FIELDS:
        said[field] = getattr(question, field)
    said["binning"] = question.binning or None
    said["params"] = {key: value for key, value in question.params.items() if key != "form"}
    if question.family == "histogram":
        said["binning"] = dict(question.binning)
        if "bins" in said["binning"] and "range" not in said["binning"]:
            from histograms import edges_of

            edges = edges_of(question)
            said["binning"]["range"] = [edges[0], edges[-1]]
    if question.family != "window":
        said.pop("window")
    room.lines.append(f"echo '{json.dumps(said)}' | {path}")
    got = program(path).ask(said)
    if "failed" in got or got.get("kind") == "Question":
        raise Broken("a door of the program that fails", str(got.get("failed") or got.get("refused")))
    if "refused" in got:
        raise Refused(f"{got.get('kind', '')}: {got['refused']}")
    sums = str(got.get("types") or "")
    about = Answer({}, sums[len(question.type) :], str(got.get("squares_type") or ""), spreads=True, algorithm=str(got.get("ran") or ""))
    about.strict_variance = question.squares in ("auto", "no")
    about.values = values_of(got, question)
    if question.algorithm not in ("auto", about.algorithm) and question.algorithm != "auto" and about.algorithm:
        raise Broken("a name that did not run", f"{question.algorithm} was asked for, {about.algorithm} ran")
    return about


def values_of(got: dict[str, Any], question: Question) -> dict[str, Any]:
    """The values of an answer, in the test's shapes."""
    if "tables" in got:
        return {what: np.load(path) for what, path in got["tables"].items() if path}
    if "answers" in got:
        shape = (question.shape[0], question.shape[3], len(question.regions))
        return {stat: np.moveaxis(_numbers(values).reshape(shape), 2, 0) for stat, values in got["answers"].items()}
    if "counts" in got:
        counts = _numbers(got["counts"])
        return {"counts": counts.reshape(len(question.regions), question.shape[0], question.shape[3], -1)}
    if "window" in got:
        return {question.stats[0]: np.load(got["window"])}
    raise Broken("an answer without values", str(got)[:300])


def _numbers(values: Any) -> np.ndarray:
    array = np.array(values, dtype=object)
    flat = np.empty(array.size, dtype=object)
    flat[:] = [_number(value) for value in array.ravel()]
    return flat.reshape(array.shape)


def _number(value: Any) -> int | float:
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        return float.fromhex(value)


def doors(build: Path) -> tuple[Door, ...]:
    """A row for each door that the program lists; none without the program."""
    path = find(build)
    if path is None:
        return ()
    try:
        listed = Program(path).ask({"list": True})["doors"]
    except (Broken, KeyError):
        return ()
    rows = []
    for door in listed:
        name = door["name"] if isinstance(door, dict) else door
        families = tuple(door.get("families", ())) if isinstance(door, dict) else ("regions",)
        rows.append(Door(f"c++ {name}", families, functools.partial(ask, name, path), _small))
    return tuple(rows)


def _small(question: Question) -> bool:
    return question.area < 6_000 or question.backend == "cpu"
