"""Kernels for functions of NetworkX alone."""
