// A frontier as a queue with prefix sums over its edges, so that its edges can be numbered through and divided evenly.
#pragma once

#include "warp.cuh"

using Counter = unsigned long long;  // vertices << edge_bits | edges

struct Frontier {
    long long vertices, edges;
};

// Have the vertices of a frontier on average more than twice as many edges as those of the graph, of n vertices and m
// edges? Then a level bottom-up is cheap: unvisited vertices with many edges soon find a hub, and the others have few to
// probe.
__device__ inline bool has_hubs(Frontier frontier, long long n, long long m) {
    return static_cast<float>(frontier.edges) * n > 2.0f * frontier.vertices * m;
}

// A vertex of a frontier, for its edges.
template <typename Offset>
struct alignas(2 * sizeof(Offset)) Entry {
    Offset prefix;  // edges of the level before this vertex
    Offset shift;   // the place of an edge in `targets`, less its number in the level
};

__device__ inline Counter packed(long long vertices, long long edges, int edge_bits) {
    return static_cast<Counter>(vertices) << edge_bits | static_cast<Counter>(edges);
}

__device__ inline Frontier unpacked(Counter counter, int edge_bits) {
    return {static_cast<long long>(counter >> edge_bits), static_cast<long long>(counter & ((1ull << edge_bits) - 1))};
}

// The slot of the vertex that has this edge of the level: the last whose prefix is at most `edge`. A step compares 32
// slots at once.
template <typename Offset>
__device__ inline long long slot_of(const Entry<Offset>* frontier, long long vertices, long long edge) {
    long long slot = 0;
    while (vertices > 1) {
        const long long step = (vertices + WARP - 1) / WARP;
        const long long place = lane_id() * step;
        const bool before = place < vertices && frontier[slot + place].prefix <= edge;
        const long long passed = (__popc(__ballot_sync(ALL, before)) - 1) * step;
        slot += passed;
        vertices = min(step, vertices - passed);
    }
    return slot;
}

// The lane whose entry has this lane's edge, in a window of 32 entries, one per lane, and 32 edges: `start` is the
// first edge of this lane's entry, counted from the first of the window. Each entry that begins among the 32 edges
// marks its first; the number of marks up to an edge tells its owner.
template <typename Integer>
__device__ inline int owner_of(Integer start) {
    const int before = __popc(__ballot_sync(ALL, start <= 0)) - 1;
    const unsigned marks = warp_reduce_or(start > 0 && start < WARP ? 1u << start : 0);
    return (before + __popc(marks & (lanes_below() << 1 | 1))) % WARP;
}
