"""The common base of hosts whose kernels do a whole search in one launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...errors import InputError, TraversalError
from ...graph import Graph
from ...graph.masks import require_unmasked
from ...kernels.whole_search import LEVELS_SHIFT, LIST, NUMBER_SHIFT, TILE, TILES
from ...trace import Step, steps_noted
from ..base import Options
from .launch import CompiledKernel, address
from .published import Device

STATIC_BYTES = 2048  # bytes of a block's shared memory, at most, that kernels declare; a launch asks for the rest
WARP = 32
SMALL_ARCS = 1 << 14  # a graph with fewer is searched by one block
NUMBERS_OF_SEARCHES = 1 << (63 - NUMBER_SHIFT)  # after which the numbers in `status` begin again
SPINS = 20_000  # polls of the status before the host waits in the driver
MOST_THREADS = 1024  # of a block
SMALLEST_CLUSTER = 4  # blocks
MOST_LEVELS = 1 << 17  # of a launch that the driver ends after some seconds: a level takes some microseconds
MOST_VISITS = 1 << 34  # of arcs in such a launch: each source visits each arc once


@dataclass(frozen=True, kw_only=True)
class LaunchTuning:
    """How a kernel is launched; no answer depends on it. Raises `InputError` if no device can launch it so."""

    threads: int = 512  # of a block
    blocks: int = 1  # of a multiprocessor: the launch bounds for the compiler
    grid: int | None = None  # blocks in all, at most; None: as many as the device holds and the graph needs

    def __post_init__(self) -> None:
        if self.threads % WARP or not WARP <= self.threads <= MOST_THREADS:
            raise InputError(f"threads={self.threads}: take a multiple of {WARP}, at most {MOST_THREADS}")
        for name in ("blocks", "grid"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name}={value}: take at least 1")

    def compiled(self, device: Device, file: str, kernel: str, vertex: np.dtype, offset: np.dtype) -> CompiledKernel:
        """A kernel for these types and blocks."""
        return device.compiled(file, kernel, vertex, offset, self.threads, self.blocks)

    def resident_blocks(self, kernel: CompiledKernel, device: Device, shared: int = 0) -> int:
        """The number of blocks with ``shared`` bytes of shared memory that the device runs at the same time."""
        blocks = kernel.resident_blocks(self.threads, shared) * device.multiprocessors
        if not blocks:
            raise InputError(f"this device has no room for a block of {self.threads} threads and {shared:,} bytes")
        return blocks


@dataclass(frozen=True, kw_only=True)
class SearchTuning(LaunchTuning):
    """How a whole search is launched; see `OneLaunch.launchers`."""

    cluster: int = 16  # blocks of a cluster, at most; 1: no clusters
    deep: int = 64  # levels: after a search with more, the next one of the graph may expand deep levels


class Launchers(NamedTuple):
    """What launches a kernel, without clusters and in clusters."""

    shallow: Callable[[], None]
    deep: Callable[[], None]
    grid: int  # blocks without clusters
    cluster: int  # blocks of a cluster; 1: both are the same
    tile: int  # words that a warp of the grid takes at a time


class Searching:
    """A search while the body of the ``with`` runs. A generator would take a tenth of the time of a call."""

    __slots__ = ("host", "spin")

    def __init__(self, host: OneLaunch, spin: bool) -> None:
        self.host, self.spin = host, spin

    def __enter__(self) -> None:
        try:
            self.host.launch()
        except BaseException:
            self.host.synchronize()
            raise

    def __exit__(self, raised: type[BaseException] | None, *what: object) -> None:
        try:
            if raised is None:
                self.host.finish(self.spin)
        finally:
            self.host.synchronize()


class OneLaunch:
    """A kernel's parameters, of which a search changes a few fields, and the kernel's status and trace.

    ``parameters`` is a structure with the fields ``sources``, ``count``, ``depth_limit``, ``target``, ``trace``,
    ``status``, ``number`` and ``tile``. By CUDA's unified addressing, mapped memory has the same address on the host
    and on the device. Create it while the device is active, and use it while the device is current.
    """

    def __init__(self, graph: Graph, device: Device, parameters: Any) -> None:
        self.graph, self.device, self.parameters = graph, device, parameters
        status = np.asarray(device.mapped(1, np.int64)[0])
        status.fill(0)
        parameters.status = status.ctypes.data
        self.status = status.data  # reading this view is faster than reading the array
        self.trace: Any = None  # allocated by the first search that is traced
        self.no_limit = graph.num_vertices + 2  # levels, more than a search can have
        self.running = False  # may a search run that `finish` has not waited for?
        self.written: Any = None  # the arrays that it writes, kept from being freed
        self.options: Options | None = None  # of the search before, for which most parameters are set
        self.bounded = False  # does the launch end before the levels that they ask for?
        self._allocate_sources(1)

    def launchers(self, kernel: CompiledKernel, tuning: SearchTuning, shared: int) -> Launchers:
        """What launches this kernel, with ``shared`` bytes of dynamic shared memory a block.

        A cluster has as many of `cluster_sizes` as the device grants, if it has room for one.
        """
        graph, device, threads = self.graph, self.device, tuning.threads
        grid = blocks_of_grid(kernel, device, graph.num_arcs, tuning, shared)
        tile = words_per_tile(TILE, graph.num_vertices, grid * threads // WARP)
        rest = threads, shared, device.stream_handle, self.parameters
        shallow = kernel.launcher(grid, *rest, cooperative=grid > 1)
        for cluster in cluster_sizes(tuning.cluster, grid):
            clusters = kernel.resident_clusters(cluster, threads, shared, device.stream_handle)
            if clusters:
                deep = kernel.launcher(clusters * cluster, *rest, cooperative=True, cluster=cluster)
                return Launchers(shallow, deep, grid, cluster, tile)
        return Launchers(shallow, shallow, grid, 1, tile)

    def use(self, launchers: Launchers, tuning: SearchTuning) -> None:
        """Launch this kernel from now on: in clusters, if there are any, after a search with more than ``tuning.deep``
        levels."""
        self.launch_shallow, self.launch_deep, *_, self.parameters.tile = launchers
        self.deep = tuning.deep

    def search(self, sources: np.ndarray, options: Options, spin: bool = True) -> None:
        """Search, and wait until it is done."""
        self.begin(sources, options)
        try:
            self.launch()
            self.finish(spin)
        finally:
            self.synchronize()  # after an interrupt too: the arrays that the kernel writes may be freed next

    def searching(self, sources: np.ndarray, options: Options, spin: bool, written: Any) -> Searching:
        """`search` while the body of a ``with`` runs. It keeps the arrays ``written`` by the kernel."""
        self.begin(sources, options)
        self.written = written
        return Searching(self, spin)

    def launch(self) -> None:
        """Start a search; `finish` waits for it."""
        self.running = True
        if self.launch_deep is not self.launch_shallow and self.was_deep:
            try:
                self.launch_deep()
            except TraversalError:  # other processes may occupy the multiprocessors that a cluster needs
                self.launch_deep = self.launch_shallow
            else:
                return
        self.launch_shallow()

    def synchronize(self) -> None:
        """Wait for a search that an exception left running. Call this before changing its arrays."""
        if self.running:
            self.device.synchronize()
            self.running = False
        self.written = None

    def _allocate_sources(self, sources: int) -> None:
        room = np.asarray(self.device.mapped(sources, self.graph.targets.dtype)[0])
        self.sources = room, room.ctypes.data

    def begin(self, sources: np.ndarray, options: Options) -> None:
        """Set the parameters of the search that this thread launches next."""
        if self.running:
            self.synchronize()
        parameters = self.parameters
        count = parameters.count = len(sources)
        if count > len(self.sources[0]):
            self._allocate_sources(count)
        room, parameters.sources = self.sources
        if count == 1:
            room[0] = sources[0]
        else:
            room[:count] = sources
        if options is not self.options or options.target is not None:
            self._follow(options, sources)
        # A launch that was refused has no number: the kernel uses the parity of the last search.
        parameters.number = (self.number + 1) % NUMBERS_OF_SEARCHES

    def _follow(self, options: Options, sources: np.ndarray) -> None:
        """Set the parameters that follow from the options. ``sources`` matter only if there is a target."""
        self.options = None  # until all parameters are set
        parameters = self.parameters
        limit = self.no_limit
        if options.depth_limit is not None:
            limit = min(options.depth_limit, limit)
        if options.target is None:
            parameters.target = -1
        else:
            parameters.target = options.target
            if options.target in sources:
                limit = 0
        self.bounded = self.device.time_limit and limit > MOST_LEVELS
        parameters.depth_limit = MOST_LEVELS if self.bounded else limit
        parameters.trace = self._trace_buffer() if options.trace else None
        self.options = options

    def finish(self, spin: bool = True) -> None:
        """Wait for the search, at first by polling mapped memory if ``spin``."""
        status, number = self.status, self.parameters.number
        for _ in range(SPINS if spin else 0):
            if status[0] >> NUMBER_SHIFT == number:
                break
        else:
            self.device.synchronize()
            if self.number != number:
                raise TraversalError(f"the search of {self.graph.name} did not report that it is done")
        self.running = False
        if status[0] & 1:
            self._fail()

    def _fail(self) -> NoReturn:
        """Raise the exception of a search that was given up: before its first level, if one of its ends is masked."""
        graph, options = self.graph, self.options
        if self.levels > 0 or options is None:
            vertices = graph.num_vertices
            raise TraversalError(f"level {self.levels} of a graph with {vertices} vertices: it should have ended")
        require_unmasked(graph, options.vertices, options.ends(self.sources[0][:1]))
        raise TraversalError(f"the mask of {graph.name} was written during the search")

    @property
    def number(self) -> int:
        """The number of the last search that is done."""
        return int(self.status[0] >> NUMBER_SHIFT)

    @property
    def levels(self) -> int:
        """The number of levels of that search."""
        return int(self.status[0] % (1 << NUMBER_SHIFT) >> LEVELS_SHIFT)

    @property
    def was_deep(self) -> bool:
        """Had that search more levels than ``deep`` of the tuning?"""
        return self.levels > self.deep

    @property
    def cut_short(self) -> bool:
        """Did that search end because a launch on this device may not run for longer?"""
        return self.bounded and self.levels >= MOST_LEVELS

    def _trace_buffer(self) -> int:
        if self.trace is None:
            with self.device.active():
                self.trace = self.device.empty(self.graph.num_vertices + 2, np.uint64)
        return address(self.trace)

    def steps(self) -> list[Step]:
        """The step of each level of the last search, from the trace on the device."""
        with self.device.active():
            return steps_noted(self.device.host(self.trace[: self.levels + 1]))


def blocks_of_grid(
    kernel: CompiledKernel, device: Device, arcs: int, tuning: LaunchTuning, shared: int, sharing: int = 1
) -> int:
    """The number of blocks of a grid: as many as the device holds, or one if there are few arcs or the device has no
    cooperative launches; at most `tuning.grid`.

    ``sharing`` such grids run on the device at the same time.
    """
    grid = tuning.resident_blocks(kernel, device, shared) // sharing
    if not grid:
        raise InputError(f"this device cannot run {sharing} blocks of {tuning.threads} threads: use more devices")
    if tuning.grid is not None:
        return min(grid, tuning.grid)
    return 1 if one_block_suffices(arcs) or not device.cooperative else grid


def sources_of_launch(device: Device, arcs: int) -> int:
    """The sources that one launch may search from, a power of two."""
    return 1 << max(MOST_VISITS // max(arcs, 1), 1).bit_length() - 1 if device.time_limit else 1 << 62


def levels_of_launch(device: Device, levels: int) -> int:
    """How many of these levels one launch may go."""
    return min(levels, MOST_LEVELS) if device.time_limit else levels


def require_end(graph: Graph, device: Device, state: Any) -> None:
    """Raise `TraversalError` if a launch went as far as it may. ``state`` on the device begins with its levels."""
    if int(device.host(state[:4]).view(np.int32)[0]) >= MOST_LEVELS:
        raise too_deep(graph)


def too_deep(graph: Graph) -> TraversalError:
    """The error about a search with more levels than one launch may go."""
    return TraversalError(
        f"{graph.name} has more than {MOST_LEVELS:,} levels, and this device ends long kernels, as those with a "
        "display do: use engine='cpu'"
    )


def passes_over(array_bytes: int, device: Device) -> int:
    """How many passes over the edges of a level, each for a part of the targets, so that the L2 holds what they access
    of an array at random. A third pass takes longer than it saves."""
    return 2 if device.l2_bytes < array_bytes <= 2 * device.l2_bytes else 1


def one_block_suffices(arcs: int) -> bool:
    """Are there so few arcs that one block searches them as fast as a grid?"""
    return arcs < SMALL_ARCS


def cluster_sizes(most: int, grid: int) -> list[int]:
    """The sizes of clusters to ask a device for: ``most`` blocks, half as many, and so on, fewer than the grid has.

    Every device with clusters takes 8 blocks if enough multiprocessors of one GPC are there, and large ones take 16.
    """
    sizes = [most]
    while sizes[-1] >= 2 * SMALLEST_CLUSTER:
        sizes.append(sizes[-1] // 2)
    return [size for size in sizes if 1 < size < grid]


def bytes_of_tiles(threads: int) -> int:
    """Bytes of shared memory for the bitmap tiles of each warp of a block, and its list of unvisited vertices."""
    return int(threads // WARP * (TILES * TILE * 4 + LIST * 2))


def words_per_tile(most: int, vertices: int, warps: int) -> int:
    """The words of a bitmap that a warp takes at a time: a power of two, small enough that all ``warps`` have some."""
    words = -(-vertices // WARP)
    tile = 1
    while tile < most and words > 2 * tile * warps:
        tile *= 2
    return tile
