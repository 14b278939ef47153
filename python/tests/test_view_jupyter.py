"""areal.view in JupyterLab, in headless Chromium: a rectangle dragged on the widget of a notebook shows NumPy's numbers, and the kernel has the
same. Console messages, reports of the content security policy, requests to elsewhere and leftover processes fail it. It proves that a wrong
digit, a message and a request are found."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import time
import types

import numpy as np
import pytest
import reaper

pytest.importorskip("jupyterlab")
pytest.importorskip("anywidget")

SEED = 20261128
PATIENCE = 90  # seconds for each step, on a busy machine
CELLS = (
    "import areal, numpy\nview = areal.view(numpy.load('pixels.npy'), height=600)\nview",
    "import json\nview.regions.append(('kernel', 3, 4, 50, 60))\nprint('kernel:', json.dumps([view.regions[0][1:], view.stats()]))",
)
NOTIFICATIONS = {"checkForUpdates": False, "fetchNews": "false", "doNotDisturbMode": True}

# Whether the notebook is open and its kernel has answered, and how a cell is run, by JupyterLab's own commands.
READY = "const panel = window.jupyterapp?.shell.currentWidget; return !!(panel?.context?.isReady && panel.sessionContext.isReady && panel.sessionContext.session?.kernel?.status === 'idle')"
RUN = "jupyterapp.shell.currentWidget.content.activeCellIndex = arguments[0]; jupyterapp.commands.execute('notebook:run-cell')"


class Lab:
    """JupyterLab on a free port of this machine. All that it reads and writes is in `folder`, but for its installed files."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.token, self.log, places = secrets.token_hex(16), folder / "log", {}
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR", "TMPDIR"):
            places[name] = folder / name.lower()
            places[name].mkdir()
        settings = places["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(json.dumps(NOTIFICATIONS))
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir()
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={self.token}",
                   f"--ServerApp.root_dir={self.notebooks}", "--LabApp.extension_manager=readonly", "--LabApp.news_url=None", "--LabApp.expose_app_in_browser=True"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, **places}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.runtime = places["JUPYTER_RUNTIME_DIR"]

    def url(self) -> str:
        """Waits until the server has a port."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            for file in self.runtime.glob("jpserver-*.json"):
                with contextlib.suppress(json.JSONDecodeError):  # half written
                    return f"http://127.0.0.1:{json.loads(file.read_text())['port']}/"
            time.sleep(0.05)
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()[-3000:]}")

    def end(self) -> None:
        """With its kernels."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def notebook() -> str:
    cells = [{"cell_type": "code", "id": f"cell{n}", "execution_count": None, "metadata": {}, "outputs": [], "source": source} for n, source in enumerate(CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells})


@pytest.fixture
def view_page_test(monkeypatch):
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "view"))
    return pytest.importorskip("view_page_test")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Afterwards no process is left, whatever happened: all have the folder in their environment."""
    watch = subprocess.Popen([sys.executable, reaper.__file__, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    monkeypatch.setenv("AREAL_TEST_FOLDER", str(tmp_path))
    try:
        yield tmp_path
    finally:
        left, _ = watch.communicate()
    assert not left, f"had to be killed:\n{left}"


@pytest.fixture
def browser(view_page_test, folder):
    browser = view_page_test.open_browser(folder / "profile")
    if browser is None:
        pytest.skip("no Chromium with its driver, or no selenium")
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def lab(browser, folder):
    lab = Lab(folder)
    try:
        yield lab
    finally:
        lab.end()


@pytest.fixture
def page(lab, browser, view_page_test):
    """The notebook, open, and after `show` the widget in it."""

    class Notebook(view_page_test.Page):
        def __init__(self):
            self.browser, self.url, self.frame = browser, lab.url(), None
            browser.set_window_size(1400, 1100)
            browser.get(f"{self.url}lab/tree/view.ipynb?token={lab.token}")
            self.wait(lambda: browser.execute_script(READY), PATIENCE)

        def run_cell(self, number):
            browser.execute_script(RUN, number)

        def show(self):
            self.frame = self.wait(lambda: next(iter(browser.find_elements("css selector", "iframe[title='areal view']")), None), PATIENCE)
            self.wait(lambda: self.run("return document.getElementById('numbers')?.dataset.fresh") == "true", PATIENCE)

        def run(self, script, *arguments):
            """In the widget."""
            browser.switch_to.frame(self.frame)
            try:
                return browser.execute_script(script, *arguments)
            finally:
                browser.switch_to.default_content()

        def place(self):
            """The pointer's coordinates are those of the notebook."""
            inside = super().place()
            left, top = browser.execute_script("const r = arguments[0].getBoundingClientRect(); return [r.left + arguments[0].clientLeft, r.top + arguments[0].clientTop]", self.frame)
            return [left + inside[0], top + inside[1], *inside[2:]]

        def said(self):
            """Messages on the console and requests to elsewhere, since the last call. JupyterLab's own scripts may tell what they do."""
            found = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE" or not entry["message"].startswith(f"{self.url}static/lab/")]
            for entry in browser.get_log("performance"):
                message = json.loads(entry["message"])["message"]
                if message["method"] == "Network.requestWillBeSent":
                    to = message["params"]["request"]["url"]
                    if not to.startswith((self.url, "data:", "blob:", "chrome:", "about:")):
                        found.append(f"requested {to}")
            return found

    pixels = np.random.default_rng(SEED).integers(0, 256, (210, 300), dtype=np.uint8)
    np.save(lab.notebooks / "pixels.npy", pixels)
    (lab.notebooks / "view.ipynb").write_text(notebook())
    page = Notebook()
    page.pixels = pixels
    return page


def check_planted_digit(page, check_numbers):
    change = "const one = document.querySelector('[data-stat=sum]'); one.dataset.value = String(BigInt(one.dataset.value) + BigInt(arguments[0]))"
    page.run(change, 1)
    with pytest.raises(AssertionError):
        check_numbers(0)
    page.run(change, -1)


def check_planted_messages(page):
    page.run("console.error('planted'); document.createElement('img').src = 'http://127.0.0.1:1/'")
    found = []
    page.wait(lambda: found.extend(page.said()) or all(any(part in one for one in found) for part in ("planted", "Content Security Policy", "requested http://127.0.0.1:1/")))


def check_accessibility(page, view_page_test):
    """Of the widget; JupyterLab is not ours. A planted control without a name is found."""
    page.browser.switch_to.frame(page.frame)
    try:
        view_page_test.check_planted_fault(types.SimpleNamespace(browser=page.browser, run=page.browser.execute_script))
    finally:
        page.browser.switch_to.default_content()
    view_page_test.check_unnamed(page)
    view_page_test.check_colours(page)


def test_notebook_in_jupyterlab(page, browser, view_page_test, folder):
    def check_numbers(region):
        return view_page_test.check_numbers(page, page.pixels, {"bins": 256, "range": [0, 256]}, region)["box"]

    page.run_cell(0)
    page.show()
    assert check_numbers(0) == [0, 0, 300, 210]
    check_planted_digit(page, check_numbers)
    running = " ".join(reaper.processes_of(folder).values())
    assert all(name in running for name in ("jupyterlab", "ipykernel", "chrom")), running

    page.run("document.getElementById('draw').click()")
    follows = page.drag((0.3, 0.3), (0.6, 0.6))
    assert follows >= 3, f"the numbers changed {follows} times in 8 steps"
    box = x, y, width, height = check_numbers(1)
    assert width > 20 and height > 20, box

    # The kernel has the region, and the page shows the one that the kernel adds.
    page.run_cell(1)
    printed = page.wait(lambda: re.search("^kernel: (.*)$", browser.execute_script("return [...document.querySelectorAll('.jp-OutputArea-output pre')].map((one) => one.textContent).join('\\n')"), re.M), PATIENCE)
    region, (stats, added) = json.loads(printed[1])
    part = page.pixels[y:y + height, x:x + width].astype(np.int64)
    assert region == box and stats["sum"] == part.sum() and stats["pixels"] == part.size and abs(stats["mean"] - part.mean()) < 1e-10, (region, box, stats)
    assert added["name"] == "kernel"
    page.wait(lambda: page.run("return document.getElementById('regions-count').textContent") == "2")
    view_page_test.choose(page, 2)
    assert check_numbers(2) == [3, 4, 50, 60]
    assert page.run("return document.getElementById('connection').textContent") == "live"
    page.run("document.getElementById('compare-toggle').click(); for (const one of document.querySelectorAll('details:not(#counts)')) one.open = true")
    page.wait(lambda: page.run("return document.querySelectorAll('#distances-rows [data-fresh=true]').length") == 1)
    check_accessibility(page, view_page_test)
    assert not (said := page.said()), said
    check_planted_messages(page)
