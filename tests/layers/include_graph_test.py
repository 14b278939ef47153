#!/usr/bin/env python3
"""Walks the includes of the tree and fails on an arrow that the layers do not allow (HACKING.md, "Arrows").

    include <- catalog, formulas <- policy, kernels, cpu        kernels <- cuda, simt
    all of these <- api <- research                    memory_machines <- research
    json <- media, chunked, apps
    public headers <- media, chunked, python, examples, bench/protocol
    api <- queue <- pieces, video     public headers, bench/protocol <- bench        public headers and media <- apps <- areal-lab
    public headers <- areal/mpi.hpp <- mpi <- apps/areal-mpi       formulas <- mpi       public headers <- view <- apps, python

Within kernels and api a subject includes itself and what is shared (kernels/primitives and plan.hpp, api/core), and no other
subject. A family's folder is seen by itself and its subject's registry.hpp, and what is named by an algorithm's id by the
registry alone. EXCEPTIONS are arrows that are still to go: one that is not needed any more fails, too.

It proves first, on a planted tree, that each kind of bad arrow is found.
"""

import argparse
import collections
import pathlib
import re
import sys
import tempfile

SOURCES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl"}

# Layers by folder, the longest prefix wins.
LAYERS = {
    "include": "include", "include/areal/research": "include", "include/areal/interop": "interop", "include/areal/mpi.hpp": "mpi_header",
    "src/catalog": "catalog", "src/formulas": "formulas", "src/policy": "policy", "src/memory_machines": "memory_machines",
    "src/kernels": "kernels", "src/cpu": "cpu", "src/cuda": "cuda", "src/simt": "simt", "src/api": "api",
    "src/research": "research", "src/media": "media", "src/json": "json", "src/video": "video", "src/queue": "queue", "src/pieces": "pieces", "src/pieces/core": "pieces_core",
    "src/chunked": "chunked", "src/mpi": "mpi", "src/view": "view",
    "apps": "apps", "apps/areal-mpi": "mpi_apps", "python": "python", "bench": "bench", "bench/protocol": "protocol",
    "bench/harness": "laboratory", "bench/subjects": "laboratory", "bench/papers": "laboratory", "examples": "examples",
    "tests": "tests", "tests/doors": "doors", "fuzz": "fuzz", "docs/pictures": "pictures",
}
EVERY_LAYER = set(LAYERS.values())
BASE = {"include", "catalog", "formulas"}
LIBRARY = BASE | {"policy", "kernels", "cuda", "simt", "cpu", "api", "research", "memory_machines"}

# What each layer may include besides itself.
MAY_INCLUDE = {
    "include": set(),
    "interop": {"include"},
    "catalog": {"include"},
    "formulas": {"include"},
    "memory_machines": set(),
    "policy": BASE,
    "kernels": BASE,
    "cpu": BASE,
    "cuda": BASE | {"kernels"},
    "simt": BASE | {"kernels"},
    "api": BASE | {"policy", "kernels", "cuda", "simt", "cpu"},
    "research": BASE | {"policy", "kernels", "cuda", "simt", "cpu", "api", "memory_machines"},
    "json": set(),
    "media": {"include", "json"},
    "chunked": {"include", "json"},
    "queue": {"include", "api"},
    "pieces_core": {"include", "api", "cuda"},
    "pieces": {"include", "formulas", "api", "cpu", "cuda", "queue", "pieces_core"},
    "mpi_header": {"include"},
    "mpi": {"include", "mpi_header", "formulas"},
    "mpi_apps": {"include", "mpi_header", "media", "apps"},
    "view": {"include"},
    "video": {"include", "formulas", "api", "cpu", "cuda", "queue"},
    "protocol": {"include"},
    "apps": {"include", "media", "json", "view"},
    "laboratory": {"include", "media", "json", "apps", "protocol"},
    "python": {"include", "interop", "view"},
    "bench": {"include", "protocol"},
    "examples": {"include", "interop"},
    "tests": EVERY_LAYER,
    "doors": {"include", "mpi_header"},  # asks as a user would
    "fuzz": EVERY_LAYER,
    "pictures": LIBRARY,  # what traces the kernels
}
# The only header of media for other layers.
MEDIA_HEADER = "src/media/media.hpp"
# The header that includes all others of its folder, and neither interop/ nor research/.
WHOLE_HEADER = "include/areal/areal.hpp"
# The foreign header that each header of interop adapts.
INTEROP = {"include/areal/interop/dlpack.hpp": r"dlpack/", "include/areal/interop/opencv.hpp": r"opencv2/"}

# The headers of a subject for cuda and simt; only registries include algorithms.
SUBJECT_HEADERS = {"request.hpp", "run.hpp", "registry.hpp"}
CATALOGUE = "src/catalog/catalog.cpp"
ROW = re.compile(r'\{"(\w+)", "([\w-]+)", "[^"]*", (true|false), (true|false), (true|false),')  # cpu, cuda, simt

# Arrows that are still to go, and why they are there.
EXCEPTIONS = {}

# Words that have gone, in code: identifiers, and ids of algorithms.
OLD_WORDS = re.compile(
    r"\b(Lane|lane_named|default_lane|AREAL_LANES|Tagged|tag_of|post_word|peek_word|load_once|store_once|await_launch|release_launch"
    r"|bunches|bunch_of|span_of|take_away|abreast|ask_corner|Placed|Stores|SatEntry|SatSchedule|ThinPiece)\b"
    r'|"(held|held-diagonal|held-direct|ribbon|anchored)"|kernels/device/|entries\.hpp')
# Where they may stay: readers of old records.
OLD_WORDS_IN = {"tests/layers/include_graph_test.py"}

CUDA = r"cuda|cub/|thrust/|cooperative_groups|nvtx|nv/|curand|npp"
# Third-party headers of each layer. Other headers are the standard library's or, except in `include`, POSIX's.
THIRD_PARTY = {
    "cpu": r"hwy/",
    "cuda": CUDA,
    "simt": r"boost/context",
    "media": r"OpenImageIO/|png\.h|OpenEXR/|Imath/|libav|libsw|fmt/|nlohmann/",
    "json": r"nlohmann/",
    "chunked": r"nlohmann/",
    "mpi_header": r"mpi\.h", "mpi": r"mpi\.h|mpi-ext\.h", "mpi_apps": r"mpi\.h|CLI/|fmt/|nlohmann/",
    "apps": r"CLI/|fmt/|nlohmann/|boost/(asio|beast)", "laboratory": r"CLI/|fmt/|nlohmann/",
    "python": r"nanobind/|xla/ffi/",
    "bench": r"opencv2/|" + CUDA,
    "doors": r"nlohmann/",
    "tests": r".*", "fuzz": r".*",
}
# Only one file includes oneTBB: ThreadSanitizer depends on it (docs/decisions/0005).
TBB, TBB_FILE = r"oneapi/tbb|tbb/", "src/cpu/threads.cpp"
# Only one file includes kissfft, which a build may lack.
FFT, FFT_FILE = r"kissfft/", "src/cpu/match/transform.cpp"
# Nor may another include pugixml.
XML, XML_FILE = r"pugixml", "src/api/cascade/read_cascade.cpp"
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
NAMESPACE = re.compile(r"^namespace ([\w:]*) ?\{|^\}  // namespace|^(?:template .*)?(?:struct|class|enum class|enum|union) (?:alignas\([^{;]*?\) )?(\w+)(?= ?:[^:]| ?\{| final)", re.M)


def layer_of(path):
    for depth in range(len(path.parts), 0, -1):
        layer = LAYERS.get("/".join(path.parts[:depth]))
        if layer:
            return layer
    return None


def resolve(tree, source, name, quoted):
    """The file of the tree that an include means, relative to the tree, or None."""
    roots = [tree / "include", tree / "src", tree / "apps", tree / "tests", tree / "tests/support", tree / "apps/areal", tree]
    for root in ([source.parent] if quoted else []) + roots:
        found = root / name
        if found.is_file():
            found = found.resolve()
            if found.is_relative_to(tree):
                return found.relative_to(tree)
    return None


def subject_of(path):
    """Of a file of kernels or api: its layer's folder and its subject, which is the folder below."""
    return (path.parts[1], path.parts[2]) if len(path.parts) > 3 else (path.parts[1], None)


def family_of(path):
    """The (subject, family) of a file of kernels; family None for files that all of the subject share."""
    inner = path.parts[2:]
    return inner[0] if len(inner) > 1 else None, inner[1] if len(inner) > 2 else None


def judge_subjects(path, target, rows):
    """What is wrong with an include within kernels, within api, or of kernels by another layer, or None."""
    layer, other = layer_of(path), layer_of(target)
    if layer == other == "api":
        mine, its = subject_of(path)[1], subject_of(target)[1]
        return None if its in (mine, "core") else f"api/{mine} may not include {target}: a subject includes itself and core"
    if other != "kernels":
        return None
    subject, family = family_of(target)
    algorithm = (subject, target.stem) in rows and family is not None
    if layer != "kernels":
        if subject in (None, "primitives") or family is None and target.name in SUBJECT_HEADERS:
            return None
        return f"{layer} may include of kernels plan.hpp, primitives and a subject's request, run and registry, not {target}"
    mine, my_family = family_of(path)
    if subject is None or subject == "primitives":
        return None
    if subject != mine:
        return f"kernels/{mine} may not include {target}: a subject includes itself and primitives"
    if family is None:
        if target.name.endswith("registry.hpp"):
            return f"{target} is the backends', not of kernels/{mine}"
        return None
    if path.name.endswith("registry.hpp") and my_family is None:  # filter has one more, tile_registry.hpp
        return None
    if algorithm:
        return f"only {subject}/registry.hpp may include {target}, an algorithm"
    return None if family == my_family else f"only {subject}/{family} and {subject}/registry.hpp may include {target}"


def uncatalogued(tree, rows):
    """Algorithms with a kernel that have no file, or more than one."""
    found = []
    for subject, name in sorted(rows):
        files = list((tree / "src/kernels" / subject).glob(f"*/{name}.hpp"))
        if len(files) != 1:
            found.append(f"{CATALOGUE}: {subject} {name} has a kernel, and {len(files)} files src/kernels/{subject}/*/{name}.hpp")
    for path in sorted((tree / "src/kernels").rglob("*.hpp")):
        path = path.relative_to(tree)
        if len(path.parts) == 3 and path.name != "plan.hpp":
            found.append(f"{path}: neither in primitives nor of a subject")
    return found


def lonely_primitives(tree, includes):
    """Primitives that fewer than two folders use: families, subjects and other layers, by way of other primitives, too."""
    users = collections.defaultdict(set)
    for source, target in includes:
        users[target].add(source)
    found = []
    for path in sorted((tree / "src/kernels/primitives").rglob("*.hpp")):
        path = path.relative_to(tree)
        reached, queue = set(), [path]
        while queue:
            for user in users[queue.pop()]:
                if user not in reached:
                    reached.add(user)
                    if user.parts[:3] == ("src", "kernels", "primitives"):
                        queue.append(user)
        folders = {user.parent for user in reached if user.parts[0] == "src" and user.parts[:3] != ("src", "kernels", "primitives")}
        if len(folders) < 2:
            found.append(f"{path}: a primitive that {len(folders)} folder{'s' * (len(folders) != 1)} use{'s' * (len(folders) == 1)}: it belongs there")
    return found


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def types_of(text):
    """Types that a file defines in a namespace with a name: (namespace, type)."""
    spaces, found = [], set()
    for match in NAMESPACE.finditer(text):
        if match.group(0).startswith("}"):
            del spaces[-1:]
        elif match.group(0).startswith("namespace"):
            spaces.append(match.group(1))
        elif spaces and "" not in spaces:
            found.add(("::".join(spaces), match.group(2)))
    return found


def violations(tree, exceptions=EXCEPTIONS):
    tree = tree.resolve()
    rows = {(family, name) for family, name, _, cuda, simt in ROW.findall((tree / CATALOGUE).read_text()) if "true" in (cuda, simt)}
    found, seen, includes, used, defined = [], 0, [], set(), {}
    for top in sorted({pathlib.PurePath(prefix).parts[0] for prefix in LAYERS}):
        for source in sorted((tree / top).rglob("*")):
            if source.suffix not in SOURCES or not source.is_file():
                continue
            path = source.relative_to(tree)
            layer = layer_of(path)
            if layer is None:
                found.append(f"{path}: a layer that HACKING.md does not know")
                continue
            seen += 1
            text = source.read_text(encoding="utf-8")
            foreign = []
            for match in INCLUDE.finditer(text):
                name, quoted = match.group(1) or match.group(2), match.group(2) is not None
                line = text.count("\n", 0, match.start()) + 1
                target = resolve(tree, source, name, quoted)
                if target is not None:
                    includes.append((path, target))
                elif re.match(INTEROP.get(str(path), r"(?!)"), name):
                    foreign.append(name)
                wrong = judge(path, layer, name, quoted, target, rows)
                if wrong and (str(path), str(target)) in exceptions:
                    used.add((str(path), str(target)))
                elif wrong:
                    found.append(f"{path}:{line}: {wrong}")
            if layer == "interop" and len(foreign) != 1:
                found.append(f"{path}: a header of interop includes one foreign header, not {len(foreign)}")
            if layer != "cuda" and layer not in ("tests", "bench", "python"):
                match = CUDA_WORDS.search(without_comments(text))
                if match:
                    found.append(f"{path}: {match.group(0)!r}: only cuda/ speaks CUDA")
            match = OLD_WORDS.search(without_comments(text))
            if match and str(path) not in OLD_WORDS_IN:
                found.append(f"{path}: {match.group(0)!r} is a word that has gone")
            if top in ("include", "src"):
                for what in sorted(types_of(text)):
                    if what in defined:
                        found.append(f"{path}: {what[0]}::{what[1]} is defined in {defined[what]}, too")
                    defined.setdefault(what, path)
    stale = [f"exception of {source} to include {target}: not needed any more" for source, target in sorted(set(exceptions) - used)]
    return found + uncatalogued(tree, rows) + lonely_primitives(tree, includes) + stale, seen


def judge(path, layer, name, quoted, target, rows):
    """What is wrong with that include, or None."""
    if target is not None:
        other = layer_of(target)
        if other is None:
            return f"includes {target}, which is in no layer"
        if str(path) == WHOLE_HEADER and target.parent != path.parent:
            return f"{path} may not include {target}, which is asked for by name"
        if other != layer and other not in MAY_INCLUDE[layer]:
            return f"{layer} may not include {other} ({target})"
        if other == "media" and layer not in ("media", "tests", "fuzz") and str(target) != MEDIA_HEADER:
            return f"{layer} may include {MEDIA_HEADER} alone of media, not {target}"
        if other in ("kernels", "api") and layer in LIBRARY:
            return judge_subjects(path, target, rows)
        if layer in ("include", "interop") and quoted:
            return f"a public header includes its neighbours as <{name}>"
        return None
    if name in STANDARD:
        return None
    if layer == "interop":
        if re.match(INTEROP.get(str(path), r"(?!)"), name):
            return None
    elif re.match(THIRD_PARTY.get(layer, r"(?!)"), name):
        return None
    if re.match(TBB, name) and str(path) == TBB_FILE or re.match(FFT, name) and str(path) == FFT_FILE or re.match(XML, name) and str(path) == XML_FILE:
        return None
    if not quoted and layer not in ("include", "interop") and POSIX.match(name) and not re.match(CUDA, name):
        return None
    return f"{layer} may not include {name}: not of the tree, not standard, not one of the layer's libraries"


GOOD = {
    "include/areal/areal.hpp": "#include <areal/a.hpp>\n",
    "include/areal/a.hpp": "#include <vector>\n#include <areal/b.hpp>\nnamespace areal {\nstruct A {};\n}  // namespace areal\n",
    "include/areal/b.hpp": "// #include <cuda.h>, a Lane\n",
    "include/areal/research/r.hpp": "#include <areal/a.hpp>\n",
    "include/areal/interop/dlpack.hpp": "#include <areal/a.hpp>\n#include <dlpack/dlpack.h>\n",
    "include/areal/mpi.hpp": "#include <mpi.h>\n#include <areal/a.hpp>\n",
    "src/mpi/s.hpp": "#include <areal/mpi.hpp>\n#include <mpi.h>\n",
    "apps/areal-mpi/main.cpp": '#include <areal/mpi.hpp>\n#include "media/media.hpp"\n#include "verb.hpp"\n',
    "src/catalog/rows.cpp": "#include <areal/a.hpp>\n",
    "src/catalog/catalog.cpp": '{"sat", "one", "A, 1", false, true, true, 1},\n{"sat", "two", "A, 2", true, false, true, 1},\n'
                               '{"sat", "three", "A, 3", true, false, false, 1},\n',
    "src/formulas/f.hpp": "#include <areal/a.hpp>\n",
    "src/policy/p.hpp": '#include "formulas/f.hpp"\n',
    "src/memory_machines/m.hpp": '#include <vector>\n#include "n.hpp"\n',
    "src/memory_machines/n.hpp": "#include <span>\n",
    "src/kernels/plan.hpp": "#include <areal/a.hpp>\n",
    "src/kernels/primitives/k.hpp": '#include <areal/a.hpp>\n#include "formulas/f.hpp"\n',
    "src/kernels/primitives/line/l.hpp": '#include "kernels/primitives/k.hpp"\n',
    "src/kernels/sat/request.hpp": '#include "kernels/plan.hpp"\n',
    "src/kernels/sat/run.hpp": '#include "kernels/primitives/k.hpp"\n#include "kernels/sat/request.hpp"\n',
    "src/kernels/sat/author/one.hpp": '#include "kernels/primitives/line/l.hpp"\n#include "kernels/sat/author/part.hpp"\n#include "kernels/sat/request.hpp"\n',
    "src/kernels/sat/author/part.hpp": '#include "kernels/sat/request.hpp"\nnamespace areal::kernels {\nnamespace {\nstruct A {};\n}  // namespace\n'
                                       "struct Part;\ntemplate <class T>\nstruct Part {\n  struct A {};\n};\n}  // namespace areal::kernels\n",
    "src/kernels/sat/other/two.hpp": '#include "kernels/sat/request.hpp"\n#include "kernels/primitives/line/l.hpp"\n',
    "src/kernels/sat/registry.hpp": '#include "kernels/sat/author/one.hpp"\n#include "kernels/sat/other/two.hpp"\n#include "kernels/sat/run.hpp"\n',
    "src/kernels/query/request.hpp": '#include "kernels/primitives/k.hpp"\n',
    "src/kernels/query/sums.hpp": '#include "kernels/query/request.hpp"\n',
    "src/cuda/launch.cu": '#include <cuda_runtime.h>\n#include "kernels/plan.hpp"\n#include "kernels/primitives/k.hpp"\n__global__ void f();\n',
    "src/simt/run.hpp": '#include "kernels/primitives/k.hpp"\n#include "kernels/sat/registry.hpp"\n#include <boost/context/fiber.hpp>\n',
    "src/cpu/c.hpp": '#include <hwy/highway.h>\n#include <areal/a.hpp>\n#include "formulas/f.hpp"\n',
    "src/cpu/threads.cpp": "#include <oneapi/tbb/parallel_for.h>\n",
    "src/api/core/check.hpp": '#include "policy/p.hpp"\n',
    "src/api/sat/sat.cpp": '#include "api/core/check.hpp"\n#include "cpu/c.hpp"\n#include "kernels/sat/request.hpp"\n#include "own.hpp"\n#include "simt/run.hpp"\n',
    "src/api/sat/own.hpp": "#include <areal/a.hpp>\n",
    "src/api/query/query.cpp": '#include "api/core/check.hpp"\n',
    "src/research/model.cpp": '#include "api/sat/own.hpp"\n#include "memory_machines/m.hpp"\n#include <areal/research/r.hpp>\n',
    "src/media/media.hpp": "#include <areal/a.hpp>\n",
    "src/media/inner.hpp": '#include "media.hpp"\n#include <OpenImageIO/imageio.h>\n#include <sys/stat.h>\n',
    "src/queue/q.hpp": '#include "api/core/check.hpp"\n',
    "src/pieces/core/p.hpp": '#include "api/core/check.hpp"\n',
    "src/pieces/strips/s.hpp": '#include "pieces/core/p.hpp"\n',
    "src/pieces/tiles/t.hpp": '#include "pieces/core/p.hpp"\n#include "queue/q.hpp"\n',
    "src/view/w.hpp": "#include <areal/a.hpp>\n",
    "src/video/v.hpp": '#include "queue/q.hpp"\n#include "cpu/c.hpp"\n',
    "apps/areal/main.cpp": '#include <CLI/CLI.hpp>\n#include "media/media.hpp"\n#include "verb.hpp"\n',
    "apps/areal/verb.hpp": "#include <areal/a.hpp>\n",
    "bench/protocol/p.hpp": "#include <areal/a.hpp>\n",
    "bench/harness/h.cpp": '#include "areal/verb.hpp"\n#include "bench/protocol/p.hpp"\n#include "media/media.hpp"\n',
    "python/src/module.cpp": '#include <areal/a.hpp>\n#include <areal/research/r.hpp>\n#include <nanobind/nanobind.h>\n#include "bindings.hpp"\n',
    "python/src/bindings.hpp": "#include <nanobind/ndarray.h>\n#include <vector>\n",
    "docs/pictures/trace.cpp": '#include "simt/run.hpp"\n#include "kernels/primitives/k.hpp"\n',
    "tests/any_test.cpp": '#include "cpu/c.hpp"\n#include "kernels/sat/author/one.hpp"\n#include <gtest/gtest.h>\n',
}
# One bad arrow each: (file, line to add).
BAD = [
    ("include/areal/areal.hpp", "#include <areal/research/r.hpp>"),
    ("include/areal/areal.hpp", "#include <areal/interop/dlpack.hpp>"),
    ("include/areal/areal.hpp", "#include <areal/mpi.hpp>"),
    ("include/areal/b.hpp", "#include <mpi.h>"),
    ("src/mpi/s.hpp", '#include "cpu/c.hpp"'),
    ("apps/areal/main.cpp", "#include <areal/mpi.hpp>"),
    ("include/areal/b.hpp", '#include "cpu/c.hpp"'),
    ("include/areal/b.hpp", "#include <areal/interop/dlpack.hpp>"),
    ("include/areal/b.hpp", "#include <fmt/format.h>"),
    ("include/areal/b.hpp", "#include <cuda_runtime.h>"),
    ("include/areal/b.hpp", "#include <unistd.h>"),
    ("include/areal/b.hpp", '#include "a.hpp"'),
    ("include/areal/b.hpp", "namespace areal {\nclass A {};\n}"),
    ("include/areal/b.hpp", "struct Lane;"),
    ("include/areal/interop/dlpack.hpp", "#include <opencv2/core.hpp>"),
    ("include/areal/interop/dlpack.hpp", "#include <dlpack/another.h>"),
    ("include/areal/interop/opencv.hpp", "#include <areal/a.hpp>"),
    ("src/catalog/rows.cpp", '#include "cpu/c.hpp"'),
    ("src/formulas/f.hpp", '#include "cpu/c.hpp"'),
    ("src/policy/p.hpp", '#include "kernels/sat/request.hpp"'),
    ("src/policy/p.hpp", '#include "cpu/c.hpp"'),
    ("src/memory_machines/m.hpp", '#include "simt/run.hpp"'),
    ("src/memory_machines/m.hpp", "#include <boost/context/fiber.hpp>"),
    ("src/memory_machines/m.hpp", "#include <areal/a.hpp>"),
    ("src/kernels/primitives/k.hpp", '#include "cuda/launch.cu"'),
    ("src/kernels/primitives/k.hpp", "#include <cuda_runtime.h>"),
    ("src/kernels/primitives/k.hpp", "__global__ void g();"),
    ("src/kernels/primitives/k.hpp", '#include "simt/run.hpp"'),
    ("src/kernels/primitives/k.hpp", '#include "policy/p.hpp"'),
    ("src/kernels/primitives/k.hpp", '#include "kernels/sat/request.hpp"'),
    ("src/kernels/primitives/line/l.hpp", '#include "kernels/sat/author/one.hpp"'),
    ("src/kernels/primitives/line/l.hpp", '#include "../../query/sums.hpp"'),
    ("src/kernels/primitives/alone.hpp", "int x;"),
    ("src/kernels/sat/author/one.hpp", '#include "kernels/sat/other/two.hpp"'),
    ("src/kernels/sat/author/one.hpp", '#include "../other/two.hpp"'),
    ("src/kernels/sat/author/one.hpp", '#include "kernels/sat/registry.hpp"'),
    ("src/kernels/sat/author/one.hpp", '#include "kernels/query/request.hpp"'),
    ("src/kernels/sat/author/part.hpp", '#include "kernels/sat/author/one.hpp"'),
    ("src/kernels/sat/other/two.hpp", '#include "kernels/sat/author/part.hpp"'),
    ("src/kernels/sat/other/two.hpp", "namespace areal::kernels {\nstruct Part {};\n}"),
    ("src/kernels/sat/other/two.hpp", 'const char* const id = "held";'),
    ("src/kernels/sat/run.hpp", '#include "kernels/sat/other/two.hpp"'),
    ("src/kernels/sat/run.hpp", '#include "kernels/sat/author/part.hpp"'),
    ("src/kernels/sat/request.hpp", '#include "kernels/query/request.hpp"'),
    ("src/kernels/query/sums.hpp", '#include "kernels/sat/request.hpp"'),
    ("src/kernels/query/sums.hpp", '#include "kernels/sat/other/two.hpp"'),
    ("src/kernels/x.hpp", "int x;"),
    ("src/catalog/catalog.cpp", '{"sat", "four", "A, 4", false, false, true, 1},'),
    ("src/catalog/catalog.cpp", '{"query", "four", "A, 4", false, true, false, 1},'),
    ("src/simt/run.hpp", '#include "kernels/sat/author/one.hpp"'),
    ("src/simt/run.hpp", '#include "kernels/sat/author/part.hpp"'),
    ("src/simt/run.hpp", '#include "kernels/query/sums.hpp"'),
    ("src/simt/run.hpp", '#include "cpu/c.hpp"'),
    ("src/simt/run.hpp", '#include "cuda/launch.cu"'),
    ("src/simt/run.hpp", '#include "memory_machines/m.hpp"'),
    ("src/cuda/launch.cu", '#include "kernels/sat/other/two.hpp"'),
    ("src/cuda/launch.cu", '#include "cpu/c.hpp"'),
    ("src/cuda/launch.cu", '#include "simt/run.hpp"'),
    ("src/cuda/launch.cu", '#include "policy/p.hpp"'),
    ("src/cpu/c.hpp", '#include "simt/run.hpp"'),
    ("src/cpu/c.hpp", '#include "memory_machines/m.hpp"'),
    ("src/cpu/c.hpp", '#include "kernels/primitives/k.hpp"'),
    ("src/cpu/c.hpp", '#include "../api/sat/own.hpp"'),
    ("src/cpu/c.hpp", "#include <fmt/format.h>"),
    ("src/cpu/c.hpp", "#include <oneapi/tbb/parallel_for.h>"),
    ("src/cpu/c.hpp", "#include <kissfft/kissfft.hh>"),
    ("src/cpu/c.hpp", "#include <pugixml.hpp>"),
    ("src/api/sat/sat.cpp", '#include "media/media.hpp"'),
    ("src/api/sat/sat.cpp", "#include <hwy/highway.h>"),
    ("src/api/sat/sat.cpp", "#include <nlohmann/json.hpp>"),
    ("src/api/sat/sat.cpp", '#include "kernels/sat/other/two.hpp"'),
    ("src/api/sat/sat.cpp", '#include "memory_machines/m.hpp"'),
    ("src/api/sat/sat.cpp", '#include "nowhere.hpp"'),
    ("src/api/query/query.cpp", '#include "api/sat/own.hpp"'),
    ("src/api/core/check.hpp", '#include "api/sat/own.hpp"'),
    ("src/research/model.cpp", '#include "media/media.hpp"'),
    ("src/research/model.cpp", '#include "kernels/sat/author/part.hpp"'),
    ("src/media/inner.hpp", '#include "cpu/c.hpp"'),
    ("src/media/inner.hpp", '#include "api/sat/own.hpp"'),
    ("src/video/v.hpp", '#include "kernels/primitives/k.hpp"'),
    ("src/video/v.hpp", '#include "media/media.hpp"'),
    ("src/view/w.hpp", '#include "media/media.hpp"'),
    ("src/view/w.hpp", '#include "formulas/f.hpp"'),
    ("src/view/w.hpp", "#include <nlohmann/json.hpp>"),
    ("apps/areal/main.cpp", "#include <boost/context/fiber.hpp>"),
    ("src/queue/q.hpp", '#include "pieces/tiles/t.hpp"'),
    ("src/queue/q.hpp", '#include "cpu/c.hpp"'),
    ("src/pieces/tiles/t.hpp", '#include "media/media.hpp"'),
    ("src/pieces/tiles/t.hpp", '#include "video/v.hpp"'),
    ("src/pieces/core/p.hpp", '#include "pieces/tiles/t.hpp"'),
    ("src/pieces/core/p.hpp", '#include "pieces/strips/s.hpp"'),
    ("src/pieces/core/p.hpp", '#include "queue/q.hpp"'),
    ("apps/areal/main.cpp", '#include "cpu/c.hpp"'),
    ("apps/areal/main.cpp", '#include "media/inner.hpp"'),
    ("apps/areal/main.cpp", "#include <OpenImageIO/imageio.h>"),
    ("python/src/module.cpp", '#include "media/media.hpp"'),
    ("python/src/module.cpp", '#include "cpu/c.hpp"'),
    ("python/src/module.cpp", '#include "formulas/f.hpp"'),
    ("python/src/module.cpp", '#include "../../src/api/sat/own.hpp"'),
    ("python/src/module.cpp", "#include <cuda_runtime.h>"),
    ("python/src/module.cpp", "#include <hwy/highway.h>"),
    ("src/api/sat/sat.cpp", '#include "../../../python/src/bindings.hpp"'),
    ("src/api/sat/sat.cpp", "#include <nanobind/nanobind.h>"),
    ("bench/b.cpp", '#include "cpu/c.hpp"'),
    ("bench/b.cpp", '#include "areal/verb.hpp"'),
    ("bench/harness/h.cpp", '#include "cpu/c.hpp"'),
    ("apps/areal/main.cpp", '#include "bench/harness/h.cpp"'),
    ("apps/areal/main.cpp", '#include "bench/protocol/p.hpp"'),
    ("bench/protocol/p.hpp", '#include "media/media.hpp"'),
    ("examples/e.cpp", '#include "media/media.hpp"'),
    ("docs/pictures/trace.cpp", '#include "areal/verb.hpp"'),
    ("src/attic/x.cpp", "int x;"),
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
        found, seen = violations(good, {})
        assert not found, f"the good tree was refused: {found}"
        assert seen == len(GOOD), f"{seen} files seen of {len(GOOD)}"
        for number, (name, line) in enumerate(BAD):
            tree = pathlib.Path(scratch) / str(number)
            plant(tree, {**GOOD, name: GOOD.get(name, "") + line + "\n"})
            found, _ = violations(tree, {})
            assert len(found) == 1 and (found[0].startswith(name) or "is defined in" in found[0]), f"{name} with {line!r}: found {found}"
        arrow = ("src/api/query/query.cpp", "src/api/sat/own.hpp")
        plant(good, {arrow[0]: '#include "api/sat/own.hpp"\n'})
        assert not violations(good, {arrow: ""})[0], "an exception was not one"
        plant(good, {arrow[0]: GOOD[arrow[0]]})
        assert len(violations(good, {arrow: ""})[0]) == 1, "an exception that nobody needs was not found"
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
