"""Arrays for the compiled module: copies of those that it cannot read in place, boxes, names of types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import InvalidArgument

Array = npt.NDArray[Any]

# Types of tables, by NumPy's name: areal's.
TABLE_TYPES = {"uint32": "32u", "int32": "32s", "uint64": "64u", "int64": "64s", "float32": "32f", "float64": "64f"}
_READABLE = "bool, integers of 8 to 64 bits and floats of 16, 32 and 64 bits"


def dtype_name(dtype: Any, argument: str = "dtype") -> str:
    """NumPy's name of a dtype in native byte order. Raises InvalidArgument if it is not a dtype."""
    for one in (dtype, str(dtype).rpartition(".")[2]):  # array_api_strict.float32, torch.float32
        try:
            known: np.dtype[Any] = np.dtype(one)
        except TypeError:
            continue
        return str(known.name)
    raise InvalidArgument(f"{argument} {dtype!r}: it is no dtype")


def native(array: Any, name: str, axes: str, memory: str) -> Array:
    """A copy in native byte order, with the axes in the memory order of `memory`, or in C order. O(elements)."""
    try:
        source = np.asarray(array)
    except Exception as error:
        raise InvalidArgument(f"{name}: {type(array).__name__} cannot be read as an array: {error}") from error
    if source.dtype.kind not in "biuf" or source.dtype.itemsize > 8:
        raise InvalidArgument(f"{name}: areal has no type for {source.dtype}; it takes {_READABLE}")
    dtype = source.dtype.newbyteorder("=")
    if not memory:
        return source.astype(dtype, order="C", copy=False)
    order = [axes.index(letter) for letter in memory]
    return np.ascontiguousarray(source.transpose(order), dtype=dtype).transpose([memory.index(letter) for letter in axes])


def words(extents: Any) -> str:
    """The extents as text: 480x640."""
    return "x".join(map(str, extents))


def on_host(x: Any) -> Array:
    """An array of any framework as a NumPy array; waits for and copies one on a device."""
    for to_host in ("detach", "cpu", "get", "numpy"):  # PyTorch's, CuPy's, areal.DeviceArray's way
        if not isinstance(x, np.ndarray) and hasattr(x, to_host):
            x = getattr(x, to_host)()
    return np.asarray(x)


def as_array(x: Any) -> Array:
    """A NumPy array over an object with an array protocol, without a copy if possible."""
    try:
        return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)
    except Exception as error:
        raise InvalidArgument(f"array: {type(x).__name__} cannot be read as an array: {error}") from error


def converted(array: Array, dtype: Any, copy: bool | None) -> Array:
    """The result of __array__."""
    if dtype is None or np.dtype(dtype) == array.dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(f"{array.dtype} cannot be read as {np.dtype(dtype)} without a copy")
    return array.astype(dtype)


def clips(outside: str) -> bool:
    """Does `outside` ask to clip boxes?"""
    if outside not in ("error", "clip"):
        raise InvalidArgument(f"outside {outside}: may be error or clip")
    return outside == "clip"
