// Direction-optimizing: the whole search in one cooperative launch.
//
// *Top-down*: the frontier is a run of a queue, cut into equal runs of edges, one for each warp. The thread that sets a
// neighbour's bit in the bitmap `visited` appends it to the queue; where the edges are many (*dense*), it does not: the
// queue comes from the bitmap afterwards, if it is needed at all. *Bottom-up*: each unvisited vertex probes its
// in-neighbours until one is visited. It probes its `hub` first, the in-neighbour with the most out-edges, then the
// next four, then all; on skewed graphs few need more than the hub. Every edge out of an earlier level leads to a
// visited vertex, so a visited in-neighbour of an unvisited vertex is always in the frontier: `visited` is the
// frontier's bitmap too, and no queue need be turned into one. Levels without a queue leave each a bitmap behind, from
// which their distances are written at the end, all at once and in order. *Small levels*: while the frontier is small,
// one block goes from level to level with its queue in shared memory, or on graphs with many levels one cluster of
// blocks, each with a queue of its own that the others read.
//
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric); in_targets are aligned to
//                                     groups of four
//   hub[n], heavy[n][4]               the in-neighbours to probe first, those with the most out-edges; the vertex
//                                     itself if it has no in-edge, and -1 where there are no more. In a graph of small
//                                     rows (`near`) the hub is among the four, and the last is MORE if there are others
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[BITMAPS][words]           the vertices reached so far and the isolated ones, see `BitmapRing`; a search
//                                     finds only the isolated ones in the first, and resets it to them
//   queue[n]                          the reached vertices with out-edges, level after level: see `Entry`
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
// Work: O(n / 32) to end. A top-down level costs one bit test per frontier edge and one atomic OR per vertex found; a
// bottom-up level at most one bit test per edge into an unvisited vertex, and reading and writing a bitmap. Distances
// and predecessors are written once per vertex and search. Isolated vertices hold their answer from the start; where
// the last search began at one, as `State::stale` says, they are reset. Otherwise their distances are rewritten only
// where whole runs are written at the end, which is faster than leaving gaps; their predecessors only if `fresh`.
// Synchronisation: one grid-wide barrier per level, two in a dense one that goes top-down, one barrier of the block or
// of the cluster per small level; the host waits once.
//
// Races: threads race for a neighbour's bit; atomicOr lets one win, so nothing is enqueued twice, and the predecessor
// is the winner's. The read before it may be stale, and then the atomic decides. A bottom-up level writes words that
// only one warp accesses.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced expansion. The
// packed counter, the heavy in-neighbours, the bitmaps in place of distances and small levels by a cluster are ours.

#include "bottom_up.cuh"
#include "level_bitmaps.cuh"
#include "parameters.cuh"
#include "prepare.cuh"
#include "small_levels.cuh"
#include "top_down.cuh"

// Write that isolated vertices are unreached, where the last search began at one.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void reset_isolated(const Search<Vertex, Offset>& s, bool was_stale, bool one_source,
                                               int unreached, long long thread, long long threads, long long words) {
    for (long long word = thread; was_stale && !s.fresh && word < words; word += threads) {
        for (unsigned left = __ldg(s.isolated + word); left; left &= left - 1) {
            const long long vertex = word * WARP + __ffs(left) - 1;
            if (vertex < s.n && !(one_source && vertex == s.source)) s.distances[vertex] = unreached;
        }
    }
}

// Begin at the only source, by one thread.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void enqueue_source(const Search<Vertex, Offset>& s, unsigned* visited) {
    s.queue[0] = {0, s.offsets[s.source]};
    s.queued[0] = static_cast<Vertex>(s.source);
    reduce_or(visited + word_of(s.source), bit_of(s.source));
    if (s.predecessors) s.predecessors[s.source] = -1;
    s.distances[s.source] = 0;
}

// Add up how many vertices the lanes reached, by way of the block's `found`, which stays 0.
__device__ __forceinline__ void count_reached(unsigned mine, unsigned* found, Counter* tail, int lane, int edge_bits) {
    mine = static_cast<unsigned>(warp_sum(mine));
    if (lane == 0 && mine) atomicAdd(found, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned all = atomicExch(found, 0);
        if (all) atomicAdd(tail, packed(all, 0, edge_bits));
    }
}

template <bool NEAR, typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ PhaseResult result;
    __shared__ unsigned found;  // by the block in this level, where the queue does not count
    __shared__ int levels[BITMAPS];
    const int lane = lane_id();
    const int warp_of_block = threadIdx.x / WARP;
    const int warps = gridDim.x * (THREADS / WARP);
    const int warp = warp_of_block * gridDim.x + blockIdx.x;  // neighbouring warps on different multiprocessors
    const int cluster = cluster_size();
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    const long long words = (s.n + WARP - 1) / WARP;
    unsigned* const hits = reinterpret_cast<unsigned*>(memory) + warp_of_block * TILES * TILE;
    unsigned short* const list =
        reinterpret_cast<unsigned short*>(memory + THREADS / WARP * TILES * TILE * sizeof(unsigned)) +
        warp_of_block * LIST;
    State* const state = s.state;
    const int edge_bits = static_cast<int>(s.edge_bits);
    const bool one_source = s.count == 1;
    const bool was_stale = state->stale[(s.number + 1) % 2];
    unsigned* stale = state->stale + s.number % 2;
    const int unreached = static_cast<int>(s.unreached);
    BitmapRing ring = {s.visited, words, levels, 0, 0};

    // Begin: the first bitmap has the isolated vertices, as the last search left it.
    if (threadIdx.x == 0) {
        found = 0;
        result.target_level = 0;
    }
    reset_isolated(s, was_stale, one_source, unreached, thread, threads, words);
    if (thread == 0) {
        state->target_level = 0;
        *stale = s.fresh ? was_stale : one_source && test(s.isolated, s.source);
        state->tails[1] = state->explored[1] = 0;
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (one_source) enqueue_source(s, ring.visited());
    }
    int phase = 1;
    Frontier frontier;
    if (one_source) {
        frontier.edges = __ldg(s.offsets + s.source + 1) - __ldg(s.offsets + s.source);
        frontier.vertices = frontier.edges > 0;
    }
    if (one_source && frontier.edges > 0 && 1 + frontier.edges / CHUNK <= s.alone && s.depth_limit > 0) {
        __syncthreads();  // block 0 goes on, and what it wrote no other block needs before the next barrier
    } else {
        end_phase(state, 0, edge_bits, &result);
    }
    if (!one_source) {
        for (long long start = static_cast<long long>(warp) * WARP; start < s.count; start += warps * WARP) {
            const bool keep[1] = {start + lane < s.count};
            Vertex vertex[1] = {0};
            Offset first[1] = {0}, degree[1] = {0};
            if (keep[0]) {
                vertex[0] = s.sources[start + lane];
                first[0] = __ldg(s.offsets + vertex[0]);
                degree[0] = __ldg(s.offsets + vertex[0] + 1) - first[0];
                if (!s.fresh && test(s.isolated, vertex[0])) *stale = 1;
                atomicOr(ring.visited() + word_of(vertex[0]), bit_of(vertex[0]));
                s.distances[vertex[0]] = 0;
                if (s.predecessors) s.predecessors[vertex[0]] = -1;
            }
            enqueue(s, 0, &state->tails[phase % 3], keep, vertex, first, degree);
        }
        frontier = end_phase(state, phase++, edge_bits, &result);
    }

    // The levels. Every thread follows them in variables of its own.
    long long begin = 0;  // of the frontier in the queue; where it is not there, of the next one that will be
    long long unexplored = s.m;
    int level = 0;
    bool queued = true;    // the frontier is in the queue, not just in the newest bitmap and not in the one before
    int shrinking = 0;     // small frontiers in a row, bottom-up
    bool no_room = false;  // for the frontier, in the queues in shared memory?
    bool given_up = false;
    bool with_isolated = false;  // are their distances written at the end?
    for (;;) {
        const bool done = frontier.vertices == 0 || level >= s.depth_limit || given_up ||
                          (s.target >= 0 && is_reached(result.target_level, level));
        const long long chunks = frontier.vertices + frontier.edges / CHUNK;  // an upper bound
        const bool small = queued && !no_room && chunks <= (cluster > 1 ? s.together : s.alone);
        const bool bottom_up = !queued || frontier.edges > unexplored / s.alpha;
        const bool dense = !small && (bottom_up || frontier.edges > s.dense);
        if (done || (dense && ring.is_full())) {
            with_isolated = done && (s.fresh || ring.newest > ring.oldest);
            write_distances(s, ring, done ? unreached : SKIP, with_isolated, warp, warps);
            ring.oldest = ring.newest;
        }
        if (done) break;
        const long long expanded = frontier.vertices;

        if (small) {
            const int size = chunks <= s.alone ? 1 : cluster;
            if (blockIdx.x < size) {
                const int limit = static_cast<int>(size == 1 ? s.alone : s.together);
                if (size > 1) {
                    small_levels<Cluster, NEAR>(s, ring.visited(), level, begin, frontier, phase, size, limit, memory);
                } else {  // neighbours in the queue cost it more than they save
                    small_levels<Block, false>(s, ring.visited(), level, begin, frontier, phase, size, limit, memory);
                }
            }
            const Frontier next = end_phase(state, phase++, edge_bits, &result);
            no_room = level == result.level;
            if (no_room) continue;
            unexplored += next.edges - frontier.edges - static_cast<long long>(result.explored);
            frontier = next;
            level = static_cast<int>(result.level);
            begin += expanded;
            given_up = level > s.n;
            continue;
        }

        ++level;
        no_room = false;
        given_up = level > s.n;  // as many levels as vertices, if each reaches one and the last none
        if (queued) {
            unexplored -= frontier.edges;
            begin += expanded;
        }
        if (dense) {
            unsigned* const visited = ring.visited();
            unsigned* const upcoming = ring.add(level);
            unsigned mine;
            if (bottom_up) {
                mine = bottom_up_level(s, visited, visited, upcoming, level, warp, warps, list, hits);
            } else {
                for (long long word = thread; word < words; word += threads) upcoming[word] = __ldcg(visited + word);
                end_phase(state, phase++, edge_bits, &result);
                mine = top_down_level<true>(s, upcoming, level, begin - expanded, frontier, nullptr, warp, warps);
            }
            count_reached(mine, &found, &state->tails[phase % 3], lane, edge_bits);
        } else {
            top_down_level<false>(s, ring.visited(), level, begin - expanded, frontier, &state->tails[phase % 3], warp,
                                  warps);
        }
        queued = !dense;
        frontier = end_phase(state, phase++, edge_bits, &result);
        if (s.trace && thread == 0) s.trace[level] = nanoseconds() * 2 + bottom_up;
        if (queued || frontier.vertices == 0) continue;

        // Back to the queue? After bottom-up levels, when the frontier has been small and shrinking for some time.
        shrinking = bottom_up && frontier.vertices < expanded && frontier.vertices < s.n / s.beta ? shrinking + 1 : 0;
        const bool back = bottom_up ? shrinking >= s.tail : frontier.vertices * (s.m / s.n) <= unexplored / s.alpha;
        if (back && !ring.is_full()) {
            const unsigned* const before = ring.at(ring.newest - 1);
            const unsigned* const visited = ring.visited();
            queue_from_bitmap(s, before, visited, ring.add(SKIP), begin, &state->tails[phase % 3], warp, warps, list);
            frontier = end_phase(state, phase++, edge_bits, &result);
            queued = true;
            shrinking = 0;
        }
    }

    if (with_isolated && (!one_source || test(s.isolated, s.source))) {  // a source may be isolated
        end_phase(state, phase++, edge_bits, &result);
        for (long long i = thread; i < s.count; i += threads) s.distances[one_source ? s.source : s.sources[i]] = 0;
    }
    report(state, s.status, s.number, level, given_up);
    reset_for_next_search(s, warp, warps);  // while the host goes on
}
