"""The doors of the Python package, in this process: tables, regions, windows and histograms of NumPy arrays."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from answers import Answer, Refused, require_default
from door import Door
from doors_program import cascade_of
from histograms import edges_of, of_a_channel
from local import EXTREMES
from oracle import Oracle
from questions import TYPE_OF, Question, mask_of, pixels, sizes_of, weights_of
from ranks import LEVELS, PERCENT, SIGMA_RANGE
from room import Room

DTYPE_OF = {"32u": "uint32", "32s": "int32", "64u": "uint64", "64s": "int64", "32f": "float32", "64f": "float64"}
STATS = {"sum": "sum", "mean": "mean", "variance": "var", "std": "std"}


def areal() -> Any:
    """The package, imported where it is first needed."""
    import areal

    return areal


def asked(call: Callable[[], Answer]) -> Answer:
    """What a call gives; what areal refuses raises Refused."""
    try:
        return call()
    except areal().Error as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


def laid_out(question: Question, batch: bool | None = None) -> tuple[np.ndarray, str]:
    """The image in an order of axes, and their letters."""
    image = pixels(question)
    several = question.shape[0] > 1 if batch is None else batch
    letters, axes = ("N" if several else ""), ([0] if several else [])
    if question.shape[3] == 1:
        letters, axes = letters + "HW", [*axes, 1, 2]
    elif question.layout == "interleaved":
        letters, axes = letters + "HWC", [*axes, 1, 2, 3]
    else:
        letters, axes = letters + "CHW", [*axes, 3, 1, 2]
    left = [axis for axis in range(4) if axis not in axes]
    array = image.transpose(left + axes).reshape([image.shape[axis] for axis in axes])
    return in_memory(array, question.params.get("form", 0)), letters


def in_memory(array: np.ndarray, form: int) -> np.ndarray:
    """The same numbers, lying in memory in another way."""
    if form == 1:
        return np.asfortranarray(array)
    if form == 2:
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    if form == 3:
        wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2 + 3), array.dtype)
        wide[..., 1 : array.shape[-1] + 1] = array
        return wide[..., 1 : array.shape[-1] + 1]
    if form == 4:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if form == 5 and array.dtype.itemsize > 1:
        return array.astype(array.dtype.newbyteorder())
    array = np.ascontiguousarray(array)
    if form == 6:
        array.setflags(write=False)
    return array


def canonical(array: Any, letters: str) -> np.ndarray:
    """An array of those axes as batch x height x width x channels."""
    array = np.asarray(array)
    names = letters.replace("D", "N")
    for name in "NC":
        if name not in names:
            names, array = name + names, array[None]
    return np.asarray(array.transpose([names.index(name) for name in "NHWC"]))


def options(question: Question) -> dict[str, Any]:
    """Arguments of areal.sat."""
    said: dict[str, Any] = {
        "threads": question.threads,
        "border": question.border,
        "reverse": question.reverse,
        "ignore_nan": question.ignore_nan,
    }
    if question.types:
        said["dtype"] = DTYPE_OF[question.types[len(TYPE_OF[question.dtype]) :]]
    if question.algorithm != "auto" or question.backend != "cpu":
        said.update(algorithm=question.algorithm, backend=question.backend)
    return said


def type_of(dtype: Any) -> str:
    return {"uint32": "32u", "int32": "32s", "uint64": "64u", "int64": "64s", "float32": "32f", "float64": "64f"}[str(dtype)]


def mask_for(question: Question, letters: str) -> np.ndarray | None:
    """The mask with the axes that it has to have: those of the image without its channels."""
    mask = mask_of(question)
    several = letters[0] in "ND" and mask is not None
    return np.ascontiguousarray(np.broadcast_to(mask, (question.shape[0], *mask.shape))) if several and mask is not None else mask


def table_of(question: Question, squares: Any, plan: bool = False) -> Any:
    """The table, at once or by a plan."""
    array, letters = laid_out(question)
    mask = mask_for(question, letters)
    said = options(question)
    if mask is not None and question.params.get("form", 0) % 2:
        mask = mask != 0
    if not plan:
        return areal().sat(array, letters, squares=squares, mask=mask, **said)
    if "dtype" in said:
        said["table_dtype"] = said.pop("dtype")
    made = areal().SatPlan(array.shape, array.dtype.newbyteorder("="), letters, squares=squares, mask=mask is not None, **said)
    table = made(array, mask=mask)
    return made(array, out=table, mask=mask) if question.params.get("form", 0) % 2 else table


def answers_of(room: Room, question: Question, table: Any) -> Answer:
    """Every statistic of all regions of a table."""
    regions, form = in_format(np.array(question.regions, np.int64).reshape(-1, 4), question.params.get("form", 0))
    shape = (len(question.regions), question.shape[0], question.shape[3])
    values = {}
    for stat in question.stats:
        if stat in STATS:
            got = getattr(table, STATS[stat])(regions, format=form, outside=question.outside, threads=question.threads)
            values[stat] = as_objects(got, shape)
    squares = "" if table.squares is None else type_of(np.asarray(table.squares).dtype)
    require_default(question, type_of(np.asarray(table.array).dtype))
    return Answer(values, sums=type_of(np.asarray(table.array).dtype), squares=squares, spreads=True, algorithm=table.algorithm)


def as_objects(got: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Answers as Python's numbers, regions x images x channels."""
    got = np.asarray(got)
    out = np.empty(got.size, dtype=object)
    out[:] = got.ravel().tolist()
    return out.reshape(shape) if out.size == np.prod(shape) else out.reshape(got.shape)


def in_format(regions: np.ndarray, form: int) -> tuple[np.ndarray, str]:
    """Boxes in one of the four formats; the last has no empty ones."""
    x, y, w, h = regions.T
    if form == 7:
        return np.stack([x, y, x + w, y + h], axis=1), "xyxy"
    if form == 8:
        return np.stack([y, x, y + h, x + w], axis=1), "bbox"
    if form == 9 and np.all(w > 0) and np.all(h > 0):
        return np.stack([y, x, y + h - 1, x + w - 1], axis=1), "skimage"
    return regions, "xywh"


def _squares(question: Question) -> bool:
    return bool({"variance", "std"} & set(question.stats))


def at_once(room: Room, question: Question) -> Answer:
    """areal.sat(x).sum(boxes)."""
    return asked(lambda: answers_of(room, question, table_of(question, _squares(question))))


def by_plan(room: Room, question: Question) -> Answer:
    """areal.SatPlan(..)(x).sum(boxes)."""
    return asked(lambda: answers_of(room, question, table_of(question, _squares(question), plan=True)))


def pickled(room: Room, question: Question) -> Answer:
    """A table that was pickled."""
    return asked(lambda: answers_of(room, question, pickle.loads(pickle.dumps(table_of(question, _squares(question))))))


def chosen_squares(room: Room, question: Question) -> Answer:
    """areal.sat(x, squares=DTYPE): the type of the squares is the user's, and so is what it holds."""
    kind = ("uint64", "float64", "uint32", "float32")[question.params.get("form", 0) % 4]
    answer = asked(lambda: answers_of(room, question, table_of(question, kind)))
    answer.strict_variance = False
    return answer


def one_by_one(room: Room, question: Question) -> Answer:
    """Each region by a call of its own, with refused=True."""

    def call() -> Answer:
        table = table_of(question, _squares(question))
        values = {}
        for stat in question.stats:
            if stat in STATS:
                got = [getattr(table, STATS[stat])(list(r), outside=question.outside, refused=True) for r in question.regions[:5]]
                if any(first >= 0 for _, first in got):
                    raise Refused("refused=True told of a region outside, or that an exclusive table lacks")
                values[stat] = as_objects(np.array([one for one, _ in got]), (len(got), question.shape[0], question.shape[3]))
        said = answers_of(room, question.but(stats=()), table)
        said.values = values
        return said

    if len(question.regions) > 5:
        room.oracle = Oracle(question.but(regions=question.regions[:5]))
    return asked(call)


def entries(room: Room, question: Question) -> Answer:
    """The arrays of areal.sat(x)."""

    def call() -> Answer:
        array, letters = laid_out(question)
        if question.volume:
            array, letters = laid_out(question, batch=True)
            letters = letters.replace("N", "D")
        squares = {"no": False, "auto": True}.get(question.squares) if question.squares not in DTYPE_OF else DTYPE_OF[question.squares]
        table = areal().sat(array, letters, squares=squares, tilted=question.tilted, mask=mask_for(question, letters), **options(question))
        values = {"sum": canonical(table.array, letters)}
        if squares:
            values["squares"] = canonical(table.squares, letters)
        if question.tilted:
            values["tilted"] = canonical(table.tilted, letters)
        if table.count is not None:
            values["count"] = canonical(table.count, letters.replace("C", ""))
        return Answer(values, type_of(table.array.dtype), type_of(table.squares.dtype) if squares else "", algorithm=table.algorithm)

    return asked(call)


def pieces(room: Room, question: Question) -> Answer:
    """A table made of two pieces, the lower or right one with what the other carries into it."""

    def call() -> Answer:
        array, letters = laid_out(question)
        down, across = letters.index("H"), letters.index("W")
        whole = areal().sat(array, letters, border="none", threads=question.threads)
        rows = question.params.get("form", 0) % 2 == 0
        axis, name = (down, "above") if rows else (across, "left")
        cut = max(1, array.shape[axis] // 2)
        parts = np.split(array, [cut], axis=axis)
        first = areal().sat(parts[0], letters, border="none", dtype=whole.array.dtype)
        carry = np.take(first.array, -1, axis=axis)
        second = areal().sat(parts[1], letters, border="none", dtype=whole.array.dtype, **{name: carry})
        joined = np.concatenate([first.array, second.array], axis=axis)
        return Answer({"sum": canonical(joined, letters)}, type_of(joined.dtype), algorithm="4r1w-cpu")

    return asked(call)


def windows(room: Room, question: Question) -> Answer:
    """areal.sat(x).window(size)."""

    def call() -> Answer:
        window, stat = question.window, question.stats[0]
        array, letters = laid_out(question)
        table = areal().sat(
            array, letters, squares=stat in ("variance", "std"), ignore_nan=question.ignore_nan, mask=mask_for(question, letters), threads=question.threads
        )
        width, height = window["size"]
        more = {"anchor": tuple(reversed(window["anchor"]))} if "anchor" in window else {}
        got = table.window(
            (height, width), stat={"variance": "var"}.get(stat, stat), edge=window["edge"], value=window.get("value", 0), threads=question.threads, **more,
        )  # fmt: skip
        squares = "" if table.squares is None else type_of(table.squares.dtype)
        return Answer({stat: canonical(got, letters)}, type_of(table.array.dtype), squares, spreads=True)

    return asked(call)


def filters(room: Room, question: Question) -> Answer:
    """areal.filters.mean(x, size)."""

    def call() -> Answer:
        window, stat = question.window, question.stats[0]
        array, letters = laid_out(question)
        width, height = window["size"]
        more: dict[str, Any] = {"anchor": tuple(reversed(window["anchor"]))} if "anchor" in window else {}
        if stat not in LEVELS:
            more["nan"] = "omit" if question.ignore_nan else "propagate"
        if question.family == "local":
            return Answer({stat: canonical(_local(question, array, letters), letters)}, "64f", exact=True)
        if stat not in PERCENT and stat not in LEVELS:
            more["dtype"] = "float64"
        if stat == "percentile":
            more["q"] = PERCENT[stat]
        if stat == "bilateral":
            more["sigma_range"] = SIGMA_RANGE
        got = getattr(areal().filters, {"variance": "var"}.get(stat, stat))(
            array, (height, width), axes=letters, edge=window["edge"], value=window.get("value", 0), mask=mask_for(question, letters), min_count=0,
            threads=question.threads, **more,
        )  # fmt: skip
        return Answer({stat: canonical(got, letters)}, "64f" if question.is_float else "64s", exact=True)

    return asked(call)


def _local(question: Question, array: np.ndarray, letters: str) -> Any:
    """Thresholds, extremes, Gaussians and guided filters, whose arguments differ."""
    window, stat = question.window, question.stats[0]
    said: dict[str, Any] = {"axes": letters, "edge": window["edge"], "value": window.get("value", 0), "threads": question.threads}
    if stat == "gaussian":
        return areal().filters.gaussian(array, tuple(reversed(window["sigma"])), dtype="float64", **said)
    size = tuple(reversed(window["size"]))
    if stat == "guided":
        radius = (size[0] // 2, size[1] // 2)
        return areal().filters.guided(array, radius, window["eps"], dtype="float32", **said)
    said.update(mask=mask_for(question, letters), nan="omit" if question.ignore_nan else "propagate")
    if "anchor" in window:
        said["anchor"] = tuple(reversed(window["anchor"]))
    if stat in EXTREMES:
        return getattr(areal().filters, stat)(array, size, **said)
    method = "mean" if stat == "threshold" else stat
    return areal().filters.threshold(array, size, method=method, r=window["r"] if stat == "sauvola" else None, offset=window["offset"], dtype="float64", **said)


def filters_of_sizes(room: Room, question: Question) -> Answer:
    """areal.filters.mean(x, an array of sizes)."""

    def call() -> Answer:
        array, letters = laid_out(question)
        sizes, stat = sizes_of(question), question.stats[0]
        one = sizes.shape[3] == 1
        if question.shape[0] == 1:
            sizes = sizes[0]
        if one:
            sizes = sizes[..., 0]
        elif letters.endswith("CHW"):
            sizes = np.ascontiguousarray(np.moveaxis(sizes, -1, -3))
        if question.params.get("form", 0) % 3 == 0:
            sizes = sizes.astype(np.int64)
        more = {} if stat == "count" else {"min_count": 0}
        got = getattr(areal().filters, {"variance": "var"}.get(stat, stat))(
            array, sizes, axes=letters, mask=mask_for(question, letters), nan="omit" if question.ignore_nan else "propagate", dtype="float64",
            threads=question.threads, **more,
        )  # fmt: skip
        return Answer({stat: canonical(got, letters)})

    return asked(call)


def detections(room: Room, question: Question) -> Answer:
    """areal.Cascade(path).detect(x), image by image."""
    names = ("scale_factor", "min_neighbors", "min_size", "max_size")
    more = {name: tuple(value) if isinstance(value, list) else value for name, value in question.params.items() if name in names}

    def call() -> Answer:
        path = cascade_of(room, question)
        cascade = areal().Cascade.parse(path.read_text()) if question.params.get("form", 0) % 2 else areal().Cascade(path)
        images = (in_memory(image[:, :, 0], question.params.get("form", 0)) for image in pixels(question))
        return Answer({"boxes": [cascade.detect(image, threads=question.threads, **more) for image in images]})

    return asked(call)


def volume(room: Room, question: Question) -> Answer:
    """areal.sat(volume, "DHW").sum(boxes of the whole depth)."""

    def call() -> Answer:
        array = in_memory(np.ascontiguousarray(pixels(question)[..., 0]), question.params.get("form", 0))
        table = areal().sat(array, "DHW", mask=mask_for(question, "DHW"), **options(question))
        six = np.array([[x, y, 0, w, h, question.shape[0]] for x, y, w, h in question.regions])
        got = as_objects(table.sum(six, outside=question.outside), (len(six), 1, 1))
        return Answer({"sum": got}, type_of(table.array.dtype), spreads=True)

    return asked(call)


def boxes(room: Room, question: Question) -> Answer:
    """areal.sat(volume, "DHW").sum(boxes of six numbers), each of all slices, which are together the regions of one image."""

    def call() -> Answer:
        array = in_memory(np.ascontiguousarray(pixels(question)[..., 0]), question.params.get("form", 0))
        table = areal().sat(array, "DHW", threads=question.threads)
        six = np.array([[[x, y, z, w, h, 1] for z in range(question.shape[0])] for x, y, w, h in question.regions])
        got = np.asarray(table.sum(six.reshape(-1, 6), outside=question.outside))
        return Answer(
            {"sum": as_objects(got, (len(question.regions), question.shape[0], 1))},
            type_of(table.array.dtype),
            spreads=True,
            deep=True,
            algorithm="4r1w-cpu",
        )

    return asked(call)


# ---------------------------------------------------------------- histograms

MEASURES = {"entropy": "entropy", "median": "median", "mode": "mode", "mean": "mean", "normalise": "normalised"}


def _binning(question: Question) -> dict[str, Any]:
    said: dict[str, Any] = dict(question.binning)
    if "joint" in said:
        edges = edges_of(of_a_channel(question))
        one = areal().Binning(said["joint"], (edges[0], edges[-1]), clamp=question.clamp)
        return {"joint": [one] * question.shape[3]}
    if "range" in said:
        said["range"] = tuple(said["range"])
    elif "bins" in said and question.is_float:
        said["range"] = (0, 1)
    return {**said, "clamp": question.clamp}


def histograms(room: Room, question: Question) -> Answer:
    """areal.histograms(x, boxes=..), plane by plane where there are channels: it counts one channel, or joint ones."""
    return _by_plane(
        room,
        question,
        lambda array, letters, weights: areal().histograms(
            array,
            boxes=np.array(question.regions),
            weights=weights,
            axes=letters,
            outside=question.outside,
            threads=question.threads,
            **_binning(question),
        ),
    )


def histograms_of_store(room: Room, question: Question) -> Answer:
    """areal.histograms(x, boxes=.., store=..)."""
    stores = ("none", "tensor") if question.weights is not None else ("none", "compact", "tensor")
    store = stores[(question.params.get("form", 0) + len(question.regions)) % len(stores)]
    return _by_plane(
        room,
        question,
        lambda array, letters, weights: areal().histograms(
            array, boxes=np.array(question.regions), weights=weights, axes=letters, outside=question.outside, store=store, **_binning(question)
        ),
    )


def kept_store(room: Room, question: Question) -> Answer:
    """areal.histogram_store(x, ..).counts(boxes)."""
    mask = mask_of(question)

    def counted(array: np.ndarray, letters: str, weights: Any) -> Any:
        assert weights is None
        store = areal().histogram_store(
            array, mask=mask, axes=letters, block=question.params.get("block", 0), threads=question.threads, **_binning(question)
        )
        boxes, form = in_format(np.array(question.regions, np.int64).reshape(-1, 4), question.params.get("form", 0))
        return perhaps_pickled(store, question).counts(boxes, format=form, outside=question.outside)

    return _by_plane(room, question, counted)


def perhaps_pickled(store: Any, question: Question) -> Any:
    return pickle.loads(pickle.dumps(store)) if question.params.get("form", 0) % 2 else store


def kept_ranks(room: Room, question: Question) -> Answer:
    """areal.histogram_store(x).quantiles(boxes, q)."""
    params = question.params

    def call() -> Answer:
        array, letters = laid_out(question)
        boxes, form = in_format(np.array(question.regions, np.int64).reshape(-1, 4), params.get("form", 0))
        store = perhaps_pickled(areal().histogram_store(array, axes=letters, bits=params.get("bits", 0), threads=question.threads), question)
        got = store.quantiles(boxes, params["targets"], params.get("method", "linear"), format=form, outside=question.outside)
        return Answer({"quantile": np.asarray(got).reshape(len(boxes), question.shape[0], question.shape[3], -1)})

    return asked(call)


def quantiles(room: Room, question: Question) -> Answer:
    """areal.quantiles(x, boxes, q)."""
    params = question.params

    def call() -> Answer:
        array, letters = laid_out(question)
        boxes, form = in_format(np.array(question.regions, np.int64).reshape(-1, 4), params.get("form", 0))
        got = areal().quantiles(
            array, boxes, params["targets"], params.get("method", "linear"), axes=letters, format=form, outside=question.outside,
            store=params.get("store", "auto"), bits=params.get("bits", 0), threads=question.threads,
        )  # fmt: skip
        return Answer({"quantile": np.asarray(got).reshape(len(boxes), question.shape[0], question.shape[3], -1)})

    return asked(call)


def tensor(room: Room, question: Question) -> Answer:
    """areal.integral_histogram(x).counts(boxes), and what they say."""
    plain = question.algorithm == "auto" and question.backend == "cpu"
    more = {} if plain else {"algorithm": question.algorithm, "backend": question.backend}
    counter = None if question.weights is not None else DTYPE_OF.get(question.params.get("counter", ""))

    def made(array: np.ndarray, letters: str, weights: Any) -> Any:
        return areal().integral_histogram(
            array, weights=weights, axes=letters, dtype=counter, border=question.border, threads=question.threads, **more, **_binning(question)
        )

    def told(tensor: Any) -> dict[str, Any]:
        said: dict[str, Any] = {"counts": tensor.counts(np.array(question.regions), outside=question.outside)}
        for stat in question.stats:
            if stat in MEASURES:
                said[stat] = getattr(tensor, MEASURES[stat])(np.array(question.regions), outside=question.outside)
            elif stat == "percentile":
                said[stat] = tensor.percentile(90, np.array(question.regions), outside=question.outside)
        return said

    return _by_plane(room, question, lambda *arguments: told(made(*arguments)))


def _by_plane(room: Room, question: Question, call: Any) -> Answer:
    def all_planes() -> Answer:
        image, weights = pixels(question), weights_of(question)
        batch, channels, joint = question.shape[0], question.planes, "joint" in question.binning
        found: dict[str, list[list[Any]]] = {}
        for i in range(batch):
            for c in range(channels):
                plane = np.ascontiguousarray(image[i] if joint else image[i, :, :, c])
                got = call(in_memory(plane, question.params.get("form", 0)), "HWC" if joint else "HW", weights)
                for stat, values in (got if isinstance(got, dict) else {"counts": got}).items():
                    found.setdefault(stat, [[None] * channels for _ in range(batch)])[i][c] = np.asarray(values)
        return Answer({stat: np.moveaxis(np.array(values), 2, 0) for stat, values in found.items()})

    return asked(all_planes)


@functools.cache
def simulated() -> bool:
    return any(name == "simt" and there for name, there, _ in areal().backends())


def _small(question: Question) -> bool:
    return question.backend != "simt" or question.area < 2000


def _smaller(question: Question) -> bool:
    return question.backend != "simt" or question.area < 200


def _tame(question: Question) -> bool:
    return not question.volume and _small(question)


def _no_mask(question: Question) -> bool:
    return question.mask is None and not question.ignore_nan


DOORS = (
    Door("python", ("regions",), at_once, _small),
    Door("python-plan", ("regions",), by_plan, _smaller),
    Door("python-pickled", ("regions",), pickled, _smaller, 0.2),
    Door("python-squares", ("regions",), chosen_squares, lambda q: _smaller(q) and _squares(q), 0.5),
    Door("python-one-by-one", ("regions",), one_by_one, lambda q: _smaller(q) and len(q.regions) < 50),
    Door(
        "python-boxes",
        ("regions",),
        boxes,
        lambda q: _no_mask(q) and q.shape[3] == 1 and not q.reverse and "sum" in q.stats and not q.types and not (q.is_float and q.shape[0] > 1),
        0.3,
    ),
    Door("python-volume", ("volume",), volume, _small),
    Door("python-entries", ("table",), entries, _small),
    Door(
        "python-pieces",
        ("table",),
        pieces,
        lambda q: _no_mask(q)
        and not q.volume
        and not q.reverse
        and q.border == "none"
        and q.squares == "no"
        and not q.types
        and not q.tilted,
    ),
    Door("python-window", ("window",), windows),
    Door("python-filter", ("window", "ranks", "local"), filters, lambda q: not (q.ignore_nan and q.shape[3] > 1)),  # a filter takes each channel by itself
    Door("python-filter-sizes", ("sizes",), filters_of_sizes, lambda q: not (q.ignore_nan and q.shape[3] > 1)),
    Door("python-cascade", ("cascade",), detections),
    Door("python-histograms", ("histogram",), histograms),
    Door("python-histograms-store", ("histogram",), histograms_of_store, lambda q: q.area * 33 < 3_000_000, 0.5),
    Door("python-store", ("histogram", "stores"), kept_store, lambda q: q.weights is None and q.backend == "cpu"),
    Door("python-store-quantiles", ("quantiles",), kept_ranks, lambda q: q.stats == ("quantile",) and q.backend == "cpu"),
    Door("python-quantiles", ("quantiles",), quantiles, lambda q: q.stats == ("quantile",) and q.backend == "cpu"),
    Door("python-tensor", ("histogram",), tensor, lambda q: _small(q) and q.area * 33 < 3_000_000),
)
