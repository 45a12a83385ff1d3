// Threads over the arcs of a CSR, each with the row of its arc, and warps that move along them with a window of rows.
#pragma once

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int RUN = 8 * WARP;        // arcs that a warp takes at a time,
constexpr int LONG_RUN = 64 * WARP;  // and with a window of rows

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

// 32 successive rows, one for each lane of a warp, of a CSR of n rows and m arcs. A warp that moves along the arcs moves
// the window with them. All lanes call its functions together.
template <typename Offset>
struct RowWindow {
    const Offset* offsets;
    long long n, m;
    long long row = 0;          // of the first lane
    Offset begin = 0, end = 0;  // of the row of this lane; m past the last row

    // The arc at which the rows of the window end.
    __device__ Offset last() const { return __shfl_sync(ALL, end, WARP - 1); }

    // Begin with the row of this arc. A step compares 32 rows.
    __device__ void seek(long long arc) { move(row_of_warp(0, arc)); }

    // Go on to the rows after these, of which there must be one with arcs. There may be many rows without arcs: the
    // window skips them.
    __device__ void advance() {
        const Offset next = last();
        move(row + WARP);
        if (last() == next) move(row_of_warp(row, next));
    }

    // The row of the arc of this lane, which must be in the window.
    __device__ long long row_of_lane(Offset arc) const {
        int lane = 0;
        for (int step = WARP / 2; step; step /= 2) lane += __shfl_sync(ALL, begin, lane + step) <= arc ? step : 0;
        return row + lane;
    }

private:
    __device__ void move(long long to) {
        row = to;
        const long long mine = row + lane_id();
        begin = mine < n ? offsets[mine] : static_cast<Offset>(m);
        end = mine < n ? offsets[mine + 1] : static_cast<Offset>(m);
    }

    __device__ long long row_of_warp(long long low, long long arc) const {
        for (long long rows = n - low; rows > 1;) {
            const long long step = (rows + WARP - 1) / WARP;
            const long long place = lane_id() * step;
            const bool before = place < rows && offsets[low + place] <= arc;
            const long long passed = (__popc(__ballot_sync(ALL, before)) - 1) * step;
            low += passed;
            rows = min(step, rows - passed);
        }
        return low;
    }
};
