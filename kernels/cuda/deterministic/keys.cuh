// Keys of vertices, which say in which order deep levels reached them, and what follows from them, by the whole grid.
//
// A key is the level of a vertex, above the slot that its ancestor had in the frontier when the blocks last met, above
// the place in its row of each edge on the way from there. Levels count from 1, that of the first frontier.
#pragma once

#include "ordered.cuh"

constexpr int PATH_BITS = 44;    // of a key, below its level
constexpr Key NO_KEY = ~Key(0);  // of a vertex that no level has reached yet
constexpr Key LEAST_KEY = 0;     // of those that earlier levels reached: nothing lowers it, and it is of no level
constexpr int MAX_KEYED_LEVELS = (1 << (64 - PATH_BITS)) - 3;
constexpr int FEW = 16;  // in-neighbours that a lane alone looks at; a multiple of GROUP

// Up to CHUNK edges of a vertex with this key. `rest` counts the edges from `first` to the end of its row; it is negated
// in all chunks of a vertex but the first.
template <typename Vertex, typename Offset>
struct KeyedChunk {
    Key key;
    Offset first, rest;
    Vertex vertex;
};

__device__ inline Key level_of(Key key) { return key >> PATH_BITS; }

// Let visited vertices have the key LEAST_KEY, and all others NO_KEY.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void reset_keys(const Search<Vertex, Offset>& s, const unsigned* visited,
                                           const Block& block) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long word = block.warp; word < words; word += block.warps) {
        const long long vertex = word * WARP + lane_id();
        if (vertex < s.n) s.keys[vertex] = visited[word] >> lane_id() & 1 ? LEAST_KEY : NO_KEY;
    }
}

// The in-neighbour with the smallest key of those one level above this key, for the lanes that are `wanted`.
template <typename Vertex, typename Offset>
__device__ __forceinline__ Vertex first_neighbor(const Search<Vertex, Offset>& s, bool wanted, Vertex vertex, Key key) {
    Key best = NO_KEY;
    Vertex parent = -1;
    const auto consider = [&](Vertex neighbor, Key theirs, Key level) {
        if (level_of(theirs) == level && theirs < best) best = theirs, parent = neighbor;
    };
    Offset next = 0, end = 0;
    if (wanted) next = __ldg(s.in_offsets + vertex), end = __ldg(s.in_offsets + vertex + 1);
    const Offset few = min(end, static_cast<Offset>(next + FEW));
    for (; next < few; next += GROUP) {
        Vertex neighbor[GROUP];
        Key theirs[GROUP];
#pragma unroll
        for (int i = 0; i < GROUP; ++i) neighbor[i] = next + i < few ? __ldg(s.in_targets + next + i) : vertex;
#pragma unroll
        for (int i = 0; i < GROUP; ++i) theirs[i] = s.keys[neighbor[i]];
#pragma unroll
        for (int i = 0; i < GROUP; ++i) consider(neighbor[i], theirs[i], level_of(key) - 1);
    }
    // The whole warp looks at what is left of long rows, one after the other.
    for (unsigned open = __ballot_sync(ALL, next < end); open; open &= open - 1) {
        const int which = __ffs(open) - 1;
        const Offset from = __shfl_sync(ALL, next, which), stop = __shfl_sync(ALL, end, which);
        const Key level = __shfl_sync(ALL, level_of(key) - 1, which), before = best;
        const Vertex its = parent;
        if (lane_id() != which) best = NO_KEY;
        for (Offset i = from + lane_id(); i < stop; i += WARP) {
            const Vertex neighbor = __ldg(s.in_targets + i);
            consider(neighbor, s.keys[neighbor], level);
        }
        // The smallest key of all lanes comes to every lane, with its vertex.
        for (int distance = WARP / 2; distance; distance /= 2) {
            const Key theirs = __shfl_xor_sync(ALL, best, distance);
            const Vertex neighbor = __shfl_xor_sync(ALL, parent, distance);
            if (theirs < best) best = theirs, parent = neighbor;
        }
        if (lane_id() != which) best = before, parent = its;
    }
    return parent;
}

// Mark the vertices that have a level up to `last` of the search, and write their distances and predecessors. The
// counter of the phase is left at the number of their edges, and `deepest` of the state at the last level of any.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void settle(const Search<Vertex, Offset>& s, const Traversal& at, int last,
                                       const Block& block) {
    const long long words = (s.n + WARP - 1) / WARP;
    const Key last_level = last - at.level + 1;
    Counter edges = 0;
    int deepest = 0;
    for (long long word = block.warp; word < words; word += block.warps) {
        const unsigned seen = at.visited[word];
        if (seen == ALL) continue;
        const Vertex vertex = static_cast<Vertex>(word * WARP + lane_id());
        const Key key = seen >> lane_id() & 1 ? NO_KEY : s.keys[vertex];
        const bool reached = level_of(key) <= last_level;
        const unsigned marks = __ballot_sync(ALL, reached);
        if (!marks) continue;
        const Vertex parent = first_neighbor(s, reached, vertex, key);
        if (lane_id() == 0) at.visited[word] = seen | marks;
        if (reached) {
            const int level = at.level + static_cast<int>(level_of(key)) - 1;
            set_distance_and_predecessor(s, vertex, parent, level);
            edges += __ldg(s.offsets + vertex + 1) - __ldg(s.offsets + vertex);
            deepest = max(deepest, level);
        }
    }
    edges = warp_sum(edges);
    deepest = warp_reduce_max(deepest);
    if (lane_id() != 0 || deepest == 0) return;
    atomicAdd(&s.state->counters[at.phase % 3], edges);
    atomicMax(&s.state->deepest, deepest);
}

// Call visit(chunk, frontier before it) for each vertex of a queue in shared memory whose key is still that of its
// chunk, in order, by the whole block: `before` is what is before all, packed. Returns what is before the next block.
template <typename Vertex, typename Offset, typename Visit>
__device__ Counter for_each_vertex(const Search<Vertex, Offset>& s, const KeyedChunk<Vertex, Offset>* queue, int chunks,
                                   Counter before, const Block& block, Visit visit) {
    for (int start = 0; start < chunks; start += THREADS) {
        const int place = start + static_cast<int>(threadIdx.x);
        KeyedChunk<Vertex, Offset> chunk = {};
        if (place < chunks) chunk = queue[place];
        const bool keep = chunk.rest > 0 && s.keys[chunk.vertex] == chunk.key;
        Counter total;
        const Counter mine = block_exclusive_scan(keep ? packed(1, chunk.rest, s.edge_bits) : 0, block.totals, total);
        if (keep) visit(chunk, unpacked(before + mine, s.edge_bits));
        before += total;
        __syncthreads();
    }
    return before;
}

// Append the frontier that is in the queues of the blocks to that of the grid, from `begin` on, in order. Their
// `counts` are packed. Sibling groups need not be told apart, only be in order.
template <typename Vertex, typename Offset>
__device__ Frontier append_frontier(const Search<Vertex, Offset>& s, const KeyedChunk<Vertex, Offset>* queue,
                                    int chunks, long long begin, unsigned char* siblings, const Block& block) {
    Counter total;
    base_of_warp(s.counts, static_cast<int>(gridDim.x), block, total);
    for_each_vertex(s, queue, chunks, block.bases[0], block,
                    [&](const KeyedChunk<Vertex, Offset>& chunk, Frontier before) {
                        const Offset prefix = static_cast<Offset>(before.edges);
                        const long long place = begin + before.vertices;
                        s.queue[place] = {prefix, static_cast<Offset>(chunk.first - prefix)};
                        s.queued[place] = chunk.vertex;
                        s.rank[chunk.vertex] = static_cast<typename Search<Vertex, Offset>::Number>(before.vertices);
                        siblings[chunk.vertex] = sibling_group(DISTINCT + before.vertices);
                    });
    return unpacked(total, s.edge_bits);
}
