// Reordering: after several wide levels, the ancestors of the frontier are put in order, level by level.
#pragma once

#include "ordered.cuh"

// Put the last level in order, `unordered` levels after the last ordered one, whose frontier is in the queue from
// `begin` on. Advances both to the last level.
template <typename Vertex, typename Offset>
__device__ void reorder(const Search<Vertex, Offset>& s, const unsigned* before, const unsigned* visited,
                        unsigned char* siblings, int level, int unordered, long long& begin, Frontier& frontier,
                        int& phase, PhaseResult* result, const Block& block) {
    const int base = level - unordered;  // the last ordered level
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;

    // The ancestors: each vertex climbs until another has been there.
    for_each_set_bit(
        s, block, [&](long long word) { return visited[word] & ~before[word]; },
        [&](Vertex vertex) {
            for (int at = level; !test_and_set(s.fresh, vertex) && --at > base;) vertex = s.predecessors[vertex];
        });

    for (int at = base + 1; at <= level; ++at) {
        const auto run = run_of(s, begin, frontier, 0, frontier.edges, block);
        const auto length = run_length(run.edges, block);
        clear_marks(s, run, block);
        end_phase(s, REORDER, phase, result);
        for_each_set_bit(
            s, block, [&](long long word) { return s.fresh[word]; },
            [&](Vertex vertex) {
                if (s.distances[vertex] != at) return;
                const Vertex parent = s.predecessors[vertex];
                const auto slot = s.rank[parent];
                const Offset edge = s.queue[begin + slot].prefix + position(s, parent, vertex);
                const Offset degree = s.offsets[vertex + 1] - s.offsets[vertex];
                siblings[vertex] = sibling_group(slot);
                if (degree) mark(s, length, static_cast<typename Search<Vertex, Offset>::Number>(edge), degree);
            });
        end_phase(s, REORDER, phase, result);
        const Frontier upcoming = append(s, run, block);
        begin += frontier.vertices;
        frontier = upcoming;
        end_phase(s, REORDER, phase, result);
    }
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long word = thread; word < words; word += threads) s.fresh[word] = 0;
}
