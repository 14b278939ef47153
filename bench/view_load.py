"""Drags a rectangle over `areal view` for some seconds, and measures its answers, the first paint and the memory; sums are checked.

usage: view_load.py AREAL [INPUT]... [--seconds 10] [--rate 60] [--memory BYTES] [--beside TEXT] [--no-browser] [--json FILE]

Without an INPUT: a photograph of 3840x2160 pixels, made from data/rubberwhale1.png. Others that are useful: synthetic:32768x32768:1 (whose sums are known), an .npy, a TIFF.
A drag sends the newest rectangle 60 times a second unless an answer is outstanding, as the page does, and times each answer from its question. The
first drag begins when the page is there, while the picture is still surveyed, the second after it. First paint counts from the command's start until
the tiles that headless Chromium shows are painted; a rectangle is drawn there, too, and the updates that the page draws are counted. Both are left out
where there is no Chromium. Results are kept as bench/results/DATE-cpu-CORES-view.json; measure on a machine that does nothing else, or say by --beside
what else ran.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import websocket
from large_image import true_sums
from python_records import commit, processor, summary, write
from watched_process import memory_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "view"))

CHECKED = 20  # answers of a drag


def make_photograph(folder: pathlib.Path) -> pathlib.Path:
    from PIL import Image

    path = folder / "photograph-4K.png"
    source = pathlib.Path(__file__).resolve().parents[1] / "data" / "rubberwhale1.png"
    Image.open(source).convert("RGB").resize((3840, 2160), Image.Resampling.BICUBIC).save(path, compress_level=1)
    return path


def sums_of(name: str, boxes: np.ndarray) -> list[int] | None:
    """The true sums of the page's first channel; None for a format that is not read here, or floats."""
    if name.startswith("synthetic:") and name.endswith(":1"):
        return [int(value) for value in true_sums(boxes)]
    if name.endswith(".npy"):
        pixels = np.load(name, mmap_mode="r")
        if pixels.ndim != 2 or pixels.dtype.kind not in "iu":
            return None
    elif name.endswith(".png"):
        from PIL import Image

        red, green, blue = np.moveaxis(np.asarray(Image.open(name).convert("RGB")).astype(np.int64), 2, 0)
        pixels = (299 * red + 587 * green + 114 * blue + 500) // 1000
    elif name.endswith(".tif"):
        import tifffile

        pixels = tifffile.imread(name)
        if pixels.ndim != 2 or pixels.dtype.kind not in "iu":
            return None
    else:
        return None
    return [int(pixels[y : y + h, x : x + w].sum(dtype=np.uint64 if pixels.dtype.kind == "u" else np.int64)) for x, y, w, h in boxes]


class Page:
    """The messages of a page."""

    def __init__(self, url: str) -> None:
        host = url.removeprefix("http://").split("/")[0]
        self.link = websocket.create_connection(url.replace("http", "ws") + "ws", origin=f"http://{host}", timeout=60)
        self.n = 0
        self.survey: dict[str, Any] | None = None  # of a picture larger than memory

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.link.recv())
        self.survey = message.get("survey", self.survey)
        return message

    def wait_for_survey(self) -> None:
        while self.survey and self.survey["rows"] < self.survey["of"]:
            if self.survey["problem"]:
                sys.exit(self.survey["problem"])
            self.receive()

    def ask(self, box: list[int], final: bool = False) -> dict[str, Any]:
        self.n += 1
        self.link.send(json.dumps({"do": "ask", "n": self.n, "channel": 0, "regions": [[1, *box]], "final": final}))
        while True:
            answer = self.receive()
            if answer.get("n") == self.n:
                if "error" in answer:
                    sys.exit(f"areal view answered: {answer['error']}")
                return answer


def box_at(t: float, width: int, height: int) -> list[int]:
    """A rectangle that moves and grows, over all of the picture."""
    w = max(1, round(width * (0.3 + 0.2 * math.sin(1.3 * t))))
    h = max(1, round(height * (0.3 + 0.2 * math.cos(1.7 * t))))
    return [round((width - w) * (0.5 + 0.5 * math.sin(2.1 * t))), round((height - h) * (0.5 + 0.5 * math.cos(2.9 * t))), w, h]


def drag(page: Page, width: int, height: int, seconds: float, rate: float, pid: int) -> dict[str, Any]:
    """Answers' times in microseconds, and the answers."""
    times, answers, own = [], [], 0
    begin = time.perf_counter()
    while (now := time.perf_counter() - begin) < seconds:
        box = box_at(now, width, height)
        sent = time.perf_counter()
        answer = page.ask(box)
        times.append(1e6 * (time.perf_counter() - sent))
        answers.append((box, answer["regions"][0]))
        own = max(own, memory_of(pid)[1])
        frame = (math.floor((time.perf_counter() - begin) * rate) + 1) / rate
        time.sleep(max(0.0, begin + frame - time.perf_counter()))
    return {"times": times, "answers": answers, "seconds": time.perf_counter() - begin, "own": own}


def check(name: str, page: Page, answers: list[tuple[list[int], dict[str, Any]]]) -> bool:
    """Ends the program at a wrong sum. Returns whether the sums could be checked; rounded answers are asked again as final ones."""
    some = [answers[i][0] for i in np.linspace(0, len(answers) - 1, min(CHECKED, len(answers))).astype(int)]
    sums = sums_of(name, np.array(some))
    if sums is None:
        return False
    for box, true in zip(some, sums, strict=True):
        if int(page.ask(box, final=True)["regions"][0]["sum"]) != true:
            sys.exit(f"{name}: the sum of {box} is wrong")
    exact = {str(box): answer for box, answer in answers if "sum" in answer and "about" not in answer}  # of a picture larger than memory an answer may be about another box
    for box, true in zip(some, sums, strict=True):
        if str(box) in exact and int(exact[str(box)]["sum"]) != true:
            sys.exit(f"{name}: the sum of {box} was wrong while it was dragged")
    return True


def start(command: list[str]) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    url = process.stdout.readline().strip()
    if not url:
        sys.exit(f"{' '.join(command)} ended with {process.wait()}")
    return process, url


def paint_seconds(browser: Any, command: list[str]) -> float:
    """From the command's start until the visible tiles are painted."""
    from selenium.webdriver.support.ui import WebDriverWait

    begin = time.perf_counter()
    process, url = start(command)
    browser.get(url)
    WebDriverWait(browser, 300, 0.005).until(
        lambda b: b.execute_script("const all = document.querySelectorAll('#stage .leaflet-tile'); return all.length > 0 && all.length === document.querySelectorAll('#stage .leaflet-tile-loaded').length")
    )
    seconds = time.perf_counter() - begin
    browser.get("about:blank")
    process.terminate()
    process.wait()
    return seconds


def drawn_a_second(browser: Any, url: str, given: argparse.Namespace) -> float:
    """How often the page draws another sum while a rectangle is drawn on it."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(url)
    WebDriverWait(browser, 300, 0.05).until(lambda b: b.execute_script("return document.getElementById('numbers')?.dataset.fresh") == "true")
    left, top, width, height = browser.execute_script("""
        document.getElementById('draw').click();
        const r = document.getElementById('stage').getBoundingClientRect();
        return [r.left, r.top, r.width, r.height]""")

    def mouse(kind: str, buttons: int) -> None:
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": left + width / 2, "y": top + height / 2, "button": "left", "buttons": buttons, "clickCount": 1})

    mouse("mousePressed", 1)
    browser.set_script_timeout(given.seconds + 60)
    drawn, seconds = browser.execute_async_script(
        """
        const [seconds, pointerId, done] = arguments, stage = document.getElementById('stage'), r = stage.getBoundingClientRect(), begin = performance.now();
        let drawn = -1, last = '';
        const look = () => {  // before each frame
          const t = (performance.now() - begin) / 1000, text = document.querySelector('[data-stat=sum]').textContent;
          if (text !== last) ++drawn;
          last = text;
          if (t >= seconds) return done([drawn, t]);
          const clientX = r.left + r.width * (0.5 + 0.25 * Math.sin(2.1 * t)), clientY = r.top + r.height * (0.5 + 0.25 * Math.sin(2.9 * t));
          stage.dispatchEvent(new PointerEvent('pointermove', {pointerId, clientX, clientY, buttons: 1, bubbles: true, pointerType: 'mouse', isPrimary: true}));
          requestAnimationFrame(look);
        };
        look();""",
        given.seconds,
        1,  # Chromium's mouse
    )
    mouse("mouseReleased", 0)
    browser.get("about:blank")
    return float(drawn / seconds)


def measure(areal: str, name: str, given: argparse.Namespace, browser: Any) -> list[dict[str, Any]]:
    command = [areal, "view", name, "-q", *(["--memory", given.memory] if given.memory else [])]
    load = os.getloadavg()[0]
    paints = [paint_seconds(browser, command) for _ in range(given.rounds)] if browser else []
    process, url = start(command)
    try:
        import urllib.request

        with urllib.request.urlopen(url + "picture.json", timeout=60) as answer:
            picture = json.load(answer)
        width, height = picture["width"], picture["height"]
        page = Page(url)
        drags = []
        for _ in range(2):
            drags.append(drag(page, width, height, given.seconds, given.rate, process.pid))
            page.wait_for_survey()
        exact = [check(name, page, one["answers"]) for one in drags]
        drawn = {"drawn_per_second": drawn_a_second(browser, url, given)} if browser else {}
        peak, own = memory_of(process.pid)
    finally:
        process.terminate()
        process.wait()
    base = {"what": "view", "algorithm": "areal view", "backend": "cpu", "device": processor(), "cores": os.cpu_count(), "load": load, "beside": given.beside, "commit": commit(),
            "input": pathlib.Path(name).name, "lane": picture["type"], "width": width, "height": height, "bins": picture["bins"], "channels": len(picture["channels"]), "memory": given.memory or "default"}
    records: list[dict[str, Any]] = [base | {"part": "first paint", "time_us": summary([1e6 * seconds for seconds in paints])}] if paints else []
    for part, one, is_exact in zip(("first drag", "second drag"), drags, exact, strict=True):
        p50, p99 = np.percentile(one["times"], [50, 99])
        records.append(base | {"part": part, "exact": is_exact, "time_us": summary(one["times"]), "p50_us": float(p50), "p99_us": float(p99), "answers": len(one["times"]),
                               "updates_per_second": len(one["times"]) / one["seconds"], "peak_bytes": peak, "private_bytes": max(one["own"], own)} | drawn)
        print(f"{name}, {part}: p50 {p50 / 1000:.2f} ms, p99 {p99 / 1000:.2f} ms, {records[-1]['updates_per_second']:.1f} updates/s, {peak >> 20} MiB{'' if is_exact else ', sums not checked'}", file=sys.stderr)
    if paints:
        print(f"{name}, first paint: {sorted(paints)[len(paints) // 2]:.3f} s", file=sys.stderr)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areal")
    parser.add_argument("inputs", nargs="*", metavar="INPUT")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=5, help="first paints")
    parser.add_argument("--memory")
    parser.add_argument("--beside", default="", help="what else runs on the machine, for the record")
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        browser = None
        if not given.no_browser:
            from view_page_test import open_browser

            browser = open_browser(folder / "profile")
            if browser is None:
                print("no first paint: there is no Chromium with its driver, or no selenium", file=sys.stderr)
        try:
            records = [record for one in given.inputs or [str(make_photograph(folder))] for record in measure(given.areal, one, given, browser)]
        finally:
            if browser:
                browser.quit()
    write(records, given.json)


if __name__ == "__main__":
    main()
