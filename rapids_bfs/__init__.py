"""Breadth-first search for the RAPIDS and NetworkX world.

>>> import rapids_bfs
>>> result = rapids_bfs.bfs(rapids_bfs.load("karate"), source=1)
>>> result.depth
3
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from .errors import InputError, NoPathError, TraversalError

if TYPE_CHECKING:
    from ._core.catalog import load as load
    from .adapters import as_graph as as_graph
    from .adapters.files import read as read
    from .batch import BatchResult as BatchResult
    from .batch import bfs_batch as bfs_batch
    from .centrality import betweenness as betweenness
    from .comparison import compare as compare
    from .components import connected_components as connected_components
    from .distances import center as center
    from .distances import diameter as diameter
    from .distances import eccentricity as eccentricity
    from .distances import periphery as periphery
    from .distances import radius as radius
    from .graph import Graph as Graph
    from .outcome import Comparison as Comparison
    from .paths import shortest_path as shortest_path
    from .report.plots import plot_levels as plot_levels
    from .report.plots import plot_sizes as plot_sizes
    from .result import BFSResult as BFSResult
    from .search import bfs as bfs
    from .validation import validate as validate

__version__ = "0.1.0"

# An installed package holds its kernels; in a checkout they lie beside this folder.
if not os.path.isdir(os.path.join(__path__[0], "kernels")):
    __path__.append(os.path.dirname(__path__[0]))

# Where each public name lives; nothing heavy is imported before it is used.
_HOMES = {
    "BFSResult": "result",
    "BatchResult": "batch",
    "Comparison": "outcome",
    "Graph": "graph",
    "as_graph": "adapters",
    "betweenness": "centrality",
    "bfs": "search",
    "bfs_batch": "batch",
    "center": "distances",
    "compare": "comparison",
    "connected_components": "components",
    "diameter": "distances",
    "eccentricity": "distances",
    "load": "_core.catalog",
    "periphery": "distances",
    "plot_levels": "report.plots",
    "plot_sizes": "report.plots",
    "radius": "distances",
    "read": "adapters.files",
    "shortest_path": "paths",
    "validate": "validation",
}

__all__ = ["InputError", "NoPathError", "TraversalError", "__version__", *sorted(_HOMES)]

if not TYPE_CHECKING:  # a type checker would believe that there is any name

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
