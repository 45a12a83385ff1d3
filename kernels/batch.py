"""Constants and parameters shared by the host and the kernels of `bit_parallel`."""

from .parameters import Parameters

BITS = 64  # of a word
WIDTHS = (1, 4, 16)  # words per vertex: 64, 256 or 1024 sources at once
PIECE = 128  # edges that a group takes at a time
STATE_BYTES = 2048  # of `State`, at most
SIZE_OF_PIECE = "sizeof(Piece<Vertex, Offset>) == 2 * sizeof(Offset)"

BATCH = Parameters(
    "Batch",
    pointers={
        "rank": "const Vertex",
        "offsets": "const Offset",
        "targets": "const Vertex",
        "in_offsets": "const Offset",
        "in_targets": "const Vertex",
        "heavy": "const Vertex",
        "pieces": "const Piece<Vertex, Offset>",
        "sources": "const Vertex",
        "allowed": "const unsigned char",
        "seen": "Word",
        "now": "Word",
        "last": "Word",
        "stamps": "int",
        "found": "Vertex",
        "found_before": "Vertex",
        "items": "Piece<Vertex, Offset>",
        "planes": "Word",
        "counts": "Word",
        "counts_before": "Word",
        "reached": "long long",
        "total": "long long",
        "eccentricity": "int",
        "harmonic": "double",
        "distances": "int",
        "state": "State",
    },
    numbers=("n", "m", "k", "active", "heavies", "piece_count", "bits", "depth_limit", "alpha"),
    constants={"BITS": BITS, "PIECE": PIECE},
    elements={
        **{"now": "rows[0]", "last": "rows[1]", "found": "found[0]", "found_before": "found[1]"},
        **{"counts": "counts[0]", "counts_before": "counts[1]"},
    },
    sizes=(f"sizeof(State) <= {STATE_BYTES}", SIZE_OF_PIECE),
)
