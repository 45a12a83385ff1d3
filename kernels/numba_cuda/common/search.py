"""What a whole search in one cooperative launch tells its host."""

import numpy as np
from numba import cuda

from ...whole_search import LEVELS_SHIFT, NUMBER_SHIFT
from .pointers import atomic_add
from .warp import inlined


@inlined
def report(state, finished, status, number, levels, given_up):
    """End a search: the last block to arrive tells the host, in one store, which search it was and its levels.

    ``finished`` is the element of `state` that counts the blocks that are done with the search.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.gridDim.x == 1 or atomic_add(state, finished, 1) == cuda.gridDim.x - 1:
            state[finished] = 0
            status[0] = number << NUMBER_SHIFT | np.int64(levels) << LEVELS_SHIFT | np.int64(given_up)


@inlined
def is_reached(target_level, level):
    """Did a level up to this one reach the target? Other blocks may be one level ahead and have set it already."""
    return target_level > 0 and target_level <= level
