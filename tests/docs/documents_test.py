#!/usr/bin/env python3
"""Checks references in the documents: the files that they link to, the tests and the public names that they mention, and the
sizes of safe regions, from the types alone. It first proves, on planted texts, that it finds each kind of error."""

import argparse
import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
API = re.compile(r"\bareal::(\w+)")
TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)
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


def slips(path, text, tests, words, read):
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
        if name not in tests:
            yield f"{path}: names {name}, which is no test"
    for name in API.findall(code):
        if name not in words:
            yield f"{path}: names areal::{name}, which no public header has"
    for bits, sign, table_bits, table_sign, pixels in SAFE.findall(code):
        right = safe_region(int(bits), sign, int(table_bits), table_sign)
        if int(pixels) != right:
            yield f"{path}: the largest safe region of {bits}{sign}{table_bits}{table_sign} is {right} pixels, not {pixels}"


def self_test():
    good = "# One two\n[a](b.md) [c](#one-two) [d](b.md#there) [e](https://x/y) `Some.Test` areal::sat\n| 8u32u | 16843009 |\n| 8s32s | 16777216 |\n"
    read = {"b.md": "## There\n"}.get
    assert not list(slips("good", good, {"Some.Test"}, {"sat"}, read))
    for bad in ("[a](c.md)", "[a](#three)", "[a](b.md#here)", "`No.Test`", "areal::sit", "| 8u32u | 16843010 |"):
        assert len(list(slips("bad", bad + "\n", {"Some.Test"}, {"sat"}, read))) == 1, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    tree = parser.parse_args().tree
    self_test()
    tests = tests_of(tree)
    words = {word for header in tree.glob("include/areal/**/*.hpp") for word in re.findall(r"\w+", header.read_text())}
    assert len(tests) > 100, f"only {len(tests)} tests found"
    pages = [*tree.glob("*.md"), *tree.glob("docs/**/*.md"), *tree.glob("data/*.md")]
    found = []
    for page in pages:

        def read(name, page=page):
            path = page.parent / name
            return (path.read_text() if path.suffix == ".md" else "") if path.exists() else None

        found += slips(page.relative_to(tree), page.read_text(), tests, words, read)
    print("\n".join(found) or f"{len(pages)} pages: what they point at is there")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
