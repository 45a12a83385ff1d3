"""The interface of an engine, and its preparation for a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from .._core.cuda.arrays import CPU, CUDA, copied, finish, moved, to_host
from .._core.forks import Turns
from ..errors import TraversalError
from ..graph import Graph
from ..result import BFSResult
from ..trace import Step, Trace


@dataclass(frozen=True)
class Options:
    """The limits of a search, and the parts of its answer. ``target`` is a vertex, not an id. ``vertices`` (bool, n) is
    a mask, on the graph's device, of the vertices that the search may enter, which include the sources and the target.
    """

    depth_limit: int | None = None
    target: int | None = None
    predecessors: bool = True
    deterministic: bool = False
    trace: bool = False
    check: bool = False
    vertices: Any = field(default=None, compare=False)

    def ends(self, sources: np.ndarray) -> list[int]:
        """The vertices of a search that must not be masked."""
        return [*sources.tolist(), *([] if self.target is None else [self.target])]


DEFAULT = Options()
OPTIONAL = ("depth_limit", "target", "deterministic", "several sources", "vertices")  # what an engine may support
NO_LIMIT = np.iinfo(np.int64).max  # the limit that kernels take for none


def kernel_limit(depth_limit: int | None) -> int:
    """A depth limit in the form that kernels take."""
    return NO_LIMIT if depth_limit is None else depth_limit


class Preparation(Turns):
    """An engine's preparation for one graph: uploaded arrays, buffers, everything that does not depend on the
    source. Callers of its methods hold its ``lock``; the methods do not take it themselves."""

    made_by: tuple[Engine, str] | None = None  # the engine and its algorithm, see `marked`

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    @property
    def engine_name(self) -> str | None:
        """The engine and its algorithm, as users write them; None unless it was `marked`."""
        return None if self.made_by is None else f"{self.made_by[0].name}:{self.made_by[1]}"

    def require_array(self, what: str, array: Any, length: int, *dtypes: str) -> None:
        """Raise `TraversalError`, which names the engine, unless its answer has this length and one of these dtypes."""
        shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
        if shape != (length,) or dtype not in dtypes:
            raise TraversalError(
                f"engine {self.engine_name!r} returned {what} of shape {shape} and dtype {dtype}, not of "
                f"shape {(length,)} and dtype {' or '.join(dtypes)}"
            )


Prepared = TypeVar("Prepared", bound=Preparation | None)


def marked(prepared: Prepared, engine: Engine, algorithm: str) -> Prepared:
    """``prepared``, with the engine that made it, which traces and errors name."""
    if prepared is not None:
        prepared.made_by = engine, algorithm
    return prepared


class Traversal(Preparation, ABC):
    """An engine's preparation for searches of one graph."""

    searches_on: str = CPU  # the device of the graph that it searches: "cpu" or "cuda"
    one_device: ClassVar[bool] = True  # whether it uses the memory of one device only
    traces: ClassVar[bool] = False  # whether a traced `search` records its steps
    steps: list[Step] | None = None  # the levels of the last traced search, if `traces`

    @property
    def here(self) -> Graph:
        """The graph on the device where the engine searches it; it may be a copy."""
        here: Graph = self.graph.to(self.searches_on)
        return here

    def checks_mask(self, sources: np.ndarray, options: Options) -> bool:
        """Return True if `search` itself raises `InputError` for a masked source or target; if not, the caller does."""
        return False

    @abstractmethod
    def search(self, sources: np.ndarray, options: Options) -> Any:
        """Search from these vertices (int64, distinct), wait for the end, and return the input of `answer`.

        Only this method is timed.
        """

    @abstractmethod
    def answer(self, found: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Distances (int32, n) and predecessors (int32 or int64, n) in our conventions, on any device, from the value
        of `search`; not timed."""

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> BFSResult:
        """The result, on the graph's device, of the value ``found`` of `search`. Unless it is to ``own`` its arrays, it
        may be a view of the traversal's buffers."""
        device, placed = self.graph.device, copied if own else moved
        answer = self.answer(found)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TraversalError(f"engine {self.engine_name!r} returned no pair of distances and predecessors")
        distances, predecessors = answer
        self.require_array("distances", distances, self.graph.num_vertices, "int32")
        distances = placed(distances, device)
        if not options.predecessors:
            predecessors = None
        elif predecessors is not None:
            self.require_array("predecessors", predecessors, self.graph.num_vertices, "int32", "int64")
            predecessors = placed(predecessors, device)
        if own and device == CUDA:
            finish()
        searched = options.depth_limit, options.target, None, options.vertices
        result = BFSResult(self.graph.owner, sources, distances, predecessors, *searched)
        if not options.trace:
            return result
        trace = Trace.of(self.graph, distances, self.steps, result.stopped_at)
        trace.engine = self.engine_name and self.engine_name + ", deterministic" * options.deterministic
        return replace(result, trace=trace)

    def run(self, sources: np.ndarray, options: Options = DEFAULT, *, own: bool = False) -> BFSResult:
        """Search and answer. The result is valid until the next run, or longer if it is to ``own`` its arrays."""
        return self.result(self.search(sources, options), sources, options, own=own)


class Summary(NamedTuple):
    """Sums over the distances from each of k sources; see `rapids_bfs.algorithms.batch.BatchResult`."""

    reached: np.ndarray  # int64
    total: np.ndarray  # int64
    eccentricity: np.ndarray  # int32
    harmonic: np.ndarray  # float64

    @classmethod
    def of(cls, k: int) -> Summary:
        """The summary of sources that have reached only themselves."""
        return cls(np.ones(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int32), np.zeros(k))


class BatchTraversal(Preparation, ABC):
    """An engine's preparation for searches of one graph from many sources at once.

    If it is among the engine's `masks`, both methods take ``vertices`` by name, as `Options` has it.
    """

    batch_size: int  # sources that it searches from at once; its methods take any number
    searches_on: str = CPU  # besides the host, the device where it can write distances

    def current(self) -> AbstractContextManager[Any]:
        """A context in which the device that it searches on is current in this thread."""
        return nullcontext()

    @abstractmethod
    def distances(self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray) -> None:
        """Search from these vertices (int64, k), and fill ``distances`` (int32, k x n), on any device."""

    @abstractmethod
    def summary(self, sources: np.ndarray, depth_limit: int | None) -> Summary:
        """Search from these vertices (int64, k), and return the sums over their distances."""


class Betweenness(Preparation, ABC):
    """An engine's preparation for counting the shortest paths through the vertices or arcs of one graph."""

    @abstractmethod
    def scores(self, sources: np.ndarray, is_target: np.ndarray, endpoints: bool, edges: bool) -> np.ndarray:
        """The sums (float64) over pairs of these sources (int64, k) and the targets (bool, n), n or one per arc."""


class NeighborhoodSearch(Preparation, ABC):
    """A preparation for neighbourhoods in one graph, and for the arcs within them.

    Its arrays are on the graph's device, but for ``bounds``, which are on the host: what belongs to centre i is
    ``[bounds[i]:bounds[i + 1]]``.
    """

    def __init__(self, graph: Graph, direction: str) -> None:
        super().__init__(graph)
        self.direction = direction

    @property
    def followed(self) -> list[Graph]:
        """The graphs whose edges are followed: out of a vertex, into it, or both."""
        if self.direction == "all" and self.graph.directed:
            return [self.graph, self.graph.reverse]
        return [self.graph.reverse if self.direction == "in" else self.graph]

    @abstractmethod
    def search(self, centers: np.ndarray, hops: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds (int64), vertices and distances (int32) of what is within ``hops`` of the first of these vertices
        (int64), for as many of them as there is room, at least one."""

    @property
    @abstractmethod
    def most_arcs(self) -> int:
        """How many arcs are written at a time, unless those of a single centre are more."""

    @abstractmethod
    def count_arcs(self, bounds: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        """Where the arcs from vertices of each centre to others of the same centre begin, and where all end (int64, on
        the host)."""

    @abstractmethod
    def write_arcs(
        self, bounds: np.ndarray, vertices: np.ndarray, arc_bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The sources and targets of the arcs that `count_arcs` has counted."""


def bounds_of(sizes: np.ndarray) -> np.ndarray:
    """Where pieces of these sizes begin, one after the other, and where the last ends (int64)."""
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds


class Engine(ABC):
    """An implementation of BFS. Subclasses are registered as entry points."""

    name: ClassVar[str]
    algorithms: ClassVar[tuple[str, ...]]  # the first is the default
    searches_on: str = CPU  # the device of the graphs that it searches: "cpu" or "cuda"
    supports: ClassVar[Collection[str]] = ()  # the features among `OPTIONAL` that the default algorithm has
    # The algorithms that skip masked vertices; the others are given the graph without the edges of those.
    masks: ClassVar[Collection[str]] = ()
    checking: ClassVar[Collection[str]] = ()  # the algorithms that can verify each level

    def unavailable(self) -> str | None:
        """None, or one line: what is missing and how to install it."""
        return None

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        """None, or one line: the feature of this search that the engine lacks, and what to request instead.

        This is the only way to refuse a search. It is called if `unavailable` returns None. By default an engine
        refuses the features that it does not declare in `supports` and `checking`.
        """
        if not isinstance(graph, Graph):
            return f"{self.name} searches a graph in one piece: use graph.to('cpu')"
        if options is DEFAULT and sources == 1:  # saves a tenth of the time of a tiny search
            return None
        asked = (
            options.depth_limit is not None,
            options.target is not None,
            options.deterministic and options.predecessors,  # distances alone are the same in any search
            sources > 1,
            options.vertices is not None,
        )
        for option, is_asked in zip(OPTIONAL, asked, strict=True):
            if is_asked and option not in self.supports:
                return f"{self.name} does not support {option}: drop the option, or use the engine 'cpu'"
        if options.check and algorithm not in self.checking:
            return (
                "this engine cannot check its levels: use 'numba-cuda' or 'cupy' with one of the algorithms "
                "block-queue, frontier-mask, two-kernel"
            )
        return None

    @abstractmethod
    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        """Do everything that does not depend on the source."""

    def prepare_over(self, graph: Graph, algorithm: str, gpus: int) -> Traversal:
        """`prepare`, over so many GPUs if the engine can use several."""
        return self.prepare(graph, algorithm)

    def prepare_batch(self, graph: Graph, algorithm: str) -> BatchTraversal:
        """Do everything that does not depend on the sources. By default searches run one after the other."""
        return OneByOne(graph, marked(self.prepare(graph, algorithm), self, algorithm))

    def prepare_betweenness(self, graph: Graph, algorithm: str) -> Betweenness | None:
        """Do everything that does not depend on the sources; None if the engine has no betweenness."""
        return None


class OneByOne(BatchTraversal):
    """The engine's own searches, one after the other."""

    batch_size = 1

    def __init__(self, graph: Graph, traversal: Traversal) -> None:
        super().__init__(graph)
        self.traversal = traversal

    def distances(
        self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray, vertices: Any = None
    ) -> None:
        for row, source in zip(distances, sources, strict=True):
            row[:] = self._from(source, depth_limit, vertices)

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: Any = None) -> Summary:
        summary = Summary.of(len(sources))
        for place, source in enumerate(sources):
            distances = self._from(source, depth_limit, vertices)
            counts = np.bincount(distances[distances >= 0])
            levels = np.arange(len(counts))
            summary.reached[place] = counts.sum()
            summary.total[place] = counts @ levels
            summary.eccentricity[place] = levels[-1]
            summary.harmonic[place] = (counts[1:] / levels[1:]).sum()
        return summary

    def _from(self, source: np.int64, depth_limit: int | None, vertices: Any) -> np.ndarray:
        options = Options(depth_limit, predecessors=False, vertices=vertices)
        result = self.traversal.run(np.array([source]), options)
        return to_host(result.distances)
