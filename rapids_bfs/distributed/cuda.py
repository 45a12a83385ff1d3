"""The level-synchronous search of a partition on a GPU, see `kernels/cuda/distributed/search.cu`.

A level takes a few launches, and the host waits once.
"""

from __future__ import annotations

import ctypes
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from .._core.formatting import size
from ..engines.gpu.cooperative import WARP, LaunchTuning, bytes_of_tiles, words_per_tile
from ..engines.gpu.launch import address, addresses, copy, fill
from ..engines.gpu.published import Device, Needs, bytes_of
from ..errors import InputError
from ..kernels.distributed import COLUMNS, EXCHANGE
from ..kernels.whole_search import GROUP, SEARCH, TILE
from .build import Partition
from .communicators import Communicator
from .level_synchronous import LevelSynchronousSearch, Request

FILE = "distributed"
SLACK = 256  # pairs that a bucket can take beyond the expected number
ROWS = ("offsets", "targets", "in_offsets", "in_targets")  # of a partition
PREPARED = ("hub", "heavy", "isolated")  # the arrays that the kernel `prepare_partition` fills
Search: Any = SEARCH.in_memory()
Exchange: Any = EXCHANGE.in_memory()


@dataclass(frozen=True, kw_only=True)
class Tuning(LaunchTuning):
    """How the kernels are launched; no answer depends on it. The common parameters are those of the sweep."""

    other_threads: int = 256  # of a block of the other kernels
    other_blocks: int = 8  # of these, for each multiprocessor


class Answers(NamedTuple):
    """The output arrays of a search by local id (int32 and global ids), and their addresses, which are slow to get."""

    distances: Any
    predecessors: Any | None
    at_distances: int
    at_predecessors: int | None
    cleared: bool = False  # are all predecessors -1?


def expected(edges: int, size: int) -> int:
    """How many pairs a frontier with this many edges sends to one of ``size`` ranks, at most. Global ids are scrambled,
    so the pairs are spread evenly, within 8 standard deviations."""
    return min(edges, edges // size + 8 * isqrt(edges) + SLACK)


class DevicePartition:
    """A partition's rows on its device, with the arrays that both kinds of search share and that no search changes.

    ``s`` are the kernels' parameters that do not depend on the search.
    """

    def __init__(
        self, partition: Partition, communicator: Communicator, device: Device, tuning: Tuning = Tuning()
    ) -> None:
        self.partition, self.device, self.tuning = partition, device, tuning
        n, dtype = partition.num_vertices, partition.partitioning.dtype
        self.own_words = partition.partitioning.stride // WARP
        self.words = partition.partitioning.size * self.own_words
        edge_bits = max(len(partition.targets), len(partition.in_targets), 1).bit_length()
        if n.bit_length() + edge_bits > 64:
            raise InputError("a partition has too many vertices and edges to count both in 64 bits: use more devices")
        with device.working():
            self.arrays = self.allocate(
                {
                    "hub": (n, dtype),
                    "heavy": (GROUP * n, dtype),
                    "queue": (2 * n, np.int64),
                    "queued": (n, dtype),
                    "isolated": (self.own_words, np.uint32),
                }
            )
            # They are there already, but kernels that write them may be pending: `upload` waits for these.
            self.rows = {name: device.upload(getattr(partition, name)) for name in ROWS}
            self.kernels = device.compiled_together(FILE, dtype, np.dtype(np.int64), tuning.threads, tuning.blocks)
            self.s = Search(
                **addresses(self.arrays | self.rows), n=n, m=len(partition.in_targets), edge_bits=edge_bits, target=-1
            )
            self._prepare(communicator)
            device.synchronize()

    def allocate(self, needs: Needs) -> dict[str, Any]:
        """New arrays of these lengths and types, by name. Raises `InputError` if they and an answer do not fit."""
        device, partition = self.device, self.partition
        answer = 2 * partition.num_vertices * (4 + partition.partitioning.dtype.itemsize)
        needed = bytes_of(needs.values()) + answer
        if needed > device.free_bytes():
            raise InputError(f"a search of this partition needs {size(needed)} of device memory: use more devices")
        return device.allocated(needs)

    def allocate_answers(self, predecessors: bool) -> Answers:
        """New arrays for distances and, if asked for, predecessors."""
        n, dtype = self.partition.num_vertices, self.partition.partitioning.dtype
        tree = self.device.empty(n, dtype) if predecessors else None
        distances = self.device.empty(n, np.int32)
        return Answers(distances, tree, address(distances), None if tree is None else address(tree))

    def answer_in(self, answers: Answers) -> None:
        """Let later launches write to these arrays."""
        self.s.distances, self.s.predecessors = answers.at_distances, answers.at_predecessors

    def _prepare(self, communicator: Communicator) -> None:
        """Find the in-neighbours of highest degree, over all partitions, and the vertices without edges."""
        partition, device, rows = self.partition, self.device, self.rows
        stream, stride = device.stream_handle, partition.partitioning.stride
        weights = device.empty(partition.partitioning.size * stride, np.uint8)
        fill(weights, 0, stream)
        fill(self.arrays["isolated"], 0xFF, stream)
        pointer, vertex = ctypes.c_void_p, np.ctypeslib.as_ctypes_type(partition.partitioning.dtype)
        many = self.tuning.other_blocks * device.multiprocessors
        own = weights[partition.base :]
        given = pointer(address(rows["offsets"])), ctypes.c_int64(partition.num_vertices), pointer(address(own))
        self.kernels["weigh"].launcher(many, self.tuning.other_threads, 0, stream, *given)()
        device.synchronize()
        communicator.allgather_slices(weights, device.synchronize)
        given_rows = rows["offsets"], rows["in_offsets"], rows["in_targets"]
        arrays = (*given_rows, weights, *(self.arrays[name] for name in PREPARED))
        given = vertex(partition.num_vertices), vertex(partition.base), *(pointer(address(each)) for each in arrays)
        self.kernels["prepare_partition"].launcher(many, self.tuning.other_threads, 0, stream, *given)()
        device.synchronize()


class DeviceSearch(LevelSynchronousSearch):
    """The buffers of one partition, and the kernels' parameters in two structures; each step changes a few fields."""

    def __init__(self, device_partition: DevicePartition, transport: str) -> None:
        """``transport`` says how the ranks communicate, and why not in one launch."""
        super().__init__(device_partition.partition)
        self.transport = transport
        self.device_partition, self.device, self.s = device_partition, device_partition.device, device_partition.s
        partition, words = device_partition.partition, device_partition.own_words
        dtype, partitions = partition.partitioning.dtype, partition.partitioning.size
        pairs = 2 * (1 + self.capacity) * partitions
        with self.device.working():
            self.arrays = device_partition.allocate(
                {
                    "visited": (words, np.uint32),
                    "upcoming": (words, np.uint32),
                    "fresh": (words, np.uint32),
                    "seen": (device_partition.words, np.uint32),
                    "sent": (pairs, dtype),
                    "received": (pairs, dtype),
                    "counters": (3, np.uint64),
                    "gathered": (partitions * COLUMNS, np.int64),
                }
            )
            self.on_host = self.device.mapped(partitions * COLUMNS, np.int64)[0]
            self._fill_in()
            self._make_launchers()

    def _fill_in(self) -> None:
        partition, at = self.partition, addresses(self.arrays)
        self.s.visited = at["visited"]
        self.x = Exchange(
            **{name: at[name] for name in ("seen", "upcoming", "fresh", "sent", "received", "gathered")},
            tail=at["counters"],
            found=at["counters"] + 8,
            left=at["counters"] + 16,
            on_host=np.asarray(self.on_host).ctypes.data,  # with unified addressing, the device's address too
            partitions=partition.partitioning.size,
            rank=partition.rank,
            stride=partition.partitioning.stride,
            capacity=self.capacity,
        )

    def _make_launchers(self) -> None:
        device, tuning, kernels = self.device, self.device_partition.tuning, self.device_partition.kernels
        stream = device.stream_handle
        shared = bytes_of_tiles(tuning.threads)
        grid = tuning.resident_blocks(kernels["sweep"], device, shared)
        grid = grid if tuning.grid is None else min(grid, tuning.grid)
        self.s.tile = words_per_tile(TILE, self.partition.num_vertices, grid * tuning.threads // WARP)
        many = tuning.other_blocks * device.multiprocessors
        grids = {"begin": 1, "report": 1, "expand": many, "settle_received": many}
        grids |= dict.fromkeys(("sweep_rows", "note", "list"), many)
        self.launch = {
            name: kernels[name].launcher(blocks, tuning.other_threads, 0, stream, self.s, self.x)
            for name, blocks in grids.items()
        }
        self.launch["sweep"] = kernels["sweep"].launcher(grid, tuning.threads, shared, stream, self.s, self.x)
        self.launch["copy_to_host"] = kernels["copy_to_host"].launcher(1, tuning.other_threads, 0, stream, self.x)

    def active(self) -> AbstractContextManager[Any]:
        return self.device.working()

    def begin(self, request: Request) -> None:
        device, stream = self.device, self.device.stream_handle
        self.answers: Answers | None = self.device_partition.allocate_answers(request.predecessors)
        self.device_partition.answer_in(self.answers)
        for array, byte in ((self.answers[0], 0xFF), (self.answers[1], 0xFF), (self.arrays["counters"], 0)):
            if array is not None:
                fill(array, byte, stream)
        fill(self.arrays["seen"], 0, stream)
        isolated = address(self.device_partition.arrays["isolated"])
        copy(address(self.arrays["visited"]), isolated, 4 * self.device_partition.own_words, stream)
        rank, partitioning = self.partition.rank, self.partition.partitioning
        self.sources = device.upload(np.ascontiguousarray(request.sources[rank], partitioning.dtype))
        self.s.sources, self.s.count = address(self.sources), len(self.sources)
        self.x.target = self._findable(request.target_on(rank))
        self.x.begin = self.x.end = 0
        self.launch["begin"]()

    def _findable(self, target: int) -> int:
        """The target, or -1 if it has no edges: the search sets the bits of such vertices when it begins."""
        if target < 0:
            return -1
        bounds = [
            self.device.host(self.device_partition.rows[name][target : target + 2])
            for name in ("offsets", "in_offsets")
        ]
        return target if any(ends[0] != ends[1] for ends in bounds) else -1

    def counters(self, communicator: Communicator) -> np.ndarray:
        self.launch["report"]()
        communicator.allgather(self.arrays["gathered"])
        self.launch["copy_to_host"]()
        communicator.wait(self.device.synchronize)
        rows = np.asarray(self.on_host).reshape(-1, COLUMNS)
        self.queued = int(rows[self.partition.rank, -1])
        return rows[:, :-1]

    def replicate(self, communicator: Communicator) -> None:
        seen, words = self.arrays["seen"], self.device_partition.own_words
        mine = address(seen) + 4 * words * self.partition.rank
        copy(mine, address(self.arrays["visited"]), 4 * words, self.device.stream_handle)
        communicator.allgather(seen)

    def top_down(self, level: int, edges: tuple[int, ...], communicator: Communicator) -> None:
        x = self.x
        capacities = [min(expected(each, communicator.size), self.capacity) for each in edges]
        x.level, x.level_capacity = level, capacities[communicator.rank]
        x.vertices, x.edges = self.queued, edges[communicator.rank]
        x.begin, x.end = x.end, x.end + self.queued
        if x.edges:
            self.launch["expand"]()
        segment = 2 * (1 + self.capacity)
        sent, received = (self.arrays[name].reshape(-1, segment) for name in ("sent", "received"))
        communicator.alltoallv(
            [pairs[: 2 * (1 + x.level_capacity)] for pairs in sent],
            [pairs[: 2 * (1 + capacity)] for pairs, capacity in zip(received, capacities, strict=True)],
        )
        self.launch["settle_received"]()

    def bottom_up(self, level: int) -> None:
        self.x.level = level
        self.launch["sweep"]()
        self.launch["sweep_rows"]()
        self.launch["note"]()

    def enqueue(self) -> None:
        self.x.begin = self.x.end = 0
        self.launch["list"]()

    def answer(self) -> tuple[Any, Any | None]:
        assert self.answers is not None
        distances, predecessors = self.answers[:2]
        self.answers = self.sources = None
        return distances, predecessors
