"""The host's side of `kernels/cuda/deterministic`: the tree of a sequential queue, in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.csr import host as csr
from ..._core.cuda.arrays import CPU
from ...graph import Graph
from ...kernels.deterministic import MAX_PHASES, PHASE_BITS, PHASES, SEARCH, UNROLL
from ...kernels.whole_search import STATE_BYTES
from ...trace import Step
from ..base import Options
from .launch import address, copy, fill
from .level_synchronous import Device, require_buffers
from .persistent import STATIC_BYTES, WARP, OneLaunch, SearchTuning, SharedArrays, bytes_of_tiles

FILE = "deterministic"
MAX_WARPS = 64  # of a multiprocessor
ALIKE = 8  # times the average


@dataclass(frozen=True, kw_only=True)
class Tuning(SearchTuning):
    """The thresholds and the launch of a search; no answer depends on them."""

    alpha: int = 60  # a level is wide when its frontier has more than 1/alpha of the unexplored edges
    wide: int = 1 << 18  # and at least so many
    share: int = 8  # 1/share of the unexplored edges are expanded in order, twice that before a large sibling group
    chunk: int = 1 << 16  # but at least so many; a multiple of 32
    large: int = 12  # and none from the first sibling group on that has more than 1/large of the unexplored edges
    patience: int = 8  # levels without an order
    single_block_edges: int = 2048  # a frontier with no more edges is one block's work
    cluster_edges: int = 1 << 15  # and with no more than this one cluster's


DEFAULT = Tuning()
Search: Any = SEARCH.in_memory()


def ascending_in_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """Offsets and targets of the in-edges, each adjacency ascending, and the position of each in the adjacency of its
    source, or None if those ascend too. None if the graph's own arrays are all that."""
    here = graph.to(CPU)
    ascends = csr.ascends(here.offsets, here.targets)
    if ascends and not graph.directed:
        return None
    positions = None if ascends else csr.transposed_positions(here.offsets, here.targets)
    return *csr.transpose(here.offsets, here.targets), positions


def has_alike_degrees(offsets: np.ndarray) -> bool:
    """Has no vertex many times as many edges as a vertex has on average?"""
    n = len(offsets) - 1
    return int(np.diff(offsets).max(initial=0)) * n <= ALIKE * int(offsets[-1])


class Deterministic:
    """Deterministic searches of a graph on a device, beside the default ones that ``shared`` comes from.

    They have distances and predecessors of their own: neither kind of search depends on what the other left.
    """

    def __init__(self, graph: Graph, device: Device, shared: SharedArrays, tuning: Tuning = DEFAULT) -> None:
        self.graph, self.device, self.shared = graph, device, shared
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        words = -(-n // WARP)
        most_warps = MAX_WARPS * device.multiprocessors
        in_edges = ascending_in_edges(graph)  # of a directed graph, the device's own are in any order
        needs = [
            (n, np.int32),  # distances
            (n, vertex),  # predecessors
            (-(-n // 4) * 4, offset),  # rank, whole groups of 16 bytes
            (3 * words, np.uint32),  # visited, other, fresh
            (2 * WARP * words, np.uint8),  # siblings
            (m // WARP + 1, np.uint32),  # marks
            (m // WARP + 1, vertex),  # slots
            (most_warps, np.uint64),  # counts
            (STATE_BYTES, np.uint8),
        ]
        uploads = [(len(array), array.dtype) for array in in_edges or () if array is not None]
        require_buffers(device, graph, needs + uploads)
        with device.active():
            self.in_edges: tuple[Any, ...] = shared.in_offsets, shared.in_targets, None
            if in_edges is not None:
                self.in_edges = tuple(None if array is None else device.upload(array) for array in in_edges)
            self.buffers = [device.empty(*need) for need in needs]
            self.distances, self.predecessors, rank, bitmaps, siblings, marks, slots, counts, state = self.buffers
            for array in self.distances, self.predecessors, rank, siblings:
                fill(array, 0xFF, device.stream_handle)
            for array in bitmaps, state:
                fill(array, 0, device.stream_handle)
            copy(address(bitmaps), address(shared.isolated), 4 * words, device.stream_handle)
            device.synchronize()
        in_offsets, in_targets, positions = (None if array is None else address(array) for array in self.in_edges)
        self.parameters = Search(
            **(shared.addresses() | {"in_offsets": in_offsets, "in_targets": in_targets}),
            positions=positions,
            visited=address(bitmaps),
            other=address(bitmaps) + 4 * words,
            fresh=address(bitmaps) + 8 * words,
            siblings=address(siblings),
            marks=address(marks),
            slots=address(slots),
            counts=address(counts),
            rank=address(rank),
            distances=address(self.distances),
            predecessors=address(self.predecessors),
            state=address(state),
            n=n,
            m=m,
            edge_bits=m.bit_length(),
            alike=has_alike_degrees(graph.to(CPU).offsets if in_edges is None else in_edges[0]),
        )
        with device.active():
            self.host = OneLaunch(graph, device, self.parameters)
            self.tune(tuning)
        self.times: Any = None  # allocated by the first search that is traced
        self.isolated = np.diff(graph.to(CPU).offsets) == 0
        self.stale = False  # did the last search leave a distance that the kernel does not reset?

    def tune(self, tuning: Tuning) -> None:
        """Search like this from now on."""
        self.tuning = tuning
        graph, device, threads = self.graph, self.device, tuning.threads
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        entry = 2 * (2 * offset.itemsize + vertex.itemsize)  # in each of two queues
        most = device.most_shared_bytes - STATIC_BYTES
        capacity = min(tuning.single_block_edges, UNROLL * threads, most // entry)
        edges = UNROLL * threads * 2 * offset.itemsize  # of a block of a cluster
        shared = max(capacity * entry, bytes_of_tiles(threads), edges)
        kernel = tuning.compiled(device, FILE, "search", vertex, offset)
        self.host.use(kernel, tuning, shared)

        parameters = self.parameters
        for name in ("alpha", "wide", "share", "chunk", "large", "patience"):
            setattr(parameters, name, getattr(tuning, name))
        parameters.single_block_edges = parameters.capacity = capacity
        parameters.cluster_edges = min(tuning.cluster_edges, UNROLL * threads * tuning.cluster)

    def search(self, sources: np.ndarray, options: Options) -> list[Step] | None:
        """Search, wait, and return the levels if they are traced."""
        if self.stale:
            fill(self.distances, 0xFF, self.device.stream_handle)
        self.stale = bool(np.count_nonzero(self.isolated[sources]))
        self.parameters.phases = self._phases_buffer() if options.trace else None
        self.host.search(sources, options)
        return self.host.steps() if options.trace else None

    def _phases_buffer(self) -> int:
        with self.device.active():
            if self.times is None:
                self.times = self.device.empty(MAX_PHASES, np.uint64)
            fill(self.times, 0, self.device.stream_handle)
        return address(self.times)

    def phases(self) -> list[tuple[str, float]]:
        """What the grid did between its barriers in the last search that was traced, and how many milliseconds that
        took; the first phase is left out."""
        with self.device.active():
            notes = self.device.host(self.times)
        notes = notes[notes > 0]
        milliseconds = np.diff(notes >> np.uint64(PHASE_BITS)) / 1e6
        names = [PHASES[note % (1 << PHASE_BITS)] for note in notes[1:].tolist()]
        return list(zip(names, milliseconds.tolist(), strict=True))
