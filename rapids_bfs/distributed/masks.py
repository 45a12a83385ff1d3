"""Masks of the vertices of a distributed graph: bitmaps over all global ids, and the rows that pass them.

A bitmap has a 64-bit word for each 64 global ids. Its bits are set where a vertex may be entered; those of unused
global ids are not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import CPU, moved
from .._core.formatting import counted
from .._core.memory import require_bytes
from .build import Partition
from .communicators import Communicator
from .partitioning import Partitioning

WORD = 64


def bitmap_of(graph: Any, vertices: np.ndarray) -> np.ndarray:
    """The bitmap (uint64) of a mask in the order of the ids."""
    slots = graph.partitioning.size * graph.partitioning.stride
    require_bytes(2 * slots, f"a mask of {counted(len(vertices), 'vertex', 'vertices')}")
    allowed = np.zeros(slots, bool)
    allowed[graph.at_places(np.flatnonzero(vertices))] = True
    words: np.ndarray = np.packbits(allowed, bitorder="little").view(np.uint64)
    return words


def own_words(bitmap: np.ndarray, partitioning: Partitioning, rank: int) -> np.ndarray:
    """The words of a rank's vertices; a bit for each local id."""
    words = partitioning.stride // WORD
    return np.require(bitmap[rank * words : (rank + 1) * words], requirements="A")  # what Dask sends may be unaligned


def as_bools(words: np.ndarray, count: int, device: str = CPU) -> Any:
    """The first ``count`` bits as an array of bool on a device."""
    return moved(np.unpackbits(words.view(np.uint8), count=count, bitorder="little").view(bool), device)


def own_mask(bitmap: np.ndarray, partition: Partition) -> Any:
    """The mask of a rank's vertices, by local id, where its rows are."""
    words = own_words(bitmap, partition.partitioning, partition.rank)
    return as_bools(words, partition.num_vertices, partition.device)


def filtered(partition: Partition, communicator: Communicator, bitmap: np.ndarray) -> Partition:
    """The partition with those of its arcs whose ends are both allowed."""
    csr = csr_for(partition.targets)
    with csr.working():
        allowed = as_bools(bitmap, partition.partitioning.size * partition.partitioning.stride, partition.device)

        def kept(offsets: Any, targets: Any) -> tuple[Any, Any]:
            arcs = csr.KeptArcs(offsets, targets, None, allowed, partition.base)
            return arcs.offsets(offsets).astype(np.int64, copy=False), arcs.compacted(targets)

        offsets, targets = in_offsets, in_targets = kept(partition.offsets, partition.targets)
        if partition.directed:
            in_offsets, in_targets = kept(partition.in_offsets, partition.in_targets)
        arcs = tuple(communicator.allgather_object(len(targets)))
        loops = sum(communicator.allgather_object(csr.count_own_loops(offsets, targets, partition.base)))
    rows = {"offsets": offsets, "targets": targets, "in_offsets": in_offsets, "in_targets": in_targets}
    return replace(partition, **rows, arcs=arcs, loops=loops, cache={})
