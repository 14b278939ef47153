# %% [markdown]
# # Finding a texture by its histogram
#
# An integral histogram answers with the histogram of any box in constant time, so that every place of a picture can be compared with a
# template. The picture is `data/rubberwhale1.png`, the template the toy whale; figures go to `out/python` (or to the folder AREAL_OUT).

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
picture = np.asarray(Image.open(ROOT / "data/rubberwhale1.png").convert("L"))
print(picture.shape, picture.dtype)

# %% [markdown]
# ## Histograms of boxes
#
# Values count as in `numpy.histogram`; `counts` gives boxes x bins.

# %%
tensor = areal.integral_histogram(picture, bins=16, range=(0, 256))
print(repr(tensor))
WHALE = (225, 95, 80, 80)  # x, y, width, height
counts = tensor.counts(WHALE)
x, y, w, h = WHALE
direct, edges = np.histogram(picture[y : y + h, x : x + w], bins=16, range=(0, 256))
assert np.array_equal(counts, direct)
print("median of the whale", tensor.percentile(50, WHALE), "entropy", tensor.entropy(WHALE))

# %% [markdown]
# ## The distance of every place from the whale
#
# Hellinger's distance of two histograms is 0 where they are equal and 1 where they share no bin. The map has a number for every window inside.

# %%
distance = tensor.distance_map(counts, size=(h, w), measure="hellinger")
best = np.unravel_index(np.argmin(distance), distance.shape)
print("nearest: row", best[0], "column", best[1])
assert (best[1], best[0]) == WHALE[:2]
assert distance.min() < 1e-6

# %%
figure, places = plt.subplots(1, 3, figsize=(14, 4))
places[0].imshow(picture, cmap="gray")
places[0].add_patch(plt.Rectangle((x, y), w, h, fill=False, color="red", linewidth=2))
places[0].set_title("the picture and the template")
places[0].axis("off")
places[1].stairs(counts, edges, fill=True)
places[1].set_title("the template's histogram")
places[2].imshow(distance, cmap="magma")
places[2].set_title("distance of each window")
places[2].axis("off")
figure.tight_layout()
figure.savefig(OUT / "histograms.png", dpi=80)
