// Chunks of edges, of which queues in shared memory consist, for small levels.
#pragma once

#include "../common/chunks.cuh"
#include "parameters.cuh"

constexpr int MAX_LEVELS = 1 << 20;  // before the grid meets again, so that the others see some progress
constexpr int HERE = -1;             // no place in `targets`

// Up to CHUNK edges of a vertex, in a queue in shared memory. `rest` counts the edges from `first` to the end of the
// vertex's row; it is negated in all chunks of a vertex but the first, and 0 where there is nothing. Where `first` is
// HERE, the neighbours themselves are `neighbors`, -1 in place of the one that the vertex was reached from.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
struct alignas(16) Chunk {
    Offset first, rest;
    Vertex vertex, neighbors[SMALL_ROWS ? GROUP : 1];
};

// Load COUNT edges of a chunk from number `part` on, where it is `inside` its queue: which of them are there, and to
// which neighbours. Returns the vertex that they leave.
template <int COUNT, bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ Vertex load_edges(const Search<Vertex, Offset>& s,
                                             const Chunk<SMALL_ROWS, Vertex, Offset>* chunk, bool inside, int part,
                                             bool (&there)[COUNT], Vertex (&neighbor)[COUNT]) {
    Offset first = 0, rest = 0;
    Vertex vertex = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) neighbor[k] = 0;
    if (inside) {
        first = chunk->first, rest = abs(chunk->rest), vertex = chunk->vertex;
        if constexpr (SMALL_ROWS) {
#pragma unroll
            for (int k = 0; k < COUNT; ++k) neighbor[k] = chunk->neighbors[part + k];
        }
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        there[k] = part + k < rest;
        if (there[k] && !(SMALL_ROWS && first == HERE)) neighbor[k] = __ldg(s.targets + first + part + k);
        if (SMALL_ROWS) there[k] = there[k] && neighbor[k] >= 0;
    }
    return vertex;
}

// Append this block's part of the frontier that is in the queue of the whole grid from `begin` on: it is number `rank` of
// `size` blocks, with SIZE threads each. `count` counts its chunks.
template <int SIZE, typename NoRoom, bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ void load_chunks(const Search<Vertex, Offset>& s, Chunk<SMALL_ROWS, Vertex, Offset>* queue,
                                            int* count, const NoRoom& no_room, long long begin, Frontier frontier,
                                            int rank, int size) {
    const auto reserve = [=](int total) {
        int start = 0;
        if (total && lane_id() == 0) start = atomicAdd(count, total);
        return __shfl_sync(ALL, start, 0);
    };
    const int lane = lane_id(), warp_begin = threadIdx.x / WARP * WARP;
    for (long long i = rank * SIZE + warp_begin; i < frontier.vertices; i += size * SIZE) {
        const bool keep[1] = {i + lane < frontier.vertices};
        Chunk<SMALL_ROWS, Vertex, Offset> chunk[1] = {};
        if (keep[0]) {
            const Entry<Offset>* const entry = s.queue + begin + i + lane;
            const long long next = i + lane + 1 < frontier.vertices ? entry[1].prefix : frontier.edges;
            chunk[0].vertex = s.queued[begin + i + lane];
            chunk[0].first = entry->prefix + entry->shift;
            chunk[0].rest = static_cast<Offset>(next - entry->prefix);
        }
        append_chunks(s.capacity, queue, reserve, no_room, keep, chunk);
    }
}
