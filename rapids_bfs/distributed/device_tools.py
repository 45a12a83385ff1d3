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
BLOCK = 1 << 24  # edges of a block
require = require_device_bytes


@contextmanager
def working() -> Iterator[None]:
    """A context in which arrays come from CuPy's pool, even if RMM is set to ask the driver for each, which is slow.
    At its end the pool's free blocks go back to the device."""
    pool = cupy.get_default_memory_pool()
    with cupy.cuda.using_allocator(pool.malloc) if driver_allocates() else nullcontext():
        yield
    pool.free_all_blocks()


def summary(sources: Any, targets: Any, key: np.ndarray) -> tuple[int, int]:
    """The largest id and the asymmetry of a block that is not empty."""
    seen = cupy.array([device_csr.LARGEST, -1, 0], np.int64)
    size = len(sources)
    odd = [int(number) >> 1 | 1 for number in key]
    launch("csr", "summarize", sources.dtype, np.int32, size, sources, targets, size, *odd, seen)
    _, highest, asymmetry = seen.tolist()
    return highest, asymmetry


def bucket_by_owner(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[Any]:
    """The arcs of a block of edges, one array for each owner: a row of local ids of sources, and one of targets."""
    sources, targets = edges
    count, vertex = len(sources), sources.dtype
    counts = cupy.zeros(size, np.int64)
    arguments = (sources, targets, count, stride, int(mirror), int(loops))
    launch("distributed_build", "count_owners", vertex, np.int64, count, *arguments, size, counts)
    starts = [0, *np.cumsum(counts.tolist()).tolist()]
    arcs = cupy.empty(2 * starts[-1], vertex)
    cursors = cupy.zeros(size, np.int64)
    launch(
        "distributed_build", "bucket_by_owner", vertex, np.int64, count, *arguments, cupy.array(starts), cursors, arcs
    )
    return [arcs[2 * first : 2 * last].reshape(2, -1) for first, last in pairwise(starts)]


def count(local_ids: Any, counts: Any) -> None:
    """Add the occurrences of each local id to ``counts``."""
    size = len(local_ids)
    launch("distributed_build", "count_arcs", local_ids.dtype, np.int64, size, local_ids, size, len(counts), counts)


def scatter_targets(local_ids: Any, targets: Any, cursors: Any, rows: Any) -> None:
    """Write each target into ``rows`` at the cursor of its source, and advance the cursor."""
    arguments = (local_ids, targets, len(local_ids), len(cursors), len(rows), cursors, rows)
    launch("distributed_build", "scatter_targets", local_ids.dtype, np.int64, len(local_ids), *arguments)


def simplified(offsets: Any, targets: Any, bound: int) -> Pairs:
    """The rows without duplicates, ascending. ``targets``, all below ``bound``, are overwritten."""
    device_csr.ascending(offsets, targets, limit=bound, result=targets)
    kept_offsets, kept = device_csr.distinct(offsets, targets, loops=True, result=targets)
    return kept_offsets.astype(np.int64, copy=False), kept


def count_loops(offsets: Any, targets: Any, base: int) -> int:
    """The number of self-loops; ``base`` is the global id of local id 0."""
    loops = cupy.zeros(1, np.int64)
    arcs = len(targets)
    arguments = (offsets, targets, len(offsets) - 1, arcs, base, loops)
    launch("distributed_validation", "count_loops", targets.dtype, np.int64, arcs, *arguments)
    return int(loops[0])
