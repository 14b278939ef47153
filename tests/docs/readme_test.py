#!/usr/bin/env python3
"""Runs the code that the README and the pages of docs show.

    ```cpp run       compiled against the build tree as a separate program, and run
    ```cpp compile   compiled only: it needs a GPU to run
    ```sh run        run by bash in a scratch folder, `areal` of the build tree in the PATH, data/ linked
    ```python run    run in the same folder; `compile`: its syntax alone
    ```text output   the exact output of the block before it; a line of `...` stands for any lines, `...` in a line for any characters

The test skips a block whose optional headers or modules are not installed, and prints why. Other sh blocks may only call ./run with an
existing verb, cmake or git; an areal command must be in a `run` block. The README's commands must write the pictures of
docs/pictures/readme, at the size that they have there.
It first proves, on planted texts, that it finds wrong output, a failing command, a picture that no command writes, and the like.
"""

import argparse
import collections
import functools
import importlib.machinery
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.M | re.S)
INCLUDE = re.compile(r"^#include <((?:opencv2/|cuda|npp)[^>]*)>", re.M)  # of the optional ones
IMPORT = re.compile(r"^(?:from|import) (\w+)", re.M)
CUDA = "/usr/local/cuda/include"
OPENCV = ("/usr/include/opencv4", "/usr/local/include/opencv4")
PAGES = ("README.md", "docs/filters.md", "docs/tutorial.md", "docs/recipes.md", "docs/scale.md", "docs/choosing.md", "docs/inputs.md", "docs/faq.md", "docs/migrating.md", "docs/research.md", "docs/python.md", "docs/view.md")
LARGEST_PICTURE = 150_000  # bytes, so that the first page appears at once


class Wrong(Exception):
    pass


class LeftOut(Exception):
    """What it needs is not installed here."""


def blocks(text):
    for match in FENCE.finditer(text):
        words = match.group(1).split()
        yield text.count("\n", 0, match.start()) + 1, words[0] if words else "", words[1:], match.group(2)


def matches(wanted, got):
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in wanted.splitlines())
    return re.fullmatch(pattern, got if got.endswith("\n") or not got else got + "\n") is not None


class Runner:
    def __init__(self, tree, build, scratch):
        self.tree, self.build, self.scratch = tree, build, pathlib.Path(scratch)
        (self.scratch / "data").symlink_to(tree / "data")
        self.environment = dict(os.environ, PATH=f"{build / 'apps' / 'areal'}:{os.environ['PATH']}", PYTHONPATH=str(build / "python"))

    def run(self, command):
        done = subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise Wrong(f"ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    @functools.cached_property
    def compiler(self):
        return [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", f"-I{self.tree / 'include'}",
                *(argument for folder in (CUDA, *OPENCV) if os.path.isdir(folder) for argument in ("-isystem", folder))]

    def compile(self, code, *arguments):
        for header in INCLUDE.findall(code):
            known = subprocess.run([*self.compiler, "-E", "-x", "c++", "-", "-o", os.devnull], input=f"#include <{header}>\n", text=True,
                                   stderr=subprocess.DEVNULL, check=False)
            if known.returncode:
                raise LeftOut(f"no {header} here")
        (self.scratch / "shown.cpp").write_text(code)
        self.run([*self.compiler, "-Wall", "-Wextra", "-Werror", "shown.cpp", *arguments])

    def cpp_run(self, code):
        libraries = [f"-lopencv_{name}" for name in sorted(set(re.findall(r"#include <opencv2/(core|imgproc)\.hpp>", code)))]
        self.compile(code, "-o", "shown", f"-L{self.build / 'src'}", *(["-lareal_chunked"] if "<areal/chunked_table.hpp>" in code else []), "-lareal", f"-Wl,-rpath,{self.build / 'src'}", *libraries)
        return self.run(["./shown"])

    def cpp_compile(self, code):
        self.compile(code, "-c", "-o", "shown.o")

    def sh_run(self, code):
        return self.run(["bash", "-euo", "pipefail", "-c", code])

    def python_run(self, code):
        for module in IMPORT.findall(code):
            if module not in sys.builtin_module_names and importlib.machinery.PathFinder.find_spec(module, [str(self.build / "python"), *sys.path]) is None:
                raise LeftOut(f"no {module} here")
        return self.run([sys.executable, "-c", code])

    def python_compile(self, code):
        try:
            compile(code, "shown.py", "exec")
        except SyntaxError as error:
            raise Wrong(f"is no Python: {error}") from None


def check_shown_command(code, verbs):
    for command in re.split(r"\n|&&|\|", code.replace("\\\n", " ")):
        command = command.split("#")[0].split()
        if not command or command[0] in ("cmake", "git", "cd", "pip"):
            continue
        if command[0] != "./run" or command[1] not in verbs:
            raise Wrong(f"{' '.join(command)!r} is shown and not run")


def check(text, runner, verbs):
    """The number of blocks of each kind, and why some were skipped. Throws Wrong with the line of the first block that fails."""
    done, left_out, printed = collections.Counter(), [], None
    for line, language, words, code in blocks(text):
        try:
            what = " ".join([language, *words])
            if words == ["output"]:
                if printed is None:
                    raise Wrong("no block that runs stands before this output")
                if printed is not LeftOut and not matches(code, printed):
                    raise Wrong(f"what is shown is not what is printed:\n{printed}")
                printed = None
            elif what in ("cpp run", "cpp compile", "sh run", "python run", "python compile"):
                done[what] += 1
                try:
                    printed = getattr(runner, what.replace(" ", "_"))(code)
                except LeftOut as why:
                    left_out.append(f"line {line}: {why}")
                    printed = LeftOut
            elif words or language in ("cpp", "python"):
                raise Wrong(f"unknown mark {what!r}")
            elif language == "sh":
                printed = None
                check_shown_command(code, verbs)
        except Wrong as wrong:
            raise Wrong(f"line {line}: {wrong}") from None
    return done, left_out


def picture_size(path):
    """Width and height of a PNG or a JPEG."""
    data = path.read_bytes()
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", data[16:24])
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):  # the start of the frame
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    return struct.unpack(">HH", data[at + 5:at + 9])[::-1]


def check_pictures(text, kept, written):
    """The pictures of `kept` that the page shows have the size of those that its commands wrote into `written`. Pixels may differ: decoders round differently."""
    shown = set(re.findall(r"\]\(docs/pictures/readme/([^)]+\.(?:png|jpg))\)", text))
    there = {path.name for path in kept.iterdir() if path.suffix in (".png", ".jpg")}
    if shown != there:
        raise Wrong(f"pictures that are shown and those that are there differ: {sorted(shown ^ there)}")
    for name in sorted(shown):
        if not (written / name).exists():
            raise Wrong(f"{name} is shown, and no command of the page writes it")
        if picture_size(kept / name) != picture_size(written / name):
            raise Wrong(f"{name} is not of the size that its command gives it")
        if (kept / name).stat().st_size > LARGEST_PICTURE:
            raise Wrong(f"{name} is larger than {LARGEST_PICTURE} bytes")
    return len(shown)


def self_test(tree, build):
    good = ("```sh run\necho 1; echo 2; echo 3\n```\n```text output\n1\n...\n3\n```\n```sh\n./run test\n```\n"
            "```python run\nprint('because ' + str(7))\n```\n```text output\nbecause ...\n```\n"
            "```cpp compile\n#include <areal/areal.hpp>\nint twice(int a) { return 2 * a; }\n```\n"
            "```cpp run\n#include <opencv2/none_such.hpp>\nint main() { return no; }\n```\n```text output\n?\n```\n")
    bad = {
        "wrong output": good.replace("\n3\n", "\n4\n"),
        "a wrong beginning of a line": good.replace("\nbecause ...", "\nso ..."),
        "a failing command": "```sh run\nfalse\n```\n",
        "a failing program": "```cpp run\nint main() { return 1; }\n```\n",
        "a failing script": "```python run\nraise ValueError\n```\n",
        "a command left out": "```sh\nareal sat x.png\n```\n",
        "an unknown verb": "```sh\n./run fly\n```\n",
        "code that does not compile": "```cpp run\nint main() { return 0 }\n```\n",
        "code that alone does not compile": "```cpp compile\nint f() { return 0 }\n```\n",
        "no Python": "```python compile\nprint(\n```\n",
        "output of nothing": "```text output\n1\n```\n",
        "an unknown mark": "```sh rum\ntrue\n```\n",
        "code without a mark": "```cpp\nint a;\n```\n",
    }
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(tree, build, scratch)
        done, left_out = check(good, runner, {"test"})
        assert done == {"sh run": 1, "python run": 1, "cpp compile": 1, "cpp run": 1} and len(left_out) == 1, (done, left_out)
        for what, text in bad.items():
            try:
                check(text, runner, {"test"})
            except Wrong:
                continue
            raise AssertionError(f"not found: {what}")
    self_test_of_pictures(tree)
    print(f"self-test: {len(bad)} faults found, none in a good text")


def self_test_of_pictures(tree):
    page = tree / "data" / "sudoku.png"
    assert picture_size(page) == (558, 563) and picture_size(tree / "data" / "home.jpg") == (512, 384)
    with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as written:
        kept, written = pathlib.Path(kept), pathlib.Path(written)
        (kept / "a.png").write_bytes(page.read_bytes()[:100_000])
        shown = "![a](docs/pictures/readme/a.png)"
        faults = [(shown, None), ("nothing", page.read_bytes()), (shown, (tree / "data" / "rubberwhale1.png").read_bytes())]
        for text, data in faults:
            if data:
                (written / "a.png").write_bytes(data)
            try:
                check_pictures(text, kept, written)
            except Wrong:
                continue
            raise AssertionError("not found: a picture that no command wrote")
        (written / "a.png").write_bytes(page.read_bytes())
        assert check_pictures(shown, kept, written) == 1
        (kept / "a.png").write_bytes(page.read_bytes())
        try:
            check_pictures(shown, kept, written)
        except Wrong:
            return
        raise AssertionError("not found: a picture that is too large")


def check_diagrams(tree):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tree / "docs" / "pictures"))
    import draw_readme  # pylint: disable=import-outside-toplevel

    if (tree / "docs" / "pictures" / "readme" / "corners.svg").read_text() != draw_readme.draw():
        sys.exit("docs/pictures/readme/corners.svg is not what docs/pictures/draw_readme.py draws")
    import draw_scale  # pylint: disable=import-outside-toplevel

    for name, drawn in draw_scale.pictures().items():
        if (tree / "docs" / "pictures" / "scale" / name).read_text() != drawn:
            sys.exit(f"docs/pictures/scale/{name} is not what docs/pictures/draw_scale.py draws")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--page", help="this one alone, by its path in the tree")
    parser.add_argument("--pictures", type=pathlib.Path, help="write the README's pictures into this folder, and check no sizes")
    arguments = parser.parse_args()
    tree, build = arguments.tree.resolve(), arguments.build.resolve()
    self_test(tree, build)
    check_diagrams(tree)
    usage = subprocess.run([tree / "run", "help"], text=True, stdout=subprocess.PIPE, check=True).stdout
    verbs = set(re.findall(r"^  ([a-z]+) ", usage, re.M))
    least = {"README.md": {"cpp run": 1, "cpp compile": 1, "sh run": 2}, "docs/tutorial.md": {"cpp run": 8, "cpp compile": 1, "sh run": 4},
             "docs/recipes.md": {"cpp run": 5, "cpp compile": 2, "sh run": 3}, "docs/choosing.md": {"cpp run": 3}, "docs/scale.md": {"sh run": 2},
             "docs/migrating.md": {"cpp run": 2, "cpp compile": 3, "python run": 1}, "docs/research.md": {"sh run": 4}, "docs/python.md": {"python run": 9},
             "docs/inputs.md": {"python run": 1}, "docs/faq.md": {}, "docs/algorithms/README.md": {}}
    pages = [tree / page for page in PAGES] + sorted((tree / "docs" / "algorithms").glob("*.md"))
    for page in pages:
        name = str(page.relative_to(tree))
        if arguments.page not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                done, left_out = check(page.read_text(), Runner(tree, build, scratch), verbs)
                if name == "README.md" and arguments.pictures:
                    for picture in [*pathlib.Path(scratch).glob("*.png"), *pathlib.Path(scratch).glob("*.jpg")]:
                        (arguments.pictures / picture.name).write_bytes(picture.read_bytes())
                elif name == "README.md":
                    check_pictures(page.read_text(), tree / "docs" / "pictures" / "readme", pathlib.Path(scratch))
            except Wrong as wrong:
                sys.exit(f"{name}, {wrong}")
        wanted = least.get(name, {"sh run": 1})
        assert all(done[what] >= wanted[what] for what in wanted), f"{name} shows too little that runs: {done}"
        print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(done.items())) + "".join(f"\n  left out, {why}" for why in left_out))


if __name__ == "__main__":
    main()
