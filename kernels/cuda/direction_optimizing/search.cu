// Direction-optimizing: the whole search in one cooperative launch.
//
// *Top-down*: the frontier is a run of a queue, cut into equal runs of edges, one for each warp. A neighbour is won by
// whoever sets its bit in the bitmap `visited`, and joins the queue; where the edges are many (*dense*), it does not:
// the queue comes from the bitmap afterwards, if it is needed at all. *Bottom-up*: each unvisited vertex looks for a
// visited in-neighbour and stops at the first. It looks at its `hub` first, the in-neighbour with the most out-edges,
// then at the next four, then at all; on skewed graphs few need to look further than the hub. Every edge out of an
// earlier level leads to a visited vertex, so a visited in-neighbour of an unvisited vertex is always in the frontier:
// `visited` is the frontier's bitmap too, and no queue need be turned into one. Levels without a queue leave each a
// bitmap behind, from which their distances are written at the end, all at once and in order. *Alone*: while the
// frontier is small, one block goes on from level to level with its queue in shared memory, and on graphs with many
// levels then one cluster of blocks, each with a queue of its own that the others read.
//
//   offsets[n + 1], targets[m]        out-edges
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric); in_targets begin where groups
//                                     of four may
//   hub[n], heavy[n][4]               the in-neighbours to look at first, those with the most out-edges; the vertex
//                                     itself if it has no in-edge, and -1 where there are no more. In a graph of small
//                                     rows (`near`) the hub is among the four, and the last is MORE if there are others
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[BITMAPS][words]           bitmaps of the vertices reached so far, and of the isolated ones, see `Ring`; a
//                                     search finds in the first the isolated ones alone, and leaves it like that
//   queue[n]                          the reached vertices with out-edges, level after level: where the edges of each
//                                     begin among those of its level, and what to add for their place in `targets`
//   queued[n]                         the vertices themselves
//   distances[n]                      the level that reached the vertex, 0 at a source, `unreached` where there is none
//   predecessors[n]                   the vertex that reached it, -1 where there is none; a null pointer if nobody asks
//   sources[count]                    in the host's memory, distinct
//   state                             what the blocks share, see `State`
//   trace[levels + 1]                 for each level when it was done, in nanoseconds, times 2, plus 1 if it went
//                                     bottom-up; the start first; a null pointer if nobody asks
//   status                            in the host's memory: number of the search that is done, its levels, and 1 if it
//                                     was given up, see `report`
//
// Slots in the queue come from one 64-bit atomic a warp: its high part counts vertices, its low part their edges. So
// each slot comes with the sum of the degrees before it, and nothing has to be scanned.
//
// Work: O(n / 32) to end. A top-down level costs one bit test a frontier edge and one atomic OR a vertex
// found; a bottom-up level at most one bit test an edge into an unvisited vertex, and reading and writing a bitmap.
// Distances and predecessors are written once a vertex and search: those of isolated vertices hold what they should
// from the start, and `State::stale` says when the last search began at one. Where `fresh` says that the two arrays
// were never written before, isolated vertices are written too.
// Synchronisation: one grid-wide barrier a level, two in a dense one that goes top-down, one barrier of the block or of
// the cluster where it goes alone; the host waits once.
//
// Races: threads race for a neighbour's bit; atomicOr lets one win, so nothing is enqueued twice, and the predecessor
// is the winner's alone. The read before it may be out of date, and then the atomic decides. A bottom-up level writes
// words that only one warp touches.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced expansion. The
// packed counter, the heavy in-neighbours, the bitmaps in place of distances and the team are ours.

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

constexpr int UNROLL = 4;                  // edges, vertices or groups that a lane has under way at a time
constexpr int MANY_EDGES = 1 << 11;        // of a level, for each warp
constexpr int TILE = 32;                   // words that a warp sweeps at a time, at most
constexpr int TILES = 4;                   // tiles that it looks through at a time, at most
constexpr int LIST = TILE * WARP * 3 / 2;  // vertices of them that it has on its list, at most
constexpr int BITMAPS = 8;                 // of visited vertices, in turn
constexpr int SKIP = -2;                   // no distance
constexpr int MORE = -2;                   // no neighbour: more than are here
constexpr int RECENT = 1 << 11;            // vertices that a block of a team asked for lately, twice that if NEAR
constexpr int TURN_ALONE = 1 << 20;        // levels that a block goes alone before it shows itself at the barrier

// What the blocks share: zero before the first search. Each barrier ends a turn; each turn counts into another tail.
struct State {
    alignas(128) unsigned arrived;   // blocks at the barrier; its top bit changes when all have come
    alignas(128) Counter tails[3];   // of this turn, of the next one, which is zero, and of the one before
    alignas(128) unsigned finished;  // blocks that are done with the search
    unsigned stale[2];               // did the last search that was not `fresh` begin at an isolated vertex? By parity
    long long target_level;          // that reached the target; 0 before
    Counter explored[3];             // edges of the vertices that the team reached, counted like `tails`
    long long level[2];              // where the team has got, in turns with its parity
};

template <typename Vertex, typename Offset>
struct Search {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* hub;
    const Vertex* heavy;
    const unsigned* isolated;
    unsigned* visited;
    Entry<Offset>* queue;
    Vertex* queued;
    int* distances;
    Vertex* predecessors;
    const Vertex* sources;
    State* state;
    Counter* trace;
    volatile long long* status;
    long long n, m;
    long long count, source;        // how many sources there are, and the first of them
    long long depth_limit, target;  // the target is no source; -1: none
    long long alpha;                // bottom-up when the frontier has more than 1/alpha of the unexplored edges
    long long beta;                 // top-down again when the frontier shrinks below 1/beta of the vertices
    long long dense;                // a frontier with more edges than this is expanded into a bitmap
    long long alone, together;      // a frontier with no more chunks than this is one block's work, one cluster's
    long long capacity;             // chunks of a block's queue in shared memory
    long long edge_bits;            // of a Counter
    long long tail;                 // small frontiers in a row before it is top-down again
    long long tile;                 // words that a warp sweeps at a time
    long long number;               // of this search
    long long fresh;                // are `distances` and `predecessors` of no search before?
    long long unreached;            // the distance where there is none; not SKIP
};

// Write down who reached a vertex, and when it was the target.
template <typename Vertex, typename Offset>
__device__ inline void adopt(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent, int level) {
    if (s.predecessors) s.predecessors[vertex] = parent;
    if (vertex == s.target) s.state->target_level = level;
}

// What a block is told at the end of a turn, in shared memory: thousands of warps that ask one address would queue up.
struct Told {
    Counter counted;         // in the tail of this turn
    Counter explored;        // by the team
    long long level;         // where the team has got
    long long target_level;  // so far
};

// End a turn: wait for all blocks, and learn what was counted in it. The tail of the next turn is made ready meanwhile.
__device__ inline Frontier end_turn(State* state, int turn, int edge_bits, Told* told) {
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) state->tails[(turn + 1) % 3] = state->explored[(turn + 1) % 3] = 0;
        grid_barrier(&state->arrived);
        told->counted = __ldcg(&state->tails[turn % 3]);
        told->explored = __ldcg(&state->explored[turn % 3]);
        told->level = __ldcg(&state->level[turn % 2]);
        told->target_level = __ldcg(&state->target_level);
    }
    __syncthreads();
    return unpacked(told->counted, edge_bits);
}

// Append the vertices that this warp `keep`s, up to COUNT a lane, to the queue behind `begin`. Those without edges are
// left out.
template <int COUNT, typename Vertex, typename Offset>
__device__ inline void enqueue(const Search<Vertex, Offset>& s, long long begin, Counter* tail,
                               const bool (&keep)[COUNT], const Vertex (&vertex)[COUNT], const Offset (&first)[COUNT],
                               const Offset (&degree)[COUNT]) {
    Counter mine = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (keep[k] && degree[k]) mine += packed(1, degree[k], s.edge_bits);
    }
    Counter place = warp_inclusive_scan(mine);
    const Counter total = __shfl_sync(ALL, place, WARP - 1);
    if (total == 0) return;
    Counter start = 0;
    if (lane_id() == 0) start = atomicAdd(tail, total);
    place += __shfl_sync(ALL, start, 0) - mine;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!keep[k] || !degree[k]) continue;
        const Frontier before = unpacked(place, s.edge_bits);
        const Offset prefix = static_cast<Offset>(before.edges);
        s.queue[begin + before.vertices] = {prefix, static_cast<Offset>(first[k] - prefix)};
        s.queued[begin + before.vertices] = vertex[k];
        place += packed(1, degree[k], s.edge_bits);
    }
}

// Loads and atomics that are independent stand in loops of their own, here and below, so that they are all on their way
// before the first is waited for.

// A top-down level: expand the frontier behind `begin`, a run of edges for each warp. DENSE: reach vertices in the
// bitmap alone, and return how many this lane reached; else give them their distance and append them to the queue.
template <bool DENSE, typename Vertex, typename Offset>
__device__ unsigned expand(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                           Frontier frontier, Counter* tail, int warp, int warps) {
    constexpr int COUNT = DENSE ? 2 * UNROLL : UNROLL;
    const long long share = (frontier.edges + warps - 1) / warps;
    const long long run = (share + WARP - 1) / WARP * WARP;
    long long next = warp * run;
    const long long stop = min(next + run, frontier.edges);
    if (next >= stop) return 0;
    const Entry<Offset>* entries = s.queue + begin;
    const int lane = lane_id();
    const bool look = run > MANY_EDGES;  // before the atomic: by and by most neighbours are visited
    unsigned reached = 0;

    // A window of 32 entries, one a lane, and the edges that it covers.
    for (long long slot = slot_of(entries, frontier.vertices, next); next < stop; slot += WARP) {
        const bool inside = slot + lane < frontier.vertices;
        Entry<Offset> entry = {static_cast<Offset>(frontier.edges), 0};
        if (inside) entry = entries[slot + lane];
        const Vertex owner = inside ? s.queued[begin + slot + lane] : -1;
        long long end = frontier.edges;
        if (slot + WARP < frontier.vertices) end = entries[slot + WARP].prefix;
        end = min(end, stop);

        for (; next < end; next += COUNT * WARP) {
            bool won[COUNT];
            Vertex neighbor[COUNT], parent[COUNT];
            unsigned word[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                const long long batch = next + k * WARP;
                const int who = owner_of(entry.prefix - batch);
                const Offset shift = __shfl_sync(ALL, entry.shift, who);
                parent[k] = __shfl_sync(ALL, owner, who);
                won[k] = batch + lane < end;
                neighbor[k] = 0;
                if (won[k]) neighbor[k] = __ldg(s.targets + (shift + batch + lane));
            }
            if (look) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) word[k] = visited[word_of(neighbor[k])];
#pragma unroll
                for (int k = 0; k < COUNT; ++k) won[k] = won[k] && !(word[k] & bit_of(neighbor[k]));
            }
            Offset first[DENSE ? 1 : COUNT], degree[DENSE ? 1 : COUNT];
            if constexpr (!DENSE) load_rows(s.offsets, won, neighbor, first, degree);
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                word[k] = ALL;
                if (won[k]) word[k] = atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                won[k] = !(word[k] & bit_of(neighbor[k]));
                if (!won[k]) continue;
                adopt(s, neighbor[k], parent[k], level);
                if (!DENSE) s.distances[neighbor[k]] = level;
                ++reached;
            }
            if constexpr (!DENSE) {
#pragma unroll
                for (int k = 0; k < COUNT; ++k) degree[k] -= first[k];
                enqueue(s, begin + frontier.vertices, tail, won, neighbor, first, degree);
            }
        }
        next = end;
    }
    return reached;
}

// A bottom-up level: let unvisited vertices look for the frontier. A warp takes tiles of words until it has enough
// unvisited vertices. Returns how many found the frontier, counted in the lanes. `list` has room for LIST vertices,
// `hits` for the words of TILES tiles.
template <typename Vertex, typename Offset>
__device__ unsigned sweep(const Search<Vertex, Offset>& s, const unsigned* visited, unsigned* upcoming, int level,
                          int warp, int warps, unsigned short* list, unsigned* hits) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id();
    const int tile = static_cast<int>(s.tile), vertices_of_tile = tile * WARP;
    unsigned found = 0;
    const auto words_of = [&](long long which) {
        const long long word = which * tile + lane;
        return lane < tile && word < words ? visited[word] : ALL;
    };

    unsigned ahead = words_of(warp);  // of the next tile
    for (long long next = warp; next * tile < words;) {
        const Vertex origin = static_cast<Vertex>(next * vertices_of_tile);
        int tiles = 0, unseen = 0;
        for (; tiles < TILES && unseen <= LIST - TILE * WARP && next * tile < words; ++tiles, next += warps) {
            const unsigned seen = ahead;
            ahead = words_of(next + warps);
            hits[tiles * TILE + lane] = seen;
            unseen += list_bits(~seen, list + unseen, tiles * TILE * WARP);
        }
        const auto vertex_of = [&](int local) {
            const int place = local % (TILE * WARP);
            return origin + static_cast<Vertex>(local / (TILE * WARP)) * (warps * vertices_of_tile) + place;
        };

        // Who misses moves to the front of the list.
        int missed = 0;
        const auto reach = [&](int local, Vertex parent) {
            adopt(s, vertex_of(local), parent, level);
            atomicOr(hits + local / WARP, 1u << local % WARP);
            ++found;
        };
        const auto keep = [&](bool miss, int local) {
            const unsigned misses = __ballot_sync(ALL, miss);
            if (miss) list[missed + __popc(misses & lanes_below())] = static_cast<unsigned short>(local);
            missed += __popc(misses);
        };

        if (unseen > WARP) {
            // The hubs.
            for (int begin = 0; begin < unseen; begin += UNROLL * WARP) {
                int local[UNROLL];
                Vertex hub[UNROLL];
                unsigned word[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const int place = begin + k * WARP + lane;
                    local[k] = place < unseen ? list[place] : -1;
                    hub[k] = 0;
                    if (local[k] >= 0) hub[k] = __ldg(s.hub + vertex_of(local[k]));
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) word[k] = visited[word_of(hub[k])];
                __syncwarp();
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const bool hit = word[k] & bit_of(hub[k]);
                    if (local[k] >= 0 && hit) reach(local[k], hub[k]);
                    keep(local[k] >= 0 && !hit, local[k]);
                }
            }
            __syncwarp();

            // The next four.
            const int without_hub = missed;
            missed = 0;
            for (int begin = 0; begin < without_hub; begin += UNROLL * WARP) {
                int local[UNROLL];
                Vertex group[UNROLL][GROUP], parent[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const int place = begin + k * WARP + lane;
                    local[k] = place < without_hub ? list[place] : -1;
                    const Vertex vertex = local[k] >= 0 ? vertex_of(local[k]) : origin;
                    load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group[k]);
                    parent[k] = -1;
                }
                // Two at a time: where one of the first two is visited, the others need no look.
#pragma unroll
                for (int half = 0; half < GROUP; half += 2) {
                    unsigned word[UNROLL][2];
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                        for (int i = 0; i < 2; ++i) {
                            const Vertex neighbor = group[k][half + i];
                            word[k][i] = 0;
                            if (parent[k] < 0 && neighbor >= 0) word[k][i] = visited[word_of(neighbor)];
                        }
                    }
                    __syncwarp();
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                        for (int i = 1; i >= 0; --i) {
                            if (word[k][i] & bit_of(group[k][half + i])) parent[k] = group[k][half + i];
                        }
                    }
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    if (local[k] >= 0 && parent[k] >= 0) reach(local[k], parent[k]);
                    keep(local[k] >= 0 && parent[k] < 0 && group[k][GROUP - 1] != -1, local[k]);
                }
            }
        } else if (unseen > 0) {
            // A few look at their hub and the next four at once.
            const int local = lane < unseen ? list[lane] : 0;
            const Vertex vertex = lane < unseen ? vertex_of(local) : origin;
            const Vertex hub = __ldg(s.hub + vertex);
            Vertex group[GROUP];
            load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group);
            unsigned word[GROUP];
#pragma unroll
            for (int i = 0; i < GROUP; ++i) word[i] = visited[word_of(max(group[i], Vertex(0)))];
            Vertex parent = test(visited, hub) ? hub : -1;
            __syncwarp();
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                if (group[i] >= 0 && word[i] & bit_of(group[i])) parent = group[i];
            }
            if (lane < unseen && parent >= 0) reach(local, parent);
            keep(lane < unseen && parent < 0 && group[GROUP - 1] != -1, local);
        }
        __syncwarp();

        // All in-neighbours in groups, round after round; the fewer vertices are left, the more lanes each has.
        long long done = 0;  // groups that those left have looked at
        while (missed > 0) {
            const int left = missed;
            int width = 1;
            while (width < WARP && left * width * 2 <= UNROLL * WARP) width *= 2;
            const int part = lane % width;
            missed = 0;
            for (int begin = 0; begin < left; begin += UNROLL * WARP / width) {
                int local[UNROLL];
                Offset first[UNROLL], last[UNROLL];
                Vertex group[UNROLL][GROUP];
                unsigned word[UNROLL][GROUP];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const int place = begin + (k * WARP + lane) / width;
                    local[k] = place < left ? list[place] : -1;
                    first[k] = last[k] = 0;
                    if (local[k] >= 0) {
                        const Vertex vertex = vertex_of(local[k]);
                        first[k] = __ldg(s.in_offsets + vertex);
                        last[k] = __ldg(s.in_offsets + vertex + 1);
                    }
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    load_group(s.in_targets, first[k] / GROUP + done + part, last[k], s.m, group[k]);
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                    for (int i = 0; i < GROUP; ++i) {
                        word[k][i] = visited[word_of(group[k][i])];
                    }
                }
                __syncwarp();
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const long long place = (first[k] / GROUP + done + part) * GROUP;
                    Vertex parent = -1;
#pragma unroll
                    for (int i = GROUP - 1; i >= 0; --i) {
                        const bool inside = place + i >= first[k] && place + i < last[k];
                        if (inside && word[k][i] & bit_of(group[k][i])) parent = group[k][i];
                    }
                    const unsigned some = __ballot_sync(ALL, parent >= 0) >> (lane - part) & (ALL >> (WARP - width));
                    if (some != 0 && __ffs(some) - 1 == part) reach(local[k], parent);
                    const bool more = place + (width - part) * GROUP < last[k];
                    keep(part == 0 && some == 0 && more, local[k]);
                }
            }
            __syncwarp();
            done += width;
        }
        __syncwarp();
        for (int i = 0; i < tiles; ++i) {
            const long long word = (next - static_cast<long long>(tiles - i) * warps) * tile + lane;
            if (lane < tile && word < words) upcoming[word] = hits[i * TILE + lane];
        }
        __syncwarp();
    }
    return found;
}

// Bitmaps of the vertices visited so far, each with all of the one before. A level without a queue adds one and leaves
// its distances to `record`; levels with a queue write theirs at once, and all go on in one bitmap.
struct Ring {
    unsigned* bitmaps;
    long long words;
    int* levels;  // of each bitmap's vertices that are not in the one before; SKIP if their distances are written
    int oldest, newest;

    __device__ unsigned* at(int place) const { return bitmaps + place % BITMAPS * ((words + 3) / 4 * 4); }
    __device__ unsigned* visited() const { return at(newest); }
    __device__ bool is_full() const { return newest - oldest == BITMAPS - 2; }
    __device__ unsigned* add(int level) {
        ++newest;
        if (threadIdx.x == 0) levels[newest % BITMAPS] = level;
        return visited();
    }
};

// Words of the bitmaps that a warp records at a time: so that all warps have some.
__device__ inline int recorded_words(long long tile) { return max(4, min(2 * static_cast<int>(tile), WARP)); }

// Write the distances that the levels without a queue left open, and `unreached` for vertices in no bitmap, unless that
// is SKIP. `with_isolated`: also the distances of those, since memory is faster at whole runs. To be called by whole
// blocks.
template <typename Vertex, typename Offset>
__device__ void record(const Search<Vertex, Offset>& s, const Ring& ring, int unreached, bool with_isolated, int warp,
                       int warps) {
    __shared__ int distances[BITMAPS + 1];  // by the number of bitmaps that do not have the vertex; BITMAPS: isolated
    const int lane = lane_id();
    const int bitmaps = ring.newest - ring.oldest + 1;
    __syncthreads();
    if (threadIdx.x <= bitmaps || threadIdx.x == BITMAPS) {
        distances[threadIdx.x] = threadIdx.x == 0         ? SKIP
                                 : threadIdx.x == BITMAPS ? static_cast<int>(s.unreached)
                                 : threadIdx.x == bitmaps ? unreached
                                                          : ring.levels[(ring.oldest + threadIdx.x) % BITMAPS];
    }
    __syncthreads();
    const int width = recorded_words(s.tile);
    for (long long start = static_cast<long long>(warp) * width; start < ring.words; start += warps * width) {
        const bool inside = lane < width && start + lane < ring.words;
        unsigned bits[BITMAPS - 1];
#pragma unroll
        for (int i = 0; i < BITMAPS - 1; ++i) {
            bits[i] = ALL;
            if (i < bitmaps && inside) bits[i] = __ldcg(ring.at(ring.oldest + i) + start + lane);
        }
        const unsigned isolated = with_isolated && inside ? __ldg(s.isolated + start + lane) : 0;
        // How many bitmaps do not have the vertex, of which an isolated one lacks none: a word for each binary digit.
        unsigned digits[4] = {0, 0, 0, isolated};
#pragma unroll
        for (int i = 0; i < BITMAPS - 1; ++i) {
            unsigned carry = ~bits[i];
#pragma unroll
            for (int digit = 0; digit < 3; ++digit) {
                const unsigned both = digits[digit] & carry;
                digits[digit] ^= carry;
                carry = both;
            }
        }
        const unsigned open = digits[0] | digits[1] | digits[2] | digits[3];
        // Four vertices a lane: 8 lanes take a word.
        for (int first = 0; first < width; first += 4) {
            if (!__ballot_sync(ALL, open != 0 && lane / 4 == first / 4)) continue;
            const int which = first + lane / 8;
            const int shift = lane % 8 * 4;
            unsigned lacking = 0;  // a byte a vertex
#pragma unroll
            for (int digit = 0; digit < 4; ++digit) {
                const unsigned four = __shfl_sync(ALL, digits[digit], which) >> shift & 15;
                lacking += (four * 0x00204081 & 0x01010101) << digit;
            }
            const long long vertex = (start + which) * WARP + shift;
            int distance[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) distance[i] = distances[lacking >> 8 * i & 255];
            const bool all = distance[0] != SKIP && distance[1] != SKIP && distance[2] != SKIP && distance[3] != SKIP;
            if (all && vertex + 4 <= s.n) {
                *reinterpret_cast<int4*>(s.distances + vertex) = {distance[0], distance[1], distance[2], distance[3]};
            } else {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if (distance[i] != SKIP && vertex + i < s.n) s.distances[vertex + i] = distance[i];
                }
            }
            if (unreached == SKIP || !s.predecessors) continue;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int lacks = lacking >> 8 * i & 255;
                const bool none = lacks == bitmaps || (s.fresh && lacks == BITMAPS);
                if (none && vertex + i < s.n) s.predecessors[vertex + i] = -1;
            }
        }
    }
}

// Leave the first bitmap as the next search begins with it: a warp what only that warp read in `record`.
template <typename Vertex, typename Offset>
__device__ void make_ready(const Search<Vertex, Offset>& s, int warp, int warps) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int width = recorded_words(s.tile);
    for (long long start = static_cast<long long>(warp) * width; start < words; start += warps * width) {
        const long long word = start + lane_id();
        if (lane_id() < width && word < words) s.visited[word] = __ldg(s.isolated + word);
    }
}

// Append the vertices that the last level reached, by its bitmap and the one before, to the queue behind `begin`,
// and copy the bitmap.
template <typename Vertex, typename Offset>
__device__ void to_queue(const Search<Vertex, Offset>& s, const unsigned* before, const unsigned* visited,
                         unsigned* copy, long long begin, Counter* tail, int warp, int warps, unsigned short* list) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long tile = warp; tile * s.tile < words; tile += warps) {
        const long long word = tile * s.tile + lane_id();
        const bool mine = lane_id() < s.tile && word < words;
        const unsigned bits = mine ? visited[word] : 0;
        if (mine) copy[word] = bits;
        const int reached = list_bits(mine ? bits & ~before[word] : 0, list);
        for (int start = 0; start < reached; start += WARP) {
            const bool keep[1] = {start + lane_id() < reached};
            Vertex vertex[1] = {0};
            Offset first[1] = {0}, degree[1] = {0};
            if (keep[0]) {
                vertex[0] = static_cast<Vertex>(tile * s.tile * WARP + list[start + lane_id()]);
                first[0] = __ldg(s.offsets + vertex[0]);
                degree[0] = __ldg(s.offsets + vertex[0] + 1) - first[0];
            }
            enqueue(s, begin, tail, keep, vertex, first, degree);
        }
        __syncwarp();
    }
}

// The team: block 0, or the blocks of its cluster, going on without the others.

constexpr int SOLO = THREADS < 128 ? THREADS : 128;  // of a block without a cluster: others would be in their way

// Wait for all blocks of a TEAM, or for the SOLO threads of the only one. What they wrote before into their own queues is
// seen after. Distances and predecessors may still be on their way, since nobody reads them before the grid's barrier;
// of the bitmap, which all blocks change, each atomic is done when its result is there, and a result decides what a
// thread writes into its queue.
template <bool TEAM>
__device__ inline void team_barrier() {
    if (TEAM) {
        cluster_barrier_shared();
    } else if (SOLO == THREADS) {
        __syncthreads();
    } else {
        named_barrier<SOLO>();
    }
}

// Up to CHUNK edges of a vertex, in a queue in shared memory. `rest` counts the edges from `first` to the end of the
// vertex's adjacency; it is negated in all chunks of a vertex but the first, and 0 where there is nothing. Where `first`
// is HERE, the neighbours themselves are `near`, -1 in the place of the one that the vertex was reached from.
template <bool NEAR, typename Vertex, typename Offset>
struct alignas(16) Chunk {
    Offset first, rest;
    Vertex vertex, near[NEAR ? GROUP : 1];
};

constexpr int CHUNK = GROUP;  // a thread for each edge of a chunk
constexpr int HERE = -1;      // no place in `targets`

// Does a thread take a whole chunk?
template <bool WHOLE>
struct Whole {
    static constexpr bool value = WHOLE;
};

// Append the vertex of a chunk to the queue of the whole grid.
template <bool NEAR, typename Vertex, typename Offset>
__device__ inline void hand_over(const Search<Vertex, Offset>& s, long long behind, Counter* tail,
                                 const Chunk<NEAR, Vertex, Offset>& chunk) {
    const Frontier before = unpacked(atomicAdd(tail, packed(1, chunk.rest, s.edge_bits)), s.edge_bits);
    const Offset prefix = static_cast<Offset>(before.edges);
    const Offset first = NEAR && chunk.first == HERE ? __ldg(s.offsets + chunk.vertex) : chunk.first;
    s.queue[behind + before.vertices] = {prefix, static_cast<Offset>(first - prefix)};
    s.queued[behind + before.vertices] = chunk.vertex;
}

// What a block of the team has in shared memory beside its queues.
struct Team {
    int counts[3];  // chunks that this block appended: of this level's queue, of the next, and zero
    int ended[2];   // does the team stop before this level? By parity: some may be there yet when others find the next
    int totals[2][THREADS / WARP];  // chunks that each warp appends, in turn
};

__device__ inline int exchange(int* place, int value) { return atomicExch(place, value); }

__device__ inline long long exchange(long long* place, long long value) {
    using Word = unsigned long long;
    return static_cast<long long>(atomicExch(reinterpret_cast<Word*>(place), static_cast<Word>(value)));
}

// Note that this block asks for a vertex; did it not do so before, as far as the table remembers? On grids, where more
// than half of the edges lead to what the block has asked for, these need not go to memory again. The place comes from
// the high bits of a product, since the low bits of a grid's vertices are their columns. Source: D. E. Knuth, The art of
// computer programming 3, section 6.4.
template <int LENGTH, typename Vertex>
__device__ inline bool is_news(Vertex* recent, Vertex vertex) {
    const unsigned place = __umulhi(static_cast<unsigned>(vertex) * 0x9e3779b9u, LENGTH);
    return exchange(recent + place, vertex) != vertex;
}

// Tell all blocks of the team, before their next barrier.
__device__ inline void end_team(int* ended, int size) {
#pragma unroll 1
    for (int rank = 0; rank < size; ++rank) *map_shared_rank(ended, rank) = 1;
    __threadfence();  // it is their memory
}

// Append vertices that this warp `keep`s, each given as the first of its chunks, to the queue of its block, where there
// is room from `reserve`(the number of chunks) on. What finds no room goes to the queue of the whole grid instead, unless
// `behind` is -1, and then the team ends its work.
template <int COUNT, typename Reserve, bool NEAR, typename Vertex, typename Offset>
__device__ inline void enqueue_chunks(const Search<Vertex, Offset>& s, Chunk<NEAR, Vertex, Offset>* queue,
                                      const Reserve& reserve, int* ended, int size, long long behind, Counter* tail,
                                      const bool (&keep)[COUNT], const Chunk<NEAR, Vertex, Offset> (&chunk)[COUNT]) {
    const int capacity = static_cast<int>(s.capacity);
    int place[COUNT], mine = 0, before = 0, total = 0;
    bool large = false;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const unsigned kept = __ballot_sync(ALL, keep[k]);
        place[k] = mine;
        mine += keep[k];
        before += __popc(kept & lanes_below());
        total += __popc(kept);
        large = large || (keep[k] && chunk[k].rest > CHUNK);
    }
    if (__any_sync(ALL, large)) {  // some have several chunks
        mine = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            place[k] = mine;
            if (keep[k]) mine += min((static_cast<Counter>(chunk[k].rest) + CHUNK - 1) / CHUNK, Counter(capacity + 1));
        }
        const int until = warp_inclusive_scan(mine);
        before = until - mine;
        total = __shfl_sync(ALL, until, WARP - 1);
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) place[k] += before;
    const int start = reserve(total);
    if (total == 0) return;
    if (start + total > capacity) {
        if (lane_id() == 0) end_team(ended, size);
#pragma unroll 1
        for (int i = start + lane_id(); i < capacity; i += WARP) queue[i].rest = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            if (keep[k] && behind >= 0) hand_over(s, behind, tail, chunk[k]);
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!keep[k]) continue;
        queue[start + place[k]] = chunk[k];
#pragma unroll 1
        for (Offset done = CHUNK; done < chunk[k].rest; done += CHUNK) {
            Chunk<NEAR, Vertex, Offset>& next = queue[start + ++place[k]];
            next.first = chunk[k].first + done, next.rest = done - chunk[k].rest, next.vertex = chunk[k].vertex;
        }
    }
}

// Top-down levels by one block, or by a TEAM of several, from the frontier behind `begin` until it has more than `limit`
// chunks, which then stands behind `begin + frontier.vertices`. Each block goes on with what it found. Where there are
// more edges than threads and some blocks have many more than others, the chunks of the next level are shared out
// evenly. Leaves its last level and the edges of the vertices that it reached in `state`.
template <bool TEAM, bool NEAR, typename Vertex, typename Offset>
__device__ void go_alone(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                         Frontier frontier, int turn_of_grid, int blocks, int limit, unsigned char* memory) {
    using Chunk = ::Chunk<NEAR, Vertex, Offset>;
    constexpr int MEMORY = NEAR ? 2 * RECENT : RECENT;
    const int size = TEAM ? blocks : 1;
    __shared__ Team team;
    const int threads = TEAM ? THREADS : SOLO;
    if (threadIdx.x >= threads) return;
    const int lane = lane_id();
    const int rank = TEAM ? static_cast<int>(blockIdx.x) : 0;
    const int warp_begin = threadIdx.x / WARP * WARP;
    const int capacity = static_cast<int>(s.capacity);
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + TURN_ALONE));
    const long long behind = begin + frontier.vertices;
    Counter* const tail = &s.state->tails[turn_of_grid % 3];
    Chunk* queue = reinterpret_cast<Chunk*>(memory);  // of this level
    Chunk* upcoming = queue + capacity;
    Vertex* const recent = reinterpret_cast<Vertex*>(upcoming + capacity);
    int *count = team.counts, *next_count = team.counts + 1, *spare = team.counts + 2;
    Counter explored = 0;

    if (threadIdx.x == 0) team = {};
    for (int i = threadIdx.x; TEAM && i < MEMORY; i += threads) recent[i] = -1;
    team_barrier<TEAM>();
    // Room for so many chunks of this warp in a queue: wherever there is some, or in the order of the warps. In order,
    // vertices with neighbours in common stay with one block.
    const auto anywhere = [&](int* count) {
        return [=](int total) {
            int start = 0;
            if (total && lane == 0) start = atomicAdd(count, total);
            return __shfl_sync(ALL, start, 0);
        };
    };
    int filled = 0;  // chunks, by the whole block
    int round = 0;
    const auto in_order = [&](int total) {
        int* const totals = team.totals[round++ % 2];
        if (lane == 0) totals[warp_begin / WARP] = total;
        __syncthreads();
        const int theirs = lane < THREADS / WARP ? totals[lane] : 0;
        const int start = filled + warp_reduce_add(lane < warp_begin / WARP ? theirs : 0);
        filled += warp_reduce_add(theirs);
        return start;
    };
    for (long long i = rank * threads + warp_begin; i < frontier.vertices; i += size * threads) {
        const bool keep[1] = {i + lane < frontier.vertices};
        Chunk chunk[1] = {};
        if (keep[0]) {
            const Entry<Offset>* const entry = s.queue + begin + i + lane;
            const long long next = i + lane + 1 < frontier.vertices ? entry[1].prefix : frontier.edges;
            chunk[0].vertex = s.queued[begin + i + lane];
            chunk[0].first = entry->prefix + entry->shift;
            chunk[0].rest = static_cast<Offset>(next - entry->prefix);
        }
        enqueue_chunks(s, queue, anywhere(count), team.ended + level % 2, size, -1, tail, keep, chunk);
    }
    team_barrier<TEAM>();
    const int start_level = level;
    bool spread = false;  // are chunks shared out, since some blocks had many more than others in the level before?

    for (;;) {
        int total = *count, most = total;  // chunks, in all and in a block
        if (team.ended[level % 2] || level == last || (!TEAM && (total == 0 || total > limit))) break;
        int from = 0, stop = total;  // this block's are those between
        int until = 0, before = 0;   // chunks of the blocks up to the lane's, and without it
        const int theirs = TEAM && lane < size ? *map_shared_rank(count, lane) : 0;
        if (spread) {
            until = theirs;
#pragma unroll
            for (int distance = 1; distance < WARP; distance *= 2) {
                const int below = __shfl_up_sync(ALL, until, distance);
                until += lane >= distance ? below : 0;
            }
            total = __shfl_sync(ALL, until, WARP - 1);
            before = until - theirs;
            const int share = (total + size - 1) / size;
            from = rank * share;
            stop = min(from + share, total);
        }
        if (threadIdx.x == 0) *spare = 0;
        int* const ended = team.ended + (level + 1) % 2;

        // A thread takes an edge of a chunk, or a whole chunk.
        const auto expand = [&](auto whole) {
            constexpr bool WHOLE = decltype(whole)::value;
            constexpr int COUNT = WHOLE ? CHUNK : 1;
            constexpr int PER_THREAD = WHOLE ? 1 : CHUNK;                 // threads to a chunk
            const int end = stop * PER_THREAD + (TEAM ? warp_begin : 0);  // the warps of a team go the same rounds
            for (int start = from * PER_THREAD + warp_begin; start < end; start += threads) {
                const int place = (start + lane) / PER_THREAD;
                const bool inside = place < stop;
                const Chunk* chunk = queue + place;
                if (spread) {
                    int whose = 0;  // the first block with more chunks up to it
#pragma unroll
                    for (int step = WARP / 2; step; step /= 2) {
                        const int passed = __shfl_sync(ALL, until, whose + step - 1);
                        whose += passed <= place ? step : 0;
                    }
                    const int others = __shfl_sync(ALL, before, whose);
                    chunk = map_shared_rank(queue + (inside ? place - others : 0), inside ? whose : 0);
                }
                Offset first = 0, rest = 0;
                Vertex parent = 0, neighbor[COUNT] = {};
                const int part = WHOLE ? 0 : lane % CHUNK;  // of the chunk, from which on this thread's edges are
                if (inside) {
                    first = chunk->first, rest = abs(chunk->rest), parent = chunk->vertex;
                    if constexpr (NEAR) {
#pragma unroll
                        for (int k = 0; k < COUNT; ++k) neighbor[k] = chunk->near[part + k];
                    }
                }
                bool won[COUNT];
                unsigned word[COUNT];
                Chunk next[COUNT];
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    won[k] = part + k < rest;
                    if (won[k] && !(NEAR && first == HERE)) neighbor[k] = __ldg(s.targets + first + part + k);
                    if (NEAR) won[k] = won[k] && neighbor[k] >= 0;
                }
                if constexpr (TEAM) {
#pragma unroll
                    for (int k = 0; k < COUNT; ++k) won[k] = won[k] && is_news<MEMORY>(recent, neighbor[k]);
                }
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    word[k] = ALL;
                    next[k] = {};
                    next[k].vertex = neighbor[k];
                    if (won[k]) {
                        word[k] = atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k]));
                        if constexpr (NEAR) {
                            load_group(s.heavy, neighbor[k], GROUP * s.n, GROUP * s.n, next[k].near);
                        } else {
                            next[k].first = __ldg(s.offsets + neighbor[k]);
                            next[k].rest = __ldg(s.offsets + neighbor[k] + 1);
                        }
                    }
                }
                if constexpr (NEAR) {
#pragma unroll
                    for (int k = 0; k < COUNT; ++k) {
                        if (next[k].near[GROUP - 1] == MORE) {
                            next[k].first = __ldg(s.offsets + neighbor[k]);
                            next[k].rest = __ldg(s.offsets + neighbor[k] + 1);
                        }
                    }
                }
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    next[k].rest -= next[k].first;
                    won[k] = !(word[k] & bit_of(neighbor[k]));
                    if (!won[k]) continue;
                    bool here = false;
                    if constexpr (NEAR) {
                        here = next[k].near[GROUP - 1] != MORE;
                        if (here) next[k].first = HERE;
#pragma unroll
                        for (int i = 0; i < GROUP; ++i) {
                            const Vertex near = next[k].near[i];
                            if (here) next[k].rest += near >= 0;
                            if (near == parent) next[k].near[i] = -1;
                        }
                        // The next vertex straight on, if neighbours are numbered alike.
                        const long long ahead = 2LL * neighbor[k] - parent;
                        if (ahead >= 0 && ahead < s.n) prefetch(s.heavy + GROUP * ahead);
                    }
                    if (!here) prefetch(s.targets + next[k].first);
                    if (s.predecessors) s.predecessors[neighbor[k]] = parent;
                    s.distances[neighbor[k]] = level + 1;
                    if (neighbor[k] == s.target) {
                        s.state->target_level = level + 1;
                        end_team(ended, size);
                    }
                    explored += next[k].rest;
                    won[k] = next[k].rest > 0;
                }
                if constexpr (TEAM) {
                    enqueue_chunks(s, upcoming, in_order, ended, size, behind, tail, won, next);
                } else {
                    enqueue_chunks(s, upcoming, anywhere(next_count), ended, size, behind, tail, won, next);
                }
            }
        };
        // One edge a thread is less to wait for, one chunk a thread less to do.
        if ((stop - from) * CHUNK <= threads) {
            expand(Whole<false>());
        } else {
            expand(Whole<true>());
        }
        // What the others have is known by now: it was asked for at the beginning of the level.
        if constexpr (TEAM) {
            if (threadIdx.x == 0) *next_count = filled;
            filled = 0;
            total = warp_reduce_add(theirs), most = warp_reduce_max(theirs);
            if (total == 0) break;
            spread = most * CHUNK > threads && most * size > total / 4 * 5;  // some have a quarter more than others
        }
        team_barrier<TEAM>();
        ++level;
        if (s.trace && rank == 0 && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        swap(queue, upcoming);
        int* const done = count;
        count = next_count, next_count = spare, spare = done;
        if (total > limit) break;
    }

    // Hand over: the first chunk of each vertex stands for all. Without room for the frontier there is nothing new.
    const int left = level > start_level ? min(*count, capacity) : 0;
    for (int i = threadIdx.x; i < left; i += threads) {
        if (queue[i].rest > 0) hand_over(s, behind, tail, queue[i]);
    }
    explored = warp_sum(explored);
    if (lane == 0 && explored) atomicAdd(&s.state->explored[turn_of_grid % 3], explored);
    if (rank == 0 && threadIdx.x == 0) s.state->level[turn_of_grid % 2] = level;
}

// Fill `hub`, `heavy` and `isolated`: a warp takes 32 vertices, its lanes the in-edges of one after the other.
template <typename Vertex, typename Offset>
__global__ void prepare(Vertex n, Vertex near, const Offset* offsets, const Offset* in_offsets,
                        const Vertex* in_targets, Vertex* hub, Vertex* heavy, unsigned* isolated) {
    constexpr long long ENOUGH = 1 << 16;  // in-edges among which they are looked for
    constexpr int INT_LIMIT = 0x7fffffff;
    const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / WARP;
    const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / WARP;
    for (long long word = warp; word * WARP < n; word += warps) {
        unsigned bits = 0;
        for (int i = 0; i < WARP; ++i) {
            const long long vertex = word * WARP + i;
            if (vertex >= n) {
                bits |= 1u << i;
                continue;
            }
            const long long begin = in_offsets[vertex], all = in_offsets[vertex + 1], end = min(all, begin + ENOUGH);
            if (begin == all && offsets[vertex] == offsets[vertex + 1]) bits |= 1u << i;
            // Each lane keeps the two heaviest of its edges; the heaviest of all lanes are taken one after the other. In
            // rows of up to 64 edges none is missed.
            int heaviest[2] = {-1, -1};
            Vertex whose[2] = {-1, -1};
            for (long long edge = begin + lane_id(); edge < end; edge += WARP) {
                const Vertex neighbor = in_targets[edge];
                const long long out = offsets[neighbor + 1] - offsets[neighbor];
                const int degree = static_cast<int>(min(out, static_cast<long long>(INT_LIMIT)));
                if (degree > heaviest[0]) {
                    heaviest[1] = heaviest[0], whose[1] = whose[0];
                    heaviest[0] = degree, whose[0] = neighbor;
                } else if (degree > heaviest[1]) {
                    heaviest[1] = degree, whose[1] = neighbor;
                }
            }
            for (int round = 0; round <= GROUP; ++round) {
                const int most = warp_reduce_max(heaviest[0]);
                const int lane = __ffs(__ballot_sync(ALL, heaviest[0] == most)) - 1;
                if (lane_id() == lane) {
                    const int place = near ? round : round - 1;
                    if (round == 0) hub[vertex] = most < 0 ? static_cast<Vertex>(vertex) : whose[0];
                    if (place >= 0 && place < GROUP) heavy[vertex * GROUP + place] = whose[0];
                    if (near && round == GROUP && most >= 0) heavy[vertex * GROUP + GROUP - 1] = MORE;
                    heaviest[0] = heaviest[1], whose[0] = whose[1];
                    heaviest[1] = -1, whose[1] = -1;
                }
                __syncwarp();
            }
        }
        if (lane_id() == 0) isolated[word] = bits;
    }
}

template <bool NEAR, typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ Told told;
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
    Ring ring = {s.visited, words, levels, 0, 0};

    // Begin: the first bitmap has the isolated vertices, as the last search left it.
    if (threadIdx.x == 0) {
        found = 0;
        told.target_level = 0;
    }
    for (long long word = thread; was_stale && !s.fresh && word < words; word += threads) {
        for (unsigned left = __ldg(s.isolated + word); left; left &= left - 1) {
            const long long vertex = word * WARP + __ffs(left) - 1;
            if (vertex < s.n && !(one_source && vertex == s.source)) s.distances[vertex] = unreached;
        }
    }
    if (thread == 0) {
        state->target_level = 0;
        *stale = s.fresh ? was_stale : one_source && test(s.isolated, s.source);
        state->tails[1] = state->explored[1] = 0;
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (one_source) {
            s.queue[0] = {0, s.offsets[s.source]};
            s.queued[0] = static_cast<Vertex>(s.source);
            reduce_or(ring.visited() + word_of(s.source), bit_of(s.source));
            if (s.predecessors) s.predecessors[s.source] = -1;
            s.distances[s.source] = 0;
        }
    }
    int turn = 1;
    Frontier frontier;
    if (one_source) {
        frontier.edges = __ldg(s.offsets + s.source + 1) - __ldg(s.offsets + s.source);
        frontier.vertices = frontier.edges > 0;
    }
    if (one_source && frontier.edges > 0 && 1 + frontier.edges / CHUNK <= s.alone && s.depth_limit > 0) {
        __syncthreads();  // block 0 goes on alone, and what it wrote no other block needs before the next barrier
    } else {
        end_turn(state, 0, edge_bits, &told);
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
            enqueue(s, 0, &state->tails[turn % 3], keep, vertex, first, degree);
        }
        frontier = end_turn(state, turn++, edge_bits, &told);
    }

    // The levels. Every thread follows them in variables of its own.
    long long begin = 0;  // of the frontier in the queue; where it is not there, of the next one that will be
    long long unexplored = s.m;
    int level = 0;
    bool queued = true;  // the frontier is in the queue, not just in the newest bitmap and not in the one before
    int tail = 0;        // small frontiers in a row, bottom-up
    bool stuck = false;  // did the team find no room for the frontier?
    bool given_up = false;
    bool with_isolated = false;  // are their distances written at the end?
    for (;;) {
        const bool done = frontier.vertices == 0 || level >= s.depth_limit || given_up ||
                          (s.target >= 0 && is_reached(told.target_level, level));
        const long long chunks = frontier.vertices + frontier.edges / CHUNK;  // at most
        const bool together = queued && !stuck && chunks <= (cluster > 1 ? s.together : s.alone);
        const bool bottom_up = !queued || frontier.edges > unexplored / s.alpha;
        const bool dense = !together && (bottom_up || frontier.edges > s.dense);
        if (done || (dense && ring.is_full())) {
            with_isolated = done && (s.fresh || ring.newest > ring.oldest);
            record(s, ring, done ? unreached : SKIP, with_isolated, warp, warps);
            ring.oldest = ring.newest;
        }
        if (done) break;
        const long long expanded = frontier.vertices;

        if (together) {
            const int size = chunks <= s.alone ? 1 : cluster;
            if (blockIdx.x < size) {
                const int limit = static_cast<int>(size == 1 ? s.alone : s.together);
                if (size > 1) {
                    go_alone<true, NEAR>(s, ring.visited(), level, begin, frontier, turn, size, limit, memory);
                } else {  // neighbours in the queue cost it more than they save
                    go_alone<false, false>(s, ring.visited(), level, begin, frontier, turn, size, limit, memory);
                }
            }
            const Frontier handed = end_turn(state, turn++, edge_bits, &told);
            stuck = level == told.level;
            if (stuck) continue;
            unexplored += handed.edges - frontier.edges - static_cast<long long>(told.explored);
            frontier = handed;
            level = static_cast<int>(told.level);
            begin += expanded;
            given_up = level > s.n;
            continue;
        }

        ++level;
        stuck = false;
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
                mine = sweep(s, visited, upcoming, level, warp, warps, list, hits);
            } else {
                for (long long word = thread; word < words; word += threads) upcoming[word] = __ldcg(visited + word);
                end_turn(state, turn++, edge_bits, &told);
                mine = expand<true>(s, upcoming, level, begin - expanded, frontier, nullptr, warp, warps);
            }
            mine = static_cast<unsigned>(warp_sum(mine));
            if (lane == 0 && mine) atomicAdd(&found, mine);
            __syncthreads();
            if (threadIdx.x == 0) {
                const unsigned all = atomicExch(&found, 0);
                if (all) atomicAdd(&state->tails[turn % 3], packed(all, 0, edge_bits));
            }
        } else {
            expand<false>(s, ring.visited(), level, begin - expanded, frontier, &state->tails[turn % 3], warp, warps);
        }
        queued = !dense;
        frontier = end_turn(state, turn++, edge_bits, &told);
        if (s.trace && thread == 0) s.trace[level] = nanoseconds() * 2 + bottom_up;
        if (queued || frontier.vertices == 0) continue;

        // Back to the queue? After bottom-up levels, when the frontier has been small and shrinking for some time.
        tail = bottom_up && frontier.vertices < expanded && frontier.vertices < s.n / s.beta ? tail + 1 : 0;
        const bool back = bottom_up ? tail >= s.tail : frontier.vertices * (s.m / s.n) <= unexplored / s.alpha;
        if (back && !ring.is_full()) {
            const unsigned* const before = ring.at(ring.newest - 1);
            const unsigned* const visited = ring.visited();
            to_queue(s, before, visited, ring.add(SKIP), begin, &state->tails[turn % 3], warp, warps, list);
            frontier = end_turn(state, turn++, edge_bits, &told);
            queued = true;
            tail = 0;
        }
    }

    if (with_isolated && (!one_source || test(s.isolated, s.source))) {  // a source may be isolated
        end_turn(state, turn++, edge_bits, &told);
        for (long long i = thread; i < s.count; i += threads) s.distances[one_source ? s.source : s.sources[i]] = 0;
    }
    report(state, s.status, s.number, level, given_up);
    make_ready(s, warp, warps);  // while the host goes on
}
