// Threads over the arcs of a CSR, each with the row of its arc.
#pragma once

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int RUN = 8 * WARP;  // arcs that a warp takes at a time

// The row in low..high that has this arc: the last that begins at or before it.
template <typename Offset>
__device__ inline long long row_of(const Offset* offsets, long long low, long long high, long long arc) {
    while (low < high) {
        const long long middle = (low + high + 1) / 2;
        if (offsets[middle] <= arc) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Call visit(place, row) for each of `count` arcs from `first` on, `place` counting from 0; neighbouring lanes of a
// warp have neighbouring arcs. The rows of a run are found among those of its ends.
template <typename Offset, typename Visit>
__device__ inline void for_each_arc(const Offset* offsets, long long n, long long first, long long count, Visit visit) {
    const long long stride = threads_of_grid() / WARP * RUN;
    for (long long run = thread_of_grid() / WARP * RUN; run < count; run += stride) {
        const long long stop = min(run + RUN, count);
        const long long low = row_of(offsets, 0, n - 1, first + run);
        const long long high = row_of(offsets, low, n - 1, first + stop - 1);
        for (long long place = run + threadIdx.x % WARP; place < stop; place += WARP) {
            visit(place, row_of(offsets, low, high, first + place));
        }
    }
}
