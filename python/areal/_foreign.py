"""Which framework an array belongs to, told by its type alone: no framework is imported to find out."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def framework_of(x: Any) -> ModuleType | None:
    """The module of areal that computes with arrays of x's kind; None for host arrays that NumPy can read."""
    name = type(x).__module__
    if name == "numpy":
        return None
    if name.startswith("torch") or ("torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)):
        from . import torch

        return torch
    if name.startswith(("jax", "jaxlib")):
        from . import jax

        return jax
    if hasattr(x, "__cuda_array_interface__") or _is_on_cuda(x):
        from . import _cuda_arrays

        return _cuda_arrays
    return None


def _is_on_cuda(x: Any) -> bool:
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (2, 13)
