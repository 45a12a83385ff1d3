"""The host of `bit_parallel` on a GPU: one launch searches a batch, another writes its distances."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.cuda.arrays import CPU, finish, on_device
from ...graph import Graph
from ...kernels.batch import BATCH, BITS, PIECE, STATE_BYTES, WIDTHS
from ..base import BatchTraversal, Summary
from ..cpu.degree_order import numbered_by_degree
from .cooperative import LaunchTuning, blocks_of_grid, levels_of_launch, require_end, sources_of_launch
from .launch import address, addresses, fill
from .published import Device, require_buffers

FILE = "bit_parallel"
WRITE_THREADS = 256
HEADROOM = 0.8  # share of the free memory that a batch may take


@dataclass(frozen=True, kw_only=True)
class Tuning(LaunchTuning):
    """The thresholds and the launch of a batch; no answer depends on them."""

    alpha: int = 8  # bottom-up when the frontier has more than 1/alpha of the edges
    threads: int = 512  # of a block
    blocks: int = 2  # of a multiprocessor, as the compiler is told
    widest: int = WIDTHS[-1]  # words of a vertex, at most


DEFAULT = Tuning()

Batch: Any = BATCH.in_memory()


class BitParallel(BatchTraversal):
    """Batches as wide as the number of sources asks and the memory allows; the first batch allocates the rows."""

    def __init__(self, graph: Graph, device: Device, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph)
        self.device = device
        self.searches_on = device.searches_on
        self.planes = max(graph.num_vertices - 1, 1).bit_length()
        n, vertex, offset = graph.num_vertices, graph.targets.dtype, graph.offsets.dtype
        self.numbered = numbered_by_degree(graph.to(CPU))
        heavy, pieces = pieces_of(self.numbered.in_offsets, vertex)
        self.arrays = {
            "rank": self.numbered.rank,
            "offsets": self.numbered.offsets,
            "targets": self.numbered.targets,
            "in_offsets": self.numbered.in_offsets,
            "in_targets": self.numbered.in_targets,
            "heavy": heavy,
            "pieces": pieces.view(np.uint8),
        }
        items = n + graph.num_arcs // PIECE
        needs = {
            "stamps": (n, np.int32),
            "found": (n, vertex),
            "found_before": (n, vertex),
            "items": (items * pieces.dtype.itemsize, np.uint8),
            "state": (STATE_BYTES, np.uint8),
        }
        uploads = [(len(array), array.dtype) for array in {id(each): each for each in self.arrays.values()}.values()]
        require_buffers(device, graph, [*uploads, *needs.values(), (self._bytes(WIDTHS[0], 1), np.uint8)])
        with device.active():
            self.sources = np.asarray(device.mapped(BITS * WIDTHS[-1], vertex)[0])
            if self.numbered.in_targets is self.numbered.targets:
                self.arrays["targets"] = self.arrays["in_targets"] = device.upload(self.numbered.targets)
            self.arrays = {name: device.upload(array) for name, array in self.arrays.items()} | device.allocated(needs)
            fill(self.arrays["state"], 0, device.stream_handle)
        self.parameters = Batch(
            **addresses(self.arrays),
            sources=self.sources.ctypes.data,
            n=n,
            m=graph.num_arcs,
            active=self.numbered.active,
            heavies=len(heavy),
            piece_count=len(pieces),
            bits=self.planes,
        )
        self.types = vertex, offset
        self.written: Any = None  # the distances that a batch writes, kept until it is done
        self.tune(tuning)

    def current(self) -> AbstractContextManager[Any]:
        return self.device.current()

    def _bytes(self, width: int, sources: int) -> int:
        """Bytes of the rows and planes of a batch, and of the distances from so many sources."""
        return int(self.graph.num_vertices * (8 * width * (3 + self.planes) + 4 * sources))

    def _widest(self, most: int, room: float) -> int:
        """The words of a vertex, at most these, for which the rows and the distances from all sources fit in a room;
        at least one."""
        widths: list[int] = [each for each in WIDTHS if each <= most and self._bytes(each, BITS * each) <= room]
        return max(widths, default=1)

    def tune(self, tuning: Tuning) -> None:
        """Use this tuning from now on."""
        self.tuning = tuning
        self.parameters.alpha = tuning.alpha
        room = HEADROOM * self.device.free_bytes()
        self.widest = self._widest(tuning.widest, room)
        spare = (room - self._bytes(self.widest, 0)) // (4 * max(self.graph.num_vertices, 1))  # sources
        most = min(BITS * self.widest, sources_of_launch(self.device, self.graph.num_arcs))
        self.batch_size = max(1, min(most, int(spare)))
        self.width = 0

    def distances(self, sources: np.ndarray, depth_limit: int | None, distances: Any, vertices: Any = None) -> None:
        self._keep_out(vertices)
        begin = 0
        while begin < len(sources):
            if on_device(distances):
                with self.device.current():
                    finish()
            with self.device.working():
                some = distances[begin : begin + self._allocate(len(sources) - begin)]
                found = self.written = some if on_device(some) else self._staging(some.size)
                self.parameters.distances = address(found)
                self.parameters.planes = address(self.rows["planes"])
                self._launch(sources[begin : begin + len(some)], depth_limit, "search", "write")
                if found is not some:
                    some[:] = self.device.host(found).reshape(some.shape)
            begin += len(some)
        self.written = None

    def _keep_out(self, mask: Any) -> None:
        """Let the next searches enter only the vertices of this mask; None: all."""
        if mask is not None:
            with self.device.working():
                mask = self.device.upload(mask)
        self.mask = mask  # it lives until the searches are done
        self.parameters.allowed = None if mask is None else address(mask)

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: Any = None) -> Summary:
        whole = Summary.of(len(sources))
        self._keep_out(vertices)
        begin = 0
        while begin < len(sources):
            with self.device.working():
                some = sources[begin : begin + self._allocate(len(sources) - begin)]
                self.parameters.planes = None
                self._launch(some, depth_limit, "search")
                sums = self.device.host(self.sums).reshape(len(whole), -1)
                for column, found in zip(whole, sums, strict=True):
                    column[begin : begin + len(some)] = found.view(column.dtype)[: len(some)]
            begin += len(some)
        return whole

    def _staging(self, size: int) -> Any:
        """An array on the device for a batch's distances before they are copied to the host."""
        if len(self.rows.get("distances", ())) < size:
            self.rows.pop("distances", None)  # frees it
            self.rows["distances"] = self.device.empty(size, np.int32)
        return self.rows["distances"][:size]

    def _allocate(self, k: int) -> int:
        """Allocate the rows for ``k`` sources, or for as many as fit, unless the last batch was of that width; return
        the number of sources."""
        k = min(k, self.batch_size)
        self.device.synchronize()  # an interrupt may have left a batch running
        width = next(width for width in WIDTHS if width >= self.widest or k <= BITS * width)
        if width != self.width:
            self.width = 0  # if an allocation fails, there are no rows
            self.rows: dict[str, Any] = {}  # frees the rows of the last width
            self._allocate_rows(self._widest(width, self.device.free_bytes()))  # less may be free than before
        most: int = BITS * self.width
        return min(k, most)

    def _allocate_rows(self, width: int) -> None:
        words, count = self.graph.num_vertices * width, BITS * width
        needs = {
            "seen": (words, np.uint64),
            "now": (words, np.uint64),
            "last": (words, np.uint64),
            "planes": (self.planes * words, np.uint64),
            "counts": (count, np.uint64),
            "counts_before": (count, np.uint64),
        }
        require_buffers(self.device, self.graph.to(self.searches_on), needs.values())
        self.rows = self.device.allocated(needs)
        for name, place in addresses(self.rows).items():
            setattr(self.parameters, name, place)
        self.sums = self.device.empty(len(Summary._fields) * count, np.uint64)  # in one array, to be copied at once
        fill(self.sums, 0, self.device.stream_handle)  # the sums of unused bits too
        for row, name in enumerate(Summary._fields):
            setattr(self.parameters, name, address(self.sums) + 8 * count * row)
        self.kernels = {name: self._launcher(name, width) for name in ("search", "write")}
        self.width = width

    def _launcher(self, name: str, width: int) -> Any:
        tuning, stream = self.tuning, self.device.stream_handle
        kernel = tuning.compiled(self.device, FILE, f"{name}_{width}", *self.types)
        if name == "write":
            return kernel.launcher(self.device.resident_blocks, WRITE_THREADS, 0, stream, self.parameters)
        grid = blocks_of_grid(kernel, self.device, self.graph.num_arcs * width, tuning, 0)
        return kernel.launcher(grid, tuning.threads, 0, stream, self.parameters, cooperative=grid > 1)

    def _launch(self, sources: np.ndarray, depth_limit: int | None, *names: str) -> None:
        self.sources[: len(sources)] = self.numbered.rank[sources]
        self.parameters.k = len(sources)
        most = self.graph.num_vertices
        limit = most if depth_limit is None else min(depth_limit, most)
        self.parameters.depth_limit = levels_of_launch(self.device, limit)
        for name in names:
            self.kernels[name]()
        self.device.synchronize()
        if self.parameters.depth_limit < limit:
            require_end(self.graph, self.device, self.arrays["state"])


def pieces_of(in_offsets: np.ndarray, vertex: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The vertices with more than `PIECE` in-edges, and runs of at most so many of these edges: where they begin, and
    whose they are."""
    degrees = np.diff(in_offsets)
    heavy = np.flatnonzero(degrees > PIECE)
    counts = -(-degrees[heavy] // PIECE)
    pieces = np.empty(int(counts.sum()), np.dtype([("begin", in_offsets.dtype), ("vertex", vertex)], align=True))
    pieces["vertex"] = np.repeat(heavy, counts)
    steps = np.arange(len(pieces)) - np.repeat(np.cumsum(counts) - counts, counts)
    pieces["begin"] = in_offsets[pieces["vertex"]] + PIECE * steps
    return heavy.astype(vertex), pieces
