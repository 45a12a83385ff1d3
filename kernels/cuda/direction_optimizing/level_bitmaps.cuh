// Bitmaps that levels without a queue leave behind, and what is made of them: distances, or a queue again.
#pragma once

#include "parameters.cuh"

// Bitmaps of the vertices visited so far, each with all of the one before. A level without a queue adds one and leaves
// its distances to `write_distances`; levels with a queue write theirs at once, and all go on in one bitmap.
struct BitmapRing {
    unsigned* bitmaps;
    long long words;
    int* levels;  // of each bitmap's vertices that are not in the one before; SKIP if their distances are written
    int oldest, newest;

    __device__ unsigned* at(int place) const { return bitmaps + place % BITMAPS * ((words + 3) / 4 * 4); }
    __device__ unsigned* visited() const { return at(newest); }
    __device__ bool is_full() const { return newest - oldest == BITMAPS - 2; }
    __device__ unsigned* add(int level) {
        ++newest;
        if (threadIdx.x == 0) levels[newest % BITMAPS] = level;
        return visited();
    }
};

// Words of the bitmaps that a warp takes at a time, so that all warps have some.
__device__ inline int words_at_a_time(long long tile) { return max(4, min(2 * static_cast<int>(tile), WARP)); }

// Write the distances that the levels without a queue left open, and `unreached` for vertices in no bitmap, unless that
// is SKIP. `with_isolated`: also the distances of those that are `never_reached`, since memory is faster at whole runs.
// `clear`: also -1 for the predecessors of vertices in no bitmap, and of those never reached if the arrays are `fresh`
// or the search has a mask. To be called by whole blocks.
template <bool MASKED, typename Vertex, typename Offset>
__device__ void write_distances(const Search<Vertex, Offset>& s, const BitmapRing& ring, int unreached,
                                bool with_isolated, bool clear, int warp, int warps) {
    __shared__ int distances[BITMAPS + 1];  // by the number of bitmaps that do not have the vertex; BITMAPS: isolated
    const int lane = lane_id();
    const int bitmaps = ring.newest - ring.oldest + 1;
    const bool clear_isolated = MASKED || s.fresh;
    __syncthreads();
    if (threadIdx.x <= bitmaps || threadIdx.x == BITMAPS) {
        distances[threadIdx.x] = threadIdx.x == 0         ? SKIP
                                 : threadIdx.x == BITMAPS ? static_cast<int>(s.unreached)
                                 : threadIdx.x == bitmaps ? unreached
                                                          : ring.levels[(ring.oldest + threadIdx.x) % BITMAPS];
    }
    __syncthreads();
    const int width = words_at_a_time(s.tile);
    for (long long start = static_cast<long long>(warp) * width; start < ring.words; start += warps * width) {
        const bool inside = lane < width && start + lane < ring.words;
        unsigned bits[BITMAPS - 1];
#pragma unroll
        for (int i = 0; i < BITMAPS - 1; ++i) {
            bits[i] = ALL;
            if (i < bitmaps && inside) bits[i] = __ldcg(ring.at(ring.oldest + i) + start + lane);
        }
        const unsigned isolated = with_isolated && inside ? __ldcg(never_reached<MASKED>(s) + start + lane) : 0;
        // How many bitmaps do not have the vertex, of which an isolated one lacks none: a word for each binary digit.
        unsigned digits[4] = {0, 0, 0, isolated};
#pragma unroll
        for (int i = 0; i < BITMAPS - 1; ++i) {
            unsigned carry = ~bits[i];
#pragma unroll
            for (int digit = 0; digit < 3; ++digit) {
                const unsigned both = digits[digit] & carry;
                digits[digit] ^= carry;
                carry = both;
            }
        }
        const unsigned open = digits[0] | digits[1] | digits[2] | digits[3];
        // Four vertices per lane: 8 lanes take a word.
        for (int first = 0; first < width; first += 4) {
            if (!__ballot_sync(ALL, open != 0 && lane / 4 == first / 4)) continue;
            const int which = first + lane / 8;
            const int shift = lane % 8 * 4;
            unsigned lacking = 0;  // a byte per vertex
#pragma unroll
            for (int digit = 0; digit < 4; ++digit) {
                const unsigned four = __shfl_sync(ALL, digits[digit], which) >> shift & 15;
                lacking += (four * 0x00204081 & 0x01010101) << digit;
            }
            const long long vertex = (start + which) * WARP + shift;
            int distance[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) distance[i] = distances[lacking >> 8 * i & 255];
            const bool all = distance[0] != SKIP && distance[1] != SKIP && distance[2] != SKIP && distance[3] != SKIP;
            if (all && vertex + 4 <= s.n) {
                *reinterpret_cast<int4*>(s.distances + vertex) = {distance[0], distance[1], distance[2], distance[3]};
            } else {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if (distance[i] != SKIP && vertex + i < s.n) s.distances[vertex + i] = distance[i];
                }
            }
            if (unreached == SKIP || !clear) continue;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int lacks = lacking >> 8 * i & 255;
                const bool none = lacks == bitmaps || (clear_isolated && lacks == BITMAPS);
                if (none && vertex + i < s.n) s.predecessors[vertex + i] = -1;
            }
        }
    }
}

// Leave the first bitmap as the next search begins with it. A warp resets words that only it read in `write_distances`.
template <typename Vertex, typename Offset>
__device__ void reset_for_next_search(const Search<Vertex, Offset>& s, int warp, int warps) {
    const long long words = (s.n + WARP - 1) / WARP;
    const int width = words_at_a_time(s.tile);
    for (long long start = static_cast<long long>(warp) * width; start < words; start += warps * width) {
        const long long word = start + lane_id();
        if (lane_id() < width && word < words) s.visited[word] = __ldg(s.isolated + word);
    }
}

// Append the vertices that the last level reached, by its bitmap and the one before, to the queue from `begin`
// on, and copy the bitmap.
template <typename Vertex, typename Offset>
__device__ void queue_from_bitmap(const Search<Vertex, Offset>& s, const unsigned* before, const unsigned* visited,
                                  unsigned* copy, long long begin, Counter* tail, int warp, int warps,
                                  unsigned short* list) {
    const long long words = (s.n + WARP - 1) / WARP;
    for (long long tile = warp; tile * s.tile < words; tile += warps) {
        const long long word = tile * s.tile + lane_id();
        const bool mine = lane_id() < s.tile && word < words;
        const unsigned bits = mine ? visited[word] : 0;
        if (mine) copy[word] = bits;
        const int reached = list_bits(mine ? bits & ~before[word] : 0, list);
        for (int start = 0; start < reached; start += WARP) {
            const bool keep[1] = {start + lane_id() < reached};
            Vertex vertex[1] = {0};
            Offset first[1] = {0}, degree[1] = {0};
            if (keep[0]) {
                vertex[0] = static_cast<Vertex>(tile * s.tile * WARP + list[start + lane_id()]);
                first[0] = __ldg(s.offsets + vertex[0]);
                degree[0] = __ldg(s.offsets + vertex[0] + 1) - first[0];
            }
            append_to_queue(s, begin, tail, keep, vertex, first, degree);
        }
        __syncwarp();
    }
}
