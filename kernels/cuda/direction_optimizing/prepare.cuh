// What the searches of a graph need besides its CSR, made once.
#pragma once

#include "parameters.cuh"

// Fill `hub`, `heavy` and `isolated`: a warp takes 32 vertices, its lanes the in-edges of one after the other.
template <typename Vertex, typename Offset>
__global__ void prepare(Vertex n, Vertex small_rows, const Offset* offsets, const Offset* in_offsets,
                        const Vertex* in_targets, Vertex* hub, Vertex* heavy, unsigned* isolated) {
    constexpr long long ENOUGH = 1 << 16;  // in-edges among which they are searched for
    constexpr int INT_LIMIT = 0x7fffffff;
    const long long warp = thread_of_grid() / WARP;
    const long long warps = threads_of_grid() / WARP;
    for (long long word = warp; word * WARP < n; word += warps) {
        unsigned bits = 0;
        for (int i = 0; i < WARP; ++i) {
            const long long vertex = word * WARP + i;
            if (vertex >= n) {
                bits |= 1u << i;
                continue;
            }
            const long long begin = in_offsets[vertex], all = in_offsets[vertex + 1], end = min(all, begin + ENOUGH);
            if (begin == all && offsets[vertex] == offsets[vertex + 1]) bits |= 1u << i;
            // Each lane keeps the two heaviest of its edges; the heaviest of all lanes are taken one after the other.
            // In rows of up to 64 edges none is missed.
            int heaviest[2] = {-1, -1};
            Vertex candidate[2] = {-1, -1};
            for (long long edge = begin + lane_id(); edge < end; edge += WARP) {
                const Vertex neighbor = in_targets[edge];
                const long long out = offsets[neighbor + 1] - offsets[neighbor];
                const int degree = static_cast<int>(min(out, static_cast<long long>(INT_LIMIT)));
                if (degree > heaviest[0]) {
                    heaviest[1] = heaviest[0], candidate[1] = candidate[0];
                    heaviest[0] = degree, candidate[0] = neighbor;
                } else if (degree > heaviest[1]) {
                    heaviest[1] = degree, candidate[1] = neighbor;
                }
            }
            for (int round = 0; round <= GROUP; ++round) {
                const int max_degree = warp_reduce_max(heaviest[0]);
                const int lane = __ffs(__ballot_sync(ALL, heaviest[0] == max_degree)) - 1;
                if (lane_id() == lane) {
                    const int place = small_rows ? round : round - 1;
                    if (round == 0) hub[vertex] = max_degree < 0 ? static_cast<Vertex>(vertex) : candidate[0];
                    if (place >= 0 && place < GROUP) heavy[vertex * GROUP + place] = candidate[0];
                    if (small_rows && round == GROUP && max_degree >= 0) heavy[vertex * GROUP + GROUP - 1] = MORE;
                    heaviest[0] = heaviest[1], candidate[0] = candidate[1];
                    heaviest[1] = -1, candidate[1] = -1;
                }
                __syncwarp();
            }
        }
        if (lane_id() == 0) isolated[word] = bits;
    }
}
