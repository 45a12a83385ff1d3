"""What the host and the kernels of `direction_optimizing` agree on, in CUDA C++ and in Numba-CUDA."""

# The fields of the structure `Search`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "hub", "heavy", "isolated", "visited", "queue", "queued"),
    *("distances", "predecessors", "sources", "state", "trace", "status"),
)
NUMBERS = (
    *("n", "m", "count", "source", "depth_limit", "target", "alpha", "beta", "dense", "alone", "together"),
    *("capacity", "edge_bits", "tail", "tile", "number", "fresh", "unreached"),
)

# `status` is one number of 64 bits, so that the host sees all of it at once: the number of the search that is done,
# and below that its levels times 2, plus 1 if it was given up.
NUMBER_SHIFT, LEVELS_SHIFT = 32, 1
GROUP = 4  # in-neighbours that lie together in memory
TILE = 32  # bitmap words that a warp sweeps at a time, at most
TILES = 4  # tiles that it looks through at a time, at most
LIST = 1536  # vertices of them that it has on its list, at most
RECENT = 2048  # vertices that a block of a team remembers, twice that if neighbours are in its queue
BITMAPS = 8  # of visited vertices, in turn
