"""Summed-area tables, integral histograms and filters at the speed of a memory copy."""

import os as _os

from . import _core, _frameworks, _sat
from . import filters as filters
from ._binning import Binning
from ._cascade import Cascade, Detection
from ._core import DeviceArray, backends, default_threads, devices
from ._core import version as __version__
from ._errors import Cancelled, DeviceError, Error, InvalidArgument, IoError, OutOfMemory, Unavailable
from ._histogram import HistogramPlan, IntegralHistogram, distance_map, histograms, integral_histogram
from ._open import open
from ._plot import plot
from ._quantiles import quantiles
from ._sat import Sat, SatPlan, sat
from ._store import HistogramStore, histogram_store
from ._view import view

__all__ = ["Binning", "Cancelled", "Cascade", "Detection", "DeviceArray", "DeviceError", "Error", "HistogramPlan", "HistogramStore", "IntegralHistogram", "InvalidArgument",
           "IoError", "OutOfMemory", "Sat", "SatPlan", "Unavailable", "__version__", "backends", "default_threads", "devices", "distance_map", "histogram_store", "histograms",
           "integral_histogram", "open", "plot", "quantiles", "sat", "view"]

_core.install(_core, Sat, _frameworks.Framework, _frameworks.NUMPY, _sat.carry, _frameworks.of_plan)
_os.register_at_fork(after_in_child=_core.after_fork_in_child)
