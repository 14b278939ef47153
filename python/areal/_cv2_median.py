"""``cv2.medianBlur``, for ``areal.cv2``, whose checks it uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import cv2 as _cv2
from . import filters
from ._errors import Error
from ._reaching import reaching

_MEDIANS = ("uint8", "uint16", "int16", "float32")


def medianBlur(src: NDArray[Any], ksize: int, dst: NDArray[Any] | None = None) -> NDArray[Any]:  # noqa: N802
    """Medians of the ksize x ksize window around every pixel: an array of src's shape and dtype.

    src: uint8, uint16, int16 or float32. ksize: odd; beyond 5, OpenCV takes uint8 alone. The image's edge is replicated. A window that holds a NaN
    gives NaN, where OpenCV's result is undefined. The time hardly depends on ksize. Raises areal.cv2.error. As cv2.medianBlur of OpenCV 4.14 and 5.0.
    """
    function = "medianBlur"
    image, _ = _cv2._image(function, src, _MEDIANS)
    if image.size == 0:
        raise _cv2._error(function, "src is empty", _cv2._ASSERTION)
    size = _cv2._whole(function, "ksize", ksize)
    if size < 1 or size % 2 == 0:
        raise _cv2._error(function, f"ksize {size}: it must be odd and positive", _cv2._ASSERTION)
    result, out = _cv2._output(function, "dst", dst, image.shape, image.dtype)
    x = _cv2._for_filters(image)
    axes = "HWC" if x.ndim == 3 else "HW"
    try:
        if size == 1:
            made = x
        elif size // 2 < min(x.shape[:2]) and (x.ndim == 2 or x.shape[2] <= 4) and not np.may_share_memory(x, out) and _cv2._for_filters(out) is out:
            made = filters.median(x, size, axes=axes, edge="replicate", out=out, backend="cpu")
        else:
            made = reaching("percentile", x, (size, size), "replicate", (size // 2, size // 2), axes)
    except Error as e:
        raise _cv2._error(function, str(e)) from e
    if made is not out:
        out[...] = made
    return result
