"""The doors of the Python package for other libraries' arrays, and in place of other libraries: skimage, cv2, Dask, Zarr, PyTorch, JAX."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np

from answers import Answer, Broken, Refused
from door import Door
from doors_program import cascade_of
from doors_python import STATS, answers_of, areal, as_objects, asked, in_memory, laid_out, mask_for, type_of
from questions import SQUARES, Question, pixels
from room import Room

ONE = ("regions", "table")


def there(name: str) -> bool:
    """Whether a framework is installed."""
    return importlib.util.find_spec(name) is not None


def has_gpu() -> bool:
    """Whether areal computes on a GPU here."""
    return any(name == "cuda" and available for name, available, _ in areal().backends())


def skimage(room: Room, question: Question) -> Answer:
    """areal.skimage.integral_image, and integrate."""
    import areal.skimage as skimage

    def call() -> Answer:
        image = in_memory(np.ascontiguousarray(pixels(question)[0, :, :, 0]), question.params.get("form", 0))
        with np.errstate(all="ignore"):
            table = skimage.integral_image(image)
        kind = type_of(table.dtype)
        if question.family == "table":
            return Answer({"sum": table[None, :, :, None]}, kind, algorithm="4r1w-cpu" if question.dtype == "float16" else "")
        regions = [r for r in question.regions if r[2] > 0 and r[3] > 0]
        start, end = [(y, x) for x, y, _, _ in regions], [(y + h - 1, x + w - 1) for x, y, w, h in regions]
        some = iter(skimage.integrate(table, start, end).tolist() if regions else [])
        got = [next(some) if r[2] > 0 and r[3] > 0 else 0.0 for r in question.regions]
        return Answer({"sum": as_objects(np.array(got), (len(got), 1, 1))}, kind, spreads=True, algorithm="4r1w-cpu")

    try:
        return asked(call)
    except IndexError as error:  # as scikit-image has it
        raise Refused(str(error)) from None


def cv2_integral(room: Room, question: Question) -> Answer:
    """areal.cv2.integral, integral2 and integral3."""
    import areal.cv2 as cv2

    def call() -> Answer:
        image = pixels(question)[0]
        image = in_memory(image if question.shape[3] > 1 else np.ascontiguousarray(image[:, :, 0]), question.params.get("form", 0))
        if question.tilted:
            total, squares, tilted = cv2.integral3(image)
            tables = {"sum": total, "squares": squares, "tilted": tilted}
        elif question.squares != "no":
            total, squares = cv2.integral2(image)
            tables = {"sum": total, "squares": squares}
        else:
            tables = {"sum": cv2.integral(image)}
        shaped = {what: (table if table.ndim == 3 else table[..., None])[None] for what, table in tables.items()}
        return Answer(shaped, type_of(tables["sum"].dtype), "64f", algorithm="")

    try:
        return asked(call)
    except cv2.error as error:
        raise Refused(str(error)) from None


CV2_BORDERS = {"zero": 0, "replicate": 1, "symmetric": 2, "reflect": 4}


def cv2_box(room: Room, question: Question) -> Answer:
    """areal.cv2.boxFilter into doubles."""
    import areal.cv2 as cv2

    def call() -> Answer:
        image = pixels(question)[0]
        image = image if question.shape[3] > 1 else np.ascontiguousarray(image[:, :, 0])
        window = question.window
        got = cv2.boxFilter(
            in_memory(image, question.params.get("form", 0)), 6, tuple(window["size"]), anchor=tuple(window.get("anchor", (-1, -1))),
            normalize=question.stats[0] == "mean", borderType=CV2_BORDERS[window["edge"]],
        )  # fmt: skip
        return Answer({question.stats[0]: got.reshape((1, *got.shape[:2], question.shape[3]))}, "64f", spreads=True)

    try:
        return asked(call)
    except cv2.error as error:
        raise Refused(str(error)) from None


def cv2_cascade(room: Room, question: Question) -> Answer:
    """areal.cv2.CascadeClassifier(path).detectMultiScale2, of gray pixels or of colours that are gray."""
    import areal.cv2 as cv2

    params, form = question.params, question.params.get("form", 0)
    names = {"scale_factor": "scaleFactor", "min_neighbors": "minNeighbors", "min_size": "minSize", "max_size": "maxSize"}
    more = {names[name]: value for name, value in params.items() if name in names}

    def call() -> Answer:
        classifier = cv2.CascadeClassifier(str(cascade_of(room, question)))
        found = []
        for image in pixels(question):
            image = image.repeat(3, axis=2) if form % 3 == 0 else image[:, :, 0]
            boxes, windows = classifier.detectMultiScale2(in_memory(image, form), **more)
            found.append([(*box, n) for box, n in zip(np.asarray(boxes).tolist(), np.asarray(windows).tolist(), strict=True)])
            plain = classifier.detectMultiScale(in_memory(image, form), **more)
            if np.asarray(plain).tolist() != np.asarray(boxes).tolist():
                raise Broken("spellings that differ", "detectMultiScale and detectMultiScale2")
        return Answer({"boxes": found})

    try:
        return asked(call)
    except cv2.error as error:
        raise Refused(str(error)) from None


def dask(room: Room, question: Question) -> Answer:
    """areal.dask.integral_image, and sat(x).sum(boxes), in chunks."""
    import areal.dask
    import dask.array

    def call() -> Answer:
        image = np.ascontiguousarray(pixels(question)[0, :, :, 0])
        chunks = tuple(max(size, length // 3) for size, length in zip(question.params.get("tile", (4, 4)), image.shape))
        array = dask.array.from_array(image, chunks=chunks)
        if question.family == "table":
            table = areal.dask.integral_image(array).compute(scheduler="synchronous")
            return Answer({"sum": table[None, :, :, None]}, type_of(table.dtype), algorithm="4r1w-cpu")
        table = areal.dask.sat(array)
        got = table.sum(np.array(question.regions), outside=question.outside).compute(scheduler="synchronous")
        kind = type_of(table.array.dtype)
        return Answer({"sum": as_objects(got, (len(question.regions), 1, 1))}, kind, spreads=True, algorithm="4r1w-cpu")

    return asked(call)


def zarr(room: Room, question: Question) -> Answer:
    """areal.zarr.write, and areal.open(..).sum(boxes)."""
    import areal.zarr

    def call() -> Answer:
        path = room.path("python.zarr")
        areal.zarr.write(np.ascontiguousarray(pixels(question)[0, :, :, 0]), str(path), tile=64)
        table = areal.open(str(path))
        got = table.sum(np.array(question.regions), outside=question.outside)
        return Answer({"sum": as_objects(got, (len(question.regions), 1, 1))}, "64u")

    return asked(call)


def require_valid(first: Any) -> None:
    """A call with boxes on the device does not wait, so it refuses none; with refused=True it tells the first invalid one."""
    if int(first) >= 0:
        raise Refused("refused=True told of a region outside, or that an exclusive table lacks")


def torch(room: Room, question: Question, device: str = "cpu") -> Answer:
    """areal.sat of a tensor on that device, with boxes on that device."""
    import torch

    def call() -> Answer:
        array, letters = laid_out(question.but(params={}))
        mask = mask_for(question, letters)
        table = areal().sat(
            torch.from_numpy(array).to(device), letters, squares=bool({"variance", "std"} & set(question.stats)), border=question.border,
            mask=None if mask is None else torch.from_numpy(mask).to(device), ignore_nan=question.ignore_nan, reverse=question.reverse,
            **({"threads": question.threads} if device == "cpu" else {}),
        )  # fmt: skip
        shape = (len(question.regions), question.shape[0], question.shape[3])
        regions = torch.tensor(question.regions, dtype=torch.int64, device=device).reshape(-1, 4)
        values = {}
        if device != "cpu":
            require_valid(table.sum(regions, outside=question.outside, refused=True)[1])
        for stat in question.stats:
            if stat in STATS:
                got = getattr(table, STATS[stat])(regions, outside=question.outside)
                values[stat] = as_objects(got.detach().cpu().numpy(), shape)
        return Answer(values, type_of(str(table.array.dtype).removeprefix("torch.")), "", spreads=True, in_doubles=True)

    try:
        return asked(call)
    except TypeError as error:  # torch has no such dtype
        raise Refused(str(error)) from None


def cupy(room: Room, question: Question) -> Answer:
    """areal.sat of a CuPy array, with boxes in one."""
    import cupy

    def call() -> Answer:
        array, letters = laid_out(question.but(params={}))
        mask = mask_for(question, letters)
        table = areal().sat(
            cupy.asarray(array), letters, squares=bool({"variance", "std"} & set(question.stats)), border=question.border,
            mask=None if mask is None else cupy.asarray(mask), ignore_nan=question.ignore_nan, reverse=question.reverse,
        )  # fmt: skip
        shape = (len(question.regions), question.shape[0], question.shape[3])
        regions = cupy.asarray(question.regions, dtype=cupy.int64).reshape(-1, 4)
        values = {}
        require_valid(table.sum(regions, outside=question.outside, refused=True)[1])
        for stat in question.stats:
            if stat in STATS:
                values[stat] = as_objects(cupy.asnumpy(getattr(table, STATS[stat])(regions, outside=question.outside)), shape)
        return Answer(values, type_of(str(table.array.dtype)), "", spreads=True, in_doubles=True)

    return asked(call)


def jax(room: Room, question: Question) -> Answer:
    """areal.jax.sat."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import areal.jax

    def call() -> Answer:
        array, letters = laid_out(question.but(params={}))
        table = areal.jax.sat(jax.numpy.asarray(array), letters, squares=bool({"variance", "std"} & set(question.stats)))
        values = {}
        for stat in question.stats:
            if stat in STATS:
                got = np.asarray(getattr(table, STATS[stat])(np.array(question.regions), outside=question.outside))
                values[stat] = as_objects(got, (len(question.regions), question.shape[0], question.shape[3]))
        return Answer(
            values,
            "64f" if question.is_float else "64u" if question.dtype == "bool" else "64s",
            spreads=True,
            algorithm="4r1w-cpu",
            in_doubles=True,
        )

    return asked(call)


def _plain(question: Question) -> bool:
    return question.mask is None and not question.ignore_nan and not question.types and not question.reverse and not question.volume


def _one_plane(question: Question) -> bool:
    return _plain(question) and question.shape[0] == 1 and question.shape[3] == 1 and not question.tilted


def _inclusive(question: Question) -> bool:
    return _one_plane(question) and (
        question.family == "regions" and "sum" in question.stats or question.border == "none" and question.squares == "no"
    )


def _for_skimage(question: Question, x: int, y: int, w: int, h: int) -> bool:
    """Regions that scikit-image can name: its corners are inclusive, so that empty ones are 0 at the door."""
    inside = x + w <= question.shape[2] and y + h <= question.shape[1]
    return min(x, y, w, h) >= 0 and (inside or w * h > 0)


def _frameworks() -> tuple[Door, ...]:
    doors = [
        Door("skimage", ONE, skimage, lambda q: _inclusive(q) and q.outside != "clip" and all(_for_skimage(q, *r) for r in q.regions)),
        Door("cv2-integral", ("table",), cv2_integral, lambda q: _plain(q) and q.shape[0] == 1 and q.border == "zero" and q.squares not in SQUARES and q.shape[3] <= 4 and q.dtype in ("uint8", "float32", "float64")),
        Door("cv2-cascade", ("cascade",), cv2_cascade),
        Door(
            "cv2-boxFilter", ("window",), cv2_box,
            lambda q: q.shape[0] == 1 and q.shape[3] <= 4 and q.window["edge"] in CV2_BORDERS and q.stats[0] in ("sum", "mean") and not q.ignore_nan and q.mask is None
            and q.dtype in ("uint8", "uint16", "int16", "float32", "float64") and min(q.shape[1:3]) > 16,
        ),
    ]  # fmt: skip
    if there("dask"):
        doors.append(Door("dask", ONE, dask, _inclusive, 0.12))
    if there("zarr"):
        doors.append(Door("zarr", ("regions",), zarr, lambda q: _inclusive(q) and q.dtype in ("bool", "uint8", "uint16"), 0.15))
    if there("torch"):
        doors.append(Door("torch", ("regions",), torch, lambda q: not q.types and q.dtype not in ("uint16", "uint32", "uint64"), 0.5))
        if has_gpu():
            doors.append(
                Door("torch-cuda", ("regions",), functools.partial(torch, device="cuda"), lambda q: not q.types and q.dtype not in ("uint16", "uint32", "uint64"), 0.5)
            )
    if there("cupy") and has_gpu():
        doors.append(Door("cupy", ("regions",), cupy, lambda q: not q.types, 0.5))
    if there("jax") and there("areal._jax"):  # whose handlers are built where JAX is installed
        doors.append(Door("jax", ("regions",), jax, lambda q: _plain(q) and q.border == "zero" and len(q.regions) < 50, 0.02))
    return tuple(doors)


DOORS = _frameworks()
__all__ = ["DOORS", "answers_of"]
