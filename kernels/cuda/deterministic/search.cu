// Deterministic: the tree and the order of a sequential queue, in one cooperative launch.
//
// The predecessor of a vertex is its first in-neighbour in the order of the queue; vertices follow each other as their
// predecessors do, and those of one predecessor as its adjacency does.
//
// *Ordered*: the frontier is a run of a queue in that order, and its edges are numbered through. Each vertex takes the
// smallest number of an edge that leads to it (atomicMin). In the order of the vertices, where memory is fast, these
// are settled, and the edges that they took are marked in a bitmap over the numbers and counted for each warp's run of
// numbers; in the order of the marks they are appended to the queue.
// *Wide*, where the frontier has many edges: a *family*, the vertices that one vertex reached, stands together in the
// queue and ascends. A byte tells the first families apart and the others roughly, always in their order. So once the
// families before it are expanded, an unvisited vertex may stop at its first in-neighbour of a family, and finds that
// soon if the family has many edges. The families before the first large one are expanded alone, or as many of their
// edges as settle nearly all the vertices with many edges; the first discoverer wins. The rest then look at their
// in-neighbours for the first in order, and stop at one of the first family left. Only where two are of the same
// family and that is not told apart are they compared by their slots. The vertices found are not put in order: they
// inherit the family of their predecessor in the last level with an order, and where that does not decide they are
// compared by their ancestors' slots there, or by the adjacency of their common ancestor.
// *Reordering*: after `patience` such levels, the ancestors of the frontier are put in order, level by level, by the
// bitmap over edge numbers.
// *Alone*: while the frontier is small, one block goes on from level to level with the queue in shared memory, and on
// graphs with many levels then one cluster of blocks, each with as many edges as the others.
//
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric and its adjacencies ascend);
//                                     each adjacency ascends; in_targets begin where a group of four may
//   positions[m]                      for each in-edge its position in the adjacency of its source; a null pointer if
//                                     the adjacencies of out-edges ascend, since then the vertices themselves tell
//   hub[n], heavy[n][4]               as in direction_optimizing.cu: all in-neighbours of a vertex that has up to four
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[2][words]                 bitmaps of the vertices reached by earlier levels, and of the isolated ones; the
//                                     second holds, in a wide level, what its first edges reached too, after it the
//                                     vertices visited before it
//   fresh[words]                      vertices that edges reached in this level, or marked for reordering; zero in
//                                     between
//   family[2][32 * words]             of a vertex in an ordered frontier, the `family_of` its predecessor's slot; of
//                                     one without an order, that of its ancestor's slot in the last with one; MANY at
//                                     sources; NONE where the vertex is not visited. A wide level reads one and writes
//                                     the other
//   marks[m / 32 + 1]                 bitmap over the numbers of the edges of a level: that reached a vertex first
//   slots[m / 32 + 1]                 the slot that the first of each 32 edges of a level leaves
//   counts[warps]                     what the marks in a warp's run of edges lead to
//   queue[n], queued[n]               the ordered vertices with out-edges, level after level: where the edges of each
//                                     begin among those of its level, and what to add for their place in `targets`;
//                                     and the vertices themselves
//   rank[n]                           of a vertex with out-edges in an ordered level, its slot there; while it is being
//                                     reached, CLAIMED and the smallest edge number (ordered) or slot of a discoverer
//                                     (wide); UNREACHED before; of no meaning for vertices that wide levels reached
//   distances[n], predecessors[n]     the answer, -1 where there is none
//   sources[count]                    in the host's memory, distinct, in the order of the queue
//   state, trace, status              as in direction_optimizing.cu; "bottom-up" in a trace is a wide level
//   turns[TURNS]                      when each turn ended, in nanoseconds, and the `Phase` that it was; a null pointer
//                                     if nobody asks
//
// A search finds the isolated vertices alone in the first `visited`, every `rank` UNREACHED and every `family` NONE, and
// leaves them like that when the host has its answer.
//
// Work: O(n) to end. An ordered level looks at each of its edges once, at the marks among them again, and reads and
// writes a bitmap; a wide one looks at the first edges of the frontier and at those into what they leave unvisited, in
// each row up to the first from the first family left.
// Synchronisation: three grid-wide barriers an ordered level, two and two for each chunk of first edges a wide one,
// three barriers of the block or of the cluster where it goes alone.
//
// Races: a smallest number does not depend on the order in which numbers come. A bitmap is written by one warp a word
// where it is not written by atomics. In a wide level threads read ranks, families and predecessors that earlier levels
// wrote: those of the vertices that it reaches are in the other array, or no one's concern but the warp's that looks
// for them; there the predecessor is the best so far.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, for the wide
// levels; D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced
// expansion; G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and matching are parallel on
// average, SPAA 2012, for taking prefixes of a sequential order. The marks over edges, the families and the late order
// are ours.

#ifndef THREADS
#define THREADS 512  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 1  // of a multiprocessor
#endif

#include "reorder.cuh"
#include "small_levels.cuh"
#include "wide.cuh"

// Set every bit of an array, to the next multiple of 16 bytes.
template <typename T>
__device__ inline void set_all(T* array, long long length, long long thread, long long threads) {
    constexpr long long EACH = sizeof(uint4) / sizeof(T);
    uint4* const whole = reinterpret_cast<uint4*>(array);
    for (long long i = thread; i * EACH < length; i += threads) whole[i] = {ALL, ALL, ALL, ALL};
}

// Let one block put the sources with out-edges into the queue; its size is the vertices and edges of `alone`.
template <typename Vertex, typename Offset>
__device__ Frontier seed(const Search<Vertex, Offset>& s, Counter* totals) {
    Counter sum = 0;
    for (long long start = 0; start < s.count; start += THREADS) {
        const bool keep = start + threadIdx.x < s.count;
        Vertex vertex = 0;
        Offset first = 0, degree = 0;
        if (keep) {
            vertex = s.sources[start + threadIdx.x];
            first = __ldg(s.offsets + vertex);
            degree = __ldg(s.offsets + vertex + 1) - first;
            reduce_or(s.visited[0] + word_of(vertex), bit_of(vertex));
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

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ PhaseResult result;
    __shared__ Counter totals[WARP], bases[THREADS / WARP];
    const int warp = threadIdx.x / WARP;
    unsigned* const bits = reinterpret_cast<unsigned*>(memory);
    constexpr int BITS = TILES * TILE, WARPS = THREADS / WARP;
    const Block block = {
        static_cast<int>(warp * gridDim.x + blockIdx.x),  // neighbouring warps on different multiprocessors
        static_cast<int>(gridDim.x) * (THREADS / WARP),
        reinterpret_cast<unsigned short*>(bits + WARPS * BITS) + warp * LIST,
        bits + warp * BITS,
        totals,
        bases,
    };
    const long long words = (s.n + WARP - 1) / WARP;
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    State* const state = s.state;
    const int cluster = cluster_size();

    if (thread == 0) {
        state->target_level = 0;
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (s.phases) s.phases[0] = nanoseconds() << PHASE_BITS | BEGIN;
    }
    int phase = 1;
    // The levels. Every thread follows them in variables of its own.
    unsigned *visited = s.visited[0], *other = s.visited[1];
    unsigned char *siblings = s.siblings, *other_siblings = s.siblings + words * WARP;
    Frontier frontier = {0, 0};  // the last one with an order, behind `begin`
    long long begin = 0;
    long long reached = 0;  // by the last level; those without edges may be left out
    long long unexplored = s.m;
    int level = 0;
    int unordered = 0;  // levels since the last one with an order
    bool seeded = false;
    bool given_up = false;
    while (!seeded || (reached > 0 && level < s.depth_limit && !given_up)) {
        if (seeded && s.target >= 0 && is_reached(result.target_level, level)) break;
        if (unordered == s.patience) {
            reorder(s, other, visited, siblings, level, unordered, begin, frontier, phase, &result, block);
            unordered = 0;
            reached = frontier.vertices;
            end_phase(s, REORDER, phase, &result);
            continue;
        }
        if (!seeded || (unordered == 0 && frontier.edges <= (cluster > 1 ? s.together : s.alone))) {
            const int size = frontier.edges <= s.alone ? 1 : cluster;
            if (blockIdx.x < size) {
                if (!seeded) frontier = seed(s, totals);
                const long long expanded = frontier.vertices;
                if (size > 1) {
                    level =
                        cluster_levels(s, visited, siblings, level, begin, frontier, unexplored, size, memory, totals);
                } else if (expanded > 0 && frontier.edges <= s.alone && level < s.depth_limit) {
                    level =
                        single_block_levels(s, visited, siblings, level, begin, frontier, unexplored, memory, totals);
                } else {
                    begin -= expanded;  // the frontier is where it was
                }
                if (blockIdx.x == 0 && threadIdx.x == 0) {
                    state->progress[phase % 2] = {level, begin + expanded, frontier.vertices, frontier.edges,
                                                  unexplored};
                }
            }
            end_phase(s, !seeded ? SEED : size == 1 ? SINGLE_BLOCK : CLUSTER, phase, &result);
            seeded = true;
            level = static_cast<int>(result.progress.level);
            begin = result.progress.begin;
            frontier = {result.progress.vertices, result.progress.edges};
            unexplored = result.progress.unexplored;
            reached = frontier.vertices;
            given_up = level > s.n;
            continue;
        }

        ++level;
        given_up = level > s.n;  // as many levels as vertices, if each reaches one and the last none
        const bool wide = unordered > 0 || (frontier.edges >= s.wide && frontier.edges > unexplored / s.alpha);
        if (unordered == 0) unexplored -= frontier.edges;
        if (!wide) {
            const auto run = run_of(s, begin, frontier, 0, frontier.edges, block);
            clear_marks(s, run, block);
            claim<false>(s, visited, run);
            end_phase(s, CLAIM, phase, &result);
            settle_in_order(s, visited, siblings, level, begin, frontier, block);
            end_phase(s, SETTLE, phase, &result);
            begin += frontier.vertices;
            frontier = append(s, run, block);
            reached = frontier.vertices;
            end_phase(s, APPEND, phase, &result);
        } else {
            long long last = 0;  // of the first edges
            int earliest = 0;
            if (unordered == 0) {
                long long before_large = frontier.edges;
                if (!s.positions) {
                    find_large_siblings(s, siblings, begin, frontier, unexplored / s.large,
                                        &state->counters[phase % 3]);
                    end_phase(s, LARGE_SIBLINGS, phase, &result);
                    before_large -= result.counted >> SIBLINGS_BITS;
                    earliest = result.counted % (1 << SIBLINGS_BITS);
                }
                const long long share = (before_large < frontier.edges ? 2 : 1) * unexplored / s.share;
                last = min(max(share, s.chunk), before_large);
                last = min(frontier.edges, (last + WARP - 1) / WARP * WARP);
                long long from = 0, to = min(last, max((last / (GROWTH * GROWTH) / WARP + 1) * WARP, s.chunk));
                for (const unsigned* so_far = visited; from < last; so_far = other) {
                    if (from > 0) {
                        for (long long word = thread; word < words; word += threads) {
                            other[word] = visited[word] | s.fresh[word];
                        }
                        end_phase(s, MERGE, phase, &result);
                    }
                    claim<true>(s, so_far, run_of(s, begin, frontier, from, to, block));
                    end_phase(s, FIRST_EDGES, phase, &result);
                    from = to;
                    to = min(last, GROWTH * to);
                }
                if (last < before_large) {  // who has the first edge left?
                    earliest = siblings[s.queued[begin + slot_of(s.queue + begin, frontier.vertices, last)]];
                }
            }
            const bool complete = unordered == 0 && last == frontier.edges;
            const Counter by_warp = sweep(s, visited, other, siblings, other_siblings, level, unordered, begin,
                                          last > 0, complete, earliest, block);
            Counter by_block;
            block_exclusive_scan(lane_id() == 0 ? by_warp : 0, totals, by_block);
            if (threadIdx.x == 0 && by_block) atomicAdd(&state->counters[phase % 3], by_block);
            end_phase(s, SWEEP, phase, &result);
            reached = result.counted;
            swap(visited, other);
            swap(siblings, other_siblings);
            ++unordered;
        }
        if (s.trace && thread == 0) s.trace[level] = nanoseconds() * 2 + wide;
    }

    // End: whatever was not visited is unreached. The next search begins with the isolated vertices visited alone.
    for_each_set_bit(
        s, block,
        [&](long long word) {
            const unsigned unreached = ~visited[word];
            s.visited[0][word] = __ldg(s.isolated + word);
            return unreached;
        },
        [&](Vertex vertex) {
            s.distances[vertex] = -1;
            s.predecessors[vertex] = -1;
        });
    report(state, s.status, s.number, level, given_up);
    set_all(s.rank, s.n, thread, threads);  // while the host goes on
    set_all(s.siblings, 2 * words * WARP, thread, threads);
}
