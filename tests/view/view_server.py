"""Starts `areal view`, and compares its answers with NumPy's."""

import json
import math
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np

SKIPPED = 77
PERCENTS = (1, 50, 99)


def command_of(build):
    command = pathlib.Path(build) / "apps" / "areal" / "areal"
    help_text = subprocess.run([command, "view", "--help"], capture_output=True, text=True, timeout=60, check=False).stdout
    if "--port" not in help_text:
        print("skipped: this build has no `areal view`")
        sys.exit(SKIPPED)
    return command


class Server:
    """With `with`: it ends at the end of the block."""

    def __init__(self, command, *arguments, folder=None, environment=None, json_line=False):
        self.process = subprocess.Popen([pathlib.Path(command).resolve(), "view", *map(str, arguments)], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.communicate()[1].strip())
        if json_line:
            self.url = json.loads(self.url)["url"]
        self.host, self.token = self.url.removeprefix("http://").rstrip("/").split("/")
        self.port = int(self.host.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGTERM):
        """Returns the seconds that it took, and the exit status."""
        start = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return time.monotonic() - start, status

    def get(self, path=""):
        with urllib.request.urlopen(self.url + path, timeout=300) as answer:
            return answer.read()

    def picture(self):
        return json.loads(self.get("picture.json"))


def expected_of_counts(part, bins, value_range):
    """Of integers of up to 16 bits, by how often each value comes up: many times faster."""
    low = int(part.min())
    counts = np.bincount(part.astype(np.int32) - low)
    values = np.arange(low, low + counts.size)
    counted, _ = np.histogram(values, bins=bins, range=value_range, weights=counts)
    pixels, total, squares = part.size, int((counts * values).sum()), int((counts * values * values).sum())
    return {"pixels": pixels, "nan": 0, "histogram": counted.astype(np.int64).tolist(), "under": int(counts[values < value_range[0]].sum()), "over": int(counts[values > value_range[1]].sum()),
            "sum": total, "min": low, "max": low + counts.size - 1, "mean": total / pixels, "std": math.sqrt(pixels * squares - total * total) / pixels}


def expected(pixels, box, bins, value_range):
    """What NumPy says about a region, in the names of an answer."""
    x, y, width, height = box
    part = pixels[y:y + height, x:x + width].reshape(-1)
    if part.size and part.dtype.kind in "ui" and part.dtype.itemsize <= 2:
        return expected_of_counts(part, bins, value_range)
    values = part.astype(np.float64)
    counted, _ = np.histogram(values[np.isfinite(values)], bins=bins, range=value_range)
    found = {"pixels": part.size, "nan": int(np.isnan(values).sum()), "histogram": counted.tolist(),
             "under": int((values < value_range[0]).sum()), "over": int((values > value_range[1]).sum())}
    if part.dtype.kind == "f":
        found["sum"] = float(values.sum())
        found["min"], found["max"] = float(part.min()), float(part.max())
    else:
        found["sum"] = sum(part.tolist())
        found["min"], found["max"] = int(part.min()), int(part.max())
    # Integers of 64 bits are no doubles: their mean by Python's integers.
    found["mean"] = float(values.mean()) if part.dtype.kind == "f" else found["sum"] / part.size
    wide = values if part.dtype.itemsize <= 4 else part.astype(np.longdouble)
    found["std"] = float(np.sqrt(np.mean((wide - wide.mean()) ** 2)))
    return {key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in found.items()}


def differences(answer, wanted, is_float):
    """The names of the statistics that differ: counts, sums and extremes of integers must be equal, all else within 1e-12."""
    def differs(key):
        got, want = answer[key], wanted[key]
        if want is None or got is None:
            return not (want is None and got in (None, "nan", "inf", "-inf"))
        if key in ("mean", "std") or (is_float and key == "sum"):
            return abs(float(got) - want) > 1e-12 * max(abs(want), 1e-300) and abs(float(got) - want) > 1e-12 * abs(wanted["scale"])
        if key in ("sum", "min", "max") and not is_float:
            return int(got) != want
        return float(got) != want if key in ("min", "max") else got != want
    return [key for key in wanted if key != "scale" and differs(key)]


def scale_of(pixels, box):
    """The size of the values, for rounding errors where sums cancel."""
    x, y, width, height = box
    values = np.abs(pixels[y:y + height, x:x + width].astype(np.float64))
    return float(np.nan_to_num(values, posinf=0).max()) if values.size else 0


def distances_of(a, b):
    """Between the shares of two histograms, by their definitions; 0 between two empty ones."""
    if sum(a) == sum(b) == 0:
        return dict.fromkeys(("l1", "l2", "chi-square", "hellinger", "intersection", "emd", "kolmogorov-smirnov"), 0)
    p, q = (np.asarray(counts, np.float64) / max(1, sum(counts)) for counts in (a, b))
    steps = np.cumsum(p - q)[:-1]
    with np.errstate(invalid="ignore"):
        chi_square = np.where(p + q > 0, (p - q) ** 2 / (p + q), 0).sum()
    return {"l1": np.abs(p - q).sum(), "l2": np.sqrt(((p - q) ** 2).sum()), "chi-square": chi_square, "hellinger": np.sqrt(max(0, 1 - np.sqrt(p * q).sum())),
            "intersection": 1 - np.minimum(p, q).sum(), "emd": np.abs(steps).sum(), "kolmogorov-smirnov": np.abs(steps).max(initial=0)}


def differing_distances(found, wanted):
    """The measures that differ. Near 0 the definition of Hellinger's loses half its digits."""
    return [name for name, value in wanted.items() if abs(found[name] - value) > (1e-7 if name == "hellinger" and value < 1e-3 else 1e-12)]


def percentile_of(counts, edges, percent, under=0, over=0):
    """Linear inside a bin, from the counts alone; None if the value lies among those below or above the bins."""
    total = sum(counts)
    wanted, below = percent * (under + total + over) / 100 - under, 0
    if total == 0 or wanted < 0 or wanted > total:
        return None
    for i, count in enumerate(counts):
        if count and below + count >= wanted:
            return edges[i] + (wanted - below) / count * (edges[i + 1] - edges[i])
        below += count
    return edges[-1]
