"""The host's side of `direction_optimizing.cu`: a whole search in one launch."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, TraversalError
from ..graph import Graph
from ..trace import Step
from . import Options, Traversal
from ._levels import require_device_bytes

if TYPE_CHECKING:
    from .cupy import CuPyDevice

NUMBER, LEVELS, GIVEN_UP = range(3)  # elements of `status`
STATE_BYTES = 1024  # no less than sizeof(State)
TILE = 32  # as in the kernel: bitmap words that a warp sweeps at a time, at most
WARP = 32
GROUP = 4  # targets are loaded in groups of so many
ALONE_UNROLL = 4  # as in the kernel: edges that a thread of a block alone takes
SMALL_ARCS = 1 << 14  # a graph with fewer is searched by one block
SPINS = 20_000  # looks at the status before the host waits in the driver


@dataclass(frozen=True)
class Tuning:
    """What a search may be tuned by; no answer depends on it."""

    alpha: int = 15  # bottom-up when the frontier has more than 1/alpha of the unexplored edges
    beta: int = 24  # top-down again when the frontier shrinks below 1/beta of the vertices
    alone: int = 2048  # a frontier with no more edges is one block's work
    threads: int = 512  # of a block
    blocks: int = 1  # of a multiprocessor, as the compiler is told
    grid: int | None = None  # blocks in all, at most; None: as many as the device holds, or 1 for a small graph
    spin: bool = True  # wait by looking at mapped memory, not in the driver


DEFAULT = Tuning()

POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "hub", "isolated", "visited", "other", "queue", "queued"),
    *("distances", "predecessors", "sources", "state", "trace", "status"),
)
NUMBERS = (
    *("n", "m", "count", "source", "depth_limit", "target", "alpha", "beta", "alone", "capacity", "edge_bits"),
    *("tile", "number"),
)


class Search(ctypes.Structure):
    """The kernel's parameter, field by field; see the kernel for what they mean."""

    _fields_ = [(name, ctypes.c_void_p) for name in POINTERS] + [(name, ctypes.c_int64) for name in NUMBERS]


class DirectionOptimizing(Traversal):
    """A search in one cooperative launch, its parameters in a structure of which a run changes a few fields.

    `answer` copies distances and predecessors to the host; they stay on the device until then.
    """

    traces = True

    def __init__(self, graph: Graph, device: CuPyDevice, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph)
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        self.edge_bits = m.bit_length()
        if n.bit_length() + self.edge_bits > 64:
            raise InputError(f"{graph.name} has too many vertices and edges to count both in 64 bits")
        self.device = device
        self.device_id = device.cupy.cuda.Device().id
        reverse = graph.reverse
        words = -(-n // WARP)
        needs = [
            (n, np.int32),  # distances
            (n, vertex),  # predecessors
            (n, vertex),  # hub
            (2 * n, offset),  # queue
            (n, vertex),  # queued
            (words, np.uint32),  # isolated
            (2 * words, np.uint32),  # visited
            (STATE_BYTES, np.uint8),
        ]
        uploads = [] if reverse is graph else [(n + 1, reverse.offsets.dtype), (m, vertex)]
        with device.active():
            require_device_bytes(device, graph, needs + uploads)
            self.offsets, self.targets = device.upload(graph.offsets), self._padded(graph.targets)
            self.in_offsets, self.in_targets = self.offsets, self.targets
            if reverse is not graph:
                self.in_offsets, self.in_targets = device.upload(reverse.offsets), self._padded(reverse.targets)
            self.buffers = [device.empty(*need) for need in needs]
            distances, predecessors, hub, queue, queued, isolated, visited, state = self.buffers
            self.distances, self.predecessors = distances, predecessors
            for array, value in ((distances, -1), (predecessors, -1), (state, 0)):
                array.fill(value)
            self.status, status = device.mapped(3, np.int64)
            self.sources, sources = device.mapped(1, vertex)
            self.trace: Any = None  # allocated by the first search that is traced
            self.search_parameters = Search(
                offsets=self.offsets.data.ptr,
                targets=self.targets.data.ptr,
                in_offsets=self.in_offsets.data.ptr,
                in_targets=self.in_targets.data.ptr,
                hub=hub.data.ptr,
                isolated=isolated.data.ptr,
                visited=visited.data.ptr,
                other=visited.data.ptr + visited.nbytes // 2,
                queue=queue.data.ptr,
                queued=queued.data.ptr,
                distances=distances.data.ptr,
                state=state.data.ptr,
                sources=int(sources),
                status=int(status),
                n=n,
                m=m,
                edge_bits=self.edge_bits,
            )
            self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.search_parameters))
            self.tune(tuning)
            prepare = self._function("prepare")
            blocks = min(device.resident_blocks, -(-words // 8))
            in_edges = (self.in_offsets, self.in_targets)
            prepare((blocks,), (256,), (vertex.type(n), self.offsets, *in_edges, hub, isolated))
            device.synchronize()

    def _padded(self, targets: np.ndarray) -> Any:
        """A copy on the device with room for whole groups."""
        array = self.device.empty(-(-len(targets) // GROUP) * GROUP, targets.dtype)
        array.fill(0)
        if len(targets):
            array[: len(targets)].set(targets)
        return array

    def _function(self, name: str) -> Any:
        from .cupy import module

        vertex, offset = self.graph.targets.dtype.itemsize, self.graph.offsets.dtype.itemsize
        options = (f"-DTHREADS={self.tuning.threads}", f"-DBLOCKS={self.tuning.blocks}")
        compiled, names = module("direction_optimizing", vertex, offset, *options)
        return compiled.get_function(names[name])

    def tune(self, tuning: Tuning) -> None:
        """Search like this from now on."""
        from cupy_backends.cuda.api import driver

        self.tuning = tuning
        threads = tuning.threads
        warps = threads // WARP
        vertex, offset = self.graph.targets.dtype.itemsize, self.graph.offsets.dtype.itemsize
        capacity = min(tuning.alone, ALONE_UNROLL * threads)
        queues = 2 * capacity * (2 * offset + vertex)
        tiles = warps * TILE * (4 + 2 * WARP)  # a word and the list of its vertices
        shared = max(queues, tiles)
        kernel = self._function("search")
        kernel.max_dynamic_shared_size_bytes = shared
        function = kernel.kernel.ptr
        resident = driver.occupancyMaxActiveBlocksPerMultiprocessor(function, threads, shared)
        grid = resident * self.device.attribute("MultiProcessorCount")
        if not grid:
            raise InputError(f"this device has no room for a block of {threads} threads and {shared:,} bytes")
        if tuning.grid is not None:
            grid = min(grid, tuning.grid)
        elif self.graph.num_arcs < SMALL_ARCS:
            grid = 1

        words = -(-self.graph.num_vertices // WARP)
        tile = 1
        while tile < TILE and words > 2 * tile * grid * warps:
            tile *= 2
        parameters = self.search_parameters
        parameters.alpha, parameters.beta = tuning.alpha, tuning.beta
        parameters.alone, parameters.capacity, parameters.tile = capacity, capacity, tile

        stream = self.device.stream.ptr
        launch = driver.launchCooperativeKernel
        arguments = (function, grid, 1, 1, threads, 1, 1, shared, stream, ctypes.addressof(self.parameters))
        self.launch = lambda: launch(*arguments)
        self.set_device = self.device.cupy.cuda.runtime.setDevice
        self.kernel = kernel

    def search(self, sources: np.ndarray, options: Options) -> bool:
        if options.deterministic:
            raise InputError(f"engine {self.device.engine!r} cannot search deterministically: use engine='cpu'")
        n = self.graph.num_vertices
        parameters = self.search_parameters
        first = parameters.source = int(sources[0])
        count = parameters.count = len(sources)
        if count > 1:
            if count > len(self.sources):
                self.sources, on_device = self.device.mapped(count, self.sources.dtype)
                parameters.sources = int(on_device)
            self.sources[:count] = sources
        limit = n + 2  # the kernel gives up before that
        if options.depth_limit is not None:
            limit = min(options.depth_limit, limit)
        target = options.target
        if target is None:
            parameters.target = -1
        else:
            parameters.target = target
            if target == first or (count > 1 and target in sources):
                limit = 0
        parameters.depth_limit = limit
        parameters.predecessors = self.predecessors.data.ptr if options.predecessors else None
        parameters.trace = self._trace_buffer() if options.trace else None
        parameters.number += 1

        self.set_device(self.device_id)  # the caller may be another thread
        self.launch()
        self._wait(parameters.number)
        self.steps = self._steps() if options.trace else None
        return options.predecessors

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(self.graph.num_vertices + 2, np.uint64)
        return int(self.trace.data.ptr)

    def _wait(self, number: int) -> None:
        """Wait for the search of this number."""
        status = self.status
        if self.tuning.spin:
            for _ in range(SPINS):
                if status[NUMBER] == number:
                    break
            else:
                self.device.synchronize()
        else:
            self.device.synchronize()
        if status[NUMBER] != number:
            raise TraversalError(f"the search of {self.graph.name} did not report that it is done")
        if status[GIVEN_UP]:
            raise TraversalError(f"level {status[LEVELS]} of a graph with {self.graph.num_vertices} vertices")

    def _steps(self) -> list[Step]:
        """What each level did, from the device's notes."""
        with self.device.active():
            notes = self.device.host(self.trace[: int(self.status[LEVELS]) + 1])
        milliseconds = (np.diff(notes >> np.uint64(1)) / 1e6).tolist()
        directions = np.where(notes[1:] & np.uint64(1), "bottom-up", "top-down").tolist()
        return [Step(*step) for step in zip(directions, milliseconds, strict=True)]

    def answer(self, found: bool) -> tuple[np.ndarray, np.ndarray | None]:
        with self.device.active():
            return self.device.host(self.distances), self.device.host(self.predecessors) if found else None
