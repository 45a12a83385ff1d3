"""The array functions of a build, for device memory; `host_tools` has the same for host memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from .._core.csr import device as device_csr
from .._core.csr.host import Pairs
from .._core.cuda.kernels import launch
from .._core.memory import require_device_bytes
from .._core.rapids import driver_allocates

xp = cupy
BLOCK = 1 << 24  # edges dealt at a time
require = require_device_bytes


@contextmanager
def working() -> Iterator[None]:
    """Within it arrays come from a pool: not from the driver, which takes long for each, even if RMM would ask that.
    In the end what nobody uses goes back."""
    pool = cupy.get_default_memory_pool()
    with cupy.cuda.using_allocator(pool.malloc) if driver_allocates() else nullcontext():
        yield
    pool.free_all_blocks()


def summary(sources: Any, targets: Any, key: np.ndarray) -> tuple[int, int]:
    """The highest id and the asymmetry of a block that is not empty."""
    seen = cupy.array([device_csr.LARGEST, -1, 0], np.int64)
    size = len(sources)
    odd = [int(number) >> 1 | 1 for number in key]
    launch("csr", "summarize", sources.dtype, np.int32, size, sources, targets, size, *odd, seen)
    _, highest, asymmetry = seen.tolist()
    return highest, asymmetry


def deal(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[Any]:
    """The arcs of a block of edges, grouped by the partition that owns them: arrays of two rows, places and targets."""
    sources, targets = edges
    count, vertex = len(sources), sources.dtype
    counts = cupy.zeros(size, np.int64)
    given = (sources, targets, count, stride, int(mirror), int(loops))
    launch("distributed_build", "count_owners", vertex, np.int64, count, *given, size, counts)
    starts = [0, *np.cumsum(counts.tolist()).tolist()]
    arcs = cupy.empty(2 * starts[-1], vertex)
    cursors = cupy.zeros(size, np.int64)
    launch("distributed_build", "deal", vertex, np.int64, count, *given, cupy.array(starts), cursors, arcs)
    return [arcs[2 * first : 2 * last].reshape(2, -1) for first, last in pairwise(starts)]


def count(places: Any, counts: Any) -> None:
    """Count the occurrences of each place, in addition to what ``counts`` holds."""
    size = len(places)
    launch("distributed_build", "count_arcs", places.dtype, np.int64, size, places, size, len(counts), counts)


def put(places: Any, targets: Any, cursors: Any, placed: Any) -> None:
    """Write each target at the cursor of its source, and advance the cursor."""
    given = (places, targets, len(places), len(cursors), len(placed), cursors, placed)
    launch("distributed_build", "put", places.dtype, np.int64, len(places), *given)


def simplified(offsets: Any, targets: Any, limit: int) -> Pairs:
    """The rows without duplicates, ascending. ``targets``, all below ``limit``, are overwritten."""
    device_csr.ascending(offsets, targets, limit=limit, result=targets)
    kept_offsets, kept = device_csr.distinct(offsets, targets, loops=True, result=targets)
    return kept_offsets.astype(np.int64, copy=False), kept


def count_loops(offsets: Any, targets: Any, base: int) -> int:
    """The number of arcs from a vertex to itself, where place 0 has the vertex number ``base``."""
    loops = cupy.zeros(1, np.int64)
    arcs = len(targets)
    given = (offsets, targets, len(offsets) - 1, arcs, base, loops)
    launch("distributed_validation", "count_loops", targets.dtype, np.int64, arcs, *given)
    return int(loops[0])
