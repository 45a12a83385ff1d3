// Connected components of the arcs of one rank, as trees of pointers to smaller vertices; directions aside.
//
//   offsets[own + 1], targets[m]   the rank's rows, by local id; targets are global ids, `base` is that of local id 0
//   pointers[slots]                for each global id, one of its component that is no larger; a root points to itself
//   others[slots]                  such pointers of another rank
//
// An arc joins two trees: the larger root is made to point into the other tree. Pointers only ever become smaller, and
// always point to a smaller vertex, so that there are no cycles and every walk ends.
//
// Work: O(1) an arc, but for the height of the trees, and a walk to the root for each vertex when they are flattened.
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
