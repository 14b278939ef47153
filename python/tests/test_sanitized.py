"""That AddressSanitizer looks at what the bindings and the library read, where the other tests count on it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

OVERRUN = """
import areal
import numpy as np
x = np.lib.stride_tricks.as_strided(np.zeros(512, np.uint8), ({rows}, 64), (64, 1))
areal.sat(x)
"""


@pytest.mark.sanitize
@pytest.mark.skipif("asan" not in os.environ.get("LD_PRELOAD", ""), reason="this build is not under AddressSanitizer")
@pytest.mark.parametrize("rows, found", [(8, False), (9, True)])
def test_a_read_beyond_an_array_is_found(rows: int, found: bool) -> None:
    run = subprocess.run([sys.executable, "-c", OVERRUN.format(rows=rows)], capture_output=True, text=True, check=False)
    assert ("heap-buffer-overflow" in run.stderr) == found, run.stderr
    assert (run.returncode != 0) == found
