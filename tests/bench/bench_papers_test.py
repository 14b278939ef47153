#!/usr/bin/env python3
"""`areal bench` with a paper's table or figure, on the stand-in for the GPU plug-in, simt and the CPU: which records there are and what they hold,
what is said of cases that do not run, wrong use; and bench/pages/show.py on these records. The tests measured_NAME_test check the pages' numbers."""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

THREE = ("scanrow-brlt", "brlt-scanrow", "scanrow-column")
NPP = "npp 0.0.0 stand-in"


def one(rows, **like):
    found = [row for row in rows if all(row.get(key) == value for key, value in like.items())]
    assert found, f"no record {like}"
    return found[-1]


def time(rows, **like):
    return one(rows, **like)["time_us"]["median"]


def counted(rows, name):
    return collections.Counter(name(row) for row in rows)


class Bench:
    def __init__(self, tree, build, scratch):
        self.areal, self.stand_in, self.scratch = build / "apps" / "areal" / "areal", build / "tests" / "stand_in", pathlib.Path(scratch)
        self.tree, self.file = tree, self.scratch / "r.json"

    def command(self, *words, **environment):
        self.file.unlink(missing_ok=True)
        done = subprocess.run([self.areal, *words], cwd=self.scratch, text=True, capture_output=True, check=False,
                              env={**os.environ, "AREAL_BENCH_DIR": str(self.stand_in), "CUDA_VISIBLE_DEVICES": "", **environment})
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def records(self, *words, **environment):
        code = self.command("bench", *words, "--json", "r.json", **environment)
        assert code == 0, (words, self.err)
        rows = json.loads(self.file.read_text())
        assert len(self.out.splitlines()) == len(rows) + 1, self.out  # a line each, and the heading
        assert all(row["time_us"]["median"] > 0 for row in rows)
        return rows

    def said(self, *parts):
        for part in parts:
            assert part in self.err, f"{part!r} is not in {self.err}"

    def refused(self, code, sentence, *words, **environment):
        """It ends with one line, and leaves no file."""
        assert self.command("bench", *words, "--json", "r.json", **environment) == code, (words, self.err)
        assert self.out == "" and self.err.count("\n") == 1 and sentence in self.err, (words, self.out, self.err)
        assert not self.file.exists()

    def shown(self, polylines=None):
        """The page's text of the last records; and its picture, which has that many curves."""
        picture = self.scratch / "p.svg"
        done = subprocess.run([sys.executable, self.tree / "bench" / "pages" / "show.py", self.file, *(["--plot", picture] if polylines is not None else [])],
                              text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not re.search(r"\b(None|nan|inf)\b", done.stdout), done.stdout
        if polylines is not None:
            drawn = xml.dom.minidom.parse(str(picture))
            assert len(drawn.getElementsByTagName("polyline")) == polylines, len(drawn.getElementsByTagName("polyline"))
            assert not re.search("nan|inf", picture.read_text())
        return done.stdout


def check_wrong(bench):
    """What the other checks hold against: a wrong result fails the run, which keeps its records, and a record that is missing fails a check."""
    for words, name in ((("sat", "--figure", "chen", "--types", "32f32f"), "brlt-scanrow"), (("sat", "--table", "kasagi"), "1r1w"),
                        (("histogram", "--figure", "lee-choe", "--bins", "2"), "harris")):
        assert bench.command("bench", *words, "--size", "64x64", "--json", "r.json", AREAL_STAND_IN_WRONG=name) == 1
        bench.said("areal: note: wrong: ", "areal: a result is wrong: ")
        rows = json.loads(bench.file.read_text())
        assert rows and not [row for row in rows if row["algorithm"] == name], rows
        try:
            one(rows, algorithm=name)
        except AssertionError:
            continue
        sys.exit("a missing record was not noticed")


def check_chen(bench):
    figure = ("sat", "--figure", "chen", "--repetitions", "2")
    asked = (*figure, "--size", "96x80", "--size", "64x64")
    rows = bench.records(*asked, "--types", "8u32s", "--types", "32f32f", "--types", "64f64f")
    expected = collections.Counter()
    for lane, more in (("8u32s", [NPP]), ("32f32f", ["scanrow-brlt ladner-fischer", "scanrow-column ladner-fischer"]), ("64f64f", [])):
        expected.update((lane, width, name) for width in (64, 96) for name in ("scan-scan", *THREE, "areal", *more))

    def name_of(row):
        name = row["algorithm"] if row["algorithm"] in (*THREE, "scan-scan", NPP) else "areal"
        return row["lane"], row["width"], name + (" ladner-fischer" if row.get("scan") == "ladner-fischer" else "")

    assert counted(rows, name_of) == expected
    assert [row["width"] for row in rows[:6]] == [64] * 6, "sizes ascend"
    for row in rows:
        npp = row["algorithm"] == NPP
        assert (row["shown"], row["backend"], row["border"], "floor" in row) == ("chen", "cuda", "zero" if npp else "none", not npp), row
        assert ("launches" in row) == (row["lane"] == "32f32f" and row["algorithm"] != "scan-scan"), row
        assert row["algorithm"] not in THREE or "launches" not in row or len(row["launches"]) == 2, row
        for times in (row["time_us"], *(launch["time_us"] for launch in row.get("launches", ()))):
            assert times["rounds"] == 2 and times["min"] <= times["between"][0] <= times["median"] <= times["between"][1] <= times["max"], times
        assert npp or row["floor_between"][0] <= row["floor_us"] <= row["floor_between"][1], row
    assert bench.err.count("\n") == 2, bench.err
    bench.said("areal: note: npp of 32f32f did not run at 64x64 and 1 more: NPP has no integral of 32f32f\n")
    # Floors, five algorithms, and NPP in the panels of one of the three pairs; two panels of each.
    text = bench.shown(2 * (7 + 6 + 6))
    assert "| 96x80 | T(ScanColumn) < T(BrltScanRow) |" in text, text

    rows = bench.records("sat", "--figure", "chen", "--size", "64x64", "--types", "8u32u")
    assert {row["time_us"]["rounds"] for row in rows} == {30}, rows

    # The model beside it.
    assert bench.command("model", "chen", "--measured", "r.json", "--size", "64x64", "--json") == 1  # the file is gone
    rows = bench.records(*asked, "--types", "8u32u", "--types", "32f32f", "--types", "64f64f")
    good = bench.file.read_text()
    (bench.scratch / "F.json").write_text(good)
    assert bench.command("model", "chen", "--measured", "F.json", "--size", "64x64", "--json") == 0, bench.err
    lanes = json.loads(bench.out.splitlines()[0])["measured"]["lanes"]
    assert len(lanes) == 4, lanes  # 32f32f with both warp scans
    for lane in lanes:
        assert lane["bytes"] == (8 if lane["lane"] == "64f64f" else 4)
        record = one(rows, lane=lane["lane"], width=64, algorithm="scanrow-brlt", scan=lane["scan"])
        assert lane["algorithms_us"]["scanrow-brlt"] == record["time_us"]["median"], lane
        assert ("claims" in lane) == (lane["lane"] == "32f32f"), lane
        if "claims" in lane:
            first, second = (launch["time_us"]["median"] for launch in record["launches"])
            assert lane["passes_us"]["ScanRowBrlt"] == (first + second) / 2
            assert lane["claims"]["ScanColumn < BrltScanRow"] == (lane["passes_us"]["ScanColumn"] < lane["passes_us"]["BrltScanRow"])
    assert bench.command("model", "chen", "--measured", "F.json", "--size", "64x64") == 0, bench.err
    assert "kogge-stone, 64 x 64, us" in bench.out and "ladner-fischer, 64 x 64, us" in bench.out, bench.out
    for text, sentence in ((good, "F.json: has no times of 4096 x 4096; it has 64 x 64, 96 x 80"),
                           ("[]", "F.json: has no times of 4096 x 4096; it has none of --figure chen"),
                           (good.replace("chen", "x"), "it has none of --figure chen"),
                           (good.replace("width", "x"), "F.json: is not what areal bench sat --figure chen --json writes"),
                           ("{}", "F.json: is not what"), ("[1]", "F.json: is not what"), (good[:100], "F.json: is not what")):
        (bench.scratch / "F.json").write_text(text)
        assert bench.command("model", "chen", "--measured", "F.json") == 1 and bench.out == "" and sentence in bench.err, (sentence, bench.err)
    assert bench.command("model", "chen", "--measured", "nowhere.json") == 1

    rows = bench.records(*asked, "--types", "8u32u", "--no-peers")
    assert not [row for row in rows if row["algorithm"] == NPP] and one(rows, algorithm="scan-scan") and "npp" not in bench.err
    bench.said("note: Figure 8 is left out: it needs 32f32f")
    bench.shown(2 * 6)
    # scanrow-column has no transposed table of 96 x 80, and the one of 64 x 64 is smaller.
    rows = bench.records(*asked, "--types", "32f32f", AREAL_STAND_IN_MEMORY="20000")
    assert not [row for row in rows if row["width"] == 96 and row["algorithm"] == "brlt-scanrow"]
    assert one(rows, width=64, algorithm="brlt-scanrow") and one(rows, width=96, algorithm="scanrow-column")
    bench.said("note: brlt-scanrow of 32f32f did not run at 96x80: out of memory: a workspace of ")
    assert "so there is no best, at 32f32f 96x80." in bench.shown()

    for words in (("--algorithm", "1r1w"), ("--squares",), ("--border", "zero"), ("--batch", "2"), ("--bins", "2")):
        bench.refused(2, f"{words[0]} may not be given with --figure chen", *figure, "--size", "64x64", *words)
    bench.refused(2, "--backend cpu: --table and --figure are timed on a GPU", *figure, "--backend", "cpu")
    bench.refused(2, "--table and --figure: may not be given together", *figure, "--table", "kasagi")
    bench.refused(2, "--figure chen: bench histogram has ", "histogram", "--figure", "chen")
    bench.refused(1, "areal: ", *figure, "--size", "64x64", AREAL_BENCH_DIR=str(bench.scratch / "nowhere"))


def check_kasagi(bench):
    table = ("sat", "--table", "kasagi", "--repetitions", "2")
    fixed = ("2r2w", "4r4w", "4r1w", "2r1w", "1r1w", "2r2w-cpu", "4r1w-cpu")
    rows = bench.records(*table, "--size", "96x96", "--size", "256x160", "-q")
    for width, height, tiles in ((96, 96, 3), (256, 160, 5)):
        cells = [row for row in rows if row["width"] == width and row["shown"] == "kasagi"]
        curve = {row["r"]: row["time_us"]["median"] for row in rows if row["width"] == width and row["shown"] == "kasagi-r"}
        for name in fixed:
            cpu, row = name.endswith("-cpu"), one(cells, algorithm=name)
            assert (row["backend"], row["threads"], row["border"], row["lane"]) == ("cpu" if cpu else "cuda", 1 if cpu else 0, "none", "64f64f"), row
            assert row["bytes"] == 16 * width * height
        # All shares are tried, as there are few: a triangle has 1 tile to one less than the shorter side. The table has the one nearest to 1/4, and the best.
        assert len(curve) == tiles - 1 and all(0 < r < 1 for r in curve), curve
        shares = {row["r"] for row in cells if "r" in row}
        assert min(curve, key=curve.get) in shares and min(curve, key=lambda r: abs(r - 0.25)) in shares, (shares, curve)
        default = [row["algorithm"] for row in cells if row["algorithm"] not in (*fixed, "hybrid-1r1w")]
        assert len(default) == 1 and len(cells) == len(fixed) + len(shares) + 1, default
    bench.shown(11 + 2)

    # Between the coarse shares around the best, all are tried: 12 sides are possible.
    rows = bench.records(*table, "--size", "416x416", "--size", "64x64", "--types", "8u32u", "-q")
    curve = {row["r"]: row["time_us"]["median"] for row in rows if row["width"] == 416 and row["shown"] == "kasagi-r"}
    assert 10 <= len(curve) <= 12, curve
    assert one(rows, algorithm="1r1w", width=64)["floor"] == "widen"
    # One row of tiles has no triangles. An image beyond 63 bits gives no rows, and the rest continues.
    rows = bench.records(*table, "--size", "32x100", "--size", "2147483648x2147483648", "--size", "64x64")
    bench.said("hybrid-1r1w of 32x100 is left out: its triangles need two rows and two columns of tiles", "the CPU's rows end at 18K",
               *(f"{name} of 64f64f 2097152K did not run: " for name in ("hybrid-1r1w", "2r2w", "auto")))
    assert not [row for row in rows if row["width"] == 2147483648] and len(bench.err) < 5000
    assert one(rows, width=32, algorithm="1r1w") and one(rows, width=64, algorithm="hybrid-1r1w")
    bench.shown()
    for name in ("4r4w", "hybrid-1r1w", "auto"):
        rows = bench.records(*table, "--size", "96x96", AREAL_STAND_IN_REFUSES=name)
        assert bench.err == f"areal: note: {name} of 64f64f 96x96 did not run: no room for {name}\n", bench.err
        assert len([row for row in rows if row["shown"] == "kasagi"]) == (8 if name == "hybrid-1r1w" else 9), rows
        bench.shown()
    assert {row["backend"] for row in bench.records(*table, "--size", "96x96", AREAL_STAND_IN_REFUSES="all")} == {"cpu"}

    for words in (("--algorithm", "1r1w"), ("--bins", "16"), ("--batch", "2"), ("--squares=64f",), ("--border", "zero")):
        bench.refused(2, f"{words[0].split('=')[0]} may not be given with --table kasagi, which takes --size and --types", *table, *words)
    bench.refused(2, "--types 9u: may be 8u32u, ", *table, "--types", "9u")
    bench.refused(1, "areal: ", *table, "--size", "64x64", AREAL_BENCH_DIR=str(bench.scratch / "nowhere"))


def check_lee_choe(bench):
    figure = ("histogram", "--figure", "lee-choe")
    asked = (*figure, "--size", "24x16", "--size", "2100x2", "--bins", "2", "--bins", "1", "--repetitions", "2")
    names = ("harris", "lee-choe-multiple", "lee-choe-shared", "lee-choe", "reduce-then-scan")
    rows = bench.records(*asked)
    assert counted(rows, lambda row: (row["algorithm"], row["width"], row["bins"])) == \
        collections.Counter((name, width, bins) for name in names for width in (24, 2100) for bins in (1, 2))
    for row in rows:
        assert (row["what"], row["shown"], row["backend"], row["floor"]) == ("histogram", "lee-choe", "cuda", "memset") and "tile" not in row, row
        assert row["time_us"]["median"] > row["floor_us"], row
    for bins in (1, 2):  # one block per line saves the accesses of several blocks; the mapping itself saves none
        times = {name: [time(rows, algorithm=name, width=width, bins=bins) for width in (24, 2100)] for name in names}
        assert times["lee-choe-multiple"][1] < times["harris"][1] and times["lee-choe-shared"][0] == times["harris"][0], times
    bench.shown(2 * 6)
    assert len(bench.records(*asked, AREAL_STAND_IN_REFUSES="lee-choe-shared")) == 4 * 2 * 2
    bench.said("note: 2100x2, 2 bins: lee-choe-shared did not run: no room for lee-choe-shared")
    bench.shown(2 * 5)
    assert len(bench.records(*asked, AREAL_STAND_IN_REFUSES="harris")) == 4 * 2 * 2
    bench.shown(0)  # without Harris' times there is no reference
    bench.refused(1, "areal: --figure lee-choe: nothing ran; the notes say why\n", *asked, "-q", AREAL_STAND_IN_REFUSES="all")
    for words, why in ((("--algorithm", "harris"), "times the paper's algorithms"), (("--types", "8u32u"), "counts 8u pixels in 32u"),
                       (("--batch", "2"), "takes one image at a time"), (("--border", "zero"), "makes tensors without a border")):
        bench.refused(2, f"areal: {words[0]} may not be given with --figure lee-choe, which {why}\n", *figure, *words)
    bench.refused(2, "areal: --backend cpu: --table and --figure are timed on a GPU\n", *figure, "--backend", "cpu")
    bench.refused(2, "--table lee-choe: bench histogram has ", "histogram", "--table", "lee-choe")
    assert bench.command("bench", *figure, "--json", "nowhere/r.json") == 1 and bench.out == ""  # before the work


def check_poostchi(bench):
    figure = ("histogram", "--figure", "poostchi")
    # 48 x 20 with 3 and 5 bins, 70 x 34 with 3.
    rows = bench.records(*figure, "--size", "48x20", "--size", "70x34", "--bins", "3", "--bins", "5", "--repetitions", "1", "--threads", "2")
    bench.said("note: the CPU's parallel version is not timed with 4, 8, 16 threads: only 2 may be used")

    def name_of(row):
        return f"{row['what']} {row['algorithm']}" + (f"-{row['tile']}-{row['tile_threads']}" if "tile" in row else "") + \
            (f"x{row['threads']}" if row["backend"] == "cpu" else "")

    expected = collections.Counter(3 * [
        *(f"histogram {name}" for name in ("cw-b", "cw-sts", "cw-tis-16-256", "cw-tis-32-512", "cw-tis-64-512", "wf-tis-16-256", "wf-tis-32-512", "wf-tis-64-512",
                                           "reduce-then-scan", "serialx1", "parallelx1", "parallelx2", "fusedx2")),
        "transfer image up", "transfer tensor up", "transfer tensor down", "initialisation device", "initialisation hostx1", "initialisation hostx2"])
    expected.update(f"histogram {name}-{block}" for name in ("cw-tis", "wf-tis")  # only of 48x20 with 3 bins
                    for block in ("16-64", "16-128", "32-128", "32-256", "32-1024", "64-128", "64-256", "64-1024"))
    assert counted(rows, name_of) == expected, counted(rows, name_of) - expected
    for row in rows:
        assert (row["shown"], row["border"], row["backend"]) == ("poostchi", "none", "cpu" if row["threads"] else "cuda"), row

    def launches(algorithm, tile=None, threads=None):
        row = one(rows, width=48, bins=3, algorithm=algorithm, **({"tile": tile, "tile_threads": threads or (256 if tile == 16 else 512)} if tile else {}))
        found = row["launches"]
        # The stand-in's events take no time.
        assert abs(sum(launch["time_us"]["median"] for launch in found) - row["time_us"]["median"]) < 1e-6 and all(launch["occupancy"] > 0 for launch in found)
        return found

    def phases(*what):
        return [(launch["phase"], launch["launches"]) for launch in launches(*what)]

    # Launches by the algorithms: height 20, width 48, 3 bins.
    begin, end = ("initialisation", 1), ("last transpose", 1)
    assert phases("cw-b") == [begin, ("horizontal", 3 * 20), ("transpose", 3), ("vertical", 3 * 48), end]
    assert phases("cw-sts") == [begin, ("horizontal", 1), ("transpose", 1), ("vertical", 1), end]
    assert phases("cw-tis", 16) == [begin, ("horizontal", 3), ("vertical", 2)]
    assert phases("wf-tis", 16) == [begin, ("wave-front", 3 + 2 - 1)]
    assert phases("wf-tis", 64) == [begin, ("wave-front", 1)]
    assert launches("cw-b")[1]["threads"] == 64 and launches("cw-b")[1]["kernel"] == "Prescan"
    for tile, threads, occupancy in ((16, 64, 0.03125), (16, 256, 0.125), (32, 512, 0.25), (64, 128, 0.0625), (64, 1024, 0.5)):
        for name in ("cw-tis", "wf-tis"):
            scans = launches(name, tile, threads)[1:]
            assert {launch["threads"] for launch in scans} == {threads} and abs(min(launch["occupancy"] for launch in scans) - occupancy) < 0.01, (name, tile, threads)
    text = bench.shown(2 * 9 + 6)
    assert "| `wf-tis` | 70x34, 3 bins |" in text and "48x20, by bins:" in text, text

    small = (*figure, "--size", "20x12", "--bins", "2", "--repetitions", "1", "--threads", "1")
    rows = bench.records(*small, AREAL_STAND_IN_REFUSES="wf-tis")
    bench.said("note: 20x12, 2 bins: wf-tis on tiles of 16 did not run: no room for wf-tis",
               "note: 20x12, 2 bins: wf-tis on tiles of 64 by 1024 threads did not run: no room")
    assert one(rows, what="initialisation", algorithm="device")  # the other algorithms begin with the same launch
    bench.shown()
    rows = bench.records(*small, AREAL_STAND_IN_REFUSES="link")
    bench.said("note: 20x12, 2 bins: the transfers were not timed: no room for link")
    assert not [row for row in rows if row["what"] == "transfer"]
    bench.shown()
    assert bench.command("bench", *small, AREAL_STAND_IN_REFUSES="all") == 1
    bench.said("areal: --figure poostchi: nothing ran; the notes say why\n")
    for words in (("--algorithm", "wf-tis"), ("--types", "8u32u"), ("--batch", "2"), ("--border", "exclusive"), ("--table", "all")):
        bench.refused(2, words[0], *figure, *words)


def check_sequence(bench):
    figure = ("sequence", "--figure", "poostchi", "--repetitions", "1")
    simt = (*figure, "--backend", "simt")
    rows = bench.records(*simt, "--size", "33x9", "--size", "40x20", "--bins", "2", "--bins", "4", "--items", "3")
    default, papers = "reduce-then-scan", ("cw-b", "cw-sts", "cw-tis", "wf-tis")
    runs = [row for row in rows if row["what"] == "sequence"]
    for row in rows:
        assert (row["shown"], row["backend"]) == ("poostchi", "simt") and row["what"] in ("transfer", "sequence"), row
    for row in runs:
        assert row["frames"] >= 3 and row["floor"] == "compute" and row["stages_us"]["scan"] > 0, row  # there is no link
    overlap = [(40, bins, name, slots, "breadth") for bins in (2, 4) for name in ("wf-tis", default) for slots in (1, 2, 4)] + [(40, bins, default, 4, "ring") for bins in (2, 4)]
    frames = [(width, bins, name, slots, "breadth") for width, bins in ((33, 2), (40, 2), (40, 4)) for name in (*papers, default) for slots in (1, 2)] + \
        [(width, bins, default, 4, "ring") for width, bins in ((33, 2), (40, 2), (40, 4))]
    staged = [(40, 2, name, 1, "stages") for name in ("wf-tis", "cw-b", default)]
    assert counted(runs, lambda row: (row["width"], row["bins"], row["algorithm"], row["slots"], row["order"])) == collections.Counter(overlap + frames + staged)
    assert [row["frames"] for row in runs if row["slots"] == 4 and row["order"] == "breadth"] == [12] * 4
    for row in [row for row in runs if row["order"] == "stages"]:
        own = row["algorithm"] == default  # only the paper's algorithms have the initialisation as a separate stage
        assert (row["stages_us"]["initialise"] == 0) == own, row
        assert [timeline["slots"] for timeline in row["timelines"]] == [1, 2], row
        for timeline in row["timelines"]:
            spans = timeline["spans"]
            assert all(begin <= end and 0 <= slot < timeline["slots"] for _, slot, _, begin, end in spans), spans
            of = {stage: sorted(frame for name, _, frame, _, _ in spans if name == stage) for stage in ("read", "initialise", "scan")}
            assert of["read"] == of["scan"] == list(range(4, 12)) and of["initialise"] == ([] if own else of["read"]), of  # 8 frames of 12
    bench.shown(0)
    picture = (bench.scratch / "p.svg").read_text()
    for name in ("wf-tis", "cw-b", default):
        for slots in ("1 slot", "2 slots"):
            assert f"{name}, 40x20, 2 bins, {slots}<" in picture, (name, slots)
    assert picture.count("<title>scan, frame ") == 6 * 8 and picture.count("<title>initialise, frame ") == 4 * 8

    rows = bench.records(*simt, "--size", "24x8", "--bins", "2", "--items", "7", "--algorithm", "wf-tis", "--slots", "3", "--order", "depth")
    assert {row["algorithm"] for row in rows if row["what"] == "sequence"} == {"wf-tis"}
    assert one(rows, slots=3, order="depth")["frames"] == 9 and one(rows, slots=1, order="depth")
    rows = bench.records(*figure, "--backend", "cpu", "--threads", "1", "--size", "24x8", "--bins", "2", "--items", "4")
    bench.said("note: the paper's algorithms are not on the CPU: only auto runs")
    assert {row["algorithm"] for row in rows if row["what"] == "sequence"} == {"fused"} and {row["backend"] for row in rows} == {"cpu"}
    bench.refused(1, "--backend simt or cpu runs it without a GPU", *figure)
    for words in (("--order", "random"), ("--slots", "0"), ("--algorithm", "harris"), ("--devices", "cpu:1"), ("--batch", "2"), ("--types", "8u32u")):
        bench.refused(2, words[0], *simt, *words)
    for words in (("--slots", "2"), ("--order", "depth"), ("--figure", "lee-choe")):
        bench.refused(2, "areal: ", "sequence", "--backend", "simt", *words)


def check_cluster(bench):
    figure = ("cluster", "--figure", "poostchi", "--repetitions", "1", "--threads", "2")

    def cluster(*words):
        rows = bench.records(*figure, *words)
        assert {(row["what"], row["shown"]) for row in rows} == {("cluster", "poostchi")}
        bench.shown()
        return rows, sorted(f"{row['part']} {row['order']} {row['algorithm']} {row['devices']} {row['width']} {row['bins']}" for row in rows)

    # Groups of 3 bins and one of 1.
    rows, names = cluster("--backend", "simt", "--part", "figure-16", "--size", "24x10", "--bins", "7", "--items", "3", "--group-bytes", "3000")
    assert names == ["figure-16 bins reduce-then-scan simt 24 7", "figure-16 bins wf-tis simt 24 7", "figure-16 pieces auto simt 24 7", "figure-16 ring auto simt 24 7"], names
    assert {row["floor"] for row in rows} == {"link"}
    _, names = cluster("--devices", "cpu:1,simt", "--part", "figure-16", "--part", "frames", "--size", "40x16", "--bins", "5", "--items", "40")
    bench.said("note: wf-tis is not on the CPU")
    assert names == sorted(f"{name} 40 5" for name in ("figure-16 bins fused cpu:1,simt", "figure-16 pieces auto cpu:1,simt", "figure-16 ring auto cpu:1,simt",
                                                       "frames ring frames cpu:1", "frames ring frames simt", "frames ring frames cpu:1,simt")), names
    parts = [word for part in ("figure-17", "answers", "tiles", "table", "frames") for word in ("--part", part)]
    _, names = cluster("--backend", "simt", *parts, "--size", "30x12", "--bins", "4", "--items", "40", "--group-bytes", "6000")
    assert names == sorted([*(f"{name} 30 4" for name in (
        "figure-17 bins serial cpu:1", "figure-17 bins parallel cpu:1", "figure-17 bins parallel cpu:2", "figure-17 bins fused cpu:2", "figure-17 bins wf-tis simt", "figure-17 bins reduce-then-scan simt",
        "answers tiles answers simt", "tiles tiles answers simt", "tiles rows auto simt", "tiles tiles auto simt",
        "frames ring frames simt", "frames ring unequal simt", "frames ring unequal cpu:2", "frames ring unequal simt,cpu:2")), "table table auto simt 30 0"]), names
    bench.refused(1, "runs it without a GPU", *figure)
    bench.refused(2, "bench cluster needs --figure poostchi", "cluster")
    bench.refused(2, "bench cluster has ", "cluster", "--figure", "chen")
    for words in (("--part", "18"), ("--algorithm", "cw-b"), ("--slots", "2"), ("--group-bytes", "0")):
        bench.refused(2, words[0], *figure, "--backend", "simt", *words)
    bench.refused(2, "--part and --group-bytes: only bench cluster takes them", "sequence", "--part", "frames")


def check_nakano(bench):
    def drawn(words, polylines, title):
        assert bench.command("model", "nakano", *words, "--json") == 0, bench.err
        bench.file.write_text(bench.out)
        bench.shown(polylines)
        assert f">{title}<" in (bench.scratch / "p.svg").read_text()

    drawn(("--n", "512"), 2 * 9, "n = 512, w = 32, l = 32")  # eight programs and the lower bound on each machine
    drawn(("--n", "64,256", "--l", "5"), 2 * 9, "p = 160, w = 32, l = 5")
    drawn(("--n", "64", "--l", "1,5"), 2 * 9, "n = 64, p = wl, w = 32")
    for words in (("--n", "64", "--p", "32"), ("--n", "64,128", "--l", "1,2")):  # nothing varies, or two parameters do
        assert bench.command("model", "nakano", *words, "--json") == 0, bench.err
        bench.file.write_text(bench.out)
        done = subprocess.run([sys.executable, bench.tree / "bench" / "pages" / "show.py", bench.file, "--plot", bench.scratch / "none.svg"],
                              text=True, capture_output=True, check=False)
        assert done.returncode == 1 and "no picture" in done.stderr and not (bench.scratch / "none.svg").exists(), done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if not (arguments.build / "tests" / "stand_in" / "areal_cuda_bench.so").exists():
        print("without the simulated machine or areal-lab there is no stand-in for the GPU plug-in")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments.tree.resolve(), arguments.build.resolve(), scratch)
        for check in (check_wrong, check_chen, check_kasagi, check_lee_choe, check_poostchi, check_sequence, check_cluster, check_nakano):
            if arguments.only in check.__name__:
                check(bench)
                print(check.__name__, "passed")


if __name__ == "__main__":
    main()
