// What the parts of a search in one launch for each have in each other's memory, and how they meet.
//
// Each part has a window, at windows[rank], which all parts read and write:
//
//   mails[2][MAX_PARTS]          from each part, in turn: see `Mail`
//   bitmaps[2][parts][slice]      of the visited vertices of all parts, before a level and after it; each part writes
//                                 its slice in all windows, which thus hold the same
//   inboxes[parts][room]          pairs from each part
//
// A part's blocks meet those of all parts. The last block to arrive sends the part's mail to all; every block waits for
// the mail of all. Mails alternate between two places: nobody is two turns ahead of one that still reads. A mail is
// stamped with the search and the turn, so that none of an earlier search is taken for it. Waiting has a limit, and the
// host can end it, by writing the number of the search to `stop`. Then all blocks end, and `told` says which part did
// not come.
#pragma once

#include "../direction_optimizing/parameters.cuh"
#include "top_down.cuh"

constexpr int MAX_PARTS = WARP;  // a lane waits for each
constexpr int LOOKS = 1 << 10;   // at a mail between two at the clock
enum Told { DONE, LEVELS, DEPTH, REACHED, ABSENT, TOLD };
enum Mark { OVERFLOWN = 1, AT_TARGET = 2, STALE = 4 };

// What a part tells another one at the end of a phase.
struct alignas(64) Mail {
    long long found;           // vertices that the phase reached
    long long queued, edges;   // of them in the queue, and their edges
    long long left;            // rows that a sweep left to the whole grid, as a Counter
    long long pairs;           // in the sender's segment of the receiver's inbox
    long long marks;           // see `Mark`
    unsigned long long stamp;  // written last
};

// What the blocks of a part count in a phase. The last one to arrive at its end resets it.
struct Tally {
    alignas(128) unsigned arrived;  // blocks
    alignas(128) Counter tail;      // of the queue
    alignas(128) Counter left;      // rows that a sweep left to the whole grid
    alignas(128) unsigned long long found;
    alignas(128) unsigned long long sent[MAX_PARTS];  // pairs to each part, those too many for its inbox included
    unsigned finished;                                // blocks that are done with the search
    unsigned absent;                                  // 1 + the first part that did not come
};

template <typename Vertex, typename Offset>
struct Ranks {
    unsigned char* const* windows;
    const unsigned* isolated;
    unsigned* marked;
    Tally* tally;
    const volatile long long* stop;
    volatile long long* told;
    long long parts, rank, stride;
    long long room;              // pairs for which a segment of an inbox has room
    long long bitmaps, inboxes;  // where they begin in a window, in bytes
    long long vertices, arcs;    // of all parts
    long long limit;             // nanoseconds to wait for another part
    long long stale;             // did this part's last search not end as it should?
};

// What the last meeting told, in the memory of each block, which has more room for it than its threads have.
struct Turn {
    long long reached;                       // by all parts, since the search began
    long long found, edges;                  // of all parts; edges of those in the queues
    bool overflown, at_target, stale, left;  // on any part
    bool came;                               // did all?
    Frontier own, own_left;                  // of this part
    long long pairs[MAX_PARTS];              // from each part
};

template <typename Vertex, typename Offset>
__device__ inline Mail* mail_of(const Ranks<Vertex, Offset>& x, long long receiver, long long sender,
                                unsigned long long stamp) {
    return reinterpret_cast<Mail*>(x.windows[receiver]) + stamp % 2 * MAX_PARTS + sender;
}

// The bitmap over all numbers in this part's window, or in another one's.
template <typename Vertex, typename Offset>
__device__ inline unsigned* bitmap_of(const Ranks<Vertex, Offset>& x, long long receiver, int which) {
    return reinterpret_cast<unsigned*>(x.windows[receiver] + x.bitmaps) + which * (x.parts * x.stride / WARP);
}

template <typename Vertex, typename Offset>
__device__ inline Pair<Vertex>* inbox_of(const Ranks<Vertex, Offset>& x, long long receiver, long long sender) {
    return reinterpret_cast<Pair<Vertex>*>(x.windows[receiver] + x.inboxes) + sender * x.room;
}

// Write words of this part's slice into a bitmap in all windows, by a whole warp: up to COUNT a lane, `step` apart,
// from `word` to before `end`. `compare`: unless a warp's words are there already.
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
        for (long long part = 0; part < x.parts; ++part) {
            if (word + k * step < end) bitmap_of(x, part, which)[slice + word + k * step] = bits[k];
        }
    }
}

// Send this part's mail to all, by a warp of the last block, and reset the tally.
template <typename Vertex, typename Offset>
__device__ inline void send_mails(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                  unsigned long long stamp) {
    Tally* const tally = x.tally;
    const int lane = lane_id();
    const bool to = lane < x.parts;
    const Frontier queued = unpacked(__ldcg(&tally->tail), static_cast<int>(s.edge_bits));
    const long long found = static_cast<long long>(__ldcg(&tally->found));
    const long long left = static_cast<long long>(__ldcg(&tally->left));
    const bool at_target = __ldcg(&s.state->target_level) != 0;
    const long long pairs = to ? static_cast<long long>(__ldcg(tally->sent + lane)) : 0;
    const bool overflown = __any_sync(ALL, pairs > x.room);
    if (to) tally->sent[lane] = 0;
    if (lane == 0) tally->tail = tally->left = 0, tally->found = 0;
    __syncwarp();
    if (!to) return;
    Mail* const mail = mail_of(x, lane, x.rank, stamp);
    mail->found = found, mail->queued = queued.vertices, mail->edges = queued.edges, mail->left = left;
    mail->pairs = min(pairs, x.room);
    mail->marks = overflown * OVERFLOWN + at_target * AT_TARGET + x.stale * STALE;
    store_release_system(&mail->stamp, stamp);
}

// Wait for a mail, no longer than the limit.
template <typename Vertex, typename Offset>
__device__ inline bool came(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x, const Mail* mail,
                            unsigned long long stamp) {
    unsigned long long begin = 0;
    for (int looks = 1; load_acquire_system(&mail->stamp) != stamp; ++looks) {
        if (looks % LOOKS) continue;
        const unsigned long long now = nanoseconds();
        if (begin == 0) begin = now;
        if (*x.stop == s.number || __ldcg(&x.tally->absent)) return false;
        if (now - begin > static_cast<unsigned long long>(x.limit)) return false;
    }
    return true;
}

// Wait for the mails of all parts, by a warp of each block.
template <typename Vertex, typename Offset>
__device__ inline void read_mails(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x,
                                  unsigned long long stamp, Turn* turn) {
    const int lane = lane_id();
    const bool from = lane < x.parts;
    const Mail* const mail = mail_of(x, x.rank, from ? lane : 0, stamp);
    const unsigned absent = __ballot_sync(ALL, from && !came(s, x, mail, stamp));
    const long long found = from ? __ldcg(&mail->found) : 0, edges = from ? __ldcg(&mail->edges) : 0;
    const long long left = from ? __ldcg(&mail->left) : 0, marks = from ? __ldcg(&mail->marks) : 0;
    const long long all_found = static_cast<long long>(warp_sum(found)),
                    all_edges = static_cast<long long>(warp_sum(edges));
    const bool overflown = __any_sync(ALL, marks & OVERFLOWN), at_target = __any_sync(ALL, marks & AT_TARGET);
    const bool stale = __any_sync(ALL, marks & STALE), some_left = __any_sync(ALL, left != 0);
    if (from) turn->pairs[lane] = __ldcg(&mail->pairs);
    if (lane == x.rank) {
        turn->own = {__ldcg(&mail->queued), edges};
        turn->own_left = unpacked(left, static_cast<int>(s.edge_bits));
    }
    if (lane != 0) return;
    turn->reached += all_found, turn->found = all_found, turn->edges = all_edges;
    turn->overflown = overflown, turn->at_target = at_target, turn->stale = stale, turn->left = some_left;
    turn->came = !absent;
    if (absent) {
        const unsigned before = atomicCAS(&x.tally->absent, 0u, static_cast<unsigned>(__ffs(absent)));
        x.told[ABSENT] = before ? before : __ffs(absent);
    }
}

// End a phase: what any part wrote in it, all see after. Returns whether all parts came; if not, the search is over.
template <typename Vertex, typename Offset>
__device__ inline bool meet(const Search<Vertex, Offset>& s, const Ranks<Vertex, Offset>& x, unsigned long long stamp,
                            Turn* turn) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        bool last = false;
        if (lane_id() == 0) last = atomic_inc_acq_rel_system(&x.tally->arrived, gridDim.x - 1) == gridDim.x - 1;
        if (__any_sync(ALL, last)) send_mails(s, x, stamp);
        __syncwarp();
        read_mails(s, x, stamp, turn);
    }
    __syncthreads();
    return turn->came;
}
