"""Engines: everything that can run a BFS, ours and others', behind one contract.

An engine is a class with the attributes and methods of `Engine`, named by an entry point of the group
``rapids_bfs.engines``. It is written ``name`` or ``name:algorithm``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..arguments import engine_name
from ..device import CPU, CUDA, copied, finish, moved
from ..driver import no_device
from ..errors import InputError
from ..forks import in_each_child
from ..graph import Graph
from ..result import BFSResult
from ..trace import Step, Trace
from ._simulator import simulated

Prepared = TypeVar("Prepared")

GROUP = "rapids_bfs.engines"
# What engine="auto" takes, the first that can run here, and where it is.
PREFERENCE = {"cupy": "cupy:CuPy", "numba-cuda": "numba_cuda:NumbaCUDA", "cpu": "cpu:CPU"}


@dataclass(frozen=True)
class Options:
    """How far to search, what to keep, and whether to watch. ``target`` is a vertex, not an id."""

    depth_limit: int | None = None
    target: int | None = None
    predecessors: bool = True
    deterministic: bool = False
    trace: bool = False
    check: bool = False


DEFAULT = Options()
NO_LIMIT = np.iinfo(np.int64).max  # as kernels take it


def kernel_limit(depth_limit: int | None) -> int:
    """A depth limit as kernels take it."""
    return NO_LIMIT if depth_limit is None else depth_limit


class Traversal(ABC):
    """An engine's preparation for one graph: uploaded arrays, buffers, whatever does not depend on the source."""

    searches_on: str = CPU  # where it wants its graph: "cpu" or "cuda"
    traces: ClassVar[bool] = False  # does a traced `search` note its steps?
    steps: list[Step] | None = None  # the levels of the last traced search, where `search` notes them

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lock = threading.RLock()  # the buffers serve one search at a time

    @property
    def here(self) -> Graph:
        """The graph where the engine searches it, which may be a copy."""
        return self.graph.on(self.searches_on)

    @abstractmethod
    def search(self, sources: np.ndarray, options: Options) -> Any:
        """Search from these vertices (int64, distinct), wait until it is done, and return what `answer` needs.

        This is the part that is timed.
        """

    @abstractmethod
    def answer(self, found: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Distances and predecessors in our conventions, wherever they are, from what `search` returned; not timed."""

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> BFSResult:
        """What `search` found, as a result that lives where the graph lives. Unless it is to ``own`` its arrays, it may
        show the traversal's buffers."""
        device, placed = self.graph.device, copied if own else moved
        distances, predecessors = self.answer(found)
        distances = placed(distances, device)
        predecessors = None if predecessors is None else placed(predecessors, device)
        if own and device == CUDA:
            finish()
        trace = Trace.of(self.graph, distances, self.steps) if options.trace else None
        return BFSResult(self.graph.owner, sources, distances, predecessors, options.depth_limit, options.target, trace)

    def run(self, sources: np.ndarray, options: Options = DEFAULT, *, own: bool = False) -> BFSResult:
        """Search and answer. The result holds until the next run, or longer if it is to ``own`` its arrays."""
        return self.result(self.search(sources, options), sources, options, own=own)


class Summary(NamedTuple):
    """What the distances from each of k sources add up to; see `rapids_bfs.batch.BatchResult`."""

    reached: np.ndarray  # int64
    total: np.ndarray  # int64
    eccentricity: np.ndarray  # int32
    harmonic: np.ndarray  # float64

    @classmethod
    def of(cls, k: int) -> Summary:
        """That of sources which have reached only themselves."""
        return cls(np.ones(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int32), np.zeros(k))


class BatchTraversal(ABC):
    """An engine's preparation for searches of one graph from many sources at once."""

    batch_size: int  # sources that it searches from at the same time; it takes any number
    searches_on: str = CPU  # where it can write distances: on the host always, and here

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lock = threading.RLock()  # the buffers serve one batch at a time

    def current(self) -> AbstractContextManager[Any]:
        """Within it, a device that it searches on is that of this thread."""
        return nullcontext()

    @abstractmethod
    def distances(self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray) -> None:
        """Search from these vertices (int64, k), and fill ``distances`` (int32, k x n), wherever it is."""

    @abstractmethod
    def summary(self, sources: np.ndarray, depth_limit: int | None) -> Summary:
        """Search from these vertices (int64, k), and keep only what their distances add up to."""


class Betweenness(ABC):
    """An engine's preparation for counting the shortest paths through the vertices or arcs of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lock = threading.RLock()

    @abstractmethod
    def scores(self, sources: np.ndarray, is_target: np.ndarray, endpoints: bool, edges: bool) -> np.ndarray:
        """The sums (float64) over pairs of these sources (int64, k) and the targets (bool, n), n or one per arc."""


class Engine(ABC):
    """A way to run BFS."""

    name: ClassVar[str]
    algorithms: ClassVar[tuple[str, ...]]  # the first is the default
    searches_on: str = CPU  # where its traversals want their graphs: "cpu" or "cuda"
    deterministic: ClassVar[bool] = False  # can the default algorithm search deterministically?
    checking: ClassVar[Collection[str]] = ()  # the algorithms that can verify each level

    def unavailable(self) -> str | None:
        """None, or one line: what is missing here and how to install it."""
        return None

    def declines(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        """None, or one line: what of this search the engine cannot do, and what to ask for instead.

        This is the one way to refuse a search. It is asked where `unavailable` has nothing to say.
        """
        if options.check and algorithm not in self.checking:
            return (
                "this engine cannot check its levels: use 'numba-cuda' or 'cupy' with one of the algorithms "
                "block-queue, frontier-mask, two-kernel"
            )
        return None

    @abstractmethod
    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        """Do all that does not depend on the source."""

    def prepare_over(self, graph: Graph, algorithm: str, gpus: int) -> Traversal:
        """`prepare`, over so many GPUs if the engine can use several."""
        return self.prepare(graph, algorithm)

    def prepare_batch(self, graph: Graph, algorithm: str) -> BatchTraversal:
        """Do all that does not depend on the sources; unless an engine knows better, they take turns."""
        from ._one_by_one import OneByOne

        return OneByOne(graph, self.prepare(graph, algorithm))

    def prepare_betweenness(self, graph: Graph, algorithm: str) -> Betweenness | None:
        """Do all that does not depend on the sources; None if the engine has no betweenness."""
        return None


@dataclass(frozen=True)
class Choice:
    """An engine and one of its algorithms."""

    engine: Engine = field(compare=False)
    algorithm: str
    name: str  # "engine" for the default algorithm, else "engine:algorithm"

    def traversal(self, graph: Graph) -> Traversal:
        """This choice prepared for ``graph``, the same one at every call."""
        return self._kept(graph, self.name, self.engine.prepare)

    def batch_traversal(self, graph: Graph) -> BatchTraversal:
        """This choice prepared for many sources of ``graph``, the same one at every call."""
        return self._kept(graph, f"{self.name}, batches", self.engine.prepare_batch)

    def betweenness(self, graph: Graph) -> Betweenness | None:
        """This choice prepared for the betweenness of ``graph``, the same one at every call; None if it has none."""
        return self._kept(graph, f"{self.name}, betweenness", self.engine.prepare_betweenness)

    def _kept(self, graph: Graph, key: str, prepare: Callable[[Graph, str], Prepared]) -> Prepared:
        """What ``prepare`` makes of ``graph``, kept with it."""
        traversals = graph.traversals
        found: Prepared | None = traversals.get(key)
        if found is None:
            found = traversals.setdefault(key, prepare(graph.for_engines, self.algorithm))
        return found


_registry: dict[str, dict[str, Engine]] = {}
_preferred: dict[str, Engine] = {}  # those that have been loaded


def registered() -> dict[str, Engine]:
    """Every engine by name, whether it can run here or not, in the order of `PREFERENCE`, then by name."""
    if GROUP not in _registry:
        from importlib.metadata import entry_points

        others = {point.name: point for point in entry_points(group=GROUP) if point.name not in PREFERENCE}
        found = {name: preferred(name) for name in PREFERENCE} | {
            name: others[name].load()() for name in sorted(others)
        }
        _registry.setdefault(GROUP, found)  # the same one in every thread
    return _registry[GROUP]


def preferred(name: str) -> Engine:
    """The engine of `PREFERENCE` that has this name, without a look at what else is installed, which takes long."""
    if GROUP in _registry:  # where it may have been replaced
        return _registry[GROUP][name]
    if name not in _preferred:
        module, _, engine = PREFERENCE[name].partition(":")
        _preferred.setdefault(name, getattr(import_module(f".{module}", __package__), engine)())
    return _preferred[name]


def _automatic(deterministic: bool) -> Engine:
    """The first that can run here, of `PREFERENCE`, then of all; those for a GPU are not imported without need."""
    for name in PREFERENCE if simulated() or no_device() is None else ("cpu",):
        if _can_run(engine := preferred(name), deterministic):
            return engine
    for engine in registered().values():
        if _can_run(engine, deterministic):
            return engine
    raise InputError(f"no engine can run here: {preferred('cpu').unavailable()}")


def _can_run(engine: Engine, deterministic: bool) -> bool:
    return (engine.deterministic or not deterministic) and engine.unavailable() is None


def register(engine: Engine) -> None:
    """Add an engine for the rest of this process, or replace the one of its name. A package has an entry point."""
    registered()[engine.name] = engine
    choose.cache_clear()


@cache
def choose(spec: str, deterministic: bool = False) -> Choice:
    """The choice written ``engine``, ``engine:algorithm`` or ``auto``, which is the first engine that can run here,
    deterministically if that is asked for. Raises `InputError` if there is no such engine."""
    name, _, algorithm = spec.partition(":")
    if spec == "auto":
        engine = _automatic(deterministic)
        name = engine.name
    elif name in PREFERENCE:
        engine = preferred(name)
    elif name in registered():
        engine = registered()[name]
    else:
        raise InputError(f"unknown engine {name!r}: there are {', '.join(registered())}")
    if algorithm and algorithm not in engine.algorithms:
        raise InputError(f"engine {name!r} has no algorithm {algorithm!r}: it has {', '.join(engine.algorithms)}")
    algorithm = algorithm or engine.algorithms[0]
    return Choice(engine, algorithm, name if algorithm == engine.algorithms[0] else f"{name}:{algorithm}")


in_each_child(choose.cache_clear)  # CUDA does not survive a fork


def ready(spec: str, deterministic: bool = False) -> Choice:
    """The choice written like this, that can run here. Raises `InputError` if there is no such engine or it cannot."""
    choice = choose(engine_name(spec), bool(deterministic))
    reason = choice.engine.unavailable()
    if reason:
        raise InputError(f"engine {choice.name!r} cannot run here: {reason}")
    return choice
