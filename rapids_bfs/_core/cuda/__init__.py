"""The CUDA device: its driver, arrays, compiled kernels and memory shared between devices."""
