"""Errors: unusable input, and failures of engines and devices; and warnings."""

import sys
import warnings

LONGEST_MESSAGE = 1000  # characters
LONGEST_DESCRIPTION = 300


def shortened(text: str, longest: int) -> str:
    """``text``, or its two ends where it has more characters than ``longest``."""
    if len(text) <= longest:
        return text
    half = (longest - len("...")) // 2
    return f"{text[:half]}...{text[-half:]}"


def described(error: BaseException) -> str:
    """The type and the message of an error of another package, in one line."""
    try:
        message = str(error)
    except Exception:  # of its __str__
        message = ""
    return shortened(" ".join(f"{type(error).__name__}: {message}".split()).removesuffix(":"), LONGEST_DESCRIPTION)


def warn(message: str) -> None:
    """Warn about the line outside this package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


class InputError(ValueError):
    """Unusable input. The message names what is wrong, where, and what to do about it.

    However long the names in it are, it has at most `LONGEST_MESSAGE` characters.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, LONGEST_MESSAGE))


class NoAttributeError(InputError, AttributeError):
    """An attribute that an object of this kind has elsewhere. `hasattr` is False, as for any that is missing."""


class DeviceMemoryError(InputError):
    """The device has too little free memory for this."""


class NoPathError(InputError):
    """No path leads from one vertex to the other."""


class TraversalError(RuntimeError):
    """A wrong search: a fault of the engine, not of the input. The message names the level and the vertex."""


class DeviceError(TraversalError):
    """The device or its driver failed: there is no answer."""
