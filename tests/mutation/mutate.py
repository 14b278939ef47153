#!/usr/bin/env python3
"""Mutation testing: plants faults in src/, one at a time, and runs the tests that cover the file.

    mutate.py --count 200 --seed 1         so many faults, spread over the folders of src/ by their lines
    mutate.py --under src/kernels          only there; --tests 'simt_*' only with these tests
    mutate.py --list                       prints the faults that it would plant
    mutate.py --replay FILE:LINE[:COLUMN]  the faults of one place

A fault is noticed if a test fails, crashes or hangs. Cheap tests run first, and the first that fails ends the run of a fault. A
fault that does not compile is replaced by another. Survivors are printed; those that equivalent.txt explains are reported apart.
The build tree is configured without CUDA, so kernels run on the simulated machine. The source is restored after each fault, also
on Ctrl-C, and at the next start if the script was killed. The record is JSON, written after each fault.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import fcntl
import fnmatch
import functools
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "doors"))
from faults import Mutant, drawn, mutants_of  # noqa: E402
from watch import Watch  # noqa: E402

# The tests of a folder or file, besides those that include the file or have its name. The longest prefix counts.
COVERING = {
    "src/api/cascade": "cascade_test",
    "src/api/core": "*plan_test cancel_test planes_test query_memory_test device_memory_test conformance_errors_test conformance_options_test "
    "backend_choice_test simt_choice_test region_test scatter_test window_test",
    "src/api/filter": "filter_* simt_filter_*",
    "src/api/histogram": "histogram_* binning_test compact_test fused_test restored_store_test simt_histogram_test simt_compact_test simt_rank_test",
    "src/api/match": "match_test",
    "src/api/query": "region_* window_* scatter_test planes_test partial_sums_test query_memory_test cancel_test simt_region* simt_pixel_counts_test",
    "src/api/sat": "plan_test border_test memory_test conformance_errors_test conformance_options_test conformance_in_place_test simt_sat_test",
    "src/catalog": "catalogue_* simt_catalogue* names_test plan_test cost_formula_test",
    "src/chunked": "chunked_*",
    "src/cpu": "*plan_test threads_test cancel_test schedules_test conformance_product_test",
    "src/cpu/cascade": "cascade_test",
    "src/cpu/filter": "filter_*",
    "src/cpu/histogram": "histogram_* binning_test compact_test fused_test restored_store_test",
    "src/cpu/match": "match_test",
    "src/cpu/query": "region_* window_* scatter_test planes_test partial_sums_test histogram_region_test",
    "src/cpu/sat": "border_test conformance_product_test conformance_options_test conformance_reverse_test conformance_carry_test conformance_floats_test "
    "conformance_in_place_test catalogue_cpu_test schedules_test threads_test",
    "src/formulas": "region_* window_* filter_* histogram_* compact_test conformance_options_test simt_filter_* simt_region* cascade_test",
    "src/json": "media_json_test chunked_damage_test",
    "src/kernels": "simt_* sat_shared_memory_test conformance_device_test",
    "src/kernels/filter": "simt_filter_* simt_products_test filter_plan_test",
    "src/kernels/histogram": "simt_histogram_test simt_counts_test simt_compact_test simt_rank_test simt_poostchi_test simt_lee_choe_test "
    "conformance_device_stores_test conformance_histogram_papers_test simt_catalogue_test",
    "src/kernels/query": "simt_region* simt_pixel_counts_test simt_count_then_write_test simt_track_test simt_rank_test simt_compact_test",
    "src/kernels/sat": "simt_sat_test simt_carry_test simt_kernels_test simt_catalogue_test sat_shared_memory_test conformance_device_* "
    "conformance_reverse_test",
    "src/kernels/sat/chen": "simt_chen_test simt_paper_costs_test simt_catalogue_test conformance_papers_test",
    "src/kernels/sat/kasagi": "simt_kasagi_test simt_paper_costs_test simt_catalogue_test conformance_papers_test hybrid_share_test",
    "src/kernels/sat/nakano": "simt_nakano_test simt_paper_costs_test simt_catalogue_test conformance_papers_test",
    "src/kernels/scan": "conformance_scan_test simt_catalogue_scan_test simt_nakano_test",
    "src/media": "media_* command_bad_input_test command_test",
    "src/memory_machines": "memory_*_test model_chen_test",
    "src/mpi": "mpi_*",
    "src/pieces": "pieces_* strips_* tiled_* spread_*",
    "src/pieces/spread": "spread_*",
    "src/pieces/strips": "strips_* pieces_* simt_strips_test",
    "src/pieces/tiles": "tiled_* tile_queue_test pieces_*",
    "src/policy": "*plan_test *_choice_test *_sweep_test region_test fused_test",
    "src/queue": "task_* tile_queue_test spread_queue_test strips_queue_test sequence_workers_test",
    "src/research": "cost_formula_test hybrid_share_test simt_hierarchy_clock_test simt_paper_costs_test simt_model_test conformance_scan_test",
    "src/simt": "simt_*",
    "src/video": "sequence_* track_test simt_track_test cancel_test",
    "src/view": "view_*",
}

# ---------------------------------------------------------------- tests

# What compiles soon: little optimised, vector instructions of two targets, no relinking of tests for a change in the library.
OPTIONS = ("AREAL_CUDA=OFF", "AREAL_PYTHON=OFF", "AREAL_BENCH=OFF", "AREAL_FAST_COMPILE=ON", "CMAKE_CXX_FLAGS_RELEASE=-O1", "CMAKE_LINK_DEPENDS_NO_SHARED=ON",
           "AREAL_SIMD_LEFT_OUT=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")  # fmt: skip
INCLUDED = re.compile(r'^\s*#\s*(?:include|define\s+\w+)\s+"([^"\n]+\.(?:hpp|cpp|cuh|cu|h))"', re.M)


class Build:
    """A build tree, what it compiles, and the tests that cover a file."""

    def __init__(self, tree: Path, folder: Path, patterns: list[str]) -> None:
        self.tree, self.folder, self.jobs = tree, folder, os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
        if not (folder / "build.ninja").exists():
            configure = ["cmake", "--preset", "release", "-B", str(folder), *(f"-D{option}" for option in OPTIONS)]
            subprocess.run(configure, cwd=tree, check=True, stdout=subprocess.DEVNULL)
        self.tests: dict[str, Path] = {}
        sources = set()
        for entry in json.loads(subprocess.check_output(["ninja", "-C", str(folder), "-t", "compdb"])):
            test = re.fullmatch(r"tests/CMakeFiles/(\w+_test)\.dir/.*_test\.cpp\.o", entry["output"])
            if test and not test[1].startswith("cuda_") and any(fnmatch.fnmatch(test[1], pattern) for pattern in patterns):
                self.tests[test[1]] = folder / entry["file"]
            elif not test and entry["output"].endswith(".o"):
                sources.add(folder / entry["file"])
        self.compiled = self.closure(sources | set(self.tests.values()), (tree / "src",))
        self.included = {test: self.closure({source}, (tree / "tests",)) for test, source in self.tests.items()}
        self.seconds: dict[str, float] = {}
        self.commands: dict[str, list[str]] = {}

    @functools.cache  # noqa: B019
    def includes(self, file: Path) -> list[Path]:
        roots = [file.parent, self.tree / "src", self.tree, self.tree / "tests/support", self.tree / "apps/areal"]
        named = INCLUDED.findall(file.read_text(errors="replace"))
        return [found for name in named for found in [next((root / name for root in roots if (root / name).exists()), None)] if found]

    def closure(self, files: set[Path], through: tuple[Path, ...]) -> set[Path]:
        """The files and what they include, and what files in `through` or in the build tree include."""
        found, open_ = set(), [Path(os.path.normpath(file)) for file in files]
        while open_:
            file = open_.pop()
            if file not in found and file.exists():
                found.add(file)
                if file in files or any(part in file.parents for part in (*through, self.folder)):
                    open_.extend(Path(os.path.normpath(other)) for other in self.includes(file))
        return found

    def covering(self, file: str) -> set[str]:
        stem = Path(file).stem.replace("-", "_")
        prefix = max((p for p in COVERING if f"{file}/".startswith(f"{p}/")), key=len, default="")
        patterns = [*COVERING.get(prefix, "").split(), *([f"{stem}_*", f"*_{stem}_*"] if len(stem) > 3 else [])]
        return {
            test
            for test in self.tests
            if self.tree / file in self.included[test] or any(fnmatch.fnmatch(test, pattern) for pattern in patterns)
        }

    def make(self, tests: list[str]) -> str:
        """Builds the tests; what the compiler said if it fails."""
        done = subprocess.run(["ninja", "-C", str(self.folder), "-j", self.jobs, *tests], capture_output=True, text=True, preexec_fn=limits)
        return done.stdout[-4000:] if done.returncode else ""

    def run(self, test: str) -> str:
        """How a test failed, or ''. A test may compute or sleep for two minutes and twenty times as long as it takes; waiting for a
        processor does not count."""
        environment = {**os.environ, "GTEST_FAIL_FAST": "1"}
        if test not in self.commands:
            shown = subprocess.check_output(["ctest", "--test-dir", str(self.folder), "--show-only=json-v1"])
            self.commands |= {entry["name"]: entry["command"] for entry in json.loads(shown)["tests"] if "command" in entry}
        process = subprocess.Popen(
            self.commands[test], cwd=self.folder / "tests", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=limits, start_new_session=True,
        )  # fmt: skip
        watch = Watch(process.pid, 120 + 20 * self.seconds.get(test, 60))
        try:
            while True:
                try:
                    code = process.wait(5)
                    return "" if code == 0 else f"signal {-code}" if code < 0 else f"exit {code}"
                except subprocess.TimeoutExpired:
                    if watch.hangs():
                        return "hang"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def measure(self, tests: set[str]) -> None:
        """Times tests without a fault, and leaves out those that fail already."""
        new = sorted(tests & self.tests.keys() - self.seconds.keys())
        if wrong := self.make(new):
            sys.exit(f"the build fails without a fault:\n{wrong}")
        for test in new:
            began = time.monotonic()
            if how := self.run(test):
                print(f"{test} is left out, as it fails without a fault: {how}", flush=True)
                del self.tests[test]
            else:
                self.seconds[test] = time.monotonic() - began

    def judge(self, tests: list[str]) -> str | None:
        """What notices the fault that is planted: 'TEST: how'. '' if nothing does, None if the fault does not compile."""
        for test in tests:
            if self.make([test]):
                return None
            if how := self.run(test):
                return f"{test}: {how}"
        return ""


def limits() -> None:
    """A fault may allocate or write without end."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 16 << 30), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


@contextlib.contextmanager
def planted(tree: Path, kept: Path, mutant: Mutant) -> Iterator[None]:
    """Plants a fault while the block runs. The original is kept in a file, for a start after a kill."""
    file = tree / mutant.file
    text = file.read_text()
    kept.with_suffix(".new").write_text(json.dumps({"file": str(file), "text": text}))
    try:
        kept.with_suffix(".new").rename(kept)
        file.write_text(text[: mutant.at] + mutant.new + text[mutant.at + len(mutant.old) :])
        yield
    finally:
        restore(kept)


def restore(kept: Path) -> None:
    """Writes the original back, with a new time: what was compiled from the fault is older."""
    if kept.exists():
        original = json.loads(kept.read_text())
        Path(original["file"]).write_text(original["text"])
        kept.unlink()


# ---------------------------------------------------------------- equivalent faults


def explained(text: str) -> dict[tuple[str, str, str], str]:
    """The faults of equivalent.txt: (file, line of code, change) -> sentence."""
    found = {}
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if not line.startswith("#")]
        if len(lines) >= 4:
            found[lines[0], lines[1], lines[2]] = " ".join(lines[3:])
        elif lines and any(lines):
            raise ValueError(f"equivalent.txt: a fault has a file, a line of code, a change and a sentence, not {lines}")
    return found


def key(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.file, mutant.code, mutant.change


# ---------------------------------------------------------------- a run


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/mutation"), help="a build tree for this script alone; configured if it does not exist")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", action="append", default=[], help="only faults in this folder or file, such as src/kernels; may be given again")
    parser.add_argument("--tests", action="append", default=[], help="only tests whose name matches this pattern; may be given again")
    parser.add_argument("--seconds", type=float, help="plants no fault after that time")
    parser.add_argument("--list", action="store_true", help="print the faults without planting them; some of them may not compile")
    parser.add_argument("--replay", metavar="FILE:LINE[:COLUMN]", help="the faults of a place")
    parser.add_argument("--record", type=Path, help="the record (BUILD/mutation.json)")
    return parser.parse_args()


def chosen(options: argparse.Namespace, tree: Path, build: Build) -> Iterator[Mutant]:
    """The faults of the options, in files that the build compiles and tests cover."""
    found, lines, uncovered = {}, {}, []
    for file in sorted(str(path.relative_to(tree)) for path in build.compiled if tree / "src" in path.parents):
        if any(f"{file}/".startswith(f"{under.rstrip('/')}/") for under in options.under or ["src"]):
            if build.covering(file):
                text = (tree / file).read_text()
                found[file], lines[file] = mutants_of(file, text), text.count("\n")
            else:
                uncovered.append(file)
    if uncovered:
        print(f"{len(uncovered)} files are left out, which none of these tests covers: {', '.join(uncovered[:5])}{', ..' if len(uncovered) > 5 else ''}")
    if options.replay:
        return (m for file in found.values() for m in file if f"{m.place}:".startswith(f"{options.replay}:"))
    return drawn(found, lines, options.seed)


def run(options: argparse.Namespace, tree: Path) -> int:
    folder = (tree / options.build).resolve()
    kept = folder / "mutation-original.json"
    restore(kept)
    build = Build(tree, folder, options.tests or ["*"])
    mutants = chosen(options, tree, build)
    if options.list:
        print(*itertools.islice(mutants, None if options.replay else options.count), sep="\n")
        return 0
    record = options.record or folder / "mutation.json"
    known = explained((HERE / "equivalent.txt").read_text())
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty", "--exclude", "*"], cwd=tree, text=True).strip()
    judged: list[dict[str, object]] = []
    tally: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    print(f"commit {commit}, seed {options.seed}", flush=True)
    for mutant in mutants:
        if not options.replay and len(judged) >= options.count or options.seconds and time.monotonic() - began > options.seconds:
            break
        build.measure(build.covering(mutant.file))
        tests = sorted(build.covering(mutant.file), key=lambda test: build.seconds[test])
        if not tests:
            continue
        start = time.monotonic()
        with planted(tree, kept, mutant):
            noticed = build.judge(tests)
        if noticed is None:
            tally["not compiled"] += 1
            continue
        result = "noticed" if noticed else "equivalent" if key(mutant) in known else "survived"
        tally[result] += 1
        print(f"{len(judged) + 1:4} {result:10} {mutant}{f'  ({noticed})' if noticed else ''}", flush=True)
        judged.append({
            "place": mutant.place, "kind": mutant.kind, "change": mutant.change, "code": mutant.code, "result": result, "by": noticed,
            "seconds": round(time.monotonic() - start, 1), "tests": tests if not noticed else len(tests),
        })  # fmt: skip
        said = {"commit": commit, "seed": options.seed, "under": options.under, "tests": options.tests, "replay": options.replay, **tally}
        record.write_text(json.dumps({**said, "mutants": judged}, indent=1) + "\n")
    counted = tally["noticed"] + tally["survived"]
    print(f"\n{len(judged)} faults in {time.monotonic() - began:.0f} s; {tally['not compiled']} more did not compile")
    share = 100 * tally["noticed"] / max(1, counted)
    print(f"{tally['noticed']} of {counted} noticed ({share:.1f} %), {tally['equivalent']} more are explained in equivalent.txt")
    for entry in judged:
        if entry["result"] == "survived":
            print(f"survived: {entry['place']}: {entry['change']}\n  again: ./run mutate --replay {entry['place']}")
    return 1 if counted and share < 95 else 0


def main() -> int:
    options = parsed()
    lock = open(__file__)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("mutate: another run plants faults in this checkout", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return run(options, HERE.parents[1])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
