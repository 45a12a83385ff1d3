"""Graph500's rules for a correct answer, checked without a second BFS.

Graph500 specification, section 7 (validation), extended to directed graphs and to searches that stop early.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ._core.arguments import quoted, whole_number
from ._core.csr import csr_for
from ._core.cuda.arrays import CUDA, device_of, moved, on_device, to_host
from ._core.cuda.kernels import launch
from ._core.threads import pool
from .errors import InputError
from .graph import Graph, Vertices, checked_mask
from .kernels.cpu.atomics import fetch_add
from .kernels.cpu.bits import ONE
from .kernels.cpu.compiled import borrowing, serial
from .kernels.cpu.team import shared
from .result import BFSResult, Distances


@dataclass(frozen=True)
class Verdict:
    """The verdict of `validate`: true if no rule is broken."""

    rule: str | None = None  # the rule that is broken
    vertex: int | None = None  # the first vertex that breaks it
    message: str = "valid"

    @classmethod
    def broken(cls, rule: str, vertex: int, id: Hashable, what: str) -> Verdict:
        """The verdict that ``rule`` is broken: ``what`` is wrong with the vertex, whose id is ``id``."""
        return cls(rule, vertex, f"rule {rule!r} is broken: vertex {quoted(id)} {what}")

    def __bool__(self) -> bool:
        return self.rule is None

    def __str__(self) -> str:
        return self.message


PARTS = 64  # of the vertices for each thread

# The message for a result that breaks no rule and has no predecessors.
VALID_DISTANCES = "valid distances; there are no predecessors to check"

# Each rule's name and the message about the first vertex that breaks it.
RULES = {
    "masked": "is masked, and has distance {distance} and predecessor {predecessor}",
    "distance-range": "has distance {distance}: distances are -1, or 0 up to one less than the number of vertices",
    "limit": "has distance {distance}, but the search stopped at {stopped_at}",
    "predecessor-range": "has predecessor {predecessor}, which is neither -1 nor a vertex",
    "source": "is a source: its distance must be 0 and its predecessor -1, not {distance} and {predecessor}",
    "root": "has distance 0 but is not a source",
    "reached": "has distance {distance} and predecessor {predecessor}: reached means having a predecessor",
    "tree-level": "has distance {distance}, and no predecessor one level up",
    "tree-edge": "has predecessor {predecessor}, from which no edge leads to it",
    "edge-level": "has distance {distance}, but an edge leads to it from a vertex at distance {above}",
    "edge-reach": "was not reached, but an edge leads to it from a vertex at distance {above}",
}


@singledispatch
def verdict_of(graph: Any, result: Any) -> Verdict:
    """Check the result of a search of ``graph`` by `RULES`, see `rapids_bfs.validate`."""
    require_kinds(graph, result, "validate")
    _require_fitting(graph, result)
    n = graph.num_vertices
    distances, predecessors, stopped_at = result.distances, result.predecessors, result.stopped_at
    if on_device(distances):
        graph = graph.to(CUDA)
    if result.vertices is not None:
        graph = graph.filter(vertices=result.vertices)

    def broken(rule: str, vertex: int, above: int | None = None) -> Verdict:
        text = RULES[rule].format(
            distance=int(distances[vertex]),
            predecessor=None if predecessors is None else int(predecessors[vertex]),
            stopped_at=stopped_at,
            above=above,
        )
        return Verdict.broken(rule, vertex, graph.ids_of(np.array([vertex])).tolist()[0], text)

    for rule, breaks in _vertex_rules(result):
        if breaks.any():
            return broken(rule, int(breaks.argmax()))

    confirmed, level_breaker, reach_breaker = _edge_rules(graph, result)
    unconfirmed = (distances > 0) & ~confirmed
    if unconfirmed.any():
        return broken("tree-level" if predecessors is None else "tree-edge", int(unconfirmed.argmax()))
    for rule, vertex in (("edge-level", level_breaker), ("edge-reach", reach_breaker)):
        if vertex < n:
            return broken(rule, vertex, _level_above(graph, distances, vertex))
    return Verdict() if predecessors is not None else Verdict(message=VALID_DISTANCES)


def another_graph(graph: Any, result: Any) -> InputError:
    """The error about a result that is not of this graph."""
    return InputError(f"this result belongs to another graph, {result.graph.name}: pass that instead of {graph.name}")


def require_kinds(graph: Any, result: Any, function: str) -> None:
    """Raise `InputError` unless the arguments of ``function`` are a graph and a result, both distributed or neither."""
    if isinstance(graph, Vertices) and isinstance(result, Distances):
        if type(result.graph) is not type(graph):
            raise another_graph(graph, result)
    else:
        kinds = " and ".join(f"{type(each).__module__}.{type(each).__qualname__}" for each in (graph, result))
        raise InputError(
            f"{function} takes a Graph, such as as_graph makes, and the BFSResult of a search of it, not {kinds}"
        )


def _require_fitting(graph: Graph, result: BFSResult) -> None:
    """Raise `InputError` unless the result's arrays have the types and shapes of results of this graph."""
    if not _same_ids(graph, result.graph):
        raise InputError(
            f"the result is of another graph, whose vertices have other ids than those of {graph.name}, or the same "
            "ones in another order: pass result.graph"
        )
    n = graph.num_vertices
    arrays: dict[str, Any] = {"distances": result.distances}
    if result.predecessors is not None:
        arrays["predecessors"] = result.predecessors
    for what, array in arrays.items():
        if getattr(array, "shape", None) != (n,) or array.dtype.kind != "i":
            raise InputError(f"{what} must be an array of {n} signed integers: {graph.name} has {n} vertices")
    sources = np.asarray(result.sources)
    if sources.ndim != 1 or (sources.dtype.kind not in "iu" and len(sources)):
        raise InputError("sources must be a one-dimensional array of integers")
    outside = sources[(sources < 0) | (sources >= n)].tolist()
    if result.target is not None and not 0 <= whole_number(result.target, "target") < n:
        outside.append(result.target)
    if outside:
        raise InputError(f"{quoted(outside[0])}, a source or target, is not one of the {n} vertices of {graph.name}")
    if result.depth_limit is not None:
        whole_number(result.depth_limit, "depth_limit")
    if result.vertices is not None:
        checked_mask(result.vertices, graph, n, "vertices")


def _same_ids(graph: Graph, other: Graph) -> bool:
    """Are the vertices of two graphs of one size named alike, in the same order? Sizes are checked elsewhere."""
    one, two = graph.labels, other.labels
    if one is two or graph.num_vertices != other.num_vertices:
        return True
    if one is None or two is None:
        return False
    if on_device(one) != on_device(two):
        one, two = to_host(one), to_host(two)
    return bool((one == two).all())


def _level_above(graph: Graph, distances: Any, vertex: int) -> int:
    """The smallest distance of the reached vertices with an edge to this one; there is at least one."""
    neighbors = csr_for(graph.targets).sources_of(graph.offsets, graph.targets)[graph.targets == vertex]
    if not graph.directed:
        begin, end = graph.offsets[vertex : vertex + 2].tolist()
        neighbors = np.concatenate([neighbors, graph.targets[begin:end]])
    above = distances[neighbors]
    return int(above[above >= 0].min())


def _vertex_rules(result: BFSResult) -> Iterator[tuple[str, Any]]:
    """`vertex_rules` of all vertices of a result."""
    distances, predecessors = result.distances, result.predecessors
    n = len(distances)
    masked = None if result.vertices is None else ~moved(result.vertices, device_of(distances))
    source = np.zeros_like(distances, bool)
    source[moved(np.asarray(result.sources, np.int64), device_of(distances))] = True
    outside = None if predecessors is None else (predecessors < -1) | (predecessors >= n)
    yield from vertex_rules(distances, predecessors, masked, source, outside, distances, n, result.stopped_at)


def vertex_rules(
    distances: Any,
    predecessors: Any,
    masked: Any,
    source: Any,
    outside: Any,
    everywhere: Any,
    n: int,
    stopped_at: int | None,
) -> Iterator[tuple[str, Any]]:
    """The rules that look at vertices alone, each with a mask of the vertices that break it.

    ``masked``, ``source`` and ``outside`` are masks of the vertices that are masked (None if none is), of those that
    are sources, and of those whose predecessor is neither -1 nor a vertex. ``everywhere`` has the distances of the
    ``n`` vertices of the graph, indexed as predecessors are.
    """
    if masked is not None:
        yield "masked", masked & (distances != -1 if predecessors is None else (distances != -1) | (predecessors != -1))
    yield "distance-range", (distances < -1) | (distances >= n)
    if stopped_at is not None:
        yield "limit", distances > stopped_at
    if predecessors is None:
        yield "source", source & (distances != 0)
        yield "root", ~source & (distances == 0)
        return
    yield "predecessor-range", outside
    yield "source", source & ((distances != 0) | (predecessors != -1))
    yield "root", ~source & (distances == 0)
    yield "reached", ~source & ((distances >= 0) != (predecessors >= 0))
    # A predecessor of -1 indexes the last distance, and the result is ignored.
    yield "tree-level", (predecessors >= 0) & (everywhere[predecessors] != distances - 1)


def _edge_rules(graph: Graph, result: BFSResult) -> tuple[np.ndarray, int, int]:
    """A mask of the vertices with an edge from their predecessor (without predecessors, from any vertex one level up),
    and the first vertices that break "edge-level" and "edge-reach", n if none does."""
    if graph.device == CUDA:
        return _edge_rules_on_device(graph, result)
    n = graph.num_vertices
    predecessors = result.predecessors if result.predecessors is not None else np.empty(0, graph.targets.dtype)
    confirmed = np.zeros(n, np.bool_)
    team, threads = pool.team(graph.num_arcs)
    breakers = np.full((PARTS * threads, 2), n)
    arguments = (
        graph.offsets,
        graph.targets,
        _native(result.distances),
        _native(predecessors),
        n if result.stopped_at is None else min(result.stopped_at, n),
        not graph.directed,
        confirmed,
        breakers,
        np.zeros(1, np.int64),
    )
    _check_edges(arguments, team, threads)
    level_breaker, reach_breaker = breakers.min(axis=0).tolist()
    return confirmed, level_breaker, reach_breaker


def _native(array: np.ndarray) -> np.ndarray:
    """``array``, contiguous and in native byte order, for kernels."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _edge_rules_on_device(graph: Graph, result: BFSResult) -> tuple[Any, int, int]:
    import cupy

    n, m = graph.num_vertices, graph.num_arcs
    vertex, offset = graph.targets.dtype, graph.offsets.dtype
    predecessors = None if result.predecessors is None else cupy.ascontiguousarray(result.predecessors, vertex)
    stopped_at = n if result.stopped_at is None else min(result.stopped_at, n)
    confirmed, breakers = cupy.zeros(n, bool), cupy.full(2, n, np.int64)
    answer = (cupy.ascontiguousarray(result.distances, np.int32), predecessors, stopped_at)
    launch("validation", "check", vertex, offset, m, graph.offsets, graph.targets, n, m, *answer, confirmed, breakers)
    level_breaker, reach_breaker = breakers.tolist()
    return confirmed, level_breaker, reach_breaker


@borrowing(shared)
def _check_parts(arguments, thread):
    offsets, targets, distances, predecessors, stopped_at, both_ways, confirmed, breakers, next_ = arguments
    n = len(distances)
    parts = len(breakers)
    while True:
        part = fetch_add(next_, 0, 1)
        if part >= parts:
            return 0
        for u in range(np.uint64(part * n // parts), np.uint64((part + 1) * n // parts)):
            level = distances[u]
            if level < 0 and not both_ways:
                continue
            for edge in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
                v = np.uint64(targets[edge])
                below = distances[v]
                if level >= 0:
                    if below > level + 1:
                        breakers[part, 0] = min(np.int64(v), breakers[part, 0])
                    elif below < 0 and level < stopped_at:
                        breakers[part, 1] = min(np.int64(v), breakers[part, 1])
                    if (predecessors[v] == np.int64(u)) if len(predecessors) else (below == level + 1):
                        confirmed[v] = True
                if both_ways and below >= 0:
                    if level > below + 1:
                        breakers[part, 0] = min(np.int64(u), breakers[part, 0])
                    elif level < 0 and below < stopped_at:
                        breakers[part, 1] = min(np.int64(u), breakers[part, 1])


@borrowing(serial)
def _check_edges(arguments, team, threads):
    """With ``both_ways`` each edge counts in both directions, whether or not both are stored."""
    _check_parts(team, threads, arguments)
