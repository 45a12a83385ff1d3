"""The CUDA device: its driver, arrays, compiled kernels and memory that devices share."""
