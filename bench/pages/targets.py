"""The targets of each case: the least fraction, floor / areal, for some a higher goal, and the least ratio to a peer's time."""

import re

SQUARE = (1024, 2048, 4096, 8192, 16384)  # sides; the last stands for all larger ones, too
GOALS = (0.75, 0.80, 0.90, 0.95, 0.96)
WIDE = (0.55, 0.68, 0.80, 0.88, 0.92)
BORDERED = (0.62, 0.65, 0.76, 0.82, 0.86)
SQUARES = (0.45, 0.68, 0.85, 0.90, 0.92)
# lane: at least without a border, and goals
TABLES = {lane: ((0.58, 0.65, 0.80, 0.90, 0.93), GOALS) for lane in ("32f32f", "32u32u")}
TABLES |= {lane: ((0.62, 0.68, 0.80, 0.88, 0.92), GOALS) for lane in ("8u32u", "8u32s", "8u32f")}
TABLES |= {lane: (WIDE, None) for lane in ("64f64f", "32f64f", "16u32u", "8u64f")}

# lane, width, height, images
SHAPES = {("8u32u", 640, 480, 64): 0.90, ("8u32u", 1920, 1080, 1): 0.65, ("8u32u", 1920, 1080, 8): 0.85}
for lane in ("8u32u", "32f32f"):
    SHAPES[lane, 1_000_000, 3, 1] = SHAPES[lane, 3, 1_000_000, 1] = 0.5

# Counters of 32 bits: width, height, images, bins: at least, goal
HISTOGRAMS = {(640, 480, 1, 32): (0.65, None), (1920, 1080, 1, 32): (0.86, None), (3840, 2160, 1, 32): (0.92, 0.96), (8192, 8192, 1, 128): (0.92, 0.96),
              (640, 480, 32, 32): (0.90, None)}
COUNTERS = {"16u": 0.85, "32f": 0.80}  # of other entries: 16-bit counters, weighted sums

# A video on CPUs, or by its streams on NVDEC; a sequence on a GPU, by its algorithm's first words, width, height and bins
VIDEO = 0.90
NVDEC = {"nvdec 1 stream": 0.95, "nvdec 7 streams": 0.90}
SEQUENCES = {("answers cuda:0", 1920, 1080, 32): 0.85, ("tensors cuda:0", 1920, 1080, 32): 0.95, ("tensors cuda:0,cpu:16", 1024, 1024, 32): 0.80}

# Of `bench cluster`: the link where tensors come down; zeros in as many bytes, for answers alone; the sum of each worker alone, for frames
CLUSTER = {("bins", 8192, 128): 0.95, ("pieces", 8192, 128): 0.95, ("answers", 16384, 256): 0.75, ("frames", 1920, 32): 0.95, ("unequal", 1024, 32): 0.80,
           ("table", 131072, 0): 0.90}

# Of filters on a GPU: the pixels' type, the statistic, the least and the largest side, the image's width: at least, goal
FILTERS = (("8u", "mean", 3, 17, 8192, 0.75, 0.88), ("8u", "mean", 3, 17, 4096, 0.60, 0.75), ("8u", "mean", 3, 17, 1920, 0.60, 0.75), ("8u", "mean", 31, 63, 8192, 0.50, 0.60),
           ("32f", "mean", 15, 15, 8192, 0.55, 0.70), ("8u", "sauvola", 3, 63, 8192, 0.30, 0.40), ("8u", "guided", 17, 17, 8192, 0.12, 0.16))
MEDIANS = {3: (25, 20), 5: (85, 65), 15: (3000, 1000)}  # of 8u at 4096x4096: side: microseconds at most, goal

# threads, lane, peer
CPU_PEERS = {(1, "8u32s", "opencv"): 1.3, (2, "8u32s", "opencv"): 2.0, (1, "8u32s+64f", "opencv"): 1.5,
             (1, "32f64f", "opencv"): 1.5, (1, "8u32u", "numpy"): 10, (1, "8u32u", "skimage"): 10}


def of_table(row):
    """The least fraction and the goal of a table on a GPU."""
    lane, width, height, images = row["lane"], row["width"], row["height"], row["batch"]
    border = row.get("border") or "none"
    if border == "none" and (lane, width, height, images) in SHAPES:
        return SHAPES[lane, width, height, images], None
    if width != height or images != 1 or (width not in SQUARE and width < SQUARE[-1]):
        return None, None
    at = SQUARE.index(min(width, SQUARE[-1]))
    if lane == "8u32u+64u":
        return SQUARES[at], None
    if lane not in TABLES:
        return None, None
    least, goals = TABLES[lane]
    return (BORDERED[at], None) if border == "zero" else (least[at], goals and goals[at])


def of_tensor(row):
    """The least fraction and the goal of a tensor on a GPU."""
    size = row["width"], row["height"], row["batch"], row["bins"]
    entry = next((entry for entry in COUNTERS if row["lane"].endswith(entry)), None)
    return (COUNTERS[entry], None) if entry else HISTOGRAMS.get(size, (None, None))


def of_filter(row):
    """The least fraction and the goal of a filter on a GPU; its name is `walk mean 15x15`."""
    _, statistic, size = row["algorithm"].rsplit(" ", 2)
    side, other = map(int, size.split("x"))
    lane = re.match(r"\d+[usf]", row["lane"])[0]
    if side != other:
        return None, None
    if (lane, statistic, row["width"]) == ("8u", "median", 4096) and side in MEDIANS:
        return tuple(row["floor_us"] / limit for limit in MEDIANS[side])
    return next(((least, goal) for of, name, low, high, width, least, goal in FILTERS if (of, name, width) == (lane, statistic, row["width"]) and low <= side <= high), (None, None))


def of_cpu(row):
    threads, size = row["threads"], (row["width"], row["height"], row["batch"])
    if row["what"] == "sat":
        if (threads, row["lane"], *size) == (16, "8u32s", 4096, 4096, 1):
            return 0.9
        return 0.85 if threads == 2 and min(size[:2]) >= 4096 else None
    if row["what"] == "histogram":
        fused = row["algorithm"] == "fused" and (*size, row["bins"]) == (1920, 1080, 1, 32)
        return {2: 0.8, 16: 0.9}.get(threads) if fused else None
    return 0.8 if row["what"] == "region" else None


def fractions(row):
    """The least fraction for a record, and its goal; None without a target."""
    if row["what"] == "video":
        return VIDEO if row["backend"] == "cpu" else NVDEC.get(row["algorithm"]), None
    if row["what"] == "sequence":
        return SEQUENCES.get((row["algorithm"].partition(" slots")[0], row["width"], row["height"], row["bins"])), None
    if row["backend"] == "cpu":
        return of_cpu(row), None
    if row["what"] == "sat":
        return of_table(row)
    if row["what"] == "histogram":
        return of_tensor(row)
    if row["what"] == "filter":
        return of_filter(row)
    if row["what"] == "track":
        return (0.8 if row["algorithm"] == "fragments" and (row["width"], row["height"], row["batch"], row["bins"]) == (1920, 1080, 16, 16) else None), None
    if row["what"] == "region":
        return (0.95 if (row["algorithm"], row["batch"], row["bins"]) == ("region_histograms", 10_000, 32) else 0.9), None
    return None, None


def cluster(row):
    """The target fraction of a record of `bench cluster`, or None."""
    name = row["algorithm"] if row["algorithm"] in ("answers", "frames", "unequal") else row["order"]
    return CLUSTER.get((name, row["width"], row["bins"]))


def beside(row, peer):
    """The target ratio to that peer, or None."""
    if row["backend"] != "cpu":
        return 1 if row["what"] == "filter" or row["what"] == "sat" and peer.startswith("cub one-dimensional scan") else None
    return CPU_PEERS.get((row["threads"], row["lane"], next((name for name in ("opencv", "numpy", "skimage") if peer.startswith(name)), "")))
