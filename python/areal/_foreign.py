"""Which framework an array belongs to, told by its type alone: no framework is imported to find out."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ._errors import InvalidArgument


_known: dict[type, ModuleType] = {}


def framework_of(x: Any) -> ModuleType | None:
    """The module of areal that computes with arrays of x's kind; None for host arrays that NumPy can read."""
    known = _known.get(type(x))
    return _found(x) if known is None else known


def _found(x: Any) -> ModuleType | None:
    name = type(x).__module__
    if name == "numpy":
        return None
    if name.startswith("torch") or ("torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)):
        from . import torch

        if name == "torch":  # not a class of the user's, which may be gone tomorrow
            _known[type(x)] = torch
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


def execute(plan: Any, x: Any, out: Any, mask: Any, copy: bool | None, above: Any, left: Any, corner: Any) -> Any:
    """What a plan gives for an array of another framework; NotImplemented for host arrays that NumPy can read."""
    framework = framework_of(x)
    if framework is None:
        return NotImplemented
    if above is None and left is None and corner is None and framework.__name__ == "areal.torch":
        made = framework.execute_plan(plan, x, out, mask)
        if made is not None:
            return made
    shape, dtype, axes, table_dtype, border, squares, tilted, masked, ignore_nan, algorithm, backend, _, threads, reverse = plan._given
    if tuple(x.shape) != shape or str(x.dtype).rpartition(".")[2] != dtype:
        words = "x".join(map(str, x.shape))
        raise InvalidArgument(f"array: one of {words}, {x.dtype}; this plan is for {'x'.join(map(str, shape))}, {dtype}")
    if masked != (mask is not None):
        raise InvalidArgument("mask: a plan is made with mask=True where its calls pass one")
    if out is not None and hasattr(out, "array") and hasattr(out, "border"):
        out = out.array  # a table whose memory is used again
    return framework.sat(x, axes, dtype=table_dtype, border=border, squares=squares, tilted=tilted, mask=mask, ignore_nan=ignore_nan, algorithm=algorithm, **({"reverse": True} if reverse else {}),
                         backend=backend, threads=threads, out=out, copy=copy, above=above, left=left, corner=corner)
