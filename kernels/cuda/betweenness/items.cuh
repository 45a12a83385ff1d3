// Items: places or pieces of them, one per lane; rows of numbers; appending to lists; even division of steps over
// lanes.
#pragma once

#include "batch.cuh"

// An item of a lane: a place or a piece of it, and its sources.
template <typename Vertex, typename Offset>
struct Item {
    Vertex place = 0;
    Word bits = 0;     // none: there is nothing to do
    Offset begin = 0;  // the first of its arcs
    int arcs = 0;
    int slot = -1;  // of a piece: where it is in the arrays of partials
};

// An item, or an arc of it that adds something: the place whose row is to be read, and the sources.
template <typename Vertex>
struct alignas(16) Hit {
    Word bits;
    Vertex place;
    int owner;  // the lane that holds the item
};

// The numbers of two sources: `lane` and `lane + 32` of a word.
struct Pair {
    double low, high;
};

// A warp's shared memory.
template <typename Vertex>
struct Window {
    Hit<Vertex> hits[WARP + UNROLL];
    double shares[WARP + UNROLL];  // what each hit adds to its arc
};

__device__ inline bool low_of(Word bits) { return static_cast<unsigned>(bits) >> lane_id() & 1; }

__device__ inline bool high_of(Word bits) { return static_cast<unsigned>(bits >> WARP) >> lane_id() & 1; }

// The numbers of these sources in a row, 0 for others.
__device__ inline Pair load(const double* rows, long long row, Word bits) {
    const double* const from = rows + row * BITS + lane_id();
    Pair pair = {0, 0};
    if (low_of(bits)) pair.low = from[0];
    if (high_of(bits)) pair.high = from[WARP];
    return pair;
}

__device__ inline void store(double* rows, long long row, Word bits, Pair pair) {
    double* const to = rows + row * BITS + lane_id();
    if (low_of(bits)) to[0] = pair.low;
    if (high_of(bits)) to[WARP] = pair.high;
}

template <typename Number>
__device__ inline Number sum_over_lanes(Number value) {
    for (int step = WARP / 2; step; step /= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

// Append the lanes' values that are to be kept; `tail` counts what is behind `list`.
template <typename Value>
__device__ inline long long append(Word* tail, bool keep, Value value, Value* list) {
    const unsigned keepers = __ballot_sync(ALL, keep);
    if (keepers == 0) return 0;
    Word start = 0;
    if (lane_id() == 0) start = atomicAdd(tail, static_cast<Word>(__popc(keepers)));
    start = __shfl_sync(ALL, start, 0) + __popc(keepers & lanes_below());
    if (keep) list[start] = value;
    return start;
}

// Call visit(i) for all i below `count`, all lanes of a warp at once, -1 where there is nothing left. Neighbouring i go
// to neighbouring warps, so that the pieces of a hub do.
template <typename Visit>
__device__ inline void for_each(long long count, Visit visit) {
    const long long warp = static_cast<long long>(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    const long long warps = static_cast<long long>(gridDim.x) * WARPS;
    const long long mine = lane_id() * warps + warp;
    for (long long base = 0; base + warp < count; base += WARP * warps) visit(base + mine < count ? base + mine : -1);
}

// Call visit(inside, owner, step) for each of the lanes' `length` steps, 32 at a time, in order: it is the step of that
// number of the lane `owner`. Where none is left `inside` is false.
template <typename Visit>
__device__ inline void for_each_step(int length, Visit visit) {
    const int upto = warp_inclusive_scan(length);
    const int start = upto - length, all = __shfl_sync(ALL, upto, WARP - 1);
    for (int base = 0; base < all; base += WARP) {
        const int step = base + lane_id();
        int owner = 0;  // the last lane whose steps start at or before this
        for (int half = WARP / 2; half; half /= 2) {
            const int there = __shfl_sync(ALL, start, owner + half);
            if (there <= step) owner += half;
        }
        visit(step < all, owner, step - __shfl_sync(ALL, start, owner));
    }
}

// A place with all its arcs, unless these are so many that it comes in pieces.
template <typename Vertex, typename Offset>
__device__ inline Item<Vertex, Offset> whole(const Batch<Vertex, Offset>& b, const Offset* offsets, Vertex place,
                                             Word bits) {
    const Offset begin = offsets[place >> b.shift], end = offsets[(place >> b.shift) + 1];
    const bool light = end - begin <= PIECE;
    return {place, light ? bits : 0, begin, light ? static_cast<int>(end - begin) : 0};
}

// The piece at this slot; `bits_of(place)` tells the sources.
template <typename Vertex, typename Offset, typename BitsOf>
__device__ inline Item<Vertex, Offset> part(const Batch<Vertex, Offset>& b, const Offset* offsets,
                                            const Piece<Vertex, Offset>* pieces, long long slot, BitsOf bits_of) {
    const Piece<Vertex, Offset> piece = pieces[slot >> b.shift];
    const Vertex place = b.neighbor(piece.vertex, static_cast<Vertex>(slot));
    const Offset left = offsets[piece.vertex + 1] - piece.begin;
    return {place, bits_of(place), piece.begin, static_cast<int>(left < PIECE ? left : PIECE), static_cast<int>(slot)};
}
