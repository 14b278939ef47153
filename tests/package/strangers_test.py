#!/usr/bin/env python3
"""That nobody's library is loaded but those of the build or the installation: neither from the working directory nor from a folder beside a prefix.

Reads the RUNPATH and RPATH of every binary of the build, of an installation and of what a wheel holds: each element begins with $ORIGIN or /. Then it
plants libraries under the names of what the command and the Python module need, and plug-ins under areal's names, and looks whether they run.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29
PLANT = """#include <cstdio>
#include <cstdlib>
__attribute__((constructor)) static void planted() { std::puts("PLANTED"); std::fflush(stdout); std::_Exit(66); }
"""


def dynamic(path):
    """(names of needed libraries, search paths) of a 64-bit ELF file; None for other files and without a dynamic section."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]  # type, flags, offset, address, _, bytes

    def place(address):
        return next(at + address - start for kind, _, at, start, _, bytes in headers if kind == 1 and start <= address < start + bytes)

    for kind, _, at, _, _, bytes in headers:
        if kind == 2:
            entries = [struct.unpack_from("<qQ", data, i) for i in range(at, at + bytes, 16)]
            entries = entries[: next((i for i, (tag, _) in enumerate(entries) if tag == DT_NULL), len(entries))]
            texts = place(next(value for tag, value in entries if tag == DT_STRTAB))
            text = {value: data[texts + value : data.index(b"\0", texts + value)].decode() for tag, value in entries if tag in (DT_NEEDED, DT_RPATH, DT_RUNPATH)}
            return [text[v] for tag, v in entries if tag == DT_NEEDED], [text[v] for tag, v in entries if tag in (DT_RPATH, DT_RUNPATH)]
    return None


def bad_elements(search_path):
    """Elements of a search path that the loader takes for the working directory, or for a place in it."""
    return [element for element in search_path.split(":") if not re.match(r"/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$)", element)]


def binaries(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and "CMakeFiles" not in path.parts and (path.suffix == "" or ".so" in path.name) and path.stat().st_size > 64:
            found = dynamic(path)
            if found:
                yield path, *found


def check_search_paths(folder, least):
    seen = 0
    for path, _, paths in binaries(folder):
        seen += 1
        for search_path in paths:
            assert not bad_elements(search_path), f"{path}: RUNPATH {search_path!r} has {bad_elements(search_path)}"
    assert seen >= least, f"{seen} binaries in {folder}"
    print(f"{folder}: {seen} binaries")


def plant(folder, names, scratch):
    source, library = scratch / "plant.cpp", scratch / "plant.so"
    if not library.exists():
        source.write_text(PLANT)
        subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", source, "-o", library], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(library, folder / name)


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def all_needed(path):
    """Every name that the loader searches for a binary and for the libraries of its tree."""
    return sorted({name for _, names, _ in binaries(path.parent) for name in names} | set(dynamic(path)[0]))


def prove(scratch):
    """The checks can fail: they find a search path with such elements, and a planted library that is loaded."""
    for search_path, bad in [("/usr/lib:$ORIGIN/../lib:${ORIGIN}", []), ("$ORIGIN:", [""]), (":/usr/lib", [""]), ("/a::/b", [""]), ("lib", ["lib"]),
                             ("../lib:/a", ["../lib"]), ("$ORIGINAL", ["$ORIGINAL"]), ("", [""])]:
        assert bad_elements(search_path) == bad, search_path
    here = scratch / "proof"
    plant(here, ["libneeded.so"], scratch)
    (here / "main.cpp").write_text("int main() {}\n")
    subprocess.run([os.environ.get("CXX", "c++"), "main.cpp", "-o", "main", "-Wl,--no-as-needed", "-Wl,--enable-new-dtags", "-L.", "-lneeded", "-Wl,-rpath,/nowhere:"],
                   cwd=here, check=True)
    needed, paths = dynamic(here / "main")
    assert "libneeded.so" in needed and paths == ["/nowhere:"] and bad_elements(paths[0])
    assert run([here / "main"], cwd=here).stdout == "PLANTED\n" and run([here / "main"], cwd=scratch).returncode == 127


def check_working_directory(command, environment, scratch):
    here = scratch / "working-directory"
    shutil.rmtree(here, ignore_errors=True)
    plant(here, [name for name in all_needed(command) if not name.startswith("ld-")], scratch)
    assert (here / "libfmt.so.9").exists() or any(here.glob("libfmt.so*")), sorted(here.iterdir())
    ran = run([command, "--version"], cwd=here, env=environment)
    assert ran.returncode == 0 and ran.stdout.startswith("areal "), (command, ran)


def check_module(package, scratch):
    """areal, imported by a Python that works in a folder with planted libraries."""
    here = scratch / "working-directory"
    shutil.rmtree(here, ignore_errors=True)
    core = next((package / "areal").glob("_core*.so"))
    plant(here, [name for name in all_needed(core) if not name.startswith("ld-")], scratch)
    ran = run([sys.executable, "-P" if sys.version_info >= (3, 11) else "-I", "-c", f"import sys; sys.path.insert(0, {str(package)!r}); import areal; print(areal.__version__)"], cwd=here)
    assert ran.returncode == 0 and "PLANTED" not in ran.stdout, ran


def check_plug_ins(command, decoys, environment, picture, scratch):
    """Only the plug-in next to the library reads a picture; without it, none does."""
    for decoy in decoys:
        plant(decoy, ["areal_pictures.so", "areal_video.so", "areal_codecs.so", "areal_slides.so"], scratch)
    ran = run([command, "info", picture], cwd=scratch, env=environment)
    assert "PLANTED" not in ran.stdout, (command, ran)
    return ran


def check_place(command, own, environment):
    """`areal info` names the folder of the plug-ins, and which are there."""
    there = json.loads(run([command, "info", "--json"], env=environment).stdout)["plug_ins"]
    assert pathlib.Path(there["folder"]).resolve() == own.parent and sorted(there["files"]) == sorted(file.name for file in own.parent.glob("areal_*.so")), there
    other = json.loads(run([command, "info", "--json"], env={**environment, "AREAL_PLUGIN_DIR": "/nowhere"}).stdout)["plug_ins"]
    assert other == {"folder": "/nowhere", "files": []}, other


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    tree, build = arguments.tree.resolve(), arguments.build.resolve()
    picture = next((tree / "data").glob("*.png"))
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "AREAL_PLUGIN_DIR", "PYTHONPATH")}
    with tempfile.TemporaryDirectory(prefix="areal-strangers-") as name:
        scratch = pathlib.Path(name).resolve()
        prove(scratch)
        check_search_paths(build, 3)
        command = build / "apps/areal/areal"
        if command.exists():
            check_working_directory(command, environment, scratch)
        if list((build / "python/areal").glob("_core*.so")):
            check_module(build / "python", scratch)
            installed = scratch / "wheel"
            subprocess.run(["cmake", "--install", build, "--prefix", installed, "--component", "python"], check=True, stdout=subprocess.DEVNULL)
            check_search_paths(installed, 2)
            check_module(installed, scratch)
        prefix = scratch / "shared/prefix"
        for _ in range(2):  # the second finds what is installed already
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
            check_search_paths(prefix, 1)
        command = prefix / "bin/areal"
        if not command.exists():
            return
        libraries = next(prefix.glob("lib*/**/libareal.so*"), None)
        if libraries is not None:
            environment["LD_LIBRARY_PATH"] = str(libraries.parent)
        check_working_directory(command, environment, scratch)
        own = next(prefix.glob("lib*/**/areal_pictures.so"), None)
        if own is not None:
            check_place(command, own, environment)
        decoys = [prefix / "src/areal", prefix.parent / "src/areal", prefix / "bin/lib/areal", prefix.parent / "lib/areal"]
        ran = check_plug_ins(command, decoys, environment, picture, scratch)
        assert own is None or ran.returncode == 0, ran
        if own is not None:
            own.unlink()
        ran = check_plug_ins(command, decoys, environment, picture, scratch)
        assert ran.returncode == 1 and "areal_pictures.so is not in" in ran.stderr and ran.stderr.count("\n") == 1, ran
        # A program elsewhere, in a folder with the files of an installation.
        other = scratch / "other/bin/areal"
        other.parent.mkdir(parents=True)
        shutil.copy(command, other)
        if libraries is not None:
            ran = check_plug_ins(other, [other.parent.parent / "lib/areal", other.parent / "areal-plug-ins"], environment, picture, scratch)
            assert ran.returncode == 1 and str(libraries.parent) in ran.stderr, ran
        # The check can fail: a plug-in in a folder that the library searches runs.
        plant(libraries.parent / "areal" if libraries is not None else prefix / "lib/areal", ["areal_pictures.so"], scratch)
        assert "PLANTED" in run([command, "info", picture], cwd=scratch, env=environment).stdout


if __name__ == "__main__":
    main()
