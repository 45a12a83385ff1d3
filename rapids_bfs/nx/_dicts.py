"""NetworkX's dicts of dicts to CSR, and arrays to dicts, through CPython's own C interface.

A loop in compiled code over ``PyDict_Next`` borrows keys where Python's iterators count references, and asks for the
memory of many keys at once; what is left is the wait for that memory. It holds the interpreter's lock throughout.
Source: Python/C API reference manual, Dictionary objects.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ..kernels.cpu.atomics import prefetch
from ..kernels.cpu.compiled import compiled

_ADDRESS = types.intp
_OUT = types.CPointer(_ADDRESS)
_next_item = types.ExternalFunction("PyDict_Next", types.intc(_ADDRESS, _OUT, _OUT, _OUT))
_size = types.ExternalFunction("PyDict_Size", _ADDRESS(_ADDRESS))
_set_item = types.ExternalFunction("PyDict_SetItem", types.intc(_ADDRESS, _ADDRESS, _ADDRESS))
_item = types.ExternalFunction("PyDict_GetItemWithError", _ADDRESS(_ADDRESS, _ADDRESS))
_integer = types.ExternalFunction("PyLong_AsSsize_t", _ADDRESS(_ADDRESS))
_new_integer = types.ExternalFunction("PyLong_FromSsize_t", _ADDRESS(_ADDRESS))
_let_go = types.ExternalFunction("Py_DecRef", types.void(_ADDRESS))
_clear_error = types.ExternalFunction("PyErr_Clear", types.void())

_HELD = 4096  # keys whose memory is asked for before the first is read
_AHEAD = 16  # keys whose memory is asked for before one goes into a dict
MEMORY = np.empty(0, np.uint8)  # an array of bytes, for the prefetch


@compiled
def count(rows, degrees):
    """Fill ``degrees[n]`` with the lengths of the dicts that are the values of the dict at address ``rows``."""
    place, key, row = np.zeros(1, np.intp), np.zeros(1, np.intp), np.zeros(1, np.intp)
    i = 0
    while _next_item(rows, place.ctypes, key.ctypes, row.ctypes):
        degrees[i] = _size(row[0])
        i += 1


@compiled
def fill(rows, index, plain, memory, targets):
    """Fill ``targets[m]`` with the vertices that are the keys of the rows; True if every key is a vertex.

    ``index`` is the address of a dict from keys to vertices, used for keys that are not vertices themselves
    (``plain``). ``memory`` is `MEMORY`, from which the prefetch reckons.
    """
    place, key, row = np.zeros(1, np.intp), np.zeros(1, np.intp), np.zeros(1, np.intp)
    inner, value = np.zeros(1, np.intp), np.zeros(1, np.intp)
    held_keys = np.empty(_HELD, np.intp)
    held = done = 0
    origin = memory.ctypes.data
    while _next_item(rows, place.ctypes, key.ctypes, row.ctypes):
        inner[0] = 0
        while _next_item(row[0], inner.ctypes, key.ctypes, value.ctypes):
            if done + held == len(targets):
                return False
            prefetch(memory, key[0] - origin)
            held_keys[held] = key[0]
            held += 1
            if held == _HELD:
                if not _translate(held_keys, held, index, plain, targets[done:]):
                    return False
                done += held
                held = 0
    return _translate(held_keys, held, index, plain, targets[done:]) and done + held == len(targets)


@compiled
def _translate(keys, held, index, plain, vertices):
    for i in range(held):
        if plain:
            vertex = _integer(keys[i])
        else:
            found = _item(index, keys[i])
            vertex = _integer(found) if found else -1
        if vertex < 0:
            _clear_error()
            return False
        vertices[i] = vertex
    return True


@compiled
def fill_dict(dictionary, keys, key_at, values, value_at, memory):
    """Add ``keys[key_at[i]]: values[value_at[i]]`` for every i to the dict; True unless a key cannot be compared.

    ``dictionary`` is an address, and so are all ``keys`` and ``values``; ``memory`` as in `fill`.
    """
    origin = memory.ctypes.data
    for i in range(len(key_at)):
        if i + _AHEAD < len(key_at):
            prefetch(memory, keys[key_at[i + _AHEAD]] - origin)
        if _set_item(dictionary, keys[key_at[i]], values[value_at[i]]) < 0:
            _clear_error()
            return False
    return True


@compiled
def fill_numbered(dictionary, keys, values, value_at):
    """`fill_dict` with ``keys`` that are numbers: to make them anew costs less than to look up those that there are."""
    for i in range(len(keys)):
        key = _new_integer(keys[i])
        added = key and not _set_item(dictionary, key, values[value_at[i]])
        _let_go(key)
        if not added:
            _clear_error()
            return False
    return True
