"""What the host and the kernels of `deterministic` agree on, in CUDA C++ and in Numba-CUDA; also see `whole_search`."""

# The fields of the structure `Search`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "positions", "hub", "heavy", "isolated"),
    *("visited", "other", "fresh", "siblings", "marks", "slots", "counts", "queue", "queued", "rank"),
    *("distances", "predecessors", "sources", "state", "trace", "phases", "status"),
)
NUMBERS = (
    *("n", "m", "count", "depth_limit", "target", "alpha", "wide", "share", "chunk", "large", "alike", "patience"),
    *("alone", "together", "capacity", "edge_bits", "tile", "number"),
)

UNROLL = 4  # edges or vertices that a lane has in flight

# What the grid did between two barriers, by number in the records of the first MAX_PHASES phases.
PHASES = (
    *("begin", "seed", "single block", "claim", "settle", "append", "large siblings", "first edges", "merge", "sweep"),
    *("reorder", "cluster"),
)
PHASE_BITS = 4
MAX_PHASES = 1 << 16
