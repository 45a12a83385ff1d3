"""Calls of a kernel without Numba's look at the type of each argument, which takes half the time of a tiny search."""

import numpy as np
from numba import typeof

INT64, CONTIGUOUS = np.dtype(np.int64), (8,)  # dtype and strides


def by_machine_code(kernel, place):
    """The kernel, for arguments of the same types at each call, but for the array at ``place``: that is made a
    contiguous one of int64, unless it is one.

    Of the other arrays only the size of an item is checked, not even the number of dimensions: a false one corrupts
    memory. Arrays may be writable where those of the first call were not.
    """
    code = None

    def call(*arguments):
        nonlocal code
        array = arguments[place]
        if not (array.dtype is INT64 and array.strides == CONTIGUOUS):
            array = np.ascontiguousarray(array, INT64)
            arguments = *arguments[:place], array, *arguments[place + 1 :]
        if code is None:
            found = kernel(*arguments)  # compiles
            code = kernel.overloads[tuple(map(typeof, arguments))].entry_point
            return found
        return code(*arguments)

    return call
