// All inline PTX of the kernels, each piece beside its equivalent on the host.
//
// Without __CUDA_ARCH__ the kernels are compiled by the host's compiler and run without a GPU, see
// tests/kernels/host_cuda, which implements CUDA's own functions; `on_host` has those that only PTX offers.
#pragma once

// Add, with acquire and release semantics for the whole GPU. Returns the value before.
__device__ inline unsigned atomic_add_acq_rel(unsigned* address, unsigned value) {
#ifdef __CUDA_ARCH__
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
    return before;
#else
    return atomicAdd(address, value);
#endif
}

__device__ inline unsigned long long atomic_add_acq_rel(unsigned long long* address, unsigned long long value) {
#ifdef __CUDA_ARCH__
    unsigned long long before;
    asm volatile("atom.add.acq_rel.gpu.u64 %0, [%1], %2;" : "=l"(before) : "l"(address), "l"(value) : "memory");
    return before;
#else
    return atomicAdd(address, value);
#endif
}

// Load, with acquire semantics: what other blocks wrote before their release is seen after.
__device__ inline unsigned load_acquire(const unsigned* address) {
#ifdef __CUDA_ARCH__
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(address) : "memory");
    return now;
#else
    return __ldcg(address);
#endif
}

// Release what this thread wrote before, or acquired from others, to all GPUs and the host: any thread that acquires a
// value that this one stores afterwards sees it.
__device__ inline void release_system() {
#ifdef __CUDA_ARCH__
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
    __threadfence_system();
#endif
}

// Store into the memory of any GPU, all 8 bytes at once, and load what another GPU may store, without any order.
__device__ inline void store_relaxed_system(unsigned long long* address, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
    on_host::store_relaxed(address, value);
#endif
}

__device__ inline unsigned long long load_relaxed_system(const unsigned long long* address) {
#ifdef __CUDA_ARCH__
    unsigned long long now;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(address) : "memory");
    return now;
#else
    return on_host::load_relaxed(address);
#endif
}

// Load what another GPU may store, with acquire semantics.
__device__ inline unsigned long long load_acquire_system(const unsigned long long* address) {
#ifdef __CUDA_ARCH__
    unsigned long long now;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(address) : "memory");
    return now;
#else
    return on_host::load_acquire(address);
#endif
}

// Atomics without a result (PTX: red).
__device__ inline void reduce_min(unsigned* address, unsigned value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
#else
    atomicMin(address, value);
#endif
}

__device__ inline void reduce_min(unsigned long long* address, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.min.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
    atomicMin(address, value);
#endif
}

__device__ inline void reduce_or(unsigned* address, unsigned bits) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(address), "r"(bits) : "memory");
#else
    atomicOr(address, bits);
#endif
}

__device__ inline void reduce_add(unsigned long long* address, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
    atomicAdd(address, value);
#endif
}

__device__ inline void prefetch(const void* address) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Wait for the first COUNT threads of the block, which are whole warps.
template <int COUNT>
__device__ inline void named_barrier() {
#ifdef __CUDA_ARCH__
    asm volatile("bar.sync 1, %0;" ::"n"(COUNT) : "memory");
#else
    on_host::named_barrier(COUNT);
#endif
}

__device__ inline unsigned long long nanoseconds() {
#ifdef __CUDA_ARCH__
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return on_host::nanoseconds();
#endif
}
