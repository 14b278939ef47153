#!/usr/bin/env python3
"""The measured parts of the pages of Lee, Choe 2014 and Poostchi 2017 from planted records: tables and answers match the
records, and the page names missing cases instead of making claims about them."""

import argparse
import pathlib
import sys


def record(what, algorithm, width, height, bins, median, shown, **more):
    return {"what": what, "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": "8u32u", "width": width, "height": height,
            "bins": bins, "batch": 1, "threads": 0, "border": "none", "time_us": {"min": median, "median": median, "max": median, "rounds": 30},
            "shown": shown, "bytes": 0, "commit": "c0ffee", **more}


def newest(rows):
    return lambda cases: (pathlib.Path("bench/results/2030-01-01-cuda-planted.json"), rows) if rows else (None, [])


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


def expect_not(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} is in\n{text}"


def without(rows, **like):
    left = [row for row in rows if not all(row.get(key) == value for key, value in like.items())]
    assert len(left) < len(rows), like
    return left


def lee_choe(part):
    assert part.lines(newest([])) == ["Not measured yet."]
    assert part.lines(newest([record("histogram", "harris", 8, 8, 4, 1, "else")])) == ["Not measured yet."]
    rows = []
    for bins, slower in ((256, 1), (32, 0.1)):
        for width, height, multiple in ((1920, 1080, 1.0), (4096, 2160, 0.9)):
            harris = width * slower
            for algorithm, part_of in (("harris", 1), ("lee-choe-multiple", multiple), ("lee-choe-shared", 1.02), ("lee-choe", multiple + 0.05),
                                       ("planted", 0.25)):
                rows.append(record("histogram", algorithm, width, height, bins, harris * part_of, "lee-choe", floor="memset",
                                   floor_us=harris * 0.2))
    text = "\n".join(part.lines(newest(rows)))
    expect(text, "`bench/results/2030-01-01-cuda-planted.json`, commit c0ffee, on one a device", "| figure | algorithm | 1920x1080 | 4096x2160 |",
           "|  | `harris`, us | 1920 | 4096 |", "|  | `harris`, us | 192 | 410 |", "| 3 | `lee-choe-multiple` | 100.0 | 90.0 (94.7) |",
           "| 3 | `lee-choe-multiple` | 100.0 | 90.0 |", "| 4 | `lee-choe-shared` | 102.0 (100.8) | 102.0 |",
           "| 5 | `lee-choe` | 105.0 | 95.0 (95.5) |", "|  | `planted` | 25.0 | 25.0 |", "|  | memset of the tensor | 20.0 | 20.0 |",
           "for 4096x2160: 256 bins: 90.0; 32 bins: 90.0", "where both algorithms are equal: 256 bins: 100; 32 bins: 100",
           "256 bins: 95.0 to 105; 32 bins", "own `planted`: 256 bins: 3.6 to 4.0; 32 bins: 3.6 to 4.0")
    expect_not(text, "did not run", "![")
    # Without Harris' time there are no relative times, and the paper's fastest is unknown.
    text = "\n".join(part.lines(newest(without(rows, algorithm="harris", width=4096, bins=256))))
    expect(text, "|  | `harris`, us | 1920 | - |", "| 3 | `lee-choe-multiple` | 100.0 | - (94.7) |", "for 4096x2160: 32 bins: 90.0\n",
           "`planted`: 256 bins: 4.0; 32 bins: 3.6 to 4.0", "These cases did not run, and are in no answer: `harris` of 4096x2160, 256 bins.")
    text = "\n".join(part.lines(newest(without(rows, algorithm="planted"))))
    expect(text, "areal's own algorithm: Not measured.")
    expect_not(text, "planted`", "None")
    text = "\n".join(part.lines(newest(without(rows, width=4096))))
    expect(text, "for no such size: Not measured.")


def launches(**phases):
    return [{"kernel": phase.title(), "launches": 1, "blocks": 1, "threads": 512, "occupancy": 0.75, "phase": phase.replace("_", " "),
             "time_us": {"min": time, "median": time, "max": time}} for phase, time in phases.items()]


def poostchi_rows():
    """512 x 512 and 640 x 480 with 32 bins, 512 x 512 with 64, which is the first here and the second on the page; times grow
    with bins."""
    rows = []

    def add(what, algorithm, case, time, **more):
        rows.append(record(what, algorithm, *case, time * case[2] / 32, "poostchi", **more))

    for case in ((512, 512, 64), (512, 512, 32), (640, 480, 32)):
        floor = {"floor": "memset", "floor_us": 10}
        add("histogram", "cw-b", case, 4100, **floor,
            launches=launches(initialisation=20, horizontal=2000, transpose=30, vertical=2000, last_transpose=100))
        add("histogram", "cw-sts", case, 220, **floor,
            launches=launches(initialisation=20, horizontal=60, transpose=40, vertical=80, last_transpose=20))
        for tile, slower in ((16, 2), (32, 1), (64, 0.5)):
            usual = 256 if tile == 16 else 512
            cross, wave = launches(initialisation=20, horizontal=40, vertical=40), launches(**{"initialisation": 20, "wave-front": 60})
            add("histogram", "cw-tis", case, 200 * slower, tile=tile, tile_threads=usual, **floor, launches=cross)
            add("histogram", "wf-tis", case, 160 * slower, tile=tile, tile_threads=usual, **floor, launches=wave)
            if case == (512, 512, 32):  # slower by the ratio of threads, 1024 by a half
                for threads in (64, 128) if tile == 16 else (128, 256, 1024):
                    other = usual / threads * (1 if threads < usual else 3)
                    filled = [{**launch, "threads": threads, "occupancy": min(1, threads / 1024)} for launch in wave]
                    add("histogram", "cw-tis", case, 200 * slower * other, tile=tile, tile_threads=threads, **floor, launches=cross)
                    add("histogram", "wf-tis", case, 160 * slower * other, tile=tile, tile_threads=threads, **floor, launches=filled)
        add("histogram", "planted", case, 20, **floor, launches=launches(own=20))
        add("initialisation", "device", case, 20)
        for threads, time in ((1, 900), (16, 460)):
            add("initialisation", "host", case, time, backend="cpu", threads=threads, device="a CPU", **floor)
        for which, time in (("image up", 10), ("tensor up", 740), ("tensor down", 790)):
            add("transfer", which, case, time)
        for algorithm, threads, time in (("serial", 1, 48000), ("parallel", 1, 40000), ("parallel", 16, 8000), ("fused", 16, 1600)):
            add("histogram", algorithm, case, time, backend="cpu", threads=threads, device="a CPU", **floor)
    return rows


def poostchi(part):
    assert part.lines(newest([])) == ["Not measured yet."]
    rows = poostchi_rows()
    text = "\n".join(part.lines(newest(rows)))
    expect(text, "Figure 7, 32 bins:\n\n| algorithm | 512x512 | 640x480 |", "| `cw-b` | 4100 | 4100 |", "| `wf-tis` | 80.0 | 80.0 |",
           "| memset of the tensor | 10.0 | 10.0 |", "512x512, by bins:\n\n| algorithm | 32 | 64 |", "| `cw-tis` | 100 | 200 |",
           "| `cw-sts` | 20.0 | 60.0 | 40.0 | 80.0 |  | 20.0 |  | 220 | 220 |", "| `wf-tis` | 64 | wave-front | `Wave-Front` | 1 | 512 | 0.75 | 60.0 |",
           "| algorithm | tile | 64 | 128 | 256 | 512 | 1024 |", "| `wf-tis` | 16 | 1280 (0.06) | 640 (0.12) | 320 (0.75) |  |  |",
           "| `wf-tis` | 64 |  | 320 (0.12) | 160 (0.25) | 80.0 (0.75) | 120 (1.00) |", "| `cw-tis` | 32 |  | 800 (0.75) | 400 (0.75) |",
           "at full occupancy): 256 and 64 on tiles of 16, factor 4.0; 512 and 128 on tiles of 32, factor 4.0; 512 and 128 on tiles of 64, factor 4.0\n",
           "4.2.2, 32 bins", "| `wf-tis` | 16 | 320 | 320 |", "| size | image up | tensor down |", "| 512x512 | 10.0 | 790 | 4100 | 220 | 100 | 80.0 | 20.0 |",
           "| 512x512 | 30.0 | 1200 | 40.0 |",  # by 16 threads of the host
           "(a CPU)", "| algorithm | of | `serial`, 1 | `parallel`, 1 | `parallel`, 16 | `fused`, 16 |",
           "| `wf-tis` | 512x512, 32 bins | 60.0 (600) | 50.0 (500) | 10.0 (100) | 2.0 (20.0) |",
           "| `cw-b` | 512x512, 64 bins | 11.7 (11.7) |", "Figure 20, 640x480, 32 bins, one GPU and one CPU; the paper compares several", "| `wf-tis` | 1250 | 12500 |",
           "| CPU, `parallel`, 16 |  | 125 |",
           # 4000 over 200, 100 and 80: the paper's algorithms have no transposes back.
           "more than 30): 20.0 to 50.0", "over that of `cw-tis` (2 to 3): 2.0\n", "(up to 1.5): 1.2\n", "at 512x512, 32 bins, in per cent (20 at 512x512 x 32): 20.0\n",
           "(64): 64 for 512x512, 64 for 640x480", "`cw-b` 0 of 2, `cw-sts` 2 of 2", "`planted` 2 of 2", "\"more efficient\"): 40.0\n",
           "(about 60): 60.0\n", "`parallel` on 16 threads, over the bins of 512x512 (8 to 30 on 16): 10.0\n", "`planted`, both for one execute: 4.0")
    expect_not(text, "did not run", "None")

    # The other tables have only the default's blocks.
    for line in text.split("\n"):
        assert "`Wave-Front`" not in line or line.endswith(("| 512 | 0.75 | 60.0 |")), line
    text = "\n".join(part.lines(newest(without(rows, algorithm="wf-tis", tile=32, tile_threads=1024))))
    expect(text, "| `wf-tis` | 32 |  | 640 (0.12) | 320 (0.25) | 160 (0.75) | - |", "factor 4.0; 512 and 128 on tiles of 64, factor 4.0\n",
           "These cases did not run, and are in no answer: `wf-tis` on tiles of 32 by 1024 threads of 512x512, 32 bins.")
    text = "\n".join(part.lines(newest(without(rows, algorithm="wf-tis", tile=64, tile_threads=512, width=512, bins=32))))
    expect(text, "| `wf-tis` | - | 80.0 |", "(64): 64 for 640x480\n", "| `wf-tis` | 64 | - | 80.0 |",
           "These cases did not run, and are in no answer: `wf-tis` on tiles of 64 of 512x512, 32 bins.", "`wf-tis` 1 of 1", "`planted`, both for one execute: 4.0\n")
    again = record("histogram", "cw-b", 512, 512, 32, 5000, "poostchi", floor="memset", floor_us=10)
    expect("\n".join(part.lines(newest([*rows, again]))), "| `cw-b` | 5000 | 4100 |")  # the last record counts
    text = "\n".join(part.lines(newest(without(rows, what="transfer"))))
    expect(text, "| 512x512 | - | - | 4100 |", "- (600)", "take longer than the execute (all, except with `cw-b`): Not measured.",
           "\"more efficient\"): Not measured.", "(about 60): Not measured.", "transfers of 512x512, 32 bins; ")
    text = "\n".join(part.lines(newest(without(rows, backend="cpu"))))
    expect(text, "(not measured)", "Not measured.\n", "the CPU's `serial` of 640x480, 32 bins")
    text = "\n".join(part.lines(newest(without(rows, algorithm="planted"))))
    expect(text, "areal's own algorithm: Not measured.")
    expect_not(text, "planted`", "None")
    bare = [{key: value for key, value in row.items() if key != "launches"} for row in rows]
    text = "\n".join(part.lines(newest(bare)))  # the share of the transposes back is then unknown
    expect(text, "(2 to 3): Not measured.", "| `cw-sts` | 220 | 220 |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import figure_page  # pylint: disable=import-outside-toplevel
    import measured_lee_choe  # pylint: disable=import-outside-toplevel
    import measured_poostchi  # pylint: disable=import-outside-toplevel

    shown = [figure_page.number(value) for value in (123.4, 12.34, 0.996, 0.123, 0.0123, 0.00423, None)]
    assert shown == ["123", "12.3", "1.00", "0.12", "0.01", "0.004", "-"], shown
    lee_choe(measured_lee_choe)
    poostchi(measured_poostchi)
    print("the pages on integral histograms hold what was planted")


if __name__ == "__main__":
    main()
