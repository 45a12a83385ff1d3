"""Assertions on results, and random graphs for Hypothesis, for other packages' tests.

>>> import rapids_bfs
>>> graph = rapids_bfs.load("karate")
>>> result = rapids_bfs.bfs(graph, 0, engine="cpu")
>>> assert_valid_bfs(graph, result)
>>> assert_same_distances(result, rapids_bfs.bfs(graph, 0, engine="scipy"))

The pytest fixture ``bfs_engine`` runs a test once for each engine, see `rapids_bfs.pytest_plugin`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core.arguments import quoted
from ._core.cuda.arrays import CPU, to_host
from ._core.optional import import_optional
from .algorithms.validate import validate
from .errors import InputError
from .graph import Graph
from .loading import as_graph
from .result import BFSResult, Distances

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    EdgeList = tuple[int, np.ndarray, np.ndarray]


def assert_valid_bfs(graph: Any, result: Distances) -> None:
    """Raise `AssertionError` if the result breaks one of Graph500's rules, naming the rule and the first vertex.

    ``graph`` is any input of `rapids_bfs.as_graph`.
    """
    verdict = validate(graph, result)
    if not verdict:
        raise AssertionError(str(verdict))


def assert_same_distances(result: Distances, expected: Any) -> None:
    """Raise `AssertionError` if a distance differs from the expected one, naming the first vertex.

    ``expected`` is another result; an array of n distances, -1 or infinite for unreached vertices; or a mapping from
    ids to distances, as `networkx.single_source_shortest_path_length` returns, in which unreached vertices may be
    missing. Results and arrays may be on a device, results also over several.

    Raises `InputError` if ``expected`` holds anything but numbers, or an id that no vertex has.

    >>> import networkx as nx
    >>> from rapids_bfs import bfs
    >>> graph = nx.path_graph(["a", "b", "c"])
    >>> lengths = nx.single_source_shortest_path_length(graph, "a")
    >>> assert_same_distances(bfs(graph, "a"), lengths)
    >>> assert_same_distances(bfs(graph, "a"), [0, 1, 3])
    Traceback (most recent call last):
    ...
    AssertionError: 1 of 3 distances differ: vertex 'c' has 2 instead of 3
    """
    found = _on_host(result)
    graph = found.graph
    wanted = _distances(graph, expected)
    if wanted.shape != found.distances.shape:
        raise AssertionError(
            f"{graph.name} has {graph.num_vertices} vertices, and {wanted.size} distances are expected"
        )
    wrong = np.flatnonzero(wanted != found.distances)
    if len(wrong):
        vertex = wrong[0]
        id = graph.ids_of(wrong[:1]).tolist()[0]
        raise AssertionError(
            f"{len(wrong)} of {graph.num_vertices} distances differ:"
            f" vertex {quoted(id)} has {found.distances[vertex]} instead of {wanted[vertex]}"
        )


def _on_host(result: Any) -> BFSResult:
    if not isinstance(result, Distances):
        raise InputError(f"assert_same_distances takes the result of a search, such as bfs gives, not {quoted(result)}")
    return result.to(CPU)


def _distances(graph: Graph, expected: Any) -> np.ndarray:
    """The expected distances by vertex, -1 for unreached ones."""
    if isinstance(expected, Distances):
        found = _on_host(expected)
        if found.graph is graph:
            return found.distances
        ids = found.graph.ids_of(np.arange(found.graph.num_vertices))
        expected = dict(zip(ids.tolist(), found.distances.tolist(), strict=True))
    if isinstance(expected, Mapping):
        given = _numbers(list(expected.values()))
        distances = np.full(graph.num_vertices, -1, np.result_type(given.dtype, np.int8))
        distances[graph.vertices_of(expected)] = given
        return distances
    return _numbers(expected)


def _numbers(distances: Any) -> np.ndarray:
    """The distances, -1 instead of infinite ones. NaN stays, which equals no distance."""
    array = to_host(distances)
    if array.dtype.kind not in "iuf":
        raise InputError(f"expected distances are numbers, -1 or infinite where not reached, not {quoted(distances)}")
    return np.where(array == np.inf, -1, array) if array.dtype.kind == "f" else array


def edge_lists(*, min_vertices: int = 0, max_vertices: int = 12, max_edges: int = 40) -> SearchStrategy[EdgeList]:
    """Draws ``(n, sources, targets)``, with self-loops, duplicates, isolated vertices and several components."""
    st = import_optional("hypothesis.strategies", "drawing graphs")

    def of(n: int) -> Any:
        vertices = st.integers(0, max(n - 1, 0))
        return st.tuples(st.just(n), st.lists(st.tuples(vertices, vertices), max_size=max_edges if n else 0))

    def as_arrays(drawn: tuple[int, list[tuple[int, int]]]) -> EdgeList:
        n, edges = drawn
        sources, targets = np.array(edges, np.int64).reshape(-1, 2).T
        return n, sources, targets

    drawn: SearchStrategy[EdgeList] = st.integers(min_vertices, max_vertices).flatmap(of).map(as_arrays)
    return drawn


def graphs(*, min_vertices: int = 0, max_vertices: int = 12, max_edges: int = 40) -> SearchStrategy[Graph]:
    """Draws a directed or undirected `Graph` from `edge_lists`; without ``min_vertices`` it may be empty."""
    st = import_optional("hypothesis.strategies", "drawing graphs")

    def of(edges: EdgeList, directed: bool) -> Graph:
        n, sources, targets = edges
        return as_graph((sources, targets), vertices=n, directed=directed)

    edges = edge_lists(min_vertices=min_vertices, max_vertices=max_vertices, max_edges=max_edges)
    drawn: SearchStrategy[Graph] = st.builds(of, edges, st.booleans())
    return drawn
