"""The display of tables, tensors and plans in notebooks."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import Any

import numpy as np

from ._arrays import Array, on_host


def png(pixels: Array) -> bytes:
    """Encodes H x W or H x W x 3 uint8 pixels as PNG."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each begins with its filter, none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


def grid(height: int, width: int, most: int) -> tuple[Array, tuple[int, int]]:
    """Boxes (x, y, width, height) of at most `most` rows and columns of cells that cover an image, and the numbers of rows and columns."""
    rows, columns = min(height, most), min(width, most)
    if height > width:
        columns = max(1, min(columns, width * rows // height))
    else:
        rows = max(1, min(rows, height * columns // width))
    y, x = np.arange(rows + 1) * height // rows, np.arange(columns + 1) * width // columns
    top, left = np.meshgrid(y[:-1], x[:-1], indexing="ij")
    bottom, right = np.meshgrid(y[1:], x[1:], indexing="ij")
    return np.stack([left, top, right - left, bottom - top], -1).reshape(-1, 4), (rows, columns)


def means(table: Any, most: int) -> Array | None:
    """The image of a table or tensor as means of at most `most` x `most` cells: rows x columns, or rows x columns x 3. Shows the first image of a
    batch, and the sum of a volume's slices. None if no cell can be answered. O(cells)."""
    extent = dict(zip(table.axes, table.image_shape))
    if 0 in table.image_shape or getattr(table, "reverse", False) and (table.border != "zero" or "D" in extent):
        return None
    lacks = 1 if getattr(table, "border", "") == "exclusive" else 0  # the last row and column
    height, width = extent["H"] - lacks, extent["W"] - lacks
    if height < 1 or width < 1:
        return None
    boxes, (rows, columns) = grid(height, width, most)
    if table.axes == "DHW":
        depth = extent["D"] - lacks
        if depth < 1:
            return None
        boxes = np.concatenate([boxes[:, :2], np.zeros_like(boxes[:, :1]), boxes[:, 2:], np.full_like(boxes[:, :1], depth)], 1)
    values = on_host(table.mean(boxes)).astype(float)
    if "N" in extent:
        values = values[:, 0]
    if values.ndim == 2:
        values = values[:, :3] if values.shape[1] >= 3 else values[:, 0]
    return values.reshape(rows, columns, *values.shape[1:])


def stretched(values: Array) -> Array:
    """Scales the smallest to the largest finite value to uint8; other values become 0."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros(values.shape, np.uint8)
    low, high = float(values[finite].min()), float(values[finite].max())
    scale = 255 / (high - low) if high > low else 0.0
    return np.where(finite, np.clip((np.where(finite, values, low) - low) * scale + 0.5, 0, 255), 0).astype(np.uint8)


def as_html(title: str, rows: list[tuple[str, str]], picture: Array | None) -> str:
    """HTML: a table of names and values next to a thumbnail."""
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
                    for name, value in rows)
    image = ""
    if picture is not None:
        data = base64.b64encode(png(stretched(picture))).decode()
        image = f"<td><img alt='means of the pixels' style='image-rendering:pixelated' src='data:image/png;base64,{data}'></td>"
    return f"<table><tr><td><b>{html.escape(title)}</b><table>{cells}</table></td>{image}</tr></table>"


def size_words(count: int) -> str:
    """The number of bytes, also in a suitable unit."""
    value, unit = float(count), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{count:,} bytes" if unit == "bytes" else f"{value:.4g} {unit}"
