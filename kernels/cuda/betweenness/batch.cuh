// Betweenness: its parameters, and what the blocks share. search.cu says what each array holds.
#pragma once

#include "../common/grid.cuh"
#include "../common/warp.cuh"

constexpr int BITS = 64;    // sources of a word, numbers of a row
constexpr int PIECE = 128;  // arcs of an item, at most; as in kernels/batch.py
constexpr int UNROLL = 4;   // rows that a warp has in flight
constexpr int FRONTS = 4;   // levels whose fronts are kept
constexpr int SLOTS = 4;    // levels whose counters are kept
constexpr int WARPS = THREADS / WARP;

using Word = unsigned long long;

template <typename Vertex, typename Offset>
struct Piece {
    Offset begin;   // the first of the arcs
    Vertex vertex;  // whose they are
};

// What the blocks share. A level counts into the slot level % SLOTS; it is emptied a level before.
struct State {
    int levels;                     // of the search that is done, or given up
    alignas(128) unsigned arrived;  // blocks at the barrier; its top bit changes when all have come
    alignas(128) Word found[SLOTS];
    alignas(128) Word logged[SLOTS];
    alignas(128) Word arcs[SLOTS];  // out of the places logged
};

template <typename Vertex, typename Offset>
struct Batch {
    const Offset* offsets;
    const Vertex* targets;
    const Offset* in_offsets;
    const Vertex* in_targets;
    const Piece<Vertex, Offset>* pieces;
    const Piece<Vertex, Offset>* in_pieces;
    const Vertex* sources;
    const bool* is_target;
    double* rows;
    Word* seen;
    Word* fronts;
    Vertex* found;
    Vertex* log;
    Word* log_bits;
    long long* begins;
    double* partials;
    Word* partial_bits;
    Word* arrivals;
    double* sums;
    double* scores;
    State* state;
    long long n, m, k, shift;
    long long piece_count, in_piece_count;
    long long endpoints, edges;
    long long alpha;        // every place pulls when the frontier has more than 1/alpha of the arcs
    long long most_levels;  // after which the search is given up

    __device__ long long places() const { return n << shift; }

    __device__ Word* front(int level) const { return fronts + (level + FRONTS) % FRONTS * places(); }

    // The sources that there are in a place's word.
    __device__ Word sources_of(Vertex place) const {
        const long long count = k - static_cast<long long>(word_of(place)) * BITS;
        return count >= BITS ? ~Word(0) : count > 0 ? (Word(1) << count) - 1 : 0;
    }

    __device__ Vertex word_of(Vertex place) const { return place & ((Vertex(1) << shift) - 1); }

    // The place of a vertex that has the same sources as `place`.
    __device__ Vertex neighbor(Vertex vertex, Vertex place) const { return vertex << shift | word_of(place); }
};
