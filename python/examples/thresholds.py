# %% [markdown]
# # An unevenly lit page in black and white
#
# One threshold for a whole page fails where the light falls off: what is paper in the dark corner is darker than ink in the bright one.
# A threshold of each pixel's own neighbourhood does not. With a summed-area table the mean and the deviation of a neighbourhood cost
# the same for 5 x 5 and for 101 x 101 pixels.
#
# The page is `data/sudoku.png`. Figures go to `out/python` (or to the folder AREAL_OUT).

# %%
import os
import pathlib

import areal
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2] if "__file__" in globals() else pathlib.Path.cwd()
OUT = pathlib.Path(os.environ.get("AREAL_OUT", ROOT / "out/python"))
OUT.mkdir(parents=True, exist_ok=True)
page = np.asarray(Image.open(ROOT / "data/sudoku.png").convert("L"))
print(page.shape, page.dtype)

# %% [markdown]
# ## The table, once
#
# `squares=True` also sums squares, which the deviation needs. The page is read where it lies.

# %%
table = areal.sat(page, squares=True)
print(repr(table))
height, width = page.shape
assert table.sum([0, 0, width, height]) == page.sum()

# %% [markdown]
# ## One threshold, local means, Sauvola's
#
# Bradley and Roth compare a pixel with the mean of its neighbourhood. Sauvola's threshold mean * (1 + k (deviation / 128 - 1)) also asks how
# much the neighbourhood varies, so that blank paper gets no specks.

# %%
SIZE = 41
mean = table.window(SIZE, stat="mean", edge="shrink")
deviation = table.window(SIZE, stat="std", edge="shrink")
pictures = {
    "the page": page,
    "one threshold": np.where(page < page.mean(), 0, 255),
    "local means": np.where(page < mean - 10, 0, 255),
    "Sauvola": np.where(page < mean * (1 + 0.2 * (deviation / 128 - 1)), 0, 255),
}
y, x, half = height // 3, width // 2, SIZE // 2  # a window inside, from its pixels
inside = page[y - half : y + half + 1, x - half : x + half + 1].astype(float)
assert abs(mean[y, x] - inside.mean()) < 1e-9 and abs(deviation[y, x] - inside.std()) < 1e-9

# %%
figure, places = plt.subplots(1, 4, figsize=(16, 4.5))
for place, (title, picture) in zip(places, pictures.items()):
    place.imshow(picture, cmap="gray", vmin=0, vmax=255)
    place.set_title(title)
    place.axis("off")
figure.tight_layout()
figure.savefig(OUT / "thresholds.png", dpi=80)

# %% [markdown]
# ## How much ink
#
# A table of the result counts the ink of any box. Along the dark left edge one threshold takes paper for ink.

# %%
boxes = [(left, 0, width // 4, height) for left in range(0, width - width // 4 + 1, width // 4)]
shares = {}
for title in ("one threshold", "local means", "Sauvola"):
    shares[title] = areal.sat((pictures[title] == 0).astype(np.uint8)).mean(boxes)
    print(f"{title:14}", "  ".join(f"{share:6.1%}" for share in shares[title]), "of each quarter is ink")
assert np.ptp(shares["Sauvola"]) < np.ptp(shares["one threshold"])
