#!/usr/bin/env python3
"""The program areal_doors: each of its doors answers an easy question as NumPy does. Each question is asked of an image with one
changed pixel, too, where the same comparison must find the difference.

Exits 77 (skipped) if NumPy is missing or the program was not built.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

REGIONS = [[0, 0, 5, 4], [3, 2, 1, 7], [11, 5, 6, 6], [2, 2, 0, 3]]  # the third holds the pixel that is changed
EDGES = [0, 40, 90, 200, 256]


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def number(text):
    return float.fromhex(text) if "x" in text or text in ("nan", "inf", "-inf") else int(text)


def pixels(image, region):
    x, y, width, height = region
    return image[y : y + height, x : x + width].astype(float)


def table(image, border):
    sums = numpy.pad(image.astype(numpy.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    return sums if border == "zero" else sums[1:, 1:]


def counts(image):
    return numpy.array([numpy.histogram(pixels(image, region), EDGES)[0] for region in REGIONS])


def shares(image):
    all_counts = counts(image)
    return all_counts / numpy.maximum(1, all_counts.sum(1, keepdims=True))


# Of each family: what is asked beside door, image and out, and whether an answer is right for the image, H x W.
def right_table(answer, image, question):
    got = numpy.load(answer["tables"]["sum"])
    return got.shape[0] == got.shape[3] == 1 and numpy.array_equal(got[0, :, :, 0], table(image, question.get("border", "zero")))


def right_regions(answer, image, question):
    return [number(t) for t in answer["answers"]["sum"][0][0]] == [pixels(image, r).sum() for r in REGIONS]


def right_window(answer, image, question):
    got = numpy.load(answer["window"])[0, :, :, 0]
    views = numpy.lib.stride_tricks.sliding_window_view(image.astype(float), (3, 5))
    return numpy.array_equal(got, views.sum((2, 3)))


def right_ranks(answer, image, question):
    got = numpy.load(answer["window"])[0, :, :, 0]
    views = numpy.lib.stride_tricks.sliding_window_view(image, (3, 5)).reshape(-1, 15)
    return numpy.array_equal(got.ravel(), [255 * (v <= v[7]).sum() // 15 for v in views])


def right_histogram(answer, image, question):
    return numpy.array_equal(numpy.array(answer["counts"][0]), counts(image))


def right_measures(answer, image, question):
    return numpy.array_equal([[number(t) for t in one] for one in answer["measures"][0]], shares(image))


def right_map(answer, image, question):
    got = numpy.load(answer["window"])[0, :, :, 0]
    views = numpy.lib.stride_tricks.sliding_window_view(image, (3, 5)).reshape(-1, 15)
    one = numpy.array([numpy.abs(numpy.histogram(v, EDGES)[0] / 15 - 0.25).sum() for v in views])
    return numpy.allclose(got.ravel(), one, rtol=0, atol=1e-12)


def right_line(answer, image, question):
    return numpy.array_equal(numpy.load(answer["tables"]["sum"]).ravel(), image.ravel().astype(numpy.int64).cumsum())


def right_scatter(answer, image, question):
    want = numpy.zeros((image.shape[0] + 1, image.shape[1] + 1))
    for (x, y, width, height), value in zip(REGIONS, question["values"]):
        if width and height:
            want[y, x] += value
            want[y + height, x + width] += value
            want[y, x + width] -= value
            want[y + height, x] -= value
    return numpy.array_equal(numpy.load(answer["tables"]["sum"])[0, :, :, 0], want)


def right_track(answer, image, question):
    return [number(t) for t in answer["boxes"][0][:2]] == [question["box"][0] + 2, question["box"][1] + 1]


BINNING = {"binning": {"edges": EDGES}, "border": "zero"}
FAMILIES = {
    "table": ({}, right_table),
    "regions": ({"regions": REGIONS}, right_regions),
    "window": ({"window": {"size": [5, 3], "edge": "valid", "stat": "sum"}}, right_window),
    "ranks": ({"window": {"size": [5, 3], "edge": "valid", "stat": "equalize", "type": "8u"}}, right_ranks),
    "histogram": (BINNING | {"regions": REGIONS}, right_histogram),
    "measures": (BINNING | {"regions": REGIONS, "measure": "normalise"}, right_measures),
    "distance-map": (BINNING | {"window": {"size": [5, 3]}, "measure": "l1", "target": [1, 1, 1, 1]}, right_map),
    "line": ({"backend": "simt", "algorithm": "optimal"}, right_line),
    "scatter": ({"types": "8u64f", "regions": REGIONS, "values": [1, 2, 3, 4]}, right_scatter),
    "track": ({"box": [8, 6, 14, 12], "binning": {"bins": 8, "range": [0, 256]}}, right_track),
}  # fmt: skip
# What some doors need.
DOORS = {
    "in-place": {"border": "none", "types": "32u32u", "dtype": "uint32"},
    "scan-line": {"backend": "cpu", "algorithm": "serial"},
}


def images(random, family, door):
    """An image, and the same with one pixel (of frames: another shift) changed; what is asked, and what is right for the first."""
    if family == "track":
        first = random.integers(0, 256, (40, 48), dtype=numpy.uint8)
        still = numpy.stack([first, first])[..., None]
        return numpy.stack([first, numpy.roll(first, (1, 2), (0, 1))])[..., None], still, first
    image = random.integers(0, 256, (12, 17)).astype(DOORS.get(door, {}).get("dtype", "uint8"))
    if family == "line":
        image = image.reshape(1, -1)
    changed = image.copy()
    changed[0 if family == "line" else 8, 13] ^= 128
    return image, changed, image


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    path = parser.parse_args().build / "tests/areal_doors"
    if not path.exists():
        print(f"skipped: {path} was not built")
        sys.exit(77)
    program = Program(path)
    listed = program.ask({"list": True})
    available = {backend["name"] for backend in listed["backends"] if backend["available"]}
    wrong, asked = [], 0
    planted = program.ask({"self_test": True})
    if planted["planted"] < 10 or planted["missed"]:
        wrong.append(("planted faults", planted))
    random = numpy.random.default_rng(26)
    with tempfile.TemporaryDirectory() as folder:
        for door in listed["doors"]:
            for family in door["families"]:
                more, right = FAMILIES[family]
                image, changed, plain = images(random, family, door["name"])
                question = {"id": asked, "door": door["name"], "family": family, "image": f"{folder}/a.npy", "out": f"{folder}/o"}
                question |= more | {k: v for k, v in DOORS.get(door["name"], {}).items() if k != "dtype"}
                numpy.save(question["image"], image)
                answer = program.ask(question)
                asked += 1
                if "refused" in answer:
                    needs = "cuda" if "cuda" in door["name"] else "simt" if "simt" in (door["name"], question.get("backend")) else "cpu"
                    if needs in available or answer["kind"] != "Unavailable":
                        wrong.append((question, answer))
                    continue
                if answer.get("id") != question["id"] or "failed" in answer or not right(answer, plain, question):
                    wrong.append((question, answer))
                    continue
                if family == "scatter":  # which reads no pixel
                    question["values"] = [1, 2, 5, 4]
                    answer, question["values"] = program.ask(question), [1, 2, 3, 4]
                else:
                    numpy.save(question["image"], changed)
                    answer = program.ask(question)
                if "refused" in answer or right(answer, plain, question):
                    wrong.append(("does not find a changed element", question, answer))
        # What is no question is refused, and the next one answered.
        question = {"id": 3, "door": "direct", "family": "table", "image": f"{folder}/a.npy", "out": f"{folder}/none"}
        for line in ("[", "{}", "[1]", question | {"bordr": 1}, question | {"family": "window", "window": {"sizes": 1}}, question | {"params": {"x": 1}},
                     question | {"door": "back"}, question | {"family": "line"}, question | {"image": "/none.npy"}):  # fmt: skip
            if program.ask(line).get("kind") != "Question":
                wrong.append(("is no question", line))
        if program.ask(question | {"types": "9u9u"}).get("kind") != "InvalidArgument" or list(pathlib.Path(folder).glob("none*")):
            wrong.append("types that there are not")
    for what in wrong:
        print("WRONG:", what)
    print(f"{asked} questions through {len(listed['doors'])} doors")
    sys.exit(bool(wrong))


main()
