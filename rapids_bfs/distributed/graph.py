"""A graph whose rows are distributed over several devices, and its vertices' ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import engines
from .._core.arguments import engine_name, quoted
from .._core.csr import building as csr
from .._core.cuda.arrays import CPU, CUDA, on_device, to_host
from .._core.dtypes import index_dtype
from .._core.formatting import counted, graph_size, html_table, size
from .._core.memory import require_bytes
from ..engines.operations import ORIGIN
from ..errors import InputError, NoAttributeError
from ..generators.regular import undirected
from ..graph import NO_EDGE_DATA, Graph, Mask, Vertices, require_unmasked
from ..validation import verdict_of
from . import on_ranks
from .batch import DistributedBatch
from .build import OWN, Partition, Plan, build
from .communicators import Communicator
from .components import components_of
from .eccentricities import bound_neighbors
from .gathered import GATHERED, deep_from, gather
from .ids import stored_id
from .launchers import Launcher, PerRank, new_turns
from .level_synchronous import prepare
from .masks import bitmap_of, filtered
from .partitioning import Partitioning
from .result import DistributedResult
from .search import DistributedTraversal, GatheredTraversal, searched
from .sources import EdgeSource, GraphEdges
from .validation import validate_distributed

ARRAYS = ("offsets", "targets")  # attributes of each `Graph`, besides those of its class
OF_VERTICES = ("ids", "_global_ids", "_places")  # cached attributes that do not depend on the edges
_preparing = new_turns()
BRISTLES = 1 << 8  # of the graph that compiles; enough to go bottom-up, and few enough for one top-down again
COMPARED_ENGINES = {  # by kind of device, besides our own
    CPU: ("scipy",),
    CUDA: ("cugraph-dask", "pylibcugraph", "pylibcugraph:direction-optimizing"),
}


class DistributedGraph(Vertices):
    """A graph over several devices. Make one with ``devices=`` of `rapids_bfs.load` or `rapids_bfs.as_graph`.

    Its partitions stay on their devices, and so do the results of searches. Internally a vertex has a global id, which
    encodes its owner and its local id there, see `partitioning`. Users only see their own ids.

    Attributes
    ----------
    launcher : Launcher
    partitions : a `Partition` for each rank of the launcher
    partitioning : Partitioning
    directed : bool
    name, columns, frame : as in a `Graph`
    edge_data : EdgeData
        Always empty.
    """

    edge_data = NO_EDGE_DATA

    def __init__(
        self,
        partitions: PerRank,
        launcher: Launcher,
        *,
        labels: np.ndarray | None = None,
        name: str = "graph",
        columns: tuple[str, str] = ("source", "target"),
        frame: str = "pandas",
    ) -> None:
        self.partitions = partitions
        self.launcher = launcher
        facts = launcher.collect(on_ranks.facts, each=[partitions])
        self.partitioning: Partitioning
        self.partitioning, self.directed, self.num_arcs, self.num_loops, _ = facts[0]
        self.nbytes = sum(nbytes for *_, nbytes in facts)
        self.name = name
        self.columns = columns
        self.frame = frame
        self._labels = labels
        self._prepared = False
        self._deep = False  # True once a search had many levels
        self.transport = ""  # once prepared: GATHERED, ONE_LAUNCH, NCCL and why, or "" on the CPU

    def __repr__(self) -> str:
        size = graph_size(self.num_vertices, self.num_edges, self.directed)
        return f"<DistributedGraph {self.name!r}: {size}, on {', '.join(self.devices)}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raises `AttributeError`, an `InputError` too, which says where to find what only a `Graph` has."""
            if hasattr(type(self), name):  # a property that has raised `AttributeError` says why itself
                return object.__getattribute__(self, name)
            if name.startswith("_") or not (hasattr(Graph, name) or name in ARRAYS):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise NoAttributeError(
                f"{vars(self).get('name', 'the graph')} is distributed and has no {name}: use graph.to('cpu').{name}"
            )

    def _repr_html_(self) -> str:
        rows = [
            ("vertices", f"{self.num_vertices:,}"),
            ("edges", f"{self.num_edges:,} {'directed' if self.directed else 'undirected'}"),
            ("devices", ", ".join(self.devices)),
            ("memory", size(self.nbytes)),
        ]
        return html_table(rows, caption=self.name)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of each partition."""
        return self.launcher.devices

    @property
    def device(self) -> str:
        """The kind of its devices, "cpu" or "cuda"."""
        return self.launcher.device

    @property
    def searched(self) -> str:
        """The number of its devices and, once it has been searched, the transport between them, in words."""
        return self.searched_by(self.transport)

    def searched_by(self, transport: str) -> str:
        """The same with this transport."""
        return ", ".join(filter(None, (f"distributed over {counted(self.num_devices, 'device')}", transport)))

    @property
    def num_devices(self) -> int:
        return self.launcher.size

    @property
    def num_vertices(self) -> int:
        return self.partitioning.n

    @cached_property
    def ids(self) -> Graph:
        """A graph with the same ids and no edges. Ids that are distributed are gathered for it."""
        n = self.num_vertices
        labels = self._labels
        if not self.partitioning.cyclic:
            require_bytes(16 * n, f"the ids of {counted(n, 'vertex', 'vertices')}")
            labels = np.sort(np.concatenate(self.launcher.collect(on_ranks.ids, each=[self.partitions])))
        return Graph._trusted(
            np.broadcast_to(np.int32(0), n + 1),
            np.empty(0, index_dtype(n)),
            labels=labels,
            name=self.name,
            columns=self.columns,
            frame=self.frame,
        )

    @property
    def labels(self) -> np.ndarray | None:
        """The user's ids in the order of ``to("cpu")``; None when ids are 0..n-1."""
        return None if self.partitioning.cyclic and self._labels is None else self.ids.labels

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids)

    def vertices_of(self, ids: Any) -> np.ndarray:
        """The global ids (int64) of the vertices with these ids, which the ranks look up together. Raises `InputError`
        naming the first unknown id."""
        ids = list(to_host(ids) if on_device(ids) else ids)
        if self.partitioning.cyclic:
            vertices: np.ndarray = self.partitioning.global_ids(self.ids.vertices_of(ids)).astype(np.int64)
            return vertices
        stored = [stored_id(id) for id in ids]
        found = self._found({id: None for id in stored if id is not None})
        vertices = np.fromiter((found.get(id, -1) for id in stored), np.int64, len(ids))
        if len(unknown := np.flatnonzero(vertices < 0)):
            self.vertex_of(ids[unknown[0]])  # which raises
        return vertices

    def _found(self, ids: Iterable[int | str]) -> dict[Any, int]:
        """The global ids of those of these distinct ids that a rank has."""
        found: dict[Any, int] = {}
        for mine in self.launcher.collect(on_ranks.find, list(ids), each=[self.partitions]):
            found |= mine
        return found

    def _range_of_ids(self) -> str:
        if self.partitioning.cyclic:
            return self.ids._range_of_ids()
        return f"it has {counted(self.num_vertices, 'vertex', 'vertices')}"

    def _targets_of(self, vertex: int) -> np.ndarray:
        by_rank = self.launcher.collect(on_ranks.targets, vertex, each=[self.partitions])
        targets: np.ndarray = by_rank[vertex // self.partitioning.stride]
        return targets

    def _find(self, id: Any) -> int:
        if self.partitioning.cyclic:
            vertex = self.ids._find(id)
            return vertex if vertex < 0 else int(self.partitioning.global_ids(np.array([vertex]))[0])
        id = stored_id(id)
        return -1 if id is None else self._found([id]).get(id, -1)

    def places_of(self, global_ids: np.ndarray) -> np.ndarray:
        """The vertices of ``to("cpu")`` with these global ids; -1 stays -1."""
        if self.partitioning.cyclic:
            ids: np.ndarray = self.partitioning.ids(global_ids)
            return ids
        vertices = np.where(global_ids < 0, -1, self._places[global_ids])
        return vertices.astype(index_dtype(self.num_vertices))

    def at_places(self, places: np.ndarray) -> np.ndarray:
        """The global ids of these vertices of ``to("cpu")``."""
        global_ids: np.ndarray = (
            self.partitioning.global_ids(places) if self.partitioning.cyclic else self._global_ids[places]
        )
        return global_ids

    @property
    def answers_on(self) -> str:
        return CPU

    def in_order(self, by_rank: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
        """The values that each rank has by local id, as one array in the order of the ids."""
        values = np.empty(self.num_vertices, dtype)
        for rank, mine in enumerate(by_rank):
            values[self.places_of(self.partitioning.own_global_ids(rank))] = mine
        return values

    @cached_property
    def degrees(self) -> np.ndarray:
        """The out-degree of each vertex (int64, n), on the host, in the order of the ids. It is kept."""
        n = self.num_vertices
        require_bytes(16 * n, f"the degrees of {counted(n, 'vertex', 'vertices')}")
        return self.in_order(self.launcher.collect(on_ranks.degrees, each=[self.partitions]), np.int64)

    @property
    def reverse(self) -> DistributedGraph:
        """The graph with every edge reversed, which shares its memory; an undirected graph itself."""
        return self._reverse if self.directed else self

    @property
    def undirected(self) -> DistributedGraph:
        """This graph, if it is undirected. Raises `InputError` otherwise, which is an `AttributeError` too."""
        if self.directed:
            raise NoAttributeError(
                f"{self.name} is distributed, and directed: give directed=False where it is made, or use "
                "graph.to('cpu').undirected"
            )
        return self

    def replace(self, *, directed: bool) -> DistributedGraph:
        """The graph with two directed edges for each undirected one, which shares its memory. False: `undirected`."""
        if not directed:
            return self.undirected
        return self if self.directed else self._with(self.launcher.map(on_ranks.directed, each=[self.partitions]))

    @cached_property
    def _reverse(self) -> DistributedGraph:
        return self._with(self.launcher.map(on_ranks.reversed_edges, each=[self.partitions]))

    def _with(self, partitions: PerRank) -> DistributedGraph:
        """The graph of other edges between the same vertices."""
        options: dict[str, Any] = {"name": self.name, "columns": self.columns, "frame": self.frame}
        graph = DistributedGraph(partitions, self.launcher, labels=self._labels, **options)
        vars(graph).update({name: vars(self)[name] for name in OF_VERTICES if name in vars(self)})
        return graph

    @cached_property
    def _global_ids(self) -> np.ndarray:
        """The global id of each vertex of ``to("cpu")``, if there are labels."""
        global_ids = np.empty(self.num_vertices, self.partitioning.dtype)
        used = np.flatnonzero(self._places >= 0)
        global_ids[self._places[used]] = used
        return global_ids

    @cached_property
    def _places(self) -> np.ndarray:
        """The vertex of ``to("cpu")`` for each global id, if there are labels; -1 for unused global ids."""
        partitioning = self.partitioning
        ids = self.ids._host_labels
        vertices = np.full(partitioning.size * partitioning.stride, -1, np.int64)
        for rank, labels in enumerate(self.launcher.collect(on_ranks.ids, each=[self.partitions])):
            first = rank * partitioning.stride
            vertices[first : first + len(labels)] = np.searchsorted(ids, labels)
        return vertices

    def ids_of(self, vertices: np.ndarray) -> np.ndarray:
        return self.ids.ids_of(self.places_of(vertices))

    @cached_property
    def whole(self) -> Graph:
        n, m, vertex = self.num_vertices, self.num_arcs, np.dtype(index_dtype(self.num_vertices))
        require_bytes(m * (2 * vertex.itemsize + 8) + 24 * n, f"{self.name} on {CPU}, in one piece,")
        rows = self.launcher.collect(on_ranks.rows, each=[self.partitions])
        own = [self.places_of(self.partitioning.own_global_ids(rank)) for rank in range(self.partitioning.size)]
        degrees = np.zeros(n, np.int64)
        for vertices, (offsets, _) in zip(own, rows, strict=True):
            degrees[vertices] = np.diff(offsets)
        blocks = (
            (np.repeat(vertices, np.diff(offsets)), self.places_of(targets))
            for vertices, (offsets, targets) in zip(own, rows, strict=True)
        )
        offsets, targets = csr.fill(degrees, blocks)
        return self.ids._with(offsets=offsets, targets=targets, directed=self.directed)

    def prepare(self) -> None:
        """Prepare all ranks for searches, once. After a search with many levels, gather it on rank 0 if it fits."""
        if self._prepared:
            return
        with _preparing.lock:
            if self._prepared:
                return
            if not self._deep:
                self.transport = self.launcher.collect(prepare, each=[self.partitions])[0]
            elif self.launcher.collect(gather, each=[self.partitions])[0]:
                self.transport = GATHERED
            self._prepared = True

    def filter(self, *, edges: Mask | None = None, vertices: Mask | None = None) -> DistributedGraph:
        """The graph with the same vertices and ids and with those edges whose ends a mask keeps, on the same devices.

        Each rank filters its own rows, which takes about as long as a copy.

        Parameters
        ----------
        edges
            Refused: the arcs of a distributed graph have no order that a mask of them could have.
        vertices : array of bool, or function of the graph that returns one
            One entry for each vertex, in the order of the ids: True keeps it. The others lose all of their edges.

        Raises
        ------
        InputError
            If there is a mask of edges, or the mask has another type or length.
        """
        if edges is not None:
            raise InputError(
                f"{self.name} is distributed, and its arcs have no order for a mask of them: filter by vertices=, or "
                "filter the edges before the graph is distributed"
            )
        if vertices is None:
            return self
        bitmap = bitmap_of(self, self.mask(vertices))
        return self._with(self.launcher.map(filtered, bitmap, each=[self.partitions]))

    def check(self) -> None:
        """Do nothing: users have no access to the arrays of a distributed graph."""

    def sample_sources(self, count: int, seed: int) -> np.ndarray:
        sampled = self.launcher.collect(on_ranks.sampled, count, seed, each=[self.partitions])
        if sampled[0] is None:
            raise InputError(f"{self.name} has no edges: name a source")
        found: np.ndarray = sum(sampled)
        return found

    def note_depth(self, depth: int) -> None:
        """After a search with many levels, let the next `prepare` gather the graph."""
        if depth >= deep_from(self.num_arcs) and self.launcher.size > 1 and not self._deep:
            self._deep, self._prepared = True, False


def from_graph(graph: Graph, launcher: Launcher) -> DistributedGraph:
    """Distribute a `Graph` over several devices."""
    host = graph.to(CPU)
    plan = Plan(launcher.device, vertices=graph.num_vertices, directed=graph.directed, name=graph.name)
    return from_source(GraphEdges(host), launcher, plan, labels=host.labels, columns=graph.columns, frame=graph.frame)


def from_source(source: EdgeSource, launcher: Launcher, plan: Plan, **options: Any) -> DistributedGraph:
    """The graph of a source of edges, of which each rank reads some."""
    return DistributedGraph(launcher.map(_build, source, plan), launcher, name=plan.name, **options)


def _build(communicator: Communicator, source: EdgeSource, plan: Plan) -> Partition:
    return build(source, communicator, plan)


@engines.search.register(DistributedGraph)
def _search(
    graph: DistributedGraph, sources: np.ndarray, options: engines.Options, engine: str = "auto"
) -> DistributedResult:
    _require_own(graph, engine)
    if options.vertices is not None:
        require_unmasked(graph, options.vertices, options.ends(np.asarray(sources, np.int64)))
    return searched(graph, sources, options)


@engines.batch_traversal.register(DistributedGraph)
def _batch_traversal(
    graph: DistributedGraph, engine: str, options: engines.Options
) -> tuple[DistributedBatch, dict[str, Any]]:
    _require_own(graph, engine)
    return DistributedBatch(graph), {"vertices": options.vertices}


@engines.betweenness.register(DistributedGraph)
def _betweenness(graph: DistributedGraph, engine: str) -> NoReturn:
    raise InputError(
        f"{graph.name} is distributed over {graph.num_devices} devices, which do not compute betweenness: use "
        "graph.to('cpu')"
    )


def _require_own(graph: DistributedGraph, engine: str) -> None:
    """Raise `InputError` unless this is our engine, which searches on the graph's devices."""
    if engine_name(engine) not in ("auto", OWN[graph.device]):
        raise InputError(
            f"{graph.name} is distributed over {graph.device} memory, which {OWN[graph.device]!r} searches, not "
            f"{quoted(engine)}"
        )


@engines.prepare.register(DistributedGraph)
def _prepare(graph: DistributedGraph, spec: engines.EngineSpec) -> engines.Traversal:
    return DistributedTraversal(graph) if spec.name == OWN[graph.device] else GatheredTraversal(graph, spec)


@engines.unsupported.register(DistributedGraph)
def _unsupported(graph: DistributedGraph, spec: engines.EngineSpec, options: engines.Options) -> str | None:
    if spec.name == OWN[graph.device]:
        return None
    return spec.engine.unsupported(graph.to(CPU), spec.algorithm, options)


@engines.default_engines.register(DistributedGraph)
def _default_engines(graph: DistributedGraph) -> tuple[str, ...]:
    return (OWN[graph.device], *COMPARED_ENGINES[graph.device])


@engines.compile_for.register(DistributedGraph)
def _compile_for(graph: DistributedGraph, spec: engines.EngineSpec, options: engines.Options) -> None:
    """Compile what our searches need, on all ranks, by a search of a small graph that goes top-down, bottom-up and
    top-down again. Other engines compile nothing that their first search does not need."""
    if spec.name == OWN[graph.device]:
        small = from_graph(_broom(graph.directed), graph.launcher)
        searched(small, ORIGIN, replace(options, depth_limit=None))


def _broom(directed: bool) -> Graph:
    """A handle of two edges, many bristles, and one that is longer. It is searched from the handle's end."""
    first, last = 3, 3 + BRISTLES
    near = np.concatenate([[0, 1], np.full(BRISTLES, 2), [last - 1, last]])
    far = np.concatenate([[1, 2], np.arange(first, last), [last, last + 1]])
    return undirected("broom", last + 2, near, far).replace(directed=directed)


verdict_of.register(DistributedGraph, validate_distributed)
engines.bound_neighbors.register(DistributedGraph)(bound_neighbors)
engines.components.register(DistributedGraph)(components_of)
engines.path_between.register(DistributedGraph)(engines.path_by_search)
engines.paths_between.register(DistributedGraph)(engines.paths_one_by_one)
