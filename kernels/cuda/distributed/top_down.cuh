// A top-down level of one rank: it expands its frontier into pairs for the owners of neighbours, and settles the pairs
// that it received.
#pragma once

#include "../direction_optimizing/parameters.cuh"

// A vertex that was found and its parent: their global ids.
template <typename Vertex>
struct alignas(2 * sizeof(Vertex)) Pair {
    Vertex vertex, parent;
};

// Mark the neighbours of the frontier from `begin` on, a run of its edges for each warp. The whole warp calls
// send(won, neighbor, parent) with UNROLL neighbours a lane, of which it has won those that it marked.
template <typename Vertex, typename Offset, typename Send>
__device__ __forceinline__ void expand_frontier(const Search<Vertex, Offset>& s, unsigned* marked, Vertex base,
                                                long long begin, Frontier frontier, long long warp, long long warps,
                                                const Send& send) {
    const int lane = lane_id();
    const long long edges_per_warp = (frontier.edges + warps - 1) / warps;
    const long long run = (edges_per_warp + WARP - 1) / WARP * WARP;
    long long next = warp * run;
    const long long stop = min(next + run, frontier.edges);
    if (next >= stop) return;
    const Entry<Offset>* const entries = s.queue + begin;

    // A window of 32 entries, one per lane, and the edges that it covers.
    for (long long slot = slot_of(entries, frontier.vertices, next); next < stop; slot += WARP) {
        const bool inside = slot + lane < frontier.vertices;
        Entry<Offset> entry = {static_cast<Offset>(frontier.edges), 0};
        if (inside) entry = entries[slot + lane];
        const Vertex local_id = inside ? s.queued[begin + slot + lane] : 0;
        long long end = frontier.edges;
        if (slot + WARP < frontier.vertices) end = entries[slot + WARP].prefix;
        end = min(end, stop);

        for (; next < end; next += UNROLL * WARP) {
            bool won[UNROLL];
            Vertex neighbor[UNROLL], parent[UNROLL];
            unsigned word[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const long long batch = next + k * WARP;
                const int source = owner_of(entry.prefix - batch);
                const Offset shift = __shfl_sync(ALL, entry.shift, source);
                parent[k] = base + __shfl_sync(ALL, local_id, source);
                won[k] = batch + lane < end;
                neighbor[k] = 0;
                if (won[k]) neighbor[k] = __ldg(s.targets + (shift + batch + lane));
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) word[k] = marked[word_of(neighbor[k])];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                won[k] = won[k] && !(word[k] & bit_of(neighbor[k]));
                if (won[k]) word[k] = atomicOr(marked + word_of(neighbor[k]), bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) won[k] = won[k] && !(word[k] & bit_of(neighbor[k]));
            send(won, neighbor, parent);
        }
        next = end;
    }
}

// Settle the pairs whose vertex is not visited, and append the vertices to the queue from `begin` on. Returns their
// number for this lane; the sum over all lanes is the total.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned settle_pairs(const Search<Vertex, Offset>& s, unsigned* visited,
                                                 const Pair<Vertex>* pairs, long long count, Vertex base, int level,
                                                 long long begin, Counter* tail) {
    const int lane = lane_id();
    unsigned found = 0;
    for (long long start = (thread_of_grid() - lane) * UNROLL; start < count; start += threads_of_grid() * UNROLL) {
        bool won[UNROLL];
        Vertex vertex[UNROLL], parent[UNROLL];
        unsigned word[UNROLL];
        Offset first[UNROLL], degree[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long which = start + k * WARP + lane;
            won[k] = which < count;
            const Pair<Vertex> pair = won[k] ? pairs[which] : Pair<Vertex>{base, 0};
            vertex[k] = pair.vertex - base;
            parent[k] = pair.parent;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            word[k] = ALL;
            if (won[k]) word[k] = atomicOr(visited + word_of(vertex[k]), bit_of(vertex[k]));
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) won[k] = !(word[k] & bit_of(vertex[k]));
        load_rows(s.offsets, won, vertex, first, degree);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            degree[k] -= first[k];
            if (!won[k]) continue;
            ++found;
            s.distances[vertex[k]] = level;
            set_predecessor(s, vertex[k], parent[k], level);
        }
        append_to_queue(s, begin, tail, won, vertex, first, degree);
    }
    return found;
}
