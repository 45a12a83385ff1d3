"""A partition of a graph searched in one launch, see `kernels/cuda/distributed/one_launch.cu`.

The partitions write into each other's windows and meet there; the host comes back when the search is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA
from .._core.memory import SHARED_BYTES
from ..engines.gpu.cupy import CuPyDevice
from ..engines.gpu.launch import address, copy, fill
from ..engines.gpu.persistent import SMALL_ARCS, SPINS, WARP, bytes_of_tiles, words_per_tile
from ..errors import InputError, TraversalError
from ..kernels.distributed import GIVEN_UP, MAX_PARTITIONS, MESSAGE_BYTES, OUTCOME, RANKS, TALLY_BYTES, TRACED
from ..kernels.whole_search import BITMAPS, STATE_BYTES, TILE
from ..trace import Step, steps_noted
from .build import Partition
from .communicators import Aborted, Communicator, no_answer
from .cuda import Answers, DevicePartition, DeviceSearch
from .launchers import At
from .level_synchronous import ONE_LAUNCH, Answer, Request, requests_of_all, room_of
from .windows import Place, Windows, open_windows

FILE, KERNEL = "distributed_persistent", "search_partition"
UNREACHED = -1  # the distance where there is none
ALIGNMENT = 512  # of what is in a window
NANOSECONDS = 10**9
Ranks: Any = RANKS.in_memory()


@dataclass(frozen=True)
class Layout:
    """What a window holds: where it begins, in bytes, and for how many pairs from each partition it has room."""

    bitmaps: int
    inboxes: int
    end: int
    room: int

    @classmethod
    def of(cls, partition: Partition) -> Layout:
        partitioning, room = partition.partitioning, room_of(partition)
        bitmaps = _aligned(2 * MAX_PARTITIONS * MESSAGE_BYTES)
        inboxes = bitmaps + _aligned(2 * partitioning.size * partitioning.stride // 8)
        end = inboxes + _aligned(partitioning.size * room * 2 * partitioning.dtype.itemsize)
        return cls(bitmaps, inboxes, end, room)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Tuning:
    """What a search may be tuned by; no answer depends on it."""

    # Bottom-up when the frontier has more than 1/alpha of the unexplored edges: sooner than on one GPU, since pairs go
    # over the links. Measured on 2 H200, inside the kernel: urand:24 1.66 ms instead of 2.29 with 15, rmat:24 the same.
    alpha: int = 60
    beta: int = 24  # a frontier with fewer than 1/beta of the vertices is small
    shrinking_levels: int = 3  # top-down again after so many small and shrinking frontiers in a row
    threads: int = 512  # of a block
    blocks: int = 1  # of a multiprocessor, as the compiler is told


class PersistentSearch:
    """The buffers of one partition, its parameters in two structures, and the windows of all."""

    way = ONE_LAUNCH

    def __init__(
        self,
        there: DevicePartition,
        communicator: Communicator,
        windows: Windows,
        layout: Layout,
        tuning: Tuning = Tuning(),
        sharing: int = 1,
    ) -> None:
        """``sharing`` is how many partitions are on this partition's device, and must find room there at the same time."""
        self.there, self.windows, self.layout = there, windows, layout
        partition, device = there.partition, there.device
        self.partition, self.device = partition, device
        words = -(-partition.own // (4 * WARP)) * 4
        with device.working():
            self.arrays = there.room_for(
                {
                    "visited": (BITMAPS * words, np.uint32),
                    "isolated": (there.words, np.uint32),
                    "marked": (there.words, np.uint32),
                    "tally": (TALLY_BYTES, np.uint8),
                    "state": (STATE_BYTES, np.uint8),
                }
            )
            self.addresses = device.upload(np.array(windows.addresses, np.uint64))
            self.outcome = np.asarray(device.mapped(len(OUTCOME), np.int64)[0])
            self.stop_flag = np.asarray(device.mapped(1, np.int64)[0])
            self.outcome[:] = self.stop_flag[:] = 0
            self._fill_in(communicator, tuning)
            self._make_launcher(tuning, sharing)
            self._make_room(1)
            self._gather_isolated(communicator)
        self.stale = True  # did no search end yet, or not the last one as it should?
        self.running = False
        self.answers: Answers | None = None
        self.ahead: Answers | None = None  # allocated for the next search
        self.trace: Any = None  # allocated by the first search that is traced

    def _fill_in(self, communicator: Communicator, tuning: Tuning) -> None:
        partition, s = self.partition, self.there.s
        at = {name: address(array) for name, array in self.arrays.items()}
        s.visited, s.state = at["visited"], at["state"]
        s.alpha, s.beta, s.shrinking_levels = tuning.alpha, tuning.beta, tuning.shrinking_levels
        s.fresh, s.unreached = 1, UNREACHED
        self.x = Ranks(
            isolated=at["isolated"],
            marked=at["marked"],
            tally=at["tally"],
            windows=address(self.addresses),
            outcome=self.outcome.ctypes.data,  # with unified addressing, the device's address too
            stop=self.stop_flag.ctypes.data,
            partitions=communicator.size,
            rank=communicator.rank,
            stride=partition.partitioning.stride,
            room=self.layout.room,
            bitmaps=self.layout.bitmaps,
            inboxes=self.layout.inboxes,
            vertices=partition.partitioning.n,
            arcs=sum(partition.arcs),
        )

    def _make_launcher(self, tuning: Tuning, sharing: int) -> None:
        device, partition = self.device, self.partition
        kernel = device.compiled(
            FILE, KERNEL, partition.partitioning.dtype, np.dtype(np.int64), tuning.threads, tuning.blocks
        )
        shared = bytes_of_tiles(tuning.threads)
        grid = kernel.resident_blocks(tuning.threads, shared) * device.multiprocessors // sharing
        if not grid:
            raise InputError(
                f"this device has no room for {sharing} blocks of {tuning.threads} threads: use more devices"
            )
        if sum(partition.arcs) < SMALL_ARCS:
            grid = 1
        self.there.s.tile = words_per_tile(TILE, partition.own, grid * tuning.threads // WARP)
        # Cooperative launches of several partitions on one device might wait for each other. By their number, all blocks of
        # all partitions find room.
        how = grid, tuning.threads, shared, device.stream_handle, self.there.s, self.x
        self.start = kernel.launcher(*how, cooperative=grid > 1 and sharing == 1)

    def _gather_isolated(self, communicator: Communicator) -> None:
        """Learn which vertices of other partitions have no edges."""
        isolated, own = self.arrays["isolated"], self.there.arrays["isolated"]
        copy(address(isolated) + communicator.rank * own.nbytes, address(own), own.nbytes, self.device.stream_handle)
        self.device.synchronize()
        communicator.ready()
        communicator.allgather(isolated)
        communicator.wait(self.device.synchronize)

    def _make_room(self, sources: int) -> None:
        self.sources = np.asarray(self.device.mapped(sources, self.partition.partitioning.dtype)[0])
        self.there.s.sources = self.sources.ctypes.data

    def _reset(self) -> None:
        """Leave the arrays as a search does that ends as it should; what others write to, all reset in the next one."""
        stream = self.device.stream_handle
        for name in ("tally", "state"):
            fill(self.arrays[name], 0, stream)
        own_bytes = -(-self.partition.own // WARP) * 4
        copy(address(self.arrays["visited"]), address(self.there.arrays["isolated"]), own_bytes, stream)
        self.outcome[:] = 0  # a partition that was absent then is not named again

    def search(self, request: Request, communicator: Communicator) -> Answer:
        """What this rank finds; all ranks search at the same time, each in a thread or a process of its own."""
        with self.device.working():
            self.begin(request, communicator.limit)
            communicator.ready()
            with communicator.stops.calling(self.stop):
                self.launch()
                communicator.wait(self.settle)
        return self.finish(communicator.names)

    def begin(self, request: Request, limit: float) -> None:
        """Make ready for a launch that waits no longer than ``limit`` seconds for another partition's."""
        s, x = self.there.s, self.x
        self.settle()
        x.stale = self.stale
        if self.stale:
            with self.device.current():
                self._reset()
        self.request, self.limit = request, limit
        self.answers, self.ahead = self.ahead, None
        if self.answers is None or (self.answers.predecessors is not None) != request.predecessors:
            with self.device.active():
                self.answers = self.there.room_for_answers(request.predecessors)
        self.there.answer_in(self.answers)
        count = s.count = len(request.sources)
        if count > len(self.sources):
            with self.device.current():
                self._make_room(count)
        self.sources[:count] = request.sources
        s.depth_limit, s.target, s.number = request.limit, request.target, request.number
        s.trace = self._trace_buffer() if request.trace else None
        x.limit = int(limit * NANOSECONDS)

    def launch(self) -> None:
        """Begin to search. All partitions' launches must run at the same time."""
        self.stale = self.running = True
        with self.device.current():
            self.start()

    def allocate_ahead(self) -> None:
        """Make room for the next answer, while the device is busy; where that is much, or there is none, later."""
        assert self.answers is not None
        if sum(array.nbytes for array in self.answers[:2] if array is not None) <= SHARED_BYTES:
            with suppress(MemoryError), self.device.active():
                self.ahead = self.there.room_for_answers(self.request.predecessors)

    def stop(self) -> None:
        """End a search that is under way."""
        self.stop_flag[0] = self.there.s.number

    def settle(self) -> None:
        """Wait until nothing is under way."""
        if self.running:
            with self.device.current():
                self.device.synchronize()
            self.running = False

    def watch(self) -> None:
        """Wait for the end of a search by looking at what it writes, at first. Then it only resets what is its own."""
        done, number = self.outcome.data, self.there.s.number
        for _ in range(SPINS):
            if done[0] == number:
                self.running = False
                return
        self.settle()

    def finish(self, names: Sequence[str]) -> Answer:
        """What the search found that has ended. Raises `Aborted` with the name of the partition that was missing, if any."""
        done, levels, depth, reached, absent = self.outcome.tolist()
        if done != self.request.number:
            raise Aborted(no_answer([names[absent - 1]], self.limit))
        self.stale = False
        assert self.answers is not None
        distances, predecessors = self.answers[:2]
        self.answers = None
        if levels == GIVEN_UP:
            raise TraversalError("more levels than the graph has vertices: its partitions do not fit together")
        steps = self._steps(levels) if self.request.trace else []
        return Answer(distances, predecessors, reached, depth, steps)

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(min(self.partition.partitioning.n + 2, TRACED), np.uint64)
        return address(self.trace)

    def _steps(self, levels: int) -> list[Step]:
        """What each level did, from the device's notes."""
        with self.device.active():
            noted = steps_noted(self.device.host(self.trace[: levels + 1]))
        return noted + [Step()] * (levels - len(noted))


def search_together(
    partitions: Sequence[Partition], names: Sequence[str], limit: float, at: At, *given: Any
) -> list[Answer]:
    """`search` of all partitions, whose launches this thread begins one after the other. See `Threads.together`."""
    searches: list[PersistentSearch] = [partition.kept["search"] for partition in partitions]
    requests = requests_of_all(partitions[0].partitioning, *given)
    for at.rank, each in enumerate(searches):
        each.begin(requests[at.rank], limit)
    try:
        for at.rank, each in enumerate(searches):
            each.launch()
        for at.rank, each in enumerate(searches):
            each.allocate_ahead()
        for at.rank, each in enumerate(searches):
            each.watch()
    except BaseException:
        for each in searches:
            each.stop()
        for each in searches:
            with suppress(Exception):  # its device has failed, of which the first error tells
                each.settle()
        raise
    answers = []
    for at.rank, each in enumerate(searches):
        answers.append(each.finish(names))
    return answers


def prepared(partition: Partition, communicator: Communicator) -> PersistentSearch | DeviceSearch:
    """What searches the partition: in one launch where all partitions have windows, else by NCCL."""
    places = communicator.share(Place.here(CUDA))
    mine = places[communicator.rank]
    sharing = sum((place.process, place.ordinal) == (mine.process, mine.ordinal) for place in places)
    there = DevicePartition(partition, communicator, CuPyDevice(own_stream=sharing > 1))
    if communicator.size > MAX_PARTITIONS:
        return DeviceSearch(there, f"one launch takes at most {MAX_PARTITIONS} partitions")
    layout = Layout.of(partition)
    windows = open_windows(communicator, layout.end, CUDA)
    if isinstance(windows, str):
        return DeviceSearch(there, windows)
    return PersistentSearch(there, communicator, windows, layout, sharing=sharing)
