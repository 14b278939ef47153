"""The doors of the command: regions, tables and windows."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from answers import Answer, Broken, Refused, default_sums
from door import Door
from doors_program import cascade_of
from local import EXTREMES
from local import type_of as type_of_local
from questions import SQUARES, Question, pixels, sizes_of
from ranks import LEVELS, PERCENT, SIGMA_RANGE
from room import Room, Said, squeezed

ROWS = ("sum", "mean", "variance", "std", "count")


def arguments(question: Question) -> list[Any]:
    """Options of the image that every verb has. Each channel by itself, as colours become luma otherwise."""
    said: list[Any] = []
    if question.threads != 1 or question.params.get("form", 0) % 2:
        said += ["--threads", question.threads]
    if question.shape[3] > 1:
        said += ["--all-channels"]
    return said


def where(question: Question) -> list[Any]:
    """Where areal computes."""
    return ["--backend", question.backend] if question.backend != "cpu" else []


def regions_of(room: Room, question: Question) -> list[Any]:
    """Regions as options or as a file."""
    regions = question.regions
    if len(regions) <= 20 and question.params.get("form", 0) % 3:
        said = [f"--region={','.join(map(str, region))}" for region in regions]
    else:
        path = room.scratch / "in" / "regions.csv"
        named = question.params.get("form", 0) % 2 == 0
        head = "x,y,width,height,name\n" if named else ""
        path.write_text(head + "".join(",".join(map(str, r)) + (f",r{n}" if named else "") + "\n" for n, r in enumerate(regions)))
        said = ["--regions", str(path)]
    return [*said, "--outside", "clip"] if question.outside == "clip" else said


def number(text: str) -> int | float:
    """A number as the command prints it."""
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def rows_of(said: Said, as_json: bool) -> list[dict[str, Any]]:
    """The rows of an answer, by the names of their columns."""
    try:
        if as_json:
            return [json.loads(line) for line in said.out.splitlines()]
        return [dict(row) for row in csv.DictReader(io.StringIO(said.out))]
    except ValueError as error:
        raise Broken("output that cannot be read", f"{error}: {said.out[:300]}") from None


def placed(room: Room, question: Question, rows: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Rows as regions x images x channels, by what their columns say of them. What was clipped prints what was counted."""
    batch, channels = question.images, question.planes
    count = len(question.regions)
    if len(rows) != count * batch * channels:
        raise Broken("the number of rows", f"{len(rows)}, but {count} regions x {batch} images x {channels} channels were asked for")
    out = {name: np.full((count, batch, channels), None, dtype=object) for name in names}
    seen = [[0] * channels for _ in range(batch)]
    for row in rows:
        image = int(row.get("image") or row.get("frame") or 0)
        channel = int(row.get("channel") or 0)
        if not (0 <= image < batch and 0 <= channel < channels):
            raise Broken("the columns of rows", f"image {image}, channel {channel} in {row}")
        r = seen[image][channel]
        seen[image][channel] += 1
        if r >= count:
            raise Broken("the order of rows", f"more than {count} of image {image} and channel {channel}")
        said = tuple(int(row[name]) for name in ("x", "y", "width", "height"))
        wanted = (tuple(question.regions[r]), room.oracle.clipped(question.regions[r]))
        if said not in wanted and wanted[1][2] * wanted[1][3]:
            raise Broken("the order of rows", f"row {row}, where region {wanted[0]} was asked for")
        for name in names:
            if row.get(name, "") == "":
                raise Broken("the columns of rows", f"no {name} in {row}")
            value = row[name]  # JSON has null for what is no number
            out[name][r, image, channel] = np.nan if value is None else number(value) if isinstance(value, str) else value
    return out


def answer_of(room: Room, question: Question, said: Said, as_json: bool, **about: Any) -> Answer:
    names = tuple(stat for stat in ROWS if stat in question.stats)
    squares = question.squares if question.squares in SQUARES else ""
    return Answer(
        placed(room, question, rows_of(said, as_json), names), sums=default_sums(question), squares=squares, exact=True, nulls=as_json, **about
    )


def stats_of(question: Question) -> str:
    return ",".join(stat for stat in ROWS if stat in question.stats)


def of_tables(room: Room, question: Question) -> list[Any]:
    """Options of sat alone."""
    said: list[Any] = []
    if question.types:
        said += ["--types", question.types]
    if question.mask is not None:
        said += ["--mask", room.mask()]
    if question.ignore_nan:
        said += ["--ignore-nan"]
    if question.squares in SQUARES:
        said += [f"--squares={question.squares}"]
    if question.algorithm != "auto":
        said += ["--algorithm", question.algorithm]
    said += where(question)
    return said


def as_given(room: Room, question: Question) -> tuple[list[Any], Path | None]:
    """The image in one of its forms: a file, standard input, bare pixels or a picture."""
    form = question.params.get("form", 0)
    batch, height, width, channels = question.shape
    if form == 1 and batch == 1:
        return ["-"], room.image()
    if form == 2 and batch == 1 and channels == 1 and question.dtype != "bool":
        return [room.raw(), "--raw", f"{width}x{height}x{question.type}"], None
    if form in (3, 4) and batch == 1 and channels in (1, 3) and question.dtype in ("uint8", "uint16"):
        return [room.picture(pixels(question)[0])], None
    return [room.image()], None


def direct(room: Room, question: Question) -> Answer:
    """areal sat IMAGE --region.."""
    image, stdin = as_given(room, question)
    # JSON has null for NaN and for infinity alike.
    as_json = question.params.get("form", 0) % 4 == 0 and not (question.is_float and bool(np.isinf(pixels(question)).any()))
    said = room.areal(
        "sat", *image, *arguments(question), *regions_of(room, question), *of_tables(room, question), "--stat", stats_of(question),
        *(["--json"] if as_json else []), *(["--border", question.border] if question.border == "none" else []), stdin=stdin,
    )  # fmt: skip
    return answer_of(room, question, said, as_json, algorithm=question.algorithm)


def strips(room: Room, question: Question) -> Answer:
    """areal sat IMAGE --region.. --memory."""
    image, stdin = as_given(room, question)
    said = room.areal(
        "sat",
        *image,
        *arguments(question),
        *regions_of(room, question),
        *of_strips(room, question),
        "--stat",
        stats_of(question),
        "--memory",
        "300M",
        stdin=stdin,
    )
    return answer_of(room, question, said, False)


def of_strips(room: Room, question: Question) -> list[Any]:
    said: list[Any] = [] if question.mask is None else ["--mask", room.mask()]
    return [*said, "--ignore-nan"] if question.ignore_nan else said


def picture(room: Room, question: Question) -> Answer:
    """areal query IMAGE --picture --region.."""
    said = room.areal("query", room.image(), "--picture", *arguments(question), *regions_of(room, question), "--stat", stats_of(question))
    return answer_of(room, question, said, False)


def table(room: Room, question: Question) -> Answer:
    """areal sat IMAGE -o T, then areal query T --region.., T's companions beside it. Another table lay at T before."""
    form = question.params.get("form", 0)
    path = room.path("t.tif" if form == 5 and question.shape[0] == 1 and question.shape[3] == 1 else "t.npy")
    if form % 2 == 0:
        other = room.array("other", np.arange(60, dtype=np.uint8).reshape(6, 10))
        room.areal("sat", other, "-o", path, "--squares", *(["--mask", other] if form % 4 == 0 else []))
    variances = ["--squares"] if {"variance", "std"} & set(question.stats) and question.squares not in SQUARES else []
    made = ["sat", room.image(), *arguments(question), *of_tables(room, question), "--border", question.border, "-o", path]
    interleaved = ["--interleaved"] if question.layout == "interleaved" and question.shape[3] > 1 else []
    room.areal(*made, *variances, *interleaved, outputs=() if form % 2 == 0 else (path, path.with_suffix(".json")))
    said = room.areal("query", path, *where(question), *regions_of(room, question), "--stat", stats_of(question))
    return answer_of(room, question, said, False, algorithm=question.algorithm)


def volume(room: Room, question: Question) -> Answer:
    """areal sat VOLUME --volume --region.., or its table, then areal query T --region..: sums of the whole depth."""
    array = room.array("volume", pixels(question)[..., 0])
    made = ["sat", array, "--volume", *arguments(question), *of_tables(room, question), "--border", question.border]
    if question.params.get("form", 0) % 2:
        said = room.areal(*made, *regions_of(room, question))
    else:
        path = room.path("volume-table.npy")
        room.areal(*made, "-o", path, outputs=(path, path.with_suffix(".json")))
        said = room.areal("query", path, *regions_of(room, question))
    return answer_of(room, question, said, False)


def stale(room: Room, question: Question) -> Answer:
    """A table written where another one had squares and counts: they are gone, so that a deviation is refused and a mean is of all pixels."""
    path = room.path("stale.npy")
    _, height, width, channels = question.shape
    other = room.array("other-image", np.full((height, width) if channels == 1 else (height, width, channels), 3, np.uint8))
    room.areal(
        "sat",
        other,
        *arguments(question),
        "--squares",
        "--mask",
        room.array("other-mask", np.eye(height, width, dtype=np.uint8)),
        "-o",
        path,
    )
    room.areal("sat", room.image(), *arguments(question), "-o", path)
    said = room.areal("query", path, *regions_of(room, question), "--stat", stats_of(question))
    if {"variance", "std"} & set(question.stats):
        raise Broken("squares of another table", f"a table without squares answered {said.out[:200]}")
    return answer_of(room, question, said, False)


def chunked(room: Room, question: Question) -> Answer:
    """areal sat IMAGE -o T.zarr, then areal query T.zarr --region.."""
    path = room.path("t.zarr")
    tile = 64 if question.params.get("form", 0) % 2 else 256
    room.areal("sat", room.image(), *arguments(question), *of_strips(room, question), "-o", path, "--tile", tile, outputs=(path,))
    said = room.areal("query", path, *regions_of(room, question), "--stat", stats_of(question))
    return answer_of(room, question, said, False)


def tiled(room: Room, question: Question) -> Answer:
    """areal sat IMAGE -o T --devices or --device-memory, by tiles, then areal query T --region.."""
    path = room.path("tiles.npy")
    variances = ["--squares"] if {"variance", "std"} & set(question.stats) else []
    types = ["--types", question.types] if question.types else []
    by = ["--device-memory", "1M"] if question.params.get("form", 0) % 3 == 2 else ["--devices", "cpu:1,simt" if question.area < 5000 else "cpu:2"]
    room.areal(
        "sat", room.image(), *arguments(question), *of_strips(room, question), *types, *by,
        *variances, "--border", question.border, "-o", path, outputs=(path,),
    )  # fmt: skip
    said = room.areal("query", path, *regions_of(room, question), "--stat", stats_of(question))
    return answer_of(room, question, said, False)


def simulated(room: Room, question: Question) -> Answer:
    """areal sat IMAGE --backend simt --algorithm A --count -v: the kernels that ran are those of the algorithm that it names."""
    types = ["--types", question.types] if question.types else []
    algorithm = question.algorithm if question.backend == "simt" else "auto"
    said = room.areal(
        "-v", "--backend", "simt", "sat", room.image(), *arguments(question), *of_strips(room, question), *regions_of(room, question), *types,
        "--algorithm", algorithm, "--stat", stats_of(question), "--count",
    )  # fmt: skip
    check_kernels(said)
    return answer_of(room, question, said, False, algorithm=algorithm)


# Algorithms whose kernels have names of their own, and the kernels of what they may fall back to.
OWN_KERNELS = {
    "bands": "Lookback",
    "relay": "Lookback",
    "thin": "Lookback",
    "count-then-write": "ReduceThenScan",
    "1r1w": "Lookback",
    "2r1w": "Lookback",
}


def check_kernels(said: Said) -> None:
    """A name is a promise: the algorithm that -v names is the one whose kernels --count lists."""
    named = re.search(r"algorithm ([a-z0-9-]+)", said.err)
    launches = re.search(r"^\s+(.*)\ball$", said.err, re.MULTILINE)
    if named is None or launches is None:
        return
    kernels = launches.group(1).split()
    other = OWN_KERNELS.get(named.group(1))
    if other and kernels and all(kernel.startswith(other) for kernel in kernels):
        raise Broken("a name that did not run", f"-v says algorithm {named.group(1)}, and {' '.join(sorted(set(kernels)))} was launched")


def entries(room: Room, question: Question) -> Answer:
    """areal sat IMAGE -o T: the entries of the tables."""
    path = room.path("table.npy")
    said: list[Any] = ["--squares"] if question.squares == "auto" else []
    said += ["--tilted"] if question.tilted else []
    said += ["--volume"] if question.volume else []
    image = room.image()
    if question.volume:
        image = room.array("volume", pixels(question)[..., 0])
    if question.shape[3] > 1:
        said += ["--all-channels"]
        said += ["--interleaved"] if question.layout == "interleaved" else []
    room.areal(
        "sat", image, *said, *of_tables(room, question), "--border", question.border, "-o", path, outputs=(path, path.with_suffix(".json"))
    )
    values: dict[str, Any] = {}
    types = {"squares": ""}
    wanted = {
        "sum": path,
        "squares": path.with_suffix(".squares.npy"),
        "count": path.with_suffix(".count.npy"),
        "tilted": path.with_suffix(".tilted.npy"),
    }
    for what, file in wanted.items():
        if what != "sum" and not _asked(question, what):
            continue
        if not file.exists():
            raise Broken("a table that was not written", file.name)
        values[what], types[what] = loaded(file)
    require_squares(question, types["squares"])
    return Answer(values, sums=types["sum"], squares=types["squares"], algorithm=question.algorithm)


def _asked(question: Question, what: str) -> bool:
    return {"squares": question.squares != "no", "count": question.ignore_nan or question.mask is not None, "tilted": question.tilted}[what]


def require_squares(question: Question, made: str) -> None:
    """Squares of the type that the question names."""
    if question.squares in SQUARES and made != question.squares:
        raise Broken("squares of another type", f"{made}, where {question.squares} were asked for")


def loaded(file: Path) -> tuple[np.ndarray, str]:
    """A saved table as batch x height x width x channels, by its sidecar."""
    about = json.loads(file.with_suffix(".json").read_text())
    shape, array = about["shape"], np.load(file)
    height, width, channels, batch = shape["height"], shape["width"], shape["channels"], shape["batch"]
    if shape["layout"] == "planar":
        return array.reshape(batch, channels, height, width).transpose(0, 2, 3, 1), about["type"]
    return array.reshape(batch, height, width, channels), about["type"]


def windows(room: Room, question: Question) -> Answer:
    """areal window IMAGE --mean --size WxH -o W.npy."""
    return _windows(room, question, [])


def windows_by_strips(room: Room, question: Question) -> Answer:
    """The same with --memory."""
    return _windows(room, question, ["--memory", "300M"])


def _windows(room: Room, question: Question, more: list[str]) -> Answer:
    path = room.path("w.npy")
    window, stat = question.window, question.stats[0]
    image, stdin = as_given(room, question) if not more else ([room.image()], None)
    size = "x".join(map(str, window["size"]))
    said: list[Any] = [f"--{stat}", "--size", size, "--edge", window["edge"], "-o", path, *of_strips(room, question), *more]
    if window["edge"] == "constant":
        said += ["--value", window["value"]]
    room.areal("window", *image, *arguments(question), *([] if more else where(question)), *said, stdin=stdin, outputs=(path,))
    return Answer({stat: _of_image(question, np.load(path))}, sums="64f" if question.is_float else default_sums(question), exact=True)


def filters(room: Room, question: Question) -> Answer:
    """areal filter mean IMAGE --size WxH --type 64f -o W.npy."""
    return _filters(room, question, [])


def filters_by_strips(room: Room, question: Question) -> Answer:
    """The same with --memory."""
    return _filters(room, question, ["--memory", "300M"])


def _filters(room: Room, question: Question, more: list[str]) -> Answer:
    path = room.path("f.npy")
    window, stat = question.window, question.stats[0]
    image, stdin = as_given(room, question) if not more else ([room.image()], None)
    said: list[Any] = ["--edge", window["edge"], "-o", path]
    said += [] if question.family == "local" else ["--min-count", 0]
    for name, sign in (("r", ""), ("offset", ""), ("sigma", "x"), ("eps", "")):
        if name in window and (name != "r" or stat == "sauvola"):
            said += [f"--{name}", sign.join(map(str, window[name])) if sign else window[name]]
    if question.family == "sizes":
        said += ["--sizes", room.array("sizes-of-one", _of_one(sizes_of(question)))]
    elif stat != "gaussian":
        said += ["--size", "x".join(map(str, window["size"]))]
    if question.family == "local":
        said += [] if stat in EXTREMES else ["--type", type_of_local(question)]
    elif stat not in PERCENT and stat not in LEVELS:
        said += ["--type", "64f"]
    if stat == "percentile":
        said += ["--q", PERCENT[stat]]
    if stat == "bilateral":
        said += ["--sigma-range", SIGMA_RANGE]
    if "anchor" in window:
        said += ["--anchor", "x".join(map(str, window["anchor"]))]
    if window["edge"] == "constant":
        said += ["--value", window["value"]]
    if question.mask is not None:
        said += ["--mask", room.mask()]
    if question.ignore_nan:
        said += ["--nan", "omit"]
    name = {"variance": "var"}.get(stat, stat)
    room.areal("filter", name, *image, *arguments(question), *([] if more else where(question)), *said, *more, stdin=stdin, outputs=(path,))
    return Answer({stat: _of_image(question, np.load(path))}, sums="64f" if question.is_float else default_sums(question), exact=True)


def _of_one(sizes: np.ndarray) -> np.ndarray:
    """Sizes of one image, as bytes where they fit: the command takes those, too."""
    sizes = sizes[0, :, :, 0] if sizes.shape[3] == 1 else sizes[0]
    return sizes.astype(np.uint8) if sizes.size and sizes.min() >= 0 and sizes.max() < 256 and sizes.max() % 2 else sizes


def detections(room: Room, question: Question) -> Answer:
    """areal detect IMAGE --cascade XML; several images are frames of standard input."""
    form, params = question.params.get("form", 0), question.params
    said: list[Any] = ["--cascade", cascade_of(room, question), *arguments(question)]
    for name in ("scale_factor", "min_neighbors"):
        said += [f"--{name.replace('_', '-')}", params[name]] if name in params else []
    for name in ("min_size", "max_size"):
        if name in params:
            width, height = params[name]
            said += [f"--{name.replace('_', '-')}", width if width == height else f"{width}x{height}"]
    image, stdin = as_given(room, question)
    if question.shape[0] > 1:
        image, stdin = ["-"], room.scratch / "in" / "stream"
        with open(stdin, "wb") as out:
            for one in pixels(question):
                np.save(out, one[:, :, 0])
    as_json = form % 4 == 0
    got = room.areal("detect", *image, *said, *(["--json"] if as_json else []), stdin=stdin)
    boxes: list[list[tuple[int, ...]]] = [[] for _ in range(question.shape[0])]
    for row in rows_of(got, as_json):
        boxes[int(row.get("frame") or 0)].append(tuple(int(row[name]) for name in ("x", "y", "width", "height", "neighbors")))
    return Answer({"boxes": boxes})


def _of_image(question: Question, got: np.ndarray) -> np.ndarray:
    """A saved image as batch x height x width x channels."""
    batch, channels = question.shape[0], question.shape[3]
    if got.ndim == 2:
        return got[None, :, :, None]
    if got.ndim == 3:
        return got[None] if batch == 1 and got.shape[2] == channels else got[..., None]
    return got


# Command lines that write a file with -o, of a table or of an image.
WRITE_TABLES = (["sat"], ["hist", "--bins=4", "--range=0,9"], ["hist", "--bins=4", "--range=0,9", "--store=compact"], ["hist", "--store=rank"])
WRITE_IMAGES = (["window", "--mean", "--size=3x3"], ["filter", "mean", "--size=3x3"], ["filter", "median", "--size=3x3"], ["filter", "sauvola", "--size=3x3", "--r=9"])


def onto_itself(room: Room, question: Question) -> Answer:
    """A verb with SELF.npy -o SELF.npy, also by another name: refused, and the file as it was."""
    path = room.path("self.npy")
    np.save(path, squeezed(pixels(question)))
    before = path.read_bytes()
    other = room.path("other-name.npy")
    if question.params.get("form", 0) % 2:
        other.symlink_to(path)
    else:
        other.hardlink_to(path)
    target = (path, other)[question.params.get("form", 0) % 3 == 0]
    verbs = WRITE_TABLES if question.family == "table" else WRITE_IMAGES
    verb = verbs[question.params.get("strip_rows", 0) % len(verbs)]
    try:
        one = ["--channel", 0] if verb[0] == "hist" and question.shape[3] > 1 else arguments(question)  # which writes one tensor
        room.areal(*verb, path, *one, "-o", target)
    finally:
        if path.read_bytes() != before:
            raise Broken("an input that was replaced", f"by {' '.join(verb)}")
    raise Broken("an output that is the input", "was not refused")


def _plain(question: Question) -> bool:
    return not question.reverse and not question.volume


def _whole(question: Question) -> bool:
    return _plain(question) and question.mask is None and not question.ignore_nan


def _no_anchor(question: Question) -> bool:
    return "anchor" not in question.window and question.stats[0] != "variance" and question.mask is None


DOORS = (
    Door("command", ("regions",), direct, _plain, 5, True),
    Door("command-strips", ("regions",), strips, lambda q: _plain(q) and not q.types, 3, True),
    Door("command-picture", ("regions",), picture, lambda q: _plain(q) and not q.types and not q.ignore_nan and q.mask is None, 2, True),
    Door("command-table", ("regions",), table, _plain, 4, True),
    Door("command-volume", ("volume",), volume, lambda q: q.dtype != "bool", 1, True),
    Door("command-stale", ("regions",), stale, lambda q: _whole(q) and q.shape[0] == 1 and not q.types, 1.5, True),
    Door(
        "command-chunked",
        ("regions",),
        chunked,
        lambda q: _plain(q) and not q.types and q.dtype in ("bool", "uint8", "uint16", "int8"),
        1,
        True,
    ),
    Door("command-tiles", ("regions",), tiled, _plain, 1, True),
    Door("command-simt", ("regions",), simulated, lambda q: _plain(q) and q.area < 20_000 and q.backend == "simt", 8, True),
    Door("command-entries", ("table",), entries, lambda q: not q.reverse and q.area < 20_000, 5, True),
    Door("command-window", ("window",), windows, _no_anchor, 3, True),
    Door("command-window-strips", ("window",), windows_by_strips, _no_anchor, 2, True),
    Door("command-filter", ("window", "ranks", "local"), filters, lambda q: not (q.ignore_nan and q.shape[3] > 1), 3, True),
    Door("command-filter-strips", ("window", "ranks", "local"), filters_by_strips, lambda q: not (q.ignore_nan and q.shape[3] > 1), 2, True),
    Door("command-filter-sizes", ("sizes",), filters, lambda q: q.shape[0] == 1 and not (q.ignore_nan and q.shape[3] > 1), 10, True),
    Door("command-detect", ("cascade",), detections, lambda q: True, 10, True),
    Door("command-onto-itself", ("table", "window"), onto_itself, lambda q: q.area < 5000, 0.4, True),
)

__all__ = ["DOORS", "Refused", "arguments", "answer_of", "as_given", "check_kernels", "loaded", "placed", "regions_of", "rows_of"]
