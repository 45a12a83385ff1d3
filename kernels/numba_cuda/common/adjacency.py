"""Loads of the graph, which the whole launch only reads.

Loads that are independent stand in loops of their own, here and elsewhere, so that all are on their way before the
first is waited for.
"""

from ...whole_search import GROUP
from .pointers import cast_like
from .ptx import load_four_read_only, load_read_only
from .warp import inlined


@inlined
def row_of(s, vertex):
    """The vertex's first edge and how many it has."""
    first = load_read_only(s.offsets, vertex)
    return first, cast_like(s.offsets, load_read_only(s.offsets, vertex + 1) - first)


@inlined
def load_rows(offsets, count, wanted, vertex, first, last):
    """The bounds of the rows of ``count`` vertices; 0 where they are not wanted."""
    for k in range(count):
        first[k] = 0
        last[k] = 0
        if wanted[k]:
            first[k] = load_read_only(offsets, vertex[k])
            last[k] = load_read_only(offsets, vertex[k] + 1)


@inlined
def load_whole_group(targets, group, k, loaded):
    """A group of neighbours as number ``k``."""
    a, b, c, d = load_four_read_only(targets, group)
    loaded[k * GROUP] = a
    loaded[k * GROUP + 1] = b
    loaded[k * GROUP + 2] = c
    loaded[k * GROUP + 3] = d


@inlined
def load_group(targets, group, last, m, k, loaded):
    """A group of in-neighbours as number ``k``, if it begins before ``last``; what lies past the end is 0."""
    place = group * GROUP
    for i in range(GROUP):
        loaded[k * GROUP + i] = 0
    if place < last and place + GROUP <= m:
        load_whole_group(targets, group, k, loaded)
    if place < last and place + GROUP > m:
        for i in range(GROUP - 1):
            if place + i < m:
                loaded[k * GROUP + i] = load_read_only(targets, place + i)
