// Top-down levels of small frontiers by one block, while the others of the grid wait.
#pragma once

#include "chunks.cuh"

using Few = FirstThreads<128>;  // more would slow each other down

// What the block has in shared memory besides its queues.
struct SmallState {
    int counts[3];   // chunks of this level's queue, of the next, and zero
    int stopped[2];  // do all stop before this level, and before the next?
};

// The small levels of one block. Neighbours themselves in the queue would cost it more than they save.
template <typename Vertex, typename Offset>
struct SmallLevels {
    using Chunk = ::Chunk<false, Vertex, Offset>;
    static constexpr int SIZE = Few::SIZE;

    const Search<Vertex, Offset>& s;
    SmallState& local;
    unsigned* visited;
    Counter* tail;     // of the queue of the whole grid,
    long long behind;  // in which the next frontier begins here
    int level;
    Chunk *queue, *upcoming;  // of this level and of the next
    // What changes places with each level: to find it again after a barrier would take longer.
    int *count = local.counts, *next_count = local.counts + 1, *spare = local.counts + 2;
    int *stopped = local.stopped, *next_stopped = local.stopped + 1;
    Counter explored = 0;

    // Append a vertex to the queue of the whole grid.
    __device__ __forceinline__ void append_vertex(const Chunk& chunk) {
        const Frontier before = unpacked(atomicAdd(tail, packed(1, chunk.rest, s.edge_bits)), s.edge_bits);
        const Offset prefix = static_cast<Offset>(before.edges);
        s.queue[behind + before.vertices] = {prefix, static_cast<Offset>(chunk.first - prefix)};
        s.queued[behind + before.vertices] = chunk.vertex;
    }

    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const auto no_room = [&] {
            if (lane_id() == 0) *stopped = 1;
        };
        load_chunks<SIZE>(s, queue, count, no_room, begin, frontier, 0, 1);
    }

    // Mark neighbours visited, and load where their rows are. `word` is what held their bits before.
    template <int COUNT>
    __device__ __forceinline__ void mark_visited(const bool (&won)[COUNT], const Vertex (&neighbor)[COUNT],
                                                 unsigned (&word)[COUNT], Chunk (&next)[COUNT]) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            word[k] = ALL;
            next[k] = {};
            next[k].vertex = neighbor[k];
            if (won[k]) {
                word[k] = atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
                next[k].first = __ldg(s.offsets + neighbor[k]);
                next[k].rest = __ldg(s.offsets + neighbor[k] + 1);
            }
        }
    }

    // Write the distance and the predecessor of a neighbour. Has it edges to expand?
    __device__ __forceinline__ bool write_neighbor(Vertex neighbor, Vertex parent, const Chunk& next) {
        prefetch(s.targets + next.first);
        if (s.predecessors) s.predecessors[neighbor] = parent;
        s.distances[neighbor] = level + 1;
        if (neighbor == s.target) {
            s.state->target_level = level + 1;
            *next_stopped = 1;
        }
        explored += next.rest;
        return next.rest > 0;
    }

    // Expand a level of `total` chunks: a thread takes a whole chunk, or an edge of one. What finds no room in the queue
    // goes to that of the whole grid instead, and the block stops.
    template <bool WHOLE>
    __device__ __forceinline__ void expand(int total) {
        constexpr int COUNT = WHOLE ? CHUNK : 1;
        constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;  // threads to a chunk
        const int lane = lane_id();
        // Loops count from the first thread of a warp, so that all its lanes take the same number of rounds.
        for (int start = threadIdx.x / WARP * WARP; start < total * PER_THREAD; start += SIZE) {
            const int place = (start + lane) / PER_THREAD;
            const int part = WHOLE ? 0 : lane % CHUNK;  // of the chunk, from which on this thread's edges are
            bool won[COUNT];
            Vertex neighbor[COUNT];
            const Vertex parent = load_edges(s, queue + place, place < total, part, won, neighbor);
            unsigned word[COUNT];
            Chunk next[COUNT];
            mark_visited(won, neighbor, word, next);
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                next[k].rest -= next[k].first;
                won[k] = !(word[k] & bit_of(neighbor[k]));
                if (won[k]) won[k] = write_neighbor(neighbor[k], parent, next[k]);
            }
            const auto reserve = [&](int chunks) {
                int begin = 0;
                if (chunks && lane_id() == 0) begin = atomicAdd(next_count, chunks);
                return __shfl_sync(ALL, begin, 0);
            };
            const auto no_room = [&] {
                if (lane_id() == 0) *next_stopped = 1;
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    if (won[k]) append_vertex(next[k]);
                }
            };
            append_chunks(s.capacity, upcoming, reserve, no_room, won, next);
        }
    }

    // Go on to the next level.
    __device__ __forceinline__ void advance() {
        Few::barrier();
        ++level;
        if (s.trace && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        swap(queue, upcoming);
        swap(stopped, next_stopped);
        int* const done = count;
        count = next_count, next_count = spare, spare = done;
    }

    // Append what is left in the queue to that of the whole grid: the first chunk of each vertex stands for all.
    __device__ __forceinline__ void flush() {
        const int left = min(*count, static_cast<int>(s.capacity));
        for (int i = threadIdx.x; i < left; i += SIZE) {
            if (queue[i].rest > 0) append_vertex(queue[i]);
        }
    }
};

// Top-down levels by this block, with the frontier in the queue from `begin` on, until it has more chunks than one
// block expands; then it is in the queue from `begin + frontier.vertices` on. Leaves its last level and the edges of the
// vertices that it reached in `state`.
template <typename Vertex, typename Offset>
__device__ void small_levels(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                             Frontier frontier, int phase, unsigned char* memory) {
    using Levels = SmallLevels<Vertex, Offset>;
    __shared__ SmallState local;
    if (threadIdx.x >= Few::SIZE) return;
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + MAX_LEVELS));
    auto* const queue = reinterpret_cast<typename Levels::Chunk*>(memory);
    Counter* const tail = &s.state->tails[phase % 3];
    Levels b = {s, local, visited, tail, begin + frontier.vertices, level, queue, queue + static_cast<int>(s.capacity)};
    if (threadIdx.x == 0) local = {};
    Few::barrier();
    b.load_frontier(begin, frontier);
    Few::barrier();

    for (;;) {
        const int total = *b.count;  // chunks
        const bool stopped = *b.stopped || b.level == last;
        if (stopped || total == 0 || total > s.single_block_chunks) break;
        if (threadIdx.x == 0) *b.spare = 0;
        // One edge per thread is less to wait for, one chunk per thread less to do.
        if (total * CHUNK <= Few::SIZE) {
            b.template expand<false>(total);
        } else {
            b.template expand<true>(total);
        }
        b.advance();
    }

    if (b.level > level) b.flush();  // else there was no room for the frontier, and there is nothing new
    const Counter explored = warp_sum(b.explored);
    if (lane_id() == 0 && explored) atomicAdd(&s.state->explored[phase % 3], explored);
    if (threadIdx.x == 0) s.state->level[phase % 2] = b.level;
}
