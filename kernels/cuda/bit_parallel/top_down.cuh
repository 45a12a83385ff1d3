// Top-down levels, and the way back to them from bottom-up.
#pragma once

#include "record.cuh"

// Append the out-edges of the vertices that the groups of this warp hold, PIECE at a time, to the items.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void append_items(const Batch<Vertex, Offset>& b, bool holds, Vertex vertex, int level,
                                    Place<WIDTH> at) {
    Offset begin = 0, end = 0;
    if (holds) {
        begin = b.offsets[vertex];
        end = b.offsets[vertex + 1];
    }
    const unsigned mine = static_cast<unsigned>((end - begin + PIECE - 1) / PIECE);
    const unsigned upto = warp_inclusive_scan(at.word == 0 ? mine : 0);
    const unsigned all = __shfl_sync(ALL, upto, WARP - 1);
    if (all == 0) return;
    Word start = 0;
    if (at.lane == 0) start = atomicAdd(&b.state->items[level % SLOTS], static_cast<Word>(all));
    start = __shfl_sync(ALL, start, 0) + (upto - mine);
    for (unsigned i = at.word; i < mine; i += WIDTH) {
        b.items[start + i] = {begin + static_cast<Offset>(i) * PIECE, vertex};
    }
}

// Top-down, first phase: OR the rows of the items' vertices into their neighbours', and list these.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void expand(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int level, Word items,
                       Place<WIDTH> at) {
    Vertex* const found = b.found[level % 2];
    Word* const tail = &b.state->vertices[level % SLOTS];
    for (long long first = at.warp * at.GROUPS; first < items; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < items;
        Offset edge = 0, end = 0;
        Word bits = 0;
        if (holds) {
            const Piece<Vertex, Offset> item = b.items[first + at.group];
            edge = item.begin;
            end = min(static_cast<long long>(item.begin) + PIECE, static_cast<long long>(b.offsets[item.vertex + 1]));
            bits = frontier[at.row_word(item.vertex)];
        }
        for (; __any_sync(ALL, edge < end); edge += UNROLL) {
            Vertex neighbor[UNROLL];
            Word fresh[UNROLL], there[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) neighbor[i] = edge + i < end ? b.targets[edge + i] : -1;
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                fresh[i] = there[i] = 0;
                if (neighbor[i] < 0) continue;
                const long long place = at.row_word(neighbor[i]);
                there[i] = __ldcg(upcoming + place);
                fresh[i] = bits & ~(b.seen[place] | there[i]);
            }
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                if (fresh[i]) atomicOr(upcoming + at.row_word(neighbor[i]), fresh[i]);
                const bool untouched = at.any(fresh[i] != 0 && there[i] == 0);  // by others, in some word
                bool wins = false;
                if (untouched && at.word == 0 && __ldcg(b.stamps + neighbor[i]) != level) {
                    wins = atomicExch(b.stamps + neighbor[i], level) != level;
                }
                const unsigned winners = __ballot_sync(ALL, wins);
                if (winners == 0) continue;
                Word start = 0;
                if (at.lane == 0) start = atomicAdd(tail, static_cast<Word>(__popc(winners)));
                start = __shfl_sync(ALL, start, 0);
                if (wins) found[start + __popc(winners & lanes_below())] = neighbor[i];
            }
        }
    }
}

// Top-down, second phase: record what this level found, and clear the rows of the last frontier.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void record_found(const Batch<Vertex, Offset>& b, Word* frontier, const Word* upcoming, int level,
                             Word count, Word last_count, Place<WIDTH> at, ThreadResult<WIDTH>& mine,
                             BlockResult<WIDTH>& block) {
    const Vertex* const found = b.found[level % 2];
    for (long long first = at.warp * at.GROUPS; first < count; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < count;
        Vertex vertex = 0;
        if (holds) {
            vertex = found[first + at.group];
            const Word bits = __ldcg(upcoming + at.row_word(vertex));
            record(b, vertex, bits, level, at, mine, block);
        }
        append_items(b, holds, vertex, level, at);
    }
    const Vertex* const last = b.found[(level + 1) % 2];
    for (long long first = at.warp * at.GROUPS; first < last_count; first += at.warps * at.GROUPS) {
        if (first + at.group < last_count) frontier[at.row_word(last[first + at.group])] = 0;
    }
}

// Back from bottom-up: list the frontier, the vertices of the last level, and empty the rows of this one.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void list_frontier(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int last_level,
                              Place<WIDTH> at) {
    Vertex* const found = b.found[last_level % 2];
    Word* const tail = &b.state->vertices[last_level % SLOTS];
    for (long long first = at.warp * at.GROUPS; first < b.n; first += at.warps * at.GROUPS) {
        const Vertex vertex = static_cast<Vertex>(first + at.group);
        const bool inside = first + at.group < b.n;
        const long long place = at.row_word(vertex);
        const bool holds = at.any(inside && first + at.group < b.active && frontier[place] != 0);
        if (inside) upcoming[place] = 0;
        append_items(b, holds, vertex, last_level, at);
        const unsigned holders = __ballot_sync(ALL, holds && at.word == 0);
        if (holders == 0) continue;
        Word start = 0;
        if (at.lane == 0) start = atomicAdd(tail, static_cast<Word>(__popc(holders)));
        start = __shfl_sync(ALL, start, 0);
        if (holds && at.word == 0) found[start + __popc(holders & lanes_below())] = vertex;
    }
}
