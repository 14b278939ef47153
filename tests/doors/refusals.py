"""What a door may refuse, with the reason as a user would read it. The list may only shrink: a refusal that is not on it fails the
test, and the run names the entries that nothing met.

An entry: its name, which doors (a pattern), which questions, which sentence (a pattern) and why.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Callable

from answers import may_wrap
from oracle import Oracle
from questions import Question


@dataclasses.dataclass(frozen=True)
class Refusal:
    """One entry of the list."""

    name: str
    doors: str  # patterns of names, separated by spaces
    of: Callable[[Question, Oracle], bool]
    sentence: str
    why: str
    must: bool = False  # an answer is a failure

    def covers(self, door: str, question: Question, oracle: Oracle, sentence: str) -> bool:
        """Whether this refusal is that entry's."""
        return self.at(door) and self.of(question, oracle) and re.search(self.sentence, sentence) is not None

    def at(self, door: str) -> bool:
        return any(fnmatch.fnmatch(door, pattern) for pattern in self.doors.split())


def _touches_last(question: Question, oracle: Oracle) -> bool:
    boxes = [oracle.clipped(region) for region in question.regions]
    return question.border == "exclusive" and any(x + w == oracle.width or y + h == oracle.height for x, y, w, h in boxes)


REFUSALS: tuple[Refusal, ...] = (
    Refusal("a region outside", "*", lambda q, o: q.family in ("regions", "histogram") and o.reaches_outside(), r"outside|inside|range|index|extent|negative|-\d", "A region that leaves the image is refused unless it is clipped.", must=True),
    Refusal("exclusive", "command-table command-tiles python* c++*", _touches_last, r"exclusive", "A table with the border exclusive lacks what regions at the last row and column take."),
    Refusal("may wrap", "command* mpi*", lambda q, o: may_wrap(o), r"wrap|hold|types", "The command refuses a sum that its table's type may not hold."),
)


def find(door: str, question: Question, oracle: Oracle, sentence: str) -> Refusal | None:
    """The entry that a refusal is on, None for none."""
    return next((entry for entry in REFUSALS if entry.covers(door, question, oracle, sentence)), None)


def must_refuse(door: str, question: Question, oracle: Oracle) -> Refusal | None:
    """The entry by which that door must refuse that question."""
    return next((entry for entry in REFUSALS if entry.must and entry.at(door) and entry.of(question, oracle)), None)
