"""Translates records of bench/results/, which are never rewritten, to the present names."""

import json
import re

IDS = {"held": "lookback", "held-diagonal": "lookback-diagonal", "held-direct": "all-partials", "ribbon": "thin", "anchored": "reduce-then-scan"}
KERNELS = {"Held": "Lookback", "Ribbon": "Thin", "Anchored": "ReduceThenScan"}


def kernel(name):
    return re.sub(r"^(Held|Ribbon|Anchored)(?=[A-Z]|$)", lambda match: KERNELS[match.group()], name)


def present(records):
    """The same records, with the present names of algorithms and kernels."""
    for record in records:
        name = record.get("algorithm", "")
        record["algorithm"] = IDS.get(name, kernel(name))
        for launch in record.get("launches") or ():
            if "kernel" in launch:
                launch["kernel"] = kernel(launch["kernel"])
    return records


def load(path):
    """The records of a file, each with the file's name: times of two files are not comparable."""
    records = present(json.loads(path.read_text()))
    for record in records:
        record["file"] = path.name
    return records
