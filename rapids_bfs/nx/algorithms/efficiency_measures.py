"""Means of the reciprocals of distances."""

from __future__ import annotations

from ..._core.threads import pool
from ...kernels.cpu.networkx import neighborhoods
from ..graph import ConvertedGraph
from ..search import summary


def global_efficiency(G: ConvertedGraph) -> float:
    n = len(G)
    return float(summary(G).harmonic.sum()) / (n * (n - 1)) if n > 1 else 0


def local_efficiency(G: ConvertedGraph) -> float:
    with pool.work_on() as threads:
        found = neighborhoods.efficiencies(G.forward.offsets, G.forward.targets, threads)
    return float(sum(found.tolist())) / len(G)
