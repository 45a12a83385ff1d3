"""The array functions of a build, for host memory; `device_tools` has the same for device memory."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from .._core.csr import host as csr
from .._core.csr.host import Pairs
from .._core.memory import require_bytes
from ..kernels.cpu import distributed as kernels

xp = np
BLOCK = csr.BLOCK
require = require_bytes
working = nullcontext


def summary(sources: np.ndarray, targets: np.ndarray, key: np.ndarray) -> tuple[int, int]:
    """The highest id and the asymmetry (see `rapids_bfs._core.csr.host`) of a block that is not empty."""
    highest = max(sources.max(), targets.max())
    return int(highest), csr.asymmetry(sources, targets, key)


def deal(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[Any]:
    """The arcs of a block of edges, grouped by the partition that owns them: arrays of two rows, places and targets."""
    sources, targets = edges
    counts = np.zeros(size, np.int64)
    kernels.count_owners(sources, targets, stride, mirror, loops, counts)
    cursors = np.cumsum(counts) - counts
    arcs = np.empty((2, int(counts.sum())), sources.dtype)
    kernels.deal(sources, targets, stride, mirror, loops, cursors, arcs)
    return np.split(arcs, np.cumsum(counts)[:-1], axis=1)


def count(places: np.ndarray, counts: np.ndarray) -> None:
    """Count the occurrences of each place, in addition to what ``counts`` holds."""
    kernels.count(places, counts)


def put(places: np.ndarray, targets: np.ndarray, cursors: np.ndarray, placed: np.ndarray) -> None:
    """Write each target at the cursor of its source, and advance the cursor."""
    kernels.put(places, targets, cursors, placed)


def simplified(offsets: np.ndarray, targets: np.ndarray, limit: int) -> Pairs:
    """The rows without duplicates, ascending. ``targets``, all below ``limit``, are overwritten."""
    kept = np.zeros(len(offsets), np.int64)
    kernels.sort_distinct(offsets, targets, kept[1:])
    new_offsets = np.cumsum(kept)
    kernels.compact(offsets, targets, new_offsets)
    return new_offsets, targets[: int(new_offsets[-1])]


def count_loops(offsets: np.ndarray, targets: np.ndarray, base: int) -> int:
    """The number of arcs from a vertex to itself, where place 0 has the vertex number ``base``."""
    return int(kernels.count_loops(offsets, targets, base))
