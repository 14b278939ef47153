"""Asks doors, judges what they say, and does so in processes that may crash or hang without harm to the run."""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.connection
import re
import shutil
import sys
import time
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agreement import disagreements
from answers import Answer, Broken, Fault, Refused, judge_regions, judge_table
from cascades import judge_cascade
from door import Door
from histograms import judge_histogram
from local import judge_local
from oracle import Oracle
from quantiles import judge_quantiles
from questions import Question, generate, on_device
from ranks import judge_ranks
from refusals import find, must_refuse
from room import Room
from sizes import judge_sizes
from watch import LIMIT, Watch
from windows import judge_window

JUDGES = {"regions": judge_regions, "volume": judge_regions, "table": judge_table, "histogram": judge_histogram, "window": judge_window,
          "ranks": judge_ranks, "local": judge_local, "sizes": judge_sizes, "cascade": judge_cascade, "stores": judge_histogram, "quantiles": judge_quantiles}


@dataclasses.dataclass
class Outcome:
    """What came of asking one door one question."""

    door: str
    answers: int = 0  # statistics that were answered
    refusal: str = ""  # the entry of the list of refusals
    faults: list[Fault] = dataclasses.field(default_factory=list)
    lines: list[str] = dataclasses.field(default_factory=list)  # the command lines, where there is a fault
    runs: int = 0
    seconds: float = 0
    answer: Answer | None = None  # to the question as it was asked, until it is compared with other doors'


def every_door(build: Path) -> tuple[Door, ...]:
    """The table of doors. A new way in which areal answers is a new row."""
    import doors_command
    import doors_frameworks
    import doors_histogram
    import doors_interrupted
    import doors_program
    import doors_python

    commands = [
        door
        for door in (*doors_command.DOORS, *doors_histogram.DOORS)
        if not door.name.startswith("mpi-") or (build / "apps/areal-mpi/areal-mpi").exists()
    ]
    return (*commands, *doors_interrupted.doors(), *doors_python.DOORS, *doors_frameworks.DOORS, *doors_program.doors(build))


EACH = 2  # of so many questions one goes through a door of a command


def chosen(doors: tuple[Door, ...], question: Question, seed: int, at: int) -> list[Door]:
    """The doors that a question goes through: of the command's one or none, as their weights have it, of the others all or a share."""
    meant = [door for door in doors if question.family in door.families and door.meant(question)]
    free = [door for door in meant if not door.runs and (door.weight >= 1 or _share(seed, at, door.name) < door.weight)]
    runs = [door for door in meant if door.runs]
    if not runs or (free and at % EACH):
        return free
    weights = np.array([door.weight for door in runs])
    picked = int(np.random.default_rng([seed, at, 7]).choice(len(runs), p=weights / weights.sum()))
    return [runs[picked], *free]


def _share(seed: int, at: int, name: str) -> float:
    return float(np.random.default_rng([seed, at, zlib.crc32(name.encode())]).random())


def ask(room: Room, question: Question, door: Door) -> Outcome:
    """Asks one door, and judges it."""
    began, runs = time.perf_counter(), room.runs
    room.begin_door()
    outcome = Outcome(door.name)
    oracle = room.oracle
    try:
        answer = door.ask(room, question)
        oracle = room.oracle
        must = must_refuse(door.name, oracle.question, oracle) if answer.values else None  # a door may have none of the statistics
        if must:
            outcome.faults = [Fault("answered what must be refused", must.name, str(next(iter(answer.values.values()), ""))[:80], must.why)]
        else:
            outcome.faults = JUDGES[question.family](oracle, answer)[:1]
            outcome.answers = len(answer.values)
            outcome.answer = answer if oracle.question is question and not outcome.faults else None
    except Refused as refused:
        entry = find(door.name, question, oracle, str(refused))
        if entry:
            outcome.refusal = entry.name
        else:
            outcome.faults = [Fault(f"refused: {kind_of(str(refused))}", "", str(refused), "an answer, or an entry of refusals.py")]
    except Broken as broken:
        outcome.faults = [Fault(broken.kind, "", str(broken), "none of that")]
    except Exception as error:  # a door may raise areal's exceptions alone
        said = "".join(traceback.format_exception(error)[-4:])
        outcome.faults = [Fault(f"raised {type(error).__name__}: {kind_of(str(error))}", "", said, "an answer or a refusal")]
    room.oracle = oracle if oracle.question is question else Oracle(question)
    outcome.lines = list(room.lines)
    outcome.runs, outcome.seconds = room.runs - runs, time.perf_counter() - began
    return outcome


def compare(question: Question, outcomes: list[Outcome]) -> None:
    """Compares the answers of doors that promise the same bits, and keeps of each outcome what the run needs."""
    faults = disagreements(question, [(outcome.door, outcome.answer) for outcome in outcomes if outcome.answer])
    for outcome in outcomes:
        if outcome.door in faults:
            outcome.faults.append(faults[outcome.door])
        outcome.answer = None
        if not outcome.faults:
            outcome.lines = []


def kind_of(sentence: str) -> str:
    """A sentence without what differs between alike ones: paths and numbers."""
    return re.sub(r"-?\d[\d.,xe+]*", "N", re.sub(r"\S*/\S*", "FILE", sentence))[:90]


# ---------------------------------------------------------------- processes


def _work(pipe: Any, build: str, scratch: str, path: list[str], leave: bool) -> None:
    """A worker: questions in, outcomes out; before each door its name, so that a crash is known to be that door's."""
    sys.path[:] = path
    room = Room(Path(build), Path(scratch))
    doors = {door.name: door for door in every_door(Path(build))}
    try:
        while True:
            said = pipe.recv()
            if said is None:
                return
            question, names = Question.from_json(said[0]), said[1]
            outcomes = []
            pipe.send(("at", ""))
            room.begin(question)
            for name in names:
                pipe.send(("at", name))
                if name in doors:
                    outcomes.append(ask(room, question, doors[name]))
                else:  # a device that this process could not open
                    outcomes.append(Outcome(name, faults=[Fault("is missing", "", "a worker could not open it", "the doors of the first process")]))
            compare(question, outcomes)
            pipe.send(("done", outcomes))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
    finally:
        if not leave:
            shutil.rmtree(scratch, ignore_errors=True)


class Worker:
    """One process, begun anew where it ended."""

    def __init__(self, build: Path, scratch: Path, leave: bool) -> None:
        self.build, self.scratch, self.leave = build, scratch, leave
        self.door, self.task = "", None
        self.begin()

    def begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, str(self.build), str(self.scratch), sys.path, self.leave), daemon=True)
        self.process.start()
        assert self.process.pid is not None
        self.watch = Watch(self.process.pid, 2 * LIMIT)  # the calls of a door have their own
        other.close()

    def give(self, task: Any, question: Question, doors: list[str]) -> None:
        self.task, self.door = task, ""
        self.watch.restart()
        self.pipe.send((question.to_json(), doors))

    def take(self) -> list[Outcome] | None:
        """The outcomes where they are there; None before."""
        try:
            what, said = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return [self._ended("crash", f"the process ended with {self.process.exitcode} in {self.door or 'the oracle'}")]
        self.watch.restart()
        if what == "at":
            self.door = said
            return None
        return list(said)

    def hanging(self) -> list[Outcome] | None:
        """The outcome of a door that does not end."""
        if not self.watch.hangs():
            return None
        said = self.watch.said()
        self.process.kill()
        self.process.join()
        return [self._ended("hangs", said)]

    def _ended(self, kind: str, said: str) -> Outcome:
        door = self.door or "oracle"
        self.pipe.close()
        self.begin()
        return Outcome(door, faults=[Fault(kind, "", said, "an answer or a refusal")])

    def end(self) -> None:
        try:
            self.pipe.send(None)
        except OSError:
            pass
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()


class Pool:
    """Workers that are asked at once."""

    def __init__(self, build: Path, scratch: Path, jobs: int, leave: bool = False) -> None:
        self.workers = [Worker(build, scratch / str(n), leave) for n in range(jobs)]

    def run(self, tasks: Iterator[tuple[Any, Question, list[str]]]) -> Iterator[tuple[Any, Question, list[Outcome]]]:
        """Asks what the iterator gives; the answers come in any order."""
        busy: dict[Any, tuple[Worker, Question]] = {}

        def begin(worker: Worker) -> None:
            task = next(tasks, None)
            if task is not None:
                worker.give(task[0], task[1], task[2])
                busy[worker.pipe] = (worker, task[1])

        for worker in self.workers:
            begin(worker)
        while busy:
            ready = multiprocessing.connection.wait(list(busy), timeout=5)
            for pipe in ready or list(busy):
                worker, question = busy[pipe]
                outcomes = worker.take() if ready else worker.hanging()
                if outcomes is not None:
                    del busy[pipe]
                    yield worker.task, question, outcomes
                    begin(worker)

    def one(self, question: Question, door: str, other: str = "") -> Outcome:
        """Asks one door one question; the other one before it, with which it is compared."""
        return next(self.run(iter([("one", question, [*filter(None, [other]), door])])))[2][-1]

    def end(self) -> None:
        for worker in self.workers:
            worker.end()


def numbered(
    seed: int, doors: tuple[Door, ...], count: int | None, end: float | None, family: str | None, device: str
) -> Iterator[tuple[int, Question, list[str]]]:
    """The questions of a run, each with its doors; `device` computes what a question gives to the simulated machine."""
    at = 0
    while (count is None or at < count) and (end is None or time.monotonic() < end):
        question = on_device(generate(seed, at, family), device)
        names = [door.name for door in chosen(doors, question, seed, at)]
        if names:
            yield at, question, names
        at += 1


__all__ = ["Answer", "Outcome", "Pool", "ask", "chosen", "every_door", "numbered"]
