"""Random numbers that depend on a seed alone, for the graphs that are made on the CPU.

They are the raw bits of PCG64, which NumPy promises not to change (NEP 19): the same seed gives the same graph.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from .._core.arguments import whole_number


class Draws:
    """Random numbers from a seed, in a fixed order."""

    def __init__(self, seed: int):
        self.bits = np.random.PCG64(whole_number(seed, "the seed"))

    def uniform(self, *shape: int) -> np.ndarray:
        """Float64 in [0, 1), multiples of 2^-53."""
        return (self.bits.random_raw(shape) >> np.uint64(11)) * 2.0**-53

    def below(self, limits: np.ndarray | int, size: int) -> np.ndarray:
        """Int64, entry i in 0..limits[i] - 1."""
        return (self.uniform(size) * limits).astype(np.int64)

    def streams(self, count: int, size: int) -> list[Draws]:
        """The next ``count`` arrays of ``size`` numbers each, as draws of their own, to be drawn a block at a time."""
        found = []
        for _ in range(count):
            found.append(deepcopy(self))
            self.bits.advance(size)
        return found

    def give_back(self, count: int) -> None:
        """Let the last ``count`` numbers be drawn again."""
        self.bits.advance(-count)
