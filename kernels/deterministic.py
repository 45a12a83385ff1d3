"""What the host and the kernels of `deterministic` agree on; also see `whole_search`."""

# The fields of the structure `Search`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "positions", "hub", "heavy", "isolated"),
    *("visited", "other", "fresh", "family", "marks", "slots", "counts", "queue", "queued", "rank"),
    *("distances", "predecessors", "sources", "state", "trace", "turns", "status"),
)
NUMBERS = (
    *("n", "m", "count", "depth_limit", "target", "alpha", "wide", "share", "chunk", "large", "alike", "patience"),
    *("alone", "together", "capacity", "edge_bits", "tile", "number"),
)

UNROLL = 4  # edges that a lane has under way at a time
TEAM = 16  # blocks of a cluster, at most
CLAIM_TILES = 16  # tiles that a warp looks through at a time, at most, where it looks for claims alone,
CLAIMS = 64  # until it has so many
CANDIDATE = 1 << 15  # on the list of a warp: the vertex has a predecessor, perhaps not the first
STEPS = 4  # groups of a row that a lane looks at before it takes the next
WIDTH = 2  # lanes that look through a row together, at least
WHOLE_WIDTH = 4  # where hardly one of its vertices ends that
APART = 128  # families that are told apart
MANY = 254  # the last family
NONE = 255  # no family
FAMILY_BITS = 8
GROWTH = 4  # of the chunks of first edges
TURN_ALONE = 1 << 20  # levels that a block goes alone before it shows itself at the barrier

# What a turn, all that is done between two barriers of the grid, did; by number in the notes of the first TURNS.
PHASES = (
    *("begin", "seed", "alone", "claim", "settle", "append", "families", "first edges", "merge", "sweep"),
    *("reorder", "together"),
)
PHASE_BITS = 4
TURNS = 1 << 16
