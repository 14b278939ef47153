"""The doors of C++, through the program areal_doors: a line of JSON in, a line of JSON out. Rows are made from its own list."""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import select
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from answers import Answer, Broken, Refused, require_default
from cascades import model_of, xml_of
from door import Door
from histograms import edges_of, of_a_channel
from local import type_of as type_of_local
from questions import Question, sizes_of
from refusals import more_than_plain
from room import Room
from watch import Watch

FIELDS = (
    "types", "border", "squares", "tilted", "ignore_nan", "volume", "reverse", "algorithm", "backend", "threads", "layout", "regions", "outside", "stats",
    "clamp",
)  # fmt: skip


RANKS = (1, 3)
RUN_RANKS = Path(__file__).resolve().parents[1] / "mpi/run-ranks"


def find(build: Path) -> Path | None:
    """The built program."""
    return next((path for path in (build / "tests/areal_doors", build / "tests/doors/areal_doors") if path.exists()), None)


def find_of_ranks(build: Path) -> Path | None:
    """The program that runs on ranks of MPI."""
    path = build / "tests/areal_mpi_doors"
    return path if path.exists() and RUN_RANKS.exists() else None


class Program:
    """The program, kept open as a child."""

    def __init__(self, *line: str) -> None:
        self.line = line
        self.process: subprocess.Popen[bytes] | None = None
        self.rest = b""

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one line; a crash or a hang is the question's, and the next one has a new child."""
        if self.process is None:
            self.process = subprocess.Popen(self.line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
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
            raise Broken("crash", f"{Path(self.line[-1]).name} ended with {code}")
        try:
            return dict(json.loads(line))
        except ValueError:
            raise Broken("output that cannot be read", repr(line[:300])) from None

    def _line(self) -> bytes:
        assert self.process and self.process.stdout
        watch = Watch(self.process.pid)
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], 5)[0]:
                if not watch.hangs():
                    continue
                self.close()
                raise Broken("hangs", watch.said())
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
def program(*line: str) -> Program:
    return Program(*line)


def cascade_of(room: Room, question: Question) -> Path:
    """The question's cascade as a file."""
    return room.text("cascade.xml", xml_of(model_of(question), question.cascade["old"]))


def asked(name: str, room: Room, question: Question) -> dict[str, Any]:
    """The question as a line of the protocol."""
    said: dict[str, Any] = {"id": 1, "door": name, "family": question.family, "out": str(room.scratch / "program")}
    mask, weights = room.mask(), room.weights()
    said["image"], said["mask"], said["weights"] = (
        str(room.array("planes", room.oracle.values)),
        str(mask or "") or None,
        str(weights or "") or None,
    )
    for field in FIELDS:
        said[field] = getattr(question, field)
    if question.family == "volume":
        said["family"] = "regions"
        said["regions"] = [[x, y, 0, w, h, question.shape[0]] for x, y, w, h in question.regions]
    said["params"] = {key: value for key, value in question.params.items() if key != "form"}
    if question.family != "table" and not {"variance", "std"} & set(question.stats):
        said["squares"] = "no"
    if question.family == "quantiles":
        said["stats"], said["measure"], said["target"] = [], question.stats[0], said["params"].pop("targets")
    if question.family in ("histogram", "stores"):
        said["stats"], said["squares"] = [], "no"
        said["binning"] = dict(question.binning)
        one = of_a_channel(question) if "joint" in question.binning else question
        if "bins" in one.binning:
            edges = edges_of(one)
            said["binning"] = {"bins": one.binning["bins"], "range": [edges[0], edges[-1]]}
        if one is not question:
            said["binning"], said["clamp"] = {"joint": [said["binning"]] * question.shape[3], "clamp": question.clamp}, False
    if question.family in ("window", "ranks", "local"):
        keeps = question.family == "ranks" and question.stats[0] != "entropy"
        kind = type_of_local(question) if question.family == "local" else question.type if keeps else "64f"
        said["window"] = {**question.window, "stat": question.stats[0], "type": kind}
    elif question.family == "sizes":
        said["window"] = {"size": [1, 1], "edge": "shrink", "stat": question.stats[0], "type": "64f"}
        said["sizes"] = str(room.array("sizes", sizes_of(question)))
    elif question.family == "cascade":
        said["cascade"] = str(cascade_of(room, question))
    return said


def ask(name: str, line: tuple[str, ...], room: Room, question: Question) -> Answer:
    """Asks one door of the program."""
    said = asked(name, room, question)
    room.lines.append(f"echo {shlex.quote(json.dumps(said))} | {shlex.join(line)}")
    got = program(*line).ask(said)
    if "failed" in got or got.get("kind") == "Question":
        raise Broken("a door of the program that fails", str(got.get("failed") or got.get("refused")))
    if "refused" in got:
        raise Refused(f"{got.get('kind', '')}: {got['refused']}")
    sums = str(got.get("types") or "")[len(question.type) :] or (
        "64f" if question.is_float else "64s" if question.type.endswith("s") else "64u"
    )
    if name in VOLUMES and question.family != "histogram":
        require_default(question, sums)
    about = Answer(values_of(got, question), sums, str(got.get("squares_type") or ""), spreads=not name.endswith("filter"), algorithm=str(got.get("ran") or ""))
    about.algorithm = about.algorithm or question.algorithm.removeprefix("auto")  # some doors do not tell it
    about.strict_variance = question.squares in ("auto", "no")
    if question.algorithm != "auto" and about.algorithm not in ("", question.algorithm):
        raise Broken("a name that did not run", f"{question.algorithm} was asked for, {about.algorithm} ran")
    if {"carr", "stri", "tile", "mpi"} & {name[:4]}:
        about.algorithm = "4r1w-cpu"  # other orders of additions: the bound of any
    return about


def values_of(got: dict[str, Any], question: Question) -> dict[str, Any]:
    """The values of an answer, in the test's shapes."""
    batch, channels, count = question.images, question.planes, len(question.regions)
    if "tables" in got:
        return {what: np.load(path) for what, path in got["tables"].items() if path}
    if "answers" in got:
        values = {}
        for stat, planes in got["answers"].items():
            numbers = _numbers(planes)
            wanted = numbers.reshape(batch, -1, count)  # counts have one channel for all
            values[stat] = np.moveaxis(np.broadcast_to(wanted, (batch, channels, count)), 2, 0)
        return values
    if "counts" in got:
        return {"counts": np.moveaxis(_numbers(got["counts"]).reshape(batch, channels, count, -1), 2, 0)}
    if "quantiles" in got:
        return {question.stats[0]: np.moveaxis(_numbers(got["quantiles"]).astype(float).reshape(batch, count, channels, -1), 0, 1)}
    if "detections" in got:
        return {"boxes": got["detections"]}
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
        return float(value) if isinstance(value, float) else int(value)
    try:
        return int(value)
    except ValueError:
        return float.fromhex(value)


def _one_plane(question: Question) -> bool:
    return question.shape[0] == 1 and question.planes == 1


def _plain(question: Question) -> bool:
    """Sums of all pixels of one image of one channel, by whichever algorithm."""
    return (
        _one_plane(question)
        and question.mask is None
        and not question.ignore_nan
        and not question.volume
        and not question.reverse
        and not question.tilted
    )


def _sums(question: Question) -> bool:
    return question.family != "regions" or set(question.stats) <= {"sum"}


def _auto(question: Question) -> bool:
    return question.algorithm == "auto"


def _at_once(question: Question) -> bool:
    return question.backend != "simt" or question.area < 600


def _pieces(question: Question) -> bool:
    """What is made in pieces: by an algorithm that takes carries."""
    return (
        _auto(question)
        and not question.reverse
        and not question.volume
        and not question.tilted
        and (question.backend != "simt" or question.area < 200)
    )


def _few(question: Question) -> bool:
    """Whether pieces of the question's tiles are few: each is a plan of its own."""
    width, height = question.params.get("tile", (5, 3))
    return bool(question.area <= 300 * width * height)


def _over_ranks(question: Question) -> bool:
    """What areal::mpi makes: tables and their sums and moments, on the CPU."""
    regions = question.family == "regions"
    said = _auto(question) and question.backend == "cpu" and not question.tilted and not question.volume
    return said and question.outside == "error" and not (regions and (question.reverse or set(question.stats) <= {"count"}))


SAME_SIZE = ("64u64u", "64s64s", "64f64f")  # by default, too
# Which questions mean something at the doors of these names, and which share of them is asked there. Others: all, a tenth.
ROWS: tuple[tuple[str, Callable[[Question], bool], float], ...] = (
    ("direct", _at_once, 0.4),
    ("one-line", _at_once, 0.4),
    ("cpu-algorithms", lambda q: q.backend == "cpu", 0.4),
    ("simt", lambda q: q.area < 600 and (q.backend == "simt" or _auto(q)), 0.2),
    ("cuda", lambda q: _auto(q) or q.backend == "cuda", 1),
    ("in-place", lambda q: q.border == "none" and (q.types or 2 * q.type) in SAME_SIZE and _plain(q) and _sums(q) and q.squares == "no", 1),
    (
        "convert-border",
        lambda q: _at_once(q) and not q.tilted and not q.reverse and not q.volume and q.mask is None and not q.ignore_nan,
        0.1,
    ),
    ("carries", lambda q: _pieces(q) and _few(q), 0.1),
    ("with-border", lambda q: _at_once(q) and not q.reverse and not q.volume, 0.1),
    ("reverse", lambda q: _at_once(q) and not q.tilted and not q.volume, 0.1),
    ("plane-by-plane", lambda q: _at_once(q) and q.layout == "planar" and not q.volume and not (q.ignore_nan and q.shape[3] > 1), 0.1),
    ("strips*", lambda q: _pieces(q) and q.shape[0] == 1 and q.backend == "cpu", 0.1),
    ("strip-sums-one-line", lambda q: _plain(q) and _auto(q) and _sums(q), 0.3),
    ("strip-sums*", lambda q: _plain(q) and _auto(q) and q.backend == "cpu", 0.2),
    ("tiled-sat*", lambda q: q.shape[0] == 1 and _pieces(q), 0.3),
    ("spread-sat", lambda q: _plain(q) and _auto(q) and q.backend == "cpu" and q.squares == "no", 0.5),
    ("chunked", lambda q: _plain(q) and q.family == "regions" and _sums(q) and q.type in ("8u", "16u") and not q.types, 0.5),
    ("tiled-histogram-pieces", lambda q: _one_plane(q) and _auto(q), 0.3),
    ("tiled-histogram", lambda q: _one_plane(q) and _auto(q) and q.weights is None, 0.3),
    ("histogram-simt", lambda q: _one_plane(q) and q.area < 300 and (q.backend == "simt" or _auto(q)), 0.2),
    ("histogram-cuda", lambda q: _one_plane(q) and (q.backend == "cuda" or _auto(q)), 0.2),
    ("histogram-cpu", lambda q: q.planes == 1 and q.backend == "cpu", 0.5),
    ("histogram", lambda q: q.planes == 1 and _at_once(q), 0.5),
    ("store-tensor", lambda q: q.planes == 1 and q.mask is None and (q.backend != "simt" or q.area < 300), 0.4),
    ("store-*", lambda q: q.planes == 1 and (q.backend != "simt" or q.area < 1500), 0.5),
    ("quantiles", lambda q: q.backend != "simt" or q.area < 400, 1),
    ("quantiles-of-image", lambda q: (q.backend != "simt" or q.area < 400) and "store" not in q.params and "bits" not in q.params, 1),
    ("region-histograms", lambda q: q.planes == 1 and q.backend == "cpu", 0.8),
    ("strip-counts", lambda q: _one_plane(q) and q.weights is None and q.backend == "cpu", 0.8),
    ("strip-histogram*", lambda q: _one_plane(q) and _auto(q) and q.weights is None and q.backend == "cpu", 0.2),
    ("histogram-carries", lambda q: _one_plane(q) and _auto(q) and _at_once(q) and _few(q), 0.2),
    ("histogram-bin-of", lambda q: q.shape[3] == 1 and _at_once(q), 0.1),
    ("histogram-slices", lambda q: q.shape[3] == 1 and _at_once(q), 0.1),
    ("histogram-with-border", lambda q: q.planes == 1 and q.params.get("counter") != "16u" and _at_once(q), 0.1),
    ("histogram-*", lambda q: q.planes == 1 and _at_once(q), 0.1),
    ("sequence", lambda q: q.planes == 1 and _auto(q) and q.weights is None, 0.2),
    ("strip-filter", lambda q: _auto(q) and not q.types and q.backend == "cpu" and q.shape[0] == 1 and not (q.ignore_nan and q.shape[3] > 1), 0.5),
    ("filter", lambda q: _auto(q) and not q.types and _at_once(q) and not (q.ignore_nan and q.shape[3] > 1), 1),  # filters take each channel by itself
    ("sizes-filter", lambda q: not (q.ignore_nan and q.shape[3] > 1), 1),
    ("cascade*", lambda q: True, 1),
    ("mpi-histogram", lambda q: _one_plane(q) and _auto(q) and q.backend == "cpu" and q.outside == "error" and q.params.get("counter") != "16u", 0.1),
    ("mpi", lambda q: _over_ranks(q), 0.06),
    ("*", _at_once, 0.1),
)
VOLUMES = ("direct", "cpu-algorithms", "one-line", "allocated", "copied", "parallel", "device-arrays")  # they answer about boxes of six numbers, too
ELSEWHERE = ("scan-*", "scatter", "*tracker*")  # families of other tests


def doors(build: Path) -> tuple[Door, ...]:
    """A row for each door that the programs list; none without them. Those of a backend that is not there are left out."""
    path, of_ranks = find(build), find_of_ranks(build)
    if path is None:
        return ()
    rows = _rows((str(path),), "")
    for count in RANKS if of_ranks else ():
        rows += _rows((str(RUN_RANKS), str(count), str(of_ranks)), f"-{count}")
    return rows


def _rows(line: tuple[str, ...], ending: str) -> tuple[Door, ...]:
    try:
        listed = _listed(line)
    except (Broken, KeyError):
        return ()
    missing = {backend["name"] for backend in listed.get("backends", []) if not backend["available"]}
    rows = []
    for door in listed["doors"]:
        name = door["name"]
        if any(name.endswith(backend) for backend in missing) or any(fnmatch.fnmatch(name, pattern) for pattern in ELSEWHERE):
            continue
        meant, share = next((meant, share) for pattern, meant, share in ROWS if fnmatch.fnmatch(name, pattern))
        families = (*door["families"], *(["volume"] if name in VOLUMES else []))
        rows.append(Door(f"c++ {name}{ending}", families, functools.partial(ask, name, line), meant, share))
    return tuple(rows)


def _listed(line: tuple[str, ...]) -> dict[str, Any]:
    """What a program lists; the one of ranks on one rank."""
    child = Program(line[-1])
    try:
        return child.ask({"list": True})
    finally:
        child.close()
