// Deep levels: ordered levels of small frontiers by all blocks of the grid, on graphs with many levels.
//
// Each block has a run of the frontier in a queue of its own, and goes several levels ahead before it meets the others.
// A vertex gets a key (keys.cuh). Of two vertices of a level, the one with the smaller key comes first in the queue of a
// sequential search; and of all edges to a vertex, the one that gives it the smallest key is the one that reaches it
// there. So `atomicMin` on keys finds level, order and predecessor at once, however far ahead of the others a block is.
//
// When all blocks have gone as many levels, the keys up to theirs are final. By induction: the predecessor of a vertex
// at level d had its final key at level d - 1 from some block, and was in the queue of that block in the step for d; it
// then gave the vertex its final key. That block has the vertex in its queue, with that key, and in order: the keys in
// a queue ascend, and those of one block are all below those of the next. A queue also holds vertices that have got a
// smaller key since; a chunk whose key is not that of its vertex is skipped.
//
// Distances, predecessors and bits follow from the keys: the predecessor is the in-neighbour one level up with the
// smallest one. If a block has no room for a level, the search goes on from where the blocks last met.
#pragma once

#include "../common/deep.cuh"
#include "keys.cuh"

constexpr int RECENT = 1 << 12;  // vertices that a block remembers

// What deep levels leave: the last of them, and the block's run of its frontier.
struct DeepEnd {
    int level;
    bool advanced;      // by any level?
    int queue, chunks;  // which of the block's queues the run is in, and how long it is
};

// The deep levels of one block.
template <typename Vertex, typename Offset>
struct DeepLevels : DeepQueues<State, KeyedChunk<Vertex, Offset>> {
    using Chunk = KeyedChunk<Vertex, Offset>;
    using Queues = DeepQueues<State, Chunk>;
    using Queues::local, Queues::level, Queues::queue, Queues::upcoming, Queues::filled;
    using Queues::reserve, Queues::warp_begin, Queues::stop_before;

    const Search<Vertex, Offset>& s;
    int begin_level;  // of the first frontier
    Chunk* met;       // the queue when the blocks last met,
    int met_chunks = 0, met_level;
    int first_slot = 0;  // of this block's chunks then
    Vertex* recent;

    __device__ __forceinline__ DeepLevels(const Search<Vertex, Offset>& s, const Queues& queues, Chunk* met,
                                          Vertex* recent)
        : Queues(queues), s(s), begin_level(level), met(met), met_level(level), recent(recent) {}

    __device__ __forceinline__ Key key_of(int at, Key path) const {
        return static_cast<Key>(at - begin_level + 1) << PATH_BITS | path;
    }

    // Load this block's run of the frontier that is in the queue of the grid from `begin` on.
    __device__ __forceinline__ void load_frontier(long long begin, Frontier frontier) {
        const auto in_order = [&](int total) { return reserve(total); };
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(level);
        };
        const long long each = (frontier.vertices + gridDim.x - 1) / gridDim.x;
        const long long stop = min((blockIdx.x + 1) * each, frontier.vertices);
        for (long long start = blockIdx.x * each; start < stop; start += Deep::SIZE) {
            const long long slot = start + threadIdx.x;
            const bool keep[1] = {slot < stop};
            Chunk chunk[1] = {};
            if (keep[0]) {
                const Entry<Offset>* const entry = s.queue + begin + slot;
                const long long next = slot + 1 < frontier.vertices ? entry[1].prefix : frontier.edges;
                chunk[0].key = key_of(level, slot);
                chunk[0].first = entry->prefix + entry->shift;
                chunk[0].rest = static_cast<Offset>(next - entry->prefix);
                chunk[0].vertex = s.queued[begin + slot];
                s.keys[chunk[0].vertex] = chunk[0].key;
            }
            append_chunks(s.deep_capacity, queue, in_order, no_room, keep, chunk);
        }
    }

    // Number the chunks of all blocks. Where some blocks have many more than others, each takes an even share first, by
    // way of the memory of the grid's queue, which is not needed once all have loaded the frontier from it.
    __device__ __forceinline__ void share() {
        first_slot = local.met.before;
        if (!Queues::is_uneven()) return;
        Chunk* const shared = reinterpret_cast<Chunk*>(s.queue);
        first_slot = Queues::copy_to(shared);
        filled = max(0, min(Queues::even_share(), local.met.total - first_slot));
        for (int i = threadIdx.x; i < filled; i += Deep::SIZE) queue[i] = shared[first_slot + i];
        Deep::barrier();
    }

    // Expand the chunks of the queue: a thread takes a whole one, or an edge of one.
    template <bool WHOLE>
    __device__ __forceinline__ void expand(int chunks) {
        constexpr int COUNT = WHOLE ? CHUNK : 1;
        constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;  // threads to a chunk
        const int lane = lane_id(), bits = static_cast<int>(s.place_bits);
        const auto in_order = [&](int total) { return reserve(total); };
        const auto no_room = [&] {
            if (lane_id() == 0) stop_before(met_level);
        };
        const int end = chunks * PER_THREAD + warp_begin();  // all warps take the same number of rounds
        for (int start = warp_begin(); start < end; start += Deep::SIZE) {
            const int place = (start + lane) / PER_THREAD, part = WHOLE ? 0 : lane % CHUNK;
            Chunk chunk = {};
            Key now = NO_KEY;
            if (place < chunks) {
                chunk = queue[place];
                now = __ldcg(s.keys + chunk.vertex);
            }
            const Offset rest = abs(chunk.rest) - part;
            bool won[COUNT];
            Vertex neighbor[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = k < rest;
                neighbor[k] = 0;
                if (won[k]) neighbor[k] = __ldg(s.targets + chunk.first + part + k);
            }
            const bool valid = now == chunk.key;
            if (valid && part == 0) remember(chunk.vertex);
            const Key path = level == met_level ? first_slot + place : chunk.key & ((Key(1) << PATH_BITS) - 1);
            const Key last =
                key_of(level + 1, ((path + 1) << bits) - 1);  // the key that the last edge of the row gives
            Key before[COUNT], key[COUNT];
            Chunk next[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = won[k] && valid && !remembers(neighbor[k]);
                before[k] = key[k] = last - static_cast<Key>(rest - 1 - k);
                next[k] = {key[k], 0, 0, neighbor[k]};
                if (!won[k]) continue;
                before[k] = atomicMin(s.keys + neighbor[k], key[k]);
                next[k].first = __ldg(s.offsets + neighbor[k]);
                next[k].rest = __ldg(s.offsets + neighbor[k] + 1) - next[k].first;
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = before[k] > key[k];
                if (won[k]) won[k] = note(next[k], chunk.vertex);
            }
            append_chunks(s.deep_capacity, upcoming, in_order, no_room, won, next);
        }
    }

    // Note a vertex that got a smaller key. Has it edges to expand? The only one of an undirected graph leads back.
    __device__ __forceinline__ bool note(const Chunk& chunk, Vertex parent) {
        if (chunk.vertex == s.target) stop_before(level + 1);
        prefetch(s.targets + chunk.first);
        const long long ahead = 2LL * chunk.vertex - parent;  // the next vertex straight on, if all are numbered alike
        if (ahead >= 0 && ahead < s.n) {
            prefetch(s.keys + ahead);
            prefetch(s.offsets + ahead);
        }
        return chunk.rest > (s.in_offsets == s.offsets);
    }

    // Vertices that this block had in a queue need not be asked for again: their keys have no higher level.
    __device__ __forceinline__ void remember(Vertex vertex) {
        exchange(recent + place_in_table<RECENT>(vertex), vertex);
    }

    __device__ __forceinline__ bool remembers(Vertex vertex) const {
        return static_cast<const volatile Vertex*>(recent)[place_in_table<RECENT>(vertex)] == vertex;
    }

    // Go `steps` levels ahead.
    __device__ __forceinline__ void go(int steps) {
        met_level = level;
        met_chunks = filled;
        for (int step = 0; step < steps; ++step) {
            const int chunks = filled > s.deep_capacity ? 0 : filled;  // without room, all go back
            filled = 0;
            // One edge per thread is less to wait for, one chunk per thread less to do.
            if (chunks * CHUNK <= Deep::SIZE) {
                expand<false>(chunks);
            } else {
                expand<true>(chunks);
            }
            ++level;
            if (s.trace && level <= s.n && thread_of_grid() == 0) s.trace[level] = nanoseconds() * 2;
            if (step == 0) swap(met, queue);  // keep what the blocks met with
            swap(queue, upcoming);
            Deep::barrier();
        }
    }
};

// Ordered levels by all blocks, with the frontier in the queue from `begin` on, until it has too many chunks or one of
// the blocks has no room. Before it the keys of all visited vertices are LEAST_KEY, and others NO_KEY; after it those up
// to the last level are final. Where the target ended the search, there is no frontier.
template <typename Vertex, typename Offset>
__device__ void deep_levels(const Search<Vertex, Offset>& s, const Traversal& at, unsigned char* memory,
                            DeepState& local, DeepEnd& end) {
    using Levels = DeepLevels<Vertex, Offset>;
    if (threadIdx.x >= Deep::SIZE) return;
    const int limit = static_cast<int>(s.deep_chunks), capacity = static_cast<int>(s.deep_capacity);
    auto* const queues = reinterpret_cast<typename Levels::Chunk*>(memory);
    auto* const recent = reinterpret_cast<Vertex*>(queues + 3 * capacity);
    Levels b(s, {s.state, local, at.level, queues, queues + capacity}, queues + 2 * capacity, recent);
    if (threadIdx.x == 0) {
        local.stops_before = static_cast<int>(min(s.depth_limit, static_cast<long long>(at.level) + MAX_KEYED_LEVELS));
    }
    for (int i = threadIdx.x; i < RECENT; i += Deep::SIZE) recent[i] = -1;
    Deep::barrier();
    b.load_frontier(at.begin, at.frontier);

    for (;;) {
        b.meet(limit);
        if (local.met.total == 0 || local.met.total > limit || b.level >= local.met.stop) break;
        b.share();
        b.go(min(static_cast<int>(s.meet), local.met.stop - b.level));
    }
    if (threadIdx.x != 0) return;
    const int last = min(b.level, local.met.stop);
    const bool returned = last < b.level && last == b.met_level;
    end.level = last;
    end.advanced = b.level > at.level;
    end.queue = static_cast<int>((returned ? b.met : b.queue) - queues) / capacity;
    end.chunks = returned ? b.met_chunks : last < b.level ? 0 : b.filled;
}
