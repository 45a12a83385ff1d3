"""What the host and the kernel of `deterministic` agree on; also see `whole_search`."""

from .parameters import Parameters
from .whole_search import COMMON, SIZES

UNROLL = 4  # edges or vertices that a lane has in flight
# What the grid did between two barriers, by number in the records of the first MAX_PHASES phases.
PHASES = (
    *("begin", "seed", "single block", "claim", "settle", "append", "large siblings", "first edges", "merge", "sweep"),
    *("reorder", "cluster"),
)
PHASE_BITS = 4
MAX_PHASES = 1 << 16

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
        "siblings": "unsigned char",
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
        "phases": "Counter",
        "status": "volatile long long",
    },
    numbers=(
        *("n", "m", "count", "depth_limit", "target", "alpha", "wide", "share", "chunk", "large", "alike", "patience"),
        *("alone", "together", "capacity", "edge_bits", "tile", "number"),
    ),
    constants=COMMON
    | {"UNROLL": UNROLL, "PHASE_BITS": PHASE_BITS, "MAX_PHASES": MAX_PHASES}
    | {phase.upper().replace(" ", "_"): number for number, phase in enumerate(PHASES)},
    elements={"visited": "visited[0]", "other": "visited[1]"},
    sizes=(*SIZES, "sizeof(Edge<Vertex, Offset>) == 2 * sizeof(Offset)"),
)
