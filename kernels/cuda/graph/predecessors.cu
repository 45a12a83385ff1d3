// The predecessors of many searches, from their distances.
//
//   offsets[n + 1], sources[m]   the in-edges of each vertex
//   distances[rows * n]          a row for each search, as it writes them, -1 where a vertex is not reached
//   predecessors[rows * n]       the first in-neighbour one level up; -1 at sources and where a vertex is not reached
//
// A lane looks at the first in-neighbours of its vertex; those vertices that have found none by then are looked at by
// the whole warp, one after the other, 32 in-neighbours at a time. So no lane waits long for that of a hub.
//
// Work: up to the first in-neighbour one level up. A row has n reached vertices at most, whose distances stay in the L2
// cache. Synchronisation: the lanes of a warp vote. Races: none, each element is written by one lane.

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int ALONE = 8;  // in-neighbours that a lane looks at by itself

template <typename Vertex, typename Offset>
__global__ void find_predecessors(const Offset* offsets, const Vertex* sources, const int* distances, long long n,
                                  long long count, Vertex* predecessors) {
    const long long threads = threads_of_grid();
    const long long first = thread_of_grid() - lane_id();  // of the warp
    for (long long start = first; start < count; start += threads) {
        const long long i = start + lane_id();
        const int distance = i < count ? distances[i] : -1;
        const long long row = i / n * n;
        Offset edge = 0, end = 0;
        if (distance > 0) {
            edge = offsets[i - row];
            end = offsets[i - row + 1];
        }
        Vertex found = -1;
        for (int k = 0; k < ALONE && edge < end && found < 0; ++k, ++edge) {
            const Vertex source = sources[edge];
            if (distances[row + source] == distance - 1) found = source;
        }
        unsigned waiting = __ballot_sync(ALL, found < 0 && edge < end);
        while (waiting) {
            const int lane = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            const long long its_row = __shfl_sync(ALL, row, lane);
            const int above = __shfl_sync(ALL, distance, lane) - 1;
            const Offset its_end = __shfl_sync(ALL, end, lane);
            for (Offset begin = __shfl_sync(ALL, edge, lane); begin < its_end; begin += WARP) {
                const Offset mine = begin + lane_id();
                const Vertex source = mine < its_end ? sources[mine] : -1;
                const unsigned hits = __ballot_sync(ALL, source >= 0 && distances[its_row + source] == above);
                if (!hits) continue;
                const Vertex hit = __shfl_sync(ALL, source, __ffs(hits) - 1);
                if (lane_id() == lane) found = hit;
                break;
            }
        }
        if (i < count) predecessors[i] = found;
    }
}
