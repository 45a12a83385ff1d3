// Distances from the bit planes.
#pragma once

#include "batch.cuh"

// Turn the planes into distances[k][n], -1 where a source is not: a lane takes a vertex, its warp 64 sources.
template <int WIDTH, typename Vertex, typename Offset>
__global__ void write(const __grid_constant__ Batch<Vertex, Offset> b) {
    constexpr int NEAR = 8;  // planes in registers
    const int bits = min(static_cast<long long>(32 - __clz(b.state->levels)), b.bits);
    const int lane = threadIdx.x % WARP;
    const long long warp = thread_of_grid() / WARP;
    const long long warps = threads_of_grid() / WARP;
    const long long plane_words = b.n * WIDTH;
    for (long long first = warp * WARP; first < b.n; first += warps * WARP) {
        const long long vertex = first + lane;
        const bool is_allowed = vertex < b.n && (!b.allowed || b.allowed[vertex]);
        const long long row = static_cast<long long>(vertex < b.n ? b.rank[vertex] : 0) * WIDTH;
        for (int word = 0; word * BITS < b.k; ++word) {
            const Word* const plane = b.planes + row + word;
            const Word seen = is_allowed ? b.seen[row + word] : 0;
            Word near[NEAR];
#pragma unroll
            for (int i = 0; i < NEAR; ++i) near[i] = i < bits ? plane[i * plane_words] : 0;
            int* distances = b.distances + static_cast<long long>(word) * BITS * b.n + vertex;
            const int sources = static_cast<int>(min(b.k - static_cast<long long>(word) * BITS, 64ll));
            for (int source = 0; source < sources; ++source, distances += b.n) {
                int distance = 0;
#pragma unroll
                for (int i = 0; i < NEAR; ++i) distance |= static_cast<int>(near[i] >> source & 1) << i;
                for (int i = NEAR; i < bits; ++i)
                    distance |= static_cast<int>(plane[i * plane_words] >> source & 1) << i;
                if (vertex < b.n) *distances = seen >> source & 1 ? distance : -1;
            }
        }
    }
}
