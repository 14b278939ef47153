#!/usr/bin/env python3
"""bench/pages/sweep_choices.py on planted records: it finds the thresholds behind the best rows, prints the range of each, and reports the cases
that no thresholds fit."""

import argparse
import contextlib
import io
import json
import pathlib
import random
import sys
import tempfile

from planted import sweep_case

SIZES = [(256, 256, 1), (512, 512, 1), (640, 480, 1), (1024, 1024, 1), (1280, 720, 1), (1920, 1080, 1), (2048, 2048, 1), (3840, 2160, 1),
         (4096, 4096, 1), (5000, 7000, 1), (8192, 8192, 1), (16384, 16384, 1), (640, 480, 64), (1920, 1080, 8)]


def planted(lane, border, few, bands, diagonal, rng):
    """Cases whose best rows follow these thresholds; all others take 5 to 50 % more."""
    cases = []
    for width, height, batch in SIZES:
        names = ["lookback", "lookback-diagonal", "all-partials", "thin"]
        if batch == 1 and bands is not None:
            names.append("bands")
        side = min(width, height)
        if max(width, height) <= 3072 and width * height * batch <= few:
            best = "all-partials"
        elif "bands" in names and bands[0] <= side < bands[1]:
            best = "bands"
        else:
            best = "lookback-diagonal" if side >= diagonal else "lookback"
        times = {name: 100 * (1 if name == best else rng.uniform(1.05, 1.5)) for name in names}
        cases.append(sweep_case(lane, width, height, batch, border, times, "thin"))
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import sweep_choices as tool  # pylint: disable=import-outside-toplevel

    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(3):
        few, bands, diagonal = rng.choice([0, 600 * 600, 2000 * 2000, 9000000]), rng.choice([(700, 20000), (3000, 20000), (3000, 9000), (20000, 20000)]), rng.choice([1000, 3000, 9000, 20000])
        record = planted("8u32f", "none", few, bands, diagonal, rng) + planted("8u32f", "zero", few, None, diagonal, rng)
        assert not any(tool.is_enough(case, tool.chosen(case)) for case in record)
        cost, *found = tool.fit(record)
        assert cost[0] == 0, (cost, few, bands, diagonal)
        for case in record:
            assert tool.choice(case, *found) == tool.best_of(case)[0], (case, found)
        # The printed ranges: both ends make the same choices, values beyond do not.
        _, bands_of, side = found
        low, high = tool.ranges(record, *found)["few"]
        assert low <= few and (few < high or few > 3072 * 3072), (low, few, high)
        low, high = tool.ranges(record, *found)["bands", "none"]
        assert low < bands[0] <= high, (low, bands, high)
        ends = tool.ranges(record, *found)["end", "none"]
        assert bands[0] == 20000 or ends[0] < bands[1] <= ends[1], (ends, bands)
        for threshold in [(low + 1, bands_of["none"][1]), (high, bands_of["none"][1]), (bands_of["none"][0], ends[0] + 1), (bands_of["none"][0], ends[1])]:
            for case in record:
                assert tool.choice(case, found[0], {**bands_of, "none": threshold}, side) == tool.best_of(case)[0], (threshold, case)

    # Bands may end: of doubles of floats, the longest images are the diagonal's.
    text, beyond = tool.report(planted("32f64f", "none", 0, (3000, 9000), 5000, rng), False)
    assert beyond == 0 and "bands, border none: shorter side from 4096 (any from 2161 on), below 16384 (any from 8193 on)" in text, text

    # `auto` keeps its choices if they are within 3 %.
    cases = [sweep_case("32f32f", side, side, 1, "none", {"lookback": 101, "lookback-diagonal": 100, "all-partials": 102, "thin": 300}, "lookback") for side in (256, 1024, 4096)]
    text, beyond = tool.report(cases, False)
    assert beyond == 0 and "of which 0 change; 0 beyond" in text and "all-partials up to 0^2" in text, text
    assert "   32f32f 1024x1024 none: auto lookback 1.010 of lookback-diagonal; enough are lookback-diagonal 1.000, lookback 1.010, all-partials 1.020" in text, text
    # What no thresholds reach, as the larger of two images would need the kernel of the smaller.
    far = [sweep_case("64f64f", side, side, 1, "zero", {"lookback": 100 if best else 120, "all-partials": 120 if best else 100}, "lookback") for side, best in ((512, True), (1024, False))]
    text, beyond = tool.report(far, True)
    assert beyond == 1 and "!! 64f64f 1024x1024 zero: auto lookback 1.200 of all-partials" in text and "  beyond: 64f64f" in text, text
    # Noise: the intervals meet.
    noisy = sweep_case("64f64f", 1024, 1024, 1, "zero", {"lookback": 120, "all-partials": 100}, "lookback", spread=12)
    assert tool.enough(noisy) == ["all-partials", "lookback"] and tool.report([far[0], noisy], False)[1] == 0
    # A row that only `auto` has, squares, and a record in a file.
    assert tool.enough(sweep_case("8u32u+64u", 8, 8, 1, "none", {}, "lookback")) == ["lookback"]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "2030-01-01-cuda-sat-sweep.json"
        path.write_text(json.dumps([*far, sweep_case("8u32u+64u", 8, 8, 1, "none", {}, "lookback")]))
        sys.argv, text = ["sweep_choices.py", str(path)], io.StringIO()
        with contextlib.redirect_stdout(text):
            try:
                tool.main()
                code = 0
            except SystemExit as end:
                code = end.code
        assert code == 1 and "pixels of 8 bytes, entries of 8 (64f64f)" in text.getvalue() and "\n2 cases; 1 stay" in text.getvalue(), text.getvalue()
    print("sweep_choices.py finds what was planted")


if __name__ == "__main__":
    main()
