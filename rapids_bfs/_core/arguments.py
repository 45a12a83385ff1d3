"""Checks of arguments, made where they enter the package."""

from __future__ import annotations

import operator
import os
import re
from typing import Any, TypeGuard

import numpy as np

from ..errors import InputError, shortened

LONGEST_QUOTE = 80  # characters


def quoted(value: Any) -> str:
    """The repr of ``value`` for messages: a line of at most `LONGEST_QUOTE` characters, NumPy's scalars as Python's."""
    try:
        text = repr(_plain(value))
    except Exception:  # a user's __repr__ may raise anything; an int of too many digits raises ValueError
        text = f"<{type(value).__qualname__}>"
    return shortened(text.replace("\n", " "), LONGEST_QUOTE)


def _plain(value: Any) -> Any:
    """``value`` or, for a tuple, each of its items, as a type of Python's."""
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


def name_of(graph: Any, default: str) -> str:
    """The name of a graph of NetworkX's kind, where it may be any object; ``default`` if it has none."""
    name = graph.name
    return (name if isinstance(name, str) else quoted(name)) or default


def flag(value: Any, what: str) -> bool:
    """``value`` as Python's own bool. Raises `InputError` for anything but a bool."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {quoted(value)}")
    return bool(value)


def file_path(value: Any) -> str:
    """``value`` as a path on this machine. Raises `InputError` unless it is a string, bytes or `os.PathLike`, or if it
    cannot be a path."""
    try:
        path = os.fsdecode(value)
        valid = b"\0" not in os.fsencode(path)
    except TypeError:
        raise InputError(f"a path is a string or an os.PathLike, not {quoted(value)}") from None
    except UnicodeError:
        valid = False
    if not valid:
        raise InputError(f"{quoted(value)} is not a path: it has a character that no file's name can have")
    if re.match("[A-Za-z][A-Za-z0-9+.-]+:/", path) and not os.path.lexists(path):
        raise InputError(
            f"{quoted(path)} is a URL, and only files on this machine are read and written: download it first"
        )
    return path


def engine_name(spec: Any) -> str:
    """The name of an engine without surrounding blanks. Raises `InputError` if it is no string."""
    if not isinstance(spec, str):
        raise InputError(f"an engine is written as a string, such as 'cpu' or 'cpu:sequential', not {quoted(spec)}")
    return spec.strip()


def is_integer(value: Any) -> TypeGuard[int]:
    """Return True for an int of Python or NumPy: no bool, and none of NumPy's timedeltas, which are integers to it."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_of(obj: Any, module: str, *names: str) -> bool:
    """Return True for an instance of a module's classes with these names, or of a subclass. Imports nothing."""
    return any(kind.__module__ == module and kind.__name__ in names for kind in type(obj).__mro__)


def elements(collection: Any) -> list[Any]:
    """The elements of an array, a column or any other iterable; those of a column as Python's own objects.

    Raises `TypeError` or `ValueError` if it is not a collection; a string or bytes is not.
    """
    if isinstance(collection, str | bytes | bytearray):
        raise TypeError(f"{type(collection).__name__} is not a collection")
    if isinstance(collection, np.ndarray) and collection.dtype.kind in "iu":
        return list(collection.tolist())  # Python's ints are handled faster than NumPy's
    if isinstance(collection, np.ndarray | list | tuple):  # tolist would convert times in nanoseconds to ints
        return list(collection)
    dtype: Any = getattr(collection, "dtype", None)
    if hasattr(dtype, "is_temporal") and dtype.is_temporal():  # of Polars, whose to_list drops nanoseconds
        collection = collection.to_arrow()
    if hasattr(collection, "to_pylist"):  # Arrow's; iteration would not check its offsets
        collection.validate(full=True)
        if str(collection.type) == "time64[ns]":
            collection = collection.cast("time64[us]")  # as exact as Python's; an ArrowInvalid if that is too little
    for convert in ("to_pylist", "to_list", "tolist"):
        if hasattr(collection, convert):
            collection = getattr(collection, convert)()
            break
    return list(collection)


def index_of(value: Any) -> int | None:
    """``value`` as an int; None if it is not an integer. A bool is not, though NumPy's has an index before 2.3."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def whole_number(value: Any, what: str, least: int = 0) -> int:
    """``value`` as an int. Raises `InputError` if it is not a whole number, or less than ``least``."""
    number = index_of(value)
    if number is None:
        raise InputError(f"{what} must be a whole number, not {quoted(value)}")
    if number < least:
        raise InputError(f"{what} must be at least {least}, not {quoted(number)}")
    return number
