// Masks of bools, a byte each, as bitmaps.
#pragma once

#include "bitmap.cuh"

// The nonzero bytes among four, as bits.
__device__ inline unsigned nonzero_bytes(unsigned four) {
    four |= four >> 4;
    four |= four >> 2;
    four |= four >> 1;
    return (four & 0x01010101u) * 0x01020408u >> 24 & 15u;
}

// The bits of a mask from `first` on; 1 past its end.
__device__ inline unsigned word_of_mask(const unsigned char* mask, long long first, long long length) {
    unsigned bits = 0;
    if (first + WARP <= length && reinterpret_cast<unsigned long long>(mask) % sizeof(uint4) == 0) {
        const uint4* const bytes = reinterpret_cast<const uint4*>(mask + first);
        const uint4 low = __ldg(bytes), high = __ldg(bytes + 1);
        bits = nonzero_bytes(low.x) | nonzero_bytes(low.y) << 4 | nonzero_bytes(low.z) << 8 |
               nonzero_bytes(low.w) << 12 | nonzero_bytes(high.x) << 16 | nonzero_bytes(high.y) << 20 |
               nonzero_bytes(high.z) << 24 | nonzero_bytes(high.w) << 28;
    } else {
        for (int i = 0; i < WARP; ++i) bits |= (first + i >= length || mask[first + i] != 0 ? 1u : 0u) << i;
    }
    return bits;
}
