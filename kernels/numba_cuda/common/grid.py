"""The barrier that all blocks of a cooperative launch meet at."""

import numpy as np
from numba import cuda

from .ptx import atomic_add_acq_rel, load_acquire, trap
from .warp import inlined

SPIN_LIMIT = 1 << 27  # loads of the barrier's count before the launch is torn down: about a minute
TOP_BIT = np.int64(-1 << 63)
ARRIVED = 0  # element of `state`, whose first 128 bytes belong to the barrier


@inlined
def grid_barrier(state):
    """Wait for all blocks.

    What any thread of a block wrote before its first thread calls this, with the block's barriers around it, is seen
    by every thread after. Block 0 adds what flips the top bit, so the count is never reset. A single block needs no
    more than its own barriers, and so no cooperative launch.
    """
    if cuda.gridDim.x == 1:
        return
    step = np.int64(1)
    if cuda.blockIdx.x == 0:
        step = TOP_BIT - (cuda.gridDim.x - 1)
    before = atomic_add_acq_rel(state, ARRIVED, step)
    spins = np.int32(SPIN_LIMIT)
    while before ^ load_acquire(state, ARRIVED) >= 0:
        spins = np.int32(spins - 1)
        if spins == 0:
            trap()
