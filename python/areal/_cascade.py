"""Objects by OpenCV's cascades."""

from __future__ import annotations

import operator
import os
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _core
from ._errors import InvalidArgument
from ._frameworks import NUMPY, framework_of


class Detection(NamedTuple):
    """A box: its first column and row, its size, and how many windows agreed on it."""

    x: int
    y: int
    width: int
    height: int
    neighbors: int


def _size(name: str, value: int | tuple[int, int] | None) -> tuple[int, int]:
    if value is None:
        return 0, 0
    try:
        if isinstance(value, (int, np.integer)):
            return int(value), int(value)
        width, height = value
        return operator.index(width), operator.index(height)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} {value!r}: it may be the width and height of a window, or one number for both") from None


class Cascade:
    """A detector of faces or other objects in OpenCV's XML: Haar, tilted Haar and LBP features, stumps and trees, in the new format and the old.

    Immutable; threads may share it. Raises IoError for a file that cannot be read, InvalidArgument for one that is no cascade, and Unavailable if areal was
    built without pugixml.

    path: of the XML file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._rule = _core.CascadeRule.load(os.fspath(path))

    @classmethod
    def parse(cls, text: str) -> Cascade:
        """The cascade of an XML text."""
        made = cls.__new__(cls)
        made._rule = _core.CascadeRule.parse(text)
        return made

    @property
    def window(self) -> tuple[int, int]:
        """Width and height of the smallest objects."""
        return self._rule.window

    @property
    def kind(self) -> Literal["haar", "lbp"]:
        """Its features: ``haar`` or ``lbp``."""
        return "lbp" if self._rule.kind == "lbp" else "haar"

    @property
    def stages(self) -> int:
        """The number of stages, which a window passes one after another."""
        return self._rule.stages

    @property
    def features(self) -> int:
        """The number of features."""
        return self._rule.features

    def __repr__(self) -> str:
        width, height = self.window
        return f"<areal.Cascade: {self.features} {self.kind} features in {self.stages} stages, windows from {width}x{height}>"

    def detect(self, image: Any, *, scale_factor: float = 1.1, min_neighbors: int = 3, min_size: int | tuple[int, int] | None = None,
               max_size: int | tuple[int, int] | None = None, threads: int = 0) -> list[Detection]:
        """The objects in a 2-D uint8 array: the boxes of OpenCV 4's detectMultiScale, for any number of threads, in the order that OpenCV has on one.

        scale_factor: the step from one window's size to the next, above 1.
        min_neighbors: a box needs more than so many windows that agree; 0 returns every window.
        min_size: width and height of the smallest windows, or one number for both; None for any. If no window lies between the sizes, OpenCV and areal search
        the size nearest to min_size.
        max_size: of the largest windows; None for any.
        threads: 0 for all.
        """
        on = NUMPY if type(image) is np.ndarray else framework_of(image)
        if not on.is_plain(image):
            raise InvalidArgument("image: cascades have no gradients, and cannot be traced; detach the array")
        if on is NUMPY:
            image = np.asarray(image)
        found = self._rule.detect(on, image, scale_factor, min_neighbors, _size("min_size", min_size), _size("max_size", max_size), threads)
        return [Detection(*box) for box in found]
