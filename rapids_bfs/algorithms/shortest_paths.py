"""`shortest_path` and `shortest_paths`: a path between two vertices, and between each of many pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arguments import quoted
from .._core.formatting import counted
from ..adapters.arrow import frame
from ..engines import path_between, paths_between
from ..errors import InputError, NoPathError
from ..graph import Graph, Mask, kept_mask, require_unmasked
from ..loading import as_graph
from .batch import vertices_of_sources
from .concatenated import Concatenated


def shortest_path(graph: Any, source: Hashable, target: Hashable, *, vertices: Mask | None = None) -> list[Any]:
    """A shortest path from one vertex to another.

    On the CPU two searches meet in the middle; if frontiers grow quickly they visit a small part of the graph. Only the
    first call on a `Graph` does work for every vertex. On a device, and over several, one search runs, level by level,
    until it reaches the target.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        Searching a `Graph` again costs the search alone. Edges of a directed graph are followed forward.
    source, target : vertex ids
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: False keeps the path off it.

    Returns
    -------
    list of vertex ids
        Includes both ends; one id if they are the same vertex. Of several shortest paths it is, on the CPU, the one
        that NetworkX's `bidirectional_shortest_path` returns for ``graph.to("networkx")``. A directed NetworkX graph
        whose edges were not added in the order of their sources may have another path there; the NetworkX backend
        returns that one.

    Raises
    ------
    NoPathError
        If no path leads from the source to the target. It is an `InputError`.
    InputError
        If the graph cannot be made, the source or the target is not a vertex or is masked, or the mask is invalid.

    Examples
    --------
    >>> shortest_path([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], "a", "c")
    ['a', 'b', 'c']
    """
    if not isinstance(graph, Graph):
        graph = as_graph(graph)
    ends = graph.vertex_of(source), graph.vertex_of(target)
    mask = None
    if vertices is not None:
        mask = graph.mask(vertices)
        require_unmasked(graph, mask, ends)
    path = path_between(graph, *ends, mask)
    if not len(path):
        raise NoPathError(f"no path leads from {quoted(source)} to {quoted(target)} in {graph.name}")
    ids: list[Any] = graph.ids_of(path).tolist()
    return ids


@dataclass(frozen=True, eq=False)
class ShortestPaths(Concatenated):
    """A shortest path for each of k pairs of vertices. All arrays are on the host.

    ``result[i]`` are the ids along the path of the i-th pair, as `shortest_path` returns them; none if there is no
    path. Its vertices are ``vertices[offsets[i]:offsets[i + 1]]``. A loop over the result gives one path after the
    other.

    Attributes
    ----------
    graph : Graph or DistributedGraph
    sources, targets : int64 arrays of k
        The vertices between which the paths lead, in the order given.
    offsets : int64 array of k + 1
    vertices : int64 array of ``offsets[k]``

    Examples
    --------
    >>> from rapids_bfs import shortest_paths
    >>> arcs = {"a": ["b"], "b": ["c"], "c": []}
    >>> paths = shortest_paths(arcs, ["a", "c"], ["c", "a"])
    >>> paths.lengths
    array([ 2, -1])
    >>> list(paths)
    [['a', 'b', 'c'], []]
    """

    asked = "pair"
    graph: Any
    sources: np.ndarray
    targets: np.ndarray
    offsets: np.ndarray
    vertices: np.ndarray

    def __getitem__(self, position: int) -> list[Any]:
        ids: list[Any] = self.graph.ids_of(self.vertices[self._piece(position)]).tolist()
        return ids

    def __iter__(self) -> Iterator[list[Any]]:
        ids, bounds = self.ids.tolist(), self.offsets.tolist()
        return map(ids.__getitem__, map(slice, bounds[:-1], bounds[1:]))

    def __repr__(self) -> str:
        return f"<ShortestPaths on {self.graph.name!r}: {counted(len(self), 'pair')}>"

    @property
    def lengths(self) -> np.ndarray:
        """The number of edges of each path (int64): the distance from source to target, -1 if there is no path."""
        return np.diff(self.offsets) - 1

    @property
    def ids(self) -> np.ndarray:
        """The ids of ``vertices``."""
        ids: np.ndarray = self.graph.ids_of(self.vertices)
        return ids

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for each vertex of a path: ``source``, ``target``, ``vertex`` and ``distance``, with ids.

        ``distance`` is that from the source. A pair without a path has no rows. ``kind`` is that of
        `BFSResult.to_frame`; frames of cuDF are uploaded from the host.
        """
        ids, index = self.graph.ids_of, self.index
        columns = {
            "source": ids(self.sources[index]),
            "target": ids(self.targets[index]),
            "vertex": self.ids,
            "distance": (np.arange(len(index)) - self.offsets[index]).astype(np.int32),
        }
        return frame(columns, kind or self.graph.frame)


def shortest_paths(
    graph: Any, sources: Iterable[Hashable], targets: Iterable[Hashable], *, vertices: Mask | None = None
) -> ShortestPaths:
    """A shortest path from each of these sources to the target beside it.

    Each is the path of `shortest_path`. They are found by a kernel whose threads take one pair after the other; on a
    device, and over several, one search after the other runs.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        Edges of a directed graph are followed forward.
    sources, targets : lists or arrays of k vertex ids each
        An id may occur more than once.
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: False keeps the paths off it.

    Returns
    -------
    ShortestPaths
        A pair without a path has length -1 there, and no vertices.

    Raises
    ------
    InputError
        If the graph cannot be made, there is not one target for each source, one of them is not a vertex or is masked,
        the mask is invalid, or the paths do not fit in the memory.

    Examples
    --------
    >>> paths = shortest_paths("karate", [0, 16], [33, 26])
    >>> paths.lengths
    array([2, 5])
    >>> paths[0]
    [0, 8, 33]
    """
    graph = as_graph(graph)
    mask = kept_mask(graph, vertices)
    starts, ends = (vertices_of_sources(graph, _several(ids)) for ids in (sources, targets))
    if len(starts) != len(ends):
        raise InputError(f"shortest_paths takes a target for each source: {len(starts):,} and {len(ends):,} are given")
    require_unmasked(graph, mask, np.concatenate([starts, ends]))
    return ShortestPaths(graph, starts, ends, *paths_between(graph, starts, ends, mask))


def _several(ids: Any) -> Any:
    """``ids``, where None, which means all vertices to `vertices_of_sources`, and sets, whose order is arbitrary, are
    refused."""
    if ids is None:
        raise InputError("expected a list of vertex ids, not None")
    if isinstance(ids, set | frozenset):
        raise InputError("expected a list of vertex ids, not a set: its order is arbitrary, and ids are paired by it")
    return ids
