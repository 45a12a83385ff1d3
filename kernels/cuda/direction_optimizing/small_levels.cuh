// Top-down levels of small frontiers, by one block, or by the blocks of its cluster, while the others of the grid wait.
#pragma once

#include "parameters.cuh"

constexpr int RECENT = 1 << 11;      // vertices that a block of a cluster remembers, twice that if SMALL_ROWS
constexpr int MAX_LEVELS = 1 << 20;  // before the grid meets again, so that the others see some progress
constexpr int CHUNK = GROUP;         // a thread for each edge of a chunk
constexpr int HERE = -1;             // no place in `targets`

// The threads that work on a small frontier.
struct Block {
    static constexpr bool IS_CLUSTER = false;
    static constexpr int SIZE = THREADS < 128 ? THREADS : 128;  // threads of a block: more would slow each other down

    static __device__ inline void barrier() {
        if (SIZE == THREADS) {
            __syncthreads();
        } else {
            named_barrier<SIZE>();
        }
    }
};

struct Cluster {
    static constexpr bool IS_CLUSTER = true;
    static constexpr int SIZE = THREADS;

    // What the blocks wrote before to their own queues is seen after. Distances and predecessors may still be in
    // flight, since nobody reads them before the grid's barrier; of the bitmap, which all blocks change, each atomic is
    // done when its result is there, and a result decides what a thread writes to its queue.
    static __device__ inline void barrier() { cluster_barrier_shared(); }
};

// Up to CHUNK edges of a vertex, in a queue in shared memory. `rest` counts the edges from `first` to the end of the
// vertex's row; it is negated in all chunks of a vertex but the first, and 0 where there is nothing. Where `first` is
// HERE, the neighbours themselves are `neighbors`, -1 in place of the one that the vertex was reached from.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
struct alignas(16) Chunk {
    Offset first, rest;
    Vertex vertex, neighbors[SMALL_ROWS ? GROUP : 1];
};

// What a block has in shared memory besides its queues.
struct LocalState {
    int counts[3];   // chunks that this block appended: of this level's queue, of the next, and zero
    int stopped[2];  // do all stop before this level? By parity: some may be there yet when others find the next
    int totals[2][THREADS / WARP];  // chunks that each warp appends, in turn
};

// Append the vertex of a chunk to the queue of the whole grid.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ inline void append_vertex(const Search<Vertex, Offset>& s, long long behind, Counter* tail,
                                     const Chunk<SMALL_ROWS, Vertex, Offset>& chunk) {
    const Frontier before = unpacked(atomicAdd(tail, packed(1, chunk.rest, s.edge_bits)), s.edge_bits);
    const Offset prefix = static_cast<Offset>(before.edges);
    const Offset first = SMALL_ROWS && chunk.first == HERE ? __ldg(s.offsets + chunk.vertex) : chunk.first;
    s.queue[behind + before.vertices] = {prefix, static_cast<Offset>(first - prefix)};
    s.queued[behind + before.vertices] = chunk.vertex;
}

__device__ inline int exchange(int* place, int value) { return atomicExch(place, value); }

__device__ inline long long exchange(long long* place, long long value) {
    using Word = unsigned long long;
    return static_cast<long long>(atomicExch(reinterpret_cast<Word*>(place), static_cast<Word>(value)));
}

// Remember a vertex that this block is about to test in the bitmap. False if it did so before, as far as the table
// remembers: on grids, where more than half of the edges lead to such vertices, these need not go to memory again. The
// place comes from the high bits of a product, since the low bits of a grid's vertices are their columns. Source: D. E.
// Knuth, The art of computer programming 3, section 6.4.
template <int LENGTH, typename Vertex>
__device__ inline bool not_recently_seen(Vertex* recent, Vertex vertex) {
    const unsigned place = __umulhi(static_cast<unsigned>(vertex) * 0x9e3779b9u, LENGTH);
    return exchange(recent + place, vertex) != vertex;
}

// Tell all blocks of the cluster, before their next barrier.
__device__ inline void stop_all(int* stopped, int size) {
#pragma unroll 1
    for (int rank = 0; rank < size; ++rank) *map_shared_rank(stopped, rank) = 1;
    __threadfence();  // it is their memory
}

// Append the wanted vertices of this warp, each given as the first of its chunks, to the queue of its block, where
// `reserve`(the number of chunks) says. What finds no room goes to the queue of the whole grid instead, unless `behind`
// is -1, and then all blocks stop.
template <int COUNT, typename Reserve, bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ inline void append_chunks(const Search<Vertex, Offset>& s, Chunk<SMALL_ROWS, Vertex, Offset>* queue,
                                     const Reserve& reserve, int* stopped, int size, long long behind, Counter* tail,
                                     const bool (&keep)[COUNT],
                                     const Chunk<SMALL_ROWS, Vertex, Offset> (&chunk)[COUNT]) {
    const int capacity = static_cast<int>(s.capacity);
    int place[COUNT], mine = 0, before = 0, total = 0;
    bool large = false;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const unsigned kept = __ballot_sync(ALL, keep[k]);
        place[k] = mine;
        mine += keep[k];
        before += __popc(kept & lanes_below());
        total += __popc(kept);
        large = large || (keep[k] && chunk[k].rest > CHUNK);
    }
    if (__any_sync(ALL, large)) {  // some have several chunks
        mine = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            place[k] = mine;
            if (keep[k]) mine += min((static_cast<Counter>(chunk[k].rest) + CHUNK - 1) / CHUNK, Counter(capacity + 1));
        }
        const int until = warp_inclusive_scan(mine);
        before = until - mine;
        total = __shfl_sync(ALL, until, WARP - 1);
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) place[k] += before;
    const int start = reserve(total);
    if (total == 0) return;
    if (start + total > capacity) {
        if (lane_id() == 0) stop_all(stopped, size);
#pragma unroll 1
        for (int i = start + lane_id(); i < capacity; i += WARP) queue[i].rest = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            if (keep[k] && behind >= 0) append_vertex(s, behind, tail, chunk[k]);
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!keep[k]) continue;
        queue[start + place[k]] = chunk[k];
#pragma unroll 1
        for (Offset done = CHUNK; done < chunk[k].rest; done += CHUNK) {
            Chunk<SMALL_ROWS, Vertex, Offset>& next = queue[start + ++place[k]];
            next.first = chunk[k].first + done, next.rest = done - chunk[k].rest, next.vertex = chunk[k].vertex;
        }
    }
}

// Mark neighbours visited, and load where their rows are or, if SMALL_ROWS, the rows themselves. `word` is what held
// their bits before.
template <int COUNT, bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ void mark_visited(const Search<Vertex, Offset>& s, unsigned* visited,
                                             const bool (&won)[COUNT], const Vertex (&neighbor)[COUNT],
                                             unsigned (&word)[COUNT],
                                             Chunk<SMALL_ROWS, Vertex, Offset> (&next)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        word[k] = ALL;
        next[k] = {};
        next[k].vertex = neighbor[k];
        if (won[k]) {
            word[k] = atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            if constexpr (SMALL_ROWS) {
                load_group(s.heavy, neighbor[k], GROUP * s.n, GROUP * s.n, next[k].neighbors);
            } else {
                next[k].first = __ldg(s.offsets + neighbor[k]);
                next[k].rest = __ldg(s.offsets + neighbor[k] + 1);
            }
        }
    }
    if constexpr (SMALL_ROWS) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            if (next[k].neighbors[GROUP - 1] == MORE) {
                next[k].first = __ldg(s.offsets + neighbor[k]);
                next[k].rest = __ldg(s.offsets + neighbor[k] + 1);
            }
        }
    }
}

// Write the distance and the predecessor of a neighbour, and complete the first of its chunks. Has it edges to expand?
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ bool write_neighbor(const Search<Vertex, Offset>& s, Vertex neighbor, Vertex parent,
                                               int level, Chunk<SMALL_ROWS, Vertex, Offset>& next, Counter& explored,
                                               int* stopped, int size) {
    bool here = false;
    if constexpr (SMALL_ROWS) {
        here = next.neighbors[GROUP - 1] != MORE;
        if (here) next.first = HERE;
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            const Vertex other = next.neighbors[i];
            if (here) next.rest += other >= 0;
            if (other == parent) next.neighbors[i] = -1;
        }
        // The next vertex straight on, if neighbours are numbered alike.
        const long long ahead = 2LL * neighbor - parent;
        if (ahead >= 0 && ahead < s.n) prefetch(s.heavy + GROUP * ahead);
    }
    if (!here) prefetch(s.targets + next.first);
    if (s.predecessors) s.predecessors[neighbor] = parent;
    s.distances[neighbor] = level + 1;
    if (neighbor == s.target) {
        s.state->target_level = level + 1;
        stop_all(stopped, size);
    }
    explored += next.rest;
    return next.rest > 0;
}

// The chunk at `place`: of this block's queue or, where chunks are distributed, of the queue of the block that owns it.
template <typename Chunk>
__device__ __forceinline__ const Chunk* chunk_at(Chunk* queue, int place, bool inside, bool spread, int until,
                                                 int before) {
    const Chunk* chunk = queue + place;
    if (spread) {
        int owner = 0;  // the first block whose chunks, with those of all before it, reach past `place`
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
            const int passed = __shfl_sync(ALL, until, owner + step - 1);
            owner += passed <= place ? step : 0;
        }
        const int others = __shfl_sync(ALL, before, owner);
        chunk = map_shared_rank(queue + (inside ? place - others : 0), inside ? owner : 0);
    }
    return chunk;
}

// The chunks of a level that a block expands: those from `from` to `stop`, of its own queue or, if `spread`, of those of
// all blocks, one after the other. Then `until` and `before` count the chunks of the blocks up to that of the lane's
// rank, and without it.
struct Share {
    int from, stop;
    int until = 0, before = 0;
    bool spread = false;
};

// An even share for each block, where the block of the lane's rank has `theirs`.
__device__ __forceinline__ Share even_share(int theirs, int rank, int size) {
    Share share;
    share.until = theirs;
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const int below = __shfl_up_sync(ALL, share.until, distance);
        share.until += lane_id() >= distance ? below : 0;
    }
    const int total = __shfl_sync(ALL, share.until, WARP - 1);
    const int each = (total + size - 1) / size;
    share.before = share.until - theirs;
    share.from = rank * each;
    share.stop = min(share.from + each, total);
    share.spread = true;
    return share;
}

// Room for so many chunks of this warp in a queue: wherever there is some,
__device__ __forceinline__ int reserve_anywhere(int* count, int total) {
    int start = 0;
    if (total && lane_id() == 0) start = atomicAdd(count, total);
    return __shfl_sync(ALL, start, 0);
}

// or in the order of the warps, behind the `filled` chunks of the block. In order, vertices with neighbours in common
// stay with one block. All warps call this together, with other `totals` than the time before.
__device__ __forceinline__ int reserve_in_order(int* totals, int& filled, int total) {
    const int lane = lane_id(), warp = threadIdx.x / WARP;
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    const int theirs = lane < THREADS / WARP ? totals[lane] : 0;
    const int start = filled + warp_reduce_add(lane < warp ? theirs : 0);
    filled += warp_reduce_add(theirs);
    return start;
}

// A block's part in the small levels of a Block or a Cluster.
template <typename Scope, bool SMALL_ROWS, typename Vertex, typename Offset>
struct SmallLevels {
    using Chunk = ::Chunk<SMALL_ROWS, Vertex, Offset>;
    static constexpr int REMEMBERED = SMALL_ROWS ? 2 * RECENT : RECENT;

    const Search<Vertex, Offset>& s;
    LocalState& local;
    unsigned* visited;
    Counter* tail;     // of the queue of the whole grid,
    long long behind;  // in which the next frontier begins here
    int size, rank;    // of the cluster, and of the block in it
    int level;
    Chunk *queue, *upcoming;  // of this level and of the next
    Vertex* recent;
    int *count = local.counts, *next_count = local.counts + 1, *spare = local.counts + 2;
    int filled = 0;  // chunks of `upcoming`, where they are in order
    int round = 0;
    Counter explored = 0;

    // The first thread of this warp: loops count from it, so that all lanes of a warp go the same rounds.
    static __device__ __forceinline__ int warp_begin() { return threadIdx.x / WARP * WARP; }

    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const int lane = lane_id();
        for (long long i = rank * Scope::SIZE + warp_begin(); i < frontier.vertices; i += size * Scope::SIZE) {
            const bool keep[1] = {i + lane < frontier.vertices};
            Chunk chunk[1] = {};
            if (keep[0]) {
                const Entry<Offset>* const entry = s.queue + begin + i + lane;
                const long long next = i + lane + 1 < frontier.vertices ? entry[1].prefix : frontier.edges;
                chunk[0].vertex = s.queued[begin + i + lane];
                chunk[0].first = entry->prefix + entry->shift;
                chunk[0].rest = static_cast<Offset>(next - entry->prefix);
            }
            const auto reserve = [&](int total) { return reserve_anywhere(count, total); };
            append_chunks(s, queue, reserve, local.stopped + level % 2, size, -1, tail, keep, chunk);
        }
    }

    // Expand this block's share of a level: a thread takes a whole chunk, or an edge of one.
    template <bool WHOLE>
    __device__ __forceinline__ void expand(const Share& share) {
        constexpr int COUNT = WHOLE ? CHUNK : 1;
        constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;  // threads to a chunk
        const int lane = lane_id();
        int* const stopped = local.stopped + (level + 1) % 2;
        const auto reserve = [&](int total) {
            if constexpr (Scope::IS_CLUSTER) {
                return reserve_in_order(local.totals[round++ % 2], filled, total);
            } else {
                return reserve_anywhere(next_count, total);
            }
        };
        // The warps of a cluster go the same rounds.
        const int end = share.stop * PER_THREAD + (Scope::IS_CLUSTER ? warp_begin() : 0);
        for (int start = share.from * PER_THREAD + warp_begin(); start < end; start += Scope::SIZE) {
            const int place = (start + lane) / PER_THREAD;
            const bool inside = place < share.stop;
            const Chunk* chunk = chunk_at(queue, place, inside, share.spread, share.until, share.before);
            Offset first = 0, rest = 0;
            Vertex parent = 0, neighbor[COUNT] = {};
            const int part = WHOLE ? 0 : lane % CHUNK;  // of the chunk, from which on this thread's edges are
            if (inside) {
                first = chunk->first, rest = abs(chunk->rest), parent = chunk->vertex;
                if constexpr (SMALL_ROWS) {
#pragma unroll
                    for (int k = 0; k < COUNT; ++k) neighbor[k] = chunk->neighbors[part + k];
                }
            }
            bool won[COUNT];
            unsigned word[COUNT];
            Chunk next[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = part + k < rest;
                if (won[k] && !(SMALL_ROWS && first == HERE)) neighbor[k] = __ldg(s.targets + first + part + k);
                if (SMALL_ROWS) won[k] = won[k] && neighbor[k] >= 0;
            }
            if constexpr (Scope::IS_CLUSTER) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) won[k] = won[k] && not_recently_seen<REMEMBERED>(recent, neighbor[k]);
            }
            mark_visited(s, visited, won, neighbor, word, next);
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                next[k].rest -= next[k].first;
                won[k] = !(word[k] & bit_of(neighbor[k]));
                if (!won[k]) continue;
                won[k] = write_neighbor(s, neighbor[k], parent, level, next[k], explored, stopped, size);
            }
            append_chunks(s, upcoming, reserve, stopped, size, behind, tail, won, next);
        }
    }

    // Go on to the next level.
    __device__ __forceinline__ void advance() {
        Scope::barrier();
        ++level;
        if (s.trace && rank == 0 && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        swap(queue, upcoming);
        int* const done = count;
        count = next_count, next_count = spare, spare = done;
    }

    // Append what is left in the queue to that of the whole grid: the first chunk of each vertex stands for all.
    __device__ __forceinline__ void flush() {
        const int left = min(*count, static_cast<int>(s.capacity));
        for (int i = threadIdx.x; i < left; i += Scope::SIZE) {
            if (queue[i].rest > 0) append_vertex(s, behind, tail, queue[i]);
        }
    }
};

// Top-down levels by a Block or a Cluster, with the frontier in the queue from `begin` on, until it has more than
// `limit` chunks; then it is in the queue from `begin + frontier.vertices` on. Each block goes on with what it found.
// Where there are more edges than threads and some blocks have many more than others, the chunks of the next level are
// distributed evenly. Leaves its last level and the edges of the vertices that it reached in `state`.
template <typename Scope, bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ void small_levels(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                             Frontier frontier, int phase, int blocks, int limit, unsigned char* memory) {
    using Levels = SmallLevels<Scope, SMALL_ROWS, Vertex, Offset>;
    __shared__ LocalState local;
    if (threadIdx.x >= Scope::SIZE) return;
    const int lane = lane_id();
    const int size = Scope::IS_CLUSTER ? blocks : 1, rank = Scope::IS_CLUSTER ? static_cast<int>(blockIdx.x) : 0;
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + MAX_LEVELS));
    auto* const queue = reinterpret_cast<typename Levels::Chunk*>(memory);
    auto* const upcoming = queue + static_cast<int>(s.capacity);
    auto* const recent = reinterpret_cast<Vertex*>(upcoming + static_cast<int>(s.capacity));
    Counter* const tail = &s.state->tails[phase % 3];
    Levels b = {s, local, visited, tail, begin + frontier.vertices, size, rank, level, queue, upcoming, recent};
    if (threadIdx.x == 0) local = {};
    for (int i = threadIdx.x; Scope::IS_CLUSTER && i < Levels::REMEMBERED; i += Scope::SIZE) recent[i] = -1;
    Scope::barrier();
    b.load_frontier(begin, frontier);
    Scope::barrier();

    bool spread = false;  // are chunks distributed, since some blocks had many more than others in the level before?
    for (;;) {
        int total = *b.count;  // chunks
        const bool stopped = local.stopped[b.level % 2] || b.level == last;
        if (stopped || (!Scope::IS_CLUSTER && (total == 0 || total > limit))) break;
        const int theirs = Scope::IS_CLUSTER && lane < size ? *map_shared_rank(b.count, lane) : 0;
        const Share share = spread ? even_share(theirs, rank, size) : Share{0, total};
        if (threadIdx.x == 0) *b.spare = 0;
        // One edge per thread is less to wait for, one chunk per thread less to do.
        if ((share.stop - share.from) * CHUNK <= Scope::SIZE) {
            b.template expand<false>(share);
        } else {
            b.template expand<true>(share);
        }
        // What the others have is known by now: it was loaded at the beginning of the level.
        if constexpr (Scope::IS_CLUSTER) {
            if (threadIdx.x == 0) *b.next_count = b.filled;
            b.filled = 0;
            const int most = warp_reduce_max(theirs);
            total = warp_reduce_add(theirs);
            if (total == 0) break;
            spread = most * CHUNK > Scope::SIZE && most * size > total / 4 * 5;  // some have a quarter more than others
        }
        b.advance();
        if (total > limit) break;
    }

    if (b.level > level) b.flush();  // else there was no room for the frontier, and there is nothing new
    const Counter explored = warp_sum(b.explored);
    if (lane == 0 && explored) atomicAdd(&s.state->explored[phase % 3], explored);
    if (rank == 0 && threadIdx.x == 0) s.state->level[phase % 2] = b.level;
}
