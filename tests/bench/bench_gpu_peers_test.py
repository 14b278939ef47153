#!/usr/bin/env python3
"""The GPU peers of `areal bench`, as far as they can be tested without a GPU: bench/peers/python_gpu_peers.py with modules that
replace PyTorch and CuPy and compute with NumPy.

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

failures = []


def expect(what, condition):
    if not condition:
        failures.append(what)


def run(tree, folder, modules, *arguments):
    """Lines of JSON of the script with those modules in its path, and its exit status."""
    for name in ("torch", "cupy"):
        path = pathlib.Path(folder) / f"{name}.py"
        path.write_text(modules.get(name, "raise ImportError('none here')"))
    done = subprocess.run([sys.executable, tree / "bench/peers/python_gpu_peers.py", *arguments], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def check_script(tree, folder):
    good = {"cupy": "WRONG = False\n" + CUPY, "torch": "GPU = True\n" + TORCH}
    cases = ["8u32u:40x30", "32u32u:33x17", "32f32f:1x9", "64f64f:64x2", "8u32f:9x1"]
    rows, status = run(tree, folder, good, "3", "4", *cases)
    expect(f"all well: exit {status}", status == 0)
    expect(f"all well: {rows}", [(r.get("lane"), r.get("name")) for r in rows] == [
        (case.split(":")[0], f"{library} cumsum twice") for case in cases for library in ("torch", "cupy")])
    expect("times are microseconds, warm-up left out", [r.get("time_us") for r in rows[:2]] == [[500.0] * 4, [1000.0] * 4])
    expect("size and version", rows and (rows[0].get("width"), rows[0].get("height"), rows[0].get("version")) ==
           (40, 30, "2.0-none"))

    for case in ("8u32u:40x30", "32f32f:40x30"):
        rows, status = run(tree, folder, {"cupy": "WRONG = True\n" + CUPY}, "3", "1", case)
        expect(f"a wrong table of {case} is no record: {rows}",
               status == 0 and not any("time_us" in r for r in rows) and "row 10" in rows[-1]["missing"])

    rows, status = run(tree, folder, {}, "0", "1", "8u32u:4x4")
    expect(f"none installed: {rows}", status == 0 and len(rows) == 2 and all("none here" in r["missing"] for r in rows))
    rows, status = run(tree, folder, {"torch": "GPU = False\n" + TORCH}, "0", "1", "8u32u:4x4")
    expect(f"no GPU: {rows}", status == 0 and "no GPU" in rows[0]["missing"])
    rows, status = run(tree, folder, {"torch": good["torch"]}, "0", "1", "16u32u:4x4", "8u32u:4x4")
    expect(f"one lane fails, the next does not: {rows}",
           "no uint16 here" in rows[1]["missing"] and rows[2].get("lane") == "8u32u")
    for wrong in ((), ("0", "1", "8u32u"), ("0", "1", "8u99u:4x4")):
        rows, status = run(tree, folder, good, *wrong)
        expect(f"{wrong} is refused", status != 0 and not rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    tree = parser.parse_args().tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_script(tree, folder)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
