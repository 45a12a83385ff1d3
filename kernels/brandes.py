"""What the host and the kernels of `betweenness` on a GPU agree on, in CUDA C++ and in Numba-CUDA.

Words of sources and pieces of adjacencies are those of `batch`.
"""

# The fields of the structure `Batch`, in order: pointers, then integers of 64 bits. The kernels say what they mean.
POINTERS = (
    *("offsets", "targets", "in_offsets", "in_targets", "pieces", "in_pieces", "sources", "is_target"),
    *("rows", "seen", "fronts", "found", "log", "log_bits", "begins", "partials", "partial_bits", "arrivals"),
    *("sums", "scores", "state"),
)
NUMBERS = ("n", "m", "k", "shift", "piece_count", "in_piece_count", "endpoints", "edges", "alpha")

FRONTS = 4  # levels whose fronts are kept
