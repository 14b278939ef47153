"""direct_sums.py PICTURE CHANNEL SUMS.csv: sums every region of the CSV pixel by pixel and compares."""

import csv
import sys

import numpy
from skimage import io

picture, channel, sums = sys.argv[1:]
pixels = io.imread(picture)
plane = pixels if pixels.ndim == 2 else pixels[:, :, int(channel)]
with open(sums, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
if not rows:
    sys.exit(f"{sums} holds no region")
for row in rows:
    x, y, width, height = (int(row[name]) for name in ("x", "y", "width", "height"))
    direct = int(numpy.sum(plane[y : y + height, x : x + width], dtype=numpy.int64))
    if direct != float(row["sum"]):
        sys.exit(f"region {x},{y},{width},{height}: the table says {row['sum']}, a direct sum {direct}")
print(f"{len(rows)} regions: the table's sums equal direct sums over the pixels")
