"""Small levels: one block, or the blocks of its cluster, continue without the others."""

from collections import namedtuple

import numpy as np
from numba import cuda

from ...whole_search import RECENT
from ..common.bitmap import bit_of
from ..common.pointers import (
    advance,
    atomic_add,
    atomic_exchange,
    atomic_or,
    cast_like,
    is_null,
    load_four,
    load_pair,
    local_array,
    pointer_into,
    size_of,
)
from ..common.ptx import (
    cluster_barrier,
    load_read_only,
    map_shared_rank,
    named_barrier,
    nanoseconds,
    prefetch,
    warp_reduce_add,
    warp_reduce_max,
)
from ..common.warp import WARP, from_lane, inlined, lane_id, warp_inclusive_scan, warp_inclusive_scan_32
from .chunks import (
    CHUNK,
    COUNTS,
    ENDED,
    TOTALS,
    Block,
    chunk_queue,
    end_small_levels,
    reserve_anywhere,
    reserve_in_order,
)
from .parameters import EXPLORED, LEVEL, TAILS, TARGET_LEVEL
from .phase import of_phase
from .queue import append_vertex

MAX_LEVELS = 1 << 20  # of a block before it meets the others at the barrier, whose spins are limited
SINGLE_BLOCK_THREADS = 128  # of a block without a cluster: more would be slower
GOLDEN = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio

# Which chunks of a level a block expands: from `begin` to `stop`, in its own queue. If they are divided evenly, `until`
# and `before` are how many the blocks up to that of the lane's rank have, with it and without.
Share = namedtuple("Share", ("begin", "stop", "until", "before"))


@inlined
def not_recently_seen(recent, vertex):
    """Note that this block visits a vertex; did it not do so before, as far as the table remembers?

    Source of the place in it: D. E. Knuth, The art of computer programming 3, section 6.4.
    """
    place = np.uint64(np.uint32(vertex * GOLDEN)) * np.uint64(RECENT) >> np.uint64(32)
    return atomic_exchange(recent, np.int32(place), vertex) != vertex


@inlined
def find_chunk(queue, until, before, spread, inside, place):
    """The queue that has chunk number ``place`` of the level, and its number there."""
    whose_queue = queue
    if spread:
        whose = np.int32(0)  # the first block with more chunks up to it
        for half in range(5):
            step = 16 >> half
            if from_lane(until, np.int32(whose + step - 1)) <= place:
                whose = np.int32(whose + step)
        others = from_lane(before, whose)
        if inside:
            whose_queue = map_shared_rank(queue, whose)
            place = np.int32(place - others)
    return whose_queue, place


@inlined
def even_share(theirs, rank, size):
    """An even share of the chunks of all blocks, of which that of the lane's rank has ``theirs``."""
    until = warp_inclusive_scan_32(theirs)
    total = from_lane(until, WARP - 1)
    each = np.int32((np.uint32(total) + np.uint32(size) - np.uint32(1)) // np.uint32(size))
    begin = np.int32(rank * each)
    return Share(begin, np.int32(min(begin + each, total)), until, np.int32(until - theirs))


@inlined
def flush(s, block, queue, count):
    """Append what is left in a queue to that of the whole grid: the first chunk of each vertex stands for all."""
    left = np.int32(min(count, s.capacity))
    place = np.int32(cuda.threadIdx.x)
    while place < left:
        begins, rest, owner, _ = load_four(queue, place)
        if rest > 0:
            append_vertex(s, block.after, block.tail, owner, begins, rest)
        place = np.int32(place + block.threads)


@inlined
def leave(s, block, level, phase, explored):
    """Tell the grid the last level, and how many edges the vertices reached have; ``explored`` by this lane."""
    explored = from_lane(warp_inclusive_scan(explored), WARP - 1)
    if lane_id() == 0 and explored > 0:
        atomic_add(s.state, of_phase(EXPLORED, phase), explored)
    if block.rank == 0 and cuda.threadIdx.x == 0:
        s.state[LEVEL + (phase & 1)] = level


def chunk_expander(whole, in_cluster):
    count, bits = (CHUNK, 0) if whole else (1, 2)  # edges of a thread; and of the threads to a chunk
    append_chunks = chunk_queue(reserve_in_order if in_cluster else reserve_anywhere)

    @inlined
    def expand_chunks(s, block, visited, level, queues, next_counter, share, spread):
        """Expand chunks into the vertices of a level, a thread each if ``whole``, else a thread each of their edges.

        ``queues`` are the chunks' and the next level's. Returns the edges of what this lane reached, and how many
        chunks a block of a cluster has appended.
        """
        queue, upcoming = queues
        begin, stop, until, before = share
        lane = lane_id()
        won = local_array(s.distances, count)
        neighbor = local_array(s.targets, count)
        first = local_array(s.offsets, count)
        degree = local_array(s.offsets, count)
        word = local_array(s.distances, count)
        explored = np.int64(0)
        filled, where = np.int32(0), next_counter
        warp_begin = np.int32(cuda.threadIdx.x) & -WARP
        start = np.int32((begin << bits) + warp_begin)
        end = np.int32(stop << bits)
        if in_cluster:  # the warps take the same number of rounds
            end = np.int32(end + warp_begin)
            where = TOTALS
        while start < end:
            place = np.int32(np.int32(start + lane) >> bits)
            inside = place < stop
            whose_queue = queue
            if in_cluster:
                whose_queue, place = find_chunk(queue, until, before, spread, inside, place)
            begins, rest = cast_like(s.offsets, 0), cast_like(s.offsets, 0)
            parent = cast_like(s.targets, 0)
            if inside:
                begins, rest, owner, _ = load_four(whose_queue, place)
                parent = cast_like(s.targets, owner)
                rest = cast_like(s.offsets, abs(rest))
            part = np.int32(0 if whole else lane & CHUNK - 1)  # of the chunk, from which on this thread's edges are
            for k in range(count):
                neighbor[k] = 0
                won[k] = np.int32(part + k) < rest
                if won[k]:
                    neighbor[k] = load_read_only(s.targets, begins + part + k)
            if in_cluster:
                for k in range(count):
                    if won[k]:
                        won[k] = not_recently_seen(block.recent, neighbor[k])
            for k in range(count):
                word[k] = -1
                first[k] = 0
                degree[k] = 0
                if won[k]:
                    word[k] = atomic_or(visited, neighbor[k] >> 5, bit_of(neighbor[k]))
                    first[k] = load_read_only(s.offsets, neighbor[k])
                    degree[k] = load_read_only(s.offsets, neighbor[k] + 1)
            for k in range(count):
                degree[k] -= first[k]
                won[k] = word[k] & bit_of(neighbor[k]) == 0
                if won[k]:
                    prefetch(s.targets, first[k])
                    if not is_null(s.predecessors):
                        s.predecessors[neighbor[k]] = parent
                    s.distances[neighbor[k]] = level
                    if neighbor[k] == s.target:
                        s.state[TARGET_LEVEL] = level
                        end_small_levels(block, level)
                    explored += degree[k]
                    won[k] = degree[k] > 0
            filled = append_chunks(
                s, block, upcoming, where, filled, level, block.after, count, won, neighbor, first, degree
            )
            if in_cluster:
                where = np.int32(2 * TOTALS + WARP - where)
            start = np.int32(start + block.threads)
        return explored, filled

    return expand_chunks


def barrier_of(in_cluster):
    @inlined
    def barrier():
        """Wait for all blocks of the cluster, or for the threads that take part of the only one.

        What they wrote before, in their shared memory too, is seen after.
        """
        if in_cluster:
            cluster_barrier()
        elif cuda.blockDim.x == SINGLE_BLOCK_THREADS:
            cuda.syncthreads()
        else:
            named_barrier(SINGLE_BLOCK_THREADS)

    return barrier


def frontier_loader(in_cluster):
    barrier, append_chunks = barrier_of(in_cluster), chunk_queue(reserve_anywhere)

    @inlined
    def load_frontier(s, block, queue, level, begin, vertices, edges):
        """Divide the frontier of the whole grid into the blocks' queues."""
        lane = lane_id()
        wanted = local_array(s.distances, 1)
        vertex = local_array(s.targets, 1)
        first = local_array(s.offsets, 1)
        degree = local_array(s.offsets, 1)
        i = np.int32(cuda.threadIdx.x)
        while i < COUNTS:
            block.counts[i] = 0
            i = np.int32(i + block.threads)
        i = np.int32(cuda.threadIdx.x)
        while in_cluster and i < RECENT:
            block.recent[i] = -1
            i = np.int32(i + block.threads)
        barrier()
        i = np.int64(block.rank * block.threads + (np.int32(cuda.threadIdx.x) & -WARP))
        while i < vertices:
            wanted[0] = i + lane < vertices
            if wanted[0]:
                prefix, shift = load_pair(s.queue, begin + i + lane)
                end = edges
                if i + lane + 1 < vertices:
                    end = np.int64(s.queue[2 * (begin + i + lane + 1)])
                vertex[0] = s.queued[begin + i + lane]
                first[0] = prefix + shift
                degree[0] = end - prefix
            zero = np.int32(0)
            append_chunks(s, block, queue, zero, zero, level, -1, 1, wanted, vertex, first, degree)
            i += block.size * block.threads
        barrier()

    return load_frontier


def small_levels(in_cluster):
    barrier, load_frontier = barrier_of(in_cluster), frontier_loader(in_cluster)
    expand_edges, expand_chunks = chunk_expander(False, in_cluster), chunk_expander(True, in_cluster)

    @inlined
    def go(s, visited, level, begin, vertices, edges, phase, blocks, limit, memory):
        """Top-down levels by one block, or by a cluster of several, with the frontier in the queue from ``begin`` on.

        Until it has more than ``limit`` chunks; then it is in the queue from ``begin + vertices`` on. If there is no
        room for it, there is no level. Leaves the last level and the edges of the vertices reached in `state`.
        """
        counts = pointer_into(cuda.shared.array(COUNTS, np.int32), 0, np.int32)
        thread, lane = np.int32(cuda.threadIdx.x), lane_id()
        size, rank, threads = np.int32(1), np.int32(0), np.int32(SINGLE_BLOCK_THREADS)
        if in_cluster:
            size, rank, threads = blocks, np.int32(cuda.blockIdx.x), np.int32(cuda.blockDim.x)
        if thread >= threads:
            return
        first_level = level
        last = np.int32(min(s.depth_limit, level + MAX_LEVELS))
        queue = pointer_into(memory, 0, s.offsets)  # of this level
        upcoming = advance(queue, 4 * s.capacity)
        recent = pointer_into(memory, 8 * s.capacity * size_of(s.offsets), s.targets)
        block = Block(counts, recent, size, rank, threads, begin + vertices, of_phase(TAILS, phase))
        counter, next_counter, spare = np.int32(0), np.int32(1), np.int32(2)
        explored = np.int64(0)
        load_frontier(s, block, queue, level, begin, vertices, edges)

        spread = False  # are chunks divided evenly, since some blocks have many more than others?
        while True:
            total = counts[counter]  # chunks
            if counts[ENDED + (level & 1)] != 0 or level == last or (not in_cluster and (total == 0 or total > limit)):
                break
            theirs = np.int32(0)  # of the block of this lane's rank
            if in_cluster and lane < size:
                theirs = map_shared_rank(counts, lane)[counter]
            share = Share(np.int32(0), total, np.int32(0), np.int32(0))
            if spread:
                share = even_share(theirs, rank, size)
            if thread == 0:
                counts[spare] = 0
            upper = np.int32(level + 1)
            queues = queue, upcoming
            # One edge per thread is less to wait for, one chunk per thread less to do.
            if (share.stop - share.begin) * CHUNK <= threads:
                found, filled = expand_edges(s, block, visited, upper, queues, next_counter, share, spread)
            else:
                found, filled = expand_chunks(s, block, visited, upper, queues, next_counter, share, spread)
            explored += found
            # The numbers of the others have arrived by now: they were loaded at the beginning of the level.
            if in_cluster:
                if thread == 0:
                    counts[next_counter] = filled
                total = warp_reduce_add(theirs)
                most = warp_reduce_max(theirs)
                if total == 0:
                    break
                spread = most * CHUNK > threads and most * size > (total >> 2) * 5  # a quarter more than others
            barrier()
            level = upper
            if not is_null(s.trace) and rank == 0 and thread == 0:
                s.trace[level] = nanoseconds() * 2
            queue, upcoming = upcoming, queue
            counter, next_counter, spare = next_counter, spare, counter
            if in_cluster and total > limit:
                break

        if level > first_level:  # else there was no room for the frontier, and there is nothing new
            flush(s, block, queue, counts[counter])
        leave(s, block, level, phase, explored)

    return go


single_block_levels, cluster_levels = small_levels(False), small_levels(True)
