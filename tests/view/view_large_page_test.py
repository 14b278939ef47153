#!/usr/bin/env python3
"""The page of `areal view` in headless Chromium on pictures larger than --memory: numbers are NumPy's after a drag, marked during it where
edges need decoding, and there when the survey has passed."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from view_large_test import write_zarr
from view_page_test import SEED, Page, check_numbers, check_unnamed, open_browser
from view_server import SKIPPED, Server, command_of

try:
    from selenium.webdriver.common.by import By
except ImportError:
    By = None  # open_browser then finds none


def drag_marked(page, start, end):
    """Drags as Page.drag; returns how many of its steps showed numbers marked as rounded."""
    marked = 0
    left, top, width, height = page.place()
    def at(share):
        return {"x": left + share[0] * width, "y": top + share[1] * height, "button": "left", "clickCount": 1}
    def mouse(kind, share, buttons=1):
        page.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "buttons": buttons, **at(share)})
    mouse("mousePressed", start)
    for step in range(1, 7):
        mouse("mouseMoved", tuple(a + (b - a) * step / 6 for a, b in zip(start, end, strict=True)))
        page.wait(page.is_fresh)
        marked += page.run("return document.querySelector('[data-stat=sum]').textContent").startswith("≈")
    mouse("mouseReleased", end, 0)
    return marked


def check(browser, command, path, pixels, *arguments, decodes, shot=None):
    with Server(command, path, *arguments) as server:
        picture = server.picture()
        page = Page(browser, server)
        shown = check_numbers(page, pixels, picture, 0)  # waits for the survey
        assert shown["box"] == [0, 0, picture["width"], picture["height"]]
        page.wait(lambda: page.run("return document.getElementById('survey').hidden"))
        browser.find_element(By.ID, "draw").click()
        marked = drag_marked(page, (0.3, 0.3), (0.7, 0.75))
        assert (marked > 0) == decodes, marked
        check_numbers(page, pixels, picture, 1)
        assert not page.run("return document.querySelector('[data-stat=sum]').textContent").startswith("≈")
        page.keys("+", "+", "+", "+")
        page.drag((0.42, 0.42), (0.5, 0.45))
        check_numbers(page, pixels, picture, 1)
        check_unnamed(page)
        page.keys("0")
        # The page draws the picture: tiles of the smallest levels are not black.
        page.wait(lambda: page.run("""
            const tiles = [...document.querySelectorAll('#stage .leaflet-tile')].filter((one) => one.width > 1);
            const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
            const gray = (one) => { pixel.drawImage(one, -(one.width >> 1), -(one.height >> 1)); return pixel.getImageData(0, 0, 1, 1).data[0]; };
            return tiles.length > 0 && tiles.every((one) => gray(one) > 0)"""))
        if shot:
            browser.save_screenshot(str(shot))
        assert not (said := page.leave()), said
    print(f"{path.name}: {marked} of 6 steps of a drag were marked")


def check_table(browser, command, scratch, pixels):
    """A table: sums and means are NumPy's, all else is a dash, and a sentence says why."""
    np.save(scratch / "small.npy", pixels)
    subprocess.run([command, "sat", scratch / "small.npy", "-o", scratch / "table.zarr", "-q"], check=True, timeout=120)
    with Server(command, scratch / "table.zarr") as server:
        page = Page(browser, server)
        browser.find_element(By.ID, "draw").click()
        page.drag((0.3, 0.3), (0.6, 0.7))
        page.wait(lambda: page.is_fresh(1))
        shown = page.numbers()
        x, y, width, height = shown["box"]
        part = pixels[y:y + height, x:x + width].astype(np.int64)
        assert shown["values"]["sum"] == str(part.sum()) and abs(float(shown["values"]["mean"]) - part.mean()) < 1e-9, shown
        assert shown["values"]["std"] == shown["values"]["min"] == shown["values"]["p50"] == "null", shown
        assert page.run("return document.querySelector('[data-stat=std]').textContent") == "—"
        assert page.run("return document.getElementById('no-histogram').checkVisibility() && !document.getElementById('histogram').checkVisibility()")
        check_unnamed(page)
        assert not (said := page.leave()), said


def write_slide(path, colours):
    """A tiled TIFF that says that an Aperio scanner made it: OpenSlide takes its word."""
    import tifffile

    height, width, _ = colours.shape
    said = f"Aperio Image Library v11.2.1\r\n{width}x{height} [0,0 {width}x{height}] (256x256)|AppMag = 20"
    tifffile.imwrite(path, colours, tile=(256, 256), photometric="rgb", description=said, metadata=None)


def luma_of(colours):
    red, green, blue = np.moveaxis(colours.astype(np.int64), 2, 0)
    return ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--shot", type=pathlib.Path, help="keep a screenshot here")
    arguments = parser.parse_args()
    command = command_of(arguments.build)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        browser = open_browser(scratch / "profile")
        if browser is None:
            print("skipped: there is no Chromium with its driver here, or no selenium")
            sys.exit(SKIPPED)
        try:
            random = np.random.default_rng(SEED)
            y, x = np.mgrid[0:3300, 0:4100]
            waves = (np.sin(x / 400) * np.cos(y / 550) * 90 + 128 + random.integers(-20, 20, x.shape)).astype(np.uint8)
            np.save(scratch / "waves.npy", waves)
            check(browser, command, scratch / "waves.npy", waves, "--memory", "176M", decodes=False, shot=arguments.shot)
            check_table(browser, command, scratch, waves[:900, :1100])
            deep = waves.astype(np.uint16) * 211 + (x % 7).astype(np.uint16)
            write_zarr(scratch / "cells.zarr", [deep, deep[::2, ::2], deep[::4, ::4], deep[::8, ::8]], 512)
            check(browser, command, scratch / "cells.zarr", deep, "--memory", "196M", "--range", "0,60000", decodes=True)
            if (arguments.build / "src" / "areal" / "areal_slides.so").exists():
                colours = np.stack([waves, 255 - waves, (waves // 2 + x % 97).astype(np.uint8)], axis=-1)
                write_slide(scratch / "slide.svs", colours)
                check(browser, command, scratch / "slide.svs", luma_of(colours), "--memory", "200M", decodes=True)
            else:
                print("no slide: this build has no OpenSlide")
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
