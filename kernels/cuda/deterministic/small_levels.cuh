// Small levels, in order, by one block with the frontier in its shared memory. Claims by the smallest number are as in
// ordered.cuh, but all edges of a level are in flight at once, UNROLL a thread, so a scan of the block puts the claimed
// vertices in order.
#pragma once

#include "siblings.cuh"

// A queue in shared memory.
template <typename Vertex, typename Offset>
struct LocalQueue {
    Entry<Offset>* entries;
    Vertex* vertices;

    __device__ LocalQueue(unsigned char* memory, long long capacity, int which) {
        entries = reinterpret_cast<Entry<Offset>*>(memory) + which * capacity;
        vertices = reinterpret_cast<Vertex*>(memory + 2 * capacity * sizeof(Entry<Offset>)) + which * capacity;
    }
};

// Load a frontier, from `begin` on, into shared memory.
template <typename Vertex, typename Offset>
__device__ inline void load_queue(const Search<Vertex, Offset>& s, const LocalQueue<Vertex, Offset>& queue,
                                  long long begin, long long vertices) {
    for (int i = threadIdx.x; i < vertices; i += THREADS) {
        queue.entries[i] = s.queue[begin + i];
        queue.vertices[i] = s.queued[begin + i];
    }
}

// Append a frontier in shared memory to the queue, from `begin` on.
template <typename Vertex, typename Offset>
__device__ inline void flush_queue(const Search<Vertex, Offset>& s, const LocalQueue<Vertex, Offset>& queue,
                                   long long begin, long long vertices, unsigned char* siblings) {
    for (int i = threadIdx.x; i < vertices; i += THREADS) {
        const Vertex vertex = queue.vertices[i];
        s.queue[begin + i] = queue.entries[i];
        s.queued[begin + i] = vertex;
        siblings[vertex] = sibling_group(__ldcg(s.rank + __ldcg(s.predecessors + vertex)));
    }
}

// Load this thread's edges of a frontier in shared memory, which have adjacent numbers.
template <typename Vertex, typename Offset, typename Number>
__device__ inline void load_edges(const Search<Vertex, Offset>& s, const LocalQueue<Vertex, Offset>& queue,
                                  Frontier frontier, Each<bool>& live, Each<Vertex>& neighbor, Each<Vertex>& parent,
                                  Each<Number>& claim) {
    using S = Search<Vertex, Offset>;
    const int edges = static_cast<int>(frontier.edges);
    const int each = (edges + THREADS - 1) / THREADS;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int edge = threadIdx.x * each + k;
        live[k] = k < each && edge < edges;
        if (!live[k]) continue;
        int slot = 0;
        for (int size = static_cast<int>(frontier.vertices); size > 1;) {
            const int half = size / 2;
            if (queue.entries[slot + half].prefix <= edge) slot += half;
            size -= half;
        }
        neighbor[k] = __ldg(s.targets + (queue.entries[slot].shift + edge));
        parent[k] = queue.vertices[slot];
        claim[k] = S::CLAIMED | static_cast<Number>(edge);
    }
}

// Claim the neighbors, and load their words of `visited` and their rows.
template <typename Vertex, typename Offset, typename Number>
__device__ inline void claim_neighbors(const Search<Vertex, Offset>& s, const unsigned* visited, const Each<bool>& live,
                                       const Each<Vertex>& neighbor, const Each<Number>& claim, Each<unsigned>& word,
                                       Each<Offset>& first, Each<Offset>& degree) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        if (!live[k]) continue;
        reduce_min(s.rank + neighbor[k], claim[k]);
        word[k] = __ldcg(visited + word_of(neighbor[k]));
        first[k] = __ldg(s.offsets + neighbor[k]);
        degree[k] = __ldg(s.offsets + neighbor[k] + 1) - first[k];
    }
}

// Append the neighbors that were claimed by their first edge to a queue in shared memory, from `place` on.
template <typename Vertex, typename Offset>
__device__ inline void append_claimed(const Search<Vertex, Offset>& s, const LocalQueue<Vertex, Offset>& queue,
                                      Counter place, const Each<bool>& live, const Each<Vertex>& neighbor,
                                      const Each<Offset>& first, const Each<Offset>& degree) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        if (!live[k]) continue;
        const Frontier before = unpacked(place, s.edge_bits);
        s.rank[neighbor[k]] = before.vertices;
        if (!degree[k]) continue;
        const Offset prefix = static_cast<Offset>(before.edges);
        const Entry<Offset> entry = {prefix, static_cast<Offset>(first[k] - prefix)};
        queue.entries[before.vertices] = entry;
        queue.vertices[before.vertices] = neighbor[k];
        place += packed(1, degree[k], s.edge_bits);
    }
}

// Ordered levels by one block, with the frontier in the queue from `begin` on, until it has no vertices or more than
// `most` edges; then it is in the queue from `begin + frontier.vertices` on. Returns the last level;
// updates the frontier and the unexplored edges.
template <typename Vertex, typename Offset>
__device__ int single_block_levels(const Search<Vertex, Offset>& s, unsigned* visited, unsigned char* siblings,
                                   int level, long long begin, Frontier& frontier, long long& unexplored,
                                   long long most, unsigned char* memory, Counter* totals) {
    using Number = typename Search<Vertex, Offset>::Number;
    const long long new_begin = begin + frontier.vertices;
    const long long last = min(s.depth_limit, static_cast<long long>(level) + MAX_LEVELS);
    int now = 0;
    load_queue(s, LocalQueue<Vertex, Offset>(memory, s.capacity, now), begin, frontier.vertices);
    __syncthreads();

    bool arrived = false;
    while (frontier.vertices > 0 && frontier.edges <= most && level < last && !arrived) {
        ++level;
        unexplored -= frontier.edges;
        const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
        Each<bool> live;
        Each<Vertex> neighbor, parent;
        Each<Offset> first, degree;
        Each<Number> claim;
        Each<unsigned> word;
        load_edges(s, queue, frontier, live, neighbor, parent, claim);
        claim_neighbors(s, visited, live, neighbor, claim, word, first, degree);
        __syncthreads();
        Counter sum = 0;
        Each<Number> rank;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (live[k]) rank[k] = __ldcg(s.rank + neighbor[k]);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) live[k] = live[k] && rank[k] == claim[k] && !(word[k] & bit_of(neighbor[k]));
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!live[k]) continue;
            set_distance_and_predecessor(s, neighbor[k], parent[k], level);
            reduce_or(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            if (degree[k]) sum += packed(1, degree[k], s.edge_bits);
        }

        Counter total;
        const Counter place = block_exclusive_scan(sum, totals, total);
        const LocalQueue<Vertex, Offset> upcoming(memory, s.capacity, 1 - now);
        frontier = unpacked(total, s.edge_bits);
        append_claimed(s, upcoming, place, live, neighbor, first, degree);
        now = 1 - now;
        if (s.trace && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        __syncthreads();
        arrived = s.target >= 0 && is_reached(__ldcg(&s.state->target_level), level);
    }

    flush_queue(s, LocalQueue<Vertex, Offset>(memory, s.capacity, now), new_begin, frontier.vertices, siblings);
    return level;
}
