"""The host's side of `deterministic` in Numba-CUDA: the tree of a sequential queue, in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import csr
from ..device import CPU
from ..errors import InputError
from ..kernels.ordered_search import KEY_BITS, MOST_THREADS, NUMBERS, POINTERS
from ..kernels.whole_search import TILE
from ..trace import Step
from . import Options
from ._deterministic import FILE
from ._launch import address, fill
from ._levels import require_device_bytes
from ._one_launch import STATE_BYTES, WARP, OneLaunch, blocks_of_grid, structure, words_per_tile

if TYPE_CHECKING:
    from ._direction_optimizing import DirectionOptimizing

MOST_BLOCKS = 32  # of a multiprocessor


@dataclass(frozen=True)
class Tuning:
    """What a search may be tuned by; no answer depends on it."""

    alpha: int = 4  # a level is wide when its frontier has more than 1/alpha of the unexplored edges
    wide: int = 1 << 18  # and at least so many
    alone: int = 2048  # a frontier with no more edges is one block's work
    together: int = 1 << 15  # and with no more than this one cluster's
    threads: int = MOST_THREADS  # of a block
    blocks: int = 1  # of a multiprocessor, as the compiler is told
    grid: int | None = None  # blocks in all, at most; None: as many as the device holds, or 1 for a small graph
    cluster: int = 16  # blocks of a cluster; 1: no clusters
    deep: int = 64  # a graph whose last search had more levels is searched by clusters


DEFAULT = Tuning()
Search: Any = structure("Search", POINTERS, NUMBERS)


class OrderedSearch:
    """Deterministic searches beside the default ones of ``default``, whose graph and buffers they use.

    Distances and predecessors are its own, so that neither kind of search has to know what the other left.
    """

    def __init__(self, default: DirectionOptimizing, tuning: Tuning = DEFAULT) -> None:
        self.graph = graph = default.graph
        self.device = device = default.device
        n, m = graph.num_vertices, graph.num_arcs
        vertex, offset = graph.targets.dtype, graph.offsets.dtype
        if n.bit_length() + default.edge_bits > KEY_BITS:
            raise InputError(
                f"{graph.name} has too many vertices and edges to number both in {KEY_BITS} bits: use engine='cpu'"
            )
        here = graph.on(CPU)
        in_edges: dict[str, np.ndarray] = {}  # those of the default search will do if adjacencies ascend
        if not csr.ascends(here.offsets, here.targets):
            in_edges["in_offsets"], in_edges["in_targets"] = csr.transpose(here.offsets, here.targets)
            in_edges["positions"] = csr.transposed_positions(here.offsets, here.targets)
        words = m // WARP + 1
        needs = [
            (n, np.int32),  # distances
            (n, vertex),  # predecessors
            (n, offset),  # claims
            (n, offset),  # first
            (words, np.uint32),  # marks
            (words, vertex),  # below
            (MOST_BLOCKS * device.multiprocessors, np.int64),  # counts
            (STATE_BYTES, np.uint8),
        ]
        uploads = [(len(array), array.dtype) for array in in_edges.values()]
        require_device_bytes(device, graph, needs + uploads)
        with device.active():
            self.in_edges = {name: device.upload(array) for name, array in in_edges.items()}
            self.buffers = [device.empty(*need) for need in needs]
            self.distances, self.predecessors, claims, first, marks, below, counts, state = self.buffers
            fill(state, 0, device.stream_handle)
            device.synchronize()
        shared = default.parameters
        self.parameters = Search(
            offsets=shared.offsets,
            targets=shared.targets,
            in_offsets=shared.in_offsets,
            in_targets=shared.in_targets,
            visited=shared.visited,
            marks=address(marks),
            below=address(below),
            counts=address(counts),
            queue=shared.queue,
            queued=shared.queued,
            claims=address(claims),
            first=address(first),
            distances=address(self.distances),
            predecessors=address(self.predecessors),
            state=address(state),
            n=n,
            m=m,
            edge_bits=default.edge_bits,
        )
        for name, array in self.in_edges.items():
            setattr(self.parameters, name, address(array))
        with device.active():
            self.host = OneLaunch(graph, device, self.parameters)
            self.tune(tuning)

    def tune(self, tuning: Tuning) -> None:
        """Search like this from now on."""
        self.tuning = tuning
        graph, device, threads = self.graph, self.device, tuning.threads
        kernel = device.compiled(FILE, "search", graph.targets.dtype, graph.offsets.dtype, threads, tuning.blocks)
        grid = blocks_of_grid(kernel, device, graph, tuning, 0)
        clusters = 0
        if tuning.cluster > 1 and grid > tuning.cluster:
            clusters = kernel.resident_clusters(tuning.cluster, threads, 0, device.stream_handle)

        parameters = self.parameters
        for name in ("alpha", "wide", "alone", "together"):
            setattr(parameters, name, getattr(tuning, name))
        parameters.tile = words_per_tile(TILE, graph.num_vertices, grid * threads // WARP)

        launcher = partial(kernel.launcher, cooperative=True)
        rest = threads, 0, device.stream_handle, parameters
        self.launch = self.launch_deep = launcher(grid, *rest)
        if clusters:
            self.launch_deep = launcher(clusters * tuning.cluster, *rest, cluster=tuning.cluster)

    def search(self, sources: np.ndarray, options: Options) -> list[Step] | None:
        """Search, wait, and return the levels if they are traced."""
        self.parameters.source = int(sources[0])
        self.host.begin(sources, options)
        deep = self.host.levels > self.tuning.deep  # the last search was
        (self.launch_deep if deep else self.launch)()
        self.host.finish()
        return self.host.steps() if options.trace else None
