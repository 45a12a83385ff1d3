// Two kernels: expand the frontier into an updating mask, then commit it. One thread per vertex.
//
// `expand` gives a cost and an updating flag to each unvisited neighbour of the frontier. `commit` makes the flagged
// vertices visited and the frontier of the next level, and reports to the host whether there were any.
//
//   frontier[n]      the vertices to expand at this level; all false between `expand` and `commit`
//   updating[n]      the vertices that this level reached; all false after `commit`
//   visited[n]       the vertices reached before this level; after `commit`, those that it reached too
//   distances[n]     the level that reached the vertex, 0 at a source, -1 while there is none
//   predecessors[n]  the vertex that reached it, -1 while there is none; null if not wanted
//   announced[1]     the last level of which the host knows that it reached a vertex
//   status[2]        in the host's memory, see levels.cuh; its PROGRESS is the stop flag
//
// Work: both kernels touch all n flags at every level, so a graph of D levels costs O(n D + m). The adjacency of a hub
// is one thread's work.
// Synchronisation: two launches and one wait of the host a level.
//
// Races: `expand` reads `visited`, which only `commit` writes, and the end of a launch stands between the two: whether
// a vertex is visited cannot change under a level. Several threads may reach one neighbour. They store the same flag
// and the same cost, and predecessors that differ; any of those is one level up. In `commit` a thread touches its own
// vertex alone.
//
// Source: S. Che et al., Rodinia: a benchmark suite for heterogeneous computing, IISWC 2009, its program `bfs`. Its
// stop flag is copied from the device at each level; this one is stored in the host's memory.

#include "levels.cuh"

template <typename Vertex>
__global__ void reset(Vertex n, bool* frontier, bool* updating, bool* visited, int* distances, Vertex* predecessors,
                      int* announced) {
    const long long vertex = thread_of_grid();
    if (vertex == 0) *announced = 0;
    if (vertex >= n) return;
    frontier[vertex] = updating[vertex] = visited[vertex] = false;
    distances[vertex] = -1;
    if (predecessors) predecessors[vertex] = -1;
}

template <typename Vertex>
__global__ void seed(int count, const Vertex* sources, bool* frontier, bool* visited, int* distances) {
    const long long i = thread_of_grid();
    if (i >= count) return;
    const Vertex source = sources[i];
    frontier[source] = visited[source] = true;
    distances[source] = 0;
}

template <typename Vertex, typename Offset>
__global__ void expand(const Offset* offsets, const Vertex* targets, Vertex n, int level, bool* frontier,
                       bool* updating, const bool* visited, int* distances, Vertex* predecessors) {
    const long long vertex = thread_of_grid();
    if (vertex >= n || !frontier[vertex]) return;
    frontier[vertex] = false;
    const Offset end = offsets[vertex + 1];
    for (Offset edge = offsets[vertex]; edge < end; ++edge) {
        const Vertex neighbor = targets[edge];
        if (visited[neighbor]) continue;
        updating[neighbor] = true;
        distances[neighbor] = level;
        if (predecessors) predecessors[neighbor] = vertex;
    }
}

template <typename Vertex>
__global__ void commit(Vertex n, int level, Vertex target, bool* frontier, bool* updating, bool* visited,
                       int* announced, volatile long long* status) {
    const long long vertex = thread_of_grid();
    const bool reached = vertex < n && updating[vertex];
    if (reached) {
        updating[vertex] = false;
        frontier[vertex] = visited[vertex] = true;
        if (vertex == target) status[TARGET_LEVEL] = level;
    }
    if (__syncthreads_or(reached) && threadIdx.x == 0) announce(level, announced, status);
}
