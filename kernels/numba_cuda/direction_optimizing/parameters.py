"""What a search is given, and what its blocks share."""

from collections import namedtuple

from numba.cuda import types

from ...whole_search import SEARCH
from ..common.pointers import is_null
from ..common.warp import inlined

Search = namedtuple("Search", SEARCH.names)

# Elements of `state`, 64 bits each and zero before the first search; those that all blocks load are in lines of their
# own. The barrier has the first line, see `grid`.
TAILS = 16  # three: vertices and edges that a phase appended, `packed`; see `of_phase`
FINISHED = 32  # blocks that are done with the search
STALE = 33  # two: did the last search that was not `fresh` begin at an isolated vertex? By parity
TARGET_LEVEL = 35  # that reached the target; 0 before
EXPLORED = 36  # three: edges of the vertices that small levels reached, counted like the tails
LEVEL = 39  # two: the last of the small levels, in phases with this parity


def argument_types(vertex, offset):
    """The types of the fields of `Search`, for Numba's types of a vertex and an offset."""
    known = {"Vertex": vertex, "Offset": offset, "Entry<Offset>": offset, "unsigned": types.int32, "int": types.int32}
    known["unsigned char"] = types.uint8
    known |= dict.fromkeys(("State", "Counter", "volatile long long"), types.int64)
    pointers = [types.CPointer(known[kind.removeprefix("const ")]) for kind in SEARCH.pointers.values()]
    return [*pointers, *(types.int64 for _ in SEARCH.numbers)]


def signatures(vertex_bytes, offset_bytes):
    """The types of each kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    vertices, offsets, words = types.CPointer(vertex), types.CPointer(offset), types.CPointer(types.int32)
    return {
        "prepare": (vertex, vertex, offsets, offsets, vertices, vertices, vertices, words),
        "search": (types.NamedTuple(argument_types(vertex, offset), Search),),
    }


@inlined
def adopt(s, vertex, parent, level):
    """Store a vertex's predecessor, and its level if it is the target."""
    if not is_null(s.predecessors):
        s.predecessors[vertex] = parent
    if vertex == s.target:
        s.state[TARGET_LEVEL] = level
