"""Tables that lie in stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .zarr import ChunkedTable


def open(store: Any) -> ChunkedTable:
    """A chunked table that areal.zarr.write has written; see areal.zarr.open. Needs Zarr 3."""
    from . import zarr

    return zarr.open(store)
