// The parameters of a search, what its blocks share, and how a phase between two barriers of the grid ends.
#pragma once

#include "../common/adjacency.cuh"
#include "../common/bitmap.cuh"
#include "../common/deep.cuh"
#include "../common/frontier.cuh"
#include "../common/grid.cuh"
#include "../common/mask.cuh"
#include "../common/ptx.cuh"
#include "../common/search.cuh"
#include "../common/warp.cuh"

constexpr int BITMAPS = 8;      // of visited vertices, in turn
constexpr int CLEARED = 2;      // all predecessors are -1, distances may be anything
constexpr int SKIP = -2;        // no distance
constexpr int MASKED_END = -1;  // in place of a level: the source or the target is masked
constexpr int MORE = -2;        // no neighbour: there are more than are here

// Loads and atomics that are independent stand in loops of their own, here and in what follows, so that they are all in
// flight before the first is waited for.

// What the blocks share: zero before the first search. Each barrier ends a phase; each phase counts into another of
// `tails`.
struct State {
    alignas(128) unsigned arrived;   // blocks at the barrier; its top bit changes when all have come
    alignas(128) Counter tails[3];   // of this phase, of the next one, which is zero, and of the one before
    alignas(128) unsigned finished;  // blocks that are done with the search
    unsigned stale[2];               // did the last search that was not `fresh` begin at an isolated vertex? By parity
    long long target_level;          // that reached the target; 0 before; or MASKED_END
    Counter explored[3];             // edges of the vertices that small levels reached, counted like `tails`; of a
                                     // bottom-up level, what it left to the whole grid, packed
    long long level[2];              // that small levels have reached, in phases with its parity
    alignas(128) Standing standings[2][MOST_BLOCKS];  // in turn
};

template <typename Vertex, typename Offset>
struct Search : SearchArrays<Vertex, Offset> {
    const unsigned char* allowed;
    unsigned* barred;
    unsigned* reached;
    long long n, m;
    long long count, source;        // how many sources there are, and the first of them
    long long depth_limit, target;  // the target is no source; -1: none
    long long alpha;                // bottom-up when the frontier has more than 1/alpha of the unexplored edges, or
                                    // without hubs 2/alpha
    long long beta;                 // top-down again when the frontier shrinks below 1/beta of the vertices
    long long dense;                // a frontier with more edges than this is expanded into a bitmap
    long long single_block_chunks;  // a frontier with no more chunks is expanded by one block,
    long long deep_chunks;          // and with no more than this by all together, see deep_levels.cuh;
                                    // 0: never, else no less than by one block
    long long capacity;             // chunks of a block's queue in shared memory
    long long edge_bits;            // of a Counter
    long long shrinking_levels;     // small and shrinking frontiers in a row before it is top-down again
    long long tile;                 // words that a warp sweeps at a time
    long long number;               // of this search
    long long fresh;                // 0 if distances and predecessors are those of the last search; or CLEARED, or 1
    long long unreached;            // the distance where there is none; not SKIP
    long long passes;               // over the edges of a dense level that stores many predecessors
    long long meet;                 // deep levels that the blocks go before they meet
};

// The vertices that a search cannot reach: isolated ones and, with a mask, all that it bars.
template <bool MASKED, typename Vertex, typename Offset>
__device__ inline const unsigned* never_reached(const Search<Vertex, Offset>& s) {
    return MASKED ? s.barred : s.isolated;
}

// Set the predecessor of a vertex and, if it is the target, the level that reached it.
template <typename Vertex, typename Offset>
__device__ inline void set_predecessor(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent, int level) {
    if (s.predecessors) s.predecessors[vertex] = parent;
    if (vertex == s.target) s.state->target_level = level;
}

// What a block knows at the end of a phase, in shared memory: loads of one address by thousands of warps would queue
// up.
struct PhaseResult {
    Counter counted;         // in the tail of this phase
    Counter explored;        // by small levels, or left to the whole grid
    long long level;         // that small levels have reached
    long long target_level;  // so far
};

// End a phase: wait for all blocks, and load what was counted in it. The counters of the next phase are reset
// meanwhile.
__device__ inline Frontier end_phase(State* state, int phase, int edge_bits, PhaseResult* result) {
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) state->tails[(phase + 1) % 3] = state->explored[(phase + 1) % 3] = 0;
        grid_barrier(&state->arrived);
        result->counted = __ldcg(&state->tails[phase % 3]);
        result->explored = __ldcg(&state->explored[phase % 3]);
        result->level = __ldcg(&state->level[phase % 2]);
        result->target_level = __ldcg(&state->target_level);
    }
    __syncthreads();
    return unpacked(result->counted, edge_bits);
}

// Append the vertices that this warp keeps, up to COUNT per lane, to the queue from `begin` on, but for those
// without edges.
template <int COUNT, typename Vertex, typename Offset>
__device__ inline void append_to_queue(const Search<Vertex, Offset>& s, long long begin, Counter* tail,
                                       const bool (&keep)[COUNT], const Vertex (&vertex)[COUNT],
                                       const Offset (&first)[COUNT], const Offset (&degree)[COUNT]) {
    Counter mine = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (keep[k] && degree[k]) mine += packed(1, degree[k], s.edge_bits);
    }
    Counter place = warp_inclusive_scan(mine);
    const Counter total = __shfl_sync(ALL, place, WARP - 1);
    if (total == 0) return;
    Counter start = 0;
    if (lane_id() == 0) start = atomicAdd(tail, total);
    place += __shfl_sync(ALL, start, 0) - mine;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!keep[k] || !degree[k]) continue;
        const Frontier before = unpacked(place, s.edge_bits);
        const Offset prefix = static_cast<Offset>(before.edges);
        s.queue[begin + before.vertices] = {prefix, static_cast<Offset>(first[k] - prefix)};
        s.queued[begin + before.vertices] = vertex[k];
        place += packed(1, degree[k], s.edge_bits);
    }
}
