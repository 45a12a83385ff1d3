"""What does not depend on the source: the in-neighbours to look at first, and the isolated vertices."""

import numpy as np
from numba import cuda

from ...whole_search import GROUP
from ..common.ptx import ALL
from ..common.warp import WARP, inlined, lane_id

MORE = -2  # no neighbour: more than are here
ENOUGH = 1 << 16  # in-edges among which the heaviest are looked for
NONE_LEFT = 1 << 62


@inlined
def next_heaviest(offsets, in_targets, begin, end, degree_before, edge_before):
    """The heaviest in-edge after that of the round before, by degree, then by place: its degree, -1 if there is none,
    and the edge."""
    most, where = np.int64(-1), np.int64(NONE_LEFT)
    edge = begin + lane_id()
    while edge < end:
        neighbor = np.int64(in_targets[edge])
        degree = np.int64(offsets[neighbor + 1] - offsets[neighbor])
        left = degree < degree_before or (degree == degree_before and edge > edge_before)
        if left and degree > most:
            most, where = degree, edge
        edge += WARP
    for step in range(5):
        other = cuda.shfl_xor_sync(ALL, most, 1 << step)
        theirs = cuda.shfl_xor_sync(ALL, where, 1 << step)
        if other > most or (other == most and theirs < where):
            most, where = other, theirs
    return most, where


def prepare(n, small_rows, offsets, in_offsets, in_targets, hub, heavy, isolated):
    """Fill ``hub``, ``heavy`` and ``isolated``: a warp takes 32 vertices, its lanes the in-edges of one by one."""
    lane = lane_id()
    word = np.int64(cuda.blockIdx.x) * (cuda.blockDim.x >> 5) + (cuda.threadIdx.x >> 5)
    while word * WARP < n:
        bits = np.int32(0)
        for i in range(WARP):
            vertex = word * WARP + i
            if vertex >= n:
                bits = np.int32(bits | 1 << i)
                continue
            begin, end = np.int64(in_offsets[vertex]), np.int64(in_offsets[vertex + 1])
            if begin == end and offsets[vertex] == offsets[vertex + 1]:
                bits = np.int32(bits | 1 << i)
            end = min(end, begin + ENOUGH)
            degree_before, edge_before = np.int64(NONE_LEFT), np.int64(-1)
            for place in range(1 + GROUP):
                most, where = next_heaviest(offsets, in_targets, begin, end, degree_before, edge_before)
                degree_before, edge_before = most, where
                if lane == 0:
                    heavy_place = place if small_rows else place - 1
                    if place == 0:
                        hub[vertex] = in_targets[where] if most >= 0 else vertex
                    if 0 <= heavy_place < GROUP:
                        heavy[vertex * GROUP + heavy_place] = in_targets[where] if most >= 0 else -1
                    if small_rows and place == GROUP and most >= 0:
                        heavy[vertex * GROUP + GROUP - 1] = MORE
        if lane == 0:
            isolated[word] = bits
        word += cuda.gridDim.x * (cuda.blockDim.x >> 5)
