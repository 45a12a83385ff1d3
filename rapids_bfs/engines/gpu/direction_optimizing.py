"""The host of `direction_optimizing`: a search in one launch, for any library that compiles the kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._core.cuda.arrays import CUDA, aligned, finish, on_device
from ..._core.memory import NextArrays, new_arrays
from ...errors import InputError
from ...graph import Graph
from ...kernels.whole_search import BITMAPS, CLEARED, FRESH, GROUP, MOST_BLOCKS, OWN, RECENT, SEARCH, STATE_BYTES
from ...result import BFSResult
from ..base import DEFAULT as PLAIN
from ..base import Options
from .cooperative import (
    STATIC_BYTES,
    WARP,
    Launchers,
    OneLaunch,
    SearchTuning,
    bytes_of_tiles,
    one_block_suffices,
    passes_over,
)
from .deterministic import Deterministic
from .launch import CompiledKernel, address, addresses, copy, fill
from .published import BlockQueue, Device, DeviceTraversal, Needs, require_buffers

FILE = "direction_optimizing"
UNREACHED = -1  # the distance of a vertex that was not reached
PREPARE_THREADS = 256  # of a block
GROUP_BYTES = 16  # kernels load targets in groups of 16 bytes, aligned to 16 bytes


@dataclass(frozen=True, kw_only=True)
class Tuning(SearchTuning):
    """The thresholds and the launch of a search; no answer depends on them."""

    alpha: int = 15  # bottom-up when the frontier has more than 1/alpha of the unexplored edges, without hubs 2/alpha
    beta: int = 24  # top-down again when the frontier has been smaller than 1/beta of the vertices, and shrinking,
    shrinking_levels: int = 3  # for so many levels
    dense: int = 16  # top-down without the queue when the frontier has more than 1/dense edges per vertex of the graph
    dense_edges: int = 1 << 19  # and more than this
    single_block_chunks: int = 128  # a frontier with no more chunks of edges is expanded by one block
    deep_chunks: int = 1 << 14  # after a deep search, all blocks together expand one with no more than this,
    deep_chunks_of_block: int = 512  # and no more than this for each of them; in Numba-CUDA, the blocks of a cluster do
    capacity: int = 1536  # chunks of a block's queue in shared memory; with less room, limits of a block shrink too
    meet: int = 16  # levels that all blocks go before they meet; in Numba-CUDA 1
    spin: bool = True  # wait by polling mapped memory, not in the driver


DEFAULT = Tuning()

Found = tuple[Any, Any]  # distances and predecessors on the device; predecessors are None unless asked for
Search: Any = SEARCH.in_memory()


class DirectionOptimizing(DeviceTraversal):
    """A search in one cooperative launch, its parameters in a structure of which a run changes a few fields."""

    traces = True

    def __init__(self, graph: Graph, device: Device, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph, device)
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        edge_bits = m.bit_length()
        if n.bit_length() + edge_bits > 64:
            raise InputError(f"{graph.name} has too many vertices and edges to count both in 64 bits")
        words = -(-n // (4 * WARP)) * 4  # each bitmap begins at a multiple of 16 bytes
        needs: Needs = {
            "distances": (n, np.int32),
            "predecessors": (n, vertex),
            "hub": (n, vertex),  # the in-neighbour of highest degree
            "heavy": (GROUP * n, vertex),  # the next ones
            "queue": (2 * n, offset),
            "queued": (n, vertex),
            "isolated": (words, np.uint32),  # bitmap of the vertices without edges
            "visited": (BITMAPS * words, np.uint32),
            "barred": (words, np.uint32),  # with a mask: the vertices that it bars, and the isolated ones
            "reached": (words, np.uint32),  # and a bitmap without these
            "state": (STATE_BYTES, np.uint8),
        }
        reversed_edges = [(n + 1, offset), (m, vertex)] if graph.directed else []
        require_buffers(device, graph, [*needs.values(), *reversed_edges])
        here, reverse = self.here, self.here.reverse
        with device.working():
            rows = self._adjacency(here)
            in_rows = rows if reverse is here else self._adjacency(reverse)
            # Is a row of `heavy` mostly a whole adjacency?
            self.small_rows = in_rows is rows and m <= GROUP * n
            self.arrays = device.allocated(needs)
            self.arrays |= zip(("offsets", "targets", "in_offsets", "in_targets"), (*rows, *in_rows), strict=True)
            self.distances, self.predecessors = self.arrays["distances"], self.arrays["predecessors"]
            at = addresses(self.arrays)
            self.distances_address, self.predecessors_address = at["distances"], at["predecessors"]
            for name, byte in (("distances", 0xFF), ("predecessors", 0xFF), ("isolated", 0xFF), ("state", 0)):
                fill(self.arrays[name], byte, device.stream_handle)
            self.parameters = Search(**at, n=n, m=m, edge_bits=edge_bits, unreached=UNREACHED)
            self.host = OneLaunch(graph, device, self.parameters)
            self.one_launch = device.cooperative or one_block_suffices(m)
            # May a search be by levels? Then no kernel writes into an answer before it is complete.
            self.indirect = device.time_limit or not self.one_launch
            self.tune(tuning)
            self._prepare(words)
            device.synchronize()

    def _adjacency(self, graph: Graph) -> tuple[Any, Any]:
        """The graph's own arrays; a copy of targets that are not aligned to `GROUP_BYTES`."""
        offsets = self.device.upload(graph.offsets)  # first: it waits for streams that still write the graph
        targets = aligned(graph.targets, GROUP_BYTES) if graph.is_on(CUDA) else graph.targets
        return offsets, self.device.upload(targets)

    def _kernel(self, name: str) -> CompiledKernel:
        return self.tuning.compiled(self.device, FILE, name, self.graph.targets.dtype, self.graph.offsets.dtype)

    def _prepare(self, words: int) -> None:
        """Launch the kernel that fills `hub`, `heavy` and `isolated`, and the first bitmap of `visited`."""
        blocks = min(self.device.resident_blocks, -(-words // (PREPARE_THREADS // WARP)))
        vertex = np.ctypeslib.as_ctypes_type(self.graph.targets.dtype)
        numbers = vertex(self.graph.num_vertices), vertex(self.small_rows)
        fields = ("offsets", "in_offsets", "in_targets", "hub", "heavy", "isolated")
        pointers = [ctypes.c_void_p(getattr(self.parameters, field)) for field in fields]
        stream = self.device.stream_handle
        self._kernel("prepare").launcher(blocks, PREPARE_THREADS, 0, stream, *numbers, *pointers)()
        copy(self.parameters.visited, self.parameters.isolated, 4 * words, stream)

    def tune(self, tuning: Tuning) -> None:
        """Use this tuning from now on."""
        if self.device.deep_by_grid:
            tuning = replace(tuning, cluster=1)
        self.tuning = tuning
        n = self.graph.num_vertices
        vertex, offset = self.graph.targets.dtype.itemsize, self.graph.offsets.dtype.itemsize
        small_rows = self.small_rows and self.device.small_rows
        neighbors = GROUP if small_rows else 1
        chunk = 16 * -(-(2 * offset + (1 + neighbors) * vertex) // 16)
        recent = RECENT * vertex * (2 if small_rows else 1)
        most = self.device.most_shared_bytes - STATIC_BYTES - recent
        capacity = min(tuning.capacity, most // (2 * chunk))  # of each of two queues
        self.shared = max(2 * capacity * chunk + recent, bytes_of_tiles(tuning.threads))
        self.room = self.arrays["queue"].nbytes // chunk  # to distribute chunks
        self.launchers: dict[bool, Launchers] = {}  # with a mask, and without

        parameters = self.parameters
        parameters.alpha, parameters.beta = tuning.alpha, tuning.beta
        parameters.shrinking_levels, parameters.meet = tuning.shrinking_levels, tuning.meet
        parameters.dense = max(n // tuning.dense, tuning.dense_edges)
        parameters.passes = passes_over(n * vertex, self.device)
        parameters.capacity = capacity
        parameters.single_block_chunks = tuning.single_block_chunks * capacity // tuning.capacity
        self._use(masked=False)

    def _use(self, masked: bool) -> None:
        """Launch the kernel for searches with a mask, or that without, from now on."""
        self.masked: bool | None = None  # until all is set
        tuning = self.tuning
        if masked not in self.launchers:
            small_rows = self.small_rows and self.device.small_rows
            kernel = self._kernel("search" + "_masked" * masked + "_small_rows" * small_rows)
            self.launchers[masked] = self.host.launchers(kernel, tuning, self.shared)
        launchers = self.launchers[masked]
        self.deep_chunks = self._deep_chunks(launchers.grid if self.device.deep_by_grid else launchers.cluster)
        self.host.use(launchers, tuning)
        self.masked = masked

    def _deep_chunks(self, blocks: int) -> int:
        """The chunks of a frontier, at most, that so many blocks expand together; 0: none.

        It is no less than what one block expands: the kernel lets one begin by that limit alone, without a barrier.
        """
        tuning = self.tuning
        each = tuning.deep_chunks_of_block * self.parameters.capacity // tuning.capacity
        deep = min(tuning.deep_chunks, blocks * each, self.room) if 1 < blocks <= MOST_BLOCKS else 0
        return deep and max(deep, self.parameters.single_block_chunks)

    @cached_property
    def next_arrays(self) -> NextArrays:
        """The distances and predecessors of results."""
        return NextArrays(self.graph.num_vertices, np.int32, self.graph.targets.dtype, clears_last=True)

    @cached_property
    def by_levels(self) -> BlockQueue:
        """The search for what this device cannot do in one launch: it has a launch for each level."""
        return BlockQueue(self.graph, self.device)

    @cached_property
    def deterministic(self) -> Deterministic:
        """The deterministic search of this graph, which the first search that asks for it prepares."""
        return Deterministic(self.graph, self.device, self.arrays)

    def checks_mask(self, sources: np.ndarray, options: Options) -> bool:
        ordered = options.deterministic and options.predecessors
        return len(sources) == 1 and not (self.indirect or ordered)

    def search(self, sources: np.ndarray, options: Options) -> Found:
        with self.device.current():
            if options.vertices is not None:
                finish()  # it may write the mask
            if options.deterministic and options.predecessors:  # distances alone are the same in any search
                self.steps = self.deterministic.search(sources, options)
                return self.deterministic.distances, self.deterministic.predecessors
            found = self.distances, self.predecessors if options.predecessors else None
            if self.one_launch:
                predecessors = self.predecessors_address if options.predecessors else None
                fresh = FRESH if self.indirect else OWN
                self._begin(sources, options, (self.distances_address, predecessors), UNREACHED, fresh)
                self.host.search(sources, options, self.tuning.spin)
                self.steps = self.host.steps() if options.trace else None
            if not self.one_launch or self.host.cut_short:
                found = self._search_by_levels(sources, options)
        return found

    def _keep_out(self, mask: Any) -> None:
        """Let the next search enter only the vertices of this mask; None: all."""
        if mask is not None and not on_device(mask):
            with self.device.active():
                mask = self.device.upload(mask)
        masked = mask is not None
        if masked is not self.masked:
            self._use(masked)
        self.mask = mask  # it lives until the search is done
        self.parameters.allowed = None if mask is None else address(mask)

    def _search_by_levels(self, sources: np.ndarray, options: Options) -> Found:
        search = self.by_levels
        if options.vertices is not None:
            search = BlockQueue(self.graph.filter(vertices=options.vertices), self.device)
        search.search(sources, options)
        self.steps = search.steps
        return search.distances, search.predecessors if options.predecessors else None

    def run(self, sources: np.ndarray, options: Options = PLAIN, *, own: bool = False) -> BFSResult:
        """See `Traversal.run`. On the device a search writes straight into the arrays that its result is to own."""
        plain = not (options.deterministic or options.trace or options.check or self.indirect)
        if not (own and plain and self.graph.device == CUDA):
            return super().run(sources, options, own=own)
        n = self.graph.num_vertices
        with self.device.current():
            cleared = False
            if options.predecessors:
                distances, predecessors = self.next_arrays.take()
                cleared = self.next_arrays.last_is_clear
            else:
                (distances,), predecessors = new_arrays(n, np.int32), None
            with self.search_into(distances, predecessors, UNREACHED, sources, options, cleared=cleared):
                if options.predecessors:
                    self.next_arrays.allocate_ahead()
                searched = options.depth_limit, options.target, None, options.vertices
                return BFSResult(self.graph.owner, sources, distances, predecessors, *searched)

    def search_into(
        self,
        distances: Any,
        predecessors: Any,
        unreached: int,
        sources: np.ndarray,
        options: Options,
        *,
        cleared: bool = False,
        followed: bool = False,
    ) -> AbstractContextManager[None]:
        """Search while the body of the ``with`` runs. The search is done when the ``with`` ends.

        It overwrites ``distances`` (int32, n) and, unless it is None, ``predecessors`` (the graph's vertex type, n).
        They are CuPy arrays, or this traversal's own. First it waits for CuPy's current stream, which may still write
        them. The device must be current.

        A vertex that no source reaches gets the distance ``unreached`` (-1 in the traversal's own array) and the
        predecessor -1. ``cleared``: all of ``predecessors`` are -1 already. ``followed``: the body queues more work on
        the device's stream; the search waits for that too.
        """
        finish()
        if self.indirect:
            return self._copied_into(distances, predecessors, unreached, sources, options)
        tree = None if predecessors is None else predecessors.data.ptr
        fresh = OWN if distances is self.distances else CLEARED if cleared else FRESH
        self._begin(sources, options, (distances.data.ptr, tree), unreached, fresh)
        spin = self.tuning.spin and not followed
        return self.host.searching(sources, options, spin, (distances, predecessors))

    @contextmanager
    def _copied_into(
        self, distances: Any, predecessors: Any, unreached: int, sources: np.ndarray, options: Options
    ) -> Iterator[None]:
        """`search_into`, but the answer of `search` is copied, before the body runs."""
        with self.device.working():
            for there, found in zip((distances, predecessors), self.search(sources, options), strict=True):
                if there is not None and there is not found:
                    answer = self.device.found(found)
                    if there is distances and unreached != UNREACHED:
                        answer = answer.copy()
                        answer[answer < 0] = unreached
                    copy(there.data.ptr, address(answer), answer.nbytes, self.device.stream_handle)
            yield
            self.device.synchronize()

    def _begin(
        self, sources: np.ndarray, options: Options, written: tuple[int, int | None], unreached: int, fresh: int
    ) -> None:
        """Let the next search write to the arrays ``written``, given by addresses; ``fresh`` says what they hold."""
        parameters = self.parameters
        parameters.distances, parameters.predecessors = written
        parameters.unreached, parameters.fresh = unreached, fresh
        parameters.source = int(sources[0])
        self._keep_out(options.vertices)
        parameters.deep_chunks = self.deep_chunks if self.host.was_deep else 0

    def answer(self, found: Found) -> Found:
        distances, predecessors = found
        with self.device.active():
            return self.device.found(distances), None if predecessors is None else self.device.found(predecessors)
