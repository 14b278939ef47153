#!/usr/bin/env python3
"""`./run demo --view` runs the demo and opens the page on what it made, in a tree whose build/demo is this build's command: nothing is
installed or compiled, all else is done. A stand-in for the browser keeps what it is to open."""

import argparse
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket
from view_server import command_of

STAND_INS = {"dpkg-query": "printf installed", "cmake": 'echo "cmake $*"', "xdg-open": 'cp "$1" opening && mv opening opened',
             "python3": f'case "$1 $2" in "-m venv" | "-m pip") exit 0 ;; esac; exec "{sys.executable}" "$@"'}


def make_tree(tree, build, folder):
    """Without the Python package, whose tour has a test of its own."""
    for entry in tree.iterdir():
        if entry.name not in ("build", "out", ".venv", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build" / "demo").mkdir(parents=True)
    (folder / "build" / "demo" / "apps").symlink_to(build / "apps")
    (folder / "build" / "demo" / "CMakeCache.txt").write_text("AREAL_HAS_VIEW:INTERNAL=ON\n")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, text in (*STAND_INS.items(), ("python", STAND_INS["python3"])):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)


def check_page(url, folder):
    """The page has the demo's photograph and its regions."""
    with urllib.request.urlopen(url + "picture.json", timeout=60) as answer:
        assert json.load(answer)["name"] == "rubberwhale1.png"
    link = websocket.create_connection(url.replace("http", "ws") + "ws", origin=url.rsplit("/", 2)[0], timeout=60)
    shown = [(one["name"], one["box"]) for one in json.loads(link.recv())["regions"]]
    link.close()
    with (folder / "out" / "demo" / "photograph-regions.csv").open() as file:
        wanted = [(row["name"], [int(row[side]) for side in ("x", "y", "width", "height")]) for row in csv.DictReader(file)]
    assert len(wanted) == 4 and shown == wanted, (shown, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    command_of(arguments.build)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_tree(arguments.tree.resolve(), arguments.build.resolve(), folder)
        opened, log = folder / "opened", folder / "log"
        with log.open("w") as said:
            demo = subprocess.Popen([folder / "run", "demo", "--view"], stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, env=os.environ | {"TMPDIR": name})
        try:
            while not opened.exists():
                assert demo.poll() is None, log.read_text()
                time.sleep(0.05)
            url = re.search("http://[^\"]+", opened.read_text())[0]
            check_page(url, folder)
        finally:
            if demo.poll() is None:
                os.killpg(demo.pid, signal.SIGINT)
            demo.wait(60)
        text = log.read_text()
        assert "cmake --build build/demo" in text and url in text.splitlines(), text
        command = re.search("read their statistics: (.*) --open$", text, re.M)[1]  # what `./run demo` ends by saying
        assert command.startswith("build/demo/apps/areal/areal view ") and command.endswith(" --regions out/demo/photograph-regions.csv"), command
        print("./run demo --view opens", command.removeprefix("build/demo/apps/areal/"))


if __name__ == "__main__":
    main()
