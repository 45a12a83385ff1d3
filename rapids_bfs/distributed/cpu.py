"""The level-synchronous search of a partition on one thread of the CPU, see `kernels.cpu.distributed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.memory import require_bytes
from ..kernels.cpu import distributed as kernels
from ..kernels.cpu.bits import ONE, WORD
from .build import Partition
from .communicators import Communicator
from .level_synchronous import LevelSynchronousSearch


class HostSearch(LevelSynchronousSearch):
    """The buffers of one partition in host memory, and the steps of a search on them."""

    def __init__(self, partition: Partition, communicator: Communicator) -> None:
        super().__init__(partition)
        size, stride, dtype = partition.partitioning.size, partition.partitioning.stride, partition.partitioning.dtype
        pair_bytes = 2 * size * (self.capacity + 1) * dtype.itemsize
        require_bytes(pair_bytes + stride * (size + 3) // 8 + 8 * stride, "a search of a distributed graph")
        self.seen = np.zeros(size * stride // WORD, np.uint64)
        self.excluded, self.visited, self.fresh = np.zeros((3, stride // WORD), np.uint64)
        self.queue = np.empty(partition.own, dtype)
        self.pairs = np.empty((size, 1 + self.capacity, 2), dtype)  # the first pair of each row holds the count
        kernels.exclude(partition.offsets, partition.in_offsets, self.excluded)
        self.found = np.zeros(4, np.int64)

    def begin(self, sources: np.ndarray, target: int, predecessors: bool) -> None:
        partition = self.partition
        self.distances = np.full(partition.own, -1, np.int32)
        self.predecessors = np.full(partition.own if predecessors else 0, -1, partition.partitioning.dtype)
        self.kept_predecessors = predecessors
        self.seen[:] = 0
        self.visited[:] = self.excluded
        self.target = -1 if target < 0 or _is_set(self.excluded, target) else target
        self.first, self.last = 0, len(sources)
        edges = kernels.seed(sources, partition.offsets, self.visited, self.queue, self.distances, self.predecessors)
        self._found(len(sources), edges)

    def _found(self, vertices: int, edges: int = 0, *, overflown: bool = False) -> None:
        at_target = self.target >= 0 and _is_set(self.visited, self.target)
        self.found[:] = vertices, edges, at_target, overflown

    def counters(self, communicator: Communicator) -> np.ndarray:
        return np.stack(communicator.allgather_object(self.found.copy()))

    def replicate(self, communicator: Communicator) -> None:
        self.seen.reshape(communicator.size, -1)[communicator.rank] = self.visited
        communicator.allgather(self.seen)

    def top_down(self, level: int, edges: tuple[int, ...], communicator: Communicator) -> None:
        partition, stride = self.partition, self.partition.partitioning.stride
        kernels.expand(
            *(partition.offsets, partition.targets, self.queue, self.first, self.last),
            *(partition.base, stride, self.seen, self.pairs),
        )
        held = np.minimum(self.pairs[:, 0, 0], self.capacity)
        received = communicator.alltoallv_new(
            [pairs[: 1 + count] for pairs, count in zip(self.pairs, held, strict=True)]
        )
        self.first = end = self.last
        if overflown := any(pairs[0, 1] for pairs in received):
            self._found(0, overflown=overflown)
            return
        reached = 0
        for pairs in received:
            end, more = kernels.settle(
                *(pairs[1:], partition.offsets, stride, level),
                *(self.visited, self.queue, end, self.distances, self.predecessors),
            )
            reached += more
        self.last = end
        self._found(end - self.first, reached)

    def bottom_up(self, level: int) -> None:
        partition = self.partition
        found = kernels.sweep(
            *(partition.in_offsets, partition.in_targets, self.seen, level),
            *(self.visited, self.fresh, self.distances, self.predecessors),
        )
        self._found(found)

    def enqueue(self) -> None:
        self.first = 0
        self.last, edges = kernels.enqueue(self.partition.offsets, self.fresh, self.queue)
        self._found(self.last, edges)

    def answer(self) -> tuple[Any, Any | None]:
        return self.distances, self.predecessors if self.kept_predecessors else None


def _is_set(bitmap: np.ndarray, bit: int) -> bool:
    return bool(bitmap[bit // WORD] >> np.uint64(bit % WORD) & ONE)
