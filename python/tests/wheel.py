"""Checks a wheel: what is in it, the stable ABI, that auditwheel can make it one for other Linuxes, and that it runs in a fresh environment.

    wheel.py --build BUILD   a wheel of what BUILD holds, put together here: seconds. NumPy and nanobind-backend are this Python's
    wheel.py WHEEL --into D  one that pip made, as ./run wheel does: pip installs it with what it needs. The repaired wheel goes to D

It proves first that bad wheels are found.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

TREE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.executable).parent
SMOKE = """
import areal, numpy as np, sys
assert sys.prefix in areal.__file__, areal.__file__
x = np.random.default_rng(12).integers(0, 256, (480, 640), np.uint8)
t = areal.sat(x)
np.testing.assert_array_equal(t.array[1:, 1:], x.cumsum(0, np.int64).cumsum(1))
assert t.sum([10, 20, 30, 40]) == x[20:60, 10:40].sum()
try:
    areal.sat(x.astype(complex))
except areal.InvalidArgument:
    pass
else:
    raise AssertionError("a complex array was taken")
for name, available, why_not in areal.backends():
    print(f"{name}: {'available' if available else why_not}")
"""


def run(*command: object, fails: bool = False) -> str:
    """The command's output. Ends the check where the command fails, or, with `fails`, where it does not."""
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def version() -> str:
    found = re.search(r'AREAL_VERSION_STRING "([^"]+)"', (TREE / "include/areal/version.hpp").read_text())
    assert found
    return found.group(1)


def write_wheel(files: dict[str, bytes], folder: pathlib.Path) -> pathlib.Path:
    """A wheel of these files, by their paths in it."""
    info, tag = f"areal-{version()}.dist-info", f"cp310-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: areal\nVersion: {version()}\nRequires-Dist: numpy\nRequires-Dist: nanobind-backend\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: areal\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"areal-{version()}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def files_of_build(build: pathlib.Path, scratch: pathlib.Path) -> dict[str, bytes]:
    """What `cmake --install` puts into a wheel; the library under the one name by which it is asked for."""
    run("cmake", "--install", build, "--prefix", scratch, "--component", "python", "--strip")
    files = {str(path.relative_to(scratch)): path.read_bytes() for path in sorted(scratch.rglob("*")) if path.is_file()}
    asked_for = set(re.findall(r"\[(libareal\.so[^\]]*)\]", run("readelf", "-d", next(scratch.glob("areal/_core*.so")))))
    return {name: data for name, data in files.items() if "libareal" not in name or pathlib.PurePath(name).name in asked_for}


def wrong_files(wheel: pathlib.Path) -> list[str]:
    """What is missing from the wheel, and what should not be there."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    sources = {f"areal/{path.relative_to(TREE / 'python/areal')}" for path in (TREE / "python/areal").rglob("*.py")}
    optional = {"areal/_jax.abi3.so", "areal/_view_widget.html", "areal/_view_embedded.html"}  # built where JAX and Leaflet are installed
    library = {name for name in names if re.fullmatch(r"areal/libareal\.so[.\d]*", name)}
    grafted = {name for name in names if re.fullmatch(r"areal(_cu\d+)?\.libs/[^/]+\.so[^/]*", name)}
    expected = sources | {"areal/_core.abi3.so", "areal/_core.pyi", "areal/py.typed"}
    wrong = [f"{name} is missing" for name in sorted(expected - names)] + [f"{name} is there" for name in sorted(names - expected - optional - library - grafted)]
    return wrong + ([] if len(library) == 1 else [f"{len(library)} libraries, not one: {sorted(library)}"])


def check_files(wheel: pathlib.Path) -> None:
    wrong = wrong_files(wheel)
    if wrong:
        sys.exit(f"{wheel.name}: {', '.join(wrong)}")
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB, every file in its place")


def repaired(wheel: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    """The wheel with the libraries that it needs inside, for every Linux whose C library is as new."""
    into.mkdir(parents=True, exist_ok=True)
    before = set(into.glob("*.whl"))
    run(BIN / "auditwheel", "repair", "-w", into, wheel)
    made = [path for path in into.glob("*.whl") if path not in before] or list(into.glob(f"{wheel.name.split('-')[0]}-{version()}-*.whl"))
    assert len(made) == 1, made
    assert re.search(r"-cp310-abi3-manylinux_\d+_\d+_", made[0].name), made[0].name
    print(f"auditwheel: {made[0].name}, {made[0].stat().st_size / 2**20:.1f} MiB")
    return made[0]


def pythons() -> list[str]:
    """This Python, and every other from 3.10 on that the path has."""
    found = [sys.executable]
    for name in (f"python3.{minor}" for minor in range(10, 30) if minor != sys.version_info.minor):
        if shutil.which(name) and not subprocess.run([name, "-c", "import venv"], capture_output=True, check=False).returncode:
            found.append(name)
    return found


def smoke(wheel: pathlib.Path, interpreter: str, scratch: pathlib.Path, fetch: bool) -> None:
    """Runs it in a fresh environment: with what pip fetches for it, or with this Python's packages behind it."""
    run(interpreter, "-m", "venv", "--without-pip", scratch)
    python = scratch / "bin/python"
    print(run(python, "--version"), end="")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", *([] if fetch else ["--no-deps", "--no-index"]), wheel)
    if not fetch:
        packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
        (pathlib.Path(packages) / "behind.pth").write_text(sysconfig.get_path("platlib") + "\n")
    print(run(python, "-c", SMOKE), end="")


def prove(files: dict[str, bytes], scratch: pathlib.Path) -> None:
    """Bad wheels of the same files are found."""
    import nanobind_backend

    assert wrong_files(write_wheel(files | {"areal/extra.so": b""}, scratch / "extra")) == ["areal/extra.so is there"]
    assert wrong_files(write_wheel({k: v for k, v in files.items() if k != "areal/py.typed"}, scratch / "less")) == ["areal/py.typed is missing"]
    beyond = next(pathlib.Path(nanobind_backend.__file__).parent.glob("*.so"))  # which is of one Python alone
    bad = write_wheel(files | {"areal/_core.abi3.so": beyond.read_bytes()}, scratch / "beyond")
    run(BIN / "abi3audit", "--strict", bad, fails=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        if asked.build:
            files = files_of_build(asked.build, scratch / "stage")
            wheel = write_wheel(files, scratch / "wheel")
        else:
            wheel = asked.wheel
            with zipfile.ZipFile(wheel) as archive:
                files = {each: archive.read(each) for each in archive.namelist() if ".dist-info/" not in each}
        prove(files, scratch)
        check_files(wheel)
        print(run(BIN / "abi3audit", "--strict", "--summary", wheel), end="")
        whole = repaired(wheel, asked.into or scratch / "repaired")
        check_files(whole)
        for number, interpreter in enumerate([sys.executable] if asked.build else pythons()):
            smoke(whole, interpreter, scratch / f"fresh{number}", fetch=not asked.build)


if __name__ == "__main__":
    main()
