// Sibling groups: the vertices of a level that one vertex of the level before reached. In an ordered frontier they are
// adjacent and ascend by vertex, so a byte that tells groups apart mostly decides which of two vertices comes first.
#pragma once

#include "parameters.cuh"

constexpr int DISTINCT = 128;       // the first sibling groups, each with a number of its own
constexpr int LAST_SIBLINGS = 254;  // the last group
constexpr int NO_SIBLINGS = 255;    // no group
constexpr int SIBLINGS_BITS = 8;

// The sibling group of the vertices that the vertex of this slot reached. Groups are in the order of slots: the first
// are distinct, each of the others has the slots of an eighth of a power of two.
__device__ inline int sibling_group(unsigned long long slot) {
    if (slot < DISTINCT) return static_cast<int>(slot);
    const int shift = 60 - __clzll(static_cast<long long>(slot));  // leaves four binary digits, 8 to 15
    return min(DISTINCT + (shift - 4) * 8 + static_cast<int>(slot >> shift) - 8, LAST_SIBLINGS);
}

// Look for the first distinct sibling group of an ordered frontier that has more than `large` edges. The counter of the
// phase is left at the number of edges from that group on, above SIBLINGS_BITS, and the group; at 0 if there is none.
template <typename Vertex, typename Offset>
__device__ void find_large_siblings(const Search<Vertex, Offset>& s, const unsigned char* siblings, long long begin,
                                    Frontier frontier, long long large, Counter* counter) {
    const Entry<Offset>* const entries = s.queue + begin;
    const Vertex* const vertices = s.queued + begin;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    for (long long start = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x - lane_id();
         start < frontier.vertices; start += UNROLL * threads) {
        Vertex vertex[UNROLL], previous[UNROLL];
        int mine[UNROLL], before[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long slot = start + k * threads + lane_id();
            vertex[k] = slot < frontier.vertices ? vertices[slot] : -1;
            previous[k] = lane_id() == 0 && slot > 0 && vertex[k] >= 0 ? vertices[slot - 1] : -1;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            mine[k] = before[k] = NO_SIBLINGS;
            if (vertex[k] >= 0) mine[k] = siblings[vertex[k]];
            if (previous[k] >= 0) before[k] = siblings[previous[k]];
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int below = __shfl_up_sync(ALL, mine[k], 1);
            if (lane_id() > 0) before[k] = below;
            if (mine[k] >= DISTINCT || mine[k] == before[k]) continue;  // not the first of a distinct group
            const long long slot = start + k * threads + lane_id();
            const long long edge = entries[slot].prefix + large;
            if (edge >= frontier.edges) continue;
            long long owner = slot;
            for (long long end = frontier.vertices; end - owner > 1;) {
                const long long middle = (owner + end) / 2;
                (entries[middle].prefix <= edge ? owner : end) = middle;
            }
            if (siblings[vertices[owner]] == mine[k]) {
                atomicMax(counter, static_cast<Counter>(frontier.edges - edge + large) << SIBLINGS_BITS | mine[k]);
            }
        }
    }
}

// The first place of a vertex in an ascending list from `begin` to `end`, which has it.
template <typename Vertex, typename Offset>
__device__ inline Offset find(const Vertex* list, Offset begin, Offset end, Vertex vertex) {
    while (begin < end) {
        const Offset middle = begin + (end - begin) / 2;
        if (__ldg(list + middle) < vertex) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// The first position of a vertex in the adjacency of its predecessor.
template <typename Vertex, typename Offset>
__device__ inline Offset position(const Search<Vertex, Offset>& s, Vertex parent, Vertex vertex) {
    if (s.positions) {
        return s.positions[find(s.in_targets, s.in_offsets[vertex], s.in_offsets[vertex + 1], parent)];
    }
    return find(s.targets, s.offsets[parent], s.offsets[parent + 1], vertex) - s.offsets[parent];
}

// Does one vertex of a level come before another? `unordered` is how many levels above theirs the last ordered one is.
template <typename Vertex, typename Offset>
__device__ inline bool is_earlier(const Search<Vertex, Offset>& s, int unordered, Vertex one, Vertex other) {
    for (; unordered > 0; --unordered) {
        const Vertex parent = s.predecessors[one], rival = s.predecessors[other];
        if (parent == rival) return s.positions ? position(s, parent, one) < position(s, parent, other) : one < other;
        one = parent;
        other = rival;
    }
    return s.rank[one] < s.rank[other];
}
