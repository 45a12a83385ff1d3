"""`eccentricity`, and `diameter`, `radius`, `center` and `periphery`, which follow from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from .._core.cuda.arrays import to_host
from .._core.dtypes import index_dtype
from ..engines import Options, bound_neighbors, components, search
from ..kernels.cpu import eccentricities
from ..loading import as_graph
from .batch import summary, vertices_of_sources

# Maps the lower and upper bounds of all eccentricities to a mask of the vertices that are still open.
IsOpen = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Measured by `python -m benchmarks cpu`.
ROUND = 8  # searches between two checks whether they pay
WORTH = 16  # vertices whose bounds a search must make exact: a batch searches from as many in the same time
FIRST_BATCH, LARGEST_BATCH = 64, 1024


def eccentricity(graph: Any, vertices: Iterable[Hashable] | None = None, *, engine: str = "auto") -> np.ndarray:
    """The eccentricity of each vertex: its largest distance to a vertex that it reaches.

    Searches from few vertices bound the eccentricities of all; batches of searches determine those of the vertices
    whose bounds do not meet. In directed graphs, bounds work only if each vertex reaches every other.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
    vertices : list, set or array of vertex ids, optional
        Default: every vertex. An id may occur more than once.
    engine : str
        "auto", "cpu", ...: see `rapids-bfs info`.

    Returns
    -------
    int32 array, on the host
        One eccentricity per vertex, or per entry of ``vertices``; 0 for a vertex that reaches only itself.

    Raises
    ------
    InputError
        If the graph cannot be made, an id is not a vertex, or the engine is unknown or cannot run here.

    References
    ----------
    F. W. Takes, W. A. Kosters, Determining the diameter of small world networks, CIKM 2011.

    Examples
    --------
    >>> eccentricity([("a", "b"), ("b", "c"), ("c", "d")], ["a", "b"])
    array([3, 2], dtype=int32)
    """
    graph = as_graph(graph)
    if vertices is None:
        return bounds(graph, lambda lower, upper: lower < upper, engine)[0]
    some = graph.places_of(vertices_of_sources(graph, vertices))
    wanted = np.zeros(graph.num_vertices, bool)
    wanted[some] = True
    found, _ = bounds(graph, lambda lower, upper: wanted & (lower < upper), engine)
    answer: np.ndarray = found.take(some)
    return answer


def diameter(graph: Any, *, engine: str = "auto") -> int:
    """The largest eccentricity: the largest distance from a vertex to another that it reaches.

    In a disconnected graph it is the largest diameter of a component; without vertices it is -1.
    `graph`, `engine` and the errors are as for `eccentricity`. A few searches usually suffice.

    Examples
    --------
    >>> diameter("karate")
    5
    """
    return int(bounds(as_graph(graph), diameter_is_open, engine)[0].max(initial=-1))


def radius(graph: Any, *, engine: str = "auto") -> int:
    """The smallest eccentricity: 0 if a vertex reaches only itself, -1 without vertices.

    `graph`, `engine` and the errors are as for `eccentricity`. A few searches usually suffice.

    Examples
    --------
    >>> radius("karate")
    3
    """
    upper = bounds(as_graph(graph), radius_is_open, engine)[1]
    return int(upper.min()) if len(upper) else -1


def center(graph: Any, *, engine: str = "auto") -> np.ndarray:
    """The ids of the vertices whose eccentricity is the `radius`, in the order of vertices.

    `graph`, `engine` and the errors are as for `eccentricity`.

    Examples
    --------
    >>> center("karate")
    array([ 0,  1,  2,  3,  8, 13, 19, 31])
    """
    searched: Any = as_graph(graph)
    ids: np.ndarray = searched.ids_of(searched.at_places(central(searched, engine=engine)))
    return ids


def periphery(graph: Any, *, engine: str = "auto") -> np.ndarray:
    """The ids of the vertices whose eccentricity is the `diameter`, in the order of vertices.

    `graph`, `engine` and the errors are as for `eccentricity`.

    Examples
    --------
    >>> periphery("karate")
    array([14, 15, 16, 18, 20, 22, 23, 26, 29])
    """
    searched: Any = as_graph(graph)
    ids: np.ndarray = searched.ids_of(searched.at_places(peripheral(searched, engine=engine)))
    return ids


def central(graph: Any, *, engine: str) -> np.ndarray:
    """The places of the vertices of the smallest eccentricity."""
    _, upper = bounds(graph, center_is_open, engine)
    return np.flatnonzero(upper == upper.min(initial=graph.num_vertices))


def peripheral(graph: Any, *, engine: str) -> np.ndarray:
    """The places of the vertices of the largest eccentricity."""
    lower, _ = bounds(graph, periphery_is_open, engine)
    return np.flatnonzero(lower == lower.max(initial=-1))


def diameter_is_open(lower: np.ndarray, upper: np.ndarray) -> Any:
    return upper > lower.max(initial=-1)


def radius_is_open(lower: np.ndarray, upper: np.ndarray) -> Any:
    return lower < upper.min(initial=len(upper))


def periphery_is_open(lower: np.ndarray, upper: np.ndarray) -> Any:
    return (lower < upper) & (upper >= lower.max(initial=-1))


def center_is_open(lower: np.ndarray, upper: np.ndarray) -> Any:
    return (lower < upper) & (lower <= upper.min(initial=len(upper)))


def bounds(graph: Any, is_open: IsOpen, engine: str) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (int32) of all eccentricities, in the order of the ids, with no vertex left open.

    Searches tighten the bounds of all vertices for as long as that pays. Batches of searches then determine the
    eccentricities that are still open.
    """
    known = Bounds(graph, engine)
    batch, pays = FIRST_BATCH, True
    while len(left := np.flatnonzero(is_open(known.lower, known.upper))):
        if pays and len(left) > ROUND * WORTH and known.reach_all:
            for turn in range(ROUND):
                known.tighten(highest=turn % 2 == 0)
            exact = len(left) - np.count_nonzero(is_open(known.lower, known.upper))
            pays = bool(exact >= ROUND * WORTH)
        else:
            known.search_from(known.most_telling(left, batch))
            batch = min(4 * batch, LARGEST_BATCH)
    return known.lower, known.upper


class Bounds:
    """Bounds of the eccentricities of all vertices. A vertex is named by its place in the order of the ids.

    Attributes
    ----------
    lower, upper : int32 arrays of n, on the host
    """

    def __init__(self, graph: Any, engine: str) -> None:
        self.graph, self.engine = graph, engine
        n = graph.num_vertices
        self.degrees = to_host(graph.degrees)
        self.lower = np.zeros(n, np.int32)
        if graph.directed:
            self.labels, count = np.zeros(n, index_dtype(n)), min(n, 1)
            self.upper = np.full(n, n - 1, np.int32)
        else:
            labels, count = components(graph)
            self.labels = to_host(labels)
            self.upper = (np.bincount(self.labels, minlength=count)[self.labels] - 1).astype(np.int32)
        self.chosen, self.farthest = np.empty(count, np.int64), np.empty(count, np.int32)

    @cached_property
    def reach_all(self) -> bool:
        """Does a search bound the eccentricities of all vertices of its component? In a directed graph only if each
        vertex reaches every other."""
        if not self.graph.directed:
            return True
        first = np.zeros(1, np.int64)
        away, back = self._distances(self.graph, first), self._distances(self.graph.reverse, first)
        return bool((away >= 0).all() and (back >= 0).all())

    def _distances(self, graph: Any, places: np.ndarray) -> np.ndarray:
        sources = graph.at_places(places).astype(np.int64, copy=False)
        found: np.ndarray = search(graph, sources, Options(predecessors=False), self.engine).distances_on_host()
        return found

    def tighten(self, *, highest: bool) -> None:
        """Search from one vertex of each component: the one with the highest upper bound or the lowest lower bound."""
        eccentricities.choose(self.labels, self.degrees, self.lower, self.upper, highest, self.chosen)
        sources = self.chosen[self.chosen >= 0]
        if len(sources):
            away = self._distances(self.graph, sources)
            back = self._distances(self.graph.reverse, sources) if self.graph.directed else away
            eccentricities.tighten(self.labels, back, away, self.farthest, self.lower, self.upper)

    def most_telling(self, vertices: np.ndarray, count: int) -> np.ndarray:
        """Those ``count`` vertices whose bounds are farthest apart; among equals, the ones of largest degree."""
        count = min(count, len(vertices))
        apart = (self.upper - self.lower)[vertices].astype(np.int64)
        rank = -(apart * (self.graph.num_arcs + 1) + self.degrees[vertices])
        return vertices[np.argpartition(rank, count - 1)[:count]]

    def search_from(self, vertices: np.ndarray) -> None:
        """Search from each of these vertices: their bounds become their eccentricities."""
        sources = self.graph.at_places(vertices).astype(np.int64, copy=False)
        found: Any = summary(self.graph, sources, self.engine).eccentricity
        self.lower[vertices] = self.upper[vertices] = found
        if not self.graph.directed:
            bound_neighbors(self.graph, vertices, self.lower, self.upper)
