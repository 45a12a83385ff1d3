"""Our kernels on a GPU: CUDA C++ by CuPy, and Numba-CUDA."""
