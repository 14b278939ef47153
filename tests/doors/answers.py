"""What doors answer, and the judgement of it: whether it is what the oracle says."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from oracle import BITS, U, Cell, Oracle, limits, wrapped
from questions import Question

FEW = 8 * 2.0**-53  # roundings of a quotient, relative


class Refused(Exception):
    """A door that does not answer, with its sentence."""


class Broken(Exception):
    """A door that does what no door may: a crash, a hang, an answer that cannot be read, a file left behind. `kind` groups alike ones."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(f"{kind}: {said}")
        self.kind = kind


@dataclasses.dataclass
class Answer:
    """What a door answered. `values`: of each statistic regions x images x channels (x bins); of tables and windows arrays."""

    values: dict[str, Any]
    sums: str = ""  # the type of the table of sums: 32u, .. 64f
    squares: str = ""
    exact: bool = False  # the true sum or a refusal, never one modulo 2^k
    spreads: bool = False  # of a table alone, in which NaN and infinity spread right and down
    deep: bool = False  # of a volume: they spread to the images behind, too
    nulls: bool = False  # in JSON, where NaN and infinity are null
    strict_variance: bool = True  # the door chose the type of the squares, so variances are right
    algorithm: str = ""
    in_doubles: bool = False  # variances as differences of doubles, also where tables are of integers


@dataclasses.dataclass
class Fault:
    """One wrong answer."""

    what: str  # the statistic or the kind of breakage: with the door it groups alike faults
    where: str
    got: str
    wanted: str
    other: str = ""  # the door whose answer it contradicts, where each alone may be right

    def __str__(self) -> str:
        return f"{self.what} {self.where}: got {self.got}, wanted {self.wanted}"


def default_sums(question: Question) -> str:
    """The type of the table of sums of that question, as docs/choosing.md has it for the doors that do not tell theirs."""
    if question.types:
        return question.types[len(question.type) :]
    kind = question.type
    if kind in ("16f", "32f", "64f"):
        return "64f"  # 16f, too: one accumulator for every way
    if kind == "8u":
        depth = question.shape[0] if question.volume else 1
        return "32u" if 255 * question.shape[1] * question.shape[2] * depth < 2**32 else "64u"
    return {"8s": "32s", "16u": "64u", "16s": "64s", "32u": "64u", "32s": "64s", "64u": "64u", "64s": "64s"}[kind]


def require_default(question: Question, sums: str) -> None:
    """The tables of a door that tells their type have the default one, or the question's."""
    if sums != default_sums(question):
        raise Broken("a table of another type", f"{sums}, where {default_sums(question)} is the default or was asked for")


def may_wrap(oracle: Oracle) -> bool:
    """Whether a region's sum may not fit its table's type, by the largest magnitude and the region's pixels."""
    table = default_sums(oracle.question)
    if table not in BITS:
        return False
    areas = [oracle.clipped(r)[2] * oracle.clipped(r)[3] for r in oracle.question.regions]
    if oracle.question.family == "window":
        areas = [oracle.question.window["size"][0] * oracle.question.window["size"][1]]
    depth = oracle.batch if oracle.question.volume else 1
    return bool(areas) and oracle.largest * max(areas) * depth > limits(table)[1]


def may_overflow(oracle: Oracle) -> bool:
    """Whether an entry of a table of floats may be beyond its type, though all pixels are finite."""
    if not oracle.question.is_float or not oracle.values.size:
        return False
    most = np.finfo(np.float32 if default_sums(oracle.question) == "32f" else np.float64).max
    return bool(oracle.magnitudes[0].max() > 0.5 * float(most))


def squares_may_wrap(oracle: Oracle) -> bool:
    """Whether a region's sum of squares may not fit the type that the question names for it."""
    table = oracle.question.squares
    if table not in BITS or oracle.question.is_float:
        return False
    areas = [oracle.clipped(r)[2] * oracle.clipped(r)[3] for r in oracle.question.regions]
    return bool(areas) and oracle.largest**2 * max(areas) > limits(table)[1]


def judge_regions(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first fault of each statistic."""
    cells = oracle.cells
    faults = []
    for stat, got in answer.values.items():
        fault = _first_fault(oracle, answer, stat, np.asarray(got, dtype=object), cells)
        if fault:
            faults.append(fault)
    return faults


def _first_fault(oracle: Oracle, answer: Answer, stat: str, got: np.ndarray, cells: list[list[list[Cell]]]) -> Fault | None:
    wanted = (len(cells), oracle.question.images, oracle.channels)
    if got.shape != wanted:
        return Fault(stat, "(regions, images, channels)", str(got.shape), str(wanted))
    judge = {"sum": _sum, "mean": _mean, "variance": _variance, "std": _variance, "count": _count}[stat]
    for r, images in enumerate(cells):
        for i, channels in enumerate(images):
            for c, cell in enumerate(channels):
                if answer.deep:
                    cell = dataclasses.replace(cell, spread=any(images[before][c].spread for before in range(i + 1)))
                said = judge(oracle, answer, cell, got[r, i, c], stat)
                if said is not None:
                    region = ",".join(map(str, oracle.question.regions[r]))
                    return Fault(stat, f"of region {r} ({region}), image {i}, channel {c}", repr(got[r, i, c]), said)
    return None


def _count(oracle: Oracle, answer: Answer, cell: Cell, got: Any, stat: str) -> str | None:
    return None if got == cell.n else str(cell.n)


def _sum(oracle: Oracle, answer: Answer, cell: Cell, got: Any, stat: str) -> str | None:
    w, h = cell.box[2:]
    if w * h == 0:
        return None if got == 0 or (answer.spreads and cell.spread) else "0, as the region is empty"
    if oracle.question.is_float:
        return _float_sum(oracle, answer, cell, float(got))
    if answer.sums not in BITS:
        bound = 0.0 if oracle.rounds_nowhere[answer.sums] else cell.e1 * U[answer.sums]
        return None if abs(float(got) - cell.s1) <= bound + abs(cell.s1) * FEW else f"{cell.s1} within {bound:.3g}"
    right = cell.s1 if answer.exact else wrapped(cell.s1, answer.sums)
    if isinstance(got, float):  # a sum as a double
        return None if abs(int(got) - right) <= abs(right) * FEW else str(right)
    return None if int(got) == right else str(right)


def _float_sum(oracle: Oracle, answer: Answer, cell: Cell, got: float) -> str | None:
    if answer.spreads and cell.spread and math.isnan(got):
        return None
    if cell.special is not None:
        same = math.isnan(got) if answer.nulls or math.isnan(cell.special) else got == cell.special
        return None if same else str(cell.special)
    if _beyond(oracle, answer, cell):
        return None
    bound = _e1(oracle, answer, cell)
    return None if abs(np.longdouble(got) - cell.s1) <= bound else f"{cell.s1} within {bound:.3g}"


def _beyond(oracle: Oracle, answer: Answer, cell: Cell, power: int = 1) -> bool:
    """Whether entries of the table may be beyond the largest number of its type."""
    most = float(np.finfo(np.float32 if (answer.sums if power == 1 else answer.squares) == "32f" else np.float64).max)
    return bool(oracle.magnitudes[power - 1].max() > 0.5 * most) if oracle.magnitudes[0].size else False


def _e1(oracle: Oracle, answer: Answer, cell: Cell) -> float:
    """How far the sum of a region of floats may be off."""
    if oracle.rounds_nowhere.get(answer.sums, False):
        return 0.0
    u: float = U[answer.sums]
    if answer.algorithm in ("4r1w-cpu", "4r1w"):  # it subtracts: the bound of any recurrence
        depth = 10 * (oracle.width * oracle.height + 1) * u * float(oracle.magnitudes[0].max())
        return float(depth + 2.0**-52 * cell.a1)
    return cell.e1 * u + 2.0**-60 * cell.a1


def _special_moment(answer: Answer, cell: Cell, got: float) -> str | None | bool:
    """The judgement of a mean or a variance of no pixels, or of NaN and infinity; False where there is neither."""
    if cell.n == 0:
        return None if math.isnan(got) else "nan, as no pixel counts"
    if answer.spreads and cell.spread and math.isnan(got):
        return None
    return False


def _mean(oracle: Oracle, answer: Answer, cell: Cell, got: Any, stat: str) -> str | None:
    got = float(got)
    said = _special_moment(answer, cell, got)
    if said is not False:
        return said  # type: ignore[return-value]
    if cell.special is not None:
        same = math.isnan(got) if answer.nulls or math.isnan(cell.special) else got == cell.special
        return None if same else str(cell.special)
    if answer.sums in BITS and not oracle.question.is_float:
        if not answer.exact and wrapped(cell.s1, answer.sums) != cell.s1:
            return None
        right = cell.s1 / cell.n
        return None if abs(got - right) <= abs(right) * FEW else repr(right)
    if _beyond(oracle, answer, cell):
        return None
    right = np.longdouble(cell.s1) / cell.n
    bound = _e1(oracle, answer, cell) / cell.n + abs(float(right)) * FEW
    return None if abs(np.longdouble(got) - right) <= bound else f"{right} within {bound:.3g}"


def _variance(oracle: Oracle, answer: Answer, cell: Cell, got: Any, stat: str) -> str | None:
    got = float(got)
    said = _special_moment(answer, cell, got)
    if said is not False:
        return said  # type: ignore[return-value]
    if cell.special is not None:
        return None if math.isnan(got) else "nan"
    if got < 0:
        return "what is not negative"
    right, bound = variance_of(oracle, answer, cell)
    if right is None:
        return None
    squared = np.longdouble(got) ** 2 if stat == "std" else np.longdouble(got)
    if abs(squared - np.longdouble(right)) <= bound + FEW * abs(float(right)):
        return None
    return f"{math.sqrt(max(float(right), 0)) if stat == 'std' else float(right)!r}, the variance within {bound:.3g}"


def variance_of(oracle: Oracle, answer: Answer, cell: Cell) -> tuple[Any, float]:
    """The variance of a region, and how far it may be off; None where a table that the question chose cannot hold what it takes."""
    n = cell.n
    if not oracle.question.is_float and answer.sums in BITS:
        if not answer.exact and wrapped(cell.s1, answer.sums) != cell.s1:
            return None, 0.0
        if not answer.strict_variance and answer.squares in ("32u", "64u") and cell.s2 >> BITS[answer.squares]:
            return None, 0.0
        right = (n * cell.s2 - cell.s1 * cell.s1) / (n * n)
        whole = oracle.values.dtype.itemsize <= 2 and answer.squares not in U
        u = U.get(answer.squares, U["64f"])
        if answer.in_doubles:
            return right, (cell.e2 * u * (not whole) + 8 * float(cell.s2) * U["64f"]) / n
        if whole or float(oracle.magnitudes[1].max()) < 1 / u:
            return right, 0.0
        return right, (cell.e2 + 8 * float(cell.s2)) * u / n + abs(cell.s1 / n) * abs(cell.s1 / n) * 8 * u
    squares = answer.squares if answer.squares in U else "64f"
    if _beyond(oracle, answer, cell) or _beyond(oracle, dataclasses.replace(answer, squares=squares), cell, 2):
        return None, 0.0
    mean = np.longdouble(cell.s1) / n
    right = np.longdouble(cell.s2) / n - mean * mean
    u = U[squares]
    e1 = _e1(oracle, answer, cell) / n
    if answer.algorithm in ("4r1w-cpu", "4r1w"):
        e2 = 10 * (oracle.width * oracle.height + 1) * u * float(oracle.magnitudes[1].max())
    else:
        e2 = cell.e2 * u
    return right, float((e2 + 8 * u * float(cell.s2)) / n + 2 * abs(mean) * e1 + e1 * e1 + 8 * 2.0**-53 * mean * mean)


def judge_table(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first wrong entry of each table: batch x height x width x channels."""
    faults = []
    for what, got in answer.values.items():
        kind = "32u" if what == "count" else answer.squares if what == "squares" else answer.sums
        right, error = oracle.table(what, kind)
        if got.shape != right.shape:
            faults.append(Fault(what, "table's shape (images, height, width, channels)", str(got.shape), str(right.shape)))
            continue
        if kind in BITS:
            wrong = got != right
        else:
            with np.errstate(over="ignore"):
                fits = np.all(np.isfinite(right.astype({"32f": np.float32, "64f": np.float64}[kind])))
            if not fits and oracle.strange is None:
                continue  # entries beyond the type
            if answer.algorithm in ("4r1w-cpu", "4r1w"):  # it subtracts: the bound of any recurrence, and NaN for infinity
                error = np.full(1, float(np.max(error)) * 5 * (oracle.width * oracle.height + 1))
            with np.errstate(invalid="ignore", over="ignore"):
                close = np.abs(got.astype(np.longdouble) - right) <= error + np.abs(right) * U[kind] * 2
                wrong = ~(close | (got == right) | (np.isnan(got) & np.isnan(right)))
            if answer.algorithm in ("4r1w-cpu", "4r1w"):
                wrong &= np.isfinite(right)
        if wrong.any():
            at = tuple(int(n) for n in np.argwhere(wrong)[0])
            entry = right[at] if right.shape else right
            faults.append(
                Fault(what, f"table at (image, y, x, channel) {at}, of {int(wrong.sum())} wrong entries", repr(got[at]), repr(entry))
            )
    return faults
