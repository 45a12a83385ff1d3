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

#include "../common/adjacency.cuh"
#include "../common/bitmap.cuh"
#include "../common/frontier.cuh"
#include "../common/grid.cuh"
#include "../common/ptx.cuh"
#include "../common/search.cuh"
#include "../common/warp.cuh"

constexpr int UNROLL = 4;                  // edges that a lane has under way at a time
constexpr int TEAM = 16;                   // blocks of a cluster, at most
constexpr int TILE = 32;                   // words that a warp sweeps at a time, at most
constexpr int TILES = 4;                   // tiles that it looks through at a time, at most
constexpr int CLAIM_TILES = 16;            // where it looks for claims alone,
constexpr int CLAIMS = 64;                 // until it has so many
constexpr int LIST = TILE * WARP * 3 / 2;  // vertices of them that it has on its list, at most
constexpr int CANDIDATE = 1 << 15;         // on the list: the vertex has a predecessor, perhaps not the first
constexpr int STEPS = 4;                   // groups of a row that a lane looks at before it takes the next
constexpr int WIDTH = 2;                   // lanes that look through a row together, at least
constexpr int WHOLE_WIDTH = 4;             // where hardly one of its vertices ends that
constexpr int APART = 128;                 // families that are told apart, see `family_of`
constexpr int MANY = 254;                  // the last family
constexpr int NONE = 255;                  // no family
constexpr int FAMILY_BITS = 8;
constexpr int GROWTH = 4;            // of the chunks of first edges
constexpr int TURN_ALONE = 1 << 20;  // levels that a block goes alone before it shows itself at the barrier

constexpr int TURNS = 1 << 16;  // that are noted
constexpr int PHASE_BITS = 4;

// What a turn did.
enum Phase { BEGIN, SEED, ALONE, CLAIM, SETTLE, APPEND, FAMILIES, FIRST_EDGES, MERGE, SWEEP, REORDER, TOGETHER };

template <typename Integer>
struct Unsigned;
template <>
struct Unsigned<int> {
    using type = unsigned;
};
template <>
struct Unsigned<long long> {
    using type = unsigned long long;
};

struct Progress {
    long long level, begin, vertices, edges, unexplored;
};

// What the blocks share: zero before the first search. Each barrier ends a turn; each turn counts into another tail.
struct State {
    alignas(128) unsigned arrived;   // blocks at the barrier; its top bit changes when all have come
    alignas(128) Counter tails[3];   // vertices found in this turn; of the next one, which is zero; of the one before
    alignas(128) unsigned finished;  // blocks that are done with the search
    long long target_level;          // that reached the target; 0 before
    Progress alone[2];               // where the block that went alone has got, in turns with its parity
};

template <typename Vertex, typename Offset>
struct Search {
    using Number = typename Unsigned<Offset>::type;  // of an edge of a level, or a slot
    static constexpr Number UNREACHED = ~Number(0);
    static constexpr Number CLAIMED = UNREACHED / 2 + 1;  // its top bit; no number has it

    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* positions;
    const Vertex* hub;
    const Vertex* heavy;
    const unsigned* isolated;
    unsigned* visited[2];
    unsigned* fresh;
    unsigned char* family;
    unsigned* marks;
    Vertex* slots;
    Counter* counts;
    Entry<Offset>* queue;
    Vertex* queued;
    Number* rank;
    int* distances;
    Vertex* predecessors;
    const Vertex* sources;
    State* state;
    Counter* trace;
    Counter* turns;
    volatile long long* status;
    long long n, m;
    long long count;                // how many sources there are
    long long depth_limit, target;  // the target is no source; -1: none
    long long alpha, wide;          // a level is wide when the frontier has at least `wide` edges, and more than
                                    // 1/alpha of the unexplored ones
    long long share;                // the first edges are 1/share of the unexplored ones,
    long long chunk;                // but at least so many; a multiple of 32
    long long large;                // and end where a family has more than 1/large of the unexplored ones
    long long alike;                // do all vertices have about as many edges?
    long long patience;             // levels without an order, at least 1
    long long alone, together;      // a frontier with no more edges than this is one block's work, one cluster's
    long long capacity;             // entries of a queue in shared memory, at least `alone`
    long long edge_bits;            // of a Counter
    long long tile;                 // words that a warp sweeps at a time
    long long number;               // of this search
};

// Who a warp is, and what its block has in shared memory.
struct Block {
    int warp, warps;
    unsigned short* list;  // of the warp: room for LIST vertices
    unsigned* hits;        // of the warp: the words of TILES tiles
    Counter* totals;       // WARP numbers
    Counter* bases;        // a number for each warp of the block
};

// The family of the vertices that a slot's vertex reached; families are in the order of slots. The first are told
// apart, the others in steps of an eighth.
__device__ inline int family_of(unsigned long long slot) {
    if (slot < APART) return static_cast<int>(slot);
    const int shift = 60 - __clzll(static_cast<long long>(slot));  // leaves four binary digits, 8 to 15
    return min(APART + (shift - 4) * 8 + static_cast<int>(slot >> shift) - 8, MANY);
}

// Write down that this level reached a vertex.
template <typename Vertex, typename Offset>
__device__ inline void settle(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent, int level) {
    s.distances[vertex] = level;
    s.predecessors[vertex] = parent;
    if (vertex == s.target) s.state->target_level = level;
}

// What a block is told at the end of a turn, in shared memory: thousands of warps that ask one address would queue up.
struct Told {
    long long found;         // vertices, in this turn
    long long target_level;  // so far
    Progress alone;          // of the block that went alone
};

// End a turn: wait for all blocks, and learn what was counted in it. The tail of the next turn is made ready meanwhile.
template <typename Vertex, typename Offset>
__device__ inline void end_turn(const Search<Vertex, Offset>& s, Phase phase, int& turn, Told* told) {
    State* const state = s.state;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) state->tails[(turn + 1) % 3] = 0;
        grid_barrier(&state->arrived);
        if (s.turns && blockIdx.x == 0 && turn < TURNS) s.turns[turn] = nanoseconds() << PHASE_BITS | phase;
        told->found = static_cast<long long>(__ldcg(&state->tails[turn % 3]));
        told->target_level = __ldcg(&state->target_level);
        const Progress* const by = &state->alone[turn % 2];
        told->alone = {__ldcg(&by->level), __ldcg(&by->begin), __ldcg(&by->vertices), __ldcg(&by->edges),
                       __ldcg(&by->unexplored)};
    }
    __syncthreads();
    ++turn;
}

// A warp's run of the numbers of a frontier's edges; the runs follow each other as the warps do.
template <typename Number>
struct Run {
    Number begin;              // of the frontier in the queue
    Number vertices, edges;    // all of it
    Number next, stop, first;  // the numbers, none if `stop` is not above `next`, and the slot that has `next`
    int runs;                  // that have any
};

// How many of so many numbers a warp has in its run; a multiple of 32.
template <typename Number>
__device__ inline Number run_length(Number numbers, const Block& block) {
    return ((numbers + block.warps - 1) / block.warps + WARP - 1) / WARP * WARP;
}

// This warp's run of the numbers `from` to `to`; `from` is a multiple of 32, and so is all but the last `stop`.
template <typename Vertex, typename Offset>
__device__ auto run_of(const Search<Vertex, Offset>& s, long long begin, Frontier frontier, long long from,
                       long long to, const Block& block) {
    using Number = typename Search<Vertex, Offset>::Number;
    const Number begins = static_cast<Number>(from), ends = static_cast<Number>(to);
    const Number length = run_length(ends - begins, block);
    const Number next = begins + block.warp * length;
    const Number stop = min(next + length, ends);
    Run<Number> run = {static_cast<Number>(begin), static_cast<Number>(frontier.vertices),
                       static_cast<Number>(frontier.edges), next, stop};
    if (next < stop) run.first = static_cast<Number>(slot_of(s.queue + begin, frontier.vertices, next));
    run.runs = static_cast<int>((ends - begins + length - 1) / length);
    return run;
}

// Show the edges of a run, or the `wanted` ones: `visit(edge, live, neighbor, slot)` for UNROLL edges a lane, the first
// numbered `edge` + lane, the others WARP apart.
template <typename Vertex, typename Offset, typename Number, typename Visit>
__device__ void walk(const Search<Vertex, Offset>& s, const Run<Number>& run, const unsigned* wanted, Visit visit) {
    Number next = run.next, first = run.first;
    const int lane = lane_id();

    // A window of 32 entries, one a lane, and the edges that it covers, in whole runs of 32: each entry has an edge, so
    // it covers one at least.
    while (next < run.stop) {
        const bool inside = first + lane < run.vertices;
        Entry<Offset> entry = {static_cast<Offset>(run.edges), 0};
        if (inside) entry = s.queue[run.begin + first + lane];
        Number covered = run.edges;
        if (first + WARP < run.vertices) covered = static_cast<Number>(s.queue[run.begin + first + WARP].prefix);
        const Number end = covered < run.stop ? covered / WARP * WARP : run.stop;

        for (; next < end; next += UNROLL * WARP) {
            bool live[UNROLL];
            unsigned some = 0;
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Number batch = next + k * WARP;
                const unsigned bits = batch >= end ? 0 : wanted ? wanted[batch / WARP] : ALL;
                live[k] = (bits >> lane & 1) && batch + lane < end;
                some |= bits;
            }
            if (!some) continue;
            Vertex neighbor[UNROLL];
            Number slot[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Number batch = next + k * WARP;
                const int who = owner_of(static_cast<Offset>(static_cast<Number>(entry.prefix) - batch));
                const Offset shift = __shfl_sync(ALL, entry.shift, who);
                slot[k] = first + who;
                neighbor[k] = 0;
                if (live[k]) neighbor[k] = __ldg(s.targets + (shift + static_cast<Offset>(batch + lane)));
            }
            visit(next, live, neighbor, slot);
        }
        next = end;
        const bool passed = inside && static_cast<Number>(entry.prefix) <= next;
        first += covered <= next ? WARP : __popc(__ballot_sync(ALL, passed)) - 1;
    }
}

// Loads and atomics that are independent stand in loops of their own, here and below, so that they are all on their way
// before the first is waited for.

// Expand the edges of a run: each neighbour that is not `reached` takes the smallest number of an edge that leads to
// it, and `slots` is written for that; or it takes the smallest slot of a discoverer.
template <bool BY_SLOT, typename Vertex, typename Offset, typename Number>
__device__ void claim(const Search<Vertex, Offset>& s, const unsigned* reached, const Run<Number>& run) {
    using S = Search<Vertex, Offset>;
    walk(s, run, nullptr,
         [&](Number edge, const bool (&live)[UNROLL], const Vertex(&neighbor)[UNROLL], const Number(&slot)[UNROLL]) {
             unsigned word[UNROLL];
             bool claims[UNROLL];
#pragma unroll
             for (int k = 0; k < UNROLL; ++k) word[k] = reached[word_of(neighbor[k])];  // who is not live is vertex 0
#pragma unroll
             for (int k = 0; k < UNROLL; ++k) claims[k] = live[k] && !(word[k] & bit_of(neighbor[k]));
             if (BY_SLOT && s.alike) {  // the bit is set by the first alone: half of the atomics, but a wait for them
                 Number before[UNROLL];
#pragma unroll
                 for (int k = 0; k < UNROLL; ++k) {
                     before[k] = 0;
                     if (claims[k]) before[k] = atomicMin(s.rank + neighbor[k], S::CLAIMED | slot[k]);
                 }
#pragma unroll
                 for (int k = 0; k < UNROLL; ++k) {
                     if (before[k] == S::UNREACHED) reduce_or(s.fresh + word_of(neighbor[k]), bit_of(neighbor[k]));
                 }
                 return;
             }
#pragma unroll
             for (int k = 0; k < UNROLL; ++k) {
                 const Number number = BY_SLOT ? slot[k] : edge + k * WARP + lane_id();
                 if (claims[k]) reduce_min(s.rank + neighbor[k], S::CLAIMED | number);
                 if (claims[k]) reduce_or(s.fresh + word_of(neighbor[k]), bit_of(neighbor[k]));
                 if (!BY_SLOT && lane_id() == 0 && live[k]) s.slots[edge / WARP + k] = static_cast<Vertex>(slot[k]);
             }
         });
}

// Before edges of a frontier are marked: none is, and nothing is counted.
template <typename Vertex, typename Offset, typename Number>
__device__ void clear_marks(const Search<Vertex, Offset>& s, const Run<Number>& run, const Block& block) {
    for (Number word = run.next / WARP + lane_id(); word * WARP < run.stop; word += WARP) s.marks[word] = 0;
    if (lane_id() == 0) s.counts[block.warp] = 0;
}

// Mark an edge that reaches a vertex with out-edges first, and count the vertex for the warp with that edge in its run.
template <typename Vertex, typename Offset, typename Number>
__device__ inline void mark(const Search<Vertex, Offset>& s, Number length, Number edge, Offset degree) {
    reduce_or(s.marks + edge / WARP, 1u << edge % WARP);
    reduce_add(s.counts + edge / length, packed(1, degree, s.edge_bits));
}

// The second step of an ordered level: settle the vertices that were claimed, and mark the edges that they were claimed
// by.
template <typename Vertex, typename Offset>
__device__ void settle_in_order(const Search<Vertex, Offset>& s, unsigned* visited, unsigned char* family, int level,
                                long long begin, Frontier frontier, const Block& block) {
    using S = Search<Vertex, Offset>;
    using Number = typename S::Number;
    const long long words = (s.n + WARP - 1) / WARP;
    const Number edges = static_cast<Number>(frontier.edges);
    const Number length = run_length(edges, block);
    const Number from = static_cast<Number>(begin);
    for (long long next = block.warp; next * s.tile < words;) {
        const long long origin = next;
        int count = 0;
        for (int tiles = 0; tiles < CLAIM_TILES && count < CLAIMS && next * s.tile < words; ++tiles) {
            const long long word = next * s.tile + lane_id();
            const bool mine = lane_id() < s.tile && word < words;
            const unsigned claims = mine ? s.fresh[word] : 0;
            if (claims) {
                s.fresh[word] = 0;
                reduce_or(visited + word, claims);
            }
            count += list_bits(claims, block.list + count, tiles * TILE * WARP);
            next += block.warps;
        }
        for (int start = 0; start < count; start += UNROLL * WARP) {
            bool live[UNROLL];
            Vertex vertex[UNROLL], parent[UNROLL];
            Number edge[UNROLL], slot[UNROLL], end[UNROLL];
            Offset first[UNROLL], degree[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const int place = start + k * WARP + lane_id();
                live[k] = place < count;
                const int local = live[k] ? block.list[place] : 0;
                const long long tile = origin + local / (TILE * WARP) * block.warps;
                vertex[k] = live[k] ? static_cast<Vertex>(tile * s.tile * WARP + local % (TILE * WARP)) : 0;
                edge[k] = 0;
                if (live[k]) edge[k] = s.rank[vertex[k]] & ~S::CLAIMED;
            }
            load_rows(s.offsets, live, vertex, first, degree);
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                slot[k] = s.slots[edge[k] / WARP];
                end[k] = static_cast<Number>(frontier.vertices);
                if (edge[k] / WARP < (edges - 1) / WARP) end[k] = s.slots[edge[k] / WARP + 1] + 1;
            }
            // The last slot whose prefix is at most the edge.
            const auto is_found = [&]() {
                bool found = true;
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) found = found && end[k] - slot[k] <= 1;
                return found;
            };
            while (!is_found()) {
                Number middle[UNROLL], prefix[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    middle[k] = (slot[k] + end[k]) / 2;
                    prefix[k] = static_cast<Number>(s.queue[from + middle[k]].prefix);
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) (prefix[k] <= edge[k] ? slot[k] : end[k]) = middle[k];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                parent[k] = -1;
                if (live[k]) parent[k] = s.queued[from + slot[k]];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (!live[k]) continue;
                settle(s, vertex[k], parent[k], level);
                family[vertex[k]] = family_of(slot[k]);
                degree[k] -= first[k];
                if (degree[k]) mark(s, length, edge[k], degree[k]);
            }
        }
        __syncwarp();
    }
}

// The sum of the counts of the warps below this one, and of all; none but the first `runs` warps counted anything.
__device__ inline Counter base_of_warp(const Counter* counts, int runs, const Block& block, Counter& total) {
    const int each = (runs + THREADS - 1) / THREADS;
    const int first = min(static_cast<int>(threadIdx.x) * each, runs);
    const int last = min(first + each, runs);
    Counter mine = 0;
    for (int warp = first; warp < last; ++warp) mine += __ldcg(counts + warp);
    Counter base = block_exclusive_scan(mine, block.totals, total);
    for (int warp = first; warp < last; ++warp) {
        if (warp % gridDim.x == blockIdx.x) block.bases[warp / gridDim.x] = base;
        base += __ldcg(counts + warp);
    }
    __syncthreads();
    return block.bases[threadIdx.x / WARP];
}

// The third step: append what the marked edges lead to, in their order. Returns the new frontier, which stands behind
// the old one.
template <typename Vertex, typename Offset, typename Number>
__device__ Frontier append(const Search<Vertex, Offset>& s, const Run<Number>& run, const Block& block) {
    const Number behind = run.begin + run.vertices;
    Counter total;
    Counter base = base_of_warp(s.counts, run.runs, block, total);
    walk(s, run, s.marks,
         [&](Number, const bool (&live)[UNROLL], const Vertex(&neighbor)[UNROLL], const Number(&)[UNROLL]) {
             Offset first[UNROLL], degree[UNROLL];
             load_rows(s.offsets, live, neighbor, first, degree);
#pragma unroll
             for (int k = 0; k < UNROLL; ++k) degree[k] -= first[k];
#pragma unroll
             for (int k = 0; k < UNROLL; ++k) {
                 if (!__ballot_sync(ALL, live[k])) continue;
                 const Counter mine = live[k] ? packed(1, degree[k], s.edge_bits) : 0;
                 const Counter inclusive = warp_inclusive_scan(mine);
                 const Frontier before = unpacked(base + inclusive - mine, s.edge_bits);
                 base += __shfl_sync(ALL, inclusive, WARP - 1);
                 if (!live[k]) continue;
                 s.rank[neighbor[k]] = static_cast<Number>(before.vertices);
                 const Offset prefix = static_cast<Offset>(before.edges);
                 const Number place = behind + static_cast<Number>(before.vertices);
                 s.queue[place] = {prefix, static_cast<Offset>(first[k] - prefix)};
                 s.queued[place] = neighbor[k];
             }
         });
    return unpacked(total, s.edge_bits);
}

// Look for the first family of an ordered frontier that has more than `large` edges, among those that are told apart.
// Leaves in the tail of the turn how many edges the frontier has from that on, and below these which family it is;
// nothing if there is none.
template <typename Vertex, typename Offset>
__device__ void find_large_family(const Search<Vertex, Offset>& s, const unsigned char* family, long long begin,
                                  Frontier frontier, long long large, Counter* tail) {
    const Entry<Offset>* const entries = s.queue + begin;
    const Vertex* const vertices = s.queued + begin;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    for (long long start = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x - lane_id();
         start < frontier.vertices; start += UNROLL * threads) {
        Vertex vertex[UNROLL], previous[UNROLL];
        int mine[UNROLL], before[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long slot = start + k * threads + lane_id();
            vertex[k] = slot < frontier.vertices ? vertices[slot] : -1;
            previous[k] = lane_id() == 0 && slot > 0 && vertex[k] >= 0 ? vertices[slot - 1] : -1;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            mine[k] = before[k] = NONE;
            if (vertex[k] >= 0) mine[k] = family[vertex[k]];
            if (previous[k] >= 0) before[k] = family[previous[k]];
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int below = __shfl_up_sync(ALL, mine[k], 1);
            if (lane_id() > 0) before[k] = below;
            if (mine[k] >= APART || mine[k] == before[k]) continue;
            const long long slot = start + k * threads + lane_id();
            const long long edge = entries[slot].prefix + large;
            if (edge >= frontier.edges) continue;
            long long owner = slot;
            for (long long end = frontier.vertices; end - owner > 1;) {
                const long long middle = (owner + end) / 2;
                (entries[middle].prefix <= edge ? owner : end) = middle;
            }
            if (family[vertices[owner]] == mine[k]) {
                atomicMax(tail, static_cast<Counter>(frontier.edges - edge + large) << FAMILY_BITS | mine[k]);
            }
        }
    }
}

// The first place of a vertex in an ascending list from `begin` to `end`, where it is.
template <typename Vertex, typename Offset>
__device__ inline Offset find(const Vertex* list, Offset begin, Offset end, Vertex vertex) {
    while (begin < end) {
        const Offset middle = begin + (end - begin) / 2;
        if (__ldg(list + middle) < vertex) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// The first position of a vertex in the adjacency of its predecessor.
template <typename Vertex, typename Offset>
__device__ inline Offset position(const Search<Vertex, Offset>& s, Vertex parent, Vertex vertex) {
    if (s.positions) {
        return s.positions[find(s.in_targets, s.in_offsets[vertex], s.in_offsets[vertex + 1], parent)];
    }
    return find(s.targets, s.offsets[parent], s.offsets[parent + 1], vertex) - s.offsets[parent];
}

// Is one vertex of a level before another? `ages` is how many levels above theirs had an order.
template <typename Vertex, typename Offset>
__device__ inline bool is_earlier(const Search<Vertex, Offset>& s, int ages, Vertex one, Vertex other) {
    for (; ages > 0; --ages) {
        const Vertex parent = s.predecessors[one], rival = s.predecessors[other];
        if (parent == rival) return s.positions ? position(s, parent, one) < position(s, parent, other) : one < other;
        one = parent;
        other = rival;
    }
    return s.rank[one] < s.rank[other];
}

// A look at an in-neighbour: its family, then its place among those that are looked at in the same rounds, from 1 on; 0
// is the first of earlier rounds. Families are in order, and those that are told apart ascend, as the places do, so
// that mostly the smallest look is the first in order.
using Look = unsigned;

constexpr int PLACE_BITS = 10;
constexpr Look NOBODY = NONE << PLACE_BITS;
static_assert(STEPS * GROUP * WARP < 1 << PLACE_BITS, "a place has too few bits");

__device__ inline int family_in(Look look) { return static_cast<int>(look >> PLACE_BITS); }

__device__ inline int place_in(Look look) { return static_cast<int>(look % (1 << PLACE_BITS)); }

// An element of an array in registers, or of the rows of one.
template <typename T, int COUNT>
__device__ inline T chosen(const T (&array)[COUNT], int which) {
    T one = array[0];
#pragma unroll
    for (int i = 1; i < COUNT; ++i) one = which == i ? array[i] : one;
    return one;
}

template <typename T, int ROWS, int COUNT>
__device__ inline T chosen(const T (&rows)[ROWS][COUNT], int which) {
    T one = rows[0][0];
#pragma unroll
    for (int i = 1; i < ROWS * COUNT; ++i) one = which == i ? rows[i / COUNT][i % COUNT] : one;
    return one;
}

// For each place of `first` consider a group that stands in ascending places from `place` on, of which who is in no
// family does not count. Families from `apart` on do not ascend: who ties in one is compared. That is rare, and large,
// so one loop does it for all; `vertex_at(k, place)` tells the vertices of earlier looks.
template <typename Vertex, typename Offset, typename VertexAt>
__device__ inline void consider(const Search<Vertex, Offset>& s, int ages, int apart, Look (&first)[UNROLL], int place,
                                const Vertex (&group)[UNROLL][GROUP], const int (&family)[UNROLL][GROUP],
                                VertexAt vertex_at) {
    bool unsure = false;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            first[k] = min(first[k], static_cast<Look>(family[k][i] << PLACE_BITS | (place + i)));
        }
        unsure = unsure || (first[k] < NOBODY && family_in(first[k]) >= apart);
    }
    if (!__any_sync(ALL, unsure)) return;
    unsigned ties = 0;  // of the groups
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int theirs = family_in(first[k]);
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            const bool tie = family[k][i] == theirs && theirs >= apart && theirs < NONE;
            if (tie && place_in(first[k]) != place + i) ties |= 1u << (k * GROUP + i);
        }
    }
    for (; ties; ties &= ties - 1) {
        const int who = __ffs(ties) - 1, which = who / GROUP;
        const Look mine = chosen(first, which);
        if (!is_earlier(s, ages, chosen(group, who), vertex_at(which, place_in(mine)))) continue;
        const Look other = static_cast<Look>(family_in(mine) << PLACE_BITS | (place + who % GROUP));
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) first[k] = k == which ? other : first[k];
    }
    __syncwarp();
}

// The wanted groups of in-neighbours, 0 for others and for what lies past the end of `targets`.
template <typename Vertex, typename Number>
__device__ inline void load_groups(const Vertex* targets, const bool (&wanted)[UNROLL], const Number (&which)[UNROLL],
                                   long long m, Vertex (&group)[UNROLL][GROUP]) {
    const Number whole = static_cast<Number>(m / GROUP);
    bool last = false;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP; ++i) group[k][i] = 0;
        if (wanted[k] && which[k] < whole) load_whole_group(targets, which[k], group[k]);
        last = last || (wanted[k] && which[k] >= whole);
    }
    if (!__any_sync(ALL, last)) return;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int i = 0; i < GROUP - 1; ++i) {
            const bool there = wanted[k] && which[k] >= whole && i < m % GROUP;
            if (there) group[k][i] = __ldg(targets + (whole * GROUP + i));
        }
    }
    __syncwarp();
}

// Put a group in ascending order.
template <typename Vertex>
__device__ inline void sort(Vertex (&group)[GROUP]) {
    static_assert(GROUP == 4, "a network for four");
    const auto order = [&](int one, int other) {
        const Vertex smaller = min(group[one], group[other]);
        group[other] = max(group[one], group[other]);
        group[one] = smaller;
    };
    order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
}

// Settle what the first edges of an ordered frontier behind `begin` reached: the vertices on the list, counted from
// `origin`.
template <typename Vertex, typename Offset>
__device__ void settle_claims(const Search<Vertex, Offset>& s, unsigned char* family, int level, long long begin,
                              Vertex origin, const unsigned short* list, int count) {
    using S = Search<Vertex, Offset>;
    for (int start = 0; start < count; start += UNROLL * WARP) {
        Vertex vertex[UNROLL], parent[UNROLL];
        typename S::Number rank[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = start + k * WARP + lane_id();
            vertex[k] = place < count ? origin + list[place] : -1;
            rank[k] = 0;
            if (vertex[k] >= 0) rank[k] = s.rank[vertex[k]] & ~S::CLAIMED;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            parent[k] = -1;
            if (vertex[k] >= 0) parent[k] = s.queued[begin + rank[k]];
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (vertex[k] < 0) continue;
            settle(s, vertex[k], parent[k], level);
            family[vertex[k]] = family_of(rank[k]);
        }
    }
    __syncwarp();
}

// How many lanes each of so many vertices may have, so that UNROLL * WARP lanes suffice; a power of two.
__device__ inline int width_of(int count) {
    int width = 1;
    while (width < WARP && count * width * 2 <= UNROLL * WARP) width *= 2;
    return width;
}

// The last step of a wide level, and the only one unless the frontier has an order: settle what was claimed, if
// anything was, and, unless the level is `complete` then, let unvisited vertices look for the first of the frontier. A
// warp takes tiles of words until it has enough unvisited vertices. No vertex of the frontier that anyone finds is of a
// family before the one that is `foremost`. The last level with an order, behind `begin`, is `ages` above the frontier.
// Returns how many vertices the warp found.
template <typename Vertex, typename Offset>
__device__ Counter sweep(const Search<Vertex, Offset>& s, const unsigned* visited, unsigned* upcoming,
                         const unsigned char* family, unsigned char* next_family, int level, int ages, long long begin,
                         bool claimed, bool complete, int foremost, const Block& block) {
    using S = Search<Vertex, Offset>;
    using Number = typename S::Number;
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id();
    const int tile = static_cast<int>(s.tile), vertices_of_tile = tile * WARP;
    const int apart = s.positions || ages > 1 ? 0 : APART;
    if (foremost >= apart) foremost = -1;  // its first in the adjacency need not be the first in order
    Counter found = 0;
    const auto words_of = [&](const unsigned* bitmap, long long which, unsigned none) {
        const long long word = which * tile + lane;
        return lane < tile && word < words ? bitmap[word] : none;
    };

    unsigned ahead = words_of(visited, block.warp, ALL);  // of the next tile
    for (long long next = block.warp; next * tile < words;) {
        const Vertex origin = static_cast<Vertex>(next * vertices_of_tile);
        int tiles = 0, unseen = 0;
        for (; tiles < TILES && unseen <= LIST - TILE * WARP && next * tile < words; ++tiles, next += block.warps) {
            unsigned seen = ahead;
            ahead = words_of(visited, next + block.warps, ALL);
            if (claimed) {
                const unsigned claims = words_of(s.fresh, next, 0);
                if (claims) s.fresh[next * tile + lane] = 0;
                unsigned short* const list = block.list + unseen;
                const Vertex first = static_cast<Vertex>(next * vertices_of_tile);
                settle_claims(s, next_family, level, begin, first, list, list_bits(claims, list));
                found += __popc(claims);
                seen |= claims;
            }
            block.hits[tiles * TILE + lane] = seen;
            if (!complete) unseen += list_bits(~seen, block.list + unseen, tiles * TILE * WARP);
        }
        const auto vertex_of = [&](int local) {
            const int place = local % (TILE * WARP);
            return origin + static_cast<Vertex>(local / (TILE * WARP)) * (block.warps * vertices_of_tile) + place;
        };

        // Who has to look further moves to the front of the list.
        int left = 0;
        const auto keep = [&](bool more, int local) {
            const unsigned those = __ballot_sync(ALL, more);
            if (more) block.list[left + __popc(those & lanes_below())] = static_cast<unsigned short>(local);
            left += __popc(those);
        };
        // The family of a vertex is its parent's, or that of its parent's slot if there is an order.
        const auto reach = [&](const int (&local)[UNROLL], const Look(&first)[UNROLL], const Vertex(&parent)[UNROLL]) {
            Number slot[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                slot[k] = 0;
                if (ages == 0 && first[k] < NOBODY) slot[k] = s.rank[parent[k]];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (first[k] >= NOBODY) continue;
                const Vertex vertex = vertex_of(local[k]);
                settle(s, vertex, parent[k], level);
                next_family[vertex] = ages == 0 ? family_of(slot[k]) : family_in(first[k]);
                atomicOr(block.hits + local[k] / WARP, 1u << local[k] % WARP);
                ++found;
            }
        };

        // In the place of who is not to be considered there is one in no family: other places would be memory accesses.
        const Vertex stranger = vertex_of(block.list[0]);

        // Up to four in-neighbours stand in `hub` and `heavy`.
        for (int start = 0; start < unseen; start += UNROLL * WARP) {
            int local[UNROLL], theirs[UNROLL][GROUP];
            Vertex group[UNROLL][GROUP], hub[UNROLL], parent[UNROLL];
            bool few[UNROLL];
            Look first[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const int place = start + k * WARP + lane;
                local[k] = place < unseen ? block.list[place] : -1;
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Vertex vertex = local[k] >= 0 ? vertex_of(local[k]) : origin;
                load_whole_group(s.heavy, vertex, group[k]);
                hub[k] = __ldg(s.hub + vertex);
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                few[k] = local[k] >= 0 && group[k][GROUP - 1] == -1;
                group[k][GROUP - 1] = hub[k];
                first[k] = NOBODY;
                sort(group[k]);
#pragma unroll
                for (int i = 0; i < GROUP; ++i) {
                    theirs[k][i] = family[few[k] && group[k][i] >= 0 ? group[k][i] : stranger];
                }
            }
            __syncwarp();
            const auto vertex_at = [&](int which, int place) { return chosen(group, which * GROUP + place - 1); };
            consider(s, ages, apart, first, 1, group, theirs, vertex_at);
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) parent[k] = chosen(group[k], place_in(first[k]) - 1);
            reach(local, first, parent);
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) keep(local[k] >= 0 && !few[k], local[k]);
        }
        __syncwarp();

        // The others look at groups of them, round after round; the fewer vertices are left, the more lanes each has.
        Number done = 0;  // groups that those left have looked at
        while (left > 0) {
            const int count = left;
            const int width = max(ages > 0 || foremost < 0 ? WHOLE_WIDTH : WIDTH, width_of(count));
            const int part = lane % width;
            const unsigned row = ALL >> (WARP - width) << (lane - part);  // the lanes of this lane's row
            left = 0;
            for (int start = 0; start < count; start += UNROLL * WARP / width) {
                int local[UNROLL];
                bool looks[UNROLL], kept[UNROLL];
                Number begin_of[UNROLL], degree[UNROLL];  // none once its lanes are done
                Vertex parent[UNROLL];
                Look first[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const int which = start + (k * WARP + lane) / width;
                    local[k] = which < count ? block.list[which] : -1;
                    begin_of[k] = degree[k] = 0;
                    parent[k] = 0;
                    kept[k] = false;
                    if (local[k] < 0) continue;
                    const Vertex vertex = vertex_of(local[k] % CANDIDATE);
                    begin_of[k] = static_cast<Number>(__ldg(s.in_offsets + vertex));
                    degree[k] = static_cast<Number>(__ldg(s.in_offsets + vertex + 1));
                    kept[k] = local[k] & CANDIDATE;
                    if (kept[k]) parent[k] = s.predecessors[vertex];
                }
                __syncwarp();
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    degree[k] -= begin_of[k];
                    first[k] = NOBODY;
                    if (kept[k] && part == 0) first[k] = static_cast<Look>(family[parent[k]] << PLACE_BITS);
                }
                const auto vertex_at = [&](int which, int place) {
                    const Number from = (chosen(begin_of, which) / GROUP + done) * GROUP;
                    return place == 0 ? chosen(parent, which) : __ldg(s.in_targets + (from + place - 1));
                };
                bool going = true;
                for (int step = 0; step < STEPS && going; ++step) {
                    int theirs[UNROLL][GROUP];
                    Vertex group[UNROLL][GROUP];
                    Number which[UNROLL], at[UNROLL];  // the group, and where in the row it begins
                    const Number ahead = part + step * width;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        which[k] = begin_of[k] / GROUP + done + ahead;
                        at[k] = (done + ahead) * GROUP - begin_of[k] % GROUP;
                        looks[k] = static_cast<Offset>(at[k]) < static_cast<Offset>(degree[k]);
                    }
                    load_groups(s.in_targets, looks, which, s.m, group);
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                        for (int i = 0; i < GROUP; ++i) {
                            theirs[k][i] =
                                family[at[k] + i < degree[k] ? group[k][i] : stranger];  // before the row, too
                        }
                    }
                    __syncwarp();
                    consider(s, ages, apart, first, static_cast<int>(ahead) * GROUP + 1, group, theirs, vertex_at);
                    going = false;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        const unsigned hits = __ballot_sync(ALL, family_in(first[k]) == foremost) & row;
                        if (hits || at[k] + (width - part) * GROUP >= degree[k]) degree[k] = 0;
                        going = going || degree[k];
                    }
                    going = __any_sync(ALL, going);
                }
                for (int distance = 1; distance < width; distance *= 2) {
                    Look other[UNROLL];
                    unsigned ties = 0;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        other[k] = __shfl_xor_sync(ALL, first[k], distance);
                        const int theirs = family_in(other[k]);
                        const bool tie = theirs == family_in(first[k]) && theirs >= apart && other[k] != first[k];
                        if (tie && theirs < NONE) {
                            ties |= 1u << k;
                        } else {
                            first[k] = min(first[k], other[k]);
                        }
                    }
                    for (; ties; ties &= ties - 1) {
                        const int which = __ffs(ties) - 1;
                        const Look one = chosen(other, which), mine = chosen(first, which);
                        const Vertex rival = vertex_at(which, place_in(one));
                        if (!is_earlier(s, ages, rival, vertex_at(which, place_in(mine)))) continue;
#pragma unroll
                        for (int k = 0; k < UNROLL; ++k) first[k] = k == which ? one : first[k];
                    }
                    __syncwarp();
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    looks[k] = degree[k] > 0 && part == 0;
                    if (part > 0) first[k] = NOBODY;
                    if (first[k] < NOBODY) parent[k] = vertex_at(k, place_in(first[k]));
                }
                __syncwarp();
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const bool some = first[k] < NOBODY;
                    local[k] %= CANDIDATE;
                    if (looks[k] && some) s.predecessors[vertex_of(local[k])] = parent[k];
                    keep(looks[k], some ? local[k] | CANDIDATE : local[k]);
                    if (looks[k]) first[k] = NOBODY;
                }
                reach(local, first, parent);
            }
            __syncwarp();
            done += STEPS * width;
        }
        __syncwarp();
        for (int i = 0; i < tiles; ++i) {
            const long long word = (next - static_cast<long long>(tiles - i) * block.warps) * tile + lane;
            if (lane < tile && word < words) upcoming[word] = block.hits[i * TILE + lane];
        }
        __syncwarp();
    }
    return warp_sum(found);
}

// Visit the vertices whose bits are set in `bits(word)`, a tile of words at a time, each by one lane.
template <typename Vertex, typename Offset, typename Bits, typename Visit>
__device__ void for_each(const Search<Vertex, Offset>& s, const Block& block, Bits bits, Visit visit) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long tile = block.warp; tile * s.tile < words; tile += block.warps) {
        const long long word = tile * s.tile + lane_id();
        const int set = list_bits(lane_id() < s.tile && word < words ? bits(word) : 0, block.list);
        for (int i = lane_id(); i < set; i += WARP) {
            visit(static_cast<Vertex>(tile * s.tile * WARP + block.list[i]));
        }
        __syncwarp();
    }
}

// Put the last level in order, after `ages` levels without one: `frontier` is the last ordered one, behind `begin`.
// Moves both on to the last level.
template <typename Vertex, typename Offset>
__device__ void reorder(const Search<Vertex, Offset>& s, const unsigned* before, const unsigned* visited,
                        unsigned char* family, int level, int ages, long long& begin, Frontier& frontier, int& turn,
                        Told* told, const Block& block) {
    const int base = level - ages;  // the last ordered level
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;

    // The ancestors: each vertex climbs until another has been there.
    for_each(
        s, block, [&](long long word) { return visited[word] & ~before[word]; },
        [&](Vertex vertex) {
            for (int at = level; !test_and_set(s.fresh, vertex) && --at > base;) vertex = s.predecessors[vertex];
        });

    for (int age = base + 1; age <= level; ++age) {
        const auto run = run_of(s, begin, frontier, 0, frontier.edges, block);
        const auto length = run_length(run.edges, block);
        clear_marks(s, run, block);
        end_turn(s, REORDER, turn, told);
        for_each(
            s, block, [&](long long word) { return s.fresh[word]; },
            [&](Vertex vertex) {
                if (s.distances[vertex] != age) return;
                const Vertex parent = s.predecessors[vertex];
                const auto slot = s.rank[parent];
                const Offset edge = s.queue[begin + slot].prefix + position(s, parent, vertex);
                const Offset degree = s.offsets[vertex + 1] - s.offsets[vertex];
                family[vertex] = family_of(slot);
                if (degree) mark(s, length, static_cast<typename Search<Vertex, Offset>::Number>(edge), degree);
            });
        end_turn(s, REORDER, turn, told);
        const Frontier upcoming = append(s, run, block);
        begin += frontier.vertices;
        frontier = upcoming;
        end_turn(s, REORDER, turn, told);
    }
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long word = thread; word < words; word += threads) s.fresh[word] = 0;
}

// A queue in shared memory.
template <typename Vertex, typename Offset>
struct LocalQueue {
    Entry<Offset>* entries;
    Vertex* vertices;

    __device__ LocalQueue(unsigned char* memory, long long capacity, int which) {
        entries = reinterpret_cast<Entry<Offset>*>(memory) + which * capacity;
        vertices = reinterpret_cast<Vertex*>(memory + 2 * capacity * sizeof(Entry<Offset>)) + which * capacity;
    }
};

// Ordered levels by one block, from the frontier behind `begin` until it has more than `alone` edges, which then stands
// behind `begin + frontier.vertices`. A thread takes edges with neighbouring numbers. Returns the last level; updates
// the frontier and the unexplored edges.
template <typename Vertex, typename Offset>
__device__ int go_alone(const Search<Vertex, Offset>& s, unsigned* visited, unsigned char* family, int level,
                        long long begin, Frontier& frontier, long long& unexplored, unsigned char* memory,
                        Counter* totals) {
    using S = Search<Vertex, Offset>;
    const long long behind = begin + frontier.vertices;
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + TURN_ALONE));
    int now = 0;
    {
        const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
        for (int i = threadIdx.x; i < frontier.vertices; i += THREADS) {
            queue.entries[i] = s.queue[begin + i];
            queue.vertices[i] = s.queued[begin + i];
        }
    }
    __syncthreads();

    bool arrived = false;
    while (frontier.vertices > 0 && frontier.edges <= s.alone && level < last && !arrived) {
        ++level;
        unexplored -= frontier.edges;
        const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
        const int edges = static_cast<int>(frontier.edges);
        const int each = (edges + THREADS - 1) / THREADS;
        bool live[UNROLL];
        Vertex neighbor[UNROLL], parent[UNROLL];
        Offset first[UNROLL], degree[UNROLL];
        typename S::Number mine[UNROLL];
        unsigned word[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int edge = threadIdx.x * each + k;
            live[k] = k < each && edge < edges;
            if (!live[k]) continue;
            int slot = 0;
            for (int size = static_cast<int>(frontier.vertices); size > 1;) {
                const int half = size / 2;
                if (queue.entries[slot + half].prefix <= edge) slot += half;
                size -= half;
            }
            neighbor[k] = __ldg(s.targets + (queue.entries[slot].shift + edge));
            parent[k] = queue.vertices[slot];
            mine[k] = S::CLAIMED | static_cast<typename S::Number>(edge);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!live[k]) continue;
            reduce_min(s.rank + neighbor[k], mine[k]);
            word[k] = __ldcg(visited + word_of(neighbor[k]));
            first[k] = __ldg(s.offsets + neighbor[k]);
            degree[k] = __ldg(s.offsets + neighbor[k] + 1) - first[k];
        }
        __syncthreads();
        Counter sum = 0;
        typename S::Number rank[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (live[k]) rank[k] = __ldcg(s.rank + neighbor[k]);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) live[k] = live[k] && rank[k] == mine[k] && !(word[k] & bit_of(neighbor[k]));
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!live[k]) continue;
            settle(s, neighbor[k], parent[k], level);
            reduce_or(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            if (degree[k]) sum += packed(1, degree[k], s.edge_bits);
        }

        Counter total;
        Counter place = block_exclusive_scan(sum, totals, total);
        const LocalQueue<Vertex, Offset> upcoming(memory, s.capacity, 1 - now);
        frontier = unpacked(total, s.edge_bits);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!live[k]) continue;
            const Frontier before = unpacked(place, s.edge_bits);
            s.rank[neighbor[k]] = before.vertices;
            if (!degree[k]) continue;
            const Offset prefix = static_cast<Offset>(before.edges);
            const Entry<Offset> entry = {prefix, static_cast<Offset>(first[k] - prefix)};
            upcoming.entries[before.vertices] = entry;
            upcoming.vertices[before.vertices] = neighbor[k];
            place += packed(1, degree[k], s.edge_bits);
        }
        now = 1 - now;
        if (s.trace && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        __syncthreads();
        arrived = s.target >= 0 && is_reached(__ldcg(&s.state->target_level), level);
    }

    const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
    for (int i = threadIdx.x; i < frontier.vertices; i += THREADS) {
        const Vertex vertex = queue.vertices[i];
        s.queue[behind + i] = queue.entries[i];
        s.queued[behind + i] = vertex;
        family[vertex] = family_of(__ldcg(s.rank + __ldcg(s.predecessors + vertex)));
    }
    return level;
}

// An edge of the frontier in shared memory: its place in `targets`, and the vertex that it leaves.
template <typename Vertex, typename Offset>
struct alignas(2 * sizeof(Offset)) Edge {
    Offset place;
    Vertex from;
};

// Hand a vertex's edges to the blocks of the cluster: each has `share` of the level's, by their numbers.
template <typename Vertex, typename Offset>
__device__ inline void hand_out(Edge<Vertex, Offset>* edges, int share, int number, Vertex vertex, Offset first,
                                Offset degree) {
    int block = number / share, place = number % share;
    for (Offset edge = 0; edge < degree; ++edge) {
        *map_shared_rank(edges + place, block) = {static_cast<Offset>(first + edge), vertex};
        if (++place == share) {
            place = 0;
            ++block;
        }
    }
}

// Ordered levels by a cluster of `size` blocks, from the frontier behind `begin` until it has no edges or more than
// `together`, and then stands behind `begin + frontier.vertices`. Returns the last level; updates the frontier and the
// unexplored edges.
template <typename Vertex, typename Offset>
__device__ int go_together(const Search<Vertex, Offset>& s, unsigned* visited, unsigned char* family, int level,
                           long long begin, Frontier& frontier, long long& unexplored, int size, unsigned char* memory,
                           Counter* totals) {
    using S = Search<Vertex, Offset>;
    __shared__ Counter counts[TEAM];  // what each block found in a level
    Edge<Vertex, Offset>* const edges = reinterpret_cast<Edge<Vertex, Offset>*>(memory);
    const int rank = static_cast<int>(blockIdx.x);
    const long long behind = begin + frontier.vertices;
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + TURN_ALONE));
    int share = static_cast<int>(frontier.edges + size - 1) / size;
    for (long long slot = rank * THREADS + threadIdx.x; slot < frontier.vertices; slot += size * THREADS) {
        const Entry<Offset>* const entry = s.queue + begin + slot;
        const Offset next = slot + 1 < frontier.vertices ? entry[1].prefix : static_cast<Offset>(frontier.edges);
        hand_out(edges, share, static_cast<int>(entry->prefix), s.queued[begin + slot],
                 static_cast<Offset>(entry->prefix + entry->shift), static_cast<Offset>(next - entry->prefix));
    }
    cluster_barrier();

    for (bool stay = true; stay;) {
        ++level;
        unexplored -= frontier.edges;
        const int from = rank * share;
        const int count = min(share, static_cast<int>(frontier.edges) - from);  // none if negative
        const int each = (share + THREADS - 1) / THREADS;
        bool won[UNROLL];
        Vertex neighbor[UNROLL], parent[UNROLL];
        Offset first[UNROLL], degree[UNROLL];
        typename S::Number claim[UNROLL];
        unsigned word[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = threadIdx.x * each + k;
            won[k] = k < each && place < count;
            if (!won[k]) continue;
            const Edge<Vertex, Offset> edge = edges[place];
            neighbor[k] = __ldg(s.targets + edge.place);
            parent[k] = edge.from;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!won[k]) continue;
            reduce_min(s.rank + neighbor[k],
                       S::CLAIMED | static_cast<typename S::Number>(from + threadIdx.x * each + k));
            word[k] = __ldcg(visited + word_of(neighbor[k]));
            first[k] = __ldg(s.offsets + neighbor[k]);
            degree[k] = __ldg(s.offsets + neighbor[k] + 1) - first[k];
        }
        cluster_barrier();
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (won[k]) claim[k] = __ldcg(s.rank + neighbor[k]);
        }
        Counter sum = 0;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!won[k]) continue;
            const auto mine = S::CLAIMED | static_cast<typename S::Number>(from + threadIdx.x * each + k);
            won[k] = claim[k] == mine && !(word[k] & bit_of(neighbor[k]));
            if (!won[k]) continue;
            settle(s, neighbor[k], parent[k], level);
            reduce_or(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            prefetch(s.targets + first[k]);
            if (degree[k]) sum += packed(1, degree[k], s.edge_bits);
        }
        Counter total;
        Counter place = block_exclusive_scan(sum, totals, total);
        if (threadIdx.x < size) *map_shared_rank(counts + rank, threadIdx.x) = total;
        cluster_barrier();
        const Counter until = warp_inclusive_scan(lane_id() < size ? counts[lane_id()] : 0);
        if (rank > 0) place += __shfl_sync(ALL, until, rank - 1);
        frontier = unpacked(__shfl_sync(ALL, until, WARP - 1), s.edge_bits);
        share = static_cast<int>(min(frontier.edges, s.together + 1) + size - 1) / size;
        stay = frontier.vertices > 0 && frontier.edges <= s.together && level < last;
        if (s.target >= 0 && is_reached(__ldcg(&s.state->target_level), level)) stay = false;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (!won[k]) continue;
            const Frontier before = unpacked(place, s.edge_bits);
            s.rank[neighbor[k]] = before.vertices;
            if (!degree[k]) continue;
            if (stay) {
                hand_out(edges, share, static_cast<int>(before.edges), neighbor[k], first[k], degree[k]);
            } else {
                const Offset prefix = static_cast<Offset>(before.edges);
                s.queue[behind + before.vertices] = {prefix, static_cast<Offset>(first[k] - prefix)};
                s.queued[behind + before.vertices] = neighbor[k];
                family[neighbor[k]] = family_of(__ldcg(s.rank + parent[k]));
            }
            place += packed(1, degree[k], s.edge_bits);
        }
        if (s.trace && rank == 0 && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        cluster_barrier();
    }
    return level;
}

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
            s.family[vertex] = MANY;
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
    __shared__ Told told;
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
        if (s.turns) s.turns[0] = nanoseconds() << PHASE_BITS | BEGIN;
    }
    int turn = 1;
    // The levels. Every thread follows them in variables of its own.
    unsigned *visited = s.visited[0], *other = s.visited[1];
    unsigned char *family = s.family, *other_family = s.family + words * WARP;
    Frontier frontier = {0, 0};  // the last one with an order, behind `begin`
    long long begin = 0;
    long long reached = 0;  // by the last level; those without edges may be left out
    long long unexplored = s.m;
    int level = 0;
    int ages = 0;  // levels since the last one with an order
    bool seeded = false;
    bool given_up = false;
    while (!seeded || (reached > 0 && level < s.depth_limit && !given_up)) {
        if (seeded && s.target >= 0 && is_reached(told.target_level, level)) break;
        if (ages == s.patience) {
            reorder(s, other, visited, family, level, ages, begin, frontier, turn, &told, block);
            ages = 0;
            reached = frontier.vertices;
            end_turn(s, REORDER, turn, &told);
            continue;
        }
        if (!seeded || (ages == 0 && frontier.edges <= (cluster > 1 ? s.together : s.alone))) {
            const int size = frontier.edges <= s.alone ? 1 : cluster;
            if (blockIdx.x < size) {
                if (!seeded) frontier = seed(s, totals);
                const long long expanded = frontier.vertices;
                if (size > 1) {
                    level = go_together(s, visited, family, level, begin, frontier, unexplored, size, memory, totals);
                } else if (expanded > 0 && frontier.edges <= s.alone && level < s.depth_limit) {
                    level = go_alone(s, visited, family, level, begin, frontier, unexplored, memory, totals);
                } else {
                    begin -= expanded;  // the frontier is where it was
                }
                if (blockIdx.x == 0 && threadIdx.x == 0) {
                    state->alone[turn % 2] = {level, begin + expanded, frontier.vertices, frontier.edges, unexplored};
                }
            }
            end_turn(s, !seeded ? SEED : size == 1 ? ALONE : TOGETHER, turn, &told);
            seeded = true;
            level = static_cast<int>(told.alone.level);
            begin = told.alone.begin;
            frontier = {told.alone.vertices, told.alone.edges};
            unexplored = told.alone.unexplored;
            reached = frontier.vertices;
            given_up = level > s.n;
            continue;
        }

        ++level;
        given_up = level > s.n;  // as many levels as vertices, if each reaches one and the last none
        const bool wide = ages > 0 || (frontier.edges >= s.wide && frontier.edges > unexplored / s.alpha);
        if (ages == 0) unexplored -= frontier.edges;
        if (!wide) {
            const auto run = run_of(s, begin, frontier, 0, frontier.edges, block);
            clear_marks(s, run, block);
            claim<false>(s, visited, run);
            end_turn(s, CLAIM, turn, &told);
            settle_in_order(s, visited, family, level, begin, frontier, block);
            end_turn(s, SETTLE, turn, &told);
            begin += frontier.vertices;
            frontier = append(s, run, block);
            reached = frontier.vertices;
            end_turn(s, APPEND, turn, &told);
        } else {
            long long last = 0;  // of the first edges
            int foremost = 0;
            if (ages == 0) {
                long long before_large = frontier.edges;
                if (!s.positions) {
                    find_large_family(s, family, begin, frontier, unexplored / s.large, &state->tails[turn % 3]);
                    end_turn(s, FAMILIES, turn, &told);
                    before_large -= told.found >> FAMILY_BITS;
                    foremost = told.found % (1 << FAMILY_BITS);
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
                        end_turn(s, MERGE, turn, &told);
                    }
                    claim<true>(s, so_far, run_of(s, begin, frontier, from, to, block));
                    end_turn(s, FIRST_EDGES, turn, &told);
                    from = to;
                    to = min(last, GROWTH * to);
                }
                if (last < before_large) {  // who has the first edge left?
                    foremost = family[s.queued[begin + slot_of(s.queue + begin, frontier.vertices, last)]];
                }
            }
            const bool complete = ages == 0 && last == frontier.edges;
            const Counter by_warp =
                sweep(s, visited, other, family, other_family, level, ages, begin, last > 0, complete, foremost, block);
            Counter by_block;
            block_exclusive_scan(lane_id() == 0 ? by_warp : 0, totals, by_block);
            if (threadIdx.x == 0 && by_block) atomicAdd(&state->tails[turn % 3], by_block);
            end_turn(s, SWEEP, turn, &told);
            reached = told.found;
            swap(visited, other);
            swap(family, other_family);
            ++ages;
        }
        if (s.trace && thread == 0) s.trace[level] = nanoseconds() * 2 + wide;
    }

    // End: whatever was not visited is unreached. The next search begins with the isolated vertices visited alone.
    for_each(
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
    set_all(s.family, 2 * words * WARP, thread, threads);
}
