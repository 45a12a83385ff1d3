// Neighbourhoods: from each of many centres what lies within some hops, and the arcs in between; a block per centre.
//
// `search`: a block takes the next centre and searches from it, level by level, with a queue that it leaves as a piece
// of its row of `found`. It takes no more once its row may not hold another piece, so that the centres that have been
// taken are always the first ones, each with its whole neighbourhood. `gather` copies the pieces, in the order of the
// centres, to where they begin; `count_arcs` counts the arcs within each, and `write_arcs` writes them, in the order of
// the vertices of the piece and then of their adjacency.
//
// The edges of THREADS vertices at a time are numbered through by a scan of their degrees, and shared out evenly: a
// thread finds the vertex that has its edge by binary search in shared memory, so that no hub keeps a warp busy.
//
//   offsets[n + 1], targets[m]    the edges to follow, or the arcs to write
//   more_offsets, more_targets    other edges to follow; null if there are none
//   centers[k]                    vertices
//   found[grid][room]             pieces, in the order of discovery; room >= n
//   levels[grid][room]            distances of these vertices from their centres
//   visited[grid][words]          bitmaps over vertices, one a block. 0 before and after
//   next                          the next centre or piece to take; 0 before
//   pieces[k][3]                  row, begin and end of each centre's piece
//   bounds[k + 1]                 where each centre's vertices begin in the answer, and where the last end
//   vertices, distances           the answer, bounds[k] of them
//   arc_counts[k]                 arcs within each piece
//   arc_bounds[k + 1]             where each centre's arcs begin
//   tails, heads                  the arcs
//
// Work: for each centre the edges of what lies within fewer hops, and for its arcs twice those of all that it reaches;
// nothing for the rest of the graph, since a block resets its bitmap by its queue. The bitmaps of all blocks of a graph
// of 2^20 vertices stay in the L2 cache of an H100 or H200.
// Synchronisation: the barriers of a block. Blocks share `next` alone.
// Races: words of a bitmap are set by atomics and read at L2, which tells who reached a vertex first; a stale word
// costs an atomic. When bits are reset all threads store 0.

#include "../common/bitmap.cuh"
#include "../common/grid.cuh"

#ifndef THREADS
#define THREADS 1024  // of a block, a power of two
#endif
#ifndef BLOCKS
#define BLOCKS 2  // of a multiprocessor
#endif

constexpr int UNROLL = 4;  // edges that a thread has in flight
static_assert((THREADS & (THREADS - 1)) == 0, "`owner_in` halves it");

using Number = unsigned long long;

template <typename Vertex, typename Offset>
struct Neighborhoods {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* more_offsets;
    const Vertex* more_targets;
    const long long* centers;
    Vertex* found;
    int* levels;
    unsigned* visited;
    Number* next;
    long long* pieces;
    const long long* bounds;
    Vertex* vertices;
    int* distances;
    long long* arc_counts;
    const long long* arc_bounds;
    Vertex* tails;
    Vertex* heads;
    long long n, k, hops, room, words;

    __device__ unsigned* bitmap() const { return visited + blockIdx.x * words; }
};

// What the threads of a block share.
struct Block {
    long long before[THREADS];  // edges of the vertices before each of THREADS
    long long shift[THREADS];   // the place of an edge of a vertex in `targets`, less its number
    long long totals[2][WARP];
    Number taken, tail;
};

// The next number, the same for the whole block.
__device__ inline long long take(Number* next, Block& block) {
    __syncthreads();
    if (threadIdx.x == 0) block.taken = atomicAdd(next, 1);
    __syncthreads();
    return static_cast<long long>(block.taken);
}

// Which of THREADS vertices has this edge: the last with at most so many edges before it.
__device__ inline int owner_in(const long long* before, long long edge) {
    int owner = 0;
#pragma unroll
    for (int step = THREADS / 2; step; step /= 2) {
        if (before[owner + step] <= edge) owner += step;
    }
    return owner;
}

// Call visit(exists, owner, target) for the edges of `count` vertices, UNROLL times THREADS at a time, in arrays of
// UNROLL: the k-th element of all threads are neighbouring edges. `owner` is a place in `vertices`. All threads of the
// block take part, whether their edges exist or not.
template <typename Vertex, typename Offset, typename Visit>
__device__ inline void for_each_edge(const Offset* offsets, const Vertex* targets, const Vertex* vertices,
                                     long long count, Block& block, Visit visit) {
    for (long long chunk = 0; chunk < count; chunk += THREADS) {
        long long first = 0, degree = 0;
        if (chunk + threadIdx.x < count) {
            const Vertex vertex = vertices[chunk + threadIdx.x];
            first = offsets[vertex];
            degree = offsets[vertex + 1] - first;
        }
        long long edges;
        const long long before = block_exclusive_scan(degree, block.totals[0], edges);
        block.before[threadIdx.x] = before;
        block.shift[threadIdx.x] = first - before;
        __syncthreads();
        for (long long start = 0; start < edges; start += UNROLL * THREADS) {
            bool exists[UNROLL];
            long long owner[UNROLL];
            Vertex target[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const long long edge = start + k * THREADS + threadIdx.x;
                exists[k] = edge < edges;
                const int place = owner_in(block.before, edge);
                owner[k] = chunk + place;
                target[k] = exists[k] ? targets[edge + block.shift[place]] : 0;
            }
            visit(exists, owner, target);
        }
        __syncthreads();
    }
}

// Append the unvisited among these vertices to the queue.
template <typename Vertex>
__device__ inline void append(const bool (&exists)[UNROLL], const Vertex (&vertex)[UNROLL], unsigned* visited,
                              Vertex* queue, Block& block) {
    bool fresh[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        fresh[k] = exists[k] && !(__ldcg(visited + word_of(vertex[k])) & bit_of(vertex[k]));
    }
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const bool first = fresh[k] && !test_and_set(visited, vertex[k]);
        const unsigned votes = __ballot_sync(ALL, first);
        Number place = 0;
        if (votes && lane_id() == 0) place = atomicAdd(&block.tail, __popc(votes));
        place = __shfl_sync(ALL, place, 0) + __popc(votes & lanes_below());
        if (first) queue[place] = vertex[k];
    }
}

// Search from a centre into queue[first..]; return where its piece ends.
template <typename Vertex, typename Offset>
__device__ inline long long search_from(const Neighborhoods<Vertex, Offset>& s, Vertex center, Vertex* queue,
                                        int* levels, long long first, Block& block) {
    unsigned* const visited = s.bitmap();
    const auto visit = [&](const auto& exists, const auto&, const auto& target) {
        append(exists, target, visited, queue, block);
    };
    if (threadIdx.x == 0) {
        queue[first] = center;
        levels[first] = 0;
        atomicOr(visited + word_of(center), bit_of(center));
        block.tail = first + 1;
    }
    __syncthreads();
    long long begin = first, end = first + 1;
    for (int level = 1; begin < end && level <= s.hops; ++level) {
        for_each_edge(s.offsets, s.targets, queue + begin, end - begin, block, visit);
        if (s.more_offsets) for_each_edge(s.more_offsets, s.more_targets, queue + begin, end - begin, block, visit);
        begin = end;
        end = static_cast<long long>(block.tail);
        for (long long place = begin + threadIdx.x; place < end; place += THREADS) levels[place] = level;
        __syncthreads();  // all have read the tail, before the next level moves it
    }
    for (long long place = first + threadIdx.x; place < end; place += THREADS) visited[word_of(queue[place])] = 0;
    return end;
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Neighborhoods<Vertex, Offset> s) {
    __shared__ Block block;
    Vertex* const queue = s.found + blockIdx.x * s.room;
    int* const levels = s.levels + blockIdx.x * s.room;
    long long end = 0;
    while (s.room - end >= s.n) {
        const long long i = take(s.next, block);
        if (i >= s.k) break;
        const long long begin = end;
        end = search_from(s, static_cast<Vertex>(s.centers[i]), queue, levels, begin, block);
        if (threadIdx.x == 0) {
            s.pieces[3 * i] = blockIdx.x;
            s.pieces[3 * i + 1] = begin;
            s.pieces[3 * i + 2] = end;
        }
    }
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) gather(const __grid_constant__ Neighborhoods<Vertex, Offset> s) {
    __shared__ Block block;
    for (long long i = take(s.next, block); i < s.k; i = take(s.next, block)) {
        const long long from = s.pieces[3 * i] * s.room + s.pieces[3 * i + 1];
        for (long long place = s.bounds[i] + threadIdx.x; place < s.bounds[i + 1]; place += THREADS) {
            s.vertices[place] = s.found[from + place - s.bounds[i]];
            s.distances[place] = s.levels[from + place - s.bounds[i]];
        }
    }
}

// Call use(vertices, count, visited) for piece after piece, its vertices marked in the block's bitmap.
template <typename Vertex, typename Offset, typename Use>
__device__ inline void for_each_piece(const Neighborhoods<Vertex, Offset>& s, Block& block, Use use) {
    unsigned* const visited = s.bitmap();
    for (long long i = take(s.next, block); i < s.k; i = take(s.next, block)) {
        const Vertex* const vertices = s.vertices + s.bounds[i];
        const long long count = s.bounds[i + 1] - s.bounds[i];
        for (long long place = threadIdx.x; place < count; place += THREADS) test_and_set(visited, vertices[place]);
        __syncthreads();
        use(i, vertices, count, visited);
        for (long long place = threadIdx.x; place < count; place += THREADS) visited[word_of(vertices[place])] = 0;
    }
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) count_arcs(const __grid_constant__ Neighborhoods<Vertex, Offset> s) {
    __shared__ Block block;
    for_each_piece(s, block, [&](long long i, const Vertex* vertices, long long count, const unsigned* visited) {
        long long arcs = 0;
        for_each_edge(s.offsets, s.targets, vertices, count, block,
                      [&](const auto& exists, const auto&, const auto& target) {
#pragma unroll
                          for (int k = 0; k < UNROLL; ++k) {
                              arcs += exists[k] && __ldcg(visited + word_of(target[k])) & bit_of(target[k]);
                          }
                      });
        long long total;
        block_exclusive_scan(arcs, block.totals[1], total);
        if (threadIdx.x == 0) s.arc_counts[i] = total;
    });
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) write_arcs(const __grid_constant__ Neighborhoods<Vertex, Offset> s) {
    __shared__ Block block;
    for_each_piece(s, block, [&](long long i, const Vertex* vertices, long long count, const unsigned* visited) {
        long long next = s.arc_bounds[i];
        for_each_edge(s.offsets, s.targets, vertices, count, block,
                      [&](const auto& exists, const auto& owner, const auto& target) {
#pragma unroll
                          for (int k = 0; k < UNROLL; ++k) {
                              const bool inside = exists[k] && __ldcg(visited + word_of(target[k])) & bit_of(target[k]);
                              long long total;  // of two rooms for totals, others may still read the last one
                              const long long place =
                                  next + block_exclusive_scan<long long>(inside, block.totals[k % 2], total);
                              if (inside) {
                                  s.tails[place] = vertices[owner[k]];
                                  s.heads[place] = target[k];
                              }
                              next += total;
                          }
                      });
    });
}
