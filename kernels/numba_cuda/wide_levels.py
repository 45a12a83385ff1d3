"""The wide levels of ``deterministic.py``, and how a level comes to an order after them.

A key is a vertex of the frontier that may be the first in order: its family, then the vertex. Families are in order,
and those that are told apart ascend, so that mostly the smallest key is the first.

Sources: as in ``deterministic.cu``.
"""

import numpy as np
from numba import cuda

from ..deterministic import APART, CANDIDATE, FAMILY_BITS, NONE, STEPS, UNROLL, WHOLE_WIDTH, WIDTH
from ..whole_search import GROUP, LIST, TILE, TILES
from .cooperative import (
    WARP,
    ballot,
    bit_of,
    count_of,
    inlined,
    keep_missed,
    lane_id,
    list_bits,
    load_group,
    load_whole_group,
    lowest,
    tile_of,
    vertex_of,
    without_lowest,
)
from .ordered_levels import family_of, mark, settle
from .pointers import (
    ALL,
    behind,
    fetch_max,
    fetch_or,
    is_null,
    like,
    load_read_only,
    most,
    reduce_add,
    registers,
    size_of,
)

GROUPED = UNROLL * GROUP  # neighbours, where they are groups


@inlined
def find_large_family(s, family, begin, vertices, edges, large, tail):
    """Look for the first family of an ordered frontier that has more than ``large`` edges, of those told apart.

    Leaves in the tail of the turn how many edges the frontier has from that on, and below these which family it is;
    nothing if there is none.
    """
    lane = lane_id()
    threads = np.int64(cuda.gridDim.x) * cuda.blockDim.x
    vertex = registers(s.queued, UNROLL)
    previous = registers(s.queued, UNROLL)
    mine = registers(s.distances, UNROLL)
    before = registers(s.distances, UNROLL)
    start = np.int64(cuda.grid(1)) - lane
    while start < vertices:
        for k in range(UNROLL):
            slot = start + k * threads + lane
            vertex[k] = -1
            previous[k] = -1
            if slot < vertices:
                vertex[k] = s.queued[begin + slot]
                if lane == 0 and slot > 0:
                    previous[k] = s.queued[begin + slot - 1]
        for k in range(UNROLL):
            mine[k] = NONE
            before[k] = NONE
            if vertex[k] >= 0:
                mine[k] = family[vertex[k]]
            if previous[k] >= 0:
                before[k] = family[previous[k]]
        for k in range(UNROLL):
            below = cuda.shfl_up_sync(ALL, mine[k], 1)
            if lane > 0:
                before[k] = below
            if mine[k] < APART and mine[k] != before[k]:
                slot = start + k * threads + lane
                edge = s.queue[2 * (begin + slot)] + large
                if edge < edges:
                    owner, end = slot, vertices  # of this edge: the last slot whose prefix is at most it
                    while end - owner > 1:
                        middle = owner + end >> 1
                        if s.queue[2 * (begin + middle)] <= edge:
                            owner = middle
                        else:
                            end = middle
                    if family[s.queued[begin + owner]] == mine[k]:
                        fetch_max(s.state, tail, edges - edge + large << FAMILY_BITS | mine[k])
        start += UNROLL * threads


@inlined
def find(vertices, begin, end, vertex):
    """The first place of a vertex in an ascending list from ``begin`` to ``end``, where it is."""
    while begin < end:
        middle = begin + (end - begin >> 1)
        if load_read_only(vertices, middle) < vertex:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def position(s, parent, vertex):
    """The first position of a vertex in the adjacency of its predecessor."""
    if is_null(s.positions):
        begin = np.int64(load_read_only(s.offsets, parent))
        end = np.int64(load_read_only(s.offsets, parent + 1))
        return find(s.targets, begin, end, vertex) - begin
    begin = np.int64(load_read_only(s.in_offsets, vertex))
    end = np.int64(load_read_only(s.in_offsets, vertex + 1))
    return np.int64(load_read_only(s.positions, find(s.in_targets, begin, end, parent)))


@inlined
def is_earlier(s, ages, one, other):
    """Is one vertex of a level before another? ``ages`` is how many levels above theirs had an order."""
    while ages > 0:
        parent, rival = s.predecessors[one], s.predecessors[other]
        if parent == rival:
            if is_null(s.positions):
                return one < other
            return position(s, parent, one) < position(s, parent, other)
        one, other = parent, rival
        ages = np.int32(ages - 1)
    return s.rank[one] < s.rank[other]


@inlined
def key_shift(s):
    """Where the family begins: behind 32 bits, or, that its last bit be no sign, behind 55."""
    return np.int64(32) if size_of(s.targets) == 4 else np.int64(55)


@inlined
def key_of(s, family, vertex):
    return np.int64(family) << key_shift(s) | np.int64(vertex) & (np.int64(1) << key_shift(s)) - 1


@inlined
def family_in(s, key):
    return np.int32(key >> key_shift(s))


@inlined
def vertex_in(s, key):
    return like(s.targets, key & (np.int64(1) << key_shift(s)) - 1)


@inlined
def nobody(s):
    """The key of no vertex, after all others."""
    return key_of(s, NONE, 0)


@inlined
def consider(s, ages, apart, first, group, theirs):
    """For each place of ``first`` consider a group, of which who is in no family does not count.

    ``theirs`` has the families of those in ``group``. Families from ``apart`` on do not ascend: who ties in one is
    compared. That is rare, and large, so that one loop does it for all places. Who was the first before stands before
    the group in the row, which ascends, so that nobody of the same family takes its place without a comparison.
    """
    unsure = False
    for k in range(UNROLL):
        for i in range(k * GROUP, k * GROUP + GROUP):
            first[k] = min(first[k], key_of(s, theirs[i], group[i]))
        unsure = unsure or (apart <= family_in(s, first[k]) and family_in(s, first[k]) < NONE)
    if not cuda.any_sync(ALL, unsure):
        return
    ties = np.int32(0)  # of the groups, as bits
    for k in range(UNROLL):
        family = family_in(s, first[k])
        for i in range(k * GROUP, k * GROUP + GROUP):
            if apart <= family and theirs[i] == family and family < NONE and group[i] != vertex_in(s, first[k]):
                ties = np.int32(ties | 1 << i)
    while ties != 0:
        which = lowest(ties)
        other = group[0]
        for i in range(1, GROUPED):
            if which == i:
                other = group[i]
        place = np.int32(which >> 2)
        mine = first[0]
        for k in range(1, UNROLL):
            if place == k:
                mine = first[k]
        if is_earlier(s, ages, other, vertex_in(s, mine)):
            for k in range(UNROLL):
                if place == k:
                    first[k] = key_of(s, family_in(s, mine), other)
        ties = without_lowest(ties)
    cuda.syncwarp()


@inlined
def put_apart(before, place, end, group, stranger):
    """Put ``stranger`` in the place of each neighbour that is not in its row, in groups with these numbers.

    A row ends as ``end`` says; ``before`` has two bits a group, how many of it are before the row. Returns how many of
    the group that has most are in their row. Each is compared by itself: of a mask of all the assembler would make
    seven truths at once, for which a kernel of few registers has no room.
    """
    most = np.int32(0)
    for k in range(UNROLL):
        first = np.int32(before >> 2 * k & GROUP - 1)  # of the group in the row
        last = np.int32(GROUP)  # and behind the last
        if place[k] >= end[k] >> 2:
            last = np.int32(end[k] & GROUP - 1)
        if place[k] > end[k] >> 2:
            last = np.int32(0)
        for i in range(GROUP):
            if i < first or i >= last:
                group[k * GROUP + i] = stranger
        most = max(most, np.int32(last - first))
    return most


@inlined
def merge_keys(s, ages, apart, first, others):
    """For each place of ``first`` consider what another lane has."""
    ties = np.int32(0)
    for k in range(UNROLL):
        family = family_in(s, others[k])
        if apart <= family and family < NONE and family == family_in(s, first[k]):
            if others[k] != first[k]:
                ties = np.int32(ties | 1 << k)
        elif others[k] < first[k]:
            first[k] = others[k]
    while ties != 0:
        place = lowest(ties)
        mine, other = first[0], others[0]
        for k in range(1, UNROLL):
            if place == k:
                mine, other = first[k], others[k]
        if is_earlier(s, ages, vertex_in(s, other), vertex_in(s, mine)):
            for k in range(UNROLL):
                if place == k:
                    first[k] = other
        ties = without_lowest(ties)
    cuda.syncwarp()


@inlined
def settle_claims(s, family, level, begin, origin, found, count):
    """Settle what the first edges of an ordered frontier behind ``begin`` reached: the vertices on the list, counted
    from ``origin``."""
    lane = lane_id()
    vertex = registers(s.targets, UNROLL)
    parent = registers(s.targets, UNROLL)
    slot = registers(s.rank, UNROLL)
    start = np.int32(0)
    while start < count:
        for k in range(UNROLL):
            place = start + k * WARP + lane
            vertex[k] = -1
            slot[k] = 0
            if place < count:
                vertex[k] = origin + np.int64(found[place])
                slot[k] = s.rank[vertex[k]] & most(s.rank)
        for k in range(UNROLL):
            parent[k] = -1
            if vertex[k] >= 0:
                parent[k] = s.queued[begin + slot[k]]
        for k in range(UNROLL):
            if vertex[k] >= 0:
                settle(s, vertex[k], parent[k], level)
                family[vertex[k]] = family_of(slot[k])
        start = np.int32(start + UNROLL * WARP)
    cuda.syncwarp()


@inlined
def width_bits(count, least):
    """The binary logarithm of how many lanes each of so many vertices may have, so that UNROLL * WARP lanes suffice,
    or of how many it has at ``least``."""
    bits = np.int32(0)
    while bits < 5 and count << bits + 1 <= UNROLL * WARP:
        bits = np.int32(bits + 1)
    while 1 << bits < least:
        bits = np.int32(bits + 1)
    return bits


@inlined
def reach(s, next_family, level, ages, hits, origin, stride, local, first):
    """Settle the vertices that found the first in order, and mark them in the words of the tiles. Returns how many.

    The family of a vertex is its parent's, or that of its parent's slot if there is an order.
    """
    slot = registers(s.rank, UNROLL)
    for k in range(UNROLL):
        slot[k] = 0
        if ages == 0 and first[k] < nobody(s):
            slot[k] = s.rank[vertex_in(s, first[k])]
    cuda.syncwarp()
    reached = np.int32(0)
    for k in range(UNROLL):
        if first[k] < nobody(s):
            vertex = vertex_of(s, origin, stride, local[k])
            settle(s, vertex, vertex_in(s, first[k]), level)
            next_family[vertex] = family_of(slot[k]) if ages == 0 else family_in(s, first[k])
            fetch_or(hits, local[k] >> 5, bit_of(local[k]))
            reached = np.int32(reached + 1)
    return reached


@inlined
def sweep(s, visited, upcoming, family, next_family, level, ages, begin, claimed, complete, foremost, block):
    """The last step of a wide level, and the only one unless the frontier has an order.

    Settle what was claimed, if anything was, and, unless the level is ``complete`` then, let unvisited vertices look
    for the first of the frontier. A warp takes tiles of words until it has enough unvisited vertices. No vertex of the
    frontier that anyone finds is of a family before the one that is ``foremost``. The last level with an order, behind
    ``begin``, is ``ages`` above the frontier. Returns how many vertices the warp found.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    tile = np.int32(s.tile)
    stride = like(s.targets, block.warps * tile * WARP)
    found, hits = block.found, block.hits
    apart = np.int32(APART)
    if ages > 1 or not is_null(s.positions):
        apart = np.int32(0)
    if foremost >= apart:  # its first in the adjacency need not be the first in order
        foremost = np.int32(-1)
    least = np.int32(WHOLE_WIDTH if ages > 0 or foremost < 0 else WIDTH)
    reached = np.int32(0)
    local = registers(s.distances, UNROLL)
    first = registers(s.state, UNROLL)
    hub = registers(s.targets, UNROLL)
    parent = registers(s.targets, UNROLL)
    group = registers(s.targets, GROUPED)
    theirs = registers(s.distances, GROUPED)
    row = registers(s.offsets, UNROLL)
    end = registers(s.offsets, UNROLL)
    place = registers(s.offsets, UNROLL)
    other = registers(s.state, UNROLL)

    here = np.int64(block.warp)
    ahead = tile_of(visited, here, tile, words)  # of the next tile
    while here * tile < words:
        origin = like(s.targets, here * tile * WARP)
        tiles = np.int32(0)
        unseen = np.int32(0)
        while tiles < TILES and unseen <= LIST - TILE * WARP and here * tile < words:
            seen = ahead
            ahead = tile_of(visited, here + block.warps, tile, words)
            if claimed:
                claims = np.int32(0)
                if lane < tile and here * tile + lane < words:
                    claims = s.fresh[here * tile + lane]
                    if claims != 0:
                        s.fresh[here * tile + lane] = 0
                those = behind(found, unseen)
                count = list_bits(claims, those, 0)
                settle_claims(s, next_family, level, begin, like(s.targets, here * tile * WARP), those, count)
                reached = np.int32(reached + count_of(claims))
                seen = np.int32(seen | claims)
            hits[tiles * TILE + lane] = seen
            if not complete:
                count = list_bits(np.int32(~seen), behind(found, unseen), tiles * TILE * WARP)
                unseen = np.int32(unseen + count)
            tiles = np.int32(tiles + 1)
            here += block.warps

        # One in no family takes the place of who is not to be considered: so nothing is left to do between the loads of
        # families, which would be waited for one by one.
        stranger = origin
        if unseen > 0:
            stranger = vertex_of(s, origin, stride, np.int32(found[0]))

        # Up to four in-neighbours stand in `hub` and `heavy`. Who has more moves to the front of the list.
        left = np.int32(0)
        start = np.int32(0)
        while start < unseen:
            for k in range(UNROLL):
                at = start + k * WARP + lane
                local[k] = -1
                if at < unseen:
                    local[k] = found[at]
            for k in range(UNROLL):
                vertex = origin
                if local[k] >= 0:
                    vertex = vertex_of(s, origin, stride, local[k])
                load_whole_group(s.heavy, np.int64(vertex), k, group)
                hub[k] = load_read_only(s.hub, vertex)
            cuda.syncwarp()
            few = np.int32(0)  # which have no more, as bits
            for k in range(UNROLL):
                if local[k] >= 0 and group[k * GROUP + GROUP - 1] == -1:
                    few = np.int32(few | 1 << k)
                group[k * GROUP + GROUP - 1] = hub[k]
                first[k] = nobody(s)
                for i in range(k * GROUP, k * GROUP + GROUP):
                    if few >> k & 1 == 0 or group[i] < 0:
                        group[i] = stranger
            some = ballot(few != 0)
            for i in range(GROUPED):
                theirs[i] = family[group[i]]
            cuda.syncwarp()
            if some != 0:
                consider(s, ages, apart, first, group, theirs)
                settled = reach(s, next_family, level, ages, hits, origin, stride, local, first)
                reached = np.int32(reached + settled)
            for k in range(UNROLL):
                left = keep_missed(found, left, local[k] >= 0 and few >> k & 1 == 0, local[k])
            start = np.int32(start + UNROLL * WARP)
        cuda.syncwarp()

        # The others look at groups of them, round after round; the fewer vertices are left, the more lanes each has.
        done = like(s.offsets, 0)  # groups that those left have looked at
        while left > 0:
            count = left
            left = np.int32(0)
            bits = width_bits(count, least)
            width = np.int32(1 << bits)
            part = np.int32(lane & width - 1)
            lanes = np.int32((1 << width) - 1 << lane - part)  # of this lane's row
            start = np.int32(0)
            while start < count:
                for k in range(UNROLL):
                    at = start + (k * WARP + lane >> bits)
                    local[k] = -1
                    if at < count:
                        local[k] = found[at]
                for k in range(UNROLL):
                    vertex = origin
                    parent[k] = -1
                    if local[k] >= 0:
                        vertex = vertex_of(s, origin, stride, local[k] & CANDIDATE - 1)
                        if part == 0 and local[k] & CANDIDATE:
                            parent[k] = s.predecessors[vertex]
                    row[k] = load_read_only(s.in_offsets, vertex)
                    end[k] = load_read_only(s.in_offsets, vertex + 1)
                cuda.syncwarp()
                before = np.int32(0)  # how many of each group under way are before its row, two bits a group
                for k in range(UNROLL):
                    if local[k] < 0:
                        end[k] = 0
                    place[k] = (row[k] >> 2) + done + part  # the number of a group
                    before = np.int32(before | (row[k] & GROUP - 1) << 2 * k)
                    theirs[k] = NONE
                    if parent[k] >= 0:
                        theirs[k] = family[parent[k]]
                for k in range(UNROLL):
                    first[k] = min(key_of(s, theirs[k], parent[k]), nobody(s))
                if done + part > 0:
                    before = np.int32(0)
                step = np.int32(0)
                going = True
                while going and step < STEPS:
                    for k in range(UNROLL):
                        load_group(s.in_targets, place[k], end[k], s.m, k, group)
                    some = ballot(put_apart(before, place, end, group, stranger) > 0)
                    before = np.int32(0)
                    cuda.syncwarp()
                    for i in range(GROUPED):
                        theirs[i] = family[group[i]]
                    cuda.syncwarp()
                    if some != 0:
                        consider(s, ages, apart, first, group, theirs)
                    more = False
                    for k in range(UNROLL):
                        if ballot(family_in(s, first[k]) == foremost) & lanes:
                            end[k] = 0  # there is nothing more to see
                        place[k] += width
                        more = more or (place[k] - part) * GROUP < end[k]
                    going = cuda.any_sync(ALL, more)
                    step = np.int32(step + 1)

                # The first of what the lanes of a row have.
                distance = np.int32(1)
                while distance < width:
                    for k in range(UNROLL):
                        other[k] = cuda.shfl_xor_sync(ALL, first[k], distance)
                    merge_keys(s, ages, apart, first, other)
                    distance = np.int32(2 * distance)
                for k in range(UNROLL):
                    further = (place[k] - part) * GROUP < end[k]
                    some = first[k] < nobody(s)
                    mine = np.int32(local[k] & CANDIDATE - 1)
                    if further and part == 0 and some:
                        s.predecessors[vertex_of(s, origin, stride, mine)] = vertex_in(s, first[k])
                        local[k] = mine | CANDIDATE
                    left = keep_missed(found, left, further and part == 0, local[k])
                    if further or part > 0:
                        first[k] = nobody(s)
                    local[k] = mine
                settled = reach(s, next_family, level, ages, hits, origin, stride, local, first)
                reached = np.int32(reached + settled)
                start = np.int32(start + (UNROLL * WARP >> bits))
            cuda.syncwarp()
            done = like(s.offsets, done + STEPS * width)
        cuda.syncwarp()
        for i in range(tiles):
            word = (here - (tiles - i) * np.int64(block.warps)) * tile + lane
            if lane < tile and word < words:
                upcoming[word] = hits[i * TILE + lane]
        cuda.syncwarp()
    return np.int64(reduce_add(reached))


def for_each(bits, visit):
    @inlined
    def each(s, block, given):
        """Visit the vertices whose bits are set, a tile of words at a time, each by one lane."""
        words = s.n + WARP - 1 >> 5
        lane = lane_id()
        tile = np.int64(block.warp)
        while tile * s.tile < words:
            word = tile * s.tile + lane
            mine = np.int32(0)
            if lane < s.tile and word < words:
                mine = bits(s, word, given)
            count = list_bits(mine, block.found, 0)
            i = lane
            while i < count:
                visit(s, like(s.targets, tile * s.tile * WARP + np.int64(block.found[i])), given)
                i = np.int32(i + WARP)
            cuda.syncwarp()
            tile += block.warps

    return each


@inlined
def in_last_level(s, word, given):
    before, visited, _, _ = given
    return np.int32(visited[word] & ~before[word])


@inlined
def climb(s, vertex, given):
    """Mark a vertex and its ancestors, up to one where another vertex has been."""
    _, _, level, base = given
    while level > base and fetch_or(s.fresh, vertex >> 5, bit_of(vertex)) & bit_of(vertex) == 0:
        vertex = s.predecessors[vertex]
        level = np.int32(level - 1)


climb_each = for_each(in_last_level, climb)


@inlined
def trace_back(s, before, visited, level, base, block):
    """Mark the vertices of the last level and their ancestors in `fresh`, up to the level after ``base``."""
    climb_each(s, block, (before, visited, level, base))


@inlined
def marked(s, word, given):
    return s.fresh[word]


@inlined
def place_in_order(s, vertex, given):
    """Mark the edge by which the last ordered level reached a vertex, if its age is the next one's."""
    family, age, begin, length = given
    if s.distances[vertex] == age:
        parent = s.predecessors[vertex]
        slot = np.int64(s.rank[parent])
        degree = load_read_only(s.offsets, vertex + 1) - load_read_only(s.offsets, vertex)
        family[vertex] = family_of(slot)
        if degree > 0:
            mark(s, length, s.queue[2 * (begin + slot)] + position(s, parent, vertex), degree)


place_each = for_each(marked, place_in_order)


@inlined
def mark_level(s, family, age, begin, length, block):
    """Mark the edges by which the marked vertices of a level were reached from the one in order behind ``begin``."""
    place_each(s, block, (family, age, begin, length))
