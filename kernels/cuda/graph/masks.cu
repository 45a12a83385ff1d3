// Masks of vertices and of arcs: bitmaps of them, and a CSR with the arcs that pass them.
//
// A filter finds which arcs it keeps, a bit each, and counts them: `kept_arcs` leaves the number of each run of arcs,
// which the host adds up, and of each word of the run those in the words before it. By these ranks offsets are moved
// and columns compacted, in the order of the arcs.
//
//   allowed[n], edges[m]        masks of the vertices and of the arcs, a byte each, 0 where it leaves one out
//   barred[words of n]          bitmap of the vertices that may not be entered
//   offsets[n + 1], targets[m]  the CSR
//   kept[words of m]            bitmap of the arcs that are kept; 0 past the last
//   ranks[words of m]           arcs kept by the words before this one, of the same run of LONG_RUN arcs
//   counts[runs]                arcs kept in each run
//   starts[runs + 1]            arcs kept in all runs before this one; the last: in all runs
//
// Work: a pass over the mask, and over the targets if vertices are barred, with one bit test for each arc out of
// others; then a pass over each column. A warp takes a run of arcs, however many rows it has, so that hubs are shared.
// Synchronisation: none but the end of each kernel. Races: none.

#include "../common/mask.cuh"
#include "rows.cuh"

constexpr int UNROLL = 4;  // words that a warp has in flight

// Fill `barred`, with the isolated vertices too unless that is null.
__global__ void bar(const unsigned char* allowed, long long n, const unsigned* isolated, unsigned* barred) {
    for (long long word = thread_of_grid(); word * WARP < n; word += threads_of_grid()) {
        barred[word] = ~word_of_mask(allowed, word * WARP, n) | (isolated ? isolated[word] : 0);
    }
}

// Rows along a run of arcs, and which of them are barred. All lanes of a warp call its functions together.
template <typename Vertex, typename Offset>
struct BarredRows {
    RowWindow<Offset> window;
    const unsigned* barred;
    long long base;          // the vertex of the first row
    bool is_barred = false;  // the row of this lane

    __device__ void seek(long long arc) {
        window.seek(arc);
        look();
    }

    // Those of the arcs from `first` to `end`, at most 32, that do not leave a barred row, as bits.
    __device__ unsigned others(long long first, long long end) {
        unsigned bits = 0;
        for (;;) {
            const long long from = max(window.begin - first, 0ll), to = min(window.end - first, 32ll);
            const unsigned row = from < to ? ALL >> (WARP - (to - from)) << from : 0;
            bits |= warp_reduce_or(is_barred ? 0 : row);
            if (window.last() >= end) return bits;
            window.advance();
            look();
        }
    }

private:
    __device__ void look() {
        const long long row = window.row + lane_id();
        is_barred = row >= window.n || test(barred, static_cast<Vertex>(base + row));
    }
};

// Of 32 words of arcs from `first` on, each in a lane, those whose ends are not barred.
template <typename Vertex, typename Offset>
__device__ inline unsigned without_barred(BarredRows<Vertex, Offset>& rows, const Vertex* targets, long long m,
                                          long long first, unsigned mine) {
    unsigned left = 0;
    for (int i = 0; i < WARP && first + i * WARP < m; i += UNROLL) {
        Vertex target[UNROLL];
        bool keep[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long arc = first + (i + k) * WARP + lane_id();
            target[k] = arc < m ? targets[arc] : 0;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long word = first + (i + k) * WARP;
            unsigned bits = __shfl_sync(ALL, mine, i + k);
            if (bits) bits &= rows.others(word, min(word + WARP, m));
            keep[k] = bits >> lane_id() & 1;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) keep[k] = keep[k] && !test(rows.barred, target[k]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned bits = __ballot_sync(ALL, keep[k]);
            if (lane_id() == i + k) left = bits;
        }
    }
    return left;
}

// Fill `kept`, `ranks` and `counts`. Each of the masks may be null. The first row is that of the vertex `base`.
template <typename Vertex, typename Offset>
__global__ void kept_arcs(const Offset* offsets, const Vertex* targets, long long n, long long m, long long base,
                          const unsigned char* edges, const unsigned* barred, unsigned* kept, unsigned short* ranks,
                          long long* counts) {
    const long long warps = threads_of_grid() / WARP;
    for (long long run = thread_of_grid() / WARP; run * LONG_RUN < m; run += warps) {
        BarredRows<Vertex, Offset> rows = {{offsets, n, m}, barred, base};
        if (barred) rows.seek(run * LONG_RUN);
        int before = 0;
        for (int begin = 0; begin < LONG_RUN && run * LONG_RUN + begin < m; begin += WARP * WARP) {
            const long long first = run * LONG_RUN + begin, word = first / WARP + lane_id();
            unsigned mine = word * WARP < m ? ALL : 0;
            if (mine && edges) mine = word_of_mask(edges, word * WARP, m);
            if (mine && m - word * WARP < WARP) mine &= ALL >> (WARP - (m - word * WARP));
            if (barred) mine = without_barred(rows, targets, m, first, mine);
            const int upto = before + warp_inclusive_scan(__popc(mine));
            if (word * WARP < m) {
                kept[word] = mine;
                ranks[word] = static_cast<unsigned short>(upto - __popc(mine));
            }
            before = __shfl_sync(ALL, upto, WARP - 1);
        }
        if (lane_id() == 0) counts[run] = before;
    }
}

// Where the offsets of a CSR of m arcs are among those that are kept.
template <typename Offset>
__global__ void move_offsets(const Offset* offsets, long long count, long long m, const unsigned* kept,
                             const unsigned short* ranks, const long long* starts, Offset* moved) {
    for (long long i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const long long arc = offsets[i], word = arc / WARP;
        long long place = starts[(m + LONG_RUN - 1) / LONG_RUN];
        if (arc < m) place = starts[arc / LONG_RUN] + ranks[word] + __popc(kept[word] & ((1u << arc % WARP) - 1));
        moved[i] = static_cast<Offset>(place);
    }
}

// The values of the m arcs that are kept.
template <typename Value>
__global__ void compact(const Value* values, long long m, const unsigned* kept, const unsigned short* ranks,
                        const long long* starts, Value* compacted) {
    const long long step = threads_of_grid() / WARP * UNROLL, lane = lane_id();
    for (long long first = thread_of_grid() / WARP * UNROLL; first * WARP < m; first += step) {
        unsigned bits[UNROLL];
        long long place[UNROLL];
        Value value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long word = first + k;
            bits[k] = word * WARP < m ? __ldg(kept + word) : 0;
            place[k] = bits[k] ? __ldg(starts + word * WARP / LONG_RUN) + __ldg(ranks + word) : 0;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            value[k] = Value();
            if (bits[k] >> lane & 1) value[k] = values[(first + k) * WARP + lane];
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (bits[k] >> lane & 1) compacted[place[k] + __popc(bits[k] & lanes_below())] = value[k];
        }
    }
}
