"""Questions about images: what a user may ask areal, as plain data from which everything follows, pixels included.

A question is JSON: `Question.to_json` leaves out what has its default, so that a shrunk question is short. `generate(seed, number)`
makes the question of a number from nothing else, so that a run is the same for any number of processes.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")
TYPE_OF = {
    "bool": "8u", "uint8": "8u", "int8": "8s", "uint16": "16u", "int16": "16s", "uint32": "32u", "int32": "32s", "uint64": "64u",
    "int64": "64s", "float16": "16f", "float32": "32f", "float64": "64f",
}  # fmt: skip
# The pairs of docs/choosing.md and docs/numerics.md.
PAIRS = {
    "8u": ("8u32u", "8u64u", "8u32s", "8u32f", "8u64f"), "8s": ("8s32s", "8s64s"), "16u": ("16u64u", "16u32u"), "16s": ("16s64s", "16s32s"),
    "32u": ("32u64u", "32u32u"), "32s": ("32s64s", "32s32s"), "64u": ("64u64u",), "64s": ("64s64s",), "16f": ("16f32f", "16f64f"),
    "32f": ("32f64f", "32f32f"), "64f": ("64f64f",),
}  # fmt: skip
EDGES = ("valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant")
FAMILIES = ("regions", "volume", "table", "histogram", "window", "ranks", "local", "sizes", "cascade", "stores", "quantiles")
SQUARES = ("32u", "64u", "32f", "64f")
SAT_SIMT = (
    "auto", "2r2w", "4r4w", "4r1w", "2r1w", "1r1w", "hybrid-1r1w", "scanrow-brlt", "brlt-scanrow", "scanrow-column", "umm-optimal",
    "lookback", "lookback-diagonal", "bands", "relay", "all-partials", "thin",
)  # fmt: skip
SAT_CPU = ("auto", "serial", "2r2w-cpu", "4r1w-cpu", "tiles")
HISTOGRAM_SIMT = (
    "auto", "cw-b", "cw-sts", "cw-tis", "wf-tis", "harris", "lee-choe-multiple", "lee-choe-shared", "lee-choe", "count-then-write",
    "reduce-then-scan",
)  # fmt: skip
QUANTILE_METHODS = (
    "linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip
HISTOGRAM_CPU = ("auto", "serial", "parallel", "fused")


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked. The names are those of the protocol of areal_doors where it has them."""

    family: str = "regions"
    dtype: str = "uint8"
    shape: tuple[int, int, int, int] = (1, 1, 1, 1)  # batch, height, width, channels
    fill: dict[str, Any] = dataclasses.field(default_factory=lambda: {"kind": "constant", "value": 1})
    mask: dict[str, Any] | None = None
    weights: dict[str, Any] | None = None
    regions: tuple[tuple[int, ...], ...] = ()
    outside: str = "error"
    stats: tuple[str, ...] = ("sum",)
    types: str | None = None
    border: str = "zero"
    squares: str = "auto"  # or no, or the type of their table, at those doors that let one say it
    ignore_nan: bool = False
    tilted: bool = False
    volume: bool = False
    reverse: bool = False
    algorithm: str = "auto"
    backend: str = "cpu"
    threads: int = 1
    layout: str = "planar"
    binning: dict[str, Any] = dataclasses.field(default_factory=dict)  # bins or joint, and range; or edges, labels or lookup
    clamp: bool = False
    window: dict[str, Any] = dataclasses.field(default_factory=dict)
    cascade: dict[str, Any] = dataclasses.field(default_factory=dict)  # kind, size, stages, nodes and seed; see cascades.py
    params: dict[str, Any] = dataclasses.field(default_factory=dict)  # how a door is asked: forms of input, regions and output

    def to_json(self) -> dict[str, Any]:
        """The question as JSON, without what has its default."""
        said = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            if value != default:
                said[field.name] = value
        return dict(json.loads(json.dumps(said)))

    @staticmethod
    def from_json(said: dict[str, Any]) -> Question:
        """The question of such JSON; a name that is not one of a question raises TypeError."""
        tuples: dict[str, Any] = {name: tuple(said[name]) for name in ("shape", "stats") if name in said}
        if "regions" in said:
            tuples["regions"] = tuple(tuple(int(n) for n in region) for region in said["regions"])
        return Question(**{**said, **tuples})

    def but(self, **changes: Any) -> Question:
        """The same question with some parts changed."""
        return dataclasses.replace(self, **changes)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")

    @property
    def type(self) -> str:
        """areal's name of the pixels' type."""
        return TYPE_OF[self.dtype]

    @property
    def images(self) -> int:
        """How many images are answered one by one: a volume is answered as a whole."""
        return 1 if self.family == "volume" else self.shape[0]

    @property
    def planes(self) -> int:
        """How many channels are answered one by one: joint bins count them together."""
        return 1 if "joint" in self.binning else self.shape[3]

    @property
    def area(self) -> int:
        return self.shape[0] * self.shape[1] * self.shape[2] * self.shape[3]


def number(value: Any) -> float:
    """A number of a question, in which what JSON lacks is a string."""
    return float(value) if isinstance(value, str) else value


def pixels(question: Question) -> np.ndarray:
    """The image, C-order (batch, height, width, channels)."""
    return _filled(question.fill, question.dtype, question.shape)


def mask_of(question: Question) -> np.ndarray | None:
    """The mask, uint8 (height, width)."""
    return None if question.mask is None else _filled(question.mask, "uint8", (1, *question.shape[1:3], 1))[0, :, :, 0]


def weights_of(question: Question) -> np.ndarray | None:
    """The weights of a histogram, (height, width)."""
    if question.weights is None:
        return None
    return _filled(question.weights, question.weights.get("dtype", "float32"), (1, *question.shape[1:3], 1))[0, :, :, 0]


def sizes_of(question: Question) -> np.ndarray:
    """Rows, or rows and columns, of the window of each pixel: (batch, height, width, 1 or 2)."""
    said = question.window["sizes"]
    drawn = tuple(said.get("of", question.shape[:3]))
    random, most = np.random.default_rng(said["seed"]), said["most"]
    flat = random.integers(0, most + 1, (*drawn, said["channels"]))
    special = random.integers(0, 12, flat.shape)
    flat[special == 0] = most
    if said["type"] == "int32":
        flat[special == 1] = -3
        flat[special == 2] = 2**31 - 1
    batch, height, width = question.shape[:3]
    return np.ascontiguousarray(flat[:batch, :height, :width].astype(said["type"]))


def _filled(fill: dict[str, Any], dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """`of` is the shape that a distribution was drawn for, of which a smaller image is the first part."""
    kind, drawn = fill["kind"], tuple(fill.get("of", shape))
    count = int(np.prod(drawn))
    if kind == "literal":
        flat = np.array([number(v) for v in fill["values"]], dtype=dtype) if count else np.empty(0, dtype)
    elif kind == "constant":
        flat = np.full(count, number(fill["value"])).astype(dtype) if dtype.startswith("f") else np.full(count, fill["value"], dtype)
    elif kind == "patches":
        return _patches(np.random.default_rng(fill["seed"]), drawn)[tuple(slice(0, n) for n in shape)].copy()
    else:
        flat = _drawn(kind, np.random.default_rng(fill["seed"]), dtype, count)
    return np.ascontiguousarray(flat.reshape(drawn)[tuple(slice(0, n) for n in shape)])


def _patches(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Bytes of squares of 3x3 pixels with some noise, flat at the lower right corner."""
    batch, height, width, channels = shape
    coarse = random.integers(0, 256, (batch, height // 3 + 1, width // 3 + 1, channels))
    fine = coarse.repeat(3, axis=1).repeat(3, axis=2)[:, :height, :width] + random.integers(-20, 21, shape)
    fine[:, height * 3 // 4 + 1 :, width * 3 // 4 + 1 :] = 90
    return np.clip(fine, 0, 255).astype(np.uint8)


def _drawn(kind: str, random: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    if dtype == "bool":
        return random.integers(0, 2, count).astype(bool)
    if dtype.startswith("float"):
        return _drawn_floats(kind, random, dtype, count)
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    if kind == "extremes":
        return np.array([low, high, 0, 1, high - 1, high // 2 + 1], dtype)[random.integers(0, 6, count)]
    if kind == "ramp":
        step = min(100_000, max(1, high // max(count, 1)))
        return (np.arange(count, dtype=np.uint64) * np.uint64(step)).astype(dtype)
    if kind == "small":
        return random.integers(max(low, -4), 10, count).astype(dtype)
    if kind == "sparse":
        return np.asarray(random.integers(0, 8, count) == 0, dtype)
    return np.asarray(random.integers(low, high, count, dtype=dtype, endpoint=True))


def _drawn_floats(kind: str, random: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    info = np.finfo(dtype)
    values = random.standard_normal(count) * 10
    if kind == "unit":
        values = random.random(count)
    elif kind == "whole":
        values = random.integers(-9, 10, count).astype(float)
    elif kind == "offset":
        values = values + (1000 if dtype == "float16" else 1e6)
    elif kind == "wide":
        reach = 10 if dtype == "float16" else 30
        values = np.ldexp(values / 10, random.integers(-reach, reach, count))
    elif kind == "extremes":
        some = np.array([info.max, -info.max, info.tiny, info.smallest_subnormal, 0.0, -0.0, 1.0], dtype)
        return some[random.integers(0, len(some), count)]
    flat = values.astype(dtype)
    if count and kind.startswith(("one-", "some-")):
        specials = {"nan": [np.nan], "inf": [np.inf, -np.inf], "special": [np.nan, np.inf, -np.inf, -0.0]}[kind.split("-")[1]]
        where = random.integers(0, count, 1 if kind.startswith("one-") else max(1, count // 20))
        flat[where] = np.array(specials, dtype)[random.integers(0, len(specials), len(where))]
    return flat


INTEGER_KINDS = ("uniform", "uniform", "small", "extremes", "ramp", "sparse", "constant")
FLOAT_KINDS = (
    "normal", "normal", "unit", "whole", "whole", "offset", "wide", "extremes", "constant", "one-nan", "one-nan", "some-nan", "some-inf", "some-special",
)  # fmt: skip


class Maker:
    """Draws one question."""

    def __init__(self, seed: int, at: int) -> None:
        self.random = np.random.default_rng([seed, at])
        self.seeds = int(self.random.integers(0, 2**31))

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(0, len(choices)))]

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def seed(self) -> int:
        self.seeds += 1
        return self.seeds

    def size(self) -> tuple[int, int]:
        """Height and width."""
        what = self.whole(0, 99)
        if what < 5:
            return 1, 1
        if what < 11:
            return 1, self.whole(2, 200)
        if what < 17:
            return self.whole(2, 200), 1
        if what < 62:
            return self.whole(2, 24), self.whole(2, 24)
        if what < 78:
            return self.pick(7, 13, 31, 61), self.pick(5, 17, 37, 67)
        if what < 86:
            return self.whole(2, 9), self.whole(100, 400)
        if what < 94:
            return self.whole(100, 400), self.whole(2, 9)
        if what < 98:
            return self.pick(63, 64, 65, 101), self.pick(64, 65, 100, 129)
        sides: tuple[int, int] = self.pick((300, 257), (300, 257), (513, 401), (33, 2049), (2049, 33), (1, 20_000), (20_000, 1))
        return sides

    def fill(self, dtype: str, shape: tuple[int, ...]) -> dict[str, Any]:
        kind = self.pick(*(FLOAT_KINDS if dtype.startswith("float") else INTEGER_KINDS))
        if dtype == "float16" and self.chance(0.4):
            kind = "offset"
        if kind != "constant":
            return {"kind": kind, "seed": self.seed(), "of": list(shape)}
        if dtype == "bool":
            return {"kind": kind, "value": 1}
        if dtype.startswith("float"):
            return {"kind": kind, "value": self.pick(1.0, 0.1, -2.5, 0.0, 1000.0)}
        info = np.iinfo(dtype)
        return {"kind": kind, "value": self.pick(int(info.max), int(info.min), int(info.max) // 2 + 1, 7)}

    def region(self, height: int, width: int) -> tuple[int, int, int, int]:
        what = self.whole(0, 19)
        x, y = self.whole(0, width - 1), self.whole(0, height - 1)
        if what == 0:
            return 0, 0, width, height
        if what == 1:
            return x, y, 1, 1
        if what == 2:
            return x, y, width - x, height - y
        if what == 3:
            return 0, 0, x + 1, y + 1
        if what == 4:
            return (x, y, 0, self.whole(0, height - y)) if self.chance(0.5) else (x, y, self.whole(0, width - x), 0)
        if what == 5:
            return width - 1, 0, 1, height
        return x, y, self.whole(1, width - x), self.whole(1, height - y)

    def regions(self, height: int, width: int) -> tuple[tuple[int, ...], ...]:
        count = self.whole(1, 6) if not self.chance(0.01) else self.whole(1000, 3000)
        return tuple(self.region(height, width) for _ in range(count))

    def outside(self, height: int, width: int) -> tuple[int, int, int, int]:
        """A region that leaves the image."""
        x, y, w, h = self.region(height, width)
        beyond = ((x, y, width - x + 3, h), (x, y, w, height - y + 1), (-2, y, w + 2, h), (x, -1, w, h + 1), (width + 2, y, 4, 4))
        return (*beyond, (-9, -9, width + 20, height + 20))[self.whole(0, 5)]


def generate(seed: int, at: int, family: str | None = None, big: bool = True) -> Question:
    """The question of that number in the run of that seed."""
    make = Maker(seed, at)
    family = family or make.pick(*(("regions",) * 10), "volume", *(("table",) * 3), *(("histogram",) * 4), *(("window",) * 4), "ranks", "local", "local", "sizes", "cascade", "stores", "quantiles")
    dtype = make.pick(*DTYPES)
    height, width = make.size()
    if dtype == "float16" and make.chance(0.5):  # sums of halves round where there are many
        height, width = make.whole(60, 110), make.whole(60, 110)
    batch = make.pick(2, 3) if make.chance(0.08) else 1
    channels = make.whole(2, 5) if make.chance(0.2) else 1
    if height * width * batch * channels > 120_000:
        batch = channels = 1
    shape = (batch, height, width, channels)
    said: dict[str, Any] = {"family": family, "dtype": dtype, "shape": shape, "fill": make.fill(dtype, shape)}
    said["regions"] = make.regions(height, width)
    said["threads"] = make.pick(1, 1, 1, 2, 3)
    said["params"] = {
        "form": make.whole(0, 9), "strip_rows": make.pick(1, 2, 5, 7, 16, 64), "tile": [make.pick(4, 16, 33), make.pick(4, 8, 32)],
        "workers": make.whole(1, 3),
    }  # fmt: skip
    if make.chance(0.06):
        said["regions"] = (*said["regions"][:5], make.outside(height, width))
        said["outside"] = make.pick("clip", "clip", "error")
    if make.chance(0.35):
        said["backend"] = "simt"
    more = {
        "regions": _regions, "volume": _volume, "table": _table, "histogram": _histogram, "window": _window, "ranks": _ranks, "local": _local, "sizes": _sizes,
        "cascade": _cascade, "stores": _stores, "quantiles": _quantiles,
    }  # fmt: skip
    more[family](make, said)
    return Question(**said)


def on_device(question: Question, device: str) -> Question:
    """The question with `device` in place of the simulated machine: both have the same algorithms."""
    return question.but(backend=device) if question.backend == "simt" else question


def _some_mask(make: Maker, shape: tuple[int, ...]) -> dict[str, Any]:
    """A mask that leaves out nearly all, a third or next to none of the pixels."""
    return {"kind": make.pick("sparse", *("extremes",) * 14, *("uniform",) * 5), "seed": make.seed(), "of": [1, *shape[1:3], 1]}


def _tables(make: Maker, said: dict[str, Any]) -> None:
    """What tables of sums may be asked for."""
    kind = TYPE_OF[said["dtype"]]
    if make.chance(0.2):
        said["types"] = make.pick(*PAIRS[kind])
    if make.chance(0.35):
        said["border"] = make.pick("none", "exclusive")
    if make.chance(0.25):
        said["mask"] = _some_mask(make, said["shape"])
    if said["dtype"].startswith("float") and make.chance(0.35):
        said["ignore_nan"] = True
    if make.chance(0.5):
        said["algorithm"] = make.pick(*((*SAT_SIMT, "bands", "relay") if said.get("backend") == "simt" else SAT_CPU))
    said["layout"] = make.pick("planar", "planar", "interleaved")


def _regions(make: Maker, said: dict[str, Any]) -> None:
    _tables(make, said)
    stats = ["sum", "mean", "variance", "std"]
    if "mask" in said or "ignore_nan" in said:
        stats.append("count")
    chosen = [stat for stat in stats if make.chance(0.6)]
    said["stats"] = tuple(chosen or ["sum"])
    if make.chance(0.12):
        said["squares"] = make.pick(*SQUARES)
    if make.chance(0.05):
        said.update(reverse=True, border="zero")
        said.pop("algorithm", None)


def _volume(make: Maker, said: dict[str, Any]) -> None:
    _tables(make, said)
    _, height, width, _ = said["shape"]
    depth = make.pick(1, 2, 3, 7) if height * width < 20_000 else 2
    said.update(volume=True, stats=("sum",), shape=(depth, height, width, 1))
    said["fill"] = make.fill(said["dtype"], said["shape"])
    said.pop("algorithm", None)


def _table(make: Maker, said: dict[str, Any]) -> None:
    _tables(make, said)
    said["squares"] = make.pick("no", "no", "no", "auto", "auto", make.pick(*SQUARES))
    said["regions"] = ()
    said.pop("outside", None)
    _, height, width, _ = said["shape"]
    what = make.whole(0, 9)
    if what == 0 and height <= 40 and width <= 200 and "mask" not in said:
        said.update(tilted=True)
        said.pop("algorithm", None)
    elif what == 1:
        said.update(reverse=True)
        said.pop("algorithm", None)
    elif what == 2 and said["shape"][3] == 1:
        said.update(volume=True)
        said.pop("algorithm", None)


def _histogram(make: Maker, said: dict[str, Any]) -> None:
    dtype, shape = said["dtype"], said["shape"]
    said["border"] = make.pick("none", "none", "none", "zero", "zero", "exclusive")
    if make.chance(0.15):
        said["regions"] = (*said["regions"][:5], make.outside(*shape[1:3]))
        said["outside"] = make.pick("clip", "clip", "error")
    said["algorithm"] = make.pick(*((*HISTOGRAM_SIMT, "count-then-write") if said.get("backend") == "simt" else HISTOGRAM_CPU))
    said["stats"] = tuple(stat for stat in ("entropy", "median", "mode", "mean", "normalise", "percentile") if make.chance(0.2))
    bins = make.pick(1, 2, 4, 8, 16, 33)
    what = make.whole(0, 9)
    if what < (5 if dtype.startswith("float") else 3):
        said["binning"] = {"bins": bins}
    elif what < 7:
        low, high = make.pick((0, 10), (-5, 5), (0, 1), (0.25, 7.75), (1, 256), (-1000, 70000))
        said["binning"] = {"bins": bins, "range": [low, high]}
    elif what < 9 or dtype.startswith("float") or dtype == "bool":
        edges = sorted({round(float(v), 2) for v in make.random.uniform(-10, 60, make.whole(2, 9))})
        said["binning"] = {"edges": edges if len(edges) > 1 else [0.0, 1.0]}
    else:
        said["binning"] = {"labels": make.pick(1, 5, 12)}
    if dtype in ("bool", "uint8", "uint16") and make.chance(0.1):
        said["binning"] = {"lookup": [make.whole(-1, bins - 1) for _ in range(make.pick(2, 7, 256))] + [bins - 1]}
    elif shape[3] in (2, 3) and make.chance(0.4):
        bins = make.pick(1, 2, 3, 4)
        said["binning"] = {"joint": bins, **({"range": make.pick([0, 10], [-5, 70])} if make.chance(0.5) or dtype.startswith("float") else {})}
        bins **= shape[3]
    if not {"labels", "lookup"} & set(said["binning"]) and make.chance(0.25):
        said["clamp"] = True
    if make.chance(0.12) and shape[3] == 1:
        said["weights"] = {"kind": "whole", "seed": make.seed(), "of": [1, *shape[1:3], 1], "dtype": make.pick("float32", "float64")}
    if make.chance(0.15):
        counters = ("32f", "64f") if "weights" in said else ("16u", "64u") if said.get("backend") == "simt" else ("64u",)
        said["params"]["counter"] = make.pick(*counters)
    if said.get("backend") == "simt" and shape[1] * shape[2] * bins > 6_000:
        said["params"].pop("counter", None)
        said["backend"], said["algorithm"] = "cpu", "auto"  # launches of every row and bin take minutes on the simulated machine


def _stores(make: Maker, said: dict[str, Any]) -> None:
    """Histograms of what stores alone take: masks, and options of theirs."""
    _histogram(make, said)
    for name in ("algorithm", "border"):
        said.pop(name, None)
    said["params"].pop("counter", None)
    said["stats"] = ()
    if "weights" not in said and make.chance(0.6):
        said["mask"] = _some_mask(make, said["shape"])
    if make.chance(0.3):
        said["params"]["block"] = make.pick(32, 64, 128)


def _quantiles(make: Maker, said: dict[str, Any]) -> None:
    """Quantiles and percentiles of regions, and how many pixels lie below values."""
    said["stats"] = (make.pick("quantile", "quantile", "percentile", "below"),)
    params = said["params"]
    if make.chance(0.6):
        params["store"] = make.pick("none", "rank")
    if said["stats"] == ("quantile",):
        params["targets"] = [make.pick(0, 0.5, 0.5, 1, 0.25, 0.1, 0.99, round(float(make.random.random()), 4)) for _ in range(make.whole(1, 4))]
        if make.chance(0.5):
            params["method"] = make.pick(*QUANTILE_METHODS)
    elif said["stats"] == ("percentile",):
        params["targets"] = [make.pick(0, 50, 100, 12.5, make.whole(0, 100)) for _ in range(make.whole(1, 4))]
    else:
        params["targets"] = [make.pick(0, 1, -1, 7.5, 128, 256, 70_000, -0.0, 1e30, "nan", "inf", "-inf") for _ in range(make.whole(1, 4))]
    if TYPE_OF[said["dtype"]] == "16u" and make.chance(0.1):
        params["bits"] = 16


def _window(make: Maker, said: dict[str, Any]) -> None:
    _, height, width, _ = said["shape"]
    edge = make.pick(*EDGES)
    size = [make.pick(1, 2, 3, 3, 5, 8, 15), make.pick(1, 2, 3, 3, 4, 7, 11)]
    if make.chance(0.15) and height * width <= 2000:
        size = [make.whole(12, 90), make.whole(12, 70)]
    if edge == "valid":
        size = [min(size[0], width), min(size[1], height)]
    window: dict[str, Any] = {"size": size, "edge": edge}
    if edge == "constant":
        window["value"] = make.pick(0, 1, 7, 200)
    if make.chance(0.2):
        window["anchor"] = [make.whole(0, size[0] - 1), make.whole(0, size[1] - 1)]
    said["stats"] = (make.pick("sum", "mean", "mean", "std", "variance"),)
    said["window"] = window
    said["regions"] = ()
    said.pop("outside", None)
    if said["dtype"].startswith("float") and make.chance(0.25):
        said["ignore_nan"] = True
    if make.chance(0.15):
        said["mask"] = _some_mask(make, said["shape"])


def _ranks(make: Maker, said: dict[str, Any]) -> None:
    """Percentiles, and of 8 and 16 bits statistics of counts by level."""
    _window(make, said)
    _, height, width, _ = said["shape"]
    if height * width > 20_000:  # the oracle sorts every window
        said["window"]["size"] = [min(extent, 5) for extent in said["window"]["size"]]
        said["window"].pop("anchor", None)
    levels = ("equalize", "otsu", "entropy", "modal") if TYPE_OF[said["dtype"]] in ("8u", "16u") else ()
    levels += ("bilateral",) if TYPE_OF[said["dtype"]] == "8u" else ()
    said["stats"] = (make.pick("median", "percentile", *levels),)


def _local(make: Maker, said: dict[str, Any]) -> None:
    """Local thresholds, extremes, Gaussians and guided filters."""
    said["dtype"] = make.pick("bool", "uint8", "uint8", "uint16", "int16", "int32", "float32", "float64")
    said["fill"] = make.fill(said["dtype"], said["shape"])
    _window(make, said)
    window, (_, height, width, _) = said["window"], said["shape"]
    stat = make.pick("threshold", "bradley", "niblack", "sauvola", "wolf", "nick", "min", "max", "gaussian", "guided")
    said["stats"] = (stat,)
    if stat == "wolf" and said["dtype"] in ("int32", "float32", "float64"):
        said["dtype"] = "uint16"  # among equal pixels of these the deviation is rounding, and so is the threshold
        said["fill"] = make.fill(said["dtype"], said["shape"])
    if stat not in ("min", "max") and said["dtype"].startswith("float"):
        said["fill"] = {"kind": make.pick("normal", "unit", "whole", "offset"), "seed": make.seed(), "of": list(said["shape"])}
    if stat in ("gaussian", "guided"):
        for name in ("mask", "ignore_nan"):
            said.pop(name, None)
        window.pop("anchor", None)
        if window["edge"] == "valid":
            window["edge"] = "reflect"
    if stat == "gaussian":
        window["size"], window["sigma"] = [1, 1], [make.pick(0, 0.6, 1.5, 3, 7.5), make.pick(0.3, 1, 2.5, 8)]
    elif stat == "guided":
        said["dtype"] = make.pick("uint8", "uint8", "uint16", "float32")
        said["fill"] = make.fill(said["dtype"], said["shape"]) if said["dtype"] != "float32" else {"kind": "unit", "seed": make.seed(), "of": list(said["shape"])}
        window["size"], window["eps"] = [max(3, min(extent, 21) | 1) for extent in window["size"]], make.pick(0.01, 1, 400)
    elif stat not in ("min", "max"):
        window["r"], window["offset"] = make.pick(1, 50.5, 128), make.pick(0, 0, 2.5)


def _sizes(make: Maker, said: dict[str, Any]) -> None:
    """Windows of a size per pixel, of images that an oracle can add up window by window."""
    batch, height, width, channels = said["shape"]
    height, width = (min(height, 40), min(width, 60)) if height * width * batch * channels > 2500 else (height, width)
    said["shape"] = (batch, height, width, channels)
    said["fill"] = make.fill(said["dtype"], said["shape"])
    if make.chance(0.8):
        said["backend"] = "cpu"  # the others have no kernels for them
    longest = max(height, width)
    most = make.pick(1, 3, 9, 9, longest, 2 * longest + 1)
    said["window"] = {
        "size": [1, 1], "edge": "shrink",
        "sizes": {"seed": make.seed(), "most": int(most), "channels": make.pick(1, 2), "type": make.pick("uint16", "int32"), "of": [batch, height, width]},
    }  # fmt: skip
    said["stats"] = (make.pick("sum", "mean", "mean", "variance", "std", "count"),)
    said["regions"] = ()
    said.pop("outside", None)
    if said["dtype"].startswith("float") and make.chance(0.35):
        said["ignore_nan"] = True
    if make.chance(0.3):
        said["mask"] = _some_mask(make, said["shape"])
    said["layout"] = make.pick("planar", "interleaved")


def _cascade(make: Maker, said: dict[str, Any]) -> None:
    """Objects of a small cascade in a picture of bytes."""
    batch, height, width, _ = said["shape"]
    if height * width > 8000 or make.chance(0.9):
        height, width = make.whole(9, 90), make.whole(9, 90)
    said.update(dtype="uint8", shape=(batch, height, width, 1), regions=(), backend="cpu")
    said.pop("outside", None)
    said["fill"] = make.fill("uint8", said["shape"])
    if make.chance(0.7):
        said["fill"] = {"kind": "patches", "seed": make.seed(), "of": list(said["shape"])}
    said["cascade"] = {
        "kind": make.pick("haar", "tilted", "lbp"), "size": [make.whole(9, 14), make.whole(9, 14)], "stages": make.whole(1, 4),
        "nodes": make.pick(1, 1, 2, 5, 9), "old": make.chance(0.3), "seed": make.seed(),
    }  # fmt: skip
    params = said["params"]
    params["scale_factor"] = make.pick(1.05, 1.1, 1.2, 1.37, 1.5, 2, 3.3)
    params["min_neighbors"] = make.pick(0, 0, 1, 2, 3)
    if make.chance(0.3):
        params["min_size"] = [make.whole(1, 30), make.whole(1, 30)]
    if make.chance(0.3):
        params["max_size"] = [make.whole(1, 70), make.whole(1, 70)]
