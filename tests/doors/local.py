"""What is right about local thresholds, extremes, Gaussians and guided filters: their formulas over the cells of every window."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from answers import Answer, Fault
from oracle import U, Oracle
from windows import Windows

THRESHOLDS = {"threshold": 0.0, "bradley": 0.15, "niblack": -0.2, "sauvola": 0.2, "wolf": 0.5, "nick": -0.2}  # and their k
EXTREMES = ("min", "max")
u = U["64f"]


def type_of(question: Any) -> str:
    """The type of the output that doors are asked for: thresholds themselves, pixels, or floats."""
    stat = question.stats[0]
    return question.type if stat in EXTREMES else "32f" if stat == "guided" else "64f"


def _depth(windows: Windows) -> int:
    """Roundings of a sum over a window of doubles, with room."""
    return 4 * (windows.width + windows.height + 16)


def right_thresholds(oracle: Oracle) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest threshold of every window that the bounds of its mean and deviation allow."""
    question, stat = oracle.question, oracle.question.stats[0]
    windows = Windows(oracle)
    values, s1, s2, n = (part.astype(np.longdouble) for part in windows.moments)
    n = np.where(n == 0, np.nan, np.broadcast_to(n, s1.shape))
    m, square = s1 / n, s2 / n
    whole = bool(np.all(values == np.rint(values))) and float((values * values).sum()) < 2.0**50  # no sum rounds
    if question.is_float and not whole:
        sizes = windows.sums(np.abs(values)) / n
        off, off2 = _depth(windows) * u * sizes, 3 * _depth(windows) * u * square
    else:
        off, off2 = 4 * u * np.abs(m), 8 * u * square if oracle.values.dtype.itemsize > 2 else 0 * square
    variance = np.maximum(square - m * m, 0)
    if question.is_float and whole:
        variance = (n * s2 - s1 * s1) / (n * n)
    elif not question.is_float:
        whole1, whole2, many = (part.astype(object) for part in (windows.moments[1], windows.moments[2], np.broadcast_to(windows.moments[3], s1.shape)))
        variance = (many * whole2 - whole1 * whole1).astype(np.longdouble) / (n * n)
    low, high = np.sqrt(np.maximum(variance - off2, 0)), np.sqrt(variance + off2)
    k, r, offset = THRESHOLDS[stat], question.window.get("r", 1), question.window.get("offset", 0)
    means, deviations = (m - off, m + off), (low * (1 - 8 * u), high * (1 + 8 * u))
    if stat == "wolf":
        pixels = oracle.kept.astype(np.longdouble).reshape(oracle.batch, -1, oracle.channels)
        least = np.where(oracle.keep.reshape(oracle.batch, -1, 1), pixels, np.inf).min(axis=1)[:, None, None, :]
        tops = [np.nanmax(d, axis=(1, 2), keepdims=True) if d.size else d for d in (low, high)]
        shares = [np.where(top == 0, 0, s / np.where(top == 0, 1, top)) for s, top in itertools.product(deviations, tops)]
        found = [mean + k * (share - 1) * (mean - least) for mean, share in itertools.product(means, shares)]
    elif stat == "nick":
        squares = (square - off2, square + off2)
        found = [mean + k * np.sqrt(np.maximum(s * n - mean * mean, 0) / n) for mean, s in itertools.product(means, squares)]
    else:
        threshold = {
            "threshold": lambda mean, s: mean, "bradley": lambda mean, s: mean * (1 - k), "niblack": lambda mean, s: mean + k * s,
            "sauvola": lambda mean, s: mean * (1 + k * (s / r - 1)),
        }[stat]  # fmt: skip
        found = [threshold(mean, s) for mean, s in itertools.product(means, deviations)]
    slack = 16 * u * (np.abs(m) + np.sqrt(square) + offset)
    return np.min(found, axis=0) - offset - slack, np.max(found, axis=0) - offset + slack


def right_extremes(oracle: Oracle) -> np.ndarray:
    """The least or largest valid pixel of every window; of none 0, or NaN of floats."""
    question, windows = oracle.question, Windows(oracle)
    least = question.stats[0] == "min"
    values = windows.spread(oracle.values, question.window.get("value", 0))
    keep = np.where(windows.inside, windows.spread(oracle.keep[..., None]), windows.edge in ("zero", "constant"))
    if oracle.values.dtype.kind == "f":
        end: Any = np.inf if least else -np.inf
    else:
        info = np.iinfo(np.uint8 if values.dtype == bool else values.dtype)
        end = info.max if least else info.min
    values = np.where(keep, values, np.array(end).astype(values.dtype))
    reduce = np.min if least else np.max
    across = reduce(sliding_window_view(values, windows.width, axis=2), axis=-1)
    found = reduce(sliding_window_view(across, windows.height, axis=1), axis=-1)
    count = windows.sums(np.broadcast_to(keep, values.shape).astype(np.int64))
    return np.where(count > 0, found, np.array(np.nan if values.dtype.kind == "f" else 0).astype(values.dtype))


def right_gaussian(oracle: Oracle) -> tuple[np.ndarray, np.ndarray]:
    """The convolution with truncated weights of sum 1, over the weights inside with `shrink`; and its bound."""
    question = oracle.question
    weights = []
    for sigma in question.window["sigma"]:
        far = math.floor(4 * sigma + 0.5)
        one = np.exp(-(np.arange(-far, far + 1, dtype=np.longdouble) ** 2) / (2 * np.longdouble(sigma) ** 2)) if sigma else np.ones(1, np.longdouble)
        weights.append(one / one.sum())
    sized = Oracle(question.but(window={**question.window, "size": [len(weights[0]), len(weights[1])]}))
    windows = Windows(sized)
    values = windows.spread(oracle.kept.astype(np.longdouble), question.window.get("value", 0))

    def blurred(of: np.ndarray) -> np.ndarray:
        across = sliding_window_view(of, len(weights[0]), axis=2) @ weights[0]
        return np.asarray(sliding_window_view(across, len(weights[1]), axis=1) @ weights[1])

    total = blurred(windows.inside.astype(np.longdouble)) if windows.edge == "shrink" else 1
    bound = 4 * (len(weights[0]) + len(weights[1]) + 8) * u * blurred(np.abs(values)) / total
    return blurred(values) / total, bound


def right_guided(oracle: Oracle) -> tuple[np.ndarray, np.ndarray]:
    """The guided filter whose guide is the image itself, and its bound."""
    question, eps = oracle.question, np.longdouble(oracle.question.window["eps"])
    windows = Windows(oracle)
    s1, s2, n = (part.astype(np.longdouble) for part in windows.moments[1:])
    m, variance = s1 / n, np.maximum(s2 / n - (s1 / n) ** 2, 0)
    a = variance / (variance + eps)
    b = m - a * m
    flat = question.window.get("value", 0) if windows.edge == "constant" else 0
    places = np.broadcast_to(windows.inside, (*windows.inside.shape[:3], oracle.channels))

    def mean(of: np.ndarray, beyond: float) -> np.ndarray:
        return windows.sums(np.where(places, windows.spread(of), beyond if windows.edge != "shrink" else 0)) / n

    right = mean(a, 0) * oracle.values.astype(np.longdouble) + mean(b, flat)
    most = np.longdouble(max(1, float(np.abs(oracle.values.astype(np.float64)).max()), abs(flat)))
    off = 3 * _depth(windows) * u * most * most if question.is_float else 0
    return right, np.abs(right) * 2.0**-23 + 16 * most * (2 * off / eps + _depth(windows) * u) + 2.0**-149


def judge_local(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first window that is wrong."""
    stat = oracle.question.stats[0]
    with np.errstate(all="ignore"):
        if stat in THRESHOLDS:
            low, high = right_thresholds(oracle)
        elif stat in EXTREMES:
            low = high = right_extremes(oracle)
        else:
            right, bound = right_gaussian(oracle) if stat == "gaussian" else right_guided(oracle)
            low, high = right - bound, right + bound
        got = np.asarray(answer.values[stat])
        if got.shape != low.shape:
            return [Fault(stat, "windows' shape (images, height, width, channels)", str(got.shape), str(low.shape))]
        good = ((got >= low) & (got <= high)) | ((got != got) & (low != low))
    if good.all():
        return []
    at = tuple(int(k) for k in np.argwhere(~good)[0])
    return [Fault(stat, f"of the window at (image, y, x, channel) {at}, of {int((~good).sum())} wrong ones", repr(got[at]), f"from {low[at]!r} to {high[at]!r}")]
