"""The host's side of `direction_optimizing.cu`: a whole search in one launch."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import CUDA, aligned, module
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
GROUP_BYTES = 16  # targets are loaded in groups of so many, which begin at multiples of it
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
    *("tile", "number", "fresh", "unreached"),
)
UNREACHED = -1  # the distance where there is none


class Search(ctypes.Structure):
    """The kernel's parameter, field by field; see the kernel for what they mean."""

    _fields_ = [(name, ctypes.c_void_p) for name in POINTERS] + [(name, ctypes.c_int64) for name in NUMBERS]


class DirectionOptimizing(Traversal):
    """A search in one cooperative launch, its parameters in a structure of which a run changes a few fields."""

    searches_on = CUDA

    def __init__(self, graph: Graph, device: CuPyDevice, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph)
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        self.edge_bits = m.bit_length()
        if n.bit_length() + self.edge_bits > 64:
            raise InputError(f"{graph.name} has too many vertices and edges to count both in 64 bits")
        self.device = device
        self.device_id = device.cupy.cuda.Device().id
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
        reversed_edges = [(n + 1, offset), (m, vertex)] if graph.directed else []
        require_device_bytes(device, graph, needs + reversed_edges)
        here, reverse = self.here, self.here.reverse
        with device.active():
            self.offsets, self.targets = self._adjacency(here)
            self.in_offsets, self.in_targets = self.offsets, self.targets
            if reverse is not here:
                self.in_offsets, self.in_targets = self._adjacency(reverse)
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
                unreached=UNREACHED,
            )
            self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.search_parameters))
            self.tune(tuning)
            prepare = self._function("prepare")
            blocks = min(device.resident_blocks, -(-words // 8))
            in_edges = (self.in_offsets, self.in_targets)
            prepare((blocks,), (256,), (vertex.type(n), self.offsets, *in_edges, hub, isolated))
            device.synchronize()

    def _adjacency(self, graph: Graph) -> tuple[Any, Any]:
        """The graph's own arrays; a copy of targets that do not begin where a group may."""
        return self.device.upload(graph.offsets), aligned(self.device.upload(graph.targets), GROUP_BYTES)

    def _function(self, name: str) -> Any:
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

        launch = driver.launchCooperativeKernel
        shape = (function, grid, 1, 1, threads, 1, 1, shared)
        arguments = ctypes.addressof(self.parameters)
        self.launch = lambda stream: launch(*shape, stream.ptr, arguments)
        self.set_device = self.device.cupy.cuda.runtime.setDevice
        self.kernel = kernel

    def search(self, sources: np.ndarray, options: Options) -> bool:
        self._search(sources, options, self.predecessors if options.predecessors else None, self.device.stream)
        self.steps = self._steps() if options.trace else None
        return options.predecessors

    def search_into(
        self, distances: Any, predecessors: Any, unreached: int, sources: np.ndarray, options: Options
    ) -> None:
        """Search on CuPy's current stream and write every element of ``distances`` (int32, n) and, unless it is None,
        of ``predecessors`` (of the graph's type of vertices, n); what they held does not matter.

        Where no source reaches the distance is ``unreached`` and the predecessor -1.
        """
        parameters = self.search_parameters
        parameters.distances, parameters.fresh, parameters.unreached = distances.data.ptr, True, unreached
        try:
            self._search(sources, options, predecessors, self.device.cupy.cuda.get_current_stream())
        finally:
            parameters.distances, parameters.fresh, parameters.unreached = self.distances.data.ptr, False, UNREACHED

    def _search(self, sources: np.ndarray, options: Options, predecessors: Any, stream: Any) -> None:
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
        parameters.predecessors = None if predecessors is None else predecessors.data.ptr
        parameters.trace = self._trace_buffer() if options.trace else None
        parameters.number += 1

        self.set_device(self.device_id)  # the caller may be another thread
        self.launch(stream)
        self._wait(parameters.number, stream)

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(self.graph.num_vertices + 2, np.uint64)
        return int(self.trace.data.ptr)

    def _wait(self, number: int, stream: Any) -> None:
        """Wait for the search of this number on ``stream``."""
        status = self.status
        if self.tuning.spin:
            for _ in range(SPINS):
                if status[NUMBER] == number:
                    break
            else:
                stream.synchronize()
        else:
            stream.synchronize()
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

    def answer(self, found: bool) -> tuple[Any, Any]:
        return self.distances, self.predecessors if found else None
