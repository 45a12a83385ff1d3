"""The levels of ``deterministic.py`` by one block, and by the blocks of a cluster.

Sources: as in ``deterministic.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda

from ..deterministic import TEAM, TURN_ALONE, UNROLL
from .cooperative import (
    WARP,
    bit_of,
    exclusive_scan_of_block,
    from_lane,
    inclusive_scan,
    inlined,
    is_reached,
    lane_id,
    packed,
    unpacked,
)
from .ordered_levels import TARGET_LEVEL, claimed, family_of, settle
from .pointers import (
    cluster_barrier,
    is_null,
    like,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    nanoseconds,
    of_block,
    pointer_into,
    prefetch,
    registers,
    send_min,
    send_or,
    size_of,
    store_pair,
)

# What a thread has under way of so many edges: is it there, or won; both ends; of the second the word in the bitmap of
# visited vertices, the first edge and, at first, the one behind the last, then how many there are.
Edges = namedtuple("Edges", ("won", "neighbor", "parent", "word", "first", "degree"))


@inlined
def per_thread(numbers):
    return np.int32(np.uint32(numbers + cuda.blockDim.x - 1) // np.uint32(cuda.blockDim.x))


@inlined
def claim_edges(s, visited, edges, number):
    """Let the neighbours take the smallest number of an edge, of which this thread's begin with ``number``."""
    for k in range(UNROLL):
        if edges.won[k]:
            neighbor = edges.neighbor[k]
            send_min(s.rank, neighbor, claimed(s, np.int64(number + k)))
            edges.word[k] = load_shared_by_blocks(visited, neighbor >> 5)
            edges.first[k] = load_read_only(s.offsets, neighbor)
            edges.degree[k] = load_read_only(s.offsets, neighbor + 1)


@inlined
def settle_edges(s, visited, level, edges, number):
    """Settle what this thread's edges won, when all have claimed. Returns how many vertices with out-edges that are,
    and their edges."""
    rank = registers(s.rank, UNROLL)
    for k in range(UNROLL):
        if edges.won[k]:
            rank[k] = load_shared_by_blocks(s.rank, edges.neighbor[k])
    found = np.int64(0)
    for k in range(UNROLL):
        neighbor = edges.neighbor[k]
        won = edges.won[k] and rank[k] == claimed(s, np.int64(number + k))
        edges.won[k] = won and edges.word[k] & bit_of(neighbor) == 0
        if edges.won[k]:
            edges.degree[k] -= edges.first[k]
            settle(s, neighbor, edges.parent[k], level)
            send_or(visited, neighbor >> 5, bit_of(neighbor))
            if edges.degree[k] > 0:
                found += packed(1, edges.degree[k], s.edge_bits)
    return found


@inlined
def go_alone(s, visited, family, level, begin, vertices, edges, unexplored, memory, totals):
    """Ordered levels by one block, from the frontier behind ``begin`` until it has more than `alone` edges.

    It then stands behind ``begin + vertices``. A thread takes edges with neighbouring numbers. Returns the last level,
    the frontier's vertices and edges, and the unexplored edges.
    """
    thread, threads = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    after = begin + vertices
    last = np.int32(min(s.depth_limit, level + TURN_ALONE))
    entries = pointer_into(memory, 0, s.queue)  # of two queues in shared memory, and their vertices
    owners = pointer_into(memory, 4 * s.capacity * size_of(s.queue), s.queued)
    here, there = np.int32(0), np.int32(s.capacity)  # where this level's begins, and the next one's
    mine = Edges(
        registers(s.distances, UNROLL),
        registers(s.targets, UNROLL),
        registers(s.targets, UNROLL),
        registers(s.distances, UNROLL),
        registers(s.offsets, UNROLL),
        registers(s.offsets, UNROLL),
    )

    i = thread
    while i < vertices:
        prefix, shift = load_pair(s.queue, begin + i)
        store_pair(entries, i, prefix, shift)
        owners[i] = s.queued[begin + i]
        i = np.int32(i + threads)
    cuda.syncthreads()

    arrived = False
    while vertices > 0 and edges <= s.alone and level < last and not arrived:
        level = np.int32(level + 1)
        unexplored -= edges
        each = per_thread(edges)
        number = np.int32(thread * each)
        for k in range(UNROLL):
            edge = np.int32(number + k)
            mine.won[k] = k < each and edge < edges
            if mine.won[k]:
                slot, size = here, np.int32(vertices)
                while size > 1:
                    half = np.int32(size >> 1)
                    if entries[2 * (slot + half)] <= edge:
                        slot = np.int32(slot + half)
                    size = np.int32(size - half)
                mine.neighbor[k] = load_read_only(s.targets, entries[2 * slot + 1] + edge)
                mine.parent[k] = owners[slot]
        claim_edges(s, visited, mine, number)
        cuda.syncthreads()
        found = settle_edges(s, visited, level, mine, number)
        place, total = exclusive_scan_of_block(found, totals)
        vertices, edges = unpacked(total, s.edge_bits)
        for k in range(UNROLL):
            if mine.won[k]:
                slots, before = unpacked(place, s.edge_bits)
                s.rank[mine.neighbor[k]] = slots
                if mine.degree[k] > 0:
                    store_pair(entries, there + slots, before, mine.first[k] - before)
                    owners[there + slots] = mine.neighbor[k]
                    place += packed(1, mine.degree[k], s.edge_bits)
        here, there = there, here
        if not is_null(s.trace) and thread == 0:
            s.trace[level] = nanoseconds() * 2
        cuda.syncthreads()
        arrived = s.target >= 0 and is_reached(load_shared_by_blocks(s.state, TARGET_LEVEL), level)

    i = thread
    while i < vertices:
        vertex = owners[here + i]
        prefix, shift = load_pair(entries, here + i)
        store_pair(s.queue, after + i, prefix, shift)
        s.queued[after + i] = vertex
        parent = load_shared_by_blocks(s.predecessors, vertex)
        family[vertex] = family_of(load_shared_by_blocks(s.rank, parent))
        i = np.int32(i + threads)
    return level, vertices, edges, unexplored


@inlined
def hand_out(edges, share, number, vertex, first, degree):
    """Hand a vertex's edges to the blocks of the cluster: each has ``share`` of the level's, by their numbers.

    Of an edge in shared memory, its place in `targets`, and the vertex that it leaves.
    """
    block = np.int32(np.uint32(number) // np.uint32(share))
    place = np.int32(number - block * share)
    edge = like(edges, 0)
    while edge < degree:
        store_pair(of_block(edges, block), place, first + edge, vertex)
        place = np.int32(place + 1)
        if place == share:
            place = np.int32(0)
            block = np.int32(block + 1)
        edge = like(edges, edge + 1)


@inlined
def go_together(s, visited, family, level, begin, vertices, edges, unexplored, size, memory, totals):
    """Ordered levels by a cluster of ``size`` blocks, from the frontier behind ``begin`` until it has no edges or more
    than `together`.

    It then stands behind ``begin + vertices``. Returns the last level, the frontier's vertices and edges, and the
    unexplored edges.
    """
    counts = pointer_into(cuda.shared.array(TEAM, np.int64), 0, np.int64)  # what each block found in a level
    local = pointer_into(memory, 0, s.offsets)
    thread, threads = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    rank, lane = np.int32(cuda.blockIdx.x), lane_id()
    after = begin + vertices
    last = np.int32(min(s.depth_limit, level + TURN_ALONE))
    share = np.int32(np.uint32(edges + size - 1) // np.uint32(size))
    mine = Edges(
        registers(s.distances, UNROLL),
        registers(s.targets, UNROLL),
        registers(s.targets, UNROLL),
        registers(s.distances, UNROLL),
        registers(s.offsets, UNROLL),
        registers(s.offsets, UNROLL),
    )

    slot = np.int64(rank * threads + thread)
    while slot < vertices:
        prefix, shift = load_pair(s.queue, begin + slot)
        following = edges
        if slot + 1 < vertices:
            following = np.int64(s.queue[2 * (begin + slot + 1)])
        hand_out(local, share, prefix, s.queued[begin + slot], prefix + shift, following - prefix)
        slot += size * threads
    cluster_barrier()

    stay = True
    while stay:
        level = np.int32(level + 1)
        unexplored -= edges
        count = np.int32(min(share, edges - rank * share))  # none if negative
        each = per_thread(share)
        for k in range(UNROLL):
            place_here = np.int32(thread * each + k)
            mine.won[k] = k < each and place_here < count
            if mine.won[k]:
                edge, owner = load_pair(local, place_here)
                mine.neighbor[k] = load_read_only(s.targets, edge)
                mine.parent[k] = owner
        number = np.int32(rank * share + thread * each)
        claim_edges(s, visited, mine, number)
        cluster_barrier()
        found = settle_edges(s, visited, level, mine, number)
        for k in range(UNROLL):
            if mine.won[k]:
                prefetch(s.targets, mine.first[k])
        place, total = exclusive_scan_of_block(found, totals)
        if thread < size:
            of_block(counts, thread)[rank] = total
        cluster_barrier()
        until = np.int64(0)
        if lane < size:
            until = counts[lane]
        until = inclusive_scan(until)
        below = from_lane(until, np.int32(max(rank - 1, 0)))
        if rank > 0:
            place += below
        vertices, edges = unpacked(from_lane(until, WARP - 1), s.edge_bits)
        share = np.int32(np.uint32(min(edges, s.together + 1) + size - 1) // np.uint32(size))
        stay = vertices > 0 and edges <= s.together and level < last
        if s.target >= 0 and is_reached(load_shared_by_blocks(s.state, TARGET_LEVEL), level):
            stay = False
        for k in range(UNROLL):
            if mine.won[k]:
                neighbor, degree = mine.neighbor[k], mine.degree[k]
                slots, before = unpacked(place, s.edge_bits)
                s.rank[neighbor] = slots
                if degree > 0:
                    if stay:
                        hand_out(local, share, before, neighbor, mine.first[k], degree)
                    else:
                        store_pair(s.queue, after + slots, before, mine.first[k] - before)
                        s.queued[after + slots] = neighbor
                        family[neighbor] = family_of(load_shared_by_blocks(s.rank, mine.parent[k]))
                    place += packed(1, degree, s.edge_bits)
        if not is_null(s.trace) and rank == 0 and thread == 0:
            s.trace[level] = nanoseconds() * 2
        cluster_barrier()
    return level, vertices, edges, unexplored
