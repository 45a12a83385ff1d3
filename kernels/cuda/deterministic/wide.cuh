// Wide levels: the first edges of an ordered frontier are expanded, and then each vertex that is still unreached
// searches its in-neighbours for the first of the frontier.
#pragma once

#include "ordered.cuh"
#include "probe.cuh"

constexpr int CANDIDATE = 1 << 15;  // on the warp's list: the vertex has a predecessor, perhaps not the first
constexpr int MIN_WIDTH = 2;        // lanes that probe a row together, at least,
constexpr int MIN_WHOLE_WIDTH = 4;  // and where few rows end early

// What all warps know of a wide level.
struct WideLevel {
    const unsigned* visited;        // by earlier levels
    unsigned* upcoming;             // by them and this one
    const unsigned char* siblings;  // of the frontier
    unsigned char* next_siblings;
    int level;
    int unordered;    // how many levels above the frontier the last ordered one is,
    long long begin;  // which is in the queue from here on
    bool claimed;     // have first edges been expanded,
    bool complete;    // and were they all?
    int earliest;     // the frontier has no vertex of a sibling group before it that an unvisited vertex is adjacent to
    int distinct;     // from this sibling group on, the first of a group in a row need not be the first in order
};

// The tiles of bitmap words that a warp searches at a time. The list has their vertices as numbers, TILE * WARP a tile.
template <typename Vertex>
struct Tiles {
    Vertex origin;  // the first vertex
    int stride;     // from the first vertex of a tile to that of the next
    int count;

    __device__ Vertex vertex(int local) const {
        const int place = local % (TILE * WARP);
        return origin + static_cast<Vertex>(local / (TILE * WARP)) * stride + place;
    }
};

// Write the vertices that the first edges of an ordered frontier, from `begin` on, reached: those on the list,
// counted from `origin`.
template <typename Vertex, typename Offset>
__device__ void write_claimed(const Search<Vertex, Offset>& s, unsigned char* siblings, int level, long long begin,
                              Vertex origin, const unsigned short* list, int count) {
    using S = Search<Vertex, Offset>;
    for (int start = 0; start < count; start += UNROLL * WARP) {
        Vertex vertex[UNROLL], parent[UNROLL];
        typename S::Number slot[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = start + k * WARP + lane_id();
            vertex[k] = place < count ? origin + list[place] : -1;
            slot[k] = 0;
            if (vertex[k] >= 0) slot[k] = s.rank[vertex[k]] & ~S::CLAIMED;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            parent[k] = -1;
            if (vertex[k] >= 0) parent[k] = s.queued[begin + slot[k]];
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (vertex[k] < 0) continue;
            set_distance_and_predecessor(s, vertex[k], parent[k], level);
            siblings[vertex[k]] = sibling_group(slot[k]);
        }
    }
    __syncwarp();
}

// Write the vertices for which a probe has found the predecessor. Their sibling group is their parent's, or that of
// their parent's slot if the frontier is ordered.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void write_found(const Search<Vertex, Offset>& s, const WideLevel& wide,
                                            const Tiles<Vertex>& tiles, const int (&local)[UNROLL],
                                            const Probe (&best)[UNROLL], const Vertex (&parent)[UNROLL],
                                            Counter& reached, const Block& block) {
    typename Search<Vertex, Offset>::Number slot[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        slot[k] = 0;
        if (wide.unordered == 0 && best[k] < NOT_FOUND) slot[k] = s.rank[parent[k]];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        if (best[k] >= NOT_FOUND) continue;
        const Vertex vertex = tiles.vertex(local[k]);
        set_distance_and_predecessor(s, vertex, parent[k], wide.level);
        wide.next_siblings[vertex] = wide.unordered == 0 ? sibling_group(slot[k]) : siblings_of(best[k]);
        atomicOr(block.hits + local[k] / WARP, 1u << local[k] % WARP);
        ++reached;
    }
}

// Move vertices that are not finished to the front of the warp's list.
__device__ __forceinline__ void keep(const Block& block, int& kept, bool unfinished, int local) {
    const unsigned lanes = __ballot_sync(ALL, unfinished);
    if (unfinished) block.list[kept + __popc(lanes & lanes_below())] = static_cast<unsigned short>(local);
    kept += __popc(lanes);
}

// How many lanes each of so many rows may have, so that UNROLL * WARP lanes suffice; a power of two.
__device__ inline int width_of(int count) {
    int width = 1;
    while (width < WARP && count * width * 2 <= UNROLL * WARP) width *= 2;
    return width;
}

// Rows of in-neighbours that a warp probes: UNROLL a lane, each by some adjacent lanes.
template <typename Vertex, typename Number>
struct Rows {
    int local[UNROLL];  // the vertices, as on the list; -1: none
    Number first[UNROLL];
    Number degree[UNROLL];  // 0 once the row's lanes are done
    Vertex parent[UNROLL];  // the best predecessor of earlier rounds, if any
    Probe best[UNROLL];
};

// Load the rows of vertices on the list, from `start` on, each for `width` lanes, and the best predecessors so far.
template <typename Vertex, typename Offset, typename Number>
__device__ __forceinline__ void load_probed_rows(const Search<Vertex, Offset>& s, const WideLevel& wide,
                                                 const Tiles<Vertex>& tiles, int start, int count, int width,
                                                 Rows<Vertex, Number>& rows, const Block& block) {
    bool is_candidate[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int which = start + (k * WARP + lane_id()) / width;
        const int local = rows.local[k] = which < count ? block.list[which] : -1;
        rows.first[k] = rows.degree[k] = 0;
        rows.parent[k] = 0;
        is_candidate[k] = false;
        if (local < 0) continue;
        const Vertex vertex = tiles.vertex(local % CANDIDATE);
        rows.first[k] = static_cast<Number>(__ldg(s.in_offsets + vertex));
        rows.degree[k] = static_cast<Number>(__ldg(s.in_offsets + vertex + 1));
        is_candidate[k] = local & CANDIDATE;
        if (is_candidate[k]) rows.parent[k] = s.predecessors[vertex];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        rows.degree[k] -= rows.first[k];
        rows.best[k] = NOT_FOUND;
        if (is_candidate[k] && lane_id() % width == 0) {
            rows.best[k] = static_cast<Probe>(wide.siblings[rows.parent[k]] << PLACE_BITS);
        }
    }
}

// Probe up to so many groups a lane, from group `done` of each row on. A row ends with a probe of the earliest sibling
// group.
template <typename Vertex, typename Offset, typename Number, typename VertexAt>
__device__ __forceinline__ void probe_groups(const Search<Vertex, Offset>& s, const WideLevel& wide, Number done,
                                             int steps, int width, Vertex sentinel, Rows<Vertex, Number>& rows,
                                             const VertexAt& vertex_at) {
    const int part = lane_id() % width;
    const unsigned lanes = ALL >> (WARP - width) << (lane_id() - part);  // of this lane's row
    bool unfinished = true;
    for (int step = 0; step < steps && unfinished; ++step) {
        int theirs[UNROLL][GROUP];
        Vertex group[UNROLL][GROUP];
        bool live[UNROLL];
        Number which[UNROLL], at[UNROLL];  // the group, and where in the row it begins
        const Number ahead = part + step * width;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            which[k] = rows.first[k] / GROUP + done + ahead;
            at[k] = (done + ahead) * GROUP - rows.first[k] % GROUP;
            live[k] = static_cast<Offset>(at[k]) < static_cast<Offset>(rows.degree[k]);
        }
        load_groups(s.in_targets, live, which, s.m, group);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {  // `at` may also be before the row
                theirs[k][i] = wide.siblings[at[k] + i < rows.degree[k] ? group[k][i] : sentinel];
            }
        }
        __syncwarp();
        update_best(s, wide.unordered, wide.distinct, rows.best, static_cast<int>(ahead) * GROUP + 1, group, theirs,
                    vertex_at);
        unfinished = false;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned hits = __ballot_sync(ALL, siblings_of(rows.best[k]) == wide.earliest) & lanes;
            if (hits || at[k] + (width - part) * GROUP >= rows.degree[k]) rows.degree[k] = 0;
            unfinished = unfinished || rows.degree[k];
        }
        unfinished = __any_sync(ALL, unfinished);
    }
}

// Give each lane the first in order of all lanes of its row.
template <typename Vertex, typename Offset, typename VertexAt>
__device__ __forceinline__ void share_best(const Search<Vertex, Offset>& s, const WideLevel& wide, int width,
                                           Probe (&best)[UNROLL], const VertexAt& vertex_at) {
    for (int distance = 1; distance < width; distance *= 2) {
        Probe other[UNROLL];
        unsigned ties = 0;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            other[k] = __shfl_xor_sync(ALL, best[k], distance);
            const int theirs = siblings_of(other[k]);
            const bool tie = theirs == siblings_of(best[k]) && theirs >= wide.distinct && other[k] != best[k];
            if (tie && theirs < NO_SIBLINGS) {
                ties |= 1u << k;
            } else {
                best[k] = min(best[k], other[k]);
            }
        }
        for (; ties; ties &= ties - 1) {
            const int which = __ffs(ties) - 1;
            const Probe one = element(other, which), mine = element(best, which);
            const Vertex rival = vertex_at(which, place_of(one));
            if (!is_earlier(s, wide.unordered, rival, vertex_at(which, place_of(mine)))) continue;
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) best[k] = k == which ? one : best[k];
        }
        __syncwarp();
    }
}

// Record the best predecessors so far, of which each row's first lane decides, and keep the vertices whose rows are not
// finished on the list. `best` is left NOT_FOUND for these.
template <typename Vertex, typename Offset, typename Number, typename VertexAt>
__device__ __forceinline__ void keep_unfinished(const Search<Vertex, Offset>& s, const Tiles<Vertex>& tiles, int width,
                                                Rows<Vertex, Number>& rows, const VertexAt& vertex_at, int& kept,
                                                const Block& block) {
    const int part = lane_id() % width;
    bool live[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        live[k] = rows.degree[k] > 0 && part == 0;
        if (part > 0) rows.best[k] = NOT_FOUND;
        if (rows.best[k] < NOT_FOUND) rows.parent[k] = vertex_at(k, place_of(rows.best[k]));
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const bool found = rows.best[k] < NOT_FOUND;
        const int local = rows.local[k] %= CANDIDATE;
        if (live[k] && found) s.predecessors[tiles.vertex(local)] = rows.parent[k];
        keep(block, kept, live[k], found ? local | CANDIDATE : local);
        if (live[k]) rows.best[k] = NOT_FOUND;
    }
}

// This lane's word of a tile; `none` where it has none.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned word_of_tile(const Search<Vertex, Offset>& s, const unsigned* bitmap,
                                                 long long tile, unsigned none) {
    const long long word = tile * s.tile + lane_id();
    return lane_id() < s.tile && word < (s.n + WARP - 1) / WARP ? bitmap[word] : none;
}

// Collect tiles from `next` on, until there are enough unvisited vertices on the warp's list; write what the first
// edges claimed there. `prefetched` is the lane's word of tile `next`. Returns how many are on the list.
template <typename Vertex, typename Offset>
__device__ __forceinline__ int collect_unvisited(const Search<Vertex, Offset>& s, const WideLevel& wide,
                                                 long long& next, unsigned& prefetched, Tiles<Vertex>& tiles,
                                                 Counter& reached, const Block& block) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int tile = static_cast<int>(s.tile), vertices_of_tile = tile * WARP;
    int unvisited = 0;
    tiles = {static_cast<Vertex>(next * vertices_of_tile), block.warps * vertices_of_tile, 0};
    for (; tiles.count < TILES && unvisited <= LIST - TILE * WARP && next * tile < words;
         ++tiles.count, next += block.warps) {
        unsigned seen = prefetched;
        prefetched = word_of_tile(s, wide.visited, next + block.warps, ALL);
        if (wide.claimed) {
            const unsigned claims = word_of_tile(s, s.fresh, next, 0);
            if (claims) s.fresh[next * tile + lane_id()] = 0;
            unsigned short* const list = block.list + unvisited;
            const Vertex origin = static_cast<Vertex>(next * vertices_of_tile);
            write_claimed(s, wide.next_siblings, wide.level, wide.begin, origin, list, list_bits(claims, list));
            reached += __popc(claims);
            seen |= claims;
        }
        block.hits[tiles.count * TILE + lane_id()] = seen;
        if (!wide.complete) unvisited += list_bits(~seen, block.list + unvisited, tiles.count * TILE * WARP);
    }
    return unvisited;
}

// Let the vertices on the list search their rows, a group at a time, round after round. The fewer vertices are left, the
// more lanes each has. Where degrees differ, most rows are short or soon end: so the first round is.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_rows(const Search<Vertex, Offset>& s, const WideLevel& wide,
                                           const Tiles<Vertex>& tiles, int left, Vertex sentinel, Counter& reached,
                                           const Block& block) {
    using Number = typename Search<Vertex, Offset>::Number;
    Number done = 0;  // groups of each row that have been probed
    while (left > 0) {
        const bool briefly = done == 0 && !s.alike;
        const int steps = briefly ? FIRST_STEPS : STEPS;
        const int min_width = briefly ? 1 : wide.unordered > 0 || wide.earliest < 0 ? MIN_WHOLE_WIDTH : MIN_WIDTH;
        const int width = max(min_width, width_of(left));
        const int count = left;
        left = 0;
        for (int start = 0; start < count; start += UNROLL * WARP / width) {
            Rows<Vertex, Number> rows;
            const auto vertex_at = [&](int which, int place) {
                const Number from = (element(rows.first, which) / GROUP + done) * GROUP;
                return place == 0 ? element(rows.parent, which) : __ldg(s.in_targets + (from + place - 1));
            };
            load_probed_rows(s, wide, tiles, start, count, width, rows, block);
            probe_groups(s, wide, done, steps, width, sentinel, rows, vertex_at);
            share_best(s, wide, width, rows.best, vertex_at);
            keep_unfinished(s, tiles, width, rows, vertex_at, left, block);
            write_found(s, wide, tiles, rows.local, rows.best, rows.parent, reached, block);
        }
        __syncwarp();
        done += steps * width;
    }
    __syncwarp();
}

// The last phase of a wide level, and the only one unless the frontier is ordered: write what the first edges claimed,
// and then let the vertices that are still unreached search their in-neighbours, unless the level is `complete`. A warp
// collects tiles of words until it has enough of these vertices. Returns how many vertices the warp reached.
template <typename Vertex, typename Offset>
__device__ Counter sweep(const Search<Vertex, Offset>& s, const WideLevel& wide, const Block& block) {
    const long long words = (s.n + WARP - 1) / WARP;
    Counter reached = 0;
    unsigned prefetched = word_of_tile(s, wide.visited, block.warp, ALL);  // of the next tile
    for (long long next = block.warp; next * s.tile < words;) {
        Tiles<Vertex> tiles;
        const int unvisited = collect_unvisited(s, wide, next, prefetched, tiles, reached, block);

        // A vertex in no sibling group, whose byte is cached: lanes load it in place of vertices that do not count.
        const Vertex sentinel = tiles.vertex(block.list[0]);
        probe_rows(s, wide, tiles, unvisited, sentinel, reached, block);

        for (int i = 0; i < tiles.count; ++i) {
            const long long word = (next - static_cast<long long>(tiles.count - i) * block.warps) * s.tile + lane_id();
            if (lane_id() < s.tile && word < words) wide.upcoming[word] = block.hits[i * TILE + lane_id()];
        }
        __syncwarp();
    }
    return warp_sum(reached);
}

// Expand a run of first edges: in passes over ranges of targets whose ranks the L2 holds, where that is faster.
template <typename Vertex, typename Offset, typename Number>
__device__ __forceinline__ void claim_by_slot(const Search<Vertex, Offset>& s, const unsigned* reached, bool in_passes,
                                              const Run<Number>& run) {
    if (!in_passes) return claim<true>(s, reached, run);
    const long long count = (s.n + s.passes - 1) / s.passes;
    for (long long first = 0; first < s.n; first += count) {
        const Range<Vertex> range = {static_cast<Vertex>(first), static_cast<Vertex>(count)};
        claim<true, true>(s, reached, run, range);
    }
}

// Expand the first edges of an ordered frontier in chunks, the neighbors of each left out of the next. Returns how many
// edges these are; sets the earliest sibling group that the others lead from.
template <typename Vertex, typename Offset>
__device__ __forceinline__ long long expand_first_edges(const Search<Vertex, Offset>& s, Traversal& at, int& earliest,
                                                        const Block& block) {
    const Frontier frontier = at.frontier;
    const long long words = (s.n + WARP - 1) / WARP;
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    long long before_large = frontier.edges;
    if (!s.positions && !s.alike) {
        find_large_siblings(s, at.siblings, at.begin, frontier, at.unexplored / s.large,
                            &s.state->counters[at.phase % 3]);
        end_phase(s, LARGE_SIBLINGS, at.phase, block);
        before_large -= block.result->counted >> SIBLINGS_BITS;
        earliest = block.result->counted % (1 << SIBLINGS_BITS);
    }
    const long long share = (before_large < frontier.edges ? 2 : 1) * at.unexplored / s.share;
    long long last = min(max(share, s.chunk), before_large);
    last = min(frontier.edges, (last + WARP - 1) / WARP * WARP);
    const bool in_passes = s.passes > 1 && s.alike && last > s.n;  // else most targets are visited already
    long long from = 0, to = min(last, max((last / (GROWTH * GROWTH) / WARP + 1) * WARP, s.chunk));
    for (const unsigned* so_far = at.visited; from < last; so_far = at.other) {
        if (from > 0) {
            for (long long word = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x; word < words;
                 word += threads) {
                at.other[word] = at.visited[word] | s.fresh[word];
            }
            end_phase(s, MERGE, at.phase, block);
        }
        claim_by_slot(s, so_far, in_passes, run_of(s, at.begin, frontier, from, to, block));
        end_phase(s, FIRST_EDGES, at.phase, block);
        from = to;
        to = min(last, GROWTH * to);
    }
    if (last < before_large) {  // the sibling group of the first edge that is left
        earliest = at.siblings[s.queued[at.begin + slot_of(s.queue + at.begin, frontier.vertices, last)]];
    }
    return last;
}

// A wide level.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void wide_level(const Search<Vertex, Offset>& s, Traversal& at, const Block& block) {
    int earliest = 0;
    const long long first_edges = at.unordered == 0 ? expand_first_edges(s, at, earliest, block) : 0;
    const bool complete = at.unordered == 0 && first_edges == at.frontier.edges;
    const int distinct = s.positions || at.unordered > 1 ? 0 : DISTINCT;
    if (earliest >= distinct) earliest = -1;
    const WideLevel wide = {at.visited, at.other,        at.siblings, at.other_siblings, at.level, at.unordered,
                            at.begin,   first_edges > 0, complete,    earliest,          distinct};
    const Counter by_warp = sweep(s, wide, block);
    Counter by_block;
    block_exclusive_scan(lane_id() == 0 ? by_warp : 0, block.totals, by_block);
    if (threadIdx.x == 0 && by_block) atomicAdd(&s.state->counters[at.phase % 3], by_block);
    end_phase(s, SWEEP, at.phase, block);
    at.reached = block.result->counted;
    swap(at.visited, at.other);
    swap(at.siblings, at.other_siblings);
    ++at.unordered;
}
