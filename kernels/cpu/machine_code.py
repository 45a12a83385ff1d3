"""Calls of a kernel without Numba's look at the type of each argument, which takes half the time of a tiny search."""

from numba import typeof


def machine_code(kernel, *arguments):
    """What Numba calls for arguments of the types of these, for which the kernel has been compiled.

    All later arguments must be of these types: of arrays only the size of an item is checked, not even the number of
    dimensions, and a false one corrupts memory. Arrays may be writable where these are not.
    """
    return kernel.overloads[tuple(map(typeof, arguments))].entry_point
