// The rules of a BFS answer that concern edges, one thread per arc.
//
//   offsets[n + 1], targets[m]    the graph
//   distances[n]                  -1 where unreached
//   predecessors[n]               -1 where there is none; null if they were not kept
//   confirmed[n]                  set where an arc leads to a vertex from its predecessor (from any vertex one level up
//                                 if predecessors were not kept)
//   breakers[2]                   the first vertex that is more than one level below an in-neighbour, and the first
//                                 that is unreached while an in-neighbour above the level `stopped_at` is reached; the
//                                 host starts them at n
//
// Work: for each arc its target, and the distance and the predecessor of that.
// Races: threads that confirm a vertex store the same.

#include "rows.cuh"

template <typename Vertex, typename Offset>
__global__ void check(const Offset* offsets, const Vertex* targets, long long n, long long m, const int* distances,
                      const Vertex* predecessors, long long stopped_at, bool* confirmed, long long* breakers) {
    for_each_arc(offsets, n, 0, m, [=](long long arc, long long row) {
        const int level = distances[row];
        if (level < 0) return;
        const Vertex target = targets[arc];
        const int below = distances[target];
        if (below > level + 1) {
            atomicMin(breakers, static_cast<long long>(target));
        } else if (below < 0 && level < stopped_at) {
            atomicMin(breakers + 1, static_cast<long long>(target));
        }
        if (predecessors ? predecessors[target] == row : below == level + 1) confirmed[target] = true;
    });
}
