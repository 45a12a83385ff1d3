"""BFS on the CPU, compiled by Numba, which this package imports for all others: they take its names from here.

An interrupt in the midst of an import would leave half of Numba, which no later import mends. So another thread imports
it. After an interrupt that import goes on, and the next call that needs this package waits for its end.
"""

from ..threads import imported

numba = imported("numba")
njit, prange, types = numba.njit, numba.prange, numba.types
