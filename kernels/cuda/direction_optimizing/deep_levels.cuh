// Top-down levels of small frontiers by all blocks of the grid, on graphs with many levels.
//
// Each block has a queue of its own, and goes several levels ahead with the vertices that it reaches before it meets the
// others. So it may give a vertex too large a distance, and `atomicMin` lets the smallest win; the block that lowers a
// distance expands the vertex in its next step. When all blocks have gone as many levels, every distance up to theirs is
// right. By induction: a vertex at distance d has an in-neighbour at d - 1, which some block got right and expanded in
// the step for d; there it lowered the distance to d or found that another block had. Where two levels reach a vertex,
// queues hold it twice; the later of the entries reaches nothing that is not reached as early. Bits and predecessors
// follow from the distances, see labels.cuh.
#pragma once

#include "chunks.cuh"
#include "labels.cuh"

constexpr int RECENT = 1 << 11;  // vertices that a block remembers, twice that if SMALL_ROWS

using Deep = FirstThreads<256>;

// What blocks know after they met.
struct Meeting {
    int total, most, before;  // chunks of all, most of one, and of all before this one
    int stop;                 // the level before which all stop
};

// What a block has in shared memory besides its queues.
struct DeepState {
    int filled;                        // chunks of the frontier that it loads
    int stops_before;                  // the level before which it wants all to stop
    int totals[2][Deep::SIZE / WARP];  // chunks that each warp appends, in turn
    Meeting met;                       // what came of the last meeting
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

// The chunks of a level that a block expands: those from `from` to `stop` of a queue.
template <typename Chunk>
struct Share {
    const Chunk* queue;
    int from, stop;
};

// The deep levels of one block.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
struct DeepLevels {
    using Chunk = ::Chunk<SMALL_ROWS, Vertex, Offset>;
    static constexpr int REMEMBERED = SMALL_ROWS ? 2 * RECENT : RECENT;

    const Search<Vertex, Offset>& s;
    DeepState& local;
    int level;
    Chunk *queue, *upcoming;  // of this level and of the next
    Vertex* recent;
    int filled = 0;  // chunks of `upcoming`
    int round = 0;
    int turn = 0;  // of `State::standings`

    // Room for so many chunks of this warp behind the `filled` chunks of the block, in the order of the warps, so that
    // vertices with neighbours in common stay with one block. All warps call this together.
    __device__ __forceinline__ int reserve(int total) {
        int* const totals = local.totals[round++ % 2];
        const int lane = lane_id(), warp = threadIdx.x / WARP;
        if (lane == 0) totals[warp] = total;
        Deep::barrier();
        const int theirs = lane < Deep::SIZE / WARP ? totals[lane] : 0;
        const int start = filled + warp_reduce_add(lane < warp ? theirs : 0);
        filled += warp_reduce_add(theirs);
        return start;
    }

    static __device__ __forceinline__ int warp_begin() { return threadIdx.x / WARP * WARP; }

    // Let all blocks stop before this level, once they have met.
    __device__ __forceinline__ void stop_before(int which) { atomicMin(&local.stops_before, which); }

    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level);
        };
        const int rank = static_cast<int>(blockIdx.x), size = static_cast<int>(gridDim.x);
        load_chunks<Deep::SIZE>(s, queue, &local.filled, no_room, begin, frontier, rank, size);
        Deep::barrier();
        filled = local.filled;
    }

    // Meet all blocks. What a block set in one turn, all have read when it sets it again two turns later.
    __device__ __forceinline__ void meet(int limit) {
        Deep::barrier();
        if (threadIdx.x < WARP) {
            Standing* const all = s.state->standings[turn];
            const int lane = lane_id(), rank = static_cast<int>(blockIdx.x), size = static_cast<int>(gridDim.x);
            if (lane == 0) {
                all[rank] = {min(filled, limit + 1), local.stops_before};
                grid_barrier(&s.state->arrived);
            }
            __syncwarp();
            Meeting met = {0, 0, 0, local.stops_before};
            for (int i = lane; i < size; i += WARP) {
                const int chunks = __ldcg(&all[i].chunks);
                met.total += chunks;
                met.most = max(met.most, chunks);
                met.before += i < rank ? chunks : 0;
                met.stop = min(met.stop, __ldcg(&all[i].stops_before));
            }
            met.total = warp_reduce_add(met.total);
            met.most = warp_reduce_max(met.most);
            met.before = warp_reduce_add(met.before);
            met.stop = -warp_reduce_max(-met.stop);
            if (lane == 0) local.met = met;
        }
        turn ^= 1;
        Deep::barrier();
    }

    // What this block has in its queue. Where there are more edges than threads and some blocks have many more chunks
    // than others, an even share instead: all copy theirs into the memory of the grid's queue, which is not needed once
    // all have loaded the frontier from it.
    __device__ __forceinline__ Share<Chunk> share() {
        const int total = local.met.total, most = local.met.most, size = static_cast<int>(gridDim.x);
        const bool uneven = most * size > total / 4 * 5;  // some have a quarter more than others
        if (most * CHUNK <= Deep::SIZE || !uneven) return {queue, 0, filled};
        Chunk* const shared = reinterpret_cast<Chunk*>(s.queue);
        Chunk* const mine = shared + local.met.before;
        for (int i = threadIdx.x; i < filled; i += Deep::SIZE) mine[i] = queue[i];
        Deep::barrier();
        if (threadIdx.x == 0) grid_barrier(&s.state->arrived);
        Deep::barrier();
        const int each = (total + size - 1) / size, first = static_cast<int>(blockIdx.x) * each;
        return {shared, first, min(first + each, total)};
    }

    // Expand this block's share of a level: a thread takes a whole chunk, or an edge of one.
    template <bool WHOLE>
    __device__ __forceinline__ void expand(const Share<Chunk>& share) {
        constexpr int COUNT = WHOLE ? CHUNK : 1;
        constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;  // threads to a chunk
        const int lane = lane_id();
        const auto in_order = [&](int total) { return reserve(total); };
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level + 1);
        };
        const int end = share.stop * PER_THREAD + warp_begin();  // all warps go the same rounds
        for (int start = share.from * PER_THREAD + warp_begin(); start < end; start += Deep::SIZE) {
            const int place = (start + lane) / PER_THREAD;
            const bool inside = place < share.stop;
            const int part = WHOLE ? 0 : lane % CHUNK;  // of the chunk, from which on this thread's edges are
            bool won[COUNT];
            Vertex neighbor[COUNT];
            const Vertex parent = load_edges(s, share.queue + place, inside, part, won, neighbor);
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

    // Complete the first chunk of a vertex. Has it edges to expand? The only one of an undirected graph leads back.
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
        return next.rest > (s.in_offsets == s.offsets);
    }

    // Go `steps` levels ahead.
    __device__ __forceinline__ void go(Share<Chunk> share, int steps) {
        filled = 0;
        for (int step = 1;; ++step) {
            // One edge per thread is less to wait for, one chunk per thread less to do.
            if ((share.stop - share.from) * CHUNK <= Deep::SIZE) {
                expand<false>(share);
            } else {
                expand<true>(share);
            }
            ++level;
            if (s.trace && level <= s.n && thread_of_grid() == 0) s.trace[level] = nanoseconds() * 2;
            swap(queue, upcoming);
            if (step == steps) return;
            Deep::barrier();
            share = {queue, 0, filled > s.capacity ? 0 : filled};  // without room, all stop before this level
            filled = 0;
        }
    }
};

// Top-down levels by all blocks, with the frontier in the queue from `begin` on, until it has too many chunks or one of
// the blocks has no room. Before it all distances are final or UNLABELED, after it those up to the level that it leaves
// in `state` are final: `level` if there was no room for the frontier.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ void deep_levels(const Search<Vertex, Offset>& s, int level, long long begin, Frontier frontier, int phase,
                            unsigned char* memory) {
    using Levels = DeepLevels<SMALL_ROWS, Vertex, Offset>;
    __shared__ DeepState local;
    if (threadIdx.x >= Deep::SIZE) return;
    const int limit = static_cast<int>(s.deep_chunks);
    auto* const queue = reinterpret_cast<typename Levels::Chunk*>(memory);
    auto* const upcoming = queue + static_cast<int>(s.capacity);
    auto* const recent = reinterpret_cast<Vertex*>(upcoming + static_cast<int>(s.capacity));
    Levels b = {s, local, level, queue, upcoming, recent};
    if (threadIdx.x == 0) {
        local.filled = 0;
        local.stops_before = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + MAX_LEVELS));
    }
    for (int i = threadIdx.x; i < Levels::REMEMBERED; i += Deep::SIZE) recent[i] = -1;
    Deep::barrier();
    b.load_frontier(begin, frontier);

    for (;;) {
        b.meet(limit);
        const int stop = local.met.stop;
        if (local.met.total == 0 || local.met.total > limit || b.level >= stop) break;
        b.go(b.share(), min(static_cast<int>(s.meet), stop - b.level));
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        s.state->level[phase % 2] = min(b.level, local.met.stop);
        s.state->level[(phase + 1) % 2] = 0;
    }
}
