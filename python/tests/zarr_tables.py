"""What tests of chunked tables in Zarr stores share: pixels, the specification's formula, and stores that count or fail."""

from __future__ import annotations

import pathlib
from typing import Any

import areal
import areal.zarr
import numpy as np
import zarr
from zarr.storage import MemoryStore, WrapperStore

ARRAYS = ("local", "top", "left", "corner")


def random_pixels(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, shape).astype(bool) if dtype == "bool" else rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def random_boxes(seed: int, count: int, height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.integers(0, width + 1, (count, 2)), 1), np.sort(rng.integers(0, height + 1, (count, 2)), 1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], 1)


def expected_sums(pixels: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    return np.array([pixels[y : y + h, x : x + w].sum(dtype=np.uint64) for x, y, w, h in boxes], dtype=np.uint64)


def whole_table(store: Any, tile: int) -> np.ndarray:
    """The table as Zarr reads the four arrays: the specification's formula, and none of areal's code."""
    group = zarr.open_group(store, mode="r")
    local, top, left, corner = (group[name][:] for name in ARRAYS)
    assert [a.dtype for a in (local, top, left, corner)] == [np.uint32, np.uint64, np.uint64, np.uint64]
    y, x = np.mgrid[: local.shape[0], : local.shape[1]]
    return local + top[y // tile, x] + left[x // tile, y] - corner[y // tile, x // tile]


def check_table(store: Any, tile: int, pixels: np.ndarray) -> None:
    np.testing.assert_array_equal(whole_table(store, tile), pixels.astype(np.uint64).cumsum(0).cumsum(1))


class Counting(WrapperStore):
    """Writes down what is read: key and bytes."""

    def __init__(self, store):
        super().__init__(store)
        self.reads = []

    async def get(self, key, prototype, byte_range=None):
        got = await super().get(key, prototype, byte_range)
        self.reads.append((key, -1 if got is None else len(got)))
        return got


class Failing(WrapperStore):
    """Fails at the n-th object that is written, and after it."""

    def __init__(self, store, left):
        super().__init__(store)
        self.left = left

    async def set(self, key, value):
        self.left[0] -= 1
        if self.left[0] < 0:
            raise OSError("no space left")
        await super().set(key, value)


class Interrupted(WrapperStore):
    """Fails at the n-th object that is written or removed, and after it. Folders are emptied object by object, in the order of their names or against it."""

    def __init__(self, store, left, backward=False):
        super().__init__(store)
        self.left, self.backward = left, backward

    def _count(self):
        self.left[0] -= 1
        if self.left[0] < 0:
            raise OSError("permission denied")

    async def set(self, key, value):
        self._count()
        await super().set(key, value)

    async def delete(self, key):
        if await self._store.exists(key):
            self._count()
            await super().delete(key)

    async def delete_dir(self, prefix):
        for key in sorted([key async for key in self._store.list_prefix(f"{prefix}/")], reverse=self.backward):
            await self.delete(key)


def objects_of(store: MemoryStore) -> dict[str, bytes]:
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


def files_of(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def written(height: int = 300, width: int = 200, tile: int = 64, seed: int = 9) -> tuple[MemoryStore, np.ndarray]:
    pixels = random_pixels(seed, (height, width), "uint8")
    store = MemoryStore()
    areal.zarr.write(pixels, store, tile)
    return store, pixels


def put(store: MemoryStore, key: str, data: bytes) -> None:
    store._store_dict[key] = zarr.core.buffer.default_buffer_prototype().buffer.from_bytes(data)


def check_sentence(error: BaseException) -> None:
    sentence = str(error)
    assert sentence and "\n" not in sentence and len(sentence) < 400, sentence
