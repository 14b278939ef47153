"""Summed-area tables and integral histograms at the speed of a memory copy."""

from ._core import backends, default_threads, devices
from ._errors import Cancelled, DeviceError, Error, InvalidArgument, IoError, OutOfMemory, Unavailable
from ._open import open
from ._sat import SatTable, sat

__all__ = ["Cancelled", "DeviceError", "Error", "InvalidArgument", "IoError", "OutOfMemory", "SatTable", "Unavailable", "backends",
           "default_threads", "devices", "open", "sat"]
