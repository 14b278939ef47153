"""PyTorch and CuPy as peers of `areal bench`: two cumsums on the GPU, in rounds of random order with areal's own table and a copy, the floor. Prints a
line of JSON for each result, {lane, width, height, name, version, time_us: [..], areal_us: [..], floor_us: [..]}, and {missing: why} for what was left
out. `lane` is the type pair; areal_us is missing without areal's Python package.

usage: python_gpu_peers.py DEVICE ROUNDS TYPES:WIDTHxHEIGHT..

A time is that between two events around one table, behind a kernel that spins, so that the GPU never waits for Python.
Each table is compared with NumPy's sums before its times are printed.
"""

import json
import re
import sys

from rounds import time_rounds

TYPES = {"8u": "uint8", "8s": "int8", "16u": "uint16", "16s": "int16", "32u": "uint32", "32s": "int32",
         "64u": "uint64", "64s": "int64", "16f": "float16", "32f": "float32", "64f": "float64"}
SPIN = 1_000_000  # clocks, about half a millisecond: longer than Python takes to queue two cumsums
WARM = 2  # rounds


def say(row):
    print(json.dumps(row), flush=True)


class Torch:
    name = "torch cumsum twice"

    def __init__(self, device):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("it sees no GPU")
        torch.cuda.set_device(device)
        self.device = device
        self.torch, self.version = torch, torch.__version__

    def prepare(self, image, dtype):
        # Sums of unsigned words have the bits of signed sums; PyTorch has few operations for unsigned words.
        signed = getattr(self.torch, dtype.name.lstrip("u"))
        same_size = image.dtype.kind == "u" and image.dtype.itemsize == dtype.itemsize
        source = self.torch.from_numpy(image.view(dtype.name.lstrip("u")) if same_size else image).cuda()
        along = self.torch.empty(image.shape, dtype=signed, device="cuda")
        table = self.torch.empty(image.shape, dtype=signed, device="cuda")

        def cumsums():
            self.torch.cumsum(source, 1, dtype=signed, out=along)
            self.torch.cumsum(along, 0, dtype=signed, out=table)

        return cumsums, lambda *at: table[at].contiguous().cpu().numpy().view(dtype)

    def own(self, image, dtype):
        """The pixels and an empty table in device memory, and what reads rows of it, for areal and for a copy."""
        source = self.torch.from_numpy(image).cuda()
        table = self.torch.empty(image.shape, dtype=getattr(self.torch, dtype.name), device="cuda")
        return source, table, lambda *at: table[at].contiguous().cpu().numpy()

    def copy(self, source, table):
        table.copy_(source)

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def spin(self):
        self.torch.cuda._sleep(SPIN)

    def milliseconds(self, begin, end):
        end.synchronize()
        return begin.elapsed_time(end)

    def forget(self):
        self.torch.cuda.empty_cache()


class CuPy:
    name = "cupy cumsum twice"

    def __init__(self, device):
        import cupy

        cupy.cuda.Device(device).use()
        self.device = device
        self.cupy, self.version = cupy, cupy.__version__
        self.kernel = cupy.RawKernel(
            'extern "C" __global__ void spin(long long n) { long long s = clock64(); while (clock64() - s < n); }', "spin")

    def prepare(self, image, dtype):
        source = self.cupy.asarray(image)
        along, table = self.cupy.empty(image.shape, dtype), self.cupy.empty(image.shape, dtype)

        def cumsums():
            self.cupy.cumsum(source, axis=1, dtype=dtype, out=along)
            self.cupy.cumsum(along, axis=0, dtype=dtype, out=table)

        return cumsums, lambda *at: self.cupy.asnumpy(table[at])

    def own(self, image, dtype):
        source, table = self.cupy.asarray(image), self.cupy.empty(image.shape, dtype)
        return source, table, lambda *at: self.cupy.asnumpy(table[at])

    def copy(self, source, table):
        table[...] = source

    def event(self):
        return self.cupy.cuda.Event()

    def spin(self):
        self.kernel((1,), (1,), (SPIN,))

    def milliseconds(self, begin, end):
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end)

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


def once(library, run):
    """Microseconds of one run between two events on the library's stream."""
    begin, end = library.event(), library.event()
    library.spin()
    begin.record()
    run()
    end.record()
    return 1000.0 * library.milliseconds(begin, end)


def timed(contestants, rounds):
    """Microseconds of each, in rounds of random order. A contestant is a library, whose events are taken, and what it runs."""
    return time_rounds(len(contestants), rounds, WARM, lambda i: once(*contestants[i]))


def beside(areal, library, image, dtype):
    """A copy of the pixels into a table and, if areal is there, its table, on arrays of that library; and what reads rows of the latter."""
    (source, table, at), copied = library.own(image, dtype), library.own(image, dtype)[1]
    plan = areal and areal.SatPlan(image.shape, image.dtype, border="none", table_dtype=dtype, backend="cuda", device=library.device)
    runs = {"floor": lambda: library.copy(source, copied)}
    if plan:
        runs["areal"] = lambda: plan(source, out=table)
    for run in runs.values():
        once(library, run)  # fails here and not in the rounds
    return runs, at


class Expected:
    """Some rows and columns of the table, each a cumsum of sums of columns or rows, by NumPy, wrapped to the type."""

    def __init__(self, numpy, image, dtype):
        self.numpy, self.dtype = numpy, dtype
        height, width = image.shape
        sums = {"f": numpy.float64, "i": numpy.int64, "u": numpy.uint64}[dtype.kind]
        self.rows = {y: image[: y + 1].sum(0, dtype=sums).cumsum() for y in {0, height // 3, height - 1}}
        self.columns = {x: image[:, : x + 1].sum(1, dtype=sums).cumsum() for x in {0, width // 2, width - 1}}
        # As many successive additions as in plain loops.
        self.slack = (width + height) * float(numpy.finfo(dtype).eps) if dtype.kind == "f" else 0

    def same(self, got, expected):
        if self.dtype.kind != "f":
            return bool((got == expected.astype(self.dtype)).all())
        return bool((self.numpy.abs(got.astype("float64") - expected) <= self.slack * (self.numpy.abs(expected) + 1)).all())

    def difference(self, at):
        for y, row in self.rows.items():
            if not self.same(at(y), row):
                return f"row {y} of its table is not NumPy's"
        for x, column in self.columns.items():
            if not self.same(at(slice(None), x), column):
                return f"column {x} of its table is not NumPy's"
        return None


def first_line(error):
    return str(error).split("\n")[0]


def random_image(numpy, height, width, dtype):
    random = numpy.random.default_rng(20180514)
    if dtype.kind == "f":
        return random.random((height, width), dtype="float64" if dtype.itemsize == 8 else "float32").astype(dtype, copy=False)
    return numpy.frombuffer(bytearray(random.bytes(height * width * dtype.itemsize)), dtype).reshape(height, width)


def parse(case):
    found = re.fullmatch(r"(\d+[usf])(\d+[usf]):(\d+)x(\d+)", case)
    if not found or found[1] not in TYPES or found[2] not in TYPES:
        sys.exit(f"python_gpu_peers.py: {case} is not TYPES:WIDTHxHEIGHT")
    return case.split(":")[0], TYPES[found[1]], TYPES[found[2]], int(found[3]), int(found[4])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    device, rounds = int(sys.argv[1]), int(sys.argv[2])
    cases = [parse(case) for case in sys.argv[3:]]
    try:
        import numpy
    except ImportError:
        say({"missing": f"PyTorch and CuPy are compared with NumPy, which {sys.executable} lacks"})
        return
    libraries = []
    for kind in (Torch, CuPy):
        try:
            libraries.append(kind(device))
        except Exception as error:
            say({"missing": f"{kind.__name__} cannot be used by {sys.executable}: {error}"})
    areal = None
    try:
        import areal
    except ImportError as error:
        if libraries:
            say({"missing": f"{sys.executable} lacks areal's Python package, so PyTorch and CuPy are not timed in common rounds with areal: {error}"})
    for case in cases if libraries else []:
        measure(numpy, areal, libraries, case, rounds)


def measure(numpy, areal, libraries, case, rounds):
    """Times one case and prints its lines."""
    lane, input_type, table_type, width, height = case
    image, dtype = random_image(numpy, height, width, numpy.dtype(input_type)), numpy.dtype(table_type)
    expected = Expected(numpy, image, dtype)
    runs, tables = {}, {}  # by name: what runs, with its library, and what reads rows of its table

    for library in libraries:
        try:
            run, at = library.prepare(image, dtype)
            once(library, run)
            runs[library.name], tables[library.name] = (library, run), at
        except Exception as error:
            say({"missing": f"{library.name} of {lane}: {first_line(error)}"})
    why = ""
    for library in libraries:  # the first one that has both types
        try:
            ours, at = beside(areal, library, image, dtype)
        except Exception as error:
            why = why or first_line(error)
            continue
        runs |= {name: (library, run) for name, run in ours.items()}
        tables |= {"areal": at} if "areal" in ours else {}
        break
    else:
        say({"missing": f"areal and a copy beside them, of {lane}: {why}"})
    times = dict(zip(runs, timed(list(runs.values()), rounds)))
    wrong = {name: expected.difference(at) for name, at in tables.items()}
    run = at = ours = None
    runs.clear(), tables.clear()
    for name, words in wrong.items():
        if words:
            say({"missing": f"{name} of {lane}, {width}x{height}, left out: {words}"})
    common = {f"{name}_us": times[name] for name in ("areal", "floor") if name in times and not wrong.get(name)}
    for library in libraries:
        library.forget()
        if library.name in times and not wrong[library.name]:
            say({"lane": lane, "width": width, "height": height, "name": library.name, "version": library.version, "time_us": times[library.name], **common})


if __name__ == "__main__":
    main()
