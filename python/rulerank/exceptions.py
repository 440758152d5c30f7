"""What goes wrong, with the messages of the program `rulerank`."""


class RulerankError(Exception):
    """All of them."""


class DataError(RulerankError, ValueError):
    """Bad input data: `file` (or the name of an array), `line` (or row) and `column` say where, from 1;
    0 where the input as a whole is meant."""

    file = ""
    line = 0
    column = 0


class UsageError(RulerankError, ValueError):
    """Arguments that make no sense, or not together."""


class DeviceError(RulerankError, RuntimeError):
    """A device that is missing, lost or out of memory."""


class OutputError(RulerankError, OSError):
    """A file that could not be written."""


class Interrupted(RulerankError, RuntimeError):
    """A progress callable returned False."""
