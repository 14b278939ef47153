"""areal.SatPlan: calls, threads, streams of frames, pickles."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import areal
import tables

pytestmark = pytest.mark.sanitize

SEED = 20261122


def image(shape: tuple[int, ...], dtype: str = "uint8", seed: int = SEED) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, shape).astype(dtype)


def test_a_plan_is_called_with_arrays_of_its_shape_and_dtype() -> None:
    plan = areal.SatPlan((30, 40), "uint8")
    x = image((30, 40))
    out = np.zeros((31, 41), np.uint32)
    assert plan(x, out=out).array is out and tables.same(out, tables.table(x))
    assert plan(x, out).array is out
    assert tables.same(plan(x).array, tables.table(x)) and plan(x).array is not plan(x).array
    for other in (np.asfortranarray(x), x[::-1], np.pad(x, 3)[3:-3, 3:-3]):
        assert tables.same(plan(other).array, tables.table(other))
    assert (plan.shape, plan.dtype, plan.table_dtype, plan.axes, plan.border, plan.backend) == ((30, 40), "uint8", "uint32", "HW", "zero", "cpu")
    assert plan.table_bytes == 31 * 41 * 4 and plan.workspace_bytes > 0 and "backend cpu" in plan.reason
    assert repr(plan) == "<areal.SatPlan HW 30x40 uint8 to uint32, border zero, tiles on cpu>"
    for bad in (image((30, 41)), image((30, 40), "uint16"), image((30, 40, 1))):
        with pytest.raises(areal.InvalidArgument, match="this plan is for 30x40, uint8"):
            plan(bad)
    for arguments, named in (((), {}), ((x, out, None), {}), ((x,), {"into": out}), ((x,), {"x": x})):
        with pytest.raises(TypeError):
            plan(*arguments, **named)


def test_a_plan_takes_the_options_of_sat() -> None:
    x = image((6, 9, 3))
    mask = x[..., 0] > 99
    plan = areal.SatPlan(x.shape, x.dtype, "HWC", table_dtype="uint64", border="none", squares="float64", mask=True, threads=2)
    t = plan(x, mask=mask)
    assert t.array.dtype == np.uint64 and t.squares.dtype == np.float64
    assert tables.same(t.array, tables.table(x * mask[..., None], "HWC", "none"))
    with pytest.raises(areal.InvalidArgument, match="mask"):
        plan(x)
    with pytest.raises(areal.InvalidArgument, match="mask"):
        areal.SatPlan(x.shape, x.dtype, "HWC")(x, mask=mask)
    for bad in ({"shape": (3, -1)}, {"dtype": "complex64"}, {"dtype": "nothing"}, {"axes": "WH"}, {"border": "all"}, {"table_dtype": "int8"}):
        with pytest.raises(areal.InvalidArgument):
            areal.SatPlan(**{"shape": (3, 4), "dtype": "uint8", **bad})


def test_carries_in_a_plan() -> None:
    x = image((20, 30))
    whole = tables.table(x)
    plan = areal.SatPlan((10, 18), "uint8", border="none")
    t = plan(x[10:, 12:], above=whole[10, 13:], left=whole[11:, 12], corner=whole[10, 12])
    assert tables.same(t.array, whole[11:, 13:])


def test_plans_pickle() -> None:
    plan = areal.SatPlan((30, 40, 3), np.uint8, "HWC", table_dtype=np.uint64, squares=True, threads=1)
    back = pickle.loads(pickle.dumps(plan))
    x = image((30, 40, 3))
    assert repr(back) == repr(plan) and np.array_equal(back(x).squares, plan(x).squares)


@pytest.mark.parametrize("threads", [1, 2])
def test_eight_threads_on_one_plan_give_the_same_bits(threads: int) -> None:
    plan = areal.SatPlan((301, 517), "float32", table_dtype="float32", threads=threads)
    frames = [image((301, 517), "float32", seed) / 3 for seed in range(8)]
    truth = [plan(frame).array.copy() for frame in frames]
    wrong: list[int] = []
    start = threading.Barrier(8)

    def work(k: int) -> None:
        start.wait()
        for repeat in range(20):
            frame = (k + repeat) % 8
            if not np.array_equal(plan(frames[frame]).array, truth[frame]):
                wrong.append(frame)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == []


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_streams_answer_in_order_with_few_tables(depth: int) -> None:
    plan = areal.SatPlan((40, 50), "uint8")
    frames = [image((40, 50), seed=seed) for seed in range(11)]
    taken = 0

    def source():
        nonlocal taken
        for frame in frames:
            taken += 1
            yield frame

    memory = set()
    number = 0
    for number, t in enumerate(plan.stream(source(), depth), 1):
        assert tables.same(t.array, tables.table(frames[number - 1]))
        assert number <= taken <= number + depth - 1
        memory.add(t.array.__array_interface__["data"][0])
    assert number == 11 and len(memory) == min(depth, 11)


def test_streams_end_early_and_fail_in_place() -> None:
    plan = areal.SatPlan((4, 5), "uint8")
    stream = plan.stream((image((4, 5)) for _ in range(10**9)), depth=3)
    assert next(stream).sum([0, 0, 5, 4]) == image((4, 5)).sum()
    stream.close()
    seen = 0
    with pytest.raises(areal.InvalidArgument, match="this plan is for"):
        for _ in plan.stream([image((4, 5)), image((4, 5)), image((4, 6)), image((4, 5))]):
            seen += 1
    assert seen == 2
    assert list(plan.stream([])) == []
    with pytest.raises(areal.InvalidArgument, match="depth 0"):
        plan.stream([], depth=0)


def test_the_one_line_form_keeps_plans_of_the_last_64_kinds() -> None:
    for repeat in range(2):
        for width in range(1, 100):
            x = image((3, width))
            assert tables.same(areal.sat(x).array, tables.table(x))
