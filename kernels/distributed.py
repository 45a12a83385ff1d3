"""Constants and parameters shared by the host and the kernels of `cuda/distributed`, besides `whole_search.SEARCH`."""

from .parameters import Parameters
from .whole_search import BITMAPS, SIZES

# The counters that each rank contributes after a level: vertices found, out-edges of those in the queue, whether the
# target is visited, whether a bucket of some rank has overflown, vertices in the queue.
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
        "on_host": "volatile long long",
    },
    numbers=(
        "partitions",
        "rank",
        "stride",
        "capacity",
        "level_capacity",
        "level",
        "begin",
        "end",
        "vertices",
        "edges",
        "target",
    ),
    constants={"COLUMNS": COLUMNS},
)

# The ranks that the kernels of a build can count for, see `cuda/distributed/build.cu`.
MAX_RANKS = 256

# A search in one launch on each rank, besides `whole_search.SEARCH`.
MAX_PARTITIONS = 32
TRACED = 1 << 20  # levels that a trace holds, at most
GIVEN_UP = 1 << 62  # in place of the number of levels if a search does not end
MESSAGE_BYTES = 64
TALLY_BYTES = 1024  # of a `Tally`, at most
OUTCOME = ("done", "levels", "depth", "reached", "absent")  # the fields that it writes on the host

RANKS = Parameters(
    "Ranks",
    pointers={
        "windows": "unsigned char* const",
        "isolated": "const unsigned",
        "marked": "unsigned",
        "tally": "Tally",
        "stop": "volatile long long",
        "outcome": "volatile long long",
    },
    numbers=(
        *("partitions", "rank", "stride", "capacity", "bitmaps", "inboxes", "vertices", "arcs"),
        *("timeout", "first_timeout", "stale"),
    ),
    constants={"MAX_PARTITIONS": MAX_PARTITIONS, "TRACED": TRACED, "GIVEN_UP": GIVEN_UP, "BITMAPS": BITMAPS}
    | {name.upper(): place for place, name in enumerate((*OUTCOME, "outcome_fields"))},
    sizes=(*SIZES, f"sizeof(Message) == {MESSAGE_BYTES}", f"sizeof(Tally) <= {TALLY_BYTES}"),
)
