"""What the host and the kernels of `direction_optimizing` agree on, in CUDA C++ and in Numba-CUDA."""

# The fields of the structure `Search`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "hub", "isolated", "visited", "other", "queue", "queued"),
    *("distances", "predecessors", "sources", "state", "trace", "status"),
)
NUMBERS = (
    *("n", "m", "count", "source", "depth_limit", "target", "alpha", "beta", "alone", "capacity", "edge_bits"),
    *("tile", "number"),
)

NUMBER, LEVELS, GIVEN_UP = range(3)  # elements of `status`
TILE = 32  # bitmap words that a warp sweeps at a time, at most
ALONE_UNROLL = 4  # edges that a thread of a block alone takes
