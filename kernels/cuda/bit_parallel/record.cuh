// Recording what a level reached: distances in bit planes, or counts in vertical counters.
#pragma once

#include "batch.cuh"

// Add what the block found to the level's counters. To be called by all threads of the block, once a phase.
template <int WIDTH, typename Vertex, typename Offset>
__device__ void flush(const Batch<Vertex, Offset>& b, int level, Place<WIDTH> at, ThreadResult<WIDTH>& mine,
                      BlockResult<WIDTH>& block) {
    const int slot = level % SLOTS;
    mine.empty(at.word, block.counts);
    if (mine.under_way) atomicOr(block.under_way + at.word, mine.under_way);
    if (at.word == 0 && mine.edges) atomicAdd(&block.edges, mine.edges);
    __syncthreads();
    if (threadIdx.x < WIDTH) {
        const Word under_way = atomicExch(block.under_way + threadIdx.x, 0);
        if (under_way) atomicOr(&b.state->under_way[slot][threadIdx.x], under_way);
    }
    if (threadIdx.x == 0) {  // an exchange, which the compiler does not let other threads do in vain
        const Word edges = atomicExch(&block.edges, 0);
        if (edges) atomicAdd(&b.state->edges[slot], edges);
    }
    if (b.planes) return;
    for (int i = threadIdx.x; i < BITS * WIDTH; i += THREADS) {
        if (block.counts[i]) atomicAdd(b.counts[level % 2] + i, static_cast<Word>(block.counts[i]));
        block.counts[i] = 0;
    }
}

// Write down that these sources reached the vertex at this level. To be called by the lanes of its group.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void record(const Batch<Vertex, Offset>& b, Vertex vertex, Word bits, int level, Place<WIDTH> at,
                              ThreadResult<WIDTH>& mine, BlockResult<WIDTH>& block) {
    const long long place = at.row_word(vertex);
    mine.under_way |= bits;
    if (at.word == 0) mine.edges += b.offsets[vertex + 1] - b.offsets[vertex];
    if (bits == 0) return;
    b.seen[place] |= bits;
    if (level == 0) return;
    if (b.planes) {
        for (int left = level; left; left &= left - 1) {
            b.planes[static_cast<long long>(__ffs(left) - 1) * b.n * WIDTH + place] |= bits;
        }
    } else {
        mine.add(bits, at.word, block.counts);
    }
}

// Add the counts of a level to the sums. Each source belongs to one thread of the grid.
template <int WIDTH, typename Vertex, typename Offset>
__device__ inline void add_counts(const Batch<Vertex, Offset>& b, int level, long long thread, long long threads) {
    if (b.planes || level == 0) return;
    for (long long source = thread; source < BITS * WIDTH; source += threads) {
        const Word count = __ldcg(b.counts[level % 2] + source);
        if (count == 0) continue;
        b.counts[level % 2][source] = 0;
        b.reached[source] += count;
        b.total[source] += count * level;
        b.eccentricity[source] = level;
        b.harmonic[source] += static_cast<double>(count) / level;
    }
}
