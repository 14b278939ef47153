# %% [markdown]
# # Where a photograph has detail
#
# The deviation of a pixel's neighbourhood tells smooth areas from detailed ones, at any scale from the same table. Boxes then compare
# named parts of the picture. The photograph is `data/building.jpg`; figures go to `out/python` (or to the folder AREAL_OUT).

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
photograph = np.asarray(Image.open(ROOT / "data/building.jpg"))
print(photograph.shape, photograph.dtype)

# %% [markdown]
# ## Colours as they lie
#
# The axes of an array are named by letters: this one is `HWC`. Each channel has its own sums, and the table has the order of the image.

# %%
table = areal.sat(photograph, axes="HWC", squares=True)
print(repr(table))
height, width, channels = photograph.shape
assert table.array.shape == (height + 1, width + 1, channels)

# %% [markdown]
# ## Three scales from one table
#
# Windows of 9, 33 and 129 pixels cost the same.

# %%
figure, places = plt.subplots(1, 4, figsize=(16, 3.6))
places[0].imshow(photograph)
places[0].set_title("the photograph")
for place, size in zip(places[1:], (9, 33, 129)):
    detail = table.window(size, stat="std", edge="reflect").mean(axis=2)
    assert detail.shape == (height, width) and np.isfinite(detail).all()
    place.imshow(detail, cmap="magma", vmin=0, vmax=80)
    place.set_title(f"deviation in {size} x {size}")
for place in places:
    place.axis("off")
figure.tight_layout()
figure.savefig(OUT / "texture.png", dpi=80)

# %% [markdown]
# ## The smoothest and the busiest place
#
# Every 64 x 64 box of a grid at once: N boxes in, N x channels answers out. `xyxy` boxes are corners, `xywh` the default.

# %%
SIZE = 64
left, top = (grid.ravel() for grid in np.meshgrid(np.arange(0, width - SIZE + 1, 16), np.arange(0, height - SIZE + 1, 16)))
boxes = np.stack([left, top, left + SIZE, top + SIZE], axis=1)
deviations = table.std(boxes, format="xyxy").mean(axis=1)
for name, box in (("smoothest", boxes[deviations.argmin()]), ("busiest", boxes[deviations.argmax()])):
    x0, y0, x1, y1 = box
    direct = photograph[y0:y1, x0:x1].reshape(-1, channels).astype(float)
    assert np.allclose(table.std(box, format="xyxy"), direct.std(axis=0)) and np.allclose(table.mean(box, format="xyxy"), direct.mean(axis=0))
    print(f"{name:10} x {x0:4} y {y0:4}  mean {table.mean(box, format='xyxy').round(1)}  deviation {table.std(box, format='xyxy').round(1)}")
