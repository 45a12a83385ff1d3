// The rows of a CSR, each sorted in its place in ascending order of the targets.
//
//   offsets[n + 1], targets[m]    the CSR
//   rows[k]                       the rows that `sort_long_rows` sorts; those that `pack` and `unpack` copy
//   places[k + 1], keys[size]     where the arcs of these rows begin in a CSR of them alone; a key for each of its
//                                 arcs from `first` on
//
// A warp sorts a row of at most WARP_ROW targets, a block one of at most BLOCK_BYTES, in shared memory, by a bitonic
// network: log2(size) * (log2(size) + 1) / 2 passes over the row. Longer rows are packed into keys that the host sorts,
// and unpacked. The host chooses rows by the same two limits.
// Work: each target is read and written once, those of longer rows three times. Synchronisation: barriers of the warp or
// block between passes. Races: none, every row has one owner.
//
// Source: K. E. Batcher, Sorting networks and their applications, AFIPS 1968, page 311.

#include "rows.cuh"

constexpr int WARP_ROW = 256;
constexpr int BLOCK_BYTES = 32 << 10;
constexpr int MAX_WARPS = 8;  // of a block

// Sort the targets of a row by `threads` threads, of which this is one, which `barrier` synchronises. In each pass but
// the first of a merge an entry is compared with the one `distance` after it; in the first the second run is taken from
// its end. So the smaller one always moves down, and what would lie beyond the row need not be there.
template <typename Vertex, typename Barrier>
__device__ inline void sort_row(Vertex* targets, int size, Vertex* row, int thread, int threads, Barrier barrier) {
    for (int i = thread; i < size; i += threads) row[i] = targets[i];
    barrier();
    for (int run = 1; run < size; run *= 2) {  // pairs of sorted runs become sorted runs
        for (int distance = run, across = 2 * run - 1; distance; distance /= 2, across = distance) {
            for (int i = thread;; i += threads) {
                const int low = i + (i & -distance);  // whose bit `distance` is 0
                if (low >= size) break;
                const int high = low ^ across;
                if (high < size && row[high] < row[low]) {
                    const Vertex smaller = row[high];
                    row[high] = row[low];
                    row[low] = smaller;
                }
            }
            barrier();
        }
    }
    for (int i = thread; i < size; i += threads) targets[i] = row[i];
    barrier();
}

// Sort each row of at most WARP_ROW targets. A warp takes 32 successive rows.
template <typename Vertex, typename Offset>
__global__ void sort_short_rows(const Offset* offsets, long long n, Vertex* targets) {
    __shared__ Vertex rows[MAX_WARPS * WARP_ROW];
    Vertex* row = rows + threadIdx.x / WARP * WARP_ROW;
    for (long long first = thread_of_grid() - lane_id(); first < n; first += threads_of_grid()) {
        const long long mine = first + lane_id();
        const Offset begin = mine < n ? offsets[mine] : 0;
        const Offset size = mine < n ? offsets[mine + 1] - begin : 0;
        for (unsigned left = __ballot_sync(ALL, 1 < size && size <= WARP_ROW); left; left &= left - 1) {
            const int lane = __ffs(left) - 1;
            const Offset start = __shfl_sync(ALL, begin, lane);
            const int length = static_cast<int>(__shfl_sync(ALL, size, lane));
            sort_row(targets + start, length, row, lane_id(), WARP, [] { __syncwarp(); });
        }
    }
}

// Sort these rows, each of at most BLOCK_BYTES. A block takes one after the other.
template <typename Vertex, typename Offset>
__global__ void sort_long_rows(const Offset* offsets, const long long* rows, long long count, Vertex* targets) {
    __shared__ Vertex row[BLOCK_BYTES / sizeof(Vertex)];
    for (long long i = blockIdx.x; i < count; i += gridDim.x) {
        const Offset begin = offsets[rows[i]];
        const int size = static_cast<int>(offsets[rows[i] + 1] - begin);
        sort_row(targets + begin, size, row, threadIdx.x, blockDim.x, [] { __syncthreads(); });
    }
}

// Keys that sort a block of the arcs of `count` rows: the row's number above `bits` bits of the target.
template <typename Vertex, typename Offset>
__global__ void pack(const Offset* offsets, const Vertex* targets, const long long* rows, const Offset* places,
                     long long count, long long first, long long size, long long bits, long long* keys) {
    for_each_arc(places, count, first, size, [=](long long key, long long row) {
        const long long arc = offsets[rows[row]] + (first + key - places[row]);
        keys[key] = row << bits | static_cast<long long>(targets[arc]);
    });
}

// Write the targets back from sorted keys.
template <typename Vertex, typename Offset>
__global__ void unpack(const Offset* offsets, Vertex* targets, const long long* rows, const Offset* places,
                       long long count, long long first, long long size, long long bits, const long long* keys) {
    for_each_arc(places, count, first, size, [=](long long key, long long row) {
        const long long arc = offsets[rows[row]] + (first + key - places[row]);
        targets[arc] = static_cast<Vertex>(keys[key] & ((1ll << bits) - 1));
    });
}
