"""The target of each case: its fraction, floor / areal, and how many times as fast as a peer it should be."""

SQUARE = (1024, 2048, 4096, 8192)  # sides; the last stands for all larger ones, too
TABLES = {
    ("none", lane): (0.75, 0.80, 0.90, 0.95)
    for lane in ("32f32f", "8u32u", "32u32u", "64f64f", "8u32f", "16u32u", "32f64f", "8u64f")
}
TABLES["zero", "8u32s"] = (0.70, 0.75, 0.87, 0.92)
TABLES["none", "8u32u+64u"] = TABLES["zero", "8u32u+64u"] = (None, 0.75, 0.87, 0.92)

# lane, width, height, images
SHAPES = {("8u32u", 640, 480, 64): 0.90, ("8u32u", 1920, 1080, 1): 0.75}
for lane in ("8u32u", "32f32f"):
    SHAPES[lane, 1_000_000, 3, 1] = SHAPES[lane, 3, 1_000_000, 1] = 0.5

# width, height, images, bins
HISTOGRAMS = {(640, 480, 1, 32): 0.70, (1920, 1080, 1, 32): 0.90, (3840, 2160, 1, 32): 0.95, (8192, 8192, 1, 128): 0.95,
              (640, 480, 32, 32): 0.93}

# A video, by threads or by its streams on NVDEC; a sequence on a GPU, by its algorithm's first words, width, height and bins
VIDEO = {1: 0.70, 2: 0.90}
NVDEC = {"nvdec 1 stream": 0.95, "nvdec 7 streams": 0.90}
SEQUENCES = {("answers cuda:0", 1920, 1080, 32): 0.85, ("tensors cuda:0", 1920, 1080, 32): 0.95, ("tensors cuda:0,cpu:16", 1024, 1024, 32): 0.80}

# Of `bench cluster`: the link where tensors come down; zeros in as many bytes, for answers alone; the sum of each worker alone, for frames
CLUSTER = {("bins", 8192, 128): 0.95, ("pieces", 8192, 128): 0.95, ("answers", 16384, 256): 0.75, ("frames", 1920, 32): 0.95, ("unequal", 1024, 32): 0.80,
           ("table", 131072, 0): 0.90}

# threads, lane, peer
CPU_PEERS = {(1, "8u32s", "opencv"): 1.3, (2, "8u32s", "opencv"): 2.0, (1, "8u32s+64f", "opencv"): 1.5,
             (1, "32f64f", "opencv"): 1.5, (1, "8u32u", "numpy"): 10, (1, "8u32u", "skimage"): 10}


def fraction(row):
    """The target fraction of a record, or None."""
    size = row["width"], row["height"], row["batch"]
    if row["what"] == "video":
        return VIDEO.get(row["threads"]) if row["backend"] == "cpu" else NVDEC.get(row["algorithm"])
    if row["what"] == "sequence":
        return SEQUENCES.get((row["algorithm"].partition(" slots")[0], *size[:2], row["bins"]))
    if row["backend"] == "cpu":
        if row["what"] == "sat":
            return 0.85 if row["threads"] == 2 and min(size[:2]) >= 4096 else None
        if row["what"] == "histogram":
            return 0.8 if row["threads"] == 2 and (*size, row["bins"]) == (1920, 1080, 1, 32) and row["algorithm"] == "fused" else None
        return 0.8 if row["what"] == "region" else None
    if row["what"] == "sat":
        special = SHAPES.get((row["lane"], *size))
        table = TABLES.get((row.get("border"), row["lane"]))
        if special or not table or size[0] != size[1] or size[2] != 1:
            return special
        if size[0] in SQUARE or size[0] > SQUARE[-1]:
            return table[SQUARE.index(min(size[0], SQUARE[-1]))]
        return None
    if row["what"] == "histogram":
        return HISTOGRAMS.get((*size, row["bins"]))
    if row["what"] == "track":
        return 0.8 if row["algorithm"] == "fragments" and (*size, row["bins"]) == (1920, 1080, 16, 16) else None
    return 0.9 if row["what"] == "region" else None


def cluster(row):
    """The target fraction of a record of `bench cluster`, or None."""
    name = row["algorithm"] if row["algorithm"] in ("answers", "frames", "unequal") else row["order"]
    return CLUSTER.get((name, row["width"], row["bins"]))


def beside(row, peer):
    """The target ratio to that peer, or None."""
    if row["backend"] != "cpu":
        return None
    return CPU_PEERS.get((row["threads"], row["lane"], next((name for name in ("opencv", "numpy", "skimage") if peer.startswith(name)), "")))
