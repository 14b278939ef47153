"""What notebooks show, errors, and arrays of other libraries."""

from __future__ import annotations

import base64
import mmap
import pathlib
import re
import struct
import sys
import zlib

import numpy as np
import pytest

import areal
from areal import _display

SEED = 20261122


def decoded(data: bytes) -> np.ndarray:
    """The pixels of a PNG with filter 0, checking every chunk; shares no code with the writer."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at:at + 4])
        kind, body, (crc,) = data[at + 4:at + 8], data[at + 8:at + 8 + size], struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert zlib.crc32(kind + body) == crc
        chunks[kind] = body
        at += 12 + size
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert depth == 8 and rest == [0, 0, 0] and list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape((height, width, 3) if colour == 2 else (height, width))


def picture_of(words: str) -> np.ndarray:
    return decoded(base64.b64decode(re.search("base64,([^']*)'", words).group(1)))


def test_pngs() -> None:
    rng = np.random.default_rng(SEED)
    for shape in ((1, 1), (5, 7), (5, 7, 3)):
        x = rng.integers(0, 256, shape).astype(np.uint8)
        assert np.array_equal(decoded(_display.png(x)), x)


def test_html_of_tables() -> None:
    x = np.random.default_rng(SEED).integers(0, 256, (40, 60)).astype(np.uint8)
    words = areal.sat(x, squares=True)._repr_html_()
    for part in ("areal.Sat", "HW 40x60 uint8", "41x61 uint32, 9.77 KiB", "squares", "41x61 uint64", "tiles on cpu: ", "backend cpu"):
        assert part in words
    assert np.array_equal(picture_of(words), _display.stretched(x.astype(float)))
    large = areal.sat(np.repeat(np.repeat(x, 8, 0), 8, 1))
    shown = picture_of(large._repr_html_())
    assert shown.shape == (85, 128)
    flat = areal.sat(np.full((5, 5), 7, np.uint8))
    assert not picture_of(flat._repr_html_()).any()


@pytest.mark.parametrize("axes, shape, shown", [("HWC", (6, 9, 3), (6, 9, 3)), ("CHW", (5, 6, 9), (6, 9, 3)), ("NHW", (2, 6, 9), (6, 9)), ("NHWC", (2, 6, 9, 2), (6, 9)),
                                                ("NCHW", (2, 4, 6, 9), (6, 9, 3)), ("DHW", (4, 6, 9), (6, 9)), ("HW", (1, 300), (1, 128)), ("HW", (300, 1), (128, 1))])
@pytest.mark.parametrize("border", ["zero", "none"])
def test_thumbnails_of_all_axes(axes: str, shape: tuple[int, ...], shown: tuple[int, ...], border: str) -> None:
    x = np.random.default_rng(SEED).integers(0, 256, shape).astype(np.float32)
    t = areal.sat(x, axes, border=border)
    assert picture_of(t._repr_html_()).shape == shown


def test_tables_without_a_thumbnail_have_words() -> None:
    for t in (areal.sat(np.zeros((0, 5), np.uint8)), areal.sat(np.zeros((1, 1), np.uint8), border="exclusive"), areal.sat(np.zeros((3, 0), np.uint8), border="none")):
        assert "img" not in t._repr_html_() and "areal.Sat" in t._repr_html_()
    x = np.full((3, 3), np.nan, np.float32)
    assert not picture_of(areal.sat(x)._repr_html_()).any()
    assert "img" in areal.sat(np.ones((3, 3), np.uint8), border="exclusive")._repr_html_()


def test_html_of_tensors_and_plans() -> None:
    x = np.random.default_rng(SEED).integers(0, 256, (40, 60)).astype(np.uint8)
    words = areal.integral_histogram(x, 256)._repr_html_()
    assert "areal.Binning(256, range=(0, 256))" in words and "256x40x60 uint32" in words
    assert picture_of(words).shape == (40, 60) and np.abs(picture_of(words).astype(int) - _display.stretched(x.astype(float))).max() <= 1
    plan = areal.SatPlan((480, 640), "uint8")._repr_html_()
    assert "HW 480x640 uint8" in plan and "1.176 MiB in all" in plan and "img" not in plan


def test_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    x = np.random.default_rng(SEED).integers(0, 256, (40, 60)).astype(np.uint8)
    ax = areal.plot(areal.sat(x), [[1, 2, 30, 20], [4, 4, 3, 3]])
    assert np.array_equal(ax.images[0].get_array(), x) and len(ax.patches) == 2
    assert [label.get_text() for label in ax.texts] == [f"{x[2:22, 1:31].mean():.4g}", f"{x[4:7, 4:7].mean():.4g}"]
    same = areal.plot(areal.sat(np.dstack([x] * 3), "HWC"), ax=pyplot.subplots()[1], most=20)
    assert same.images[0].get_array().shape == (13, 20, 3)
    bars = areal.plot(areal.integral_histogram(x, 8))
    assert np.array_equal(bars.patches[0].get_data().values, np.histogram(x, 8, (0, 256))[0])
    pyplot.close("all")
    with pytest.raises(areal.InvalidArgument, match="not int"):
        areal.plot(3)
    with pytest.raises(areal.InvalidArgument, match="no pixels"):
        areal.plot(areal.sat(np.zeros((0, 3), np.uint8)))


def test_plot_without_matplotlib_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(areal.Unavailable, match="Matplotlib is not installed"):
        areal.plot(areal.sat(np.zeros((3, 3), np.uint8)))


def test_errors_have_pythons_bases() -> None:
    bases = {areal.InvalidArgument: ValueError, areal.OutOfMemory: MemoryError, areal.IoError: OSError, areal.DeviceError: RuntimeError}
    for error in (areal.InvalidArgument, areal.OutOfMemory, areal.IoError, areal.DeviceError, areal.Unavailable, areal.Cancelled):
        assert issubclass(error, areal.Error) and issubclass(error, bases.get(error, Exception))
    assert areal.OutOfMemory("words").bytes == 0 and areal.DeviceError("words").lost is False


def test_what_does_not_fit_says_how_many_bytes() -> None:
    plan = areal.SatPlan((1 << 20, 1 << 19), "uint8", table_dtype="uint64")
    with pytest.raises(areal.OutOfMemory) as caught:
        plan(_view_of(1 << 20, 1 << 19))
    assert caught.value.bytes == plan.table_bytes and str(plan.table_bytes) in str(caught.value)


def _view_of(height: int, width: int) -> np.ndarray:
    """An image of more address space than memory, never read."""
    memory = mmap.mmap(-1, height * width, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    return np.frombuffer(memory, np.uint8).reshape(height, width)


def test_unavailable_backends_say_why() -> None:
    for name, available, why in areal.backends():
        if not available:
            with pytest.raises(areal.Unavailable) as caught:
                areal.sat(np.ones((3, 3), np.uint8), backend=name)
            assert why in str(caught.value)


def test_the_simulated_machine_gives_the_same_table() -> None:
    if not any(name == "simt" and available for name, available, _ in areal.backends()):
        pytest.skip("this build has no simulated machine")
    x = np.random.default_rng(SEED).integers(0, 256, (50, 70)).astype(np.uint8)
    t = areal.sat(x, backend="simt")
    assert t.backend == "simt" and np.array_equal(t.array, areal.sat(x).array)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_arrays_of_the_array_api(dtype: str) -> None:
    strict = pytest.importorskip("array_api_strict")
    values = np.random.default_rng(SEED).integers(0, 2, (6, 9)).astype(dtype)
    x = strict.asarray(values, dtype=getattr(strict, dtype))
    t = areal.sat(x)
    assert np.array_equal(t.array, areal.sat(values).array) and t.array.dtype == areal.sat(values).array.dtype
    assert areal.SatPlan(x.shape, x.dtype)(x).sum([1, 1, 4, 4]) == values[1:5, 1:5].sum()
    bins = {"range": (0, 2)} if dtype.startswith("float") else {}
    assert np.array_equal(areal.histograms(x, 2, **bins), areal.histograms(values, 2, **bins))
    assert np.array_equal(areal.integral_histogram(x, 2, **bins).array, areal.integral_histogram(values, 2, **bins).array)
    assert t.sum(strict.asarray([[1, 1, 4, 4]])).tolist() == [values[1:5, 1:5].sum()]


def test_objects_with_the_protocols_are_read_in_place(tmp_path: pathlib.Path) -> None:
    x = np.random.default_rng(SEED).integers(0, 256, (6, 9)).astype(np.uint8)

    class Dlpack:
        def __dlpack__(self, **arguments: object) -> object:
            return x.__dlpack__(**arguments)

        def __dlpack_device__(self) -> tuple[int, int]:
            return x.__dlpack_device__()

    x.tofile(tmp_path / "pixels")
    mapped = np.memmap(tmp_path / "pixels", np.uint8, "r", shape=(6, 9))
    for other in (Dlpack(), memoryview(x), mapped, x.view(type("Sub", (np.ndarray,), {}))):
        assert np.array_equal(areal.sat(other, copy=False).array, areal.sat(x).array)
    for other in (x.tolist(), tuple(map(tuple, x)), type("Old", (), {"__array__": lambda self, dtype=None, copy=None: x})()):
        assert np.array_equal(areal.sat(other).array[-1, -1], x.sum())
