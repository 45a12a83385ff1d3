// Bit-parallel search: its parameters, what the blocks share, and the end of a phase. search.cu says what each array
// holds.
#pragma once

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int BITS = 64;                // of a word
constexpr int PIECE = 128;              // edges that a group takes at a time
constexpr int UNROLL = 4;               // edges that a group has in flight
constexpr int TALLY = 8;                // bits of a vertical counter
constexpr int FULL = (1 << TALLY) - 1;  // rows that it can add
constexpr int SLOTS = 4;                // levels whose counters are kept
constexpr int MAX_WORDS = 16;

using Word = unsigned long long;

template <typename Vertex, typename Offset>
struct Piece {
    Offset begin;   // the first of the edges
    Vertex vertex;  // whose they are
};

// What the blocks share. A level counts into the slot level % SLOTS; two levels on it is emptied.
struct State {
    int levels;                         // of the search that is done
    alignas(128) unsigned arrived;      // blocks at the barrier; its top bit changes when all have come
    alignas(128) Word vertices[SLOTS];  // that were reached
    alignas(128) Word items[SLOTS];
    alignas(128) Word edges[SLOTS];                 // out-edges of the vertices reached
    alignas(128) Word under_way[SLOTS][MAX_WORDS];  // sources that reached any vertex, and so go on
};

template <typename Vertex, typename Offset>
struct Batch {
    const Vertex* rank;
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* heavy;
    const Piece<Vertex, Offset>* pieces;
    const Vertex* sources;
    const unsigned char* allowed;
    Word* seen;
    Word* rows[2];
    int* stamps;
    Vertex* found[2];
    Piece<Vertex, Offset>* items;
    Word* planes;
    Word* counts[2];
    long long* reached;
    long long* total;
    int* eccentricity;
    double* harmonic;
    int* distances;
    State* state;
    long long n, m, k;
    long long active;  // vertices with in-edges; the others' numbers follow theirs
    long long heavies, piece_count, bits, depth_limit;
    long long alpha;  // bottom-up when the frontier has more than 1/alpha of the edges
};

// What a level reached, the same in every thread: the next frontier.
struct PhaseResult {
    Word vertices, items, edges;
};

__device__ inline PhaseResult end_phase(State* state, int level) {
    __shared__ PhaseResult frontier;
    __syncthreads();
    if (threadIdx.x == 0) {
        grid_barrier(&state->arrived);
        const int slot = level % SLOTS;
        frontier = {__ldcg(&state->vertices[slot]), __ldcg(&state->items[slot]), __ldcg(&state->edges[slot])};
    }
    __syncthreads();
    return frontier;
}

// Where a thread stands: its warp in the grid, its group in the warp, its word in the row.
template <int WIDTH>
struct Place {
    static constexpr int GROUPS = WARP / WIDTH;  // of a warp
    int lane = threadIdx.x % WARP;
    int word = lane % WIDTH;
    int group = lane / WIDTH;
    unsigned mask = (WIDTH == WARP ? ALL : ((1u << WIDTH) - 1)) << (group * WIDTH);  // the lanes of the group
    long long warp = static_cast<long long>(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    long long warps = static_cast<long long>(gridDim.x) * (THREADS / WARP);

    // The thread's word in the row of a vertex.
    template <typename Vertex>
    __device__ long long row_word(Vertex vertex) const {
        return static_cast<long long>(vertex) * WIDTH + word;
    }

    // Does it hold in any lane of the group? To be called by the whole warp.
    __device__ bool any(bool holds) const { return __ballot_sync(ALL, holds) & mask; }
};

// What a thread found in a phase: the out-edges, the sources in flight in its word, and the vertical counters.
template <int WIDTH>
struct ThreadResult {
    Word edges = 0;
    Word under_way = 0;
    Word tally[TALLY] = {};
    int held = 0;

    // Count a vertex that these sources reached.
    __device__ void add(Word bits, int word, unsigned* counts) {
        Word carry = bits;
#pragma unroll
        for (int i = 0; i < TALLY; ++i) {
            const Word before = tally[i];
            tally[i] = before ^ carry;
            carry &= before;
        }
        if (++held == FULL) empty(word, counts);
    }

    __device__ void empty(int word, unsigned* counts) {
        if (held == 0) return;
        for (int bit = 0; bit < BITS; ++bit) {
            unsigned count = 0;
#pragma unroll
            for (int i = 0; i < TALLY; ++i) count |= static_cast<unsigned>(tally[i] >> bit & 1) << i;
            if (count) atomicAdd(counts + word * BITS + bit, count);
        }
#pragma unroll
        for (int i = 0; i < TALLY; ++i) tally[i] = 0;
        held = 0;
    }
};

// What the threads of a block found together; empty between phases.
template <int WIDTH>
struct BlockResult {
    unsigned counts[BITS * WIDTH];
    Word under_way[WIDTH];
    Word edges;
};
