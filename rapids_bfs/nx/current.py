"""The conversion of a graph, made anew where the graph has changed since."""

from __future__ import annotations

from .graph import ConvertedGraph, LeftToNetworkX, converted
from .policy import cached, conversions


def as_it_is_now(conversion: ConvertedGraph) -> ConvertedGraph:
    """The conversion, or a new one if the graph may have changed since.

    `LeftToNetworkX` if it cannot be converted, or is changed meanwhile.
    """
    known = (conversion, conversion.latest, *conversions(conversion.origin))
    newest = next((each for each in known if each is not None and each.is_current), None)
    if newest is None:
        newest = conversion.latest = converted(conversion.origin)
        kept = cached(conversion.origin)
        kept.update(dict.fromkeys(kept, newest))
    if not newest.is_read:
        raise LeftToNetworkX
    return newest
