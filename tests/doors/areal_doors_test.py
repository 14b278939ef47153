#!/usr/bin/env python3
"""The programs areal_doors and, on three ranks, areal_mpi_doors: each of their doors answers an easy question as NumPy does. Each question is asked of an image with one
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
    import cascades
    import numpy
    import questions
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

REGIONS = [[0, 0, 5, 4], [3, 2, 1, 7], [11, 5, 6, 6], [2, 2, 0, 3]]  # the third holds the pixel that is changed
EDGES = [0, 40, 90, 200, 256]


class Program:
    def __init__(self, *line):
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

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


def right_local(answer, image, question):
    got = numpy.load(answer["window"])[0, :, :, 0]
    means = numpy.lib.stride_tricks.sliding_window_view(image.astype(float), (3, 5)).mean((2, 3))
    return numpy.allclose(got, means, rtol=0, atol=1e-12)


def right_sizes(answer, image, question):
    sums = [[pixels(image, (max(0, x - 2), max(0, y - 1), x + 3 - max(0, x - 2), y + 2 - max(0, y - 1))).sum() for x in range(17)] for y in range(12)]
    return numpy.array_equal(numpy.load(answer["window"])[0, :, :, 0], sums)


def right_cascade(answer, image, question):
    boxes = cascades.windows_of(CASCADE, image, 1.2, (0, 0), (0, 0))
    inside = [(x, y, min(w, image.shape[1] - x), min(h, image.shape[0] - y), n) for x, y, w, h, n in boxes]
    return len(boxes) > 20 and [tuple(box) for box in answer["detections"][0]] == inside


def right_histogram(answer, image, question):
    return numpy.array_equal(numpy.array(answer["counts"][0]), counts(image))


def right_quantiles(answer, image, question):
    wanted = [numpy.quantile(pixels(image, r), question["target"]) if r[2] * r[3] else [numpy.nan] * 2 for r in REGIONS]
    return numpy.array_equal([number(t) for t in answer["quantiles"][0]], numpy.ravel(wanted), equal_nan=True)


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


CASCADE = cascades.model_of(questions.Question(cascade={"kind": "tilted", "size": [10, 9], "stages": 2, "nodes": 3, "seed": 6}))
BINNING = {"binning": {"edges": EDGES}, "border": "zero"}
FAMILIES = {
    "table": ({}, right_table),
    "regions": ({"regions": REGIONS}, right_regions),
    "window": ({"window": {"size": [5, 3], "edge": "valid", "stat": "sum"}}, right_window),
    "ranks": ({"window": {"size": [5, 3], "edge": "valid", "stat": "equalize", "type": "8u"}}, right_ranks),
    "local": ({"window": {"size": [5, 3], "edge": "valid", "stat": "threshold"}}, right_local),
    "sizes": ({"window": {"size": [1, 1], "edge": "shrink", "stat": "sum"}}, right_sizes),
    "cascade": ({"params": {"scale_factor": 1.2, "min_neighbors": 0}}, right_cascade),
    "histogram": (BINNING | {"regions": REGIONS}, right_histogram),
    "stores": (BINNING | {"regions": REGIONS}, right_histogram),
    "quantiles": ({"regions": REGIONS, "measure": "quantile", "target": [0.3, 0.98]}, right_quantiles),
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
    if family == "cascade":
        image = random.integers(0, 256, (12, 14), dtype=numpy.uint8).repeat(3, 0).repeat(3, 1)
        return image, numpy.roll(image, 2, 1), image
    image = random.integers(0, 256, (12, 17)).astype(DOORS.get(door, {}).get("dtype", "uint8"))
    if family == "line":
        image = image.reshape(1, -1)
    changed = image.copy()
    changed[0 if family == "line" else 8, 13] ^= 128
    return image, changed, image


def ask_doors(program, listed, available, folder, random, wrong):
    """How many questions; those that were answered wrongly, or no differently for a changed image, go to `wrong`."""
    asked = 0
    for door in listed["doors"]:
        for family in door["families"]:
            more, right = FAMILIES[family]
            image, changed, plain = images(random, family, door["name"])
            question = {"id": asked, "door": door["name"], "family": family, "image": f"{folder}/a.npy", "out": f"{folder}/o"}
            question |= more | {k: v for k, v in DOORS.get(door["name"], {}).items() if k != "dtype"}
            if family == "regions":
                question["stats"] = ["sum"]
            elif family == "sizes":
                question["sizes"] = f"{folder}/sizes.npy"
                numpy.save(question["sizes"], numpy.full((1, 12, 17, 2), (3, 5), dtype=numpy.int32))
            elif family == "cascade":
                question["cascade"] = f"{folder}/cascade.xml"
                pathlib.Path(question["cascade"]).write_text(cascades.xml_of(CASCADE, False))
            numpy.save(question["image"], image)
            answer = program.ask(question)
            asked += 1
            if "refused" in answer:
                needs = "cuda" if "cuda" in door["name"] else "simt" if "simt" in (door["name"], question.get("backend")) else "cpu"
                if "pugixml" not in answer["refused"] and (needs in available or answer["kind"] != "Unavailable"):
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
    return asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    path = build / "tests/areal_doors"
    if not path.exists():
        print(f"skipped: {path} was not built")
        sys.exit(77)
    program = Program(path)
    listed = program.ask({"list": True})
    available = {backend["name"] for backend in listed["backends"] if backend["available"]}
    wrong = []
    planted = program.ask({"self_test": True})
    if planted["planted"] < 10 or planted["missed"]:
        wrong.append(("planted faults", planted))
    random = numpy.random.default_rng(26)
    doors = len(listed["doors"])
    with tempfile.TemporaryDirectory() as folder:
        asked = ask_doors(program, listed, available, folder, random, wrong)
        if (build / "tests/areal_mpi_doors").exists():
            ranks = Program(pathlib.Path(__file__).resolve().parents[1] / "mpi/run-ranks", "3", build / "tests/areal_mpi_doors")
            of_ranks, planted = ranks.ask({"list": True}), ranks.ask({"self_test": True})
            if planted["planted"] < 3 or planted["missed"]:
                wrong.append(("planted faults of ranks", planted))
            doors += len(of_ranks["doors"])
            asked += ask_doors(ranks, of_ranks, available, folder, random, wrong)
            question = {"id": 3, "door": "mpi", "family": "table", "image": f"{folder}/a.npy", "out": f"{folder}/none"}
            if ranks.ask(question | {"tilted": True}).get("kind") != "InvalidArgument" or ranks.ask("{}").get("kind") != "Question":
                wrong.append("a tilted table over ranks, or no question")
        # What is no question is refused, and the next one answered.
        question = {"id": 3, "door": "direct", "family": "table", "image": f"{folder}/a.npy", "out": f"{folder}/none"}
        for line in ("[", "{}", "[1]", question | {"bordr": 1}, question | {"family": "window", "window": {"sizes": 1}}, question | {"params": {"x": 1}},
                     question | {"door": "back"}, question | {"family": "line"}, question | {"image": "/none.npy"}):  # fmt: skip
            if program.ask(line).get("kind") != "Question":
                wrong.append(("is no question", line))
        if program.ask(question | {"types": "9u9u"}).get("kind") != "InvalidArgument" or list(pathlib.Path(folder).glob("none*")):
            wrong.append("types that there are not")
    for what in wrong:
        print("WRONG:", str(what)[:2000])
    print(f"{asked} questions through {doors} doors")
    sys.exit(bool(wrong))


main()
