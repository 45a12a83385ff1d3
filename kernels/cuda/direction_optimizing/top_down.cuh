// A top-down level by the whole grid.
#pragma once

#include "parameters.cuh"

// A top-down level: expand the frontier from `begin` on, a run of edges for each warp. DENSE: reach vertices in
// the bitmap alone, and return how many this lane reached; else give them their distance and append them to the queue.
// PASS: reach only those in `range`, and let the edges, more than the L2 holds, leave it first.
template <bool DENSE, bool PASS = false, typename Vertex, typename Offset>
__device__ unsigned top_down_level(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                                   Frontier frontier, Counter* tail, int warp, int warps, Range<Vertex> range = {}) {
    constexpr int COUNT = DENSE ? 2 * UNROLL : UNROLL;
    const long long share = (frontier.edges + warps - 1) / warps;
    const long long run = (share + WARP - 1) / WARP * WARP;
    long long next = warp * run;
    const long long stop = min(next + run, frontier.edges);
    if (next >= stop) return 0;
    const Entry<Offset>* entries = s.queue + begin;
    const int lane = lane_id();
    unsigned reached = 0;

    // A window of 32 entries, one per lane, and the edges that it covers.
    for (long long slot = slot_of(entries, frontier.vertices, next); next < stop; slot += WARP) {
        const bool inside = slot + lane < frontier.vertices;
        Entry<Offset> entry = {static_cast<Offset>(frontier.edges), 0};
        if (inside) entry = entries[slot + lane];
        const Vertex owner = inside ? s.queued[begin + slot + lane] : -1;
        long long end = frontier.edges;
        if (slot + WARP < frontier.vertices) end = entries[slot + WARP].prefix;
        end = min(end, stop);

        for (; next < end; next += COUNT * WARP) {
            bool won[COUNT];
            Vertex neighbor[COUNT], parent[COUNT];
            unsigned word[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                const long long batch = next + k * WARP;
                const int source = owner_of(entry.prefix - batch);
                const Offset shift = __shfl_sync(ALL, entry.shift, source);
                parent[k] = __shfl_sync(ALL, owner, source);
                won[k] = batch + lane < end;
                neighbor[k] = 0;
                const Vertex* const target = s.targets + (shift + batch + lane);
                if (won[k]) neighbor[k] = PASS ? __ldcs(target) : __ldg(target);
            }
            if constexpr (PASS) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    won[k] = won[k] && range.has(neighbor[k]);
                    if (!won[k]) neighbor[k] = 0;
                }
            }
            Offset first[DENSE ? 1 : COUNT], degree[DENSE ? 1 : COUNT];
            if constexpr (!DENSE) load_rows(s.offsets, won, neighbor, first, degree);
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                word[k] = ALL;
                if (won[k]) word[k] = atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = !(word[k] & bit_of(neighbor[k]));
                if (!won[k]) continue;
                set_predecessor(s, neighbor[k], parent[k], level);
                if (!DENSE) s.distances[neighbor[k]] = level;
                ++reached;
            }
            if constexpr (!DENSE) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) degree[k] -= first[k];
                append_to_queue(s, begin + frontier.vertices, tail, won, neighbor, first, degree);
            }
        }
        next = end;
    }
    return reached;
}
