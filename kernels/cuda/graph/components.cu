// Connected components as trees of pointers to smaller vertices; directions aside.
//
// A whole graph: `join_first` joins each vertex with its first neighbour, then with its second, and `flatten` follows.
// By then most vertices of most graphs are in one tree, whose root the host finds in a sample. `join_others` joins the
// other edges of the vertices that are not in it. If each edge is there in both directions, that is enough: of an edge
// whose ends both skip it, both ends are in that tree.
//
//   offsets[n + 1], targets[m]     the rows; of one rank of several by local id, where targets are global ids and `base`
//                                  is that of local id 0
//   allowed[n]                     a mask, a byte per vertex, 0 where neither it nor its edges count; or null
//   pointers[n]                    for each vertex or global id, one of its component that is no larger; a root points
//                                  to itself, and is the smallest of its component in the end
//   others[n]                      such pointers of another rank
//
// An arc joins two trees: the larger root is made to point into the other tree. Pointers only ever become smaller, and
// always point to a smaller vertex, so that there are no cycles and every walk ends.
//
// Work: O(1) an arc, but for the height of the trees, and a walk to the root for each vertex when they are flattened. Arcs
// that are skipped are not read. A warp takes a run of arcs, however many rows it has, so that hubs are shared.
// Synchronisation: the end of each kernel. Races: threads race for a root; atomicCAS lets one win, and the others go on
// from where it points then. A pointer that is read late is one of the same component, only less far up.
// Source: M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
// IPDPS 2018.

#include "../graph/rows.cuh"

__device__ inline int swap(int* address, int expected, int value) { return atomicCAS(address, expected, value); }

__device__ inline long long swap(long long* address, long long expected, long long value) {
    using Bits = unsigned long long;
    return static_cast<long long>(
        atomicCAS(reinterpret_cast<Bits*>(address), static_cast<Bits>(expected), static_cast<Bits>(value)));
}

// The pointer of a vertex, as other threads have set it meanwhile.
template <typename Vertex>
__device__ inline Vertex pointer_of(const Vertex* pointers, Vertex vertex) {
    return static_cast<const volatile Vertex*>(pointers)[vertex];
}

// Make one tree of those of two vertices.
template <typename Vertex>
__device__ inline void join(Vertex* pointers, Vertex one, Vertex other) {
    one = pointer_of(pointers, one);
    other = pointer_of(pointers, other);
    while (one != other) {
        const Vertex high = max(one, other), low = min(one, other);
        const Vertex parent = pointer_of(pointers, high);
        if (parent == low || (parent == high && swap(pointers + high, high, low) == high)) return;
        one = pointer_of(pointers, parent);
        other = pointer_of(pointers, low);
    }
}

// Join each vertex with its neighbour at this place of its row, if there is one.
template <typename Vertex, typename Offset>
__global__ void join_first(const Offset* offsets, const Vertex* targets, long long n, long long place,
                           const unsigned char* allowed, Vertex* pointers) {
    for (long long vertex = thread_of_grid(); vertex < n; vertex += threads_of_grid()) {
        const long long arc = offsets[vertex] + place;
        if (arc >= offsets[vertex + 1] || (allowed && !allowed[vertex])) continue;
        const Vertex target = targets[arc];
        if (!allowed || allowed[target]) join(pointers, static_cast<Vertex>(vertex), target);
    }
}

// Join each vertex that is not in the tree of `largest` with its neighbours from this place of its row on; -1: each
// vertex.
template <typename Vertex, typename Offset>
__global__ void join_others(const Offset* offsets, const Vertex* targets, long long n, long long m, long long place,
                            const unsigned char* allowed, long long largest, Vertex* pointers) {
    const long long stride = threads_of_grid() / WARP * LONG_RUN;
    for (long long run = thread_of_grid() / WARP * LONG_RUN; run < m; run += stride) {
        const long long stop = min(run + LONG_RUN, m);
        RowWindow<Offset> rows = {offsets, n, m};
        rows.seek(run);
        for (;;) {
            const long long mine = rows.row + lane_id();
            const long long first = max(rows.begin + place, run), end = min(static_cast<long long>(rows.end), stop);
            const bool other = mine < n && first < end && pointer_of(pointers, static_cast<Vertex>(mine)) != largest &&
                               (!allowed || allowed[mine]);
            for (unsigned left = __ballot_sync(ALL, other); left; left &= left - 1) {
                const int lane = __ffs(left) - 1;
                const Vertex source = static_cast<Vertex>(rows.row + lane);
                const long long last = __shfl_sync(ALL, end, lane);
                for (long long arc = __shfl_sync(ALL, first, lane) + lane_id(); arc < last; arc += WARP) {
                    const Vertex target = targets[arc];
                    if (!allowed || allowed[target]) join(pointers, source, target);
                }
                __syncwarp();
            }
            if (rows.last() >= stop) break;
            rows.advance();
        }
    }
}

// Join the ends of the rank's arcs. If each edge is there in both directions, half of them are enough.
template <typename Vertex, typename Offset>
__global__ void join_rows(const Offset* offsets, const Vertex* targets, long long own, long long m, long long base,
                          long long symmetric, Vertex* pointers) {
    for_each_arc(offsets, own, 0, m, [=](long long arc, long long row) {
        const Vertex source = static_cast<Vertex>(base + row), target = targets[arc];
        if (!symmetric || target < source) join(pointers, source, target);
    });
}

// Join each vertex with where it points on another rank.
template <typename Vertex>
__global__ void join_pointers(const Vertex* others, long long slots, Vertex* pointers) {
    for (long long vertex = thread_of_grid(); vertex < slots; vertex += threads_of_grid()) {
        if (others[vertex] != vertex) join(pointers, static_cast<Vertex>(vertex), others[vertex]);
    }
}

// Make each vertex point to its root. Roots do not change meanwhile.
template <typename Vertex>
__global__ void flatten(long long slots, Vertex* pointers) {
    for (long long vertex = thread_of_grid(); vertex < slots; vertex += threads_of_grid()) {
        Vertex root = pointer_of(pointers, static_cast<Vertex>(vertex));
        for (Vertex next = pointer_of(pointers, root); next != root; next = pointer_of(pointers, root)) root = next;
        pointers[vertex] = root;
    }
}
