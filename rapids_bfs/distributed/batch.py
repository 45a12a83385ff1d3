"""`rapids_bfs.bfs_batch` of a distributed graph: up to 64 sources at once, a bit of a word for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import on_device, to_host
from .._core.cuda.kernels import launch
from .._core.dtypes import INT32_LIMIT
from ..engines import BatchTraversal, Summary
from ..kernels.cpu import distributed_batch as kernels
from .build import Partition
from .communicators import Communicator
from .masks import bitmap_of, own_mask

FILE = "distributed_batch"
SOURCES = 64  # bits of a word
WORD_BYTES = 8


class DistributedBatch(BatchTraversal):
    """Searches from many sources by all ranks. Distances are gathered on the host, in the order of the graph's ids."""

    batch_size = SOURCES

    def __init__(self, graph: Any) -> None:
        super().__init__(graph)

    def distances(
        self,
        sources: np.ndarray,
        depth_limit: int | None,
        distances: np.ndarray,
        vertices: np.ndarray | None = None,
    ) -> None:
        graph: Any = self.graph
        bitmap = None if vertices is None else bitmap_of(graph, vertices)
        for first in range(0, len(sources), SOURCES):
            chunk = slice(first, first + SOURCES)
            found = self._searched(sources[chunk], depth_limit, True, bitmap)
            for rank, (rows, _) in enumerate(found):
                places = graph.places_of(graph.partitioning.own_global_ids(rank))
                for row, mine in zip(distances[chunk], rows, strict=True):
                    row[places] = mine

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: np.ndarray | None = None) -> Summary:
        bitmap = None if vertices is None else bitmap_of(self.graph, vertices)
        chunks = [sources[first : first + SOURCES] for first in range(0, len(sources), SOURCES)]
        found = [Summary.of(0), *(self._searched(chunk, depth_limit, False, bitmap)[0][1] for chunk in chunks)]
        return Summary(*map(np.concatenate, zip(*found, strict=True)))

    def _searched(
        self, sources: np.ndarray, depth_limit: int | None, keep: bool, bitmap: np.ndarray | None
    ) -> list[Any]:
        graph: Any = self.graph
        given = np.asarray(sources, np.int64), depth_limit, keep, bitmap
        found: list[Any] = graph.launcher.collect(search_batch, *given, each=[graph.partitions])
        return found


def search_batch(
    partition: Partition,
    communicator: Communicator,
    sources: np.ndarray,
    depth_limit: int | None,
    keep: bool,
    bitmap: np.ndarray | None = None,
) -> tuple[np.ndarray, Summary]:
    """Search from up to 64 ``sources`` (global ids) among the vertices of a bitmap, by default all. Returns the
    distances of this rank's vertices, on the host, a row for each source (no rows unless ``keep`` is true), and the
    summary, the same on all ranks."""
    with csr_for(partition.targets).working():
        search, k = BatchSearch(partition, len(sources) if keep else 0), len(sources)
        if bitmap is not None:
            search.keep_out(~own_mask(bitmap, partition))
        search.start(sources)
        summary = Summary(*(np.zeros_like(each) for each in Summary.of(k)))
        for level in range(INT32_LIMIT if depth_limit is None else depth_limit + 1):
            counts = np.sum(communicator.allgather_object(search.note(level)), axis=0)[:k]
            if not counts.any():
                break
            summary.reached[:] += counts
            summary.total[:] += level * counts
            summary.eccentricity[counts > 0] = level
            summary.harmonic[:] += counts / level if level else 0
            if level != depth_limit:
                search.exchange(communicator)
        return to_host(search.distances), summary


class BatchSearch:
    """The buffers of one rank, see `kernels.cpu.distributed_batch`, and its steps, on the host or on a device."""

    def __init__(self, partition: Partition, rows: int) -> None:
        """``rows``: for how many sources it keeps distances."""
        csr = csr_for(partition.targets)
        n, size, stride = partition.num_vertices, partition.partitioning.size, partition.partitioning.stride
        dtype = partition.partitioning.dtype
        words = 2 * (n + size * stride)
        needed = WORD_BYTES * words + dtype.itemsize * (n + size * stride) + 4 * rows * n
        csr.require(needed, "searches of a partition from many sources")
        self.partition, self.xp = partition, csr.xp
        self.reached, self.fresh = csr.xp.zeros((2, n), np.uint64)
        self.sent, self.upcoming = csr.xp.zeros((2, size * stride), np.uint64)
        self.touched = csr.xp.empty((size, stride), dtype)
        self.queue, self.held = csr.xp.empty(n, dtype), 0
        self.distances = csr.xp.full((rows, n), -1, np.int32)
        self.on_device = on_device(partition.targets)

    def keep_out(self, vertices: Any) -> None:
        """Let the vertices of this mask count as reached from everywhere. Their words never become fresh."""
        self.reached[vertices] = ~np.uint64(0)

    def start(self, sources: np.ndarray) -> None:
        """Enqueue those of the sources that this rank owns."""
        own, local_ids = self.partition.owned(sources)
        vertices, places = np.unique(local_ids, return_inverse=True)
        words = np.zeros(len(vertices), np.uint64)
        np.bitwise_or.at(words, places, np.uint64(1) << own.astype(np.uint64))
        self.settle(self.xp.asarray(words), self.xp.asarray(vertices.astype(self.queue.dtype)))

    def note(self, level: int) -> np.ndarray:
        """How many of this rank's vertices each source has reached in this level (int64, 64)."""
        if not self.on_device:
            counts = np.zeros(SOURCES, np.int64)
            kernels.note(self.queue, self.held, self.fresh, level, self.distances, counts)
            return counts
        found = self.xp.zeros(SOURCES, np.int64)
        distances = self.distances if len(self.distances) else None
        given = self.queue, self.held, self.fresh, level, self.partition.num_vertices, distances, found
        launch(FILE, "note", self.queue.dtype, np.int64, self.held, *given)
        return to_host(found)

    def exchange(self, communicator: Communicator) -> None:
        """Send the frontier's sources to the owners of its neighbours, and settle what other ranks sent here."""
        counts = self.expand()
        self.fresh[self.queue[: self.held]] = 0
        self.held = 0
        messages = [self._message(owner, count) for owner, count in enumerate(counts)]
        for message in communicator.alltoallv_new(messages):
            pairs = len(message) // (WORD_BYTES + self.queue.dtype.itemsize)
            words, local_ids = message[: WORD_BYTES * pairs], message[WORD_BYTES * pairs :]
            self.settle(words.view(np.uint64), local_ids.view(self.queue.dtype))

    def _message(self, owner: int, count: int) -> Any:
        """The words and the local ids of an owner's vertices, as bytes."""
        stride = self.partition.partitioning.stride
        upcoming = self.upcoming[owner * stride : (owner + 1) * stride]
        local_ids = self.touched[owner, :count]
        words = upcoming[local_ids]
        upcoming[local_ids] = 0
        return self.xp.concatenate([words.view(np.uint8), local_ids.view(np.uint8)])

    def expand(self) -> list[int]:
        """Fill ``upcoming`` and ``touched`` from the frontier. Returns how many vertices of each owner are touched."""
        partition, xp = self.partition, self.xp
        counts = xp.zeros(partition.partitioning.size, np.int64)
        rows, stride = (partition.offsets, partition.targets), partition.partitioning.stride
        into = self.fresh, stride, self.sent, self.upcoming, self.touched, counts
        if not self.on_device:
            kernels.expand(*rows, self.queue, self.held, *into)
        elif self.held:
            frontier = self.queue[: self.held]
            starts = xp.zeros(self.held + 1, np.int64)
            xp.cumsum(partition.offsets[frontier + 1] - partition.offsets[frontier], out=starts[1:])
            edges = int(starts[-1])
            given = *rows, frontier, starts, self.held, edges, *into
            launch(FILE, "expand", self.queue.dtype, np.int64, edges, *given)
        found: list[int] = counts.tolist()
        return found

    def settle(self, words: Any, local_ids: Any) -> None:
        if not self.on_device:
            self.held = kernels.settle(words, local_ids, self.reached, self.fresh, self.queue, self.held)
            return
        held = self.xp.full(1, self.held, np.int64)
        given = words, local_ids, len(local_ids), self.reached, self.fresh, self.queue, held
        launch(FILE, "settle", self.queue.dtype, np.int64, len(local_ids), *given)
        self.held = int(held[0])
