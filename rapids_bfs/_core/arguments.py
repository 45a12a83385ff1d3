"""What callers pass, checked where it comes in."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from ..errors import InputError, shortened

LONGEST_QUOTE = 80  # letters


def quoted(value: Any) -> str:
    """``value`` as a message shows it: as Python writes it, on one line and never long, a NumPy scalar as Python's."""
    try:
        text = repr(_plain(value))
    except Exception:  # whatever somebody's __repr__ raises; ValueError for an int of too many digits
        text = f"<{type(value).__qualname__}>"
    return shortened(text.replace("\n", " "), LONGEST_QUOTE)


def _plain(value: Any) -> Any:
    """``value``, or a tuple's, without NumPy's types."""
    if type(value) is tuple:
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def checked_directed(directed: Any) -> bool | None:
    """``directed`` as Python's own bool, or None. Raises `InputError` for anything else: 0 and "no" are neither."""
    if directed is None:
        return None
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed must be True, False or None, not {quoted(directed)}")
    return bool(directed)


def checked_name(name: Any) -> str | None:
    """``name`` if it is a string or None. Raises `InputError` if not."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"a graph's name is a string, not {quoted(name)}")
    return name


def flag(value: Any, what: str) -> bool:
    """``value`` as Python's own bool. Raises `InputError` for anything but a bool."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {quoted(value)}")
    return bool(value)


def file_path(value: Any) -> str:
    """``value`` as a path. Raises `InputError` unless it is a string, bytes or `os.PathLike`."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise InputError(f"a path is a string or an os.PathLike, not {quoted(value)}") from None


def engine_name(spec: Any) -> str:
    """How an engine is written, without blanks around it. Raises `InputError` if it is no string."""
    if not isinstance(spec, str):
        raise InputError(f"an engine is written as a string, such as 'cpu' or 'cpu:sequential', not {quoted(spec)}")
    return spec.strip()


def whole_number(value: Any, what: str, least: int = 0) -> int:
    """``value`` as an int. Raises `InputError` if it is no whole number, or less than ``least``."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{what} must be a whole number, not {quoted(value)}")
    if number < least:
        raise InputError(f"{what} must be at least {least}, not {quoted(number)}")
    return number
