"""Functions that depend on the kind of graph: for a `Graph`; `rapids_bfs.distributed` registers its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np

from .._core.arguments import quoted
from .._core.csr import csr_for
from .._core.cuda.arrays import CPU, CUDA
from ..errors import InputError
from ..graph import Graph, require_unmasked
from .base import BatchTraversal, Betweenness, Options, Traversal, bounds_of
from .registry import EngineSpec, registered, require, resolve

if TYPE_CHECKING:
    from .cpu.bidirectional import Bidirectional

MANY = 1 << 12  # edges each way of the graph of `compile_for`: engines may search a tiny graph in another way
ORIGIN = np.array([0])
PATHS = "shortest paths"  # among `Graph.traversals`


Answer = TypeVar("Answer", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])


class ByKind(Protocol[Answer]):
    """A function whose implementation depends on the class of its first argument, a graph."""

    def __call__(self, *arguments: Any) -> Answer: ...

    def register(self, kind: type) -> Callable[[Function], Function]:
        """A decorator for the implementation for this class, subclasses not included."""


def by_kind(function: Callable[..., Answer]) -> ByKind[Answer]:
    """``function``, unless another implementation is registered. `functools.singledispatch`, which does this for
    subclasses too, takes a fifteenth of the time of a tiny search."""
    others: dict[type, Callable[..., Answer]] = {}

    @wraps(function)
    def call(*arguments: Any) -> Answer:
        return others.get(type(arguments[0]), function)(*arguments)

    call.register = lambda kind: partial(others.setdefault, kind)  # type: ignore[attr-defined]
    return cast("ByKind[Answer]", call)


@by_kind
def search(graph: Any, sources: np.ndarray, options: Options, engine: str) -> Any:
    """`rapids_bfs.bfs` from vertices (int64, distinct) rather than ids."""
    spec = require(engine, options.deterministic)
    spec.require(graph, options, len(sources))
    if options.vertices is not None and not spec.masks:
        return _search_filtered(graph, sources, options, engine)
    traversal = spec.traversal(graph)
    if options.vertices is not None and not traversal.checks_mask(sources, options):
        require_unmasked(graph, options.vertices, options.ends(sources))
    with traversal.lock:
        return traversal.run(sources, options, own=True)


def _search_filtered(graph: Graph, sources: np.ndarray, options: Options, engine: str) -> Any:
    """`search`, by an engine that knows no masks."""
    require_unmasked(graph, options.vertices, options.ends(sources))
    result = search(graph.filter(vertices=options.vertices), sources, replace(options, vertices=None), engine)
    return replace(result, graph=graph, vertices=options.vertices)


@by_kind
def prepare(graph: Any, spec: EngineSpec) -> Traversal:
    """A traversal of ``graph`` that shares nothing with what others have prepared for it."""
    return spec.prepare(graph._with())


@by_kind
def unsupported(graph: Any, spec: EngineSpec, options: Options) -> str | None:
    """`Engine.unsupported`, of the graph that the traversal of `prepare` searches."""
    return spec.engine.unsupported(graph, spec.algorithm, options)


@by_kind
def default_engines(graph: Any) -> tuple[str, ...] | None:
    """The names of the engines that `rapids_bfs.compare` runs on ``graph`` by default; None for all."""
    return None


@by_kind
def batch_traversal(graph: Any, engine: str, options: Options) -> tuple[BatchTraversal, dict[str, Any]]:
    """An engine's preparation for searches of ``graph`` from many sources at once, and the further arguments of its
    methods."""
    spec = require(engine)
    spec.require(graph, options)
    if options.vertices is None:
        return spec.batch_traversal(graph), {}
    if spec.masks:
        return spec.batch_traversal(graph), {"vertices": options.vertices}
    return spec.batch_traversal(graph.filter(vertices=options.vertices)), {}


@by_kind
def betweenness(graph: Any, engine: str) -> Betweenness:
    """An engine's preparation for counting shortest paths of ``graph``; "auto" is the first engine that can."""
    names = [engine]
    if engine == "auto":
        names = [name for name in registered() if resolve(name).unavailable() is None]
    for name in names:
        if found := require(name).betweenness(graph):
            return found
    raise InputError(f"engine {quoted(engine)} has no betweenness: use the engine 'cpu'")


@by_kind
def components(graph: Any, vertices: Any = None) -> tuple[Any, int]:
    """The connected component of each vertex (of the vertices' type, n, where the graph's answers are), and how many
    components there are. They are numbered from 0 in the order of their first vertices. Vertices that the mask
    ``vertices`` (bool, n) leaves out have -1."""
    csr = csr_for(graph.targets)
    found: tuple[Any, int] = csr.components(graph.offsets, graph.targets, not graph.directed, vertices)
    return found


@by_kind
def path_between(graph: Any, source: int, target: int, vertices: Any) -> np.ndarray:
    """The vertices (int, on the host) of a shortest path, including both ends; empty if there is no path. It avoids the
    vertices that the mask ``vertices`` (bool, n) leaves out; None: no mask."""
    if graph.device == CUDA:
        return path_by_search(graph, source, target, vertices)
    return _bidirectional(graph).path(source, target, vertices)


@by_kind
def paths_between(graph: Any, sources: np.ndarray, targets: np.ndarray, vertices: Any) -> tuple[np.ndarray, np.ndarray]:
    """`path_between` from each of these sources to the target beside it: bounds (int64, one more than there are pairs)
    and vertices (int64), both on the host. Path i is ``vertices[bounds[i]:bounds[i + 1]]``."""
    if graph.device == CUDA:
        return paths_one_by_one(graph, sources, targets, vertices)
    return _bidirectional(graph).paths(sources, targets, vertices)


def _bidirectional(graph: Graph) -> Bidirectional:
    """The buffers of the graph's searches between two vertices, made at the first of them."""
    searches = graph.traversals.get(PATHS)
    if searches is None:
        from .cpu.bidirectional import Bidirectional  # late: it imports Numba

        searches = graph.traversals.setdefault(PATHS, Bidirectional(graph))
    found: Bidirectional = searches
    return found


@by_kind
def bound_neighbors(graph: Any, places: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Tighten the bounds of eccentricities of the neighbours of the vertices at these places, whose own bounds meet, in
    an undirected graph: see `kernels.cpu.eccentricities.spread`. The bounds are in the order of the ids."""
    from ..kernels.cpu import eccentricities

    here = graph.to(CPU)
    eccentricities.spread(here.offsets, here.targets, places, lower, upper)


def path_by_search(graph: Any, source: int, target: int, vertices: Any) -> np.ndarray:
    """`path_between`, by a search from the source until it reaches the target."""
    options = Options(target=target, vertices=vertices)
    path: np.ndarray = search(graph, np.array([source], np.int64), options, "auto").vertices_to(target)
    return path


def paths_one_by_one(
    graph: Any, sources: np.ndarray, targets: np.ndarray, vertices: Any
) -> tuple[np.ndarray, np.ndarray]:
    """`paths_between`, by `path_between` for one pair after the other."""
    paths = [path_between(graph, *ends, vertices) for ends in zip(sources.tolist(), targets.tolist(), strict=True)]
    return bounds_of(np.array(list(map(len, paths)), np.int64)), np.concatenate([[], *paths]).astype(np.int64)


@by_kind
def compile_for(graph: Any, spec: EngineSpec, options: Options) -> None:
    """Compile what a search of ``graph`` needs, by a search of a graph of two vertices with the same dtypes."""
    offsets = np.array([0, MANY, 2 * MANY], graph.offsets.dtype)
    targets = np.repeat(np.array([1, 0], graph.targets.dtype), MANY)
    spec.prepare(Graph(offsets, targets, directed=graph.directed)).run(ORIGIN, options)
