// Searches of a distributed graph from up to 64 sources at once, a bit each: the steps of one rank between two
// collectives. Vertices have local and global ids, see `build.cu`.
//
//   offsets[own + 1], targets[m]    out-edges of the rank's vertices; targets are global ids
//   reached[own], fresh[own]        words of the sources that have reached each vertex, and of those that did in the last
//                                   level
//   queue[own], starts[count + 1]   local ids of the vertices whose word in `fresh` is not 0, and where the edges of each
//                                   begin among those of all
//   sent[slots], upcoming[slots]    words for all global ids: what this rank has sent, and what it sends next
//   touched[partitions][stride]     the vertices of each owner whose word in `upcoming` is not 0, by local id there
//   held                            how many vertices `queue` has, or `touched` for each owner
//   words[count], local_ids[count]  what another rank sent, a vertex at most once
//   distances[sources][own]         -1 where not reached; null if they are not kept
//   counts[64]                      how many vertices each source has reached in a level
//
// Work: a word for each edge of the frontier, with at most two atomics; each bit is sent at most once by each rank.
// Synchronisation: the end of each kernel.
// Races: threads race for the bits of a neighbour; atomicOr gives each bit to one of them, and the vertex to the list of
// the first. A word of `sent` that is read early only costs an atomic.
// Source: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8(4), 2014.

#include "../graph/rows.cuh"

using Bits = unsigned long long;

constexpr int SOURCES = 64;

// Add the sources of the frontier to the words that its neighbours' owners get.
template <typename Vertex, typename Offset>
__global__ void expand(const Offset* offsets, const Vertex* targets, const Vertex* queue, const long long* starts,
                       long long count, long long edges, const Bits* fresh, long long stride, Bits* sent,
                       Bits* upcoming, Vertex* touched, Bits* held) {
    for_each_arc(starts, count, 0, edges, [=](long long edge, long long place) {
        const Vertex vertex = queue[place];
        const Vertex neighbor = targets[offsets[vertex] + edge - starts[place]];
        const Bits word = fresh[vertex];
        if ((word & ~sent[neighbor]) == 0) return;
        const Bits fresh_bits = word & ~atomicOr(sent + neighbor, word);
        if (fresh_bits == 0 || atomicOr(upcoming + neighbor, fresh_bits) != 0) return;
        const long long owner = neighbor / stride;
        touched[owner * stride + static_cast<long long>(atomicAdd(held + owner, Bits(1)))] =
            static_cast<Vertex>(neighbor % stride);
    });
}

// Settle the pairs that one rank sent.
template <typename Vertex>
__global__ void settle(const Bits* words, const Vertex* local_ids, long long count, Bits* reached, Bits* fresh,
                       Vertex* queue, Bits* held) {
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const Vertex local_id = local_ids[i];
        const Bits fresh_bits = words[i] & ~reached[local_id];
        if (fresh_bits == 0) continue;
        if (fresh[local_id] == 0) queue[atomicAdd(held, Bits(1))] = local_id;
        fresh[local_id] |= fresh_bits;
        reached[local_id] |= fresh_bits;
    }
}

// Count the vertices that each source has reached in this level, and write their distances.
template <typename Vertex>
__global__ void note(const Vertex* queue, long long count, const Bits* fresh, long long level, long long own,
                     int* distances, Bits* counts) {
    __shared__ Bits mine[SOURCES];
    for (int bit = threadIdx.x; bit < SOURCES; bit += blockDim.x) mine[bit] = 0;
    __syncthreads();
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const Vertex vertex = queue[i];
        for (Bits left = fresh[vertex]; left; left &= left - 1) {
            const int bit = __ffsll(static_cast<long long>(left)) - 1;
            atomicAdd(mine + bit, Bits(1));
            if (distances) distances[bit * own + vertex] = static_cast<int>(level);
        }
    }
    __syncthreads();
    for (int bit = threadIdx.x; bit < SOURCES; bit += blockDim.x) {
        if (mine[bit]) atomicAdd(counts + bit, mine[bit]);
    }
}
