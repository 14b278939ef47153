"""Cascades at random, as OpenCV's XML, and what is right about them: its search, from the pixels of every window.

The definition is OpenCV 4's, with its rounding. The image shrinks to round(n / scale) columns and rows, half to even, with taps of
1/256 (INTER_LINEAR_EXACT). Sums of pixels are exact. Haar features add weight times sum in single precision, in the order of their
rectangles, and are multiplied by 1 / sqrt(n S2 - S1^2), which is computed in double and rounded to single; n, S1 and S2 are of the
window less a rim of one pixel. A stage adds its leaves in double and passes at threshold - 1e-5f or above, computed in single.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from answers import Answer, Fault
from oracle import Oracle
from questions import Question

Box = tuple[int, int, int, int, int]  # x, y, width, height, windows
single = np.float32


@dataclasses.dataclass
class Feature:
    parts: list[tuple[int, int, int, int, float]]  # x, y, width, height, weight; of LBP the first of 3x3 blocks
    tilted: bool


@dataclasses.dataclass
class Node:
    left: int  # a node above 0; minus a leaf otherwise
    right: int
    feature: int
    threshold: float
    subset: list[int]  # of LBP: eight signed words


@dataclasses.dataclass
class Model:
    lbp: bool
    width: int
    height: int
    features: list[Feature]
    stages: list[tuple[float, list[tuple[list[Node], list[float]]]]]  # a threshold; trees of nodes and leaves


def model_of(question: Question) -> Model:
    """The cascade of a question. Fewer stages are the first of more."""
    said = question.cascade
    lbp, (width, height) = said["kind"] == "lbp", said["size"]
    random = np.random.default_rng(said["seed"])
    features = [_feature(random, lbp, said["kind"] == "tilted" and n % 2 == 0, width, height) for n in range(12)]
    stages = [_stage(np.random.default_rng([said["seed"], n]), said["nodes"]) for n in range(said["stages"])]
    return Model(lbp, width, height, features, stages)


def _real(random: np.random.Generator, low: float, high: float) -> float:
    return float(single(random.uniform(low, high)))


def _feature(random: np.random.Generator, lbp: bool, tilted: bool, width: int, height: int) -> Feature:
    parts: list[tuple[int, int, int, int, float]] = []
    wanted, times = 1 if lbp else int(random.integers(1, 4)), 3 if lbp else 1
    while len(parts) < wanted:
        x, y, w, h = (int(random.integers(low, high)) for low, high in ((0, width), (0, height), (1, width + 1), (1, height + 1)))
        inside = x - h >= 0 and x + w <= width and y + w + h <= height if tilted else x + times * w <= width and y + times * h <= height
        if inside:
            parts.append((x, y, w, h, 0.0 if lbp else int(random.integers(-3, 4)) + 0.5))
    return Feature(parts, tilted)


def _stage(random: np.random.Generator, most: int) -> tuple[float, list[tuple[list[Node], list[float]]]]:
    trees = []
    for _ in range(int(random.integers(1, 5))):
        count, leaves, following = int(random.integers(1, most + 1)), 0, 1
        nodes = []
        for n in range(count):
            children = []
            for _ in range(2):
                if following < count and (following == n + 1 or random.random() < 0.5):  # every node has a parent
                    children.append(following)
                    following += 1
                else:
                    children.append(-leaves)
                    leaves += 1
            subset = [int(word) for word in random.integers(-(2**31), 2**31, 8)]
            nodes.append(Node(children[0], children[1], int(random.integers(0, 12)), _real(random, -0.3, 0.3), subset))
        trees.append((nodes, [_real(random, -1, 1) for _ in range(count + 1)]))
    least, most = sum(min(leaves) for _, leaves in trees), sum(max(leaves) for _, leaves in trees)
    return float(single(least + _real(random, 0.1, 0.6) * (most - least))), trees  # which many windows pass


# ---------------------------------------------------------------- XML


def xml_of(model: Model, old: bool) -> str:
    """OpenCV's XML, new or old. Haar features alone have an old format."""
    return _old(model) if old and not model.lbp else _new(model)


def _element(name: str, text: object) -> str:
    return f"<{name}>{text}</{name}>"


def _words(values: Any) -> str:
    return " ".join(repr(value) for value in values)


def _haar(feature: Feature) -> str:
    rects = "".join(_element("_", _words(part)) for part in feature.parts)
    return _element("rects", rects) + _element("tilted", int(feature.tilted))


def _new(model: Model) -> str:
    kind, categories = ("LBP", 256) if model.lbp else ("HAAR", 0)
    stages = ""
    for threshold, trees in model.stages:
        weak = ""
        for nodes, leaves in trees:
            numbers = [v for n in nodes for v in (n.left, n.right, n.feature, *(n.subset if model.lbp else [n.threshold]))]
            weak += _element("_", _element("internalNodes", _words(numbers)) + _element("leafValues", _words(leaves)))
        stages += _element("_", _element("stageThreshold", repr(threshold)) + _element("weakClassifiers", weak)) + "\n"
    features = "".join(_element("_", _element("rect", _words(f.parts[0][:4])) if model.lbp else _haar(f)) for f in model.features)
    about = _element("stageType", "BOOST") + _element("featureType", kind) + _element("height", model.height) + _element("width", model.width)
    about += _element("featureParams", _element("maxCatCount", categories))
    return f'<?xml version="1.0"?>\n<opencv_storage><cascade>{about}<stages>{stages}</stages><features>{features}</features></cascade></opencv_storage>\n'


def _old(model: Model) -> str:
    stages = ""
    for number, (threshold, trees) in enumerate(model.stages):
        said = ""
        for nodes, leaves in trees:
            one = ""
            for node in nodes:
                sides = ""
                for side, child in (("left", node.left), ("right", node.right)):
                    sides += _element(f"{side}_node", child) if child > 0 else _element(f"{side}_val", repr(leaves[-child]))
                one += _element("_", _element("feature", _haar(model.features[node.feature])) + _element("threshold", repr(node.threshold)) + sides)
            said += _element("_", one)
        more = _element("stage_threshold", repr(threshold)) + _element("parent", number - 1) + _element("next", -1)
        stages += _element("_", _element("trees", said) + more) + "\n"
    size = _element("size", f"{model.width} {model.height}")
    return (
        f'<?xml version="1.0"?>\n<opencv_storage><old type_id="opencv-haar-classifier">{size}<stages>{stages}</stages></old></opencv_storage>\n'
    )


# ---------------------------------------------------------------- the search


def _round(value: float) -> int:
    """The nearest whole number, half to even."""
    return round(float(value))


def _times(length: int, scale: Any) -> int:
    return _round(single(length) * scale)


def _shrunk(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """The image at another size; each pixel of four."""
    if image.shape == (height, width):
        return image.astype(np.int64)

    def taps(old: int, new: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pitch = 1 / (new / old)
        first, second, weights = [], [], []
        for n in range(new):
            at = pitch * (n + 0.5) - 0.5
            floor = math.floor(at)
            inside = 0 <= floor < old - 1
            first.append(min(max(floor, 0), old - 1))
            second.append(first[-1] + inside)
            weights.append(_round((at - floor) * 256) if inside else 0)
        return np.array(first), np.array(second), np.array(weights, np.int64)

    x1, x2, wx = taps(image.shape[1], width)
    y1, y2, wy = taps(image.shape[0], height)
    wide = image.astype(np.int64)
    rows = wide[:, x1] * (256 - wx) + wide[:, x2] * wx
    sums = rows[y1] * (256 - wy)[:, None] + rows[y2] * wy[:, None]
    return np.asarray((sums + 32768) >> 16)


class Windows:
    """All windows of one size of the image, position after position in both directions."""

    def __init__(self, model: Model, level: np.ndarray) -> None:
        self.model = model
        views = sliding_window_view(level, (model.height, model.width))
        self.shape = views.shape[:2]
        self.pixels = views.reshape(-1, model.height * model.width).astype(np.float64)  # whole numbers far below 2^53

    def sums(self, inside: np.ndarray) -> np.ndarray:
        """Of the pixels of every window that lie inside."""
        return self.pixels @ inside.astype(np.float64).ravel()

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        return np.mgrid[: self.model.height, : self.model.width]  # type: ignore[return-value]

    def _rectangle(self, x: int, y: int, w: int, h: int) -> np.ndarray:
        v, u = self._places()
        return np.asarray((u >= x) & (u < x + w) & (v >= y) & (v < y + h))

    def _diamond(self, x: int, y: int, w: int, h: int) -> np.ndarray:
        """A rectangle at 45 degrees, whose uppermost corner is (x, y): w to the lower right, h to the lower left."""
        v, u = self._places()
        return np.asarray((u + v > x + y - 2) & (u + v <= x + y - 2 + 2 * w) & (u - v >= x - y - 2 * h) & (u - v < x - y))

    def haar(self, feature: Feature) -> np.ndarray:
        value = np.zeros(len(self.pixels), single)
        for x, y, w, h, weight in feature.parts:
            inside = self._diamond(x, y, w, h) if feature.tilted else self._rectangle(x, y, w, h)
            value += single(weight) * self.sums(inside).astype(single)
        return value

    def pattern(self, feature: Feature) -> np.ndarray:
        """The codes of 3x3 blocks: a bit for each that is not below the middle one, clockwise from the upper left."""
        x, y, w, h, _ = feature.parts[0]
        blocks = {(c, r): self.sums(self._rectangle(x + c * w, y + r * h, w, h)) for c in range(3) for r in range(3)}
        code = np.zeros(len(self.pixels), np.int64)
        for at in ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)):
            code = 2 * code + (blocks[at] >= blocks[1, 1])
        return code

    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """What features are multiplied by, and where there is enough contrast for them."""
        n = (self.model.width - 2) * (self.model.height - 2)
        rim = self._rectangle(1, 1, self.model.width - 2, self.model.height - 2)
        s1 = self.sums(rim)
        s2 = (self.pixels * self.pixels) @ rim.astype(np.float64).ravel()
        variance = n * s2 - s1 * s1
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = (1 / np.sqrt(variance)).astype(single)
        return scale, (variance > 0) & (n * scale.astype(np.float64) < 0.1)

    def results(self) -> np.ndarray:
        """Of each position -1 without contrast, 0 that fails the first stage, 1 another, 2 that passes."""
        model = self.model
        scale, contrast = (np.ones(len(self.pixels), single), np.ones(len(self.pixels), bool)) if model.lbp else self.scales()
        values: dict[int, np.ndarray] = {}
        result = np.full(len(self.pixels), 2)
        for number, (threshold, trees) in enumerate(model.stages):
            total = np.zeros(len(self.pixels))
            for nodes, leaves in trees:
                at = np.zeros(len(self.pixels), np.int64)
                for n, node in enumerate(nodes):  # children come after their parents
                    if node.feature not in values:
                        feature = model.features[node.feature]
                        values[node.feature] = self.pattern(feature) if model.lbp else self.haar(feature)
                    value = values[node.feature]
                    if model.lbp:
                        word = np.array(node.subset, np.int64)[value >> 5]
                        goes = (word >> (value & 31)) & 1 != 0
                    else:
                        with np.errstate(invalid="ignore", over="ignore"):
                            goes = value * scale < single(node.threshold)
                    at = np.where(at == n, np.where(goes, _placed(node.left), _placed(node.right)), at)
                total += np.array(leaves)[-at - 1]
            fails = total < float(single(threshold) - single(1e-5))
            result = np.where((result == 2) & fails, 0 if number == 0 else 1, result)
        return np.where(contrast, result, -1).reshape(self.shape)


def _placed(child: int) -> int:
    """A node, or a leaf from -1 on, so that none is taken for node 0."""
    return child if child > 0 else child - 1


def _scales(model: Model, width: int, height: int, factor: float, least: tuple[int, int], most: tuple[int, int]) -> list[Any]:
    """The sizes to search; where none lies between the limits, the one nearest to the least."""
    every, exact = [], 1.0
    while _round(model.width * exact) <= width and _round(model.height * exact) <= height:
        every.append(single(exact))
        exact *= factor
    sizes = [(_times(model.width, scale), _times(model.height, scale)) for scale in every]
    most = most if most[0] and most[1] else (width, height)
    within = []
    for scale, size in zip(every, sizes, strict=True):
        if size[0] > most[0] or size[1] > most[1]:
            break
        if size[0] >= least[0] and size[1] >= least[1]:
            within.append(scale)
    if within or not every:
        return within
    far = [(least[0] - w) ** 2 + (least[1] - h) ** 2 for w, h in sizes]
    return [every[far.index(min(far))]]


def windows_of(model: Model, image: np.ndarray, factor: float, least: tuple[int, int], most: tuple[int, int]) -> list[Box]:
    """Every window that passes: by size, row and column."""
    found: list[Box] = []
    height, width = image.shape
    stripes = 0
    for scale in _scales(model, width, height, factor, least, most):
        level = _shrunk(image, _round(single(width) / scale), _round(single(height) / scale))
        step = 1 if scale >= 2 else 2
        columns, rows = max(0, level.shape[1] + 1 - model.width), max(0, level.shape[0] + 1 - model.height)
        stripes = stripes or (columns + 31) // 32  # OpenCV cuts rows into as many stripes as the first size has
        if not columns or not rows:
            continue
        rows = min(rows, stripes * max((rows // step + stripes - 1) // stripes, 1) * step)
        results = Windows(model, level).results()
        size = _times(model.width, scale), _times(model.height, scale)
        for y in range(0, rows, step):
            x = 0
            while x < columns:
                if results[y, x] == 2:
                    found.append((_times(x, scale), _times(y, scale), *size, 1))
                x += step * (2 if results[y, x] == 0 else 1)
    return found


def grouped(windows: list[Box], least: int) -> list[Box]:
    """The means of sets of windows that are alike, without those inside of another with more windows."""
    if not windows:
        return []
    table = np.array(windows, np.int64)
    x, y, w, h = table[:, :4].T
    group, groups = np.full(len(table), -1), 0
    for first in range(len(table)):
        if group[first] >= 0:
            continue
        group[first], reached = groups, [first]
        while reached:
            n = reached.pop()
            most = 0.2 * (np.minimum(w[n], w) + np.minimum(h[n], h)) * 0.5
            far = np.max(np.abs([x - x[n], y - y[n], x + w - x[n] - w[n], y + h - y[n] - h[n]]), axis=0)
            new = np.flatnonzero((group < 0) & (far <= most))
            group[new] = groups
            reached += new.tolist()
        groups += 1
    means: list[Box] = []
    for n in range(groups):
        some = table[group == n]
        share = single(1) / single(len(some))
        mean = [_round(single(int(total)) * share) for total in some[:, :4].sum(axis=0)]
        means.append((mean[0], mean[1], mean[2], mean[3], len(some)))
    means = [box for box in means if box[4] > least]
    return [box for n, box in enumerate(means) if not any(_hides(other, box) for k, other in enumerate(means) if k != n)]


def _hides(other: Box, box: Box) -> bool:
    dx, dy = _round(other[2] * 0.2), _round(other[3] * 0.2)
    inside = box[0] >= other[0] - dx and box[1] >= other[1] - dy
    inside &= box[0] + box[2] <= other[0] + other[2] + dx and box[1] + box[3] <= other[1] + other[3] + dy
    return inside and (other[4] > max(3, box[4]) or box[4] < 3)


def parameters(question: Question) -> tuple[float, int, tuple[int, int], tuple[int, int]]:
    """Scale factor, neighbours, the least and the largest size; 0 for any."""
    said = question.params
    sizes = (tuple(said.get(name, (0, 0))) for name in ("min_size", "max_size"))
    return said.get("scale_factor", 1.1), said.get("min_neighbors", 3), *sizes


class Detections:
    """What a cascade finds in each image of a question."""

    def __init__(self, oracle: Oracle) -> None:
        model = model_of(oracle.question)
        factor, neighbors, least, most = parameters(oracle.question)
        self.boxes: list[list[Box]] = []
        for image in oracle.values[:, :, :, 0]:
            boxes = windows_of(model, image, factor, least, most)
            boxes = grouped(boxes, neighbors) if neighbors else boxes
            height, width = image.shape  # rounding can carry a box over the edge
            boxes = [(x, y, min(w, width - x), min(h, height - y), n) for x, y, w, h, n in boxes]
            self.boxes.append([box for box in boxes if box[2] > 0 and box[3] > 0])


def judge_cascade(oracle: Oracle, answer: Answer) -> list[Fault]:
    """The first box that differs; they have an order."""
    right = oracle.kept_with(Detections).boxes
    got = answer.values["boxes"]
    if len(got) != len(right):
        return [Fault("boxes", "images", str(len(got)), str(len(right)))]
    for image, (mine, wanted) in enumerate(zip(got, right, strict=True)):
        mine = [tuple(int(n) for n in box) for box in mine]
        for n in range(max(len(mine), len(wanted))):
            one, two = (boxes[n] if n < len(boxes) else None for boxes in (mine, wanted))
            if one != two:
                return [Fault("boxes", f"box {n} of image {image}, {len(mine)} boxes of {len(wanted)}", str(one), str(two))]
    return []
