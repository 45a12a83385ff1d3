"""Constants and parameters shared by the host and the kernel of `deterministic`; see also `whole_search`."""

from .parameters import Parameters
from .whole_search import ARRAYS, COMMON, MOST_BLOCKS, SIZES

UNROLL = 4  # edges or vertices that a lane has in flight
# The kinds of phases, by their numbers in the records of the first MAX_PHASES phases.
PHASES = (
    *("begin", "seed", "single block", "claim", "write", "append", "large siblings", "first edges", "merge", "sweep"),
    *("reorder", "deep"),
)
PHASE_BITS = 4
MAX_PHASES = 1 << 16
RECENT = 4096  # vertices that a block remembers in deep levels
PATH_BITS = 44  # of a key

SEARCH = Parameters(
    "Search",
    pointers=ARRAYS
    | {
        "positions": "const Vertex",
        "other": "unsigned",
        "fresh": "unsigned",
        "siblings": "unsigned char",
        "marks": "unsigned",
        "slots": "Vertex",
        "counts": "Counter",
        "rank": "typename Structure::Number",
        "keys": "Key",
        "phases": "Counter",
    },
    inherited=len(ARRAYS),
    numbers=(
        *("n", "m", "count", "source", "depth_limit", "target", "alpha", "wide", "share", "chunk", "large", "alike"),
        *("passes", "patience", "single_block_edges", "capacity", "deep_chunks", "deep_from", "deep_capacity"),
        *("place_bits", "meet", "edge_bits", "tile", "number"),
    ),
    constants=COMMON
    | {"UNROLL": UNROLL, "PHASE_BITS": PHASE_BITS, "MAX_PHASES": MAX_PHASES}
    | {"RECENT": RECENT, "PATH_BITS": PATH_BITS, "MOST_BLOCKS": MOST_BLOCKS}
    | {phase.upper().replace(" ", "_"): number for number, phase in enumerate(PHASES)},
    sizes=(*SIZES, "sizeof(KeyedChunk<Vertex, Offset>) == (8 + 2 * sizeof(Offset) + sizeof(Vertex) + 7) / 8 * 8"),
)
