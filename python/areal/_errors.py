"""Every exception that areal raises: C++'s sentences, with Python's own exceptions as bases."""


class Error(Exception):
    """The base of every exception of areal."""


class InvalidArgument(Error, ValueError):
    """What was passed cannot be: a wrong shape, dtype, region, bin or option."""


class OutOfMemory(Error, MemoryError):
    """A table or tensor that does not fit. ``bytes`` is what would have been needed."""

    bytes: int = 0


class IoError(Error, OSError):
    """A file or a stream that could not be read or written."""


class Unavailable(Error):
    """What was asked for exists, but not in this build or on this machine."""


class DeviceError(Error, RuntimeError):
    """A GPU answered with an error. Where ``lost`` is true, this process can use the device no more."""

    lost: bool = False


class Cancelled(Error):
    """A callback asked to stop. Outputs hold unspecified values."""
