// The levels: expanding few arcs, recording the places found, emptying fronts, and the end of a phase.
#pragma once

#include "items.cuh"

// Few arcs, first phase: set the items' sources in their neighbours' words, and list the neighbours.
template <typename Vertex, typename Offset>
__device__ void expand(const Batch<Vertex, Offset>& b, const Item<Vertex, Offset>& item, int level) {
    Word* const upcoming = b.front(level);
    for_each_step(item.bits ? item.arcs : 0, [&](bool inside, int owner, int step) {
        const Vertex place = __shfl_sync(ALL, item.place, owner);
        const Word bits = __shfl_sync(ALL, item.bits, owner);
        const Offset arc = __shfl_sync(ALL, item.begin, owner) + step;
        Vertex neighbor = 0;
        bool first = false;
        if (inside) {
            neighbor = b.neighbor(b.targets[arc], place);
            const Word fresh = bits & ~(b.seen[neighbor] | __ldcg(upcoming + neighbor));
            if (fresh) first = atomicOr(upcoming + neighbor, fresh) == 0;
        }
        append(&b.state->found[level % SLOTS], first, neighbor, b.found);
    });
}

// Forward: add what the lanes' items found to the level. Returns the out-edges of these places.
template <typename Vertex, typename Offset>
__device__ inline Word add_to_level(const Batch<Vertex, Offset>& b, Vertex place, Word found, int level,
                                    long long tail) {
    const long long entry = tail + append(&b.state->logged[level % SLOTS], found != 0, place, b.log + tail);
    if (found == 0) return 0;
    b.log_bits[entry] = found;
    b.front(level)[place] = found;
    b.seen[place] |= found;
    return b.offsets[(place >> b.shift) + 1] - b.offsets[place >> b.shift];
}

// Empty the front of a level.
template <typename Vertex, typename Offset>
__device__ inline void clear_front(const Batch<Vertex, Offset>& b, int level, long long thread, long long threads) {
    const long long end = b.begins[level + 1];
    for (long long i = b.begins[level] + thread; i < end; i += threads) b.front(level)[b.log[i]] = 0;
}

// Fill the front of a level from the log.
template <typename Vertex, typename Offset>
__device__ inline void restore_front(const Batch<Vertex, Offset>& b, int level, long long thread, long long threads) {
    const long long end = b.begins[level + 1];
    for (long long i = b.begins[level] + thread; i < end; i += threads) b.front(level)[b.log[i]] = b.log_bits[i];
}

// What is known of a level when it is done, the same in every thread.
struct PhaseResult {
    Word found, logged, arcs;
};

__device__ inline PhaseResult end_phase(State* state, int level, Word arcs, Word& arcs_of_block) {
    __shared__ PhaseResult result;
    const int slot = level % SLOTS;
    arcs = sum_over_lanes(arcs);
    if (lane_id() == 0 && arcs) atomicAdd(&arcs_of_block, arcs);
    __syncthreads();
    if (threadIdx.x == 0) {
        const Word some = atomicExch(&arcs_of_block, Word(0));
        if (some) atomicAdd(&state->arcs[slot], some);
        grid_barrier(&state->arrived);
        result = {__ldcg(&state->found[slot]), __ldcg(&state->logged[slot]), __ldcg(&state->arcs[slot])};
    }
    __syncthreads();
    return result;
}
