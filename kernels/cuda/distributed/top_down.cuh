// A top-down level of one rank: it expands its frontier into pairs for the owners of neighbours, and settles the pairs
// that it received: into the queue or, where they are many (*dense*), into a bitmap alone.
#pragma once

#include "../direction_optimizing/parameters.cuh"

// A vertex that was found and its parent: their global ids.
template <typename Vertex>
struct alignas(2 * sizeof(Vertex)) Pair {
    Vertex vertex, parent;
};

// Mark the neighbours of the frontier from `begin` on, a run of its edges for each warp. The whole warp calls
// send(won, neighbor, parent) with COUNT neighbours a lane, of which it has won those that it marked. `test`: look first
// which are marked.
template <int COUNT = UNROLL, typename Vertex, typename Offset, typename Send>
__device__ __forceinline__ void expand_frontier(const Search<Vertex, Offset>& s, unsigned* marked, Vertex base,
                                                long long begin, Frontier frontier, long long warp, long long warps,
                                                const Send& send, bool test = true) {
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

        for (; next < end; next += COUNT * WARP) {
            bool won[COUNT];
            Vertex neighbor[COUNT], parent[COUNT];
            unsigned word[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                const long long batch = next + k * WARP;
                const int source = owner_of(entry.prefix - batch);
                const Offset shift = __shfl_sync(ALL, entry.shift, source);
                parent[k] = base + __shfl_sync(ALL, local_id, source);
                won[k] = batch + lane < end;
                neighbor[k] = 0;
                if (won[k]) neighbor[k] = __ldg(s.targets + (shift + batch + lane));
            }
            if (test) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) word[k] = marked[word_of(neighbor[k])];
#pragma unroll
                for (int k = 0; k < COUNT; ++k) won[k] = won[k] && !(word[k] & bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                if (won[k]) word[k] = atomicOr(marked + word_of(neighbor[k]), bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) won[k] = won[k] && !(word[k] & bit_of(neighbor[k]));
            send(won, neighbor, parent);
        }
        next = end;
    }
}

// A warp's run of pairs. Runs are equally long, so that few pairs too are spread over all multiprocessors.
struct Run {
    long long begin, end;
};

__device__ inline Run run_of(long long count, long long warp, long long warps) {
    const long long length = ((count + warps - 1) / warps + WARP - 1) / WARP * WARP;
    return {min(warp * length, count), min((warp + 1) * length, count)};
}

// Load UNROLL pairs a lane from `start` on: their vertices as local ids and the parents. Lanes past the end of the run
// have the first vertex, and are not `inside`.
template <typename Vertex>
__device__ __forceinline__ void load_pairs(const Pair<Vertex>* pairs, Run run, long long start, Vertex base,
                                           bool (&inside)[UNROLL], Vertex (&vertex)[UNROLL], Vertex (&parent)[UNROLL]) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const long long which = start + k * WARP + lane_id();
        inside[k] = which < run.end;
        const Pair<Vertex> pair = inside[k] ? pairs[which] : Pair<Vertex>{base, 0};
        vertex[k] = pair.vertex - base;
        parent[k] = pair.parent;
    }
}

// Settle the pairs of a run whose vertex is not visited, and append the vertices to the queue from `begin` on. Returns
// their number for this lane; the sum over all lanes is the total.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned settle_pairs(const Search<Vertex, Offset>& s, unsigned* visited,
                                                 const Pair<Vertex>* pairs, Run run, Vertex base, int level,
                                                 long long begin, Counter* tail) {
    unsigned found = 0;
    for (long long start = run.begin; start < run.end; start += UNROLL * WARP) {
        bool won[UNROLL];
        Vertex vertex[UNROLL], parent[UNROLL];
        unsigned word[UNROLL];
        Offset first[UNROLL], degree[UNROLL];
        load_pairs(pairs, run, start, base, won, vertex, parent);
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

// Set the predecessors of this rank's own vertices among those that the lanes marked, unless a level before visited them.
// Afterwards `won` has the others.
template <int COUNT, typename Vertex, typename Offset>
__device__ __forceinline__ void settle_own(const Search<Vertex, Offset>& s, const unsigned* visited, Vertex base,
                                           bool (&won)[COUNT], const Vertex (&vertex)[COUNT],
                                           const Vertex (&parent)[COUNT], int level) {
    unsigned word[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const Vertex local_id = vertex[k] - base;
        word[k] = ALL;
        if (won[k] && local_id >= 0 && local_id < s.n) {
            word[k] = visited[word_of(local_id)];
            won[k] = false;
        }
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const Vertex local_id = vertex[k] - base;
        if (!(word[k] & bit_of(local_id))) set_predecessor(s, local_id, parent[k], level);
    }
}

// Mark the vertices of a run of pairs, and set the predecessors of those that are neither marked yet nor `visited`.
// `marked` and `visited` are bitmaps of this rank's own vertices.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void mark_pairs(const Search<Vertex, Offset>& s, unsigned* marked, const unsigned* visited,
                                           const Pair<Vertex>* pairs, Run run, Vertex base, int level) {
    for (long long start = run.begin; start < run.end; start += UNROLL * WARP) {
        bool inside[UNROLL];
        Vertex vertex[UNROLL], parent[UNROLL];
        unsigned before[UNROLL], word[UNROLL];
        load_pairs(pairs, run, start, base, inside, vertex, parent);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) before[k] = visited[word_of(vertex[k])];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            word[k] = ALL;
            if (inside[k] && !(before[k] & bit_of(vertex[k]))) {
                word[k] = atomicOr(marked + word_of(vertex[k]), bit_of(vertex[k]));
            }
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!(word[k] & bit_of(vertex[k]))) set_predecessor(s, vertex[k], parent[k], level);
        }
    }
}
