"""The host of `betweenness` on a GPU: each launch takes as many sources as fit in memory; the host waits once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.cuda.arrays import to_host
from ...graph import Graph
from ...kernels.batch import BITS
from ...kernels.brandes import BATCH, FRONTS, STATE_BYTES
from ..base import Betweenness
from .bit_parallel import HEADROOM, pieces_of
from .cooperative import WARP, LaunchTuning, levels_of_launch, require_end, sources_of_launch
from .launch import address, addresses, fill
from .published import Device, Needs, bytes_of, require_buffers

FILE = KERNEL = "betweenness"


@dataclass(frozen=True, kw_only=True)
class Tuning(LaunchTuning):
    """The thresholds of a launch; answers depend on them by rounding only."""

    alpha: int = 3  # bottom-up at every vertex when the frontier has more than 1/alpha of the arcs
    places: int = 1 << 20  # vertices times words of sources in a launch, unless there are more vertices
    threads: int = 256  # of a block
    blocks: int = 3  # of a multiprocessor, as the compiler is told


DEFAULT = Tuning()

Batch: Any = BATCH.in_memory()


class Brandes(Betweenness):
    """`betweenness` on a device. The first launch allocates the buffers."""

    def __init__(self, graph: Graph, device: Device, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph)
        self.device = device
        here = graph.to(device.searches_on)
        vertex = graph.targets.dtype
        self.types = vertex, graph.offsets.dtype
        pieces, in_pieces = (pieces_of(to_host(each.offsets), vertex)[1] for each in (here, here.reverse))
        self.pieces = max(len(pieces), len(in_pieces))
        arrays = {
            "offsets": here.offsets,
            "targets": here.targets,
            "in_offsets": here.reverse.offsets,
            "in_targets": here.reverse.targets,
            "pieces": pieces.view(np.uint8),
            "in_pieces": in_pieces.view(np.uint8),
            "state": np.zeros(STATE_BYTES, np.uint8),
        }
        with device.active():
            self.arrays = {name: device.upload(array) for name, array in arrays.items()}
        self.parameters = Batch(
            **addresses(self.arrays),
            n=graph.num_vertices,
            m=graph.num_arcs,
            piece_count=len(pieces),
            in_piece_count=len(in_pieces),
            most_levels=levels_of_launch(device, graph.num_vertices + 1),
        )
        self.tune(tuning)

    def tune(self, tuning: Tuning) -> None:
        """Use this tuning from now on."""
        self.tuning = tuning
        self.parameters.alpha = tuning.alpha
        self.capacity: tuple[int, bool] | None = None  # of the buffers: sources at once, and whether values are of arcs
        self.buffers: dict[str, Any] = {}

    def scores(self, sources: np.ndarray, is_target: np.ndarray, endpoints: bool, edges: bool) -> np.ndarray:
        graph, device, parameters = self.graph, self.device, self.parameters
        with device.working():
            device.synchronize()  # an interrupt may have left a launch running that reads the last uploads
            self._allocate(len(sources), edges)
            uploads = [device.upload(each) for each in (sources.astype(graph.targets.dtype), is_target)]
            self.uploads = uploads
            fill(self.buffers["scores"], 0, device.stream_handle)
            parameters.is_target = address(uploads[1])
            parameters.endpoints, parameters.edges = endpoints, edges
            for begin in range(0, len(sources), self.at_once):
                parameters.sources = address(uploads[0]) + begin * graph.targets.dtype.itemsize
                parameters.k = min(len(sources) - begin, self.at_once)
                self.launch()  # the driver copies the parameters
                if parameters.most_levels <= graph.num_vertices:
                    require_end(graph, device, self.arrays["state"])
            found: np.ndarray = device.host(self.buffers["scores"])
        return found

    def _allocate(self, k: int, edges: bool) -> None:
        """Allocate the buffers for ``k`` sources, or the largest number at once, unless they exist."""
        n, sources = max(self.graph.num_vertices, 1), 1 << max(k - 1, 0).bit_length()
        at_once = min(sources, BITS << max(self.tuning.places // n, 1).bit_length() - 1)
        at_once = min(at_once, sources_of_launch(self.device, self.graph.num_arcs))
        if self.capacity == (at_once, edges):
            return
        self.capacity, self.buffers = None, {}  # frees the last ones
        room = HEADROOM * self.device.free_bytes()
        self.at_once = at_once
        while self.at_once > 1 and bytes_of(self._needs(self.at_once, edges).values()) > room:
            self.at_once //= 2
        needs = self._needs(self.at_once, edges)
        require_buffers(self.device, self.graph, needs.values())
        self.buffers = self.device.allocated(needs)
        for name, place in addresses(self.buffers).items():
            setattr(self.parameters, name, place)
        self.parameters.shift = _shift(self.at_once)
        self.launch = self._launcher()
        self.capacity = at_once, edges

    def _needs(self, at_once: int, edges: bool) -> Needs:
        n, scored = self.graph.num_vertices, self.graph.num_arcs if edges else self.graph.num_vertices
        vertex, shift = self.graph.targets.dtype, _shift(at_once)
        return {
            "rows": (BITS * n << shift, np.float64),
            "seen": (n << shift, np.uint64),
            "fronts": (FRONTS * n << shift, np.uint64),
            "found": (n << shift, vertex),
            "log": (n * at_once, vertex),
            "log_bits": (n * at_once, np.uint64),
            "begins": (n + 2, np.int64),
            "partials": (BITS * self.pieces << shift, np.float64),
            "partial_bits": (self.pieces << shift, np.uint64),
            "arrivals": (self.pieces << shift, np.uint64),
            "sums": (scored << shift, np.float64),
            "scores": (scored, np.float64),
        }

    def _launcher(self) -> Any:
        tuning, device = self.tuning, self.device
        kernel = tuning.compiled(device, FILE, KERNEL, *self.types)
        grid = tuning.resident_blocks(kernel, device)
        items = self.graph.num_vertices + self.pieces << self.parameters.shift
        needed = -(-items * WARP // tuning.threads)
        grid = max(1, min(grid, needed if tuning.grid is None else tuning.grid)) if device.cooperative else 1
        return kernel.launcher(grid, tuning.threads, 0, device.stream_handle, self.parameters, cooperative=grid > 1)


def _shift(sources: int) -> int:
    """The logarithm of the number of words for so many sources, a power of two."""
    return int(max(sources // BITS, 1)).bit_length() - 1
