// Bit-parallel: many sources at once, all levels of a batch in one cooperative launch.
//
// Each vertex has a row of WIDTH words of 64 bits, one bit a source. A group of WIDTH lanes takes a vertex, each lane a
// word, so that a row is read in one transaction. A level joins the rows of neighbours: an edge is looked at once for
// all the sources that get there at the same level, and in a small world these are most of them.
//
// *Top-down*: a group takes up to PIECE out-edges of a frontier vertex and ORs its row into the neighbours', but for
// what these have seen; after a barrier the vertices found are settled. *Bottom-up*: a group takes a vertex that misses
// a source and looks for it among the rows of its in-neighbours, until it has found all that are still under way. A
// vertex with more than PIECE in-edges is heavy: groups share it out, and it is settled after a barrier.
//
// What a level found is noted in one of two forms. *Distances* are bit-sliced: word w of row v of `planes` p holds bit p
// of the distances of 64 sources, so that a lane writes a word or two a level however many sources found the vertex;
// `write` turns them into rows of distances. *Counts* of the vertices that a source reached at a level are vertical
// counters in registers, eight bits deep; they go to shared memory when they are full, and when the phase is over.
//
//   rank[n]                           a vertex's number here, by degree; all but the distances go by it
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric); hubs first
//   heavy[heavies]                    vertices with more than PIECE in-edges
//   pieces[count]                     runs of at most PIECE of their in-edges
//   sources[k]                        bit i stands for sources[i]
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
// Work: a top-down level costs a look at two rows an edge and an atomic a word that is new there; a bottom-up level at
// most a look at a row an edge into a vertex that misses a source, and a look at every row. Synchronisation: two
// grid-wide barriers a level, one more on the way back from bottom-up.
//
// Races: rows are ORed atomically while other groups read them: who reads too little does an atomic in vain. Whoever
// sets the first bit of a word read none there before, and so asks for the stamp; whoever exchanges that first puts the
// vertex into `found`, so it is settled once. `seen` changes only where one group owns
// the vertex: settling, and bottom-up, where nobody else reads it.
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

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int BITS = 64;                // of a word
constexpr int PIECE = 128;              // edges that a group takes at a time
constexpr int UNROLL = 4;               // edges that a group has under way at a time
constexpr int TALLY = 8;                // bits of a vertical counter
constexpr int FULL = (1 << TALLY) - 1;  // rows that it can add
constexpr int SLOTS = 4;                // levels whose counters are kept
constexpr int MOST_WORDS = 16;

using Word = unsigned long long;

template <typename Vertex, typename Offset>
struct Piece {
    Offset begin;   // the first of the edges
    Vertex vertex;  // whose they are
};

// What the blocks share. A level counts into the slot level % SLOTS; two levels on it is emptied.
struct State {
    alignas(128) unsigned arrived;  // blocks at the barrier; its top bit changes when all have come
    alignas(128) Word found[SLOTS];
    alignas(128) Word items[SLOTS];
    alignas(128) Word edges[SLOTS];                  // out-edges of the vertices reached
    alignas(128) Word under_way[SLOTS][MOST_WORDS];  // sources that reached any vertex
    int levels;                                      // of the search that is done
};

template <typename Vertex, typename Offset>
struct Batch {
    const Vertex* rank;
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* heavy;
    const Piece<Vertex, Offset>* pieces;
    const Vertex* sources;
    Word* seen;
    Word* rows[2];
    int* stamps;
    Vertex* found[2];
    Piece<Vertex, Offset>* items;
    Word* planes;
    Word* counts[2];
    long long* reached;
    long long* total;
    int* eccentricity;
    double* harmonic;
    int* distances;
    State* state;
    long long n, m, k;
    long long active;  // vertices with in-edges; the others' numbers follow theirs
    long long heavies, piece_count, bits, depth_limit;
    long long alpha;  // bottom-up when the frontier has more than 1/alpha of the edges
};

// The frontier of a level, the same in every thread.
struct Frontier {
    Word found, items, edges;
};

__device__ inline Frontier end_phase(State* state, int level) {
    __shared__ Frontier told;
    __syncthreads();
    if (threadIdx.x == 0) {
        grid_barrier(&state->arrived);
        const int slot = level % SLOTS;
        told = {__ldcg(&state->found[slot]), __ldcg(&state->items[slot]), __ldcg(&state->edges[slot])};
    }
    __syncthreads();
    return told;
}

// Where a thread stands: its warp in the grid, its group in the warp, its word in the row.
template <int WIDTH>
struct Place {
    static constexpr int GROUPS = WARP / WIDTH;  // of a warp
    int lane = threadIdx.x % WARP;
    int word = lane % WIDTH;
    int group = lane / WIDTH;
    unsigned mask = (WIDTH == WARP ? ALL : ((1u << WIDTH) - 1)) << (group * WIDTH);  // the lanes of the group
    long long warp = static_cast<long long>(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    long long warps = static_cast<long long>(gridDim.x) * (THREADS / WARP);

    // Does it hold in any lane of the group? To be asked by the whole warp.
    __device__ bool any(bool holds) const { return __ballot_sync(ALL, holds) & mask; }
};

// What a thread found in a phase: the out-edges, the sources under way in its word, and the vertical counters.
template <int WIDTH>
struct Notes {
    Word edges = 0;
    Word under_way = 0;
    Word tally[TALLY] = {};
    int held = 0;

    // Count a vertex that these sources reached.
    __device__ void add(Word bits, int word, unsigned* counts) {
        Word carry = bits;
#pragma unroll
        for (int i = 0; i < TALLY; ++i) {
            const Word before = tally[i];
            tally[i] = before ^ carry;
            carry &= before;
        }
        if (++held == FULL) empty(word, counts);
    }

    __device__ void empty(int word, unsigned* counts) {
        if (held == 0) return;
        for (int bit = 0; bit < BITS; ++bit) {
            unsigned count = 0;
#pragma unroll
            for (int i = 0; i < TALLY; ++i) count |= static_cast<unsigned>(tally[i] >> bit & 1) << i;
            if (count) atomicAdd(counts + word * BITS + bit, count);
        }
#pragma unroll
        for (int i = 0; i < TALLY; ++i) tally[i] = 0;
        held = 0;
    }
};

// What the threads of a block found together; empty between phases.
template <int WIDTH>
struct Gathered {
    unsigned counts[BITS * WIDTH];
    Word under_way[WIDTH];
    Word edges;
};

// Add what the block found to the level's counters. To be called by all threads of the block, once a phase.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void hand_in(const Batch<Vertex, Offset>& b, int level, Place<WIDTH> at, Notes<WIDTH>& notes,
                        Gathered<WIDTH>& gathered) {
    const int slot = level % SLOTS;
    notes.empty(at.word, gathered.counts);
    if (notes.under_way) atomicOr(gathered.under_way + at.word, notes.under_way);
    if (at.word == 0 && notes.edges) atomicAdd(&gathered.edges, notes.edges);
    __syncthreads();
    if (threadIdx.x < WIDTH) {
        const Word under_way = atomicExch(gathered.under_way + threadIdx.x, 0);
        if (under_way) atomicOr(&b.state->under_way[slot][threadIdx.x], under_way);
    }
    if (threadIdx.x == 0) {  // an exchange, which the compiler does not let other threads do in vain
        const Word edges = atomicExch(&gathered.edges, 0);
        if (edges) atomicAdd(&b.state->edges[slot], edges);
    }
    if (b.planes) return;
    for (int i = threadIdx.x; i < BITS * WIDTH; i += THREADS) {
        if (gathered.counts[i]) atomicAdd(b.counts[level % 2] + i, static_cast<Word>(gathered.counts[i]));
        gathered.counts[i] = 0;
    }
}

// Write down that these sources reached the vertex at this level. To be called by the lanes of its group.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void note(const Batch<Vertex, Offset>& b, Vertex vertex, Word bits, int level, Place<WIDTH> at,
                            Notes<WIDTH>& notes, Gathered<WIDTH>& gathered) {
    const long long place = static_cast<long long>(vertex) * WIDTH + at.word;
    notes.under_way |= bits;
    if (at.word == 0) notes.edges += b.offsets[vertex + 1] - b.offsets[vertex];
    if (bits == 0) return;
    b.seen[place] |= bits;
    if (level == 0) return;
    if (b.planes) {
        for (int left = level; left; left &= left - 1) {
            b.planes[static_cast<long long>(__ffs(left) - 1) * b.n * WIDTH + place] |= bits;
        }
    } else {
        notes.add(bits, at.word, gathered.counts);
    }
}

// Append the out-edges of the vertices that the groups of this warp hold, PIECE at a time, to the items.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void push(const Batch<Vertex, Offset>& b, bool holds, Vertex vertex, int level, Place<WIDTH> at) {
    Offset begin = 0, end = 0;
    if (holds) {
        begin = b.offsets[vertex];
        end = b.offsets[vertex + 1];
    }
    const unsigned mine = static_cast<unsigned>((end - begin + PIECE - 1) / PIECE);
    unsigned upto = at.word == 0 ? mine : 0;
    for (int distance = 1; distance < WARP; distance *= 2) {
        const unsigned below = __shfl_up_sync(ALL, upto, distance);
        if (at.lane >= distance) upto += below;
    }
    const unsigned all = __shfl_sync(ALL, upto, WARP - 1);
    if (all == 0) return;
    Word start = 0;
    if (at.lane == 0) start = atomicAdd(&b.state->items[level % SLOTS], static_cast<Word>(all));
    start = __shfl_sync(ALL, start, 0) + (upto - mine);
    for (unsigned i = at.word; i < mine; i += WIDTH)
        b.items[start + i] = {static_cast<Offset>(begin + i * PIECE), vertex};
}

// Top-down, first phase: OR the rows of the items' vertices into their neighbours', and list these.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void expand(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int level, Word items,
                       Place<WIDTH> at) {
    Vertex* const found = b.found[level % 2];
    Word* const tail = &b.state->found[level % SLOTS];
    for (long long first = at.warp * at.GROUPS; first < items; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < items;
        Offset edge = 0, end = 0;
        Word bits = 0;
        if (holds) {
            const Piece<Vertex, Offset> item = b.items[first + at.group];
            edge = item.begin;
            end = min(static_cast<long long>(item.begin) + PIECE, static_cast<long long>(b.offsets[item.vertex + 1]));
            bits = frontier[static_cast<long long>(item.vertex) * WIDTH + at.word];
        }
        for (; __any_sync(ALL, edge < end); edge += UNROLL) {
            Vertex neighbor[UNROLL];
            Word fresh[UNROLL], there[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) neighbor[i] = edge + i < end ? b.targets[edge + i] : -1;
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                fresh[i] = there[i] = 0;
                if (neighbor[i] < 0) continue;
                const long long place = static_cast<long long>(neighbor[i]) * WIDTH + at.word;
                there[i] = __ldcg(upcoming + place);
                fresh[i] = bits & ~(b.seen[place] | there[i]);
            }
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                if (fresh[i]) atomicOr(upcoming + static_cast<long long>(neighbor[i]) * WIDTH + at.word, fresh[i]);
                const bool untouched = at.any(fresh[i] != 0 && there[i] == 0);  // by others, in some word
                bool wins = false;
                if (untouched && at.word == 0 && __ldcg(b.stamps + neighbor[i]) != level) {
                    wins = atomicExch(b.stamps + neighbor[i], level) != level;
                }
                const unsigned winners = __ballot_sync(ALL, wins);
                if (winners == 0) continue;
                Word start = 0;
                if (at.lane == 0) start = atomicAdd(tail, static_cast<Word>(__popc(winners)));
                start = __shfl_sync(ALL, start, 0);
                if (wins) found[start + __popc(winners & ((1u << at.lane) - 1))] = neighbor[i];
            }
        }
    }
}

// Top-down, second phase: settle what was found at this level, and forget the last frontier.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void settle(const Batch<Vertex, Offset>& b, Word* frontier, const Word* upcoming, int level, Word count,
                       Word last_count, Place<WIDTH> at, Notes<WIDTH>& notes, Gathered<WIDTH>& gathered) {
    const Vertex* const found = b.found[level % 2];
    for (long long first = at.warp * at.GROUPS; first < count; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < count;
        Vertex vertex = 0;
        if (holds) {
            vertex = found[first + at.group];
            const Word bits = __ldcg(upcoming + static_cast<long long>(vertex) * WIDTH + at.word);
            note(b, vertex, bits, level, at, notes, gathered);
        }
        push(b, holds, vertex, level, at);
    }
    const Vertex* const last = b.found[(level + 1) % 2];
    for (long long first = at.warp * at.GROUPS; first < last_count; first += at.warps * at.GROUPS) {
        if (first + at.group < last_count)
            frontier[static_cast<long long>(last[first + at.group]) * WIDTH + at.word] = 0;
    }
}

// The bits of a group's word that are in the rows of the in-neighbours `edge..end - 1`: it stops when none of `missing`
// is left. To be called by the whole warp.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline Word look(const Batch<Vertex, Offset>& b, const Word* frontier, Offset edge, Offset end, Word missing,
                            Place<WIDTH> at) {
    Word bits = 0;
    for (;;) {
        const bool going_on = at.any((missing & ~bits) != 0) && edge < end;
        if (!__any_sync(ALL, going_on)) break;
        if (going_on) {
            Vertex neighbor[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) neighbor[i] = b.in_targets[min(edge + i, end - 1)];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) bits |= frontier[static_cast<long long>(neighbor[i]) * WIDTH + at.word];
        }
        edge += UNROLL;
    }
    return bits & missing;
}

// Bottom-up, first phase: share out the heavy vertices, and settle the others.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void sweep(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int level, Place<WIDTH> at,
                      Notes<WIDTH>& notes, Gathered<WIDTH>& gathered) {
    const Word wanted = __ldcg(&b.state->under_way[(level - 1) % SLOTS][at.word]);
    for (long long first = at.warp * at.GROUPS; first < b.piece_count; first += at.warps * at.GROUPS) {
        Offset edge = 0, end = 0;
        Word missing = 0;
        long long place = 0;
        if (first + at.group < b.piece_count) {
            const Piece<Vertex, Offset> piece = b.pieces[first + at.group];
            edge = piece.begin;
            end = min(static_cast<long long>(piece.begin) + PIECE,
                      static_cast<long long>(b.in_offsets[piece.vertex + 1]));
            place = static_cast<long long>(piece.vertex) * WIDTH + at.word;
            missing = wanted & ~(b.seen[place] | __ldcg(upcoming + place));
        }
        const Word bits = look(b, frontier, edge, end, missing, at);
        if (bits) atomicOr(upcoming + place, bits);
    }
    for (long long first = at.warp * at.GROUPS; first < b.active; first += at.warps * at.GROUPS) {
        const Vertex vertex = static_cast<Vertex>(first + at.group);
        Offset edge = 0, end = 0;
        Word missing = 0;
        bool light = false;
        long long place = 0;
        if (first + at.group < b.active) {
            edge = b.in_offsets[vertex];
            end = b.in_offsets[vertex + 1];
            light = end - edge <= PIECE;
            place = static_cast<long long>(vertex) * WIDTH + at.word;
            if (light) missing = wanted & ~b.seen[place];
        }
        const Word bits = look(b, frontier, edge, end, missing, at);
        const bool finds = at.any(bits != 0);
        if (light) upcoming[place] = bits;
        if (finds) note(b, vertex, bits, level, at, notes, gathered);
    }
}

// Bottom-up, second phase: settle the heavy vertices, and empty their rows for the next level.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void settle_heavy(const Batch<Vertex, Offset>& b, Word* frontier, const Word* upcoming, int level,
                             Place<WIDTH> at, Notes<WIDTH>& notes, Gathered<WIDTH>& gathered) {
    for (long long first = at.warp * at.GROUPS; first < b.heavies; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < b.heavies;
        const Vertex vertex = holds ? b.heavy[first + at.group] : 0;
        const long long place = static_cast<long long>(vertex) * WIDTH + at.word;
        const Word bits = holds ? __ldcg(upcoming + place) : 0;
        if (at.any(bits != 0)) note(b, vertex, bits, level, at, notes, gathered);
        if (holds) frontier[place] = 0;
    }
}

// Back from bottom-up: list the frontier, the vertices of the last level, and empty the rows of this one.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void list_frontier(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int last_level,
                              Place<WIDTH> at) {
    Vertex* const found = b.found[last_level % 2];
    Word* const tail = &b.state->found[last_level % SLOTS];
    for (long long first = at.warp * at.GROUPS; first < b.n; first += at.warps * at.GROUPS) {
        const Vertex vertex = static_cast<Vertex>(first + at.group);
        const bool inside = first + at.group < b.n;
        const long long place = static_cast<long long>(vertex) * WIDTH + at.word;
        const bool holds = at.any(inside && first + at.group < b.active && frontier[place] != 0);
        if (inside) upcoming[place] = 0;
        push(b, holds, vertex, last_level, at);
        const unsigned holders = __ballot_sync(ALL, holds && at.word == 0);
        if (holders == 0) continue;
        Word start = 0;
        if (at.lane == 0) start = atomicAdd(tail, static_cast<Word>(__popc(holders)));
        start = __shfl_sync(ALL, start, 0);
        if (holds && at.word == 0) found[start + __popc(holders & ((1u << at.lane) - 1))] = vertex;
    }
}

// Add the counts of a level to the sums. Each source belongs to one thread of the grid.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void sum_up(const Batch<Vertex, Offset>& b, int level, long long thread, long long threads) {
    if (b.planes || level == 0) return;
    for (long long source = thread; source < BITS * WIDTH; source += threads) {
        const Word count = __ldcg(b.counts[level % 2] + source);
        if (count == 0) continue;
        b.counts[level % 2][source] = 0;
        b.reached[source] += count;
        b.total[source] += count * level;
        b.eccentricity[source] = level;
        b.harmonic[source] += static_cast<double>(count) / level;
    }
}

template <int WIDTH, typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Batch<Vertex, Offset> b) {
    __shared__ Gathered<WIDTH> gathered;
    const Place<WIDTH> at;
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    const long long words = b.n * WIDTH;
    State* const state = b.state;

    for (int i = threadIdx.x; i < BITS * WIDTH; i += THREADS) gathered.counts[i] = 0;
    if (threadIdx.x < WIDTH) gathered.under_way[threadIdx.x] = 0;
    if (threadIdx.x == 0) gathered.edges = 0;
    for (long long i = thread; i < words; i += threads) {
        b.seen[i] = b.rows[0][i] = b.rows[1][i] = 0;
        if (b.planes) b.planes[i] = 0;
    }
    for (long long i = thread; i < b.n; i += threads) b.stamps[i] = -1;
    if (thread < SLOTS) {
        state->found[thread] = state->items[thread] = state->edges[thread] = 0;
        for (int word = 0; word < WIDTH; ++word) state->under_way[thread][word] = 0;
    }
    for (long long source = thread; !b.planes && source < BITS * WIDTH; source += threads) {
        b.counts[0][source] = b.counts[1][source] = 0;
        b.reached[source] = 1;
        b.total[source] = b.eccentricity[source] = 0;
        b.harmonic[source] = 0;
    }
    end_phase(state, 0);

    for (long long i = thread; i < b.k; i += threads) {
        const Vertex source = b.sources[i];
        atomicOr(b.rows[0] + static_cast<long long>(source) * WIDTH + i / BITS, Word(1) << i % BITS);
        if (atomicExch(b.stamps + source, 0) != 0) b.found[0][atomicAdd(&state->found[0], Word(1))] = source;
    }
    Frontier frontier = end_phase(state, 0);

    // Level 0 is settled like any other, and then the levels follow. Every thread keeps track of them on its own.
    Word *last = b.rows[1], *now = b.rows[0];
    int level = 0;
    bool bottom_up = false;
    for (;;) {
        Notes<WIDTH> notes;
        if (bottom_up) {
            settle_heavy(b, last, now, level, at, notes, gathered);
        } else {
            const Word last_count = level ? __ldcg(&state->found[(level - 1) % SLOTS]) : 0;
            settle(b, last, now, level, frontier.found, last_count, at, notes, gathered);
        }
        hand_in(b, level, at, notes, gathered);
        frontier = end_phase(state, level);
        sum_up<WIDTH>(b, level, thread, threads);
        if (frontier.edges == 0 || level >= b.depth_limit) break;

        // The next level: what it counts into is empty, and so is the plane that it is the first to need.
        if (thread == 0) {
            const int slot = (level + 3) % SLOTS;
            state->found[slot] = state->items[slot] = state->edges[slot] = 0;
            for (int word = 0; word < WIDTH; ++word) state->under_way[slot][word] = 0;
        }
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
        if (b.planes && (level & (level + 1)) == 0 && __popc(level) < b.bits) {
            Word* const plane = b.planes + __popc(level) * words;
            for (long long i = thread; i < words; i += threads) plane[i] = 0;
        }
        if (bottom_up) {
            Notes<WIDTH> swept;
            sweep(b, last, now, level, at, swept, gathered);
            hand_in(b, level, at, swept, gathered);
        } else {
            expand(b, last, now, level, frontier.items, at);
        }
        frontier = end_phase(state, level);
    }
    if (thread == 0) state->levels = level;
}

// Turn the planes into distances[k][n], -1 where a source is not: a lane takes a vertex, its warp 64 sources.
template <int WIDTH, typename Vertex, typename Offset>
__global__ void write(const __grid_constant__ Batch<Vertex, Offset> b) {
    constexpr int NEAR = 8;  // planes in registers
    const int bits = min(static_cast<long long>(32 - __clz(b.state->levels)), b.bits);
    const int lane = threadIdx.x % WARP;
    const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / WARP;
    const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / WARP;
    const long long plane_words = b.n * WIDTH;
    for (long long first = warp * WARP; first < b.n; first += warps * WARP) {
        const long long vertex = first + lane;
        const long long row = static_cast<long long>(vertex < b.n ? b.rank[vertex] : 0) * WIDTH;
        for (int word = 0; word * BITS < b.k; ++word) {
            const Word* const plane = b.planes + row + word;
            const Word seen = b.seen[row + word];
            Word near[NEAR];
#pragma unroll
            for (int i = 0; i < NEAR; ++i) near[i] = i < bits ? plane[i * plane_words] : 0;
            int* distances = b.distances + static_cast<long long>(word) * BITS * b.n + vertex;
            const int sources = static_cast<int>(min(b.k - static_cast<long long>(word) * BITS, 64ll));
            for (int source = 0; source < sources; ++source, distances += b.n) {
                int distance = 0;
#pragma unroll
                for (int i = 0; i < NEAR; ++i) distance |= static_cast<int>(near[i] >> source & 1) << i;
                for (int i = NEAR; i < bits; ++i)
                    distance |= static_cast<int>(plane[i * plane_words] >> source & 1) << i;
                if (vertex < b.n) *distances = seen >> source & 1 ? distance : -1;
            }
        }
    }
}
