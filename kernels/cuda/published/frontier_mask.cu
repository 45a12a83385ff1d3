// Frontier mask: one thread per vertex, one launch per level.
//
// Every vertex has a thread at every level. The thread of a vertex in the frontier goes through the row, and each
// neighbour that was not visited gets its cost and a flag in the frontier of the next level. The search ends with the
// level that flags no vertex.
//
//   frontier[n]      F: the vertices to expand at this level; all false when the level is over
//   upcoming[n]      F of the next level; the host swaps the two
//   visited[n]       X: the vertices reached so far, sources included
//   distances[n]     C: the level that reached the vertex, 0 at a source, -1 while there is none
//   predecessors[n]  the vertex that reached it, -1 while there is none; null if not wanted
//   announced[1]     the last level of which the host knows that it reached a vertex
//   status[2]        in the host's memory, see levels.cuh
//
// Work: every level touches all n flags, however small the frontier is, so a graph of D levels costs O(n D + m). The
// adjacency of a hub is one thread's work while the other 31 of its warp wait.
// Synchronisation: one launch and one wait of the host a level.
//
// Races. The paper keeps one frontier mask and computes a cost as C[neighbour] = C[vertex] + 1, marking X only when a
// vertex is expanded. A thread may then find its flag set during the launch in which it runs, expand its vertex one
// level early, and hand on costs that are too high; and two adjacent vertices of one frontier raise each other's cost.
// Here the flags of the next level go to a mask of their own, the cost is the number of the level, and X is set
// with the cost. What is left is harmless: several threads may see one neighbour unvisited, and then all of them store
// the same cost and the same flags; the predecessors they store differ, and any of them is one level up.
//
// Source: P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007: the
// adjacency list in section 3, the search in section 4.1. The second mask is ours.

#include "levels.cuh"

// An adjacency in global memory. Nobody writes it, so it may come through the read-only cache.
template <typename Vertex, typename Offset>
struct InMemory {
    const Vertex* targets;

    __device__ Vertex operator[](Offset edge) const { return __ldg(targets + edge); }
};

template <typename Vertex>
__global__ void reset(Vertex n, bool* frontier, bool* upcoming, bool* visited, int* distances, Vertex* predecessors,
                      int* announced) {
    const long long vertex = thread_of_grid();
    if (vertex == 0) *announced = 0;
    if (vertex >= n) return;
    frontier[vertex] = upcoming[vertex] = visited[vertex] = false;
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

template <typename Vertex, typename Offset, template <typename, typename> class Adjacency>
__global__ void expand(const Offset* offsets, Adjacency<Vertex, Offset> targets, Vertex n, int level, Vertex target,
                       bool* frontier, bool* upcoming, bool* visited, int* distances, Vertex* predecessors,
                       int* announced, volatile long long* status) {
    const long long vertex = thread_of_grid();
    bool reached = false;
    if (vertex < n && frontier[vertex]) {
        frontier[vertex] = false;
        const Offset end = offsets[vertex + 1];
        for (Offset edge = offsets[vertex]; edge < end; ++edge) {
            const Vertex neighbor = targets[edge];
            if (visited[neighbor]) continue;
            visited[neighbor] = true;
            upcoming[neighbor] = true;
            distances[neighbor] = level;
            if (predecessors) predecessors[neighbor] = vertex;
            if (neighbor == target) status[TARGET_LEVEL] = level;
            reached = true;
        }
    }
    if (__syncthreads_or(reached) && threadIdx.x == 0) announce(level, announced, status);
}
