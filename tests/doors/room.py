"""Where doors work: a scratch folder, the built programs, and the files of the question that is being asked."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from answers import Broken, Refused
from oracle import Oracle
from questions import Question, mask_of, pixels, weights_of
from watch import Hangs, awaited


@dataclasses.dataclass
class Said:
    """What a run of a command printed."""

    out: str
    err: str
    code: int


class Room:
    """The place of one process. `build` is the build folder, `scratch` a folder of its own."""

    def __init__(self, build: Path, scratch: Path) -> None:
        self.build, self.scratch = build, scratch
        self.command = build / "apps/areal/areal"
        self.mpi = build / "apps/areal-mpi/areal-mpi"
        self.runs = 0
        self.lines: list[str] = []  # the command lines of the call that is under way
        self.question = Question()
        self.oracle = Oracle(self.question)
        self.written: set[Path] = set()  # inputs of this question
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "in").mkdir(parents=True)

    def begin(self, question: Question) -> None:
        """Another question: files of the one before are stale."""
        self.written.clear()
        self.question, self.oracle = question, Oracle(question)

    def begin_door(self) -> None:
        """The next door of the same question."""
        self.lines = []

    # ---------------------------------------------------------------- files

    def path(self, name: str) -> Path:
        """A path for an output, which is not there."""
        path = self.scratch / name
        for old in self.scratch.glob(f"{path.stem}.*"):  # its companions, too
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        return path

    def array(self, name: str, values: np.ndarray) -> Path:
        """An input as .npy, written once a question."""
        return self._input(f"{name}.npy", lambda path: np.save(path, values))

    def _input(self, name: str, write: Callable[[Path], object]) -> Path:
        path = self.scratch / "in" / name
        if path not in self.written:
            path.unlink(missing_ok=True)
            write(path)
            self.written.add(path)
        return path

    def image(self) -> Path:
        """The image as a user has it: without the dimensions of one image and of one channel."""
        values = pixels(self.question)
        return self.array("image", squeezed(values))

    def numbers(self, name: str, values: list[int]) -> Path:
        """Numbers as text, one a line."""
        return self._input(f"{name}.txt", lambda path: path.write_text("".join(f"{value}\n" for value in values)))

    def text(self, name: str, text: str) -> Path:
        """An input as text."""
        return self._input(name, lambda path: path.write_text(text))

    def raw(self) -> Path:
        """The image as bare pixels."""
        return self._input("image.raw", lambda path: path.write_bytes(pixels(self.question).tobytes()))

    def mask(self) -> Path | None:
        mask = mask_of(self.question)
        return None if mask is None else self.array("mask", mask)

    def weights(self) -> Path | None:
        weights = weights_of(self.question)
        return None if weights is None else self.array("weights", weights)

    def picture(self, values: np.ndarray, name: str = "image.png") -> Path:
        """A PNG of 8 or 16 bits with 1 to 4 channels, (height, width, channels)."""
        return self._input(name, lambda path: path.write_bytes(png(values)))

    # ---------------------------------------------------------------- runs

    def areal(self, *arguments: object, stdin: Path | None = None, outputs: tuple[Path, ...] = ()) -> Said:
        """Runs the command. What it refuses raises Refused, having checked that nothing was written."""
        return self.run([str(self.command), *map(str, arguments)], stdin, outputs, "areal")

    def run(self, line: list[str], stdin: Path | None, outputs: tuple[Path, ...], name: str) -> Said:
        self.runs += 1
        self.lines.append(shlex.join(line) + (f" < {stdin}" if stdin else ""))
        before = self._files()
        with open(stdin or os.devnull, "rb") as source:
            process = subprocess.Popen(line, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = awaited(process.pid, lambda seconds: process.communicate(timeout=seconds))
        except Hangs as hangs:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Broken("hangs", str(hangs)) from None
        said = Said(out.decode(errors="replace"), err.decode(errors="replace"), process.returncode)
        if said.code < 0 or said.code > 2:
            raise Broken(
                "crash",
                f"ended by signal {signal.Signals(-said.code).name}" if said.code < 0 else f"exit code {said.code}: {said.err[:300]}",
            )
        if said.code:
            self._check_refusal(said, outputs, name, before)
            raise Refused(_sentence(said.err, name))
        return said

    def _files(self) -> dict[Path, int]:
        """All files but inputs, with their times."""
        return {path: path.stat().st_mtime_ns for path in self.scratch.rglob("*") if path.is_file() and path.parent.name != "in"}

    def _check_refusal(self, said: Said, outputs: tuple[Path, ...], name: str, before: dict[Path, int]) -> None:
        """A refusal is one sentence, and nothing is written then, but for the answers of the images of a batch before the refused one."""
        lines = [line for line in said.err.splitlines() if line.strip() and not _told(line, name)]
        if self.question.shape[0] > 1:  # the images before have told their part
            lines = lines[-1:]
        if len(lines) != 1 or not lines[0].startswith(f"{name}: "):
            raise Broken("a refusal that is not one sentence", repr(said.err[:400]))
        if said.out.strip() and self.question.shape[0] == 1:  # of several images those before it have been answered
            raise Broken("a refusal after answers", repr(said.out[:200]))
        left = [path.name for path in outputs if path.exists()]
        if left:
            raise Broken("a refusal that leaves files", f"{', '.join(left)}; {lines[0]}")
        if self.question.shape[0] == 1 and (after := self._files()) != before:
            raise Broken("a refusal that changes files", f"{', '.join(sorted(path.name for path, _ in set(before.items()) ^ set(after.items())))}; {lines[0]}")


def _told(line: str, name: str) -> bool:
    """Whether a line is a note, or what -v tells."""
    return (
        line.startswith((f"{name}: note", f"{name}: warning", f"{name}: wrote")) or re.search(r"backend \w+, algorithm", line) is not None
    )


def _sentence(err: str, name: str) -> str:
    lines = [line for line in err.splitlines() if line.startswith(f"{name}: ") and not _told(line, name)]
    return re.sub(rf"^{name}: ", "", lines[-1]) if lines else err.strip()


def squeezed(values: np.ndarray) -> np.ndarray:
    """(batch, height, width, channels) as the command reads arrays: (H, W), (H, W, C) or (N, H, W, C)."""
    if values.shape[0] > 1:
        return values
    return values[0, :, :, 0] if values.shape[3] == 1 else values[0]


def png(values: np.ndarray) -> bytes:
    """A PNG of (height, width, channels) in uint8 or uint16; a writer of our own, so that none of areal's or of its libraries is in the test."""
    height, width, channels = values.shape
    rows = values.astype(values.dtype.newbyteorder(">")).tobytes()
    stride = len(rows) // height
    lines = b"".join(b"\0" + rows[y * stride : (y + 1) * stride] for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8 * values.dtype.itemsize, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")
