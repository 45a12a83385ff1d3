// Reordering: after several wide levels, the ancestors of the frontier are put in order, level by level.
#pragma once

#include "ordered.cuh"

// Put the last level in order, which makes it the last ordered one.
template <typename Vertex, typename Offset>
__device__ void reorder(const Search<Vertex, Offset>& s, Traversal& at, const Block& block) {
    const int base = at.level - at.unordered;  // the last ordered level
    const long long thread = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;

    // The ancestors: each vertex climbs until another has been there.
    for_each_set_bit(
        s, block, [&](long long word) { return at.visited[word] & ~at.other[word]; },
        [&](Vertex vertex) {
            for (int level = at.level; !test_and_set(s.fresh, vertex) && --level > base;)
                vertex = s.predecessors[vertex];
        });

    for (int level = base + 1; level <= at.level; ++level) {
        const auto run = run_of(s, at.begin, at.frontier, 0, at.frontier.edges, block);
        const auto length = run_length(run.edges, block);
        clear_marks(s, run, block);
        end_phase(s, REORDER, at.phase, block);
        for_each_set_bit(
            s, block, [&](long long word) { return s.fresh[word]; },
            [&](Vertex vertex) {
                if (s.distances[vertex] != level) return;
                const Vertex parent = s.predecessors[vertex];
                const auto slot = s.rank[parent];
                const Offset edge = s.queue[at.begin + slot].prefix + position(s, parent, vertex);
                const Offset degree = s.offsets[vertex + 1] - s.offsets[vertex];
                at.siblings[vertex] = sibling_group(slot);
                if (degree) mark(s, length, static_cast<typename Search<Vertex, Offset>::Number>(edge), degree);
            });
        end_phase(s, REORDER, at.phase, block);
        at.begin += at.frontier.vertices;
        at.frontier = append(s, run, block);
        end_phase(s, REORDER, at.phase, block);
    }
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long word = thread; word < words; word += threads) s.fresh[word] = 0;
    at.unordered = 0;
    at.reached = at.frontier.vertices;
    end_phase(s, REORDER, at.phase, block);
}
