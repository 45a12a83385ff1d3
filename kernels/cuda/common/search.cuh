// What every whole search in one cooperative launch takes, its workers, and how it ends.
#pragma once

#include "frontier.cuh"

#ifndef THREADS
#define THREADS 512  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 1  // of a multiprocessor
#endif

constexpr int UNROLL = 4;                           // edges, vertices or groups that a lane has in flight at a time
constexpr int TILE = 32;                            // words of a tile of bitmaps, at most
constexpr int TILES = 4;                            // tiles that a warp takes at a time, at most
constexpr int LIST = TILE * WARP * 3 / 2;           // vertices of them on its list, at most
constexpr int NUMBER_SHIFT = 32, LEVELS_SHIFT = 1;  // in `status`, whose lowest bit says that a search was given up

struct State;  // what the blocks of a search share

// The arrays that every such search takes before its own.
template <typename Vertex, typename Offset>
struct SearchArrays {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* hub;
    const Vertex* heavy;
    const unsigned* isolated;
    unsigned* visited;
    Entry<Offset>* queue;
    Vertex* queued;
    int* distances;
    Vertex* predecessors;
    const Vertex* sources;
    State* state;
    Counter* trace;
    volatile long long* status;
};

// The targets of one pass over the edges of a level.
template <typename Vertex>
struct Range {
    Vertex first, count;

    __device__ bool has(Vertex vertex) const { return vertex >= first && vertex - first < count; }
};

// Which thread of the grid this is, and what its warp and block have in shared memory.
template <typename Result>
struct WorkerOf {
    int lane, warp, warps;  // neighbouring warps are on different multiprocessors
    long long thread, threads;
    unsigned short* list;  // of the warp: room for LIST vertices,
    unsigned* hits;        // and for the words of TILES tiles
    unsigned* found;       // of the block: how many vertices it reached in this phase
    Result* result;        // of the block
};

// End a search: the last block to arrive tells the host, in one store, which search it was and how many levels it had.
template <typename State>
__device__ inline void report(State* state, volatile long long* status, long long number, int levels, bool given_up) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (gridDim.x == 1 || atomicInc(&state->finished, gridDim.x - 1) == gridDim.x - 1) {
            *status = number << NUMBER_SHIFT | static_cast<long long>(levels) << LEVELS_SHIFT | given_up;
        }
    }
}

// Did a level up to this one reach the target? Other blocks may be one level ahead and have set it already.
__device__ inline bool is_reached(long long target_level, int level) {
    return target_level > 0 && target_level <= level;
}

template <typename T>
__device__ inline void swap(T& a, T& b) {
    const T kept = a;
    a = b;
    b = kept;
}
