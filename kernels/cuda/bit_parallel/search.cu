// Bit-parallel: many sources at once, all levels of a batch in one cooperative launch.
//
// Each vertex has a row of WIDTH words of 64 bits, one bit per source. A group of WIDTH lanes takes a vertex, each lane
// a word, so that a row is read in one transaction. A level joins the rows of neighbours: an edge is read once for all
// the sources that get there at the same level, and in a small world these are most of them.
//
// *Top-down*: a group takes up to PIECE out-edges of a frontier vertex and ORs its row into the neighbours', but for
// what these have seen; after a barrier the vertices found are recorded. *Bottom-up*: a group takes a vertex that lacks
// a source and looks for it in the rows of its in-neighbours, until it has found all that are still in flight. A
// vertex with more than PIECE in-edges is heavy: groups share it out, and it is recorded after a barrier.
//
// What a level found is recorded in one of two forms. *Distances* are bit-sliced: word w of row v of `planes` p holds
// bit p of the distances of 64 sources, so that a lane writes a word or two per level however many sources found the
// vertex; `write` turns them into rows of distances. *Counts* of the vertices that a source reached at a level are
// vertical counters in registers, eight bits deep; they go to shared memory when they are full, and when the phase is
// over.
//
//   rank[n]                           a vertex's number by degree, which indexes all but the distances
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric); hubs first
//   heavy[heavies]                    vertices with more than PIECE in-edges
//   pieces[count]                     runs of at most PIECE of their in-edges
//   sources[k]                        bit i stands for sources[i]
//   allowed[n]                        a byte per vertex, 0 where no search may enter it; a null pointer if all may. The
//                                     others begin with all bits in `seen`, and have no distance
//   seen[n][WIDTH]                    sources that have reached the vertex
//   rows[2][n][WIDTH]                 sources that reached it at the last level, and at this one
//   stamps[n]                         the last level at which the vertex was put into `found`; -1 before
//   found[2][n]                       vertices reached at this level and at the last one, top-down
//   items[n + m / PIECE]              runs of at most PIECE out-edges of the frontier, top-down
//   planes[bits][n][WIDTH]            bits of the distances; a null pointer if counts are wanted
//   counts[2][64 * WIDTH]             vertices that a source reached at this level and at the last one
//   reached, total, eccentricity, harmonic[64 * WIDTH]  what the counts add up to
//   state                             what the blocks share, see `State`
//
// Work: a top-down level reads two rows per edge and does an atomic per word that is new there; a bottom-up level
// reads at most a row per edge into a vertex that lacks a source, and every row once. Synchronisation: two
// grid-wide barriers per level, one more on the way back from bottom-up.
//
// Races: rows are ORed atomically while other groups read them: a stale read costs a redundant atomic. The thread that
// sets the first bit of a word has read 0 there, and so loads the stamp; the first to exchange it puts the vertex
// into `found`, so it is recorded once. `seen` changes only where one group owns the vertex: recording, and bottom-up,
// where no other group reads it.
//
// Sources: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8(4), 2014; H. Liu,
// H. H. Huang, Y. Hu, iBFS: concurrent breadth-first search on GPUs, SIGMOD 2016. Bit-sliced distances and counters
// are ours.

#ifndef THREADS
#define THREADS 512  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 2  // of a multiprocessor
#endif

#include "bottom_up.cuh"
#include "top_down.cuh"
#include "write.cuh"

// Empty the counters of the levels that count into this slot.
template <int WIDTH>
__device__ __forceinline__ void empty_counters(State* state, long long slot) {
    state->vertices[slot] = state->items[slot] = state->edges[slot] = 0;
    for (int word = 0; word < WIDTH; ++word) state->under_way[slot][word] = 0;
}

// Reset what the last batch left.
template <int WIDTH, typename Vertex, typename Offset>
__device__ __forceinline__ void reset(const Batch<Vertex, Offset>& b, BlockResult<WIDTH>& block, long long thread,
                                      long long threads) {
    const long long words = b.n * WIDTH;
    for (int i = threadIdx.x; i < BITS * WIDTH; i += THREADS) block.counts[i] = 0;
    if (threadIdx.x < WIDTH) block.under_way[threadIdx.x] = 0;
    if (threadIdx.x == 0) block.edges = 0;
    for (long long i = thread; i < words; i += threads) {
        b.seen[i] = b.rows[0][i] = b.rows[1][i] = 0;
        if (b.planes) b.planes[i] = 0;
    }
    for (long long i = thread; i < b.n; i += threads) b.stamps[i] = -1;
    if (thread < SLOTS) empty_counters<WIDTH>(b.state, thread);
    for (long long source = thread; !b.planes && source < BITS * WIDTH; source += threads) {
        b.counts[0][source] = b.counts[1][source] = 0;
        b.reached[source] = 1;
        b.total[source] = b.eccentricity[source] = 0;
        b.harmonic[source] = 0;
    }
}

// Level 0: list each vertex that is a source of any search, and keep all searches out of those that are not allowed.
template <int WIDTH, typename Vertex, typename Offset>
__device__ __forceinline__ void seed(const Batch<Vertex, Offset>& b, long long thread, long long threads) {
    for (long long i = thread; i < b.k; i += threads) {
        const Vertex source = b.sources[i];
        atomicOr(b.rows[0] + static_cast<long long>(source) * WIDTH + i / BITS, Word(1) << i % BITS);
        if (atomicExch(b.stamps + source, 0) != 0) b.found[0][atomicAdd(&b.state->vertices[0], Word(1))] = source;
    }
    for (long long vertex = thread; b.allowed && vertex < b.n; vertex += threads) {
        Word* const seen = b.seen + static_cast<long long>(b.rank[vertex]) * WIDTH;
        if (b.allowed[vertex]) continue;
        for (int word = 0; word < WIDTH; ++word) seen[word] = ~Word(0);
    }
}

// Clear the plane that the level after this one is the first to need.
template <int WIDTH, typename Vertex, typename Offset>
__device__ __forceinline__ void clear_plane(const Batch<Vertex, Offset>& b, int level, long long thread,
                                            long long threads) {
    if (!b.planes || (level & (level + 1)) != 0 || __popc(level) >= b.bits) return;
    const long long words = b.n * WIDTH;
    Word* const plane = b.planes + __popc(level) * words;
    for (long long i = thread; i < words; i += threads) plane[i] = 0;
}

template <int WIDTH, typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Batch<Vertex, Offset> b) {
    __shared__ BlockResult<WIDTH> block;
    const Place<WIDTH> at;
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    State* const state = b.state;

    reset(b, block, thread, threads);
    end_phase(state, 0);
    seed<WIDTH>(b, thread, threads);
    PhaseResult frontier = end_phase(state, 0);

    // Level 0 is recorded like any other, and then the levels follow. Every thread keeps track of them on its own.
    Word *last = b.rows[1], *now = b.rows[0];
    int level = 0;
    bool bottom_up = false;
    for (;;) {
        ThreadResult<WIDTH> mine;
        if (bottom_up) {
            record_heavy(b, last, now, level, at, mine, block);
        } else {
            const Word last_count = level ? __ldcg(&state->vertices[(level - 1) % SLOTS]) : 0;
            record_found(b, last, now, level, frontier.vertices, last_count, at, mine, block);
        }
        flush(b, level, at, mine, block);
        frontier = end_phase(state, level);
        add_counts<WIDTH>(b, level, thread, threads);
        if (frontier.edges == 0 || level >= b.depth_limit) break;

        if (thread == 0) empty_counters<WIDTH>(state, (level + SLOTS - 1) % SLOTS);  // of the level before
        const bool was_bottom_up = bottom_up;
        bottom_up = frontier.edges > b.m / b.alpha;
        if (was_bottom_up && !bottom_up) {
            list_frontier(b, now, last, level, at);
            frontier = end_phase(state, level);
        }
        ++level;
        Word* const before = last;
        last = now;
        now = before;
        clear_plane<WIDTH>(b, level, thread, threads);
        if (bottom_up) {
            ThreadResult<WIDTH> swept;
            sweep(b, last, now, level, at, swept, block);
            flush(b, level, at, swept, block);
        } else {
            expand(b, last, now, level, frontier.items, at);
        }
        frontier = end_phase(state, level);
    }
    if (thread == 0) state->levels = level;
}
