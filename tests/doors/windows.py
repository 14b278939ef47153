"""What is right about windows: sums over the cells of every window, taken from the pixels, with what lies beyond the edge."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from answers import FEW, Answer, Fault
from oracle import BITS, U, Oracle, limits


def _beyond(edge: str, places: np.ndarray, length: int) -> np.ndarray:
    """Which pixel of a row lies at each place, -1 for none."""
    if edge in ("valid", "shrink", "zero", "constant"):
        return np.where((places >= 0) & (places < length), places, -1)
    if edge == "replicate":
        return np.asarray(np.clip(places, 0, length - 1))
    if edge == "wrap":
        return places % length
    if edge == "symmetric":
        turned = places % (2 * length)
        return np.where(turned < length, turned, 2 * length - 1 - turned)
    if length == 1:
        return np.zeros_like(places)
    turned = places % (2 * length - 2)  # reflect
    return np.where(turned < length, turned, 2 * length - 2 - turned)


class Windows:
    """Sums, squares and counts of the window around every pixel of an image."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        window = oracle.question.window
        self.width, self.height = window["size"]
        self.edge = window["edge"]
        across, down = window.get("anchor") or (self.width // 2, self.height // 2)
        if self.edge == "valid":
            across = down = 0
        columns = self._places(oracle.width, self.width, across)
        rows = self._places(oracle.height, self.height, down)
        self.columns, self.rows = _beyond(self.edge, columns, oracle.width), _beyond(self.edge, rows, oracle.height)
        inside = (self.rows[:, None] >= 0) & (self.columns[None, :] >= 0)
        self.inside = np.broadcast_to(inside[None, :, :, None], (oracle.batch, *inside.shape, 1))

    def _places(self, length: int, size: int, anchor: int) -> np.ndarray:
        if self.edge == "valid":
            return np.arange(length)
        return np.arange(-anchor, length + size - 1 - anchor)

    def spread(self, values: np.ndarray, fill: Any = 0) -> np.ndarray:
        """Pixels with what lies beyond the edge."""
        out = values[:, np.maximum(self.rows, 0)][:, :, np.maximum(self.columns, 0)]
        value = fill if self.edge == "constant" else 0
        return np.where(self.inside, out, np.array(value).astype(out.dtype) if out.dtype != object else value)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Over the cells of every window, along rows and then along columns."""
        across = sliding_window_view(values, self.width, axis=2).sum(axis=-1, dtype=values.dtype)
        return np.asarray(sliding_window_view(across, self.height, axis=1).sum(axis=-1, dtype=values.dtype))

    @functools.cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pixels with what lies beyond the edge; of every window the sum, the sum of squares and how many count."""
        oracle, question = self.oracle, self.oracle.question
        value = question.window.get("value", 0)
        wide = object if not question.is_float and oracle.values.dtype.itemsize > 2 else np.longdouble if question.is_float else np.int64
        finite = oracle.finite if question.is_float else oracle.kept
        values = self.spread(finite.astype(wide), value)
        s1, s2 = self.sums(values), self.sums(values * values)
        some = question.ignore_nan or question.mask is not None
        if self.edge == "shrink" or some:
            n = self.sums(self.spread(oracle.keep[..., None].astype(np.int64), 1))
        else:
            n = np.full((*s1.shape[:3], 1), self.width * self.height)
        if self.edge == "zero" and some:
            n = n + self.sums(np.where(self.inside, 0, 1))
        return values, s1, s2, n

    def judge(self, stat: str, answer: Answer, got: np.ndarray) -> Fault | None:
        """The first window that is wrong by more than a table's bound."""
        oracle, question = self.oracle, self.oracle.question
        values, s1, s2, n = self.moments
        if got.shape != s1.shape:
            return Fault(stat, "windows' shape (images, height, width, channels)", str(got.shape), str(s1.shape))
        most = 1e37 if answer.sums == "32f" else 1e307
        if question.is_float and float(np.abs(values if stat in ("sum", "mean") else values * values).sum()) > most:
            return None  # entries of a table may be infinite
        with np.errstate(all="ignore"):
            right, bound = self._right(stat, answer, s1, s2, np.broadcast_to(n, s1.shape), values)
            if oracle.strange is not None:
                right = self._with_strange(stat, right)
            got = got.astype(np.longdouble)
            close = np.abs(got * got - right) if stat == "std" else np.abs(got - right)
            good = (close <= bound + np.abs(right) * FEW) | (got == right) | (np.isnan(got) & np.isnan(right))
            good &= (stat not in ("std", "variance")) | ~(got < 0)
        if not answer.exact and answer.sums in BITS and not question.is_float:  # sums modulo 2^k
            low, high = limits(answer.sums)
            good |= np.broadcast_to((s1 < low) | (s1 > high), good.shape).astype(bool)
        if answer.spreads and oracle.strange is not None:
            good |= np.isnan(got)
        if good.all():
            return None
        at = tuple(int(k) for k in np.argwhere(~good)[0])
        return Fault(
            stat,
            f"of the window at (image, y, x, channel) {at}, of {int((~good).sum())} wrong ones",
            str(got[at]),
            f"{right[at]} within {bound[at] if np.ndim(bound) else bound}",
        )

    def _right(
        self, stat: str, answer: Answer, s1: np.ndarray, s2: np.ndarray, n: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is right, for `std` its square, and what it may be off by."""
        exact = s1.dtype != np.longdouble
        kind = answer.sums if answer.sums in U else "64f"
        squares = answer.squares if answer.squares in U else "64f"
        total, total2 = float(np.abs(values).sum()), float((values * values).sum())
        deep = 4 * (values.shape[1] + values.shape[2] + 4)
        integer_sums = exact and answer.sums not in U
        e1 = 0.0 if integer_sums or self.oracle.rounds_nowhere[kind] else deep * U[kind] * total
        e2 = 0.0 if exact and total2 < 2.0**53 else deep * U[squares] * total2
        if stat == "sum":
            return s1.astype(np.longdouble), np.full(s1.shape, e1)
        if stat == "mean":
            return s1.astype(np.longdouble) / np.where(n == 0, np.nan, n), e1 / np.maximum(n, 1)
        if exact:
            whole = n.astype(object)
            top = whole * s2.astype(object) - s1.astype(object) * s1.astype(object)
            right = top.astype(np.longdouble) / np.where(n == 0, np.nan, n.astype(np.longdouble)) ** 2
        else:
            many = np.where(n == 0, np.nan, n)
            right = s2 / many - (s1 / many) ** 2
        mean = np.abs(s1.astype(np.longdouble)) / np.maximum(n, 1)
        bound = (e2 + (0.0 if e2 == 0 and exact else 8 * U[squares] * s2.astype(np.longdouble))) / np.maximum(n, 1)
        return right, bound + 2 * mean * (e1 / np.maximum(n, 1)) + (e1 / np.maximum(n, 1)) ** 2 + (
            0 if exact and e2 == 0 else 8 * U["64f"] * mean * mean
        )

    def _with_strange(self, stat: str, right: np.ndarray) -> np.ndarray:
        """Windows that hold NaN or infinity have it as their answer."""
        kept = self.oracle.kept
        nan, high, low = (self.sums(self.spread(f(kept).astype(np.int64))) > 0 for f in (np.isnan, np.isposinf, np.isneginf))
        if stat in ("variance", "std"):
            return np.where(nan | high | low, np.nan, right)
        return np.where(nan | (high & low), np.nan, np.where(high, np.inf, np.where(low, -np.inf, right)))


def judge_window(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first wrong window of each statistic."""
    windows = oracle.kept_with(Windows)
    faults = (windows.judge(stat, answer, np.asarray(got)) for stat, got in answer.values.items())
    return [fault for fault in faults if fault]
