"""A bottom-up level: unvisited vertices look for the frontier.

A warp lists the unvisited vertices of a few tiles of the bitmap. A probe looks at in-neighbours of each; vertices that
found a visited one leave the list, and the others go on to the next probe: the hub, the next four, the whole row.
"""

from collections import namedtuple

import numpy as np
from numba import cuda

from ...whole_search import GROUP, LIST, TILE, TILES
from ..common.adjacency import load_group, load_whole_group
from ..common.bitmap import bit_of, count_of, list_bits, lowest, test
from ..common.pointers import advance, atomic_or, cast_like, local_array
from ..common.ptx import load_read_only
from ..common.warp import WARP, ballot, inlined, lane_id, lanes_below
from .parameters import adopt

UNROLL = 4  # vertices or groups that a lane has in flight
GROUPED = UNROLL * GROUP  # neighbours, where they are groups

# What the probes of a warp work on. A vertex on the list is given by its `local` number, of 16 bits: TILE * WARP
# numbers a tile, a number a bit.
Probes = namedtuple(
    "Probes",
    (
        "s",
        "visited",  # before this level
        "level",
        "list",  # in shared memory, of LIST vertices
        "words",  # in shared memory: the visited vertices of TILES tiles, those of this level included
        "origin",  # the first vertex of the first tile
        "stride",  # from there to that of the warp's next tile
    ),
)

# The lanes that probe the row of one vertex: `width` of them, a power of two; `part` is the number of this lane.
Lanes = namedtuple("Lanes", ("bits", "width", "part"))


@inlined
def load_tile(bitmap, which, tile, words):
    """A lane's word of a tile; all its vertices visited past the end."""
    lane = lane_id()
    place = which * tile + lane
    visited = np.int32(-1)
    if lane < tile and place < words:
        visited = bitmap[place]
    return visited


@inlined
def vertex_of(p, local):
    return cast_like(p.s.targets, p.origin + (local >> 10) * p.stride + (local & TILE * WARP - 1))


@inlined
def reach(p, vertex, local, parent):
    """A vertex has found its parent: mark it as visited."""
    adopt(p.s, vertex, parent, p.level)
    atomic_or(p.words, local >> 5, bit_of(local))


@inlined
def keep(p, count, wanted, local):
    """Add a vertex to the list's ``count`` new entries, which replace its old ones. Returns their number then."""
    kept = ballot(wanted)
    if wanted:
        p.list[count + count_of(kept & lanes_below())] = local
    return np.int32(count + count_of(kept))


# Each probe takes the number of vertices on the list and how many this lane has reached, and returns both.


@inlined
def probe_hubs(p, listed, reached):
    """Probe the hub of each vertex."""
    lane = lane_id()
    local = local_array(p.s.distances, UNROLL)
    hub = local_array(p.s.targets, UNROLL)
    word = local_array(p.s.distances, UNROLL)
    kept = np.int32(0)
    begin = np.int32(0)
    while begin < listed:
        for k in range(UNROLL):
            place = begin + k * WARP + lane
            local[k] = -1
            hub[k] = 0
            if place < listed:
                local[k] = p.list[place]
                hub[k] = load_read_only(p.s.hub, vertex_of(p, local[k]))
        for k in range(UNROLL):
            word[k] = p.visited[hub[k] >> 5]
        cuda.syncwarp()
        for k in range(UNROLL):
            hit = word[k] & bit_of(hub[k]) != 0
            if local[k] >= 0 and hit:
                reach(p, vertex_of(p, local[k]), local[k], hub[k])
                reached = np.int32(reached + 1)
            kept = keep(p, kept, local[k] >= 0 and not hit, local[k])
        begin = np.int32(begin + UNROLL * WARP)
    cuda.syncwarp()
    return kept, reached


@inlined
def probe_heavy(p, listed, reached):
    """Probe the next four."""
    lane = lane_id()
    local = local_array(p.s.distances, UNROLL)
    parent = local_array(p.s.targets, UNROLL)
    group = local_array(p.s.targets, GROUPED)
    word = local_array(p.s.distances, GROUPED)
    kept = np.int32(0)
    begin = np.int32(0)
    while begin < listed:
        for k in range(UNROLL):
            place = begin + k * WARP + lane
            local[k] = -1
            vertex = p.origin
            if place < listed:
                local[k] = p.list[place]
                vertex = vertex_of(p, local[k])
            load_whole_group(p.s.heavy, np.int64(vertex), k, group)
            parent[k] = -1
        # Two at a time: where one of the first two is visited, the others need no probe.
        for half in range(0, GROUP, 2):
            for k in range(UNROLL):
                for i in range(2):
                    neighbor = group[k * GROUP + half + i]
                    word[k * 2 + i] = 0
                    if parent[k] < 0 and neighbor >= 0:
                        word[k * 2 + i] = p.visited[neighbor >> 5]
            cuda.syncwarp()
            for k in range(UNROLL):
                for i in range(1, -1, -1):
                    neighbor = group[k * GROUP + half + i]
                    if word[k * 2 + i] & bit_of(neighbor) != 0:
                        parent[k] = neighbor
        for k in range(UNROLL):
            if local[k] >= 0 and parent[k] >= 0:
                reach(p, vertex_of(p, local[k]), local[k], parent[k])
                reached = np.int32(reached + 1)
            wanted = local[k] >= 0 and parent[k] < 0 and group[k * GROUP + GROUP - 1] != -1
            kept = keep(p, kept, wanted, local[k])
        begin = np.int32(begin + UNROLL * WARP)
    return kept, reached


@inlined
def probe_hub_and_heavy(p, listed, reached):
    """Probe the hub and the next four of at most 32 vertices at once."""
    lane = lane_id()
    group = local_array(p.s.targets, GROUP)
    word = local_array(p.s.distances, GROUP)
    kept = np.int32(0)
    local = np.int32(-1)
    vertex = p.origin
    if lane < listed:
        local = np.int32(p.list[lane])
        vertex = vertex_of(p, local)
    hub = load_read_only(p.s.hub, vertex)
    load_whole_group(p.s.heavy, np.int64(vertex), 0, group)
    for i in range(GROUP):
        word[i] = p.visited[max(group[i], 0) >> 5]
    parent = hub if test(p.visited, hub) else cast_like(p.s.targets, -1)
    cuda.syncwarp()
    for i in range(GROUP):
        if group[i] >= 0 and word[i] & bit_of(group[i]) != 0:
            parent = group[i]
    if local >= 0 and parent >= 0:
        reach(p, vertex, local, parent)
        reached = np.int32(reached + 1)
    kept = keep(p, kept, local >= 0 and parent < 0 and group[GROUP - 1] != -1, local)
    return kept, reached


@inlined
def probe_rows(p, listed, reached):
    """Probe all in-neighbours in groups, round after round; the fewer vertices are left, the more lanes each has."""
    done = np.int64(0)  # groups of each row that were probed
    while listed > 0:
        bits = np.int32(0)
        while bits < 5 and listed << bits + 1 <= UNROLL * WARP:
            bits = np.int32(bits + 1)
        width = np.int32(1 << bits)
        lanes = Lanes(bits, width, np.int32(lane_id() & width - 1))
        kept = np.int32(0)
        begin = np.int32(0)
        while begin < listed:
            kept, reached = probe_groups(p, listed, begin, lanes, done, kept, reached)
            begin = np.int32(begin + (UNROLL * WARP >> bits))
        cuda.syncwarp()
        listed = kept
        done += width
    cuda.syncwarp()
    return reached


@inlined
def probe_groups(p, listed, begin, lanes, done, kept, reached):
    """Probe the next groups of the vertices from ``begin`` on the list on."""
    s = p.s
    lane = lane_id()
    bits, width, part = lanes
    local = local_array(s.distances, UNROLL)
    parent = local_array(s.targets, UNROLL)
    first = local_array(s.offsets, UNROLL)
    last = local_array(s.offsets, UNROLL)
    group = local_array(s.targets, GROUPED)
    word = local_array(s.distances, GROUPED)
    for k in range(UNROLL):
        place = begin + (k * WARP + lane >> bits)
        local[k] = -1
        first[k] = 0
        last[k] = 0
        if place < listed:
            local[k] = p.list[place]
            vertex = vertex_of(p, local[k])
            first[k] = load_read_only(s.in_offsets, vertex)
            last[k] = load_read_only(s.in_offsets, vertex + 1)
    for k in range(UNROLL):
        load_group(s.in_targets, (first[k] >> 2) + done + part, last[k], s.m, k, group)
    for i in range(GROUPED):
        word[i] = p.visited[group[i] >> 5]
    cuda.syncwarp()
    for k in range(UNROLL):
        place = ((first[k] >> 2) + done + part) * GROUP
        inside = np.int32(max(first[k] - place, 0))  # the first of the group in the row
        outside = np.int32(min(last[k] - place, GROUP))  # and the first behind it
        parent[k] = -1
        for i in range(GROUP - 1, -1, -1):
            neighbor = group[k * GROUP + i]
            if i >= inside and i < outside and word[k * GROUP + i] & bit_of(neighbor) != 0:
                parent[k] = neighbor
        some = np.int32(ballot(parent[k] >= 0) >> lane - part & (1 << width) - 1)
        if some != 0 and lowest(some) == part:
            reach(p, vertex_of(p, local[k]), local[k], parent[k])
            reached = np.int32(reached + 1)
        more = place + (width - part) * GROUP < last[k]
        kept = keep(p, kept, part == 0 and some == 0 and more, local[k])
    return kept, reached


@inlined
def sweep(s, visited, upcoming, level, warp, warps, vertices, hits):
    """A bottom-up level. A warp takes tiles of words until it has enough unvisited vertices.

    Returns how many found the frontier, counted in the lanes. ``vertices`` has room for LIST of them, ``hits`` for the
    words of TILES tiles.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    tile = np.int32(s.tile)
    stride = cast_like(s.targets, warps * tile * WARP)
    reached = np.int32(0)
    here = np.int64(warp)
    ahead = load_tile(visited, here, tile, words)  # of the next tile
    while here * tile < words:
        probes = Probes(s, visited, level, vertices, hits, cast_like(s.targets, here * tile * WARP), stride)
        tiles = np.int32(0)
        listed = np.int32(0)
        while tiles < TILES and listed <= LIST - TILE * WARP and here * tile < words:
            seen = ahead
            ahead = load_tile(visited, here + warps, tile, words)
            hits[tiles * TILE + lane] = seen
            listed = np.int32(listed + list_bits(np.int32(~seen), advance(vertices, listed), tiles * TILE * WARP))
            tiles = np.int32(tiles + 1)
            here += warps
        left = np.int32(0)
        if listed > WARP:
            left, reached = probe_hubs(probes, listed, reached)
            left, reached = probe_heavy(probes, left, reached)
        elif listed > 0:
            left, reached = probe_hub_and_heavy(probes, listed, reached)
        cuda.syncwarp()
        reached = probe_rows(probes, left, reached)
        for i in range(tiles):
            place = (here - (tiles - i) * np.int64(warps)) * tile + lane
            if lane < tile and place < words:
                upcoming[place] = hits[i * TILE + lane]
        cuda.syncwarp()
    return reached
