"""The metadata of chunked tables, and their validation. docs/chunked-tables.md specifies the format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ._errors import InvalidArgument, IoError

VERSION = 1
SHARD = 4096
SMALLEST_TILE = 64
LARGEST_TILE = {"bool": 4096, "uint8": 4096, "uint16": 256}  # the sum of a tile's pixels fits 32 bits
_MOST_PIXELS = 2**40  # a side; every offset then fits 63 bits
_MOST_METADATA = 1 << 20  # bytes of a zarr.json
_MOST_DEPTH = 32  # of its levels

_CODECS = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Format:
    """The image of a chunked table, height x width pixels, and its tiles."""

    height: int
    width: int
    tile: int
    dtype: str

    def __post_init__(self) -> None:
        if self.dtype not in LARGEST_TILE:
            raise InvalidArgument(f"dtype {self.dtype}: chunked tables are of {', '.join(LARGEST_TILE)}")
        most = LARGEST_TILE[self.dtype]
        if self.tile not in (sizes := [1 << k for k in range(SMALLEST_TILE.bit_length() - 1, most.bit_length())]):
            raise InvalidArgument(f"tile {self.tile}: of {self.dtype} pixels it may be {', '.join(map(str, sizes))}")
        if max(self.height, self.width) > _MOST_PIXELS:
            raise InvalidArgument(f"an image of {self.width}x{self.height}: a side may have 2^40 pixels")

    @property
    def tile_rows(self) -> int:
        return _ceil(self.height, self.tile)

    @property
    def tile_columns(self) -> int:
        return _ceil(self.width, self.tile)

    @property
    def tiles_per_shard(self) -> int:
        """The tiles of a shard along one axis."""
        return SHARD // self.tile

    def attributes(self) -> dict[str, Any]:
        return {"version": VERSION, "border": "none", "dtype": self.dtype}

    def arrays(self) -> dict[str, dict[str, Any]]:
        """The metadata of the group's four arrays."""
        shard = {
            "name": "sharding_indexed",
            "configuration": {"chunk_shape": [self.tile, self.tile], "codecs": _CODECS, "index_codecs": _CODECS, "index_location": "end"},
        }
        rows, columns = self.tile_rows, self.tile_columns
        return {
            "local": _array("uint32", [self.height, self.width], [SHARD, SHARD], [shard]),
            "top": _array("uint64", [rows, self.width], [1, max(self.width, 1)], _CODECS),
            "left": _array("uint64", [columns, self.height], [max(columns, 1), self.tile], _CODECS),
            "corner": _array("uint64", [rows, columns], [1, max(columns, 1)], _CODECS),
        }


def _array(data_type: str, shape: list[int], chunk: list[int], codecs: list[Any]) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": codecs,
        "attributes": {},
    }


def group_json(attributes: dict[str, Any]) -> bytes:
    return json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes}, indent=1).encode()


def _short(value: Any) -> str:
    words = json.dumps(value)
    return words if len(words) <= 100 else words[:97] + "..."


def _is_deeper(value: Any, levels: int) -> bool:
    """Does a value nest deeper than `levels`?"""
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in inner)


def parse(where: str, text: bytes) -> dict[str, Any]:
    """Parses a zarr.json. Raises IoError if it is not one, or exceeds the bytes or levels that the C++ library reads."""
    if len(text) > _MOST_METADATA:
        raise IoError(f"{where}: the metadata have {len(text)} bytes, more than any need")
    found = None
    try:
        found = json.loads(text)
        too_deep = _is_deeper(found, _MOST_DEPTH)
    except RecursionError:
        too_deep = True
    except ValueError as error:
        raise IoError(f"{where}: it is not JSON: {str(error).splitlines()[0]}") from None
    if too_deep:
        raise IoError(f"{where}: it nests more than {_MOST_DEPTH} levels, more than any need")
    if not isinstance(found, dict):
        raise IoError(f"{where}: it holds {_short(found)} instead of an object")
    return found


def check_group(where: str, metadata: dict[str, Any]) -> str:
    """The dtype of the pixels of a complete table. Raises IoError for any other group."""
    attributes = metadata.get("attributes")
    if metadata.get("zarr_format") != 3 or metadata.get("node_type") != "group" or not isinstance(attributes, dict):
        raise IoError(f"{where}: it is not a Zarr group of format 3")
    if "version" not in attributes:
        raise IoError(f"{where}: it is not a chunked table: the group has no attribute version")
    version, border, dtype = (attributes.get(name) for name in ("version", "border", "dtype"))
    if type(version) is not int or version != VERSION:
        raise IoError(f"{where}: attribute version is {_short(version)}: this areal reads version {VERSION}")
    if attributes.get("complete") is not True:
        raise IoError(f"{where}: the table is not complete: it has no attribute complete, as writing it was interrupted or still goes on")
    if border != "none":
        raise IoError(f'{where}: attribute border is {_short(border)}: chunked tables have "none"')
    if not isinstance(dtype, str) or dtype not in LARGEST_TILE:
        raise IoError(f"{where}: attribute dtype is {_short(dtype)}: it may be {', '.join(LARGEST_TILE)}")
    return dtype


def _plain(value: Any) -> Any:
    """Metadata without the optional empty configurations."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if not (key == "configuration" and inner == {})}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def check_arrays(where: str, dtype: str, found: dict[str, dict[str, Any]]) -> Format:
    """The format that the four arrays' metadata describe. Raises IoError if they do not match the specification."""
    try:
        shape, codecs = found["local"]["shape"], found["local"]["codecs"]
        tile = codecs[0]["configuration"]["chunk_shape"][0]
        numbers = [*shape, tile]
        if len(shape) != 2 or any(type(n) is not int or n < 0 for n in numbers):
            raise ValueError
    except (KeyError, IndexError, TypeError, ValueError):
        raise IoError(f"{where}: local has no shape of two numbers, or no sharding codec of square tiles") from None
    try:
        format = Format(numbers[0], numbers[1], tile, dtype)
    except InvalidArgument as error:
        raise IoError(f"{where}: local: {error}") from None
    for name, expected in format.arrays().items():
        for key in sorted({*expected, *found[name]} - {"attributes", "dimension_names"}, key=lambda key: (key != "shape", key)):
            if key == "storage_transformers" and found[name][key] == []:
                continue
            here, there = _plain(found[name].get(key)), _plain(expected.get(key))
            if json.dumps(here, sort_keys=True) != json.dumps(there, sort_keys=True):
                raise IoError(f"{where}: {name}: {key} is {_short(here)}, where the format has {_short(there)}")
    return format
