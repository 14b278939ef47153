"""``cv2.CascadeClassifier``, for ``areal.cv2``, whose checks it uses."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import cv2 as _cv2
from ._cascade import Cascade
from ._errors import Error, IoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Boxes = NDArray[np.int32] | tuple[()]

_BAD_CHANNELS = -15
_BLUE, _GREEN, _RED = 3735, 19235, 9798  # of 2^15


def _gray(function: str, image: Any) -> NDArray[np.uint8]:
    """The image as 2-D array; colours by the sum of OpenCV's BGR2GRAY."""
    if not isinstance(image, np.ndarray):
        raise _cv2._error(function, f"image is a {type(image).__name__}: it must be a NumPy array")
    if image.dtype != np.uint8:
        raise _cv2._error(function, f"image of {image.dtype.name}: it may be uint8", _cv2._ASSERTION)
    if image.ndim not in (2, 3):
        raise _cv2._error(function, f"image has {image.ndim} dimensions: it may have 2, or 3 with channels last")
    if image.ndim == 2 or image.shape[2] == 1:
        return image.reshape(image.shape[:2])
    if image.shape[2] not in (3, 4):
        raise _cv2._error(function, f"image has {image.shape[2]} channels: it may have 1, 3 or 4", _BAD_CHANNELS)
    blue, green, red = (image[:, :, i].astype(np.uint32) for i in range(3))
    return ((_BLUE * blue + _GREEN * green + _RED * red + (1 << 14)) >> 15).astype(np.uint8)


def _size(function: str, name: str, value: Any) -> tuple[int, int] | None:
    """OpenCV's Size: none of width and height is negative, or there is no limit."""
    try:
        width, height = (operator.index(side) for side in value) if len(value) else (0, 0)
    except (TypeError, ValueError):
        raise _cv2._error(function, f"{name} {value!r}: it must be a width and a height") from None
    return max(width, 0), max(height, 0)


class CascadeClassifier:
    """Detector of faces and other objects, from OpenCV's XML, new or old: the boxes of OpenCV 4's cv2.CascadeClassifier, in any number of threads.

    Boxes are in the order that OpenCV has on one thread. As in OpenCV, an object without a file, or with one that is missing, is empty. A file that is no
    cascade raises areal.cv2.error.

    filename: of the XML file.
    """

    def __init__(self, filename: str | None = None) -> None:
        self._cascade: Cascade | None = None
        if filename is not None:
            self.load(filename)

    def load(self, filename: str) -> bool:
        """Reads another file. False, and an empty object, if it is missing."""
        self._cascade = None
        try:
            self._cascade = Cascade(filename)
        except IoError:
            return False
        except Error as e:
            raise _cv2._error("load", str(e)) from e
        return True

    def empty(self) -> bool:
        """Is no cascade loaded?"""
        return self._cascade is None

    def getOriginalWindowSize(self) -> tuple[int, int]:  # noqa: N802
        """Width and height of the smallest objects."""
        return self._loaded("getOriginalWindowSize").window

    def getFeatureType(self) -> int:  # noqa: N802
        """0 for Haar features, 1 for LBP."""
        return int(self._loaded("getFeatureType").kind == "lbp")

    def isOldFormatCascade(self) -> bool:  # noqa: N802
        """False, as in OpenCV 4, which converts old files."""
        self._loaded("isOldFormatCascade")
        return False

    def detectMultiScale(self, image: NDArray[Any], scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0, minSize: Sequence[int] = (),  # noqa: N802
                         maxSize: Sequence[int] = ()) -> Boxes:  # noqa: N803
        """Boxes as int32 rows of x, y, width, height; () without any.

        image: uint8, with 1 channel, or with 3 or 4, which BGR2GRAY turns to gray. minNeighbors: a box needs more windows than this. flags: ignored,
        as in OpenCV 4. minSize, maxSize: width and height of the smallest and largest windows.
        """
        return self._detect("detectMultiScale", image, scaleFactor, minNeighbors, minSize, maxSize)[0]

    def detectMultiScale2(self, image: NDArray[Any], scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0, minSize: Sequence[int] = (),  # noqa: N802
                          maxSize: Sequence[int] = ()) -> tuple[Boxes, Boxes]:  # noqa: N803
        """The same, and the number of windows of each box."""
        return self._detect("detectMultiScale2", image, scaleFactor, minNeighbors, minSize, maxSize)

    def _loaded(self, function: str) -> Cascade:
        if self._cascade is None:
            raise _cv2._error(function, "no cascade is loaded", _cv2._ASSERTION)
        return self._cascade

    def _detect(self, function: str, image: Any, scale_factor: Any, min_neighbors: Any, min_size: Any, max_size: Any) -> tuple[Boxes, Boxes]:
        cascade = self._loaded(function)
        factor = _cv2._number(function, "scaleFactor", scale_factor)
        if factor <= 1:
            raise _cv2._error(function, f"scaleFactor {factor}: it must be above 1", _cv2._ASSERTION)
        least = max(_cv2._whole(function, "minNeighbors", min_neighbors), 0)
        try:
            found = cascade.detect(_cv2._for_filters(_gray(function, image)), scale_factor=factor, min_neighbors=least,
                                   min_size=_size(function, "minSize", min_size), max_size=_size(function, "maxSize", max_size))
        except Error as e:
            if hasattr(e, "code"):  # one of ours
                raise
            raise _cv2._error(function, str(e)) from e
        if not found:
            return (), ()
        table = np.array(found, np.int32)
        return np.ascontiguousarray(table[:, :4]), np.ascontiguousarray(table[:, 4])
