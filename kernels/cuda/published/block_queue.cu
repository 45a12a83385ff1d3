// Block queue: one block per frontier vertex, one thread per edge.
//
// The frontier is a run of a queue. Blocks take its vertices in turn, the threads of a block the edges of one vertex,
// as many at a time as there are threads. The thread that changes a neighbour's distance from -1 puts it in the
// block's shared memory. When another round might not fit there, and when the block is done, the block takes room at
// the end of the queue with one atomic and spills what it holds. So a block may find any number of vertices, and the
// queue gets them in runs.
//
//   queue[n]         the reached vertices, level after level; queue[begin:end] is the frontier
//   tail[1]          the end of the queue: vertices reached so far
//   gathered         in shared memory: vertices that the block won and has not spilled yet; the first `held` are used
//   distances[n]     the level that reached the vertex, 0 at a source, -1 while there is none
//   predecessors[n]  the vertex that reached it, -1 while there is none; null if not wanted
//   finished[1]      blocks that are done with this level; 0 between levels
//   status[2]        in the host's memory, see levels.cuh; its PROGRESS is the tail after the level
//
// Work: O(n + m) in all, since a vertex is in the queue once. But a vertex of degree 4 keeps a whole block for one
// round, and a hub is one block's work. Atomics: one on a distance for each edge that may win, one in shared memory
// for each vertex won, one on the tail for each spill.
// Synchronisation: one barrier of the block for each round of edges, two a spill; one launch and one wait a level.
//
// Races: threads race for a neighbour's distance; atomicCAS lets one win, so nothing is enqueued twice, and the
// predecessor is the winner's alone. The plain read before it spares the atomic: it may be out of date, and then
// the atomic decides. The queue is read below `end` and written from `end` on.
//
// Source: L. Luo, M. Wong, W. Hwu, An effective GPU implementation of breadth-first search, DAC 2010, hierarchical
// queue management; the block's threads along one adjacency are the CTA-wide gathering of D. Merrill, M. Garland,
// A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012.

#include "levels.cuh"

constexpr int CAPACITY = 1024;  // vertices in `gathered`; a block must have fewer threads

template <typename Vertex>
__global__ void reset(Vertex n, int* distances, Vertex* predecessors, unsigned* finished) {
    const long long vertex = thread_of_grid();
    if (vertex == 0) *finished = 0;
    if (vertex >= n) return;
    distances[vertex] = -1;
    if (predecessors) predecessors[vertex] = -1;
}

template <typename Vertex>
__global__ void seed(int count, const Vertex* sources, Vertex begin, Vertex* queue, unsigned long long* tail,
                     int* distances) {
    const long long i = thread_of_grid();
    if (i == 0) *tail = begin + count;
    if (i >= count) return;
    queue[begin + i] = sources[i];
    distances[sources[i]] = 0;
}

// Append the block's `held` vertices to the queue and start over. Every thread of the block calls it, after a barrier.
template <typename Vertex>
__device__ void spill(Vertex* queue, unsigned long long* tail, const Vertex* gathered, int held, int* filled) {
    __shared__ unsigned long long start;
    if (threadIdx.x == 0) {
        start = atomicAdd(tail, held);
        *filled = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < held; i += blockDim.x) queue[start + i] = gathered[i];
    __syncthreads();
}

template <typename Vertex, typename Offset>
__global__ void expand(const Offset* offsets, const Vertex* targets, Vertex begin, Vertex end, int level, Vertex target,
                       Vertex* queue, unsigned long long* tail, int* distances, Vertex* predecessors,
                       unsigned* finished, volatile long long* status) {
    __shared__ Vertex gathered[CAPACITY];
    __shared__ int filled;  // where the next vertex goes
    int held = 0;           // `filled` as of the last barrier, the same in every thread
    if (threadIdx.x == 0) filled = 0;
    __syncthreads();

    for (long long position = begin + blockIdx.x; position < end; position += gridDim.x) {
        const Vertex vertex = queue[position];
        const Offset last = offsets[vertex + 1];
        for (long long round = offsets[vertex]; round < last; round += blockDim.x) {  // past the last edge: no int
            const long long edge = round + threadIdx.x;
            bool won = false;
            if (edge < last) {
                const Vertex neighbor = targets[edge];
                won = distances[neighbor] < 0 && atomicCAS(distances + neighbor, -1, level) < 0;
                if (won) {
                    gathered[atomicAdd(&filled, 1)] = neighbor;
                    if (predecessors) predecessors[neighbor] = vertex;
                    if (neighbor == target) status[TARGET_LEVEL] = level;
                }
            }
            held += __syncthreads_count(won);
            if (held > CAPACITY - static_cast<int>(blockDim.x)) {
                spill(queue, tail, gathered, held, &filled);
                held = 0;
            }
        }
    }
    if (held > 0) spill(queue, tail, gathered, held, &filled);

    // The block that finishes last tells the host. atomicInc goes back to 0 after gridDim.x - 1.
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(finished, gridDim.x - 1) == gridDim.x - 1) status[PROGRESS] = atomicAdd(tail, 0);
    }
}
