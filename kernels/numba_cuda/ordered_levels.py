"""The ordered levels of ``deterministic.py``, by the whole grid.

Sources: as in ``deterministic.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda

from ..deterministic import APART, CLAIM_TILES, CLAIMS, MANY, UNROLL
from ..whole_search import TILE
from .cooperative import (
    WARP,
    ballot,
    bit_of,
    count_of,
    exclusive_scan_of_block,
    from_lane,
    inclusive_scan,
    inlined,
    lane_id,
    list_bits,
    load_rows,
    owner_of,
    packed,
    slot_of,
    unpacked,
    vertex_of,
)
from .pointers import (
    behind,
    fetch_min_unsigned,
    like,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    most,
    registers,
    send_add,
    send_min,
    send_or,
    store_pair,
)

UNREACHED = -1  # rank
MOST_SLOTS = 1 << 24  # slots from this one on are of the last family
TARGET_LEVEL = 33  # element of `state`: the level that reached the target, 0 before

# Who a warp is, and what its block has in shared memory: of the warp, room for LIST vertices and the words of TILES
# tiles; WARP numbers; a number for each warp of the block.
Block = namedtuple("Block", ("warp", "warps", "found", "hits", "totals", "bases"))

# A warp's run of the numbers of a frontier's edges; the runs follow each other as the warps do. Where the frontier
# begins in the queue, and all of it; the numbers, none if `stop` is not above `next`, and the slot that has `next`; how
# many runs have any.
Run = namedtuple("Run", ("begin", "vertices", "edges", "next", "stop", "first", "runs"))


@inlined
def family_of(slot):
    """The family of the vertices that a slot's vertex reached; families are in the order of slots.

    The first are told apart, the others in steps of an eighth.
    """
    few = np.int32(min(slot, MOST_SLOTS))
    family = few
    if few >= APART:
        shift = 28 - cuda.clz(few)  # leaves four binary digits, 8 to 15
        family = np.int32(min(APART + (shift - 4) * 8 + (few >> shift) - 8, MANY))
    return family


@inlined
def settle(s, vertex, parent, level):
    """Write down that this level reached a vertex."""
    s.distances[vertex] = level
    s.predecessors[vertex] = parent
    if vertex == s.target:
        s.state[TARGET_LEVEL] = level


@inlined
def claimed(s, number):
    """What a vertex takes while it is being reached: it stands between slots and the rank of who is unreached."""
    return like(s.rank, ~np.int64(most(s.rank)) | number)


@inlined
def run_length(numbers, block):
    """How many of so many numbers a warp has in its run; a multiple of 32."""
    return (numbers + block.warps - 1) // block.warps + WARP - 1 >> 5 << 5


@inlined
def run_of(s, begin, vertices, edges, start, to, block):
    """This warp's run of the numbers ``start`` to ``to``; ``start`` is a multiple of 32, and so is all but the last
    ``stop``."""
    length = run_length(to - start, block)
    place = start + block.warp * length
    stop = min(place + length, to)
    first = np.int64(0)
    if place < stop:
        first = slot_of(s.queue, begin, vertices, place)
    return Run(begin, vertices, edges, place, stop, first, np.int32((to - start + length - 1) // length))


def walker(visit, marked):
    @inlined
    def walk(s, run, given):
        """Show the edges of a run, or the marked ones.

        ``visit`` gets UNROLL of them a lane: which are live, the neighbours and their owners' slots; the first is
        numbered ``edge`` + lane, the others WARP apart. It returns what it is given the next time, here the last.
        """
        lane = lane_id()
        live = registers(s.distances, UNROLL)
        neighbor = registers(s.targets, UNROLL)
        slot = registers(s.queued, UNROLL)
        first = run.first
        edge = run.next

        # A window of 32 entries, one a lane, and the edges that it covers, in whole runs of 32: each entry has an edge,
        # so it covers one at least.
        while edge < run.stop:
            prefix, shift = like(s.queue, run.edges), like(s.queue, 0)
            inside = first + lane < run.vertices
            if inside:
                prefix, shift = load_pair(s.queue, run.begin + first + lane)
            covered = run.edges
            if first + WARP < run.vertices:
                covered = np.int64(s.queue[2 * (run.begin + first + WARP)])
            end = run.stop
            if covered < end:
                end = covered >> 5 << 5

            while edge < end:
                some = np.int32(0)
                for k in range(UNROLL):
                    batch = edge + k * WARP
                    bits = np.int32(0)
                    if batch < end:
                        bits = np.int32(s.marks[batch >> 5]) if marked else np.int32(-1)
                    live[k] = bits >> lane & 1 != 0 and batch + lane < end
                    some = np.int32(some | bits)
                if some != 0:
                    for k in range(UNROLL):
                        batch = edge + k * WARP
                        who = owner_of(prefix - batch)
                        theirs = from_lane(shift, who)
                        slot[k] = first + who
                        neighbor[k] = 0
                        if live[k]:
                            neighbor[k] = load_read_only(s.targets, theirs + batch + lane)
                    given = visit(s, run, edge, live, neighbor, slot, given)
                edge += UNROLL * WARP
            edge = end
            if covered <= edge:
                first += WARP
            else:
                first += count_of(ballot(inside and prefix <= edge)) - 1
        return given

    return walk


def claimer(by_slot):
    @inlined
    def visit(s, run, edge, live, neighbor, slot, reached):
        lane = lane_id()
        word = registers(s.distances, UNROLL)
        claims = registers(s.distances, UNROLL)
        for k in range(UNROLL):
            word[k] = reached[neighbor[k] >> 5]  # who is not live is vertex 0
        for k in range(UNROLL):
            claims[k] = live[k] and word[k] & bit_of(neighbor[k]) == 0
        if by_slot and s.alike != 0:  # the bit is set by the first alone: half of the atomics, but a wait for them
            before = registers(s.rank, UNROLL)
            for k in range(UNROLL):
                before[k] = 0
                if claims[k]:
                    before[k] = fetch_min_unsigned(s.rank, neighbor[k], claimed(s, np.int64(slot[k])))
            for k in range(UNROLL):
                if before[k] == UNREACHED:
                    send_or(s.fresh, neighbor[k] >> 5, bit_of(neighbor[k]))
            return reached
        for k in range(UNROLL):
            number = np.int64(slot[k]) if by_slot else edge + k * WARP + lane
            if claims[k]:
                send_min(s.rank, neighbor[k], claimed(s, number))
                send_or(s.fresh, neighbor[k] >> 5, bit_of(neighbor[k]))
            if not by_slot and lane == 0 and live[k]:
                s.slots[(edge >> 5) + k] = slot[k]
        return reached

    walk = walker(visit, False)

    @inlined
    def claim(s, reached, run):
        """Expand the edges of a run: each neighbour that is not ``reached`` takes the smallest number of an edge that
        leads to it, and `slots` is written for that; or it takes the smallest slot of a discoverer."""
        walk(s, run, reached)

    return claim


claim, claim_by_slot = claimer(False), claimer(True)


@inlined
def clear_marks(s, run, block):
    """Before edges of a frontier are marked: none is, and nothing is counted."""
    lane = lane_id()
    word = (run.next >> 5) + lane
    while word * WARP < run.stop:
        s.marks[word] = 0
        word += WARP
    if lane == 0:
        s.counts[block.warp] = 0


@inlined
def mark(s, length, edge, degree):
    """Mark an edge that reaches a vertex with out-edges first, and count the vertex for the warp with that edge in its
    run."""
    send_or(s.marks, edge >> 5, bit_of(edge))
    send_add(s.counts, np.int64(np.uint64(edge) // np.uint64(length)), packed(1, degree, s.edge_bits))


@inlined
def is_found(slot, end):
    found = True
    for k in range(UNROLL):
        found = found and end[k] - slot[k] <= 1
    return found


@inlined
def settle_in_order(s, visited, family, level, begin, vertices, edges, block):
    """The second step of an ordered level: settle the vertices that were claimed, and mark the edges that they were
    claimed by."""
    words = s.n + WARP - 1 >> 5
    length = run_length(edges, block)
    last_group = edges - 1 >> 5
    lane = lane_id()
    tile = np.int32(s.tile)
    stride = like(s.targets, block.warps * tile * WARP)
    live = registers(s.distances, UNROLL)
    vertex = registers(s.targets, UNROLL)
    parent = registers(s.targets, UNROLL)
    edge = registers(s.queue, UNROLL)
    slot = registers(s.queued, UNROLL)
    end = registers(s.queued, UNROLL)
    middle = registers(s.queued, UNROLL)
    prefix = registers(s.queue, UNROLL)
    first = registers(s.offsets, UNROLL)
    degree = registers(s.offsets, UNROLL)

    here = np.int64(block.warp)
    while here * tile < words:
        origin = like(s.targets, here * tile * WARP)
        tiles, count = np.int32(0), np.int32(0)
        while tiles < CLAIM_TILES and count < CLAIMS and here * tile < words:
            word = here * tile + lane
            claims = np.int32(0)
            if lane < tile and word < words:
                claims = s.fresh[word]
            if claims != 0:
                s.fresh[word] = 0
                send_or(visited, word, claims)
            count = np.int32(count + list_bits(claims, behind(block.found, count), tiles * TILE * WARP))
            tiles = np.int32(tiles + 1)
            here += block.warps

        start = np.int32(0)
        while start < count:
            for k in range(UNROLL):
                place = start + k * WARP + lane
                live[k] = place < count
                vertex[k] = 0
                edge[k] = 0
                if live[k]:
                    vertex[k] = vertex_of(s, origin, stride, np.int32(block.found[place]))
                    edge[k] = s.rank[vertex[k]] & most(s.rank)
            load_rows(s, UNROLL, live, vertex, first, degree)
            for k in range(UNROLL):
                slot[k] = s.slots[edge[k] >> 5]
                end[k] = vertices
                if edge[k] >> 5 < last_group:
                    end[k] = s.slots[(edge[k] >> 5) + 1] + 1
            # The last slot whose prefix is at most the edge.
            while not is_found(slot, end):
                for k in range(UNROLL):
                    middle[k] = slot[k] + end[k] >> 1
                    prefix[k] = s.queue[2 * (begin + middle[k])]
                for k in range(UNROLL):
                    if prefix[k] <= edge[k]:
                        slot[k] = middle[k]
                    else:
                        end[k] = middle[k]
            cuda.syncwarp()
            for k in range(UNROLL):
                parent[k] = -1
                if live[k]:
                    parent[k] = s.queued[begin + slot[k]]
            for k in range(UNROLL):
                if live[k]:
                    settle(s, vertex[k], parent[k], level)
                    family[vertex[k]] = family_of(slot[k])
                    degree[k] -= first[k]
                    if degree[k] > 0:
                        mark(s, length, edge[k], degree[k])
            start = np.int32(start + UNROLL * WARP)
        cuda.syncwarp()


@inlined
def base_of_warp(s, runs, block):
    """The sum of the counts of the warps below this one, and of all; none but the first ``runs`` warps counted."""
    thread, threads = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    blocks = np.int32(cuda.gridDim.x)
    each = np.int32((runs + threads - 1) // threads)
    first = np.int32(min(thread * each, runs))
    last = np.int32(min(first + each, runs))
    mine = np.int64(0)
    warp = first
    while warp < last:
        mine += load_shared_by_blocks(s.counts, warp)
        warp = np.int32(warp + 1)
    base, total = exclusive_scan_of_block(mine, block.totals)
    warp = first
    while warp < last:
        if np.int32(np.uint32(warp) % np.uint32(blocks)) == cuda.blockIdx.x:
            block.bases[np.int32(np.uint32(warp) // np.uint32(blocks))] = base
        base += load_shared_by_blocks(s.counts, warp)
        warp = np.int32(warp + 1)
    cuda.syncthreads()
    return block.bases[thread >> 5], total


@inlined
def append_marked(s, run, edge, live, neighbor, slot, base):
    after = run.begin + run.vertices
    first = registers(s.offsets, UNROLL)
    degree = registers(s.offsets, UNROLL)
    load_rows(s, UNROLL, live, neighbor, first, degree)
    for k in range(UNROLL):
        degree[k] -= first[k]
    for k in range(UNROLL):
        if ballot(live[k] != 0) != 0:
            mine = np.int64(0)
            if live[k]:
                mine = packed(1, degree[k], s.edge_bits)
            until = inclusive_scan(mine)
            vertices, edges = unpacked(base + until - mine, s.edge_bits)
            base += from_lane(until, WARP - 1)
            if live[k]:
                s.rank[neighbor[k]] = vertices
                store_pair(s.queue, after + vertices, edges, first[k] - edges)
                s.queued[after + vertices] = neighbor[k]
    return base


walk_marked = walker(append_marked, True)


@inlined
def append(s, run, block):
    """The third step: append what the marked edges lead to, in their order.

    Returns the new frontier's vertices and edges; it stands behind the old one.
    """
    base, total = base_of_warp(s, run.runs, block)
    walk_marked(s, run, base)
    return unpacked(total, s.edge_bits)
