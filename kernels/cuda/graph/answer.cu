// The answer of a search in its caller's terms: predecessors by their ids, and distances of the same type.
//
//   distances[n], predecessors[n]    as a search writes them, -1 where there is none; each may be null
//   ids[n]                           of the vertices; null if a vertex is its own id
//   as_distances[n], as_ids[n]       the answer; `as_ids` may be the memory of `predecessors`
//
// A predecessor that is no vertex becomes `none`, whatever a search that failed has left there.
//
// Work: each element is read and written once, and each id gathered. Synchronisation and races: none.

#include "../common/grid.cuh"

constexpr int UNROLL = 4;  // elements that a thread has in flight at a time

template <typename Vertex, typename Id>
__global__ void translate(const int* distances, const Vertex* predecessors, const Id* ids, long long n,
                          long long unreached, long long none, Id* as_distances, Id* as_ids) {
    const long long threads = threads_of_grid();
    for (long long start = thread_of_grid(); start < n; start += UNROLL * threads) {
        int distance[UNROLL];
        Vertex vertex[UNROLL];
        Id id[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long i = start + k * threads;
            distance[k] = distances && i < n ? distances[i] : -1;
            vertex[k] = predecessors && i < n ? predecessors[i] : -1;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const bool known = vertex[k] >= 0 && vertex[k] < n;
            id[k] = !known ? static_cast<Id>(none) : ids ? ids[vertex[k]] : static_cast<Id>(vertex[k]);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long i = start + k * threads;
            if (i >= n) continue;
            if (distances) as_distances[i] = distance[k] < 0 ? static_cast<Id>(unreached) : distance[k];
            if (predecessors) as_ids[i] = id[k];
        }
    }
}
