// The rules of a BFS answer that concern edges, for the vertices of one rank: one thread for each of their in-edges.
//
//   in_offsets[own + 1], in_targets[m]  in-edges of the rank's vertices, by local id; targets are global ids
//   base                                the global id of local id 0
//   distances[all ids]                  -1 where unreached
//   predecessors[own]                   global ids, -1 where there is none; null if they were not kept
//   confirmed[own]                      set where an arc leads to a vertex from its predecessor (from any vertex one
//                                       level up if predecessors were not kept)
//   above[own]                          the smallest distance from which an arc must not come: more than one level up,
//                                       or above the level `stopped_at` if the vertex is unreached; the host starts it
//                                       at the largest number
//
// Work: for each arc its source's distance. Races: threads that confirm a vertex store the same.

#include "../graph/rows.cuh"

template <typename Vertex, typename Offset>
__global__ void check(const Offset* in_offsets, const Vertex* in_targets, long long own, long long m, long long base,
                      const int* distances, const Vertex* predecessors, long long stopped_at, bool* confirmed,
                      unsigned* above) {
    for_each_arc(in_offsets, own, 0, m, [=](long long arc, long long row) {
        const Vertex neighbor = in_targets[arc];
        const int up = distances[neighbor];
        if (up < 0) return;
        const int level = distances[base + row];
        if (level > up + 1 || (level < 0 && up < stopped_at)) atomicMin(above + row, static_cast<unsigned>(up));
        if (predecessors ? predecessors[row] == neighbor : level == up + 1) confirmed[row] = true;
    });
}

// Count self-loops.
template <typename Vertex, typename Offset>
__global__ void count_loops(const Offset* offsets, const Vertex* targets, long long own, long long m, long long base,
                            unsigned long long* loops) {
    for_each_arc(offsets, own, 0, m, [=](long long arc, long long row) {
        if (targets[arc] == base + row) atomicAdd(loops, 1ull);
    });
}
