"""Constants and parameters shared by the host and the kernel of `betweenness` on a GPU. Words of sources and pieces are
those of `batch`."""

from .batch import BITS, PIECE, SIZE_OF_PIECE
from .parameters import Parameters

FRONTS = 4  # levels whose fronts are kept
STATE_BYTES = 1024  # of `State`, at most

BATCH = Parameters(
    "Batch",
    pointers={
        "offsets": "const Offset",
        "targets": "const Vertex",
        "in_offsets": "const Offset",
        "in_targets": "const Vertex",
        "pieces": "const Piece<Vertex, Offset>",
        "in_pieces": "const Piece<Vertex, Offset>",
        "sources": "const Vertex",
        "is_target": "const bool",
        "rows": "double",
        "seen": "Word",
        "fronts": "Word",
        "found": "Vertex",
        "log": "Vertex",
        "log_bits": "Word",
        "begins": "long long",
        "partials": "double",
        "partial_bits": "Word",
        "arrivals": "Word",
        "sums": "double",
        "scores": "double",
        "state": "State",
    },
    numbers=("n", "m", "k", "shift", "piece_count", "in_piece_count", "endpoints", "edges", "alpha", "most_levels"),
    constants={"BITS": BITS, "PIECE": PIECE, "FRONTS": FRONTS},
    sizes=(f"sizeof(State) <= {STATE_BYTES}", SIZE_OF_PIECE),
)
