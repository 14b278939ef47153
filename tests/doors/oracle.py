"""What is right: answers straight from the pixels, in Python's integers and NumPy's long double. No code of areal's.

Sums of integers are exact. Sums of floats come with the bound of docs/numerics.md: an entry of a table errs by at most
(x + y) u A, where A is the sum of magnitudes above and left of it, and a region by the errors of its four corners.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from questions import Question, mask_of, pixels

U = {"32f": 2.0**-24, "64f": 2.0**-53}  # half of a type's epsilon
BITS = {"32u": 32, "32s": 32, "64u": 64, "64s": 64}
Ints = np.ndarray  # of Python's integers


def wrapped(value: int, table: str) -> int:
    """A sum as a table of that type of integers holds it."""
    bits = BITS[table]
    value %= 1 << bits
    return value - (1 << bits) if table.endswith("s") and value >> (bits - 1) else value


def limits(table: str) -> tuple[int, int]:
    """The least and the largest that a table of that type of integers holds."""
    bits = BITS[table]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if table.endswith("s") else (0, (1 << bits) - 1)


def exact_sum(part: np.ndarray) -> int:
    """The sum of integers, whatever its size."""
    if part.dtype.itemsize < 8:
        return int(part.sum(dtype=np.int64))
    shift, low = part.dtype.type(32), part.dtype.type(0xFFFFFFFF)
    return (int((part >> shift).sum(dtype=np.int64)) << 32) + int((part & low).sum(dtype=np.uint64))


def exact_squares(part: np.ndarray) -> int:
    """The sum of squares of integers, whatever its size."""
    if part.dtype.itemsize <= 2:
        wide = part.astype(np.int64)
        return int((wide * wide).sum())
    if part.dtype.itemsize == 4:
        wide = np.abs(part.astype(np.int64)).astype(np.uint64)
        return exact_sum(wide * wide)
    magnitude = np.where(part < 0, (~part.astype(np.uint64)) + np.uint64(1), part.astype(np.uint64)) if part.dtype.kind == "i" else part
    high, low = magnitude >> np.uint64(32), magnitude & np.uint64(0xFFFFFFFF)
    return (exact_sum(high * high) << 64) + (exact_sum(high * low) << 33) + exact_sum(low * low)


@dataclasses.dataclass(frozen=True)
class Cell:
    """The truth about one region of one channel of one image."""

    n: int  # pixels that count
    s1: Any  # their sum: an int, or a long double of the finite ones
    s2: Any
    nans: int
    highs: int  # +infinity
    lows: int
    e1: float  # what a table of 64f may err by, in units of u
    e2: float
    a1: float  # the sum of magnitudes, of finite pixels
    spread: bool  # NaN or infinity lies left of and above the far corner, so that a table's answer may be NaN
    box: tuple[int, int, int, int]  # the part inside the image

    @property
    def special(self) -> float | None:
        """NaN or an infinity where the sum is one, else None."""
        if self.nans or (self.highs and self.lows):
            return math.nan
        return math.inf if self.highs else -math.inf if self.lows else None


class Oracle:
    """The image of a question, looked at in every way that its doors are asked about."""

    def __init__(self, question: Question) -> None:
        self.question = question
        image = pixels(question)
        self.image = image
        self.values = image.astype(np.uint8) if image.dtype == np.bool_ else image
        mask = mask_of(question)
        keep = np.ones(image.shape[:3], bool) if mask is None else np.broadcast_to(mask != 0, image.shape[:3]).copy()
        if question.ignore_nan and question.is_float:
            keep &= ~np.isnan(image).any(axis=3)
        self.keep = keep
        self.kept = np.where(keep[..., None], self.values, self.values.dtype.type(0))
        self.batch, self.height, self.width, self.channels = image.shape
        self.largest = self._largest()
        self.others: dict[str, Any] = {}

    def _largest(self) -> int:
        """The largest magnitude of an integer pixel that counts."""
        if self.question.is_float or not self.kept.size:
            return 0
        return max(abs(int(self.kept.max())), abs(int(self.kept.min())))

    @functools.cached_property
    def finite(self) -> np.ndarray:
        """The pixels that count, what is not finite being 0, in long double."""
        if not self.question.is_float:
            return self.kept.astype(np.longdouble)
        return np.where(np.isfinite(self.kept), self.kept, 0).astype(np.longdouble)

    @functools.cached_property
    def magnitudes(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of magnitudes and of squares above and left of each corner, (batch, height + 1, width + 1, channels): for bounds alone."""

        def corners(values: np.ndarray) -> np.ndarray:
            return np.pad(values.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0), (0, 0)))

        absolute = np.abs(self.finite).astype(np.longdouble)
        return corners(absolute), corners(absolute * absolute)

    @functools.cached_property
    def rounds_nowhere(self) -> dict[str, bool]:
        """Whether no order of additions rounds in a table of that type: small whole numbers."""
        if not self.values.size:
            return {"32f": True, "64f": True}
        total = float(np.abs(self.finite).sum())
        whole = bool(np.all(self.finite == np.rint(self.finite)))
        return {"32f": whole and total < 2**24, "64f": whole and total < 2**53}

    @functools.cached_property
    def strange(self) -> np.ndarray | None:
        """Where pixels that count are NaN or infinite; None where none is."""
        if not self.question.is_float:
            return None
        where = ~np.isfinite(self.kept)
        return where if where.any() else None

    def kept_with(self, kind: Any) -> Any:
        """One object of a class that is made of this oracle, kept with it."""
        if kind.__name__ not in self.others:
            self.others[kind.__name__] = kind(self)
        return self.others[kind.__name__]

    def clipped(self, region: tuple[int, ...]) -> tuple[int, int, int, int]:
        """The part of a region inside the image."""
        x, y, w, h = region
        left, top = min(max(x, 0), self.width), min(max(y, 0), self.height)
        right, bottom = min(max(x + w, 0), self.width), min(max(y + h, 0), self.height)
        return left, top, max(right - left, 0), max(bottom - top, 0)

    def reaches_outside(self) -> bool:
        """Whether a region is refused: one that leaves the image, unless it is clipped."""
        return self.question.outside == "error" and any(self.clipped(r) != tuple(r) for r in self.question.regions)

    @functools.cached_property
    def cells(self) -> list[list[list[Cell]]]:
        """Regions x images x channels; a volume is one image."""
        images: Any = range(self.batch) if self.question.family != "volume" else [slice(0, self.batch)]
        return [
            [[self._cell(self.clipped(region), i, c) for c in range(self.channels)] for i in images]
            for region in self.question.regions
        ]

    def _cell(self, box: tuple[int, int, int, int], i: int | slice, c: int) -> Cell:
        x, y, w, h = box
        part = (i, slice(y, y + h), slice(x, x + w), c)
        n = int(self.keep[part[:3]].sum())
        nans = highs = lows = 0
        spread = False
        if self.question.is_float:
            values = self.kept[part]
            finite = self.finite[part]
            s1, s2 = finite.sum(), (finite * finite).sum()
            if self.strange is not None:
                nans, highs, lows = (int(what.sum()) for what in (np.isnan(values), np.isposinf(values), np.isneginf(values)))
                before = np.s_[i, y:, x:, c] if self.question.reverse else np.s_[i, : y + h, : x + w, c]
                spread = bool(self.strange[before].any())
        else:
            s1, s2 = exact_sum(self.kept[part]), exact_squares(self.kept[part])
        e1, e2 = self._bounds(x, y, w, h, i, c)
        a1 = float(np.abs(self.finite[part]).sum()) if self.question.is_float else float(abs(s1))
        return Cell(n, s1, s2, nans, highs, lows, e1, e2, a1, spread, box)

    def _bounds(self, x: int, y: int, w: int, h: int, i: int | slice, c: int) -> tuple[float, float]:
        """Sums of (x + y) A over the four corners, of pixels and of squares."""
        ones, squares = self.magnitudes
        if self.question.reverse:  # from the other corner: all of the image bounds it
            deep = 4 * (self.width + self.height)
            return deep * float(ones[i, -1, -1, c].sum()), deep * float(squares[i, -1, -1, c].sum())
        e1 = e2 = 0.0
        deep = 4 + (self.batch if self.question.volume else 0)
        for v, u in ((y, x), (y, x + w), (y + h, x), (y + h, x + w)):
            e1 += (u + v + deep) * float(ones[i, v, u, c].sum())
            e2 += (u + v + deep + 1) * float(squares[i, v, u, c].sum())
        return e1, e2

    # ---------------------------------------------------------------- tables

    def table(self, what: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """A table of the question's border, and what each entry may err by: sum, squares, count or tilted, of a type. Batch x height x width x channels."""
        border, reverse = self.question.border, self.question.reverse
        if what == "count":
            entries = self.keep[..., None].astype(np.uint64)
        elif kind in BITS:
            entries = self.kept.astype(np.uint64) if self.kept.dtype.kind == "u" else self.kept.astype(np.int64).view(np.uint64)
            entries = entries * entries if what == "squares" else entries
        else:
            with np.errstate(over="ignore"):  # beyond 64f is infinity there, too
                entries = self.kept.astype(np.float64).astype(np.longdouble) if what == "squares" else self.kept.astype(np.longdouble)
                entries = entries * entries if what == "squares" else entries
        if what == "tilted":
            return self._tilted(entries, kind)
        with np.errstate(all="ignore"):
            sums = self._summed(entries, border, reverse)
            if kind in BITS or what == "count":
                return _as_type(sums, kind), np.zeros(1)
            sizes = np.where(np.isfinite(entries), np.abs(entries), 0)
            depth = self.height + self.width + (self.batch if self.question.volume else 0) + 4
            exact = self.rounds_nowhere[kind] if what == "sum" else self.rounds_nowhere[kind] and float((sizes).sum()) < 0.25 / U[kind]
            error = np.zeros(1) if exact else self._summed(sizes, border, reverse) * (depth * U[kind])
        return sums, error

    def _summed(self, entries: np.ndarray, border: str, reverse: bool) -> np.ndarray:
        axes = (0, 1, 2) if self.question.volume else (1, 2)
        turn = tuple(slice(None, None, -1) if axis in axes else slice(None) for axis in range(4))
        sums = entries[turn] if reverse else entries
        for axis in axes:
            sums = sums.cumsum(axis=axis, dtype=sums.dtype)
        if border != "none":
            sums = np.pad(sums, [(1, 0) if axis in axes else (0, 0) for axis in range(4)])
        if border == "exclusive":
            sums = sums[tuple(slice(0, -1) if axis in axes else slice(None) for axis in range(4))]
        return sums[turn] if reverse else sums

    def _tilted(self, entries: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """OpenCV's definition, of which an entry is NaN or infinite where its triangle holds such a pixel."""
        if kind in BITS:
            return _as_type(self._triangles(entries), kind), np.zeros(1)
        sums = self._triangles(self.finite)
        if self.strange is not None:
            nan, high, low = (self._triangles(f(self.kept).astype(np.int64)) > 0 for f in (np.isnan, np.isposinf, np.isneginf))
            sums = np.where(nan | (high & low), np.nan, np.where(high, np.inf, np.where(low, -np.inf, sums)))
        total = float(np.abs(self.finite).sum())
        return sums, np.full(1, 0.0 if self.rounds_nowhere[kind] else 10 * (self.height**2 + 1) * U[kind] * total)

    def _triangles(self, entries: np.ndarray) -> np.ndarray:
        """Element (X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1."""
        rows = np.pad(entries, ((0, 0), (0, 0), (1, 0), (0, 0))).cumsum(axis=2, dtype=entries.dtype)
        out = np.zeros((self.batch, self.height + 1, self.width + 1, self.channels), entries.dtype)
        columns = np.arange(self.width + 1)
        for bottom in range(1, self.height + 1):
            for y in range(bottom):
                reach = bottom - y - 1
                first, last = np.clip(columns - 1 - reach, 0, self.width), np.clip(columns + reach, 0, self.width)
                out[:, bottom] += rows[:, y, last] - rows[:, y, first]
        return out


def _as_type(sums: np.ndarray, kind: str) -> np.ndarray:
    """Sums modulo 2^64 as a table of integers holds them."""
    return sums.astype({"32u": np.uint32, "32s": np.uint32, "64u": np.uint64, "64s": np.uint64}[kind]).view(
        {"32u": np.uint32, "32s": np.int32, "64u": np.uint64, "64s": np.int64}[kind]
    )
