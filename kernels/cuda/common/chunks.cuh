// Queues in shared memory, of chunks of edges, and the threads of a block that expand them.
#pragma once

#include "adjacency.cuh"
#include "frontier.cuh"
#include "ptx.cuh"
#include "search.cuh"

constexpr int CHUNK = GROUP;  // edges of a chunk: a thread for each

// The threads of a block that take part, which are its first.
template <int MOST>
struct FirstThreads {
    static constexpr int SIZE = THREADS < MOST ? THREADS : MOST;

    static __device__ inline void barrier() {
        if (SIZE == THREADS) {
            __syncthreads();
        } else {
            named_barrier<SIZE>();
        }
    }
};

// Append the wanted vertices of this warp, each given as the first of its chunks, to a queue of its block with room for
// `most` chunks, where `reserve`(the number of chunks) says. If there is no room, the warp calls `no_room` instead.
template <int COUNT, typename Reserve, typename NoRoom, typename Chunk>
__device__ inline void append_chunks(long long most, Chunk* queue, const Reserve& reserve, const NoRoom& no_room,
                                     const bool (&keep)[COUNT], const Chunk (&chunk)[COUNT]) {
    const int capacity = static_cast<int>(most);
    int place[COUNT], mine = 0, before = 0, total = 0;
    bool large = false;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const unsigned kept = __ballot_sync(ALL, keep[k]);
        place[k] = mine;
        mine += keep[k];
        before += __popc(kept & lanes_below());
        total += __popc(kept);
        large = large || (keep[k] && chunk[k].rest > CHUNK);
    }
    if (__any_sync(ALL, large)) {  // some have several chunks
        mine = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            place[k] = mine;
            if (keep[k]) mine += min((static_cast<Counter>(chunk[k].rest) + CHUNK - 1) / CHUNK, Counter(capacity + 1));
        }
        const int until = warp_inclusive_scan(mine);
        before = until - mine;
        total = __shfl_sync(ALL, until, WARP - 1);
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) place[k] += before;
    const int start = reserve(total);
    if (total == 0) return;
    if (start + total > capacity) {
#pragma unroll 1
        for (int i = start + lane_id(); i < capacity; i += WARP) queue[i].rest = 0;
        no_room();
        return;
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!keep[k]) continue;
        queue[start + place[k]] = chunk[k];
#pragma unroll 1
        for (decltype(chunk[k].rest) done = CHUNK; done < chunk[k].rest; done += CHUNK) {
            Chunk& next = queue[start + ++place[k]];
            next = chunk[k];
            next.first += done, next.rest = done - chunk[k].rest;
        }
    }
}
