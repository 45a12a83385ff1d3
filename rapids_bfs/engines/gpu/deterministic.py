"""The host of `kernels/cuda/deterministic`: the tree of a sequential queue, in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.csr import csr_for, host
from ..._core.cuda.arrays import CPU, to_host
from ...graph import Graph
from ...kernels.deterministic import PATH_BITS, RECENT, SEARCH, UNROLL
from ...kernels.whole_search import MOST_BLOCKS, STATE_BYTES
from ...trace import Step
from ..base import Options
from .cooperative import STATIC_BYTES, WARP, OneLaunch, SearchTuning, bytes_of_tiles, passes_over, too_deep
from .first_bitmap import FirstBitmap
from .launch import addresses, copy, fill
from .published import Device, Needs, require_buffers

FILE = "deterministic"
MAX_WARPS = 64  # of a multiprocessor
IN_EDGES = ("in_offsets", "in_targets", "positions")
ALIKE = 8  # times the average
DEEP_QUEUES = 3  # of a block: a level, the next one, and what the block had when all last met


@dataclass(frozen=True, kw_only=True)
class Tuning(SearchTuning):
    """The thresholds and the launch of a search; no answer depends on them."""

    alpha: int = 60  # a level is wide when its frontier has more than 1/alpha of the unexplored edges
    wide: int = 1 << 18  # and at least so many
    share: int = 8  # 1/share of the unexplored edges are expanded in order, twice that before a large sibling group
    chunk: int = 1 << 16  # but at least so many; a multiple of 32
    large: int = 12  # and none from the first sibling group on that has more than 1/large of the unexplored edges
    patience: int = 8  # levels without an order
    single_block_edges: int = 2048  # one block expands a frontier with no more edges
    cluster: int = 1  # blocks: no clusters
    deep_chunks: int = 1 << 14  # after a deep search, all blocks together expand one with no more chunks of edges
    deep_chunks_of_block: int = 512  # and no more than this for each of them
    deep_capacity: int = 1024  # chunks of each queue of a block; with less room, its limit shrinks too
    meet: int = 16  # levels, at most, that all blocks go before they meet
    few_levels: int = 4  # if keys have bits for fewer levels, one block expands what it can by itself


DEFAULT = Tuning()
Search: Any = SEARCH.in_memory()


def ascending_in_edges(graph: Graph) -> tuple[Any, Any, np.ndarray | None] | None:
    """Offsets and targets of the in-edges, each adjacency ascending, and the position of each in the adjacency of its
    source, or None if those ascend too. None if the graph's own arrays fulfil all of this."""
    csr = csr_for(graph.targets)
    if csr.ascends(graph.offsets, graph.targets):
        if not graph.directed:
            return None
        into = graph.reverse
        ascends = csr.ascends(into.offsets, into.targets)
        return *((into.offsets, into.targets) if ascends else csr.ascending(into.offsets, into.targets)), None
    here = graph.to(CPU)
    return *host.transpose(here.offsets, here.targets), host.transposed_positions(here.offsets, here.targets)


def highest_degree(offsets: Any) -> int:
    """The most edges of a row with these offsets; 0 if there are no rows."""
    degrees = np.diff(offsets)
    return int(degrees.max()) if len(degrees) else 0


def has_alike_degrees(offsets: Any) -> bool:
    """Is the highest degree at most `ALIKE` times the mean?"""
    return highest_degree(offsets) * (len(offsets) - 1) <= ALIKE * int(offsets[-1])


class Deterministic:
    """Deterministic searches of a graph on a device, beside the default ones.

    They share the arrays ``shared`` of the default searches: the adjacency, and the queue, which is empty between
    searches. Distances and predecessors are separate, so neither kind of search depends on the answers of the other.
    """

    def __init__(self, graph: Graph, device: Device, shared: dict[str, Any]) -> None:
        self.graph, self.device = graph, device
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        words = -(-n // WARP)
        ascending = ascending_in_edges(graph)
        in_edges = {name: array for name, array in zip(IN_EDGES, ascending or (), strict=False) if array is not None}
        needs: Needs = {
            "distances": (n, np.int32),
            "predecessors": (n, vertex),
            "rank": (-(-n // 4) * 4, offset),  # whole groups of 16 bytes
            "keys": (n, np.uint64),
            "visited": (3 * words, np.uint32),  # and the bitmaps `other` and `fresh`
            "siblings": (2 * WARP * words, np.uint8),
            "marks": (m // WARP + 1, np.uint32),
            "slots": (m // WARP + 1, vertex),
            "counts": (MAX_WARPS * device.multiprocessors, np.uint64),
            "state": (STATE_BYTES, np.uint8),
        }
        require_buffers(device, graph, [*needs.values(), *((len(array), array.dtype) for array in in_edges.values())])
        with device.active():
            in_edges = {name: device.upload(array) for name, array in in_edges.items()}
            arrays = self.arrays = shared | in_edges | device.allocated(needs)
            at = addresses(arrays)
            for name in ("distances", "predecessors", "rank", "siblings"):
                fill(arrays[name], 0xFF, device.stream_handle)
            for name in ("visited", "state"):
                fill(arrays[name], 0, device.stream_handle)
            copy(at["visited"], at["isolated"], 4 * words, device.stream_handle)
            device.synchronize()
        self.distances, self.predecessors = arrays["distances"], arrays["predecessors"]
        self.parameters = Search(
            **at,
            other=at["visited"] + 4 * words,
            fresh=at["visited"] + 8 * words,
            n=n,
            m=m,
            edge_bits=m.bit_length(),
            alike=has_alike_degrees(graph.offsets if ascending is None else ascending[0]),
            passes=passes_over(arrays["rank"].nbytes, device),
            place_bits=max(1, (highest_degree(graph.offsets) - 1).bit_length()),
        )
        with device.active():
            self.host = OneLaunch(graph, device, self.parameters)
            self.tune(DEFAULT)
        self.first = FirstBitmap(graph, device, at["isolated"], at["visited"])
        self.isolated = to_host(np.diff(graph.offsets) == 0)
        self.stale = False  # did the last search leave a distance that the kernel does not reset?

    def tune(self, tuning: Tuning) -> None:
        """Use this tuning from now on."""
        graph, device, threads = self.graph, self.device, tuning.threads
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        entry = 2 * (2 * offset.itemsize + vertex.itemsize)  # in each of two queues
        most = device.most_shared_bytes - STATIC_BYTES
        capacity = min(tuning.single_block_edges, UNROLL * threads, most // entry)
        chunk = -(-(8 + 2 * offset.itemsize + vertex.itemsize) // 8) * 8
        recent = RECENT * vertex.itemsize
        deep_capacity = min(tuning.deep_capacity, (most - recent) // (DEEP_QUEUES * chunk))
        shared = max(capacity * entry, bytes_of_tiles(threads), DEEP_QUEUES * deep_capacity * chunk + recent)
        kernel = tuning.compiled(device, FILE, "search", vertex, offset)
        launchers = self.host.launchers(kernel, tuning, shared)
        self.host.use(launchers, tuning)

        parameters = self.parameters
        for name in ("alpha", "wide", "share", "chunk", "large", "patience"):
            setattr(parameters, name, getattr(tuning, name))
        parameters.single_block_edges = parameters.capacity = capacity
        parameters.deep_capacity = deep_capacity
        parameters.meet = min(tuning.meet, (PATH_BITS - (tuning.deep_chunks - 1).bit_length()) // parameters.place_bits)
        parameters.deep_from = 0 if parameters.meet >= tuning.few_levels else capacity
        each = tuning.deep_chunks_of_block * deep_capacity // tuning.deep_capacity
        most_chunks = min(tuning.deep_chunks, launchers.grid * each, self.arrays["queue"].nbytes // chunk)
        together = 1 < launchers.grid <= MOST_BLOCKS and parameters.meet > 0
        self.deep_chunks = most_chunks if together else 0

    def search(self, sources: np.ndarray, options: Options) -> list[Step] | None:
        """Search, wait, and return the levels if they are traced."""
        masked = options.vertices is not None
        self.first.prepare(options.vertices)
        if self.stale or masked:
            fill(self.distances, 0xFF, self.device.stream_handle)
        if masked:
            fill(self.predecessors, 0xFF, self.device.stream_handle)
        self.stale = bool(np.count_nonzero(self.isolated[sources]))
        self.parameters.source = int(sources[0])
        self.parameters.deep_chunks = self.deep_chunks if self.host.was_deep else 0
        self.host.search(sources, options)
        if self.host.cut_short:
            raise too_deep(self.graph)
        return self.host.steps() if options.trace else None
