// Direction-optimizing: the whole search in one cooperative launch.
//
// *Top-down*: the frontier is a run of a queue, cut into equal runs of edges, one for each warp. The thread that sets a
// neighbour's bit in the bitmap `visited` appends it to the queue; where the edges are many (*dense*), it does not: the
// queue comes from the bitmap afterwards, if it is needed at all. *Bottom-up*: each unvisited vertex probes its
// in-neighbours until one is visited. It probes its `hub` first, the in-neighbour with the most out-edges, then the
// next four, then all; on skewed graphs few need more than the hub. Rows too long for a warp are left to the whole
// grid. Every edge out of an earlier level leads to a visited vertex, so a visited in-neighbour of an unvisited vertex
// is always in the frontier: `visited` is the frontier's bitmap too, and no queue need be turned into one. Levels
// without a queue each leave a bitmap, from which their distances are written at the end, all at once and in
// order. *Small levels*: while the frontier is small, one block goes from level to level with its queue in shared
// memory, or on graphs with many levels all blocks, each with a queue of its own. These go several levels before they
// meet, and write only distances, from which the grid finds bits and predecessors.
// *Masks*: the vertices that a mask bars are in `visited` from the start, as isolated ones are, so no level enters them.
// They have edges to others, though, so a bottom-up level probes a copy of the bitmap without them.
//
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric); in_targets are aligned to
//                                     groups of four
//   hub[n], heavy[n][4]               the in-neighbours to probe first, those with the most out-edges; the vertex
//                                     itself if it has no in-edge, and -1 where there are no more. In a graph of small
//                                     rows (`small_rows`) the hub is among the four, and the last is MORE if there are others
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[BITMAPS][words]           the vertices reached so far and the isolated ones, see `BitmapRing`; a search
//                                     finds only the isolated ones in the first, and resets it to them
//   allowed[n]                        a mask, a byte per vertex, 0 where it bars it; without one, null, and then unused:
//   barred[words]                     the vertices that it bars, and the isolated ones
//   reached[words]                    what the bottom-up level probes, the newest bitmap without `barred`
//   queue[n]                          the reached vertices with out-edges, level after level: see `Entry`; while levels
//                                     are deep, chunks that blocks redistribute: see `DeepLevels::share`
//   queued[n]                         the vertices themselves
//   distances[n]                      the level that reached the vertex, 0 at a source, `unreached` where there is none
//   predecessors[n]                   the vertex that reached it, -1 where there is none; null if not wanted
//   sources[count]                    in the host's memory, distinct
//   state                             what the blocks share, see `State`
//   trace[levels + 1]                 for each level when it was done, in nanoseconds, times 2, plus 1 if it went
//                                     bottom-up; the start first; null if not wanted
//   status                            in the host's memory: see `report`
//
// Slots in the queue come from one 64-bit atomic per warp: its high part counts vertices, its low part their edges. So
// each slot comes with the sum of the degrees before it, and nothing has to be scanned.
//
// Work: O(n / 32) to end, O(n) for each of at most 40 runs of deep levels. A top-down level costs one atomic OR
// per frontier edge; a bottom-up level at most one bit test per edge into an unvisited vertex, and reading and writing a
// bitmap. Deep ones cost one `atomicMin` per frontier edge, and a look at the in-neighbours at the end. Distances
// and predecessors are written once per vertex and search. Isolated vertices hold their answer from the start; where
// the last search began at one, as `State::stale` says, they are reset. Otherwise their distances are rewritten only
// where whole runs are written at the end, which is faster than leaving gaps; their predecessors only if `fresh`,
// and no others if they are CLEARED.
// A mask is read once, and two bitmaps more by each bottom-up level.
// Synchronisation: one grid-wide barrier per level, two in a dense one that goes top-down and, with a mask, in one that
// goes bottom-up, one barrier of the block per small level, and one or two of the grid for several deep ones; the host
// waits once.
//
// Races: threads race for a neighbour's bit; atomicOr lets one win, so no vertex is queued twice, and the predecessor
// is the winner's. A bottom-up level writes words that only one warp accesses. What blocks race for in deep levels, see
// deep_levels.cuh.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced expansion. The
// packed counter, the heavy in-neighbours, the bitmaps in place of distances and deep levels are ours.

#include "bottom_up.cuh"
#include "deep_levels.cuh"
#include "level_bitmaps.cuh"
#include "parameters.cuh"
#include "prepare.cuh"
#include "small_levels.cuh"
#include "top_down.cuh"

constexpr int MOST_SMALL_RUNS = 8;  // of deep levels, after which there are no more
constexpr int SMALL_RUN = 32;       // a run is small if it expands at most one in so many of all edges

using Worker = WorkerOf<PhaseResult>;

// How far a search has come. Every thread follows it in variables of its own.
struct Progress {
    Frontier frontier;
    long long unexplored;  // edges of the vertices that no level has expanded
    long long begin = 0;   // of the frontier in the queue; where it is not there, of the next one that will be
    int phase = 1;
    int level = 0;
    int shrinking = 0;      // small frontiers in a row, bottom-up
    bool queued = true;     // the frontier is in the queue, not just in the newest bitmap and not in the one before
    int small_runs = 0;     // of deep levels
    bool labeled = false;   // are the distances of all unvisited vertices UNLABELED?
    bool no_room = false;   // for the frontier, in the queues in shared memory?
    bool given_up = false;  // more levels than vertices: as many if each reaches one and the last none; or a masked end
};

// Write that isolated vertices are unreached, where the last search began at one.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void reset_isolated(const Search<Vertex, Offset>& s, const Worker& w, bool was_stale,
                                               long long words) {
    for (long long word = w.thread; was_stale && !s.fresh && word < words; word += w.threads) {
        for (unsigned left = __ldg(s.isolated + word); left; left &= left - 1) {
            const long long vertex = word * WARP + __ffs(left) - 1;
            if (vertex < s.n && !(s.count == 1 && vertex == s.source)) s.distances[vertex] = s.unreached;
        }
    }
}

// Begin at the only source, by one thread.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void seed_source(const Search<Vertex, Offset>& s) {
    s.queue[0] = {0, s.offsets[s.source]};
    s.queued[0] = static_cast<Vertex>(s.source);
    reduce_or(s.visited + word_of(s.source), bit_of(s.source));
    if (s.predecessors) s.predecessors[s.source] = -1;
    s.distances[s.source] = 0;
}

// Begin at several sources.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void seed_sources(const Search<Vertex, Offset>& s, const Worker& w, unsigned* stale,
                                             Counter* tail) {
    for (long long start = static_cast<long long>(w.warp) * WARP; start < s.count; start += w.warps * WARP) {
        const bool keep[1] = {start + w.lane < s.count};
        Vertex vertex[1] = {0};
        Offset first[1] = {0}, degree[1] = {0};
        if (keep[0]) {
            vertex[0] = s.sources[start + w.lane];
            first[0] = __ldg(s.offsets + vertex[0]);
            degree[0] = __ldg(s.offsets + vertex[0] + 1) - first[0];
            if (!s.fresh && test(s.isolated, vertex[0])) *stale = 1;
            atomicOr(s.visited + word_of(vertex[0]), bit_of(vertex[0]));
            s.distances[vertex[0]] = 0;
            if (s.predecessors) s.predecessors[vertex[0]] = -1;
        }
        append_to_queue(s, 0, tail, keep, vertex, first, degree);
    }
}

// Put the vertices that the mask bars into the first bitmap, and the only source.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void bar_masked(const Search<Vertex, Offset>& s, const Worker& w, long long words) {
    for (long long word = w.thread; word < words; word += w.threads) {
        const unsigned bits = __ldg(s.isolated + word) | ~word_of_mask(s.allowed, word * WARP, s.n);
        s.barred[word] = bits;
        s.visited[word] = s.count == 1 && word == s.source / WARP ? bits | bit_of(s.source) : bits;
    }
}

// Does the mask bar the only source, or the target? To be called by one thread: others might see another mask, if it is
// written now, and all must do the same.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool bars_an_end(const Search<Vertex, Offset>& s) {
    return (s.count == 1 && !s.allowed[s.source]) || (s.target >= 0 && !s.allowed[s.target]);
}

// Begin. The first bitmap has the isolated vertices, as the last search left it.
template <bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ Progress begin_search(const Search<Vertex, Offset>& s, const Worker& w, long long words) {
    State* const state = s.state;
    const bool one_source = s.count == 1;
    const bool was_stale = state->stale[(s.number + 1) % 2];
    unsigned* const stale = state->stale + s.number % 2;
    if (threadIdx.x == 0) *w.found = 0, w.result->target_level = 0;
    reset_isolated(s, w, was_stale, words);
    if constexpr (MASKED) bar_masked(s, w, words);
    if (w.thread == 0) {
        state->target_level = MASKED && bars_an_end(s) ? MASKED_END : 0;
        *stale = s.fresh ? was_stale : one_source && test(s.isolated, s.source);
        state->tails[1] = state->explored[1] = 0;
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (one_source) seed_source(s);
    }
    Progress p;
    p.unexplored = s.m;
    if (one_source) {
        p.frontier.edges = __ldg(s.offsets + s.source + 1) - __ldg(s.offsets + s.source);
        p.frontier.vertices = p.frontier.edges > 0;
    }
    if (!MASKED && one_source && p.frontier.edges > 0 && 1 + p.frontier.edges / CHUNK <= s.single_block_chunks &&
        s.depth_limit > 0) {
        // The loop lets block 0 go on alone: `deep_chunks` is 0 or no less than `single_block_chunks`. No other block needs
        // what it wrote before the next barrier.
        __syncthreads();
    } else {
        end_phase(state, 0, s.edge_bits, w.result);
    }
    if constexpr (MASKED) p.given_up = w.result->target_level == MASKED_END;
    if (!one_source) {
        seed_sources(s, w, stale, &state->tails[p.phase % 3]);
        p.frontier = end_phase(state, p.phase++, s.edge_bits, w.result);
    }
    return p;
}

// Continue after deep levels up to `last`, which wrote only distances.
template <bool SMALL_ROWS, typename Vertex, typename Offset>
__device__ __forceinline__ void settle_levels(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                              unsigned* visited, int last) {
    const long long begin = p.begin + p.frontier.vertices;
    settle<SMALL_ROWS>(s, visited, last, p.phase, begin, w.warp, w.warps);
    const Frontier next = end_phase(s.state, p.phase++, s.edge_bits, w.result);
    const long long explored = static_cast<long long>(w.result->explored);
    const int deepest = max(p.level, static_cast<int>(w.result->level));
    p.unexplored += next.edges - p.frontier.edges - explored;
    p.begin = begin;
    p.frontier = next;
    p.level = next.vertices ? last : min(last, deepest + 1);
    p.given_up = p.level > s.n;
}

// Let all blocks together expand a small frontier and those after it. The grid sweeps all distances before and after
// it, so few of these runs may expand few edges.
template <bool SMALL_ROWS, bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ void expand_deep(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                            BitmapRing& ring, unsigned char* memory) {
    if (ring.newest > ring.oldest) {
        write_distances<MASKED>(s, ring, SKIP, false, false, w.warp, w.warps);
        ring.oldest = ring.newest;
    }
    if (!p.labeled) unlabel<MASKED>(s, ring.visited(), w.warp, w.warps);
    p.labeled = true;
    end_phase(s.state, p.phase++, s.edge_bits, w.result);
    deep_levels<SMALL_ROWS>(s, p.level, p.begin, p.frontier, p.phase, memory);
    end_phase(s.state, p.phase++, s.edge_bits, w.result);
    const int last = static_cast<int>(w.result->level);
    p.no_room = p.level == last;
    const long long before = p.unexplored;
    if (!p.no_room) settle_levels<SMALL_ROWS>(s, w, p, ring.visited(), last);
    p.small_runs += before - p.unexplored <= s.m / SMALL_RUN;
}

// Let one block expand a small frontier and those after it.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void expand_small(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                             unsigned* visited, unsigned char* memory) {
    if (blockIdx.x == 0) small_levels(s, visited, p.level, p.begin, p.frontier, p.phase, memory);
    const Frontier next = end_phase(s.state, p.phase++, s.edge_bits, w.result);
    p.no_room = p.level == w.result->level;
    if (p.no_room) return;
    p.unexplored += next.edges - p.frontier.edges - static_cast<long long>(w.result->explored);
    p.begin += p.frontier.vertices;
    p.frontier = next;
    p.level = static_cast<int>(w.result->level);
    p.given_up = p.level > s.n;
}

// Add up how many vertices the lanes reached, by way of the block's `found`, which stays 0.
__device__ __forceinline__ void count_reached(const Worker& w, unsigned mine, Counter* tail, int edge_bits) {
    mine = static_cast<unsigned>(warp_sum(mine));
    if (w.lane == 0 && mine) atomicAdd(w.found, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned all = atomicExch(w.found, 0);
        if (all) atomicAdd(tail, packed(all, 0, edge_bits));
    }
}

// Is a frontier with so many edges expanded faster bottom-up? A vertex that looks for it probes the fewer neighbours the
// more edges the frontier has, and far fewer if there are hubs among them.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool favors_bottom_up(const Search<Vertex, Offset>& s, long long edges, long long unexplored,
                                                 bool hubs) {
    return edges > unexplored / (hubs ? s.alpha : (s.alpha + 1) / 2);
}

// Are many predecessors to be stored at random, in an array that the L2 does not hold? Where hubs are in the frontier,
// most targets are visited already, and a second pass over the edges reads in vain.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool stores_exceed_l2(const Search<Vertex, Offset>& s, Frontier frontier) {
    return s.passes > 1 && s.predecessors && frontier.edges > s.n && !has_hubs(frontier, s.n, s.m);
}

// A dense level that goes top-down, into `upcoming`: in passes over ranges of targets whose predecessors the L2 holds
// if they would exceed it, which makes random stores three times as fast.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned expand_dense_top_down(const Search<Vertex, Offset>& s, const Worker& w,
                                                          const Progress& p, unsigned* upcoming, long long begin) {
    if (!stores_exceed_l2(s, p.frontier)) {
        return top_down_level<true>(s, upcoming, p.level, begin, p.frontier, nullptr, w.warp, w.warps);
    }
    const long long count = (s.n + s.passes - 1) / s.passes;
    unsigned reached = 0;
    for (long long first = 0; first < s.n; first += count) {
        const Range<Vertex> range = {static_cast<Vertex>(first), static_cast<Vertex>(count)};
        reached += top_down_level<true, true>(s, upcoming, p.level, begin, p.frontier, nullptr, w.warp, w.warps, range);
    }
    return reached;
}

// What a bottom-up level probes for in-neighbours: the newest bitmap or, with a mask, a copy without the barred vertices.
template <bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ const unsigned* probed_bitmap(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                                         const BitmapRing& ring) {
    const unsigned* const visited = ring.visited();
    if constexpr (MASKED) {
#pragma unroll 4
        for (long long word = w.thread; word < ring.words; word += w.threads) {
            s.reached[word] = __ldcg(visited + word) & ~__ldcg(s.barred + word);
        }
        end_phase(s.state, p.phase++, s.edge_bits, w.result);
        return s.reached;
    }
    return visited;
}

// A level that leaves a bitmap and no queue. `begin` is that of its frontier in the queue, if it is there.
template <bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ void expand_dense(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                             BitmapRing& ring, bool bottom_up, long long begin) {
    unsigned* const visited = ring.visited();
    const unsigned* const probed = bottom_up ? probed_bitmap<MASKED>(s, w, p, ring) : visited;
    unsigned* const upcoming = ring.add(p.level);
    unsigned reached;
    if (bottom_up) {
        const auto write = [=](long long word, bool inside, const unsigned* bits) {
            if (inside) upcoming[word] = *bits;
        };
        const auto left = [&] { return &s.state->explored[p.phase % 3]; };
        reached = bottom_up_level(s, visited, probed, write, p.level, p.begin, left, w.warp, w.warps, w.list, w.hits);
    } else {
        for (long long word = w.thread; word < ring.words; word += w.threads) upcoming[word] = __ldcg(visited + word);
        end_phase(s.state, p.phase++, s.edge_bits, w.result);
        reached = expand_dense_top_down(s, w, p, upcoming, begin);
    }
    count_reached(w, reached, &s.state->tails[p.phase % 3], s.edge_bits);
}

// Probe the rows that a bottom-up level left to the whole grid.
template <bool MASKED, typename Vertex, typename Offset>
__device__ __forceinline__ void expand_long_rows(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                                 const BitmapRing& ring) {
    const unsigned* const visited = MASKED ? s.reached : ring.at(ring.newest - 1);
    const Frontier rows = unpacked(w.result->explored, s.edge_bits);
    const unsigned reached = probe_long_rows(s, visited, ring.visited(), p.level, p.begin, rows, w.warp, w.warps);
    count_reached(w, reached, &s.state->tails[p.phase % 3], s.edge_bits);
    p.frontier.vertices += end_phase(s.state, p.phase++, s.edge_bits, w.result).vertices;
}

// After a level that left no queue, should there be one again? After bottom-up levels, when the frontier has been small
// and shrinking for some time.
template <typename Vertex, typename Offset>
__device__ __forceinline__ bool needs_queue(const Search<Vertex, Offset>& s, Progress& p, bool bottom_up,
                                            Frontier expanded) {
    const long long vertices = p.frontier.vertices;
    p.shrinking = bottom_up && vertices < expanded.vertices && vertices < s.n / s.beta ? p.shrinking + 1 : 0;
    if (bottom_up) return p.shrinking >= s.shrinking_levels;
    return !favors_bottom_up(s, vertices * (s.m / s.n), p.unexplored, has_hubs(expanded, s.n, s.m));
}

// Put the frontier back into the queue, and go on in a copy of the newest bitmap.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void return_to_queue(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                                BitmapRing& ring) {
    const unsigned* const before = ring.at(ring.newest - 1);
    const unsigned* const visited = ring.visited();
    Counter* const tail = &s.state->tails[p.phase % 3];
    queue_from_bitmap(s, before, visited, ring.add(SKIP), p.begin, tail, w.warp, w.warps, w.list);
    p.frontier = end_phase(s.state, p.phase++, s.edge_bits, w.result);
    p.queued = true;
    p.shrinking = 0;
}

// Report to the host. `with_isolated`: the distances of isolated vertices were written, those of sources too.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void end_search(const Search<Vertex, Offset>& s, const Worker& w, Progress& p,
                                           bool with_isolated) {
    const bool one_source = s.count == 1;
    if (with_isolated && (!one_source || test(s.isolated, s.source))) {
        end_phase(s.state, p.phase++, s.edge_bits, w.result);
        for (long long i = w.thread; i < s.count; i += w.threads) {
            s.distances[one_source ? s.source : s.sources[i]] = 0;
        }
    }
    report(s.state, s.status, s.number, p.level, p.given_up);
    reset_for_next_search(s, w.warp, w.warps);  // while the host goes on
}

template <bool SMALL_ROWS, bool MASKED, typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ PhaseResult result;
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
    Progress p = begin_search<MASKED>(s, w, ring.words);
    for (;;) {
        const Frontier expanded = p.frontier;
        const bool reached_target = s.target >= 0 && is_reached(result.target_level, p.level);
        const bool done = expanded.vertices == 0 || p.level >= s.depth_limit || p.given_up || reached_target;
        const long long chunks = expanded.vertices + expanded.edges / CHUNK;  // an upper bound
        const bool deep = s.deep_chunks > 0 && p.small_runs < MOST_SMALL_RUNS;
        const bool small = p.queued && !p.no_room && chunks <= (deep ? s.deep_chunks : s.single_block_chunks);
        const bool bottom_up =
            !p.queued || favors_bottom_up(s, expanded.edges, p.unexplored, has_hubs(expanded, s.n, s.m));
        const bool dense = !small && (bottom_up || expanded.edges > s.dense);
        const bool with_isolated = done && (MASKED || s.fresh || ring.newest > ring.oldest);
        if (done || (dense && ring.is_full())) {
            const int unreached = done ? static_cast<int>(s.unreached) : SKIP;
            const bool clear = s.predecessors && s.fresh != CLEARED;
            write_distances<MASKED>(s, ring, unreached, with_isolated, clear, w.warp, w.warps);
            ring.oldest = ring.newest;
        }
        if (done) return end_search(s, w, p, with_isolated);
        if (small) {
            if (chunks <= s.single_block_chunks) {
                expand_small(s, w, p, ring.visited(), memory);
            } else {
                expand_deep<SMALL_ROWS, MASKED>(s, w, p, ring, memory);
            }
            continue;
        }

        ++p.level;
        p.no_room = false;
        p.given_up = p.level > s.n;
        if (p.queued) {
            p.unexplored -= expanded.edges;
            p.begin += expanded.vertices;
        }
        if (dense) {
            expand_dense<MASKED>(s, w, p, ring, bottom_up, p.begin - expanded.vertices);
        } else {
            Counter* const tail = &s.state->tails[p.phase % 3];
            const long long begin = p.begin - expanded.vertices;
            top_down_level<false>(s, ring.visited(), p.level, begin, expanded, tail, w.warp, w.warps);
        }
        p.queued = !dense;
        p.frontier = end_phase(s.state, p.phase++, s.edge_bits, w.result);
        if (dense && result.explored) expand_long_rows<MASKED>(s, w, p, ring);
        if (s.trace && w.thread == 0) s.trace[p.level] = nanoseconds() * 2 + bottom_up;
        if (p.queued || p.frontier.vertices == 0) continue;
        if (needs_queue(s, p, bottom_up, expanded) && !ring.is_full()) return_to_queue(s, w, p, ring);
    }
}
