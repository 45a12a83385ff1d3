"""The search of a partition in one launch, see `kernels/cuda/distributed/one_launch.cu`.

Kernels of all ranks write into each other's windows and synchronize there. The host waits once, for the end.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._core.memory import AHEAD_BYTES
from ..engines.gpu.cooperative import SPINS, WARP, LaunchTuning, blocks_of_grid, bytes_of_tiles, words_per_tile
from ..engines.gpu.cupy import CuPyDevice
from ..engines.gpu.launch import address, addresses, copy, fill
from ..errors import TraversalError
from ..kernels.distributed import GIVEN_UP, MAX_PARTITIONS, MESSAGE_BYTES, OUTCOME, RANKS, TALLY_BYTES, TRACED
from ..kernels.whole_search import BITMAPS, CLEARED, FRESH, STATE_BYTES, TILE
from ..trace import Step, steps_noted
from .build import Partition
from .communicators import Aborted, Communicator, NotStarted, no_answer
from .cuda import Answers, DevicePartition, DeviceSearch
from .launchers import CurrentRank
from .level_synchronous import ONE_LAUNCH, Answer, Request, Totals, request_of
from .windows import Location, Windows, open_windows

FILE, KERNEL = "distributed_persistent", "search_partition"
UNREACHED = -1  # the distance of a vertex that was not reached
ALIGNMENT = 512  # of the arrays in a window, in bytes
NANOSECONDS = 10**9
# Seconds for the kernels of one process to start. NCCL's kernel may occupy one device and wait for another, where our
# kernel runs and waits for the first.
STARTING = 1.0
AHEAD_SHARE = 32  # 1/AHEAD_SHARE of a device's free memory may hold arrays for the next answer
YIELDS = 20_000  # polls of the outcome after `SPINS`, between which other threads may run: some 10 ms
QUEUES = 8  # of a device: kernels on more streams may wait for each other (CUDA_DEVICE_MAX_CONNECTIONS)
Ranks: Any = RANKS.in_memory()
# To sleep may take 70 microseconds, but Windows has nothing else.
let_others_run = getattr(os, "sched_yield", partial(time.sleep, 0))


@dataclass(frozen=True)
class Layout:
    """The arrays in a window: their first bytes, and the capacity of an inbox in pairs."""

    bitmaps: int
    inboxes: int
    end: int
    capacity: int

    @classmethod
    def of(cls, partition: Partition) -> Layout:
        partitioning, capacity = partition.partitioning, inbox_capacity(partition)
        bitmaps = _aligned(2 * MAX_PARTITIONS * MESSAGE_BYTES)
        inboxes = bitmaps + _aligned(2 * partitioning.size * partitioning.stride // 8)
        end = inboxes + _aligned(partitioning.size * capacity * 2 * partitioning.dtype.itemsize)
        return cls(bitmaps, inboxes, end, capacity)


def inbox_capacity(partition: Partition) -> int:
    """How many pairs each rank can send to another one in a level: one for each of its vertices, and so all."""
    return partition.partitioning.stride


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True, kw_only=True)
class Tuning(LaunchTuning):
    """The thresholds and the launch of a search; no answer depends on them."""

    # Bottom-up when the frontier has more than 1/alpha of the unexplored edges, 1/(4 alpha) if there are hubs in it.
    alpha: int = 8
    beta: int = 24  # a frontier with fewer than 1/beta of the vertices is small
    # Top-down without the queue when the frontier has more than 1/dense edges per vertex of the graph: then it reaches
    # so many vertices that the next level goes bottom-up.
    dense: int = 8
    dense_edges: int = 1 << 19  # and more than this
    shrinking_levels: int = 3  # top-down again after so many small and shrinking frontiers in a row; one fewer if
    large: int = 1 << 26  # partitions have more vertices, so that a level bottom-up takes longer than several top-down


class PersistentSearch:
    """The buffers of one partition, the kernel's parameters in two structures, and the windows of all ranks."""

    transport = ONE_LAUNCH

    def __init__(
        self,
        device_partition: DevicePartition,
        communicator: Communicator,
        windows: Windows,
        layout: Layout,
        tuning: Tuning = Tuning(),
        sharing: int = 1,
    ) -> None:
        """``sharing`` partitions are on this device, where their kernels must be resident at the same time."""
        self.device_partition, self.windows, self.layout = device_partition, windows, layout
        partition, device = device_partition.partition, device_partition.device
        self.partition, self.device = partition, device
        words = -(-partition.num_vertices // (4 * WARP)) * 4
        with device.working():
            self.arrays = device_partition.allocate(
                {
                    "visited": (BITMAPS * words, np.uint32),
                    "isolated": (device_partition.words, np.uint32),
                    "marked": (device_partition.words, np.uint32),
                    "tally": (TALLY_BYTES, np.uint8),
                    "state": (STATE_BYTES, np.uint8),
                }
            )
            self.addresses = device.upload(np.array(windows.addresses, np.uint64))
            self.outcome = np.asarray(device.mapped(len(OUTCOME), np.int64)[0])
            self.stop_flag = np.asarray(device.mapped(1, np.int64)[0])
            self.outcome[:] = self.stop_flag[:] = 0
            self.reported = self.outcome.data  # reading this view is faster than reading the array
            self._fill_in(communicator, tuning)
            self._make_launcher(tuning, sharing)
            self._allocate_sources(1)
            self._gather_isolated(communicator)
            most_ahead = max(AHEAD_BYTES, device.free_bytes() / AHEAD_SHARE)
        answer_bytes = partition.num_vertices * (4 + partition.partitioning.dtype.itemsize)
        self.allocates_ahead = answer_bytes <= most_ahead
        self.stale = True  # True until a search has ended, and after one that failed
        self.running = False
        self.answers: Answers | None = None
        self.ahead: Answers | None = None  # of the next search, whose parameters point there
        self.timeout = 0.0
        self.trace: Any = None  # allocated by the first search that is traced

    def _fill_in(self, communicator: Communicator, tuning: Tuning) -> None:
        partition, s = self.partition, self.device_partition.s
        at = addresses(self.arrays)
        s.visited, s.state = at["visited"], at["state"]
        s.alpha, s.beta = tuning.alpha, tuning.beta
        large = partition.partitioning.stride > tuning.large  # on all ranks alike, which must agree on directions
        s.shrinking_levels = tuning.shrinking_levels - large
        s.dense = max(partition.partitioning.n // tuning.dense, tuning.dense_edges)
        s.unreached = UNREACHED
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
            capacity=self.layout.capacity,
            bitmaps=self.layout.bitmaps,
            inboxes=self.layout.inboxes,
            vertices=partition.partitioning.n,
            arcs=sum(partition.arcs),
        )

    def _make_launcher(self, tuning: Tuning, sharing: int) -> None:
        device, partition = self.device, self.partition
        kernel = tuning.compiled(device, FILE, KERNEL, partition.partitioning.dtype, np.dtype(np.int64))
        shared = bytes_of_tiles(tuning.threads)
        grid = blocks_of_grid(kernel, device, sum(partition.arcs), tuning, shared, sharing)
        self.device_partition.s.tile = words_per_tile(TILE, partition.num_vertices, grid * tuning.threads // WARP)
        # Cooperative launches of several partitions on one device might wait for each other. Without `cooperative`, all
        # blocks of all partitions are resident, since the grid is divided by their number.
        how = grid, tuning.threads, shared, device.stream_handle, self.device_partition.s, self.x
        self.start = kernel.launcher(*how, cooperative=grid > 1 and sharing == 1)

    def _gather_isolated(self, communicator: Communicator) -> None:
        """Gather the bitmap over all global ids of the vertices without edges."""
        isolated, own = self.arrays["isolated"], self.device_partition.arrays["isolated"]
        copy(address(isolated) + communicator.rank * own.nbytes, address(own), own.nbytes, self.device.stream_handle)
        self.device.synchronize()
        communicator.allgather_slices(isolated, self.device.synchronize)

    def _allocate_sources(self, sources: int) -> None:
        self.sources = np.asarray(self.device.mapped(sources, self.partition.partitioning.dtype)[0])
        self.device_partition.s.sources = self.sources.ctypes.data

    def _reset(self) -> None:
        """Reset this rank's arrays after a search that failed. The next search resets the windows, on all ranks."""
        stream = self.device.stream_handle
        for name in ("tally", "state"):
            fill(self.arrays[name], 0, stream)
        own_bytes = -(-self.partition.num_vertices // WARP) * 4
        copy(address(self.arrays["visited"]), address(self.device_partition.arrays["isolated"]), own_bytes, stream)
        self.outcome[:] = 0  # or a rank that was absent would be named again

    def search(self, request: Request, communicator: Communicator) -> Answer:
        """The answer for this rank. All ranks search at the same time, each in its own thread or process."""
        with self.device.working():
            self.begin(request, communicator.timeout)
            communicator.ready()
            with communicator.stops.calling(self.stop):
                self.launch()
                communicator.wait(self.synchronize)
        return self.finish(communicator.names)

    def begin(self, request: Request, timeout: float) -> None:
        """Prepare a launch that waits at most ``timeout`` seconds for the kernels of other ranks."""
        s, x = self.device_partition.s, self.x
        if self.running:
            self.synchronize()
        x.stale = self.stale
        if self.stale:
            with self.device.current():
                self._reset()
        self.request = request
        if self.ahead is None or (self.ahead.predecessors is not None) != request.predecessors:
            self.ahead = None
            with self.device.active():
                self._answer_in(self.device_partition.allocate_answers(request.predecessors))
        self.answers, self.ahead = self.ahead, None
        rank = self.partition.rank
        sources = request.sources[rank]
        count = s.count = len(sources)
        if count == 1:  # the kernel finds the first among its parameters
            s.source = sources[0]
        elif count > 1:
            self._write_sources(sources)
        s.depth_limit, s.target, s.number = request.depth_limit, request.target_on(rank), request.search_id
        s.trace = self._trace_buffer() if request.trace else None
        if timeout != self.timeout:
            x.timeout, self.timeout = int(timeout * NANOSECONDS), timeout
        x.first_timeout, x.stop = x.timeout, self.stop_flag.ctypes.data

    def _answer_in(self, answers: Answers) -> None:
        """Have the next search write to these arrays, where none are `ahead`."""
        self.device_partition.answer_in(answers)
        self.device_partition.s.fresh = CLEARED if answers.cleared else FRESH
        self.ahead = answers  # last: after an interrupt, no arrays are ahead without their parameters

    def _write_sources(self, sources: Sequence[int] | np.ndarray) -> None:
        """Write these where the kernel reads them."""
        if len(sources) > len(self.sources):
            with self.device.current():
                self._allocate_sources(len(sources))
        self.sources[: len(sources)] = sources
        self.device_partition.s.source = sources[0]

    def launch(self) -> None:
        """Launch the kernel, on the current device. Those of all ranks must run at the same time."""
        self.stale = self.running = True
        self.start()

    def allocate_ahead(self) -> None:
        """Allocate the next answer while the device is busy, unless it is large or memory is short.

        Its predecessors are set to -1 after this search, while the host goes on. The parameters that say where it goes
        are set already: the running kernel has a copy of its own.
        """
        if not self.allocates_ahead:
            return
        with self.device.active(), suppress(MemoryError):
            answers = self.device_partition.allocate_answers(self.request.predecessors)
            if answers.predecessors is not None:
                fill(answers.predecessors, 0xFF, self.device.stream_handle)
                answers = answers._replace(cleared=True)
            self._answer_in(answers)

    def stop(self) -> None:
        """Make the running kernel end."""
        self.stop_flag[0] = self.device_partition.s.number

    def synchronize(self) -> None:
        """Wait until no kernel runs."""
        if self.running:
            with self.device.current():
                self.device.synchronize()
            self.running = False

    def watch(self) -> None:
        """Wait until the kernel has written its outcome: spin, then yield between polls, then wait in the driver.

        In the driver the host would also wait until the kernel has reset its arrays, and until the next answer's are
        cleared.
        """
        reported, search_id = self.reported, self.request.search_id
        for poll in range(SPINS + YIELDS):
            if reported[0] == search_id:
                self.running = False
                return
            if poll >= SPINS:
                let_others_run()
        self.synchronize()

    @property
    def gave_up_early(self) -> bool:
        """True if it waited for another rank's kernel to start, and for less than the whole timeout."""
        _, phase, *_, absent = self.reported.tolist()
        return absent > 0 and phase == 1 and self.x.first_timeout < self.x.timeout

    def finish(self, names: Sequence[str]) -> Answer:
        """The answer of the search that has ended. Raises `Aborted` with the name of an absent rank."""
        done, levels, depth, reached, absent = self.reported.tolist()
        if done != self.request.search_id:
            raise Aborted(no_answer([names[absent - 1]], self.timeout))
        self.stale = False
        assert self.answers is not None
        distances, predecessors = self.answers[:2]
        self.answers = None
        if levels == GIVEN_UP:
            raise TraversalError("more levels than the graph has vertices: its partitions do not fit together")
        steps = self._steps(levels) if self.request.trace else []
        return Answer(distances, predecessors, Totals(reached, depth, steps))

    @staticmethod
    def search_together(
        partitions: Sequence[Partition], names: Sequence[str], timeout: float, current: CurrentRank, *given: Any
    ) -> list[Answer]:
        """Search on all ranks from this thread, which launches their kernels in turn. See `Threads.call_together`."""
        searches: list[PersistentSearch] = [partition.cache["search"] for partition in partitions]
        request = request_of(partitions[0].partitioning, *given)
        answers = []
        for current.rank, each in enumerate(searches):
            each.begin(request, timeout)
            each.x.first_timeout = min(each.x.timeout, int(STARTING * NANOSECONDS))
            each.x.stop = searches[0].x.stop
        try:
            with searches[0].device.in_turn() as make_current:
                for current.rank, each in enumerate(searches):
                    make_current(each.device.context)
                    each.launch()
            for current.rank, each in enumerate(searches):
                each.allocate_ahead()
            for current.rank, each in enumerate(searches):
                each.watch()
                answers.append(each.finish(names))
        except BaseException as error:
            for each in searches:
                each.stop()
            for each in searches:
                with suppress(Exception):  # its device has failed; the first error says how
                    each.synchronize()
            if isinstance(error, Aborted) and any(each.gave_up_early for each in searches):
                raise NotStarted(str(error)) from None
            raise
        return answers

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(min(self.partition.partitioning.n + 2, TRACED), np.uint64)
        return address(self.trace)

    def _steps(self, levels: int) -> list[Step]:
        """The steps of each level, from the trace on the device."""
        with self.device.active():
            noted = steps_noted(self.device.host(self.trace[: levels + 1]))
        return noted + [Step()] * (levels - len(noted))


def prepared(partition: Partition, communicator: Communicator) -> PersistentSearch | DeviceSearch:
    """The search of the partition: in one launch if all ranks have windows, otherwise level by level."""
    locations = communicator.allgather_object(Location.here())
    on_device = Counter((each.process, each.ordinal) for each in locations)
    mine = locations[communicator.rank]
    sharing = on_device[mine.process, mine.ordinal]
    device_partition = DevicePartition(partition, communicator, CuPyDevice(own_stream=sharing > 1))
    layout = Layout.of(partition)
    windows: Windows | str
    if communicator.size > MAX_PARTITIONS:
        windows = f"one launch takes at most {MAX_PARTITIONS} partitions"
    elif max(on_device.values()) > QUEUES:
        windows = f"one launch takes at most {QUEUES} partitions on a device"
    else:
        windows = open_windows(communicator, layout.end)
    if isinstance(windows, str):
        return DeviceSearch(device_partition, f"{communicator.transport}: {windows}")
    return PersistentSearch(device_partition, communicator, windows, layout, sharing=sharing)
