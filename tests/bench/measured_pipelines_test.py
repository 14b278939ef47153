#!/usr/bin/env python3
"""Figures 12 to 17 on the page of Poostchi 2017 from planted records: tables, gains and shares match the records, Figures 19 and 20 quote
running pipelines where there are some, and nothing is claimed of what was not measured."""

import argparse
import json
import pathlib
import sys
import tempfile


def record(what, algorithm, width, height, bins, median, **more):
    return {"what": what, "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": "8u32u", "width": width, "height": height,
            "bins": bins, "batch": 1, "threads": 0, "border": "none", "time_us": {"min": median, "median": median, "max": median, "rounds": 30},
            "shown": "poostchi", "bytes": 0, "commit": "c0ffee", **more}


def newest(files, folder="planted"):
    return lambda name: (pathlib.Path(folder) / f"2030-01-01-cuda-{name}.json", files[name]) if name in files else (None, [])


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


def expect_not(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} is in\n{text}"


def stages(read=1, up=2, initialise=0, scan=3, down=6):
    return {"read": read, "up": up, "initialise": initialise, "scan": scan, "down": down}


def sequence(algorithm, case, time, slots, order="breadth", of=None):
    return record("sequence", algorithm, *case, time, slots=slots, order=order, frames=100, floor="link", floor_us=6, stages_us=of or stages())


def sequences():
    hd, rows = (1280, 720, 32), []
    for algorithm in ("wf-tis", "planted"):
        rows += [sequence(algorithm, hd, 12, 1), sequence(algorithm, hd, 8, 2), sequence(algorithm, hd, 6.25, 4)]
    rows.append(sequence("planted", hd, 6, 4, "ring"))
    rows.append(sequence("cw-b", hd, 50, 1, "stages", stages(initialise=5, scan=30)))
    for case, slower in (((512, 512, 32), 1), ((256, 256, 32), 0.25)):
        rows += [record("transfer", "image up", *case, 2 * slower), record("transfer", "tensor down", *case, 8 * slower)]
        for algorithm in ("cw-b", "cw-sts", "cw-tis", "wf-tis", "planted"):
            of = stages(scan=40 if algorithm == "cw-b" else 3)
            rows += [sequence(algorithm, case, 20 * slower, 1, of=of), sequence(algorithm, case, 12.5 * slower, 2, of=of)]
        rows.append(sequence("planted", case, 10 * slower, 4, "ring"))
    return rows


def check_sequences(part):
    expect("\n".join(part.lines(part.Sequences(newest({})))), "not measured yet")
    text = "\n".join(part.lines(part.Sequences(newest({"sequence-poostchi": sequences()}))))
    expect(text, "| `cw-b` | 1.0 | 2.0 | 5.0 | 30.0 | 6.0 | 6.0 | 50.0 | 1.43 |", "Figures 12 and 14, 1280x720, 32 bins:",
           "| `wf-tis` | 32 | 12.0 | 8.0 (1.50) | 6.2 (1.92) |  | 2.00 | link |", "| `planted` | 32 | 12.0 | 8.0 (1.50) | 6.2 (1.92) | 6.0 (2.00) | 2.00 | link |",
           "Two slots gain 1.5 (", "where 2.0 would be possible", "the longest stage in 2 of 2 cases",
           "| `wf-tis` | 512x512 | 32 | 50000 | 80000 |  | 166667 |", "| `planted` | 256x256 | 32 | 200000 | 320000 | 400000 | 166667 |", "on one a device; medians.",
           "| `cw-b` | 512x512 | 32 | 50000 | 80000 |  | 25000 |")
    expect_not(text, "did not run", "None", "1280x720 | 32 |", "two or more")
    few = [{**row, "frames": 2 * row["slots"] + 2} if row.get("slots") else row for row in sequences()]
    text = "\n".join(part.lines(part.Sequences(newest({"sequence-poostchi": few}))))
    expect(text, "| `cw-b` | 512x512 | 32 | 50000 | 80000 (a) |  | 25000 |", "- (a) These runs of `cw-b` have 4 frames in one slot and 6 in two, the first 2 and 4 not timed.")
    single = [{**row, "time_us": {key: row["time_us"]["median"] for key in ("min", "median", "max")}} for row in sequences()]
    doubled = [{**row, "time_us": {**row["time_us"], "median": 8}} if row.get("slots") == 2 and row["algorithm"] == "cw-sts" and row["width"] == 512 else row for row in single]
    text = "\n".join(part.lines(part.Sequences(newest({"sequence-poostchi": doubled}))))
    expect(text, "on one a device; single runs.", "with `cw-sts` at 512x512 with 32 bins 2.50 of 3.33: ")
    fewer = [row for row in sequences() if not (row["algorithm"] == "cw-tis" and row.get("slots") == 2)]
    text = "\n".join(part.lines(part.Sequences(newest({"sequence-poostchi": fewer}))))
    expect(text, "| `cw-tis` | 512x512 | 32 | 50000 | - |  | 166667 |", "did not run, and are in no answer: `cw-tis` of 512x512, 32 bins in 2 slots")


def cluster(part, algorithm, case, time, devices, order="bins", **more):
    return record("cluster", algorithm, *case, time, part=part, order=order, slots=2, frames=3, devices=devices, **more)


def check_cluster(part):
    expect("\n".join(part.lines(part.Cluster(newest({})))), "not measured yet")
    large, huge, small = (8192, 8192, 128), (16384, 16384, 256), (1024, 1024, 32)
    on_cpu = {"backend": "cpu", "device": "a CPU"}
    files = {
        "cluster-down": [cluster("down", "wf-tis", large, 1e6, "cuda:0", floor="link", floor_us=0.96e6)],
        "cluster-table": [cluster("table", "auto", (131072, 131072, 0), 4e6, "cuda:0", "table", floor="link", floor_us=3e6)],
        "cluster-2-down": [cluster("down", "wf-tis", large, 0.5e6, "cuda:0,cuda:1", floor="link", floor_us=0.4e6)],
        "cluster-answers": [cluster("answers", "answers", huge, 100e3, "cuda:0", "tiles", floor="memset", floor_us=80e3)],
        "cluster-frames": [cluster("frames", "frames", (1920, 1080, 32), 100, "cuda:0", "ring"), cluster("frames", "unequal", small, 40, "cuda:0", "ring"),
                           cluster("frames", "unequal", small, 160, "cpu:16", "ring", **on_cpu),
                           cluster("frames", "unequal", small, 40, "cuda:0,cpu:16", "ring")],
        "cluster-2-frames": [cluster("frames", "frames", (1920, 1080, 32), 100, "cuda:0", "ring"), cluster("frames", "frames", (1920, 1080, 32), 100, "cuda:1", "ring"),
                             cluster("frames", "frames", (1920, 1080, 32), 50, "cuda:0,cuda:1", "ring")],
        "cluster-figure-17": [cluster("figure-17", "serial", large, 30e6, "cpu:1", **on_cpu), cluster("figure-17", "parallel", large, 2e6, "cpu:16", **on_cpu),
                              cluster("figure-17", "wf-tis", large, 1e6, "cuda:0", floor="link", floor_us=0.9e6)],
    }
    text = "\n".join(part.lines(part.Cluster(newest(files))))
    expect(text, "`bench/results/2030-01-01-cuda-cluster-2-down.json`", "commit c0ffee, a device; medians. Figures 16 and 17 were measured on one GPU;",
           "| cuda:0 | 8192x8192 | 128 | `wf-tis`, groups of bins | 1.0 | 1.0 | 0.96 | 0.95 |",
           "| cuda:0,cuda:1 | 8192x8192 | 128 | `wf-tis`, groups of bins | 2.0 | 2.5 | 0.80 | 0.95 |",
           "| cuda:0 | 131072x131072 | 0 | `TiledSat`, 8u64u | 0.25 | 0.33 | 0.75 | 0.90 |",
           "| cuda:0 | 16384x16384 | 256 | answers | 100 | 80.0 | 0.80 | 0.75 |",
           "| devices | size | bins | algorithm | `serial`, 1 | `parallel`, 16 |", "| cuda:0 | 8192x8192 | 128 | `wf-tis` | 30.0 | 2.0 |",
           "| cuda:0,cuda:1 | 1920x1080 | 32 | 2 | 20000 | 1.00 | 0.95 |", "| cuda:0,cpu:16 | 1024x1024 | 32 | 2 | 25000 | 0.80 | 0.80 |",
           "| cpu:16 | 1024x1024 | 32 | 2 | 6250 |  |  |", "a device; medians.", "Figure 17: speed-up over the CPU", "`fused` was not measured")
    expect_not(text, "None", " (a)")
    # Faster than copies alone, by groups of bins and by whole frames of few frames; more slots together than alone; a single run.
    files["cluster-down"] = [cluster("down", "wf-tis", large, 1e6, "cuda:0", floor="link", floor_us=1.25e6),
                             {**cluster("down", "auto", large, 1e6, "cuda:0", "ring", floor="link", floor_us=1.5e6), "slots": 4, "frames": 16}]
    old = {"min": 1e6, "median": 1e6, "max": 2e6}  # without `rounds`
    assert "(a)" not in "\n".join(part.lines(part.Cluster(newest(files)))), "nothing explains a new record"
    for row in files["cluster-down"]:
        row["time_us"] = old
    files["cluster-2-frames"][2]["slots"] = 4
    files["cluster-2-frames"][1]["time_us"] = {"min": 100, "median": 100, "max": 100}
    text = "\n".join(part.lines(part.Cluster(newest(files))))
    expect(text, "| 1.0 | 0.80 | 1.25 (a) | 0.95 |", "- (a) The floor of these records is one copy alone", "| 1.0 | 0.67 | 1.50 (b) |", "- (b) As above.", "(the shortest times 8 frames)",
           "| cuda:0,cuda:1 | 1920x1080 | 32 | 4 | 20000 | 1.00 (a) | 0.95 |", "Alone each worker had 2 slots, together they share 4,", "| cuda:1 | 1920x1080 | 32 | 2 | 10000 † |",
           "medians, but † marks single runs")
    # An earlier run of the same frames, in which two GPUs alone were faster.
    with tempfile.TemporaryDirectory() as folder:
        before = [{**row, "time_us": {"median": row["time_us"]["median"] * (0.5 if "," not in row["devices"] else 0.75)}} for row in files["cluster-2-frames"]]
        (pathlib.Path(folder) / "2029-12-31-cuda-cluster-2-frames.json").write_text(json.dumps([{**row, "time_us": {**row["time_us"], "rounds": 1}} for row in before]))
        text = "\n".join(part.lines(part.Cluster(newest(files, folder))))
        expect(text, "In an earlier run (`bench/results/2029-12-31-cuda-cluster-2-frames.json`, single runs), each alone had 20000 and 20000 frames/s: this is 0.50 of their sum. "
               "There both together, in 4 slots, reached 0.67 of it.")


def check_page(part):
    """Figures 19 and 20 quote the pipelines."""
    case, floor = (640, 480, 32), {"floor": "memset", "floor_us": 10}
    rows = [record("histogram", "wf-tis", *case, 80, tile=64, tile_threads=512, **floor), record("transfer", "image up", *case, 10),
            record("transfer", "tensor down", *case, 790), record("histogram", "serial", *case, 48000, backend="cpu", threads=1, **floor)]
    text = "\n".join(part.lines(newest({"histogram-poostchi": rows})))
    expect(text, "A frame's time is the longer of execute and transfers;", "| `wf-tis` | 640x480, 32 bins | 60.0 (600) |", "Figures 12 to 15: not measured yet.",
           "| frames of 640x480, 32 bins | 300.4 frames/s | GTX Titan X | not measured |", "| 640x480, 32 bins, over one thread | about 120 | GTX Titan X | 60.0 |")
    text = "\n".join(part.lines(newest({"histogram-poostchi": rows, "sequence-poostchi": [sequence("wf-tis", case, 1000, 2)]})))
    expect(text, "A frame's time is that in a running pipeline of two slots;", "| `wf-tis` | 640x480, 32 bins | 48.0 (600) |", "| `wf-tis` | 1000 | 12500 |",
           "| frames of 640x480, 32 bins | 300.4 frames/s | GTX Titan X | `wf-tis` 1000 frames/s |", "| 8192x8192, 128 bins (32 GiB) | 0.73 frames/s | four GTX 480 | not measured |")
    rows += [{**row, "width": 256} for row in rows]
    text = "\n".join(part.lines(newest({"histogram-poostchi": rows, "sequence-poostchi": [sequence("wf-tis", case, 1000, 2)]})))
    expect(text, "two slots (640x480, 32 bins), else the longer of execute and transfers;", "| `wf-tis` | 256x480, 32 bins | 60.0 (600) |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build")
    sys.path.insert(0, str(parser.parse_args().tree / "bench" / "pages"))
    import measured_poostchi  # pylint: disable=import-outside-toplevel
    import poostchi_cluster  # pylint: disable=import-outside-toplevel
    import poostchi_sequence  # pylint: disable=import-outside-toplevel

    check_sequences(poostchi_sequence)
    check_cluster(poostchi_cluster)
    check_page(measured_poostchi)
    print("the page's pipelines hold what was planted")


if __name__ == "__main__":
    main()
