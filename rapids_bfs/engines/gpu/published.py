"""Hosts of the published GPU kernels: a launch or two for each level, for any library that can launch them.

A `Device` is the library; a `LevelByLevel` is a search on it. Kernels are identified by name alone, since those of
`kernels/cuda` and `kernels/numba_cuda` have the same names and arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from ..._core.cuda.arrays import CUDA
from ..._core.memory import require_free
from ...errors import TraversalError
from ...graph import Graph
from ...kernels import PROGRESS, TARGET_LEVEL
from ...result import BFSResult
from ...trace import Step
from ..base import Options, Traversal, kernel_limit
from .launch import CompiledKernel, InTurn, Within

NONE = -1
SOURCES_AT_ONCE = 1024

Needs = dict[str, tuple[int, Any]]  # the lengths and types of arrays, by name
Kernel = Callable[..., None]  # called with the number of blocks and the arguments; asynchronous


class Device(ABC):
    """The memory of a GPU and one stream of work on it, by one library."""

    engine: ClassVar[str]
    searches_on: str  # the device of the graphs that it takes: "cuda", or "cpu" if it copies them itself
    threads: int  # of a block
    resident_blocks: int  # blocks that run at the same time
    multiprocessors: int
    most_shared_bytes: int  # of a block
    l2_bytes: int
    cooperative: bool = True  # can it launch blocks that wait for each other?
    time_limit: bool = False  # does the driver end kernels that run for seconds, since the device has a display?
    small_rows: ClassVar[bool] = False  # does it have the kernel `search_small_rows`?
    deep_by_grid: ClassVar[bool] = False  # are deep levels expanded by all blocks, not by those of a cluster?
    context: Any  # the driver's
    stream_handle: int  # the driver's

    def current(self) -> AbstractContextManager[Any]:
        """A context manager in which the device is this thread's, for every library."""
        return Within(self.context)

    def in_turn(self) -> AbstractContextManager[Callable[[int | None], None]]:
        """A context manager whose value makes the context of one device after another this thread's."""
        return InTurn()

    @abstractmethod
    def active(self) -> AbstractContextManager[Any]:
        """A context manager in which the device is current, and allocations and launches go to the stream."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """`active`. An exception propagates only when the stream is done, since its arrays are freed then."""
        with self.active():
            try:
                yield
            except BaseException:
                self.synchronize()
                raise

    @abstractmethod
    def free_bytes(self) -> float:
        """Bytes that can still be allocated."""

    @abstractmethod
    def upload(self, array: np.ndarray) -> Any:
        """``array`` on the device: the same memory if it is there, else a copy."""

    @abstractmethod
    def empty(self, length: int, dtype: Any) -> Any:
        """An array on the device."""

    def allocated(self, needs: Needs) -> dict[str, Any]:
        """Arrays on the device, by name."""
        return {name: self.empty(*need) for name, need in needs.items()}

    @abstractmethod
    def host(self, array: Any) -> np.ndarray:
        """A copy of a device array in the host's memory."""

    @abstractmethod
    def found(self, array: Any) -> Any:
        """``array`` of the device in the form that `Traversal.answer` returns: CuPy's, or NumPy's."""

    @abstractmethod
    def mapped(self, length: int, dtype: Any) -> tuple[Any, Any]:
        """Pinned memory of the host that kernels can access: an array for the host, and an argument for kernels."""

    @abstractmethod
    def absent(self, array: Any) -> Any:
        """The argument for a kernel that is to work without ``array``."""

    @abstractmethod
    def kernels(self, file: str, vertex: np.dtype, offset: np.dtype) -> dict[str, Kernel]:
        """The kernels of a file by name, for these types."""

    @abstractmethod
    def compiled(
        self, file: str, kernel: str, vertex: np.dtype, offset: np.dtype, threads: int, blocks: int
    ) -> CompiledKernel:
        """A kernel for these types, and blocks of at most ``threads`` threads, ``blocks`` of them a multiprocessor."""

    def compiled_together(
        self, file: str, vertex: np.dtype, offset: np.dtype, threads: int, blocks: int
    ) -> dict[str, CompiledKernel]:
        """All kernels of a file, as by `compiled`."""
        raise NotImplementedError(f"engine {self.engine!r} has no {file}")

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all work in the stream."""


class DeviceTraversal(Traversal):
    """A search on a `Device`."""

    def __init__(self, graph: Graph, device: Device) -> None:
        super().__init__(graph)
        self.device = device
        self.searches_on = device.searches_on

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> BFSResult:
        with self.device.current():
            return super().result(found, sources, options, own=own)


class LevelCheck:
    """Verifies a search after each of its levels, to debug kernels.

    ``after`` takes host arrays, once a level; it is slow and plain on purpose.
    """

    def __init__(self, distances: np.ndarray) -> None:
        """``distances`` are those before the first level: 0 at the sources, -1 elsewhere."""
        self.before = distances

    def after(self, level: int, distances: np.ndarray, frontier: np.ndarray, said: bool) -> None:
        """Check the state after a level: the distances, the vertices in the frontier, and ``said``, the kernel's own
        answer whether there are any.

        Raises `TraversalError`, naming the level and the first vertex that is wrong.
        """
        old = self.before >= 0
        new = distances == level
        _refuse(level, np.flatnonzero(old & (distances < 0)), "was visited and no longer is")
        _refuse(level, np.flatnonzero(old & (distances != self.before)), "had a distance, which changed")
        _refuse(level, np.flatnonzero(~old & (distances >= 0) & ~new), "was reached with the distance of another level")

        vertices, times = np.unique(frontier, return_counts=True)
        if len(vertices) and not 0 <= vertices[0] <= vertices[-1] < len(distances):
            raise TraversalError(f"level {level}: the frontier holds {vertices[0]}..{vertices[-1]}, not all vertices")
        _refuse(level, vertices[times > 1], "is in the frontier more than once")
        _refuse(level, vertices[~new[vertices]], "is in the frontier and was not reached at this level")
        if len(vertices) != np.count_nonzero(new):
            missing = np.setdiff1d(np.flatnonzero(new), vertices)
            _refuse(level, missing, "was reached at this level and is not in the frontier")
        if said != bool(len(vertices)):
            raise TraversalError(
                f"level {level}: reached {len(vertices)} vertices and reported {'some' if said else 'none'}"
            )
        self.before = distances


def _refuse(level: int, vertices: np.ndarray, fault: str) -> None:
    if len(vertices):
        others = f" (and {len(vertices) - 1} others)" if len(vertices) > 1 else ""
        raise TraversalError(f"level {level}: vertex {vertices[0]} {fault}{others}")


class LevelByLevel(DeviceTraversal):
    """A search that returns to the host after each level, to learn whether to go on."""

    traces = True
    file: ClassVar[str]

    def __init__(self, graph: Graph, device: Device, *buffers: tuple[int, Any]) -> None:
        """``buffers`` are the lengths and types of a subclass's arrays besides the graph and the answer."""
        super().__init__(graph, device)
        n, vertex = graph.num_vertices, graph.targets.dtype
        self.n = vertex.type(n)
        self.vertex = vertex.type
        self.blocks = max(1, -(-n // device.threads))
        needs = [(n, np.int32), (n, vertex), *buffers]
        require_buffers(device, graph, needs)
        arrays = self.here.offsets, self.here.targets
        with device.active():
            self.offsets, self.targets = (device.upload(array) for array in arrays)
            self.distances, self.predecessors, *self.buffers = (device.empty(*need) for need in needs)
            self.no_predecessors = device.absent(self.predecessors)
            self.status, self.status_on_device = device.mapped(2, np.int64)
            self.sources, self.sources_on_device = device.mapped(SOURCES_AT_ONCE, vertex)
            self.kernels = device.kernels(self.file, vertex, graph.offsets.dtype)
            device.synchronize()

    @abstractmethod
    def reset(self, predecessors: Any) -> None:
        """Launch the kernel that resets the arrays."""

    @abstractmethod
    def seed(self, begin: int, count: int) -> None:
        """Launch the kernel that adds the next ``count`` of ``sources`` to the frontier, after the first ``begin``."""

    @abstractmethod
    def advance(self, level: int, target: int, predecessors: Any) -> bool:
        """Launch a level and wait for it; did it reach any vertex?"""

    @abstractmethod
    def frontier_vertices(self) -> np.ndarray:
        """The vertices that the last level reached, from the kernel's own frontier."""

    def search(self, sources: np.ndarray, options: Options) -> bool:
        target = NONE if options.target is None else options.target
        limit = kernel_limit(options.depth_limit)
        predecessors = self.predecessors if options.predecessors else self.no_predecessors
        self.steps = [] if options.trace else None
        with self.device.working():
            self._start(sources, predecessors)
            if options.trace:
                self.device.synchronize()
            check = LevelCheck(self.device.host(self.distances)) if options.check else None
            level = 0
            going_on = target not in sources
            while going_on and level < limit:
                level += 1
                if level > self.n:  # there are at most n levels, each of which reaches a vertex, but for the last
                    raise TraversalError(f"level {level} of a graph with {self.n} vertices: it should have ended")
                began = perf_counter()
                going_on = self.advance(level, target, predecessors)
                if self.steps is not None:
                    self.steps.append(Step("top-down", 1e3 * (perf_counter() - began)))
                if check:
                    check.after(level, self.device.host(self.distances), self.frontier_vertices(), going_on)
                going_on = going_on and self.status[TARGET_LEVEL] != level
            if level == 0:
                self.device.synchronize()
        return options.predecessors

    def _start(self, sources: np.ndarray, predecessors: Any) -> None:
        """Reset the arrays and put the sources into the frontier."""
        self.device.synchronize()  # an interrupt may have left a level running
        self.status[PROGRESS] = self.status[TARGET_LEVEL] = 0
        self.reset(predecessors)
        for begin in range(0, len(sources), SOURCES_AT_ONCE):
            if begin:
                self.device.synchronize()  # the sources before these may still be read
            some = sources[begin : begin + SOURCES_AT_ONCE]
            self.sources[: len(some)] = some
            self.seed(begin, len(some))

    def answer(self, found: bool) -> tuple[np.ndarray, np.ndarray | None]:
        with self.device.active():
            return self.device.found(self.distances), self.device.found(self.predecessors) if found else None


class Masks(LevelByLevel):
    """The common base of `frontier_mask` and `two_kernel`: a thread per vertex, and three masks over the vertices."""

    def __init__(self, graph: Graph, device: Device) -> None:
        mask = (graph.num_vertices, np.bool_)
        super().__init__(graph, device, mask, mask, mask, (1, np.int32))
        self.frontier, self.upcoming, self.visited, self.announced = self.buffers

    @property
    def masks(self) -> tuple[Any, Any, Any]:
        return self.frontier, self.upcoming, self.visited

    def reset(self, predecessors: Any) -> None:
        self.kernels["reset"](self.blocks, self.n, *self.masks, self.distances, predecessors, self.announced)

    def seed(self, begin: int, count: int) -> None:
        blocks = -(-count // self.device.threads)
        sources = (np.int32(count), self.sources_on_device)
        self.kernels["seed"](blocks, *sources, self.frontier, self.visited, self.distances)

    def frontier_vertices(self) -> np.ndarray:
        return np.flatnonzero(self.device.host(self.frontier))


class FrontierMask(Masks):
    """`frontier_mask`: the masks of this level and of the next are swapped."""

    file = "frontier_mask"

    def advance(self, level: int, target: int, predecessors: Any) -> bool:
        rows, answer = (self.offsets, self.targets, self.n), (self.distances, predecessors)
        status = self.announced, self.status_on_device
        self.kernels["expand"](self.blocks, *rows, np.int32(level), self.vertex(target), *self.masks, *answer, *status)
        self.device.synchronize()
        self.frontier, self.upcoming = self.upcoming, self.frontier
        return bool(self.status[PROGRESS] == level)


class TwoKernel(Masks):
    """`two_kernel`: expand into the second mask, then commit it."""

    file = "two_kernel"

    def advance(self, level: int, target: int, predecessors: Any) -> bool:
        number = np.int32(level)
        self.kernels["expand"](
            self.blocks, self.offsets, self.targets, self.n, number, *self.masks, self.distances, predecessors
        )
        self.kernels["commit"](
            self.blocks, self.n, number, self.vertex(target), *self.masks, self.announced, self.status_on_device
        )
        self.device.synchronize()
        return bool(self.status[PROGRESS] == level)


class BlockQueue(LevelByLevel):
    """`block_queue`: the frontier is a run of a queue, ``queue[begin:end]``."""

    file = "block_queue"

    def __init__(self, graph: Graph, device: Device) -> None:
        super().__init__(graph, device, (graph.num_vertices, graph.targets.dtype), (1, np.int64), (1, np.uint32))
        self.queue, self.tail, self.finished = self.buffers
        self.begin = self.end = 0

    def reset(self, predecessors: Any) -> None:
        self.kernels["reset"](self.blocks, self.n, self.distances, predecessors, self.finished)

    def seed(self, begin: int, count: int) -> None:
        blocks = -(-count // self.device.threads)
        place = self.vertex(begin)
        self.kernels["seed"](
            blocks, np.int32(count), self.sources_on_device, place, self.queue, self.tail, self.distances
        )
        self.begin, self.end = 0, begin + count

    def advance(self, level: int, target: int, predecessors: Any) -> bool:
        blocks = 1 << (self.end - self.begin - 1).bit_length()  # a power of two: Numba keeps few launch configurations
        blocks = min(blocks, self.device.resident_blocks)
        frontier = self.offsets, self.targets, self.vertex(self.begin), self.vertex(self.end)
        found = self.queue, self.tail, self.distances, predecessors, self.finished, self.status_on_device
        self.kernels["expand"](blocks, *frontier, np.int32(level), self.vertex(target), *found)
        self.device.synchronize()
        self.begin, self.end = self.end, int(self.status[PROGRESS])
        return self.begin < self.end

    def frontier_vertices(self) -> np.ndarray:
        return self.device.host(self.queue)[self.begin : self.end]


def bytes_of(buffers: Iterable[tuple[int, Any]]) -> int:
    """The bytes of arrays of these lengths and types."""
    return sum(length * np.dtype(dtype).itemsize for length, dtype in buffers)


def require_buffers(device: Device, graph: Graph, buffers: Iterable[tuple[int, Any]]) -> None:
    """Raise `DeviceMemoryError` if the buffers, and the graph unless it is there, do not fit into the free memory of
    the device."""
    needed = bytes_of(buffers)
    if not graph.is_on(CUDA):
        needed += graph.nbytes
    require_free(needed, graph.name, device.free_bytes, f"device memory on engine {device.engine!r}")


ALGORITHMS: dict[str, Callable[[Graph, Device], LevelByLevel]] = {
    "block-queue": BlockQueue,  # the simulator's default: the work of its levels is proportional to their edges
    "frontier-mask": FrontierMask,
    "two-kernel": TwoKernel,
}
