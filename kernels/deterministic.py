"""What the host and the kernel of `deterministic` agree on; also see `whole_search`."""

from .parameters import Parameters
from .whole_search import COMMON, SIZES

UNROLL = 4  # edges that a lane has under way at a time
# What a turn, all that is done between two barriers of the grid, did; by number in the notes of the first TURNS.
PHASES = (
    *("begin", "seed", "alone", "claim", "settle", "append", "families", "first edges", "merge", "sweep"),
    *("reorder", "together"),
)
PHASE_BITS = 4
TURNS = 1 << 16

SEARCH = Parameters(
    "Search",
    pointers={
        "offsets": "const Offset",
        "targets": "const Vertex",
        "in_offsets": "const Offset",
        "in_targets": "const Vertex",
        "positions": "const Vertex",
        "hub": "const Vertex",
        "heavy": "const Vertex",
        "isolated": "const unsigned",
        "visited": "unsigned",
        "other": "unsigned",
        "fresh": "unsigned",
        "family": "unsigned char",
        "marks": "unsigned",
        "slots": "Vertex",
        "counts": "Counter",
        "queue": "Entry<Offset>",
        "queued": "Vertex",
        "rank": "typename Structure::Number",
        "distances": "int",
        "predecessors": "Vertex",
        "sources": "const Vertex",
        "state": "State",
        "trace": "Counter",
        "turns": "Counter",
        "status": "volatile long long",
    },
    numbers=(
        *("n", "m", "count", "depth_limit", "target", "alpha", "wide", "share", "chunk", "large", "alike", "patience"),
        *("alone", "together", "capacity", "edge_bits", "tile", "number"),
    ),
    constants=COMMON
    | {"UNROLL": UNROLL, "PHASE_BITS": PHASE_BITS, "TURNS": TURNS}
    | {phase.upper().replace(" ", "_"): number for number, phase in enumerate(PHASES)},
    elements={"visited": "visited[0]", "other": "visited[1]"},
    sizes=(*SIZES, "sizeof(Edge<Vertex, Offset>) == 2 * sizeof(Offset)"),
)
