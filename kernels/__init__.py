"""Breadth-first search on arrays: traversal code only, no graphs, frames or engines.

Everywhere: ``offsets[n + 1]`` and ``targets[m]`` are a graph in CSR (the out-edges of v are
``targets[offsets[v]:offsets[v + 1]]``); distances and predecessors are int32 or wider, -1 for none.
"""
