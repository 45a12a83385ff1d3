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

#include "../common/deep.cuh"
#include "chunks.cuh"
#include "labels.cuh"

constexpr int RECENT = 1 << 11;  // vertices that a block remembers, twice that if SMALL_ROWS

// Remember a vertex whose distance this block is about to lower. False if it did so before, as far as the table
// remembers: on grids, where more than half of the edges lead to such vertices, these need not go to memory again.
template <int LENGTH, typename Vertex>
__device__ inline bool not_recently_seen(Vertex* recent, Vertex vertex) {
    return exchange(recent + place_in_table<LENGTH>(vertex), vertex) != vertex;
}

// The chunks of a level that a block expands: those from `from` to `stop` of a queue.
template <typename Chunk>
struct Share {
    const Chunk* queue;
    int from, stop;
};

// The deep levels of one block.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
struct DeepLevels : DeepQueues<State, Chunk<SMALL_ROWS, Vertex, Offset>> {
    using Chunk = ::Chunk<SMALL_ROWS, Vertex, Offset>;
    using Queues = DeepQueues<State, Chunk>;
    using Queues::local, Queues::level, Queues::queue, Queues::upcoming, Queues::filled;
    using Queues::reserve, Queues::warp_begin, Queues::stop_before;
    static constexpr int REMEMBERED = SMALL_ROWS ? 2 * RECENT : RECENT;

    const Search<Vertex, Offset>& s;
    Vertex* recent;

    __device__ __forceinline__ DeepLevels(const Search<Vertex, Offset>& s, const Queues& queues, Vertex* recent)
        : Queues(queues), s(s), recent(recent) {}

    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level);
        };
        const int rank = static_cast<int>(blockIdx.x), size = static_cast<int>(gridDim.x);
        load_chunks<Deep::SIZE>(s, queue, &local.filled, no_room, begin, frontier, rank, size);
        Deep::barrier();
        filled = local.filled;
    }

    // What this block has in its queue. Where there are more edges than threads and some blocks have many more chunks
    // than others, an even share instead: all copy theirs into the memory of the grid's queue, which is not needed once
    // all have loaded the frontier from it.
    __device__ __forceinline__ Share<Chunk> share() {
        if (!Queues::is_uneven()) return {queue, 0, filled};
        Chunk* const shared = reinterpret_cast<Chunk*>(s.queue);
        const int first = Queues::copy_to(shared);
        return {shared, first, min(first + Queues::even_share(), local.met.total)};
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
        const int end = share.stop * PER_THREAD + warp_begin();  // all warps take the same number of rounds
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
            append_chunks(s.capacity, upcoming, in_order, no_room, won, next);
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
    Levels b(s, {s.state, local, level, queue, upcoming}, recent);
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
