"""Constants and parameters shared by the host and the kernels of `direction_optimizing`, in CUDA C++ and Numba-CUDA.

`deterministic` shares its constants and sizes.
"""

from .parameters import Parameters

# `status` is one number of 64 bits, so that the host sees all of it at once: the number of the search that is done,
# and below that its levels times 2, plus 1 if it was given up.
NUMBER_SHIFT, LEVELS_SHIFT = 32, 1
GROUP = 4  # in-neighbours that lie together in memory
TILE = 32  # bitmap words that a warp sweeps at a time, at most
TILES = 4  # tiles that it takes at a time, at most
LIST = 1536  # vertices of these tiles on its list, at most
RECENT = 2048  # vertices that a block remembers in deep levels, twice that if neighbours are in its queue
BITMAPS = 8  # of visited vertices, in turn
# The arrays of an answer: those of the last search, or others, which may hold anything, or -1 in all of `predecessors`.
OWN, FRESH, CLEARED = range(3)
MOST_BLOCKS = 256  # that expand deep levels together
STATE_BYTES = 8192  # of `State`, at most

# Constants and sizes that every kernel of this kind has.
COMMON = {
    **{"NUMBER_SHIFT": NUMBER_SHIFT, "LEVELS_SHIFT": LEVELS_SHIFT},
    **{"GROUP": GROUP, "TILE": TILE, "TILES": TILES, "LIST": LIST},
}

# Pointers that every kernel of this kind takes first: `SearchArrays` in C++.
ARRAYS = {
    "offsets": "const Offset",
    "targets": "const Vertex",
    "in_offsets": "const Offset",
    "in_targets": "const Vertex",
    "hub": "const Vertex",
    "heavy": "const Vertex",
    "isolated": "const unsigned",
    "visited": "unsigned",
    "queue": "Entry<Offset>",
    "queued": "Vertex",
    "distances": "int",
    "predecessors": "Vertex",
    "sources": "const Vertex",
    "state": "State",
    "trace": "Counter",
    "status": "volatile long long",
}
SIZES = (
    f"sizeof(State) <= {STATE_BYTES}",
    "sizeof(Entry<Offset>) == 2 * sizeof(Offset)",
    f"sizeof(SearchArrays<Vertex, Offset>) == {8 * len(ARRAYS)}",
)

SEARCH = Parameters(
    "Search",
    pointers=ARRAYS | {"allowed": "const unsigned char", "barred": "unsigned", "reached": "unsigned"},
    inherited=len(ARRAYS),
    numbers=(
        *("n", "m", "count", "source", "depth_limit", "target", "alpha", "beta", "dense"),
        *("single_block_chunks", "deep_chunks", "capacity", "edge_bits", "shrinking_levels", "tile", "number"),
        *("fresh", "unreached", "passes", "meet"),
    ),
    constants=COMMON | {"RECENT": RECENT, "BITMAPS": BITMAPS, "CLEARED": CLEARED, "MOST_BLOCKS": MOST_BLOCKS},
    sizes=(
        *SIZES,
        *(
            f"sizeof(Chunk<{small_rows}, Vertex, Offset>) == "
            f"(2 * sizeof(Offset) + {1 + neighbors} * sizeof(Vertex) + 15) / 16 * 16"
            for small_rows, neighbors in (("false", 1), ("true", GROUP))
        ),
    ),
)
