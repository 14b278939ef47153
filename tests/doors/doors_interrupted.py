"""The door at which somebody interrupts: Ctrl-C at the very moment at which the command has made a file leaves no part of it.

The command runs under ptrace up to the end of the system call that makes a file, gets SIGINT there, and goes on. So the moment does not
depend on the clock. Linux on x86-64; elsewhere, and where tracing is not allowed, there is no such door.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from answers import Answer, Broken
from door import Door
from doors_command import WRITE_IMAGES, WRITE_TABLES
from questions import Question
from room import Room
from watch import Hangs, awaited

GETREGS, ATTACH, DETACH, SYSCALL = 12, 16, 17, 24
OPEN, OPENAT, CREAT = 2, 257, 85
RAX, RDX, RSI, ORIG_RAX = 10, 12, 13, 15  # places in struct user_regs_struct


@functools.cache
def _ptrace() -> Any:
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    call.restype = ctypes.c_long
    return call


def _makes_file(registers: ctypes.Array[ctypes.c_ulonglong]) -> bool:
    """Whether a system call that has ended has opened a file that it may have made."""
    call, result = registers[ORIG_RAX], ctypes.c_longlong(registers[RAX]).value
    flags = registers[RDX] if call == OPENAT else registers[RSI] if call == OPEN else os.O_CREAT if call == CREAT else 0
    return result >= 0 and bool(flags & os.O_CREAT)


def interrupted(line: list[str], which: int, later: int = 0) -> int | None:
    """Runs a command and interrupts it as it has made that file, or so many system calls later; its exit code, None where it ends before."""
    ptrace = _ptrace()
    # A shell that waits until it is traced: this process has threads, so that nothing may run between fork and exec.
    shell = ["/bin/sh", "-c", 'read go; exec "$@"', "sh", *line]
    process = subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid, made = process.pid, 0
    registers = (ctypes.c_ulonglong * 27)()
    if ptrace(ATTACH, pid, None, None):
        process.kill()
        process.communicate()
        raise OSError("this process may not trace its child")
    _, status = os.waitpid(pid, 0)  # the stop that attaching makes
    assert process.stdin
    with process.stdin as go:
        go.write(b"\n")
    while os.WIFSTOPPED(status):
        stopped = os.WSTOPSIG(status)
        stopped = 0 if stopped in (signal.SIGTRAP, signal.SIGSTOP) else stopped
        if not stopped:
            ptrace(GETREGS, pid, None, ctypes.byref(registers))
            made += _makes_file(registers)  # at the beginning of a call the result is an error
            if made > which:
                later -= 1
                if later < 0:
                    os.kill(pid, signal.SIGINT)
                    time.sleep(0.02)  # for a thread that takes signals
                    ptrace(DETACH, pid, None, None)
                    return _end(process)
        ptrace(SYSCALL, pid, None, ctypes.c_void_p(stopped))
        _, status = os.waitpid(pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None


def _end(process: subprocess.Popen[bytes]) -> int:
    try:
        return awaited(process.pid, process.wait)
    except Hangs as hangs:
        process.kill()
        process.wait()
        raise Broken("hangs", f"after an interrupt: {hangs}") from None


def at_a_file(room: Room, question: Question) -> Answer:
    """A verb with -o, interrupted as it makes a file: what is left is complete."""
    folder = room.scratch / "interrupted"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    verbs = (["sat", "--squares"], *WRITE_TABLES[1:]) if question.family == "table" else WRITE_IMAGES
    verb = verbs[question.params.get("form", 0) // 3 % len(verbs)]
    line = [str(room.command), "--threads", "1", *verb, str(room.image()), "-o", str(folder / "o.npy")]
    room.runs += 1
    which, later = question.params.get("form", 0) % 3, (0, 0, 1, 5, 16, 64)[question.params.get("strip_rows", 0) % 6]
    room.lines.append(" ".join(line) + f"  # SIGINT as it has made file {which + 1}, and {later} stops later")
    code = interrupted(line, which, later)
    left = sorted(path.name for path in folder.iterdir())
    for name in left:
        if not _complete(folder / name):
            raise Broken("an interrupt leaves a part of a file", f"{', '.join(left)} (exit code {code})")
    return Answer({})


def _complete(path: Path) -> bool:
    if path.suffix == ".json":
        return path.name in ("o.json", "o.squares.json") and path.read_text().rstrip().endswith("}")
    try:
        np.load(path)
    except (OSError, ValueError, EOFError):
        return False
    return path.name in ("o.npy", "o.squares.npy")


@functools.cache
def can_trace() -> bool:
    """Whether this machine lets a process trace its child."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return False
    try:
        return interrupted(["/bin/true"], 0) is None
    except (OSError, ChildProcessError):
        return False


def doors() -> tuple[Door, ...]:
    """The door, where tracing is allowed."""
    if not can_trace():
        return ()
    return (Door("command-interrupted", ("table", "window"), at_a_file, _plain, 0.5, True),)


def _plain(question: Question) -> bool:
    return question.shape[0] == 1 and question.shape[3] == 1 and question.area < 5000 and question.dtype != "bool"
