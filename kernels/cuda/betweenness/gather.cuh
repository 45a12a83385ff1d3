// Adding up the rows of neighbours, forward and backward.
#pragma once

#include "items.cuh"

// Count one more, and return how many there were. What a warp wrote before its lane 0 calls this, with its barriers
// around it, is seen by every warp whose call counts it.
__device__ inline int arrive(Word* arrivals) { return static_cast<int>(atomic_add_acq_rel(arrivals, 1)); }

// Add the sums of a piece. The last warp of a place gets the sums of all its pieces; is it this one?
template <typename Vertex, typename Offset>
__device__ inline bool join(const Batch<Vertex, Offset>& b, const Offset* offsets, const Piece<Vertex, Offset>* pieces,
                            long long slot, Pair& sum, Word& found) {
    const Piece<Vertex, Offset> piece = pieces[slot >> b.shift];
    const Offset begin = offsets[piece.vertex], end = offsets[piece.vertex + 1];
    const long long first = slot - (static_cast<long long>(piece.begin - begin) / PIECE << b.shift);
    const int count = static_cast<int>((static_cast<long long>(end - begin) + PIECE - 1) / PIECE);
    store(b.partials, slot, found, sum);
    if (lane_id() == 0) b.partial_bits[slot] = found;
    __syncwarp();
    int before = 0;
    if (lane_id() == 0) before = arrive(b.arrivals + first);
    __syncwarp();
    if (__shfl_sync(ALL, before, 0) + 1 < count) return false;
    if (lane_id() == 0) b.arrivals[first] = 0;
    sum = {0, 0};
    found = 0;
    for (int base = 0; base < count; base += WARP) {
        const int mine = base + lane_id();
        const Word bits = mine < count ? b.partial_bits[first + (static_cast<long long>(mine) << b.shift)] : 0;
        for (unsigned some = __ballot_sync(ALL, bits != 0); some;) {
            Pair pair[UNROLL];
#pragma unroll
            for (int i = 0; i < UNROLL; ++i, some &= some - 1) {
                const int lane = some ? __ffs(some) - 1 : 0;
                const Word theirs = __shfl_sync(ALL, bits, lane);
                found |= theirs;
                pair[i] = load(b.partials, first + (static_cast<long long>(base + lane) << b.shift), some ? theirs : 0);
            }
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) sum = {sum.low + pair[i].low, sum.high + pair[i].high};
        }
    }
    return true;
}

// The compiler could fuse either product with the sum, and choose differently at each inlining: the intrinsics decide.
__device__ inline double product(Pair a, Pair b) { return __fma_rn(a.low, b.low, __dmul_rn(a.high, b.high)); }

// Store what a place passes on: its dependencies add up to `sum` for each path. Returns what it adds to the vertex,
// over the sources of this lane.
template <typename Vertex, typename Offset>
__device__ inline double pass_on(const Batch<Vertex, Offset>& b, Vertex place, Word bits, bool target, Pair paths,
                                 Pair sum, int level) {
    store(b.rows, place, bits, {sum.low + target / paths.low, sum.high + target / paths.high});
    if (level == 0) return b.endpoints ? rint(sum.low) + rint(sum.high) : 0;  // a source has one path to each target
    const int ends = b.endpoints && target ? low_of(bits) + high_of(bits) : 0;
    return product(paths, sum) + ends;
}

// The result of an item, in the lane that holds it; empty for pieces that were not the last.
struct Outcome {
    Word found = 0;    // forward: the sources that reached the place
    double worth = 0;  // backward: the sum of its dependencies
};

// List the lanes' hits in the warp's window, and after them UNROLL that bring nothing. Returns how many are listed;
// `number` is the place of the lane's own.
template <typename Vertex>
__device__ inline int list_hits(const Hit<Vertex>& hit, bool listed, int& number, Window<Vertex>& window) {
    const unsigned list = __ballot_sync(ALL, listed);
    const int count = __popc(list);
    number = __popc(list & lanes_below());
    if (listed) window.hits[number] = hit;
    const int latest = __shfl_sync(ALL, hit.owner, WARP - 1 - __clz(list));
    if (lane_id() < UNROLL) window.hits[count + lane_id()] = {0, hit.place, latest};
    __syncwarp();
    return count;
}

// Call add(number, bits, row) for the hits of a window, in order, with UNROLL rows in flight. `current` is the owner of
// the last one; the first of another owner is for begin(owner, row), which changes it.
template <typename Vertex, typename Offset, typename Begin, typename Add>
__device__ inline void for_each_hit(const Batch<Vertex, Offset>& b, const Window<Vertex>& window, int count,
                                    const int& current, Begin begin, Add add) {
    for (int base = 0; base < count; base += UNROLL) {
        Hit<Vertex> hits[UNROLL];
        Pair pair[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            hits[i] = window.hits[base + i];
            pair[i] = load(b.rows, hits[i].place, hits[i].bits);
        }
        if (hits[UNROLL - 1].owner == current) {
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) add(base + i, hits[i].bits, pair[i]);
            continue;
        }
#pragma unroll 1
        for (int i = base; i < min(base + UNROLL, count); ++i) {
            if (hits[0].owner == current) {
                add(i, hits[0].bits, pair[0]);
            } else {
                begin(hits[0].owner, pair[0]);
            }
#pragma unroll
            for (int j = 0; j + 1 < UNROLL; ++j) hits[j] = hits[j + 1], pair[j] = pair[j + 1];
        }
    }
}

// Add up the rows of the neighbours at the level above, or at the level below if BACK. An item's first step is the item
// itself, and it has ended when the next one's comes.
template <bool BACK, typename Vertex, typename Offset>
__device__ inline Outcome gather(const Batch<Vertex, Offset>& b, const Item<Vertex, Offset>& item, int level,
                                 Window<Vertex>& window) {
    const Offset* const offsets = BACK ? b.offsets : b.in_offsets;
    const Vertex* const neighbors = BACK ? b.targets : b.in_targets;
    const Word* const beside = b.front(BACK ? level + 1 : level - 1);
    const bool for_arcs = BACK && b.edges;
    const unsigned targets = BACK ? __ballot_sync(ALL, item.bits && b.is_target[item.place >> b.shift]) : 0;
    Outcome mine;
    int current = -1;  // the lane of the item in flight
    Pair paths = {0, 0}, sum = {0, 0};
    Word found = 0;
    const auto end = [&] {
        if (current < 0) return;
        const int slot = __shfl_sync(ALL, item.slot, current);
        if (slot >= 0 && !join(b, offsets, BACK ? b.pieces : b.in_pieces, slot, sum, found)) return;
        const Vertex place = __shfl_sync(ALL, item.place, current);
        double worth = 0;
        if (BACK) {
            worth = pass_on(b, place, __shfl_sync(ALL, item.bits, current), targets >> current & 1, paths, sum, level);
            worth = for_arcs ? 0 : sum_over_lanes(worth);
        } else {
            store(b.rows, place, found, sum);
        }
        if (lane_id() == current) mine = {found, worth};
    };
    const auto begin = [&](int owner, Pair row) {
        end();
        current = owner;
        paths = row;
        sum = {0, 0};
        found = 0;
    };
    const auto add = [&](int number, Word bits, Pair pair) {
        sum = {sum.low + pair.low, sum.high + pair.high};
        found |= bits;
        if (for_arcs) {
            const double share = sum_over_lanes(product(paths, pair));
            if (lane_id() == 0) window.shares[number] = share;
        }
    };
    for_each_step(item.bits ? item.arcs + 1 : 0, [&](bool inside, int owner, int step) {
        const Word bits = __shfl_sync(ALL, item.bits, owner);
        const long long arc = static_cast<long long>(__shfl_sync(ALL, item.begin, owner)) + step - 1;
        Hit<Vertex> hit = {BACK ? bits : 0, __shfl_sync(ALL, item.place, owner), owner};
        if (inside && step) {
            hit.place = b.neighbor(neighbors[arc], hit.place);
            hit.bits = beside[hit.place] & bits;
        }
        const bool listed = inside && (step == 0 || hit.bits);
        int number;
        const int count = list_hits(hit, listed, number, window);
        for_each_hit(b, window, count, current, begin, add);
        __syncwarp();
        if (for_arcs && listed && step) b.sums[arc << b.shift | b.word_of(hit.place)] += window.shares[number];
    });
    end();
    return mine;
}
