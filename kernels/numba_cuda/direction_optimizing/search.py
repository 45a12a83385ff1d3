"""The search: which way each level goes, and what is left to do at its end.

This is the version to learn from; the CUDA C++ is the one to measure. It differs from that one on purpose:

- A dense level expands its edges in one pass. The C++ makes several, over ranges of targets, where the predecessors
  exceed the L2 (`stores_exceed_l2`).
- A top-down level probes the bitmap before the atomic if a warp's run has more edges than one round of its lanes takes
  (`top_down.expand`). The C++ never does.
- A bottom-up level leaves no long rows to the whole grid (`expand_long_rows` in the C++), so no phase follows it.
- It has no masks of vertices (`probed_bitmap` in the C++): its host searches the graph without their edges.

The docstring of the package lists all differences.
"""

from collections import namedtuple

import numpy as np
from numba import cuda

from ...whole_search import BITMAPS, LIST, TILE, TILES
from ..common.adjacency import row_of
from ..common.bitmap import bit_of, lowest, test, without_lowest
from ..common.frontier import packed
from ..common.pointers import atomic_add, atomic_or, is_null, local_array, pointer_into, store_pair
from ..common.ptx import cluster_size, load_read_only, load_relaxed, nanoseconds, reduce_or
from ..common.search import is_reached, report
from ..common.warp import WARP, inlined, lane_id, warp_sum_32
from .bottom_up import sweep
from .level_bitmaps import (
    SKIP,
    Ring,
    bitmap_at,
    is_full,
    newest,
    record,
    reset_for_next_search,
    to_queue,
    with_another,
    without_older,
)
from .parameters import EXPLORED, FINISHED, STALE, TAILS, TARGET_LEVEL
from .phase import LAST_LEVEL, LEVEL_EXPLORED, PHASE_RESULT, TARGET_REACHED, end_phase, of_phase
from .queue import append_to_queue
from .small_levels import cluster_levels, single_block_levels
from .top_down import expand

# The thread, and the shared memory of its block.
Work = namedtuple(
    "Work",
    (
        "lane",
        "warp",  # of the grid; neighbouring warps are on different multiprocessors
        "warps",
        "thread",  # of the grid
        "threads",
        "one_source",
        "result",  # in shared memory: of the last phase
        "reached",  # in shared memory: vertices that the block reached in this level, where the queue does not count
        "list",  # in shared memory, of the warp: LIST vertices
        "words",  # in shared memory, of the warp: words of TILES tiles
    ),
)


@inlined
def forget_isolated_sources(s, work, ring, unreached, was_stale):
    """If the last search left distances at isolated sources, set them back, but not that of the source of this one."""
    word = work.thread
    while was_stale and s.fresh == 0 and word < ring.words:
        left = load_read_only(s.isolated, word)
        while left != 0:
            vertex = word * WARP + lowest(left)
            if vertex < s.n and not (work.one_source and vertex == s.source):
                s.distances[vertex] = unreached
            left = without_lowest(left)
        word += work.threads


@inlined
def seed_source(s):
    """Begin at one source; one thread does."""
    store_pair(s.queue, 0, 0, s.offsets[s.source])
    s.queued[0] = s.source
    reduce_or(s.visited, s.source >> 5, bit_of(s.source))
    if not is_null(s.predecessors):
        s.predecessors[s.source] = -1
    s.distances[s.source] = 0


@inlined
def seed_sources(s, work, stale, phase):
    """Begin at several sources."""
    lane = work.lane
    wanted = local_array(s.distances, 1)
    source = local_array(s.targets, 1)
    first = local_array(s.offsets, 1)
    degree = local_array(s.offsets, 1)
    start = np.int64(work.warp) * WARP
    while start < s.count:
        wanted[0] = start + lane < s.count
        if wanted[0]:
            source[0] = s.sources[start + lane]
            first[0], degree[0] = row_of(s, source[0])
            if s.fresh == 0 and test(s.isolated, source[0]):
                s.state[stale] = 1
            atomic_or(s.visited, source[0] >> 5, bit_of(source[0]))
            s.distances[source[0]] = 0
            if not is_null(s.predecessors):
                s.predecessors[source[0]] = -1
        append_to_queue(s, 0, of_phase(TAILS, phase), 1, wanted, source, first, degree)
        start += work.warps * WARP


@inlined
def begin_search(s, work, ring, stale, unreached, was_stale):
    """Reset what the last search left, and begin at the source if there is one.

    The first bitmap has the isolated vertices, as the last search left it.
    """
    if cuda.threadIdx.x == 0:
        work.reached[0] = 0
        work.result[TARGET_REACHED] = 0
    forget_isolated_sources(s, work, ring, unreached, was_stale)
    if work.thread == 0:
        s.state[TARGET_LEVEL] = 0
        s.state[stale] = was_stale if s.fresh != 0 else work.one_source and test(s.isolated, s.source)
        s.state[of_phase(TAILS, 1)] = s.state[of_phase(EXPLORED, 1)] = 0
        if not is_null(s.trace):
            s.trace[0] = nanoseconds() * 2
        if work.one_source:
            seed_source(s)


@inlined
def first_frontier(s, work, stale):
    """Wait until the queue has the sources. Returns the frontier's vertices and edges, and the next phase."""
    phase = np.int32(1)
    vertices, edges = np.int64(0), np.int64(0)
    if work.one_source:
        edges = np.int64(row_of(s, s.source)[1])
        vertices = np.int64(edges > 0)
    if work.one_source and edges > 0 and 1 + (edges >> 2) <= s.single_block_chunks and s.depth_limit > 0:
        # The loop lets block 0 go on alone: deep_chunks is 0 or no less than single_block_chunks. No other block reads
        # what it wrote before the next barrier.
        cuda.syncthreads()
    else:
        end_phase(s.state, np.int32(0), s.edge_bits, work.result)
    if not work.one_source:
        seed_sources(s, work, stale, phase)
        vertices, edges = end_phase(s.state, phase, s.edge_bits, work.result)
        phase = np.int32(phase + 1)
    return vertices, edges, phase


@inlined
def expand_small(s, work, visited, level, begin, vertices, edges, phase, chunks, memory):
    """Let one block, or the blocks of a cluster, expand a small frontier and those after it. Returns what is left."""
    size, limit = np.int32(1), s.single_block_chunks
    if chunks > s.single_block_chunks:
        size, limit = cluster_size(), s.deep_chunks
    if cuda.blockIdx.x < size:
        most = np.int32(limit)
        if size > 1:
            cluster_levels(s, visited, level, begin, vertices, edges, phase, size, most, memory)
        else:
            single_block_levels(s, visited, level, begin, vertices, edges, phase, size, most, memory)
    return end_phase(s.state, phase, s.edge_bits, work.result)


@inlined
def copy_bitmap(work, words, visited, upcoming):
    word = work.thread
    while word < words:
        upcoming[word] = load_relaxed(visited, word)
        word += work.threads


@inlined
def count_reached(s, work, phase, mine):
    """Count what a level without a queue reached; ``mine`` by this lane."""
    mine = warp_sum_32(mine)
    if work.lane == 0 and mine > 0:
        cuda.atomic.add(work.reached, 0, mine)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = cuda.atomic.exch(work.reached, 0, 0)
        if total > 0:
            atomic_add(s.state, of_phase(TAILS, phase), packed(total, 0, s.edge_bits))


@inlined
def expand_dense(s, work, ring, level, phase, begin, vertices, edges, bottom_up):
    """A level that leaves a bitmap and no queue. Returns the ring with that, and the phase that counts the level."""
    visited = newest(s, ring)
    ring = with_another(ring, level)
    upcoming = newest(s, ring)
    if bottom_up:
        mine = sweep(s, visited, upcoming, level, work.warp, work.warps, work.list, work.words)
    else:
        copy_bitmap(work, ring.words, visited, upcoming)
        end_phase(s.state, phase, s.edge_bits, work.result)
        phase = np.int32(phase + 1)
        mine = expand(s, upcoming, level, begin, vertices, edges, 0, work.warp, work.warps, True)
    count_reached(s, work, phase, mine)
    return ring, phase


@inlined
def needs_queue(s, vertices, expanded, unexplored, shrinking, bottom_up):
    """After a level that left no queue: should there be one again, and how many shrinking frontiers were there in a
    row? After bottom-up levels, when the frontier has been small and shrinking for some time."""
    if bottom_up:
        shrinking = shrinking + 1 if vertices < expanded and vertices < s.n // s.beta else 0
        back = shrinking >= s.shrinking_levels
    else:
        shrinking = 0
        back = vertices * (s.m // s.n) <= unexplored // s.alpha
    return back, shrinking


@inlined
def return_to_queue(s, work, ring, begin, phase):
    """Put the frontier back into the queue, and go on in a copy of the newest bitmap. Returns the ring with that, and
    how many vertices and edges the frontier has."""
    before, visited = bitmap_at(s, ring, ring.newest - 1), newest(s, ring)
    ring = with_another(ring, SKIP)
    to_queue(s, before, visited, newest(s, ring), begin, of_phase(TAILS, phase), work.warp, work.warps, work.list)
    vertices, edges = end_phase(s.state, phase, s.edge_bits, work.result)
    return ring, vertices, edges


@inlined
def finish(s, work, ring, level, phase, with_isolated, given_up):
    """Report to the host. ``with_isolated``: `record` has written over the distances of isolated sources."""
    one_source = work.one_source
    if with_isolated and (not one_source or test(s.isolated, s.source)):
        end_phase(s.state, phase, s.edge_bits, work.result)
        i = work.thread
        while i < s.count:
            s.distances[s.source if one_source else np.int64(s.sources[i])] = 0
            i += work.threads
    report(s.state, FINISHED, s.status, s.number, level, given_up)
    reset_for_next_search(s, work.warp, work.warps)  # while the host goes on


@inlined
def work_of(s, memory, result, reached):
    """The `Work` of this thread. ``memory`` holds the words of the warps, then their lists."""
    warp_of_block, warps_of_block = np.int32(cuda.threadIdx.x >> 5), np.int32(cuda.blockDim.x >> 5)
    warp = np.int32(warp_of_block * cuda.gridDim.x + cuda.blockIdx.x)
    warps = np.int32(cuda.gridDim.x * warps_of_block)
    words = pointer_into(memory, warp_of_block * TILES * TILE * 4, s.visited)
    found = pointer_into(memory, warps_of_block * TILES * TILE * 4 + warp_of_block * LIST * 2, np.uint16)
    return Work(lane_id(), warp, warps, cuda.grid(1), cuda.gridsize(1), s.count == 1, result, reached, found, words)


def search(s):
    memory = cuda.shared.array(0, np.int8, alignment=16)
    levels = cuda.shared.array(BITMAPS, np.int32)
    work = work_of(s, memory, cuda.shared.array(PHASE_RESULT, np.int64), cuda.shared.array(1, np.int32))
    ring = Ring(s.n + WARP - 1 >> 5, levels, np.int32(0), np.int32(0))
    stale, was_stale = STALE + (s.number & 1), s.state[STALE + (s.number - 1 & 1)] != 0
    unreached = np.int32(s.unreached)
    begin_search(s, work, ring, stale, unreached, was_stale)
    vertices, edges, phase = first_frontier(s, work, stale)

    # Every thread follows the levels in variables of its own.
    begin = np.int64(0)  # of the frontier in the queue; where it is not there, of the next one that will be
    unexplored = s.m
    level = np.int32(0)
    queued = True  # the frontier is in the queue, not just in the newest bitmap and not in the one before
    shrinking = np.int64(0)  # small frontiers in a row, bottom-up
    no_room = False  # for the frontier, in the queues in shared memory?
    given_up = False
    while True:
        reached_target = s.target >= 0 and is_reached(work.result[TARGET_REACHED], level)
        done = vertices == 0 or level >= s.depth_limit or given_up or reached_target
        chunks = vertices + (edges >> 2)  # at most
        small = queued and not no_room and chunks <= (s.deep_chunks if cluster_size() > 1 else s.single_block_chunks)
        bottom_up = not queued or edges > unexplored // s.alpha
        dense = not small and (bottom_up or edges > s.dense)
        with_isolated = done and (s.fresh != 0 or ring.newest > ring.oldest)
        if done or (dense and is_full(ring)):
            record(s, ring, unreached if done else np.int32(SKIP), with_isolated, work.warp, work.warps)
            ring = without_older(ring)
        if done:
            break
        expanded = vertices

        if small:
            left, left_edges = expand_small(
                s, work, newest(s, ring), level, begin, vertices, edges, phase, chunks, memory
            )
            phase = np.int32(phase + 1)
            no_room = level == work.result[LAST_LEVEL]
            if not no_room:
                unexplored += left_edges - work.result[LEVEL_EXPLORED] - edges
                vertices, edges = left, left_edges
                level = np.int32(work.result[LAST_LEVEL])
                begin += expanded
                given_up = level > s.n
            continue

        level = np.int32(level + 1)
        no_room = False
        given_up = level > s.n  # as many levels as vertices, if each reaches one and the last none
        if queued:
            unexplored -= edges
            begin += expanded
        if dense:
            ring, phase = expand_dense(s, work, ring, level, phase, begin - expanded, expanded, edges, bottom_up)
        else:
            tail, visited = of_phase(TAILS, phase), newest(s, ring)
            expand(s, visited, level, begin - expanded, expanded, edges, tail, work.warp, work.warps, False)
        queued = not dense
        vertices, edges = end_phase(s.state, phase, s.edge_bits, work.result)
        phase = np.int32(phase + 1)
        if not is_null(s.trace) and work.thread == 0:
            s.trace[level] = nanoseconds() * 2 + bottom_up
        if queued or vertices == 0:
            continue
        back, shrinking = needs_queue(s, vertices, expanded, unexplored, shrinking, bottom_up)
        if back and not is_full(ring):
            ring, vertices, edges = return_to_queue(s, work, ring, begin, phase)
            phase = np.int32(phase + 1)
            queued = True
            shrinking = np.int64(0)

    finish(s, work, ring, level, phase, with_isolated, given_up)
