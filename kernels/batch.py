"""What the host and the kernels of `bit_parallel` on a GPU agree on."""

# The fields of the structure `Batch`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("rank", "offsets", "targets", "in_offsets", "in_targets", "heavy", "pieces", "sources", "seen", "now", "last"),
    *("stamps", "found", "found_before", "items", "planes", "counts", "counts_before"),
    *("reached", "total", "eccentricity", "harmonic", "distances", "state"),
)
NUMBERS = ("n", "m", "k", "active", "heavies", "piece_count", "bits", "depth_limit", "alpha")

BITS = 64  # of a word
WIDTHS = (1, 4, 16)  # words a vertex: 64, 256 or 1024 sources at once
PIECE = 128  # edges that a group takes at a time
