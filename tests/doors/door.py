"""A door: one way in which areal answers questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from answers import Answer
from questions import Question
from room import Room


def _always(question: Question) -> bool:
    return True


@dataclasses.dataclass(frozen=True)
class Door:
    """A row of the table. `meant` says which questions mean anything there: what a door refuses is asked all the same."""

    name: str
    families: tuple[str, ...]
    ask: Callable[[Room, Question], Answer]
    meant: Callable[[Question], bool] = _always
    weight: float = 1.0  # of a command's door: how often it is chosen; of others: which share of the questions they are asked
    runs: bool = False  # a door of a command: each question is asked through a few of them alone, as a process takes long to start
