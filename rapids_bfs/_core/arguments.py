"""What callers pass, checked where it comes in."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from ..errors import InputError

LONGEST_QUOTE = 80  # letters


def quoted(value: Any) -> str:
    """``value`` as a message shows it: as Python writes it, a NumPy scalar as Python's own, and never long."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # what somebody's __repr__ raises; an int of too many digits is a ValueError
        text = f"<{type(value).__qualname__}>"
    return shortened(text)


def shortened(text: str) -> str:
    """``text``, or its two ends if it is longer than `LONGEST_QUOTE`."""
    if len(text) <= LONGEST_QUOTE:
        return text
    half = LONGEST_QUOTE // 2
    return f"{text[:half]}...{text[-half:]}"


def checked_directed(directed: Any) -> bool | None:
    """``directed`` as Python's own bool, or None. Raises `InputError` for anything else: 0 and "no" are neither."""
    if directed is None:
        return None
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed must be True, False or None, not {directed!r}")
    return bool(directed)


def checked_name(name: Any) -> str | None:
    """``name`` if it is a string or None. Raises `InputError` if not."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"a graph's name is a string, not {name!r:.200}")
    return name


def flag(value: Any, what: str) -> bool:
    """``value`` as Python's own bool. Raises `InputError` for anything but a bool."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def file_path(value: Any) -> str:
    """``value`` as a path. Raises `InputError` unless it is a string, bytes or `os.PathLike`."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise InputError(f"a path is a string or an os.PathLike, not {value!r:.200}") from None


def engine_name(spec: Any) -> str:
    """How an engine is written, without blanks around it. Raises `InputError` if it is no string."""
    if not isinstance(spec, str):
        raise InputError(f"an engine is written as a string, such as 'cpu' or 'cpu:sequential', not {spec!r}")
    return spec.strip()


def whole_number(value: Any, what: str, least: int = 0) -> int:
    """``value`` as an int. Raises `InputError` if it is no whole number, or less than ``least``."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{what} must be a whole number, not {value!r}")
    if number < least:
        raise InputError(f"{what} must be at least {least}, not {number}")
    return number
