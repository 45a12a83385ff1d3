"""BFS in Numba-CUDA, one algorithm a file, under the names and with the arguments of their twins in CUDA C++."""
