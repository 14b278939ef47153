"""areal.view without a kernel: messages, regions, statistics, and the page in a file."""

from __future__ import annotations

import base64
import http.server
import json
import pathlib
import struct
import sys
import threading
import zlib

import numpy as np
import pytest

import areal
from areal import _view

SEED = 20261127
anywidget = pytest.importorskip("anywidget")


def photo() -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, 256, (210, 300, 3), dtype=np.uint8)


def luma(x: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(x.astype(np.int64), 2, 0)
    return (299 * red + 587 * green + 114 * blue + 500) // 1000


class Page:
    """What a notebook's page does: sends messages to the widget, and keeps what comes."""

    def __init__(self, view):
        self.view, self.got, self.n = view, [], 0
        view.send = lambda content, buffers=None: self.got.append((content, buffers or []))

    def ask(self, **message):
        self.n += 1
        self.view._handle_custom_msg({"n": self.n, **message}, [])
        return next((content, buffers) for content, buffers in self.got if content.get("n") == self.n)


def test_answers_equal_numpy():
    x = photo()
    page = Page(areal.view(x, regions=[(10, 20, 30, 40), ("fin", 0, 0, 300, 210)]))
    assert page.view.regions[1] == ("fin", 0, 0, 300, 210)
    facts = page.ask(do="picture")[0]["picture"]
    assert (facts["width"], facts["height"], facts["channels"], facts["colour"]) == (300, 210, ["luma", "red", "green", "blue"], 4)
    json.dumps(facts)
    planes = [luma(x), *np.moveaxis(x, 2, 0)]
    for channel, plane in enumerate(planes):
        reply, _ = page.ask(do="ask", channel=channel, regions=[[7, 10, 20, 30, 40], [8, 0, 0, 300, 210]], reference=8)
        json.dumps(reply)
        for answer, part in zip(reply["regions"], (plane[20:60, 10:40], plane), strict=True):
            assert int(answer["sum"]) == int(part.sum()) and answer["pixels"] == part.size and (answer["min"], answer["max"]) == (part.min(), part.max())
            assert abs(answer["mean"] - part.mean()) < 1e-10 and abs(answer["std"] - part.std()) < 1e-10
            assert answer["histogram"] == np.bincount(part.reshape(-1), minlength=256).tolist()
        p, q = (np.array(answer["histogram"]) / answer["pixels"] for answer in reply["regions"])
        assert abs(reply["regions"][0]["distances"]["l1"] - np.abs(p - q).sum()) < 1e-12 and reply["regions"][1]["distances"]["emd"] == 0
    (stats, whole), rows = page.view.stats(), page.view.histograms()
    assert stats["sum"] == int(planes[0][20:60, 10:40].sum()) and whole["name"] == "fin" and rows.shape == (2, 256) and rows[1].sum() == 63000


def test_tiles():
    x = np.random.default_rng(SEED).integers(0, 4000, (300, 270), dtype=np.uint16)
    page = Page(areal.view(x))
    reply, (tile,) = page.ask(do="tile", channel=0, level=0, column=1, row=1)
    assert "error" not in reply
    width, height, scale, offset = struct.unpack("<HHff", tile[8:20])
    values = offset + scale * np.frombuffer(tile, np.uint16, offset=20).reshape(height, width).astype(float)
    assert np.abs(values - x[256:, 256:]).max() < 0.1
    assert "error" in page.ask(do="tile", channel=0, level=9, column=0, row=0)[0]


def test_a_range_is_that_of_all_pages_and_stays():
    x = np.random.default_rng(SEED).integers(0, 4000, (90, 110)).astype(np.uint16)
    changes: list[object] = []
    page = Page(areal.view(x, bins=10, regions=[(1, 2, 30, 40)], pixel_size=0.25))
    page.view.on_change(changes.append)
    facts = page.ask(do="picture")[0]["picture"]
    assert facts["pixel_size"] == {"x": 0.25, "y": 0.25, "unit": "µm"}
    assert page.ask(do="range", range=[1000, 2000])[0] == {"n": page.n}
    assert ({"range": [1000.0, 2000.0]}, []) in page.got and not changes
    wanted = np.histogram(x[2:42, 1:31], 10, (1000, 2000))[0].tolist()
    for _ in range(2):
        reply = page.ask(do="ask", channel=0, regions=[[1, 1, 2, 30, 40]])[0]
        assert tuple(reply["range"]) == (1000, 2000) and reply["regions"][0]["histogram"] == wanted == page.view.histograms()[0].tolist()
        assert tuple(page.ask(do="picture")[0]["picture"]["range"]) == (1000, 2000)
        page.view.refresh()
    for wrong in ([1], [2, 1], ["a", 2], None, [5, 5], [0, np.inf]):
        assert "error" in page.ask(do="range", range=wrong)[0], wrong
    assert page.view.histograms()[0].tolist() == wanted
    for size in (0, -1.0, (1, 0), (np.nan, 1), np.inf):
        with pytest.raises(areal.InvalidArgument, match="pixel_size"):
            areal.view(x, pixel_size=size)
    assert areal.view(x, pixel_size=(1, 2))._viewer.facts()["pixel_size"] == {"x": 1.0, "y": 2.0, "unit": "µm"}


def test_regions_are_live_both_ways():
    view = areal.view(photo())
    page, changes = Page(view), []
    view.on_change(lambda one: changes.append(list(one.regions)))
    assert page.ask(do="set", id=None, name="a", box=[1, 2, 3, 4])[0]["id"] == 1
    assert view.regions[0] == ("a", 1, 2, 3, 4) and changes[-1] == [("a", 1, 2, 3, 4)]
    view.regions.append((5, 6, 7, 8))
    view.regions[0] = ("b", 0, 0, 1, 1)
    told = page.got[-1][0]
    assert told["regions"] == [{"id": 1, "name": "b", "box": [0, 0, 1, 1]}, {"id": 2, "name": "", "box": [5, 6, 7, 8]}]
    assert np.asarray(view.regions).tolist() == [[0, 0, 1, 1], [5, 6, 7, 8]]
    page.ask(do="remove", id=1)
    assert len(view.regions) == 1 and len(changes) == 4
    del view.regions[:]
    assert len(view.regions) == 0 and np.asarray(view.regions).shape == (0, 4)
    page.got.clear()
    view._handle_custom_msg({"do": "regions", "n": 0}, [])
    assert page.got[0][0]["regions"] == []


@pytest.mark.parametrize("message", [{"do": "ask"}, {"do": "ask", "regions": [[1, 0, 0, 301, 1]]}, {"do": "ask", "regions": [[1, 0, 0, 1]]}, {"do": "ask", "regions": [[1, 0, 0, 1, 1]] * 65},
                                     {"do": "ask", "regions": [], "channel": 9}, {"do": "ask", "regions": [], "channel": -1}, {"do": "ask", "regions": [[1, 0, 0, 1, 1]], "reference": 2},
                                     {"do": "set", "box": [0, 0, 0, 1]}, {"do": "set"}, {"do": "set", "box": "abcd"}, {"do": "remove", "id": 5}, {"do": "remove"}, {"do": "fly"}, {},
                                     {"do": "tile", "channel": -1, "level": 0, "column": 0, "row": 0}])
def test_wrong_messages_get_a_sentence(message):
    reply, buffers = Page(areal.view(photo())).ask(**message)
    assert reply["error"] and "\n" not in reply["error"] and not buffers


def test_wrong_arguments():
    x = photo()
    for wrong in (lambda: areal.view(x[0, 0]), lambda: areal.view(x, axes="WH"), lambda: areal.view(x, channel=3), lambda: areal.view(x, bins=0), lambda: areal.view(x, range=(2, 1)),
                  lambda: areal.view(x[:0]), lambda: areal.view(x, regions=[(1, 2, 3)]), lambda: areal.view(x, regions=[(0, 0, 301, 1)]), lambda: areal.view(x.astype(complex))):
        with pytest.raises(areal.InvalidArgument):
            wrong()


def test_saved_page(tmp_path):
    for x in (photo(), np.random.default_rng(SEED).normal(size=(50, 70)).astype(np.float16)):
        view = areal.view(x, regions=[("</script>", 1, 2, 3, 4)])
        view.save(tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text()
        data = text.split('id="picture-data">', 1)[1].split("</script>", 1)[0]
        found = json.loads(data)
        assert found["regions"][0]["name"] == "</script>" and found["picture"]["name"] == "page" and len(found["edges"]) == 257
        last = np.frombuffer(base64.b64decode(found["planes"][-1]), np.uint8 if x.dtype == np.uint8 else np.float32).reshape(x.shape[:2])
        assert np.array_equal(last, x[:, :, 2] if x.ndim == 3 else x.astype(np.float32))
    with pytest.raises(areal.InvalidArgument, match="at most"):
        areal.view(np.zeros((2100, 2000), np.uint8)).save(tmp_path / "large.html")


def test_refresh_reads_changed_pixels():
    x = photo()[:, :, 0].copy()
    page = Page(areal.view(x, regions=[(0, 0, 10, 10)]))
    before = page.view.stats()[0]["sum"]
    x[:10, :10] = 7
    assert page.view.stats()[0]["sum"] == before
    page.view.refresh()
    assert page.view.stats()[0]["sum"] == 700 and page.got[-1][0] == {"reload": True}


def test_what_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _view.widget_class.cache_clear()
    with pytest.raises(areal.Unavailable, match="anywidget"):
        areal.view(photo())
    monkeypatch.undo()
    with pytest.raises(areal.Unavailable, match="Leaflet"):
        _view.page_of("nothing")


HOST_PAGE = """<!doctype html><meta charset="utf-8"><title>notebook</title><div id="el"></div><script type="module">
import widget from './widget.js';
const calls = [];
const model = {
  get: () => 480, on: (_, call) => calls.push(call), off() {},
  async send(message) {
    const replies = await (await fetch('message', {method: 'POST', body: JSON.stringify(message)})).json();
    for (const [content, buffer] of replies) {
      const bytes = buffer === null ? null : Uint8Array.from(atob(buffer), (one) => one.charCodeAt(0));
      for (const call of calls) call(content, bytes ? [new DataView(bytes.buffer)] : []);
    }
  },
};
widget.render({model, el: document.getElementById('el')});
</script>"""


def test_page_in_a_browser(tmp_path, monkeypatch):
    """The widget's module in Chromium, with a model whose messages go to the Python object: what a notebook does."""
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "view"))
    view_page_test = pytest.importorskip("view_page_test")
    browser = view_page_test.open_browser(tmp_path)
    if browser is None:
        pytest.skip("no Chromium with its driver, or no selenium")
    x = photo()
    view, sent = areal.view(x), []
    view.send = lambda content, buffers=None: sent.append((content, base64.b64encode(buffers[0]).decode() if buffers else None))

    class Notebook(http.server.BaseHTTPRequestHandler):
        def answer(self, kind, text):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def do_GET(self):
            self.answer(*(("text/javascript", view._esm) if self.path == "/widget.js" else ("text/html", HOST_PAGE)))

        def do_POST(self):
            view._handle_custom_msg(json.loads(self.rfile.read(int(self.headers["Content-Length"]))), [])
            replies, sent[:] = list(sent), []
            self.answer("application/json", json.dumps(replies))

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Notebook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.get(f"http://127.0.0.1:{server.server_port}/")
        wait = view_page_test.WebDriverWait(browser, 60, 0.05).until
        browser.switch_to.frame(wait(lambda b: b.find_element("css selector", "iframe")))
        wait(lambda b: b.execute_script("const d = document.getElementById('numbers')?.dataset; return d?.region === '0' && d.fresh === 'true'"))
        plane = luma(x)
        shown = "return document.querySelector('[data-stat=sum]').dataset.value"
        assert int(browser.execute_script(shown)) == int(plane.sum())
        wait(lambda b: b.execute_script("return document.querySelectorAll('#stage .leaflet-tile-loaded').length > 0"))
        browser.find_element("id", "stage").send_keys("n")
        wait(lambda b: b.execute_script("const d = document.getElementById('numbers').dataset; return d.region === '1' && d.fresh === 'true'"))
        (region,) = view.regions
        assert int(browser.execute_script(shown)) == int(plane[region.y:region.y + region.height, region.x:region.x + region.width].sum()) == view.stats()[0]["sum"]
        assert browser.execute_script("return document.getElementById('connection').textContent") == "live"
        said = [entry["message"] for entry in browser.get_log("browser") if "favicon" not in entry["message"]]
        assert not said, said
    finally:
        browser.quit()
        server.shutdown()


def pixels_of(data: bytes) -> np.ndarray:
    """Of a PNG of RGB whose rows have no filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + size : at + 12 + size], "big")
        chunks[kind] = body
        at += 12 + size
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_notebooks_without_a_kernel_have_a_picture_and_a_table():
    x = photo()
    view = areal.view(x, regions=[("fin", 10, 20, 30, 40), (0, 0, 300, 210)])
    bundle = view._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    pixels = pixels_of(base64.b64decode(data["image/png"]))
    assert np.array_equal(pixels[21:59, 11:39], x[21:59, 11:39])
    assert (pixels[20, 10:40] == (230, 159, 0)).all() and (pixels[20:60, 39] == (230, 159, 0)).all() and (pixels[-1] == (86, 180, 233)).all()
    lines = data["text/plain"].splitlines()
    part = luma(x)[20:60, 10:40]
    assert lines[1].split() == ["fin", "1200", f"{part.mean():.6g}", f"{part.std():.6g}", str(part.min()), str(part.max())] and lines[2].split()[0] == "2"
    large = np.linspace(-1, 1, 3000 * 1500).reshape(1500, 3000)
    large[0, 0] = np.nan
    png, text = _view.Viewer(large, bins=16, range=None, axes="", channel=None, memory=0).still()
    shown = pixels_of(png)
    assert shown.shape == (500, 1000, 3) and (shown[0, 0] == 0).all() and (shown[-1, -1] >= 254).all()
    assert text.splitlines()[1].split() == ["array", "4500000", "nan", "nan", "nan", "nan"]
