"""Compiled kernels that draw edges on the host; a device has `kernels/cuda/graph/random_edges.cu`."""

from __future__ import annotations

import numpy as np

from ..kernels.cpu import njit, prange
from ..kernels.cpu.compiled import parallel
from ..kernels.cpu.splitmix import random_bits


@njit(inline="always")
def renamed(vertex, scale, naming):
    """The vertex's new number, by a permutation of 0..2**scale - 1."""
    mask = (np.uint64(1) << np.uint64(scale)) - np.uint64(1)
    half = np.uint64((scale + 1) // 2)
    name = np.uint64(vertex)
    for k in range(len(naming)):
        name = (name * naming[k, 0] + naming[k, 1]) & mask
        name ^= name >> half
    return name


@parallel
def rmat(key, first, scale, to_b, to_c, to_d, naming, source, target):
    """Edges ``first, first + 1, ...``: a quadrant for each of ``scale`` levels, then both ends renumbered."""
    for i in prange(len(source)):
        stream = random_bits(key, first + i)
        u = v = 0
        for level in range(scale):
            if level % 2 == 0:
                bits = random_bits(stream, level)
                draw = bits >> np.uint64(32)
            else:
                draw = bits & np.uint64(0xFFFFFFFF)
            u = 2 * u + (draw >= to_c)
            v = 2 * v + ((draw >= to_b) & (draw < to_c) | (draw >= to_d))
        source[i] = renamed(u, scale, naming)
        target[i] = renamed(v, scale, naming)


@parallel
def uniform(key, first, scale, source, target):
    """Edges ``first, first + 1, ...`` with both ends uniform over 2**scale vertices."""
    shift = np.uint64(64 - scale)
    for i in prange(len(source)):
        stream = random_bits(key, first + i)
        source[i] = random_bits(stream, 0) >> shift if scale else 0
        target[i] = random_bits(stream, 1) >> shift if scale else 0
