"""The doors test: the same question through every way in which areal answers it, against an oracle that shares no code with it.

    doors.py --questions 2000 --seed 1     so many questions; the same for any --jobs
    doors.py --seconds 600 | --hours 2     until the time is over
    doors.py --replay FILE [--door NAME]   a question again that was printed or kept
    doors.py --door NAME --family F        one door, by a pattern, and one family alone

A door answers rightly or refuses with a sentence that is on the list in refusals.py, and doors that promise the same bits (agreement.py)
have them. The questions in cases/ come first. A failing
question is shrunk and printed as JSON with the command lines that show it; `--keep FOLDER` writes it there.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from asking import Outcome, Pool, chosen, every_door, numbered
from door import Door
from doors_program import find as find_program
from planted import run as self_test
from questions import FAMILIES, Question, generate, on_device
from refusals import MOST_REFUSALS, REFUSALS
from shrink import shrunk

HERE = Path(__file__).resolve().parent

LEAST_THROUGH, LEAST_WITHIN = 2000, 20000  # questions of the test


class Tally:
    """What a run saw."""

    def __init__(self, log: TextIO | None = None) -> None:
        self.log = log
        self.asked: collections.Counter[str] = collections.Counter()
        self.answers: collections.Counter[str] = collections.Counter()
        self.seconds: collections.defaultdict[str, float] = collections.defaultdict(float)
        self.refusals: collections.Counter[str] = collections.Counter()
        self.alike: collections.Counter[tuple[str, str]] = collections.Counter()
        self.first: dict[tuple[str, str], tuple[Question, Outcome, float]] = {}
        self.runs = self.questions = 0

    def add(self, question: Question, outcomes: list[Outcome], when: float) -> None:
        self.questions += 1
        if self.log:
            for outcome in outcomes:
                for fault in outcome.faults:
                    said = {"seconds": round(when, 2), "doors": [outcome.door], "why": str(fault), "question": question.to_json()}
                    print(json.dumps(said), file=self.log, flush=True)
        for outcome in outcomes:
            self.asked[outcome.door] += 1
            self.answers[outcome.door] += outcome.answers
            self.seconds[outcome.door] += outcome.seconds
            self.runs += outcome.runs
            if outcome.refusal:
                self.refusals[outcome.refusal] += 1
            for fault in outcome.faults:
                key = (outcome.door, fault.what)
                self.alike[key] += 1
                if key not in self.first or question.area < self.first[key][0].area:
                    began = self.first[key][2] if key in self.first else when
                    self.first[key] = (question, outcome, began)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build/release", help="the build folder")
    parser.add_argument("--questions", type=int, help="how many questions (4000, without --seconds and --hours)")
    parser.add_argument("--seconds", type=float, help="ends the run after that time")
    parser.add_argument("--hours", type=float, help="ends the run after that time")
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--door", help="only doors whose name matches this pattern")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--gpu", action="store_true", help="a GPU computes what questions give to the simulated machine")
    parser.add_argument("--replay", type=Path, help="a file with one question, or a case")
    parser.add_argument("--question", help="one question as JSON, as a failure prints it")
    parser.add_argument("--files", type=Path, help="work in this folder and leave it, so that the printed command lines can be typed")
    parser.add_argument("--at", type=int, help="the question of that number alone")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shrink", type=int, default=12, help="how many failures are shrunk")
    parser.add_argument("--log", type=Path, help="a file for every failure, a line of JSON each, not shrunk")
    parser.add_argument("--keep", type=Path, help="a folder for failing questions")
    parser.add_argument("--need", choices=("program",), action="append", default=[], help="fail where it is missing")
    return parser.parse_args()


def first_asked(options: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    """What is asked before anything else: the questions that failed once, or the one that the command line names, alone."""
    if options.question:
        return [("question", json.loads(options.question))]
    if options.at is not None:
        return []
    files = [options.replay] if options.replay else sorted((HERE / "cases").glob("*.json"))
    return [(file.stem, json.loads(file.read_text())) for file in files]


def cases(doors: tuple[Door, ...], asked: list[tuple[str, dict[str, Any]]], device: str) -> list[tuple[str, Question, list[str]]]:
    """Questions, each with the doors that it is asked at: those that a case names, or all."""
    found = []
    for name, said in asked:
        question = on_device(Question.from_json(said.get("question", said)), device)
        patterns = said.get("doors", ["*"]) if "question" in said else ["*"]
        meant = [
            d.name
            for d in doors
            if any(fnmatch.fnmatch(d.name, p) for p in patterns) and question.family in d.families and d.meant(question)
        ]
        found.append((name, question, meant))
    return found


def main() -> int:
    options = parsed()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would the commands
    sys.path.insert(0, str(options.build / "python"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(options.build / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    doors = tuple(d for d in every_door(options.build) if options.door is None or fnmatch.fnmatch(d.name, options.door))
    if find_program(options.build) is None:
        print("the doors of C++ are left out: areal_doors is not built")
        if "program" in options.need or os.environ.get("CI") in ("true", "1"):
            print("FAILED: areal_doors is needed here")
            return 1
    if not doors:
        print(f"no door is called {options.door}")
        return 2
    seconds = options.seconds or (options.hours * 3600 if options.hours else None)
    count = options.questions or (None if seconds else 4000)
    print(f"seed {options.seed}, {count or 'any number of'} questions, {len(doors)} doors, {options.jobs} jobs", flush=True)
    device = "cuda" if options.gpu else "simt"
    alone = bool(options.replay or options.question or options.at is not None)
    if not alone:
        judged, found, wrong = self_test(options.seed)
        print(f"self-test: {judged} right answers judged right, {found} planted wrong ones found", flush=True)
        if len(REFUSALS) > MOST_REFUSALS:
            print(f"FAILED: the list of refusals has {len(REFUSALS)} entries, and may have {MOST_REFUSALS}")
            return 1
        if wrong or found < 200:
            print("FAILED: the test cannot be trusted\n" + "\n".join(line[:600] for line in wrong[:5]))
            return 1
    tally, began = Tally(open(options.log, "w") if options.log else None), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="areal-doors-") as scratch:
        place = options.files.resolve() if options.files else Path(scratch)
        pool = Pool(options.build.resolve(), place, 1 if options.files else options.jobs, bool(options.files))
        try:
            for _, question, outcomes in pool.run(iter(cases(doors, first_asked(options), device))):
                tally.add(question, outcomes, time.monotonic() - began)
            if options.at is not None:
                question = on_device(generate(options.seed, options.at, options.family), device)
                print(json.dumps(question.to_json()))
                names = [door.name for door in chosen(doors, question, options.seed, options.at)]
                for _, question, outcomes in pool.run(iter([(options.at, question, names)])):
                    tally.add(question, outcomes, 0)
            elif not alone:
                tasks = numbered(options.seed, doors, count, began + seconds if seconds else None, options.family, device)
                for _, question, outcomes in pool.run(tasks):
                    tally.add(question, outcomes, time.monotonic() - began)
            part = alone or bool(options.door or options.family)
            through, within = report(tally, doors, time.monotonic() - began, part)
            show_faults(tally, pool, doors, options)
        finally:
            pool.end()
    whole = not (part or options.questions or seconds) and os.environ.get("CI") in ("true", "1")  # which has all packages
    few = whole and (through < LEAST_THROUGH or within < LEAST_WITHIN)
    if few:
        print(f"FAILED: at least {LEAST_THROUGH} questions go through commands, and {LEAST_WITHIN} are asked in process")
    return 1 if tally.first or few else 0


def report(tally: Tally, doors: tuple[Door, ...], seconds: float, part: bool) -> tuple[int, int]:
    """How much went through which door, and which refusals nothing met. Returns the questions through commands and those in process."""
    runs = {door.name for door in doors if door.runs}
    through = sum(n for name, n in tally.asked.items() if name in runs)
    within = sum(n for name, n in tally.asked.items() if name not in runs)
    answers = sum(n for name, n in tally.answers.items() if name not in runs)
    print(f"\n{tally.questions} questions in {seconds:.1f} s: {through} through commands, in {tally.runs} runs; {within} in process, with {answers} answers")
    print(f"{'door':32}{'asked':>8}{'answers':>9}{'ms each':>9}")
    for door in doors:
        asked = tally.asked[door.name]
        each = 1000 * tally.seconds[door.name] / asked if asked else 0
        print(f"{door.name:32}{asked:8}{tally.answers[door.name]:9}{each:9.1f}")
    print("refusals: " + (", ".join(f"{name} {n}" for name, n in tally.refusals.most_common()) or "none"))
    unmet = [entry.name for entry in REFUSALS if not tally.refusals[entry.name]]
    if unmet and not part:
        print("entries of the list of refusals that no question met: " + ", ".join(unmet))
    return through, within


def show_faults(tally: Tally, pool: Pool, doors: tuple[Door, ...], options: argparse.Namespace) -> None:
    """Each kind of failure once, shrunk, with what shows it again."""
    for n, ((door, what), (question, outcome, when)) in enumerate(sorted(tally.first.items(), key=lambda item: -tally.alike[item[0]])):
        print(f"\nFAILED {door}: {what} ({tally.alike[door, what]} times, first after {when:.1f} s)")
        other = next((fault.other for fault in outcome.faults if fault.what == what), "")
        if n < options.shrink:

            meant = [row.meant for row in doors if row.name in (door, other)]

            def fails(smaller: Question, door: str = door, what: str = what, meant: list[Callable[[Question], bool]] = meant, other: str = other) -> bool:
                return all(of(smaller) for of in meant) and any(fault.what == what for fault in pool.one(smaller, door, other).faults)

            question = shrunk(question, fails)
            again = pool.one(question, door, other)
            outcome = again if again.faults else outcome
        for fault in outcome.faults:
            print(f"  {fault}")
        for line in outcome.lines:
            print(f"  $ {line if len(line) < 2000 else line[:2000] + ' ..'}")
        said = json.dumps(question.to_json())
        if len(said) < 4000:
            alone = "" if other else f"--door '{door}' "
            print(f"  again: tests/doors/doors.py {alone}--files FOLDER --question {shlex.quote(said)}", flush=True)
        elif not options.keep:
            print("  again: with --keep FOLDER its question is written there")
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            name = "".join(c if c.isalnum() else "-" for c in f"{door} {what}")[:80]
            (options.keep / f"{name}.json").write_text(
                json.dumps({"why": what, "doors": [*filter(None, [other]), door], "question": question.to_json()}, indent=1) + "\n"
            )


if __name__ == "__main__":
    sys.exit(main())
