"""The shortest cycle."""

from __future__ import annotations

import math

from ...kernels.cpu.networkx import neighborhoods
from ..graph import ConvertedGraph


def girth(G: ConvertedGraph) -> float:
    length = int(neighborhoods.girth(G.forward.offsets, G.forward.targets))
    return length or math.inf
