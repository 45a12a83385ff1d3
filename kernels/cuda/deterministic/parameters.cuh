// Deterministic search: its parameters, what the blocks share, and the end of a phase. search.cu says what each array
// holds.
#pragma once

#include "../common/adjacency.cuh"
#include "../common/bitmap.cuh"
#include "../common/deep.cuh"
#include "../common/frontier.cuh"
#include "../common/grid.cuh"
#include "../common/ptx.cuh"
#include "../common/search.cuh"
#include "../common/warp.cuh"

constexpr int CLAIM_TILES = 16;      // tiles that a warp collects claims from, at most,
constexpr int CLAIMS = 64;           // until it has so many
constexpr int GROWTH = 4;            // of the chunks of first edges
constexpr int MAX_LEVELS = 1 << 20;  // of a single-block phase, so that the waiting blocks do not run out of spins
constexpr int MAX_PHASES = 1 << 16;  // whose times are recorded
constexpr int PHASE_BITS = 4;

// What the grid did until it met at a barrier.
enum Phase {
    BEGIN,
    SEED,
    SINGLE_BLOCK,
    CLAIM,
    WRITE,
    APPEND,
    LARGE_SIBLINGS,
    FIRST_EDGES,
    MERGE,
    SWEEP,
    REORDER,
    DEEP
};

using Key = unsigned long long;  // of a vertex, see keys.cuh

template <typename Integer>
struct Unsigned;
template <>
struct Unsigned<int> {
    using type = unsigned;
};
template <>
struct Unsigned<long long> {
    using type = unsigned long long;
};

// How far the levels of one block have got: the last level, and its frontier in the queue from `begin` on.
struct Progress {
    long long level, begin, vertices, edges, unexplored;
};

// What the blocks share; zero before the first search.
struct State {
    alignas(128) unsigned arrived;                    // blocks at the barrier; its top bit flips when all have come
    alignas(128) Counter counters[3];                 // of this phase, of the next one (zero), and of the one before
    alignas(128) unsigned finished;                   // blocks that have finished the search
    long long target_level;                           // the level that reached the target; 0 before
    Progress progress[2];                             // of the last single-block phase, by its parity
    int deepest;                                      // the last level in which deep levels reached a vertex
    alignas(128) Standing standings[2][MOST_BLOCKS];  // of the blocks in deep levels, in turn
};

template <typename Vertex, typename Offset>
struct Search : SearchArrays<Vertex, Offset> {
    using Number = typename Unsigned<Offset>::type;  // of an edge in its level, or of a slot
    static constexpr Number UNREACHED = ~Number(0);
    static constexpr Number CLAIMED = UNREACHED / 2 + 1;  // the top bit, which no number has

    const Vertex* positions;
    unsigned* other;
    unsigned* fresh;
    unsigned char* siblings;
    unsigned* marks;
    Vertex* slots;
    Counter* counts;
    Number* rank;
    Key* keys;
    Counter* phases;
    long long n, m;
    long long count, source;        // how many sources there are, and the first of them
    long long depth_limit, target;  // the target is no source; -1: none
    long long alpha, wide;          // a level is wide if its frontier has at least `wide` edges, and more than 1/alpha
                                    // of the unexplored ones
    long long share;                // the first edges are 1/share of the unexplored ones,
    long long chunk;                // but at least so many; a multiple of 32
    long long large;                // and end at a sibling group with more than 1/large of the unexplored ones
    long long alike;                // do all vertices have about as many edges?
    long long passes;               // over the first edges, so that the L2 holds the ranks of the targets of each
    long long patience;             // levels without an order before the next reordering, at least 1
    long long single_block_edges;   // of a frontier that one block expands, at most
    long long capacity;             // entries of its queue in shared memory, at least `single_block_edges`
    long long deep_chunks;          // of a frontier that all blocks expand together, at most; 0: none
    long long deep_from;            // and it has more edges than this
    long long deep_capacity;        // chunks of each of three queues of a block in shared memory
    long long place_bits;           // of the place of an edge in its row
    long long meet;                 // deep levels that blocks go before they meet
    long long edge_bits;            // of a Counter
    long long tile;                 // words that a warp sweeps at a time
    long long number;               // of this search
};

// What a block knows at the end of a phase. It is in shared memory, since loads of one address by thousands of warps
// would be serialised.
struct PhaseResult {
    long long counted;       // by all blocks, in the counter of this phase
    long long target_level;  // so far
    Progress progress;
};

// A warp's place in the grid, and its block's shared memory.
struct Block {
    int warp, warps;
    unsigned char* memory;  // all that is dynamic; also:
    unsigned short* list;   // of the warp: room for LIST vertices
    unsigned* hits;         // of the warp: the words of TILES tiles
    Counter* totals;        // WARP numbers
    Counter* bases;         // a number for each warp of the block
    PhaseResult* result;
};

// How far the search has got. Every thread keeps track of it in its own variables.
struct Traversal {
    unsigned *visited, *other;  // the search's two, which change places, as its two of `siblings` do
    unsigned char *siblings, *other_siblings;
    long long unexplored;  // edges
    Frontier frontier;     // the last ordered one,
    long long begin;       // in the queue from here on
    long long reached;     // by the last level; vertices without edges may be left out
    int level;
    int unordered;  // levels since the last ordered one
    int phase;
    int small_runs;  // of deep levels
    bool no_room;    // for the frontier, in the queues of deep levels?
};

// An array with an element for each of the edges or vertices that a lane has in flight. Independent loads and atomics
// stand in loops of their own, so that all are in flight before the first is waited for.
template <typename T>
using Each = T[UNROLL];

// Write how a vertex was reached.
template <typename Vertex, typename Offset>
__device__ inline void set_distance_and_predecessor(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent,
                                                    int level) {
    s.distances[vertex] = level;
    s.predecessors[vertex] = parent;
    if (vertex == s.target) s.state->target_level = level;
}

// End a phase: wait for all blocks, and load what they counted. Meanwhile the counter of the next phase is reset.
template <typename Vertex, typename Offset>
__device__ inline void end_phase(const Search<Vertex, Offset>& s, Phase kind, int& phase, const Block& block) {
    State* const state = s.state;
    PhaseResult* const result = block.result;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) state->counters[(phase + 1) % 3] = 0;
        grid_barrier(&state->arrived);
        if (s.phases && blockIdx.x == 0 && phase < MAX_PHASES) s.phases[phase] = nanoseconds() << PHASE_BITS | kind;
        result->counted = static_cast<long long>(__ldcg(&state->counters[phase % 3]));
        result->target_level = __ldcg(&state->target_level);
        const Progress* const by = &state->progress[phase % 2];
        result->progress = {__ldcg(&by->level), __ldcg(&by->begin), __ldcg(&by->vertices), __ldcg(&by->edges),
                            __ldcg(&by->unexplored)};
    }
    __syncthreads();
    ++phase;
}

// Call visit(vertex) for the set bits of `bits(word)` over all words, each by one lane.
template <typename Vertex, typename Offset, typename Bits, typename Visit>
__device__ void for_each_set_bit(const Search<Vertex, Offset>& s, const Block& block, Bits bits, Visit visit) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long tile = block.warp; tile * s.tile < words; tile += block.warps) {
        const long long word = tile * s.tile + lane_id();
        const int set = list_bits(lane_id() < s.tile && word < words ? bits(word) : 0, block.list);
        for (int i = lane_id(); i < set; i += WARP) {
            visit(static_cast<Vertex>(tile * s.tile * WARP + block.list[i]));
        }
        __syncwarp();
    }
}
