// Bitmaps over vertices, in words of 32 bits.
#pragma once

#include "warp.cuh"

__device__ inline unsigned word_of(int vertex) { return static_cast<unsigned>(vertex) >> 5; }

__device__ inline unsigned long long word_of(long long vertex) { return static_cast<unsigned long long>(vertex) >> 5; }

template <typename Vertex>
__device__ inline unsigned bit_of(Vertex vertex) {
    return 1u << (vertex & 31);
}

template <typename Vertex>
__device__ inline bool test(const unsigned* bitmap, Vertex vertex) {
    return bitmap[word_of(vertex)] & bit_of(vertex);
}

// Set a bit; was it set before?
template <typename Vertex>
__device__ inline bool test_and_set(unsigned* bitmap, Vertex vertex) {
    return atomicOr(bitmap + word_of(vertex), bit_of(vertex)) & bit_of(vertex);
}

// List the set bits of the words that the lanes hold, in order, as base + lane * 32 + bit. Returns how many there are.
__device__ inline int list_bits(unsigned bits, unsigned short* list, int base = 0) {
    const int end = warp_inclusive_scan(__popc(bits));
    unsigned short* next = list + (end - __popc(bits));
    for (base += lane_id() * WARP; bits; bits &= bits - 1) *next++ = base + __ffs(bits) - 1;
    __syncwarp();
    return __shfl_sync(ALL, end, WARP - 1);
}
