"""Summed-area tables and integral histograms at the speed of a memory copy."""

from ._core import DeviceArray, backends, default_threads, devices
from ._errors import Cancelled, DeviceError, Error, InvalidArgument, IoError, OutOfMemory, Unavailable
from ._sat import Sat, SatPlan, sat

__all__ = ["Cancelled", "DeviceArray", "DeviceError", "Error", "InvalidArgument", "IoError", "OutOfMemory", "Sat", "SatPlan", "Unavailable", "backends",
           "default_threads", "devices", "sat"]
