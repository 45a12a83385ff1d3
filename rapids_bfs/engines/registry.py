"""The registered engines by name, and their preparations for a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from .._core.arguments import engine_name, quoted
from .._core.cuda.driver import driver, no_device
from .._core.forks import in_each_child
from ..errors import LONGEST_MESSAGE, InputError, described, shortened
from ..graph import Graph
from .base import DEFAULT, BatchTraversal, Betweenness, Engine, Options, Prepared, Traversal, marked
from .entry_points import AUTO, GROUP, Unusable, declared, fault_of
from .gpu.simulator import simulated

# The engines for "auto", of which the first that can run here is taken, and their modules.
PREFERENCE = {"cupy": "gpu.cupy:CuPy", "numba-cuda": "gpu.numba_cuda:NumbaCUDA", "cpu": "cpu:CPU"}


@dataclass(frozen=True)
class EngineSpec:
    """An engine and one of its algorithms."""

    engine: Engine = field(compare=False)
    algorithm: str
    name: str  # "engine" for the default algorithm, else "engine:algorithm"
    known_to_run: bool = field(default=False, init=False, compare=False, repr=False)

    def unavailable(self) -> str | None:
        """`Engine.unavailable`, which is not asked again once it was None: many engines search for packages under
        Python's import lock, which an interrupt may leave locked. A reason may be temporary: in a signal handler, an
        import fails that it has interrupted."""
        if not self.known_to_run:
            if reason := unavailable(self.engine):
                return reason
            object.__setattr__(self, "known_to_run", True)  # the one field that changes
        return None

    @property
    def masks(self) -> bool:
        """True if it skips masked vertices; else it is given the graph without their edges."""
        return self.algorithm in self.engine.masks

    def prepare(self, graph: Graph) -> Traversal:
        """A new preparation of the engine for ``graph``, which is not cached."""
        return marked(self.engine.prepare(graph, self.algorithm), self.engine, self.algorithm)

    def traversal(self, graph: Graph) -> Traversal:
        """The engine prepared for ``graph``, the same one at every call."""
        return self._kept(graph, self.name, self.engine.prepare)

    def batch_traversal(self, graph: Graph) -> BatchTraversal:
        """The engine prepared for many sources of ``graph``, the same one at every call."""
        return self._kept(graph, f"{self.name}, batches", self.engine.prepare_batch)

    def betweenness(self, graph: Graph) -> Betweenness | None:
        """The engine prepared for the betweenness of ``graph``, the same one at every call; None if it has none."""
        return self._kept(graph, f"{self.name}, betweenness", self.engine.prepare_betweenness)

    def require(self, graph: Graph, options: Options = DEFAULT, sources: int = 1) -> None:
        """Raise `InputError` if the engine cannot run this search."""
        if reason := self.engine.unsupported(graph, self.algorithm, options, sources):
            raise InputError(f"engine {self.name!r} cannot run this search: {reason}")

    def _kept(self, graph: Graph, key: str, prepare: Callable[[Graph, str], Prepared]) -> Prepared:
        """The preparation that ``prepare`` returns for ``graph``, cached with it."""
        traversals = graph.traversals
        found: Prepared | None = traversals.get(key)
        if found is not None and found.made_by != (self.engine, self.algorithm):  # registered again, maybe edited
            traversals.pop(key, None)
            found = None
        if found is None:
            prepared = marked(prepare(graph.for_engines, self.algorithm), self.engine, self.algorithm)
            found = traversals.setdefault(key, prepared)
        return found


_registry: dict[str, dict[str, Engine]] = {}
_preferred: dict[str, Engine] = {}  # those that have been loaded


def gpus() -> tuple[str, ...]:
    """The names of this machine's GPUs, from the NVIDIA driver; empty without a driver."""
    return driver().devices


def registered() -> dict[str, Engine]:
    """All engines by name, including those that cannot run here, in the order of `PREFERENCE`, then by name."""
    if GROUP not in _registry:
        found = {name: preferred(name) for name in PREFERENCE} | declared(PREFERENCE)
        _registry.setdefault(GROUP, found)  # the same one in every thread
    return _registry[GROUP]


def preferred(name: str) -> Engine:
    """The engine of `PREFERENCE` that has this name, without loading the other entry points, which takes long."""
    if GROUP in _registry:  # where it may have been replaced
        return _registry[GROUP][name]
    if name not in _preferred:
        module, _, engine = PREFERENCE[name].partition(":")
        _preferred.setdefault(name, getattr(import_module(f".{module}", __package__), engine)())
    return _preferred[name]


def unavailable(engine: Engine) -> str | None:
    """`Engine.unavailable`, in one line. If it raises an exception, which it should not, that is the reason."""
    try:
        reason = engine.unavailable()
        return shortened(" ".join(str(reason).split()), LONGEST_MESSAGE) if reason else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        module = type(engine).__module__
        return f"its method unavailable, of {module}, raised {described(error)}: update or repair that package"


def _automatic(deterministic: bool) -> Engine:
    """The first engine that can run here, of `PREFERENCE`, then of all. GPU engines are not imported without a GPU."""
    for name in PREFERENCE if simulated() or no_device() is None else ("cpu",):
        if _can_run(engine := preferred(name), deterministic):
            return engine
    for engine in registered().values():
        if _can_run(engine, deterministic):
            return engine
    raise InputError(f"no engine can run here: {unavailable(preferred('cpu'))}")


def _can_run(engine: Engine, deterministic: bool) -> bool:
    return ("deterministic" in engine.supports or not deterministic) and unavailable(engine) is None


def register(engine: Engine) -> None:
    """Add an engine for the rest of this process. Packages use an entry point.

    An engine whose class has the same module and name is replaced, as when a notebook's cell runs again.

    Raises `InputError` unless it is an `Engine` with a name and algorithms, or if another engine has its name.
    """
    if fault := fault_of(engine):
        raise InputError(
            "register takes an instance of a subclass of Engine with a name and algorithms, not "
            f"{quoted(engine)}, {fault}"
        )
    other = registered().get(engine.name)
    if not (other is None or isinstance(other, Unusable) or _class_of(other) == _class_of(engine)):
        raise InputError(f"an engine {engine.name!r} exists, {_class_of(other)}: give {_class_of(engine)} another name")
    registered()[engine.name] = engine
    resolve.cache_clear()


def _class_of(engine: Engine) -> str:
    return f"{type(engine).__module__}.{type(engine).__qualname__}"


@cache
def resolve(text: str, deterministic: bool = False) -> EngineSpec:
    """The engine and algorithm written ``engine``, ``engine:algorithm`` or ``auto``: the first engine that can run
    here, and search deterministically if ``deterministic``. Raises `InputError` if there is no such engine."""
    name, _, algorithm = text.partition(":")
    if text == AUTO:
        engine = _automatic(deterministic)
        name = engine.name
    elif name in PREFERENCE:
        engine = preferred(name)
    elif name in registered():
        engine = registered()[name]
    else:
        raise InputError(f"unknown engine {quoted(name)}: choose from {', '.join(registered())}")
    if isinstance(engine, Unusable):
        algorithm = ""  # nobody knows which it has
    if algorithm and algorithm not in engine.algorithms:
        raise InputError(f"engine {name!r} has no algorithm {quoted(algorithm)}: it has {', '.join(engine.algorithms)}")
    algorithm = algorithm or engine.algorithms[0]
    return EngineSpec(engine, algorithm, name if algorithm == engine.algorithms[0] else f"{name}:{algorithm}")


in_each_child(resolve.cache_clear)  # CUDA does not survive a fork


def require(text: str, deterministic: bool = False) -> EngineSpec:
    """`resolve`, if the engine can run here. Raises `InputError` if there is no such engine or it cannot run."""
    spec = resolve(engine_name(text), deterministic)
    if reason := spec.unavailable():
        raise InputError(f"engine {spec.name!r} cannot run here: {reason}")
    return spec
