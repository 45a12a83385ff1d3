"""Rows of a CSR."""

from .compiled import borrowing, for_kernels


@borrowing(for_kernels)
def row_of(offsets, arc):
    """The last row that begins at this arc or before. NumPy's `searchsorted` takes Numba half a second to compile."""
    row, above = 0, len(offsets)
    while above - row > 1:
        middle = (row + above) >> 1
        if offsets[middle] <= arc:
            row = middle
        else:
            above = middle
    return row
