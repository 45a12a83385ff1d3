"""Kernels for what NetworkX alone asks."""
