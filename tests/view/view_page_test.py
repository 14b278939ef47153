#!/usr/bin/env python3
"""The page of `areal view` in headless Chromium: a rectangle dragged by mouse, made by keys and by touch shows NumPy's numbers, also in
dark mode and 360 pixels wide. Console messages, reports of the content security policy and requests to elsewhere fail it. It first proves
that a wrong digit on the page is found. `--pictures FOLDER` writes the screenshots of docs/view.md instead."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import types
import urllib.error

import numpy as np
from view_server import SKIPPED, Server, command_of, differences, differing_distances, distances_of, expected, percentile_of, scale_of

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261126"))

try:
    from axe_core_python.selenium import Axe
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None


def open_browser(profile):
    """None where there is no Chromium that selenium can drive: Ubuntu's is a snap, which may not read other programs' files."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if webdriver is None or not chromium or not driver or os.path.realpath(chromium).startswith(("/snap/", "/usr/bin/snap")):
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # The log has no messages of frames in a process of their own, as a notebook's widget would be.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={profile}", "--no-first-run",
                     "--disable-features=IsolateSandboxedIframes"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Page:
    def __init__(self, browser, server, width=1280, height=800, dark=False, touch=False):
        self.browser, self.server = browser, server
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch})
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        browser.get(server.url)
        self.wait(lambda: browser.find_elements(By.CSS_SELECTOR, "body.ready:not(.offline)"))
        self.wait(self.is_fresh)
        self.stage = browser.find_element(By.ID, "stage")

    def wait(self, condition, seconds=60):
        return WebDriverWait(self.browser, seconds, 0.05).until(lambda _: condition())

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def is_fresh(self, region=None):
        numbers = self.run("const d = document.getElementById('numbers').dataset; return [d.region, d.fresh]")
        return numbers[1] == "true" and (region is None or numbers[0] == str(region))

    def numbers(self):
        """The region's id, its box and its statistics, as the page shows them."""
        return self.run("""
            const values = {}, find = (id) => document.getElementById(id);
            for (const one of document.querySelectorAll('#numbers dd')) values[one.dataset.stat] = one.dataset.value;
            return {id: Number(find('numbers').dataset.region), box: ['x', 'y', 'w', 'h'].map((side) => Number(find('box-' + side).value)), values}""")

    def place(self):
        return self.run("const r = document.getElementById('stage').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")

    def drag(self, start, end, steps=8):
        """Between two places, as shares of the picture's area, by mouse; the numbers follow."""
        left, top, width, height = self.place()
        seen = set()
        actions = ActionChains(self.browser, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(int(left + start[0] * width), int(top + start[1] * height))
        actions.w3c_actions.pointer_action.pointer_down()
        actions.perform()
        for step in range(1, steps + 1):
            x = start[0] + (end[0] - start[0]) * step / steps
            y = start[1] + (end[1] - start[1]) * step / steps
            move = ActionChains(self.browser, duration=0)
            move.w3c_actions.pointer_action.move_to_location(int(left + x * width), int(top + y * height))
            move.perform()
            self.wait(self.is_fresh)
            seen.add(self.numbers()["values"]["sum"])
        release = ActionChains(self.browser, duration=0)
        release.w3c_actions.pointer_action.pointer_up()
        release.perform()
        return len(seen)

    def keys(self, *keys):
        for key in keys:
            self.stage.send_keys(key)

    def leave(self):
        """Before the server ends. Returns what the browser said that it should not, and where it went."""
        self.browser.get("about:blank")
        said = [entry["message"] for entry in self.browser.get_log("browser")]
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(self.server.url) and not url.startswith(("data:", "chrome:", "about:")):
                    said.append(f"requested {url}")
            if message["method"] == "Network.webSocketCreated" and message["params"]["url"] != self.server.url.replace("http:", "ws:") + "ws":
                said.append(f"connected to {message['params']['url']}")
        return said


def check_numbers(page, pixels, picture, region=None):
    """The shown numbers are those of the shown box."""
    page.wait(lambda: page.is_fresh(region))
    shown = page.numbers()
    values = {key: None if value == "null" else value for key, value in shown["values"].items()}
    answer = {key: values[key] if key == "sum" else None if values[key] is None else float(values[key]) if "." in values[key] or "e" in values[key] else int(values[key])
              for key in ("pixels", "sum", "mean", "std", "min", "max", "nan", "under", "over")}
    wanted = expected(pixels, shown["box"], picture["bins"], picture["range"])
    counts = wanted.pop("histogram")
    wanted["scale"] = scale_of(pixels, shown["box"])
    is_float = pixels.dtype.kind == "f"
    wrong = differences(answer, wanted, is_float)
    edges = np.linspace(*picture["range"], picture["bins"] + 1)
    for percent in (1, 50, 99):
        value, want = values[f"p{percent}"], percentile_of(counts, edges, percent, wanted["under"], wanted["over"])
        if (value is None) != (want is None) or (want is not None and abs(float(value) - want) > 1e-9 * max(1, wanted["scale"])):
            wrong.append(f"p{percent}")
    assert not wrong, (SEED, shown, wrong, wanted)
    return shown


def check_unnamed(page):
    """Every control has a name, and all that can be pressed is large enough."""
    unnamed = page.run("""
        const bad = [];
        for (const one of document.querySelectorAll('button, input, select, summary, a, [role], canvas:not([aria-hidden])')) {
          if (!one.checkVisibility()) continue;
          const label = one.labels?.[0]?.textContent ?? '';
          const name = (one.getAttribute('aria-label') || label || one.textContent || one.getAttribute('aria-labelledby') || one.title || '').trim();
          if (!name && !['rowgroup', 'status'].includes(one.getAttribute('role'))) bad.push(one.outerHTML.slice(0, 100));
          const box = one.getBoundingClientRect();
          if (one.matches('button, input, select, summary') && Math.min(box.width, box.height) < 24 - 0.5) bad.push('small: ' + one.outerHTML.slice(0, 100));
        }
        const wide = document.scrollingElement.scrollWidth - innerWidth;
        if (wide > 0) bad.push(`${wide} pixels too wide`);
        return bad""")
    assert not unnamed, unnamed


def check_colours(page):
    """Text has the contrast of WCAG 2.2 AA on its ground."""
    bad = page.run("""
        const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const parse = (text) => text.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
        const ground = (one) => { for (; one; one = one.parentElement) { const c = parse(getComputedStyle(one).backgroundColor); if (c.length < 4 || c[3] > 0.9) return c; } return [255, 255, 255]; };
        const bad = [];
        for (const one of document.querySelectorAll('body *')) {
          const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
          if (!text || !one.checkVisibility() || one.closest('svg, .unseen') || one.disabled) continue;
          const a = light(parse(getComputedStyle(one).color)), b = light(ground(one));
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (contrast < 4.5) bad.push(`${contrast.toFixed(2)}: ${one.outerHTML.slice(0, 80)}`);
        }
        return bad""")
    assert not bad, bad


def luma_of(path):
    from PIL import Image
    red, green, blue = np.moveaxis(np.asarray(Image.open(path).convert("RGB")).astype(np.int64), 2, 0)
    return ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8)


def draw_regions(page, regions):
    """Adds [[name, box]..] to a page without regions, and selects the first."""
    page.run("""
        const link = new WebSocket(new URL('ws', location.href).href.replace('http', 'ws'));
        link.onopen = () => arguments[0].forEach(([name, box], n) => link.send(JSON.stringify({do: 'set', n: n + 1, name, box})));
        setTimeout(() => link.close(), 500)""", regions)
    page.wait(lambda: page.run("return document.getElementById('regions-count').textContent") == str(len(regions)))
    page.browser.find_elements(By.CSS_SELECTOR, "#rows [role=row]")[0].click()
    page.wait(lambda: page.is_fresh(1))


def choose(page, region):
    """By the list, of which only visible rows are elements."""
    page.run("document.getElementById('rows').scrollTop = arguments[0]", 36 * (region - 1))
    page.wait(lambda: page.run("const row = document.querySelector(`#rows [data-id='${arguments[0]}']`); row?.click(); return row !== null", region))
    page.wait(lambda: page.is_fresh(region))


def check_accessibility(page):
    """What axe-core finds, with the rules of WCAG 2.1 AA and its good practices."""
    found = Axe().run(page.browser)
    assert found["passes"], "axe-core checked nothing"
    assert not found["violations"], [(one["id"], one["help"], [node["html"][:160] for node in one["nodes"]][:4]) for one in found["violations"]]


def check_planted_fault(page):
    """axe-core finds a button without a name, and nothing once it is gone."""
    page.run("const one = document.createElement('button'); one.id = 'planted'; document.querySelector('.tools').append(one)")
    try:
        check_accessibility(page)
    except AssertionError as error:
        assert "button-name" in str(error), error
    else:
        raise RuntimeError("a planted button without a name was not found")
    page.run("document.getElementById('planted').remove()")
    check_accessibility(page)


def check_planted_messages(browser, command, tree):
    """A console message, an inline script, which the content security policy stops, and a request to elsewhere are found."""
    plants = {"planted message": "console.error('planted message')",
              "'script-src 'self''": "trustedTypes.createPolicy('default', {createScript: (text) => text}); const one = document.createElement('script'); one.textContent = 'window.planted = 1'; document.head.append(one)",
              "TrustedScript": "const one = document.createElement('script'); one.append('window.planted = 1'); document.head.append(one)",
              "connect-src 'self'": "fetch('http://localhost:9/').catch(() => {})"}
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        for trace, script in plants.items():
            page = Page(browser, server)
            page.run(script)
            assert page.run("return window.planted") is None
            said = page.leave()
            assert any(trace in one for one in said), (trace, said)


def check_photo(browser, command, tree):
    path = tree / "data" / "rubberwhale1.png"
    pixels = luma_of(path)
    with Server(command, path) as server:
        picture = server.picture()
        page = Page(browser, server)
        shown = check_numbers(page, pixels, picture, 0)
        assert shown["box"] == [0, 0, picture["width"], picture["height"]]
        # The comparison can fail: a wrong digit on the page is found.
        page.run("const one = document.querySelector('[data-stat=sum]'); one.dataset.value = String(BigInt(one.dataset.value) + 1n)")
        try:
            check_numbers(page, pixels, picture, 0)
        except AssertionError:
            pass
        else:
            raise RuntimeError("a planted wrong digit was not found")
        check_unnamed(page)
        check_colours(page)
        check_planted_fault(page)

        # By mouse: draw, move, resize.
        browser.find_element(By.ID, "draw").click()
        follows = page.drag((0.4, 0.4), (0.55, 0.6))
        assert follows >= 3, f"the numbers changed {follows} times in 8 steps"
        drawn = check_numbers(page, pixels, picture, 1)["box"]
        assert drawn[2] > 20 and drawn[3] > 20
        page.drag((0.47, 0.5), (0.57, 0.55))
        moved = check_numbers(page, pixels, picture, 1)["box"]
        assert moved[2:] == drawn[2:] and moved[0] > drawn[0] and moved[1] > drawn[1], (drawn, moved)
        page.drag((0.65, 0.65), (0.7, 0.7))  # its lower right corner
        grown = check_numbers(page, pixels, picture, 1)["box"]
        assert grown[:2] == moved[:2] and grown[2] > moved[2] and grown[3] > moved[3], (moved, grown)
        page.drag((0.15, 0.25), (0.35, 0.5))
        check_numbers(page, pixels, picture, 2)

        # By keys.
        page.keys("n")
        box = check_numbers(page, pixels, picture, 3)["box"]
        page.keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        assert check_numbers(page, pixels, picture, 3)["box"] == [box[0] + 1, box[1] + 2, box[2], box[3]]
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(Keys.SHIFT).perform()
        assert check_numbers(page, pixels, picture, 3)["box"] == [box[0] - 9, box[1] + 2, box[2], box[3]]
        ActionChains(browser).key_down(Keys.ALT).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP).key_up(Keys.ALT).perform()
        by_keys = [box[0] - 9, box[1] + 2, box[2] + 1, box[3] - 1]
        assert check_numbers(page, pixels, picture, 3)["box"] == by_keys
        page.wait(lambda: page.run("return document.getElementById('spoken').textContent").startswith("Region 3: "))
        page.keys(Keys.DELETE)
        page.wait(lambda: page.is_fresh(0))
        ActionChains(browser).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
        page.wait(lambda: page.is_fresh(4))
        assert check_numbers(page, pixels, picture, 4)["box"] == by_keys

        # By fields, with a name that is no markup.
        for side, value in zip("xywh", (5, 6, 70, 80), strict=True):
            field = browser.find_element(By.ID, f"box-{side}")
            field.clear()
            field.send_keys(str(value), Keys.TAB)
        assert check_numbers(page, pixels, picture, 4)["box"] == [5, 6, 70, 80]
        name = browser.find_element(By.ID, "region-name")
        name.send_keys("<img src=x onerror=alert(1)>", Keys.ENTER, Keys.TAB)
        page.wait(lambda: "<img src=x" in page.run("return document.getElementById('rows').textContent"))

        # All channels.
        from PIL import Image
        planes = np.asarray(Image.open(path).convert("RGB"))
        for channel in range(3):
            page.run("const one = document.getElementById('channel'); one.value = arguments[0]; one.dispatchEvent(new Event('change'))", str(channel + 1))
            check_numbers(page, np.ascontiguousarray(planes[:, :, channel]), picture, 4)
        page.run("const one = document.getElementById('channel'); one.value = '4'; one.dispatchEvent(new Event('change'))")
        browser.find_element(By.ID, "scale-log").click()
        check_numbers(page, pixels, picture, 4)

        # The picture is drawn: its middle has the colours of the file.
        page.wait(lambda: page.run("return document.querySelectorAll('#stage .leaflet-tile-loaded').length") == 6)
        painted = page.run("""
            const canvas = [...document.querySelectorAll('#stage canvas')].filter((one) => one.width > 1);
            return canvas.map((one) => [one.width, one.height, ...one.getContext('2d').getImageData(10, 10, 1, 1).data])""")
        assert len(painted) == 6 and all(pixel[5] == 255 for pixel in painted), painted
        assert any(tuple(pixel[2:5]) == tuple(int(v) for v in planes[10, 10]) for pixel in painted), (painted, planes[10, 10])
        page.keys("0")
        for menu in ("contrast", "export"):
            browser.find_element(By.CSS_SELECTOR, f"#{menu} summary").click()
        page.run("document.getElementById('export').open = false; document.getElementById('counts').open = true")
        page.wait(lambda: page.run("return document.querySelectorAll('#counts-rows tr').length") == 256)
        assert not (said := page.leave()), said

        # Another tab has the same regions; so has a page after a lost connection.
        page = Page(browser, server, dark=True)
        page.wait(lambda: page.run("return document.querySelectorAll('#rows [role=row]').length") == 3)
        browser.find_elements(By.CSS_SELECTOR, "#rows [role=row]")[0].click()
        check_numbers(page, pixels, picture, 1)
        assert not (said := page.leave()), said

        page = Page(browser, server, 360, 740, touch=True)
        browser.find_element(By.ID, "draw").click()
        left, top, width, height = page.place()
        def touch(kind, x=0.0, y=0.0):
            points = [] if kind == "touchEnd" else [{"x": left + x * width, "y": top + y * height}]
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch("touchStart", 0.7, 0.6)
        for step in range(1, 6):
            touch("touchMove", 0.7 + 0.04 * step, 0.6 + 0.03 * step)
        touch("touchEnd")
        page.wait(lambda: page.is_fresh(5))
        box = check_numbers(page, pixels, picture, 5)["box"]
        assert box[2] > 50 and box[3] > 30, box

        # Two fingers zoom, one pans.
        def zoom():
            return int("".join(filter(str.isdigit, page.run("return document.getElementById('zoom').textContent"))))
        before = zoom()
        for kind, apart in (("touchStart", 0.05), *(("touchMove", 0.05 + 0.03 * step) for step in range(1, 11))):
            points = [{"x": left + (0.5 + side * apart) * width, "y": top + 0.5 * height, "id": n} for n, side in enumerate((-1, 1))]
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch("touchEnd")
        page.wait(lambda: zoom() > 2 * before)
        assert page.run("return document.getElementById('regions-count').textContent") == "4"  # no rectangle came of it
        browser.find_element(By.ID, "pan").click()
        def place_of_region():
            return page.run("const r = document.querySelector('.shapes g').getBoundingClientRect(); return [r.left, r.top]")
        start = place_of_region()
        touch("touchStart", 0.05, 0.05)
        for step in range(1, 6):
            touch("touchMove", 0.05 + 0.04 * step, 0.05 + 0.04 * step)
        touch("touchEnd")
        page.wait(lambda: place_of_region()[0] > start[0] + 20 and place_of_region()[1] > start[1] + 20)
        assert check_numbers(page, pixels, picture, 5)["box"] == box
        assert not (said := page.leave()), said


def check_keyboard(browser, command, tree):
    """From the page's first control to a named region and its export, by the keys of a keyboard alone."""
    pixels = luma_of(tree / "data" / "rubberwhale1.png")
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        page = Page(browser, server)

        def press(*keys, held=()):
            actions = ActionChains(browser, duration=0)
            for key in held:
                actions.key_down(key)
            actions.send_keys(*keys)
            for key in reversed(held):
                actions.key_up(key)
            actions.perform()

        def tab_to(name, *held):
            for _ in range(60):
                if page.run("return document.activeElement.id") == name:
                    return
                press(Keys.TAB, held=held)
            raise AssertionError(f"Tab does not reach {name}")

        tab_to("stage")
        press("n")
        x, y, width, height = check_numbers(page, pixels, server.picture(), 1)["box"]
        press(*[Keys.ARROW_DOWN] * 3, held=[Keys.SHIFT])
        press(Keys.ARROW_LEFT, held=[Keys.ALT])
        assert check_numbers(page, pixels, server.picture(), 1)["box"] == [x, y + 30, width - 1, height]
        tab_to("region-name")
        press("by keys", Keys.ENTER)
        tab_to("box-x")
        press("a", held=[Keys.CONTROL])
        before = page.numbers()["values"]["sum"]
        press("17", Keys.ENTER)
        page.wait(lambda: page.numbers()["values"]["sum"] != before)  # the field alone has the new number sooner
        check_numbers(page, pixels, server.picture(), 1)
        tab_to("scale-log")
        press(" ")
        assert page.run("return document.getElementById('scale-log').getAttribute('aria-pressed')") == "true"
        tab_to("help-open", Keys.SHIFT)
        press(Keys.ENTER)
        page.wait(lambda: page.run("return document.getElementById('help').open"))
        press(Keys.ESCAPE)
        page.wait(lambda: not page.run("return document.getElementById('help').open"))
        assert page.run("return document.activeElement.id") == "help-open"
        assert server.get("export/regions.csv").decode().splitlines()[1:] == [f"17,{y + 30},{width - 1},{height},by keys"]
        assert not (said := page.leave()), said


def check_many(browser, command, tree, scratch):
    """10,000 regions, of which visible rows alone are elements; they sort, and there may be no more."""
    pixels = luma_of(tree / "data" / "rubberwhale1.png")
    random = np.random.default_rng(SEED)
    boxes = [[int(random.integers(500)), int(random.integers(300)), int(random.integers(1, 80)), int(random.integers(1, 80))] for _ in range(10000)]
    (scratch / "many.csv").write_text("x,y,width,height\n" + "".join(",".join(map(str, box)) + "\n" for box in boxes))
    with Server(command, tree / "data" / "rubberwhale1.png", "--regions", scratch / "many.csv") as server:
        page = Page(browser, server)
        page.wait(lambda: page.run("return document.getElementById('regions-count').textContent").replace("\u2009", "") == "10000")
        choose(page, 10000)
        assert check_numbers(page, pixels, server.picture(), 10000)["box"] == boxes[-1]
        assert 2 <= len(browser.find_elements(By.CSS_SELECTOR, "#rows [role=row]")) < 40
        browser.find_element(By.CSS_SELECTOR, "[data-sort=pixels]").click()
        page.run("document.getElementById('rows').scrollTop = 0")
        page.wait(lambda: page.run("return document.querySelector('#rows [role=row]').dataset.id") == str(1 + min(range(10000), key=lambda i: boxes[i][2] * boxes[i][3])))
        page.keys("n")
        page.wait(lambda: "10000" in page.run("return document.getElementById('message').textContent"))
        assert not (said := page.leave()), said


def check_compare(browser, command, tree):
    """Eight regions by keys: the distances on the page are those of the definitions, also while a region is dragged."""
    pixels = luma_of(tree / "data" / "rubberwhale1.png")
    boxes = {i: [20 + 45 * i, 15 + 33 * i, 30 + 12 * i, 90 - 5 * i] for i in range(1, 10)}

    def counts_of(box):
        x, y, width, height = box
        return np.bincount(pixels[y:y + height, x:x + width].reshape(-1), minlength=256).tolist()

    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        page = Page(browser, server)
        draw_regions(page, [["", box] for box in boxes.values()])
        assert not browser.find_element(By.ID, "compare").is_displayed()
        page.keys("c")
        for i in range(2, 9):
            page.keys(Keys.TAB, "c")
            page.wait(lambda: page.is_fresh(i))  # noqa: B023

        def check_distances(reference, ids):
            page.wait(lambda: page.run("const all = [...document.querySelectorAll('#distances-rows [data-distance]')]; return all.length === arguments[0] && all.every((one) => one.dataset.fresh === 'true')", len(ids)))
            found = {i: {} for i in ids}
            for measure in page.run("return [...document.getElementById('measure').options].map((one) => one.value)"):
                shown = page.run("""
                    const menu = document.getElementById('measure');
                    menu.value = arguments[0];
                    menu.dispatchEvent(new Event('change'));
                    return [...document.querySelectorAll('#distances-rows tr')].map((row) => [Number(row.dataset.id), Number(row.querySelector('[data-distance]').dataset.value)])""", measure)
                for i, value in shown:
                    found[i][measure] = value
            for i in ids:
                wanted = distances_of(counts_of(boxes[i]), counts_of(boxes[reference]))
                assert set(found[i]) == set(wanted)
                assert not (wrong := differing_distances(found[i], wanted)), (i, wrong, found[i], wanted)

        check_distances(1, range(1, 9))
        page.keys(Keys.TAB, "c")  # a ninth
        page.wait(lambda: "Up to 8" in page.run("return document.getElementById('message').textContent"))
        check_accessibility(page)
        browser.find_element(By.CSS_SELECTOR, "#distances-rows tr[data-id='5'] input").click()
        check_distances(5, range(1, 9))
        # The reference moves, and all distances with it.
        choose(page, 5)
        page.keys(*[Keys.ARROW_RIGHT] * 7)
        boxes[5][0] += 7
        check_distances(5, range(1, 9))
        page.keys("c")
        check_distances(1, [1, 2, 3, 4, 6, 7, 8])
        choose(page, 2)
        page.keys(Keys.DELETE)
        check_distances(1, [1, 3, 4, 6, 7, 8])
        browser.find_element(By.ID, "compare-clear").click()
        assert not browser.find_element(By.ID, "compare").is_displayed()
        page.keys("c")  # the whole picture
        boxes[0] = [0, 0, pixels.shape[1], pixels.shape[0]]
        check_distances(0, [0])
        assert not (said := page.leave()), said


def check_arrays(browser, command, scratch):
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:700, 0:900]
    waves = np.sin(x / 40) * np.cos(y / 55) + 0.05 * random.normal(size=x.shape)
    cases = {"uint16": np.clip(900 + 700 * waves, 0, 4095).astype(np.uint16), "float32": waves.astype(np.float32), "int64": (waves * 1e15).astype(np.int64)}
    for name, pixels in cases.items():
        np.save(scratch / f"{name}.npy", pixels)
        with Server(command, scratch / f"{name}.npy") as server:
            picture = server.picture()
            page = Page(browser, server)
            check_numbers(page, pixels, picture, 0)
            browser.find_element(By.ID, "draw").click()
            page.drag((0.3, 0.3), (0.6, 0.7))
            check_numbers(page, pixels, picture, 1)
            page.keys(Keys.ARROW_RIGHT)
            check_numbers(page, pixels, picture, 1)
            browser.find_element(By.CSS_SELECTOR, "#contrast summary").click()
            check_colours(page)
            assert not (said := page.leave()), said


def check_channels(browser, command, scratch):
    """Channels drawn together: each pixel is the sum of its channels' gray in their colours; numbers stay those of the chosen channel, and each channel has its contrast."""
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:200, 0:230]
    pixels = np.stack([np.clip(1000 * (c + 1) + 300 * np.sin(x / (20 + 7 * c) + y / 31) + random.normal(0, 20, x.shape), 0, 60000) for c in range(5)], 2).astype(np.uint16)
    np.save(scratch / "channels.npy", pixels)

    def painted(page):
        return page.run("""
            const one = [...document.querySelectorAll('#stage canvas')].find((canvas) => canvas.width === 230);
            if (!one) return null;
            const copy = new OffscreenCanvas(230, 200).getContext('2d', {willReadFrequently: true});
            copy.drawImage(one, 0, 0);
            return [...copy.getImageData(0, 0, 230, 200).data]""")

    def set_(page, name, value):
        page.run("""const one = document.getElementById(arguments[0]), value = arguments[1];
            one.type === 'checkbox' ? (one.checked = value) : (one.value = value);
            one.dispatchEvent(new Event(one.tagName === 'SELECT' || one.type === 'checkbox' ? 'change' : 'input'))""", name, value)

    def contrast(page):
        return page.run("return ['black', 'white'].map((name) => Number(document.getElementById(name).value))")

    def gray(channel, black, white, drawn):
        low, high = (drawn[0] + end / 1000 * (drawn[1] - drawn[0]) for end in (black, white))
        return np.clip((pixels[:, :, channel].astype(float) - low) / (high - low) * 255, 0, 255)

    with Server(command, scratch / "channels.npy", "--pixel-size", "0.5,0.25") as server:
        picture = server.picture()
        assert picture["pixel_size"] == {"x": 0.5, "y": 0.25, "unit": "µm"}, picture
        page = Page(browser, server)
        check_numbers(page, np.ascontiguousarray(pixels[:, :, 0]), picture, 0)
        assert page.run("return document.getElementById('physical').textContent").replace("\u2009", " ") == "115.0 × 50.00 µm, 5 750 µm²"
        bar = page.run("const one = document.getElementById('scale-bar'); return [one.textContent, one.clientWidth]")
        scale = page.run("return document.getElementById('zoom').textContent")
        length = float(bar[0].removesuffix(" µm"))
        assert bar[0].endswith(" µm") and abs(bar[1] - length / 0.5 * int(scale.removesuffix(" %")) / 100) < 2, (bar, scale)
        fitted = {}
        for channel in range(4):  # each is fitted when it is drawn for the first time
            set_(page, "channel", str(channel))
            page.wait(lambda: contrast(page) != [0, 1000])
            fitted[channel] = contrast(page)
            check_numbers(page, np.ascontiguousarray(pixels[:, :, channel]), picture, 0)
        assert len({tuple(ends) for ends in fitted.values()}) == 4, fitted
        set_(page, "tints-on", True)
        page.wait(lambda: page.run("return document.querySelectorAll('#tint-rows input[type=color]').length") == 5)
        tints = page.run("return [...document.querySelectorAll('#tint-rows input[type=color]')].map((one) => one.value)")

        def wanted(channels):
            lights = {c: [int(tints[c][i:i + 2], 16) / 255 for i in (1, 3, 5)] for c in channels}
            return np.clip(sum(gray(c, *fitted[c], picture["drawn"])[:, :, None] * np.array(lights[c]) for c in channels), 0, 255)

        def is_close(found, colours):
            """Within a slider's step and four roundings; False while the tile is on its way."""
            return found is not None and np.abs(np.reshape(found, (200, 230, 4))[:, :, :3] - colours).max() < 5

        def is_drawn(channels):
            return is_close(painted(page), wanted(channels))

        page.wait(lambda: is_drawn([0, 1, 2, 3]))
        assert not is_drawn([0, 1, 2]) and not is_drawn([3])
        check_numbers(page, np.ascontiguousarray(pixels[:, :, 3]), picture, 0)
        page.run("document.querySelectorAll('#tint-rows input[type=checkbox]')[4].click()")  # a fifth is refused
        assert "four" in page.run("return document.getElementById('message').textContent")
        page.run("document.querySelectorAll('#tint-rows input[type=checkbox]')[1].click()")
        page.wait(lambda: is_drawn([0, 2, 3]))
        set_(page, "channel", "2")
        check_numbers(page, np.ascontiguousarray(pixels[:, :, 2]), picture, 0)
        assert is_drawn([0, 2, 3]) and contrast(page) == fitted[2]
        page.run("const one = document.getElementById('white'); one.value = 900; one.dispatchEvent(new Event('input'))")
        fitted[2] = [fitted[2][0], 900]
        page.wait(lambda: is_drawn([0, 2, 3]))
        page.run("for (const menu of document.querySelectorAll('.menu')) menu.open = true; document.getElementById('range').open = true")
        check_look(page, "channels drawn together")
        set_(page, "tints-on", False)
        page.wait(lambda: is_close(painted(page), gray(2, *fitted[2], picture["drawn"])[:, :, None]))
        file = scratch / "channels.html"
        file.write_bytes(server.get("export/page.html"))
        assert not (said := page.leave()), said
    page = Page(browser, types.SimpleNamespace(url=file.as_uri()))
    set_(page, "tints-on", True)
    page.wait(lambda: page.run("return document.querySelectorAll('#stage canvas').length") > 0 and painted(page) is not None)
    assert page.run("return document.getElementById('physical').textContent").startswith("115.0 ×")
    assert not (said := page.leave()), said


def set_range(page, low, high):
    page.run("document.getElementById('range').open = true")
    for name, value in (("range-low", low), ("range-high", high)):
        field = page.browser.find_element(By.ID, name)
        field.clear()
        field.send_keys(str(value))
    page.browser.find_element(By.CSS_SELECTOR, "#range-form button").click()


def check_range(browser, command, scratch):
    """A range that is typed on the page is that of its histograms and percentiles, on all pages, and in the saved file; a wrong one changes nothing."""
    random = np.random.default_rng(SEED)
    pixels = random.normal(1000, 200, (900, 700)).astype(np.float32)
    np.save(scratch / "range.npy", pixels)
    for memory in ("2G", "164M"):  # in memory, and on disk
        with Server(command, scratch / "range.npy", "--memory", memory) as server:
            page = Page(browser, server)
            before = server.picture()
            assert before["page"] == (memory == "2G")
            browser.find_element(By.ID, "draw").click()
            page.drag((0.4, 0.4), (0.55, 0.6))
            check_numbers(page, pixels, before, 1)
            set_range(page, 900, 1100.5)
            page.wait(lambda: page.run("return document.getElementById('spoken').textContent").startswith("The histogram covers"))
            assert server.picture()["range"] == [900, 1100.5]
            check_numbers(page, pixels, before | {"range": [900, 1100.5]}, 1)
            set_range(page, 5, 5)
            page.wait(lambda: "range" in page.run("return document.getElementById('message').textContent"))
            assert server.picture()["range"] == [900, 1100.5]
            assert not (said := page.leave()), said
            page = Page(browser, server)  # a page that is opened later, and one that hears of a change
            browser.find_elements(By.CSS_SELECTOR, "#rows [role=row]")[0].click()
            check_numbers(page, pixels, server.picture(), 1)
            page.run("""
                const link = new WebSocket(new URL('ws', location.href).href.replace('http', 'ws'));
                link.onopen = () => link.send(JSON.stringify({do: 'range', n: 1, range: [0, 4000]}));
                setTimeout(() => link.close(), 500)""")
            page.wait(lambda: page.run("return document.getElementById('range-high').value") == "4000")
            check_numbers(page, pixels, before | {"range": [0, 4000]}, 1)
            file = server.get("export/page.html") if before["page"] else None
            assert not (said := page.leave()), said
        if file:
            (scratch / "range.html").write_bytes(file)
            page = Page(browser, types.SimpleNamespace(url=(scratch / "range.html").as_uri()))
            choose(page, 1)
            check_numbers(page, pixels, before | {"range": [0, 4000]}, 1)
            set_range(page, 500, 1500)
            page.wait(lambda: page.run("return document.getElementById('spoken').textContent").startswith("The histogram covers"))
            check_numbers(page, pixels, before | {"range": [500, 1500]}, 1)
            assert not (said := page.leave()), said


def check_file(browser, command, tree, scratch):
    """The page in one HTML file, opened from disk: it counts itself, and asks nobody."""
    random = np.random.default_rng(SEED)
    shape = (301, 397)
    nan = random.normal(5, 2, shape).astype(np.float32)
    nan[20, 30], nan[100, 200], nan[290, 390] = np.nan, np.inf, -np.inf
    cases = {"uint16": random.integers(100, 4000, shape).astype(np.uint16), "int8": random.integers(-128, 128, shape).astype(np.int8), "uint32": random.integers(0, 2 ** 32, shape).astype(np.uint32),
             "int64": random.integers(-2 ** 63, 2 ** 63 - 1, shape), "uint64": random.integers(2 ** 63, 2 ** 63 + 1000, shape, dtype=np.uint64), "float16": random.normal(3, 1, shape).astype(np.float16),
             "nan": nan}
    for name, pixels in cases.items():
        np.save(scratch / f"file-{name}.npy", pixels)
    photo = tree / "data" / "rubberwhale1.png"
    cases["photo"] = luma_of(photo)
    for name, pixels in cases.items():
        high, wide = pixels.shape
        boxes = [[10, 5, 100, 80], [150, 90, 120, 101], [0, 0, wide, high]]
        with Server(command, photo if name == "photo" else scratch / f"file-{name}.npy", *(["--bins", "50"] if name == "uint16" else [])) as server:
            picture = server.picture()
            assert picture["page"] is True
            page = Page(browser, server)
            draw_regions(page, [["</script><b>", boxes[0]], ["", boxes[1]]])
            page.leave()
            file = scratch / f"{name}.html"
            file.write_bytes(server.get("export/page.html"))
        page = Page(browser, types.SimpleNamespace(url=file.as_uri()))
        assert page.run("return document.getElementById('connection').textContent") == "in this file"
        check_numbers(page, pixels, picture, 0)
        for region in (1, 2):
            choose(page, region)
            assert check_numbers(page, pixels, picture, region)["box"] == boxes[region - 1]
        if name not in ("photo", "uint16"):
            assert not (said := page.leave()), said
            continue
        browser.find_element(By.ID, "draw").click()
        assert page.drag((0.75, 0.3), (0.9, 0.6)) >= 3
        check_numbers(page, pixels, picture, 3)
        page.keys(Keys.ARROW_RIGHT)
        box = check_numbers(page, pixels, picture, 3)["box"]
        if name == "photo":
            from PIL import Image
            page.wait(lambda: page.run("return document.querySelectorAll('#stage .leaflet-tile-loaded').length") > 0)
            colours = page.run("return [...document.querySelectorAll('#stage canvas')].map((one) => [...one.getContext('2d').getImageData(10, 10, 1, 1).data].slice(0, 3))")
            assert [int(v) for v in np.asarray(Image.open(photo).convert("RGB"))[10, 10]] in colours, colours
            page.keys("c", Keys.SHIFT + Keys.TAB, "c")
            page.wait(lambda: page.run("return document.querySelectorAll('#distances-rows [data-fresh=true]').length") == 2)
            counts = [np.bincount(pixels[y:y + h, x:x + w].reshape(-1), minlength=256).tolist() for x, y, w, h in (boxes[1], box)]
            found = {}
            for measure in page.run("return [...document.getElementById('measure').options].map((one) => one.value)"):
                page.run("const menu = document.getElementById('measure'); menu.value = arguments[0]; menu.dispatchEvent(new Event('change'))", measure)
                found[measure] = float(page.run("return document.querySelector('#distances-rows [data-id=\"2\"] [data-distance]').dataset.value"))
            assert not (wrong := differing_distances(found, distances_of(*counts))), (wrong, found)
        page.keys(Keys.DELETE)
        page.wait(lambda: page.is_fresh(0))
        assert not (said := page.leave()), said
    with Server(command, "synthetic:2100x2000:3") as server:  # more than 4 MP
        assert server.picture()["page"] is False
        try:
            server.get("export/page.html")
        except urllib.error.HTTPError as error:
            assert error.code == 404
        else:
            raise AssertionError("a page of 4.2 MP was saved")


def frames_of(count, width=96, height=72):
    """A bright square that moves over noise: count x height x width x 3."""
    random = np.random.default_rng(SEED)
    frames = np.repeat(random.integers(0, 90, (1, height, width, 3), dtype=np.uint8), count, axis=0)
    for i, frame in enumerate(frames):
        frame[20:40, 10 + 3 * i:34 + 3 * i] = (200, 230, 160)
        frame[26:32, 16 + 3 * i:24 + 3 * i] = (20, 60, 250)
    return frames


def at_frame(page, number):
    page.wait(lambda: page.run("return document.getElementById('frame').dataset.number") == str(number))


def check_video(browser, command, scratch):
    """A clip and a folder: play, steps, seeks, a region on a frame, and a tracker whose rows are those of `areal track`."""
    from PIL import Image
    frames = frames_of(14)
    folder = scratch / "frames"
    folder.mkdir()
    for i, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"{i}.png")
    clip = scratch / "clip.mp4"

    def run(*arguments):
        return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=60).stdout
    run("filter", "mean", folder, "--all-channels", "--size", "1", "-o", clip)
    run("filter", "min", clip, "--size", "1", "-o", f"{scratch}/luma/")
    luma = [np.asarray(Image.open(file)) for file in sorted((scratch / "luma").iterdir())]
    assert len(luma) == len(frames)
    with Server(command, clip) as server:
        picture = server.picture()
        assert picture["kind"] == "video"
        page = Page(browser, server)
        check_numbers(page, luma[0], picture, 0)
        page.keys(".", ".", ".")
        at_frame(page, 3)
        browser.find_element(By.ID, "draw").click()
        left, top, width, height = page.place()
        scale = page.run("return parseInt(document.getElementById('zoom').textContent.replace(/\\D/g, '')) / 100")
        def share(x, y):
            return 0.5 + (x - 48) * scale / width, 0.5 + (y - 36) * scale / height
        assert page.drag(share(18, 18), share(45, 42)) >= 3
        box = check_numbers(page, luma[3], picture, 1)["box"]
        assert not np.array_equal(luma[3], luma[4])
        page.keys(".")
        at_frame(page, 4)
        assert check_numbers(page, luma[4], picture, 1)["box"] == box
        page.keys(",")
        at_frame(page, 3)
        check_numbers(page, luma[3], picture, 1)
        page.keys("t")
        page.wait(lambda: page.run("return document.getElementById('score').dataset.value") == "0")
        check_unnamed(page)
        check_accessibility(page)
        page.keys(" ")
        at_frame(page, 13)
        page.wait(lambda: page.run("return document.getElementById('play').dataset.plays") == "false")
        moved = check_numbers(page, luma[13], picture, 1)["box"]
        assert moved[0] > box[0] + 20, (box, moved)
        rows = [row.split(",") for row in server.get("export/tracks.csv").decode().splitlines()]
        wanted = [row.split(",") for row in run("track", clip, "--from", "3", "--box", ",".join(map(str, box))).splitlines()]
        assert len(rows) == 12 and [row[:2] + row[3:] for row in rows] == [row[:2] + row[3:] for row in wanted], (rows, wanted)
        browser.find_element(By.ID, "position").send_keys(Keys.HOME)
        at_frame(page, 0)
        assert check_numbers(page, luma[0], picture, 1)["box"] == moved  # it has no box there
        page.wait(lambda: page.run("return document.querySelectorAll('#stage .leaflet-tile-loaded').length") > 0)
        assert not (said := page.leave()), said
    with Server(command, folder) as server:
        picture = server.picture()
        page = Page(browser, server, 360, 740, touch=True)
        check_unnamed(page)
        page.run("const one = document.getElementById('position'); one.value = 7; one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change'))")
        at_frame(page, 7)
        red, green, blue = np.moveaxis(frames[7].astype(np.int64), 2, 0)
        check_numbers(page, ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8), picture, 0)
        page.wait(lambda: page.run("return [...document.querySelectorAll('#stage canvas')].some((one) => String([...one.getContext('2d').getImageData(40, 22, 1, 1).data]) === '200,230,160,255')"))
        assert not (said := page.leave()), said


def pick_layer(page, kind, **options):
    """Waits until it is shown, or refused."""
    page.run("""
        const layer = document.getElementById('layer'), kind = document.getElementById('layer-kind');
        delete layer.dataset.layer;
        if (kind.value !== arguments[0]) { kind.value = arguments[0]; kind.dispatchEvent(new Event('change')); }
        for (const [name, value] of Object.entries(arguments[1])) {
          const field = layer.querySelector(`[data-option="${name}"]`);
          field.value = value;
          field.dispatchEvent(new Event('input'));
        }""", kind, options)
    page.wait(lambda: page.run("return document.getElementById('layer').dataset.layer ?? document.querySelector('#layer-message.error')?.textContent"))


def under_pointer(page, x, y, picture):
    """What the status line says about a pixel, thin spaces left out."""
    left, top, width, height = page.place()
    scale = page.run("return document.querySelector('.overlay canvas').getBoundingClientRect().width / document.querySelector('.overlay canvas').width")
    move = ActionChains(page.browser, duration=0)
    move.w3c_actions.pointer_action.move_to_location(
        round(left + width / 2 + (x + 0.5 - picture["width"] / 2) * scale), round(top + height / 2 + (y + 0.5 - picture["height"] / 2) * scale))
    move.perform()
    return page.run("return document.getElementById('cursor').textContent").replace("\u2009", "")


def check_layers(browser, command, tree):
    """Filters and searches from the menu: values under the pointer are NumPy's, the best places become regions, errors are sentences."""
    path = tree / "data" / "rubberwhale1.png"
    pixels = luma_of(path).astype(np.float64)
    with Server(command, path) as server:
        picture = server.picture()
        page = Page(browser, server)
        offered = page.run("return [...document.querySelectorAll('#layer-kind option')].map((one) => one.value)")
        known = subprocess.run([command, "filter", "none", path, "--size", "3", "-o", "none.png"], capture_output=True, text=True, timeout=60, check=False).stderr
        assert known.split("may be ")[1].strip().replace(" or ", ", ").split(", ") == offered[1:-2], (known, offered)
        for name in ("var", "percentile", "sauvola", "guided", "gaussian", "bilateral"):  # with the values that their fields begin with
            pick_layer(page, name)
            assert not (wrong := page.run("return document.querySelector('#layer-message.error')?.textContent")), (name, wrong)
        pick_layer(page, "std", size="9x5")
        for x, y in ((300, 200), (40, 371), (500, 12)):
            wanted = pixels[y - 2:y + 3, x - 4:x + 5].std()
            said = under_pointer(page, x, y, picture)
            assert said.startswith(f"x {x}  y {y}: ") and abs(float(said.split("std ")[1]) - wanted) < 1e-4, (said, wanted)
        pick_layer(page, "percentile", size="9", q="120")
        assert page.run("return document.getElementById('layer-message').textContent") == "Percent 120: it may be 0 to 100."
        assert page.run("return document.querySelectorAll('.overlay canvas').length") == 0
        check_accessibility(page)
        draw_regions(page, [["", [215, 85, 105, 100]]])
        pick_layer(page, "match:")
        places = page.run("return [...document.querySelectorAll('#places li')].map((one) => [one.dataset.box, Number(one.dataset.score)])")
        assert 2 <= len(places) <= 10 and places[0] == ["215,85,105,100", 1], places
        x, y = map(int, places[1][0].split(",")[:2])
        a, b = (part - part.mean() for part in (pixels[85:185, 215:320], pixels[y:y + 100, x:x + 105]))
        assert abs(places[1][1] - (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())) < 1e-9, places
        page.run("document.querySelectorAll('#places button')[1].click()")
        assert check_numbers(page, luma_of(path), picture, 2)["box"] == [x, y, 105, 100]
        check_unnamed(page)
        check_colours(page)
        check_accessibility(page)
        pick_layer(page, "histogram:", distance="emd")
        assert page.run("return document.querySelector('#places li').dataset.box") == f"{x},{y},105,100"
        assert not (said := page.leave()), said


def keep_pictures(browser, command, tree, scratch, folder):
    """The screenshots of docs/view.md."""
    def keep(page, name):
        from PIL import Image
        time.sleep(0.3)
        browser.save_screenshot(str(scratch / "shot.png"))
        Image.open(scratch / "shot.png").convert("RGB").save(folder / f"{name}.jpg", quality=80, optimize=True)
        page.leave()

    regions = [["whale", [215, 85, 105, 100]], ["wool", [360, 10, 130, 120]], ["ring", [150, 225, 150, 95]], ["box", [400, 262, 180, 120]]]
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        page = Page(browser, server)
        draw_regions(page, regions)
        keep(page, "photograph")
        page = Page(browser, server)
        for region in (1, 2, 3, 4):
            choose(page, region)
            browser.find_element(By.ID, "compare-toggle").click()
        page.wait(lambda: page.run("return document.querySelectorAll('#distances-rows [data-fresh=true]').length") == 4)
        page.run("document.getElementById('compare').scrollIntoView({block: 'start'})")
        keep(page, "compare")
        page = Page(browser, server)
        choose(page, 1)
        pick_layer(page, "histogram:")
        page.run("document.getElementById('layer').scrollIntoView({block: 'start'})")
        keep(page, "search")
        page = Page(browser, server, dark=True)
        browser.find_elements(By.CSS_SELECTOR, "#rows [role=row]")[1].click()
        page.wait(lambda: page.is_fresh(2))
        page.keys("+", "+", "+")
        browser.find_element(By.ID, "scale-log").click()
        keep(page, "dark")
        page = Page(browser, server, 360, 740, touch=True)
        page.run("document.querySelectorAll('#rows [role=row]')[2].click()")
        page.wait(lambda: page.is_fresh(3))
        keep(page, "narrow")
        page = Page(browser, server)
        browser.find_element(By.ID, "help-open").click()
        keep(page, "keys")
    with Server(command, tree / "data" / "vtest.avi") as server:
        page = Page(browser, server)
        draw_regions(page, [["walker", [254, 220, 31, 89]], ["lamp", [478, 115, 48, 60]]])
        page.keys("t")
        for number in range(1, 13):
            page.keys(".")
            at_frame(page, number)
        page.wait(page.is_fresh)
        keep(page, "video")
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:900, 0:1200]
    cells = sum(peak * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * size ** 2))
                for cx, cy, size, peak in zip(random.uniform(0, 1200, 60), random.uniform(0, 900, 60), random.uniform(12, 40, 60), random.uniform(300, 2500, 60), strict=True))
    np.save(scratch / "cells.npy", random.poisson(180 + cells).astype(np.uint16))
    with Server(command, scratch / "cells.npy") as server:
        page = Page(browser, server)
        draw_regions(page, [["", [300, 250, 260, 220]], ["background", [900, 60, 120, 90]]])
        browser.find_element(By.CSS_SELECTOR, "#contrast summary").click()
        keep(page, "16-bit")
    u, v = x + 9 * np.sin(y / 37), y + 11 * np.sin(x / 41)
    fibres = 900 * np.maximum(0, np.sin(u / 11) * np.cos(v / 90)) ** 6 + 700 * np.maximum(0, np.sin((u + 2 * v) / 17)) ** 8
    spots = sum(3000 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 14) for cx, cy in zip(random.uniform(0, 1200, 150), random.uniform(0, 900, 150), strict=True))
    np.save(scratch / "culture.npy", random.poisson(np.stack([180 + fibres, 180 + cells, 180 + spots, 180 + 0 * spots], 2)).astype(np.uint16))
    with Server(command, scratch / "culture.npy", "--pixel-size", "0.65") as server:
        page = Page(browser, server)
        draw_regions(page, [["", [300, 250, 260, 220]], ["background", [900, 60, 120, 90]]])
        page.run("document.getElementById('tints').open = true; document.getElementById('tints-on').click(); document.querySelectorAll('#tint-rows input[type=checkbox]')[3].click()")
        time.sleep(1)
        keep(page, "channels")


LOOKS = ({}, {"dark": True}, {"width": 360, "height": 740, "touch": True}, {"width": 360, "height": 740, "touch": True, "dark": True})


def check_look(page, state):
    """Names, sizes, colours and what axe-core finds."""
    for check in (check_unnamed, check_colours, check_accessibility):
        try:
            check(page)
        except AssertionError as error:
            raise AssertionError(f"{state}: {error}") from error


def check_states(browser, command, tree, scratch):
    """All that the page can show, light and dark, wide and 360 pixels narrow, is accessible: lists, menus, tables, layers, comparison, help; other inputs, a lost connection, and the saved file."""
    regions = [["whale", [215, 85, 105, 100]], ["wool", [360, 10, 130, 120]], ["ring", [150, 225, 150, 95]]]

    def check_page(page, look):
        has_layers = page.run("return document.getElementById('layer-field').checkVisibility()")
        choose(page, 1)
        for region in (2, 3):
            choose(page, region)
            page.run("document.getElementById('compare-toggle').click()")
        page.wait(lambda: page.run("return document.querySelectorAll('#distances-rows [data-fresh=true]').length") == 2)
        page.run("document.getElementById('layer-more').open = true")
        if has_layers:
            pick_layer(page, "bilateral")
            assert page.run("return document.getElementById('layer-further').checkVisibility()")
        check_look(page, ("lists, comparison, filter", look))
        if has_layers:
            pick_layer(page, "bilateral", size="0")
            assert page.run("return document.querySelector('#layer-message.error').checkVisibility()")
            check_colours(page)
            pick_layer(page, "histogram:")
            page.wait(lambda: page.run("return document.querySelectorAll('#places li').length") > 1)
        page.run("for (const menu of document.querySelectorAll('.menu')) menu.open = true")
        check_look(page, ("search, menus", look))
        page.run("for (const menu of document.querySelectorAll('.menu')) menu.open = false; document.getElementById('help-open').click()")
        check_look(page, ("help", look))

    random = np.random.default_rng(SEED)
    deep = random.integers(0, 4000, (3300, 1300)).astype(np.uint16)
    deep[0, 0] = 60000
    np.save(scratch / "deep.npy", deep)
    subprocess.run([command, "sat", tree / "data" / "rubberwhale1.png", "-o", scratch / "states.zarr", "-q"], check=True, timeout=120)
    file = scratch / "states.html"
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        draw_regions(Page(browser, server), regions)
        file.write_bytes(server.get("export/page.html"))
        for look in LOOKS:
            page = Page(browser, server, **look)
            check_page(page, look)
            if look == LOOKS[-1]:  # at the end: its 256 rows take axe-core seconds
                page.run("document.getElementById('help').close(); document.getElementById('counts').open = true")
                check_look(page, ("histogram as a table", look))
            assert not (said := page.leave()), said
    for look in LOOKS[::3]:
        page = Page(browser, types.SimpleNamespace(url=file.as_uri()), **look)
        check_page(page, ("saved file", look))
        assert not (said := page.leave()), said
    for arguments in ((scratch / "deep.npy", "--range", "0,5000", "--memory", "188M"), (scratch / "states.zarr",), (tree / "data" / "vtest.avi",)):
        with Server(command, *arguments) as server:
            for look in LOOKS[::3]:
                page = Page(browser, server, **look)
                check_look(page, (arguments[0].name, look))
                assert not (said := page.leave()), said
            Page(browser, server, dark=True)
        page.wait(lambda: page.run("return document.body.classList.contains('offline')"))
        check_look(page, ("lost connection", arguments[0].name))
        page.leave()


def check_lost(browser, command, tree):
    """A server that ends: the page says so and keeps its numbers, grey."""
    server = Server(command, tree / "data" / "rubberwhale1.png")
    page = Page(browser, server)
    server.end()
    page.wait(lambda: page.run("return document.body.classList.contains('offline')"))
    assert "no connection" in page.run("return document.getElementById('connection').textContent")
    page.leave()


def check_foreign_page(browser, command, tree, scratch):
    """A page of another origin learns nothing, even with the address: no pixels, no frame, no socket."""
    import functools
    import http.server
    import threading
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        (scratch / "evil.html").write_text("""<!doctype html><title>evil</title><script>
          const base = new URLSearchParams(location.search).get('base'), found = {};
          const done = () => Object.keys(found).length === 5 && (document.title = JSON.stringify(found));
          fetch(base + 'picture.json').then((r) => r.text()).then(() => 'read', () => 'refused').then((v) => (found.fetch = v, done()));
          fetch(base + 'picture.json', {mode: 'no-cors'}).then((r) => r.text()).then((t) => t.length ? 'read' : 'refused', () => 'refused').then((v) => (found.opaque = v, done()));
          const socket = new WebSocket(base.replace('http', 'ws') + 'ws');
          socket.onopen = () => (found.socket = 'read', done()); socket.onerror = () => (found.socket = 'refused', done());
          const script = document.createElement('script'); script.src = base + 'app/numbers.js';
          script.onload = () => (found.script = 'read', done()); script.onerror = () => (found.script = 'refused', done()); document.head.append(script);
          const frame = document.createElement('iframe'); frame.src = base; frame.onload = () => (found.frame = 'ended', done()); document.documentElement.append(frame);
        </script>""")
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(scratch)))
        threading.Thread(target=other.serve_forever, daemon=True).start()
        browser.get(f"http://localhost:{other.server_port}/evil.html?base={server.url}")
        WebDriverWait(browser, 10).until(lambda b: b.title.startswith("{"))
        assert json.loads(browser.title) == dict.fromkeys(("fetch", "opaque", "socket", "script"), "refused") | {"frame": "ended"}, browser.title
        messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        framed = [message["params"]["response"]["status"] for message in messages
                  if message["method"] == "Network.responseReceived" and message["params"]["type"] == "Document" and message["params"]["response"]["url"] == server.url]
        assert framed == [403], framed
        other.shutdown()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path, help="write the screenshots of docs/view.md into this folder, and test nothing")
    arguments = parser.parse_args()
    command = command_of(arguments.build)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        browser = open_browser(scratch / "profile")
        if browser is None:
            print("skipped: there is no Chromium with its driver here (Debian packages chromium, chromium-driver; Ubuntu's is a snap), no selenium or no axe-core-python")
            sys.exit(SKIPPED)
        try:
            if arguments.pictures:
                keep_pictures(browser, command, arguments.tree, scratch, arguments.pictures)
                return
            for check in (lambda: check_planted_messages(browser, command, arguments.tree), lambda: check_photo(browser, command, arguments.tree), lambda: check_keyboard(browser, command, arguments.tree),
                          lambda: check_many(browser, command, arguments.tree, scratch), lambda: check_compare(browser, command, arguments.tree), lambda: check_arrays(browser, command, scratch),
                          lambda: check_channels(browser, command, scratch), lambda: check_range(browser, command, scratch),
                          lambda: check_file(browser, command, arguments.tree, scratch), lambda: check_video(browser, command, scratch),
                          lambda: check_layers(browser, command, arguments.tree), lambda: check_states(browser, command, arguments.tree, scratch),
                          lambda: check_foreign_page(browser, command, arguments.tree, scratch), lambda: check_lost(browser, command, arguments.tree)):
                start = time.monotonic()
                check()
                print(f"{time.monotonic() - start:.1f} s", flush=True)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
