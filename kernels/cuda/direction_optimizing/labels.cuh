// Distances that `atomicMin` lowers: how they are prepared, and what follows from them, by the whole grid.
#pragma once

#include "parameters.cuh"

constexpr int UNLABELED = 0x7fffffff;  // the distance of a vertex that no level has reached yet
constexpr int FEW = 16;                // in-neighbours that a lane alone looks at
constexpr int LONG_ROW = 256;          // of a row with more, one that is most likely right is noted beforehand

// Let unvisited vertices have the distance UNLABELED, and those that a mask bars one that nothing lowers.
template <bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ void unlabel(const Search<Vertex, Offset>& s, const unsigned* visited, int warp, int warps) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id(), tile = static_cast<int>(s.tile);
    for (long long first = static_cast<long long>(warp) * tile; first < words; first += warps * tile) {
        const bool mine = lane < tile && first + lane < words;
        const unsigned seen = mine ? __ldcg(visited + first + lane) : ALL;
        const unsigned barred = MASKED && mine ? __ldcg(s.barred + first + lane) : 0;
        for (int i = 0; i < tile; ++i) {
            const unsigned bits = __shfl_sync(ALL, seen, i), no_way = __shfl_sync(ALL, barred, i);
            const long long vertex = (first + i) * WARP + lane;
            if (vertex >= s.n) continue;
            if (!(bits >> lane & 1)) s.distances[vertex] = UNLABELED;
            if (MASKED && no_way >> lane & 1) s.distances[vertex] = -1;
        }
    }
}

// Note a neighbour from which a vertex with so many edges was reached, if its in-neighbours may be more than LONG_ROW. A
// later one may be lost, where two reach the vertex at the same time: so it is tested before it is used.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void note_parent(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent,
                                            Offset degree) {
    const bool directed = s.in_offsets != s.offsets;
    if (s.predecessors && (directed || degree > LONG_ROW)) s.predecessors[vertex] = parent;
}

// Let a vertex be UNLABELED again, with no neighbour noted.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void forget(const Search<Vertex, Offset>& s, Vertex vertex) {
    s.distances[vertex] = UNLABELED;
    if (s.predecessors) s.predecessors[vertex] = -1;
}

// An in-neighbour at this distance, for the lanes that are `wanted`: that of `note_parent`, or the first.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ Vertex neighbor_at(const Search<Vertex, Offset>& s, bool wanted, Vertex vertex,
                                              int distance) {
    Vertex parent = -1;
    Offset next = 0, end = 0;
    bool by_row = wanted;
    if constexpr (SMALL_ROWS) {
        Vertex group[GROUP];
        if (!wanted) vertex = 0;
        load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group);
        by_row = wanted && group[GROUP - 1] == MORE;
        int theirs[GROUP];
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            const bool there = wanted && !by_row && group[i] >= 0;
            theirs[i] = there ? s.distances[group[i]] : UNLABELED;
        }
#pragma unroll
        for (int i = GROUP - 1; i >= 0; --i) {
            if (theirs[i] == distance) parent = group[i];
        }
    }
    if (by_row) {
        next = __ldg(s.in_offsets + vertex), end = __ldg(s.in_offsets + vertex + 1);
        if (end - next > LONG_ROW) {
            const Vertex noted = s.predecessors[vertex];
            if (s.distances[noted] == distance) parent = noted;
        }
        const Offset few = min(end, static_cast<Offset>(next + FEW));
        for (; next < few && parent < 0; ++next) {
            const Vertex neighbor = __ldg(s.in_targets + next);
            if (s.distances[neighbor] == distance) parent = neighbor;
        }
    }
    // The whole warp looks at what is left of long rows, one after the other.
    for (unsigned open = __ballot_sync(ALL, by_row && parent < 0); open; open &= open - 1) {
        const int which = __ffs(open) - 1;
        const Offset stop = __shfl_sync(ALL, end, which);
        const int level = __shfl_sync(ALL, distance, which);
        for (Offset from = __shfl_sync(ALL, next, which); from < stop; from += WARP) {
            const Vertex neighbor = from + lane_id() < stop ? __ldg(s.in_targets + from + lane_id()) : -1;
            const unsigned hits =
                __ballot_sync(ALL, neighbor >= 0 && s.distances[neighbor >= 0 ? neighbor : 0] == level);
            if (!hits) continue;
            const Vertex found = __shfl_sync(ALL, neighbor, __ffs(hits) - 1);
            if (lane_id() == which) parent = found;
            break;
        }
    }
    return parent;
}

// Mark the vertices that have a distance up to `last`, and find their predecessors; append those at that distance to the
// queue from `begin` on. The others are UNLABELED again. Counts the edges of all that are new, and leaves the largest of
// their distances in `state`.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ void settle(const Search<Vertex, Offset>& s, unsigned* visited, int last, int phase,
                                       long long begin, int warp, int warps) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id(), tile = static_cast<int>(s.tile);
    Counter explored = 0;
    int deepest = 0;
    for (long long first = static_cast<long long>(warp) * tile; first < words; first += warps * tile) {
        const bool mine = lane < tile && first + lane < words;
        const unsigned seen = mine ? __ldcg(visited + first + lane) : ALL;
        unsigned now = seen;
        for (int i = 0; i < tile; ++i) {
            const unsigned bits = __shfl_sync(ALL, seen, i);
            if (bits == ALL) continue;
            const Vertex vertex[1] = {static_cast<Vertex>((first + i) * WARP + lane)};
            const bool open = !(bits >> lane & 1);
            const int distance = open ? s.distances[vertex[0]] : UNLABELED;
            const bool reached = distance <= last;
            if (!reached && distance != UNLABELED) forget(s, vertex[0]);
            const unsigned marks = __ballot_sync(ALL, reached);
            if (!marks) continue;
            if (lane == i) now |= marks;
            if (s.predecessors) {
                const Vertex parent = neighbor_at<SMALL_ROWS>(s, reached, vertex[0], distance - 1);
                if (reached) s.predecessors[vertex[0]] = parent;
            }
            if (reached && vertex[0] == s.target) s.state->target_level = distance;
            const bool wanted[1] = {reached};
            Offset from[1], degree[1];
            load_rows(s.offsets, wanted, vertex, from, degree);
            degree[0] -= from[0];
            explored += degree[0];
            if (reached) deepest = max(deepest, distance);
            const bool keep[1] = {distance == last};
            if (__any_sync(ALL, keep[0])) {
                append_to_queue(s, begin, &s.state->tails[phase % 3], keep, vertex, from, degree);
            }
        }
        if (mine && now != seen) visited[first + lane] = now;
    }
    explored = warp_sum(explored);
    deepest = warp_reduce_max(deepest);
    if (lane != 0) return;
    if (explored) atomicAdd(&s.state->explored[phase % 3], explored);
    if (deepest) atomicMax(&s.state->level[phase % 2], static_cast<long long>(deepest));
}
