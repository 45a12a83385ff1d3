// Windows, by which ranks access each other's memory during a search in one launch, and the barrier between its phases.
//
// Each rank has a window, at windows[rank], which all ranks read and write:
//
//   messages[2][MAX_PARTITIONS]   from each rank, double-buffered: see `Message`
//   bitmaps[2][partitions][slice] of the visited vertices of all ranks, before and after a level; each rank writes its
//                                 slice in all windows, so all hold the same
//   inboxes[partitions][capacity] pairs from each rank
//
// A phase ends at a barrier over the blocks of all ranks. The last block of a rank to arrive sends the rank's message
// to all ranks, and every block waits for the messages of all. Messages are double-buffered, since no rank is two
// phases ahead of one that still reads. Each word of a message carries a stamp of search and phase, which tells it from
// those of earlier messages, so that words may arrive in any order: the sender waits for none of them. Waiting has a
// timeout, and the host can end it by writing the id of the search to `stop`. Then all blocks end, and `outcome` names
// the rank that did not arrive, and the phase (in place of the levels). Ranks of one process may have the same `stop`: one
// that gives up ends the others.
#pragma once

#include "../direction_optimizing/parameters.cuh"
#include "top_down.cuh"

constexpr int MAX_PARTITIONS = WARP;  // a lane waits for each
constexpr int POLLS = 1 << 10;        // of a message between two looks at the clock
constexpr int ARRIVED_BITS = 16;      // of a count of blocks: fewer than 2^16 are resident on any device
enum Outcome { DONE, LEVELS, DEPTH, REACHED, ABSENT, OUTCOME_FIELDS };
enum Mark { OVERFLOWN = 1, AT_TARGET = 2, STALE = 4, LEFT = 8 };  // LEFT: a sweep left rows to the whole grid
// The numbers of a message: vertices that the phase reached, edges of those in the sender's queue, pairs in its segment
// of the receiver's inbox, each in two halves, and the marks.
enum Number { FOUND, EDGES, PAIRS, NUMBERS };
constexpr int HALVES = 2 * NUMBERS + 1;

// The message of a rank to another one at the end of a phase. A receiver takes it when the first word is the stamp and
// all others have its lower half in their upper one. By the memory consistency model of the PTX ISA this rests on:
//
// Words: each is aligned, has 8 bytes, and is stored and loaded as a whole at system scope, and so is never torn.
// Order: the fence of lane 0, which has acquired the writes of all blocks, and its relaxed store of the stamp are a
//     release, with which the acquiring load of the stamp synchronizes: pairs and bitmaps are seen then. The other words
//     say by themselves whether they have arrived.
// Earlier words: a slot is next written two phases later, when all blocks of the receiver have read all of its words.
//     So it holds the message before last, or, when a search begins, one of an earlier search. Its stamp is two less,
//     or counted from a number whose lower half is an earlier time: see `_new_search_id`. After 2^32 ticks of that
//     time, 18 minutes, halves are the same again; where clients on several machines search one graph, they are by a
//     chance of 2^-32. Even then a word is mistaken only if it is still seen beside the new stamp, which the same warp
//     stored into the same 64 bytes.
// Failed searches: ranks may have ended in different phases, but their kernels have ended before their next ones begin,
//     and these send anew. A kernel that has yet to end waits for a stamp that is not sent again.
// Processes: PTX defines system scope for the threads of one program. Between processes, whose windows are mapped by
//     CUDA IPC, we rely on the hardware doing the same there, as NCCL does. Within a process a window has one address
//     (unified addressing), so that no accesses by aliases need a proxy fence.
struct alignas(64) Message {
    unsigned long long stamp;
    unsigned long long halves[HALVES];  // of numbers: below the stamp's lower half
};

// The counters of a rank's blocks in a phase. The last block to arrive at its end resets them.
struct Tally {
    Counter tail_before, left_before;  // `tail` and `left` at the end of the last phase
    alignas(128) Counter arrived;      // blocks, and above ARRIVED_BITS the vertices that they found
    alignas(128) Counter tail;         // of the queue
    alignas(128) Counter left;         // rows that a sweep left to the whole grid
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
    volatile long long* stop;
    volatile long long* outcome;
    long long partitions, rank, stride;
    long long capacity;          // of the segment of an inbox, in pairs
    long long bitmaps, inboxes;  // where they begin in a window, in bytes
    long long vertices, arcs;    // of all ranks
    long long timeout;           // nanoseconds to wait for another rank,
    long long first_timeout;     // and in the first phase, where its kernel may not run yet
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

// The place of a message in the window of the receiver, which a lane has.
__device__ inline Message* message_slot(unsigned char* window, long long receiver, long long sender,
                                        unsigned long long stamp) {
    const unsigned long long its =
        __shfl_sync(ALL, reinterpret_cast<unsigned long long>(window), static_cast<int>(receiver));
    return reinterpret_cast<Message*>(its) + stamp % 2 * MAX_PARTITIONS + sender;
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
                                     unsigned char* window, unsigned long long stamp, long long found) {
    Tally* const tally = x.tally;
    const int lane = lane_id();
    const bool to = lane < x.partitions;
    __syncwarp();  // the first lane has acquired, all lanes load
    const Counter tail = __ldcg(&tally->tail), left = __ldcg(&tally->left);
    const bool at_target = __ldcg(&s.state->target_level) != 0;
    const long long pairs = to ? static_cast<long long>(__ldcg(tally->sent + lane)) : 0;
    const bool overflown = __any_sync(ALL, pairs > x.capacity);
    __syncwarp();
    if (to) tally->sent[lane] = 0;
    if (lane == 0) {
        tally->tail_before = tail, tally->left_before = left;
        tally->arrived = tally->tail = tally->left = 0;
    }
    __syncwarp();
    release_system();
    const long long edges = unpacked(tail, static_cast<int>(s.edge_bits)).edges;
    const int marks = overflown * OVERFLOWN + at_target * AT_TARGET + (x.stale != 0) * STALE + (left != 0) * LEFT;
    // Lane 0 stores the stamp, and each of the next HALVES one of them.
    const int mine = max(lane - 1, 0), number = mine / 2, half = mine % 2;
#pragma unroll 1
    for (long long receiver = 0; receiver < x.partitions; ++receiver) {
        unsigned long long* const words = &message_slot(window, receiver, x.rank, stamp)->stamp;
        const long long its_pairs = min(__shfl_sync(ALL, pairs, static_cast<int>(receiver)), x.capacity);
        const long long value = number == FOUND ? found : number == EDGES ? edges : number == PAIRS ? its_pairs : marks;
        const unsigned long long bits = static_cast<unsigned long long>(value) >> 32 * half & ALL;
        if (lane <= HALVES) store_relaxed_system(words + lane, lane == 0 ? stamp : stamp << 32 | bits);
    }
}

// Load a message. Returns whether all of it has arrived.
__device__ inline bool load_message(const Message* message, unsigned long long stamp, unsigned (&halves)[HALVES]) {
    if (load_acquire_system(&message->stamp) != stamp) return false;
    unsigned long long words[HALVES];
#pragma unroll
    for (int i = 0; i < HALVES; ++i) words[i] = load_relaxed_system(message->halves + i);
    bool complete = true;
#pragma unroll
    for (int i = 0; i < HALVES; ++i) {
        complete = complete && words[i] >> 32 == (stamp & ALL);
        halves[i] = static_cast<unsigned>(words[i]);
    }
    return complete;
}

// Wait for a message until the timeout. Returns whether it arrived.
template <typename Vertex, typename Offset>
__device__ inline bool wait_for(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x, const Message* message,
                                unsigned long long stamp, unsigned (&halves)[HALVES]) {
    unsigned long long begin = 0;
    for (int polls = 1; !load_message(message, stamp, halves); ++polls) {
        if (polls % POLLS) continue;
        const unsigned long long now = nanoseconds();
        if (begin == 0) begin = now;
        if (*x.stop == s.number || __ldcg(&x.tally->absent)) return false;
        const bool first = stamp == static_cast<unsigned long long>(s.number) + 1;
        if (now - begin > static_cast<unsigned long long>(first ? x.first_timeout : x.timeout)) return false;
    }
    return true;
}

__device__ inline long long joined(const unsigned (&halves)[HALVES], Number which) {
    return static_cast<long long>(static_cast<unsigned long long>(halves[2 * which + 1]) << 32 | halves[2 * which]);
}

// Wait for the messages of all ranks, by a warp of each block.
template <typename Vertex, typename Offset>
__device__ inline void receive_messages(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                        unsigned char* window, unsigned long long stamp, GlobalResult* result) {
    const int lane = lane_id();
    const bool from = lane < x.partitions;
    const Message* const message = message_slot(window, x.rank, lane, stamp);
    unsigned halves[HALVES] = {};
    const unsigned absent = __ballot_sync(ALL, from && !wait_for(s, x, message, stamp, halves));
    const Counter tail = __ldcg(&x.tally->tail_before), left = __ldcg(&x.tally->left_before);
    const long long edges = joined(halves, EDGES);
    const unsigned marks = warp_reduce_or(halves[2 * NUMBERS]);
    const long long all_found = static_cast<long long>(warp_sum(joined(halves, FOUND))),
                    all_edges = static_cast<long long>(warp_sum(edges));
    if (from) result->pairs[lane] = joined(halves, PAIRS);
    if (lane == x.rank) {
        result->own = unpacked(tail, static_cast<int>(s.edge_bits));
        result->own_left = unpacked(left, static_cast<int>(s.edge_bits));
    }
    if (lane != 0) return;
    result->reached += all_found, result->found = all_found, result->edges = all_edges;
    result->overflown = marks & OVERFLOWN, result->at_target = marks & AT_TARGET;
    result->stale = marks & STALE, result->left = marks & LEFT;
    result->complete = !absent;
    if (absent) {
        const unsigned before = atomicCAS(&x.tally->absent, 0u, static_cast<unsigned>(__ffs(absent)));
        x.outcome[ABSENT] = before ? before : __ffs(absent);
        if (!before) {
            x.outcome[LEVELS] = static_cast<long long>(stamp) - s.number;
            *x.stop = s.number;
        }
    }
}

constexpr int FIRST_FREE = THREADS > WARP ? WARP : 0;  // thread of a block while its first warp waits for other ranks

struct Nothing {
    __device__ void operator()() const {}
};

// End a phase in which this block found `found` vertices. Afterwards all ranks see the writes of all ranks. Returns
// whether all ranks arrived; if not, the search is over. Each block's threads from FIRST_FREE on call meanwhile(),
// whose writes belong to the next phase.
//
// Each block releases at GPU scope to the last one to arrive, which releases to all ranks at system scope. Causality
// order is transitive across scopes (PTX ISA, Memory Consistency Model), so the writes of all blocks are visible, and
// only a warp of each rank pays for a release at system scope. It releases before it sends its messages, and so does not
// wait for them.
template <typename Vertex, typename Offset, typename Meanwhile>
__device__ inline bool barrier_of_ranks(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                        unsigned long long stamp, unsigned* found, GlobalResult* result,
                                        const Meanwhile& meanwhile) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        // Loaded before the first warp acquires, which empties the L1.
        unsigned char* const window = lane_id() < x.partitions ? x.windows[lane_id()] : nullptr;
        Counter arrived = 0;
        if (lane_id() == 0) {
            const Counter mine = (static_cast<Counter>(*found) << ARRIVED_BITS) + 1;
            arrived = atomic_add_acq_rel(&x.tally->arrived, mine) + mine;
            *found = 0;
        }
        arrived = __shfl_sync(ALL, arrived, 0);
        if ((arrived & ((1u << ARRIVED_BITS) - 1)) == gridDim.x) {
            send_messages(s, x, window, stamp, static_cast<long long>(arrived >> ARRIVED_BITS));
        }
        __syncwarp();
        receive_messages(s, x, window, stamp, result);
    }
    if (threadIdx.x >= FIRST_FREE) meanwhile();
    __syncthreads();
    return result->complete;
}
