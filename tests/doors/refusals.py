"""What a door may refuse, with the reason as a user would read it. The list may only shrink: a refusal that is not on it fails the
test, and the run names the entries that nothing met.

An entry: its name, which doors (a pattern), which questions, which sentence (a pattern) and why.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import re
from collections.abc import Callable

from answers import may_overflow, may_wrap, squares_may_wrap
from oracle import Oracle
from questions import SQUARES, Question


@dataclasses.dataclass(frozen=True)
class Refusal:
    """One entry of the list."""

    name: str
    doors: str  # patterns of names, separated by spaces
    of: Callable[[Question, Oracle], bool]
    sentence: str
    why: str
    must: bool = False  # an answer is a failure

    def covers(self, door: str, question: Question, oracle: Oracle, sentence: str) -> bool:
        """Whether this refusal is that entry's."""
        return self.at(door) and self.of(question, oracle) and re.search(self.sentence, sentence) is not None

    def at(self, door: str) -> bool:
        return any(fnmatch.fnmatch(door, pattern) for pattern in self.doors.split())


def _touches_last(question: Question, oracle: Oracle) -> bool:
    boxes = [oracle.clipped(region) for region in question.regions]
    return question.border == "exclusive" and any(x + w == oracle.width or y + h == oracle.height for x, y, w, h in boxes)


def _several(question: Question) -> bool:
    return question.shape[0] > 1 or question.shape[3] > 1


def _masked(question: Question, oracle: Oracle) -> bool:
    return question.mask is not None or question.ignore_nan


def more_than_plain(question: Question) -> bool:
    """Whether more than the sums of one plane are asked of an algorithm that was named."""
    squares = question.squares != "no" if question.family == "table" else question.squares in SQUARES or bool({"variance", "std"} & set(question.stats))
    more = (
        _several(question)
        or question.mask is not None
        or question.ignore_nan
        or squares
        or question.tilted
        or question.reverse
        or question.volume
    )
    return question.algorithm != "auto" and more


def _more_than_plain(question: Question, oracle: Oracle) -> bool:
    return more_than_plain(question)


def _named(*names: str) -> Callable[[Question, Oracle], bool]:
    return lambda question, oracle: question.algorithm in names


def _any(question: Question, oracle: Oracle) -> bool:
    return True


def _channels(question: Question, oracle: Oracle) -> bool:
    return question.shape[3] > 1


def _images(question: Question, oracle: Oracle) -> bool:
    return question.shape[0] > 1


def _form(*forms: int) -> Callable[[Question, Oracle], bool]:
    return lambda question, oracle: question.params.get("form", 0) in forms


PAPERS = (
    "serial",
    "2r2w-cpu",
    "4r1w-cpu",
    "2r2w",
    "4r4w",
    "4r1w",
    "2r1w",
    "1r1w",
    "hybrid-1r1w",
    "scanrow-brlt",
    "brlt-scanrow",
    "scanrow-column",
    "umm-optimal",
)
STRIPS = "command-strips command-window-strips command-filter-strips command-hist-strips command-hist-saved-strips command-chunked command-picture"

MOST_REFUSALS = 50  # entries: this number only shrinks

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "a region outside", "*",
        lambda q, o: q.family in ("regions", "volume", "histogram", "stores", "quantiles") and o.reaches_outside(), r"outside|inside|range|index|extent|negative|-\d",
        "A region that leaves the image is refused unless it is clipped.", must=True,
    ),  # fmt: skip
    Refusal(
        "a region outside, at once", "python-one-by-one torch-cuda cupy",
        lambda q, o: o.reaches_outside() or _touches_last(q, o), r"refused=True",
        "With refused=True the index of the first region that cannot be answered is told.",
    ),  # fmt: skip
    Refusal(
        "exclusive", "command-table command-tiles command-hist-saved* mpi* python* torch c++*",
        _touches_last, r"exclusive",
        "A table with the border exclusive lacks what regions at the last row and column take.",
    ),  # fmt: skip
    Refusal(
        "may wrap", "command* mpi*",
        lambda q, o: may_wrap(o), r"wrap|hold|types|exceed",
        "The command refuses a sum that its table's type may not hold.",
    ),  # fmt: skip
    Refusal(
        "squares may wrap", "command*",
        lambda q, o: squares_may_wrap(o), r"its sum of squares may exceed",
        "The command refuses a deviation whose sum of squares the type that was chosen may not hold.",
    ),  # fmt: skip
    Refusal(
        "the whole depth of an exclusive table", "command-volume command-entries python-volume c++*",
        lambda q, o: q.volume and q.border == "exclusive", r"lacks the last frame|a volume table is `zero` or `none`",
        "A volume's table with the border exclusive lacks the last frame.",
    ),  # fmt: skip
    Refusal(
        "NaN or infinity in a volume", "command-volume",
        lambda q, o: o.strange is not None or may_overflow(o), r"NaN or infinity|holds infinity|sums are not finite",
        "A volume is answered from a table, in which NaN and infinity spread.",
    ),  # fmt: skip
    Refusal(
        "an output that is the input", "command-onto-itself",
        _any, r"input",
        "An output never replaces the input that it is made of.",
    ),  # fmt: skip
    Refusal(
        "more than a paper's algorithm computes", "command* python* c++*",
        _more_than_plain, r"plain sum of one single-channel image|tables? of (squares|counts)",
        "The papers' algorithms compute the sums of one image of one channel.",
    ),  # fmt: skip
    Refusal(
        "squares by a paper's algorithm", "python-squares c++*",
        lambda q, o: q.algorithm != "auto", r"plain sum of one single-channel image",
        "The papers' algorithms compute no squares.",
    ),  # fmt: skip
    Refusal(
        "types of a paper's algorithm", "command* python* c++*",
        _named(*PAPERS), r"does not take types",
        "The papers' algorithms are compiled for the types of their papers.",
    ),  # fmt: skip
    Refusal(
        "an algorithm that this image or device does not have", "command* python* c++*",
        _named("bands", "relay", "all-partials", "thin", "count-then-write"), r"algorithm|bands|relay|all-partials|thin|count-then-write",
        "These algorithms need a device and an image of certain sizes; a name is never answered by another algorithm.",
    ),  # fmt: skip
    Refusal(
        "a histogram's algorithm", "command-hist* python-tensor c++*",
        lambda q, o: q.algorithm != "auto" and (_several(q) or q.weights is not None), r"counts one single-channel image without weights",
        "The papers' algorithms count one image of one channel.",
    ),  # fmt: skip
    Refusal(
        "five channels", "command* python* torch* cupy c++*",
        lambda q, o: q.shape[3] > 4, r"channels",
        "A table takes up to four channels.",
    ),  # fmt: skip
    Refusal(
        "chunked: a mask", "command-chunked",
        _masked, r"--mask|--ignore-nan",
        "A chunked table has the sums of all pixels.",
    ),  # fmt: skip
    Refusal(
        "by strips: several images", STRIPS,
        _images, r"holds \d+ images",
        "What is read by strips is one picture.",
    ),  # fmt: skip
    Refusal(
        "chunked: one channel", "command-chunked",
        _channels, r"--all-channels|channel",
        "A chunked table has the sums of one channel.",
    ),  # fmt: skip
    Refusal(
        "chunked: signed pixels", "command-chunked",
        lambda q, o: q.dtype == "int8", r"chunked tables are of",
        "Chunked tables are of bytes and of unsigned 16 bits.",
    ),  # fmt: skip
    Refusal(
        "chunked: no squares", "command-chunked",
        lambda q, o: bool({"variance", "std", "count"} & set(q.stats)), r"sums and means",
        "A chunked table has no squares.",
    ),  # fmt: skip
    Refusal(
        "by tiles: several images", "command-tiles",
        _images, r"holds \d+ images",
        "Tables by tiles are of one image.",
    ),  # fmt: skip
    Refusal(
        "by tiles: floats on workers that differ", "command-tiles",
        lambda q, o: q.is_float or (q.types or "").endswith("f") or bool({"variance", "std"} & set(q.stats)), r"workers of one backend",
        "Floats have the same bits in every run, so workers are of one backend.",
    ),  # fmt: skip
    Refusal(
        "a table in a .tif", "command-table",
        _form(5), r"a \.tif holds",
        "A TIFF has no integers of 64 bits and one table.",
    ),  # fmt: skip
    Refusal(
        "an interleaved table", "command-table",
        lambda q, o: q.layout == "interleaved" and q.shape[3] > 1, r"interleaved",
        "query answers from separate tables.",
    ),  # fmt: skip
    Refusal(
        "a mask of several images", "command*",
        lambda q, o: _images(q, o) and (q.mask or q.weights) is not None, r"mask|weights",
        "A mask and weights are of one image.",
    ),  # fmt: skip
    Refusal(
        "squares that a type cannot hold", "command* python* c++*",
        _any, r"this type cannot hold them",
        "Squares of wide pixels take a wide type.",
    ),  # fmt: skip
    Refusal(
        "a tensor of one channel", "command-hist-saved command-hist-saved-strips command-store-file",
        _channels, r"one tensor or store|choose one channel|channels",
        "A run writes one tensor, of one channel or of joint ones.",
    ),  # fmt: skip
    Refusal(
        "histograms of several workers", "command-hist-devices",
        _images, r"images",
        "Workers share one image.",
    ),  # fmt: skip
    Refusal(
        "cv2: another byte order", "cv2-*",
        lambda q, o: q.params.get("form") == 5, r"src of",
        "OpenCV reads native numbers alone.",
    ),  # fmt: skip
    Refusal(
        "a table without squares", "command-stale",
        lambda q, o: bool({"variance", "std"} & set(q.stats)), r"squares",
        "A deviation takes the table of squares.",
    ),  # fmt: skip
    Refusal(
        "a file for a batch", "command-table command-entries command-hist-saved command-hist-saved-strips command-store-file",
        _images, r"per frame",
        "A file holds the table or the tensor of one image; a batch is answered image by image.",
    ),  # fmt: skip
    Refusal(
        "windows of a batch", "command-window command-onto-itself",
        _images, r"one picture",
        "window writes one picture.",
    ),  # fmt: skip
    Refusal(
        "pictures without their plug-in", "command*",
        lambda q, o: os.environ.get("AREAL_DOORS_WITHOUT") == "pictures", r"areal_pictures.so is not in",
        "gpu-test, whose folder has no OpenImageIO, says so.",
    ),  # fmt: skip
    Refusal(
        "a TIFF of doubles with one row", "command*",
        lambda q, o: q.is_float and q.shape[1] == 1, r"is a TIFF of 64f with one row",
        "OpenImageIO 2.4 does not decode it.",
    ),  # fmt: skip
    Refusal(
        "a mask over NaN or an overflow", "command*",
        lambda q, o: _masked(q, o) and (o.strange is not None or may_overflow(o)), r"its sums are not finite|NaN or infinity",
        "A mask needs a table, in which NaN and infinity spread; --ignore-nan leaves NaN out.",
    ),  # fmt: skip
    Refusal(
        "windows over valid pixels on a device", "c++*",
        lambda q, o: q.family == "window" and _masked(q, o), r"windows over the valid pixels alone",
        "Windows over the valid pixels alone are computed by the CPU; a named backend is never replaced by another.",
    ),  # fmt: skip
    Refusal(
        "filters of 64-bit integers", "c++*filter command-filter* python-filter*",
        lambda q, o: q.type in ("64u", "64s"), r"image type 64[us]: it may be",
        "Sums of integers of 64 bits may exceed 64 bits; a window of a table wraps, a filter refuses.",
    ),  # fmt: skip
    Refusal(
        "filters of floats far beyond the edge", "c++*filter command-filter* python-filter*",
        lambda q, o: q.is_float, r"reaches more than \d+ pixels beyond the edge of a float image",
        "Floats are added in the order of their positions, so the pixels beyond an edge cannot be summed up in advance.",
    ),  # fmt: skip
    Refusal(
        "a value beyond the edge that no pixel has", "c++*filter command-filter* python-filter*",
        lambda q, o: q.window.get("edge") == "constant" and not q.is_float, r"it may be a whole number that this type holds",
        "A filter's pixels beyond the edge are pixels of the image's type; windows of a table add any number.",
    ),  # fmt: skip
    Refusal(
        "filters without NaN", "c++*filter command-filter* python-filter*",
        lambda q, o: q.ignore_nan and not q.is_float, r"pixels are never NaN",
        "Only floats can be NaN.",
    ),  # fmt: skip
    Refusal(
        "filters on a device", "c++?filter c++?sizes-filter command-filter command-filter-sizes",
        lambda q, o: q.backend in ("simt", "cuda"), r"it takes (no mask|neither masks|images of integers|deviations|8u and 8s|windows of (up to |)\d)|has no kernel for filters on|every threshold but that of wolf|windows of a size per pixel run on the CPU",
        "Devices have fewer kernels of filters; a named backend is never replaced by another.",
    ),  # fmt: skip
    Refusal(
        "wolf by strips", "c++*strip-filter command-filter-strips",
        lambda q, o: q.stats == ("wolf",), r"the largest deviation and the least pixel of the whole image",
        "Every threshold depends on the largest deviation of all windows, which is known after the last row.",
    ),  # fmt: skip
    Refusal(
        "equalize of 16 bits by strips", "c++*strip-filter",
        lambda q, o: q.family == "ranks" and q.type == "16u", r"the largest pixel of the whole image",
        "The largest pixel of 16u, which decides the number of bins, is known after the last row.",
    ),  # fmt: skip
    Refusal(
        "quantiles of 64-bit integers", "c++?quantiles* python-quantiles python-store-quantiles command-quantiles command-store-file",
        lambda q, o: q.family == "quantiles" and q.type in ("64u", "64s"), r"64[us]",
        "Quantiles are doubles, which hold integers of 53 bits.", must=True,
    ),  # fmt: skip
    Refusal(
        "quantiles on a device without a store", "c++?quantiles* command-quantiles",
        lambda q, o: q.backend in ("simt", "cuda") and q.params.get("store") == "none", r"none",
        "On a device quantiles take a rank store; a named store is never replaced by another.",
    ),  # fmt: skip
    Refusal(
        "a compact store of weights", "c++?store-compact",
        lambda q, o: q.weights is not None, r"weights",
        "A compact store counts pixels.",
    ),  # fmt: skip
    Refusal(
        "a mask on a device", "c++?store-none c++?store-automatic c++?store-one-line",
        lambda q, o: q.mask is not None and q.backend in ("simt", "cuda"), r"mask",
        "Devices count masked pixels in compact stores alone.",
    ),  # fmt: skip
    Refusal(
        "a filter of frames", "command-filter*",
        _images, r"has frames; write a video",
        "Frames go to a video or a folder.",
    ),  # fmt: skip
    Refusal(
        "NaN or an overflow left of or above a region of a saved table", "command-table command-tiles command-stale mpi-sat",
        lambda q, o: q.is_float, r"its sums are not finite",
        "In a table NaN and infinity spread right and down, so a saved one does not tell which regions hold them.",
    ),  # fmt: skip
    Refusal(
        "NaN over ranks", "mpi-query",
        lambda q, o: q.is_float and o.strange is not None, r"NaN or infinity",
        "areal-mpi answers from a table, in which NaN and infinity spread.",
    ),  # fmt: skip
    Refusal(
        "two channels are no colour", "command* python*",
        lambda q, o: q.shape[3] in (2, 4, 5), r"not a colour",
        "An image of two channels is no colour.",
    ),  # fmt: skip
)


def find(door: str, question: Question, oracle: Oracle, sentence: str) -> Refusal | None:
    """The entry that a refusal is on, None for none."""
    return next((entry for entry in REFUSALS if entry.covers(door, question, oracle, sentence)), None)


def must_refuse(door: str, question: Question, oracle: Oracle) -> Refusal | None:
    """The entry by which that door must refuse that question."""
    return next((entry for entry in REFUSALS if entry.must and entry.at(door) and entry.of(question, oracle)), None)
