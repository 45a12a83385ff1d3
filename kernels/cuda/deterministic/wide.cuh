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
    int distinct;     // in sibling groups from this one on, the first of a row need not be the first in order
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

// Settle the vertices that the first edges of an ordered frontier, from `begin` on, reached: those on the list,
// counted from `origin`.
template <typename Vertex, typename Offset>
__device__ void settle_claims(const Search<Vertex, Offset>& s, unsigned char* siblings, int level, long long begin,
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
            settle(s, vertex[k], parent[k], level);
            siblings[vertex[k]] = sibling_group(slot[k]);
        }
    }
    __syncwarp();
}

// Settle the vertices for which a probe has found the predecessor. Their sibling group is their parent's, or that of
// their parent's slot if the frontier is ordered.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void settle_found(const Search<Vertex, Offset>& s, unsigned char* next_siblings, int level,
                                             int unordered, const Block& block, const Tiles<Vertex>& tiles,
                                             const int (&local)[UNROLL], const Probe (&best)[UNROLL],
                                             const Vertex (&parent)[UNROLL], Counter& reached) {
    typename Search<Vertex, Offset>::Number slot[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        slot[k] = 0;
        if (unordered == 0 && best[k] < NOT_FOUND) slot[k] = s.rank[parent[k]];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        if (best[k] >= NOT_FOUND) continue;
        const Vertex vertex = tiles.vertex(local[k]);
        settle(s, vertex, parent[k], level);
        next_siblings[vertex] = unordered == 0 ? sibling_group(slot[k]) : siblings_of(best[k]);
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

// Load the rows of vertices on the list, from `start` on, each for `width` lanes, and the best predecessors so far.
template <typename Vertex, typename Offset, typename Number>
__device__ __forceinline__ void load_long_rows(const Search<Vertex, Offset>& s, const unsigned char* siblings,
                                               const Block& block, int start, int count, int width,
                                               const Tiles<Vertex>& tiles, int (&local)[UNROLL],
                                               bool (&is_candidate)[UNROLL], Number (&first)[UNROLL],
                                               Number (&degree)[UNROLL], Vertex (&parent)[UNROLL],
                                               Probe (&best)[UNROLL]) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int which = start + (k * WARP + lane_id()) / width;
        local[k] = which < count ? block.list[which] : -1;
        first[k] = degree[k] = 0;
        parent[k] = 0;
        is_candidate[k] = false;
        if (local[k] < 0) continue;
        const Vertex vertex = tiles.vertex(local[k] % CANDIDATE);
        first[k] = static_cast<Number>(__ldg(s.in_offsets + vertex));
        degree[k] = static_cast<Number>(__ldg(s.in_offsets + vertex + 1));
        is_candidate[k] = local[k] & CANDIDATE;
        if (is_candidate[k]) parent[k] = s.predecessors[vertex];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        degree[k] -= first[k];
        best[k] = NOT_FOUND;
        if (is_candidate[k] && lane_id() % width == 0) {
            best[k] = static_cast<Probe>(siblings[parent[k]] << PLACE_BITS);
        }
    }
}

// Record the best predecessors so far, of which each row's first lane decides, and keep the vertices whose rows are not
// finished on the list. `best` is left NOT_FOUND for these.
template <typename Vertex, typename Offset, typename Number, typename VertexAt>
__device__ __forceinline__ void keep_unfinished(const Search<Vertex, Offset>& s, const Block& block, int part,
                                                const Tiles<Vertex>& tiles, const VertexAt& vertex_at,
                                                int (&local)[UNROLL], const Number (&degree)[UNROLL],
                                                bool (&live)[UNROLL], Vertex (&parent)[UNROLL], Probe (&best)[UNROLL],
                                                int& kept) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        live[k] = degree[k] > 0 && part == 0;
        if (part > 0) best[k] = NOT_FOUND;
        if (best[k] < NOT_FOUND) parent[k] = vertex_at(k, place_of(best[k]));
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const bool found = best[k] < NOT_FOUND;
        local[k] %= CANDIDATE;
        if (live[k] && found) s.predecessors[tiles.vertex(local[k])] = parent[k];
        keep(block, kept, live[k], found ? local[k] | CANDIDATE : local[k]);
        if (live[k]) best[k] = NOT_FOUND;
    }
}

// This lane's word of a tile; `none` where it has none.
template <typename Vertex, typename Offset>
__device__ __forceinline__ unsigned word_of_tile(const Search<Vertex, Offset>& s, const unsigned* bitmap,
                                                 long long tile, unsigned none) {
    const long long word = tile * s.tile + lane_id();
    return lane_id() < s.tile && word < (s.n + WARP - 1) / WARP ? bitmap[word] : none;
}

// Collect tiles from `next` on, until there are enough unvisited vertices on the warp's list; settle what the first
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
            settle_claims(s, wide.next_siblings, wide.level, wide.begin, origin, list, list_bits(claims, list));
            reached += __popc(claims);
            seen |= claims;
        }
        block.hits[tiles.count * TILE + lane_id()] = seen;
        if (!wide.complete) unvisited += list_bits(~seen, block.list + unvisited, tiles.count * TILE * WARP);
    }
    return unvisited;
}

// Let the vertices on the list with up to four in-neighbours search these, which are in `hub` and `heavy`. The others
// stay on the list; returns how many they are.
template <typename Vertex, typename Offset>
__device__ __forceinline__ int probe_short_rows(const Search<Vertex, Offset>& s, const WideLevel& wide,
                                                const Tiles<Vertex>& tiles, int unvisited, Vertex sentinel,
                                                Counter& reached, const Block& block) {
    int left = 0;
    for (int start = 0; start < unvisited; start += UNROLL * WARP) {
        int local[UNROLL], theirs[UNROLL][GROUP];
        Vertex group[UNROLL][GROUP], hub[UNROLL], parent[UNROLL];
        bool is_short[UNROLL];
        Probe best[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = start + k * WARP + lane_id();
            local[k] = place < unvisited ? block.list[place] : -1;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const Vertex vertex = local[k] >= 0 ? tiles.vertex(local[k]) : tiles.origin;
            load_whole_group(s.heavy, vertex, group[k]);
            hub[k] = __ldg(s.hub + vertex);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            is_short[k] = local[k] >= 0 && group[k][GROUP - 1] == -1;
            group[k][GROUP - 1] = hub[k];
            best[k] = NOT_FOUND;
            sort(group[k]);
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                theirs[k][i] = wide.siblings[is_short[k] && group[k][i] >= 0 ? group[k][i] : sentinel];
            }
        }
        __syncwarp();
        const auto vertex_at = [&](int which, int place) { return element(group, which * GROUP + place - 1); };
        update_best(s, wide.unordered, wide.distinct, best, 1, group, theirs, vertex_at);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) parent[k] = element(group[k], place_of(best[k]) - 1);
        settle_found(s, wide.next_siblings, wide.level, wide.unordered, block, tiles, local, best, parent, reached);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) keep(block, left, local[k] >= 0 && !is_short[k], local[k]);
    }
    __syncwarp();
    return left;
}

// The last phase of a wide level, and the only one unless the frontier is ordered: settle what the first edges claimed,
// and then let the vertices that are still unreached search their in-neighbours, unless the level is `complete`. A warp
// collects tiles of words until it has enough of these vertices. Returns how many vertices the warp reached.
template <typename Vertex, typename Offset>
__device__ Counter sweep(const Search<Vertex, Offset>& s, WideLevel wide, const Block& block) {
    using Number = typename Search<Vertex, Offset>::Number;
    const unsigned char* const siblings = wide.siblings;
    unsigned char* const next_siblings = wide.next_siblings;
    const int level = wide.level, unordered = wide.unordered;
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id();
    const int tile = static_cast<int>(s.tile);
    const int distinct = wide.distinct = s.positions || unordered > 1 ? 0 : DISTINCT;
    if (wide.earliest >= distinct) wide.earliest = -1;
    const int earliest = wide.earliest;
    Counter reached = 0;

    unsigned prefetched = word_of_tile(s, wide.visited, block.warp, ALL);  // of the next tile
    for (long long next = block.warp; next * tile < words;) {
        Tiles<Vertex> tiles;
        const int unvisited = collect_unvisited(s, wide, next, prefetched, tiles, reached, block);

        // A vertex in no sibling group, whose byte is cached: lanes load it in place of vertices that do not count.
        const Vertex sentinel = tiles.vertex(block.list[0]);
        int left = probe_short_rows(s, wide, tiles, unvisited, sentinel, reached, block);

        // The other rows are probed a group at a time, round after round; the fewer vertices are left, the more lanes
        // each has. A row ends with a probe of the earliest sibling group.
        Number done = 0;  // groups of each row that have been probed
        while (left > 0) {
            const int width = max(unordered > 0 || earliest < 0 ? MIN_WHOLE_WIDTH : MIN_WIDTH, width_of(left));
            const int count = left;
            const int part = lane % width;
            const unsigned row = ALL >> (WARP - width) << (lane - part);  // the lanes of this lane's row
            left = 0;
            for (int start = 0; start < count; start += UNROLL * WARP / width) {
                int local[UNROLL];
                bool live[UNROLL], is_candidate[UNROLL];
                Number first[UNROLL], degree[UNROLL];  // 0 once its lanes are done
                Vertex parent[UNROLL];
                Probe best[UNROLL];
                load_long_rows(s, siblings, block, start, count, width, tiles, local, is_candidate, first, degree,
                               parent, best);
                const auto vertex_at = [&](int which, int place) {
                    const Number from = (element(first, which) / GROUP + done) * GROUP;
                    return place == 0 ? element(parent, which) : __ldg(s.in_targets + (from + place - 1));
                };
                bool unfinished = true;
                for (int step = 0; step < STEPS && unfinished; ++step) {
                    int theirs[UNROLL][GROUP];
                    Vertex group[UNROLL][GROUP];
                    Number which[UNROLL], at[UNROLL];  // the group, and where in the row it begins
                    const Number ahead = part + step * width;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        which[k] = first[k] / GROUP + done + ahead;
                        at[k] = (done + ahead) * GROUP - first[k] % GROUP;
                        live[k] = static_cast<Offset>(at[k]) < static_cast<Offset>(degree[k]);
                    }
                    load_groups(s.in_targets, live, which, s.m, group);
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                        for (int i = 0; i < GROUP; ++i) {
                            theirs[k][i] =
                                siblings[at[k] + i < degree[k] ? group[k][i] : sentinel];  // also before the row
                        }
                    }
                    __syncwarp();
                    update_best(s, unordered, distinct, best, static_cast<int>(ahead) * GROUP + 1, group, theirs,
                                vertex_at);
                    unfinished = false;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        const unsigned hits = __ballot_sync(ALL, siblings_of(best[k]) == earliest) & row;
                        if (hits || at[k] + (width - part) * GROUP >= degree[k]) degree[k] = 0;
                        unfinished = unfinished || degree[k];
                    }
                    unfinished = __any_sync(ALL, unfinished);
                }
                // The first in order of all lanes of the row, in each of them.
                for (int distance = 1; distance < width; distance *= 2) {
                    Probe other[UNROLL];
                    unsigned ties = 0;
#pragma unroll
                    for (int k = 0; k < UNROLL; ++k) {
                        other[k] = __shfl_xor_sync(ALL, best[k], distance);
                        const int theirs = siblings_of(other[k]);
                        const bool tie = theirs == siblings_of(best[k]) && theirs >= distinct && other[k] != best[k];
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
                        if (!is_earlier(s, unordered, rival, vertex_at(which, place_of(mine)))) continue;
#pragma unroll
                        for (int k = 0; k < UNROLL; ++k) best[k] = k == which ? one : best[k];
                    }
                    __syncwarp();
                }
                keep_unfinished(s, block, part, tiles, vertex_at, local, degree, live, parent, best, left);
                settle_found(s, next_siblings, level, unordered, block, tiles, local, best, parent, reached);
            }
            __syncwarp();
            done += STEPS * width;
        }
        __syncwarp();
        for (int i = 0; i < tiles.count; ++i) {
            const long long word = (next - static_cast<long long>(tiles.count - i) * block.warps) * tile + lane;
            if (lane < tile && word < words) wide.upcoming[word] = block.hits[i * TILE + lane];
        }
        __syncwarp();
    }
    return warp_sum(reached);
}
