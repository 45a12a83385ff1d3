// Global ids of vertices in a distributed graph, and edges on their way to the ranks that own them.
//
//   ids[count], global_ids[count]     ids 0..n-1, scrambled and then distributed cyclically: global id g is local id
//                                     g % stride of rank g / stride; -1 for values that are neither
//   sources[count], targets[count]    edges between global ids
//   counts[partitions]                the number of arcs that each rank owns, by their sources
//   starts[partitions + 1]            where in `arcs` the bucket of each rank begins, in arcs of two entries each
//   cursors[partitions]               how many arcs of each bucket have been written; zero at first
//   arcs                              a bucket for each rank: the local ids of sources, then the targets
//   local_ids[count], targets[count]  arcs that a rank has received; local ids from `own` on are skipped
//   rows[capacity]                    its rows; nothing is written beyond them, even if edges changed since the count
//
// Work: one pass over the edges to count, one to write. Lanes of a warp whose arcs go to the same rank share an atomic.
// Races: none but atomics. Source of the scramble: the finaliser of splitmix64, on as many bits as n has; a result that
// is not below n is scrambled again. From a value that was not below n at first, that might not end.

#include "../common/grid.cuh"
#include "../common/warp.cuh"
#include "../graph/tally.cuh"

using Bits = unsigned long long;

constexpr int MAX_PARTITIONS = 256;
constexpr int ROUNDS = 2;

// As in kernels/cpu/distributed.py.
__device__ inline Bits multiplier(int round) { return round ? 0xBF58476D1CE4E5B9ull : 0x9E3779B97F4A7C15ull; }

__device__ inline Bits summand(int round) { return round ? 0xD6E8FEB86659FD93ull : 0x94D049BB133111EBull; }

// The inverse of the multiplier modulo 2^64, by Newton's iteration: each doubles the bits that are right.
__device__ inline Bits inverse(int round) {
    const Bits odd = multiplier(round);
    Bits found = odd;  // right in three bits
    for (int i = 0; i < 5; ++i) found *= 2 - odd * found;
    return found;
}

// A permutation of 0..n-1.
struct Scramble {
    Bits n, mask;
    int half;  // of the bits of the mask

    __device__ explicit Scramble(long long count) : n(count) {
        const int bits = n > 2 ? 64 - __clzll(static_cast<long long>(n - 1)) : 1;
        mask = (1ull << bits) - 1;
        half = (bits + 1) / 2;
    }

    __device__ Bits there(Bits x) const {
        do {
            for (int round = 0; round < ROUNDS; ++round) {
                x = (x * multiplier(round) + summand(round)) & mask;
                x ^= x >> half;
            }
        } while (x >= n);
        return x;
    }

    __device__ Bits back(Bits x) const {
        do {
            for (int round = ROUNDS - 1; round >= 0; --round) {
                x ^= x >> half;
                x = (x - summand(round)) * inverse(round) & mask;
            }
        } while (x >= n);
        return x;
    }
};

template <typename Id, typename Vertex>
__global__ void to_global_ids(const Id* ids, long long count, long long n, long long partitions, long long stride,
                              Vertex* global_ids) {
    const Scramble scramble(n);
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const Bits id = static_cast<Bits>(ids[i]);
        if (id >= scramble.n) {
            global_ids[i] = -1;
            continue;
        }
        const Bits x = scramble.there(id);
        global_ids[i] = static_cast<Vertex>(x % partitions * stride + x / partitions);
    }
}

// The inverse of `to_global_ids`.
template <typename Vertex, typename Id>
__global__ void to_ids(const Vertex* global_ids, long long count, long long n, long long partitions, long long stride,
                       Id* ids) {
    const Scramble scramble(n);
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const Bits g = static_cast<Bits>(global_ids[i]), owner = g / stride, x = g % stride * partitions + owner;
        const bool used = owner < static_cast<Bits>(partitions) && x < scramble.n;
        ids[i] = used ? static_cast<Id>(scramble.back(x)) : -1;
    }
}

// Call visit(wanted, partition of the source, source, target) for each arc that `count` edges make, by whole warps: with
// `mirror` in both directions, self-loops once, and unless `loops` not at all.
template <typename Vertex, typename Visit>
__device__ inline void for_each_arc_of(const Vertex* sources, const Vertex* targets, long long count, long long stride,
                                       long long mirror, long long loops, const Visit& visit) {
    for (long long start = thread_of_grid() - lane_id(); start < count; start += threads_of_grid()) {
        const bool inside = start + lane_id() < count;
        const Vertex u = inside ? sources[start + lane_id()] : 0;
        const Vertex v = inside ? targets[start + lane_id()] : 0;
        visit(inside && (loops || u != v), static_cast<int>(u / stride), u, v);
        if (mirror) visit(inside && u != v, static_cast<int>(v / stride), v, u);
    }
}

// Add to the counts of arcs.
template <typename Vertex>
__global__ void count_owners(const Vertex* sources, const Vertex* targets, long long count, long long stride,
                             long long mirror, long long loops, long long partitions, unsigned long long* counts) {
    __shared__ unsigned long long mine[MAX_PARTITIONS];
    for (int partition = threadIdx.x; partition < partitions; partition += blockDim.x) mine[partition] = 0;
    __syncthreads();
    for_each_arc_of(sources, targets, count, stride, mirror, loops, [&](bool wanted, int partition, Vertex, Vertex) {
        for (unsigned left = __ballot_sync(ALL, wanted); left;) {
            const int leader = __ffs(left) - 1;
            const int chosen = __shfl_sync(ALL, partition, leader);
            const unsigned same = __ballot_sync(ALL, wanted && partition == chosen);
            if (lane_id() == leader) atomicAdd(mine + chosen, static_cast<unsigned long long>(__popc(same)));
            left &= ~same;
        }
    });
    __syncthreads();
    for (int partition = threadIdx.x; partition < partitions; partition += blockDim.x) {
        if (mine[partition]) atomicAdd(counts + partition, mine[partition]);
    }
}

// Write the arcs into the buckets of their owners.
template <typename Vertex>
__global__ void bucket_by_owner(const Vertex* sources, const Vertex* targets, long long count, long long stride,
                                long long mirror, long long loops, const long long* starts, unsigned long long* cursors,
                                Vertex* arcs) {
    const auto write = [&](bool wanted, int partition, Vertex source, Vertex target) {
        for (unsigned left = __ballot_sync(ALL, wanted); left;) {
            const int leader = __ffs(left) - 1;
            const int chosen = __shfl_sync(ALL, partition, leader);
            const unsigned same = __ballot_sync(ALL, wanted && partition == chosen);
            unsigned long long first = 0;
            if (lane_id() == leader) {
                first = atomicAdd(cursors + chosen, static_cast<unsigned long long>(__popc(same)));
            }
            first = __shfl_sync(ALL, first, leader);
            if (wanted && partition == chosen) {
                const long long size = starts[partition + 1] - starts[partition];
                const long long at =
                    2 * starts[partition] + static_cast<long long>(first) + __popc(same & lanes_below());
                arcs[at] = static_cast<Vertex>(source % stride);
                arcs[at + size] = target;
            }
            left &= ~same;
        }
    };
    for_each_arc_of(sources, targets, count, stride, mirror, loops, write);
}

// Count arcs at the local ids of their sources.
template <typename Vertex>
__global__ void count_arcs(const Vertex* local_ids, long long count, long long own, long long* counts) {
    for (long long start = thread_of_grid() - lane_id(); start < count; start += threads_of_grid()) {
        const long long local_id = start + lane_id() < count ? local_ids[start + lane_id()] : own;
        add(counts, local_id, local_id < own);
    }
}

// Write targets at the cursors of their sources, and advance these.
template <typename Vertex>
__global__ void scatter_targets(const Vertex* local_ids, const Vertex* targets, long long count, long long own,
                                long long capacity, long long* cursors, Vertex* rows) {
    for (long long start = thread_of_grid() - lane_id(); start < count; start += threads_of_grid()) {
        const long long local_id = start + lane_id() < count ? local_ids[start + lane_id()] : own;
        const long long slot = reserve(cursors, local_id, local_id < own);
        if (local_id < own && slot < capacity) rows[slot] = targets[start + lane_id()];
    }
}
