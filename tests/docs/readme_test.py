#!/usr/bin/env python3
"""Runs the code that the README and the pages of docs/algorithms show.

   ```cpp run       compiled against the build tree as a separate program, and run
   ```sh run        run by bash in a scratch folder, `areal` of the build tree in the PATH, data/ linked
   ```text output   the exact output of the block before it; a line of `...` stands for any lines

Other sh blocks may only call ./run with an existing verb, cmake or git; an areal command must be in a `run` block.
It first proves, on planted texts, that it finds wrong output, a failing command and a command that is not run.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.M | re.S)


class Wrong(Exception):
    pass


def blocks(text):
    for match in FENCE.finditer(text):
        words = match.group(1).split()
        yield text.count("\n", 0, match.start()) + 1, words[0] if words else "", words[1:], match.group(2)


def matches(wanted, got):
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in wanted.splitlines())
    return re.fullmatch(pattern, got if got.endswith("\n") or not got else got + "\n") is not None


class Runner:
    def __init__(self, tree, build, scratch):
        self.tree, self.build, self.scratch = tree, build, pathlib.Path(scratch)
        (self.scratch / "data").symlink_to(tree / "data")
        self.environment = dict(os.environ, PATH=f"{build / 'apps' / 'areal'}:{os.environ['PATH']}")

    def run(self, command):
        done = subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise Wrong(f"ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def cpp(self, code):
        (self.scratch / "shown.cpp").write_text(code)
        self.run([os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", "shown.cpp", "-o", "shown",
                  f"-I{self.tree / 'include'}", f"-L{self.build / 'src'}", "-lareal", f"-Wl,-rpath,{self.build / 'src'}"])
        return self.run(["./shown"])

    def sh(self, code):
        return self.run(["bash", "-euo", "pipefail", "-c", code])


def check(text, runner, verbs):
    """The number of blocks that ran. Throws Wrong with the line of the first block that fails."""
    ran, printed = {"cpp": 0, "sh": 0}, None
    for line, language, words, code in blocks(text):
        try:
            if words == ["output"]:
                if printed is None:
                    raise Wrong("no block that runs stands before this output")
                if not matches(code, printed):
                    raise Wrong(f"what is shown is not what is printed:\n{printed}")
                printed = None
            elif words == ["run"] and language in ran:
                printed = getattr(runner, language)(code)
                ran[language] += 1
            elif words:
                raise Wrong(f"unknown mark {words}")
            elif language == "sh":
                printed = None
                for command in re.split(r"\n|&&|\|", code.replace("\\\n", " ")):
                    command = command.split("#")[0].split()
                    if not command or command[0] in ("cmake", "git", "cd"):
                        continue
                    if command[0] != "./run" or command[1] not in verbs:
                        raise Wrong(f"{' '.join(command)!r} is shown and not run")
        except Wrong as wrong:
            raise Wrong(f"line {line}: {wrong}") from None
    return ran


def self_test(tree, build):
    good = "```sh run\necho 1; echo 2; echo 3\n```\n```text output\n1\n...\n3\n```\n```sh\n./run test\n```\n"
    bad = {
        "wrong output": good.replace("\n3\n", "\n4\n"),
        "a failing command": "```sh run\nfalse\n```\n",
        "a command left out": "```sh\nareal sat x.png\n```\n",
        "an unknown verb": "```sh\n./run fly\n```\n",
        "code that does not compile": "```cpp run\nint main() { return 0 }\n```\n",
        "output of nothing": "```text output\n1\n```\n",
        "an unknown mark": "```sh rum\ntrue\n```\n",
    }
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(tree, build, scratch)
        assert check(good, runner, {"test"})["sh"] == 1
        for what, text in bad.items():
            try:
                check(text, runner, {"test"})
            except Wrong:
                continue
            raise AssertionError(f"not found: {what}")
    print(f"self-test: {len(bad)} faults found, none in a good text")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    self_test(arguments.tree, arguments.build)
    usage = subprocess.run([arguments.tree / "run", "help"], text=True, stdout=subprocess.PIPE, check=True).stdout
    verbs = set(re.findall(r"^  ([a-z]+) ", usage, re.M))
    least = {"README.md": {"cpp": 1, "sh": 3}, "docs/algorithms/README.md": {}}
    for page in [arguments.tree / "README.md", *sorted((arguments.tree / "docs" / "algorithms").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                ran = check(page.read_text(), Runner(arguments.tree, arguments.build, scratch), verbs)
            except Wrong as wrong:
                sys.exit(f"{page.relative_to(arguments.tree)}, {wrong}")
        wanted = least.get(str(page.relative_to(arguments.tree)), {"sh": 1})
        assert all(ran[what] >= wanted[what] for what in wanted), f"{page.name} shows too little that runs: {ran}"
        print(f"{page.name}: {ran['cpp']} programs and {ran['sh']} command blocks ran")


if __name__ == "__main__":
    main()
