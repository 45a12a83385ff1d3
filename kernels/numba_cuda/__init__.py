"""BFS in Numba-CUDA, to be read beside the CUDA C++: the same kernels under the same names, with the same arguments."""
