"""What the kernels share that a host launches for each level."""

from numba import cuda

from .. import PROGRESS


@cuda.jit(device=True)
def announce(level, announced, status):
    """Tell the host that this level reached a vertex; to be called by one thread of each block that did.

    The first block stores the level in the host's memory, across the bus; the others see in device memory that the
    host is told: ``announced[0]`` is the last level of which it knows.
    """
    if announced[0] != level and cuda.atomic.exch(announced, 0, level) != level:
        status[PROGRESS] = level
