"""Breadth-first search on arrays: traversal code only, no graphs, frames or engines.

Everywhere: ``offsets[n + 1]`` and ``targets[m]`` are a graph in CSR (the out-edges of v are
``targets[offsets[v]:offsets[v + 1]]``); distances and predecessors are int32 or wider, -1 for none.

The kernels that a host launches for each level report in ``status[2]``, which lies in the host's own memory,
pinned and mapped: the host reads it after the level without a copy.
"""

PROGRESS = 0  # element of `status`: the last level that reached a vertex; of `block-queue`, the end of the queue
TARGET_LEVEL = 1  # element of `status`: the level that reached the target, 0 before
