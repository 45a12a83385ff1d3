// Counting vertices and taking places in their rows. Lanes of a warp that all have the same vertex, as they do in a
// sorted list or at a hub, share one atomic.
#pragma once

#include "../common/warp.cuh"

__device__ inline int atomic_add(int* address, int value) { return atomicAdd(address, value); }

__device__ inline long long atomic_add(long long* address, long long value) {
    return static_cast<long long>(
        atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}

// Do all lanes of the warp have the same vertex, and use it?
template <typename Id>
__device__ inline bool agreed(Id vertex, bool wanted) {
    const Id first = __shfl_sync(ALL, vertex, 0);
    return __all_sync(ALL, wanted && vertex == first);
}

// Count one for the vertex of each lane, where wanted.
template <typename Id, typename Offset>
__device__ inline void add(Offset* counts, Id vertex, bool wanted) {
    if (agreed(vertex, wanted)) {
        if (lane_id() == 0) atomic_add(counts + vertex, static_cast<Offset>(WARP));
    } else if (wanted) {
        atomic_add(counts + vertex, static_cast<Offset>(1));
    }
}

// Reserve the next place in the row of each lane's vertex, where wanted.
template <typename Id, typename Offset>
__device__ inline Offset reserve(Offset* cursors, Id vertex, bool wanted) {
    Offset place = 0;
    if (agreed(vertex, wanted)) {
        if (lane_id() == 0) place = atomic_add(cursors + vertex, static_cast<Offset>(WARP));
        return __shfl_sync(ALL, place, 0) + lane_id();
    }
    if (wanted) place = atomic_add(cursors + vertex, static_cast<Offset>(1));
    return place;
}
