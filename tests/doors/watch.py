"""Tells a process that hangs from one that waits for a busy machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
LIMIT = 120.0  # seconds


def work(pid: int) -> tuple[int, bool]:
    """The clock ticks that a process and its descendants have computed for, and whether a thread of them can run or waits for a disk."""
    ticks, runs = 0, False
    try:
        ticks += sum(map(int, _stat(Path(f"/proc/{pid}/stat"))[11:13]))  # user and system time
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except (OSError, ValueError):
        return ticks, runs  # it has ended
    for task in tasks:
        try:
            runs |= _stat(task / "stat")[0] in "RD"
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            more, child_runs = work(int(child))
            ticks, runs = ticks + more, runs or child_runs
    return ticks, runs


def _stat(path: Path) -> list[str]:
    """The fields of a `stat` of /proc behind the name, which may hold spaces: the state is the first."""
    return path.read_text().rpartition(")")[2].split()


class Watch:
    """Watches one process, which hangs once it has slept for `limit` seconds, or computed for as long. A process that could
    run and gets no processor does neither, however long it takes. The first `hangs()` reads where the process stands and measures from
    there: most answers come before it, and then nothing is read, which for a process of many threads takes longer than the answer."""

    def __init__(
        self,
        pid: int,
        limit: float = LIMIT,
        read: Callable[[int], tuple[int, bool]] = work,
        clock: Callable[[], float] = time.monotonic,
        ticks_a_second: int = 100,
    ) -> None:
        self.pid, self.limit, self._read, self._clock, self._ticks = pid, limit, read, clock, limit * ticks_a_second
        self.restart()

    def restart(self) -> None:
        """Begins anew, as the process has answered."""
        self._first: int | None = None

    def hangs(self) -> bool:
        """Whether the process hangs; to be asked every few seconds."""
        ticks, runs = self._read(self.pid)
        if self._first is None:
            self._first, self._last, self._awake = ticks, ticks, self._clock()
        elif runs or ticks != self._last:
            self._last, self._awake = ticks, self._clock()
        return ticks - self._first > self._ticks or self._clock() - self._awake > self.limit

    def said(self) -> str:
        return f"no answer, and it slept for {self.limit:g} s or computed for as long"


class Hangs(Exception):
    """Its text says how."""


def awaited(pid: int, wait: Callable[[float], T]) -> T:
    """What `wait(seconds)` returns, called again while it raises TimeoutExpired. Raises Hangs if the process hangs."""
    watch = Watch(pid)
    while True:
        try:
            return wait(5)
        except subprocess.TimeoutExpired:
            if watch.hangs():
                raise Hangs(watch.said()) from None


__all__ = ["LIMIT", "Hangs", "Watch", "awaited", "work"]
