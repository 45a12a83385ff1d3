// What every kernel of one cooperative launch has: warps, and a barrier for all blocks.

#include "ptx.cuh"

constexpr int WARP = 32;
constexpr unsigned ALL = ~0u;      // the lanes of a warp
constexpr int PATIENCE = 1 << 27;  // looks at the barrier before the search is torn down: about a minute

// Wait for all blocks. What any thread of a block wrote before its first thread calls this, with the block's barriers
// around it, is seen by every thread after. Block 0 adds what makes the top bit change, so the count is never set back.
__device__ inline void grid_barrier(unsigned* arrived) {
    const unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    const unsigned before = add_in_order(arrived, step);
    unsigned now;
    int patience = PATIENCE;
    do {
        now = load_in_order(arrived);
        if (--patience == 0) __trap();
    } while (((before ^ now) & 0x80000000u) == 0);
}
