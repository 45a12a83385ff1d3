"""What the host and the kernels of `neighborhoods` on a GPU agree on."""

from .parameters import Parameters

NEIGHBORHOODS = Parameters(
    "Neighborhoods",
    pointers={
        "offsets": "const Offset",
        "targets": "const Vertex",
        "more_offsets": "const Offset",
        "more_targets": "const Vertex",
        "centers": "const long long",
        "found": "Vertex",
        "levels": "int",
        "visited": "unsigned",
        "next": "Number",
        "pieces": "long long",
        "bounds": "const long long",
        "vertices": "Vertex",
        "distances": "int",
        "arc_counts": "long long",
        "arc_bounds": "const long long",
        "tails": "Vertex",
        "heads": "Vertex",
    },
    numbers=("n", "k", "hops", "room", "words"),
    constants={},
)
