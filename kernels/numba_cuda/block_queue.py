"""Block queue: one block per frontier vertex, one thread per edge.

The frontier is a run of a queue. Blocks take its vertices in turn, the threads of a block the edges of one vertex,
as many at a time as there are threads. The thread that changes a neighbour's distance from -1 puts it in the
block's shared memory. When another round might not fit there, and when the block is done, the block takes room at
the end of the queue with one atomic and spills what it holds. So a block may find any number of vertices, and the
queue gets them in runs.

====================  ========================================================================================
``queue[n]``          the reached vertices, level after level; ``queue[begin:end]`` is the frontier
``tail[1]``           the end of the queue: vertices reached so far
``gathered``          in shared memory: vertices that the block won and has not spilled; the first ``held`` are used
``distances[n]``      the level that reached the vertex, 0 at a source, -1 while there is none
``predecessors[n]``   the vertex that reached it, -1 while there is none; of length 0 if not wanted
``finished[1]``       blocks that are done with this level; 0 between levels
``status[2]``         in the host's memory, see `rapids_bfs.kernels`; its PROGRESS is the tail after the level
====================  ========================================================================================

Work: O(n + m) in all, since a vertex is in the queue once. But a vertex of degree 4 keeps a whole block for one
round, and a hub is one block's work. Atomics: one on a distance for each edge that may win, one in shared memory
for each vertex won, one on the tail for each spill.
Synchronisation: one barrier of the block for each round of edges, two a spill; one launch and one wait a level.

Races: threads race for a neighbour's distance; the compare-and-swap lets one win, so nothing is enqueued twice, and
the predecessor is the winner's alone. The plain read before it spares the atomic: it may be out of date, and then
the atomic decides. The queue is read below ``end`` and written from ``end`` on.

Source: L. Luo, M. Wong, W. Hwu, An effective GPU implementation of breadth-first search, DAC 2010, hierarchical
queue management; the block's threads along one adjacency are the CTA-wide gathering of D. Merrill, M. Garland,
A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012.
"""

import numpy as np
from numba import config, cuda

from .. import PROGRESS, TARGET_LEVEL

CAPACITY = 1024  # vertices in `gathered`; a block must have fewer threads

# With 32 registers a multiprocessor holds the 8 blocks of 256 threads that the host launches for it; Numba would take
# 40, and the last blocks would wait for the first. The simulator knows no registers.
OCCUPANCY = {} if config.ENABLE_CUDASIM else {"max_registers": 32}


@cuda.jit
def reset(n, distances, predecessors, finished):
    """Forget the last search."""
    vertex = cuda.grid(1)
    if vertex == 0:
        finished[0] = 0
    if vertex < n:
        distances[vertex] = -1
        if predecessors.size > 0:
            predecessors[vertex] = -1


@cuda.jit
def seed(count, sources, begin, queue, tail, distances):
    """Put the first ``count`` of ``sources`` into the queue from ``begin`` on."""
    i = cuda.grid(1)
    if i == 0:
        tail[0] = begin + count
    if i < count:
        queue[begin + i] = sources[i]
        distances[sources[i]] = 0


@cuda.jit(device=True)
def spill(queue, tail, gathered, held, filled, start):
    """Append the block's ``held`` vertices to the queue and start over.

    Every thread of the block calls it, after a barrier.
    """
    if cuda.threadIdx.x == 0:
        start[0] = cuda.atomic.add(tail, 0, held)
        filled[0] = 0
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, held, cuda.blockDim.x):
        queue[start[0] + i] = gathered[i]
    cuda.syncthreads()


@cuda.jit(**OCCUPANCY)
def expand(
    offsets, targets, begin, end, level, target, queue, tail, distances, predecessors, finished, status
):  # fmt: skip
    """Reach the unvisited neighbours of ``queue[begin:end]`` and put them behind it."""
    gathered = cuda.shared.array(CAPACITY, targets.dtype)
    filled = cuda.shared.array(1, np.int32)  # where the next vertex goes
    start = cuda.shared.array(1, np.int64)  # for `spill`: where the block's run of the queue begins
    held = 0  # `filled` as of the last barrier, the same in every thread
    if cuda.threadIdx.x == 0:
        filled[0] = 0
    cuda.syncthreads()

    # Not `range` with a step: that divides to count its rounds, which costs more than most rounds do.
    position = begin + cuda.blockIdx.x
    while position < end:
        vertex = queue[position]
        first = offsets[vertex]
        last = offsets[vertex + 1]
        while first < last:
            edge = first + cuda.threadIdx.x
            won = np.int32(0)
            if edge < last:
                neighbor = targets[edge]
                if distances[neighbor] < 0 and cuda.atomic.cas(distances, neighbor, np.int32(-1), level) < 0:
                    won = np.int32(1)
                    gathered[cuda.atomic.add(filled, 0, 1)] = neighbor
                    if predecessors.size > 0:
                        predecessors[neighbor] = vertex
                    if neighbor == target:
                        status[TARGET_LEVEL] = level
            held += cuda.syncthreads_count(won)
            if held > CAPACITY - cuda.blockDim.x:
                spill(queue, tail, gathered, held, filled, start)
                held = 0
            first += cuda.blockDim.x
        position += cuda.gridDim.x
    if held > 0:
        spill(queue, tail, gathered, held, filled, start)

    # The block that finishes last tells the host. The increment goes back to 0 after gridDim.x - 1.
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        others = np.uint32(cuda.gridDim.x - 1)
        if cuda.atomic.inc(finished, 0, others) == others:
            status[PROGRESS] = cuda.atomic.add(tail, 0, 0)
