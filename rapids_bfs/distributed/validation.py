"""Graph500's rules on a distributed result: each rank checks its own vertices and their in-edges.

Only distances are replicated: every rank gathers those of all vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.arguments import whole_number
from .._core.csr import csr_for
from .._core.cuda.arrays import on_device
from .._core.cuda.kernels import launch
from ..kernels.cpu import distributed as kernels
from ..validation import RULES, VALID_DISTANCES, Verdict, another_graph, require_kinds, vertex_rules
from .build import Partition
from .communicators import Communicator
from .level_synchronous import Answer
from .masks import bitmap_of, own_mask
from .partitioning import Partitioning
from .result import DistributedResult

NAMES = tuple(RULES)


def validate_distributed(graph: Any, result: DistributedResult) -> Verdict:
    """`rapids_bfs.validate` of a distributed result: the first rule broken, and the first vertex that breaks it."""
    require_kinds(graph, result, "validate")
    if result.graph is not graph:
        raise another_graph(graph, result)
    stopped_at = result.stopped_at
    limit = graph.num_vertices if stopped_at is None else whole_number(stopped_at, "depth_limit")
    given = result.sources, limit, None if result.vertices is None else bitmap_of(graph, result.vertices)
    found = graph.launcher.collect(check, *given, each=[graph.partitions, result.answers])
    broken = [each for each in found if each is not None]
    if not broken:
        has_predecessors = all(graph.launcher.collect(_has_predecessors, each=[result.answers]))
        return Verdict() if has_predecessors else Verdict(message=VALID_DISTANCES)
    rule, vertex, distance, predecessor, above = min(broken)
    if predecessor is not None and 0 <= predecessor < graph.partitioning.size * graph.partitioning.stride:
        predecessor = graph.ids_of(np.array([predecessor])).tolist()[0]
    text = RULES[NAMES[rule]].format(distance=distance, predecessor=predecessor, stopped_at=stopped_at, above=above)
    return Verdict.broken(NAMES[rule], vertex, graph.ids_of(np.array([vertex])).tolist()[0], text)


def _has_predecessors(answer: Answer, communicator: Communicator) -> bool:
    return answer.predecessors is not None


class Broken(NamedTuple):
    """A rule that a vertex breaks. The smallest is that of the first rule, and of its first vertex."""

    rule: int  # its position in `NAMES`
    vertex: int  # a global id, as the predecessor
    distance: int
    predecessor: int | None
    above: int | None  # the distance from which an edge wrongly leads to it


def check(
    partition: Partition,
    answer: Answer,
    communicator: Communicator,
    sources: np.ndarray,
    stopped_at: int,
    bitmap: np.ndarray | None = None,
) -> Broken | None:
    """The first rule that a vertex of this rank breaks, and that vertex; None if there is none. ``bitmap`` has the
    vertices that the search was allowed to enter, by default all."""
    xp = csr_for(answer.distances).xp
    partitioning, distances, predecessors = partition.partitioning, answer.distances, answer.predecessors
    everywhere = xp.full(partitioning.size * partitioning.stride, -1, np.int32)
    everywhere[partition.base : partition.base + partition.num_vertices] = distances
    communicator.allgather_slices(everywhere)

    def broken(rule: str, breaks: Any, above: Any = None) -> Broken | None:
        if not breaks.any():
            return None
        local_id = int(breaks.argmax())
        return Broken(
            NAMES.index(rule),
            partition.base + local_id,
            int(distances[local_id]),
            None if predecessors is None else int(predecessors[local_id]),
            None if above is None else int(above[local_id]),
        )

    masked = None if bitmap is None else ~own_mask(bitmap, partition)
    source = xp.zeros(partition.num_vertices, bool)
    source[xp.asarray(partition.owned(sources)[1])] = True
    outside = None if predecessors is None else _outside(partitioning, predecessors, xp)
    given = distances, predecessors, masked, source, outside, everywhere, partitioning.n, stopped_at
    for rule, breaks in vertex_rules(*given):
        if (found := broken(rule, breaks)) is not None:
            return found
    confirmed, above = _edge_rules(partition, answer, everywhere, stopped_at, xp)
    if masked is not None:
        above[masked] = -1  # edges to them do not count
    return (
        broken("tree-level" if predecessors is None else "tree-edge", (distances > 0) & ~confirmed)
        or broken("edge-level", (above >= 0) & (distances >= 0), above)
        or broken("edge-reach", (above >= 0) & (distances < 0), above)
    )


def _outside(partitioning: Partitioning, global_ids: Any, xp: Any) -> Any:
    """A mask of the values that are neither -1 nor the global id of a vertex."""
    counts = xp.asarray(np.array(partitioning.counts))
    owner = xp.clip(global_ids // partitioning.stride, 0, partitioning.size - 1)
    outside = (global_ids < -1) | (global_ids >= partitioning.size * partitioning.stride)
    return outside | ((global_ids >= 0) & (global_ids % partitioning.stride >= counts[owner]))


def _edge_rules(partition: Partition, answer: Answer, everywhere: Any, stopped_at: int, xp: Any) -> tuple[Any, Any]:
    """Two arrays by local id. ``confirmed``: the vertex has an edge from its predecessor (without predecessors, from
    any vertex one level up). ``above``: the smallest distance from which an edge wrongly leads to it, or -1."""
    n = partition.num_vertices
    confirmed, above = xp.zeros(n, bool), xp.full(n, -1, np.int32)
    rows, predecessors = (partition.in_offsets, partition.in_targets), answer.predecessors
    arcs, dtype = len(partition.in_targets), partition.in_targets.dtype
    if on_device(above):
        unsigned = above.view(np.uint32)  # as which -1 is the largest
        given = *rows, n, arcs, partition.base, everywhere, predecessors, stopped_at, confirmed, unsigned
        launch("distributed_validation", "check", dtype, np.int64, arcs, *given)
    else:
        kept = np.empty(0, dtype) if predecessors is None else predecessors
        kernels.check(*rows, partition.base, everywhere, kept, stopped_at, confirmed, above)
    return confirmed, above
