// A search of a distributed graph in one launch on each rank: kernels write into the memory of other ranks, and have
// barriers without the host.
//
// Global ids, local ids and the arrays of a rank are those of `search.cu`. *Top-down*: a rank marks the unmarked
// neighbours of its frontier, and writes pairs (vertex, parent) into their owners' inboxes; after a barrier, owners
// settle the pairs. Where the edges are many (*dense*), what is reached lies in a bitmap alone: a rank sets the
// predecessors of its own vertices at once and sends pairs of the others, and the owners publish the bitmap. The next
// level goes bottom-up. A level whose pairs may overflow the inboxes goes bottom-up at once; if a segment overflows all
// the same, no rank counts what was reached and the level goes bottom-up then.
// *Bottom-up*: each rank sweeps its own rows, see `bottom_up.cuh`, and meanwhile writes its slice of the next bitmap of
// visited vertices into the windows of all ranks. All ranks choose the same direction, from the messages. See
// `ranks.cuh` for windows, messages and barriers, and `level_bitmaps.cuh` for the distances of bottom-up levels.
//
// `Search` has the rank's own arrays as in `search.cu`, and visited[BITMAPS][words of own] as in direction_optimizing;
// `target` is a local id, -1 if there is none or another rank owns it; `number` is the id of the search, the same on all
// ranks and different for each search. `source` is the first of this rank's `count` sources, `sources` are all of them if
// there are more, in the host's memory; local ids.
//
//   isolated[words of all]  bitmap over all global ids: vertices without edges, and unused global ids
//   marked[words of all]    bitmap over all global ids: visited, or sent to the owner by this rank; of its own vertices,
//                           not all that are visited. Like the bitmaps in the windows, it equals `isolated` before a
//                           search, and the search resets it
//   tally                   counters of the blocks, see `Tally`
//   outcome[OUTCOME_FIELDS] in the host's memory: the id of the search when it is done, its number of levels (GIVEN_UP
//                           if there is no end), the largest distance, the vertices reached by all ranks, and 1 + the
//                           rank that did not arrive, or 0
//   predecessors            at a multiple of 16 bytes; the search first stores -1 in all of them, unless `fresh` says
//                           CLEARED
//   trace[levels + 1]       as in direction_optimizing, for levels below TRACED
//
// Work: as in direction_optimizing; over the links 8 bytes per pair (16 with int64), and per bottom-up level the changed
// words of n / 8 bytes.
// Synchronisation: two barriers of all ranks in a top-down level, three in a dense one, one in a bottom-up level, and one
// more when levels go bottom-up without a dense one before, go top-down again, or leave rows to the whole grid.
// Races: as in direction_optimizing. A word of a bitmap in a window is written by one warp of its owner, and read after
// a barrier.
//
// Sources: those of `search.cu`; for the barriers, S. Xiao, W. Feng, Inter-block GPU communication via fast barrier
// synchronization, IPDPS 2010.

#include "../direction_optimizing/bottom_up.cuh"
#include "../direction_optimizing/level_bitmaps.cuh"
#include "../direction_optimizing/parameters.cuh"
#include "ranks.cuh"
#include "top_down.cuh"

constexpr long long TRACED = 1 << 20;
constexpr long long GIVEN_UP = 1ll << 62;
constexpr long long OF_HUBS = 4;  // times as soon bottom-up, and dense, where hubs are in the frontier

using Worker = WorkerOf<GlobalResult>;

// The progress of a search. Every thread has it in registers.
struct Progress {
    long long vertices = 0;  // of the frontier of all ranks
    long long unexplored;    // edges of the vertices that no level has expanded
    int level = 0;
    unsigned phases = 0;  // that have ended
    int newest = 0;       // bitmap in the windows
    bool queued = true;   // is the frontier in the queues, not just in bitmaps? Then the last phase's result counts it.
    int shrinking = 0;    // small frontiers in a row, bottom-up, each with fewer vertices than the one before
};

// End a phase in which the lanes found `found` vertices. Returns whether all ranks arrived; if not, the search is over.
template <typename Vertex, typename Offset, typename Meanwhile = Nothing>
__device__ __forceinline__ bool end_phase(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                          const Worker& w, Progress& p, unsigned found,
                                          const Meanwhile& meanwhile = {}) {
    found = static_cast<unsigned>(warp_sum(found));
    if (w.lane == 0 && found) atomicAdd(w.found, found);
    const unsigned long long stamp = static_cast<unsigned long long>(s.number) + ++p.phases;
    return barrier_of_ranks(s, x, stamp, w.found, w.result, meanwhile);
}

// Copy a bitmap over all global ids to others, 16 bytes at a time: its length is a multiple of 32 bytes, as strides are
// of 256 vertices.
template <typename Vertex, typename Offset, typename... Bitmaps>
__device__ __forceinline__ void copy_bitmap(const Ranks<Vertex, Offset>& x, const Worker& w, const unsigned* from,
                                            Bitmaps*... to) {
    const long long groups = x.partitions * x.stride / (4 * WARP);
    for (long long group = w.thread; group < groups; group += w.threads) {
        const uint4 four = reinterpret_cast<const uint4*>(from)[group];
        ((reinterpret_cast<uint4*>(to)[group] = four), ...);
    }
}

// Reset the bitmaps over all global ids for the next search.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void reset_bitmaps(const Ranks<Vertex, Offset>& x, const Worker& w) {
    copy_bitmap(x, w, x.isolated, bitmap_of(x, x.rank, 0), bitmap_of(x, x.rank, 1), x.marked);
}

// Store -1 for all predecessors before any is written: 16 bytes a store, which takes half as long as to store -1 in the
// end where nothing was reached. The array begins at a multiple of 16 bytes. By the threads of each block from
// FIRST_FREE on.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void clear_predecessors(const Search<Vertex, Offset>& s) {
    constexpr int PLACES = sizeof(int4) / sizeof(Vertex);
    const long long groups = s.n / PLACES;
    int4* const all = reinterpret_cast<int4*>(s.predecessors);
    constexpr long long FREE = THREADS - FIRST_FREE;
    const long long thread = blockIdx.x * FREE + threadIdx.x - FIRST_FREE;
    for (long long group = thread; group < groups; group += gridDim.x * FREE) all[group] = {-1, -1, -1, -1};
    if (groups * PLACES + thread < s.n) s.predecessors[groups * PLACES + thread] = -1;
}

// One of this rank's own sources. To load the first from the host's memory would take a microsecond.
template <typename Vertex, typename Offset>
__device__ __forceinline__ Vertex source_of(const Search<Vertex, Offset>& s, long long which) {
    return which == 0 ? static_cast<Vertex>(s.source) : s.sources[which];
}

// Enqueue this rank's own sources. While the ranks meet, predecessors are cleared.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool enqueue_sources(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                                const Worker& w, Progress& p) {
    if (threadIdx.x == 0) *w.found = 0, w.result->reached = 0;
    __syncthreads();
    unsigned found = 0;
    for (long long start = static_cast<long long>(w.warp) * WARP; start < s.count; start += w.warps * WARP) {
        const bool keep[1] = {start + w.lane < s.count};
        Vertex vertex[1] = {0};
        Offset first[1], degree[1];
        if (keep[0]) {
            vertex[0] = source_of(s, start + w.lane);
            atomicOr(s.visited + word_of(vertex[0]), bit_of(vertex[0]));
            s.distances[vertex[0]] = 0;
            ++found;
        }
        load_rows(s.offsets, keep, vertex, first, degree);
        degree[0] -= first[0];
        append_to_queue(s, 0, &x.tally->tail, keep, vertex, first, degree);
    }
    const auto clear = [&] {
        if (s.predecessors && s.fresh != CLEARED) clear_predecessors(s);
    };
    return end_phase(s, x, w, p, found, clear);
}

// If the last search failed on some rank, the windows may differ: reset them, and enqueue the sources again. By then no
// kernel of that search writes to them.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool begin_search(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                             const Worker& w, Progress& p) {
    if (s.trace && w.thread == 0) s.trace[0] = nanoseconds() * 2;
    if (!enqueue_sources(s, x, w, p)) return false;
    if (w.result->stale) {
        reset_bitmaps(x, w);
        __syncthreads();
        if (!enqueue_sources(s, x, w, p)) return false;
    }
    p.vertices = w.result->found;
    p.unexplored = x.arcs;
    return true;
}

// Write the pairs that the lanes have won into the inboxes of the vertices' owners, by the whole warp.
template <int COUNT, typename Vertex, typename Offset>
__device__ __forceinline__ void send_pairs(const Ranks<Vertex, Offset>& x, const bool (&won)[COUNT],
                                           const Vertex (&vertex)[COUNT], const Vertex (&parent)[COUNT]) {
    int owner[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k)
        owner[k] = won[k] ? static_cast<int>(vertex[k] / static_cast<Vertex>(x.stride)) : -1;
    for (int partition = 0; partition < x.partitions; ++partition) {
        unsigned same[COUNT];
        int count = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            same[k] = __ballot_sync(ALL, owner[k] == partition);
            count += __popc(same[k]);
        }
        if (count == 0) continue;
        long long slot = 0;
        if (lane_id() == 0)
            slot = static_cast<long long>(atomicAdd(x.tally->sent + partition, static_cast<unsigned long long>(count)));
        slot = __shfl_sync(ALL, slot, 0);
        Pair<Vertex>* const pairs = inbox_of(x, partition, x.rank);
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const long long mine = slot + __popc(same[k] & lanes_below());
            if (owner[k] == partition && mine < x.capacity) pairs[mine] = {vertex[k], parent[k]};
            slot += __popc(same[k]);
        }
    }
}

// This warp's run of the pairs that a rank sent. Where pairs are few, the warps that have some of one rank have none of
// another.
template <typename Vertex, typename Offset>
__device__ __forceinline__ Run received(const Ranks<Vertex, Offset>& x, const Worker& w, int partition) {
    const long long warp = (w.warp + partition * (w.warps / x.partitions)) % w.warps;
    return run_of(w.result->pairs[partition], warp, w.warps);
}

// Expand the frontier, and settle the pairs that ranks sent if they fit into the inboxes.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool go_top_down(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                            const Worker& w, Progress& p, const BitmapRing& ring, bool& fits) {
    const Vertex base = static_cast<Vertex>(x.rank * x.stride);
    const auto send = [&](const bool (&won)[UNROLL], const Vertex(&vertex)[UNROLL], const Vertex(&parent)[UNROLL]) {
        send_pairs(x, won, vertex, parent);
    };
    expand_frontier(s, x.marked, base, 0, w.result->own, w.warp, w.warps, send);
    if (!end_phase(s, x, w, p, 0)) return false;
    fits = !w.result->overflown;
    if (!fits) return true;
    unsigned found = 0;
    for (int partition = 0; partition < x.partitions; ++partition) {
        found += settle_pairs(s, ring.visited(), inbox_of(x, x.rank, partition), received(x, w, partition), base,
                              p.level, 0, &x.tally->tail);
    }
    if (!end_phase(s, x, w, p, found)) return false;
    p.vertices = w.result->found;
    return true;
}

// Publish this rank's visited vertices to all ranks.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void publish_all(const Ranks<Vertex, Offset>& x, const Worker& w, const BitmapRing& ring,
                                            int which) {
    const long long step = static_cast<long long>(w.warps) * WARP;
    for (long long start = static_cast<long long>(w.warp) * WARP; start < ring.words; start += UNROLL * step) {
        const long long word = start + w.lane;
        unsigned bits[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) bits[k] = word + k * step < ring.words ? ring.visited()[word + k * step] : 0;
        publish(x, which, word, step, ring.words, bits, true);
    }
}

// Write the distances that the bitmaps have if these leave no room for this level's and a copy.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void make_room(const Search<Vertex, Offset>& s, const Worker& w, BitmapRing& ring) {
    if (ring.newest - ring.oldest <= BITMAPS - 4) return;
    write_distances<false>(s, ring, SKIP, false, false, w.warp, w.warps);
    ring.oldest = ring.newest;
}

// Add a bitmap of the vertices that are visited or marked, and publish it to all ranks. Returns how many of them are new,
// counted in the lanes.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned publish_marked(const Ranks<Vertex, Offset>& x, const Worker& w, const Progress& p,
                                                   BitmapRing& ring) {
    const unsigned* const marked = x.marked + x.rank * (x.stride / WARP);
    const unsigned* const visited = ring.visited();
    unsigned* const upcoming = ring.add(p.level);
    unsigned found = 0;
    const long long step = static_cast<long long>(w.warps) * WARP;
    for (long long start = static_cast<long long>(w.warp) * WARP; start < ring.words; start += step) {
        const long long word = start + w.lane;
        unsigned bits[1] = {0};
        if (word < ring.words) {
            const unsigned before = visited[word];
            upcoming[word] = bits[0] = before | marked[word];
            found += __popc(bits[0] & ~before);
        }
        publish(x, p.newest, word, 0, ring.words, bits, false);
    }
    return found;
}

// Expand a frontier of many edges: what is reached lies in a bitmap alone, of which all ranks get a copy. This rank's own
// vertices get their predecessors at once. `test`: look first which neighbours are marked.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool go_top_down_dense(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                                  const Worker& w, Progress& p, BitmapRing& ring, bool test,
                                                  bool& fits) {
    make_room(s, w, ring);
    const Vertex base = static_cast<Vertex>(x.rank * x.stride);
    const unsigned* const visited = ring.visited();
    constexpr int COUNT = 2 * UNROLL;
    const auto send = [&](bool (&won)[COUNT], const Vertex(&vertex)[COUNT], const Vertex(&parent)[COUNT]) {
        settle_own(s, visited, base, won, vertex, parent, p.level);
        send_pairs(x, won, vertex, parent);
    };
    expand_frontier<COUNT>(s, x.marked, base, 0, w.result->own, w.warp, w.warps, send, test);
    if (!end_phase(s, x, w, p, 0)) return false;
    fits = !w.result->overflown;
    if (!fits) return true;
    for (int partition = 0; partition < x.partitions; ++partition) {
        mark_pairs(s, x.marked + x.rank * (x.stride / WARP), visited, inbox_of(x, x.rank, partition),
                   received(x, w, partition), base, p.level);
    }
    if (!end_phase(s, x, w, p, 0)) return false;
    if (!end_phase(s, x, w, p, publish_marked(x, w, p, ring))) return false;
    p.vertices = w.result->found;
    p.queued = false;
    return true;
}

// Scan the in-neighbours of unvisited vertices for a visited one.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool go_bottom_up(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                             const Worker& w, Progress& p, BitmapRing& ring) {
    make_room(s, w, ring);
    if (p.queued) {
        publish_all(x, w, ring, p.newest);
        if (!end_phase(s, x, w, p, 0)) return false;
    }
    const unsigned* const mine = ring.visited();
    unsigned* const upcoming = ring.add(p.level);
    const unsigned* const visited = bitmap_of(x, x.rank, p.newest);
    const auto left = [&] { return &x.tally->left; };
    const int next = 1 - p.newest;
    const bool compare = p.vertices < x.vertices / s.beta;
    const auto write = [&](long long word, bool inside, const unsigned* hits) {
        const unsigned bits[1] = {inside ? *hits : 0};
        if (inside) upcoming[word] = bits[0];
        publish(x, next, word, 0, inside ? ring.words : 0, bits, compare);
    };
    unsigned found = bottom_up_level(s, mine, visited, write, p.level, 0, left, w.warp, w.warps, w.list, w.hits);
    if (!end_phase(s, x, w, p, found)) return false;
    long long vertices = w.result->found;
    if (w.result->left) {
        found = probe_long_rows(s, visited, upcoming, p.level, 0, w.result->own_left, w.warp, w.warps);
        if (!end_phase(s, x, w, p, found)) return false;
        vertices += w.result->found;
        publish_all(x, w, ring, next);
        if (!end_phase(s, x, w, p, 0)) return false;
    }
    p.shrinking = vertices < p.vertices && vertices < x.vertices / s.beta ? p.shrinking + 1 : 0;
    p.vertices = vertices;
    p.newest = next;
    p.queued = false;
    return true;
}

// Put the frontier into the queue, and continue in a copy of the newest bitmap.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool return_to_queue(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                                const Worker& w, Progress& p, BitmapRing& ring) {
    copy_bitmap(x, w, bitmap_of(x, x.rank, p.newest), x.marked);
    const unsigned* const before = ring.at(ring.newest - 1);
    const unsigned* const newest = ring.visited();
    queue_from_bitmap(s, before, newest, ring.add(SKIP), 0, &x.tally->tail, w.warp, w.warps, w.list);
    p.queued = true;
    p.shrinking = 0;
    return end_phase(s, x, w, p, 0);
}

// Has the frontier more edges than all inboxes have room for pairs? Then some inbox would probably overflow, unless each
// segment has room for all vertices of its owner.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool may_overflow(const Ranks<Vertex, Offset>& x, long long edges) {
    return x.capacity < x.stride && edges > x.capacity * x.partitions * x.partitions;
}

// One level. Returns whether all ranks arrived at its end.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool expand_level(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                             const Worker& w, Progress& p, BitmapRing& ring) {
    bool bottom_up = !p.queued, hubs = false;
    ++p.level;
    if (p.queued) {
        hubs = has_hubs({p.vertices, w.result->edges}, x.vertices, x.arcs);
        bottom_up = w.result->edges * s.alpha * (hubs ? OF_HUBS : 1) > p.unexplored || may_overflow(x, w.result->edges);
        p.unexplored -= w.result->edges;
    }
    if (!bottom_up) {
        bool fits;
        // Predecessors are cleared by level 2.
        const bool dense = w.result->edges * (hubs ? OF_HUBS : 1) > s.dense && p.level > 1;
        if (!(dense ? go_top_down_dense(s, x, w, p, ring, hubs, fits) : go_top_down(s, x, w, p, ring, fits)))
            return false;
        bottom_up = !fits;
    }
    if (bottom_up) {
        if (!go_bottom_up(s, x, w, p, ring)) return false;
        const bool needs_queue = p.vertices > 0 && p.shrinking >= s.shrinking_levels;
        if (needs_queue && !return_to_queue(s, x, w, p, ring)) return false;
    }
    if (s.trace && w.thread == 0 && p.level < TRACED) s.trace[p.level] = nanoseconds() * 2 + bottom_up;
    return true;
}

// Write the outcome except for `DONE`, by one thread. All blocks know it before they write distances.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void write_outcome(const Ranks<Vertex, Offset>& x, const Worker& w, const Progress& p,
                                              bool given_up) {
    if (w.thread != 0) return;
    x.outcome[LEVELS] = given_up ? GIVEN_UP : p.level;
    x.outcome[DEPTH] = p.level - (p.level && p.vertices == 0);
    x.outcome[REACHED] = w.result->reached;
}

// Tell the host that the search is done, by the last block that is. Distances of sources without edges have been
// overwritten.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void end_search(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) last = atomic_add_acq_rel(&x.tally->finished, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    for (long long i = threadIdx.x; i < s.count; i += blockDim.x) s.distances[source_of(s, i)] = 0;
    __syncthreads();
    if (threadIdx.x != 0) return;
    s.state->target_level = 0;
    x.tally->finished = 0;
    release_system();
    x.outcome[DONE] = s.number;
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search_partition(const __grid_constant__ Search<Vertex, Offset> s,
                                                                    const __grid_constant__ Ranks<Vertex, Offset> x) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ GlobalResult result;
    __shared__ unsigned found;
    __shared__ int levels[BITMAPS];
    constexpr int WARPS = THREADS / WARP;
    const int warp_of_block = threadIdx.x / WARP;
    unsigned* const hits = reinterpret_cast<unsigned*>(memory);
    unsigned short* const lists = reinterpret_cast<unsigned short*>(hits + WARPS * TILES * TILE);
    const Worker w = {lane_id(),
                      static_cast<int>(warp_of_block * gridDim.x + blockIdx.x),
                      static_cast<int>(gridDim.x * WARPS),
                      static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x,
                      static_cast<long long>(gridDim.x) * THREADS,
                      lists + warp_of_block * LIST,
                      hits + warp_of_block * TILES * TILE,
                      &found,
                      &result};
    BitmapRing ring = {s.visited, (s.n + WARP - 1) / WARP, levels, 0, 0};
    Progress p;
    if (!begin_search(s, x, w, p)) return;
    bool given_up = false;
    while (p.vertices && p.level < s.depth_limit && !w.result->at_target && !given_up) {
        if (!expand_level(s, x, w, p, ring)) return;
        given_up = p.level > x.vertices;  // more levels than vertices: as many if each reaches one and the last none
    }
    write_outcome(x, w, p, given_up);
    write_distances<false>(s, ring, static_cast<int>(s.unreached), true, false, w.warp, w.warps);
    end_search(s, x);
    reset_bitmaps(x, w);  // while the host goes on
    reset_for_next_search(s, w.warp, w.warps);
}
