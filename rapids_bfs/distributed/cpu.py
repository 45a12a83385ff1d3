"""The level-synchronous search of a partition on the threads of a CPU, see `kernels.cpu.distributed_search`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.memory import require_bytes
from .._core.threads import pool
from ..engines.cpu.search import keep_freed_memory
from ..kernels.cpu import distributed_search as kernels
from ..kernels.cpu.bits import ONE, WORD
from .build import Partition
from .communicators import Communicator
from .level_synchronous import LevelSynchronousSearch, Request
from .masks import own_words

FEW_VERTICES = 1 << 15  # of a partition; one thread has swept fewer before the others are awake
FEW = 1 << 10  # frontier edges, or elements of entries
COPIES = 4  # of the entries of a level: those to send and those received, both also on their way


class HostSearch(LevelSynchronousSearch):
    """The buffers of one partition in host memory, and the steps of a search on them."""

    def __init__(self, partition: Partition, communicator: Communicator) -> None:
        super().__init__(partition)
        keep_freed_memory()
        self.rank = partition.rank
        size, stride, dtype = partition.partitioning.size, partition.partitioning.stride, partition.partitioning.dtype
        threads, length = pool.most, kernels.HEAD + 2 * self.capacity
        bitmaps, answer = (size + 3) * stride // 8, (4 + dtype.itemsize) * stride
        entries = (COPIES * size * length + threads * size * kernels.BATCH + 2 * stride) * dtype.itemsize
        require_bytes(entries + bitmaps + answer + size * stride, "a search of a distributed graph")
        self.excluded, visited, fresh = np.zeros((3, stride // WORD), np.uint64)
        kernels.exclude(partition.offsets, partition.in_offsets, self.excluded)
        self.arrays = kernels.RankSearch(
            partition.offsets,
            partition.targets,
            partition.in_offsets,
            partition.in_targets,
            hub=np.empty(partition.num_vertices, dtype),
            seen=np.zeros(size * stride // WORD, np.uint64),
            visited=visited,
            fresh=fresh,
            queue=np.empty(partition.num_vertices, dtype),
            distances=np.empty(0, np.int32),
            predecessors=np.empty(0, dtype),
            outgoing=np.empty((size, length), dtype),
            buffers=np.empty((threads, size, kernels.BATCH), dtype),
            held=np.zeros((threads, -(-size // kernels.LANE) * kernels.LANE), np.int64),
            counters=np.zeros(kernels.COUNTERS + size * kernels.LANE, np.int64),
            base=partition.base,
            stride=stride,
        )
        self.found = np.zeros((size, 4), np.int64)  # counters of all ranks
        self.share = max(pool.size // size, 1) if communicator.one_process else None  # of the threads
        self._find_hubs(communicator)

    def _team(self, things: int, few: int) -> tuple[np.ndarray, int]:
        return pool.team(things, few, self.share)

    def _find_hubs(self, communicator: Communicator) -> None:
        partition, s = self.partition, self.arrays
        weights = np.zeros((communicator.size, s.stride), np.uint8)
        kernels.weigh(s.offsets, weights[communicator.rank])
        communicator.allgather_slices(weights)
        kernels.find_hubs(
            *(s.in_offsets, s.in_targets, weights.reshape(-1), s.base, s.hub, s.counters),
            *self._team(partition.num_vertices, FEW_VERTICES),
        )

    def begin(self, request: Request) -> None:
        partition, rank, predecessors = self.partition, self.rank, request.predecessors
        sources, target = np.asarray(request.sources[rank], np.int64), request.target_on(rank)
        s = self.arrays = self.arrays._replace(
            distances=np.full(partition.num_vertices, -1, np.int32),
            predecessors=np.full(partition.num_vertices if predecessors else 0, -1, partition.partitioning.dtype),
        )
        self.width = 2 if predecessors else 1  # elements of an entry
        s.seen[:] = 0
        self.allowed = None if request.vertices is None else own_words(request.vertices, partition.partitioning, rank)
        s.visited[:] = self.excluded if self.allowed is None else self.excluded | ~self.allowed
        self.swept = False  # was the last step a sweep?
        self.target = -1 if target < 0 or _is_set(self.excluded, target) else target
        self.first, self.last = 0, len(sources)
        edges = kernels.seed(sources, partition.offsets, s.visited, s.queue, s.distances, s.predecessors)
        self._set_counters(len(sources), edges)

    def _set_counters(self, vertices: int, edges: int = 0, *, overflown: bool = False) -> None:
        at_target = self.target >= 0 and _is_set(self.arrays.visited, self.target)
        self.found[self.rank] = vertices, edges, at_target, overflown

    def counters(self, communicator: Communicator) -> np.ndarray:
        self.bytes_needed += (communicator.size - 1) * self.found[self.rank].nbytes
        if self.swept:
            self._exchange_swept(communicator)
        else:
            communicator.allgather(self.found)
        return self.found

    def _exchange_swept(self, communicator: Communicator) -> None:
        """Exchange the counters after a sweep and, with them, the bitmaps of ranks that found any vertex: the next step
        needs them."""
        s, own = self.arrays, self.found[self.rank]
        self.bytes_needed += (communicator.size - 1) * (s.visited.nbytes if own[0] else 0)
        packet = np.concatenate([own.view(np.uint64), self._parents()[: len(s.visited) if own[0] else 0]])
        for rank, received in enumerate(communicator.alltoallv_new([packet] * communicator.size)):
            self.found[rank] = received[: len(own)].view(np.int64)
            if len(received) > len(own):
                s.seen.reshape(communicator.size, -1)[rank] = received[len(own) :]

    def _parents(self) -> np.ndarray:
        """The visited vertices, among which other ranks look for parents. Masked vertices count as visited, as those
        without edges do; they have edges by which they would be found, so they are left out here."""
        visited: np.ndarray = self.arrays.visited
        return visited if self.allowed is None else visited & self.allowed

    def replicate(self, communicator: Communicator) -> None:
        if self.swept:  # the counters brought the bitmaps
            return
        s = self.arrays
        self.bytes_needed += (communicator.size - 1) * s.visited.nbytes
        s.seen.reshape(communicator.size, -1)[communicator.rank] = self._parents()
        communicator.allgather(s.seen)

    def top_down(self, level: int, edges: tuple[int, ...], communicator: Communicator) -> None:
        s, width = self.arrays, self.width
        kernels.expand(s, self.first, self.last, width, *self._team(edges[self.rank], FEW))
        counts = s.outgoing[:, kernels.COUNT].tolist()
        self.bytes_needed += (sum(counts) - counts[self.rank]) * width * s.outgoing.itemsize
        received = communicator.alltoallv_new(
            [entries[: kernels.HEAD + width * count] for entries, count in zip(s.outgoing, counts, strict=True)]
        )
        self.first = end = self.last
        if overflown := any(entries[kernels.OVERFLOWN] for entries in received):
            self._set_counters(0, overflown=overflown)
            return
        reached = 0
        for entries in received:
            end, more = kernels.settle(s, entries, width, level, end, *self._team(len(entries), FEW))
            reached += more
        self.last = end
        self._set_counters(end - self.first, reached)

    def bottom_up(self, level: int) -> None:
        self._set_counters(kernels.sweep(self.arrays, level, *self._team(self.partition.num_vertices, FEW_VERTICES)))
        self.swept = True

    def enqueue(self) -> None:
        self.first = 0
        self.last, edges = kernels.enqueue(self.arrays, *self._team(self.partition.num_vertices, FEW_VERTICES))
        self._set_counters(self.last, edges)
        self.swept = False

    def answer(self) -> tuple[Any, Any | None]:
        return self.arrays.distances, self.arrays.predecessors if self.width == 2 else None


def _is_set(bitmap: np.ndarray, bit: int) -> bool:
    return bool(bitmap[bit // WORD] >> np.uint64(bit % WORD) & ONE)
