"""Adjacencies read from dicts of dicts through CPython's C interface.

Python's iterators count a reference to each neighbour, and so wait for one cache miss after the other. `read`
prefetches many neighbours at once: the first call on a large graph takes a half to a quarter of the time. It relies on:

1. Addresses are used by this one call only. The caller holds the objects, and the call holds the interpreter's lock
   from the first line to the last, so that nothing changes or dies meanwhile. There is no such lock in a free-threaded
   build, and other interpreters have other objects: there `AVAILABLE` is False.
2. Nothing that it calls can run Python code. Only rows that are exactly dicts and neighbours that are exactly int or
   str are read, and each is checked when it is reached. The keys of ``index`` are of these types too.
3. Each write is checked against the length of its array: the graph may have changed since the length was taken.
4. No call that is made can raise. `read` returns False for anything else, and the caller reads it in plain Python.

Source: Python/C API reference manual, Dictionary objects, Integer objects.
"""

from __future__ import annotations

import platform
import sysconfig
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels.cpu import types
from ..kernels.cpu.atomics import prefetch
from ..kernels.cpu.compiled import compiled

AVAILABLE = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")

_ADDRESS = types.intp
_OUT = types.CPointer(_ADDRESS)
_next_item = types.ExternalFunction("PyDict_Next", types.intc(_ADDRESS, _OUT, _OUT, _OUT))
_item = types.ExternalFunction("PyDict_GetItemWithError", _ADDRESS(_ADDRESS, _ADDRESS))
_integer = types.ExternalFunction("PyLong_AsLongLongAndOverflow", types.int64(_ADDRESS, types.CPointer(types.intc)))
_type = types.ExternalFunction("PyObject_Type", _ADDRESS(_ADDRESS))
_release = types.ExternalFunction("Py_DecRef", types.void(_ADDRESS))

_HELD = 4096  # neighbours that are prefetched before the first of them is read
_BYTES = np.empty(0, np.uint8)  # `prefetch` takes an address as an offset into an array


def read(rows: dict[Any, Any], index: Mapping[Any, int] | None, degrees: np.ndarray, targets: np.ndarray) -> bool:
    """Fill ``degrees[n]`` with the lengths of the rows and ``targets[m]`` with their keys' vertices.

    True if there were n rows with m keys in all, and each is a vertex. ``index`` has the vertex of each int or str;
    None if the vertices are the numbers 0..n-1 themselves.
    """
    kinds = np.array([id(dict), id(int), id(str)], np.intp)
    return bool(_read(id(rows), 0 if index is None else id(index), kinds, _BYTES, degrees, targets))


@compiled
def _read(rows, index, kinds, memory, degrees, targets):
    place, key, row = np.zeros(1, np.intp), np.zeros(1, np.intp), np.zeros(1, np.intp)
    inner, value = np.zeros(1, np.intp), np.zeros(1, np.intp)
    held_keys = np.empty(_HELD, np.intp)
    n = done = held = 0
    origin = memory.ctypes.data
    while _next_item(rows, place.ctypes, key.ctypes, row.ctypes):
        if n == len(degrees) or _type_of(row[0]) != kinds[0]:
            return False
        inner[0] = degrees[n] = 0
        while _next_item(row[0], inner.ctypes, key.ctypes, value.ctypes):
            if done + held == len(targets):
                return False
            prefetch(memory, key[0] - origin)
            held_keys[held] = key[0]
            held += 1
            degrees[n] += 1
            if held == _HELD:
                if not _translate(held_keys[:held], index, kinds, len(degrees), targets[done:]):
                    return False
                done += held
                held = 0
        n += 1
    whole = n == len(degrees) and done + held == len(targets)
    return whole and _translate(held_keys[:held], index, kinds, n, targets[done:])


@compiled
def _translate(keys, index, kinds, n, vertices):
    """Write the vertices of ``keys``, no more of them than ``vertices`` has room for; False if one is not a vertex."""
    overflow = np.zeros(1, np.intc)
    for i in range(len(keys)):
        number, kind = keys[i], _type_of(keys[i])
        if index:
            if kind != kinds[1] and kind != kinds[2]:
                return False
            number = _item(index, number)
            if not number:
                return False
        elif kind != kinds[1]:
            return False
        vertex = _integer(number, overflow.ctypes)
        if overflow[0] or vertex < 0 or vertex >= n:
            return False
        vertices[i] = vertex
    return True


@compiled
def _type_of(address):
    """The address of an object's type, which lives as long as the object."""
    kind = _type(address)
    _release(kind)
    return kind
