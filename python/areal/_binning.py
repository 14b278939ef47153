"""Binning: the bin of each pixel value."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._arrays import Array, dtype_name
from ._errors import InvalidArgument


class Binning:
    """A map from pixel values to bins, as in numpy.histogram: the last bin is closed; values outside and NaN are ignored.

    Exactly one of these arguments defines the bins:

    - ``bins`` of equal width over ``range``; or ``bins`` as a sequence of rising edges
    - ``edges``: rising edges, one more than bins
    - ``labels``: the number of labels; pixel value v is bin v; ``ignored`` and larger values are skipped. Integer images
    - ``lookup``: the bin of each pixel value, -1 to ignore it. Integer images of 8 and 16 bits
    - ``joint``: the binnings of two or three channels; bin = (i0 * bins1 + i1) * bins2 + i2

    ``clamp``: values outside, also infinities, count in the first or last bin; for bins over a range and for edges. Immutable, hashable, compared by
    value, picklable.
    """

    __slots__ = ("_rule", "_says", "_hash")

    def __init__(self, bins: int | Sequence[float] | Array | None = None, range: tuple[float, float] | None = None, *, edges: Any = None,
                 labels: int | None = None, ignored: int | None = None, lookup: Any = None, joint: Sequence[Binning] | None = None,
                 clamp: bool = False) -> None:
        if bins is not None and not isinstance(bins, (int, np.integer)):
            if edges is not None or range is not None:
                raise InvalidArgument("bins: a sequence of edges has the range already")
            bins, edges = None, bins
        given = [name for name, value in (("bins", bins), ("edges", edges), ("labels", labels), ("lookup", lookup), ("joint", joint)) if value is not None]
        if len(given) != 1:
            raise InvalidArgument(f"binning: one of bins, edges, labels, lookup and joint, and {' and '.join(given) or 'none'} given")
        if range is not None and bins is None:
            raise InvalidArgument(f"range: it goes with bins, and {given[0]} are given")
        if ignored is not None and labels is None:
            raise InvalidArgument("ignored: it goes with labels")
        says: tuple[Any, ...]
        if bins is not None:
            if range is None:
                raise InvalidArgument("range: bins need one")
            lo, hi = range
            says = ("uniform", int(bins), float(lo), float(hi))
            rule = _core.binning_uniform(*says[1:])
        elif edges is not None:
            says = ("edges", tuple(float(e) for e in np.asarray(edges, float).ravel()))
            rule = _core.binning_edges(list(says[1]))
        elif labels is not None:
            says = ("labels", int(labels), None if ignored is None else int(ignored))
            rule = _core.binning_labels(*says[1:])
        elif lookup is not None:
            table = np.asarray(lookup)
            if table.ndim != 1 or table.dtype.kind not in "iu":
                raise InvalidArgument(f"lookup: {table.ndim} dimensions of {table.dtype}; it is one row of whole numbers")
            if table.size and (int(table.max()) > 2**31 - 1 or int(table.min()) < -2**31):
                raise InvalidArgument("lookup: a bin beyond 32-bit integers")
            says = ("lookup", tuple(table.tolist()))
            rule = _core.binning_lookup(list(says[1]))
        else:
            parts = tuple(joint or ())
            if not all(isinstance(part, Binning) for part in parts):
                raise InvalidArgument("joint: its parts must be areal.Binning, one a channel")
            says = ("joint", parts)
            rule = _core.binning_joint([part._rule for part in parts])
        self._rule: _core.BinningRule = rule.clamped() if clamp else rule
        self._says = (*says, bool(clamp))
        self._hash = hash(self._says)

    @classmethod
    def of_dtype(cls, dtype: Any, bins: int) -> Binning:
        """The full range of an integer dtype in equal bins: [0, 256) for uint8."""
        kind = np.dtype(dtype_name(dtype))
        if kind.kind == "f":
            raise InvalidArgument(f"range: pixels of {kind} need one")
        info = (0, 255) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        return cls(bins, (info[0], info[1] + 1))

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self._rule.bins

    @property
    def channels(self) -> int:
        """The channels that it reads: 1; with joint bins 2 or 3."""
        return self._rule.channels

    @property
    def edges(self) -> Array:
        """bins + 1 rising edges; 0, 1, 2, .. for labels, lookup and joint."""
        return np.asarray(self._rule.bin_edges())

    def bin_of(self, value: float) -> int:
        """The bin of a pixel value, -1 for none. Not for joint bins."""
        return self._rule.bin_of(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Binning) and self._says == other._says

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return _binning, self._says

    def __repr__(self) -> str:
        kind, *says, clamp = self._says
        if kind == "uniform":
            words = f"{says[0]}, range=({says[1]:g}, {says[2]:g})"
        elif kind == "labels":
            words = f"labels={says[0]}" + (f", ignored={says[1]}" if says[1] is not None else "")
        elif kind == "joint":
            words = f"joint={list(says[0])}"
        else:
            words = f"{kind}={_short(says[0])}"
        return f"areal.Binning({words}{', clamp=True' if clamp else ''})"


def _short(values: tuple[float, ...]) -> str:
    return f"[{', '.join(f'{v:g}' for v in values[:3])}, ... {values[-1]:g}]" if len(values) > 6 else str(list(values))


def _binning(kind: str, *says: Any) -> Binning:
    *what, clamp = says
    if kind == "uniform":
        return Binning(what[0], (what[1], what[2]), clamp=clamp)
    if kind == "labels":
        return Binning(labels=what[0], ignored=what[1])
    return Binning(clamp=clamp, **{kind: what[0]})


def binning_of(dtype: str, bins: Any, range: tuple[float, float] | None, edges: Any, labels: int | None, ignored: int | None, lookup: Any,
               joint: Sequence[Binning] | None, clamp: bool) -> Binning:
    """The binning of a call's arguments for pixels of that dtype. Raises InvalidArgument for floats without a range."""
    if isinstance(bins, Binning):
        if any(other is not None for other in (range, edges, labels, ignored, lookup, joint)) or clamp:
            raise InvalidArgument("bins: a Binning says everything, and more was given")
        return bins
    alone = all(other is None for other in (range, edges, labels, ignored, lookup, joint))
    if alone and isinstance(bins, (int, np.integer)):
        if np.dtype(dtype).kind == "f":
            raise InvalidArgument(f"range: pixels of {dtype} need one, as their bins would depend on the image")
        whole = Binning.of_dtype(dtype, int(bins))
        return Binning(whole.bins, (float(whole.edges[0]), float(whole.edges[-1])), clamp=True) if clamp else whole
    return Binning(bins, range, edges=edges, labels=labels, ignored=ignored, lookup=lookup, joint=joint, clamp=clamp)
