"""Makes a failing question smaller while the same door still fails at it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from questions import Question, mask_of, pixels


def shrunk(question: Question, fails: Callable[[Question], bool], most: int = 250) -> Question:
    """The smallest question found with so many tries."""
    tries = 0
    again = True
    while again and tries < most:
        again = False
        for smaller in simpler(question):
            tries += 1
            if tries > most:
                break
            if smaller != question and _means_something(smaller) and fails(smaller):
                question, again = smaller, True
                break
    return question


def _means_something(question: Question) -> bool:
    """Whether all that is asked for is there to be asked for."""
    counts = question.family == "sizes" or "count" not in question.stats or question.mask is not None or question.ignore_nan
    joint = "joint" not in question.binning or question.shape[3] in (2, 3)
    return counts and joint and question.volume >= (question.family == "volume")


def simpler(question: Question) -> Iterator[Question]:
    """Questions that are a step simpler, the largest steps first."""
    yield from _fewer_regions(question)
    yield from _smaller_image(question)
    yield from _defaults(question)
    if len(question.stats) > 1:
        for stat in question.stats:
            yield question.but(stats=(stat,))
    yield from _smaller_regions(question)
    yield from _values(question)


def _fewer_regions(question: Question) -> Iterator[Question]:
    regions = question.regions
    if len(regions) > 1:
        half = len(regions) // 2
        yield question.but(regions=regions[:half])
        yield question.but(regions=regions[half:])
        if len(regions) <= 4:
            for n in range(len(regions)):
                yield question.but(regions=regions[:n] + regions[n + 1 :])


def _smaller_image(question: Question) -> Iterator[Question]:
    batch, height, width, channels = question.shape
    for axis, length in enumerate((batch, height, width, channels)):
        for smaller in sorted({1, length // 2, length - 1}):
            if 0 < smaller < length:
                shape = list(question.shape)
                shape[axis] = smaller
                yield cropped(question, tuple(shape))  # type: ignore[arg-type]


def cropped(question: Question, shape: tuple[int, int, int, int]) -> Question:
    """The first part of the image, and of each region what lies in it; regions outside stay so."""
    old = question.shape
    regions = []
    for x, y, w, h in question.regions:
        over_x, over_y = x + w - old[2], y + h - old[1]
        x2, y2 = min(x, shape[2]), min(y, shape[1])
        w2 = shape[2] - x2 + over_x if over_x > 0 else min(w, shape[2] - x2)
        h2 = shape[1] - y2 + over_y if over_y > 0 else min(h, shape[1] - y2)
        regions.append((x2, y2, max(w2, 0), max(h2, 0)))
    window = dict(question.window)
    if window.get("edge") == "valid":
        window["size"] = [min(window["size"][0], shape[2]), min(window["size"][1], shape[1])]
        window.pop("anchor", None)
    if "sizes" in window:
        window["sizes"] = {**window["sizes"], "of": window["sizes"].get("of", list(old[:3]))}
    weights = None if question.weights is None else {**question.weights, "of": question.weights.get("of", [1, *old[1:3], 1])}
    mask = None if question.mask is None else {**question.mask, "of": question.mask.get("of", [1, *old[1:3], 1])}
    fill = {**question.fill, "of": question.fill.get("of", list(old))}
    return question.but(shape=shape, regions=tuple(regions), window=window, fill=fill, mask=mask, weights=weights)


def _defaults(question: Question) -> Iterator[Question]:
    plain = Question()
    for field in dataclasses.fields(question):
        if field.name in ("family", "dtype", "shape", "fill", "regions", "stats", "window", "binning", "cascade"):
            continue
        if getattr(question, field.name) != getattr(plain, field.name):
            yield question.but(**{field.name: getattr(plain, field.name)})
    for name, value in question.params.items():
        if value and name != "targets":
            yield question.but(params={key: v for key, v in question.params.items() if key != name})
    if question.dtype != "uint8" and question.types is None:
        yield question.but(dtype="uint8", fill={"kind": "small", "seed": 1}, ignore_nan=False)
    if question.window.get("size", [1, 1]) != [1, 1]:
        width, height = question.window["size"]
        for size in ([width, 1], [1, height], [max(1, width // 2), height], [width, max(1, height // 2)]):
            yield question.but(window={k: v for k, v in {**question.window, "size": size}.items() if k != "anchor"})
    if question.window.get("sizes", {}).get("channels", 1) > 1:
        yield question.but(window={**question.window, "sizes": {**question.window["sizes"], "channels": 1}})
    for name in ("stages", "nodes"):
        if question.cascade.get(name, 1) > 1:
            yield question.but(cascade={**question.cascade, name: 1})
    if len(question.params.get("targets", ())) > 1:
        for target in question.params["targets"]:
            yield question.but(params={**question.params, "targets": [target]})
    if question.binning.get("bins", 1) > 1:
        yield question.but(binning={**question.binning, "bins": question.binning["bins"] // 2})
    if len(question.binning.get("edges", ())) > 2:
        yield question.but(binning={"edges": question.binning["edges"][:2]})


def _smaller_regions(question: Question) -> Iterator[Question]:
    if len(question.regions) != 1:
        return
    x, y, w, h = question.regions[0]
    for smaller in ((0, 0, w, h), (x, y, 1, h), (x, y, w, 1), (x, y, w // 2, h), (x, y, w, h // 2), (0, y, w, h), (x, 0, w, h)):
        if (
            smaller[0] + smaller[2] <= question.shape[2]
            and smaller[1] + smaller[3] <= question.shape[1]
            and smaller != (x, y, w, h)
            and min(smaller[2:]) >= 0
        ):
            yield question.but(regions=(smaller,))


def _literal(values: np.ndarray) -> list[object]:
    said = values.ravel().tolist()
    return [v if not isinstance(v, float) or np.isfinite(v) else str(v) for v in said]


def _values(question: Question) -> Iterator[Question]:
    """Simpler pixels: all equal, small ones, then one after the other."""
    if question.fill["kind"] != "constant":
        yield question.but(fill={"kind": "constant", "value": 1})
        if question.fill["kind"] != "small" and question.fill["kind"] != "literal":
            yield question.but(fill={"kind": "small" if not question.is_float else "whole", "seed": 1})
    mask = mask_of(question)
    if mask is not None and question.mask and question.mask["kind"] != "literal" and question.area <= 64:
        yield question.but(mask={"kind": "literal", "values": _literal(mask)})
    if question.area > 64 or question.fill["kind"] == "constant":
        return
    values = _literal(pixels(question))
    if question.fill["kind"] != "literal":
        yield question.but(fill={"kind": "literal", "values": values})
    else:
        for n, value in enumerate(values):
            for plain in (0, 1, 0.0, 1.0):
                if type(plain) is type(value) and plain != value and value not in (0, 1):
                    yield question.but(fill={"kind": "literal", "values": [*values[:n], plain, *values[n + 1 :]]})
