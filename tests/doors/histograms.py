"""What is right about histograms: bins as numpy.histogram has them, counted from the pixels, and what a histogram says."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from answers import Answer, Fault
from oracle import Oracle
from questions import Question, number, weights_of


def edges_of(question: Question) -> np.ndarray:
    """bins + 1 rising edges; of joint bins and look-up tables the numbers of bins."""
    binning = question.binning
    if "joint" in binning:
        return np.arange(binning["joint"] ** question.shape[3] + 1, dtype=float)
    if "lookup" in binning:
        return np.arange(max(binning["lookup"]) + 2, dtype=float)
    if "edges" in binning:
        return np.array([number(e) for e in binning["edges"]], float)
    if "labels" in binning:
        return np.arange(binning["labels"] + 1, dtype=float)
    if "range" in binning:
        low, high = (number(v) for v in binning["range"])
    elif question.is_float:
        low, high = 0.0, 1.0
    else:
        info = np.iinfo("uint8" if question.dtype == "bool" else question.dtype)
        low, high = float(info.min), float(int(info.max) + 1)
    return np.linspace(low, high, binning["bins"] + 1)


def of_a_channel(question: Question) -> Question:
    """The question about one of the channels that joint bins count together."""
    joint = question.binning["joint"]
    return question.but(binning={"bins": joint, **{key: value for key, value in question.binning.items() if key == "range"}})


def bins_of(question: Question, values: np.ndarray) -> np.ndarray:
    """The bin of each pixel, -1 for none; of joint bins (i0 n + i1) n + i2, a plane."""
    if "joint" in question.binning:
        parts = bins_of(of_a_channel(question), values)
        whole = parts @ question.binning["joint"] ** np.arange(question.shape[3] - 1, -1, -1)
        return np.where((parts < 0).any(axis=-1), -1, whole)[..., None]
    if "lookup" in question.binning:
        table = np.array([*question.binning["lookup"], -1])
        return np.asarray(table[np.minimum(values.astype(int), len(table) - 1)])
    edges = edges_of(question)
    doubles = values.astype(np.float64)
    bins = np.searchsorted(edges, doubles, side="right") - 1
    if "labels" in question.binning:
        return np.where((values >= 0) & (doubles < len(edges) - 1), doubles, -1).astype(int)
    bins = np.where(doubles == edges[-1], len(edges) - 2, bins)
    out = (doubles < edges[0]) | (doubles > edges[-1])
    if question.clamp:
        bins = np.where(doubles < edges[0], 0, np.where(doubles > edges[-1], len(edges) - 2, bins))
    else:
        bins = np.where(out, -1, bins)
    return np.where(np.isnan(doubles), -1, bins)


def uncertain(question: Question, values: np.ndarray) -> np.ndarray:
    """Pixels as close to an inner edge of equal bins as rounding: which side they fall on is numpy.histogram's business."""
    if "joint" in question.binning:
        return uncertain(of_a_channel(question), values)
    edges = edges_of(question)
    if "bins" not in question.binning:
        return np.zeros(values.shape, bool)
    doubles = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(doubles[..., None] - edges[None, None, None, None, 1:-1]) <= np.abs(edges[1:-1]) * 2.0**-51 + 2.0**-60
    exact = edges == np.rint(edges)
    return np.asarray((near & ~exact[1:-1]).any(axis=-1))


class Histograms:
    """Histograms of the regions of a question."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        question = oracle.question
        self.edges = edges_of(question)
        self.bins = np.where(oracle.keep[..., None], bins_of(question, oracle.values), -1)
        weights = weights_of(question)
        self.weights = None if weights is None else weights.astype(np.longdouble)
        self.count = len(self.edges) - 1

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """Regions x images x channels x bins: whole numbers, of weights long doubles."""
        oracle = self.oracle
        kind: Any = np.int64 if self.weights is None else np.longdouble
        planes = oracle.question.planes
        out = np.zeros((len(oracle.question.regions), oracle.batch, planes, self.count), kind)
        for r, region in enumerate(oracle.question.regions):
            x, y, w, h = oracle.clipped(region)
            for i in range(oracle.batch):
                for c in range(planes):
                    bins = self.bins[i, y : y + h, x : x + w, c].ravel()
                    if self.weights is None:
                        out[r, i, c] = np.bincount(bins[bins >= 0], minlength=self.count)
                    else:
                        np.add.at(out[r, i, c], bins[bins >= 0], self.weights[y : y + h, x : x + w].ravel()[bins >= 0])
        return out

    def percentile(self, counts: np.ndarray, percent: float) -> tuple[float, float]:
        """From where to where the value may lie below which so much of the mass is: several values are right where bins are empty."""
        total = counts.sum()
        if total <= 0:
            return math.nan, math.nan
        target = float(total) * percent / 100
        before = np.concatenate([[0.0], np.cumsum(counts.astype(float))])
        slack = 1e-9 * float(total)
        low = high = None
        for b in range(self.count):
            if counts[b] <= 0:
                continue
            if before[b] - slack <= target <= before[b + 1] + slack:
                at = self.edges[b] + min(max((target - before[b]) / float(counts[b]), 0), 1) * (self.edges[b + 1] - self.edges[b])
                low = at if low is None else min(low, at)
                high = at if high is None else max(high, at)
        if percent == 0 and low is not None:
            low = min(low, self.edges[0])
        return (math.nan, math.nan) if low is None or high is None else (low, high)

    def judge(self, stat: str, got: np.ndarray) -> Fault | None:
        """The first wrong answer of one statistic."""
        right = self.counts
        shape = right.shape if stat in ("counts", "normalise") else right.shape[:3]
        if got.shape != shape:
            return Fault(stat, "(regions, images, channels, bins)", str(got.shape), str(shape))
        for at in np.ndindex(right.shape[:3]):
            said = self._wrong(stat, right[at], got[at])
            if said is not None:
                r, i, c = at
                region = ",".join(map(str, self.oracle.question.regions[r]))
                return Fault(stat, f"of region {r} ({region}), image {i}, channel {c}", str(got[at]), said)
        return None

    def _wrong(self, stat: str, counts: np.ndarray, got: Any) -> str | None:
        if stat == "counts":
            if self.weights is None:
                return None if np.array_equal(np.asarray(got, dtype=np.int64), counts) else str(counts)
            bound = float(np.abs(self.weights).sum()) * 2.0**-22 * (self.weights.shape[0] + self.weights.shape[1])
            bound = 0.0 if np.all(self.weights == np.rint(self.weights)) else bound
            return None if np.all(np.abs(np.asarray(got, dtype=np.longdouble) - counts) <= bound) else str(counts)
        if self.weights is not None:
            counts = np.maximum(counts, 0)
        total = float(counts.sum())
        if stat == "normalise":
            shares = counts.astype(float) / total if total else np.zeros(self.count)
            return None if np.allclose(np.asarray(got, float), shares, rtol=1e-12, atol=1e-15) else str(shares)
        value = float(got)
        if stat == "mode":
            wanted = float(np.argmax(counts)) if total else -1.0
            return None if value == wanted else str(wanted)
        if stat == "entropy":
            shares = counts[counts > 0].astype(float) / total if total else np.ones(1)
            wanted = float(-(shares * np.log2(shares)).sum())
            return None if abs(value - wanted) <= 1e-9 else str(wanted)
        if total == 0:
            return None if math.isnan(value) else "nan"
        if stat == "mean":
            centres = (self.edges[1:] + self.edges[:-1]) / 2
            wanted = float((centres * counts.astype(float)).sum() / total)
            return None if math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-9 * float(np.abs(centres).max())) else str(wanted)
        low, high = self.percentile(counts, 50 if stat == "median" else 90)
        slack = 1e-9 * max(abs(low), abs(high), float(np.abs(self.edges).max()))
        return None if low - slack <= value <= high + slack else f"{low} to {high}"


def judge_histogram(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first fault of each statistic."""
    if uncertain(oracle.question, oracle.values).any():
        return []
    right = oracle.kept_with(Histograms)
    faults = (right.judge(stat, np.asarray(got)) for stat, got in answer.values.items())
    return [fault for fault in faults if fault]
