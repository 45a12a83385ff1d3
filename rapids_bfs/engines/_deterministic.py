"""The host's side of `deterministic.cu`: the tree of a sequential queue, in one launch."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import csr
from ..errors import InputError, TraversalError
from ..graph import Graph
from ..trace import Step
from . import Options
from ._levels import require_device_bytes

if TYPE_CHECKING:
    from ._direction_optimizing import DirectionOptimizing

NUMBER, LEVELS, GIVEN_UP = range(3)  # elements of `status`
STATIC_BYTES = 2048  # no less than the kernel has in shared memory beside its queues
STATE_BYTES = 1024  # no less than sizeof(State)
TILE = 32  # as in the kernel: bitmap words that a warp sweeps at a time, at most
WARP = 32
ALONE_UNROLL = 8  # as in the kernel: edges that a thread of a block alone takes
MOST_WARPS = 64  # of a multiprocessor
SMALL_ARCS = 1 << 14  # a graph with fewer is searched by one block
SPINS = 20_000  # looks at the status before the host waits in the driver


@dataclass(frozen=True)
class Tuning:
    """What a search may be tuned by; no answer depends on it."""

    alpha: int = 15  # a level is wide when its frontier has more than 1/alpha of the unexplored edges
    wide: int = 1 << 18  # and at least so many
    share: int = 4  # 1/share of the unexplored edges are expanded in order
    chunk: int = 1 << 16  # but at least so many; a multiple of 32
    patience: int = 8  # levels without an order
    alone: int = 4096  # a frontier with no more edges is one block's work
    threads: int = 512  # of a block
    blocks: int = 1  # of a multiprocessor, as the compiler is told
    grid: int | None = None  # blocks in all, at most; None: as many as the device holds, or 1 for a small graph


DEFAULT = Tuning()

POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "positions", "isolated", "visited", "other", "fresh", "marks"),
    *("counts", "queue", "queued", "rank", "distances", "predecessors", "sources", "state", "trace", "status"),
)
NUMBERS = (
    *("n", "m", "count", "depth_limit", "target", "alpha", "wide", "share", "chunk", "patience", "alone", "capacity"),
    *("edge_bits", "tile", "number"),
)


class Search(ctypes.Structure):
    """The kernel's parameter, field by field; see the kernel for what they mean."""

    _fields_ = [(name, ctypes.c_void_p) for name in POINTERS] + [(name, ctypes.c_int64) for name in NUMBERS]


def in_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Offsets and targets of the in-edges, each adjacency ascending, and where the out-edges do not ascend, the
    position of each in the adjacency of its source."""
    if csr.ascends(graph.offsets, graph.targets):
        return graph.reverse.offsets, graph.reverse.targets, None
    positions = csr.transposed_positions(graph.offsets, graph.targets)
    if graph.directed:
        return graph.reverse.offsets, graph.reverse.targets, positions
    return *csr.transpose(graph.offsets, graph.targets), positions


class Deterministic:
    """Deterministic searches beside the default ones of ``default``, whose graph and queue they use.

    Distances and predecessors are its own, so that neither kind of search has to know what the other left.
    """

    def __init__(self, default: DirectionOptimizing, tuning: Tuning = DEFAULT) -> None:
        self.default = default
        self.graph = graph = default.graph
        self.device = device = default.device
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        words = -(-n // WARP)
        most_warps = MOST_WARPS * device.attribute("MultiProcessorCount")
        offsets, targets, positions = in_edges(graph)
        own_in_edges = positions is not None and not graph.directed
        needs = [
            (n, np.int32),  # distances
            (n, vertex),  # predecessors
            (n, offset),  # rank
            (3 * words, np.uint32),  # visited, other, fresh
            (m // WARP + 1, np.uint32),  # marks
            (most_warps, np.uint64),  # counts
            (STATE_BYTES, np.uint8),
        ]
        uploads: list[tuple[int, Any]] = [] if positions is None else [(m, positions.dtype)]
        if own_in_edges:
            uploads += [(n + 1, offset), (m, vertex)]
        with device.active():
            require_device_bytes(device, graph, needs + uploads, uploaded=True)
            self.in_offsets, self.in_targets = default.in_offsets, default.in_targets
            if own_in_edges:
                self.in_offsets, self.in_targets = device.upload(offsets), default._padded(targets)
            self.positions = None if positions is None else device.upload(positions)
            self.buffers = [device.empty(*need) for need in needs]
            self.distances, self.predecessors, rank, bitmaps, marks, counts, state = self.buffers
            for array, value in ((self.distances, -1), (self.predecessors, -1), (bitmaps, 0), (state, 0)):
                array.fill(value)
            self.status, status = device.mapped(3, np.int64)
            self.sources, sources = device.mapped(1, vertex)
            self.trace: Any = None  # allocated by the first search that is traced
            device.synchronize()
        shared = default.search_parameters
        self.parameters = Search(
            offsets=shared.offsets,
            targets=shared.targets,
            in_offsets=self.in_offsets.data.ptr,
            in_targets=self.in_targets.data.ptr,
            positions=None if self.positions is None else self.positions.data.ptr,
            isolated=shared.isolated,
            visited=bitmaps.data.ptr,
            other=bitmaps.data.ptr + 4 * words,
            fresh=bitmaps.data.ptr + 8 * words,
            marks=marks.data.ptr,
            counts=counts.data.ptr,
            queue=shared.queue,
            queued=shared.queued,
            rank=rank.data.ptr,
            distances=self.distances.data.ptr,
            predecessors=self.predecessors.data.ptr,
            state=state.data.ptr,
            sources=int(sources),
            status=int(status),
            n=n,
            m=m,
            edge_bits=default.edge_bits,
        )
        self.arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.parameters))
        self.stale = False  # did the last search leave a distance that the kernel does not reset?
        self.tune(tuning)

    def _kernel(self) -> Any:
        from .cupy import module

        vertex, offset = self.graph.targets.dtype.itemsize, self.graph.offsets.dtype.itemsize
        options = (f"-DTHREADS={self.tuning.threads}", f"-DBLOCKS={self.tuning.blocks}")
        compiled, names = module("deterministic", vertex, offset, *options)
        return compiled.get_function(names["search"])

    def tune(self, tuning: Tuning) -> None:
        """Search like this from now on."""
        from cupy_backends.cuda.api import driver

        self.tuning = tuning
        threads = tuning.threads
        warps = threads // WARP
        vertex, offset = self.graph.targets.dtype.itemsize, self.graph.offsets.dtype.itemsize
        entry = 2 * (2 * offset + vertex)  # in each of two queues
        most = self.device.attribute("MaxSharedMemoryPerBlockOptin") - STATIC_BYTES
        capacity = min(tuning.alone, ALONE_UNROLL * threads, most // entry)
        queues = capacity * entry
        tiles = warps * TILE * (4 + 2 * WARP)  # a word and the list of its vertices
        shared = max(queues, tiles)
        kernel = self._kernel()
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
        parameters = self.parameters
        for name in ("alpha", "wide", "share", "chunk", "patience"):
            setattr(parameters, name, getattr(tuning, name))
        parameters.alone, parameters.capacity, parameters.tile = capacity, capacity, tile

        stream = self.device.stream.ptr
        launch = driver.launchCooperativeKernel
        arguments = (function, grid, 1, 1, threads, 1, 1, shared, stream, ctypes.addressof(self.arguments))
        self.launch = lambda: launch(*arguments)
        self.kernel = kernel

    def search(self, sources: np.ndarray, options: Options) -> list[Step] | None:
        """Search, wait, and return the levels if they are traced."""
        graph, parameters = self.graph, self.parameters
        count = parameters.count = len(sources)
        if count > len(self.sources):
            self.sources, on_device = self.device.mapped(count, self.sources.dtype)
            parameters.sources = int(on_device)
        self.sources[:count] = sources
        limit = graph.num_vertices + 2  # the kernel gives up before that
        if options.depth_limit is not None:
            limit = min(options.depth_limit, limit)
        parameters.target = -1
        if options.target is not None:
            parameters.target = options.target
            if options.target in sources:
                limit = 0
        parameters.depth_limit = limit
        parameters.trace = self._trace_buffer() if options.trace else None
        parameters.number += 1

        self.default.set_device(self.default.device_id)  # the caller may be another thread
        if self.stale:
            with self.device.active():
                self.distances.fill(-1)
        self.stale = bool((graph.offsets[sources] == graph.offsets[sources + 1]).any())
        self.launch()
        self._wait(parameters.number)
        return self._steps() if options.trace else None

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(self.graph.num_vertices + 2, np.uint64)
        return int(self.trace.data.ptr)

    def _wait(self, number: int) -> None:
        """Wait for the search of this number, at first by looking at mapped memory."""
        status = self.status
        for _ in range(SPINS):
            if status[NUMBER] == number:
                break
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
