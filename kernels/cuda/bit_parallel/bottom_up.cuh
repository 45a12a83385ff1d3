// Bottom-up levels.
#pragma once

#include "record.cuh"

// The bits of a group's word that are in the rows of the in-neighbours `edge..end - 1`: it stops when none of `missing`
// is left. To be called by the whole warp.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline Word probe(const Batch<Vertex, Offset>& b, const Word* frontier, Offset edge, Offset end,
                             Word missing, Place<WIDTH> at) {
    Word bits = 0;
    for (;;) {
        const bool going_on = at.any((missing & ~bits) != 0) && edge < end;
        if (!__any_sync(ALL, going_on)) break;
        if (going_on) {
            Vertex neighbor[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) neighbor[i] = b.in_targets[min(edge + i, end - 1)];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) bits |= frontier[at.row_word(neighbor[i])];
        }
        edge += UNROLL;
    }
    return bits & missing;
}

// Bottom-up, first phase: share out the heavy vertices, and record the others.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void sweep(const Batch<Vertex, Offset>& b, const Word* frontier, Word* upcoming, int level, Place<WIDTH> at,
                      ThreadResult<WIDTH>& mine, BlockResult<WIDTH>& block) {
    const Word wanted = __ldcg(&b.state->under_way[(level - 1) % SLOTS][at.word]);
    for (long long first = at.warp * at.GROUPS; first < b.piece_count; first += at.warps * at.GROUPS) {
        Offset edge = 0, end = 0;
        Word missing = 0;
        long long place = 0;
        if (first + at.group < b.piece_count) {
            const Piece<Vertex, Offset> piece = b.pieces[first + at.group];
            edge = piece.begin;
            end = min(static_cast<long long>(piece.begin) + PIECE,
                      static_cast<long long>(b.in_offsets[piece.vertex + 1]));
            place = at.row_word(piece.vertex);
            missing = wanted & ~(b.seen[place] | __ldcg(upcoming + place));
        }
        const Word bits = probe(b, frontier, edge, end, missing, at);
        if (bits) atomicOr(upcoming + place, bits);
    }
    for (long long first = at.warp * at.GROUPS; first < b.active; first += at.warps * at.GROUPS) {
        const Vertex vertex = static_cast<Vertex>(first + at.group);
        Offset edge = 0, end = 0;
        Word missing = 0;
        bool is_light = false;
        long long place = 0;
        if (first + at.group < b.active) {
            edge = b.in_offsets[vertex];
            end = b.in_offsets[vertex + 1];
            is_light = end - edge <= PIECE;
            place = at.row_word(vertex);
            if (is_light) missing = wanted & ~b.seen[place];
        }
        const Word bits = probe(b, frontier, edge, end, missing, at);
        const bool finds = at.any(bits != 0);
        if (is_light) upcoming[place] = bits;
        if (finds) record(b, vertex, bits, level, at, mine, block);
    }
}

// Bottom-up, second phase: record the heavy vertices, and empty their rows for the next level.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void record_heavy(const Batch<Vertex, Offset>& b, Word* frontier, const Word* upcoming, int level,
                             Place<WIDTH> at, ThreadResult<WIDTH>& mine, BlockResult<WIDTH>& block) {
    for (long long first = at.warp * at.GROUPS; first < b.heavies; first += at.warps * at.GROUPS) {
        const bool holds = first + at.group < b.heavies;
        const Vertex vertex = holds ? b.heavy[first + at.group] : 0;
        const long long place = at.row_word(vertex);
        const Word bits = holds ? __ldcg(upcoming + place) : 0;
        if (at.any(bits != 0)) record(b, vertex, bits, level, at, mine, block);
        if (holds) frontier[place] = 0;
    }
}
