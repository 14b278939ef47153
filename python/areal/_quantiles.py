"""Quantiles of boxes of an array."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _core
from ._arrays import Array, as_array, clips
from ._errors import InvalidArgument
from ._frameworks import NUMPY, Framework, framework_of
from ._sat import Format, Outside

ValueStore = Literal["auto", "none", "rank"]
Method = Literal["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
                 "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"]


def quantile_numbers(q: Any) -> Array:
    """A number from 0 to 1, or several in a row."""
    wanted = np.asarray(q, dtype=np.float64)
    if wanted.ndim > 1:
        raise InvalidArgument(f"q: {wanted.ndim} dimensions; it may be a number, or several in a row")
    return wanted


def quantiles_shaped(on: Framework, answers: Any, has_batch: bool, one_quantile: bool, one_box: bool) -> Any:
    """Boxes first, without the dimensions of one number and of one box."""
    if has_batch:
        answers = on.permuted(answers, (1, 0, *range(2, len(answers.shape))))
    if one_quantile:
        answers = answers[..., 0]
    return answers[0] if one_box else answers


def quantiles(x: Any, boxes: Any = None, q: Any = 0.5, method: Method = "linear", *, axes: str = "", format: Format = "xywh",
              outside: Outside = "error", store: ValueStore = "auto", bits: int = 0, threads: int = 0, copy: bool | None = None) -> Any:
    """Quantiles of boxes of an array, exact and without bins: ``numpy.nanquantile`` of each box's pixels as float64.

    ``boxes``, ``format``, ``outside`` and ``axes`` as `areal.histograms`; None is the whole image. ``q`` is a number from 0 to 1, or several; ``method`` is one
    of `numpy.quantile`. Boxes x images x channels x q, float64; of one box without the first dimension, of one number without the last. A box without
    pixels, or with NaN alone, has NaN. Every dtype but uint64 and int64.

    ``store``: what answers, with the same bits: none (the pixels of each box are selected), rank (about 16 bytes a pixel of uint16 in memory; 10,000 boxes
    take some ten milliseconds), or auto, the one expected to finish first. Arrays in a GPU's memory are answered there, by rank. ``bits`` of the greatest unsigned pixel, such as 12 of a camera, make rank smaller.
    """
    on = NUMPY if type(x) is np.ndarray else framework_of(x)
    if not on.is_plain(x):
        raise InvalidArgument("array: quantiles have no gradients, and cannot be traced; detach the array")
    array = as_array(x) if on is NUMPY and not isinstance(x, np.ndarray) else x
    if boxes is None:
        letters = axes or "HW"
        boxes = []
        if len(letters) == len(array.shape) and "H" in letters and "W" in letters:
            boxes, format = [0, 0, array.shape[letters.index("W")], array.shape[letters.index("H")]], "xywh"
    wanted = quantile_numbers(q)
    rows, spelled, alone = on.boxes_of_query(boxes, format)
    answers = _core.quantiles(on, array, rows, wanted.reshape(-1).tolist(), method, axes, spelled, clips(outside), copy, threads, store, bits)
    return quantiles_shaped(on, answers, "N" in axes, wanted.ndim == 0, alone)
