// A level-synchronous search of a distributed graph: the steps of one rank between two collectives, a kernel for each.
//
// The vertex with local id l on rank r has the global id r * stride + l. A rank stores the rows of its own vertices, by
// local id; targets are global ids. *Top-down*: `expand` writes a pair (vertex, parent) into the bucket of the owner of
// each neighbour that this rank has not seen; after an all-to-all, owners `settle_received` the pairs. *Bottom-up*, after
// the bitmaps of all ranks were gathered: `sweep` scans the in-neighbours of the rank's unvisited vertices for a visited
// one, see `bottom_up.cuh`; `note` records the vertices that have one, and `list` puts them into the queue.
//
// `Search` has the rank's own arrays: offsets, targets, in_offsets, in_targets, isolated, visited, queue, queued and
// distances by local id; hub, heavy and predecessors hold global ids. The structure is that of a search on one device;
// here n is the number of vertices that the rank owns, and there is no target.
//
//   seen[words of all]                bitmap over all global ids: visited, or sent to the owner by this rank
//   upcoming, fresh[words of own]     bitmaps of the vertices visited after this level, and of those that it found
//   sent, received[partitions][1 + capacity]
//                                     buckets of pairs to and from each rank. The first entry holds the number of pairs,
//                                     and 1 if any bucket of the sender has overflown: then no rank settles anything
//   tail, found                       counters of the vertices enqueued and their edges, and of all found
//   left                              counter of the rows that a sweep left in the queue for `sweep_rows`
//   gathered[partitions][COLUMNS]     counters of all ranks after a level; on_host: the same, in the host's memory
//   level_capacity                    the capacity of a bucket in this level, at most `capacity`
//   begin, vertices, edges            the frontier in the queue; end: where the next one begins
//   target                            a local id; -1 if there is none or another rank owns it
//
// Work: one bit test per edge of the frontier, a pair per vertex and sender, an atomic OR per pair; or at most one bit
// test per edge into an unvisited vertex, and reading and writing a bitmap.
// Synchronisation: the end of each kernel. The host waits once a level.
// Races: threads race for the bits of neighbours; atomicOr lets one win. All threads that see a bucket overflow store the
// same.
//
// Sources: A. Buluc, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011; S. Beamer et al.,
// Distributed memory breadth-first search revisited, MTAAP 2013; and those of direction_optimizing.

#include "../direction_optimizing/bottom_up.cuh"
#include "../direction_optimizing/parameters.cuh"
#include "../direction_optimizing/prepare.cuh"
#include "top_down.cuh"

constexpr int COLUMNS = 5;

template <typename Vertex, typename Offset>
struct Exchange {
    unsigned* seen;
    unsigned* upcoming;
    unsigned* fresh;
    Vertex* sent;
    Vertex* received;
    Counter* tail;
    Counter* found;
    Counter* left;
    long long* gathered;
    volatile long long* on_host;
    long long partitions, rank, stride, capacity, level_capacity, level, begin, end, vertices, edges, target;
};

// The bucket of a rank: an entry of two counters, then pairs.
template <typename Vertex, typename Offset>
__device__ inline Vertex* segment(const Exchange<Vertex, Offset>& x, Vertex* pairs, long long partition) {
    return pairs + 2 * (1 + x.capacity) * partition;
}

// The pairs of a bucket.
template <typename Vertex>
__device__ inline Pair<Vertex>* pairs_of(Vertex* segment) {
    return reinterpret_cast<Pair<Vertex>*>(segment) + 1;
}

// Add to a counter that has the type of vertices. Returns the value before.
__device__ inline int add(int* counter, int value) { return atomicAdd(counter, value); }

__device__ inline long long add(long long* counter, int value) {
    return static_cast<long long>(
        atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(value)));
}

// Degrees of this rank's vertices in eight bits, rounded down: enough to choose the heaviest among in-neighbours.
template <typename Offset>
__global__ void weigh(const Offset* offsets, long long own, unsigned char* weights) {
    constexpr int FRACTION = 3;  // bits after the first
    for (long long local_id = thread_of_grid(); local_id < own; local_id += threads_of_grid()) {
        const unsigned long long degree = static_cast<unsigned long long>(offsets[local_id + 1] - offsets[local_id]);
        const int bits = degree ? 64 - __clzll(static_cast<long long>(degree)) : 0;
        const unsigned long long next = (degree << FRACTION >> max(bits - 1, 0)) & ((1 << FRACTION) - 1);
        weights[local_id] = static_cast<unsigned char>(min((bits << FRACTION) + static_cast<int>(next), 255));
    }
}

// Fill `hub`, `heavy` and `isolated` from the weights of all global ids.
template <typename Vertex, typename Offset>
__global__ void prepare_partition(Vertex own, Vertex base, const Offset* offsets, const Offset* in_offsets,
                                  const Vertex* in_targets, const unsigned char* weights, Vertex* hub, Vertex* heavy,
                                  unsigned* isolated) {
    find_heavy(own, base, Vertex(0), offsets, in_offsets, in_targets, hub, heavy, isolated,
               [=](Vertex neighbor) { return static_cast<int>(weights[neighbor]); });
}

// Empty the buckets to and from a rank.
template <typename Vertex, typename Offset>
__device__ inline void reset(const Exchange<Vertex, Offset>& x, long long partition) {
    for (int i = 0; i < 2; ++i) segment(x, x.sent, partition)[i] = segment(x, x.received, partition)[i] = 0;
}

// Enqueue the rank's own sources; by one block.
template <typename Vertex, typename Offset>
__global__ void begin(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    for (long long partition = threadIdx.x; partition < x.partitions; partition += blockDim.x) reset(x, partition);
    const long long stride = threads_of_grid();
    for (long long start = thread_of_grid() - lane_id(); start < s.count; start += stride) {
        const bool keep[1] = {start + lane_id() < s.count};
        Vertex vertex[1] = {0};
        Offset first[1] = {0}, degree[1] = {0};
        if (keep[0]) {
            vertex[0] = s.sources[start + lane_id()];
            first[0] = s.offsets[vertex[0]];
            degree[0] = s.offsets[vertex[0] + 1] - first[0];
            atomicOr(s.visited + word_of(vertex[0]), bit_of(vertex[0]));
            s.distances[vertex[0]] = 0;
        }
        append_to_queue(s, 0, x.tail, keep, vertex, first, degree);
    }
    if (thread_of_grid() == 0) *x.found = static_cast<Counter>(s.count);
}

// Send the pairs of the lanes that won to the owners of the vertices, by the whole warp.
template <typename Vertex, typename Offset>
__device__ inline void send(const Exchange<Vertex, Offset>& x, bool won, Vertex vertex, Vertex parent) {
    const int owner = static_cast<int>(vertex / static_cast<Vertex>(x.stride));
    for (unsigned left = __ballot_sync(ALL, won); left;) {
        const int leader = __ffs(left) - 1;
        const int chosen = __shfl_sync(ALL, owner, leader);
        const unsigned same = __ballot_sync(ALL, won && owner == chosen);
        Vertex* const pairs = segment(x, x.sent, chosen);
        Vertex slot = 0;
        if (lane_id() == leader) slot = add(pairs, __popc(same));
        slot = __shfl_sync(ALL, slot, leader) + __popc(same & lanes_below());
        if (won && owner == chosen) {
            if (slot < x.level_capacity) {
                pairs_of(pairs)[slot] = {vertex, parent};
            } else {
                for (int partition = 0; partition < x.partitions; ++partition) segment(x, x.sent, partition)[1] = 1;
            }
        }
        left &= ~same;
    }
}

// Send the unseen neighbours of the frontier, a run of its edges for each warp.
template <typename Vertex, typename Offset>
__global__ void expand(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    const Vertex base = static_cast<Vertex>(x.rank * x.stride);
    const auto send_all = [&](const bool (&won)[UNROLL], const Vertex(&vertex)[UNROLL], const Vertex(&parent)[UNROLL]) {
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) send(x, won[k], vertex[k], parent[k]);
    };
    expand_frontier(s, x.seen, base, x.begin, {x.vertices, x.edges}, thread_of_grid() / WARP, threads_of_grid() / WARP,
                    send_all);
}

// Settle the pairs that all ranks sent, unless the vertex is visited or a bucket has overflown.
template <typename Vertex, typename Offset>
__global__ void settle_received(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    for (int partition = 0; partition < x.partitions; ++partition) {
        if (segment(x, x.received, partition)[1]) return;
    }
    const Vertex base = static_cast<Vertex>(x.rank * x.stride);
    const int level = static_cast<int>(x.level);
    Counter found = 0;
    for (int partition = 0; partition < x.partitions; ++partition) {
        Vertex* const pairs = segment(x, x.received, partition);
        const Run run = run_of(pairs[0], thread_of_grid() / WARP, threads_of_grid() / WARP);
        found += settle_pairs(s, s.visited, pairs_of(pairs), run, base, level, x.end, x.tail);
    }
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(x.found, found);
}

// Scan the in-neighbours of unvisited vertices for a visited one. Long rows are left in the queue for `sweep_rows`.
template <typename Vertex, typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sweep(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const int warp_of_block = threadIdx.x / WARP;
    const int warps = gridDim.x * (THREADS / WARP);
    const int warp = warp_of_block * gridDim.x + blockIdx.x;  // neighbouring warps on different multiprocessors
    unsigned* const hits = reinterpret_cast<unsigned*>(memory) + warp_of_block * TILES * TILE;
    unsigned short* const list =
        reinterpret_cast<unsigned short*>(memory + THREADS / WARP * TILES * TILE * sizeof(unsigned)) +
        warp_of_block * LIST;
    const auto write = [&](long long word, bool inside, const unsigned* bits) {
        if (inside) x.upcoming[word] = *bits;
    };
    const auto left = [&] { return x.left; };
    bottom_up_level(s, s.visited, x.seen, write, static_cast<int>(x.level), 0, left, warp, warps, list, hits);
}

// Probe the rows that the sweep left to the whole grid.
template <typename Vertex, typename Offset>
__global__ void sweep_rows(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    const int warp = static_cast<int>(thread_of_grid() / WARP), warps = static_cast<int>(threads_of_grid() / WARP);
    const Frontier rows = unpacked(*x.left, static_cast<int>(s.edge_bits));
    probe_long_rows(s, x.seen, x.upcoming, static_cast<int>(x.level), 0, rows, warp, warps);
}

// Call visit(bits, first vertex, chunk's words of lane) for runs of 32 words of the rank's bitmaps, a run to a warp.
template <typename Visit>
__device__ inline void for_each_run(long long own, const Visit& visit) {
    const long long words = (own + WARP - 1) / WARP;
    const long long warps = threads_of_grid() / WARP;
    for (long long first = thread_of_grid() / WARP * WARP; first < words; first += warps * WARP) {
        visit(first, first + lane_id() < words);
    }
}

// Record the vertices that a sweep found.
template <typename Vertex, typename Offset>
__global__ void note(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    Counter found = 0;
    for_each_run(s.n, [&](long long first, bool inside) {
        const long long word = first + lane_id();
        const unsigned upcoming = inside ? x.upcoming[word] : 0;
        const unsigned fresh = inside ? upcoming & ~s.visited[word] : 0;
        if (inside) {
            x.fresh[word] = fresh;
            if (fresh) s.visited[word] = upcoming;
        }
        found += __popc(fresh);
        for (unsigned left = __ballot_sync(ALL, fresh != 0); left; left &= left - 1) {
            const int lane = __ffs(left) - 1;
            const unsigned bits = __shfl_sync(ALL, fresh, lane);
            if (bits >> lane_id() & 1) s.distances[(first + lane) * WARP + lane_id()] = static_cast<int>(x.level);
        }
    });
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(x.found, found);
}

// Put the vertices that the last sweep found into the queue, from its begin.
template <typename Vertex, typename Offset>
__global__ void list(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    Counter found = 0;
    for_each_run(s.n, [&](long long first, bool inside) {
        const unsigned fresh = inside ? x.fresh[first + lane_id()] : 0;
        found += __popc(fresh);
        for (unsigned left = __ballot_sync(ALL, fresh != 0); left; left &= left - 1) {
            const int lane = __ffs(left) - 1;
            const unsigned bits = __shfl_sync(ALL, fresh, lane);
            const bool keep[1] = {(bits >> lane_id() & 1) != 0};
            const Vertex vertex[1] = {static_cast<Vertex>((first + lane) * WARP + lane_id())};
            Offset row[1], degree[1];
            load_rows(s.offsets, keep, vertex, row, degree);
            degree[0] -= row[0];
            append_to_queue(s, 0, x.tail, keep, vertex, row, degree);
        }
    });
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(x.found, found);
}

// Write this rank's row of `gathered`, and reset the counters; by one thread.
template <typename Vertex, typename Offset>
__global__ void report(const Search<Vertex, Offset> s, const Exchange<Vertex, Offset> x) {
    if (thread_of_grid() != 0) return;
    bool overflown = false;
    for (int partition = 0; partition < x.partitions; ++partition) {
        overflown = overflown || segment(x, x.received, partition)[1];
        reset(x, partition);
    }
    const Frontier frontier = unpacked(*x.tail, static_cast<int>(s.edge_bits));
    long long* const row = x.gathered + COLUMNS * x.rank;
    row[0] = static_cast<long long>(*x.found);
    row[1] = frontier.edges;
    row[2] = x.target >= 0 && test(s.visited, x.target);
    row[3] = overflown;
    row[4] = frontier.vertices;
    *x.tail = *x.found = *x.left = 0;
}

// Copy the counters of all ranks to the host.
template <typename Vertex, typename Offset>
__global__ void copy_to_host(const Exchange<Vertex, Offset> x) {
    for (long long i = thread_of_grid(); i < x.partitions * COLUMNS; i += threads_of_grid())
        x.on_host[i] = x.gathered[i];
}
