"""Runs a tool of bench/pages with a stand-in for ncu, for the tests of these tools."""

import argparse
import contextlib
import importlib
import io
import json
import os
import pathlib
import subprocess
import sys


def begin(name):
    """The tool's module, the command that it calls, and the test's arguments; skips the test without the simulated machine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    areal = arguments.build / "apps" / "areal" / "areal"
    info = json.loads(subprocess.run([areal, "info", "--json"], text=True, stdout=subprocess.PIPE, check=True).stdout)
    if not any(row["name"] == "simt" and row["available"] for row in info["backends"]):
        print("no simulated machine")
        sys.exit(77)
    sys.path.insert(0, str(arguments.tree / "bench" / "pages"))
    return importlib.import_module(name), areal, arguments


def run(module, stand_in, folder, areal, says, *more):
    """Runs the tool: its output, its records, and its exit status. The stand-in reads `says`."""
    os.environ["STAND_IN"] = json.dumps(says)
    ncu, out = folder / "ncu", folder / "records.json"
    ncu.write_text(stand_in)
    ncu.chmod(0o755)
    out.unlink(missing_ok=True)
    sys.argv = [f"{module.__name__}.py", "--areal", str(areal), "--ncu", str(ncu), "--json", str(out), *more]
    text, code = io.StringIO(), 0
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            module.main()
        except SystemExit as end:
            code = end.code
    return text.getvalue(), json.loads(out.read_text()) if out.exists() else None, code
