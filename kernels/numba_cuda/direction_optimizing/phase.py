"""Phases: what all blocks do between two barriers of the grid."""

import numpy as np
from numba import cuda

from ..common.frontier import unpacked
from ..common.grid import grid_barrier
from ..common.ptx import load_relaxed
from ..common.warp import inlined
from .parameters import EXPLORED, LEVEL, TAILS, TARGET_LEVEL

# What a block learns at the end of a phase, in shared memory: thousands of warps that load one address would queue up.
ENQUEUED, LEVEL_EXPLORED, LAST_LEVEL, TARGET_REACHED, PHASE_RESULT = range(5)


@inlined
def of_phase(first, phase):
    """The element of `state`, of three from ``first`` on, that belongs to a phase: the next one's is zero."""
    return np.int32(first + np.uint32(phase) % np.uint32(3))


@inlined
def end_phase(state, phase, edge_bits, result):
    """Wait for all blocks, and load what was counted in this phase. Meanwhile the next one's counters are reset.

    Returns the vertices and edges of the frontier that was appended.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            state[of_phase(TAILS, phase + 1)] = 0
            state[of_phase(EXPLORED, phase + 1)] = 0
        grid_barrier(state)
        result[ENQUEUED] = load_relaxed(state, of_phase(TAILS, phase))
        result[LEVEL_EXPLORED] = load_relaxed(state, of_phase(EXPLORED, phase))
        result[LAST_LEVEL] = load_relaxed(state, LEVEL + (phase & 1))
        result[TARGET_REACHED] = load_relaxed(state, TARGET_LEVEL)
    cuda.syncthreads()
    return unpacked(result[ENQUEUED], edge_bits)
