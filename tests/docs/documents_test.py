#!/usr/bin/env python3
"""Checks references in the documents: the files that they link to, the paths, tests and names that they mention, and the sizes of
safe regions, from the types alone. It first proves, on planted texts, that it finds each kind of error."""

import argparse
import os
import pathlib
import re
import sys
import typing

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
API = re.compile(r"\bareal::(\w+)")
TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w./-]+\.(?:hpp|cpp|cu|cuh|py|md|json|cmake|txt|svg)|[\w./-]+/")
PLACEHOLDER = re.compile(r"[A-Z]{3}|^\.\.-")  # NAME.hpp, DATE-cuda.json, ..-answers.json
MEMBER = re.compile(r"\b([A-Z]\w+)::(\w+)")
IN_HEADER = re.compile(r"`(\w+)` in `<(areal/[\w/]+\.hpp)>`")
CALL = re.compile(r"[a-z]+(?:_[a-z0-9]+)+(?:\(\))?")
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)[^;{]*\{([^\n]*\};$|\n.*?^\};)", re.M | re.S)
SOURCES = (".hpp", ".cpp", ".cu", ".cuh", ".py", ".txt", ".cmake")
NOT_OURS = {"zarr.json", "parallel_pipeline",  # Zarr's file, oneTBB's function
            "entries.hpp", "histogram-lanes.cu"}  # of old commits that a page describes
SAFE = re.compile(r"^\| (\d+)([us])(\d+)([usf]) \| (\d+) \|$", re.M)


def tests_of(tree):
    return {".".join(match) for source in [*tree.glob("tests/*/*.cpp"), *tree.glob("tests/*/*.cu")]
            for match in TEST.findall(source.read_text())}


def anchors(text):
    """Anchors of headings, as the pages' host makes them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.M)}


def safe_region(bits, sign, table_bits, table_sign):
    most = (1 << bits) - 1 if sign == "u" else 1 << (bits - 1)  # the largest magnitude of a pixel
    if table_sign == "f":
        return (1 << {32: 24, 64: 53}[table_bits]) // most
    if table_sign == "u":
        return ((1 << table_bits) - 1) // most
    return ((1 << (table_bits - 1)) - (sign == "u")) // most


class Tree(typing.NamedTuple):
    """What pages may name."""

    paths: set  # files and folders, and each without its first folders: sat/request.hpp
    tests: set  # Suite.Name
    public: dict  # the words of each public header, by <areal/...>
    members: dict  # the words in the bodies of the classes, structs and enumerations of each name
    words: set  # of all sources, and the stems of their names


def read_tree(root):
    paths, words = set(), set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", "out", "gpu-bundle") and (name == ".ci" or not name.startswith("."))]
        for name in [*files, *folders]:
            parts = pathlib.Path(folder, name).relative_to(root).parts
            paths.update("/".join(parts[at:]) for at in range(len(parts)))
        for name in files:
            if name.endswith(SOURCES) or name == "run":
                words.update(re.findall(r"\w+", pathlib.Path(folder, name).read_text()), [name.split(".")[0]])
    public, members = {}, {}
    for header in [*root.glob("include/areal/**/*.hpp"), *root.glob("src/**/*.hpp")]:
        text = header.read_text()
        if header.is_relative_to(root / "include"):
            public[str(header.relative_to(root / "include"))] = set(re.findall(r"\w+", text))
        for name, body in TYPE.findall(text):
            members.setdefault(name, set()).update(re.findall(r"\w+", body))
    return Tree(paths, tests_of(root), public, members, words)


def dead_names(text, tree):
    """Paths and names that the text quotes and the tree lacks."""
    for quoted in QUOTED.findall(text):
        if quoted in NOT_OURS:
            continue
        if PATH.fullmatch(quoted):
            if not PLACEHOLDER.search(quoted) and quoted.strip("./") not in tree.paths:
                yield f"names {quoted}, which is not there"
        elif CALL.fullmatch(quoted) and quoted.rstrip("()") not in tree.words:
            yield f"names {quoted}, which no source has"
        for owner, member in MEMBER.findall(quoted):
            if member not in tree.members.get(owner, tree.words) or owner not in tree.words:
                yield f"names {owner}::{member}, which is not there"
    for name, header in IN_HEADER.findall(text):
        if name not in tree.public.get(header, ()):
            yield f"names {name} in <{header}>, which has none"


def slips(path, text, tree, read):
    """`read` gives a file's text by its path from the page, or None."""
    code = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in LINK.findall(code):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = read(name) if name else text
        if there is None:
            yield f"{path}: links to {target}, which is not there"
        elif anchor and anchor not in anchors(there):
            yield f"{path}: links to {target}, which has no such heading"
    for name in NAMED.findall(code):
        if name not in tree.tests:
            yield f"{path}: names {name}, which is no test"
    for dead in dead_names(code, tree):
        yield f"{path}: {dead}"
    public = set().union(*tree.public.values())
    for name in API.findall(code):
        if name not in public:
            yield f"{path}: names areal::{name}, which no public header has"
    for bits, sign, table_bits, table_sign, pixels in SAFE.findall(code):
        right = safe_region(int(bits), sign, int(table_bits), table_sign)
        if int(pixels) != right:
            yield f"{path}: the largest safe region of {bits}{sign}{table_bits}{table_sign} is {right} pixels, not {pixels}"


def self_test():
    good = ("# One two\n[a](b.md) [c](#one-two) [d](b.md#there) [e](https://x/y) `Some.Test` areal::sat\n"
            "`src/a.hpp` `a.hpp` `src/` `NAME.hpp` `a_call()` `Sat::border` `sat` in `<areal/sat.hpp>`\n| 8u32u | 16843009 |\n| 8s32s | 16777216 |\n")
    tree = Tree({"src", "src/a.hpp", "a.hpp"}, {"Some.Test"}, {"areal/sat.hpp": {"sat"}}, {"Sat": {"border"}}, {"a_call", "Sat", "Other"})
    read = {"b.md": "## There\n"}.get
    assert not list(slips("good", good, tree, read))
    for bad in ("[a](c.md)", "[a](#three)", "[a](b.md#here)", "`No.Test`", "areal::sit", "| 8u32u | 16843010 |", "`src/b.hpp`", "`lib/`",
                "`no_call`", "`Sat::bolder`", "`Sot::border`", "`sit` in `<areal/sat.hpp>`"):
        assert len(list(slips("bad", bad + "\n", tree, read))) == 1, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    root = parser.parse_args().tree
    self_test()
    tree = read_tree(root)
    assert len(tree.tests) > 100, f"only {len(tree.tests)} tests found"
    assert len(tree.members) > 50, f"only {len(tree.members)} public types found"
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("data/*.md"), *root.glob("tests/**/*.md"), *root.glob("src/**/*.md"), *root.glob("bench/**/*.md"), *root.glob("python/*.md")]
    found = []
    for page in pages:

        def read(name, page=page):
            path = page.parent / name
            return (path.read_text() if path.suffix == ".md" else "") if path.exists() else None

        found += slips(page.relative_to(root), page.read_text(), tree, read)
    print("\n".join(found) or f"{len(pages)} pages: what they name is there")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
