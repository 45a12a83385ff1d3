"""Breadth-first search for the RAPIDS and NetworkX world.

>>> import rapids_bfs
>>> result = rapids_bfs.bfs(rapids_bfs.load("karate"), source=1)
>>> result.depth
3
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

from .errors import InputError, NoPathError, TraversalError

if TYPE_CHECKING:
    from .adapters.files import read as read
    from .algorithms.all_shortest_paths import ShortestPathDAG as ShortestPathDAG
    from .algorithms.all_shortest_paths import all_shortest_paths as all_shortest_paths
    from .algorithms.all_shortest_paths import shortest_path_dag as shortest_path_dag
    from .algorithms.batch import BatchResult as BatchResult
    from .algorithms.batch import bfs_batch as bfs_batch
    from .algorithms.betweenness import betweenness as betweenness
    from .algorithms.bfs import bfs as bfs
    from .algorithms.bfs import plot_levels as plot_levels
    from .algorithms.components import connected_components as connected_components
    from .algorithms.distances import center as center
    from .algorithms.distances import diameter as diameter
    from .algorithms.distances import eccentricity as eccentricity
    from .algorithms.distances import periphery as periphery
    from .algorithms.distances import radius as radius
    from .algorithms.neighborhoods import EgoGraphs as EgoGraphs
    from .algorithms.neighborhoods import Neighborhoods as Neighborhoods
    from .algorithms.neighborhoods import ego_graphs as ego_graphs
    from .algorithms.neighborhoods import iter_ego_graphs as iter_ego_graphs
    from .algorithms.neighborhoods import iter_neighborhoods as iter_neighborhoods
    from .algorithms.neighborhoods import neighborhoods as neighborhoods
    from .algorithms.shortest_paths import ShortestPaths as ShortestPaths
    from .algorithms.shortest_paths import shortest_path as shortest_path
    from .algorithms.shortest_paths import shortest_paths as shortest_paths
    from .algorithms.validate import validate as validate
    from .comparison.records import Comparison as Comparison
    from .comparison.records import SuiteComparison as SuiteComparison
    from .comparison.runner import compare as compare
    from .comparison.suite_runner import compare_suite as compare_suite
    from .graph import Graph as Graph
    from .loading import as_graph as as_graph
    from .loading import load as load
    from .report.plots import plot_sizes as plot_sizes
    from .result import BFSResult as BFSResult

__version__ = "0.1.0"

# An installed package holds its kernels; in a checkout they lie beside this folder. With that place in `__path__` the
# package would hold itself, too, and a walk over its modules would never end.
if not TYPE_CHECKING and not os.path.isdir(os.path.join(__path__[0], "kernels")):
    _beside = os.path.join(os.path.dirname(__path__[0]), "kernels", "__init__.py")
    _spec = spec_from_file_location(f"{__name__}.kernels", _beside)
    kernels = sys.modules[_spec.name] = module_from_spec(_spec)
    _spec.loader.exec_module(kernels)

# Where each public name lives; nothing heavy is imported before it is used.
_HOMES = {
    "BFSResult": "result",
    "BatchResult": "algorithms.batch",
    "Comparison": "comparison.records",
    "EgoGraphs": "algorithms.neighborhoods",
    "Graph": "graph",
    "Neighborhoods": "algorithms.neighborhoods",
    "ShortestPathDAG": "algorithms.all_shortest_paths",
    "ShortestPaths": "algorithms.shortest_paths",
    "SuiteComparison": "comparison.records",
    "all_shortest_paths": "algorithms.all_shortest_paths",
    "as_graph": "loading",
    "betweenness": "algorithms.betweenness",
    "bfs": "algorithms.bfs",
    "bfs_batch": "algorithms.batch",
    "center": "algorithms.distances",
    "compare": "comparison.runner",
    "compare_suite": "comparison.suite_runner",
    "connected_components": "algorithms.components",
    "diameter": "algorithms.distances",
    "eccentricity": "algorithms.distances",
    "ego_graphs": "algorithms.neighborhoods",
    "iter_ego_graphs": "algorithms.neighborhoods",
    "iter_neighborhoods": "algorithms.neighborhoods",
    "load": "loading",
    "neighborhoods": "algorithms.neighborhoods",
    "periphery": "algorithms.distances",
    "plot_levels": "algorithms.bfs",
    "plot_sizes": "report.plots",
    "radius": "algorithms.distances",
    "read": "adapters.files",
    "shortest_path": "algorithms.shortest_paths",
    "shortest_path_dag": "algorithms.all_shortest_paths",
    "shortest_paths": "algorithms.shortest_paths",
    "validate": "algorithms.validate",
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
