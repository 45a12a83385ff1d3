// All inline PTX of the kernels, each piece beside what it means on the host.
//
// Without __CUDA_ARCH__ the kernels are compiled by the host's compiler and run without a GPU, see tests/host_cuda, where
// CUDA's own functions mean what they mean here; `on_host` has what CUDA C++ has no function for.

// Add, and order memory like an acquire and a release of the whole grid; return what was there.
__device__ inline unsigned add_in_order(unsigned* place, unsigned value) {
#ifdef __CUDA_ARCH__
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(place), "r"(value) : "memory");
    return before;
#else
    return atomicAdd(place, value);
#endif
}

__device__ inline unsigned long long add_in_order(unsigned long long* place, unsigned long long value) {
#ifdef __CUDA_ARCH__
    unsigned long long before;
    asm volatile("atom.add.acq_rel.gpu.u64 %0, [%1], %2;" : "=l"(before) : "l"(place), "l"(value) : "memory");
    return before;
#else
    return atomicAdd(place, value);
#endif
}

// Load, and see what other blocks wrote before they stored it.
__device__ inline unsigned load_in_order(const unsigned* place) {
#ifdef __CUDA_ARCH__
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(place) : "memory");
    return now;
#else
    return __ldcg(place);
#endif
}

// Atomics in memory whose result nobody waits for. In kernels with barriers of a cluster the compiler waits for those of
// `atomicMin` and the like, used or not.
__device__ inline void send_min(unsigned* place, unsigned value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
#else
    atomicMin(place, value);
#endif
}

__device__ inline void send_min(unsigned long long* place, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.min.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
#else
    atomicMin(place, value);
#endif
}

__device__ inline void send_or(unsigned* place, unsigned bits) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(place), "r"(bits) : "memory");
#else
    atomicOr(place, bits);
#endif
}

__device__ inline void send_add(unsigned long long* place, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
#else
    atomicAdd(place, value);
#endif
}

__device__ inline void prefetch(const void* address) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Wait for the first COUNT threads of the block, which are whole warps.
template <int COUNT>
__device__ inline void barrier_of_first() {
#ifdef __CUDA_ARCH__
    asm volatile("bar.sync 1, %0;" ::"n"(COUNT) : "memory");
#else
    on_host::barrier_of_first(COUNT);
#endif
}

// Blocks of a cluster.
__device__ inline int cluster_size() {
#ifndef __CUDA_ARCH__
    return on_host::cluster_size();
#else
    unsigned size = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
    return static_cast<int>(size);
#endif
}

// Wait for all blocks of the cluster. What they wrote before, in shared memory too, is seen after.
__device__ inline void cluster_barrier() {
#ifndef __CUDA_ARCH__
    on_host::cluster_barrier();
#elif __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// Wait for all blocks of the cluster. What each wrote before into its own shared memory is seen after; what it wrote
// elsewhere may still be on its way, which compilers before CUDA 12.7 cannot leave open.
__device__ inline void cluster_barrier_of_shared() {
#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1207
    asm volatile(
        "fence.release.sync_restrict::shared::cta.cluster;\n\tbarrier.cluster.arrive.relaxed;\n\t"
        "barrier.cluster.wait.acquire;" ::
            : "memory");
#else
    cluster_barrier();
#endif
}

// Where another block of the cluster has what `mine` is in this block's shared memory.
template <typename T>
__device__ inline T* of_block(T* mine, int rank) {
#ifndef __CUDA_ARCH__
    return on_host::of_block(mine, rank);
#elif __CUDA_ARCH__ >= 900
    T* theirs;
    asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
#else
    return mine;
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
