"""The conversion of a graph, made anew where the graph has changed since."""

from __future__ import annotations

from .graph import ConvertedGraph, FallBack, converted
from .policy import keep, kept


def as_it_is_now(conversion: ConvertedGraph) -> ConvertedGraph:
    """The conversion, or a new one if the graph may have changed since.

    `FallBack` if it cannot be converted, or changes meanwhile.
    """
    known = (conversion, conversion.latest, kept(conversion.origin))
    newest = next((each for each in known if each is not None and each.is_current), None)
    if newest is None:
        newest = conversion.latest = converted(conversion.origin)
        keep(conversion.origin, newest)
    if not newest.is_read:
        raise FallBack
    return newest
