"""direct_sums.py PICTURE.png CHANNEL SUMS.csv: sums every region of the CSV pixel by pixel and compares.

Reads the picture with Python's standard library alone, so that nothing has to be installed for it: 8 bits a channel, not interlaced.
"""

import csv
import struct
import sys
import zlib


def png_rows(path):
    """The channels and the rows of bytes, from the file format's definition (PNG 1.2, 6: filters)."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", data[at + 8 : at + 8 + size])
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    width, height, depth, colour, _, _, interlaced = head
    if depth != 8 or interlaced or colour not in (0, 2, 4, 6):
        sys.exit(f"{path}: not 8 bits a channel without interlacing")
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    raw, length = zlib.decompress(packed), width * channels
    rows, above = [], bytearray(length)
    for y in range(height):
        start = y * (length + 1)
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + length])
        for x in range(length):
            left = row[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[x]
            elif kind == 3:
                guess = (left + above[x]) // 2
            elif kind == 4:
                paeth = left + above[x] - corner
                guess = min((left, above[x], corner), key=lambda candidate: abs(paeth - candidate))
            else:
                guess = 0
            row[x] = (row[x] + guess) & 255
        rows.append(row)
        above = row
    return channels, rows


picture, channel, sums = sys.argv[1:]
channels, pixels = png_rows(picture)
with open(sums, newline="", encoding="utf-8") as file:
    answers = list(csv.DictReader(file))
if not answers:
    sys.exit(f"{sums} holds no region")
for row in answers:
    x, y, width, height = (int(row[name]) for name in ("x", "y", "width", "height"))
    inside = slice(x * channels + int(channel), (x + width) * channels, channels)
    direct = sum(sum(line[inside]) for line in pixels[y : y + height])
    if direct != float(row["sum"]):
        sys.exit(f"region {x},{y},{width},{height}: the table says {row['sum']}, a direct sum {direct}")
print(f"{len(answers)} regions: the table's sums equal direct sums over the pixels")
