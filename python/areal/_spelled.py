"""A binning as numbers, which graphs can hold.

kind (uniform, edges, labels, lookup, joint), bins, numbers (the range or the edges; of joint bins each channel's range),
table (of lookup; of joint bins each channel's bins), clamp, and the label that is ignored.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ._binning import Binning
from ._errors import InvalidArgument

Spelled = tuple[str, int, tuple[float, ...], tuple[int, ...], bool, int | None]


def spelled(dtype: str, bins: Any, range: Any, edges: Any, labels: int | None, ignored: int | None, lookup: Any, joint: Any, clamp: bool) -> Spelled:
    """The binning for pixels of that dtype as numbers. Raises InvalidArgument for none or several binnings, and for floats without a range."""
    if isinstance(bins, Binning):
        if clamp or any(value is not None for value in (range, edges, labels, ignored, lookup, joint)):
            raise InvalidArgument("bins: a Binning says everything, and more was given")
        return _says(bins)
    if bins is not None and not isinstance(bins, int) and not hasattr(bins, "__index__"):
        bins, edges = None, bins
    named = [name for name, value in (("bins", bins), ("edges", edges), ("labels", labels), ("lookup", lookup), ("joint", joint)) if value is not None]
    if len(named) != 1:
        raise InvalidArgument(f"binning: one of bins, edges, labels, lookup and joint, and {' and '.join(named) or 'none'} given")
    if range is not None and bins is None:
        raise InvalidArgument(f"range: it goes with bins, and {named[0]} are given")
    if edges is not None:
        numbers = tuple(float(e) for e in edges)
        return "edges", max(len(numbers) - 1, 0), numbers, (), clamp, None
    if labels is not None:
        return "labels", int(labels), (), (), clamp, ignored
    if lookup is not None:
        table = tuple(int(v) for v in lookup)
        return "lookup", max(table, default=-1) + 1, (), table, clamp, None
    if joint is not None:
        return _joint([_says(part) for part in joint])
    if range is None:
        if np.dtype(dtype).kind == "f":
            raise InvalidArgument(f"range: pixels of {dtype} need one")
        info = np.iinfo("uint8" if dtype == "bool" else dtype)
        range = (info.min, info.max + 1)
    low, high = range
    assert bins is not None
    return "uniform", int(bins), (float(low), float(high)), (), clamp, None


def _says(binning: Any) -> Spelled:
    if not isinstance(binning, Binning):
        raise InvalidArgument("joint: its parts must be areal.Binning, one a channel")
    kind, *says, clamp = binning._says
    if kind == "uniform":
        return "uniform", says[0], (says[1], says[2]), (), clamp, None
    if kind == "edges":
        return "edges", len(says[0]) - 1, says[0], (), clamp, None
    if kind == "labels":
        return "labels", says[0], (), (), clamp, says[1]
    if kind == "lookup":
        return "lookup", max(says[0], default=-1) + 1, (), says[0], clamp, None
    return _joint([_says(part) for part in says[0]])


def _joint(parts: list[Spelled]) -> Spelled:
    if not parts or any(part[0] != "uniform" or part[4] != parts[0][4] for part in parts):
        raise InvalidArgument("joint: the parts of a tensor's are bins over a range, all clamped or none")
    return "joint", 0, tuple(v for part in parts for v in part[2]), tuple(part[1] for part in parts), parts[0][4], None


@lru_cache(maxsize=256)
def unspelled(kind: str, bins: int, numbers: tuple[float, ...], table: tuple[int, ...], clamp: bool, ignored: int | None) -> Binning:
    """The binning of those numbers. Raises InvalidArgument if they are not a binning."""
    if kind == "uniform":
        return Binning(bins, (numbers[0], numbers[1]), clamp=clamp)
    if kind == "edges":
        return Binning(edges=numbers, clamp=clamp)
    if kind == "labels":
        return Binning(labels=bins, ignored=ignored, clamp=clamp)
    if kind == "lookup":
        return Binning(lookup=table, clamp=clamp)
    return Binning(joint=[Binning(count, (numbers[2 * i], numbers[2 * i + 1]), clamp=clamp) for i, count in enumerate(table)])


atexit.register(unspelled.cache_clear)  # PyTorch and JAX keep this module to the end; nanobind would count what the cache holds as leaked


def number_of_bins(kind: str, bins: int, numbers: Sequence[float], table: Sequence[int]) -> int:
    """The number of bins."""
    if kind == "edges":
        return len(numbers) - 1
    if kind == "lookup":
        return max(table) + 1
    if kind == "joint":
        product = 1
        for one in table:
            product *= one
        return product
    return bins
