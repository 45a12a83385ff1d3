"""`neighborhoods` and `ego_graphs`: the vertices within some hops of each of many centres, and the arcs between
them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .._core.arguments import quoted, whole_number
from .._core.csr import csr_for
from .._core.cuda.arrays import CUDA, clear_errors, to_host
from .._core.dtypes import INT32_LIMIT
from .._core.formatting import counted
from ..adapters.arrow import frame
from ..engines import NeighborhoodSearch
from ..engines.cpu.neighborhoods import Neighborhoods as OnCpu
from ..errors import InputError
from ..graph import Graph
from .batch import vertices_of_sources
from .bfs import as_searchable
from .concatenated import Concatenated

DIRECTIONS = ("out", "in", "all")
KEY = "neighborhoods"  # among `Graph.traversals`, with the direction
Batch = TypeVar("Batch", bound="_ByCenter")


class _ByCenter(Concatenated):
    """A result for each of k centres: ``result[i]`` is that of the i-th."""

    asked = "centre"
    graph: Graph
    centers: np.ndarray

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the arrays on the graph's device."""


@dataclass(frozen=True, eq=False)
class Neighborhoods(_ByCenter):
    """The vertices within some hops of each of k centres, with their distances.

    ``result[i]`` are the ids and the distances of the vertices around the i-th centre, which are
    ``vertices[offsets[i]:offsets[i + 1]]``. The centre is first, and distances ascend. At the same distance, vertices
    are in the order in which a queue finds them if the graph is on the CPU, in any order if it is on a device.

    Attributes
    ----------
    graph : Graph
    centers : int64 array of k, on the host
        The vertices that the searches started from, in the order given.
    hops : int
        The largest distance.
    offsets : int64 array of k + 1, on the host
    vertices : array of ``offsets[k]``, of the type of ``graph.targets``, on the graph's device
    distances : int32 array of ``offsets[k]``, on the graph's device
        From the centre, or to it if edges were followed backward.

    Examples
    --------
    >>> from rapids_bfs import neighborhoods
    >>> near = neighborhoods([("a", "b"), ("b", "c"), ("c", "d")], ["a", "d"], 2)
    >>> near.offsets, near.ids
    (array([0, 3, 4]), array(['a', 'b', 'c', 'd'], dtype=object))
    >>> near[0]
    (array(['a', 'b', 'c'], dtype=object), array([0, 1, 2], dtype=int32))
    """

    graph: Graph
    centers: np.ndarray
    hops: int
    offsets: np.ndarray
    vertices: np.ndarray
    distances: np.ndarray

    def __getitem__(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        piece = self._piece(position)
        return self.graph.ids_of(self.vertices[piece]), self.distances[piece]

    def __repr__(self) -> str:
        found = counted(len(self.vertices), "vertex", "vertices")
        return f"<Neighborhoods on {self.graph.name!r}: {found} near {counted(len(self), 'centre')}>"

    @property
    def nbytes(self) -> int:
        return self.vertices.nbytes + self.distances.nbytes

    @property
    def ids(self) -> np.ndarray:
        """The ids of ``vertices``."""
        return self.graph.ids_of(self.vertices)

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for each centre and vertex near it: ``center``, ``vertex`` and ``distance``, with ids.

        ``kind`` is that of `BFSResult.to_frame`; frames of cuDF are uploaded from the host.
        """
        columns = {
            "center": self.graph.ids_of(self.centers[self.index]),
            "vertex": self.graph.ids_of(to_host(self.vertices)),
            "distance": to_host(self.distances),
        }
        return frame(columns, kind or self.graph.frame)


@dataclass(frozen=True, eq=False)
class EgoGraphs(_ByCenter):
    """The arcs between the vertices within some hops of each of k centres, as one list of arcs.

    ``result[i]`` are the ids of the sources and of the targets of the arcs around the i-th centre; these arcs are
    ``[offsets[i]:offsets[i + 1]]``, by their sources in the order of ``neighborhoods``, then in the order of the
    adjacency. Self-loops and duplicates are among them. An undirected edge is two arcs, a self-loop one.

    Attributes
    ----------
    neighborhoods : Neighborhoods
        The vertices, with their distances; a vertex without arcs is there alone.
    offsets : int64 array of k + 1, on the host
    sources, targets : arrays of ``offsets[k]``, of the type of ``graph.targets``, on the graph's device

    Examples
    --------
    >>> from rapids_bfs import ego_graphs
    >>> ego = ego_graphs({"a": ["b", "c"], "b": ["c"], "c": ["a"]}, ["a", "b"], 1)
    >>> ego[1]
    (array(['b'], dtype=object), array(['c'], dtype=object))
    >>> ego.index
    array([0, 0, 0, 0, 1])
    """

    neighborhoods: Neighborhoods
    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray

    @property
    def graph(self) -> Graph:  # type: ignore[override]
        """The graph that they are parts of."""
        return self.neighborhoods.graph

    @property
    def centers(self) -> np.ndarray:  # type: ignore[override]
        """The centres' vertices (int64, on the host), in the order given."""
        return self.neighborhoods.centers

    @property
    def nbytes(self) -> int:
        return self.neighborhoods.nbytes + self.sources.nbytes + self.targets.nbytes

    def __getitem__(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        piece = self._piece(position)
        return self.graph.ids_of(self.sources[piece]), self.graph.ids_of(self.targets[piece])

    def __repr__(self) -> str:
        found = counted(len(self.sources), "arc")
        return f"<EgoGraphs on {self.graph.name!r}: {found} around {counted(len(self), 'centre')}>"

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for each arc: ``center``, ``source`` and ``target``, with ids.

        ``kind`` is that of `BFSResult.to_frame`; frames of cuDF are uploaded from the host.
        """
        columns = {
            "center": self.graph.ids_of(self.centers[self.index]),
            "source": self.graph.ids_of(to_host(self.sources)),
            "target": self.graph.ids_of(to_host(self.targets)),
        }
        return frame(columns, kind or self.graph.frame)


def neighborhoods(
    graph: Any, vertices: Iterable[Hashable] | None, hops: int, *, direction: str = "out"
) -> Neighborhoods:
    """The vertices within this many hops of each of these vertices, and their distances.

    The work is proportional to the edges of what is reached, not to the graph: only the first call on a `Graph` looks
    at all of it, where edges are followed backward. On the CPU each centre is searched from on one thread.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
    vertices : list, set or array of vertex ids; None for every vertex
        The centres. An id may occur more than once.
    hops : int
        The largest distance; 0 is the centre alone. Any number of hops beyond the largest distance finds all that can
        be reached.
    direction : {"out", "in", "all"}
        Which edges of a directed graph are followed: those that leave a vertex, those that enter it, or both.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    InputError
        If the graph cannot be made, a centre is not a vertex, ``hops`` is negative or not a whole number, there is no
        such direction, or the result does not fit in the memory: then use `iter_neighborhoods`.

    Examples
    --------
    >>> near = neighborhoods({"a": ["b", "c"], "d": ["a"]}, ["a"], 1, direction="all")
    >>> near.ids, near.distances
    (array(['a', 'b', 'c', 'd'], dtype=object), array([0, 1, 1, 1], dtype=int32))
    """
    batches = iter_neighborhoods(graph, vertices, hops, direction=direction)
    return _neighborhoods_joined(_fitting(batches, "neighborhoods"))


def iter_neighborhoods(
    graph: Any, vertices: Iterable[Hashable] | None, hops: int, *, direction: str = "out"
) -> Iterator[Neighborhoods]:
    """`neighborhoods` in batches, as large as the buffers of a search, for results that do not fit in the memory.

    Each batch has the next centres in their order. Parameters and errors are those of `neighborhoods`; arguments are
    checked at once.

    Examples
    --------
    >>> sum(len(batch.vertices) for batch in iter_neighborhoods("karate", None, 2))
    720
    """
    return (found for _, found in _batches(graph, vertices, hops, direction))


def ego_graphs(graph: Any, vertices: Iterable[Hashable] | None, hops: int, *, direction: str = "out") -> EgoGraphs:
    """The arcs between the vertices within this many hops of each of these vertices.

    ``direction`` says how the vertices are found. The arcs are all of ``graph`` that lead from one of them to another.
    Parameters and errors are those of `neighborhoods`; if the result does not fit in the memory use `iter_ego_graphs`.

    Returns
    -------
    EgoGraphs

    Examples
    --------
    >>> ego_graphs("karate", [0, 33], 1)
    <EgoGraphs on 'karate': 132 arcs around 2 centres>
    """
    parts = _fitting(iter_ego_graphs(graph, vertices, hops, direction=direction), "ego_graphs")
    if len(parts) == 1:
        return parts[0]
    return EgoGraphs(
        _neighborhoods_joined([part.neighborhoods for part in parts]),
        _offsets_joined(parts),
        _joined([part.sources for part in parts]),
        _joined([part.targets for part in parts]),
    )


def iter_ego_graphs(
    graph: Any, vertices: Iterable[Hashable] | None, hops: int, *, direction: str = "out"
) -> Iterator[EgoGraphs]:
    """`ego_graphs` in batches, for results that do not fit in the memory.

    Each batch has the next centres in their order. Its arcs are at most 2**24 on the CPU, and take at most a quarter of
    the free memory on a device, unless it has a single centre. Parameters and errors are those of `neighborhoods`;
    arguments are checked at once.

    Examples
    --------
    >>> max(len(batch.sources) for batch in iter_ego_graphs("karate", None, 1))
    582
    """
    batches = _batches(graph, vertices, hops, direction)
    return (ego for search, found in batches for ego in _with_arcs(search, found))


def induced_arcs(graph: Graph, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets of the arcs between these distinct vertices, those out of the first vertex first; in time
    proportional to all arcs out of them."""
    search, bounds = _prepared(graph, "out"), np.array([0, len(vertices)])
    with search.lock:
        arc_bounds = search.count_arcs(bounds, vertices)
        return search.write_arcs(bounds, vertices, arc_bounds)


def _batches(
    graph: Any, vertices: Any, hops: Any, direction: Any
) -> Iterator[tuple[NeighborhoodSearch, Neighborhoods]]:
    """Batches of neighbourhoods, at least one, each with the search that has found it; arguments are checked now."""
    graph = as_searchable(graph)
    centers = vertices_of_sources(graph, vertices)
    limit = min(whole_number(hops, "the number of hops"), INT32_LIMIT)
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        raise InputError(f"direction must be 'out', 'in' or 'all', not {quoted(direction)}")
    return _found(graph, centers, limit, direction)


def _found(
    graph: Graph, centers: np.ndarray, hops: int, direction: str
) -> Iterator[tuple[NeighborhoodSearch, Neighborhoods]]:
    search = _prepared(graph, direction)
    first = 0
    while first < len(centers) or first == 0:
        with search.lock:
            bounds, vertices, distances = search.search(centers[first:], hops)
        last = first + len(bounds) - 1
        yield search, Neighborhoods(graph, centers[first:last], hops, bounds, vertices, distances)
        if last == len(centers):
            return
        first = last


def _prepared(graph: Graph, direction: str) -> NeighborhoodSearch:
    key = f"{KEY}, {direction}"
    found: NeighborhoodSearch | None = graph.traversals.get(key)
    return graph.traversals.setdefault(key, _prepare(graph.for_engines, direction)) if found is None else found


def _prepare(graph: Graph, direction: str) -> NeighborhoodSearch:
    if graph.device == CUDA:
        from ..engines.gpu.cupy import prepared
        from ..engines.gpu.neighborhoods import Neighborhoods as OnDevice

        return prepared(partial(OnDevice, direction=direction), graph)
    return OnCpu(graph, direction)


def _with_arcs(search: NeighborhoodSearch, found: Neighborhoods) -> Iterator[EgoGraphs]:
    """The ego graphs of these neighbourhoods, in batches."""
    with search.lock:
        bounds = search.count_arcs(found.offsets, found.vertices)
    first = 0
    while first < len(found) or first == 0:
        last = int(np.searchsorted(bounds, bounds[first] + search.most_arcs, side="right")) - 1
        last = min(max(last, first + 1), len(found))
        part, offsets = _part(found, first, last), bounds[first : last + 1] - bounds[first]
        _require(found.graph, 2 * int(offsets[-1]) * found.vertices.dtype.itemsize, "an ego graph")
        with search.lock:
            arcs = search.write_arcs(part.offsets, part.vertices, offsets)
        yield EgoGraphs(part, offsets, *arcs)
        if last == len(found):
            return
        first = last


def _part(found: Neighborhoods, first: int, last: int) -> Neighborhoods:
    """The neighbourhoods of these centres."""
    if last - first == len(found):
        return found
    offsets = found.offsets[first : last + 1]
    rows = slice(*offsets[[0, -1]].tolist())
    return Neighborhoods(
        found.graph,
        found.centers[first:last],
        found.hops,
        offsets - offsets[0],
        found.vertices[rows],
        found.distances[rows],
    )


def _fitting(batches: Iterator[Batch], function: str) -> list[Batch]:
    """All batches. Raises `InputError` once they are too many to be joined."""
    parts: list[Batch] = []
    total = 0
    for part in batches:
        parts.append(part)
        total += part.nbytes
        if len(parts) > 1:
            _require(part.graph, total, f"what {function} finds (iter_{function} gives it in batches)")
    return parts


def _require(graph: Graph, needed: int, what: str) -> None:
    csr_for(graph.targets).require(needed, what)


def _neighborhoods_joined(parts: Sequence[Neighborhoods]) -> Neighborhoods:
    if len(parts) == 1:
        return parts[0]
    return Neighborhoods(
        parts[0].graph,
        np.concatenate([part.centers for part in parts]),
        parts[0].hops,
        _offsets_joined(parts),
        _joined([part.vertices for part in parts]),
        _joined([part.distances for part in parts]),
    )


def _offsets_joined(parts: Sequence[_ByCenter]) -> np.ndarray:
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


@clear_errors
def _joined(arrays: Sequence[Any]) -> Any:
    """The arrays one after the other, where they are."""
    return csr_for(arrays[0]).xp.concatenate(arrays)
