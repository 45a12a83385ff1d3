"""The finaliser of splitmix64, a bijective hash of 64 bits. `kernels.cpu.splitmix` has it compiled.

Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

import numpy as np

INCREMENT = 0x9E3779B97F4A7C15  # odd; 2^64 over the golden ratio
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def mixed(x):
    """The hash of ``x``, a uint64 or an array of them."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(MULTIPLIERS[0])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(MULTIPLIERS[1])
    return x ^ (x >> np.uint64(31))
