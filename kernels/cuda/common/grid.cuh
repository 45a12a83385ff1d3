// Threads of a grid, and the barrier that all blocks of a cooperative launch meet at.
#pragma once

#include "ptx.cuh"

constexpr int SPIN_LIMIT = 1 << 27;  // loads of the barrier's count before the launch is torn down: about a minute

__device__ inline long long thread_of_grid() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ inline long long threads_of_grid() { return static_cast<long long>(gridDim.x) * blockDim.x; }

// Wait for all blocks. What any thread of a block wrote before its first thread calls this, with the block's barriers
// around it, is seen by every thread after. Block 0 adds what flips the top bit, so the count is never reset. A single
// block needs no more than its own barriers, and so no cooperative launch.
__device__ inline void grid_barrier(unsigned* arrived) {
    if (gridDim.x == 1) return;
    const unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    const unsigned before = atomic_add_acq_rel(arrived, step);
    unsigned now;
    int spins = SPIN_LIMIT;
    do {
        now = load_acquire(arrived);
        if (--spins == 0) __trap();
    } while (((before ^ now) & 0x80000000u) == 0);
}
