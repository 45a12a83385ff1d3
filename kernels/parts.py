"""What the host and the kernels of `cuda/parts` agree on, besides `whole_search.SEARCH`."""

from .parameters import Parameters

# Of each rank, what all ranks learn after a level: vertices found, out-edges of those in the queue, whether the target
# is among those visited, whether some rank had no room for its pairs, vertices in the queue.
COLUMNS = 5

EXCHANGE = Parameters(
    "Exchange",
    pointers={
        "seen": "unsigned",
        "upcoming": "unsigned",
        "fresh": "unsigned",
        "sent": "Vertex",
        "received": "Vertex",
        "tail": "Counter",
        "found": "Counter",
        "left": "Counter",
        "gathered": "long long",
        "told": "volatile long long",
    },
    numbers=("parts", "rank", "stride", "room", "share", "level", "begin", "end", "vertices", "edges", "target"),
    constants={"COLUMNS": COLUMNS},
)
