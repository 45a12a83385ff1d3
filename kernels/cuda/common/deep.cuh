// Deep levels: all blocks of the grid expand small frontiers, each with a queue of its own, and meet after several levels.
#pragma once

#include "chunks.cuh"
#include "grid.cuh"

constexpr int MOST_BLOCKS = 256;  // of a grid whose blocks expand deep levels together

// What a block of the grid has when all meet at deep levels.
struct Standing {
    int chunks, stops_before;  // of its queue, and the level before which it wants all to stop
};

using Deep = FirstThreads<256>;

// What blocks know after they met.
struct Meeting {
    int total, most, before;  // chunks of all, most of one, and of all before this one
    int stop;                 // the level before which all stop
};

// What a block has in shared memory besides its queues.
struct DeepState {
    int filled;                        // chunks of the frontier that it loads
    int stops_before;                  // the level before which it wants all to stop
    int totals[2][Deep::SIZE / WARP];  // chunks that each warp appends, in turn
    Meeting met;                       // what came of the last meeting
};

// Where a table of LENGTH recent vertices keeps this one. The place comes from the high bits of a product, since the low
// bits of a grid's vertices are their columns. Source: D. E. Knuth, The art of computer programming 3, section 6.4.
template <int LENGTH, typename Vertex>
__device__ inline unsigned place_in_table(Vertex vertex) {
    return __umulhi(static_cast<unsigned>(vertex) * 0x9e3779b9u, LENGTH);
}

// Put a vertex into a table that all warps of a block share. Returns what was there.
__device__ inline int exchange(int* place, int value) { return atomicExch(place, value); }

__device__ inline long long exchange(long long* place, long long value) {
    using Word = unsigned long long;
    return static_cast<long long>(atomicExch(reinterpret_cast<Word*>(place), static_cast<Word>(value)));
}

// The queues of one block, of this level and of the next, and its way to meet the others.
template <typename State, typename Chunk>
struct DeepQueues {
    State* state;
    DeepState& local;
    int level;
    Chunk *queue, *upcoming;
    int filled = 0;  // chunks of the queue that is appended to
    int round = 0;
    int turn = 0;  // of `State::standings`

    // Room for so many chunks of this warp behind the `filled` chunks of the block, in the order of the warps, so that
    // vertices with neighbours in common stay with one block. All warps call this together.
    __device__ __forceinline__ int reserve(int total) {
        int* const totals = local.totals[round++ % 2];
        const int lane = lane_id(), warp = threadIdx.x / WARP;
        if (lane == 0) totals[warp] = total;
        Deep::barrier();
        const int theirs = lane < Deep::SIZE / WARP ? totals[lane] : 0;
        const int start = filled + warp_reduce_add(lane < warp ? theirs : 0);
        filled += warp_reduce_add(theirs);
        return start;
    }

    static __device__ __forceinline__ int warp_begin() { return threadIdx.x / WARP * WARP; }

    // Let all blocks stop before this level, once they have met.
    __device__ __forceinline__ void stop_before(int which) { atomicMin(&local.stops_before, which); }

    // Meet all blocks. What a block set in one turn, all have read when it sets it again two turns later.
    __device__ __forceinline__ void meet(int limit) {
        Deep::barrier();
        if (threadIdx.x < WARP) {
            Standing* const all = state->standings[turn];
            const int lane = lane_id(), rank = static_cast<int>(blockIdx.x), size = static_cast<int>(gridDim.x);
            if (lane == 0) {
                all[rank] = {min(filled, limit + 1), local.stops_before};
                grid_barrier(&state->arrived);
            }
            __syncwarp();
            Meeting met = {0, 0, 0, local.stops_before};
            for (int i = lane; i < size; i += WARP) {
                const int chunks = __ldcg(&all[i].chunks);
                met.total += chunks;
                met.most = max(met.most, chunks);
                met.before += i < rank ? chunks : 0;
                met.stop = min(met.stop, __ldcg(&all[i].stops_before));
            }
            met.total = warp_reduce_add(met.total);
            met.most = warp_reduce_max(met.most);
            met.before = warp_reduce_add(met.before);
            met.stop = -warp_reduce_max(-met.stop);
            if (lane == 0) local.met = met;
        }
        turn ^= 1;
        Deep::barrier();
    }

    // Have some blocks a quarter more chunks than others, and more edges than threads?
    __device__ __forceinline__ bool is_uneven() const {
        const int size = static_cast<int>(gridDim.x);
        return local.met.most * CHUNK > Deep::SIZE && local.met.most * size > local.met.total / 4 * 5;
    }

    // Copy what is in the queue into memory that all blocks share, where all chunks together lie in the order of the
    // blocks. Returns where the even share of this block begins there; `even_share` is its length, but for the last.
    __device__ __forceinline__ int copy_to(Chunk* shared) {
        Chunk* const mine = shared + local.met.before;
        for (int i = threadIdx.x; i < filled; i += Deep::SIZE) mine[i] = queue[i];
        Deep::barrier();
        if (threadIdx.x == 0) grid_barrier(&state->arrived);
        Deep::barrier();
        return static_cast<int>(blockIdx.x) * even_share();
    }

    __device__ __forceinline__ int even_share() const {
        const int size = static_cast<int>(gridDim.x);
        return (local.met.total + size - 1) / size;
    }
};
