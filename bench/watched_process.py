"""Runs a command, and watches its time and memory."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import time
from typing import Any


def memory_of(pid: int) -> tuple[int, int]:
    """The most resident bytes so far of a process and its children, and those that now are no file's."""
    whole = own = 0
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM"):
                    whole = 1024 * int(line.split()[1])
                elif line.startswith("RssAnon"):
                    own = 1024 * int(line.split()[1])
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            found = [memory_of(int(child)) for child in children.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return whole, own
    return whole + sum(size for size, _ in found), own + sum(size for _, size in found)


def cpu_seconds() -> float:
    """Of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def watched(command: list[str], out: pathlib.Path, limit: float, most: int) -> dict[str, Any]:
    """From start to end, standard output into a file; stopped after `limit` seconds, or where it holds more than `most` bytes of its own.

    Memory is looked at every 5 ms. The exit status of a process that is not stopped must be 0.
    """
    os.sync()  # what was written before is not this process's to wait for
    begin, busy = time.perf_counter(), cpu_seconds()
    peak = own = 0
    outcome = ""
    with out.open("wb") as stdout:
        process = subprocess.Popen(command, stdout=stdout)
        while True:
            whole, private = memory_of(process.pid)
            peak, own = max(peak, whole), max(own, private)
            ended = process.poll() is not None
            seconds = time.perf_counter() - begin
            if ended:
                break
            if not outcome and (seconds > limit or own > most):
                outcome = f"stopped after {limit:.0f} s" if seconds > limit else f"stopped at {most >> 30} GiB"
                process.kill()
            time.sleep(0.005)
    if not outcome and process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return {"seconds": seconds, "cpu": cpu_seconds() - busy, "peak": peak, "own": own, "outcome": outcome or "complete"}
