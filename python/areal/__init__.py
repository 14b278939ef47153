"""Summed-area tables and integral histograms at the speed of a memory copy."""

from ._core import backends, default_threads, devices
from ._core import version as __version__
from ._errors import Cancelled, DeviceError, Error, InvalidArgument, IoError, OutOfMemory, Unavailable
from ._open import open
from ._sat import Sat, SatPlan, sat

__all__ = ["Cancelled", "DeviceError", "Error", "InvalidArgument", "IoError", "OutOfMemory", "Sat", "SatPlan", "Unavailable", "__version__", "backends",
           "default_threads", "devices", "open", "sat"]
