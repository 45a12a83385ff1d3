"""What the host and the kernel `deterministic` in Numba-CUDA agree on; the one in CUDA C++ has a host of its own."""

# The fields of the structure `Search`, in order: pointers, then integers of 64 bits. The kernel says what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "positions", "visited", "marks", "below", "counts"),
    *("queue", "queued", "claims", "first", "distances", "predecessors", "sources", "state", "trace", "status"),
)
NUMBERS = (
    *("n", "m", "count", "source", "depth_limit", "target", "alpha", "wide", "alone", "together", "edge_bits"),
    *("tile", "number"),
)

MOST_THREADS = 512  # of a block
KEY_BITS = 63  # of an edge's number and a vertex together
