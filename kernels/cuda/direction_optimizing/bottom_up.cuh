// A bottom-up level by the whole grid.
#pragma once

#include "parameters.cuh"

constexpr int MAX_GROUPS = 512;  // of a row that a warp probes; longer rows are left to the whole grid

// The unvisited vertices of a few tiles, on a warp's list by their local numbers. Each stage of a bottom-up level probes
// some of their in-neighbours. Those that miss stay on the list: its front may be overwritten, since a round of a stage
// has loaded its vertices by then.
template <typename Vertex, typename Offset>
struct Unvisited {
    const unsigned* visited;  // before this level
    unsigned short* list;
    unsigned* words;  // of the tiles: visited, this level included
    Vertex origin;    // the first vertex of the first tile
    Vertex stride;    // from there to that of the next tile
    int level, lane;
    int listed = 0;
    unsigned reached = 0;  // by this lane

    __device__ __forceinline__ Vertex vertex_of(int local) const {
        return origin + static_cast<Vertex>(local / (TILE * WARP)) * stride + local % (TILE * WARP);
    }

    // Start over with the list. Returns how many vertices were on it.
    __device__ __forceinline__ int take() {
        const int count = listed;
        listed = 0;
        return count;
    }

    // Mark a vertex visited, whose predecessor is a visited in-neighbour.
    __device__ __forceinline__ void reach(const Search<Vertex, Offset>& s, int local, Vertex parent) {
        set_predecessor(s, vertex_of(local), parent, level);
        atomicOr(words + local / WARP, 1u << local % WARP);
        ++reached;
    }

    __device__ __forceinline__ void keep(bool miss, int local) {
        const unsigned misses = __ballot_sync(ALL, miss);
        if (miss) list[listed + __popc(misses & lanes_below())] = static_cast<unsigned short>(local);
        listed += __popc(misses);
    }
};

// Probe the hubs.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_hubs(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u) {
    const int count = u.take();
    for (int begin = 0; begin < count; begin += UNROLL * WARP) {
        int local[UNROLL];
        Vertex hub[UNROLL];
        unsigned word[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = begin + k * WARP + u.lane;
            local[k] = place < count ? u.list[place] : -1;
            hub[k] = 0;
            if (local[k] >= 0) hub[k] = __ldg(s.hub + u.vertex_of(local[k]));
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) word[k] = u.visited[word_of(hub[k])];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const bool hit = word[k] & bit_of(hub[k]);
            if (local[k] >= 0 && hit) u.reach(s, local[k], hub[k]);
            u.keep(local[k] >= 0 && !hit, local[k]);
        }
    }
    __syncwarp();
}

// Probe the next four.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_heavy(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u) {
    const int count = u.take();
    for (int begin = 0; begin < count; begin += UNROLL * WARP) {
        int local[UNROLL];
        Vertex group[UNROLL][GROUP], parent[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = begin + k * WARP + u.lane;
            local[k] = place < count ? u.list[place] : -1;
            const Vertex vertex = local[k] >= 0 ? u.vertex_of(local[k]) : u.origin;
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
                    if (parent[k] < 0 && neighbor >= 0) word[k][i] = u.visited[word_of(neighbor)];
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
            if (local[k] >= 0 && parent[k] >= 0) u.reach(s, local[k], parent[k]);
            u.keep(local[k] >= 0 && parent[k] < 0 && group[k][GROUP - 1] != -1, local[k]);
        }
    }
    __syncwarp();
}

// Probe the hubs and the next four at once, of one vertex a lane.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_hubs_and_heavy(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u) {
    const int count = u.take();
    const int local = u.lane < count ? u.list[u.lane] : 0;
    const Vertex vertex = u.lane < count ? u.vertex_of(local) : u.origin;
    const Vertex hub = __ldg(s.hub + vertex);
    Vertex group[GROUP];
    load_group(s.heavy, vertex, GROUP * s.n, GROUP * s.n, group);
    unsigned word[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; ++i) word[i] = u.visited[word_of(max(group[i], Vertex(0)))];
    Vertex parent = test(u.visited, hub) ? hub : -1;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
        if (group[i] >= 0 && word[i] & bit_of(group[i])) parent = group[i];
    }
    if (u.lane < count && parent >= 0) u.reach(s, local, parent);
    u.keep(u.lane < count && parent < 0 && group[GROUP - 1] != -1, local);
    __syncwarp();
}

// Probe a round of all in-neighbours: one group in each of `width` lanes a row, after those `done`.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_groups(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u, int width,
                                             long long done) {
    const int part = u.lane % width;
    const int count = u.take();
    for (int begin = 0; begin < count; begin += UNROLL * WARP / width) {
        int local[UNROLL];
        Offset first[UNROLL], last[UNROLL];
        Vertex group[UNROLL][GROUP];
        unsigned word[UNROLL][GROUP];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const int place = begin + (k * WARP + u.lane) / width;
            local[k] = place < count ? u.list[place] : -1;
            first[k] = last[k] = 0;
            if (local[k] >= 0) {
                const Vertex vertex = u.vertex_of(local[k]);
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
            for (int i = 0; i < GROUP; ++i) word[k][i] = u.visited[word_of(group[k][i])];
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
            const unsigned some = __ballot_sync(ALL, parent >= 0) >> (u.lane - part) & (ALL >> (WARP - width));
            if (some != 0 && __ffs(some) - 1 == part) u.reach(s, local[k], parent);
            const bool more = place + (width - part) * GROUP < last[k];
            u.keep(part == 0 && some == 0 && more, local[k]);
        }
    }
    __syncwarp();
}

// Probe all in-neighbours, round after round; the fewer vertices are left, the more lanes each has. Those whose rows are
// longer stay on the list.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void probe_rows(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u) {
    long long done = 0;  // groups of each row that were probed
    while (u.listed > 0 && done < MAX_GROUPS) {
        int width = 1;
        while (width < WARP && u.listed * width * 2 <= UNROLL * WARP) width *= 2;
        probe_groups(s, u, width, done);
        done += width;
    }
}

// Append the vertices on the list, with their rows, to the queue from `begin` on, for `probe_long_rows`.
template <typename Vertex, typename Offset>
__device__ __forceinline__ void append_long_rows(const Search<Vertex, Offset>& s, Unvisited<Vertex, Offset>& u,
                                                 long long begin, Counter* tail) {
    const int count = u.take();
    for (int start = 0; start < count; start += WARP) {
        const bool keep[1] = {start + u.lane < count};
        const Vertex vertex[1] = {keep[0] ? u.vertex_of(u.list[start + u.lane]) : u.origin};
        Offset first[1], degree[1];
        load_rows(s.in_offsets, keep, vertex, first, degree);
        degree[0] -= first[0];
        append_to_queue(s, begin, tail, keep, vertex, first, degree);
    }
    __syncwarp();
}

// A bottom-up level: let unvisited vertices look for the frontier. A warp takes tiles of words until it has enough
// unvisited vertices. Returns how many found the frontier, counted in the lanes. Rows that are too long for a warp are
// left in the queue from `begin` on, counted in `left()`. `list` has room for LIST vertices, `hits` for the words of TILES
// tiles. `mine` has the vertices that look, `visited` their in-neighbours: the same bitmap, unless this is one part of a
// graph. The whole warp calls write(word, inside, bits) with the words of the upcoming one; lanes that are not `inside`
// have none.
template <typename Vertex, typename Offset, typename Write, typename Left>
__device__ unsigned bottom_up_level(const Search<Vertex, Offset>& s, const unsigned* mine, const unsigned* visited,
                                    const Write& write, int level, long long begin, const Left& left, int warp,
                                    int warps, unsigned short* list, unsigned* hits) {
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
        Unvisited<Vertex, Offset> u = {visited, list, hits, origin, warps * vertices_of_tile, level, lane};
        int tiles = 0;
        for (; tiles < TILES && u.listed <= LIST - TILE * WARP && next * tile < words; ++tiles, next += warps) {
            const unsigned seen = ahead;
            ahead = words_of(next + warps);
            hits[tiles * TILE + lane] = seen;
            u.listed += list_bits(~seen, list + u.listed, tiles * TILE * WARP);
        }
        if (u.listed > WARP) {
            probe_hubs(s, u);
            probe_heavy(s, u);
        } else if (u.listed > 0) {
            probe_hubs_and_heavy(s, u);
        }
        probe_rows(s, u);
        if (u.listed > 0) append_long_rows(s, u, begin, left());
        for (int i = 0; i < tiles; ++i) {
            const long long word = (next - static_cast<long long>(tiles - i) * warps) * tile + lane;
            write(word, lane < tile && word < words, hits + i * TILE + lane);
        }
        __syncwarp();
        reached += u.reached;
    }
    return reached;
}

// Probe the rows that were left in the queue from `begin` on, a run of their edges for each warp. Returns how many
// vertices found the frontier, counted in the lanes.
template <typename Vertex, typename Offset>
__device__ unsigned probe_long_rows(const Search<Vertex, Offset>& s, const unsigned* visited, unsigned* upcoming,
                                    int level, long long begin, Frontier rows, int warp, int warps) {
    const long long run = (rows.edges + warps - 1) / warps;
    const long long stop = min((warp + 1) * run, rows.edges);
    long long next = warp * run;
    if (next >= stop) return 0;
    const Entry<Offset>* const entries = s.queue + begin;
    unsigned reached = 0;
    for (long long slot = slot_of(entries, rows.vertices, next); next < stop; ++slot) {
        const Vertex vertex = s.queued[begin + slot];
        const Vertex* const row = s.in_targets + entries[slot].shift;
        long long end = stop;
        if (slot + 1 < rows.vertices) end = min(end, static_cast<long long>(entries[slot + 1].prefix));
        Vertex parent = -1;
        for (; next < end && !__any_sync(ALL, parent >= 0); next += UNROLL * WARP) {
            Vertex neighbor[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                const long long edge = next + k * WARP + lane_id();
                neighbor[k] = edge < end ? __ldg(row + edge) : -1;
            }
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                if (neighbor[k] >= 0 && test(visited, neighbor[k])) parent = neighbor[k];
            }
        }
        const unsigned hits = __ballot_sync(ALL, parent >= 0);
        if (hits && lane_id() == __ffs(hits) - 1 && !test_and_set(upcoming, vertex)) {
            set_predecessor(s, vertex, parent, level);
            ++reached;
        }
        next = end;
    }
    return reached;
}
