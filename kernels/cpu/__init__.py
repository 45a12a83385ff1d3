"""BFS on the CPU, compiled by Numba."""
