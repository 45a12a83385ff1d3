// Ordered levels: the edges of the frontier are numbered in the order of the queue, and each vertex is claimed by the
// smallest number that leads to it. Marks in a bitmap over the numbers then put the claimed vertices in order.
#pragma once

#include "siblings.cuh"

// A warp's run of the edge numbers of a frontier; the runs follow each other as the warps do.
template <typename Number>
struct Run {
    Number begin;              // of the frontier in the queue
    Number vertices, edges;    // of the frontier
    Number next, stop, first;  // the run's numbers, none if `stop` is not above `next`, and the slot that has `next`
    int runs;                  // that have any
};

// The length of each warp's run of so many numbers; a multiple of 32.
template <typename Number>
__device__ inline Number run_length(Number numbers, const Block& block) {
    return ((numbers + block.warps - 1) / block.warps + WARP - 1) / WARP * WARP;
}

// This warp's run of the numbers `from` to `to`; `from` is a multiple of 32, and so is each `stop` but the last.
template <typename Vertex, typename Offset>
__device__ auto run_of(const Search<Vertex, Offset>& s, long long begin, Frontier frontier, long long from,
                       long long to, const Block& block) {
    using Number = typename Search<Vertex, Offset>::Number;
    const Number begins = static_cast<Number>(from), ends = static_cast<Number>(to);
    const Number length = run_length(ends - begins, block);
    const Number next = begins + block.warp * length;
    const Number stop = min(next + length, ends);
    Run<Number> run = {static_cast<Number>(begin), static_cast<Number>(frontier.vertices),
                       static_cast<Number>(frontier.edges), next, stop};
    if (next < stop) run.first = static_cast<Number>(slot_of(s.queue + begin, frontier.vertices, next));
    run.runs = static_cast<int>((ends - begins + length - 1) / length);
    return run;
}

// Call visit(edge, live, neighbor, slot) for the edges of a run, or for those with a bit in `wanted`: UNROLL edges a
// lane, the first numbered `edge` + lane, the others WARP apart. PASS: let the edges leave the L2 first.
template <bool PASS = false, typename Vertex, typename Offset, typename Number, typename Visit>
__device__ void for_each_edge(const Search<Vertex, Offset>& s, const Run<Number>& run, const unsigned* wanted,
                              Visit visit) {
    Number next = run.next, first = run.first;
    const int lane = lane_id();

    // A window of 32 entries, one a lane, and the edges that it covers, in whole runs of 32: each entry has an edge, so
    // it covers one at least.
    while (next < run.stop) {
        const bool inside = first + lane < run.vertices;
        Entry<Offset> entry = {static_cast<Offset>(run.edges), 0};
        if (inside) entry = s.queue[run.begin + first + lane];
        Number covered = run.edges;
        if (first + WARP < run.vertices) covered = static_cast<Number>(s.queue[run.begin + first + WARP].prefix);
        const Number end = covered < run.stop ? covered / WARP * WARP : run.stop;

        for (; next < end; next += UNROLL * WARP) {
            bool live[UNROLL];
            unsigned some = 0;
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Number batch = next + k * WARP;
                const unsigned bits = batch >= end ? 0 : wanted ? wanted[batch / WARP] : ALL;
                live[k] = (bits >> lane & 1) && batch + lane < end;
                some |= bits;
            }
            if (!some) continue;
            Vertex neighbor[UNROLL];
            Number slot[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Number batch = next + k * WARP;
                const int owner = owner_of(static_cast<Offset>(static_cast<Number>(entry.prefix) - batch));
                const Offset shift = __shfl_sync(ALL, entry.shift, owner);
                slot[k] = first + owner;
                neighbor[k] = 0;
                const Vertex* const target = s.targets + (shift + static_cast<Offset>(batch + lane));
                if (live[k]) neighbor[k] = PASS ? __ldcs(target) : __ldg(target);
            }
            visit(next, live, neighbor, slot);
        }
        next = end;
        const bool passed = inside && static_cast<Number>(entry.prefix) <= next;
        first += covered <= next ? WARP : __popc(__ballot_sync(ALL, passed)) - 1;
    }
}

// Expand the edges of a run: each neighbor that is not `reached` takes the smallest number of an edge that leads to it,
// and `slots` is written; or, BY_SLOT, it takes the smallest slot of a discoverer. PASS: only those in `range`.
template <bool BY_SLOT, bool PASS = false, typename Vertex, typename Offset, typename Number>
__device__ void claim(const Search<Vertex, Offset>& s, const unsigned* reached, const Run<Number>& run,
                      Range<Vertex> range = {}) {
    using S = Search<Vertex, Offset>;
    for_each_edge<PASS>(
        s, run, nullptr,
        [&](Number edge, const bool (&live)[UNROLL], const Vertex(&neighbor)[UNROLL], const Number(&slot)[UNROLL]) {
            unsigned word[UNROLL];
            bool claims[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                claims[k] = live[k] && (!PASS || range.has(neighbor[k]));
                word[k] = reached[word_of(PASS && !claims[k] ? 0 : neighbor[k])];  // of vertex 0 if not live
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) claims[k] = claims[k] && !(word[k] & bit_of(neighbor[k]));
            // Where degrees are alike, only the first claim sets the bit: half the atomics, but their results are awaited.
            if (BY_SLOT && (PASS || s.alike)) {
                Number before[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    before[k] = 0;
                    if (claims[k]) before[k] = atomicMin(s.rank + neighbor[k], S::CLAIMED | slot[k]);
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    if (before[k] == S::UNREACHED) reduce_or(s.fresh + word_of(neighbor[k]), bit_of(neighbor[k]));
                }
                return;
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const Number number = BY_SLOT ? slot[k] : edge + k * WARP + lane_id();
                if (claims[k]) reduce_min(s.rank + neighbor[k], S::CLAIMED | number);
                if (claims[k]) reduce_or(s.fresh + word_of(neighbor[k]), bit_of(neighbor[k]));
                if (!BY_SLOT && lane_id() == 0 && live[k]) s.slots[edge / WARP + k] = static_cast<Vertex>(slot[k]);
            }
        });
}

// Reset the marks of a run and the warp's count, before edges are marked.
template <typename Vertex, typename Offset, typename Number>
__device__ void clear_marks(const Search<Vertex, Offset>& s, const Run<Number>& run, const Block& block) {
    for (Number word = run.next / WARP + lane_id(); word * WARP < run.stop; word += WARP) s.marks[word] = 0;
    if (lane_id() == 0) s.counts[block.warp] = 0;
}

// Mark the edge that claimed a vertex with out-edges, and count the vertex for the warp whose run has that edge.
template <typename Vertex, typename Offset, typename Number>
__device__ inline void mark(const Search<Vertex, Offset>& s, Number length, Number edge, Offset degree) {
    reduce_or(s.marks + edge / WARP, 1u << edge % WARP);
    reduce_add(s.counts + edge / length, packed(1, degree, s.edge_bits));
}

// Collect claimed vertices on the warp's list, from tile `next` on, and count them as visited.
template <typename Vertex, typename Offset>
__device__ __forceinline__ int collect_claims(const Search<Vertex, Offset>& s, unsigned* visited, long long words,
                                              long long& next, const Block& block) {
    int count = 0;
    for (int tiles = 0; tiles < CLAIM_TILES && count < CLAIMS && next * s.tile < words; ++tiles) {
        const long long word = next * s.tile + lane_id();
        const bool mine = lane_id() < s.tile && word < words;
        const unsigned claims = mine ? s.fresh[word] : 0;
        if (claims) {
            s.fresh[word] = 0;
            reduce_or(visited + word, claims);
        }
        count += list_bits(claims, block.list + count, tiles * TILE * WARP);
        next += block.warps;
    }
    return count;
}

// The second phase of an ordered level: write the claimed vertices, and mark the edges that claimed them.
template <typename Vertex, typename Offset>
__device__ void write_in_order(const Search<Vertex, Offset>& s, unsigned* visited, unsigned char* siblings, int level,
                               long long begin, Frontier frontier, const Block& block) {
    using S = Search<Vertex, Offset>;
    using Number = typename S::Number;
    const long long words = (s.n + WARP - 1) / WARP;
    const Number edges = static_cast<Number>(frontier.edges);
    const Number length = run_length(edges, block);
    const Number from = static_cast<Number>(begin);
    for (long long next = block.warp; next * s.tile < words;) {
        const long long origin = next;
        const int count = collect_claims(s, visited, words, next, block);
        for (int start = 0; start < count; start += UNROLL * WARP) {
            bool live[UNROLL];
            Vertex vertex[UNROLL], parent[UNROLL];
            Number edge[UNROLL], slot[UNROLL], end[UNROLL];
            Offset first[UNROLL], degree[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const int place = start + k * WARP + lane_id();
                live[k] = place < count;
                const int local = live[k] ? block.list[place] : 0;
                const long long tile = origin + local / (TILE * WARP) * block.warps;
                vertex[k] = live[k] ? static_cast<Vertex>(tile * s.tile * WARP + local % (TILE * WARP)) : 0;
                edge[k] = 0;
                if (live[k]) edge[k] = s.rank[vertex[k]] & ~S::CLAIMED;
            }
            load_rows(s.offsets, live, vertex, first, degree);
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                slot[k] = s.slots[edge[k] / WARP];
                end[k] = static_cast<Number>(frontier.vertices);
                if (edge[k] / WARP < (edges - 1) / WARP) end[k] = s.slots[edge[k] / WARP + 1] + 1;
            }
            const auto are_found = [&]() {
                bool found = true;
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) found = found && end[k] - slot[k] <= 1;
                return found;
            };
            while (!are_found()) {
                Number middle[UNROLL], prefix[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    middle[k] = (slot[k] + end[k]) / 2;
                    prefix[k] = static_cast<Number>(s.queue[from + middle[k]].prefix);
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) (prefix[k] <= edge[k] ? slot[k] : end[k]) = middle[k];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                parent[k] = -1;
                if (live[k]) parent[k] = s.queued[from + slot[k]];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (!live[k]) continue;
                set_distance_and_predecessor(s, vertex[k], parent[k], level);
                siblings[vertex[k]] = sibling_group(slot[k]);
                degree[k] -= first[k];
                if (degree[k]) mark(s, length, edge[k], degree[k]);
            }
        }
        __syncwarp();
    }
}

// The sum of the counts of the warps below this one, and in `total` of all; only the first `runs` warps counted.
__device__ inline Counter base_of_warp(const Counter* counts, int runs, const Block& block, Counter& total) {
    const int each = (runs + THREADS - 1) / THREADS;
    const int first = min(static_cast<int>(threadIdx.x) * each, runs);
    const int last = min(first + each, runs);
    Counter mine = 0;
    for (int warp = first; warp < last; ++warp) mine += __ldcg(counts + warp);
    Counter base = block_exclusive_scan(mine, block.totals, total);
    for (int warp = first; warp < last; ++warp) {
        if (warp % gridDim.x == blockIdx.x) block.bases[warp / gridDim.x] = base;
        base += __ldcg(counts + warp);
    }
    __syncthreads();
    return block.bases[threadIdx.x / WARP];
}

// The third phase: append the neighbors of the marked edges to the queue, in order. Returns the new frontier, which
// follows the old one.
template <typename Vertex, typename Offset, typename Number>
__device__ Frontier append(const Search<Vertex, Offset>& s, const Run<Number>& run, const Block& block) {
    const Number new_begin = run.begin + run.vertices;
    Counter total;
    Counter base = base_of_warp(s.counts, run.runs, block, total);
    for_each_edge(s, run, s.marks,
                  [&](Number, const bool (&live)[UNROLL], const Vertex(&neighbor)[UNROLL], const Number(&)[UNROLL]) {
                      Offset first[UNROLL], degree[UNROLL];
                      load_rows(s.offsets, live, neighbor, first, degree);
#pragma unroll
                      for (int k = 0; k < UNROLL; ++k) degree[k] -= first[k];
#pragma unroll
                      for (int k = 0; k < UNROLL; ++k) {
                          if (!__ballot_sync(ALL, live[k])) continue;
                          const Counter mine = live[k] ? packed(1, degree[k], s.edge_bits) : 0;
                          const Counter inclusive = warp_inclusive_scan(mine);
                          const Frontier before = unpacked(base + inclusive - mine, s.edge_bits);
                          base += __shfl_sync(ALL, inclusive, WARP - 1);
                          if (!live[k]) continue;
                          s.rank[neighbor[k]] = static_cast<Number>(before.vertices);
                          const Offset prefix = static_cast<Offset>(before.edges);
                          const Number place = new_begin + static_cast<Number>(before.vertices);
                          s.queue[place] = {prefix, static_cast<Offset>(first[k] - prefix)};
                          s.queued[place] = neighbor[k];
                      }
                  });
    return unpacked(total, s.edge_bits);
}

// An ordered level.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void ordered_level(const Search<Vertex, Offset>& s, Traversal& at, const Block& block) {
    const auto run = run_of(s, at.begin, at.frontier, 0, at.frontier.edges, block);
    clear_marks(s, run, block);
    claim<false>(s, at.visited, run);
    end_phase(s, CLAIM, at.phase, block);
    write_in_order(s, at.visited, at.siblings, at.level, at.begin, at.frontier, block);
    end_phase(s, WRITE, at.phase, block);
    at.begin += at.frontier.vertices;
    at.frontier = append(s, run, block);
    at.reached = at.frontier.vertices;
    end_phase(s, APPEND, at.phase, block);
}
