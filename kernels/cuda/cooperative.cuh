// What a search in one cooperative launch is built from: warps, bitmaps, queues with prefix sums, the grid's barrier.

#include "grid.cuh"

constexpr int GROUP = 4;           // neighbours that lie together in memory

using Counter = unsigned long long;  // vertices << edge_bits | edges

struct Frontier {
    long long vertices, edges;
};

template <typename Offset>
struct alignas(2 * sizeof(Offset)) Entry {
    Offset prefix;  // edges of the level before this vertex
    Offset shift;   // what to add to an edge's number in the level for its place in `targets`
};

__device__ inline Counter packed(long long vertices, long long edges, int edge_bits) {
    return static_cast<Counter>(vertices) << edge_bits | static_cast<Counter>(edges);
}

__device__ inline Frontier unpacked(Counter counter, int edge_bits) {
    return {static_cast<long long>(counter >> edge_bits), static_cast<long long>(counter & ((1ull << edge_bits) - 1))};
}

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

__device__ inline int lane_id() { return threadIdx.x % WARP; }

__device__ inline unsigned lanes_below() { return (1u << lane_id()) - 1; }

__device__ inline unsigned reduce_or(unsigned bits) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    for (int distance = WARP / 2; distance; distance /= 2) bits |= __shfl_xor_sync(ALL, bits, distance);
    return bits;
#endif
}

__device__ inline int reduce_add(int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, value);
#else
    for (int distance = WARP / 2; distance; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    return value;
#endif
}

__device__ inline int reduce_max(int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, value);
#else
    for (int distance = WARP / 2; distance; distance /= 2) value = max(value, __shfl_xor_sync(ALL, value, distance));
    return value;
#endif
}

template <typename T>
__device__ inline void swap(T& a, T& b) {
    const T kept = a;
    a = b;
    b = kept;
}

constexpr int NUMBER_SHIFT = 32, LEVELS_SHIFT = 1;  // in `status`, whose lowest bit says that a search was given up

// End a search: the last block to come here tells the host, in one write, which it was and how many levels it had.
template <typename State>
__device__ inline void report(State* state, volatile long long* status, long long number, int levels, bool given_up) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(&state->finished, gridDim.x - 1) == gridDim.x - 1) {
            *status = number << NUMBER_SHIFT | static_cast<long long>(levels) << LEVELS_SHIFT | given_up;
        }
    }
}

// The sum over the lanes up to this one.
template <typename Integer>
__device__ inline Integer inclusive_scan(Integer value) {
    for (int distance = 1; distance < WARP; distance *= 2) {
        const Integer below = __shfl_up_sync(ALL, value, distance);
        if (lane_id() >= distance) value += below;
    }
    return value;
}

// The sum over the threads of the block below this one, and over all. `totals` has room for a number a warp; the block
// must meet at a barrier before it is used again.
__device__ inline Counter exclusive_scan_of_block(Counter value, Counter* totals, Counter& total) {
    const int warps = blockDim.x / WARP;
    const Counter inclusive = inclusive_scan(value);
    if (lane_id() == WARP - 1) totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    const Counter each = inclusive_scan(lane_id() < warps ? totals[lane_id()] : Counter(0));
    const Counter below = __shfl_sync(ALL, each, (threadIdx.x / WARP + WARP - 1) % WARP);
    total = __shfl_sync(ALL, each, WARP - 1);
    return inclusive - value + (threadIdx.x < WARP ? 0 : below);
}

// The sum over the lanes, in every lane.
__device__ inline Counter sum_of_warp(Counter value) { return __shfl_sync(ALL, inclusive_scan(value), WARP - 1); }

// The bounds of the rows of these vertices; 0 where they are not wanted. The loads stand in a loop of their own, so that
// all are on their way before the first is waited for.
template <int COUNT, typename Vertex, typename Offset>
__device__ inline void load_rows(const Offset* offsets, const bool (&wanted)[COUNT], const Vertex (&vertex)[COUNT],
                                 Offset (&first)[COUNT], Offset (&last)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        first[k] = last[k] = 0;
        if (wanted[k]) {
            first[k] = __ldg(offsets + vertex[k]);
            last[k] = __ldg(offsets + vertex[k] + 1);
        }
    }
}

// The lane whose entry has this lane's edge, where the entries of a window begin `start` edges from that of lane 0. Each
// that begins within these 32 marks its first edge; the marks up to an edge count to its owner.
template <typename Integer>
__device__ inline int owner_of(Integer start) {
    const int before = __popc(__ballot_sync(ALL, start <= 0)) - 1;
    const unsigned marks = reduce_or(start > 0 && start < WARP ? 1u << start : 0);
    return (before + __popc(marks & (lanes_below() << 1 | 1))) % WARP;
}

// The slot of the vertex that has this edge of the level: the last whose prefix is at most `edge`. 32 slots are looked
// at at a time.
template <typename Offset>
__device__ inline long long slot_of(const Entry<Offset>* frontier, long long vertices, long long edge) {
    long long slot = 0;
    while (vertices > 1) {
        const long long step = (vertices + WARP - 1) / WARP;
        const long long place = lane_id() * step;
        const bool before = place < vertices && frontier[slot + place].prefix <= edge;
        const long long passed = (__popc(__ballot_sync(ALL, before)) - 1) * step;
        slot += passed;
        vertices = min(step, vertices - passed);
    }
    return slot;
}

// List the set bits of the words that the lanes hold, in order, as base + word * 32 + bit; return how many there are.
__device__ inline int list_bits(unsigned bits, unsigned short* list, int base = 0) {
    const int until = inclusive_scan(__popc(bits));
    unsigned short* place = list + (until - __popc(bits));
    for (base += lane_id() * WARP; bits; bits &= bits - 1) *place++ = base + __ffs(bits) - 1;
    __syncwarp();
    return __shfl_sync(ALL, until, WARP - 1);
}

__device__ inline void load_whole_group(const int* targets, long long group, int (&loaded)[GROUP]) {
    const int4 four = __ldg(reinterpret_cast<const int4*>(targets) + group);
    loaded[0] = four.x, loaded[1] = four.y, loaded[2] = four.z, loaded[3] = four.w;
}

__device__ inline void load_whole_group(const long long* targets, long long group, long long (&loaded)[GROUP]) {
#pragma unroll
    for (int i = 0; i < GROUP; ++i) loaded[i] = __ldg(targets + group * GROUP + i);
}

// A group of in-neighbours, if it begins before `last`; what lies past the end of `targets` is 0.
template <typename Offset>
__device__ inline void load_group(const int* targets, long long group, Offset last, long long m, int (&loaded)[GROUP]) {
    const long long place = group * GROUP;
    int4 four = {0, 0, 0, 0};
    if (place < last && place + GROUP <= m) four = __ldg(reinterpret_cast<const int4*>(targets) + group);
    if (place < last && place + GROUP > m) {
        four.x = __ldg(targets + place);
        if (place + 1 < m) four.y = __ldg(targets + place + 1);
        if (place + 2 < m) four.z = __ldg(targets + place + 2);
    }
    loaded[0] = four.x, loaded[1] = four.y, loaded[2] = four.z, loaded[3] = four.w;
}

template <typename Offset>
__device__ inline void load_group(const long long* targets, long long group, Offset last, long long,
                                  long long (&loaded)[GROUP]) {
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
        loaded[i] = 0;
        if (group * GROUP + i < last) loaded[i] = __ldg(targets + group * GROUP + i);
    }
}
