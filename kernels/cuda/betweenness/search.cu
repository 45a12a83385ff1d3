// Betweenness: shortest paths through each vertex or arc, from many sources at once, in one cooperative launch.
//
// A *place* is a vertex and a word of 64 sources, one bit a source: place = vertex << shift | word. It has a row of 64
// numbers, so that a warp reads what an arc brings for all 64 in one piece. Forward, level by level, a place that sources
// reach adds up the paths of its in-neighbours in the frontier; backward, in the order of the log turned round, it adds
// up what its out-neighbours one level below pass on. Both directions pull: a place belongs to one warp, its arcs are
// added in the order in which they lie, and the same call gives the same bits each time. Numbers of sources that are not
// at that level are neither read nor written.
//
// *Few arcs* leave the frontier: they are pushed first, words only, and the places that these list are those that pull.
// *Many*: every place that misses a source pulls at once, and a barrier is saved.
//
// A warp takes up to 32 items, places of at most PIECE arcs, and goes over the arcs of all of them 32 at a time: a lane
// an arc to find the neighbours whose word meets the item's, then the whole warp a row. A vertex with more arcs is cut
// into pieces that are items of their own; the last that is done adds up their sums in order.
//
//   offsets[n + 1], targets[m]        out-edges; an arc that is there twice counts as two paths
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric)
//   pieces, in_pieces[count]          runs of at most PIECE arcs of the vertices that have more
//   sources[k]                        bit i % 64 of word i / 64 stands for sources[i]
//   is_target[n]                      vertices to which paths are counted
//   rows[places][64]                  forward: shortest paths from the source; backward, in their stead: what the vertex
//                                     passes on, (dependency + 1 if it is a target) / paths
//   seen[places]                      sources that have reached the vertex
//   fronts[4][places]                 sources whose distance is the level, for four levels in turn; 0 where there are none
//   found[places]                     places that this level's arcs led to first
//   log, log_bits[n * k]              places and their sources in the order of levels
//   begins[n + 2]                     where each level begins in the log
//   partials[pieces][64], partial_bits[pieces]  sums of pieces, and the sources that have any; a piece has 1 << shift
//   arrivals[pieces]                  pieces of a place that are done, at the place of its first; 0 between phases
//   sums[places] or sums[m << shift]  what the launch adds to each vertex or arc, by word
//   scores[n] or scores[m]            the sums of all launches
//   state                             what the blocks share, see `State`
//
// Work: each arc on a shortest path from a source to any vertex costs 8 bytes of a row in each direction, and an arc one
// word (8 bytes for 64 sources) each time that its end is at a level or, in a sweep, is missed by a source. One source
// after another, or a block for each, would pay a sector of 32 bytes an arc and direction, for distances alone. On
// rmat:20 a source has 9 million such arcs: 64 sources move 10 GB, some 4 ms at the bandwidth of an H200, plus what
// levels lose in half-used sectors. With few vertices the words go side by side, so that all sources of a graph of 2000
// vertices are one launch whose rows stay in the L2 cache. Long and thin graphs pay for barriers: three a level.
//
// Races: a word of `fronts` is ORed atomically while others read it: who reads too little does an atomic in vain, and the
// one that finds it 0 lists the place. Everything else has one owner a phase: `rows` of a level are written while those
// of another are read, `seen` changes when the place is done (of a heavy one: when all its pieces have read it).
//
// Sources: U. Brandes, A faster algorithm for betweenness centrality, J. Mathematical Sociology 25(2), 2001, and On
// variants of shortest-path betweenness centrality, Social Networks 30(2), 2008; many sources a pass: A. E. Sariyuce,
// E. Saule, K. Kaya, U. V. Catalyurek, Regularizing graph centrality computations, J. Parallel and Distributed Computing
// 76, 2015. Words that filter rows, the log and sums without atomics are ours.

#ifndef THREADS
#define THREADS 256  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 3  // of a multiprocessor
#endif

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int BITS = 64;    // sources of a word, numbers of a row
constexpr int PIECE = 128;  // arcs of an item, at most; as in ../batch.py
constexpr int UNROLL = 4;   // rows that a warp has under way at a time
constexpr int TURNS = 4;    // levels whose fronts are kept
constexpr int SLOTS = 4;    // levels whose counters are kept
constexpr int WARPS = THREADS / WARP;

using Word = unsigned long long;

template <typename Vertex, typename Offset>
struct Piece {
    Offset begin;   // the first of the arcs
    Vertex vertex;  // whose they are
};

// What the blocks share. A level counts into the slot level % SLOTS; it is emptied a level before.
struct State {
    alignas(128) unsigned arrived;  // blocks at the barrier; its top bit changes when all have come
    alignas(128) Word found[SLOTS];
    alignas(128) Word logged[SLOTS];
    alignas(128) Word arcs[SLOTS];  // out of the places logged
};

template <typename Vertex, typename Offset>
struct Batch {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Piece<Vertex, Offset>* pieces;
    const Piece<Vertex, Offset>* in_pieces;
    const Vertex* sources;
    const bool* is_target;
    double* rows;
    Word* seen;
    Word* fronts;
    Vertex* found;
    Vertex* log;
    Word* log_bits;
    long long* begins;
    double* partials;
    Word* partial_bits;
    Word* arrivals;
    double* sums;
    double* scores;
    State* state;
    long long n, m, k, shift;
    long long piece_count, in_piece_count;
    long long endpoints, edges;
    long long alpha;  // every place pulls when the frontier has more than 1/alpha of the arcs

    __device__ long long places() const { return n << shift; }

    __device__ Word* front(int level) const { return fronts + (level + TURNS) % TURNS * places(); }

    // The sources that there are in a place's word.
    __device__ Word sources_of(Vertex place) const {
        const long long count = k - static_cast<long long>(word_of(place)) * BITS;
        return count >= BITS ? ~Word(0) : count > 0 ? (Word(1) << count) - 1 : 0;
    }

    __device__ Vertex word_of(Vertex place) const { return place & ((Vertex(1) << shift) - 1); }

    // The place of a vertex that has the same sources as `place`.
    __device__ Vertex neighbor(Vertex vertex, Vertex place) const { return vertex << shift | word_of(place); }
};

// What a lane holds: a place or a piece of it, and the sources that it is about.
template <typename Vertex, typename Offset>
struct Item {
    Vertex place = 0;
    Word bits = 0;     // none: there is nothing to do
    Offset begin = 0;  // the first of its arcs
    int arcs = 0;
    int slot = -1;  // of a piece: where it is in the arrays of partials
};

// An item, or an arc of it that brings something: the place whose row is to be read, and for which sources.
template <typename Vertex>
struct alignas(16) Hit {
    Word bits;
    Vertex place;
    int owner;  // the lane that holds the item
};

// The numbers of two sources: `lane` and `lane + 32` of a word.
struct Pair {
    double low, high;
};

// A warp's shared memory.
template <typename Vertex>
struct Window {
    Hit<Vertex> hits[WARP + UNROLL];
    double shares[WARP + UNROLL];  // what each hit adds to its arc
};

__device__ inline bool low_of(Word bits) { return static_cast<unsigned>(bits) >> lane_id() & 1; }

__device__ inline bool high_of(Word bits) { return static_cast<unsigned>(bits >> WARP) >> lane_id() & 1; }

// The numbers of these sources in a row, 0 for others.
__device__ inline Pair load(const double* rows, long long row, Word bits) {
    const double* const from = rows + row * BITS + lane_id();
    Pair pair = {0, 0};
    if (low_of(bits)) pair.low = from[0];
    if (high_of(bits)) pair.high = from[WARP];
    return pair;
}

__device__ inline void store(double* rows, long long row, Word bits, Pair pair) {
    double* const to = rows + row * BITS + lane_id();
    if (low_of(bits)) to[0] = pair.low;
    if (high_of(bits)) to[WARP] = pair.high;
}

template <typename Number>
__device__ inline Number sum_of_warp(Number value) {
    for (int step = WARP / 2; step; step /= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

// Append the lanes' values that are to be kept; `tail` counts what is behind `list`.
template <typename Value>
__device__ inline long long append(Word* tail, bool keep, Value value, Value* list) {
    const unsigned keepers = __ballot_sync(ALL, keep);
    if (keepers == 0) return 0;
    Word start = 0;
    if (lane_id() == 0) start = atomicAdd(tail, static_cast<Word>(__popc(keepers)));
    start = __shfl_sync(ALL, start, 0) + __popc(keepers & lanes_below());
    if (keep) list[start] = value;
    return start;
}

// Call visit(i) for all i below `count`, all lanes of a warp at once, -1 where there is nothing left. Neighbouring i go to
// neighbouring warps, so that the pieces of a hub do.
template <typename Visit>
__device__ inline void for_each(long long count, Visit visit) {
    const long long warp = static_cast<long long>(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    const long long warps = static_cast<long long>(gridDim.x) * WARPS;
    const long long mine = lane_id() * warps + warp;
    for (long long base = 0; base + warp < count; base += WARP * warps) visit(base + mine < count ? base + mine : -1);
}

// Call visit(inside, owner, step) for each of the lanes' `length` steps, 32 at a time, in order: it is the step of that
// number of the lane `owner`. Where none is left `inside` is false.
template <typename Visit>
__device__ inline void for_each_step(int length, Visit visit) {
    int upto = length;
    for (int distance = 1; distance < WARP; distance *= 2) {
        const int below = __shfl_up_sync(ALL, upto, distance);
        if (lane_id() >= distance) upto += below;
    }
    const int start = upto - length, all = __shfl_sync(ALL, upto, WARP - 1);
    for (int base = 0; base < all; base += WARP) {
        const int step = base + lane_id();
        int owner = 0;  // the last lane whose steps start at or before this
        for (int half = WARP / 2; half; half /= 2) {
            const int there = __shfl_sync(ALL, start, owner + half);
            if (there <= step) owner += half;
        }
        visit(step < all, owner, step - __shfl_sync(ALL, start, owner));
    }
}

// A place with all its arcs, unless these are so many that it comes in pieces.
template <typename Vertex, typename Offset>
__device__ inline Item<Vertex, Offset> whole(const Batch<Vertex, Offset>& b, const Offset* offsets, Vertex place,
                                             Word bits) {
    const Offset begin = offsets[place >> b.shift], end = offsets[(place >> b.shift) + 1];
    const bool light = end - begin <= PIECE;
    return {place, light ? bits : 0, begin, light ? static_cast<int>(end - begin) : 0};
}

// The piece at this slot; `bits_of(place)` tells the sources.
template <typename Vertex, typename Offset, typename BitsOf>
__device__ inline Item<Vertex, Offset> part(const Batch<Vertex, Offset>& b, const Offset* offsets,
                                            const Piece<Vertex, Offset>* pieces, long long slot, BitsOf bits_of) {
    const Piece<Vertex, Offset> piece = pieces[slot >> b.shift];
    const Vertex place = b.neighbor(piece.vertex, static_cast<Vertex>(slot));
    const Offset left = offsets[piece.vertex + 1] - piece.begin;
    return {place, bits_of(place), piece.begin, static_cast<int>(left < PIECE ? left : PIECE), static_cast<int>(slot)};
}

// Few arcs, first phase: set the items' sources in their neighbours' words, and list the neighbours.
template <typename Vertex, typename Offset>
__device__ void expand(const Batch<Vertex, Offset>& b, const Item<Vertex, Offset>& item, int level) {
    Word* const upcoming = b.front(level);
    for_each_step(item.bits ? item.arcs : 0, [&](bool inside, int owner, int step) {
        const Vertex place = __shfl_sync(ALL, item.place, owner);
        const Word bits = __shfl_sync(ALL, item.bits, owner);
        const Offset arc = __shfl_sync(ALL, item.begin, owner) + step;
        Vertex neighbor = 0;
        bool first = false;
        if (inside) {
            neighbor = b.neighbor(b.targets[arc], place);
            const Word fresh = bits & ~(b.seen[neighbor] | __ldcg(upcoming + neighbor));
            if (fresh) first = atomicOr(upcoming + neighbor, fresh) == 0;
        }
        append(&b.state->found[level % SLOTS], first, neighbor, b.found);
    });
}

// Count one more, and return how many there were. What a warp wrote before its lane 0 calls this, with its barriers around
// it, is seen by every warp whose call counts it.
__device__ inline int arrive(Word* arrivals) { return static_cast<int>(atomic_add_acq_rel(arrivals, 1)); }

// Hand in what a piece adds up to. Whoever is the last of its place gets the sums of all; is it this warp?
template <typename Vertex, typename Offset>
__device__ inline bool join(const Batch<Vertex, Offset>& b, const Offset* offsets, const Piece<Vertex, Offset>* pieces,
                            long long slot, Pair& sum, Word& found) {
    const Piece<Vertex, Offset> piece = pieces[slot >> b.shift];
    const Offset begin = offsets[piece.vertex], end = offsets[piece.vertex + 1];
    const long long first = slot - (static_cast<long long>(piece.begin - begin) / PIECE << b.shift);
    const int count = static_cast<int>((static_cast<long long>(end - begin) + PIECE - 1) / PIECE);
    store(b.partials, slot, found, sum);
    if (lane_id() == 0) b.partial_bits[slot] = found;
    __syncwarp();
    int before = 0;
    if (lane_id() == 0) before = arrive(b.arrivals + first);
    __syncwarp();
    if (__shfl_sync(ALL, before, 0) + 1 < count) return false;
    if (lane_id() == 0) b.arrivals[first] = 0;
    sum = {0, 0};
    found = 0;
    for (int base = 0; base < count; base += WARP) {
        const int mine = base + lane_id();
        const Word bits = mine < count ? b.partial_bits[first + (static_cast<long long>(mine) << b.shift)] : 0;
        for (unsigned some = __ballot_sync(ALL, bits != 0); some;) {
            Pair pair[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i, some &= some - 1) {
                const int lane = some ? __ffs(some) - 1 : 0;
                const Word theirs = __shfl_sync(ALL, bits, lane);
                found |= theirs;
                pair[i] = load(b.partials, first + (static_cast<long long>(base + lane) << b.shift), some ? theirs : 0);
            }
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) sum = {sum.low + pair[i].low, sum.high + pair[i].high};
        }
    }
    return true;
}

// The compiler may fuse either product with the sum, and not the same one wherever this is inlined: it is said which.
__device__ inline double product(Pair a, Pair b) { return __fma_rn(a.low, b.low, __dmul_rn(a.high, b.high)); }

// Pass on what a place has: its dependencies add up to `sum` for each path. Returns what this is worth to the vertex,
// over the sources of this lane.
template <typename Vertex, typename Offset>
__device__ inline double pass_on(const Batch<Vertex, Offset>& b, Vertex place, Word bits, bool target, Pair paths,
                                 Pair sum, int level) {
    store(b.rows, place, bits, {sum.low + target / paths.low, sum.high + target / paths.high});
    if (level == 0) return b.endpoints ? rint(sum.low) + rint(sum.high) : 0;  // a source has one path to each target
    const int ends = b.endpoints && target ? low_of(bits) + high_of(bits) : 0;
    return product(paths, sum) + ends;
}

// What an item came to, in the lane that holds it; nothing in those of pieces that were not the last.
struct Outcome {
    Word found = 0;    // forward: the sources that reached the place
    double worth = 0;  // backward: the sum of its dependencies
};

// Add up the rows of the neighbours at the level above, or at the level below if BACK. An item's first step is the item
// itself, and it has ended when the next one's comes.
template <bool BACK, typename Vertex, typename Offset>
__device__ inline Outcome gather(const Batch<Vertex, Offset>& b, const Item<Vertex, Offset>& item, int level,
                                 Window<Vertex>& window) {
    const Offset* const offsets = BACK ? b.offsets : b.in_offsets;
    const Vertex* const neighbors = BACK ? b.targets : b.in_targets;
    const Word* const beside = b.front(BACK ? level + 1 : level - 1);
    const bool for_arcs = BACK && b.edges;
    const unsigned targets = BACK ? __ballot_sync(ALL, item.bits && b.is_target[item.place >> b.shift]) : 0;
    Outcome mine;
    int current = -1;  // the lane of the item under way
    Pair paths = {0, 0}, sum = {0, 0};
    Word found = 0;
    const auto end = [&] {
        if (current < 0) return;
        const int slot = __shfl_sync(ALL, item.slot, current);
        if (slot >= 0 && !join(b, offsets, BACK ? b.pieces : b.in_pieces, slot, sum, found)) return;
        const Vertex place = __shfl_sync(ALL, item.place, current);
        double worth = 0;
        if (BACK) {
            worth = pass_on(b, place, __shfl_sync(ALL, item.bits, current), targets >> current & 1, paths, sum, level);
            worth = for_arcs ? 0 : sum_of_warp(worth);
        } else {
            store(b.rows, place, found, sum);
        }
        if (lane_id() == current) mine = {found, worth};
    };
    const auto add = [&](int number, Word bits, Pair pair) {
        sum = {sum.low + pair.low, sum.high + pair.high};
        found |= bits;
        if (for_arcs) {
            const double share = sum_of_warp(product(paths, pair));
            if (lane_id() == 0) window.shares[number] = share;
        }
    };
    for_each_step(item.bits ? item.arcs + 1 : 0, [&](bool inside, int owner, int step) {
        const Word bits = __shfl_sync(ALL, item.bits, owner);
        const long long arc = static_cast<long long>(__shfl_sync(ALL, item.begin, owner)) + step - 1;
        Hit<Vertex> hit = {BACK ? bits : 0, __shfl_sync(ALL, item.place, owner), owner};
        if (inside && step) {
            hit.place = b.neighbor(neighbors[arc], hit.place);
            hit.bits = beside[hit.place] & bits;
        }
        const bool listed = inside && (step == 0 || hit.bits);
        const unsigned list = __ballot_sync(ALL, listed);
        const int count = __popc(list), number = __popc(list & lanes_below());
        if (listed) window.hits[number] = hit;
        const int latest = __shfl_sync(ALL, owner, WARP - 1 - __clz(list));
        if (lane_id() < UNROLL) window.hits[count + lane_id()] = {0, hit.place, latest};  // bring nothing
        __syncwarp();
        for (int base = 0; base < count; base += UNROLL) {
            Hit<Vertex> hits[UNROLL];
            Pair pair[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                hits[i] = window.hits[base + i];
                pair[i] = load(b.rows, hits[i].place, hits[i].bits);
            }
            if (hits[UNROLL - 1].owner == current) {
#pragma unroll
                for (int i = 0; i < UNROLL; ++i) add(base + i, hits[i].bits, pair[i]);
                continue;
            }
#pragma unroll 1
            for (int i = base; i < min(base + UNROLL, count); ++i) {
                if (hits[0].owner == current) {
                    add(i, hits[0].bits, pair[0]);
                } else {
                    end();
                    current = hits[0].owner;
                    paths = pair[0];
                    sum = {0, 0};
                    found = 0;
                }
#pragma unroll
                for (int j = 0; j + 1 < UNROLL; ++j) hits[j] = hits[j + 1], pair[j] = pair[j + 1];
            }
        }
        __syncwarp();
        if (for_arcs && listed && step) b.sums[arc << b.shift | b.word_of(hit.place)] += window.shares[number];
    });
    end();
    return mine;
}

// Forward: what the lanes' items found becomes part of the level. Returns the out-edges of these places.
template <typename Vertex, typename Offset>
__device__ inline Word settle(const Batch<Vertex, Offset>& b, Vertex place, Word found, int level, long long tail) {
    const long long entry = tail + append(&b.state->logged[level % SLOTS], found != 0, place, b.log + tail);
    if (found == 0) return 0;
    b.log_bits[entry] = found;
    b.front(level)[place] = found;
    b.seen[place] |= found;
    return b.offsets[(place >> b.shift) + 1] - b.offsets[place >> b.shift];
}

// Empty the front of a level.
template <typename Vertex, typename Offset>
__device__ inline void forget(const Batch<Vertex, Offset>& b, int level, long long thread, long long threads) {
    const long long end = b.begins[level + 1];
    for (long long i = b.begins[level] + thread; i < end; i += threads) b.front(level)[b.log[i]] = 0;
}

// What is known of a level when it is done, the same in every thread.
struct Told {
    Word found, logged, arcs;
};

__device__ inline Told end_phase(State* state, int level, Word arcs, Word& arcs_of_block) {
    __shared__ Told told;
    const int slot = level % SLOTS;
    arcs = sum_of_warp(arcs);
    if (lane_id() == 0 && arcs) atomicAdd(&arcs_of_block, arcs);
    __syncthreads();
    if (threadIdx.x == 0) {
        const Word some = atomicExch(&arcs_of_block, Word(0));
        if (some) atomicAdd(&state->arcs[slot], some);
        grid_barrier(&state->arrived);
        told = {__ldcg(&state->found[slot]), __ldcg(&state->logged[slot]), __ldcg(&state->arcs[slot])};
    }
    __syncthreads();
    return told;
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) betweenness(const __grid_constant__ Batch<Vertex, Offset> b) {
    __shared__ Window<Vertex> windows[WARPS];
    __shared__ Word arcs_of_block;
    Window<Vertex>& window = windows[threadIdx.x / WARP];
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    const long long scored = b.edges ? b.m : b.n;
    const long long pieces = max(b.piece_count, b.in_piece_count);
    State* const state = b.state;

    if (threadIdx.x == 0) arcs_of_block = 0;
    if (thread < SLOTS) state->found[thread] = state->logged[thread] = state->arcs[thread] = 0;
    for (long long i = thread; i < b.places(); i += threads) b.seen[i] = 0;
    for (long long i = thread; i < TURNS * b.places(); i += threads) b.fronts[i] = 0;
    for (long long i = thread; i < scored << b.shift; i += threads) b.sums[i] = 0;
    for (long long i = thread; i < pieces << b.shift; i += threads) b.arrivals[i] = 0;
    end_phase(state, 0, 0, arcs_of_block);

    // Level 0. Of sources that share a place the first logs it.
    const auto place_of = [&](long long i) {
        return static_cast<Vertex>(static_cast<long long>(b.sources[i]) << b.shift | i / BITS);
    };
    for (long long i = thread; i < b.k; i += threads) {
        b.rows[static_cast<long long>(place_of(i)) * BITS + i % BITS] = 1;
        atomicOr(b.front(0) + place_of(i), Word(1) << i % BITS);
    }
    end_phase(state, 0, 0, arcs_of_block);
    Word arcs = 0;
    for_each(b.k, [&](long long i) {
        const Vertex place = i < 0 ? 0 : place_of(i);
        const Word found = i < 0 ? 0 : b.front(0)[place];
        arcs += settle(b, place, __ffsll(found) - 1 == i % BITS ? found : 0, 0, 0);
    });
    Told told = end_phase(state, 0, arcs, arcs_of_block);

    // Forward. Every thread keeps track of the levels on its own; the frontier is log[begin..end - 1].
    long long begin = 0, end = told.logged;
    int level = 0;
    while (begin < end) {
        if (thread == 0) b.begins[level] = begin;
        ++level;
        if (thread == 0) {
            const int slot = (level + 1) % SLOTS;
            state->found[slot] = state->logged[slot] = state->arcs[slot] = 0;
        }
        if (level >= 3) forget(b, level - 3, thread, threads);  // the level after this one needs the room
        const bool few = told.arcs * b.alpha <= static_cast<Word>(b.m) << b.shift;
        if (few) {
            const auto bits_of = [&](Vertex place) { return b.front(level - 1)[place]; };
            const long long places = end - begin;
            for_each(places + (b.piece_count << b.shift), [&](long long i) {
                Item<Vertex, Offset> item;
                if (i >= places) item = part(b, b.offsets, b.pieces, i - places, bits_of);
                if (i >= 0 && i < places) item = whole(b, b.offsets, b.log[begin + i], b.log_bits[begin + i]);
                expand(b, item, level);
            });
            told = end_phase(state, level, 0, arcs_of_block);
        }
        const auto bits_of = [&](Vertex place) {
            return few ? b.front(level)[place] : b.sources_of(place) & ~b.seen[place];
        };
        const long long places = few ? told.found : b.places();
        arcs = 0;
        for_each(places + (b.in_piece_count << b.shift), [&](long long i) {
            Item<Vertex, Offset> item;
            if (i >= places) item = part(b, b.in_offsets, b.in_pieces, i - places, bits_of);
            if (i >= 0 && i < places) {
                const Vertex place = few ? b.found[i] : static_cast<Vertex>(i);
                item = whole(b, b.in_offsets, place, bits_of(place));
            }
            arcs += settle(b, item.place, gather<false>(b, item, level, window).found, level, end);
        });
        told = end_phase(state, level, arcs, arcs_of_block);
        begin = end;
        end += told.logged;
    }
    if (thread == 0) b.begins[level] = end;

    // Backward. The fronts are those of the last level that has any places, and of the one before.
    const int levels = level, last = b.edges || b.endpoints ? 0 : 1;
    while (--level >= last) {
        begin = b.begins[level];
        const auto bits_of = [&](Vertex place) { return b.front(level)[place]; };
        const long long places = end - begin;
        for_each(places + (b.piece_count << b.shift), [&](long long i) {
            Item<Vertex, Offset> item;
            if (i >= places) item = part(b, b.offsets, b.pieces, i - places, bits_of);
            if (i >= 0 && i < places) item = whole(b, b.offsets, b.log[begin + i], b.log_bits[begin + i]);
            const double worth = gather<true>(b, item, level, window).worth;
            if (worth != 0) b.sums[item.place] += worth;
        });
        if (level > 0) {
            for (long long i = b.begins[level - 1] + thread; i < begin; i += threads) {
                b.front(level - 1)[b.log[i]] = b.log_bits[i];
            }
        }
        if (level + 2 < levels) forget(b, level + 2, thread, threads);
        end = begin;
        end_phase(state, 0, 0, arcs_of_block);
    }

    for (long long i = thread; i < scored; i += threads) {
        double sum = 0;
        for (long long word = 0; word < 1ll << b.shift; ++word) sum += b.sums[i << b.shift | word];
        b.scores[i] += sum;
    }
}
