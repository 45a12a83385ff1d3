"""CSR on a CUDA device: the functions of `rapids_bfs._core.csr.host` for CuPy arrays, by `kernels/cuda/graph/csr.cu`.

Edges are int32 or int64. An edge list is counted and placed: two passes over it, one atomic per edge in each, and no
memory besides the result. Adjacencies then come in no particular order; sorting keeps the order where it is asked for.
Work goes to CuPy's current stream.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...errors import InputError
from ..cuda.arrays import clear_errors
from ..cuda.kernels import THREADS, launch
from ..dtypes import index_dtype
from ..memory import require_device_bytes as require
from ..rapids import driver_allocates
from .building import CHANGED
from .device_components import components as components
from .device_filter import KeptArcs as KeptArcs

BLOCK = 1 << 27  # arcs of a CSR that are read at a time
PIECE = 1 << 24  # arcs that are sorted at once by keys
WARP_ROW = 256  # arcs of a row that a warp sorts,
BLOCK_BYTES = 32 << 10  # and bytes of one that a block sorts, as in `kernels/cuda/graph/sort_rows.cu`
EXCHANGE_BLOCK = 1 << 24
LARGEST = np.iinfo(np.int64).max

xp = cupy

Pairs = tuple[Any, Any]  # sources and targets: CuPy arrays of one length and type
CSR = tuple[Any, Any]  # offsets and targets
Blocks = Callable[[], Iterable[Pairs]]  # the edges, some at a time, each time it is called


class EdgeStatistics(NamedTuple):
    """What one pass over edges finds: lowest id, highest id (-1 if there are no edges), and whether they are symmetric,
    by keyed hashes as in `rapids_bfs._core.csr.building.Degrees`."""

    lowest: int
    highest: int
    symmetric: bool


def scan(edges: Iterable[Pairs]) -> EdgeStatistics:
    """The statistics of all edges, in one pass."""
    lowest, highest, asymmetry = _summarized(edges, _key())
    return EdgeStatistics(lowest, highest, asymmetry == 0)


def _key() -> list[int]:
    """The odd numbers that select a hash function: unknown before, so that nobody can construct a false answer."""
    return [secrets.randbits(63) | 1 for _ in range(2)]


def _summarized(edges: Iterable[Pairs], key: list[int]) -> list[int]:
    """The lowest and the highest id, and the asymmetry."""
    seen = cupy.array([LARGEST, -1, 0], np.int64)
    for sources, targets in edges:
        size = len(sources)
        launch("csr", "summarize", sources.dtype, np.int32, size, sources, targets, size, *key, seen)
    found: list[int] = seen.tolist()
    return found


def mark(ids: Any, present: Any) -> None:
    """Set ``present[n]`` where ids are."""
    launch("csr", "mark", ids.dtype, np.int32, len(ids), ids, len(ids), len(present), present)


def count(edges: Iterable[Pairs], n: int, rows: int, *, mirror: bool = False) -> Any:
    """How many edges leave each vertex, for at most ``rows`` edges, behind two zeros: n + 2.

    With ``mirror`` each edge counts in both directions, a self-loop once.
    """
    counts = cupy.zeros(n + 2, index_dtype(2 * rows if mirror else rows))
    for sources, targets in edges:
        size = len(sources)
        launch("csr", "count", sources.dtype, counts.dtype, size, sources, targets, size, mirror, n, counts[2:])
    return counts


def place(edges: Iterable[Pairs], counts: Any, *, mirror: bool = False, rank: Any = None) -> CSR:
    """Offsets and targets of the edges, from the ``counts`` that `count` returned; with ``rank`` a target v is written
    as ``rank[v]``, which is -1 where v did not occur.

    Raises `InputError` if these are not the edges that were counted: the caller may have changed its arrays since.
    """
    cursors = cupy.cumsum(counts, dtype=counts.dtype)
    n, arcs = len(counts) - 2, int(cursors[-1])
    vertex = index_dtype(n) if rank is None else rank.dtype
    require(arcs * np.dtype(vertex).itemsize, f"a graph of {arcs:,} edges")
    placed = cupy.empty(arcs, vertex)
    for sources, targets in edges:
        size = len(sources)
        kernel = "place_as_int" if vertex == np.int32 else "place"
        arguments = (sources, targets, size, mirror, n, arcs, rank, cursors[1:], placed)
        launch("csr", kernel, sources.dtype, cursors.dtype, size, *arguments)
    offsets = cursors[:-1]  # each cursor is now where the next began
    if int(cursors[-1]) != arcs or (offsets != cupy.cumsum(counts, dtype=counts.dtype)[1:]).any():
        raise InputError(CHANGED)
    return offsets.astype(index_dtype(arcs), copy=False), placed


def place_in_order(sources: Any, targets: Any, counts: Any, *, mirror: bool = False, rank: Any = None) -> CSR:
    """As `place`, each adjacency in the order of the edges: by a sort of (source, row), 16 bytes of memory an edge.
    Raises `InputError` as `place` does."""
    if mirror:
        kept = cupy.ones((len(sources), 2), bool)
        kept[:, 1] = sources != targets
        forth, back = cupy.stack([sources, targets], axis=1), cupy.stack([targets, sources], axis=1)
        sources, targets = forth[kept], back[kept]
    n, rows = len(counts) - 2, len(sources)
    bits = rows.bit_length()
    if n.bit_length() + bits > 63:
        raise InputError(f"{rows:,} edges of {n:,} vertices are too many to keep in order on the device")
    keys = sources.astype(np.int64) << bits
    keys |= cupy.arange(rows)
    keys.sort()
    ends = keys >> bits
    changed = (count([(ends, ends)], n, rows) != counts).any()
    keys &= (1 << bits) - 1
    targets = targets[keys]
    if changed or ((targets < 0) | (targets >= n)).any():
        raise InputError(CHANGED)
    targets = targets.astype(index_dtype(n), copy=False) if rank is None else rank[targets]
    if rank is not None and (targets < 0).any():
        raise InputError(CHANGED)
    return cupy.cumsum(counts, dtype=counts.dtype)[1:].astype(index_dtype(rows), copy=False), targets


def fill(blocks: Blocks, n: int, rows: int, *, mirror: bool = False) -> CSR:
    """Offsets and targets of at most ``rows`` edges that are read twice, a block at a time."""
    return place(blocks(), count(blocks(), n, rows, mirror=mirror), mirror=mirror)


def _fill_in_order(sources: Any, targets: Any, n: int, *, mirror: bool = False) -> CSR:
    """Offsets and targets of these edges, see `place_in_order`."""
    counts = count([(sources, targets)], n, len(sources), mirror=mirror)
    return place_in_order(sources, targets, counts, mirror=mirror)


def sources_of(offsets: Any, targets: Any, first: int = 0, last: int | None = None) -> Any:
    """The sources of the arcs ``first`` up to ``last``."""
    size = (len(targets) if last is None else last) - first
    sources = cupy.empty(size, targets.dtype)
    launch("csr", "expand", targets.dtype, offsets.dtype, size, offsets, len(offsets) - 1, first, size, sources)
    return sources


def edge_blocks(offsets: Any, targets: Any) -> Iterator[Pairs]:
    """The edges of a CSR, in order, in blocks of at most `BLOCK`."""
    for first in range(0, len(targets), BLOCK):
        block = targets[first : first + BLOCK]
        yield sources_of(offsets, targets, first, first + len(block)), block


@clear_errors
def transpose(offsets: Any, targets: Any, *, in_order: bool = False) -> CSR:
    """The CSR of the reversed edges; with ``in_order`` each adjacency is in the order of the edges."""
    if in_order:
        return _fill_in_order(targets, sources_of(offsets, targets), len(offsets) - 1)

    def blocks() -> Iterator[Pairs]:
        return ((target, source) for source, target in edge_blocks(offsets, targets))

    return fill(blocks, len(offsets) - 1, len(targets))


@clear_errors
def mirrored(offsets: Any, targets: Any, *, in_order: bool = False) -> CSR:
    """The CSR of the edges in both directions, self-loops once; the same arrays if they are symmetric. With
    ``in_order`` each adjacency is in the order of the edges."""
    if is_symmetric(offsets, targets):
        return offsets, targets
    if in_order:
        return _fill_in_order(sources_of(offsets, targets), targets, len(offsets) - 1, mirror=True)
    return fill(lambda: edge_blocks(offsets, targets), len(offsets) - 1, len(targets), mirror=True)


def is_symmetric(offsets: Any, targets: Any) -> bool:
    """Is every edge there in both directions, equally often? See `rapids_bfs._core.csr.building.Degrees.symmetric`."""
    asymmetry = cupy.zeros(1, np.uint64)
    arguments = (offsets, targets, len(offsets) - 1, len(targets), *_key(), asymmetry)
    launch("csr", "add_asymmetry", targets.dtype, offsets.dtype, len(targets), *arguments)
    return int(asymmetry[0]) == 0


def count_loops(offsets: Any, targets: Any) -> int:
    """Number of edges from a vertex to itself."""
    return sum(int((source == target).sum()) for source, target in edge_blocks(offsets, targets))


def ascends(offsets: Any, targets: Any) -> bool:
    """Does every adjacency ascend? Entries may repeat."""
    begins = cupy.zeros(len(targets) + 1, bool)
    begins[offsets] = True
    for first in range(0, len(targets) - 1, BLOCK):
        block = targets[first : first + BLOCK + 1]
        if not (begins[first + 1 : first + len(block)] | (block[1:] >= block[:-1])).all():
            return False
    return True


@clear_errors
def ascending(
    offsets: Any, targets: Any, *, symmetric: bool = False, limit: int | None = None, result: Any = None
) -> CSR:
    """The CSR with each adjacency in ascending order; ``symmetric`` is ignored.

    Targets are below ``limit``, by default n. ``result`` may be the targets themselves. Rows are sorted in their place,
    those of more than `BLOCK_BYTES` by keys, 8 bytes an arc and as many for sorting, `PIECE` arcs at a time.
    """
    result = targets.copy() if result is None else result
    types, n, sizes = (targets.dtype, offsets.dtype), len(offsets) - 1, offsets[1:] - offsets[:-1]
    launch("sort_rows", "sort_short_rows", *types, n, offsets, n, result)
    rows = cupy.flatnonzero(sizes > WARP_ROW)
    by_keys = sizes[rows] > BLOCK_BYTES // targets.dtype.itemsize
    rows, others = rows[by_keys], rows[~by_keys]
    launch("sort_rows", "sort_long_rows", *types, THREADS * len(others), offsets, others, len(others), result)
    places = cupy.zeros(len(rows) + 1, offsets.dtype)
    places[1:] = cupy.cumsum(sizes[rows])
    bits = (n if limit is None else limit).bit_length()
    for first, last in _pieces(places, int(places[-1])):
        keys = cupy.empty(last - first, np.int64)
        arguments = (rows, places, len(rows), first, len(keys), bits, keys)
        launch("sort_rows", "pack", *types, len(keys), offsets, result, *arguments)
        keys.sort()
        launch("sort_rows", "unpack", *types, len(keys), offsets, result, *arguments)
    return offsets, result


def _pieces(offsets: Any, arcs: int) -> Iterator[tuple[int, int]]:
    """Runs of whole rows with about `PIECE` arcs or a single row: the first arc, the last arc + 1."""
    cuts = cupy.searchsorted(offsets, cupy.arange(PIECE, arcs, PIECE, dtype=offsets.dtype), side="right") - 1
    rows = [0, *dict.fromkeys(cuts.tolist())]
    starts = [*offsets[cupy.asarray(rows)].tolist(), arcs]
    for first, last in pairwise(starts):
        if first < last:
            yield first, last


def count_repeats(offsets: Any, targets: Any) -> int:
    """Number of entries that equal the one before them in their adjacency, which must ascend."""
    counts = cupy.zeros(len(offsets) - 1, offsets.dtype)
    for _ in _distinct_blocks(offsets, targets, counts, loops=True):
        pass
    return len(targets) - int(counts.sum(dtype=np.int64))


def without_repeats_and_loops(offsets: Any, targets: Any) -> CSR:
    """The CSR of the distinct edges other than self-loops. Each adjacency must ascend."""
    return distinct(offsets, targets, loops=False)


@clear_errors
def distinct(offsets: Any, targets: Any, *, loops: bool, result: Any = None) -> Pairs:
    """The CSR of the distinct edges, with or without self-loops. Each adjacency must ascend.

    ``result`` may be the targets themselves: no target is written beyond the ones that have been read.
    """
    counts = cupy.zeros(len(offsets), offsets.dtype)
    for _ in _distinct_blocks(offsets, targets, counts[1:], loops=loops):
        pass
    new_offsets = cupy.cumsum(counts, dtype=counts.dtype)
    size = int(new_offsets[-1])
    new_targets = cupy.empty(size, targets.dtype) if result is None else result[:size]
    end = 0
    for some in _distinct_blocks(offsets, targets, cupy.zeros_like(counts), loops=loops):
        new_targets[end : end + len(some)] = some
        end += len(some)
    return new_offsets.astype(index_dtype(len(new_targets)), copy=False), new_targets


def _distinct_blocks(offsets: Any, targets: Any, counts: Any, *, loops: bool) -> Iterator[Any]:
    """Blocks of the targets that differ from the one before them in their adjacency and, unless ``loops``, from their
    source. Their number in each row is added to ``counts``."""
    n = len(offsets) - 1
    for first in range(0, len(targets), BLOCK):
        block = targets[first : first + BLOCK]
        size = len(block)
        kept = cupy.empty(size, bool)
        arguments = (offsets, targets, n, first, size, loops, kept, counts)
        launch("csr", "distinct", targets.dtype, offsets.dtype, size, *arguments)
        yield block[kept]


# The rows of one rank of a distributed graph. Offsets are int64.


@contextmanager
def working() -> Iterator[None]:
    """A context in which arrays come from CuPy's pool, even if RMM would ask the driver for each, which is slow. At its
    end the pool's free blocks go back to the device."""
    pool = cupy.get_default_memory_pool()
    with cupy.cuda.using_allocator(pool.malloc) if driver_allocates() else nullcontext():
        yield
    pool.free_all_blocks()


def summary(sources: Any, targets: Any, key: np.ndarray) -> tuple[int, int]:
    """The largest id and the asymmetry of a block that is not empty."""
    _, highest, asymmetry = _summarized([(sources, targets)], [int(number) >> 1 | 1 for number in key])
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
    written = cupy.array(starts), cupy.zeros(size, np.int64), arcs
    launch("distributed_build", "bucket_by_owner", vertex, np.int64, count, *arguments, *written)
    return [arcs[2 * first : 2 * last].reshape(2, -1) for first, last in pairwise(starts)]


def count_local_ids(local_ids: Any, counts: Any) -> None:
    """Add the occurrences of each local id to ``counts``."""
    size = len(local_ids)
    launch("distributed_build", "count_arcs", local_ids.dtype, np.int64, size, local_ids, size, len(counts), counts)


def scatter_targets(local_ids: Any, targets: Any, cursors: Any, rows: Any) -> None:
    """Write each target into ``rows`` at the cursor of its source, and advance the cursor."""
    arguments = (local_ids, targets, len(local_ids), len(cursors), len(rows), cursors, rows)
    launch("distributed_build", "scatter_targets", local_ids.dtype, np.int64, len(local_ids), *arguments)


def simplified(offsets: Any, targets: Any, bound: int) -> CSR:
    """The rows without duplicates, ascending. ``targets``, all below ``bound``, are overwritten."""
    ascending(offsets, targets, limit=bound, result=targets)
    kept_offsets, kept = distinct(offsets, targets, loops=True, result=targets)
    return kept_offsets.astype(np.int64, copy=False), kept


def count_own_loops(offsets: Any, targets: Any, base: int) -> int:
    """The number of self-loops; ``base`` is the global id of local id 0."""
    loops = cupy.zeros(1, np.int64)
    arcs = len(targets)
    arguments = (offsets, targets, len(offsets) - 1, arcs, base, loops)
    launch("distributed_validation", "count_loops", targets.dtype, np.int64, arcs, *arguments)
    return int(loops[0])
