"""What building a part needs of arrays in the host's memory; `device_tools` has the same for a device."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from .._core import csr
from .._core.csr import Pairs
from .._core.memory import require_bytes
from ..kernels.cpu import parts as kernels

xp = np
BLOCK = csr.BLOCK
require = require_bytes
working = nullcontext


def summary(sources: np.ndarray, targets: np.ndarray, key: np.ndarray) -> tuple[int, int]:
    """The highest id and the asymmetry (see `rapids_bfs._core.csr`) of a block that is not empty."""
    highest = max(sources.max(), targets.max())
    return int(highest), csr.asymmetry(sources, targets, key)


def deal(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[Any]:
    """For each part its arcs of a block of edges between numbers: an array of two rows, places and targets."""
    sources, targets = edges
    counts = np.zeros(size, np.int64)
    kernels.count_owners(sources, targets, stride, mirror, loops, counts)
    cursors = np.cumsum(counts) - counts
    arcs = np.empty((2, int(counts.sum())), sources.dtype)
    kernels.deal(sources, targets, stride, mirror, loops, cursors, arcs)
    return np.split(arcs, np.cumsum(counts)[:-1], axis=1)


def count(places: np.ndarray, counts: np.ndarray) -> None:
    """Add to the counts how often each place occurs."""
    kernels.count(places, counts)


def put(places: np.ndarray, targets: np.ndarray, cursors: np.ndarray, placed: np.ndarray) -> None:
    """Write targets where the cursors of their sources stand, which move on."""
    kernels.put(places, targets, cursors, placed)


def simplified(offsets: np.ndarray, targets: np.ndarray, limit: int) -> Pairs:
    """The rows with their distinct targets, ascending, which take the place of all; targets are below ``limit``."""
    kept = np.zeros(len(offsets), np.int64)
    kernels.sort_distinct(offsets, targets, kept[1:])
    new_offsets = np.cumsum(kept)
    kernels.compact(offsets, targets, new_offsets)
    return new_offsets, targets[: int(new_offsets[-1])]


def count_loops(offsets: np.ndarray, targets: np.ndarray, base: int) -> int:
    """Number of arcs from a vertex to itself, where the row of place 0 is that of number ``base``."""
    return int(kernels.count_loops(offsets, targets, base))
