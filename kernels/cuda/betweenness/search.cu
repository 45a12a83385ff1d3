// Betweenness: shortest paths through each vertex or arc, from many sources at once, in one cooperative launch.
//
// A *place* is a vertex and a word of 64 sources, one bit per source: place = vertex << shift | word. It has a row of
// 64 numbers, so that a warp reads what an arc brings for all 64 in one piece. Forward, level by level, a place that
// sources reach adds up the paths of its in-neighbours in the frontier; backward, in the reverse order of the log, it
// adds up what its out-neighbours one level below pass on. Both directions pull: a place belongs to one warp, its
// arcs are added in the order in which they lie, and the same call gives the same bits each time. Numbers of sources
// that are not at that level are neither read nor written.
//
// *Few arcs* leave the frontier: they are pushed first, words only, and the places that these list are those that pull.
// *Many*: every place that misses a source pulls at once, and a barrier is saved.
//
// A warp takes up to 32 items, places of at most PIECE arcs, and goes over the arcs of all of them 32 at a time: a lane
// per arc to find the neighbours whose word meets the item's, then the whole warp per row. A vertex with more arcs is
// cut into pieces that are items of their own; the last that is done adds up their sums in order.
//
//   offsets[n + 1], targets[m]        out-edges; a duplicate arc counts as another path
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric)
//   pieces, in_pieces[count]          runs of at most PIECE arcs of the vertices that have more
//   sources[k]                        bit i % 64 of word i / 64 stands for sources[i]
//   is_target[n]                      vertices to which paths are counted
//   rows[places][64]                  forward: shortest paths from the source; backward, these are replaced by what the
//                                     vertex passes on, (dependency + 1 if it is a target) / paths
//   seen[places]                      sources that have reached the vertex
//   fronts[4][places]                 sources whose distance is the level, for four levels in turn; 0 where there are
//                                     none
//   found[places]                     places that this level's arcs led to first
//   log, log_bits[n * k]              places and their sources in the order of levels
//   begins[n + 2]                     where each level begins in the log
//   partials[pieces][64], partial_bits[pieces]  sums of pieces, and the sources that have any; a piece has 1 << shift
//   arrivals[pieces]                  pieces of a place that are done, at the place of its first; 0 between phases
//   sums[places] or sums[m << shift]  what the launch adds to each vertex or arc, by word
//   scores[n] or scores[m]            the sums of all launches
//   state                             what the blocks share, see `State`
//
// Work: each arc on a shortest path from a source to any vertex costs 8 bytes of a row in each direction, and an arc
// one word (8 bytes for 64 sources) each time that its end is at a level or, in a sweep, is missed by a source. One
// source after another, or a block for each, would pay a sector of 32 bytes per arc and direction, for distances alone.
// On rmat:20 a source has 9 million such arcs: 64 sources move 10 GB, some 4 ms at the bandwidth of an H200, plus what
// levels lose in half-used sectors. With few vertices the words go side by side, so that all sources of a graph of 2000
// vertices are one launch whose rows stay in the L2 cache. Long and thin graphs pay for barriers: three per level.
//
// Races: a word of `fronts` is ORed atomically while others read it: a stale read costs a redundant atomic, and the
// one that finds 0 lists the place. Everything else has one owner per phase: `rows` of a level are written while those
// of another are read, `seen` changes when the place is done (of a heavy one: when all its pieces have read it).
//
// Sources: U. Brandes, A faster algorithm for betweenness centrality, J. Mathematical Sociology 25(2), 2001, and On
// variants of shortest-path betweenness centrality, Social Networks 30(2), 2008; many sources per pass: A. E. Sariyuce,
// E. Saule, K. Kaya, U. V. Catalyurek, Regularizing graph centrality computations, J. Parallel and Distributed
// Computing 76, 2015. Words that filter rows, the log and sums without atomics are ours.

#ifndef THREADS
#define THREADS 256  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 3  // of a multiprocessor
#endif

#include "gather.cuh"
#include "levels.cuh"

// Reset what the last batch left.
template <typename Vertex, typename Offset>
__device__ inline void reset(const Batch<Vertex, Offset>& b, Word& arcs_of_block, long long thread, long long threads) {
    const long long scored = b.edges ? b.m : b.n;
    const long long pieces = max(b.piece_count, b.in_piece_count);
    State* const state = b.state;
    if (threadIdx.x == 0) arcs_of_block = 0;
    if (thread < SLOTS) state->found[thread] = state->logged[thread] = state->arcs[thread] = 0;
    for (long long i = thread; i < b.places(); i += threads) b.seen[i] = 0;
    for (long long i = thread; i < FRONTS * b.places(); i += threads) b.fronts[i] = 0;
    for (long long i = thread; i < scored << b.shift; i += threads) b.sums[i] = 0;
    for (long long i = thread; i < pieces << b.shift; i += threads) b.arrivals[i] = 0;
}

// Level 0. Of sources that share a place, the first logs it. Returns the arcs out of them.
template <typename Vertex, typename Offset>
__device__ inline Word seed(const Batch<Vertex, Offset>& b, long long thread, long long threads, Word& arcs_of_block) {
    const auto place_of = [&](long long i) {
        return static_cast<Vertex>(static_cast<long long>(b.sources[i]) << b.shift | i / BITS);
    };
    for (long long i = thread; i < b.k; i += threads) {
        b.rows[static_cast<long long>(place_of(i)) * BITS + i % BITS] = 1;
        atomicOr(b.front(0) + place_of(i), Word(1) << i % BITS);
    }
    end_phase(b.state, 0, 0, arcs_of_block);
    Word arcs = 0;
    for_each(b.k, [&](long long i) {
        const Vertex place = i < 0 ? 0 : place_of(i);
        const Word found = i < 0 ? 0 : b.front(0)[place];
        arcs += add_to_level(b, place, __ffsll(found) - 1 == i % BITS ? found : 0, 0, 0);
    });
    return arcs;
}

// Item `i` of a level: one of its `places` in the log, from `begin` on, or a piece of any place.
template <typename Vertex, typename Offset>
__device__ __forceinline__ Item<Vertex, Offset> item_of_level(const Batch<Vertex, Offset>& b, int level,
                                                              long long begin, long long places, long long i) {
    const auto bits_of = [&](Vertex place) { return b.front(level)[place]; };
    Item<Vertex, Offset> item;
    if (i >= places) item = part(b, b.offsets, b.pieces, i - places, bits_of);
    if (i >= 0 && i < places) item = whole(b, b.offsets, b.log[begin + i], b.log_bits[begin + i]);
    return item;
}

// Forward, if few arcs leave the frontier: list the places that they lead to.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void push(const Batch<Vertex, Offset>& b, int level, long long begin, long long end) {
    const long long places = end - begin;
    for_each(places + (b.piece_count << b.shift),
             [&](long long i) { expand(b, item_of_level(b, level - 1, begin, places, i), level); });
}

// Forward: the places listed, or else all that miss a source, add up the paths of their in-neighbours; the log goes on
// from `end`. Returns the arcs out of the places reached.
template <typename Vertex, typename Offset>
__device__ __forceinline__ Word pull(const Batch<Vertex, Offset>& b, int level, long long end, bool listed,
                                     long long places, Window<Vertex>& window) {
    const auto bits_of = [&](Vertex place) {
        return listed ? b.front(level)[place] : b.sources_of(place) & ~b.seen[place];
    };
    Word arcs = 0;
    for_each(places + (b.in_piece_count << b.shift), [&](long long i) {
        Item<Vertex, Offset> item;
        if (i >= places) item = part(b, b.in_offsets, b.in_pieces, i - places, bits_of);
        if (i >= 0 && i < places) {
            const Vertex place = listed ? b.found[i] : static_cast<Vertex>(i);
            item = whole(b, b.in_offsets, place, bits_of(place));
        }
        arcs += add_to_level(b, item.place, gather<false>(b, item, level, window).found, level, end);
    });
    return arcs;
}

// Backward: the places of a level add up what their out-neighbours pass on.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void pull_back(const Batch<Vertex, Offset>& b, int level, long long begin, long long end,
                                          Window<Vertex>& window) {
    const long long places = end - begin;
    for_each(places + (b.piece_count << b.shift), [&](long long i) {
        const Item<Vertex, Offset> item = item_of_level(b, level, begin, places, i);
        const double worth = gather<true>(b, item, level, window).worth;
        if (worth != 0) b.sums[item.place] += worth;
    });
}

// Add what the launch found to the scores.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void add_scores(const Batch<Vertex, Offset>& b, long long thread, long long threads) {
    const long long scored = b.edges ? b.m : b.n;
    for (long long i = thread; i < scored; i += threads) {
        double sum = 0;
        for (long long word = 0; word < 1ll << b.shift; ++word) sum += b.sums[i << b.shift | word];
        b.scores[i] += sum;
    }
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) betweenness(const __grid_constant__ Batch<Vertex, Offset> b) {
    __shared__ Window<Vertex> windows[WARPS];
    __shared__ Word arcs_of_block;
    Window<Vertex>& window = windows[threadIdx.x / WARP];
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    State* const state = b.state;

    reset(b, arcs_of_block, thread, threads);
    end_phase(state, 0, 0, arcs_of_block);

    Word arcs = seed(b, thread, threads, arcs_of_block);
    PhaseResult result = end_phase(state, 0, arcs, arcs_of_block);

    // Forward. Every thread keeps track of the levels on its own; the frontier is log[begin..end - 1].
    long long begin = 0, end = result.logged;
    int level = 0;
    while (begin < end && level < b.most_levels) {
        if (thread == 0) b.begins[level] = begin;
        ++level;
        if (thread == 0) {
            const int slot = (level + 1) % SLOTS;
            state->found[slot] = state->logged[slot] = state->arcs[slot] = 0;
        }
        if (level >= 3) clear_front(b, level - 3, thread, threads);  // the level after this one needs the room
        const bool few = result.arcs * b.alpha <= static_cast<Word>(b.m) << b.shift;
        if (few) {
            push(b, level, begin, end);
            result = end_phase(state, level, 0, arcs_of_block);
        }
        arcs = pull(b, level, end, few, few ? result.found : b.places(), window);
        result = end_phase(state, level, arcs, arcs_of_block);
        begin = end;
        end += result.logged;
    }
    if (thread == 0) state->levels = level;
    if (begin < end) return;
    if (thread == 0) b.begins[level] = end;

    // Backward. The fronts are those of the last level that has any places, and of the one before.
    const int levels = level, last = b.edges || b.endpoints ? 0 : 1;
    while (--level >= last) {
        begin = b.begins[level];
        pull_back(b, level, begin, end, window);
        if (level > 0) restore_front(b, level - 1, thread, threads);
        if (level + 2 < levels) clear_front(b, level + 2, thread, threads);
        end = begin;
        end_phase(state, 0, 0, arcs_of_block);
    }

    add_scores(b, thread, threads);
}
