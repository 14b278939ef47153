"""Plots of tables and histograms. Imports Matplotlib on the first call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import on_host
from ._display import means
from ._errors import InvalidArgument, Unavailable
from ._frameworks import NUMPY
from ._histogram import IntegralHistogram
from ._sat import Sat


def plot(what: Any, boxes: Any = None, *, ax: Any = None, most: int = 1024) -> Any:
    """Draws a Sat or an IntegralHistogram, and returns the Matplotlib axes.

    A Sat: its image as means of at most ``most`` x ``most`` cells, and ``boxes`` (x, y, width, height) with their means. An IntegralHistogram: the
    histograms of ``boxes``, by default of the whole image. Draws the first image of a batch. Raises Unavailable without Matplotlib.
    """
    if not isinstance(what, (Sat, IntegralHistogram)):
        raise InvalidArgument(f"plot: it takes areal.Sat or areal.IntegralHistogram, not {type(what).__name__}")
    try:
        from matplotlib import pyplot
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise Unavailable("plot: Matplotlib is not installed; pip install matplotlib") from error
    extent = dict(zip(what.axes, what.image_shape))
    wanted = None if boxes is None else NUMPY.boxes(boxes)[0]
    if ax is None:
        ax = pyplot.subplots()[1]
    if isinstance(what, IntegralHistogram):
        return _histograms(what, np.array([[0, 0, extent["W"], extent["H"]]]) if wanted is None else wanted, ax)
    picture = means(what, most)
    if picture is None:
        raise InvalidArgument("plot: the table has no pixels to show")
    if picture.ndim == 3:
        low, high = float(np.nanmin(picture)), float(np.nanmax(picture))
        picture = (picture - low) / (high - low or 1)
    drawn = ax.imshow(picture, extent=(0, extent["W"], extent["H"], 0), cmap="gray")
    if picture.ndim == 2:
        ax.figure.colorbar(drawn, ax=ax, label="mean")
    for box in [] if wanted is None else wanted:
        x, y, width, height = (int(n) for n in box)
        ax.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor="tab:red"))
        if what.axes == "HW":
            mean: Any = what
            ax.annotate(f"{float(mean.mean(box)):.4g}", (x, y), color="tab:red", va="bottom")
    ax.set_title(f"{what.image_dtype}, {what.array.dtype.name} sums")
    return ax


def _histograms(tensor: Any, boxes: Any, ax: Any) -> Any:
    edges = tensor.binning.edges
    counts = on_host(tensor.counts(boxes)).astype(float)
    if "N" in tensor.axes:
        counts = counts[:, 0]
    for box, histogram in zip(boxes, counts):
        ax.stairs(histogram, edges, label="x {} y {}, {} x {}".format(*box), fill=len(boxes) == 1, alpha=0.8)
    ax.legend()
    ax.set_xlabel("value")
    ax.set_ylabel("pixels")
    return ax
