"""Exceptions, with the messages of the program `rulerank`."""


class RulerankError(Exception):
    """The base class of the package's exceptions."""


class DataError(RulerankError, ValueError):
    """Bad input data. `file` (or the name of an array), `line` (or row) and `column` give the place, from 1; 0 if the error
    concerns the input as a whole."""

    file = ""
    line = 0
    column = 0


class UsageError(RulerankError, ValueError):
    """Invalid or conflicting arguments."""


class DeviceError(RulerankError, RuntimeError):
    """A device that is missing, lost or out of memory."""


class OutputError(RulerankError, OSError):
    """A file could not be written."""


class Interrupted(RulerankError, RuntimeError):
    """A progress callable returned False."""
