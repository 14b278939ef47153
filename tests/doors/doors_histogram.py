"""The doors of the command: histograms, direct, of a saved tensor, by strips, on several workers and of streams of frames; and areal-mpi."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from answers import Answer, Broken, default_sums
from door import Door
from doors_command import ROWS, arguments, as_given, check_kernels, loaded, number, placed, regions_of, rows_of
from histograms import edges_of
from questions import SQUARES, Question, pixels
from room import Room, Said

MEASURES = ("entropy", "median", "mode", "mean", "percentile")


def binning_of(room: Room, question: Question) -> list[Any]:
    """Options that say the bins."""
    binning, said = question.binning, []
    if "bins" in binning:
        said += ["--bins", binning["bins"]]
    if "range" in binning:
        said += [f"--range={binning['range'][0]},{binning['range'][1]}"]
    if "edges" in binning:
        said += [f"--edges={','.join(map(str, binning['edges']))}"]
    if "labels" in binning:
        said += ["--labels", "--bins", binning["labels"]]
    if "lookup" in binning:
        said += ["--lookup", room.numbers("lookup", binning["lookup"])]
    if "joint" in binning:
        said += ["--joint", "--bins", binning["joint"]]
    return [*said, "--clamp"] if question.clamp else said


def measures_of(question: Question) -> list[Any]:
    """What a histogram is asked for: shares alone, or counts and what they say."""
    if "normalise" in question.stats and question.params.get("form", 0) % 2:
        return ["--normalise"]
    said: list[Any] = ["--counts"]
    for stat in question.stats:
        said += ["--percentile", 90] if stat == "percentile" else [] if stat == "normalise" else [f"--{stat}"]
    return said


def with_weights(room: Room, question: Question) -> list[Any]:
    return [] if question.weights is None else ["--weights", room.weights()]


def counter_of(question: Question) -> list[Any]:
    return ["--counter", question.params["counter"]] if "counter" in question.params else []


def on(question: Question) -> list[Any]:
    said = counter_of(question)
    said += [] if question.algorithm == "auto" else ["--algorithm", question.algorithm]
    return said if question.backend == "cpu" else [*said, "--backend", question.backend]


def answer_of(room: Room, question: Question, said: Said, asked: list[Any]) -> Answer:
    """The columns bin0, bin1, .. and those of the measures."""
    rows = rows_of(said, False)
    measures = tuple(stat for stat in question.stats if f"--{stat}" in asked and stat in MEASURES)
    bins = len(edges_of(question)) - 1
    names = tuple(f"bin{b}" for b in range(bins))
    for row in rows:
        row.update({"percentile": row[key] for key in row if key.startswith("percentile_")})
    values: dict[str, Any] = dict(placed(room, question, rows, (*names, *measures)))
    told = np.stack([values.pop(name) for name in names], axis=-1)
    return Answer({"normalise" if "--normalise" in asked else "counts": told, **values}, exact=True)


def direct(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --region.."""
    image, stdin = as_given(room, question)
    asked = measures_of(question)
    said = room.areal(
        "hist", *image, *arguments(question), *binning_of(room, question), *with_weights(room, question), *on(question), *regions_of(room, question), *asked, stdin=stdin,
    )  # fmt: skip
    check_outside(room, question, said)
    return answer_of(room, question, said, asked)


def stored(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --store S --region.."""
    image, stdin = as_given(room, question)
    asked = measures_of(question)
    stores = ("compact", "none", "tensor") if question.weights is None else ("none", "tensor")
    store = stores[(question.params.get("form", 0) + len(question.regions)) % len(stores)]
    backend = ["--backend", "simt"] if question.backend == "simt" else []
    said = room.areal(
        "hist",
        *image,
        *arguments(question),
        *binning_of(room, question),
        *with_weights(room, question),
        "--store",
        store,
        *backend,
        *regions_of(room, question),
        *asked,
        stdin=stdin,
    )
    check_outside(room, question, said)
    return answer_of(room, question, said, asked)


def quantiles(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --quantile Q,.. --region.."""
    image, stdin = as_given(room, question)
    said = room.areal(
        "hist", *image, *arguments(question), *quantile_options(question), "--store", question.params.get("store", "auto"),
        *([] if question.backend == "cpu" else ["--backend", question.backend]), *regions_of(room, question), stdin=stdin,
    )  # fmt: skip
    return quantiles_of(room, question, said)


def quantile_options(question: Question) -> list[Any]:
    targets = dict.fromkeys(map(str, question.params["targets"]))
    return ["--quantile", ",".join(targets), "--quantile-method", question.params.get("method", "linear")]


def quantiles_of(room: Room, question: Question, said: Said) -> Answer:
    """The columns quantile_0.5, .."""
    targets = question.params["targets"]
    columns = placed(room, question, rows_of(said, False), tuple(f"quantile_{target}" for target in dict.fromkeys(map(str, targets))))
    return Answer({"quantile": np.stack([columns[f"quantile_{target}"] for target in targets], axis=-1)}, exact=True)


def store_file(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --store compact -o S.npy, then areal query S.npy --region..; of quantiles --store rank."""
    path, threads = room.path("s.npy"), ["--threads", question.threads]
    ranks = question.family == "quantiles"
    made = ["--quantile", "0.5", "--store", "rank"] if ranks else [*binning_of(room, question), "--store", "compact"]
    backend = [] if question.backend == "cpu" else ["--backend", question.backend]
    room.areal("hist", room.image(), *arguments(question), *made, *backend, "-o", path, outputs=(path, path.with_suffix(".json")))
    if not ranks:
        asked = measures_of(question)
        return answer_of(room, question, room.areal("query", path, *threads, *regions_of(room, question), *asked), asked)
    return quantiles_of(
        room, question, room.areal("query", path, *threads, *quantile_options(question), *regions_of(room, question))
    )


def check_outside(room: Room, question: Question, said: Said) -> None:
    """Floats outside the default range count nowhere: the command says how many there are."""
    if not question.is_float or "bins" not in question.binning or "range" in question.binning or question.clamp:
        return
    values = room.oracle.values
    with np.errstate(invalid="ignore"):
        left_out = int(((values < 0) | (values > 1)).sum())
    parts = [values[:, y : y + h, x : x + w] for x, y, w, h in map(room.oracle.clipped, question.regions)]
    if (
        left_out
        and all(((part < 0) | (part > 1)).any() for part in parts)
        and not re.search(r"\d.*(outside|none of)|(outside|none of).*\d", said.err)
    ):
        raise Broken("values outside the default range without a word", f"{left_out} of {values.size} lie outside 0..1")


def saved(room: Room, question: Question) -> Answer:
    """areal hist IMAGE -o H.npy, then areal query H.npy --region.."""
    return _saved(room, question, [*on(question), "--border", question.border])


def saved_by_strips(room: Room, question: Question) -> Answer:
    """The same with --memory."""
    counter = counter_of(question) if question.params.get("counter") != "16u" else []  # strips are counted on the CPU
    return _saved(room, question, ["--memory", "300M", *counter, "--border", question.border])


def _saved(room: Room, question: Question, more: list[Any]) -> Answer:
    path = room.path("h.npy")
    room.areal(
        "hist",
        room.image(),
        *arguments(question),
        *binning_of(room, question),
        *with_weights(room, question),
        *more,
        "-o",
        path,
        outputs=(path, path.with_suffix(".json")),
    )
    asked = measures_of(question)
    return answer_of(room, question, room.areal("query", path, *regions_of(room, question), *asked), asked)


def strips(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --region.. --memory."""
    asked = measures_of(question)
    said = room.areal(
        "hist",
        room.image(),
        *arguments(question),
        *binning_of(room, question),
        *with_weights(room, question),
        *regions_of(room, question),
        *asked,
        "--memory",
        "300M",
    )
    check_outside(room, question, said)
    return answer_of(room, question, said, asked)


def several(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --region.. --devices."""
    asked = measures_of(question)
    workers = "cpu:1,simt" if question.area < 2000 else "cpu:2"
    said = room.areal(
        "hist", room.image(), *arguments(question), *binning_of(room, question), *regions_of(room, question), *asked, "--devices", workers
    )
    return answer_of(room, question, said, asked)


def simulated(room: Room, question: Question) -> Answer:
    """areal hist IMAGE --backend simt --algorithm A --count -v."""
    asked = measures_of(question)
    said = room.areal(
        "-v",
        "hist",
        room.image(),
        *arguments(question),
        *binning_of(room, question),
        *on(question),
        *regions_of(room, question),
        *asked,
        "--count",
    )
    check_kernels(said)
    return answer_of(room, question, said, asked)


def frames(room: Room, question: Question) -> Answer:
    """areal hist - of frames, each image of the batch one: arrays, or bare pixels with boxes."""
    asked = measures_of(question)
    images = pixels(question)
    stream = room.scratch / "in" / "stream"
    height, width = question.shape[1:3]
    if _by_boxes(question):
        stream.write_bytes(images.tobytes())
        boxes = room.scratch / "in" / "boxes.csv"
        rows = [(i, r, *region) for i in range(question.shape[0]) for r, region in enumerate(question.regions)]
        boxes.write_text("frame,id,x,y,width,height\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        said = room.areal(
            "hist",
            "-",
            "--raw",
            f"{width}x{height}x{question.type}",
            *binning_of(room, question),
            "--boxes",
            boxes,
            "--outside",
            question.outside,
            *asked,
            stdin=stream,
        )
        return _of_boxes(room, question, said, asked)
    with open(stream, "wb") as out:
        for image in images:
            np.save(out, image[:, :, 0] if question.shape[3] == 1 else image)
    said = room.areal("hist", "-", *arguments(question), *binning_of(room, question), *regions_of(room, question), *asked, stdin=stream)
    return answer_of(room, question, said, asked)


def _of_boxes(room: Room, question: Question, said: Said, asked: list[Any]) -> Answer:
    """What was clipped prints what was counted: the printed boxes are those inside the frame."""
    for row in rows_of(said, False):
        printed = tuple(int(row[name]) for name in ("x", "y", "width", "height"))
        if printed[2] * printed[3] and room.oracle.clipped(printed) != printed:
            raise Broken("a clipped box printed as if all of it was counted", f"{printed} in {question.shape[2]}x{question.shape[1]}")
    if any(room.oracle.clipped(r) != r for r in question.regions):  # it prints the part inside: judged as that
        question = question.but(outside="clip")
        room.oracle.question = question
    return answer_of(room, question, said, asked)


def sat_frames(room: Room, question: Question) -> Answer:
    """areal sat - of frames, each image of the batch one."""
    stream = room.scratch / "in" / "stream"
    with open(stream, "wb") as out:
        for image in pixels(question):
            np.save(out, image[:, :, 0] if question.shape[3] == 1 else image)
    names = tuple(stat for stat in ROWS if stat in question.stats)
    said = room.areal("sat", "-", *arguments(question), *regions_of(room, question), "--stat", ",".join(names), stdin=stream)
    return Answer(placed(room, question, rows_of(said, False), names), sums=default_sums(question), exact=True)


# ---------------------------------------------------------------- ranks


def _ranks(room: Room, question: Question, *line: Any, outputs: tuple[Path, ...] = ()) -> Said:
    count = question.params.get("workers", 1)
    start = [] if count == 1 else [shutil.which("mpirun") or "mpirun", "-n", str(count), "--oversubscribe", "--allow-run-as-root"]
    # mpirun says in words of its own that a rank has failed, unless it is quiet.
    return room.run([*start, *(["--quiet"] if start else []), str(room.mpi), *map(str, line)], None, outputs, "areal-mpi")


def ranks(room: Room, question: Question) -> Answer:
    """mpirun areal-mpi query IMAGE --region.."""
    names = tuple(stat for stat in ROWS if stat in question.stats)
    types = ["--types", question.types] if question.types else []
    said = _ranks(room, question, "query", room.image(), *regions_of(room, question), *types, "--stat", ",".join(names))
    return Answer(placed(room, question, rows_of(said, False), names), sums=default_sums(question), exact=True)


def rank_table(room: Room, question: Question) -> Answer:
    """mpirun areal-mpi sat IMAGE -o T: the entries of the tables, or areal query T --region.. about them."""
    path = room.path("ranks.npy")
    squares = question.squares == "auto" if question.family == "table" else bool({"variance", "std"} & set(question.stats))
    made = ["sat", room.image(), "--border", question.border, *(["--types", question.types] if question.types else [])]
    _ranks(room, question, *made, *(["--squares"] if squares else []), "-o", path, outputs=(path, path.with_suffix(".json")))
    if question.family == "regions":
        names = tuple(stat for stat in ROWS if stat in question.stats)
        said = room.areal("query", path, *regions_of(room, question), "--stat", ",".join(names))
        return Answer(placed(room, question, rows_of(said, False), names), sums=default_sums(question), exact=True)
    values, types = {}, {"squares": ""}
    for what, file in (("sum", path), ("squares", path.with_suffix(".squares.npy")))[: 1 + squares]:
        values[what], types[what] = loaded(file)
    return Answer(values, sums=types["sum"], squares=types["squares"], algorithm="4r1w-cpu")  # other orders of additions


def rank_histograms(room: Room, question: Question) -> Answer:
    """mpirun areal-mpi hist IMAGE --region.., or -o T, then areal query T --region.."""
    made = ["hist", room.image(), *binning_of(room, question)]
    if question.params.get("form", 0) % 2:
        return answer_of(room, question, _ranks(room, question, *made, *regions_of(room, question)), ["--counts"])
    path = room.path("ranks.npy")
    _ranks(room, question, *made, "--border", question.border, "-o", path, outputs=(path, path.with_suffix(".json")))
    return answer_of(room, question, room.areal("query", path, *regions_of(room, question), "--counts"), ["--counts"])


def _by_boxes(question: Question) -> bool:
    """Whether boxes name the regions of bare frames: nearly always where they may leave the frame."""
    often = question.outside == "clip" or question.params.get("form", 0) % 2
    return bool(often) and question.shape[3] == 1 and question.dtype != "bool"


def _plane(question: Question) -> bool:
    return question.shape[0] == 1 and question.shape[3] == 1


HISTOGRAM = ("histogram",)
DOORS = (
    Door("command-hist", HISTOGRAM, direct, lambda q: True, 5, True),
    Door("command-hist-store", HISTOGRAM, stored, lambda q: q.backend in ("cpu", "simt"), 5, True),
    Door("command-quantiles", ("quantiles",), quantiles, lambda q: q.stats == ("quantile",) and (q.backend != "simt" or q.area < 400) and "bits" not in q.params, 5, True),
    Door(
        "command-store-file",
        ("histogram", "quantiles"),
        store_file,
        lambda q: q.stats == ("quantile",) and "bits" not in q.params and (q.backend != "simt" or q.area < 400)
        if q.family == "quantiles"
        else q.weights is None and q.backend in ("cpu", "simt") and q.area < 40_000,
        3,
        True,
    ),
    Door("command-hist-saved", HISTOGRAM, saved, lambda q: q.area < 40_000, 3, True),
    Door("command-hist-strips", HISTOGRAM, strips, lambda q: q.weights is None, 2, True),
    Door("command-hist-saved-strips", HISTOGRAM, saved_by_strips, lambda q: q.area < 40_000 and q.weights is None, 1, True),
    Door("command-hist-devices", HISTOGRAM, several, lambda q: q.weights is None, 1, True),
    Door("command-hist-simt", HISTOGRAM, simulated, lambda q: q.backend == "simt" and q.weights is None, 8, True),
    Door("command-hist-frames", HISTOGRAM, frames, lambda q: q.weights is None, 5, True),
    Door("command-frames", ("regions",), sat_frames, lambda q: not (q.types or q.reverse or q.ignore_nan or q.mask), 1, True),
    Door(
        "mpi-query",
        ("regions",),
        ranks,
        lambda q: _plane(q) and not (q.reverse or q.ignore_nan or q.mask) and q.outside == "error",
        0.25,
        True,
    ),
    Door(
        "mpi-sat",
        ("regions", "table"),
        rank_table,
        lambda q: _plane(q) and not (q.reverse or q.ignore_nan or q.mask or q.tilted or q.volume or q.squares in SQUARES),
        0.3,
        True,
    ),
    Door(
        "mpi-hist",
        HISTOGRAM,
        rank_histograms,
        lambda q: _plane(q) and "bins" in q.binning and not q.clamp and q.weights is None and q.outside == "error",
        0.15,
        True,
    ),
)
__all__ = ["DOORS", "number"]
