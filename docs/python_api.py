#!/usr/bin/env python3
"""Writes docs/python-api.md from the docstrings of the Python package.

    docs/python_api.py STUB           writes the page
    docs/python_api.py STUB --check   fails where the page is not what the sources say, after it proved that it can fail

STUB is the compiled module's, build/release/python/areal/_core.pyi. The sources are read, not imported, so that no framework need be
installed. A module's public names are its __all__, or, where it has none, its functions and classes without a leading underscore. Each must
have a docstring.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator

TREE = pathlib.Path(__file__).resolve().parents[1]
HEAD = """# The Python interface

Every public name of the package `areal`, from its docstrings ([`docs/python_api.py`](python_api.py) writes this page).
[The guide](python.md) shows how they go together.
"""
ARGUMENT = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): ")
Definition = ast.FunctionDef | ast.ClassDef
Known = dict[str, tuple[Definition, pathlib.Path]]


lacking: list[str] = []  # public names without a docstring


def parameters(function: ast.FunctionDef, method: bool) -> Iterator[str]:
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)

    def one(argument: ast.arg, default: ast.expr | None, stars: str = "") -> str:
        kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
        return stars + argument.arg + kind + (f"{' = ' if kind else '='}{ast.unparse(default)}" if default else "")

    for number, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        if not (method and number == 0):
            yield one(argument, default)
        if number + 1 == len(a.posonlyargs):
            yield "/"
    if a.vararg:
        yield one(a.vararg, None, "*")
    elif a.kwonlyargs:
        yield "*"
    for argument, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        yield one(argument, default)
    if a.kwarg:
        yield one(a.kwarg, None, "**")


def signature(function: ast.FunctionDef, name: str, method: bool = False) -> str:
    """As one would write a call, without self, broken where the line is long."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    parts = list(parameters(function, method))
    line = f"{name}({', '.join(parts)}){returns}"
    return line if len(line) <= 110 else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def words(node: Definition | ast.Module, name: str) -> str:
    """The docstring as Markdown: what is said of an argument is an item of a list."""
    text = ast.get_docstring(node)
    if not text:
        lacking.append(name)
        return ""
    lines: list[str] = []
    listed = False  # in a list, whose items go on with an indent
    for line in inspect.cleandoc(text).replace("``", "`").split("\n"):
        item = ARGUMENT.sub(r"- `\1`: ", line)
        if item != line and not listed and lines and lines[-1]:
            lines.append("")
        if listed and item == line and line and not line.startswith(("- ", " ")):
            item = f"  {line}"
        listed = item.startswith("- ") or (listed and bool(line))
        lines.append(item)
    return "\n".join(lines)


def decorators(function: ast.FunctionDef) -> set[str]:
    return {ast.unparse(each).split("(")[0] for each in function.decorator_list}


def describe(node: Definition, name: str, compiled: Known) -> str:
    if isinstance(node, ast.FunctionDef):
        return f"### `{name}`\n\n```python\n{signature(node, name)}\n```\n\n{words(node, name)}\n"
    bases = [ast.unparse(base) for base in node.bases]
    public = ", ".join(base for base in bases if not base.startswith("_core."))
    parts = [f"### class `{name}`{f' ({public})' if public else ''}\n\n{words(node, name)}\n"]
    own = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
    inherited = [member for base in bases if base.startswith("_core.") for member in getattr(compiled[base[6:]][0], "body", [])]
    for member in [m for m in inherited if isinstance(m, ast.FunctionDef) and m.name not in own and not m.name.startswith("__")] + node.body:
        if not isinstance(member, ast.FunctionDef) or decorators(member) & {"overload", "typing.overload"} or any(d.endswith(".setter") for d in decorators(member)):
            continue
        called = member.name in ("__init__", "__call__")
        if member.name.startswith("_") and not (called and ast.get_docstring(member)):
            continue
        label = name.rpartition(".")[2]
        label = label if member.name == "__init__" else label.lower() if called else f".{member.name}"
        if decorators(member) & {"property", "cached_property", "functools.cached_property"}:
            kind = f": {ast.unparse(member.returns)}" if member.returns else ""
            parts.append(f"**`{label}{kind}`**  \n{words(member, f'{name}.{member.name}')}\n")
        else:
            parts.append(f"```python\n{signature(member, label, 'staticmethod' not in decorators(member))}\n```\n\n{words(member, f'{name}.{member.name}')}\n")
    return "\n".join(parts)


def definitions(source: pathlib.Path, compiled: Known) -> Known:
    """What a module defines or takes from its neighbours, by name."""
    found: Known = {}
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            neighbour = source.parent / (node.module.replace(".", "/") + ".py")
            there = compiled if node.module == "_core" else definitions(neighbour, compiled) if neighbour.is_file() else {}
            found.update({alias.asname or alias.name: there[alias.name] for alias in node.names if alias.name in there})
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and "overload" not in {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}:
            found[node.name] = (node, source)
    return found


def public_names(source: pathlib.Path) -> list[str]:
    body = ast.parse(source.read_text()).body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")]


def constants(source: pathlib.Path) -> set[str]:
    body = [node for node in ast.parse(source.read_text()).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [target for node in body for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return {word for target in targets for word in re.findall(r"\w+", ast.unparse(target))}


def kind_of(found: tuple[Definition, pathlib.Path] | None) -> int:
    """Functions come first, exceptions last."""
    if found is None or isinstance(found[0], ast.FunctionDef):
        return 0
    return 2 if any(ast.unparse(base).endswith(("Error", "Exception")) for base in found[0].bases) else 1


def page(package: pathlib.Path, stub: pathlib.Path) -> str:
    """The page of a package's folder: the package itself, then its public modules."""
    parts, compiled = [HEAD], definitions(stub, {})
    for source in sorted(package.glob("*.py"), key=lambda path: (path.stem != "__init__", path.stem)):
        if source.stem.startswith("_") and source.stem != "__init__":
            continue
        module = "areal" if source.stem == "__init__" else f"areal.{source.stem}"
        parts.append(f"## {module}\n\n{words(ast.parse(source.read_text()), module)}\n")
        known = definitions(source, compiled)
        for name in sorted(public_names(source), key=lambda name: kind_of(known.get(name))):
            if name in known:
                parts.append(describe(known[name][0], f"{module}.{name}", compiled))
            elif name not in constants(source) and not name.startswith("__"):
                lacking.append(f"{module}.{name}")
    return "\n".join(parts)


def prove() -> None:
    """A changed signature or docstring changes the page, and a public name without words is refused."""
    with tempfile.TemporaryDirectory() as name:
        package = pathlib.Path(name)
        (package / "_part.py").write_text('def one(a: int, *, b: str = "") -> int:\n    """Does.\n\n    a: of what\n    """\n')
        (package / "__init__.py").write_text('"""All."""\nfrom ._part import one\n__all__ = ["one"]\n')
        stub = package / "_core.pyi"
        stub.write_text("def part() -> int: ...\n")
        good = page(package, stub)
        assert "areal.one(a: int, *, b: str = '') -> int" in good and "\n- `a`: of what" in good, good
        (package / "_part.py").write_text('def one(a: int, *, b: str = "", c: int = 0) -> int:\n    """Does."""\n')
        assert page(package, stub) != good
        (package / "_part.py").write_text("def one() -> int:\n    return 1\n")
        page(package, stub)
        assert lacking == ["areal.one"], lacking
        lacking.clear()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stub", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    prove()
    path = TREE / "docs/python-api.md"
    text = page(TREE / "python/areal", asked.stub)
    if lacking:
        sys.exit(f"no docstring: {', '.join(lacking)}")
    if not asked.check:
        path.write_text(text)
    elif not path.is_file() or path.read_text() != text:
        sys.exit(f"docs/python-api.md is not what the docstrings say: run docs/python_api.py {asked.stub}")
    else:
        print(f"docs/python-api.md: {text.count('### ')} names, as the docstrings have them")


if __name__ == "__main__":
    main()
