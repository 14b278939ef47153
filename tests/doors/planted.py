"""Shows that the doors test can fail: its oracle against sums written out pixel by pixel, and planted wrong answers, each of which it must find."""

from __future__ import annotations

import dataclasses
import fractions
import itertools
import math
import os
import signal
import tempfile
from typing import Any

import numpy as np

from agreement import disagreements
from answers import Answer, default_sums, judge_regions, judge_table
from cascades import Detections, judge_cascade
from doors_interrupted import can_trace, interrupted
from histograms import Histograms, judge_histogram
from local import judge_local
from oracle import BITS, Oracle
from quantiles import judge_quantiles
from questions import Maker, Question, generate, mask_of, pixels, sizes_of
from ranks import judge_ranks, right_ranks
from shrink import cropped
from sizes import judge_sizes
from windows import Windows, judge_window


def _written_out(question: Question) -> dict[str, Any]:
    """Statistics of every region by loops over Fractions; None where it is not a number."""
    image, mask = pixels(question), mask_of(question)
    found: dict[str, list[Any]] = {stat: [] for stat in ("sum", "mean", "variance", "std", "count")}
    for x, y, w, h in question.regions:
        for i, c in itertools.product(range(question.shape[0]), range(question.shape[3])):
            values = []
            for v, u in itertools.product(range(max(y, 0), min(y + h, question.shape[1])), range(max(x, 0), min(x + w, question.shape[2]))):
                nan = question.is_float and any(math.isnan(p) for p in image[i, v, u])
                if (mask is None or mask[v, u]) and not (nan and question.ignore_nan):
                    values.append(image[i, v, u, c].item())
            finite = all(math.isfinite(p) for p in values)
            total: Any = sum(map(fractions.Fraction, map(int, values) if not question.is_float else values)) if finite else None
            mean = total / len(values) if values and finite else None
            variance = sum((fractions.Fraction(p) - mean) ** 2 for p in values) / len(values) if mean is not None else None
            found["count"].append(len(values))
            if not finite:
                mean = total = sum(values)
            for stat, value in (("sum", total), ("mean", mean), ("variance", variance)):
                found[stat].append(math.nan if value is None else float(value) if question.is_float or stat != "sum" else int(value))
            found["std"].append(math.nan if variance is None else math.sqrt(variance))
    shape = (len(question.regions), question.shape[0], question.shape[3])
    return {stat: _objects(values).reshape(shape) for stat, values in found.items()}


def _objects(values: list[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _right_answer(question: Question) -> Answer:
    """What a door without fault says, made without the oracle."""
    if question.family == "regions":
        values = _written_out(question)
        return Answer({stat: values[stat] for stat in question.stats}, default_sums(question), exact=True)
    oracle = Oracle(question)
    if question.family == "table":
        kind = default_sums(question)
        entries, _ = oracle.table("sum", kind)
        return Answer({"sum": np.array(entries if kind in BITS else entries.astype(np.float64))}, kind)
    if question.family in ("histogram", "stores"):
        return Answer({"counts": Histograms(oracle).counts.copy()})
    if question.family == "local":
        return Answer({question.stats[0]: _local_written_out(question)})
    if question.family == "sizes":
        return Answer({question.stats[0]: _sizes_written_out(question)})
    if question.family == "quantiles":
        return Answer({question.stats[0]: _quantiles_written_out(question)})
    if question.family == "cascade":
        return Answer({"boxes": [list(boxes) for boxes in Detections(oracle).boxes]})
    if question.family == "ranks":
        right = right_ranks(oracle)
        kind = np.float64 if question.stats[0] == "entropy" else oracle.values.dtype
        empty = math.nan if kind == np.float64 or question.is_float else 0
        return Answer({question.stats[0]: np.array([empty if one is None else one for one in right.ravel()], kind).reshape(right.shape)})
    windows = Windows(oracle)
    _, s1, s2, n = windows.moments
    with np.errstate(all="ignore"):
        moments = {"sum": s1.astype(np.float64), "mean": (s1 / np.where(n == 0, np.nan, n)).astype(np.float64)}
    return Answer(
        {"sum": moments["sum"]} if question.stats[0] == "sum" else {"mean": moments["mean"]},
        "64f" if question.is_float else default_sums(question),
        exact=True,
    )


def _windows_written_out(question: Question) -> np.ndarray:
    """Sums of all windows by loops, with NumPy's padding."""
    image = pixels(question)
    image = image.astype(np.uint8) if image.dtype == np.bool_ else image
    (width, height), edge = question.window["size"], question.window["edge"]
    left, top = question.window.get("anchor") or (width // 2, height // 2)
    modes = {
        "zero": "constant",
        "shrink": "constant",
        "constant": "constant",
        "replicate": "edge",
        "reflect": "reflect",
        "symmetric": "symmetric",
        "wrap": "wrap",
    }
    if edge != "valid":
        beyond = np.array(question.window.get("value", 0) if edge == "constant" else 0, dtype=object)  # NumPy's own integers would overflow
        more = {"constant_values": beyond} if modes[edge] == "constant" else {}
        image = np.pad(image.astype(object), ((0, 0), (top, height - 1 - top), (left, width - 1 - left), (0, 0)), mode=modes[edge], **more)  # type: ignore[call-overload]
    rows, columns = image.shape[1] - height + 1, image.shape[2] - width + 1
    out = np.zeros((image.shape[0], rows, columns, image.shape[3]), dtype=object)
    for y, x in itertools.product(range(rows), range(columns)):
        out[:, y, x] = image[:, y : y + height, x : x + width].astype(object).sum(axis=(1, 2))
    return out


def _padded(values: np.ndarray, size: list[int], anchor: list[int], edge: str, beyond: float) -> np.ndarray:
    """Batch x height x width x channels with what lies beyond the edge, by NumPy's padding."""
    if edge == "valid":
        return values
    mode = {"replicate": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}.get(edge, "constant")
    more: dict[str, Any] = {"constant_values": beyond} if mode == "constant" else {}
    around = ((0, 0), (anchor[1], size[1] - 1 - anchor[1]), (anchor[0], size[0] - 1 - anchor[0]), (0, 0))
    return np.asarray(np.pad(values, around, mode=mode, **more))  # type: ignore[call-overload]


def _each_window(question: Question, values: np.ndarray, size: list[int], beyond: float, kept: np.ndarray | None = None) -> Any:
    """(where, its pixels, which of them count), window by window."""
    edge, anchor = question.window["edge"], question.window.get("anchor") or [size[0] // 2, size[1] // 2]
    kept = np.ones(values.shape, bool) if kept is None else np.broadcast_to(kept, values.shape)
    values, kept = _padded(values, size, anchor, edge, beyond), _padded(kept, size, anchor, edge, edge != "shrink")
    rows, columns = values.shape[1] - size[1] + 1, values.shape[2] - size[0] + 1
    for b, y, x, c in np.ndindex(values.shape[0], max(0, rows), max(0, columns), values.shape[3]):
        yield (b, y, x, c), values[b, y : y + size[1], x : x + size[0], c], kept[b, y : y + size[1], x : x + size[0], c]


def _local_written_out(question: Question) -> np.ndarray:
    """Local thresholds, extremes, Gaussians and guided filters, window by window."""
    image, mask, stat, window = pixels(question), mask_of(question), question.stats[0], question.window
    size, beyond = window["size"], window.get("value", 0) if window["edge"] == "constant" else 0
    image = image.astype(np.uint8) if image.dtype == np.bool_ else image
    plane = image if stat in ("min", "max") else image.astype(np.float64)
    kept = np.ones((1, *image.shape[1:3], 1), bool) if mask is None else mask.astype(bool)[None, :, :, None]
    kept = kept & ~np.isnan(image) if question.ignore_nan else np.broadcast_to(kept, image.shape)
    found: dict[Any, Any] = {}
    if stat == "gaussian":
        sides = [np.arange(-math.floor(4 * sigma + 0.5), math.floor(4 * sigma + 0.5) + 1) for sigma in window["sigma"]]
        weights = [np.exp(-(side**2) / (2 * sigma**2)) if sigma else np.ones(1) for side, sigma in zip(sides, window["sigma"], strict=True)]
        both = np.outer(weights[1], weights[0])
        for at, cells, inside in _each_window(question, plane, [len(sides[0]), len(sides[1])], beyond):
            total = both[inside].sum() if window["edge"] == "shrink" else both.sum()
            found[at] = (both * cells)[inside].sum() / total
    elif stat == "guided":
        a, b = np.zeros(plane.shape), np.zeros(plane.shape)
        for at, cells, inside in _each_window(question, plane, size, beyond):
            of = cells[inside]
            a[at] = of.var() / (of.var() + window["eps"])
            b[at] = of.mean() * (1 - a[at])
        means = [{at: cells[inside].mean() for at, cells, inside in _each_window(question, of, size, end)} for of, end in ((a, 0), (b, beyond))]
        found = {at: means[0][at] * plane[at] + means[1][at] for at in means[0]}
    else:
        k, r, offset = {"bradley": 0.15, "niblack": -0.2, "sauvola": 0.2, "wolf": 0.5, "nick": -0.2}.get(stat, 0), window.get("r", 1), window.get("offset", 0)
        windows = {at: cells[inside] for at, cells, inside in _each_window(question, plane, size, beyond, kept)}
        tops: dict[tuple[int, int], float] = {}
        for (i, _, _, c), of in windows.items():
            tops[i, c] = max(tops.get((i, c), 0), float(of.std()) if of.size and stat == "wolf" else 0)
        for at, of in windows.items():
            if not of.size:
                found[at] = math.nan if plane.dtype.kind == "f" else 0
                continue
            if stat in ("min", "max"):
                found[at] = of.min() if stat == "min" else of.max()
                continue
            m, s = of.mean(), of.std()
            top = tops[at[0], at[3]]
            least = plane[at[0], :, :, at[3]][kept[at[0], :, :, at[3]]].min() if stat == "wolf" else 0
            found[at] = {
                "threshold": m, "bradley": m * (1 - k), "niblack": m + k * s, "sauvola": m * (1 + k * (s / r - 1)),
                "wolf": m + k * ((s / top if top else 0) - 1) * (m - least), "nick": m + k * math.sqrt(max(0, ((of * of).sum() - m * m) / of.size)),
            }[stat] - offset  # fmt: skip
    shape = [max(at[axis] for at in found) + 1 for axis in range(4)] if found else [0, 0, 0, 0]
    out = np.zeros(shape, plane.dtype)
    for at, value in found.items():
        out[at] = value
    return out


def _sizes_written_out(question: Question) -> np.ndarray:
    """Statistics of windows of a size per pixel, by loops over Fractions."""
    image, mask, sizes, stat = pixels(question), mask_of(question), sizes_of(question), question.stats[0]
    out = np.empty(image.shape)
    for b, y, x, c in np.ndindex(image.shape):
        rows, columns = int(sizes[b, y, x, 0]), int(sizes[b, y, x, -1])
        values = []
        for v, u in itertools.product(range(image.shape[1]), range(image.shape[2])):
            inside = 0 <= v - y + rows // 2 < rows and 0 <= u - x + columns // 2 < columns
            if inside and (mask is None or mask[v, u]) and not (question.ignore_nan and math.isnan(image[b, v, u, c])):
                values.append(image[b, v, u, c].item())
        if stat == "count" or not all(math.isfinite(value) for value in values):
            out[b, y, x, c] = len(values) if stat == "count" else math.nan if stat in ("variance", "std") else sum(values)
            continue
        total = sum(map(fractions.Fraction, values))
        mean = total / len(values) if values else math.nan
        variance = sum((fractions.Fraction(value) - mean) ** 2 for value in values) / len(values) if values else math.nan
        out[b, y, x, c] = {"sum": total, "mean": mean, "variance": variance, "std": math.sqrt(variance)}[stat]
    return out


def _quantiles_written_out(question: Question) -> np.ndarray:
    """Quantiles, percentiles and counts below, region by region, through NumPy's functions that leave out NaN."""
    stat, targets = question.stats[0], [float(v) for v in question.params["targets"]]
    image = pixels(question).astype(np.float64)
    out = np.zeros((len(question.regions), question.shape[0], question.shape[3], len(targets)))
    for r, i, c, k in np.ndindex(out.shape):
        x, y, w, h = question.regions[r]
        cells = image[i, max(y, 0) : max(y + h, 0), max(x, 0) : max(x + w, 0), c].ravel()
        cells = cells[cells == cells]
        if stat == "below":
            out[r, i, c, k] = sum(v < targets[k] for v in cells.tolist())
        elif stat == "percentile":
            ordered = sorted(cells.tolist())
            out[r, i, c, k] = ordered[min(len(ordered) - 1, int(targets[k] * len(ordered) / 100))] if ordered else math.nan
        else:
            out[r, i, c, k] = np.quantile(cells, targets[k], method=question.params.get("method", "linear")) if cells.size else math.nan
    return out


def _other_boxes(images: list[list[Any]], make: Maker) -> list[list[Any]]:
    """One box left out or moved, two in another order, or one more."""
    images = [list(boxes) for boxes in images]
    boxes = images[make.whole(0, len(images) - 1)]
    what = make.whole(0, 3)
    if not boxes or what == 0:
        boxes.append((0, 0, 9, 9, 1))
    elif what == 1:
        boxes.pop(make.whole(0, len(boxes) - 1))
    elif what == 2 and len(boxes) > 1 and boxes[0] != boxes[-1]:
        boxes[0], boxes[-1] = boxes[-1], boxes[0]
    else:
        at = make.whole(0, 4)
        box = boxes.pop(0)
        boxes.insert(0, tuple(n + (k == at) for k, n in enumerate(box)))
    return images


def _spoiled(answer: Answer, stat: str, make: Maker) -> Answer:
    """The answer with one digit changed, or one element."""
    if stat == "boxes":
        return Answer({stat: _other_boxes(answer.values[stat], make)})
    values = np.array(answer.values[stat])
    at = tuple(make.whole(0, length - 1) for length in values.shape)
    old: Any = values[at]
    if isinstance(old, (float, np.floating)) and not math.isfinite(old):
        values[at] = 0.5
    elif isinstance(old, (float, np.floating)):
        values[at] = float(old) + max(1e-3, abs(float(old)) * 1e-3)
    elif values.dtype == object:
        values[at] = int(old) + 10 ** make.whole(0, len(str(abs(int(old)))) - 1)
    else:
        values[at] = old ^ 1 if values.dtype.kind == "u" else old + 1
    return Answer({**answer.values, stat: values}, answer.sums, answer.squares, answer.exact)


def _interrupts_are_seen() -> bool:
    """Whether a command that leaves a part of a file when it is interrupted is caught, where such a door is."""
    if not can_trace():
        return True
    with tempfile.TemporaryDirectory() as folder:
        ended = interrupted(["/bin/sh", "-c", f": > {folder}/part; :"], 0)
        return ended == -signal.SIGINT and os.listdir(folder) == ["part"]


JUDGES = {"regions": judge_regions, "table": judge_table, "histogram": judge_histogram, "window": judge_window, "ranks": judge_ranks, "local": judge_local,
          "sizes": judge_sizes, "cascade": judge_cascade, "stores": judge_histogram, "quantiles": judge_quantiles}  # fmt: skip


MOMENTS = ("sum", "mean", "variance", "std")


def _other_bits(question: Question, answer: Answer) -> tuple[int, list[str]]:
    """How many last bits of one of two doors were changed, and which of them were not found; equal bits are no disagreement."""
    question = question.but(params={**question.params, "form": 0})  # another order of memory may have other bits
    said = [f"equal bits disagree: {fault}" for fault in disagreements(question, [("command", answer), ("python", answer)]).values()]
    made = 0
    for stat in set(answer.values) & set(MOMENTS):
        values = np.array(answer.values[stat], dtype=object)
        if not values.size or not math.isfinite(values.ravel()[-1]):
            continue
        values.ravel()[-1] = math.nextafter(values.ravel()[-1], math.inf)
        changed = dataclasses.replace(answer, values={**answer.values, stat: values})
        made += 1
        if list(disagreements(question, [("command", answer), ("python", changed)])) != ["python"]:
            said.append(f"another last bit of a {stat} was not found: {question.to_json()}")
    return made, said


def run(seed: int, count: int = 400) -> tuple[int, int, list[str]]:
    """How many right answers were judged, how many planted ones were found, and what went wrong."""
    judged = found = 0
    wrong = [] if _interrupts_are_seen() else ["an interrupt at a file's making left no file of a command that removes none"]
    for at in range(count):
        question = generate(seed, 1_000_000 + at)
        if question.family == "sizes":  # written out pixel by pixel for every window
            question = cropped(question, (1, min(question.shape[1], 7), min(question.shape[2], 9), question.shape[3]))
        if question.area > (9000 if question.family == "cascade" else 1500) or question.outside == "error" and Oracle(question).reaches_outside() or question.volume or question.tilted:
            continue
        question = question.but(types=None, regions=question.regions[:4], reverse=False)
        kinds = ("extremes", "wide", "offset")
        if question.is_float and (question.family != "regions" or question.fill["kind"] in kinds):
            question = question.but(fill={"kind": "whole", "seed": at}, ignore_nan=False)
        answer = _right_answer(question)
        if not any(values.size if isinstance(values, np.ndarray) else len(values) for values in answer.values.values()):
            continue
        oracle = Oracle(question)
        said = JUDGES[question.family](oracle, answer)
        if question.family == "window" and question.area < 400 and question.window["size"][0] < 16 and question.stats[0] == "sum" and not question.mask:
            right = _windows_written_out(question)
            said += judge_window(oracle, Answer({"sum": right.astype(np.float64)}, "64f", exact=True))
        judged += 1
        if said:
            wrong.append(f"a right answer was judged wrong: {said[0]}; {question.to_json()}")
            continue
        if question.family == "regions" and question.is_float and question.backend == "cpu" and set(question.stats) & set(MOMENTS):
            made, missed = _other_bits(question, answer)
            found += made - len(missed)
            wrong += missed
        make = Maker(seed, 2_000_000 + at)
        for stat in answer.values:
            if stat in ("variance", "std") and oracle.values.dtype.itemsize > 2:
                continue  # which squares in 64f hold within a bound
            if JUDGES[question.family](oracle, _spoiled(answer, stat, make)):
                found += 1
            else:
                wrong.append(f"a planted wrong {stat} was not found: {question.to_json()}")
    return judged, found, wrong
