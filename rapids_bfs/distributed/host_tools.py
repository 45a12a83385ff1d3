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
    """The largest id and the asymmetry (see `rapids_bfs._core.csr.host`) of a block that is not empty."""
    highest = max(sources.max(), targets.max())
    return int(highest), csr.asymmetry(sources, targets, key)


def bucket_by_owner(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[Any]:
    """The arcs of a block of edges, one array for each owner: a row of local ids of sources, and one of targets."""
    sources, targets = edges
    counts = np.zeros(size, np.int64)
    kernels.count_owners(sources, targets, stride, mirror, loops, counts)
    cursors = np.cumsum(counts) - counts
    arcs = np.empty((2, int(counts.sum())), sources.dtype)
    kernels.bucket_by_owner(sources, targets, stride, mirror, loops, cursors, arcs)
    return np.split(arcs, np.cumsum(counts)[:-1], axis=1)


def count(local_ids: np.ndarray, counts: np.ndarray) -> None:
    """Add the occurrences of each local id to ``counts``."""
    kernels.count(local_ids, counts)


def scatter_targets(local_ids: np.ndarray, targets: np.ndarray, cursors: np.ndarray, rows: np.ndarray) -> None:
    """Write each target into ``rows`` at the cursor of its source, and advance the cursor."""
    kernels.scatter_targets(local_ids, targets, cursors, rows)


def simplified(offsets: np.ndarray, targets: np.ndarray, bound: int) -> Pairs:
    """The rows without duplicates, ascending. ``targets``, all below ``bound``, are overwritten."""
    kept = np.zeros(len(offsets), np.int64)
    kernels.sort_distinct(offsets, targets, kept[1:])
    new_offsets = np.cumsum(kept)
    kernels.compact(offsets, targets, new_offsets)
    return new_offsets, targets[: int(new_offsets[-1])]


def count_loops(offsets: np.ndarray, targets: np.ndarray, base: int) -> int:
    """The number of self-loops; ``base`` is the global id of local id 0."""
    return int(kernels.count_loops(offsets, targets, base))
