# %% [markdown]
# # An unevenly lit page in black and white
#
# One threshold for a whole page fails where the light falls off: what is paper in the dark corner is darker than ink in the bright one.
# A threshold of each pixel's own neighbourhood does not. The filters of areal take the mean and the deviation of a neighbourhood straight
# from the page, in a time that hardly depends on its size.
#
# The page is `data/sudoku.png`. Figures go to `out/python` (or to the folder AREAL_OUT).

# %%
import os
import pathlib

import areal
import matplotlib.pyplot as plt
import numpy as np
from areal import filters
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2] if "__file__" in globals() else pathlib.Path.cwd()
OUT = pathlib.Path(os.environ.get("AREAL_OUT", ROOT / "out/python"))
OUT.mkdir(parents=True, exist_ok=True)
page = np.asarray(Image.open(ROOT / "data/sudoku.png").convert("L"))
print(page.shape, page.dtype)

# %% [markdown]
# ## One threshold, local means, Sauvola's
#
# Bradley and Roth compare a pixel with the mean of its neighbourhood. Sauvola's threshold mean * (1 + k (deviation / 128 - 1)) also asks how
# much the neighbourhood varies, so that blank paper gets no specks.

# %%
SIZE = 41
pictures = {
    "the page": page,
    "one threshold": np.where(page > page.mean(), 255, 0),
    "local means": filters.threshold(page, SIZE, method="bradley", k=0.1),
    "Sauvola": filters.threshold(page, SIZE, method="sauvola", k=0.2, r=128),
}

# %% [markdown]
# The thresholds themselves are an output, too. A window inside the page shows the formula.

# %%
threshold = filters.threshold(page, SIZE, method="sauvola", k=0.2, r=128, dtype=np.float64)
height, width = page.shape
y, x, half = height // 3, width // 2, SIZE // 2
inside = page[y - half : y + half + 1, x - half : x + half + 1].astype(float)
assert abs(threshold[y, x] - inside.mean() * (1 + 0.2 * (inside.std() / 128 - 1))) < 1e-9
assert np.array_equal(pictures["Sauvola"], np.where(page > threshold, 255, 0))

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
# A summed-area table of the result counts the ink of any box. Along the dark left edge one threshold takes paper for ink.

# %%
boxes = [(left, 0, width // 4, height) for left in range(0, width - width // 4 + 1, width // 4)]
shares = {}
for title in ("one threshold", "local means", "Sauvola"):
    shares[title] = areal.sat((pictures[title] == 0).astype(np.uint8)).mean(boxes)
    print(f"{title:14}", "  ".join(f"{share:6.1%}" for share in shares[title]), "of each quarter is ink")
assert np.ptp(shares["Sauvola"]) < np.ptp(shares["one threshold"])
