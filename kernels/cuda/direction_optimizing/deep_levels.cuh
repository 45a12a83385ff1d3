// Top-down levels of small frontiers by the blocks of a cluster, on graphs with many levels.
//
// A block goes several levels ahead with the vertices that it reaches before it meets the others. So it may give a
// vertex too large a distance, and `atomicMin` lets the smallest win; the block that lowers a distance expands the vertex
// in its next step. When all blocks have gone as many levels, every distance up to theirs is right. By induction: a vertex at
// distance d has an in-neighbour at d - 1, which some block got right and expanded in the step for d; there it lowered
// the distance to d or found that another block had. Where two levels reach a vertex, queues hold it twice; the later
// of the entries reaches nothing that is not reached as early. Bits and predecessors follow from the distances, see
// labels.cuh.
#pragma once

#include "chunks.cuh"
#include "labels.cuh"

constexpr int RECENT = 1 << 11;  // vertices that a block remembers, twice that if SMALL_ROWS

// What a block has in shared memory besides its queues.
struct DeepState {
    int counts[2];                  // chunks of its queue when all meet, in turn
    int stops[2];                   // the level before which all stop, as far as known when they meet, in turn
    int totals[2][THREADS / WARP];  // chunks that each warp appends, in turn
};

__device__ inline int exchange(int* place, int value) { return atomicExch(place, value); }

__device__ inline long long exchange(long long* place, long long value) {
    using Word = unsigned long long;
    return static_cast<long long>(atomicExch(reinterpret_cast<Word*>(place), static_cast<Word>(value)));
}

// Remember a vertex whose distance this block is about to lower. False if it did so before, as far as the table
// remembers: on grids, where more than half of the edges lead to such vertices, these need not go to memory again. The
// place comes from the high bits of a product, since the low bits of a grid's vertices are their columns. Source: D. E.
// Knuth, The art of computer programming 3, section 6.4.
template <int LENGTH, typename Vertex>
__device__ inline bool not_recently_seen(Vertex* recent, Vertex vertex) {
    const unsigned place = __umulhi(static_cast<unsigned>(vertex) * 0x9e3779b9u, LENGTH);
    return exchange(recent + place, vertex) != vertex;
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

// A block's part.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
struct DeepLevels {
    using Chunk = ::Chunk<SMALL_ROWS, Vertex, Offset>;
    static constexpr int REMEMBERED = SMALL_ROWS ? 2 * RECENT : RECENT;

    const Search<Vertex, Offset>& s;
    DeepState& local;
    int size, rank;  // of the cluster, and of the block in it
    int level;
    Chunk *queue, *upcoming;  // of this level and of the next
    Vertex* recent;
    int filled = 0;  // chunks of `upcoming`
    int round = 0;
    int next_turn = 0;  // of `DeepState::stops`, for when all meet next

    // Room for so many chunks of this warp behind the `filled` chunks of the block, in the order of the warps, so that
    // vertices with neighbours in common stay with one block. All warps call this together.
    __device__ __forceinline__ int reserve(int total) {
        int* const totals = local.totals[round++ % 2];
        const int lane = lane_id(), warp = threadIdx.x / WARP;
        if (lane == 0) totals[warp] = total;
        __syncthreads();
        const int theirs = lane < THREADS / WARP ? totals[lane] : 0;
        const int start = filled + warp_reduce_add(lane < warp ? theirs : 0);
        filled += warp_reduce_add(theirs);
        return start;
    }

    static __device__ __forceinline__ int warp_begin() { return threadIdx.x / WARP * WARP; }

    // Let all blocks stop before this level.
    __device__ __forceinline__ void stop_before(int which) {
#pragma unroll 1
        for (int i = 0; i < size; ++i) atomicMin(map_shared_rank(&local.stops[next_turn], i), which);
        __threadfence();
    }

    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level);
        };
        load_chunks<THREADS>(s, queue, local.counts, no_room, begin, frontier, rank, size);
    }

    // Expand this block's share of a level: a thread takes a whole chunk, or an edge of one.
    template <bool WHOLE>
    __device__ __forceinline__ void expand(const Share& share) {
        constexpr int COUNT = WHOLE ? CHUNK : 1;
        constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;  // threads to a chunk
        const int lane = lane_id();
        const auto in_order = [&](int total) { return reserve(total); };
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level + 1);
        };
        const int end = share.stop * PER_THREAD + warp_begin();  // all warps go the same rounds
        for (int start = share.from * PER_THREAD + warp_begin(); start < end; start += THREADS) {
            const int place = (start + lane) / PER_THREAD;
            const bool inside = place < share.stop;
            const Chunk* chunk = chunk_at(queue, place, inside, share.spread, share.until, share.before);
            const int part = WHOLE ? 0 : lane % CHUNK;  // of the chunk, from which on this thread's edges are
            bool won[COUNT];
            Vertex neighbor[COUNT];
            const Vertex parent = load_edges(s, chunk, inside, part, won, neighbor);
            int before[COUNT];
            Chunk next[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) won[k] = won[k] && not_recently_seen<REMEMBERED>(recent, neighbor[k]);
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                before[k] = 0;
                next[k] = {};
                next[k].vertex = neighbor[k];
                if (!won[k]) continue;
                before[k] = atomicMin(s.distances + neighbor[k], level + 1);
                load_row(neighbor[k], next[k]);
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = before[k] > level + 1;
                if (won[k]) won[k] = complete(neighbor[k], parent, next[k]);
            }
            append_chunks(s, upcoming, in_order, no_room, won, next);
        }
    }

    __device__ __forceinline__ void load_row(Vertex vertex, Chunk& next) {
        if constexpr (SMALL_ROWS) {
            load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, next.neighbors);
        } else {
            next.first = __ldg(s.offsets + vertex);
            next.rest = __ldg(s.offsets + vertex + 1) - next.first;
        }
    }

    // Complete the first chunk of a vertex. Has it edges to expand?
    __device__ __forceinline__ bool complete(Vertex vertex, Vertex parent, Chunk& next) {
        bool here = false;
        if constexpr (SMALL_ROWS) {
            here = next.neighbors[GROUP - 1] != MORE;
            if (here) {
                next.first = HERE;
            } else {
                next.first = __ldg(s.offsets + vertex);
                next.rest = __ldg(s.offsets + vertex + 1) - next.first;
            }
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                const Vertex other = next.neighbors[i];
                if (here) next.rest += other >= 0;
                if (other == parent) next.neighbors[i] = -1;
            }
            // The next vertex straight on, if neighbours are numbered alike.
            const long long ahead = 2LL * vertex - parent;
            if (ahead >= 0 && ahead < s.n) {
                prefetch(s.heavy + GROUP * ahead);
                prefetch(s.distances + ahead);
            }
        }
        if (!here) prefetch(s.targets + next.first);
        note_parent(s, vertex, parent, next.rest);
        if (vertex == s.target) stop_before(level + 1);
        return next.rest > 0;
    }

    // Go so many levels ahead.
    __device__ __forceinline__ void go(Share share, int steps) {
        for (int step = 1;; ++step) {
            // One edge per thread is less to wait for, one chunk per thread less to do.
            if ((share.stop - share.from) * CHUNK <= THREADS) {
                expand<false>(share);
            } else {
                expand<true>(share);
            }
            ++level;
            if (s.trace && level <= s.n && rank == 0 && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
            swap(queue, upcoming);
            if (step == steps) return;
            if (share.spread) {
                cluster_barrier_shared();  // the others have read the queue that the next step writes
            } else {
                __syncthreads();
            }
            share = {0, filled > s.capacity ? 0 : filled};  // without room, all stop before this level
            filled = 0;
        }
    }
};

// Top-down levels by the blocks of a cluster, with the frontier in the queue from `begin` on, until it has more than
// `limit` chunks or one of the queues has no room. Where there are more edges than threads and some blocks have many
// more chunks than others when they meet, these are distributed evenly. Before it all distances are final or UNLABELED,
// after it those up to the level that it leaves in `state` are final: `level` if there was no room for the frontier.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ void deep_levels(const Search<Vertex, Offset>& s, int level, long long begin, Frontier frontier, int phase,
                            int size, int limit, unsigned char* memory) {
    using Levels = DeepLevels<SMALL_ROWS, Vertex, Offset>;
    __shared__ DeepState local;
    const int lane = lane_id(), rank = static_cast<int>(blockIdx.x);
    auto* const queue = reinterpret_cast<typename Levels::Chunk*>(memory);
    auto* const upcoming = queue + static_cast<int>(s.capacity);
    auto* const recent = reinterpret_cast<Vertex*>(upcoming + static_cast<int>(s.capacity));
    Levels b = {s, local, size, rank, level, queue, upcoming, recent};
    if (threadIdx.x == 0) {
        local = {};
        const long long last = min(s.depth_limit, static_cast<long long>(level) + MAX_LEVELS);
        local.stops[0] = local.stops[1] = static_cast<int>(last);
    }
    for (int i = threadIdx.x; i < Levels::REMEMBERED; i += THREADS) recent[i] = -1;
    cluster_barrier_shared();
    b.load_frontier(begin, frontier);
    cluster_barrier_shared();

    int turn = 0;
    for (;;) {
        const int theirs = lane < size ? *map_shared_rank(&local.counts[turn], lane) : 0;
        const int mine = local.counts[turn], stop = local.stops[turn];
        const int total = warp_reduce_add(theirs), most = warp_reduce_max(theirs);
        if (total == 0 || total > limit || b.level >= stop) break;
        const bool spread =
            most * CHUNK > THREADS && most * size > total / 4 * 5;  // some have a quarter more than others
        const Share share = spread ? even_share(theirs, rank, size) : Share{0, mine};
        b.filled = 0;
        b.next_turn = turn ^= 1;
        b.go(share, min(static_cast<int>(s.meet), stop - b.level));
        if (threadIdx.x == 0) local.counts[turn] = b.filled;
        cluster_barrier_shared();
    }
    if (rank == 0 && threadIdx.x == 0) {
        s.state->level[phase % 2] = min(b.level, local.stops[turn]);
        s.state->level[(phase + 1) % 2] = 0;
    }
    cluster_barrier_shared();  // nobody writes into the memory of a block that goes on
}
