// Windows, by which ranks access each other's memory during a search in one launch, and the barrier between its phases.
//
// Each rank has a window, at windows[rank], which all ranks read and write:
//
//   messages[2][MAX_PARTITIONS]   from each rank, double-buffered: see `Message`
//   bitmaps[2][partitions][slice] of the visited vertices of all ranks, before and after a level; each rank writes its
//                                 slice in all windows, so all hold the same
//   inboxes[partitions][capacity] pairs from each rank
//
// A phase ends at a barrier over the blocks of all ranks. The last block of a rank to arrive sends the rank's message to
// all ranks, and every block waits for the messages of all. Messages are double-buffered, since no rank is two phases
// ahead of one that still reads. A stamp of search and phase tells them from messages of earlier searches. Waiting has a
// timeout, and the host can end it by writing the id of the search to `stop`. Then all blocks end, and `outcome` names
// the rank that did not arrive.
#pragma once

#include "../direction_optimizing/parameters.cuh"
#include "top_down.cuh"

constexpr int MAX_PARTITIONS = WARP;  // a lane waits for each
constexpr int POLLS = 1 << 10;        // of a message between two looks at the clock
constexpr int ARRIVED_BITS = 16;      // of a count of blocks: fewer than 2^16 are resident on any device
enum Outcome { DONE, LEVELS, DEPTH, REACHED, ABSENT, OUTCOME_FIELDS };
enum Mark { OVERFLOWN = 1, AT_TARGET = 2, STALE = 4 };

// The message of a rank to another one at the end of a phase.
struct alignas(64) Message {
    long long found;           // vertices that the phase reached
    long long queued, edges;   // of them in the queue, and their edges
    long long left;            // rows that a sweep left to the whole grid, as a Counter
    long long pairs;           // in the sender's segment of the receiver's inbox
    long long marks;           // see `Mark`
    unsigned long long stamp;  // written last
};

// The counters of a rank's blocks in a phase. The last block to arrive at its end resets them.
struct Tally {
    alignas(128) Counter arrived;  // blocks, and above ARRIVED_BITS the vertices that they found
    alignas(128) Counter tail;     // of the queue
    alignas(128) Counter left;     // rows that a sweep left to the whole grid
    alignas(
        128) unsigned long long sent[MAX_PARTITIONS];  // pairs to each partition, those too many for its inbox included
    unsigned finished;                                 // blocks that are done with the search
    unsigned absent;                                   // 1 + the first partition that did not arrive
};

template <typename Vertex, typename Offset>
struct Ranks {
    unsigned char* const* windows;
    const unsigned* isolated;
    unsigned* marked;
    Tally* tally;
    const volatile long long* stop;
    volatile long long* outcome;
    long long partitions, rank, stride;
    long long capacity;          // of the segment of an inbox, in pairs
    long long bitmaps, inboxes;  // where they begin in a window, in bytes
    long long vertices, arcs;    // of all ranks
    long long timeout;           // nanoseconds to wait for another rank
    long long stale;             // did this rank's last search fail?
};

// The messages of all partitions at the end of a phase, combined; in shared memory, which spares registers.
struct GlobalResult {
    long long reached;                       // by all partitions, since the search began
    long long found, edges;                  // of all partitions; edges of those in the queues
    bool overflown, at_target, stale, left;  // on any partition
    bool complete;                           // did all partitions arrive?
    Frontier own, own_left;                  // of this partition
    long long pairs[MAX_PARTITIONS];         // from each partition
};

template <typename Vertex, typename Offset>
__device__ inline Message* message_slot(const Ranks<Vertex, Offset>& x, long long receiver, long long sender,
                                        unsigned long long stamp) {
    return reinterpret_cast<Message*>(x.windows[receiver]) + stamp % 2 * MAX_PARTITIONS + sender;
}

// The bitmap over all global ids in the window of a rank.
template <typename Vertex, typename Offset>
__device__ inline unsigned* bitmap_of(const Ranks<Vertex, Offset>& x, long long receiver, int which) {
    return reinterpret_cast<unsigned*>(x.windows[receiver] + x.bitmaps) + which * (x.partitions * x.stride / WARP);
}

template <typename Vertex, typename Offset>
__device__ inline Pair<Vertex>* inbox_of(const Ranks<Vertex, Offset>& x, long long receiver, long long sender) {
    return reinterpret_cast<Pair<Vertex>*>(x.windows[receiver] + x.inboxes) + sender * x.capacity;
}

// Write words of this rank's slice into a bitmap in all windows, by a whole warp: up to COUNT a lane, `step` apart,
// from `word` to before `end`. With `compare`, not if the warp's words are equal.
template <int COUNT, typename Vertex, typename Offset>
__device__ __forceinline__ void publish(const Ranks<Vertex, Offset>& x, int which, long long word, long long step,
                                        long long end, const unsigned (&bits)[COUNT], bool compare) {
    const long long slice = x.rank * (x.stride / WARP);
    unsigned changed = ALL;  // a bit for each of the words
    if (compare) {
        changed = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const bool inside = word + k * step < end;
            const unsigned before = inside ? bitmap_of(x, x.rank, which)[slice + word + k * step] : 0;
            if (inside && before != bits[k]) changed |= 1u << k;
        }
        changed = warp_reduce_or(changed);
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (!(changed >> k & 1)) continue;
        for (long long partition = 0; partition < x.partitions; ++partition) {
            if (word + k * step < end) bitmap_of(x, partition, which)[slice + word + k * step] = bits[k];
        }
    }
}

// Send this rank's message to all, by a warp of the last block, and reset the tally.
template <typename Vertex, typename Offset>
__device__ inline void send_messages(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                     unsigned long long stamp, long long found) {
    Tally* const tally = x.tally;
    const int lane = lane_id();
    const bool to = lane < x.partitions;
    __syncwarp();  // the first lane has acquired, all lanes load
    const Frontier queued = unpacked(__ldcg(&tally->tail), static_cast<int>(s.edge_bits));
    const long long left = static_cast<long long>(__ldcg(&tally->left));
    const bool at_target = __ldcg(&s.state->target_level) != 0;
    const long long pairs = to ? static_cast<long long>(__ldcg(tally->sent + lane)) : 0;
    const bool overflown = __any_sync(ALL, pairs > x.capacity);
    __syncwarp();
    if (to) tally->sent[lane] = 0;
    if (lane == 0) tally->arrived = tally->tail = tally->left = 0;
    __syncwarp();
    if (!to) return;
    Message* const message = message_slot(x, lane, x.rank, stamp);
    message->found = found, message->queued = queued.vertices, message->edges = queued.edges, message->left = left;
    message->pairs = min(pairs, x.capacity);
    message->marks = overflown * OVERFLOWN + at_target * AT_TARGET + x.stale * STALE;
    store_release_system(&message->stamp, stamp);
}

// Wait for a message until the timeout. Returns whether it arrived.
template <typename Vertex, typename Offset>
__device__ inline bool wait_for(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x, const Message* message,
                                unsigned long long stamp) {
    unsigned long long begin = 0;
    for (int polls = 1; load_acquire_system(&message->stamp) != stamp; ++polls) {
        if (polls % POLLS) continue;
        const unsigned long long now = nanoseconds();
        if (begin == 0) begin = now;
        if (*x.stop == s.number || __ldcg(&x.tally->absent)) return false;
        if (now - begin > static_cast<unsigned long long>(x.timeout)) return false;
    }
    return true;
}

// Wait for the messages of all ranks, by a warp of each block.
template <typename Vertex, typename Offset>
__device__ inline void receive_messages(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                        unsigned long long stamp, GlobalResult* result) {
    const int lane = lane_id();
    const bool from = lane < x.partitions;
    const Message* const message = message_slot(x, x.rank, from ? lane : 0, stamp);
    const unsigned absent = __ballot_sync(ALL, from && !wait_for(s, x, message, stamp));
    const long long found = from ? __ldcg(&message->found) : 0, edges = from ? __ldcg(&message->edges) : 0;
    const long long left = from ? __ldcg(&message->left) : 0, marks = from ? __ldcg(&message->marks) : 0;
    const long long queued = from ? __ldcg(&message->queued) : 0, pairs = from ? __ldcg(&message->pairs) : 0;
    const long long all_found = static_cast<long long>(warp_sum(found)),
                    all_edges = static_cast<long long>(warp_sum(edges));
    const bool overflown = __any_sync(ALL, marks & OVERFLOWN), at_target = __any_sync(ALL, marks & AT_TARGET);
    const bool stale = __any_sync(ALL, marks & STALE), some_left = __any_sync(ALL, left != 0);
    if (from) result->pairs[lane] = pairs;
    if (lane == x.rank) {
        result->own = {queued, edges};
        result->own_left = unpacked(left, static_cast<int>(s.edge_bits));
    }
    if (lane != 0) return;
    result->reached += all_found, result->found = all_found, result->edges = all_edges;
    result->overflown = overflown, result->at_target = at_target, result->stale = stale, result->left = some_left;
    result->complete = !absent;
    if (absent) {
        const unsigned before = atomicCAS(&x.tally->absent, 0u, static_cast<unsigned>(__ffs(absent)));
        x.outcome[ABSENT] = before ? before : __ffs(absent);
    }
}

constexpr int FIRST_FREE = THREADS > WARP ? WARP : 0;  // thread of a block while its first warp waits for other ranks

struct Nothing {
    __device__ void operator()() const {}
};

// End a phase in which this block found `found` vertices. Afterwards all ranks see the writes of all ranks. Returns
// whether all ranks arrived; if not, the search is over. Each block's threads from FIRST_FREE on call meanwhile(), whose
// writes belong to the next phase.
//
// Each block releases at GPU scope to the last one to arrive, which releases to all ranks at system scope. Causality
// order is transitive across scopes (PTX ISA, Memory Consistency Model), so the writes of all blocks are visible, and
// only a warp of each rank pays for a release at system scope.
template <typename Vertex, typename Offset, typename Meanwhile>
__device__ inline bool barrier_of_ranks(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                        unsigned long long stamp, unsigned* found, GlobalResult* result,
                                        const Meanwhile& meanwhile) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        Counter arrived = 0;
        if (lane_id() == 0) {
            const Counter mine = (static_cast<Counter>(*found) << ARRIVED_BITS) + 1;
            arrived = atomic_add_acq_rel(&x.tally->arrived, mine) + mine;
            *found = 0;
        }
        arrived = __shfl_sync(ALL, arrived, 0);
        if ((arrived & ((1u << ARRIVED_BITS) - 1)) == gridDim.x) {
            send_messages(s, x, stamp, static_cast<long long>(arrived >> ARRIVED_BITS));
        }
        __syncwarp();
        receive_messages(s, x, stamp, result);
    }
    if (threadIdx.x >= FIRST_FREE) meanwhile();
    __syncthreads();
    return result->complete;
}
