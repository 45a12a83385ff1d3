"""Building blocks of a search in one cooperative launch, the same as in ``kernels/cuda/common``."""
