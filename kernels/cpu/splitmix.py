"""splitmix64: random bits from a counter, and its finaliser, a bijective hash of 64 bits.

Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

import numpy as np
from numba import njit

from ..by_numpy import hashing
from ..by_numpy.hashing import INCREMENT

mixed = njit(inline="always")(hashing.mixed)


@njit(inline="always")
def random_bits(key, counter):
    """64 random bits, number ``counter`` of the stream ``key``."""
    return mixed(np.uint64(key) + np.uint64(counter + 1) * np.uint64(INCREMENT))
