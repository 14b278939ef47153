"""Calls every function and method of the package with arguments that are often wrong: each call returns or raises an exception.

    call_fuzz.py --calls 2000 --seed 1      so many calls; prints the counts of exceptions by type
    call_fuzz.py --at 17 --seed 1           one of them, whose arguments are printed

A call fails that raises what no caller expects (SystemError, or an exception that is no Exception), that changes an argument other than an
output, or that ends the process; the parent of such a process finds the number of the call in its output. Arrays have all dtypes and orders, no
pixels or a stride of 0, lie misaligned, are read-only or subclasses; numbers are huge, negative or NaN; capsules of DLPack are used
twice or are none. Some calls run on several threads at once.
"""

from __future__ import annotations

import argparse
import array
import collections
import contextlib
import inspect
import io
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import areal
import areal.cv2
import areal.filters
import areal.ndimage
import areal.skimage

DTYPES = ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
ODD_DTYPES = ("c8", "c16", "O", "U3", "S2", "M8[s]", "V3", "f16", "i4,u1")
HUGE = (2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, -1, -(2**31), -(2**63), -(2**63) - 1, -(10**30))
WORDS = {
    "axes": ("", "HW", "HWC", "CHW", "NHW", "NHWC", "NCHW", "DHW", "WH", "HH", "H", "XY", "NCDHW"),
    "border": ("zero", "none", "exclusive", "one"),
    "edge": ("valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant", "mirror"),
    "mode": ("reflect", "constant", "nearest", "mirror", "wrap", "same", "nothing"),
    "format": ("xywh", "xyxy", "bbox", "skimage", "yxhw"),
    "outside": ("error", "clip", "wrap"),
    "stat": ("sum", "mean", "var", "std", "median"),
    "nan": ("propagate", "omit", "raise"),
    "store": ("auto", "none", "compact", "tensor", "rank", "pickle"),
    "algorithm": ("auto", "serial", "4r1w-cpu", "fused", "parallel", "cw-b", "relay", "lookback", "nothing"),
    "backend": ("cpu", "auto", "simt", "cuda", "gpu"),
    "measure": ("hellinger", "l1", "l2", "emd", "chi2", "nothing"),
    "block_norm": ("L2-Hys", "L1", "L1-sqrt", "L2", "L3"),
    "rounding": ("nearest", "floor", "even", "up"),
    "method": ("linear", "hazen", "sauvola", "niblack", "ccoeff_normed", "sqdiff", "bradley", "wolf", "nothing"),
}
ARRAYS = ("x", "p", "image", "input", "src", "scores", "ii", "what", "guide", "template", "templ", "frames", "lookup", "kernel", "footprint")
OUTPUTS = ("out", "dst", "result", "sum", "sqsum", "tilted", "output")
UNEXPECTED = (SystemError, RecursionError, AssertionError)


class Liar:
    """An object whose protocols give what they should not."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.what == "raises":
            raise KeyError("no array today")
        return 7 if self.what == "number" else np.zeros((3, 4), np.uint8)

    def __index__(self) -> int:
        if self.what == "raises":
            raise ZeroDivisionError("no index today")
        return 2**70

    def __len__(self) -> int:
        return 3

    def __getitem__(self, at: Any) -> Any:
        raise IndexError(at)


class Capsules:
    """Arrays of DLPack whose capsules are used before, of another array each time, or none."""

    def __init__(self, what: str, of: np.ndarray) -> None:
        self.what, self.of = what, of
        self.used: Any = None

    def __dlpack_device__(self) -> Any:
        return {"device": (2, 10**9), "no device": None}.get(self.what, (1, 0))

    def __dlpack__(self, **more: Any) -> Any:
        if self.what == "none":
            return None
        if self.what == "raises":
            raise BufferError("no capsule today")
        if self.what == "twice":
            if self.used is None:
                self.used = self.of.__dlpack__()
                with contextlib.suppress(Exception):
                    np.from_dlpack(types.SimpleNamespace(__dlpack__=lambda **_: self.used, __dlpack_device__=lambda: (1, 0)))
            return self.used
        return self.of.__dlpack__()


class Matrix(np.ndarray):
    """A subclass that NumPy's functions keep."""


class Maker:
    """Arguments of one call."""

    def __init__(self, seed: int, at: int) -> None:
        self.random = np.random.default_rng([seed, at])
        self.easy = self.chance(0.5)  # mostly arguments that are right, so that calls come far

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def shape(self) -> tuple[int, ...]:
        what = self.whole(0, 19)
        if what < 13:
            return self.whole(1, 20), self.whole(1, 20)
        if what < 16:
            return self.whole(1, 12), self.whole(1, 12), self.whole(1, 5)
        if what == 16:
            return tuple(self.whole(0, 3) for _ in range(self.whole(0, 5)))
        if what == 17:
            return self.whole(0, 1), self.whole(0, 9)
        return (self.whole(1, 3), self.whole(1, 3), self.whole(1, 9), self.whole(1, 9))[: self.whole(1, 4)]

    def values(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        count = int(np.prod(shape, dtype=np.int64))
        if dtype in ODD_DTYPES:
            return np.zeros(shape, dtype) if self.chance(0.5) or dtype == "i4,u1" else np.ones(count).astype(dtype).reshape(shape)
        raw = self.random.integers(0, 256, count * np.dtype(dtype).itemsize, dtype=np.uint8)
        if dtype == "bool":
            return (raw > 127).reshape(shape)
        if dtype.startswith("f") and self.chance(0.8):
            flat = self.random.normal(0, 100, count).astype(dtype)
            for special in (np.nan, np.inf, -np.inf, np.finfo(dtype).max):
                if count and self.chance(0.15):
                    flat[self.whole(0, count - 1)] = special
            return flat.reshape(shape)
        return raw.view(dtype).reshape(shape)

    def plane(self) -> Any:
        """An array, mostly one that can be read."""
        if self.easy and self.chance(0.97):
            if self.chance(0.4):
                return self.values(self.pick(("u1", "u1", "f4")), (5, 7))
            return self.values(self.pick(DTYPES), (self.whole(7, 20), self.whole(7, 20)))
        if self.chance(0.04):
            return np.broadcast_to(self.values(self.pick(DTYPES), (1, 1)), self.pick([(2**20, 3), (3, 2**20), (0, 2**40), (2**40, 0)]))
        made = self.values(self.pick(ODD_DTYPES) if self.chance(0.06) else self.pick(DTYPES), self.shape())
        what = self.whole(0, 24)
        if what == 0:
            return np.asfortranarray(made)
        if what == 1:
            return made[::-1] if made.ndim else made
        if what == 2:
            return made.repeat(2, axis=-1)[..., ::2] if made.ndim else made
        if what == 3:
            made.setflags(write=False)
        if what == 4 and made.dtype.itemsize > 1 and made.dtype.kind in "iuf":
            return made.astype(made.dtype.newbyteorder())
        if what == 5 and made.dtype.kind in "iuf":
            raw = np.zeros(made.nbytes + 1, np.uint8)
            raw[1:] = np.frombuffer(made.tobytes(), np.uint8)
            return raw[1:].view(made.dtype).reshape(made.shape)
        if what == 6:
            return made.view(Matrix)
        if what == 7:
            return np.ma.masked_array(made, mask=False)
        if what == 8:
            return made.tolist()
        if what == 9 and made.dtype.kind in "iuf":
            return memoryview(made)
        if what == 10 and made.dtype.kind in "iuf" and made.dtype.itemsize > 2:
            return Capsules(self.pick(("sound", "twice", "none", "raises", "device", "no device")), made)
        return made

    def junk(self) -> Any:
        """What no function expects."""
        choices: tuple[Callable[[], Any], ...] = (
            lambda: None, lambda: self.pick(HUGE), lambda: float(self.pick((np.nan, np.inf, -np.inf, 1e308, -0.0, 0.5))), lambda: "", lambda: "x" * 5000,
            lambda: "\0\ud800", lambda: b"bytes", lambda: [], lambda: (), lambda: {}, lambda: [[]], lambda: [None], lambda: [self.pick(HUGE)] * self.whole(1, 5),
            lambda: True, lambda: 1j, lambda: Ellipsis, lambda: slice(None), lambda: object(), lambda: np.float32(2.5), lambda: np.int8(-3), lambda: np.array(7),
            lambda: (value for value in (1, 2, 3)), lambda: range(4), lambda: array.array("d", [1, 2]), lambda: Liar(self.pick(("raises", "number", "array"))),
            lambda: type, lambda: np.dtype("i4"), lambda: lambda: None, lambda: self.plane(), lambda: memoryview(b"abc"),
        )  # fmt: skip
        return self.pick(choices)()

    def whole_number(self) -> int:
        if self.easy:
            return self.pick((1, 3, 5, 2))
        return int(self.pick(HUGE)) if self.chance(0.1) else self.whole(0, 9)

    def boxes(self) -> Any:
        if self.easy:
            return self.random.integers(0, 3, (self.whole(1, 3), 4))
        rows = self.random.integers(0, 6, (self.whole(0, 5), 4)) if self.chance(0.9) else self.random.integers(-5, 9, (2, self.whole(0, 7)))
        if self.chance(0.1):
            rows = rows.astype(self.pick(("f4", "f8", "u1", "i8", "u8")))
        if self.chance(0.05) and rows.size:
            rows = rows.astype(object)
            rows.ravel()[0] = self.pick(HUGE)
        return rows.tolist() if self.chance(0.3) else rows[0] if self.chance(0.15) and len(rows) else rows

    def argument(self, name: str) -> Any:
        """What a parameter of that name may be, or junk."""
        if self.chance(0.01 if self.easy else 0.06):
            return self.junk()
        if name in WORDS:
            return self.pick(WORDS[name][: 2 if self.easy else None])
        if name == "target":
            return self.random.random(self.pick((4, 4, 1, 33)))
        if name in ARRAYS or name in OUTPUTS or name in ("mask", "weights"):
            return self.plane()
        if name in ("boxes", "rectangles"):
            return self.boxes()
        if name in ("shape", "image_shape"):
            return self.pick((self.shape(), (self.pick(HUGE), 3), (2**40, 2**40), 5))
        if name in ("dtype", "table_dtype", "counter", "squares", "sdepth", "sqdepth"):
            return self.pick((*DTYPES, None, True, False, np.uint8, "nothing", *ODD_DTYPES[:3]))
        if name in ("size", "ksize", "radius", "anchor", "window_size", "origin", "pixels_per_cell", "cells_per_block", "min_size", "max_size", "start", "end"):
            return self.pick((self.whole_number(), (self.whole_number(), self.whole_number()), (3, 3), 3, 5, (self.whole_number(),), [1, 2, 3], self.boxes()))
        if name == "bins":
            return self.pick((8, 32, 1, 256, self.whole_number(), [0, 10, 200], areal.Binning(4, (0, 256)), self.random.normal(0, 5, 4)))
        if name in ("range", "edges"):
            return self.pick(((0, 256), (0.0, 1.0), (5, 1), [1, 2, 9], (np.nan, 1), (-np.inf, np.inf), 3))
        if name == "joint":
            return self.pick((None, [areal.Binning(4, (0, 256))] * self.whole(0, 4), 3))
        if name in ("threads", "device"):
            return self.pick((0, 1, 2, 3, -1, 2**40))
        if name == "memory_limit":
            return self.pick((0, 1, 10**6, None, -5, 2**70))
        if name == "path":
            return self.pick(("/none", "/dev/null", "", "/", b"/none", 3))
        if name == "text":
            return self.pick(("", "<", "<?xml version='1.0'?><opencv_storage/>", "x" * 100, b"abc"))
        if name in ("q", "percent", "percentile"):
            return self.pick((0.5, 0, 1, 50, 100.5, -1, [0.1, 0.9], np.nan))
        return self.pick((self.whole_number(), float(self.random.normal()), True, False, None))


def functions() -> list[tuple[str, Callable[[Maker], Any]]]:
    """Each function and method by name, and what makes the callable: of methods, of an object made for the call."""
    found: list[tuple[str, Callable[[Maker], Any]]] = []
    for module in (areal, areal.filters, areal.ndimage, areal.skimage, areal.cv2):
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if name in ("open", "plot", "DeviceArray") or isinstance(value, types.ModuleType) or name.startswith("_"):
                continue
            if inspect.isclass(value) and not issubclass(value, BaseException | tuple):
                found += [(f"{module.__name__}.{name}.{key}", lambda make, value=value, key=key: getattr(value, key)) for key in dir(value) if not key.startswith("_") and isinstance(inspect.getattr_static(value, key), staticmethod | classmethod)]
                if module is areal:
                    found.append((f"areal.{name}", lambda make, value=value: value))
            elif callable(value) and not inspect.isclass(value):
                found.append((f"{module.__name__}.{name}", lambda make, value=value: value))
    for name in ("sum", "mean", "var", "std", "tilted_sum", "window"):
        found.append((f"Sat.{name}", lambda make, name=name: getattr(table_of(make), name)))
    for name in ("counts", "distance", "distance_map", "entropy", "mean", "median", "mode", "normalised", "percentile"):
        found.append((f"IntegralHistogram.{name}", lambda make, name=name: getattr(tensor_of(make), name)))
    found.append(("SatPlan()", lambda make: areal.SatPlan((5, 7), make.pick(("u1", "f4")), squares=make.chance(0.3), mask=make.chance(0.3))))
    found.append(("SatPlan.stream", lambda make: lambda frames, depth=2: list(areal.SatPlan((5, 7), "u1").stream(frames, depth))))
    found.append(("HistogramPlan()", lambda make: areal.HistogramPlan((5, 7), "u1", areal.Binning(4, (0, 256)))))
    found.append(("Binning.bin_of", lambda make: areal.Binning(make.pick((1, 8)), (0, 10)).bin_of))
    return found


def table_of(make: Maker) -> areal.Sat:
    """A table of some kind, small."""
    kind = make.pick(("u1", "u2", "i4", "f4", "f8"))
    what = make.whole(0, 4)
    if what == 0:
        return areal.sat(make.values(kind, (3, 6, 5)), "DHW")
    if what == 1:
        return areal.sat(make.values(kind, (6, 5, 2)), "HWC", squares=True)
    return areal.sat(make.values(kind, (6, 8)), squares=make.chance(0.5), tilted=what == 2, border="zero" if what == 2 else make.pick(("zero", "none", "exclusive")))


def tensor_of(make: Maker) -> areal.IntegralHistogram:
    """A tensor, small, of one image or of several."""
    if make.chance(0.2):
        return areal.integral_histogram(make.values("u1", (2, 6, 5)), 4, axes="NHW")
    return areal.integral_histogram(make.values("u1", (6, 8)), make.pick((1, 4, 33)), border=make.pick(("none", "zero", "exclusive")))


def arguments_of(make: Maker, called: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments, by the parameters' names; without a signature, junk."""
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return [make.junk() for _ in range(make.whole(0, 2))], {}
    given: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        needed = parameter.default is parameter.empty
        if not needed and not make.chance(0.08 if make.easy else 0.25):
            continue
        value = [make.plane() for _ in range(make.whole(0, 3))] if parameter.name == "frames" else make.argument(parameter.name)
        if needed and parameter.kind is not parameter.KEYWORD_ONLY and len(given) == len(named) == 0 or (needed and not named):
            given.append(value)
        else:
            named[parameter.name] = value
    if make.chance(0.02):
        given.append(make.junk())
    if make.chance(0.02):
        named["nothing"] = 1
    return given, named


def arrays_in(given: list[Any], named: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays that a call may only read, and few enough bytes to compare."""
    for name, value in [*((str(n), value) for n, value in enumerate(given)), *named.items()]:
        if isinstance(value, np.ndarray) and name not in OUTPUTS and value.size < 10**5 and not value.dtype.hasobject:
            yield name, value


def call(seed: int, at: int, show: bool = False) -> tuple[str, str, str]:
    """The function, what came of it, and what is wrong with that, mostly nothing."""
    make = Maker(seed, at)
    name, maker = make.pick(FUNCTIONS)
    called = maker(make)
    given, named = arguments_of(make, called)
    if show:
        print(name, [(type(v).__name__, v) for v in given], {key: (type(v).__name__, v) for key, v in named.items()}, flush=True)
    before = [(key, value, value.tobytes()) for key, value in arrays_in(given, named)]
    several = 3 if make.chance(0.05) else 1
    outputs = any(key in OUTPUTS for key in named) or called.__class__.__name__.endswith("Plan") and len(given) > 1
    outcomes: list[BaseException | None] = [None] * several

    def once(n: int) -> None:
        try:
            called(*given, **named)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is looked at
            outcomes[n] = error

    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=once, args=(n,)) for n in range(several if several > 1 and not outputs else 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not threads:
            once(0)
    error = next((one for one in outcomes if one is not None), None)
    wrong = ""
    if error is not None and (not isinstance(error, Exception) or isinstance(error, UNEXPECTED)):
        wrong = f"it raised {type(error).__name__}: {error}"
    if not outputs:  # an output may be one of the inputs
        wrong = wrong or "".join(f"it changed its argument {key}" for key, value, old in before if value.tobytes() != old)
    return name, type(error).__name__ if error is not None else "returned", wrong


FUNCTIONS = functions()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--at", type=int, help="the call of that number alone, with its arguments")
    options = parser.parse_args()
    if options.at is not None:
        print(*call(options.seed, options.at, show=True))
        return 0
    seen: collections.Counter[str] = collections.Counter()
    returned: collections.Counter[str] = collections.Counter()
    failed = 0
    for at in range(options.first, options.first + options.calls):
        print(at, file=sys.stderr, flush=True)  # the last line of a process that ends here
        name, outcome, wrong = call(options.seed, at)
        seen[outcome] += 1
        returned[name] += outcome == "returned"
        if wrong:
            failed += 1
            print(f"FAILED call {at} of seed {options.seed}, {name}: {wrong}", flush=True)
    never = [name for name, _ in FUNCTIONS if not returned[name]]
    print(f"{options.calls} calls of {len(FUNCTIONS)} functions, seed {options.seed}: " + ", ".join(f"{name} {n}" for name, n in seen.most_common()))
    print(f"{len(never)} functions never returned: {', '.join(never)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
