#!/usr/bin/env python3
"""Python's peers of `areal bench`: the rounds of bench/peers/rounds.py, python_peers.py as it is, and python_gpu_peers.py, as far as it can be tested
without a GPU, with modules that replace PyTorch, CuPy and areal and compute with NumPy.

Exits 77 (skipped) if NumPy is missing.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

# The parts of CuPy that the script uses. WRONG spoils one entry; events are a millisecond apart.
CUPY = """
import numpy
from numpy import empty
from types import SimpleNamespace as Space
__version__ = "14.0-none"
def asarray(a): return a.copy()
def asnumpy(a): return numpy.asarray(a)
def cumsum(a, axis, dtype, out):
    numpy.cumsum(a, axis=axis, dtype=dtype, out=out)
    if axis == 0 and WRONG: out[out.shape[0] // 3, 1] += 1
def RawKernel(source, name): return lambda grid, block, arguments: None
class Event:
    def record(self): pass
    def synchronize(self): pass
class Device:
    def __init__(self, number): assert number == 3
    def use(self): pass
cuda = Space(Event=Event, Device=Device, get_elapsed_time=lambda begin, end: 1.0)
def get_default_memory_pool(): return Space(free_all_blocks=lambda: None)
"""

# The same for PyTorch, with its own tensors; it sums integers in 64 bits by default.
TORCH = """
import numpy
from types import SimpleNamespace as Space
__version__ = "2.0-none"
int8, uint8, int32, int64, float32, float64 = (numpy.dtype(t) for t in "int8 uint8 int32 int64 float32 float64".split())
class Tensor:
    def __init__(self, a): self.a = a
    def cuda(self): return self
    cpu = contiguous = cuda
    def numpy(self): return numpy.ascontiguousarray(self.a)
    def __getitem__(self, at): return Tensor(self.a[at])
def from_numpy(a):
    if a.dtype == numpy.uint16: raise TypeError("no uint16 here")
    return Tensor(a)
def empty(shape, dtype, device): return Tensor(numpy.empty(shape, dtype))
def cumsum(tensor, dim, dtype=int64, out=None):
    assert out.a.dtype == dtype
    numpy.cumsum(tensor.a, axis=dim, dtype=dtype, out=out.a)
class Event:
    def __init__(self, enable_timing): assert enable_timing
    def record(self): pass
    def synchronize(self): pass
    def elapsed_time(self, end): return 0.5
cuda = Space(is_available=lambda: GPU, set_device=lambda number: None, Event=Event, _sleep=lambda clocks: None,
             empty_cache=lambda: None)
"""

# areal's package: a plan for NumPy's arrays, which stand for CuPy's.
AREAL = """
import numpy
class SatPlan:
    def __init__(self, shape, dtype, border, table_dtype, backend, device):
        assert (border, backend, device) == ("none", "cuda", 3)
        self.table_dtype = table_dtype
    def __call__(self, x, out):
        out[...] = x.cumsum(0, dtype=self.table_dtype).cumsum(1, dtype=self.table_dtype)
        out[0, 0] += SPOILT
"""

failures = []


def expect(what, condition):
    if not condition:
        failures.append(what)


def run(tree, folder, modules, *arguments):
    """Lines of JSON of the script with those modules in its path, and its exit status."""
    for name in ("torch", "cupy", "areal"):
        path = pathlib.Path(folder) / f"{name}.py"
        path.write_text(modules.get(name, "raise ImportError('none here')"))
    done = subprocess.run([sys.executable, tree / "bench/peers/python_gpu_peers.py", *arguments], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def check_rounds(tree):
    """The same as bench_rounds_test.cpp of bench/protocol/rounds.hpp and of median_interval."""
    sys.path.insert(0, str(tree / "bench/peers"))
    sys.dont_write_bytecode = True
    import rounds  # pylint: disable=import-outside-toplevel

    for n in (1, 2, 3, 5):
        calls = []

        def time(i, calls=calls):
            calls.append(i)
            return 100.0 * i + calls.count(i)

        times = rounds.time_rounds(n, 30, 2, time)
        expect(f"{n} contestants: each runs once a round", all(sorted(calls[at:at + n]) == list(range(n)) for at in range(0, 32 * n, n)) and len(calls) == 32 * n)
        expect(f"{n} contestants: each follows each", {(a, b) for a in range(n) for b in range(n) if a != b} <= set(zip(calls, calls[1:])))
        expect(f"{n} contestants: their times, without the warm rounds", times == [[100.0 * i + k for k in range(3, 33)] for i in range(n)])
        again = []
        rounds.time_rounds(n, 30, 2, lambda i, again=again: again.append(i) or 1.0)
        expect(f"{n} contestants: the same orders again", again == calls)
    for n, low, high in ((1, 1, 1), (5, 1, 5), (6, 1, 6), (15, 4, 12), (30, 10, 21), (100, 40, 61)):
        expect(f"the interval of {n}", rounds.summary(list(range(n, 0, -1))) == {"min": 1, "median": n // 2 + 1, "max": n, "between": [low, high], "rounds": n})
    expect("a record has at least 30 rounds", rounds.ROUNDS >= 30)


def check_cpu(tree, folder):
    """NumPy, scikit-image if it is there, and the floor have as many times; areal's package is absent, or stands in with a plan for NumPy's arrays."""
    for module, keys in (("raise ImportError('none here')", {"floor_us"}), (AREAL.replace("device)", "threads)").replace('("none", "cuda", 3)', '("none", "cpu", 1)') + "SPOILT = 0\n", {"floor_us", "areal_us"})):
        (pathlib.Path(folder) / "areal.py").write_text(module)
        done = subprocess.run([sys.executable, tree / "bench/peers/python_peers.py", "40", "30", "7"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
        rows = json.loads(done.stdout or "[]")
        expect(f"NumPy on the CPU: {rows} {done.stderr}", rows and rows[0]["name"] == "numpy.cumsum twice" and all(
            {key for key in row if key.endswith("_us")} == {"time_us", *keys} and all(len(row[key]) == 7 for key in {"time_us", *keys}) for row in rows))
    (pathlib.Path(folder) / "areal.py").write_text((pathlib.Path(folder) / "areal.py").read_text().replace("SPOILT = 0", "SPOILT = 1"))
    done = subprocess.run([sys.executable, tree / "bench/peers/python_peers.py", "40", "30", "1"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    expect("a wrong table of areal is no record", done.returncode != 0 and not done.stdout and "is not NumPy's" in done.stderr)


def check_script(tree, folder):
    areal = "SPOILT = 0\n" + AREAL
    good = {"cupy": "WRONG = False\n" + CUPY, "torch": "GPU = True\n" + TORCH, "areal": areal}
    cases = ["8u32u:40x30", "32u32u:33x17", "32f32f:1x9", "64f64f:64x2", "8u32f:9x1"]
    rows, status = run(tree, folder, good, "3", "4", *cases)
    expect(f"all well: exit {status}", status == 0)
    expect(f"all well: {rows}", [(r.get("lane"), r.get("name")) for r in rows] == [
        (case.split(":")[0], f"{library} cumsum twice") for case in cases for library in ("torch", "cupy")])
    expect("times are microseconds, warm-up left out", [r.get("time_us") for r in rows[:2]] == [[500.0] * 4, [1000.0] * 4])
    # 8u32u: areal and the copy are on CuPy's arrays, as this PyTorch has no uint32; 32f32f on PyTorch's, which areal's stand-in does not take, then on CuPy's.
    expect(f"areal and the floor are in the same rounds: {rows}", all(r["areal_us"] == [1000.0] * 4 and r["floor_us"] == [1000.0] * 4 for r in rows))
    expect("size and version", rows and (rows[0].get("width"), rows[0].get("height"), rows[0].get("version")) ==
           (40, 30, "2.0-none"))

    rows, status = run(tree, folder, {name: good[name] for name in ("cupy", "torch")}, "3", "2", "8u32u:40x30")
    expect(f"without areal's package: {rows}", status == 0 and "lacks areal's Python package" in rows[0]["missing"] and len(rows) == 3
           and all("areal_us" not in r and r["floor_us"] == [1000.0] * 2 for r in rows[1:]))
    rows, status = run(tree, folder, {**good, "areal": "SPOILT = 1\n" + AREAL}, "3", "2", "8u32u:40x30")
    expect(f"a wrong table of areal: {rows}", status == 0 and "areal of 8u32u, 40x30, left out: row 0" in rows[0]["missing"] and len(rows) == 3
           and all("areal_us" not in r for r in rows[1:]))

    for case in ("8u32u:40x30", "32f32f:40x30"):
        rows, status = run(tree, folder, {"cupy": "WRONG = True\n" + CUPY, "areal": areal}, "3", "1", case)
        expect(f"a wrong table of {case} is no record: {rows}",
               status == 0 and not any("time_us" in r for r in rows) and "row 10" in rows[-1]["missing"])

    rows, status = run(tree, folder, {}, "0", "1", "8u32u:4x4")
    expect(f"none installed: {rows}", status == 0 and len(rows) == 2 and all("none here" in r["missing"] for r in rows))
    rows, status = run(tree, folder, {"torch": "GPU = False\n" + TORCH}, "0", "1", "8u32u:4x4")
    expect(f"no GPU: {rows}", status == 0 and "no GPU" in rows[0]["missing"])
    rows, status = run(tree, folder, {"torch": good["torch"]}, "0", "1", "16u32u:4x4", "8u32u:4x4")
    expect(f"one lane fails, the next does not: {rows}",
           any("torch cumsum twice of 16u32u: no uint16 here" in r.get("missing", "") for r in rows) and rows[-1].get("lane") == "8u32u")
    for wrong in ((), ("0", "1", "8u32u"), ("0", "1", "8u99u:4x4")):
        rows, status = run(tree, folder, good, *wrong)
        expect(f"{wrong} is refused", status != 0 and not rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    tree = parser.parse_args().tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_rounds(tree)
        check_cpu(tree, folder)
        check_script(tree, folder)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
