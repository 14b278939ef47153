"""The exceptions of areal: the C++ library's messages, with Python's own exceptions as bases."""


class Error(Exception):
    """The base of all exceptions of areal."""


class InvalidArgument(Error, ValueError):
    """A wrong argument: a shape, dtype, region, bin or option."""


class OutOfMemory(Error, MemoryError):
    """A table or tensor does not fit memory. ``bytes``: the memory needed."""

    bytes: int = 0


class IoError(Error, OSError):
    """A file or a stream could not be read or written."""


class Unavailable(Error):
    """A feature is missing in this build or on this machine."""


class DeviceError(Error, RuntimeError):
    """A GPU reported an error. If ``lost`` is true, this process cannot use the device any more."""

    lost: bool = False


class Cancelled(Error):
    """A callback cancelled the call. Outputs hold unspecified values."""
