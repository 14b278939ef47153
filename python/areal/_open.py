"""Tables in stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .zarr import ChunkedTable


def open(store: Any) -> ChunkedTable:
    """Opens a chunked table that areal.zarr.write wrote; see areal.zarr.open. Needs Zarr 3."""
    from . import zarr

    return zarr.open(store)
