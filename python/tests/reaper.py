"""Ends the processes whose environment or arguments name a folder, once standard input closes, which it also does when the test that holds it
is killed. Prints those that did not end in order."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import sys
import time

PATIENCE = 20  # seconds to end in order


def processes_of(folder: str | os.PathLike[str]) -> dict[int, str]:
    """The commands of all other processes whose arguments or environment name the folder, by number."""
    found, name = {}, os.fsencode(folder)
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            command = (process / "cmdline").read_bytes()
            if int(process.name) != os.getpid() and (name in command or name in (process / "environ").read_bytes()):
                found[int(process.name)] = command.replace(b"\0", b" ").decode(errors="replace")[:200]
    return found


def main() -> None:
    sys.stdin.read()
    deadline = time.monotonic() + PATIENCE
    while (left := processes_of(sys.argv[1])) and time.monotonic() < deadline:
        time.sleep(0.05)
    for number in left:
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGKILL)
    with contextlib.suppress(BrokenPipeError):  # the test was killed
        print(*left.values(), sep="\n", end="", flush=True)


if __name__ == "__main__":
    main()
