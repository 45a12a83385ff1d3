// A bottom-up level by the whole grid.
#pragma once

#include "parameters.cuh"

constexpr int TILE = 32;                   // words of a tile, at most
constexpr int TILES = 4;                   // tiles that a warp takes at a time, at most
constexpr int LIST = TILE * WARP * 3 / 2;  // vertices of them on its list, at most

// The stages of a bottom-up level. In each, the first `count` vertices on a warp's list, by their local numbers, probe
// some of their in-neighbours: `reach` settles a vertex that found a visited one, and `keep` puts others, where wanted,
// back on the list. Its front may be overwritten, since a round has loaded its vertices by then.

// Probe the hubs.
template <typename Vertex, typename Offset, typename VertexOf, typename Reach, typename Keep>
__device__ __forceinline__ void probe_hubs(const Search<Vertex, Offset>& s, const unsigned* visited,
                                           const unsigned short* list, int count, int lane, const VertexOf& vertex_of,
                                           const Reach& reach, const Keep& keep) {
    for (int begin = 0; begin < count; begin += UNROLL * WARP) {
        int local[UNROLL];
        Vertex hub[UNROLL];
        unsigned word[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = begin + k * WARP + lane;
            local[k] = place < count ? list[place] : -1;
            hub[k] = 0;
            if (local[k] >= 0) hub[k] = __ldg(s.hub + vertex_of(local[k]));
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) word[k] = visited[word_of(hub[k])];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const bool hit = word[k] & bit_of(hub[k]);
            if (local[k] >= 0 && hit) reach(local[k], hub[k]);
            keep(local[k] >= 0 && !hit, local[k]);
        }
    }
}

// Probe the next four.
template <typename Vertex, typename Offset, typename VertexOf, typename Reach, typename Keep>
__device__ __forceinline__ void probe_heavy(const Search<Vertex, Offset>& s, const unsigned* visited,
                                            const unsigned short* list, int count, int lane, Vertex origin,
                                            const VertexOf& vertex_of, const Reach& reach, const Keep& keep) {
    for (int begin = 0; begin < count; begin += UNROLL * WARP) {
        int local[UNROLL];
        Vertex group[UNROLL][GROUP], parent[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = begin + k * WARP + lane;
            local[k] = place < count ? list[place] : -1;
            const Vertex vertex = local[k] >= 0 ? vertex_of(local[k]) : origin;
            load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group[k]);
            parent[k] = -1;
        }
        // Two at a time: where one of the first two is visited, the others need no probe.
#pragma unroll
        for (int half = 0; half < GROUP; half += 2) {
            unsigned word[UNROLL][2];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const Vertex neighbor = group[k][half + i];
                    word[k][i] = 0;
                    if (parent[k] < 0 && neighbor >= 0) word[k][i] = visited[word_of(neighbor)];
                }
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                for (int i = 1; i >= 0; --i) {
                    if (word[k][i] & bit_of(group[k][half + i])) parent[k] = group[k][half + i];
                }
            }
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (local[k] >= 0 && parent[k] >= 0) reach(local[k], parent[k]);
            keep(local[k] >= 0 && parent[k] < 0 && group[k][GROUP - 1] != -1, local[k]);
        }
    }
}

// A bottom-up level: let unvisited vertices look for the frontier. A warp takes tiles of words until it has enough
// unvisited vertices. Returns how many found the frontier, counted in the lanes. `list` has room for LIST vertices,
// `hits` for the words of TILES tiles. `mine` has the vertices that look, `visited` their in-neighbours: the same
// bitmap, unless this is one part of a graph.
template <typename Vertex, typename Offset>
__device__ unsigned bottom_up_level(const Search<Vertex, Offset>& s, const unsigned* mine, const unsigned* visited,
                                    unsigned* upcoming, int level, int warp, int warps, unsigned short* list,
                                    unsigned* hits) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int lane = lane_id();
    const int tile = static_cast<int>(s.tile), vertices_of_tile = tile * WARP;
    unsigned reached = 0;
    const auto words_of = [&](long long which) {
        const long long word = which * tile + lane;
        return lane < tile && word < words ? mine[word] : ALL;
    };

    unsigned ahead = words_of(warp);  // of the next tile
    for (long long next = warp; next * tile < words;) {
        const Vertex origin = static_cast<Vertex>(next * vertices_of_tile);
        int tiles = 0, unseen = 0;
        for (; tiles < TILES && unseen <= LIST - TILE * WARP && next * tile < words; ++tiles, next += warps) {
            const unsigned seen = ahead;
            ahead = words_of(next + warps);
            hits[tiles * TILE + lane] = seen;
            unseen += list_bits(~seen, list + unseen, tiles * TILE * WARP);
        }
        const auto vertex_of = [&](int local) {
            const int place = local % (TILE * WARP);
            return origin + static_cast<Vertex>(local / (TILE * WARP)) * (warps * vertices_of_tile) + place;
        };

        // Those without a visited in-neighbour so far stay on the list, at its front.
        int missed = 0;
        const auto reach = [&](int local, Vertex parent) {
            settle(s, vertex_of(local), parent, level);
            atomicOr(hits + local / WARP, 1u << local % WARP);
            ++reached;
        };
        const auto keep = [&](bool miss, int local) {
            const unsigned misses = __ballot_sync(ALL, miss);
            if (miss) list[missed + __popc(misses & lanes_below())] = static_cast<unsigned short>(local);
            missed += __popc(misses);
        };

        if (unseen > WARP) {
            probe_hubs(s, visited, list, unseen, lane, vertex_of, reach, keep);
            __syncwarp();

            const int without_hub = missed;
            missed = 0;
            probe_heavy(s, visited, list, without_hub, lane, origin, vertex_of, reach, keep);
        } else if (unseen > 0) {
            // Few: their hubs and the next four at once.
            const int local = lane < unseen ? list[lane] : 0;
            const Vertex vertex = lane < unseen ? vertex_of(local) : origin;
            const Vertex hub = __ldg(s.hub + vertex);
            Vertex group[GROUP];
            load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group);
            unsigned word[GROUP];
#pragma unroll
            for (int i = 0; i < GROUP; ++i) word[i] = visited[word_of(max(group[i], Vertex(0)))];
            Vertex parent = test(visited, hub) ? hub : -1;
            __syncwarp();
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                if (group[i] >= 0 && word[i] & bit_of(group[i])) parent = group[i];
            }
            if (lane < unseen && parent >= 0) reach(local, parent);
            keep(lane < unseen && parent < 0 && group[GROUP - 1] != -1, local);
        }
        __syncwarp();

        // All in-neighbours in groups, round after round; the fewer vertices are left, the more lanes each has.
        long long done = 0;  // groups of each row that were probed
        while (missed > 0) {
            const int left = missed;
            int width = 1;
            while (width < WARP && left * width * 2 <= UNROLL * WARP) width *= 2;
            const int part = lane % width;
            missed = 0;
            for (int begin = 0; begin < left; begin += UNROLL * WARP / width) {
                int local[UNROLL];
                Offset first[UNROLL], last[UNROLL];
                Vertex group[UNROLL][GROUP];
                unsigned word[UNROLL][GROUP];
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const int place = begin + (k * WARP + lane) / width;
                    local[k] = place < left ? list[place] : -1;
                    first[k] = last[k] = 0;
                    if (local[k] >= 0) {
                        const Vertex vertex = vertex_of(local[k]);
                        first[k] = __ldg(s.in_offsets + vertex);
                        last[k] = __ldg(s.in_offsets + vertex + 1);
                    }
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    load_group(s.in_targets, first[k] / GROUP + done + part, last[k], s.m, group[k]);
                }
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
                    for (int i = 0; i < GROUP; ++i) {
                        word[k][i] = visited[word_of(group[k][i])];
                    }
                }
                __syncwarp();
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    const long long place = (first[k] / GROUP + done + part) * GROUP;
                    Vertex parent = -1;
#pragma unroll
                    for (int i = GROUP - 1; i >= 0; --i) {
                        const bool inside = place + i >= first[k] && place + i < last[k];
                        if (inside && word[k][i] & bit_of(group[k][i])) parent = group[k][i];
                    }
                    const unsigned some = __ballot_sync(ALL, parent >= 0) >> (lane - part) & (ALL >> (WARP - width));
                    if (some != 0 && __ffs(some) - 1 == part) reach(local[k], parent);
                    const bool more = place + (width - part) * GROUP < last[k];
                    keep(part == 0 && some == 0 && more, local[k]);
                }
            }
            __syncwarp();
            done += width;
        }
        __syncwarp();
        for (int i = 0; i < tiles; ++i) {
            const long long word = (next - static_cast<long long>(tiles - i) * warps) * tile + lane;
            if (lane < tile && word < words) upcoming[word] = hits[i * TILE + lane];
        }
        __syncwarp();
    }
    return reached;
}
