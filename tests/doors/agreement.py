"""Doors that promise the same bits say the same bits, also where the oracle allows an error: docs/numerics.md says which."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from answers import Answer, Fault
from questions import Question

# Doors that compute the question's whole image at once by its own algorithm and backend, or `auto` on the CPU.
WHOLE = ("command", "command-table", "command-entries", "c++ direct", "c++ one-line", "c++ allocated", "c++ copied", "c++ parallel",
         "c++ device-arrays", "c++ research", "python", "python-plan", "python-pickled", "python-one-by-one", "python-entries")  # fmt: skip
COLUMNS = 1  # the form of an array whose columns are contiguous: its table is summed along them


def orders(question: Question, door: str, answer: Answer) -> list[Hashable]:
    """What determines the order of a door's additions. Answers that share one have the same bits."""
    if "filter" in door:
        return ["filter"]  # for every cut, number of threads, backend and order of memory
    if question.family not in ("regions", "table") or (door.startswith("python") and question.params.get("form", 0) == COLUMNS):
        return []
    tables = (answer.sums, answer.squares, answer.in_doubles, question.is_float and answer.spreads)
    found: list[Hashable] = []
    if answer.algorithm not in ("", "auto", "4r1w", "4r1w-cpu"):
        found.append((answer.algorithm, *tables))
    if door in WHOLE and question.backend == "cpu":
        found.append(("asked", question.algorithm, *tables))
    return found


def disagreements(question: Question, answers: Iterable[tuple[str, Answer]]) -> dict[str, Fault]:
    """Of each door that says other bits than one before it, the first difference."""
    first: dict[tuple[Hashable, str], tuple[str, Any]] = {}
    faults: dict[str, Fault] = {}
    for door, answer in answers:
        for order in orders(question, door, answer):
            for stat, values in answer.values.items():
                other, before = first.setdefault((order, stat), (door, values))
                fault = _difference(stat, np.asarray(values), door, np.asarray(before), other)
                if fault and door not in faults:
                    faults[door] = fault
    return faults


def _difference(stat: str, got: np.ndarray, door: str, before: np.ndarray, other: str) -> Fault | None:
    if got.shape != before.shape:
        return None  # which the oracle judges
    same = np.array([_same(a, b) for a, b in zip(got.ravel().tolist(), before.ravel().tolist(), strict=True)], bool)
    if same.all():
        return None
    at = int(np.argmin(same))
    where = ", ".join(map(str, np.unravel_index(at, got.shape)))
    count = int((~same).sum())
    return Fault(f"{stat} in other bits than {other}", f"at ({where}), of {count}", repr(got.ravel()[at]), repr(before.ravel()[at]), other)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))
