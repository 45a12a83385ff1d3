"""What a search in one cooperative launch is built from; the same parts as in ``kernels/cuda/common``."""
