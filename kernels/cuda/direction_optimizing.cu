// Direction-optimizing: the whole search in one cooperative launch.
//
// *Top-down*: the frontier is a run of a queue, cut into equal runs of edges, one for each warp. A neighbour is won by
// whoever sets its bit in the bitmap `visited`. *Bottom-up*: each unvisited vertex looks for a visited in-neighbour and
// stops at the first. It looks at its `hub` first, the in-neighbour with the most out-edges; on skewed graphs few need
// to look further. Every edge out of an earlier level leads to a visited vertex, so a visited in-neighbour of an
// unvisited vertex is always in the frontier: `visited` is the frontier's bitmap too, and no queue need be turned into
// one. *Alone*: while the frontier is small, one block goes on from level to level with the queue in shared memory.
//
//   offsets[n + 1], targets[m]        out-edges; targets have room for a multiple of 4
//   in_offsets[n + 1], in_targets[m]  in-edges (the same arrays if the graph is symmetric)
//   hub[n]                            the in-neighbour to look at first; the vertex itself if it has no in-edge
//   isolated[words]                   bitmap of the vertices without edges, and of the bits past the last vertex
//   visited[2][words]                 bitmaps of the vertices reached so far, and of the isolated ones; bottom-up reads
//                                     one and writes the other
//   queue[n]                          the reached vertices with out-edges, level after level: where the edges of each
//                                     begin among those of its level, and what to add for their place in `targets`
//   queued[n]                         the vertices themselves, if predecessors are wanted
//   distances[n]                      the level that reached the vertex, 0 at a source, `unreached` where there is none
//   predecessors[n]                   the vertex that reached it, -1 where there is none; a null pointer if nobody asks
//   sources[count]                    in the host's memory, distinct
//   state                             what the blocks share, see `State`
//   trace[levels + 1]                 for each level when it was done, in nanoseconds, times 2, plus 1 if it went
//                                     bottom-up; the start first; a null pointer if nobody asks
//   status[3]                         in the host's memory: number of the search that is done, its levels, 1 if it was
//                                     given up
//
// Slots in the queue come from one 64-bit atomic a warp: its high part counts vertices, its low part their edges. So
// each slot comes with the sum of the degrees before it, and nothing has to be scanned.
//
// Work: O(n / 32) to begin and to end. A top-down level costs one bit test a frontier edge and one atomic OR a vertex
// found; a bottom-up level at most one bit test an edge into an unvisited vertex, and reading and writing a bitmap.
// Distances and predecessors are written once a vertex and search: those of isolated vertices hold what they should from
// the start, and `State::stale` says when the last search began at one. Where `fresh` says that the two arrays were never
// written before, isolated vertices are written too.
// Synchronisation: one grid-wide barrier a level, two barriers of the block where it goes alone; the host waits once.
//
// Races: threads race for a neighbour's bit; atomicOr lets one win, so nothing is enqueued twice, and the predecessor
// is the winner's alone. The read before it may be out of date, and then the atomic decides. A bottom-up level writes
// words that only one warp touches.
//
// Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced expansion. The
// packed counter, the hub, the shared bitmap and the block alone are ours.

#ifndef THREADS
#define THREADS 512  // of a block
#endif
#ifndef BLOCKS
#define BLOCKS 1  // of a multiprocessor
#endif

constexpr int WARP = 32;
constexpr unsigned ALL = ~0u;      // the lanes of a warp
constexpr int UNROLL = 4;          // edges or vertices that a lane has under way at a time
constexpr int ALONE_UNROLL = 4;    // the same for a block alone: THREADS * ALONE_UNROLL edges are its largest frontier
constexpr int TILE = 32;           // words that a warp sweeps at a time, at most
constexpr int LANE_ROUNDS = 8;     // groups of 4 in-edges that a lane looks at before its warp takes the rest over
constexpr int PATIENCE = 1 << 27;    // looks at the barrier before the search is torn down: about a minute
constexpr int TURN_ALONE = 1 << 20;  // levels that a block goes alone before it shows itself at the barrier

// Elements of `status`.
enum { NUMBER, LEVELS, GIVEN_UP };

using Counter = unsigned long long;  // vertices << edge_bits | edges

template <typename Offset>
struct alignas(2 * sizeof(Offset)) Entry {
    Offset prefix;  // edges of the level before this vertex
    Offset shift;   // what to add to an edge's number in the level for its place in `targets`
};

struct Progress {
    long long level, vertices, edges, unexplored;
};

// What the blocks share: zero before the first search. Each barrier ends a turn; each turn counts into another tail.
struct State {
    alignas(128) unsigned arrived;   // blocks at the barrier; its top bit changes when all have come
    alignas(128) Counter tails[3];   // of this turn, of the next one, which is zero, and of the one before
    alignas(128) unsigned finished;  // blocks that are done with the search
    unsigned stale[2];               // did the last search that was not `fresh` begin at an isolated vertex? By parity
    long long target_level;          // that reached the target; 0 before
    Progress alone[2];               // where the block that went alone has got, in turns with its parity
};

template <typename Vertex, typename Offset>
struct Search {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Vertex* hub;
    const unsigned* isolated;
    unsigned* visited[2];
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
    long long alone;                // a frontier with no more edges than this is one block's work
    long long capacity;             // entries of a queue in shared memory, at least `alone`
    long long edge_bits;            // of a Counter
    long long tile;                 // words that a warp sweeps at a time
    long long number;               // of this search
    long long fresh;                // are `distances` and `predecessors` of no search before?
    long long unreached;            // the distance where there is none
};

struct Frontier {
    long long vertices, edges;
};

__device__ inline Counter packed(long long vertices, long long edges, int edge_bits) {
    return static_cast<Counter>(vertices) << edge_bits | static_cast<Counter>(edges);
}

__device__ inline Frontier unpacked(Counter counter, int edge_bits) {
    return {static_cast<long long>(counter >> edge_bits), static_cast<long long>(counter & ((1ull << edge_bits) - 1))};
}

template <typename Vertex>
__device__ inline unsigned long long word_of(Vertex vertex) {
    return static_cast<unsigned long long>(vertex) >> 5;
}

template <typename Vertex>
__device__ inline unsigned bit_of(Vertex vertex) {
    return 1u << (vertex & 31);
}

template <typename Vertex>
__device__ inline bool test(const unsigned* bitmap, Vertex vertex) {
    return bitmap[word_of(vertex)] & bit_of(vertex);
}

__device__ inline int lane_id() { return threadIdx.x % WARP; }

__device__ inline unsigned lanes_below() { return (1u << lane_id()) - 1; }

__device__ inline unsigned reduce_or(unsigned bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    for (int distance = WARP / 2; distance; distance /= 2) bits |= __shfl_xor_sync(ALL, bits, distance);
    return bits;
#endif
}

__device__ inline Counter nanoseconds() {
    Counter now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// The sum over the lanes up to this one.
__device__ inline Counter inclusive_scan(Counter value) {
    for (int distance = 1; distance < WARP; distance *= 2) {
        const Counter below = __shfl_up_sync(ALL, value, distance);
        if (lane_id() >= distance) value += below;
    }
    return value;
}

// Write down that this level reached a vertex.
template <typename Vertex, typename Offset>
__device__ inline void settle(const Search<Vertex, Offset>& s, Vertex vertex, Vertex parent, int level) {
    s.distances[vertex] = level;
    if (s.predecessors) s.predecessors[vertex] = parent;
    if (vertex == s.target) s.state->target_level = level;
}

// Write down that the vertices of the bitmap whose words are `bits_of_word(word)` are not reached.
template <typename Vertex, typename Offset, typename Bits>
__device__ inline void leave(const Search<Vertex, Offset>& s, int warp, int warps, Bits bits_of_word) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long start = static_cast<long long>(warp) * WARP; start < words; start += warps * WARP) {
        const unsigned mine = start + lane_id() < words ? bits_of_word(start + lane_id()) : 0;
        for (unsigned some = __ballot_sync(ALL, mine != 0); some; some &= some - 1) {
            const int which = __ffs(some) - 1;
            if (!(__shfl_sync(ALL, mine, which) >> lane_id() & 1)) continue;
            const long long vertex = (start + which) * WARP + lane_id();
            s.distances[vertex] = static_cast<int>(s.unreached);
            if (s.predecessors) s.predecessors[vertex] = -1;
        }
    }
}

// Did a level up to this one reach the target? Blocks ahead of the one that asks may be at the next level.
__device__ inline bool is_reached(long long target_level, int level) {
    return target_level > 0 && target_level <= level;
}

// Wait for all blocks. What any thread of a block wrote before its first thread calls this, with the block's barriers
// around it, is seen by every thread after. Block 0 adds what makes the top bit change, so the count is never set back.
__device__ inline void grid_barrier(unsigned* arrived) {
    const unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    unsigned before, now;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(step) : "memory");
    int patience = PATIENCE;
    do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        if (--patience == 0) __trap();
    } while (((before ^ now) & 0x80000000u) == 0);
}

// What a block is told at the end of a turn, in shared memory: thousands of warps that ask one address would queue up.
struct Told {
    Counter counted;         // in the tail of this turn
    long long target_level;  // so far
    Progress alone;          // of the block that went alone
};

// End a turn: wait for all blocks, and learn what was counted in it. The tail of the next turn is made ready meanwhile.
__device__ inline Frontier end_turn(State* state, int turn, int edge_bits, Told* told) {
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) state->tails[(turn + 1) % 3] = 0;
        grid_barrier(&state->arrived);
        told->counted = __ldcg(&state->tails[turn % 3]);
        told->target_level = __ldcg(&state->target_level);
        const Progress* const by = &state->alone[turn % 2];
        told->alone = {__ldcg(&by->level), __ldcg(&by->vertices), __ldcg(&by->edges), __ldcg(&by->unexplored)};
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
    Counter place = inclusive_scan(mine);
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
        if (s.predecessors) s.queued[begin + before.vertices] = vertex[k];
        place += packed(1, degree[k], s.edge_bits);
    }
}

// The slot of the vertex that has this edge of the level: the last whose prefix is at most `edge`. 32 slots are looked
// at at a time.
template <typename Offset>
__device__ inline long long slot_of(const Entry<Offset>* frontier, long long vertices, long long edge) {
    long long slot = 0;
    while (vertices > 1) {
        const long long step = (vertices + WARP - 1) / WARP;
        const long long place = lane_id() * step;
        const bool before = place < vertices && frontier[slot + place].prefix <= edge;
        const long long passed = (__popc(__ballot_sync(ALL, before)) - 1) * step;
        slot += passed;
        vertices = min(step, vertices - passed);
    }
    return slot;
}

// A top-down level: expand the frontier behind `begin`, a run of edges for each warp.
template <typename Vertex, typename Offset>
__device__ void expand(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                       Frontier frontier, Counter* tail, int warp, int warps) {
    const long long share = (frontier.edges + warps - 1) / warps;
    const long long run = (share + WARP - 1) / WARP * WARP;
    long long next = warp * run;
    const long long stop = min(next + run, frontier.edges);
    if (next >= stop) return;
    const Entry<Offset>* entries = s.queue + begin;
    const int lane = lane_id();

    // A window of 32 entries, one a lane, and the edges that it covers.
    for (long long slot = slot_of(entries, frontier.vertices, next); next < stop; slot += WARP) {
        const bool inside = slot + lane < frontier.vertices;
        Entry<Offset> entry = {static_cast<Offset>(frontier.edges), 0};
        if (inside) entry = entries[slot + lane];
        const Vertex owner = inside && s.predecessors ? s.queued[begin + slot + lane] : -1;
        long long end = frontier.edges;
        if (slot + WARP < frontier.vertices) end = entries[slot + WARP].prefix;
        end = min(end, stop);

        for (; next < end; next += UNROLL * WARP) {
            bool won[UNROLL];
            Vertex neighbor[UNROLL], parent[UNROLL];
            Offset first[UNROLL], degree[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                // Each entry that begins within these 32 edges marks its first; the marks up to an edge count to its
                // owner.
                const long long batch = next + k * WARP;
                const long long start = entry.prefix - batch;
                const int before = __popc(__ballot_sync(ALL, start <= 0)) - 1;
                const unsigned marks = reduce_or(start > 0 && start < WARP ? 1u << start : 0);
                const int who = (before + __popc(marks & (lanes_below() << 1 | 1))) % WARP;
                const Offset shift = __shfl_sync(ALL, entry.shift, who);
                parent[k] = __shfl_sync(ALL, owner, who);
                won[k] = batch + lane < end;
                neighbor[k] = won[k] ? __ldg(s.targets + (shift + batch + lane)) : 0;
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) won[k] = won[k] && !test(visited, neighbor[k]);
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (!won[k]) continue;
                first[k] = __ldg(s.offsets + neighbor[k]);
                degree[k] = __ldg(s.offsets + neighbor[k] + 1) - first[k];
                won[k] = !(atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k])) & bit_of(neighbor[k]));
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (won[k]) settle(s, neighbor[k], parent[k], level);
            }
            enqueue(s, begin + frontier.vertices, tail, won, neighbor, first, degree);
        }
        next = end;
    }
}

// List the set bits of the words that the lanes hold, in order, as word * 32 + bit; return how many there are.
__device__ inline int list_bits(unsigned bits, unsigned short* list) {
    int count = 0;
    for (unsigned some = __ballot_sync(ALL, bits != 0); some; some &= some - 1) {
        const int word = __ffs(some) - 1;
        const unsigned those = __shfl_sync(ALL, bits, word);
        if (those >> lane_id() & 1) list[count + __popc(those & lanes_below())] = word * WARP + lane_id();
        count += __popc(those);
    }
    __syncwarp();
    return count;
}

// Four neighbours that lie together in memory.
__device__ inline void load_four(const int* targets, long long group, int (&four)[4]) {
    const int4 loaded = __ldg(reinterpret_cast<const int4*>(targets) + group);
    four[0] = loaded.x, four[1] = loaded.y, four[2] = loaded.z, four[3] = loaded.w;
}

__device__ inline void load_four(const long long* targets, long long group, long long (&four)[4]) {
    const longlong2* pairs = reinterpret_cast<const longlong2*>(targets) + 2 * group;
    const longlong2 low = __ldg(pairs), high = __ldg(pairs + 1);
    four[0] = low.x, four[1] = low.y, four[2] = high.x, four[3] = high.y;
}

// A bottom-up level: let unvisited vertices look for the frontier, a tile of words at a time. Returns in the last lane
// how many of the warp's found it. `list` has room for the vertices of a tile, `hits` for its words.
template <typename Vertex, typename Offset>
__device__ Counter sweep(const Search<Vertex, Offset>& s, const unsigned* visited, unsigned* upcoming, int level,
                           int warp, int warps, unsigned short* list, unsigned* hits) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id();
    Counter found = 0;

    for (long long tile = warp; tile * s.tile < words; tile += warps) {
        const long long word = tile * s.tile + lane;
        const bool mine = lane < s.tile && word < words;
        const unsigned seen = mine ? visited[word] : ALL;
        const Vertex origin = static_cast<Vertex>(tile * s.tile * WARP);
        hits[lane] = 0;
        const int unseen = list_bits(~seen, list);

        const auto reach = [&](int local, Vertex parent) {
            settle(s, static_cast<Vertex>(origin + local), parent, level);
            atomicOr(hits + local / WARP, 1u << local % WARP);
        };

        // The hubs. Who misses moves to the front of the list.
        int missed = 0;
        for (int begin = 0; begin < unseen; begin += UNROLL * WARP) {
            int local[UNROLL];
            Vertex hub[UNROLL];
            bool hit[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const int place = begin + k * WARP + lane;
                local[k] = place < unseen ? list[place] : -1;
                hub[k] = local[k] >= 0 ? __ldg(s.hub + origin + local[k]) : 0;
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) hit[k] = local[k] >= 0 && test(visited, hub[k]);
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (hit[k]) reach(local[k], hub[k]);
                const bool miss = local[k] >= 0 && !hit[k];
                const unsigned misses = __ballot_sync(ALL, miss);
                if (miss) list[missed + __popc(misses & lanes_below())] = static_cast<unsigned short>(local[k]);
                missed += __popc(misses);
            }
        }
        __syncwarp();

        // The other in-neighbours, four at a time; where they are many, the lanes go on together.
        for (int begin = 0; begin < missed; begin += WARP) {
            const bool active = begin + lane < missed;
            const int local = active ? list[begin + lane] : 0;
            const Vertex vertex = origin + local;
            long long edge = 0, end = 0;
            if (active) {
                edge = __ldg(s.in_offsets + vertex);
                end = __ldg(s.in_offsets + vertex + 1);
            }
            Vertex parent = -1;
            long long group = edge / 4;
            for (int round = 0; round < LANE_ROUNDS && parent < 0 && group * 4 < end; ++round, ++group) {
                Vertex four[4];
                load_four(s.in_targets, group, four);
                bool hit[4];
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    if (group * 4 + k < edge || group * 4 + k >= end) four[k] = vertex;  // itself: unvisited
                    hit[k] = test(visited, four[k]);
                }
#pragma unroll
                for (int k = 3; k >= 0; --k) {
                    if (hit[k]) parent = four[k];
                }
            }
            __syncwarp();
            for (unsigned rest = __ballot_sync(ALL, parent < 0 && group * 4 < end); rest; rest &= rest - 1) {
                const int who = __ffs(rest) - 1;
                const long long last = __shfl_sync(ALL, end, who);
                for (long long place = __shfl_sync(ALL, group, who) * 4; place < last; place += WARP) {
                    const Vertex neighbor = place + lane < last ? __ldg(s.in_targets + place + lane) : -1;
                    const unsigned some = __ballot_sync(ALL, neighbor >= 0 && test(visited, neighbor));
                    if (!some) continue;
                    const Vertex hit = __shfl_sync(ALL, neighbor, __ffs(some) - 1);
                    if (lane == who) parent = hit;
                    break;
                }
            }
            if (parent >= 0) reach(local, parent);
        }
        __syncwarp();
        if (mine) upcoming[word] = seen | hits[lane];
        found += __popc(hits[lane]);
        __syncwarp();
    }
    return inclusive_scan(found);
}

// Append the vertices that the last bottom-up level reached to the queue behind `begin`.
template <typename Vertex, typename Offset>
__device__ void to_queue(const Search<Vertex, Offset>& s, const unsigned* before, const unsigned* visited,
                         long long begin, Counter* tail, int warp, int warps, unsigned short* list) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long tile = warp; tile * s.tile < words; tile += warps) {
        const long long word = tile * s.tile + lane_id();
        const bool mine = lane_id() < s.tile && word < words;
        const int reached = list_bits(mine ? visited[word] & ~before[word] : 0, list);
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

// Top-down levels by one block, from the frontier behind `begin` until it has more than `alone` edges, which then
// stands behind `begin + frontier.vertices`. Returns the last level; updates the frontier and the unexplored edges.
template <typename Vertex, typename Offset>
__device__ int go_alone(const Search<Vertex, Offset>& s, unsigned* visited, int level, long long begin,
                        Frontier& frontier, long long& unexplored, unsigned char* memory) {
    __shared__ Counter totals[WARP];  // of each warp
    const int warp = threadIdx.x / WARP;
    const long long behind = begin + frontier.vertices;
    const int last = static_cast<int>(min(s.depth_limit, static_cast<long long>(level) + TURN_ALONE));
    int now = 0;
    {
        LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
        for (int i = threadIdx.x; i < frontier.vertices; i += THREADS) {
            queue.entries[i] = s.queue[begin + i];
            if (s.predecessors) queue.vertices[i] = s.queued[begin + i];
        }
    }
    if (threadIdx.x < WARP) totals[threadIdx.x] = 0;
    __syncthreads();

    bool arrived = false;
    while (frontier.vertices > 0 && frontier.edges <= s.alone && level < last && !arrived) {
        ++level;
        unexplored -= frontier.edges;
        const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
        const int edges = static_cast<int>(frontier.edges);
        bool won[ALONE_UNROLL];
        Vertex neighbor[ALONE_UNROLL], parent[ALONE_UNROLL];
        Offset first[ALONE_UNROLL], degree[ALONE_UNROLL];
#pragma unroll
        for (int k = 0; k < ALONE_UNROLL; ++k) {
            won[k] = false;
            if (k * THREADS >= edges) continue;
            const int edge = k * THREADS + threadIdx.x;
            if (edge >= edges) continue;
            int slot = 0;
            for (int size = static_cast<int>(frontier.vertices); size > 1;) {
                const int half = size / 2;
                if (queue.entries[slot + half].prefix <= edge) slot += half;
                size -= half;
            }
            won[k] = true;
            neighbor[k] = __ldg(s.targets + (queue.entries[slot].shift + edge));
            if (s.predecessors) parent[k] = queue.vertices[slot];
        }
        Counter mine = 0;
#pragma unroll
        for (int k = 0; k < ALONE_UNROLL; ++k) {
            if (k * THREADS >= edges || !won[k]) continue;
            first[k] = __ldg(s.offsets + neighbor[k]);
            degree[k] = __ldg(s.offsets + neighbor[k] + 1) - first[k];
            won[k] = !(atomicOr(visited + word_of(neighbor[k]), bit_of(neighbor[k])) & bit_of(neighbor[k]));
        }
#pragma unroll
        for (int k = 0; k < ALONE_UNROLL; ++k) {
            if (k * THREADS >= edges || !won[k]) continue;
            settle(s, neighbor[k], parent[k], level);
            if (degree[k]) mine += packed(1, degree[k], s.edge_bits);
        }

        // Slots and prefixes: a scan over the lanes, then over the warps.
        Counter place = inclusive_scan(mine);
        if (lane_id() == WARP - 1) totals[warp] = place;
        __syncthreads();
        const Counter each = inclusive_scan(totals[lane_id()]);
        const Counter total = __shfl_sync(ALL, each, WARP - 1);
        if (warp > 0) place += __shfl_sync(ALL, each, warp - 1);
        place -= mine;
        const LocalQueue<Vertex, Offset> upcoming(memory, s.capacity, 1 - now);
#pragma unroll
        for (int k = 0; k < ALONE_UNROLL; ++k) {
            if (k * THREADS >= edges || !won[k] || !degree[k]) continue;
            const Frontier before = unpacked(place, s.edge_bits);
            const Offset prefix = static_cast<Offset>(before.edges);
            upcoming.entries[before.vertices] = {prefix, static_cast<Offset>(first[k] - prefix)};
            if (s.predecessors) upcoming.vertices[before.vertices] = neighbor[k];
            place += packed(1, degree[k], s.edge_bits);
        }
        frontier = unpacked(total, s.edge_bits);
        now = 1 - now;
        if (s.trace && threadIdx.x == 0) s.trace[level] = nanoseconds() * 2;
        __syncthreads();
        arrived = s.target >= 0 && is_reached(__ldcg(&s.state->target_level), level);
    }

    const LocalQueue<Vertex, Offset> queue(memory, s.capacity, now);
    for (int i = threadIdx.x; i < frontier.vertices; i += THREADS) {
        s.queue[behind + i] = queue.entries[i];
        if (s.predecessors) s.queued[behind + i] = queue.vertices[i];
    }
    return level;
}

// Fill `hub` and `isolated`: a warp takes 32 vertices, its lanes the in-edges of one after the other.
template <typename Vertex, typename Offset>
__global__ void prepare(Vertex n, const Offset* offsets, const Offset* in_offsets, const Vertex* in_targets,
                        Vertex* hub, unsigned* isolated) {
    constexpr long long ENOUGH = 1 << 16;  // in-edges among which the hub is looked for
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
            const long long begin = in_offsets[vertex], end = in_offsets[vertex + 1];
            if (begin == end && offsets[vertex] == offsets[vertex + 1]) bits |= 1u << i;
            long long most = -1;
            Vertex best = static_cast<Vertex>(vertex);
            for (long long edge = begin + lane_id(); edge < min(end, begin + ENOUGH); edge += WARP) {
                const Vertex neighbor = in_targets[edge];
                const long long degree = offsets[neighbor + 1] - offsets[neighbor];
                if (degree > most) {
                    most = degree;
                    best = neighbor;
                }
            }
            for (int distance = WARP / 2; distance; distance /= 2) {
                const long long other = __shfl_xor_sync(ALL, most, distance);
                const Vertex theirs = __shfl_xor_sync(ALL, best, distance);
                if (other > most) {
                    most = other;
                    best = theirs;
                }
            }
            if (lane_id() == 0) hub[vertex] = best;
        }
        if (lane_id() == 0) isolated[word] = bits;
    }
}

template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS) search(const __grid_constant__ Search<Vertex, Offset> s) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ Told told;
    __shared__ unsigned found;  // by the block in this level, bottom-up
    const int lane = lane_id();
    const int warp_of_block = threadIdx.x / WARP;
    const int warps = gridDim.x * (THREADS / WARP);
    const int warp = warp_of_block * gridDim.x + blockIdx.x;  // neighbouring warps on different multiprocessors
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    const long long words = (s.n + WARP - 1) / WARP;
    unsigned* const hits = reinterpret_cast<unsigned*>(memory) + warp_of_block * TILE;
    unsigned short* const list = reinterpret_cast<unsigned short*>(memory + THREADS / WARP * TILE * sizeof(unsigned)) +
                                 warp_of_block * TILE * WARP;
    State* const state = s.state;
    const int edge_bits = static_cast<int>(s.edge_bits);
    const bool one_source = s.count == 1;
    const bool was_stale = state->stale[(s.number - 1) % 2];
    unsigned* stale = state->stale + s.number % 2;

    // Begin: nothing is visited but the isolated vertices, and the source if there is only one.
    if (threadIdx.x == 0) found = 0;
    for (long long word = thread; word < words; word += threads) {
        unsigned bits = __ldg(s.isolated + word);
        if (one_source && word == s.source / WARP) bits |= bit_of(s.source);
        s.visited[0][word] = bits;
    }
    if (was_stale || s.fresh) {
        leave(s, warp, warps, [&](long long word) {
            unsigned bits = __ldg(s.isolated + word);
            if (word == s.n / WARP) bits &= bit_of(s.n) - 1;  // past the last vertex
            if (one_source && word == s.source / WARP) bits &= ~bit_of(s.source);
            return bits;
        });
    }
    if (thread == 0) {
        state->target_level = 0;
        *stale = s.fresh ? was_stale : one_source && test(s.isolated, s.source);
        if (s.trace) s.trace[0] = nanoseconds() * 2;
        if (one_source) {
            s.queue[0] = {0, s.offsets[s.source]};
            if (s.predecessors) {
                s.queued[0] = static_cast<Vertex>(s.source);
                s.predecessors[s.source] = -1;
            }
            s.distances[s.source] = 0;
        }
    }
    int turn = 0;
    end_turn(state, turn++, edge_bits, &told);

    Frontier frontier;
    if (one_source) {
        frontier.edges = __ldg(s.offsets + s.source + 1) - __ldg(s.offsets + s.source);
        frontier.vertices = frontier.edges > 0;
    } else {
        for (long long start = static_cast<long long>(warp) * WARP; start < s.count; start += warps * WARP) {
            const bool keep[1] = {start + lane < s.count};
            Vertex vertex[1] = {0};
            Offset first[1] = {0}, degree[1] = {0};
            if (keep[0]) {
                vertex[0] = s.sources[start + lane];
                first[0] = __ldg(s.offsets + vertex[0]);
                degree[0] = __ldg(s.offsets + vertex[0] + 1) - first[0];
                if (!s.fresh && test(s.isolated, vertex[0])) *stale = 1;
                atomicOr(s.visited[0] + word_of(vertex[0]), bit_of(vertex[0]));
                s.distances[vertex[0]] = 0;
                if (s.predecessors) s.predecessors[vertex[0]] = -1;
            }
            enqueue(s, 0, &state->tails[turn % 3], keep, vertex, first, degree);
        }
        frontier = end_turn(state, turn++, edge_bits, &told);
    }

    // The levels. Every thread follows them in variables of its own.
    unsigned *visited = s.visited[0], *other = s.visited[1];
    long long begin = 0;  // of the frontier in the queue; going bottom-up, where the next one will begin
    long long unexplored = s.m;
    int level = 0;
    bool bottom_up = false;
    bool given_up = false;
    while (frontier.vertices > 0 && level < s.depth_limit && !given_up) {
        if (s.target >= 0 && is_reached(told.target_level, level)) break;
        const long long expanded = frontier.vertices;

        if (!bottom_up && frontier.edges <= s.alone) {
            if (blockIdx.x == 0) {
                level = go_alone(s, visited, level, begin, frontier, unexplored, memory);
                if (threadIdx.x == 0) state->alone[turn % 2] = {level, frontier.vertices, frontier.edges, unexplored};
            }
            end_turn(state, turn++, edge_bits, &told);
            level = static_cast<int>(told.alone.level);
            frontier = {told.alone.vertices, told.alone.edges};
            unexplored = told.alone.unexplored;
            begin += expanded;
            given_up = level > s.n;
            continue;
        }

        ++level;
        given_up = level > s.n;  // as many levels as vertices, if each reaches one and the last none
        Counter* const tail = &state->tails[turn % 3];
        if (!bottom_up) {
            bottom_up = frontier.edges > unexplored / s.alpha;
            unexplored -= frontier.edges;
            if (!bottom_up) expand(s, visited, level, begin, frontier, tail, warp, warps);
            begin += expanded;
        }
        if (bottom_up) {
            const Counter mine = sweep(s, visited, other, level, warp, warps, list, hits);
            if (lane == WARP - 1 && mine) atomicAdd(&found, static_cast<unsigned>(mine));
            __syncthreads();
            if (threadIdx.x == 0) {
                const unsigned all = atomicExch(&found, 0);
                if (all) atomicAdd(tail, packed(all, 0, edge_bits));
            }
            unsigned* const before = visited;
            visited = other;
            other = before;
        }
        frontier = end_turn(state, turn++, edge_bits, &told);
        if (s.trace && thread == 0) s.trace[level] = nanoseconds() * 2 + bottom_up;
        if (bottom_up && frontier.vertices > 0 && frontier.vertices < expanded && frontier.vertices < s.n / s.beta) {
            to_queue(s, other, visited, begin, &state->tails[turn % 3], warp, warps, list);
            frontier = end_turn(state, turn++, edge_bits, &told);
            bottom_up = false;
        }
    }

    // End: whatever was not visited is unreached.
    leave(s, warp, warps, [&](long long word) { return ~__ldcg(visited + word); });
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(&state->finished, gridDim.x - 1) == gridDim.x - 1) {
            s.status[LEVELS] = level;
            s.status[GIVEN_UP] = given_up;
            __threadfence_system();
            s.status[NUMBER] = s.number;
        }
    }
}
