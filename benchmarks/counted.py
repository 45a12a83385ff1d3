"""Searches over simulated ranks that count the bytes sent: by rows, which is our own distributed search with threads as
ranks, and in two dimensions, see `grid`."""

import pickle
from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any
from unittest import mock

import numpy as np

from rapids_bfs import bfs, load
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed import level_synchronous
from rapids_bfs.distributed.communicators import Communicator, ThreadCommunicator
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.level_synchronous import LevelCounters
from rapids_bfs.kernels.cpu.distributed_search import HEAD

from .cases import expect
from .grid import Grid, Sent
from .record import Record

ROWS, TWO_DIMENSIONS = "rows", "two dimensions"
TOP_DOWN, BOTH_DIRECTIONS = "top-down", "both directions"
CONSTANTS = {  # of the search: as they are, or never bottom-up and with room for all pairs
    BOTH_DIRECTIONS: {"ALPHA": level_synchronous.ALPHA},
    TOP_DOWN: {"ALPHA": 0, "CAPACITY_DIVISOR": 1, "may_overflow": lambda *given: False},
}
MANY = 8192  # ranks


class CountingCommunicator(ThreadCommunicator):
    """A communicator that logs the bytes its rank sends. A traced search calls `bytes_sent` before its first level and
    after each."""

    log: list[Sent]
    level = 0

    def bytes_sent(self) -> int:
        self.level += 1
        return super().bytes_sent()

    def sent(self, kind: str, sizes: Sequence[int], messages: int = 1) -> None:
        others = [size for rank, size in enumerate(sizes) if rank != self.rank]
        self.log.append(Sent(self.level, self.rank, kind, sum(others), messages * len(others)))

    def allgather_object(self, value: Any) -> list[Any]:
        self.sent("framing", [len(pickle.dumps(value))] * self.size)
        return super().allgather_object(value)

    def allgather(self, whole: Any) -> None:
        kind = "bitmap" if whole.dtype == np.uint64 else "counters"
        self.sent(kind, [whole.nbytes // self.size] * self.size)
        super().allgather(whole)

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        """Counters precede bitmaps, and a head precedes pairs."""
        kind, before, length = (
            ("bitmap", "counters", len(LevelCounters._fields))
            if pieces[0].dtype == np.uint64
            else ("pairs", "framing", HEAD)
        )
        length *= pieces[0].itemsize
        self.sent(kind, [piece.nbytes - length for piece in pieces])
        self.sent(before, [length] * self.size, messages=0)
        super().alltoallv(pieces, into)


class CountingThreads(Threads):
    """Ranks on the CPU whose communicators write into one log."""

    def __init__(self, size: int) -> None:
        super().__init__(["cpu"] * size)
        self.log: list[Sent] = []

    def _group(self) -> Sequence[Communicator]:
        group = CountingCommunicator.group(self.names, self.timeout)
        for communicator in group:
            communicator.log = self.log
        return group


def by_rows(whole: Any, size: int, sources: Sequence[int]) -> Iterator[tuple[Any, list[Sent]]]:
    """The traced results of searches over this many ranks, and the log of the bytes sent."""
    launcher = CountingThreads(size)
    graph = from_graph(whole, launcher)
    graph.prepare()
    for source in sources:
        launcher.log = []
        yield bfs(graph, source, trace=True), launcher.log


def spread(sources: np.ndarray, targets: np.ndarray, owners: np.ndarray) -> int:
    """The number of pairs that a purely top-down search sends if it reaches the ends of all arcs: one for each vertex
    and each rank that owns a neighbour but not the vertex. ``owners`` are the ranks of the vertices."""
    apart = owners[sources] != owners[targets]
    return len(np.unique(targets[apart].astype(np.int64) * (owners.max() + 1) + owners[sources][apart]))


def by_level(log: Sequence[Sent], size: int, depth: int) -> Record:
    """By level, the bytes of each kind that all ranks sent, those of the busiest rank, and the most messages of one."""
    kinds: dict[str, np.ndarray] = {}
    bytes_of, messages = np.zeros((2, depth, size), np.int64)
    for level, rank, kind, count, parts in log:
        if level:  # not what precedes the search or follows it
            kinds.setdefault(kind, np.zeros(depth, np.int64))[level - 1] += count
            bytes_of[level - 1, rank] += count
            messages[level - 1, rank] += parts
    most = {"busiest": bytes_of.max(axis=1).tolist(), "messages": messages.max(axis=1).tolist()}
    return {"sent": {kind: kinds[kind].tolist() for kind in sorted(kinds)}, **most}


def runs(spec: str, sizes: Sequence[int], count: int) -> Iterator[Record]:
    """A record of each search, by rows and in two dimensions, level by level in the same direction. Raises
    `WrongAnswerError` unless they find the distances that one device does."""
    whole = load(spec)
    numbers = np.random.default_rng(0).permutation(whole.num_vertices)  # of the grid's vertices
    sources, targets = np.repeat(numbers, np.diff(whole.offsets)), numbers[whole.targets]
    facts = {"graph": spec, "spread": spread(sources, targets, numbers % MANY)}
    expected = {int(source): bfs(whole, int(source)).distances for source in sample_sources(whole, count)}
    for size in sizes:
        grid = Grid(whole.num_vertices, sources, targets, isqrt(size), isqrt(size))
        for way, constants in CONSTANTS.items():
            with mock.patch.multiple(level_synchronous, **constants):
                results = list(by_rows(whole, size, list(expected)))
            for source, (result, log) in zip(expected, results, strict=True):
                directions = [level.direction for level in result.trace]
                expect((result.to("cpu").distances == expected[source]).all(), f"{spec} by rows from {source}")
                found = grid.search(int(numbers[source]), iter(directions))[numbers]
                expect((found == expected[source]).all(), f"{spec} in two dimensions from {source}")
                facts |= {"ranks": size, "source": source, "way": way, "directions": directions}
                facts |= {"reached": result.num_reached}
                for name, each in ((ROWS, log), (TWO_DIMENSIONS, grid.log)):
                    yield {**facts, "partitioning": name, **by_level(each, size, len(directions))}
