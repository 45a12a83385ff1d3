// Probes: a vertex that a wide level has not reached searches its in-neighbours for the first of the frontier.
#pragma once

#include "siblings.cuh"

constexpr int STEPS = 4;        // groups of a row that a lane probes before it takes the next row,
constexpr int FIRST_STEPS = 2;  // and where most rows soon end

// A probed in-neighbour: its sibling group, and its place among those that are probed in one round, from 1 on; place 0
// is the first of earlier rounds. Groups are in order, and in the distinct ones places are too, so mostly the smallest
// probe is the first in order.
using Probe = unsigned;

constexpr int PLACE_BITS = 10;
constexpr Probe NOT_FOUND = NO_SIBLINGS << PLACE_BITS;
static_assert(STEPS * GROUP * WARP < 1 << PLACE_BITS, "a place has too few bits");

__device__ inline int siblings_of(Probe probe) { return static_cast<int>(probe >> PLACE_BITS); }

__device__ inline int place_of(Probe probe) { return static_cast<int>(probe % (1 << PLACE_BITS)); }

// An element of an array in registers, or of the rows of one.
template <typename T, int COUNT>
__device__ inline T element(const T (&array)[COUNT], int which) {
    T one = array[0];
#pragma unroll
    for (int i = 1; i < COUNT; ++i) one = which == i ? array[i] : one;
    return one;
}

template <typename T, int ROWS, int COUNT>
__device__ inline T element(const T (&rows)[ROWS][COUNT], int which) {
    T one = rows[0][0];
#pragma unroll
    for (int i = 1; i < ROWS * COUNT; ++i) one = which == i ? rows[i / COUNT][i % COUNT] : one;
    return one;
}

// Update `best`, the first in order of each row so far, by a group of in-neighbours at places from `place` on;
// `siblings` has their sibling groups. From group `distinct` on, two of one group are compared by their ancestors: that
// is rare, and much code, so one loop does it for all rows. `vertex_at(k, place)` is the vertex of an earlier probe.
template <typename Vertex, typename Offset, typename VertexAt>
__device__ inline void update_best(const Search<Vertex, Offset>& s, int unordered, int distinct, Probe (&best)[UNROLL],
                                   int place, const Vertex (&group)[UNROLL][GROUP],
                                   const int (&siblings)[UNROLL][GROUP], VertexAt vertex_at) {
    bool unsure = false;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            best[k] = min(best[k], static_cast<Probe>(siblings[k][i] << PLACE_BITS | (place + i)));
        }
        unsure = unsure || (best[k] < NOT_FOUND && siblings_of(best[k]) >= distinct);
    }
    if (!__any_sync(ALL, unsure)) return;
    unsigned ties = 0;  // a bit for each in-neighbour
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int theirs = siblings_of(best[k]);
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            const bool tie = siblings[k][i] == theirs && theirs >= distinct && theirs < NO_SIBLINGS;
            if (tie && place_of(best[k]) != place + i) ties |= 1u << (k * GROUP + i);
        }
    }
    for (; ties; ties &= ties - 1) {
        const int who = __ffs(ties) - 1, which = who / GROUP;
        const Probe mine = element(best, which);
        if (!is_earlier(s, unordered, element(group, who), vertex_at(which, place_of(mine)))) continue;
        const Probe other = static_cast<Probe>(siblings_of(mine) << PLACE_BITS | (place + who % GROUP));
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) best[k] = k == which ? other : best[k];
    }
    __syncwarp();
}

// The wanted groups of in-neighbours; 0 for the others and for what lies past the end of `targets`.
template <typename Vertex, typename Number>
__device__ inline void load_groups(const Vertex* targets, const bool (&wanted)[UNROLL], const Number (&which)[UNROLL],
                                   long long m, Vertex (&group)[UNROLL][GROUP]) {
    const Number whole = static_cast<Number>(m / GROUP);
    bool last = false;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP; ++i) group[k][i] = 0;
        if (wanted[k] && which[k] < whole) load_whole_group(targets, which[k], group[k]);
        last = last || (wanted[k] && which[k] >= whole);
    }
    if (!__any_sync(ALL, last)) return;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP - 1; ++i) {
            const bool there = wanted[k] && which[k] >= whole && i < m % GROUP;
            if (there) group[k][i] = __ldg(targets + (whole * GROUP + i));
        }
    }
    __syncwarp();
}
