// CSR by counting: edges in, offsets and targets out; and other kernels over edges.
//
// An edge list is counted, `counts[v]` being the edges that leave v; from the counts the host computes cursors, each at
// the beginning of an adjacency; and each edge is placed at the cursor of its source, which advances. At the end every
// cursor is at the beginning of the next adjacency. The order within a row is that in which threads arrive.
//
//   sources[count], targets[count]    a block of edges; Id is the type of the ids. The caller may change them between
//                                     the two passes: ids that are no vertices are left out, so no access is outside
//   cursors[n + 1]                    where the next edge of each vertex goes; the last counts, from m on, the edges
//                                     that have no place, from which the host sees that they changed
//   offsets[n + 1], targets[m]        a CSR; a block of its arcs is `count` of them from `first` on
//
// Work: two passes over the edges, each with one atomic per edge and direction, and one scattered store per edge in the
// second. Nothing is sorted and no memory is needed besides the result. Lanes of a warp that all have the same vertex,
// as they do in a sorted list or at a hub, share one atomic.
// Synchronisation: none but the end of each kernel. Races: only atomics touch shared words, and `present`, where all
// threads store the same.

#include "rows.cuh"
#include "tally.cuh"

// What `summarize` computes; the host initialises it with the largest number, -1 and 0.
struct Summary {
    long long lowest, highest;
    unsigned long long asymmetry;  // sum of the signed hashes
};

// The odd numbers that select a hash function, so that no one can construct edges whose hashes cancel out.
struct Key {
    unsigned long long u, v;
};

// A 64-bit hash of the edge {u, v} (the finaliser of splitmix64), negative if u > v, 0 if they are equal. Without the
// offset the hash of twice a number would be twice its hash for one key in 64, and two parallel edges would cancel out
// another.
__device__ inline unsigned long long signed_hash(long long u, long long v, Key key) {
    const unsigned long long low = min(u, v), high = max(u, v);
    unsigned long long x = low * key.u + high * key.v + 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    return u < v ? x : u > v ? 0 - x : 0;
}

// Find the lowest and highest id of a block of edges, and add to its asymmetry by the hashes of this key.
template <typename Id>
__global__ void summarize(const Id* sources, const Id* targets, long long count, long long key_u, long long key_v,
                          Summary* summary) {
    const Key key = {static_cast<unsigned long long>(key_u), static_cast<unsigned long long>(key_v)};
    long long lowest = 0x7FFFFFFFFFFFFFFFll, highest = -1;
    unsigned long long asymmetry = 0;
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const long long u = sources[i], v = targets[i];
        lowest = min(lowest, min(u, v));
        highest = max(highest, max(u, v));
        asymmetry += signed_hash(u, v, key);
    }
    for (int distance = WARP / 2; distance; distance /= 2) {
        lowest = min(lowest, __shfl_xor_sync(ALL, lowest, distance));
        highest = max(highest, __shfl_xor_sync(ALL, highest, distance));
        asymmetry += __shfl_xor_sync(ALL, asymmetry, distance);
    }
    if (lane_id() == 0) {
        atomicMin(&summary->lowest, lowest);
        atomicMax(&summary->highest, highest);
        if (asymmetry) atomicAdd(&summary->asymmetry, asymmetry);
    }
}

// Add to the asymmetry of a whole CSR, by the hashes of this key. A warp takes a run of arcs, however many rows it has.
template <typename Vertex, typename Offset>
__global__ void add_asymmetry(const Offset* offsets, const Vertex* targets, long long n, long long m, long long key_u,
                              long long key_v, unsigned long long* sum) {
    const Key key = {static_cast<unsigned long long>(key_u), static_cast<unsigned long long>(key_v)};
    const long long stride = threads_of_grid() / WARP * LONG_RUN;
    unsigned long long asymmetry = 0;
    for (long long run = thread_of_grid() / WARP * LONG_RUN; run < m; run += stride) {
        RowWindow<Offset> window = {offsets, n, m};
        window.seek(run);
        const long long stop = min(run + LONG_RUN, m);
        for (long long first = run; first < stop; first += WARP) {
            const long long arc = first + lane_id(), end = min(first + WARP, m);
            const Vertex target = arc < m ? targets[arc] : 0;
            long long done = first;  // arcs before it have been added
            for (;;) {
                const long long last = window.last();
                const long long row = window.row_of_lane(static_cast<Offset>(min(arc, m - 1)));
                if (arc >= done && arc < min(last, end)) asymmetry += signed_hash(row, target, key);
                if (last >= end) break;
                done = last;
                window.advance();
            }
        }
    }
    asymmetry = warp_sum(asymmetry);
    if (lane_id() == 0 && asymmetry) atomicAdd(sum, asymmetry);
}

// Is it an index of an array of this length?
template <typename Index>
__device__ inline bool is_index(Index index, long long length) {
    return index >= 0 && index < length;
}

// Mark the vertices that occur in a block of ids.
template <typename Id>
__global__ void mark(const Id* ids, long long count, long long n, bool* present) {
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const Id id = ids[i];
        if (is_index(id, n)) present[id] = true;
    }
}

// Count a block of edges at their sources; with `mirror` in both directions, self-loops once.
template <typename Id, typename Offset>
__global__ void count(const Id* sources, const Id* targets, long long count, long long mirror, long long n,
                      Offset* counts) {
    for (long long start = thread_of_grid() - lane_id(); start < count; start += threads_of_grid()) {
        const bool inside = start + lane_id() < count;
        const Id u = inside ? sources[start + lane_id()] : 0;
        add(counts, u, inside && is_index(u, n));
        if (mirror) {
            const Id v = inside ? targets[start + lane_id()] : 0;
            add(counts, v, inside && u != v && is_index(v, n));
        }
    }
}

// Place a block of edges, the targets by their `rank` unless that is null (-1: none); with `mirror` in both directions,
// self-loops once.
template <typename Id, typename Offset, typename Vertex>
__global__ void place(const Id* sources, const Id* targets, long long count, long long mirror, long long n, long long m,
                      const Vertex* rank, Offset* cursors, Vertex* placed) {
    for (long long start = thread_of_grid() - lane_id(); start < count; start += threads_of_grid()) {
        const bool inside = start + lane_id() < count;
        const Id u = inside ? sources[start + lane_id()] : 0;
        const Id v = inside ? targets[start + lane_id()] : 0;
        const bool known = inside && is_index(u, n) && is_index(v, n);
        const Offset forth = reserve(cursors, u, known);
        const Vertex target = known ? rank ? rank[v] : static_cast<Vertex>(v) : -1;
        if (target >= 0 && is_index(forth, m)) placed[forth] = target;
        if (inside && target < 0) atomic_add(cursors + n, static_cast<Offset>(1));
        if (mirror) {
            const bool wanted = known && u != v;
            const Offset back = reserve(cursors, v, wanted);
            if (wanted && is_index(back, m)) placed[back] = rank ? rank[u] : static_cast<Vertex>(u);
        }
    }
}

// The sources of a block of arcs.
template <typename Vertex, typename Offset>
__global__ void expand(const Offset* offsets, long long n, long long first, long long count, Vertex* sources) {
    for_each_arc(offsets, n, first, count,
                 [=](long long place, long long row) { sources[place] = static_cast<Vertex>(row); });
}

// Which of a block of arcs are `kept`, not equal to the one before them in an ascending adjacency and, unless `loops`,
// no self-loops; and how many of each row.
template <typename Vertex, typename Offset>
__global__ void distinct(const Offset* offsets, const Vertex* targets, long long n, long long first, long long count,
                         long long loops, bool* kept, Offset* counts) {
    for_each_arc(offsets, n, first, count, [=](long long place, long long row) {
        const long long arc = first + place;
        const Vertex target = targets[arc];
        const bool keep = (arc == offsets[row] || targets[arc - 1] != target) && (loops || target != row);
        kept[place] = keep;
        if (keep) atomic_add(counts + row, static_cast<Offset>(1));
    });
}
