"""splitmix64: random bits from a counter, and its finaliser, a bijective hash of 64 bits.

Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

import numpy as np
from numba import njit

INCREMENT = 0x9E3779B97F4A7C15  # odd; 2^64 over the golden ratio
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@njit(inline="always")
def mixed(x):
    """The hash of ``x`` (uint64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(MULTIPLIERS[0])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(MULTIPLIERS[1])
    return x ^ (x >> np.uint64(31))


@njit(inline="always")
def random_bits(key, counter):
    """64 random bits, number ``counter`` of the stream ``key``."""
    return mixed(np.uint64(key) + np.uint64(counter + 1) * np.uint64(INCREMENT))
