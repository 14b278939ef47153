#!/usr/bin/env python3
"""Walks the includes of the tree and fails on an arrow that the house does not allow (HACKING.md, "Rooms").

    include <- catalog, formulas <- {kernels <- cuda, simt}, cpu <- api <- video, cluster <- apps, python, bench

simt's folder memory stands alone: it includes nothing of the tree, and is built where simt is not.

Within kernels: device <- each family, and no family another. An algorithm is one file, named as in the catalogue, which
nobody includes but its family's entries; what two share is in device.

It proves first, on a planted tree, that each kind of bad arrow is found.
"""

import argparse
import pathlib
import re
import sys
import tempfile

SOURCES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl"}

# Rooms by folder, the longest prefix wins.
ROOMS = {
    "include": "include", "src/catalog": "catalog", "src/formulas": "formulas",
    "src/kernels": "kernels", "src/cuda": "cuda", "src/simt": "simt", "src/simt/memory": "memory",
    "src/cpu": "cpu", "src/api": "api", "src/media": "media", "src/video": "video", "src/cluster": "cluster",
    "apps": "apps", "python": "python", "bench": "bench", "examples": "examples", "tests": "tests", "fuzz": "fuzz", "docs/pictures": "pictures",
}
EVERY_ROOM = set(ROOMS.values())
LIBRARY = {"include", "catalog", "formulas", "kernels", "cuda", "simt", "memory", "cpu", "api"}

# What each room may include besides itself.
MAY_INCLUDE = {
    "include": set(),
    "catalog": {"include"},
    "formulas": {"include"},
    "kernels": {"include", "catalog", "formulas"},
    "cuda": {"include", "catalog", "kernels"},
    "simt": {"include", "catalog", "kernels", "memory"},
    "memory": set(),
    "cpu": {"include", "catalog", "formulas"},
    "api": {"include", "catalog", "formulas", "kernels", "cuda", "simt", "memory", "cpu"},
    "media": {"include"},
    "video": {"include", "media"},
    "cluster": {"include"},
    "apps": {"include", "media", "video", "cluster"},
    "python": {"include", "video", "cluster"},
    "bench": {"include", "video", "cluster", "apps"},
    "examples": {"include"},
    "tests": EVERY_ROOM,
    "fuzz": EVERY_ROOM,
    "pictures": LIBRARY,  # what traces the kernels
}
# Of media, other rooms see this header alone.
MEDIA_FACE = "src/media/media.hpp"

# Of apps, bench sees this header alone: what the command asks of its plug-in.
PLUGIN_FACE = "bench/protocol/cuda_bench.hpp"

# The families of kernels: the frame, which all of the family may include; passes, which belong to a family and are no algorithm,
# and which its entries alone include, as they do the algorithms. Where there is no frame, there are no algorithms.
FRAMES = {
    "sat": {"request", "tables", "choice", "plain", "entries", "paper_entries"},
    "histogram": {"request", "plain", "pixel_bin", "entry", "entries", "paper_entries"},
    "scan": {"request", "plain", "entries"},
    "region": None,
}
PASSES = {"sat": {"depth", "tilted"}}
ENTRIES = {"entries", "paper_entries"}
CATALOGUE = "src/catalog/catalog.cpp"
ROW = re.compile(r'\{"(\w+)", "([\w-]+)", "[^"]*", (true|false), (true|false), (true|false),')  # cpu, cuda, simt

CUDA = r"cuda|cub/|thrust/|cooperative_groups|nvtx|nv/|curand|npp"
# Third-party headers of each room; what is not here is the standard library's, or POSIX's where the room is not `include`.
THIRD_PARTY = {
    "cpu": r"hwy/",
    "cuda": CUDA,
    "simt": r"boost/context|oneapi/tbb",
    "media": r"OpenImageIO/|png\.h|OpenEXR/|Imath/|libav|libsw|fmt/|nlohmann/",
    "video": r"fmt/|oneapi/tbb",
    "cluster": r"mpi\.h|nccl\.h",
    "apps": r"CLI/|fmt/|nlohmann/",
    "python": r"nanobind/",
    "bench": r"benchmark/|opencv2/|fmt/|nlohmann/|hwy/|oneapi/tbb|" + CUDA,
    "tests": r".*", "fuzz": r".*",
}
# One file alone includes oneTBB: ThreadSanitizer depends on it (docs/decisions/0005).
TBB, TBB_FILE = r"oneapi/tbb|tbb/", "src/cpu/threads.cpp"
STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable coroutine
deque exception execution expected filesystem format forward_list fstream functional future initializer_list iomanip ios
iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional
ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack
stdexcept stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex typeinfo
unordered_map unordered_set utility valarray variant vector version
cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
cstring ctime cuchar cwchar cwctype
""".split())
POSIX = re.compile(r"(sys/|linux/)?[a-z]+\.h$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.M)
CUDA_WORDS = re.compile(r"__global__|__device__|__shared__|<<<[^<]|\bcudaStream_t\b")


def room_of(path):
    for depth in range(len(path.parts), 0, -1):
        room = ROOMS.get("/".join(path.parts[:depth]))
        if room:
            return room
    return None


def resolve(tree, source, name, quoted):
    """The file of the tree that an include means, relative to the tree, or None."""
    roots = [tree / "include", tree / "src", tree / "apps", tree / "tests", tree / "bench"]
    for root in ([source.parent] if quoted else []) + roots:
        found = root / name
        if found.is_file():
            found = found.resolve()
            if found.is_relative_to(tree):
                return found.relative_to(tree)
    return None


def kernel_place(path):
    """Of a file of kernels: its folder, and what it is there: "device", "frame", "entries", or an algorithm (or pass) and
    whether this is a piece of it. None where it is not of kernels; a folder of None where it may not be."""
    parts = path.with_suffix("").parts
    if parts[:2] != ("src", "kernels"):
        return None
    inner = parts[2:]
    if inner[0] == "device" and len(inner) > 1:
        return "device", "device", False
    if len(inner) < 2 or inner[0] not in FRAMES:
        return None, None, False
    family, name = inner[:2]
    if FRAMES[family] is None:
        return family, "frame", False
    if len(inner) == 2 and name in FRAMES[family]:
        return family, "entries" if name in ENTRIES else "frame", False
    return family, name, len(inner) > 2


def judge_kernels(path, target):
    """What is wrong with an include of a file of kernels by one of src, or None."""
    family, role, piece = kernel_place(target)
    source = kernel_place(path)
    if role not in ("device", "frame", "entries"):
        if source is None or source[0] != family:
            return f"only {family}'s entries may include {target}"
        if piece and source[1] != role:
            return f"only {family}/{role}.hpp and its pieces may include {target}"
        if not piece and source[1] != "entries":
            return f"only {family}'s entries may include {target}: what algorithms share is in device"
    if source is None or family in ("device", source[0]) and not (role == "entries" and source[1] != "entries"):
        return None
    return f"kernels/{source[0]} may not include {target}"


def uncatalogued(tree):
    """Algorithms with a kernel that have no file, and files that are no algorithm."""
    rows = {(family, name) for family, name, _, cuda, simt in ROW.findall((tree / CATALOGUE).read_text()) if "true" in (cuda, simt)}
    found = []
    for family, name in sorted(rows):
        if not (tree / "src/kernels" / family / f"{name}.hpp").is_file():
            found.append(f"{CATALOGUE}: {family} {name} has a kernel, but src/kernels/{family}/{name}.hpp is not there")
    for path in sorted((tree / "src/kernels").rglob("*.hpp")):
        path = path.relative_to(tree)
        family, role, _ = kernel_place(path)
        if family is None:
            found.append(f"{path}: neither in device nor in a family")
        elif role not in ("device", "frame", "entries", *PASSES.get(family, ())) and (family, role) not in rows:
            found.append(f"{path}: the catalogue has no kernel {family} {role}")
    return found


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def violations(tree):
    tree = tree.resolve()
    found, seen = [], 0
    for top in sorted({pathlib.PurePath(prefix).parts[0] for prefix in ROOMS}):
        for source in sorted((tree / top).rglob("*")):
            if source.suffix not in SOURCES or not source.is_file():
                continue
            path = source.relative_to(tree)
            room = room_of(path)
            if room is None:
                found.append(f"{path}: a room that HACKING.md does not know")
                continue
            seen += 1
            text = source.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                name, quoted = match.group(1) or match.group(2), match.group(2) is not None
                line = text.count("\n", 0, match.start()) + 1
                wrong = judge(tree, source, room, name, quoted)
                if wrong:
                    found.append(f"{path}:{line}: {wrong}")
            if room != "cuda" and room not in ("tests", "bench", "python"):
                match = CUDA_WORDS.search(without_comments(text))
                if match:
                    found.append(f"{path}: {match.group(0)!r}: only cuda/ speaks CUDA")
    return found + uncatalogued(tree), seen


def judge(tree, source, room, name, quoted):
    """What is wrong with that include, or None."""
    target = resolve(tree, source, name, quoted)
    if target is not None:
        other = room_of(target)
        if other is None:
            return f"includes {target}, which is in no room"
        if other != room and other not in MAY_INCLUDE[room]:
            return f"{room} may not include {other} ({target})"
        if other == "media" and room not in ("media", "tests", "fuzz") and str(target) != MEDIA_FACE:
            return f"{room} may include {MEDIA_FACE} alone of media, not {target}"
        if other == "apps" and room == "bench" and str(target) != PLUGIN_FACE:
            return f"{room} may include {PLUGIN_FACE} alone of apps, not {target}"
        if other == "kernels" and room in LIBRARY:
            return judge_kernels(source.relative_to(tree), target)
        if room == "include" and quoted:
            return f"a public header includes its neighbours as <{name}>"
        return None
    if name in STANDARD:
        return None
    if re.match(THIRD_PARTY.get(room, r"(?!)"), name):
        return None
    if re.match(TBB, name) and str(source.relative_to(tree)) == TBB_FILE:
        return None
    if not quoted and room != "include" and POSIX.match(name) and not re.match(CUDA, name):
        return None
    return f"{room} may not include {name}: not of the tree, not standard, not one of the room's libraries"


GOOD = {
    "include/areal/a.hpp": "#include <vector>\n#include <areal/b.hpp>\n",
    "include/areal/b.hpp": "// #include <cuda.h>\n",
    "src/catalog/rows.cpp": "#include <areal/a.hpp>\n",
    "src/catalog/catalog.cpp": '{"sat", "one", "A, 1", false, true, true, 1},\n{"sat", "two", "A, 2", true, false, true, 1},\n'
                               '{"sat", "three", "A, 3", true, false, false, 1},\n',
    "src/formulas/f.hpp": "#include <areal/a.hpp>\n",
    "src/kernels/device/k.hpp": '#include <areal/a.hpp>\n#include "formulas/f.hpp"\n',
    "src/kernels/device/line/l.hpp": '#include "kernels/device/k.hpp"\n',
    "src/kernels/sat/request.hpp": '#include "kernels/device/k.hpp"\n',
    "src/kernels/sat/one.hpp": '#include "kernels/device/line/l.hpp"\n#include "kernels/sat/one/part.hpp"\n#include "kernels/sat/request.hpp"\n',
    "src/kernels/sat/one/part.hpp": '#include "kernels/sat/request.hpp"\n',
    "src/kernels/sat/two.hpp": '#include "kernels/sat/request.hpp"\n',
    "src/kernels/sat/volume/depth.hpp": '#include "kernels/device/k.hpp"\n',
    "src/kernels/sat/registry.hpp": '#include "kernels/sat/volume/depth.hpp"\n#include "kernels/sat/one.hpp"\n#include "kernels/sat/two.hpp"\n',
    "src/kernels/query/request.hpp": '#include "kernels/device/k.hpp"\n',
    "src/kernels/query/sums.hpp": '#include "kernels/query/request.hpp"\n',
    "src/cuda/launch.cu": '#include <cuda_runtime.h>\n#include "kernels/device/k.hpp"\n__global__ void f();\n',
    "src/simt/run.hpp": '#include "kernels/device/k.hpp"\n#include "kernels/sat/registry.hpp"\n#include <boost/context/fiber.hpp>\n',
    "src/simt/memory/m.hpp": '#include <vector>\n#include "n.hpp"\n',
    "src/simt/memory/n.hpp": "#include <span>\n",
    "src/cpu/c.hpp": '#include <hwy/highway.h>\n#include <areal/a.hpp>\n#include "formulas/f.hpp"\n',
    "src/cpu/threads.cpp": "#include <oneapi/tbb/parallel_for.h>\n",
    "src/api/api.cpp": '#include "cpu/c.hpp"\n#include "simt/run.hpp"\n#include "simt/memory/m.hpp"\n',
    "src/media/media.hpp": "#include <areal/a.hpp>\n",
    "src/media/inner.hpp": '#include "media.hpp"\n#include <OpenImageIO/imageio.h>\n#include <sys/stat.h>\n',
    "src/video/v.hpp": '#include "media/media.hpp"\n',
    "apps/areal/main.cpp": '#include <CLI/CLI.hpp>\n#include "media/media.hpp"\n#include "verb.hpp"\n',
    "apps/areal/verb.hpp": "#include <areal/a.hpp>\n",
    "docs/pictures/trace.cpp": '#include "simt/run.hpp"\n#include "kernels/device/k.hpp"\n#include "kernels/sat/one.hpp"\n',
    "tests/any_test.cpp": '#include "cpu/c.hpp"\n#include "kernels/sat/one.hpp"\n#include <gtest/gtest.h>\n',
}
# One bad arrow each: (file, line to add).
BAD = [
    ("include/areal/b.hpp", '#include "cpu/c.hpp"'),
    ("include/areal/b.hpp", "#include <fmt/format.h>"),
    ("include/areal/b.hpp", "#include <cuda_runtime.h>"),
    ("include/areal/b.hpp", "#include <unistd.h>"),
    ("include/areal/b.hpp", '#include "a.hpp"'),
    ("src/catalog/rows.cpp", '#include "cpu/c.hpp"'),
    ("src/formulas/f.hpp", '#include "cpu/c.hpp"'),
    ("src/kernels/device/k.hpp", '#include "cuda/launch.cu"'),
    ("src/kernels/device/k.hpp", "#include <cuda_runtime.h>"),
    ("src/kernels/device/k.hpp", "__global__ void g();"),
    ("src/kernels/device/k.hpp", '#include "simt/run.hpp"'),
    ("src/kernels/device/k.hpp", '#include "kernels/sat/request.hpp"'),
    ("src/kernels/device/line/l.hpp", '#include "kernels/sat/one.hpp"'),
    ("src/kernels/device/line/l.hpp", '#include "../../region/sums.hpp"'),
    ("src/kernels/sat/one.hpp", '#include "kernels/sat/two.hpp"'),
    ("src/kernels/sat/one.hpp", '#include "two.hpp"'),
    ("src/kernels/sat/one.hpp", '#include "kernels/sat/volume/depth.hpp"'),
    ("src/kernels/sat/one.hpp", '#include "kernels/sat/registry.hpp"'),
    ("src/kernels/sat/one.hpp", '#include "kernels/query/request.hpp"'),
    ("src/kernels/sat/one/part.hpp", '#include "kernels/sat/two.hpp"'),
    ("src/kernels/sat/one/part.hpp", '#include "kernels/sat/one.hpp"'),
    ("src/kernels/sat/two.hpp", '#include "kernels/sat/one/part.hpp"'),
    ("src/kernels/sat/volume/depth.hpp", '#include "kernels/sat/two.hpp"'),
    ("src/kernels/sat/request.hpp", '#include "kernels/sat/two.hpp"'),
    ("src/kernels/sat/request.hpp", '#include "kernels/query/request.hpp"'),
    ("src/kernels/sat/registry.hpp", '#include "kernels/sat/one/part.hpp"'),
    ("src/kernels/query/sums.hpp", '#include "kernels/sat/request.hpp"'),
    ("src/kernels/query/sums.hpp", '#include "kernels/sat/two.hpp"'),
    ("src/kernels/sat/three.hpp", "int x;"),
    ("src/kernels/sat/four.hpp", "int x;"),
    ("src/kernels/sat/four/part.hpp", "int x;"),
    ("src/kernels/attic/x.hpp", "int x;"),
    ("src/kernels/x.hpp", "int x;"),
    ("src/catalog/catalog.cpp", '{"sat", "four", "A, 4", false, false, true, 1},'),
    ("src/catalog/catalog.cpp", '{"region", "four", "A, 4", false, true, false, 1},'),
    ("src/simt/run.hpp", '#include "kernels/sat/one.hpp"'),
    ("src/simt/run.hpp", '#include "kernels/sat/one/part.hpp"'),
    ("src/cuda/launch.cu", '#include "kernels/sat/volume/depth.hpp"'),
    ("src/api/api.cpp", '#include "kernels/sat/two.hpp"'),
    ("src/cuda/launch.cu", '#include "cpu/c.hpp"'),
    ("src/cuda/launch.cu", '#include "simt/run.hpp"'),
    ("src/simt/run.hpp", '#include "cpu/c.hpp"'),
    ("src/simt/run.hpp", '#include "cuda/launch.cu"'),
    ("src/simt/memory/m.hpp", '#include "simt/run.hpp"'),
    ("src/simt/memory/m.hpp", "#include <boost/context/fiber.hpp>"),
    ("src/simt/memory/m.hpp", "#include <areal/a.hpp>"),
    ("src/cpu/c.hpp", '#include "simt/run.hpp"'),
    ("src/cpu/c.hpp", '#include "simt/memory/m.hpp"'),
    ("src/cpu/c.hpp", '#include "kernels/device/k.hpp"'),
    ("src/cpu/c.hpp", '#include "../api/api.cpp"'),
    ("src/cpu/c.hpp", "#include <fmt/format.h>"),
    ("src/cpu/c.hpp", "#include <oneapi/tbb/parallel_for.h>"),
    ("src/api/api.cpp", '#include "media/media.hpp"'),
    ("src/api/api.cpp", "#include <hwy/highway.h>"),
    ("src/api/api.cpp", "#include <nlohmann/json.hpp>"),
    ("src/media/inner.hpp", '#include "cpu/c.hpp"'),
    ("src/media/inner.hpp", '#include "api/api.cpp"'),
    ("src/video/v.hpp", '#include "cpu/c.hpp"'),
    ("src/video/v.hpp", '#include "media/inner.hpp"'),
    ("src/cluster/c.cpp", '#include "media/media.hpp"'),
    ("src/cluster/c.cpp", '#include "api/api.cpp"'),
    ("apps/areal/main.cpp", '#include "cpu/c.hpp"'),
    ("apps/areal/main.cpp", '#include "media/inner.hpp"'),
    ("apps/areal/main.cpp", "#include <OpenImageIO/imageio.h>"),
    ("python/module.cpp", '#include "media/media.hpp"'),
    ("bench/b.cpp", '#include "cpu/c.hpp"'),
    ("bench/b.cpp", '#include "areal/verb.hpp"'),
    ("examples/e.cpp", '#include "media/media.hpp"'),
    ("docs/pictures/trace.cpp", '#include "areal/verb.hpp"'),
    ("src/attic/x.cpp", "int x;"),
    ("src/api/api.cpp", '#include "nowhere.hpp"'),
]


def plant(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        good = pathlib.Path(scratch) / "good"
        plant(good, GOOD)
        found, seen = violations(good)
        assert not found, f"the good tree was refused: {found}"
        assert seen == len(GOOD), f"{seen} files seen of {len(GOOD)}"
        for number, (name, line) in enumerate(BAD):
            tree = pathlib.Path(scratch) / str(number)
            plant(tree, {**GOOD, name: GOOD.get(name, "") + line + "\n"})
            found, _ = violations(tree)
            assert len(found) == 1 and found[0].startswith(name), f"{name} with {line!r}: found {found}"
    print(f"self-test: {len(BAD)} bad arrows found, none in a good tree")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", help="not used")
    tree = parser.parse_args().tree
    self_test()
    found, seen = violations(tree)
    assert seen > 20, f"only {seen} sources under {tree}"
    print("\n".join(found) or f"{seen} sources, every arrow allowed")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
