"""Arrays in CUDA memory: how they are read, whose allocator and stream are used, what waits and what only queues.

The first part reads arrays that only claim to lie on a device, and runs anywhere; the rest needs a GPU.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
from typing import Any, Iterator

import numpy as np
import pytest

import areal
from areal import _core

torch: Any = pytest.importorskip("torch")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
try:
    import cupy
except ImportError:
    cupy = None
needs_cupy = pytest.mark.skipif(cupy is None or not torch.cuda.is_available(), reason="no CuPy, or no CUDA device")
SEED = int(os.environ.get("AREAL_TEST_SEED", "20261122"))
SLEEP = 4_000_000_000  # cycles, some 2.2 s: longer than the first call of a plan, which loads its kernels


# ---------------------------------------------------------------- arrays that only say where they lie


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64),
                ("tensor", DLTensor)]


class Fake:
    """4 x 6 float32 on device 1, as DLPack has it; it writes down the streams that it was asked with."""

    def __init__(self, versioned: bool = True, device: int = 2, flags: int = 0, major: int = 1) -> None:
        self.versioned, self.device, self.asked = versioned, device, []  # type: ignore[var-annotated]
        self.shape, self.strides = (ctypes.c_int64 * 2)(4, 6), (ctypes.c_int64 * 2)(8, 1)
        tensor = DLTensor(0x10000, device, 1, 2, 2, 32, 1, self.shape, self.strides, 64)
        self.managed: Any = ManagedVersioned(major, 0, None, None, flags, tensor) if versioned else Managed(tensor, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 1)

    def __dlpack__(self, **given: Any) -> Any:
        self.asked.append(given)
        if "max_version" in given and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new(ctypes.addressof(self.managed), self.name, None)


class FakeInterface:
    """An array of which only `__cuda_array_interface__` is known."""

    def __init__(self, **changes: Any) -> None:
        self.__cuda_array_interface__ = {"shape": (4, 6), "typestr": "<f4", "data": (0x20000, False), "strides": (32, 4), "version": 3, "stream": None, **changes}


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_is_asked_with_the_stream(versioned: bool) -> None:
    for stream, passed in ((0, 1), (1, 1), (2, 2), (0x7000, 0x7000)):
        fake = Fake(versioned)
        read = _core.describe_array(fake, stream)
        assert read == {"data": 0x10040, "shape": [4, 6], "strides": [8, 1], "dtype": "float32", "device": 1, "stream": passed, "read_only": False}
        assert [given["stream"] for given in fake.asked] == [passed] * (1 if versioned else 2)


def test_host_arrays_are_asked_with_none() -> None:
    fake = Fake(device=1)
    assert _core.describe_array(fake, 0x7000)["device"] is None and fake.asked[0]["stream"] is None


def test_read_only_and_later_versions() -> None:
    assert _core.describe_array(Fake(flags=1), 1)["read_only"]
    with pytest.raises(areal.InvalidArgument, match="no array"):
        _core.describe_array(Fake(major=2), 1)
    with pytest.raises(areal.InvalidArgument, match="device"):
        _core.describe_array(Fake(device=8), 1)


def test_the_interface_of_cuda_arrays() -> None:
    read = _core.describe_array(FakeInterface(), 0x7000)
    assert read == {"data": 0x20000, "shape": [4, 6], "strides": [8, 1], "dtype": "float32", "device": 0, "stream": 0x7000, "read_only": False}
    assert _core.describe_array(FakeInterface(strides=None, data=(0x20000, True)), 1)["read_only"]
    assert _core.describe_array(FakeInterface(typestr="|b1", strides=None), 1)["dtype"] == "uint8"
    assert _core.describe_array(FakeInterface(stream=0x7000), 0x7000)["stream"] == 0x7000  # its own stream: nothing to wait for
    for changes, why in (({"typestr": ">f4"}, ">f4"), ({"typestr": "<c8"}, "c8"), ({"strides": (32, 3)}, "stride"), ({"mask": object()}, "mask")):
        with pytest.raises(areal.InvalidArgument, match=why):
            _core.describe_array(FakeInterface(**changes), 1)


def test_the_exchange_api_comes_first_and_the_interface_last() -> None:
    class Both(Fake):
        @property
        def __cuda_array_interface__(self) -> Any:
            raise AssertionError("DLPack comes before it")

    assert _core.describe_array(Both(), 1)["data"] == 0x10040

    class Loud(torch.Tensor):  # type: ignore[misc]
        def __dlpack__(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("the exchange API comes before it")

    x = torch.ones(3, 4)
    assert _core.describe_array(x.as_subclass(Loud))["data"] == x.data_ptr()


def test_what_is_no_array() -> None:
    for x in (3, "x", [[1, 2]], object()):
        with pytest.raises(areal.InvalidArgument, match="no array"):
            _core.describe_array(x)


@needs_gpu
def test_orders_that_are_no_permutation() -> None:
    array = _core.DeviceArray([3, 4], "float32")
    for order in ([0], [0, 0], [0, 2], [0, 1, 1], [0, 1, 2], list(range(1000))):
        with pytest.raises(areal.InvalidArgument, match="order"):
            array.permuted(order)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_device_arrays_are_unavailable() -> None:
    with pytest.raises(areal.Unavailable):
        areal.sat(Fake())
    with pytest.raises(areal.Unavailable):
        _core.DeviceArray([3, 4], "float32")


class Cupyish(np.ndarray):
    """An array of the host that areal takes for CuPy's: it is read by `__dlpack__`, and its framework makes what is new."""


Cupyish.__module__ = "cupy"


@pytest.fixture
def cupyish(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes such arrays; the functions of NumPy stand in CuPy's place, and boxes of NumPy in that of device boxes."""
    from areal import _frameworks

    monkeypatch.setitem(sys.modules, "cupy", np)

    class OnHost(_frameworks.CuPy):
        stream = None

        def is_on_device(self, x: Any) -> bool:
            return isinstance(x, np.ndarray)

    on = OnHost()
    monkeypatch.setattr(_frameworks, "_cupy", lambda: on)
    return lambda x: np.ascontiguousarray(x).view(Cupyish)


def pixels(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, 200, shape).astype(np.uint8)


def test_cupys_volumes_and_pieces_are_numpys(cupyish: Any) -> None:
    x = pixels(2, 9, 11)
    boxes = np.array([[1, 2, 0, 5, 6, 2], [0, 0, 1, 11, 9, 1]])
    volume, known = areal.sat(cupyish(x), "DHW"), areal.sat(x, "DHW")
    assert type(volume) is areal.Sat and volume._on is not known._on
    for given in (boxes, boxes.tolist()):
        np.testing.assert_allclose(volume.mean(given), known.mean(boxes))
    np.testing.assert_allclose(volume.mean(np.array([[0, 2, 1, 2, 8, 6]]), format="bbox"), known.mean([[0, 2, 1, 2, 8, 6]], format="bbox"))
    np.testing.assert_allclose(volume.mean([-1, -1, -1, 3, 3, 2], outside="clip"), x[:1, :2, :2].mean())
    for reverse in (False, True):
        whole = areal.sat(x, "NHW", border="none", reverse=reverse).array
        beside = {"above": whole[:, 5, 6:], "left": whole[:, 6:, 5], "corner": whole[:, 5, 5]}
        piece, part = x[:, 6:, 6:], whole[:, 6:, 6:]
        if reverse:
            beside, piece, part = {"above": whole[:, 5, :5], "left": whole[:, :5, 5], "corner": whole[:, 5, 5]}, x[:, :5, :5], whole[:, :5, :5]
        assert np.array_equal(areal.sat(cupyish(piece), "NHW", border="none", dtype="uint32", reverse=reverse, **beside).array, part)


def test_cupys_tables_have_what_numpys_have(cupyish: Any) -> None:
    for axes, shape in (("HW", (9, 11)), ("CHW", (3, 9, 11)), ("HWC", (9, 11, 6))):
        x = pixels(*shape)
        tilted = axes != "HWC"
        made, known = areal.sat(cupyish(x), axes, squares=True, tilted=tilted), areal.sat(x, axes, squares=True, tilted=tilted)
        for name in ("array", "squares", "tilted"):
            assert np.array_equal(getattr(made, name), getattr(known, name)), name
        assert repr(made) == repr(known) and made.nbytes == known.nbytes and made.backend == known.backend
        for boxes in ([1, 2, 3, 4], [[1, 2, 3, 4]], np.array([[1, 2, 3, 4], [0, 0, 11, 9]])):
            for name in ("sum", "mean", "std"):
                assert np.array_equal(getattr(made, name)(boxes), getattr(known, name)(boxes)), name
        assert np.array_equal(made.window((3, 2), stat="var"), known.window((3, 2), stat="var"))
        if tilted:
            assert np.array_equal(made.tilted_sum([[4, 1, 3, 2]]), known.tilted_sum([[4, 1, 3, 2]]))
        plan = areal.SatPlan(shape, "uint8", axes, squares=True)
        outs = (np.empty_like(known.array), np.empty_like(known.squares))
        assert plan(cupyish(x), out=outs).array is outs[0] and np.array_equal(outs[1], known.squares)
    assert areal.sat(cupyish(x), axes).sum([[1, 2, 3, 4]], refused=True)[1] == -1


def test_cupys_histograms_are_numpys(cupyish: Any) -> None:
    x = pixels(2, 9, 11)
    made, known = areal.integral_histogram(cupyish(x), 8, axes="NHW"), areal.integral_histogram(x, 8, axes="NHW")
    assert np.array_equal(made.array, known.array) and repr(made) == repr(known)
    boxes = [[1, 2, 3, 4], [0, 0, 11, 9]]
    assert np.array_equal(made.counts(boxes), known.counts(boxes))
    for name in ("normalised", "entropy", "median", "mode", "mean"):
        assert np.array_equal(getattr(made, name)(boxes), getattr(known, name)(boxes)), name
    target = known.counts([1, 2, 3, 4])[0]
    assert np.array_equal(made.distance(target, boxes), known.distance(target, boxes))
    assert np.array_equal(made.distance_map(target, 3), known.distance_map(target, 3))
    assert np.array_equal(areal.histograms(cupyish(x[0]), 8, boxes), areal.histograms(x[0], 8, boxes))


# ---------------------------------------------------------------- with a GPU


@pytest.fixture
def slow() -> Iterator[Any]:
    """A stream whose producer sleeps for SLEEP cycles, then fills x with ones."""
    stream = torch.cuda.Stream()
    x = torch.zeros(64, 96, device="cuda")
    areal.sat(x)  # the plan and what is loaded lazily
    torch.cuda.synchronize()

    class Slow:
        def __init__(self) -> None:
            self.stream, self.x = stream, x

        def produce(self, cycles: int = SLEEP) -> Any:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(cycles)
                x.fill_(1)
            return x

    yield Slow()
    torch.cuda.synchronize()


@needs_gpu
def test_a_sleeping_producer_is_waited_for_on_its_stream(slow: Any) -> None:
    with torch.cuda.stream(slow.stream):
        table = areal.sat(slow.produce()).array
        assert not slow.stream.query()  # queued, not waited for
        copy = table + 0
    slow.stream.synchronize()
    assert copy[-1, -1].item() == 64 * 96


@needs_gpu
def test_with_the_stream_withheld_it_fails(slow: Any) -> None:
    """The test above can fail: on another stream the pixels are read before they are there."""
    from areal import _torch_ops

    other = torch.cuda.Stream()

    class Elsewhere(_torch_ops.Torch):
        stream = staticmethod(lambda: other.cuda_stream)

    options = areal._sat._options(None, "zero", False, False, False, False, "auto", "auto", 0, 0)
    made = _core.sat(Elsewhere(), slow.produce(), options, "HW", None, None, None, None, None, None)
    other.synchronize()
    assert made.array[-1, -1].item() == 0
    torch.cuda.synchronize()


class ByDlpack:
    """An array of a framework that areal does not know, which hands over by `__dlpack__(stream=..)` alone."""

    def __init__(self, slow: Any, x: Any) -> None:
        self.slow, self.x = slow, x

    def __dlpack_device__(self) -> Any:
        return (2, self.x.device.index)

    def __dlpack__(self, stream: Any = None, **given: Any) -> Any:
        with torch.cuda.stream(self.slow.stream):  # where it was produced
            return self.x.__dlpack__(stream=stream)


class ByInterface:
    """One that has `__cuda_array_interface__` alone."""

    def __init__(self, slow: Any, x: Any) -> None:
        self.__cuda_array_interface__ = {**x.__cuda_array_interface__, "version": 3, "stream": slow.stream.cuda_stream}


@needs_gpu
@pytest.mark.parametrize("kind", [ByDlpack, ByInterface])
def test_another_framework_makes_its_producer_wait(slow: Any, kind: Any) -> None:
    """areal's own stream waits for the producer, and the consumer for areal."""
    # The driver waits for all queued work when it loads a kernel, allocates new memory or frees areal's own. So the kernels are loaded first, a table that
    # stays keeps memory there, and each kind has a test of its own: in a loop, the second table would free the first.
    stays = areal.sat(kind(slow, slow.produce(0)))
    slow.x.zero_()
    gc.collect()
    torch.cuda.synchronize()
    table = areal.sat(kind(slow, slow.produce()))
    assert isinstance(table.array, _core.DeviceArray) and not slow.stream.query()
    consumer = torch.cuda.Stream()
    with torch.cuda.stream(consumer):
        last = torch.from_dlpack(table.array)[-1, -1] + 0
    consumer.synchronize()
    assert last.item() == 64 * 96
    assert table.array.numpy()[-1, -1] == 64 * 96
    assert table.sum([0, 0, 96, 64]).numpy() == 64 * 96
    del stays


@needs_gpu
def test_memory_is_the_frameworks() -> None:
    x = torch.rand(1080, 1920, device="cuda")
    areal.sat(x)
    before = torch.cuda.memory_allocated()
    table = areal.sat(x)
    assert torch.cuda.memory_allocated() - before >= table.array.nbytes
    areal.sat(x)  # room for one more
    reserved, taken = torch.cuda.memory_reserved(), []
    for _ in range(5):  # of which one is quiet, where other processes share the GPU
        free = torch.cuda.mem_get_info()[0]
        for _ in range(20):
            areal.sat(x)
        taken.append(free - torch.cuda.mem_get_info()[0])
    assert 0 in taken, taken
    assert torch.cuda.memory_reserved() == reserved  # the caching allocator gave what it had


@needs_gpu
def test_device_boxes_only_queue_and_host_boxes_wait(slow: Any) -> None:
    boxes = torch.tensor([[0, 0, 96, 64], [1, 1, 2, 2], [90, 60, 20, 20]])
    on_device = boxes.cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(slow.stream):
        table = areal.sat(slow.produce())
        sums, first = table.sum(on_device, refused=True)
        plain = table.sum(on_device)
        assert not slow.stream.query()
        host = table.sum(boxes[:2])
        assert slow.stream.query() and host.is_cuda and host.tolist() == [64 * 96, 4]
        assert first.item() == 2 and sums[:2].tolist() == [64 * 96, 4] and torch.isnan(sums[2]) and torch.isnan(plain[2])
        assert table.sum(on_device[:2], refused=True)[1].item() == -1
        for format, spelled in (("xyxy", [[1, 1, 3, 3]]), ("bbox", [[1, 1, 3, 3]]), ("skimage", [[1, 1, 2, 2]])):
            assert table.sum(torch.tensor(spelled).cuda(), format=format).tolist() == [4]
        with pytest.raises(areal.InvalidArgument, match="2"):
            table.sum(boxes)


@needs_gpu
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_graphs_capture(dtype: str) -> None:
    """Captured without a warm-up on the graph's stream; two graphs may run at once; each replay has the bits of a call."""
    generator = torch.Generator().manual_seed(SEED)
    boxes = torch.tensor([[0, 0, 300, 200], [5, 6, 7, 8]]).cuda()
    graphs = []
    for _ in range(2):
        x = torch.zeros(200, 300, dtype=getattr(torch, dtype), device="cuda")
        areal.sat(x).sum(boxes)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            table = areal.sat(x, squares=True)
            sums = table.sum(boxes)
        graphs.append((graph, x, table, sums))
    streams = [torch.cuda.Stream() for _ in graphs]
    for _ in range(5):
        fresh = [torch.randint(0, 100, (200, 300), generator=generator).to(getattr(torch, dtype)) for _ in graphs]
        for (graph, x, *_), values in zip(graphs, fresh):
            x.copy_(values)
        torch.cuda.synchronize()
        for stream, (graph, *_) in zip(streams, graphs):
            with torch.cuda.stream(stream):
                graph.replay()
        eager = areal.sat(fresh[0].cuda(), squares=True)  # beside them
        torch.cuda.synchronize()
        for (_, x, table, sums), values in zip(graphs, fresh):
            again = areal.sat(x, squares=True)
            assert torch.equal(table.array, again.array) and torch.equal(table.squares, again.squares)
            assert torch.equal(sums, again.sum(boxes)) and sums[0].item() == values.double().sum().item()
        assert torch.equal(eager.array, graphs[0][2].array)


@needs_gpu
def test_two_streams_at_once_have_their_own_workspaces() -> None:
    x = torch.rand(1500, 1700, device="cuda")
    expected = areal.sat(x).array.clone()
    streams = [torch.cuda.Stream() for _ in range(4)]
    torch.cuda.synchronize()
    made = []
    for _ in range(10):
        for stream in streams:
            with torch.cuda.stream(stream):
                made.append(areal.sat(x).array)
    torch.cuda.synchronize()
    assert all(torch.equal(one, expected) for one in made)


@needs_gpu
def test_a_forked_child_says_why_not() -> None:
    program = """
import os, torch, areal
x = torch.ones(8, 8, device="cuda")
areal.sat(x)
child = os.fork()
if child == 0:
    try:
        areal.sat(x)
    except areal.Unavailable as error:
        assert "fork" in str(error)
        os._exit(0)
    except BaseException as error:
        print(repr(error), flush=True)
    os._exit(1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_cupy
def test_cupy_arrays_stay_cupys() -> None:
    rng = np.random.default_rng(SEED)
    for dtype in ("uint8", "int16", "float32", "float64"):
        host = rng.integers(0, 200, (37, 53)).astype(dtype)
        x = cupy.asarray(host)
        used = cupy.get_default_memory_pool().used_bytes()
        table = areal.sat(x, squares=True)
        assert isinstance(table.array, cupy.ndarray) and cupy.get_default_memory_pool().used_bytes() > used
        expected = areal.sat(host, squares=True)
        assert table.array.dtype == expected.array.dtype
        np.testing.assert_allclose(table.array.get(), expected.array, rtol=1e-6)
        boxes = np.array([[0, 0, 53, 37], [1, 2, 3, 4]])
        for given in (boxes, cupy.asarray(boxes)):
            for name in ("sum", "mean", "std"):
                np.testing.assert_allclose(getattr(table, name)(given).get(), getattr(expected, name)(boxes), rtol=1e-6)
        assert table.sum(cupy.asarray([[0, 0, 99, 99]]), refused=True)[1].item() == 0
        out = cupy.empty_like(table.array)
        assert areal.sat(x, out=out).array is out and (out == table.array).all()
        turned = areal.sat(x.T)
        np.testing.assert_allclose(turned.array.get(), expected.array.T, rtol=1e-6)


@needs_cupy
def test_cupys_current_stream_is_used() -> None:
    x = cupy.zeros((64, 96), "float32")
    areal.sat(x)
    cupy.cuda.Device().synchronize()
    sleeping = torch.cuda.Stream()
    with cupy.cuda.ExternalStream(sleeping.cuda_stream), torch.cuda.stream(sleeping):
        x.fill(1)
        areal.sat(x)  # the driver waits for everything where it loads a kernel or finds memory
        x.fill(0)
        sleeping.synchronize()
        torch.cuda._sleep(SLEEP)
        x.fill(1)
        table = areal.sat(x)
        assert not sleeping.query()
        last = table.array[-1, -1] + 0
    sleeping.synchronize()
    assert float(last) == 64 * 96


@needs_gpu
def test_windows_and_volumes_only_queue(slow: Any) -> None:
    boxes = torch.tensor([[1, 2, 0, 10, 3, 1]], device="cuda")
    areal.sat(slow.x).window(5), areal.sat(slow.x[None], "DHW").sum(boxes)  # plans, and what is loaded lazily
    torch.cuda.synchronize()
    with torch.cuda.stream(slow.stream):
        table = areal.sat(slow.produce())
        means = table.window(5)
        volume = areal.sat(slow.x[None], "DHW")
        sums = volume.sum(boxes)
        assert not slow.stream.query()
    slow.stream.synchronize()
    assert torch.equal(means, torch.ones_like(means)) and sums.tolist() == [30]


@needs_gpu
def test_windows_are_captured() -> None:
    x = torch.rand(64, 96, device="cuda")
    areal.sat(x, squares=True).window(7, stat="std")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        deviations = areal.sat(x, squares=True).window(7, stat="std")
    x.copy_(torch.rand(64, 96, generator=torch.Generator().manual_seed(SEED)))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(deviations, areal.sat(x, squares=True).window(7, stat="std"))


class ByInterface:
    """An array of which only the interface is known."""

    def __init__(self, x: Any) -> None:
        self.keep, self.shape, self.ndim, self.dtype = x, tuple(x.shape), x.ndim, str(x.dtype).removeprefix("torch.")
        self.__cuda_array_interface__ = {**x.__cuda_array_interface__, "version": 3}


@needs_gpu
@pytest.mark.skipif("AREAL_TEST_LARGE" not in os.environ, reason="takes 40 GiB of the GPU's memory; set AREAL_TEST_LARGE=1")
@pytest.mark.parametrize("border", ["none", "zero"])
def test_more_than_2_to_the_31_pixels(border: str) -> None:
    height, width, rows = 65536, 32769, 4096
    row = torch.arange(width, device="cuda").to(torch.uint8)
    t = areal.sat(row.expand(height, width).contiguous(), border=border)
    table = t.array if border == "none" else t.array[1:, 1:]
    sums = row.to(torch.int64).cumsum(0)
    for y in range(0, height, rows):
        expected = sums * torch.arange(y + 1, y + 1 + rows, device="cuda")[:, None]
        assert torch.equal(table[y:y + rows].to(torch.int64), expected), y
        del expected
    assert t.sum([0, 0, width, height]) == int(sums[-1]) * height
    assert t.sum([width - 3, height - 2, 3, 2]) == 2 * int(row[-3:].to(torch.int64).sum())


@needs_gpu
def test_device_arrays_answer_and_pickle() -> None:
    x = torch.randint(0, 256, (2, 37, 53), dtype=torch.uint8)
    there, host = ByInterface(x.cuda()), x.numpy()
    table, truth = areal.sat(there, "NHW", squares=True), areal.sat(host, "NHW", squares=True)
    assert isinstance(table.array, _core.DeviceArray)
    for stat in ("sum", "std"):
        np.testing.assert_array_equal(table.window((5, 4), stat=stat).numpy(), truth.window((5, 4), stat=stat))
    again = pickle.loads(pickle.dumps(table))
    assert isinstance(again.array, _core.DeviceArray) and again.array.device == table.array.device
    np.testing.assert_array_equal(again.array.numpy(), truth.array)
    np.testing.assert_array_equal(again.std([[1, 2, 3, 4]]).numpy(), truth.std([[1, 2, 3, 4]]))
    volume = areal.sat(there, "DHW")
    assert volume.sum([[1, 2, 0, 5, 6, 2]]).numpy() == [host[:, 2:8, 1:6].sum()]
    with pytest.raises(areal.InvalidArgument, match="arithmetic"):
        volume.mean([[1, 2, 0, 5, 6, 2]])
    with pytest.raises(areal.InvalidArgument, match="allocator"):
        areal.sat(there, "NHW", above=np.zeros((2, 53), np.uint32))
    made, known = areal.integral_histogram(there, 8, axes="NHW"), areal.integral_histogram(host, 8, axes="NHW")
    boxes = [[1, 2, 5, 4], [0, 0, 53, 37]]
    np.testing.assert_allclose(made.entropy(boxes).numpy(), known.entropy(boxes), atol=1e-12)
    np.testing.assert_array_equal(made.median(boxes).numpy(), known.median(boxes))
    target = known.counts(boxes[0])[0]
    np.testing.assert_allclose(made.distance_map(target, 9).numpy(), known.distance_map(target, 9), atol=1e-12)


@needs_cupy
def test_cupy_windows_volumes_pieces_pickles() -> None:
    host = np.random.default_rng(SEED).integers(0, 200, (2, 37, 53)).astype(np.uint8)
    x = cupy.asarray(host)
    table, truth = areal.sat(x, "NHW", squares=True), areal.sat(host, "NHW", squares=True)
    made = table.window((5, 4), stat="var", edge="wrap")
    assert isinstance(made, cupy.ndarray)
    np.testing.assert_array_equal(made.get(), truth.window((5, 4), stat="var", edge="wrap"))
    again = pickle.loads(pickle.dumps(table))
    assert isinstance(again.array, cupy.ndarray) and (again.std([1, 2, 3, 4]) == table.std([1, 2, 3, 4])).all()
    volume, boxes = areal.sat(x, "DHW"), np.array([[1, 2, 0, 5, 6, 2], [0, 0, 1, 53, 37, 1]])
    for given in (boxes, cupy.asarray(boxes)):
        np.testing.assert_allclose(volume.mean(given).get(), areal.sat(host, "DHW").mean(boxes))
    np.testing.assert_allclose(volume.mean(cupy.asarray([[0, 2, 1, 2, 8, 6]]), format="bbox").get(), areal.sat(host, "DHW").mean([[0, 2, 1, 2, 8, 6]], format="bbox"))
    whole = areal.sat(x, "NHW", border="none", dtype="uint32").array
    below = areal.sat(x[:, 20:, 30:], "NHW", border="none", dtype="uint32", above=whole[:, 19, 30:], left=whole[:, 20:, 29], corner=whole[:, 19, 29]).array
    assert (below == whole[:, 20:, 30:]).all()
    histogram, known = areal.integral_histogram(x, 8, axes="NHW"), areal.integral_histogram(host, 8, axes="NHW")
    np.testing.assert_array_equal(histogram.median([1, 2, 5, 6]).get(), known.median([1, 2, 5, 6]))
    assert (pickle.loads(pickle.dumps(histogram)).mode([[1, 2, 5, 6]]).get() == known.mode([[1, 2, 5, 6]])).all()
