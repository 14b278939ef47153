"""Faults that can be planted in a C++ source: where, and what they change. A source is read as tokens; clang-format's spaces tell binary
operators from templates' brackets, pointers and signs."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/)|(?P<directive>\#(?:[^\n\\]|\\.)*)
    |(?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'))
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)|(?P<word>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|<=>|\.\.\.|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.S | re.X,
)
SWAPPED_SIGNS = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {
        "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&", "&&": "||", "||": "&&",
        "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "/=", "<<=": ">>=", ">>=": "<<=", "&=": "|=", "|=": "&=", "^=": "&=",
    },
}  # fmt: skip
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}
WAITS = re.compile(r"(?:^|_)(?:a?wait|sync|synchroni[sz]e|fence|barrier|notify|arrive|commit|meet)(?:_|$)")
LOCKS = {"lock_guard", "scoped_lock", "unique_lock", "shared_lock"}
KEYWORDS = set("return using static_assert break continue case default else goto template typedef do switch throw namespace co_await co_return "
               "co_yield delete new const constexpr static auto public private protected friend struct class enum".split())  # fmt: skip
BEFORE_BODIES = {")", "]", "else", "do", "try", "const", "noexcept", "override", "mutable"}
# Code that the build does not compile: a device's, or a sanitizer's.
LEFT_OUT = re.compile(r"#\s*(?:ifdef\s+|if\s+defined\()(?:__CUDA|__SANITIZE|AREAL_TSAN|AREAL_ASAN)")
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int
    spaced: bool  # white space on both sides: clang-format puts it around binary operators and not around templates' brackets

    @property
    def end(self) -> int:
        return self.at + len(self.text)


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    kind: str
    at: int
    old: str
    new: str
    line: int
    column: int
    change: str  # with a token of context on each side
    code: str  # the line

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.change}"


def tokens_of(text: str) -> list[Token]:
    """What may be changed: no comments, white space, directives, code that is left out, and static_assert, which only compiles."""
    found: list[Token] = []
    conditions: list[bool] = []
    for match in TOKEN.finditer(text):
        kind, said, end = match.lastgroup or "", match[0], match.end()
        if kind == "directive":
            if re.match(r"#\s*if", said):
                conditions.append(bool(LEFT_OUT.match(said)) and "||" not in said)
            elif re.match(r"#\s*el", said) and conditions:
                conditions[-1] = False
            elif re.match(r"#\s*endif", said) and conditions:
                conditions.pop()
        elif kind not in ("space", "comment") and not any(conditions):
            found.append(Token(kind, said, match.start(), text[match.start() - 1 : match.start()].isspace() and text[end : end + 1].isspace()))
    kept, n = [], 0
    while n < len(found):
        if found[n].text == "static_assert":
            n = closing(found, n + 1)
        else:
            kept.append(found[n])
        n += 1
    return kept


def closing(tokens: list[Token], n: int) -> int:
    """Where the bracket that tokens[n] opens is closed."""
    depth = 0
    for i in range(n, len(tokens)):
        depth += (tokens[i].text in OPENING) - (tokens[i].text in CLOSING)
        if depth == 0:
            return i
    return len(tokens) - 1


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Every fault that can be planted in a file."""
    tokens, lines, found = tokens_of(text), [0, *(match.end() for match in re.finditer("\n", text))], []

    def add(kind: str, at: int, end: int, new: str, context: tuple[int, int]) -> None:
        line = bisect.bisect(lines, at)
        code = text[lines[line - 1] :].split("\n", 1)[0].strip()
        begin, stop = tokens[max(context[0], 0)].at, tokens[min(context[1], len(tokens) - 1)].end
        before, after = (" ".join(part.split()) for part in (text[begin:stop], text[begin:at] + new + text[end:stop]))
        found.append(Mutant(file, kind, at, text[at:end], new, line, at - lines[line - 1] + 1, f"{before}  ->  {after or 'nothing'}", code))

    def said(n: int) -> str:
        return tokens[n].text if 0 <= n < len(tokens) else ""

    for n, token in enumerate(tokens):
        for kind, swapped in SWAPPED_SIGNS.items():
            if token.kind == "sign" and token.spaced and token.text in swapped and said(n - 1) != "operator":
                add(kind, token.at, token.end, swapped[token.text], (n - 1, n + 1))
        number = re.fullmatch(r"(0|[1-9]\d?)([uUlLzZ]*)", token.text)
        if number and int(number[1]) <= 64 and not (said(n - 1) == "=" and said(n - 2) in (")", "const", "noexcept", "override")):
            for value in (int(number[1]) + 1, int(number[1]) - 1):
                if value >= 0:
                    add("constant", token.at, token.end, f"{value}{number[2]}", (n - 1, n + 1))
        if token.text in ("true", "false"):
            add("constant", token.at, token.end, "false" if token.text == "true" else "true", (n - 1, n + 1))
        if token.text in ("min", "max") and said(n - 1) not in (".", "->") and said(n + 1) in ("(", "<") and said(n + 2) != ")":
            add("extreme", token.at, token.end, "max" if token.text == "min" else "min", (n - 1, n + 2))
        if token.text in ("if", "while"):
            begin = n + 1 + (said(n + 1) == "constexpr")
            if said(begin) == "(":
                end = closing(tokens, begin)
                first = 1 + max([begin, *(i for i in range(begin, end) if said(i) == ";")])
                condition = text[tokens[first].at : tokens[end].at]
                add("condition", tokens[first].at, tokens[end].at, f"!({condition})", (n, end))
    before: tuple[int, int, int] | None = None
    for block, begin, end in statements(tokens):
        start, what, name = simple(tokens, begin, end)
        if what == "call" and any(WAITS.search(word) for word in callee(tokens, start, end)) or what == "lock":
            add("wait dropped", tokens[start].at, tokens[end].end, "{}", (start, end))
        if what == "call" and name.startswith("require"):
            add("check dropped", tokens[start].at, tokens[end].end, "{}", (start, end))
        if before and before[0] == block and before[2] + 1 == begin and ordered(tokens, before[1:], (begin, end)):
            one, gap, two = (text[a:b] for a, b in itertools.pairwise([tokens[before[1]].at, tokens[before[2]].end, tokens[begin].at, tokens[end].end]))
            add("order", tokens[before[1]].at, tokens[end].end, two + gap + one, (before[1], end))
        before = (block, begin, end)
    return found


def statements(tokens: list[Token]) -> Iterator[tuple[int, int, int]]:
    """The statements of functions' bodies that end in a semicolon and hold no block: their block, first token and semicolon."""
    frames: list[list[int]] = [[0, 0, 0, -1]]  # brace, body, start of the statement, where the block opens
    for n, token in enumerate(tokens):
        if token.text in OPENING:
            body = token.text == "{" and (bool(frames[-1][1]) or n > 0 and tokens[n - 1].text in BEFORE_BODIES)
            frames.append([token.text == "{", body, n + 1, n])
        elif token.text in CLOSING and len(frames) > 1:
            frames.pop()
            if token.text == "}" and frames[-1][0]:
                frames[-1][2] = n + 1
        elif token.text == ";" and frames[-1][0]:
            if frames[-1][1] and frames[-1][2] < n:
                yield frames[-1][3], frames[-1][2], n
            frames[-1][2] = n + 1


def simple(tokens: list[Token], begin: int, end: int) -> tuple[int, str, str]:
    """The statement without conditions and loops before it: its first token, whether it is an assignment, a call, a lock or something
    else (''), and what it changes: the target of an assignment, a call's object or function."""
    while tokens[begin].text in ("if", "for", "while", "else"):
        begin += 1 + (tokens[begin + 1].text == "constexpr")
        if tokens[begin].text == "(":
            begin = closing(tokens, begin) + 1
    n = begin + (tokens[begin].text in ("*", "++", "--"))
    if tokens[n].kind != "word" or tokens[n].text in KEYWORDS:
        return begin, "", ""
    name = tokens[n].text
    if any(token.text in LOCKS for token in tokens[n : n + 3]):
        return begin, "lock", name
    while n < end:
        n += 1
        if tokens[n].text == "[":
            n = closing(tokens, n)
        elif tokens[n].text in ("::", ".", "->"):
            n += 1 + (tokens[n + 1].text == "template")
        elif tokens[n].text == "<" and not tokens[n].spaced:
            n = next((i for i in range(n, end) if tokens[i].text == ">"), end)
        else:
            break
    if tokens[n].text in ASSIGNMENTS:
        return begin, "assignment", " ".join(token.text for token in tokens[begin:n])
    return begin, "call" if tokens[n].text == "(" else "", name


def callee(tokens: list[Token], begin: int, end: int) -> list[str]:
    return [token.text for token in itertools.takewhile(lambda token: token.text != "(", tokens[begin:end]) if token.kind == "word"]


def ordered(tokens: list[Token], one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether the order of two statements may matter: one waits, or names what the other changes."""
    words = [f" {' '.join(token.text for token in tokens[begin:end])} " for begin, end in (one, two)]
    kinds = [simple(tokens, *at) for at in (one, two)]
    if any(start != begin or what not in ("call", "assignment") for (start, what, _), (begin, _) in zip(kinds, (one, two))):
        return False
    if words[0] == words[1]:
        return False
    if any(what == "call" and any(WAITS.search(word) for word in callee(tokens, *at)) for (_, what, _), at in zip(kinds, (one, two))):
        return True
    signs = [tokens[begin + 1 + target.count(" ")].text for begin, _, target in kinds]
    if kinds[0] == (one[0], *kinds[1][1:]) and kinds[0][1] == "assignment" and signs[0] == signs[1] != "=":
        return False  # x += a; x += b;
    changed = [target for (_, what, target), sign in zip(kinds, signs) if what == "assignment" or sign in (".", "->")]
    return any(target not in ("m", "std") and all(f" {target} " in said for said in words) for target in changed)


def drawn(found: dict[str, list[Mutant]], lines: dict[str, int], seed: int) -> Iterator[Mutant]:
    """Faults without end or until none is left: a folder by its lines, then a kind, then a place."""
    chance = random.Random(seed)
    folders: dict[str, dict[str, list[Mutant]]] = {}
    weights: collections.Counter[str] = collections.Counter()
    for file in sorted(found):
        folder = str(Path(*Path(file).parts[:3])) if len(Path(file).parts) > 3 else str(Path(file).parent)
        weights[folder] += lines[file]
        for mutant in found[file]:
            folders.setdefault(folder, {}).setdefault(mutant.kind, []).append(mutant)
    while folders:
        folder = chance.choices(list(folders), [weights[name] for name in folders])[0]
        kind = chance.choice(sorted(folders[folder]))
        of_kind = folders[folder][kind]
        yield of_kind.pop(chance.randrange(len(of_kind)))
        if not of_kind:
            del folders[folder][kind]
        if not folders[folder]:
            del folders[folder]
