"""The SPMD functions that a `DistributedGraph` calls on its ranks, each about the rank's own partition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import to_host
from .build import Partition
from .communicators import Communicator
from .partitioning import Partitioning


def facts(partition: Partition, communicator: Communicator) -> tuple[Partitioning, bool, int, int, int]:
    """The partitioning, whether the graph is directed, its arcs and its loops, and the bytes of this rank's arrays."""
    return partition.partitioning, partition.directed, sum(partition.arcs), partition.loops, partition.nbytes


def ids(partition: Partition, communicator: Communicator) -> np.ndarray:
    """The users' ids of this rank's vertices, by local id, on the host: integers, or strings as objects."""
    return to_host(partition.ids)


def find(partition: Partition, communicator: Communicator, ids: list[int | str]) -> dict[int | str, int]:
    """The global ids of those of these ids that this rank has."""
    return partition.vertices_of(ids)


def targets(partition: Partition, communicator: Communicator, vertex: int) -> np.ndarray:
    """The global ids of a vertex's out-neighbours if this rank owns it, otherwise an empty array."""
    local_id = vertex - partition.base
    if not 0 <= local_id < partition.num_vertices:
        return np.empty(0, partition.targets.dtype)
    begin, end = to_host(partition.offsets[local_id : local_id + 2]).tolist()
    return to_host(partition.targets[begin:end])


def degrees(partition: Partition, communicator: Communicator) -> np.ndarray:
    """The out-degrees of this rank's vertices (int64), by local id, on the host."""
    return np.diff(to_host(partition.offsets))


def reversed_edges(partition: Partition, communicator: Communicator) -> Partition:
    """This rank's partition of the graph with every edge reversed, which shares its arrays."""
    return replace(
        partition,
        offsets=partition.in_offsets,
        targets=partition.in_targets,
        in_offsets=partition.offsets,
        in_targets=partition.targets,
        arcs=tuple(communicator.allgather_object(len(partition.in_targets))),
        cache={},
    )


def directed(partition: Partition, communicator: Communicator) -> Partition:
    """This rank's partition with two directed edges for each undirected one, which shares its arrays."""
    return replace(partition, directed=True, cache={})


def rows(partition: Partition, communicator: Communicator) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (int64) and targets (global ids) of this rank's vertices, by local id, on the host."""
    return to_host(partition.offsets), to_host(partition.targets)


def sampled(partition: Partition, communicator: Communicator, count: int, seed: int) -> np.ndarray | None:
    """The global ids (int64) of vertices with an out-edge, drawn from those of all ranks; 0 for other ranks' vertices.

    None if no vertex has an out-edge.
    """
    xp, rank = csr_for(partition.offsets).xp, communicator.rank
    local_ids = xp.flatnonzero(xp.diff(partition.offsets) > 0)
    first = np.cumsum([0, *communicator.allgather_object(len(local_ids))])
    if not first[-1]:
        return None
    picked = np.random.default_rng(seed).choice(first[-1], min(count, int(first[-1])), replace=False) - first[rank]
    own = (picked >= 0) & (picked < len(local_ids))
    found = np.zeros(len(picked), np.int64)
    found[own] = to_host(local_ids[xp.asarray(picked[own])]) + partition.base
    return found
