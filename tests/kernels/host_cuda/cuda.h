// The parts of CUDA C++ that the kernels use, implemented by `on_host`. Included before the text of a kernel file.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "on_host.h"

#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

struct alignas(16) int4 {
    int x, y, z, w;
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

using cudaTextureObject_t = unsigned long long;  // the address of an array

template <typename T>
T tex1Dfetch(cudaTextureObject_t texture, int place) {
    return reinterpret_cast<const T*>(texture)[place];
}

template <typename A, typename B>
std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(b) < static_cast<T>(a) ? b : a;
}

template <typename A, typename B>
std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(a) < static_cast<T>(b) ? b : a;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __clz(int bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __clzll(long long bits) { return bits ? __builtin_clzll(bits) : 64; }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<std::uint64_t>(a) * b >> 32; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }

template <typename T>
T __ldg(const T* place) {
    return *place;
}

template <typename T>
T __ldcs(const T* place) {
    return *place;
}

template <typename T>
T __ldcg(const T* place) {
    on_host::pause();
    return *place;
}

[[noreturn]] inline void __trap() { on_host::fail("the kernel called __trap"); }
inline void __threadfence() { on_host::pause(); }
inline void __threadfence_system() { on_host::pause(); }

template <typename T, typename Change>
T change_at_once(T* place, Change change) {
    on_host::pause();
    const T before = *place;
    *place = change(before);
    return before;
}

template <typename T>
using Same = std::enable_if_t<true, T>;  // a parameter of this type takes no part in template argument deduction

template <typename T>
T atomicAdd(T* place, Same<T> value) {
    return change_at_once(place, [=](T before) { return static_cast<T>(before + value); });
}

template <typename T>
T atomicMin(T* place, Same<T> value) {
    return change_at_once(place, [=](T before) { return min(before, value); });
}

template <typename T>
T atomicMax(T* place, Same<T> value) {
    return change_at_once(place, [=](T before) { return max(before, value); });
}

template <typename T>
T atomicOr(T* place, Same<T> bits) {
    return change_at_once(place, [=](T before) { return before | bits; });
}

template <typename T>
T atomicExch(T* place, Same<T> value) {
    return change_at_once(place, [=](T) { return value; });
}

template <typename T>
T atomicCAS(T* place, Same<T> expected, Same<T> value) {
    return change_at_once(place, [=](T before) { return before == expected ? value : before; });
}

inline unsigned atomicInc(unsigned* place, unsigned last) {
    return change_at_once(place, [=](unsigned before) { return before >= last ? 0 : before + 1; });
}

inline void whole_warp(unsigned mask) {
    if (mask != ~0u) on_host::fail("some lanes of a warp meet without the others");
}

inline void __syncwarp() { on_host::meet_warp(on_host::SYNC_WARP); }

inline unsigned __ballot_sync(unsigned mask, bool vote) {
    whole_warp(mask);
    return on_host::combine_warp(on_host::VOTE, static_cast<std::int64_t>(vote) << threadIdx.x % on_host::WARP);
}

inline bool __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
inline bool __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) == ~0u; }

inline unsigned __reduce_or_sync(unsigned mask, unsigned bits) {
    whole_warp(mask);
    return on_host::combine_warp(on_host::OR, bits);
}

inline int __reduce_add_sync(unsigned mask, int value) {
    whole_warp(mask);
    const std::int64_t sum = on_host::combine_warp(on_host::ADD, value);
    if (sum != static_cast<int>(sum)) on_host::fail("the sum over a warp is no int");
    return static_cast<int>(sum);
}

inline int __reduce_max_sync(unsigned mask, int value) {
    whole_warp(mask);
    return static_cast<int>(on_host::combine_warp(on_host::MAX, value));
}

// `lane_of(mine)` is the lane whose value this one gets.
template <typename T, typename LaneOf>
T shuffled(unsigned mask, T value, LaneOf lane_of) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    whole_warp(mask);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    const std::uint64_t* const words = on_host::meet_warp(on_host::SHUFFLE, word);
    std::memcpy(&value, words + lane_of(threadIdx.x % on_host::WARP), sizeof(T));
    return value;
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int lane) {
    return shuffled(mask, value, [=](unsigned) { return static_cast<unsigned>(lane) % on_host::WARP; });
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, unsigned lanes) {
    return shuffled(mask, value, [=](unsigned mine) { return mine ^ lanes; });
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance) {
    return shuffled(mask, value, [=](unsigned mine) { return mine < distance ? mine : mine - distance; });
}

inline void __syncthreads() { on_host::combine_block(on_host::SYNC_BLOCK); }

inline int __syncthreads_count(bool vote) {
    return static_cast<int>(on_host::combine_block(on_host::COUNT_BLOCK, vote));
}

inline bool __syncthreads_or(bool vote) { return __syncthreads_count(vote) != 0; }
