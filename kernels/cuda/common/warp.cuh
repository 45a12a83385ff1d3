// Lanes of a warp, and reductions and scans over warps and blocks.
#pragma once

constexpr int WARP = 32;
constexpr unsigned ALL = ~0u;  // the lanes of a warp

__device__ inline int lane_id() { return threadIdx.x % WARP; }

__device__ inline unsigned lanes_below() { return (1u << lane_id()) - 1; }

__device__ inline unsigned warp_reduce_or(unsigned bits) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    for (int distance = WARP / 2; distance; distance /= 2) bits |= __shfl_xor_sync(ALL, bits, distance);
    return bits;
#endif
}

__device__ inline int warp_reduce_add(int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, value);
#else
    for (int distance = WARP / 2; distance; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    return value;
#endif
}

__device__ inline int warp_reduce_max(int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, value);
#else
    for (int distance = WARP / 2; distance; distance /= 2) value = max(value, __shfl_xor_sync(ALL, value, distance));
    return value;
#endif
}

// The sum over the lanes up to and including this one.
template <typename Integer>
__device__ inline Integer warp_inclusive_scan(Integer value) {
    for (int distance = 1; distance < WARP; distance *= 2) {
        const Integer below = __shfl_up_sync(ALL, value, distance);
        if (lane_id() >= distance) value += below;
    }
    return value;
}

// The sum over all lanes, in every lane.
__device__ inline unsigned long long warp_sum(unsigned long long value) {
    return __shfl_sync(ALL, warp_inclusive_scan(value), WARP - 1);
}

// The sum over the threads of the block below this one, and in `total` over all. `totals` has room for a number per
// warp; the block must pass a barrier before it is used again.
template <typename Integer>
__device__ inline Integer block_exclusive_scan(Integer value, Integer* totals, Integer& total) {
    const int warps = blockDim.x / WARP;
    const Integer inclusive = warp_inclusive_scan(value);
    if (lane_id() == WARP - 1) totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    const Integer each = warp_inclusive_scan(lane_id() < warps ? totals[lane_id()] : Integer(0));
    const Integer below = __shfl_sync(ALL, each, (threadIdx.x / WARP + WARP - 1) % WARP);
    total = __shfl_sync(ALL, each, WARP - 1);
    return inclusive - value + (threadIdx.x < WARP ? 0 : below);
}
