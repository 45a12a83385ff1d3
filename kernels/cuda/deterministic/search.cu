// Deterministic: the tree and the order of a sequential queue, in one cooperative launch.
//
// The predecessor of a vertex is its first in-neighbour in the order of the queue; vertices are in the order of their
// predecessors, and those of one predecessor in the order of its adjacency.
//
// *Ordered* levels (ordered.cuh): the frontier is a run of the queue, and its edges are numbered in order. Each vertex
// is claimed by the smallest number of an edge that leads to it (atomicMin). The claimed vertices are written in the
// order of their numbers as vertices, where memory accesses are coalesced; the edges that claimed them are marked in a
// bitmap over the edge numbers, and counted for each warp's run of numbers. The marks in order are the new frontier.
//
// *Wide* levels (wide.cuh), where the frontier has many edges. The vertices that one vertex reached are a sibling
// group: they are adjacent in the queue, and ascend. A byte per vertex tells the first groups apart, and the others
// roughly, always in order (siblings.cuh). The edges before the first large group are expanded, or as many as reach
// nearly all vertices of high degree; the smallest slot of a discoverer wins. Each vertex that is still unvisited then
// probes its in-neighbours for the first in order (probe.cuh), and stops at one of the earliest group left, which a
// large group makes likely. Two in-neighbours of one group that is not distinct are compared by their slots. The
// vertices found are not put in order: they inherit the sibling group of their ancestor in the last ordered level, and
// are compared by their ancestors' slots there, or by the adjacency of their common ancestor.
//
// *Reordering* (reorder.cuh): after `patience` wide levels, the ancestors of the frontier are put in order, level by
// level, by marks over edge numbers.
//
// *Small* levels (small_levels.cuh): one block runs level after level with the frontier in shared memory.
//
// *Deep* levels (deep_levels.cuh), on graphs with many levels: all blocks have a run of a small frontier each, and go
// several levels ahead before they meet. They write only keys of vertices (keys.cuh), from which the grid finds the order,
// the distances and the predecessors.
//
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric and its adjacencies ascend);
//                                     each adjacency ascends; in_targets is aligned for loads of four
//   positions[m]                      for each in-edge its position in the adjacency of its source; a null pointer if
//                                     the adjacencies of out-edges ascend, which makes vertices comparable themselves
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[words], other[words]      bitmaps of the vertices reached by earlier levels, and of the isolated ones. In a
//                                     wide level the second also has what its first edges reached; after it, the
//                                     vertices visited before it, and the two change places
//   fresh[words]                      vertices that edges of this level reached, or marked for reordering; zero between
//                                     levels
//   siblings[2][32 * words]           the sibling group of a vertex in an ordered frontier, or of its ancestor in the
//                                     last ordered one; LAST_SIBLINGS at sources; NO_SIBLINGS where the vertex is not
//                                     visited. A wide level reads one and writes the other
//   marks[m / 32 + 1]                 bitmap over the edge numbers of a level: the edges that claimed a vertex
//   slots[m / 32 + 1]                 the slot of the vertex that the first of each 32 edges of a level leaves
//   counts[warps]                     vertices and edges that the marks of a warp's run of edge numbers lead to
//   queue[n], queued[n]               the ordered vertices with out-edges, level after level: an `Entry` for the edges
//                                     of each, and the vertices themselves; while levels are deep, chunks that blocks
//                                     share evenly overwrite the entries: see `DeepLevels::share`
//   rank[n]                           the slot of a vertex with out-edges in its ordered level; while it is being
//                                     reached, CLAIMED and the smallest edge number (ordered) or slot of a discoverer
//                                     (wide); UNREACHED before; undefined for vertices that wide levels reached
//   keys[n]                           in deep levels the key of a vertex
//   distances[n], predecessors[n]     the answer, -1 where there is none
//   sources[count]                    in the host's memory, distinct, in the order of the queue
//   state, trace, status              as in direction_optimizing; "bottom-up" in a trace is a wide level
//   phases[MAX_PHASES]                the time at which each phase ended, in nanoseconds, and its `Phase`; a null
//                                     pointer if they are not recorded
//
// A search finds only the isolated vertices in `visited`, every `rank` UNREACHED and every `siblings`
// NO_SIBLINGS, and leaves them like that.
//
// Work: O(n) to end, and for each of at most 40 runs of deep levels. An ordered level reads each of its edges once, and
// the marked ones twice, and reads and writes a bitmap. A wide one reads the first edges of the frontier, and of each
// vertex that these leave unvisited the in-edges up to the first from the earliest sibling group left. Deep ones cost one
// `atomicMin` per edge, more where several edges lead to a vertex or several blocks reach it, and a look at the
// in-neighbours at the end.
// Synchronisation: three grid-wide barriers an ordered level; two a wide one, and two for each chunk of its first edges;
// three barriers of the block a small one, two a deep one, and one or two of the grid for several of these.
//
// Races: a smallest number or key does not depend on the order in which they come. A bitmap has one writing warp per word
// where it is not written by atomics. In a wide level threads read ranks, sibling groups and predecessors that earlier
// levels wrote: those of the vertices that it reaches are in the other array, or read only by the warp that searches
// for them, whose predecessor is the best so far. In deep levels a thread may read a key while another lowers it: then it
// gives the neighbours keys that the other lowers too. The warps of a block put vertices into one table of recent ones,
// and look there, without a barrier in between: a warp that misses a vertex asks for its key in vain.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, for the wide
// levels; D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced
// expansion; G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and matching are parallel on
// average, SPAA 2012, for taking prefixes of a sequential order. The marks over edges, the sibling groups and the late
// order are ours.

#include "deep_levels.cuh"
#include "reorder.cuh"
#include "small_levels.cuh"
#include "wide.cuh"

constexpr int MOST_SMALL_RUNS = 8;  // of deep levels, after which there are no more
constexpr int SMALL_RUN = 32;       // a run is small if it expands at most one in so many of all edges

// Set every bit of an array, to the next multiple of 16 bytes.
template <typename T>
__device__ inline void set_all(T* array, long long length, long long thread, long long threads) {
    constexpr long long EACH = sizeof(uint4) / sizeof(T);
    uint4* const whole = reinterpret_cast<uint4*>(array);
    for (long long i = thread; i * EACH < length; i += threads) whole[i] = {ALL, ALL, ALL, ALL};
}

// Append the sources with out-edges to the queue, by one block. Returns the first frontier.
template <typename Vertex, typename Offset>
__device__ Frontier seed(const Search<Vertex, Offset>& s, Counter* totals) {
    Counter sum = 0;
    for (long long start = 0; start < s.count; start += THREADS) {
        const bool keep = start + threadIdx.x < s.count;
        Vertex vertex = 0;
        Offset first = 0, degree = 0;
        if (keep) {
            vertex = s.count == 1 ? static_cast<Vertex>(s.source) : s.sources[start + threadIdx.x];
            first = __ldg(s.offsets + vertex);
            degree = __ldg(s.offsets + vertex + 1) - first;
            reduce_or(s.visited + word_of(vertex), bit_of(vertex));
            s.distances[vertex] = 0;
            s.predecessors[vertex] = -1;
        }
        Counter total;
        const Counter place = block_exclusive_scan(degree ? packed(1, degree, s.edge_bits) : 0, totals, total);
        const Frontier before = unpacked(sum + place, s.edge_bits);
        if (keep) {
            s.rank[vertex] = before.vertices;
            s.siblings[vertex] = LAST_SIBLINGS;
        }
        if (degree) {
            const Offset prefix = static_cast<Offset>(before.edges);
            s.queue[before.vertices] = {prefix, static_cast<Offset>(first - prefix)};
            s.queued[before.vertices] = vertex;
        }
        sum += total;
        __syncthreads();
    }
    return unpacked(sum, s.edge_bits);
}

// Small levels by block 0, if the frontier has at most so many edges; first of all, the sources.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void small_levels(const Search<Vertex, Offset>& s, Traversal& at, bool seeded,
                                             long long most, const Block& block) {
    if (blockIdx.x == 0) {
        Frontier frontier = at.frontier;
        long long begin = at.begin, unexplored = at.unexplored;
        int level = at.level;
        if (!seeded) frontier = seed(s, block.totals);
        const long long expanded = frontier.vertices;
        if (expanded > 0 && frontier.edges <= most && level < s.depth_limit) {
            level = single_block_levels(s, at.visited, at.siblings, level, begin, frontier, unexplored, most,
                                        block.memory, block.totals);
        } else {
            begin -= expanded;  // the frontier has not moved
        }
        if (threadIdx.x == 0) {
            s.state->progress[at.phase % 2] = {level, begin + expanded, frontier.vertices, frontier.edges, unexplored};
        }
    }
    end_phase(s, seeded ? SINGLE_BLOCK : SEED, at.phase, block);
    const Progress& progress = block.result->progress;
    at.level = static_cast<int>(progress.level);
    at.begin = progress.begin;
    at.frontier = {progress.vertices, progress.edges};
    at.unexplored = progress.unexplored;
    at.reached = at.frontier.vertices;
}

// Continue after deep levels, whose keys give the distances, the predecessors and the next frontier.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void settle_levels(const Search<Vertex, Offset>& s, Traversal& at, const DeepEnd& end,
                                              const Block& block) {
    const auto* const queues = reinterpret_cast<const KeyedChunk<Vertex, Offset>*>(block.memory);
    const auto* const queue = queues + end.queue * s.deep_capacity;
    const Counter mine = for_each_vertex(s, queue, end.chunks, 0, block, [](const auto&, Frontier) {});
    if (threadIdx.x == 0) s.counts[blockIdx.x] = mine;
    settle(s, at, end.level, block);
    end_phase(s, DEEP, at.phase, block);
    const long long explored = block.result->counted;
    const int deepest = max(at.level, __ldcg(&s.state->deepest));
    if (end.level > at.level) at.begin += at.frontier.vertices;
    const long long edges = at.frontier.edges;
    at.frontier = append_frontier(s, queue, end.chunks, at.begin, at.siblings, block);
    end_phase(s, DEEP, at.phase, block);
    // The edges of the frontier before are explored, and those of all that the levels reached but the new frontier.
    at.unexplored += at.frontier.edges - edges - explored;
    at.reached = at.frontier.vertices;
    // Blocks meet only every few levels: without a frontier, the search ended at the level after the deepest.
    at.level = at.reached ? end.level : min(end.level, deepest + 1);
}

// Let all blocks together expand a small frontier and those after it. The grid sweeps all keys before and after it, so
// few of these runs may expand few edges.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void expand_deep(const Search<Vertex, Offset>& s, Traversal& at, const Block& block) {
    __shared__ DeepState local;
    __shared__ DeepEnd end;
    reset_keys(s, at.visited, block);
    if (blockIdx.x == 0 && threadIdx.x == 0) s.state->deepest = 0;
    end_phase(s, DEEP, at.phase, block);
    deep_levels(s, at, block.memory, local, end);
    __syncthreads();
    const long long before = at.unexplored;
    at.no_room = end.level == at.level;
    if (end.advanced) settle_levels(s, at, end, block);
    at.small_runs += before - at.unexplored <= s.m / SMALL_RUN;
}

// Mark what was not visited as unreached. Only the isolated vertices stay visited for the next search.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void write_unreached(const Search<Vertex, Offset>& s, const unsigned* visited,
                                                const Block& block) {
    for_each_set_bit(
        s, block,
        [&](long long word) {
            const unsigned unreached = ~visited[word];
            s.visited[word] = __ldg(s.isolated + word);
            return unreached;
        },
        [&](Vertex vertex) {
            s.distances[vertex] = -1;
            s.predecessors[vertex] = -1;
        });
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ PhaseResult result;
    __shared__ Counter totals[WARP], bases[THREADS / WARP];
    constexpr int BITS = TILES * TILE, WARPS = THREADS / WARP;
    const int warp = threadIdx.x / WARP;
    unsigned* const bits = reinterpret_cast<unsigned*>(memory);
    const Block block = {
        static_cast<int>(warp * gridDim.x + blockIdx.x),  // neighbouring warps on different multiprocessors
        static_cast<int>(gridDim.x) * WARPS,
        memory,
        reinterpret_cast<unsigned short*>(bits + WARPS * BITS) + warp * LIST,
        bits + warp * BITS,
        totals,
        bases,
        &result,
    };
    const long long words = (s.n + WARP - 1) / WARP;
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;

    if (thread == 0) {
        s.state->target_level = 0;
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (s.phases) s.phases[0] = nanoseconds() << PHASE_BITS | BEGIN;
    }
    Traversal at = {s.visited, s.other, s.siblings, s.siblings + words * WARP, s.m};
    at.phase = 1;
    bool seeded = false;
    // As many levels as vertices, if each reaches one and the last none.
    while (!seeded || (at.reached > 0 && at.level < s.depth_limit && at.level <= s.n)) {
        if (seeded && s.target >= 0 && is_reached(result.target_level, at.level)) break;
        const bool deep = s.deep_chunks > 0 && at.small_runs < MOST_SMALL_RUNS && !at.no_room;
        const long long by_one_block = deep ? min(s.deep_from, s.single_block_edges) : s.single_block_edges;
        const long long chunks = at.frontier.vertices + at.frontier.edges / CHUNK;  // an upper bound
        if (at.unordered == s.patience) {
            reorder(s, at, block);
        } else if (!seeded || (at.unordered == 0 && at.frontier.edges <= by_one_block)) {
            small_levels(s, at, seeded, by_one_block, block);
            seeded = true;
            at.no_room = false;
        } else if (at.unordered == 0 && deep && chunks <= s.deep_chunks) {
            expand_deep(s, at, block);
        } else {
            ++at.level;
            at.no_room = false;
            const bool wide =
                at.unordered > 0 || (at.frontier.edges >= s.wide && at.frontier.edges > at.unexplored / s.alpha);
            if (at.unordered == 0) at.unexplored -= at.frontier.edges;
            if (wide) {
                wide_level(s, at, block);
            } else {
                ordered_level(s, at, block);
            }
            if (s.trace && thread == 0) s.trace[at.level] = nanoseconds() * 2 + wide;
        }
    }

    write_unreached(s, at.visited, block);
    report(s.state, s.status, s.number, at.level, at.level > s.n);
    set_all(s.rank, s.n, thread, threads);  // while the host goes on
    set_all(s.siblings, 2 * words * WARP, thread, threads);
}
